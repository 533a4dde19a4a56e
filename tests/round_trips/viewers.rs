//! What is written for viewers is the profile in everything that the viewers' formats hold.

use std::collections::BTreeMap;

use libtest_mimic::Failed;
use profdb::formats;
use profdb::formats::export::Request;
use profdb::report::Value;
use profdb::store::{Database, RunInfo};
use quick_xml::events::Event;
use rusqlite::ToSql;
use serde_json::Value as Json;

use super::export::{read, writer};
use super::{ensure, equal, rows};

/// The largest whole number that costs become, as a REAL.
const LARGEST: f64 = 9_223_372_036_854_775_808.0;

/// Costs, and how many figures they are the sum of, by what they are the cost of.
type Costs = BTreeMap<Vec<String>, (f64, u32)>;

/// Writes a run in every format for viewers, and looks at it.
pub(super) fn every(database: &Database, run: &RunInfo) -> Result<(), Failed> {
    callgrind(database, run).map_err(|fault| format!("callgrind: {fault:?}"))?;
    if run.fidelity != "flat" {
        dot(database, run).map_err(|fault| format!("dot: {fault:?}"))?;
    }
    if run.fidelity != "tree" {
        return Ok(());
    }
    pprof(database, run).map_err(|fault| format!("pprof: {fault:?}"))?;
    speedscope(database, run).map_err(|fault| format!("speedscope: {fault:?}"))?;
    for metric in database.metrics(run.run_id)? {
        firefox(database, run, &metric.name)
            .map_err(|fault| format!("firefox {}: {fault:?}", metric.name))?;
        flamegraph(database, run, &metric.name)
            .map_err(|fault| format!("flamegraph {}: {fault:?}", metric.name))?;
    }
    Ok(())
}

/// What a format makes of all metrics of a run, and how much it says to have lost, by name.
fn written_all(
    name: &str,
    database: &Database,
    run: &RunInfo,
) -> Result<(Vec<u8>, BTreeMap<&'static str, u64>), Failed> {
    written_with(name, &[], database, run)
}

/// The same with options of the format.
fn written_with(
    name: &str,
    options: &[(&'static str, &str)],
    database: &Database,
    run: &RunInfo,
) -> Result<(Vec<u8>, BTreeMap<&'static str, u64>), Failed> {
    let mut request = Request::default();
    for (option, value) in options {
        request.options.set(option, *value);
    }
    let mut bytes = Vec::new();
    let losses = writer(name).write(database, run, &request, &mut bytes)?;
    Ok((
        bytes,
        losses
            .each()
            .map(|(loss, count)| (loss.name, count))
            .collect(),
    ))
}

/// The numbers of the metrics of the only run, the default one first.
fn metrics(database: &Database) -> Result<Vec<i64>, Failed> {
    let sql = "SELECT m.metric_id FROM metrics AS m JOIN runs AS r USING (run_id)
               ORDER BY m.metric_id <> r.default_metric_id, m.position";
    let numbers = rows(database, sql, &[])?
        .into_iter()
        .map(|row| match row.as_slice() {
            [Value::Integer(number)] => Ok(*number),
            other => Err(format!("{other:?}").into()),
        });
    numbers.collect()
}

/// Sums the last column of a query by the texts of the others, each figure rounded.
fn sums(database: &Database, sql: &str, parameters: &[&dyn ToSql]) -> Result<Costs, Failed> {
    let mut costs = Costs::new();
    for row in rows(database, sql, parameters)? {
        let (cost, key) = row.split_last().ok_or("a row without columns")?;
        let cost = match cost {
            Value::Real(cost) => *cost,
            #[expect(clippy::cast_precision_loss, reason = "counts of cases are small")]
            Value::Integer(count) => *count as f64,
            _ => 0.0,
        };
        let text = |value: &Value| match value {
            // As names stand on a line, with nothing around them.
            Value::Text(text) => text
                .replace('\n', "␊")
                .trim_matches(|c: char| c.is_ascii_whitespace())
                .to_owned(),
            other => format!("{other:?}"),
        };
        let sum = costs.entry(key.iter().map(text).collect()).or_default();
        sum.0 += cost.round().clamp(-LARGEST, LARGEST);
        sum.1 += 1;
    }
    Ok(costs)
}

/// What our formats read: bytes that are no UTF-8 escaped, and text that looks so.
pub(super) fn text_of(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(&chunk.valid().replace("\\x{", "\\x{5c}x{"));
        text.extend(
            chunk
                .invalid()
                .iter()
                .map(|byte| format!("\\x{{{byte:02x}}}")),
        );
    }
    text
}

/// JSON as browsers read it: half letters, which the library refuses, are what they stand for here.
fn json_of(bytes: &[u8]) -> Result<Json, Failed> {
    let text = std::str::from_utf8(bytes)?.replace(r"\\x{", r"\\x{5c}x{");
    // A byte that is no UTF-8 is written as half a letter, as Python has it
    // (src/formats/common/written.rs).
    let mut pieces = text.split("\\udc");
    let mut whole = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (digits, rest) = piece.split_at(2);
        whole.extend(["\\\\x{", digits, "}", rest]);
    }
    Ok(serde_json::from_str(&whole)?)
}

