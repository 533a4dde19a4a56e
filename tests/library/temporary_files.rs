//! Temporary files of the program: what does not stay in memory is the same with them and without.

#![cfg(unix)]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Stdio;

use profdb::formats::export::{Output, Request};
use serde_json::Value as Json;

use crate::support::imports::{export_run, import_profile};
use crate::support::program::{self, PROFDB};
use crate::support::tools;

/// A place for temporary files.
#[derive(Clone, Copy, Debug)]
enum Temporary {
    Folder,
    /// No file can be made.
    Missing,
    /// Files can be made, and take no bytes.
    Full,
}

const ALL: [Temporary; 3] = [Temporary::Folder, Temporary::Missing, Temporary::Full];

/// Runs the program in a folder; returns its standard output.
fn run(folder: &Path, temporary: Temporary, arguments: &[&str]) -> String {
    let mut command = match temporary {
        Temporary::Folder | Temporary::Missing => program::command(),
        Temporary::Full => {
            let mut shell = tools::shell();
            shell.args(["-c", "ulimit -f 0; exec \"$0\" \"$@\"", PROFDB]);
            shell.env_remove("PROFDB_DB").stdin(Stdio::null());
            shell
        }
    };
    let missing = folder.join("missing");
    let place = match temporary {
        Temporary::Missing => missing.as_path(),
        Temporary::Folder | Temporary::Full => folder,
    };
    let done = command
        .args(arguments)
        .current_dir(folder)
        .env("TMPDIR", place)
        .output()
        .expect("the program");
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(
        done.status.success(),
        "{temporary:?} {arguments:?}: {errors}"
    );
    let entries = fs::read_dir(folder).expect("a folder");
    let left = entries.filter(|entry| {
        let name = entry.as_ref().expect("an entry").file_name();
        name.to_string_lossy().starts_with('.')
    });
    assert_eq!(left.count(), 0, "{temporary:?}");
    String::from_utf8(done.stdout).expect("text")
}

/// Imports folded stacks into a database in a folder.
fn import(folder: &Path, temporary: Temporary, database: &str, stacks: &str) {
    fs::write(folder.join("p.folded"), stacks).expect("space");
    run(folder, temporary, &["import", "--db", database, "p.folded"]);
}

/// The cells of a table for people are kept while the widths of its columns are measured, 64 KiB of
/// them in memory in debug builds.
#[test]
fn text_table_has_all_cells_with_and_without_a_file() {
    const ROWS: usize = 60;
    const LETTERS: usize = 5_000;
    let folder = tempfile::tempdir().expect("a folder");
    import(folder.path(), Temporary::Folder, "x.db", "f 1\n");
    let sql = format!(
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < {ROWS})
         SELECT x, printf('%.*c', {LETTERS}, 'a') || '∆' || x AS y, '' AS z FROM n"
    );
    for temporary in ALL {
        let table = run(folder.path(), temporary, &["sql", "--db", "x.db", &sql]);
        let mut lines = table.lines();
        let titles: Vec<&str> = lines
            .next()
            .unwrap_or_default()
            .split_whitespace()
            .collect();
        assert_eq!(titles, ["x", "y", "z"]);
        for row in 1..=ROWS {
            let cells = format!("{row:>2}  {}∆{row}", "a".repeat(LETTERS));
            assert!(lines.next() == Some(&cells), "{temporary:?}: row {row}");
        }
        assert_eq!(lines.next(), None);
    }
}

/// A stack for each of the 4,960 sets of three functions, each with another number of samples.
fn many_stacks() -> String {
    let mut file = String::new();
    let mut samples = 0;
    for one in 0..32 {
        for two in 0..one {
            for three in 0..two {
                samples += 1;
                writeln!(file, "f{one};f{two};f{three} {samples}").expect("memory");
            }
        }
    }
    file
}

