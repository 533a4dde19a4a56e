//! Combines several runs into one run of a temporary database: the sum of their figures, or the mean of each figure.
//!
//! Functions match if their identities are equal, and tree nodes if their paths match. The combined run is
//! built as an import builds one, so that every report, writer and page reads an ordinary run.

mod functions;
mod labels;
mod metrics;
mod part;
mod totals;
mod tree;

use std::path::Path;

use rusqlite::{Connection, named_params};

use self::functions::FunctionGroups;
use self::labels::CombinedLabels;
use self::metrics::PairedMetrics;
pub use self::part::CombineError;
use self::part::{CombinedPart, SourceFailure};
use self::totals::StatedTotals;
use self::tree::MergedTree;
use super::combination::{Combination, CombinedRuns};
use super::database::Database;
use super::error::StoreError;
use super::identity::RunMeta;
use super::read::RunInfo;
use super::write::RunWriter;
use crate::base::error::Stop;
use crate::events::{Fidelity, FunctionId, RunFact, Sink};
use crate::input::Fingerprint;
use crate::profile::{Batch, Output, TreeBuilder};
use crate::source::SourceLines;

/// Several runs as one.
#[derive(Debug)]
pub struct CombinedRun {
    /// A temporary database that has only this run.
    pub database: Database,
    /// The run.
    pub run: RunInfo,
    /// Remarks about figures that are not combined.
    pub remarks: Vec<String>,
}

impl Database {
    /// Combines runs into a run of a temporary database in memory, or in `folder` if it is large. `set` is the text that
    /// selected them.
    ///
    /// # Errors
    /// When their metrics do not pair, when a sum is too large, or when a database fails.
    pub fn combine_runs(
        &self,
        runs: &[i64],
        combination: Combination,
        set: &str,
        folder: &Path,
    ) -> Result<CombinedRun, CombineError> {
        let mut parts = Vec::with_capacity(runs.len());
        for run in runs {
            let deleted = || {
                CombineError::Unpaired(format!(
                    "run {run} was deleted by another program; run the command again"
                ))
            };
            let info = self.run(Some(*run))?.ok_or_else(deleted)?;
            let usual = self.usual_metric(*run)?.ok_or_else(|| {
                CombineError::Unpaired(format!("run {run} has no metric to combine"))
            })?;
            parts.push(CombinedPart { info, usual });
        }
        let metrics = PairedMetrics::of(self, &parts)?;
        let failed = |error: SourceFailure| self.failed(error.0);
        let groups = FunctionGroups::of(&self.connection, &parts).map_err(failed)?;
        let fidelity = least_fidelity(&parts);
        let mut remarks = metrics.remarks(&parts);
        if fidelity != Fidelity::Tree && parts.iter().any(|part| part.info.fidelity == "tree") {
            remarks.push(format!(
                "some of the runs have no call paths, so the {} has none",
                combination.name()
            ));
        }
        let mut totals = StatedTotals::default();
        let mut tree = MergedTree::new(metrics.paired.len());
        let mut labels = CombinedLabels::default();
        for (at, part) in parts.iter().enumerate() {
            let ids = metrics.ids(at);
            totals
                .add(&self.connection, part, &ids, &groups)
                .map_err(failed)?;
            if fidelity == Fidelity::Tree {
                let places = tree.add(self, part.info.run_id, &ids, &groups)?;
                labels
                    .add(&self.connection, part.info.run_id, &ids, &places)
                    .map_err(failed)?;
            }
        }

        let mut database = Self::temporary(folder)?;
        database.heed(self.stop().clone())?;
        let stop = Stop::default();
        let rows = RowsOf {
            writer: database.begin_run()?,
            failure: None,
            stop: stop.clone(),
        };
        let mut builder = TreeBuilder::new(rows, stop);
        builder.run(RunFact::Fidelity(fidelity));
        metrics.announce(&mut builder, combination);
        self.state_facts(&parts, &mut builder)?;
        let has_other_fidelity = |part: &CombinedPart| part.info.fidelity != fidelity.name();
        if parts.iter().any(has_other_fidelity) {
            metrics.state_totals(&mut builder);
        }
        let definitions = groups.definitions();
        let functions: Vec<FunctionId> = definitions.map(|def| builder.function(def)).collect();
        let numbers = tree.write(&mut builder, &functions);
        totals.write(&mut builder, &functions, fidelity, metrics.default);
        finish(builder, &meta(combination, runs.len(), set))?;
        let failed = |error: SourceFailure| database.failed(error.0);
        labels
            .write(&database.connection, &numbers)
            .map_err(failed)?;
        if combination == Combination::Mean {
            if has_fractions(&database.connection, runs.len()).map_err(failed)? {
                remarks.push("numbers of calls are means, rounded to whole numbers".to_owned());
            }
            divide(&database.connection, runs.len()).map_err(failed)?;
        }
        let run = database.run(None)?;
        let mut run = run.ok_or_else(|| database.inconsistent("the combined run is missing"))?;
        run.combined = Some(CombinedRuns {
            combination,
            runs: runs.to_vec(),
        });
        Ok(CombinedRun {
            database,
            run,
            remarks,
        })
    }

