//! Properties of every profile of every case and of the samples: it is stored, exported and read back
//! without a change that is not reported. One trial for each property and input:
//! `dyalog_xml/recursion::passes_all_checks`.
//!
//! Most properties cost much: they are tried for some cases of each format, and with `LONG_TESTS=1` for all.

#![expect(clippy::disallowed_methods, reason = "small files of our own")]

use std::process::ExitCode;
use std::sync::Arc;
use std::{fs, io};

use libtest_mimic::{Failed, Trial};
use profdb::base::error::Stop;
use profdb::formats::{self, Options};
use profdb::pipeline::{Imported, import, meta};
use profdb::report::{self, Argument, Request, Value};
use profdb::source::Folder;
use profdb::store::{CHECKS, Database, Outcome, RunMeta, StoreError};
use rusqlite::types::ValueRef;
use support::case_files::entries;
use support::case_inputs::{
    Property, Sample, case_inputs, ensure, equal, open, outcome, samples, trial,
};
use support::laws::LAWS;
use support::{harness, long};

mod callers;
mod dyalog;
mod export;
mod ghc;
mod output;
mod pages;
mod round_trip;
mod viewers;

#[path = "../support"]
#[expect(dead_code, reason = "each program needs a part of it")]
mod support {
    pub(crate) mod case_files;
    pub(crate) mod case_inputs;
    pub(crate) mod csv_records;
    pub(crate) mod harness;
    pub(crate) mod laws;
    pub(crate) mod long;
    pub(crate) mod markdown_rows;
    pub(crate) mod program;
    pub(crate) mod protobuf;
    pub(crate) mod protobuf_reader;
    pub(crate) mod references;
    pub(crate) mod skipped;
    pub(crate) mod streams;
}

/// Maximum size of a sample for which the short form of this program tries the laws of changed files, in bytes.
const SHORT_SAMPLE: usize = 32 * 1024;

/// Columns of views that differ between two equal runs.
const OF_ONE_RUN: [&str; 3] = ["run_id", "base_run_id", "imported_at"];

/// Columns that count from the run's first node.
const NODE_COLUMNS: [&str; 6] = [
    "node_id",
    "parent_id",
    "last_id",
    "outer_id",
    "ancestor_id",
    "top_id",
];

/// Cases of well-formed files that are refused because no function has a cost.
const WITHOUT_FIGURES: [&str; 2] = ["chrome_trace/no-slices", "perf_script/without-functions"];

/// A property of every input, profile or not.
const REFUSED: (&str, Property) = ("refused_or_saved", refused_or_saved);

/// Properties of every profile that cost little.
const PROFILE_PROPERTIES: [(&str, Property); 1] = [("callers_add_up", callers::callers_add_up)];

/// Properties of profiles that cost much.
const COSTLY_PROPERTIES: [(&str, Property); 10] = [
    (
        "comes_back_from_every_format",
        round_trip::comes_back_from_every_format,
    ),
    ("deletes_without_trace", deletes_without_trace),
    ("exports_hold_the_profile", export::exports_hold_the_profile),
    (
        "outputs_hold_the_same_rows",
        output::outputs_hold_the_same_rows,
    ),
    ("passes_all_checks", passes_all_checks),
    (
        "reads_the_same_without_pages",
        pages::reads_the_same_without_pages,
    ),
    ("reports_equal_plain_sql", reports_equal_plain_sql),
    ("source_stays_with_its_runs", source_stays_with_its_runs),
    (
        "trees_survive_a_round_trip",
        output::trees_survive_a_round_trip,
    ),
    ("twice_gives_equal_runs", twice_gives_equal_runs),
];

fn main() -> ExitCode {
    harness::run(env!("CARGO_CRATE_NAME"), trials)
}

fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (name, sample) in case_inputs() {
        trials.push(trial(&name, &sample, REFUSED));
        if sample.is_profile() && !WITHOUT_FIGURES.contains(&name.as_str()) {
            let costly = long::includes_case(&name).then_some(&COSTLY_PROPERTIES[..]);
            let laws = long::includes_case(&name).then_some(&LAWS[..]);
            let properties = PROFILE_PROPERTIES.iter().chain(costly.unwrap_or_default());
            let properties = properties.chain(laws.unwrap_or_default());
            trials.extend(properties.map(|property| trial(&name, &sample, *property)));
        }
    }
    for (name, sample) in samples() {
        // Some samples are reports of other programs, which only look like profiles.
        if sample.is_profile() {
            let costly = long::includes_case(&name).then_some(&COSTLY_PROPERTIES[0]);
            let is_short = sample.bytes.len() <= SHORT_SAMPLE || long::is_long();
            let laws = if is_short { &LAWS[..] } else { &[] };
            let properties = PROFILE_PROPERTIES.iter().chain(costly).chain(laws);
            trials.extend(properties.map(|property| trial(&name, &sample, *property)));
        }
    }
    trials.push(harness::trial(
        "hostile names::outputs_hold_the_same_rows".to_owned(),
        output::hostile_names,
    ));
    trials.push(harness::trial(
        "hostile names::exports_hold_the_profile".to_owned(),
        export::hostile_names,
    ));
    trials.push(harness::trial(
        "random runs::reads_the_same_without_pages".to_owned(),
        round_trip::random_runs_without_pages,
    ));
    // In parts, so that no single one is left at the end when all others are done.
    trials.extend((0..round_trip::PARTS).map(|part| {
        let name = format!("random runs/{part}::comes_back_from_every_format");
        harness::trial(name, move || round_trip::random_runs(part))
    }));
    trials
}

fn save(database: Result<Database, StoreError>, sample: &Sample) -> Result<Imported, Failed> {
    save_with(database, sample, None)
}

fn save_with(
    database: Result<Database, StoreError>,
    sample: &Sample,
    source: Option<Arc<dyn Folder>>,
) -> Result<Imported, Failed> {
    let options = Options::default();
    let describe = |fingerprint| RunMeta {
        again: true,
        source,
        ..meta(sample.format, &options, "input", fingerprint)
    };
    let input = open(&sample.bytes)?;
    let format = formats::detect(input.head())?;
    Ok(import(
        input,
        format,
        &options,
        &Stop::default(),
        describe,
        move || database,
    )?)
}

/// Imports the sample as often as asked, into one database in memory.
fn saved(sample: &Sample, times: usize) -> Result<Database, Failed> {
    let mut database = Database::in_memory();
    for run in 1..=times {
        let imported = save(database, sample)?;
        let expected = Outcome::Stored(i64::try_from(run)?);
        ensure(imported.outcome == expected, || {
            format!("{:?} instead of {expected:?}", imported.outcome)
        })?;
        database = Ok(imported.database);
    }
    Ok(database?)
}

/// What a case refuses leaves a database as it was, to the byte.
fn refused_or_saved(sample: &Sample) -> Result<(), Failed> {
    if outcome(&sample.bytes).1.is_none() {
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("profdb.db");
    // There is a run already, so that a refused import has something to leave as it was.
    let good = Sample {
        format: formats::format_named("dyalog_csv").expect("a format"),
        bytes:
            b"\"Element\",\"Line\",\"Calls\",\"ExclusiveTime\",\"InclusiveTime\"\n\"#.f\",,1,1,1\n"
                .to_vec(),
    };
    drop(save(Database::open(&path), &good)?);
    let before = fs::read(&path)?;
    let opened = Database::open(&path);
    ensure(save(opened, sample).is_err(), || {
        "imported after all".to_owned()
    })?;
    ensure(fs::read(&path)? == before, || {
        "the database is another".to_owned()
    })?;
    let left: Vec<_> = entries(folder.path());
    ensure(left == [path], || format!("files were left: {left:?}"))
}

fn clean(database: &Database) -> Result<(), Failed> {
    for (name, sql) in CHECKS {
        let rows = rows(database, sql, &[])?;
        ensure(rows.is_empty(), || {
            format!("check {name}: {} rows, the first {:?}", rows.len(), rows[0])
        })?;
    }
    ensure(database.is_as_recounted()?, || {
        "a recount of the nodes doubts them".to_owned()
    })?;
    let keys = rows(database, "PRAGMA foreign_key_check", &[])?;
    ensure(keys.is_empty(), || format!("foreign keys: {keys:?}"))?;
    let integrity = rows(database, "PRAGMA integrity_check", &[])?;
    ensure(integrity == [[Value::Text("ok".to_owned())]], || {
        format!("integrity: {integrity:?}")
    })
}

fn passes_all_checks(sample: &Sample) -> Result<(), Failed> {
    clean(&saved(sample, 1)?)
}

/// The rows of a statement.
fn rows(
    database: &Database,
    sql: &str,
    parameters: &[&dyn rusqlite::ToSql],
) -> Result<Vec<Vec<Value>>, Failed> {
    let mut statement = database.connection().prepare(sql)?;
    let width = statement.column_count();
    let mut rows = statement.query(parameters)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let values = (0..width).map(|column| {
            Ok(match row.get_ref(column)? {
                ValueRef::Null => Value::Null,
                ValueRef::Integer(value) => Value::Integer(value),
                ValueRef::Real(value) => Value::Real(value),
                ValueRef::Text(text) | ValueRef::Blob(text) => {
                    Value::Text(String::from_utf8_lossy(text).into_owned())
                }
            })
        });
        found.push(values.collect::<rusqlite::Result<Vec<_>>>()?);
    }
    Ok(found)
}

