//! Writes the rows of a run.

use std::io::Write;

use super::columns::{Rows, UNKNOWN, is_of_nodes};
use super::digits::Digits;
use super::error::DatasetError;
use super::functions::Functions;
use super::place::is_name;
use super::tables::{Kind, TABLES, Table};
use crate::store::{Cell, Cost, Costs, Database, DatasetRun, Labels, Nodes, Tables};

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
            costs.add(rows, 11, node.cost);
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
        for (metric, name) in self.metrics() {
            let mut costs = Costs::new(&self.tables, *metric, (first, last)).map_err(damaged)?;
            let mut columns = CostColumns::default();
            while let Some(node) = costs.next_node() {
                let Some(cost) = costs.of(node).map_err(damaged)? else {
                    break;
                };
                rows.text(1, Some(name.as_bytes()));
                rows.integer(2, Some(node.wrapping_sub(first).wrapping_add(1)));
                columns.add(rows, 3, cost);
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
}

/// Exclusive and cumulative costs of nodes as six columns of files.
#[derive(Default)]
struct CostColumns {
    exclusive: Digits,
    cumulative: Digits,
}

impl CostColumns {
    /// Adds what a node cost to six columns, the first of which is given.
    #[inline]
    fn add<W: Write + Send>(&mut self, rows: &mut Rows<'_, W>, first: usize, cost: Cost) {
        let (digits, scale) = self.exclusive.of(cost.exclusive);
        rows.integer(first, digits);
        rows.scale(first + 1, scale);
        rows.real(first + 2, digits.is_none().then_some(cost.exclusive));
        let is_exclusive = |cumulative: f64| cumulative.to_bits() == cost.exclusive.to_bits();
        let (digits, scale, other) = match cost.cumulative {
            None => (None, UNKNOWN, None),
            Some(cumulative) if is_exclusive(cumulative) => (None, self.cumulative.scale(), None),
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
