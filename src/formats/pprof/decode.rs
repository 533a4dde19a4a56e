//! The wire format of Protocol Buffers: tagged fields, without a schema. Every position is that of
//! the byte in the input.

use crate::base::error::{ImportError, Position};
use crate::input::Input;

/// Bytes of the longest number.
const LONGEST: usize = 10;

/// One field of a message.
pub(super) struct Field<'m> {
    /// Its number, which says what it means.
    pub(super) number: u64,
    pub(super) value: Value<'m>,
    /// Where its tag is.
    pub(super) at: Position,
}

/// What a field holds, as far as the wire tells.
#[derive(Clone, Copy)]
pub(super) enum Value<'m> {
    Number(u64),
    /// A text, a message, or numbers: the schema knows.
    Bytes(Bytes<'m>),
    /// 4 or 8 bytes, which no format of ours has.
    Fixed,
}

/// Bytes with their place.
#[derive(Clone, Copy)]
pub(super) struct Bytes<'m> {
    pub(super) bytes: &'m [u8],
    pub(super) at: Position,
}

/// What the tag says about the value.
#[derive(Clone, Copy)]
enum Wire {
    Number,
    Bytes,
    Fixed(u64),
}

impl<'m> Field<'m> {
    /// The value as a number.
    pub(super) fn number_of(&self, name: &str) -> Result<u64, ImportError> {
        match self.value {
            Value::Number(number) => Ok(number),
            _ => Err(self.unlike("a number", name)),
        }
    }

    /// The value as bytes.
    pub(super) fn bytes_of(&self, name: &str) -> Result<Bytes<'m>, ImportError> {
        match self.value {
            Value::Bytes(bytes) => Ok(bytes),
            _ => Err(self.unlike("bytes", name)),
        }
    }

    /// Adds the number, or all numbers where several share a field.
    pub(super) fn numbers_of(&self, name: &str, numbers: &mut Vec<u64>) -> Result<(), ImportError> {
        match self.value {
            Value::Number(number) => numbers.push(number),
            Value::Bytes(mut packed) => {
                // Writers may pack repeated numbers into one field or not, within one sample even
                // both ("Encoding", packed fields; case `pprof/packed-and-unpacked`).
                while !packed.bytes.is_empty() {
                    numbers.push(packed.number()?);
                }
            }
            Value::Fixed => return Err(self.unlike("numbers", name)),
        }
        Ok(())
    }

    fn unlike(&self, expected: &str, name: &str) -> ImportError {
        let found = match self.value {
            Value::Number(_) => "a number",
            Value::Bytes(_) => "bytes",
            Value::Fixed => "a number of fixed length",
        };
        ImportError::malformed(
            self.at,
            format!("{expected} in field {} ({name})", self.number),
            found,
        )
    }
}

impl<'m> Bytes<'m> {
    /// The next field of the message that the bytes are.
    pub(super) fn field(&mut self) -> Result<Option<Field<'m>>, ImportError> {
        if self.bytes.is_empty() {
            return Ok(None);
        }
        let at = self.at;
        let (number, wire) = tag(self.number()?, at)?;
        let value = match wire {
            Wire::Number => Value::Number(self.number()?),
            Wire::Bytes => {
                let length = self.number()?;
                Value::Bytes(self.take(length)?)
            }
            Wire::Fixed(length) => {
                // Read and left out: newer versions of the format may have such fields (case
                // `pprof/unknown-fields`).
                self.take(length)?;
                Value::Fixed
            }
        };
        Ok(Some(Field { number, value, at }))
    }

    fn number(&mut self) -> Result<u64, ImportError> {
        let (number, length) = match decode(self.bytes) {
            Decoded::Number(number, length) => (number, length),
            Decoded::Cut => {
                return Err(ImportError::malformed(
                    self.at,
                    "a number",
                    "the end of the message in it",
                ));
            }
            Decoded::TooLarge => return Err(too_large(self.at)),
        };
        self.skip(length);
        Ok(number)
    }

    fn take(&mut self, length: u64) -> Result<Self, ImportError> {
        // A length is what the file says: it is compared with what is there before anything is
        // taken.
        let taken = usize::try_from(length)
            .ok()
            .and_then(|length| self.bytes.get(..length));
        let Some(bytes) = taken else {
            let found = format!("the end of the message after {}", self.bytes.len());
            return Err(ImportError::malformed(
                self.at,
                format!("{length} bytes"),
                found,
            ));
        };
        let at = self.at;
        self.skip(bytes.len());
        Ok(Self { bytes, at })
    }

    fn skip(&mut self, length: usize) {
        // Within bounds: callers skip what they have just decoded or taken.
        self.bytes = self.bytes.get(length..).unwrap_or_default();
        self.at.byte += length as u64;
    }
}

