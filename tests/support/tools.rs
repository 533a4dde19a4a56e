//! The one place from which tests start programs that are not part of profdb.
//!
//! A test that needs a missing program is skipped, not passed: [`require`] ends it. With `CI=true`
//! it fails instead.

#![expect(clippy::disallowed_methods, reason = "looks for programs")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, io};

use super::harness;
use super::program::PROFDB;
pub(crate) use super::program::command_at;

/// Programs that tests start, and the Debian package or other source of each.
const PROVIDERS: &[(&str, &str)] = &[
    ("Rscript", "r-base-core"),
    ("bash", "bash"),
    ("callgrind_annotate", "valgrind"),
    ("cc", "gcc"),
    ("chromium", "chromium or chromium-headless-shell"),
    ("dot", "graphviz"),
    ("fish", "fish"),
    ("g++", "g++"),
    ("gcc", "gcc"),
    ("git", "git"),
    ("gprof", "binutils"),
    ("go", "golang-go"),
    ("java", "openjdk-17-jdk-headless"),
    ("javac", "openjdk-17-jdk-headless"),
    ("javap", "openjdk-17-jdk-headless"),
    ("jfr", "openjdk-17-jdk-headless"),
    ("mandoc", "mandoc"),
    ("nm", "binutils"),
    ("mount", "mount"),
    ("node", "nodejs"),
    ("perf", "linux-perf"),
    ("php", "php-cli"),
    ("py-spy", "pip"),
    ("pyinstrument", "pip"),
    ("python3", "python3"),
    ("ruby", "ruby"),
    ("rustc", "the Rust toolchain"),
    ("sbcl", "sbcl"),
    ("script", "bsdutils"),
    ("setpriv", "util-linux"),
    ("sqlite3", "sqlite3"),
    ("unshare", "util-linux"),
    ("valgrind", "valgrind"),
    ("zsh", "zsh"),
];

/// Returns the path of a program in `PATH`, or skips the test.
///
/// # Panics
/// If the program is missing and `CI=true`, or if [`PROVIDERS`] does not list it.
pub(crate) fn require(program: &str) -> PathBuf {
    let provider = PROVIDERS.iter().find(|(name, _)| *name == program);
    let (_, provider) = provider.unwrap_or_else(|| panic!("add {program} to PROVIDERS"));
    find(program).unwrap_or_else(|| skip_missing(program, provider))
}

/// Returns a command that starts a program in `PATH`, or skips the test.
pub(crate) fn command(program: &str) -> Command {
    command_at(require(program))
}

/// Returns a command that starts the POSIX shell, which every Unix has.
///
/// Its scripts use built-in commands and coreutils only. A script that needs another program comes
/// after [`require`].
pub(crate) fn shell() -> Command {
    command_at("/bin/sh")
}

/// Returns a command that runs a line of the shell on a terminal of its own, or skips the test.
pub(crate) fn terminal(line: &str) -> Command {
    let mut command = command("script");
    command
        .args(["-qec", line, "/dev/null"])
        // `script` starts the shell of whoever runs the tests.
        .env("SHELL", "/bin/sh")
        .env("NO_COLOR", "1")
        .stdin(Stdio::null());
    command
}

/// Skips the test unless Python can import a module.
pub(crate) fn require_python_module(module: &str) {
    let mut python = command("python3");
    python.args(["-c", &format!("import {module}")]);
    require_success(python, &format!("Python module {module}"), "pip");
}

/// Skips the test unless R has a package.
pub(crate) fn require_r_package(package: &str, provider: &str) {
    let mut rscript = command("Rscript");
    rscript.args(["-e", &format!("library({package})")]);
    require_success(rscript, &format!("R package {package}"), provider);
}

/// Skips the test unless a command succeeds, which shows that a tool is installed.
pub(crate) fn require_success(mut command: Command, tool: &str, provider: &str) {
    command.stdin(Stdio::null());
    let is_there = command.output().is_ok_and(|output| output.status.success());
    if !is_there {
        skip_missing(tool, provider);
    }
}

