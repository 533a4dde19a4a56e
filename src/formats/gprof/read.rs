//! gprof reports (text)
//!
//! # What it is
//! The text output of GNU gprof for a program that was compiled with `-pg`: a flat profile, a call graph with an index, or both.
//! Default metric: `time`.
//!
//! # How to record one
//! ```text
//! gcc -pg -o app app.c
//! ./app
//! gprof ./app gmon.out > app.gprof
//! ```
//!
//! # What we read
//! - The call graph: pairs of caller and callee (fidelity `edges`), with calls, exclusive and inclusive time. Without it, the
//!   flat profile has exclusive times and calls only (`flat`).
//! - Calls `2+10` are 12, of which 2 are primitive. Functions that were not counted have an unknown number of calls.
//! - Functions in a call cycle (`<cycle 1>`): exclusive time and calls. Their inclusive cost is
//!   unknown, and so is the cost of calls among them. A call from outside has the cost that gprof states for the whole cycle.
//! - Callers `<spontaneous>`: none.
//! - Functions without a block of their own (`-E`, `-f`), from the blocks of their callers and callees; a note counts them.
//! - Mangled names of C++ and Rust (`--no-demangle`) are demangled; the raw name is kept.
//! - Files of functions, if the index has them. Functions with equal names are told apart by their numbers.
//! - Reports of BSD and AIX, which have no titles and print the call graph first, and excerpts that begin with the headings of a
//!   table. More than one report in a file is refused.
//! - A function whose line has no times, which GNU gprof always prints, has unknown times.
//! - Times to a hundredth of a second, as printed, so figures need not add up exactly. A note reports this
//!   if a hundredth is more than 5 % of the total.
//!
//! # What we leave out
//! - `gmon.out` itself, which needs the program.
//! - The flat profile if there is a call graph, which has the same figures. Averages per call.
//! - Cycles as a whole: a note has their times. Explanations between the tables.
//! - Lines of a report by line (`-l`): they are functions with the printed name.
//!
//! # References
//! - "GNU gprof", documentation of the GNU Binary Utilities.

use hashbrown::HashMap;

use crate::base::error::{ImportError, Position, quote};
use crate::events::{
    Edge, EdgeCost, EdgeKind, Fidelity, Frame, FunctionDef, FunctionId, Info, MetricId, Noise,
    Note, RunFact, Severity, Sink, Unit,
};
use crate::formats::common::counted::many;
use crate::formats::common::demangle::Demangler;
use crate::formats::common::ending::note_unfinished_line;
use crate::formats::format::{Confidence, Format};
use crate::formats::options::{KEEP_BEFORE_ERROR_OPTION, Options};
use crate::formats::salvage::Salvage;
use crate::input::Input;
use crate::text::escape;

/// The format of the page above: how it is recognised and read.
pub(in crate::formats) const FORMAT: Format = Format {
    name: "gprof",
    summary: "gprof reports: flat profile, call graph",
    revision: 6,
    sniff,
    has_empty_recordings: true,
    salvage: Salvage::Lines,
    options: &[KEEP_BEFORE_ERROR_OPTION],
    import,
};

/// What times are rounded to, in seconds.
const HUNDREDTH: f64 = 0.01;

/// The least total of which a hundredth of a second is too small a part to be warned of, in seconds.
const LONG: f64 = 0.2;

const FLAT: &[u8] = b"Flat profile:";
const GRAPH: &[u8] = b"Call graph";
const INDEX: &[u8] = b"Index by function name";

/// A second, in nanoseconds.
const SECOND: f64 = 1e9;

/// What to say of a total, in seconds, of which a sample is a large part.
fn rough(total: f64) -> Option<String> {
    if total == 0.0 {
        return Some(
            "the total is 0: the program ended before the first sample; run it longer".to_owned(),
        );
    }
    let percent = 100.0 * HUNDREDTH / total;
    (total < LONG).then(|| {
        format!(
            "gprof prints times in steps of 0.01 s, which is {percent:.0} % of the total: run the program longer for \
             more accurate shares"
        )
    })
}

fn sniff(head: &[u8]) -> Confidence {
    let is_flat = head.starts_with(FLAT);
    // Without a flat profile (`-q`) the centred title of the call graph is the first line (case
    // `gprof/graph-only`).
    let is_graph = head.starts_with(b"\t\t") && head.trim_ascii_start().starts_with(GRAPH);
    // Reports of BSD and AIX, and excerpts, have no title (case `gprof/bsd`).
    let mut lines = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    if is_flat || is_graph || lines.any(|line| is_flat_heading(line) || is_graph_heading(line)) {
        Confidence::Yes
    } else {
        Confidence::No
    }
}

