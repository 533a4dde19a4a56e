//! Files of rules: a line for each, `FIELD /PATTERN/ -> TEXT`.
//!
//! FIELD is `name`, `module`, `file` or `container`. PATTERN is a regular expression of the package
//! regex, in which `\/` is a `/`. TEXT is put for what it matches, up to the end of the line; it may be
//! empty. Where the pattern has a group `nfc`, the text is put in normalization form C of Unicode
//! besides; where it has a group `hash`, what that matches must look like a hash, and what a group `unique` matches like a number of
//! GHC's. Lines that begin with `#`, and empty ones, say nothing. A TEXT that has another rule after ` and ` is refused.

use regex::Regex;

use super::rule::{Field, Origin, Rule};

/// A rule of a file, and the line that it is in, from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleLine {
    /// The line.
    pub line: usize,
    /// The rule.
    pub rule: Rule,
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: expected {expected}, found {found}")]
pub struct Misread {
    /// The line, from 1.
    pub line: usize,
    /// The character of the line, from 1.
    pub column: usize,
    /// What should be there.
    pub expected: String,
    /// What is there.
    pub found: String,
}

const FIELDS: &str = "name, module, file or container";

/// Reads a file of rules; `name` is what it is called.
///
/// # Errors
/// At the first line that is no rule.
pub fn read_rules(name: &str, text: &str) -> Result<Vec<RuleLine>, Misread> {
    let lines = (1..).zip(text.lines()).filter(|(_, text)| {
        let text = text.trim_start();
        !text.is_empty() && !text.starts_with('#')
    });
    lines
        .map(|(line, text)| {
            let mut read = Line { line, text, at: 0 };
            let rule = read.rule(&format!("{name}:{line}"))?;
            read.check_alone()?;
            Ok(RuleLine { line, rule })
        })
        .collect()
}

/// The first group that a text refers to, as [`Regex::replace_all`] reads it, and that a pattern does not have.
fn missing_group<'t>(regex: &Regex, text: &'t str) -> Option<&'t str> {
    let mut rest = text;
    while let Some(start) = rest.find('$') {
        let after = &rest[start + 1..];
        let (name, length) = if let Some(braced) = after.strip_prefix('{') {
            let name = braced.split_once('}').map_or("", |(name, _)| name);
            (name, name.len() + 2)
        } else {
            let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
            let end = after.find(|letter| !is_of_name(letter));
            let name = &after[..end.unwrap_or(after.len())];
            (name, name.len())
        };
        if name.is_empty() {
            // A `$$` is a `$`, and so is one without a name after it.
            rest = after.strip_prefix('$').unwrap_or(after);
            continue;
        }
        let is_there = match name.parse::<usize>() {
            Ok(number) => number < regex.captures_len(),
            Err(_) => regex.capture_names().flatten().any(|known| known == name),
        };
        if !is_there {
            return Some(&rest[start..start + 1 + length]);
        }
        rest = &after[length..];
    }
    None
}

/// The rule that a text has after ` and `: two rules that were put into one line. No function is called so.
fn second_rule(text: &str) -> Option<&str> {
    const AND: &str = " and ";
    let mut after = text
        .match_indices(AND)
        .map(|(at, _)| &text[at + AND.len()..]);
    after.find(|second| {
        let mut line = Line {
            line: 0,
            text: second,
            at: 0,
        };
        line.rule("").is_ok()
    })
}

/// A line, and how many of its bytes have been read.
struct Line<'t> {
    line: usize,
    text: &'t str,
    at: usize,
}

