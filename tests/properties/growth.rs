//! The work of every statement that `--show-sql` prints grows with the run, and not with the square of it. Work is counted
//! in steps of SQLite's virtual machine, which depend on the statement and the rows alone.
//!
//! The reports and their parameters are those of the program. A trial is a report with a set of arguments:
//! `growth::summary/hide+fn=leaf`.

use std::cell::RefCell;
use std::iter::once;

use libtest_mimic::{Failed, Trial};
use profdb::base::error::Stop;
use profdb::events::{
    Frame, FunctionDef, FunctionId, Kind, Label, LabelValue, Noise, RunFact, Sample, Sink, Unit,
};
use profdb::profile::TreeBuilder;
use profdb::report::header::{Parameter, ParameterDef};
use profdb::report::{self, ALL_LINES, Argument, Base, REPORTS, Report, Request};
use profdb::store::{Database, RunInfo};
use rusqlite::fallible_iterator::FallibleIterator as _;
use rusqlite::{Batch, Connection, StatementStatus};
use tempfile::TempDir;

use crate::support::case_inputs::ensure;
use crate::support::harness::trial;
use crate::support::made_runs::{self, Batches, made_up};

/// Sizes of the runs. A run of size n has about 7 n nodes.
const SIZES: [u32; 3] = [30, 60, 120];

/// Maximum ratio of the second difference to the first, which is 2 for linear and 4 for quadratic work.
const MAXIMUM_RATIO: f64 = 2.3;

/// Maximum number of steps of a statement about one of the smaller runs.
const MOST_STEPS: i32 = 20_000_000;

/// Number of steps between two checks of the maximum.
const STEPS_BETWEEN_LOOKS: i32 = 1000;

/// Values of the parameters that take a regular expression.
const FILTERS: [(&str, &str); 3] = [
    ("focus", "^leaf$"),
    ("ignore", "^inner$"),
    ("hide", "^(hidden|middle|again)$"),
];

/// The filter that changes the nodes that all others leave.
const LAST_FILTER: &str = "hide";

/// Paths to a function at many places, within others, called by others, and to a recursive function.
const PATHS: [&str; 4] = ["leaf", "unit*,inner", "main>unit*", "level*"];

/// Parts that no report takes together.
const REFUSED: [(&str, &str); 1] = [("bias", "label")];

/// Lists all trials.
pub(crate) fn trials() -> Vec<Trial> {
    let of_report = |report: &'static Report| {
        requests(report).into_iter().map(move |(name, request)| {
            let name = format!("growth::{}/{name}", report.name);
            trial(name, move || check(report, &request))
        })
    };
    REPORTS.iter().flat_map(of_report).collect()
}

/// Something that a report may be asked with.
struct Part {
    /// Its name in the names of trials.
    name: String,
    effect: Effect,
    apply: Box<dyn Fn(&mut Request)>,
}

/// How a part changes a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Effect {
    /// It changes what is added up.
    Sums,
    /// It chooses nodes.
    Filter,
    /// It chooses nodes by a path.
    Path,
    /// It changes what is shown.
    Rows,
}

/// Lists the requests that are tried: each part alone, every two filters, and each part that changes sums or chooses nodes
/// with [`LAST_FILTER`] and with a path.
fn requests(report: &Report) -> Vec<(String, Request)> {
    let parts = parts(report);
    let path = parts.iter().find(|part| part.effect == Effect::Path);
    // A report about a path shows the function at its end.
    let always = path.filter(|_| report.header().about_function);
    let sometimes = path.filter(|_| always.is_none());
    let mut sets: Vec<Vec<&Part>> = vec![always.into_iter().collect()];
    for (at, part) in parts.iter().enumerate() {
        let always = always.filter(|_| part.effect != Effect::Path);
        sets.push(once(part).chain(always).collect());
        if matches!(part.effect, Effect::Sums | Effect::Filter) {
            let later = parts[at + 1..].iter();
            let filters = later.filter(|other| {
                other.effect == Effect::Filter
                    && (part.effect == Effect::Filter || other.name == LAST_FILTER)
            });
            let others = filters.chain(sometimes);
            let others = others.filter(|other| !REFUSED.contains(&(&part.name, &other.name)));
            sets.extend(others.map(|other| [part, other].into_iter().chain(always).collect()));
        }
    }
    // Limits that every request has, so that few rows are cut off by a share of the total, and few steps are the same for all
    // runs. Of two arguments of one name the first counts.
    let limits: Vec<(String, Argument)> = report
        .header()
        .parameters
        .iter()
        .filter(|parameter| parameter.default.is_some())
        .filter_map(|parameter| {
            let limit = match parameter.kind {
                Parameter::Count => Argument::Count(3),
                Parameter::Percentage => Argument::Number(0.0),
                _ => return None,
            };
            Some((parameter.name.to_owned(), limit))
        })
        .collect();
    let named = |set: Vec<&Part>| {
        let names: Vec<&str> = set.iter().map(|part| part.name.as_str()).collect();
        let mut request = Request::default();
        for part in &set {
            (part.apply)(&mut request);
        }
        request.arguments.extend(limits.iter().cloned());
        let name = if set.is_empty() {
            "whole run".to_owned()
        } else {
            names.join("+")
        };
        (name, request)
    };
    sets.into_iter().map(named).collect()
}

