//! A run in empty tables, written as pages: see [`super::pages`]. What does not come in order is handed back to be inserted
//! by SQL, for which the pages have room left.

use std::fs::File;
use std::io;

use rusqlite::Connection;

use super::Cause;
use super::pages::{IndexTree, PageFile, Record, TableTree};
use super::places::Places;
use super::write::{EdgeKey, Ids, cumulative_other, edge_key, info_key, integer, line_key, other, sorted_by_key};
use crate::tree::{Batch, CostRow, EdgeRow, Function, InfoRow, NodeRow, Totals};

/// Size of a page: that of SQLite where nobody asks for another.
pub(super) const PAGE_SIZE: u16 = 4096;

/// The number of the first run of a database.
pub(super) const FIRST_RUN: i64 = 1;

/// Room for the row of a node that is still open. Most take less.
const NODE_ROOM: usize = 56;
/// Room for its costs in one metric.
const COST_ROOM: usize = 24;

/// Rows that may wait for SQL. A tree that keeps more waiting is so deep that pages gain nothing.
const MAX_WAITING: usize = 100_000;

/// Pages where the tables begin.
struct Roots {
    nodes: u32,
    node_costs: u32,
    functions: u32,
    functions_key: u32,
    function_nodes: u32,
    function_info: u32,
    line_info: u32,
    edges: u32,
    edges_by_caller: u32,
}

/// See the module's page.
pub(super) struct Bulk {
    file: PageFile,
    roots: Roots,
    record: Record,
    functions: Vec<Function>,
    nodes: TableTree,
    /// The number after that of the last node in the tree.
    next: u64,
    /// Nodes of the current batch that are still open.
    open: Vec<u64>,
    /// By metric.
    costs: Vec<Option<Costs>>,
    rest: Rest,
}

/// What SQL has to insert.
#[derive(Default)]
pub(super) struct Rest {
    pub(super) nodes: Vec<NodeRow>,
    pub(super) costs: Vec<CostRow>,
}

/// The costs in one metric, ascending by node.
struct Costs {
    /// The first row waits: it may have to stand between the pages of two metrics.
    first: CostRow,
    last: u64,
    /// How many of [`Bulk::open`] have been passed.
    passed: usize,
    tree: IndexTree,
}

impl Bulk {
    /// Begins to write behind the empty tables that SQLite has made in `file`.
    pub(super) fn new(connection: &Connection, file: File) -> Result<Self, Cause> {
        let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
        let root = |name: &str| connection.query_row(sql, [name], |row| row.get(0));
        let roots = Roots {
            nodes: root("nodes")?,
            node_costs: root("node_costs")?,
            functions: root("functions")?,
            functions_key: root("sqlite_autoindex_functions_1")?,
            function_nodes: root("function_nodes")?,
            function_info: root("function_info")?,
            line_info: root("line_info")?,
            edges: root("edges")?,
            edges_by_caller: root("edges_by_caller")?,
        };
        let file = PageFile::new(file, PAGE_SIZE)?;
        Ok(Self {
            nodes: TableTree::new(&file),
            file,
            roots,
            record: Record::default(),
            functions: Vec::new(),
            next: 1,
            open: Vec::new(),
            costs: Vec::new(),
            rest: Rest::default(),
        })
    }

    /// Writes rows, and takes them out of the batch.
    pub(super) fn batch(&mut self, batch: &mut Batch, ids: &mut Ids) -> io::Result<()> {
        for (id, function) in batch.functions.drain(..) {
            self.functions.push(function);
            ids.learn(id, integer(self.functions.len() as u64));
        }
        self.open.clear();
        for node in batch.nodes.drain(..) {
            self.node(node, ids)?;
        }
        for costs in self.costs.iter_mut().flatten() {
            costs.passed = 0;
        }
        for cost in batch.costs.drain(..) {
            self.cost(cost, ids)?;
        }
        Ok(())
    }

    /// Whether so much waits for SQL that the rest may as well go there.
    pub(super) fn is_overtaxed(&self) -> bool {
        self.rest.nodes.len() + self.rest.costs.len() > MAX_WAITING
    }

