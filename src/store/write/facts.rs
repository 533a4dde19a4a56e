//! What is known of a run besides its rows: its own row in `runs`, metrics, properties, tags, sets
//! of labels, notes.

use rusqlite::{Connection, ToSql, params};

use super::columns::integer;
use super::ids::{Ids, StoredLabels, StoredRun};
use super::outcome::Outcome;
use crate::base::hex::hex;
use crate::events::Severity;
use crate::profile::{LabelText, RunSummary};
use crate::store::dates::recorded_utc;
use crate::store::fingerprint::Figures;
use crate::store::identity::RunMeta;

/// The facts of one run, to be inserted.
pub(super) struct RunFacts<'w> {
    pub(super) connection: &'w Connection,
    pub(super) ids: &'w Ids,
    pub(super) totals: &'w RunSummary,
    pub(super) meta: &'w RunMeta,
}

impl RunFacts<'_> {
    /// Inserts all of them, if the run is not there already or is to be stored again.
    pub(super) fn store(&self) -> rusqlite::Result<Outcome> {
        let (equal, mut repeat) = self.meta.equal_run(self.connection)?;
        if let Some(there) = equal.filter(|_| !self.meta.again) {
            return Ok(Outcome::AlreadyThere(there));
        }
        // A run that is stored again needs a uid of its own, which counts how often that has been
        // done.
        while self.meta.stored(self.connection, repeat)?.is_some() {
            repeat += 1;
        }
        let run = self.insert(&self.meta.uid(repeat))?;
        Ok(Outcome::Stored(run.0))
    }

    /// The run gets an id by that.
    fn insert(&self, uid: &str) -> rusqlite::Result<StoredRun> {
        let run = self.run(uid)?;
        self.metrics(run)?;
        self.properties(run)?;
        self.tags(run)?;
        self.notes(run)?;
        self.labels(run)?;
        Ok(run)
    }

    fn run(&self, uid: &str) -> rusqlite::Result<StoredRun> {
        let (meta, facts) = (self.meta, &self.totals.facts);
        let nodes = (self.totals.nodes > 0).then_some(self.totals.nodes);
        let sql = "INSERT INTO runs (run_uid, title, format, fidelity, source_name, source_sha256, source_bytes,
                                     tool_version, command, recorded_at, imported_at, timer_bias, bias_applied,
                                     default_metric_id, first_node, last_node, profdb_version, functions,
                                     recorded_utc)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10,
                           strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)";
        self.connection.prepare_cached(sql)?.execute(params![
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
            integer(self.totals.function_count),
            recorded_utc(facts.recorded_at.as_deref()),
        ])?;
        Ok(StoredRun(self.connection.last_insert_rowid()))
    }

    fn metrics(&self, run: StoredRun) -> rusqlite::Result<()> {
        let sql = "INSERT INTO metrics (metric_id, run_id, name, unit, position, total, total_source, timer_readings,
                                        noise, observations, quantum)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
        let mut insert = self.connection.prepare_cached(sql)?;
        let timer = self.totals.facts.timer_readings;
        let timer = timer.map(|metric| self.ids.metric(metric));
        let ids = self.ids.metrics();
        for ((position, metric), id) in (1_i64..).zip(&self.totals.metrics).zip(ids) {
            let said = self.meta.noise_of(&metric.name);
            let noise = said.unwrap_or(metric.noise);
            insert.execute(params![
                id,
                run,
                metric.name,
                metric.unit.name(),
                position,
                metric.total,
                metric.total_source.name(),
                timer == Some(id),
                noise.name(),
                metric.observations.map(|samples| self.ids.metric(samples)),
                metric.quantum,
            ])?;
        }
        Ok(())
    }

    fn properties(&self, run: StoredRun) -> rusqlite::Result<()> {
        let sql = "INSERT INTO run_properties (run_id, key, value) VALUES (?1, ?2, ?3)";
        let mut insert = self.connection.prepare_cached(sql)?;
        for (key, value) in &self.totals.facts.properties {
            insert.execute(params![run, key, value])?;
        }
        Ok(())
    }

    fn tags(&self, run: StoredRun) -> rusqlite::Result<()> {
        let sql = "INSERT INTO run_tags (run_id, key, value) VALUES (?1, ?2, ?3)";
        let mut insert = self.connection.prepare_cached(sql)?;
        for (key, value) in self.meta.stored_tags() {
            insert.execute(params![run, key, value])?;
        }
        Ok(())
    }

    fn notes(&self, run: StoredRun) -> rusqlite::Result<()> {
        let sql =
            "INSERT INTO notes (run_id, severity, byte, line, message) VALUES (?1, ?2, ?3, ?4, ?5)";
        let mut insert = self.connection.prepare_cached(sql)?;
        for note in &self.totals.notes {
            let byte = note.position.map(|position| integer(position.byte));
            let line = note
                .position
                .and_then(|position| position.line)
                .map(integer);
            insert.execute(params![run, note.severity.name(), byte, line, note.message])?;
        }
        for (metric, noise) in &self.meta.noise {
            let Some(metric) = metric else { continue };
            if self
                .totals
                .metrics
                .iter()
                .all(|known| known.name != *metric)
            {
                let message = format!(
                    "there is no metric {metric} for the noise model {}",
                    noise.name()
                );
                let place = None::<i64>;
                insert.execute(params![
                    run,
                    Severity::Warning.name(),
                    place,
                    place,
                    message
                ])?;
            }
        }
        Ok(())
    }

    fn labels(&self, run: StoredRun) -> rusqlite::Result<()> {
        let sql =
            "INSERT INTO label_sets (run_id, set_id, key, value, unit) VALUES (?1, ?2, ?3, ?4, ?5)";
        let mut insert = self.connection.prepare_cached(sql)?;
        for label in &self.totals.labels {
            let value: &dyn ToSql = match &label.value {
                LabelText::Number(number) => number,
                LabelText::Text(text) => text,
            };
            insert.execute(params![
                run,
                StoredLabels::from(label.labels),
                label.key,
                value,
                label.unit
            ])?;
        }
        Ok(())
    }
}

/// Stores the fingerprint of a run, whose functions have their ids.
// benches/instructions.sh counts what identities cost by the name of this function.
#[inline(never)]
pub(super) fn store_fingerprint(
    connection: &Connection,
    run: i64,
    totals: &RunSummary,
    ids: &Ids,
) -> rusqlite::Result<()> {
    let mut figures = Figures::new();
    for (at, metric) in totals.metrics.iter().enumerate() {
        figures.metric(&metric.name, metric.unit.name());
        for (_, row) in totals.functions.of_metric(at) {
            let calls = row.figures.calls.map(integer);
            figures.row(ids.identity(row.function), calls, row.figures.exclusive);
        }
    }
    figures.store(connection, run)
}
