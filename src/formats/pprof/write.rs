//! pprof profiles (profile.proto)
//!
//! # What it is
//! The Protocol Buffers message `perftools.profiles.Profile`, compressed with gzip. `go tool pprof`, `pprof` and many programs
//! for continuous profiling read it, and so does profdb.
//!
//! # What is written
//! - A sample type for each metric: in nanoseconds, bytes, or counts. Values are whole numbers.
//! - A sample for each node of the call tree with an exclusive cost or without callees. Lines of functions
//!   are lines of locations, with samples of their own.
//! - Functions with file, first line of their definition and, as their mapping, their module. The raw name is the system
//!   name. Addresses are all 0. A function without a name is read as `[unknown]`.
//! - Roots, processes, threads and parts around the functions, as labels of the samples, called `thread` and the like. Each
//!   is a function if it has an exclusive cost.
//! - With `--diff BASE NEW`, samples of new, and those of base with negative values and the label `pprof::base`, as
//!   `pprof -diff_base` makes them: percentages refer to base. Functions are identities, without lines. If shares are compared
//!   (`--normalize total`), samples of new are scaled to the total of base, as `pprof -normalize` does.
//! - Properties of pprof files, if the run has them: command (the first mapping), time, duration, period, comments,
//!   default sample type, regular expressions of frames, link to documentation, build id.
//!
//! Labels of samples in the original file are not written.
//!
//! # References
//! - The schema, profile.proto, and the documentation of `pprof`: <https://github.com/google/pprof>.
//! - "Encoding", Protocol Buffers documentation.

#![expect(
    clippy::indexing_slicing,
    reason = "numbers of functions and metrics are the writer's own"
)]

use std::io::Write;

use hashbrown::HashMap;

use super::difference::DIFFERENCES;
use super::encode::Message;
use super::parts::{Locations, Texts, put, value_type};
use crate::base::slices::same;
use crate::events::Kind;
use crate::formats::common::samples::{FrameKey, Frames, LINE_FILES, Sample, each_sample};
use crate::formats::common::stacks::{CUMULATIVE, SIBLINGS};
use crate::formats::export::error::ExportError;
use crate::formats::export::losses::{
    ABSENT, BACK_EDGES, CALLS, FACTS, FRACTIONS, FUNCTION_CALLS, FUNCTION_COSTS, KINDS, LABELS,
    LARGE, LINE_ZERO, LINES, Loss, Losses, METRICS, NAMES, RECORDED, SAME_NAME, TITLE, TOTALS,
};
use crate::formats::export::profile::Profile;
use crate::formats::export::{Export, Metrics, Needs, Packing};
use crate::store::FunctionRow;
use crate::text::dates::nanoseconds;

/// The format of the page above, as it is written.
pub(in crate::formats) const EXPORT: Export = Export {
    name: "pprof",
    summary: "pprof profiles (profile.proto), for go tool pprof",
    needs: Needs::Tree,
    metrics: Metrics::All,
    layouts: &[],
    options: &[],
    packing: Packing::Gzip,
    losses: &[
        CALLS,
        FUNCTION_CALLS,
        METRICS,
        TOTALS,
        TITLE,
        FACTS,
        BACK_EDGES,
        LABELS,
        KINDS,
        DEFINITION_COLUMNS,
        NAMES,
        SAME_NAME,
        RECORDED,
        FUNCTION_COSTS,
        ABSENT,
        LINES,
        LINE_ZERO,
        LINE_FILES,
        SIBLINGS,
        CUMULATIVE,
        FRACTIONS,
        LARGE,
    ],
    difference: Some(&DIFFERENCES),
    write,
};

const DEFINITION_COLUMNS: Loss = Loss {
    name: "definition_columns",
    what: "column of definition of functions",
    of: "functions",
};

/// Names that readers give to what has none.
const NO_STACK: &str = "[no stack]";
const UNKNOWN: &str = "[unknown]";

