//! Sentences about what a gate found, in which names are as they are: each writer escapes them as its format wants.

use std::fmt::Write as _;

use super::super::answer::{ALPHA, About, Answer, Gate, Named, NamedBase, RuleAnswer, Subject};
use super::super::judge::figure_of;
use super::told::Told;
use crate::text::judged::{self, short_commit};
use crate::text::number::fixed;

/// Runs that are named one by one.
const NAMED: usize = 10;

/// `Gate: fail: 1 of 3 rules fails, 1 is unclear`.
pub(super) fn headline(told: &Told<'_>) -> String {
    let rules = &told.gate.rules;
    let outcome = told.outcome().name();
    let mut counts = Vec::new();
    for answer in [
        Answer::Fail,
        Answer::BaseMoved,
        Answer::Unclear,
        Answer::Pass,
        Answer::NoBase,
        Answer::New,
        Answer::NotComparable,
        Answer::NothingMatched,
    ] {
        let is_it = |rule: &&RuleAnswer| rule.answer.name() == answer.name();
        let count = rules.iter().filter(is_it).count();
        if count > 0 {
            counts.push(format!("{count} {}", answer.name()));
        }
    }
    format!(
        "Gate: {outcome}; of {} {}: {}",
        rules.len(),
        if rules.len() == 1 { "rule" } else { "rules" },
        counts.join(", ")
    )
}

/// `5 runs: 1, 2, 3, 4, 5 (commit a1b2)`.
pub(super) fn runs(runs: &[Named]) -> String {
    let names: Vec<String> = runs
        .iter()
        .take(NAMED)
        .map(|run| match run.run_id {
            Some(run_id) => run_id.to_string(),
            None => run.name.clone(),
        })
        .collect();
    let more = if runs.len() > NAMED { ", ..." } else { "" };
    let mut commits: Vec<&str> = runs
        .iter()
        .filter_map(|run| run.commit.as_deref())
        .collect();
    commits.dedup();
    let commit = match commits.as_slice() {
        [commit] => format!(" (commit {})", short_commit(commit)),
        _ => String::new(),
    };
    let word = if runs.len() == 1 { "run" } else { "runs" };
    format!("{} {word}: {}{more}{commit}", runs.len(), names.join(", "))
}

/// What rules were compared with.
pub(super) fn base(base: &NamedBase) -> String {
    if base.runs.is_empty() {
        return format!("none: {}", base.said);
    }
    format!("{}; {}", runs(&base.runs), base.said)
}

/// How sure the gate is.
pub(super) fn level(gate: &Gate) -> String {
    match gate.tests {
        0 if gate.rules.iter().any(is_judged) => {
            "no tests: figures are compared directly".to_owned()
        }
        0 => "no tests: nothing could be tested".to_owned(),
        1 => format!(
            "1 test; without a change it fails {} % of builds",
            100.0 * ALPHA
        ),
        tests => format!(
            "{tests} tests; together they fail {} % of builds without a change (Holm)",
            100.0 * ALPHA
        ),
    }
}

/// Returns whether a rule or any of the things it watches was judged.
fn is_judged(rule: &RuleAnswer) -> bool {
    rule.answer.is_judged() || rule.judged > 0
}

/// What a thing is called; of the total and of all functions the rule says it.
pub(super) fn name(subject: &Subject) -> &str {
    let [name, module, _] = &subject.names;
    if name.is_empty() && !module.is_empty() {
        module
    } else if subject.label.is_empty() {
        name
    } else {
        &subject.label
    }
}

/// `812.4 ms -> 1.03 s, +26.9 % (+19.0 .. +35.2 %)`.
pub(super) fn figures(subject: &Subject) -> String {
    let cost = |value: f64| figure_of(&subject.metric, value);
    let finite = subject
        .interval
        .filter(|(low, high)| low.is_finite() && high.is_finite());
    let mut text = cost(subject.new);
    let base = subject.base.filter(|_| subject.about == About::Change);
    let Some(base) = base else {
        if let Some((low, high)) = finite {
            let _ = write!(text, " ({} .. {})", cost(low), cost(high));
        }
        return text;
    };
    text = format!("{} -> {text}", cost(base));
    if let Some(ratio) = subject.ratio {
        let _ = write!(text, ", {} %", percent(ratio));
        if let Some((low, high)) = finite {
            let _ = write!(text, " ({} .. {})", percent(low), percent(high));
        }
    }
    text
}

