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
    /// What its header says, once it has been read.
    header: OnceLock<Header<'static>>,
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
pub static REPORTS: &[Report] = &ALL;

static ALL: [Report; 13] = [
    report(
        "summary",
        include_str!("../../queries/reports/summary.sql"),
        None,
    ),
    report(
        "calls",
        include_str!("../../queries/reports/calls.sql"),
        None,
    ),
    report(
        "call_lines",
        include_str!("../../queries/reports/call_lines.sql"),
        None,
    ),
    report(
        "callees",
        include_str!("../../queries/reports/callees.sql"),
        None,
    ),
    report(
        "exclusive",
        include_str!("../../queries/reports/exclusive.sql"),
        None,
    ),
    report(
        "cumulative",
        include_str!("../../queries/reports/cumulative.sql"),
        None,
    ),
    report(
        "lines",
        include_str!("../../queries/reports/lines.sql"),
        None,
    ),
    report(
        "function",
        include_str!("../../queries/reports/function.sql"),
        None,
    ),
    report(
        "tree",
        include_str!("../../queries/reports/tree.sql"),
        Some(ShownNodes::Tree),
    ),
    report(
        "bottom_up",
        include_str!("../../queries/reports/bottom_up.sql"),
        Some(ShownNodes::BottomUp),
    ),
    report(
        "paths",
        include_str!("../../queries/reports/paths.sql"),
        Some(ShownNodes::Paths),
    ),
    report(
        "labels",
        include_str!("../../queries/reports/labels.sql"),
        None,
    ),
    report("data", include_str!("../../queries/reports/data.sql"), None),
];

const fn report(name: &'static str, sql: &'static str, nodes: Option<ShownNodes>) -> Report {
    Report {
        name,
        sql,
        nodes,
        header: OnceLock::new(),
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
    pub fn header(&self) -> &Header<'static> {
        self.header.get_or_init(|| {
            header::parse(self.sql).expect("the headers of all bundled reports are read by a test")
        })
    }
}
