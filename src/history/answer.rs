//! A history as an answer: columns and rows that every format can show.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value as Json, json};

use super::aliases::{Aliases, Key, Namesakes, lines as said_of, may_be_one};
use super::normalize::{Divisors, divisors};
use super::reading::{
    Figure, HistoryError, Measured, Subject, check_named, figures, measured, subjects,
};
use super::series::Series;
use super::sparkline::sparkline;
use crate::compare::order::Order;
use crate::compare::{Folders, Normalize, members_of_folders, normalized};
use crate::report::header::{Column, Kind, Meaning, Medium};
use crate::report::several::{ALL, PEOPLE, PROGRAMS, integer, of_module, optional, shown, text};
use crate::report::{self, Answer, Heading, Measure, Value, label_among};
use crate::store::{Database, Fitting, RunMarks};
use crate::text::judged::short_commit;
use crate::text::scale::figure;

/// Sparklines that stand above a table.
const MOST_LINES: usize = 10;

/// What a series of runs tells of some functions.
#[derive(Clone, Debug, PartialEq)]
pub struct History {
    /// The series.
    pub series: Series,
    /// Its runs with their metric.
    pub measured: Measured,
    /// What costs are of; `None` for the whole run.
    pub by: Option<Fitting>,
    /// What it is of, in the order in which it is shown: what cost most in the last run comes first.
    pub subjects: Vec<(Subject, Vec<Figure>)>,
    /// By name: modules and files of the functions of the series that have the name of a subject.
    pub(super) namesakes: Namesakes,
    /// Note for functions that are added up though the name tells them apart.
    pub note: Option<String>,
    /// Folders and modules that have another name in some runs, and are one.
    pub folders: Vec<Folders>,
    /// The divisors that make the runs comparable. The figures here are not divided yet.
    pub divisors: Option<Divisors>,
}

/// What a series tells of the functions, modules or files whose name fits a text; without a text, of whole runs.
///
/// # Errors
/// When there is no such thing, or no run has the metric, and when the database cannot be read.
pub fn history(
    database: &Database,
    series: Series,
    metric: Option<&str>,
    name: Option<(Fitting, &str)>,
) -> Result<History, HistoryError> {
    let measured = measured(database, &series, metric)?;
    let (subjects, aliases, note) = match name {
        Some((by, text)) => {
            let named = subjects(database, &measured, by, text)?;
            let (subjects, aliases) =
                named_subjects(database, &measured, by, text, named.subjects)?;
            (subjects, aliases, named.note)
        }
        None => (vec![whole_runs(&measured)], Aliases::default(), None),
    };
    let namesakes = match name {
        Some((Fitting::Function, _)) => {
            let names = subjects
                .iter()
                .map(|(subject, _)| subject.names[0].as_str());
            aliases.namesakes(database, &measured, names)?
        }
        _ => Namesakes::new(),
    };
    Ok(History {
        series,
        measured,
        by: name.map(|(by, _)| by),
        subjects,
        namesakes,
        note,
        folders: aliases.folders,
        divisors: None,
    })
}

/// The total of each run.
fn whole_runs(measured: &Measured) -> (Subject, Vec<Figure>) {
    let whole = measured.runs.iter().map(|run| Figure {
        calls: None,
        exclusive: run.metric.total,
        cumulative: Some(run.metric.total),
        functions: 0,
    });
    let subject = Subject {
        identity_id: None,
        names: Default::default(),
        functions: Vec::new(),
    };
    (subject, whole.collect())
}

