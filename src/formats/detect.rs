//! Recognises files by their first bytes.

use super::folded::read::may_be_meant;
use super::foreign;
use super::format::{Confidence, Format};
use super::registry::FORMATS;
use crate::base::error::{ImportError, quote};

/// Recognises a file by its first bytes, never by its name: the one format that says Yes, else the
/// one that says Maybe, unless it is known to be something else.
///
/// # Errors
/// When no format recognises the file, or several do equally well.
pub fn detect(head: &[u8]) -> Result<&'static Format, ImportError> {
    // Every format is asked, so that the order of the registry decides nothing. A signature of ours
    // proves more than the signs of foreign files, which are looked at after it.
    for wanted in [Confidence::Yes, Confidence::Maybe] {
        // What is known to be something else is not taken for what it may be.
        let foreign = if wanted == Confidence::Maybe {
            foreign::known(head)
        } else {
            None
        };
        if let Some((what, instead)) = foreign {
            return Err(ImportError::NotRecognised {
                found: what.to_owned(),
                instead,
            });
        }
        let fitting: Vec<_> = FORMATS
            .iter()
            .filter(|format| (format.sniff)(head) == wanted)
            .collect();
        match fitting.as_slice() {
            [] => {}
            [format] => return Ok(format),
            several => {
                let names: Vec<_> = several.iter().map(|format| format.name).collect();
                return Err(ImportError::Ambiguous(names.join(", ")));
            }
        }
    }
    Err(ImportError::NotRecognised {
        found: describe(head),
        instead: remedy(head),
    })
}

/// What a user may do about a file that no format recognises.
fn remedy(head: &[u8]) -> &'static str {
    // An image, a database or nothing at all is no profile by another name either, so that `--from`
    // is not proposed.
    let is_nothing =
        head.trim_ascii().is_empty() || MAGIC.iter().any(|(magic, _)| head.starts_with(magic));
    if is_nothing {
        "see `profdb formats`"
    } else if may_be_meant(head) {
        "see `profdb formats`, or say `--from folded` if these are stacks and numbers"
    } else {
        "see `profdb formats`, or say `--from NAME` if it is one of them"
    }
}

/// What is found where a file is a database, which may be one of profdb.
pub const DATABASE: &str = "an SQLite database";

/// How files begin that hold no profile as they are, and what they are.
const MAGIC: &[(&[u8], &str)] = &[
    (b"\x89PNG", "a PNG image"),
    (b"SQLite format 3\0", DATABASE),
    (b"\x7fELF", "an ELF binary"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\x1f\x8b", "gzip inside a compressed file"),
    (b"\x28\xb5\x2f\xfd", "zstd inside a compressed file"),
    (b"\xff\xfe", "UTF-16 text"),
    (b"\xfe\xff", "UTF-16 text"),
];

/// What a file that no format recognises looks like, in words.
fn describe(head: &[u8]) -> String {
    if head.is_empty() {
        return "an empty file".to_owned();
    }
    if let Some((_, name)) = MAGIC.iter().find(|(magic, _)| head.starts_with(magic)) {
        return (*name).to_owned();
    }
    let text = head.trim_ascii_start();
    if text.is_empty() {
        return "blanks only".to_owned();
    }
    let line = text
        .split(|&byte| byte == b'\n')
        .next()
        .unwrap_or_default()
        .trim_ascii_end();
    let printable = |byte: &u8| *byte >= b' ' || *byte == b'\t' || *byte == b'\r';
    let start = line.get(..60).unwrap_or(line);
    let kind = if start.iter().all(printable) {
        "text"
    } else {
        "binary data"
    };
    format!("{kind} that starts with {}", quote(start))
}
