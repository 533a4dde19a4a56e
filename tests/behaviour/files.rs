//! What becomes of the files that somebody wants an output in, and what is left of those that were
//! not finished.

#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "small files of our own")]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, lchown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use crate::support::faults::{calls, with_fault};
use crate::support::program::{self, PROFDB};
use crate::support::tools::{self, STRANGER};

const PROFILE: &str = "a;b 5\na;c 7\n";

/// A folder with a profile, and the program to call there.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("p"), PROFILE).expect("a file");
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, mode: u32) {
        fs::write(self.path(name), "what was there before, which is longer").expect("a file");
        self.mode(name, mode);
    }

    fn mode(&self, name: &str, mode: u32) {
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(mode)).expect("it is ours");
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("it is there")
    }

    fn program(&self, arguments: &[&str]) -> Command {
        let mut command = program::command();
        command.args(arguments).current_dir(self.folder.path());
        command
    }

    fn ends(&self, code: i32, arguments: &[&str]) -> Output {
        let done = self
            .program(arguments)
            .output()
            .expect("the program is there");
        assert_eq!(
            done.status.code(),
            Some(code),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&done.stderr)
        );
        done
    }

    /// What stands in the folder.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).expect("a folder");
        let mut names: Vec<String> = entries
            .map(|entry| {
                entry
                    .expect("an entry")
                    .file_name()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        names.sort();
        names
    }
}

/// Every command that writes files, as it writes `o`; what it then holds begins so.
const MAKERS: [(&[&str], &str); 4] = [
    (
        &[
            "report",
            "summary",
            "p",
            "--outfile",
            "o",
            "--format",
            "csv",
        ],
        "\"Element\"",
    ),
    (&["convert", "p", "--to", "folded", "-o", "o"], "a;b 5"),
    (
        &[
            "convert",
            "p",
            "--to",
            "folded",
            "-o",
            "other",
            "--loss-report",
            "o",
        ],
        "{",
    ),
    (
        &["export", "--db", "x.db", "--format", "folded", "-o", "o"],
        "a;b 5",
    ),
];

#[test]
fn what_is_replaced_keeps_mode_links_and_names() {
    for (maker, begins) in MAKERS {
        let place = Place::new();
        place.ends(0, &["import", "--db", "x.db", "p"]);
        let is_written = |name: &str| {
            assert!(
                place.read(name).starts_with(begins),
                "{maker:?}, {name}: {}",
                place.read(name)
            );
            assert!(
                !place.read(name).contains("before"),
                "{maker:?}, {name}: {}",
                place.read(name)
            );
        };
        for mode in [0o600, 0o640, 0o444, 0o777] {
            place.write("o", mode);
            place.ends(0, maker);
            is_written("o");
            assert_eq!(
                fs::metadata(place.path("o")).expect("it is there").mode() & 0o7777,
                mode,
                "{maker:?}"
            );
            fs::remove_file(place.path("o")).expect("it is there");
        }
        // The other name of a hard link.
        place.write("o", 0o600);
        fs::hard_link(place.path("o"), place.path("o2")).expect("a second name");
        place.ends(0, maker);
        is_written("o");
        is_written("o2");
        fs::remove_file(place.path("o")).expect("it is there");
        // A link to a link to a file, and one to nothing.
        place.write("target", 0o600);
        symlink("target", place.path("link")).expect("a link");
        symlink("link", place.path("o")).expect("a link");
        for _ in 0..2 {
            place.ends(0, maker);
            assert_eq!(
                fs::read_link(place.path("o")).expect("a link"),
                Path::new("link"),
                "{maker:?}"
            );
            assert_eq!(
                fs::read_link(place.path("link")).expect("a link"),
                Path::new("target"),
                "{maker:?}"
            );
            is_written("target");
            fs::remove_file(place.path("target")).expect("it is there");
        }
        // A circle is refused.
        symlink("o", place.path("target")).expect("a link");
        place.ends(1, maker);
        assert!(
            place.names().iter().all(|name| !name.starts_with('.')),
            "{:?}",
            place.names()
        );
    }
}

#[test]
fn manual_pages_keep_it_as_well() {
    let place = Place::new();
    fs::create_dir(place.path("man")).expect("a folder");
    place.write("page", 0o600);
    symlink("../page", place.path("man/profdb.1")).expect("a link");
    place.ends(0, &["man", "man"]);
    assert!(
        place.read("page").contains(".TH profdb"),
        "{}",
        place.read("page")
    );
    assert_eq!(
        fs::metadata(place.path("page"))
            .expect("it is there")
            .mode()
            & 0o7777,
        0o600
    );
    assert!(
        fs::symlink_metadata(place.path("man/profdb.1"))
            .expect("it is there")
            .is_symlink()
    );
}

