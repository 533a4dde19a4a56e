//! `profdb import FILE...`

use std::collections::VecDeque;
use std::fs;
use std::mem::take;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use clap::Args;
use clap::builder::{NonEmptyStringValueParser, PossibleValuesParser, TypedValueParser};

use super::args::{
    Imported as From, MetricNoise, contradiction, imported, joined, metric_noise, tag,
};
use super::database::{DatabaseArgs, WaitArgs};
use super::extent::{counted, extent};
use super::failure::{Failure, complain, line, say, unread};
use super::folder::Sources;
use super::git::{self, GitArgs};
use super::inputs::STDIN;
use super::known::{Asked, Known, Source};
use super::options::FormatOptions;
use super::output::{is_among, places};
use super::parsers::{Begun, Parsers, Reading};
use super::path_tags::{NamedDirectory, NamedPath, PathPattern};
use super::source::{Given, format, is_profile, not_imported, open, warn};
use super::walk::{Hidden, PassedOver, walk};
use crate::base::error::{ImportError, Stop};
use crate::formats::Format;
use crate::pipeline;
use crate::pipeline::{Imported, Parsed};
use crate::source::SourceLines;
use crate::store::{Database, Outcome, RunMeta, Tag, WholeRun, remove_abandoned};

/// Files that may be parsed, or wait to be stored, ahead of a group.
const FILES_AHEAD: usize = 32;

/// Bytes of these files: another is begun below that.
const BYTES_AHEAD: u64 = 8 << 20;

/// Runs that are stored together.
const GROUP_RUNS: usize = 100;

/// Bytes of files from which runs are stored together: the next run is of another group above that.
const GROUP_BYTES: u64 = 8 << 20;

/// Maximum number of duplicates that a message lists.
const MOST_DUPLICATES: usize = 20;

#[derive(Debug, Args)]
#[command(mut_arg("git", |git| git.help(
    "Tag the run with commit and branch of a git repository"
).long_help(
    "Set the tags commit, branch, commit_time, commit_count and dirty from the git repository of DIR, or of the current directory. `--tag` takes precedence."
)))]
pub(super) struct Import {
    /// Profiles or directories; - reads standard input
    ///
    /// Directories are read recursively. Symbolic links to directories and names that begin with a
    /// dot are skipped.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    wait: WaitArgs,
    /// Format of the files, instead of detecting it
    ///
    /// `dataset` reads directories that `profdb export --format parquet` wrote.
    #[arg(long, value_name = "FORMAT", value_parser = imported)]
    from: Option<From>,
    #[command(flatten)]
    options: FormatOptions,
    /// Title of the run [default: from the file]
    #[arg(long, value_parser = NonEmptyStringValueParser::new())]
    title: Option<String>,
    /// Tag of the run, such as commit=abc123; repeatable
    #[arg(long = "tag", value_name = "KEY=VALUE", value_parser = tag)]
    tags: Vec<Tag>,
    /// Tags from the path of each file, such as '{commit}/*'
    ///
    /// The pattern is compared with the path below the directory. If that does not match, the last
    /// components of the path of the directory are added. Of a file, the end of the path is compared. {NAME} matches one or more characters of one component and sets the tag NAME, * matches
    /// any characters of one component. A profile that does not match is an error. `--tag` takes
    /// precedence.
    #[arg(long, value_name = "PATTERN", value_parser = PathPattern::read)]
    tag_from: Option<PathPattern>,
    #[command(flatten)]
    git: GitArgs,
    /// Noise model: exact, timed, sampled or unknown
    ///
    /// Overrides how costs vary between recordings of an unchanged program, for one metric or for
    /// all. Repeatable. [default: from the format]
    #[arg(long, value_name = "[METRIC=]NOISE", value_parser = metric_noise)]
    noise: Vec<MetricNoise>,
    /// Store the run even if it was imported before
    #[arg(long)]
    again: bool,
    /// Store the source lines from this directory
    ///
    /// `report --code` and the page show them.
    #[arg(long, value_name = "DIR")]
    source: Option<PathBuf>,
    /// Source lines to store
    ///
    /// `functions` stores all lines of the profiled functions, `figures` only the lines that have a
    /// cost.
    #[arg(
        long,
        value_name = "WHICH",
        requires = "source",
        default_value = "functions",
        value_parser = source_lines()
    )]
    source_lines: SourceLines,
}