/// `time   seconds   seconds    calls  ms/call  ms/call  name`: the last line of the headings of the
/// flat profile.
fn is_flat_heading(text: &[u8]) -> bool {
    let mut words = text.split(u8::is_ascii_whitespace);
    let mut words = words.by_ref().filter(|word| !word.is_empty());
    let begins = [&b"time"[..], b"seconds", b"seconds"];
    begins.into_iter().all(|word| words.next() == Some(word)) && text.ends_with(b"name")
}

/// `index % time    self  children    called     name` of GNU, or `index  %time    self descendents
/// called+self    name    index` of BSD.
fn is_graph_heading(text: &[u8]) -> bool {
    let words = text.split(u8::is_ascii_whitespace);
    let words: Vec<&[u8]> = words.filter(|word| !word.is_empty()).collect();
    matches!(
        words.as_slice(),
        [
            b"index",
            b"%",
            b"time",
            b"self",
            b"children",
            b"called",
            b"name"
        ] | [
            b"index",
            b"%time",
            b"self",
            b"descendents" | b"descendants",
            b"called+self",
            b"name",
            b"index"
        ]
    )
}

fn import(
    input: &mut Input<'_>,
    _options: &Options,
    sink: &mut dyn Sink,
) -> Result<(), ImportError> {
    let sink = &mut Demangler::new(sink);
    let mut report = Report::default();
    let mut buffer = Vec::new();
    // The whole report is kept until its end: the files that tell functions of one name apart come
    // last, in the index (case `gprof/same-name`).
    while let Some((at, line)) = input.next_line(&mut buffer)? {
        report.line(at, line)?;
    }
    sink.at(input.position());
    note_unfinished_line(input, sink);
    report.finish(input.position(), sink)
}

/// Where in the report we are.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Section {
    /// Text that explains.
    #[default]
    Text,
    /// Before the rows of the flat profile.
    FlatHead,
    Flat,
    /// Before the blocks of the call graph.
    GraphHead,
    /// Within a block, before or after the line of its function.
    Callers,
    Callees,
    /// Between two blocks.
    Between,
    Index,
}

#[derive(Default)]
struct Function {
    name: String,
    file: String,
    /// It calls others that call it.
    in_circle: bool,
    /// Its own line has come, that of its block or of the flat profile.
    has_line: bool,
    /// Own seconds, and those of what it called, if that line has them.
    times: Option<(f64, f64)>,
    /// From other functions, and from itself.
    calls: Option<(u64, u64)>,
}

struct Call {
    /// `None` where the caller is unknown.
    caller: Option<usize>,
    callee: usize,
    calls: Option<u64>,
    times: Option<(f64, f64)>,
}

/// The layout of a report.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum ReportDialect {
    #[default]
    Gnu,
    /// The layout of BSD and AIX: the flat profile has the numbers of functions, and the call graph blank lines.
    Bsd,
}

#[derive(Default)]
struct Report {
    section: Section,
    has_flat: bool,
    has_graph: bool,
    dialect: ReportDialect,
    total: Option<f64>,
    functions: Vec<Function>,
    /// By the number in brackets.
    by_number: HashMap<u32, usize>,
    /// Own time and calls, of the flat profile.
    flat: Vec<Function>,
    calls: Vec<Call>,
    by_pair: HashMap<(Option<usize>, usize), usize>,
    /// Callers of the block, whose function comes after them.
    callers: Vec<(Option<usize>, Measured)>,
    /// The function of the block; `None` for a circle as a whole.
    of_block: Option<usize>,
    circles: Vec<(Position, String)>,
}

/// What a line of a block says.
#[derive(Clone, Copy, Default)]
struct Measured {
    times: Option<(f64, f64)>,
    calls: Option<(u64, u64)>,
}

