//! A lexer for Rust and SQL, and small readers of Markdown.

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Rust,
    Sql,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Identifier, keyword or number.
    Word,
    /// String or character literal, with its quotes.
    Text,
    Comment,
    /// Any other character.
    Sign,
}

#[derive(Clone, Copy)]
pub(crate) struct Token<'a> {
    /// Byte offset in the file.
    pub(crate) start: usize,
    pub(crate) line: usize,
    pub(crate) kind: Kind,
    pub(crate) text: &'a str,
}

impl<'a> Token<'a> {
    /// Returns a string literal without its quotes.
    pub(crate) fn content(&self) -> &'a str {
        self.text
            .trim_start_matches(['b', 'c', 'r', '#'])
            .trim_end_matches('#')
            .trim_matches('"')
    }
}

/// Splits a source into tokens, without white space.
///
/// Reads bytes instead of characters, since it reads all sources without optimization.
pub(crate) fn tokens(text: &str, language: Language) -> Vec<Token<'_>> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let (mut start, mut line) = (0, 1);
    while let Some(&first) = bytes.get(start) {
        if first.is_ascii_whitespace() {
            line += usize::from(first == b'\n');
            start += 1;
            continue;
        }
        let second = bytes.get(start + 1).copied().unwrap_or_default();
        let rest = &text[start..];
        let (kind, length) = match (language, first, second) {
            (Language::Rust, b'/', b'/') | (Language::Sql, b'-', b'-') => {
                (Kind::Comment, rest.find('\n').unwrap_or(rest.len()))
            }
            (_, b'/', b'*') => {
                let end = rest.find("*/").map_or(rest.len(), |end| end + 2);
                (Kind::Comment, end)
            }
            _ => {
                let quoted = matches!(first, b'\'' | b'"' | b'b' | b'c' | b'r')
                    .then(|| quoted(rest, language))
                    .flatten();
                if let Some(length) = quoted {
                    (Kind::Text, length)
                } else if is_name_byte(first) {
                    let mut end = start + 1;
                    while end < bytes.len() && is_name_byte(bytes[end]) {
                        end += 1;
                    }
                    (Kind::Word, end - start)
                } else {
                    (Kind::Sign, 1)
                }
            }
        };
        let text = &rest[..length];
        tokens.push(Token {
            start,
            line,
            kind,
            text,
        });
        if matches!(kind, Kind::Comment | Kind::Text) {
            line += text.bytes().filter(|byte| *byte == b'\n').count();
        }
        start += length;
    }
    tokens
}

/// Returns whether identifiers consist of the byte. In code, all characters beyond ASCII are letters.
fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

/// Returns the words and signs of tokens.
pub(crate) fn code<'a>(tokens: &[Token<'a>]) -> Vec<Token<'a>> {
    let is_code = |token: &&Token<'_>| matches!(token.kind, Kind::Word | Kind::Sign);
    tokens.iter().filter(is_code).copied().collect()
}

/// Returns the length of the string or character literal at the start of the text.
fn quoted(text: &str, language: Language) -> Option<usize> {
    if language == Language::Sql {
        // A doubled quote ends a string and starts the next string.
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

/// Returns the paths and macros (with `!`) in Rust code, with their lines. Groups (`use a::{b, c::d}`) are expanded, and paths
/// from the crate or a parent module begin with `crate`.
pub(crate) fn names(tokens: &[Token<'_>]) -> Vec<(usize, String)> {
    let tokens = code(tokens);
    let sign =
        |at: usize, expected: &str| tokens.get(at).is_some_and(|token| token.text == expected);
    let mut names = Vec::new();
    // The path before each open brace; it is empty for a block.
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
        names.push((token.line, path.join("::") + bang));
    }
    names
}

/// Returns whether identifiers consist of the character.
pub(crate) fn is_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Returns the headings of the module comment of a source file, without those in code blocks.
pub(crate) fn headings(text: &str) -> Vec<&str> {
    let mut fenced = false;
    let mut headings = Vec::new();
    for line in text.lines().map_while(|line| line.strip_prefix("//!")) {
        fenced ^= line.trim_start().starts_with("```");
        headings.extend(line.strip_prefix(" # ").filter(|_| !fenced));
    }
    headings
}

/// Returns the inline code of a Markdown document with its lines.
pub(crate) fn inline_code(text: &str) -> Vec<(usize, &str)> {
    let mut fenced = false;
    let mut code = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            code.extend(
                line.split('`')
                    .skip(1)
                    .step_by(2)
                    .map(|text| (number, text)),
            );
        }
    }
    code
}

#[test]
fn names_include_groups_and_exclude_text() {
    let text = r##"
use std::{fs::{self, File}, io};
// std::net
fn f<'a>(x: &'a str) -> u8 { super::super::store::g('"', '\\', b'\'', 'é'); println!("std::env {x}") }
const A: &str = r#"std::process "quoted" "#; /* chrono */ const B: bool = a != b;
"##;
    let seen: Vec<(usize, String)> = names(&tokens(text, Language::Rust))
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
fn sql_tokens_exclude_strings_and_comments() {
    let sql = "-- select\nSELECT 'it''s -- no', \"from\" /* where\n */ FROM t;";
    let seen: Vec<(usize, &str)> = code(&tokens(sql, Language::Sql))
        .iter()
        .map(|token| (token.line, token.text))
        .collect();
    assert_eq!(
        seen,
        [(2, "SELECT"), (2, ","), (3, "FROM"), (3, "t"), (3, ";")]
    );
}
