//! Standard input and output: what a case folder cannot show.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use crate::support::program::{self, PROFDB};
use crate::support::tools;
use flate2::Compression;
use flate2::write::GzEncoder;

const PROFILE: &str = "\"Depth\",\"Element\",\"Line\",\"Calls\",\"ExclusiveTime\",\"InclusiveTime\"\n\
                       0,\"#.main\",¯1,1,1,3\n1,\"#.main\",1,1,0.5,2.5\n2,\"#.sub\",¯1,4,2,2\n";

/// Runs the program with something on its standard input; exit code, output and errors.
fn profdb(folder: &Path, arguments: &[&str], input: &[u8]) -> (Option<i32>, String, String) {
    let mut child = program::command()
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    // A program that refuses its input need not read it to the end.
    let _ = stdin.write_all(input);
    drop(stdin);
    let output = child.wait_with_output().expect("the program ends");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

fn told(code: i32, out: &str, errors: &str) -> (Option<i32>, String, String) {
    (Some(code), out.to_owned(), errors.to_owned())
}

#[test]
fn a_profile_comes_from_standard_input() {
    let folder = tempfile::tempdir().expect("a folder");
    let import = |input: &[u8]| profdb(folder.path(), &["import", "-"], input);
    assert_eq!(
        import(PROFILE.as_bytes()),
        told(0, "-: run 1, 3 nodes\n", "")
    );
    let again = "profdb: -: already imported as run 1; --again stores it again\n";
    assert_eq!(import(PROFILE.as_bytes()), told(0, "", again));
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder
        .write_all(PROFILE.as_bytes())
        .expect("a vector takes everything");
    let packed = encoder.finish().expect("a vector takes everything");
    assert_eq!(import(&packed), told(0, "-: run 2, 3 nodes\n", ""));
    let runs = profdb(
        folder.path(),
        &[
            "sql",
            "SELECT run_id, run FROM run_list ORDER BY run_id",
            "--format",
            "csv",
        ],
        b"",
    );
    assert_eq!(runs, told(0, "\"run_id\",\"run\"\n1,\"-\"\n2,\"-\"\n", ""));
}

#[test]
fn a_report_reads_standard_input() {
    let folder = tempfile::tempdir().expect("a folder");
    let table = "Total time: 3.000 msec\n\nElement    msec       %  Calls\n#.main    3.000   100.0      1\n#.sub     2.000    66.7      4\n";
    assert_eq!(
        profdb(folder.path(), &["report", "-"], PROFILE.as_bytes()),
        told(0, table, "")
    );
    assert_eq!(
        std::fs::read_dir(folder.path()).expect("a folder").count(),
        0,
        "a report leaves nothing behind"
    );
}

#[test]
fn bad_standard_input_is_refused_with_its_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let import = |input: &[u8]| profdb(folder.path(), &["import", "-"], input);
    let empty = "profdb: -: expected a profile, found an empty file: see `profdb formats`\n";
    assert_eq!(import(b""), told(3, "", empty));
    let cut = &PROFILE.as_bytes()[..PROFILE.len() - 4];
    assert_eq!(
        import(cut),
        told(
            3,
            "",
            "profdb: -: line 4 (byte 109): expected 6 fields, found 5 (`--keep-before-error` imports the part before it)\n"
        )
    );
    assert_eq!(
        std::fs::read_dir(folder.path()).expect("a folder").count(),
        0,
        "no database is made"
    );
}

#[test]
fn a_closed_output_ends_quietly() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut child = program::command()
        .args(["report", "tree", "-", "--format", "csv"])
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    // Nobody reads; only then does the program get something to write.
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin
        .write_all(PROFILE.as_bytes())
        .expect("the program reads");
    drop(stdin);
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stderr).as_ref()
        ),
        (Some(0), "")
    );
}

