//! JSON as a stream, piece by piece, also where quotes within a text are not escaped. Nothing recurses, and nothing is
//! kept but the text that is read.

use std::io::Read;

use super::counted::Counted;
use crate::error::{ImportError, Position, quote};
use crate::input::Input;

/// Bytes read at a time.
const CHUNK: usize = 64 * 1024;

/// How far behind a quote we look for what must follow a text.
const AHEAD: usize = 256;

/// Bytes that a number may have.
const NUMBER: usize = 64;

/// What follows a text, and tells its last quote from one within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::importers) enum Ends {
    /// Anything: quotes within the text are escaped.
    Quote,
    /// Another member of the object, or its end.
    Member,
    /// Another item of the array, or its end.
    Item,
}

/// Reads JSON from an input.
pub(in crate::importers) struct Reader<'r, 'a> {
    input: &'r mut Input<'a>,
    chunk: Vec<u8>,
    at: usize,
    /// Where `chunk[at]` stands in the file.
    position: Position,
    ended: bool,
    name: Vec<u8>,
    bare: Counted,
}

impl<'r, 'a> Reader<'r, 'a> {
    pub(in crate::importers) fn new(input: &'r mut Input<'a>) -> Self {
        let position = input.position();
        Self { input, chunk: Vec::new(), at: 0, position, ended: false, name: Vec::new(), bare: Counted::default() }
    }

    /// Says that a record starts here.
    pub(in crate::importers) fn begin_record(&mut self) {
        self.begin_record_at(self.position);
    }

    /// Says that what comes next is about a record that started there.
    pub(in crate::importers) fn begin_record_at(&mut self, position: Position) {
        self.input.begin_record_at(position);
    }

    /// Where the next byte stands.
    pub(in crate::importers) fn position(&self) -> Position {
        self.position
    }

    /// Where the next thing stands that is not blank.
    pub(in crate::importers) fn place(&mut self) -> Result<Position, ImportError> {
        self.peek()?;
        Ok(self.position)
    }

    /// Quotes within texts that were not escaped.
    pub(in crate::importers) fn bare_quotes(&self) -> &Counted {
        &self.bare
    }

    /// Whether this byte comes next, blanks apart.
    pub(in crate::importers) fn is_next(&mut self, byte: u8) -> Result<bool, ImportError> {
        Ok(self.peek()? == Some(byte))
    }

    /// Takes this byte if it comes next; says whether it did.
    pub(in crate::importers) fn accept(&mut self, byte: u8) -> Result<bool, ImportError> {
        let next = self.is_next(byte)?;
        if next {
            self.advance(1);
        }
        Ok(next)
    }

    /// Takes this byte.
    pub(in crate::importers) fn expect(&mut self, byte: u8, what: &str) -> Result<(), ImportError> {
        if self.accept(byte)? { Ok(()) } else { Err(self.expected(what)) }
    }

    /// The name of a member, with the colon behind it.
    pub(in crate::importers) fn name(&mut self) -> Result<&[u8], ImportError> {
        let mut name = std::mem::take(&mut self.name);
        let read = self.quoted("a name", Ends::Quote, &mut name).and_then(|()| self.expect(b':', "`:`"));
        self.name = name;
        read?;
        Ok(&self.name)
    }

    /// A text, in place of what `text` holds.
    pub(in crate::importers) fn text(&mut self, ends: Ends, text: &mut Vec<u8>) -> Result<(), ImportError> {
        self.quoted("a text", ends, text)
    }

    /// A whole number.
    pub(in crate::importers) fn count(&mut self, name: &str) -> Result<u64, ImportError> {
        let number = self.number()?;
        let digits = number.iter().all(u8::is_ascii_digit);
        let count = std::str::from_utf8(number).ok().filter(|_| digits).and_then(|text| text.parse().ok());
        let length = number.len();
        let Some(count) = count else {
            return Err(self.expected(&format!("a count in `{name}`")));
        };
        self.advance(length);
        Ok(count)
    }