    fn node(&mut self, node: NodeRow, ids: &Ids) -> io::Result<()> {
        if node.node < self.next {
            self.rest.nodes.push(node);
            return Ok(());
        }
        for open in self.next..node.node {
            self.open.push(open);
            self.nodes.leave_room(NODE_ROOM);
        }
        self.next = node.node + 1;
        let function = ids.function(node.function);
        let place = node.place.as_ref();
        let record = self.record.start().null();
        record.integer_or_null(node.up.map(integer)).integer(integer(node.size)).integer(i64::from(node.depth));
        record.integer(function).integer_or_null(node.calls.map(integer)).real(node.figures.exclusive);
        record.integer_or_null(place.map(|place| i64::from(place.line))).real_or_null(cumulative_other(node.figures));
        record.integer_or_null(node.outer_up.map(integer));
        record.integer_or_null(place.filter(|place| place.col != 0).map(|place| i64::from(place.col)));
        record.text_or_null(place.and_then(|place| place.file.as_deref()));
        self.nodes.push(&mut self.file, ids.node(node.node).cast_unsigned(), record)
    }

    fn cost(&mut self, cost: CostRow, ids: &Ids) -> io::Result<()> {
        let metric = cost.metric.0 as usize;
        if self.costs.len() <= metric {
            self.costs.resize_with(metric + 1, || None);
        }
        let Some(costs) = &mut self.costs[metric] else {
            let tree = IndexTree::new(&self.file);
            self.costs[metric] = Some(Costs { first: cost, last: cost.node, passed: 0, tree });
            return Ok(());
        };
        if cost.node < costs.last {
            self.rest.costs.push(cost);
            return Ok(());
        }
        while self.open.get(costs.passed).is_some_and(|open| *open < cost.node) {
            costs.passed += 1;
            costs.tree.leave_room(COST_ROOM);
        }
        costs.last = cost.node;
        costs.tree.push(&mut self.file, cost_record(&mut self.record, &cost, ids))
    }

    /// Writes what is known at the end.
    pub(super) fn totals(&mut self, totals: &Totals, ids: &Ids) -> io::Result<()> {
        self.infos(&totals.functions, ids)?;
        self.lines(&totals.lines, ids)?;
        self.edges(&totals.edges, ids)
    }

    /// Completes the tables of functions, nodes and costs, and the file: SQLite can go on with it.
    pub(super) fn finish(mut self, ids: &Ids) -> io::Result<Rest> {
        self.functions()?;
        self.nodes.finish(&mut self.file, self.roots.nodes)?;
        let mut whole: Option<IndexTree> = None;
        for costs in self.costs.into_iter().flatten() {
            match &mut whole {
                Some(whole) if !costs.tree.is_empty() => {
                    whole.join(&mut self.file, cost_record(&mut self.record, &costs.first, ids), costs.tree)?;
                }
                None if !costs.tree.is_empty() => {
                    self.rest.costs.push(costs.first);
                    whole = Some(costs.tree);
                }
                _ => self.rest.costs.push(costs.first),
            }
        }
        if let Some(whole) = whole {
            whole.finish(&mut self.file, self.roots.node_costs)?;
        }
        self.file.finish()?;
        self.rest.nodes.sort_unstable_by_key(|node| node.node);
        self.rest.costs.sort_unstable_by_key(|cost| (cost.metric, cost.node));
        Ok(self.rest)
    }

    fn functions(&mut self) -> io::Result<()> {
        let mut table = TableTree::new(&self.file);
        for (id, function) in (1_u64..).zip(&self.functions) {
            let Function { kind, name, raw_name, module, file, first_line, first_col } = function;
            let record = self.record.start().null().text(kind.name()).text(name).text(module).text(file);
            let record = record.integer(i64::from(*first_line)).integer(i64::from(*first_col));
            let record = match raw_name {
                Some(raw_name) => record.text(raw_name),
                None => record.null(),
            };
            table.push(&mut self.file, id, record)?;
        }
        table.finish(&mut self.file, self.roots.functions)?;
        let mut sorted: Vec<(i64, &Function)> = (1..).zip(&self.functions).collect();
        sorted.sort_unstable_by(|(_, left), (_, right)| text_key(left).cmp(&text_key(right)));
        let mut index = IndexTree::new(&self.file);
        for (id, function) in sorted {
            let Function { kind, name, module, file, first_line, first_col, .. } = function;
            let record = self.record.start().text(name).text(module).text(file).text(kind.name());
            record.integer(i64::from(*first_line)).integer(i64::from(*first_col)).integer(id);
            index.push(&mut self.file, record)?;
        }
        index.finish(&mut self.file, self.roots.functions_key)
    }

