//! The statements that a page shows: of each report that it answers, for each metric, and for what is asked of it. Texts that
//! several statements have are there once.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::error::PageError;
use crate::report::{self, ALL_LINES, Argument, Base, Request, Shape, render};
use crate::store::{MetricInfo, RunInfo};

/// Reports that a page answers.
const OF_RUNS: [&str; 3] = ["summary", "lines", "tree"];
const OF_FUNCTIONS: [&str; 4] = ["calls", "call_lines", "callees", "function"];

/// The flag that asks for labels.
const LABEL: &str = "label";

/// The columns that formats with titles have of the reports.
pub(super) fn columns() -> Value {
    let names = OF_RUNS.into_iter().chain(OF_FUNCTIONS);
    let titled = names.filter_map(|name| {
        let columns = &report::by_name(name)?.header().columns;
        Some((name.to_owned(), render::titled(columns)))
    });
    titled.collect::<Map<_, _>>().into()
}

/// All statements of a run: `texts`, and by report, metric and flags the number of the SELECT, those of its parts and the
/// values of parameters.
///
/// Those of questions about labels are there where the run has any, with one label without a value: the page writes the
/// condition for those that are asked for.
pub(super) fn statements(
    run: &RunInfo,
    metrics: &[MetricInfo],
    has_labels: bool,
) -> Result<Value, PageError> {
    let is_tree = run.fidelity == "tree";
    let mut texts: Vec<String> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut number = |text: String| {
        *known.entry(text).or_insert_with_key(|text| {
            texts.push(text.clone());
            texts.len() - 1
        })
    };
    let mut all = Map::new();
    for metric in metrics {
        for name in OF_RUNS.into_iter().chain(OF_FUNCTIONS) {
            let needs_paths = name == "tree";
            let needs_edges = ["calls", "call_lines", "callees"].contains(&name);
            if (needs_paths && !is_tree) || (needs_edges && run.fidelity == "flat") {
                continue;
            }
            let Some(report) = report::by_name(name) else {
                continue;
            };
            let header = report.header();
            let has = |flag: &str| header.parameters.iter().any(|known| known.name == flag);
            for (shape, has_label) in shapes(name, is_tree, has_labels && has(LABEL)) {
                for exclusive in [false, true] {
                    for base in [Base::Total, Base::Selection] {
                        if exclusive && !has("exclusive") {
                            continue;
                        }
                        let mut arguments = vec![("fn".to_owned(), Argument::Text(String::new()))];
                        if has_label {
                            arguments.push((LABEL.to_owned(), Argument::Text(String::new())));
                        }
                        if exclusive {
                            arguments.push(("exclusive".to_owned(), Argument::Flag));
                        }
                        if has(ALL_LINES) {
                            arguments.push((ALL_LINES.to_owned(), Argument::Flag));
                        }
                        let request = Request {
                            metric: Some(metric.name.clone()),
                            base,
                            arguments,
                            ..Request::default()
                        };
                        let template = report::template(report, run, metrics, &request, shape)?;
                        let parts = template.parts.into_iter();
                        let parts = parts.map(|(name, text)| (name, number(text).into()));
                        let parts = Value::Object(parts.collect());
                        let values = template.values.into_iter();
                        let values = values.map(|(name, value)| (name, value.into()));
                        let values = Value::Object(values.collect());
                        let key = json!([
                            name,
                            metric.name,
                            match shape {
                                Shape::Run => "run",
                                Shape::Functions => "functions",
                                Shape::Nodes => "nodes",
                            },
                            exclusive,
                            base == Base::Selection,
                            has_label
                        ]);
                        let select = number(template.select).into();
                        let statement = [("select", select), ("parts", parts), ("values", values)];
                        all.insert(key.to_string(), object(statement));
                    }
                }
            }
        }
    }
    Ok(object([
        ("texts", texts.into()),
        ("statements", all.into()),
    ]))
}

/// An object of values as they are: `json!` would copy them.
pub(super) fn object<const N: usize>(values: [(&str, Value); N]) -> Value {
    let named = values.map(|(name, value)| (name.to_owned(), value));
    Map::from_iter(named).into()
}

/// What statements of a report are about, and whether samples must have a label.
fn shapes(name: &str, is_tree: bool, has_labels: bool) -> Vec<(Shape, bool)> {
    let mut shapes: Vec<(Shape, bool)> = match (OF_FUNCTIONS.contains(&name), is_tree) {
        (true, true) => vec![(Shape::Functions, false), (Shape::Nodes, false)],
        (true, false) => vec![(Shape::Functions, false)],
        (false, true) => vec![(Shape::Run, false), (Shape::Nodes, false)],
        (false, false) => vec![(Shape::Run, false), (Shape::Functions, false)],
    };
    if is_tree && has_labels {
        // What samples with a label cost is known of places only, and not in the totals of functions.
        shapes.push((Shape::Nodes, true));
        if !OF_FUNCTIONS.contains(&name) {
            shapes.push((Shape::Run, true));
        }
    }
    shapes
}
