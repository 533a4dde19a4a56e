//! The table of test modules in `tests/README.md` is current.

use std::fmt::Write as _;
use std::fs;

use super::architecture::with_part;
use super::{compare, root};
use crate::files;

/// The test programs in the order in which they run, with their tier.
const PROGRAMS: &[(&str, u8)] = &[
    ("formats", 1),
    ("library", 1),
    ("properties", 1),
    ("repo", 1),
    ("behaviour", 2),
    ("figures", 2),
    ("page", 2),
    ("round_trips", 2),
];

/// Returns a table with a row for each module that has tests.
fn modules() -> String {
    let mut table = "| program | module | tests | tier |\n| --- | --- | --- | --- |\n".to_owned();
    for (program, tier) in PROGRAMS {
        let folder = format!("tests/{program}/");
        for source in files::sources() {
            let Some(path) = source.path.strip_prefix(&folder) else {
                continue;
            };
            let Some(path) = path.strip_suffix(".rs") else {
                continue;
            };
            let module = path.trim_end_matches("/mod").replace('/', "::");
            let tests = source.text.lines().filter(|line| line.trim() == "#[test]");
            let tests = match tests.count() {
                0 if source.text.contains("Vec<Trial>") || source.text.contains("Failed>") => {
                    "trials".to_owned()
                }
                0 => continue,
                count => count.to_string(),
            };
            let long = if source.text.contains("long::") {
                ", 3"
            } else {
                ""
            };
            let _ = writeln!(
                table,
                "| `{program}` | `{module}` | {tests} | {tier}{long} |"
            );
        }
    }
    table
}

#[test]
fn test_modules_are_current() {
    let name = "tests/README.md";
    let document = fs::read_to_string(root().join(name)).expect("a document of the repository");
    compare(name, &with_part(&document, "modules", &modules()));
}