/// Everything that the public views say of a run, numbers of runs and nodes apart.
fn told(database: &Database, run: i64) -> Result<Vec<String>, Failed> {
    let first = rows(
        database,
        "SELECT first_node FROM runs WHERE run_id = ?1",
        &[&run],
    )?;
    let Some([first]) = first.first().map(Vec::as_slice) else {
        return Err(format!("there is no run {run}").into());
    };
    let first = if let Value::Integer(first) = first {
        *first
    } else {
        0
    };
    let mut told = Vec::new();
    let views = rows(
        database,
        "SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY name",
        &[],
    )?;
    ensure(!views.is_empty(), || "there are no views".to_owned())?;
    for view in views.concat() {
        let Value::Text(view) = view else {
            return Err("a view has a name".into());
        };
        // Of pairs of runs, that of the run and itself.
        let base = if view == "changes" {
            " AND base_run_id = ?1"
        } else {
            ""
        };
        let sql = format!("SELECT * FROM {view} WHERE run_id = ?1{base}");
        let names: Vec<String> = {
            let statement = database.connection().prepare(&sql)?;
            statement.column_names().map(str::to_owned).collect()
        };
        for row in rows(database, &sql, &[&run])? {
            let cells = names
                .iter()
                .zip(row)
                .filter(|(name, _)| !OF_ONE_RUN.contains(&name.as_str()));
            let cells: Vec<String> = cells
                .map(|(name, value)| match value {
                    Value::Integer(node) if NODE_COLUMNS.contains(&name.as_str()) => {
                        format!("{name}={}", node - first)
                    }
                    value => format!("{name}={value:?}"),
                })
                .collect();
            told.push(format!("{view}: {}", cells.join(" ")));
        }
    }
    // Views promise no order.
    told.sort();
    ensure(!told.is_empty(), || {
        format!("the views do not know run {run}")
    })?;
    Ok(told)
}

fn twice_gives_equal_runs(sample: &Sample) -> Result<(), Failed> {
    let database = saved(sample, 2)?;
    clean(&database)?;
    equal("views", &told(&database, 1)?, &told(&database, 2)?)
}

fn deletes_without_trace(sample: &Sample) -> Result<(), Failed> {
    // Runs before and after the one that is deleted: they share functions with it, and their
    // numbers surround its.
    let mut database = saved(sample, 3)?;
    let others = [told(&database, 1)?, told(&database, 3)?];
    database.delete_run(2)?;
    clean(&database)?;
    equal("run 1", &others[0], &told(&database, 1)?)?;
    equal("run 3", &others[1], &told(&database, 3)?)?;
    database.delete_run(3)?;
    database.delete_run(1)?;
    empty(&database)
}

