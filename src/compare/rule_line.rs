//! Lines of a file of rules that say that two names are one.

use std::fmt::Write as _;

use crate::identity::read_rules;

/// A pattern that fits a text, as it is between two `/`.
pub(super) fn escaped(text: &str) -> String {
    regex::escape(text).replace('/', "\\/")
}

/// A text as what is put for a match.
pub(super) fn as_replacement(text: &str) -> String {
    text.replace('$', "$$")
}

/// A line of a file of rules that puts one text for another where a name or path begins with it.
pub(super) fn rule_of_start(field: &str, old: &str, new: &str) -> String {
    format!("{field} /^{}/ -> {}", escaped(old), as_replacement(new))
}

/// What to say of rules within a sentence.
pub(super) fn listed(rules: &[String]) -> String {
    let quoted: Vec<String> = rules.iter().map(|rule| format!("`{rule}`")).collect();
    format!("for identify --rules, one per line: {}", quoted.join(", "))
}

/// What is said, with rules as they are to be pasted after it.
pub(super) fn with_lines(mut said: Vec<String>, rules: &[String]) -> Vec<String> {
    let each = match rules {
        [] => return said,
        [_] => "a line",
        _ => "one per line",
    };
    if let Some(last) = said.last_mut() {
        let _ = write!(last, "; for identify --rules, {each}:");
    }
    said.extend(rules.iter().map(|rule| format!("  {rule}")));
    said
}

/// A line of a file of rules that puts one text for another, if there is one.
pub(super) fn rule(field: &str, old: &str, new: &str) -> Option<String> {
    let pattern = escaped(old);
    let line = format!("{field} /^{pattern}$/ -> {}", as_replacement(new));
    // Line feeds, and blanks around a name, cannot be said in such a line.
    let read = read_rules("", &line).ok()?;
    let [rule] = read.as_slice() else {
        return None;
    };
    let regex = regex::Regex::new(&rule.rule.pattern).ok()?;
    let put = regex.replace(old, rule.rule.replacement.as_str());
    (put == new && !new.is_empty() && !old.is_empty()).then_some(line)
}
