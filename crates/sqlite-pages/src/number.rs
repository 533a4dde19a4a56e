//! Integers in SQLite's files: big-endian, or of variable length (varint).
//!
//! Reference: SQLite, "Database File Format", section 1.6 (varint).

/// Reads a 16-bit integer; `None` after the end.
pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<usize> {
    Some(usize::from(u16::from_be_bytes(
        *bytes.get(at..)?.first_chunk()?,
    )))
}

/// Reads a 32-bit integer; `None` after the end.
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Writes the lowest 16 bits of a number: the format writes 65,536 as 0.
pub(crate) fn put_u16(bytes: &mut [u8], at: usize, value: usize) {
    let [.., high, low] = value.to_be_bytes();
    bytes[at..at + 2].copy_from_slice(&[high, low]);
}

/// Writes a 32-bit integer.
pub(crate) fn put_u32(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_be_bytes());
}

/// Reads a varint and moves `at` after it; `None` if the bytes end first.
#[inline]
pub(crate) fn varint_at(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let first = *bytes.get(*at)?;
    if first < 0x80 {
        *at += 1;
        return Some(first.into());
    }
    long_varint_at(bytes, at)
}

fn long_varint_at(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut value = 0;
    for group in 0..9 {
        let byte = *bytes.get(*at)?;
        *at += 1;
        if group == 8 {
            // The ninth byte has eight bits.
            return Some(value << 8 | u64::from(byte));
        }
        value = value << 7 | u64::from(byte & 0x7f);
        if byte < 0x80 {
            break;
        }
    }
    Some(value)
}

/// Appends a varint: seven bits a byte, in as few bytes as the number needs.
pub(crate) fn push_varint(bytes: &mut Vec<u8>, value: u64) {
    if value < 0x80 {
        bytes.push(seven_bits(value));
        return;
    }
    // Eight bytes hold 56 bits. What needs more takes nine, the last of which has eight bits.
    if value >> 56 != 0 {
        for shift in (1..9).rev() {
            bytes.push(0x80 | seven_bits(value >> (7 * shift + 1)));
        }
        bytes.push(value.to_be_bytes()[7]);
        return;
    }
    let groups = (64 - value.leading_zeros()).div_ceil(7);
    for group in (0..groups).rev() {
        let more = if group > 0 { 0x80 } else { 0 };
        bytes.push(more | seven_bits(value >> (7 * group)));
    }
}

/// Writes a varint that ends at `end`; returns where it begins.
pub(crate) fn put_varint_before(bytes: &mut [u8], end: usize, value: u64) -> usize {
    if value >> 56 != 0 {
        let mut long = Vec::new();
        push_varint(&mut long, value);
        let start = end - long.len();
        bytes[start..end].copy_from_slice(&long);
        return start;
    }
    let mut start = end - 1;
    bytes[start] = seven_bits(value);
    let mut rest = value >> 7;
    while rest > 0 {
        start -= 1;
        bytes[start] = 0x80 | seven_bits(rest);
        rest >>= 7;
    }
    start
}

/// The lowest seven bits.
pub(crate) fn seven_bits(value: u64) -> u8 {
    value.to_be_bytes()[7] & 0x7f
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_of_every_length_are_read_as_they_were_written() {
        let lengths = (0_usize..64).flat_map(|bits| {
            let power = 1_u64 << bits;
            [(power - 1, bits), (power, bits + 1)]
        });
        for (value, bits) in lengths.chain([(u64::MAX, 64)]) {
            let mut bytes = Vec::new();
            push_varint(&mut bytes, value);
            // Nine bytes have 64 bits.
            let expected: usize = if bits > 56 {
                9
            } else {
                bits.max(1).div_ceil(7)
            };
            assert_eq!(bytes.len(), expected, "{value}");
            let mut at = 0;
            assert_eq!(varint_at(&bytes, &mut at), Some(value));
            assert_eq!(at, expected, "{value}");
            assert_eq!(varint_at(&bytes[1..], &mut expected.clone()), None);

            let mut before = [0; 12];
            let start = put_varint_before(&mut before, 10, value);
            assert_eq!(before[start..10], bytes, "{value}");
        }
    }
}
