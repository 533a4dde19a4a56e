//! The places where a damaged file can end so that everything before is sound.

use std::io::BufRead;

use crate::base::error::ImportError;
use crate::input::{EarlyEnd, Input};

/// The structure of a format, which decides where a damaged file can end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Salvage {
    /// The importer itself keeps the sound part.
    Importer,
    /// The importer marks records: the file ends before the record of the fault, and the tail closes
    /// it.
    Records {
        /// The bytes that close a file after a whole record.
        tail: &'static [u8],
    },
    /// Records are lines: the file ends before the line of the fault.
    Lines,
    /// The file is a JSON document: it ends after an element of an array, and brackets are closed.
    Json,
    /// The file is an XML document: it ends after a child of the root, which is closed.
    Xml,
}

impl Salvage {
    /// Returns the last end of the file below `limit` bytes. The input is read from its start.
    ///
    /// # Errors
    /// When the input cannot be read.
    pub(super) fn find_end(
        self,
        input: &mut Input<'_>,
        limit: u64,
    ) -> Result<Option<EarlyEnd>, ImportError> {
        match self {
            Self::Importer => Ok(None),
            Self::Records { tail } => Ok((limit > 0).then(|| EarlyEnd {
                byte: limit,
                tail: tail.to_vec(),
            })),
            Self::Lines => {
                let mut last = 0;
                scan(input, limit, |at, byte| {
                    if byte == b'\n' {
                        last = at + 1;
                    }
                })?;
                Ok((last > 0 && last <= limit).then_some(EarlyEnd {
                    byte: last,
                    tail: Vec::new(),
                }))
            }
            Self::Json => {
                let mut json = JsonOutline::default();
                scan(input, limit, |at, byte| json.add(at, byte))?;
                Ok(json.end(limit))
            }
            Self::Xml => {
                let mut xml = XmlOutline::default();
                scan(input, limit, |at, byte| xml.add(at, byte))?;
                Ok(xml.end())
            }
        }
    }
}

/// Shows bytes below a limit, with their positions.
fn scan(
    input: &mut Input<'_>,
    limit: u64,
    mut take: impl FnMut(u64, u8),
) -> Result<(), ImportError> {
    loop {
        let start = input.position().byte;
        input.begin_record();
        let Ok(bytes) = input.fill_buf() else {
            // Damaged compression ends the scan, too.
            return match input.failure() {
                Some(error @ ImportError::Stopped) => Err(error),
                _ => Ok(()),
            };
        };
        let rest = usize::try_from(limit.saturating_sub(start)).unwrap_or(usize::MAX);
        let bytes = bytes.get(..rest.min(bytes.len())).unwrap_or_default();
        if bytes.is_empty() {
            return Ok(());
        }
        for (at, byte) in (start..).zip(bytes) {
            take(at, *byte);
        }
        let count = bytes.len();
        input.consume(count);
    }
}

/// A bracket of a JSON document that is not closed.
struct OpenBracket {
    close: u8,
    /// The byte after the last complete element, or after the bracket.
    end: u64,
    /// A member of an object has its name.
    has_name: bool,
}

/// The open brackets of a JSON document.
#[derive(Default)]
struct JsonOutline {
    open: Vec<OpenBracket>,
    in_text: bool,
    is_escaped: bool,
    in_scalar: bool,
}

impl JsonOutline {
    fn add(&mut self, at: u64, byte: u8) {
        if self.in_text {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'"' => {
                    self.in_text = false;
                    self.finish_value(at + 1);
                }
                _ => {}
            }
            return;
        }
        if self.in_scalar && (byte.is_ascii_whitespace() || b",]}".contains(&byte)) {
            self.in_scalar = false;
            self.finish_value(at);
        }
        match byte {
            b'"' => self.in_text = true,
            b'{' | b'[' => self.open.push(OpenBracket {
                close: if byte == b'{' { b'}' } else { b']' },
                end: at + 1,
                has_name: false,
            }),
            b'}' | b']' => {
                self.open.pop();
                self.finish_value(at + 1);
            }
            b':' => {
                if let Some(last) = self.open.last_mut() {
                    last.has_name = true;
                }
            }
            b',' => {}
            byte if byte.is_ascii_whitespace() => {}
            _ => self.in_scalar = true,
        }
    }

    fn finish_value(&mut self, end: u64) {
        if let Some(last) = self.open.last_mut()
            && (last.close == b']' || std::mem::take(&mut last.has_name))
        {
            last.end = end;
        }
    }

    /// Returns the last end at which no element of an array is cut. An array in an array is a record,
    /// and so is an object, but for the two outermost ones.
    fn end(&self, limit: u64) -> Option<EarlyEnd> {
        let is_object = |at: usize| self.open.get(at).is_some_and(|one| one.close == b'}');
        let (at, bracket) = self.open.iter().enumerate().rev().find(|(at, bracket)| {
            let above = at.checked_sub(1);
            let is_whole = match bracket.close {
                b'}' => *at < 2 && (0..*at).all(is_object),
                _ => above.is_none_or(is_object),
            };
            is_whole && bracket.end <= limit
        })?;
        let open = self.open.get(..=at)?;
        let tail = open.iter().rev().map(|bracket| bracket.close).collect();
        Some(EarlyEnd {
            byte: bracket.end,
            tail,
        })
    }
}

