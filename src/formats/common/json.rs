//! JSON as a stream, piece by piece: the caller says what must come next. Nothing recurses, so that
//! any depth will do, and nothing is kept but the text that is read. How texts are written between
//! their quotes is a parameter ([`Dialect`]): not every program escapes what JSON wants escaped.
//!
//! No crate: `serde_json` recurses, and knows lines and columns but no bytes.

use std::fmt::Display;
use std::io::Read;

use super::utf16::{half, utf16};
use crate::base::error::{ImportError, Position, quote};
use crate::input::Input;

/// Bytes read at a time.
const CHUNK: usize = 64 * 1024;

/// Bytes that a number may have.
const NUMBER: usize = 64;

/// Bytes of the longest escape sequence, without the backslash.
const ESCAPE: usize = 11;

/// How texts are written.
pub(in crate::formats) trait Dialect: Default {
    /// What follows a text, where that is needed to find its end; by default anything.
    type After: Copy + Default;

    /// What follows the value of a member.
    const MEMBER: Self::After;

    /// How many bytes after a quote or backslash show what it means.
    const AHEAD: usize;

    /// Adds what a backslash with these bytes after it means; says how many of them that took,
    /// `None` if this is no escape sequence.
    fn unescape(after: &[u8], text: &mut Vec<u8>) -> Option<usize>;

    /// Whether a quote with these bytes after it ends a text that is followed so.
    fn is_end(follows: Self::After, after: &[u8]) -> bool;

    /// Takes note of a text within which so many quotes were.
    fn see_quotes(&mut self, start: Position, count: u64, text: &[u8]);
}

/// JSON as RFC 8259 has it.
#[derive(Default)]
pub(in crate::formats) struct Standard;

impl Dialect for Standard {
    type After = ();

    const MEMBER: Self::After = ();

    const AHEAD: usize = ESCAPE;

    /// Half of a letter becomes bytes that are no UTF-8: U+DC80 to U+DCFF the byte that Python and
    /// our writers mean by it.
    fn unescape(after: &[u8], text: &mut Vec<u8>) -> Option<usize> {
        let byte = match *after.first()? {
            byte @ (b'\\' | b'"' | b'/') => byte,
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'b' => 0x08,
            b'f' => 0x0c,
            b'u' => {
                let digits = after.get(1..5)?;
                if !digits.iter().all(u8::is_ascii_hexdigit) {
                    return None;
                }
                let Some((letter, length)) = utf16(after.get(1..)?) else {
                    half(digits, text);
                    return Some(5);
                };
                text.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                return Some(1 + length);
            }
            _ => return None,
        };
        text.push(byte);
        Some(1)
    }

    fn is_end((): (), _after: &[u8]) -> bool {
        true
    }

    fn see_quotes(&mut self, _start: Position, _count: u64, _text: &[u8]) {}
}

/// How far an object or array has been read, for [`Reader::member`] and [`Reader::item`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::formats) enum Within {
    /// Its bracket comes next.
    #[default]
    Before,
    /// A member or item has been read.
    After,
}

/// What the first bytes of a file show of its outermost members.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::formats) struct Outline<'h> {
    /// They are those of the first object in an array.
    pub(in crate::formats) in_array: bool,
    /// Names, as far as they can be seen, escape sequences and all.
    pub(in crate::formats) names: Vec<&'h [u8]>,
}

