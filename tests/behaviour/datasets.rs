//! Datasets of Parquet files: they lose nothing, are united by copying, and are never half a file, whatever happens while they are
//! written.

#![cfg(all(target_os = "linux", feature = "parquet"))]
#![expect(clippy::disallowed_methods, reason = "small files of our own")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::SystemTime;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use profdb::dataset::DatasetError;
use profdb::store::{Cell, Database, LockWait};
use sha2::{Digest, Sha256};

use crate::support::case_files::{entries, repository_path};
use crate::support::faults::{
    calls, content, content_of_tables, profdb, profiles, same, text, with_fault,
};
use crate::support::long;
use crate::support::random::Random;

/// Runs the program in a folder, which has to end well.
pub(super) fn done(folder: &Path, arguments: &[&str]) -> String {
    let done = profdb(folder, arguments)
        .output()
        .expect("the program is there");
    assert!(
        done.status.success(),
        "{arguments:?}: {}",
        text(&done.stderr)
    );
    text(&done.stdout)
}

pub(super) fn tried(folder: &Path, arguments: &[&str]) -> Output {
    profdb(folder, arguments)
        .output()
        .expect("the program is there")
}

/// All files below a folder, by their paths in it, with what is in them and when they were written.
fn files(folder: &Path) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).expect("it is there") {
            let path = entry.expect("it can be read").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let bytes = Sha256::digest(fs::read(&path).expect("it can be read")).to_vec();
            let written = fs::metadata(&path).and_then(|about| about.modified());
            let name = path.strip_prefix(folder).expect("it is below").to_owned();
            found.insert(name, (bytes, written.expect("a time")));
        }
    }
    found
}

/// The same without the times.
pub(super) fn bytes(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = files(folder).into_iter();
    files.map(|(name, (bytes, _))| (name, bytes)).collect()
}

/// The uid of a run of `a.db`.
fn uid(folder: &Path, run: i64) -> String {
    let sql = format!("SELECT run_uid FROM runs WHERE run_id = {run}");
    let told = done(folder, &["sql", "--db", "a.db", "--format", "jsonl", &sql]);
    let row: serde_json::Value = serde_json::from_str(&told).expect("a row");
    row["run_uid"].as_str().expect("a text").to_owned()
}

/// The names of runs that a dataset has, from the files of the table that says so.
pub(super) fn runs(dataset: &Path) -> Vec<String> {
    let files = bytes(dataset).into_keys();
    let runs = files.filter(|name| name.starts_with("runs"));
    runs.map(|name| name.to_string_lossy().into_owned())
        .collect()
}

/// Profiles of all formats, long ones, and one that has a source.
pub(super) fn import(folder: &Path, database: &str, profiles: &[PathBuf]) {
    let source = repository_path("tests/cases/cli/code");
    let source = source.to_str().expect("plain");
    for (at, profile) in profiles.iter().enumerate() {
        let tag = format!("place=p{at}");
        let profile = profile.to_str().expect("plain");
        let arguments = [
            "import",
            "--db",
            database,
            "--tag",
            &tag,
            "--tag",
            "host=ro't\\x",
            "--source",
            source,
            profile,
        ];
        done(folder, &arguments);
    }
}

pub(super) fn some() -> Vec<PathBuf> {
    let code = entries(&repository_path("tests/cases/cli/code"));
    let code = code.into_iter().filter(|path| path.is_file()).take(1);
    let profiles = profiles();
    let mut some: Vec<PathBuf> = profiles
        .short
        .iter()
        .chain(&profiles.long)
        .cloned()
        .collect();
    some.extend(code);
    some.push(repository_path("tests/cases/pprof/labels/run.pb"));
    some
}

#[test]
fn a_run_without_paths_is_no_empty_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let sample = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/samples/pstats/work.pstats"
    );
    let at = folder.path();
    let extent = "run 1, 280 functions, 465 edges\n";
    let said = done(at, &["import", "--db", "a.db", sample]);
    assert!(said.ends_with(extent), "{said}");
    done(
        at,
        &[
            "export", "--db", "a.db", "--format", "parquet", "--out", "dataset",
        ],
    );
    let said = done(
        at,
        &["import", "--from", "dataset", "--db", "b.db", "dataset"],
    );
    assert_eq!(said, format!("dataset: {extent}"));
}

