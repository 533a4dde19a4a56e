//! Writes Dyalog `]PROFILE` tree files of any size that keep the profiler's own rules.
//!
//! Large real files are not to be had, and a file whose figures do not add up would measure an importer on input
//! that it never meets. What this program writes obeys every rule of A1 in the format's description: rows in
//! pre-order, inclusive = exclusive + callees for time and ticks, the tick rule, one set of rows for each level of
//! a recursion. The figures that a report must show for a file come from the same walk (`expected`).
//!
//! ```text
//! cargo bench --bench generate -- KIND ROWS [--functions N] [--seed N] [--version 0.9.0|1.37] [-o FILE]
//!
//! xml       the tree as XML
//! csv       the tree as CSV
//! rows      the same nodes as rows of profdb's table `nodes`, for bulk loaders
//! expected  calls and times of each function, as tab-separated values
//! check     asserts the rules and prints the shape of the tree
//! ```
//!
//! Equal arguments give equal bytes, on every machine. Without KIND it checks some small trees, so that a plain
//! `cargo bench` ends well. Exit codes: 0 done (also when the reader closed the pipe), 1 failed, 2 usage.
//!
//! # How it can stream
//!
//! A row states the totals of a subtree that has not been laid out yet. So the walk goes top-down: each call gets a
//! fixed number of rows, of calls and of time for its whole subtree, keeps a part and hands the rest to its callees.
//! Ticks follow from the calls: by the tick rule every row below a function row adds twice its calls, and the
//! function row itself adds its calls once. Memory is O(depth + functions).

#![expect(clippy::cast_precision_loss, reason = "the profiler computes in binary floating point too")]
#![expect(clippy::print_stderr, reason = "a program of its own, which has a screen")]

use std::{
    fmt,
    fs::File,
    io::{self, BufWriter, ErrorKind, Write},
    iter::Sum,
    ops::{Add, AddAssign},
    process::ExitCode,
};

fn main() -> ExitCode {
    let request = match Request::parse(std::env::args().skip(1)) {
        Ok(request) => request,
        Err(message) => {
            eprintln!("generate: {message}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match request.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("generate: {error}");
            ExitCode::FAILURE
        }
    }
}

// The command line

const USAGE: &str = "usage: generate [xml|csv|rows|expected|check ROWS] \
    [--functions N] [--seed N] [--version 0.9.0|1.37] [-o FILE]";

#[derive(Clone, Copy)]
enum Kind {
    Xml,
    Csv,
    Rows,
    Expected,
    Check,
    /// No KIND given: check a few small trees.
    SelfCheck,
}

struct Request {
    kind: Kind,
    profile: Profile,
    output: Option<String>,
}

impl Request {
    fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut words = Vec::new();
        let (mut functions, mut seed, mut version, mut output) = (None, 1, Version::V0_9_0, None);
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{argument}: expected a value"));
            match argument.as_str() {
                // Cargo adds this one to whatever the user says.
                "--bench" => {}
                "--functions" => functions = Some(number(&value()?)?),
                "--seed" => seed = number(&value()?)?,
                "--version" => version = Version::parse(&value()?)?,
                "-o" => output = Some(value()?),
                option if option.starts_with('-') => {
                    return Err(format!("unknown option {option}"));
                }
                _ => words.push(argument),
            }
        }
        let (kind, rows) = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            [] => (Kind::SelfCheck, 0),
            [kind, rows] => (Kind::parse(kind)?, number(rows)?),
            _ => return Err("expected KIND and ROWS".into()),
        };
        let functions = functions.unwrap_or((rows / 100).clamp(MIN_FUNCTIONS, 50_000));
        Profile::new(rows, functions, seed, version).map(|profile| Self { kind, profile, output })
    }

    fn run(&self) -> io::Result<()> {
        let Some(path) = &self.output else {
            return self.write(io::stdout().lock());
        };
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{path}: {error}"));
        File::create(path).and_then(|file| self.write(file)).map_err(named)
    }

    fn write(&self, out: impl Write) -> io::Result<()> {
        let mut out = BufWriter::with_capacity(1 << 18, out);
        match self.kind {
            Kind::Xml => write_xml(&self.profile, &mut out),
            Kind::Csv => write_csv(&self.profile, &mut out),
            Kind::Rows => write_nodes(&self.profile, &mut out),
            Kind::Expected => write_expected(&self.profile, &mut out),
            Kind::Check => write_shape(&self.profile, &mut out),
            Kind::SelfCheck => self_check(&mut out),
        }?;
        out.flush()
    }
}

impl Kind {
    fn parse(text: &str) -> Result<Self, String> {
        Ok(match text {
            "xml" => Self::Xml,
            "csv" => Self::Csv,
            "rows" => Self::Rows,
            "expected" => Self::Expected,
            "check" => Self::Check,
            _ => return Err(format!("expected a kind of output, found `{text}`")),
        })
    }
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("expected a number, found `{text}`"))
}

// The profile: what is to be generated

/// The version of the `]PROFILE` command whose files are imitated.
#[derive(Clone, Copy, PartialEq)]
enum Version {
    /// Ticks, times corrected for the timer's cost, labels of exclusive and inclusive swapped.
    V0_9_0,
    /// No ticks, raw times rounded to a microsecond, right labels.
    V1_37,
}

