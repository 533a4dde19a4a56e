//! Damaged Parquet files of a dataset.

#![cfg(feature = "parquet")]

use std::cell::Cell;
use std::io::{Seek, Write};
use std::panic;

use profdb::base::error::Stop;
use profdb::base::panics::show_others;
use profdb::dataset::{self, DatasetError, RunRows, TABLES};
use profdb::store::{Database, LockWait};

use crate::support::imports::import_profile;

/// Reads the table of runs of a dataset from a file with the given bytes.
fn read_runs(bytes: &[u8]) -> Result<(), DatasetError> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.db");
    let filled = Database::filled(&path, LockWait::default(), |rows| {
        dataset::read(
            rows,
            &mut |table, each| {
                if table.name != "runs" {
                    return Ok(());
                }
                let mut file = tempfile::tempfile()?;
                file.write_all(bytes)?;
                file.rewind()?;
                each(file)
            },
            &Stop::default(),
        )
    });
    filled.map(drop)
}

thread_local! {
    /// Number of panics of this thread that were shown; `None` in threads that do not count them.
    static SHOWN: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Counts the panics of threads that want it, and shows all others as before.
fn count_shown_panics() {
    let show = panic::take_hook();
    panic::set_hook(Box::new(move |panic| match SHOWN.get() {
        Some(count) => SHOWN.set(Some(count + 1)),
        None => show(panic),
    }));
    show_others();
}

#[test]
fn panic_of_the_parquet_reader_is_an_error_and_the_next_panic_is_shown() {
    let (database, run) = import_profile("folded", b"a;b 1\n");
    let rows = RunRows::open(&database, run.run_id)
        .expect("a dataset")
        .expect("a run");
    let mut bytes = Vec::new();
    rows.write(&TABLES[0], &mut bytes).expect("memory");
    count_shown_panics();
    SHOWN.set(Some(0));
    // The first bytes are the header of a page.
    let mut messages = (4..100).filter_map(|at| {
        let mut damaged = bytes.clone();
        damaged[at] = 0;
        let message = read_runs(&damaged).err()?.to_string();
        let (_, panic) = message.split_once("found one that cannot be read: ")?;
        Some(panic.to_owned())
    });
    let message = messages.next();
    drop(messages);
    let caught = SHOWN.get();
    let shown = panic::catch_unwind(|| panic!("another one"));
    let all = SHOWN.replace(None);
    assert!(message.is_some_and(|message| !message.is_empty()));
    assert_eq!(caught, Some(0));
    assert!(shown.is_err());
    assert_eq!(all, Some(1));
}