#[test]
fn runs_of_all_cases_come_back_table_by_table() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let groups: &[&str] = if long::is_long() {
        &["tests/cases"]
    } else {
        &["tests/cases/dyalog_xml", "tests/cases/pprof"]
    };
    let groups: Vec<PathBuf> = groups.iter().map(|group| repository_path(group)).collect();
    let mut arguments = vec!["import", "--db", "a.db", "--tag", "commit_count=7"];
    arguments.extend(groups.iter().map(|group| group.to_str().expect("plain")));
    // Some cases are refused.
    let imported = tried(path, &arguments);
    assert!(
        matches!(imported.status.code(), Some(0 | 3)),
        "{}",
        text(&imported.stderr)
    );
    import(path, "a.db", &some());
    let all = content_of_tables(&path.join("a.db"));
    for table in [
        "node_costs",
        "node_labels",
        "line_info",
        "notes",
        "source_texts",
        "run_properties",
        "run_tags",
    ] {
        assert!(!all[table].is_empty(), "nothing is said of {table}");
    }
    done(
        path,
        &[
            "export", "--db", "a.db", "--format", "parquet", "--out", "d",
        ],
    );
    done(path, &["import", "--from", "dataset", "--db", "b.db", "d"]);
    done(path, &["check", "--db", "b.db"]);
    same(
        &content_of_tables(&path.join("b.db")),
        &all,
        "from a dataset",
    );
    // What came back is exported as the same bytes.
    done(
        path,
        &[
            "export", "--db", "b.db", "--format", "parquet", "--out", "e",
        ],
    );
    assert_eq!(bytes(&path.join("d")), bytes(&path.join("e")));
    // Once more changes nothing, neither a database nor a dataset.
    let before = files(&path.join("d"));
    let said = done(
        path,
        &[
            "export", "--db", "a.db", "--format", "parquet", "--out", "d",
        ],
    );
    assert!(said.contains(" runs: 0 new, 0 changed, "), "{said}");
    assert_eq!(files(&path.join("d")), before);
    let database = fs::read(path.join("b.db")).expect("it is there");
    done(path, &["import", "--from", "dataset", "--db", "b.db", "d"]);
    assert_eq!(fs::read(path.join("b.db")).expect("it is there"), database);
}

#[test]
fn a_run_that_two_databases_have_is_there_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let profiles = some();
    // One database numbers other functions and nodes before those of the run that both have.
    let both = &profiles[2..3];
    for (database, own) in [("a.db", &profiles[0..2]), ("b.db", &profiles[3..6])] {
        import(path, database, own);
        let both = both[0].to_str().expect("plain");
        done(path, &["import", "--db", database, "--tag", "both=1", both]);
        done(
            path,
            &[
                "export", "--db", database, "--format", "parquet", "--out", "one",
            ],
        );
        done(
            path,
            &[
                "export",
                "--db",
                database,
                "--format",
                "parquet",
                "--out",
                &database[..1],
            ],
        );
    }
    assert_eq!(runs(&path.join("one")).len(), 6);
    // United by copying.
    fs::create_dir(path.join("copied")).expect("a folder");
    for dataset in ["a", "b"] {
        for name in bytes(&path.join(dataset)).into_keys() {
            let to = path.join("copied").join(&name);
            fs::create_dir_all(to.parent().expect("a folder")).expect("a folder");
            fs::copy(path.join(dataset).join(&name), to).expect("room");
        }
    }
    assert_eq!(bytes(&path.join("copied")), bytes(&path.join("one")));
    done(
        path,
        &["import", "--from", "dataset", "--db", "all.db", "copied"],
    );
    done(path, &["merge", "merged.db", "a.db", "b.db"]);
    let count = |database| {
        done(
            path,
            &[
                "sql",
                "--db",
                database,
                "--format",
                "csv",
                "SELECT COUNT(*) AS n, SUM(functions) AS f FROM run_list",
            ],
        )
    };
    assert_eq!(count("all.db"), count("merged.db"));
    // Nodes are those of the run in every database, and so are all files of the run but the one that says when it was imported.
    let uid = uid(path, 3);
    let mut compared = 0;
    for (name, bytes_of_a) in bytes(&path.join("a")) {
        if name.to_string_lossy().contains(&uid) && name.starts_with("nodes") {
            compared += 1;
            assert_eq!(
                bytes(&path.join("b"))[&name],
                bytes_of_a,
                "{}",
                name.display()
            );
            let file = fs::File::open(path.join("a").join(name)).expect("it is there");
            let rows = SerializedFileReader::new(file).expect("Parquet");
            let first = rows
                .get_row_iter(None)
                .expect("rows")
                .next()
                .expect("a row")
                .expect("a row");
            let node = first.get_column_iter().find(|(name, _)| *name == "node_id");
            assert_eq!(node.map(|(_, field)| field.clone()), Some(Field::Long(1)));
        }
    }
    assert_eq!(compared, 1, "{uid}");
}

