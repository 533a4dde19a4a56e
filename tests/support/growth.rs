//! Generated runs, requests that reports understand, and the check that work grows in proportion to a run. The reports and
//! their parameters are read from the program's registry.

use std::io;
use std::iter::once;
use std::path::{Path, PathBuf};

use profdb::base::error::Stop;
use profdb::events::{
    Frame, FunctionDef, FunctionId, Kind, Label, LabelValue, Noise, RunFact, Sample, Sink, Unit,
};
use profdb::formats::export::{self, Export};
use profdb::profile::TreeBuilder;
use profdb::report::header::{Parameter, ParameterDef};
use profdb::report::{self, ALL_LINES, Answer, Argument, Base, Report, ReportError, Request};
use profdb::store::{Database, RunInfo};
use tempfile::TempDir;

use super::made_runs::{self, Batches, made_up};

/// Maximum ratio of the second difference to the first, which is 2 for linear and 4 for quadratic work.
pub(crate) const MAXIMUM_RATIO: f64 = 2.3;

/// Patterns of the filters, by their names. A new filter needs one.
const FILTERS: [(&str, &str); 3] = [
    ("focus", "^leaf$"),
    ("ignore", "^inner$"),
    ("hide", "^(hidden|middle|again)$"),
];

/// The filter that changes the nodes that all others leave.
const LAST_FILTER: &str = "hide";

/// Paths to a function at many places, within others, called by others, and to a recursive function.
const PATHS: [&str; 4] = ["leaf", "unit*,*", "main>unit*", "level*"];

/// Parts that no report takes together.
const REFUSED: [(&str, &str); 1] = [("bias", "label")];

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
pub(crate) fn requests(report: &Report) -> Vec<(String, Request)> {
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

/// A run in a database of its own.
pub(crate) struct Run {
    pub(crate) path: PathBuf,
    database: Database,
    info: RunInfo,
    /// The folder of the database, which is removed with the run.
    _folder: Option<TempDir>,
}

impl Run {
    /// Opens the database of a run that another process has written.
    pub(crate) fn open(path: &Path) -> Run {
        let database = Database::open(path).expect("a database");
        let info = database.run(Some(1)).expect("a database").expect("the run");
        Run {
            path: path.to_owned(),
            database,
            info,
            _folder: None,
        }
    }

    /// Asks a report.
    pub(crate) fn ask(
        &self,
        report: &'static Report,
        request: &Request,
    ) -> Result<Answer<'_>, ReportError> {
        report::ask(&self.database, report, &self.info, request)
    }

    /// Returns the statements that a report shows for a request.
    pub(crate) fn statements(
        &self,
        report: &'static Report,
        request: &Request,
    ) -> Result<String, ReportError> {
        Ok(self.ask(report, request)?.script)
    }

    /// Writes the run in a format, to nowhere: its times, or what is counted where the format holds no times.
    pub(crate) fn export(&self, export: &'static Export) {
        let is_written = ["time", "readings"].into_iter().any(|metric| {
            let request = export::Request {
                metric: Some(metric.to_owned()),
                ..export::Request::default()
            };
            export
                .write(&self.database, &self.info, &request, &mut io::sink())
                .is_ok()
        });
        assert!(is_written, "{} holds times or numbers", export.name);
    }
}

/// Compares the differences between the work for three runs, each twice as large as the one before.
///
/// # Errors
/// When the second difference is too large, or both together are less than the work that every run takes.
pub(crate) fn check_growth(work: [u64; 3]) -> Result<(), String> {
    #[expect(clippy::cast_precision_loss, reason = "no test counts so far")]
    let [one, two, four] = work.map(|count| count as f64);
    // The work for one function, or for few rows, does not grow.
    if four <= 1.2 * one {
        return Ok(());
    }
    let (first, second) = (two - one, four - two);
    if second > MAXIMUM_RATIO * first {
        return Err(format!(
            "a ratio of {:.2}, and not at most {MAXIMUM_RATIO}: {work:?}",
            second / first
        ));
    }
    let fixed = one - first;
    if first + second < fixed {
        return Err(format!(
            "{fixed} of the work is for no part of a run: {work:?}"
        ));
    }
    Ok(())
}

/// Writes a run in which everything grows with its size: functions, modules, threads and processes; depth and recursion;
/// places of one function, also of a hidden one; lines, labels and source.
pub(crate) fn run(size: u32) -> Run {
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
    drop(database);
    Run {
        _folder: Some(folder),
        ..Run::open(&path)
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
