//! The rows of the tree, in the order of nodes.
//!
//! Without filters they are read where they are, and what lies deeper than is shown is jumped over.
//! What filters leave of a node is known only after all that is below it: then the rows are kept in
//! a temporary table first.

use rusqlite::{Connection, OptionalExtension, Row, Statement};

use super::add_up::selected;
use super::limits::{LeftOut, Limits};
use super::names::{FunctionName, Names};
use super::pass::{LineNodes, Needs, Open, Pass, Selected, Visit, pass, span};
use super::question::NodeQuestion;
use super::read::Next;
use crate::base::sum::Sum;

const TABLE: &str = "
    DROP TABLE IF EXISTS temp.left_nodes;
    CREATE TEMP TABLE left_nodes (
      node_id     INTEGER PRIMARY KEY, -- number of the node
      parent_id   INTEGER,             -- the nearest visible node above; NULL if there is none
      depth       INTEGER NOT NULL,    -- number of visible ancestors within the selection
      function_id INTEGER NOT NULL,    -- the function
      file        TEXT,                -- file of the line if it differs from the function's file
      line        INTEGER,             -- line number; NULL in function nodes
      col         INTEGER,             -- column or clause of the line; NULL if unknown
      calls       INTEGER,             -- number of calls; NULL if unknown
      exclusive   REAL NOT NULL,       -- kept exclusive cost
      cumulative  REAL                 -- kept inclusive cost; NULL if unknown
    )";

const INSERT: &str = "INSERT INTO temp.left_nodes VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";

const KEPT: &str = "
    SELECT node_id, parent_id, depth, function_id, file, line, col, calls, exclusive, cumulative
    FROM temp.left_nodes
    ORDER BY node_id";

/// The tree shows lines.
const NEEDS: Needs = Needs {
    all_above: false,
    lines: LineNodes::Nodes,
    labels: false,
    containers: None,
};

/// The figures of a node in the tree.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::report) struct Place {
    pub(in crate::report) node_id: i64,
    /// The nearest visible node above; `None` at a root.
    pub(in crate::report) parent_id: Option<i64>,
    /// Visible nodes above, from the selection on.
    pub(in crate::report) depth: i64,
    pub(in crate::report) function_id: i64,
    /// File of the line where it is not the function's own.
    pub(in crate::report) file: Option<String>,
    /// `None` in function nodes.
    pub(in crate::report) line: Option<i64>,
    pub(in crate::report) col: Option<i64>,
    pub(in crate::report) calls: Option<i64>,
    pub(in crate::report) exclusive: f64,
    pub(in crate::report) cumulative: Option<f64>,
    /// Readings of the timer; `None` without a metric for them, and with filters.
    pub(in crate::report) exclusive_readings: Option<f64>,
    pub(in crate::report) cumulative_readings: Option<f64>,
}

/// A row of the tree: a node with its names.
#[derive(Debug)]
pub(in crate::report) struct TreeRow<'r> {
    pub(in crate::report) place: &'r Place,
    pub(in crate::report) function: &'r FunctionName,
    /// Source of the line, if it was asked for and is known.
    pub(in crate::report) code: Option<String>,
}

impl TreeRow<'_> {
    /// The file of the node.
    pub(in crate::report) fn file(&self) -> &str {
        self.place.file.as_deref().unwrap_or(&self.function.file)
    }

    /// Writes the line after the name of its function, if the row is about a line, with its file
    /// where that is not the function's.
    pub(in crate::report) fn write_line(&self, element: &mut String) {
        let Place {
            file, line, col, ..
        } = &self.place;
        if let Some(line) = line {
            super::limits::write_line(element, file.as_deref(), *line, *col);
        }
    }
}

/// The tree of a question.
pub(in crate::report) struct Tree<'c> {
    connection: &'c Connection,
    question: NodeQuestion,
}

