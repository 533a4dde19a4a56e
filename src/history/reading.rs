//! Figures of functions over the runs of a series.
//!
//! What a few functions cost is looked up in each run; what all cost is read run by run. A function that a run does not mention cost
//! nothing in it: rows of it are left out in what is read of all functions, and are zeros in what is read of some.

use hashbrown::{HashMap, HashSet};

use super::series::Series;
use crate::events::Noise;
use crate::report::{self, SpelledInRuns};
use crate::store::{Database, Fitting, IdentifiedFunction, MetricOfRun, StoreError};
use crate::text::nearest::suggestion;

/// Why there is no history.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// The question makes no sense; the text says what was expected.
    #[error("{0}")]
    Usage(String),
    /// There is nothing of the kind; the text says what was expected.
    #[error("{0}")]
    NothingSelected(String),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The runs of a series that have a metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The name of the metric.
    pub metric: String,
    /// Its unit: `ns`, `bytes` or `count`.
    pub unit: String,
    /// The runs, in the order of the series.
    pub runs: Vec<MeasuredRun>,
    /// Numbers of runs of the series that do not have the metric.
    pub left_out: Vec<i64>,
}

/// A run of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasuredRun {
    /// Its number.
    pub run_id: i64,
    /// Which position of the series it is of.
    pub position: usize,
    /// Its metric. `run` is the place of the run in the series.
    pub metric: MetricOfRun,
}

impl Measured {
    /// Returns the numbers of the runs, in their order.
    #[must_use]
    pub fn run_ids(&self) -> Vec<i64> {
        self.runs.iter().map(|run| run.run_id).collect()
    }

    /// The metrics of the runs, in their order.
    #[must_use]
    pub fn metrics(&self) -> Vec<i64> {
        self.runs.iter().map(|run| run.metric.metric_id).collect()
    }

    /// How the figures vary: as those of the least certain run.
    #[must_use]
    pub fn noise(&self) -> Noise {
        Noise::common(self.runs.iter().map(|run| run.metric.noise))
    }
}

/// The metric of a series: that which is asked for, else the usual one of its last run, in every run that has it in this unit.
///
/// # Errors
/// When no run has it, and when the database cannot be read.
pub fn measured(
    database: &Database,
    series: &Series,
    metric: Option<&str>,
) -> Result<Measured, HistoryError> {
    let runs: Vec<(i64, usize)> = series
        .positions
        .iter()
        .enumerate()
        .flat_map(|(position, runs)| runs.runs.iter().map(move |run| (run.run_id, position)))
        .collect();
    // The last run that has such a metric says what it is; if none has, what the last run lacks is said.
    let (mut wanted, mut lacking) = (None, None);
    for (run_id, _) in runs.iter().rev() {
        let Some(run) = database.run(Some(*run_id))? else {
            continue;
        };
        match report::choose_metric(&database.metrics(*run_id)?, &run, metric) {
            Ok(found) => {
                wanted = Some(found);
                break;
            }
            Err(error) => lacking = lacking.or(Some(error.to_string())),
        }
    }
    let wanted = wanted.ok_or_else(|| {
        HistoryError::NothingSelected(lacking.unwrap_or_else(|| "the runs are gone".to_owned()))
    })?;
    let numbers: Vec<i64> = runs.iter().map(|(run_id, _)| *run_id).collect();
    let metrics = database.metrics_of_runs(&numbers, [&wanted.name, &wanted.unit])?;
    let mut left_out = Vec::new();
    let mut with = metrics.into_iter().peekable();
    let mut measured = Vec::new();
    for (at, (run_id, position)) in runs.into_iter().enumerate() {
        match with.next_if(|metric| metric.run == at) {
            Some(metric) => measured.push(MeasuredRun {
                run_id,
                position,
                metric,
            }),
            None => left_out.push(run_id),
        }
    }
    Ok(Measured {
        metric: wanted.name,
        unit: wanted.unit,
        runs: measured,
        left_out,
    })
}

/// What something cost in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figure {
    /// How often it was called; `None` if unknown.
    pub calls: Option<i64>,
    /// Its own cost.
    pub exclusive: f64,
    /// Cost with what it called; `None` if unknown, or of several functions.
    pub cumulative: Option<f64>,
    /// How many functions of the run are added up; 0 if the run mentions none.
    pub functions: i64,
}

/// What some functions together cost in each of some metrics.
///
/// # Errors
/// When the database cannot be read.
pub fn figures(
    database: &Database,
    metrics: &[i64],
    functions: &[i64],
) -> Result<Vec<Figure>, StoreError> {
    let nothing = Figure {
        calls: Some(0),
        cumulative: Some(0.0),
        ..Figure::default()
    };
    let mut figures = vec![nothing; metrics.len()];
    database.each_figure(metrics, functions, |at, calls, exclusive, cumulative| {
        let Some(figure) = figures.get_mut(at) else {
            return;
        };
        figure.calls = figure
            .calls
            .zip(calls)
            .and_then(|(one, other)| one.checked_add(other));
        figure.exclusive += exclusive.unwrap_or(0.0);
        // They may call each other.
        figure.cumulative = cumulative.filter(|_| figure.functions == 0);
        figure.functions += 1;
    })?;
    Ok(figures)
}

