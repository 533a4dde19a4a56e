//! Views and reports reach the indexes: what a user asks of one run, or of one function in it,
//! reads no table from end to end. The plans are those of a database as profdb makes it, with the
//! figures that its migration gives the planner.

#![expect(clippy::disallowed_methods, reason = "reads its own queries")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use profdb::base::error::Stop;
use profdb::formats::{Options, format_named};
use profdb::input::{Input, Limits};
use profdb::pipeline::{import, meta};
use profdb::report::{self, Argument, NameSyntax, REPORTS, Request};
use profdb::store::Database;

const CSV: &[u8] = b"\"Depth\",\"Element\",\"Line\",\"Calls\",\"ExclusiveTime\",\"InclusiveTime\"\n0,\"#.f\",,1,1,1\n";

/// A tree with ticks, bias and lines.
const XML: &[u8] = include_bytes!("../cases/dyalog_xml/foo-0.9.0-tree/run.xml");

fn database(format: &str, bytes: &'static [u8]) -> Database {
    let stop = Stop::default();
    let input =
        Input::new(Box::new(bytes), Limits::default(), stop.clone()).expect("the text is readable");
    let format = format_named(format).expect("the format is there");
    let options = Options::default();
    let describe = |fingerprint| meta(format, &options, "x", fingerprint);
    import(
        input,
        format,
        &options,
        &stop,
        describe,
        Database::in_memory,
    )
    .expect("a profile imports")
    .database
}

#[test]
fn what_is_asked_of_a_run_scans_no_table() {
    let database = database("dyalog_csv", CSV);
    for (view, columns) in views(&database) {
        let mut asked = format!("SELECT * FROM {view} WHERE run_id = 1");
        if columns.iter().any(|known| known == "base_run_id") {
            asked += " AND base_run_id = 2";
        }
        check(&database, &asked);
        for (column, value) in [("metric", "'time'"), ("function", "'f'")] {
            if columns.iter().any(|known| known == column) {
                let _ = write!(asked, " AND {column} = {value}");
                check(&database, &asked);
            }
        }
    }
    check(
        &database,
        "SELECT * FROM exclusive WHERE run_id = 1 AND metric = 'time' AND rank <= 10",
    );
    check(
        &database,
        "SELECT * FROM tree WHERE run_id = 1 AND metric = 'time' ORDER BY node_id",
    );
    check(
        &database,
        "SELECT * FROM labels WHERE run_id = 1 AND metric = 'time' AND key = 'worker'",
    );
    check(
        &database,
        "SELECT * FROM tags WHERE run_id = 1 AND metric = 'time' AND key = 'worker'",
    );
    check(
        &database,
        "SELECT * FROM source_lines WHERE run_id = 1 AND function_id = 1 AND line = 1",
    );
    check(
        &database,
        "SELECT * FROM subtrees WHERE run_id = 1 AND metric = 'time' AND top = 'f'",
    );
    check(
        &database,
        "SELECT * FROM ancestors WHERE run_id = 1 AND metric = 'time' AND node_id = 1",
    );
}

/// The history of a function looks its figures up run by run, and reads no other function's.
#[test]
fn the_history_of_a_function_is_looked_up() {
    let database = database("dyalog_csv", CSV);
    let plan = plan(
        &database,
        "SELECT * FROM history WHERE function = 'f' AND metric = 'time'",
    );
    let looks_up = |step: &String| {
        step.starts_with("SEARCH i USING PRIMARY KEY (metric_id=? AND function_id=?)")
    };
    assert!(plan.iter().any(looks_up), "{}", plan.join("\n"));
}

/// Each row of the views of calls says whether its callee has back edges: that is one step, however many callers there are.
#[test]
fn back_edges_of_a_callee_are_found_in_one_step() {
    let database = database("dyalog_csv", CSV);
    for view in ["calls", "callees", "call_lines"] {
        let plan = plan(
            &database,
            &format!("SELECT * FROM {view} WHERE run_id = 1 AND function = 'x'"),
        );
        let step = "SEARCH b USING PRIMARY KEY (metric_id=? AND callee_id=? AND back=?)";
        assert!(plan.iter().any(|found| found == step), "{view}: {plan:?}");
    }
}