impl<'c> Tree<'c> {
    /// Prepares to give rows; finds out what filters leave, and what is selected where that is less
    /// than the whole run.
    ///
    /// # Errors
    /// When the database fails, and when the question is interrupted.
    pub(in crate::report) fn new(
        connection: &'c Connection,
        question: NodeQuestion,
    ) -> rusqlite::Result<(Self, Selected)> {
        let mut found = Selected::default();
        if question.filters.any() {
            connection.execute_batch(TABLE)?;
            // One change, and not one for each row.
            connection.execute_batch("SAVEPOINT left_nodes")?;
            let kept = keep(connection, &question);
            if kept.is_err() {
                connection.execute_batch("ROLLBACK TO left_nodes")?;
            }
            connection.execute_batch("RELEASE left_nodes")?;
            found = kept?;
        } else if !question.path.is_empty() {
            // The rows are read more than once, and what is selected is shown before the first.
            found = selected(connection, &question)?;
        }
        let tree = Self {
            connection,
            question,
        };
        Ok((tree, found))
    }

    /// Whether the rows have readings of the timer.
    pub(in crate::report) fn has_readings(&self) -> bool {
        self.question.costs.readings.is_some() && !self.question.filters.any()
    }

    /// Whether any node of the run says how often it was called.
    ///
    /// # Errors
    /// When the database fails.
    pub(in crate::report) fn may_have_calls(&self) -> rusqlite::Result<bool> {
        let sql = "SELECT EXISTS (
            SELECT 1 FROM runs AS r
            CROSS JOIN nodes AS n ON n.node_id BETWEEN r.first_node AND r.last_node
            WHERE r.run_id = ?1 AND n.calls IS NOT NULL
        )";
        self.connection
            .query_row(sql, [self.question.run], |row| row.get(0))
    }

    /// Returns whether the file of any function or line of the run is known.
    ///
    /// # Errors
    /// When the database fails.
    pub(in crate::report) fn may_have_files(&self) -> rusqlite::Result<bool> {
        let sql = "SELECT EXISTS (
            SELECT 1 FROM runs AS r
            CROSS JOIN function_info AS i ON i.metric_id = r.default_metric_id
            CROSS JOIN functions AS f ON f.function_id = i.function_id
            WHERE r.run_id = ?1 AND f.file <> ''
        ) OR EXISTS (
            SELECT 1 FROM metrics AS m
            CROSS JOIN line_info AS i ON i.metric_id = m.metric_id
            WHERE m.run_id = ?1 AND i.file <> ''
        )";
        self.connection
            .query_row(sql, [self.question.run], |row| row.get(0))
    }

    /// Returns whether the first line of any function of the run is known.
    ///
    /// # Errors
    /// When the database fails.
    pub(in crate::report) fn may_have_first_lines(&self) -> rusqlite::Result<bool> {
        let sql = "SELECT EXISTS (
            SELECT 1 FROM runs AS r
            CROSS JOIN function_info AS i ON i.metric_id = r.default_metric_id
            CROSS JOIN functions AS f ON f.function_id = i.function_id
            WHERE r.run_id = ?1 AND f.first_line > 0
        )";
        self.connection
            .query_row(sql, [self.question.run], |row| row.get(0))
    }

    /// Gives the rows within limits, as long as they are wanted; with the source of lines if that is
    /// asked for.
    ///
    /// # Errors
    /// When the database fails, and when the question is interrupted.
    pub(in crate::report) fn each(
        &self,
        limits: &Limits,
        with_code: bool,
        mut give: impl FnMut(&TreeRow<'_>) -> rusqlite::Result<bool>,
    ) -> rusqlite::Result<()> {
        let mut names = Names::new(self.connection)?;
        let mut sources = if with_code {
            Some(Sources::new(self.connection, self.question.run)?)
        } else {
            None
        };
        let mut rows = limits.first;
        self.places(limits, |place| {
            if rows == Some(0) {
                return Ok(false);
            }
            rows = rows.map(|rows| rows - 1);
            let function = names.of(place.function_id)?;
            let code = match &mut sources {
                Some(sources) => sources.of(place, function)?,
                None => None,
            };
            give(&TreeRow {
                place,
                function,
                code,
            })
        })
    }

    /// What depth and percentage leave out: rows, and the own cost of the functions among them.
    ///
    /// # Errors
    /// When the database fails, and when the question is interrupted.
    pub(in crate::report) fn left_out(&self, limits: &Limits) -> rusqlite::Result<LeftOut> {
        if let Some(all) = self.stored(limits)? {
            let mut shown = LeftOut::default();
            let mut cost = Sum::default();
            self.places(limits, |place| {
                shown.rows += 1;
                if place.line.is_none() {
                    cost.add(place.exclusive);
                }
                Ok(true)
            })?;
            let rows = all.rows - shown.rows;
            // The stored costs of functions are rounded, each to the last digit of a double: the
            // difference is as exact as the total of the run is. Where nothing is left out it is 0
            // all the same.
            let cost = if rows == 0 {
                0.0
            } else {
                all.cost - cost.value()
            };
            return Ok(LeftOut { rows, cost });
        }
        let mut rows = 0;
        let mut cost = Sum::default();
        let everything = Limits::default();
        self.places(&everything, |place| {
            if !limits.show(place.depth, place.cumulative.unwrap_or(place.exclusive)) {
                rows += 1;
                if place.line.is_none() {
                    cost.add(place.exclusive);
                }
            }
            Ok(true)
        })?;
        Ok(LeftOut {
            rows,
            cost: cost.value(),
        })
    }

    /// All nodes of the question and what they cost themselves, if that is stored and limits by
    /// depth alone spare reading the nodes.
    fn stored(&self, limits: &Limits) -> rusqlite::Result<Option<LeftOut>> {
        let question = &self.question;
        let is_whole = question.path.is_empty() && !question.filters.any();
        if !is_whole || limits.depth.is_none() || limits.min_pct.is_some() {
            return Ok(None);
        }
        let Some((first, last)) = span(self.connection, question.run)? else {
            return Ok(None);
        };
        let sql = "SELECT COALESCE(SUM(exclusive), 0.0), MAX(recorded OR exclusive IS NULL) FROM function_info WHERE metric_id = ?1";
        let total = |metric: i64| -> rusqlite::Result<Option<f64>> {
            let read = |row: &Row<'_>| Ok((row.get(0)?, row.get::<_, Option<bool>>(1)?));
            let (cost, is_stated) = self.connection.query_row(sql, [metric], read)?;
            // What the file states of functions is not what nodes add up to.
            Ok((is_stated != Some(true)).then_some(cost))
        };
        let costs = question.costs;
        let Some(mut cost) = total(costs.metric.metric)? else {
            return Ok(None);
        };
        if costs.shift != 0.0
            && let Some(readings) = costs.readings
        {
            let Some(readings) = total(readings.metric)? else {
                return Ok(None);
            };
            cost += costs.shift * readings;
        }
        Ok(Some(LeftOut {
            rows: last.saturating_sub(first).saturating_add(1),
            cost,
        }))
    }

    /// Gives the nodes within limits, whatever their number.
    pub(in crate::report) fn places(
        &self,
        limits: &Limits,
        give: impl FnMut(&Place) -> rusqlite::Result<bool>,
    ) -> rusqlite::Result<()> {
        if self.question.filters.any() {
            return self.kept(limits, give);
        }
        let mut showing = Showing {
            limits,
            with_readings: self.question.costs.readings.is_some(),
            give,
        };
        pass(self.connection, &self.question, NEEDS, &mut showing)?;
        Ok(())
    }

    fn kept(
        &self,
        limits: &Limits,
        mut give: impl FnMut(&Place) -> rusqlite::Result<bool>,
    ) -> rusqlite::Result<()> {
        let mut statement = self.connection.prepare(KEPT)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let place = Place {
                node_id: row.get(0)?,
                parent_id: row.get(1)?,
                depth: row.get(2)?,
                function_id: row.get(3)?,
                file: row.get(4)?,
                line: row.get(5)?,
                col: row.get(6)?,
                calls: row.get(7)?,
                exclusive: row.get(8)?,
                cumulative: row.get(9)?,
                exclusive_readings: None,
                cumulative_readings: None,
            };
            if limits.show(place.depth, place.cumulative.unwrap_or(place.exclusive))
                && !give(&place)?
            {
                break;
            }
        }
        Ok(())
    }
}