/// A choice of [`SourceLines`].
fn source_lines() -> impl TypedValueParser<Value = SourceLines> {
    PossibleValuesParser::new(SourceLines::ALL.map(|(name, _)| name)).map(|given| {
        let mut choices = SourceLines::ALL.iter();
        let found = choices.find(|(name, _)| *name == given);
        found.map_or_else(SourceLines::default, |(_, lines)| *lines)
    })
}

/// A run has one value for each key.
fn check_tags(tags: &[Tag]) -> Result<(), Failure> {
    let Some((Tag { value: other, .. }, Tag { key, value })) = contradiction(tags) else {
        return Ok(());
    };
    let message = format!(
        "--tag {key}={other} --tag {key}={value}: expected one value for each key, found two"
    );
    Err(complain(message, Failure::Usage))
}

/// Returns the directories that were named. Refuses files that the pattern for tags does not match, before anything is stored.
fn named_directories(
    import: &Import,
    from: Option<&'static Format>,
    stop: &Stop,
) -> Result<Vec<NamedDirectory>, Failure> {
    let mut directories = Vec::new();
    for given in &import.files {
        let mut directory = is_directory(given).then(|| NamedDirectory::new(given));
        if let Some(pattern) = &import.tag_from {
            let other = if let Some(directory) = &mut directory {
                other_profile(directory, pattern, from, stop)?
            } else {
                let tags = pattern.tags(&NamedPath::of(given, &[]));
                tags.is_none().then(|| given.clone())
            };
            if let Some(file) = other {
                let message = format!(
                    "--tag-from: expected a path like {}, found {}",
                    pattern.text(),
                    file.display()
                );
                return Err(complain(message, Failure::Usage));
            }
        }
        directories.extend(directory);
    }
    Ok(directories)
}

/// Fits a directory to the pattern for tags. Returns a profile that the pattern does not match. Files that are not profiles are
/// skipped.
fn other_profile(
    directory: &mut NamedDirectory,
    pattern: &PathPattern,
    from: Option<&'static Format>,
    stop: &Stop,
) -> Result<Option<PathBuf>, Failure> {
    let walked = walk(directory.path(), Hidden::LeftOut, stop)?;
    let files = walked.files.into_iter().chain(walked.links);
    let files: Vec<PathBuf> = files.map(|(_, path)| path).collect();
    let is_other = |file: &&PathBuf| !directory.matches(pattern, file) && is_profile(file, from);
    if !files.iter().any(|file| is_other(&file)) {
        return Ok(None);
    }
    let profiles = files.into_iter().filter(|file| is_profile(file, from));
    Ok(directory.fit(pattern, profiles.collect()))
}

/// Returns true for the name of a directory.
fn is_directory(file: &Path) -> bool {
    file != Path::new(STDIN) && file.is_dir()
}

/// Returns the tags of git, and those of the path of a file, and those that were given: later ones take precedence.
fn tags_of(import: &Import, of_git: &[Tag], path: &NamedPath) -> Vec<(String, String)> {
    let of_path = import
        .tag_from
        .iter()
        .filter_map(|pattern| pattern.tags(path));
    let all = of_git.iter().cloned().chain(of_path.flatten());
    all.chain(import.tags.iter().cloned())
        .map(|Tag { key, value }| (key, value))
        .collect()
}

