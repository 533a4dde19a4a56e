//! Every report equals what its own `--show-sql` gives in the stock sqlite3 shell, for the files of
//! all cases and a spread of flags; without `LONG_TESTS=1`, of a part of the cases. One shell
//! answers all questions to a database, in the order in which they are asked.

use crate::support::{long, tools};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use crate::support::case_files::{Case, of_group};
use profdb::base::error::Stop;
use profdb::formats::{FORMATS, Format, Options, detect};
use profdb::input::{Input, Limits};
use profdb::pipeline::{import, meta};
use profdb::report::{
    self, Argument, Base, NameSyntax, REPORTS, Report, ReportError, Request, Value,
};
use profdb::store::{Database, RunInfo, RunMeta, StoreError};
use serde_json::{Map, Value as Json};

/// Lines of a statement about a whole run, at most.
const LINES: usize = 25;

/// Lines of one with a path or a filter, and how many each further one may add.
const LINES_WITH_ONE: (usize, usize) = (60, 20);

/// Stands alone on its line in front of every answer.
const MARK: &str = "-- profdb --";

/// Every flag, alone and with others. Where a report lacks one, it is asked without it.
const FLAGS: &[&[(&str, &str)]] = &[
    &[],
    &[("exclusive", ""), ("avg", ""), ("cumpct", "")],
    &[("first", "2"), ("sort", "calls")],
    &[("pct", "65"), ("sort", "avg")],
    &[("by", "module"), ("sort", "name")],
    &[("by", "file"), ("percent-of", "selection")],
    &[("fn", "NAME"), ("percent-of", "selection")],
    &[("fn", "*,*"), ("exclusive", ""), ("min_pct", "0")],
    &[("fn", "*>NAME"), ("sort", "exclusive")],
    &[("fn", ".*"), ("regex", ""), ("depth", "2")],
    &[("focus", "FILTER"), ("min_pct", "1")],
    &[("by", "thread")],
    &[("ignore", "FILTER"), ("fn", "*"), ("by", "module")],
    &[("hide", "FILTER"), ("depth", "3")],
    &[
        ("hide", "FILTER"),
        ("focus", "."),
        ("fn", "*"),
        ("first", "3"),
    ],
    &[("bias", "0"), ("cumpct", "")],
    &[("bias", "0.0001"), ("fn", "NAME"), ("hide", "FILTER")],
    &[("thread", "THREAD"), ("sort", "cumulative")],
    &[("lines", ""), ("fn", "NAME"), ("code", "")],
    &[("all_lines", ""), ("fn", "NAME")],
    &[("all_lines", ""), ("fn", "*"), ("hide", "FILTER")],
];

/// The same for runs with labels.
const TAGGED: &[&[(&str, &str)]] = &[
    &[("label", "KEY"), ("hide", "FILTER")],
    &[("by", "label:KEY"), ("fn", "*")],
    &[("by", "label:KEY"), ("label", "KEY"), ("hide", "FILTER")],
    &[("label", "KEY"), ("focus", "FILTER"), ("fn", "NAME")],
    &[
        ("by", "label:KEY"),
        ("ignore", "FILTER"),
        ("percent-of", "selection"),
    ],
];

/// A question that was answered.
struct Asked {
    what: String,
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
}

#[test]
fn reports_equal_what_the_shell_makes_of_their_sql() {
    tools::require("sqlite3");
    let mut answered = 0;
    for format in FORMATS {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("profdb.db");
        fill(&path, format);
        let database = Database::open_read_only(&path).expect("it was just written");
        let (asked, script) = ask_all(&database);
        answered += asked.len();
        let printed = shell(&path, &script);
        let answers: Vec<&str> = printed.split(&format!("{MARK}\n")).skip(1).collect();
        assert_eq!(answers.len(), asked.len(), "answers for {}", format.name);
        for (
            Asked {
                what,
                columns,
                rows,
            },
            answer,
        ) in asked.iter().zip(answers)
        {
            let found = self::rows(answer, columns)
                .unwrap_or_else(|error| panic!("{}: {what}: {error}", format.name));
            let same = found.len() == rows.len()
                && found.iter().zip(rows).all(|(found, row)| equal(found, row));
            assert!(
                same,
                "{}: {what}\nthe shell: {found:?}\nthe report: {rows:?}",
                format.name
            );
        }
    }
    assert!(answered > 100, "only {answered} questions were answered");
}