/// Keeps the nodes that filters leave in the temporary table; says what is selected of them.
fn keep(connection: &Connection, question: &NodeQuestion) -> rusqlite::Result<Selected> {
    struct Keep<'c>(Statement<'c>);

    impl Visit for Keep<'_> {
        fn closed(&mut self, node: &Open, pass: &Pass<'_, '_>) -> rusqlite::Result<()> {
            if node.is_in_selection {
                let place = place(node, pass, false)?;
                self.0.execute(rusqlite::params![
                    place.node_id,
                    place.parent_id,
                    place.depth,
                    place.function_id,
                    place.file,
                    place.line,
                    place.col,
                    place.calls,
                    place.exclusive,
                    place.cumulative,
                ])?;
            }
            Ok(())
        }
    }

    let mut keep = Keep(connection.prepare(INSERT)?);
    Ok(pass(connection, question, NEEDS, &mut keep)?.selected)
}

/// Shows nodes as they open: without filters, all is known then.
struct Showing<'l, F> {
    limits: &'l Limits,
    with_readings: bool,
    give: F,
}

impl<F: FnMut(&Place) -> rusqlite::Result<bool>> Visit for Showing<'_, F> {
    fn opened(&mut self, node: &Open, pass: &Pass<'_, '_>) -> rusqlite::Result<Next> {
        if !node.is_in_selection {
            return Ok(Next::Node);
        }
        let depth = i64::try_from(node.depth - node.top_depth).unwrap_or(i64::MAX);
        if self
            .limits
            .show(depth, node.cumulative.unwrap_or(node.exclusive))
        {
            let place = place(node, pass, self.with_readings)?;
            if !(self.give)(&place)? {
                return Ok(Next::Stop);
            }
        }
        // What is below is deeper, and in the selection like this one.
        Ok(if self.limits.depth.is_some_and(|most| depth >= most) {
            Next::AfterSubtree
        } else {
            Next::Node
        })
    }
}

