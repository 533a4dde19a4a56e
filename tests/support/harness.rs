//! The harness of the test programs: registered tests, skipped tests, and their summary.
//!
//! `#[test]` registers a function (`crates/test-attribute`); `libtest-mimic` runs it. A test whose
//! tool is missing unwinds with [`skip`] and is counted as ignored.

#![expect(
    clippy::disallowed_methods,
    reason = "reads the notes of other test programs and the variable CI"
)]
#![expect(clippy::print_stderr, reason = "reports what was skipped")]

use std::backtrace::{Backtrace, BacktraceStatus};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use libtest_mimic::{Arguments, Completion, Failed, Trial};

/// A test function that `#[test]` has registered.
pub(crate) struct Test {
    /// The module path and the name of the function.
    pub(crate) name: &'static str,
    pub(crate) run: fn(),
}

inventory::collect!(Test);

/// Test programs that run last in their tier, by the order in which Cargo runs them.
const LAST_PROGRAMS: [&str; 2] = ["repo", "round_trips"];

/// The payload of a panic that skips a test.
struct Skip(String);

thread_local! {
    /// True while this thread runs a test.
    static IS_TEST: Cell<bool> = const { Cell::new(false) };
    /// The message of the last panic in this thread.
    static PANIC_MESSAGE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs the registered tests and the given trials, then lists the skipped ones.
///
/// The list covers all programs of the same `cargo test`. It appears after the last program, after
/// a program that fails (Cargo stops there), and where the command line selects tests.
pub(crate) fn run(program: &str, trials: Vec<Trial>) -> ExitCode {
    let arguments = Arguments::from_args();
    // Files and folders of tests are readable by other users, whatever the umask outside.
    #[cfg(unix)]
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o022));
    let print_panic = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        if IS_TEST.get() {
            keep_panic_message(panic);
        } else {
            print_panic(panic);
        }
    }));
    let prefix = format!("{program}::");
    let registered = inventory::iter::<Test>.into_iter().map(|test| {
        let name = test.name.strip_prefix(&prefix).unwrap_or(test.name);
        trial(name.to_owned(), || {
            (test.run)();
            Ok(())
        })
    });
    let mut trials: Vec<Trial> = registered.chain(trials).collect();
    trials.sort_by(|left, right| left.name().cmp(right.name()));
    let is_selection = arguments.filter.is_some() || !arguments.skip.is_empty();
    let conclusion = libtest_mimic::run(&arguments, trials);
    let is_end = LAST_PROGRAMS.contains(&program) || conclusion.has_failed() || is_selection;
    if is_end && !arguments.list {
        print_skipped();
    }
    conclusion.exit_code()
}

/// Makes a trial that [`skip`] can end.
pub(crate) fn trial(
    name: String,
    test: impl FnOnce() -> Result<(), Failed> + Send + 'static,
) -> Trial {
    let shown = name.clone();
    Trial::ignorable_test(name, move || {
        IS_TEST.set(true);
        match panic::catch_unwind(AssertUnwindSafe(test)) {
            Ok(outcome) => outcome.map(|()| Completion::Completed),
            Err(payload) => match payload.downcast::<Skip>() {
                Ok(skip) => {
                    record_skip(&format!("{shown}: {}", skip.0));
                    Ok(Completion::ignored_with(skip.0))
                }
                Err(payload) => Err(failure(payload.as_ref())),
            },
        }
    })
}

/// Ends the running test as skipped.
pub(crate) fn skip(reason: String) -> ! {
    // No hook runs, so nothing is printed.
    panic::resume_unwind(Box::new(Skip(reason)))
}

/// Returns the message of a panic, with its place.
fn failure(payload: &(dyn std::any::Any + Send)) -> Failed {
    let message = PANIC_MESSAGE.take().or_else(|| {
        let text = payload.downcast_ref::<String>().cloned();
        text.or_else(|| {
            payload
                .downcast_ref::<&str>()
                .map(|text| (*text).to_owned())
        })
    });
    message.unwrap_or_else(|| "panicked".to_owned()).into()
}

/// Keeps the message of a panic for the report of the test that fails by it.
///
/// A test that catches a panic therefore prints nothing.
fn keep_panic_message(panic: &PanicHookInfo<'_>) {
    let backtrace = Backtrace::capture();
    let message = if backtrace.status() == BacktraceStatus::Captured {
        format!("{panic}\n{backtrace}")
    } else {
        panic.to_string()
    };
    PANIC_MESSAGE.set(Some(message));
}

/// Adds a line to the notes of this `cargo test`.
fn record_skip(line: &str) {
    let noted = OpenOptions::new().create(true).append(true).open(notes());
    noted
        .and_then(|mut file| writeln!(file, "{line}"))
        .expect("the folder for tests is writable");
}

/// Prints the tests that this `cargo test` has skipped, and forgets them.
fn print_skipped() {
    let notes = notes();
    let text = fs::read_to_string(&notes).unwrap_or_default();
    let _ = fs::remove_file(notes);
    let lines: BTreeSet<&str> = text.lines().collect();
    if lines.is_empty() {
        return;
    }
    eprintln!("skipped tests ({}):", lines.len());
    for line in lines {
        eprintln!("  {line}");
    }
}

/// Returns the file to which all test programs of one `cargo test` write.
fn notes() -> PathBuf {
    #[cfg(unix)]
    // Cargo is the parent of all test programs that it starts.
    let parent = std::os::unix::process::parent_id();
    #[cfg(not(unix))]
    let parent = 0;
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("skipped.{parent}"))
}