impl<'t> Line<'t> {
    /// Reads a rule, up to its text.
    fn rule(&mut self, about: &str) -> Result<Rule, Misread> {
        self.pass_blanks();
        let start = self.at;
        let word = self
            .rest()
            .split([' ', '\t', '/'])
            .next()
            .unwrap_or_default();
        let Some(field) = Field::by_word(word) else {
            return Err(self.misread(start, FIELDS));
        };
        self.at += word.len();
        self.pass_blanks();
        self.pass("/", "a pattern between two /")?;
        let start = self.at;
        let pattern = self.pattern()?;
        let regex = Regex::new(&pattern).map_err(|error| {
            // The last line of the error is the reason; those before it draw the pattern.
            let error = error.to_string();
            let reason = error.lines().last().unwrap_or_default();
            let reason = reason.trim_start_matches("error: ");
            let mut misread = self.misread(start, "a regular expression");
            misread.found = format!("`{pattern}` ({reason})");
            misread
        })?;
        self.pass_blanks();
        self.pass("->", "-> after the pattern")?;
        self.pass_blanks();
        // A group that is not there would be replaced by nothing, without a word.
        if let Some(group) = missing_group(&regex, self.rest()) {
            let mut misread = self.misread(self.at, "groups of the pattern");
            misread.found = format!(
                "`{group}`, which it does not have ($$ is a $, ${{1}}x is group 1 with an x)"
            );
            return Err(misread);
        }
        Ok(Rule {
            origin: Origin::User,
            about: about.to_owned(),
            field,
            files: String::new(),
            pattern,
            replacement: self.rest().trim().to_owned(),
        })
    }

    /// Refuses a text that has another rule in it.
    fn check_alone(&self) -> Result<(), Misread> {
        let Some(second) = second_rule(self.rest()) else {
            return Ok(());
        };
        let mut misread = self.misread(self.at, "one rule a line");
        misread.found = format!("another one after it: `{second}`");
        Err(misread)
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn pass_blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn pass(&mut self, what: &str, expected: &str) -> Result<(), Misread> {
        if !self.rest().starts_with(what) {
            return Err(self.misread(self.at, expected));
        }
        self.at += what.len();
        Ok(())
    }

    /// What is before the next `/` that has no `\` before it.
    fn pattern(&mut self) -> Result<String, Misread> {
        let mut pattern = String::new();
        let mut characters = self.rest().char_indices();
        while let Some((at, character)) = characters.next() {
            match character {
                '/' => {
                    self.at += at + 1;
                    return Ok(pattern);
                }
                '\\' => match characters.next() {
                    Some((_, '/')) => pattern.push('/'),
                    Some((_, next)) => pattern.extend(['\\', next]),
                    None => pattern.push('\\'),
                },
                character => pattern.push(character),
            }
        }
        Err(self.misread(self.text.len(), "/ at the end of the pattern"))
    }

    fn misread(&self, at: usize, expected: &str) -> Misread {
        let found = self.text[at..].split_whitespace().next();
        Misread {
            line: self.line,
            column: self.text[..at].chars().count() + 1,
            expected: expected.to_owned(),
            found: found.map_or_else(
                || "the end of the line".to_owned(),
                |found| format!("`{found}`"),
            ),
        }
    }
}

/// Returns the rules that move paths from below one directory to below another. An empty directory stands for relative paths.
#[must_use]
pub fn same_root(old: &str, new: &str) -> [Rule; 2] {
    let old = old.trim_end_matches('/');
    let new = match new.trim_end_matches('/') {
        "" if !new.is_empty() => "/",
        new => new,
    };
    let literal = new.replace('$', "$$");
    let (old_literal, slash) = (regex::escape(old), if new == "/" { "" } else { "/" });
    [Field::File, Field::Module].map(|field| {
        let (pattern, replacement) = match (old, new, field) {
            // A name without a slash is the name of a module, not its path. Names such as `<string>` and `~` are not paths.
            ("", _, Field::Module) => (
                r"^([^/:<~\[][^/:]*/)".to_owned(),
                format!("{literal}{slash}$1"),
            ),
            ("", ..) => (
                r"^([^/:<~\[][^/:]*(?:/|$))".to_owned(),
                format!("{literal}{slash}$1"),
            ),
            (_, "" | "/", _) => (format!("^{old_literal}/"), literal.clone()),
            _ => (format!("^{old_literal}(/|$)"), format!("{literal}$1")),
        };
        Rule {
            origin: Origin::User,
            about: format!("--root {old}={new}"),
            field,
            files: String::new(),
            pattern,
            replacement,
        }
    })
}