/// What is one function is found by its key and by its number, from either side, without a look at the others.
#[test]
fn identities_are_looked_up() {
    let database = database("dyalog_csv", CSV);
    for (sql, expected) in [
        (
            "SELECT identity_id FROM identities WHERE identity_key = x'00'",
            "SEARCH identities USING COVERING INDEX sqlite_autoindex_identities_1 (identity_key=?)",
        ),
        (
            "SELECT name FROM functions WHERE identity_id = 1",
            "SEARCH functions USING INDEX functions_by_identity (identity_id=?)",
        ),
        (
            "SELECT i.name FROM functions AS f JOIN identities AS i USING (identity_id) WHERE f.function_id = 1",
            "SEARCH i USING INTEGER PRIMARY KEY (rowid=?)",
        ),
    ] {
        let plan = plan(&database, sql);
        assert!(plan.iter().any(|step| step == expected), "{sql}: {plan:?}");
        assert!(
            plan.iter().all(|step| step.starts_with("SEARCH")),
            "{plan:?}"
        );
    }
}

/// The public views with their columns, but for the list of runs, which is all runs, and the history of functions, which is about
/// all runs.
fn views(database: &Database) -> Vec<(String, Vec<String>)> {
    let sql = "SELECT v.name, c.name
               FROM sqlite_schema AS v, pragma_table_info(v.name) AS c
               WHERE v.type = 'view' AND v.name NOT IN ('run_list', 'history')
               ORDER BY v.name, c.cid";
    let mut views: Vec<(String, Vec<String>)> = Vec::new();
    let mut statement = database.connection().prepare(sql).expect("a schema");
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next().expect("a schema") {
        let (view, column): (String, String) =
            (row.get(0).expect("a name"), row.get(1).expect("a name"));
        match views.last_mut() {
            Some((last, columns)) if *last == view => columns.push(column),
            _ => views.push((view, vec![column])),
        }
    }
    views
}

/// A plan may scan what it has made itself, and the list of runs.
fn check(database: &Database, sql: &str) {
    const OWN: &[&str] = &[
        // One row, from which the path above a node is followed.
        "SCAN CONSTANT ROW",
        // The number of the run, as the one row of a table-valued function.
        "SCAN j",
        "SCAN above",
        "SCAN bracket",
        "SCAN height",
        "SCAN x",
        "SCAN function_labels",
        "SCAN (subquery",
        "SCAN calls",
        "SCAN changes",
        "SCAN callees",
        "SCAN exclusive",
        "SCAN cumulative",
        "SCAN labels",
        "SCAN tags",
        "SCAN r",
    ];
    let plan = plan(database, sql);
    let scans: Vec<_> = plan
        .iter()
        .filter(|step| step.starts_with("SCAN"))
        .collect();
    let foreign: Vec<_> = scans
        .iter()
        .filter(|step| !OWN.iter().any(|own| step.starts_with(own)))
        .collect();
    assert!(foreign.is_empty(), "{sql}\n{}", plan.join("\n"));
    assert!(
        plan.iter().any(|step| step.starts_with("SEARCH")),
        "{sql}\n{}",
        plan.join("\n")
    );
}

fn plan(database: &Database, sql: &str) -> Vec<String> {
    let mut statement = database
        .connection()
        .prepare(&format!("EXPLAIN QUERY PLAN {sql}"))
        .expect("the view exists");
    let mut rows = statement.raw_query();
    let mut steps = Vec::new();
    while let Some(row) = rows.next().expect("a plan") {
        steps.push(row.get(3).expect("a plan"));
    }
    steps
}

/// Tables that grow with the runs.
const BIG: [&str; 9] = [
    "nodes",
    "node_costs",
    "node_labels",
    "label_sets",
    "edges",
    "function_info",
    "line_info",
    "function_nodes",
    "functions",
];

/// Runs with all that reports ask about: lines and a bias, labels, threads.
const RUNS: [(&str, &[u8]); 3] = [
    ("dyalog_xml", XML),
    ("pprof", include_bytes!("../cases/pprof/labels/run.pb")),
    (
        "sampler",
        include_bytes!("../cases/sampler/recursion/run.trace"),
    ),
];

