//! The list of all reports, with the texts that belong to each.

use super::header::{self, Header};

/// A report: `queries/reports/<name>.sql`.
#[derive(Debug)]
pub struct Report {
    /// Its name on the command line, and that of its file.
    pub name: &'static str,
    /// Its text: header and SELECT.
    pub sql: &'static str,
    /// What is done before its SELECT, for reports that walk from nodes to their ancestors.
    pub(super) walk: Option<AncestorWalk>,
    /// The statement that says what depth and thresholds leave out: rows, cost, percentage.
    pub(super) pruned: Option<&'static str>,
}

/// Statements that walk from nodes to their ancestors, level by level: SQL without recursion.
#[derive(Debug)]
pub(super) struct AncestorWalk {
    /// Fills level 0.
    pub(super) first: &'static str,
    /// Goes from level `:level` to the next; repeated until it changes nothing.
    pub(super) next: &'static str,
}

/// All reports, in the order in which they are listed; the first is shown when none is named.
pub const REPORTS: &[Report] = &[
    report("summary", include_str!("../../queries/reports/summary.sql")),
    report("calls", include_str!("../../queries/reports/calls.sql")),
    report(
        "call_lines",
        include_str!("../../queries/reports/call_lines.sql"),
    ),
    report("callees", include_str!("../../queries/reports/callees.sql")),
    report(
        "exclusive",
        include_str!("../../queries/reports/exclusive.sql"),
    ),
    report(
        "cumulative",
        include_str!("../../queries/reports/cumulative.sql"),
    ),
    report("lines", include_str!("../../queries/reports/lines.sql")),
    Report {
        pruned: Some(include_str!("../../queries/pruned/tree.sql")),
        ..report("tree", include_str!("../../queries/reports/tree.sql"))
    },
    Report {
        walk: Some(AncestorWalk {
            first: include_str!("../../queries/ancestor_walk/bottom_up_first.sql"),
            next: include_str!("../../queries/ancestor_walk/bottom_up_next.sql"),
        }),
        pruned: Some(include_str!("../../queries/pruned/bottom_up.sql")),
        ..report(
            "bottom_up",
            include_str!("../../queries/reports/bottom_up.sql"),
        )
    },
    Report {
        walk: Some(AncestorWalk {
            first: include_str!("../../queries/ancestor_walk/paths_first.sql"),
            next: include_str!("../../queries/ancestor_walk/paths_next.sql"),
        }),
        ..report("paths", include_str!("../../queries/reports/paths.sql"))
    },
    report("tags", include_str!("../../queries/reports/tags.sql")),
    report("data", include_str!("../../queries/reports/data.sql")),
];

const fn report(name: &'static str, sql: &'static str) -> Report {
    Report {
        name,
        sql,
        walk: None,
        pruned: None,
    }
}

/// Finds a report by its name.
#[must_use]
pub fn by_name(name: &str) -> Option<&'static Report> {
    REPORTS.iter().find(|report| report.name == name)
}

impl Report {
    /// What the header says.
    ///
    /// # Panics
    /// Never for the bundled reports: a test reads their headers.
    #[must_use]
    pub fn header(&self) -> Header<'static> {
        header::parse(self.sql).expect("the headers of all bundled reports are read by a test")
    }

    /// Every text that belongs to it: its SELECT first.
    #[must_use]
    pub fn statements(&self) -> Vec<&'static str> {
        let walk = self.walk.iter().flat_map(|walk| [walk.first, walk.next]);
        [self.sql]
            .into_iter()
            .chain(walk)
            .chain(self.pruned)
            .collect()
    }
}