/// Compares two lists of costs; each figure may be off by some.
fn alike(what: &str, expected: &Costs, found: &Costs, by: f64) -> Result<(), Failed> {
    for (key, (cost, figures)) in expected {
        let other = found
            .get(key)
            .ok_or_else(|| format!("{what}: there is no {key:?}"))?
            .0;
        ensure((cost - other).abs() <= by * f64::from(*figures), || {
            format!("{what}: {key:?}: {cost} became {other}")
        })?;
    }
    let more = found.keys().find(|key| !expected.contains_key(*key));
    ensure(more.is_none(), || {
        format!("{what}: nobody expected {more:?}")
    })
}

/// Own costs of functions and lines, calls and their costs come back. A file or object called `???`
/// is an unknown one.
fn callgrind(database: &Database, run: &RunInfo) -> Result<(), Failed> {
    let (bytes, lost) = written_all("callgrind", database, run)?;
    let again = read(
        formats::format_named("callgrind").expect("a format"),
        &bytes,
    )?;
    let (ours, theirs) = (metrics(database)?, metrics(&again)?);
    ensure(ours.len() == theirs.len(), || "metrics get lost".to_owned())?;
    for (our, their) in ours.iter().zip(&theirs) {
        let pair = |sql: &str| -> Result<(Costs, Costs), Failed> {
            Ok((sums(database, sql, &[our])?, sums(&again, sql, &[their])?))
        };
        // Roots and the like are left out if they cost nothing, and have no row in other metrics
        // than the default one.
        let own = "SELECT IIF(f.name = '', '???', f.name), REPLACE(f.module, '???', ''), REPLACE(f.file, '???', ''),
                     i.exclusive
                   FROM function_info AS i JOIN functions AS f USING (function_id)
                   WHERE i.metric_id = ?1 AND ROUND(i.exclusive) <> 0";
        let (expected, found) = pair(own)?;
        alike("own costs", &expected, &found, 0.0)?;
        let calls = "SELECT IIF(c.name = '', '???', c.name), REPLACE(c.module, '???', ''), REPLACE(c.file, '???', ''),
                       IIF(f.name = '', '???', f.name), REPLACE(f.module, '???', ''), REPLACE(f.file, '???', ''),
                       REPLACE(e.line_file, '???', ''), CASE WHEN e.caller_line > 0 THEN e.caller_line END,
                       COALESCE(e.seen, e.cumulative)
                     FROM edges AS e
                     JOIN functions AS f ON f.function_id = e.callee_id
                     JOIN functions AS c ON c.function_id = e.caller_id
                     WHERE e.metric_id = ?1 AND e.back = 0";
        let (expected, found) = pair(calls)?;
        alike("calls", &expected, &found, 0.0)?;
        let (expected, found) = pair(&calls.replace(
            "COALESCE(e.seen, e.cumulative)",
            "MAX(COALESCE(e.calls, 0), 1)",
        ))?;
        alike("numbers of calls", &expected, &found, 0.0)?;
        let lines = "SELECT f.name, l.file, l.line, l.exclusive
                     FROM line_info AS l JOIN functions AS f USING (function_id)
                     WHERE l.metric_id = ?1 AND l.line > 0 AND ABS(l.exclusive) > 1 AND f.name <> ''";
        let (expected, mut found) = pair(lines)?;
        found.retain(|key, _| expected.contains_key(key));
        alike("lines", &expected, &found, 1.0)?;
        let total = "SELECT 'total', total FROM metrics WHERE metric_id = ?1";
        let (expected, found) = pair(total)?;
        alike("totals", &expected, &found, 0.0)?;
    }
    let lines = rows(
        database,
        "SELECT 1 FROM line_info AS l JOIN runs AS r ON r.default_metric_id = l.metric_id
                                WHERE l.calls IS NOT NULL",
        &[],
    )?;
    ensure(
        lost.get("line_calls").copied().unwrap_or(0) == lines.len() as u64,
        || format!("{lost:?}"),
    )
}