/// Imports what the cases of a format bring, as far as it can be imported.
fn fill(path: &Path, format: &'static Format) {
    let mut database = Database::open(path).expect("a new file");
    let is_asked = |case: &Case| case.slug == "minimal" || long::includes_case(&case.name());
    let (asked, others): (Vec<_>, Vec<_>) = of_group(format.name).into_iter().partition(is_asked);
    // Of the others, the first that has a run, where none of the part has one.
    let asked = asked.iter().map(|case| (case, true));
    let cases = asked.chain(others.iter().map(|case| (case, false)));
    let files = cases.flat_map(|(case, is_in_part)| {
        let inputs = case.inputs().into_iter();
        inputs.map(move |(_, bytes)| (bytes, is_in_part))
    });
    for (bytes, is_in_part) in files {
        if !is_in_part && path.exists() {
            break;
        }
        let stop = Stop::default();
        let Ok(input) = Input::new(Box::new(bytes.as_slice()), Limits::default(), stop.clone())
        else {
            continue;
        };
        let Ok(found) = detect(input.head()) else {
            continue;
        };
        let options = Options::default();
        let describe = |fingerprint| RunMeta {
            again: true,
            ..meta(found, &options, "case", fingerprint)
        };
        let opened = move || Ok(database);
        database = match import(input, found, &options, &stop, describe, opened) {
            Ok(imported) => imported.database,
            Err(_) => Database::open(path).expect("it is there"),
        };
    }
}

/// Asks every report of every run; each run with some of the flags, so that all come up in turn.
fn ask_all(database: &Database) -> (Vec<Asked>, String) {
    let mut asked = Vec::new();
    let mut script = String::new();
    let mut turn = 0;
    for run in runs(database) {
        let metrics = database.metrics(run.run_id).expect("a database");
        let names = names(database, run.run_id);
        let key = "SELECT MIN(key) FROM label_sets WHERE run_id = ?1";
        let key: Option<String> = database
            .connection()
            .query_row(key, [run.run_id], |row| row.get(0))
            .expect("a table");
        for report in REPORTS {
            turn += 1;
            let flags = match &key {
                Some(_) if turn % 2 == 0 => TAGGED[turn / 2 % TAGGED.len()],
                _ => FLAGS[turn % FLAGS.len()],
            };
            let metric = &metrics[turn / FLAGS.len() % metrics.len()].name;
            let name = &names[turn % names.len()];
            let key = key.as_deref().unwrap_or_default();
            let request = request(report, flags, metric, (name, key), names.len());
            match ask(database, report, &run, &request) {
                Ok((question, sql)) => {
                    // Answers for several functions have a statement for each.
                    if question.columns.iter().all(|column| column != "about") {
                        check_length(&question.what, &sql, &request);
                    }
                    let _ = write!(script, ".parameter clear\n.print {MARK}\n{sql}");
                    asked.push(question);
                }
                // Not every run knows enough for every question.
                Err(
                    ReportError::NothingSelected(_)
                    | ReportError::NoGroups(_)
                    | ReportError::Several(_)
                    | ReportError::Usage(_),
                ) => {}
                Err(error @ ReportError::Store(_)) => {
                    panic!("{} {request:?}: {error}", report.name)
                }
            }
        }
    }
    (asked, script)
}

/// A statement is short enough to be read: one for a whole run, one with a path or a filter, and one
/// with more of them.
fn check_length(what: &str, sql: &str, request: &Request) {
    let is_given = |name: &str| request.arguments.iter().any(|(given, _)| given == name);
    let asks = [
        "fn",
        "thread",
        "focus",
        "ignore",
        "hide",
        "label",
        "by",
        "all_lines",
    ];
    let path = request
        .arguments
        .iter()
        .find(|(name, _)| name == "fn")
        .map_or(0, |(_, path)| match path {
            // The names of the flags here hold no operators of their own.
            Argument::Text(path) if path.starts_with('*') => path.matches([',', '>']).count(),
            _ => 0,
        });
    let given = path + asks.iter().filter(|name| is_given(name)).count();
    let most = match given {
        0 => LINES,
        given => LINES_WITH_ONE.0 + LINES_WITH_ONE.1 * (given - 1),
    };
    // Another bias than the stored one needs two costs of everything.
    let most = most + if request.bias.is_some() { 15 } else { 0 };
    let lines = sql.lines().count();
    assert!(
        lines <= most,
        "{what}: {lines} lines, and not {most}:\n{sql}"
    );
    assert_eq!(
        sql.matches(";\n").count(),
        1,
        "{what}: one statement:\n{sql}"
    );
}

fn runs(database: &Database) -> Vec<RunInfo> {
    let mut statement = database
        .connection()
        .prepare("SELECT run_id FROM runs ORDER BY run_id")
        .expect("a database");
    let ids = statement
        .query_map([], |row| row.get::<_, i64>(0))
        .expect("a database");
    let run = |id: i64| {
        database
            .run(Some(id))
            .expect("a database")
            .expect("it is listed")
    };
    ids.map(|id| run(id.expect("a number"))).collect()
}

