//! Earlier runs that tell a comparison of two runs how much costs vary.

use profdb::compare::judge::Noise;
use profdb::compare::order::Order;
use profdb::compare::{ComparedRun, Request, compare};
use profdb::events::FunctionDef;
use profdb::store::{Database, RunMeta};
use rusqlite::ToSql;

use crate::support::described_runs::{add_run, emit_root, emit_time};
use crate::support::made_runs::made_up;

/// Stores a run with tags. Each run has other costs: equal runs count once.
fn add(database: &mut Database, tags: &[(&str, &str)]) -> i64 {
    let tags = tags.iter();
    let meta = RunMeta {
        tags: tags
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect(),
        ..made_up()
    };
    let runs = database.run_marks(None).expect("a database").len();
    let cost = 1000.0 + 7.0 * f64::from(u32::try_from(runs).expect("few"));
    let run = add_run(database, &meta, |sink| {
        let time = emit_time(sink);
        emit_root(sink, FunctionDef::named("f"), None, time, cost);
    });
    let at = format!("2026-01-01T00:00:{run:02}Z");
    set(database, "imported_at", run, &at);
    run
}

/// Changes a column of a run.
fn set(database: &Database, column: &str, run: i64, value: &dyn ToSql) {
    let sql = format!("UPDATE runs SET {column} = ?1 WHERE run_id = ?2");
    let changed = database.connection().execute(&sql, (value, run));
    assert_eq!(changed, Ok(1));
}

/// Returns how many earlier runs a comparison of two runs uses; fewer than five are not used.
fn earlier([base, new]: [(&Database, i64); 2]) -> usize {
    let compared = [base, new].map(|(database, run)| ComparedRun {
        database,
        run: database.run(Some(run)).expect("a database").expect("a run"),
        tags: Vec::new(),
    });
    let request = Request {
        noise: Some(Noise::Timed),
        ..Request::default()
    };
    let [base, new] = compared;
    compare(&[base], &[new], &request)
        .expect("two runs")
        .earlier
}

fn earlier_in(database: &Database, base: i64, new: i64) -> usize {
    earlier([(database, base), (database, new)])
}

fn add_counted(database: &mut Database, count: u32) -> i64 {
    add(database, &[("commit_count", &count.to_string())])
}

#[test]
fn earlier_runs_are_those_before_both_runs_in_the_order_of_the_series() {
    let mut database = Database::in_memory().expect("memory");
    let mut runs = [0; 10];
    for count in [5, 9, 1, 7, 3, 8, 2, 6, 4] {
        runs[count] = add_counted(&mut database, u32::try_from(count).expect("small"));
    }
    let other = add(&mut database, &[("commit_count", "0"), ("host", "other")]);
    assert_eq!(earlier_in(&database, runs[8], runs[9]), 7);
    assert_eq!(earlier_in(&database, runs[9], runs[8]), 7);
    assert_eq!(earlier_in(&database, runs[3], runs[7]), 5);
    assert_eq!(
        earlier_in(&database, runs[2], runs[6]),
        0,
        "four are too few"
    );
    // A run of another series does not limit them.
    assert_eq!(earlier_in(&database, runs[7], other), 6);
    // A run of another database is later than all runs.
    let mut second = Database::in_memory().expect("memory");
    let new = add_counted(&mut second, 1);
    set(&second, "fingerprint", new, b"other");
    assert_eq!(earlier([(&database, runs[1]), (&second, new)]), 8);
    // A run with another command is of another series unless the runs have a title.
    set(&database, "command", runs[4], &"app");
    assert_eq!(earlier_in(&database, runs[8], runs[9]), 6);
}

#[test]
fn count_of_commits_that_is_not_a_number_leaves_the_order_to_the_import() {
    for count in ["", "many", "-1"] {
        let mut database = Database::in_memory().expect("memory");
        for number in (2..=8).rev() {
            add_counted(&mut database, number);
        }
        let last = add_counted(&mut database, 1);
        // By counts, the last two runs are the earliest.
        assert_eq!(earlier_in(&database, 7, last), 0);
        let first = database.connection().execute(
            "UPDATE run_tags SET value = ?1 WHERE run_id = 1 AND key = 'commit_count'",
            [count],
        );
        assert_eq!(first, Ok(1));
        assert_eq!(earlier_in(&database, 7, last), 6, "{count:?}");
    }
}

#[test]
fn damaged_time_of_import_leaves_the_order_to_run_numbers() {
    let mut database = Database::in_memory().expect("memory");
    for number in 1..=8 {
        let run = add(&mut database, &[("commit", &format!("c{number}"))]);
        let at = format!("2026-01-01T00:00:{:02}Z", 59 - run);
        set(&database, "imported_at", run, &at);
    }
    let order = |database: &Database| Order::common(&database.run_marks(None).expect("a database"));
    assert_eq!(order(&database), Order::ImportedAt);
    assert_eq!(earlier_in(&database, 7, 8), 0);
    set(&database, "imported_at", 3, &"yesterday");
    assert_eq!(order(&database), Order::RunId);
    assert_eq!(earlier_in(&database, 7, 8), 6);
}

#[test]
fn runs_of_one_commit_or_one_day_count_as_one_session() {
    let mut database = Database::in_memory().expect("memory");
    // Two runs of each: a count of commits, a commit without a count, a day of import, a day of recording.
    for commit in ["a", "b"] {
        add(&mut database, &[("commit_count", "7"), ("commit", commit)]);
    }
    for _ in 0..2 {
        add(&mut database, &[("commit_count", ""), ("commit", "a")]);
    }
    for _ in 0..2 {
        add(&mut database, &[("commit", "")]);
    }
    for second in ["58", "59.5"] {
        let run = add(&mut database, &[]);
        let at = format!("2025-12-31T23:59:{second}Z");
        set(&database, "recorded_utc", run, &at);
    }
    for count in ["8", "9"] {
        add(&mut database, &[("commit_count", count)]);
    }
    let last = add(&mut database, &[("commit", "z")]);
    assert_eq!(earlier_in(&database, last - 1, last), 5);
}
