//! Callgrind profiles: valgrind, Xdebug, pprof and others
//!
//! # What it is
//! The format of `callgrind.out` files, which KCachegrind shows. It states the exclusive cost of each line of each function, and the
//! inclusive cost of each of its calls. Writers are callgrind and cachegrind of valgrind, Xdebug (`cachegrind.out`), Go's
//! pprof and that of gperftools (`-callgrind`), NYTProf of Perl (`nytprofcg`), stackprof and ruby-prof of Ruby, yappi and
//! pprofile of Python, and others. Default metric: the first event; for pprofile, the second (`microseconds`).
//!
//! # How to record one
//! ```text
//! valgrind --tool=callgrind ./program
//! php -d xdebug.mode=profile -d xdebug.start_with_request=yes script.php
//! go tool pprof -callgrind cpu.pprof > cpu.callgrind
//! ```
//!
//! # What we read
//! - Pairs of caller and callee (fidelity `edges`); files without any call have totals only (`flat`).
//! - The inclusive cost of a function: its exclusive cost and that of its calls, or the costs that its callers state if
//!   these are larger. Profilers other than callgrind leave out calls and exclusive costs. A note counts such functions.
//! - Recursion. Callgrind marks recursive levels, as `fib'2` (`--separate-recs`). All levels are one function, whose inclusive
//!   cost is that of the first level. For other writers, the inclusive cost of functions in a call cycle is unknown. It is known
//!   if the function calls only itself, or if calls of an active function cost 0 in the file, as for NYTProf.
//! - Calls within a cycle, as the writer defines them: callgrind counts every level, yappi and Go's pprof a pair of functions
//!   once, NYTProf the outermost call of a function. docs/conformance.md has a table of writers.
//! - Exclusive costs that are not in the file, such as those of functions in C from stackprof: the cost that the callers state
//!   minus that of the callees; unknown in cycles and in damaged files. A note counts them.
//! - Every event as a metric. A unit in its name (`Time_(10ns)`, `cpu(ms)`) is removed; times are nanoseconds and sizes
//!   bytes. `Time` and `Memory` of Xdebug are microseconds and bytes.
//! - Files of old versions of Xdebug, which have format version 0.9.6 and no creator. A file with PHP functions is
//!   treated as Xdebug's. Its calls name no file and refer to the function with that name.
//!   Files with `Time` alone have microseconds. Those with `Time Memory` are from 2.0.0RC3 or older: they have tenths of
//!   microseconds, and figures of memory that Xdebug's authors found wrong and removed.
//! - Functions by object (the module), file and name, with short and full names. A number without a name is the name of its
//!   function, with a note. An unused entry of a name table, as in files of yappi, makes no function. For NYTProf, the file
//!   of a function is that of its exclusive cost. `???` is unknown.
//! - Lines with their file, if it differs from that of the function; line 0 is unknown.
//! - Calls with a count of 0, as an unknown number of calls. gperftools writes numbers of samples there: they are unknown, too.
//! - The total of a metric from `summary:` or `totals:`; a note reports a different sum of the functions. A `summary:`
//!   of zeros is ignored, unless profdb wrote it.
//! - Several parts in one file (dumps, threads, requests), added up with a note. Requests of a call tree are kept apart: each has
//!   a node at the top, with the name of its script.
//! - The call tree of Xdebug files (fidelity `tree`), if their order proves it. Xdebug writes a record when a function returns,
//!   with each call that the function made, and its cost. The calls of each record must match the latest returned records
//!   without a caller, in order, function and cost, and each request must end with its `summary:`. Otherwise
//!   the file is read as edges, and a warning names the record. Examples are fibers, and processes that share one file.
//!   The cost of a call is the one in its caller; for the outermost ones it is the sum of their parts. The two may differ a
//!   little, because Xdebug rounds each time, and version 3 writes 0 for memory if more was freed than allocated.
//! - Mangled names of C++ and Rust are demangled; the raw name is kept.
//!
//! # What we leave out
//! - Addresses of instructions (costs are added up by line), jumps, and events that are computed from others, such as `usphit`
//!   of pprofile. The cost of calls in its event `hits`, which is their number.
//! - Names of `--separate-callers` are kept: every context is a separate function.
//!
//! # References
//! - "Callgrind Format Specification", Valgrind documentation.
//! - "Profiling", Xdebug documentation; the changes of 2.0.0RC4 in its list of changes.