impl<'h> Outline<'h> {
    /// Of an object, or an array of objects; `None` where something else begins.
    pub(in crate::formats) fn of(head: &'h [u8]) -> Option<Self> {
        let head = head.trim_ascii_start();
        let (in_array, object) = match head.split_first()? {
            (b'[', rest) => (true, rest.trim_ascii_start().strip_prefix(b"{")?),
            (b'{', rest) => (false, rest),
            _ => return None,
        };
        // JSON has a quote or the end there. Other formats have names in braces: Xdebug's `{main}`
        // begins folded stacks (case `folded/php`).
        if !matches!(object.trim_ascii_start().first(), None | Some(b'"' | b'}')) {
            return None;
        }
        let mut outline = Self {
            in_array,
            names: Vec::new(),
        };
        let mut depth = 1_u32;
        let mut rest = object;
        while let Some((byte, after)) = rest.split_first() {
            rest = after;
            match byte {
                b'{' | b'[' => depth += 1,
                b'}' | b']' if depth == 1 => break,
                b'}' | b']' => depth -= 1,
                b'"' => {
                    let Some(end) = end_of_text(after) else {
                        break;
                    };
                    rest = after.get(end + 1..).unwrap_or_default();
                    if depth == 1 && rest.trim_ascii_start().first() == Some(&b':') {
                        outline.names.extend(after.get(..end));
                    }
                }
                _ => {}
            }
        }
        Some(outline)
    }

    /// Whether a member of this name can be seen.
    pub(in crate::formats) fn has(&self, name: &str) -> bool {
        self.names.contains(&name.as_bytes())
    }
}

/// Where the quote is that ends a text, if it can be seen.
fn end_of_text(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        let next = at + memchr::memchr2(b'"', b'\\', text.get(at..)?)?;
        if text.get(next) == Some(&b'"') {
            return Some(next);
        }
        // What a backslash escapes is passed with it, a quote above all.
        at = next + 2;
    }
}

/// Reads JSON from an input.
pub(in crate::formats) struct Reader<'r, 'a, D = Standard> {
    input: &'r mut Input<'a>,
    dialect: D,
    chunk: Vec<u8>,
    at: usize,
    /// Where `chunk[at]` is in the file.
    position: Position,
    ended: bool,
    name: Vec<u8>,
}

impl<'r, 'a, D: Dialect> Reader<'r, 'a, D> {
    pub(in crate::formats) fn new(input: &'r mut Input<'a>) -> Self {
        let position = input.position();
        Self {
            input,
            dialect: D::default(),
            chunk: Vec::new(),
            at: 0,
            position,
            ended: false,
            name: Vec::new(),
        }
    }

    /// What is known of how the texts were written.
    pub(in crate::formats) fn dialect(&self) -> &D {
        &self.dialect
    }

    /// Says that a record starts here.
    pub(in crate::formats) fn begin_record(&mut self) {
        self.begin_record_at(self.position);
    }

    /// Where the current record starts.
    pub(in crate::formats) fn record_start(&self) -> Position {
        self.input.record_start()
    }

    /// Says that what comes next is about a record that started there.
    pub(in crate::formats) fn begin_record_at(&mut self, position: Position) {
        self.input.begin_record_at(position);
    }

    /// Returns true if the input ends before its source does.
    pub(in crate::formats) fn ends_early(&self) -> bool {
        self.input.ends_early()
    }

    /// Where the next byte is.
    pub(in crate::formats) fn position(&self) -> Position {
        self.position
    }

    /// Where the next byte is that is not blank.
    pub(in crate::formats) fn place(&mut self) -> Result<Position, ImportError> {
        self.peek()?;
        Ok(self.position)
    }

    /// Whether this byte comes next, blanks apart.
    pub(in crate::formats) fn is_next(&mut self, byte: u8) -> Result<bool, ImportError> {
        Ok(self.peek()? == Some(byte))
    }

    /// Takes this byte if it comes next; says whether it did.
    pub(in crate::formats) fn accept(&mut self, byte: u8) -> Result<bool, ImportError> {
        let next = self.is_next(byte)?;
        if next {
            self.step(1);
        }
        Ok(next)
    }

    /// Takes this byte.
    pub(in crate::formats) fn expect(&mut self, byte: u8, what: &str) -> Result<(), ImportError> {
        if self.accept(byte)? {
            Ok(())
        } else {
            Err(self.expected(what))
        }
    }

    /// The name of a member, with the colon after it.
    pub(in crate::formats) fn name(&mut self) -> Result<&[u8], ImportError> {
        // Taken out while it is filled: `quoted` borrows all of the reader.
        let mut name = std::mem::take(&mut self.name);
        let read = self
            .quoted("a name", D::After::default(), &mut name)
            .and_then(|()| self.expect(b':', "`:`"));
        self.name = name;
        read?;
        Ok(&self.name)
    }

