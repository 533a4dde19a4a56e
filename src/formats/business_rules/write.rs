//! Business Rules! profiler logs, SAMPLED and TIMED
//!
//! # What it is
//! The binary log of the profiler of Business Rules!, which its `profiler.exe` prints. profdb reads it, too.
//!
//! # What is written
//! - A TIMED log for a metric in nanoseconds, and a SAMPLED log for a count. Other metrics are refused. A run with both,
//!   whose count is `samples` or `blocks`, becomes a TIMED log with this number of blocks, unless one metric is requested.
//!   The times of the blocks of a node are as equal as whole numbers allow.
//! - A block for each sample, or for each node that took time: its line, and a backtrace for each caller, innermost first. A run
//!   without paths becomes a log without backtraces.
//! - The module of a function as its program file, or its file if the module is unknown. Its name as that of a function.
//!   `<main>` on the outermost line, `<gosub>` and `<routine unknown>` become the marks that they were read from.
//! - Threads and roots around all functions, as routines of their own.
//! - The line with its column as clause. The format requires a line from 1 to 99999: otherwise the line of the
//!   function's definition is written, or 1.
//! - Files in the order of their first use, each before the first block of its lines. Names are UTF-8, or Windows-1252
//!   if they have invalid UTF-8.
//!
//! # References
//! - BR Wiki, page "Profiler File Layout".

#![expect(
    clippy::indexing_slicing,
    reason = "numbers of functions and metrics are the writer's own"
)]

use std::io::Write;

use byteorder::{BE, WriteBytesExt};
use hashbrown::{HashMap, HashSet};

use super::windows_names::{decode, encode};
use crate::events::Kind;
use crate::formats::common::samples::{FrameKey, Frames, LINE_FILES, Sample, each_sample};
use crate::formats::common::stacks::{CUMULATIVE, FREE, SIBLINGS};
use crate::formats::common::written::{
    Parts, lose_facts, lose_raw_names, lose_total, printable, signed, write_repeated,
};
use crate::formats::export::error::ExportError;
use crate::formats::export::losses::{
    ABSENT, BACK_EDGES, CALLERS, CALLS, COLUMNS, FACTS, FRACTIONS, FUNCTION_CALLS, FUNCTION_COSTS,
    INCLUSIVE, KINDS, LABELS, LARGE, LINE_ZERO, Loss, Losses, METRIC, METRICS, NAMES, NEGATIVE,
    PLACES, RAW_NAMES, RECORDED, SAME_NAME, TITLE, TOTALS, UNKNOWN, differ,
};
use crate::formats::export::profile::Profile;
use crate::formats::export::{Export, Metrics, Needs, Packing};
use crate::report::ReportError;
use crate::store::{FunctionRow, LineRow, MetricInfo};

/// The format of the page above, as it is written.
pub(in crate::formats) const EXPORT: Export = Export {
    name: "business_rules",
    summary: "Business Rules! profiler logs, SAMPLED and TIMED",
    needs: Needs::Totals,
    metrics: Metrics::All,
    layouts: &[],
    options: &[],
    packing: Packing::Plain,
    losses: &[
        CALLS,
        FUNCTION_CALLS,
        METRIC,
        METRICS,
        TITLE,
        FACTS,
        LABELS,
        BACK_EDGES,
        CALLERS,
        KINDS,
        PLACES,
        NAMES,
        RAW_NAMES,
        SAME_NAME,
        RECORDED,
        FUNCTION_COSTS,
        INCLUSIVE,
        ABSENT,
        TOTALS,
        NO_LINE,
        LINE_ZERO,
        LINE_FILES,
        COLUMNS,
        SIBLINGS,
        CUMULATIVE,
        FREE,
        UNKNOWN,
        FRACTIONS,
        NEGATIVE,
        LARGE,
    ],
    difference: None,
    write,
};

const NO_LINE: Loss = Loss {
    name: "no_line",
    what: "nodes without a line in 1-99999; they get the line of the definition, or 1",
    of: "functions and lines",
};

/// What lines may be numbered.
const LINES: std::ops::RangeInclusive<i64> = 1..=99_999;

/// Bytes of a file's name at most.
const MOST_OF_FILE: usize = u16::MAX as usize;

/// Bytes of a function's name at most.
const MOST_OF_NAME: usize = u8::MAX as usize;

/// Files at most: their numbers have 16 bits, and 0 is left free.
const MOST_FILES: usize = u16::MAX as usize;

