//! Layer 2: costs of what is selected, by function, line, caller and callee.

use super::super::answer::Callers;
use super::super::error::ReportError;
use super::super::script::Script;
use super::super::selection::Target;
use crate::store::RunInfo;

const WHOLE_RUN: &str = include_str!("../../../queries/selection/whole_run.sql");
const ROOTS: &str = include_str!("../../../queries/selection/roots.sql");
const SUBTREES: &str = include_str!("../../../queries/selection/subtrees.sql");

const RUN: &str = include_str!("../../../queries/scopes/run.sql");
const FUNCTIONS: &str = include_str!("../../../queries/scopes/functions.sql");
const NODES: &str = include_str!("../../../queries/scopes/nodes.sql");
const LINES_AND_CALLERS: &str = include_str!("../../../queries/scopes/lines_and_callers.sql");
const PLACES: &str = include_str!("../../../queries/scopes/places.sql");
const CALLEES: &str = include_str!("../../../queries/scopes/callees.sql");

/// Makes the views of layer 2; gives the cost of what is selected, `None` if that is the whole run
/// or if the cost is unknown.
pub(super) fn set_up(
    script: &Script<'_>,
    run: &RunInfo,
    target: Target,
    filtered: bool,
) -> Result<Option<f64>, ReportError> {
    match (target, filtered) {
        (Target::Run, false) => {
            script.run(WHOLE_RUN, &[("run", &run.run_id)])?;
            script.batch(RUN)?;
            script.batch(PLACES)?;
            return Ok(None);
        }
        (Target::Functions, _) => script.batch(FUNCTIONS)?,
        // Totals of the run know nothing of filters: what is left is asked for as subtrees of its
        // roots.
        (Target::Run, true) => subtrees(script, ROOTS, 0)?,
        (Target::Nodes { step }, _) => subtrees(script, SUBTREES, step)?,
    }
    Ok(script.known("SELECT cost FROM temp.selected")?)
}

/// Makes the views of what is selected, if that is nodes with everything below them.
fn subtrees(script: &Script<'_>, statement: &str, step: i64) -> Result<(), ReportError> {
    if script.run(statement, &[("step", &step)])? == 0 {
        return Err(ReportError::NothingSelected(
            "the filters leave nothing of what is selected".to_owned(),
        ));
    }
    for views in [NODES, LINES_AND_CALLERS, PLACES, CALLEES] {
        script.batch(views)?;
    }
    Ok(())
}

/// What the callers of a function add up to, where that is not what the function cost. A function
/// without callers has none that could differ.
pub(super) fn callers(
    script: &Script<'_>,
    selected: Option<f64>,
) -> Result<Option<Callers>, ReportError> {
    if script.number("SELECT COUNT(*) FROM temp.callers_of_selection")? == 0.0 {
        return Ok(None);
    }
    let sum = "SELECT CASE COUNT(*) WHEN COUNT(cumulative) THEN SUM(cumulative) END FROM temp.callers_of_selection";
    Ok(match (script.known(sum)?, selected) {
        // The two are added up in different orders, and each addition rounds.
        (Some(sum), Some(cost)) if (sum - cost).abs() <= 1e-9 * cost.abs() => None,
        (sum, _) => Some(Callers { sum }),
    })
}
