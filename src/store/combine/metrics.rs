//! The metrics of several runs, matched by name, unit and kind.

use std::collections::BTreeMap;

use super::part::{CombineError, CombinedPart};
use crate::events::{MetricId, Noise, RunFact, Sink, Unit};
use crate::store::combination::Combination;
use crate::store::database::Database;
use crate::store::read::MetricInfo;

/// Maximum number of runs that a message names one by one.
const MOST_NAMED: usize = 3;

/// Metrics that all runs have, and those that only some have or that differ.
pub(super) struct PairedMetrics {
    pub(super) paired: Vec<PairedMetric>,
    /// The place of the default metric.
    pub(super) default: usize,
    /// Descriptions of metrics that do not pair.
    unpaired: Vec<String>,
}

/// A metric that all runs have: one of each run.
pub(super) struct PairedMetric {
    of_runs: Vec<MetricInfo>,
    noise: Noise,
    /// The file states the total of some run.
    is_stated: bool,
}

impl PairedMetrics {
    /// Pairs the metrics of runs.
    ///
    /// # Errors
    /// When the default metric of some run has no partner in another one.
    pub(super) fn of(database: &Database, parts: &[CombinedPart]) -> Result<Self, CombineError> {
        let mut of_runs: Vec<Vec<MetricInfo>> = Vec::with_capacity(parts.len());
        for part in parts {
            of_runs.push(database.metrics(part.info.run_id)?);
        }
        let mut names: Vec<&str> = Vec::new();
        for metric in of_runs.iter().flatten() {
            if !names.contains(&metric.name.as_str()) {
                names.push(&metric.name);
            }
        }
        let numbers: Vec<i64> = parts.iter().map(|part| part.info.run_id).collect();
        let (mut paired, mut unpaired) = (Vec::new(), Vec::new());
        for name in &names {
            let metrics: Vec<Option<&MetricInfo>> = of_runs
                .iter()
                .map(|metrics| metrics.iter().find(|metric| metric.name == *name))
                .collect();
            match pair(&metrics) {
                Some(noise) => {
                    let of_runs: Vec<MetricInfo> = metrics.into_iter().flatten().cloned().collect();
                    paired.push(PairedMetric {
                        is_stated: is_stated(database, &of_runs)?,
                        of_runs,
                        noise,
                    });
                }
                None => unpaired.push(describe(name, &metrics, &numbers)),
            }
        }
        let place = |part: &CombinedPart| {
            let default = part.info.default_metric.as_deref();
            let mut paired = paired.iter();
            paired.position(|metric: &PairedMetric| Some(metric.name()) == default)
        };
        let defaults: Vec<Option<usize>> = parts.iter().map(place).collect();
        let Some(Some(default)) = defaults
            .last()
            .copied()
            .filter(|_| !defaults.contains(&None))
        else {
            return Err(CombineError::Unpaired(format!(
                "the runs measure different metrics: {}; select runs with the same default metric",
                unpaired.join("; ")
            )));
        };
        Ok(Self {
            paired,
            default,
            unpaired,
        })
    }

    /// Returns the numbers of the metrics of one run.
    pub(super) fn ids(&self, run: usize) -> Vec<i64> {
        let of_run = self.paired.iter().map(|metric| &metric.of_runs[run]);
        of_run.map(|metric| metric.metric_id).collect()
    }

    /// Remarks on figures that are left out.
    pub(super) fn remarks(&self, parts: &[CombinedPart]) -> Vec<String> {
        let mut remarks = Vec::new();
        if !self.unpaired.is_empty() {
            remarks.push(format!(
                "left out, because the runs measure different metrics: {}",
                self.unpaired.join("; ")
            ));
        }
        let bias = |part: &CombinedPart| part.info.bias_applied;
        let has_timer = self.timer().is_some();
        if has_timer && parts.iter().any(|part| bias(part) != bias(&parts[0])) {
            remarks.push(
                "the runs differ in the timer bias that was subtracted, so times cannot be shown for another bias"
                    .to_owned(),
            );
        }
        remarks
    }

    /// Announces the metrics.
    pub(super) fn announce(&self, sink: &mut impl Sink, combination: Combination) {
        let ids: Vec<MetricId> = self
            .paired
            .iter()
            .map(|metric| sink.metric(metric.name(), metric.unit(), metric.noise))
            .collect();
        if let Some(timer) = self.timer() {
            sink.run(RunFact::TimerReadings(ids[timer]));
        }
        for (metric, id) in self.paired.iter().zip(&ids) {
            // A mean counts parts of samples.
            if combination == Combination::Sum {
                if let Some(samples) = self.observations(metric) {
                    sink.run(RunFact::Observations(*id, ids[samples]));
                }
                if let Some(quantum) = metric.common(|metric| metric.quantum) {
                    sink.run(RunFact::Quantum(*id, quantum));
                }
            }
        }
        sink.run(RunFact::DefaultMetric(ids[self.default]));
        for (metric, id) in self.paired.iter().zip(&ids) {
            if metric.is_stated {
                sink.run(RunFact::Total(*id, metric.total()));
            }
        }
    }