    /// States the facts that are equal in all runs.
    fn state_facts(
        &self,
        parts: &[CombinedPart],
        sink: &mut impl Sink,
    ) -> Result<(), CombineError> {
        let first = &parts[0].info;
        let common = |of: fn(&RunInfo) -> Option<f64>| {
            let value = of(first)?;
            parts
                .iter()
                .all(|part| of(&part.info) == Some(value))
                .then_some(value)
        };
        if let Some(bias) = common(|run| run.timer_bias) {
            sink.run(RunFact::TimerBias(bias));
        }
        if let Some(bias) = common(|run| run.bias_applied) {
            sink.run(RunFact::BiasApplied(bias));
        }
        let mut states = Vec::with_capacity(parts.len());
        for part in parts {
            states.push(self.state(part.info.run_id)?);
        }
        let column = |at: usize, wanted: &str| {
            let (_, value) = states[at].columns.iter().find(|(name, _)| name == wanted)?;
            value.as_deref()
        };
        let common = |wanted: &str| {
            let value = column(0, wanted)?;
            (1..states.len())
                .all(|at| column(at, wanted) == Some(value))
                .then_some(value)
        };
        if let Some(version) = common("tool_version") {
            sink.run(RunFact::ToolVersion(version));
        }
        if let Some(command) = common("command") {
            sink.run(RunFact::Command(command));
        }
        for property in &states[0].properties {
            if states
                .iter()
                .all(|state| state.properties.contains(property))
            {
                sink.run(RunFact::Other(&property.0, &property.1));
            }
        }
        Ok(())
    }
}

/// Completes the combined run.
fn finish(builder: TreeBuilder<RowsOf<'_>>, meta: &RunMeta) -> Result<(), CombineError> {
    let (summary, rows) = builder.finish().map_err(CombineError::Refused)?;
    if let Some(error) = rows.failure {
        return Err(error.into());
    }
    rows.writer.finish(&summary, meta)?;
    Ok(())
}

/// Returns what is known of the combined run besides its rows.
fn meta(combination: Combination, runs: usize, set: &str) -> RunMeta {
    RunMeta {
        format: "combined",
        revision: 1,
        options: String::new(),
        source_name: format!("{} of {runs} runs ({set})", combination.name()),
        fingerprint: Fingerprint {
            bytes: 0,
            sha256: [0; 32],
        },
        title: None,
        tags: Vec::new(),
        noise: Vec::new(),
        again: false,
        source: None,
        source_lines: SourceLines::default(),
    }
}

/// Returns the detail that all runs have.
fn least_fidelity(parts: &[CombinedPart]) -> Fidelity {
    let has = |name: &str| parts.iter().any(|part| part.info.fidelity == name);
    [Fidelity::Flat, Fidelity::Edges]
        .into_iter()
        .find(|fidelity| has(fidelity.name()))
        .unwrap_or_default()
}

/// Returns whether the mean number of calls is fractional.
fn has_fractions(connection: &Connection, runs: usize) -> Result<bool, SourceFailure> {
    let sql = "SELECT EXISTS (SELECT 1 FROM function_info WHERE calls % ?1 <> 0)";
    let runs = i64::try_from(runs).unwrap_or(i64::MAX);
    Ok(connection.query_row(sql, [runs], |row| row.get(0))?)
}

/// Divides all figures of the run by a number of runs. Numbers of calls are rounded.
fn divide(connection: &Connection, runs: usize) -> Result<(), SourceFailure> {
    const STATEMENTS: [&str; 7] = [
        "UPDATE nodes SET calls = CAST(ROUND(calls / :runs) AS INTEGER), exclusive = exclusive / :runs,
                          cumulative_other = cumulative_other / :runs",
        "UPDATE node_costs SET exclusive = exclusive / :runs, cumulative_other = cumulative_other / :runs",
        "UPDATE node_labels SET exclusive = exclusive / :runs",
        "UPDATE function_info SET calls = CAST(ROUND(calls / :runs) AS INTEGER),
                                  primitive = CAST(ROUND(primitive / :runs) AS INTEGER),
                                  exclusive = exclusive / :runs, cumulative = cumulative / :runs, seen = seen / :runs",
        "UPDATE line_info SET calls = CAST(ROUND(calls / :runs) AS INTEGER), exclusive = exclusive / :runs,
                              cumulative = cumulative / :runs",
        "UPDATE edges SET calls = CAST(ROUND(calls / :runs) AS INTEGER), exclusive = exclusive / :runs,
                          cumulative = cumulative / :runs, outermost_other = outermost_other / :runs,
                          seen_other = seen_other / :runs",
        "UPDATE metrics SET total = total / :runs",
    ];
    #[expect(clippy::cast_precision_loss, reason = "a number of runs")]
    let runs = runs as f64;
    let transaction = connection.unchecked_transaction()?;
    for statement in STATEMENTS {
        transaction.execute(statement, named_params! {":runs": runs})?;
    }
    Ok(transaction.commit()?)
}

/// Writes the rows of the combined run into its database.
struct RowsOf<'d> {
    writer: RunWriter<'d>,
    failure: Option<StoreError>,
    /// Ends the builder after a failure.
    stop: Stop,
}

impl Output for RowsOf<'_> {
    fn batch(&mut self, batch: &mut Batch) {
        if self.failure.is_none() {
            self.failure = self.writer.batch(batch).err();
        }
        if self.failure.is_some() {
            self.stop.set();
        }
        batch.clear();
    }
}
