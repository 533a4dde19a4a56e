//! Objects as Python's `marshal` writes them, versions 0 to 5, as far as profiles hold them:
//! numbers, texts, tuples, dictionaries, and code, which is read for its name.

use std::rc::Rc;

use byteorder::{ByteOrder, LE};

use crate::base::error::{ImportError, Position, quote};
use crate::input::Input;
use crate::text::escape;

/// Objects within each other; profiles have 4.
const DEEPEST: u32 = 16;

/// Set in the type of an object that a later one refers to.
const REFERRED: u8 = 0x80;

/// An object. One that is referred to is shared.
#[derive(Clone, Debug)]
pub(super) enum Object {
    /// `None`, a truth value, a constant of code: something that profiles have no use for.
    Other,
    Integer(i64),
    Real(f64),
    Text(Rc<str>),
    Tuple(Rc<[Object]>),
    Dictionary(Rc<[(Object, Object)]>),
}

impl Object {
    /// What a message says that was found.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Other => "an object of another type".to_owned(),
            Self::Integer(number) => number.to_string(),
            Self::Real(number) => format!("{number:?}"),
            Self::Text(text) => quote(text.as_bytes()),
            Self::Tuple(parts) => format!("a tuple of {}", parts.len()),
            Self::Dictionary(_) => "a dictionary".to_owned(),
        }
    }
}

/// Reads objects from an input.
pub(super) struct Reader<'r, 'a> {
    input: &'r mut Input<'a>,
    bytes: Vec<u8>,
    /// Objects that later ones may refer to, in the order in which they begin; dictionaries are
    /// none of them.
    referred: Vec<Option<Object>>,
    /// Interned texts of Python 2, to which later ones may refer by a numbering of their own.
    interned: Vec<Object>,
    /// Code within which we are.
    codes: u32,
    /// The numbers at the start of code, of which each Python has as many.
    code_numbers: Option<u32>,
}

impl<'r, 'a> Reader<'r, 'a> {
    pub(super) fn new(input: &'r mut Input<'a>) -> Self {
        Self {
            input,
            bytes: Vec::new(),
            referred: Vec::new(),
            interned: Vec::new(),
            codes: 0,
            code_numbers: None,
        }
    }

    pub(super) fn position(&self) -> Position {
        self.input.position()
    }

    pub(super) fn begin_record(&mut self) {
        self.input.begin_record();
    }

    /// The start of a dictionary whose items are read one by one.
    pub(super) fn open_dictionary(&mut self) -> Result<(), ImportError> {
        let at = self.position();
        let byte = self.byte("a dictionary")?;
        if byte & !REFERRED != b'{' {
            return Err(ImportError::malformed(at, "a dictionary", quote(&[byte])));
        }
        if byte & REFERRED != 0 {
            self.referred.push(None);
        }
        Ok(())
    }

    /// The key of the next item of a dictionary, `None` at its end.
    pub(super) fn key(&mut self) -> Result<Option<Object>, ImportError> {
        self.object_or_end(1)
    }

    /// An object within a dictionary.
    pub(super) fn value(&mut self) -> Result<Object, ImportError> {
        self.object(1)
    }

    /// The end of the file.
    pub(super) fn end(&mut self) -> Result<(), ImportError> {
        let at = self.position();
        let rest = self.input.next_bytes(1, &mut self.bytes)?;
        if rest.is_empty() {
            Ok(())
        } else {
            Err(ImportError::malformed(
                at,
                "the end of the file",
                quote(rest),
            ))
        }
    }

    fn object(&mut self, depth: u32) -> Result<Object, ImportError> {
        let at = self.position();
        let object = self.object_or_end(depth)?;
        object.ok_or_else(|| ImportError::malformed(at, "an object", "the end of a dictionary"))
    }

    fn object_or_end(&mut self, depth: u32) -> Result<Option<Object>, ImportError> {
        let at = self.position();
        if depth > DEEPEST {
            let limit = format!("{DEEPEST} nested objects (limit: nesting)");
            return Err(ImportError::Limit {
                position: at,
                limit,
            });
        }
        let byte = self.byte("an object")?;
        self.object_of(at, byte, depth)
    }