    /// A number that may have decimals, as it is written and as it is.
    pub(in crate::importers) fn decimal(&mut self, what: &str) -> Result<(String, f64), ImportError> {
        let text = String::from_utf8_lossy(self.number()?).into_owned();
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => {
                self.advance(text.len());
                Ok((text, number))
            }
            _ => Err(self.expected(what)),
        }
    }

    /// Any value, which is not kept.
    pub(in crate::importers) fn skip(&mut self) -> Result<(), ImportError> {
        let mut text = Vec::new();
        let mut open = 0_u64;
        loop {
            match self.peek()? {
                Some(b'"') => self.quoted("a text", if open == 0 { Ends::Member } else { Ends::Quote }, &mut text)?,
                Some(b'[' | b'{') => {
                    open += 1;
                    self.advance(1);
                }
                Some(b']' | b'}' | b',' | b':') if open > 0 => {
                    open -= u64::from(self.is_next(b']')? || self.is_next(b'}')?);
                    self.advance(1);
                }
                Some(byte) if byte.is_ascii_alphanumeric() || byte == b'-' => {
                    let word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
                    self.fill(NUMBER)?;
                    let length = self.rest().iter().take_while(|byte| word(byte)).take(NUMBER).count();
                    self.advance(length);
                }
                _ => return Err(self.expected("a value")),
            }
            if open == 0 {
                return Ok(());
            }
            self.begin_record();
        }
    }

    /// The end of the file.
    pub(in crate::importers) fn end(&mut self) -> Result<(), ImportError> {
        if self.peek()?.is_none() { Ok(()) } else { Err(self.expected("the end of the file")) }
    }

    /// What stands here is something else.
    fn expected(&self, what: &str) -> ImportError {
        const SHOWN: usize = 20;
        let rest = self.rest();
        let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let found = match line.get(..SHOWN).unwrap_or(line) {
            [] if rest.is_empty() => "the end of the file".to_owned(),
            shown => quote(shown),
        };
        ImportError::malformed(self.position, what, found)
    }

    fn rest(&self) -> &[u8] {
        self.chunk.get(self.at..).unwrap_or_default()
    }

    /// Makes so many bytes available, fewer at the end of the file.
    fn fill(&mut self, wanted: usize) -> Result<(), ImportError> {
        while !self.ended && self.rest().len() < wanted {
            self.chunk.drain(..self.at.min(self.chunk.len()));
            self.at = 0;
            match self.input.by_ref().take(CHUNK as u64).read_to_end(&mut self.chunk) {
                Ok(read) => self.ended = read == 0,
                Err(_) => return Err(self.input.failure().unwrap_or(ImportError::Stopped)),
            }
        }
        Ok(())
    }

    fn advance(&mut self, count: usize) {
        let gone = self.rest().get(..count).unwrap_or_default();
        let lines = memchr::memchr_iter(b'\n', gone).count() as u64;
        let bytes = gone.len();
        self.position.byte += bytes as u64;
        self.position.line = self.position.line.map(|line| line + lines);
        self.at += bytes;
    }

    /// The next byte that is not blank.
    fn peek(&mut self) -> Result<Option<u8>, ImportError> {
        loop {
            self.fill(1)?;
            let blanks = self.rest().iter().take_while(|byte| is_blank(**byte)).count();
            if blanks == 0 {
                return Ok(self.rest().first().copied());
            }
            self.advance(blanks);
        }
    }

    /// What looks like a number.
    fn number(&mut self) -> Result<&[u8], ImportError> {
        self.peek()?;
        self.fill(NUMBER)?;
        let part = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E');
        let length = self.rest().iter().take_while(|byte| part(byte)).count();
        Ok(self.rest().get(..length).unwrap_or_default())
    }

    fn quoted(&mut self, what: &str, ends: Ends, text: &mut Vec<u8>) -> Result<(), ImportError> {
        text.clear();
        self.expect(b'"', what)?;
        let start = self.position;
        let mut bare = 0_u64;
        loop {
            self.fill(1)?;
            let rest = self.rest();
            if rest.is_empty() {
                return Err(self.expected("`\"`, the end of a text"));
            }
            let plain = memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
            text.extend_from_slice(rest.get(..plain).unwrap_or_default());
            self.advance(plain);
            if plain > 0 {
                continue;
            }
            self.fill(AHEAD)?;
            match self.rest() {
                [b'\\', escaped @ ..] => {
                    let length = 1 + unescape(escaped, text);
                    self.advance(length);
                }
                [_, behind @ ..] => {
                    let last = is_end(ends, behind.get(..AHEAD).unwrap_or(behind));
                    self.advance(1);
                    if last {
                        break;
                    }
                    bare += 1;
                    text.push(b'"');
                }
                [] => {}
            }
        }
        for _ in 0..bare {
            self.bare.add_with(start, || quote(text));
        }
        Ok(())
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Adds what stands behind a backslash; says how many bytes that took. Only what GHC or a program that rewrites its files
/// escapes is one: elsewhere a backslash is part of a path.
fn unescape(behind: &[u8], text: &mut Vec<u8>) -> usize {
    match behind {
        [byte @ (b'\\' | b'"' | b'/'), ..] => {
            text.push(*byte);
            1
        }
        [b'u', rest @ ..] => {
            let Some((letter, length)) = utf16(rest) else {
                text.push(b'\\');
                return 0;
            };
            text.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
            1 + length
        }
        _ => {
            text.push(b'\\');
            0
        }
    }
}

/// The letter that stands behind `\u`, and how many bytes it takes.
fn utf16(behind: &[u8]) -> Option<(char, usize)> {
    let unit = |at: usize| {
        let digits = behind.get(at..at + 4).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let first = unit(0)?;
    if let Ok(letter) = u32::from(first).try_into() {
        return Some((letter, 4));
    }
    let second = unit(6).filter(|_| behind.get(4..6) == Some(b"\\u"))?;
    let letter = char::decode_utf16([first, second]).next()?.ok()?;
    Some((letter, 10))
}

/// Whether a text may end before this.
fn is_end(ends: Ends, behind: &[u8]) -> bool {
    let after = behind.trim_ascii_start();
    match (ends, after) {
        (Ends::Quote, _) | (_, []) => true,
        (Ends::Member, [b',', rest @ ..]) => is_member(rest),
        // The end of a member that is the last one of its object.
        (Ends::Member, [b'}', rest @ ..]) => matches!(rest.trim_ascii_start(), [] | [b',' | b']' | b'}', ..]),
        (Ends::Item, [b',', rest @ ..]) => matches!(rest.trim_ascii_start(), [] | [b'"', ..]),
        (Ends::Item, [b']', rest @ ..]) => match rest.trim_ascii_start() {
            [] | [b'}', ..] => true,
            [b',', rest @ ..] => is_member(rest),
            _ => false,
        },
        _ => false,
    }
}

/// Whether this is the start of a member, as far as it is there.
fn is_member(text: &[u8]) -> bool {
    let Some((b'"', name)) = text.trim_ascii_start().split_first() else {
        return text.trim_ascii_start().is_empty();
    };
    let letters = name.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    match name.get(letters..).unwrap_or_default() {
        [] => true,
        [b'"', rest @ ..] => letters > 0 && matches!(rest.trim_ascii_start(), [] | [b':', ..]),
        _ => false,
    }
}
