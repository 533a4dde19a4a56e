//! Prints the tests that `cargo test` has skipped. Cargo runs the test programs of packages in the
//! order of their names, so this program is the last one.

#[path = "../../../tests/support/skipped.rs"]
#[expect(dead_code, reason = "this program only prints the list")]
mod skipped;

fn main() {
    skipped::print();
}
