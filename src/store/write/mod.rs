//! Writing a run: one transaction, rows appended in key order, nothing kept that could be written.

use std::sync::Arc;

use prefetch_index::prefetch_index;
use rusqlite::{Connection, Params, ToSql, params};

use super::identity::{RunMeta, hex};
use super::{Cause, Database, StoreError, bring_up_to_date, sources};
use crate::events::{EdgeKind, FunctionId, LabelsId, MetricId};
use crate::profile::{
    Batch, CostRow, EdgeRow, Figures, Function, InfoRow, LabelCostRow, LabelText, NodeRow, NoteRow,
    Rows, Totals,
};
use pages::{Bulk, End, FIRST_RUN};
use postings::Places;
use segment::Segment;

/// What became of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is stored under this number.
    Stored(i64),
    /// It was there already, under this number; nothing has changed.
    AlreadyThere(i64),
}

impl Database {
    /// The run with this content, format and revision, and with the title and tags that are given,
    /// if there is one.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn find_run(&self, meta: &RunMeta) -> Result<Option<i64>, StoreError> {
        meta.stored(&self.connection, 0)
            .map_err(|source| self.failed(source))
    }

    /// Whether some run's file has this size: only then can the same file be there already.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn has_source_of_size(&self, bytes: u64) -> Result<bool, StoreError> {
        let sql = "SELECT EXISTS (SELECT 1 FROM runs WHERE source_bytes = ?1)";
        let found = self
            .connection
            .query_row(sql, [integer(bytes)], |row| row.get(0));
        found.map_err(|source| self.failed(source))
    }

    /// Starts to write a run: waits for the lock, brings the schema up to date. A new file gets its
    /// rows as pages.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn begin_run(&mut self) -> Result<RunWriter<'_>, StoreError> {
        let begun = self
            .claim
            .as_ref()
            .map(|claim| Bulk::new(&self.connection, claim.file()?, true));
        let bulk = begun
            .transpose()
            .map_err(|cause: Cause| self.failed(cause))?
            .map(Box::new);
        let is_new = bulk.is_some();
        let (ids, places) = (Ids::default(), Places::default());
        let mut writer = RunWriter {
            database: self,
            bulk,
            segment: None,
            has_rows: false,
            ids,
            places,
        };
        if !is_new {
            writer.begin_sql()?;
        }
        Ok(writer)
    }
}

/// Rows in the first batch of a run that is worth a segment. A shorter run is there sooner by SQL.
const ROWS_FOR_SEGMENT: usize = 2000;

/// Writes one run. Dropped before [`RunWriter::finish`], it leaves the database as it was.
pub struct RunWriter<'d> {
    database: &'d mut Database,
    /// Writes the nodes as pages; else they go through SQL, in a transaction.
    bulk: Option<Box<Bulk>>,
    /// Where the nodes go instead of the database, until the run is whole.
    segment: Option<Segment>,
    /// Whether there has been a batch.
    has_rows: bool,
    ids: Ids,
    places: Places,
}

/// Which numbers the database gives to what a run has numbered itself.
#[derive(Default)]
pub(super) struct Ids {
    nodes_before: i64,
    metrics_before: i64,
    /// By number in the run; 0 for those that nothing has mentioned.
    functions: Vec<i64>,
}

impl Ids {
    pub(super) fn learn(&mut self, function: FunctionId, id: i64) {
        let at = function.0 as usize;
        if self.functions.len() <= at {
            self.functions.resize(at + 1, 0);
        }
        self.functions[at] = id;
    }

