//! The targets of tests/support/fuzzing.rs, for libFuzzer.

#[expect(dead_code, reason = "tests also look at all that is allocated")]
#[path = "../../tests/support/allocation.rs"]
mod allocation;
#[path = "../../tests/support/built.rs"]
mod built;
#[expect(dead_code, reason = "inputs to start from are made by benches/fuzz.rs")]
#[path = "../../tests/support/fuzzing.rs"]
mod fuzzing;

/// Reads an input; panics when a rule is broken.
pub fn check(target: &str, bytes: &[u8]) {
    let target = fuzzing::TARGETS.iter().find(|known| known.name == target).expect("a target of this name");
    if let Err(rule) = target.check_in_time(bytes) {
        panic!("{}: {rule}", target.name);
    }
}
