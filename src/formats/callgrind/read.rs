//! Callgrind profiles: valgrind, Xdebug, pprof and others
//!
//! # What it is
//! The format of `callgrind.out` files, which KCachegrind shows. Callgrind and cachegrind of valgrind write it, Xdebug
//! (`cachegrind.out`), Go's pprof and that of gperftools (`-callgrind`), NYTProf of Perl (`nytprofcg`), stackprof and
//! ruby-prof of Ruby, yappi and pprofile of Python, and others. It tells what each line of each function cost itself, and what
//! each of its calls cost in all. Default metric: the first event; of pprofile, the second (`microseconds`).
//!
//! # How to record one
//! ```text
//! valgrind --tool=callgrind ./program
//! php -d xdebug.mode=profile -d xdebug.start_with_request=yes script.php
//! go tool pprof -callgrind cpu.pprof > cpu.callgrind
//! ```
//!
//! # What we read
//! - Who called whom (fidelity `edges`); files in which nobody calls anybody know totals only (`flat`). The cumulative cost of
//!   a function is its own and that of its calls or, where that is more, what all its callers paid: profilers other than
//!   callgrind leave out calls and own costs. A note counts such functions. Where functions call each other in a circle only callgrind itself tells
//!   recursion apart, as `fib'2` (`--separate-recs`): all levels are one function, and its cumulative cost is that of the
//!   first level. Elsewhere such figures are unknown, unless the function calls only itself or a call of a function that is
//!   open already costs 0 in the file, as in those of NYTProf.
//! - What calls within such circles cost, as the writer means it: every level; of yappi and of Go's pprof a pair of functions
//!   once; of NYTProf the outermost call of a function. docs/conformance.md has a table of writers.
//! - Own costs that are not in the file, as stackprof writes none for functions in C: what the callers paid, less what was
//!   called; unknown in circles. A note counts them.
//! - Every event as a metric. A unit in its name (`Time_(10ns)`, `cpu(ms)`) is taken off, times are nanoseconds and sizes
//!   bytes; bare `Time` and `Memory` of Xdebug are microseconds and bytes.
//! - Files of old versions of Xdebug, which call their format 0.9.6 and do not say who wrote them: such a file is taken for
//!   Xdebug's if it names functions of PHP. Calls name no file there and are those of the function of that name.
//!   Files with `Time` alone have microseconds; those with `Time Memory` are of 2.0.0RC3 or older and have tenths of them, and
//!   figures of memory that its authors found wrong and took out.
//! - Functions by object (the module), file and name, with short and full names. A name with its number alone, as in the table
//!   of names with which yappi's files begin, makes no function. Of NYTProf a function is in the file in which its own cost is.
//!   `???` is unknown. Lines with their file, where it is not that of the function; line 0 is unknown. Calls of which the file
//!   counts 0 are of an unknown number, as are those of gperftools, which counts samples there.
//! - The total of a metric as `summary:` or `totals:` say it; a note where the functions add up to something else.
//! - Several parts in one file (dumps, threads, requests) are added up, with a note. Requests of a tree are not: each has a node
//!   of its own on top, with the name of its script.
//! - Of Xdebug the tree of calls (fidelity `tree`), if the file proves it. Xdebug writes a record whenever a function returns, and
//!   names in it each call that the function made, and what it cost. So the calls of a record have to be the last ones that
//!   returned and have no caller yet. The file is a tree if each record finds them there, in order, by function and by cost, and
//!   if each request ends with its `summary:`. One record that does not fit, and all of the file is read as edges; a warning
//!   says which it was. Fibers that run by turns, and processes that write into one file, return in no such order.
//!   Calls of one path become one node, from line to line of the callers. A call cost what its caller says; the outermost
//!   ones, for which nobody says it, cost what they and their calls did. Costs of a node and of what it called may therefore
//!   differ: Xdebug rounds each time by itself (as many units as there are calls, and one), and version 3 writes 0 for
//!   memory when more was set free than taken. Any other difference is no proof.
//! - Names that C++ and Rust compilers have mangled: they are made readable, the raw name is kept.
//!
//! # What we leave out
//! - Addresses of instructions (their costs are added up line by line), jumps, and events that are computed from others, `usphit`
//!   of pprofile among them. What calls cost in its `hits`, which is their number.
//! - Names of `--separate-callers` are not taken apart: every context is a function of its own.
//!
//! Xdebug has no format of its own here: its files are callgrind's, word for word, every program for these reads them, and those
//! that prove no tree have to be read so. Who wrote a file decides only what its order may mean.
//!
//! # References
//! - "Callgrind Format Specification", Valgrind documentation.
//! - "Profiling", Xdebug documentation; the changes of 2.0.0RC4 in its list of changes.

