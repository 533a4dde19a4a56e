//! What is written as a log of GHC's cost-centre stacks has the stacks of the profile.

use std::collections::BTreeMap;

use libtest_mimic::Failed;
use profdb::formats;
use profdb::report::Value;
use profdb::store::{Database, RunInfo};

use super::export::{read, writer, written_whole};
use super::{ensure, equal, rows};

/// Calls and ticks, by path of names and modules.
type Stacks = BTreeMap<Vec<String>, (i64, f64)>;

/// Writes a run with paths, and looks at it.
pub(super) fn every(database: &Database, run: &RunInfo) -> Result<(), Failed> {
    if run.fidelity != "tree" {
        return Ok(());
    }
    stacks_are_kept(database, run)
        .map_err(|fault| format!("ghc_px: {}", fault.message().unwrap_or("?")).into())
}

fn stacks_are_kept(database: &Database, run: &RunInfo) -> Result<(), Failed> {
    let export = writer("ghc_px");
    let (bytes, lost) = written_whole(export, database, run, None)?;
    let again = read(formats::format_named("ghc_px").expect("a format"), &bytes)?;
    let Some(second) = again.run(None)? else {
        return Err("there is no run".into());
    };
    let (twice, lost_again) = written_whole(export, &again, &second, None)?;
    ensure(lost_again.is_empty(), || {
        format!("{lost_again:?} is lost of what was read")
    })?;
    // Lines leave gaps between the numbers.
    if !lost.contains_key("lines") && !lost.contains_key("apart") {
        let text = |bytes: &[u8]| {
            String::from_utf8_lossy(bytes)
                .lines()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        equal("written twice", &text(&bytes), &text(&twice))?;
    }
    if lost.contains_key("apart") {
        return Ok(());
    }
    let (metric, unit) = ticks(database)?;
    let (expected, lines) = stacks(database, &metric, unit)?;
    let (found, _) = stacks(&again, "ticks", 1.0)?;
    ensure(found == expected, || {
        format!("{found:?} instead of {expected:?}")
    })?;
    let told = lost.get("lines").copied().unwrap_or(0);
    ensure(told == lines, || {
        format!("{told} lines are said to be lost, not {lines}")
    })
}

/// The metric that becomes ticks, and how much of it is one.
fn ticks(database: &Database) -> Result<(String, f64), Failed> {
    // Readings of a timer are no ticks of GHC's.
    let sql = "SELECT m.name, m.unit, m.total, m.metric_id = r.default_metric_id, m.timer_readings
               FROM runs AS r LEFT JOIN metrics AS m USING (run_id) ORDER BY m.position";
    let mut metrics = Vec::new();
    for row in rows(database, sql, &[])? {
        if let [
            Value::Text(name),
            Value::Text(unit),
            Value::Real(total),
            Value::Integer(is_default),
            Value::Integer(timer),
        ] = row.as_slice()
        {
            metrics.push((
                name.clone(),
                unit.clone(),
                *total,
                *is_default == 1,
                *timer == 1,
            ));
        }
    }
    if let Some((.., time, _, _)) = metrics.iter().find(|(name, ..)| name == "time") {
        let is_empty = rows(
            database,
            "SELECT 1 FROM run_properties WHERE key = 'TickInterval'",
            &[],
        )?
        .len()
            == 1;
        for (name, _, ticks, ..) in metrics
            .iter()
            .filter(|(_, unit, .., timer)| unit == "count" && !timer)
        {
            let interval = time / ticks / 1e6;
            // As the page of the format says: a count of which `time` is so many whole milliseconds
            // for each is ticks (src/formats/ghc/ghc_px/write.rs).
            let near = (interval - interval.round()).abs() < 1e-9 && interval >= 1.0;
            let other = "SELECT 1 FROM tree AS t JOIN tree AS c ON c.node_id = t.node_id
                         WHERE t.run_id = 1 AND t.metric = 'time' AND c.run_id = 1 AND c.metric = ?1
                           AND ABS(t.exclusive - c.exclusive * ?2) > 1e-9 * ABS(t.exclusive) LIMIT 1";
            let is_same = rows(database, other, &[name, &(interval.round() * 1e6)])?.is_empty();
            if (near && is_same) || (*time == 0.0 && (is_empty || *ticks == 0.0)) {
                return Ok((name.clone(), 1.0));
            }
        }
    }
    let of = |unit: &str| metrics.iter().find(|(_, known, ..)| known == unit);
    let default = metrics.iter().find(|(.., is_default, _)| *is_default);
    let chosen = match default.map(|(_, unit, ..)| unit.as_str()) {
        Some("count" | "ns") => default,
        _ => of("ns").or_else(|| of("count")),
    };
    Ok(match chosen {
        Some((name, unit, ..)) if unit == "ns" => (name.clone(), 1e6),
        Some((name, ..)) => (name.clone(), 1.0),
        None => (String::new(), 1.0),
    })
}

/// The stacks with what they cost in a metric, if it is one of the run's; and how many lines there
/// are.
fn stacks(database: &Database, metric: &str, unit: f64) -> Result<(Stacks, u64), Failed> {
    let sql = "SELECT n.depth, f.name, f.module, n.line IS NOT NULL, COALESCE(n.calls, 0), COALESCE(t.exclusive, 0.0)
               FROM nodes AS n
               JOIN functions AS f ON f.function_id = n.function_id
               LEFT JOIN tree AS t ON t.run_id = 1 AND t.metric = ?1 AND t.node_id = n.node_id
               ORDER BY n.node_id";
    let mut path: Vec<(i64, String, bool)> = Vec::new();
    let (mut stacks, mut lines) = (Stacks::new(), 0);
    for row in rows(database, sql, &[&metric])? {
        let [
            Value::Integer(depth),
            Value::Text(name),
            Value::Text(module),
            Value::Integer(line),
            Value::Integer(calls),
            Value::Real(cost),
        ] = row.as_slice()
        else {
            return Err(format!("a row of the tree: {row:?}").into());
        };
        let name = if name.is_empty() { "(no name)" } else { name };
        let name = format!("{name} of {module}").replace('\n', "␊");
        // Rows come in pre-order with their depths: what is as deep as the new row, or deeper, is
        // closed.
        path.retain(|(above, ..)| above < depth);
        path.push((*depth, name, *line == 1));
        if *line == 1 {
            lines += 1;
            continue;
        }
        let names = path
            .iter()
            .filter(|(.., line)| !line)
            .map(|(_, name, _)| name.clone())
            .collect();
        let (sum, ticks) = stacks.entry(names).or_default();
        *sum += calls;
        *ticks += (cost / unit)
            .round()
            .clamp(0.0, 18_446_744_073_709_551_616.0);
    }
    Ok((stacks, lines))
}
