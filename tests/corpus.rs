//! What fuzzers have found worth keeping is read again, with the rules of fuzzing; and a few inputs that nobody has read yet.

#![expect(unsafe_code, reason = "an allocator that counts can be written in no other way")]
#![expect(clippy::disallowed_methods, reason = "small files of our own, and a limit on the time of each")]

#[path = "support/allocation.rs"]
mod allocation;
#[path = "support/built.rs"]
mod built;
#[path = "support/case_files.rs"]
mod case_files;
#[path = "support/fuzzing.rs"]
mod fuzzing;
#[path = "support/kept.rs"]
mod kept;
#[path = "support/mutate.rs"]
mod mutate;
#[path = "support/random.rs"]
mod random;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use fuzzing::{TARGETS, Target};
use kept::kept;
use mutate::mutate;
use random::Random;

/// New inputs for each target.
const NEW: u64 = 300;

fn check(target: &Target, bytes: &[u8]) {
    let read = catch_unwind(AssertUnwindSafe(|| target.check(bytes))).unwrap_or_else(|_| Err("panic".to_owned()));
    read.unwrap_or_else(|rule| panic!("{}: {rule}: {}", target.name, bytes.escape_ascii()));
}

#[test]
fn kept_inputs_break_no_rule() {
    let mut read = 0;
    for target in TARGETS {
        for bytes in kept(target.name) {
            check(target, &bytes);
            read += 1;
        }
    }
    assert!(read > 1000, "{read} inputs");
}

#[test]
fn new_inputs_break_no_rule() {
    let cases = case_files::entries(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases"));
    for target in TARGETS {
        let mut seeds = Vec::new();
        for folder in &cases {
            let Some(format) = folder.file_name().and_then(|name| profdb::importers::by_name(name.to_str()?)) else {
                continue;
            };
            let inputs =
                case_files::entries(folder).into_iter().flat_map(|case| case_files::files(&case.join("case.in")));
            let small = inputs.filter_map(|path| fs::read(path).ok()).filter(|bytes| bytes.len() <= 4096);
            seeds.extend(small.filter_map(|bytes| (target.seed)(format, &bytes)));
        }
        for number in 0..NEW {
            let mut random = Random(number);
            let start = random.below(seeds.len());
            check(target, &mutate(&seeds, &seeds[start], &mut random));
        }
    }
}
