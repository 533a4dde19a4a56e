//! Datasets of Parquet files: `profdb export --format parquet --out DIR` and `profdb import --from dataset DIR`.
//!
//! A file of a dataset is written completely or not at all, and one whose bytes would be what they are is left alone. Nothing
//! below the folder of a dataset is reached through a symbolic link: where a link leads is not what the user has named.

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::database::{DatabaseArgs, WaitArgs, lock_wait};
use super::draft::{Draft, folder_of};
use super::extent::{counted, extent};
use super::failure::{Failure, complain, database, line, say, unread, unwritten};
use super::progress::Progress;
use super::scratch::Scratch;
use super::strays::{is_of_run, of_several_days, on_several_days};
use crate::base::error::Stop;
use crate::base::limits;
use crate::dataset::about::{self, ABOUT, MOST_BYTES};
use crate::dataset::{self, DatasetError, RunRows, Table, place};
use crate::store::{Database, Merged, Outcome, StoreError, remove_abandoned};

/// Bytes of files whose runs are read at once, at most, if they are of several days.
const BYTES_AT_ONCE: u64 = 1 << 30;

/// What a command has done with the files of its runs, and what it knows of where they go.
#[derive(Debug, Default)]
struct Written {
    new: usize,
    changed: usize,
    same: usize,
    /// Days that have been found to take files of single runs.
    days: HashSet<String>,
    /// The runs, also those whose files are what they were.
    uids: Vec<String>,
}

/// Writes runs of a database into a dataset.
pub(super) fn export(
    source: &Database,
    runs: &[i64],
    out: &Path,
    stop: &Stop,
) -> Result<(), Failure> {
    begin(out)?;
    let progress = Progress::new("writing");
    let mut written = Written::default();
    for (at, run) in runs.iter().enumerate() {
        if stop.is_set() {
            return Err(interrupted(at, runs.len(), out));
        }
        progress.says(format!("writing run {} of {}", at + 1, runs.len()));
        match export_run(source, *run, out, stop, &mut written) {
            Err(Failure::Interrupted) => return Err(interrupted(at, runs.len(), out)),
            outcome => outcome?,
        }
    }
    if written.new + written.changed > 0 {
        progress.says("waiting for the disk".to_owned());
        sync(out).map_err(|error| {
            unwritten(
                &format!("{}: cannot write the dataset", out.display()),
                error,
            )
        })?;
    }
    drop(progress);
    let Written {
        new,
        changed,
        same,
        uids,
        ..
    } = written;
    if let Some(fault) = of_several_days(out, &uids) {
        say(format!("{fault}: query engines count each copy"));
    }
    line(format!(
        "{}: {}: {new} new, {changed} changed, {same} unchanged",
        out.display(),
        counted((new + changed + same) as u64, "run")
    ))
}

/// Waits until what was written would survive a loss of power: the database that it is from may be deleted next.
#[cfg(target_os = "linux")]
fn sync(out: &Path) -> io::Result<()> {
    Ok(rustix::fs::syncfs(File::open(out)?)?)
}

#[cfg(not(target_os = "linux"))]
fn sync(out: &Path) -> io::Result<()> {
    let mut folders = vec![out.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                File::open(entry.path())?.sync_all()?;
            }
        }
    }
    Ok(())
}

fn interrupted(done: usize, all: usize, out: &Path) -> Failure {
    complain(
        format!("interrupted, {done} of {all} runs are in {}", out.display()),
        Failure::Interrupted,
    )
}

/// Makes the folder of a dataset, or finds that it is one.
fn begin(out: &Path) -> Result<(), Failure> {
    let refuse = |fault: String| Err(complain(format!("--out: {fault}"), Failure::Usage));
    let name = out.display();
    let failed = |error| unwritten(&format!("{name}: cannot write the dataset"), error);
    match fs::metadata(out) {
        Ok(found) if !found.is_dir() => {
            return refuse(format!("{name} is a file: expected a folder"));
        }
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs::create_dir_all(out).map_err(failed)?;
        }
        Err(error) => return Err(failed(error)),
    }
    let text = about::about();
    // Before it is known whether the folder is a dataset: another program may be making one of it.
    let is_empty = is_without_files(out).map_err(failed)?;
    match read_about(out) {
        Ok(Some(found)) => {
            if let Err(fault) = about::check(&found) {
                return refuse(format!("{}: {fault}", out.join(ABOUT).display()));
            }
            if found == text.as_bytes() {
                return Ok(());
            }
        }
        Ok(None) if is_empty => {}
        Ok(None) => {
            return refuse(format!(
                "{name} is not empty and has no {ABOUT}; expected a dataset or an empty directory"
            ));
        }
        Err(fault) => return refuse(fault),
    }
    let file = out.join(ABOUT);
    let put = || -> io::Result<()> {
        let mut draft = Draft::new_of(&file)?;
        io::Write::write_all(&mut draft, text.as_bytes())?;
        draft.finish()
    };
    put().map_err(|error| unwritten(&format!("{}: cannot write it", file.display()), error))
}