    /// Writes where the nodes of each function are.
    pub(super) fn function_nodes(&mut self, run: i64, places: &Places, ids: &Ids) -> io::Result<()> {
        let mut tree = IndexTree::new(&self.file);
        for (function, nodes) in places.by_function(ids) {
            for node in nodes {
                let record = self.record.start().integer(run).integer(function).integer(ids.node(node));
                tree.push(&mut self.file, record)?;
            }
        }
        tree.finish(&mut self.file, self.roots.function_nodes)
    }

    fn infos(&mut self, rows: &[InfoRow], ids: &Ids) -> io::Result<()> {
        let mut tree = IndexTree::new(&self.file);
        for ((metric, function), row) in sorted_by_key(rows, |row| info_key(row, ids)) {
            let figures = &row.figures;
            let record = self.record.start().integer(metric).integer(function);
            record.integer_or_null(figures.calls.map(integer)).integer_or_null(figures.primitive.map(integer));
            record.real_or_null(figures.exclusive).real_or_null(figures.cumulative).real_or_null(figures.seen);
            record.integer(i64::from(figures.recorded));
            tree.push(&mut self.file, record)?;
        }
        tree.finish(&mut self.file, self.roots.function_info)
    }

    fn lines(&mut self, rows: &[InfoRow], ids: &Ids) -> io::Result<()> {
        let mut tree = IndexTree::new(&self.file);
        for ((metric, function, file, line, col), row) in sorted_by_key(rows, |row| line_key(row, ids)) {
            let figures = &row.figures;
            let record = self.record.start().integer(metric).integer(function).text(file);
            record.integer(i64::from(line)).integer(i64::from(col)).integer_or_null(figures.calls.map(integer));
            record.real_or_null(figures.exclusive).real_or_null(figures.cumulative);
            record.integer(i64::from(figures.recorded));
            tree.push(&mut self.file, record)?;
        }
        tree.finish(&mut self.file, self.roots.line_info)
    }

    fn edges(&mut self, rows: &[EdgeRow], ids: &Ids) -> io::Result<()> {
        let mut tree = IndexTree::new(&self.file);
        for (key, row) in sorted_by_key(rows, |row| edge_key(row, ids)) {
            let EdgeKey { metric, callee, caller, line, col, back } = key;
            let record = self.record.start().integer(metric).integer(callee).integer(caller).integer(line);
            record.integer(i64::from(col)).integer(i64::from(back)).integer_or_null(row.calls.map(integer));
            record.real_or_null(row.exclusive).real_or_null(row.cumulative);
            record.real_or_null(other(row.outermost, row.cumulative)).real_or_null(other(row.seen, row.cumulative));
            tree.push(&mut self.file, record)?;
        }
        tree.finish(&mut self.file, self.roots.edges)?;
        let by_caller = |row: &EdgeRow| {
            let EdgeKey { metric, callee, caller, line, col, back } = edge_key(row, ids);
            (metric, caller, callee, line, col, back)
        };
        let mut sorted: Vec<_> = rows.iter().map(by_caller).collect();
        sorted.sort_unstable();
        let mut tree = IndexTree::new(&self.file);
        for (metric, caller, callee, line, col, back) in sorted {
            let record = self.record.start().integer(metric).integer(caller).integer(callee).integer(line);
            record.integer(i64::from(col)).integer(i64::from(back));
            tree.push(&mut self.file, record)?;
        }
        tree.finish(&mut self.file, self.roots.edges_by_caller)
    }
}

fn cost_record<'r>(record: &'r mut Record, cost: &CostRow, ids: &Ids) -> &'r mut Record {
    record.start().integer(ids.metric(cost.metric)).integer(ids.node(cost.node));
    record.real(cost.figures.exclusive).real_or_null(cumulative_other(cost.figures))
}

/// The key of functions besides their number.
fn text_key(function: &Function) -> (&str, &str, &str, &str, u32, u32) {
    let Function { kind, name, module, file, first_line, first_col, .. } = function;
    (name, module, file, kind.name(), *first_line, *first_col)
}
