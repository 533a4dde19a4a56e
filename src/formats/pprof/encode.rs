//! The wire format of Protocol Buffers: tagged fields, without a schema.

/// A message that is being put together.
#[derive(Default)]
pub(super) struct Message(Vec<u8>);

impl Message {
    /// Its bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// A field that is a number; 0 is what a field is that is not there.
    pub(super) fn number(&mut self, field: u64, number: u64) {
        if number != 0 {
            self.varint(field << 3);
            self.varint(number);
        }
    }

    /// A field that is a text or a message; it is there even if it is empty.
    pub(super) fn field(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    /// A field of several numbers.
    pub(super) fn numbers(&mut self, field: u64, numbers: impl Iterator<Item = u64> + Clone) {
        // The length comes first, so that the numbers are looked at twice.
        let length: u64 = numbers.clone().map(length).sum();
        if length > 0 {
            self.varint(field << 3 | 2);
            self.varint(length);
            numbers.for_each(|number| self.varint(number));
        }
    }

    /// A field of several numbers, which have been encoded.
    pub(super) fn packed(&mut self, field: u64, numbers: &[u8]) {
        if !numbers.is_empty() {
            self.field(field, numbers);
        }
    }

    /// The fields of another message.
    pub(super) fn append(&mut self, other: &Self) {
        self.0.extend_from_slice(&other.0);
    }

    fn varint(&mut self, number: u64) {
        varint(number, &mut self.0);
    }
}

/// Seven bits a byte, the lowest first; all bytes but the last have the highest bit set.
pub(super) fn varint(mut number: u64, bytes: &mut Vec<u8>) {
    while number > 0x7f {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push((number & 0x7f) as u8);
}

/// How many bytes a number has.
fn length(number: u64) -> u64 {
    let bits = u64::from(64 - (number | 1).leading_zeros());
    bits.div_ceil(7)
}
