//! stackprof, the sampling profiler of Ruby (`stackprof --json`)
//!
//! # What it is
//! JSON with functions, their samples and callees, and with stacks on request. Default metric: `time` in the modes
//! cpu and wall, `allocations` in the mode object. `samples` is a further metric, and the only one in the mode custom.
//!
//! # How to record one
//! ```text
//! StackProf.run(mode: :cpu, raw: true, out: 'run.dump') { ... }
//! stackprof --json run.dump > run.json
//! ```
//! Without `raw: true` there are no stacks. `JSON.generate(StackProf.results)` writes the same file. The `.dump` itself
//! is not read.
//!
//! # What we read
//! - With `raw`, stacks; equal ones are added up. Without it, pairs of caller and callee (fidelity `edges`). Without callees,
//!   too (`aggregate: false`), totals only (`flat`).
//! - `samples`, which are stackprof's own figures. `time` is samples times `interval`. `allocations` is samples times `interval`,
//!   too, because the mode object samples one in `interval` allocations. The total is the one that the file states.
//! - Functions by name, file and line of their definition. Several ids of one function are added up. Functions in C have the file
//!   `<cfunc>`. `(garbage collection)`, `(marking)` and `(sweeping)` are `pseudo` and have separate stacks. Old files only state
//!   the number of these samples: they count for `(garbage collection)`, as in later ones.
//! - Without stacks, `total_samples` as inclusive cost: stackprof counts a function once per sample. Before version 0.2.11 it
//!   counted every level of a recursion. Such a file is recognised because the total of every function is the sum of its own
//!   samples and its callees'. The inclusive cost of functions in a call cycle is then unknown, and so is that of several ids
//!   of one function.
//! - Callees without stacks count every level of a recursion: a callee may have more samples than its caller.
//! - Lines from `raw_lines` (since version 0.2.26), which belong to stacks. Without it, `lines` has the samples with a line on
//!   the stack, every level counted, and those with the line as the innermost. A line then has an inclusive cost if its
//!   function is not recursive.
//! - Mode, interval, version of the file, samples, those of the garbage collection, those that were missed (in the mode object the
//!   allocations that were not sampled), and the values of `metadata`, as properties of the run.
//! - Several recordings that stackprof has merged, whose ids are strings.
//!
//! # What we leave out
//! - Calls: a sampling profiler does not count them.
//! - Times of samples: `raw_sample_timestamps`, `raw_timestamp_deltas`. `time` does not include missed samples.
//! - With stacks, `total_samples`, `samples` and `edges` of functions, which are sums over the stacks; a note counts differences.
//! - Lines with one figure instead of two, as in files of 2013, with a note.
//! - With `raw_lines`, `lines`. stackprof stores 16 bits of a line there: lines after 65535 are too small by a multiple of 65536.
//! - Nested values in `metadata`; unknown members are counted in a note.
//! - The `.dump` (Ruby's Marshal), and text output of `stackprof`. `--stackcollapse` is [folded](#folded), `--callgrind`
//!   [callgrind](#callgrind).
//!
//! # References
//! - stackprof's sources, `ext/stackprof/stackprof.c` and `lib/stackprof/report.rb`: <https://github.com/tmm1/stackprof>.

use super::frames::Frames;
use super::functions::{Functions, say_callees, say_info};
use super::members::{Once, count_of};
use super::metric::{Metric, add, collector_function};
use super::raw::Runs;
use super::stacks::Stacks;
use crate::base::error::{ImportError, Position, quote};
use crate::events::{Fidelity, Frame, Note, RunFact, Severity, Sink, Unit};
use crate::formats::common::counted::{Counted, many};
use crate::formats::common::json::{Outline, Reader, Within};
use crate::formats::format::{Confidence, Format};
use crate::formats::options::{KEEP_BEFORE_ERROR_OPTION, Options};
use crate::formats::salvage::Salvage;
use crate::input::Input;
use crate::text::escape;

/// See the module's page.
pub(in crate::formats) const FORMAT: Format = Format {
    name: "stackprof",
    summary: "stackprof, the sampling profiler of Ruby (JSON)",
    revision: 3,
    sniff,
    has_empty_recordings: true,
    salvage: Salvage::Json,
    options: &[KEEP_BEFORE_ERROR_OPTION],
    import,
};

/// A microsecond, in nanoseconds.
const MICROSECOND: f64 = 1e3;

/// Properties that a run keeps of `metadata`.
const MOST_PROPERTIES: usize = 64;

const MEMBERS: &[&str] = &[
    "version",
    "mode",
    "interval",
    "samples",
    "gc_samples",
    "missed_samples",
    "metadata",
    "frames",
    "raw",
    "raw_lines",
    "raw_sample_timestamps",
    "raw_timestamp_deltas",
];

