//! Names of a Windows program: UTF-8 or Windows-1252, and nothing in the file tells which.

use hashbrown::HashMap;

use crate::formats::common::names::{NameId, NameTable};
use crate::text::escape::{self, Part};

/// Names, each decoded once.
#[derive(Default)]
pub(super) struct WindowsNames {
    names: NameTable,
    by_bytes: HashMap<Box<[u8]>, NameId>,
}

impl WindowsNames {
    /// A name, and whether it is met for the first time and is no UTF-8.
    pub(super) fn of_bytes(&mut self, bytes: &[u8]) -> (NameId, bool) {
        if let Some(name) = self.by_bytes.get(bytes) {
            // It is counted where it is met first, so that a note counts names and not records.
            return (*name, false);
        }
        let Decoded { text, is_utf8 } = decode(bytes);
        let name = self.names.of_text(text);
        self.by_bytes.insert(bytes.into(), name);
        (name, !is_utf8)
    }

    pub(super) fn of_text(&mut self, text: String) -> NameId {
        self.names.of_text(text)
    }

    pub(super) fn text(&self, name: NameId) -> &str {
        self.names.text(name)
    }
}

/// A name as text.
pub(super) struct Decoded {
    pub(super) text: String,
    is_utf8: bool,
}

/// What the bytes 0x80 to 0x9f mean; five of them mean nothing.
const HIGH: &str = "€\u{fffd}‚ƒ„…†‡ˆ‰Š‹Œ\u{fffd}Ž\u{fffd}\u{fffd}‘’“”•–—˜™š›œ\u{fffd}žŸ";

/// A name as the bytes of a log, at most so many.
pub(super) fn encode(name: &str, most: usize) -> Vec<u8> {
    let mut bytes = escape::bytes(name).into_owned();
    if std::str::from_utf8(&bytes).is_err() {
        bytes = windows_1252(name).unwrap_or_else(|| by_number(name).into_bytes());
    }
    if bytes.len() > most {
        // No letter is cut in two: it would make the whole name one of Windows-1252.
        let is_inside = |at: &usize| bytes.get(*at).is_some_and(|byte| byte & 0xc0 == 0x80);
        let end = (0..=most).rev().find(|at| !is_inside(at)).unwrap_or(0);
        bytes.truncate(end);
    }
    bytes
}

/// A name with its bytes that are no UTF-8 written out: in a log they would be letters.
fn by_number(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    escape::each(name, |part| match part {
        Part::Text(letters) => text.push_str(letters),
        Part::Byte(byte) => text.extend(["\\x", &format!("{byte:02x}")]),
    });
    text
}

/// A name in Windows-1252, if that has its letters, and its bytes mean nothing there.
fn windows_1252(name: &str) -> Option<Vec<u8>> {
    let is_free = |byte: u8| {
        let high = byte.checked_sub(0x80).map(usize::from);
        high.and_then(|high| HIGH.chars().nth(high)) == Some(char::REPLACEMENT_CHARACTER)
    };
    let mut bytes = Some(Vec::with_capacity(name.len()));
    let letter = |letter: char| match letter {
        '\0'..='\x7f' | '\u{a0}'..='\u{ff}' => u8::try_from(letter).ok(),
        char::REPLACEMENT_CHARACTER => None,
        _ => {
            let high = HIGH.chars().position(|known| known == letter)?;
            u8::try_from(0x80 + high).ok()
        }
    };
    escape::each(name, |part| {
        let piece: Option<Vec<u8>> = match part {
            Part::Text(text) => text.chars().map(letter).collect(),
            Part::Byte(byte) => is_free(byte).then(|| vec![byte]),
        };
        bytes = bytes.take().zip(piece).map(|(mut bytes, piece)| {
            bytes.extend(piece);
            bytes
        });
    });
    bytes
}

/// UTF-8, else Windows-1252, without the zero bytes at the end.
pub(super) fn decode(bytes: &[u8]) -> Decoded {
    let character = |text: &mut Vec<u8>, byte: u8| {
        let high = byte
            .checked_sub(0x80)
            .and_then(|high| HIGH.chars().nth(usize::from(high)));
        match high.unwrap_or(char::from(byte)) {
            // The byte stays one, and is shown as `\x{81}`: two names never become one (case
            // `business_rules/windows-1252`).
            char::REPLACEMENT_CHARACTER => text.push(byte),
            letter => text.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    };
    // Zero bytes at the end fill up a name (case `business_rules/zero-bytes-behind-a-name`).
    let zeros = bytes.iter().rev().take_while(|byte| **byte == 0).count();
    let bytes = bytes.get(..bytes.len() - zeros).unwrap_or_default();
    let is_utf8 = std::str::from_utf8(bytes).is_ok();
    if is_utf8 {
        return Decoded {
            text: escape::text(bytes).into_owned(),
            is_utf8,
        };
    }
    let mut text = Vec::with_capacity(2 * bytes.len());
    for byte in bytes {
        character(&mut text, *byte);
    }
    Decoded {
        text: escape::owned(text),
        is_utf8,
    }
}
