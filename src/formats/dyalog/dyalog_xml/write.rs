//! Dyalog APL `]PROFILE` reports, XML
//!
//! # What it is
//! The file that the user command `]PROFILE` of Dyalog APL writes with `-outfile=FILE` and reads with `-infile=FILE`. profdb
//! reads it, too.
//!
//! # What is written
//! - Runs with paths as `tree`, all others as `data`: an entry for every function and every line of it, with calls and times
//!   in ms with all digits, and `¯` for minus.
//! - In the layout 0.9.0: ticks (the number of timer reads), names in `Function`, an empty `Line` for whole functions, and
//!   swapped labels of inclusive and exclusive, as that version writes them.
//! - In the layout 1.37: no ticks, names in `Element`, correct labels, and `¯1` for no line in trees. Without `--layout`, the
//!   layout is 0.9.0 if ticks are known, else 1.37.
//! - Unknown values as empty ones.
//! - Times as in each version: those of 0.9.0's trees are corrected for the cost of the timer, all others are raw
//!   if the correction is known. `TimerBias` is left out if readers would apply it wrongly.
//! - Title, version, command and the file's own totals, if the run has them; the version only if it matches the
//!   layout. Otherwise `TotalTime` is the run's total.
//! - Functions without a name, as `(no name)`. Control characters that XML does not allow become symbols (`␀` and
//!   similar), and two others U+FFFD. All other text is unchanged.
//!
//! # References
//! - "Tuning Applications Using the ]PROFILE User Command", Dyalog Limited, version 14.0, appendix A (tool version 0.9.0).
//! - Dyalog's application tuning guide, "Data storage: XML" (tool version 1.37).

use std::io::Write;

use crate::formats::dyalog::table::{Holds, LAYOUTS, LOSSES, Table};
use crate::formats::export::error::ExportError;
use crate::formats::export::losses::{FACTS, Losses, TITLE};
use crate::formats::export::profile::Profile;
use crate::formats::export::{Export, Metrics, Needs, Packing};
use crate::report::ReportError;
use crate::text::dyalog_files::Stated;
use crate::text::scale::Scale;
use crate::text::xml::{self, begin, end, escaped, is_held, milliseconds_of_apl as time};

/// The format of the page above, as it is written.
pub(in crate::formats) const EXPORT: Export = Export {
    name: "dyalog_xml",
    summary: "Dyalog APL ]PROFILE tree and data reports, XML",
    needs: Needs::Totals,
    metrics: Metrics::All,
    layouts: LAYOUTS,
    options: &[],
    packing: Packing::Plain,
    losses: &LOSSES,
    difference: None,
    write,
};

const HOLDS: Holds = Holds {
    settings: true,
    character: is_held,
};

fn write(
    profile: &Profile<'_>,
    losses: &mut Losses,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let table = Table::of(profile, HOLDS, losses)?;
    begin(table.style(), &settings(profile, &table, losses), out)?;
    let scale =
        Scale::of(&table.time().name, &table.time().unit, None).map_err(ReportError::Usage)?;
    let entries = xml::Table::new(table.columns(), table.style(), scale);
    table.each(losses, |row| Ok(entries.row(row, out)?))?;
    Ok(end(out)?)
}

/// The settings; counts what they cannot hold.
fn settings(
    profile: &Profile<'_>,
    table: &Table<'_, '_>,
    losses: &mut Losses,
) -> [(&'static str, Option<String>); 6] {
    let property = |name: &str| {
        profile
            .properties
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, text)| text.as_str())
    };
    let report = if table.is_tree() { "tree" } else { "data" };
    let command =
        // Readers take the first word for the kind of the file, and refuse `summary` and `calls`.
        property("command").filter(|command| command.split_whitespace().next() == Some(report));
    let Stated { version, bias, .. } = table.stated();
    let title = profile.run.title.as_deref();
    losses.add(
        TITLE,
        title
            .is_some_and(|title| title.trim().is_empty() || !title.chars().all(is_held))
            .into(),
    );
    let total = time(table.time().total);
    let total_time = property("TotalTime").unwrap_or(&total);
    let settings = [
        ("Version", version),
        ("Title", Some(title.unwrap_or_default())),
        ("TimerBias", None),
        ("Command", Some(command.unwrap_or(report))),
        ("TotalTime", Some(total_time)),
        (
            "SelectedTime",
            Some(property("SelectedTime").unwrap_or(total_time)),
        ),
    ];
    // The cost of the timer is a loss of its own; the time of the recording may be the title.
    let is_written = |name: &str, text: &str| match name {
        "timer_bias" => true,
        "recorded_at" => title == Some(text),
        _ => {
            let setting = match name {
                "tool_version" => "Version",
                "command" => "Command",
                name => name,
            };
            text.chars().all(is_held) && settings.contains(&(setting, Some(text)))
        }
    };
    let facts = profile
        .properties
        .iter()
        .filter(|(name, text)| !is_written(name, text));
    losses.add(FACTS, facts.count() as u64);
    settings.map(|(name, text)| match name {
        "TimerBias" => (name, bias.map(time)),
        _ => (name, text.map(escaped)),
    })
}
