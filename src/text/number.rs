//! Numbers as text. The only code that formats one; what people read is scaled by `scale.rs` first.
//!
//! Reports and exports write millions of them, so that the common ones do not go through Rust's
//! formatting, which is exact for all numbers and takes several times as long: those of few digits.

use std::fmt::Write as _;

/// Significant digits of a [`significant`] number, as APL prints them.
const DIGITS: usize = 10;

/// Significant digits of a [`push_readable`] number: every number of so many is a REAL of its own, so
/// that sums do not show what they are off by. The `sqlite3` shell shows as many.
const READABLE_DIGITS: usize = 15;

/// A number that is written without exponent has fewer digits before its point, or zeros after it,
/// than this.
const FAR: i32 = 21;

/// A time in milliseconds, with all its digits.
pub(crate) fn milliseconds(nanoseconds: f64) -> String {
    shifted(nanoseconds, -6)
}

/// A number as APL writes it.
pub(crate) fn apl(number: &str) -> String {
    number.replace('-', "¯")
}

/// So many decimals.
pub(crate) fn fixed(value: f64, decimals: usize) -> String {
    let mut text = String::new();
    push_fixed(value, decimals, &mut text);
    text
}

/// Adds [`fixed`] to a text.
pub(crate) fn push_fixed(value: f64, decimals: usize, text: &mut String) {
    if let Some((scaled, one)) = rounded_safely(value, decimals) {
        // What rounds to nothing is not less than nothing.
        if value < 0.0 && scaled != 0 {
            text.push('-');
        }
        push_whole(scaled / one, 1, text);
        if decimals > 0 {
            text.push('.');
            push_whole(scaled % one, decimals, text);
        }
        return;
    }
    let from = text.len();
    // A text takes everything.
    let _ = write!(text, "{value:.decimals$}");
    let figure = &text[from..];
    // What rounds to nothing is not less than nothing.
    if figure.starts_with('-')
        && !figure.contains(|digit| ('1'..='9').contains(&digit))
        && value.is_finite()
    {
        text.remove(from);
    }
}

/// The size of a number as a whole number of tenths, hundredths and so on, and how many of these are
/// one; `None` where it is large, or so near to the middle between two of them that the product's
/// own rounding might decide.
fn rounded_safely(value: f64, decimals: usize) -> Option<(u64, u64)> {
    const ONES: [(f64, u64); 4] = [(1.0, 1), (10.0, 10), (100.0, 100), (1000.0, 1000)];
    /// Below this the product is off by less than [`NEAR`].
    const LARGE: f64 = 1e12;
    const NEAR: f64 = 0.001;
    let (factor, one) = *ONES.get(decimals)?;
    let scaled = value.abs() * factor;
    let is_clear = scaled < LARGE && (scaled.fract() - 0.5).abs() > NEAR;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and a limit far below 2^64"
    )]
    is_clear.then_some(((scaled + 0.5) as u64, one))
}

/// Adds the digits of a number, with zeros before it until there are so many.
fn push_whole(number: u64, width: usize, text: &mut String) {
    let mut room = [b'0'; U64_DIGITS];
    let from = digits(number, &mut room).min(U64_DIGITS - width);
    push_digits(&room[from..], text);
}

/// Adds a whole number, which may be less than nothing, to a text.
pub(crate) fn push_signed(number: i64, text: &mut String) {
    if number < 0 {
        text.push('-');
    }
    push_whole(number.unsigned_abs(), 1, text);
}

/// Adds a whole number to a line of bytes.
pub(crate) fn push_integer(number: u64, line: &mut Vec<u8>) {
    let mut room = [b'0'; U64_DIGITS];
    // Nothing has one digit.
    let from = digits(number, &mut room).min(U64_DIGITS - 1);
    line.extend_from_slice(&room[from..]);
}

/// How many digits a number of 64 bits has at most.
const U64_DIGITS: usize = 20;

/// Adds characters of ASCII to a text.
fn push_digits(digits: &[u8], text: &mut String) {
    // They are few: to see that they are text and to copy them at once would take longer.
    text.extend(digits.iter().map(|digit| char::from(*digit)));
}

/// Puts the digits of a number at the end of zeros, and says where the first one is; 0 has none.
fn digits(mut number: u64, room: &mut [u8; U64_DIGITS]) -> usize {
    let mut from = U64_DIGITS;
    while number > 0 {
        from -= 1;
        let digit = (number % 10) as u8;
        room[from] = b'0' + digit;
        number /= 10;
    }
    from
}

/// All digits that tell the number from every other.
pub(crate) fn shortest(value: f64) -> String {
    shifted(value, 0)
}

/// Adds [`shortest`] to a text.
pub(crate) fn push_shortest(value: f64, text: &mut String) {
    push_shifted(value, 0, text);
}