/// No table has a row, but those of the rules that are in force.
fn empty(database: &Database) -> Result<(), Failed> {
    clean(database)?;
    let tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name";
    for table in rows(database, tables, &[])? {
        let [Value::Text(table)] = table.as_slice() else {
            continue;
        };
        if ["identity_rules", "identity_digests"].contains(&table.as_str()) {
            continue;
        }
        let left = rows(database, &format!("SELECT COUNT(*) FROM \"{table}\""), &[])?;
        ensure(left == [[Value::Integer(0)]], || {
            format!("table {table} still has {left:?} rows")
        })?;
    }
    Ok(())
}

/// Files in memory.
#[derive(Debug)]
struct Files {
    names: Vec<String>,
    contents: Vec<String>,
}

impl Folder for Files {
    fn files(&self) -> &[String] {
        &self.names
    }

    fn read(&self, file: usize) -> io::Result<Vec<u8>> {
        Ok(self.contents[file].clone().into_bytes())
    }
}

/// Numbers of the lines that the made-up files of [`source_for`] have.
const SOURCE_LINES: i64 = 300;

/// A script for every function of a workspace that the run knows, in a folder for each namespace.
fn source_for(database: &Database) -> Result<Files, Failed> {
    let mut files = Vec::new();
    for row in rows(
        database,
        "SELECT DISTINCT function FROM lines ORDER BY function",
        &[],
    )? {
        let [Value::Text(function)] = row.as_slice() else {
            continue;
        };
        let Some((root, path)) = function.split_once('.') else {
            continue;
        };
        let name = path.rsplit('.').next().unwrap_or_default();
        let is_name = |name: &str| {
            !name.is_empty()
                && name
                    .chars()
                    .all(|c| c.is_alphanumeric() || c == '∆' || c == '⍙')
        };
        if matches!(root, "#" | "⎕SE") && path.split('.').all(is_name) {
            let lines: Vec<String> = (1..SOURCE_LINES)
                .map(|line| format!("\n {name} line {line}"))
                .collect();
            files.push((
                format!("{root}/{}.aplf", path.replace('.', "/")),
                format!("{name}{}", lines.concat()),
            ));
        }
    }
    files.sort();
    let (names, contents) = files.into_iter().unzip();
    Ok(Files { names, contents })
}

/// Source is stored once for all runs, is that of the right line, changes nothing else, and goes
/// with the last run.
fn source_stays_with_its_runs(sample: &Sample) -> Result<(), Failed> {
    const LINES: &str =
        "SELECT function, line, text FROM source_lines WHERE run_id = ?1 ORDER BY function, line";
    let without = saved(sample, 1)?;
    let source: Arc<dyn Folder> = Arc::new(source_for(&without)?);
    let first = save_with(Database::in_memory(), sample, Some(Arc::clone(&source)))?.database;
    let stored = "SELECT (SELECT COUNT(*) FROM sources), (SELECT COUNT(*) FROM source_texts)";
    let once = rows(&first, stored, &[])?;
    let mut database = save_with(Ok(first), sample, Some(source))?.database;
    clean(&database)?;
    ensure(rows(&database, stored, &[])? == once, || {
        format!("stored more than once: {once:?}")
    })?;
    let lines = rows(&database, LINES, &[&1])?;
    for line in &lines {
        let [
            Value::Text(function),
            Value::Integer(number),
            Value::Text(text),
        ] = line.as_slice()
        else {
            return Err(format!("a line of source is {line:?}").into());
        };
        let name = function.rsplit('.').next().unwrap_or_default();
        let expected = if *number == 0 {
            name.to_owned()
        } else {
            format!("{name} line {number}")
        };
        ensure(*text == expected, || {
            format!("{function}[{number}] is {text}")
        })?;
    }
    // Every line of a function that has a file is found, and so may be lines without figures.
    let found = "SELECT COUNT(*) FROM (SELECT DISTINCT l.function, l.line FROM lines AS l
                 JOIN source_lines AS s ON s.run_id = l.run_id AND s.function_id = l.function_id AND s.line = l.line
                 WHERE l.run_id = ?1)";
    let known = "SELECT COUNT(*) FROM (SELECT DISTINCT function, line FROM lines AS l
                 WHERE l.run_id = ?1 AND l.line < ?2 AND EXISTS
                   (SELECT 1 FROM source_lines AS s WHERE s.run_id = ?1 AND s.function_id = l.function_id))";
    let expected = rows(&database, known, &[&1, &SOURCE_LINES])?;
    let found = rows(&database, found, &[&1])?;
    ensure(expected == found, || {
        format!("{found:?} lines with figures have source instead of {expected:?}")
    })?;
    let figures = |told: Vec<String>| -> Vec<String> {
        told.into_iter()
            .filter(|row| !row.starts_with("source_lines: "))
            .collect()
    };
    equal(
        "figures",
        &figures(told(&without, 1)?),
        &figures(told(&database, 2)?),
    )?;
    database.delete_run(1)?;
    clean(&database)?;
    equal("source of run 2", &lines, &rows(&database, LINES, &[&2])?)?;
    database.delete_run(2)?;
    empty(&database)
}

