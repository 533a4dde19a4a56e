//! Dyalog APL `]PROFILE` reports, CSV
//!
//! # What it is
//! The file that the user command `]PROFILE` of Dyalog APL writes with `-outfile=FILE -format=csv`. profdb reads it, too.
//! `dyalog_xml` has more information.
//!
//! # What is written
//! - Runs with paths as `tree`, all others as `data`: a row for every function and every line of it, with calls and times in
//!   ms with all digits, and `¯` for minus.
//! - In the layout 0.9.0: ticks (the number of timer reads), an empty value for no line, and swapped labels of inclusive and
//!   exclusive, as that version writes them.
//! - In the layout 1.37: no ticks, correct labels, and `¯1` for no line in trees. Without `--layout`, the layout is
//!   0.9.0 if ticks are known, else 1.37.
//! - Times as in each version: those of 0.9.0's trees are corrected for the cost of the timer, all others are raw
//!   if the correction is known.
//! - Unknown values as empty ones.
//! - Another decimal mark and field separator with `--separators`.
//! - Functions without a name, as `(no name)`. NUL in names becomes `␀`. All other text is unchanged.
//!
//! # References
//! - "Tuning Applications Using the ]PROFILE User Command", Dyalog Limited, version 14.0, appendix B (tool version 0.9.0).
//! - Dyalog's application tuning guide, "Data storage: CSV" (tool version 1.37).

use std::io::Write;

use crate::formats::dyalog::table::{Holds, LAYOUTS, LOSSES, Table};
use crate::formats::export::error::ExportError;
use crate::formats::export::losses::{FACTS, Losses, TITLE};
use crate::formats::export::profile::Profile;
use crate::formats::export::{Export, Metrics, Needs, Packing};
use crate::formats::options::{OptionDef, Takes};
use crate::report::ReportError;
use crate::text::csv::{self, Dialect};
use crate::text::scale::Scale;
use crate::text::separators::Separators;

/// The format of the page above, as it is written.
pub(in crate::formats) const EXPORT: Export = Export {
    name: "dyalog_csv",
    summary: "Dyalog APL ]PROFILE tree and data reports, CSV",
    needs: Needs::Totals,
    metrics: Metrics::All,
    layouts: LAYOUTS,
    options: &[OptionDef {
        name: SEPARATORS,
        takes: Takes::Separators,
        meaning: "decimal mark and field separator, such as \",;\". For CSV files [default: \".,\"]",
    }],
    packing: Packing::Plain,
    losses: &LOSSES,
    difference: None,
    write,
};

const SEPARATORS: &str = "separators";

const HOLDS: Holds = Holds {
    settings: false,
    character: |character| character != '\0',
};

fn write(
    profile: &Profile<'_>,
    losses: &mut Losses,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let table = Table::of(profile, HOLDS, losses)?;
    losses.add(TITLE, profile.run.title.is_some().into());
    // The cost of the timer is a loss of its own.
    let facts = profile
        .properties
        .iter()
        .filter(|(name, _)| name != "timer_bias");
    losses.add(FACTS, facts.count() as u64);
    let separators = profile
        .options
        .value(SEPARATORS)
        .and_then(|text| text.parse().ok());
    let separators: Separators = separators.unwrap_or_default();
    let records = csv::Table {
        columns: table.columns(),
        scales: vec![
            Scale::of(&table.time().name, &table.time().unit, None).map_err(ReportError::Usage)?,
        ],
        separators,
        dialect: Dialect::Dyalog(table.style(), table.rows()),
    };
    records.titles(out)?;
    table.each(losses, |row| Ok(records.row(row, out)?))
}
