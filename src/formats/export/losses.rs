//! What formats cannot hold: each thing has one name in the reports of all writers.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "numbers of functions and metrics are the writer's own"
)]

use crate::events::ROUNDING;

/// Something that a format cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Its name in the loss report.
    pub name: &'static str,
    /// What gets lost.
    pub what: &'static str,
    /// What is counted.
    pub of: &'static str,
}

/// Losses whose places are kept at hand.
const RECENT: usize = 32;

/// What got lost when a run was written.
#[derive(Debug)]
pub struct Losses {
    /// The name of the format.
    format: &'static str,
    /// Everything that the format cannot hold.
    declared: &'static [Loss],
    /// How much was lost of each of them.
    counts: Vec<u64>,
    /// Where the names of some are in memory, and their places: a writer loses the same few things
    /// at every node.
    recent: [(usize, usize); RECENT],
    /// The metrics that are written, where they are not all that the profile has.
    pub(in crate::formats) written: Option<Vec<i64>>,
}

impl Losses {
    /// Nothing has been lost yet.
    pub(in crate::formats) fn new(format: &'static str, declared: &'static [Loss]) -> Self {
        Self {
            format,
            declared,
            counts: vec![0; declared.len()],
            recent: [(0, 0); RECENT],
            written: None,
        }
    }

    /// Counts something that was lost.
    pub(in crate::formats) fn add(&mut self, loss: Loss, count: u64) {
        // Writers ask at every node: names tell losses apart, and most nodes lose nothing.
        if count == 0 {
            debug_assert!(self.declares(loss), "{} is not declared", loss.name);
            return;
        }
        // Equal names may lie at several addresses, but no address holds two.
        let address = loss.name.as_ptr() as usize;
        let slot = (address / 8) % RECENT;
        if self.recent[slot].0 != address {
            let at = self
                .declared
                .iter()
                .position(|known| known.name == loss.name);
            self.recent[slot] = (address, at.expect("a writer declares what it cannot hold"));
        }
        self.counts[self.recent[slot].1] += count;
    }

    /// Whether the format declares that it cannot hold this.
    pub(super) fn declares(&self, loss: Loss) -> bool {
        self.declared.contains(&loss)
    }

    /// What was lost, and how much of it, in the order in which the format declares it.
    pub fn each(&self) -> impl Iterator<Item = (Loss, u64)> {
        let all = self
            .declared
            .iter()
            .copied()
            .zip(self.counts.iter().copied());
        all.filter(|(_, count)| *count > 0)
    }

    /// The loss report as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        let lost = self.each().map(|(Loss { name, what, of }, count)| {
            serde_json::json!({"name": name, "what": what, "of": of, "count": count})
        });
        let report = serde_json::json!({"format": self.format, "lost": lost.collect::<Vec<_>>()});
        format!("{report:#}\n")
    }
}

pub(in crate::formats) const LINES: Loss = Loss {
    name: "lines",
    what: "lines of functions, whose costs are part of the costs of the functions",
    of: "nodes",
};

pub(in crate::formats) const CALLS: Loss = Loss {
    name: "calls",
    what: "calls of functions by node",
    of: "nodes",
};

pub(in crate::formats) const FUNCTION_CALLS: Loss = Loss {
    name: "function_calls",
    what: "calls of functions as stated in the file, if the sum of their nodes differs",
    of: "functions",
};

pub(in crate::formats) const METRICS: Loss = Loss {
    name: "metrics",
    what: "metrics other than the requested one",
    of: "metrics",
};

pub(in crate::formats) const METRIC: Loss = Loss {
    name: "metric",
    what: "name and unit of the metric",
    of: "metrics",
};

pub(in crate::formats) const TITLE: Loss = Loss {
    name: "title",
    what: "title of the run, or spaces at its ends",
    of: "runs",
};

pub(in crate::formats) const FACTS: Loss = Loss {
    name: "facts",
    what: "properties of the run",
    of: "facts",
};