/// Skips the test because a tool is not installed.
///
/// # Panics
/// If `CI=true`: CI installs every tool.
pub(crate) fn skip_missing(tool: &str, provider: &str) -> ! {
    let reason = format!("needs {tool} (package: {provider})");
    assert!(
        env::var("CI").as_deref() != Ok("true"),
        "{reason}, and CI=true does not allow that"
    );
    harness::skip(reason)
}

/// Skips the test because the system does not allow what it tests, whatever is installed.
pub(crate) fn skip_unsupported(feature: &str) -> ! {
    harness::skip(format!("needs {feature}, which this system does not allow"))
}

/// Makes profdb available at a path: as a file that every user may run if root runs the tests, else
/// as a symbolic link.
///
/// Another process makes the copy. If this one did, a child that another test starts meanwhile would
/// hold the copy open for writing, and nobody could run it.
#[cfg(unix)]
pub(crate) fn install_program(path: &Path) {
    let script = if rustix::process::geteuid().is_root() {
        // A copy takes more room than a link.
        "{ ln \"$0\" \"$1\" 2>/dev/null || cp \"$0\" \"$1\"; } && chmod 755 \"$1\""
    } else {
        "ln -s \"$0\" \"$1\""
    };
    let mut shell = shell();
    shell.args(["-c", script, PROFDB]).arg(path);
    assert!(shell.status().is_ok_and(|status| status.success()));
}

/// Writes a program for the shell, by another process as in [`install_program`].
#[cfg(unix)]
pub(crate) fn write_script(path: &Path, commands: &str) {
    let mut shell = shell();
    shell
        .args([
            "-c",
            "printf '#!/bin/sh\n%s\n' \"$1\" >\"$0\" && chmod 755 \"$0\"",
        ])
        .arg(path)
        .arg(commands);
    assert!(shell.status().is_ok_and(|status| status.success()));
}

/// Returns a command that runs a script of the shell in a mount namespace, or skips the test.
pub(crate) fn namespace(script: &str) -> Command {
    require("mount");
    let mut command = command("unshare");
    command.args(["-rm", "/bin/sh", "-ec", script, PROFDB]);
    command
}

/// A user that owns nothing.
#[cfg(unix)]
pub(crate) const STRANGER: u32 = 65_534;

/// Skips the test unless it can give files to other users and start programs as one of them.
#[cfg(unix)]
pub(crate) fn require_other_users() {
    use std::os::unix::{fs::chown, process::CommandExt as _};

    let folder = tempfile::tempdir().expect("the folder for temporary files is writable");
    let is_given = chown(folder.path(), Some(STRANGER), Some(STRANGER)).is_ok();
    let mut shell = shell();
    shell
        .args(["-c", "cd \"$0\""])
        .arg(folder.path())
        .uid(STRANGER)
        .gid(STRANGER);
    let is_root = rustix::process::geteuid().is_root();
    if !is_root || !is_given || !shell.output().is_ok_and(|output| output.status.success()) {
        skip_unsupported("root, whose folder for temporary files is open to other users");
    }
}

/// Lets a command run without the rights of root: if root runs the tests, as another user.
#[cfg(unix)]
pub(crate) fn drop_rights(command: &mut Command) {
    use std::os::unix::process::CommandExt as _;

    if rustix::process::geteuid().is_root() {
        require_other_users();
        command.uid(STRANGER).gid(STRANGER);
    }
}

/// Sends a signal to a process. Returns false if there is no such process.
pub(crate) fn kill(process: u32, signal: &str) -> bool {
    // `kill` is built into the shell.
    let mut shell = shell();
    shell
        .args(["-c", "kill -\"$0\" \"$1\" 2>/dev/null", signal])
        .arg(process.to_string());
    shell.status().is_ok_and(|status| status.success())
}

/// Makes a named pipe.
///
/// # Errors
/// If the file system refuses it.
#[cfg(unix)]
pub(crate) fn make_fifo(path: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o600), 0)?;
    Ok(())
}

/// Returns the path of a program in `PATH`.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let name = format!("{program}{}", env::consts::EXE_SUFFIX);
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .map(|folder| folder.join(&name))
        .find(|file| file.is_file())
}
