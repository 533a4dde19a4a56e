//! Many files in one command: small ones are parsed on all cores and stored several at a time.
//! Each run is there whole or not at all, numbered in the order of the files, and nothing is said to
//! be stored before it is.

#![cfg(target_os = "linux")]

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use profdb::base::error::Stop;
use profdb::formats::{self, Options};
use profdb::input::{Input, Limits};
use profdb::pipeline::{self, Parsed};
use profdb::store::{Database, WholeRun};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::support::case_files::{entries as paths, files, repository_path};
use crate::support::faults::{
    DATABASE, calls, check, content, entries, profdb, same, text, with_fault,
};

/// A folder for the database, and one for profiles: calls about the latter are not counted.
struct Place {
    database: TempDir,
    profiles: TempDir,
}

/// A profile of which nothing is to be said: a root that calls functions, so many times in all.
fn profile(root: usize, rows: usize) -> String {
    let mut text =
        "\"Depth\",\"Element\",\"Line\",\"Calls\",\"ExclusiveTime\",\"InclusiveTime\"\n".to_owned();
    writeln!(text, "0,\"#.r{root}\",,1,1,{}", rows + 1).expect("memory");
    for at in 0..rows {
        writeln!(text, "1,\"#.g{}\",,1,1,1", at % 20).expect("memory");
    }
    text
}

/// Name of a file of so many.
fn name(at: usize, all: usize) -> String {
    let width = if all > 100 { 3 } else { 2 };
    format!("{at:0width$}.csv")
}

impl Place {
    fn new() -> Self {
        let [database, profiles] = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
        Self { database, profiles }
    }

    /// A place with profiles of so many rows, `00.csv` and so on.
    fn of(rows: &[usize]) -> Self {
        let place = Self::new();
        for (at, count) in rows.iter().enumerate() {
            place.write(&name(at, rows.len()), profile(at, *count));
        }
        place
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.profiles.path().join(name), content).expect("room for a file");
    }

    fn path(&self, name: &str) -> PathBuf {
        self.profiles.path().join(name)
    }

    fn command(&self, arguments: &[&str], files: &[PathBuf]) -> Command {
        let mut command = profdb(self.database.path(), &["import", "--db", DATABASE]);
        command.args(arguments).args(files);
        command
    }

    /// Imports files; what is said has names without their folder.
    fn import(&self, arguments: &[&str], files: &[PathBuf]) -> (Option<i32>, String, String) {
        let output = self.command(arguments, files).output();
        self.said(&output.expect("the program is there"))
    }

    fn said(&self, output: &Output) -> (Option<i32>, String, String) {
        let folder = format!("{}/", self.profiles.path().display());
        let [said, complained] =
            [&output.stdout, &output.stderr].map(|bytes| text(bytes).replace(&folder, ""));
        (output.status.code(), said, complained)
    }

    fn folder(&self) -> PathBuf {
        self.profiles.path().to_owned()
    }

    /// Names of the files of all runs, in the order of their numbers. Each run is whole.
    fn runs(&self) -> Vec<String> {
        let path = self.database.path().join(DATABASE);
        if !path.exists() {
            return Vec::new();
        }
        check(self.database.path(), "after the import");
        let connection = Connection::open(path).expect("it is there");
        let sql = "SELECT source_name FROM runs ORDER BY run_id";
        let mut statement = connection.prepare(sql).expect("the columns are there");
        let names = statement.query_map([], |row| row.get(0)).expect("rows");
        names.collect::<Result<_, _>>().expect("names")
    }
}

/// What a command says of files that are stored under the numbers from 1.
fn stored(files: &[(&str, usize)]) -> String {
    let mut said = String::new();
    for (at, (name, rows)) in files.iter().enumerate() {
        writeln!(said, "{name}: run {}, {} nodes", at + 1, rows + 1).expect("memory");
    }
    said
}

#[test]
fn runs_are_numbered_in_the_order_of_the_files() {
    // Long and short ones, so that they are not parsed in their order.
    let rows = [9000, 1, 5000, 2, 3, 20_000, 1, 1, 4000, 1];
    let place = Place::of(&rows);
    let names: Vec<String> = (0..rows.len()).map(|at| name(at, rows.len())).collect();
    let expected: Vec<(&str, usize)> = names.iter().map(String::as_str).zip(rows).collect();
    assert_eq!(
        place.import(&[], &[place.folder()]),
        (Some(0), stored(&expected), String::new())
    );
    assert_eq!(place.runs(), names);

    // As arguments, in another order.
    let place = Place::of(&rows);
    let backwards: Vec<PathBuf> = names.iter().rev().map(|name| place.path(name)).collect();
    let expected: Vec<(&str, usize)> = expected.into_iter().rev().collect();
    assert_eq!(
        place.import(&[], &backwards),
        (Some(0), stored(&expected), String::new())
    );
}