/// What reports may be asked with.
const FLAGS: &[&[(&str, &str)]] = &[
    &[],
    &[("first", "5")],
    &[("metric", "ticks"), ("exclusive", "")],
    &[("bias", "0")],
    &[("lines", ""), ("code", "")],
    &[("all_lines", ""), ("fn", "NAME")],
    &[("by", "module")],
    &[("by", "file"), ("fn", "NAME")],
    &[("fn", "NAME")],
    &[("fn", "*,*"), ("depth", "3"), ("min_pct", "0")],
    &[("fn", "*>*"), ("metric", "ticks")],
    &[("fn", ".*"), ("regex", ""), ("bias", "0")],
    &[("focus", "."), ("ignore", "NAME")],
    &[("hide", "NAME"), ("fn", "*"), ("metric", "ticks")],
    &[("hide", "NAME"), ("bias", "0")],
    &[("by", "thread")],
    &[("by", "thread"), ("fn", "NAME")],
    &[("by", "label:thread"), ("hide", "NAME")],
    &[("by", "label:bytes"), ("fn", "*")],
    &[("label", "thread")],
    &[("label", "bytes"), ("focus", "."), ("by", "label:thread")],
];

/// What is asked to write a run.
fn export() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("queries/export");
    let mut files: Vec<_> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    files
        .iter()
        .map(|file| fs::read_to_string(file).expect("a file of ours"))
        .collect()
}

/// What is asked besides, to find names.
const LOOKUPS: [&str; 17] = [
    include_str!("../../queries/names/all_places.sql"),
    include_str!("../../queries/names/at_line.sql"),
    include_str!("../../queries/names/placed.sql"),
    include_str!("../../queries/names/with_line.sql"),
    include_str!("../../queries/names/same_name.sql"),
    include_str!("../../queries/names/called.sql"),
    include_str!("../../queries/names/fitting.sql"),
    include_str!("../../queries/names/found.sql"),
    include_str!("../../queries/names/functions.sql"),
    include_str!("../../queries/names/keys.sql"),
    include_str!("../../queries/names/knows.sql"),
    include_str!("../../queries/names/named.sql"),
    include_str!("../../queries/names/names.sql"),
    include_str!("../../queries/names/threads.sql"),
    include_str!("../../queries/names/of_functions.sql"),
    include_str!("../../queries/names/values.sql"),
    include_str!("../../queries/lists/runs.sql"),
];

/// What a pass over nodes reads of the tables of runs: the texts in its sources that are statements.
fn passes() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/report/nodes");
    let texts = regex::Regex::new(r#"(?s)"(\s*SELECT\b[^"]*)""#).expect("a pattern");
    let mut found = Vec::new();
    for file in fs::read_dir(folder).expect("a folder") {
        let text = fs::read_to_string(file.expect("an entry").path()).expect("a file of ours");
        let statements = texts.captures_iter(&text).map(|found| found[1].to_owned());
        found.extend(statements.filter(|sql| !sql.contains("temp.")));
    }
    found.sort();
    found
}

/// All that is done for a report is explained before it is done: no statement reads a big table, or
/// an index of it, from end to end: that would be the rows of all other runs, too. There is no
/// exception.
#[test]
fn reports_scan_no_big_table() {
    let mut explained = BTreeSet::new();
    for (format, bytes) in RUNS {
        explain_reports(&database(format, bytes), &mut explained);
    }
    assert!(explained.len() > 60, "only {} statements", explained.len());
}

