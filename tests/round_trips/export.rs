//! What is written for other programs can be read, and is the profile in everything that the format
//! can hold.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use libtest_mimic::Failed;
use profdb::base::error::Stop;
use profdb::formats;
use profdb::formats::export::{Export, Request};
use profdb::formats::{Format, Options};
use profdb::pipeline::{import, meta};
use profdb::report::Value;
use profdb::store::{Database, RunInfo};

use super::{Sample, dyalog, ensure, equal, ghc, open, output, rows, saved, viewers};

/// Samples that are not worth their time.
const LARGE: f64 = 100_000.0;

/// All tables of a run, with names for numbers: those of functions depend on where each came first.
const TABLES: [&str; 5] = [
    "SELECT name, unit, position, total FROM metrics ORDER BY metric_id",
    "SELECT kind, name, module, file, first_line, first_col, raw_name FROM functions ORDER BY name, file, kind, module",
    "SELECT n.up, n.size, n.outer_up, n.depth, f.kind, f.name, f.file, n.file, n.line, n.col, n.calls, n.exclusive, n.cumulative
     FROM nodes AS n JOIN functions AS f ON f.function_id = n.function_id ORDER BY n.node_id",
    "SELECT m.name, f.kind, f.name, f.file, i.calls, i.primitive, i.exclusive, i.cumulative, i.seen, i.recorded
     FROM function_info AS i
     JOIN metrics AS m ON m.metric_id = i.metric_id
     JOIN functions AS f ON f.function_id = i.function_id
     ORDER BY m.metric_id, f.name, f.file, f.kind",
    "SELECT m.name, f.name, f.file, f.kind, c.name, c.file, c.kind, e.line_file, e.caller_line, e.caller_col,
       e.back, e.calls, e.exclusive, e.cumulative, e.outermost, e.seen
     FROM edges AS e
     JOIN metrics AS m ON m.metric_id = e.metric_id
     JOIN functions AS f ON f.function_id = e.callee_id
     LEFT JOIN functions AS c ON c.function_id = e.caller_id
     ORDER BY m.metric_id, f.name, f.file, f.kind, c.name, c.file, c.kind, e.line_file, e.caller_line,
       e.caller_col, e.back",
];

/// Figures of the tree, by path of names.
type Stacks = BTreeMap<Vec<String>, f64>;

pub(super) fn exports_hold_the_profile(sample: &Sample) -> Result<(), Failed> {
    let database = saved(sample, 1)?;
    every_export(&database)
}

pub(super) fn hostile_names() -> Result<(), Failed> {
    every_export(&output::hostile_database()?)
}

fn every_export(database: &Database) -> Result<(), Failed> {
    let Some(run) = database.run(None)? else {
        return Err("there is no run".into());
    };
    viewers::every(database, &run)?;
    dyalog::every(database, &run)?;
    ghc::every(database, &run)?;
    if run.fidelity != "tree" {
        for export in formats::EXPORTS
            .iter()
            .filter(|export| !export.holds(&run.fidelity))
        {
            let refused = export.write(database, &run, &Request::default(), &mut Vec::new());
            let told = refused
                .err()
                .map(|error| error.to_string())
                .unwrap_or_default();
            ensure(
                told.contains(" needs ") && told.contains("profdb report data"),
                || told,
            )?;
        }
        return Ok(());
    }
    for metric in database.metrics(run.run_id)? {
        folded(database, &run, &metric.name)
            .map_err(|fault| format!("folded {}: {fault:?}", metric.name))?;
        lispworks_tree(database, &run, &metric.name)
            .map_err(|fault| format!("lispworks_tree {}: {fault:?}", metric.name))?;
        sampler(database, &run, &metric.name)
            .map_err(|fault| format!("sampler {}: {fault:?}", metric.name))?;
    }
    Ok(())
}

/// What a format makes of the run, and how much of what it says to have lost, by name.
pub(super) fn written(
    export: &'static Export,
    database: &Database,
    run: &RunInfo,
    metric: &str,
    layout: Option<&str>,
) -> Result<(Vec<u8>, BTreeMap<&'static str, u64>), Failed> {
    let mut bytes = Vec::new();
    let request = Request {
        metric: Some(metric.to_owned()),
        layout: layout.map(str::to_owned),
        ..Request::default()
    };
    let losses = export.write(database, run, &request, &mut bytes)?;
    let lost = losses
        .each()
        .map(|(loss, count)| (loss.name, count))
        .collect();
    Ok((bytes, lost))
}

