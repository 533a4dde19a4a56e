//! The rows of a run, inserted by SQL.

use rusqlite::{Connection, OptionalExtension, ToSql, params};

use super::columns::{cumulative_other, integer};
use super::ids::{Ids, StoredFunction, StoredLabels, StoredRun};
use super::keys::{EdgeKey, LineKey, edge_key, info_key, line_key};
use super::postings::Postings;
use crate::events::FunctionDef;
use crate::identity::{Identity, IdentityKey, Rules};
use crate::profile::{Batch, CostRow, EdgeRow, Function, InfoRow, LabelCostRow, NodeRow, Rows};
use crate::store::error::Cause;
use crate::store::identities::identity_id;
use crate::store::rows::to_other;

/// Inserts rows into one database.
pub(super) struct SqlRows<'w> {
    pub(super) connection: &'w Connection,
    pub(super) ids: &'w Ids,
}

impl SqlRows<'_> {
    /// Nodes and costs of a batch.
    pub(super) fn batch(&self, batch: &Batch) -> rusqlite::Result<()> {
        self.nodes(&batch.nodes)?;
        self.costs(&batch.costs)
    }

    /// Rows of `nodes`.
    pub(super) fn nodes(&self, nodes: &[NodeRow]) -> rusqlite::Result<()> {
        let sql = "INSERT INTO nodes (node_id, up, size, depth, function_id, calls, exclusive, line, cumulative_other,
                                      outer_up, col, file)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
        let mut insert = self.connection.prepare_cached(sql)?;
        for node in nodes {
            let place = node.place.as_ref();
            insert.execute(params![
                self.ids.node(node.node),
                node.up.map(integer),
                integer(node.size),
                node.depth,
                self.ids.function(node.function),
                node.calls.map(integer),
                node.cost.exclusive,
                place.map(|place| place.line),
                cumulative_other(node.cost),
                node.outer_up.map(integer),
                place.and_then(|place| (place.col != 0).then_some(place.col)),
                place.and_then(|place| place.file.as_deref()),
            ])?;
        }
        Ok(())
    }

    /// Rows of `node_costs`.
    pub(super) fn costs(&self, costs: &[CostRow]) -> rusqlite::Result<()> {
        let sql = "INSERT INTO node_costs (metric_id, node_id, exclusive, cumulative_other) VALUES (?1, ?2, ?3, ?4)";
        let mut insert = self.connection.prepare_cached(sql)?;
        for cost in costs {
            let (metric, node) = (self.ids.metric(cost.metric), self.ids.node(cost.node));
            insert.execute(params![
                metric,
                node,
                cost.cost.exclusive,
                cumulative_other(cost.cost)
            ])?;
        }
        Ok(())
    }

    /// Rows of `function_info`.
    pub(super) fn function_info(&self, rows: &Rows<InfoRow>) -> rusqlite::Result<()> {
        let sql = "INSERT INTO function_info (metric_id, function_id, calls, primitive, exclusive, cumulative, seen, recorded)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        let mut insert = self.connection.prepare_cached(sql)?;
        for ((metric, function), row) in rows.sorted_by_key(|row| info_key(row, self.ids)) {
            let figures = &row.figures;
            insert.execute(params![
                metric,
                function,
                figures.calls.map(integer),
                figures.primitive.map(integer),
                figures.exclusive,
                figures.cumulative,
                figures.seen,
                figures.recorded,
            ])?;
        }
        Ok(())
    }

    /// Rows of `line_info`.
    pub(super) fn line_info(&self, rows: &Rows<InfoRow>) -> rusqlite::Result<()> {
        let sql =
            "INSERT INTO line_info (metric_id, function_id, file, line, col, calls, exclusive, cumulative, recorded)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        let mut insert = self.connection.prepare_cached(sql)?;
        for (key, row) in rows.sorted_by_key(|row| line_key(row, self.ids)) {
            let LineKey {
                metric,
                function,
                file,
                line,
                col,
            } = key;
            let figures = &row.figures;
            insert.execute(params![
                metric,
                function,
                file.as_deref().unwrap_or_default(),
                line,
                col,
                figures.calls.map(integer),
                figures.exclusive,
                figures.cumulative,
                figures.recorded,
            ])?;
        }
        Ok(())
    }

    /// Rows of `edges`.
    pub(super) fn edges(&self, rows: &Rows<EdgeRow>) -> rusqlite::Result<()> {
        let sql = "INSERT INTO edges (metric_id, callee_id, back, caller_id, line_file, caller_line, caller_col, calls, exclusive,
                                      cumulative, outermost_other, seen_other)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
        let mut insert = self.connection.prepare_cached(sql)?;
        for (key, row) in rows.sorted_by_key(|row| edge_key(row, self.ids)) {
            let EdgeKey {
                metric,
                callee,
                back,
                caller,
                file,
                line,
                col,
            } = key;
            insert.execute(params![
                metric,
                callee,
                back,
                caller,
                file.as_deref().unwrap_or_default(),
                line,
                col,
                row.calls.map(integer),
                row.exclusive,
                row.cumulative,
                to_other(row.cumulative, row.outermost),
                to_other(row.cumulative, row.seen),
            ])?;
        }
        Ok(())
    }

    /// Rows of `function_nodes`.
    pub(super) fn function_nodes(&self, run: StoredRun, postings: Postings) -> Result<(), Cause> {
        let sql = "INSERT INTO function_nodes (run_id, function_id, node_id) VALUES (?1, ?2, ?3)";
        let mut insert = self.connection.prepare_cached(sql)?;
        postings.by_function(self.ids, |function, nodes| {
            nodes.iter().try_for_each(|node| {
                insert
                    .execute((run, function, self.ids.node(*node)))
                    .map(drop)
                    .map_err(Cause::from)
            })
        })
    }

    /// Rows of `node_labels`.
    pub(super) fn label_costs(&self, costs: &[LabelCostRow]) -> rusqlite::Result<()> {
        let sql = "INSERT INTO node_labels (metric_id, node_id, set_id, exclusive) VALUES (?1, ?2, ?3, ?4)";
        let mut insert = self.connection.prepare_cached(sql)?;
        for cost in costs {
            let (metric, node) = (self.ids.metric(cost.metric), self.ids.node(cost.node));
            insert.execute(params![
                metric,
                node,
                StoredLabels::from(cost.labels),
                cost.exclusive
            ])?;
        }
        Ok(())
    }
}