use super::call_graph::{CallGraph, Figure, Key, Level, OwnCosts, Place, Shown};
use super::names::{NumberedNames, Sort, gives_number};
use super::words::{Creator, Metric, OLD_VERSION, cost, header, is_blank, lines, number, words};
use super::xdebug::exit_order::{Accuracy, ExitOrder};
use super::xdebug::exit_tree::ExitTree;
use super::xdebug::record::Call;
use crate::base::error::{ImportError, Position, quote};
use crate::events::{Fidelity, FunctionDef, Kind, MetricId, Note, RunFact, Severity, Sink};
use crate::formats::common::counted::{Counted, many};
use crate::formats::common::demangle::Demangler;
use crate::formats::common::names::Name;
use crate::formats::format::{Confidence, Format};
use crate::formats::options::Options;
use crate::input::Input;
use crate::text::escape;

/// See the module's page.
pub(in crate::formats) const FORMAT: Format = Format {
    name: "callgrind",
    summary: "Callgrind profiles: valgrind, Xdebug, pprof -callgrind, NYTProf",
    revision: 5,
    sniff,
    options: &[],
    import,
};

const MAGIC: &[u8] = b"# callgrind format";

const XDEBUG: &[u8] = b"creator: xdebug";

/// What Xdebug writes in front of a request when it adds it to a file.
const NEXT_FILE: &[u8] = b"==== NEW PROFILING FILE";

/// Events of a file: each is a metric of all functions, lines and calls.
const MOST_EVENTS: usize = 64;

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
    let mut profile = Profile::new(sink);
    profile.creator = Creator::of_head(input.head());
    match profile.creator {
        Creator::OldXdebug => profile.names.calls_name_no_file(),
        Creator::Nytprof => profile.names.functions_have_one_file(),
        _ => {}
    }
    if profile.creator == Creator::OldXdebug
        || lines(input.head()).any(|line| line.starts_with(XDEBUG))
    {
        // Its calls can be read twice, if the first time shows that they are a tree.
        input.keep();
        profile.order = Some(ExitOrder::to_prove());
    }
    profile.read(input)?;
    let end = input.position();
    let Some(tree) = profile.finish(end)? else {
        return Ok(());
    };
    input.restart()?;
    profile.begin_again(tree);
    profile.read(input)?;
    profile.next_part(end);
    Ok(())
}

/// Where the called function is, as far as it differs from the calling one.
#[derive(Default)]
struct Called {
    object: Option<Name>,
    file: Option<Name>,
    function: Option<Name>,
}

/// The function that costs are of.
#[derive(Clone, Copy)]
enum Current {
    /// It has been named together with its number, in a table of names perhaps: a cost or call
    /// makes it a function.
    Named(Position, Key),
    Begun(Level),
}

