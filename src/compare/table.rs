//! What is compared: a row for each function or group that any run has, a column for each run.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;

use super::items::{Item, Items};
use super::matched::Matched;
use crate::base::sum::Sum;
use crate::events::ROUNDING;
use profdb_statistics::{Figures, Sides};

/// What one run says of every item.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Column {
    /// Cost in the unit of the metric.
    pub costs: Vec<f64>,
    /// Number of samples, where it is known; in a whole table, scaled to the run with the largest cost per sample.
    pub samples: Option<Vec<f64>>,
    /// The cost divided by the largest mean cost per sample of all runs: the number of samples if all had the same cost. It is empty
    /// where samples are unknown, and until the table is whole.
    pub alike: Vec<f64>,
    /// Calls; NaN where they are unknown. None if the run knows them of no function.
    pub calls: Vec<f64>,
    /// Functions of the run that were added up.
    pub functions: Vec<u32>,
    /// Items whose cost is only known to lie between two figures, of which `costs` has the smaller one.
    pub bounds: BTreeMap<usize, (f64, f64)>,
}

/// A row of which some run only knows between which figures its cost lies.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bounded {
    /// What it is about.
    pub item: Item,
    /// The least and the most that it costs in every run of base and of new.
    pub bounds: [Vec<(f64, f64)>; 2],
    /// Calls in all runs together; `None` where a run does not know.
    pub calls: [Option<f64>; 2],
    /// The most functions of one run that are one row.
    pub functions: u32,
    /// True for a row that a run of base and a run of new have.
    pub present: [bool; 2],
}

/// All figures that are compared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// What the rows are about.
    pub items: Vec<Item>,
    /// The runs of base, and those of new.
    pub columns: [Vec<Column>; 2],
    /// Earlier runs, which tell how figures vary where there is one run on each side; those of the newest position first.
    pub history: Vec<Column>,
    /// Where each item is that was read: rows are joined later.
    rows: Vec<usize>,
}

/// The row of an item that has been left out.
const NO_ROW: usize = usize::MAX;

/// Which metrics of a run are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metrics {
    /// That of the costs.
    pub cost: i64,
    /// That which counts samples.
    pub samples: Option<i64>,
    /// The default one, which has the calls of every function.
    pub calls: i64,
}

/// Makes room for an item.
pub(super) fn grow<T: Clone>(values: &mut Vec<T>, item: usize, with: T) {
    if values.len() <= item {
        values.resize(item + 1, with);
    }
}

impl Column {
    /// Adds to the cost of an item.
    pub(super) fn add_cost(&mut self, item: usize, cost: f64) {
        grow(&mut self.costs, item, 0.0);
        self.costs[item] += cost;
    }

    /// Takes back what was added to the cost of an item, which is unknown.
    pub(super) fn forget_cost(&mut self, item: usize) {
        if let Some(cost) = self.costs.get_mut(item) {
            *cost = 0.0;
        }
    }

    /// Adds to the calls of an item; one unknown number makes the sum unknown.
    pub(super) fn add_calls(&mut self, item: usize, calls: Option<u64>) {
        grow(&mut self.calls, item, 0.0);
        grow(&mut self.functions, item, 0);
        #[expect(clippy::cast_precision_loss, reason = "a figure of a report")]
        let calls = calls.map_or(f64::NAN, |calls| calls as f64);
        self.calls[item] += calls;
        self.functions[item] += 1;
    }

    /// Counts a function of an item.
    pub(super) fn count(&mut self, item: usize) {
        if let Some(functions) = self.functions.get_mut(item) {
            *functions += 1;
        }
    }

    /// Notes between which figures the cost of an item lies.
    pub(super) fn bound(&mut self, item: usize, low: f64, high: f64) {
        self.add_cost(item, low);
        if low < high {
            self.bounds.insert(item, (low, high));
        }
    }

    /// The least and the most that an item costs.
    fn range(&self, item: usize) -> (f64, f64) {
        let cost = self.costs[item];
        self.bounds.get(&item).copied().unwrap_or((cost, cost))
    }