fn write(
    profile: &Profile<'_>,
    losses: &mut Losses,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let measures = Measures::of(profile)?;
    let metrics = measures.metrics();
    lose_facts(profile, losses);
    losses.add(METRICS, (profile.metrics.len() - metrics.len()) as u64);
    losses.add(METRIC, measures.renamed());
    losses.add(TITLE, profile.run.title.is_some().into());
    lose_raw_names(profile, losses);
    losses.written = Some(metrics.iter().map(|metric| metric.metric_id).collect());
    let mut log = Log::new(profile, &measures, out)?;
    if profile.run.fidelity == "tree" {
        log.stacks(&metrics, losses)?;
    } else {
        log.totals(&metrics, losses)?;
    }
    log.lose_names(losses);
    Ok(())
}

/// What a log is to hold.
struct Measures {
    /// Of a TIMED log.
    time: Option<MetricInfo>,
    /// How many blocks there are of each place; one if `None`.
    count: Option<MetricInfo>,
}

impl Measures {
    fn of(profile: &Profile<'_>) -> Result<Self, ExportError> {
        let Profile { metric, run, .. } = profile;
        let is_time = |metric: &&MetricInfo| metric.unit == "ns";
        let is_count = |metric: &&MetricInfo| {
            metric.unit == "count" && ["samples", "blocks"].contains(&metric.name.as_str())
        };
        let of_all = |wanted: &dyn Fn(&&MetricInfo) -> bool| {
            let mut found = profile.metrics.iter().filter(wanted);
            found.next().cloned()
        };
        let main = || Some(metric.clone());
        let (both, alone) = match metric.unit.as_str() {
            "ns" => ((main(), of_all(&is_count)), (main(), None)),
            "count" if is_count(&metric) => ((of_all(&is_time), main()), (None, main())),
            "count" => ((None, None), (None, main())),
            unit => {
                let fault = format!(
                    "a log of Business Rules! holds nanoseconds or samples, but `{}` of {} is in {unit}; choose a \
                     time or a count with --metric",
                    metric.name,
                    run.said()
                );
                return Err(ReportError::NothingSelected(fault).into());
            }
        };
        let (time, count) = match both {
            (Some(time), Some(count)) if has_blocks(profile, &time, &count)? => {
                (Some(time), Some(count))
            }
            _ => alone,
        };
        Ok(Self { time, count })
    }

    fn metrics(&self) -> Vec<MetricInfo> {
        self.time.iter().chain(&self.count).cloned().collect()
    }

    /// How many metrics readers call otherwise.
    fn renamed(&self) -> u64 {
        let count = if self.time.is_some() {
            "blocks"
        } else {
            "samples"
        };
        let named = [(&self.time, "time"), (&self.count, count)];
        let is_other = |(metric, name): &(&Option<MetricInfo>, &str)| {
            metric.as_ref().is_some_and(|metric| metric.name != *name)
        };
        named.iter().filter(|one| is_other(one)).count() as u64
    }
}

/// Whether each place that took time has a block that can say so.
fn has_blocks(
    profile: &Profile<'_>,
    time: &MetricInfo,
    count: &MetricInfo,
) -> Result<bool, ExportError> {
    let metrics = [time.clone(), count.clone()];
    let mut is_so = true;
    let mut check = |values: &[i64]| is_so &= values[1] > 0 || (values[1] == 0 && values[0] == 0);
    // What is lost is counted when the log is written.
    let mut losses = Losses::new(EXPORT.name, EXPORT.losses);
    if profile.run.fidelity == "tree" {
        let mut frames = Frames::new(profile, |function| function.function_id);
        each_sample(profile, &metrics, &mut frames, &mut losses, |sample, _| {
            check(sample.values);
            Ok(())
        })?;
    } else {
        each_total(profile, &metrics, &mut losses, |_, values, _| {
            check(values);
            Ok(())
        })?;
    }
    Ok(is_so)
}

/// What a routine is called in a log.
struct Routine {
    /// The place of its file in [`Log::files`].
    file: usize,
    /// The record after its lines: its name, or a mark; nothing if it is unknown.
    mark: Vec<u8>,
    /// It is the main routine where it is outermost.
    is_main: bool,
    /// File and name, as readers have them.
    read: (String, String),
}

const GOSUB: u8 = 8;
const MAIN: u8 = 9;