impl Report {
    fn line(&mut self, at: Position, line: &[u8]) -> Result<(), ImportError> {
        let text = line.trim_ascii();
        if line.starts_with(FLAT) {
            self.section = Section::FlatHead;
            return Ok(());
        }
        if is_flat_heading(text) {
            if self.has_flat {
                return Err(ImportError::malformed(
                    at,
                    "one report",
                    "a second flat profile",
                ));
            }
            if self.section != Section::FlatHead {
                self.dialect = ReportDialect::Bsd;
            }
            (self.section, self.has_flat) = (Section::Flat, true);
            return Ok(());
        }
        if is_graph_heading(text) {
            (self.section, self.has_graph) = (Section::Between, true);
            self.dialect = if text.ends_with(b"index") {
                ReportDialect::Bsd
            } else {
                ReportDialect::Gnu
            };
            return Ok(());
        }
        // The form feed that may come before it is blank, too.
        if text == INDEX {
            self.section = Section::Index;
            return Ok(());
        }
        if matches!(line.first(), Some(b'\t' | b'\x0c')) && text.starts_with(GRAPH) {
            self.section = Section::GraphHead;
            return Ok(());
        }
        match self.section {
            Section::Between | Section::Callers | Section::Callees
                if self.dialect == ReportDialect::Bsd && text.is_empty() => {}
            // The third line of the headings of BSD, and the head of its flat profile.
            Section::Between if text.starts_with(b"called/total") => {}
            Section::Between if text.starts_with(b"granularity:") => self.section = Section::Text,
            // A blank line ends a table.
            Section::Flat | Section::Between if text.is_empty() => self.section = Section::Text,
            Section::Flat => self.flat_row(at, text)?,
            Section::GraphHead | Section::Text if text.starts_with(b"granularity:") => {
                self.granularity(text);
            }
            Section::Between => {
                self.section = Section::Callers;
                self.block_line(at, text)?;
            }
            Section::Callers | Section::Callees => self.block_line(at, text)?,
            Section::Index => self.index(text),
            Section::Text | Section::FlatHead | Section::GraphHead => {}
        }
        Ok(())
    }

    /// `46.87 0.44 0.44 2 220.30 220.30 fib`, or without calls and averages.
    fn flat_row(&mut self, at: Position, text: &[u8]) -> Result<(), ImportError> {
        let wrong = || ImportError::malformed(at, "a row of the flat profile", quote(text));
        let mut words = Words(text);
        // Times are printed with a point and calls without one. That tells a row without calls, as
        // that of `cmp` in case `gprof/gprof`, from one with them.
        let [_, _, own] = [words.decimal(), words.decimal(), words.decimal()];
        let own = own.ok_or_else(wrong)?;
        let calls = words.count();
        // gprof prints averages wherever it prints calls: a count without them is no row of it
        // (case `gprof/flat-row-without-averages`).
        if calls.is_some() && [words.decimal(), words.decimal()].contains(&None) {
            return Err(wrong());
        }
        if words.0.is_empty() {
            return Err(wrong());
        }
        // BSD and AIX print the number of the function in the call graph after its name.
        let name = match numbered(words.0) {
            Some((name, _)) if self.dialect == ReportDialect::Bsd && words.0.ends_with(b"]") => {
                name
            }
            _ => words.0,
        };
        let name = escape::text(name).into_owned();
        let calls = calls.map(|calls| (calls, 0));
        self.flat.push(Function {
            name,
            has_line: true,
            times: Some((own, 0.0)),
            calls,
            ..Function::default()
        });
        Ok(())
    }

    /// `granularity: each sample hit covers 2 byte(s) for 1.06% of 0.94 seconds`.
    fn granularity(&mut self, text: &[u8]) {
        // A program without samples has `no time propagated` here: then the total stays unknown
        // (case `gprof/blocks-left-out`).
        let end = text
            .strip_suffix(b" seconds")
            .and_then(|text| text.rsplit(|byte| *byte == b' ').next());
        self.total = end.and_then(decimal);
    }

    /// A line of a block: of a caller, of the function in brackets, of a callee, or the end.
    fn block_line(&mut self, at: Position, text: &[u8]) -> Result<(), ImportError> {
        if text.starts_with(b"-----") {
            if self.section != Section::Callees {
                return Err(ImportError::malformed(
                    at,
                    "the line of a function, `[1] ...`",
                    quote(text),
                ));
            }
            self.section = Section::Between;
            return Ok(());
        }
        let wrong = || ImportError::malformed(at, "a line of the call graph", quote(text));
        if text == b"<spontaneous>" && self.section == Section::Callers {
            self.callers.push((None, Measured::default()));
            return Ok(());
        }
        let mut words = Words(text);
        let is_function = text.starts_with(b"[");
        if is_function {
            words.next();
            // The share of the run is checked and left out: times and total say it more exactly.
            words.decimal().ok_or_else(wrong)?;
        }
        let times = words.decimal().map(|own| (own, words.decimal()));
        let times = match times {
            Some((own, Some(others))) => Some((own, others)),
            Some((_, None)) => return Err(wrong()),
            None => None,
        };
        let figures = Measured {
            times,
            calls: words.calls(),
        };
        let (name, number) = numbered(words.0).ok_or_else(wrong)?;
        match (is_function, self.section) {
            (true, Section::Callers) => self.function(at, name, number, figures)?,
            (false, Section::Callers) => {
                let caller = self.numbered(name, number);
                self.callers.push((Some(caller), figures));
            }
            (false, _) => {
                let callee = self.numbered(name, number);
                // The block of a circle as a whole has its members in the place of callees. The
                // calls among them are in the blocks of these members (case `gprof/gprof`).
                if let Some(caller) = self.of_block {
                    self.call(Some(caller), callee, figures);
                }
            }
            (true, _) => {
                return Err(ImportError::malformed(
                    at,
                    "the end of the block, `-----`",
                    quote(text),
                ));
            }
        }
        Ok(())
    }