    /// Behind all that a database has.
    pub(super) fn behind(connection: &Connection) -> rusqlite::Result<Self> {
        let sql = "SELECT MAX(
                     COALESCE((SELECT MAX(node_id) FROM nodes), 0),
                     COALESCE((SELECT MAX(last_node) FROM runs), 0)
                   ),
                   COALESCE((SELECT MAX(metric_id) FROM metrics), 0)";
        let (nodes_before, metrics_before) =
            connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(Self {
            nodes_before,
            metrics_before,
            functions: Vec::new(),
        })
    }

    pub(super) fn node(&self, node: u64) -> i64 {
        self.nodes_before + integer(node)
    }

    pub(super) fn metric(&self, metric: MetricId) -> i64 {
        self.metrics_before + 1 + i64::from(metric.0)
    }

    /// The numbers of all metrics, in their order.
    pub(super) fn metrics(&self) -> impl Iterator<Item = i64> {
        self.metrics_before + 1..
    }

    /// The functions that something has mentioned, in the order of their numbers in the database:
    /// these, and those in the run.
    pub(super) fn mentioned(&self) -> Vec<(i64, FunctionId)> {
        let all = self.functions.iter().copied().zip((0..).map(FunctionId));
        let mut mentioned: Vec<_> = all.filter(|(id, _)| *id != 0).collect();
        mentioned.sort_unstable();
        mentioned
    }

    /// Says that a function will be asked for soon.
    pub(super) fn prefetch(&self, function: FunctionId) {
        prefetch_index(&self.functions, function.0 as usize);
    }

    /// The builder sends functions before it mentions them.
    pub(super) fn function(&self, function: FunctionId) -> i64 {
        self.functions[function.0 as usize]
    }
}

