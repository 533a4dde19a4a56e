//! A run in empty tables, written as pages: see [`crate::sqlite::btree`]. What does not come in
//! order is handed back to be inserted by SQL, for which the pages have room left.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::thread;

use prefetch_index::prefetch_index;
use rusqlite::Connection;

use super::postings::Places;
use super::{EdgeKey, Ids, cumulative_other, edge_key, integer, label_set, line_key, other};
use crate::base::threads::{Work, aside};
use crate::profile::{
    Batch, CostRow, EdgeRow, Function, InfoRow, LabelCostRow, NodeRow, Rows, Totals,
};
use crate::sqlite::btree::{IndexTree, TableTree};
use crate::sqlite::page_file::{PageBuffer, PageFile};
use crate::sqlite::record::Record;
use crate::store::Cause;

/// Size of a page: that of SQLite where nobody asks for another.
pub(in crate::store) const PAGE_SIZE: u16 = 4096;

/// The number of the first run of a database.
pub(in crate::store) const FIRST_RUN: i64 = 1;

/// Room for the row of a node that is still open. Most take less.
const NODE_ROOM: usize = 56;
/// Room for its costs in one metric.
const COST_ROOM: usize = 24;

/// Rows that may wait for SQL. A tree that keeps more waiting is so deep that pages gain nothing.
const MAX_WAITING: usize = 100_000;

/// How many rows ahead memory is asked for what they are made from.
pub(in crate::store) const AHEAD: usize = 16;

/// Pages where the tables begin.
struct Roots {
    nodes: u32,
    node_costs: u32,
    functions: u32,
    functions_key: u32,
    function_nodes: u32,
    function_info: u32,
    line_info: u32,
    node_labels: u32,
    edges: u32,
    edges_by_caller: u32,
}

