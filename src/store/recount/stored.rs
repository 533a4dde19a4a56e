//! The stored totals of a run beside what its nodes add up to.

use super::catalogue::{Functions, Metric, Run};
use super::doubt::{Doubt, expect, expected};
use super::groups::{LineCosts, is_sum};
use super::tree::{Caller, Tree};
use crate::store::rows::{Range, StoredRow, Table, Tables};
use profdb_sqlite_pages::values::Value;

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
    tables: &Tables<'_>,
    run: &Run,
    tree: &mut Tree,
    functions: &mut Functions,
    seen: &mut RowsSeen,
) -> Result<(), Doubt> {
    seen.node_costs += tree.costs;
    for metric in 0..run.metrics.len() {
        seen.function_info += function_info(tables, run, metric, tree, functions)?;
        seen.line_info += line_info(tables, run, metric, tree, functions)?;
        seen.edges += edges(tables, run, metric, tree, functions)?;
        let (sum, magnitude) = tree.roots[metric];
        let Metric {
            total, is_counted, ..
        } = run.metrics[metric];
        expect(!run.is_tree || !is_counted || is_sum(sum, Some(total), magnitude))?;
    }
    // Each function with nodes is listed in the default metric.
    let has_default = run.default_metric.is_some();
    expect(has_default || (tree.functions.all.is_empty() && run.functions == 0))?;
    seen.function_nodes += function_nodes(tables, run, tree, functions)?;
    Ok(())
}

fn function_info(
    tables: &Tables<'_>,
    run: &Run,
    metric: usize,
    tree: &Tree,
    functions: &mut Functions,
) -> Result<u64, Doubt> {
    let is_default = run.default_metric == Some(metric);
    let mut is_there = vec![false; tree.functions.all.len()];
    let mut counted = 0;
    let mut compare = |row: StoredRow<'_>| {
        let function = functions.number(row.at)?;
        if is_default {
            functions.list(function);
        }
        counted += i64::from(!functions.is_container(function));
        let group = tree.functions.find(&function);
        if let Some(group) = group {
            is_there[group] = true;
        }
        let mut columns = row.others;
        let mut integer = || expected(columns.integer_or_null());
        let (calls, primitive) = (integer()?, integer()?);
        let mut real = || expected(columns.real_or_null());
        let (exclusive, cumulative, seen) = (real()?, real()?, real()?);
        let recorded = expected(columns.integer())?;
        if !run.is_tree || recorded == 1 {
            return Ok(());
        }
        let Some(group) = group else {
            let is_nothing = exclusive.or(cumulative).or(seen).is_none();
            return expect(calls.or(primitive).is_none() && is_nothing);
        };
        let costs = tree.functions.cost(group, metric);
        let group = &tree.functions.all[group];
        expect(
            calls == group.calls.0
                && primitive == group.primitive.0
                && is_sum(costs.exclusive, exclusive, costs.magnitude)
                && is_sum(costs.cumulative, cumulative, costs.magnitude)
                && is_sum(costs.seen, seen, costs.magnitude),
        )
    };
    let rows = each(
        tables,
        Table::FunctionInfo,
        run.metrics[metric].id,
        &mut compare,
    )?;
    expect(!is_default || counted == run.functions)?;
    let costs_nothing = |group| tree.functions.cost(group, metric).magnitude == 0.0;
    // Functions of the default metric have to be listed, whatever they cost.
    expect((0..is_there.len()).all(|at| is_there[at] || (!is_default && costs_nothing(at))))?;
    Ok(rows)
}