    /// Returns how often an item was called; NaN if that is unknown.
    #[must_use]
    pub fn calls_of(&self, item: usize) -> f64 {
        match self.calls.get(item) {
            Some(calls) => *calls,
            None if self.functions[item] == 0 => 0.0,
            None => f64::NAN,
        }
    }

    /// Leaves out calls if none are known: sampling profilers do not count them.
    fn drop_unknown_calls(&mut self) {
        let mut known = self.calls.iter().zip(&self.functions);
        if known.all(|(calls, functions)| calls.is_nan() || *functions == 0) {
            self.calls = Vec::new();
        }
    }

    /// Gives every list the length of the items; what was not seen has no cost, and was not called.
    pub(super) fn fill(&mut self, items: usize) {
        self.costs.resize(items, 0.0);
        self.calls.resize(items, 0.0);
        self.functions.resize(items, 0);
        if let Some(samples) = &mut self.samples {
            samples.resize(items, 0.0);
        }
    }

    /// Puts what it says of one item to what it says of another.
    fn join(&mut self, from: usize, to: usize) {
        if !self.bounds.is_empty() {
            let ((low, high), (least, most)) = (self.range(from), self.range(to));
            self.bounds.insert(to, (low + least, high + most));
        }
        self.costs[to] += self.costs[from];
        if !self.calls.is_empty() {
            self.calls[to] += self.calls[from];
        }
        self.functions[to] += self.functions[from];
        if let Some(samples) = &mut self.samples {
            samples[to] += samples[from];
        }
        if !self.alike.is_empty() {
            self.alike[to] += self.alike[from];
        }
    }

    /// Keeps some items, in their order.
    fn keep(&mut self, kept: &[usize]) {
        fn chosen<T: Copy>(values: &[T], kept: &[usize]) -> Vec<T> {
            kept.iter().map(|item| values[*item]).collect()
        }
        if !self.bounds.is_empty() {
            let bounds = kept.iter().enumerate().filter_map(|(row, item)| {
                let (low, high) = self.bounds.get(item)?;
                (low < high).then_some((row, (*low, *high)))
            });
            self.bounds = bounds.collect();
        }
        self.costs = chosen(&self.costs, kept);
        if !self.calls.is_empty() {
            self.calls = chosen(&self.calls, kept);
        }
        self.functions = chosen(&self.functions, kept);
        self.samples = self.samples.as_ref().map(|samples| chosen(samples, kept));
        if !self.alike.is_empty() {
            self.alike = chosen(&self.alike, kept);
        }
    }
}

impl Table {
    /// Puts the columns side by side.
    pub(super) fn new(
        items: Items,
        mut columns: [Vec<Column>; 2],
        mut history: Vec<Column>,
    ) -> Self {
        // Sums round by their order, which so must not be that in which runs or functions came into a database.
        let (mut items, order) = items.in_order();
        for column in columns.iter_mut().flatten().chain(&mut history) {
            column.fill(items.len());
            column.drop_unknown_calls();
            column.keep(&order);
        }
        let mut rows = vec![0; items.len()];
        for (row, item) in order.iter().enumerate() {
            rows[*item] = row;
        }
        Self {
            items: order
                .iter()
                .map(|item| Item {
                    names: std::mem::take(&mut items[*item].names),
                    ..items[*item]
                })
                .collect(),
            columns,
            history,
            rows,
        }
    }

    /// A table of one run on each side, of which only costs are known.
    pub(super) fn of_costs(items: Vec<Item>, costs: [Vec<f64>; 2]) -> Self {
        let rows = (0..items.len()).collect();
        let columns = costs.map(|costs| {
            vec![Column {
                functions: vec![0; costs.len()],
                costs,
                ..Column::default()
            }]
        });
        Self {
            items,
            columns,
            history: Vec::new(),
            rows,
        }
    }

    /// Returns the rows that no threshold hides.
    pub(super) fn asked(&self) -> Vec<usize> {
        let rows = 0..self.items.len();
        rows.filter(|row| self.items[*row].is_asked).collect()
    }

    /// The row in which an item is that was read.
    pub(super) fn row(&self, item: usize) -> Option<usize> {
        let row = self.rows.get(item).copied();
        row.filter(|row| *row != NO_ROW)
    }

