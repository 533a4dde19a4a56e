//! pprof profiles (profile.proto)
//!
//! # What it is
//! The Protocol Buffers message `perftools.profiles.Profile` inside gzip, which `go tool pprof`, `pprof` and many programs
//! for continuous profiling read. profdb reads it, too.
//!
//! # What is written
//! - A sample type for each metric: in nanoseconds, bytes, or counts. Values are whole numbers.
//! - A sample for each place in the tree of calls that cost something itself or called nothing. Lines of functions
//!   are lines of locations: a function's sample is what its lines have left.
//! - Functions with file, first line of their definition and, as their mapping, their module. What a name was before it
//!   was made readable is the system name. Addresses are all 0. A function without a name is read as `[unknown]`.
//! - Roots, processes, threads and parts around the functions are labels of the samples, called `thread` and the like; each
//!   is a function where it cost something itself.
//! - What such files say of themselves as well: command (the first mapping), time, duration, period, comments,
//!   default sample type, regular expressions of frames, link to documentation, build id.
//!
//! # References
//! - The schema, profile.proto, and the documentation of `pprof`: <https://github.com/google/pprof>.
//! - "Encoding", Protocol Buffers documentation.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use hashbrown::{HashMap, HashSet};

use super::common::protobuf::Message;
use super::common::stacks::{CUMULATIVE, SIBLINGS, Stacks};
use super::common::{
    ABSENT, BACK_EDGES, CALLS, FACTS, FRACTIONS, KINDS, LARGE, LINE_ZERO, LINES, METRICS, NAMES, Parts, SAME_NAME,
    TITLE, signed,
};
use super::{Export, ExportError, Loss, Losses, Metrics, Needs, Profile};
use crate::events::Kind;
use crate::store::{FunctionRow, LinePlace, NodeRow};

/// See the module's page.
pub const EXPORT: Export = Export {
    name: "pprof",
    summary: "pprof profiles (profile.proto), for go tool pprof",
    needs: Needs::Tree,
    metrics: Metrics::All,
    layouts: &[],
    options: &[],
    losses: &[
        CALLS,
        METRICS,
        TOTALS,
        TITLE,
        FACTS,
        BACK_EDGES,
        KINDS,
        DEFINITION_COLUMNS,
        NAMES,
        SAME_NAME,
        ABSENT,
        LINES,
        LINE_ZERO,
        LINE_FILES,
        SIBLINGS,
        CUMULATIVE,
        FRACTIONS,
        LARGE,
    ],
    write,
};

const TOTALS: Loss = Loss { name: "totals", what: "totals that the functions do not add up to", of: "metrics" };

const DEFINITION_COLUMNS: Loss =
    Loss { name: "definition_columns", what: "column of definition of functions", of: "functions" };

const LINE_FILES: Loss = Loss { name: "line_files", what: "files of lines that are not the function's", of: "nodes" };

/// What rounding may make of a sum, as a part of it.
const ROUNDING: f64 = 1e-9;

/// Names that readers give to what has none.
const NO_STACK: &str = "[no stack]";
const UNKNOWN: &str = "[unknown]";

fn write(profile: &Profile<'_>, losses: &mut Losses, out: &mut dyn Write) -> Result<(), ExportError> {
    losses.add(METRICS, profile.other_metrics);
    losses.add(TITLE, profile.run.title.is_some().into());
    losses.add(BACK_EDGES, profile.back_edges);
    let mut out = GzEncoder::new(out, Compression::default());
    let mut texts = Texts::default();
    facts(profile, &mut texts, losses, &mut out)?;
    let mut samples = Samples::new(profile, &mut texts);
    profile.each_node(|rows| samples.node(rows, losses, &mut out))?;
    samples.close(0, losses, &mut out)?;
    for (metric, total) in profile.metrics.iter().zip(&samples.totals) {
        let differs = (metric.total - total).abs() > ROUNDING * metric.total.abs().max(total.abs());
        losses.add(TOTALS, differs.into());
    }
    samples.tables(losses, &mut out)?;
    texts.write(&mut out)?;
    out.finish()?;
    Ok(())
}

/// The string table, in the order in which texts were needed. The first one is empty.
#[derive(Default)]
struct Texts<'p> {
    index: HashMap<&'p str, u64>,
    all: Vec<&'p str>,
}

