//! For GitHub: annotations, as commands of a workflow.
//!
//! A line is a command if it begins with `::`, blanks apart, or has `##[` anywhere. So a line never begins with a name, and what ends
//! a line or a property is escaped, as GitHub's own toolkit does it (`@actions/core`, `command.ts`).

use std::fmt::Write as _;

use super::super::answer::{Answer, RuleAnswer};
use super::phrases::{headline, no_command, short_body};
use super::told::Told;
use crate::text::plain::plain;

/// Annotations of a kind that GitHub shows of a step.
const SHOWN: usize = 10;

/// Writes a gate as annotations: an error for each rule that stops the build, a warning for each that could not be judged, or
/// not be shown to keep its limit.
#[must_use]
pub fn github(told: &Told<'_>) -> String {
    let stops = |rule: &&RuleAnswer| rule.fails(told.policy) || rule.answer.is_slip();
    let is_doubtful = |rule: &&RuleAnswer| {
        let mut subjects = rule.subjects.iter();
        rule.answer != Answer::Pass
            || subjects.any(|subject| subject.is_gone || subject.answer == Answer::NotComparable)
    };
    let (errors, others): (Vec<&RuleAnswer>, Vec<&RuleAnswer>) =
        told.gate.rules.iter().partition(stops);
    let warnings: Vec<&RuleAnswer> = others.into_iter().filter(is_doubtful).collect();
    let mut out = String::new();
    for (command, rules) in [("error", errors), ("warning", warnings)] {
        let left = rules.len().saturating_sub(SHOWN);
        // The last one that is shown says how many are not.
        for (at, rule) in rules.iter().take(SHOWN).enumerate() {
            let mut lines = short_body(rule);
            if left > 0 && at + 1 == SHOWN {
                lines.push(format!("{left} more rules are not shown here"));
            }
            let lines: Vec<String> = lines.iter().map(|line| plain(line)).collect();
            let _ = writeln!(
                out,
                "::{command} file={},line={},title={}::{}",
                property(told.budget),
                rule.place.line,
                property(&format!("{}: {}", rule.answer.name(), rule.text)),
                data(&lines.join("\n"))
            );
        }
    }
    let _ = writeln!(
        out,
        "::notice title=profdb gate::{}",
        data(&plain(&headline(told)))
    );
    out
}

/// A text as the message of a command.
fn data(text: &str) -> String {
    no_command(text)
        .replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// A text as the value of a property of a command.
fn property(text: &str) -> String {
    data(&plain(text)).replace(':', "%3A").replace(',', "%2C")
}
