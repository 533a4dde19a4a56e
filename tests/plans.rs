//! The public views reach the indexes: what a user asks of one run, or of one function in it, reads no table from end to
//! end. The plans are those of a database as profdb makes it, with the figures that its migration gives the planner.

use profdb::error::Stop;
use profdb::import::{import, meta};
use profdb::importers::{Options, by_name};
use profdb::input::{Input, Limits};
use profdb::store::Database;

const CSV: &[u8] = b"\"Depth\",\"Element\",\"Line\",\"Calls\",\"ExclusiveTime\",\"InclusiveTime\"\n0,\"#.f\",,1,1,1\n";

fn database() -> Database {
    let stop = Stop::default();
    let input = Input::new(Box::new(CSV), Limits::default(), stop.clone()).expect("the text is readable");
    let format = by_name("dyalog_csv").expect("the format is there");
    let options = Options::default();
    let describe = |fingerprint| meta(format, &options, "x", fingerprint);
    import(input, format, &options, &stop, describe, Database::in_memory).expect("one row imports").database
}

#[test]
fn what_is_asked_of_a_run_scans_no_table() {
    let database = database();
    let views = ["summary", "lines", "calls", "call_lines", "callees", "exclusive", "cumulative", "tree"];
    for view in views {
        let asked = [
            format!("SELECT * FROM {view} WHERE run_id = 1"),
            format!("SELECT * FROM {view} WHERE run_id = 1 AND metric = 'time'"),
            format!("SELECT * FROM {view} WHERE run_id = 1 AND metric = 'time' AND function = 'f'"),
        ];
        for sql in &asked {
            check(&database, sql);
        }
    }
    check(&database, "SELECT * FROM exclusive WHERE run_id = 1 AND metric = 'time' AND rank <= 10");
    check(&database, "SELECT * FROM tree WHERE run_id = 1 AND metric = 'time' ORDER BY node_id");
    check(&database, "SELECT * FROM source_lines WHERE run_id = 1");
    check(&database, "SELECT * FROM source_lines WHERE run_id = 1 AND function_id = 1 AND line = 1");
}

/// A plan may scan what it has made itself, and the list of runs.
fn check(database: &Database, sql: &str) {
    const OWN: &[&str] =
        &["SCAN (subquery", "SCAN calls", "SCAN callees", "SCAN exclusive", "SCAN cumulative", "SCAN r"];
    let plan = plan(database, sql);
    let scans: Vec<_> = plan.iter().filter(|step| step.starts_with("SCAN")).collect();
    let foreign: Vec<_> = scans.iter().filter(|step| !OWN.iter().any(|own| step.starts_with(own))).collect();
    assert!(foreign.is_empty(), "{sql}\n{}", plan.join("\n"));
    assert!(plan.iter().any(|step| step.starts_with("SEARCH")), "{sql}\n{}", plan.join("\n"));
}

fn plan(database: &Database, sql: &str) -> Vec<String> {
    let mut statement = database.connection().prepare(&format!("EXPLAIN QUERY PLAN {sql}")).expect("the view exists");
    let steps = statement.query_map([], |row| row.get(3)).expect("a plan");
    steps.collect::<Result<_, _>>().expect("a plan")
}