/// What all functions cost in some metrics, added up by their identities.
#[derive(Clone, Debug, PartialEq)]
pub struct AllFigures {
    /// The identities that have a cost, in the order of their names.
    pub identities: Vec<IdentityCosts>,
}

/// What an identity cost.
#[derive(Clone, Debug, PartialEq)]
pub struct IdentityCosts {
    /// Its number.
    pub identity_id: i64,
    /// Its name, module and file.
    pub names: [String; 3],
    /// It stands for all code of the module that has no name.
    pub is_unnamed: bool,
    /// Which of the metrics mention it, in their order, and its own cost there.
    pub exclusive: Vec<(u32, f64)>,
}

/// What every identity cost in each of some metrics.
///
/// # Errors
/// When the database cannot be read.
pub fn all_figures(database: &Database, metrics: &[i64]) -> Result<AllFigures, StoreError> {
    let functions = database.identified_functions()?;
    let mut place_of: HashMap<i64, usize> = HashMap::with_capacity(functions.len());
    let mut of_identity: HashMap<i64, usize> = HashMap::new();
    let mut identities: Vec<IdentityCosts> = Vec::new();
    for function in functions {
        let place = *of_identity
            .entry(function.identity_id)
            .or_insert(identities.len());
        if place == identities.len() {
            identities.push(IdentityCosts {
                identity_id: function.identity_id,
                names: function.names,
                is_unnamed: function.is_unnamed,
                exclusive: Vec::new(),
            });
        }
        place_of.insert(function.function_id, place);
    }
    for (at, metric) in (0..).zip(metrics) {
        database.each_function_sum(*metric, |sum| {
            let Some(identity) = place_of
                .get(&sum.function_id)
                .and_then(|place| identities.get_mut(*place))
            else {
                return;
            };
            let cost = sum.exclusive.unwrap_or(0.0);
            match identity.exclusive.last_mut() {
                Some((last, sum)) if *last == at => *sum += cost,
                _ => identity.exclusive.push((at, cost)),
            }
        })?;
    }
    identities.retain(|identity| !identity.exclusive.is_empty());
    identities.sort_by(|one, other| {
        (&one.names, one.identity_id).cmp(&(&other.names, other.identity_id))
    });
    Ok(AllFigures { identities })
}

/// What a history is of: functions that are added up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The number of the identity; `None` of a module or file.
    pub identity_id: Option<i64>,
    /// Name, module and file; what the functions do not have in common is empty.
    pub names: [String; 3],
    /// Numbers of the functions.
    pub functions: Vec<i64>,
}

/// Functions, modules or files that a text names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedSubjects {
    /// Subjects in the order of their names.
    pub subjects: Vec<Subject>,
    /// The text is a name, not a pattern: no threshold hides its subjects.
    pub is_name: bool,
    /// Note for functions that are added up though the text tells them apart.
    pub note: Option<String>,
}

/// Returns the functions, modules or files of the measured runs that a text names: those of exactly this name, else functions
/// of this name and place, else those that match the text as a pattern with `*` and `?`. Quotes make a name literal.
///
/// # Errors
/// When nothing does, and when the database cannot be read.
pub fn subjects(
    database: &Database,
    measured: &Measured,
    by: Fitting,
    text: &str,
) -> Result<NamedSubjects, HistoryError> {
    let runs = measured.run_ids();
    let fitting = |pattern: &str| database.fitting_functions(by, pattern, Some(&runs));
    let quoted = ['\'', '"'].into_iter().find_map(|quote| {
        let name = text.strip_prefix(quote)?.strip_suffix(quote)?;
        Some(name.replace(&format!("{quote}{quote}"), &quote.to_string()))
    });
    let mut found = NamedSubjects {
        is_name: true,
        ..NamedSubjects::default()
    };
    let mut functions = fitting(&literal(text))?;
    if let (true, Some(name)) = (functions.is_empty(), &quoted) {
        functions = fitting(&literal(name))?;
    }
    if functions.is_empty() && by == Fitting::Function {
        let text = quoted.as_deref().unwrap_or(text);
        let spelled = SpelledInRuns::of(runs.iter().map(|run| (database, *run)), text)?;
        let spelled_functions = spelled.found().iter().flat_map(|(_, functions)| functions);
        let wanted: HashSet<i64> = spelled_functions.copied().collect();
        if !wanted.is_empty() {
            let all = fitting("*")?;
            let is_wanted = |function: &&IdentifiedFunction| wanted.contains(&function.function_id);
            let identities: HashSet<i64> = all
                .iter()
                .filter(is_wanted)
                .map(|function| function.identity_id)
                .collect();
            found.note = spelled.note(all.iter().map(|function| &function.names));
            functions = all;
            functions.retain(|function| identities.contains(&function.identity_id));
        }
    }
    if functions.is_empty() && quoted.is_none() && text.contains(['*', '?']) {
        functions = fitting(&text.replace('[', "[[]"))?;
        found.is_name = false;
    }
    if functions.is_empty() {
        return Err(unknown(by, text, quoted.as_deref(), &fitting("*")?));
    }
    found.subjects = grouped(by, functions);
    Ok(found)
}