impl Version {
    fn parse(text: &str) -> Result<Self, String> {
        [Self::V0_9_0, Self::V1_37]
            .into_iter()
            .find(|version| version.name() == text)
            .ok_or(format!("expected a version 0.9.0 or 1.37, found `{text}`"))
    }

    fn name(self) -> &'static str {
        match self {
            Self::V0_9_0 => "0.9.0",
            Self::V1_37 => "1.37",
        }
    }

    /// The cost of reading the timer once in milliseconds, as printed in files of this version.
    fn bias_text(self) -> &'static str {
        match self {
            Self::V0_9_0 => "0.00019494869718528207",
            Self::V1_37 => "0.00007458669726290168",
        }
    }

    fn bias_milliseconds(self) -> f64 {
        self.bias_text().parse().expect("the text above is a number")
    }

    /// The same cost in whole picoseconds: what the walk puts on top of the net times.
    fn bias_picoseconds(self) -> u64 {
        match self {
            Self::V0_9_0 => 194_949,
            Self::V1_37 => 74_587,
        }
    }
}

/// Everything that decides the output.
struct Profile {
    rows: usize,
    functions: usize,
    seed: u64,
    version: Version,
}

/// One line may call `MAX_CALLEES` functions, all different and none of them opaque: there must be enough of these.
const MIN_FUNCTIONS: usize = 32;

/// A bound that keeps every sum of picoseconds, also over all levels of the tree, inside 64 bits.
const MAX_ROWS: usize = 1_000_000_000;

impl Profile {
    fn new(rows: usize, functions: usize, seed: u64, version: Version) -> Result<Self, String> {
        if functions < MIN_FUNCTIONS {
            return Err(format!("expected at least {MIN_FUNCTIONS} functions"));
        }
        if rows > MAX_ROWS {
            return Err(format!("expected at most {MAX_ROWS} rows"));
        }
        Ok(Self { rows, functions, seed, version })
    }

    /// Hands every row of the tree to `emit`, in pre-order; stops at the first error.
    fn each_row(&self, emit: impl FnMut(&Row) -> io::Result<()>) -> io::Result<()> {
        let mut walk = Walk {
            graph: Graph { functions: self.functions, seed: self.seed },
            bias: self.version.bias_picoseconds(),
            random: Random(self.seed),
            open: vec![0; self.functions],
            emit,
        };
        for root in walk.roots(self.rows) {
            walk.subtree(&root, 0)?;
        }
        Ok(())
    }

    /// The milliseconds that the tool makes of a raw cost: what its tree files hold, but for the digits printed.
    fn milliseconds(&self, cost: Cost) -> f64 {
        match self.version {
            Version::V0_9_0 => self.corrected(cost),
            Version::V1_37 => ((cost.picoseconds + 500_000) / 1_000_000) as f64 / 1e3,
        }
    }

    /// raw - ticks x bias, in the floating-point arithmetic of the profiler.
    fn corrected(&self, cost: Cost) -> f64 {
        raw(cost) - cost.ticks as f64 * self.version.bias_milliseconds()
    }
}

fn raw(cost: Cost) -> f64 {
    cost.picoseconds as f64 / 1e9
}

/// Raw time and number of timer reads. Integers, so that sums are exact.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Cost {
    picoseconds: u64,
    ticks: u64,
}

impl Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { picoseconds: self.picoseconds + other.picoseconds, ticks: self.ticks + other.ticks }
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        costs.fold(Self::default(), Add::add)
    }
}

/// One row of the tree. At even depth a function row, at odd depth a line row of the function row above.
#[derive(Clone, Copy)]
struct Row {
    depth: usize,
    function: usize,
    line: Option<usize>,
    /// How many rows lie below this one.
    size: usize,
    calls: u64,
    exclusive: Cost,
    inclusive: Cost,
}

// The walk: from shares to rows

/// A call that is still to be laid out, with what its whole subtree shall add up to.
struct Call {
    function: usize,
    rows: usize,
    /// Calls of the function row itself.
    calls: u64,
    /// Calls of all rows of the subtree, the function row included: at least `calls + rows - 1`.
    all_calls: u64,
    /// Picoseconds of the subtree without the cost of the timer.
    net: u64,
}

impl Call {
    /// A call that has got its rows, but neither calls nor time yet.
    fn unshared(function: usize, rows: usize) -> Self {
        Self { function, rows, calls: 0, all_calls: 0, net: 0 }
    }

    fn inclusive(&self, bias: u64) -> Cost {
        let ticks = 2 * self.all_calls - self.calls;
        Cost { picoseconds: self.net + ticks * bias, ticks }
    }
}

/// A line of a call with the functions called from it.
struct Line {
    number: usize,
    calls: u64,
    picoseconds: u64,
    callees: Vec<Call>,
}

impl Line {
    /// The tick rule for lines: the timer is read once for each call of the line and once for each call from it.
    fn ticks(&self) -> u64 {
        self.calls + self.callees.iter().map(|callee| callee.calls).sum::<u64>()
    }

    fn exclusive(&self) -> Cost {
        Cost { picoseconds: self.picoseconds, ticks: self.ticks() }
    }

    fn callees_inclusive(&self, bias: u64) -> Cost {
        self.callees.iter().map(|callee| callee.inclusive(bias)).sum()
    }
}

/// Calls and net time of an average row: of the order of the manual's examples.
const CALLS_PER_ROW: u64 = 24;
const NET_PER_ROW: u64 = 2_000_000;

