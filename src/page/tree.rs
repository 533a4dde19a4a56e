//! The tree of calls of a run as columns: how deep each place is, which function or line it is, how often it was called, and
//! its own cost in each metric. What a place cost with everything called follows from these; where it does not, it is told.

use hashbrown::HashMap;

use super::column::Column;
use super::error::PageError;
use super::numbers::Numbers;
use crate::store::{Below, Database, MetricInfo, NodeRow};

/// Sums in another order differ by less than this part.
const ROUNDING: f64 = 1e-9;

/// Costs that differ in fewer of the highest bits than a step of this many are counted together.
const STEP: u32 = 44;

/// What is left out of a tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cut {
    /// The nodes of lines are left out.
    pub(super) lines: bool,
    /// Places that cost less than this in the first metric, with everything they called, are left out.
    pub(super) below: f64,
}

/// A tree as columns.
pub(super) struct Tree {
    /// Names and compressed bytes.
    pub(super) blocks: Vec<(String, Vec<u8>)>,
    /// Places that are written, those that stand for what was left out among them.
    pub(super) places: u64,
    /// Places that functions have in the run.
    pub(super) functions: u64,
    /// Those of them that are written.
    pub(super) kept: u64,
    /// What those left out cost, in the first metric.
    pub(super) left: f64,
    /// How many function places cost how much, by the highest bits of the cost.
    sizes: HashMap<u64, u64>,
}

impl Tree {
    pub(super) fn bytes(&self) -> usize {
        self.blocks.iter().map(|(_, bytes)| bytes.len()).sum()
    }

    /// Those without the costs of other metrics than the first.
    pub(super) fn bytes_of_first(&self) -> usize {
        let is_other = |name: &str| {
            let metric = name
                .strip_prefix("own-")
                .or_else(|| name.strip_prefix("all-"));
            metric.is_some_and(|metric| metric != "0")
        };
        let blocks = self.blocks.iter().filter(|(name, _)| !is_other(name));
        blocks.map(|(_, bytes)| bytes.len()).sum()
    }

    /// The cost from which on there are at most so many places.
    pub(super) fn cost_of(&self, most: u64) -> f64 {
        let mut sizes: Vec<_> = self.sizes.iter().collect();
        sizes.sort_unstable_by(|one, other| other.cmp(one));
        let mut places = 0;
        for (cost, count) in sizes {
            places += count;
            if places > most {
                return f64::from_bits((cost + 1) << STEP);
            }
        }
        0.0
    }
}

/// An open place.
struct Open {
    is_line: bool,
    /// Its number among those that are written; `None` if it is not.
    number: Option<u64>,
    /// How many that are written are above it.
    depth: u64,
    /// Something below it was left out.
    is_cut: bool,
}

/// What an open place costs in a metric.
#[derive(Clone, Copy, Default)]
struct Cost {
    own: f64,
    /// As the database says.
    all: Option<f64>,
    /// The function places directly below, lines between them passed over.
    below: f64,
    /// What was left out there.
    left: f64,
}

struct Writer<'n> {
    numbers: &'n Numbers,
    metrics: usize,
    open: Vec<Open>,
    /// By open place and metric.
    costs: Vec<Cost>,
    steps: Column,
    places: Column,
    calls: Column,
    owns: Vec<Column>,
    /// By metric: what places cost with everything called, where that does not follow: their numbers, and the cost.
    others: Vec<Vec<(u64, Option<f64>)>>,
    /// Of roots that are left out, by metric.
    left: Vec<f64>,
    written: u64,
    /// One less than the depth of the place before; none is before the first.
    last_depth: u64,
}

/// Writes the tree of a run with the costs of some metrics.
pub(super) fn tree(
    database: &Database,
    run_id: i64,
    metrics: &[&MetricInfo],
    numbers: &Numbers,
    cut: Cut,
) -> Result<Tree, PageError> {
    let ids: Vec<i64> = metrics.iter().map(|metric| metric.metric_id).collect();
    let mut writer = Writer {
        numbers,
        metrics: ids.len(),
        open: Vec::new(),
        costs: Vec::new(),
        steps: Column::new(),
        places: Column::new(),
        calls: Column::new(),
        owns: ids.iter().map(|_| Column::new()).collect(),
        others: vec![Vec::new(); ids.len()],
        left: vec![0.0; ids.len()],
        written: 0,
        last_depth: 0,
    };
    let (mut functions, mut kept, mut left) = (0, 0, 0.0);
    let mut sizes = HashMap::new();
    database.each_wanted_node(run_id, &ids, |rows| {
        let node = &rows[0];
        writer.close(node.depth);
        if node.line.is_none() {
            functions += 1;
            let cost = all(node);
            *sizes.entry(cost.max(0.0).to_bits() >> STEP).or_insert(0) += 1;
            if cost < cut.below {
                left += cost;
                writer.leave_out(rows);
                return Ok(Below::Unwanted);
            }
            kept += 1;
        }
        writer.add(rows, cut)?;
        Ok::<_, PageError>(Below::Wanted)
    })?;
    writer.close(0);
    let places = writer.written + u64::from(writer.left.iter().any(|left| *left != 0.0));
    Ok(Tree {
        blocks: writer.finish(),
        places,
        functions,
        kept,
        left,
        sizes,
    })
}