impl Routine {
    fn of(function: &FunctionRow, file: usize, module: String) -> Self {
        let encoded = encode(&function.name, MOST_OF_NAME);
        let read = match decode(&encoded).text {
            name if name.is_empty() => NO_NAME.to_owned(),
            name => name,
        };
        let named = |name: &[u8]| {
            let mut mark = vec![7, u8::try_from(name.len()).unwrap_or(u8::MAX)];
            mark.extend(name);
            mark
        };
        let mark = match function.name.as_str() {
            "<gosub>" => vec![GOSUB],
            "<routine unknown>" => Vec::new(),
            NO_NAME => named(&[]),
            // The main routine has been called by none: readers turn logs round where it seems to
            // have been (case `business_rules/outermost-first`). Within others it goes by its name.
            _ => named(&encoded),
        };
        Self {
            file,
            mark,
            is_main: function.name == "<main>",
            read: (module, read),
        }
    }
}

/// What readers call a function without a name.
const NO_NAME: &str = "<function without a name>";

/// The name of a function's file, as it is written and as it is read.
fn file_of(function: &FunctionRow) -> (Vec<u8>, String) {
    let file = if function.module.is_empty() {
        &function.file
    } else {
        &function.module
    };
    // A file is not taken for a log whose files have such names.
    let is_safe = !file.chars().any(char::is_control);
    let bytes = if is_safe {
        encode(file, MOST_OF_FILE)
    } else {
        encode(&printable(file), MOST_OF_FILE)
    };
    let read = decode(&bytes).text;
    (bytes, read)
}

/// A log that is being written.
struct Log<'p, 'o> {
    profile: &'p Profile<'p>,
    out: &'o mut dyn Write,
    is_timed: bool,
    is_counted: bool,
    /// By the place in [`Profile::functions`].
    routines: Vec<Routine>,
    /// Names of files; `None` once the log has them.
    files: Vec<Option<Vec<u8>>>,
    /// Functions that have a place.
    placed: Vec<bool>,
    /// Functions, and lines of them, that have got another line.
    moved: HashSet<FrameKey>,
    /// Lines whose column is too large for a clause.
    unclaused: HashSet<FrameKey>,
    /// Nanoseconds that may still come: readers refuse logs of more.
    left: i64,
    /// A block up to its time, and what comes after it.
    head: Vec<u8>,
    tail: Vec<u8>,
}

impl<'p, 'o> Log<'p, 'o> {
    fn new(
        profile: &'p Profile<'p>,
        measures: &Measures,
        out: &'o mut dyn Write,
    ) -> Result<Self, ExportError> {
        let mut files = Vec::new();
        let mut known = HashMap::new();
        let mut routines = Vec::with_capacity(profile.functions.len());
        for function in &profile.functions {
            let (bytes, read) = file_of(function);
            let file = *known.entry(read.clone()).or_insert_with(|| {
                files.push(Some(bytes));
                files.len() - 1
            });
            routines.push(Routine::of(function, file, read));
        }
        if files.len() > MOST_FILES {
            let fault = format!(
                "a log of Business Rules! holds at most {MOST_FILES} files, but the functions of {} are in {}",
                profile.run.said(),
                files.len()
            );
            return Err(ReportError::NothingSelected(fault).into());
        }
        Ok(Self {
            profile,
            out,
            is_timed: measures.time.is_some(),
            is_counted: measures.count.is_some(),
            routines,
            files,
            placed: vec![false; profile.functions.len()],
            moved: HashSet::new(),
            unclaused: HashSet::new(),
            left: i64::MAX,
            head: Vec::new(),
            tail: Vec::new(),
        })
    }

    /// Writes the places of a tree.
    fn stacks(&mut self, metrics: &[MetricInfo], losses: &mut Losses) -> Result<(), ExportError> {
        // By the names that readers have.
        let read: HashMap<i64, (String, String)> = self
            .profile
            .functions
            .iter()
            .zip(&self.routines)
            .map(|(function, routine)| (function.function_id, routine.read.clone()))
            .collect();
        let identity = |function: &FunctionRow| read.get(&function.function_id).cloned();
        let mut frames = Frames::new(self.profile, identity).framed();
        let mut of_blocks = Losses::new(EXPORT.name, EXPORT.losses);
        let mut stack: Vec<FrameKey> = Vec::new();
        each_sample(
            self.profile,
            metrics,
            &mut frames,
            losses,
            |sample, places| {
                stack.clear();
                stack.extend(around(sample, places).iter().map(|frame| places[*frame]));
                stack.extend(sample.stack.iter().map(|frame| places[*frame]));
                let is_thread = stack.len() == 1
                    && self.profile.functions[stack[0].function].kind == Kind::Thread;
                let is_end = sample.is_leaf && !is_thread;
                self.block(&stack, sample.values, is_end, &mut of_blocks)
            },
        )?;
        for (loss, count) in of_blocks.each() {
            losses.add(loss, count);
        }
        self.placed = frames.placed;
        let absent = self.placed.iter().filter(|placed| !*placed);
        losses.add(ABSENT, absent.count() as u64);
        Ok(())
    }