pub(super) fn writer(name: &str) -> &'static Export {
    formats::export_named(name).expect("a format")
}

/// The same with all that a format holds, of several metrics too, and in the format's own layout if
/// none is named.
pub(super) fn written_whole(
    export: &'static Export,
    database: &Database,
    run: &RunInfo,
    layout: Option<&str>,
) -> Result<(Vec<u8>, BTreeMap<&'static str, u64>), Failed> {
    let mut bytes = Vec::new();
    let request = Request {
        layout: layout.map(str::to_owned),
        ..Request::default()
    };
    let losses = export.write(database, run, &request, &mut bytes)?;
    Ok((
        bytes,
        losses
            .each()
            .map(|(loss, count)| (loss.name, count))
            .collect(),
    ))
}

/// Whether two databases have the same run, table by table.
pub(super) fn is_the_same(database: &Database, again: &Database) -> Result<(), Failed> {
    for table in TABLES {
        equal(
            table,
            &rows(database, table, &[])?,
            &rows(again, table, &[])?,
        )?;
    }
    let facts = "SELECT fidelity, title, timer_bias, bias_applied FROM runs";
    equal(
        facts,
        &rows(database, facts, &[])?,
        &rows(again, facts, &[])?,
    )?;
    let properties = "SELECT key, value FROM run_properties ORDER BY key";
    let found = rows(again, properties, &[])?;
    let missing = rows(database, properties, &[])?
        .into_iter()
        .find(|property| !found.contains(property));
    ensure(missing.is_none(), || {
        format!("{missing:?} is not among {found:?}")
    })
}

/// A file as its importer sees it.
pub(super) fn read(format: &'static Format, bytes: &[u8]) -> Result<Database, Failed> {
    let options = Options::default();
    let describe = |fingerprint| meta(format, &options, "input", fingerprint);
    Ok(import(
        open(bytes)?,
        format,
        &options,
        &Stop::default(),
        describe,
        Database::in_memory,
    )?
    .database)
}

/// Names as formats hold them whose names stand on a line.
fn on_a_line(name: &str) -> String {
    name.replace('\n', "␊")
}

/// What becomes of a cost in a format that holds whole numbers below 2^63.
fn rounded(cost: f64) -> f64 {
    cost.round().clamp(0.0, 9_223_372_036_854_775_808.0)
}

/// The tree without its lines: depth, name, cost with everything called.
fn calls(database: &Database, metric: &str) -> Result<Vec<(usize, String, f64)>, Failed> {
    let sql = "SELECT t.depth, t.function, f.kind, t.line IS NOT NULL, t.cumulative
               FROM tree AS t
               JOIN nodes AS n ON n.node_id = t.node_id
               JOIN functions AS f ON f.function_id = n.function_id
               WHERE t.run_id = 1 AND t.metric = ?1 ORDER BY t.node_id";
    let mut open: Vec<(i64, bool)> = Vec::new();
    let mut calls = Vec::new();
    for row in rows(database, sql, &[&metric])? {
        let [
            Value::Integer(depth),
            Value::Text(name),
            Value::Text(kind),
            Value::Integer(line),
            cost,
        ] = row.as_slice()
        else {
            return Err(format!("a row of the tree: {row:?}").into());
        };
        open.retain(|(above, _)| above < depth);
        let above = open.iter().filter(|(_, line)| !line).count();
        open.push((*depth, *line == 1));
        if let (0, Value::Real(cost)) = (line, cost) {
            // LispWorks writes names of what is no function in quotes; a name that has some already
            // gets no others.
            let is_string = name.len() > 1 && name.starts_with('"') && name.ends_with('"');
            let name = if kind != "function" && !is_string {
                format!("\"{name}\"")
            } else {
                name.clone()
            };
            calls.push((above, on_a_line(&name), rounded(*cost)));
        }
    }
    Ok(calls)
}

/// The lines are the calls in their order, and the file is written again as it is.
fn lispworks_tree(database: &Database, run: &RunInfo, metric: &str) -> Result<(), Failed> {
    let export = writer("lispworks_tree");
    let (bytes, lost) = written(export, database, run, metric, None)?;
    let again = read(
        formats::format_named(export.name).expect("a format"),
        &bytes,
    )?;
    equal(
        "calls",
        &calls(database, metric)?,
        &calls(&again, "samples")?,
    )?;
    let Some(second) = again.run(None)? else {
        return Err("there is no run".into());
    };
    let (twice, lost_again) = written(export, &again, &second, "samples", None)?;
    ensure(twice == bytes, || {
        "written twice, it is another file".to_owned()
    })?;
    ensure(lost_again.is_empty(), || {
        format!("{lost_again:?} is lost of what was read")
    })?;
    let lines = rows(
        database,
        "SELECT 1 FROM tree WHERE run_id = 1 AND metric = ?1 AND line IS NOT NULL",
        &[&metric],
    )?;
    ensure(
        lost.get("lines").copied().unwrap_or(0) == lines.len() as u64,
        || format!("{lost:?}"),
    )
}

