//! Series of runs and the order of their positions.

use profdb::compare::order::{KEYS, Order};
use profdb::history::{Position, Series, series};
use profdb::store::{Database, RunMeta};

use crate::support::described_runs::add_run;
use crate::support::made_runs::made_up;

/// A run that a test stores.
#[derive(Clone, Default)]
struct Run {
    run_id: i64,
    tags: Vec<(String, String)>,
    command: Option<String>,
    recorded_utc: Option<String>,
    fingerprint: String,
}

fn run(run_id: i64, tags: &[(&str, &str)]) -> Run {
    let tags = tags.iter();
    Run {
        run_id,
        tags: tags
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect(),
        ..Run::default()
    }
}

/// The start of the second in which a run was imported.
fn imported_at(run_id: i64) -> String {
    format!("2026-01-01T00:00:{run_id:02}Z")
}

/// Stores runs in the order of their numbers.
fn stored(runs: &[Run]) -> Database {
    let mut database = Database::in_memory().expect("memory");
    for run in runs {
        let meta = RunMeta {
            format: "folded",
            tags: run.tags.clone(),
            ..made_up()
        };
        assert_eq!(add_run(&mut database, &meta, |_| {}), run.run_id);
        let sql = "UPDATE runs SET imported_at = ?2, command = ?3, recorded_utc = ?4, fingerprint = ?5 WHERE run_id = ?1";
        let values = (
            run.run_id,
            imported_at(run.run_id),
            &run.command,
            &run.recorded_utc,
            run.fingerprint.as_bytes(),
        );
        let changed = database.connection().execute(sql, values);
        assert_eq!(changed, Ok(1));
    }
    database
}

fn series_of(runs: &[Run], keys: &[&str]) -> Vec<Series> {
    series(&stored(runs), None, keys).expect("a database")
}

/// Returns the order of each series, and the numbers of the runs of each of its positions.
fn made(runs: &[Run], keys: &[&str]) -> Vec<(Order, Vec<Vec<i64>>)> {
    let numbers = |series: &Series| {
        let of = |position: &Position| position.runs.iter().map(|run| run.run_id).collect();
        series.positions.iter().map(of).collect()
    };
    series_of(runs, keys)
        .iter()
        .map(|series| (series.order, numbers(series)))
        .collect()
}

#[test]
fn series_is_ordered_by_the_first_key_that_every_run_has() {
    let counted = [
        run(1, &[("commit", "c"), ("commit_count", "10")]),
        run(2, &[("commit", "a"), ("commit_count", "9")]),
    ];
    let by_count = (Order::CommitCount, vec![vec![2], vec![1]]);
    assert_eq!(made(&counted, &KEYS), [by_count]);
    // If one count is missing or is not a number, the time decides.
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
fn runs_of_one_clean_commit_share_a_position() {
    let runs = [
        run(1, &[("commit", "a"), ("commit_count", "7")]),
        run(2, &[("commit", "b"), ("commit_count", "8")]),
        // Another commit with an equal count is not a repeat.
        run(3, &[("commit", "c"), ("commit_count", "8")]),
        run(4, &[("commit", "b"), ("commit_count", "8")]),
        // Neither is an unknown commit.
        run(5, &[("commit_count", "8")]),
        run(6, &[("commit", ""), ("commit_count", "8")]),
        // Other changes of the working tree are unknown.
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
    // A commit whose runs alternate with others has the position of its first run.
    let mut turns: Vec<Run> = (1..)
        .zip(["a", "b", "b", "a"])
        .map(|(number, commit)| run(number, &[("commit", commit)]))
        .collect();
    for run in &mut turns {
        run.recorded_utc = Some(imported_at(run.run_id));
    }
    let expected = (Order::RecordedAt, vec![vec![1, 4], vec![2, 3]]);
    assert_eq!(made(&turns, &KEYS), [expected]);
}

#[test]
fn runs_with_other_values_of_a_key_are_in_other_series() {
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
    let first = &series_of(&runs, &["branch", "none"])[0];
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    assert_eq!(first.key, [pair("branch", "main"), pair("none", "")]);
    assert!(series_of(&[], &KEYS).is_empty());
}

#[test]
fn runs_with_equal_figures_count_as_one_recording() {
    let mut runs = [1, 2, 3, 4].map(|number| run(number, &[("commit", "a")]));
    "x".clone_into(&mut runs[0].fingerprint);
    "x".clone_into(&mut runs[1].fingerprint);
    let series = series_of(&runs, &KEYS);
    assert_eq!(series[0].positions[0].recordings(), 3);
}
