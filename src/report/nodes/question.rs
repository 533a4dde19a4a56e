//! What is asked of the nodes of a run.

use std::cell::OnceCell;

use hashbrown::{HashMap, HashSet};
use rusqlite::Connection;

use super::super::path::Operator;
use crate::base::error::Stop;

/// What is asked of the nodes of a run.
#[derive(Debug, Default)]
pub(in crate::report) struct NodeQuestion {
    /// The run; its first and last node are read from `runs`.
    pub(in crate::report) run: i64,
    /// Which costs.
    pub(in crate::report) costs: NodeCosts,
    /// What is left out.
    pub(in crate::report) filters: Filters,
    /// What is selected; nothing for the whole run.
    pub(in crate::report) path: Vec<Step>,
    /// The first function of the group of each function that is in one; `None` if each function is
    /// a group of its own.
    pub(in crate::report) groups: Option<HashMap<i64, i64>>,
    /// Asks to stop.
    pub(in crate::report) stop: Stop,
    /// The functions of the run that only hold others, once a pass has looked them up.
    pub(in crate::report) containers: OnceCell<HashMap<i64, ContainerKind>>,
}

/// What a container is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::report) enum ContainerKind {
    /// A thread.
    Thread,
    /// A process.
    Process,
    /// Another one.
    Other,
}

impl NodeQuestion {
    /// The functions of the run that only hold others: few, where there may be many functions.
    pub(super) fn containers(
        &self,
        connection: &Connection,
    ) -> rusqlite::Result<&HashMap<i64, ContainerKind>> {
        if let Some(containers) = self.containers.get() {
            return Ok(containers);
        }
        let sql = "SELECT f.function_id, f.kind
            FROM runs AS r
            CROSS JOIN function_info AS i ON i.metric_id = r.default_metric_id
            CROSS JOIN functions AS f ON f.function_id = i.function_id
            WHERE r.run_id = ?1 AND f.kind NOT IN ('function', 'pseudo')";
        let mut statement = connection.prepare(sql)?;
        let containers = statement.query_map([self.run], |row| {
            let kind = match row.get_ref(1)?.as_bytes().unwrap_or_default() {
                b"thread" => ContainerKind::Thread,
                b"process" => ContainerKind::Process,
                _ => ContainerKind::Other,
            };
            Ok((row.get(0)?, kind))
        })?;
        let containers = containers.collect::<rusqlite::Result<_>>()?;
        Ok(self.containers.get_or_init(|| containers))
    }
}

/// The costs of nodes that are asked for.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::report) struct NodeCosts {
    /// The metric.
    pub(in crate::report) metric: Stored,
    /// The metric that counts readings of the timer, if the run has one.
    pub(in crate::report) readings: Option<Stored>,
    /// ns to add for each reading; 0 for costs as they are stored.
    pub(in crate::report) shift: f64,
}

/// Where the costs of a metric are.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::report) struct Stored {
    /// Number of the metric.
    pub(in crate::report) metric: i64,
    /// Nodes hold them, because it is the default metric of the run; else `node_costs` does.
    pub(in crate::report) in_nodes: bool,
}

/// Filters: functions by number. `None` for a filter that is not given.
#[derive(Debug, Default)]
pub(in crate::report) struct Filters {
    /// Only what happened below these functions is kept.
    pub(in crate::report) focus: Option<HashSet<i64>>,
    /// What happened below these functions is left out.
    pub(in crate::report) ignore: Option<HashSet<i64>>,
    /// These functions are left out, and their cost goes to the nearest caller that is not.
    pub(in crate::report) hide: Option<HashSet<i64>>,
    /// Only what samples with one of these sets of labels cost is kept.
    pub(in crate::report) labels: Option<HashSet<i64>>,
}

impl Filters {
    /// Whether any is given.
    pub(in crate::report) fn any(&self) -> bool {
        self.focus.is_some()
            || self.ignore.is_some()
            || self.hide.is_some()
            || self.labels.is_some()
    }
}

/// A step of a path.
#[derive(Debug)]
pub(in crate::report) struct Step {
    /// How it goes on from the step before; that of the first step means nothing.
    pub(in crate::report) operator: Operator,
    /// The functions that its name means.
    pub(in crate::report) functions: HashSet<i64>,
}