#[test]
fn a_partition_is_the_day_of_the_recording() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    import(path, "a.db", &some());
    done(
        path,
        &[
            "export", "--db", "a.db", "--format", "parquet", "--out", "d",
        ],
    );
    let sql = "SELECT COALESCE(substr(recorded_utc, 1, 10), 'unknown') || ' ' || run_uid AS place FROM runs ORDER BY place";
    let told = done(path, &["sql", "--db", "a.db", "--format", "csv", sql]);
    let expected: Vec<String> = told
        .lines()
        .skip(1)
        .map(|line| {
            let (day, uid) = line.trim_matches('"').split_once(' ').expect("two words");
            format!("runs/day={day}/{uid}.parquet")
        })
        .collect();
    assert!(expected.iter().any(|place| place.contains("day=unknown")));
    assert!(expected.iter().any(|place| place.contains("day=20")));
    assert_eq!(runs(&path.join("d")), expected);
    for (name, _) in files(&path.join("d")) {
        let name = name.to_string_lossy().into_owned();
        if name == "profdb-dataset.json" {
            continue;
        }
        let file = fs::File::open(path.join("d").join(&name)).expect("it is there");
        let rows = SerializedFileReader::new(file).expect("Parquet");
        let schema = rows.metadata().file_metadata().schema_descr();
        let columns = (0..schema.num_columns()).map(|at| schema.column(at).name().to_owned());
        assert!(!columns.into_iter().any(|column| column == "day"), "{name}");
    }
    // One file for each run and table.
    let count = done(
        path,
        &[
            "sql",
            "--db",
            "a.db",
            "--format",
            "csv",
            "SELECT COUNT(*) AS n FROM runs",
        ],
    );
    let count: usize = count
        .lines()
        .nth(1)
        .expect("a row")
        .parse()
        .expect("a number");
    assert_eq!(files(&path.join("d")).len(), 14 * count + 1);
    // A run that was of an unknown day before is not there twice.
    let known = expected
        .iter()
        .find(|place| !place.contains("unknown"))
        .expect("one of each");
    let day = known.split('/').nth(1).expect("a day");
    for name in bytes(&path.join("d")).into_keys() {
        let name = name.to_string_lossy().into_owned();
        if name.ends_with(known.rsplit('/').next().expect("a name")) {
            let to = path.join("d").join(name.replace(day, "day=unknown"));
            fs::rename(path.join("d").join(&name), to).expect("a file");
        }
    }
    done(
        path,
        &[
            "export", "--db", "a.db", "--format", "parquet", "--out", "d",
        ],
    );
    assert_eq!(runs(&path.join("d")), expected);
}

/// Engines may write the files of a day into few. Such a day takes no more: a run could be in one of them.
#[test]
fn a_day_of_which_files_were_put_together_is_not_added_to() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    import(path, "a.db", &some()[..1]);
    let export = || {
        tried(
            path,
            &[
                "export", "--db", "a.db", "--format", "parquet", "--out", "d",
            ],
        )
    };
    assert!(export().status.success());
    let nodes = path.join("d/nodes");
    let day = fs::read_dir(&nodes).expect("days").next().expect("a day");
    let day = day.expect("a day").path();
    let file = fs::read_dir(&day).expect("files").next().expect("a file");
    fs::rename(file.expect("a file").path(), day.join("part-0.parquet")).expect("a file");
    let before = bytes(&path.join("d"));
    let output = export();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(
        errors.contains("part-0.parquet: the file has several runs"),
        "{errors}"
    );
    assert_eq!(bytes(&path.join("d")), before);
}

#[test]
fn other_folders_and_links_are_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    import(path, "a.db", &some()[..2]);
    let export = |out: &str| {
        tried(
            path,
            &[
                "export", "--db", "a.db", "--format", "parquet", "--out", out,
            ],
        )
    };
    let refused = |out: &str, code: i32, expected: &str| {
        let before = bytes(path);
        let tried = export(out);
        let said = text(&tried.stderr);
        assert_eq!(tried.status.code(), Some(code), "{said}");
        assert!(said.contains(expected), "expected {expected}, found {said}");
        assert_eq!(bytes(path), before, "{said}");
    };
    fs::create_dir(path.join("photos")).expect("a folder");
    fs::write(path.join("photos/one.jpg"), "").expect("room");
    refused(
        "photos",
        2,
        "photos is not empty and has no profdb-dataset.json; expected a dataset or an empty directory",
    );
    refused("a.db", 2, "a.db is a file: expected a folder");
    let other = [
        (
            4,
            "the dataset has version 4, this profdb reads versions up to 3; use a newer profdb",
        ),
        (
            2,
            "the dataset has version 2, this profdb reads and writes version 3; export the runs again into an empty directory",
        ),
        (
            1,
            "the dataset has version 1, this profdb reads and writes version 3; export the runs again into an empty directory",
        ),
    ];
    for (version, expected) in other {
        let name = format!("version{version}");
        fs::create_dir(path.join(&name)).expect("a folder");
        let about = format!("{{\"format\": \"profdb-dataset\", \"version\": {version}}}");
        fs::write(path.join(&name).join("profdb-dataset.json"), about).expect("room");
        refused(&name, 2, expected);
        let read = tried(
            path,
            &["import", "--from", "dataset", "--db", "b.db", &name],
        );
        let stderr = text(&read.stderr);
        assert!(
            read.status.code() == Some(3) && stderr.contains(expected),
            "{stderr}"
        );
    }
    fs::create_dir(path.join("other")).expect("a folder");
    fs::write(path.join("other/profdb-dataset.json"), "{}").expect("room");
    refused("other", 2, "expected a file whose format is profdb-dataset");
    // An empty folder is taken, as is one that a link leads to, but nothing below it is reached by one.
    fs::create_dir(path.join("empty")).expect("a folder");
    symlink(path.join("empty"), path.join("link")).expect("a link");
    assert!(export("link").status.success());
    assert_eq!(runs(&path.join("empty")).len(), 2);
    fs::rename(path.join("empty/nodes"), path.join("elsewhere")).expect("a folder");
    symlink(path.join("elsewhere"), path.join("empty/nodes")).expect("a link");
    refused(
        "empty",
        1,
        "nodes: expected a folder, found a symbolic link",
    );
    let read = tried(
        path,
        &["import", "--from", "dataset", "--db", "b.db", "empty"],
    );
    assert_eq!(read.status.code(), Some(3));
    assert!(
        text(&read.stderr).contains("nodes: expected a folder, found a symbolic link"),
        "{}",
        text(&read.stderr)
    );
    fs::remove_file(path.join("empty/nodes")).expect("a link");
    fs::rename(path.join("elsewhere"), path.join("empty/nodes")).expect("a folder");
    let run = path.join("empty").join(&runs(&path.join("empty"))[0]);
    fs::rename(&run, path.join("moved")).expect("a file");
    symlink(path.join("moved"), &run).expect("a link");
    refused("empty", 1, "expected a file, found a symbolic link");
    // Flags that would mean nothing are refused.
    for more in [
        &["--metric", "time"][..],
        &["-o", "x"],
        &["--diff", "1", "2"],
    ] {
        let mut arguments = vec![
            "export", "--db", "a.db", "--format", "parquet", "--out", "x",
        ];
        arguments.extend(more);
        assert_eq!(tried(path, &arguments).status.code(), Some(2), "{more:?}");
    }
    assert_eq!(
        tried(path, &["export", "--db", "a.db", "--format", "parquet"])
            .status
            .code(),
        Some(2)
    );
    assert_eq!(
        tried(
            path,
            &["export", "--db", "a.db", "--format", "folded", "--out", "x"]
        )
        .status
        .code(),
        Some(2)
    );
    assert_eq!(
        tried(
            path,
            &["import", "--from", "dataset", "--tag", "a=b", "empty"]
        )
        .status
        .code(),
        Some(2)
    );
}

