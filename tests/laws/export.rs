//! What is written for other programs can be read, and is the profile in everything that the format can hold.

use std::collections::BTreeMap;

use libtest_mimic::Failed;
use profdb::export::{self, Export};
use profdb::report::Value;
use profdb::store::{Database, RunInfo};

use super::{Sample, ensure, output, rows, saved};

/// Figures of the tree, by path of names.
type Stacks = BTreeMap<Vec<String>, f64>;

pub(super) fn exports_hold_the_profile(sample: &Sample) -> Result<(), Failed> {
    every_export(&saved(sample, 1)?)
}

pub(super) fn hostile_names() -> Result<(), Failed> {
    every_export(&output::hostile_database()?)
}

fn every_export(database: &Database) -> Result<(), Failed> {
    let Some(run) = database.run(None)? else { return Err("there is no run".into()) };
    if run.fidelity != "tree" {
        for export in export::EXPORTS {
            let refused = export.write(database, &run, None, &mut Vec::new());
            let told = refused.err().map(|error| error.to_string()).unwrap_or_default();
            ensure(told.contains("knows totals only") && told.contains("profdb report data"), || told)?;
        }
        return Ok(());
    }
    for metric in database.metrics(run.run_id)? {
        folded(database, &run, &metric.name).map_err(|fault| format!("folded {}: {fault:?}", metric.name))?;
    }
    Ok(())
}

/// What a format makes of the run, and how much of what it says to have lost, by name.
fn written(
    export: &'static Export,
    database: &Database,
    run: &RunInfo,
    metric: &str,
) -> Result<(Vec<u8>, BTreeMap<&'static str, u64>), Failed> {
    let mut bytes = Vec::new();
    let losses = export.write(database, run, Some(metric), &mut bytes)?;
    let lost = losses.each().map(|(loss, count)| (loss.name, count)).collect();
    Ok((bytes, lost))
}

fn by_name(name: &str) -> &'static Export {
    export::by_name(name).expect("a format")
}

/// Own cost by path, from the public view; lines apart.
fn own_costs(database: &Database, metric: &str) -> Result<Stacks, Failed> {
    let sql = "SELECT depth, function, line IS NOT NULL, exclusive FROM tree WHERE run_id = 1 AND metric = ?1
               ORDER BY node_id";
    let mut path: Vec<(i64, String, bool)> = Vec::new();
    let mut costs = Stacks::new();
    for row in rows(database, sql, &[&metric])? {
        let [Value::Integer(depth), Value::Text(name), Value::Integer(line), Value::Real(cost)] = row.as_slice() else {
            return Err(format!("a row of the tree: {row:?}").into());
        };
        path.retain(|(above, _, _)| above < depth);
        path.push((*depth, name.clone(), *line == 1));
        if *line == 0 && cost.round() > 0.0 {
            let names = path.iter().filter(|(_, _, line)| !line).map(|(_, name, _)| name.clone()).collect();
            *costs.entry(names).or_default() += cost.round();
        }
    }
    Ok(costs)
}

/// The lines are the places with their own cost, under their names.
fn folded(database: &Database, run: &RunInfo, metric: &str) -> Result<(), Failed> {
    let (bytes, lost) = written(by_name("folded"), database, run, metric)?;
    let text = String::from_utf8(bytes)?;
    let mut found = Stacks::new();
    for line in text.split_terminator('\n') {
        let (stack, cost) = line.rsplit_once(' ').ok_or_else(|| format!("no number in {line:?}"))?;
        ensure(!line.chars().any(char::is_control), || format!("{line:?}"))?;
        let names = stack.split(';').map(unfolded).collect::<Result<_, _>>()?;
        let cost: u64 = cost.parse()?;
        #[expect(clippy::cast_precision_loss, reason = "the figures were REAL before")]
        let cost = cost as f64;
        *found.entry(names).or_default() += cost;
    }
    let expected = own_costs(database, metric)?;
    ensure(found == expected, || format!("{found:?} instead of {expected:?}"))?;
    ensure(lost.contains_key("metric"), || format!("{lost:?}"))?;
    let lines = rows(database, "SELECT 1 FROM tree WHERE run_id = 1 AND metric = ?1 AND line IS NOT NULL", &[&metric])?;
    let told = lost.get("lines").copied().unwrap_or(0);
    ensure(told == lines.len() as u64, || format!("{told} lines are said to be lost, not {}", lines.len()))
}

/// Takes back what was done to a name, by the words of the page.
fn unfolded(frame: &str) -> Result<String, Failed> {
    let mut name = String::new();
    let mut rest = frame.chars();
    while let Some(character) = rest.next() {
        name.push(match (character, character == '\\') {
            (_, false) => character,
            _ => match rest.next() {
                Some('\\') => '\\',
                Some('n') => '\n',
                Some('r') => '\r',
                Some('x') => {
                    let digits: String = rest.by_ref().take(2).collect();
                    char::from(u8::from_str_radix(&digits, 16)?)
                }
                other => return Err(format!("{other:?} behind a backslash in {frame:?}").into()),
            },
        });
    }
    Ok(name)
}