    /// Writes functions and lines of a run without paths.
    fn totals(&mut self, metrics: &[MetricInfo], losses: &mut Losses) -> Result<(), ExportError> {
        self.placed.fill(true);
        let profile = self.profile;
        profile.each_edge(|_| {
            losses.add(CALLERS, 1);
            Ok(())
        })?;
        each_total(profile, metrics, losses, |place, values, losses| {
            self.block(&[place], values, true, losses)
        })
    }

    /// Writes the blocks of a place: its stack, outermost first, and its value in each metric. Without
    /// a block, the log has the place only if it is no `end`: then blocks of what was called there
    /// name it.
    fn block(
        &mut self,
        stack: &[FrameKey],
        values: &[i64],
        is_end: bool,
        losses: &mut Losses,
    ) -> Result<(), ExportError> {
        let mut values = values.iter().map(|value| {
            losses.add(NEGATIVE, (*value < 0).into());
            u64::try_from(*value).unwrap_or(0)
        });
        let time = if self.is_timed { values.next() } else { None };
        let blocks = if self.is_counted {
            values.next().unwrap_or(0)
        } else {
            1
        };
        if blocks == 0 {
            losses.add(FREE, is_end.into());
            return Ok(());
        }
        self.stack(stack)?;
        let Some(time) = time else {
            self.head.append(&mut self.tail);
            return write_repeated(&self.head, blocks, self.out);
        };
        let most = u64::try_from(self.left).unwrap_or(0);
        losses.add(LARGE, (time > most).into());
        let time = time.min(most);
        self.left = self.left.saturating_sub_unsigned(time);
        let (each, longer) = (time / blocks, time % blocks);
        self.timed(each + 1, longer)?;
        self.timed(each, blocks - longer)
    }

    /// Writes the block that has been made so many times, with a time.
    fn timed(&mut self, time: u64, times: u64) -> Result<(), ExportError> {
        if times == 0 {
            return Ok(());
        }
        let mut record = self.head.clone();
        record.push(4);
        record.write_u64::<BE>(time)?;
        record.extend(&self.tail);
        write_repeated(&record, times, self.out)
    }

    /// Makes a block of a stack, and declares the files that the log has not named so far.
    fn stack(&mut self, stack: &[FrameKey]) -> Result<(), ExportError> {
        self.head.clear();
        self.tail.clear();
        for (above, place) in stack.iter().enumerate().rev() {
            let routine = &self.routines[place.function];
            if let Some(name) = self.files[routine.file].take() {
                self.out.write_u8(1)?;
                self.out.write_u16::<BE>(number(routine.file))?;
                self.out
                    .write_u16::<BE>(u16::try_from(name.len()).unwrap_or(u16::MAX))?;
                self.out.write_all(&name)?;
            }
            let is_innermost = above + 1 == stack.len();
            let (kind, record) = if is_innermost {
                (3, &mut self.head)
            } else {
                (5, &mut self.tail)
            };
            let (line, clause) = if LINES.contains(&place.line) {
                let clause = u8::try_from(place.col);
                if clause.is_err() {
                    self.unclaused.insert(*place);
                }
                (place.line, clause.unwrap_or(0))
            } else {
                self.moved.insert(*place);
                let (defined, _) = self.profile.functions[place.function].place;
                let line = if LINES.contains(&defined) { defined } else { 1 };
                (line, 0)
            };
            record.push(kind);
            record.write_u16::<BE>(number(routine.file))?;
            record.write_u32::<BE>(u32::try_from(line).unwrap_or(1))?;
            record.push(clause);
            if routine.is_main && above == 0 {
                record.push(MAIN);
            } else {
                record.extend(&routine.mark);
            }
        }
        self.tail.push(6);
        Ok(())
    }

