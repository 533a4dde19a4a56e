//! Reads Rust, SQL and Markdown as words, strings and comments: enough to see what a file names,
//! and no more.

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Rust,
    Sql,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Identifier, keyword or number.
    Word,
    /// String or character, with its quotes.
    Text,
    Comment,
    /// Any other letter.
    Sign,
}

#[derive(Clone, Copy)]
pub(crate) struct Token<'a> {
    pub(crate) line: usize,
    pub(crate) kind: Kind,
    pub(crate) text: &'a str,
}

impl<'a> Token<'a> {
    /// A string without its quotes.
    pub(crate) fn content(&self) -> &'a str {
        self.text
            .trim_start_matches(['b', 'c', 'r', '#'])
            .trim_end_matches('#')
            .trim_matches('"')
    }
}

/// Cuts a source into tokens; white space is left out.
pub(crate) fn tokens(text: &str, language: Language) -> Vec<Token<'_>> {
    let line_comment = if language == Language::Rust {
        "//"
    } else {
        "--"
    };
    let mut found = Vec::new();
    let (mut rest, mut line) = (text, 1);
    while let Some(first) = rest.chars().next() {
        let (kind, length) = if rest.starts_with(line_comment) {
            (Some(Kind::Comment), rest.find('\n').unwrap_or(rest.len()))
        } else if rest.starts_with("/*") {
            (
                Some(Kind::Comment),
                rest.find("*/").map_or(rest.len(), |end| end + 2),
            )
        } else if let Some(length) = quoted(rest, language) {
            (Some(Kind::Text), length)
        } else if first.is_whitespace() {
            (None, first.len_utf8())
        } else if is_name(first) {
            (
                Some(Kind::Word),
                rest.find(|letter| !is_name(letter)).unwrap_or(rest.len()),
            )
        } else {
            (Some(Kind::Sign), first.len_utf8())
        };
        let (text, after) = rest.split_at(length);
        found.extend(kind.map(|kind| Token { line, kind, text }));
        line += text.matches('\n').count();
        rest = after;
    }
    found
}

/// Words and signs only.
pub(crate) fn code(text: &str, language: Language) -> Vec<Token<'_>> {
    let mut tokens = tokens(text, language);
    tokens.retain(|token| matches!(token.kind, Kind::Word | Kind::Sign));
    tokens
}

/// Length of the string or character at the start of the text, if there is one.
fn quoted(text: &str, language: Language) -> Option<usize> {
    if language == Language::Sql {
        // A doubled quote ends one string and starts the next, which is just as well.
        let quote = text
            .chars()
            .next()
            .filter(|first| matches!(first, '\'' | '"'))?;
        return Some(text[1..].find(quote).map_or(text.len(), |end| end + 2));
    }
    if let Some(inside) = text.strip_prefix('\'') {
        // A lifetime has no quote after its first letter.
        let letter = inside.chars().next()?.len_utf8();
        let start = if inside.starts_with('\\') { 2 } else { letter };
        let end = inside
            .get(start..)?
            .find('\'')
            .filter(|end| *end == 0 || start == 2)?;
        return Some(1 + start + end + 1);
    }
    let prefix = text.len() - text.trim_start_matches(['b', 'c', 'r']).len();
    let (prefix, after) = text
        .split_at_checked(prefix)
        .filter(|(prefix, _)| prefix.len() <= 2)?;
    if prefix.contains('r') {
        let hashes = &after[..after.len() - after.trim_start_matches('#').len()];
        let inside = after[hashes.len()..].strip_prefix('"')?;
        let end = inside.find(&format!("\"{hashes}")).unwrap_or(inside.len());
        return Some(prefix.len() + hashes.len() + 1 + end + 1 + hashes.len());
    }
    let inside = after.strip_prefix('"')?;
    let mut escaped = false;
    let end = inside.find(|letter| {
        let ends = letter == '"' && !escaped;
        escaped = letter == '\\' && !escaped;
        ends
    });
    Some(prefix.len() + 1 + end.unwrap_or(inside.len()) + 1)
}