/// Imports the files in their order. A file that fails leaves the others imported; the first
/// failure decides how the program ends. A database that fails ends it at once.
pub(super) fn run(import: &Import, stop: &Stop) -> Result<(), Failure> {
    if matches!(import.from, Some(From::Dataset)) {
        return import_datasets(import, stop);
    }
    let mut outcome = Ok(());
    check_tags(&import.tags)?;
    joined(&import.tags).iter().for_each(say);
    let of_git = match &import.git.folder {
        Some(folder) => git::tags(folder, &import.tags, stop)?,
        None => Vec::new(),
    };
    let from = match import.from {
        Some(From::Format(format)) => Some(format),
        _ => None,
    };
    let folders = named_directories(import, from, stop)?;
    remove_abandoned(&import.database.path());
    let source: Source = match &import.source {
        Some(folder) => Some(Arc::new(Sources::open(folder, stop)?)),
        None => None,
    };
    let describe = |format: &Format, file: &Path, fingerprint| {
        let path = NamedPath::of(file, &folders);
        RunMeta {
            title: import.title.clone(),
            tags: tags_of(import, &of_git, &path),
            noise: import
                .noise
                .iter()
                .map(|MetricNoise { metric, noise }| (metric.clone(), *noise))
                .collect(),
            again: import.again,
            source: source.clone(),
            source_lines: import.source_lines,
            ..pipeline::meta(format, &import.options.0, path.name(), fingerprint)
        }
    };
    let reading = Reading {
        from,
        options: &import.options.0,
        describe: &describe,
        stop: stop.clone(),
    };
    let mut imports = Imports {
        import,
        source: source.clone(),
        reading: &reading,
        stop,
        path: import.database.path(),
        database: None,
        reader: None,
        stored: Vec::new(),
    };
    // Files that are given one after the other are read ahead of each other, as those of a folder.
    for given in import
        .files
        .chunk_by(|a, b| !is_directory(a) && !is_directory(b))
    {
        let imported = match given {
            [folder] if is_directory(folder) => imports.folder(folder),
            files => imports
                .files(files, Given::Named)
                .and_then(|done| done.outcome),
        };
        match imported {
            Ok(()) => {}
            Err(failure @ (Failure::Input | Failure::Output)) => {
                outcome = outcome.and(Err(failure));
            }
            Err(failure) => return Err(failure),
        }
    }
    imports.report_duplicates()?;
    outcome
}

/// Imports datasets, whose runs have titles, tags and sources already.
fn import_datasets(import: &Import, stop: &Stop) -> Result<(), Failure> {
    let is_plain = import.title.is_none()
        && import.tags.is_empty()
        && import.tag_from.is_none()
        && import.git.folder.is_none()
        && import.noise.is_empty()
        && !import.again
        && import.source.is_none()
        && import.options.0.given().next().is_none();
    if !is_plain {
        return Err(complain(
            "--from dataset imports runs as they were exported; only --db and --wait can be combined with it",
            Failure::Usage,
        ));
    }
    #[cfg(feature = "parquet")]
    return super::dataset::import(&import.files, &import.database, &import.wait, stop);
    #[cfg(not(feature = "parquet"))]
    {
        let _ = stop;
        Err(complain(super::failure::WITHOUT_PARQUET, Failure::Usage))
    }
}

/// The imports of one command.
struct Imports<'i> {
    import: &'i Import,
    source: Source,
    reading: &'i Reading<'i>,
    stop: &'i Stop,
    path: PathBuf,
    /// The database as the files before have left it: opening it and reading its schema takes longer
    /// than a small file does.
    database: Option<Database>,
    /// The database for reading only, until there is something to write.
    reader: Option<Database>,
    /// The runs that were stored.
    stored: Vec<i64>,
}

/// Files whose outcome has not been said, because runs among them are not stored yet.
#[derive(Default)]
struct Group<'f> {
    files: Vec<(&'f Path, Waiting)>,
    runs: Vec<WholeRun>,
    /// Bytes that the runs were read from.
    bytes: u64,
}

/// What is known of a file before its group is stored.
enum Waiting {
    /// It is the next of the runs, and has so many nodes.
    Run(u64),
    Known(Known),
    Failed(pipeline::Failure),
}

/// What became of some files.
struct Done {
    /// Files that are profiles, or were said to be.
    profiles: usize,
    /// Files of a folder that are none.
    passed_over: PassedOver,
    /// The first failure that leaves other files imported.
    outcome: Result<(), Failure>,
}

