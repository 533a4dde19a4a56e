//! speedscope files
//!
//! # What it is
//! The JSON format of speedscope: profiles, one shown at a time, and the frames that they share.
//!
//! # What is written
//! - A profile of samples for each thread and metric. It has the stacks of all nodes of the call tree with an exclusive cost
//!   or without callees, and their costs as weights, in nanoseconds, bytes, or without a unit. The first profile shown
//!   is that of the default metric.
//! - A frame for each function, and for each line of it that samples have, with its file. Threads and roots around
//!   all functions name the profile; each is a frame if it has an exclusive cost.
//! - Costs as whole numbers.
//! - Three members outside the schema, which profdb reads: `metric` of a
//!   profile is the name of its metric. `around` has the numbers of the frames around all its stacks. `kind` marks a
//!   frame that is not a function. Other readers see a profile per thread and metric, named by both.
//!
//! # References
//! - The format's description and its TypeScript and JSON schemas: <https://github.com/jlfwong/speedscope/wiki>.

#![expect(
    clippy::indexing_slicing,
    reason = "numbers of functions and metrics are the writer's own"
)]

use std::io::{self, Write};

use crate::base::slices::same;
use crate::base::spool::Column;
use crate::events::Kind;
use crate::formats::common::samples::{Frames, LINE_FILES, Sample, each_sample};
use crate::formats::common::stacks::{CUMULATIVE, SIBLINGS};
use crate::formats::common::written::{json, lose_raw_names};
use crate::formats::export::error::ExportError;
use crate::formats::export::losses::{
    ABSENT, BACK_EDGES, CALLS, DEFINITIONS, FACTS, FRACTIONS, FUNCTION_CALLS, FUNCTION_COSTS,
    LABELS, LARGE, LINE_ZERO, Losses, METRIC, METRICS, MODULES, NEGATIVE, RAW_NAMES, RECORDED,
    SAME_NAME, TOTALS,
};
use crate::formats::export::profile::Profile;
use crate::formats::export::{Export, Metrics, Needs, Packing};
use crate::store::MetricInfo;
use crate::text::number::push_integer;

/// The format of the page above, as it is written.
pub(in crate::formats) const EXPORT: Export = Export {
    name: "speedscope",
    summary: "speedscope files",
    needs: Needs::Tree,
    metrics: Metrics::All,
    layouts: &[],
    options: &[],
    packing: Packing::Plain,
    losses: &[
        CALLS,
        FUNCTION_CALLS,
        METRIC,
        METRICS,
        TOTALS,
        FACTS,
        BACK_EDGES,
        LABELS,
        MODULES,
        DEFINITIONS,
        RAW_NAMES,
        SAME_NAME,
        RECORDED,
        FUNCTION_COSTS,
        ABSENT,
        LINE_ZERO,
        LINE_FILES,
        SIBLINGS,
        CUMULATIVE,
        FRACTIONS,
        NEGATIVE,
        LARGE,
    ],
    difference: None,
    write,
};

/// What depends on the metric: everything else gets lost once.
const OF_METRICS: [crate::formats::export::losses::Loss; 5] =
    [TOTALS, CUMULATIVE, FRACTIONS, NEGATIVE, LARGE];