/// The id of a function, whose row is made if no run has mentioned it before, and its identity.
pub(super) fn function(
    connection: &Connection,
    rules: &Rules,
    function: &Function,
) -> rusqlite::Result<(StoredFunction, IdentityKey)> {
    let definition = function.definition();
    let identity = rules.identity(&definition);
    let key = identity.key();
    let FunctionDef {
        kind,
        name,
        raw_name: _,
        module,
        file,
        first_line,
        first_col,
    } = definition;
    let row: [&dyn ToSql; 7] = [
        &kind.name(),
        &name,
        &module,
        &file,
        &first_line,
        &first_col,
        &function.raw_name(),
    ];
    Ok((function_id(connection, row, &identity, &key)?, key))
}

/// The id of a function, whose row is made if there is none: kind, name, module, file, line and
/// column of the definition, raw name. All but the last tell it from others.
pub(in crate::store) fn function_id(
    connection: &Connection,
    row: [&dyn ToSql; 7],
    identity: &Identity<'_>,
    key: &IdentityKey,
) -> rusqlite::Result<StoredFunction> {
    let select = "SELECT function_id FROM functions
                  WHERE kind = ?1 AND name = ?2 AND module = ?3 AND file = ?4 AND first_line = ?5 AND first_col = ?6";
    let known = connection
        .prepare_cached(select)?
        .query_row(&row[..6], |row| row.get(0))
        .optional()?;
    if let Some(known) = known {
        return Ok(known);
    }
    let identity = identity_id(connection, identity, key)?;
    let insert = "INSERT INTO functions (kind, name, module, file, first_line, first_col, raw_name, identity_id)
                  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let [kind, name, module, file, first_line, first_col, raw_name] = row;
    connection.prepare_cached(insert)?.execute(params![
        kind, name, module, file, first_line, first_col, raw_name, identity
    ])?;
    Ok(StoredFunction(connection.last_insert_rowid()))
}
