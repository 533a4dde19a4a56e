//! The tree of calls of a run as columns: how deep each place is, which function or line it is, how often it was called, and
//! its own cost in each metric. What a place cost with everything called follows from these; where it does not, it is told.

use super::column::{Block, Column, size};
use super::error::PageError;
use super::numbers::Numbers;
use crate::store::{Below, CallRow, Database, MetricInfo, NodeLabel, NodeRow};

/// How many nodes are written between two looks at whether there is still room.
const LOOKS: u64 = 1 << 12;

/// Bytes that a column has room for, for each node: few need more, and room that is not written to costs nothing.
const BYTES_OF_NODE: u64 = 4;

/// The largest such room.
const MOST_ROOM: u64 = 1 << 23;

/// The limit of costs that keeps all places: nothing costs less.
pub(super) const EVERYTHING: f64 = f64::NEG_INFINITY;

/// How the columns of labels are called, each with the number of its metric after it.
pub(super) const LABELS: &str = "labels-";

/// What is left out of a tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cut {
    /// The nodes of lines are left out.
    pub(super) lines: bool,
    /// Places that cost less than this in the first metric, with everything they called and whatever its sign, are left out.
    pub(super) below: f64,
    /// How many nodes are looked at: a sample tells how large a tree will be.
    pub(super) most: u64,
    /// Bytes after which there will be no room for the tree, whatever is left out of the costs of other metrics and of labels.
    pub(super) room: usize,
}

impl Cut {
    /// Nothing is left out.
    pub(super) const NONE: Self = Self {
        lines: false,
        below: EVERYTHING,
        most: u64::MAX,
        room: usize::MAX,
    };
}

/// A tree as columns.
pub(super) struct Tree {
    /// Names and compressed bytes.
    pub(super) blocks: Vec<Block>,
    /// Places that are written, those that stand for what was left out among them.
    pub(super) places: u64,
    /// Places that functions have in the run.
    pub(super) functions: u64,
    /// Those of them that are written.
    pub(super) kept: u64,
    /// What those left out cost, in the first metric.
    pub(super) left: f64,
    /// Nothing comes after what is written: neither is this a sample, nor was there no room.
    pub(super) is_whole: bool,
}

impl Tree {
    pub(super) fn bytes(&self) -> usize {
        size(&self.blocks)
    }

    /// Those without the costs of other metrics than the first.
    pub(super) fn bytes_of_first(&self) -> usize {
        size(self.blocks.iter().filter(|(name, _)| !is_other(name)))
    }

    /// Leaves out the costs of other metrics than the first.
    pub(super) fn keep_first(&mut self) {
        self.blocks.retain(|(name, _)| !is_other(name));
    }
}

/// Whether a block has costs of another metric than the first.
fn is_other(name: &str) -> bool {
    let metric = name
        .strip_prefix("own-")
        .or_else(|| name.strip_prefix("all-"));
    metric.is_some_and(|metric| metric != "0")
}

/// An open place.
struct Open {
    is_line: bool,
    is_written: bool,
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

/// What nodes cost themselves in samples with labels, as a column that is being written: how many places after the row
/// before, the set of labels, and the cost.
struct Labelled {
    rows: std::iter::Peekable<std::vec::IntoIter<NodeLabel>>,
    column: Column,
    last: u64,
}

impl Labelled {
    fn new(rows: Vec<NodeLabel>) -> Self {
        Self {
            rows: rows.into_iter().peekable(),
            column: Column::new(),
            last: 0,
        }
    }
}

/// What places cost in a metric with everything called, where that is not what follows, as a column that is being written: how many
/// places were closed after the one before, and how the cost differs.
struct Others {
    column: Column,
    last: u64,
}

impl Others {
    /// None so far.
    fn of(column: Column) -> Self {
        Self { column, last: 0 }
    }

    /// Adds the cost of the place that is closed after so many.
    fn add(&mut self, closed: u64, cost: Option<f64>, found: f64) {
        self.column.cost_beside(closed - self.last, cost, found);
        self.last = closed;
    }
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
    /// By metric: what places cost with everything called, where that is not what follows.
    others: Vec<Others>,
    /// By metric; empty if there are none.
    labels: Vec<Labelled>,
    /// Of roots that are left out, by metric.
    left: Vec<f64>,
    written: u64,
    /// Those of them to which nothing will be added any more: all below is written.
    closed: u64,
    /// One less than the depth of the place before; none is before the first.
    last_depth: u64,
}

/// Writes the tree of a run with the costs of some metrics. `labels` has for each metric what nodes cost in samples with
/// labels, or nothing at all; a tree that is cut has none.
pub(super) fn tree(
    database: &Database,
    run_id: i64,
    metrics: &[&MetricInfo],
    numbers: &Numbers,
    labels: Vec<Vec<NodeLabel>>,
    cut: Cut,
) -> Result<Tree, PageError> {
    let ids: Vec<i64> = metrics.iter().map(|metric| metric.metric_id).collect();
    let nodes = database.node_count(run_id)?;
    let mut writing = Writing::new(numbers, ids.len(), nodes, cut);
    writing.writer.labels = labels.into_iter().map(Labelled::new).collect();
    database.each_wanted_node(run_id, &ids, |rows| writing.node(rows))?;
    Ok(writing.finish())
}

/// A tree that is being written.
struct Writing<'n> {
    cut: Cut,
    is_whole: bool,
    nodes: u64,
    functions: u64,
    kept: u64,
    left: f64,
    writer: Writer<'n>,
}

