//! The two sides of a comparison: sets of runs, or files.

use std::path::Path;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueHint};

use super::args::{directory_prefix, input_format, run_set};
use super::database::{DatabaseArgs, open_to_read};
use super::failure::{Failure, complain, database, unchosen};
use super::inputs::{Inputs, STDIN};
use super::options::FormatOptions;
use super::source::{file, flag_of_files, is_anywhere, temporary, temporary_below};
use super::walk::{Hidden, PassedOver, walk};
use crate::base::error::Stop;
use crate::base::hex::hex;
use crate::compare::judge::Noise;
use crate::compare::{CompareError, ComparedRun, FILE_NAMES, Normalize, Request};
use crate::formats::{Format, Options};
use crate::store::{ChooseError, Database, RunSet, Tag};

/// What is compared, and how its figures are taken.
#[derive(Debug, Args)]
pub(super) struct SidesArgs {
    /// Baseline: a profile, a directory of profiles, or runs
    #[arg(value_name = "BASE", value_parser = run_set(), value_hint = ValueHint::FilePath, requires = "changed", required_unless_present = "base")]
    original: Option<RunSet>,
    /// New: a profile, a directory of profiles, or runs
    #[arg(value_name = "NEW", value_parser = run_set(), value_hint = ValueHint::FilePath)]
    changed: Option<RunSet>,
    /// Baseline: runs or files; repeatable
    #[arg(long, value_name = "SET", num_args = 1.., value_parser = run_set(), conflicts_with = "original", requires = "new")]
    base: Vec<RunSet>,
    /// New: runs or files; repeatable
    #[arg(long, value_name = "SET", num_args = 1.., value_parser = run_set(), conflicts_with = "original", requires = "base")]
    new: Vec<RunSet>,
    #[command(flatten)]
    pub(super) database: DatabaseArgs,
    /// Metric to compare
    ///
    /// [default: the default metric of the first baseline run]
    #[arg(long, value_name = "NAME")]
    metric: Option<String>,
    #[command(flatten)]
    how: ComparedArgs,
    /// Format of the files, instead of detecting it
    #[arg(long, value_name = "FORMAT", value_parser = input_format)]
    from: Option<&'static Format>,
    #[command(flatten)]
    options: FormatOptions,
}

/// How figures of two sides are taken, and what of them is one function.
#[derive(Debug, Args)]
pub(super) struct ComparedArgs {
    /// Noise model: exact, timed, sampled or unknown
    ///
    /// How costs vary between recordings of an unchanged program. [default: as stored in the runs]
    #[arg(long, value_name = "KIND", value_parser = noise)]
    noise: Option<Noise>,
    /// Divide costs by total, median, calls or tag:KEY
    ///
    /// `total` compares shares of the total. `median` removes a factor that most of the cost has in
    /// common, such as a slower machine. `tag:KEY` divides by the number in a tag.
    #[arg(long, value_name = "BY", default_value = "none", value_parser = normalize)]
    normalize: Normalize,
    /// Pair the runs of both sides by the value of a tag
    ///
    /// Without TAG, files are paired by name order and runs by number.
    #[arg(long, value_name = "TAG", num_args = 0..=1, default_missing_value = FILE_NAMES, value_parser = NonEmptyStringValueParser::new())]
    paired: Option<String>,
    /// Directory or program that was renamed, as BASE=NEW
    #[arg(long, value_name = "BASE=NEW", value_parser = root)]
    root: Vec<(String, String)>,
    /// Also match functions by name alone
    ///
    /// Applies to names that are unambiguous on both sides, if the match cannot be explained by
    /// chance.
    #[arg(long)]
    loose: bool,
}

impl ComparedArgs {
    /// Whether nothing is said.
    pub(super) fn are_usual(&self) -> bool {
        let Self {
            noise,
            normalize,
            paired,
            root,
            loose,
        } = self;
        noise.is_none()
            && *normalize == Normalize::None
            && paired.is_none()
            && root.is_empty()
            && !loose
    }

    /// A request with what is said here.
    pub(super) fn request(&self) -> Request {
        Request {
            noise: self.noise,
            normalize: self.normalize.clone(),
            paired: self.paired.clone(),
            roots: self.root.clone(),
            loose: self.loose,
            ..Request::default()
        }
    }
}

pub(super) fn noise(name: &str) -> Result<Noise, String> {
    let names = Noise::ALL.map(Noise::name).join(", ");
    Noise::by_name(name).ok_or_else(|| format!("expected {names}"))
}

