//! Steps of the functions of a series: where did anything change?
//!
//! Each function is a series of own costs, one at each position; what is no noise in it ([`profdb_statistics::steps`]) is corrected
//! for the number of functions that were searched. Steps of one place that make up for each other are one change of the code, and
//! none of its cost.

mod answer;
mod change;
mod filtered;
mod matrix;
mod request;
mod shifts;

pub use answer::{answer, with_steps};
pub use change::{Change, Judged, State, Steps};
pub use request::{Request, Since};

use super::aliases::Namesakes;
use super::answer::History;
use super::normalize::divisors;
use super::reading::{Figure, HistoryError, check_named, figures, measured, subjects};
use super::series::Series;
use crate::store::{Database, Fitting};
use change::{change, follow_profiler, follow_total, rates};
use filtered::filtered_rows;
use matrix::{Frame, Row, Samples, Sparse, rows};
use profdb_statistics::steps::{Findings, Limits, find_steps};

/// Finds the steps of a series.
///
/// # Errors
/// When no run has the metric, nothing fits the name, and when the database cannot be read.
pub fn steps(database: &Database, series: Series, request: Request) -> Result<Steps, HistoryError> {
    let measured = measured(database, &series, request.metric.as_deref())?;
    let mut frame = Frame::new(&series, &measured, request.noise);
    let since = since(&series, &frame, &request)?;
    let divisors = divisors(
        database,
        &series,
        &measured,
        &request.normalize,
        &request.arguments,
    )?;
    let named = request.name.as_deref();
    let named = named.map(|text| subjects(database, &measured, request.by, text));
    let named = named.transpose()?;
    let wanted = named.as_ref().map(|named| named.subjects.as_slice());
    let (mut rows, aliases) = if request.arguments.is_empty() {
        rows(database, &measured, &frame, request.by, wanted)?
    } else {
        filtered_rows(database, &measured, &mut frame, &request, wanted)?
    };
    if let (true, Some(text)) = (rows.is_empty(), &request.name) {
        return Err(HistoryError::NothingSelected(format!(
            "no run of the series has an exclusive cost of the {} {text} in {}",
            request.by.name(),
            measured.metric,
        )));
    }
    let is_named = named.as_ref().is_some_and(|named| named.is_name);
    if let Some(divisors) = &divisors {
        frame.divide(divisors);
        for row in &mut rows {
            row.divide(divisors);
        }
    }
    let names = rows.iter().map(|row| &row.names);
    check_named(database, &measured, request.by, names)?;
    let count = rows.len();
    let searched: Vec<Row> = rows
        .into_iter()
        .filter(|row| is_named || frame.mean_share(row) >= request.min_share)
        .collect();
    let tested = searched.len();
    let mut changes = search(&frame, &searched, &request);
    drop(searched);
    // What filters leave of a function is not what its callers are known to have passed on.
    if request.by == Fitting::Function && request.arguments.is_empty() {
        shifts::mark(
            database,
            &measured,
            &frame,
            &aliases,
            &mut changes,
            request.alpha,
        )?;
    }
    // The whole run is one more series, at a level of its own.
    let mut total = search(&frame, &[frame.total()], &request).swap_remove(0);
    follow_profiler(&mut total, &series, &frame.positions);
    for change in &mut changes {
        follow_profiler(change, &series, &frame.positions);
        follow_total(change, &total);
    }
    for change in changes.iter_mut().chain([&mut total]) {
        change.steps.retain(|judged| judged.step.latest >= since);
    }
    let blind_below = middle_sight(&changes);
    let is_wanted = |change: &Change| {
        request.all || is_named || !change.steps.is_empty() || change.drift.is_some()
    };
    changes.retain(is_wanted);
    changes.sort_by(|one, other| other.size().total_cmp(&one.size()));
    let names = changes.iter().map(|change| change.names[0].as_str());
    let namesakes = match request.by {
        Fitting::Function => aliases.namesakes(database, &measured, names)?,
        Fitting::Module | Fitting::File => Namesakes::new(),
    };
    let shown = match &divisors {
        Some(divisors) => divisors.metric_and_unit(&measured),
        None => (measured.metric.clone(), measured.unit.clone()),
    };
    Ok(Steps {
        shown,
        noise: frame.noise,
        positions: frame.positions,
        request,
        series,
        measured,
        tested,
        rows: count,
        blind_below,
        total,
        changes,
        folders: aliases.folders,
        namesakes: namesakes.into_values().flatten().collect(),
        note: named.and_then(|named| named.note),
    })
}

