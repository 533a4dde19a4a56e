//! Compares what one pass over nodes gives with the views that SQL makes for the same question.

use std::fmt::Debug;

use hashbrown::{HashMap, HashSet};
use rusqlite::{Connection, Row, ToSql};

use super::ask::{ask, choose_metric};
use super::catalog::Report;
use super::error::{ReportError, failure};
use super::header::Parameter;
use super::names::RunNames;
use super::nodes::{
    CallCosts, ContainerKind, Figures, Filters, FunctionCosts, LeftOut, Limits, LineCosts,
    NodeCosts, NodeQuestion, Start, Step, Stored, Tree, Wants, add_up, bottom_up, paths,
};
use super::path::Operator;
use super::question::{Argument, Groups, Request};
use super::scope;
use super::script::Script;
use crate::store::{Database, RunInfo, StoreError};
use crate::text::cell::Value;

/// What one pass over the nodes says otherwise than the views of the same question.
///
/// # Errors
/// When the question has no answer, or the database fails.
#[doc(hidden)]
pub fn compare_nodes(
    database: &Database,
    report: &'static Report,
    run: &RunInfo,
    request: &Request,
) -> Result<Vec<String>, ReportError> {
    let header = report.header();
    let metrics = database.metrics(run.run_id)?;
    let metric = choose_metric(&metrics, run, request.metric.as_deref())?;
    let mut answer = ask(database, report, run, request)?;
    let shows_nodes = ["tree", "bottom_up", "paths"].contains(&report.name);
    let mut shown: Vec<Vec<Value>> = Vec::new();
    answer.each(|values| {
        if shows_nodes {
            shown.push(values.to_vec());
        }
        Ok::<_, StoreError>(())
    })?;
    let pruned = answer.subject.as_ref().and_then(|subject| subject.pruned);
    let pruned = pruned.map(|pruned| (pruned.rows, pruned.cost));
    drop(answer);
    let script = Script::new(database);
    scope::set_up(&script, &header, run, (&metric, &metrics), request)?;
    if run.fidelity != "tree" {
        return Ok(Vec::new());
    }
    let names = RunNames::new(&script, run, request.names);
    let mut operators = Vec::new();
    if request.text(&header, &Parameter::Thread)?.is_some() {
        operators.push(Operator::Within);
    }
    if let Some(text) = request.text(&header, &Parameter::Path)? {
        operators.push(Operator::Within);
        let path = names.path(text)?;
        operators.extend(path.rest.iter().map(|(operator, _)| *operator));
    }
    let is_grouped = matches!(request.groups(&header)?, Groups::Modules | Groups::Files);
    let is_by_cost = matches!(
        request.groups(&header)?,
        Groups::Containers(_) | Groups::Label(_)
    );
    let is_labelled = request.labels(&header).next().is_some();
    let compare = || -> rusqlite::Result<Vec<String>> {
        let question = question(
            database.connection(),
            run.run_id,
            &operators,
            is_grouped,
            is_labelled,
        )?;
        let connection = database.connection();
        let total: Option<f64> =
            connection.query_row("SELECT total FROM temp.question", [], |row| row.get(0))?;
        let min_pct = match request.argument("min_pct") {
            Some(Argument::Number(number)) => Some(*number),
            _ => header
                .parameters
                .iter()
                .find(|parameter| parameter.name == "min_pct")
                .and_then(|parameter| parameter.default?.parse().ok()),
        };
        let limits = Limits {
            depth: request
                .number_of(&header, "depth")
                .map(|depth| i64::try_from(depth).unwrap_or(i64::MAX)),
            min_pct,
            total: total.unwrap_or_default(),
            first: request.number_of(&header, "first"),
        };
        let path = request.text_of("fn").is_some();
        let start = match (header.about_function && path, request.argument("exclusive")) {
            (false, _) => Start::Everywhere,
            (true, None) => Start::Selection,
            (true, Some(_)) => Start::SelectionItself,
        };
        let mut comparison = Comparison {
            connection,
            question,
            is_by_cost,
            total: metric.total,
            differences: Vec::new(),
        };
        if shows_nodes {
            let with_code = request.argument("code").is_some();
            comparison.rows((report.name, with_code), &limits, start, &shown, pruned)?;
        }
        comparison.compare()
    };
    Ok(compare().map_err(|source| failure(database, source))?)
}

fn rows<T>(
    connection: &Connection,
    sql: &str,
    parameters: &[&dyn ToSql],
    read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    connection
        .prepare(sql)?
        .query_map(parameters, read)?
        .collect()
}