/// stackprof writes a dozen members, those with few bytes first. Whoever writes them in another
/// order has functions with their totals, or stacks.
fn sniff(head: &[u8]) -> Confidence {
    let Some(outline) = Outline::of(head).filter(|outline| !outline.in_array) else {
        return Confidence::No;
    };
    let has_totals = || memchr::memmem::find(head, b"\"total_samples\"").is_some();
    let has_counts = outline.has("gc_samples") && outline.has("missed_samples");
    if has_counts || outline.has("frames") && has_totals() {
        return Confidence::Yes;
    }
    // The stacks may come first.
    if ["raw", "raw_lines", "raw_sample_timestamps"].map(|name| outline.has(name)) != [false; 3] {
        return Confidence::Maybe;
    }
    Confidence::No
}

fn import(
    input: &mut Input<'_>,
    _options: &Options,
    sink: &mut dyn Sink,
) -> Result<(), ImportError> {
    let mut json = Reader::new(input);
    let file = File::read(&mut json, sink)?;
    sink.at(json.record_start());
    file.say(&mut json, sink)
}

/// What the file says, until all of it is known.
#[derive(Default)]
struct File {
    mode: Vec<u8>,
    /// As the file has it: microseconds, or every how many allocations.
    interval: Option<f64>,
    /// Where this is said, and how many there are.
    samples: Option<(Position, u64)>,
    of_collector: u64,
    frames: Frames,
    has_frames: bool,
    raw: Option<Runs>,
    lines: Option<Runs>,
    /// Members that are not read.
    nested: Counted,
}

impl File {
    fn read(json: &mut Reader<'_, '_>, sink: &mut dyn Sink) -> Result<Self, ImportError> {
        let mut file = Self::default();
        let (mut within, mut once) = (Within::default(), Once::of(MEMBERS));
        let mut name = Vec::new();
        while let Some(at) = json.member(&mut within, &mut name)? {
            json.begin_record_at(at);
            sink.at(at);
            match once.member(&name, at)? {
                "version" => fact("version", &json.decimal("a version")?.0, sink),
                "mode" => {
                    json.text(&mut file.mode)?;
                    fact("mode", &escape::text(&file.mode), sink);
                }
                "interval" => file.interval = Some(interval(json, sink)?),
                "samples" => file.samples = Some((at, count(json, "samples", sink)?)),
                "gc_samples" => file.of_collector = count(json, "gc_samples", sink)?,
                "missed_samples" => {
                    count(json, "missed_samples", sink)?;
                }
                "metadata" => metadata(json, &mut file.nested, sink)?,
                "frames" => {
                    file.has_frames = true;
                    file.frames.read(json, sink)?;
                }
                "raw" => {
                    let frames = &mut file.frames;
                    file.raw = Some(Runs::read(json, at, "raw", |json| frames.number(json))?);
                }
                "raw_lines" => {
                    let line = |json: &mut Reader<'_, '_>| json.index("a line number");
                    file.lines = Some(Runs::read(json, at, "raw_lines", line)?);
                }
                "" => {
                    file.frames.unknown.add_with(at, || quote(&name));
                    json.skip()?;
                }
                _ => json.skip()?,
            }
        }
        let missing = |name: &str| {
            let expected = format!("a member `{name}`");
            ImportError::malformed(json.position(), expected, "the end of the profile")
        };
        if !file.has_frames {
            return Err(missing("frames"));
        }
        if file.samples.is_none() {
            return Err(missing("samples"));
        }
        json.end()?;
        Ok(file)
    }

    /// Says it all at last, as members come in any order.
    fn say(mut self, json: &mut Reader<'_, '_>, sink: &mut dyn Sink) -> Result<(), ImportError> {
        // First, because all that follows names frames by their numbers.
        let (frames, missing) = self.frames.all(sink)?;
        let functions = Functions::of(&frames, missing);
        let (at, samples) = self.samples.unwrap_or((json.position(), 0));
        let mut own = 0;
        for frame in &frames {
            add(&mut own, frame.own);
        }
        // Old versions have no frame for it (case `stackprof/collector-without-frame`).
        let is_old = !self.frames.has_collector && !json.ends_early();
        let collector = if is_old && own.checked_add(self.of_collector) == Some(samples) {
            self.of_collector
        } else {
            0
        };
        // A file that is cut before its first stack has figures of functions only.
        let has_stacks = |raw: &Runs| !raw.runs.is_empty() || !json.ends_early();
        if let Some(raw) = self.raw.take().filter(has_stacks) {
            let metrics = self.metrics(at, samples, sink);
            let lines = self.lines.take();
            let mut stacks = Stacks::new(&frames, &metrics, sink);
            let mut stacked = stacks.say(&raw, lines.as_ref())?;
            if collector > 0 {
                stacks.say_collector(collector);
                add(&mut stacked, collector);
            }
            // With `raw_lines` the stacks have their lines, and `lines` of the frames would say the
            // same samples once more.
            if lines.is_none() {
                functions.say_lines(&metrics, sink);
            }
            if stacked != samples {
                let message = format!(
                    "the file states {samples} samples, but its stacks have {stacked}: percentages refer to \
                             the stated number"
                );
                warn(raw.at, &message, sink);
            }
        } else {
            sink.run(RunFact::Fidelity(if functions.has_callees {
                Fidelity::Edges
            } else {
                Fidelity::Flat
            }));
            let metrics = self.metrics(at, samples, sink);
            if let Some(lines) = &self.lines {
                warn(
                    lines.at,
                    "`raw_lines` without `raw` skipped: costs of lines come from the functions",
                    sink,
                );
            }
            if functions.has_callees {
                say_callees(&frames, &functions, &metrics, sink);
            }
            functions.say(&metrics, sink);
            functions.say_lines(&metrics, sink);
            if collector > 0 {
                let frame = Frame::function(collector_function(sink));
                say_info(frame, collector, Some(collector), &metrics, sink);
            }
            add(&mut own, collector);
            if own != samples {
                let message = format!(
                    "the file states {samples} samples, but its functions have {own}: percentages refer to \
                             the stated number"
                );
                warn(at, &message, sink);
            }
        }
        self.emit_notes(sink);
        Ok(())
    }