/// A report of the whole run, and the statement over a public view that it must equal, row by row.
struct Twin {
    report: &'static str,
    flag: Option<&'static str>,
    /// Columns of the report.
    columns: &'static [&'static str],
    /// The same columns from the view, and the order.
    sql: &'static str,
}

const TWINS: [Twin; 9] = [
    Twin {
        report: "summary",
        flag: None,
        columns: &["function", "module", "file", "kind", "calls", "exclusive", "exclusive_pct", "cumulative", "cumulative_pct", "cost", "cost_pct", "first_line", "function_id"],
        sql: "SELECT function, module, file, kind, calls, exclusive, exclusive_pct, cumulative, cumulative_pct, cumulative, cumulative_pct,
                first_line, function_id
              FROM summary WHERE run_id = ?1 AND metric = ?2 ORDER BY cumulative DESC, function, module, file, function_id",
    },
    Twin {
        report: "summary",
        flag: Some("exclusive"),
        columns: &["function", "calls", "cumulative", "cost", "cost_pct"],
        sql: "SELECT function, calls, cumulative, exclusive, exclusive_pct
              FROM summary WHERE run_id = ?1 AND metric = ?2 ORDER BY exclusive DESC, function, module, file, function_id",
    },
    Twin {
        report: "summary",
        flag: Some("lines"),
        columns: &["function", "line", "calls", "exclusive", "cost"],
        sql: "SELECT function, line, calls, exclusive, cumulative
              FROM lines WHERE run_id = ?1 AND metric = ?2
              ORDER BY cumulative DESC, function, line, COALESCE(col, 0), module, file, function_id",
    },
    Twin {
        report: "lines",
        flag: None,
        columns: &["function", "module", "file", "line", "col", "calls", "exclusive", "exclusive_pct", "cumulative", "cumulative_pct", "first_line", "function_id"],
        sql: "SELECT function, module, file, line, col, calls, exclusive, exclusive_pct, cumulative, cumulative_pct, first_line, function_id
              FROM lines WHERE run_id = ?1 AND metric = ?2
              ORDER BY cumulative DESC, function, line, COALESCE(col, 0), module, file, function_id",
    },
    Twin {
        report: "lines",
        flag: Some("exclusive"),
        columns: &["function", "line", "cost", "cost_pct"],
        sql: "SELECT function, line, exclusive, exclusive_pct
              FROM lines WHERE run_id = ?1 AND metric = ?2
              ORDER BY exclusive DESC, function, line, COALESCE(col, 0), module, file, function_id",
    },
    Twin {
        report: "exclusive",
        flag: None,
        columns: &["rank", "function", "module", "file", "calls", "exclusive", "pct", "cum_pct", "first_line", "function_id"],
        sql: "SELECT rank, function, module, file, calls, exclusive, pct, cum_pct, first_line, function_id
              FROM exclusive WHERE run_id = ?1 AND metric = ?2 ORDER BY rank",
    },
    Twin {
        report: "cumulative",
        flag: None,
        columns: &["rank", "function", "module", "file", "calls", "cumulative", "pct", "first_line", "function_id"],
        sql: "SELECT rank, function, module, file, calls, cumulative, pct, first_line, function_id
              FROM cumulative WHERE run_id = ?1 AND metric = ?2 ORDER BY rank",
    },
    Twin {
        report: "tree",
        flag: None,
        columns: &["depth", "function", "line", "col", "calls", "exclusive", "cumulative", "module", "file", "node_id", "parent_id", "first_line", "function_id"],
        sql: "SELECT depth, function, line, col, calls, exclusive, cumulative, module, file, node_id, parent_id, first_line, function_id
              FROM tree WHERE run_id = ?1 AND metric = ?2 ORDER BY node_id",
    },
    Twin {
        report: "data",
        flag: None,
        columns: &["function", "line", "col", "calls", "exclusive", "cumulative", "module", "file"],
        // Times as they were measured: what was subtracted for each reading of the timer is added
        // again.
        sql: "WITH bias (ns) AS (
                SELECT CASE WHEN m.unit = 'ns' AND t.metric_id IS NOT NULL THEN COALESCE(r.bias_applied, 0) ELSE 0 END
                FROM runs AS r
                JOIN metrics AS m ON m.run_id = r.run_id AND m.name = ?2
                LEFT JOIN metrics AS t ON t.run_id = r.run_id AND t.timer_readings = 1
                WHERE r.run_id = ?1
              ),
              rows AS (
                SELECT s.function_id, s.function, s.module, s.file, NULL AS line, NULL AS col, s.calls,
                  s.exclusive + b.ns * COALESCE(t.exclusive, 0) AS exclusive,
                  s.cumulative + b.ns * COALESCE(t.cumulative, 0) AS cumulative
                FROM bias AS b
                JOIN summary AS s ON s.run_id = ?1 AND s.metric = ?2
                LEFT JOIN summary AS t ON t.run_id = ?1 AND t.metric = 'ticks' AND t.function_id = s.function_id
                UNION ALL
                SELECT l.function_id, l.function, l.module, l.file, l.line, l.col, l.calls,
                  l.exclusive + b.ns * COALESCE(t.exclusive, 0),
                  l.cumulative + b.ns * COALESCE(t.cumulative, 0)
                FROM bias AS b
                JOIN lines AS l ON l.run_id = ?1 AND l.metric = ?2
                LEFT JOIN lines AS t ON t.run_id = ?1 AND t.metric = 'ticks' AND t.function_id = l.function_id
                  AND t.file = l.file AND t.line = l.line AND t.col IS l.col
              )
              SELECT r.function, r.line, r.col, r.calls, r.exclusive, r.cumulative, r.module, r.file
              FROM rows AS r
              JOIN functions AS f ON f.function_id = r.function_id
              WHERE f.kind IN ('function', 'pseudo')
              ORDER BY f.name, f.module, f.file, f.function_id, r.line, r.col, NULLIF(r.file, f.file)",
    },
];