/// The question that the temporary tables hold.
fn question(
    connection: &Connection,
    run: i64,
    operators: &[Operator],
    is_grouped: bool,
    is_labelled: bool,
) -> rusqlite::Result<NodeQuestion> {
    let filter = |name: &str| -> rusqlite::Result<Option<HashSet<i64>>> {
        let sql = "SELECT function_id FROM temp.matched WHERE filter = ?1";
        let functions = rows(connection, sql, &[&name], |row| row.get(0))?;
        Ok((!functions.is_empty()).then(|| functions.into_iter().collect()))
    };
    let sql =
        "SELECT metric_id, is_default, readings_id, readings_are_default, shift FROM temp.question";
    let costs = connection.query_row(sql, [], |row| {
        let readings: Option<i64> = row.get(2)?;
        let in_nodes = row.get(3)?;
        Ok(NodeCosts {
            metric: Stored {
                metric: row.get(0)?,
                in_nodes: row.get(1)?,
            },
            readings: readings.map(|metric| Stored { metric, in_nodes }),
            shift: row.get(4)?,
        })
    })?;
    let labels = rows(
        connection,
        "SELECT set_id FROM temp.wanted_sets",
        &[],
        |row| row.get(0),
    )?;
    let mut path = Vec::new();
    for (at, operator) in operators.iter().enumerate() {
        let step = i64::try_from(at + 1).unwrap_or(i64::MAX);
        let sql = "SELECT function_id FROM temp.picked WHERE step = ?1";
        let functions = rows(connection, sql, &[&step], |row| row.get(0))?;
        path.push(Step {
            operator: *operator,
            functions: functions.into_iter().collect(),
        });
    }
    let sql = "SELECT function_id, group_id FROM temp.groups";
    let groups: HashMap<i64, i64> =
        rows(connection, sql, &[], |row| Ok((row.get(0)?, row.get(1)?)))?
            .into_iter()
            .collect();
    Ok(NodeQuestion {
        run,
        costs,
        filters: Filters {
            focus: filter("focus")?,
            ignore: filter("ignore")?,
            hide: filter("hide")?,
            labels: is_labelled.then(|| labels.into_iter().collect()),
        },
        path,
        groups: is_grouped.then_some(groups),
    })
}

struct Comparison<'c> {
    connection: &'c Connection,
    question: NodeQuestion,
    is_by_cost: bool,
    total: f64,
    differences: Vec<String>,
}

fn figures(row: &Row<'_>, from: usize) -> rusqlite::Result<Figures> {
    Ok(Figures {
        calls: row.get(from)?,
        exclusive: row.get(from + 1)?,
        cumulative: row.get(from + 2)?,
        exclusive_readings: row.get(from + 3)?,
        cumulative_readings: row.get(from + 4)?,
    })
}

fn call(row: &Row<'_>) -> rusqlite::Result<CallCosts> {
    Ok(CallCosts {
        function_id: row.get(0)?,
        line: row.get(1)?,
        col: row.get(2)?,
        calls: row.get(3)?,
        exclusive: row.get(4)?,
        cumulative: row.get(5)?,
    })
}

/// What a row shows that can be compared: without percentages.
fn shown(row: &[Value], columns: &[usize]) -> Vec<Value> {
    columns.iter().map(|column| row[*column].clone()).collect()
}

fn integer(value: impl Into<Option<i64>>) -> Value {
    value.into().map_or(Value::Null, Value::Integer)
}

fn real(value: impl Into<Option<f64>>) -> Value {
    value.into().map_or(Value::Null, Value::Real)
}