    /// A text, in place of what `text` holds.
    pub(in crate::formats) fn text(&mut self, text: &mut Vec<u8>) -> Result<(), ImportError> {
        self.text_before(D::After::default(), text)
    }

    /// A text of which is known what follows it, in place of what `text` holds.
    pub(in crate::formats) fn text_before(
        &mut self,
        follows: D::After,
        text: &mut Vec<u8>,
    ) -> Result<(), ImportError> {
        self.quoted("a string", follows, text)
    }

    /// Starts an object or passes to its next member, and stores the member's name in `name`. Returns the position of the
    /// member, `None` at the end of the object. A member that is `null` is skipped, as if it were absent.
    pub(in crate::formats) fn member(
        &mut self,
        within: &mut Within,
        name: &mut Vec<u8>,
    ) -> Result<Option<Position>, ImportError> {
        loop {
            let position = self.member_or_null(within, name)?;
            if position.is_none() || !self.null()? {
                return Ok(position);
            }
        }
    }

    /// Passes to the next member as `member` does, also if it is `null`.
    pub(in crate::formats) fn member_or_null(
        &mut self,
        within: &mut Within,
        name: &mut Vec<u8>,
    ) -> Result<Option<Position>, ImportError> {
        if !self.more(
            within,
            (b'{', "`{`, the start of an object"),
            (b'}', "`,` or `}`"),
        )? {
            return Ok(None);
        }
        let position = self.place()?;
        self.quoted("a name", D::After::default(), name)?;
        self.expect(b':', "`:`")?;
        Ok(Some(position))
    }

    /// Starts an array or passes to its next item: says where that starts, `None` at the end of the
    /// array.
    pub(in crate::formats) fn item(
        &mut self,
        within: &mut Within,
    ) -> Result<Option<Position>, ImportError> {
        let more = self.more(
            within,
            (b'[', "`[`, the start of an array"),
            (b']', "`,` or `]`"),
        )?;
        Ok(if more { Some(self.place()?) } else { None })
    }

    fn more(
        &mut self,
        within: &mut Within,
        start: (u8, &str),
        end: (u8, &str),
    ) -> Result<bool, ImportError> {
        match std::mem::replace(within, Within::After) {
            Within::Before => {
                self.expect(start.0, start.1)?;
                Ok(!self.accept(end.0)?)
            }
            Within::After if self.accept(end.0)? => Ok(false),
            Within::After => {
                self.expect(b',', end.1)?;
                Ok(true)
            }
        }
    }

    /// Whether this is `null`, which is then taken.
    pub(in crate::formats) fn null(&mut self) -> Result<bool, ImportError> {
        const NULL: &[u8] = b"null";
        if !self.is_next(b'n')? {
            return Ok(false);
        }
        self.fill(NULL.len())?;
        let is_null = self.rest().starts_with(NULL);
        if is_null {
            self.step(NULL.len());
        }
        Ok(is_null)
    }

    /// A text, or a number as it is written, in place of what `text` holds.
    pub(in crate::formats) fn text_or_number(
        &mut self,
        what: &str,
        text: &mut Vec<u8>,
    ) -> Result<(), ImportError> {
        if self.is_next(b'"')? {
            return self.quoted(what, D::After::default(), text);
        }
        let (number, length) = self.number()?;
        text.clear();
        text.extend_from_slice(number);
        if text.is_empty() {
            return Err(self.expected(what));
        }
        self.step(length);
        Ok(())
    }

    /// A number.
    pub(in crate::formats) fn real(&mut self, what: &str) -> Result<f64, ImportError> {
        self.parsed(what, |text| {
            text.parse().ok().filter(|value: &f64| value.is_finite())
        })
    }

    /// A number times 1000, rounded: exact also where there are more digits than a REAL holds.
    pub(in crate::formats) fn thousandths(&mut self, what: &str) -> Result<i64, ImportError> {
        self.parsed(what, thousandths)
    }