/// The same for who called one function, ?3, and whom it called.
const CALL_TWINS: [Twin; 3] = [
    Twin {
        report: "callees",
        flag: None,
        columns: &[
            "callee", "callee_module", "callee_file", "kind", "calls", "cumulative", "cumulative_pct", "callee_first_line", "function_id",
        ],
        sql: "SELECT callee, callee_module, callee_file, kind, calls, cumulative, cumulative_pct, callee_first_line, callee_id
              FROM callees WHERE run_id = ?1 AND metric = ?2 AND function = ?3
              ORDER BY cumulative DESC, callee, callee_module, callee_file, kind",
    },
    Twin {
        report: "calls",
        flag: None,
        columns: &[
            "caller",
            "caller_module",
            "caller_file",
            "kind",
            "calls",
            "exclusive",
            "cumulative",
            "cumulative_pct",
            "caller_first_line",
            "function_id",
        ],
        sql: "SELECT caller, caller_module, caller_file, kind, calls, exclusive, cumulative, cumulative_pct, caller_first_line, caller_id
              FROM calls WHERE run_id = ?1 AND metric = ?2 AND function = ?3
              ORDER BY cumulative DESC, COALESCE(caller, '(root)'), caller_module, caller_file, kind",
    },
    Twin {
        report: "calls",
        flag: Some("lines"),
        columns: &[
            "caller",
            "caller_module",
            "caller_file",
            "line_file",
            "caller_line",
            "caller_col",
            "kind",
            "calls",
            "exclusive",
            "cumulative",
            "file",
            "caller_first_line",
            "function_id",
        ],
        sql:
            "SELECT caller, caller_module, caller_file, line_file, caller_line, caller_col, kind, calls, exclusive, cumulative,
                COALESCE(line_file, caller_file), caller_first_line, caller_id
              FROM call_lines WHERE run_id = ?1 AND metric = ?2 AND function = ?3
              ORDER BY cumulative DESC, COALESCE(caller, '(root)'), caller_line, caller_col, caller_module, COALESCE(line_file, caller_file)",
    },
];

