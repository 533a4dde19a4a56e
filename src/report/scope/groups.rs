//! What is counted as one: functions, modules, files, threads, processes or values of a label.

use rusqlite::named_params;

use super::super::error::{ReportError, failure};
use super::super::header::{Header, Needs};
use super::super::names::RunNames;
use super::super::question::{Groups, Request};
use super::super::script::Script;
use crate::store::RunInfo;

const AS_THEY_ARE: &str = include_str!("../../../queries/scopes/functions_as_they_are.sql");
const BY_MODULE: &str = include_str!("../../../queries/scopes/groups_by_module.sql");
const BY_FILE: &str = include_str!("../../../queries/scopes/groups_by_file.sql");
const DROP_FUNCTION_COSTS: &str = include_str!("../../../queries/scopes/drop_function_costs.sql");
const GROUP_NODES: &str = include_str!("../../../queries/scopes/group_nodes.sql");
const GROUP_TOTALS: &str = include_str!("../../../queries/scopes/group_totals.sql");
const CONTAINERS: &str = include_str!("../../../queries/scopes/containers.sql");
const COSTS_OF_CONTAINERS: &str =
    include_str!("../../../queries/scopes/group_costs_of_containers.sql");
const COSTS_OF_LABELS: &str = include_str!("../../../queries/scopes/group_costs_of_labels.sql");
const LABELLED_COST: &str = include_str!("../../../queries/scopes/labelled_cost.sql");
const COSTS_LEFT: &str = include_str!("../../../queries/scopes/group_costs_left.sql");
const GROUP_COSTS: &str = include_str!("../../../queries/scopes/group_costs.sql");

/// Refuses groups by thread, process or label where the run does not know them. Costs of labels are
/// known as they were measured, and of the paths of a tree.
pub(super) fn check(
    names: &RunNames<'_, '_>,
    header: &Header<'_>,
    by: Groups<'_>,
    request: &Request,
    shift: f64,
) -> Result<(), ReportError> {
    let by_labels = matches!(by, Groups::Label(_));
    if shift != 0.0 && (by_labels || request.labels(header).next().is_some()) {
        return Err(ReportError::Usage(
            "--bias: what samples with labels cost is known as it was measured only".to_owned(),
        ));
    }
    if header.needs == Needs::Labels {
        names.check_labels()?;
    }
    match by {
        Groups::Containers(_) | Groups::Label(_) if !names.has_tree() => {
            Err(names.no_paths("threads and labels are of paths"))
        }
        _ => Ok(()),
    }
}

/// Says to which group each function belongs, and what the groups are called. The names of threads,
/// processes and labels come with their costs.
pub(super) fn name(script: &Script<'_>, run: &RunInfo, by: Groups<'_>) -> Result<(), ReportError> {
    match by {
        Groups::Functions => Ok(script.batch(AS_THEY_ARE)?),
        Groups::Containers(_) | Groups::Label(_) => Ok(()),
        Groups::Modules => name_groups(script, run, BY_MODULE, "module"),
        Groups::Files => name_groups(script, run, BY_FILE, "file"),
    }
}

/// Counts functions of one module or file as one; refuses that where no function has any.
fn name_groups(
    script: &Script<'_>,
    run: &RunInfo,
    statements: &str,
    what: &str,
) -> Result<(), ReportError> {
    script.run(statements, &[("run", &run.run_id)])?;
    // With one group only, all functions are in one module or file, or none of them has any.
    if script.number("SELECT COUNT(DISTINCT group_id) FROM temp.groups")? > 1.0 {
        return Ok(());
    }
    let known = script.number(
        "SELECT MAX(name NOT LIKE '(% unknown)') FROM temp.display_names JOIN temp.groups USING (function_id)",
    )?;
    if known > 0.0 {
        return Ok(());
    }
    Err(ReportError::NothingSelected(format!(
        "no function of run {} has a {what}",
        run.run_id
    )))
}

/// Replaces the costs of functions by those of groups.
pub(super) fn add_up(
    script: &Script<'_>,
    names: &RunNames<'_, '_>,
    by: Groups<'_>,
    selected: f64,
) -> Result<(), ReportError> {
    let costs = match by {
        Groups::Functions => return Ok(()),
        Groups::Containers(_) | Groups::Label(_) => {
            return add_up_costs(script, names, by, selected);
        }
        // Only paths tell how much functions of one group called each other.
        Groups::Modules | Groups::Files if names.has_tree() => GROUP_NODES,
        Groups::Modules | Groups::Files => GROUP_TOTALS,
    };
    script.batch(DROP_FUNCTION_COSTS)?;
    Ok(script.batch(costs)?)
}

/// Replaces functions by threads, processes or values of a label, with the part of the selected
/// cost that each of them has.
fn add_up_costs(
    script: &Script<'_>,
    names: &RunNames<'_, '_>,
    by: Groups<'_>,
    selected: f64,
) -> Result<(), ReportError> {
    let run = names.run().run_id;
    let (kind, name, shared) = match by {
        Groups::Functions | Groups::Modules | Groups::Files => return Ok(()),
        Groups::Containers(kind) => {
            script.run(CONTAINERS, &[("kind", &kind.name())])?;
            if script.run(COSTS_OF_CONTAINERS, &[])? == 0 {
                return Err(ReportError::NothingSelected(format!(
                    "there is no {} in what is selected of run {run}",
                    kind.name()
                )));
            }
            (
                kind.name(),
                kind.name(),
                // Of containers within others of their kind only the outermost are counted, so that
                // costs do not overlap. A sample can have several values of a label: there, each is
                // counted once.
                script.number("SELECT SUM(cost) FROM temp.group_costs")?,
            )
        }
        Groups::Label(key) => {
            if script.run(COSTS_OF_LABELS, &[("key", &key)])? == 0 {
                return Err(ReportError::NothingSelected(
                    names.unknown_label(key, None, true)?,
                ));
            }
            let connection = script.database().connection();
            let shared =
                connection.query_row(LABELLED_COST, named_params! {":key": key}, |row| row.get(0));
            (
                "tag",
                key,
                shared.map_err(|source| failure(script.database(), source))?,
            )
        }
    };
    script.run(
        COSTS_LEFT,
        &[
            ("name", &name),
            ("kind", &kind),
            ("selected", &selected),
            ("shared", &shared),
        ],
    )?;
    script.batch(DROP_FUNCTION_COSTS)?;
    Ok(script.batch(GROUP_COSTS)?)
}