#[test]
fn a_bad_file_costs_no_other() {
    for bad in 0..4 {
        let place = Place::of(&[3, 3000, 5, 6]);
        let name = name(bad, 4);
        place.write(&name, profile(bad, 10) + "1,\"#.g\",,one,1,1\n");
        let (code, said, complained) = place.import(&[], &[place.folder()]);
        assert_eq!(code, Some(3), "{complained}");
        assert_eq!(said.lines().count(), 3, "{said}");
        assert!(
            complained.starts_with(&format!("profdb: {name}: line 13 (byte ")),
            "{complained}"
        );
        assert_eq!(complained.lines().count(), 1, "{complained}");
        let mut expected: Vec<String> = (0..4).map(|at| format!("{at:02}.csv")).collect();
        expected.remove(bad);
        assert_eq!(place.runs(), expected);
    }
}

#[test]
fn a_folder_with_other_files_gives_its_profiles() {
    let place = Place::of(&[3, 4]);
    place.write("00.txt", "no profile\n");
    place.write("zz.png", b"\x89PNG\r\n\x1a\n");
    place.write("empty", "");
    let (code, said, complained) = place.import(&[], &[place.folder()]);
    assert_eq!(said, stored(&[("00.csv", 3), ("01.csv", 4)]));
    let passed: Vec<&str> = complained
        .lines()
        .filter_map(|line| line.split_once(": skipped: "))
        .map(|(name, _)| name)
        .collect();
    assert_eq!(
        passed,
        ["profdb: 00.txt", "profdb: empty", "profdb: zz.png"]
    );
    assert_eq!(code, Some(0), "{complained}");
    // As arguments they were meant to be profiles.
    let named = [place.path("00.csv"), place.path("00.txt")];
    let (code, said, complained) = place.import(&[], &named);
    assert_eq!((code, said.as_str()), (Some(3), ""));
    assert!(
        complained.starts_with("profdb: 00.csv: already imported as run 1; ")
            && complained.contains("\nprofdb: 00.txt: expected a profile, found "),
        "{complained}"
    );
    // A folder without a profile.
    for name in ["00.csv", "01.csv"] {
        fs::remove_file(place.path(name)).expect("it is there");
    }
    let (code, _, complained) = place.import(&[], &[place.folder()]);
    assert_eq!(code, Some(3));
    assert!(
        complained.ends_with("no profile found among 3 files in 1 folder\n"),
        "{complained}"
    );
}

#[test]
fn a_file_that_comes_twice_is_one_run() {
    let place = Place::of(&[3, 4]);
    let [first, second] = ["00.csv", "01.csv"].map(|name| place.path(name));
    let files = [first.clone(), first.clone(), second.clone(), first.clone()];
    let (code, said, complained) = place.import(&["--tag", "a=b"], &files);
    assert_eq!(said, "00.csv: run 1, 4 nodes\n01.csv: run 2, 5 nodes\n");
    let already = "profdb: 00.csv: already imported as run 1 (a=b); --again stores it again\n";
    assert_eq!((code, complained), (Some(0), already.repeat(2)));
    // Both in a group of a database that is there.
    let (_, said, complained) = place.import(&[], &[second.clone(), second.clone()]);
    assert_eq!(said, "01.csv: run 3, 5 nodes\n");
    assert!(
        complained.contains("already imported as run 3;"),
        "{complained}"
    );
    // Each once more, however often it comes.
    let (code, said, complained) = place.import(&["--again"], &[first.clone(), first, second]);
    assert_eq!((code, complained.as_str()), (Some(0), ""));
    assert_eq!(
        said,
        "00.csv: run 4, 4 nodes\n00.csv: run 5, 4 nodes\n01.csv: run 6, 5 nodes\n"
    );
    assert_eq!(place.runs().len(), 6);
}

#[test]
fn what_is_there_is_not_stored_again() {
    let place = Place::of(&[3, 3000, 5]);
    assert_eq!(place.import(&[], &[place.folder()]).0, Some(0));
    place.write("01-new.csv", profile(7, 7));
    let (code, said, complained) = place.import(&[], &[place.folder()]);
    assert_eq!(
        (code, said.as_str()),
        (Some(0), "01-new.csv: run 4, 8 nodes\n")
    );
    let known: Vec<&str> = complained.lines().collect();
    assert_eq!(known.len(), 3, "{complained}");
    for (at, line) in known.iter().enumerate() {
        let expected = format!("profdb: {at:02}.csv: already imported as run {};", at + 1);
        assert!(line.starts_with(&expected), "{complained}");
    }
}

