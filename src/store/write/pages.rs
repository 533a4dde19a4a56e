//! The rows of a run, written as pages of empty tables (see [`profdb_sqlite_pages::btree`]). Rows that do
//! not come in the order of their keys wait ([`super::late_rows`]) until the end, when they are put
//! into pages that have room left for them.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use prefetch_index::prefetch_index;
use rusqlite::Connection;

use super::columns::integer;
use super::cost_trees::CostTrees;
use super::identity_trees::IdentityTrees;
use super::ids::{Ids, ROWS_AHEAD, StoredFunction, StoredRun};
use super::late_rows::{LateKey, LateRows};
use super::postings::Postings;
use super::roots::Roots;
use super::row_trees::{
    node_record, push_function_nodes, push_label_costs, push_lines, start_table_row,
};
use super::totals_trees::TotalsTrees;
use crate::base::threads::{Work, aside};
use crate::events::{FunctionDef, FunctionId};
use crate::identity::{IdentityKey, Rules};
use crate::profile::{Batch, Function, InfoRow, LabelCostRow, NodeRow, Rows, RunSummary};
use crate::store::error::Cause;
use crate::store::file::empty::PAGE_SIZE;
use profdb_sqlite_pages::btree::{IndexTree, TableTree};
use profdb_sqlite_pages::page_file::PageFile;
use profdb_sqlite_pages::record::Record;

/// Room for the row of a node that is still open. Most take less.
const NODE_ROOM: usize = 56;

/// The group of late rows of `nodes`; those of the metrics in `node_costs` come after it.
const NODES: u64 = 0;

/// A run that is written as pages.
pub(super) struct RunPages {
    file: PageFile,
    /// Temporary files may be made beside it.
    place: Option<PathBuf>,
    /// The file has to reach the disk.
    is_kept: bool,
    roots: Roots,
    record: Record,
    functions: Vec<Arc<Function>>,
    function_rows: TableTree,
    identities: IdentityTrees,
    nodes: TableTree,
    /// The number after that of the last node in the tree.
    next: u64,
    /// Nodes of the current batch that are still open.
    open: Vec<u64>,
    costs: CostTrees,
    late: LateRows,
}

/// What is known at the end of a run.
pub(super) struct RunEnd<'t> {
    pub(super) run: StoredRun,
    pub(super) postings: Postings,
    /// The totals, unless SQL is to write them.
    pub(super) totals: Option<&'t RunSummary>,
}

impl RunPages {
    /// Pages for the empty tables of a new database. Late rows may wait in a file beside `place`.
    pub(super) fn of_new_file(
        connection: &Connection,
        file: File,
        place: Option<PathBuf>,
    ) -> Result<Self, Cause> {
        Ok(Self {
            is_kept: true,
            ..Self::of_temporary_file(connection, file, place)?
        })
    }

    /// Pages for the empty tables of a file that is there for the time of the import only.
    pub(super) fn of_temporary_file(
        connection: &Connection,
        file: File,
        place: Option<PathBuf>,
    ) -> Result<Self, Cause> {
        let file = PageFile::new(file, PAGE_SIZE)?;
        Ok(Self {
            function_rows: TableTree::new(&file),
            identities: IdentityTrees::new(&file),
            nodes: TableTree::new(&file),
            costs: CostTrees::default(),
            file,
            is_kept: false,
            roots: Roots::of(connection)?,
            record: Record::default(),
            functions: Vec::new(),
            next: 1,
            open: Vec::new(),
            late: LateRows::beside(place.clone()),
            place,
        })
    }

    /// Writes functions, numbered from 1 in the order in which they come, and takes them out of the
    /// batch.
    pub(super) fn functions(
        &mut self,
        functions: &mut Vec<(FunctionId, Arc<Function>)>,
        rules: &Rules,
        ids: &mut Ids,
    ) -> io::Result<()> {
        for (id, function) in functions.drain(..) {
            let (row_id, key) = self.function(&function, rules)?;
            self.functions.push(function);
            ids.learn(id, StoredFunction(integer(row_id)), key);
        }
        Ok(())
    }

    /// Writes nodes and costs, and takes them out of the batch.
    pub(super) fn rows(&mut self, batch: &mut Batch, ids: &Ids) -> io::Result<()> {
        self.open.clear();
        for (at, node) in batch.nodes.iter().enumerate() {
            if let Some(soon) = batch.nodes.get(at + ROWS_AHEAD) {
                ids.prefetch(soon.function);
            }
            self.node(node, ids)?;
        }
        batch.nodes.clear();
        self.costs.begin_batch();
        for cost in batch.costs.drain(..) {
            let (file, record) = (&mut self.file, &mut self.record);
            self.costs
                .push(file, record, cost, &self.open, ids, &mut self.late)?;
        }
        Ok(())
    }

    /// Writes the row of a function; returns its row id and the key of its identity.
    fn function(&mut self, function: &Function, rules: &Rules) -> io::Result<(u64, IdentityKey)> {
        let definition = function.definition();
        let identity = rules.identity(&definition);
        let key = identity.key();
        let (pages, record) = (&mut self.file, &mut self.record);
        let identity = self
            .identities
            .of_next_function(pages, record, &identity, &key)?;
        let FunctionDef {
            kind,
            name,
            raw_name: _,
            module,
            file,
            first_line,
            first_col,
        } = definition;
        let row_id = self.functions.len() as u64 + 1;
        let record = start_table_row(&mut self.record)
            .text(kind.name())
            .text(name)
            .text(module)
            .text(file);
        let record = record
            .integer(i64::from(first_line))
            .integer(i64::from(first_col));
        let record = record.text_or_null(function.raw_name()).integer(identity);
        self.function_rows.push(&mut self.file, row_id, record)?;
        Ok((row_id, key))
    }

