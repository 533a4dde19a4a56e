//! Threads that parse small files, ahead of the thread that stores what comes of them.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, Builder, Scope};

use super::inputs::STDIN;
use super::source::{Given, format, unreadable};
use crate::base::error::{ImportError, Stop};
use crate::formats::{Format, Options};
use crate::input::{Fingerprint, Input, Limits};
use crate::pipeline::{self, Failure, Parsed};
use crate::store::RunMeta;

/// Bytes of the largest file that is parsed in memory, before and after decompression.
const SMALL: u64 = 2 << 20;

/// Stack of a thread: as much as an importer has in the main thread (src/main.rs).
const STACK: usize = 8 << 20;

/// Limits of a small file: what is larger after decompression cannot be read on here.
const LIMITS: Limits = Limits {
    record: SMALL,
    ratio: 0,
    ratio_floor: SMALL,
};

/// What holds for all files of a command.
pub(super) struct Reading<'i> {
    pub(super) from: Option<&'static Format>,
    pub(super) options: &'i Options,
    /// Describes the run of a file by its format, its path and its content.
    pub(super) describe: &'i (dyn Fn(&Format, &Path, Fingerprint) -> RunMeta + Sync),
    pub(super) stop: Stop,
}

/// The threads.
pub(super) struct Parsers<'i> {
    reading: &'i Reading<'i>,
    given: Given,
    /// `None` where the system gives no thread.
    jobs: Option<Sender<Job>>,
    /// Set when no file is wanted any more.
    ended: Stop,
}

/// What becomes of a file.
type Outcome = Result<Parsed, Failure>;

/// A file to be parsed, and where to send what comes of it.
type Job = (PathBuf, Sender<Outcome>);

/// A file whose turn has come.
pub(super) struct Begun<'f> {
    pub(super) file: &'f Path,
    /// Its size; 0 if it is not small.
    pub(super) bytes: u64,
    /// `None` if no thread has it.
    outcome: Option<Receiver<Outcome>>,
}

impl<'f> Begun<'f> {
    /// A file that no thread needs to have.
    pub(super) fn of(file: &'f Path) -> Self {
        Self {
            file,
            bytes: 0,
            outcome: None,
        }
    }
}

impl<'i> Parsers<'i> {
    /// Starts a thread for each core. They end when this value is dropped.
    pub(super) fn start<'s>(
        scope: &'s Scope<'s, '_>,
        reading: &'s Reading<'i>,
        given: Given,
    ) -> Self
    where
        'i: 's,
        's: 'i,
    {
        let (jobs, taken) = channel::<Job>();
        let taken = Arc::new(Mutex::new(taken));
        let ended = Stop::default();
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let started = (0..cores)
            .map_while(|_| {
                let (taken, ended) = (Arc::clone(&taken), ended.clone());
                let work = move || {
                    // The lock is held while one thread waits for a job, and not while it works.
                    while let Some((file, outcome)) =
                        taken.lock().ok().and_then(|jobs| jobs.recv().ok())
                    {
                        if ended.is_set() {
                            return;
                        }
                        // Who has asked may have given up.
                        let _ = outcome.send(parse(reading, &file, given));
                    }
                };
                let thread = Builder::new().stack_size(STACK);
                thread.spawn_scoped(scope, work).ok()
            })
            .count();
        Self {
            reading,
            given,
            jobs: (started > 0).then_some(jobs),
            ended,
        }
    }

    /// Has a file parsed, if it is small.
    pub(super) fn begin<'f>(&self, file: &'f Path) -> Begun<'f> {
        let mut begun = Begun::of(file);
        let about = fs::metadata(file).ok();
        // Opening a pipe would wait for a program that writes to it.
        let small = about.filter(|about| about.is_file() && about.len() <= SMALL);
        if let Some(about) = small.filter(|_| file != Path::new(STDIN)) {
            begun.bytes = about.len().max(1);
            if let Some(jobs) = &self.jobs {
                let (sender, outcome) = channel();
                begun.outcome = jobs
                    .send((file.to_owned(), sender))
                    .is_ok()
                    .then_some(outcome);
            }
        }
        begun
    }

    /// What has become of a file, as soon as that is known.
    pub(super) fn finish(&self, begun: Begun<'_>) -> Outcome {
        match begun.outcome {
            // A thread that is gone has failed at the file: so will the import by itself, which
            // says why.
            Some(outcome) => outcome.recv().unwrap_or(Ok(Parsed::Large)),
            None if begun.bytes > 0 => parse(self.reading, begun.file, self.given),
            None => Ok(Parsed::Large),
        }
    }
}

impl Drop for Parsers<'_> {
    /// Where the command ends early, files that no thread has begun are left alone.
    fn drop(&mut self) {
        self.ended.set();
    }
}

fn parse(reading: &Reading<'_>, file: &Path, given: Given) -> Outcome {
    // Each file has a flag of its own, so that one that fails does not stop the others.
    let stop = reading.stop.child();
    let parsed = || {
        let opened = File::open(file).map_err(unreadable)?;
        let input = Input::seekable(opened, LIMITS, stop.clone())?;
        let format = format(&input, reading.from, given)?;
        pipeline::parse(input, format, reading.options, &stop, |fingerprint| {
            (reading.describe)(format, file, fingerprint)
        })
    };
    match parsed() {
        // The limits are narrow, and a disk that fails will fail once more.
        Err(Failure::Input(ImportError::Read { .. } | ImportError::Limit { .. })) => {
            Ok(Parsed::Large)
        }
        parsed => parsed,
    }
}
