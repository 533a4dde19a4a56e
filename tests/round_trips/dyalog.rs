//! What is written for `]PROFILE` is read as the same profile, in both formats and layouts.

use std::collections::BTreeMap;

use libtest_mimic::Failed;
use profdb::formats;
use profdb::formats::EXPORTS;
use profdb::formats::export::Export;
use profdb::report::render::{self, Layout, render};
use profdb::report::{self, Request, Value};
use profdb::store::{Database, RunInfo};

use super::export::{read, written_whole};
use super::output::held_by_xml;
use super::{ensure, equal, rows};

/// Rows of a tree in one metric: what they are, and their figures.
const TREE: &str = "SELECT t.depth, t.function, t.line, t.calls, t.exclusive, t.cumulative
                    FROM tree AS t WHERE t.run_id = 1 AND t.metric = ?1 ORDER BY t.node_id";

/// The same of totals; those of one name are one, of which nothing is known as soon as one part is
/// unknown.
const DATA: &str = "SELECT 0, name, line,
                      CASE COUNT(*) WHEN COUNT(calls) THEN SUM(calls) END,
                      CASE COUNT(*) WHEN COUNT(exclusive) THEN SUM(exclusive) END,
                      CASE COUNT(*) WHEN COUNT(cumulative) THEN SUM(cumulative) END
                    FROM (SELECT f.name, NULL AS line, d.calls,
                            CASE WHEN i.metric_id IS NULL THEN 0.0 ELSE i.exclusive END AS exclusive,
                            CASE WHEN i.metric_id IS NULL THEN 0.0 ELSE i.cumulative END AS cumulative
                          FROM runs AS r
                          JOIN function_info AS d ON d.metric_id = r.default_metric_id
                          JOIN functions AS f ON f.function_id = d.function_id
                          JOIN metrics AS m ON m.name = ?1
                          LEFT JOIN function_info AS i ON i.metric_id = m.metric_id AND i.function_id = d.function_id
                          UNION ALL
                          SELECT f.name, d.line, d.calls,
                            CASE WHEN i.metric_id IS NULL THEN 0.0 ELSE i.exclusive END,
                            CASE WHEN i.metric_id IS NULL THEN 0.0 ELSE i.cumulative END
                          FROM runs AS r
                          JOIN line_info AS d ON d.metric_id = r.default_metric_id
                          JOIN functions AS f ON f.function_id = d.function_id
                          JOIN metrics AS m ON m.name = ?1
                          LEFT JOIN line_info AS i ON i.metric_id = m.metric_id AND i.function_id = d.function_id
                                                  AND i.file = d.file AND i.line = d.line AND i.col = d.col)
                    GROUP BY name, line ORDER BY name, line";

/// The metric that counts readings of the timer.
const TIMER: &str = "SELECT name FROM metrics WHERE timer_readings = 1";

/// What rounding may make of a figure, as a part of it.
const ROUNDING: f64 = 1e-9;

/// Counts above are not exact.
const LARGEST: f64 = 9_007_199_254_740_992.0;

/// Writes a run in both formats and layouts, and looks at it.
pub(super) fn every(database: &Database, run: &RunInfo) -> Result<(), Failed> {
    let times = rows(
        database,
        "SELECT m.name FROM metrics AS m JOIN runs AS r USING (run_id)
         WHERE m.unit = 'ns' ORDER BY m.metric_id <> r.default_metric_id, m.position LIMIT 1",
        &[],
    )?;
    for export in EXPORTS
        .iter()
        .filter(|export| export.name.starts_with("dyalog_"))
    {
        let Some([Value::Text(time)]) = times.first().map(Vec::as_slice) else {
            let told = written_whole(export, database, run, None)
                .err()
                .map(|fault| format!("{fault:?}"));
            let told = told.unwrap_or_default();
            return ensure(
                run.default_metric.is_none() || told.contains("a file of `]PROFILE` holds times"),
                || told,
            );
        };
        for layout in export.layouts.iter().map(|layout| layout.name) {
            holds(export, database, run, time, layout).map_err(|fault| {
                format!(
                    "{} {layout}: {}",
                    export.name,
                    fault.message().unwrap_or("?")
                )
            })?;
        }
    }
    reports_are_the_same(database, run)
}

