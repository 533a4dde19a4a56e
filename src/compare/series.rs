//! Figures of many runs that are not compared with each other: what a comparison would read of each.

use super::comparison::noise_of;
use super::grouped::pair_containers;
use super::items::Item;
use super::metrics::choose;
use super::pairs::Folders;
use super::reading::{Read, read, read_whole};
use super::request::{CompareError, Request};
use super::run::ComparedRun;
use super::sequence::{by_known, by_sequence};
use super::table::{Column, Table};

/// What runs cost, in so far as it is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct RunFigures {
    /// What the figures are of.
    pub items: Vec<Item>,
    /// Those of each run, item by item.
    pub columns: Vec<Column>,
    /// What the filters leave of each run; without filters its total.
    pub totals: Vec<f64>,
    /// Folders and modules that have another name in some runs, and are one.
    pub folders: Vec<Folders>,
}

/// The figures of runs, one at least and the oldest first, of one metric. Which functions a filter fits is decided for all runs
/// together.
///
/// # Errors
/// When a run does not have the metric, nothing is selected, or a database cannot be read.
pub fn figures(runs: &[ComparedRun<'_>], request: &Request) -> Result<RunFigures, CompareError> {
    // Folders are taken for one from the newest run to the oldest.
    let sides = [runs.iter().rev().collect(), Vec::new()];
    let chosen = choose(&sides, request)?;
    let noise = noise_of(&chosen, request);
    let folders = match read_whole(&sides, &chosen, &[], noise, request)? {
        Some(mut whole) => by_sequence(&mut whole.table, noise),
        None => Vec::new(),
    };
    let Read {
        mut table,
        selected,
        ..
    } = read(
        &sides,
        &chosen,
        &[],
        noise,
        request,
        &folders,
        &mut Vec::new(),
    )?;
    by_known(&mut table, &folders);
    pair_containers(&mut table, &folders, &request.by);
    let Table {
        items,
        columns: [mut columns, _],
        ..
    } = table;
    let mut totals = if let Some([selected, _]) = selected {
        selected
    } else {
        let totals = chosen[0].iter().map(|chosen| chosen.metric.total);
        totals.collect()
    };
    columns.reverse();
    totals.reverse();
    Ok(RunFigures {
        items,
        columns,
        totals,
        folders,
    })
}