impl Imports<'_> {
    /// Imports the files below a folder, by name; those that no format recognises are passed over.
    fn folder(&mut self, folder: &Path) -> Result<(), Failure> {
        let name = folder.display();
        let walked = walk(folder, Hidden::LeftOut, self.stop)?;
        let mut outcome = Ok(());
        for (below, reason, failure) in &walked.unlisted {
            let failure = complain(format!("{}: {reason}", below.display()), *failure);
            if failure != Failure::Input {
                return Err(failure);
            }
            outcome = Err(failure);
        }
        let (mut files, mut folder_links, mut lost_links) = (walked.files, 0, 0);
        for link in walked.links {
            match fs::metadata(&link.1) {
                Ok(about) if about.is_file() => files.push(link),
                Ok(about) if about.is_dir() => folder_links += 1,
                _ => lost_links += 1,
            }
        }
        files.sort();
        // The database may lie among the profiles.
        let own = places(&self.path);
        let files = files.into_iter().map(|(_, path)| path);
        let files: Vec<PathBuf> = files.filter(|path| !is_among(path, &own)).collect();
        let done = self.files(&files, Given::InFolder)?;
        done.passed_over.end(folder);
        let left_out = [
            (walked.hidden, ["hidden name", "hidden names"]),
            (folder_links, ["link to a folder", "links to folders"]),
            (lost_links, ["broken link", "broken links"]),
            (walked.special, ["pipe or device", "pipes or devices"]),
        ];
        let left_out = left_out.into_iter().filter(|(count, _)| *count > 0);
        let left_out: Vec<String> = left_out
            .map(|(count, [one, several])| {
                format!("{count} {}", if count == 1 { one } else { several })
            })
            .collect();
        if !left_out.is_empty() {
            say(format!("{name}: skipped {}", left_out.join(", ")));
        }
        if done.profiles == 0 {
            return Err(complain(
                format!(
                    "{name}: no profile found among {} in {}",
                    counted(files.len() as u64, "file"),
                    counted(walked.folders as u64, "folder")
                ),
                Failure::Input,
            ));
        }
        done.outcome.and(outcome)
    }

    /// Imports files in their order.
    fn files(&mut self, files: &[PathBuf], given: Given) -> Result<Done, Failure> {
        let mut done = Done {
            profiles: 0,
            passed_over: PassedOver::default(),
            outcome: Ok(()),
        };
        if let [file] = files {
            let outcome = self.file(file, given);
            self.told(file, outcome, given, &mut done)?;
        } else {
            self.many(files, given, &mut done)?;
        }
        Ok(done)
    }

    /// Imports files in their order. Small ones are parsed ahead, on all cores, and stored in
    /// groups.
    fn many(&mut self, files: &[PathBuf], given: Given, done: &mut Done) -> Result<(), Failure> {
        let reading = self.reading;
        thread::scope(|scope| {
            let parsers = Parsers::start(scope, reading, given);
            let mut to_come = files.iter().peekable();
            let mut ahead: VecDeque<(Begun<'_>, Option<Waiting>)> = VecDeque::new();
            let mut bytes_ahead = 0;
            let mut group = Group::default();
            loop {
                while ahead.len() < FILES_AHEAD
                    && (bytes_ahead < BYTES_AHEAD || ahead.is_empty())
                    && let Some(file) = to_come.next()
                {
                    let begun = match self.known(file, given) {
                        Ok(None) => (parsers.begin(file), None),
                        Ok(Some(known)) => (Begun::of(file), Some(Waiting::Known(known))),
                        Err(error) => (Begun::of(file), Some(Waiting::Failed(error))),
                    };
                    bytes_ahead += begun.0.bytes;
                    ahead.push_back(begun);
                }
                let Some((begun, waiting)) = ahead.pop_front() else {
                    break;
                };
                bytes_ahead -= begun.bytes;
                let file = begun.file;
                let waiting = match waiting {
                    Some(waiting) => waiting,
                    None => match parsers.finish(begun) {
                        Ok(Parsed::Whole(run, bytes)) => {
                            let nodes = run.totals.nodes;
                            group.runs.push(*run);
                            group.bytes += bytes;
                            Waiting::Run(nodes)
                        }
                        Ok(Parsed::Large) => {
                            // In its turn, so that runs are numbered in the order of the files.
                            self.store(&mut group, given, done)?;
                            let outcome = self.file(file, given);
                            self.told(file, outcome, given, done)?;
                            continue;
                        }
                        Err(error) => Waiting::Failed(error),
                    },
                };
                let is_last = matches!(&waiting, Waiting::Failed(error) if !is_of_the_file(error));
                group.files.push((file, waiting));
                // The first run of a new file is stored by itself, and said to be.
                let is_first =
                    !group.runs.is_empty() && self.database.is_none() && !self.path.exists();
                if is_last || is_first || group.is_full() {
                    self.store(&mut group, given, done)?;
                }
            }
            self.store(&mut group, given, done)
        })
    }

    /// Stores the runs of a group and says what became of its files.
    fn store(
        &mut self,
        group: &mut Group<'_>,
        given: Given,
        done: &mut Done,
    ) -> Result<(), Failure> {
        let Group { files, runs, .. } = take(group);
        let mut outcomes = Vec::new();
        let mut ended = None;
        if !runs.is_empty() {
            match self.stored(runs) {
                Ok(stored) => outcomes = stored,
                Err(error) => ended = Some(error),
            }
        }
        let mut outcomes = outcomes.into_iter();
        // What is wrong with files is said also where the database fails: of that file which is the
        // first that is not stored.
        let mut failed_at = None;
        for (file, waiting) in files {
            let outcome = match waiting {
                Waiting::Run(nodes) => match outcomes.next() {
                    Some(Outcome::Stored(run)) => Ok(Told::New { run, nodes }),
                    Some(Outcome::AlreadyThere(run)) => self.known_by_now(run),
                    None => {
                        failed_at.get_or_insert(file);
                        continue;
                    }
                },
                Waiting::Known(known) => Ok(Told::Known(known)),
                Waiting::Failed(error) if is_of_the_file(&error) => Err(error),
                Waiting::Failed(error) => {
                    failed_at.get_or_insert(file);
                    ended.get_or_insert(error);
                    continue;
                }
            };
            self.told(file, outcome, given, done)?;
        }
        match (ended, failed_at) {
            (Some(error), Some(file)) => Err(not_imported(&file.display().to_string(), error)),
            _ => Ok(()),
        }
    }

    /// Stores runs.
    fn stored(&mut self, runs: Vec<WholeRun>) -> Result<Vec<Outcome>, pipeline::Failure> {
        if self.stop.is_set() {
            return Err(pipeline::Failure::Interrupted);
        }
        self.reader = None;
        let lock_wait = self.import.wait.lock_wait(self.stop);
        let database = Database::open_again(self.database.take(), &self.path, lock_wait);
        let database = database.map_err(|error| {
            if self.stop.is_set() {
                pipeline::Failure::Interrupted
            } else {
                error.into()
            }
        })?;
        let (outcomes, database) = pipeline::store(database, runs, self.stop)?;
        self.database = Some(database);
        Ok(outcomes)
    }

    /// What is said of a run that was there when its group was stored.
    fn known_by_now(&self, run: i64) -> Result<Told, pipeline::Failure> {
        let database = self.database.as_ref().expect("its group was stored");
        Known::new(database, run, &self.source).map(Told::Known)
    }

    /// Imports one file, by itself.
    fn file(&mut self, file: &Path, given: Given) -> Result<Told, pipeline::Failure> {
        // Each file has a flag of its own, so that one that fails does not stop the others.
        let stop = &self.stop.child();
        self.database = self.database.take().filter(Database::is_as_left);
        if let Some(left) = &mut self.database {
            left.heed(stop.clone())?;
        }
        let input = open(file, stop)?;
        let format = format(&input, self.reading.from, given)?;
        let describe = |fingerprint| (self.reading.describe)(format, file, fingerprint);
        let lock_wait = self.import.wait.lock_wait(stop);
        if !self.import.again && file != Path::new(STDIN) {
            let asked = Asked {
                left: self.database.as_ref(),
                reader: &mut self.reader,
                path: &self.path,
                lock_wait: &lock_wait,
            };
            let known = asked.known(file, &self.source, |fingerprint| Ok(describe(fingerprint)))?;
            if let Some(known) = known {
                return Ok(Told::Known(known));
            }
        }
        self.reader = None;
        let left = self.database.take();
        let open = || Database::open_again(left, &self.path, lock_wait);
        let options = &self.import.options.0;
        let imported = pipeline::import(input, format, options, stop, describe, open)?;
        let Imported {
            outcome,
            database,
            nodes,
        } = imported;
        self.database = Some(database);
        match outcome {
            Outcome::AlreadyThere(run) => self.known_by_now(run),
            Outcome::Stored(run) => Ok(Told::New { run, nodes }),
        }
    }

    /// Whether a file is in the database already.
    fn known(&mut self, file: &Path, given: Given) -> Result<Option<Known>, pipeline::Failure> {
        if self.import.again || file == Path::new(STDIN) {
            return Ok(None);
        }
        let stop = self.stop;
        self.database = self.database.take().filter(Database::is_as_left);
        if let Some(left) = &mut self.database {
            left.heed(stop.clone())?;
        }
        let lock_wait = self.import.wait.lock_wait(stop);
        let asked = Asked {
            left: self.database.as_ref(),
            reader: &mut self.reader,
            path: &self.path,
            lock_wait: &lock_wait,
        };
        let known = asked.known(file, &self.source, |fingerprint| {
            let input = open(file, stop)?;
            let format = format(&input, self.reading.from, given)?;
            Ok((self.reading.describe)(format, file, fingerprint))
        });
        match known {
            // Whatever is wrong with the file is reported when it is imported.
            Err(pipeline::Failure::Input(_)) => Ok(None),
            known => known,
        }
    }

    /// Says what became of a file.
    fn told(
        &mut self,
        file: &Path,
        outcome: Result<Told, pipeline::Failure>,
        given: Given,
        done: &mut Done,
    ) -> Result<(), Failure> {
        let name = file.display().to_string();
        if given == Given::InFolder
            && let Err(pipeline::Failure::Input(error @ ImportError::NotRecognised { .. })) =
                &outcome
        {
            done.passed_over.add(file, error);
            return Ok(());
        }
        done.profiles += 1;
        let told = match outcome {
            Ok(told) => self.tell(&name, told),
            Err(error) => Err(not_imported(&name, error)),
        };
        match told {
            Err(failure @ (Failure::Input | Failure::Output)) => {
                done.outcome = done.outcome.and(Err(failure));
                Ok(())
            }
            told => told,
        }
    }

    /// Says what became of a file that is a profile. A closed output does not keep the next file
    /// from being imported.
    fn tell(&mut self, name: &str, told: Told) -> Result<(), Failure> {
        let (run, nodes) = match told {
            Told::New { run, nodes } => {
                self.stored.push(run);
                (run, nodes)
            }
            Told::Known(known) => {
                say(format!("{name}: {known}"));
                return Ok(());
            }
        };
        let database = self.database.as_mut().expect("it has the run");
        // It is stored: to be interrupted now would say that it is not.
        database
            .heed(Stop::default())
            .map_err(|error| complain(error, Failure::Database))?;
        warn(name, database, run).map_err(|error| complain(error, Failure::Database))?;
        let extent = extent(database, run, nodes);
        let extent = extent.map_err(|error| complain(error, Failure::Database))?;
        let told = line(format!("{name}: run {run}, {extent}"));
        database.is_told();
        match told {
            Err(Failure::ClosedPipe) => Ok(()),
            told => told,
        }
    }
}

