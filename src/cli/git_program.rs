//! The program git: where it is, and how it is asked without carrying out anything of the folder that it is asked about.

#![expect(
    clippy::disallowed_methods,
    reason = "the environment says where programs are, and a program may never end"
)]

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::base::error::Stop;

#[cfg(windows)]
const PROGRAM: &str = "git.exe";
#[cfg(not(windows))]
const PROGRAM: &str = "git";

/// What the names of variables begin with that change what git does.
const OWN_VARIABLES: &str = "GIT_";

/// Variables that every question is asked with.
const VARIABLES: [(&str, &str); 6] = [
    // Messages are compared.
    ("LC_ALL", "C"),
    ("GIT_TERMINAL_PROMPT", "0"),
    // Nothing is written to the index.
    ("GIT_OPTIONAL_LOCKS", "0"),
    // Objects that a partial clone lacks are not fetched: the configuration says by which program.
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    // Every clone has the same history.
    ("GIT_NO_REPLACE_OBJECTS", "1"),
];

/// How long one question may take: a configuration may include a pipe that nothing is ever written to.
const LIMIT: Duration = Duration::from_secs(60);

/// The longest pause between two looks whether git is done.
const LONGEST_PAUSE: Duration = Duration::from_millis(20);

/// Bytes of an answer that are read.
const ANSWER: u64 = 256 << 20;

/// Why there is no answer.
pub(super) enum Unknown {
    Interrupted,
    /// What to say.
    Said(String),
}

impl From<io::Error> for Unknown {
    fn from(error: io::Error) -> Self {
        Self::Said(format!("no temporary file for git: {error}"))
    }
}

/// The program.
pub(super) struct GitProgram {
    program: PathBuf,
    /// The folders of programs that are not of the folder which is asked about.
    path: OsString,
}

/// A question.
pub(super) struct Asked<'a> {
    /// Where git is started.
    pub(super) folder: &'a Path,
    pub(super) arguments: Vec<OsString>,
    /// Settings that replace those of files.
    pub(super) settings: Vec<OsString>,
    /// Variables that it gets besides.
    pub(super) variables: Vec<(&'static str, PathBuf)>,
    pub(super) input: Option<&'a [u8]>,
}

/// What git has answered.
pub(super) struct Answer {
    /// It ended without an error.
    pub(super) is_done: bool,
    pub(super) output: Vec<u8>,
    messages: Vec<u8>,
}

impl Answer {
    /// The output without the end of its line.
    fn line(&self) -> &[u8] {
        let line = self.output.strip_suffix(b"\n").unwrap_or(&self.output);
        line.strip_suffix(b"\r").unwrap_or(line)
    }

    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(self.line()).into_owned()
    }

    pub(super) fn path(&self) -> PathBuf {
        path_of(self.line())
    }

    /// The first line that it has said of an error.
    pub(super) fn first_message(&self) -> String {
        let messages = String::from_utf8_lossy(&self.messages);
        let first = messages.lines().next().unwrap_or("nothing");
        first.strip_prefix("fatal: ").unwrap_or(first).to_owned()
    }
}

/// A path as git writes it.
#[cfg(unix)]
pub(super) fn path_of(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    OsStr::from_bytes(bytes).into()
}

/// A path as git writes it.
#[cfg(not(unix))]
pub(super) fn path_of(bytes: &[u8]) -> PathBuf {
    String::from_utf8_lossy(bytes).into_owned().into()
}

/// A variable of the user's environment.
pub(super) fn variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

impl GitProgram {
    /// Finds the program among those that the user can start. One that lies in the repository of the folder is none of them,
    /// nor is one in a folder that depends on where we are.
    pub(super) fn find(folder: &Path) -> Result<Self, String> {
        let mut ancestors = folder.ancestors();
        let top = ancestors.find(|folder| folder.join(".git").symlink_metadata().is_ok());
        let top = top.unwrap_or(folder);
        let is_foreign = |path: &Path| {
            let real = fs::canonicalize(path);
            top.parent().is_none() || real.is_ok_and(|real| !real.starts_with(top))
        };
        let variable = env::var_os("PATH").unwrap_or_default();
        let folders: Vec<PathBuf> = env::split_paths(&variable)
            .filter(|folder| folder.is_absolute() && is_foreign(folder))
            .collect();
        let programs = folders.iter().map(|folder| folder.join(PROGRAM));
        let program = programs
            .into_iter()
            .find(|program| is_executable(program) && is_foreign(program))
            .ok_or("the program git is not in PATH (directories in the repository are ignored); install it, or use \
                    --tag commit=HASH")?;
        let path = env::join_paths(folders).unwrap_or_default();
        Ok(Self { program, path })
    }

    /// Asks it. `work` is a folder for what it writes.
    pub(super) fn ask(
        &self,
        asked: Asked<'_>,
        work: &Path,
        stop: &Stop,
    ) -> Result<Answer, Unknown> {
        let (mut output, mut messages) =
            (tempfile::tempfile_in(work)?, tempfile::tempfile_in(work)?);
        let input = match asked.input {
            None => Stdio::null(),
            Some(bytes) => {
                let mut file = tempfile::tempfile_in(work)?;
                file.write_all(bytes)?;
                file.seek(SeekFrom::Start(0))?;
                file.into()
            }
        };
        let mut command = Command::new(&self.program);
        for (name, _) in env::vars_os() {
            if name.to_string_lossy().starts_with(OWN_VARIABLES) {
                command.env_remove(name);
            }
        }
        command
            .env("PATH", &self.path)
            .envs(VARIABLES)
            .envs(asked.variables)
            .current_dir(asked.folder)
            .arg("--no-pager");
        for setting in asked.settings {
            command.arg("-c").arg(setting);
        }
        command
            .args(asked.arguments)
            .stdin(input)
            .stdout(output.try_clone()?)
            .stderr(messages.try_clone()?);
        let mut child = command.spawn().map_err(|error| {
            Unknown::Said(format!("{} cannot be run: {error}", self.program.display()))
        })?;
        let begun = Instant::now();
        let mut pause = Duration::from_millis(1);
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            let unknown = if stop.is_set() {
                Some(Unknown::Interrupted)
            } else if begun.elapsed() > LIMIT {
                let seconds = LIMIT.as_secs();
                let said = format!("git did not answer within {seconds} s");
                Some(Unknown::Said(said))
            } else {
                None
            };
            if let Some(unknown) = unknown {
                let _ = child.kill();
                let _ = child.wait();
                return Err(unknown);
            }
            sleep(pause);
            pause = (2 * pause).min(LONGEST_PAUSE);
        };
        Ok(Answer {
            is_done: status.success(),
            output: read(&mut output)?,
            messages: read(&mut messages)?,
        })
    }
}

/// What was written to a file.
fn read(file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.take(ANSWER).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(unix)]
fn is_executable(program: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let found = fs::metadata(program);
    found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(program: &Path) -> bool {
    program.is_file()
}
