//! Reads messages of protocol buffers, as pprof has them.

use std::io::Read;

use flate2::read::GzDecoder;

/// The content of a field.
#[derive(Debug, PartialEq)]
pub(crate) enum Content<'m> {
    Number(u64),
    Bytes(&'m [u8]),
    /// The 4 or 8 bytes of a number of fixed length.
    Fixed(&'m [u8]),
}

/// Returns the fields of a message in their order.
pub(crate) fn fields(message: &[u8]) -> Vec<(u64, Content<'_>)> {
    let mut rest = message;
    let mut fields = Vec::new();
    while !rest.is_empty() {
        let tag = read_varint(&mut rest);
        let content = match tag & 7 {
            0 => Content::Number(read_varint(&mut rest)),
            1 => Content::Fixed(take(&mut rest, 8)),
            2 => {
                let length = read_varint(&mut rest);
                Content::Bytes(take(&mut rest, length))
            }
            5 => Content::Fixed(take(&mut rest, 4)),
            other => panic!("a field of type {other}"),
        };
        fields.push((tag >> 3, content));
    }
    fields
}

/// Takes bytes off a message.
fn take<'m>(message: &mut &'m [u8], length: u64) -> &'m [u8] {
    let (bytes, rest) = message.split_at(usize::try_from(length).expect("a length"));
    *message = rest;
    bytes
}

/// Takes a number off a message.
pub(crate) fn read_varint(message: &mut &[u8]) -> u64 {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = message.split_first().expect("a byte");
        *message = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if *byte < 0x80 {
            break;
        }
    }
    number
}

/// Unpacks a profile.
pub(crate) fn gunzip(file: &[u8]) -> Vec<u8> {
    let mut profile = Vec::new();
    let read = GzDecoder::new(file).read_to_end(&mut profile);
    read.expect("gzip");
    profile
}