/// Own cost of functions and lines by path, each rounded; what lines cost is not their function's.
/// Threads and the like around all functions are no part of a path, unless they end it.
fn own_costs(database: &Database, metric: i64) -> Result<Costs, Failed> {
    let sql = "SELECT n.depth, f.kind, IIF(f.name = '', '[unknown]', f.name), f.module, f.file, COALESCE(n.line, 0), COALESCE(n.col, 0),
                 n.line IS NOT NULL,
                 CASE WHEN r.default_metric_id = ?1 THEN n.exclusive ELSE COALESCE(c.exclusive, 0.0) END
               FROM runs AS r
               JOIN nodes AS n ON n.node_id BETWEEN r.first_node AND r.last_node
               JOIN functions AS f ON f.function_id = n.function_id
               LEFT JOIN node_costs AS c ON c.metric_id = ?1 AND c.node_id = n.node_id
               ORDER BY n.node_id";
    let mut open: Vec<(String, bool, bool)> = Vec::new();
    let mut costs = Costs::new();
    for row in rows(database, sql, &[&metric])? {
        let [
            Value::Integer(depth),
            Value::Text(kind),
            rest @ ..,
            Value::Integer(line),
            Value::Real(cost),
        ] = row.as_slice()
        else {
            return Err(format!("a node: {row:?}").into());
        };
        let holds = !["function", "pseudo"].contains(&kind.as_str());
        open.truncate(usize::try_from(*depth)?);
        open.push((format!("{rest:?}"), *line == 1, holds));
        // A function that one of its lines stands for.
        let is_shown = |at: usize| !open.get(at + 1).is_some_and(|(_, line, _)| *line);
        let first = open
            .iter()
            .position(|(_, _, holds)| !holds)
            .unwrap_or(open.len() - 1);
        let path = |to: usize| -> Vec<String> {
            (first..to)
                .filter(|at| is_shown(*at) || *at + 1 == to)
                .map(|at| open[at].0.clone())
                .collect()
        };
        let own = costs.entry(path(open.len())).or_default();
        own.0 += cost;
        own.1 += 1;
        if *line == 1 {
            let function = costs.entry(path(open.len() - 1)).or_default();
            // In these formats the cost of a line is not in its function's own figure, as it is in
            // ours.
            function.0 -= cost;
            function.1 += 1;
        }
    }
    Ok(costs)
}

/// Every place comes back with its own cost, as near as whole numbers come.
fn pprof(database: &Database, run: &RunInfo) -> Result<(), Failed> {
    let (bytes, lost) = written_all("pprof", database, run)?;
    let again = read(formats::format_named("pprof").expect("a format"), &bytes)?;
    let numbers = "SELECT m.metric_id FROM metrics AS m ORDER BY m.position";
    let pairs = rows(database, numbers, &[])?
        .into_iter()
        .zip(rows(&again, numbers, &[])?);
    for (our, their) in pairs {
        let (&[Value::Integer(our)], &[Value::Integer(their)]) = (our.as_slice(), their.as_slice())
        else {
            return Err("numbers of metrics".into());
        };
        let (mut expected, mut found) = (own_costs(database, our)?, own_costs(&again, their)?);
        // What cost nothing may be there or not.
        for key in expected.keys() {
            found.entry(key.clone()).or_default();
        }
        for key in found.keys() {
            expected.entry(key.clone()).or_insert((0.0, 1));
        }
        if !["large", "lines", "names"]
            .iter()
            .any(|name| lost.contains_key(name))
        {
            alike("own costs", &expected, &found, 1.0)?;
        }
    }
    let sets = rows(database, "SELECT DISTINCT set_id FROM label_sets", &[])?.len();
    ensure(
        lost.get("labels").copied().unwrap_or(0) == sets as u64,
        || format!("{sets} sets of labels, {lost:?}"),
    )?;
    let names = "SELECT name, unit FROM metrics ORDER BY position";
    equal(
        "metrics",
        &rows(database, names, &[])?,
        &rows(&again, names, &[])?,
    )?;
    let default =
        "SELECT m.name FROM runs AS r JOIN metrics AS m ON m.metric_id = r.default_metric_id";
    equal(
        "default metric",
        &rows(database, default, &[])?,
        &rows(&again, default, &[])?,
    )
}

