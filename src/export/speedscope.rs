//! speedscope files
//!
//! # What it is
//! The JSON that speedscope reads: profiles, one shown at a time, and the frames that they share.
//!
//! # What is written
//! - A profile of samples for each thread and metric: the stacks of all places in the tree of calls that cost something
//!   themselves or called nothing, and their costs as weights, in nanoseconds, bytes, or without a unit. The profile that is
//!   shown first is that of the default metric.
//! - A frame for each function, and for each line of it that samples have, with its file. Threads, roots and the like around
//!   all functions name the profile; each is a frame where it cost something itself.
//! - Costs are whole numbers.
//!
//! # References
//! - The format's description and its TypeScript and JSON schemas: <https://github.com/jlfwong/speedscope/wiki>.

use std::io::Write;

use hashbrown::HashSet;

use super::common::samples::{Frames, LINE_FILES, TOTALS, each_sample};
use super::common::stacks::{CUMULATIVE, SIBLINGS};
use super::common::{
    ABSENT, BACK_EDGES, CALLS, DEFINITIONS, FACTS, FRACTIONS, KINDS, LABELS, LARGE, LINE_ZERO, METRIC, METRICS,
    MODULES, NEGATIVE, RECORDED, SAME_NAME, json,
};
use super::{Export, ExportError, Losses, Metrics, Needs, Profile};
use crate::events::Kind;
use crate::store::MetricInfo;

/// See the module's page.
pub const EXPORT: Export = Export {
    name: "speedscope",
    summary: "speedscope files",
    needs: Needs::Tree,
    metrics: Metrics::All,
    layouts: &[],
    options: &[],
    losses: &[
        CALLS,
        METRIC,
        METRICS,
        TOTALS,
        FACTS,
        BACK_EDGES,
        LABELS,
        KINDS,
        MODULES,
        DEFINITIONS,
        SAME_NAME,
        RECORDED,
        ABSENT,
        LINE_ZERO,
        LINE_FILES,
        SIBLINGS,
        CUMULATIVE,
        FRACTIONS,
        NEGATIVE,
        LARGE,
    ],
    write,
};

/// What depends on the metric: everything else gets lost once.
const OF_METRICS: [super::Loss; 5] = [TOTALS, CUMULATIVE, FRACTIONS, NEGATIVE, LARGE];

fn write(profile: &Profile<'_>, losses: &mut Losses, out: &mut dyn Write) -> Result<(), ExportError> {
    losses.add(METRIC, profile.metrics.len() as u64);
    losses.add(METRICS, profile.other_metrics);
    losses.add(FACTS, profile.facts);
    losses.add(BACK_EDGES, profile.back_edges);
    losses.add(LABELS, profile.labels);
    write!(out, "{{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"profdb\"")?;
    if let Some(title) = &profile.run.title {
        write!(out, ",\"name\":{}", json(title))?;
    }
    write!(out, ",\"profiles\":[")?;
    let mut frames = Frames::new(profile);
    let mut profiles = Profiles { profile, count: 0, around: None, weights: Vec::new(), title: String::new() };
    let mut first = 0;
    for (at, metric) in profile.metrics.iter().enumerate() {
        if metric.metric_id == profile.metric.metric_id {
            first = profiles.count;
        }
        let mut of_metric = Losses::new(&EXPORT);
        profiles.metric(metric, &mut frames, &mut of_metric, out)?;
        for (loss, count) in of_metric.each().filter(|(loss, _)| at == 0 || OF_METRICS.contains(loss)) {
            losses.add(loss, count);
        }
    }
    write!(out, "\n],\"shared\":{{\"frames\":[")?;
    write_frames(profile, &frames, losses, out)?;
    write!(out, "\n]}}")?;
    if profiles.count > 0 {
        write!(out, ",\"activeProfileIndex\":{first}")?;
    }
    Ok(writeln!(out, "}}")?)
}

/// The profiles, one behind the other.
struct Profiles<'p> {
    profile: &'p Profile<'p>,
    /// How many have begun.
    count: usize,
    /// Threads and the like around the samples of the one that is open.
    around: Option<Vec<usize>>,
    /// Its weights.
    weights: Vec<u64>,
    /// What stands for the threads where there are none.
    title: String,
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
        each_sample(self.profile, std::slice::from_ref(metric), frames, losses, |sample, _| {
            if self.around.as_deref() != Some(sample.around) {
                self.end(out)?;
                self.begin(metric, sample.around, out)?;
            }
            let before = if self.weights.is_empty() { "" } else { "," };
            write!(out, "{before}[")?;
            for (at, frame) in sample.stack.iter().enumerate() {
                write!(out, "{}{frame}", if at == 0 { "" } else { "," })?;
            }
            write!(out, "]")?;
            negative += u64::from(sample.values[0] < 0);
            self.weights.push(u64::try_from(sample.values[0]).unwrap_or(0));
            Ok(())
        })?;
        losses.add(NEGATIVE, negative);
        self.end(out)
    }

    fn begin(&mut self, metric: &MetricInfo, around: &[usize], out: &mut dyn Write) -> Result<(), ExportError> {
        let run = &self.profile.run;
        let threads: Vec<&str> = around.iter().map(|at| self.profile.functions[*at].name.as_str()).collect();
        self.title = if threads.is_empty() { run.name.clone() } else { threads.join(" / ") };
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
        write!(out, "{before}\n{{\"type\":\"sampled\",\"name\":{name},\"unit\":\"{unit}\",\"startValue\":0")?;
        write!(out, ",\"samples\":[")?;
        self.count += 1;
        self.around = Some(around.to_vec());
        Ok(())
    }

    fn end(&mut self, out: &mut dyn Write) -> Result<(), ExportError> {
        if self.around.take().is_none() {
            return Ok(());
        }
        write!(out, "],\"weights\":[")?;
        let mut sum = 0_u64;
        for (at, weight) in self.weights.drain(..).enumerate() {
            write!(out, "{}{weight}", if at == 0 { "" } else { "," })?;
            sum = sum.saturating_add(weight);
        }
        Ok(write!(out, "],\"endValue\":{sum}}}")?)
    }
}

fn write_frames(
    profile: &Profile<'_>,
    frames: &Frames,
    losses: &mut Losses,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    for (at, place) in frames.places.iter().enumerate() {
        let known = &profile.functions[place.function];
        write!(out, "{}\n{{\"name\":{}", if at == 0 { "" } else { "," }, json(&known.name))?;
        let file = (!known.file.is_empty()).then(|| ("file", json(&known.file)));
        let numbers = [("line", place.line), ("col", place.col)]
            .map(|(name, number)| (number != 0).then(|| (name, number.to_string())));
        for (name, value) in file.into_iter().chain(numbers.into_iter().flatten()) {
            write!(out, ",\"{name}\":{value}")?;
        }
        write!(out, "}}")?;
    }
    let mut known = HashSet::new();
    for (at, function) in profile.functions.iter().enumerate() {
        losses.add(KINDS, (frames.placed[at] && function.kind != Kind::Function).into());
        losses.add(ABSENT, (!frames.placed[at]).into());
        losses.add(MODULES, (!function.module.is_empty()).into());
        losses.add(DEFINITIONS, (function.place != (0, 0)).into());
        losses.add(SAME_NAME, (!known.insert((&function.name, &function.file))).into());
    }
    Ok(())
}