    /// Counts what names and places the log does not have.
    fn lose_names(&self, losses: &mut Losses) {
        let mut known = HashSet::new();
        let functions = self.profile.functions.iter().zip(&self.routines);
        for ((function, routine), _) in functions.zip(&self.placed).filter(|(_, placed)| **placed) {
            let (module, name) = &routine.read;
            losses.add(NAMES, (*name != function.name).into());
            losses.add(KINDS, (function.kind != Kind::Function).into());
            let is_known =
                *module == function.module && function.file.is_empty() && function.place == (0, 0);
            losses.add(PLACES, (!is_known).into());
            losses.add(SAME_NAME, (!known.insert(&routine.read)).into());
        }
        losses.add(NO_LINE, self.moved.len() as u64);
        losses.add(COLUMNS, self.unclaused.len() as u64);
    }
}

/// The number of a file in the log.
fn number(file: usize) -> u16 {
    u16::try_from(file + 1).unwrap_or(u16::MAX)
}

/// The frames around a stack that it does not have itself.
fn around<'s>(sample: &Sample<'s>, places: &[FrameKey]) -> &'s [usize] {
    let Some(((last, outer), first)) = sample.around_frames.split_last().zip(sample.stack.first())
    else {
        return sample.around_frames;
    };
    // A thread that cost something itself is the stack; a line of it is in the place of it.
    if places[*last].function == places[*first].function {
        outer
    } else {
        sample.around_frames
    }
}

/// Calls a function for each line of a run without paths, and for each function with what its lines do
/// not have of its own cost: the values in each metric.
fn each_total(
    profile: &Profile<'_>,
    metrics: &[MetricInfo],
    losses: &mut Losses,
    mut each: impl FnMut(FrameKey, &[i64], &mut Losses) -> Result<(), ExportError>,
) -> Result<(), ExportError> {
    let (database, run) = (profile.database, profile.run.run_id);
    let ids: Vec<i64> = metrics.iter().map(|metric| metric.metric_id).collect();
    let mut lines: HashMap<usize, Vec<Vec<LineRow>>> = HashMap::new();
    database.each_line(run, &ids, |rows: &[LineRow]| {
        let function = profile.function(rows[0].function_id)?;
        lines.entry(function).or_default().push(rows.to_vec());
        Ok::<_, ExportError>(())
    })?;
    let mut totals = vec![0.0; metrics.len()];
    let mut values = Vec::new();
    database.each_function(run, &ids, |rows: &[FunctionRow]| {
        let function = profile.function(rows[0].function_id)?;
        let lines = lines.remove(&function).unwrap_or_default();
        let mut parts: Vec<Parts> = metrics.iter().map(|_| Parts::default()).collect();
        for line in &lines {
            let place = &line[0].place;
            losses.add(LINE_FILES, (!place.file.is_empty()).into());
            values.clear();
            for (row, parts) in line.iter().zip(&mut parts) {
                losses.add(UNKNOWN, row.exclusive.is_none().into());
                values.push(parts.part(row.exclusive.unwrap_or(0.0), losses));
            }
            let key = FrameKey {
                function,
                line: place.line,
                col: place.col,
            };
            each(key, &values, losses)?;
        }
        values.clear();
        for ((row, parts), total) in rows.iter().zip(&mut parts).zip(&mut totals) {
            losses.add(UNKNOWN, row.exclusive.is_none().into());
            *total += row.exclusive.unwrap_or(0.0);
            let rest = row
                .exclusive
                .map_or(0, |own| parts.left_of(signed(own, losses)));
            values.push(rest);
        }
        if lines.is_empty() || values.iter().any(|value| *value != 0) {
            let key = FrameKey {
                function,
                line: 0,
                col: 0,
            };
            each(key, &values, losses)?;
        }
        losses.add(CALLS, rows[0].calls.is_some().into());
        let is_other = |row: &FunctionRow| match (row.exclusive, row.cumulative) {
            (own, Some(all)) => differ(own.unwrap_or(0.0), all),
            (_, None) => true,
        };
        let is_lost = !rows[0].kind.is_container() && rows.iter().any(is_other);
        losses.add(INCLUSIVE, is_lost.into());
        Ok::<_, ExportError>(())
    })?;
    for (metric, total) in metrics.iter().zip(&totals) {
        lose_total(metric, *total, losses);
    }
    Ok(())
}