impl<'n> Writing<'n> {
    /// Begins a tree of so many nodes in so many metrics.
    fn new(numbers: &'n Numbers, metrics: usize, nodes: u64, cut: Cut) -> Self {
        let room = nodes
            .min(cut.most)
            .saturating_mul(BYTES_OF_NODE)
            .min(MOST_ROOM);
        let column = || Column::with_room(usize::try_from(room).unwrap_or_default());
        Self {
            cut,
            is_whole: true,
            nodes: 0,
            functions: 0,
            kept: 0,
            left: 0.0,
            writer: Writer {
                numbers,
                metrics,
                open: Vec::new(),
                costs: Vec::new(),
                steps: column(),
                places: column(),
                calls: column(),
                owns: (0..metrics).map(|_| column()).collect(),
                others: (0..metrics).map(|_| Others::of(column())).collect(),
                labels: Vec::new(),
                left: vec![0.0; metrics],
                written: 0,
                closed: 0,
                last_depth: 0,
            },
        }
    }

    /// Adds a node, which has a row for each metric, unless it is cut off.
    fn node(&mut self, rows: &[NodeRow]) -> Result<Below, PageError> {
        let node = &rows[0];
        let is_full =
            self.nodes.is_multiple_of(LOOKS) && self.writer.bytes_of_first() > self.cut.room;
        if self.nodes == self.cut.most || is_full {
            self.is_whole = false;
            return Ok(Below::Nothing);
        }
        self.nodes += 1;
        self.writer.close(node.depth);
        if node.line.is_none() {
            self.functions += 1;
            let cost = all(node);
            if cost.abs() < self.cut.below {
                self.left += cost;
                self.writer.leave_out(rows);
                return Ok(Below::Unwanted);
            }
            self.kept += 1;
        }
        self.writer.add(rows, self.cut)?;
        self.writer
            .label(self.nodes - 1, node.line.is_some() && self.cut.lines);
        Ok(Below::Wanted)
    }

    fn finish(mut self) -> Tree {
        self.writer.close(0);
        let has_left = self.writer.left.iter().any(|left| *left != 0.0);
        Tree {
            places: self.writer.written + u64::from(has_left),
            blocks: self.writer.finish(),
            functions: self.functions,
            kept: self.kept,
            left: self.left,
            is_whole: self.is_whole,
        }
    }
}

/// Function places that are kept in memory, at 40 bytes each: of more, the database is read again (limit: places of a tree
/// that is cut in memory).
const MOST_KEPT: usize = 1 << 20;

/// The function places of a run with what they cost in one metric, to be cut until they fit.
pub(super) struct Functions {
    run_id: i64,
    metric: MetricInfo,
    /// Empty if there are too many.
    kept: Vec<Kept>,
    /// What each costs with everything called, without its sign, in any order.
    costs: Vec<f64>,
}

/// A function place.
struct Kept {
    depth: u32,
    function_id: i64,
    calls: Option<u32>,
    exclusive: f64,
    /// Not a number if it is unknown.
    cumulative: f64,
}

impl Functions {
    /// Reads them.
    pub(super) fn of(
        database: &Database,
        run_id: i64,
        metric: &MetricInfo,
    ) -> Result<Self, PageError> {
        let (mut kept, mut costs) = (Vec::new(), Vec::new());
        let mut fit = true;
        database.each_wanted_call(run_id, metric.metric_id, |call| {
            costs.push(call.cumulative.unwrap_or(call.exclusive).abs());
            match Kept::of(call) {
                Some(call) if fit && kept.len() < MOST_KEPT => kept.push(call),
                _ => fit = false,
            }
            Ok::<_, PageError>(Below::Wanted)
        })?;
        if !fit {
            kept = Vec::new();
        }
        Ok(Self {
            run_id,
            metric: metric.clone(),
            kept,
            costs,
        })
    }

    /// How many there are.
    pub(super) fn count(&self) -> u64 {
        self.costs.len() as u64
    }

    /// The cost from which on there are at most so many: a place that costs as much as the next one goes with it.
    pub(super) fn cost_of(&mut self, most: u64) -> f64 {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        if most >= self.costs.len() {
            return EVERYTHING;
        }
        let by_cost = |one: &f64, other: &f64| other.total_cmp(one);
        let (_, next, _) = self.costs.select_nth_unstable_by(most, by_cost);
        next.next_up()
    }

