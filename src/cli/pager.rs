//! A pager between the output and the terminal, where the output is longer than the screen.

use std::io::{self, IsTerminal, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use console::Term;

use super::failure::say;
use super::progress;

/// The variables that name the pager, in the order in which they are asked.
const VARIABLES: [&str; 2] = ["PROFDB_PAGER", "PAGER"];

/// The pager where no variable names one: it ends by itself on less than a screen, shows colours,
/// and leaves what it has shown.
const USUAL: &str = "less -FRX";

/// Default flags of less.
const LESS: &str = "FRX";

/// What asks less not to wrap long lines, which one can then move along.
const UNWRAPPED: &str = "S";

/// Characters that only a shell understands.
const OF_A_SHELL: &str = "|&;<>()$`\\\"'*?[#~{}";

/// Rows and columns of a terminal that does not tell.
const USUAL_SCREEN: (u16, u16) = (24, 80);

/// A pager has the terminal.
static RUNNING: AtomicBool = AtomicBool::new(false);

/// Whether a pager has the terminal: an interrupt is then for it.
pub fn is_running() -> bool {
    RUNNING.load(Ordering::SeqCst)
}

/// Whether there may be a pager.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(super) struct PagerArgs {
    /// Do not use a pager
    #[arg(long)]
    pub(super) no_pager: bool,
}

/// What is done with lines that are longer than the screen is wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lines {
    Wrapped,
    Whole,
}

/// Standard output, held back until it is known whether it fits the screen.
pub(super) struct Pager {
    state: State,
    lines: Lines,
    screen: (u16, u16),
}

enum State {
    /// No more than a screen has come.
    Held(Vec<u8>),
    Running(Child, ChildStdin),
    /// There is no pager.
    Plain,
}

impl Pager {
    /// A pager for standard output; `None` where that is no terminal that a pager can use.
    pub(super) fn new(lines: Lines) -> Option<Self> {
        let is_usable = io::stdout().is_terminal() && moves_its_cursor();
        is_usable.then(|| Self {
            state: State::Held(Vec::new()),
            lines,
            screen: Term::stdout()
                .size_checked()
                .filter(|(rows, columns)| *rows > 0 && *columns > 0)
                .unwrap_or(USUAL_SCREEN),
        })
    }

    /// Whether a text leaves no row of the screen for the prompt of the shell.
    fn is_longer_than_the_screen(&self, text: &[u8]) -> bool {
        let (rows, columns) = (
            usize::from(self.screen.0),
            usize::from(self.screen.1).max(1),
        );
        if text.len() < rows {
            return false;
        }
        let mut taken = 0;
        for line in String::from_utf8_lossy(text).lines() {
            taken += match self.lines {
                Lines::Wrapped => console::measure_text_width(line).div_ceil(columns).max(1),
                Lines::Whole => 1,
            };
            if taken >= rows {
                return true;
            }
        }
        false
    }

    /// Starts the pager; without one, what is written goes to the terminal.
    fn start(&mut self) {
        progress::end();
        self.state = State::Plain;
        let (line, is_asked_for) = named().map_or_else(
            || {
                let flags = if self.lines == Lines::Whole {
                    UNWRAPPED
                } else {
                    ""
                };
                (format!("{USUAL}{flags}"), false)
            },
            |line| (line, true),
        );
        let Some(mut command) = command(&line) else {
            return;
        };
        // Before the pager has the terminal, so that no interrupt finds it there unannounced.
        RUNNING.store(true, Ordering::SeqCst);
        // Colours need a flag of less, which users often start without flags.
        if variable("LESS").is_none() {
            command.env("LESS", LESS);
        }
        match command.stdin(Stdio::piped()).spawn() {
            Ok(mut pager) => {
                if let Some(input) = pager.stdin.take() {
                    self.state = State::Running(pager, input);
                }
            }
            Err(error) => {
                RUNNING.store(false, Ordering::SeqCst);
                // Nothing is said of a usual pager that is not installed.
                if is_asked_for {
                    say(format!(
                        "cannot run the pager {line}: {error}; PROFDB_PAGER selects another one, and --no-pager uses none"
                    ));
                }
            }
        }
    }

    /// Writes what has been held back, and waits until the user has left the pager.
    pub(super) fn finish(self) -> io::Result<()> {
        match self.state {
            State::Held(held) => {
                progress::end();
                let mut out = io::stdout().lock();
                out.write_all(&held)?;
                out.flush()
            }
            State::Running(mut pager, input) => {
                drop(input);
                let ended = pager.wait();
                RUNNING.store(false, Ordering::SeqCst);
                ended.map(drop)
            }
            State::Plain => io::stdout().flush(),
        }
    }
}

impl Write for Pager {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.state {
            State::Held(held) => {
                held.extend_from_slice(bytes);
                let held = std::mem::take(held);
                if self.is_longer_than_the_screen(&held) {
                    self.start();
                    self.write_all(&held)?;
                } else {
                    self.state = State::Held(held);
                }
                Ok(bytes.len())
            }
            State::Running(_, input) => input.write(bytes),
            State::Plain => io::stdout().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.state {
            State::Held(_) => Ok(()),
            State::Running(_, input) => input.flush(),
            State::Plain => io::stdout().flush(),
        }
    }
}

/// The pager that the user has named; an empty name is no pager.
fn named() -> Option<String> {
    VARIABLES.into_iter().find_map(variable)
}

/// Whether the terminal says that it can do what pagers do. `less` asks for a key before it shows anything on one that says nothing.
pub(super) fn moves_its_cursor() -> bool {
    match variable("TERM") {
        Some(terminal) => !terminal.is_empty() && terminal != "dumb",
        // Consoles of Windows have no such variable.
        None => !cfg!(unix),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "pager and colours are set in the environment"
)]
pub(super) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The command of a pager; `None` if it is empty. What a shell has to understand is left to one, and
/// everything else started directly, so that it is known whether it is there.
fn command(line: &str) -> Option<Command> {
    if line.contains(|character| OF_A_SHELL.contains(character)) && cfg!(unix) {
        let mut command = Command::new("sh");
        command.args(["-c", line]);
        return Some(command);
    }
    let mut words = line.split_whitespace();
    let mut command = Command::new(words.next()?);
    command.args(words);
    Some(command)
}
