//! Random words that only the user's own browser knows.

use std::fmt;
use std::io;

/// Bytes of a word: 128 bits.
const BYTES: usize = 16;

/// A random word of 32 hexadecimal digits.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl fmt::Debug for Secret {
    /// Without the word: what is printed for debugging may be read by others.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl Secret {
    /// A new word of the system's source of random numbers.
    ///
    /// # Errors
    /// When the system has none.
    pub fn new() -> io::Result<Self> {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        let digits = bytes.iter().map(|byte| format!("{byte:02x}"));
        Ok(Self(digits.collect()))
    }

    /// The word.
    #[must_use]
    pub fn word(&self) -> &str {
        &self.0
    }

    /// Whether this is the word. How long the comparison takes does not tell how much of it was right.
    pub(super) fn is(&self, word: &[u8]) -> bool {
        let own = self.0.as_bytes();
        let differences = own
            .iter()
            .zip(word)
            .fold(0, |found, (one, other)| found | (one ^ other));
        own.len() == word.len() && std::hint::black_box(differences) == 0
    }
}
