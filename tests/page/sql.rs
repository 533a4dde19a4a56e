//! SQL in the page: what its SQLite answers is what the `sqlite3` shell answers about the database.

use std::fs;

use serde_json::{Map, Value, json};

use super::browser;
use crate::shown::{Shown, profdb, repository, said};
use crate::support::tools;

/// Profiles: files, and folders with their source.
const PROFILES: [(&str, Option<&str>); 5] = [
    ("tests/cases/dyalog_csv/shop-tree/run.csv", None),
    (
        "tests/cases/cli/code-of-a-workspace/run.xml",
        Some("tests/cases/cli/code-of-a-workspace/apl"),
    ),
    (
        "tests/cases/cli/function/run.callgrind",
        Some("tests/cases/cli/function/src"),
    ),
    ("tests/samples/pprof/cpu.pb.gz", None),
    ("tests/samples/austin/work.cpu.austin", None),
];

/// Asks in the page, and waits for the answer: its rows, or what is said instead.
#[track_caller]
fn ask(shown: &mut Shown, sql: &str) -> Result<Vec<Map<String, Value>>, String> {
    let before = "Number(document.querySelector('.sql').dataset.asked ?? 0)";
    let before = shown.browser.value(before);
    shown.browser.value(&format!(
        "(document.querySelector('.sql > textarea').value = {}, document.querySelector('.sql .main').click())",
        json!(sql)
    ));
    shown.wait(&format!(
        "Number(document.querySelector('.sql').dataset.asked ?? 0) > {before}"
    ));
    let fault = "document.querySelector('.sql .rows-place .warning')?.innerText ?? null";
    if let Some(fault) = shown.browser.value(fault).as_str() {
        return Err(fault.to_owned());
    }
    let answer = shown.offered_as(".sql", "JSON");
    let mut answer: Value = serde_json::from_str(&answer).expect("JSON");
    Ok(serde_json::from_value(answer["rows"].take()).expect("rows"))
}

/// What the `sqlite3` shell answers.
#[track_caller]
fn sqlite3(shown: &Shown, sql: &str) -> Vec<Map<String, Value>> {
    let output = tools::command("sqlite3")
        .args(["-json", "-readonly", "x.db", sql])
        .current_dir(&shown.folder)
        .output()
        .expect("the shell runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{sql}: {errors}");
    // It writes nothing where there are no rows.
    let text = String::from_utf8(output.stdout).expect("text");
    if text.trim().is_empty() {
        Vec::new()
    } else {
        serde_json::from_str(&text).expect("JSON")
    }
}

fn is_near(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        // The shell writes fewer digits than a REAL has.
        (Some(one), Some(other)) => (one - other).abs() <= 1e-9 * one.abs().max(other.abs()),
        _ => one == other,
    }
}

/// Compares answers, cell by cell.
#[track_caller]
fn are_equal(page: &[Map<String, Value>], shell: &[Map<String, Value>], about: &str) {
    assert_eq!(page.len(), shell.len(), "{about}: rows");
    for (row, expected) in page.iter().zip(shell) {
        assert!(row.keys().eq(expected.keys()), "{about}: {row:?}");
        for (name, value) in row {
            assert!(
                is_near(value, &expected[name]),
                "{about}: {name}: {row:?} is not {expected:?}"
            );
        }
    }
}

#[test]
fn views_and_tables_are_those_of_the_database() {
    tools::require("sqlite3");
    let mut shown = browser("sql-views");
    for (file, source) in PROFILES {
        let source = source.map(|source| repository(source).display().to_string());
        let flags: Vec<&str> = source
            .iter()
            .flat_map(|source| ["--source", source])
            .collect();
        let _ = fs::remove_file(shown.folder.join("x.db"));
        shown.import(&repository(file), &flags);
        shown.write(&[]);
        shown.open(&[("view", "sql")]);
        let objects = "SELECT m.type, m.name, GROUP_CONCAT(c.cid + 1, ', ') AS columns, \
                       GROUP_CONCAT(IIF(c.type = 'BLOB', 'HEX(' || c.name || ') AS ' || c.name, c.name), ', ') AS shown, \
                       MAX(c.name = 'run_id') AS has_run, MAX(c.name = 'base_run_id') AS has_base \
                       FROM sqlite_schema AS m JOIN pragma_table_xinfo(m.name) AS c \
                       WHERE m.type IN ('table', 'view') AND m.name NOT LIKE 'sqlite_%' GROUP BY m.name ORDER BY m.name";
        let all = sqlite3(&shown, objects);
        assert!(all.len() > 30, "{}", all.len());
        for object in all {
            let name = object["name"].as_str().expect("text");
            let columns = object["columns"].as_str().expect("text");
            let wanted = match (&object["has_base"], &object["has_run"]) {
                (base, _) if *base == 1 => "WHERE base_run_id = 1",
                (_, run) if *run == 1 => "WHERE run_id = 1",
                _ => "",
            };
            let shown_as = object["shown"].as_str().expect("text");
            let sql = format!(
                "SELECT {shown_as}, COUNT(*) OVER () AS all_rows FROM {name} {wanted} ORDER BY {columns} LIMIT 1000"
            );
            let page =
                ask(&mut shown, &sql).unwrap_or_else(|fault| panic!("{file}: {sql}: {fault}"));
            are_equal(&page, &sqlite3(&shown, &sql), &format!("{file}: {name}"));
        }
        // The statement that a view of the page shows says the same in it.
        let words = ["report", "summary", "--db", "x.db", "--show-sql"];
        let sql = said(&shown.folder, &words);
        are_equal(
            &ask(&mut shown, &sql).expect("rows"),
            &sqlite3(&shown, &sql),
            file,
        );
        shown.was_quiet();
    }
}