/// What `report tree` writes of a tree in time is what an export writes, and both are read as what
/// there was.
fn reports_are_the_same(database: &Database, run: &RunInfo) -> Result<(), Failed> {
    let is_usual = rows(
        database,
        "SELECT 1 FROM metrics AS m JOIN runs AS r ON r.default_metric_id = m.metric_id
         WHERE r.fidelity = 'tree' AND m.name = 'time' AND m.unit = 'ns' AND r.first_node IS NOT NULL",
        &[],
    )?;
    if is_usual.is_empty() {
        return Ok(());
    }
    let tree = report::by_name("tree").expect("a report");
    for (format, name) in [
        (render::Format::Xml, "dyalog_xml"),
        (render::Format::Csv, "dyalog_csv"),
    ] {
        let mut answer = report::ask(database, tree, run, &Request::default())?;
        let mut reported = Vec::new();
        render(
            &mut answer,
            &Layout {
                format,
                ..Layout::default()
            },
            &mut reported,
        )?;
        let export = EXPORTS
            .iter()
            .find(|export| export.name == name)
            .expect("a format");
        let (exported, _) = written_whole(export, database, run, None)?;
        if format == render::Format::Xml {
            // Where no calls are known at all, a report leaves them out.
            let entries = |bytes: &[u8]| {
                let lines = text(bytes)
                    .into_iter()
                    .skip_while(|line| !line.contains("<ProfileEntry>"));
                lines
                    .filter(|line| !line.contains("<Calls></Calls>"))
                    .collect::<Vec<_>>()
            };
            equal(
                "report and export",
                &entries(&exported),
                &entries(&reported),
            )?;
        }
        let name_in_file = |text: &str| name_in(name, text);
        let format = formats::format_named(name).expect("a format");
        // Names in CSV reports are as they are; one with NUL is none of `]PROFILE`, and is refused
        // when it is read.
        let reported = (!reported.contains(&0)).then_some(reported);
        for bytes in reported.into_iter().chain([exported]) {
            let again = read(format, &bytes)?;
            same(
                &figures(database, TREE, "time", name_in_file)?,
                &figures(&again, TREE, "time", str::to_owned)?,
            )?;
        }
    }
    Ok(())
}

/// What a function is called in a file.
fn name_in(format: &str, text: &str) -> String {
    match text {
        "" => "(no name)".to_owned(),
        _ if format == "dyalog_xml" => held_by_xml(text),
        _ => text.replace('\0', "␀"),
    }
}

