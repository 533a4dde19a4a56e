//! Apple Sampler traces
//!
//! # What it is
//! A file of Apple's Sampler: a table of symbols and then, for each thread, one stack per sample. profdb reads it, too.
//!
//! # What is written
//! - A symbol for each thread and function, with its file as both paths, or `NIL` if it is unknown. The paths of a thread are its
//!   name. A thread named `Thread_` and four hexadecimal digits keeps them as its id.
//! - A stack for each sample: a node of the tree with 7 samples is written 7 times. The metric must therefore be a count:
//!   samples, or ticks. The three numbers before each stack are 1, 0, 1.
//! - A separate thread for stacks without a thread. A thread within a root is a frame there; if it is also at the
//!   top, it becomes a thread and a function. Lines of functions are left out: the frame is the function.
//! - The layout `published`, unless `2008` is requested.
//! - `␊` for a line feed in names and files, and `␉` for a tab in files.
//!
//! # References
//! - "Apple's Sampler file format, and SBCL SB-SPROF report generation", kpreid, 2008: grammar and a writer.

#![expect(
    clippy::indexing_slicing,
    reason = "numbers of functions and metrics are the writer's own"
)]

use std::io::Write;

use byteorder::{BE, ByteOrder, WriteBytesExt};
use hashbrown::{HashMap, HashSet};

use crate::events::Kind;
use crate::formats::common::lisp_names::package;
use crate::formats::common::stacks::{CUMULATIVE, FREE, SIBLINGS, Stacks};
use crate::formats::common::written::{
    has_place, lose_calls, lose_facts, lose_metric, lose_raw_names, lose_total, one_line, whole,
    write_repeated,
};
use crate::formats::export::error::ExportError;
use crate::formats::export::losses::{
    ABSENT, BACK_EDGES, CALLS, FACTS, FRACTIONS, FUNCTION_CALLS, FUNCTION_COSTS, KINDS, LABELS,
    LARGE, LINES, Loss, Losses, METRIC, METRICS, NAMES, NEGATIVE, PLACES, RAW_NAMES, RECORDED,
    SAME_NAME, TITLE, TOTALS,
};
use crate::formats::export::profile::Profile;
use crate::formats::export::{Export, Layout, Metrics, Needs, Packing};
use crate::report::ReportError;
use crate::store::FunctionRow;
use crate::text::escape::Bytes;

/// The format of the page above, as it is written.
pub(in crate::formats) const EXPORT: Export = Export {
    name: "sampler",
    summary: "Apple Sampler traces",
    needs: Needs::Tree,
    metrics: Metrics::One,
    layouts: &[PUBLISHED, OF_2008],
    options: &[],
    packing: Packing::Plain,
    losses: &[
        LINES,
        CALLS,
        FUNCTION_CALLS,
        METRIC,
        METRICS,
        TITLE,
        FACTS,
        LABELS,
        BACK_EDGES,
        NO_THREAD,
        BOTH,
        KINDS,
        PLACES,
        NAMES,
        RAW_NAMES,
        SAME_NAME,
        RECORDED,
        FUNCTION_COSTS,
        ABSENT,
        TOTALS,
        SIBLINGS,
        CUMULATIVE,
        FREE,
        FRACTIONS,
        NEGATIVE,
        LARGE,
    ],
    difference: None,
    write,
};

const PUBLISHED: Layout = Layout {
    name: "published",
    about: "as in the published grammar: `@end` after the table, after each thread and at the end",
};

const OF_2008: Layout = Layout {
    name: "2008",
    about: "as in the published writer: `@end` at the end only",
};

const NO_THREAD: Loss = Loss {
    name: "no_thread",
    what: "stacks without a thread; they get one",
    of: "roots of the tree",
};

const BOTH: Loss = Loss {
    name: "both",
    what: "threads that also occur within a root; they become a thread and a function",
    of: "functions",
};

/// The first id that is given away, as the writer of 2008 does.
const FIRST_ID: u32 = 0x2122;