impl<'p> Texts<'p> {
    fn add(&mut self, text: &'p str) -> u64 {
        if text.is_empty() {
            return 0;
        }
        let next = self.all.len() as u64 + 1;
        let id = *self.index.entry(text).or_insert(next);
        if id == next {
            self.all.push(text);
        }
        id
    }

    fn write(&self, out: &mut impl Write) -> Result<(), ExportError> {
        let mut message = Message::default();
        for text in [""].iter().chain(&self.all) {
            message.clear();
            message.field(6, text.as_bytes());
            out.write_all(message.bytes())?;
        }
        Ok(())
    }
}

/// A field of the file.
fn put(out: &mut impl Write, field: u64, message: &Message) -> Result<(), ExportError> {
    let mut outer = Message::default();
    outer.field(field, message.bytes());
    Ok(out.write_all(outer.bytes())?)
}

/// What the run as a whole is like.
fn facts<'p>(
    profile: &'p Profile<'_>,
    texts: &mut Texts<'p>,
    losses: &mut Losses,
    out: &mut impl Write,
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
    let mut default = "";
    if profile.metrics.last().is_some_and(|last| last.metric_id != profile.metric.metric_id) {
        default = &profile.metric.name;
    }
    for (name, text) in &profile.told {
        let number = || text.parse::<i64>().ok().map(i64::cast_unsigned);
        held += u64::from(match name.as_str() {
            // Of the first mapping.
            "command" | "build_id" => true,
            "sample_types" => *text == types.join(" "),
            "recorded_at" => nanoseconds(text).map(|time| message.number(9, time.cast_unsigned())).is_some(),
            "duration_nanos" => number().map(|number| message.number(10, number)).is_some(),
            "period" => number().map(|number| message.number(12, number)).is_some(),
            "period_type" => {
                let parts = text.rsplit_once('/');
                parts.map(|(name, unit)| message.field(11, value_type(texts, name, unit).bytes())).is_some()
            }
            "comment" => {
                message.numbers(13, text.split('\n').map(|comment| texts.add(comment)));
                true
            }
            "default_sample_type" => {
                default = text;
                true
            }
            "drop_frames" | "keep_frames" | "doc_url" => {
                let field = [("drop_frames", 7), ("keep_frames", 8), ("doc_url", 15)];
                field.iter().filter(|(known, _)| known == name).for_each(|(_, field)| {
                    message.number(*field, texts.add(text));
                });
                true
            }
            _ => false,
        });
    }
    message.number(14, texts.add(default));
    losses.add(FACTS, profile.facts - held);
    Ok(out.write_all(message.bytes())?)
}

fn value_type<'p>(texts: &mut Texts<'p>, name: &'p str, unit: &'p str) -> Message {
    let mut message = Message::default();
    message.number(1, texts.add(name));
    message.number(2, texts.add(unit));
    message
}

/// Nanoseconds since 1970 of a date and a time of day, UTC, as pprof's are shown: `2026-01-31T09:30:00.5Z`.
fn nanoseconds(text: &str) -> Option<i64> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let numbers = |text: &str, by: char| -> Option<[i64; 3]> {
        let parts: Option<Vec<i64>> = text.split(by).map(|part| part.parse::<u32>().ok().map(i64::from)).collect();
        parts?.try_into().ok()
    };
    let (time, fraction) = time.split_once('.').unwrap_or((time, ""));
    let [year, month, day] = numbers(date, '-')?;
    let [hour, minute, second] = numbers(time, ':')?;
    let fraction = format!("{fraction:0<9}").parse::<u32>().ok().filter(|_| fraction.len() <= 9)?;
    // Years begin in March here, so that the odd day is the last one.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468;
    let seconds = days.checked_mul(86_400)?.checked_add(hour * 3600 + minute * 60 + second)?;
    seconds.checked_mul(1_000_000_000)?.checked_add(i64::from(fraction))
}

/// A line of a function; line 0 stands for the function as a whole.
type Place = (usize, i64, i64);

/// The samples, and what they need of the tables.
struct Samples<'p, 't> {
    profile: &'p Profile<'p>,
    texts: &'t mut Texts<'p>,
    /// Ids of locations, in the order in which they were needed.
    locations: HashMap<Place, u64>,
    places: Vec<Place>,
    stacks: Stacks,

