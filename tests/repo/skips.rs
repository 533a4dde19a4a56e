//! The list of skipped tests appears however a test program ends.

use crate::support::{program, skipped};

/// The variable that makes the test below abort after a skip.
const ABORTS: &str = "ABORT_AFTER_A_SKIP";

#[test]
#[expect(clippy::disallowed_methods, reason = "reads its own variable")]
fn skipped_tests_are_listed_after_an_abort() {
    if std::env::var_os(ABORTS).is_some() {
        skipped::record("a test", "needs a tool");
        std::process::abort();
    }
    let mut command = program::test_program();
    skipped::hide_list(&mut command);
    let name = "skips::skipped_tests_are_listed_after_an_abort";
    let output = command
        .args([name, "--exact"])
        .env(ABORTS, "1")
        .output()
        .expect("the test program starts again");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{errors}");
    assert!(
        errors.contains("\nskipped tests (1):\n  a test: needs a tool\n"),
        "{errors}"
    );
}
