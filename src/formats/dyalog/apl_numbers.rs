//! Numbers as APL prints them.

use std::io::Write;

/// Reads a time in ms as ns: `12.5`, `¯0.0008871`, `1.5E¯7`, with either decimal mark.
///
/// The exponent is moved before the text becomes a number, so the result is the REAL nearest to
/// what the file says.
pub(super) fn nanoseconds(text: &[u8]) -> Option<f64> {
    number(text, 6)
}

/// Reads a count: `16810`, or as APL prints large numbers, `1.6E10`. Below 2^53.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "both bounds are checked"
)]
pub(super) fn count(text: &[u8]) -> Option<u64> {
    // Nearly all counts: 15 digits cannot overflow, and are below 2^53.
    if matches!(text.len(), 1..=15) {
        let digits = text.iter().try_fold(0, |value, byte| {
            let digit = byte.wrapping_sub(b'0');
            (digit < 10).then(|| value * 10 + u64::from(digit))
        });
        if digits.is_some() {
            return digits;
        }
    }
    let value = number(text, 0)?;
    (value.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(&value))
        .then_some(value as u64)
}

/// Reads a figure that is empty where it is unknown.
pub(super) fn known<T>(text: &[u8], read: impl FnOnce(&[u8]) -> Option<T>) -> Option<Option<T>> {
    if text.is_empty() {
        Some(None)
    } else {
        read(text).map(Some)
    }
}

/// Reads a depth.
pub(super) fn depth(text: &[u8]) -> Option<u32> {
    u32::try_from(count(text)?).ok()
}

/// Reads the line of a row: empty or ¯1 in rows of whole functions.
pub(super) fn line_number(text: &[u8]) -> Option<Option<u32>> {
    if text.is_empty() || text == "¯1".as_bytes() || text == b"-1" {
        return Some(None);
    }
    Some(Some(u32::try_from(count(text)?).ok()?))
}

/// Reads a number of APL (`¯` for minus, `E` before an exponent, either decimal mark) times a power
/// of ten.
fn number(text: &[u8], power: i32) -> Option<f64> {
    const LONGEST: usize = 64;
    if let Some(value) = plain_number(text, power) {
        return Some(value);
    }
    let mut ascii = [0; 2 * LONGEST];
    let mut length = 0;
    // Where the digits of the exponent start.
    let mut exponent = None;
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        let minus = byte == b'-' || (byte == 0xc2 && rest.first() == Some(&0xaf));
        if byte == 0xc2 && minus {
            rest = rest.get(1..)?;
        }
        let byte = match byte {
            _ if minus => b'-',
            b'0'..=b'9' => byte,
            b'.' | b',' => b'.',
            b'E' | b'e' if exponent.is_none() => {
                exponent = Some(length);
                continue;
            }
            _ => return None,
        };
        *ascii.get_mut(length)? = byte;
        length += 1;
        // Each half has a limit of its own, so that both fit into `ascii`, and the first one with
        // the exponent into `whole`.
        if length - exponent.unwrap_or(0) > LONGEST {
            return None;
        }
    }
    let written = std::str::from_utf8(ascii.get(..length)?).ok()?;
    let (mantissa, exponent) = match exponent {
        None => (written, 0),
        Some(start) => (
            written.get(..start)?,
            written.get(start..)?.parse::<i32>().ok()?,
        ),
    };
    let mut whole = [0; LONGEST + 16];
    let mut space = whole.as_mut_slice();
    write!(space, "{mantissa}e{}", exponent.checked_add(power)?).ok()?;
    let left = space.len();
    let whole = whole.get(..whole.len() - left)?;
    let value: f64 = std::str::from_utf8(whole).ok()?.parse().ok()?;
    value.is_finite().then_some(value)
}

/// The value of a number without exponent, as most are; `power` is that of a unit.
#[expect(
    clippy::cast_precision_loss,
    reason = "whole numbers up to 2^53 are exact"
)]
fn plain_number(text: &[u8], power: i32) -> Option<f64> {
    // Powers of ten up to 10^22 are exact as REAL, larger ones are not.
    const POWERS: [f64; 23] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
        1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    ];
    const LONGEST: usize = 24;
    let (sign, digits) = match text {
        [0xc2, 0xaf, digits @ ..] | [b'-', digits @ ..] => (-1.0, digits),
        digits => (1.0, digits),
    };
    if digits.len() > LONGEST {
        return None;
    }
    let mut value = 0_u64;
    // How many digits come after the point.
    let mut behind = None;
    let mut rest = digits;
    loop {
        // Most times have 16 digits after the point.
        if let Some((eight, after)) = rest.split_first_chunk()
            && let Some(eight) = eight_digits(*eight)
        {
            value = value.checked_mul(100_000_000)?.checked_add(eight)?;
            rest = after;
            continue;
        }
        match rest {
            [] => break,
            [digit @ b'0'..=b'9', after @ ..] => {
                value = value
                    .checked_mul(10)?
                    .checked_add(u64::from(digit - b'0'))?;
                rest = after;
            }
            [b'.' | b',', after @ ..] if behind.is_none() => {
                behind = Some(after.len());
                rest = after;
            }
            _ => return None,
        }
    }
    // No digits are no number.
    if digits.len() == usize::from(behind.is_some()) {
        return None;
    }
    let point = behind.map(|behind| digits.len() - 1 - behind);
    let behind = behind.unwrap_or(0);
    let shift = power.checked_sub(i32::try_from(behind).ok()?)?;
    let factor = *POWERS.get(usize::try_from(shift.unsigned_abs()).ok()?)?;
    if value <= 1 << 53 {
        // Both are exact, so that one division or multiplication gives the nearest REAL.
        let value = sign * value as f64;
        return Some(if shift < 0 {
            value / factor
        } else {
            value * factor
        });
    }
    // What the digits leave free are zeros. After a point they mean nothing; a number without a
    // point goes the long way.
    let mut ascii = [b'0'; LONGEST + 3];
    ascii.get_mut(..digits.len())?.copy_from_slice(digits);
    if let Some(point) = point {
        *ascii.get_mut(point)? = b'.';
    }
    let [.., mark, ten, one] = &mut ascii;
    let power = u8::try_from(power)
        .ok()
        .filter(|power| *power < 10 && point.is_some())?;
    (*mark, *ten, *one) = (b'e', b'0', b'0' + power);
    let value: f64 = std::str::from_utf8(&ascii).ok()?.parse().ok()?;
    Some(sign * value)
}

/// The value of eight digits; `None` if one of them is something else. All at once: neighbours are
/// joined to numbers of two digits, these to four, these to eight.
///
/// Reference: Daniel Lemire, "Quickly parsing eight digits".
fn eight_digits(text: [u8; 8]) -> Option<u64> {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let text = u64::from_le_bytes(text);
    let digits = text.wrapping_sub(EACH * u64::from(b'0'));
    // A byte above `9` reaches the highest bit by what is added, one below `0` by what was taken off.
    let others = text.wrapping_add(EACH * u64::from(0x7f - b'9')) | digits;
    if others & (EACH * 0x80) != 0 {
        return None;
    }
    let two = (digits * 10 + (digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let four = (two * 100 + (two >> 16)) & 0x0000_ffff_0000_ffff;
    Some((four * 10_000 + (four >> 32)) & 0xffff_ffff)
}
