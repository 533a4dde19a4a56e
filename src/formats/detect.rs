//! Recognises files by their first bytes.

use super::business_rules;
use super::folded::read::{FORMAT as FOLDED, has_calls, may_be_meant};
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

/// Recognises a file that a user has not named: as [`detect`] does, but lines of a word and a number
/// without a semicolon are not enough evidence of stacks.
///
/// # Errors
/// When no format recognises the file, or several do equally well.
pub fn detect_in_folder(head: &[u8]) -> Result<&'static Format, ImportError> {
    let format = detect(head)?;
    if format.name == FOLDED.name && !has_calls(head) {
        return Err(ImportError::NotRecognised {
            found: "text without a semicolon".to_owned(),
            instead: "to read it as folded stacks, name the file itself",
        });
    }
    Ok(format)
}

/// What a user may do about a file that no format recognises.
fn remedy(head: &[u8]) -> &'static str {
    if may_be_meant(head) {
        "see `profdb formats`, or use `--from folded` if these are stacks and numbers"
    } else if business_rules::read::may_be_meant(head) {
        "see `profdb formats`, or use `--from business_rules` if it is a log of Business Rules!"
    } else {
        // No other importer reads what its format does not recognise.
        "see `profdb formats`"
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
    (b"\x1f\x8b", "gzip inside a compressed file"),
    (b"\x28\xb5\x2f\xfd", "zstd inside a compressed file"),
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
        return "only white space".to_owned();
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
