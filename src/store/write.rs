//! Writing a run: one transaction, rows appended in key order, nothing kept that could be written.

use std::path::PathBuf;
use std::sync::Arc;

use hashbrown::HashMap;
use rusqlite::{OptionalExtension, Transaction, params};
use sha2::{Digest, Sha256};

use super::{Database, StoreError, migrate, sources};
use crate::events::{FunctionId, MetricId};
use crate::input::Fingerprint;
use crate::source::Folder;
use crate::tree::{Batch, EdgeRow, Function, InfoRow, NodeRow, NoteRow, Place, Totals};

/// What is known of a run besides its rows.
#[derive(Clone, Debug)]
pub struct RunMeta {
    /// Name of the format.
    pub format: &'static str,
    /// Revision of the format's importer.
    pub revision: u32,
    /// Options of the format, as text.
    pub options: String,
    /// Name of the file, `-` for standard input.
    pub source_name: String,
    /// The file's bytes.
    pub fingerprint: Fingerprint,
    /// Replaces what the file calls itself.
    pub title: Option<String>,
    /// What the user says of the run.
    pub tags: Vec<(String, String)>,
    /// Store the run also if it is there already.
    pub again: bool,
    /// Where the source of its lines is, to be stored as it is now.
    pub source: Option<Arc<dyn Folder>>,
}

impl RunMeta {
    /// The run's identity: equal uid, equal rows. `repeat` counts the times that it was stored again.
    #[must_use]
    pub fn uid(&self, repeat: u32) -> String {
        let mut hash = Sha256::new();
        hash.update(self.fingerprint.sha256);
        hash.update(format!("\n{}\n{}\n{repeat}\n{}", self.format, self.revision, self.options));
        // 128 bits are enough for every run there will ever be.
        hex(&hash.finalize()[..16])
    }
}

#[expect(clippy::format_collect, reason = "32 bytes at most, once or twice per run: the plainest text wins")]
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What became of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is stored under this number.
    Stored(i64),
    /// It was there already, under this number; nothing has changed.
    AlreadyThere(i64),
}

impl Database {
    /// The run with this content, format and revision, if there is one.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn find_run(&self, meta: &RunMeta) -> Result<Option<i64>, StoreError> {
        let sql = "SELECT run_id FROM runs WHERE run_uid = ?1";
        let found = self.connection.query_row(sql, [meta.uid(0)], |row| row.get(0)).optional();
        found.map_err(|source| self.failed(source))
    }

    /// Whether some run's file has this size: only then can the same file be there already.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn has_source_of_size(&self, bytes: u64) -> Result<bool, StoreError> {
        let sql = "SELECT EXISTS (SELECT 1 FROM runs WHERE source_bytes = ?1)";
        let found = self.connection.query_row(sql, [integer(bytes)], |row| row.get(0));
        found.map_err(|source| self.failed(source))
    }

    /// Starts to write a run: waits for the lock, brings the schema up to date.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn begin_run(&mut self) -> Result<RunWriter<'_>, StoreError> {
        let path = self.path.clone();
        let transaction = self.begin()?;
        migrate(&transaction, &path)?;
        let sql = "SELECT MAX(
                     COALESCE((SELECT MAX(node_id) FROM nodes), 0),
                     COALESCE((SELECT MAX(last_node) FROM runs), 0)
                   ),
                   COALESCE((SELECT MAX(metric_id) FROM metrics), 0)";
        let bases = transaction.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)));
        let (nodes_before, metrics_before) =
            bases.map_err(|source| StoreError::Sqlite { path: path.clone(), source })?;
        Ok(RunWriter { transaction, path, nodes_before, metrics_before, function_ids: HashMap::new() })
    }
}

/// Writes one run. Dropped before [`RunWriter::finish`], it leaves the database as it was.
pub struct RunWriter<'d> {
    transaction: Transaction<'d>,
    path: PathBuf,
    nodes_before: i64,
    metrics_before: i64,
    function_ids: HashMap<FunctionId, i64>,
}