/// The file as far as it has been read.
struct Profile<'s> {
    sink: &'s mut dyn Sink,
    names: NumberedNames,

    metrics: Vec<Metric>,
    /// The metric of each column of costs; `None` for one that is not read.
    columns: Vec<Option<usize>>,
    /// Where each column of positions stands.
    positions: Vec<u64>,
    /// Which of them is the line.
    line_column: Option<usize>,
    creator: Creator,

    object: Name,
    file: Name,
    /// The file of the current function.
    home: Name,
    current: Option<Current>,
    called: Called,
    /// A call whose cost is on the next line, with the number of calls.
    call: Option<(Position, Level, u64)>,

    graph: CallGraph,
    /// The order in which calls return, if it can tell something.
    order: Option<ExitOrder>,
    /// The file is read for the second time: what is not of the tree has been told.
    again: bool,

    /// What the part says it is of.
    command: Name,
    parts: u64,
    /// Costs have come in this part.
    in_body: bool,
    /// The end of the part has come.
    has_totals: bool,
    summary: Option<Vec<Figure>>,
    totals: Option<Vec<Figure>>,

    unknown_headers: Counted,
    jumps: Counted,
    computed: Counted,
    /// Events that are quotients.
    quotients: Counted,
    /// Events of which a call knows no more than how often it was made.
    calls_alone: Counted,
    addresses: Counted,
    later_parts: Counted,
    figures: Vec<Figure>,
}

impl<'s> Profile<'s> {
    fn new(sink: &'s mut dyn Sink) -> Self {
        let names = NumberedNames::new();
        let unknown = names.unknown;
        Self {
            sink,
            names,
            metrics: Vec::new(),
            columns: Vec::new(),
            positions: vec![0],
            line_column: Some(0),
            creator: Creator::Other,
            object: unknown,
            file: unknown,
            home: unknown,
            current: None,
            called: Called::default(),
            call: None,
            graph: CallGraph::default(),
            order: None,
            again: false,
            command: unknown,
            parts: 1,
            in_body: false,
            has_totals: false,
            summary: None,
            totals: None,
            unknown_headers: Counted::default(),
            jumps: Counted::default(),
            computed: Counted::default(),
            quotients: Counted::default(),
            calls_alone: Counted::default(),
            addresses: Counted::default(),
            later_parts: Counted::default(),
            figures: Vec::new(),
        }
    }

    fn read(&mut self, input: &mut Input<'_>) -> Result<(), ImportError> {
        let mut line = Vec::new();
        while let Some((at, line)) = input.next_line(&mut line)? {
            self.line(at, line)?;
        }
        Ok(())
    }

    fn line(&mut self, at: Position, line: &[u8]) -> Result<(), ImportError> {
        match line.first() {
            _ if is_blank(line) => Ok(()),
            Some(b'0'..=b'9' | b'+' | b'-' | b'*') => self.costs(at, line),
            _ if self.call.is_some() => Err(ImportError::malformed(
                at,
                "the cost of the call in the line before",
                quote(line),
            )),
            _ if line.starts_with(NEXT_FILE) => {
                // The first request has one, too.
                if !self.columns.is_empty() {
                    self.next_part(at);
                }
                self.names.forget();
                Ok(())
            }
            _ => match header(line) {
                Some((key, text)) => self.header(at, key, text),
                None => self.specification(at, line),
            },
        }
    }

