//! Profiles of programs that never ran: trees of any size that keep the profilers' own rules, and
//! their files.
//!
//! Equal arguments give equal bytes, on every machine. Each program here uses a part of it.

#![allow(dead_code, reason = "each program uses a part")]
#![expect(
    clippy::cast_precision_loss,
    reason = "the profiler computes in binary floating point too"
)]

pub(crate) mod dyalog;
pub(crate) mod lisp;
mod walk;

use std::io;
use std::iter::Sum;
use std::ops::{Add, AddAssign};

pub(crate) use walk::DepthPlan;
use walk::{Graph, Walk};

/// The version of the `]PROFILE` command whose files are imitated.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Version {
    /// Ticks, times corrected for the timer's cost, labels of exclusive and inclusive swapped.
    V0_9_0,
    /// No ticks, raw times rounded to a microsecond, right labels.
    V1_37,
}

impl Version {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        [Self::V0_9_0, Self::V1_37]
            .into_iter()
            .find(|version| version.name() == text)
            .ok_or(format!("expected a version 0.9.0 or 1.37, found `{text}`"))
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::V0_9_0 => "0.9.0",
            Self::V1_37 => "1.37",
        }
    }

    /// The cost of reading the timer once in milliseconds, as printed in files of this version.
    pub(crate) fn bias_text(self) -> &'static str {
        match self {
            Self::V0_9_0 => "0.00019494869718528207",
            Self::V1_37 => "0.00007458669726290168",
        }
    }

    fn bias_milliseconds(self) -> f64 {
        self.bias_text()
            .parse()
            .expect("the text above is a number")
    }

    /// The same cost in whole picoseconds: what the walk puts on top of the net times.
    fn bias_picoseconds(self) -> u64 {
        match self {
            Self::V0_9_0 => 194_949,
            Self::V1_37 => 74_587,
        }
    }
}

/// Everything that decides the output.
pub(crate) struct Profile {
    pub(crate) rows: usize,
    pub(crate) functions: usize,
    pub(crate) seed: u64,
    pub(crate) version: Version,
    pub(crate) depth: DepthPlan,
}

/// One line may call `MAX_CALLEES` functions, all different and none of them opaque: there must be
/// enough of these.
pub(crate) const MIN_FUNCTIONS: usize = 32;

/// A bound that keeps every sum of picoseconds, also over all levels of the tree, inside 64 bits.
const MAX_ROWS: usize = 1_000_000_000;

impl Profile {
    pub(crate) fn new(
        rows: usize,
        functions: usize,
        seed: u64,
        version: Version,
    ) -> Result<Self, String> {
        if functions < MIN_FUNCTIONS {
            return Err(format!("expected at least {MIN_FUNCTIONS} functions"));
        }
        if rows > MAX_ROWS {
            return Err(format!("expected at most {MAX_ROWS} rows"));
        }
        Ok(Self {
            rows,
            functions,
            seed,
            version,
            depth: DepthPlan::USUAL,
        })
    }

    /// The profile with a tree that is about so deep.
    pub(crate) fn about_so_deep(self, depth: usize) -> Self {
        let depth = DepthPlan::about(depth);
        Self { depth, ..self }
    }

    /// Hands every row of the tree to `emit`, in pre-order; stops at the first error.
    pub(crate) fn each_row(&self, emit: impl FnMut(&Row) -> io::Result<()>) -> io::Result<()> {
        let mut walk = Walk {
            graph: Graph {
                functions: self.functions,
                seed: self.seed,
            },
            bias: self.version.bias_picoseconds(),
            random: Random(self.seed),
            depth: self.depth,
            open: vec![0; self.functions],
            emit,
        };
        for root in walk.roots(self.rows) {
            walk.subtree(&root, 0)?;
        }
        Ok(())
    }

    /// The milliseconds that the tool makes of a raw cost: what its tree files hold, but for the
    /// digits printed.
    pub(crate) fn milliseconds(&self, cost: Cost) -> f64 {
        match self.version {
            Version::V0_9_0 => self.corrected(cost),
            Version::V1_37 => ((cost.picoseconds + 500_000) / 1_000_000) as f64 / 1e3,
        }
    }

    /// raw - ticks x bias, in the floating-point arithmetic of the profiler.
    pub(crate) fn corrected(&self, cost: Cost) -> f64 {
        raw(cost) - cost.ticks as f64 * self.version.bias_milliseconds()
    }
}