use super::call_graph::{CallGraph, Figure, FileLine, Key, Level, OwnCosts, Shown};
use super::columns::Columns;
use super::names::{NumberedNames, Sort, gives_number};
use super::oddities::Oddities;
use super::words::{Creator, Metric, OLD_VERSION, header, is_blank, lines, number, words};
use super::xdebug::exit_order::{Accuracy, Doubt, ExitOrder};
use super::xdebug::exit_tree::ExitTree;
use super::xdebug::record::Call;
use crate::base::error::{ImportError, Position, quote};
use crate::events::{
    Fidelity, FunctionDef, Kind, MetricId, Note, ROUNDING, RunFact, Severity, Sink,
};
use crate::formats::common::demangle::Demangler;
use crate::formats::common::ending::note_unfinished_line;
use crate::formats::common::names::NameId;
use crate::formats::format::{Confidence, Format};
use crate::formats::options::{KEEP_BEFORE_ERROR_OPTION, Options};
use crate::formats::salvage::Salvage;
use crate::input::Input;
use crate::text::escape;

/// The format of the page above: how it is recognised and read.
pub(in crate::formats) const FORMAT: Format = Format {
    name: "callgrind",
    summary: "Callgrind profiles: valgrind, Xdebug, pprof -callgrind, NYTProf",
    revision: 8,
    sniff,
    has_empty_recordings: true,
    salvage: Salvage::Lines,
    options: &[KEEP_BEFORE_ERROR_OPTION],
    import,
};

const MAGIC: &[u8] = b"# callgrind format";

const XDEBUG: &[u8] = b"creator: xdebug";

/// What Xdebug writes in front of a request when it adds it to a file.
const NEXT_FILE: &[u8] = b"==== NEW PROFILING FILE";

fn sniff(head: &[u8]) -> Confidence {
    const FIRST: [&[u8]; 9] = [
        b"version",
        b"creator",
        b"cmd",
        b"pid",
        b"part",
        b"desc",
        b"positions",
        b"events",
        b"event",
    ];
    if head.starts_with(MAGIC) {
        return Confidence::Yes;
    }
    let is_text = |line: &&[u8]| !is_blank(line) && !line.starts_with(NEXT_FILE);
    let mut lines = head.split(|byte| *byte == b'\n').filter(is_text);
    let first = lines.next().and_then(header);
    if !first.is_some_and(|(key, _)| FIRST.contains(&key)) {
        return Confidence::No;
    }
    // A line `events:` among the first bytes is required, since texts of other kinds begin with `version:` or `cmd:`, too.
    let is_events = |line: &[u8]| header(line).is_some_and(|(key, _)| key == b"events");
    let mut all = head.split(|byte| *byte == b'\n');
    if all.any(is_events) {
        Confidence::Yes
    } else {
        Confidence::No
    }
}

fn import(
    input: &mut Input<'_>,
    _options: &Options,
    sink: &mut dyn Sink,
) -> Result<(), ImportError> {
    let sink = &mut Demangler::new(sink);
    let creator = Creator::of_head(input.head());
    let mut profile = Profile::new(sink, creator);
    if creator == Creator::OldXdebug || lines(input.head()).any(|line| line.starts_with(XDEBUG)) {
        // Its calls can be read twice, if the first time shows that they are a tree.
        input.keep();
        profile.order = Some(ExitOrder::to_prove());
    }
    profile.read(input)?;
    note_unfinished_line(input, profile.sink);
    let end = input.position();
    let is_cut = input.ends_early() || input.unfinished_line().is_some();
    let Some(tree) = profile.finish(end, is_cut)? else {
        return Ok(());
    };
    input.restart()?;
    profile.begin_again(tree);
    profile.read(input)?;
    // The last request ends with the file; all that the first pass has said is not said again.
    profile.next_part(end);
    Ok(())
}