fn line_info(
    tables: &Tables<'_>,
    run: &Run,
    metric: usize,
    tree: &mut Tree,
    functions: &Functions,
) -> Result<u64, Doubt> {
    let is_default = run.default_metric == Some(metric);
    let mut is_there = vec![false; tree.lines.all.len()];
    let mut compare = |row: StoredRow<'_>| {
        let function = functions.number(row.at)?;
        let mut columns = row.others;
        let Some(Value::Text(file)) = columns.next_value() else {
            return Err(Doubt::Unexpected);
        };
        let file = tree.files.number(file)?;
        let (line, col) = (expected(columns.integer())?, expected(columns.integer())?);
        let calls = expected(columns.integer_or_null())?;
        let exclusive = expected(columns.real_or_null())?;
        let cumulative = expected(columns.real_or_null())?;
        let recorded = expected(columns.integer())?;
        let group = tree.lines.find(&(function, file, line, col));
        if let Some(group) = group {
            is_there[group] = true;
        }
        if !run.is_tree || recorded == 1 {
            return Ok(());
        }
        let group = expected(group)?;
        let costs = tree.lines.cost(group, metric);
        let LineCosts {
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
            calls == tree.lines.all[group].calls.0
                && is_sum(costs.exclusive, exclusive, magnitude)
                && is_cumulative,
        )
    };
    let rows = each(
        tables,
        Table::LineInfo,
        run.metrics[metric].id,
        &mut compare,
    )?;
    let costs_nothing = |group| tree.lines.cost(group, metric).magnitude == 0.0;
    expect((0..is_there.len()).all(|at| is_there[at] || (!is_default && costs_nothing(at))))?;
    Ok(rows)
}

fn edges(
    tables: &Tables<'_>,
    run: &Run,
    metric: usize,
    tree: &mut Tree,
    functions: &Functions,
) -> Result<u64, Doubt> {
    let mut there = 0;
    let mut compare = |row: StoredRow<'_>| {
        let callee = functions.number(row.at)?;
        let mut columns = row.others;
        let back = expected(columns.integer())?;
        let function = match expected(columns.integer())? {
            0 => None,
            caller => Some(functions.number(caller)?),
        };
        let Some(Value::Text(file)) = columns.next_value() else {
            return Err(Doubt::Unexpected);
        };
        let caller = Caller {
            function,
            file: tree.files.number(file)?,
            line: expected(columns.integer())?,
            col: expected(columns.integer())?,
        };
        if !run.is_tree || back != 0 {
            return Ok(());
        }
        let group = expected(tree.edges.find(&(callee, caller)))?;
        there += 1;
        let costs = tree.edges.cost(group, metric);
        let magnitude = costs.magnitude;
        let calls = expected(columns.integer_or_null())?;
        let mut real = || expected(columns.real_or_null());
        let (exclusive, cumulative) = (real()?, real()?);
        // Infinity would be unknown, which is no sum.
        let outermost = real()?.or(cumulative);
        let seen = real()?.or(cumulative);
        expect(
            calls == tree.edges.all[group].0
                && is_sum(costs.exclusive, exclusive, magnitude)
                && is_sum(costs.cumulative, cumulative, magnitude)
                && is_sum(costs.outermost, outermost, magnitude)
                && is_sum(costs.seen, seen, magnitude),
        )
    };
    let rows = each(tables, Table::Edges, run.metrics[metric].id, &mut compare)?;
    // Keys are unique: as many edges as there are groups are all of them.
    expect(there == tree.edges.all.len())?;
    Ok(rows)
}

/// Compares the index from functions to nodes.
fn function_nodes(
    tables: &Tables<'_>,
    run: &Run,
    tree: &Tree,
    functions: &Functions,
) -> Result<u64, Doubt> {
    let mut entries = tree.function_nodes.none();
    let mut compare = |row: StoredRow<'_>| {
        let mut columns = row.others;
        entries.add(functions.number(row.at)?, expected(columns.integer())?);
        Ok(())
    };
    let rows = each(tables, Table::FunctionNodes, run.id, &mut compare)?;
    expect(entries == tree.function_nodes)?;
    Ok(rows)
}

/// Calls a function for each row of a run or metric; returns how many there are.
fn each(
    tables: &Tables<'_>,
    table: Table,
    of: i64,
    compare: &mut dyn FnMut(StoredRow<'_>) -> Result<(), Doubt>,
) -> Result<u64, Doubt> {
    let mut rows = tables.rows(table, Range::all_of(of))?;
    let mut count = 0;
    while let Some(row) = rows.next()? {
        compare(row)?;
        count += 1;
    }
    Ok(count)
}
