//! Recordings with stacks: a sample for each run, and whether the table of frames says the same.

use super::frames::Frame;
use super::metric::{Metric, add, collector_function};
use super::raw::Runs;
use crate::base::error::ImportError;
use crate::events::{Frame as Place, Sample, Severity, Sink};
use crate::formats::common::counted::{Counted, many};

/// Says stacks, and compares them with what the file says of frames.
pub(super) struct Stacks<'f> {
    frames: &'f [Frame],
    metrics: &'f [Metric],
    sink: &'f mut dyn Sink,
    /// By frame.
    sums: Vec<Sums>,
}

/// Samples of a frame.
#[derive(Clone, Copy, Default)]
struct Sums {
    own: u64,
    /// Counted once per sample, and at every level of a recursion.
    total: u64,
    seen: u64,
    /// The last run that it was in, from 1.
    run: usize,
}

impl<'f> Stacks<'f> {
    pub(super) fn new(frames: &'f [Frame], metrics: &'f [Metric], sink: &'f mut dyn Sink) -> Self {
        let sums = vec![Sums::default(); frames.len()];
        Self {
            frames,
            metrics,
            sink,
            sums,
        }
    }

    /// Says all runs; says how many samples they have.
    pub(super) fn say(&mut self, raw: &Runs, lines: Option<&Runs>) -> Result<u64, ImportError> {
        let (mut ids, mut numbers, mut stack) = (Vec::new(), Vec::new(), Vec::new());
        let mut samples = 0;
        if let Some(lines) = lines
            && lines.runs.len() != raw.runs.len()
        {
            let expected = format!("{} stacks, as in `raw`", raw.runs.len());
            let found = lines.runs.len().to_string();
            return Err(ImportError::malformed(lines.at, expected, found));
        }
        for (number, run) in raw.runs.iter().enumerate() {
            // One stack at a time is written out of the tree of stacks.
            raw.stack(run, &mut ids);
            numbers.clear();
            if let Some(lines) = lines
                && let Some(of_lines) = lines.runs.get(number)
            {
                lines.stack(of_lines, &mut numbers);
                // The two arrays have their runs in one order; a difference means that lines would
                // go to other stacks (case `stackprof/raw-lines-of-other-stacks`).
                if numbers.len() != ids.len() || of_lines.count != run.count {
                    let expected = format!("stack {} to be equal to that of `raw`", number + 1);
                    return Err(ImportError::malformed(
                        lines.at,
                        expected,
                        "a different one",
                    ));
                }
            }
            self.count(&ids, run.count, number + 1);
            stack.clear();
            for (at, id) in ids.iter().enumerate() {
                let Some(frame) = self.frames.get(*id as usize) else {
                    continue;
                };
                stack.push(match numbers.get(at) {
                    Some(line) if *line != 0 => Place::line(frame.function, *line),
                    _ => Place::function(frame.function),
                });
            }
            // A run without frames is a sample without a stack: it is in the total, and has no
            // place in the tree.
            if !stack.is_empty() {
                add(&mut samples, run.count);
                self.sample(&stack, run.count);
            }
        }
        self.compare();
        Ok(samples)
    }

    pub(super) fn say_collector(&mut self, samples: u64) {
        let function = collector_function(self.sink);
        self.sample(&[Place::function(function)], samples);
    }

    fn sample(&mut self, stack: &[Place<'_>], samples: u64) {
        let values = self.metrics.iter();
        let values: Vec<_> = values
            .map(|metric| (metric.id, metric.of(samples)))
            .collect();
        self.sink.sample(Sample {
            stack,
            shared: 0,
            calls: None,
            values: &values,
            labels: None,
        });
    }

    fn count(&mut self, ids: &[u32], count: u64, run: usize) {
        for id in ids {
            let Some(sums) = self.sums.get_mut(*id as usize) else {
                continue;
            };
            add(&mut sums.seen, count);
            // Once per sample: runs have numbers from 1, so that 0 is none of them.
            if std::mem::replace(&mut sums.run, run) != run {
                add(&mut sums.total, count);
            }
        }
        if let Some(sums) = ids.last().and_then(|id| self.sums.get_mut(*id as usize)) {
            add(&mut sums.own, count);
        }
    }

    /// Notes frames of which the file says something else than their stacks. Totals count every
    /// level of a recursion in files from before stackprof 0.2.11.
    fn compare(&mut self) {
        let mut other = Counted::default();
        for (frame, sums) in self.frames.iter().zip(&self.sums) {
            if frame.own != sums.own || ![sums.total, sums.seen].contains(&frame.total) {
                other.add(frame.at);
            }
        }
        other.note(self.sink, Severity::Warning, |count| {
            let functions = many(count, "function");
            format!(
                "{functions} whose samples differ from those of their stacks: the stacks are used"
            )
        });
    }
}