/// Merged stacks leave memory above 4,096 nodes in debug builds.
#[test]
fn import_has_all_stacks_with_and_without_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = many_stacks();
    // Another test lets such a file be full (`tests/behaviour/spills.rs`).
    for (temporary, database) in [(Temporary::Folder, "x.db"), (Temporary::Missing, "y.db")] {
        import(folder.path(), temporary, database, &file);
        let arguments = ["export", "--db", database, "--format", "folded"];
        assert!(
            run(folder.path(), Temporary::Folder, &arguments) == file,
            "{temporary:?}"
        );
    }
}

/// A column of numbers waits for the columns before it, 8 KiB of it in memory in debug builds.
#[test]
fn exports_have_all_columns_with_and_without_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = many_stacks();
    import(folder.path(), Temporary::Folder, "x.db", &file);
    let stacks: Vec<(&str, i64)> = file
        .lines()
        .map(|line| {
            let (stack, samples) = line.rsplit_once(' ').expect("a number");
            (stack, samples.parse().expect("a number"))
        })
        .collect();
    let weights = |array: &Json| -> Vec<i64> {
        let numbers = array.as_array().expect("an array").iter();
        numbers
            .map(|number| number.as_i64().expect("a number"))
            .collect()
    };
    let expected: Vec<i64> = stacks.iter().map(|(_, samples)| *samples).collect();
    for temporary in ALL {
        let export = |format| {
            let arguments = ["export", "--db", "x.db", "--format", format];
            let text = run(folder.path(), temporary, &arguments);
            serde_json::from_str::<Json>(&text).expect("JSON")
        };
        let speedscope = export("speedscope");
        let frames = speedscope["shared"]["frames"].as_array().expect("frames");
        let profile = &speedscope["profiles"][0];
        assert!(weights(&profile["weights"]) == expected, "{temporary:?}");
        let samples = profile["samples"].as_array().expect("samples");
        for (sample, (stack, _)) in samples.iter().zip(&stacks) {
            let names: Vec<&str> = weights(sample)
                .into_iter()
                .map(|at| frames[usize::try_from(at).expect("a frame")]["name"].as_str())
                .map(|name| name.expect("a name"))
                .collect();
            assert_eq!(names.join(";"), *stack);
        }
        let firefox = export("firefox");
        let thread = &firefox["threads"][0];
        assert!(
            weights(&thread["samples"]["weight"]) == expected,
            "{temporary:?}"
        );
        // The stack of each sample, from its innermost frame outwards.
        let number = |value: &Json| usize::try_from(value.as_u64()?).ok();
        for (at, (stack, _)) in stacks.iter().enumerate() {
            let mut names = Vec::new();
            let mut next = number(&thread["samples"]["stack"][at]);
            while let Some(here) = next {
                let frame = number(&thread["stackTable"]["frame"][here]).expect("a frame");
                let function = number(&thread["frameTable"]["func"][frame]).expect("a function");
                let name = number(&thread["funcTable"]["name"][function]).expect("a name");
                names.push(thread["stringArray"][name].as_str().expect("a text"));
                next = number(&thread["stackTable"]["prefix"][here]);
            }
            names.reverse();
            assert_eq!(names.join(";"), *stack);
        }
    }
}

/// A stream is held back until its size is known, 8 MiB of it in memory. Without a file for the
/// rest, it is made a second time.
#[test]
fn stream_has_all_bytes_with_and_without_a_file() {
    const PROFILE: &str = "a;b;c;d;e;f;g;h 300000\n";
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("p.folded"), PROFILE).expect("space");
    let (database, run_info) = import_profile("folded", PROFILE.as_bytes());
    let request = Request {
        output: Output::Draft,
        ..Request::default()
    };
    let (expected, _) = export_run("sampler", &database, &run_info, &request);
    assert!(expected.len() > 8 << 20);
    for temporary in ALL {
        let stream = run(
            folder.path(),
            temporary,
            &["convert", "p.folded", "--to", "sampler"],
        );
        assert!(stream.as_bytes() == expected, "{temporary:?}");
    }
}
