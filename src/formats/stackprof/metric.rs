//! Counts of samples, and what they are in each metric.

use crate::events::{FunctionDef, FunctionId, Kind, MetricId, Noise, RunFact, Sink, Unit};

/// A metric, of which a sample is so much.
pub(super) struct Metric {
    pub(super) id: MetricId,
    per_sample: f64,
}

impl Metric {
    pub(super) fn new(
        name: &str,
        unit: Unit,
        per_sample: f64,
        samples: u64,
        counts: Option<MetricId>,
        sink: &mut dyn Sink,
    ) -> Self {
        let id = sink.metric(name, unit, Noise::Sampled);
        let metric = Self { id, per_sample };
        // The metric that counts the samples is announced first.
        sink.run(RunFact::Observations(id, counts.unwrap_or(id)));
        if per_sample > 0.0 {
            sink.run(RunFact::Quantum(id, per_sample));
        }
        // Samples may have no stack, so that what the stacks add up to is less (case
        // `stackprof/samples-without-stack`).
        sink.run(RunFact::Total(id, metric.of(samples)));
        metric
    }

    /// What so many samples are.
    #[expect(clippy::cast_precision_loss, reason = "counts are below 2^53")]
    pub(super) fn of(&self, samples: u64) -> f64 {
        self.per_sample * samples as f64
    }
}

/// What the garbage collector costs in files that have no frame for it.
pub(super) fn collector_function(sink: &mut dyn Sink) -> FunctionId {
    sink.function(FunctionDef {
        kind: Kind::Pseudo,
        ..FunctionDef::named("(garbage collection)")
    })
}

/// Adds; what is too large for any file stays as large as it can be.
pub(super) fn add(sum: &mut u64, part: u64) {
    *sum = sum.saturating_add(part);
}