/// From this depth on subtrees are divided evenly, which brings even the largest to an end before depth 200.
const EVEN_DEPTH: usize = 136;

/// The most functions that a call calls; all of them may end up on one line.
const MAX_CALLEES: usize = 12;

/// One line in so many is so cheap that the correction makes it about zero or less.
const CHEAP_LINES: usize = 32;

struct Walk<F> {
    graph: Graph,
    bias: u64,
    random: Random,
    /// For each function how many of its calls are open.
    open: Vec<u32>,
    emit: F,
}

impl<F: FnMut(&Row) -> io::Result<()>> Walk<F> {
    /// The calls at depth 0, with `rows` rows in all: a main program and some callbacks.
    fn roots(&mut self, rows: usize) -> Vec<Call> {
        let weights: &[u64] = match rows {
            0 => &[],
            1..64 => &[1],
            _ => &[32, 4, 2, 1],
        };
        let spare = rows - weights.len();
        split(spare as u64, weights)
            .enumerate()
            .map(|(position, share)| {
                let rows = 1 + index(share);
                let calls = self.own_calls(rows, rows as u64);
                Call {
                    function: self.graph.root(position),
                    rows,
                    calls,
                    all_calls: calls + CALLS_PER_ROW * (rows as u64 - 1),
                    net: rows as u64 * (NET_PER_ROW / 2 + self.random.below(index(NET_PER_ROW)) as u64),
                }
            })
            .collect()
    }

    /// Emits the rows of a call. Recursion ends: each level uses up two rows and `EVEN_DEPTH` bounds the levels.
    fn subtree(&mut self, call: &Call, depth: usize) -> io::Result<()> {
        let lines = self.lines(call, depth);
        let callees: Cost = lines.iter().map(|line| line.callees_inclusive(self.bias)).sum();
        let inclusive = call.inclusive(self.bias);
        let row = Row {
            depth,
            function: call.function,
            line: None,
            size: call.rows - 1,
            calls: call.calls,
            exclusive: Cost {
                // What the lines leave of this belongs to no line: function header, entry and exit.
                picoseconds: inclusive.picoseconds - callees.picoseconds,
                ticks: inclusive.ticks - callees.ticks,
            },
            inclusive,
        };
        (self.emit)(&row)?;
        self.open[call.function] += 1;
        for line in &lines {
            (self.emit)(&Row {
                depth: depth + 1,
                line: Some(line.number),
                size: line.callees.iter().map(|callee| callee.rows).sum(),
                calls: line.calls,
                exclusive: line.exclusive(),
                inclusive: line.exclusive() + line.callees_inclusive(self.bias),
                ..row
            })?;
            for callee in &line.callees {
                self.subtree(callee, depth + 2)?;
            }
        }
        self.open[call.function] -= 1;
        Ok(())
    }

    /// Divides what a call has among its lines and their callees.
    fn lines(&mut self, call: &Call, depth: usize) -> Vec<Line> {
        let below = call.rows - 1;
        let mut lines: Vec<Line> = self
            .line_numbers(call.function, below)
            .into_iter()
            .map(|number| Line { number, calls: 0, picoseconds: 0, callees: Vec::new() })
            .collect();
        for rows in self.callee_rows(below - lines.len(), depth) {
            let position = self.random.below(lines.len());
            let line = &mut lines[position];
            let callee = self.callee(call.function, line, rows);
            line.callees.push(callee);
        }
        self.share_calls(call, &mut lines);
        self.share_time(call, &mut lines);
        lines
    }

    /// Which lines were executed, ascending: at most `room`, at least one if there is room.
    fn line_numbers(&mut self, function: usize, room: usize) -> Vec<usize> {
        let known = self.graph.lines(function);
        let wanted = 1 + self.random.below(known).min(self.random.below(known));
        // A remainder too small for a function with lines becomes lines, as far as the function has them.
        let wanted = if room < wanted + 3 { room } else { wanted };
        let mut missing = wanted.min(known).min(room);
        let mut numbers = Vec::with_capacity(missing);
        for position in 0..known {
            if self.random.below(known - position) < missing {
                numbers.push(self.graph.line_number(function, position));
                missing -= 1;
            }
        }
        numbers
    }

    /// Divides `rows` among so many callees: often one, often one that is much larger than the others.
    fn callee_rows(&mut self, rows: usize, depth: usize) -> Vec<usize> {
        if rows == 0 {
            return Vec::new();
        }
        let most = (rows / 4).clamp(1, MAX_CALLEES);
        let weights: Vec<u64> = if depth >= EVEN_DEPTH {
            vec![1; most]
        } else if self.random.one_in(2) {
            vec![1]
        } else {
            let count = (2 + self.random.below(MAX_CALLEES - 1)).min(most);
            let mut weights: Vec<u64> = (0..count).map(|_| self.random.noise().pow(2)).collect();
            if self.random.one_in(3) {
                weights[self.random.below(count)] += 8 * weights.iter().sum::<u64>();
            }
            weights
        };
        // Two rows are the least for a function with a line; some get only one and become opaque.
        let least = if rows >= 2 * weights.len() && !self.random.one_in(6) { 2 } else { 1 };
        split((rows - least * weights.len()) as u64, &weights).map(|share| least + index(share)).collect()
    }