impl Comparison<'_> {
    /// Compares the rows of a report that shows nodes.
    fn rows(
        &mut self,
        (report, with_code): (&str, bool),
        limits: &Limits,
        start: Start,
        expected: &[Vec<Value>],
        pruned: Option<(i64, f64)>,
    ) -> rusqlite::Result<()> {
        let text = |text: &str| Value::Text(text.to_owned());
        let mut found: Vec<Vec<Value>> = Vec::new();
        let mut left_out = None;
        let columns: &[usize] = match report {
            "tree" => {
                let tree = Tree::new(self.connection, &self.question)?;
                left_out = pruned.map(|_| tree.left_out(limits)).transpose()?;
                tree.each(limits, with_code, |row| {
                    let place = row.place;
                    found.push(vec![
                        integer(place.depth),
                        text(&row.element()),
                        text(&row.function.name),
                        integer(place.line),
                        integer(place.col),
                        integer(place.calls),
                        real(place.exclusive),
                        real(place.cumulative),
                        real(place.exclusive_readings),
                        real(place.cumulative_readings),
                        row.code.as_deref().map_or(Value::Null, text),
                        text(&row.function.module),
                        text(row.file()),
                        integer(place.node_id),
                        integer(place.parent_id),
                    ]);
                    Ok(true)
                })?;
                &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]
            }
            "bottom_up" => {
                let (rows, left) = bottom_up(self.connection, &self.question, start, limits)?;
                left_out = pruned.map(|_| left);
                for row in rows {
                    let sql = "SELECT name FROM functions WHERE function_id = ?1";
                    let name: String =
                        self.connection
                            .query_row(sql, [row.function_id], |row| row.get(0))?;
                    found.push(vec![
                        integer(row.level),
                        text(&name),
                        real(row.cost),
                        integer(row.calls),
                    ]);
                }
                &[0, 2, 3, 5]
            }
            _ => {
                for row in paths(self.connection, &self.question, limits)? {
                    let begin = if row.is_cut { "... > " } else { "" };
                    found.push(vec![
                        real(row.exclusive),
                        integer(row.calls),
                        real(row.cumulative),
                        integer(row.frames),
                        text(&format!("{begin}{}", row.path)),
                        integer(row.node_id),
                    ]);
                }
                &[0, 3, 4, 5, 6, 7]
            }
        };
        let expected: Vec<Vec<Value>> = expected.iter().map(|row| shown(row, columns)).collect();
        self.same(report, &found, &expected, |left, right, near| {
            left.iter().zip(right).all(|pair| match pair {
                (Value::Real(left), Value::Real(right)) => near(Some(*left), Some(*right)),
                (left, right) => left == right,
            })
        });
        let left_out: Vec<LeftOut> = left_out.into_iter().collect();
        let pruned: Vec<LeftOut> = pruned
            .into_iter()
            .map(|(rows, cost)| LeftOut { rows, cost })
            .collect();
        self.same("left out", &left_out, &pruned, |left, right, near| {
            left.rows == right.rows && near(Some(left.cost), Some(right.cost))
        });
        Ok(())
    }

    fn compare(mut self) -> rusqlite::Result<Vec<String>> {
        let connection = self.connection;
        let is_whole = self.question.path.is_empty() && !self.question.filters.any();
        let subtrees: i64 =
            connection.query_row("SELECT COUNT(*) FROM temp.subtrees", [], |row| row.get(0))?;
        if subtrees == 0 {
            // Totals answer, or there are no nodes.
            return Ok(self.differences);
        }
        for kind in [ContainerKind::Thread, ContainerKind::Process] {
            self.containers(kind)?;
        }
        let wants = Wants {
            functions: true,
            lines: true,
            callers: true,
            callees: true,
            containers: None,
            label_sets: true,
        };
        let sums = add_up(connection, &self.question, wants)?;
        let sql = "SELECT c.set_id, SUM(c.exclusive)
            FROM temp.question AS q
            CROSS JOIN temp.subtrees AS s
            CROSS JOIN temp.question_labels AS c
            WHERE q.question_id = 1 AND s.outermost AND c.node_id BETWEEN s.node_id AND s.last_id
            GROUP BY c.set_id";
        let expected = rows(connection, sql, &[], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, f64>(1)?))
        })?;
        let mut found = sums.label_sets;
        found.sort_by_key(|(set, _)| *set);
        self.same("label sets", &found, &expected, |left, right, near| {
            left.0 == right.0 && near(Some(left.1), Some(right.1))
        });
        if !self.is_by_cost && (!is_whole || self.question.groups.is_some()) {
            let sql = "SELECT function_id, calls, exclusive, cumulative, exclusive_readings, cumulative_readings FROM temp.function_costs ORDER BY function_id";
            let expected = rows(connection, sql, &[], |row| {
                Ok(FunctionCosts {
                    function_id: row.get(0)?,
                    figures: figures(row, 1)?,
                })
            })?;
            let mut found = sums.functions;
            found.sort_by_key(|row| row.function_id);
            self.same("functions", &found, &expected, |left, right, near| {
                left.function_id == right.function_id
                    && same_figures(&left.figures, &right.figures, near)
            });
        }
        if is_whole {
            return Ok(self.differences);
        }
        let sql = "SELECT function_id, CAST(file AS BLOB), line, col, calls, exclusive, cumulative, exclusive_readings, cumulative_readings
            FROM temp.line_costs ORDER BY function_id, file, line, col";
        let expected = rows(connection, sql, &[], |row| {
            Ok(LineCosts {
                function_id: row.get(0)?,
                file: row.get(1)?,
                line: row.get(2)?,
                col: row.get(3)?,
                figures: figures(row, 4)?,
            })
        })?;
        let mut found = sums.lines;
        found.sort_by(|left, right| {
            let key = |row: &LineCosts| (row.function_id, row.file.clone(), row.line, row.col);
            key(left).cmp(&key(right))
        });
        self.same("lines", &found, &expected, |left, right, near| {
            (left.function_id, &left.file, left.line, left.col)
                == (right.function_id, &right.file, right.line, right.col)
                && same_figures(&left.figures, &right.figures, near)
        });
        for (what, id, mut found) in [
            ("callers", "caller_id", sums.callers),
            ("callees", "callee_id", sums.callees),
        ] {
            // Nothing says what is counted as one callee there.
            if self.is_by_cost && what == "callees" {
                continue;
            }
            let sql = format!(
                "SELECT {id}, line, col, CASE COUNT(*) WHEN COUNT(calls) THEN SUM(calls) END, SUM(exclusive),
                        CASE COUNT(*) WHEN COUNT(cumulative) THEN SUM(cumulative) END
                 FROM temp.{what}_of_selection
                 GROUP BY {id}, line, col
                 ORDER BY {id}, line, col"
            );
            let expected = rows(connection, &sql, &[], call)?;
            found.sort_by_key(|row| (row.function_id, row.line, row.col));
            self.same(what, &found, &expected, |left, right, near| {
                (left.function_id, left.line, left.col, left.calls)
                    == (right.function_id, right.line, right.col, right.calls)
                    && near(Some(left.exclusive), Some(right.exclusive))
                    && near(left.cumulative, right.cumulative)
            });
        }
        let selected: Option<f64> =
            connection.query_row("SELECT cost FROM temp.selected", [], |row| row.get(0))?;
        self.same(
            "selected",
            &[(sums.is_any, sums.selected)],
            &[(true, selected.unwrap_or_default())],
            |left, right, near| left.0 == right.0 && near(Some(left.1), Some(right.1)),
        );
        Ok(self.differences)
    }

    fn containers(&mut self, kind: ContainerKind) -> rusqlite::Result<()> {
        let connection = self.connection;
        connection.execute("DELETE FROM temp.containers", [])?;
        let name = if kind == ContainerKind::Thread {
            "thread"
        } else {
            "process"
        };
        connection.execute(include_str!("../../queries/scopes/containers.sql"), [name])?;
        let sql = "SELECT f.function_id, SUM(n.cumulative)
            FROM temp.subtrees AS s
            CROSS JOIN temp.containers AS c
            CROSS JOIN temp.question_nodes AS n
            CROSS JOIN functions AS f
            WHERE s.outermost
              AND c.node_id <= s.last_id
              AND c.last_id >= s.node_id
              AND n.node_id = MAX(s.node_id, c.node_id)
              AND f.function_id = c.function_id
            GROUP BY f.function_id";
        let expected = rows(connection, sql, &[], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, Option<f64>>(1)?))
        })?;
        let wants = Wants {
            containers: Some(kind),
            ..Wants::default()
        };
        let mut found = add_up(connection, &self.question, wants)?.containers;
        found.sort_by_key(|(function, _)| *function);
        self.same(name, &found, &expected, |left, right, near| {
            left.0 == right.0 && near(left.1, right.1)
        });
        Ok(())
    }

    fn same<T: Debug>(
        &mut self,
        what: &str,
        found: &[T],
        expected: &[T],
        is_same: impl Fn(&T, &T, &dyn Fn(Option<f64>, Option<f64>) -> bool) -> bool,
    ) {
        let total = self.total.abs();
        let near = |left: Option<f64>, right: Option<f64>| match (left, right) {
            (Some(left), Some(right)) => {
                left.to_bits() == right.to_bits()
                    || (left - right).abs() <= 1e-9 * (left.abs() + right.abs() + total)
            }
            (left, right) => left == right,
        };
        let all = found.len() == expected.len()
            && found
                .iter()
                .zip(expected)
                .all(|(found, expected)| is_same(found, expected, &near));
        if !all {
            self.differences.push(format!(
                "{what}:\n found {found:#?}\n expected {expected:#?}\n of {:#?}",
                self.question
            ));
        }
    }
}

fn same_figures(
    left: &Figures,
    right: &Figures,
    near: &dyn Fn(Option<f64>, Option<f64>) -> bool,
) -> bool {
    left.calls == right.calls
        && near(Some(left.exclusive), Some(right.exclusive))
        && near(left.cumulative, right.cumulative)
        && near(left.exclusive_readings, right.exclusive_readings)
        && near(left.cumulative_readings, right.cumulative_readings)
}
