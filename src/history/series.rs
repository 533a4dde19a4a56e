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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::order::KEYS;
    use crate::store::run_with_tags as run;

    /// The numbers of the runs of each position, of each series.
    fn made(runs: &[RunMarks], keys: &[&str]) -> Vec<(Order, Vec<Vec<i64>>)> {
        let numbers = |series: &Series| {
            let of = |position: &Position| position.runs.iter().map(|run| run.run_id).collect();
            series.positions.iter().map(of).collect()
        };
        series_of(runs.to_vec(), keys)
            .iter()
            .map(|series| (series.order, numbers(series)))
            .collect()
    }

    #[test]
    fn order_is_by_the_first_that_every_run_has() {
        let counted = [
            run(1, &[("commit", "c"), ("commit_count", "10")]),
            run(2, &[("commit", "a"), ("commit_count", "9")]),
        ];
        let by_count = (Order::CommitCount, vec![vec![2], vec![1]]);
        assert_eq!(made(&counted, &KEYS), [by_count]);
        // One without a count, or with one that is no number, and the time decides.
        for count in [None, Some("many"), Some("-1"), Some("")] {
            let mut third = vec![("commit_time", "2026-01-01T12:00:00+02:00")];
            third.extend(count.map(|count| ("commit_count", count)));
            let runs = [
                run(1, &[("commit_count", "1"), ("commit_time", "1767261601")]),
                run(
                    2,
                    &[
                        ("commit_count", "2"),
                        ("commit_time", "2026-01-01T09:00:00Z"),
                    ],
                ),
                run(3, &third),
            ];
            let by_time = (Order::CommitTime, vec![vec![2], vec![3], vec![1]]);
            assert_eq!(made(&runs, &KEYS), [by_time], "{count:?}");
        }
        let mut recorded = [run(1, &[]), run(2, &[])];
        recorded[0].recorded_utc = Some("2026-01-01T00:00:00.000000000Z".to_owned());
        recorded[1].recorded_utc = Some("2025-12-31T23:59:59.999999999Z".to_owned());
        let by_recording = (Order::RecordedAt, vec![vec![2], vec![1]]);
        assert_eq!(made(&recorded, &KEYS), [by_recording]);
        recorded[0].recorded_utc = None;
        let by_import = (Order::ImportedAt, vec![vec![1], vec![2]]);
        assert_eq!(made(&recorded, &KEYS), [by_import]);
    }

    #[test]
    fn repeats_are_runs_of_one_commit() {
        let runs = [
            run(1, &[("commit", "a"), ("commit_count", "7")]),
            run(2, &[("commit", "b"), ("commit_count", "8")]),
            // Another commit with an equal count is none.
            run(3, &[("commit", "c"), ("commit_count", "8")]),
            run(4, &[("commit", "b"), ("commit_count", "8")]),
            // Nor is one that is unknown.
            run(5, &[("commit_count", "8")]),
            run(6, &[("commit", ""), ("commit_count", "8")]),
            // What else was changed in the working tree is unknown.
            run(
                7,
                &[("commit", "b"), ("commit_count", "8"), ("dirty", "true")],
            ),
            run(
                8,
                &[("commit", "b"), ("commit_count", "8"), ("dirty", "true")],
            ),
            run(
                9,
                &[("commit", "a"), ("commit_count", "7"), ("dirty", "false")],
            ),
        ];
        let positions = [&[1, 9][..], &[2, 4], &[3], &[5], &[6], &[7], &[8]];
        let expected = positions.map(<[i64]>::to_vec).to_vec();
        assert_eq!(made(&runs, &KEYS), [(Order::CommitCount, expected)]);
        // Recorded in turns, a commit has the position of its first run.
        let mut turns: Vec<RunMarks> = (1..)
            .zip(["a", "b", "b", "a"])
            .map(|(number, commit)| run(number, &[("commit", commit)]))
            .collect();
        for run in &mut turns {
            run.recorded_utc = Some(run.imported_at.clone());
        }
        let expected = (Order::RecordedAt, vec![vec![1, 4], vec![2, 3]]);
        assert_eq!(made(&turns, &KEYS), [expected]);
    }

    #[test]
    fn runs_with_other_values_are_other_series() {
        let mut runs = [
            run(1, &[("branch", "main"), ("host", "x")]),
            run(2, &[("branch", "fix"), ("host", "x")]),
            run(3, &[("branch", "main"), ("host", "x")]),
            run(4, &[("branch", "main"), ("host", "x")]),
        ];
        runs[3].command = Some("app".to_owned());
        let by_import = |positions: &[i64]| {
            let positions = positions.iter().map(|run| vec![*run]).collect();
            (Order::ImportedAt, positions)
        };
        let expected = [by_import(&[4]), by_import(&[1, 3]), by_import(&[2])];
        assert_eq!(made(&runs, &KEYS), expected);
        assert_eq!(made(&runs, &["host"]), [by_import(&[1, 2, 3, 4])]);
        assert_eq!(made(&runs, &[]), [by_import(&[1, 2, 3, 4])]);
        let first = &series_of(runs.to_vec(), &["branch", "none"])[0];
        let said = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        assert_eq!(first.key, [said("branch", "main"), said("none", "")]);
        assert!(series_of(Vec::new(), &KEYS).is_empty());
    }

    #[test]
    fn equal_figures_are_one_recording() {
        let mut runs = [1, 2, 3, 4].map(|number| run(number, &[("commit", "a")]));
        runs[0].recording = Some("x".to_owned());
        runs[1].recording = Some("x".to_owned());
        let series = series_of(runs.to_vec(), &KEYS);
        assert_eq!(series[0].positions[0].recordings(), 3);
    }
}