#[test]
fn files_are_whole_whenever_the_program_ends() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    import(path, "a.db", &some()[..3]);
    let arguments = [
        "export", "--db", "../a.db", "--format", "parquet", "--out", "d",
    ];
    let whole = path.join("whole");
    fs::create_dir(&whole).expect("a folder");
    let log = tempfile::NamedTempFile::new().expect("a file");
    let mut command = profdb(&whole, &arguments);
    with_fault(&mut command, &whole, log.path(), 0, "");
    let first = command.output().expect("the program is there");
    assert!(first.status.success(), "{first:?}");
    let expected = bytes(&whole.join("d"));
    let calls = calls(log.path()).len();
    let kinds = ["kill", "28", "int", "5"];
    for (sixth, what) in (0..12).zip(kinds.iter().cycle()) {
        let at = 1 + calls * sixth / 12;
        let place = path.join(format!("{at}-{what}"));
        fs::create_dir(&place).expect("a folder");
        let mut command = profdb(&place, &arguments);
        with_fault(&mut command, &place, Path::new("/dev/null"), at, what);
        let ended = command.output().expect("the program is there");
        let about = format!("{what} at {at} of {calls}: {}", text(&ended.stderr));
        assert!(
            matches!(ended.status.code(), None | Some(0..=2 | 5 | 130)),
            "{about}"
        );
        if *what == "28" && !ended.status.success() {
            assert!(
                text(&ended.stderr).contains("No space left on device"),
                "{about}"
            );
        }
        // What is there is what belongs there, and a run that is there is there in all tables.
        if place.join("d").is_dir() {
            let found = bytes(&place.join("d"));
            for (name, bytes) in &found {
                assert_eq!(
                    expected.get(name),
                    Some(bytes),
                    "{about}: {}",
                    name.display()
                );
            }
            for run in runs(&place.join("d")) {
                let of_run =
                    |name: &&PathBuf| name.to_string_lossy().ends_with(&run[run.len() - 20..]);
                assert_eq!(found.keys().filter(of_run).count(), 14, "{about}");
            }
        }
        done(&place, &arguments);
        assert_eq!(bytes(&place.join("d")), expected, "{about}");
    }
}

#[test]
fn two_exports_at_once_give_one_dataset() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    import(path, "a.db", &some()[..5]);
    import(path, "b.db", &some()[3..8]);
    let both: Vec<_> = ["a.db", "b.db", "a.db"]
        .iter()
        .map(|database| {
            let mut command = profdb(
                path,
                &[
                    "export", "--db", database, "--format", "parquet", "--out", "d",
                ],
            );
            command
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .expect("the program is there")
        })
        .collect();
    for program in both {
        let done = program.wait_with_output().expect("it ends");
        assert!(done.status.success(), "{done:?}");
    }
    assert_eq!(runs(&path.join("d")).len(), 10, "tags tell the runs apart");
    done(path, &["import", "--from", "dataset", "--db", "c.db", "d"]);
    done(path, &["check", "--db", "c.db"]);
}