    /// A callee of `rows` rows for the next free place of a line.
    fn callee(&mut self, caller: usize, line: &Line, rows: usize) -> Call {
        let place = line.callees.len();
        let listed = |function| line.callees.iter().any(|callee| callee.function == function);
        for attempt in 0..ATTEMPTS {
            let function = self.graph.callee(caller, line.number, place + attempt * MAX_CALLEES);
            let function = if rows == 1 { self.graph.opaque_near(function) } else { Graph::transparent_near(function) };
            if !listed(function) && self.may_open(caller, function) {
                return Call::unshared(function, rows);
            }
        }
        // Small programs only: the next function of all that will do.
        (1..=self.graph.functions)
            .map(|step| Graph::transparent_near((caller + step) % self.graph.functions))
            .find(|&function| !listed(function))
            .map(|function| Call::unshared(function, rows))
            .expect("there are more functions than callees of a line")
    }

    /// Recursion is where the graph plans it, and by chance in some long cycles.
    fn may_open(&mut self, caller: usize, function: usize) -> bool {
        self.open[function] == 0 || function == caller || function == Graph::partner(caller) || self.random.one_in(32)
    }

    /// Shares the calls of the subtree: each row has one, the rest is spread by size and chance.
    fn share_calls(&mut self, call: &Call, lines: &mut [Line]) {
        let mut weights = Vec::new();
        for line in lines.iter() {
            weights.push(self.random.noise());
            for callee in &line.callees {
                weights.push(self.random.noise() * callee.rows as u64);
            }
        }
        let spare = call.all_calls - call.calls - (call.rows as u64 - 1);
        let mut parts = split(spare, &weights);
        let mut part = || parts.next().expect("one weight for each row");
        for line in lines {
            line.calls = 1 + part();
            for callee in &mut line.callees {
                callee.all_calls = callee.rows as u64 + part();
                callee.calls = self.own_calls(callee.rows, callee.all_calls);
            }
        }
    }

    /// How many of all the calls of a subtree its function row has: all if it is the only row.
    fn own_calls(&mut self, rows: usize, all_calls: u64) -> u64 {
        if rows == 1 {
            return all_calls;
        }
        let average = index(all_calls / rows as u64);
        // Twice the average can be more than the others leave, when there are only two rows.
        let most = all_calls - (rows as u64 - 1);
        (1 + self.random.below(2 * average) as u64).min(most)
    }

    /// Shares the net time of the subtree. What no line or callee gets stays with the function row.
    fn share_time(&mut self, call: &Call, lines: &mut [Line]) {
        let mut weights = Vec::new();
        for line in lines.iter() {
            weights.push(self.random.noise());
            for callee in &line.callees {
                weights.push(self.random.noise() * callee.rows as u64);
            }
        }
        weights.push(self.random.noise());
        let mut parts = split(call.net, &weights);
        let mut part = || parts.next().expect("one weight for each row");
        for line in lines {
            let timer = line.ticks() * self.bias;
            let net = part();
            line.picoseconds = if self.random.one_in(CHEAP_LINES) {
                timer - (timer >> (1 + self.random.below(20)))
            } else {
                timer + net
            };
            for callee in &mut line.callees {
                callee.net = part();
            }
        }
    }
}

/// Cuts `total` into one part for each weight. The parts add up to `total` exactly.
fn split(total: u64, weights: &[u64]) -> impl Iterator<Item = u64> {
    let sum: u128 = weights.iter().map(|&weight| u128::from(weight)).sum();
    let (mut passed, mut given) = (0, 0);
    weights.iter().map(move |&weight| {
        passed += u128::from(weight);
        let until = u64::try_from(u128::from(total) * passed / sum).expect("passed <= sum");
        let part = until - given;
        given = until;
        part
    })
}

fn index(number: u64) -> usize {
    usize::try_from(number).expect("no more than MAX_ROWS or calls of a row")
}

// The program that was profiled: which function has which lines and calls whom

/// How many places of a line are tried before any function will do.
const ATTEMPTS: usize = 12;

/// One function in so many is opaque: it has no line rows (native code, locked functions, other threads).
const OPAQUE: usize = 16;

/// A call graph that is computed, not stored: equal questions get equal answers, so a function called from a line
/// in one place of the tree is called from it in others too.
struct Graph {
    functions: usize,
    seed: u64,
}

impl Graph {
    /// Roots are functions at the unpopular end, all different.
    fn root(&self, position: usize) -> usize {
        Self::transparent_near(self.functions - 1 - 3 * position)
    }

    fn lines(&self, function: usize) -> usize {
        let hash = self.hash([function, 1, 0]);
        3 + pick(hash, 7) + if hash.is_multiple_of(4) { 8 } else { 0 }
    }

    /// The number of the nth line. Dfns count from 0, traditional functions from 1; comments leave gaps.
    fn line_number(&self, function: usize, position: usize) -> usize {
        let hash = self.hash([function, 2, 0]);
        let first = usize::from(!hash.is_multiple_of(3));
        first + position + position * pick(hash, 3) / 2
    }

    /// The function at the nth place of a line: the caller itself, its partner, a neighbour or any function.
    fn callee(&self, caller: usize, line: usize, place: usize) -> usize {
        let hash = self.hash([caller, 3 + line, place]);
        let chance = pick(hash, 100);
        let next = mix(hash);
        match self.hash([caller / 2, 0, 0]) % 8 {
            0 if chance < 50 => caller,
            1 if chance < 60 => Self::partner(caller).min(self.functions - 1),
            _ if chance < 60 => (caller + 1 + pick(next, 64)) % self.functions,
            _ => self.popular(next),
        }
    }

