//! The list of all reports, with the texts that belong to each.

use std::sync::OnceLock;

use super::header::{self, Header};
use crate::base::query::query;

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
    report(query!("reports", "summary"), None),
    report(query!("reports", "calls"), None),
    report(query!("reports", "call_lines"), None),
    report(query!("reports", "callees"), None),
    report(query!("reports", "exclusive"), None),
    report(query!("reports", "cumulative"), None),
    report(query!("reports", "lines"), None),
    report(query!("reports", "function"), None),
    report(query!("reports", "tree"), Some(ShownNodes::Tree)),
    report(query!("reports", "bottom_up"), Some(ShownNodes::BottomUp)),
    report(query!("reports", "paths"), Some(ShownNodes::Paths)),
    report(query!("reports", "labels"), None),
    report(query!("reports", "data"), None),
];

const fn report((name, sql): (&'static str, &'static str), nodes: Option<ShownNodes>) -> Report {
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