    /// Weighs the samples of all runs by the run whose samples cost most: a profiler that takes ten times as many sees no ten
    /// times as much.
    pub(super) fn weigh_samples(&mut self) {
        let per_cost = |column: &Column| {
            let samples: f64 = column.samples.iter().flatten().sum();
            let cost: f64 = column.costs.iter().sum();
            Some(samples / cost).filter(|ratio| ratio.is_finite() && *ratio > 0.0)
        };
        let fewest = self
            .every_column()
            .filter_map(|column| per_cost(column))
            .min_by(f64::total_cmp);
        for column in self.every_column() {
            let of_run = per_cost(column);
            let Some(samples) = &mut column.samples else {
                continue;
            };
            let (Some(fewest), Some(of_run)) = (fewest, of_run) else {
                column.alike.clone_from(samples);
                continue;
            };
            column.alike = column.costs.iter().map(|cost| cost * fewest).collect();
            for (count, cost) in samples.iter_mut().zip(&column.costs) {
                // V8 counts samples in two lists, of which one may miss the only sample of a function.
                let least = if *cost > 0.0 { 1.0 } else { 0.0 };
                *count = if *count == 0.0 { least } else { *count } * fewest / of_run;
            }
        }
    }

    /// The effective sample size of an item divided by the sum of its `alike`. It is less than 1 where the samples of the item cost more
    /// than others. Samples in proportion to costs, times this weight, have the ratio of the costs and the variance of the samples.
    ///
    /// The effective sample size of weighted samples is the squared sum of weights by the sum of squared weights (Kish 1965, "Survey
    /// Sampling"). Only sums of each run are known, so that the samples of one run have equal weights here.
    fn weight_of_samples(&self, item: usize) -> f64 {
        let (mut costs, mut squares) = (Sum::default(), Sum::default());
        let columns = self.columns.iter().flatten().chain(&self.history);
        for column in columns {
            let (count, of_cost) = match &column.samples {
                Some(counts) => (counts[item], column.alike[item]),
                None => (0.0, 0.0),
            };
            // What was taken away from a profile is below 0.
            if count < 0.0 || of_cost < 0.0 {
                return 1.0;
            }
            if of_cost > 0.0 {
                costs.add(of_cost);
                squares.add(of_cost * of_cost / count);
            }
        }
        let weight = costs.value() / squares.value();
        // Costs are rounded in files: a weight that differs from 1 by no more than that is 1.
        if weight.is_finite() && (weight - 1.0).abs() > ROUNDING {
            weight
        } else {
            1.0
        }
    }

    fn every_column(&mut self) -> impl Iterator<Item = &mut Column> {
        self.columns.iter_mut().flatten().chain(&mut self.history)
    }

    /// How many runs a side has.
    #[must_use]
    pub fn runs(&self, side: usize) -> usize {
        self.columns[side].len()
    }

    /// What an item cost in all runs of a side together.
    #[must_use]
    pub fn cost(&self, side: usize, item: usize) -> f64 {
        self.columns[side]
            .iter()
            .map(|column| column.costs[item])
            .sum()
    }

    /// Makes one row of pairs of rows, each of an item of base and one of new.
    pub(super) fn join(&mut self, pairs: &[(usize, usize)], matched: Matched) {
        if pairs.is_empty() {
            return;
        }
        let mut is_kept = vec![true; self.items.len()];
        for (base, new) in pairs {
            for column in self.every_column() {
                column.join(*base, *new);
            }
            self.items[*new].matched = matched;
            self.items[*new].is_asked |= self.items[*base].is_asked;
            is_kept[*base] = false;
        }
        let kept: Vec<usize> = (0..self.items.len())
            .filter(|item| is_kept[*item])
            .collect();
        for column in self.every_column() {
            column.keep(&kept);
        }
        let mut moved: Vec<usize> = vec![0; self.items.len()];
        for (row, item) in kept.iter().enumerate() {
            moved[*item] = row;
        }
        for (base, new) in pairs {
            moved[*base] = moved[*new];
        }
        for row in self.rows.iter_mut().filter(|row| **row != NO_ROW) {
            *row = moved[*row];
        }
        let mut is_kept = is_kept.into_iter();
        self.items.retain(|_| is_kept.next().unwrap_or(true));
    }

