//! What one pass over nodes finds, put where the statement of a question looks for it: tables with
//! the names of its parts. The shown statement says the same in SQL; tests compare the two.
//!
//! Rust is 5 to 20 times faster here than SQL, which has to sort nodes for every window and to keep
//! a copy of them for every filter (docs/design/0015-one-statement.md).

use std::collections::BTreeSet;

use hashbrown::{HashMap, HashSet};
use rusqlite::{Connection, ToSql, params};

use super::nodes::{
    CallCosts, ContainerKind, Figures, Filters, NodeCosts, NodeQuestion, Step, Stored, Sums, Wants,
};
use super::question::{Filter, Groups, Question};
use super::selection::Selection;
use crate::base::error::Stop;
use crate::events;
use crate::store::MetricInfo;

/// The tables, which are there once for a connection.
const TABLES: &str = include_str!("../../queries/computed/tables.sql");

/// The question for the pass over nodes.
pub(super) fn node_question(
    question: &Question<'_>,
    selection: &Selection,
    groups: Option<HashMap<i64, i64>>,
    labels: Option<HashSet<i64>>,
    stop: &Stop,
) -> NodeQuestion {
    let stored = |metric: &MetricInfo| Stored {
        metric: metric.metric_id,
        in_nodes: question.run.default_metric.as_ref() == Some(&metric.name),
    };
    let set = |functions: &[i64]| functions.iter().copied().collect::<HashSet<i64>>();
    NodeQuestion {
        run: question.run.run_id,
        costs: NodeCosts {
            metric: stored(&question.metric),
            // They take another walk beside that of the nodes.
            readings: question
                .readings
                .as_ref()
                .filter(|_| question.shift != 0.0 || question.shows("exclusive_ticks"))
                .map(stored),
            shift: question.shift,
        },
        filters: Filters {
            focus: selection.functions_of(Filter::Focus).map(set),
            ignore: selection.functions_of(Filter::Ignore).map(set),
            hide: selection.functions_of(Filter::Hide).map(set),
            labels,
        },
        path: selection
            .steps
            .iter()
            .map(|step| Step {
                operator: step.operator,
                functions: set(&step.picked.functions),
            })
            .collect(),
        groups,
        stop: stop.clone(),
        containers: std::cell::OnceCell::new(),
    }
}

/// Tables that a pass fills where a statement reads them.
pub(super) const FILLED: [&str; 6] = [
    "callees_of_selection",
    "callers_of_selection",
    "element_costs",
    "function_costs",
    "line_costs",
    "selected_labels",
];

/// What the statement of a question reads of what a pass can find. `statement` is the one in which [`FILLED`] are tables:
/// lines and calls may be named by no more than a part of it.
pub(super) fn wants(question: &Question<'_>, statement: &str) -> Wants {
    let reads = |part: &str| question.report.sql.contains(part);
    let reaches = |part: &str| statement.contains(part);
    let by_functions = matches!(
        question.groups,
        Groups::Functions | Groups::Identities | Groups::Modules | Groups::Files
    );
    let elements = reads("element_costs");
    Wants {
        functions: elements || (by_functions && reads("function_costs")),
        lines: elements || reaches("line_costs"),
        callers: reads("callers_of_selection"),
        callees: reaches("callees_of_selection"),
        containers: match question.groups {
            Groups::Containers(events::Kind::Process) => Some(ContainerKind::Process),
            Groups::Containers(_) => Some(ContainerKind::Thread),
            _ => None,
        },
        label_sets: reads("selected_labels") || matches!(question.groups, Groups::Label(_)),
    }
}

