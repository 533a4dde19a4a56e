//! Filters: `--tag` keeps samples with labels, `--focus` and `--ignore` keep or leave out what
//! happens below functions, `--hide` gives their cost to their callers. What they leave is another
//! tree, `temp.visible`, which layer 1 then reads.

use super::super::error::ReportError;
use super::super::header::Header;
use super::super::names::{RunNames, listed};
use super::super::question::Request;
use super::super::script::{Bound, Script};

const KEEP: &str = include_str!("../../../queries/filters/keep.sql");
const ADD_UP: &str = include_str!("../../../queries/filters/add_up.sql");
const DROP_EMPTY: &str = include_str!("../../../queries/filters/drop_empty.sql");
const HIDE: &str = include_str!("../../../queries/filters/hide.sql");
const LOOK_UP: &str = include_str!("../../../queries/filters/look_up.sql");
const ADOPT: &str = include_str!("../../../queries/filters/adopt.sql");
const RAISE: &str = include_str!("../../../queries/filters/raise.sql");
const DROP_HIDDEN: &str = include_str!("../../../queries/filters/drop_hidden.sql");
const MEASURE_DEPTH: &str = include_str!("../../../queries/filters/measure_depth.sql");
const LABEL_FIRST: &str = include_str!("../../../queries/filters/label_first.sql");
const LABEL_NEXT: &str = include_str!("../../../queries/filters/label_next.sql");
const LABELLED_COSTS: &str = include_str!("../../../queries/filters/labelled_costs.sql");
const MATCH: &str = include_str!("../../../queries/filters/match.sql");
const NODES_VISIBLE: &str = include_str!("../../../queries/question/nodes_visible.sql");
const LABELS_VISIBLE: &str = include_str!("../../../queries/question/labels_visible.sql");

/// Names of the filters, as the flags have them.
const FILTERS: [&str; 3] = [FOCUS, "ignore", "hide"];

/// The filter that says what is wanted; the others say what is not.
const FOCUS: &str = "focus";

/// Makes layer 1 read the tree that filters and labels leave; says whether there are any. A filter
/// that leaves nothing out counts for none, and is remarked.
pub(super) fn apply(
    script: &Script<'_>,
    names: &RunNames<'_, '_>,
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
                given.push((filter, listed(&functions)));
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
    let has_labels = request.labels(header).next().is_some();
    if given.is_empty() && !has_labels {
        return Ok(false);
    }
    if !names.has_tree() {
        return Err(names.no_paths("--tag, --focus, --ignore and --hide look at paths"));
    }
    keep_labels(script, names, request.labels(header))?;
    let is_given = |name: &str| given.iter().any(|(filter, _)| *filter == name);
    for (filter, functions) in &given {
        script.run(MATCH, &[("filter", filter), ("functions", functions)])?;
    }
    script.run(
        KEEP,
        &[
            ("run", &names.run().run_id),
            ("focused", &is_given(FOCUS)),
            ("labelled", &has_labels),
        ],
    )?;
    // Sums are differences between a node's row and that of the last node below it. Both have to be
    // there, so rows are dropped only then.
    script.batch(ADD_UP)?;
    script.batch(DROP_EMPTY)?;
    if is_given("hide") {
        script.batch(HIDE)?;
        // Each round at least doubles how far up a hidden node has looked, so that rounds grow with
        // the logarithm of the longest chain of hidden nodes.
        while script.run(LOOK_UP, &[])? > 0 {}
        // Hidden nodes give away their costs and their children before they go; depth is that of
        // what is left.
        for step in [ADOPT, RAISE, DROP_HIDDEN, MEASURE_DEPTH] {
            script.batch(step)?;
        }
    }
    script.batch(NODES_VISIBLE)?;
    script.batch(LABELS_VISIBLE)?;
    Ok(true)
}

/// Finds what samples cost that have all the wanted labels.
fn keep_labels<'r>(
    script: &Script<'_>,
    names: &RunNames<'_, '_>,
    labels: impl Iterator<Item = (&'r str, Option<&'r str>)>,
) -> Result<(), ReportError> {
    for (at, (key, value)) in labels.enumerate() {
        let bound: [Bound<'_>; 3] = [
            ("run", &names.run().run_id),
            ("key", &key),
            ("value", &value),
        ];
        script.run(if at == 0 { LABEL_FIRST } else { LABEL_NEXT }, &bound)?;
        // This is looked at after each label, so that the message names the one that leaves
        // nothing.
        if script.number("SELECT COUNT(*) FROM temp.wanted_sets")? == 0.0 {
            return Err(ReportError::NothingSelected(names.unknown_label(
                key,
                value,
                at > 0,
            )?));
        }
    }
    script.batch(LABELLED_COSTS)?;
    Ok(())
}