#[test]
fn files_that_are_none_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    import(path, "a.db", &some()[..2]);
    done(
        path,
        &[
            "export", "--db", "a.db", "--format", "parquet", "--out", "d",
        ],
    );
    let uid = runs(&path.join("d"))[0]
        .rsplit('/')
        .next()
        .expect("a name")
        .to_owned();
    let names: Vec<PathBuf> = bytes(&path.join("d"))
        .into_keys()
        .filter(|name| name.ends_with(&uid))
        .collect();
    assert_eq!(names.len(), 14);
    for name in names {
        let file = path.join("d").join(&name);
        let good = fs::read(&file).expect("it is there");
        let mut cut = good.clone();
        cut.truncate(good.len() / 2);
        let mut other = good.clone();
        let middle = good.len() / 3;
        other[4..middle].fill(0xff);
        let table = name
            .components()
            .next()
            .expect("a folder")
            .as_os_str()
            .to_string_lossy()
            .into_owned();
        for (bad, what) in [
            (cut, "cut off"),
            (Vec::new(), "empty"),
            (other, "overwritten"),
        ] {
            fs::write(&file, bad).expect("room");
            let ended = tried(path, &["import", "--from", "dataset", "--db", "b.db", "d"]);
            let said = text(&ended.stderr);
            // What an empty table has in its first third is nothing that is read.
            let is_unread = what == "overwritten" && ended.status.success();
            assert!(
                is_unread || ended.status.code() == Some(3),
                "{table} {what}: {:?} {said}",
                ended.status
            );
            assert!(is_unread || said.contains(&uid), "{table} {what}: {said}");
            assert!(!said.contains("panicked"), "{table} {what}: {said}");
            if is_unread {
                fs::remove_file(path.join("b.db")).expect("it was made");
            }
            assert!(!path.join("b.db").exists(), "{table} {what}");
        }
        fs::write(&file, good).expect("room");
    }
    // Rows that do not go together are found by the checks of every merge.
    let other = runs(&path.join("d"))[1]
        .rsplit('/')
        .next()
        .expect("a name")
        .to_owned();
    let place = |table: &str, uid: &str| {
        let names = bytes(&path.join("d")).into_keys();
        let found = names
            .into_iter()
            .find(|name| name.starts_with(table) && name.ends_with(uid));
        path.join("d").join(found.expect("one of each"))
    };
    fs::copy(place("functions", &other), place("functions", &uid)).expect("room");
    let ended = tried(path, &["import", "--from", "dataset", "--db", "b.db", "d"]);
    assert_eq!(ended.status.code(), Some(3), "{}", text(&ended.stderr));
    assert!(
        text(&ended.stderr).contains("the run has no function"),
        "{}",
        text(&ended.stderr)
    );
    assert!(!path.join("b.db").exists());
    assert_ne!(other, uid);
}

/// Each run has a file in every table of the layout: a folder that was copied in part is said, table by table.
#[test]
fn a_missing_file_is_refused_by_its_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let dataset = path.join("d");
    import(path, "a.db", &some()[..2]);
    done(
        path,
        &[
            "export", "--db", "a.db", "--format", "parquet", "--out", "d",
        ],
    );
    let again = || tried(path, &["import", "--from", "dataset", "--db", "b.db", "d"]);
    let mut tables = 0;
    for name in bytes(&dataset).into_keys() {
        let is_of_run = name.extension().is_some_and(|ending| ending == "parquet");
        // A run is there when its row is.
        if !is_of_run || name.starts_with("runs") {
            continue;
        }
        let (file, kept) = (dataset.join(&name), path.join("kept"));
        fs::rename(&file, &kept).expect("it is there");
        let ended = again();
        let said = text(&ended.stderr);
        assert_eq!(ended.status.code(), Some(3), "{}: {said}", name.display());
        let expected = format!(
            "{} is missing: each run has a file in every table",
            name.display()
        );
        assert!(said.contains(&expected), "{said}");
        assert!(!path.join("b.db").exists(), "{}", name.display());
        fs::rename(&kept, &file).expect("room");
        tables += 1;
    }
    assert_eq!(tables, 2 * 13);
    // Engines that make large files of small ones give them names of their own, and make none of no rows.
    for name in bytes(&dataset).into_keys() {
        let file = dataset.join(&name);
        if name.starts_with("notes") || name.starts_with("node_labels") {
            fs::remove_file(&file).expect("it is there");
        } else if name.extension().is_some_and(|ending| ending == "parquet") {
            let part = format!(
                "part-{}",
                name.file_name().expect("a name").to_string_lossy()
            );
            fs::rename(&file, file.with_file_name(part)).expect("room");
        }
    }
    let ended = again();
    assert!(ended.status.success(), "{}", text(&ended.stderr));
    fs::remove_dir_all(dataset.join("runs")).expect("it is there");
    let ended = again();
    let said = text(&ended.stderr);
    assert_eq!(ended.status.code(), Some(3), "{said}");
    assert!(said.contains("d has no runs"), "{said}");
}