/// Lists what a report may be asked with: what all reports take, and its own parameters. Sums come first and filters next,
/// whatever the order in the header.
fn parts(report: &Report) -> Vec<Part> {
    let of_all = |name: &str, apply: fn(&mut Request)| Part {
        name: name.to_owned(),
        effect: Effect::Sums,
        apply: Box::new(apply),
    };
    let mut parts = vec![
        of_all("metric", |request| {
            request.metric = Some("readings".to_owned());
        }),
        of_all("bias", |request| request.bias = Some(0.0)),
        of_all("percent-of", |request| request.base = Base::Selection),
    ];
    parts.extend(report.header().parameters.iter().flat_map(parts_of));
    parts.sort_by_key(|part| part.effect);
    parts
}

/// Lists the arguments that a parameter is tried with.
fn parts_of(parameter: &ParameterDef<'_>) -> Vec<Part> {
    let name = parameter.name;
    let (effect, arguments) = match &parameter.kind {
        // The report that it asks instead has trials of its own.
        Parameter::Variant(_) => return Vec::new(),
        Parameter::Flag if name == ALL_LINES => (Effect::Sums, vec![Argument::Flag]),
        Parameter::Flag => (Effect::Rows, vec![Argument::Flag]),
        Parameter::Count => (Effect::Rows, vec![Argument::Count(3)]),
        Parameter::Percentage => (Effect::Rows, vec![Argument::Number(50.0)]),
        Parameter::Choice(words) => (Effect::Rows, texts(words)),
        Parameter::Groups(words) => {
            let words: Vec<String> = words
                .iter()
                .map(|word| word.replace("KEY", "job"))
                .collect();
            (Effect::Sums, texts(&words))
        }
        Parameter::Filter => {
            let pattern = FILTERS.iter().find(|(known, _)| *known == name);
            let (_, pattern) = pattern.unwrap_or_else(|| panic!("expected {name} in FILTERS"));
            (Effect::Filter, texts(&[pattern]))
        }
        Parameter::Thread => (Effect::Filter, texts(&["thread 0"])),
        Parameter::Label => (Effect::Filter, texts(&["job"])),
        Parameter::Path => (Effect::Path, texts(&PATHS)),
    };
    let is_one = arguments.len() == 1;
    let part = |argument: Argument| Part {
        name: match &argument {
            Argument::Text(text) if !is_one => format!("{name}={text}"),
            _ => name.to_owned(),
        },
        effect,
        apply: {
            let argument = (name.to_owned(), argument);
            Box::new(move |request| request.arguments.push(argument.clone()))
        },
    };
    arguments.into_iter().map(part).collect()
}

fn texts(texts: &[impl ToString]) -> Vec<Argument> {
    texts
        .iter()
        .map(|text| Argument::Text(text.to_string()))
        .collect()
}

/// Runs the statements that a report shows over runs of three sizes, and compares the differences between their steps.
fn check(report: &'static Report, request: &Request) -> Result<(), Failed> {
    thread_local! {
        static RUNS: RefCell<[Run; 3]> = RefCell::new(SIZES.map(run));
    }
    RUNS.with_borrow_mut(|runs| {
        let [first, ..] = runs;
        let script = report::ask(&first.database, report, &first.info, request)?.script;
        let mut steps = [0; 3];
        for (at, run) in runs.iter_mut().enumerate() {
            // A little more than a ratio of 4, which quadratic work has.
            let most = match at {
                2 => steps[1] + 5 * (steps[1] - steps[0]) + STEPS_BETWEEN_LOOKS,
                _ => MOST_STEPS,
            };
            steps[at] = steps_of(&mut run.connection, &script, most)
                .map_err(|error| format!("{error} after {most} steps: {steps:?}\n{script}"))?;
        }
        let what = format!("{steps:?} steps for the sizes {SIZES:?}:\n{script}");
        let [one, two, four] = steps.map(f64::from);
        let (first, second) = (two - one, four - two);
        // A statement about one function, or about a few rows, does not grow.
        let is_constant = four <= 1.1 * one;
        ensure(is_constant || second <= MAXIMUM_RATIO * first, || {
            format!(
                "a ratio of {:.2} and not at most {MAXIMUM_RATIO}: {what}",
                second / first
            )
        })?;
        let fixed = one - first;
        ensure(is_constant || second > fixed, || {
            format!("too few steps besides the {fixed} that every run takes: {what}")
        })
    })
}