/// Returns why no function, module or file of the runs has a name.
fn unknown(
    by: Fitting,
    text: &str,
    quoted: Option<&str>,
    all: &[IdentifiedFunction],
) -> HistoryError {
    let (what, hint) = match by {
        Fitting::Function if text.contains([',', '>']) => {
            ("function", "; history takes functions, not paths")
        }
        by => (by.name(), ""),
    };
    let name = |function: &IdentifiedFunction| {
        let [name, module, file] = &function.names;
        match by {
            Fitting::Function => name.clone(),
            Fitting::Module => module.clone(),
            Fitting::File => file.clone(),
        }
    };
    let mut names: Vec<String> = all
        .iter()
        .map(name)
        .filter(|name| !name.is_empty())
        .collect();
    if names.is_empty() {
        let names = all.iter().map(|function| &function.names);
        if let Err(error) = check_groups(by, "these runs", names) {
            return error;
        }
    }
    names.sort();
    names.dedup();
    let nearest = suggestion("; the nearest: ", quoted.unwrap_or(text), names);
    // A name in quotes is one whatever it has: signs in it fit only themselves.
    let patterns = match (quoted, nearest.is_empty()) {
        (None, _) => ": * matches any text, ? any character",
        (Some(_), true) => "",
        (Some(_), false) => ": quotes make a name literal",
    };
    HistoryError::NothingSelected(format!(
        "no run of the series has the {what} {text}{hint}{patterns}{nearest}"
    ))
}

/// Refuses a history of modules or files where no function of the series has one.
///
/// # Errors
/// When that is so, and when the database cannot be read.
pub(super) fn check_named<'n>(
    database: &Database,
    measured: &Measured,
    by: Fitting,
    mut names: impl Iterator<Item = &'n [String; 3]>,
) -> Result<(), HistoryError> {
    if by == Fitting::Function
        || names.any(|[_, module, file]| !(module.is_empty() && file.is_empty()))
    {
        return Ok(());
    }
    // Only those without a module or file may have been asked for.
    let all = all_figures(database, &measured.metrics())?.identities;
    check_groups(by, "these runs", all.iter().map(|identity| &identity.names))
}

/// Refuses modules or files where no function has one.
fn check_groups<'n>(
    by: Fitting,
    whose: &str,
    names: impl Iterator<Item = &'n [String; 3]>,
) -> Result<(), HistoryError> {
    let (mut has_modules, mut has_files) = (false, false);
    for [_, module, file] in names {
        has_modules |= !module.is_empty();
        has_files |= !file.is_empty();
    }
    let is_known = match by {
        Fitting::Function => true,
        Fitting::Module => has_modules,
        Fitting::File => has_files,
    };
    if is_known {
        return Ok(());
    }
    let what = by.name();
    Err(HistoryError::NothingSelected(format!(
        "no function of {whose} has a {what}: {}",
        report::groups_instead(what, has_modules, has_files)
    )))
}

/// A pattern of `GLOB` that one text fits.
pub(super) fn literal(text: &str) -> String {
    let mut pattern = String::new();
    for character in text.chars() {
        match character {
            '*' | '?' | '[' => pattern.extend(['[', character, ']']),
            character => pattern.push(character),
        }
    }
    pattern
}

fn grouped(by: Fitting, found: Vec<IdentifiedFunction>) -> Vec<Subject> {
    let mut subjects: Vec<Subject> = Vec::new();
    let mut places: HashMap<(Option<i64>, String), usize> = HashMap::new();
    for function in found {
        let [name, module, file] = function.names;
        let (identity_id, key, names) = match by {
            Fitting::Function => (
                Some(function.identity_id),
                String::new(),
                [name, module, file],
            ),
            Fitting::Module => (None, module.clone(), [String::new(), module, String::new()]),
            Fitting::File => (None, file.clone(), [String::new(), String::new(), file]),
        };
        let place = *places.entry((identity_id, key)).or_insert(subjects.len());
        if place == subjects.len() {
            subjects.push(Subject {
                identity_id,
                names,
                functions: Vec::new(),
            });
        }
        subjects[place].functions.push(function.function_id);
    }
    subjects.sort_by(|one, other| {
        (&one.names, one.identity_id).cmp(&(&other.names, other.identity_id))
    });
    subjects
}