fn place(node: &Open, pass: &Pass<'_, '_>, with_readings: bool) -> rusqlite::Result<Place> {
    let line = node.place;
    let file = match &line {
        Some(line) => pass.places.file(line)?,
        None => None,
    };
    Ok(Place {
        node_id: node.id,
        parent_id: pass.above(node).map(|above| above.id),
        depth: i64::try_from(node.depth - node.top_depth).unwrap_or(i64::MAX),
        function_id: pass.functions.all[node.function].id,
        file,
        line: line.map(|line| line.line),
        col: line.and_then(|line| line.col),
        calls: node.calls,
        exclusive: node.exclusive,
        cumulative: node.cumulative,
        exclusive_readings: with_readings.then_some(node.readings.exclusive),
        cumulative_readings: node.readings.cumulative.filter(|_| with_readings),
    })
}

/// The source of lines.
struct Sources<'c> {
    statement: Statement<'c>,
    run: i64,
}

impl<'c> Sources<'c> {
    fn new(connection: &'c Connection, run: i64) -> rusqlite::Result<Self> {
        let sql = "SELECT text FROM source_lines WHERE run_id = ?1 AND function_id = ?2 AND file = ?3 AND line = ?4";
        let statement = connection.prepare(sql)?;
        Ok(Self { statement, run })
    }

    fn of(&mut self, place: &Place, function: &FunctionName) -> rusqlite::Result<Option<String>> {
        let Some(line) = place.line else {
            return Ok(None);
        };
        let file = place.file.as_deref().unwrap_or(&function.file);
        let values = (self.run, place.function_id, file, line);
        self.statement
            .query_row(values, |row| row.get(0))
            .optional()
    }
}