/// What a Rust file names, with lines: paths with groups (`use a::{b, c::d}`) written out, macros
/// with their `!`. Paths that start at the crate or at a module above all start with `crate`.
pub(crate) fn names(text: &str) -> Vec<(usize, String)> {
    let tokens = code(text, Language::Rust);
    let sign =
        |at: usize, expected: &str| tokens.get(at).is_some_and(|token| token.text == expected);
    let mut found = Vec::new();
    // Paths in front of the groups that are open; an ordinary block has none.
    let mut groups: Vec<Vec<&str>> = Vec::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        at += 1;
        match token.text {
            "{" => groups.push(Vec::new()),
            "}" => drop(groups.pop()),
            _ => {}
        }
        if token.kind != Kind::Word {
            continue;
        }
        let mut path = groups.last().cloned().unwrap_or_default();
        path.push(token.text);
        while sign(at, ":")
            && sign(at + 1, ":")
            && tokens
                .get(at + 2)
                .is_some_and(|next| next.kind == Kind::Word)
        {
            path.push(tokens[at + 2].text);
            at += 3;
        }
        if sign(at, ":") && sign(at + 1, ":") && sign(at + 2, "{") {
            groups.push(path);
            at += 3;
            continue;
        }
        let above = path
            .iter()
            .take_while(|part| matches!(**part, "crate" | "super" | "self" | "profdb"))
            .count();
        if above > 0 {
            path.splice(..above, ["crate"]);
        }
        path.retain(|part| *part != "self");
        let bang = if sign(at, "!") && !sign(at + 1, "=") {
            "!"
        } else {
            ""
        };
        found.push((token.line, path.join("::") + bang));
    }
    found
}

/// Whether identifiers are made of it.
pub(crate) fn is_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Headings of the `//!` page at the top of a source file, outside its code blocks.
pub(crate) fn headings(text: &str) -> Vec<&str> {
    let mut fenced = false;
    let mut headings = Vec::new();
    for line in text.lines().map_while(|line| line.strip_prefix("//!")) {
        fenced ^= line.trim_start().starts_with("```");
        headings.extend(line.strip_prefix(" # ").filter(|_| !fenced));
    }
    headings
}

/// Text in single backticks with its line, outside code blocks.
pub(crate) fn inline_code(text: &str) -> Vec<(usize, &str)> {
    let mut fenced = false;
    let mut found = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            found.extend(
                line.split('`')
                    .skip(1)
                    .step_by(2)
                    .map(|code| (number, code)),
            );
        }
    }
    found
}

// A rule that cannot see holds nothing.

#[test]
fn names_are_seen_in_groups_and_not_in_text() {
    let text = r##"
use std::{fs::{self, File}, io};
// std::net
fn f<'a>(x: &'a str) -> u8 { super::super::store::g('"', '\\', b'\'', 'é'); println!("std::env {x}") }
const A: &str = r#"std::process "quoted" "#; /* chrono */ const B: bool = a != b;
"##;
    let seen: Vec<(usize, String)> = names(text)
        .into_iter()
        .filter(|(_, name)| name.contains([':', '!']))
        .collect();
    let expected = [
        (2, "std::fs"),
        (2, "std::fs::File"),
        (2, "std::io"),
        (4, "crate::store::g"),
        (4, "println!"),
    ];
    assert_eq!(seen, expected.map(|(line, name)| (line, name.to_owned())));
}

#[test]
fn sql_is_cut_into_tokens() {
    let sql = "-- select\nSELECT 'it''s -- no', \"from\" /* where\n */ FROM t;";
    let seen: Vec<(usize, &str)> = code(sql, Language::Sql)
        .iter()
        .map(|token| (token.line, token.text))
        .collect();
    assert_eq!(
        seen,
        [(2, "SELECT"), (2, ","), (3, "FROM"), (3, "t"), (3, ";")]
    );
}