/// A stream that is closed from the start is one that cannot be used, as for `cat` and `grep`: the runtime of Rust puts `/dev/null`
/// in its place, where what is written is lost. Python's `DEVNULL`, which is open for reading, too, is no such stream.
#[cfg(unix)]
#[test]
fn a_stream_that_is_closed_from_the_start_is_missed() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("p.csv"), PROFILE).expect("a file");
    let shell = |line: &str| {
        let done = tools::shell()
            .args(["-c", line, PROFDB])
            .current_dir(folder.path())
            .env_remove("PROFDB_DB")
            .stdin(Stdio::null())
            .output()
            .expect("a shell");
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        (done.status.code(), text(done.stdout), text(done.stderr))
    };
    let unwritten = "profdb: cannot write the output: standard output is closed\n";
    for command in [
        "p.csv",
        "report tree p.csv --format csv",
        "convert p.csv --to folded",
        "import p.csv",
        "runs",
        "sql 'SELECT 1'",
        "formats",
        "schema",
        "dump p.csv",
        "check",
        "tag 1 a=b",
        "completions bash",
        "--help",
        "help report",
        "--version",
    ] {
        let found = shell(&format!("exec \"$0\" {command} >&-"));
        assert_eq!(found, told(1, "", unwritten), "{command}");
        // What has no reader, or one that reads nothing, is no fault.
        let found = shell(&format!("exec \"$0\" {command} 1<>/dev/null"));
        assert_eq!((found.0, found.1.as_str()), (Some(0), ""), "{command}");
    }
    // What was to be done is done.
    let found = shell("exec \"$0\" sql 'SELECT COUNT(*) AS runs FROM runs' --format csv");
    assert_eq!(found, told(0, "\"runs\"\n1\n", ""));
    // Nothing is written where a file is named.
    let found = shell("exec \"$0\" report p.csv --outfile out.csv 2>/dev/null >&-");
    assert_eq!((found.0, found.1.as_str()), (Some(0), ""));
    assert!(folder.path().join("out.csv").exists());
    let found = shell("exec \"$0\" report p.csv --outfile /dev/stdout --format csv >&-");
    assert_eq!(found.0, Some(1), "{}", found.2);
    let found = shell("exec \"$0\" import - <&-");
    let unread = "profdb: -: cannot open it: standard input is closed\n";
    assert_eq!(found, told(3, "", unread));
    let found = shell("exec \"$0\" sql - <&-");
    assert_eq!(found, told(3, "", "profdb: standard input is closed\n"));
    // Without standard error, the exit code says it.
    assert_eq!(shell("exec \"$0\" nosuch.csv 2>&-"), told(2, "", ""));
    assert_eq!(shell("exec \"$0\" runs >&- 2>&- <&-"), told(1, "", ""));
}

/// Runs the program with an output, or its standard error, that nobody reads.
fn unheard(folder: &Path, arguments: &[&str], out: Stdio, errors: Stdio) -> Option<i32> {
    let mut program = program::command();
    program
        .args(arguments)
        .current_dir(folder)
        .stdout(out)
        .stderr(errors);
    program.status().expect("the program runs").code()
}

/// The writing end of a pipe whose reading end is gone.
fn closed() -> Stdio {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    writer.into()
}

/// What cannot be said is not said; what was to be done is done.
#[test]
fn imports_go_on_when_nobody_listens() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["a.csv", "b.csv"] {
        std::fs::write(folder.path().join(name), PROFILE).expect("a file");
    }
    let import = ["import", "--again", "a.csv", "b.csv"];
    assert_eq!(
        unheard(folder.path(), &import, closed(), Stdio::null()),
        Some(0)
    );
    assert_eq!(
        unheard(
            folder.path(),
            &["import", "missing.csv", "a.csv"],
            Stdio::null(),
            closed()
        ),
        Some(3)
    );
    let (_, runs, _) = profdb(
        folder.path(),
        &[
            "sql",
            "SELECT COUNT(*) AS runs FROM runs",
            "--format",
            "csv",
        ],
        b"",
    );
    assert_eq!(runs, "\"runs\"\n2\n");
    let full = || {
        std::fs::File::create("/dev/full")
            .expect("a full device")
            .into()
    };
    assert_eq!(
        unheard(folder.path(), &["runs"], full(), Stdio::null()),
        Some(1)
    );
    assert_eq!(
        unheard(folder.path(), &["delete", "2"], full(), full()),
        Some(1)
    );
}

/// `-` is standard input, also where a file of that name lies about.
#[test]
fn a_file_called_dash_is_not_standard_input() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("-"), PROFILE).expect("a file");
    assert_eq!(profdb(folder.path(), &["import", "./-"], b"").0, Some(0));
    let other = PROFILE.replace("#.main", "#.other");
    let (code, _, errors) = profdb(folder.path(), &["import", "-"], other.as_bytes());
    assert_eq!(
        (code, errors.as_str()),
        (Some(0), ""),
        "other content is another run"
    );
}

/// One long name does not make all rows of a table as long.
#[test]
fn a_long_name_moves_only_its_own_row() {
    let folder = tempfile::tempdir().expect("a folder");
    let long = "x".repeat(10_000);
    let profile = PROFILE.replace("#.main", &long);
    let (code, table, _) = profdb(folder.path(), &["report", "-"], profile.as_bytes());
    assert_eq!(code, Some(0));
    assert!(table.contains(&long), "the name is shown whole");
    assert!(table.len() < long.len() + 1000, "{} bytes", table.len());
}