/// See the module's page.
pub(in crate::store) struct Bulk {
    file: PageFile,
    /// Whether the file has to reach the disk.
    lasts: bool,
    roots: Roots,
    record: Record,
    functions: Vec<Arc<Function>>,
    function_rows: TableTree,
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
pub(in crate::store) struct Rest {
    pub(in crate::store) nodes: Vec<NodeRow>,
    pub(in crate::store) costs: Vec<CostRow>,
}

/// What is known at the end.
pub(in crate::store) struct End<'t> {
    pub(in crate::store) run: i64,
    pub(in crate::store) places: &'t Places,
    /// What has been added up, unless SQL is to write it.
    pub(in crate::store) totals: Option<&'t Totals>,
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
    /// Begins to write behind the empty tables that SQLite has made in `file`, which is one that is
    /// there to stay or not.
    pub(in crate::store) fn new(
        connection: &Connection,
        file: File,
        lasts: bool,
    ) -> Result<Self, Cause> {
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
            node_labels: root("node_labels")?,
            edges: root("edges")?,
            edges_by_caller: root("edges_by_caller")?,
        };
        let file = PageFile::new(file, PAGE_SIZE)?;
        Ok(Self {
            function_rows: TableTree::new(&file),
            nodes: TableTree::new(&file),
            file,
            roots,
            lasts,
            record: Record::default(),
            functions: Vec::new(),
            next: 1,
            open: Vec::new(),
            costs: Vec::new(),
            rest: Rest::default(),
        })
    }

    /// Writes rows, and takes them out of the batch.
    pub(in crate::store) fn batch(&mut self, batch: &mut Batch, ids: &mut Ids) -> io::Result<()> {
        for (id, function) in batch.functions.drain(..) {
            let row = self.function(&function)?;
            self.functions.push(function);
            ids.learn(id, integer(row));
        }
        self.open.clear();
        for (at, node) in batch.nodes.iter().enumerate() {
            if let Some(soon) = batch.nodes.get(at + AHEAD) {
                ids.prefetch(soon.function);
            }
            self.node(node, ids)?;
        }
        batch.nodes.clear();
        for costs in self.costs.iter_mut().flatten() {
            costs.passed = 0;
        }
        for cost in batch.costs.drain(..) {
            self.cost(cost, ids)?;
        }
        Ok(())
    }

    /// Whether so much waits for SQL that the rest may as well go there.
    pub(in crate::store) fn is_overtaxed(&self) -> bool {
        self.rest.nodes.len() + self.rest.costs.len() > MAX_WAITING
    }

    /// Writes the row of a function; says its number.
    fn function(&mut self, function: &Function) -> io::Result<u64> {
        let Function {
            kind,
            name,
            raw_name,
            module,
            file,
            first_line,
            first_col,
        } = function;
        let row = self.functions.len() as u64 + 1;
        let record = self
            .record
            .start()
            .null()
            .text(kind.name())
            .text(name)
            .text(module)
            .text(file);
        let record = record
            .integer(i64::from(*first_line))
            .integer(i64::from(*first_col));
        let record = record.text_or_null(raw_name.as_deref());
        self.function_rows.push(&mut self.file, row, record)?;
        Ok(row)
    }

    fn node(&mut self, node: &NodeRow, ids: &Ids) -> io::Result<()> {
        if node.node < self.next {
            self.rest.nodes.push(node.clone());
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
        record
            .integer_or_null(node.up.map(integer))
            .integer(integer(node.size))
            .integer(i64::from(node.depth));
        record
            .integer(function)
            .integer_or_null(node.calls.map(integer))
            .real(node.figures.exclusive);
        record
            .integer_or_null(place.map(|place| i64::from(place.line)))
            .real_or_null(cumulative_other(node.figures));
        record.integer_or_null(node.outer_up.map(integer));
        record.integer_or_null(
            place
                .filter(|place| place.col != 0)
                .map(|place| i64::from(place.col)),
        );
        record.text_or_null(place.and_then(|place| place.file.as_deref()));
        self.nodes
            .push(&mut self.file, ids.node(node.node).cast_unsigned(), record)
    }

    fn cost(&mut self, cost: CostRow, ids: &Ids) -> io::Result<()> {
        let metric = cost.metric.0 as usize;
        if self.costs.len() <= metric {
            self.costs.resize_with(metric + 1, || None);
        }
        let Some(costs) = &mut self.costs[metric] else {
            let tree = IndexTree::new(&self.file);
            self.costs[metric] = Some(Costs {
                first: cost,
                last: cost.node,
                passed: 0,
                tree,
            });
            return Ok(());
        };
        if cost.node < costs.last {
            self.rest.costs.push(cost);
            return Ok(());
        }
        while self
            .open
            .get(costs.passed)
            .is_some_and(|open| *open < cost.node)
        {
            costs.passed += 1;
            costs.tree.leave_room(COST_ROOM);
        }
        costs.last = cost.node;
        costs
            .tree
            .push(&mut self.file, cost_record(&mut self.record, &cost, ids))
    }

    /// Writes what is known at the end, and completes the file: SQLite can go on with it. Trees of
    /// small rows and the order of functions are made in other threads, as the importer has left
    /// its core; what the file holds depends on no clock.
    pub(in crate::store) fn finish(mut self, end: Option<&End<'_>>, ids: &Ids) -> io::Result<Rest> {
        let functions = std::mem::take(&mut self.functions);
        let on_disk = if self.lasts {
            Some(self.file.handle()?)
        } else {
            None
        };
        thread::scope(|scope| {
            // Most of the file is whole: the disk may begin. What fails is told to who asks first.
            let synced = on_disk
                .as_ref()
                .map(|file| aside(scope, || file.sync_data()));
            let added_up = end.and_then(|end| end.totals);
            let added_up = added_up.map(|totals| aside(scope, || AddedUp::new(totals, ids)));
            let sorted = aside(scope, || {
                let mut sorted: Vec<(i64, &Function)> =
                    (1..).zip(functions.iter().map(Arc::as_ref)).collect();
                sorted
                    .sort_unstable_by(|(_, left), (_, right)| text_key(left).cmp(&text_key(right)));
                sorted
            });
            if let Some(End {
                run,
                places,
                totals,
            }) = end
            {
                self.function_nodes(*run, places, ids)?;
                if let Some(totals) = totals {
                    self.lines(&totals.lines, ids)?;
                    self.label_costs(&totals.label_costs, ids)?;
                }
            }
            self.functions_key(&sorted.joined())?;
            added_up.map_or(Ok(()), |added_up| {
                added_up.joined()?.put_into(&mut self.file, &self.roots)
            })?;
            synced.map_or(Ok(()), Work::joined)
        })?;
        self.function_rows
            .finish(&mut self.file, self.roots.functions)?;
        self.nodes.finish(&mut self.file, self.roots.nodes)?;
        let mut whole: Option<IndexTree> = None;
        for costs in self.costs.into_iter().flatten() {
            match &mut whole {
                Some(whole) if !costs.tree.is_empty() => {
                    whole.join(
                        &mut self.file,
                        cost_record(&mut self.record, &costs.first, ids),
                        costs.tree,
                    )?;
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
        self.rest
            .costs
            .sort_unstable_by_key(|cost| (cost.metric, cost.node));
        Ok(self.rest)
    }

    fn functions_key(&mut self, sorted: &[(i64, &Function)]) -> io::Result<()> {
        let mut index = IndexTree::new(&self.file);
        for (at, (id, function)) in sorted.iter().enumerate() {
            if let Some((_, soon)) = sorted.get(at + AHEAD) {
                prefetch_index(std::slice::from_ref(*soon), 0);
            }
            let Function {
                kind,
                name,
                module,
                file,
                first_line,
                first_col,
                ..
            } = function;
            let record = self
                .record
                .start()
                .text(name)
                .text(module)
                .text(file)
                .text(kind.name());
            record
                .integer(i64::from(*first_line))
                .integer(i64::from(*first_col))
                .integer(*id);
            index.push(&mut self.file, record)?;
        }
        index.finish(&mut self.file, self.roots.functions_key)
    }

    /// Writes where the nodes of each function are.
    fn function_nodes(&mut self, run: i64, places: &Places, ids: &Ids) -> io::Result<()> {
        let mut tree = IndexTree::new(&self.file);
        places.by_function(ids, |function, nodes| {
            let mark = self.record.start().integer(run).integer(function).mark();
            for node in nodes {
                tree.push(
                    &mut self.file,
                    self.record.start_at(mark).integer(ids.node(*node)),
                )?;
            }
            io::Result::Ok(())
        })?;
        tree.finish(&mut self.file, self.roots.function_nodes)
    }

    fn lines(&mut self, rows: &Rows<InfoRow>, ids: &Ids) -> io::Result<()> {
        let mut tree = IndexTree::new(&self.file);
        for ((metric, function, file, line, col), row) in
            rows.sorted_by_key(|row| line_key(row, ids))
        {
            let figures = &row.figures;
            let record = self
                .record
                .start()
                .integer(metric)
                .integer(function)
                .text(file.as_deref().unwrap_or_default());
            record
                .integer(i64::from(line))
                .integer(i64::from(col))
                .integer_or_null(figures.calls.map(integer));
            record
                .real_or_null(figures.exclusive)
                .real_or_null(figures.cumulative);
            record.integer(i64::from(figures.recorded));
            tree.push(&mut self.file, record)?;
        }
        tree.finish(&mut self.file, self.roots.line_info)
    }

    fn label_costs(&mut self, rows: &[LabelCostRow], ids: &Ids) -> io::Result<()> {
        let mut tree = IndexTree::new(&self.file);
        for row in rows {
            let record = self
                .record
                .start()
                .integer(ids.metric(row.metric))
                .integer(ids.node(row.node));
            tree.push(
                &mut self.file,
                record.integer(label_set(row.labels)).real(row.exclusive),
            )?;
        }
        tree.finish(&mut self.file, self.roots.node_labels)
    }
}

/// Trees of what has been added up, in memory: they grow with the dictionaries, not with the nodes.
struct AddedUp {
    pages: PageBuffer,
    function_info: IndexTree,
    edges: IndexTree,
    edges_by_caller: IndexTree,
}

impl AddedUp {
    fn new(totals: &Totals, ids: &Ids) -> io::Result<Self> {
        let pages = PageBuffer::new(PAGE_SIZE);
        let [function_info, edges, edges_by_caller] = [(); 3].map(|()| IndexTree::new(&pages));
        let mut trees = Self {
            pages,
            function_info,
            edges,
            edges_by_caller,
        };
        let metrics: Vec<(usize, i64)> = (0..totals.metrics.len()).zip(ids.metrics()).collect();
        trees.infos(&metrics, &totals.functions, ids)?;
        trees.edges(&metrics, &totals.edges, ids)?;
        Ok(trees)
    }

    fn infos(
        &mut self,
        metrics: &[(usize, i64)],
        rows: &Rows<InfoRow>,
        ids: &Ids,
    ) -> io::Result<()> {
        let mentioned = ids.mentioned();
        let mut record = Record::default();
        for (metric, metric_id) in metrics {
            for (id, function) in &mentioned {
                let Some(row) = rows.get(*metric, function.0 as usize) else {
                    continue;
                };
                let figures = &row.figures;
                let record = record.start().integer(*metric_id).integer(*id);
                record
                    .integer_or_null(figures.calls.map(integer))
                    .integer_or_null(figures.primitive.map(integer));
                record
                    .real_or_null(figures.exclusive)
                    .real_or_null(figures.cumulative)
                    .real_or_null(figures.seen);
                record.integer(i64::from(figures.recorded));
                self.function_info.push(&mut self.pages, record)?;
            }
        }
        Ok(())
    }

    fn edges(
        &mut self,
        metrics: &[(usize, i64)],
        rows: &Rows<EdgeRow>,
        ids: &Ids,
    ) -> io::Result<()> {
        // All metrics have the same edges.
        let mut keys: Vec<(EdgeKey, usize)> = Vec::with_capacity(rows.each());
        keys.extend(rows.of_metric(0).map(|(at, row)| (edge_key(&row, ids), at)));
        keys.sort_unstable_by_key(|(key, _)| *key);
        let mut record = Record::default();
        for (metric, metric_id) in metrics {
            for (place, (key, at)) in keys.iter().enumerate() {
                if let Some((_, soon)) = keys.get(place + AHEAD) {
                    rows.prefetch(*metric, *soon);
                }
                let Some(row) = rows.get(*metric, *at) else {
                    continue;
                };
                let EdgeKey {
                    callee,
                    caller,
                    line,
                    col,
                    back,
                    ..
                } = *key;
                let record = record
                    .start()
                    .integer(*metric_id)
                    .integer(callee)
                    .integer(caller)
                    .integer(line);
                record
                    .integer(i64::from(col))
                    .integer(i64::from(back))
                    .integer_or_null(row.calls.map(integer));
                record
                    .real_or_null(row.exclusive)
                    .real_or_null(row.cumulative);
                record
                    .real_or_null(other(row.outermost, row.cumulative))
                    .real_or_null(other(row.seen, row.cumulative));
                self.edges.push(&mut self.pages, record)?;
            }
        }
        keys.sort_unstable_by_key(|(key, _)| (key.caller, key.callee, key.line, key.col, key.back));
        for (_, metric_id) in metrics {
            for (
                EdgeKey {
                    callee,
                    caller,
                    line,
                    col,
                    back,
                    ..
                },
                _,
            ) in &keys
            {
                let record = record
                    .start()
                    .integer(*metric_id)
                    .integer(*caller)
                    .integer(*callee)
                    .integer(*line);
                record.integer(i64::from(*col)).integer(i64::from(*back));
                self.edges_by_caller.push(&mut self.pages, record)?;
            }
        }
        Ok(())
    }

    fn put_into(self, file: &mut PageFile, roots: &Roots) -> io::Result<()> {
        let numbers = file.take(&self.pages)?;
        let trees = [
            (self.function_info, roots.function_info),
            (self.edges, roots.edges),
            (self.edges_by_caller, roots.edges_by_caller),
        ];
        for (mut tree, root) in trees {
            tree.move_to(&numbers);
            tree.finish(file, root)?;
        }
        Ok(())
    }
}

fn cost_record<'r>(record: &'r mut Record, cost: &CostRow, ids: &Ids) -> &'r mut Record {
    record
        .start()
        .integer(ids.metric(cost.metric))
        .integer(ids.node(cost.node));
    record
        .real(cost.figures.exclusive)
        .real_or_null(cumulative_other(cost.figures))
}

/// The key of functions besides their number.
fn text_key(function: &Function) -> (&str, &str, &str, &str, u32, u32) {
    let Function {
        kind,
        name,
        module,
        file,
        first_line,
        first_col,
        ..
    } = function;
    (name, module, file, kind.name(), *first_line, *first_col)
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use rusqlite::Connection;

    use crate::sqlite::btree::{IndexTree, TableTree};
    use crate::sqlite::page_file::PageFile;
    use crate::sqlite::record::Record;

    /// Small pages: a few thousand rows are a tree of several levels.
    const PAGE_SIZE: u16 = 512;

    /// A number for each position, in no order.
    fn mixed(at: u64) -> u64 {
        at.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31)
    }

    /// A text, of `longest` bytes at most.
    fn text(at: u64, longest: u64) -> String {
        let length = usize::try_from(mixed(at) % (longest + 1)).expect("a short text");
        format!("{at:09}").repeat(length / 9 + 1)
    }

    /// Writes trees of `rows` rows with texts up to `longest`, and lets SQLite read them.
    fn check(rows: u64, longest: u64) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("trees.db");
        let connection = Connection::open(&path).expect("a file");
        let schema = format!(
            "PRAGMA page_size = {PAGE_SIZE};
             CREATE TABLE numbered (id INTEGER PRIMARY KEY, number INTEGER, cost REAL, name TEXT, gone TEXT) STRICT;
             CREATE TABLE sorted (part INTEGER, name TEXT, cost REAL, PRIMARY KEY (part, name)) STRICT, WITHOUT ROWID;"
        );
        connection.execute_batch(&schema).expect("a schema");
        let root = |name: &str| {
            let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
            connection
                .query_row(sql, [name], |row| row.get::<_, u32>(0))
                .expect("a table")
        };
        let options = File::options()
            .read(true)
            .write(true)
            .open(&path)
            .expect("it is there");
        let mut file = PageFile::new(options, PAGE_SIZE).expect("a file of whole pages");
        let mut record = Record::default();
        let mut numbered = TableTree::new(&file);
        // Two parts that grow at the same time.
        let mut parts = [IndexTree::new(&file), IndexTree::new(&file)];
        let mut late = Vec::new();
        for at in 1..=rows {
            let (id, number, cost, name) = row(at, longest);
            if at % 50 == 17 {
                numbered.leave_room(40);
                late.push((id, number, cost, name));
                continue;
            }
            record
                .start()
                .null()
                .integer(number)
                .real(cost)
                .text(&name)
                .null();
            numbered
                .push(&mut file, id, &mut record)
                .expect("space on the disk");
            for (part, tree) in (0..).zip(&mut parts) {
                // The first row of a part may become what divides it from the part before.
                if at > 1 {
                    tree.push(
                        &mut file,
                        record.start().integer(part).text(&name).real(cost),
                    )
                    .expect("space");
                }
            }
        }
        numbered
            .finish(&mut file, root("numbered"))
            .expect("space on the disk");
        let [mut first, second] = parts;
        if !second.is_empty() {
            let (_, _, cost, name) = row(1, longest);
            let divider = record.start().integer(1).text(&name).real(cost);
            first
                .join(&mut file, divider, second)
                .expect("space on the disk");
        }
        first
            .finish(&mut file, root("sorted"))
            .expect("space on the disk");
        file.finish().expect("space on the disk");

        let insert = "INSERT INTO numbered (id, number, cost, name) VALUES (?1, ?2, ?3, ?4)";
        for (id, number, cost, name) in &late {
            let id = i64::try_from(*id).expect("63 bits");
            connection
                .execute(insert, (id, number, cost, name))
                .expect("a row that is missing");
        }
        let found: String = connection
            .query_row("PRAGMA integrity_check", [], |row| row.get(0))
            .expect("an answer");
        assert_eq!(found, "ok", "{rows} rows");
        let mut select = connection
            .prepare("SELECT id, number, cost, name, gone FROM numbered ORDER BY id")
            .expect("SQL");
        let read = |row: &rusqlite::Row<'_>| {
            assert_eq!(row.get::<_, Option<String>>(4)?, None);
            Ok((
                row.get::<_, i64>(0)?,
                row.get(1)?,
                row.get::<_, f64>(2)?,
                row.get(3)?,
            ))
        };
        let stored: Vec<_> = select
            .query_map([], read)
            .expect("rows")
            .collect::<Result<_, _>>()
            .expect("rows");
        let expected: Vec<_> = (1..=rows)
            .map(|at| row(at, longest))
            .map(|(id, number, cost, name)| {
                (i64::try_from(id).expect("63 bits"), number, cost, name)
            })
            .collect();
        assert_eq!(stored, expected);
        let mut select = connection
            .prepare("SELECT part, name, cost FROM sorted ORDER BY part, name")
            .expect("SQL");
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        let stored: Vec<(i64, String, f64)> = select
            .query_map([], read)
            .expect("rows")
            .collect::<Result<_, _>>()
            .expect("rows");
        let expected: Vec<_> = (0..2)
            .flat_map(|part| (1..=rows).map(move |at| (part, at)))
            .filter(|&(part, at)| at % 50 != 17 && (at > 1 || (part == 1 && rows > 1)))
            .map(|(part, at)| (part, row(at, longest).3, row(at, longest).2))
            .collect();
        assert_eq!(stored, expected);
    }

    /// A row whose columns take all lengths that numbers can take.
    fn row(at: u64, longest: u64) -> (u64, i64, f64, String) {
        let number = (mixed(at) >> (mixed(at + 1) % 64)).cast_signed()
            * if at.is_multiple_of(3) { -1 } else { 1 };
        #[expect(clippy::cast_precision_loss, reason = "any number will do")]
        let cost = if at.is_multiple_of(2) {
            number as f64
        } else {
            number as f64 / 1024.0
        };
        // Numbers of rows grow from one byte to nine.
        let id = at + if at > 1000 { 1 << (at / 40).min(61) } else { 0 };
        (id, number, cost, text(at, longest))
    }

    #[test]
    fn trees_of_every_small_size_are_sound() {
        for rows in 0..260 {
            check(rows, 60);
        }
    }

    #[test]
    fn trees_of_several_levels_are_sound() {
        for rows in [2000, 2399, 2400, 6000] {
            check(rows, 30);
        }
    }

    #[test]
    fn what_is_longer_than_a_page_has_pages_of_its_own() {
        for longest in [100, 500, 1000, 5000] {
            check(300, longest);
        }
    }
}