#[test]
fn runs_are_whole_beside_others_and_examples_have_answers() {
    let mut shown = browser("sql-runs");
    for (name, cost) in [("a", 5), ("b", 7), ("c", 9)] {
        let file = shown.folder.join(format!("{name}.folded"));
        fs::write(&file, format!("main;{name};parse {cost}\nmain 1\n")).expect("a file");
        shown.import(&file, &[]);
    }
    shown.write(&["--runs", "1,3"]);
    shown.open(&[("view", "sql")]);
    let rows = ask(
        &mut shown,
        "SELECT run_id, function, exclusive FROM function_tree WHERE exclusive > 0 ORDER BY 1, 2",
    );
    let rows = json!(rows.expect("rows"));
    assert_eq!(
        rows,
        json!([
            {"run_id": 1, "function": "main", "exclusive": 1},
            {"run_id": 1, "function": "parse", "exclusive": 5},
            {"run_id": 3, "function": "main", "exclusive": 1},
            {"run_id": 3, "function": "parse", "exclusive": 9},
        ])
    );
    // Another run is not in the page.
    let names = ask(&mut shown, "SELECT name FROM functions ORDER BY name").expect("rows");
    assert_eq!(
        json!(names),
        json!([{"name": "a"}, {"name": "c"}, {"name": "main"}, {"name": "parse"}])
    );
    // What is offered as a command answers the same.
    let command = shown.offered_as(".sql", "Command");
    let words = shlex::split(command.trim_end()).expect("words of a shell");
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    assert_eq!(words[..2], ["profdb", "sql"]);
    let text = said(
        &shown.folder,
        &[&words[1..], &["--format", "jsonl"]].concat(),
    );
    assert!(
        text.starts_with("{\"name\":\"a\"}\n{\"name\":\"b\"}\n"),
        "{text}"
    );
    let count = shown
        .browser
        .value("document.querySelectorAll('.sql select option').length")
        .as_u64()
        .expect("a number");
    assert!(count > 25, "{count}");
    for example in 0..count - 1 {
        shown.select(".sql select", &example.to_string());
        let sql = shown
            .browser
            .value("document.querySelector('.sql > textarea').value");
        let sql = sql.as_str().expect("text").to_owned();
        assert!(!sql.contains("'time'"), "{sql}");
        ask(&mut shown, &sql).unwrap_or_else(|fault| panic!("{sql}: {fault}"));
    }
    shown.was_quiet();
}