/// Some engines call the files of each day by numbers: such a name is that of no run, of two days neither, whatever its digits.
#[test]
fn files_that_engines_have_numbered_are_those_of_no_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let dataset = path.join("d");
    for day in ["2026-01-01", "2026-01-02"] {
        let name = format!("{day}.folded");
        fs::write(path.join(&name), format!("main;{day} 5\n")).expect("room");
        done(path, &["import", "--db", "a.db", &name]);
        let database = rusqlite::Connection::open(path.join("a.db")).expect("a database");
        let sql = "UPDATE runs SET recorded_at = ?1, recorded_utc = ?1 WHERE source_name = ?2";
        let changed = database.execute(sql, [&format!("{day}T00:00:00.000000000Z"), &name]);
        assert_eq!(changed, Ok(1));
    }
    let export = [
        "export", "--db", "a.db", "--format", "parquet", "--out", "d",
    ];
    done(path, &export);
    for name in bytes(&dataset).into_keys() {
        let file = dataset.join(&name);
        // Engines make none of no rows.
        if name.starts_with("notes/day=2026-01-02") || name.starts_with("node_labels") {
            fs::remove_file(&file).expect("it is there");
        } else if name.extension().is_some_and(|ending| ending == "parquet") {
            fs::rename(&file, file.with_file_name("00000000.parquet")).expect("room");
        }
    }
    assert_eq!(
        runs(&dataset),
        [
            "runs/day=2026-01-01/00000000.parquet",
            "runs/day=2026-01-02/00000000.parquet"
        ]
    );
    // Rows of a table may be in more files than those of `runs`.
    let nodes = dataset.join("nodes/day=2026-01-01");
    fs::rename(
        nodes.join("00000000.parquet"),
        nodes.join("00000001.parquet"),
    )
    .expect("room");
    let schema = ["schema", "--dialect", "duckdb", "--dataset", "d"];
    let asked = tried(path, &schema);
    assert!(asked.status.success());
    assert_eq!(text(&asked.stderr), "");
    let ended = tried(path, &["import", "--from", "dataset", "--db", "b.db", "d"]);
    assert!(ended.status.success(), "{}", text(&ended.stderr));
    let sql =
        "SELECT run_uid, function, exclusive FROM summary JOIN runs USING (run_id) ORDER BY 1, 2";
    let asked = |db| done(path, &["sql", "--db", db, "--format", "csv", sql]);
    let found = asked("b.db");
    assert_eq!(found.lines().count(), 5, "{found}");
    assert_eq!(found, asked("a.db"));
    // A day with such files takes no more.
    let refused = tried(path, &export);
    assert_eq!(refused.status.code(), Some(2));
    let said = text(&refused.stderr);
    assert!(
        said.contains(".parquet: the file has several runs"),
        "{said}"
    );
    // A uid that could not be told from such a number is the name of no file.
    let database = rusqlite::Connection::open(path.join("a.db")).expect("a database");
    let changed = database.execute("UPDATE runs SET run_uid = '00000000' WHERE run_id = 1", []);
    assert_eq!(changed, Ok(1));
    let other = [
        "export", "--db", "a.db", "--format", "parquet", "--out", "e",
    ];
    let refused = tried(path, &other);
    let said = text(&refused.stderr);
    assert!(
        said.contains("has the uid `00000000`, which is not a uid of profdb"),
        "{said}"
    );
}

/// A bit that has changed on a disk or on the way is no other figure: what is in pages has a checksum that readers compare.
#[test]
fn a_bit_that_has_changed_is_no_other_figure() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let dataset = path.join("d");
    import(path, "a.db", &some()[..1]);
    done(
        path,
        &[
            "export", "--db", "a.db", "--format", "parquet", "--out", "d",
        ],
    );
    let again = || tried(path, &["import", "--from", "dataset", "--db", "b.db", "d"]);
    assert!(again().status.success());
    let expected = content(&path.join("b.db"), 0);
    fs::remove_file(path.join("b.db")).expect("it was made");
    let mut random = Random(7);
    let (mut refused, mut tried) = (0, 0);
    for name in bytes(&dataset).into_keys() {
        if name.extension().is_none_or(|ending| ending != "parquet") {
            continue;
        }
        let file = dataset.join(&name);
        let good = fs::read(&file).expect("it is there");
        // The rest says where everything is.
        let about = good[good.len() - 8..][..4].try_into().expect("four bytes");
        let pages = good.len() - 8 - usize::try_from(u32::from_le_bytes(about)).expect("a length");
        for _ in 0..6 {
            let mut bad = good.clone();
            bad[4 + random.below(pages - 4)] ^= 1 << random.below(8);
            fs::write(&file, &bad).expect("room");
            let ended = again();
            let what = format!("{}: {}", name.display(), text(&ended.stderr));
            if ended.status.success() {
                same(&content(&path.join("b.db"), 0), &expected, &what);
                fs::remove_file(path.join("b.db")).expect("it was made");
            } else {
                assert_eq!(ended.status.code(), Some(3), "{what}");
                refused += 1;
            }
            tried += 1;
        }
        fs::write(&file, good).expect("room");
    }
    assert!(refused > tried / 2, "{refused} of {tried}");
}