    /// Writes those that cost so much.
    pub(super) fn tree(
        &self,
        database: &Database,
        numbers: &Numbers,
        below: f64,
    ) -> Result<Tree, PageError> {
        let cut = Cut {
            lines: true,
            below,
            ..Cut::NONE
        };
        if self.kept.is_empty() {
            return tree(
                database,
                self.run_id,
                &[&self.metric],
                numbers,
                Vec::new(),
                cut,
            );
        }
        let mut writing = Writing::new(numbers, 1, self.count(), cut);
        let mut passed_over = u32::MAX;
        let mut row = NodeRow::default();
        for place in &self.kept {
            if place.depth > passed_over {
                continue;
            }
            row.depth = place.depth as usize;
            row.function_id = place.function_id;
            row.calls = place.calls.map(u64::from);
            row.exclusive = place.exclusive;
            row.cumulative = Some(place.cumulative).filter(|cost| !cost.is_nan());
            passed_over = match writing.node(std::slice::from_ref(&row))? {
                Below::Wanted => u32::MAX,
                Below::Unwanted | Below::Nothing => place.depth,
            };
        }
        writing.functions = self.count();
        Ok(writing.finish())
    }
}

impl Kept {
    /// The place in 40 bytes; `None` where a figure is too large for that.
    fn of(call: &CallRow) -> Option<Self> {
        Some(Self {
            depth: u32::try_from(call.depth).ok()?,
            function_id: call.function_id,
            calls: call.calls.map(u32::try_from).transpose().ok()?,
            exclusive: call.exclusive,
            cumulative: call.cumulative.unwrap_or(f64::NAN),
        })
    }
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
                self.write_left(open.depth + 1);
                for (column, cost) in self.owns.iter_mut().zip(&self.costs[from..]) {
                    column.cost(Some(cost.left));
                }
            }
            for metric in 0..self.metrics {
                let cost = self.costs[from + metric];
                // What was left out is a place after all others.
                let found = cost.own + (cost.below + cost.left);
                // What a function cost is known; without a word it is what follows.
                let all = if open.is_line {
                    cost.all
                } else {
                    Some(cost.all.unwrap_or(found))
                };
                if open.is_written && all.map(f64::to_bits) != Some(found.to_bits()) {
                    self.others[metric].add(self.closed, all, found);
                }
                if !open.is_line {
                    // The function above has called it, and so has its line that is open.
                    for (at, above) in self.open.iter().enumerate().rev() {
                        self.costs[at * self.metrics + metric].below += all.unwrap_or(found);
                        if !above.is_line {
                            break;
                        }
                    }
                }
            }
            self.costs.truncate(from);
            self.closed += u64::from(open.is_written);
        }
    }

    /// Bytes that are written without the costs of other metrics than the first, and without labels.
    fn bytes_of_first(&self) -> usize {
        let columns = [&self.steps, &self.places, &self.calls];
        let columns = columns.into_iter().chain(self.owns.first());
        columns.map(Column::packed).sum()
    }

    /// Leaves out a place with all that it called.
    fn leave_out(&mut self, rows: &[NodeRow]) {
        // Lines are left out before places are.
        let above = self.open.iter().rposition(|open| !open.is_line);
        for (metric, row) in rows.iter().enumerate() {
            let cost = all(row);
            match above {
                Some(at) => {
                    self.costs[at * self.metrics + metric].left += cost;
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
        let above = self.open.iter().rev().find(|open| open.is_written);
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
            is_written,
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

    /// Writes the labels of a node, of which there are so many before it: that of the place that was added last.
    fn label(&mut self, node: u64, is_left: bool) {
        let place = self.written.saturating_sub(1);
        for labelled in &mut self.labels {
            let is_due = |row: &NodeLabel| u64::try_from(row.place).unwrap_or(0) <= node;
            while let Some(row) = labelled.rows.next_if(is_due) {
                if is_left {
                    continue;
                }
                labelled.column.number(place - labelled.last);
                labelled.column.number(row.set_id.unsigned_abs());
                labelled.column.cost(Some(row.exclusive));
                labelled.last = place;
            }
        }
    }

    /// Writes a place that stands for those that were left out, all but its costs.
    fn write_left(&mut self, depth: u64) {
        self.write(depth, self.numbers.left_out() << 1, None);
        self.closed += 1;
    }

    /// The columns.
    fn finish(mut self) -> Vec<Block> {
        if self.left.iter().any(|left| *left != 0.0) {
            self.write_left(0);
            for (column, cost) in self.owns.iter_mut().zip(&self.left) {
                column.cost(Some(*cost));
            }
        }
        let mut blocks = vec![
            ("steps".to_owned(), self.steps.finish()),
            ("places".to_owned(), self.places.finish()),
            ("calls".to_owned(), self.calls.finish()),
        ];
        for (metric, column) in self.owns.into_iter().enumerate() {
            blocks.push((format!("own-{metric}"), column.finish()));
        }
        for (metric, others) in self.others.into_iter().enumerate() {
            blocks.push((format!("all-{metric}"), others.column.finish()));
        }
        for (metric, labelled) in self.labels.into_iter().enumerate() {
            blocks.push((format!("{LABELS}{metric}"), labelled.column.finish()));
        }
        blocks
    }
}