fn write(
    profile: &Profile<'_>,
    losses: &mut Losses,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    losses.add(METRICS, profile.other_metrics);
    losses.add(FACTS, profile.facts);
    losses.add(BACK_EDGES, profile.back_edges);
    losses.add(LABELS, profile.labels);
    write!(
        out,
        "{{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"profdb\""
    )?;
    if let Some(title) = &profile.run.title {
        write!(out, ",\"name\":{}", json(title))?;
    }
    write!(out, ",\"profiles\":[")?;
    let mut frames = Frames::new(profile, |function| {
        (&function.name, &function.file, function.kind)
    })
    .framed();
    let mut profiles = Profiles {
        profile,
        count: 0,
        around: None,
        weights: Column::default(),
        title: String::new(),
    };
    let mut first = 0;
    let mut other_totals = 0;
    // Once through the tree for each metric: a sample has one weight in this format.
    for (at, metric) in profile.metrics.iter().enumerate() {
        if metric.metric_id == profile.metric.metric_id {
            first = profiles.count;
        }
        // Each pass loses the same calls and lines; they count once.
        let mut of_metric = Losses::new(EXPORT.name, EXPORT.losses);
        profiles.metric(metric, &mut frames, &mut of_metric, out)?;
        for (loss, count) in of_metric
            .each()
            .filter(|(loss, _)| at == 0 || OF_METRICS.contains(loss))
        {
            if loss == TOTALS && metric.metric_id != profile.metric.metric_id {
                other_totals += count;
            } else {
                losses.add(loss, count);
            }
        }
    }
    // Without a stack, nothing says what was measured: readers take it for samples. The other
    // metrics are lost whole, and not their totals besides.
    if profiles.count > 0 {
        losses.add(TOTALS, other_totals);
    } else {
        let is_samples = |metric: &MetricInfo| metric.name == "samples" && metric.unit == "count";
        losses.written = Some(vec![profile.metric.metric_id]);
        losses.add(METRICS, profile.metrics.len().saturating_sub(1) as u64);
        losses.add(METRIC, (!profile.metrics.iter().any(is_samples)).into());
    }
    write!(out, "\n],\"shared\":{{\"frames\":[")?;
    write_frames(profile, &frames, losses, out)?;
    write!(out, "\n]}}")?;
    if profiles.count > 0 {
        write!(out, ",\"activeProfileIndex\":{first}")?;
    }
    Ok(writeln!(out, "}}")?)
}

/// Writes the profiles, one after the other.
struct Profiles<'p> {
    profile: &'p Profile<'p>,
    /// How many have begun.
    count: usize,
    /// Threads and the like around the samples of the one that is open.
    around: Option<Vec<usize>>,
    /// Its weights.
    weights: Column<8>,
    /// The name of the profile where there are no threads.
    title: String,
}

/// The numbers of a stack's frames, with commas between them. What stays from one sample to the
/// next is not written anew, so that a sample costs what its bytes cost.
#[derive(Default)]
struct Stack {
    /// A bracket, and the numbers.
    text: Vec<u8>,
    /// Where each frame ends.
    ends: Vec<usize>,
}

impl Stack {
    /// Follows a stack of which so many frames are those of the last one.
    fn follow(&mut self, stack: &[usize], kept: usize) {
        self.ends.truncate(kept);
        self.text.truncate(self.ends.last().copied().unwrap_or(0));
        for frame in &stack[self.ends.len()..] {
            self.text
                .push(if self.ends.is_empty() { b'[' } else { b',' });
            push_integer(*frame as u64, &mut self.text);
            self.ends.push(self.text.len());
        }
    }

    /// Writes it as an array.
    fn write(&mut self, before: &str, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(before.as_bytes())?;
        let end = self.text.len();
        self.text
            .extend_from_slice(if end == 0 { b"[]" } else { b"]" });
        let written = out.write_all(&self.text);
        self.text.truncate(end);
        written
    }
}

