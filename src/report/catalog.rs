//! The list of all reports, with the texts that belong to each.

use std::sync::OnceLock;

use super::header::{self, Header};

/// A report: `queries/reports/<name>.sql`.
#[derive(Debug)]
pub struct Report {
    /// Its name on the command line, and that of its file.
    pub name: &'static str,
    /// Its text: its header, the parts of its statement that are its own, and its SELECT.
    pub sql: &'static str,
    /// The rows that it shows of the nodes themselves, if it does.
    pub(super) nodes: Option<ShownNodes>,
}

/// What a report shows of nodes themselves, rather than of their sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShownNodes {
    /// The tree of calls.
    Tree,
    /// The tree of callers.
    BottomUp,
    /// The most expensive places, each with the way to it.
    Paths,
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
    report(
        "function",
        include_str!("../../queries/reports/function.sql"),
    ),
    Report {
        nodes: Some(ShownNodes::Tree),
        ..report("tree", include_str!("../../queries/reports/tree.sql"))
    },
    Report {
        nodes: Some(ShownNodes::BottomUp),
        ..report(
            "bottom_up",
            include_str!("../../queries/reports/bottom_up.sql"),
        )
    },
    Report {
        nodes: Some(ShownNodes::Paths),
        ..report("paths", include_str!("../../queries/reports/paths.sql"))
    },
    report("labels", include_str!("../../queries/reports/labels.sql")),
    report("data", include_str!("../../queries/reports/data.sql")),
];

/// The headers of reports that have been read, in the order of [`REPORTS`].
static HEADERS: [OnceLock<Header<'static>>; REPORTS.len()] =
    [const { OnceLock::new() }; REPORTS.len()];

const fn report(name: &'static str, sql: &'static str) -> Report {
    Report {
        name,
        sql,
        nodes: None,
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
        let parse = || {
            header::parse(self.sql).expect("the headers of all bundled reports are read by a test")
        };
        // A page for a browser asks for a hundred statements, and each of them several times for a header.
        let at = REPORTS.iter().position(|report| report.name == self.name);
        at.map_or_else(parse, |at| HEADERS[at].get_or_init(parse).clone())
    }
}