/// Reads a file: the graph of calls is added up in the first pass, a tree is built in the second.
struct Profile<'s> {
    sink: &'s mut dyn Sink,
    creator: Creator,
    names: NumberedNames,
    columns: Columns,
    context: Context,
    part: Part,
    pass: Pass,
    graph: CallGraph,
    /// The order in which calls return, where it may show a tree.
    order: Option<ExitOrder>,
    oddities: Oddities,
    /// The figures of a line, kept to be used again.
    figures: Vec<Figure>,
}

/// How often the file has been read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    /// Reads facts, notes and the call graph.
    First,
    /// Builds the tree; the first pass has emitted the rest.
    Second,
}

/// What costs are of: the specifications that hold until others come.
struct Context {
    object: NameId,
    file: NameId,
    /// The file of the current function.
    home: NameId,
    current: Option<Current>,
    called: Called,
    /// A call whose cost is on the next line, and how often it was made.
    call: Option<(Level, u64)>,
}

/// The function that costs are of.
#[derive(Clone, Copy)]
enum Current {
    /// It has been named together with its number, in a table of names perhaps: a cost or call
    /// makes it a function.
    Named(Position, Key),
    Begun(Level),
}

/// Where the called function is, as far as it differs from the calling one.
#[derive(Default)]
struct Called {
    object: Option<NameId>,
    file: Option<NameId>,
    function: Option<NameId>,
}

impl Context {
    /// Before the first specification.
    fn new(unknown: NameId) -> Self {
        Self {
            object: unknown,
            file: unknown,
            home: unknown,
            current: None,
            called: Called::default(),
            call: None,
        }
    }
}

/// A part of the file: a dump, a thread, a request.
struct Part {
    /// What it says it is of; where it does not, as the part before.
    command: NameId,
    /// Costs have come.
    in_body: bool,
    /// Its end has come.
    has_totals: bool,
    summary: Option<Vec<Figure>>,
    totals: Option<Vec<Figure>>,
}

impl Part {
    fn of(command: NameId) -> Self {
        Self {
            command,
            in_body: false,
            has_totals: false,
            summary: None,
            totals: None,
        }
    }

    /// Whether a header that begins parts would begin the next one.
    fn has_begun(&self) -> bool {
        self.in_body || self.has_totals
    }
}

impl<'s> Profile<'s> {
    fn new(sink: &'s mut dyn Sink, creator: Creator) -> Self {
        let mut names = NumberedNames::new();
        match creator {
            Creator::OldXdebug => names.calls_name_no_file(),
            Creator::Nytprof => names.functions_have_one_file(),
            _ => {}
        }
        let unknown = names.unknown;
        Self {
            sink,
            creator,
            names,
            columns: Columns::default(),
            context: Context::new(unknown),
            part: Part::of(unknown),
            pass: Pass::First,
            graph: CallGraph::default(),
            order: None,
            oddities: Oddities::default(),
            figures: Vec::new(),
        }
    }

    fn read(&mut self, input: &mut Input<'_>) -> Result<(), ImportError> {
        let mut line = Vec::new();
        while let Some((at, line)) = input.next_line(&mut line)? {
            self.sink.at(at);
            self.line(at, line)?;
        }
        self.sink.at(input.position());
        Ok(())
    }

    /// Takes the next line.
    fn line(&mut self, at: Position, line: &[u8]) -> Result<(), ImportError> {
        match line.first() {
            _ if is_blank(line) => Ok(()),
            Some(b'0'..=b'9' | b'+' | b'-' | b'*') => self.costs(at, line),
            _ if self.context.call.is_some() => Err(ImportError::malformed(
                at,
                "the cost of the call in the previous line",
                quote(line),
            )),
            _ if line.starts_with(NEXT_FILE) => {
                // It comes before the first request, too.
                if self.columns.has_events() {
                    self.next_part(at);
                }
                // Numbers of names start again (case `callgrind/requests`).
                self.names.forget();
                Ok(())
            }
            _ => match header(line) {
                Some((key, text)) => self.header(at, key, text),
                None => self.specification(at, line),
            },
        }
    }

