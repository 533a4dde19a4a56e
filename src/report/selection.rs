//! What a question looks at: the whole run, totals of functions, or nodes with everything below
//! them.
//!
//! A path is followed step by step. `,` takes the nodes of the next name strictly within the
//! outermost nodes so far, `>` those whose caller is any node so far. Reducing to outermost nodes
//! before `>`, or adding up nodes that are outermost for their own function over several functions,
//! would count recursion wrongly; tests/figures/selection.rs compares with brute force.

use super::error::ReportError;
use super::header::Needs;
use super::names::{Looks, Picked, RunNames};
use super::path::{Name, Operator, Path};
use super::question::{Base, Filter, Fits, Given, Groups, Question, has_tree, no_paths};
use crate::text::nearest::some;

/// What the reports look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// The whole run.
    Run,
    /// The totals of one function, or of several that never enclose each other.
    Functions,
    /// The totals of several functions, one by one: some may be called by others, so that their sum is unknown.
    EachFunction,
    /// The nodes that the path reaches, and what is below them.
    Nodes,
}

/// A step of a path, with the functions that its name means.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// How it goes on from the step before; without meaning in the first one.
    pub operator: Operator,
    /// Its functions.
    pub picked: Picked,
}

/// What a question looks at, in the numbers of the run.
#[derive(Debug)]
pub(super) struct Selection {
    /// What is looked at.
    pub target: Target,
    /// Filters that leave something out, with the functions that they fit.
    pub filters: Vec<(Filter, Vec<i64>)>,
    /// The steps of the path.
    pub steps: Vec<Step>,
    /// What there is to say of the question.
    pub remarks: Vec<String>,
}

impl Selection {
    /// Finds what the names of a question mean.
    ///
    /// # Errors
    /// When the run does not know one, or knows too little of its calls.
    pub(super) fn new(question: &Question<'_>, names: &RunNames<'_>) -> Result<Self, ReportError> {
        let mut remarks = Vec::new();
        let filters = filters(question, names, &mut remarks)?;
        let is_filtered = !filters.is_empty() || !question.labels.is_empty();
        if is_filtered && !has_tree(question.run) {
            return Err(no_paths(
                question.run,
                "--label, --focus, --ignore and --hide need call paths",
            ));
        }
        let steps = match path(question, names)? {
            None => Vec::new(),
            Some(path) => std::iter::once((Operator::Within, path.first))
                .chain(path.rest)
                .map(|(operator, name)| {
                    let picked = names.pick(&name);
                    let picked = picked.map_err(|error| with_path(question, &name, error))?;
                    Ok(Step { operator, picked })
                })
                .collect::<Result<_, ReportError>>()?,
        };
        remarks.extend(added_up(question, names, &steps)?);
        Ok(Self {
            target: target(question, names, &steps, is_filtered)?,
            filters,
            steps,
            remarks,
        })
    }

    /// Whether filters or labels leave something out.
    pub(super) fn is_filtered(&self, question: &Question<'_>) -> bool {
        !self.filters.is_empty() || !question.labels.is_empty()
    }

    /// The functions that a filter fits, if it is given.
    pub(super) fn functions_of(&self, filter: Filter) -> Option<&[i64]> {
        let mut filters = self.filters.iter();
        filters
            .find(|(known, _)| *known == filter)
            .map(|(_, functions)| functions.as_slice())
    }
}

/// Adds to the reason why a step of a path selects nothing which path it is, because names with operators need quotes.
fn with_path(question: &Question<'_>, name: &Name, error: ReportError) -> ReportError {
    match (error, name, question.path) {
        (ReportError::NothingSelected(reason), Name::Exact(name), Some(given))
            if name != given.text && given.text.contains([',', '>']) =>
        {
            ReportError::NothingSelected(format!(
                "{reason}; --fn {} is a call path: quotes within keep , and > in a name",
                given.text
            ))
        }
        (error, ..) => error,
    }
}

