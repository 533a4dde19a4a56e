//! Writes the rows of a run.

use std::io::Write;

use super::buffer::UNKNOWN;
use super::columns::{Rows, is_of_nodes};
use super::digits::Digits;
use super::error::DatasetError;
use super::functions::Functions;
use super::place::is_name;
use super::tables::{Kind, TABLES, Table};
use crate::store::{
    CallFigures, Cell, Cost, Costs, Database, DatasetRun, FunctionFigures, Labels, LineFigures,
    Nodes, StoreError, Tables, to_other,
};

/// A run of a database, as it is at one moment, to be written table by table.
pub struct RunRows<'d> {
    database: &'d Database,
    /// What is known of it.
    pub run: DatasetRun,
    functions: Functions,
    tables: Tables<'d>,
}

impl<'d> RunRows<'d> {
    /// Reads what all tables need; `None` if there is no such run.
    ///
    /// # Errors
    /// When the database cannot be read, or the run is no part of a dataset.
    pub fn open(database: &'d Database, run_id: i64) -> Result<Option<Self>, DatasetError> {
        let tables = database.tables()?;
        let Some(run) = database.dataset_run(run_id)? else {
            return Ok(None);
        };
        if !is_name(&run.run_uid) {
            return Err(DatasetError::Content(format!(
                "run {run_id} has the uid `{}`, which is not a uid of profdb and cannot be used as a file name",
                run.run_uid
            )));
        }
        let functions = Functions::read(database, run_id)?;
        Ok(Some(Self {
            database,
            run,
            functions,
            tables,
        }))
    }