    open: Vec<Open>,
    /// The ids of the open calls, outermost first.
    path: Vec<u64>,
    /// Key and value of the open threads and the like.
    labels: Vec<(u64, u64)>,
    /// For each open node and metric: its own cost, and what lines have had of it.
    own: Vec<(i64, Parts)>,
    /// What all places cost themselves, by metric.
    totals: Vec<f64>,
    message: Message,
    placed: Vec<bool>,
}

/// An open node.
struct Open {
    function: usize,
    id: u64,
    /// It is a label, not a frame.
    is_label: bool,
    /// What stood where its id stands now: lines take the place of their function.
    instead: Option<u64>,
    is_leaf: bool,
}

impl<'p, 't> Samples<'p, 't> {
    fn new(profile: &'p Profile<'p>, texts: &'t mut Texts<'p>) -> Self {
        Self {
            profile,
            texts,
            locations: HashMap::new(),
            places: Vec::new(),
            stacks: Stacks::default(),
            open: Vec::new(),
            path: Vec::new(),
            labels: Vec::new(),
            own: Vec::new(),
            totals: vec![0.0; profile.metrics.len()],
            message: Message::default(),
            placed: vec![false; profile.functions.len()],
        }
    }

    fn node(&mut self, rows: &[NodeRow], losses: &mut Losses, out: &mut impl Write) -> Result<(), ExportError> {
        let NodeRow { depth, function_id, line, calls, .. } = &rows[0];
        self.close(*depth, losses, out)?;
        let function = self.profile.function(*function_id);
        let known = &self.profile.functions[function];
        losses.add(CALLS, calls.is_some().into());
        let place = line.as_ref().map_or((function, 0, 0), |LinePlace { file, line, col }| {
            losses.add(LINES, (is_reserved(known) && known.name == UNKNOWN).into());
            losses.add(LINE_FILES, (!file.is_empty()).into());
            losses.add(LINE_ZERO, (*line == 0).into());
            (function, *line, *col)
        });
        let next = self.places.len() as u64 + 1;
        let id = *self.locations.entry(place).or_insert(next);
        if id == next {
            self.places.push(place);
        }
        self.stacks.enter_node(rows, usize::try_from(id).unwrap_or(usize::MAX), losses);
        let is_label = line.is_none() && known.kind.is_container() && self.path.is_empty();
        if !std::mem::replace(&mut self.placed[function], true) {
            let is_own = known.kind == Kind::Function || (known.kind == Kind::Pseudo && is_reserved(known));
            losses.add(KINDS, (!is_own && !is_label).into());
        }
        // Lines break down the node above.
        let count = self.profile.metrics.len();
        let above = self.own.len().saturating_sub(count);
        for (at, row) in rows.iter().enumerate() {
            let own = if let (Some(_), Some((_, parts))) = (line, self.own.get_mut(above + at)) {
                parts.part(row.exclusive, losses)
            } else {
                self.totals[at] += row.exclusive;
                signed(row.exclusive, losses)
            };
            self.own.push((own, Parts::default()));
        }
        if let Some(above) = self.open.last_mut() {
            above.is_leaf = false;
        }
        let mut instead = None;
        if is_label {
            self.labels.push((self.texts.add(known.kind.name()), self.texts.add(&known.name)));
        } else {
            instead = if line.is_some() { self.path.pop() } else { None };
            self.path.push(id);
        }
        self.open.push(Open { function, id, is_label, instead, is_leaf: true });
        Ok(())
    }

    /// Closes nodes until so many are open, each with its sample.
    fn close(&mut self, depth: usize, losses: &mut Losses, out: &mut impl Write) -> Result<(), ExportError> {
        self.stacks.leave(depth, losses);
        while self.open.len() > depth {
            let Some(Open { function, id, is_label, instead, is_leaf }) = self.open.pop() else { break };
            let first = self.open.len() * self.profile.metrics.len();
            let values: Vec<i64> = self.own.drain(first..).map(|(own, mut parts)| parts.left_of(own)).collect();
            if is_leaf || values.iter().any(|value| *value != 0) {
                self.sample(function, is_label.then_some(id), &values, out)?;
            }
            if is_label {
                self.labels.pop();
            } else {
                self.path.pop();
                self.path.extend(instead);
            }
        }
        Ok(())
    }