pub(super) fn normalize(text: &str) -> Result<Normalize, String> {
    match text {
        "none" => Ok(Normalize::None),
        "total" => Ok(Normalize::Total),
        "median" => Ok(Normalize::Median),
        "calls" => Ok(Normalize::Calls),
        text => match text.strip_prefix("tag:") {
            Some(key) if !key.is_empty() => Ok(Normalize::Tag(key.to_owned())),
            _ => Err("expected none, total, median, calls or tag:KEY".to_owned()),
        },
    }
}

pub(super) fn root(text: &str) -> Result<(String, String), String> {
    text.split_once('=')
        .map(|(base, new)| (directory_prefix(base), directory_prefix(new)))
        .filter(|(base, new)| base != new)
        .ok_or_else(|| "expected BASE=NEW with two directories".to_owned())
}

impl SidesArgs {
    /// Opens the database and the files that the sides are in. A file of two sides is read for each.
    pub(super) fn open(&self, stop: &Stop) -> Result<OpenSides, Failure> {
        let sets = |one: &Option<RunSet>, several: &[RunSet]| -> Vec<RunSet> {
            one.iter().chain(several).cloned().collect()
        };
        let sets = [
            sets(&self.original, &self.base),
            sets(&self.changed, &self.new),
        ];
        open(sets, &self.database, self.from, &self.options.0, stop)
    }

    /// What is read, which no output may replace.
    pub(super) fn inputs(&self) -> Inputs {
        let sets = self.original.iter().chain(&self.changed);
        let sets = sets.chain(&self.base).chain(&self.new);
        Inputs::of(&self.database).with_files(sets.filter_map(file_of), self.from)
    }

    /// Whether all that is compared is in the database.
    pub(super) fn are_stored(&self) -> bool {
        let named = self.original.iter().chain(&self.changed);
        named.chain(&self.base).chain(&self.new).all(is_stored)
    }

    /// A request with what is said here.
    pub(super) fn request(&self) -> Request {
        Request {
            metric: self.metric.clone(),
            ..self.how.request()
        }
    }
}

/// Opens what two sets are in.
pub(super) fn open_two(
    base: &RunSet,
    new: &RunSet,
    database: &DatabaseArgs,
    stop: &Stop,
) -> Result<OpenSides, Failure> {
    let sets = [vec![base.clone()], vec![new.clone()]];
    open(sets, database, None, &Options::default(), stop)
}

fn open(
    sets: [Vec<RunSet>; 2],
    database: &DatabaseArgs,
    from: Option<&'static Format>,
    options: &Options,
    stop: &Stop,
) -> Result<OpenSides, Failure> {
    for set in sets.iter().flatten().filter(|set| is_stored(set)) {
        is_anywhere(set, database)?;
    }
    let stored = if sets.iter().flatten().any(is_stored) {
        Some(open_to_read(database, stop)?)
    } else {
        None
    };
    read_once(sets.iter().flatten())?;
    are_heeded(sets.iter().flatten(), from, options)?;
    let read = |sets: &[RunSet]| files_of(sets, from, options, stop);
    let files = [read(&sets[0])?, read(&sets[1])?];
    Ok(OpenSides {
        sets,
        stored,
        files,
    })
}

/// Refuses flags that say how files are read where none is.
pub(super) fn are_heeded<'s>(
    mut sets: impl Iterator<Item = &'s RunSet>,
    from: Option<&'static Format>,
    options: &Options,
) -> Result<(), Failure> {
    match flag_of_files(from, options) {
        Some(flag) if sets.all(is_stored) => Err(complain(
            format!(
                "--{flag} applies to files, but only runs of the database are compared; omit it, or name a file as ./NAME"
            ),
            Failure::Usage,
        )),
        _ => Ok(()),
    }
}

/// Refuses to read standard input twice.
pub(super) fn read_once<'s>(sets: impl Iterator<Item = &'s RunSet>) -> Result<(), Failure> {
    let is_input = |file: &&Path| *file == Path::new(STDIN);
    if sets.filter_map(file_of).filter(is_input).count() > 1 {
        return Err(complain(
            "standard input can be read once; use `-` once",
            Failure::Usage,
        ));
    }
    Ok(())
}

/// Reads the files of a set into databases that end with the program.
pub(super) fn files_of(
    sets: &[RunSet],
    from: Option<&'static Format>,
    options: &Options,
    stop: &Stop,
) -> Result<Vec<Database>, Failure> {
    let mut files = Vec::new();
    for name in sets.iter().filter_map(file_of) {
        if name.is_dir() {
            let profiles = below(name, from, options, stop)?;
            if profiles.is_empty() {
                return Err(complain(no_profile(name), Failure::NothingSelected));
            }
            files.extend(profiles);
        } else {
            files.push(temporary(name, from, options, stop)?);
        }
    }
    Ok(files)
}