/// How many damaged files are tried: `CORRUPTIONS=N` for more.
fn corruptions() -> u64 {
    long::repetitions("CORRUPTIONS", 100, 3000)
}

/// Damages a Parquet file: its data, or more often its end, which says where everything is.
fn damage(bytes: &mut Vec<u8>, random: &mut Random) {
    let whole = bytes.len();
    let about = bytes[whole - 8..whole - 4].try_into().expect("four bytes");
    let about = usize::try_from(u32::from_le_bytes(about)).expect("a length");
    let from = if random.below(3) == 0 {
        0
    } else {
        whole - 8 - about
    };
    let at = from + random.below(whole - from);
    match random.below(6) {
        0 => bytes.truncate(at),
        1 => bytes[at] ^= 1 << random.below(8),
        2 => {
            let end = (at + 1 + random.below(4)).min(whole);
            bytes.drain(at..end);
        }
        3 => {
            let end = (at + 1 + random.below(20)).min(whole);
            bytes[at..end].fill([0, 0xff, 0x7f, 0x80][random.below(4)]);
        }
        _ => {
            for _ in 0..=random.below(4) {
                let at = from + random.below(whole - from);
                bytes[at] = random.next().to_le_bytes()[0];
            }
        }
    }
}

/// Whatever is wrong with a file: the program says which one, or finds that nothing is lost by it, and imports nothing half.
#[test]
fn damaged_files_are_refused_and_nothing_is_imported_by_half() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    import(path, "a.db", &some()[..1]);
    let labels = repository_path("tests/cases/pprof/labels");
    done(
        path,
        &["import", "--db", "a.db", labels.to_str().expect("plain")],
    );
    done(
        path,
        &[
            "export", "--db", "a.db", "--format", "parquet", "--out", "d",
        ],
    );
    let names: Vec<PathBuf> = bytes(&path.join("d"))
        .into_keys()
        .filter(|name| name.extension().is_some_and(|ending| ending == "parquet"))
        .collect();
    assert_eq!(names.len(), 2 * 14);
    let mut refused = 0;
    for seed in 0..corruptions() {
        let mut random = Random(seed);
        let name = &names[random.below(names.len())];
        let file = path.join("d").join(name);
        let good = fs::read(&file).expect("it is there");
        let mut bad = good.clone();
        damage(&mut bad, &mut random);
        fs::write(&file, &bad).expect("room");
        let ended = tried(path, &["import", "--from", "dataset", "--db", "b.db", "d"]);
        let said = text(&ended.stderr);
        let what = format!("{} {seed}: {said}", name.display());
        assert!(!said.contains("panicked"), "{what}");
        if ended.status.success() {
            // A figure may be another one, but none that contradicts the others.
            done(path, &["check", "--db", "b.db"]);
            fs::remove_file(path.join("b.db")).expect("it was made");
        } else {
            assert_eq!(ended.status.code(), Some(3), "{what}");
            let uid = name.file_name().expect("a name").to_string_lossy();
            assert!(
                said.contains(&*uid) || said.contains("d: its files contradict each other"),
                "{what}"
            );
            assert!(!path.join("b.db").exists(), "{what}");
            refused += 1;
        }
        let left = fs::read_dir(path).expect("it is there").count();
        assert_eq!(left, 2, "{what}");
        fs::write(&file, good).expect("room");
    }
    assert!(refused > corruptions() / 3, "only {refused} were refused");
}

/// Runs whose figures are not those of their fingerprints are refused, by whichever rules their functions are one.
#[test]
fn figures_that_are_not_those_of_the_fingerprint_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    fs::write(path.join("a.folded"), "main;f.part.0 5\nmain;g 3\n").expect("room");
    fs::write(path.join("rules"), "name /^g$/ -> main\n").expect("room");
    for (at, rules) in [None, Some("rules")].into_iter().enumerate() {
        let [db, out] = ["db", "d"].map(|name| format!("{name}{at}"));
        done(path, &["import", "--db", &db, "a.folded"]);
        if let Some(rules) = rules {
            done(path, &["identify", "--db", &db, "--rules", rules]);
        }
        let back = format!("back{at}.db");
        done(
            path,
            &["export", "--db", &db, "--format", "parquet", "--out", &out],
        );
        done(path, &["import", "--from", "dataset", "--db", &back, &out]);
        let connection = rusqlite::Connection::open(path.join(&db)).expect("a database");
        let changed = connection
            .execute("UPDATE runs SET fingerprint = zeroblob(16)", [])
            .expect("a table");
        assert_eq!(changed, 1);
        drop(connection);
        done(
            path,
            &["export", "--db", &db, "--format", "parquet", "--out", &out],
        );
        let refused = tried(path, &["import", "--from", "dataset", "--db", "c.db", &out]);
        let said = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(3), "{said}");
        assert!(
            said.contains("its files contradict each other: the costs of run ")
                && said.contains("differ from its fingerprint"),
            "{said}"
        );
    }
    assert!(!path.join("c.db").exists(), "nothing was imported");
}

