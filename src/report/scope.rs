//! What a report looks at. Temporary views with fixed names stand between the tables of a run and
//! the SELECT of a report: one layer gives costs in the metric and with the timer bias that are
//! asked for, or what filters leave of them, the next one what is selected. So a report is written
//! once, whatever is asked.

use rusqlite::named_params;

use super::header::{Header, Needs, Parameter};
use super::script::{Bound, Script};
use super::selection::{self, Names, Target};
use super::{Base, Callers, Groups, ReportError, Request, failure};
use crate::store::{MetricInfo, RunInfo, StoreError};

const TABLES: &str = include_str!("../../queries/selection/tables.sql");
const CLEAR: &str = include_str!("../../queries/selection/clear.sql");
const SUBTREES: &str = include_str!("../../queries/selection/subtrees.sql");
const WHOLE_RUN: &str = include_str!("../../queries/selection/whole_run.sql");
const ROOTS: &str = include_str!("../../queries/selection/roots.sql");

const QUESTION: &str = include_str!("../../queries/asked/question.sql");
const RECORDED: &str = include_str!("../../queries/asked/recorded.sql");
const PERCENT_OF_SELECTION: &str = include_str!("../../queries/asked/percent_of_selection.sql");
const TOTALS: &str = include_str!("../../queries/asked/totals.sql");
const TOTALS_SHIFTED: &str = include_str!("../../queries/asked/totals_shifted.sql");
const NODES_DEFAULT: &str = include_str!("../../queries/asked/nodes_default.sql");
const NODES_OTHER: &str = include_str!("../../queries/asked/nodes_other.sql");
const NODES_SHIFTED: &str = include_str!("../../queries/asked/nodes_shifted.sql");
const LABELS: &str = include_str!("../../queries/asked/labels.sql");
const LABELS_VISIBLE: &str = include_str!("../../queries/asked/labels_visible.sql");
const NODES_VISIBLE: &str = include_str!("../../queries/asked/nodes_visible.sql");

const KEEP: &str = include_str!("../../queries/filters/keep.sql");
const ADD_UP: &str = include_str!("../../queries/filters/add_up.sql");
const DROP_EMPTY: &str = include_str!("../../queries/filters/drop_empty.sql");
const HIDE: &str = include_str!("../../queries/filters/hide.sql");
const LOOK_UP: &str = include_str!("../../queries/filters/look_up.sql");
const ADOPT: &str = include_str!("../../queries/filters/adopt.sql");
const RAISE: &str = include_str!("../../queries/filters/raise.sql");
const DROP_HIDDEN: &str = include_str!("../../queries/filters/drop_hidden.sql");
const MEASURE_DEPTH: &str = include_str!("../../queries/filters/measure_depth.sql");
const TAG_FIRST: &str = include_str!("../../queries/filters/tag_first.sql");
const TAG_NEXT: &str = include_str!("../../queries/filters/tag_next.sql");
const TAG_COSTS: &str = include_str!("../../queries/filters/tag_costs.sql");
const MATCH: &str = include_str!("../../queries/filters/match.sql");

const AS_THEY_ARE: &str = include_str!("../../queries/scopes/functions_as_they_are.sql");
const BY_MODULE: &str = include_str!("../../queries/scopes/groups_by_module.sql");
const BY_FILE: &str = include_str!("../../queries/scopes/groups_by_file.sql");
const RUN: &str = include_str!("../../queries/scopes/run.sql");
const FUNCTIONS: &str = include_str!("../../queries/scopes/functions.sql");
const NODES: &str = include_str!("../../queries/scopes/nodes.sql");
const PATHS: &str = include_str!("../../queries/scopes/paths.sql");
const PLACES: &str = include_str!("../../queries/scopes/places.sql");
const DEPARTURES: &str = include_str!("../../queries/scopes/departures.sql");
const STARTS_EVERYWHERE: &str = include_str!("../../queries/scopes/starts_everywhere.sql");
const STARTS_AT_SELECTION: &str = include_str!("../../queries/scopes/starts_at_selection.sql");
const FORGET_FIGURES: &str = include_str!("../../queries/scopes/forget_figures.sql");
const GROUP_NODES: &str = include_str!("../../queries/scopes/group_nodes.sql");
const GROUP_TOTALS: &str = include_str!("../../queries/scopes/group_totals.sql");

