//! Where questions go: to the database, or straight to a file, which is imported into a temporary
//! database for the purpose.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};

use super::args::{combination, input_format, run_set};
use super::database::{DatabaseArgs, find_run, find_runs, open_to_read};
use super::failure::{self, Failure, complain, say, store, unread};
use super::inputs::{Inputs, STDIN};
use super::options::FormatOptions;
use super::progress::Progress;
use super::streams;
use crate::base::ending;
use crate::base::error::{ImportError, Stop};
use crate::base::limits::is_memory_out;
use crate::formats;
use crate::formats::{Format, Options};
use crate::input::{Input, Limits};
use crate::page::Command;
use crate::pipeline;
use crate::pipeline::Imported;
use crate::report::render::Format as OutputFormat;
use crate::store::{
    ChooseError, Combination, CombineError, Database, Outcome, RunInfo, RunSet, StoreError,
    is_range,
};
use crate::text::separators::Separators;
use crate::text::shell::quoted;

/// Maximum number of warnings shown per file; the table `notes` has all.
const SHOWN_WARNINGS: usize = 5;

/// The option that is for reading as well as for writing.
const SEPARATORS: &str = "separators";

/// How several runs become one.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(super) struct CombineArgs {
    /// Combine the runs if SET matches several [default: sum]
    ///
    /// mean divides the sum by the number of runs: a run without a function counts as 0. Functions are
    /// combined by their identities, and call paths by those of all their functions.
    #[arg(long, value_name = "WORD", value_parser = combination())]
    pub(super) runs: Option<Combination>,
}

impl CombineArgs {
    /// Combines several runs as asked for.
    pub(super) fn several(self) -> SeveralRuns {
        SeveralRuns::Combine(self.runs)
    }
}

/// The treatment of a set with several runs where one run is expected.
#[derive(Clone, Copy, Debug)]
pub(super) enum SeveralRuns {
    /// Combine them; without a word, show their sum and say so.
    Combine(Option<Combination>),
    /// Refuse, for this reason.
    Refuse(&'static str),
}

/// Which run, and where it is.
#[derive(Clone, Debug, Args)]
pub(super) struct SourceArgs {
    /// Profile to read without importing it, or a run as in --run
    ///
    /// `-` reads standard input.
    #[arg(value_name = "FILE|SET", group = "input", value_parser = run_set(), value_hint = ValueHint::FilePath)]
    asked: Option<RunSet>,
    /// Profile to read without importing it
    #[arg(long, value_name = "FILE", group = "input")]
    infile: Option<PathBuf>,
    #[command(flatten)]
    pub(super) database: DatabaseArgs,
    /// Runs: latest, number, last N, KEY=VALUE, uid, title, file
    ///
    /// Runs are named by `latest`, numbers such as `1,2,3`, `last 20`, tags such as `branch=main` or
    /// `branch=main last 20`, the first 4 or more characters of a uid, a title, or a file. [default: latest]
    #[arg(long, value_name = "SET", conflicts_with = "input", value_parser = run_set())]
    run: Option<RunSet>,
    /// Format of FILE, instead of detecting it
    #[arg(long, value_name = "FORMAT", requires = "input", value_parser = input_format)]
    pub(super) from: Option<&'static Format>,
    #[command(flatten)]
    pub(super) options: FormatOptions,
}

/// A file that is read instead of the database, for statements that select runs themselves.
#[derive(Clone, Debug, Args)]
pub(super) struct FileArgs {
    /// Profile to read without importing it
    ///
    /// `-` reads standard input.
    #[arg(value_name = "FILE", group = "input", value_parser = run_set(), value_hint = ValueHint::FilePath)]
    asked: Option<RunSet>,
    /// Profile to read without importing it
    #[arg(long, value_name = "FILE", group = "input")]
    infile: Option<PathBuf>,
    #[command(flatten)]
    database: DatabaseArgs,
    /// Format of FILE, instead of detecting it
    #[arg(long, value_name = "FORMAT", requires = "input", value_parser = input_format)]
    from: Option<&'static Format>,
    #[command(flatten)]
    options: FormatOptions,
}

impl FileArgs {
    /// Returns the file or database as a source of all its runs.
    pub(super) fn source(&self) -> SourceArgs {
        SourceArgs {
            asked: self.asked.clone(),
            infile: self.infile.clone(),
            database: self.database.clone(),
            run: None,
            from: self.from,
            options: self.options.clone(),
        }
    }
}

impl SourceArgs {
    /// The run to ask about, and where it is.
    pub(super) fn open_run(
        &self,
        several: SeveralRuns,
        stop: &Stop,
    ) -> Result<(Database, RunInfo), Failure> {
        open_run(
            &self.set(),
            &self.database,
            self.from,
            &self.options.0,
            several,
            stop,
        )
    }