    /// The other one of a pair of functions that call each other.
    fn partner(function: usize) -> usize {
        function ^ 1
    }

    /// A function by Zipf's law with exponent 1: each power of two of ranks is equally likely. Only integers, as
    /// `pow` may differ from machine to machine.
    fn popular(&self, hash: u64) -> usize {
        let octave = pick(hash, self.functions.ilog2() as usize + 1);
        let first = 1 << octave;
        (first - 1 + pick(mix(hash), first)) % self.functions
    }

    fn is_opaque(function: usize) -> bool {
        function % OPAQUE == 5
    }

    fn opaque_near(&self, function: usize) -> usize {
        let opaque = function - function % OPAQUE + 5;
        if opaque < self.functions { opaque } else { 5 }
    }

    fn transparent_near(function: usize) -> usize {
        function - usize::from(Self::is_opaque(function))
    }

    fn hash(&self, words: [usize; 3]) -> u64 {
        words.iter().fold(mix(self.seed), |hash, &word| mix(hash ^ word as u64))
    }
}

/// The full names of all functions, unique, with what APL allows in names.
fn names(functions: usize) -> Vec<String> {
    const SPACES: [&str; 16] = [
        "#",
        "#.Shop",
        "#.Shop.Stock",
        "#.Shop.Orders",
        "#.Tree",
        "#.Util",
        "#.Util.Text",
        "#.Util.∆Dates",
        "#.Conga.LIB",
        "#.HttpServer",
        "#.JSON",
        "#.SQL.Driver",
        "#.Stats.Regression",
        "#.SharpPlot",
        "⎕SE.Dyalog.Utils",
        "⎕SE.SALTUtils",
    ];
    const VERBS: [&str; 16] = [
        "get", "Set", "fmt∆", "Parse", "calc", "Load", "∆check", "Sort", "find", "Merge", "join_", "Walk", "is",
        "Render", "⍙call", "on",
    ];
    const NOUNS: [&str; 16] = [
        "Row", "Num", "Price", "Order", "Line", "Node", "Text", "Key", "Table", "Date", "Item", "∆Total", "Buffer",
        "Rate", "Tax", "Client",
    ];
    (0..functions)
        .map(|function| {
            // Neighbours share a namespace.
            let space = SPACES[pick(mix(function as u64 / 8), 16)];
            let hash = mix(function as u64);
            let verb = if Graph::is_opaque(function) { "⍙native" } else { VERBS[pick(hash, 16)] };
            format!("{space}.{verb}{}{function}", NOUNS[pick(mix(hash), 16)])
        })
        .collect()
}

// Chance: splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014)

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// A number from 0 to `bound` - 1.
    fn below(&mut self, bound: usize) -> usize {
        pick(self.next(), bound)
    }

    fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// A weight within a factor of 17.
    fn noise(&mut self) -> u64 {
        64 + self.below(1024) as u64
    }
}

/// Changes every bit of the result for every bit of `word`.
fn mix(word: u64) -> u64 {
    let word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// A number from 0 to `bound` - 1, from the upper bits of a hash.
#[expect(clippy::cast_possible_truncation, reason = "the result is less than `bound`")]
fn pick(hash: u64, bound: usize) -> usize {
    ((u128::from(hash) * bound as u128) >> 64) as usize
}

// Numbers as APL prints them

/// How many significant digits to print.
#[derive(Clone, Copy)]
enum Digits {
    /// The fewest that give the same number when read, up to 17: `XML`.
    Shortest,
    /// At most ten, APL's default print precision: `CSV`, and the totals of both.
    Ten,
}

/// Displays a number as APL does: high minus, no trailing zeros, no leading zeros but one, and scaled form for what
/// would need more than five zeros after the decimal point or more digits than there may be.
struct Apl(f64, Digits);

impl fmt::Display for Apl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut buffer = [0; 32];
        let (digits, exponent) = decimal(self.0.abs(), self.1, &mut buffer);
        let limit = match self.1 {
            Digits::Shortest => 17,
            Digits::Ten => 10,
        };
        let whole = exponent + 1;
        if self.0 < 0.0 {
            out.write_str("¯")?;
        }
        if whole < -5 || whole > limit {
            let (first, rest) = digits.split_at(1);
            let point = if rest.is_empty() { "" } else { "." };
            let sign = if exponent < 0 { "¯" } else { "" };
            return write!(out, "{first}{point}{rest}E{sign}{}", exponent.abs());
        }
        let places = usize::try_from(whole).unwrap_or(0);
        if places >= digits.len() {
            write!(out, "{digits:0<places$}")
        } else if places > 0 {
            write!(out, "{}.{}", &digits[..places], &digits[places..])
        } else {
            let zeros = digits.len() + usize::try_from(-whole).unwrap_or(0);
            write!(out, "0.{digits:0>zeros$}")
        }
    }
}