const CONTAINERS: &str = include_str!("../../queries/scopes/containers.sql");
const SHARES_OF_CONTAINERS: &str = include_str!("../../queries/scopes/shares_of_containers.sql");
const SHARES_OF_LABELS: &str = include_str!("../../queries/scopes/shares_of_labels.sql");
const SHARED_BY_LABELS: &str = include_str!("../../queries/scopes/shared_by_labels.sql");
const SHARES_LEFT: &str = include_str!("../../queries/scopes/shares_left.sql");
const SHARES: &str = include_str!("../../queries/scopes/shares.sql");

/// Names of the filters, as the flags have them.
const FILTERS: [&str; 3] = [FOCUS, "ignore", "hide"];

/// The filter that says what is wanted; the others say what is not.
const FOCUS: &str = "focus";

/// Nanoseconds in a millisecond, in which a bias is given.
const NANOSECONDS: f64 = 1e6;

/// What the answer adds up to.
pub(super) struct Sums {
    /// The whole run.
    pub(super) total: f64,
    /// What is selected; `None` if the whole run is, or if nobody knows.
    pub(super) selected: Option<f64>,
    /// What has been subtracted from the times, in ns per tick; `None` if unknown.
    pub(super) bias: Option<f64>,
    /// Own costs are what callees leave of nodes, where the file gives other ones for each
    /// function.
    pub(super) exclusive_left: bool,
    /// What the callers add up to, where they do not add up to what is selected.
    pub(super) callers: Option<Callers>,
    /// What there is to say of the question.
    pub(super) remarks: Vec<String>,
}