#[test]
fn new_files_are_as_umask_has_them() {
    for (umask, mode) in [("022", 0o644), ("077", 0o600), ("002", 0o664)] {
        for (maker, _) in &MAKERS[..3] {
            let place = Place::new();
            let script = format!("umask {umask}; exec \"$0\" \"$@\"");
            let mut command = tools::shell();
            command
                .args(["-c", &script, PROFDB])
                .env_remove("PROFDB_DB")
                .args(*maker)
                .current_dir(place.folder.path());
            assert!(
                command.output().expect("a shell").status.success(),
                "{maker:?}"
            );
            assert_eq!(
                fs::metadata(place.path("o")).expect("it is there").mode() & 0o7777,
                mode,
                "{maker:?}"
            );
        }
    }
}

#[test]
fn extended_attributes_stay() {
    use rustix::fs::{XattrFlags, getxattr, setxattr};
    let place = Place::new();
    place.write("o", 0o600);
    if setxattr(place.path("o"), "user.origin", b"here", XattrFlags::empty()).is_err() {
        tools::skip_unsupported("extended attributes");
    }
    place.ends(0, MAKERS[1].0);
    let mut value = [0; 8];
    let length = getxattr(place.path("o"), "user.origin", &mut value).expect("it is still there");
    assert_eq!(&value[..length], b"here");
}

#[test]
fn file_of_another_user_keeps_its_owner() {
    tools::require_other_users();
    let place = Place::new();
    place.write("o", 0o660);
    chown(place.path("o"), Some(STRANGER), Some(STRANGER)).expect("root may");
    place.ends(0, MAKERS[1].0);
    let about = fs::metadata(place.path("o")).expect("it is there");
    assert_eq!(
        (about.uid(), about.gid(), about.mode() & 0o7777),
        (STRANGER, STRANGER, 0o660)
    );
    assert_eq!(place.read("o"), PROFILE);
}

/// A file in a folder where no others can be made.
#[test]
fn what_cannot_be_replaced_is_written_to() {
    let place = Place::new();
    tools::install_program(&place.path("program"));
    fs::create_dir(place.path("closed")).expect("a folder");
    place.write("closed/o", 0o666);
    let number = fs::metadata(place.path("closed/o"))
        .expect("it is there")
        .ino();
    place.mode("closed", 0o555);
    place.mode(".", 0o755);
    let run = |output: &str| {
        let mut command = tools::command_at("./program");
        command
            .args(["convert", "p", "--to", "folded", "-o", output])
            .current_dir(place.folder.path());
        tools::drop_rights(&mut command);
        command.output().expect("the program is there")
    };
    let done = run("closed/o");
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    assert_eq!(place.read("closed/o"), PROFILE);
    assert_eq!(
        fs::metadata(place.path("closed/o"))
            .expect("it is there")
            .ino(),
        number
    );
    let done = run("closed/new");
    assert_eq!(done.status.code(), Some(1));
    let said = String::from_utf8(done.stderr).expect("text");
    assert_eq!(
        said,
        "profdb: closed/new: cannot write it: Permission denied\n"
    );
    place.mode("closed", 0o755);
    assert_eq!(
        fs::read_dir(place.path("closed"))
            .expect("a folder")
            .count(),
        1
    );
}

#[test]
fn what_is_no_file_is_written_straight() {
    let place = Place::new();
    for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/dev/null"] {
        // Into a pipe, and into a file that others write to before and after.
        let direct = place.ends(0, &["convert", "p", "--to", "folded", "-o", name]);
        let script =
            format!("{{ echo before; \"$0\" convert p --to folded -o {name}; echo after; }} > out");
        let mut shell = tools::shell();
        shell
            .args(["-c", &script, PROFDB])
            .env_remove("PROFDB_DB")
            .current_dir(place.folder.path());
        assert!(shell.output().expect("a shell").status.success());
        let content = if name == "/dev/null" { "" } else { PROFILE };
        assert_eq!(String::from_utf8_lossy(&direct.stdout), content, "{name}");
        assert_eq!(
            place.read("out"),
            format!("before\n{content}after\n"),
            "{name}"
        );
    }
    tools::make_fifo(&place.path("pipe")).expect("a pipe");
    let mut writer = place.program(&["convert", "p", "--to", "folded", "-o", "pipe"]);
    let writer = writer
        .stderr(Stdio::null())
        .spawn()
        .expect("the program is there");
    assert_eq!(place.read("pipe"), PROFILE);
    assert!(writer.wait_with_output().expect("it ends").status.success());
    assert_eq!(place.names(), ["out", "p", "pipe"]);
}