/// What a place cost with everything called.
fn all(node: &NodeRow) -> f64 {
    node.cumulative.unwrap_or(node.exclusive)
}

impl Writer<'_> {
    /// Closes places until so many are open.
    fn close(&mut self, depth: usize) {
        while self.open.len() > depth {
            let Some(open) = self.open.pop() else { return };
            let from = self.open.len() * self.metrics;
            if open.is_cut {
                let left: Vec<f64> = self.costs[from..].iter().map(|cost| cost.left).collect();
                self.write_left(open.depth + 1, &left);
            }
            let closed = self.costs.split_off(from);
            for (metric, cost) in closed.into_iter().enumerate() {
                let found = cost.own + cost.below;
                // What a function cost is known; without a word it is what follows.
                let all = if open.is_line {
                    cost.all
                } else {
                    Some(cost.all.unwrap_or(found))
                };
                if let Some(number) = open.number
                    && !all.is_some_and(|all| is_same(all, found))
                {
                    self.others[metric].push((number, all));
                }
                if !open.is_line {
                    self.below(metric, |above| above.below += all.unwrap_or(found));
                }
            }
        }
    }

    /// Changes the costs of the innermost open function, and of its line that is open.
    fn below(&mut self, metric: usize, change: impl Fn(&mut Cost)) {
        for at in (0..self.open.len()).rev() {
            change(&mut self.costs[at * self.metrics + metric]);
            if !self.open[at].is_line {
                return;
            }
        }
    }

    /// Leaves out a place with all that it called.
    fn leave_out(&mut self, rows: &[NodeRow]) {
        // Lines are left out before places are.
        let above = self.open.iter().rposition(|open| !open.is_line);
        for (metric, row) in rows.iter().enumerate() {
            let cost = all(row);
            match above {
                Some(at) => {
                    let above = &mut self.costs[at * self.metrics + metric];
                    above.left += cost;
                    above.below += cost;
                }
                None => self.left[metric] += cost,
            }
        }
        if let Some(at) = above {
            self.open[at].is_cut = true;
        }
    }

    /// Adds a place below those that are open.
    fn add(&mut self, rows: &[NodeRow], cut: Cut) -> Result<(), PageError> {
        let node = &rows[0];
        let is_line = node.line.is_some();
        let above = self.open.iter().rev().find(|open| open.number.is_some());
        let depth = above.map_or(0, |above| above.depth + 1);
        let is_written = !(is_line && cut.lines);
        if is_written {
            let function = self.numbers.function(node.function_id)?;
            let place = match &node.line {
                None => function << 1,
                Some(line) => self.numbers.line(function, line)? << 1 | 1,
            };
            self.write(depth, place, node.calls.map(u64::cast_signed));
            for (column, row) in self.owns.iter_mut().zip(rows) {
                column.cost(Some(row.exclusive));
            }
        }
        self.open.push(Open {
            is_line,
            number: is_written.then_some(self.written.wrapping_sub(1)),
            depth,
            is_cut: false,
        });
        self.costs.extend(rows.iter().map(|row| Cost {
            own: row.exclusive,
            all: row.cumulative,
            ..Cost::default()
        }));
        Ok(())
    }

    fn write(&mut self, depth: u64, place: u64, calls: Option<i64>) {
        self.steps
            .number((self.last_depth + 1).saturating_sub(depth));
        self.places.number(place);
        self.calls.count(calls);
        self.last_depth = depth;
        self.written += 1;
    }

    /// Writes a place that stands for those that were left out.
    fn write_left(&mut self, depth: u64, costs: &[f64]) {
        self.write(depth, self.numbers.left_out() << 1, None);
        for (column, cost) in self.owns.iter_mut().zip(costs) {
            column.cost(Some(*cost));
        }
    }

    /// The columns.
    fn finish(mut self) -> Vec<(String, Vec<u8>)> {
        if self.left.iter().any(|left| *left != 0.0) {
            let left = std::mem::take(&mut self.left);
            self.write_left(0, &left);
        }
        let mut blocks = vec![
            ("steps".to_owned(), self.steps.finish()),
            ("places".to_owned(), self.places.finish()),
            ("calls".to_owned(), self.calls.finish()),
        ];
        for (metric, column) in self.owns.into_iter().enumerate() {
            blocks.push((format!("own-{metric}"), column.finish()));
        }
        for (metric, mut others) in self.others.into_iter().enumerate() {
            let mut column = Column::new();
            others.sort_unstable_by_key(|(number, _)| *number);
            let mut last = 0;
            column.number(others.len() as u64);
            for (number, cost) in others {
                column.number(number - last);
                column.cost(cost);
                last = number;
            }
            blocks.push((format!("all-{metric}"), column.finish()));
        }
        blocks
    }
}

/// Whether two costs are one, but for rounding.
fn is_same(one: f64, other: f64) -> bool {
    (one - other).abs() <= ROUNDING * one.abs().max(other.abs())
}
