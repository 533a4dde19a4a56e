//! Rows that are made when they are asked for.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use crate::base::interner::Id;
use crate::events::MetricId;

/// How many rows ahead memory is asked for what they are made from.
const AHEAD: usize = 16;

/// Makes the rows of one kind: each has a metric and a place among the others of that metric.
pub(super) trait RowSource<T>: Send + Sync {
    /// The row at a place, if there is one.
    fn row(&self, metric: MetricId, at: usize) -> Option<T>;

    /// Says that the row at a place will be made soon.
    fn prefetch(&self, metric: MetricId, at: usize);
}

/// Rows that are made one by one. What they are made from is small; all of them at once would take
/// more memory than the rest of an import.
pub struct Rows<T> {
    source: Arc<dyn RowSource<T>>,
    metrics: usize,
    each: usize,
}

impl<T> Rows<T> {
    /// Rows of so many metrics, with so many places in each.
    pub(super) fn new(source: Arc<dyn RowSource<T>>, metrics: usize, each: usize) -> Self {
        Self {
            source,
            metrics,
            each,
        }
    }

    /// All rows, metric by metric.
    pub fn iter(&self) -> impl Iterator<Item = T> {
        (0..self.metrics).flat_map(|metric| self.of_metric(metric).map(|(_, row)| row))
    }

    /// How many rows there are at most in one metric.
    pub(crate) fn each(&self) -> usize {
        self.each
    }

    /// Says that a row will be asked for soon.
    pub(crate) fn prefetch(&self, metric: usize, at: usize) {
        self.source.prefetch(MetricId::new(metric), at);
    }

    /// The row of a metric at a place, if there is one.
    pub fn get(&self, metric: usize, at: usize) -> Option<T> {
        self.source.row(MetricId::new(metric), at)
    }

    /// The rows of one metric with their places.
    pub fn of_metric(&self, metric: usize) -> impl Iterator<Item = (usize, T)> {
        (0..self.each).filter_map(move |at| Some((at, self.get(metric, at)?)))
    }

    /// All rows in the order of their keys. Keys start with the metric, and no two rows have equal
    /// ones.
    pub fn sorted_by_key<K: Ord>(&self, key: impl Fn(&T) -> K) -> impl Iterator<Item = (K, T)> {
        (0..self.metrics).flat_map(move |metric| {
            let mut sorted: Vec<(K, usize)> = self
                .of_metric(metric)
                .map(|(at, row)| (key(&row), at))
                .collect();
            // Not by `sort_unstable_by_key`, whose keys cannot be borrowed from what is sorted.
            // Unstable is enough: no two keys are equal.
            sorted.sort_unstable_by(|(left, _), (right, _)| left.cmp(right));
            let mut soon: VecDeque<usize> = sorted.iter().skip(AHEAD).map(|(_, at)| *at).collect();
            sorted.into_iter().filter_map(move |(key, at)| {
                soon.pop_front()
                    .into_iter()
                    .for_each(|soon| self.prefetch(metric, soon));
                // The row is made a second time: to keep the first would be to keep all rows.
                Some((key, self.get(metric, at)?))
            })
        })
    }
}

impl<T: fmt::Debug> fmt::Debug for Rows<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