/// Standard input, a pipe, a file that is large only after decompression, and one with too many
/// nodes for memory have groups before and after them.
#[test]
fn what_is_not_small_has_its_turn() {
    let place = Place::of(&[3, 4, 5]);
    let packed = |rows: usize| {
        let packed = Vec::new();
        let mut packed = flate2::write::GzEncoder::new(packed, flate2::Compression::default());
        packed
            .write_all(profile(8, rows).as_bytes())
            .expect("memory");
        packed.finish().expect("memory")
    };
    place.write("large.gz", packed(200_000));
    place.write("small.gz", packed(200));
    let many = profile(10, 0) + &"0,f,,1,1,1\n".repeat(120_000);
    place.write("many.csv", many);
    let mut files: Vec<PathBuf> = ["00.csv", "large.gz", "01.csv", "many.csv", "small.gz"]
        .map(|name| place.path(name))
        .into();
    files.push("-".into());
    files.push(place.path("02.csv"));
    place.write("stdin", profile(9, 6));
    let mut command = place.command(&[], &files);
    command.stdin(File::open(place.path("stdin")).expect("it is there"));
    let output = command.output().expect("the program is there");
    let expected = [
        ("00.csv", 3),
        ("large.gz", 200_000),
        ("01.csv", 4),
        ("many.csv", 120_000),
        ("small.gz", 200),
        ("-", 6),
        ("02.csv", 5),
    ];
    assert_eq!(
        place.said(&output),
        (Some(0), stored(&expected), String::new())
    );
    assert_eq!(place.runs(), expected.map(|(name, _)| name));
}

/// Functions that went with a run are made anew for the next group in the same open database.
#[test]
fn functions_of_a_deleted_run_are_made_anew() {
    let place = Place::of(&[3, 3, 3]);
    let options = Options::default();
    let runs = |names: &[&str]| -> Vec<WholeRun> {
        let parsed = names.iter().map(|name| {
            let stop = Stop::default();
            let file = File::open(place.profiles.path().join(name)).expect("it is there");
            let input = Input::seekable(file, Limits::default(), stop.clone()).expect("a file");
            let format = formats::detect(input.head()).expect("a known format");
            let describe = |fingerprint| pipeline::meta(format, &options, "x", fingerprint);
            match pipeline::parse(input, format, &options, &stop, describe) {
                Ok(Parsed::Whole(run, _)) => *run,
                other => panic!("{name}: {other:?}"),
            }
        });
        parsed.collect()
    };
    let path = place.database.path().join(DATABASE);
    let mut database = Database::open(&path).expect("a new file");
    let add = |database: Database, names: &[&str]| {
        let stored = pipeline::store(database, runs(names), &Stop::default());
        stored.expect("room on the disk").1
    };
    database = add(database, &["00.csv"]);
    database = add(database, &["01.csv", "02.csv"]);
    database.delete_run(2).expect("it is there");
    database = add(database, &["01.csv"]);
    let sql =
        "SELECT GROUP_CONCAT(run_id || ' ' || COALESCE(name, 'unknown') || ' ' || nodes, ', ')
               FROM (SELECT run_id, name, COUNT(*) AS nodes
                     FROM function_nodes LEFT JOIN functions USING (function_id)
                     WHERE run_id = 4
                     GROUP BY run_id, function_id
                     ORDER BY name)";
    let found: String = database
        .connection()
        .query_row(sql, [], |row| row.get(0))
        .expect("an answer");
    assert_eq!(found, "4 #.g0 1, 4 #.g1 1, 4 #.g2 1, 4 #.r1 1");
}