fn write(
    profile: &Profile<'_>,
    losses: &mut Losses,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    refuse(profile)?;
    lose_facts(profile, losses);
    lose_metric(profile, losses);
    lose_raw_names(profile, losses);
    losses.add(TITLE, profile.run.title.is_some().into());
    let end = if profile.layout == Some(OF_2008) {
        ""
    } else {
        "@end\n"
    };
    let threads = Threads::of(profile)?;
    let symbols = Symbols::new(profile, &threads, losses);
    symbols.write(profile, out)?;
    out.write_all(end.as_bytes())?;
    // A frame with the number of a thread is one of unknown code only where the thread has begun.
    if symbols.borrowed {
        for (is_top, id) in threads.is_top.iter().zip(&symbols.ids) {
            if *is_top {
                write!(out, "@threadV1.0\t{id:04X}\n{end}")?;
            }
        }
    }
    let mut stacks = Stacks::default();
    let mut total = 0.0;
    let mut free = Free::default();
    // The thread whose samples are being written, and the frames below it.
    let mut thread = None;
    let mut frames: Vec<u32> = Vec::new();
    // By function: whether it was met as a thread, and as a frame.
    let mut placed = vec![[false; 2]; profile.functions.len()];
    profile.each_call(losses, |call, losses| {
        let function = &profile.functions[call.function];
        let is_thread = function.kind == Kind::Thread && call.depth == 0;
        let id = if is_thread {
            symbols.ids[call.function]
        } else {
            symbols.frame(call.function)
        };
        // A thread is no frame, whatever it is called.
        let name = if is_thread {
            (call.function, true)
        } else {
            (symbols.alike[call.function], false)
        };
        stacks.enter(&call, name, losses);
        total += call.exclusive;
        lose_calls(&call, losses);
        if !std::mem::replace(&mut placed[call.function][usize::from(!is_thread)], true) {
            let is_kept = is_thread || symbols.kind(function, id) == function.kind;
            losses.add(KINDS, (!is_kept).into());
            losses.add(BOTH, (placed[call.function] == [true; 2]).into());
        }
        if call.depth == 0 {
            let next = if is_thread { id } else { symbols.own_thread };
            losses.add(NO_THREAD, (!is_thread).into());
            if thread != Some(next) {
                let before = if thread.is_some() { end } else { "" };
                writeln!(out, "{before}@threadV1.0\t{next:04X}")?;
                thread = Some(next);
            }
        }
        // A thread is at depth 0 and no frame, so that there is one frame less than places above.
        // In the thread that the writer makes up, the root is a frame like others.
        let above = call.depth - usize::from(thread != Some(symbols.own_thread) && call.depth > 0);
        frames.truncate(above);
        if !is_thread {
            frames.push(id);
        }
        let samples = whole(call.exclusive, losses);
        free.enter(call.depth, samples > 0 || is_thread, losses);
        if samples > 0 {
            write_repeated(&record(&frames), samples, out)
        } else {
            Ok(())
        }
    })?;
    stacks.leave(0, losses);
    lose_total(&profile.metric, total, losses);
    free.leave(0, losses);
    let absent = placed.iter().filter(|placed| **placed == [false; 2]);
    losses.add(ABSENT, absent.count() as u64);
    let end = if thread.is_some() { end } else { "" };
    Ok(writeln!(out, "{end}@end")?)
}

/// Places that no sample shows, nor any of what was called there.
#[derive(Default)]
struct Free {
    /// Of each open place, whether something shows it.
    open: Vec<bool>,
}

impl Free {
    /// Opens a place with so many others above.
    fn enter(&mut self, depth: usize, is_shown: bool, losses: &mut Losses) {
        self.leave(depth, losses);
        self.open.push(is_shown);
    }

    /// Closes places until so many are open.
    fn leave(&mut self, depth: usize, losses: &mut Losses) {
        while self.open.len() > depth {
            let is_shown = self.open.pop().unwrap_or(true);
            losses.add(FREE, (!is_shown).into());
            if let Some(above) = self.open.last_mut() {
                *above |= is_shown;
            }
        }
    }
}

/// Refuses what has no samples.
fn refuse(profile: &Profile<'_>) -> Result<(), ExportError> {
    let Profile { metric, run, .. } = profile;
    if metric.unit != "count" {
        let fault = format!(
            "a sampler file has a stack for each sample, but `{}` of {} is in {}; choose a count with --metric, or \
             write lispworks_tree or folded",
            metric.name,
            run.said(),
            metric.unit
        );
        return Err(ReportError::NothingSelected(fault).into());
    }
    Ok(())
}

/// A stack, innermost frame first.
fn record(frames: &[u32]) -> Vec<u8> {
    let count = u32::try_from(frames.len()).unwrap_or(u32::MAX);
    let mut record = vec![b'\t'];
    for number in [1, 0, 1, count].iter().chain(frames.iter().rev()) {
        let mut word = [0; 4];
        BE::write_u32(&mut word, *number);
        record.extend(word);
    }
    record.push(b'\n');
    record
}