    /// Announces the metrics and their totals.
    fn metrics(&self, at: Position, samples: u64, sink: &mut dyn Sink) -> Vec<Metric> {
        let counted = Metric::new("samples", Unit::Count, 1.0, samples, None, sink);
        let counts = counted.id;
        let mut metrics = vec![counted];
        let (name, unit, factor) = match self.mode.as_slice() {
            b"cpu" | b"wall" => ("time", Unit::Nanoseconds, MICROSECOND),
            b"object" => ("allocations", Unit::Count, 1.0),
            _ => return metrics,
        };
        if let Some(interval) = self.interval {
            let metric = Metric::new(name, unit, factor * interval, samples, Some(counts), sink);
            sink.run(RunFact::DefaultMetric(metric.id));
            metrics.push(metric);
        } else {
            let message = format!(
                "the file has no `interval`, so {name} is unknown: only samples are stored"
            );
            warn(at, &message, sink);
        }
        metrics
    }

    fn emit_notes(&self, sink: &mut dyn Sink) {
        self.nested.note(sink, Severity::Info, |count| {
            format!("{} of `metadata` skipped", many(count, "member"))
        });
        self.frames.own_only.note(sink, Severity::Warning, |count| {
            let lines = many(count, "line");
            format!("{lines} with exclusive samples only skipped: the inclusive cost is unknown")
        });
        let unknown = &self.frames.unknown;
        unknown.note_with(sink, Severity::Info, |count, first| {
            format!("{} skipped (first: {first})", many(count, "member"))
        });
    }
}

fn warn(at: Position, message: &str, sink: &mut dyn Sink) {
    sink.note(Note {
        severity: Severity::Warning,
        position: Some(at),
        message,
    });
}

fn fact(name: &str, value: &str, sink: &mut dyn Sink) {
    sink.run(RunFact::Other(name, value));
}

/// A count of the run, which is kept as a property, too.
fn count(json: &mut Reader<'_, '_>, name: &str, sink: &mut dyn Sink) -> Result<u64, ImportError> {
    let count = count_of(json, format_args!("a count in `{name}`"))?;
    fact(name, &count.to_string(), sink);
    Ok(count)
}

fn interval(json: &mut Reader<'_, '_>, sink: &mut dyn Sink) -> Result<f64, ImportError> {
    const WHAT: &str = "a non-negative number in `interval`";
    let at = json.place()?;
    let (text, interval) = json.decimal(WHAT)?;
    if interval < 0.0 {
        return Err(ImportError::malformed(at, WHAT, text));
    }
    fact("interval", &text, sink);
    Ok(interval)
}

/// What the program has put in, as properties of the run.
fn metadata(
    json: &mut Reader<'_, '_>,
    nested: &mut Counted,
    sink: &mut dyn Sink,
) -> Result<(), ImportError> {
    let (mut within, mut name, mut value) = (Within::default(), Vec::new(), Vec::new());
    let mut properties = 0;
    while let Some(at) = json.member_or_null(&mut within, &mut name)? {
        json.begin_record_at(at);
        sink.at(at);
        properties += 1;
        // A program may put anything in: what nests, and more than 64 properties, is counted and
        // left out.
        let is_nested = json.is_next(b'[')? || json.is_next(b'{')?;
        if is_nested || properties > MOST_PROPERTIES {
            nested.add(at);
            json.skip()?;
            continue;
        }
        value.clear();
        let word: &[u8] = if json.null()? {
            b"null"
        } else if json.is_next(b't')? {
            json.skip()?;
            b"true"
        } else if json.is_next(b'f')? {
            json.skip()?;
            b"false"
        } else {
            json.text_or_number("a string, a number, `true`, `false` or `null`", &mut value)?;
            &value
        };
        let name = format!("metadata.{}", escape::text(&name));
        fact(&name, &escape::text(word), sink);
    }
    Ok(())
}
