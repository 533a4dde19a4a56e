//! What a drill-down path selects: nodes, in temporary tables that the reports read.
//!
//! A path is followed step by step. `,` takes the nodes of the next name strictly within the
//! outermost nodes so far, `>` those whose caller is any node so far. Reducing to outermost nodes
//! before `>`, or adding up nodes that are outermost for their own function over several functions,
//! would count recursion wrongly; tests/figures/selection.rs compares with brute force.

use super::error::ReportError;
use super::names::RunNames;
use super::path::{Name, Operator, Path};
use super::script::Script;

const FIRST: &str = include_str!("../../queries/selection/first.sql");
const WITHIN: &str = include_str!("../../queries/selection/within.sql");
const DIRECT: &str = include_str!("../../queries/selection/direct.sql");

/// What the reports look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// The whole run.
    Run,
    /// The totals of one function, or of several that never enclose each other, in `temp.picked`.
    Functions,
    /// The nodes of a step in `temp.selection`, and what is below them.
    Nodes {
        /// The step.
        step: i64,
    },
}

/// Follows a path, within a thread if one is named; without either the whole run is selected. Where
/// totals do, those of a single function are selected instead of its nodes. Without paths those of
/// several are, too, if they never enclose each other.
pub(super) fn select(
    script: &Script<'_>,
    names: &RunNames<'_, '_>,
    thread: Option<&str>,
    text: Option<&str>,
    totals_do: bool,
) -> Result<Target, ReportError> {
    let parsed = text.map(|text| names.path(text));
    let path = match (
        thread.map(|thread| Name::Thread(thread.to_owned())),
        parsed.transpose()?,
    ) {
        (None, None) => return Ok(Target::Run),
        (None, Some(path)) => path,
        (Some(first), None) => Path {
            first,
            rest: Vec::new(),
        },
        (Some(first), Some(path)) => {
            // A thread is a node like any other, so a path in it is a path that begins there.
            let rest = std::iter::once((Operator::Within, path.first))
                .chain(path.rest)
                .collect();
            Path { first, rest }
        }
    };
    let picked = names.pick(1, &path.first)?;
    // Totals of several functions would count twice what one of them spent in another one.
    if picked == 1 && path.rest.is_empty() && totals_do {
        return Ok(Target::Functions);
    }
    if !names.has_tree() {
        if !path.rest.is_empty() {
            return Err(names.no_paths("--fn takes the name of a function there"));
        }
        names.check_apart()?;
        return Ok(Target::Functions);
    }
    let follow =
        |sql: &str, step: i64| script.run(sql, &[("run", &names.run().run_id), ("step", &step)]);
    let mut found = follow(FIRST, 1)?;
    let mut last = 1;
    for (step, (operator, name)) in (2_i64..).zip(&path.rest) {
        names.pick(step, name)?;
        last = step;
        found = match operator {
            Operator::Within => follow(WITHIN, step)?,
            Operator::Direct => follow(DIRECT, step)?,
        };
    }
    if found == 0 {
        let path = text.unwrap_or_default();
        let run = names.run().run_id;
        return Err(ReportError::NothingSelected(format!(
            "no call in run {run} follows the path {path}"
        )));
    }
    Ok(Target::Nodes { step: last })
}
