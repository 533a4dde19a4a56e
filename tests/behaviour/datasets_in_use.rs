//! Datasets that others look at while they are written and copied: what is not there as a whole is not there, and what others have of
//! them stays as it is.

#![cfg(all(target_os = "linux", feature = "parquet"))]
#![expect(clippy::disallowed_methods, reason = "small files of our own")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::datasets::{bytes, done, import, runs, some, tried};
use crate::support::case_files::repository_path;
use crate::support::faults::{calls, content, profdb, same, text, with_fault};

const EXPORT: [&str; 7] = [
    "export", "--db", "a.db", "--format", "parquet", "--out", "d",
];
const IMPORT: [&str; 6] = ["import", "--from", "dataset", "--db", "b.db", "d"];

/// A run is there when its file in `runs` is: files of others are being written or copied.
#[test]
fn a_run_that_is_not_there_yet_keeps_no_other_away() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let dataset = path.join("d");
    import(path, "a.db", &some()[..1]);
    done(path, &EXPORT);
    done(path, &IMPORT);
    let expected = content(&path.join("b.db"), 0);
    let first = runs(&dataset);
    import(path, "a.db", &some()[1..2]);
    done(path, &EXPORT);
    let second = runs(&dataset);
    let second = second
        .iter()
        .find(|run| !first.contains(run))
        .expect("another run");
    let uid = second.rsplit('/').next().expect("a name");
    fs::remove_file(dataset.join(second)).expect("it is there");
    let again = |what: &str| {
        fs::remove_file(path.join("b.db")).expect("it was made");
        let ended = tried(path, &IMPORT);
        assert!(ended.status.success(), "{what}: {}", text(&ended.stderr));
        same(&content(&path.join("b.db"), 0), &expected, what);
    };
    again("its row is not there");
    // Nor are its files looked at, whatever is in them.
    let is_of_it = |name: &Path| name.ends_with(uid);
    let nodes = bytes(&dataset)
        .into_keys()
        .find(|name| name.starts_with("nodes") && is_of_it(name))
        .expect("a file of each table");
    let nodes = dataset.join(nodes);
    let whole = fs::read(&nodes).expect("it is there");
    fs::write(&nodes, "half").expect("room");
    again("half a file");
    fs::write(&nodes, whole).expect("room");
    for name in bytes(&dataset).into_keys() {
        if name.extension().is_some_and(|ending| ending == "parquet") {
            let part = format!(
                "part-{}",
                name.file_name().expect("a name").to_string_lossy()
            );
            let file = dataset.join(&name);
            fs::rename(&file, file.with_file_name(part)).expect("room");
        }
    }
    again("files by names of an engine");
}

/// Files get their place as new ones: a snapshot that is made of hard links has what it had.
#[test]
fn a_snapshot_of_links_stays_as_it_is() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let (dataset, snapshot) = (path.join("d"), path.join("snapshot"));
    import(path, "a.db", &some()[..1]);
    done(path, &EXPORT);
    let before = bytes(&dataset);
    for name in before.keys() {
        let to = snapshot.join(name);
        fs::create_dir_all(to.parent().expect("a folder")).expect("room");
        fs::hard_link(dataset.join(name), to).expect("links");
    }
    let run = dataset.join(&runs(&dataset)[0]);
    fs::set_permissions(&run, fs::Permissions::from_mode(0o640)).expect("it is ours");
    done(path, &["tag", "--db", "a.db", "1", "later=yes"]);
    let said = done(path, &EXPORT);
    assert!(said.contains(": 0 new, 1 changed, 0 unchanged"), "{said}");
    assert_eq!(bytes(&snapshot), before);
    assert_ne!(bytes(&dataset), before);
    let mode = fs::metadata(&run).expect("it is there").permissions();
    assert_eq!(mode.mode() & 0o777, 0o640);
}

/// What an import that was killed has left beside the database goes with the next one.
#[test]
fn what_a_killed_import_has_left_is_removed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    import(path, "a.db", &some()[..1]);
    done(path, &EXPORT);
    let place = path.join("here");
    fs::create_dir(&place).expect("room");
    let arguments = ["import", "--from", "dataset", "--db", "b.db", "../d"];
    let log = tempfile::NamedTempFile::new().expect("a file");
    let mut command = profdb(&place, &arguments);
    with_fault(&mut command, &place, log.path(), 0, "");
    let first = command.output().expect("the program is there");
    assert!(first.status.success(), "{first:?}");
    fs::remove_file(place.join("b.db")).expect("it was made");
    let calls = calls(log.path()).len();
    let names = || {
        let entries = fs::read_dir(&place).expect("it is there");
        let names = entries.map(|entry| entry.expect("a file").file_name());
        let mut names: Vec<_> = names.filter_map(|name| name.into_string().ok()).collect();
        names.sort();
        names
    };
    let mut left = 0;
    for eighth in 1..8 {
        let mut command = profdb(&place, &arguments);
        with_fault(
            &mut command,
            &place,
            Path::new("/dev/null"),
            calls * eighth / 8,
            "kill",
        );
        let _ = command.output().expect("the program is there");
        left += usize::from(names().iter().any(|name| name.contains("-scratch-")));
        done(&place, &arguments);
        assert_eq!(names(), ["b.db"], "killed at {eighth} of 8");
        fs::remove_file(place.join("b.db")).expect("it was made");
    }
    assert!(left > 0, "it was never killed while it had one");
}

/// A run of a known day is removed from the unknown one, where an earlier version has put it; a file elsewhere stays, whatever its name.
#[test]
fn nothing_is_removed_through_a_link() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let profile = repository_path("tests/cases/ghc_prof/minimal/run.prof");
    let profile = profile.to_str().expect("plain");
    done(path, &["import", "--db", "a.db", profile]);
    done(path, &EXPORT);
    let run = runs(&path.join("d"));
    let [table, day, name] = run[0].split('/').collect::<Vec<_>>()[..] else {
        panic!("{run:?}")
    };
    assert_ne!(day, "day=unknown", "{table}");
    let elsewhere = path.join("elsewhere");
    fs::create_dir(&elsewhere).expect("room");
    fs::write(elsewhere.join(name), "mine").expect("room");
    let link = path.join("d/nodes/day=unknown");
    symlink(&elsewhere, &link).expect("links");
    let ended = tried(path, &EXPORT);
    let said = text(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{said}");
    let expected = format!(
        "d/nodes/day=unknown/{name}: cannot remove it: d/nodes/day=unknown: expected a folder, found a symbolic link"
    );
    assert!(said.contains(&expected), "{said}");
    assert_eq!(
        fs::read_to_string(elsewhere.join(name)).expect("it stays"),
        "mine"
    );
    fs::remove_file(link).expect("it is there");
    done(path, &EXPORT);
}