/// The significant digits of a number that is not negative, without trailing zeros, and the exponent of the first.
fn decimal(number: f64, digits: Digits, buffer: &mut [u8; 32]) -> (&str, i32) {
    let capacity = buffer.len();
    let mut rest = &mut buffer[..];
    match digits {
        Digits::Shortest => write!(rest, "{number:e}"),
        Digits::Ten => write!(rest, "{number:.9e}"),
    }
    .expect("24 bytes hold any f64");
    let length = capacity - rest.len();
    let text = &mut buffer[..length];
    let split = text.iter().position(|&byte| byte == b'e').expect("`e` format");
    let exponent = str::from_utf8(&text[split + 1..])
        .ok()
        .and_then(|exponent| exponent.parse().ok())
        .expect("an exponent follows `e`");
    // "d.ddd" becomes "dddd": the first digit moves over the point.
    let start = usize::from(split > 1);
    if start == 1 {
        text[1] = text[0];
    }
    let digits = str::from_utf8(&text[start..split]).expect("digits are ASCII");
    let trimmed = digits.trim_end_matches('0');
    (if trimmed.is_empty() { &digits[..1] } else { trimmed }, exponent)
}

// The outputs

/// The sum of inclusive over all function rows, which is what tree files call `TotalTime`.
fn total_time(profile: &Profile) -> io::Result<f64> {
    let mut total = Cost::default();
    profile.each_row(|row| {
        if row.line.is_none() {
            total += row.inclusive;
        }
        Ok(())
    })?;
    Ok(profile.milliseconds(total))
}

fn write_xml(profile: &Profile, out: &mut impl Write) -> io::Result<()> {
    let names = names(profile.functions);
    let total = Apl(total_time(profile)?, Digits::Ten);
    if profile.version == Version::V1_37 {
        writeln!(out, "<?xml version=\"1.0\"?>")?;
    }
    write!(
        out,
        "<ProfileData>
    <ProfileSettings>
        <Version>{}</Version>
        <Title>2026/11/21 09:30:00</Title>
        <TimerBias>{}</TimerBias>
        <Command>tree</Command>
        <TotalTime>{total}</TotalTime>
        <SelectedTime>{total}</SelectedTime>
    </ProfileSettings>
",
        profile.version.name(),
        profile.version.bias_text(),
    )?;
    profile.each_row(|row| write_entry(profile, &names[row.function], row, out))?;
    writeln!(out, "</ProfileData>")
}

fn write_entry(profile: &Profile, name: &str, row: &Row, out: &mut impl Write) -> io::Result<()> {
    let exclusive = Apl(profile.milliseconds(row.exclusive), Digits::Shortest);
    let inclusive = Apl(profile.milliseconds(row.inclusive), Digits::Shortest);
    let (depth, calls, line) = (row.depth, row.calls, LineField(profile.version, row.line));
    match profile.version {
        // 0.9.0 prints the exclusive figures first but labels them inclusive.
        Version::V0_9_0 => write!(
            out,
            "    <ProfileEntry>
        <Depth>{depth}</Depth>
        <Function>{name}</Function>
        <Line>{line}</Line>
        <Calls>{calls}</Calls>
        <InclusiveTime>{exclusive}</InclusiveTime>
        <ExclusiveTime>{inclusive}</ExclusiveTime>
        <InclusiveTicks>{}</InclusiveTicks>
        <ExclusiveTicks>{}</ExclusiveTicks>
    </ProfileEntry>
",
            row.exclusive.ticks, row.inclusive.ticks
        ),
        Version::V1_37 => write!(
            out,
            "    <ProfileEntry>
        <Depth>{depth}</Depth>
        <Element>{name}</Element>
        <Line>{line}</Line>
        <Calls>{calls}</Calls>
        <ExclusiveTime>{exclusive}</ExclusiveTime>
        <InclusiveTime>{inclusive}</InclusiveTime>
    </ProfileEntry>
"
        ),
    }
}

fn write_csv(profile: &Profile, out: &mut impl Write) -> io::Result<()> {
    let names = names(profile.functions);
    writeln!(
        out,
        "{}",
        match profile.version {
            // Swapped labels, as in the XML.
            Version::V0_9_0 =>
                r#""Depth","Element","Line","Calls","InclusiveTime","ExclusiveTime","InclusiveTicks","ExclusiveTicks""#,
            Version::V1_37 => r#""Depth","Element","Line","Calls","ExclusiveTime","InclusiveTime""#,
        }
    )?;
    profile.each_row(|row| {
        write!(
            out,
            "{},\"{}\",{},{},{},{}",
            row.depth,
            names[row.function],
            LineField(profile.version, row.line),
            row.calls,
            Apl(profile.milliseconds(row.exclusive), Digits::Ten),
            Apl(profile.milliseconds(row.inclusive), Digits::Ten),
        )?;
        if profile.version == Version::V0_9_0 {
            write!(out, ",{},{}", row.exclusive.ticks, row.inclusive.ticks)?;
        }
        writeln!(out)
    })
}

/// The line number; on a function row what the version's tree files have in its place.
struct LineField(Version, Option<usize>);

impl fmt::Display for LineField {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.1, self.0) {
            (Some(line), _) => write!(out, "{line}"),
            (None, Version::V0_9_0) => Ok(()),
            (None, Version::V1_37) => out.write_str("¯1"),
        }
    }
}

/// The open rows down to the current one: what an importer keeps of a tree.
#[derive(Default)]
struct Path {
    open: Vec<(usize, Row)>,
    nodes: usize,
}

impl Path {
    /// Goes to the next row. Nodes are numbered from 1.
    fn enter(&mut self, row: &Row) {
        self.nodes += 1;
        self.open.truncate(row.depth);
        self.open.push((self.nodes, *row));
    }

