//! Texts as GHC writes them: GHC 9.0 does not escape quotes and backslashes within texts, and no
//! version escapes all of them. A text ends at a quote that the next member, the next item or the
//! end of the list follows.

use crate::base::error::{Position, quote};
use crate::formats::common::counted::Counted;
use crate::formats::common::json::Dialect;
use crate::formats::common::utf16::utf16;

/// What follows a text.
#[derive(Clone, Copy, Default)]
pub(super) enum After {
    /// Anything: the text is a name, within which no quote is expected.
    #[default]
    Anything,
    /// Another member of the object, or its end.
    Member,
    /// Another item of the array, or its end.
    Item,
}

/// GHC's JSON.
#[derive(Default)]
pub(super) struct Ghc {
    /// Quotes within texts that were not escaped.
    pub(super) bare_quotes: Counted,
}

impl Dialect for Ghc {
    type After = After;

    const MEMBER: After = After::Member;

    const AHEAD: usize = 256;

    /// Only what GHC, or a program that rewrites its files, escapes is an escape sequence:
    /// elsewhere a backslash is part of a path.
    fn unescape(after: &[u8], text: &mut Vec<u8>) -> Option<usize> {
        let taken = match after {
            // No `\n` or `\t`: `src\new` is a path in a place of GHC 9.0 (case
            // `ghc_json/windows-paths`).
            [byte @ (b'\\' | b'"' | b'/'), ..] => {
                text.push(*byte);
                return Some(1);
            }
            [b'u', digits @ ..] => utf16(digits),
            _ => None,
        };
        let Some((letter, length)) = taken else {
            text.push(b'\\');
            return Some(0);
        };
        text.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
        Some(1 + length)
    }

    fn is_end(follows: After, after: &[u8]) -> bool {
        let after = after.get(..Self::AHEAD).unwrap_or(after).trim_ascii_start();
        match (follows, after) {
            // Where nothing more can be seen the text ends, too: the reader then says what is
            // missing.
            (After::Anything, _) | (_, []) => true,
            // A comma alone is no proof: labels and arguments may have quotes and commas (case
            // `ghc_json/bare-quotes`).
            (After::Member, [b',', rest @ ..]) => is_member(rest),
            // The end of a member that is the last one of its object.
            (After::Member, [b'}', rest @ ..]) => {
                matches!(rest.trim_ascii_start(), [] | [b',' | b']' | b'}', ..])
            }
            (After::Item, [b',', rest @ ..]) => {
                matches!(rest.trim_ascii_start(), [] | [b'"', ..])
            }
            (After::Item, [b']', rest @ ..]) => match rest.trim_ascii_start() {
                [] | [b'}', ..] => true,
                [b',', rest @ ..] => is_member(rest),
                _ => false,
            },
            _ => false,
        }
    }

    fn see_quotes(&mut self, start: Position, count: u64, text: &[u8]) {
        for _ in 0..count {
            self.bare_quotes.add_with(start, || quote(text));
        }
    }
}

/// Whether this is the start of a member, as far as it is there.
fn is_member(text: &[u8]) -> bool {
    let Some((b'"', name)) = text.trim_ascii_start().split_first() else {
        return text.trim_ascii_start().is_empty();
    };
    let letters = name
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_')
        .count();
    match name.get(letters..).unwrap_or_default() {
        [] => true,
        [b'"', rest @ ..] => letters > 0 && matches!(rest.trim_ascii_start(), [] | [b':', ..]),
        _ => false,
    }
}