fn named_subjects(
    database: &Database,
    measured: &Measured,
    by: Fitting,
    text: &str,
    subjects: Vec<Subject>,
) -> Result<(Subjects, Aliases), HistoryError> {
    let metrics = measured.metrics();
    let mut usual = Vec::new();
    for run in &measured.runs {
        usual.push(
            database
                .usual_metric(run.run_id)?
                .unwrap_or(run.metric.metric_id),
        );
    }
    let read = |subjects: Vec<Subject>| -> Result<Subjects, HistoryError> {
        let mut found = Vec::new();
        for subject in subjects {
            let mut own = figures(database, &metrics, &subject.functions)?;
            // A metric has no row of a function without a cost: the usual metric of the run knows its calls.
            if usual != metrics && own.iter().any(|figure| figure.functions == 0) {
                let all = figures(database, &usual, &subject.functions)?;
                for (figure, usual) in own.iter_mut().zip(all) {
                    if figure.functions == 0 {
                        figure.calls = usual.calls;
                        figure.functions = usual.functions;
                    }
                }
            }
            found.push((subject, own));
        }
        // Functions of other programs in the database are none of this series.
        found.retain(|(_, figures)| figures.iter().any(|figure| figure.functions > 0));
        Ok(found)
    };
    let mut found = read(subjects)?;
    let lacks = |figures: &[Figure]| figures.iter().any(|figure| figure.functions == 0);
    let rows = found.iter();
    let mut rows = rows.map(|(subject, figures)| (&subject.names, lacks(figures)));
    let mut aliases = Aliases::default();
    // To find the folders takes the figures of all functions.
    if may_be_one(by, &mut rows) {
        let all = Aliases::read(database, measured)?;
        if !all.folders.is_empty() {
            let subjects = found.into_iter().map(|(subject, _)| subject);
            found = read(as_one(database, by, subjects.collect(), &all)?)?;
            aliases = all;
        }
    }
    if found.is_empty() {
        return Err(HistoryError::NothingSelected(format!(
            "no run of the series has a cost of the {} {text} in {}",
            by.name(),
            measured.metric,
        )));
    }
    let names = found.iter().map(|(subject, _)| &subject.names);
    check_named(database, measured, by, names)?;
    let last = |figures: &[Figure]| figures.last().map_or(0.0, |figure| figure.exclusive);
    found.sort_by(|(_, one), (_, other)| last(other).total_cmp(&last(one)));
    Ok((found, aliases))
}

/// Subjects with their figures, run by run.
type Subjects = Vec<(Subject, Vec<Figure>)>;

/// Subjects as the newest run calls them, each with all functions that are one with its own.
fn as_one(
    database: &Database,
    by: Fitting,
    subjects: Vec<Subject>,
    places: &Aliases,
) -> Result<Vec<Subject>, HistoryError> {
    let named: BTreeSet<i64> = subjects
        .into_iter()
        .flat_map(|subject| subject.functions)
        .collect();
    let all: Vec<(i64, Key)> = database
        .fitting_functions(by, "*", None)?
        .iter()
        .map(|function| {
            let key = places.key(by, function.identity_id, &function.names);
            (function.function_id, key)
        })
        .collect();
    let wanted = all.iter().filter(|(function, _)| named.contains(function));
    let wanted: BTreeSet<&Key> = wanted.map(|(_, key)| key).collect();
    let mut functions: BTreeMap<&Key, Vec<i64>> = BTreeMap::new();
    for (function, key) in all.iter().filter(|(_, key)| wanted.contains(key)) {
        functions.entry(key).or_default().push(*function);
    }
    let subject = |((identity_id, names), functions): (&Key, Vec<i64>)| Subject {
        identity_id: *identity_id,
        names: names.clone(),
        functions,
    };
    let mut one: Vec<Subject> = functions.into_iter().map(subject).collect();
    one.sort_by(|one, other| (&one.names, one.identity_id).cmp(&(&other.names, other.identity_id)));
    Ok(one)
}

impl History {
    /// Makes the runs comparable.
    ///
    /// # Errors
    /// If a run cannot be divided, and if the database cannot be read.
    pub fn normalize(
        &mut self,
        database: &Database,
        normalize: &Normalize,
    ) -> Result<(), HistoryError> {
        self.divisors = divisors(database, &self.series, &self.measured, normalize, &[])?;
        Ok(())
    }

    /// Returns the name and the unit of the figures that are shown.
    #[must_use]
    pub fn shown(&self) -> (String, String) {
        match &self.divisors {
            Some(divisors) => divisors.metric_and_unit(&self.measured),
            None => (self.measured.metric.clone(), self.measured.unit.clone()),
        }
    }