    /// Divides every cost by the factor of its run; runs are numbered, base then new.
    pub(super) fn divide(&mut self, divided: impl Fn(usize, f64) -> f64) {
        for (run, column) in self.columns.iter_mut().flatten().enumerate() {
            for cost in &mut column.costs {
                *cost = divided(run, *cost);
            }
            for (low, high) in column.bounds.values_mut() {
                (*low, *high) = (divided(run, *low), divided(run, *high));
            }
        }
    }

    /// The rows whose cost some run does not know.
    pub(super) fn bounded_rows(&self) -> Vec<usize> {
        let columns = self.columns.iter().flatten();
        let rows: BTreeSet<usize> = columns
            .flat_map(|column| column.bounds.keys().copied())
            .collect();
        rows.into_iter().collect()
    }

    /// Takes out the rows whose cost some run does not know; each comes with where it was.
    pub(super) fn take_bounded(&mut self) -> Vec<(usize, Bounded)> {
        let rows = self.bounded_rows();
        let of_side = |side: usize, row: usize| -> Vec<(f64, f64)> {
            let columns = self.columns[side].iter();
            columns.map(|column| column.range(row)).collect()
        };
        let mentioned = self.mentioned();
        let taken = rows
            .iter()
            .map(|row| {
                let bounded = Bounded {
                    item: self.items[*row].clone(),
                    bounds: [of_side(0, *row), of_side(1, *row)],
                    calls: [self.calls(0, *row), self.calls(1, *row)],
                    functions: self.functions(*row),
                    present: mentioned.each_ref().map(|rows| rows[*row]),
                };
                (*row, bounded)
            })
            .collect();
        if !rows.is_empty() {
            self.drop_rows(&rows.into_iter().collect());
        }
        taken
    }

    /// Leaves out rows.
    pub(super) fn drop_rows(&mut self, dropped: &BTreeSet<usize>) {
        let kept: Vec<usize> = (0..self.items.len())
            .filter(|item| !dropped.contains(item))
            .collect();
        for column in self.every_column() {
            column.keep(&kept);
        }
        self.items = kept.iter().map(|item| self.items[*item].clone()).collect();
        let mut moved: HashMap<usize, usize> = HashMap::with_capacity(kept.len());
        moved.extend(kept.into_iter().enumerate().map(|(row, item)| (item, row)));
        for row in &mut self.rows {
            *row = moved.get(row).copied().unwrap_or(NO_ROW);
        }
    }

    /// Whether all runs of both sides have the same figures.
    pub(super) fn is_of_one_recording(&self) -> bool {
        let mut columns = self.columns.iter().flatten();
        let first = columns.next();
        first.is_some_and(|first| {
            columns.all(|column| column.costs == first.costs && column.bounds == first.bounds)
        })
    }

    /// The costs as matrices.
    #[must_use]
    pub fn costs(&self) -> Sides {
        self.sides(|column, item| column.costs[item])
    }

    /// The samples as matrices, if all runs know them: as many as there are, in proportion to the costs.
    #[must_use]
    pub fn samples(&self) -> Option<Sides> {
        let weights = self.weights_of_samples(self.columns.iter().flatten())?;
        Some(self.sides(|column, item| column.alike[item] * weights[item]))
    }

    /// Costs of the earlier runs, oldest first.
    pub(super) fn earlier_costs(&self) -> Figures {
        self.figures(self.history.iter().rev(), |column, item| column.costs[item])
    }

    /// Samples of the earlier runs, as [`Self::samples`].
    pub(super) fn earlier_samples(&self) -> Option<Figures> {
        let weights = self.weights_of_samples(self.history.iter())?;
        let count = |column: &Column, item: usize| column.alike[item] * weights[item];
        Some(self.figures(self.history.iter().rev(), count))
    }

