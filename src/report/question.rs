//! What a report is asked for: [`Request`], what the user has given for its parameters, and
//! [`Question`], what that means for a run.

use std::str::FromStr;

use regex::Regex;

use super::catalog::{Report, by_name};
use super::dialect::Dialect;
use super::error::ReportError;
use super::header::{Header, LABEL_KEY, Meaning, Needs, Parameter};
use super::path::{NameSyntax, Path};
use crate::events;
use crate::store::{MetricInfo, RunInfo};

/// The flag for lines without figures.
pub const ALL_LINES: &str = "all_lines";

/// The parameter for what the rows are sorted by.
pub(super) const SORT: &str = "sort";

/// Nanoseconds in a millisecond, in which a bias is given.
const NANOSECONDS: f64 = 1e6;

/// What the user asks of a report.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The metric; the run's default one if `None`.
    pub metric: Option<String>,
    /// What one reading of the timer is taken to cost, in ms; as stored if `None`.
    pub bias: Option<f64>,
    /// What is 100 %.
    pub base: Base,
    /// How names in paths are read.
    pub names: NameSyntax,
    /// Columns that are shown only with a flag are wanted without it, too: JSON has them all.
    pub all_columns: bool,
    /// The engine for whose SQL the statement is shown; SQLite if `None`.
    pub dialect: Option<Dialect>,
    /// Values of the report's own parameters, by name.
    pub arguments: Vec<(String, Argument)>,
}

/// What percentages are of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Base {
    /// The whole run.
    #[default]
    Total,
    /// What is selected.
    Selection,
}

/// What is counted as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Groups<'r> {
    Functions,
    /// What is one function whatever the build.
    Identities,
    Modules,
    Files,
    /// Threads or processes.
    Containers(events::Kind),
    /// The values of a label.
    Label(&'r str),
}

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A flag that is set.
    Flag,
    /// A number of rows.
    Count(u64),
    /// A percentage.
    Number(f64),
    /// A drill-down path, the name of a thread, a label, a word.
    Text(String),
    /// The functions that a filter fits, which were found before: in comparisons, for all runs together.
    Functions(Vec<i64>),
    /// For `by`: what a row is about, by what the identities of functions say, for comparisons: `module`, `file`, `thread`,
    /// `process`; `line` for lines, which are those of identities then.
    OfIdentities(String),
    /// What a path or the name of a thread means, found in the same way, with its text.
    Path(String, Path),
}

impl Request {
    /// Whether a parameter is given.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.argument(name).is_some()
    }

    pub(super) fn argument(&self, name: &str) -> Option<&Argument> {
        self.arguments
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value)
    }

    /// The text given for a parameter.
    pub(super) fn text_of(&self, name: &str) -> Option<&str> {
        match self.argument(name) {
            Some(Argument::Text(text)) => Some(text),
            _ => None,
        }
    }
}

/// What a filter does with the functions that it fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Filter {
    /// Only what happened below them is left.
    Focus,
    /// What happened below them is left out.
    Ignore,
    /// They are left out, and their cost goes to their callers.
    Hide,
}

impl Filter {
    const ALL: [Self; 3] = [Self::Focus, Self::Ignore, Self::Hide];

    /// Its name, which its flag and its parameter have, too.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Focus => "focus",
            Self::Ignore => "ignore",
            Self::Hide => "hide",
        }
    }
}

/// What comes first in a report that ranks its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    Cost,
    Calls,
    Average,
    Exclusive,
    Cumulative,
    Name,
}

/// Which lines of a function are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShownLines {
    /// Those that the profile tells something of.
    WithFigures,
    /// Those, and the others of its source.
    All,
}

/// What a filter fits.
#[derive(Debug)]
pub(super) enum Fits {
    /// Functions with such a name, module or file.
    Names(Regex),
    /// These functions.
    Functions(Vec<i64>),
}

