//! What fuzzers have found worth keeping is read again, with the rules of fuzzing; and a few inputs
//! that have not been read yet.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::support::case_files;
use crate::support::fuzzing::{TARGETS, Target};
use crate::support::kept::kept;
use crate::support::mutate::mutate;
use crate::support::random::Random;

/// New inputs for each target.
const NEW: u64 = 300;

fn check(target: &Target, bytes: &[u8]) {
    let read = catch_unwind(AssertUnwindSafe(|| target.check(bytes)))
        .unwrap_or_else(|_| Err("panic".to_owned()));
    read.unwrap_or_else(|rule| panic!("{}: {rule}: {}", target.name, bytes.escape_ascii()));
}

#[test]
fn kept_inputs_break_no_rule() {
    let mut read = 0;
    for target in TARGETS {
        for bytes in kept(target) {
            check(target, &bytes);
            read += 1;
        }
    }
    assert!(read > 1000, "{read} inputs");
}

/// A line says by name what an input is for, and is the input again.
#[test]
fn kept_inputs_are_known_by_name() {
    for target in TARGETS {
        for bytes in kept(target) {
            let line = target.line(&bytes).expect("it was kept");
            assert_eq!(
                target.input(&line).as_ref(),
                Some(&bytes),
                "{}: {line}",
                target.name
            );
        }
    }
    let named = |name: &str| {
        TARGETS
            .iter()
            .find(|target| target.name == name)
            .expect("a target")
    };
    for format in profdb::formats::FORMATS {
        let input = (named("importers").seed)(format, b"x").expect("an input");
        assert_eq!(
            named("importers").line(&input),
            Some(format!("{} 78", format.name))
        );
    }
    for report in profdb::report::REPORTS {
        for flags in ["", ":40", ":c0"] {
            let line = format!("{}{flags} 78", report.name);
            let input = named("questions")
                .input(&line)
                .unwrap_or_else(|| panic!("{line}"));
            assert_eq!(named("questions").line(&input), Some(line));
        }
    }
    assert_eq!(named("importers").input("no_such_format 78"), None);
}

#[test]
fn new_inputs_break_no_rule() {
    let cases = case_files::cases();
    for target in TARGETS {
        let mut seeds = Vec::new();
        for case in &cases {
            let Some(format) = profdb::formats::format_named(&case.group) else {
                continue;
            };
            let inputs = case.inputs().into_iter().map(|(_, bytes)| bytes);
            let small = inputs.filter(|bytes| bytes.len() <= 4096);
            seeds.extend(small.filter_map(|bytes| (target.seed)(format, &bytes)));
        }
        for number in 0..NEW {
            let mut random = Random(number);
            let start = random.below(seeds.len());
            check(target, &mutate(&seeds, &seeds[start], &mut random));
        }
    }
}