    /// The line of the block's function.
    fn function(
        &mut self,
        at: Position,
        name: &[u8],
        number: u32,
        figures: Measured,
    ) -> Result<(), ImportError> {
        self.section = Section::Callees;
        let callers = std::mem::take(&mut self.callers);
        if name.starts_with(b"<cycle ") && name.ends_with(b" as a whole>") {
            // The blocks of its members repeat who calls into the circle; edges from here
            // would count these calls twice.
            self.of_block = None;
            let name = escape::text(name);
            let message = match figures.times {
                Some((own, others)) => {
                    format!(
                        "{name}: this cycle has {own} s of exclusive time and {others} s of callees; only its \
                         functions are stored"
                    )
                }
                None => format!("{name}: this cycle has no times; only its functions are stored"),
            };
            self.circles.push((at, message));
            return Ok(());
        }
        let function = self.numbered(name, number);
        self.of_block = Some(function);
        if let Some(known) = self.functions.get_mut(function) {
            if known.has_line {
                return Err(ImportError::malformed(
                    at,
                    "one block per function",
                    format!("a second block of [{number}]"),
                ));
            }
            // Blank times are unknown (case `gprof/times-blank`).
            known.times = figures.times;
            known.has_line = true;
            known.calls = figures.calls;
        }
        for (caller, figures) in callers {
            self.call(caller, function, figures);
        }
        Ok(())
    }

    /// The function of a number.
    fn numbered(&mut self, name: &[u8], number: u32) -> usize {
        let (name, in_circle) = without_circle(name);
        let functions = &mut self.functions;
        *self.by_number.entry(number).or_insert_with(|| {
            let name = escape::text(name).into_owned();
            functions.push(Function {
                name,
                in_circle,
                ..Function::default()
            });
            functions.len() - 1
        })
    }

    /// Adds a call; it is in the blocks of both functions.
    fn call(&mut self, caller: Option<usize>, callee: usize, figures: Measured) {
        let calls = figures.calls.map(|(calls, _)| calls);
        let next = self.calls.len();
        // The second mention has the same figures: adding it up would double every call.
        if *self.by_pair.entry((caller, callee)).or_insert(next) == next {
            self.calls.push(Call {
                caller,
                callee,
                calls,
                times: figures.times,
            });
        }
    }

    /// `[8] helper (work.c)   [10] is_odd`: the files of functions.
    fn index(&mut self, text: &[u8]) {
        let text = escape::text(text);
        // An entry ends where the next one begins, so that the last is looked at first.
        let mut end = text.len();
        for (start, number) in numbers_in_brackets(&text).rev() {
            let name = text
                .get(start + number.len() + 2..end)
                .map_or("", str::trim);
            let function = number
                .parse()
                .ok()
                .and_then(|number: u32| self.by_number.get(&number))
                .and_then(|function| self.functions.get_mut(*function));
            // Names have blanks, brackets and parentheses of their own (`f(int)`, `operator[]`). Only
            // the known name tells that an entry begins, and where the file does.
            let after_name = function
                .as_ref()
                .and_then(|function| name.strip_prefix(function.name.as_str()));
            if after_name.is_none() && !name.starts_with("<cycle ") {
                continue;
            }
            end = start;
            let file = after_name.map(str::trim_start);
            let file = file.and_then(|file| file.strip_prefix('(')?.strip_suffix(')'));
            if let (Some(function), Some(file)) = (function, file) {
                file.clone_into(&mut function.file);
            }
        }
    }

