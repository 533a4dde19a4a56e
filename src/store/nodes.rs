//! The nodes of a run with their costs, one after the other: what writers of other formats read
//! most of.

use rusqlite::types::Type;
use rusqlite::{OptionalExtension, Row, named_params};

use super::database::Database;
use super::error::StoreError;
use super::rows::{Cost, Costs, Node, Nodes, Tables};
use super::walk::{LinePlace, RANGE};

/// How many nodes pass between two looks at whether to tell how far a walk is.
const NODES_BETWEEN_WORDS: u64 = 4096;

/// A node, with its cost in one metric.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeRow {
    /// How many nodes are above.
    pub depth: usize,
    /// Its function.
    pub function_id: i64,
    /// What it is a line of the function node above for; `None` if it is a function node.
    pub line: Option<LinePlace>,
    /// How often it was called; `None` if unknown.
    pub calls: Option<u64>,
    /// Cost of the node itself.
    pub exclusive: f64,
    /// Cost with everything called; `None` for lines if unknown.
    pub cumulative: Option<f64>,
}

/// What of a tree is wanted after a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Below {
    /// The nodes below it.
    Wanted,
    /// The node after those, which are passed over.
    Unwanted,
    /// No node any more.
    Nothing,
}

/// A function node among function nodes, with its cost in one metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CallRow {
    /// How many function nodes are above.
    pub depth: usize,
    /// Its function.
    pub function_id: i64,
    /// How often it was called; `None` if unknown.
    pub calls: Option<u64>,
    /// Cost of the node itself.
    pub exclusive: f64,
    /// Cost with everything called; `None` if unknown.
    pub cumulative: Option<f64>,
    /// How many nodes of lines are between it and the one before.
    pub lines: u64,
}

impl Database {
    /// Calls a function for the function nodes of a run, parents first, until it fails. What is below
    /// a node comes only if the function wants it. Returns how many nodes of lines came after the last.
    ///
    /// # Errors
    /// The function's own, or the database's.
    pub fn each_wanted_call<E: From<StoreError>>(
        &self,
        run_id: i64,
        metric_id: i64,
        mut each: impl FnMut(&CallRow) -> Result<Below, E>,
    ) -> Result<u64, E> {
        let failed = |source: rusqlite::Error| E::from(self.failed(source));
        let tables = Tables::of(&self.connection, &self.lock_wait.stop).map_err(failed)?;
        let Some((first, last, default)) = self.range_of(run_id)? else {
            return Ok(0);
        };
        let mut nodes = Nodes::of_functions(&tables, (first, last)).map_err(failed)?;
        let mut costs = None;
        if default != Some(metric_id) {
            costs = Some(Costs::new(&tables, metric_id, (first, last)).map_err(failed)?);
        }
        let mut open: Vec<OpenCall> = Vec::new();
        let (mut next, mut told) = (first, first);
        while let Some(node) = nodes.next().map_err(failed)? {
            if node.line.is_some() {
                continue;
            }
            let (id, last_below) = (node.id, node.last());
            let cost = match &mut costs {
                Some(costs) => costs.of(id).map_err(failed)?.unwrap_or(Cost::NONE),
                None => node.cost,
            };
            while open.pop_if(|above| above.last < id).is_some() {}
            let opened = OpenCall {
                id,
                last: last_below,
                depth: node.depth,
            };
            opened
                .fits(open.last())
                .map_err(|what| self.inconsistent(what))?;
            let call = CallRow {
                depth: open.len(),
                function_id: node.function_id,
                calls: node.calls.map(i64::unsigned_abs),
                exclusive: cost.exclusive,
                cumulative: cost.cumulative,
                lines: id.abs_diff(next),
            };
            open.push(opened);
            next = id.saturating_add(1);
            let wanted = each(&call)?;
            if wanted == Below::Nothing {
                return Ok(0);
            }
            if wanted == Below::Unwanted && last_below > id {
                next = last_below.saturating_add(1);
                nodes.skip_to(next).map_err(failed)?;
                if let Some(costs) = &mut costs {
                    costs.skip_to(next).map_err(failed)?;
                }
            }
            if id.abs_diff(told) >= NODES_BETWEEN_WORDS {
                told = id;
                self.tell(id.abs_diff(first), last.abs_diff(first));
            }
        }
        Ok(last.saturating_add(1).abs_diff(next))
    }

    /// First and last node of a run, and its default metric; `None` if it has no nodes.
    fn range_of(&self, run_id: i64) -> Result<Option<(i64, i64, Option<i64>)>, StoreError> {
        let range = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        let found = self
            .connection
            .query_row(RANGE, named_params! {":run": run_id}, range)
            .optional()
            .map_err(|source| self.failed(source))?;
        match found {
            Some((first, last, _)) if last < first => Err(self.inconsistent(format!(
                "the last node {last} of run {run_id} is before the first, {first}"
            ))),
            found => Ok(found),
        }
    }