/// A path or the name of a thread that is given.
#[derive(Clone, Copy, Debug)]
pub(super) struct Given<'q> {
    /// What the user wrote.
    pub text: &'q str,
    /// What it means, if that was found before.
    pub found: Option<&'q Path>,
}

/// A label that samples must have: its key, and its value unless any will do.
pub(super) type WantedLabel<'q> = (&'q str, Option<&'q str>);

/// Whose modules, files, threads and functions of lines are groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GroupNames {
    /// Those that the run has.
    OfRun,
    /// Those of the functions' identities, for comparisons.
    OfIdentities,
}

/// A question, as far as it can be understood without the names of the run. That it makes sense is
/// known before any statement runs.
#[derive(Debug)]
pub(super) struct Question<'q> {
    /// The engine for whose SQL the statement is shown, if it is not SQLite.
    pub dialect: Option<Dialect>,
    /// The report that answers.
    pub report: &'static Report,
    /// What its header says.
    pub header: &'static Header<'static>,
    /// The run.
    pub run: &'q RunInfo,
    /// The metric, with the total of the run as it is stored.
    pub metric: MetricInfo,
    /// The metric that counts how often the profiler's timer was read, if the run has one.
    pub readings: Option<MetricInfo>,
    /// What is added to a time for each reading of the timer, in ns.
    pub shift: f64,
    /// What has been subtracted from the times of the answer, in ns per reading of the timer;
    /// `None` if unknown.
    pub bias: Option<f64>,
    /// What is 100 %.
    pub base: Base,
    /// How names in paths are read.
    pub names: NameSyntax,
    /// What is counted as one.
    pub groups: Groups<'q>,
    /// Whose names groups have.
    pub group_names: GroupNames,
    /// Filters, with what they fit.
    pub filters: Vec<(Filter, Fits)>,
    /// The labels that samples must have.
    pub labels: Vec<WantedLabel<'q>>,
    /// The thread to look at.
    pub thread: Option<Given<'q>>,
    /// The drill-down path.
    pub path: Option<Given<'q>>,
    /// The cost asked for is the exclusive one.
    pub exclusive: bool,
    /// What comes first.
    pub sort: Sort,
    /// Only so many rows.
    pub first: Option<u64>,
    /// Only rows up to this running percentage.
    pub pct: Option<f64>,
    /// Running percentages are shown or asked for.
    pub runs_up: bool,
    /// Only so many levels.
    pub depth: Option<u64>,
    /// Only what makes up so much of the total, in percent.
    pub min_pct: Option<f64>,
    /// The source of lines is shown.
    pub code: bool,
    /// Which lines of a function are shown.
    pub lines: ShownLines,
}