impl RunWriter<'_> {
    /// Writes rows.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn batch(&mut self, batch: &mut Batch) -> Result<(), StoreError> {
        self.places.learn(&batch.nodes);
        self.rows(batch)
            .map_err(|cause| self.database.failed(cause))?;
        if self.bulk.as_ref().is_some_and(|bulk| bulk.is_overtaxed()) {
            self.leave_bulk(None)?;
        }
        Ok(())
    }

    fn rows(&mut self, batch: &mut Batch) -> Result<(), Cause> {
        let is_first = !std::mem::replace(&mut self.has_rows, true);
        if is_first && self.bulk.is_none() && batch.nodes.len() >= ROWS_FOR_SEGMENT {
            self.begin_segment()?;
        }
        let is_new = self.segment.is_none();
        match &mut self.bulk {
            Some(bulk) if is_new => Ok(bulk.batch(batch, &mut self.ids)?),
            _ => {
                for (id, function) in batch.functions.drain(..) {
                    let stored = self.function(&function)?;
                    self.ids.learn(id, stored);
                }
                if let Some(bulk) = &mut self.bulk {
                    return Ok(bulk.batch(batch, &mut self.ids)?);
                }
                self.nodes(&batch.nodes)?;
                Ok(self.costs(&batch.costs)?)
            }
        }
    }

    fn begin_segment(&mut self) -> Result<(), Cause> {
        self.segment = Segment::new(self.connection())?;
        if let Some(segment) = &self.segment {
            self.bulk = Some(Box::new(Bulk::new(
                segment.connection(),
                segment.file()?,
                false,
            )?));
        }
        Ok(())
    }

    /// Writes what is known at the end, and makes the run visible. A run that is there already is
    /// not stored again, unless that is asked for.
    ///
    /// # Errors
    /// When the database cannot be written: then nothing has changed.
    pub fn finish(mut self, totals: &Totals, meta: &RunMeta) -> Result<Outcome, StoreError> {
        let is_new = self.bulk.is_some() && self.segment.is_none();
        if is_new {
            self.totals(FIRST_RUN, totals, meta)?;
        }
        let finished = (|| {
            let mut repeat = 0;
            while let Some(there) = meta.stored(self.connection(), repeat)? {
                if !meta.again {
                    return Ok(Outcome::AlreadyThere(there));
                }
                repeat += 1;
            }
            let run = self.run(totals, meta, &meta.uid(repeat))?;
            self.facts(run, totals, meta)?;
            self.notes(run, &totals.notes)?;
            self.labels(run, totals)?;
            Ok(Outcome::Stored(run))
        })();
        let outcome = finished.map_err(|cause: Cause| self.database.failed(cause))?;
        let Outcome::Stored(run) = outcome else {
            // Nothing is committed, and what is said of this file has to be true of the one that is
            // there.
            self.database.is_in_place()?;
            return Ok(outcome);
        };
        if !is_new {
            self.totals(run, totals, meta)?;
        }
        if let Some(folder) = &meta.source {
            let stored = sources::store(self.connection(), run, folder.as_ref());
            stored.map_err(|source| self.database.failed(source))??;
        }
        let is_moved = self.leave_segment()?;
        self.database.commit()?;
        if is_moved {
            self.database.reopen()?;
        }
        match self.database.publish() {
            Err(error) if error.is_there_by_now() => self.database.add_to_what_is_there(meta),
            published => published.map(|()| outcome),
        }
    }

    /// Writes what has been added up.
    fn totals(&mut self, run: i64, totals: &Totals, meta: &RunMeta) -> Result<(), StoreError> {
        let has_bulk = self.bulk.is_some();
        // Who looks for the source of the lines does so by SQL, which does not see what is in a
        // segment.
        let with_bulk = has_bulk && (self.segment.is_none() || meta.source.is_none());
        self.leave_bulk(Some((run, with_bulk.then_some(totals))))?;
        if with_bulk {
            return Ok(());
        }
        let written = (|| {
            if !has_bulk {
                self.function_nodes(run)?;
            }
            self.functions(&totals.functions)?;
            self.lines(&totals.lines)?;
            self.label_costs(&totals.label_costs)?;
            Ok(self.edges(&totals.edges)?)
        })();
        written.map_err(|cause: Cause| self.database.failed(cause))
    }

    /// Goes on with SQL, beginning with what the pages have left out. At the end, `run` is the
    /// number of the run, with what is to be written as pages besides its nodes.
    fn leave_bulk(&mut self, run: Option<(i64, Option<&Totals>)>) -> Result<(), StoreError> {
        let Some(bulk) = self.bulk.take() else {
            return Ok(());
        };
        let end = run.map(|(run, totals)| End {
            run,
            places: &self.places,
            totals,
        });
        let rest = bulk
            .finish(end.as_ref(), &self.ids)
            .map_err(|source| self.database.failed(source))?;
        match &self.segment {
            Some(segment) => {
                let begun = segment.connection().execute_batch("BEGIN");
                begun.map_err(|source| self.database.failed(source))?;
            }
            None => self.begin_sql()?,
        }
        let inserted = self
            .nodes(&rest.nodes)
            .and_then(|()| self.costs(&rest.costs));
        inserted.map_err(|source| self.database.failed(source))
    }

    /// Puts the rows of the segment into the database, if there is one.
    fn leave_segment(&mut self) -> Result<bool, StoreError> {
        let Some(segment) = self.segment.take() else {
            return Ok(false);
        };
        self.database.is_untouched()?;
        // From here on, nobody else reads: SQLite has room for all pages.
        self.database.wait(|| self.connection().cache_flush())?;
        let moved = (|| {
            segment.connection().execute_batch("COMMIT")?;
            segment.move_into(self.connection())
        })();
        moved.map_err(|cause: Cause| self.database.failed(cause))?;
        Ok(true)
    }

    fn begin_sql(&mut self) -> Result<(), StoreError> {
        self.database.begin()?;
        let begun = (|| {
            bring_up_to_date(self.connection())?;
            if self.database.claim.is_some() {
                // The first run: its own numbers hold.
                return Ok(());
            }
            let Ids {
                nodes_before,
                metrics_before,
                ..
            } = Ids::behind(self.connection())?;
            (self.ids.nodes_before, self.ids.metrics_before) = (nodes_before, metrics_before);
            Ok(())
        })();
        begun.map_err(|cause: Cause| self.database.failed(cause))
    }

    fn connection(&self) -> &Connection {
        &self.database.connection
    }

    /// Where nodes and their costs go.
    fn nodes_connection(&self) -> &Connection {
        self.segment
            .as_ref()
            .map_or(self.connection(), Segment::connection)
    }

    /// The function's row, made if no run has mentioned it before.
    fn function(&self, function: &Function) -> rusqlite::Result<i64> {
        let Function {
            kind,
            name,
            raw_name,
            module,
            file,
            first_line,
            first_col,
        } = function;
        let row = params![
            kind.name(),
            name,
            module,
            file,
            first_line,
            first_col,
            raw_name
        ];
        let key = params![kind.name(), name, module, file, first_line, first_col];
        function_id(self.connection(), row, key)
    }

    fn nodes(&self, nodes: &[NodeRow]) -> rusqlite::Result<()> {
        let sql = "INSERT INTO nodes (node_id, up, size, depth, function_id, calls, exclusive, line, cumulative_other,
                                      outer_up, col, file)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
        let mut insert = self.nodes_connection().prepare_cached(sql)?;
        for node in nodes {
            let place = node.place.as_ref();
            insert.execute(params![
                self.ids.node(node.node),
                node.up.map(integer),
                integer(node.size),
                node.depth,
                self.ids.function(node.function),
                node.calls.map(integer),
                node.figures.exclusive,
                place.map(|place| place.line),
                cumulative_other(node.figures),
                node.outer_up.map(integer),
                place.and_then(|place| (place.col != 0).then_some(place.col)),
                place.and_then(|place| place.file.as_deref()),
            ])?;
        }
        Ok(())
    }

    fn costs(&self, costs: &[CostRow]) -> rusqlite::Result<()> {
        let sql = "INSERT INTO node_costs (metric_id, node_id, exclusive, cumulative_other) VALUES (?1, ?2, ?3, ?4)";
        let mut insert = self.nodes_connection().prepare_cached(sql)?;
        for cost in costs {
            let (metric, node) = (self.ids.metric(cost.metric), self.ids.node(cost.node));
            insert.execute(params![
                metric,
                node,
                cost.figures.exclusive,
                cumulative_other(cost.figures)
            ])?;
        }
        Ok(())
    }

    fn run(&self, totals: &Totals, meta: &RunMeta, uid: &str) -> rusqlite::Result<i64> {
        let facts = &totals.facts;
        let nodes = (totals.nodes > 0).then_some(totals.nodes);
        let sql = "INSERT INTO runs (run_uid, title, format, fidelity, source_name, source_sha256, source_bytes,
                                     tool_version, command, recorded_at, imported_at, timer_bias, bias_applied,
                                     default_metric_id, first_node, last_node, profdb_version)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10,
                           strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), ?11, ?12, ?13, ?14, ?15, ?16)";
        self.connection().execute(
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
                facts.default_metric.map(|metric| self.ids.metric(metric)),
                nodes.map(|_| self.ids.node(1)),
                nodes.map(|nodes| self.ids.node(nodes)),
                env!("CARGO_PKG_VERSION"),
            ],
        )?;
        Ok(self.connection().last_insert_rowid())
    }

    fn facts(&self, run: i64, totals: &Totals, meta: &RunMeta) -> rusqlite::Result<()> {
        let sql = "INSERT INTO metrics (metric_id, run_id, name, unit, position, total, total_source, timer_readings)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        let mut insert = self.connection().prepare(sql)?;
        let timer = totals
            .facts
            .timer_readings
            .map(|metric| self.ids.metric(metric));
        for (position, metric) in (1_i64..).zip(&totals.metrics) {
            let id = self.ids.metrics_before + position;
            let source = metric.total_source.name();
            let is_timer = timer == Some(id);
            insert.execute(params![
                id,
                run,
                metric.name,
                metric.unit.name(),
                position,
                metric.total,
                source,
                is_timer
            ])?;
        }
        let sql = "INSERT INTO run_properties (run_id, key, value) VALUES (?1, ?2, ?3)";
        let mut insert = self.connection().prepare(sql)?;
        for (key, value) in &totals.facts.properties {
            insert.execute(params![run, key, value])?;
        }
        let sql = "INSERT INTO run_tags (run_id, key, value) VALUES (?1, ?2, ?3)";
        let mut insert = self.connection().prepare(sql)?;
        for (key, value) in meta.stored_tags() {
            insert.execute(params![run, key, value])?;
        }
        Ok(())
    }

    fn functions(&self, rows: &Rows<InfoRow>) -> rusqlite::Result<()> {
        let sql = "INSERT INTO function_info (metric_id, function_id, calls, primitive, exclusive, cumulative, seen, recorded)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        let mut insert = self.connection().prepare(sql)?;
        for ((metric, function), row) in rows.sorted_by_key(|row| info_key(row, &self.ids)) {
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

    fn lines(&self, rows: &Rows<InfoRow>) -> rusqlite::Result<()> {
        let sql =
            "INSERT INTO line_info (metric_id, function_id, file, line, col, calls, exclusive, cumulative, recorded)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        let mut insert = self.connection().prepare(sql)?;
        for ((metric, function, file, line, col), row) in
            rows.sorted_by_key(|row| line_key(row, &self.ids))
        {
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

    fn edges(&self, rows: &Rows<EdgeRow>) -> rusqlite::Result<()> {
        let sql = "INSERT INTO edges (metric_id, callee_id, caller_id, caller_line, caller_col, back, calls, exclusive,
                                      cumulative, outermost_other, seen_other)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
        let mut insert = self.connection().prepare(sql)?;
        for (key, row) in rows.sorted_by_key(|row| edge_key(row, &self.ids)) {
            let EdgeKey {
                metric,
                callee,
                caller,
                line,
                col,
                back,
            } = key;
            insert.execute(params![
                metric,
                callee,
                caller,
                line,
                col,
                back,
                row.calls.map(integer),
                row.exclusive,
                row.cumulative,
                other(row.outermost, row.cumulative),
                other(row.seen, row.cumulative),
            ])?;
        }
        Ok(())
    }

    fn function_nodes(&self, run: i64) -> rusqlite::Result<()> {
        let sql = "INSERT INTO function_nodes (run_id, function_id, node_id) VALUES (?1, ?2, ?3)";
        let mut insert = self.connection().prepare(sql)?;
        self.places.by_function(&self.ids, |function, nodes| {
            nodes.iter().try_for_each(|node| {
                insert
                    .execute([run, function, self.ids.node(*node)])
                    .map(drop)
            })
        })
    }

    fn labels(&self, run: i64, totals: &Totals) -> rusqlite::Result<()> {
        let sql =
            "INSERT INTO label_sets (run_id, set_id, key, value, unit) VALUES (?1, ?2, ?3, ?4, ?5)";
        let mut insert = self.connection().prepare(sql)?;
        for label in &totals.labels {
            let value: &dyn ToSql = match &label.value {
                LabelText::Number(number) => number,
                LabelText::Text(text) => text,
            };
            insert.execute(params![
                run,
                label_set(label.labels),
                label.key,
                value,
                label.unit
            ])?;
        }
        Ok(())
    }

    fn label_costs(&self, costs: &[LabelCostRow]) -> rusqlite::Result<()> {
        let sql = "INSERT INTO node_labels (metric_id, node_id, set_id, exclusive) VALUES (?1, ?2, ?3, ?4)";
        let mut insert = self.connection().prepare(sql)?;
        for cost in costs {
            let (metric, node) = (self.ids.metric(cost.metric), self.ids.node(cost.node));
            insert.execute(params![
                metric,
                node,
                label_set(cost.labels),
                cost.exclusive
            ])?;
        }
        Ok(())
    }

    fn notes(&self, run: i64, notes: &[NoteRow]) -> rusqlite::Result<()> {
        let sql =
            "INSERT INTO notes (run_id, severity, byte, line, message) VALUES (?1, ?2, ?3, ?4, ?5)";
        let mut insert = self.connection().prepare(sql)?;
        for note in notes {
            let byte = note.position.map(|position| integer(position.byte));
            let line = note
                .position
                .and_then(|position| position.line)
                .map(integer);
            insert.execute(params![run, note.severity.name(), byte, line, note.message])?;
        }
        Ok(())
    }
}

impl Drop for RunWriter<'_> {
    fn drop(&mut self) {
        self.database.end();
    }
}

/// The number of a function, whose row is made if there is none: kind, name, module, file, line and
/// column of the definition, raw name; the key is all but the last.
pub(super) fn function_id(
    connection: &Connection,
    row: impl Params,
    key: impl Params,
) -> rusqlite::Result<i64> {
    let insert = "INSERT INTO functions (kind, name, module, file, first_line, first_col, raw_name)
                  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                  ON CONFLICT DO NOTHING";
    if connection.prepare_cached(insert)?.execute(row)? == 1 {
        return Ok(connection.last_insert_rowid());
    }
    let select = "SELECT function_id FROM functions
                  WHERE kind = ?1 AND name = ?2 AND module = ?3 AND file = ?4 AND first_line = ?5 AND first_col = ?6";
    connection
        .prepare_cached(select)?
        .query_row(key, |row| row.get(0))
}

/// The key of a row of `function_info`.
pub(super) fn info_key(row: &InfoRow, ids: &Ids) -> (i64, i64) {
    (ids.metric(row.metric), ids.function(row.function))
}

/// Sets are numbered from 0 in the run, from 1 in the database.
pub(super) fn label_set(labels: LabelsId) -> i64 {
    i64::from(labels.0) + 1
}

/// The key of a row of `line_info`. A line without a file of its own comes first.
pub(super) fn line_key(row: &InfoRow, ids: &Ids) -> (i64, i64, Option<Arc<str>>, u32, u32) {
    let (metric, function) = info_key(row, ids);
    row.place
        .as_ref()
        .map_or((metric, function, None, 0, 0), |place| {
            (metric, function, place.file.clone(), place.line, place.col)
        })
}

/// The key of a row of edges.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct EdgeKey {
    pub(super) metric: i64,
    pub(super) callee: i64,
    pub(super) caller: i64,
    pub(super) line: i64,
    pub(super) col: u32,
    pub(super) back: bool,
}