    /// How many nodes a run has.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn node_count(&self, run_id: i64) -> Result<u64, StoreError> {
        let range = self.range_of(run_id)?;
        Ok(range.map_or(0, |(first, last, _)| last.saturating_add(1).abs_diff(first)))
    }

    /// Calls a function for every node of a run, parents first, until it fails: a row for each
    /// metric.
    ///
    /// # Errors
    /// The function's own, or the database's.
    pub fn each_node_in<E: From<StoreError>>(
        &self,
        run_id: i64,
        metrics: &[i64],
        mut each: impl FnMut(&[NodeRow]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.each_wanted_node(run_id, metrics, |rows| each(rows).map(|()| Below::Wanted))
    }

    /// Calls a function for the nodes of a run, parents first, until it fails: a row for each
    /// metric. What is below a node comes only if the function wants it.
    ///
    /// # Errors
    /// The function's own, or the database's.
    pub fn each_wanted_node<E: From<StoreError>>(
        &self,
        run_id: i64,
        metrics: &[i64],
        mut each: impl FnMut(&[NodeRow]) -> Result<Below, E>,
    ) -> Result<(), E> {
        if metrics.is_empty() {
            return Ok(());
        }
        let failed = |source: rusqlite::Error| E::from(self.failed(source));
        let tables = Tables::of(&self.connection, &self.lock_wait.stop).map_err(failed)?;
        let Some((first, last, default)) = self.range_of(run_id)? else {
            return Ok(());
        };
        let mut nodes = Nodes::new(&tables, (first, last)).map_err(failed)?;
        // Nodes hold what they cost in the default metric. What they cost in another one is in rows
        // of its own, which come in the same order: both are read once, side by side, as a merge
        // join does. A join in SQL would search for each node.
        let costs = metrics.iter().map(|metric| {
            let is_beside = default != Some(*metric);
            is_beside
                .then(|| Costs::new(&tables, *metric, (first, last)))
                .transpose()
        });
        let mut costs: Vec<_> = costs.collect::<rusqlite::Result<_>>().map_err(failed)?;
        let mut rows = vec![NodeRow::default(); costs.len()];
        let mut levels = Levels::default();
        let mut told = first;
        while let Some(node) = nodes.next().map_err(failed)? {
            let (node_id, last_below) = (node.id, node.last());
            if node.depth < 0 {
                let what = format!("node {node_id} at depth {}", node.depth);
                return Err(self.inconsistent(what).into());
            }
            read(&node, &mut rows).map_err(failed)?;
            for (costs, row) in costs.iter_mut().zip(&mut rows) {
                let cost = match costs {
                    Some(costs) => costs.of(node_id).map_err(failed)?.unwrap_or(Cost::NONE),
                    None => node.cost,
                };
                (row.exclusive, row.cumulative) = (cost.exclusive, cost.cumulative);
            }
            levels
                .next(&rows[0])
                .map_err(|what| self.inconsistent(what))?;
            let wanted = each(&rows)?;
            if wanted == Below::Nothing {
                return Ok(());
            }
            if wanted == Below::Unwanted && last_below > node_id {
                let next = last_below.saturating_add(1);
                nodes.skip_to(next).map_err(failed)?;
                for costs in costs.iter_mut().flatten() {
                    costs.skip_to(next).map_err(failed)?;
                }
            }
            if node_id.abs_diff(told) >= NODES_BETWEEN_WORDS {
                told = node_id;
                self.tell(node_id.abs_diff(first), last.abs_diff(first));
            }
        }
        Ok(())
    }
}

/// An open function node. The last node below it tells levels, whatever lines are between them.
#[derive(Clone, Copy)]
struct OpenCall {
    id: i64,
    last: i64,
    /// As the node says: with the lines above it.
    depth: i64,
}

impl OpenCall {
    /// Between a function node and the one above there is a line at most, which is a node of its own.
    /// Others of the file's readers go by its depth, and what writers write is the same tree.
    fn fits(&self, above: Option<&Self>) -> Result<(), String> {
        let Self { id, last, depth } = *self;
        if last < id || above.is_some_and(|above| above.last < last) {
            return Err(format!("node {id} ends after its ancestor"));
        }
        let (least, most) = match above {
            Some(above) => {
                let between = id.abs_diff(above.id) > 1;
                let least = above.depth.saturating_add(1);
                (least, least.saturating_add(i64::from(between)))
            }
            None => (0, 0),
        };
        if (least..=most).contains(&depth) {
            Ok(())
        } else {
            Err(format!("node {id} at depth {depth}, expected {least}"))
        }
    }
}

/// Makes rows of a node, all without its costs.
#[inline]
fn read(node: &Node<'_>, rows: &mut [NodeRow]) -> rusqlite::Result<()> {
    for row in rows {
        row.depth = usize::try_from(node.depth).unwrap_or(0);
        row.function_id = node.function_id;
        row.calls = node.calls.map(i64::unsigned_abs);
        let Some(line) = node.line else {
            row.line = None;
            continue;
        };
        let place = row.line.get_or_insert_default();
        (place.line, place.col) = (line, node.col.unwrap_or(0));
        // Most lines are in the file of their function.
        place.file.clear();
        if let Some(file) = node.file {
            place.file.push_str(text(file)?);
        }
    }
    Ok(())
}

fn text(bytes: &[u8]) -> rusqlite::Result<&str> {
    std::str::from_utf8(bytes)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, Type::Text, error.into()))
}

/// The open nodes, parents first: the function of each that is no line.
#[derive(Default)]
struct Levels(Vec<Option<i64>>);

impl Levels {
    /// A node in pre-order is at most one level below the one before, and a line directly below its
    /// function. Writers rely on that.
    fn next(&mut self, node: &NodeRow) -> Result<(), String> {
        if node.depth > self.0.len() {
            return Err(format!(
                "a node at depth {} directly after one at depth {}",
                node.depth,
                self.0.len()
            ));
        }
        self.0.truncate(node.depth);
        if node.line.is_some() && self.0.last() != Some(&Some(node.function_id)) {
            return Err(format!(
                "a line of function {} that is not directly below it",
                node.function_id
            ));
        }
        self.0.push(node.line.is_none().then_some(node.function_id));
        Ok(())
    }
}
