//! What a terminal shows of a command that takes long, and how a command ends that is interrupted: at defined
//! points, where it is held up until the test has seen what it waits for.

#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "small files of our own")]

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read, Write as _};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::thread;

use profdb::base::ending::NOTICE;
use tempfile::TempDir;

use crate::support::faults::{DATABASE, calls, check, copy, entries, profdb, text, with_fault};
use crate::support::program::PROFDB;
use crate::support::{long, tools};

/// All commands that read or change a database or profiles: what they are asked, the end of the name of the file
/// whose opening holds them up, what a terminal shows meanwhile, and their exit code.
const COMMANDS: [(&str, &str, &str, i32); 26] = [
    ("new.folded", "new.folded", "asking", 0),
    ("x.db", DATABASE, "asking", 0),
    ("import --again new.folded", "new.folded", "importing", 0),
    ("import --again .", "new.folded", "importing", 0),
    ("runs", DATABASE, "asking", 0),
    ("show 1", DATABASE, "asking", 0),
    ("tag 1 more=1", DATABASE, "tagging", 0),
    ("delete 3", DATABASE, "deleting", 0),
    ("compact", DATABASE, "compacting", 0),
    ("identify", DATABASE, "identifying functions", 0),
    ("merge other.db x.db", DATABASE, "checking", 0),
    ("export 1 --format folded", DATABASE, "exporting", 0),
    (
        "export --diff 1 2 --format folded",
        DATABASE,
        "exporting",
        0,
    ),
    (
        "convert new.folded --to pprof -o new.pb.gz",
        "new.folded",
        "converting",
        0,
    ),
    ("diff 1 2", DATABASE, "comparing", 0),
    ("diff new.folded old.folded", "old.folded", "comparing", 0),
    (
        "gate --budget perf.budget --base 1 --new 2",
        DATABASE,
        "comparing",
        // One run a side measures nothing.
        4,
    ),
    ("history", DATABASE, "asking", 0),
    ("steps", DATABASE, "searching", 0),
    ("sql SELECT(1)", DATABASE, "asking", 0),
    ("dump new.folded", "new.folded", "reading", 0),
    ("check", DATABASE, "checking", 0),
    ("report", DATABASE, "asking", 0),
    ("report tree new.folded", "new.folded", "asking", 0),
    ("report diff_tree 1 2", DATABASE, "asking", 0),
    ("report --html page.html", DATABASE, "asking", 0),
];

/// A database of three runs, a profile that it has not, and a budget.
fn made() -> &'static Path {
    static MADE: OnceLock<TempDir> = OnceLock::new();
    let made = MADE.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, content: &str| {
            fs::write(folder.path().join(name), content).expect("space on the disk");
        };
        for run in 1..=3 {
            write(
                "old.folded",
                &format!("main;load {run}00\nmain;parse 7{run}\n"),
            );
            let tags = [format!("commit=c{run}"), format!("commit_count={run}")];
            let [commit, count] = tags.each_ref().map(String::as_str);
            let arguments = [
                "import",
                "--db",
                DATABASE,
                "--tag",
                commit,
                "--tag",
                count,
                "old.folded",
            ];
            let done = profdb(folder.path(), &arguments).output().expect("it runs");
            assert!(done.status.success(), "{}", text(&done.stderr));
        }
        write("new.folded", "main;load 90\nmain;parse 71\n");
        write("perf.budget", "total <= +900 %\n");
        folder
    });
    made.path()
}

/// The same, in whose database a run has been deleted: it can be compacted to fewer pages.
fn with_room() -> &'static Path {
    static MADE: OnceLock<TempDir> = OnceLock::new();
    let made = MADE.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        copy(made(), folder.path());
        let mut stacks = String::new();
        for at in 0..2000 {
            writeln!(stacks, "main;function_{at} 1").expect("memory");
        }
        fs::write(folder.path().join("new.folded"), stacks).expect("space on the disk");
        for arguments in ["import new.folded", "delete 4"] {
            let words: Vec<&str> = arguments.split(' ').collect();
            let done = profdb(folder.path(), &words)
                .env("PROFDB_DB", DATABASE)
                .output()
                .expect("it runs");
            assert!(done.status.success(), "{}", text(&done.stderr));
        }
        folder
    });
    made.path()
}