/// All functions and all pairs of caller and callee are there, if nothing is left out, and the
/// digits of the tooltips are those of the database.
fn dot(database: &Database, run: &RunInfo) -> Result<(), Failed> {
    let options = [
        ("min-pct", "0"),
        ("keep-empty", ""),
        ("edge-labels", ""),
        ("clusters", ""),
        ("all-metrics", ""),
    ];
    let (bytes, _) = written_with("dot", &options, database, run)?;
    let text = text_of(&bytes);
    ensure(
        text.ends_with("}\n") && !text.contains(|c: char| c.is_control() && c != '\n'),
        || text.clone(),
    )?;
    let own_of = |line: &str| -> Option<String> {
        let (_, figures) = line.rsplit_once(": exclusive ")?;
        Some(figures.split(' ').next()?.to_owned())
    };
    let (mut boxes, mut arrows) = (Vec::new(), 0);
    for line in text.lines().filter(|line| line.starts_with('f')) {
        let word = line.split(' ').nth(1).unwrap_or_default();
        arrows += i64::from(word == "->");
        if word.starts_with("[label=") {
            let own = own_of(line).ok_or_else(|| format!("no own cost in {line}"))?;
            boxes.push(if own == "unknown" {
                None
            } else {
                Some(own.parse::<f64>()?)
            });
        }
    }
    let last = "SELECT metric_id FROM metrics ORDER BY position DESC LIMIT 1";
    let own = format!(
        "SELECT CASE WHEN i.metric_id IS NULL THEN 0.0 ELSE i.exclusive END
         FROM runs AS r
         JOIN function_info AS d ON d.metric_id = r.default_metric_id
         JOIN functions AS f ON f.function_id = d.function_id
         LEFT JOIN function_info AS i ON i.metric_id = ({last}) AND i.function_id = d.function_id
         WHERE f.kind IN ('function', 'pseudo') OR EXISTS
           (SELECT 1 FROM function_info AS o WHERE o.function_id = f.function_id AND o.exclusive IS NOT 0.0)
         ORDER BY f.function_id"
    );
    let expected: Vec<Option<f64>> = rows(database, &own, &[])?
        .into_iter()
        .map(|row| {
            if let Some(Value::Real(cost)) = row.first() {
                Some(*cost)
            } else {
                None
            }
        })
        .collect();
    equal("own costs", &expected, &boxes)?;
    let pairs = "SELECT DISTINCT e.caller_id, e.callee_id, e.back
                 FROM edges AS e JOIN runs AS r ON r.default_metric_id = e.metric_id WHERE e.caller_id <> 0";
    let pairs = i64::try_from(rows(database, pairs, &[])?.len())?;
    ensure(arrows == pairs, || {
        format!("{arrows} arrows for {pairs} pairs")
    })
}