    /// True if the user has named a run or a file.
    pub(super) fn names_a_run(&self) -> bool {
        self.asked.is_some() || self.infile.is_some() || self.run.is_some()
    }

    /// What is read, which no output may replace.
    pub(super) fn inputs(&self) -> Inputs {
        Inputs::of(&self.database).with_files(file(&self.set()), self.from)
    }

    /// The database to ask about all its runs.
    pub(super) fn open(&self, stop: &Stop) -> Result<Database, Failure> {
        match self.set() {
            set if self.asked.is_none() && self.infile.is_none() => {
                is_no_flag_of_files(&set, self.from, &self.options.0)?;
                open_to_read(&self.database, stop)
            }
            set => {
                if let Some(file) = file(&set) {
                    return temporary(file, self.from, &self.options.0, stop);
                }
                let message = match &set {
                    RunSet::Word(_) => format!("expected a file, but {set} does not exist"),
                    _ => format!(
                        "expected a file, found {set}: a set of runs. SQL selects runs with run_id = 3; use ./{set} \
                         for a file of this name"
                    ),
                };
                Err(complain(message, Failure::Usage))
            }
        }
    }

    /// Whether more than one run could be meant, so that the answer says which one is: the database
    /// has several, or the word for the latest one was given.
    pub(super) fn has_choice(
        &self,
        source: &Database,
        run: &RunInfo,
        stop: &Stop,
    ) -> Result<bool, Failure> {
        if run.combined.is_some() || [&self.asked, &self.run].contains(&&Some(RunSet::Latest)) {
            return Ok(true);
        }
        source
            .has_several_runs()
            .map_err(|error| failure::database(error, stop))
    }

    /// The words that ask the same run once more, after the name of a report. A database that no flag names is found
    /// again without one.
    pub(super) fn words(&self, run: Option<&RunInfo>) -> Command {
        let set = self.set();
        if let Some(combined) = run.and_then(|run| run.combined.as_ref()) {
            let mut words = self.database.words();
            let name = combined.combination.name();
            let flags = ["--run", &set.to_string(), "--runs", name].map(str::to_owned);
            words.extend(flags);
            return Command {
                words,
                names_run: true,
            };
        }
        let Some(file) = file(&set) else {
            return Command {
                words: self.database.words(),
                names_run: false,
            };
        };
        let mut words = vec![file.display().to_string()];
        if let Some(format) = self.from {
            words.extend(["--from".to_owned(), format.name.to_owned()]);
        }
        for (name, value) in self.options.0.given() {
            words.push(format!("--{name}"));
            words.extend((!value.is_empty()).then(|| value.to_owned()));
        }
        Command {
            words,
            names_run: true,
        }
    }

    /// What to ask.
    fn set(&self) -> RunSet {
        match (&self.asked, &self.infile, &self.run) {
            // A word that looks like the name of a file is one even where there is no such file.
            (Some(RunSet::Word(name)), ..)
                if looks_like_a_file(name) || Path::new(name).exists() =>
            {
                RunSet::File(name.into())
            }
            (Some(set), ..) | (_, _, Some(set)) => set.clone(),
            (_, Some(file), _) => RunSet::File(file.clone()),
            _ => RunSet::Latest,
        }
    }