    /// The tables in the order in which they are to be written: the one that says that the run is there last.
    pub fn in_order() -> impl Iterator<Item = &'static Table> {
        TABLES[1..].iter().chain(&TABLES[..1])
    }

    /// Writes the rows of the run in a table, as a file.
    ///
    /// # Errors
    /// When the database cannot be read or the file not be written.
    pub fn write(
        &self,
        table: &'static Table,
        out: &mut (dyn Write + Send),
    ) -> Result<(), DatasetError> {
        let is_sorted = is_of_nodes(table);
        let mut rows = Rows::new(
            table,
            &self.run.run_uid,
            &self.functions.keys,
            is_sorted,
            out,
        )?;
        match table.name {
            "nodes" => self.nodes(table, &mut rows)?,
            "node_costs" => self.node_costs(table, &mut rows)?,
            "node_labels" => self.node_labels(table, &mut rows)?,
            "function_info" => self.function_info(table, &mut rows)?,
            "line_info" => self.line_info(table, &mut rows)?,
            "edges" => self.edges(table, &mut rows)?,
            _ => self.rows(table, &mut rows)?,
        }
        rows.finish()
    }

    /// The rows of a table that is read by SQL.
    fn rows<W: Write + Send>(
        &self,
        table: &'static Table,
        rows: &mut Rows<'_, W>,
    ) -> Result<(), DatasetError> {
        let mut outcome = Ok(());
        let mut number = 0;
        let files = table.files();
        let position = table
            .file_column("position")
            .filter(|_| table.name == "functions");
        let mut each = |cells: &[Cell<'_>]| -> Result<(), DatasetError> {
            number += 1;
            for (cell, at) in cells.iter().zip(1..) {
                let is_function = files[at].kind == Kind::Function;
                match cell {
                    Cell::Integer(id) if is_function => {
                        rows.function(at, Some(self.functions.place(*id)?));
                    }
                    Cell::Null if is_function => rows.function(at, None),
                    cell => rows.cell(at, cell)?,
                }
            }
            if let Some(position) = position {
                rows.integer(position, Some(number));
            }
            rows.end_row()
        };
        self.database
            .each_dataset_row(table.name, self.run.run_id, |cells| {
                if outcome.is_ok() {
                    outcome = each(cells);
                }
            })?;
        outcome?;
        if table.name == "runs"
            && let Some(tags) = table.file_column("tags")
        {
            self.database
                .each_dataset_row("run_tags", self.run.run_id, |cells| {
                    if let [Cell::Text(key), Cell::Text(value)] = cells {
                        rows.tag(tags, key, value);
                    }
                })?;
        }
        Ok(())
    }

    fn nodes<W: Write + Send>(
        &self,
        table: &Table,
        rows: &mut Rows<'_, W>,
    ) -> Result<(), DatasetError> {
        let Some((first, last)) = self.run.nodes else {
            return Ok(());
        };
        let damaged = |source| self.database.damaged_rows(source);
        let mut nodes = Nodes::new(&self.tables, (first, last)).map_err(damaged)?;
        let [node_id, up, size, outer_up, depth] =
            table.in_files(["node_id", "up", "size", "outer_up", "depth"]);
        let [function, line, col, file, calls] =
            table.in_files(["function_key", "line", "col", "file", "calls"]);
        let mut costs = CostCells::of(table);
        while let Some(node) = nodes.next().map_err(damaged)? {
            let id = node.id.wrapping_sub(first).wrapping_add(1);
            rows.integer(node_id, Some(id));
            rows.integer(up, node.up);
            rows.integer(size, Some(node.size));
            rows.integer(outer_up, node.outer_up);
            rows.integer(depth, Some(node.depth));
            rows.function(function, Some(self.functions.place(node.function_id)?));
            rows.integer(line, node.line);
            rows.integer(col, node.col);
            rows.text(file, node.file);
            rows.integer(calls, node.calls);
            costs.add_of_node(rows, node.cost);
            rows.end_row()?;
        }
        Ok(())
    }

    /// The metrics in the order of their names, which is that of the rows.
    fn metrics(&self) -> Vec<&(i64, String)> {
        let mut metrics: Vec<_> = self.run.metrics.iter().collect();
        metrics.sort_by(|(_, one), (_, other)| one.cmp(other));
        metrics
    }

    fn node_costs<W: Write + Send>(
        &self,
        table: &Table,
        rows: &mut Rows<'_, W>,
    ) -> Result<(), DatasetError> {
        let Some((first, last)) = self.run.nodes else {
            return Ok(());
        };
        let damaged = |source| self.database.damaged_rows(source);
        let [metric_name, node_id] = table.in_files(["metric", "node_id"]);
        for (metric_id, name) in self.metrics() {
            let mut costs = Costs::new(&self.tables, *metric_id, (first, last)).map_err(damaged)?;
            let mut cells = CostCells::of(table);
            let metric = rows.place(metric_name, name.as_bytes());
            while let Some(node) = costs.next_node() {
                let Some(cost) = costs.of(node).map_err(damaged)? else {
                    break;
                };
                rows.text_of(metric_name, metric);
                rows.integer(node_id, Some(node.wrapping_sub(first).wrapping_add(1)));
                cells.add_of_node(rows, cost);
                rows.end_row()?;
            }
        }
        Ok(())
    }

    fn node_labels<W: Write + Send>(
        &self,
        table: &Table,
        rows: &mut Rows<'_, W>,
    ) -> Result<(), DatasetError> {
        let Some((first, last)) = self.run.nodes else {
            return Ok(());
        };
        let damaged = |source| self.database.damaged_rows(source);
        let [metric_name, node_id, set_id, own] =
            table.in_files(["metric", "node_id", "set_id", "exclusive"]);
        let mut of_node = Vec::new();
        for (metric, name) in self.metrics() {
            let mut labels = Labels::new(&self.tables, *metric, (first, last)).map_err(damaged)?;
            while let Some(node) = labels.next_node() {
                labels.of(node, &mut of_node).map_err(damaged)?;
                for (set, exclusive) in &of_node {
                    rows.text(metric_name, Some(name.as_bytes()));
                    rows.integer(node_id, Some(node.wrapping_sub(first).wrapping_add(1)));
                    rows.integer(set_id, Some(*set));
                    rows.real(own, Some(*exclusive));
                    rows.end_row()?;
                }
            }
        }
        Ok(())
    }

    /// Writes a row for each figure of each metric. `read` calls a function with those of a metric, `write` fills in what follows
    /// the name of the metric.
    fn figures<W: Write + Send, F>(
        &self,
        table: &Table,
        rows: &mut Rows<'_, W>,
        read: impl Fn(i64, &mut dyn FnMut(F)) -> Result<(), StoreError>,
        write: impl Fn(&mut Rows<'_, W>, &mut CostCells, F) -> Result<(), DatasetError>,
    ) -> Result<(), DatasetError> {
        let [name_of_metric] = table.in_files(["metric"]);
        for (metric, name) in self.metrics() {
            let mut costs = CostCells::of(table);
            let metric_name = rows.place(name_of_metric, name.as_bytes());
            let mut outcome = Ok(());
            read(*metric, &mut |figures| {
                if outcome.is_ok() {
                    rows.text_of(name_of_metric, metric_name);
                    outcome = write(rows, &mut costs, figures).and_then(|()| rows.end_row());
                }
            })?;
            outcome?;
        }
        Ok(())
    }

    fn function_info<W: Write + Send>(
        &self,
        table: &Table,
        rows: &mut Rows<'_, W>,
    ) -> Result<(), DatasetError> {
        let [function, calls, primitive, seen, recorded] = table.in_files([
            "function_key",
            "calls",
            "primitive",
            "seen_other",
            "recorded",
        ]);
        self.figures(
            table,
            rows,
            |metric, each| self.database.each_function_figure(metric, each),
            |rows, costs, figures: FunctionFigures| {
                rows.function(function, Some(self.functions.place(figures.function_id)?));
                rows.integer(calls, figures.calls);
                rows.integer(primitive, figures.primitive);
                costs.add(rows, figures.exclusive, figures.cumulative);
                rows.real(seen, to_other(figures.cumulative, figures.seen));
                rows.integer(recorded, Some(i64::from(figures.is_recorded)));
                Ok(())
            },
        )
    }

    fn line_info<W: Write + Send>(
        &self,
        table: &Table,
        rows: &mut Rows<'_, W>,
    ) -> Result<(), DatasetError> {
        let [function, file, line, col, calls, recorded] =
            table.in_files(["function_key", "file", "line", "col", "calls", "recorded"]);
        self.figures(
            table,
            rows,
            |metric, each| self.database.each_line_figure(metric, each),
            |rows, costs, figures: LineFigures| {
                rows.function(function, Some(self.functions.place(figures.function_id)?));
                rows.text(file, Some(figures.file.as_bytes()));
                rows.integer(line, Some(figures.line));
                rows.integer(col, Some(figures.col));
                rows.integer(calls, figures.calls);
                costs.add(rows, figures.exclusive, figures.cumulative);
                rows.integer(recorded, Some(i64::from(figures.is_recorded)));
                Ok(())
            },
        )
    }

    fn edges<W: Write + Send>(
        &self,
        table: &Table,
        rows: &mut Rows<'_, W>,
    ) -> Result<(), DatasetError> {
        let [
            callee,
            caller,
            file,
            line,
            col,
            back,
            calls,
            outermost,
            seen,
        ] = table.in_files([
            "callee_key",
            "caller_key",
            "line_file",
            "caller_line",
            "caller_col",
            "back",
            "calls",
            "outermost_other",
            "seen_other",
        ]);
        self.figures(
            table,
            rows,
            |metric, each| self.database.each_call_figure(metric, each),
            |rows, costs, call: CallFigures| {
                let who_called = match call.caller_id {
                    0 => None,
                    caller => Some(self.functions.place(caller)?),
                };
                rows.function(callee, Some(self.functions.place(call.callee_id)?));
                rows.function(caller, who_called);
                rows.text(file, Some(call.line_file.as_bytes()));
                rows.integer(line, Some(call.line));
                rows.integer(col, Some(call.col));
                rows.integer(back, Some(i64::from(call.is_back)));
                rows.integer(calls, call.calls);
                costs.add(rows, call.exclusive, call.cumulative);
                rows.real(outermost, call.outermost_other);
                rows.real(seen, call.seen_other);
                Ok(())
            },
        )
    }
}