/// Counts the steps of statements. Fails soon after it has counted a number of them.
fn steps_of(connection: &mut Connection, script: &str, most: i32) -> rusqlite::Result<i32> {
    let mut looks = 0;
    let is_enough = move || {
        looks += STEPS_BETWEEN_LOOKS;
        looks > most
    };
    connection.progress_handler(STEPS_BETWEEN_LOOKS, Some(is_enough))?;
    let mut steps = 0;
    let mut statements = Batch::new(connection, script);
    while let Some(mut statement) = statements.next()? {
        let mut rows = statement.raw_query();
        while rows.next()?.is_some() {}
        drop(rows);
        steps += statement.get_status(StatementStatus::VmStep);
    }
    Ok(steps)
}

/// A run in a database of its own.
struct Run {
    database: Database,
    info: RunInfo,
    /// Has nothing of the program's own, as that of the stock shell.
    connection: Connection,
    _folder: TempDir,
}

/// Writes a run in which everything grows with its size: functions, modules, threads and processes; depth and recursion;
/// places of one function, also of a hidden one; lines, labels and source.
fn run(size: u32) -> Run {
    let mut builder = TreeBuilder::new(Batches::default(), Stop::default());
    let time = builder.metric("time", Unit::Nanoseconds, Noise::Unknown);
    let readings = builder.metric("readings", Unit::Count, Noise::Unknown);
    builder.run(RunFact::TimerReadings(readings));
    builder.run(RunFact::BiasApplied(1.0));
    // The functions that filters name have the same numbers in all runs.
    let names = ["main", "leaf", "hidden", "middle", "inner", "again"];
    let [main, leaf, hidden, middle, inner, again] =
        names.map(|name| function(&mut builder, Kind::Function, name, 0));
    let sample = |builder: &mut TreeBuilder<Batches>, job: u32, cost: f64, stack: &[Frame<'_>]| {
        let job = builder.labels(&[Label {
            key: "job",
            value: LabelValue::Number(i64::from(job)),
            unit: "",
        }]);
        builder.sample(Sample {
            stack,
            shared: 0,
            calls: Some(1),
            values: &[(time, cost), (readings, 1.0)],
            labels: Some(job),
        });
    };
    let container = |builder: &mut TreeBuilder<Batches>, kind: Kind, name: &str, number: u32| {
        Frame::function(function(builder, kind, &format!("{name} {number}"), 0))
    };
    sample(
        &mut builder,
        0,
        1.0,
        &[main, leaf, hidden, middle, inner, again].map(Frame::function),
    );
    for unit in 0..size {
        // Half of all is in one thread, so that what is asked of that grows, too.
        let thread = if unit % 2 == 0 { 0 } else { unit };
        let own = function(
            &mut builder,
            Kind::Function,
            &format!("unit {unit}"),
            unit / 2,
        );
        let stack = [
            container(&mut builder, Kind::Process, "process", thread / 4),
            container(&mut builder, Kind::Thread, "thread", thread),
            Frame::function(main),
            Frame::line(own, unit + 1),
            Frame::line(leaf, unit + 1),
            Frame::function(hidden),
            Frame::function(middle),
            Frame::line(inner, unit + 1),
        ];
        sample(&mut builder, unit / 2, 3.0, &stack[..7]);
        sample(&mut builder, unit / 2, 2.0, &stack);
    }
    let mut deep = vec![
        container(&mut builder, Kind::Process, "process", 0),
        container(&mut builder, Kind::Thread, "thread", 0),
    ];
    for level in 0..size {
        let own = function(
            &mut builder,
            Kind::Function,
            &format!("level {level}"),
            level,
        );
        deep.push(Frame::line(
            if level % 2 == 0 { own } else { again },
            level + 1,
        ));
    }
    sample(&mut builder, 0, 1.0, &deep);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("profdb.db");
    let mut database = Database::open(&path).expect("a new file");
    let number = made_runs::write(builder, &made_up(), &mut database);
    let connection = database.connection();
    let first = "SELECT GROUP_CONCAT(name) FROM functions WHERE function_id <= 6";
    let first: String = connection
        .query_row(first, [], |row| row.get(0))
        .expect("a table");
    assert_eq!(first, names.join(","), "filters name them by number");
    let source = format!(
        "INSERT INTO sources VALUES (1, 'x', 1);
         WITH RECURSIVE lines (line) AS (SELECT 1 UNION ALL SELECT line + 1 FROM lines WHERE line < {})
         INSERT INTO source_texts SELECT 1, line, 'text' FROM lines;
         INSERT INTO run_sources SELECT {number}, function_id, file, 1 FROM functions WHERE name IN ('leaf', 'inner')",
        2 * size
    );
    connection
        .execute_batch(&source)
        .expect("tables of sources");
    let info = database
        .run(Some(number))
        .expect("a database")
        .expect("the run");
    let connection = Connection::open(&path).expect("it was just written");
    Run {
        database,
        info,
        connection,
        _folder: folder,
    }
}

/// Names a function, with a module of that number.
fn function(sink: &mut dyn Sink, kind: Kind, name: &str, module: u32) -> FunctionId {
    sink.function(FunctionDef {
        kind,
        module: &format!("module {module}"),
        file: "all.c",
        ..FunctionDef::named(name)
    })
}