pub(crate) fn raw(cost: Cost) -> f64 {
    cost.picoseconds as f64 / 1e9
}

/// Raw time and number of timer reads. Integers, so that sums are exact.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Cost {
    pub(crate) picoseconds: u64,
    pub(crate) ticks: u64,
}

impl Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            picoseconds: self.picoseconds + other.picoseconds,
            ticks: self.ticks + other.ticks,
        }
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        costs.fold(Self::default(), Add::add)
    }
}

/// One row of the tree. At even depth a function row, at odd depth a line row of the function row
/// above.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    pub(crate) depth: usize,
    pub(crate) function: usize,
    pub(crate) line: Option<usize>,
    /// How many rows lie below this one.
    pub(crate) size: usize,
    pub(crate) calls: u64,
    pub(crate) exclusive: Cost,
    pub(crate) inclusive: Cost,
}

/// The open rows down to the current one: what an importer keeps of a tree.
#[derive(Default)]
pub(crate) struct Path {
    pub(crate) open: Vec<(usize, Row)>,
    pub(crate) nodes: usize,
}

impl Path {
    /// Goes to the next row. Nodes are numbered from 1.
    pub(crate) fn enter(&mut self, row: &Row) {
        self.nodes += 1;
        self.open.truncate(row.depth);
        self.open.push((self.nodes, *row));
    }

    /// How many nodes back the parent of the current row is.
    pub(crate) fn up(&self) -> Option<usize> {
        let above = self.open.len().checked_sub(2)?;
        Some(self.nodes - self.open[above].0)
    }

    /// How many nodes back the nearest row of the same function and line is that encloses the
    /// current one.
    pub(crate) fn outer_up(&self) -> Option<usize> {
        let ((node, row), above) = self.open.split_last()?;
        above
            .iter()
            .rev()
            .find(|(_, outer)| (outer.function, outer.line) == (row.function, row.line))
            .map(|(outer, _)| node - outer)
    }
}

/// The full names of all functions, unique, with what APL allows in names.
pub(crate) fn names(functions: usize) -> Vec<String> {
    const SPACES: [&str; 16] = [
        "#",
        "#.Shop",
        "#.Shop.Stock",
        "#.Shop.Orders",
        "#.Tree",
        "#.Util",
        "#.Util.Text",
        "#.Util.∆Dates",
        "#.Conga.LIB",
        "#.HttpServer",
        "#.JSON",
        "#.SQL.Driver",
        "#.Stats.Regression",
        "#.SharpPlot",
        "⎕SE.Dyalog.Utils",
        "⎕SE.SALTUtils",
    ];
    const VERBS: [&str; 16] = [
        "get", "Set", "fmt∆", "Parse", "calc", "Load", "∆check", "Sort", "find", "Merge", "join_",
        "Walk", "is", "Render", "⍙call", "on",
    ];
    const NOUNS: [&str; 16] = [
        "Row", "Num", "Price", "Order", "Line", "Node", "Text", "Key", "Table", "Date", "Item",
        "∆Total", "Buffer", "Rate", "Tax", "Client",
    ];
    (0..functions)
        .map(|function| {
            // Neighbours share a namespace.
            let space = SPACES[pick(mix(function as u64 / 8), 16)];
            let hash = mix(function as u64);
            let verb = if Graph::is_opaque(function) {
                "⍙native"
            } else {
                VERBS[pick(hash, 16)]
            };
            format!("{space}.{verb}{}{function}", NOUNS[pick(mix(hash), 16)])
        })
        .collect()
}

pub(crate) fn index(number: u64) -> usize {
    usize::try_from(number).expect("no more than MAX_ROWS or calls of a row")
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// A number from 0 to `bound` - 1.
    fn below(&mut self, bound: usize) -> usize {
        pick(self.next(), bound)
    }

    fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// A weight within a factor of 17.
    fn noise(&mut self) -> u64 {
        64 + self.below(1024) as u64
    }
}

/// Changes every bit of the result for every bit of `word`.
fn mix(word: u64) -> u64 {
    let word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// A number from 0 to `bound` - 1, from the upper bits of a hash.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the result is less than `bound`"
)]
fn pick(hash: u64, bound: usize) -> usize {
    ((u128::from(hash) * bound as u128) >> 64) as usize
}