/// Sets up the views for a question.
pub(super) fn set_up(
    script: &Script<'_>,
    header: &Header<'_>,
    run: &RunInfo,
    (metric, metrics): (&MetricInfo, &[MetricInfo]),
    request: &Request,
) -> Result<Sums, ReportError> {
    let is_tree = run.fidelity == "tree";
    script.batch(TABLES)?;
    script.batch(CLEAR)?;
    let shift = shift(header, run, (metric, metrics), request)?;
    script.run(
        QUESTION,
        &[
            ("run", &run.run_id),
            ("metric", &metric.metric_id),
            ("shift", &shift),
        ],
    )?;
    let total = number(script, "SELECT total FROM temp.asked")?;
    let stored_in_nodes = run.default_metric.as_ref() == Some(&metric.name);
    let (totals, nodes) = match (shift != 0.0, stored_in_nodes) {
        (true, _) => (TOTALS_SHIFTED, NODES_SHIFTED),
        (false, true) => (TOTALS, NODES_DEFAULT),
        (false, false) => (TOTALS, NODES_OTHER),
    };
    script.batch(totals)?;
    script.batch(nodes)?;
    script.batch(LABELS)?;
    let names = Names::new(script, run, request.names);
    let by = request.groups(header)?;
    check_labels(&names, header, by, request, shift)?;
    let mut remarks = Vec::new();
    let filtered = filter(script, &names, header, request, &mut remarks)?;
    let target = {
        let thread = request.text(header, &Parameter::Thread)?;
        let path = request.text(header, &Parameter::Path)?;
        // Totals of a single function answer for it where they can.
        let by_totals = header.about_function && !header.needs.paths();
        let totals_do = !is_tree || (by_totals && !filtered && by == Groups::Functions);
        selection::select(script, &names, thread, path, totals_do)?
    };
    match by {
        Groups::Functions => script.batch(AS_THEY_ARE)?,
        // Their names come with their costs.
        Groups::Containers(_) | Groups::Tag(_) => {}
        Groups::Modules => group(script, run, BY_MODULE, "module")?,
        Groups::Files => group(script, run, BY_FILE, "file")?,
    }
    match (target, filtered) {
        (Target::Run, false) => {
            script.run(WHOLE_RUN, &[("run", &run.run_id)])?;
            script.batch(RUN)?;
            script.batch(PLACES)?;
        }
        (Target::Functions, _) => script.batch(FUNCTIONS)?,
        (Target::Run, true) => subtrees(script, ROOTS, 0)?,
        (Target::Nodes { step }, _) => subtrees(script, SUBTREES, step)?,
    }
    let selected = match (target, filtered) {
        (Target::Run, false) => None,
        _ => known(script, "SELECT cost FROM temp.selected")?,
    };
    match by {
        Groups::Functions => {}
        Groups::Containers(_) | Groups::Tag(_) => {
            share(script, &names, by, selected.unwrap_or(total))?;
        }
        Groups::Modules | Groups::Files if is_tree => {
            script.batch(FORGET_FIGURES)?;
            script.batch(GROUP_NODES)?;
        }
        Groups::Modules | Groups::Files => {
            script.batch(FORGET_FIGURES)?;
            script.batch(GROUP_TOTALS)?;
        }
    }
    if is_tree && target != Target::Functions {
        let path = request.text(header, &Parameter::Path)?;
        script.batch(if header.about_function && path.is_some() {
            STARTS_AT_SELECTION
        } else {
            STARTS_EVERYWHERE
        })?;
    }
    if request.base == Base::Selection && selected.is_some() {
        script.batch(PERCENT_OF_SELECTION)?;
    }
    let bias = match request.bias {
        Some(bias) => Some(bias * NANOSECONDS),
        None if shift != 0.0 => Some(0.0),
        None => run.bias_applied,
    };
    let from_nodes = match target {
        Target::Run => is_tree && (filtered || by != Groups::Functions || header.needs.paths()),
        Target::Functions => false,
        Target::Nodes { .. } => true,
    };
    let exclusive_left = from_nodes && number(script, RECORDED)? > 0.0;
    let callers = match target {
        Target::Functions if !is_tree => callers(script, selected)?,
        _ => None,
    };
    Ok(Sums {
        total,
        selected,
        bias,
        exclusive_left,
        callers,
        remarks,
    })
}

/// Whether what the callers of a function paid is what it cost. A function that nobody called has
/// none.
fn callers(script: &Script<'_>, selected: Option<f64>) -> Result<Option<Callers>, ReportError> {
    if number(script, "SELECT COUNT(*) FROM temp.arrivals")? == 0.0 {
        return Ok(None);
    }
    let sum =
        "SELECT CASE COUNT(*) WHEN COUNT(cumulative) THEN SUM(cumulative) END FROM temp.arrivals";
    Ok(match (known(script, sum)?, selected) {
        (Some(sum), Some(cost)) if (sum - cost).abs() <= 1e-9 * cost.abs() => None,
        (sum, _) => Some(Callers { sum }),
    })
}

/// Puts nodes and what is below them in view.
fn subtrees(script: &Script<'_>, statement: &str, step: i64) -> Result<(), ReportError> {
    if script.run(statement, &[("step", &step)])? == 0 {
        return Err(ReportError::NothingSelected(
            "the filters leave nothing of what is selected".to_owned(),
        ));
    }
    for views in [NODES, PATHS, PLACES, DEPARTURES] {
        script.batch(views)?;
    }
    Ok(())
}