/// What is found in each subject of a history, in its order.
///
/// # Errors
/// When the database cannot be read.
pub fn of_history(
    database: &Database,
    history: &History,
    request: &Request,
) -> Result<Vec<Change>, HistoryError> {
    let mut frame = Frame::new(&history.series, &history.measured, request.noise);
    let divisors = history.divisors.as_ref();
    if let Some(divisors) = divisors {
        frame.divide(divisors);
    }
    let sparse = |figures: &[Figure]| -> Sparse {
        let costs = figures.iter().map(|figure| figure.exclusive);
        (0..).zip(costs).collect()
    };
    let mut rows = Vec::new();
    for (subject, costs) in &history.subjects {
        let mut row = Row {
            names: subject.names.clone(),
            identity_id: subject.identity_id,
            costs: sparse(costs),
            samples: Vec::new(),
        };
        match &frame.samples {
            // Those of a whole run are no sum over its functions that would be looked up.
            _ if history.by.is_none() => {}
            Samples::Observations(observations) => {
                row.samples = sparse(&figures(database, observations, &subject.functions)?);
            }
            _ => frame.count(&mut row),
        }
        if let Some(divisors) = divisors {
            row.divide(divisors);
        }
        rows.push(row);
    }
    Ok(search(&frame, &rows, request))
}

/// What is found in rows that are searched together.
fn search(frame: &Frame, rows: &[Row], request: &Request) -> Vec<Change> {
    let limits = Limits {
        alpha: request.alpha,
        min_effect: request.min_effect,
        tests: rows.len(),
    };
    let found: Vec<(Vec<f64>, Findings)> = rows
        .iter()
        .map(|row| {
            let points = frame.points(row);
            let found = find_steps(&points, frame.kind(row), &limits);
            (points.iter().map(|point| point.value).collect(), found)
        })
        .collect();
    let rates = rates(found.iter().map(|(_, found)| found));
    rows.iter()
        .zip(found)
        .zip(rates)
        .map(|((row, (costs, found)), rates)| change(row, costs, found, &rates, request))
        .collect()
}

/// The smallest ratio of a step that would have been seen in half of the rows.
fn middle_sight(changes: &[Change]) -> Option<f64> {
    let sight = |change: &Change| change.blind_below.unwrap_or(f64::INFINITY);
    let mut all: Vec<f64> = changes.iter().map(sight).collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2)
        .copied()
        .filter(|ratio| ratio.is_finite())
}

/// The first position that is wanted, as places of steps are counted.
fn since(series: &Series, frame: &Frame, request: &Request) -> Result<usize, HistoryError> {
    let name = match &request.since {
        None => return Ok(0),
        Some(Since::Last(count)) => return Ok(frame.positions.len().saturating_sub(*count)),
        Some(Since::Commit(name)) => name,
    };
    let is_it = |position: &usize| {
        let commit = series.positions[*position].commit.as_deref();
        commit.is_some_and(|commit| commit.starts_with(name.as_str()))
    };
    let mut places = (0..frame.positions.len()).filter(|place| is_it(&frame.positions[*place]));
    match (places.next(), places.next()) {
        (Some(place), None) => Ok(place),
        (Some(_), Some(_)) => Err(HistoryError::Usage(format!(
            "several commits of the series begin with {name}; give --since more characters"
        ))),
        (None, _) => Err(HistoryError::NothingSelected(format!(
            "no commit of the series begins with {name}; --since takes a commit, or a number of positions from the end"
        ))),
    }
}
