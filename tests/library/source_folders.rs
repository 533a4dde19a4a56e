//! Folders with source that an import stores, and folders that it works in.

use std::fs::{self, File};
use std::path::Path;

use rusqlite::Connection;

use crate::support::program;

/// Runs the program in a folder.
fn run(folder: &Path, words: &[&str]) {
    let mut command = program::command();
    command.args(words).current_dir(folder);
    let done = command.output().expect("the program");
    assert!(done.status.success(), "{words:?}: {done:?}");
}

fn write(root: &Path, files: &[(&str, &str)]) {
    for (name, content) in files {
        let path = root.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, content).expect("a file");
    }
}

fn rows(folder: &Path, sql: &str) -> Vec<String> {
    let connection = Connection::open(folder.join("x.db")).expect("a database");
    let mut statement = connection.prepare(sql).expect("a statement");
    let rows = statement.query_map([], |row| row.get(0)).expect("rows");
    rows.collect::<Result<_, _>>().expect("rows")
}

/// Imports a profile with functions in files, and the source in the folder `src`. Returns the files with source.
fn files_with_source(folder: &Path, functions: &[(&str, &str)]) -> Vec<String> {
    let functions = functions.iter().zip(1..);
    let nodes: Vec<_> = functions
        .map(|((name, file), id)| {
            serde_json::json!({"id": id + 1, "hitCount": 1, "callFrame": {
                "functionName": name, "scriptId": "1", "url": file, "lineNumber": 0, "columnNumber": 0,
            }})
        })
        .collect();
    let children: Vec<u64> = (2..).take(nodes.len()).collect();
    let root = serde_json::json!({"id": 1, "callFrame": {
        "functionName": "(root)", "scriptId": "0", "url": "", "lineNumber": -1, "columnNumber": -1,
    }, "children": children});
    let nodes = [vec![root], nodes].concat();
    let profile = serde_json::json!({
        "nodes": nodes,
        "startTime": 0, "endTime": children.len(),
        "samples": children, "timeDeltas": vec![1; children.len()],
    });
    fs::write(folder.join("p.cpuprofile"), profile.to_string()).expect("a file");
    run(
        folder,
        &["import", "--db", "x.db", "--source", "src", "p.cpuprofile"],
    );
    rows(
        folder,
        "SELECT DISTINCT IIF(r.file = '', f.file, r.file) FROM run_sources AS r JOIN functions AS f USING (function_id) ORDER BY 1",
    )
}

#[test]
fn source_is_found_at_any_depth_up_to_the_limit() {
    const MAXIMUM_DEPTH: usize = 64;
    let folder = tempfile::tempdir().expect("a folder");
    let deep = format!("{}x.c", "d/".repeat(MAXIMUM_DEPTH - 1));
    let deeper = format!("d/d/{deep}");
    let names = ["b.c", "a/z.c", "a.c", &deep, &deeper];
    let files = names.map(|name| (name, "f"));
    write(&folder.path().join("src"), &files);
    let functions = names.map(|name| ("f", name));
    assert_eq!(
        files_with_source(folder.path(), &functions),
        ["a.c", "a/z.c", "b.c", &deep]
    );
}

/// A profile may name any path. Only files in the folder are read.
#[cfg(unix)]
#[test]
fn source_outside_the_folder_is_not_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let above = folder.path();
    write(
        above,
        &[
            ("secret.c", "secret"),
            ("src/own.c", "own"),
            ("other/Go.aplf", "secret"),
        ],
    );
    for (to, name) in [
        ("secret.c", "link.c"),
        ("other", "folder"),
        ("src", "loop"),
        ("missing", "missing.c"),
    ] {
        let link = above.join("src").join(name);
        std::os::unix::fs::symlink(above.join(to), link).expect("a link");
    }
    let secret = above.join("secret.c").display().to_string();
    let files = [
        "../secret.c",
        "./../secret.c",
        "a/../../secret.c",
        "..\\secret.c",
        &secret,
        "link.c",
        "loop/own.c",
    ];
    let mut functions: Vec<(&str, &str)> = files.iter().map(|file| ("f", *file)).collect();
    functions.extend(["#.../other/Go", "#.folder.Go", "#.other.Go"].map(|name| (name, "")));
    assert_eq!(files_with_source(above, &functions), ["loop/own.c"]);
    let texts = rows(above, "SELECT text FROM source_texts");
    assert_eq!(texts, ["own"]);
}

#[test]
fn source_file_above_the_maximum_size_is_not_read() {
    const MAXIMUM_SIZE: u64 = 16 << 20;
    let folder = tempfile::tempdir().expect("a folder");
    write(
        &folder.path().join("src"),
        &[("large.c", ""), ("larger.c", "")],
    );
    for (name, length) in [("large.c", MAXIMUM_SIZE), ("larger.c", MAXIMUM_SIZE + 1)] {
        let path = folder.path().join("src").join(name);
        let file = File::options().write(true).open(path).expect("a file");
        file.set_len(length).expect("a file with a hole");
    }
    files_with_source(folder.path(), &[("f", "large.c"), ("g", "larger.c")]);
    let notes = rows(
        folder.path(),
        "SELECT message FROM notes WHERE message LIKE '%larg%.c%'",
    );
    let [note] = notes.as_slice() else {
        panic!("{notes:?}");
    };
    assert!(note.contains("larger.c"), "{note}");
    assert!(
        note.contains("the file has more than 16777216 bytes"),
        "{note}"
    );
}

/// Makes a folder with a dataset of one run.
#[cfg(all(target_os = "linux", feature = "parquet"))]
fn dataset() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("p.folded"), "main;a 5\n").expect("a file");
    run(folder.path(), &["import", "--db", "a.db", "p.folded"]);
    let export = [
        "export", "--db", "a.db", "--format", "parquet", "--out", "d",
    ];
    run(folder.path(), &export);
    folder
}

#[cfg(all(target_os = "linux", feature = "parquet"))]
#[test]
fn folder_that_an_ended_program_left_is_removed() {
    let folder = dataset();
    let place = folder.path().join("here");
    let [left, used, link] =
        ["left", "used", "link"].map(|name| place.join(format!(".profdb-scratch-{name}")));
    let other = place.join(".tmpAbCdEf");
    for folder in [&left, &used, &other] {
        fs::create_dir_all(folder).expect("a folder");
    }
    std::os::unix::fs::symlink(&other, &link).expect("a link");
    // A program that uses its folder has it locked.
    let lock = File::open(&used).expect("a folder");
    lock.try_lock().expect("a lock");
    run(
        &place,
        &["import", "--from", "dataset", "--db", "b.db", "../d"],
    );
    assert!(!left.exists());
    assert!(used.is_dir() && other.is_dir() && link.is_symlink());
    let mut names: Vec<_> = fs::read_dir(&place)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            ".profdb-scratch-link",
            ".profdb-scratch-used",
            ".tmpAbCdEf",
            "b.db"
        ]
    );
}