fn reports_equal_plain_sql(sample: &Sample) -> Result<(), Failed> {
    // The second of two equal runs: a report that forgets to ask for one run sees twice as much.
    let database = saved(sample, 2)?;
    // A path takes all functions of a name together; the views tell them apart.
    let functions = "SELECT name FROM functions GROUP BY name
                     HAVING COUNT(*) FILTER (WHERE kind <> 'thread') = 1 AND name IN (SELECT function FROM summary WHERE run_id = 2) ORDER BY name";
    let functions = rows(&database, functions, &[])?;
    let Some(run) = database.run(Some(2))? else {
        return Err("there is no run 2".into());
    };
    for metric in database.metrics(run.run_id)? {
        let ask = |twin: &Twin, function: Option<&str>| -> Result<(), Failed> {
            let mut arguments: Vec<_> = twin
                .flag
                .map(|flag| (flag.to_owned(), Argument::Flag))
                .into_iter()
                .collect();
            // Quotes say that it is a name, whatever characters it has.
            let quoted = function.map(|name| format!("'{}'", name.replace('\'', "''")));
            arguments.extend(quoted.map(|path| ("fn".to_owned(), Argument::Text(path))));
            let request = Request {
                metric: Some(metric.name.clone()),
                arguments,
                ..Request::default()
            };
            let report = report::by_name(twin.report).expect("a report");
            let mut answer = report::ask(&database, report, &run, &request)?;
            let at: Vec<usize> = twin
                .columns
                .iter()
                .map(|name| {
                    answer
                        .columns
                        .iter()
                        .position(|column| column.name == *name)
                        .expect("a column")
                })
                .collect();
            let mut found = Vec::new();
            answer.each(|row| {
                found.push(at.iter().map(|at| row[*at].clone()).collect::<Vec<_>>());
                Ok::<_, report::ReportError>(())
            })?;
            let mut parameters: Vec<&dyn rusqlite::ToSql> = vec![&run.run_id, &metric.name];
            if let Some(function) = &function {
                parameters.push(function);
            }
            let what = format!(
                "{} {:?} {} {function:?}",
                twin.report, twin.flag, metric.name
            );
            let expected = rows(&database, twin.sql, &parameters)?;
            if answer
                .subject
                .is_some_and(|subject| subject.instead.is_some())
            {
                // It shows another cost because this one is unknown in every row.
                let cost = twin
                    .columns
                    .iter()
                    .position(|name| ["cost", "cumulative"].contains(name));
                let unknown =
                    cost.is_some_and(|cost| expected.iter().all(|row| row[cost] == Value::Null));
                return ensure(unknown, || format!("{what}: another cost is shown"));
            }
            equal(&what, &found, &expected)
        };
        let knows_paths = run.fidelity == "tree";
        for twin in TWINS
            .iter()
            .filter(|twin| knows_paths || twin.report != "tree")
        {
            ask(twin, None)?;
        }
        let knows_callers = run.fidelity != "flat";
        for function in functions.iter().flatten().filter(|_| knows_callers) {
            let Value::Text(function) = function else {
                return Err("a name is no text".into());
            };
            for twin in &CALL_TWINS {
                ask(twin, Some(function))?;
            }
        }
    }
    Ok(())
}