fn explain_reports(database: &Database, explained: &mut BTreeSet<String>) {
    let run = database.run(None).expect("a database").expect("a run");
    let metric = run.default_metric.as_deref().expect("a metric");
    let name = "SELECT function FROM summary WHERE metric = ?1 ORDER BY cumulative DESC, function LIMIT 1 OFFSET 1";
    let name: String = database
        .connection()
        .query_row(name, [metric], |row| row.get(0))
        .expect("a function");
    let mut explain = |what: &str, sql: &str| {
        let scanned = scanned(database, sql);
        assert!(
            scanned.is_empty(),
            "{what}: a scan of {scanned:?} in\n{sql}"
        );
        explained.insert(sql.to_owned());
    };
    for report in REPORTS {
        for flags in FLAGS {
            let request = request(report, flags, &name);
            let script = match report::ask(database, report, &run, &request) {
                Ok(answer) => answer.script,
                Err(
                    report::ReportError::NothingSelected(_)
                    | report::ReportError::NoGroups(_)
                    | report::ReportError::Usage(_),
                ) => continue,
                Err(error) => panic!("{} {request:?}: {error}", report.name),
            };
            let what = format!("{} {request:?}", report.name);
            explain(&what, &script);
        }
    }
    let passes = passes();
    assert!(
        passes.len() > 10,
        "only {} statements of passes",
        passes.len()
    );
    for sql in &passes {
        explain("a pass over nodes", sql);
    }
    let export = export();
    for sql in LOOKUPS.into_iter().chain(export.iter().map(String::as_str)) {
        explain("names and exports", sql);
    }
}

fn request(report: &report::Report, flags: &[(&str, &str)], name: &str) -> Request {
    let mut request = Request::default();
    let header = report.header();
    let mut given: BTreeMap<&str, String> = BTreeMap::new();
    for (flag, value) in flags {
        match *flag {
            "metric" => request.metric = Some((*value).to_owned()),
            "bias" => request.bias = value.parse().ok(),
            "regex" => request.names = NameSyntax::Regex,
            "fn" => drop(given.insert(flag, value.replace("NAME", &format!("'{name}'")))),
            flag => drop(given.insert(flag, value.replace("NAME", &regex::escape(name)))),
        }
    }
    for parameter in &header.parameters {
        let path = (parameter.name == "fn" && !parameter.optional).then(|| format!("'{name}'"));
        let Some(value) = given.get(parameter.name).cloned().or(path) else {
            continue;
        };
        let argument = match parameter.kind {
            report::header::Parameter::Flag | report::header::Parameter::Variant(_) => {
                Argument::Flag
            }
            report::header::Parameter::Count => Argument::Count(value.parse().expect("a count")),
            report::header::Parameter::Percentage => {
                Argument::Number(value.parse().expect("a percentage"))
            }
            _ => Argument::Text(value),
        };
        request
            .arguments
            .push((parameter.name.to_owned(), argument));
    }
    request
}

/// The big tables that a statement reads from end to end, or an index of them. EXPLAIN QUERY PLAN
/// names aliases; the program itself says which table is opened and which cursor starts at its
/// first or last entry.
fn scanned(database: &Database, sql: &str) -> BTreeSet<String> {
    let connection = database.connection();
    let mut statement = connection
        .prepare(&format!("EXPLAIN {sql}"))
        .unwrap_or_else(|error| panic!("{error}: {sql}"));
    let mut opened: BTreeMap<i64, String> = BTreeMap::new();
    let mut scanned = BTreeSet::new();
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next().expect("a program") {
        let step: String = row.get(1).expect("a name");
        let [cursor, page, schema]: [i64; 3] = [2, 3, 4].map(|at| row.get(at).expect("a number"));
        match step.as_str() {
            "OpenRead" if schema == 0 => {
                let table = "SELECT tbl_name FROM main.sqlite_schema WHERE rootpage = ?1";
                opened.insert(
                    cursor,
                    connection
                        .query_row(table, [page], |row| row.get(0))
                        .expect("a table"),
                );
            }
            "OpenRead" | "OpenWrite" | "OpenEphemeral" | "OpenAutoindex" | "OpenPseudo"
            | "SorterOpen" => {
                opened.remove(&cursor);
            }
            "Rewind" | "Last" => {
                scanned.extend(
                    opened
                        .get(&cursor)
                        .filter(|table| BIG.contains(&table.as_str()))
                        .cloned(),
                );
            }
            _ => {}
        }
    }
    scanned
}

/// A run is written as it is read: SQLite keeps nothing to put it in order.
#[test]
fn exports_sort_nothing() {
    let database = database("dyalog_xml", XML);
    for sql in export() {
        let plan = plan(&database, &sql);
        let stores = ["TEMP B-TREE", "MATERIALIZE", "CO-ROUTINE"];
        assert!(
            !plan
                .iter()
                .any(|step| stores.iter().any(|store| step.contains(store))),
            "{}",
            plan.join("\n")
        );
    }
}