    /// Returns the history with all figures divided.
    fn divided(&self) -> Self {
        let mut divided = self.clone();
        let Some(divisors) = &self.divisors else {
            return divided;
        };
        (divided.measured.metric, divided.measured.unit) = self.shown();
        for (at, run) in divided.measured.runs.iter_mut().enumerate() {
            run.metric.total = divisors.divided(at, run.metric.total);
        }
        for (_, figures) in &mut divided.subjects {
            for (at, figure) in figures.iter_mut().enumerate() {
                figure.exclusive = divisors.divided(at, figure.exclusive);
                figure.cumulative = figure.cumulative.map(|cost| divisors.divided(at, cost));
            }
        }
        divided
    }

    /// The cost of a subject at each position that has the metric: the median of its repeats. The first is a position's number.
    #[must_use]
    pub fn positions(&self, figures: &[Figure]) -> Vec<(usize, f64)> {
        let mut positions: Vec<(usize, Vec<f64>)> = Vec::new();
        for (run, figure) in self.measured.runs.iter().zip(figures) {
            match positions.last_mut() {
                Some((position, costs)) if *position == run.position => {
                    costs.push(figure.exclusive);
                }
                _ => positions.push((run.position, vec![figure.exclusive])),
            }
        }
        let median = |(position, mut costs): (usize, Vec<f64>)| {
            costs.sort_by(f64::total_cmp);
            let middle = costs.len() / 2;
            let median = if costs.len() % 2 == 1 {
                costs[middle]
            } else {
                f64::midpoint(costs[middle - 1], costs[middle])
            };
            (position, median)
        };
        positions.into_iter().map(median).collect()
    }
}

/// The columns: name, kind, where.
const COLUMNS: &[(&str, Kind, &[Medium])] = &[
    ("run_id", Kind::Count, PROGRAMS),
    ("run", Kind::Count, PEOPLE),
    ("position", Kind::Any, PROGRAMS),
    ("commit_id", Kind::Text, PROGRAMS),
    ("branch", Kind::Text, PROGRAMS),
    ("host", Kind::Text, PROGRAMS),
    ("recorded_at", Kind::Text, PROGRAMS),
    ("recorded_utc", Kind::Text, PROGRAMS),
    (AT, Kind::Text, PEOPLE),
    ("commit", Kind::Text, PEOPLE),
    ("metric", Kind::Text, PROGRAMS),
    ("unit", Kind::Text, PROGRAMS),
    ("function", Kind::Text, PROGRAMS),
    ("module", Kind::Text, PROGRAMS),
    ("file", Kind::Text, PROGRAMS),
    (NAMED, Kind::Name, PEOPLE),
    ("calls", Kind::Any, ALL),
    ("exclusive", Kind::Cost, PROGRAMS),
    (OWN, Kind::Cost, PEOPLE),
    ("exclusive_pct", Kind::Percent, PROGRAMS),
    (SHARE, Kind::Percent, PEOPLE),
    ("cumulative", Kind::Cost, PROGRAMS),
    (WHOLE, Kind::Cost, PEOPLE),
    ("cumulative_pct", Kind::Percent, PROGRAMS),
    (SHARE, Kind::Percent, PEOPLE),
    ("total", Kind::Cost, PROGRAMS),
    (TOTAL, Kind::Cost, PEOPLE),
    ("functions", Kind::Count, PROGRAMS),
    ("identity_id", Kind::Any, PROGRAMS),
];

/// The column that shows what the order is by; its title says what that is.
const AT: &str = "at";

/// The column with names for people.
const NAMED: &str = "named";

/// Columns of costs for people: of functions themselves, with what they called, of whole runs; and shares of the last.
const OWN: &str = "own";
const WHOLE: &str = "whole";
const TOTAL: &str = "of the run";
const SHARE: &str = "%";