    /// Writes what the innermost open node cost itself.
    fn sample(
        &mut self,
        function: usize,
        label: Option<u64>,
        values: &[i64],
        out: &mut impl Write,
    ) -> Result<(), ExportError> {
        let known = &self.profile.functions[function];
        let is_no_stack = is_reserved(known) && known.name == NO_STACK && self.path.len() == 1;
        let path = if is_no_stack { &[] } else { self.path.as_slice() };
        self.message.clear();
        self.message.numbers(1, path.iter().chain(&label).rev().copied());
        self.message.numbers(2, values.iter().map(|value| value.cast_unsigned()));
        for (key, value) in &self.labels {
            let mut label = Message::default();
            label.number(1, *key);
            label.number(2, *value);
            self.message.field(3, label.bytes());
        }
        put(out, 2, &self.message)
    }

    /// Writes what the samples refer to.
    fn tables(&mut self, losses: &mut Losses, out: &mut impl Write) -> Result<(), ExportError> {
        let profile = self.profile;
        let mut mappings: HashMap<&str, u64> = HashMap::new();
        let told = |wanted: &str| {
            let found = profile.told.iter().find(|(name, _)| name == wanted);
            found.map(|(_, text)| text.as_str())
        };
        let (command, build_id) = (told("command"), told("build_id"));
        let modules = profile.functions.iter().map(|function| function.module.as_str());
        // The first mapping is that of the program.
        let first = command.or(build_id.map(|_| ""));
        for module in first.into_iter().chain(modules.filter(|module| !module.is_empty())) {
            let next = mappings.len() as u64 + 1;
            if mappings.contains_key(module) {
                continue;
            }
            mappings.insert(module, next);
            let mut message = Message::default();
            message.number(1, next);
            message.number(5, self.texts.add(module));
            message.number(6, if next == 1 { self.texts.add(build_id.unwrap_or_default()) } else { 0 });
            // Functions, files, lines and inlined functions are known: nobody needs to look for symbols.
            (7..=10).for_each(|known| message.number(known, 1));
            put(out, 3, &message)?;
        }
        for (id, (function, line, col)) in (1..).zip(&self.places) {
            let known = &profile.functions[*function];
            let mut message = Message::default();
            message.number(1, id);
            message.number(
                2,
                mappings.get(known.module.as_str()).copied().filter(|_| !known.module.is_empty()).unwrap_or(0),
            );
            if !(is_reserved(known) && known.name == UNKNOWN) {
                let mut place = Message::default();
                place.number(1, *function as u64 + 1);
                place.number(2, line.cast_unsigned());
                place.number(3, col.cast_unsigned());
                message.field(4, place.bytes());
            }
            put(out, 4, &message)?;
        }
        let mut known = HashSet::new();
        for (id, function) in (1..).zip(&profile.functions) {
            let FunctionRow { name, module, file, place: (line, col), raw_name, .. } = function;
            losses.add(NAMES, name.is_empty().into());
            losses.add(DEFINITION_COLUMNS, (*col != 0).into());
            losses.add(SAME_NAME, (!known.insert((name, module, file, line))).into());
            let mut message = Message::default();
            message.number(1, id);
            message.number(2, self.texts.add(name));
            message.number(3, self.texts.add(raw_name.as_deref().unwrap_or_default()));
            message.number(4, self.texts.add(file));
            message.number(5, line.cast_unsigned());
            put(out, 5, &message)?;
        }
        losses.add(ABSENT, self.placed.iter().filter(|placed| !**placed).count() as u64);
        Ok(())
    }
}

/// Whether readers make a function of their own of something without a name.
fn is_reserved(function: &FunctionRow) -> bool {
    let is_plain = function.file.is_empty() && function.place == (0, 0);
    function.kind == Kind::Pseudo
        && is_plain
        && (function.name == UNKNOWN || (function.name == NO_STACK && function.module.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::nanoseconds;

    #[test]
    fn times() {
        let table = [
            ("1970-01-01T00:00:00Z", Some(0)),
            ("1970-01-01T00:00:00.000000001Z", Some(1)),
            ("1969-12-31T23:59:59.5Z", Some(-500_000_000)),
            ("2000-02-29T12:00:00Z", Some(951_825_600_000_000_000)),
            ("2026-11-21T18:00:00.25Z", Some(1_795_284_000_250_000_000)),
            ("2026-11-21 18:00:00", None),
            ("2026-11-21T18:00Z", None),
            ("9999-01-01T00:00:00Z", None),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(nanoseconds(text), expected, "{text}");
        }
    }
}