    fn header(&mut self, at: Position, key: &[u8], text: &[u8]) -> Result<(), ImportError> {
        let begins_a_part = matches!(
            key,
            b"version" | b"creator" | b"cmd" | b"command" | b"pid" | b"part" | b"events"
        );
        if begins_a_part && (self.in_body || self.has_totals) {
            self.next_part(at);
        }
        let name = self.names.of_bytes(text);
        let shown = self.names.text(name);
        let (sink, again) = (&mut *self.sink, self.again);
        let mut say = |fact: RunFact<'_>| {
            if !again {
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
                say(RunFact::ToolVersion(shown));
            }
            b"cmd" | b"command" => {
                self.command = name;
                say(RunFact::Command(shown));
            }
            b"pid" | b"thread" | b"part" => {
                say(RunFact::Other(&escape::text(key), shown));
            }
            b"desc" => {
                if let Some((name, value)) = shown
                    .split_once(':')
                    .filter(|(_, value)| !value.trim().is_empty())
                {
                    say(RunFact::Other(name.trim(), value.trim()));
                }
            }
            b"event" => match shown.split_once(':') {
                _ if shown.contains('=') => self.computed.add(at),
                Some((name, meaning)) => {
                    say(RunFact::Other(
                        &format!("event {}", name.trim()),
                        meaning.trim(),
                    ));
                }
                None => {}
            },
            b"events" => self.events(at, text)?,
            b"positions" => self.positions(at, text)?,
            b"summary" => self.summary = Some(self.stated(at, text)?),
            b"totals" => {
                self.totals = Some(self.stated(at, text)?);
                self.has_totals = true;
            }
            _ => self.unknown_headers.add_with(at, || quote(key)),
        }
        Ok(())
    }

    fn events(&mut self, at: Position, text: &[u8]) -> Result<(), ImportError> {
        let creator = self.creator.of_events(text);
        let mut columns = Vec::new();
        for word in words(text) {
            let event = escape::text(word);
            let metric = Metric::of_event(&event, creator);
            let found = self
                .metrics
                .iter()
                .position(|known| (&known.name, known.scale) == (&metric.name, metric.scale));
            let column = found.unwrap_or(self.metrics.len());
            if creator.is_quotient(word) {
                self.quotients.add_with(at, || quote(word));
                columns.push(None);
                continue;
            }
            if columns.contains(&Some(column)) {
                return Err(ImportError::malformed(
                    at,
                    format!("one event {}", quote(word)),
                    "a second one",
                ));
            }
            if found.is_none() {
                if self.metrics.len() == MOST_EVENTS {
                    let limit = format!("{MOST_EVENTS} events (limit: events of a file)");
                    return Err(ImportError::Limit {
                        position: at,
                        limit,
                    });
                }
                if self.metrics.iter().any(|known| known.name == metric.name) {
                    let expected = format!("the unit that the event {} had before", quote(word));
                    return Err(ImportError::malformed(at, expected, "another one"));
                }
                self.metrics.push(metric);
                self.graph.add_metric();
                if creator.counts_calls_alone(word) {
                    self.graph.counts_calls_alone(column);
                    self.calls_alone.add_with(at, || quote(word));
                }
            }
            columns.push(Some(column));
        }
        if columns.is_empty() {
            return Err(ImportError::malformed(
                at,
                "the name of an event",
                "the end of the line",
            ));
        }
        self.columns = columns;
        if let Some(order) = &mut self.order {
            order.measure(
                at,
                self.metrics
                    .iter()
                    .map(|metric| Accuracy::of(&metric.unit, metric.scale))
                    .collect(),
            );
        }
        Ok(())
    }

    fn positions(&mut self, at: Position, text: &[u8]) -> Result<(), ImportError> {
        let names: Vec<&[u8]> = words(text).collect();
        if names.is_empty() {
            return Err(ImportError::malformed(
                at,
                "line or instr",
                "the end of the line",
            ));
        }
        for (column, name) in names.iter().enumerate() {
            if !matches!(*name, b"instr" | b"addr" | b"bb" | b"line")
                || names.iter().position(|known| known == name) != Some(column)
            {
                return Err(ImportError::malformed(
                    at,
                    "instr, bb and line, each at most once",
                    quote(text),
                ));
            }
        }
        self.line_column = names.iter().position(|name| *name == b"line");
        self.positions = vec![0; names.len()];
        if names.len() > usize::from(self.line_column.is_some()) {
            self.addresses.add(at);
        }
        Ok(())
    }

    /// What a part states as its totals.
    fn stated(&mut self, at: Position, text: &[u8]) -> Result<Vec<Figure>, ImportError> {
        self.figures.clear();
        self.read_costs(at, words(text))?;
        Ok(self.figures.clone())
    }

    /// Reads costs into `figures`. Those that are not there are 0.
    fn read_costs<'w>(
        &mut self,
        at: Position,
        words: impl Iterator<Item = &'w [u8]>,
    ) -> Result<(), ImportError> {
        let mut columns = self.columns.iter();
        for word in words {
            let Some(metric) = columns.next() else {
                let expected = match self.columns.len() {
                    0 => "a line `events:` before any cost".to_owned(),
                    count => format!("costs of {}", many(count as u64, "event")),
                };
                return Err(ImportError::malformed(at, expected, quote(word)));
            };
            let cost =
                cost(word).ok_or_else(|| ImportError::malformed(at, "a cost", quote(word)))?;
            let Some(metric) = metric else { continue };
            let scale = self.metrics.get(*metric).map_or(1.0, |metric| metric.scale);
            self.figures.push((*metric, cost * scale));
        }
        Ok(())
    }

    /// `fn=(1) main` and the like.
    fn specification(&mut self, at: Position, line: &[u8]) -> Result<(), ImportError> {
        let expected = "a cost, a position such as fn=, or a header such as events:";
        let wrong = || ImportError::malformed(at, expected, quote(line));
        let equals = line
            .iter()
            .position(|byte| *byte == b'=')
            .ok_or_else(wrong)?;
        let key = line.get(..equals).unwrap_or_default();
        let text = line.get(equals + 1..).unwrap_or_default().trim_ascii();
        match key {
            b"ob" => self.object = self.names.read(at, Sort::Object, text)?,
            b"fl" => self.file = self.names.read(at, Sort::File, text)?,
            b"fi" | b"fe" => {
                if self.current.is_none() {
                    return Err(ImportError::malformed(
                        at,
                        "fn= before another file of the function",
                        quote(line),
                    ));
                }
                self.file = self.names.read(at, Sort::File, text)?;
            }
            b"fn" => {
                let name = self.names.read(at, Sort::Function, text)?;
                let key = (self.object, self.file, name);
                self.current = Some(if gives_number(text) {
                    Current::Named(at, key)
                } else {
                    Current::Begun(self.begin(at, key)?)
                });
                self.called = Called::default();
            }
            b"cob" => self.called.object = Some(self.names.read(at, Sort::Object, text)?),
            b"cfi" | b"cfl" => self.called.file = Some(self.names.read(at, Sort::File, text)?),
            b"cfn" => self.called.function = Some(self.names.read(at, Sort::Function, text)?),
            b"calls" => self.calls(at, text)?,
            // They may give names to numbers.
            b"jfi" => _ = self.names.read(at, Sort::File, text)?,
            b"jfn" => _ = self.names.read(at, Sort::Function, text)?,
            b"jump" | b"jcnd" => self.jumps.add(at),
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
        self.home = self.names.home(name, file);
        let level = self.level(at, (object, self.home, name))?;
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

    fn calls(&mut self, at: Position, text: &[u8]) -> Result<(), ImportError> {
        let Some(function) = self.called.function.take() else {
            return Err(ImportError::malformed(at, "cfn= before calls=", "nothing"));
        };
        let word = words(text).next().unwrap_or_default();
        let calls = number(word)
            .ok_or_else(|| ImportError::malformed(at, "a number of calls", quote(word)))?;
        let calls = if self.creator.counts_samples_as_calls() {
            0
        } else {
            calls
        };
        let object = self.called.object.take().unwrap_or(self.object);
        let file = self
            .names
            .home_of_called(function, self.called.file.take(), self.file);
        let callee = self.level(at, (object, file, function))?;
        self.call = Some((at, callee, calls));
        Ok(())
    }

    /// A line of costs: of the function itself, or of the call before it.
    fn costs(&mut self, at: Position, line: &[u8]) -> Result<(), ImportError> {
        let mut words = words(line);
        for position in &mut self.positions {
            let word = words.next().unwrap_or_default();
            let moved = match word.split_first() {
                Some((b'*', [])) => Some(*position),
                Some((b'+', by)) => number(by).and_then(|by| position.checked_add(by)),
                Some((b'-', by)) => number(by).and_then(|by| position.checked_sub(by)),
                _ => number(word),
            };
            *position = moved.ok_or_else(|| {
                let found = if word.is_empty() {
                    "the end of the line".to_owned()
                } else {
                    quote(word)
                };
                ImportError::malformed(at, "a position", found)
            })?;
        }
        let current = match self.current {
            Some(Current::Begun(level)) => level,
            Some(Current::Named(at, key)) => self.begin(at, key)?,
            None => {
                return Err(ImportError::malformed(
                    at,
                    "fn= before any cost",
                    quote(line),
                ));
            }
        };
        self.current = Some(Current::Begun(current));
        self.figures.clear();
        self.read_costs(at, words)?;
        self.in_body = true;
        let line = self
            .line_column
            .and_then(|column| self.positions.get(column))
            .copied()
            .unwrap_or(0);
        let wrong =
            || ImportError::malformed(at, "a line that is less than 2^32", line.to_string());
        let place = (self.file, u32::try_from(line).map_err(|_| wrong())?);
        let figures = std::mem::take(&mut self.figures);
        let call = self.call.take();
        if let Some(order) = &mut self.order {
            if self.file != self.home {
                order.doubt_shape("has lines of another file");
            }
            match call {
                Some((_, callee, calls)) => {
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
        if !self.again {
            self.add(
                current,
                place,
                call.map(|(_, callee, calls)| (callee, calls)),
                &figures,
            );
        }
        self.figures = figures;
        self.graph.check_size(at)
    }

    /// Adds costs to the graph.
    fn add(&mut self, level: Level, place: Place, call: Option<(Level, u64)>, figures: &[Figure]) {
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
        self.parts += 1;
        self.later_parts.add(at);
        self.current = None;
        self.called = Called::default();
        (self.object, self.file) = (self.names.unknown, self.names.unknown);
    }

    fn end_part(&mut self, at: Position) {
        if let Some(order) = &mut self.order {
            match &self.summary {
                Some(_) => order.end_part(),
                None => order.cut_part(at),
            }
            if let Some(tree) = order.tree() {
                let name = self.names.text(self.command);
                let part = FunctionDef {
                    kind: Kind::Part,
                    ..FunctionDef::named(name)
                };
                let is_one_of_many = self.later_parts.count() > 0;
                tree.say(self.sink, is_one_of_many.then_some(part));
            }
        }
        let is_known = |stated: &Vec<Figure>| stated.iter().any(|(_, figure)| *figure != 0.0);
        let (summary, totals) = (self.summary.take(), self.totals.take());
        let stated = summary.filter(is_known).or(totals);
        for (at, metric) in self.metrics.iter_mut().enumerate() {
            let figure = stated.as_ref().map(|stated| {
                stated
                    .iter()
                    .find(|(of, _)| *of == at)
                    .map_or(0.0, |of| of.1)
            });
            metric.stated = metric.stated.zip(figure).map(|(sum, figure)| sum + figure);
        }
        self.in_body = false;
        self.has_totals = false;
    }

    /// Says what has been added up; or, if a second reading can say more, no more than what is
    /// needed before it.
    fn finish(&mut self, end: Position) -> Result<Option<ExitTree>, ImportError> {
        if let Some((_, _, _)) = self.call {
            return Err(ImportError::malformed(
                end,
                "the cost of a call",
                "the end of the file",
            ));
        }
        if self.metrics.is_empty() {
            return Err(ImportError::malformed(
                end,
                "a line `events:`",
                "the end of the file",
            ));
        }
        let is_cut = self.creator == Creator::Callgrind && !self.has_totals;
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
        let metrics: Vec<MetricId> = self
            .metrics
            .iter()
            .map(|metric| self.sink.metric(&metric.name, metric.unit.clone()))
            .collect();
        if let (Some(metric), true) = (metrics.get(1), self.calls_alone.count() > 0) {
            self.sink.run(RunFact::DefaultMetric(*metric));
        }
        let own = self.graph.own_costs(self.creator.call_cost());
        self.totals(&metrics, &own);
        let tree = match proof {
            Some(Ok(marks)) => {
                let functions = self.graph.functions(self.sink, self.names.all());
                Some(ExitTree::new(marks, metrics, functions))
            }
            doubt => {
                self.graph.say(
                    self.sink,
                    self.names.all(),
                    &metrics,
                    &own,
                    self.creator.call_cost(),
                );
                if let Some(Err((at, function, doubt))) = doubt {
                    let name = |function: u32| {
                        let level = Level {
                            function: function as usize,
                            deeper: false,
                        };
                        self.graph
                            .name(level)
                            .map_or("", |name| self.names.text(name))
                    };
                    let message = format!("read without paths: {}", doubt.told(name, function));
                    self.sink.note(Note {
                        severity: Severity::Warning,
                        position: Some(at),
                        message: &message,
                    });
                }
                None
            }
        };
        if is_cut {
            let message = "there is no line `totals:` at the end: the file may have been cut";
            self.sink.note(Note {
                severity: Severity::Warning,
                position: Some(end),
                message,
            });
        }
        self.remarks(if tree.is_some() {
            "each is a root of its own"
        } else {
            "they are added up"
        });
        Ok(tree)
    }

    /// Stands before the first line once more, to build the tree. What numbers functions have
    /// stays.
    fn begin_again(&mut self, tree: ExitTree) {
        let unknown = self.names.unknown;
        (self.order, self.again) = (Some(ExitOrder::to_build(tree)), true);
        self.names.forget();
        self.columns.clear();
        (self.positions, self.line_column) = (vec![0], Some(0));
        (self.object, self.file, self.home, self.command) = (unknown, unknown, unknown, unknown);
        (self.current, self.called) = (None, Called::default());
    }

    fn totals(&mut self, metrics: &[MetricId], own: &OwnCosts) {
        for (at, (id, metric)) in metrics.iter().zip(&self.metrics).enumerate() {
            let Some(stated) = metric.stated else {
                continue;
            };
            self.sink.run(RunFact::Total(*id, stated));
            let sum = self.graph.total(at, own);
            if (sum - stated).abs() > 1e-9 * stated.abs() {
                let name = &metric.name;
                let message = format!(
                    "the file states a total of {stated} for {name}; its functions add up to {sum}"
                );
                self.sink.note(Note {
                    severity: Severity::Info,
                    position: None,
                    message: &message,
                });
            }
        }
    }

    fn remarks(&mut self, of_parts: &str) {
        let sink = &mut *self.sink;
        let (info, warning) = (Severity::Info, Severity::Warning);
        self.unknown_headers
            .note_with(sink, warning, |count, first| {
                format!(
                    "{} of an unknown sort were not read (first: {first})",
                    many(count, "header line")
                )
            });
        let parts = self.parts;
        self.later_parts.note(sink, info, |_| {
            format!("the file has {parts} parts; {of_parts}")
        });
        self.addresses.note(sink, info, |_| {
            "costs of instructions are added up line by line".to_owned()
        });
        self.jumps.note(sink, info, |count| {
            format!("{} were not read", many(count, "jump"))
        });
        self.quotients.note_with(sink, info, |_, event| {
            format!("event {event} is a quotient: not read")
        });
        self.calls_alone.note_with(sink, info, |_, event| {
            format!("event {event} counts of a call how often it was made: what calls cost in all is unknown")
        });
        self.computed.note(sink, info, |count| {
            format!(
                "{} computed from others: not read",
                if count == 1 {
                    "1 event is".to_owned()
                } else {
                    format!("{count} events are")
                }
            )
        });
    }
}

/// What the order of calls knows a function by. Nobody has room for more of them.
fn number_of(level: Level) -> u32 {
    u32::try_from(level.function).unwrap_or(u32::MAX)
}
