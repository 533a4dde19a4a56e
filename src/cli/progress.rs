//! What a terminal shows while a command is at work for longer than half a second.
//!
//! A thread of its own draws, so that something moves whatever the others are busy with: a statement, a
//! loop over numbers, a file that does not come. It draws on standard error, and only where that is a
//! terminal. Whoever writes there, or to a terminal as standard output, has the line taken away first
//! ([`beside`], [`end`]).

use std::borrow::Cow;
use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle, park_timeout};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::store::Database;

/// Work that is shorter than this shows nothing.
const QUIET: Duration = Duration::from_millis(500);

/// Between two looks at what there is to draw.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// What is under way: the command first, then what it does in parts.
static WORK: Mutex<Work> = Mutex::new(Work {
    parts: Vec::new(),
    drawn: None,
});

/// How many writers need the terminal for themselves.
static WRITERS: AtomicUsize = AtomicUsize::new(0);

struct Work {
    parts: Vec<Arc<Part>>,
    drawn: Option<(Arc<Part>, ProgressBar)>,
}

struct Part {
    what: Mutex<Cow<'static, str>>,
    unit: Unit,
    done: AtomicU64,
    /// How much there is to do; 0 if that is unknown.
    all: AtomicU64,
    begun: Instant,
}

/// In what the work is counted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    None,
    Nodes,
    Bytes,
}

/// Some work that is under way, until it is dropped.
pub(super) struct Progress(Arc<Part>);

impl Progress {
    /// Work of which it is only known what it is.
    pub(super) fn new(what: impl Into<Cow<'static, str>>) -> Self {
        Self::of(what, Unit::None, 0)
    }

    /// Walks through the nodes of a run, from now on.
    pub(super) fn of_walks(source: &mut Database) -> Self {
        let progress = Self::of("", Unit::Nodes, 0);
        let part = Arc::clone(&progress.0);
        source.watch_walks(move |done, all| {
            part.all.store(all, Ordering::Relaxed);
            part.done.store(done, Ordering::Relaxed);
        });
        progress
    }

    /// Reading so many bytes; `None` if no one knows how many there are.
    pub(super) fn of_bytes(all: Option<u64>) -> Self {
        Self::of("", Unit::Bytes, all.unwrap_or(0))
    }

    fn of(what: impl Into<Cow<'static, str>>, unit: Unit, all: u64) -> Self {
        #[expect(clippy::disallowed_methods, reason = "progress is about time")]
        let begun = Instant::now();
        let part = Arc::new(Part {
            what: Mutex::new(what.into()),
            unit,
            done: AtomicU64::new(0),
            all: AtomicU64::new(all),
            begun,
        });
        work().parts.push(Arc::clone(&part));
        Self(part)
    }

    /// Says what is being done now.
    pub(super) fn says(&self, what: impl Into<Cow<'static, str>>) {
        *self.0.what.lock().unwrap_or_else(PoisonError::into_inner) = what.into();
    }

    /// More is done.
    pub(super) fn add(&self, done: u64) {
        self.0.done.fetch_add(done, Ordering::Relaxed);
    }

    /// So much is done.
    pub(super) fn set(&self, done: u64) {
        self.0.done.store(done, Ordering::Relaxed);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        let mut work = work();
        work.parts.retain(|part| !Arc::ptr_eq(part, &self.0));
        if work
            .drawn
            .as_ref()
            .is_some_and(|(part, _)| Arc::ptr_eq(part, &self.0))
        {
            work.clear();
        }
    }
}

/// The work of a command, and the thread that shows it.
pub(super) struct Shown {
    work: Option<Progress>,
    clock: Option<JoinHandle<()>>,
}

/// Shows the work of a command from now on, if there is a terminal to show it on.
pub(super) fn begin(what: &'static str) -> Shown {
    let work = Some(Progress::new(what));
    let clock = io::stderr()
        .is_terminal()
        .then(|| Builder::new().spawn(draw_until_the_end).ok());
    Shown {
        work,
        clock: clock.flatten(),
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        drop(self.work.take());
        if let Some(clock) = self.clock.take() {
            clock.thread().unpark();
            // It does nothing that could fail.
            let _ = clock.join();
        }
    }
}

/// Lets a function write to the terminal, which is free for it meanwhile.
pub(super) fn beside<T>(write: impl FnOnce() -> T) -> T {
    end();
    let written = write();
    WRITERS.fetch_sub(1, Ordering::SeqCst);
    written
}

/// Leaves the terminal to the output: what is drawn goes, and nothing is drawn any more.
pub(super) fn end() {
    // The thread that draws looks at the number of writers while it has the lock.
    WRITERS.fetch_add(1, Ordering::SeqCst);
    work().clear();
}

/// The same at the end of the program, which waits for nothing: a terminal that is halted keeps the
/// thread that draws.
pub(super) fn end_at_once() {
    WRITERS.fetch_add(1, Ordering::SeqCst);
    if let Ok(mut work) = WORK.try_lock() {
        work.clear();
    }
}

fn work() -> MutexGuard<'static, Work> {
    WORK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Draws until the command has ended.
fn draw_until_the_end() {
    loop {
        park_timeout(BETWEEN_LOOKS);
        let mut work = work();
        if work.parts.is_empty() {
            return;
        }
        if WRITERS.load(Ordering::SeqCst) == 0 {
            work.draw();
        }
    }
}

impl Work {
    fn draw(&mut self) {
        // A part that is short says nothing: of a thousand small files none is named.
        let long = self.parts.iter().rfind(|part| part.is_long()).cloned();
        let Some(part) = long else { return };
        let drawn = self
            .drawn
            .take_if(|(drawn, _)| Arc::ptr_eq(drawn, &part))
            .map(|(_, bar)| bar);
        let bar = drawn.unwrap_or_else(|| {
            self.clear();
            part.bar()
        });
        part.show(&bar);
        self.drawn = Some((part, bar));
    }

    fn clear(&mut self) {
        if let Some((_, bar)) = self.drawn.take() {
            bar.finish_and_clear();
        }
    }
}

impl Part {
    fn is_long(&self) -> bool {
        // Of walks nothing is known before the first step.
        let is_known = self.unit != Unit::Nodes || self.all.load(Ordering::Relaxed) > 0;
        is_known && self.begun.elapsed() > QUIET
    }

    fn bar(&self) -> ProgressBar {
        let all = Some(self.all.load(Ordering::Relaxed)).filter(|all| *all > 0);
        let template = match (self.unit, all) {
            (Unit::None, _) => "{spinner} {msg} {elapsed}",
            (Unit::Nodes, _) => "{bar:40} {human_pos}/{human_len} nodes",
            (Unit::Bytes, Some(_)) => "{bar:40} {bytes}/{total_bytes} {bytes_per_sec} {eta}",
            (Unit::Bytes, None) => "{spinner} {bytes} {bytes_per_sec}",
        };
        let bar = ProgressBar::with_draw_target(all, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.with_elapsed(self.begun.elapsed())
    }

    fn show(&self, bar: &ProgressBar) {
        let all = self.all.load(Ordering::Relaxed);
        if all > 0 {
            bar.set_length(all);
        }
        let what = self.what.lock().unwrap_or_else(PoisonError::into_inner);
        if bar.message() != *what {
            bar.set_message(what.clone());
        }
        bar.set_position(self.done.load(Ordering::Relaxed));
        bar.tick();
    }
}
