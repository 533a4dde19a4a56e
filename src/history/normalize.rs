//! Divisors that make the runs of a series comparable, as those of a comparison do.

use super::reading::{HistoryError, Measured};
use super::series::Series;
use crate::compare::{self, CompareError, ComparedRun, Normalize, share_of};
use crate::report::Argument;
use crate::store::Database;
use profdb_statistics::normalize::{FEWEST_IN_COMMON, factors_of_series};

/// Minimum part of the total of a function that tells how fast a machine was, if enough functions have as much.
const LEAST_SHARE: f64 = 0.001;

/// The divisors of the figures of some runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Divisors {
    /// The method that gave them.
    pub normalize: Normalize,
    /// One divisor for each run that has the metric.
    pub runs: Vec<f64>,
}

impl Divisors {
    /// Returns a figure of a run after the division: in percent where it is divided by the total.
    pub(super) fn divided(&self, run: usize, figure: f64) -> f64 {
        match self.normalize {
            // Equal shares are equal figures only if nothing rounds but the division.
            Normalize::Total => 100.0 * figure / self.runs[run],
            _ => figure / self.runs[run],
        }
    }

    /// Returns the name and the unit of figures that were divided.
    #[must_use]
    pub fn metric_and_unit(&self, measured: &Measured) -> (String, String) {
        match self.normalize {
            Normalize::Total => (share_of(&measured.metric), "%".to_owned()),
            _ => (measured.metric.clone(), measured.unit.clone()),
        }
    }
}

/// Finds what the figures of each run are divided by. Only what `arguments` leave of the runs counts. Returns `None` without
/// normalization.
///
/// # Errors
/// If a run has no total, no calls or no tag to be divided by, if too few functions are in all runs, and if the database cannot be
/// read.
pub fn divisors(
    database: &Database,
    series: &Series,
    measured: &Measured,
    normalize: &Normalize,
    arguments: &[(String, Argument)],
) -> Result<Option<Divisors>, HistoryError> {
    let read = || all_figures(database, measured, arguments);
    let (what, sizes): (_, Vec<f64>) = match normalize {
        Normalize::None => return Ok(None),
        Normalize::Total if arguments.is_empty() => {
            let totals = measured.runs.iter().map(|run| run.metric.total);
            ("its total, which is".to_owned(), totals.collect())
        }
        Normalize::Total => (
            "what is selected of it, which is".to_owned(),
            read()?.totals,
        ),
        Normalize::Calls => {
            let figures = read()?;
            let items = figures.items.len();
            let calls =
                |column: &compare::table::Column| (0..items).map(|row| column.calls_of(row)).sum();
            (
                "its calls, which are".to_owned(),
                figures.columns.iter().map(calls).collect(),
            )
        }
        Normalize::Tag(key) => (
            format!("its tag {key}, which is"),
            tags(series, measured, key)?,
        ),
        Normalize::Median => {
            let logs = factors_of_series(&in_common(&read()?)).map_err(CompareError::from)?;
            let logs = logs.ok_or_else(|| {
                HistoryError::NothingSelected(format!(
                    "--normalize median: expected at least {FEWEST_IN_COMMON} functions with a cost in every run; --normalize total compares shares"
                ))
            })?;
            let factors = logs.into_iter().map(f64::exp);
            ("its factor, which is".to_owned(), factors.collect())
        }
    };
    let mut runs = measured.runs.iter().zip(&sizes);
    if let Some((run, size)) = runs.find(|(_, size)| !size.is_finite() || **size <= 0.0) {
        let size = if size.is_nan() {
            "unknown".to_owned()
        } else {
            size.to_string()
        };
        return Err(HistoryError::NothingSelected(format!(
            "run {} cannot be divided by {what} {size}",
            run.run_id
        )));
    }
    Ok(Some(Divisors {
        normalize: normalize.clone(),
        runs: match normalize {
            Normalize::Calls | Normalize::Tag(_) => around_one(&sizes),
            _ => sizes,
        },
    }))
}

/// Sizes divided by their geometric mean, so that figures keep their unit and, on average, their size.
fn around_one(sizes: &[f64]) -> Vec<f64> {
    let logs: Vec<f64> = sizes.iter().map(|size| size.ln()).collect();
    let middle = profdb_statistics::mean(&logs);
    logs.into_iter().map(|log| (log - middle).exp()).collect()
}

/// The numbers in a tag of the runs.
fn tags(series: &Series, measured: &Measured, key: &str) -> Result<Vec<f64>, HistoryError> {
    let all: Vec<_> = series.runs().collect();
    let of_run = |run: &super::reading::MeasuredRun| {
        let marks = all.get(run.metric.run);
        let value = marks.and_then(|marks| marks.tag(key));
        let value = value.ok_or_else(|| {
            HistoryError::Usage(format!(
                "--normalize tag:{key}: run {} has no tag {key}: `profdb tag RUNS {key}=VALUE` and `import --tag` set it",
                run.run_id
            ))
        })?;
        value.parse::<f64>().map_err(|_| {
            HistoryError::Usage(format!(
                "--normalize tag:{key}: expected a number, run {} has {key}={value}",
                run.run_id
            ))
        })
    };
    measured.runs.iter().map(of_run).collect()
}

/// The figures of all functions in the runs.
fn all_figures(
    database: &Database,
    measured: &Measured,
    arguments: &[(String, Argument)],
) -> Result<compare::RunFigures, HistoryError> {
    let asked = compare::Request {
        arguments: arguments.to_vec(),
        ..compare::Request::default()
    };
    figures_of_runs(database, measured, asked)
}

/// Returns the figures of all runs that have the metric, as a comparison reads them.
pub(super) fn figures_of_runs(
    database: &Database,
    measured: &Measured,
    request: compare::Request,
) -> Result<compare::RunFigures, HistoryError> {
    let mut runs = Vec::new();
    for run in &measured.runs {
        let run = database.run(Some(run.run_id))?;
        runs.extend(run.map(|run| ComparedRun {
            database,
            run,
            tags: Vec::new(),
        }));
    }
    let request = compare::Request {
        metric: Some(measured.metric.clone()),
        ..request
    };
    compare::figures(&runs, &request).map_err(HistoryError::from)
}

/// The costs of the functions that have a cost in every run: of those that are large if there are enough, else of all.
fn in_common(found: &compare::RunFigures) -> Vec<Vec<f64>> {
    let row = |item: usize| -> Vec<f64> {
        let columns = found.columns.iter();
        columns.map(|column| column.costs[item]).collect()
    };
    let rows = (0..found.items.len()).map(row);
    let rows: Vec<Vec<f64>> = rows
        .filter(|row| row.iter().all(|cost| *cost > 0.0))
        .collect();
    let total: f64 = found.totals.iter().sum();
    let is_large = |row: &&Vec<f64>| row.iter().sum::<f64>() >= LEAST_SHARE * total;
    let large: Vec<Vec<f64>> = rows.iter().filter(is_large).cloned().collect();
    if large.len() < FEWEST_IN_COMMON {
        rows
    } else {
        large
    }
}

impl From<CompareError> for HistoryError {
    fn from(error: CompareError) -> Self {
        match error {
            CompareError::Usage(message) => Self::Usage(message),
            CompareError::NothingSelected(message) => Self::NothingSelected(message),
            CompareError::Store(error) => error.into(),
        }
    }
}
