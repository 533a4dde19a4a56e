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
                "run {run_id} has the uid `{}`, which profdb has not made, and which cannot be the name of a file",
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
            "nodes" => self.nodes(&mut rows)?,
            "node_costs" => self.node_costs(&mut rows)?,
            "node_labels" => self.node_labels(&mut rows)?,
            "function_info" => self.function_info(&mut rows)?,
            "line_info" => self.line_info(&mut rows)?,
            "edges" => self.edges(&mut rows)?,
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
        let mut each = |cells: &[Cell<'_>]| -> Result<(), DatasetError> {
            number += 1;
            for (cell, at) in cells.iter().zip(1..) {
                let is_function = table.files()[at].kind == Kind::Function;
                match cell {
                    Cell::Integer(id) if is_function => {
                        rows.function(at, Some(self.functions.place(*id)?));
                    }
                    Cell::Null if is_function => rows.function(at, None),
                    cell => rows.cell(at, cell)?,
                }
            }
            if table.name == "functions" {
                rows.integer(cells.len() + 1, Some(number));
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

    fn nodes<W: Write + Send>(&self, rows: &mut Rows<'_, W>) -> Result<(), DatasetError> {
        let Some((first, last)) = self.run.nodes else {
            return Ok(());
        };
        let damaged = |source| self.database.damaged_rows(source);
        let mut nodes = Nodes::new(&self.tables, (first, last)).map_err(damaged)?;
        let mut costs = CostColumns::default();
        while let Some(node) = nodes.next().map_err(damaged)? {
            let id = node.id.wrapping_sub(first).wrapping_add(1);
            rows.integer(1, Some(id));
            rows.integer(2, node.up);
            rows.integer(3, Some(node.size));
            rows.integer(4, node.outer_up);
            rows.integer(5, Some(node.depth));
            rows.function(6, Some(self.functions.place(node.function_id)?));
            rows.integer(7, node.line);
            rows.integer(8, node.col);
            rows.text(9, node.file);
            rows.integer(10, node.calls);
            costs.add_of_node(rows, 11, node.cost);
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

    fn node_costs<W: Write + Send>(&self, rows: &mut Rows<'_, W>) -> Result<(), DatasetError> {
        let Some((first, last)) = self.run.nodes else {
            return Ok(());
        };
        let damaged = |source| self.database.damaged_rows(source);
        for (metric_id, name) in self.metrics() {
            let mut costs = Costs::new(&self.tables, *metric_id, (first, last)).map_err(damaged)?;
            let mut columns = CostColumns::default();
            let metric = rows.place(METRIC, name.as_bytes());
            while let Some(node) = costs.next_node() {
                let Some(cost) = costs.of(node).map_err(damaged)? else {
                    break;
                };
                rows.text_of(METRIC, metric);
                rows.integer(2, Some(node.wrapping_sub(first).wrapping_add(1)));
                columns.add_of_node(rows, 3, cost);
                rows.end_row()?;
            }
        }
        Ok(())
    }

    fn node_labels<W: Write + Send>(&self, rows: &mut Rows<'_, W>) -> Result<(), DatasetError> {
        let Some((first, last)) = self.run.nodes else {
            return Ok(());
        };
        let damaged = |source| self.database.damaged_rows(source);
        let mut of_node = Vec::new();
        for (metric, name) in self.metrics() {
            let mut labels = Labels::new(&self.tables, *metric, (first, last)).map_err(damaged)?;
            while let Some(node) = labels.next_node() {
                labels.of(node, &mut of_node).map_err(damaged)?;
                for (set, exclusive) in &of_node {
                    rows.text(1, Some(name.as_bytes()));
                    rows.integer(2, Some(node.wrapping_sub(first).wrapping_add(1)));
                    rows.integer(3, Some(*set));
                    rows.real(4, Some(*exclusive));
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
        rows: &mut Rows<'_, W>,
        read: impl Fn(i64, &mut dyn FnMut(F)) -> Result<(), StoreError>,
        write: impl Fn(&mut Rows<'_, W>, &mut CostColumns, F) -> Result<(), DatasetError>,
    ) -> Result<(), DatasetError> {
        for (metric, name) in self.metrics() {
            let mut costs = CostColumns::default();
            let metric_name = rows.place(METRIC, name.as_bytes());
            let mut outcome = Ok(());
            read(*metric, &mut |figures| {
                if outcome.is_ok() {
                    rows.text_of(METRIC, metric_name);
                    outcome = write(rows, &mut costs, figures).and_then(|()| rows.end_row());
                }
            })?;
            outcome?;
        }
        Ok(())
    }

    fn function_info<W: Write + Send>(&self, rows: &mut Rows<'_, W>) -> Result<(), DatasetError> {
        self.figures(
            rows,
            |metric, each| self.database.each_function_figure(metric, each),
            |rows, costs, figures: FunctionFigures| {
                rows.function(2, Some(self.functions.place(figures.function_id)?));
                rows.integer(3, figures.calls);
                rows.integer(4, figures.primitive);
                costs.add(rows, 5, figures.exclusive, figures.cumulative);
                rows.real(11, to_other(figures.cumulative, figures.seen));
                rows.integer(12, Some(i64::from(figures.is_recorded)));
                Ok(())
            },
        )
    }

    fn line_info<W: Write + Send>(&self, rows: &mut Rows<'_, W>) -> Result<(), DatasetError> {
        self.figures(
            rows,
            |metric, each| self.database.each_line_figure(metric, each),
            |rows, costs, figures: LineFigures| {
                rows.function(2, Some(self.functions.place(figures.function_id)?));
                rows.text(3, Some(figures.file.as_bytes()));
                rows.integer(4, Some(figures.line));
                rows.integer(5, Some(figures.col));
                rows.integer(6, figures.calls);
                costs.add(rows, 7, figures.exclusive, figures.cumulative);
                rows.integer(13, Some(i64::from(figures.is_recorded)));
                Ok(())
            },
        )
    }

    fn edges<W: Write + Send>(&self, rows: &mut Rows<'_, W>) -> Result<(), DatasetError> {
        self.figures(
            rows,
            |metric, each| self.database.each_call_figure(metric, each),
            |rows, costs, call: CallFigures| {
                let caller = match call.caller_id {
                    0 => None,
                    caller => Some(self.functions.place(caller)?),
                };
                rows.function(2, Some(self.functions.place(call.callee_id)?));
                rows.function(3, caller);
                rows.text(4, Some(call.line_file.as_bytes()));
                rows.integer(5, Some(call.line));
                rows.integer(6, Some(call.col));
                rows.integer(7, Some(i64::from(call.is_back)));
                rows.integer(8, call.calls);
                costs.add(rows, 9, call.exclusive, call.cumulative);
                rows.real(15, call.outermost_other);
                rows.real(16, call.seen_other);
                Ok(())
            },
        )
    }
}

/// The place of the name of the metric in all tables that have one.
const METRIC: usize = 1;

/// Exclusive and cumulative costs as six columns of files.
#[derive(Default)]
struct CostColumns {
    exclusive: Digits,
    cumulative: Digits,
}

impl CostColumns {
    /// Adds what a node cost to six columns, the first of which is given.
    #[inline]
    fn add_of_node<W: Write + Send>(&mut self, rows: &mut Rows<'_, W>, first: usize, cost: Cost) {
        self.add(rows, first, Some(cost.exclusive), cost.cumulative);
    }

    /// Adds costs to six columns, the first of which is given.
    #[inline]
    fn add<W: Write + Send>(
        &mut self,
        rows: &mut Rows<'_, W>,
        first: usize,
        exclusive: Option<f64>,
        cumulative: Option<f64>,
    ) {
        let (digits, scale) = match exclusive {
            None => (None, self.exclusive.scale()),
            Some(exclusive) => self.exclusive.of(exclusive),
        };
        rows.integer(first, digits);
        rows.scale(first + 1, scale);
        rows.real(first + 2, exclusive.filter(|_| digits.is_none()));
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
        rows.integer(first + 3, digits);
        rows.scale(first + 4, scale);
        rows.real(first + 5, other);
    }
}
