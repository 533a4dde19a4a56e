//! Text in Markdown: names from profiles are code spans, where nothing is markup, a mention or a link (`CommonMark` 6.1).
//!
//! `web/formats.js` writes the same spans.

use super::plain::push_plain_code;

/// Returns a text with control characters escaped. `##[error]`, which some runners find anywhere in a line, gets a backslash.
fn plain_code(text: &str) -> String {
    let mut plain = String::new();
    push_plain_code(text, &mut plain);
    plain
}

/// Returns a text as a code span, with control characters escaped.
pub(crate) fn code(text: &str) -> String {
    let text = plain_code(text);
    let (mut longest, mut run) = (0, 0);
    for letter in text.chars() {
        run = if letter == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(longest + 1);
    // One blank at each end belongs to the span, unless it has nothing but blanks.
    let has_ends = text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']);
    let is_blank = text.chars().all(|letter| letter == ' ');
    if text.is_empty() || (has_ends && !is_blank) {
        format!("{fence} {text} {fence}")
    } else {
        format!("{fence}{text}{fence}")
    }
}

/// Returns a text as a code span in a cell of a table: empty for an empty text.
///
/// A cell ends at a `|` that has no backslash before it, even in a code span. A pair of backslashes is one escape: a `|` after an odd
/// number of backslashes in the text is written between two spans.
pub(crate) fn code_cell(text: &str) -> String {
    let text = plain_code(text);
    let mut spans = vec![String::new()];
    let mut backslashes = 0;
    for letter in text.chars() {
        if letter == '|' && backslashes % 2 == 1 {
            spans.push(String::new());
        } else if let Some(span) = spans.last_mut() {
            span.push(letter);
        }
        backslashes = if letter == '\\' { backslashes + 1 } else { 0 };
    }
    let span = |text: &String| {
        if text.is_empty() {
            String::new()
        } else {
            code(text).replace('|', "\\|")
        }
    };
    let spans: Vec<String> = spans.iter().map(span).collect();
    spans.join("&#124;")
}

/// Returns words and figures as they are, and every other text as a code span in a cell of a table.
pub(crate) fn marked_cell(text: &str) -> String {
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || " ().%".contains(letter);
    // A letter after a point makes a link of words.
    let mut behind = text.split('.').skip(1);
    let has_name = behind.any(|part| part.starts_with(|letter: char| letter.is_ascii_alphabetic()));
    let is_figure = |letter: char| letter.is_ascii_digit() || " .,()%<+-".contains(letter);
    let is_known = (text.chars().all(is_word) && !has_name) || text.chars().all(is_figure);
    if is_known && text.trim() == text {
        text.replace('<', "&lt;")
    } else {
        code_cell(text)
    }
}
