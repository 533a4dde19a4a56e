//! Text for a terminal: names come from strangers, and what would move the cursor is shown, not
//! done.

/// A text with what would move the cursor written as escapes.
#[must_use]
pub fn plain(text: &str) -> String {
    let mut plain = String::new();
    push_plain(text, &mut plain);
    plain
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
/// lines of what is around, or make two names look alike.
#[must_use]
pub fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e007f}')
}
