//! Bytes as text.

use std::fmt::Write as _;

/// Two lower-case hexadecimal digits for each byte.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        write!(text, "{byte:02x}").expect("a string takes everything");
    }
    text
}
