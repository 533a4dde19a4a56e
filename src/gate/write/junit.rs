//! For the programs that show tests: XML as of `JUnit`, a test case for each rule.
//!
//! It keeps to what Jenkins' schema (`jenkins-junit.xsd`) has, which all readers know.

use std::fmt::Write as _;

use super::super::answer::{Outcome, RuleAnswer};
use super::phrases::{base, body, headline, level, runs, summary};
use super::told::Told;
use crate::text::plain::plain;
use crate::text::xml::escaped;

/// Writes a gate as XML of `JUnit`.
#[must_use]
pub fn junit(told: &Told<'_>) -> String {
    let rules = &told.gate.rules;
    let count = |is: &dyn Fn(&RuleAnswer) -> bool| rules.iter().filter(|rule| is(rule)).count();
    let has_failed = |rule: &RuleAnswer| rule.fails(told.policy);
    let is_passed_over = |rule: &RuleAnswer| !has_failed(rule) && !rule.answer.is_judged();
    let is_measured = told.outcome() != Outcome::NothingMeasured;
    let failures = count(&has_failed);
    let (errors, skipped) = if is_measured {
        (0, count(&is_passed_over))
    } else {
        (count(&is_passed_over), 0)
    };
    let counts = format!(
        "tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\"",
        rules.len()
    );
    let budget = attribute(told.budget);
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(out, "<testsuites name=\"profdb gate\" {counts} time=\"0\">");
    let _ = writeln!(
        out,
        "  <testsuite name=\"{budget}\" {counts} skipped=\"{skipped}\" time=\"0\">"
    );
    for rule in rules {
        let _ = writeln!(
            out,
            "    <testcase classname=\"{budget}\" name=\"line {}: {}\" time=\"0\">",
            rule.place.line,
            attribute(&rule.text)
        );
        let message = attribute(&summary(rule));
        let kind = rule.answer.name();
        let body = content(&body(rule));
        if has_failed(rule) {
            let _ = writeln!(
                out,
                "      <failure message=\"{message}\" type=\"{kind}\">{body}</failure>"
            );
        } else if !is_passed_over(rule) {
            let _ = writeln!(out, "      <system-out>{body}</system-out>");
        } else if is_measured {
            let _ = writeln!(out, "      <skipped message=\"{message}\"/>");
        } else {
            let _ = writeln!(
                out,
                "      <error message=\"{message}\" type=\"{kind}\">{body}</error>"
            );
        }
        out += "    </testcase>\n";
    }
    let mut lines = vec![headline(told), format!("New: {}", runs(&told.gate.new))];
    lines.extend(
        told.gate
            .bases
            .iter()
            .map(|known| format!("Base: {}", base(known))),
    );
    lines.push(level(told.gate));
    lines.extend(told.gate.warnings.iter().cloned());
    let _ = writeln!(out, "    <system-out>{}</system-out>", content(&lines));
    out += "  </testsuite>\n</testsuites>\n";
    out
}

/// A text as the value of an attribute. Control characters, which XML cannot hold, are escapes.
fn attribute(text: &str) -> String {
    escaped(&plain(text)).replace('"', "&quot;")
}

/// Lines as the content of an element.
fn content(lines: &[String]) -> String {
    let lines: Vec<String> = lines.iter().map(|line| escaped(&plain(line))).collect();
    lines.join("\n")
}