#[test]
fn a_database_is_no_output_whatever_it_is_called() {
    let place = Place::new();
    place.ends(0, &["import", "--db", "x.db", "p"]);
    fs::hard_link(place.path("x.db"), place.path("second")).expect("a second name");
    symlink("x.db", place.path("link")).expect("a link");
    // To what SQLite would make beside the database.
    symlink("x.db-journal", place.path("log")).expect("a link");
    symlink("log", place.path("log of log")).expect("a link");
    let before = fs::read(place.path("x.db")).expect("it is there");
    for database in ["x.db", "link"] {
        for output in [
            "x.db",
            "second",
            "link",
            "log",
            "log of log",
            "x.db-wal",
            "x.db-journal",
            "x.db-shm",
        ] {
            place.ends(
                2,
                &[
                    "export", "--db", database, "--format", "folded", "-o", output,
                ],
            );
            place.ends(
                2,
                &[
                    "export",
                    "--db",
                    database,
                    "--format",
                    "folded",
                    "-o",
                    "o",
                    "--loss-report",
                    output,
                ],
            );
            place.ends(
                2,
                &["report", "summary", "--db", database, "--outfile", output],
            );
        }
    }
    assert_eq!(fs::read(place.path("x.db")).expect("it is there"), before);
    assert_eq!(
        place.names(),
        ["link", "log", "log of log", "p", "second", "x.db"]
    );
}

#[test]
fn link_of_the_same_user_makes_a_file() {
    let place = Place::new();
    symlink("new", place.path("own")).expect("a link");
    place.ends(0, &["convert", "p", "--to", "folded", "-o", "own"]);
    assert!(place.read("new").starts_with("a;b 5"));
}

/// Where there is no file, the link of another user does not say where one is made with our rights.
#[test]
fn a_strangers_link_makes_no_file() {
    tools::require_other_users();
    let place = Place::new();
    symlink("newer", place.path("theirs")).expect("a link");
    lchown(place.path("theirs"), Some(STRANGER), Some(STRANGER)).expect("this is root");
    let refused = place.ends(1, &["convert", "p", "--to", "folded", "-o", "theirs"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("a symbolic link of another user"), "{said}");
    assert_eq!(place.names(), ["p", "theirs"]);
    // Nor does one that is a folder of the path, where everybody may make such links.
    let open = place.path("open");
    fs::create_dir(&open).expect("a folder");
    fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).expect("it is ours");
    symlink("..", open.join("up")).expect("a link");
    lchown(open.join("up"), Some(STRANGER), Some(STRANGER)).expect("this is root");
    let refused = place.ends(
        1,
        &["convert", "p", "--to", "folded", "-o", "open/up/newer"],
    );
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("a symbolic link of another user"), "{said}");
    assert_eq!(place.names(), ["open", "p", "theirs"]);
}

/// Programs that are ended while they write: in order, at once, and without being asked.
#[test]
fn nothing_is_left_of_an_output_that_was_not_finished() {
    let arguments = ["convert", "p", "--to", "sampler", "-o", "o"];
    let write_profile = |place: &Place| {
        fs::write(place.path("p"), "a;b;c;d 20000\n").expect("a file");
    };
    let place = Place::new();
    write_profile(&place);
    let log = tempfile::NamedTempFile::new().expect("a file");
    let mut program = place.program(&arguments);
    with_fault(&mut program, place.folder.path(), log.path(), 0, "");
    assert!(program.output().expect("it runs").status.success());
    let called = calls(log.path());
    let writes = called.iter().filter(|(call, _)| call == "write").count();
    assert!(writes > 1, "{called:?}");
    let last = called.iter().rposition(|(call, _)| call == "write");
    let last = last.expect("it writes") + 1;
    for (signal, code) in [("INT", Some(130)), ("TERM", Some(130)), ("KILL", None)] {
        for old in [None, Some("old")] {
            let place = Place::new();
            write_profile(&place);
            if let Some(old) = old {
                fs::write(place.path("o"), old).expect("a file");
            }
            let before = place.names();
            // The program is held up at its last write until it has ended.
            let elsewhere = tempfile::tempdir().expect("a folder");
            let pipe = elsewhere.path().join("pipe");
            tools::make_fifo(&pipe).expect("a pipe");
            let mut program = place.program(&arguments);
            let log = Path::new("/dev/null");
            with_fault(&mut program, place.folder.path(), log, last, "run");
            let mut running = program
                .env("FAULT_RUN", format!("cat '{}'", pipe.display()))
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .expect("the program is there");
            let held = fs::OpenOptions::new().write(true).open(&pipe);
            let held = held.expect("a pipe that is being read");
            assert!(tools::kill(running.id(), signal));
            let status = running.wait().expect("it ends");
            drop(held);
            assert_eq!(status.code(), code, "{signal}");
            assert_eq!(place.names(), before, "{signal}");
            assert_eq!(old, old.map(|_| place.read("o")).as_deref());
        }
    }
}