/// Own cost by path of names, files and lines, as far as it is above 0, as samples have it.
fn sampled_costs(
    database: &Database,
    metric: i64,
) -> Result<(BTreeMap<Vec<String>, f64>, u32), Failed> {
    let sql = "SELECT n.depth, f.kind, f.name, f.file, COALESCE(n.line, 0), COALESCE(n.col, 0), n.line IS NOT NULL,
                 CASE WHEN r.default_metric_id = ?1 THEN n.exclusive ELSE COALESCE(c.exclusive, 0.0) END
               FROM runs AS r
               JOIN nodes AS n ON n.node_id BETWEEN r.first_node AND r.last_node
               JOIN functions AS f ON f.function_id = n.function_id
               LEFT JOIN node_costs AS c ON c.metric_id = ?1 AND c.node_id = n.node_id
               ORDER BY n.node_id";
    let mut open: Vec<(String, bool, bool)> = Vec::new();
    let mut costs: BTreeMap<Vec<String>, f64> = BTreeMap::new();
    let mut figures = 0;
    for row in rows(database, sql, &[&metric])? {
        let [
            Value::Integer(depth),
            Value::Text(kind),
            Value::Text(name),
            Value::Text(file),
            Value::Integer(at),
            Value::Integer(col),
            Value::Integer(line),
            Value::Real(cost),
        ] = row.as_slice()
        else {
            return Err(format!("a node: {row:?}").into());
        };
        let holds = !["function", "pseudo"].contains(&kind.as_str());
        open.truncate(usize::try_from(*depth)?);
        open.push((format!("{name}|{file}|{at}|{col}"), *line == 1, holds));
        let is_shown = |at: usize| !open.get(at + 1).is_some_and(|(_, line, _)| *line);
        let first = open
            .iter()
            .position(|(_, _, holds)| !holds)
            .unwrap_or(open.len() - 1);
        let path = |to: usize| -> Vec<String> {
            (first..to)
                .filter(|at| is_shown(*at) || *at + 1 == to)
                .map(|at| open[at].0.clone())
                .collect()
        };
        figures += 1;
        *costs.entry(path(open.len())).or_default() += cost;
        if *line == 1 {
            *costs.entry(path(open.len() - 1)).or_default() -= cost;
        }
    }
    Ok((costs, figures))
}

/// Compares costs by path, as near as whole numbers come.
fn alike_samples(
    (mut expected, figures): (BTreeMap<Vec<String>, f64>, u32),
    mut found: BTreeMap<Vec<String>, f64>,
    keeps_negative: bool,
) -> Result<(), Failed> {
    for path in expected.keys() {
        found.entry(path.clone()).or_default();
    }
    for (path, cost) in &found {
        let before = *expected.entry(path.clone()).or_default();
        let before = if keeps_negative {
            before
        } else {
            before.max(0.0)
        };
        // A place may stand for several nodes, each with its rounding, and negative ones count 0
        // each.
        let by = if before.fract() == 0.0 && keeps_negative {
            0.5
        } else {
            f64::from(figures)
        };
        let by = by + before.abs() * 1e-9;
        ensure((cost - before).abs() <= by, || {
            format!("{path:?}: {before} became {cost}")
        })?;
    }
    Ok(())
}

fn member<'j>(object: &'j Json, name: &str) -> Result<&'j Json, Failed> {
    object
        .get(name)
        .ok_or_else(|| format!("no {name} in {:.200}", object.to_string()).into())
}

fn array<'j>(object: &'j Json, name: &str) -> Result<&'j [Json], Failed> {
    Ok(member(object, name)?
        .as_array()
        .ok_or_else(|| format!("{name} is no array"))?)
}

fn text<'j>(object: &'j Json, name: &str) -> Result<&'j str, Failed> {
    Ok(member(object, name)?
        .as_str()
        .ok_or_else(|| format!("{name} is no text"))?)
}

/// A member of an object: its name, whether it must be there, and what it is.
type Member<'m> = (&'m str, bool, fn(&Json) -> bool);

/// The members of an object are these.
fn shape(object: &Json, members: &[Member]) -> Result<(), Failed> {
    let object = object.as_object().ok_or("no object")?;
    for (name, needed, fits) in members {
        let fine = object.get(*name).map_or(!needed, fits);
        ensure(fine, || format!("{name} is {:?}", object.get(*name)))?;
    }
    let other = object
        .keys()
        .find(|name| !members.iter().any(|(known, _, _)| known == name));
    ensure(other.is_none(), || format!("unknown: {other:?}"))
}

/// An index or a count.
fn at(value: &Json) -> Result<usize, Failed> {
    Ok(usize::try_from(
        value
            .as_u64()
            .ok_or_else(|| format!("{value} is no index"))?,
    )?)
}