    /// How many nodes back the parent of the current row is.
    fn up(&self) -> Option<usize> {
        let above = self.open.len().checked_sub(2)?;
        Some(self.nodes - self.open[above].0)
    }

    /// How many nodes back the nearest row of the same function and line is that encloses the current one.
    fn outer_up(&self) -> Option<usize> {
        let ((node, row), above) = self.open.split_last()?;
        above
            .iter()
            .rev()
            .find(|(_, outer)| (outer.function, outer.line) == (row.function, row.line))
            .map(|(outer, _)| node - outer)
    }
}

/// Displays nothing for `None`: an empty CSV field.
struct Field(Option<usize>);

impl fmt::Display for Field {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |number| fmt::Display::fmt(&number, out))
    }
}

/// The nodes as profdb stores them, times in nanoseconds; functions are numbered from 1 as they appear.
fn write_nodes(profile: &Profile, out: &mut impl Write) -> io::Result<()> {
    let mut path = Path::default();
    let mut ids = vec![0; profile.functions];
    let mut functions = 0;
    writeln!(out, "node_id,up,size,outer_up,depth,function_id,file,line,col,calls,exclusive,cumulative")?;
    profile.each_row(|row| {
        path.enter(row);
        let id = &mut ids[row.function];
        if *id == 0 {
            functions += 1;
            *id = functions;
        }
        writeln!(
            out,
            "{},{},{},{},{},{id},,{},,{},{},{}",
            path.nodes,
            Field(path.up()),
            row.size,
            Field(path.outer_up()),
            row.depth,
            Field(row.line),
            row.calls,
            profile.milliseconds(row.exclusive) * 1e6,
            profile.milliseconds(row.inclusive) * 1e6,
        )
    })
}

/// What a report shows for one function. Cumulative adds only rows that no row of the same function encloses, seen
/// adds all.
#[derive(Clone, Copy, Default)]
struct Totals {
    calls: u64,
    exclusive: Cost,
    cumulative: Cost,
    seen: Cost,
}

impl Totals {
    fn add(&mut self, row: &Row, outermost: Cost) {
        self.calls += row.calls;
        self.exclusive += row.exclusive;
        self.cumulative += outermost;
        self.seen += row.inclusive;
    }
}

/// The totals of all functions by corrected cumulative time, and those of the run under the name `(total)`.
fn write_expected(profile: &Profile, out: &mut impl Write) -> io::Result<()> {
    let mut path = Path::default();
    let mut functions = vec![Totals::default(); profile.functions];
    let mut run = Totals::default();
    profile.each_row(|row| {
        path.enter(row);
        if row.line.is_none() {
            let count_if = |condition| {
                if condition { row.inclusive } else { Cost::default() }
            };
            functions[row.function].add(row, count_if(path.outer_up().is_none()));
            run.add(row, count_if(row.depth == 0));
        }
        Ok(())
    })?;
    let mut table: Vec<(String, Totals)> =
        names(profile.functions).into_iter().zip(functions).filter(|(_, totals)| totals.calls > 0).collect();
    let key = |totals: &Totals| profile.corrected(totals.cumulative);
    table.sort_by(|(a, x), (b, y)| key(y).total_cmp(&key(x)).then_with(|| a.cmp(b)));
    table.push(("(total)".into(), run));
    writeln!(
        out,
        "name\tcalls\texclusive_ms\tcumulative_ms\tseen_ms\traw_exclusive_ms\traw_cumulative_ms\traw_seen_ms"
    )?;
    for (name, totals) in table {
        let costs = [totals.exclusive, totals.cumulative, totals.seen];
        let [exclusive, cumulative, seen] = costs.map(|cost| profile.corrected(cost));
        let [raw_exclusive, raw_cumulative, raw_seen] = costs.map(raw);
        writeln!(
            out,
            "{name}\t{}\t{exclusive:.9}\t{cumulative:.9}\t{seen:.9}\t{raw_exclusive:.9}\t{raw_cumulative:.9}\t{raw_seen:.9}",
            totals.calls
        )?;
    }
    Ok(())
}

// The rules

/// Checks trees of several sizes, shapes and versions.
fn self_check(out: &mut impl Write) -> io::Result<()> {
    for (rows, functions) in [(1, 32), (2, 32), (63, 32), (64, 32), (5_000, 32), (50_000, 500)] {
        for seed in 0..4 {
            for version in [Version::V0_9_0, Version::V1_37] {
                let profile = Profile::new(rows, functions, seed, version).map_err(io::Error::other)?;
                check(&profile)?;
            }
        }
        writeln!(out, "{rows} rows, {functions} functions: the rules hold")?;
    }
    Ok(())
}

fn write_shape(profile: &Profile, out: &mut impl Write) -> io::Result<()> {
    let shape = check(profile)?;
    let percent = |part: usize, of: usize| 100.0 * part as f64 / of.max(1) as f64;
    let Shape { rows, functions, .. } = shape;
    writeln!(out, "rows               {rows}, the rules hold")?;
    writeln!(out, "function rows      {:.1} %", percent(functions, rows))?;
    writeln!(out, "  recursive        {:.1} %", percent(shape.recursive, functions))?;
    writeln!(out, "  without lines    {:.1} %", percent(shape.lineless, functions))?;
    writeln!(out, "roots              {}", shape.roots)?;
    writeln!(out, "functions used     {}", shape.used.iter().filter(|used| **used).count())?;
    writeln!(out, "mean depth         {:.1}", shape.depths as f64 / rows.max(1) as f64)?;
    writeln!(out, "greatest depth     {}", shape.deepest)?;
    writeln!(out, "negative lines     {:.1} %", percent(shape.negative, rows - functions))?;
    writeln!(out, "printed scaled     {:.1} %", percent(shape.scaled, rows))
}

