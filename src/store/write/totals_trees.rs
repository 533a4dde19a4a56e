//! The b-trees of totals: `function_info`, `edges` and its index. Another thread makes them than
//! the one that writes the file, so their pages wait beside it.

use std::io;
use std::path::PathBuf;

use super::columns::integer;
use super::ids::{Ids, ROWS_AHEAD, StoredFunction, StoredMetric};
use super::keys::{EdgeKey, edge_key};
use super::page_buffer::PageBuffer;
use super::roots::Roots;
use crate::events::{EdgeKind, FunctionId};
use crate::profile::{EdgeRow, InfoRow, Rows, RunSummary};
use crate::store::file::empty::PAGE_SIZE;
use crate::store::rows::to_other;
use profdb_sqlite_pages::btree::IndexTree;
use profdb_sqlite_pages::page_file::{PageFile, Pages};
use profdb_sqlite_pages::record::Record;

/// The trees of one run: they grow with functions and edges, not with nodes.
pub(super) struct TotalsTrees {
    pages: PageBuffer,
    trees: Trees,
}

/// The trees.
pub(super) struct Trees {
    function_info: IndexTree,
    edges: IndexTree,
    edges_by_caller: IndexTree,
}

impl TotalsTrees {
    /// Makes the trees of all metrics. Their pages wait beside `place`, if there is one.
    pub(super) fn new(totals: &RunSummary, ids: &Ids, place: Option<PathBuf>) -> io::Result<Self> {
        let mut pages = PageBuffer::beside(place, PAGE_SIZE);
        let mut trees = Trees::new(&pages);
        trees.push(&mut pages, totals, ids)?;
        Ok(Self { pages, trees })
    }

    /// Appends the pages to the file, and writes the roots.
    pub(super) fn put_into(self, file: &mut PageFile, roots: &Roots) -> io::Result<()> {
        let Self { pages, mut trees } = self;
        let numbers = pages.put_into(file)?;
        let Trees {
            function_info,
            edges,
            edges_by_caller,
        } = &mut trees;
        for tree in [function_info, edges, edges_by_caller] {
            tree.move_to(&numbers)?;
        }
        trees.finish(file, roots)
    }
}

impl Trees {
    /// Trees without rows.
    pub(super) fn new(pages: &impl Pages) -> Self {
        let [function_info, edges, edges_by_caller] = [(); 3].map(|()| IndexTree::new(pages));
        Self {
            function_info,
            edges,
            edges_by_caller,
        }
    }

    /// Appends the rows of a run, whose metrics come after all before.
    pub(super) fn push(
        &mut self,
        pages: &mut impl Pages,
        totals: &RunSummary,
        ids: &Ids,
    ) -> io::Result<()> {
        // Keys begin with the metric, so rows come metric by metric.
        let metrics: Vec<(usize, StoredMetric)> =
            (0..totals.metrics.len()).zip(ids.metrics()).collect();
        self.infos(pages, &metrics, &totals.functions, ids)?;
        self.edges(pages, &metrics, &totals.edges, ids)
    }

    /// Writes the rest of the trees, the roots to their places.
    pub(super) fn finish(self, file: &mut PageFile, roots: &Roots) -> io::Result<()> {
        self.function_info.finish(file, roots.function_info)?;
        self.edges.finish(file, roots.edges)?;
        self.edges_by_caller.finish(file, roots.edges_by_caller)
    }

