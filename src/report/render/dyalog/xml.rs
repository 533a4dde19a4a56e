//! Dyalog's XML. What this writes of a tree can be imported again, and the imported profile equals
//! the first one.
//!
//! There are two layouts, those of the two versions of `]PROFILE` whose files are known. Times that
//! are corrected, and those of runs that know how often the timer was read, are written as 0.9.0
//! does: names in `Function`, and the titles of inclusive and exclusive swapped, in times and
//! ticks, because its readers expect them so. Everything else is written as 1.37 does: names in
//! `Element`, titles right, `¯1` as the line of whole functions in trees. The version is left out
//! where it is not that of the layout.
//!
//! Times are milliseconds with all their digits, minus is APL's `¯` (only APL and profdb read these
//! files). The settings say what has been subtracted from the times: `TimerBias` is left out where
//! that is unknown. Costs that are no time are in their base unit, which the setting `Unit` then
//! names; such a file is not for importing. Control characters that XML cannot hold are written as
//! their pictures (U+2400 and up: `␀` for NUL), the two other characters that it cannot hold as
//! U+FFFD.

use std::io::Write;

use super::super::layout::{Layout, RenderError, shown};
use crate::report::header::TitledMedium;
use crate::report::{Answer, Subject};
use crate::text::dyalog_files::{Rows, Stated, Style, Timer, Times};
use crate::text::number::apl;
use crate::text::scale::Scale;
use crate::text::xml::{Table, begin, end, escaped, milliseconds_of_apl};

pub(in super::super) fn write(
    answer: &mut Answer<'_>,
    layout: &Layout,
    out: &mut dyn Write,
) -> Result<(), RenderError> {
    let columns = shown(answer, layout, TitledMedium::Xml)?;
    let Some(subject) = &answer.subject else {
        return Ok(());
    };
    let scale =
        Scale::of(&subject.metric.name, &subject.metric.unit, None).map_err(RenderError::Usage)?;
    let style = style_of(subject);
    let has = |name: &str| columns.iter().any(|column| column.title == name);
    let (rows, ticks) = (
        if has("Depth") {
            Rows::Tree
        } else {
            Rows::Totals
        },
        has("ExclusiveTicks"),
    );
    begin(
        style,
        &settings(subject, layout, &scale, (style, rows, ticks)),
        out,
    )?;
    let table = Table::new(columns, style, scale);
    answer.each(|row| Ok::<_, RenderError>(table.row(row, out)?))?;
    Ok(end(out)?)
}

/// Returns the version of `]PROFILE` whose files can hold what is known of the timer.
pub(super) fn style_of(subject: &Subject) -> Style {
    if is_usual(subject) {
        Style::of(Timer {
            readings: subject.timer_readings,
            applied: subject.bias,
        })
    } else {
        Style::New
    }
}

/// Whether the costs are what `]PROFILE` measures.
fn is_usual(subject: &Subject) -> bool {
    subject.metric.name == "time" && subject.metric.unit == "ns"
}

/// Names and texts of the settings, in their order.
fn settings(
    subject: &Subject,
    layout: &Layout,
    scale: &Scale,
    (style, rows, ticks): (Style, Rows, bool),
) -> [(&'static str, Option<String>); 8] {
    let Subject {
        report,
        run,
        metric,
        selected,
        ..
    } = subject;
    let version = run.tool_version.as_deref();
    let times = Times {
        style,
        rows,
        ticks,
        version,
        timer: run.timer_bias,
        applied: subject.bias,
        stored: run.bias_applied,
    };
    let Stated { version, bias, .. } = times.stated();
    let title = layout
        .title
        .as_deref()
        .or(run.title.as_deref())
        .unwrap_or_default();
    let unit = if scale.is_time() {
        scale.unit()
    } else {
        &metric.unit
    };
    let unusual = !is_usual(subject);
    let figure = |cost: f64| apl(&scale.significant(cost));
    [
        ("Version", version.map(escaped)),
        ("Title", Some(escaped(title))),
        ("TimerBias", bias.map(milliseconds_of_apl)),
        ("Command", Some((*report).to_owned())),
        ("TotalTime", Some(figure(metric.total))),
        (
            "SelectedTime",
            Some(figure(selected.unwrap_or(metric.total))),
        ),
        ("Metric", unusual.then(|| escaped(&metric.name))),
        ("Unit", unusual.then(|| escaped(unit))),
    ]
}