/// All digits of the number times a power of ten: only the point moves, so nothing is rounded.
pub(crate) fn shifted(value: f64, power: i32) -> String {
    let mut text = String::new();
    push_shifted(value, power, &mut text);
    text
}

/// Adds [`shifted`] to a text.
pub(crate) fn push_shifted(value: f64, power: i32, text: &mut String) {
    if !value.is_finite() {
        // Only plain SQL comes to this, and a text takes everything.
        let _ = write!(text, "{value}");
        return;
    }
    if let Some((whole, decimals)) = few_digits(value.abs()) {
        let mut room = [b'0'; U64_DIGITS];
        let from = digits(whole, &mut room);
        let exponent = i32::try_from(U64_DIGITS - from).unwrap_or(0) - 1 - decimals;
        positional(value < 0.0, &room[from..], exponent + power, text);
        return;
    }
    push_scientific(&format!("{value:e}"), power, text);
}

/// A positive number as a whole number and how far to move its point to the left, if it has 15
/// digits at most.
///
/// No two numbers of 15 digits are one REAL, so that one which gives the REAL back has the shortest
/// digits, but for zeros at its end.
fn few_digits(value: f64) -> Option<(u64, i32)> {
    const LARGE: f64 = 1e15;
    /// The powers of ten that a REAL holds.
    const POWERS: [f64; 23] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
        1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    ];
    if value == 0.0 {
        return Some((0, 0));
    }
    // The power of two tells the power of ten, or one more.
    let two = i32::try_from(value.to_bits() >> 52).ok()? - 1023;
    let decimals = 14 - (two * 30_103).div_euclid(100_000);
    let places = usize::try_from(decimals).ok()?;
    let (decimals, power) = match value * POWERS.get(places)? {
        scaled if scaled < LARGE => (decimals, POWERS[places]),
        _ => (decimals - 1, *POWERS.get(places.checked_sub(1)?)?),
    };
    let whole = (value * power).round();
    let is_it = whole < LARGE && (whole / power).to_bits() == value.to_bits();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and a limit far below 2^64"
    )]
    is_it.then_some((whole as u64, decimals))
}

/// Ten digits of the number times a power of ten, without zeros at the end.
pub(crate) fn significant(value: f64, power: i32) -> String {
    rounded_to(DIGITS, value, power)
}

/// Adds a number for people who look at a table, where nothing says what it is: 15 digits, without
/// zeros at the end.
pub(crate) fn push_readable(value: f64, text: &mut String) {
    // One that has no more than 15 digits has them all, which is known sooner.
    if !value.is_finite() || few_digits(value.abs()).is_some() {
        push_shortest(value, text);
    } else {
        text.push_str(&rounded_to(READABLE_DIGITS, value, 0));
    }
}

/// So many digits of the number times a power of ten, without zeros at the end.
fn rounded_to(digits: usize, value: f64, power: i32) -> String {
    let mut text = String::new();
    push_scientific(&format!("{value:.*e}", digits - 1), power, &mut text);
    text
}

/// Adds `d.ddde5` times a power of ten.
fn push_scientific(scientific: &str, power: i32, text: &mut String) {
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let (is_negative, mantissa) = mantissa
        .strip_prefix('-')
        .map_or((false, mantissa), |rest| (true, rest));
    let digits: Vec<u8> = mantissa.bytes().filter(|byte| *byte != b'.').collect();
    let exponent = exponent.parse::<i32>().unwrap_or(0) + power;
    positional(is_negative, &digits, exponent, text);
}

/// Adds `d.ddd` times ten to the `exponent`, of which the digits are given, without exponent, unless
/// it is far from the digits. Zeros at the end are left out.
fn positional(is_negative: bool, digits: &[u8], exponent: i32, text: &mut String) {
    let count = digits.iter().rposition(|digit| *digit != b'0');
    let Some(last) = count else {
        text.push('0');
        return;
    };
    let mut add = |digits: &[u8]| push_digits(digits, text);
    let digits = &digits[..=last];
    if is_negative {
        add(b"-");
    }
    if !(-FAR..FAR).contains(&exponent) {
        let (first, rest) = digits.split_at(1);
        add(first);
        if !rest.is_empty() {
            add(b".");
            add(rest);
        }
        // A text takes everything.
        let _ = write!(text, "E{exponent}");
        return;
    }
    // Zeros after the point, or before it.
    let zeros = [b'0'; FAR as usize];
    match usize::try_from(exponent + 1) {
        Ok(before) if before >= digits.len() => {
            add(digits);
            add(&zeros[..before - digits.len()]);
        }
        Ok(before) if before > 0 => {
            add(&digits[..before]);
            add(b".");
            add(&digits[before..]);
        }
        _ => {
            add(b"0.");
            add(&zeros[..usize::try_from(-exponent - 1).unwrap_or(0)]);
            add(digits);
        }
    }
}