/// Where threads are, by the place in [`Profile::functions`].
struct Threads {
    /// It is at the top of a tree: the file has it as a thread.
    is_top: Vec<bool>,
    /// It is within something else, as in a root: it is a frame there.
    is_frame: Vec<bool>,
}

impl Threads {
    fn of(profile: &Profile<'_>) -> Result<Self, ExportError> {
        let is_thread = |function: &FunctionRow| function.kind == Kind::Thread;
        // Functions that can contain a thread, or have its number.
        let is_other = |function: &FunctionRow| {
            function.kind == Kind::Pseudo || function.kind.is_container() && !is_thread(function)
        };
        let functions = &profile.functions;
        let mut threads = Self {
            is_top: functions.iter().map(is_thread).collect(),
            is_frame: vec![false; functions.len()],
        };
        // Otherwise the walk over all nodes is not needed.
        if !(functions.iter().any(is_thread) && functions.iter().any(is_other)) {
            return Ok(threads);
        }
        threads.is_top.fill(false);
        // What is lost is counted when the stacks are written.
        let mut losses = Losses::new(EXPORT.name, EXPORT.losses);
        profile.each_call(&mut losses, |call, _| {
            if is_thread(&functions[call.function]) {
                let is_top = call.depth == 0;
                threads.is_top[call.function] |= is_top;
                threads.is_frame[call.function] |= !is_top;
            }
            Ok(())
        })?;
        Ok(threads)
    }
}

/// The numbers of threads and functions.
struct Symbols {
    /// By the place in [`Profile::functions`].
    ids: Vec<u32>,
    /// The numbers as frames of those that are threads as well.
    frames: HashMap<usize, u32>,
    threads: HashSet<u32>,
    /// Threads without a symbol, because unknown code has their number.
    unlisted: HashSet<u32>,
    /// Some frame has the number of a thread.
    borrowed: bool,
    /// The thread of what is in none.
    own_thread: u32,
    /// By the place in [`Profile::functions`]: the first one that readers cannot tell from it.
    alike: Vec<usize>,
}

impl Symbols {
    fn new(profile: &Profile<'_>, of_threads: &Threads, losses: &mut Losses) -> Self {
        let functions = &profile.functions;
        let mut taken: HashSet<u32> = HashSet::new();
        let mut ids: Vec<Option<u32>> = functions.iter().map(number_of_thread).collect();
        // The first thread of a number keeps it, before anything else gets one.
        for id in &mut ids {
            *id = id.filter(|id| taken.insert(*id));
        }
        let mut next = FIRST_ID;
        let mut fresh = || {
            while !taken.insert(next) {
                next += 1;
            }
            next
        };
        let mut threads = HashMap::new();
        // Whether its name is lost, and its place: of what is both a thread and a frame, each once.
        let mut lost = vec![[false; 2]; functions.len()];
        for (at, function) in functions.iter().enumerate() {
            if !of_threads.is_top[at] {
                continue;
            }
            let id = *ids[at].get_or_insert_with(&mut fresh);
            let known = threads.insert(function.name.as_str(), id).is_some();
            let is_renamed =
                known || function.name.is_empty() || *one_line(&function.name) != function.name;
            lost[at] = [is_renamed, has_place(function)];
        }
        // As readers call a frame whose id no symbol has.
        let by_number: HashMap<String, u32> = threads
            .values()
            .map(|id| (format!("0x{id:08X}"), *id))
            .collect();
        let mut unlisted = HashSet::new();
        let mut borrowed = HashSet::new();
        let mut pairs = HashMap::new();
        let mut alike: Vec<usize> = (0..functions.len()).collect();
        let mut frames = HashMap::new();
        let symbols = functions.iter().zip(&mut ids).enumerate();
        for (at, (function, id)) in symbols.filter(|(at, (function, _))| {
            function.kind != Kind::Thread || !of_threads.is_top[*at] || of_threads.is_frame[*at]
        }) {
            // A frame with the number of a thread would be one of unknown code.
            let mut of_frame = None;
            let id = if of_threads.is_top[at] {
                &mut of_frame
            } else {
                id
            };
            // Unknown code was read from frames with the number of a thread, by whose name or id it
            // is called. It gets that number again, unless another one has it.
            if function.kind == Kind::Pseudo {
                let name = function.name.as_str();
                let number = by_number.get(name).filter(|_| function.file.is_empty());
                let of_thread = number
                    .or_else(|| threads.get(name))
                    .filter(|id| !borrowed.contains(*id));
                if let Some(thread) = of_thread {
                    if number.is_some() {
                        unlisted.insert(*thread);
                    }
                    borrowed.insert(*thread);
                    *id = Some(*thread);
                }
            }
            id.get_or_insert_with(&mut fresh);
            let (name, file) = (one_line(&function.name), path(&function.file));
            let is_read =
                *name == function.name && (file == function.file || function.file.is_empty());
            // Readers find the package in the name, unless it is that of unknown code.
            let is_unknown = id.is_some_and(|id| borrowed.contains(&id));
            let module = if is_unknown { "" } else { package(&name) };
            lost[at][0] |= !is_read || function.file == "NIL";
            lost[at][1] |= function.module != module || function.place != (0, 0);
            // Unknown code with the number of a thread is no function.
            let number = id.filter(|id| borrowed.contains(id));
            alike[at] = *pairs.entry((name, file, number)).or_insert(at);
            losses.add(SAME_NAME, (alike[at] != at).into());
            frames.extend(of_frame.map(|id| (at, id)));
        }
        for [name, place] in lost {
            losses.add(NAMES, name.into());
            losses.add(PLACES, place.into());
        }
        let own_thread = fresh();
        // Threads and all others have got theirs above: nothing is dropped, and places stay the
        // same.
        let ids: Vec<u32> = ids.into_iter().flatten().collect();
        let threads = threads.into_values().collect();
        Self {
            ids,
            frames,
            threads,
            unlisted,
            borrowed: !borrowed.is_empty(),
            own_thread,
            alike,
        }
    }

