//! Writes the result of a gate as JSON.

use serde_json::{Value as Json, json as value};

use super::super::answer::{ALPHA, AT_LIMIT, About, Named, RuleAnswer, Subject};
use super::told::Told;
use crate::compare::members_of_folders;
use crate::text::json::compact;

/// Writes a gate as one JSON object and a line end.
#[must_use]
pub fn json(told: &Told<'_>) -> String {
    let gate = told.gate;
    let bases: Vec<Json> = gate
        .bases
        .iter()
        .map(|base| value!({"selector": base.said, "runs": runs(&base.runs)}))
        .collect();
    let rules: Vec<Json> = gate.rules.iter().map(rule).collect();
    let [(_, folders), (_, modules)] = members_of_folders(&gate.folders);
    let whole = value!({
        "schema_version": 2,
        "report": "gate",
        "budget": told.budget,
        "outcome": told.outcome().name(),
        "exit_code": told.exit_code,
        "alpha": ALPHA,
        "alpha_at_limit": AT_LIMIT,
        "tests": gate.tests,
        "prove": told.policy.prove,
        "strict": told.policy.strict,
        "new": runs(&gate.new),
        "bases": bases,
        "folders": folders,
        "modules": modules,
        "rules": rules,
        "warnings": gate.warnings,
    });
    format!("{}\n", compact(&whole))
}

fn runs(runs: &[Named]) -> Vec<Json> {
    let of = |run: &Named| value!({"run_id": run.run_id, "name": run.name, "commit": run.commit});
    runs.iter().map(of).collect()
}

fn rule(rule: &RuleAnswer) -> Json {
    let subjects: Vec<Json> = rule.subjects.iter().map(subject).collect();
    value!({
        "line": rule.place.line,
        "column": rule.place.column,
        "rule": rule.text,
        "result": rule.answer.name(),
        "reason": rule.reason,
        "base": rule.base,
        "matched": rule.watched,
        "unclear": rule.unclear,
        "subjects": subjects,
    })
}

fn subject(subject: &Subject) -> Json {
    let finite = |value: Option<f64>| value.filter(|value| value.is_finite());
    let (low, high) = subject.interval.unzip();
    let [function, module, file] = &subject.names;
    value!({
        "function": function,
        "module": module,
        "file": file,
        "result": subject.answer.name(),
        "quantity": match subject.about {
            About::Change => "change",
            About::Amount => "amount",
            About::Share => "share",
        },
        "metric": subject.metric.0,
        "unit": subject.metric.1,
        "base": finite(subject.base),
        "new": finite(Some(subject.new)),
        "ratio": finite(subject.ratio),
        "low": finite(low),
        "high": finite(high),
        "limit": finite(Some(subject.limit)),
        "fails_from": finite(subject.fails_from),
        "p": finite(subject.p),
        "p_adjusted": finite(subject.adjusted),
        "p_unchanged": finite(subject.unchanged),
        "gone": subject.is_gone,
        "reason": subject.reason,
    })
}