    /// The separators of the output. What `--separators` says is about the output if that is CSV,
    /// else about the file that is read.
    pub(super) fn take_separators(
        &mut self,
        format: OutputFormat,
    ) -> Result<Option<Separators>, Failure> {
        let set = self.set();
        let options = &mut self.options.0;
        if format == OutputFormat::Csv {
            return Ok(options.take(SEPARATORS).and_then(|text| text.parse().ok()));
        }
        if options.value(SEPARATORS).is_some() && file(&set).is_none() {
            let message = "--separators applies to CSV; use --format csv, or a FILE that is CSV";
            return Err(complain(message, Failure::Usage));
        }
        Ok(None)
    }
}

/// Returns whether a word has characters of paths, and is not a range such as `1..3`.
fn looks_like_a_file(word: &str) -> bool {
    word.contains(['.', '/']) && !is_range(word)
}

/// The file that a set leads to where files are read, too.
pub(super) fn file(set: &RunSet) -> Option<&Path> {
    match set {
        RunSet::File(path) => Some(path),
        RunSet::Word(name) => Some(Path::new(name)).filter(|path| path.is_file()),
        _ => None,
    }
}

/// The run that a set means, and where it is: a file, which is imported into a
/// temporary database, or the database.
pub(super) fn open_run(
    set: &RunSet,
    database: &DatabaseArgs,
    from: Option<&'static Format>,
    options: &Options,
    several: SeveralRuns,
    stop: &Stop,
) -> Result<(Database, RunInfo), Failure> {
    if let Some(file) = file(set) {
        let source = temporary(file, from, options, stop)?;
        let run = find_run(&source, None, stop)?;
        return Ok((source, run));
    }
    is_no_flag_of_files(set, from, options)?;
    is_anywhere(set, database)?;
    let source = open_to_read(database, stop)?;
    let is_unknown = || matches!(source.choose(set), Err(ChooseError::NoRuns(_)));
    if matches!(set, RunSet::Word(name) if Path::new(name).is_dir()) && is_unknown() {
        is_no_folder(set)?;
    }
    if let RunSet::Word(name) = set
        && looks_like_a_file(name)
        && is_unknown()
    {
        // It looks like the name of a file.
        return Err(no_such_file(
            name,
            "no run has this name; `profdb runs` lists the runs",
        ));
    }
    let runs = find_runs(&source, set, stop)?;
    match (runs.as_slice(), several) {
        ([run], _) => {
            let numbers = [*run].into();
            let run = find_run(&source, Some(&RunSet::Numbers(numbers)), stop)?;
            Ok((source, run))
        }
        (runs, SeveralRuns::Refuse(reason)) => {
            let message = format!("{set} matches {} runs, expected one: {reason}", runs.len());
            Err(complain(message, Failure::Usage))
        }
        (runs, SeveralRuns::Combine(combination)) => combine(&source, runs, combination, set, stop),
    }
}

/// Combines several runs of a database into one.
fn combine(
    source: &Database,
    runs: &[i64],
    combination: Option<Combination>,
    set: &RunSet,
    stop: &Stop,
) -> Result<(Database, RunInfo), Failure> {
    if combination.is_none() {
        say(format!(
            "{set} matches {} runs; using their sum (`--runs mean` for their mean)",
            runs.len()
        ));
    }
    let combination = combination.unwrap_or_default();
    let combined = source.combine_runs(runs, combination, &set.to_string(), &temporary_folder());
    let combined = combined.map_err(|error| match error {
        CombineError::Unpaired(message) => {
            complain(format!("{set}: {message}"), Failure::NothingSelected)
        }
        error @ CombineError::Refused(_) => complain(format!("{set}: {error}"), Failure::Input),
        CombineError::Store(error) => failure::database(error, stop),
    })?;
    combined.remarks.iter().for_each(say);
    Ok((combined.database, combined.run))
}

/// Returns the folder for temporary files.
#[expect(
    clippy::disallowed_methods,
    reason = "the environment says where temporary files go"
)]
fn temporary_folder() -> PathBuf {
    std::env::temp_dir()
}

/// Refuses flags that say how a file is read, where a run of the database is asked about.
fn is_no_flag_of_files(
    set: &RunSet,
    from: Option<&'static Format>,
    options: &Options,
) -> Result<(), Failure> {
    match flag_of_files(from, options) {
        Some(flag) => Err(complain(
            format!("--{flag} applies to files, found {set}; use ./{set} for a file of this name"),
            Failure::Usage,
        )),
        None => Ok(()),
    }
}

/// A flag that says how a file is read, if one is given.
pub(super) fn flag_of_files(
    from: Option<&'static Format>,
    options: &Options,
) -> Option<&'static str> {
    let mut given = options.given().map(|(name, _)| name);
    from.map(|_| "from").or_else(|| given.next())
}

/// Why a name is none of a file that can be read: the system says it, or there is neither such a file nor something else.
fn no_such_file(name: &str, neither: &str) -> Failure {
    match File::open(name) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => failed(name, unreadable(error)),
        _ => complain(
            format!("{name}: no such file, and {neither}"),
            Failure::Input,
        ),
    }
}

