//! Series of runs: those that are of one program under one set of circumstances, in the order of what they measured.
//!
//! What they have in common and what their order is by, [`crate::compare::order`] says.
//!
//! Runs of one commit are repeats of each other and have one position, that of the first of them; runs that merely have an equal
//! count of commits have not (two branches have them). A run without a commit has a position of its own, and so has one whose
//! tag `dirty` is not `false`: what was changed in the working tree is unknown. Ties are in the order of the numbers of runs.

use std::collections::BTreeMap;

use crate::compare::order::{Order, value};
use crate::store::{Database, RunMarks, StoreError};

/// A series of runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    /// What its runs have in common: keys and values, in the order in which they were asked for; empty where a run has none.
    pub key: Vec<(String, String)>,
    /// What its order is by.
    pub order: Order,
    /// Where its runs are, in this order; there is at least one.
    pub positions: Vec<Position>,
}

/// Runs of one state of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// The runs, at least one: repeats of each other, in the order of the series.
    pub runs: Vec<RunMarks>,
    /// The commit that they are of; `None` if it is unknown.
    pub commit: Option<String>,
    /// Whether the program was that of the commit: false if the working tree is said to have been changed.
    pub is_clean: bool,
}

impl Series {
    /// All its runs, in its order.
    pub fn runs(&self) -> impl Iterator<Item = &RunMarks> {
        self.positions.iter().flat_map(|position| &position.runs)
    }
}

impl Position {
    /// How many of its runs are recordings of their own: copies of one are one.
    #[must_use]
    pub fn recordings(&self) -> usize {
        if let [_] = self.runs.as_slice() {
            return 1;
        }
        let known: std::collections::BTreeSet<&str> = self
            .runs
            .iter()
            .filter_map(|run| run.recording.as_deref())
            .collect();
        let unknown = self.runs.iter().filter(|run| run.recording.is_none());
        known.len() + unknown.count()
    }
}

/// The series that some runs make, or all runs of a database, by the values that they have of some keys: that with the run
/// imported last first. Every run is in one.
///
/// # Errors
/// When the database cannot be read.
pub fn series(
    database: &Database,
    runs: Option<&[i64]>,
    keys: &[&str],
) -> Result<Vec<Series>, StoreError> {
    Ok(series_of(database.run_marks(runs)?, keys))
}

/// The series that runs make.
fn series_of(runs: Vec<RunMarks>, keys: &[&str]) -> Vec<Series> {
    let mut by_key: BTreeMap<Vec<String>, Vec<RunMarks>> = BTreeMap::new();
    for run in runs {
        let values = keys.iter().map(|key| value(&run, key).to_owned());
        by_key.entry(values.collect()).or_default().push(run);
    }
    let mut all: Vec<Series> = by_key
        .into_iter()
        .map(|(values, runs)| {
            let order = Order::common(&runs);
            Series {
                key: keys
                    .iter()
                    .map(|key| (*key).to_owned())
                    .zip(values)
                    .collect(),
                order,
                positions: positions(runs, order),
            }
        })
        .collect();
    let latest = |series: &Series| series.runs().map(|run| run.run_id).max();
    all.sort_by_key(|series| std::cmp::Reverse(latest(series)));
    all
}

/// The runs by what they measured.
fn positions(mut runs: Vec<RunMarks>, order: Order) -> Vec<Position> {
    runs.sort_by_cached_key(|run| (order.of(run), run.run_id));
    let mut positions: Vec<Position> = Vec::new();
    let mut of_commit: BTreeMap<String, usize> = BTreeMap::new();
    for run in runs {
        let commit = run.tag("commit").filter(|commit| !commit.is_empty());
        let commit = commit.map(str::to_owned);
        let is_clean = run.tag("dirty").is_none_or(|dirty| dirty == "false");
        if let Some(commit) = commit.as_ref().filter(|_| is_clean) {
            if let Some(at) = of_commit.get(commit) {
                positions[*at].runs.push(run);
                continue;
            }
            of_commit.insert(commit.clone(), positions.len());
        }
        positions.push(Position {
            runs: vec![run],
            commit,
            is_clean,
        });
    }
    positions
}
