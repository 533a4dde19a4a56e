//! `profdb import FILE...`

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use sha2::{Digest, Sha256};

use super::args::input_format;
use super::database::{DatabaseArgs, WaitArgs};
use super::failure::{Failure, complain, line, say, unread};
use super::folder::Sources;
use super::options::FormatOptions;
use super::source::{STDIN, failed, format, open, warn};
use crate::base::error::{ImportError, Stop};
use crate::formats::Format;
use crate::input::Fingerprint;
use crate::pipeline;
use crate::pipeline::Imported;
use crate::source::Folder;
use crate::store::{Database, LockWait, Outcome, RunMeta, StoreError, remove_abandoned};

#[derive(Debug, Args)]
pub(super) struct Import {
    /// Profiles, or folders of profiles; - is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    wait: WaitArgs,
    /// Format of the files, whatever their first bytes look like
    #[arg(long, value_name = "FORMAT", value_parser = input_format)]
    from: Option<&'static Format>,
    #[command(flatten)]
    options: FormatOptions,
    /// Title of the run, instead of what the file says
    #[arg(long, value_parser = NonEmptyStringValueParser::new())]
    title: Option<String>,
    /// Something to find the run by: commit, host, branch; may be given several times
    #[arg(long = "tag", value_name = "KEY=VALUE", value_parser = tag)]
    tags: Vec<(String, String)>,
    /// Store the run also if the same content, with the same title and tags, is there already
    #[arg(long)]
    again: bool,
    /// Folder with the source of what was profiled: the lines of the run are stored for `report
    /// --code`
    #[arg(long, value_name = "DIR")]
    source: Option<PathBuf>,
}

/// Where the source of the lines is, if that is known.
type Source = Option<Arc<dyn Folder>>;

fn tag(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("expected KEY=VALUE".to_owned()),
    }
}

/// A run has one value for each key: of two, one would be lost.
fn check_tags(tags: &[(String, String)]) -> Result<(), Failure> {
    for (at, (key, value)) in tags.iter().enumerate() {
        if let Some((_, other)) = tags[..at]
            .iter()
            .find(|(known, other)| known == key && other != value)
        {
            let message = format!(
                "--tag {key}={other} --tag {key}={value}: expected one value for each key, found two"
            );
            return Err(complain(message, Failure::Usage));
        }
    }
    Ok(())
}

/// Imports one file after the other. A file that fails leaves the others imported; the first
/// failure decides how the program ends. A database that fails ends it at once.
pub(super) fn run(import: &Import, stop: &Stop) -> Result<(), Failure> {
    let mut outcome = Ok(());
    check_tags(&import.tags)?;
    remove_abandoned(&import.database.path());
    let source: Source = match &import.source {
        Some(folder) => Some(Arc::new(Sources::open(folder, stop)?)),
        None => None,
    };
    let mut imports = Imports {
        import,
        source,
        stop,
        database: None,
    };
    for file in &import.files {
        let imported = if file != Path::new(STDIN) && file.is_dir() {
            imports.folder(file)
        } else {
            imports.one(file)
        };
        match imported {
            Ok(()) => {}
            Err(failure @ (Failure::Input | Failure::Output)) => {
                outcome = outcome.and(Err(failure));
            }
            Err(failure) => return Err(failure),
        }
    }
    outcome
}

/// The imports of one command.
struct Imports<'i> {
    import: &'i Import,
    source: Source,
    stop: &'i Stop,
    /// The database as the file before has left it: opening it and reading its schema takes longer
    /// than a small file does.
    database: Option<Database>,
}