impl Profiles<'_> {
    /// Writes the profiles of a metric.
    fn metric(
        &mut self,
        metric: &MetricInfo,
        frames: &mut Frames,
        losses: &mut Losses,
        out: &mut dyn Write,
    ) -> Result<(), ExportError> {
        let mut negative = 0;
        // Anew for each pass, because `kept` refers to the last sample of this one.
        let mut stack = Stack::default();
        each_sample(
            self.profile,
            std::slice::from_ref(metric),
            frames,
            losses,
            |sample, _| {
                // Samples come in the order of the tree, so that those with the same threads around
                // them follow each other.
                let open = self.around.as_deref();
                if !open.is_some_and(|around| same(around, sample.around)) {
                    self.end(out)?;
                    self.begin(metric, sample, out)?;
                }
                let before = if self.weights.count() == 0 { "" } else { "," };
                stack.follow(sample.stack, sample.kept);
                stack.write(before, out)?;
                negative += u64::from(sample.values[0] < 0);
                // Weights are an array of their own after the samples, and have to wait.
                self.weights
                    .push(u64::try_from(sample.values[0]).unwrap_or(0));
                Ok(())
            },
        )?;
        losses.add(NEGATIVE, negative);
        self.end(out)
    }

    fn begin(
        &mut self,
        metric: &MetricInfo,
        sample: &Sample<'_>,
        out: &mut dyn Write,
    ) -> Result<(), ExportError> {
        let run = &self.profile.run;
        let threads: Vec<&str> = sample
            .around
            .iter()
            .map(|at| self.profile.functions[*at].name.as_str())
            .collect();
        self.title = if threads.is_empty() {
            run.name.clone()
        } else {
            threads.join(" / ")
        };
        if self.profile.metrics.len() > 1 {
            self.title = format!("{} ({})", self.title, metric.name);
        }
        let unit = match metric.unit.as_str() {
            "ns" => "nanoseconds",
            "count" => "none",
            other => other,
        };
        let before = if self.count == 0 { "" } else { "," };
        let name = json(&self.title);
        write!(
            out,
            "{before}\n{{\"type\":\"sampled\",\"name\":{name},\"metric\":{},\"around\":",
            json(&metric.name)
        )?;
        write_numbers(sample.around_frames, out)?;
        write!(out, ",\"unit\":\"{unit}\",\"startValue\":0,\"samples\":[")?;
        self.count += 1;
        self.around = Some(sample.around.to_vec());
        Ok(())
    }

    fn end(&mut self, out: &mut dyn Write) -> Result<(), ExportError> {
        if self.around.take().is_none() {
            return Ok(());
        }
        write!(out, "],\"weights\":[")?;
        let mut sum = 0_u64;
        let mut text = Vec::new();
        let mut before = None;
        let mut weights = std::mem::take(&mut self.weights);
        weights.each(|weight| {
            text.clear();
            text.extend(before.replace(b','));
            push_integer(weight, &mut text);
            sum = sum.saturating_add(weight);
            out.write_all(&text)
        })?;
        Ok(write!(out, "],\"endValue\":{sum}}}")?)
    }
}

fn write_numbers(numbers: &[usize], out: &mut dyn Write) -> io::Result<()> {
    for (at, number) in numbers.iter().enumerate() {
        write!(out, "{}{number}", if at == 0 { "[" } else { "," })?;
    }
    write!(out, "{}", if numbers.is_empty() { "[]" } else { "]" })
}

fn write_frames(
    profile: &Profile<'_>,
    frames: &Frames,
    losses: &mut Losses,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    for (at, place) in frames.places.iter().enumerate() {
        let known = &profile.functions[place.function];
        write!(
            out,
            "{}\n{{\"name\":{}",
            if at == 0 { "" } else { "," },
            json(&known.name)
        )?;
        let file = (!known.file.is_empty()).then(|| ("file", json(&known.file)));
        let numbers = [("line", place.line), ("col", place.col)]
            .map(|(name, number)| (number != 0).then(|| (name, number.to_string())));
        let kind = (known.kind != Kind::Function).then(|| ("kind", json(known.kind.name())));
        for (name, value) in file
            .into_iter()
            .chain(numbers.into_iter().flatten())
            .chain(kind)
        {
            write!(out, ",\"{name}\":{value}")?;
        }
        write!(out, "}}")?;
    }
    for (at, function) in profile.functions.iter().enumerate() {
        losses.add(ABSENT, (!frames.placed[at]).into());
        losses.add(MODULES, (!function.module.is_empty()).into());
        losses.add(DEFINITIONS, (function.place != (0, 0)).into());
    }
    lose_raw_names(profile, losses);
    frames.lose_same_names(profile, losses);
    Ok(())
}