    fn infos(
        &mut self,
        pages: &mut impl Pages,
        metrics: &[(usize, StoredMetric)],
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
                let record = record.start().integer(metric_id.0).integer(id.0);
                record
                    .integer_or_null(figures.calls.map(integer))
                    .integer_or_null(figures.primitive.map(integer));
                record
                    .real_or_null(figures.exclusive)
                    .real_or_null(figures.cumulative)
                    .real_or_null(figures.seen);
                record.integer(i64::from(figures.recorded));
                self.function_info.push(pages, record)?;
            }
        }
        Ok(())
    }

    fn edges(
        &mut self,
        pages: &mut impl Pages,
        metrics: &[(usize, StoredMetric)],
        rows: &Rows<EdgeRow>,
        ids: &Ids,
    ) -> io::Result<()> {
        // All metrics have the same edges.
        let ranks = Ranks::of(ids);
        let order = ranks.order(rows, ids, |callee, back, caller| {
            [callee, u32::from(back) << 31 | caller]
        });
        let mut record = Record::default();
        for (metric, metric_id) in metrics {
            for (position, [.., at]) in order.iter().enumerate() {
                if let Some([.., soon]) = order.get(position + ROWS_AHEAD) {
                    rows.prefetch(*metric, *soon as usize);
                }
                let Some(row) = rows.get(*metric, *at as usize) else {
                    continue;
                };
                let key = edge_key(&row, ids);
                let record = record
                    .start()
                    .integer(metric_id.0)
                    .integer(key.callee.0)
                    .integer(i64::from(key.back))
                    .integer(key.caller.0);
                place(record, &key).integer_or_null(row.calls.map(integer));
                record
                    .real_or_null(row.exclusive)
                    .real_or_null(row.cumulative);
                record
                    .real_or_null(to_other(row.cumulative, row.outermost))
                    .real_or_null(to_other(row.cumulative, row.seen));
                self.edges.push(pages, record)?;
            }
        }
        drop(order);
        // Rows of the index are its own columns and then the rest of the table's key; the order is
        // sorted once and serves every metric.
        let order = ranks.order(rows, ids, |callee, back, caller| {
            [caller, callee << 1 | u32::from(back)]
        });
        for (_, metric_id) in metrics {
            for (position, [.., at]) in order.iter().enumerate() {
                if let Some([.., soon]) = order.get(position + ROWS_AHEAD) {
                    rows.prefetch(0, *soon as usize);
                }
                let Some(row) = rows.get(0, *at as usize) else {
                    continue;
                };
                let key = edge_key(&row, ids);
                let record = record
                    .start()
                    .integer(metric_id.0)
                    .integer(key.caller.0)
                    .integer(key.callee.0)
                    .integer(i64::from(key.back));
                self.edges_by_caller.push(pages, place(record, &key))?;
            }
        }
        Ok(())
    }
}

/// The places of functions, by number in the run, in the order of their numbers in the database; that of the root, which is no function.
/// Keys of edges made of these are a fifth as large as those of rows, and there may be millions.
struct Ranks {
    of: Vec<u32>,
    root: u32,
}

impl Ranks {
    fn of(ids: &Ids) -> Self {
        let mentioned = ids.mentioned();
        let last = mentioned.iter().map(|(_, function)| function.0).max();
        let mut of = vec![0; last.map_or(0, |last| last as usize + 1)];
        // The root's edges have the number 0 in the place of the caller's.
        let (mut root, mut next) = (0, 0);
        for functions in mentioned.chunk_by(|(one, _), (other, _)| one == other) {
            if functions[0].0 < StoredFunction(0) {
                root = next + 1;
            }
            next += u32::from(next == root);
            for (_, function) in functions {
                of[function.0 as usize] = next;
            }
            next += 1;
        }
        Self { of, root }
    }

    fn rank(&self, function: Option<FunctionId>) -> u32 {
        let rank = function.and_then(|function| self.of.get(function.0 as usize));
        rank.copied().unwrap_or(self.root)
    }

    /// Where the edges of a metric are, in the order of a key of callee, whether it is a back edge, and caller; those of one key by file,
    /// line and column. Each has its key before it. Functions are fewer than 2^31.
    fn order(
        &self,
        rows: &Rows<EdgeRow>,
        ids: &Ids,
        key: impl Fn(u32, bool, u32) -> [u32; 2],
    ) -> Vec<[u32; 3]> {
        let mut order = Vec::with_capacity(rows.each());
        order.extend(rows.of_metric(0).map(|(at, row)| {
            let is_back = row.kind == EdgeKind::Back;
            let [first, second] = key(self.rank(Some(row.callee)), is_back, self.rank(row.caller));
            [first, second, u32::try_from(at).unwrap_or(u32::MAX)]
        }));
        order.sort_unstable();
        let mut keys = Vec::new();
        for same in order.chunk_by_mut(|one, other| one[..2] == other[..2]) {
            if same.len() == 1 {
                continue;
            }
            let of_row =
                |[.., at]: &[u32; 3]| Some((edge_key(&rows.get(0, *at as usize)?, ids), *at));
            keys.extend(same.iter().filter_map(of_row));
            keys.sort_unstable_by(|(one, _), (other, _)| {
                (&one.file, one.line, one.col).cmp(&(&other.file, other.line, other.col))
            });
            for ([.., at], (_, sorted)) in same.iter_mut().zip(keys.drain(..)) {
                *at = sorted;
            }
        }
        order
    }
}

/// Adds where a call is made: file, line and column.
fn place<'r>(record: &'r mut Record, key: &EdgeKey) -> &'r mut Record {
    record
        .text(key.file.as_deref().unwrap_or_default())
        .integer(key.line)
        .integer(i64::from(key.col))
}