    /// States the totals of all metrics: what all runs know adds up to less.
    pub(super) fn state_totals(&self, sink: &mut impl Sink) {
        for (at, metric) in self.paired.iter().enumerate() {
            let id = MetricId(u32::try_from(at).unwrap_or(u32::MAX));
            sink.run(RunFact::Total(id, metric.total()));
        }
    }

    /// Returns the place of the metric that counts readings of the timer in all runs.
    fn timer(&self) -> Option<usize> {
        let is_timer = |metric: &PairedMetric| metric.of_runs.iter().all(|it| it.timer_readings);
        self.paired.iter().position(is_timer)
    }

    /// Returns the place of the metric that counts the samples of another one in all runs.
    fn observations(&self, metric: &PairedMetric) -> Option<usize> {
        let samples = |run: usize| {
            let samples = metric.of_runs[run].observations?;
            let is_it = |other: &PairedMetric| other.of_runs[run].metric_id == samples;
            self.paired.iter().position(is_it)
        };
        let first = samples(0)?;
        (1..metric.of_runs.len())
            .all(|run| samples(run) == Some(first))
            .then_some(first)
    }
}

impl PairedMetric {
    fn name(&self) -> &str {
        &self.of_runs[0].name
    }

    fn unit(&self) -> Unit {
        let units = [Unit::Nanoseconds, Unit::Bytes, Unit::Count];
        let is_it = |unit: &Unit| unit.name() == self.of_runs[0].unit;
        units.into_iter().find(is_it).unwrap_or(Unit::Count)
    }

    fn total(&self) -> f64 {
        self.of_runs.iter().map(|metric| metric.total).sum()
    }

    /// Returns a figure that is equal in all runs.
    fn common(&self, of: fn(&MetricInfo) -> Option<f64>) -> Option<f64> {
        let first = of(&self.of_runs[0])?;
        let mut others = self.of_runs.iter();
        others
            .all(|metric| of(metric) == Some(first))
            .then_some(first)
    }
}

/// Returns how the figures of a metric vary if all runs have it in one unit and of one kind.
fn pair(metrics: &[Option<&MetricInfo>]) -> Option<Noise> {
    let first = metrics.first().copied().flatten()?;
    let mut kind = Noise::Unknown;
    for metric in metrics {
        let metric = metric.filter(|metric| metric.unit == first.unit)?;
        match (kind, metric.noise) {
            (_, Noise::Unknown) => {}
            (Noise::Unknown, noise) => kind = noise,
            (kind, noise) if kind == noise => {}
            _ => return None,
        }
    }
    Some(Noise::common(
        metrics.iter().flatten().map(|metric| metric.noise),
    ))
}

/// Describes a metric that does not pair: `alloc: bytes, exact in runs 1, 2; none in run 3`.
fn describe(name: &str, metrics: &[Option<&MetricInfo>], numbers: &[i64]) -> String {
    let mut kinds: BTreeMap<Option<(&str, &str)>, Vec<i64>> = BTreeMap::new();
    for (metric, number) in metrics.iter().zip(numbers) {
        let kind = metric.map(|metric| (metric.unit.as_str(), metric.noise.name()));
        kinds.entry(kind).or_default().push(*number);
    }
    let kinds = kinds.into_iter().rev().map(|(kind, runs)| {
        let named: Vec<String> = runs.iter().take(MOST_NAMED).map(i64::to_string).collect();
        let plural = if runs.len() == 1 { "" } else { "s" };
        let more = match runs.len().saturating_sub(MOST_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let runs = format!("run{plural} {}{more}", named.join(", "));
        match kind {
            Some((unit, noise)) => format!("{unit} ({noise}) in {runs}"),
            None => format!("not in {runs}"),
        }
    });
    let kinds: Vec<String> = kinds.collect();
    format!("metric {name}: {}", kinds.join(", "))
}

/// Returns whether the file states the total of some run.
fn is_stated(database: &Database, metrics: &[MetricInfo]) -> Result<bool, CombineError> {
    let sql = "SELECT total_source = 'stated' FROM metrics WHERE metric_id = ?1";
    for metric in metrics {
        let stated = database
            .connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.query_row([metric.metric_id], |row| row.get(0)));
        if stated.map_err(|source| database.failed(source))? {
            return Ok(true);
        }
    }
    Ok(false)
}