/// A ratio as a change in percent.
fn percent(ratio: f64) -> String {
    let change = fixed(100.0 * (ratio - 1.0), 1);
    if change.starts_with('-') {
        change
    } else {
        format!("+{change}")
    }
}

/// What the limit is, and what would fail: `limit +5.0 %; +9.1 % would fail`.
pub(super) fn limits(subject: &Subject) -> String {
    let cost = |value: f64| figure_of(&subject.metric, value);
    let as_change = |value: f64| match (subject.about, subject.base) {
        (About::Change, Some(base)) if base > 0.0 => format!("{} %", percent(value / base)),
        _ => cost(value),
    };
    let limit = as_change(subject.limit);
    match subject.fails_from.map(as_change) {
        // What does not vary fails with the least that is over the limit; what hardly varies, with less more than is shown.
        Some(from) if subject.p.is_none() || from == limit => {
            format!("limit {limit}, anything over it would fail")
        }
        Some(from) => format!("limit {limit}, {from} would fail"),
        None => format!("limit {limit}"),
    }
}

/// `p <.001 of 43 tests`.
pub(super) fn probability(subject: &Subject) -> Option<String> {
    let p = subject.adjusted?;
    Some(format!("p {}", judged::probability(p)))
}

/// All that is said of a thing but its name and answer.
pub(super) fn details(subject: &Subject) -> String {
    if subject.new == 0.0
        && subject.base.is_none_or(|base| base == 0.0)
        && subject.names[0].is_empty()
    {
        if subject.answer == Answer::TooFew {
            return format!("no function is shown to be new: {}", subject.reason);
        }
        if subject.answer == Answer::NotComparable {
            return subject.reason.clone();
        }
        return "no function is new".to_owned();
    }
    // A figure that is unknown.
    if subject.new.is_nan() && subject.answer == Answer::NotComparable {
        return subject.reason.clone();
    }
    let is_judged = subject.answer.is_judged();
    let mut parts = vec![figures(subject)];
    // What has moved into a new place under `any` has no limit there.
    let is_without = subject.about == About::Change && subject.limit == 0.0;
    if is_judged && !is_without {
        parts.push(limits(subject));
        parts.extend(probability(subject));
    }
    if !subject.reason.is_empty() {
        parts.push(subject.reason.clone());
    }
    parts.join("; ")
}

/// What is said of a rule that watches several things.
fn several(rule: &RuleAnswer) -> Option<String> {
    (rule.watched > 1).then(|| {
        let unclear = match rule.unclear {
            0 => String::new(),
            unclear => format!(", {unclear} unclear"),
        };
        format!("{} watched{unclear}", rule.watched)
    })
}

/// A line about a rule: what was found of the first thing of which it says what it says of the rule, else why nothing was.
pub(super) fn summary(rule: &RuleAnswer) -> String {
    let mut subjects = rule.subjects.iter();
    let first = subjects.find(|subject| subject.answer == rule.answer);
    let first = first.or(rule.subjects.first()).map(about);
    let said = match first {
        _ if !rule.reason.is_empty() => rule.reason.clone(),
        Some(first) => first,
        None => String::new(),
    };
    format!("{}: {said}", rule.answer.name())
}

/// What is said of a thing, with its name.
fn about(subject: &Subject) -> String {
    match name(subject) {
        "" => details(subject),
        name => format!("{name}: {}", details(subject)),
    }
}

/// All that is said of a rule, line by line. No line begins with a name.
pub(super) fn body(rule: &RuleAnswer) -> Vec<String> {
    let mut lines = Vec::new();
    if !rule.reason.is_empty() {
        lines.push(format!("{}: {}", rule.answer.name(), rule.reason));
    }
    lines.extend(
        rule.subjects
            .iter()
            .map(|subject| format!("{}: {}", subject.answer.name(), about(subject))),
    );
    lines.extend(several(rule));
    lines
}

/// Lines about a rule on a page: so many that other rules have room.
const LINES: usize = 20;

/// [`body`] for a page, where not all that a rule watches can be named.
pub(super) fn short_body(rule: &RuleAnswer) -> Vec<String> {
    let mut lines = body(rule);
    if lines.len() > LINES {
        let left = lines.len() - LINES + 1;
        lines.truncate(LINES - 1);
        lines.push(format!(
            "{left} more lines about this rule: see --format text"
        ));
    }
    lines
}

/// A line in which programs that run builds see no command of theirs.
pub(super) fn no_command(text: &str) -> String {
    text.replace("##[", "##\\[")
}