/// The file has the shape that speedscope's schema wants, and its samples are the tree.
fn speedscope(database: &Database, run: &RunInfo) -> Result<(), Failed> {
    let (bytes, lost) = written_all("speedscope", database, run)?;
    let file = json_of(&bytes)?;
    let is_schema = |value: &Json| value == "https://www.speedscope.app/file-format-schema.json";
    shape(
        &file,
        &[
            ("$schema", true, is_schema),
            ("shared", true, Json::is_object),
            ("profiles", true, Json::is_array),
            ("name", false, Json::is_string),
            ("exporter", false, Json::is_string),
            ("activeProfileIndex", false, Json::is_u64),
        ],
    )?;
    let frames = array(member(&file, "shared")?, "frames")?;
    let mut names = Vec::new();
    for frame in frames {
        let members: [Member; 5] = [
            ("name", true, Json::is_string),
            ("kind", false, Json::is_string),
            ("file", false, Json::is_string),
            ("line", false, Json::is_u64),
            ("col", false, Json::is_u64),
        ];
        shape(frame, &members)?;
        let number = |name: &str| frame.get(name).and_then(Json::as_u64).unwrap_or(0);
        let place = frame.get("file").and_then(Json::as_str).unwrap_or_default();
        names.push(format!(
            "{}|{place}|{}|{}",
            text(frame, "name")?,
            number("line"),
            number("col")
        ));
    }
    let metrics = database.metrics(run.run_id)?;
    let mut found: Vec<BTreeMap<Vec<String>, f64>> = vec![BTreeMap::new(); metrics.len()];
    for profile in array(&file, "profiles")? {
        shape(
            profile,
            &[
                ("type", true, |value| value == "sampled"),
                ("name", true, Json::is_string),
                ("metric", true, Json::is_string),
                ("around", true, Json::is_array),
                ("unit", true, |value| {
                    ["none", "nanoseconds", "bytes"].contains(&value.as_str().unwrap_or_default())
                }),
                ("startValue", true, Json::is_number),
                ("endValue", true, Json::is_number),
                ("samples", true, Json::is_array),
                ("weights", true, Json::is_array),
            ],
        )?;
        let title = text(profile, "name")?;
        let measured = text(profile, "metric")?;
        let metric = metrics
            .iter()
            .position(|metric| metric.name == measured)
            .ok_or("a metric")?;
        let is_named = metrics.len() == 1 || title.ends_with(&format!("({measured})"));
        ensure(is_named, || format!("{title} for {measured}"))?;
        let (samples, weights) = (array(profile, "samples")?, array(profile, "weights")?);
        ensure(samples.len() == weights.len(), || {
            "a weight per sample".to_owned()
        })?;
        let mut sum = 0.0;
        for (sample, weight) in samples.iter().zip(weights) {
            let stack = sample.as_array().ok_or("a stack")?;
            let path: Result<Vec<String>, Failed> = stack
                .iter()
                .map(|frame| Ok(names[at(frame)?].clone()))
                .collect();
            let weight = weight
                .as_f64()
                .filter(|weight| *weight >= 0.0)
                .ok_or("a weight")?;
            sum += weight;
            *found[metric].entry(path?).or_default() += weight;
        }
        let end = member(profile, "endValue")?.as_f64().ok_or("an end")?;
        ensure((end - sum).abs() <= 1e-9 * sum, || {
            format!("{sum} ends at {end}")
        })?;
    }
    if lost.contains_key("large") {
        return Ok(());
    }
    for (metric, found) in metrics.iter().zip(found) {
        alike_samples(
            sampled_costs(database, metric.metric_id)?,
            found,
            !lost.contains_key("negative"),
        )?;
    }
    Ok(())
}

/// All columns of a table are as long as it says.
fn table<'j>(thread: &'j Json, name: &str, columns: &[&str]) -> Result<&'j Json, Failed> {
    let table = member(thread, name)?;
    let length = at(member(table, "length")?)?;
    for column in columns {
        let found = array(table, column)?.len();
        ensure(found == length, || {
            format!("{name}.{column} has {found} rows, not {length}")
        })?;
    }
    Ok(table)
}

