//! What there is to recount: runs with their metrics, and functions.

use std::collections::BTreeMap;

use hashbrown::{DefaultHashBuilder, HashMap};
use rusqlite::Connection;

use super::doubt::{Doubt, expect, expected};

/// Metrics of a run, at most: there are sums in memory for each.
const MAX_METRICS: usize = 64;

/// A run.
pub(super) struct Run {
    pub(super) id: i64,
    pub(super) is_tree: bool,
    /// Position of the default metric.
    pub(super) default_metric: Option<usize>,
    /// How many functions it says that it has, containers left out.
    pub(super) functions: i64,
    /// The first node and the last.
    pub(super) nodes: Option<(i64, i64)>,
    pub(super) metrics: Vec<Metric>,
}

/// A metric.
pub(super) struct Metric {
    pub(super) id: i64,
    pub(super) total: f64,
    /// The total is the sum of the roots.
    pub(super) is_counted: bool,
}

/// The runs in the order of their nodes, which are those of one run each. Metrics are numbered from
/// 1 on, and one of them at most has readings of the timer, which are counts.
pub(super) fn runs(connection: &Connection) -> Result<Vec<Run>, Doubt> {
    let mut metrics = metrics(connection)?;
    let sql =
        "SELECT run_id, fidelity = 'tree', default_metric_id, first_node, last_node, functions
               FROM runs
               ORDER BY first_node, run_id";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    let mut runs = Vec::new();
    let mut last_before = None;
    while let Some(row) = rows.next()? {
        let id = row.get(0)?;
        let metrics = metrics.remove(&id).unwrap_or_default();
        expect(metrics.len() <= MAX_METRICS)?;
        let default_metric: Option<i64> = row.get(2)?;
        let nodes = match (row.get(3)?, row.get(4)?) {
            (Some(first), Some(last)) => {
                expect(0 < first && first <= last && last < i64::MAX)?;
                expect(last_before < Some(first))?;
                last_before = Some(last);
                Some((first, last))
            }
            (None, None) => None,
            _ => return Err(Doubt::Unexpected),
        };
        runs.push(Run {
            id,
            is_tree: row.get(1)?,
            default_metric: match default_metric {
                Some(id) => Some(expected(metrics.iter().position(|metric| metric.id == id))?),
                None => None,
            },
            functions: row.get(5)?,
            nodes,
            metrics,
        });
    }
    expect(metrics.is_empty())?;
    Ok(runs)
}

/// The metrics of each run.
fn metrics(connection: &Connection) -> Result<BTreeMap<i64, Vec<Metric>>, Doubt> {
    let sql =
        "SELECT run_id, metric_id, total, total_source = 'counted', timer_readings, unit, position
               FROM metrics
               ORDER BY run_id, position";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    let mut metrics: BTreeMap<i64, Vec<Metric>> = BTreeMap::new();
    let mut timer_of = None;
    while let Some(row) = rows.next()? {
        let run = row.get(0)?;
        let of_run = metrics.entry(run).or_default();
        of_run.push(Metric {
            id: row.get(1)?,
            total: row.get(2)?,
            is_counted: row.get(3)?,
        });
        let timer_readings: i64 = row.get(4)?;
        if timer_readings != 0 {
            let unit: String = row.get(5)?;
            expect(timer_readings == 1 && unit == "count" && timer_of.replace(run) != Some(run))?;
        }
        expect(usize::try_from(row.get::<_, i64>(6)?).is_ok_and(|at| at == of_run.len()))?;
    }
    Ok(metrics)
}

/// The functions of the dictionary.
pub(super) struct Functions {
    numbers: HashMap<i64, u32, DefaultHashBuilder>,
    all: Vec<Function>,
}

struct Function {
    /// It only holds others: a thread, a process.
    is_container: bool,
    /// A run has it.
    is_listed: bool,
}

impl Functions {
    /// Reads all of them.
    pub(super) fn read(connection: &Connection) -> Result<Self, Doubt> {
        let sql = "SELECT function_id, kind NOT IN ('function', 'pseudo') FROM functions ORDER BY function_id";
        let mut statement = connection.prepare(sql)?;
        let mut rows = statement.query([])?;
        let (mut numbers, mut all) = (HashMap::default(), Vec::new());
        while let Some(row) = rows.next()? {
            numbers.insert(row.get(0)?, expected(u32::try_from(all.len()).ok())?);
            all.push(Function {
                is_container: row.get(1)?,
                is_listed: false,
            });
        }
        Ok(Self { numbers, all })
    }

    /// The number of a function that is there.
    pub(super) fn number(&self, id: i64) -> Result<u32, Doubt> {
        expected(self.numbers.get(&id).copied())
    }

    pub(super) fn is_container(&self, function: u32) -> bool {
        self.all[function as usize].is_container
    }

    /// Remembers that a run has a function.
    pub(super) fn list(&mut self, function: u32) {
        self.all[function as usize].is_listed = true;
    }

    /// Whether each function is of some run.
    pub(super) fn are_listed(&self) -> bool {
        self.all.iter().all(|function| function.is_listed)
    }
}
