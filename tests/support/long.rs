//! The switch for tier 3: `LONG_TESTS=1` selects the long forms of tests.

#![expect(clippy::disallowed_methods, reason = "reads LONG_TESTS")]

use std::{env, fmt};

use super::harness;

/// Number of parts of the cases. Without the switch, costly properties are tried for one of them.
const PARTS: u32 = 12;

/// Returns true if the long forms are selected.
pub(crate) fn is_long() -> bool {
    env::var_os("LONG_TESTS").is_some()
}

/// Skips the running test unless the long forms are selected.
pub(crate) fn require() {
    if !is_long() {
        harness::skip("tier 3 only: LONG_TESTS=1".to_owned());
    }
}

/// Prints a figure for docs/reliability.md if the long forms are selected.
#[expect(clippy::print_stdout, reason = "figures for docs/reliability.md")]
pub(crate) fn print_figure(figure: fmt::Arguments<'_>) {
    if is_long() {
        println!("{figure}");
    }
}

/// Returns a number of repetitions: that of an environment variable, or else of the short or long form.
///
/// # Panics
/// If the variable is not a number.
pub(crate) fn repetitions(variable: &str, short: u64, long: u64) -> u64 {
    let number = env::var(variable)
        .ok()
        .map(|text| text.parse().expect("a number"));
    number.unwrap_or(if is_long() { long } else { short })
}

/// Returns true if costly properties are tried for a case or sample: for all in the long form, else for
/// the case `minimal` of each format and a fixed twelfth of the others.
pub(crate) fn includes_case(name: &str) -> bool {
    // FNV-1a of the name, not its position in a list: a new case moves no other one to another part.
    let hash = name.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    let is_minimal = name.split('/').nth(1) == Some("minimal");
    is_long() || is_minimal || hash.is_multiple_of(PARTS)
}
