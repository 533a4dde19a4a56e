//! What several functions cost with everything they call where a run knows no paths: bounds.
//!
//! They may call each other, so that their costs cannot be added up. Together they cost at least what the costliest of them
//! does, and what they cost themselves; at most what they cost one by one, and the total. Either of them as an estimate would be
//! low by an eighth or high by a quarter on average.

use std::collections::{BTreeMap, BTreeSet};

use super::grouped::of_group;
use super::items::Dictionary;
use super::request::{By, Request};
use super::run::ComparedRun;
use super::table::Column;
use crate::store::{MetricInfo, StoreError};

/// Puts bounds into a column for rows whose cost a run does not know; those for which it has none.
pub(super) fn bounds(
    run: &ComparedRun<'_>,
    metric: &MetricInfo,
    unknown: BTreeMap<usize, [String; 3]>,
    dictionary: &Dictionary,
    request: &Request,
    column: &mut Column,
) -> Result<BTreeSet<usize>, StoreError> {
    // What filters leave of a function is not known, nor whom it called on which line.
    let part = match &request.by {
        _ if unknown.is_empty() || !request.cumulative || !request.arguments.is_empty() => None,
        By::Group(word) if matches!(word.as_str(), "module" | "file") => Some(word),
        _ => None,
    };
    let Some(word) = part else {
        return Ok(unknown.into_keys().collect());
    };
    let items: BTreeMap<&[String; 3], usize> =
        unknown.iter().map(|(item, names)| (names, *item)).collect();
    let (mut found, mut own) = (BTreeMap::<usize, Bounds>::new(), 0.0);
    run.database.each_function_sum(metric.metric_id, |sum| {
        let Some(identity) = dictionary
            .learnt(sum.function_id)
            .filter(|identity| identity.is_code())
        else {
            return;
        };
        own += sum.exclusive.unwrap_or(0.0);
        if let Some(item) = items.get(&of_group(word, &identity.names)) {
            found
                .entry(*item)
                .or_default()
                .add(sum.exclusive, sum.cumulative);
        }
    })?;
    // Some profilers state a total that is not that of what they list.
    let total = metric.total.max(own);
    let mut without = BTreeSet::new();
    for item in unknown.into_keys() {
        match found.get(&item).and_then(|found| found.of(total)) {
            Some((low, high)) => column.bound(item, low, high),
            None => {
                without.insert(item);
            }
        }
    }
    Ok(without)
}

/// The part of a cost by which sums of the same figures in another order may differ.
const SAME: f64 = 1e-12;

/// What some functions cost, as far as a run tells.
#[derive(Default)]
pub(super) struct Bounds {
    exclusive: f64,
    largest: f64,
    sum: f64,
    is_unknown: bool,
}

impl Bounds {
    /// Adds a function.
    pub(super) fn add(&mut self, exclusive: Option<f64>, cumulative: Option<f64>) {
        match cumulative.or(exclusive) {
            None => self.is_unknown = true,
            Some(cost) => {
                self.exclusive += exclusive.unwrap_or(0.0);
                self.largest = self.largest.max(cost);
                self.sum += cost;
                self.is_unknown |= cumulative.is_none();
            }
        }
    }

    /// The least and the most that they cost together in a run with a total.
    pub(super) fn of(&self, total: f64) -> Option<(f64, f64)> {
        let low = self.exclusive.max(self.largest);
        let high = self.sum.min(total).max(low);
        // Sums round.
        let high = if high - low <= SAME * high { low } else { high };
        (!self.is_unknown).then_some((low, high))
    }
}
