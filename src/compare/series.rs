//! Figures of many runs that are not compared with each other: what a comparison would read of each.

use super::comparison::noise_of;
use super::metrics::choose;
use super::reading::{Read, read};
use super::request::{CompareError, Request};
use super::run::ComparedRun;
use super::table::{Column, Item};

/// What runs cost, in so far as it is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct RunFigures {
    /// What the figures are of.
    pub items: Vec<Item>,
    /// Those of each run, item by item.
    pub columns: Vec<Column>,
    /// What the filters leave of each run; without filters its total.
    pub totals: Vec<f64>,
}

/// The figures of runs, one at least, of one metric. Which functions a filter fits is decided for all runs together.
///
/// # Errors
/// When a run does not have the metric, nothing is selected, or a database cannot be read.
pub fn figures(runs: &[ComparedRun<'_>], request: &Request) -> Result<RunFigures, CompareError> {
    let sides = [runs.iter().collect(), Vec::new()];
    let chosen = choose(&sides, request)?;
    let noise = noise_of(&chosen, request);
    let Read {
        table, selected, ..
    } = read(&sides, &chosen, &[], noise, request, &[], &mut Vec::new())?;
    let [columns, _] = table.columns;
    let totals = if let Some([selected, _]) = selected {
        selected
    } else {
        let totals = chosen[0].iter().map(|chosen| chosen.metric.total);
        totals.collect()
    };
    Ok(RunFigures {
        items: table.items,
        columns,
        totals,
    })
}
