//! The one switch for what takes minutes: `LONG_TESTS`.
//!
//! Without it, tests have their short forms, and laws that cost much are tried on one part of the
//! cases. `LONG_TESTS=all` is all of everything. A hexadecimal number, as the hash of a commit is
//! one, chooses: one of the long forms, and which part of the cases; so CI comes round to all of
//! them at no more cost.

#![expect(
    clippy::disallowed_methods,
    reason = "the wish of whoever runs the tests"
)]

use std::env;

/// Tests that have a long form.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Kills,
    Interrupts,
    Losses,
    Faults,
    Corruptions,
    Replacements,
    Strangers,
    Questions,
    Noise,
    Engines,
}

const FORMS: [Form; 10] = [
    Form::Kills,
    Form::Interrupts,
    Form::Losses,
    Form::Faults,
    Form::Corruptions,
    Form::Replacements,
    Form::Strangers,
    Form::Questions,
    Form::Noise,
    Form::Engines,
];

/// Parts of the cases, each of which is enough for a run.
const PARTS: u64 = 12;

/// What the switch says.
#[derive(Clone, Copy)]
enum Wish {
    Short,
    All,
    Number(u64),
}

fn wish() -> Wish {
    match env::var("LONG_TESTS") {
        Err(_) => Wish::Short,
        Ok(text) if text == "all" => Wish::All,
        Ok(text) => {
            // The beginning of a hash is as good a number as all of it, which would not fit.
            let digits = text.get(..text.len().min(8)).unwrap_or_default();
            let number = u64::from_str_radix(digits, 16);
            Wish::Number(number.unwrap_or_else(|_| {
                panic!("LONG_TESTS is {text}: expected `all` or a hexadecimal number")
            }))
        }
    }
}

/// Whether all of everything is asked for, however long it takes.
pub(crate) fn is_all() -> bool {
    matches!(wish(), Wish::All)
}

impl Form {
    /// Whether this test has to take its long form.
    pub(crate) fn is_asked(self) -> bool {
        match wish() {
            Wish::Short => false,
            Wish::All => true,
            Wish::Number(number) => {
                FORMS[usize::try_from(number % FORMS.len() as u64).expect("a few")] == self
            }
        }
    }

    /// How often a test does what it does, unless the environment has a number for it.
    pub(crate) fn times(self, setting: &str, few: u64, many: u64) -> u64 {
        let number = env::var(setting)
            .ok()
            .map(|text| text.parse().expect("a number"));
        number.unwrap_or(if self.is_asked() { many } else { few })
    }
}

/// Whether a case is in the part that is tried of what costs much.
pub(crate) fn is_in_part(case: &str) -> bool {
    // Small numbers from names: FNV-1a, 32 bits.
    let hash = case.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    match wish() {
        // A hash of the name, not a place in a list: a new case moves no other one to another part.
        Wish::Short => u64::from(hash) % PARTS == 0,
        Wish::All => true,
        Wish::Number(number) => u64::from(hash) % PARTS == number % PARTS,
    }
}