/// Inputs of all formats give the rows that they give when they are imported one by one, by SQL and
/// as pages; what is wrong with a file is said in the same words.
#[test]
fn groups_hold_what_single_imports_hold() {
    let options = Options::default();
    let mut good = Vec::new();
    let mut bad = 0;
    for file in inputs() {
        let open = |stop: &Stop| {
            let file = File::open(&file).expect("it is there");
            Input::seekable(file, Limits::default(), stop.clone()).expect("it can be read")
        };
        let stop = Stop::default();
        let Ok(format) = formats::detect(open(&stop).head()) else {
            continue;
        };
        let describe = |fingerprint| pipeline::meta(format, &options, "x", fingerprint);
        match pipeline::parse(open(&stop), format, &options, &stop, describe) {
            Ok(Parsed::Whole(run, _)) => good.push((file.clone(), format, *run)),
            Ok(Parsed::Large) => panic!("{}: too large", file.display()),
            Err(error) => {
                let stop = Stop::default();
                let input = open(&stop);
                let create = Database::in_memory;
                let single = pipeline::import(input, format, &options, &stop, describe, create);
                let said = single.expect_err("as when it is parsed").to_string();
                assert_eq!(error.to_string(), said, "{}", file.display());
                bad += 1;
            }
        }
    }
    assert!(good.len() > 40 && bad > 5, "{} good, {bad} bad", good.len());

    let folder = tempfile::tempdir().expect("a folder");
    let [single, group] = ["single.db", "group.db"].map(|name| folder.path().join(name));
    for (file, format, _) in &good {
        let stop = Stop::default();
        let input = File::open(file).expect("it is there");
        let input = Input::seekable(input, Limits::default(), stop.clone()).expect("as before");
        let describe = |fingerprint| pipeline::meta(format, &options, "x", fingerprint);
        pipeline::import(input, format, &options, &stop, describe, || {
            Database::open(&single)
        })
        .expect("it can be parsed");
    }
    let mut runs: Vec<WholeRun> = good.into_iter().map(|(_, _, run)| run).collect();
    let mut database = Database::open(&group).expect("a new file");
    // The first is that of a new file; few rows go through SQL, many as pages.
    for together in [1, 3, 1, 20, usize::MAX] {
        let others = runs.split_off(together.min(runs.len()));
        let stored = pipeline::store(database, runs, &Stop::default()).expect("room on the disk");
        database = stored.1;
        runs = others;
    }
    drop(database);
    same(&content(&group, 0), &content(&single, 0), "groups");
    let connection = Connection::open(&group).expect("it is there");
    let found: String = connection
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .expect("an answer");
    assert_eq!(found, "ok");
}

/// The inputs of cases, some of each format.
fn inputs() -> Vec<PathBuf> {
    let groups = paths(&repository_path("tests/cases"));
    let inputs = groups
        .iter()
        .flat_map(|group| files(group).into_iter().take(5));
    inputs.collect()
}

/// Fails unless the runs that are there are whole and the first of those that were to be stored, and
/// all that was said to be stored is.
fn first_of(place: &Place, all: &[String], said: &str, about: &str) -> usize {
    let runs = place.runs();
    assert_eq!(runs, all[..runs.len()], "{about}");
    for (at, line) in said.lines().enumerate() {
        let expected = format!("{}: run {}, ", all[at], at + 1);
        assert!(line.starts_with(&expected), "{about}: {line}");
    }
    assert!(
        said.lines().count() <= runs.len(),
        "{about}: {said} of {runs:?}"
    );
    runs.len()
}

/// Rows and names of files that are stored in two groups: of the first one, as the database is new,
/// the first run comes by itself.
fn two_groups() -> (Vec<usize>, Vec<String>) {
    let rows: Vec<usize> = (0..105)
        .map(|at| if at % 51 == 50 { 2500 } else { 1 })
        .collect();
    let names = (0..rows.len()).map(|at| name(at, rows.len())).collect();
    (rows, names)
}

/// Killed at any call, the command leaves whole runs, the first ones; the same command stores the
/// others.
#[test]
fn a_killed_command_leaves_whole_runs() {
    let (rows, names) = two_groups();
    let place = Place::of(&rows);
    let log = place.path("log");
    let mut command = place.command(&[], &[]);
    command.args(names.iter().map(|name| place.path(name)));
    with_fault(&mut command, place.database.path(), &log, 0, "kill");
    assert!(
        command
            .output()
            .expect("the program is there")
            .status
            .success()
    );
    let all = calls(&log).len();
    assert_eq!(place.runs(), names);
    let mut seen = std::collections::BTreeSet::new();
    for at in (0..24).map(|part| 1 + part * (all - 1) / 23) {
        let place = Place::of(&rows);
        let paths: Vec<PathBuf> = names.iter().map(|name| place.path(name)).collect();
        let mut command = place.command(&[], &paths);
        let what = ["kill", "torn"][at % 2];
        with_fault(
            &mut command,
            place.database.path(),
            "/dev/null".as_ref(),
            at,
            what,
        );
        let output = command.output().expect("the program is there");
        assert_eq!(output.status.signal(), Some(9), "call {at} of {all}");
        let (_, said, _) = place.said(&output);
        seen.insert(first_of(
            &place,
            &names,
            &said,
            &format!("{what} at {at} of {all}"),
        ));
        // What is there is not stored again, and the others follow.
        let (code, _, complained) = place.import(&[], &paths);
        assert_eq!(code, Some(0), "{complained}");
        assert_eq!(place.runs(), names, "{what} at {at} of {all}");
        assert_eq!(entries(place.database.path()), [DATABASE.to_owned()].into());
    }
    assert!(seen.len() > 2, "{seen:?} of the runs were there");
}

