//! Letters as JSON escapes them: by code units of UTF-16, a pair of them for some.

/// Adds half of a letter, given by its four digits: a byte, or three as UTF-8 would have them.
pub(super) fn half(digits: &[u8], text: &mut Vec<u8>) {
    let unit = std::str::from_utf8(digits)
        .ok()
        .and_then(|digits| u16::from_str_radix(digits, 16).ok());
    // U+DC80 to U+DCFF mean a byte that is no UTF-8, as in Python (`surrogateescape`). Other halves
    // become what UTF-8 would make of them if it could, so that they stay different names.
    let [high, low] = unit.unwrap_or_default().to_be_bytes();
    match (high, low) {
        (0xdc, 0x80..) => text.push(low),
        _ => text.extend_from_slice(&[
            0xed,
            0x80 | (high << 2 & 0x3c) | low >> 6,
            0x80 | low & 0x3f,
        ]),
    }
}

/// The letter whose digits come after `\u`, and how many bytes it takes.
pub(in crate::formats) fn utf16(behind: &[u8]) -> Option<(char, usize)> {
    let unit = |at: usize| {
        let digits = behind
            .get(at..at + 4)
            .filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let first = unit(0)?;
    if let Ok(letter) = u32::from(first).try_into() {
        return Some((letter, 4));
    }
    let second = unit(6).filter(|_| behind.get(4..6) == Some(b"\\u"))?;
    let letter = char::decode_utf16([first, second]).next()?.ok()?;
    Some((letter, 10))
}