/// The stacks are the places with their own cost; what stands in no thread has got one.
fn sampler(database: &Database, run: &RunInfo, metric: &str) -> Result<(), Failed> {
    let export = writer("sampler");
    let unit = rows(
        database,
        "SELECT unit = 'count', total > 1e9, total > ?2 FROM metrics WHERE name = ?1",
        &[&metric, &LARGE],
    )?;
    match unit.first().map(Vec::as_slice) {
        Some([Value::Integer(1), Value::Integer(0), Value::Integer(0)]) => {}
        // Would be written, and take its time.
        Some([Value::Integer(1), Value::Integer(0), _]) => return Ok(()),
        _ => {
            let request = Request {
                metric: Some(metric.to_owned()),
                ..Request::default()
            };
            let refused = export.write(database, run, &request, &mut Vec::new());
            let told = refused
                .err()
                .map(|error| error.to_string())
                .unwrap_or_default();
            return ensure(
                told.contains("(limit: size of the output)")
                    || told.contains("a stack for each sample"),
                || told,
            );
        }
    }
    let (bytes, lost) = written(export, database, run, metric, None)?;
    let again = read(
        formats::format_named(export.name).expect("a format"),
        &bytes,
    )?;
    let threads = rows(
        database,
        "SELECT name FROM functions WHERE kind = 'thread'",
        &[],
    )?;
    let is_thread = |name: &String| threads.contains(&vec![Value::Text(name.clone())]);
    let mut expected = Stacks::new();
    for (path, cost) in own_costs(database, metric)? {
        let path: Vec<String> = path.iter().map(|name| on_a_line(name)).collect();
        let outside = path.first().is_none_or(|name| !is_thread(name));
        ensure(!outside || lost.contains_key("no_thread"), || {
            format!("{lost:?} does not tell of {path:?}")
        })?;
        *expected
            .entry(path[usize::from(!outside)..].to_vec())
            .or_default() += cost;
    }
    let mut found = Stacks::new();
    for (path, cost) in own_costs(&again, "samples")? {
        // Without the thread, which each stack of this format has.
        *found.entry(path[1..].to_vec()).or_default() += cost;
    }
    ensure(found == expected, || {
        format!("{found:?} instead of {expected:?}")
    })
}

/// Own cost by path, from the public view; lines apart.
fn own_costs(database: &Database, metric: &str) -> Result<Stacks, Failed> {
    own_costs_by("f.name", database, metric)
}

/// The same, under another name than the readable one.
fn own_costs_by(name: &str, database: &Database, metric: &str) -> Result<Stacks, Failed> {
    let sql = format!(
        "SELECT t.depth, {name}, t.line IS NOT NULL, t.exclusive
         FROM tree AS t
         JOIN nodes AS n ON n.node_id = t.node_id
         JOIN functions AS f ON f.function_id = n.function_id
         WHERE t.run_id = 1 AND t.metric = ?1
         ORDER BY t.node_id"
    );
    let mut path: Vec<(i64, String, bool)> = Vec::new();
    let mut costs = Stacks::new();
    for row in rows(database, &sql, &[&metric])? {
        let [
            Value::Integer(depth),
            Value::Text(name),
            Value::Integer(line),
            Value::Real(cost),
        ] = row.as_slice()
        else {
            return Err(format!("a row of the tree: {row:?}").into());
        };
        path.retain(|(above, _, _)| above < depth);
        path.push((*depth, name.clone(), *line == 1));
        if *line == 0 && cost.round() > 0.0 {
            let names = path
                .iter()
                .filter(|(_, _, line)| !line)
                .map(|(_, name, _)| name.clone())
                .collect();
            *costs.entry(names).or_default() += cost.round();
        }
    }
    Ok(costs)
}

/// Functions that read alike go by their raw names.
const IN_FOLDED: &str = "CASE WHEN (SELECT COUNT(*) FROM functions AS o WHERE o.name = f.name) > 1
                           THEN COALESCE(f.raw_name, f.name) ELSE f.name END";

