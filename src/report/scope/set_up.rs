//! The steps that set a question up, in their order.

use super::super::answer::Callers;
use super::super::error::ReportError;
use super::super::header::{Header, Parameter};
use super::super::names::RunNames;
use super::super::question::{Base, Groups, Request};
use super::super::script::Script;
use super::super::selection::{self, Target};
use super::{costs, filters, groups, selected};
use crate::store::{MetricInfo, RunInfo};

const TABLES: &str = include_str!("../../../queries/selection/tables.sql");
const CLEAR: &str = include_str!("../../../queries/selection/clear.sql");
const STARTS_EVERYWHERE: &str = include_str!("../../../queries/scopes/starts_everywhere.sql");
const STARTS_AT_SELECTION: &str = include_str!("../../../queries/scopes/starts_at_selection.sql");
const PERCENT_OF_SELECTION: &str =
    include_str!("../../../queries/question/percent_of_selection.sql");

/// What a report looks at, as far as the answer says it besides its rows.
pub(in super::super) struct Scope {
    /// Cost of the whole run.
    pub(in super::super) total: f64,
    /// Cost of what is selected; `None` if the whole run is, or if it is unknown.
    pub(in super::super) selected: Option<f64>,
    /// What has been subtracted from the times, in ns per reading of the timer; `None` if unknown.
    pub(in super::super) bias: Option<f64>,
    /// Exclusive costs are added up from nodes, although the file states others for each function.
    pub(in super::super) exclusive_left: bool,
    /// What the callers add up to, where that is not the cost of what is selected.
    pub(in super::super) callers: Option<Callers>,
    /// What there is to say of the question.
    pub(in super::super) remarks: Vec<String>,
}

/// Makes the views of a question. Each step reads what those before it have made:
///
/// 1. The tables of the question are emptied, and its one row says run, metric and shift of times.
/// 2. Layer 1: `question_*` are the run's tables in that metric and with that shift.
/// 3. Filters leave another tree, and layer 1 reads that one. So they come before the selection,
///    which must not find what they leave out.
/// 4. The path selects functions or nodes of layer 1.
/// 5. Names: `group_of` and `display_names` say what is counted as one. Layer 2 needs them for
///    callees.
/// 6. Layer 2: `function_costs`, `line_costs` and the like are the costs of what is selected.
/// 7. Groups of functions replace `function_costs`. What is in no group is what is selected less
///    what is in one, so this comes after the selected cost is known.
/// 8. `starts` says where reports that look upwards begin.
/// 9. Percentages refer to the selection if that is asked for, when nothing needs the total any
///    more.
pub(in super::super) fn set_up(
    script: &Script<'_>,
    header: &Header<'_>,
    run: &RunInfo,
    (metric, metrics): (&MetricInfo, &[MetricInfo]),
    request: &Request,
) -> Result<Scope, ReportError> {
    script.batch(TABLES)?;
    script.batch(CLEAR)?;
    let shift = costs::shift(header, run, (metric, metrics), request)?;
    let total = costs::set_up(script, run, metric, shift)?;

    let names = RunNames::new(script, run, request.names);
    let by = request.groups(header)?;
    // This is refused before filters make another tree, which takes long in a large run.
    groups::check(&names, header, by, request, shift)?;
    let mut remarks = Vec::new();
    let filtered = filters::apply(script, &names, header, request, &mut remarks)?;

    let thread = request.text(header, &Parameter::Thread)?;
    let path = request.text(header, &Parameter::Path)?;
    // Totals of a single function answer for it where they can.
    let by_totals = header.about_function && !header.needs.paths();
    let is_tree = names.has_tree();
    // Totals are of the whole run: filters and groups need nodes, where there are any.
    let totals_do = !is_tree || (by_totals && !filtered && by == Groups::Functions);
    let target = selection::select(script, &names, thread, path, totals_do)?;

    groups::name(script, run, by)?;
    let selected = selected::set_up(script, run, target, filtered)?;
    groups::add_up(script, &names, by, selected.unwrap_or(total))?;
    if is_tree && target != Target::Functions {
        script.batch(if header.about_function && path.is_some() {
            STARTS_AT_SELECTION
        } else {
            STARTS_EVERYWHERE
        })?;
    }
    if request.base == Base::Selection && selected.is_some() {
        script.batch(PERCENT_OF_SELECTION)?;
    }

    let from_nodes = match target {
        Target::Run => is_tree && (filtered || by != Groups::Functions || header.needs.paths()),
        Target::Functions => false,
        Target::Nodes { .. } => true,
    };
    Ok(Scope {
        total,
        selected,
        bias: costs::bias(run, request, shift),
        exclusive_left: from_nodes && costs::are_recorded(script)?,
        callers: match target {
            // In a tree, callers' nodes make up the function's; a file of edges states both, and
            // they may differ.
            Target::Functions if !is_tree => selected::callers(script, selected)?,
            _ => None,
        },
        remarks,
    })
}