    /// What the samples of every item count for; `None` where one of some runs does not know its samples.
    fn weights_of_samples<'t>(
        &self,
        mut runs: impl Iterator<Item = &'t Column>,
    ) -> Option<Vec<f64>> {
        let items = 0..self.items.len();
        runs.all(|column| column.samples.is_some())
            .then(|| items.map(|item| self.weight_of_samples(item)).collect())
    }

    fn sides(&self, of: impl Fn(&Column, usize) -> f64) -> Sides {
        let [base, new] = &self.columns;
        Sides {
            base: self.figures(base.iter(), &of),
            new: self.figures(new.iter(), &of),
        }
    }

    fn figures<'t>(
        &self,
        columns: impl Iterator<Item = &'t Column>,
        of: impl Fn(&Column, usize) -> f64,
    ) -> Figures {
        let columns: Vec<&Column> = columns.collect();
        let rows = 0..self.items.len();
        let values = rows.flat_map(|item| columns.iter().map(move |column| (item, *column)));
        Figures::new(
            columns.len(),
            values.map(|(item, column)| of(column, item)).collect(),
        )
    }

    /// Calls of an item in all runs of a side; `None` where one run does not know.
    #[must_use]
    pub fn calls(&self, side: usize, item: usize) -> Option<f64> {
        let calls: f64 = self.columns[side]
            .iter()
            .map(|column| column.calls_of(item))
            .sum();
        Some(calls).filter(|calls| !calls.is_nan())
    }

    /// Whether every run of a side counts calls.
    pub(super) fn counts_calls(&self, side: usize) -> bool {
        let mut columns = self.columns[side].iter();
        columns.all(|column| column.calls.iter().any(|calls| *calls > 0.0))
    }

    /// The most functions of one run that are one row.
    #[must_use]
    pub fn functions(&self, item: usize) -> u32 {
        let columns = self.columns.iter().flatten();
        columns
            .map(|column| column.functions[item])
            .max()
            .unwrap_or(0)
    }

    /// Returns the maximum number of functions per run that a row adds up, for base and new.
    pub(super) fn functions_of_sides(&self, item: usize) -> [u32; 2] {
        self.columns.each_ref().map(|columns| {
            let functions = columns.iter().map(|column| column.functions[item]);
            functions.max().unwrap_or(0)
        })
    }

    /// What every item cost in all runs of each side together.
    pub(super) fn side_costs(&self) -> [Vec<f64>; 2] {
        [0, 1].map(|side: usize| {
            let mut costs = vec![0.0; self.items.len()];
            for column in &self.columns[side] {
                for (cost, of_run) in costs.iter_mut().zip(&column.costs) {
                    *cost += of_run;
                }
            }
            costs
        })
    }

    /// Whether any run of each side mentions an item, whatever it cost there.
    pub(super) fn mentioned(&self) -> [Vec<bool>; 2] {
        [0, 1].map(|side: usize| {
            let columns = &self.columns[side];
            let mentions = |column: &Column, item: usize| {
                column.costs[item] != 0.0 || column.functions[item] > 0
            };
            let items = 0..self.items.len();
            items
                .map(|item| columns.iter().any(|column| mentions(column, item)))
                .collect()
        })
    }

    /// The part of what the runs of each side cost that lies in items which both sides have. Rows of which only bounds are known have
    /// been taken out: of these the least counts.
    pub(super) fn matched_shares(&self, bounded: &[&Bounded]) -> [Option<f64>; 2] {
        let costs = self.side_costs();
        let mentioned = self.mentioned();
        [0, 1].map(|side: usize| {
            let known = self.items.iter().zip(&costs[side]);
            let known = known.zip(&mentioned[1 - side]);
            let known = known.map(|((item, cost), is_there)| (item, *cost, *is_there));
            let bounded = bounded.iter().map(|row| {
                let least = row.bounds[side].iter().map(|(low, _)| low).sum();
                (&row.item, least, row.present[1 - side])
            });
            let (mut all, mut matched) = (Sum::default(), Sum::default());
            for (item, cost, is_there) in known.chain(bounded) {
                all.add(cost);
                if item.is_named && is_there {
                    matched.add(cost);
                }
            }
            Some(matched.value() / all.value()).filter(|share| share.is_finite())
        })
    }
}