/// A folder with all that, and a pipe at which commands are held up.
fn place() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    copy(made(), folder.path());
    tools::make_fifo(&folder.path().join("held")).expect("a pipe");
    folder
}

/// A command that is held up when it opens a file for the first time.
fn held_up(command: &mut Command, folder: &Path, ends: &str) {
    with_fault(command, folder, Path::new("/dev/null"), 1, "run");
    let script = format!("cat '{}' >/dev/null", folder.join("held").display());
    command
        .env("FAULT_ENDS", format!("/{ends}"))
        .env("FAULT_RUN", script)
        .env("PROFDB_DB", DATABASE);
}

/// Lets the command go on that is held up.
fn let_go(folder: &Path) {
    drop(
        fs::OpenOptions::new()
            .write(true)
            .open(folder.join("held"))
            .expect("a pipe that is being read"),
    );
}

/// Reads up to where a text has come. An output that ends before has not shown it.
fn read_up_to(output: &mut impl Read, expected: &str) -> String {
    let mut seen = Vec::new();
    let mut byte = [0];
    while !text(&seen).ends_with(expected) {
        let read = output.read(&mut byte).unwrap_or(0);
        assert!(read > 0, "expected {expected:?}, found {:?}", text(&seen));
        seen.push(byte[0]);
    }
    text(&seen)
}

/// What a line shows in the end of what was written to it: letters after the last return to its start that erases it.
pub(super) fn left_on_lines(shown: &str) -> String {
    shown
        .split('\n')
        .map(|line| {
            let line = line.trim_end_matches('\r');
            line.rsplit("\x1b[2K").next().unwrap_or(line)
        })
        .collect::<Vec<_>>()
        .join("\n")
}

/// Everything that takes longer than half a second says on a terminal what it does, and nothing of that stays on the
/// screen.
#[test]
fn every_command_shows_that_it_is_at_work() {
    for (arguments, ends, word, code) in COMMANDS {
        let folder = place();
        let line =
            format!("'{PROFDB}' {arguments}; echo code $?").replace("SELECT(1)", "'SELECT 1'");
        let mut command = tools::terminal(&line);
        command
            .current_dir(folder.path())
            .env("TERM", "xterm")
            .env("PAGER", "cat")
            .env_remove("PROFDB_PAGER")
            .env_remove("PROFDB_DB")
            .stdout(Stdio::piped());
        held_up(&mut command, folder.path(), ends);
        let mut child = command.spawn().expect("it is there");
        let mut output = child.stdout.take().expect("a pipe");
        let mut shown = read_up_to(&mut output, word);
        let_go(folder.path());
        output.read_to_string(&mut shown).expect("text");
        assert!(child.wait().expect("it ends").success(), "{arguments}");
        let left = left_on_lines(&shown);
        assert!(!left.contains(word), "{arguments}: {shown:?}");
        assert!(
            left.trim_end().ends_with(&format!("code {code}")),
            "{arguments}: {shown:?}"
        );
    }
}

fn start(folder: &Path, arguments: &str, ends: &str) -> Child {
    let words: Vec<String> = arguments
        .split(' ')
        .map(|word| word.replace("SELECT(1)", "SELECT 1"))
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut command = profdb(folder, &words);
    held_up(&mut command, folder, ends);
    command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program is there")
}