/// What a tree looks like.
#[derive(Default)]
struct Shape {
    rows: usize,
    functions: usize,
    recursive: usize,
    lineless: usize,
    roots: usize,
    used: Vec<bool>,
    depths: usize,
    deepest: usize,
    /// Line rows whose corrected exclusive time is below zero.
    negative: usize,
    /// Rows whose corrected exclusive time is nearer to zero than a millionth of a millisecond.
    scaled: usize,
}

/// Asserts every rule on the rows as they are emitted, without a look at how they were made.
fn check(profile: &Profile) -> io::Result<Shape> {
    let mut path = Path::default();
    let mut open: Vec<Below> = Vec::new();
    let mut shape = Shape { used: vec![false; profile.functions], ..Shape::default() };
    profile.each_row(|row| {
        ensure(row.depth <= open.len(), row, "one level deeper at most")?;
        while open.len() > row.depth {
            close(&mut open, &mut shape)?;
        }
        enter(&mut open, row)?;
        path.enter(row);
        shape.add(profile, &path, row);
        Ok(())
    })?;
    while !open.is_empty() {
        close(&mut open, &mut shape)?;
    }
    if shape.rows != profile.rows || shape.deepest >= 200 {
        return Err(io::Error::other(format!(
            "{} rows instead of {}, depth {}",
            shape.rows, profile.rows, shape.deepest
        )));
    }
    Ok(shape)
}

impl Shape {
    fn add(&mut self, profile: &Profile, path: &Path, row: &Row) {
        let time = profile.corrected(row.exclusive);
        self.rows += 1;
        self.depths += row.depth;
        self.deepest = self.deepest.max(row.depth);
        self.scaled += usize::from(time.abs() < 1e-6);
        self.used[row.function] = true;
        if row.line.is_none() {
            self.functions += 1;
            self.roots += usize::from(row.depth == 0);
            self.recursive += usize::from(path.outer_up().is_some());
        } else {
            self.negative += usize::from(time < 0.0);
        }
    }
}

/// An open row and the sums over what was met below it.
struct Below {
    row: Row,
    rows: usize,
    /// The functions called from a line, or the numbers of the lines of a function.
    children: Vec<usize>,
    /// Of the lines, if this is a function row.
    lines_calls: u64,
    lines_exclusive: Cost,
    /// Of the functions called from this row, or from its lines.
    callees_inclusive: Cost,
    callees_calls: u64,
}

/// Opens a row: checks its place below the row above.
fn enter(open: &mut Vec<Below>, row: &Row) -> io::Result<()> {
    let function_row = row.depth.is_multiple_of(2);
    ensure(row.line.is_none() == function_row, row, "even depth = function row")?;
    ensure(row.calls > 0, row, "at least one call")?;
    if let Some(above) = open.last_mut() {
        let child = row.line.unwrap_or(row.function);
        if function_row {
            ensure(!above.children.contains(&child), row, "one row for each function called from a line")?;
        } else {
            ensure(row.function == above.row.function, row, "lines of the function above")?;
            ensure(above.children.last() < Some(&child), row, "lines ascend")?;
        }
        above.children.push(child);
    }
    open.push(Below {
        row: *row,
        rows: 0,
        children: Vec::new(),
        lines_calls: 0,
        lines_exclusive: Cost::default(),
        callees_inclusive: Cost::default(),
        callees_calls: 0,
    });
    Ok(())
}

/// Closes the innermost row: checks its sums and adds it to those of the row above.
fn close(open: &mut Vec<Below>, shape: &mut Shape) -> io::Result<()> {
    let Some(below) = open.pop() else {
        return Ok(());
    };
    let row = &below.row;
    let sum = row.exclusive + below.callees_inclusive;
    ensure(row.inclusive == sum, row, "inclusive = exclusive + callees")?;
    ensure(row.size == below.rows, row, "size = rows below")?;
    let ticks = if row.line.is_some() {
        row.calls + below.callees_calls
    } else {
        shape.lineless += usize::from(below.children.is_empty());
        let lines = below.lines_exclusive.picoseconds;
        ensure(row.exclusive.picoseconds >= lines, row, "exclusive >= that of the lines")?;
        below.lines_exclusive.ticks + below.lines_calls + row.calls
    };
    ensure(row.exclusive.ticks == ticks, row, "the tick rule")?;
    if let Some(above) = open.last_mut() {
        above.rows += 1 + below.rows;
        if row.line.is_some() {
            above.lines_calls += row.calls;
            above.lines_exclusive += row.exclusive;
            above.callees_inclusive += below.callees_inclusive;
        } else {
            above.callees_inclusive += row.inclusive;
            above.callees_calls += row.calls;
        }
    }
    Ok(())
}

fn ensure(holds: bool, row: &Row, rule: &str) -> io::Result<()> {
    if holds {
        return Ok(());
    }
    let Row { depth, function, line, exclusive, inclusive, .. } = row;
    Err(io::Error::other(format!(
        "broken rule: {rule} (depth {depth}, function {function}, line {line:?}, {exclusive:?}, {inclusive:?})"
    )))
}