/// Whether there is a place where a word may be found that is no file: a database.
///
/// # Errors
/// If there is none.
pub(super) fn is_anywhere(set: &RunSet, database: &DatabaseArgs) -> Result<(), Failure> {
    let RunSet::Word(name) = set else {
        return Ok(());
    };
    let path = database.path();
    if file(set).is_some() || path.exists() {
        return Ok(());
    }
    is_no_folder(set)?;
    let database = path.display();
    let neither = format!("no database {database} that could have a run of this name");
    Err(no_such_file(name, &neither))
}

/// What to say of a folder where a file is expected.
pub(super) fn of_folder(name: &str) -> String {
    format!(
        "{name} is a directory; `profdb import {}` stores the profiles in it",
        quoted(name, None)
    )
}

/// Refuses a folder, which only an import and comparisons read.
///
/// # Errors
/// If a set is the name of one.
pub(super) fn is_no_folder(set: &RunSet) -> Result<(), Failure> {
    let name = match set {
        RunSet::File(path) => path.as_path(),
        RunSet::Word(name) => Path::new(name),
        _ => return Ok(()),
    };
    if name.is_dir() {
        let message = of_folder(&name.display().to_string());
        return Err(complain(message, Failure::Input));
    }
    Ok(())
}

/// Imports a file into a database that ends with the program.
pub(super) fn temporary(
    file: &Path,
    from: Option<&'static Format>,
    options: &Options,
    stop: &Stop,
) -> Result<Database, Failure> {
    let name = file.display().to_string();
    let opened = opened(file, from, Given::Named, options, stop);
    read(&name, opened.map_err(|error| failed(&name, error))?, stop)
}

/// As [`temporary`], of a file below a folder that was named: `None`, with what is wrong, if no format recognises it.
pub(super) fn temporary_below(
    file: &Path,
    from: Option<&'static Format>,
    options: &Options,
    stop: &Stop,
) -> Result<Result<Database, ImportError>, Failure> {
    let name = file.display().to_string();
    match opened(file, from, Given::InFolder, options, stop) {
        Err(pipeline::Failure::Input(error @ ImportError::NotRecognised { .. })) => Ok(Err(error)),
        opened => {
            let imported = opened.map_err(|error| failed(&name, error))?;
            read(&name, imported, stop).map(Ok)
        }
    }
}

/// Reads a profile into a temporary database.
fn opened(
    file: &Path,
    from: Option<&'static Format>,
    given: Given,
    options: &Options,
    stop: &Stop,
) -> Result<Imported, pipeline::Failure> {
    let name = file.display().to_string();
    open(file, stop).and_then(|input| {
        let format = format(&input, from, given)?;
        let describe = |fingerprint| pipeline::meta(format, options, &name, fingerprint);
        let open = || Database::temporary(&temporary_folder());
        pipeline::import(input, format, options, stop, describe, open)
    })
}

/// The database of a profile that was read, with what there is to warn of.
fn read(name: &str, imported: Imported, stop: &Stop) -> Result<Database, Failure> {
    let Imported {
        outcome, database, ..
    } = imported;
    let (Outcome::Stored(run) | Outcome::AlreadyThere(run)) = outcome;
    warn(name, &database, run).map_err(|error| failure::database(error, stop))?;
    Ok(database)
}

/// Shows the first warnings about a file.
pub(super) fn warn(name: &str, source: &Database, run: i64) -> Result<(), StoreError> {
    let warnings = source.warnings(run)?;
    warn_some(name, &warnings);
    if warnings.len() > SHOWN_WARNINGS {
        say(format!(
            "{name}: {} more warnings, in table notes",
            warnings.len() - SHOWN_WARNINGS
        ));
    }
    Ok(())
}

/// Shows the first of some warnings.
pub(super) fn warn_some(name: &str, warnings: &[impl Display]) {
    for warning in warnings.iter().take(SHOWN_WARNINGS) {
        say(format!("{name}: {warning}"));
    }
}

/// The way in which a user has given a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Given {
    Named,
    /// A file that no format recognises is passed over, and recognition needs more evidence.
    InFolder,
}

/// The format that was named, else the one that recognises the first bytes.
pub(super) fn format(
    input: &Input<'_>,
    named: Option<&'static Format>,
    given: Given,
) -> Result<&'static Format, pipeline::Failure> {
    match (named, given) {
        (Some(format), _) => Ok(format),
        (None, Given::Named) => Ok(formats::detect(input.head())?),
        (None, Given::InFolder) => Ok(formats::detect_in_folder(input.head())?),
    }
}