pub(super) fn edge_key(row: &EdgeRow, ids: &Ids) -> EdgeKey {
    EdgeKey {
        metric: ids.metric(row.metric),
        callee: ids.function(row.callee),
        caller: row.caller.map_or(0, |caller| ids.function(caller)),
        line: row.caller_line.map_or(-1, i64::from),
        col: row.caller_col,
        back: row.kind == EdgeKind::Back,
    }
}

/// What the column `cumulative_other` of nodes and their costs holds.
pub(super) fn cumulative_other(figures: Figures) -> Option<f64> {
    other(figures.cumulative, Some(figures.exclusive))
}

/// A figure that is mostly the same as another of its row: `None` where it is, infinity where it is
/// unknown, which no figure of a profile is (docs/design/0006-small-rows.md).
pub(super) fn other(figure: Option<f64>, usual: Option<f64>) -> Option<f64> {
    if figure == usual {
        None
    } else {
        figure.or(Some(f64::INFINITY))
    }
}

/// Numbers of nodes, calls and bytes fit in 63 bits: the builder refuses more calls, and nothing
/// else gets there.
pub(super) fn integer(value: u64) -> i64 {
    i64::try_from(value).expect("less than 2^63")
}

mod database_pages;
mod pages;
mod postings;
pub(super) mod segment;