/// Reads the next field of the message that the input is, as a record. What is not at hand goes
/// through `buffer`.
pub(super) fn next_field<'m>(
    input: &'m mut Input<'_>,
    buffer: &'m mut Vec<u8>,
) -> Result<Option<Field<'m>>, ImportError> {
    input.begin_record();
    let at = input.position();
    let Some(tagged) = read_number(input)? else {
        return Ok(None);
    };
    let (number, wire) = tag(tagged, at)?;
    let length = match wire {
        Wire::Fixed(length) => length,
        Wire::Number | Wire::Bytes => {
            let at = input.position();
            let cut = || ImportError::malformed(at, "a number", "the end of the file");
            read_number(input)?.ok_or_else(cut)?
        }
    };
    if let Wire::Number = wire {
        return Ok(Some(Field {
            number,
            value: Value::Number(length),
            at,
        }));
    }
    let start = input.position();
    // The input gives what is there, so that a length that lies takes no memory.
    let bytes = input.next_bytes(length, buffer)?;
    if (bytes.len() as u64) < length {
        let found = format!("the end of the file after {}", bytes.len());
        return Err(ImportError::malformed(
            start,
            format!("{length} bytes"),
            found,
        ));
    }
    let value = match wire {
        Wire::Fixed(_) => Value::Fixed,
        Wire::Number | Wire::Bytes => Value::Bytes(Bytes { bytes, at: start }),
    };
    Ok(Some(Field { number, value, at }))
}

/// Reads a number; `None` at the end of the input.
fn read_number(input: &mut Input<'_>) -> Result<Option<u64>, ImportError> {
    let at = input.position();
    if let Decoded::Number(number, length) = decode(input.at_hand()) {
        input.consume_counted(length, 0);
        return Ok(Some(number));
    }
    // The number may go on beyond what is at hand. Byte by byte, because what follows it must stay
    // in the input. A number that is too large comes here, too, and is refused below.
    let (mut bytes, mut byte) = (Vec::with_capacity(LONGEST), Vec::new());
    loop {
        input.read_bytes(1, &mut byte)?;
        if byte.is_empty() && bytes.is_empty() {
            return Ok(None);
        }
        if byte.is_empty() {
            return Err(ImportError::malformed(
                at,
                "a number",
                "the end of the file in it",
            ));
        }
        bytes.append(&mut byte);
        match decode(&bytes) {
            Decoded::Number(number, _) => return Ok(Some(number)),
            Decoded::TooLarge => return Err(too_large(at)),
            Decoded::Cut => {}
        }
    }
}

fn too_large(at: Position) -> ImportError {
    ImportError::malformed(at, "a number of at most 64 bits", "more")
}

fn tag(tag: u64, at: Position) -> Result<(u64, Wire), ImportError> {
    let wire = match tag & 7 {
        0 => Wire::Number,
        1 => Wire::Fixed(8),
        2 => Wire::Bytes,
        5 => Wire::Fixed(4),
        other => {
            return Err(ImportError::malformed(
                at,
                "a field of wire type 0, 1, 2 or 5",
                format!("type {other}"),
            ));
        }
    };
    match tag >> 3 {
        0 => Err(ImportError::malformed(
            at,
            "a field with a number",
            "number 0",
        )),
        number => Ok((number, wire)),
    }
}

enum Decoded {
    /// The number and its length in bytes.
    Number(u64, usize),
    /// All bytes say that another one follows.
    Cut,
    TooLarge,
}

/// The number at the beginning: seven bits a byte, the lowest first; all bytes but the last have
/// the highest bit set.
fn decode(bytes: &[u8]) -> Decoded {
    let mut number = 0;
    for (at, byte) in bytes.iter().take(LONGEST).enumerate() {
        let bits = u64::from(byte & 0x7f);
        // Nine bytes hold 63 bits: of the tenth only the lowest bit is left (case
        // `pprof/number-above-64-bits`).
        if at + 1 == LONGEST && bits > 1 {
            return Decoded::TooLarge;
        }
        number |= bits << (7 * at);
        if byte & 0x80 == 0 {
            return Decoded::Number(number, at + 1);
        }
    }
    if bytes.len() < LONGEST {
        Decoded::Cut
    } else {
        Decoded::TooLarge
    }
}