impl RunWriter<'_> {
    /// Writes rows.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn batch(&mut self, batch: &Batch) -> Result<(), StoreError> {
        let written = (|| {
            for (id, function) in &batch.functions {
                let stored = self.function(function)?;
                self.function_ids.insert(*id, stored);
            }
            self.nodes(&batch.nodes)?;
            self.costs(batch)
        })();
        written.map_err(|source| self.failed(source))
    }

    /// Writes what is known at the end, and makes the run visible. A run that is there already is not stored again, unless
    /// that is asked for.
    ///
    /// # Errors
    /// When the database cannot be written: then nothing has changed.
    pub fn finish(self, totals: &Totals, meta: &RunMeta) -> Result<Outcome, StoreError> {
        let path = self.path.clone();
        let failed = |source| StoreError::Sqlite { path: path.clone(), source };
        let written = (|| {
            let mut repeat = 0;
            while let Some(there) = self.run_with_uid(&meta.uid(repeat))? {
                if !meta.again {
                    return Ok(Outcome::AlreadyThere(there));
                }
                repeat += 1;
            }
            let run = self.run(totals, meta, &meta.uid(repeat))?;
            self.facts(run, totals, meta)?;
            self.functions(&totals.functions)?;
            self.lines(&totals.lines)?;
            self.edges(&totals.edges)?;
            self.function_nodes(run, totals.nodes)?;
            self.notes(run, &totals.notes)?;
            Ok(Outcome::Stored(run))
        })();
        let outcome = written.map_err(failed)?;
        let Outcome::Stored(run) = outcome else {
            return Ok(outcome);
        };
        if let Some(folder) = &meta.source {
            sources::store(&self.transaction, run, folder.as_ref()).map_err(failed)??;
        }
        self.transaction.commit().map_err(failed)?;
        Ok(outcome)
    }

    fn failed(&self, source: rusqlite::Error) -> StoreError {
        StoreError::Sqlite { path: self.path.clone(), source }
    }

    fn run_with_uid(&self, uid: &str) -> rusqlite::Result<Option<i64>> {
        let sql = "SELECT run_id FROM runs WHERE run_uid = ?1";
        self.transaction.query_row(sql, [uid], |row| row.get(0)).optional()
    }

    /// The function's row, made if no run has mentioned it before.
    fn function(&self, function: &Function) -> rusqlite::Result<i64> {
        let Function { kind, name, module, file, first_line, first_col } = function;
        let insert = "INSERT INTO functions (kind, name, module, file, first_line, first_col)
                      VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                      ON CONFLICT DO NOTHING";
        let key = params![kind.name(), name, module, file, first_line, first_col];
        if self.transaction.prepare_cached(insert)?.execute(key)? == 1 {
            return Ok(self.transaction.last_insert_rowid());
        }
        let select = "SELECT function_id FROM functions
                      WHERE kind = ?1 AND name = ?2 AND module = ?3 AND file = ?4 AND first_line = ?5 AND first_col = ?6";
        self.transaction.prepare_cached(select)?.query_row(key, |row| row.get(0))
    }

    fn nodes(&self, nodes: &[NodeRow]) -> rusqlite::Result<()> {
        let sql =
            "INSERT INTO nodes (node_id, up, size, outer_up, depth, function_id, file, line, col, calls, exclusive,
                                      cumulative)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
        let mut insert = self.transaction.prepare_cached(sql)?;
        for node in nodes {
            let place = node.place.as_ref();
            insert.execute(params![
                self.nodes_before + integer(node.node),
                node.up.map(integer),
                integer(node.size),
                node.outer_up.map(integer),
                node.depth,
                self.function_id(node.function),
                place.and_then(|place| place.file.as_deref()),
                place.map(|place| place.line),
                place.and_then(|place| (place.col != 0).then_some(place.col)),
                node.calls.map(integer),
                node.figures.exclusive,
                node.figures.cumulative,
            ])?;
        }
        Ok(())
    }

    fn costs(&self, batch: &Batch) -> rusqlite::Result<()> {
        let sql = "INSERT INTO node_costs (metric_id, node_id, exclusive, cumulative) VALUES (?1, ?2, ?3, ?4)";
        let mut insert = self.transaction.prepare_cached(sql)?;
        for cost in &batch.costs {
            let node = self.nodes_before + integer(cost.node);
            let metric = self.metric_id(cost.metric);
            insert.execute(params![metric, node, cost.figures.exclusive, cost.figures.cumulative])?;
        }
        Ok(())
    }

    fn run(&self, totals: &Totals, meta: &RunMeta, uid: &str) -> rusqlite::Result<i64> {
        let facts = &totals.facts;
        let nodes = (totals.nodes > 0).then(|| integer(totals.nodes));
        let sql = "INSERT INTO runs (run_uid, title, format, fidelity, source_name, source_sha256, source_bytes,
                                     tool_version, command, recorded_at, imported_at, timer_bias, bias_applied,
                                     default_metric_id, first_node, last_node, profdb_version)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10,
                           strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), ?11, ?12, ?13, ?14, ?15, ?16)";
        self.transaction.execute(
            sql,
            params![
                uid,
                meta.title.as_ref().or(facts.title.as_ref()),
                meta.format,
                facts.fidelity.name(),
                meta.source_name,
                hex(&meta.fingerprint.sha256),
                integer(meta.fingerprint.bytes),
                facts.tool_version,
                facts.command,
                facts.recorded_at,
                facts.timer_bias,
                facts.bias_applied,
                facts.default_metric.map(|metric| self.metric_id(metric)),
                nodes.map(|_| self.nodes_before + 1),
                nodes.map(|nodes| self.nodes_before + nodes),
                env!("CARGO_PKG_VERSION"),
            ],
        )?;
        Ok(self.transaction.last_insert_rowid())
    }

    fn facts(&self, run: i64, totals: &Totals, meta: &RunMeta) -> rusqlite::Result<()> {
        let sql =
            "INSERT INTO metrics (metric_id, run_id, name, unit, position, total) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let mut insert = self.transaction.prepare(sql)?;
        for (position, metric) in (1_i64..).zip(&totals.metrics) {
            let id = self.metrics_before + position;
            insert.execute(params![id, run, metric.name, metric.unit.name(), position, metric.total])?;
        }
        let sql = "INSERT INTO run_properties (run_id, key, value) VALUES (?1, ?2, ?3)";
        let mut insert = self.transaction.prepare(sql)?;
        for (key, value) in &totals.facts.properties {
            insert.execute(params![run, key, value])?;
        }
        let sql = "INSERT OR REPLACE INTO run_tags (run_id, key, value) VALUES (?1, ?2, ?3)";
        let mut insert = self.transaction.prepare(sql)?;
        for (key, value) in &meta.tags {
            insert.execute(params![run, key, value])?;
        }
        Ok(())
    }

    fn functions(&self, rows: &[InfoRow]) -> rusqlite::Result<()> {
        let sql = "INSERT INTO function_info (metric_id, function_id, calls, primitive, exclusive, cumulative, seen, recorded)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        let mut insert = self.transaction.prepare(sql)?;
        let key = |row: &InfoRow| (self.metric_id(row.metric), self.function_id(row.function));
        for row in sorted_by_key(rows, key) {
            let (metric, function) = key(row);
            let figures = &row.figures;
            insert.execute(params![
                metric,
                function,
                figures.calls.map(integer),
                figures.primitive.map(integer),
                figures.exclusive,
                figures.cumulative,
                figures.seen,
                figures.recorded,
            ])?;
        }
        Ok(())
    }

    fn lines(&self, rows: &[InfoRow]) -> rusqlite::Result<()> {
        let sql =
            "INSERT INTO line_info (metric_id, function_id, file, line, col, calls, exclusive, cumulative, recorded)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        let mut insert = self.transaction.prepare(sql)?;
        let key = |row: &InfoRow| {
            let Place { file, line, col } = row.place.clone().unwrap_or(Place { file: None, line: 0, col: 0 });
            (self.metric_id(row.metric), self.function_id(row.function), file, line, col)
        };
        for row in sorted_by_key(rows, key) {
            let (metric, function, file, line, col) = key(row);
            let figures = &row.figures;
            insert.execute(params![
                metric,
                function,
                file.as_deref().unwrap_or_default(),
                line,
                col,
                figures.calls.map(integer),
                figures.exclusive,
                figures.cumulative,
                figures.recorded,
            ])?;
        }
        Ok(())
    }

    fn edges(&self, rows: &[EdgeRow]) -> rusqlite::Result<()> {
        let sql = "INSERT INTO edges (metric_id, callee_id, caller_id, caller_line, caller_col, kind, calls, exclusive,
                                      cumulative, outermost, seen)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
        let mut insert = self.transaction.prepare(sql)?;
        let key = |row: &EdgeRow| {
            let caller = row.caller.map_or(0, |caller| self.function_id(caller));
            let line = row.caller_line.map_or(-1, i64::from);
            let callee = self.function_id(row.callee);
            (self.metric_id(row.metric), callee, caller, line, row.caller_col, row.kind.name())
        };
        for row in sorted_by_key(rows, key) {
            let (metric, callee, caller, line, col, kind) = key(row);
            insert.execute(params![
                metric,
                callee,
                caller,
                line,
                col,
                kind,
                row.calls.map(integer),
                row.exclusive,
                row.cumulative,
                row.outermost,
                row.seen,
            ])?;
        }
        Ok(())
    }

    /// By a sort inside SQLite, which goes to a temporary file when it is large: memory does not grow with the tree.
    fn function_nodes(&self, run: i64, nodes: u64) -> rusqlite::Result<()> {
        let sql = "INSERT INTO function_nodes (run_id, function_id, node_id)
                   SELECT ?1, function_id, node_id
                   FROM nodes
                   WHERE node_id > ?2 AND node_id <= ?3 AND line IS NULL
                   ORDER BY function_id, node_id";
        let last = self.nodes_before + integer(nodes);
        self.transaction.execute(sql, params![run, self.nodes_before, last])?;
        Ok(())
    }

    fn notes(&self, run: i64, notes: &[NoteRow]) -> rusqlite::Result<()> {
        let sql = "INSERT INTO notes (run_id, severity, byte, line, message) VALUES (?1, ?2, ?3, ?4, ?5)";
        let mut insert = self.transaction.prepare(sql)?;
        for note in notes {
            let byte = note.position.map(|position| integer(position.byte));
            let line = note.position.and_then(|position| position.line).map(integer);
            insert.execute(params![run, note.severity.name(), byte, line, note.message])?;
        }
        Ok(())
    }

    fn metric_id(&self, metric: MetricId) -> i64 {
        self.metrics_before + 1 + i64::from(metric.0)
    }

    fn function_id(&self, function: FunctionId) -> i64 {
        *self.function_ids.get(&function).expect("the builder sends functions before it mentions them")
    }
}

/// Rows in the order of their keys: pages fill one after the other.
fn sorted_by_key<T, K: Ord>(rows: &[T], key: impl Fn(&T) -> K) -> Vec<&T> {
    let mut sorted: Vec<&T> = rows.iter().collect();
    sorted.sort_by_cached_key(|row| key(row));
    sorted
}

/// Numbers of nodes, calls and bytes fit in 63 bits: the builder refuses more calls, and nothing else gets there.
fn integer(value: u64) -> i64 {
    i64::try_from(value).expect("less than 2^63")
}
