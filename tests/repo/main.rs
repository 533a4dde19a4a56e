//! Checks of the repository itself: documents, language, module dependencies, queries, packages.

#[macro_use]
extern crate profdb_test_attribute;

mod docs;
mod files;
mod headers;
mod language;
mod layers;
mod made;
mod plans;
mod skips;
mod supply;
mod tidy;

#[path = "../support"]
#[expect(dead_code, reason = "each program needs a part of it")]
mod support {
    pub(crate) mod harness;
    pub(crate) mod program;
    pub(crate) mod skipped;
    pub(crate) mod tools;
}

fn main() -> std::process::ExitCode {
    support::harness::run(env!("CARGO_CRATE_NAME"), Vec::new)
}