/// What to say of a folder without profiles.
pub(super) fn no_profile(folder: &Path) -> String {
    format!("{}: no profile in this directory", folder.display())
}

/// The profiles below a folder, by name; what no format recognises is passed over.
pub(super) fn below(
    folder: &Path,
    from: Option<&'static Format>,
    options: &Options,
    stop: &Stop,
) -> Result<Vec<Database>, Failure> {
    let walked = walk(folder, Hidden::LeftOut, stop)?;
    if let Some((below, reason, failure)) = walked.unlisted.first() {
        return Err(complain(format!("{}: {reason}", below.display()), *failure));
    }
    let links = walked.links.into_iter().filter(|(_, path)| path.is_file());
    let mut files: Vec<_> = walked.files.into_iter().chain(links).collect();
    files.sort();
    let (mut profiles, mut passed_over) = (Vec::new(), PassedOver::default());
    for (_, file) in files {
        match temporary_below(&file, from, options, stop)? {
            Ok(profile) => profiles.push(profile),
            Err(error) => passed_over.add(&file, error),
        }
    }
    passed_over.end(folder);
    Ok(profiles)
}

/// What sides are in.
pub(super) struct OpenSides {
    sets: [Vec<RunSet>; 2],
    stored: Option<Database>,
    files: [Vec<Database>; 2],
}

impl OpenSides {
    /// The runs of a side: 0 for base, 1 for new.
    pub(super) fn runs(&self, side: usize, stop: &Stop) -> Result<Vec<ComparedRun<'_>>, Failure> {
        let mut runs = Vec::new();
        if let Some(stored) = &self.stored {
            let chosen = chosen(stored, &self.sets[side]);
            let numbers = chosen.map_err(|error| unchosen(error, stop))?;
            runs.extend(runs_of(stored, &numbers, stop)?);
        }
        runs.extend(runs_of_files(&self.files[side], stop)?);
        Ok(runs)
    }
}

/// The runs of a database that sets mean, those that are files left out.
pub(super) fn chosen(stored: &Database, sets: &[RunSet]) -> Result<Vec<i64>, ChooseError> {
    let mut numbers = Vec::new();
    for set in sets.iter().filter(|set| is_stored(set)) {
        numbers.extend(stored.choose(set)?);
    }
    numbers.sort_unstable();
    numbers.dedup();
    Ok(numbers)
}

/// Runs of a database by their numbers.
pub(super) fn runs_of<'d>(
    stored: &'d Database,
    numbers: &[i64],
    stop: &Stop,
) -> Result<Vec<ComparedRun<'d>>, Failure> {
    let mut runs = Vec::new();
    for number in numbers {
        runs.extend(run_of(stored, Some(*number), stop)?);
    }
    Ok(runs)
}

/// The runs of files.
pub(super) fn runs_of_files<'d>(
    files: &'d [Database],
    stop: &Stop,
) -> Result<Vec<ComparedRun<'d>>, Failure> {
    let mut runs = Vec::new();
    for file in files {
        runs.extend(run_of(file, None, stop)?);
    }
    Ok(runs)
}

/// Reports why there is no comparison.
pub(super) fn not_compared(error: CompareError, stop: &Stop) -> Failure {
    match error {
        CompareError::Usage(message) => complain(message, Failure::Usage),
        CompareError::NothingSelected(message) => complain(message, Failure::NothingSelected),
        CompareError::Store(error) => database(error, stop),
    }
}

pub(super) fn is_stored(set: &RunSet) -> bool {
    file_of(set).is_none()
}

/// The file that a set leads to: a name that looks like one is one even where there is no such file.
pub(super) fn file_of(set: &RunSet) -> Option<&Path> {
    match set {
        RunSet::Word(name) if name.contains(['.', '/']) || Path::new(name).is_dir() => {
            Some(Path::new(name))
        }
        set => file(set),
    }
}

/// A run as comparisons see it.
fn run_of<'d>(
    source: &'d Database,
    number: Option<i64>,
    stop: &Stop,
) -> Result<Option<ComparedRun<'d>>, Failure> {
    let failed = |error| database(error, stop);
    let Some(run) = source.run(number).map_err(failed)? else {
        return Ok(None);
    };
    let tags: Vec<Tag> = source.run_head(run.run_id).map_err(failed)?.tags;
    Ok(Some(ComparedRun {
        database: source,
        run,
        tags,
    }))
}

/// Of which rules the identities of a database are, in hexadecimal digits.
pub(super) fn digest_of_rules(source: &Database, stop: &Stop) -> Result<Option<String>, Failure> {
    let digest = source.identity_digest();
    let digest = digest.map_err(|error| database(error, stop))?;
    Ok(digest.map(|digest| hex(&digest)))
}
