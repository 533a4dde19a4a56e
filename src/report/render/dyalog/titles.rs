//! Titles of columns are those of Dyalog's `]PROFILE` 0.9.0 in its tables, CSV and XML. Additional
//! columns have similar titles.
//!
//! The layout of tables is that of `]PROFILE`, too.

use crate::report::header::{Column, Meaning, TitledMedium};

/// Titles by what a column shows, in tables, CSV and XML; `@` means the unit of the metric.
const TITLES: [(Meaning, [&str; 3]); 33] = [
    (Meaning::About, ["About", "About", "About"]),
    (Meaning::Element, ["Element", "Element", "Element"]),
    (Meaning::Line, ["Line", "Line", "Line"]),
    (Meaning::Depth, ["Depth", "Depth", "Depth"]),
    (Meaning::File, ["File", "File", "File"]),
    (Meaning::FirstLine, ["First line", "FirstLine", "FirstLine"]),
    (
        Meaning::FunctionId,
        ["Function id", "FunctionId", "FunctionId"],
    ),
    (Meaning::Code, ["Code", "Code", "Code"]),
    (Meaning::Callees, ["Callees", "Callees", "Callees"]),
    (Meaning::Calls, ["Calls", "Calls", "Calls"]),
    (Meaning::Exclusive, ["@", "Time", "ExclusiveTime"]),
    (Meaning::Cumulative, ["@", "Time", "InclusiveTime"]),
    (Meaning::Own, ["@(exc)", "ExclusiveTime", "ExclusiveTime"]),
    (Meaning::Whole, ["@(inc)", "InclusiveTime", "InclusiveTime"]),
    (Meaning::Seen, ["@(seen)", "SeenTime", "SeenTime"]),
    (
        Meaning::OwnPercent,
        ["%(exc)", "ExclusivePct", "ExclusivePct"],
    ),
    (
        Meaning::WholePercent,
        ["%(inc)", "InclusivePct", "InclusivePct"],
    ),
    (Meaning::Part, ["@", "Time", "Time"]),
    (Meaning::Average, ["avg", "AvgTime", "AvgTime"]),
    (Meaning::Percent, ["%", "PctOfTot", "PctOfTot"]),
    (Meaning::RunningPercent, ["%(cum)", "CumPct", "CumPct"]),
    (
        Meaning::ExclusiveReadings,
        ["ticks(exc)", "ExclusiveTicks", "ExclusiveTicks"],
    ),
    (
        Meaning::CumulativeReadings,
        ["ticks(inc)", "InclusiveTicks", "InclusiveTicks"],
    ),
    (Meaning::Base, ["base @", "BaseTime", "BaseTime"]),
    (Meaning::New, ["new @", "NewTime", "NewTime"]),
    (Meaning::Delta, ["delta", "DeltaTime", "DeltaTime"]),
    (Meaning::Verdict, ["verdict"; 3]),
    (Meaning::Before, ["before @", "TimeBefore", "TimeBefore"]),
    (Meaning::After, ["after @", "TimeAfter", "TimeAfter"]),
    (Meaning::Path, ["Path", "Path", "Path"]),
    (Meaning::Key, ["Key", "Key", "Key"]),
    (Meaning::Value, ["Value", "Value", "Value"]),
    (Meaning::Unit, ["Unit", "Unit", "Unit"]),
];

/// Titles of exclusive and cumulative costs that are shown beside each other.
const BOTH: [(Meaning, [&str; 3]); 2] = [
    (
        Meaning::Exclusive,
        ["@(exc)", "ExclusiveTime", "ExclusiveTime"],
    ),
    (
        Meaning::Cumulative,
        ["@(inc)", "InclusiveTime", "InclusiveTime"],
    ),
];

/// The titles of columns in a medium that has titles; `None` where a column is not shown there. `asked` is the cost
/// that is asked for.
#[must_use]
pub fn titles(columns: &[Column<'_>], titled: TitledMedium, asked: Meaning) -> Vec<Option<String>> {
    let medium = titled.medium();
    let has = |meaning| {
        columns
            .iter()
            .any(|column| column.is_in(medium) && column.shows == Some(meaning))
    };
    let has_both = has(Meaning::Exclusive) && has(Meaning::Cumulative);
    let title = |column: &Column<'_>| {
        let meaning = match column.shows {
            None => return column.name.clone().into_owned(),
            Some(Meaning::Cost) => asked,
            Some(meaning) => meaning,
        };
        // These come before the others: the first title that is found is taken.
        let both = BOTH.iter().filter(|_| has_both);
        let mut known = both.chain(&TITLES);
        let found = known.find(|(known, _)| *known == meaning);
        let place = match titled {
            TitledMedium::Text | TitledMedium::Markdown => 0,
            TitledMedium::Csv => 1,
            TitledMedium::Xml => 2,
        };
        found.map_or("", |(_, titles)| titles[place]).to_owned()
    };
    columns
        .iter()
        .map(|column| column.is_in(medium).then(|| title(column)))
        .collect()
}
