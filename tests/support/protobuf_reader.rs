//! Reads messages of protocol buffers, as pprof has them.

use std::io::Read;

use flate2::read::GzDecoder;

/// The content of a field.
#[derive(Debug, PartialEq)]
pub(crate) enum Content<'m> {
    Number(u64),
    Bytes(&'m [u8]),
}

/// Returns the fields of a message in their order.
pub(crate) fn fields(message: &[u8]) -> Vec<(u64, Content<'_>)> {
    let mut rest = message;
    let mut fields = Vec::new();
    while !rest.is_empty() {
        let tag = read_varint(&mut rest);
        let number = read_varint(&mut rest);
        let content = if tag & 7 == 2 {
            let (bytes, after) = rest.split_at(usize::try_from(number).expect("a length"));
            rest = after;
            Content::Bytes(bytes)
        } else {
            assert_eq!(tag & 7, 0, "a number");
            Content::Number(number)
        };
        fields.push((tag >> 3, content));
    }
    fields
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
