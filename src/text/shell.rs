//! Names as a shell has to be given them.

/// Characters that mean something in double quotes.
pub(crate) const IN_QUOTES: [char; 4] = ['"', '\\', '$', '`'];

/// Characters that mean nothing to a shell, besides letters and digits.
const PLAIN: &str = "_-./:=,+@%^";

/// A text as it has to be written where a quote is open, or none.
pub(crate) fn quoted(text: &str, open: Option<char>) -> String {
    let mut written = String::with_capacity(text.len());
    for character in text.chars() {
        let is_special = match open {
            None => {
                character.is_ascii()
                    && !character.is_ascii_alphanumeric()
                    && !PLAIN.contains(character)
            }
            Some('\'') => false,
            Some(_) => IN_QUOTES.contains(&character),
        };
        if is_special {
            written.push('\\');
        }
        if open == Some('\'') && character == '\'' {
            written.push_str("'\\'");
        }
        written.push(character);
    }
    written
}
