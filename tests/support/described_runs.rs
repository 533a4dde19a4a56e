//! Runs that a test describes, stored in a database.

use profdb::base::error::Stop;
use profdb::events::{Cost, Frame, FunctionDef, MetricId, Noise, Sink, Unit};
use profdb::profile::TreeBuilder;
use profdb::store::{Database, RunMeta};

use super::made_runs::{self, Batches};

/// Stores the run whose events a function emits; returns its number.
pub(crate) fn add_run(
    database: &mut Database,
    meta: &RunMeta,
    emit: impl FnOnce(&mut dyn Sink),
) -> i64 {
    let mut builder = TreeBuilder::new(Batches::default(), Stop::default());
    emit(&mut builder);
    made_runs::write(builder, meta, database)
}

/// Emits a metric of times.
pub(crate) fn emit_time(sink: &mut dyn Sink) -> MetricId {
    sink.metric("time", Unit::Nanoseconds, Noise::Unknown)
}

/// Emits a call of a function at the root with an exclusive cost.
pub(crate) fn emit_root(
    sink: &mut dyn Sink,
    def: FunctionDef<'_>,
    calls: Option<u64>,
    metric: MetricId,
    cost: f64,
) {
    let function = sink.function(def);
    sink.enter(Frame::function(function), calls);
    sink.cost(metric, Cost::Exclusive(cost));
    sink.leave();
}