/// The root of an XML document and its children.
#[derive(Default)]
struct XmlOutline {
    root: Vec<u8>,
    depth: usize,
    tag: Option<Vec<u8>>,
    end: Option<u64>,
}

impl XmlOutline {
    fn add(&mut self, at: u64, byte: u8) {
        /// Maximum length of a comment or tag that is looked at, in bytes.
        const MOST: usize = 1 << 20;
        let Some(tag) = &mut self.tag else {
            if byte == b'<' {
                self.tag = Some(Vec::new());
            }
            return;
        };
        let is_comment = tag.starts_with(b"!--") && !tag.ends_with(b"--");
        if byte != b'>' || is_comment {
            if tag.len() < MOST {
                tag.push(byte);
            }
            return;
        }
        let tag = self.tag.take().unwrap_or_default();
        match tag.first() {
            Some(b'!' | b'?') => {}
            Some(b'/') => {
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 1 {
                    self.end = Some(at + 1);
                }
            }
            _ => {
                if self.depth == 0 {
                    let name = tag.split(u8::is_ascii_whitespace).next();
                    self.root = name.unwrap_or_default().to_vec();
                }
                if !tag.ends_with(b"/") {
                    self.depth += 1;
                } else if self.depth == 1 {
                    self.end = Some(at + 1);
                }
            }
        }
    }

    fn end(&self) -> Option<EarlyEnd> {
        let tail = [b"</", self.root.as_slice(), b">"].concat();
        self.end.map(|byte| EarlyEnd { byte, tail })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::error::Stop;
    use crate::input::Limits;

    #[test]
    fn document_is_closed_after_its_last_sound_part() {
        for (salvage, text, expected) in [
            (Salvage::Lines, "a 1\nb 2\nc", Some("a 1\nb 2\n")),
            (Salvage::Lines, "a 1", None),
            (
                Salvage::Json,
                r#"{"a":[{"b":1},{"b":[1,2],"c"#,
                Some(r#"{"a":[{"b":1}]}"#),
            ),
            (
                Salvage::Json,
                r#"{"a":[[1,2],[3,4"#,
                Some(r#"{"a":[[1,2]]}"#),
            ),
            (
                Salvage::Json,
                r#"{"f":{"1":{"n":"x]"},"2":{"n":"\"y"#,
                Some(r#"{"f":{"1":{"n":"x]"}}}"#),
            ),
            (
                Salvage::Json,
                r#"{"a":[{"b":1},{"b":2}"#,
                Some(r#"{"a":[{"b":1},{"b":2}]}"#),
            ),
            (Salvage::Json, r#"{"n":12, "m": 13"#, Some(r#"{"n":12}"#)),
            (
                Salvage::Xml,
                "<?xml?><r><!-- > --><a>1</a><b/><c><d>2</d>",
                Some("<?xml?><r><!-- > --><a>1</a><b/></r>"),
            ),
        ] {
            let reader = std::io::Cursor::new(text.as_bytes());
            let mut input =
                Input::seekable(reader, Limits::default(), Stop::default()).expect("memory");
            let end = salvage
                .find_end(&mut input, text.len() as u64)
                .expect("memory");
            let sound = end.map(|end| {
                let byte = usize::try_from(end.byte).expect("a short text");
                format!("{}{}", &text[..byte], String::from_utf8_lossy(&end.tail))
            });
            assert_eq!(sound.as_deref(), expected, "{text}");
        }
    }
}