fn write(
    profile: &Profile<'_>,
    losses: &mut Losses,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    losses.add(METRICS, profile.other_metrics);
    losses.add(TITLE, profile.run.title.is_some().into());
    losses.add(BACK_EDGES, profile.back_edges);
    losses.add(LABELS, profile.labels);
    let mut texts = Texts::default();
    // In the order in which things become known: samples name frames, tables name texts, and
    // nothing waits. Readers take fields in any order (case `pprof/samples-first`).
    facts(profile, &mut texts, losses, out)?;
    let identity = |function: &FunctionRow| {
        let FunctionRow {
            name,
            module,
            file,
            place: (line, _),
            ..
        } = function;
        (name.clone(), module.clone(), file.clone(), *line)
    };
    let mut frames = Frames::new(profile, identity);
    let is_no_stack = |function: usize| {
        let known = &profile.functions[function];
        is_reserved(known) && known.name == NO_STACK
    };
    let mut samples = Samples::default();
    // Once for each function: the closure below runs for each sample.
    let no_stack: Vec<bool> = (0..profile.functions.len()).map(is_no_stack).collect();
    each_sample(
        profile,
        &profile.metrics,
        &mut frames,
        losses,
        |one, places| {
            let without = one.stack.len() == 1 && no_stack[places[one.stack[0]].function];
            samples.write(profile, &mut texts, one, without, out)
        },
    )?;
    tables(profile, &mut texts, &frames, losses, out)?;
    texts.write(out)
}

/// What the run as a whole is like.
fn facts<'p>(
    profile: &'p Profile<'_>,
    texts: &mut Texts<'p>,
    losses: &mut Losses,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let mut types = Vec::new();
    for metric in &profile.metrics {
        let unit = match metric.unit.as_str() {
            "ns" => "nanoseconds",
            other => other,
        };
        types.push(format!("{}/{unit}", metric.name));
        put(out, 1, &value_type(texts, &metric.name, unit))?;
    }
    let mut message = Message::default();
    let mut held = 0;
    // Readers take the last sample type for the default one; only another one has to be named.
    let mut default = "";
    if profile
        .metrics
        .last()
        .is_some_and(|last| last.metric_id != profile.metric.metric_id)
    {
        default = &profile.metric.name;
    }
    for (name, text) in &profile.properties {
        let number = || {
            text.parse::<i64>()
                .ok()
                // A field that is 0 is not written, and readers do not find it.
                .filter(|number| *number != 0)
                .map(i64::cast_unsigned)
        };
        held += u64::from(match name.as_str() {
            // Of the first mapping.
            "command" | "build_id" => true,
            "sample_types" => *text == types.join(" "),
            "recorded_at" => nanoseconds(text)
                .filter(|time| *time != 0)
                .map(|time| message.number(9, time.cast_unsigned()))
                .is_some(),
            "duration_nanos" => number().map(|number| message.number(10, number)).is_some(),
            "period" => number().map(|number| message.number(12, number)).is_some(),
            "period_type" => {
                let parts = text.rsplit_once('/');
                parts
                    .map(|(name, unit)| message.field(11, value_type(texts, name, unit).bytes()))
                    .is_some()
            }
            "comment" => {
                let comments: Vec<u64> =
                    text.split('\n').map(|comment| texts.add(comment)).collect();
                message.numbers(13, comments.iter().copied());
                true
            }
            // Readers are to find it among those that are there.
            "default_sample_type" if profile.metrics.iter().any(|metric| metric.name == *text) => {
                default = text;
                true
            }
            "drop_frames" | "keep_frames" | "doc_url" => {
                let field = [("drop_frames", 7), ("keep_frames", 8), ("doc_url", 15)];
                field
                    .iter()
                    .filter(|(known, _)| known == name)
                    .for_each(|(_, field)| {
                        message.number(*field, texts.add(text));
                    });
                true
            }
            _ => false,
        });
    }
    // After the loop: a property of the run goes before the default metric.
    message.number(14, texts.add(default));
    losses.add(FACTS, profile.facts - held);
    Ok(out.write_all(message.bytes())?)
}

/// Writes samples, one after the other, in memory that is used again.
#[derive(Default)]
struct Samples {
    locations: Locations,
    /// Threads and the like around the functions of the last sample, and the labels made of them.
    around: Vec<usize>,
    labels: Message,
    message: Message,
    /// The message as a field of the file.
    field: Message,
}

impl Samples {
    /// Writes a sample; threads and the like around its functions are its labels.
    fn write<'p>(
        &mut self,
        profile: &'p Profile<'_>,
        texts: &mut Texts<'p>,
        Sample {
            around,
            stack,
            kept,
            values,
            ..
        }: &Sample<'_>,
        is_no_stack: bool,
        out: &mut dyn Write,
    ) -> Result<(), ExportError> {
        self.message.clear();
        self.locations.follow(stack, *kept);
        if !is_no_stack {
            self.message.packed(1, self.locations.bytes());
        }
        self.message
            .numbers(2, values.iter().map(|value| value.cast_unsigned()));
        if !same(&self.around, around) {
            self.around.clear();
            self.around.extend_from_slice(around);
            self.labels.clear();
            for thread in *around {
                let FunctionRow { kind, name, .. } = &profile.functions[*thread];
                let mut label = Message::default();
                label.number(1, texts.add(kind.name()));
                label.number(2, texts.add(name));
                self.labels.field(3, label.bytes());
            }
        }
        self.message.append(&self.labels);
        self.field.clear();
        self.field.field(2, self.message.bytes());
        Ok(out.write_all(self.field.bytes())?)
    }
}

