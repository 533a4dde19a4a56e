//! Files that are in the database already.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::input::Fingerprint;
use crate::pipeline;
use crate::source::Folder;
use crate::store::{Database, LockWait, RunMeta, StoreError};

/// Where the source of the lines is, if that is known.
pub(super) type Source = Option<Arc<dyn Folder>>;

/// A run that has the content, the title and the tags of what was to be imported.
pub(super) struct Known {
    run: i64,
    title: Option<String>,
    tags: Vec<String>,
    /// A source of its lines that was given now, and is not stored.
    unused: Source,
}

impl Known {
    pub(super) fn new(
        database: &Database,
        run: i64,
        unused: &Source,
    ) -> Result<Self, pipeline::Failure> {
        let (title, tags) = database.title_and_tags(run)?;
        Ok(Self {
            run,
            title,
            tags,
            unused: unused.clone(),
        })
    }
}

impl fmt::Display for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            run,
            title,
            tags,
            unused,
        } = self;
        write!(f, "already imported as run {run}")?;
        let title = title.iter().map(|title| format!("title {title}"));
        let said: Vec<String> = title.chain(tags.iter().cloned()).collect();
        if !said.is_empty() {
            write!(f, " ({})", said.join(", "))?;
        }
        if unused.is_some() {
            write!(f, "; its stored source is not changed")?;
        }
        write!(f, "; --again stores it again")
    }
}

/// The database as it is asked before a file is read.
pub(super) struct Asked<'a> {
    /// It is open already, and as it was left.
    pub(super) left: Option<&'a Database>,
    /// Else it is opened for reading only, once for as long as no one changes it.
    pub(super) reader: &'a mut Option<Database>,
    pub(super) path: &'a Path,
    pub(super) lock_wait: &'a LockWait,
}

impl Asked<'_> {
    /// Whether the file's content is in the database already, as a run with the title and the tags
    /// that `describe` has. Reading a file twice is worth it only where a file of the same size is
    /// there; otherwise the content is compared when it has been read.
    pub(super) fn known(
        self,
        file: &Path,
        source: &Source,
        describe: impl FnOnce(Fingerprint) -> Result<RunMeta, pipeline::Failure>,
    ) -> Result<Option<Known>, pipeline::Failure> {
        let regular = std::fs::metadata(file)
            .ok()
            .filter(std::fs::Metadata::is_file);
        let Some(about) = regular.filter(|_| self.path.exists()) else {
            return Ok(None);
        };
        let interrupted = |error: StoreError| match error {
            _ if self.lock_wait.stop.is_set() => pipeline::Failure::Interrupted,
            error => error.into(),
        };
        let reader = self.reader.take().filter(Database::is_as_left);
        let database = if let Some(left) = self.left {
            left
        } else if let Some(reader) = reader {
            self.reader.insert(reader)
        } else {
            let opened = Database::open_read_only_waiting(self.path, self.lock_wait);
            match opened {
                // The import makes a database of it.
                Err(StoreError::Empty(_)) => return Ok(None),
                opened => self.reader.insert(opened.map_err(interrupted)?),
            }
        };
        if !database
            .has_source_of_size(about.len())
            .map_err(interrupted)?
        {
            return Ok(None);
        }
        // Whatever keeps the file from being read is reported when it is imported.
        let Ok(fingerprint) = fingerprint(file) else {
            return Ok(None);
        };
        let found = database.find_run(&describe(fingerprint)?)?;
        let known = found
            .map(|run| Known::new(database, run, source))
            .transpose()?;
        database.is_in_place()?;
        Ok(known)
    }
}

fn fingerprint(file: &Path) -> io::Result<Fingerprint> {
    let mut file = File::open(file)?;
    let mut hash = Sha256::new();
    let mut bytes = 0;
    let mut buffer = vec![0; 256 * 1024];
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok(Fingerprint {
                bytes,
                sha256: hash.finalize().into(),
            });
        }
        hash.update(&buffer[..read]);
        bytes += read as u64;
    }
}