impl<'q> Question<'q> {
    /// Understands a request.
    ///
    /// # Errors
    /// When it does not make sense for the report or the run.
    pub(super) fn new(
        report: &'static Report,
        run: &'q RunInfo,
        metrics: &[MetricInfo],
        request: &'q Request,
    ) -> Result<Self, ReportError> {
        let report = variant(report, request);
        let header = report.header();
        check_needs(header.needs, report.name, run)?;
        let metric = choose_metric(metrics, run, request.metric.as_deref())?;
        let readings = metrics.iter().find(|metric| metric.timer_readings).cloned();
        let shift = shift(header, run, &metric, readings.is_some(), request)?;
        let groups = groups(header, request)?;
        let group_names = match request.argument("by") {
            Some(Argument::OfIdentities(_)) => GroupNames::OfIdentities,
            _ => GroupNames::OfRun,
        };
        let labels = labels(header, request);
        let by_labels = matches!(groups, Groups::Label(_));
        if shift != 0.0 && (by_labels || !labels.is_empty()) {
            return Err(ReportError::Usage(
                "--bias: the costs of samples with labels are only known as measured".to_owned(),
            ));
        }
        if matches!(groups, Groups::Containers(_) | Groups::Label(_)) && !has_tree(run) {
            return Err(no_paths(run, "threads and labels need call paths"));
        }
        if matches!(groups, Groups::Containers(_) | Groups::Label(_)) && request.has("seen") {
            return Err(ReportError::Usage(
                "--seen applies to functions, modules and files; threads, processes and labels have no recursion".to_owned(),
            ));
        }
        let filters = filters(header, request)?;
        let thread = given(header, request, &Parameter::Thread)?;
        let path = given(header, request, &Parameter::Path)?;
        let count = |name: &str| match request.argument(name) {
            Some(Argument::Count(count)) => Some(*count),
            _ => default_of(header, name),
        };
        let percentage = |name: &str| match request.argument(name) {
            Some(Argument::Number(number)) => Some(*number),
            _ => default_of(header, name),
        };
        let (first, depth) = (count("first"), count("depth"));
        let (pct, min_pct) = (percentage("pct"), percentage("min_pct"));
        let is_set = |name: &str| request.argument(name).is_some();
        let exclusive = is_set("exclusive");
        let code = is_set("code") || shows_code(header);
        let is_wanted = |flag: &str| request.all_columns || is_set(flag);
        let runs_up = header
            .columns
            .iter()
            .any(|column| column.name == "cum_pct" && column.when.is_none_or(is_wanted));
        Ok(Self {
            dialect: request.dialect,
            bias: bias(run, request, shift),
            base: request.base,
            names: request.names,
            sort: sort(request),
            report,
            header,
            run,
            metric,
            readings,
            shift,
            groups,
            filters,
            labels,
            thread,
            path,
            group_names,
            exclusive,
            first,
            pct,
            runs_up: pct.is_some() || runs_up,
            depth,
            min_pct,
            code,
            lines: if is_set(ALL_LINES) {
                ShownLines::All
            } else {
                ShownLines::WithFigures
            },
        })
    }

    /// Whether nodes hold the costs of the metric themselves.
    pub(super) fn is_default_metric(&self) -> bool {
        self.run.default_metric.as_ref() == Some(&self.metric.name)
    }

    /// Whether the report shows a column.
    pub(super) fn shows(&self, name: &str) -> bool {
        self.header.columns.iter().any(|column| column.name == name)
    }

    /// Whether the report could leave something out because of its depth or threshold.
    pub(super) fn prunes(&self) -> bool {
        self.depth.is_some() || self.min_pct.is_some()
    }
}

/// Whether a report shows the source of lines without being asked to.
#[must_use]
pub fn shows_code(header: &Header<'_>) -> bool {
    let mut columns = header.columns.iter();
    columns.any(|column| column.shows == Some(Meaning::Code) && column.when.is_none())
}

/// Whether a run knows paths.
pub(super) fn has_tree(run: &RunInfo) -> bool {
    run.fidelity == "tree"
}

/// Refuses what needs paths.
pub(super) fn no_paths(run: &RunInfo, instead: &str) -> ReportError {
    ReportError::NothingSelected(format!("{} has no call paths; {instead}", run.said()))
}

/// What a parameter is when it is left out.
fn default_of<T: FromStr>(header: &Header<'_>, name: &str) -> Option<T> {
    let mut parameters = header.parameters.iter();
    parameters
        .find(|parameter| parameter.name == name)?
        .default?
        .parse()
        .ok()
}