pub(in crate::formats) const LABELS: Loss = Loss {
    name: "labels",
    what: "labels of samples",
    of: "sets of labels",
};

pub(in crate::formats) const BACK_EDGES: Loss = Loss {
    name: "back_edges",
    what: "calls whose cost is unknown",
    of: "edges",
};

pub(in crate::formats) const KINDS: Loss = Loss {
    name: "kinds",
    what: "kinds of threads, roots and other nodes",
    of: "functions",
};

pub(in crate::formats) const PLACES: Loss = Loss {
    name: "places",
    what: "module, file or line of definition of functions",
    of: "functions",
};

pub(in crate::formats) const SAME_NAME: Loss = Loss {
    name: "same_name",
    what: "the difference between functions with equal names",
    of: "functions",
};

pub(in crate::formats) const RECORDED: Loss = Loss {
    name: "recorded",
    what: "exclusive costs of functions as stated in the file, if the sum of their nodes differs",
    of: "functions",
};

pub(in crate::formats) const FUNCTION_COSTS: Loss = Loss {
    name: "function_costs",
    what: "inclusive costs of functions as stated in the file, if the sum of their nodes differs",
    of: "functions",
};

pub(in crate::formats) const RAW_NAMES: Loss = Loss {
    name: "raw_names",
    what: "mangled names",
    of: "functions",
};

pub(in crate::formats) const NAMES: Loss = Loss {
    name: "names",
    what: "original spelling of names that the format cannot hold",
    of: "functions",
};

pub(in crate::formats) const ABSENT: Loss = Loss {
    name: "absent",
    what: "functions with costs but without a node",
    of: "functions",
};

pub(in crate::formats) const FRACTIONS: Loss = Loss {
    name: "fractions",
    what: "fractions of the unit, which are rounded",
    of: "figures",
};

pub(in crate::formats) const NEGATIVE: Loss = Loss {
    name: "negative",
    what: "costs below 0, which become 0",
    of: "figures",
};

pub(in crate::formats) const UNKNOWN: Loss = Loss {
    name: "unknown",
    what: "unknown costs, which become 0",
    of: "figures",
};

pub(in crate::formats) const LARGE: Loss = Loss {
    name: "large",
    what: "parts of costs above the largest integer of the format",
    of: "figures",
};

pub(in crate::formats) const COLUMNS: Loss = Loss {
    name: "columns",
    what: "columns of lines",
    of: "lines and calls",
};

pub(in crate::formats) const LINE_ZERO: Loss = Loss {
    name: "line_zero",
    what: "line number 0",
    of: "lines and calls",
};

pub(in crate::formats) const MODULES: Loss = Loss {
    name: "modules",
    what: "modules of functions",
    of: "functions",
};

pub(in crate::formats) const DEFINITIONS: Loss = Loss {
    name: "definitions",
    what: "line or column of definition of functions",
    of: "functions",
};

pub(in crate::formats) const PATHS: Loss = Loss {
    name: "paths",
    what: "call paths of nodes",
    of: "nodes",
};

pub(in crate::formats) const TOTALS: Loss = Loss {
    name: "totals",
    what: "totals that differ from the sum of the functions",
    of: "metrics",
};

pub(in crate::formats) const CALLERS: Loss = Loss {
    name: "callers",
    what: "pairs of caller and callee, because call paths are unknown",
    of: "edges",
};

pub(in crate::formats) const INCLUSIVE: Loss = Loss {
    name: "inclusive",
    what: "inclusive costs that do not follow from the output",
    of: "functions",
};

/// Whether two figures differ by more than the rounding of sums.
pub(in crate::formats) fn differ(one: f64, other: f64) -> bool {
    // Relative, as figures are of any size. So 0 differs from everything but 0.
    (one - other).abs() > ROUNDING * one.abs().max(other.abs())
}
