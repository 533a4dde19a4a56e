//! Rows of tables in Markdown, as GitHub reads them: cells end at a `|` without an escape before it, and their texts are code spans or plain.

/// Returns the cells of a row. `&nbsp;`, which indents, is a blank.
///
/// # Panics
/// If a cell has markup outside of code spans.
pub(crate) fn cells(row: &str) -> Vec<String> {
    let row = row.strip_prefix('|').and_then(|row| row.strip_suffix('|'));
    let mut cells = vec![String::new()];
    let mut is_escaped = false;
    for letter in row.expect("a row between bars").chars() {
        if letter == '|' && !is_escaped {
            cells.push(String::new());
        } else if let Some(cell) = cells.last_mut() {
            cell.push(letter);
        }
        is_escaped = letter == '\\' && !is_escaped;
    }
    cells
        .iter()
        .map(|cell| text(cell.trim_matches(' ')))
        .collect()
}

/// Returns the text of a cell.
fn text(cell: &str) -> String {
    let cell = cell.replace("\\|", "|");
    let (mut text, mut rest) = (String::new(), cell.as_str());
    while let Some(start) = rest.find('`') {
        text += &outside(&rest[..start]);
        let behind = rest[start..].trim_start_matches('`');
        let fence = &rest[start..rest.len() - behind.len()];
        let end = fence_at(behind, fence.len()).expect("the end of a code span");
        let span = &behind[..end];
        let inner = span
            .strip_prefix(' ')
            .and_then(|span| span.strip_suffix(' '));
        text += inner
            .filter(|_| !span.trim_matches(' ').is_empty())
            .unwrap_or(span);
        rest = &behind[end + fence.len()..];
    }
    text + &outside(rest)
}

/// Returns the offset of the first run of exactly `length` backticks.
fn fence_at(text: &str, length: usize) -> Option<usize> {
    let mut at = 0;
    loop {
        at += text[at..].find('`')?;
        let run = text[at..].len() - text[at..].trim_start_matches('`').len();
        if run == length {
            return Some(at);
        }
        at += run;
    }
}

/// Returns the text of a part without code spans, in which nothing may be markup, a mention or a link.
fn outside(part: &str) -> String {
    let text = part
        .replace("&nbsp;", " ")
        .replace("&#124;", "|")
        .replace("&lt;", "<");
    let is_markup = |letter: char| "@#>&*_[]~$\\:/".contains(letter);
    assert!(
        !part
            .replace("&nbsp;", "")
            .replace("&#124;", "")
            .replace("&lt;", "")
            .contains(is_markup),
        "{part}"
    );
    text
}