/// The file has the tables that the viewer's types want, and its samples are the tree.
fn firefox(database: &Database, run: &RunInfo, metric: &str) -> Result<(), Failed> {
    let (bytes, lost) = super::export::written(writer("firefox"), database, run, metric, None)?;
    let file = json_of(&bytes)?;
    let meta = member(&file, "meta")?;
    for (name, fits) in [
        (
            "preprocessedProfileVersion",
            Json::is_u64 as fn(&Json) -> bool,
        ),
        ("version", Json::is_u64),
        ("interval", Json::is_number),
        ("startTime", Json::is_number),
        ("processType", Json::is_u64),
        ("product", Json::is_string),
        ("stackwalk", Json::is_u64),
        ("categories", Json::is_array),
        ("markerSchema", Json::is_array),
        ("extensions", Json::is_object),
        ("symbolicated", Json::is_boolean),
    ] {
        ensure(meta.get(name).is_some_and(fits), || {
            format!("{name} is {:?}", meta.get(name))
        })?;
    }
    let libraries = array(&file, "libs")?;
    let mut found: BTreeMap<Vec<String>, f64> = BTreeMap::new();
    for thread in array(&file, "threads")? {
        let strings = array(thread, "stringArray")?;
        let samples = table(thread, "samples", &["stack", "weight", "time"])?;
        let stacks = table(
            thread,
            "stackTable",
            &["prefix", "frame", "category", "subcategory"],
        )?;
        let frames = [
            "func",
            "line",
            "column",
            "address",
            "inlineDepth",
            "category",
            "subcategory",
            "nativeSymbol",
            "innerWindowID",
            "implementation",
        ];
        let frames = table(thread, "frameTable", &frames)?;
        let functions = [
            "name",
            "fileName",
            "lineNumber",
            "columnNumber",
            "resource",
            "isJS",
            "relevantForJS",
        ];
        let functions = table(thread, "funcTable", &functions)?;
        let resources = table(thread, "resourceTable", &["lib", "name", "host", "type"])?;
        table(
            thread,
            "markers",
            &["data", "name", "startTime", "endTime", "phase", "category"],
        )?;
        table(
            thread,
            "nativeSymbols",
            &["address", "functionSize", "libIndex", "name"],
        )?;
        for resource in array(resources, "lib")? {
            ensure(at(resource)? < libraries.len(), || "a library".to_owned())?;
        }
        let string = |at: usize| strings.get(at).and_then(Json::as_str).ok_or("a text");
        let mut paths: Vec<Vec<String>> = Vec::new();
        for (prefix, frame) in array(stacks, "prefix")?.iter().zip(array(stacks, "frame")?) {
            let frame = at(frame)?;
            let function = at(&array(frames, "func")?[frame])?;
            let file = match &array(functions, "fileName")?[function] {
                Json::Null => "",
                file => string(at(file)?)?,
            };
            let number = |name| -> Result<u64, Failed> {
                Ok(array(frames, name)?[frame].as_u64().unwrap_or(0))
            };
            let name = string(at(&array(functions, "name")?[function])?)?;
            let mut path = if prefix.is_null() {
                Vec::new()
            } else {
                paths[at(prefix)?].clone()
            };
            path.push(format!(
                "{name}|{file}|{}|{}",
                number("line")?,
                number("column")?
            ));
            paths.push(path);
        }
        let scale = if text(samples, "weightType")? == "tracing-ms" {
            1e6
        } else {
            1.0
        };
        let mut last = 0.0;
        let times = array(samples, "time")?.iter();
        for ((stack, weight), time) in array(samples, "stack")?
            .iter()
            .zip(array(samples, "weight")?)
            .zip(times)
        {
            let (weight, time) = (
                weight.as_f64().ok_or("a weight")?,
                time.as_f64().ok_or("a time")?,
            );
            ensure(time >= last, || format!("{time} before {last}"))?;
            last = time;
            *found.entry(paths[at(stack)?].clone()).or_default() += weight * scale;
        }
    }
    let number = database
        .metrics(run.run_id)?
        .into_iter()
        .find(|known| known.name == metric)
        .ok_or("a metric")?;
    if lost.contains_key("large") {
        return Ok(());
    }
    alike_samples(sampled_costs(database, number.metric_id)?, found, true)
}

