//! The work of every statement that `--show-sql` prints grows with the run, and not with the square of it. Work is counted
//! in steps of SQLite's virtual machine, which depend on the statement and the rows alone.
//!
//! A trial is a report with a set of arguments: `growth::summary/hide+fn=leaf`.

use std::cell::RefCell;

use libtest_mimic::{Failed, Trial};
use profdb::report::{REPORTS, Report, Request};
use rusqlite::fallible_iterator::FallibleIterator as _;
use rusqlite::{Batch, Connection, StatementStatus};

use crate::support::growth::{Run, check_growth, requests, run};
use crate::support::harness::trial;

/// Sizes of the runs, by the argument of [`run`].
const SIZES: [u32; 3] = [30, 60, 120];

/// Maximum number of steps of a statement about one of the smaller runs.
const MAXIMUM_STEPS: u64 = 20_000_000;

/// Number of steps between two checks of the maximum.
const STEPS_BETWEEN_CHECKS: i32 = 1000;

/// Lists all trials.
pub(crate) fn trials() -> Vec<Trial> {
    let of_report = |report: &'static Report| {
        requests(report).into_iter().map(move |(name, request)| {
            let name = format!("growth::{}/{name}", report.name);
            trial(name, move || check(report, &request))
        })
    };
    REPORTS.iter().flat_map(of_report).collect()
}

/// A run and a plain connection to it, without the functions and settings of profdb.
type OpenRun = (Run, Connection);

/// Runs the statements that a report shows over runs of three sizes, and compares their steps.
fn check(report: &'static Report, request: &Request) -> Result<(), Failed> {
    thread_local! {
        static RUNS: RefCell<[OpenRun; 3]> = RefCell::new(SIZES.map(open));
    }
    RUNS.with_borrow_mut(|runs| {
        let script = runs[0].0.statements(report, request)?;
        let mut steps = [0; 3];
        for (at, (_, connection)) in runs.iter_mut().enumerate() {
            // A little more than a ratio of 4, which quadratic work has.
            let most = match at {
                2 => steps[1] + 5 * (steps[1] - steps[0]) + 1000,
                _ => MAXIMUM_STEPS,
            };
            steps[at] = steps_of(connection, &script, most)
                .map_err(|error| format!("{error} after {most} steps: {steps:?}\n{script}"))?;
        }
        check_growth(steps).map_err(|wrong| format!("{wrong}\n{script}"))?;
        Ok(())
    })
}

fn open(size: u32) -> OpenRun {
    let run = run(size);
    let connection = Connection::open(&run.path).expect("it was just written");
    (run, connection)
}

/// Counts the steps of statements. Fails soon after it has counted a number of them.
fn steps_of(connection: &mut Connection, script: &str, most: u64) -> rusqlite::Result<u64> {
    let mut counted = 0;
    let is_above = move || {
        counted += u64::from(STEPS_BETWEEN_CHECKS.unsigned_abs());
        counted > most
    };
    connection.progress_handler(STEPS_BETWEEN_CHECKS, Some(is_above))?;
    let mut steps = 0;
    let mut statements = Batch::new(connection, script);
    while let Some(mut statement) = statements.next()? {
        let mut rows = statement.raw_query();
        while rows.next()?.is_some() {}
        drop(rows);
        steps += u64::from(statement.get_status(StatementStatus::VmStep).unsigned_abs());
    }
    Ok(steps)
}
