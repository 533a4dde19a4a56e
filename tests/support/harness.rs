//! The harness of the test programs: registered tests, skipped tests, and their summary.
//!
//! `#[test]` registers a function (`crates/test-attribute`); `libtest-mimic` runs it. A test whose
//! tool is missing unwinds with [`skip`] and is counted as ignored.

#![expect(clippy::disallowed_methods, reason = "reads RETRY_SKIPPED")]
#![expect(clippy::print_stderr, reason = "reports how a test program ended")]

use std::backtrace::{Backtrace, BacktraceStatus};
use std::cell::{Cell, RefCell};
use std::env;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::process::ExitCode;

use libtest_mimic::{Arguments, Completion, Failed, Trial};

use super::{program, skipped};

/// A test function that `#[test]` has registered.
pub(crate) struct Test {
    /// The module path and the name of the function.
    pub(crate) name: &'static str,
    pub(crate) run: fn(),
}

inventory::collect!(Test);

/// The test program of tier 2 that Cargo runs last. In tier 1, `crates/test-attribute/tests/skipped.rs`
/// follows the other programs.
const LAST_PROGRAM: &str = "round_trips";

/// The payload of a panic that skips a test.
struct Skip(String);

thread_local! {
    /// True while this thread runs a test.
    static IS_TEST: Cell<bool> = const { Cell::new(false) };
    /// The message of the last panic in this thread.
    static PANIC_MESSAGE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs the registered tests and further trials in a child process, then lists the skipped ones.
///
/// The list covers all programs of the same `cargo test`. It appears after the last program, after
/// a program that fails or aborts (Cargo stops there), and where the command line selects tests.
///
/// `RETRY_SKIPPED=1` runs only the tests that were skipped last: CI installs their tools after tier 1.
pub(crate) fn run(program: &str, trials: impl FnOnce() -> Vec<Trial>) -> ExitCode {
    let arguments = Arguments::from_args();
    if skipped::has_list() {
        return run_trials(program, &arguments, trials());
    }
    let status = skipped::share_list(program::test_program().args(env::args_os().skip(1)))
        .status()
        .expect("the test program starts again");
    let is_selection = arguments.filter.is_some() || !arguments.skip.is_empty();
    let is_end = program == LAST_PROGRAM || !status.success() || is_selection;
    if is_end && !arguments.list {
        skipped::print();
    }
    if let Some(code) = status.code() {
        return u8::try_from(code).map_or(ExitCode::FAILURE, ExitCode::from);
    }
    eprintln!("{program}: {status}");
    ExitCode::FAILURE
}

fn run_trials(program: &str, arguments: &Arguments, trials: Vec<Trial>) -> ExitCode {
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
    if env::var_os("RETRY_SKIPPED").is_some() {
        let names = skipped::last_names();
        trials.retain(|trial| names.contains(trial.name()));
    }
    trials.sort_by(|left, right| left.name().cmp(right.name()));
    libtest_mimic::run(arguments, trials).exit_code()
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
                    skipped::record(&shown, &skip.0);
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