/// Whether nothing is in a folder but what is being written, whose names begin with a dot.
fn is_without_files(folder: &Path) -> io::Result<bool> {
    for entry in fs::read_dir(folder)? {
        if !entry?.file_name().as_encoded_bytes().starts_with(b".") {
            return Ok(false);
        }
    }
    Ok(true)
}

/// What the file says that makes a folder a dataset; `None` if there is none.
fn read_about(folder: &Path) -> Result<Option<Vec<u8>>, String> {
    let path = folder.join(ABOUT);
    let name = path.display();
    match fs::symlink_metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("{name}: {error}")),
        Ok(found) if !found.is_file() => {
            return Err(format!("{name}: expected a file, found {}", kind(&found)));
        }
        Ok(_) => {}
    }
    let mut text = Vec::new();
    let read = File::open(&path).and_then(|file| file.take(MOST_BYTES).read_to_end(&mut text));
    read.map_err(|error| format!("{name}: {error}"))?;
    Ok(Some(text))
}

/// What something is that was to be a file or a folder.
fn kind(found: &fs::Metadata) -> &'static str {
    if found.is_symlink() {
        "a symbolic link"
    } else if found.is_dir() {
        "a folder"
    } else if found.is_file() {
        "a file"
    } else {
        "something else"
    }
}

/// Refuses a table of which an engine has put files of a day together: a run of it would be there twice.
fn takes_runs(out: &Path, table: &Table, day: &str) -> Result<(), Failure> {
    for file in files(out, table, day)? {
        if !is_of_run(&file) {
            let name = file.display();
            return Err(complain(
                format!(
                    "--out: {name}: the file has several runs, so a run of this day could be stored twice; export into \
                     another directory"
                ),
                Failure::Usage,
            ));
        }
    }
    Ok(())
}

/// Writes the files of a run.
fn export_run(
    source: &Database,
    run: i64,
    out: &Path,
    stop: &Stop,
    written: &mut Written,
) -> Result<(), Failure> {
    let failed = |error| not_written(error, out, stop);
    // Another program may have deleted it since.
    let Some(rows) = RunRows::open(source, run).map_err(failed)? else {
        return Ok(());
    };
    let (day, uid) = (place::day(&rows.run), rows.run.run_uid.as_str());
    if !written.days.contains(day) {
        for table in RunRows::in_order() {
            let file = place::file(out, table.name, day, uid);
            let about = format!("{}: cannot write it", file.display());
            ready(&file).map_err(|error| unwritten(&about, error))?;
            takes_runs(out, table, day)?;
        }
        written.days.insert(day.to_owned());
    }
    let (mut is_new, mut is_changed) = (false, false);
    for table in RunRows::in_order() {
        let file = place::file(out, table.name, day, uid);
        let about = format!("{}: cannot write it", file.display());
        let is_there = ready(&file).map_err(|error| unwritten(&about, error))?;
        let put = || -> Result<bool, DatasetError> {
            let mut draft = Draft::new_of(&file)?;
            rows.write(table, &mut draft)?;
            if stop.is_set() {
                return Err(StoreError::from(crate::source::Stopped).into());
            }
            let is_same = is_there && draft.is_what_is_there()?;
            if !is_same {
                draft.finish()?;
            }
            Ok(is_same)
        };
        let is_same = put().map_err(|error| match error {
            DatasetError::File(error) => unwritten(&about, error),
            error => failed(error),
        })?;
        is_new |= table.name == "runs" && !is_there;
        is_changed |= !is_same;
    }
    if day != place::UNKNOWN {
        forget_unknown(out, uid)?;
    }
    written.uids.push(uid.to_owned());
    match (is_new, is_changed) {
        (true, _) => written.new += 1,
        (false, true) => written.changed += 1,
        (false, false) => written.same += 1,
    }
    Ok(())
}

