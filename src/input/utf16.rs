//! Decodes UTF-16 text, as shells of Windows write the output of programs, to UTF-8.

use std::io::{self, Read};

/// Size of the buffer for undecoded text, in bytes.
const BUFFER: usize = 64 * 1024;

/// The order of the two bytes of a code unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ByteOrder {
    Little,
    Big,
}

impl ByteOrder {
    /// Returns the order that a byte order mark at the start of a text states.
    pub(super) fn of_mark(start: &[u8]) -> Option<Self> {
        match start {
            // The mark of UTF-32.
            [0xff, 0xfe, 0, 0, ..] => None,
            [0xff, 0xfe, ..] => Some(Self::Little),
            [0xfe, 0xff, ..] => Some(Self::Big),
            _ => None,
        }
    }

    fn unit(self, bytes: [u8; 2]) -> u16 {
        match self {
            Self::Little => u16::from_le_bytes(bytes),
            Self::Big => u16::from_be_bytes(bytes),
        }
    }
}

/// A reader that delivers UTF-16 text as UTF-8. Unpaired surrogates become U+FFFD.
pub(super) struct Utf16Decoder<R> {
    reader: R,
    order: ByteOrder,
    /// Bytes that are not decoded yet.
    encoded: Vec<u8>,
    /// Decoded text, delivered up to `start`.
    text: Vec<u8>,
    start: usize,
}

impl<R: Read> Utf16Decoder<R> {
    /// Starts at the byte order mark, which is delivered as UTF-8.
    pub(super) fn new(reader: R, order: ByteOrder) -> Self {
        Self {
            reader,
            order,
            encoded: Vec::new(),
            text: Vec::new(),
            start: 0,
        }
    }

    /// Decodes the next part of the text; none is left at the end of the input.
    fn decode(&mut self) -> io::Result<()> {
        self.text.clear();
        self.start = 0;
        while self.text.is_empty() {
            let known = self.encoded.len();
            self.encoded.resize(BUFFER, 0);
            let read = self
                .reader
                .read(self.encoded.get_mut(known..).unwrap_or_default());
            self.encoded.truncate(known + *read.as_ref().unwrap_or(&0));
            let is_end = read? == 0;
            if is_end && self.encoded.is_empty() {
                return Ok(());
            }
            if is_end && self.encoded.len() % 2 == 1 {
                return Err(io::Error::new(
                    io::ErrorKind::UnexpectedEof,
                    "the UTF-16 text ends within a character",
                ));
            }
            let (units, _) = self.encoded.as_chunks::<2>();
            let mut units: Vec<u16> = units.iter().map(|unit| self.order.unit(*unit)).collect();
            // The second half of the last letter comes with the next bytes.
            if !is_end && matches!(units.last(), Some(0xd800..=0xdbff)) {
                units.pop();
            }
            self.encoded.drain(..2 * units.len());
            let mut bytes = [0; 4];
            for letter in char::decode_utf16(units) {
                let letter = letter.unwrap_or(char::REPLACEMENT_CHARACTER);
                self.text
                    .extend_from_slice(letter.encode_utf8(&mut bytes).as_bytes());
            }
        }
        Ok(())
    }
}

impl<R: Read> Read for Utf16Decoder<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.start == self.text.len() {
            self.decode()?;
        }
        let mut text = self.text.get(self.start..).unwrap_or_default();
        let count = text.read(buffer)?;
        self.start += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_in_pieces_is_decoded() {
        /// Delivers a byte at a time.
        struct Slow<'b>(&'b [u8]);
        impl Read for Slow<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let count = buffer.len().min(1);
                self.0.read(&mut buffer[..count])
            }
        }
        let text = "\u{feff}a;∆é;𝄞 12\r\n";
        for order in [ByteOrder::Little, ByteOrder::Big] {
            let bytes: Vec<u8> = text
                .encode_utf16()
                .flat_map(|unit| match order {
                    ByteOrder::Little => unit.to_le_bytes(),
                    ByteOrder::Big => unit.to_be_bytes(),
                })
                .collect();
            assert_eq!(ByteOrder::of_mark(&bytes), Some(order));
            let mut decoded = String::new();
            Utf16Decoder::new(Slow(&bytes), order)
                .read_to_string(&mut decoded)
                .unwrap();
            assert_eq!(decoded, text);
            let cut = &bytes[..bytes.len() - 1];
            let mut decoded = String::new();
            let cut = Utf16Decoder::new(cut, order).read_to_string(&mut decoded);
            assert_eq!(cut.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        }
    }

    #[test]
    fn half_letters_are_replaced() {
        let bytes = [0xff, 0xfe, 0x00, 0xd8, b'a', 0];
        let mut decoded = String::new();
        Utf16Decoder::new(&bytes[..], ByteOrder::Little)
            .read_to_string(&mut decoded)
            .unwrap();
        assert_eq!(decoded, "\u{feff}\u{fffd}a");
    }
}
