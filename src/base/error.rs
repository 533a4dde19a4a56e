//! What can go wrong while a file is read, and where.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::ending;
use super::limits::is_memory_out;

/// A place in the input, after decompression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Bytes before this place.
    pub byte: u64,
    /// Line, counted from 1; `None` in binary formats.
    pub line: Option<u64>,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line} (byte {})", self.byte),
            None => write!(f, "byte {}", self.byte),
        }
    }
}

/// Why a file was not imported. The message is a lower-case fragment; the caller adds program and
/// file.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The input breaks the format's rules.
    #[error("{position}: expected {expected}, found {found}")]
    Malformed {
        /// Where the offending text starts, as exactly as the format allows.
        position: Position,
        /// What the format asks for at this place.
        expected: String,
        /// What the file has there, quoted if it is text.
        found: String,
    },
    /// The input is well formed, and importing it would be wrong: the reason, and what to do
    /// instead.
    #[error("{0}")]
    Refused(String),
    /// No format recognises the first bytes.
    #[error("expected a profile, found {found}: {instead}")]
    NotRecognised {
        /// What the first bytes look like.
        found: String,
        /// What to do instead.
        instead: &'static str,
    },
    /// Several formats recognise the first bytes equally well.
    #[error("several formats match: {0}; choose one with --from")]
    Ambiguous(String),
    /// A limit of the input was passed.
    #[error("{position}: expected at most {limit}, found more")]
    Limit {
        /// Where the limit was passed.
        position: Position,
        /// The limit with its name.
        limit: String,
    },
    /// The file cannot be opened.
    #[error("cannot open it: {0}")]
    Unreadable(io::Error),
    /// The bytes could not be had: a failing disk, damaged compression.
    #[error("{position}: cannot read further: {source}")]
    Read {
        /// Where reading stopped.
        position: Position,
        /// The cause.
        source: io::Error,
    },
    /// The import was asked to stop (by an interrupt, or because the database failed), and the cause is
    /// reported elsewhere.
    #[error("stopped")]
    Stopped,
}

impl ImportError {
    /// What the system or a decompressor said where bytes could not be had.
    #[must_use]
    pub fn cause(&self) -> Option<&io::Error> {
        match self {
            Self::Unreadable(cause) | Self::Read { source: cause, .. } => Some(cause),
            _ => None,
        }
    }

    /// The input breaks the format's rules at this place.
    pub fn malformed(
        position: Position,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        Self::Malformed {
            position,
            expected: expected.into(),
            found: found.into(),
        }
    }
}

/// Quotes text of a file for a message: escaped, and cut where it is long.
#[must_use]
pub fn quote(text: &[u8]) -> String {
    // A record may be 16 MiB long, and no message is to be as long as what it complains about.
    const SHOWN: usize = 60;
    let text = String::from_utf8_lossy(text);
    let mut shown: String = text
        .chars()
        .take(SHOWN)
        .flat_map(char::escape_debug)
        .collect();
    if text.chars().count() > SHOWN {
        shown.push('…');
    }
    format!("\"{shown}\"")
}

/// A flag that asks all threads of an import to stop: set by an interrupt or by a failing writer, seen
/// by the next read of the input.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    own: Arc<AtomicBool>,
    // One level only: a child of a child would not see the first flag. Imports are children of the
    // program's own flag.
    parent: Option<Arc<AtomicBool>>,
}

impl Stop {
    /// A flag of its own that is also set when this one is: one import among several.
    #[must_use]
    pub fn child(&self) -> Self {
        Self {
            own: Arc::default(),
            parent: Some(Arc::clone(&self.own)),
        }
    }

    /// Asks to stop. Never undone.
    pub fn set(&self) {
        // Relaxed, because the flag guards no other memory: all else that threads tell each other
        // goes through channels and joins.
        self.own.store(true, Ordering::Relaxed);
    }

    /// Whether the flag is set, or there is no memory to go on.
    #[must_use]
    pub fn is_set(&self) -> bool {
        let is_set = is_memory_out()
            || self.own.load(Ordering::Relaxed)
            || self
                .parent
                .as_ref()
                .is_some_and(|parent| parent.load(Ordering::Relaxed));
        if is_set {
            ending::noticed();
        }
        is_set
    }

    /// As [`Self::set`], where the user asks.
    pub fn interrupt(&self) {
        ending::interrupted();
        self.set();
    }
}
