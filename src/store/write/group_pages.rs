//! The rows of several runs, written as pages of empty tables: one tree for each table, to which
//! every run appends its rows.
//!
//! [`super::pages`] writes one run, batch by batch, and puts late rows in their places. Here each run is
//! in memory as a whole: its rows come in the order of their keys, and those of the next run come
//! after them, because each key begins with the node, the run or the metric.

use std::io;

use super::ids::{Ids, StoredRun};
use super::postings::Postings;
use super::roots::Roots;
use super::row_trees::{
    cost_record, node_record, push_function_nodes, push_label_costs, push_lines,
};
use super::segment::SegmentFile;
use super::totals_trees::Trees;
use crate::profile::{Batch, RunSummary};
use crate::store::error::Cause;
use crate::store::file::empty::PAGE_SIZE;
use profdb_sqlite_pages::btree::{IndexTree, TableTree};
use profdb_sqlite_pages::page_file::PageFile;
use profdb_sqlite_pages::record::Record;

/// Runs that are written as pages.
pub(super) struct GroupPages {
    segment: SegmentFile,
    file: PageFile,
    roots: Roots,
    record: Record,
    nodes: TableTree,
    node_costs: IndexTree,
    function_nodes: IndexTree,
    line_info: IndexTree,
    node_labels: IndexTree,
    totals: Trees,
}

impl GroupPages {
    /// Pages for the empty tables of a segment.
    pub(super) fn new(segment: SegmentFile) -> Result<Self, Cause> {
        let file = PageFile::new(segment.file()?, PAGE_SIZE)?;
        let [node_costs, function_nodes, line_info, node_labels] =
            [(); 4].map(|()| IndexTree::new(&file));
        Ok(Self {
            roots: segment.roots()?,
            record: Record::default(),
            nodes: TableTree::new(&file),
            node_costs,
            function_nodes,
            line_info,
            node_labels,
            totals: Trees::new(&file),
            segment,
            file,
        })
    }

    /// Appends a run, whose nodes and costs are in the order of their keys.
    pub(super) fn run(
        &mut self,
        run: StoredRun,
        rows: &Batch,
        totals: &RunSummary,
        ids: &Ids,
    ) -> io::Result<()> {
        let (file, record) = (&mut self.file, &mut self.record);
        for node in &rows.nodes {
            let id = ids.node(node.node).0.cast_unsigned();
            self.nodes.push(file, id, node_record(record, node, ids))?;
        }
        for cost in &rows.costs {
            self.node_costs.push(file, cost_record(record, cost, ids))?;
        }
        let mut postings = Postings::beside(None);
        postings.learn(&rows.nodes, ids)?;
        push_function_nodes(&mut self.function_nodes, file, record, (run, postings), ids)?;
        push_lines(&mut self.line_info, file, record, &totals.lines, ids)?;
        push_label_costs(
            &mut self.node_labels,
            file,
            record,
            &totals.label_costs,
            ids,
        )?;
        self.totals.push(file, totals, ids)
    }

    /// Completes the segment.
    pub(super) fn finish(mut self) -> io::Result<SegmentFile> {
        let (file, roots) = (&mut self.file, &self.roots);
        self.nodes.finish(file, roots.nodes)?;
        self.node_costs.finish(file, roots.node_costs)?;
        self.function_nodes.finish(file, roots.function_nodes)?;
        self.line_info.finish(file, roots.line_info)?;
        self.node_labels.finish(file, roots.node_labels)?;
        self.totals.finish(file, roots)?;
        self.file.finish()?;
        Ok(self.segment)
    }
}