    /// A whole number, perhaps below 0.
    pub(in crate::formats) fn integer(&mut self, what: &str) -> Result<i64, ImportError> {
        self.parsed(what, |text| text.parse().ok())
    }

    /// A whole number from 0 that fits.
    pub(in crate::formats) fn index(&mut self, what: &str) -> Result<u32, ImportError> {
        self.parsed(what, digits)
    }

    /// A whole number.
    pub(in crate::formats) fn count(&mut self, name: &str) -> Result<u64, ImportError> {
        self.parsed(format_args!("a count in `{name}`"), digits)
    }

    /// A number, as a function takes its text.
    pub(in crate::formats) fn parsed<T>(
        &mut self,
        what: impl Display,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<T, ImportError> {
        let (number, length) = self.number()?;
        match std::str::from_utf8(number).ok().and_then(parse) {
            Some(value) => {
                self.step(length);
                Ok(value)
            }
            None => Err(self.expected(&what.to_string())),
        }
    }

    /// A number that may have decimals, as it is written and as it is.
    pub(in crate::formats) fn decimal(&mut self, what: &str) -> Result<(String, f64), ImportError> {
        let (number, length) = self.number()?;
        let text = String::from_utf8_lossy(number).into_owned();
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => {
                self.step(length);
                Ok((text, number))
            }
            _ => Err(self.expected(what)),
        }
    }

    /// Any value, which is not kept.
    pub(in crate::formats) fn skip(&mut self) -> Result<(), ImportError> {
        let mut text = Vec::new();
        // Brackets are counted and not kept, so that any depth takes no memory. Which of them
        // closes which is not looked at: what is not read is not judged.
        let mut open = 0_u64;
        loop {
            match self.peek()? {
                Some(b'"') => {
                    let follows = if open == 0 {
                        D::MEMBER
                    } else {
                        D::After::default()
                    };
                    self.text_before(follows, &mut text)?;
                }
                Some(b'[' | b'{') => {
                    open += 1;
                    self.step(1);
                }
                Some(b']' | b'}' | b',' | b':') if open > 0 => {
                    open -= u64::from(self.is_next(b']')? || self.is_next(b'}')?);
                    self.step(1);
                }
                Some(byte) if byte.is_ascii_alphanumeric() || byte == b'-' => {
                    let word = |byte: &u8| {
                        byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.')
                    };
                    self.fill(NUMBER)?;
                    let length = self
                        .rest()
                        .iter()
                        .take_while(|byte| word(byte))
                        .take(NUMBER)
                        .count();
                    self.step(length);
                }
                _ => return Err(self.expected("a value")),
            }
            if open == 0 {
                return Ok(());
            }
            // Each piece is a record of its own: what is not read may be longer in all than a
            // record may be.
            self.begin_record();
        }
    }

    /// Whether nothing but blanks is left.
    pub(in crate::formats) fn at_end(&mut self) -> Result<bool, ImportError> {
        Ok(self.peek()?.is_none())
    }

    /// The end of the file.
    pub(in crate::formats) fn end(&mut self) -> Result<(), ImportError> {
        if self.at_end()? {
            Ok(())
        } else {
            Err(self.expected("the end of the file"))
        }
    }