/// The lines are the places with their own cost, under their names, for us as for whoever takes a
/// line apart by hand.
fn folded(database: &Database, run: &RunInfo, metric: &str) -> Result<(), Failed> {
    let (bytes, lost) = written(writer("folded"), database, run, metric, None)?;
    let text = viewers::text_of(&bytes);
    let mut found = Stacks::new();
    for line in text.split_terminator('\n') {
        let (stack, cost) = line
            .rsplit_once(' ')
            .ok_or_else(|| format!("no number in {line:?}"))?;
        ensure(!line.chars().any(char::is_control), || format!("{line:?}"))?;
        let cost: u64 = cost.parse()?;
        #[expect(clippy::cast_precision_loss, reason = "the figures were REAL before")]
        let cost = cost as f64;
        let within = format!("{stack};");
        let calls = || text.lines().any(|other| other.starts_with(&within));
        // Where a name stands for several places, one of them may.
        ensure(
            cost > 0.0 || lost.contains_key("siblings") || !calls(),
            || format!("{line:?} has called something"),
        )?;
        *found
            .entry(stack.split(';').map(str::to_owned).collect())
            .or_default() += cost;
    }
    // Places that cost nothing and called nothing.
    found.retain(|_, cost| *cost > 0.0);
    let places = rows(database, "SELECT 1 FROM nodes LIMIT 1", &[])?;
    ensure(bytes.is_empty() == places.is_empty(), || {
        "an empty file".to_owned()
    })?;
    let mut expected = Stacks::new();
    for (path, cost) in own_costs_by(IN_FOLDED, database, metric)? {
        let frames: Vec<_> = path.iter().map(|name| on_a_frame(name)).collect();
        ensure(frames == path || lost.contains_key("names"), || {
            format!("{lost:?} does not tell of {path:?}")
        })?;
        *expected.entry(frames).or_default() += cost;
    }
    ensure(found == expected, || {
        format!("{found:?} instead of {expected:?}")
    })?;
    if !found.is_empty() {
        let again = read(formats::format_named("folded").expect("a format"), &bytes)?;
        let found = own_costs_by("COALESCE(f.raw_name, f.name)", &again, "samples")?;
        ensure(found == expected, || {
            format!("{found:?} was read instead of {expected:?}")
        })?;
    }
    let lines = rows(
        database,
        "SELECT 1 FROM tree WHERE run_id = 1 AND metric = ?1 AND line IS NOT NULL",
        &[&metric],
    )?;
    let told = lost.get("lines").copied().unwrap_or(0);
    ensure(told == lines.len() as u64, || {
        format!("{told} lines are said to be lost, not {}", lines.len())
    })?;
    let recorded = "SELECT i.function_id FROM metrics AS m JOIN function_info AS i USING (metric_id)
                    LEFT JOIN (
                      SELECT n.function_id, SUM(t.exclusive) AS own FROM tree AS t JOIN nodes AS n USING (node_id)
                      WHERE t.run_id = 1 AND t.metric = ?1 AND t.line IS NULL GROUP BY n.function_id
                    ) AS places USING (function_id)
                    WHERE m.name = ?1 AND ABS(i.exclusive - COALESCE(own, 0))
                      > 1e-9 * MAX(ABS(i.exclusive), ABS(COALESCE(own, 0)))";
    let recorded = rows(database, recorded, &[&metric])?.len() as u64;
    let told = lost.get("recorded").copied().unwrap_or(0);
    ensure(told == recorded, || {
        format!("{told} functions are said to have figures of their own, not {recorded}")
    })?;
    let labels = rows(database, "SELECT DISTINCT set_id FROM label_sets", &[])?;
    let told = lost.get("labels").copied().unwrap_or(0);
    ensure(told == labels.len() as u64, || {
        format!(
            "{told} sets of labels are said to be lost, not {}",
            labels.len()
        )
    })
}

/// A name in a folded stack, by the words of the page.
fn on_a_frame(name: &str) -> String {
    let mut frame = String::new();
    let mut rest = name.chars();
    while let Some(character) = rest.next() {
        let ends = |text: &str| {
            text.chars()
                .all(|character| "0123456789.+-eE ".contains(character))
        };
        let begins_comment =
            frame.is_empty() && character == '#' && matches!(rest.clone().next(), None | Some(' '));
        if character == ';'
            || character == '\u{feff}'
            || character.is_control()
            || begins_comment
            || (character == ' ' && (frame.is_empty() || ends(rest.as_str())))
        {
            let _ = write!(frame, "\\x{:02x}", u32::from(character));
        } else {
            frame.push(character);
        }
    }
    frame
}