/// Every place that cost something is a box, as wide as its cost with what it called, within its
/// caller's.
fn flamegraph(database: &Database, run: &RunInfo, metric: &str) -> Result<(), Failed> {
    let mut request = Request {
        metric: Some(metric.to_owned()),
        ..Request::default()
    };
    request.options.set("min-pct", "0");
    let mut bytes = Vec::new();
    let losses = writer("flamegraph").write(database, run, &request, &mut bytes)?;
    let clipped = losses.each().any(|(loss, _)| loss.name == "cumulative");
    let svg = String::from_utf8(bytes)?;
    let mut reader = quick_xml::Reader::from_str(&svg);
    let mut boxes: Vec<[f64; 4]> = Vec::new();
    let mut open = Vec::new();
    loop {
        match reader.read_event()? {
            Event::Start(start) => open.push(start.name().as_ref().to_owned()),
            Event::End(_) => drop(open.pop()),
            Event::Empty(rect) if open.last().is_some_and(|element| element == "g") => {
                let number = |name: &str| -> Result<f64, Failed> {
                    let value = rect
                        .try_get_attribute(name)?
                        .ok_or_else(|| format!("no {name}"))?;
                    Ok(value.value.parse()?)
                };
                boxes.push([
                    number("x")?,
                    number("y")?,
                    number("width")?,
                    number("height")?,
                ]);
            }
            Event::Eof => break,
            _ => {}
        }
    }
    ensure(open.is_empty(), || format!("{open:?} are open"))?;
    let sql = "SELECT depth, line IS NOT NULL, cumulative FROM tree WHERE run_id = 1 AND metric = ?1 ORDER BY node_id";
    let mut levels: Vec<(i64, bool)> = Vec::new();
    let mut expected: Vec<(usize, f64)> = Vec::new();
    for row in rows(database, sql, &[&metric])? {
        let [Value::Integer(depth), Value::Integer(line), cost] = row.as_slice() else {
            return Err(format!("a row of the tree: {row:?}").into());
        };
        levels.retain(|(above, _)| above < depth);
        let level = levels.iter().filter(|(_, line)| !line).count();
        levels.push((*depth, *line == 1));
        if let (0, Value::Real(cost)) = (line, cost) {
            expected.push((level, cost.max(0.0)));
        }
    }
    let whole: f64 = expected
        .iter()
        .filter(|(level, _)| *level == 0)
        .map(|(_, cost)| cost)
        .sum();
    // Boxes that do not fit into their caller's are cut there: then their widths say nothing of
    // costs.
    if clipped || whole == 0.0 {
        return ensure(
            boxes
                .iter()
                .all(|[x, _, width, _]| *x >= 0.0 && x + width <= 1200.001),
            || svg.clone(),
        );
    }
    expected.retain(|(_, cost)| *cost > 0.0);
    ensure(boxes.len() == expected.len(), || {
        format!("{} boxes for {} places", boxes.len(), expected.len())
    })?;
    // All boxes of a level are beside each other, below those of the level before.
    let mut levels: Vec<[f64; 2]> = Vec::new();
    let mut around: Vec<[f64; 2]> = Vec::new();
    for ([x, y, width, height], (level, cost)) in boxes.iter().zip(&expected) {
        let wide = 1200.0 * cost / whole;
        // Edges are rounded to the ninth decimal.
        ensure((width - wide).abs() <= 1e-9 * wide + 2e-9, || {
            format!("{width} wide, not {wide}")
        })?;
        if levels.len() == *level {
            levels.push([*y, *height]);
        }
        let [top, high] = levels[*level];
        ensure(
            (y - top).abs() < 1e-9 && (height - high).abs() < 1e-9,
            || format!("level {level} at {y}, {height} high, not at {top}, {high} high"),
        )?;
        around.truncate(*level);
        let within = around.last().copied().unwrap_or([0.0, 1200.0]);
        ensure(
            *x >= within[0] - 1e-6 && x + width <= within[1] + 1e-6,
            || format!("{x} {width} within {within:?}"),
        )?;
        around.push([*x, x + width]);
    }
    let is_below = |both: &[[f64; 2]]| both[1][0] >= both[0][0] + both[0][1];
    ensure(levels.windows(2).all(is_below), || format!("{levels:?}"))
}