/// The report that answers: a flag of kind VARIANT names another one.
fn variant(report: &'static Report, request: &Request) -> &'static Report {
    let header = report.header();
    let asked = header.parameters.iter().find(|parameter| {
        matches!(parameter.kind, Parameter::Variant(_))
            && request.argument(parameter.name).is_some()
    });
    match asked.map(|parameter| parameter.kind.clone()) {
        Some(Parameter::Variant(name)) => {
            by_name(name).expect("a test reads the variants of all reports")
        }
        _ => report,
    }
}

/// The metric of this name among those of the run; its default one without a name.
pub(crate) fn choose_metric(
    metrics: &[MetricInfo],
    run: &RunInfo,
    name: Option<&str>,
) -> Result<MetricInfo, ReportError> {
    let Some(wanted) = name.or(run.default_metric.as_deref()) else {
        return Err(ReportError::NothingSelected(format!(
            "{} has no costs",
            run.said()
        )));
    };
    let found = metrics
        .iter()
        .find(|metric| metric.name == *wanted)
        .cloned();
    found.ok_or_else(|| {
        let names: Vec<_> = metrics.iter().map(|metric| metric.name.as_str()).collect();
        let known = names.join(", ");
        ReportError::NothingSelected(format!(
            "{} has no metric `{wanted}`; it has {known}",
            run.said()
        ))
    })
}

/// Refuses a report that needs more than the run knows.
fn check_needs(needs: Needs, report: &str, run: &RunInfo) -> Result<(), ReportError> {
    let fidelity = run.fidelity.as_str();
    let enough = match needs {
        Needs::Nothing => true,
        Needs::Edges => fidelity != "flat",
        Needs::Tree | Needs::Labels => fidelity == "tree",
    };
    if enough {
        return Ok(());
    }
    let (known, instead) = match fidelity {
        "flat" => ("totals only", ""),
        _ => ("callers and callees, but no call paths", "calls, callees, "),
    };
    Err(ReportError::NothingSelected(format!(
        "report {report} needs {}; {} has {known}. Try {instead}summary{} or data",
        if needs == Needs::Edges {
            "callers"
        } else {
            "the call tree"
        },
        run.said(),
        if run.knows_lines { ", lines" } else { "" }
    )))
}

/// What is to be added to a time for each reading of the timer, in ns.
fn shift(
    header: &Header<'_>,
    run: &RunInfo,
    metric: &MetricInfo,
    has_readings: bool,
    request: &Request,
) -> Result<f64, ReportError> {
    let is_time = metric.unit == "ns";
    let Some(bias) = request.bias else {
        let raw = run
            .bias_applied
            // Adding what was subtracted gives times as they were measured.
            .filter(|_| header.raw_times && has_readings && is_time);
        return Ok(raw.unwrap_or(0.0));
    };
    let refuse = |reason: String| Err(ReportError::Usage(format!("--bias: {reason}")));
    let said = run.said();
    // A bias in ms is rounded otherwise than one in ns.
    let is_same =
        |applied: f64| (applied - bias * NANOSECONDS).abs() <= 2.0 * f64::EPSILON * applied.abs();
    match run.bias_applied.map(|applied| {
        if is_same(applied) {
            0.0
        } else {
            applied - bias * NANOSECONDS
        }
    }) {
        _ if !is_time => refuse(format!("metric {} is not a time", metric.name)),
        // The times are what is asked for, however often the timer was read.
        Some(0.0) => Ok(0.0),
        _ if !has_readings => refuse(format!(
            "{said} does not state the number of timer readings (ticks)"
        )),
        None => refuse(format!(
            "{said} does not state the bias that was already subtracted"
        )),
        Some(shift) => Ok(shift),
    }
}

/// What has been subtracted from the times of the answer, in ns per reading of the timer; `None` if
/// unknown.
fn bias(run: &RunInfo, request: &Request, shift: f64) -> Option<f64> {
    match request.bias {
        Some(bias) => Some(bias * NANOSECONDS),
        None if shift != 0.0 => Some(0.0),
        None => run.bias_applied,
    }
}

/// What the report is to count as one.
fn groups<'q>(header: &Header<'_>, request: &'q Request) -> Result<Groups<'q>, ReportError> {
    if let Some(Argument::OfIdentities(word)) = request.argument("by") {
        return Ok(groups_of(word));
    }
    let mut parameters = header.parameters.iter();
    let by = parameters.find_map(|parameter| match &parameter.kind {
        Parameter::Groups(words) => request.text_of(parameter.name).map(|text| (words, text)),
        _ => None,
    });
    let Some((words, text)) = by else {
        return Ok(Groups::Functions);
    };
    let key = text.strip_prefix(LABEL_KEY.trim_end_matches("KEY"));
    if !words.contains(&if key.is_some() { LABEL_KEY } else { text }) {
        return Err(ReportError::Usage(format!(
            "--by: expected {}, found {text}",
            words.join(", ")
        )));
    }
    Ok(key.map_or_else(|| groups_of(text), Groups::Label))
}

/// What a word says to count as one.
fn groups_of(word: &str) -> Groups<'_> {
    match word {
        "identity" => Groups::Identities,
        "module" => Groups::Modules,
        "file" => Groups::Files,
        "thread" => Groups::Containers(events::Kind::Thread),
        "process" => Groups::Containers(events::Kind::Process),
        _ => Groups::Functions,
    }
}