    /// The number of a function as a frame.
    fn frame(&self, function: usize) -> u32 {
        let of_thread = self.frames.get(&function);
        of_thread.map_or_else(|| self.ids[function], |id| *id)
    }

    /// What a reader takes a frame for.
    fn kind(&self, function: &FunctionRow, id: u32) -> Kind {
        if function.kind != Kind::Thread && self.threads.contains(&id) {
            Kind::Pseudo
        } else {
            Kind::Function
        }
    }

    fn write(&self, profile: &Profile<'_>, out: &mut dyn Write) -> Result<(), ExportError> {
        out.write_all(b"@supersamplerV1.0\n@symboltableV1.1\n")?;
        let files: HashMap<u32, &str> = self.files(profile);
        for (at, (function, id)) in profile.functions.iter().zip(&self.ids).enumerate() {
            let is_frame_of_thread = function.kind != Kind::Thread && self.threads.contains(id);
            if is_frame_of_thread || self.unlisted.contains(id) {
                continue;
            }
            let file = match files.get(id).copied().unwrap_or_default() {
                // A thread that is not a frame has its name as path.
                "" if function.kind == Kind::Thread
                    && self.threads.contains(id)
                    && !function.name.contains('\t') =>
                {
                    one_line(&function.name).into_owned()
                }
                file => path(file),
            };
            let of_frame = self.frames.get(&at).map(|id| (*id, path(&function.file)));
            for (id, file) in std::iter::once((*id, file)).chain(of_frame) {
                out.write_all(b"\t")?;
                out.write_u32::<BE>(id)?;
                out.write_all(b"\t\0\0\0\0\t")?;
                writeln!(Bytes(out), "{}\t{file}\t{file}", one_line(&function.name))?;
            }
        }
        Ok(())
    }

    /// The file of each symbol; that of a thread is that of the unknown code with its number.
    fn files<'p>(&self, profile: &'p Profile<'_>) -> HashMap<u32, &'p str> {
        let frames = profile
            .functions
            .iter()
            .zip(&self.ids)
            .filter(|(function, id)| function.kind != Kind::Thread || !self.threads.contains(*id));
        frames
            .map(|(function, id)| (*id, function.file.as_str()))
            .collect()
    }
}

/// The number that a thread's name holds.
fn number_of_thread(function: &FunctionRow) -> Option<u32> {
    let digits = function
        .name
        .strip_prefix("Thread_")
        .filter(|_| function.kind == Kind::Thread)?;
    let is_upper = digits
        .bytes()
        .all(|byte| matches!(byte, b'0'..=b'9' | b'A'..=b'F'));
    if digits.len() == 4 && is_upper {
        u32::from_str_radix(digits, 16).ok()
    } else {
        None
    }
}

/// A file between tabs.
fn path(file: &str) -> String {
    if file.is_empty() {
        "NIL".to_owned()
    } else {
        one_line(file).replace('\t', "␉")
    }
}