/// The answer of a history.
#[must_use]
pub fn answer<'d>(database: &'d Database, history: &History) -> Answer<'d> {
    let history = &history.divided();
    let order = history.series.order;
    let commits = history.series.runs().any(|run| run.tag("commit").is_some());
    let is_shown = |name: &str| match name {
        NAMED => history.by.is_some() && history.subjects.len() > 1,
        "commit" => commits,
        TOTAL => history.by.is_none(),
        OWN | WHOLE | SHARE => history.by.is_some(),
        _ => true,
    };
    let columns = COLUMNS.iter().map(|(name, kind, media)| {
        let title = match *name {
            AT => order.name(),
            NAMED => history.by.map_or(NAMED, Fitting::name),
            name => name,
        };
        Column {
            media: if is_shown(name) {
                media.to_vec()
            } else {
                Vec::new()
            },
            shows: match *name {
                OWN => Some(Meaning::Own),
                WHOLE => Some(Meaning::Whole),
                TOTAL => Some(Meaning::Cumulative),
                _ => None,
            },
            optional: *name == "calls" || *media == PEOPLE,
            // The start of a commit's name is short as it is.
            is_whole: *name == "commit",
            ..Column::plain(title.to_owned(), *kind)
        }
    });
    let runs: Vec<&RunMarks> = {
        let all: Vec<&RunMarks> = history.series.runs().collect();
        let places = history.measured.runs.iter().map(|run| run.metric.run);
        places.filter_map(|place| all.get(place).copied()).collect()
    };
    let mut rows = Vec::new();
    for (subject, figures) in &history.subjects {
        let label = named(history, subject);
        for ((marks, run), figure) in runs.iter().zip(&history.measured.runs).zip(figures) {
            let total = run.metric.total;
            rows.push(values(history, subject, &label, marks, total, figure));
        }
    }
    report::compared(database, heading(history), columns.collect(), rows)
}

/// The name of a subject for people.
fn named(history: &History, subject: &Subject) -> String {
    let [function, module, file] = &subject.names;
    match history.by {
        None => "total".to_owned(),
        Some(Fitting::Function) => of_module(function, module).unwrap_or_else(|| {
            let namesakes = history.namesakes.get(function);
            let label = label_among(&subject.names, namesakes.into_iter().flatten());
            shown(&label).to_owned()
        }),
        Some(Fitting::Module) => shown(module).to_owned(),
        Some(Fitting::File) => shown(file).to_owned(),
    }
}

fn values(
    history: &History,
    subject: &Subject,
    label: &str,
    run: &RunMarks,
    total: f64,
    figure: &Figure,
) -> Vec<Value> {
    let measured = &history.measured;
    let percent = |cost: f64| match 100.0 * cost / total {
        share if share.is_finite() => Value::Real(share),
        _ => Value::Null,
    };
    let share = percent(figure.exclusive);
    let whole = figure.cumulative.map_or(Value::Null, percent);
    let cumulative = figure.cumulative.map_or(Value::Null, Value::Real);
    let commit = run.tag("commit");
    let count = run.tag(Order::CommitCount.name());
    let count = count.and_then(|count| count.parse::<i64>().ok());
    let [function, module, file] = &subject.names;
    vec![
        Value::Integer(run.run_id),
        Value::Integer(run.run_id),
        integer(count),
        optional(commit),
        optional(run.tag("branch")),
        optional(run.tag("host")),
        optional(run.recorded_at.as_deref()),
        optional(run.recorded_utc.as_deref()),
        text(&at(history.series.order, run)),
        optional(commit.map(short_commit)),
        text(&measured.metric),
        text(&measured.unit),
        text(function),
        text(module),
        text(file),
        text(label),
        integer(figure.calls),
        Value::Real(figure.exclusive),
        Value::Real(figure.exclusive),
        share.clone(),
        share,
        cumulative.clone(),
        cumulative,
        whole.clone(),
        whole,
        Value::Real(total),
        Value::Real(total),
        Value::Integer(figure.functions),
        integer(subject.identity_id),
    ]
}