/// The labels that samples must have, as far as the report looks at them.
fn labels<'q>(header: &Header<'_>, request: &'q Request) -> Vec<WantedLabel<'q>> {
    let mut parameters = header.parameters.iter();
    let Some(parameter) = parameters.find(|parameter| parameter.kind == Parameter::Label) else {
        return Vec::new();
    };
    let given = request
        .arguments
        .iter()
        .filter(|(known, _)| *known == parameter.name);
    given
        .filter_map(|(_, value)| {
            let Argument::Text(text) = value else {
                return None;
            };
            Some(
                text.split_once('=')
                    .map_or((text.as_str(), None), |(key, value)| (key, Some(value))),
            )
        })
        .collect()
}

/// The filters that are given, as far as the report has them.
fn filters(header: &Header<'_>, request: &Request) -> Result<Vec<(Filter, Fits)>, ReportError> {
    let mut filters = Vec::new();
    for filter in Filter::ALL {
        let mut parameters = header.parameters.iter();
        if !parameters.any(|parameter| parameter.name == filter.name()) {
            continue;
        }
        match request.argument(filter.name()) {
            Some(Argument::Text(text)) => {
                let regex = regular_expression(text, filter.name())?;
                filters.push((filter, Fits::Names(regex)));
            }
            Some(Argument::Functions(functions)) => {
                filters.push((filter, Fits::Functions(functions.clone())));
            }
            _ => {}
        }
    }
    Ok(filters)
}

/// Reads a regular expression that a flag has given.
pub(crate) fn regular_expression(text: &str, flag: &str) -> Result<Regex, ReportError> {
    Regex::new(text).map_err(|error| {
        let error = error.to_string();
        // The lines before draw the expression with a mark below the place.
        let reason = error
            .lines()
            .last()
            .unwrap_or_default()
            .trim_start_matches("error: ");
        ReportError::Usage(format!(
            "--{flag}: {text} is not a regular expression: {reason}"
        ))
    })
}

/// What is given for the parameter of a kind, if the report has one.
fn given<'q>(
    header: &Header<'_>,
    request: &'q Request,
    kind: &Parameter<'_>,
) -> Result<Option<Given<'q>>, ReportError> {
    let mut parameters = header.parameters.iter();
    let Some(parameter) = parameters.find(|parameter| parameter.kind == *kind) else {
        return Ok(None);
    };
    match request.argument(parameter.name) {
        Some(Argument::Text(text)) => Ok(Some(Given { text, found: None })),
        Some(Argument::Path(text, path)) => Ok(Some(Given {
            text,
            found: Some(path),
        })),
        _ if !parameter.optional => Err(ReportError::Usage(format!(
            "the report needs --{}",
            parameter.name
        ))),
        _ => Ok(None),
    }
}

/// What comes first; the flag's words are those of the header.
fn sort(request: &Request) -> Sort {
    match request.text_of(SORT) {
        Some("calls") => Sort::Calls,
        Some("avg") => Sort::Average,
        Some("exclusive") => Sort::Exclusive,
        Some("cumulative") => Sort::Cumulative,
        Some("name") => Sort::Name,
        _ => Sort::Cost,
    }
}
