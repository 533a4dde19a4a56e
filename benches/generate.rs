//! Writes profiles of any size that keep the profiler's own rules.
//!
//! Large real files are not to be had, and a file whose figures do not add up would measure an
//! importer on input that it never meets. The trees that this program writes obey every rule of
//! Dyalog's `]PROFILE`: rows in pre-order, inclusive = exclusive + callees for time and ticks, the
//! tick rule, one set of rows for each level of a recursion. The figures that a report must show
//! for a file come from the same walk (`expected`).
//!
//! ```text
//! cargo bench --bench generate -- KIND ROWS [--functions N] [--seed N] [--depth N]
//!     [--version 0.9.0|1.37] [-o FILE]
//!
//! xml       the tree as XML
//! csv       the tree as CSV
//! lispworks the tree as LispWorks saves it, two rows more
//! sampler   one stack per row, for Apple's Sampler
//! folded    one stack per row, folded
//! rows      the same nodes as rows of profdb's table `nodes`, for bulk loaders
//! expected  calls and times of each function, as tab-separated values
//! check     asserts the rules and prints the shape of the tree
//! ```
//!
//! `--depth` is about how deep the tree shall be; without it it is some 100 levels deep.
//!
//! Equal arguments give equal bytes, on every machine. Without KIND it checks some small trees, so
//! that a plain `cargo bench` ends well. Exit codes: 0 done (also when the reader closed the pipe),
//! 1 failed, 2 usage.

#![expect(
    clippy::cast_precision_loss,
    reason = "the profiler computes in binary floating point too"
)]
#![expect(
    clippy::print_stderr,
    reason = "a program of its own, which has a screen"
)]

mod profiles;

use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::process::ExitCode;

use profiles::dyalog::{write_csv, write_xml};
use profiles::lisp::{write_folded, write_lispworks, write_sampler};
use profiles::{Cost, MIN_FUNCTIONS, Path, Profile, Row, Version, names, raw};

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

const USAGE: &str = "usage: generate [xml|csv|lispworks|sampler|folded|rows|expected|check ROWS] \
    [--functions N] [--seed N] [--depth N] [--version 0.9.0|1.37] [-o FILE]";

#[derive(Clone, Copy)]
enum Kind {
    Xml,
    Csv,
    LispWorks,
    Sampler,
    Folded,
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
        let (mut functions, mut seed, mut depth) = (None, 1, None);
        let (mut version, mut output) = (Version::V0_9_0, None);
        while let Some(argument) = arguments.next() {
            let mut value = || {
                arguments
                    .next()
                    .ok_or(format!("{argument}: expected a value"))
            };
            match argument.as_str() {
                // Cargo adds this one to whatever the user says.
                "--bench" => {}
                "--functions" => functions = Some(number(&value()?)?),
                "--seed" => seed = number(&value()?)?,
                "--depth" => depth = Some(number(&value()?)?),
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
        let profile = Profile::new(rows, functions, seed, version)?;
        Ok(Self {
            kind,
            profile: match depth {
                Some(depth) => profile.about_so_deep(depth),
                None => profile,
            },
            output,
        })
    }

    fn run(&self) -> io::Result<()> {
        let Some(path) = &self.output else {
            return self.write(io::stdout().lock());
        };
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{path}: {error}"));
        File::create(path)
            .and_then(|file| self.write(file))
            .map_err(named)
    }

    fn write(&self, out: impl Write) -> io::Result<()> {
        let mut out = BufWriter::with_capacity(1 << 18, out);
        match self.kind {
            Kind::Xml => write_xml(&self.profile, &mut out),
            Kind::Csv => write_csv(&self.profile, &mut out),
            Kind::LispWorks => write_lispworks(&self.profile, &mut out),
            Kind::Sampler => write_sampler(&self.profile, &mut out),
            Kind::Folded => write_folded(&self.profile, &mut out),
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
            "lispworks" => Self::LispWorks,
            "sampler" => Self::Sampler,
            "folded" => Self::Folded,
            "rows" => Self::Rows,
            "expected" => Self::Expected,
            "check" => Self::Check,
            _ => return Err(format!("expected a kind of output, found `{text}`")),
        })
    }
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse()
        .map_err(|_| format!("expected a number, found `{text}`"))
}

// The outputs

/// Displays nothing for `None`: an empty CSV field.
struct Field(Option<usize>);

impl fmt::Display for Field {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .map_or(Ok(()), |number| fmt::Display::fmt(&number, out))
    }
}