    fn finish(mut self, end: Position, sink: &mut dyn Sink) -> Result<(), ImportError> {
        if matches!(self.section, Section::Callers | Section::Callees) {
            return Err(ImportError::malformed(
                end,
                "the end of the block, `-----`",
                "the end of the file",
            ));
        }
        if matches!(self.section, Section::FlatHead | Section::GraphHead) {
            return Err(ImportError::malformed(
                end,
                "a table",
                "the end of the file",
            ));
        }
        if !self.has_flat && !self.has_graph {
            return Err(ImportError::malformed(
                end,
                "a flat profile or a call graph",
                "the end of the file",
            ));
        }
        // Own times and calls of the flat profile are in the graph, too: both together would count
        // them twice.
        if !self.has_graph {
            self.functions = std::mem::take(&mut self.flat);
        }
        let fidelity = if self.calls.is_empty() {
            Fidelity::Flat
        } else {
            Fidelity::Edges
        };
        sink.run(RunFact::Fidelity(fidelity));
        let metric = sink.metric("time", Unit::Nanoseconds, Noise::Sampled);
        if let Some(total) = self.total {
            sink.run(RunFact::Total(metric, nanoseconds(total)));
        }
        let ids = self.ids(sink);
        for call in &self.calls {
            self.emit_call(call, metric, &ids, sink);
        }
        for (function, id) in self.functions.iter().zip(&ids) {
            self.emit_function(function, *id, metric, sink);
        }
        let unknown = self
            .functions
            .iter()
            .filter(|function| !function.has_line)
            .count();
        if unknown > 0 {
            let message = format!(
                "{} without a block in the call graph: inclusive times and callers are unknown",
                many(unknown as u64, "function")
            );
            sink.note(Note {
                severity: Severity::Warning,
                position: None,
                message: &message,
            });
        }
        let own = self.functions.iter().filter_map(|function| function.times);
        let own = own.map(|(own, _)| own).reduce(|sum, own| sum + own);
        if let Some(message) = self.total.or(own).and_then(rough) {
            sink.note(Note {
                severity: Severity::Warning,
                position: None,
                message: &message,
            });
        }
        for (at, message) in &self.circles {
            sink.note(Note {
                severity: Severity::Info,
                position: Some(*at),
                message,
            });
        }
        Ok(())
    }

    /// Names the functions. Nothing but their number tells some of them apart.
    fn ids(&self, sink: &mut dyn Sink) -> Vec<FunctionId> {
        let mut equal: HashMap<(&str, &str), u32> = HashMap::new();
        let mut ids = Vec::with_capacity(self.functions.len());
        for Function { name, file, .. } in &self.functions {
            let count = equal.entry((name, file)).or_default();
            ids.push(sink.function(FunctionDef {
                file,
                // Equal definitions get one id from the sink. A column of its own keeps a static
                // function apart where the index is missing (case `gprof/same-name-without-index`).
                first_col: *count,
                ..FunctionDef::named(name)
            }));
            *count += 1;
        }
        ids
    }

    fn emit_call(&self, call: &Call, metric: MetricId, ids: &[FunctionId], sink: &mut dyn Sink) {
        let (Some(callee), Some(of)) = (ids.get(call.callee), self.functions.get(call.callee))
        else {
            return;
        };
        let caller = call
            .caller
            .and_then(|caller| ids.get(caller))
            .map(|caller| Frame::function(*caller));
        // Calls without a number cost what the function cost, unless others called it, too.
        let of_function = of
            .times
            .filter(|_| call.caller.is_none() && of.calls.is_none() && !of.in_circle);
        let times = call.times.or(of_function);
        // A call into a circle has the times of the whole circle: 0.08 s of own time for `is_even`,
        // which has 0.04 s of its own (case `gprof/gprof`).
        let exclusive = times
            .map(|(own, _)| nanoseconds(own))
            .filter(|_| !of.in_circle);
        let cumulative = times.map(|(own, others)| nanoseconds(own + others));
        let cost = EdgeCost {
            metric,
            exclusive,
            cumulative,
            outermost: None,
            seen: None,
        };
        sink.edge(Edge {
            callee: *callee,
            caller,
            kind: EdgeKind::Call,
            calls: call.calls,
            costs: &[cost],
        });
    }