/// What the samples refer to.
fn tables<'p>(
    profile: &'p Profile<'_>,
    texts: &mut Texts<'p>,
    frames: &Frames,
    losses: &mut Losses,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let mappings = mappings(profile, texts, out)?;
    for (
        id,
        FrameKey {
            function,
            line,
            col,
        },
    ) in (1..).zip(&frames.places)
    {
        let known = &profile.functions[*function];
        let mut message = Message::default();
        message.number(1, id);
        let mapping = mappings
            .get(known.module.as_str())
            // The first mapping may have a build id and no file. It would be found for every
            // function without a module.
            .filter(|_| !known.module.is_empty());
        message.number(2, mapping.copied().unwrap_or(0));
        let is_unknown = is_reserved(known) && known.name == UNKNOWN;
        losses.add(LINES, (is_unknown && *line != 0).into());
        // Readers make `[unknown]` of a location that has neither lines nor an address.
        if !is_unknown {
            let mut place = Message::default();
            place.number(1, *function as u64 + 1);
            place.number(2, line.cast_unsigned());
            place.number(3, col.cast_unsigned());
            message.field(4, place.bytes());
        }
        put(out, 4, &message)?;
    }
    frames.lose_same_names(profile, losses);
    for (at, function) in profile.functions.iter().enumerate() {
        let FunctionRow {
            kind,
            name,
            file,
            place: (line, col),
            raw_name,
            ..
        } = function;
        let is_label = kind.is_container() && frames.is_around[at] && !frames.is_framed[at];
        let is_held = match name.as_str() {
            // Read as `[unknown]`, which is no code of the program.
            "" => *kind == Kind::Pseudo,
            _ => *kind == Kind::Function || is_reserved(function) || is_label,
        };
        losses.add(KINDS, (frames.placed[at] && !is_held).into());
        losses.add(ABSENT, (!frames.placed[at]).into());
        losses.add(NAMES, name.is_empty().into());
        losses.add(DEFINITION_COLUMNS, (*col != 0).into());
        let mut message = Message::default();
        message.number(1, at as u64 + 1);
        message.number(2, texts.add(name));
        message.number(3, texts.add(raw_name.as_deref().unwrap_or_default()));
        message.number(4, texts.add(file));
        message.number(5, line.cast_unsigned());
        put(out, 5, &message)?;
    }
    Ok(())
}

/// Writes a mapping for each module, and gives their ids. The first one is that of the program.
fn mappings<'p>(
    profile: &'p Profile<'_>,
    texts: &mut Texts<'p>,
    out: &mut dyn Write,
) -> Result<HashMap<&'p str, u64>, ExportError> {
    let property = |wanted: &str| {
        let found = profile.properties.iter().find(|(name, _)| name == wanted);
        found.map(|(_, text)| text.as_str())
    };
    let (command, build_id) = (property("command"), property("build_id"));
    let modules = profile
        .functions
        .iter()
        .map(|function| function.module.as_str());
    let first = command.or(build_id.map(|_| ""));
    let mut mappings: HashMap<&str, u64> = HashMap::new();
    for module in first
        .into_iter()
        .chain(modules.filter(|module| !module.is_empty()))
    {
        let next = mappings.len() as u64 + 1;
        // In the order of the functions, never in that of the map: the same run gives the same
        // bytes.
        if *mappings.entry(module).or_insert(next) != next {
            continue;
        }
        let mut message = Message::default();
        message.number(1, next);
        message.number(5, texts.add(module));
        message.number(
            6,
            if next == 1 {
                texts.add(build_id.unwrap_or_default())
            } else {
                0
            },
        );
        // Functions, files, lines and inlined functions are known: there is no need to look for
        // symbols.
        (7..=10).for_each(|known| message.number(known, 1));
        put(out, 3, &message)?;
    }
    Ok(mappings)
}

/// Whether readers make a function of their own of something without a name.
fn is_reserved(function: &FunctionRow) -> bool {
    let is_plain = function.file.is_empty() && function.place == (0, 0);
    function.kind == Kind::Pseudo
        && is_plain
        && (function.name == UNKNOWN || (function.name == NO_STACK && function.module.is_empty()))
}
