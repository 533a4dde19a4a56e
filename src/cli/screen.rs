//! What goes to a terminal: names come from strangers, and what would move the cursor, set the
//! title of the window or turn the order of letters is shown, not done. Into files and pipes
//! everything goes as it is.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};

use super::{progress, streams};
use crate::text::colour::control_sequence;
use crate::text::plain::is_unsafe;

/// Writes as it is, or for a terminal.
pub(super) enum Screen<W: Write> {
    /// To a file or a pipe.
    Plain(W),
    /// To a terminal.
    Terminal {
        out: W,
        /// The bytes of a character that has not ended yet.
        rest: Vec<u8>,
        /// Translates marks of colours.
        has_marks: bool,
    },
}

/// Standard output, by lines or in larger pieces.
pub(super) fn screen(has_marks: bool) -> Screen<io::BufWriter<Output>> {
    let out = io::stdout().lock();
    let is_terminal = out.is_terminal();
    let out = io::BufWriter::new(Output { out, is_terminal });
    Screen::new(out, is_terminal, has_marks)
}

/// Standard output: with its first bytes on a terminal, progress goes.
pub(super) struct Output {
    out: io::StdoutLock<'static>,
    is_terminal: bool,
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_terminal {
            progress::end();
        }
        streams::output()?;
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<W: Write> Screen<W> {
    pub(super) fn new(out: W, is_terminal: bool, has_marks: bool) -> Self {
        if is_terminal {
            Self::for_terminal(out, has_marks)
        } else {
            Self::Plain(out)
        }
    }

    pub(super) fn for_terminal(out: W, has_marks: bool) -> Self {
        Self::Terminal {
            out,
            rest: Vec::new(),
            has_marks,
        }
    }

    pub(super) fn into_inner(self) -> W {
        match self {
            Self::Plain(out) | Self::Terminal { out, .. } => out,
        }
    }
}

impl<W: Write> Write for Screen<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(out) => out.write(bytes),
            Self::Terminal {
                out,
                rest,
                has_marks,
            } => {
                rest.extend_from_slice(bytes);
                let (shown, used) = shown(rest, End::Open, *has_marks);
                rest.drain(..used);
                out.write_all(shown.as_bytes())?;
                Ok(bytes.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(out) => out.flush(),
            Self::Terminal {
                out,
                rest,
                has_marks,
            } => {
                let (shown, _) = shown(rest, End::Whole, *has_marks);
                rest.clear();
                out.write_all(shown.as_bytes())?;
                out.flush()
            }
        }
    }
}

/// Whether more bytes may come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Open,
    Whole,
}

/// Text for a terminal, and how many bytes it was made from: the last character may be incomplete.
fn shown(bytes: &[u8], end: End, has_marks: bool) -> (String, usize) {
    let mut text = String::with_capacity(bytes.len());
    let mut used = 0;
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            if has_marks && let Some(sequence) = control_sequence(character) {
                text.push_str(sequence);
                continue;
            }
            match character {
                '\n' | '\t' => text.push(character),
                _ if is_unsafe(character) => text.extend(character.escape_default()),
                _ => text.push(character),
            }
        }
        used += chunk.valid().len();
        // `error_len` is `None` where bytes end within a character, which the next write may
        // complete.
        let has_begun = used + chunk.invalid().len() == bytes.len()
            && std::str::from_utf8(chunk.invalid()).is_err_and(|error| error.error_len().is_none());
        if has_begun && end == End::Open {
            return (text, used);
        }
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02x}");
        }
        used += chunk.invalid().len();
    }
    (text, used)
}
