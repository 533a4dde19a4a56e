//! Messages of protocol buffers, as pprof has them.

/// A field that is a message or text.
pub(crate) fn field(number: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![number << 3 | 2];
    bytes.append(&mut varint(content.len()));
    bytes.extend_from_slice(content);
    bytes
}

/// A number.
pub(crate) fn varint(mut number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(u8::try_from(number & 0x7f).expect("7 bits") | 0x80);
        number >>= 7;
    }
    bytes.push(u8::try_from(number).expect("7 bits"));
    bytes
}
