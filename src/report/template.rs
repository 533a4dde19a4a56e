//! Statements in parts, for who answers questions without this program and shows what it would have asked: a page for a
//! browser. The page follows paths itself, so that the steps of a path are texts of their own.

use std::fmt::Write as _;

use super::catalog::Report;
use super::error::ReportError;
use super::plan::plan;
use super::question::{Question, Request};
use super::selection::{Selection, Target};
use super::statement::literal;
use crate::base::query::query;
use crate::store::{MetricInfo, RunInfo};

/// What a statement looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// The whole run.
    Run,
    /// The totals of one function, `step_1_functions`.
    Functions,
    /// What a path of functions leads to: `subtrees`, the last of steps that each have functions.
    Nodes,
}

/// The part of a statement that follows a step of a path: its name in a template, and its text, in
/// which `{step}` and `{earlier}` are the numbers of the step and of the one before, and `{kinds}`
/// what its functions may be.
const STEPS: [(&str, &str); 5] = [
    query!("fragments", "named_functions"),
    query!("fragments", "listed_functions"),
    query!("fragments", "first_step"),
    query!("fragments", "step_within"),
    query!("fragments", "step_direct"),
];

/// A statement in parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// The SELECT.
    pub select: String,
    /// Names and texts of the common table expressions that it may mention, and of the steps of paths.
    pub parts: Vec<(String, String)>,
    /// What stands for `:name` in all these, as SQL has it; those of steps, `:name_1` and so on, are the page's.
    pub values: Vec<(String, String)>,
}

/// The statement of a report, before it is known what a path names.
///
/// # Errors
/// When the request does not make sense for the report or the run.
pub fn template(
    report: &'static Report,
    run: &RunInfo,
    metrics: &[MetricInfo],
    request: &Request,
    shape: Shape,
) -> Result<Template, ReportError> {
    let question = Question::new(report, run, metrics, request)?;
    let selection = Selection {
        target: match shape {
            Shape::Run => Target::Run,
            Shape::Functions => Target::Functions,
            Shape::Nodes => Target::Nodes,
        },
        filters: Vec::new(),
        steps: Vec::new(),
        remarks: Vec::new(),
    };
    let mut parts = plan(&question, &selection);
    let words = [
        ("$step", "{step}"),
        ("$earlier", "{earlier}"),
        ("$kinds", "{kinds}"),
    ];
    let steps = match shape {
        Shape::Run => &STEPS[..0],
        Shape::Functions => &STEPS[..2],
        Shape::Nodes => &STEPS[..],
    };
    let mut mentioned = String::new();
    for (name, text) in steps {
        parts.part_with(*name, text, &words);
        let _ = write!(mentioned, " {name}");
    }
    let (select, texts) = parts.spelled(question.report.sql, &mentioned);
    Ok(Template {
        select,
        parts: texts,
        values: parts
            .values()
            .map(|(name, value)| (name.to_owned(), literal(value)))
            .collect(),
    })
}