/// Exclusive and cumulative costs as columns of files have them.
struct CostCells {
    exclusive: Digits,
    cumulative: Digits,
    /// The places of digits, what they are divided by, and costs with too many of them: first of the exclusive cost.
    places: [[usize; 3]; 2],
}

impl CostCells {
    fn of(table: &Table) -> Self {
        Self {
            exclusive: Digits::default(),
            cumulative: Digits::default(),
            places: [
                table.in_files(["exclusive_digits", "exclusive_scale", "exclusive_other"]),
                table.in_files(["cumulative_digits", "cumulative_scale", "cumulative_other"]),
            ],
        }
    }

    /// Adds what a node cost.
    #[inline]
    fn add_of_node<W: Write + Send>(&mut self, rows: &mut Rows<'_, W>, cost: Cost) {
        self.add(rows, Some(cost.exclusive), cost.cumulative);
    }

    #[inline]
    fn add<W: Write + Send>(
        &mut self,
        rows: &mut Rows<'_, W>,
        exclusive: Option<f64>,
        cumulative: Option<f64>,
    ) {
        let [of_exclusive, of_cumulative] = self.places;
        let (digits, scale) = match exclusive {
            None => (None, self.exclusive.scale()),
            Some(exclusive) => self.exclusive.of(exclusive),
        };
        let other = exclusive.filter(|_| digits.is_none());
        put(rows, of_exclusive, digits, scale, other);
        let (digits, scale, other) = match cumulative {
            None => (None, UNKNOWN, None),
            Some(cumulative) if exclusive.map(f64::to_bits) == Some(cumulative.to_bits()) => {
                (None, self.cumulative.scale(), None)
            }
            Some(cumulative) => {
                let (digits, scale) = self.cumulative.of(cumulative);
                (digits, scale, digits.is_none().then_some(cumulative))
            }
        };
        put(rows, of_cumulative, digits, scale, other);
    }
}

/// Adds a cost to three columns.
#[inline]
fn put<W: Write + Send>(
    rows: &mut Rows<'_, W>,
    [of_digits, of_scale, of_other]: [usize; 3],
    digits: Option<i64>,
    scale: u8,
    other: Option<f64>,
) {
    rows.integer(of_digits, digits);
    rows.scale(of_scale, scale);
    rows.real(of_other, other);
}