/// Returns a remark for several functions of one name whose callers or callees are added up.
fn added_up(
    question: &Question<'_>,
    names: &RunNames<'_>,
    steps: &[Step],
) -> Result<Option<String>, ReportError> {
    let last = steps.last().map(|step| &step.picked);
    let last = last.filter(|picked| picked.functions.len() > 1 && picked.is_name());
    let (Some(picked), true, Needs::Edges) =
        (last, question.header.about_function, question.header.needs)
    else {
        return Ok(None);
    };
    let labels = names.labels(&picked.functions)?;
    Ok(Some(format!(
        "--fn selects {} functions, which are added up: {}",
        labels.len(),
        some(&labels)
    )))
}

/// The functions that filters fit. A filter that leaves nothing out counts for none, and is
/// remarked.
fn filters(
    question: &Question<'_>,
    names: &RunNames<'_>,
    remarks: &mut Vec<String>,
) -> Result<Vec<(Filter, Vec<i64>)>, ReportError> {
    let mut filters = Vec::new();
    for (filter, fits) in &question.filters {
        let regex = match fits {
            Fits::Names(regex) => regex,
            Fits::Functions(functions) => {
                if !functions.is_empty() || *filter == Filter::Focus {
                    filters.push((*filter, functions.clone()));
                }
                continue;
            }
        };
        let functions = names.fitting(regex, Looks::AtPlaces)?;
        let name = filter.name();
        let run = question.run.said();
        if !functions.is_empty() {
            filters.push((*filter, functions));
        } else if *filter == Filter::Focus {
            return Err(ReportError::NothingSelected(format!(
                "--{name}: no function of {run} matches {regex}"
            )));
        } else {
            remarks.push(format!(
                "--{name}: no function of {run} matches {regex}; nothing is removed"
            ));
        }
    }
    Ok(filters)
}

/// The path of a question; a thread is a node like any other, so a path in it is a path that begins
/// there.
fn path(question: &Question<'_>, names: &RunNames<'_>) -> Result<Option<Path>, ReportError> {
    let path = |given: Given<'_>| match given.found {
        Some(path) => Ok(path.clone()),
        None => names.path(given.text),
    };
    let parsed = question.path.map(path).transpose()?;
    let thread = question.thread.map(|given| match given.found {
        Some(path) => path.clone(),
        None => Path {
            first: Name::Thread(given.text.to_owned()),
            rest: Vec::new(),
        },
    });
    Ok(match (thread, parsed) {
        (None, path) | (path, None) => path,
        (Some(thread), Some(path)) => Some(Path {
            first: thread.first,
            rest: thread
                .rest
                .into_iter()
                .chain([(Operator::Within, path.first)])
                .chain(path.rest)
                .collect(),
        }),
    })
}

/// Returns whether the answer needs the sum of the selected functions, not only the figures of each.
fn is_sum_needed(question: &Question<'_>) -> bool {
    question.header.about_function
        || question.base == Base::Selection
        || !matches!(question.groups, Groups::Functions | Groups::Identities)
}

/// Where totals do, those of a single function are selected instead of its nodes. Without paths
/// those of several are, too, if they never enclose each other.
fn target(
    question: &Question<'_>,
    names: &RunNames<'_>,
    steps: &[Step],
    is_filtered: bool,
) -> Result<Target, ReportError> {
    let Some((first, rest)) = steps.split_first() else {
        return Ok(Target::Run);
    };
    let is_tree = has_tree(question.run);
    // Totals of a single function answer for it where they can.
    let by_totals = question.header.about_function && !question.header.needs.paths();
    // Totals are of the whole run: filters and groups need nodes, where there are any.
    let totals_do = !is_tree || (by_totals && !is_filtered && question.groups == Groups::Functions);
    // Totals of several functions would count twice what one of them spent in another one.
    if first.picked.functions.len() == 1 && rest.is_empty() && totals_do {
        return Ok(Target::Functions);
    }
    if is_tree {
        return Ok(Target::Nodes);
    }
    if !rest.is_empty() {
        return Err(no_paths(
            question.run,
            "--fn takes the name of a function here",
        ));
    }
    let functions = &first.picked.functions;
    Ok(if !names.may_enclose(functions)? {
        Target::Functions
    } else if is_sum_needed(question) {
        return Err(ReportError::Several(functions.clone()));
    } else {
        Target::EachFunction
    })
}
