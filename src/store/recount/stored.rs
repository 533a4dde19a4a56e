//! The stored totals of a run beside what its nodes add up to.

use rusqlite::{Connection, Row};

use super::catalogue::{Functions, Metric, Run};
use super::doubt::{Doubt, expect, expected};
use super::groups::{Costs, is_sum};
use super::tree::{Caller, Tree};

/// Rows of the tables of totals that belong to runs. Others belong to none.
#[derive(Default)]
pub(super) struct RowsSeen {
    pub(super) function_info: u64,
    pub(super) line_info: u64,
    pub(super) edges: u64,
    pub(super) function_nodes: u64,
    pub(super) node_costs: u64,
}

/// Compares the totals of a run.
pub(super) fn compare(
    connection: &Connection,
    run: &Run,
    tree: &mut Tree,
    functions: &mut Functions,
    seen: &mut RowsSeen,
) -> Result<(), Doubt> {
    seen.node_costs += tree.costs;
    for metric in 0..run.metrics.len() {
        seen.function_info += function_info(connection, run, metric, tree, functions)?;
        seen.line_info += line_info(connection, run, metric, tree, functions)?;
        seen.edges += edges(connection, run, metric, tree, functions)?;
        let (sum, magnitude) = tree.roots[metric];
        let Metric {
            total, is_counted, ..
        } = run.metrics[metric];
        expect(!run.is_tree || !is_counted || is_sum(sum, Some(total), magnitude))?;
    }
    // Each function with nodes is listed in the default metric.
    expect(run.default_metric.is_some() || tree.functions.all.is_empty())?;
    seen.function_nodes += function_nodes(connection, run, tree, functions)?;
    Ok(())
}

fn function_info(
    connection: &Connection,
    run: &Run,
    metric: usize,
    tree: &Tree,
    functions: &mut Functions,
) -> Result<u64, Doubt> {
    let sql = "SELECT function_id, recorded, calls, primitive, exclusive, cumulative, seen
               FROM function_info
               WHERE metric_id = ?1
               ORDER BY function_id";
    let is_default = run.default_metric == Some(metric);
    let mut is_there = vec![false; tree.functions.all.len()];
    let mut compare = |row: &Row<'_>| {
        let function = functions.number(row.get(0)?)?;
        if is_default {
            functions.list(function);
        }
        let group = tree.functions.find(&function);
        if let Some(group) = group {
            is_there[group] = true;
        }
        if !run.is_tree || is_recorded(row)? {
            return Ok(());
        }
        let (calls, primitive): (Option<i64>, Option<i64>) = (row.get(2)?, row.get(3)?);
        let [exclusive, cumulative, seen]: [Option<f64>; 3] =
            [row.get(4)?, row.get(5)?, row.get(6)?];
        let Some(group) = group else {
            let is_nothing = exclusive.or(cumulative).or(seen).is_none();
            return expect(calls.or(primitive).is_none() && is_nothing);
        };
        let costs = tree.functions.cost(group, metric);
        let group = &tree.functions.all[group];
        expect(
            calls == group.calls
                && primitive == group.primitive
                && is_sum(costs.exclusive, exclusive, costs.magnitude)
                && is_sum(costs.outermost, cumulative, costs.magnitude)
                && is_sum(costs.seen, seen, costs.magnitude),
        )
    };
    let rows = each(connection, sql, run.metrics[metric].id, &mut compare)?;
    let costs_nothing = |group| tree.functions.cost(group, metric).magnitude == 0.0;
    // Functions of the default metric have to be listed, whatever they cost.
    expect((0..is_there.len()).all(|at| is_there[at] || (!is_default && costs_nothing(at))))?;
    Ok(rows)
}