    /// An object, of which the type has been read.
    fn object_of(
        &mut self,
        at: Position,
        byte: u8,
        depth: u32,
    ) -> Result<Option<Object>, ImportError> {
        // Before its parts are read: an object is numbered where it begins, so that a tuple comes
        // before what is in it.
        let slot = (byte & REFERRED != 0).then(|| {
            self.referred.push(None);
            self.referred.len() - 1
        });
        let object = match byte & !REFERRED {
            b'0' => return Ok(None),
            b'N' | b'T' | b'F' | b'.' | b'S' => Object::Other,
            b'i' => Object::Integer(i64::from(LE::read_i32(&self.array::<4>()?))),
            b'I' => Object::Integer(LE::read_i64(&self.array::<8>()?)),
            // Constants of code may be numbers of any size, complex numbers, sets or slices: they
            // are passed over, because of code only its name is read.
            b'l' if self.codes > 0 => {
                let digits = LE::read_i32(&self.array::<4>()?).unsigned_abs();
                self.take(2 * u64::from(digits))?;
                Object::Other
            }
            b'l' => self.long(at)?,
            b'c' => self.code(depth)?,
            b'y' if self.codes > 0 => {
                self.take(16)?;
                Object::Other
            }
            b'<' | b'>' if self.codes > 0 => {
                let length = self.length()?;
                self.tuple(length, depth)?;
                Object::Other
            }
            b':' if self.codes > 0 => {
                self.tuple(3, depth)?;
                Object::Other
            }
            b'g' => Object::Real(LE::read_f64(&self.array::<8>()?)),
            b'f' => {
                let [length] = self.array()?;
                let text = self.take(u64::from(length))?;
                let number = std::str::from_utf8(text)
                    .ok()
                    .and_then(|text| text.trim().parse().ok());
                let wrong = || ImportError::malformed(at, "a number as a string", quote(text));
                Object::Real(number.ok_or_else(wrong)?)
            }
            b'z' | b'Z' => {
                let [length] = self.array()?;
                self.text(u64::from(length))?
            }
            b'u' | b'a' | b'A' | b's' => {
                let length = self.length()?;
                self.text(u64::from(length))?
            }
            b't' => {
                let length = self.length()?;
                let text = self.text(u64::from(length))?;
                self.interned.push(text.clone());
                text
            }
            b')' => {
                let [length] = self.array()?;
                self.tuple(u32::from(length), depth)?
            }
            b'(' => {
                let length = self.length()?;
                self.tuple(length, depth)?
            }
            b'{' => {
                let mut items = Vec::new();
                while let Some(key) = self.object_or_end(depth + 1)? {
                    items.push((key, self.object(depth + 1)?));
                }
                Object::Dictionary(items.into())
            }
            sort @ (b'r' | b'R') => {
                let number = self.length()?;
                let known = if sort == b'r' {
                    self.referred.get(number as usize).cloned().flatten()
                } else {
                    self.interned.get(number as usize).cloned()
                };
                return match known {
                    Some(object) => Ok(Some(object)),
                    None => Err(ImportError::malformed(
                        at,
                        "a reference to an earlier object",
                        number.to_string(),
                    )),
                };
            }
            other => {
                let expected = "a number, a string, a tuple, a dictionary or code";
                return Err(ImportError::malformed(at, expected, quote(&[other])));
            }
        };
        // One dictionary, named in many places by a few bytes, would be as many callers as there
        // are bytes squared.
        let is_dictionary = matches!(object, Object::Dictionary(_));
        if let Some(slot) = slot
            .filter(|_| !is_dictionary)
            .and_then(|slot| self.referred.get_mut(slot))
        {
            *slot = Some(object.clone());
        }
        Ok(Some(object))
    }

    fn tuple(&mut self, length: u32, depth: u32) -> Result<Object, ImportError> {
        // Without room for `length` ahead: it is what the file says, and each part takes a byte of
        // it at least.
        let mut parts = Vec::new();
        for _ in 0..length {
            parts.push(self.object(depth + 1)?);
        }
        Ok(Object::Tuple(parts.into()))
    }