    fn node(&mut self, node: &NodeRow, ids: &Ids) -> io::Result<()> {
        let is_late = node.node < self.next;
        if !is_late {
            // A gap in the numbers is a node that is still open: its row comes in a later batch,
            // and goes between these two (docs/design/0001-late-rows.md).
            for open in self.next..node.node {
                self.open.push(open);
                self.nodes.leave_room(NODE_ROOM);
            }
            self.next = node.node + 1;
        }
        let record = node_record(&mut self.record, node, ids);
        let row_id = ids.node(node.node).0.cast_unsigned();
        if !is_late {
            return self.nodes.push(&mut self.file, row_id, record);
        }
        let mut shortened = Vec::new();
        let cell = TableTree::late_cell(&mut self.file, row_id, record, &mut shortened)?;
        let key = LateKey {
            group: NODES,
            number: row_id,
        };
        self.late.add(key, cell)
    }

    /// Writes what is known at the end, and completes the file, so that SQLite can change it. Trees
    /// of totals and the order of functions are made in other threads: the importer no longer needs
    /// its core. What the file holds depends on no clock.
    pub(super) fn finish(mut self, end: RunEnd<'_>, ids: &Ids) -> io::Result<()> {
        let functions = std::mem::take(&mut self.functions);
        let on_disk = if self.is_kept {
            Some(self.file.handle()?)
        } else {
            None
        };
        let RunEnd {
            run,
            postings,
            totals,
        } = end;
        thread::scope(|scope| {
            // Most of the file is whole: the disk may begin.
            let synced = on_disk
                .as_ref()
                .map(|file| aside(scope, || file.sync_data()));
            let place = self.place.clone();
            let trees =
                totals.map(|totals| aside(scope, move || TotalsTrees::new(totals, ids, place)));
            let sorted = aside(scope, || {
                // Rust compares texts byte by byte, as SQLite's collation BINARY does.
                let mut sorted: Vec<(i64, &Function)> =
                    (1..).zip(functions.iter().map(Arc::as_ref)).collect();
                sorted.sort_unstable_by(|(_, left), (_, right)| {
                    // Most differ in their names: nothing else of them is looked at.
                    let names = left.name().cmp(right.name());
                    names.then_with(|| text_key(left).cmp(&text_key(right)))
                });
                sorted
            });
            self.function_nodes(run, postings, ids)?;
            if let Some(totals) = totals {
                self.lines(&totals.lines, ids)?;
                self.label_costs(&totals.label_costs, ids)?;
            }
            // The order of these steps is that of the pages in the file: it is fixed, whatever
            // thread is done first.
            self.functions_key(&sorted.joined())?;
            trees.map_or(Ok(()), |trees| {
                trees.joined()?.put_into(&mut self.file, &self.roots)
            })?;
            synced.map_or(Ok(()), Work::joined)
        })?;
        let Self {
            mut file,
            roots,
            mut record,
            function_rows,
            identities,
            mut nodes,
            costs,
            mut late,
            ..
        } = self;
        function_rows.finish(&mut file, roots.functions)?;
        identities.finish(&mut file, &mut record, &roots)?;
        costs.complete_late(&mut file, &mut record, ids, &mut late)?;
        let mut late = late.into_sorted()?;
        nodes.merge(&mut file, &mut late.group(NODES))?;
        nodes.finish(&mut file, roots.nodes)?;
        costs.finish(&mut file, &mut record, roots.node_costs, ids, &mut late)?;
        file.finish()
    }

    fn functions_key(&mut self, sorted: &[(i64, &Function)]) -> io::Result<()> {
        let mut index = IndexTree::new(&self.file);
        for (at, (id, function)) in sorted.iter().enumerate() {
            if let Some((_, soon)) = sorted.get(at + ROWS_AHEAD) {
                prefetch_index(std::slice::from_ref(*soon), 0);
            }
            let FunctionDef {
                kind,
                name,
                module,
                file,
                first_line,
                first_col,
                ..
            } = function.definition();
            let record = self
                .record
                .start()
                .text(name)
                .text(module)
                .text(file)
                .text(kind.name());
            record
                .integer(i64::from(first_line))
                .integer(i64::from(first_col))
                .integer(*id);
            index.push(&mut self.file, record)?;
        }
        index.finish(&mut self.file, self.roots.functions_key)
    }

    fn function_nodes(&mut self, run: StoredRun, postings: Postings, ids: &Ids) -> io::Result<()> {
        let mut tree = IndexTree::new(&self.file);
        let (file, record) = (&mut self.file, &mut self.record);
        push_function_nodes(&mut tree, file, record, (run, postings), ids)?;
        tree.finish(&mut self.file, self.roots.function_nodes)
    }

    fn lines(&mut self, rows: &Rows<InfoRow>, ids: &Ids) -> io::Result<()> {
        let mut tree = IndexTree::new(&self.file);
        push_lines(&mut tree, &mut self.file, &mut self.record, rows, ids)?;
        tree.finish(&mut self.file, self.roots.line_info)
    }

    fn label_costs(&mut self, rows: &[LabelCostRow], ids: &Ids) -> io::Result<()> {
        let mut tree = IndexTree::new(&self.file);
        push_label_costs(&mut tree, &mut self.file, &mut self.record, rows, ids)?;
        tree.finish(&mut self.file, self.roots.node_labels)
    }
}

/// The columns of the unique index of functions.
fn text_key(function: &Function) -> (&str, &str, &str, &str, u32, u32) {
    let FunctionDef {
        kind,
        name,
        module,
        file,
        first_line,
        first_col,
        ..
    } = function.definition();
    (name, module, file, kind.name(), first_line, first_col)
}