fn line_info(
    connection: &Connection,
    run: &Run,
    metric: usize,
    tree: &mut Tree,
    functions: &Functions,
) -> Result<u64, Doubt> {
    let sql = "SELECT function_id, recorded, calls, exclusive, cumulative, line, col, file
               FROM line_info
               WHERE metric_id = ?1
               ORDER BY function_id, file, line, col";
    let is_default = run.default_metric == Some(metric);
    let mut is_there = vec![false; tree.lines.all.len()];
    let mut compare = |row: &Row<'_>| {
        let function = functions.number(row.get(0)?)?;
        let file = tree
            .files
            .number(row.get_ref(7)?.as_bytes().map_err(rusqlite::Error::from)?);
        let group = tree.lines.find(&(function, file, row.get(5)?, row.get(6)?));
        if let Some(group) = group {
            is_there[group] = true;
        }
        if !run.is_tree || is_recorded(row)? {
            return Ok(());
        }
        let group = expected(group)?;
        let (calls, cumulative): (Option<i64>, Option<f64>) = (row.get(2)?, row.get(4)?);
        let costs = tree.lines.cost(group, metric);
        let Costs {
            magnitude,
            is_partial,
            ..
        } = *costs;
        let is_cumulative = if is_partial {
            cumulative.is_none()
        } else {
            is_sum(costs.cumulative, cumulative, magnitude)
        };
        expect(
            calls == tree.lines.all[group].calls
                && is_sum(costs.exclusive, row.get(3)?, magnitude)
                && is_cumulative,
        )
    };
    let rows = each(connection, sql, run.metrics[metric].id, &mut compare)?;
    let costs_nothing = |group| tree.lines.cost(group, metric).magnitude == 0.0;
    expect((0..is_there.len()).all(|at| is_there[at] || (!is_default && costs_nothing(at))))?;
    Ok(rows)
}

fn edges(
    connection: &Connection,
    run: &Run,
    metric: usize,
    tree: &Tree,
    functions: &Functions,
) -> Result<u64, Doubt> {
    let sql = "SELECT callee_id, caller_id, caller_line, caller_col, back,
                      calls, exclusive, cumulative, outermost, seen
               FROM edges
               WHERE metric_id = ?1
               ORDER BY callee_id, caller_id, caller_line, caller_col, back";
    let mut there = 0;
    let mut compare = |row: &Row<'_>| {
        let callee = functions.number(row.get(0)?)?;
        let function = match row.get(1)? {
            0 => None,
            caller => Some(functions.number(caller)?),
        };
        let caller = Caller {
            function,
            line: row.get(2)?,
            col: row.get(3)?,
        };
        let back: i64 = row.get(4)?;
        if !run.is_tree || back != 0 {
            return Ok(());
        }
        let group = expected(tree.edges.find(&(callee, caller)))?;
        there += 1;
        let costs = tree.edges.cost(group, metric);
        let magnitude = costs.magnitude;
        let calls: Option<i64> = row.get(5)?;
        expect(
            calls == tree.edges.all[group].calls
                && is_sum(costs.exclusive, row.get(6)?, magnitude)
                && is_sum(costs.cumulative, row.get(7)?, magnitude)
                && is_sum(costs.outermost, row.get(8)?, magnitude)
                && is_sum(costs.seen, row.get(9)?, magnitude),
        )
    };
    let rows = each(connection, sql, run.metrics[metric].id, &mut compare)?;
    // Keys are unique: as many edges as there are groups are all of them.
    expect(there == tree.edges.all.len())?;
    Ok(rows)
}

/// Compares the index from functions to nodes.
fn function_nodes(
    connection: &Connection,
    run: &Run,
    tree: &Tree,
    functions: &Functions,
) -> Result<u64, Doubt> {
    let sql = "SELECT function_id, node_id
               FROM function_nodes
               WHERE run_id = ?1
               ORDER BY function_id, node_id";
    let first = run.nodes.map_or(1, |(first, _)| first);
    let mut groups = 0;
    let mut function = None;
    let mut nodes = Vec::new();
    let mut at = 0;
    let mut compare = |row: &Row<'_>| {
        let id: i64 = row.get(0)?;
        if function.replace(id) != Some(id) {
            expect(at == nodes.len())?;
            (groups, at) = (groups + 1, 0);
            nodes.clear();
            let group = expected(tree.functions.find(&functions.number(id)?))?;
            tree.nodes[group].append_to(&mut nodes);
        }
        let node = row.get::<_, i64>(1)?.checked_sub(first - 1);
        expect(nodes.get(at).copied().map(u64::cast_signed) == expected(node).map(Some)?)?;
        at += 1;
        Ok(())
    };
    let rows = each(connection, sql, run.id, &mut compare)?;
    expect(at == nodes.len() && groups == tree.functions.all.len())?;
    Ok(rows)
}

/// Whether the file itself gave the figures of a row.
fn is_recorded(row: &Row<'_>) -> rusqlite::Result<bool> {
    Ok(row.get::<_, i64>(1)? == 1)
}

/// Calls a function for each row of a run or metric; returns how many there are.
fn each(
    connection: &Connection,
    sql: &str,
    id: i64,
    compare: &mut dyn FnMut(&Row<'_>) -> Result<(), Doubt>,
) -> Result<u64, Doubt> {
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([id])?;
    let mut count = 0;
    while let Some(row) = rows.next()? {
        compare(row)?;
        count += 1;
    }
    Ok(count)
}