    fn emit_function(
        &self,
        function: &Function,
        id: FunctionId,
        metric: MetricId,
        sink: &mut dyn Sink,
    ) {
        if !function.has_line {
            return;
        }
        // A flat profile has own times only. In a circle gprof passes no time on from member to
        // member, so that a member's two times are not its cumulative cost.
        let knows_all = self.has_graph && !function.in_circle;
        sink.info(Info {
            frame: Frame::function(id),
            metric,
            calls: function
                .calls
                .map(|(calls, again)| calls.saturating_add(again)),
            primitive: function.calls.map(|(calls, _)| calls).filter(|_| knows_all),
            exclusive: function.times.map(|(own, _)| nanoseconds(own)),
            cumulative: function
                .times
                .filter(|_| knows_all)
                .map(|(own, others)| nanoseconds(own + others)),
            seen: None,
        });
    }
}

/// Hundredths of a second are whole nanoseconds.
fn nanoseconds(seconds: f64) -> f64 {
    (SECOND * seconds).round()
}

fn decimal(word: &[u8]) -> Option<f64> {
    // Calls have no point. `inf`, `nan` and exponents, which `parse` takes, are no times of gprof.
    let is_number = word.contains(&b'.')
        && word
            .iter()
            .all(|byte| byte.is_ascii_digit() || *byte == b'.');
    std::str::from_utf8(word)
        .ok()
        .filter(|_| is_number)?
        .parse()
        .ok()
}

fn count(word: &[u8]) -> Option<u64> {
    std::str::from_utf8(word)
        .ok()
        .filter(|_| word.iter().all(u8::is_ascii_digit))?
        .parse()
        .ok()
}

/// Words that are taken from the front of a text, if they are what is asked for.
struct Words<'t>(&'t [u8]);

impl<'t> Words<'t> {
    fn split(&self) -> (&'t [u8], &'t [u8]) {
        let end = self
            .0
            .iter()
            .position(u8::is_ascii_whitespace)
            .unwrap_or(self.0.len());
        let (word, rest) = self.0.split_at(end);
        (word, rest.trim_ascii_start())
    }

    fn next(&mut self) {
        self.0 = self.split().1;
    }

    fn take<T>(&mut self, of: impl Fn(&[u8]) -> Option<T>) -> Option<T> {
        let (word, rest) = self.split();
        let value = of(word)?;
        self.0 = rest;
        Some(value)
    }

    fn decimal(&mut self) -> Option<f64> {
        self.take(decimal)
    }

    fn count(&mut self) -> Option<u64> {
        self.take(count)
    }

    /// `2`, `1/2` (of two), `2+10` (ten of them from itself).
    fn calls(&mut self) -> Option<(u64, u64)> {
        self.take(|word| {
            let end = word
                .iter()
                .position(|byte| matches!(byte, b'/' | b'+'))
                .unwrap_or(word.len());
            let (calls, rest) = word.split_at(end);
            let calls = count(calls)?;
            match rest.split_first() {
                Some((b'+', again)) => Some((calls, count(again)?)),
                Some((_, of)) => count(of).map(|_| (calls, 0)),
                None => Some((calls, 0)),
            }
        })
    }
}

/// The numbers of a text that are in brackets or parentheses, as those in front of the entries of
/// the index: the byte where the bracket is, and the digits.
fn numbers_in_brackets(text: &str) -> impl DoubleEndedIterator<Item = (usize, &str)> {
    text.match_indices(['[', '(']).filter_map(|(start, open)| {
        let rest = text.get(start + 1..)?;
        let digits = rest.find(|letter: char| !letter.is_ascii_digit())?;
        let (number, after) = rest.split_at_checked(digits)?;
        let close = if open == "[" { "] " } else { ") " };
        (digits > 0 && after.starts_with(close)).then_some((start, number))
    })
}

/// A name and the number after it: `fib [2]`, or `fib (2)` if its block was left out (`-E`, `-f`).
fn numbered(text: &[u8]) -> Option<(&[u8], u32)> {
    let (rest, open) = match text.split_last()? {
        (b']', rest) => (rest, b'['),
        (b')', rest) => (rest, b'('),
        _ => return None,
    };
    let start = memchr::memrchr(open, rest)?;
    let number = u32::try_from(count(rest.get(start + 1..)?)?).ok()?;
    let name = rest.get(..start)?.trim_ascii_end();
    (!name.is_empty()).then_some((name, number))
}

/// A name without the circle it is part of: `is_odd <cycle 1>`.
fn without_circle(name: &[u8]) -> (&[u8], bool) {
    let start = memchr::memmem::rfind(name, b" <cycle ").filter(|_| name.ends_with(b">"));
    match start.and_then(|start| name.get(..start)) {
        Some(name) => (name, true),
        None => (name, false),
    }
}