#[test]
fn statements_have_limits() {
    let mut shown = browser("sql-limits");
    let file = shown.folder.join("a.folded");
    fs::write(&file, "main;parse 5\n").expect("a file");
    shown.import(&file, &[]);
    shown.write(&[]);
    shown.open(&[("view", "sql")]);
    let many = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT i FROM n";
    assert_eq!(ask(&mut shown, many).expect("rows").len(), 1000);
    assert!(shown.text(".sql .found").starts_with("the first 1000 rows"));
    // Its address brings the statement back, and asks it.
    assert_eq!(shown.state("sql"), many);
    let fault = ask(&mut shown, "SELECT a FROM nowhere").expect_err("a fault");
    assert_eq!(fault, "no such table: nowhere");
    let fault = ask(&mut shown, "DELETE FROM runs").expect_err("a fault");
    assert!(fault.contains("only reads"), "{fault}");
    // Whole numbers are exact, though browsers have none of 64 bits.
    let numbers =
        "SELECT 9223372036854775807 AS most, 9007199254740991 AS safe, -9007199254740993 AS less";
    assert_eq!(
        json!(ask(&mut shown, numbers).expect("rows")),
        json!([{"most": i64::MAX, "safe": 9_007_199_254_740_991_i64, "less": -9_007_199_254_740_993_i64}])
    );
    // As served: one statement, which reads.
    for (sql, said) in [
        ("SELECT 1; SELECT 2", "one statement at a time"),
        ("/* SELECT */ PRAGMA query_only = 0", "found PRAGMA"),
        ("-- SELECT\n PRAGMA table_info(runs)", "found PRAGMA"),
        ("ATTACH ':memory:' AS other", "found ATTACH"),
        ("VACUUM", "found VACUUM"),
    ] {
        let fault = ask(&mut shown, sql).expect_err("a fault");
        assert!(fault.contains(said), "{sql}: {fault}");
    }
    assert_eq!(
        json!(ask(&mut shown, " ;-- a\n/* b */ (SELECT 1 AS one); -- c").err()),
        json!("near \"(\": syntax error")
    );
    for sql in [
        "\n-- a\n/* b; */ WITH a AS (SELECT 1 AS one) SELECT one FROM a; -- c",
        "VALUES (1)",
    ] {
        assert_eq!(ask(&mut shown, sql).expect("rows").len(), 1, "{sql}");
    }
    // There is no file to be had.
    let fault = ask(
        &mut shown,
        "ATTACH 'x.db' AS other; SELECT * FROM other.runs",
    )
    .expect_err("a fault");
    assert!(!fault.is_empty());
    // What does not end is ended, and the next statement is answered.
    let endless =
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n";
    shown.browser.value(&format!(
        "(document.querySelector('.sql > textarea').value = {}, document.querySelector('.sql .main').click())",
        json!(endless)
    ));
    shown.wait("document.querySelectorAll('.sql .bar-of-view button')[1].disabled === false");
    shown
        .browser
        .value("document.querySelectorAll('.sql .bar-of-view button')[1].click()");
    shown.wait("document.querySelector('.sql .rows-place .warning')?.innerText === 'The statement was stopped.'");
    assert_eq!(
        json!(
            ask(
                &mut shown,
                "SELECT function FROM tree WHERE run_id = 1 ORDER BY node_id"
            )
            .expect("rows")
        ),
        json!([{"function": "main"}, {"function": "parse"}])
    );
    shown.open(&[
        ("view", "sql"),
        ("sql", "SELECT 1 + 1 AS two, NULL AS none, x'0aff' AS bytes"),
    ]);
    shown.wait("document.querySelector('.sql tbody tr') !== null");
    assert_eq!(shown.rows(".sql"), [["2", "NULL", "x'0aff'"]]);
    shown.was_quiet();
}

#[test]
fn pages_without_sql_let_no_program_in() {
    let mut shown = browser("sql-left");
    let file = shown.folder.join("a.folded");
    fs::write(&file, "main;parse 5\n").expect("a file");
    shown.import(&file, &[]);
    shown.write(&["--no-sql"]);
    let without = fs::metadata(&shown.html).expect("a page").len();
    shown.open(&[("view", "sql")]);
    assert!(!shown.texts(".views button").contains(&"SQL".to_owned()));
    let policy = shown
        .browser
        .value("document.querySelector('meta[http-equiv]').content");
    let policy = policy.as_str().expect("text").to_owned();
    for word in ["unsafe", "blob", "profdb-worker"] {
        assert!(!policy.contains(word), "{policy}");
    }
    shown.write(&[]);
    assert!(fs::metadata(&shown.html).expect("a page").len() > without + 400_000);
    // Where there is no room for it, the page says so.
    shown.write(&["--max-size", "400kB"]);
    assert!(fs::metadata(&shown.html).expect("a page").len() < 400_000);
    shown.open(&[("view", "overview")]);
    assert!(shown.text("main").contains("SQL is not in this page"));
    let refused = profdb(
        &shown.folder,
        &["diff", "1", "1", "--db", "x.db", "--html", "-"],
    );
    assert!(!refused.status.success());
    shown.was_quiet();
}

#[test]
fn names_in_answers_are_shown_and_do_nothing() {
    let mut shown = browser("sql-strangers");
    let names = super::strangers::names();
    let file = shown.folder.join("a.speedscope.json");
    fs::write(&file, super::strangers::profile(&names).to_string()).expect("a file");
    shown.import(&file, &[]);
    shown.write(&[]);
    shown.open(&[("view", "sql")]);
    let rows = ask(
        &mut shown,
        "SELECT name AS \"<img src=x onerror=alert(1)>\", file FROM functions",
    )
    .expect("rows");
    assert!(rows.len() >= names.len());
    assert_eq!(super::strangers::brought(&mut shown), 0);
    assert!(
        shown
            .texts(".sql th")
            .contains(&"<img src=x onerror=alert(1)>".to_owned())
    );
    for name in &names {
        shown.go(&[("view", "sql"), ("sql", name)]);
        assert_eq!(super::strangers::brought(&mut shown), 0, "{name:?}");
    }
    shown.was_quiet();
}
