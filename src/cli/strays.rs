//! Copies of runs in the folders of datasets for other days than the runs' own: engines would count such a run for each.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::dataset::place;

/// What there is to say of the runs of a dataset that are on several days.
pub(super) fn runs_of_several_days(dataset: &Path) -> Option<String> {
    on_several_days(days(dataset).iter().flat_map(|day| entries(day)))
}

/// The same of some runs only, by their uids: of a dataset with many, no more is looked for.
#[cfg(feature = "parquet")]
pub(super) fn of_several_days(dataset: &Path, uids: &[String]) -> Option<String> {
    let days = days(dataset);
    if days.len() < 2 {
        return None;
    }
    on_several_days(days.iter().flat_map(|day| {
        let files = uids.iter().map(|uid| place::named(day, uid));
        files.filter(|file| fs::symlink_metadata(file).is_ok())
    }))
}

/// What there is to say of files of the table `runs` that are of one run, as far as their names tell: those that engines have put
/// together have others. Which day is a run's own only its row tells.
pub(super) fn on_several_days(files: impl Iterator<Item = PathBuf>) -> Option<String> {
    let mut first: HashMap<OsString, PathBuf> = HashMap::new();
    let mut found: Option<String> = None;
    let mut more = 0;
    for file in files {
        let Some(name) = file.file_name().filter(|_| is_of_run(&file)) else {
            continue;
        };
        let Some(other) = first.get(name) else {
            first.insert(name.to_owned(), file);
            continue;
        };
        if found.is_some() {
            more += 1;
            continue;
        }
        found = Some(format!(
            "{} and {} are the same run in two day partitions: delete the copy whose day differs from recorded_utc, in \
             every table",
            other.display(),
            file.display()
        ));
    }
    found.map(|found| match more {
        0 => found,
        more => format!("{found}; {more} more runs are affected"),
    })
}

/// The folders of days in the table `runs`, in their order.
fn days(dataset: &Path) -> Vec<PathBuf> {
    let mut days = entries(&dataset.join("runs"));
    days.retain(|day| {
        let name = day.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with(place::PARTITION))
    });
    days
}

/// What is in a folder, in the order of the names; nothing if it cannot be read.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut entries: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    entries.sort_unstable();
    entries
}

/// Whether the name of a file is that of a run.
pub(super) fn is_of_run(file: &Path) -> bool {
    let ending = file.extension();
    let stem = file.file_stem().and_then(|stem| stem.to_str());
    ending.is_some_and(|ending| ending == place::ENDING) && stem.is_some_and(place::is_name)
}
