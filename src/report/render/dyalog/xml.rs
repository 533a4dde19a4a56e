//! Dyalog's XML. The output of a tree can be imported again, and the imported profile equals
//! the original.
//!
//! There are two layouts, one for each known version of `]PROFILE`. Corrected times, and runs with
//! the number of timer reads, have the layout of 0.9.0: names in `Function`, and swapped titles of
//! inclusive and exclusive times and ticks, which its readers expect. All others have the layout of 1.37:
//! names in `Element`, correct titles, and `¯1` as the line of whole functions in trees. The version is left out
//! if it is not that of the layout.
//!
//! Times are milliseconds with all their digits, and minus is APL's `¯` (only APL and profdb read these
//! files). The settings state the correction of the times: `TimerBias` is left out if it is
//! unknown. Costs other than times are in their base unit, which the setting `Unit` names; such a
//! file cannot be imported. Control characters that XML does not allow become symbols
//! (U+2400 and up: `␀` for NUL), and two other characters become U+FFFD.

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