/// A command ends when it is asked to, also where its thread never comes back: it is held up until the command has
/// ended. What the folder has is as before.
#[test]
fn no_command_has_to_come_back_to_be_stopped() {
    for (arguments, ends, ..) in COMMANDS {
        let folder = place();
        let database = fs::read(folder.path().join(DATABASE)).expect("it is there");
        let names = entries(folder.path());
        let child = start(folder.path(), arguments, ends);
        // The other end is being read as soon as this one can be opened.
        let held = fs::OpenOptions::new()
            .write(true)
            .open(folder.path().join("held"))
            .expect("a pipe");
        assert!(tools::kill(child.id(), "TERM"), "{arguments}");
        // What the shell has inherited stays open until it ends: only the program is waited for.
        let mut child = child;
        let status = child.wait().expect("it ends");
        drop(held);
        assert_eq!(status.code(), Some(130), "{arguments}");
        assert_eq!(
            fs::read(folder.path().join(DATABASE)).expect("it is there"),
            database,
            "{arguments}"
        );
        assert_eq!(entries(folder.path()), names, "{arguments}");
    }
}

/// Interrupts commands at calls that change a file: at each call in the long form, else at every fourth.
///
/// The command ends with 130, or it finishes and prints what it has done.
#[test]
fn interrupted_change_ends_or_finishes() {
    let changing = [
        "tag 1 more=1",
        "delete 3",
        "compact",
        "identify --root a=b",
        "merge other.db x.db",
    ];
    for arguments in changing {
        let words: Vec<&str> = arguments.split(' ').collect();
        let mut stopped = 0;
        for at in (1..).step_by(if long::is_long() { 1 } else { 4 }) {
            let folder = place();
            if arguments == "compact" {
                copy(with_room(), folder.path());
            }
            let log = tempfile::NamedTempFile::new().expect("a file");
            let mut command = profdb(folder.path(), &words);
            with_fault(&mut command, folder.path(), log.path(), at, "int");
            let done = command
                .env("PROFDB_DB", DATABASE)
                .output()
                .expect("it runs");
            match done.status.code() {
                Some(130) => stopped += 1,
                Some(0) => assert!(!done.stdout.is_empty(), "{arguments}, {at}"),
                _ => panic!("{arguments}, {at}: {done:?}"),
            }
            check(folder.path(), arguments);
            if calls(log.path()).len() < at {
                break;
            }
        }
        assert!(stopped > 0, "{arguments}");
    }
}

/// A run that is stored is told of, however slowly its line is read: an interrupt that comes after it does not say that it is
/// not there.
#[test]
fn an_interrupt_after_a_run_is_stored_comes_too_late() {
    let folder = place();
    for (at, arguments) in ["import new.folded", "import --again new.folded new.folded"]
        .into_iter()
        .enumerate()
    {
        let words: Vec<&str> = arguments.split(' ').collect();
        let (mut output, full) = io::pipe().expect("a pipe");
        // Another opening of it, so that the program's own waits for room.
        let filled = fs::OpenOptions::new()
            .write(true)
            .custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed())
            .open(format!("/proc/self/fd/{}", full.as_raw_fd()));
        let mut filled = filled.expect("Linux");
        while filled.write(b"\n").is_ok() {}
        let number = |folder: &Path| {
            let asked = profdb(folder, &["runs", "--format", "csv"])
                .env("PROFDB_DB", DATABASE)
                .output();
            text(&asked.expect("it runs").stdout).lines().count()
        };
        let before = number(folder.path());
        let mut child = profdb(folder.path(), &words)
            .env("PROFDB_DB", DATABASE)
            .stdout(full)
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program is there");
        drop(filled);
        while number(folder.path()) == before {
            assert!(child.try_wait().expect("it is ours").is_none(), "{at}");
        }
        assert!(tools::kill(child.id(), "INT"));
        // Longer than a thread may take to notice that it is to stop.
        thread::sleep(3 * NOTICE);
        let mut said = String::new();
        output.read_to_string(&mut said).expect("text");
        let done = child.wait_with_output().expect("it ends");
        let told = said.trim().lines().count();
        assert_eq!(number(folder.path()) - before, told, "{said}, {done:?}");
        // Of two files, the other one may be stopped.
        let code = done.status.code();
        assert!(
            code == Some(0) || (at == 1 && told == 1 && code == Some(130)),
            "{done:?}"
        );
    }
}
