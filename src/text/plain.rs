//! Text for a terminal: names come from strangers, and what would move the cursor is shown, not
//! done.

/// Commands of GitHub's runner, which it takes from a line that begins with `::NAME`.
const RUNNER_COMMANDS: [&str; 15] = [
    "add-mask",
    "add-matcher",
    "add-path",
    "debug",
    "echo",
    "endgroup",
    "error",
    "group",
    "notice",
    "remove-matcher",
    "save-state",
    "set-env",
    "set-output",
    "stop-commands",
    "warning",
];

/// A text with what would move the cursor written as escapes.
#[must_use]
pub fn plain(text: &str) -> String {
    let mut plain = String::new();
    push_plain(text, &mut plain);
    plain
}

/// Returns a line of output with a [`plain`] text, as `push_plain_line` appends it.
#[must_use]
pub fn plain_line(text: &str) -> String {
    let mut line = String::new();
    push_plain_line(text, &mut line);
    line
}

/// Appends [`plain`] text to a line of output. What a program that runs builds would take for its command gets a
/// backslash: `\::error`, `##\[error]`.
pub(crate) fn push_plain_line(text: &str, line: &mut String) {
    if is_runner_command(text) {
        line.push('\\');
    }
    push_plain_code(text, line);
}

/// Appends [`plain`] text to the middle of a line, where only older commands (`##[error]`) are found.
pub(crate) fn push_plain_code(text: &str, line: &mut String) {
    let mut rest = text;
    while let Some((before, behind)) = older_command(rest) {
        push_plain(before, line);
        line.push('\\');
        rest = behind;
    }
    push_plain(rest, line);
}

/// Returns whether GitHub's runner takes a line that begins with this text for a command: it ignores blanks before it and
/// the case of letters.
fn is_runner_command(text: &str) -> bool {
    let Some(command) = text.trim_start().strip_prefix("::") else {
        return false;
    };
    let name = command.split([' ', ':']).next().unwrap_or_default();
    RUNNER_COMMANDS
        .iter()
        .any(|known| known.eq_ignore_ascii_case(name))
}

/// Splits a text before the bracket of the first older command (`##[error]`, `##vso[task.complete]`), which programs find
/// anywhere in a line.
fn older_command(text: &str) -> Option<(&str, &str)> {
    let mut halves = text.match_indices('[').map(|(at, _)| text.split_at(at));
    halves.find(|(before, _)| {
        let mark = before.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
        mark.ends_with("##")
    })
}

/// Adds [`plain`] to a text.
pub(crate) fn push_plain(text: &str, plain: &mut String) {
    // Nearly all names are ASCII, which is known without looking at characters.
    let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    if is_plain || !text.contains(is_unsafe) {
        plain.push_str(text);
        return;
    }
    for character in text.chars() {
        if is_unsafe(character) {
            plain.extend(character.escape_default());
        } else {
            plain.push(character);
        }
    }
}

/// Control characters, and those that have no shape of their own: they change the order or the
/// lines of what is around, or make two names look alike. The marks of coloured text are among them.
#[must_use]
pub fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}'
            | '\u{fdd0}'..='\u{fdef}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e007f}')
}