/// What the order of a run is by, for people.
fn at(order: Order, run: &RunMarks) -> String {
    let known = match order {
        Order::CommitCount | Order::CommitTime => run.tag(order.name()),
        Order::RecordedAt => run.recorded_utc.as_deref(),
        Order::ImportedAt => Some(run.imported_at.as_str()),
        Order::RunId => return run.run_id.to_string(),
    };
    let known = known.unwrap_or_default();
    // Fractions of seconds say nothing to people.
    match (order, known.split_once('.')) {
        (Order::RecordedAt, Some((seconds, _))) => format!("{seconds}Z"),
        _ => known.to_owned(),
    }
}

fn heading(history: &History) -> Heading {
    let measured = &history.measured;
    let costs = history.subjects.iter().flat_map(|(_, figures)| figures);
    let largest = costs
        .map(|figure| {
            figure
                .cumulative
                .unwrap_or(figure.exclusive)
                .max(figure.exclusive)
        })
        .fold(0.0, f64::max);
    Heading {
        measure: Measure {
            name: measured.metric.clone(),
            unit: measured.unit.clone(),
            total: largest,
            selected: None,
        },
        beside: Vec::new(),
        lines: lines(history),
        members: members(history),
    }
}

/// A number of things, as it is said.
pub(super) fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

/// What the runs of a series have in common, as it is said.
pub(super) fn key_of(series: &Series) -> String {
    let key = series.key.iter().filter(|(_, value)| !value.is_empty());
    let key: Vec<String> = key.map(|(key, value)| format!("{key}={value}")).collect();
    if key.is_empty() {
        "all".to_owned()
    } else {
        key.join(", ")
    }
}

/// What stands above a table.
fn lines(history: &History) -> Vec<String> {
    let Measured {
        metric, unit, runs, ..
    } = &history.measured;
    let mut lines = vec![format!(
        "Series: {}; {} at {}, in the order of {}",
        key_of(&history.series),
        counted(runs.len(), "run"),
        counted(history.series.positions.len(), "position"),
        history.series.order.name(),
    )];
    for (subject, figures) in history.subjects.iter().take(MOST_LINES) {
        let costs: Vec<f64> = history
            .positions(figures)
            .into_iter()
            .map(|(_, cost)| cost)
            .collect();
        let (bars, each) = sparkline(&costs);
        let low = costs.iter().copied().fold(f64::INFINITY, f64::min);
        let high = costs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let each = if each > 1 {
            format!(", a bar for {each} positions")
        } else {
            String::new()
        };
        let exclusive = if history.by.is_some() {
            ", exclusive"
        } else {
            ""
        };
        lines.push(format!(
            "{}{exclusive}: {bars}  {} .. {}{each}",
            named(history, subject),
            figure(metric, unit, low),
            figure(metric, unit, high),
        ));
    }
    let more = history.subjects.len().saturating_sub(MOST_LINES);
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines.extend(said_of(&history.folders));
    lines
}

/// What files for programs say of the history as a whole.
fn members(history: &History) -> Map<String, Json> {
    let measured = &history.measured;
    let key: Map<String, Json> = history
        .series
        .key
        .iter()
        .map(|(key, value)| (key.clone(), json!(value)))
        .collect();
    let positions: Vec<Json> = history
        .series
        .positions
        .iter()
        .map(|position| {
            let runs: Vec<i64> = position.runs.iter().map(|run| run.run_id).collect();
            json!({"commit_id": position.commit, "runs": runs, "recordings": position.recordings()})
        })
        .collect();
    let mut members = Map::new();
    let mut put = |name: &str, value: Json| members.insert(name.to_owned(), value);
    put("report", json!("history"));
    put("series", Json::Object(key));
    put("order", json!(history.series.order.name()));
    put("metric", json!(measured.metric));
    put("unit", json!(measured.unit));
    let normalize = history
        .divisors
        .as_ref()
        .map(|divisors| &divisors.normalize);
    put(
        "normalize",
        json!(normalized(normalize.unwrap_or(&Normalize::None))),
    );
    put("noise", json!(measured.noise().name()));
    put("left_out", json!(measured.left_out));
    put("positions", json!(positions));
    for (name, listed) in members_of_folders(&history.folders) {
        put(name, listed);
    }
    members
}
