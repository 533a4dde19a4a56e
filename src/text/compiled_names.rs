//! Names as compilers give them to linkers, made readable: when they are read, and, to know what
//! they will be read as, when they are written.

use std::fmt::{self, Write};

use cpp_demangle::{DemangleOptions, Symbol};

use super::escape;

/// Bytes that a readable name may have: a few mangled bytes can mean any number of them.
const LONGEST: usize = 16 * 1024;

/// What parts of a name beyond ASCII are told apart by, while it is read.
const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// Different parts of a name beyond ASCII: half of the letters.
const MOST_PARTS: usize = LETTERS.len() / 2;

/// The readable form of a name that a linker knows; `None` for other names.
pub(crate) fn readable(name: &str) -> Option<String> {
    let start = name.trim_start_matches('_');
    let underscores = name.len() - start.len();
    // One underscore, or two where the system puts one in front of every name.
    if !(1..=2).contains(&underscores) || !start.starts_with(['Z', 'R']) {
        return None;
    }
    let bytes = escape::bytes(name);
    if !bytes.is_ascii() {
        // An accident would be another one with other letters.
        let (one, other) = (beyond_ascii(&bytes, 0)?, beyond_ascii(&bytes, MOST_PARTS)?);
        return (one == other).then_some(one);
    }
    let mut text = Bounded(String::new());
    // Rust first: its older names are names of C++ as well, with the hash as the last part.
    if let Ok(symbol) = rustc_demangle::try_demangle(name) {
        // Without the hash: the raw name has it.
        return write!(text, "{symbol:#}").is_ok().then_some(text.0);
    }
    // The library takes one underscore. There are one or two, so that the subtraction holds.
    of_cpp(&name[underscores - 1..])
}

fn of_cpp(name: &str) -> Option<String> {
    let mut text = Bounded(String::new());
    let symbol = Symbol::new(name).ok()?;
    symbol
        .structured_demangle(&mut text, &DemangleOptions::new())
        .is_ok()
        .then_some(text.0)
}

/// The readable form of a name of C++ with letters beyond ASCII, which the library does not take.
/// Their bytes count in the lengths of a mangled name, so that ASCII of the same length takes their
/// place while it is read: a dollar sign, which the name does not have, and a letter that says
/// which part it was.
fn beyond_ascii(name: &[u8], first: usize) -> Option<String> {
    const DOLLAR: u8 = b'$';
    const FILLER: u8 = b'x';
    if name.contains(&DOLLAR) {
        return None;
    }
    let mut parts: Vec<&[u8]> = Vec::new();
    let mut plain = String::with_capacity(name.len());
    for part in name.chunk_by(|a, b| a.is_ascii() == b.is_ascii()) {
        if part.is_ascii() {
            plain.push_str(std::str::from_utf8(part).ok()?);
            continue;
        }
        // There are at most 31: looking at all is fast enough.
        let at = parts
            .iter()
            .position(|known| *known == part)
            .unwrap_or(parts.len());
        if at == parts.len() {
            parts.push(part);
        }
        let letter = LETTERS.get(first + at).filter(|_| at < MOST_PARTS)?;
        plain.extend([char::from(DOLLAR), char::from(*letter)]);
        // One byte alone leaves no room.
        plain.extend(std::iter::repeat_n(
            char::from(FILLER),
            part.len().checked_sub(2)?,
        ));
    }
    let underscores = plain.len() - plain.trim_start_matches('_').len();
    let text = of_cpp(plain.get(underscores - 1..)?)?;
    let mut pieces = text.as_bytes().split(|byte| *byte == DOLLAR);
    let mut bytes = pieces.next()?.to_vec();
    for piece in pieces {
        let (letter, rest) = piece.split_first()?;
        let at = LETTERS
            .iter()
            .position(|known| known == letter)?
            .checked_sub(first)?;
        let part = *parts.get(at)?;
        // `checked_sub` above has refused parts of one byte.
        let (filler, rest) = rest.split_at_checked(part.len() - 2)?;
        if filler.iter().any(|byte| *byte != FILLER) {
            return None;
        }
        bytes.extend_from_slice(part);
        bytes.extend_from_slice(rest);
    }
    Some(escape::owned(bytes))
}

/// Text up to a length.
struct Bounded(String);

impl Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // The demangler writes piece by piece: a name that grows without end stops here, before its
        // text takes memory.
        if self.0.len() + text.len() > LONGEST {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}
