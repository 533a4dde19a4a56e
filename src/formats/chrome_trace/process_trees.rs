//! The trees of a process: those of its threads, and that of its asynchronous tracks.

use super::stack_samples::SampleTree;
use super::v8_chunks::ThreadTree;
use crate::base::error::ImportError;
use crate::events::{Frame, FunctionDef, Kind, MetricId, Noise, RunFact, Sink, Unit};
use crate::formats::common::call_tree::CallTree;

/// The metrics of a run.
#[derive(Default)]
pub(super) struct TraceMetrics {
    pub(super) time: Option<MetricId>,
    /// The number of samples, and their time.
    pub(super) samples: [Option<MetricId>; 2],
    pub(super) weight: Option<MetricId>,
}

impl TraceMetrics {
    /// Announces the time of slices.
    pub(super) fn announce_time(&mut self, sink: &mut dyn Sink) {
        self.time = Some(sink.metric("time", Unit::Nanoseconds, Noise::Timed));
    }

    /// Announces the number of samples and their time.
    pub(super) fn announce_samples(&mut self, sink: &mut dyn Sink) {
        let samples = sink.samples("samples");
        let time = sink.metric("sampled_time", Unit::Nanoseconds, Noise::Sampled);
        sink.run(RunFact::Observations(time, samples));
        self.samples = [Some(samples), Some(time)];
    }

    /// Announces the weight of samples.
    pub(super) fn announce_weight(&mut self, sink: &mut dyn Sink) {
        self.weight = Some(sink.metric("weight", Unit::Count, Noise::Sampled));
    }
}

/// The trees of a process.
#[derive(Default)]
pub(super) struct ProcessTrees {
    pub(super) threads: Vec<ThreadTrees>,
    pub(super) tracks: CallTree<[f64; 1]>,
}

/// The trees of a thread.
pub(super) struct ThreadTrees {
    pub(super) name: String,
    pub(super) slices: CallTree<[f64; 1]>,
    pub(super) profiles: Vec<ThreadTree>,
    pub(super) stacks: Option<SampleTree>,
}

impl ProcessTrees {
    pub(super) fn emit(
        self,
        sink: &mut dyn Sink,
        process: &str,
        metrics: &TraceMetrics,
    ) -> Result<(), ImportError> {
        if self.threads.is_empty() && self.tracks.is_empty() {
            return Ok(());
        }
        enter(sink, Kind::Process, "", process);
        for thread in self.threads {
            enter(sink, Kind::Thread, process, &thread.name);
            thread.slices.emit(sink, &[metrics.time]);
            for profile in thread.profiles {
                profile.emit(sink, &metrics.samples)?;
            }
            if let Some(stacks) = thread.stacks {
                let [samples, time] = metrics.samples;
                stacks.emit(sink, &[samples, time, metrics.weight]);
            }
            sink.leave();
        }
        self.tracks.emit(sink, &[metrics.time]);
        sink.leave();
        Ok(())
    }
}

/// Enters a container, whose module is the process of a thread.
fn enter(sink: &mut dyn Sink, kind: Kind, module: &str, name: &str) {
    let function = sink.function(FunctionDef {
        kind,
        module,
        ..FunctionDef::named(name)
    });
    sink.enter(Frame::function(function), None);
}

/// Returns the name of a container: its name or a word, and its id.
pub(super) fn container_name(word: &str, id: &str) -> String {
    format!("{word} {id}").trim().to_owned()
}