/// The same of Ctrl-C, and of a disk that is full at some call.
#[test]
fn an_interrupted_command_leaves_whole_runs() {
    let (rows, names) = two_groups();
    let place = Place::of(&rows);
    let paths: Vec<PathBuf> = names.iter().map(|name| place.path(name)).collect();
    let log = place.path("log");
    let mut command = place.command(&[], &paths);
    with_fault(&mut command, place.database.path(), &log, 0, "int");
    assert!(
        command
            .output()
            .expect("the program is there")
            .status
            .success()
    );
    let all = calls(&log).len();
    // 28 is ENOSPC.
    for (what, expected) in [("int", 130), ("28+", 5)] {
        for at in (0..12).map(|part| 1 + part * (all - 1) / 11) {
            let place = Place::of(&rows);
            let paths: Vec<PathBuf> = names.iter().map(|name| place.path(name)).collect();
            let mut command = place.command(&[], &paths);
            with_fault(
                &mut command,
                place.database.path(),
                "/dev/null".as_ref(),
                at,
                what,
            );
            let output = command.output().expect("the program is there");
            let (code, said, complained) = place.said(&output);
            let about = format!("{what} at {at} of {all}: {complained}");
            let there = first_of(&place, &names, &said, &about);
            // It may come after all is done, or to a call that the program can do without.
            assert!(
                code == Some(expected) || (code == Some(0) && there == names.len()),
                "{about}: {code:?}, {there} runs"
            );
            if code == Some(130) {
                assert_eq!(said.lines().count(), there, "{about}");
            }
        }
    }
}

/// Another program that writes is waited for; where that takes too long, nothing of the group is
/// stored, and nothing is said to be.
#[test]
fn a_program_that_writes_is_waited_for() {
    let place = Place::of(&[3, 4]);
    let (code, ..) = place.import(&[], &[place.path("00.csv")]);
    assert_eq!(code, Some(0));
    place.write("02.csv", profile(2, 9) + "bad\n");
    let other = Connection::open(place.database.path().join(DATABASE)).expect("it is there");
    other.execute_batch("BEGIN IMMEDIATE").expect("it is free");
    let files = ["01.csv", "02.csv"].map(|name| place.path(name));
    let (code, said, complained) = place.import(&["--wait", "0"], &files);
    assert_eq!((code, said.as_str()), (Some(5), ""), "{complained}");
    // The file is bad all the same.
    assert!(complained.contains("profdb: 02.csv: line "), "{complained}");
    let child = place
        .command(&["--wait", "60"], &files[..1])
        .arg(place.path("00.csv"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program is there");
    other.execute_batch("ROLLBACK").expect("it was begun");
    drop(other);
    let output = child.wait_with_output().expect("it ends");
    let (code, said, complained) = place.said(&output);
    assert_eq!(code, Some(0), "{complained}");
    assert_eq!(said, "01.csv: run 2, 5 nodes\n");
    assert_eq!(place.runs(), ["00.csv", "01.csv"]);
}

/// With `--source`, the lines of every run are stored with it.
#[test]
fn source_is_stored_with_every_run_of_a_group() {
    let place = Place::new();
    for name in ["a", "b", "c"] {
        let line = profile(0, 0) + &format!("0,\"#.{name}\",,1,0,1\n1,\"#.{name}\",1,1,1,1\n");
        place.write(&format!("{name}.csv"), line);
    }
    let source = tempfile::tempdir().expect("a folder");
    for name in ["a", "b", "c"] {
        let text = format!(" {name}\n first of {name}\n");
        fs::write(source.path().join(format!("{name}.aplf")), text).expect("room for a file");
    }
    let folder = source.path().to_str().expect("UTF-8");
    let (code, said, complained) = place.import(&["--source", folder], &[place.folder()]);
    assert_eq!((code, said.lines().count()), (Some(0), 3), "{complained}");
    let connection = Connection::open(place.database.path().join(DATABASE)).expect("it is there");
    let runs: i64 = connection
        .query_row(
            "SELECT COUNT(DISTINCT run_id) FROM run_sources",
            [],
            |row| row.get(0),
        )
        .expect("a number");
    assert_eq!(runs, 3);
}