fn holds(
    export: &'static Export,
    database: &Database,
    run: &RunInfo,
    time: &str,
    layout: &str,
) -> Result<(), Failed> {
    let (bytes, lost) = written_whole(export, database, run, Some(layout))?;
    let again = read(
        formats::format_named(export.name).expect("a format"),
        &bytes,
    )?;
    let Some(second) = again.run(None)? else {
        return Err("there is no run".into());
    };
    let is_tree = run.fidelity == "tree";
    ensure((second.fidelity == "tree") == is_tree, || {
        format!("{} became {}", run.fidelity, second.fidelity)
    })?;
    let sql = if is_tree { TREE } else { DATA };
    let told = |loss: &str| lost.contains_key(loss);
    let labels = rows(database, "SELECT 1 FROM label_sets LIMIT 1", &[])?;
    ensure(told("labels") != labels.is_empty(), || {
        format!("{lost:?} is wrong about labels")
    })?;
    let name = |text: &str| name_in(export.name, text);
    let timer = |database: &Database| match rows(database, TIMER, &[])?.first().map(Vec::as_slice) {
        Some([Value::Text(metric)]) => figures(database, sql, metric, name),
        _ => Ok(Figures::new()),
    };
    let ticks = timer(database)?;
    // Raw times are equal; trees of 0.9.0 hold corrected ones.
    let is_corrected = is_tree && !ticks.is_empty() && layout != "1.37";
    let applied = |run: &RunInfo| {
        run.bias_applied
            .filter(|_| !ticks.is_empty() && !is_corrected)
            .unwrap_or(0.0)
    };
    let correction = applied(run) - applied(&second);
    ensure(
        run.bias_applied == second.bias_applied || told("bias"),
        || format!("{lost:?} does not tell of the bias"),
    )?;
    for row in rows(database, "SELECT name FROM functions", &[])? {
        if let [Value::Text(text)] = row.as_slice() {
            ensure(name(text) == *text || told("names"), || {
                format!("{lost:?} does not tell of {text:?}")
            })?;
        }
    }
    let mut expected = figures(database, sql, time, name)?;
    let found = figures(&again, sql, "time", str::to_owned)?;
    for ((_, figures), (_, ticks)) in expected.iter_mut().zip(&ticks) {
        // The first figure is the number of calls, which nothing corrects.
        for (figure, ticks) in figures.iter_mut().zip(ticks).skip(1) {
            *figure = figure.map(|figure| figure + correction * ticks.unwrap_or(0.0));
        }
    }
    same(&expected, &found)?;
    let read_ticks = timer(&again)?;
    if !read_ticks.is_empty() {
        same(&ticks, &read_ticks)?;
    }
    ensure(
        ticks.is_empty() || !read_ticks.is_empty() || told("metrics"),
        || format!("{lost:?} does not tell of ticks"),
    )?;
    if !is_tree && (told("same_name") || told("line_places")) {
        // Rows of one name are added up.
        return Ok(());
    }
    let (twice, lost) = written_whole(export, &again, &second, Some(layout))?;
    equal("written twice", &text(&bytes), &text(&twice))?;
    ensure(lost.is_empty(), || {
        format!("{lost:?} is lost of what was read")
    })
}

fn text(bytes: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(bytes)
        .lines()
        .map(str::to_owned)
        .collect()
}

/// What rows are, and calls, exclusive and cumulative cost, as far as they are known.
type Figures = Vec<(String, [Option<f64>; 3])>;

fn figures(
    database: &Database,
    sql: &str,
    metric: &str,
    name: impl Fn(&str) -> String,
) -> Result<Figures, Failed> {
    let mut found = Figures::new();
    for row in rows(database, sql, &[&metric])? {
        let [depth, Value::Text(function), line, figures @ ..] = row.as_slice() else {
            return Err(format!("a row: {row:?}").into());
        };
        let mut numbers = [None; 3];
        for (number, figure) in numbers.iter_mut().zip(figures) {
            #[expect(clippy::cast_precision_loss, reason = "compared with rounding")]
            match figure {
                Value::Integer(figure) => *number = Some(*figure as f64),
                Value::Real(figure) => *number = Some(*figure),
                _ => {}
            }
        }
        found.push((format!("{depth:?} {} {line:?}", name(function)), numbers));
    }
    if sql == TREE {
        return Ok(found);
    }
    // Names that were told apart may not be so any more.
    let mut sums: BTreeMap<String, [Option<f64>; 3]> = BTreeMap::new();
    for (key, figures) in found {
        let add = |sum: Option<f64>, figure: Option<f64>| Some(sum? + figure?);
        let sum = sums.entry(key).or_insert([Some(0.0); 3]);
        *sum = std::array::from_fn(|at| add(sum[at], figures[at]));
    }
    Ok(sums.into_iter().collect())
}

fn same(expected: &Figures, found: &Figures) -> Result<(), Failed> {
    let close = |one: f64, other: f64| {
        (one - other).abs() <= ROUNDING * one.abs() || one.min(other) >= LARGEST
    };
    let near = |one: Option<f64>, other: Option<f64>| match (one, other) {
        (Some(one), Some(other)) => close(one, other),
        (one, other) => one == other,
    };
    ensure(expected.len() == found.len(), || {
        format!("{} rows became {}", expected.len(), found.len())
    })?;
    let parted = expected
        .iter()
        .zip(found)
        .find(|((key, figures), (found_key, found))| {
            key != found_key
                || !figures
                    .iter()
                    .zip(found)
                    .all(|(one, other)| near(*one, *other))
        });
    ensure(parted.is_none(), || format!("{parted:?}"))
}
