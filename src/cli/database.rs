//! The database that a command is about: its name, how long to wait for it, its runs.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, value_parser};

use super::failure::{Failure, complain, database, say, unchosen};
use crate::base::error::Stop;
use crate::store::{
    ChooseError, DEFAULT_DATABASE, Database, LockWait, RunInfo, RunSet, StoreError,
};
use crate::text::shell::quoted;

/// How every SQLite database begins.
const DATABASE: &[u8] = b"SQLite format 3\0";

/// Whether a file begins as a database does. A pipe is not read: its bytes would be gone.
pub(super) fn is_database(path: &Path) -> bool {
    let mut start = [0; DATABASE.len()];
    path.is_file()
        && File::open(path).is_ok_and(|mut file| file.read_exact(&mut start).is_ok())
        && start == DATABASE
}

/// Refuses a set that names a database: commands that only ask for runs would look for it in another one.
///
/// # Errors
/// When it does; before anything is done.
pub(super) fn is_of_runs(set: Option<&RunSet>) -> Result<(), Failure> {
    let named = match set {
        Some(RunSet::File(path)) => path.as_path(),
        Some(RunSet::Word(word)) => Path::new(word),
        _ => return Ok(()),
    };
    if !is_database(named) {
        return Ok(());
    }
    let name = named.display().to_string();
    let message = format!(
        "{name}: expected runs, found an SQLite database; use `--db {}` if it is a profdb database",
        quoted(&name, None)
    );
    Err(complain(message, Failure::Usage))
}

/// Environment variable that names the database.
const DATABASE_VARIABLE: &str = "PROFDB_DB";

/// The flag that names the database.
#[derive(Clone, Debug, Args)]
pub(super) struct DatabaseArgs {
    #[arg(
        long = "db",
        value_name = "FILE",
        help = "Database file [default: $PROFDB_DB or profdb.db]"
    )]
    path: Option<PathBuf>,
}

impl DatabaseArgs {
    /// The database of this name, else the default.
    pub(super) fn named(path: Option<PathBuf>) -> Self {
        Self { path }
    }

    /// The words that name it, if a flag does.
    pub(super) fn words(&self) -> Vec<String> {
        let path = self.path.iter();
        path.flat_map(|path| ["--db".to_owned(), path.display().to_string()])
            .collect()
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that reads the environment"
    )]
    pub(super) fn path(&self) -> PathBuf {
        let from_environment = || {
            std::env::var_os(DATABASE_VARIABLE)
                .filter(|path| !path.is_empty())
                .map(PathBuf::from)
        };
        self.path
            .clone()
            .or_else(from_environment)
            .unwrap_or_else(|| DEFAULT_DATABASE.into())
    }
}

/// How long to wait for a program that has the database, before it is written to.
#[derive(Clone, Debug, Args)]
pub(super) struct WaitArgs {
    /// Wait up to this long while the database is locked
    #[arg(long = "wait", value_name = "SECONDS", default_value_t = 60, value_parser = value_parser!(u32))]
    seconds: u32,
}

impl WaitArgs {
    pub(super) fn lock_wait(&self, stop: &Stop) -> LockWait {
        LockWait {
            limit: Duration::from_secs(self.seconds.into()),
            ..lock_wait(stop)
        }
    }
}

/// Waiting, with what is said of it.
pub(super) fn lock_wait(stop: &Stop) -> LockWait {
    let tell = |path: &Path, limit: Duration| {
        let seconds = limit.as_secs();
        let plural = if seconds == 1 { "" } else { "s" };
        say(format!(
            "{}: the database is locked by another program; waiting up to {seconds} second{plural}",
            path.display()
        ));
    };
    LockWait {
        stop: stop.clone(),
        tell,
        ..LockWait::default()
    }
}

/// Opens the database to change runs that it has.
pub(super) fn open_to_change(
    arguments: &DatabaseArgs,
    wait: &WaitArgs,
    stop: &Stop,
) -> Result<Database, Failure> {
    let failed = |error| database(error, stop);
    let opened = Database::open_to_change(&arguments.path(), wait.lock_wait(stop));
    let mut target = opened.map_err(failed)?;
    target.heed(stop.clone()).map_err(failed)?;
    Ok(target)
}

/// Opens the database for reading.
pub(super) fn open_to_read(arguments: &DatabaseArgs, stop: &Stop) -> Result<Database, Failure> {
    opened_to_read(arguments, stop).map_err(|error| database(error, stop))
}

/// Opens the database for reading; the caller reports a failure.
pub(super) fn opened_to_read(
    arguments: &DatabaseArgs,
    stop: &Stop,
) -> Result<Database, StoreError> {
    let mut source = Database::open_read_only_waiting(&arguments.path(), &lock_wait(stop))?;
    source.heed(stop.clone())?;
    Ok(source)
}

/// The run that a set means; of several the one that was imported last, which is said. Without a
/// set, the one that was imported last of all.
pub(super) fn find_run(
    source: &Database,
    set: Option<&RunSet>,
    stop: &Stop,
) -> Result<RunInfo, Failure> {
    let set = set.unwrap_or(&RunSet::Latest);
    let (run, several) = source.choose_one(set).map_err(|error| match error {
        ChooseError::NoRuns(message) => {
            let written = set.to_string();
            let hint = if Path::new(&written).is_file() {
                format!("; use ./{written} for the file of this name")
            } else {
                String::new()
            };
            complain(format!("{message}{hint}"), Failure::NothingSelected)
        }
        error @ ChooseError::Store(_) => unchosen(error, stop),
    })?;
    if several > 1 {
        let RunInfo { run_id, .. } = run;
        say(format!(
            "{set} matches {several} runs; using run {run_id}, which was imported last"
        ));
    }
    Ok(run)
}