/// The names of a run's functions and threads.
fn names(database: &Database, run: i64) -> Vec<String> {
    let sql = "SELECT DISTINCT f.name FROM runs AS r
               JOIN function_info AS i ON i.metric_id = r.default_metric_id
               JOIN functions AS f ON f.function_id = i.function_id
               WHERE r.run_id = ?1 ORDER BY f.name";
    let mut statement = database.connection().prepare(sql).expect("a database");
    let names = statement
        .query_map([run], |row| row.get(0))
        .expect("a database");
    let mut names: Vec<String> = names.collect::<Result<_, _>>().expect("names are text");
    names.push("nobody".to_owned());
    names
}

fn request(
    report: &Report,
    flags: &[(&str, &str)],
    metric: &str,
    (name, key): (&str, &str),
    names: usize,
) -> Request {
    let quoted = format!("'{}'", name.replace('\'', "''"));
    let header = report.header();
    let mut request = Request {
        metric: Some(metric.to_owned()),
        ..Request::default()
    };
    let mut given: Vec<(&str, String)> = Vec::new();
    for (flag, value) in flags {
        match *flag {
            "bias" => request.bias = value.parse().ok(),
            "percent-of" => request.base = Base::Selection,
            "regex" => request.names = NameSyntax::Regex,
            flag => {
                let fitting = if names > 3 {
                    regex::escape(name)
                } else {
                    ".".to_owned()
                };
                let value = value
                    .replace("NAME", &quoted)
                    .replace("FILTER", &fitting)
                    .replace("THREAD", name)
                    .replace("KEY", key);
                given.push((flag, value));
            }
        }
    }
    for parameter in &header.parameters {
        let value = given
            .iter()
            .find(|(flag, _)| *flag == parameter.name)
            .map(|(_, value)| value.clone());
        let value = value
            .or_else(|| (parameter.name == "fn" && !parameter.optional).then(|| quoted.clone()));
        let Some(value) = value else { continue };
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

/// An answer, and the text that is to give the same.
fn ask(
    database: &Database,
    report: &'static Report,
    run: &RunInfo,
    request: &Request,
) -> Result<(Asked, String), ReportError> {
    let mut answer = report::ask(database, report, run, request)?;
    let mut rows = Vec::new();
    answer.each(|row| {
        rows.push(row.to_vec());
        Ok::<_, StoreError>(())
    })?;
    let columns = answer
        .columns
        .iter()
        .map(|column| column.name.to_string())
        .collect();
    let what = format!("run {} {} {request:?}", run.run_id, report.name);
    Ok((
        Asked {
            what,
            columns,
            rows,
        },
        answer.script,
    ))
}

/// What the stock shell prints.
fn shell(path: &Path, script: &str) -> String {
    let mut command = tools::command("sqlite3");
    command.args(["-batch", "-bail", "-readonly"]).arg(path);
    let child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = child.expect("it was found");
    let mut input = child.stdin.take().expect("it is piped");
    let script = format!(".mode json\n{script}");
    let writer = std::thread::spawn(move || input.write_all(script.as_bytes()));
    let output = child.wait_with_output().expect("it was started");
    assert!(
        output.status.success(),
        "sqlite3: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    writer
        .join()
        .expect("it does not panic")
        .expect("the shell reads everything");
    String::from_utf8(output.stdout).expect("names are text")
}

/// The rows that the shell has printed.
fn rows(text: &str, columns: &[String]) -> Result<Vec<Vec<Value>>, String> {
    // Where there is no row, nothing is printed.
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let printed: Vec<Map<String, Json>> =
        serde_json::from_str(text).map_err(|error| format!("{error}: {text}"))?;
    let value = |row: &Map<String, Json>, column: &String| match row.get(column) {
        Some(Json::Null) => Ok(Value::Null),
        Some(Json::String(text)) => Ok(Value::Text(text.clone())),
        Some(Json::Number(number)) => match number.as_i64() {
            Some(number) => Ok(Value::Integer(number)),
            None => number
                .as_f64()
                .map(Value::Real)
                .ok_or(format!("{column}: {number}")),
        },
        other => Err(format!("{column}: {other:?}")),
    };
    printed
        .iter()
        .map(|row| columns.iter().map(|column| value(row, column)).collect())
        .collect()
}

/// The shell prints 15 digits and ends a text at a zero byte; versions of SQLite round running sums
/// differently.
fn equal(found: &[Value], row: &[Value]) -> bool {
    let same = |(found, value): (&Value, &Value)| match (found, value) {
        (Value::Real(found), Value::Real(value)) => (found - value).abs() <= 1e-12 * value.abs(),
        (Value::Text(found), Value::Text(value)) => {
            Some(found.as_str()) == value.split('\0').next()
        }
        (found, value) => found == value,
    };
    found.len() == row.len() && found.iter().zip(row).all(same)
}
