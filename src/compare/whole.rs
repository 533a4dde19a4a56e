//! What the functions of whole runs cost, added up by identity: own costs, and costs with everything called.
//!
//! Every run has both of each function. Own costs of several functions of one identity are added up; costs with everything called
//! are not, as they may call each other: they are counted where no function of the identity encloses the node. Of a run without
//! paths there are bounds.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::{HashMap, HashSet};

use super::bounds::Bounds;
use super::items::{Dictionary, Items};
use super::run::ComparedRun;
use super::table::{Column, Metrics, grow};
use crate::base::sum::Sum;
use crate::store::{Below, FunctionSum, FunctionSums, StoreError};

/// Which costs of functions are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Costs {
    /// Their own.
    Own,
    /// Those with everything called.
    WithCalled,
}

/// The costs of every function of a run whose metric has a total, added up by identity; and the items of which they are unknown.
pub(super) fn whole_costs(
    run: &ComparedRun<'_>,
    metrics: Metrics,
    total: f64,
    asked: Costs,
    sums: &FunctionSums<'_>,
    dictionary: &mut Dictionary,
    items: &mut Items,
) -> Result<(Column, BTreeSet<usize>), StoreError> {
    let of = |metric: i64, items: &mut Items, dictionary: &mut Dictionary| {
        let mut found: Vec<FunctionSum> = Vec::new();
        sums.each(metric, |sum| found.push(*sum))?;
        let functions = found.iter().map(|sum| sum.function_id);
        dictionary.find_all(run, metric, functions, items)?;
        Ok::<_, StoreError>(found)
    };
    let mut column = Column::default();
    let mut unknown = BTreeSet::new();
    let costs = of(metrics.cost, items, dictionary)?;
    column.fill(items.len());
    let has_calls = metrics.calls == metrics.cost;
    if asked == Costs::WithCalled {
        unknown = with_called(
            run,
            metrics.cost,
            total,
            &costs,
            dictionary,
            items,
            &mut column,
        )?;
    }
    if asked == Costs::Own || has_calls {
        dictionary.each_item(run, items, &costs, |item, sum| {
            if asked == Costs::Own {
                column.add_cost(item, sum.exclusive.unwrap_or(0.0));
            }
            if has_calls {
                column.add_calls(item, sum.calls);
            }
        })?;
    }
    if !has_calls {
        let calls = of(metrics.calls, items, dictionary)?;
        column.fill(items.len());
        dictionary.each_item(run, items, &calls, |item, sum| {
            column.add_calls(item, sum.calls);
        })?;
    }
    column.samples = match metrics.samples {
        None => None,
        Some(samples) if samples == metrics.cost => Some(column.costs.clone()),
        Some(samples) => {
            let counted = of(samples, items, dictionary)?;
            let mut counts = Column::default();
            counts.fill(items.len());
            match asked {
                Costs::Own => dictionary.each_item(run, items, &counted, |item, sum| {
                    counts.add_cost(item, sum.exclusive.unwrap_or(0.0));
                })?,
                Costs::WithCalled => {
                    let all = f64::INFINITY;
                    with_called(run, samples, all, &counted, dictionary, items, &mut counts)?;
                }
            }
            Some(counts.costs)
        }
    };
    Ok((column, unknown))
}

/// Puts into a column what functions cost with everything called, or its bounds; the items of which neither is known.
fn with_called(
    run: &ComparedRun<'_>,
    metric: i64,
    total: f64,
    sums: &[FunctionSum],
    dictionary: &Dictionary,
    items: &mut Items,
    column: &mut Column,
) -> Result<BTreeSet<usize>, StoreError> {
    let mut functions = vec![0_u32; items.len()];
    dictionary.each_item(run, items, sums, |item, _| {
        grow(&mut functions, item, 0);
        functions[item] += 1;
    })?;
    let mut unknown = BTreeSet::new();
    let mut several: BTreeMap<usize, Bounds> = BTreeMap::new();
    let mut item_of: HashMap<i64, usize> = HashMap::new();
    let mut own = 0.0;
    dictionary.each_item(run, items, sums, |item, sum| {
        own += sum.exclusive.unwrap_or(0.0);
        if functions[item] > 1 {
            let bounds = several.entry(item).or_default();
            bounds.add(sum.exclusive, sum.cumulative);
            item_of.insert(sum.function_id, item);
            return;
        }
        column.add_cost(item, sum.cumulative.unwrap_or(0.0));
        if sum.cumulative.is_none() {
            unknown.insert(item);
        }
    })?;
    if several.is_empty() {
        return Ok(unknown);
    }
    if run.run.fidelity == "tree" {
        let found = by_paths(run, metric, &item_of)?;
        for item in several.into_keys() {
            match found.get(&item) {
                Some(cost) => column.add_cost(item, cost.value()),
                None => {
                    unknown.insert(item);
                }
            }
        }
        return Ok(unknown);
    }
    // Some profilers state a total that is not that of what they list.
    let total = total.max(own);
    for (item, bounds) in several {
        match bounds.of(total) {
            Some((low, high)) => column.bound(item, low, high),
            None => {
                unknown.insert(item);
            }
        }
    }
    Ok(unknown)
}

/// What items cost with everything called that are several functions of a run, by its paths; none of those of which no node knows it.
fn by_paths(
    run: &ComparedRun<'_>,
    metric: i64,
    item_of: &HashMap<i64, usize>,
) -> Result<HashMap<usize, Sum>, StoreError> {
    let mut found: HashMap<usize, Sum> = HashMap::new();
    // Items that enclose the node, and the depth of the outermost node that is of each.
    let mut enclosing: HashSet<usize> = HashSet::new();
    let mut outermost: Vec<(usize, usize)> = Vec::new();
    run.database
        .each_wanted_call(run.run.run_id, metric, |node| {
            while let Some((_, item)) = outermost.pop_if(|(depth, _)| *depth >= node.depth) {
                enclosing.remove(&item);
            }
            if let Some(item) = item_of.get(&node.function_id)
                && enclosing.insert(*item)
            {
                outermost.push((node.depth, *item));
                if let Some(cost) = node.cumulative {
                    found.entry(*item).or_default().add(cost);
                }
            }
            Ok::<_, StoreError>(Below::Wanted)
        })?;
    Ok(found)
}
