//! Words of a line as shells read them.

use crate::text::shell::IN_QUOTES;

/// What is between words.
const BLANKS: [char; 2] = [' ', '\t'];

/// A line that is being written.
pub(super) struct Line<'l> {
    line: &'l str,
    /// Its words; the last one is being written, and may be empty.
    pub(super) words: Vec<Word>,
}

/// A word of a line.
#[derive(Debug, Default)]
pub(super) struct Word {
    /// What it means, without quotes.
    pub(super) text: String,
    /// Whether something in it is in quotes or after a backslash.
    pub(super) is_quoted: bool,
    /// Byte of the line where it begins.
    at: usize,
    /// The quote that is open at its end.
    open: Option<char>,
}

impl<'l> Line<'l> {
    /// Reads a line up to the cursor.
    pub(super) fn read(line: &'l str) -> Self {
        let mut words = Vec::new();
        let mut at = 0;
        loop {
            at = line.len() - line[at..].trim_start_matches(BLANKS).len();
            let (word, length) = Word::read(&line[at..], at);
            at += length;
            words.push(word);
            // After a blank there is another word, if only an empty one.
            if at == line.len() {
                return Self { line, words };
            }
        }
    }

    /// What an end of the line that is replaced leaves of the last word: bytes of its meaning, and
    /// the quote that is open there. `None` if it is no end of that word.
    pub(super) fn before(&self, replaced: &str) -> Option<(usize, Option<char>)> {
        let word = self.words.last()?;
        let kept = self.line.strip_suffix(replaced)?.get(word.at..)?;
        let (before, _) = Word::read(kept, 0);
        Some((before.text.len(), before.open))
    }
}

impl Word {
    /// Reads a word from the start of a text that is at a byte of the line; how long it is.
    fn read(text: &str, at: usize) -> (Self, usize) {
        let mut word = Self {
            at,
            ..Self::default()
        };
        let mut characters = text.char_indices();
        while let Some((place, character)) = characters.next() {
            match (word.open, character) {
                (None, ' ' | '\t') => return (word, place),
                (None, '\'' | '"') => {
                    word.open = Some(character);
                    word.is_quoted = true;
                }
                (Some(open), _) if open == character => word.open = None,
                (None | Some('"'), '\\') => {
                    word.is_quoted = true;
                    if let Some((_, next)) = characters.next() {
                        if word.open.is_some() && !IN_QUOTES.contains(&next) {
                            word.text.push('\\');
                        }
                        word.text.push(next);
                    }
                }
                _ => word.text.push(character),
            }
        }
        (word, text.len())
    }
}
