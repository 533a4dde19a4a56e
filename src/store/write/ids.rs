//! Ids in the database, and which of them what a run has numbered itself gets there.

use prefetch_index::prefetch_index;
use rusqlite::types::{FromSql, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, Row};

use super::columns::integer;
use crate::events::{FunctionId, LabelsId, MetricId};
use crate::identity::IdentityKey;

/// How many rows ahead memory is asked for what rows are made from.
pub(super) const ROWS_AHEAD: usize = 16;

/// Makes a type for ids of one column.
macro_rules! stored_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(in crate::store) struct $name(pub(in crate::store) i64);

        impl ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                self.0.to_sql()
            }
        }

        impl FromSql for $name {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                i64::column_result(value).map(Self)
            }
        }
    };
}

stored_id! {
    /// `run_id`.
    StoredRun
}
stored_id! {
    /// `metric_id`.
    StoredMetric
}
stored_id! {
    /// `function_id`.
    StoredFunction
}
stored_id! {
    /// `node_id`.
    StoredNode
}
stored_id! {
    /// `set_id` of a set of labels.
    StoredLabels
}

/// The first run of a database.
pub(super) const FIRST_RUN: StoredRun = StoredRun(1);

impl From<LabelsId> for StoredLabels {
    /// Sets are numbered from 0 in the run, from 1 in the database.
    fn from(labels: LabelsId) -> Self {
        Self(i64::from(labels.0) + 1)
    }
}

/// Which ids nodes, metrics and functions of a run get in the database.
#[derive(Default)]
pub(in crate::store) struct Ids {
    /// The last node and the last metric before the run.
    nodes_before: i64,
    metrics_before: i64,
    /// By number in the run.
    functions: Vec<StoredFunction>,
    /// Their identities, by number in the run.
    identities: Vec<IdentityKey>,
}

/// Numbers go up by one for each node: only a damaged database has larger ones, after which a run could leave 64 bits.
const MOST_BEFORE: i64 = i64::MAX / 2;

/// Marks a function that no row has mentioned.
const NOT_MENTIONED: StoredFunction = StoredFunction(0);

impl Ids {
    /// Ids after all that a database has.
    pub(in crate::store) fn after(connection: &Connection) -> rusqlite::Result<Self> {
        let sql = "SELECT MAX(
                     COALESCE((SELECT MAX(node_id) FROM nodes), 0),
                     COALESCE((SELECT MAX(last_node) FROM runs), 0)
                   ),
                   COALESCE((SELECT MAX(metric_id) FROM metrics), 0)";
        let read = |row: &Row<'_>| {
            Ok(Self {
                nodes_before: row.get(0)?,
                metrics_before: row.get(1)?,
                functions: Vec::new(),
                identities: Vec::new(),
            })
        };
        let ids = connection.prepare_cached(sql)?.query_row([], read)?;
        if ids.nodes_before.max(ids.metrics_before) > MOST_BEFORE {
            let what = "the numbers of nodes or metrics leave no room for another run";
            let damaged = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
            return Err(rusqlite::Error::SqliteFailure(
                damaged,
                Some(what.to_owned()),
            ));
        }
        Ok(ids)
    }

    /// Goes on to the run after one that has so many nodes and metrics.
    pub(super) fn next_run(&mut self, nodes: u64, metrics: usize) {
        self.nodes_before += integer(nodes);
        self.metrics_before += integer(metrics as u64);
    }

    /// Goes on to a run that has other functions.
    pub(super) fn forget_functions(&mut self) {
        self.functions.clear();
        self.identities.clear();
    }

    /// Remembers the id of a function, and its identity.
    pub(super) fn learn(&mut self, function: FunctionId, id: StoredFunction, key: IdentityKey) {
        let at = function.0 as usize;
        if self.functions.len() <= at {
            self.functions.resize(at + 1, NOT_MENTIONED);
            self.identities.resize(at + 1, IdentityKey::default());
        }
        self.functions[at] = id;
        self.identities[at] = key;
    }

    /// The identity of a function.
    pub(super) fn identity(&self, function: FunctionId) -> &IdentityKey {
        &self.identities[function.0 as usize]
    }

    /// The id of a node, which the run numbers from 1.
    pub(in crate::store) fn node(&self, node: u64) -> StoredNode {
        StoredNode(self.nodes_before + integer(node))
    }

    /// The id of a metric.
    pub(in crate::store) fn metric(&self, metric: MetricId) -> StoredMetric {
        StoredMetric(self.metrics_before + 1 + i64::from(metric.0))
    }

    /// The ids of all metrics, in their order.
    pub(super) fn metrics(&self) -> impl Iterator<Item = StoredMetric> {
        (self.metrics_before + 1..).map(StoredMetric)
    }

    /// The id of a function. The builder sends functions before rows that mention them.
    pub(super) fn function(&self, function: FunctionId) -> StoredFunction {
        self.functions[function.0 as usize]
    }

    /// Asks memory for what [`Self::function`] will read.
    pub(super) fn prefetch(&self, function: FunctionId) {
        prefetch_index(&self.functions, function.0 as usize);
    }

    /// The functions that rows have mentioned, in the order of their ids.
    pub(super) fn mentioned(&self) -> Vec<(StoredFunction, FunctionId)> {
        // A later run finds some of its functions in the database, under numbers in no order of its
        // own: trees by function need the order of the database.
        let all = self.functions.iter().copied().zip((0..).map(FunctionId));
        let mut mentioned: Vec<_> = all.filter(|(id, _)| *id != NOT_MENTIONED).collect();
        mentioned.sort_unstable();
        mentioned
    }
}