/// A fingerprint that a dataset does not state is computed, and a stated one is compared.
#[test]
fn missing_fingerprint_is_computed() {
    let folder = tempfile::tempdir().expect("a folder");
    let filled = |name: &str, fingerprint: Cell<'_>| -> Result<Vec<u8>, String> {
        let file = folder.path().join(name);
        let text = |text: &'static str| Cell::Text(text.as_bytes());
        let cells = [
            Cell::Null,
            text("folded"),
            text("tree"),
            text("a.folded"),
            text("0000000000000000000000000000000000000000000000000000000000000000"),
            Cell::Integer(5),
            Cell::Null,
            Cell::Null,
            Cell::Null,
            Cell::Null,
            text("2026-01-01T00:00:00Z"),
            Cell::Null,
            Cell::Null,
            Cell::Null,
            Cell::Integer(0),
            Cell::Integer(0),
            fingerprint,
            text("rules"),
            text("0.1.0"),
            Cell::Integer(1),
        ];
        let database = Database::filled(&file, LockWait::default(), |rows| {
            rows.run_row(b"0123456789abcdef0123456789abcdef", &cells, &[])
                .map_err(DatasetError::from)
        });
        let database = database.map_err(|error| error.to_string())?;
        let sql = "SELECT fingerprint FROM runs";
        let found = database.connection().query_row(sql, [], |row| row.get(0));
        Ok(found.expect("a run"))
    };
    // A run without metrics: the hash of the number 0.
    let computed = Sha256::digest([0; 8])[..16].to_vec();
    let number = u128::from_be_bytes(computed[..].try_into().expect("16 bytes"));
    let hexadecimal = format!("{number:032x}");
    assert_eq!(filled("computed.db", Cell::Null), Ok(computed.clone()));
    assert_eq!(
        filled("stated.db", Cell::Text(hexadecimal.as_bytes())),
        Ok(computed)
    );
    let refused = filled("other.db", Cell::Text(b"00")).expect_err("it is another");
    assert!(refused.contains("differ from its fingerprint"), "{refused}");
}

/// A copy of a run in the folder of another day would count twice: whoever looks at the dataset says so, and imports refuse it.
#[test]
fn a_copy_on_another_day_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    for name in ["a.folded", "b.folded"] {
        fs::write(path.join(name), format!("main;{name} 5\n")).expect("room");
        done(path, &["import", "--db", "a.db", name]);
    }
    let export = [
        "export", "--db", "a.db", "--format", "parquet", "--out", "d",
    ];
    done(path, &export);
    let said = |arguments: &[&str], code: i32| {
        let ended = tried(path, arguments);
        assert_eq!(ended.status.code(), Some(code), "{arguments:?}");
        text(&ended.stderr)
    };
    let schema = ["schema", "--dialect", "duckdb", "--dataset", "d"];
    assert_eq!(said(&schema, 0), "");
    for table in fs::read_dir(path.join("d")).expect("a folder") {
        let table = table.expect("it can be read").path();
        if table.is_dir() {
            let day = table.join("day=2026-01-01");
            fs::create_dir(&day).expect("room");
            for file in fs::read_dir(table.join("day=unknown")).expect("a folder") {
                let file = file.expect("it can be read");
                fs::copy(file.path(), day.join(file.file_name())).expect("room");
            }
        }
    }
    for (arguments, code) in [
        (&schema[..], 0),
        (&export[..], 0),
        (&["import", "--from", "dataset", "--db", "b.db", "d"], 3),
    ] {
        let said = said(arguments, code);
        for expected in [
            "d/runs/day=2026-01-01/",
            "d/runs/day=unknown/",
            "are the same run in two day partitions",
            "1 more runs are affected",
        ] {
            assert!(said.contains(expected), "{arguments:?}: {expected}: {said}");
        }
    }
    assert!(!path.join("b.db").exists(), "nothing was imported");
    // An export looks for the runs that it writes, and for no others.
    let mut one = export.to_vec();
    one.push("1");
    let copied = said(&one, 0);
    assert!(
        copied.contains("are the same run in two day partitions")
            && !copied.contains("are affected"),
        "{copied}"
    );
    let uid = uid(path, 1);
    fs::remove_file(path.join(format!("d/runs/day=2026-01-01/{uid}.parquet")))
        .expect("it was copied");
    assert_eq!(said(&one, 0), "");
    assert!(said(&export, 0).contains("are the same run in two day partitions"));
    // The name of no folder is none.
    let refused = tried(path, &["schema", "--dialect", "duckdb", "--dataset", ""]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("a value is required for '--dataset <DIR>'"));
}