/// Leaves of the tree what the filters want; says whether there are any. A filter that finds
/// nothing to leave out is none, and is remarked.
fn filter(
    script: &Script<'_>,
    names: &Names<'_, '_>,
    header: &Header<'_>,
    request: &Request,
    remarks: &mut Vec<String>,
) -> Result<bool, ReportError> {
    let mut given = Vec::new();
    for filter in FILTERS {
        if header
            .parameters
            .iter()
            .any(|parameter| parameter.name == filter)
            && let Some(text) = request.text_of(filter)
        {
            let functions = names.fitting(text, filter)?;
            let run = names.run().run_id;
            if !functions.is_empty() {
                given.push((filter, selection::listed(&functions)));
            } else if filter == FOCUS {
                return Err(ReportError::NothingSelected(format!(
                    "--{filter}: no function of run {run} fits {text}"
                )));
            } else {
                remarks.push(format!(
                    "--{filter}: no function of run {run} fits {text}: nothing is left out"
                ));
            }
        }
    }
    let is_tagged = request.tags(header).next().is_some();
    if given.is_empty() && !is_tagged {
        return Ok(false);
    }
    if !names.has_tree() {
        return Err(names.no_paths("--tag, --focus, --ignore and --hide look at paths"));
    }
    tag(script, names, request.tags(header))?;
    let is_given = |name: &str| given.iter().any(|(filter, _)| *filter == name);
    for (filter, functions) in &given {
        script.run(MATCH, &[("filter", filter), ("functions", functions)])?;
    }
    script.run(
        KEEP,
        &[
            ("run", &names.run().run_id),
            ("focused", &is_given(FOCUS)),
            ("tagged", &is_tagged),
        ],
    )?;
    script.batch(ADD_UP)?;
    script.batch(DROP_EMPTY)?;
    if is_given("hide") {
        script.batch(HIDE)?;
        while script.run(LOOK_UP, &[])? > 0 {}
        for step in [ADOPT, RAISE, DROP_HIDDEN, MEASURE_DEPTH] {
            script.batch(step)?;
        }
    }
    script.batch(NODES_VISIBLE)?;
    script.batch(LABELS_VISIBLE)?;
    Ok(true)
}

/// Finds what samples cost that all tags fit.
fn tag<'r>(
    script: &Script<'_>,
    names: &Names<'_, '_>,
    tags: impl Iterator<Item = (&'r str, Option<&'r str>)>,
) -> Result<(), ReportError> {
    for (at, (key, value)) in tags.enumerate() {
        let bound: [Bound<'_>; 3] = [
            ("run", &names.run().run_id),
            ("key", &key),
            ("value", &value),
        ];
        script.run(if at == 0 { TAG_FIRST } else { TAG_NEXT }, &bound)?;
        if number(script, "SELECT COUNT(*) FROM temp.tag_sets")? == 0.0 {
            return Err(ReportError::NothingSelected(names.unknown_tag(
                key,
                value,
                at > 0,
            )?));
        }
    }
    script.batch(TAG_COSTS)?;
    Ok(())
}

/// Labels know costs as they were measured, of the paths of a tree.
fn check_labels(
    names: &Names<'_, '_>,
    header: &Header<'_>,
    by: Groups<'_>,
    request: &Request,
    shift: f64,
) -> Result<(), ReportError> {
    let by_labels = matches!(by, Groups::Tag(_));
    if shift != 0.0 && (by_labels || request.tags(header).next().is_some()) {
        return Err(ReportError::Usage(
            "--bias: what samples with labels cost is known as it was measured only".to_owned(),
        ));
    }
    if header.needs == Needs::Labels {
        names.check_labels()?;
    }
    match by {
        Groups::Containers(_) | Groups::Tag(_) if !names.has_tree() => {
            Err(names.no_paths("threads and labels are of paths"))
        }
        _ => Ok(()),
    }
}