/// A reader of what may never come.
struct Awaited<R>(R);

impl<R: Read> Read for Awaited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        ending::reading(|| self.0.read(buffer))
    }
}

/// Whether a file would be read as a profile.
pub(super) fn is_profile(file: &Path, named: Option<&'static Format>) -> bool {
    open(file, &Stop::default()).is_ok_and(|input| format(&input, named, Given::InFolder).is_ok())
}

/// Opens a file, or standard input, with a progress bar if it takes long and there is a terminal.
pub(super) fn open(file: &Path, stop: &Stop) -> Result<Input<'static>, pipeline::Failure> {
    let pipe = |reader| {
        let watched = Watched::new(Awaited(reader), None);
        Input::new(Box::new(watched), Limits::default(), stop.clone())
    };
    if file == Path::new(STDIN) {
        let input = streams::input().map_err(unreadable)?;
        return Ok(pipe(Box::new(input.lock()) as Box<dyn Read>)?);
    }
    let opened = File::open(file).map_err(unreadable)?;
    let about = opened.metadata().map_err(unreadable)?;
    if about.is_dir() {
        return Err(unreadable(io::Error::from(io::ErrorKind::IsADirectory)));
    }
    // A pipe has no length and cannot be read from its start again.
    if !about.is_file() {
        return Ok(pipe(Box::new(opened))?);
    }
    Ok(Input::seekable(
        Watched::new(opened, Some(about.len())),
        Limits::default(),
        stop.clone(),
    )?)
}

/// A file that cannot even be opened.
pub(super) fn unreadable(source: io::Error) -> pipeline::Failure {
    pipeline::Failure::Input(ImportError::Unreadable(source))
}

/// Reports why a file was not read.
pub(super) fn failed(name: &str, error: pipeline::Failure) -> Failure {
    let instead = format!("use `--db {name}` if it is a profdb database");
    failed_or(name, &instead, error)
}

/// Reports why a file was not imported.
pub(super) fn not_imported(name: &str, error: pipeline::Failure) -> Failure {
    let instead = format!("use `profdb merge INTO {name}` if it is a profdb database");
    failed_or(name, &instead, error)
}

/// Reports why a file was not read; `of_database` is what to do if it is a database.
fn failed_or(name: &str, of_database: &str, error: pipeline::Failure) -> Failure {
    match error {
        pipeline::Failure::Input(ImportError::NotRecognised { found, .. })
            if found == formats::DATABASE =>
        {
            let message = format!("{name}: expected a profile, found {found}: {of_database}");
            complain(message, Failure::Input)
        }
        pipeline::Failure::Input(ImportError::Unreadable(cause))
            if cause.kind() == io::ErrorKind::IsADirectory =>
        {
            complain(of_folder(name), Failure::Input)
        }
        pipeline::Failure::Input(error) => {
            let failure = error.cause().map_or(Failure::Input, unread);
            complain(format!("{name}: {error}"), failure)
        }
        pipeline::Failure::Store(error) => store(&error),
        error @ pipeline::Failure::Thread(_) => complain(error, Failure::Limit),
        // What is to be said of memory is said at the end.
        pipeline::Failure::Interrupted if is_memory_out() => Failure::Interrupted,
        pipeline::Failure::Interrupted => complain(
            format!("{name}: interrupted, nothing imported"),
            Failure::Interrupted,
        ),
    }
}

/// A reader whose progress can be seen on a terminal.
struct Watched<R> {
    reader: R,
    length: Option<u64>,
    progress: Option<Progress>,
}

impl<R> Watched<R> {
    fn new(reader: R, length: Option<u64>) -> Self {
        Self {
            reader,
            length,
            progress: Some(Progress::of_bytes(length)),
        }
    }
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        if read == 0 {
            // What comes after the last byte is no reading.
            self.progress = None;
        }
        if let Some(progress) = &self.progress {
            progress.add(read as u64);
        }
        Ok(read)
    }
}

impl<R: Seek> Seek for Watched<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = self.reader.seek(to)?;
        let read_again = || Progress::of_bytes(self.length);
        self.progress.get_or_insert_with(read_again).set(at);
        Ok(at)
    }
}