/// The nodes as profdb stores them, times in nanoseconds; functions are numbered from 1 as they
/// appear.
fn write_nodes(profile: &Profile, out: &mut impl Write) -> io::Result<()> {
    let mut path = Path::default();
    let mut ids = vec![0; profile.functions];
    let mut functions = 0;
    writeln!(
        out,
        "node_id,up,size,outer_up,depth,function_id,file,line,col,calls,exclusive,cumulative"
    )?;
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

/// What a report shows for one function. Cumulative adds only rows that no row of the same function
/// encloses, seen adds all.
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

/// The totals of all functions by corrected cumulative time, and those of the run under the name
/// `(total)`.
fn write_expected(profile: &Profile, out: &mut impl Write) -> io::Result<()> {
    let mut path = Path::default();
    let mut functions = vec![Totals::default(); profile.functions];
    let mut run = Totals::default();
    profile.each_row(|row| {
        path.enter(row);
        if row.line.is_none() {
            let count_if = |condition| {
                if condition {
                    row.inclusive
                } else {
                    Cost::default()
                }
            };
            functions[row.function].add(row, count_if(path.outer_up().is_none()));
            run.add(row, count_if(row.depth == 0));
        }
        Ok(())
    })?;
    let mut table: Vec<(String, Totals)> = names(profile.functions)
        .into_iter()
        .zip(functions)
        .filter(|(_, totals)| totals.calls > 0)
        .collect();
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
    for (rows, functions) in [
        (1, 32),
        (2, 32),
        (63, 32),
        (64, 32),
        (5_000, 32),
        (50_000, 500),
    ] {
        for seed in 0..4 {
            for version in [Version::V0_9_0, Version::V1_37] {
                let profile =
                    Profile::new(rows, functions, seed, version).map_err(io::Error::other)?;
                check(&profile)?;
            }
        }
        for depth in [10, 60, 3000] {
            let profile = Profile::new(rows, functions, 1, Version::V0_9_0);
            check(&profile.map_err(io::Error::other)?.about_so_deep(depth))?;
        }
        writeln!(out, "{rows} rows, {functions} functions: the rules hold")?;
    }
    Ok(())
}

fn write_shape(profile: &Profile, out: &mut impl Write) -> io::Result<()> {
    let shape = check(profile)?;
    let percent = |part: usize, of: usize| 100.0 * part as f64 / of.max(1) as f64;
    let Shape {
        rows, functions, ..
    } = shape;
    writeln!(out, "rows               {rows}, the rules hold")?;
    writeln!(out, "function rows      {:.1} %", percent(functions, rows))?;
    writeln!(
        out,
        "  recursive        {:.1} %",
        percent(shape.recursive, functions)
    )?;
    writeln!(
        out,
        "  without lines    {:.1} %",
        percent(shape.lineless, functions)
    )?;
    writeln!(out, "roots              {}", shape.roots)?;
    writeln!(
        out,
        "functions used     {}",
        shape.used.iter().filter(|used| **used).count()
    )?;
    writeln!(
        out,
        "mean depth         {:.1}",
        shape.depths as f64 / rows.max(1) as f64
    )?;
    writeln!(out, "greatest depth     {}", shape.deepest)?;
    writeln!(
        out,
        "negative lines     {:.1} %",
        percent(shape.negative, rows - functions)
    )?;
    writeln!(
        out,
        "printed scaled     {:.1} %",
        percent(shape.scaled, rows)
    )
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
    let mut shape = Shape {
        used: vec![false; profile.functions],
        ..Shape::default()
    };
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
    if shape.rows != profile.rows || shape.deepest >= profile.depth.below {
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
    ensure(
        row.line.is_none() == function_row,
        row,
        "even depth = function row",
    )?;
    ensure(row.calls > 0, row, "at least one call")?;
    if let Some(above) = open.last_mut() {
        let child = row.line.unwrap_or(row.function);
        if function_row {
            ensure(
                !above.children.contains(&child),
                row,
                "one row for each function called from a line",
            )?;
        } else {
            ensure(
                row.function == above.row.function,
                row,
                "lines of the function above",
            )?;
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
        ensure(
            row.exclusive.picoseconds >= lines,
            row,
            "exclusive >= that of the lines",
        )?;
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
    let Row {
        depth,
        function,
        line,
        exclusive,
        inclusive,
        ..
    } = row;
    Err(io::Error::other(format!(
        "broken rule: {rule} (depth {depth}, function {function}, line {line:?}, {exclusive:?}, {inclusive:?})"
    )))
}