    /// The error for something else than what was expected here.
    pub(in crate::formats) fn expected(&self, what: &str) -> ImportError {
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
            // What is left is shorter than what is wanted, so that little is moved.
            self.chunk.drain(..self.at.min(self.chunk.len()));
            self.at = 0;
            match self
                .input
                .by_ref()
                .take(CHUNK as u64)
                .read_to_end(&mut self.chunk)
            {
                Ok(read) => self.ended = read == 0,
                Err(_) => return Err(self.input.failure().unwrap_or(ImportError::Stopped)),
            }
        }
        Ok(())
    }

    /// Passes bytes that hold no end of a line.
    fn step(&mut self, count: usize) {
        self.position.byte += count as u64;
        self.at += count;
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
            let blanks = self
                .rest()
                .iter()
                .take_while(|byte| is_blank(**byte))
                .count();
            if blanks == 0 {
                return Ok(self.rest().first().copied());
            }
            self.advance(blanks);
        }
    }

    /// Returns the text that looks like a number, which may be quoted, and its length in the file.
    fn number(&mut self) -> Result<(&[u8], usize), ImportError> {
        self.peek()?;
        self.fill(NUMBER)?;
        let part =
            |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E');
        let rest = self.rest();
        let unquoted = rest.strip_prefix(b"\"");
        let text = unquoted.unwrap_or(rest);
        let length = text
            .iter()
            .take_while(|byte| part(byte))
            .take(NUMBER)
            .count();
        let (number, behind) = text.split_at(length);
        Ok(match unquoted {
            None => (number, length),
            Some(_) if behind.starts_with(b"\"") => (number, length + 2),
            Some(_) => (&[], 0),
        })
    }

    fn quoted(
        &mut self,
        what: &str,
        follows: D::After,
        text: &mut Vec<u8>,
    ) -> Result<(), ImportError> {
        text.clear();
        self.expect(b'"', what)?;
        let start = self.position;
        let mut quotes = 0_u64;
        loop {
            self.fill(1)?;
            let rest = self.rest();
            if rest.is_empty() {
                return Err(self.expected("`\"`, the end of a string"));
            }
            // Most texts hold neither: they are copied in one piece.
            let plain = memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
            text.extend_from_slice(rest.get(..plain).unwrap_or_default());
            self.advance(plain);
            if plain > 0 {
                continue;
            }
            self.fill(1 + D::AHEAD)?;
            match self.rest() {
                [b'\\', escaped @ ..] => {
                    let Some(length) = D::unescape(escaped, text) else {
                        return Err(self.expected("an escape sequence"));
                    };
                    self.advance(1 + length);
                }
                [_, after @ ..] => {
                    let is_end = D::is_end(follows, after);
                    self.advance(1);
                    if is_end {
                        break;
                    }
                    quotes += 1;
                    text.push(b'"');
                }
                [] => {}
            }
        }
        if quotes > 0 {
            self.dialect.see_quotes(start, quotes, text);
        }
        Ok(())
    }
}

/// A whole number without a sign.
fn digits<T: std::str::FromStr>(text: &str) -> Option<T> {
    // `parse` takes a plus sign, which JSON does not have.
    text.parse()
        .ok()
        .filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns a decimal number times 1000, rounded; `None` for other text.
pub(in crate::formats) fn thousandths(text: &str) -> Option<i64> {
    if text.contains(['e', 'E']) {
        let value = (text.parse::<f64>().ok()? * 1e3).round();
        // Casting a whole number that is too large would cut it.
        return format!("{value:.0}").parse().ok();
    }
    // Digit by digit, because nanoseconds since 1970 have more digits than a REAL holds (case
    // `chrome_trace/fractions`).
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let (digits, is_negative) = whole
        .strip_prefix('-')
        .map_or((whole, false), |digits| (digits, true));
    let has_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if digits.is_empty() || !has_digits(digits) || !has_digits(fraction) {
        return None;
    }
    let mut value = digits.parse::<i64>().ok()?;
    for place in 0..3 {
        let digit = fraction
            .as_bytes()
            .get(place)
            .map_or(0, |digit| digit - b'0');
        value = value.checked_mul(10)?.checked_add(i64::from(digit))?;
    }
    let rounded = fraction
        .as_bytes()
        .get(3)
        .is_some_and(|digit| *digit >= b'5');
    value = value.checked_add(i64::from(rounded))?;
    Some(if is_negative { -value } else { value })
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// The items of an array.
pub(in crate::formats) fn column<T>(
    json: &mut Reader<'_, '_>,
    mut item: impl FnMut(&mut Reader<'_, '_>) -> Result<T, ImportError>,
) -> Result<Vec<T>, ImportError> {
    let mut items = Vec::new();
    let mut within = Within::default();
    while let Some(at) = json.item(&mut within)? {
        // Each item is a record: columns may be as long as the file.
        json.begin_record_at(at);
        items.push(item(json)?);
    }
    Ok(items)
}