/// Makes the folders of a file, and says whether the file is there.
fn ready(file: &Path) -> io::Result<bool> {
    let day = folder_of(file);
    for path in [folder_of(day), day] {
        match fs::symlink_metadata(path) {
            Ok(found) if found.is_dir() => {}
            Ok(found) => return Err(unexpected("a folder", path, &found)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => match fs::create_dir(path) {
                // Another export has made it meanwhile.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => made?,
            },
            Err(error) => return Err(error),
        }
    }
    match fs::symlink_metadata(file) {
        Ok(found) if found.is_file() => Ok(true),
        Ok(found) => Err(unexpected("a file", file, &found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn unexpected(expected: &str, path: &Path, found: &fs::Metadata) -> io::Error {
    let message = format!(
        "{}: expected {expected}, found {}",
        path.display(),
        kind(found)
    );
    io::Error::other(message)
}

/// Removes a run from the day of those whose day is unknown: an earlier version of profdb may not have understood when it was
/// recorded. Its row in `runs` goes first, as that says that the run is there.
fn forget_unknown(out: &Path, uid: &str) -> Result<(), Failure> {
    for table in &dataset::TABLES {
        let of_day = place::folder(out, table.name, place::UNKNOWN);
        let file = place::file(out, table.name, place::UNKNOWN, uid);
        let removed = match fs::symlink_metadata(&of_day) {
            Ok(found) if !found.is_dir() => Err(unexpected("a folder", &of_day, &found)),
            Ok(_) => fs::remove_file(&file),
            Err(error) => Err(error),
        };
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                let about = format!("{}: cannot remove it", file.display());
                return Err(unwritten(&about, error));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Reports why a run was not written.
fn not_written(error: DatasetError, out: &Path, stop: &Stop) -> Failure {
    match error {
        DatasetError::Store(error) => database(error, stop),
        DatasetError::File(error) => unwritten(
            &format!("{}: cannot write the dataset", out.display()),
            error,
        ),
        DatasetError::Content(fault) => complain(fault, Failure::Database),
    }
}

/// The files of one day.
struct Day {
    name: String,
    bytes: u64,
    /// Names of the files of the table `runs`.
    runs: BTreeSet<OsString>,
}

impl Day {
    /// Whether a file is of a run that is not there: it is being written or copied, or was left by a program that has ended. A run is
    /// there when its file in `runs` is; where engines have put those together, rows say which runs there are.
    fn is_of_no_run(&self, file: &Path) -> bool {
        let is_named = |name: &OsString| is_of_run(Path::new(name));
        is_of_run(file)
            && self.runs.iter().all(is_named)
            && file
                .file_name()
                .is_some_and(|name| !self.runs.contains(name))
    }
}

/// Brings the runs of datasets into a database.
pub(super) fn import(
    folders: &[PathBuf],
    arguments: &DatabaseArgs,
    wait: &WaitArgs,
    stop: &Stop,
) -> Result<(), Failure> {
    let mut outcome = Ok(());
    for folder in folders {
        match import_one(folder, &arguments.path(), wait, stop) {
            Err(failure @ (Failure::Input | Failure::Output)) => {
                outcome = outcome.and(Err(failure));
            }
            imported => imported?,
        }
    }
    outcome
}

fn import_one(folder: &Path, target: &Path, wait: &WaitArgs, stop: &Stop) -> Result<(), Failure> {
    let name = folder.display();
    match fs::metadata(folder) {
        Err(error) => return Err(complain(format!("{name}: {error}"), unread(&error))),
        Ok(found) if !found.is_dir() => {
            return Err(complain(
                format!("{name} is not a directory; expected a dataset"),
                Failure::Input,
            ));
        }
        Ok(_) => {}
    }
    let fault = match read_about(folder) {
        Ok(Some(text)) => about::check(&text)
            .map_err(|fault| format!("{}: {fault}", folder.join(ABOUT).display())),
        Ok(None) => Err(format!("{name} has no {ABOUT}: expected a dataset")),
        Err(fault) => Err(fault),
    };
    fault.map_err(|fault| complain(fault, Failure::Input))?;
    let days = days(folder)?;
    if days.iter().all(|day| day.runs.is_empty()) {
        let fault = format!("{name} has no runs: its table `runs` has no files");
        return Err(complain(fault, Failure::Input));
    }
    let files = days.iter().flat_map(|day| {
        let of_day = place::folder(folder, dataset::TABLES[0].name, &day.name);
        day.runs.iter().map(move |name| of_day.join(name))
    });
    if let Some(fault) = on_several_days(files) {
        return Err(complain(fault, Failure::Input));
    }
    for day in &days {
        if let Some(missing) = missing(folder, day)? {
            let fault = format!(
                "{} is missing: each run has a file in every table",
                missing.display()
            );
            return Err(complain(fault, Failure::Input));
        }
    }
    remove_abandoned(target);
    let progress = Progress::new("reading");
    let mut group: Vec<&Day> = Vec::new();
    let mut bytes = 0;
    for (at, day) in days.iter().enumerate() {
        group.push(day);
        bytes += day.bytes;
        let next = days.get(at + 1).map(|next| next.bytes);
        if next.is_none_or(|next| bytes + next > BYTES_AT_ONCE) {
            import_days(folder, &group, target, wait, stop, &progress)?;
            group.clear();
            bytes = 0;
        }
    }
    Ok(())
}

/// The days of a dataset, in their order.
fn days(folder: &Path) -> Result<Vec<Day>, Failure> {
    let runs = folder.join("runs");
    let mut days = Vec::new();
    for name in names(&runs)? {
        let Some(day) = name.strip_prefix(place::PARTITION) else {
            continue;
        };
        let mut bytes = 0;
        for table in &dataset::TABLES {
            for file in files(folder, table, day)? {
                bytes += fs::symlink_metadata(&file).map_or(0, |found| found.len());
            }
        }
        days.push(Day {
            name: day.to_owned(),
            bytes,
            runs: files(folder, &dataset::TABLES[0], day)?
                .iter()
                .filter_map(|file| Some(file.file_name()?.to_owned()))
                .collect(),
        });
    }
    Ok(days)
}

/// A file of a run that is not there though others of the run are. Engines that make large files of small ones give them other names,
/// and none to tables without rows: of a day with such files, only tables are looked at whose files are those of runs.
fn missing(folder: &Path, day: &Day) -> Result<Option<PathBuf>, Failure> {
    let mut found = Vec::new();
    for table in &dataset::TABLES {
        found.push((table, files(folder, table, &day.name)?));
    }
    let mut all = found.iter().flat_map(|(_, files)| files);
    let is_as_written = all.all(|file| is_of_run(file));
    for (table, files) in &found {
        if !is_as_written && (files.is_empty() || !files.iter().all(|file| is_of_run(file))) {
            continue;
        }
        let there: HashSet<_> = files.iter().filter_map(|file| file.file_name()).collect();
        let mut runs = day.runs.iter().map(OsString::as_os_str);
        let missing = runs.find(|name| is_of_run(Path::new(name)) && !there.contains(name));
        if let Some(name) = missing {
            let of_day = place::folder(folder, table.name, &day.name);
            return Ok(Some(of_day.join(name)));
        }
    }
    Ok(None)
}

/// Whether there is a folder. What else there is in its place, a link for instance, is refused.
fn is_there(folder: &Path) -> Result<bool, Failure> {
    match fs::symlink_metadata(folder) {
        Ok(found) if found.is_dir() => Ok(true),
        Ok(found) => Err(unlisted(folder, &unexpected("a folder", folder, &found))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(unlisted(folder, &error)),
    }
}

/// Reports why the names in a folder are unknown.
fn unlisted(folder: &Path, error: &io::Error) -> Failure {
    complain(format!("{}: {error}", folder.display()), unread(error))
}

/// The names in a folder, sorted; none if there is no such folder. Names that are no text are none of a dataset.
fn names(folder: &Path) -> Result<Vec<String>, Failure> {
    if !is_there(folder)? {
        return Ok(Vec::new());
    }
    let failed = |error: io::Error| unlisted(folder, &error);
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        names.extend(entry.map_err(failed)?.file_name().into_string().ok());
    }
    names.sort_unstable();
    Ok(names)
}

/// The files of a table on a day. Names that begin with a dot or an underscore are of what is being written, or of engines.
fn files(folder: &Path, table: &Table, day: &str) -> Result<Vec<PathBuf>, Failure> {
    // A link in the place of the table's folder is refused like one in the place of the day's.
    if !is_there(&folder.join(table.name))? {
        return Ok(Vec::new());
    }
    let folder = place::folder(folder, table.name, day);
    let names = names(&folder)?.into_iter().filter(|name| {
        !name.starts_with(['.', '_'])
            && Path::new(name)
                .extension()
                .is_some_and(|ending| ending == place::ENDING)
    });
    Ok(names.map(|name| folder.join(name)).collect())
}

/// Remembers a failure that has been reported.
fn said(failure: Failure, is_said: &mut Option<Failure>) -> DatasetError {
    *is_said = Some(failure);
    DatasetError::Content(String::new())
}

/// Brings the runs of some days into the database, all of them or none.
fn import_days(
    folder: &Path,
    days: &[&Day],
    target: &Path,
    wait: &WaitArgs,
    stop: &Stop,
    progress: &Progress,
) -> Result<(), Failure> {
    let failed = |error| match database(error, stop) {
        Failure::Interrupted if !limits::is_memory_out() => complain(
            format!(
                "interrupted: the rest of {} was not imported",
                folder.display()
            ),
            Failure::Interrupted,
        ),
        failure => failure,
    };
    let scratch = Scratch::new(folder_of(target)).map_err(|error| {
        let name = folder_of(target).display().to_string();
        unwritten(&format!("{name}: cannot make a folder there"), error)
    })?;
    // The database of their rows is nothing that the user knows.
    let contradicting = |error| match error {
        StoreError::Unsound { path, findings } if path.starts_with(scratch.path()) => complain(
            format!(
                "{}: its files contradict each other: {findings} checks of their rows failed",
                folder.display()
            ),
            Failure::Input,
        ),
        StoreError::Inconsistent { path, what } if path.starts_with(scratch.path()) => complain(
            format!(
                "{}: its files contradict each other: {what}",
                folder.display()
            ),
            Failure::Input,
        ),
        error => failed(error),
    };
    let mut at = folder.to_owned();
    let mut is_said = None;
    let filled = Database::filled(
        &scratch.path().join("dataset.db"),
        lock_wait(stop),
        |rows| {
            dataset::read(
                rows,
                &mut |table, each| {
                    for day in days {
                        let found = files(folder, table, &day.name);
                        for file in found.map_err(|failure| said(failure, &mut is_said))? {
                            if day.is_of_no_run(&file) {
                                continue;
                            }
                            at.clone_from(&file);
                            let found = fs::symlink_metadata(&file)?;
                            if !found.is_file() {
                                return Err(unexpected("a file", &file, &found).into());
                            }
                            each(File::open(&file)?)?;
                        }
                    }
                    // What is found when all have been read is in none of them by itself.
                    folder.clone_into(&mut at);
                    Ok(())
                },
                stop,
            )
        },
    );
    let filled = filled.map_err(|error| match error {
        _ if is_said.is_some() => is_said.unwrap_or(Failure::Input),
        DatasetError::Store(error) => contradicting(error),
        DatasetError::File(error) => complain(format!("{}: {error}", at.display()), unread(&error)),
        DatasetError::Content(fault) => {
            complain(format!("{}: {fault}", at.display()), Failure::Input)
        }
    })?;
    let mut target = Database::open_waiting(target, wait.lock_wait(stop)).map_err(failed)?;
    target.heed(stop.clone()).map_err(failed)?;
    let merged = target.merge(&[filled], &mut |rows| {
        progress.says(format!("importing, {rows} rows"));
    });
    let merged = merged.map_err(contradicting);
    for Merged {
        run,
        outcome,
        nodes,
        ..
    } in merged?
    {
        let name = folder.display();
        match outcome {
            Outcome::Stored(new) => {
                let extent = extent(&target, new, nodes.unsigned_abs()).map_err(failed)?;
                line(format!("{name}: run {new}, {extent}"))?;
            }
            Outcome::AlreadyThere(there) => {
                say(format!(
                    "{name}: run {run} is already stored as run {there}"
                ));
            }
        }
    }
    Ok(())
}