    /// Takes a line such as `events: Ir`.
    fn header(&mut self, at: Position, key: &[u8], text: &[u8]) -> Result<(), ImportError> {
        // The format has no mark between parts: what comes at the head of a file begins the next
        // one, once there are costs or totals.
        let begins_a_part = matches!(
            key,
            b"version" | b"creator" | b"cmd" | b"command" | b"pid" | b"part" | b"events"
        );
        if begins_a_part && (self.part.has_begun()) {
            self.next_part(at);
        }
        let name = self.names.of_bytes(text);
        let shown = self.names.text(name);
        let (sink, pass) = (&mut *self.sink, self.pass);
        let mut emit = |fact: RunFact<'_>| {
            if pass == Pass::First {
                sink.run(fact);
            }
        };
        match key {
            b"version" if text == b"1" || text == OLD_VERSION => {}
            b"version" => {
                return Err(ImportError::malformed(
                    at,
                    "version 1 or 0.9.6",
                    quote(text),
                ));
            }
            b"creator" => {
                self.creator = Creator::of(text);
                emit(RunFact::ToolVersion(shown));
            }
            b"cmd" | b"command" => {
                self.part.command = name;
                emit(RunFact::Command(shown));
            }
            b"pid" | b"thread" | b"part" => {
                emit(RunFact::Other(&escape::text(key), shown));
            }
            b"desc" => {
                if let Some((name, value)) = shown
                    .split_once(':')
                    .filter(|(_, value)| !value.trim().is_empty())
                {
                    emit(RunFact::Other(name.trim(), value.trim()));
                }
            }
            b"event" => match shown.split_once(':') {
                _ if shown.contains('=') => self.oddities.computed.add(at),
                Some((name, meaning)) => {
                    emit(RunFact::Other(
                        &format!("event {}", name.trim()),
                        meaning.trim(),
                    ));
                }
                None => {}
            },
            b"events" => self.events(at, text)?,
            b"positions" => {
                self.columns.positions(at, text)?;
                if self.columns.has_addresses() {
                    self.oddities.addresses.add(at);
                }
            }
            b"summary" => self.part.summary = Some(self.stated(at, text)?),
            b"totals" => {
                self.part.totals = Some(self.stated(at, text)?);
                self.part.has_totals = true;
            }
            _ => self.oddities.unknown_headers.add_with(at, || quote(key)),
        }
        Ok(())
    }

    /// Takes the events, which are metrics.
    fn events(&mut self, at: Position, text: &[u8]) -> Result<(), ImportError> {
        let known = self.columns.metrics().len();
        let creator = self.creator.of_events(text);
        self.columns
            .events(at, text, creator, &mut self.oddities.quotients)?;
        for (number, metric) in self.columns.metrics().iter().enumerate().skip(known) {
            self.graph.add_metric();
            if metric.is_of_calls_alone {
                self.graph.counts_calls_alone(number);
                self.oddities
                    .calls_alone
                    .add_with(at, || quote(metric.name.as_bytes()));
            }
        }
        if let Some(order) = &mut self.order {
            let accuracy = |metric: &Metric| Accuracy::of(&metric.unit, metric.scale);
            order.measure(at, self.columns.metrics().iter().map(accuracy).collect());
        }
        Ok(())
    }

    /// What a part states as its totals.
    fn stated(&self, at: Position, text: &[u8]) -> Result<Vec<Figure>, ImportError> {
        let mut figures = Vec::new();
        self.columns.costs(at, words(text), &mut figures)?;
        Ok(figures)
    }

    /// `fn=(1) main` and the like.
    fn specification(&mut self, at: Position, line: &[u8]) -> Result<(), ImportError> {
        let expected = "a cost, a position such as `fn=`, or a header such as `events:`";
        let wrong = || ImportError::malformed(at, expected, quote(line));
        let equals = line
            .iter()
            .position(|byte| *byte == b'=')
            .ok_or_else(wrong)?;
        let key = line.get(..equals).unwrap_or_default();
        let text = line.get(equals + 1..).unwrap_or_default().trim_ascii();
        match key {
            b"ob" => self.context.object = self.names.read(at, Sort::Object, text),
            // Writers derived from lsprofcalltree give the file of a function by `fi=`.
            b"fl" | b"fi" | b"fe" => self.context.file = self.names.read(at, Sort::File, text),
            b"fn" => {
                let name = self.names.read(at, Sort::Function, text);
                let key = (self.context.object, self.context.file, name);
                self.context.current = Some(if gives_number(text) {
                    Current::Named(at, key)
                } else {
                    Current::Begun(self.begin(at, key)?)
                });
                self.context.called = Called::default();
            }
            b"cob" => self.context.called.object = Some(self.names.read(at, Sort::Object, text)),
            b"cfi" | b"cfl" => {
                self.context.called.file = Some(self.names.read(at, Sort::File, text));
            }
            b"cfn" => {
                self.context.called.function = Some(self.names.read(at, Sort::Function, text));
            }
            b"calls" => self.calls(at, text)?,
            // Positions of jumps may define name numbers.
            b"jfi" => _ = self.names.read(at, Sort::File, text),
            b"jfn" => _ = self.names.read(at, Sort::Function, text),
            b"jump" | b"jcnd" => self.oddities.jumps.add(at),
            _ => return Err(wrong()),
        }
        Ok(())
    }

    /// From here on costs are those of this function.
    fn begin(&mut self, at: Position, (object, file, name): Key) -> Result<Level, ImportError> {
        if self.names.settle(name, file) {
            self.graph
                .settle((object, self.names.unknown, name), (object, file, name));
        }
        self.context.home = self.names.home(name, file);
        let level = self.level(at, (object, self.context.home, name))?;
        if let Some(order) = &mut self.order {
            order.begin(at, number_of(level));
        }
        Ok(level)
    }

    /// The function and its level: `fib'2` is `fib` within `fib`.
    fn level(&mut self, at: Position, (object, file, name): Key) -> Result<Level, ImportError> {
        let text = self.names.text(name);
        if text.is_empty() {
            return Err(ImportError::malformed(
                at,
                "the name of a function",
                "nothing",
            ));
        }
        // Callgrind counts levels from 2. Elsewhere an apostrophe with digits is a part of the name
        // (case `callgrind/hostile-names`).
        let outer = text.rsplit_once('\'').filter(|(outer, level)| {
            let is_level =
                level.bytes().all(|digit| digit.is_ascii_digit()) && !level.starts_with('0');
            self.creator == Creator::Callgrind
                && !outer.is_empty()
                && !level.is_empty()
                && *level != "1"
                && is_level
        });
        let outer = outer.map(|(outer, _)| outer.to_owned());
        let deeper = outer.is_some();
        let name = outer.map_or(name, |outer| self.names.of_text(&outer));
        self.graph.check_size(at)?;
        Ok(Level {
            function: self.graph.function((object, file, name)),
            deeper,
        })
    }

    /// Takes a line `calls=`, whose cost is on the next one.
    fn calls(&mut self, at: Position, text: &[u8]) -> Result<(), ImportError> {
        let context = &mut self.context;
        let Some(function) = context.called.function.take() else {
            return Err(ImportError::malformed(
                at,
                "`cfn=` before `calls=`",
                "nothing",
            ));
        };
        // The position of the target comes after it and moves nothing (case `callgrind/positions`).
        let word = words(text).next().unwrap_or_default();
        let calls = number(word)
            .ok_or_else(|| ImportError::malformed(at, "a number of calls", quote(word)))?;
        let calls = if self.creator.counts_samples_as_calls() {
            0
        } else {
            calls
        };
        let object = context.called.object.take().unwrap_or(context.object);
        let file = self
            .names
            .home_of_called(function, context.called.file.take(), context.file);
        let callee = self.level(at, (object, file, function))?;
        self.context.call = Some((callee, calls));
        Ok(())
    }

    /// A line of costs: of the function itself, or of the call before it.
    fn costs(&mut self, at: Position, line: &[u8]) -> Result<(), ImportError> {
        let mut words = words(line);
        self.columns.move_to(at, &mut words)?;
        let current = match self.context.current {
            Some(Current::Begun(level)) => level,
            Some(Current::Named(at, key)) => self.begin(at, key)?,
            None => {
                return Err(ImportError::malformed(
                    at,
                    "`fn=` before the first cost",
                    quote(line),
                ));
            }
        };
        self.context.current = Some(Current::Begun(current));
        let mut figures = std::mem::take(&mut self.figures);
        figures.clear();
        self.columns.costs(at, words, &mut figures)?;
        self.part.in_body = true;
        let place = (self.context.file, self.columns.line(at)?);
        let call = self.context.call.take();
        if let Some(order) = &mut self.order {
            if self.context.file != self.context.home {
                // The tree of calls knows lines by their number alone.
                order.doubt_shape("has lines of another file");
            }
            match call {
                Some((callee, calls)) => {
                    order.call(
                        Call {
                            callee: number_of(callee),
                            line: place.1,
                        },
                        calls,
                        &figures,
                    );
                }
                None => order.cost(place.1, &figures),
            }
        }
        if self.pass == Pass::First {
            self.add(current, place, call, &figures);
        }
        self.figures = figures;
        self.graph.check_size(at)
    }

    /// Adds costs to the graph.
    fn add(
        &mut self,
        level: Level,
        place: FileLine,
        call: Option<(Level, u64)>,
        figures: &[Figure],
    ) {
        let name = |level| {
            self.graph
                .name(level)
                .map_or("", |name| self.names.text(name))
        };
        let line = place.1;
        if let Some((callee, calls)) = call {
            let (caller, shown) = (name(level), Shown(calls, figures));
            self.sink.record(format_args!(
                "{caller}[{line}] calls {} {shown}",
                name(callee)
            ));
            self.graph.call((level, place), callee, calls, figures);
        // A line of positions alone comes after a jump (case `callgrind/jumps`).
        } else if !figures.is_empty() {
            self.sink.record(format_args!(
                "{}[{line}] costs {}",
                name(level),
                Shown(0, figures)
            ));
            self.graph.cost(level, place, figures);
        }
    }

    /// A part of the file is over, and another one begins.
    fn next_part(&mut self, at: Position) {
        self.end_part(at);
        self.oddities.later_parts.add(at);
        self.context = Context::new(self.names.unknown);
    }

    fn end_part(&mut self, at: Position) {
        if let Some(order) = &mut self.order {
            match &self.part.summary {
                Some(_) => order.end_part(),
                None => order.cut_part(at),
            }
            if let Some(tree) = order.tree() {
                let name = self.names.text(self.part.command);
                let part = FunctionDef {
                    kind: Kind::Part,
                    ..FunctionDef::named(name)
                };
                let is_one_of_many = self.oddities.later_parts.count() > 0;
                tree.emit(self.sink, is_one_of_many.then_some(part));
            }
        }
        // Zeros of other writers are placeholders; profdb writes the totals that it knows (case `callgrind/summary-of-zero`).
        let is_own = self.creator == Creator::Profdb;
        let is_known =
            |stated: &Vec<Figure>| is_own || stated.iter().any(|(_, figure)| *figure != 0.0);
        let (summary, totals) = (self.part.summary.take(), self.part.totals.take());
        let stated = summary.filter(is_known).or(totals);
        self.columns.add_stated(stated.as_deref());
        self.part = Part::of(self.part.command);
    }

    /// Says what has been added up; or, if a second reading can say more, no more than what is
    /// needed before it.
    fn finish(&mut self, end: Position, is_cut: bool) -> Result<Option<ExitTree>, ImportError> {
        if self.context.call.is_some() {
            return Err(ImportError::malformed(
                end,
                "the cost of a call",
                "the end of the file",
            ));
        }
        if self.columns.metrics().is_empty() {
            return Err(ImportError::malformed(
                end,
                "a line `events:`",
                "the end of the file",
            ));
        }
        // Only callgrind is known to always write `totals:` at the end.
        let lacks_totals = self.creator == Creator::Callgrind && !self.part.has_totals;
        self.end_part(end);
        let proof = self.order.take().map(ExitOrder::proof);
        if !matches!(proof, Some(Ok(_))) {
            let fidelity = if self.graph.has_calls() {
                Fidelity::Edges
            } else {
                Fidelity::Flat
            };
            self.sink.run(RunFact::Fidelity(fidelity));
        }
        // At the end, because a later part may have another event (case `callgrind/parts`).
        let metrics: Vec<MetricId> = self
            .columns
            .metrics()
            .iter()
            .map(|metric| {
                if self.creator.counts_samples(metric) {
                    return self.sink.samples(&metric.name);
                }
                let noise = self.creator.noise(&metric.unit);
                self.sink.metric(&metric.name, metric.unit.clone(), noise)
            })
            .collect();
        if let (Some(metric), true) = (metrics.get(1), self.oddities.calls_alone.count() > 0) {
            self.sink.run(RunFact::DefaultMetric(*metric));
        }
        let own = if is_cut || lacks_totals || self.names.has_unnamed() {
            self.graph.unknown_own_costs()
        } else {
            self.graph.own_costs(self.creator.call_cost())
        };
        self.totals(&metrics, &own);
        let tree = match proof {
            Some(Ok(marks)) => {
                let functions = self.graph.functions(self.sink, self.names.all());
                Some(ExitTree::new(marks, metrics, functions))
            }
            doubt => {
                self.graph.emit(
                    self.sink,
                    self.names.all(),
                    &metrics,
                    &own,
                    self.creator.call_cost(),
                );
                if let Some(Err(doubt)) = doubt {
                    self.note_doubt(doubt);
                }
                None
            }
        };
        if lacks_totals {
            let message =
                "expected a line `totals:` before the end of the file: the file may be truncated";
            self.sink.note(Note {
                severity: Severity::Warning,
                position: Some(end),
                message,
            });
        }
        self.names.note_unnamed(self.sink);
        self.oddities.note(
            self.sink,
            if tree.is_some() {
                "each becomes a root of the call tree"
            } else {
                "their costs are added up"
            },
        );
        Ok(tree)
    }

    /// Says why a file of Xdebug's is not read as a tree.
    fn note_doubt(&mut self, (at, function, doubt): (Position, u32, Doubt)) {
        let name = |function: u32| {
            let level = Level {
                function: function as usize,
                deeper: false,
            };
            self.graph
                .name(level)
                .map_or("", |name| self.names.text(name))
        };
        let message = format!(
            "call paths are unknown, because {}",
            doubt.message(name, function)
        );
        self.sink.note(Note {
            severity: Severity::Warning,
            position: Some(at),
            message: &message,
        });
    }

    /// Back to the first line, to build the tree. The numbers of names are forgotten, those of
    /// functions and metrics stay.
    fn begin_again(&mut self, tree: ExitTree) {
        let unknown = self.names.unknown;
        (self.order, self.pass) = (Some(ExitOrder::to_build(tree)), Pass::Second);
        self.names.forget();
        self.columns.forget();
        self.context = Context::new(unknown);
        self.part = Part::of(unknown);
    }

    /// Says the totals that the file states, with a note where its functions add up to others.
    fn totals(&mut self, metrics: &[MetricId], own: &OwnCosts) {
        for (at, (id, metric)) in metrics.iter().zip(self.columns.metrics()).enumerate() {
            let Some(stated) = metric.stated else {
                continue;
            };
            self.sink.run(RunFact::Total(*id, stated));
            let sum = self.graph.total(at, own);
            // Figures are scaled by their units, and sums of REALs rounded.
            if (sum - stated).abs() > ROUNDING * stated.abs() {
                let name = &metric.name;
                let message = format!(
                    "the file states a total of {stated} for {name}, but its functions add up to {sum}: percentages \
                     refer to the stated total"
                );
                self.sink.note(Note {
                    severity: Severity::Info,
                    position: None,
                    message: &message,
                });
            }
        }
    }
}

/// What the order of calls knows a function by. There is no room for more functions than that.
fn number_of(level: Level) -> u32 {
    u32::try_from(level.function).unwrap_or(u32::MAX)
}