impl Imports<'_> {
    /// Reports the stored runs whose content the database had with other tags.
    fn report_duplicates(&self) -> Result<(), Failure> {
        let Some(database) = self.database.as_ref().filter(|_| !self.import.again) else {
            return Ok(());
        };
        let duplicates = database.duplicates(&self.stored);
        let duplicates = duplicates.map_err(|error| complain(error, Failure::Database))?;
        let Some((run, of)) = duplicates.first() else {
            return Ok(());
        };
        let runs: Vec<String> = duplicates.iter().map(|(run, _)| run.to_string()).collect();
        let more = match duplicates.len() - 1 {
            0 => String::new(),
            1 => ", and 1 more run has an earlier copy".to_owned(),
            more => format!(", and {more} more runs have earlier copies"),
        };
        let deleted = match runs.len() {
            0..=MOST_DUPLICATES => runs.join(","),
            _ => "RUNS".to_owned(),
        };
        say(format!(
            "run {run} has the content of run {of}, which has other tags{more}; `profdb delete {deleted}` deletes what was stored now"
        ));
        Ok(())
    }
}

impl Group<'_> {
    fn is_full(&self) -> bool {
        self.runs.len() >= GROUP_RUNS || self.bytes >= GROUP_BYTES
    }
}

/// Whether a failure is about one file, and leaves others to be imported.
fn is_of_the_file(failure: &pipeline::Failure) -> bool {
    match failure {
        pipeline::Failure::Input(error) => error
            .cause()
            .is_none_or(|cause| unread(cause) == Failure::Input),
        _ => false,
    }
}

/// What became of a file.
enum Told {
    New {
        run: i64,
        nodes: u64,
    },
    /// It is in the database already.
    Known(Known),
}
