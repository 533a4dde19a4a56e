//! Names whose bytes are no UTF-8, as text: a byte that is part of no character is `\x{e9}`, and
//! the backslash of a name that really has such text is `\x{5c}`. So two names never become one,
//! and [`bytes()`] gives back what was written.

use std::borrow::Cow;
use std::fmt::Write;
use std::io;

/// What a byte begins with as text.
const START: &str = "\\x{";

/// Bytes as text.
pub(crate) fn text(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) if next(text).is_none() => Cow::Borrowed(text),
        _ => Cow::Owned(escaped(bytes)),
    }
}

/// [`text`] of bytes that the caller does not need any more.
pub(crate) fn owned(bytes: Vec<u8>) -> String {
    match String::from_utf8(bytes) {
        Ok(text) if next(&text).is_none() => text,
        Ok(text) => escaped(text.as_bytes()),
        Err(error) => escaped(error.as_bytes()),
    }
}

fn escaped(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() + 8);
    for chunk in bytes.utf8_chunks() {
        let mut rest = chunk.valid();
        while let Some((at, _)) = next(rest) {
            text.push_str(&rest[..at]);
            push(&mut text, b'\\');
            // After the backslash only: what follows it is text again, and may hold a start of its
            // own.
            rest = &rest[at + 1..];
        }
        text.push_str(rest);
        for byte in chunk.invalid() {
            push(&mut text, *byte);
        }
    }
    text
}

fn push(text: &mut String, byte: u8) {
    write!(text, "{START}{byte:02x}}}").expect("a string takes everything");
}

/// Whether [`bytes()`] of a text are other ones.
pub(crate) fn has_escape(text: &str) -> bool {
    next(text).is_some()
}

/// Passes text on as the bytes that it encodes. A name has to come in one piece.
pub(crate) struct Bytes<'w>(pub(crate) &'w mut dyn io::Write);

impl io::Write for Bytes<'_> {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        match std::str::from_utf8(piece) {
            Ok(text) => self.0.write_all(&bytes(text))?,
            Err(_) => self.0.write_all(piece)?,
        }
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// The bytes that a text encodes.
pub(crate) fn bytes(text: &str) -> Cow<'_, [u8]> {
    if !has_escape(text) {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut bytes = Vec::with_capacity(text.len());
    each(text, |part| match part {
        Part::Text(text) => bytes.extend_from_slice(text.as_bytes()),
        Part::Byte(byte) => bytes.push(byte),
    });
    Cow::Owned(bytes)
}

/// A piece of a text: characters, or a byte that is none.
pub(crate) enum Part<'t> {
    Text(&'t str),
    Byte(u8),
}

/// Takes a text apart.
pub(crate) fn each<'t>(text: &'t str, mut take: impl FnMut(Part<'t>)) {
    let mut rest = text;
    while let Some((at, byte)) = next(rest) {
        take(Part::Text(&rest[..at]));
        take(if byte == b'\\' {
            Part::Text("\\")
        } else {
            Part::Byte(byte)
        });
        rest = &rest[at + START.len() + 3..];
    }
    take(Part::Text(rest));
}

/// Whether a text has bytes that are no UTF-8.
pub(crate) fn has_bytes(text: &str) -> bool {
    let mut rest = text;
    while let Some((at, byte)) = next(rest) {
        if !byte.is_ascii() {
            return true;
        }
        rest = &rest[at + 1..];
    }
    false
}

/// Where the first `\x{e9}` is, and its byte.
fn next(text: &str) -> Option<(usize, u8)> {
    text.match_indices(START).find_map(|(at, _)| {
        let digits = text.get(at + START.len()..)?.split_once('}')?.0;
        let is_one = digits.len() == 2
            // As `push` writes them: capitals are text that a name really has, and stay as they
            // are.
            && digits
                .bytes()
                .all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
        Some((at, u8::from_str_radix(digits, 16).ok().filter(|_| is_one)?))
    })
}