    /// Code, as the text of its name. Four numbers are in front of its parts in Python 2, five in
    /// 3, six in 3.8 to 3.10.
    fn code(&mut self, depth: u32) -> Result<Object, ImportError> {
        // Four numbers of four bytes, as in every Python. Whether more follow is seen from what
        // comes next: the instructions, a text of bytes.
        self.take(16)?;
        let mut numbers = 4;
        let (at, sort) = loop {
            let at = self.position();
            let byte = self.byte("the instructions of code")?;
            // A number may begin like them, but not in the code of a module, which comes first.
            if byte & !REFERRED == b's' && self.code_numbers.is_none_or(|known| known == numbers) {
                break (at, byte);
            }
            if numbers == 6 {
                return Err(ImportError::malformed(
                    at,
                    "the instructions of code",
                    quote(&[byte]),
                ));
            }
            self.take(3)?;
            numbers += 1;
        };
        // Kept for the code within this one, which is of the same Python: there a number may begin
        // like instructions.
        self.code_numbers = Some(numbers);
        // Where code ends is known only when all of it is read, so that types which no profile has
        // are passed over in it.
        self.codes += 1;
        self.object_of(at, sort, depth + 1)?;
        let mut parts = Vec::new();
        for _ in 1..8 {
            parts.push(self.object(depth + 1)?);
        }
        self.take(4)?;
        self.object(depth + 1)?;
        // Since 3.11 kinds of variables are where their names were, and a part more is at
        // the end.
        let has_kinds = numbers == 5 && matches!(parts.get(3), Some(Object::Text(_)));
        if has_kinds {
            self.object(depth + 1)?;
        }
        self.codes -= 1;
        match parts.get(if has_kinds { 5 } else { 6 }) {
            Some(name @ Object::Text(_)) => Ok(name.clone()),
            other => {
                let found = other.map_or_else(String::new, Object::describe);
                Err(ImportError::malformed(at, "the name of code", found))
            }
        }
    }

    /// A whole number in digits of 15 bits.
    fn long(&mut self, at: Position) -> Result<Object, ImportError> {
        let length = LE::read_i32(&self.array::<4>()?);
        let too_large =
            || ImportError::malformed(at, "a number that fits in 64 bits", "a larger one");
        let mut value: i64 = 0;
        for place in 0..length.unsigned_abs() {
            let digit = i64::from(LE::read_u16(&self.array::<2>()?));
            // Four digits have 60 bits. The fifth is refused, so that the shift stays below the 64
            // bits of the type.
            let shifted = 1_i64
                .checked_shl(15 * place)
                .filter(|_| place < 4)
                .ok_or_else(too_large)?;
            value = digit
                .checked_mul(shifted)
                .and_then(|digit| value.checked_add(digit))
                .ok_or_else(too_large)?;
        }
        Ok(Object::Integer(if length < 0 { -value } else { value }))
    }

    fn text(&mut self, length: u64) -> Result<Object, ImportError> {
        Ok(Object::Text(escape::text(self.take(length)?).into()))
    }

    fn length(&mut self) -> Result<u32, ImportError> {
        Ok(LE::read_u32(&self.array::<4>()?))
    }

    fn byte(&mut self, what: &str) -> Result<u8, ImportError> {
        let at = self.position();
        let byte = self.input.next_bytes(1, &mut self.bytes)?.first().copied();
        byte.ok_or_else(|| ImportError::malformed(at, what, "the end of the file"))
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], ImportError> {
        let at = self.position();
        let bytes = self.take(N as u64)?;
        let length = bytes.len();
        bytes
            .try_into()
            .map_err(|_| ImportError::malformed(at, format!("{N} bytes"), length.to_string()))
    }

    /// So many bytes.
    fn take(&mut self, length: u64) -> Result<&[u8], ImportError> {
        let at = self.position();
        let bytes = self.input.next_bytes(length, &mut self.bytes)?;
        if bytes.len() as u64 == length {
            return Ok(bytes);
        }
        Err(ImportError::malformed(
            at,
            format!("{length} bytes"),
            format!("{}, the end of the file", bytes.len()),
        ))
    }
}
