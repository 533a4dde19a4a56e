//! Processes that run one command of the program after the other, so that not every command of a
//! case has to start it.
//!
//! A worker is this test program, started again with [`IS_WORKER`] in its environment. It reads
//! requests from its standard input. Its standard output and standard error are one pipe, which the
//! output of a command and then [`END`] with the exit code go through. A command that ends the
//! process, by a panic for instance, ends the worker with it; the next command gets another one.

use std::fs::File;
use std::io::{self, BufRead, BufReader, PipeReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ExitCode, Stdio};
use std::sync::{Mutex, PoisonError};
use std::{env, mem};

use libtest_mimic::Failed;
use profdb::base::error::Stop;
use profdb::cli::{self, Failure};

use super::cases::isolate;
use crate::support::case_inputs::ensure;
use crate::support::tools::command_at;

/// The variable that makes this program a worker.
const IS_WORKER: &str = "PROFDB_TEST_WORKER";

/// What comes after the output of a command, before its exit code. The first byte is in no UTF-8.
const END: &[u8] = b"\xff end of the command: ";

/// Workers without a command.
static IDLE: Mutex<Vec<Worker>> = Mutex::new(Vec::new());

/// A worker, as the process that started it has it.
struct Worker {
    child: Child,
    requests: ChildStdin,
    output: BufReader<PipeReader>,
}

/// Whether this process is to be a worker.
pub(crate) fn is_worker() -> bool {
    env::var_os(IS_WORKER).is_some()
}

/// Runs the commands that are asked for on standard input.
pub(crate) fn work() -> io::Result<ExitCode> {
    // Commands have an empty standard input.
    let requests = rustix::io::fcntl_dupfd_cloexec(io::stdin(), 3)?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    #[cfg(feature = "parquet")]
    profdb::base::panics::show_others();
    for request in BufReader::new(File::from(requests)).lines() {
        let (folder, words): (PathBuf, Vec<String>) = serde_json::from_str(&request?)?;
        env::set_current_dir(folder)?;
        let outcome = cli::run(words.into_iter().map(Into::into), &Stop::default());
        let code = outcome.map_or_else(Failure::exit_code, |()| 0);
        let mut output = io::stdout();
        output.write_all(END)?;
        writeln!(output, "{code}")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the exit code and the output of a command of the program, which is run in a folder. The
/// first word is the name of the program.
pub(crate) fn run(folder: &Path, words: &[String]) -> io::Result<(String, Vec<u8>)> {
    let idle = idle().pop();
    let mut worker = idle.map_or_else(Worker::start, Ok)?;
    let mut request = serde_json::to_vec(&(folder, words))?;
    request.push(b'\n');
    worker.requests.write_all(&request)?;
    let mut output = Vec::new();
    loop {
        let begin = output.len();
        if worker.output.read_until(b'\n', &mut output)? == 0 {
            // The command has ended its process.
            drop(worker.requests);
            let status = worker.child.wait()?;
            let code = status.code().map(|code| code.to_string());
            return Ok((code.unwrap_or_else(|| status.to_string()), output));
        }
        let line = &output[begin..];
        let end = line.windows(END.len()).position(|bytes| bytes == END);
        if let Some(at) = end {
            let code = String::from_utf8_lossy(&line[at + END.len()..]);
            let code = code.trim_end().to_owned();
            output.truncate(begin + at);
            idle_again(worker);
            return Ok((code, output));
        }
    }
}

/// Ends all workers.
pub(crate) fn end() -> io::Result<()> {
    let workers = mem::take(&mut *idle());
    for Worker {
        mut child,
        requests,
        output,
    } in workers
    {
        drop((requests, output));
        child.wait()?;
    }
    Ok(())
}

/// Checks that a command that ends its worker is reported like a process, and that the next command
/// has another worker.
pub(crate) fn worker_that_ends_is_replaced() -> Result<(), Failed> {
    let words = ["profdb", "formats"].map(str::to_owned);
    let folder = tempfile::tempdir()?;
    let missing = folder.path().join("missing");
    let (code, output) = run(&missing, &words)?;
    let output = String::from_utf8_lossy(&output);
    ensure(code == "101" && output.contains("panicked"), || {
        format!("the worker ended with {code}: {output}")
    })?;
    let (code, output) = run(folder.path(), &words)?;
    let output = String::from_utf8_lossy(&output);
    ensure(code == "0" && output.contains("folded"), || {
        format!("the next worker said {code}: {output}")
    })
}

impl Worker {
    fn start() -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        let mut command = command_at(env::current_exe()?);
        command
            .env(IS_WORKER, "")
            .stdin(Stdio::piped())
            .stdout(writer.try_clone()?)
            .stderr(writer);
        isolate(&mut command);
        let mut child = command.spawn()?;
        let requests = child.stdin.take().expect("its standard input is a pipe");
        Ok(Self {
            child,
            requests,
            output: BufReader::new(reader),
        })
    }
}

fn idle() -> std::sync::MutexGuard<'static, Vec<Worker>> {
    IDLE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn idle_again(worker: Worker) {
    idle().push(worker);
}
