//! Rows of one run, appended to b-trees in the order of their keys.

use std::io;

use super::columns::{cumulative_other, integer};
use super::ids::{Ids, StoredLabels, StoredRun};
use super::keys::{LineKey, line_key};
use super::postings::Postings;
use crate::profile::{CostRow, InfoRow, LabelCostRow, NodeRow, Rows};
use profdb_sqlite_pages::btree::IndexTree;
use profdb_sqlite_pages::page_file::PageFile;
use profdb_sqlite_pages::record::Record;

/// Starts a row of a table with row ids. Their column is NULL in the record: the cell has the row id
/// (section 2.3 of the file format).
pub(super) fn start_table_row(record: &mut Record) -> &mut Record {
    record.start().null()
}

/// A row of `nodes`.
pub(super) fn node_record<'r>(record: &'r mut Record, node: &NodeRow, ids: &Ids) -> &'r mut Record {
    let function = ids.function(node.function);
    let place = node.place.as_ref();
    let record = start_table_row(record);
    record
        .integer_or_null(node.up.map(integer))
        .integer(integer(node.size))
        .integer(i64::from(node.depth));
    record
        .integer(function.0)
        .integer_or_null(node.calls.map(integer))
        .real(node.cost.exclusive);
    record
        .integer_or_null(place.map(|place| i64::from(place.line)))
        .real_or_null(cumulative_other(node.cost));
    record.integer_or_null(node.outer_up.map(integer));
    record.integer_or_null(
        place
            .filter(|place| place.col != 0)
            .map(|place| i64::from(place.col)),
    );
    record.text_or_null(place.and_then(|place| place.file.as_deref()))
}

/// A row of `node_costs`.
pub(super) fn cost_record<'r>(record: &'r mut Record, cost: &CostRow, ids: &Ids) -> &'r mut Record {
    record
        .start()
        .integer(ids.metric(cost.metric).0)
        .integer(ids.node(cost.node).0)
        .real(cost.cost.exclusive)
        .real_or_null(cumulative_other(cost.cost))
}

/// Appends the rows of `function_nodes`.
pub(super) fn push_function_nodes(
    tree: &mut IndexTree,
    file: &mut PageFile,
    record: &mut Record,
    (run, postings): (StoredRun, Postings),
    ids: &Ids,
) -> io::Result<()> {
    postings.by_function(ids, |function, nodes| {
        let mark = record.start().integer(run.0).integer(function.0).mark();
        for node in nodes {
            tree.push(file, record.start_at(mark).integer(ids.node(*node).0))?;
        }
        io::Result::Ok(())
    })
}

/// Appends the rows of `line_info`.
pub(super) fn push_lines(
    tree: &mut IndexTree,
    file: &mut PageFile,
    record: &mut Record,
    rows: &Rows<InfoRow>,
    ids: &Ids,
) -> io::Result<()> {
    for (key, row) in rows.sorted_by_key(|row| line_key(row, ids)) {
        let LineKey {
            metric,
            function,
            file: source_file,
            line,
            col,
        } = key;
        let figures = &row.figures;
        let record = record
            .start()
            .integer(metric.0)
            .integer(function.0)
            .text(source_file.as_deref().unwrap_or_default());
        record
            .integer(i64::from(line))
            .integer(i64::from(col))
            .integer_or_null(figures.calls.map(integer));
        record
            .real_or_null(figures.exclusive)
            .real_or_null(figures.cumulative);
        record.integer(i64::from(figures.recorded));
        tree.push(file, record)?;
    }
    Ok(())
}

/// Appends the rows of `node_labels`.
pub(super) fn push_label_costs(
    tree: &mut IndexTree,
    file: &mut PageFile,
    record: &mut Record,
    rows: &[LabelCostRow],
    ids: &Ids,
) -> io::Result<()> {
    for row in rows {
        let record = record
            .start()
            .integer(ids.metric(row.metric).0)
            .integer(ids.node(row.node).0);
        tree.push(
            file,
            record
                .integer(StoredLabels::from(row.labels).0)
                .real(row.exclusive),
        )?;
    }
    Ok(())
}
