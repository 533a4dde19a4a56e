//! Limits that the system sets: a program that meets one is done all the same, or ends with 5 and
//! one message, and the database is as it was or has the run.

#![cfg(target_os = "linux")]

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::process::Output;

use tempfile::TempDir;

use crate::support::program::PROFDB;
use crate::support::random::Random;
use crate::support::tools;

/// A shell ends so if it cannot set the limit.
const NO_SUCH_LIMIT: i32 = 77;

/// What comes before the program's `main`: the loader's message, or a signal.
fn has_not_begun(done: &Output) -> bool {
    let said = String::from_utf8_lossy(&done.stderr);
    done.status.code() == Some(127) && said.contains("shared libraries")
}

/// The C library itself, or Rust's, ends a program in which the first words of a thread, or its second stack, find no room: no
/// program can prevent or say that.
fn was_ended_by_a_library(done: &Output) -> bool {
    let said = String::from_utf8_lossy(&done.stderr);
    let has_no_room = said.starts_with("Fatal glibc error: ") || said.contains(NO_STACK);
    done.status.signal() == Some(6) && has_no_room
}

/// What Rust's library says of a thread whose second stack finds no room.
const NO_STACK: &str = "failed to allocate an alternative stack";

/// What the program itself says: where it goes on without a thread, Rust's library has said why there is none, and where.
fn own_words(said: &str) -> Vec<&str> {
    let is_own = |line: &&str| !said.contains(NO_STACK) || line.starts_with("profdb: ");
    said.lines().filter(is_own).collect()
}

/// A folder with a database of one run, and a longer profile to import.
fn place(is_for_users: bool) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    fs::set_permissions(path, fs::Permissions::from_mode(0o777)).expect("it is ours");
    if is_for_users {
        tools::install_program(&path.join("profdb"));
    } else {
        symlink(PROFDB, path.join("profdb")).expect("a file system with links");
    }
    let mut random = Random(1);
    let mut text = String::new();
    for _ in 0..4000 {
        for _ in 0..random.below(12) {
            let _ = write!(text, "function number {};", random.below(300));
        }
        let _ = writeln!(text, "leaf {}", 1 + random.below(1000));
    }
    fs::write(path.join("short"), "a;b 5\n").expect("a file");
    fs::write(path.join("long"), text).expect("a file");
    folder
}

const COMMANDS: [&str; 6] = [
    "import --db x.db long",
    "import --db new.db long",
    "merge x.db kept",
    "report summary long",
    "convert long --to pprof -o o",
    "report tree --db x.db --format csv --outfile o",
];

/// Tries every command with every value of a limit, which root may not have. Returns how many
/// commands succeeded and how many were refused.
fn ladder(limit: &str, values: &[u32], is_for_users: bool) -> (usize, usize) {
    let folder = place(is_for_users);
    let path = folder.path();
    let run = |script: &str| {
        let mut shell = tools::shell();
        shell
            .args(["-c", script])
            .current_dir(path)
            .env_remove("PROFDB_DB");
        if is_for_users {
            tools::drop_rights(&mut shell);
        }
        shell.output().expect("every Unix has a shell")
    };
    let sound = |about: &str| {
        let files = fs::read_dir(path)
            .expect("a folder")
            .map(|entry| entry.expect("an entry").file_name());
        for file in files.filter(|name| name.to_string_lossy().ends_with(".db")) {
            let checked = run(&format!("./profdb check --db {}", file.to_string_lossy()));
            assert!(
                checked.status.success(),
                "{about}: {}",
                String::from_utf8_lossy(&checked.stdout)
            );
        }
    };
    let made = run("exec ./profdb import --db kept long");
    assert!(
        made.status.success(),
        "{}",
        String::from_utf8_lossy(&made.stderr)
    );
    let (mut done, mut refused) = (0, 0);
    for value in values {
        for command in COMMANDS {
            let about = format!("ulimit {limit} {value}: {command}");
            let made = run("rm -f *.db* .*db* o; exec ./profdb import --db x.db short");
            assert!(
                made.status.success(),
                "{}",
                String::from_utf8_lossy(&made.stderr)
            );
            let output = run(&format!(
                "ulimit {limit} {value} 2>/dev/null || exit 77; exec ./profdb {command}"
            ));
            let said = String::from_utf8_lossy(&output.stderr);
            match output.status.code() {
                Some(0) => done += 1,
                Some(5) => {
                    refused += 1;
                    let words = own_words(&said);
                    assert_eq!(words.len(), 1, "{about}: {said}");
                    assert!(words[0].starts_with("profdb: "), "{about}: {said}");
                }
                Some(NO_SUCH_LIMIT) => tools::skip_unsupported(&format!("ulimit {limit}")),
                _ if has_not_begun(&output) || was_ended_by_a_library(&output) => {}
                // Without memory, the C library, SQLite or Rust's library may abort.
                None if limit == "-v" && output.status.signal() == Some(6) => {}
                // Without a stack or its libraries a program has no `main`.
                None if said.is_empty() && output.status.signal() == Some(11) => {}
                _ => panic!("{about}: {}, {said}", output.status),
            }
            if command.starts_with("import") || command.starts_with("merge") {
                sound(&about);
            }
        }
    }
    (done, refused)
}

/// Returns the address space that the program needs to start, in KiB.
///
/// It depends on the build and on the libraries of the system.
fn least_memory() -> u32 {
    let starts = |limit: &u32| {
        let script = format!("ulimit -v {limit} 2>/dev/null || exit 77; exec \"$0\" --version");
        let output = tools::shell().args(["-c", &script, PROFDB]).output();
        let output = output.expect("every Unix has a shell");
        if output.status.code() == Some(NO_SUCH_LIMIT) {
            tools::skip_unsupported("ulimit -v");
        }
        output.status.success()
    };
    let mut limits = (10_000..4_000_000).step_by(2000);
    limits.find(starts).expect("the program starts")
}

/// A command that gets no memory ends with a message or aborts, and stores no part of a run.
#[test]
fn memory() {
    const PLENTY: u32 = 4_000_000;
    let least = least_memory();
    let limits = [least, least + 3000, least + 10_000, least + 30_000, PLENTY];
    let (done, _) = ladder("-v", &limits, false);
    // With the least memory there is no room for a profile, and with plenty there is.
    let most = COMMANDS.len() * (limits.len() - 1);
    assert!((COMMANDS.len()..=most).contains(&done), "{done} done");
}

#[test]
fn sizes_of_files() {
    let (done, refused) = ladder("-f", &[0, 40, 600, 1_000_000], false);
    assert!(done >= 5 && refused > 0, "{done} done, {refused} refused");
}

#[test]
fn processes() {
    // Shells differ in its name.
    let name = tools::shell()
        .args(["-c", "ulimit -u"])
        .output()
        .expect("every Unix has a shell");
    // How many there are of the user is not known: the limit is the smallest, or none.
    let (done, refused) = ladder(
        if name.status.success() { "-u" } else { "-p" },
        &[0, 1, 4],
        true,
    );
    assert!(done + refused > 0, "nothing was tried");
}

#[test]
fn stacks() {
    let (done, _) = ladder("-s", &[128, 512], false);
    assert!(done >= 5, "{done} done");
}