/// Fills the tables that a pass has found the rows of, and names them.
///
/// # Errors
/// When the database fails.
pub(super) fn fill(
    connection: &Connection,
    question: &Question<'_>,
    wants: Wants,
    sums: &Sums,
) -> rusqlite::Result<BTreeSet<&'static str>> {
    connection.execute_batch(TABLES)?;
    let mut filled = BTreeSet::from(["selected"]);
    insert(
        connection,
        "INSERT INTO temp.selected (cost) VALUES (?1)",
        [sums.selected.cost],
        |cost, run| run(params![cost]),
    )?;
    let is_about_elements = question.report.sql.contains("element_costs");
    if is_about_elements {
        filled.insert("element_costs");
        elements(connection, sums)?;
    } else {
        if wants.functions {
            filled.insert("function_costs");
            insert(
                connection,
                "INSERT INTO temp.function_costs (function_id, calls, exclusive, cumulative, seen) VALUES (?1, ?2, ?3, ?4, ?5)",
                &sums.functions,
                |costs, run| {
                    let Figures {
                        calls,
                        exclusive,
                        cumulative,
                        seen,
                        ..
                    } = costs.figures;
                    run(params![
                        costs.function_id,
                        calls,
                        exclusive,
                        cumulative,
                        seen
                    ])
                },
            )?;
        }
        if wants.lines {
            filled.insert("line_costs");
            insert(
                connection,
                "INSERT INTO temp.line_costs (function_id, file, line, col, calls, exclusive, cumulative)
                 VALUES (?1, CAST(?2 AS TEXT), ?3, ?4, ?5, ?6, ?7)",
                &sums.lines,
                |costs, run| {
                    let figures = &costs.figures;
                    run(params![
                        costs.function_id,
                        costs.file,
                        costs.line,
                        costs.col,
                        figures.calls,
                        figures.exclusive,
                        figures.cumulative
                    ])
                },
            )?;
        }
    }
    if wants.callers {
        filled.insert("callers_of_selection");
        calls(
            connection,
            "INSERT INTO temp.callers_of_selection (caller_id, line_file, line, col, kind, calls, exclusive, cumulative)
             VALUES (?1, CAST(?8 AS TEXT), ?3, ?4, 'call', ?5, ?6, ?7)",
            &sums.callers,
        )?;
    }
    if wants.callees {
        filled.insert("callees_of_selection");
        calls(
            connection,
            "INSERT INTO temp.callees_of_selection (caller_id, callee_id, line_file, line, col, kind, calls, exclusive, cumulative)
             VALUES (?1, ?2, CAST(?8 AS TEXT), ?3, ?4, 'call', ?5, ?6, ?7)",
            &sums.callees,
        )?;
    }
    if wants.containers.is_some() {
        filled.insert("known_groups");
        insert(
            connection,
            "INSERT INTO temp.known_groups (group_id, name, kind, cost)
             SELECT f.function_id, IIF(f.module <> '' AND EXISTS (
               SELECT 1 FROM functions AS o CROSS JOIN runs AS r CROSS JOIN function_info AS i
               WHERE o.name = f.name AND o.kind = f.kind AND o.function_id <> f.function_id
                 AND r.run_id = ?3 AND i.metric_id = r.default_metric_id AND i.function_id = o.function_id
             ), f.module || '/' || f.name, f.name), f.kind, ?2 FROM functions AS f WHERE f.function_id = ?1",
            &sums.containers,
            |(function, cost), run| run(params![function, cost, question.run.run_id]),
        )?;
    }
    if wants.label_sets {
        filled.insert("selected_labels");
        insert(
            connection,
            "INSERT INTO temp.selected_labels (set_id, exclusive) VALUES (?1, ?2)",
            &sums.label_sets,
            |(set, cost), run| run(params![set, cost]),
        )?;
    }
    Ok(filled)
}

/// Fills the table of functions and their lines.
fn elements(connection: &Connection, sums: &Sums) -> rusqlite::Result<()> {
    let functions = sums
        .functions
        .iter()
        .map(|costs| (costs.function_id, &b""[..], None, 0, &costs.figures));
    let lines = sums.lines.iter().map(|costs| {
        let line = Some(costs.line);
        (
            costs.function_id,
            &costs.file[..],
            line,
            costs.col,
            &costs.figures,
        )
    });
    insert(
        connection,
        "INSERT INTO temp.element_costs
         (function_id, line_file, line, col, calls, exclusive, cumulative, exclusive_readings, cumulative_readings)
         VALUES (?1, CAST(?2 AS TEXT), ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        functions.chain(lines),
        |(function, file, line, col, figures), run| {
            run(params![
                function,
                file,
                line,
                col,
                figures.calls,
                figures.exclusive,
                figures.cumulative,
                figures.exclusive_readings,
                figures.cumulative_readings
            ])
        },
    )
}

fn calls(connection: &Connection, sql: &str, calls: &[CallCosts]) -> rusqlite::Result<()> {
    insert(connection, sql, calls, |costs, run| {
        run(params![
            costs.caller_id,
            costs.callee_id,
            costs.line,
            costs.col,
            costs.calls,
            costs.exclusive,
            costs.cumulative,
            costs.line_file
        ])
    })
}

/// Runs a statement for every row.
fn insert<R>(
    connection: &Connection,
    sql: &str,
    rows: impl IntoIterator<Item = R>,
    bind: impl Fn(
        R,
        &mut dyn FnMut(&[&dyn ToSql]) -> rusqlite::Result<usize>,
    ) -> rusqlite::Result<usize>,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(sql)?;
    for row in rows {
        bind(row, &mut |values| statement.execute(values))?;
    }
    Ok(())
}