/// Counts by thread, process or label what is selected.
fn share(
    script: &Script<'_>,
    names: &Names<'_, '_>,
    by: Groups<'_>,
    selected: f64,
) -> Result<(), ReportError> {
    let run = names.run().run_id;
    let (kind, name, shared) = match by {
        Groups::Functions | Groups::Modules | Groups::Files => return Ok(()),
        Groups::Containers(kind) => {
            script.run(CONTAINERS, &[("kind", &kind.name())])?;
            if script.run(SHARES_OF_CONTAINERS, &[])? == 0 {
                return Err(ReportError::NothingSelected(format!(
                    "there is no {} in what is selected of run {run}",
                    kind.name()
                )));
            }
            (
                kind.name(),
                kind.name(),
                number(script, "SELECT SUM(cost) FROM temp.shares")?,
            )
        }
        Groups::Tag(key) => {
            if script.run(SHARES_OF_LABELS, &[("key", &key)])? == 0 {
                return Err(ReportError::NothingSelected(
                    names.unknown_tag(key, None, true)?,
                ));
            }
            let connection = script.database().connection();
            let shared =
                connection.query_row(SHARED_BY_LABELS, named_params! {":key": key}, |row| {
                    row.get(0)
                });
            (
                "tag",
                key,
                shared.map_err(|source| failure(script.database(), source))?,
            )
        }
    };
    script.run(
        SHARES_LEFT,
        &[
            ("name", &name),
            ("kind", &kind),
            ("selected", &selected),
            ("shared", &shared),
        ],
    )?;
    script.batch(FORGET_FIGURES)?;
    Ok(script.batch(SHARES)?)
}

/// Counts functions of one module or file as one.
fn group(
    script: &Script<'_>,
    run: &RunInfo,
    statements: &str,
    what: &str,
) -> Result<(), ReportError> {
    script.run(statements, &[("run", &run.run_id)])?;
    if number(script, "SELECT COUNT(DISTINCT group_id) FROM temp.groups")? > 1.0 {
        return Ok(());
    }
    let known = number(
        script,
        "SELECT MAX(name NOT LIKE '(% unknown)') FROM temp.labels JOIN temp.groups USING (function_id)",
    )?;
    if known > 0.0 {
        return Ok(());
    }
    Err(ReportError::NothingSelected(format!(
        "no function of run {} has a {what}",
        run.run_id
    )))
}

/// What is to be added to a time for each of its ticks, in ns.
fn shift(
    header: &Header<'_>,
    run: &RunInfo,
    (metric, metrics): (&MetricInfo, &[MetricInfo]),
    request: &Request,
) -> Result<f64, ReportError> {
    let has_ticks = metrics.iter().any(|metric| metric.timer_readings);
    let is_time = metric.unit == "ns";
    let Some(bias) = request.bias else {
        let raw = run
            .bias_applied
            .filter(|_| header.raw_times && has_ticks && is_time);
        return Ok(raw.unwrap_or(0.0));
    };
    let refuse = |reason: String| Err(ReportError::Usage(format!("--bias: {reason}")));
    let run_id = run.run_id;
    // A bias in ms is rounded otherwise than one in ns.
    let is_same =
        |applied: f64| (applied - bias * NANOSECONDS).abs() <= 2.0 * f64::EPSILON * applied.abs();
    match run.bias_applied.map(|applied| {
        if is_same(applied) {
            0.0
        } else {
            applied - bias * NANOSECONDS
        }
    }) {
        _ if !is_time => refuse(format!("metric {} is no time", metric.name)),
        // The times are what is asked for, however often the timer was read.
        Some(0.0) => Ok(0.0),
        _ if !has_ticks => refuse(format!(
            "run {run_id} does not say how often the timer was read (ticks)"
        )),
        None => refuse(format!(
            "run {run_id} does not say by what bias its times are corrected already"
        )),
        Some(shift) => Ok(shift),
    }
}

/// One number; nothing is 0.
fn number(script: &Script<'_>, sql: &str) -> Result<f64, StoreError> {
    known(script, sql).map(Option::unwrap_or_default)
}

/// One number, if it is known.
fn known(script: &Script<'_>, sql: &str) -> Result<Option<f64>, StoreError> {
    let database = script.database();
    database
        .connection()
        .query_row(sql, [], |row| row.get(0))
        .map_err(|source| failure(database, source))
}