impl Imports<'_> {
    /// Imports the files of a folder, by name; those that no format recognises are passed over.
    fn folder(&mut self, folder: &Path) -> Result<(), Failure> {
        let name = folder.display();
        let listed = || -> io::Result<Vec<PathBuf>> {
            let mut files = Vec::new();
            for entry in std::fs::read_dir(folder)? {
                let path = entry?.path();
                if path.is_file() {
                    files.push(path);
                }
            }
            files.sort();
            Ok(files)
        };
        let files = listed().map_err(|error| {
            complain(format!("{name}: cannot list it: {error}"), unread(&error))
        })?;
        let mut profiles = 0;
        let mut outcome = Ok(());
        for file in &files {
            let shown = file.display();
            match self.file(file) {
                Ok(told) => {
                    profiles += 1;
                    match self.tell(&shown.to_string(), told) {
                        Err(Failure::Output) => outcome = Err(Failure::Output),
                        told => told?,
                    }
                }
                Err(pipeline::Failure::Input(error @ ImportError::NotRecognised { .. })) => {
                    say(format!("{shown}: passed over: {error}"));
                }
                Err(error) => {
                    profiles += 1;
                    match failed(&shown.to_string(), error) {
                        Failure::Input => outcome = Err(Failure::Input),
                        failure => return Err(failure),
                    }
                }
            }
        }
        if profiles == 0 {
            return Err(complain(
                format!("{name}: expected profiles in the folder, found none"),
                Failure::Input,
            ));
        }
        outcome
    }

    fn one(&mut self, file: &Path) -> Result<(), Failure> {
        let name = file.display().to_string();
        match self.file(file) {
            Ok(told) => self.tell(&name, told),
            Err(error) => Err(failed(&name, error)),
        }
    }

    fn file(&mut self, file: &Path) -> Result<Told, pipeline::Failure> {
        let Self {
            import,
            source,
            stop,
            database: left,
        } = self;
        // Each file has a flag of its own, so that one that fails does not stop the others.
        let stop = &stop.child();
        *left = left.take().filter(Database::is_as_left);
        if let Some(left) = left {
            left.heed(stop.clone())?;
        }
        let input = open(file, stop)?;
        let format = format(&input, import.from)?;
        let name = if file == Path::new(STDIN) {
            STDIN.to_owned()
        } else {
            file_name(file)
        };
        let describe = |fingerprint| RunMeta {
            title: import.title.clone(),
            tags: import.tags.clone(),
            again: import.again,
            source: source.clone(),
            ..pipeline::meta(format, &import.options.0, &name, fingerprint)
        };
        let path = import.database.path();
        let lock_wait = import.wait.lock_wait(stop);
        if !import.again
            && let Some(known) = known(left.as_ref(), &path, &lock_wait, file, source, describe)?
        {
            return Ok(Told::Known(known));
        }
        let left = left.take();
        let open = || Database::open_again(left, &path, lock_wait);
        let imported = pipeline::import(input, format, &import.options.0, stop, describe, open)?;
        Ok(match imported.outcome {
            Outcome::AlreadyThere(run) => {
                let known = Known::new(&imported.database, run, source)?;
                self.database = Some(imported.database);
                Told::Known(known)
            }
            Outcome::Stored(_) => Told::New(Box::new(imported)),
        })
    }

    /// Says what became of a file. A closed output does not keep the next file from being
    /// imported.
    fn tell(&mut self, name: &str, told: Told) -> Result<(), Failure> {
        let Imported {
            outcome,
            database,
            nodes,
        } = match told {
            Told::New(imported) => *imported,
            Told::Known(known) => {
                say(format!("{name}: {known}"));
                return Ok(());
            }
        };
        let (Outcome::Stored(run) | Outcome::AlreadyThere(run)) = outcome;
        warn(name, &database, run).map_err(|error| complain(error, Failure::Database))?;
        self.database = Some(database);
        match line(format!("{name}: run {run}, {nodes} nodes")) {
            Err(Failure::ClosedPipe) => Ok(()),
            told => told,
        }
    }
}

/// What became of a file.
enum Told {
    New(Box<Imported>),
    /// It is in the database already.
    Known(Known),
}

/// A run that has the content, the title and the tags of what was to be imported.
struct Known {
    run: i64,
    title: Option<String>,
    tags: Vec<String>,
    /// A source of its lines that was given now, and is not stored.
    unused: Source,
}

impl Known {
    fn new(database: &Database, run: i64, unused: &Source) -> Result<Self, pipeline::Failure> {
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
            write!(f, "; its source stays as it is")?;
        }
        write!(f, "; --again stores it once more")
    }
}

fn file_name(file: &Path) -> String {
    file.file_name().map_or_else(
        || file.display().to_string(),
        |name| name.to_string_lossy().into_owned(),
    )
}

/// Whether the file's content is in the database already, as a run with this title and these tags.
/// Reading a file twice is worth it only where a file of the same size is there; otherwise the
/// content is compared when it has been read.
fn known(
    left: Option<&Database>,
    path: &Path,
    lock_wait: &LockWait,
    file: &Path,
    source: &Source,
    describe: impl Fn(Fingerprint) -> RunMeta,
) -> Result<Option<Known>, pipeline::Failure> {
    let regular = std::fs::metadata(file)
        .ok()
        .filter(std::fs::Metadata::is_file);
    let (Some(about), true) = (regular.filter(|_| file != Path::new(STDIN)), path.exists()) else {
        return Ok(None);
    };
    let interrupted = |error: StoreError| match error {
        _ if lock_wait.stop.is_set() => pipeline::Failure::Interrupted,
        error => error.into(),
    };
    let opened;
    let database = if let Some(left) = left {
        left
    } else {
        opened = Database::open_read_only_waiting(path, lock_wait).map_err(interrupted)?;
        &opened
    };
    if !database
        .has_source_of_size(about.len())
        .map_err(interrupted)?
    {
        return Ok(None);
    }
    match fingerprint(file) {
        Ok(fingerprint) => {
            let found = database.find_run(&describe(fingerprint))?;
            let known = found
                .map(|run| Known::new(database, run, source))
                .transpose()?;
            database.is_in_place()?;
            Ok(known)
        }
        // Whatever keeps the file from being read is reported when it is imported.
        Err(_) => Ok(None),
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
