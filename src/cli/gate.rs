//! `profdb gate --budget FILE`

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum, ValueHint};

use super::args::{input_format, run_set};
use super::database::{DatabaseArgs, is_database, open_to_read};
use super::failure::{Failure, complain, database, say, unchosen, unread, unwritten};
use super::git::{self, GitArgs};
use super::inputs::Inputs;
use super::options::FormatOptions;
use super::output::{Target, Unwritten};
use super::sides::{
    ComparedArgs, are_heeded, below, chosen, file_of, files_of, is_stored, no_profile, read_once,
    runs_of, runs_of_files,
};
use super::source::is_anywhere;
use crate::base::error::Stop;
use crate::compare::{ComparedRun, Request};
use crate::formats::Format;
use crate::gate::{
    Ancestry, Base, BaseRuns, Budget, GateError, LONGEST, Outcome, Policy, Question, RuleAnswer,
    TRUNKS, choose, judge, latest, write,
};
use crate::store::{ChooseError, Database, NoRuns, RunSet, Tag};

/// The example of a budget file in the help.
const EXAMPLE_BUDGET: &str = "\
Rules of a budget file, one per line:
  total <= +5 %                 # the whole run
  fn 'parse*' <= +10 % or 1 ms  # exclusive cost of each match; the larger limit
  any <= +25 %                  # exclusive cost of every function with 0.1 % of the total";

/// A summary of the grammar in src/gate/grammar.rs, for the long help.
const GRAMMAR: &str = "  RULE     SUBJECT <= LIMIT [or LIMIT] [metric NAME] [cumulative]
  SUBJECT  total, new, any, or fn, module, file or calls with a 'NAME'
  LIMIT    +5 % (growth), 200 ms (cost), 10 % of total (share)
  Rules apply to the exclusive cost, with `cumulative` to the inclusive cost.
  In 'NAME', * and ? are wildcards. docs/gate.md describes all rules.";

#[derive(Debug, Args)]
#[command(
    after_help = EXAMPLE_BUDGET,
    after_long_help = format!("{EXAMPLE_BUDGET}\n\n{GRAMMAR}")
)]
#[command(mut_arg("git", |git| git.help(
    "Find the merge base in a git repository"
).long_help(
    "Find the merge base in the git repository of DIR, or of the current directory. Only ancestors of the new commit are compared."
)))]
pub(super) struct Gate {
    /// Budget file with one rule per line
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    budget: PathBuf,
    /// Baseline and new, or only new: profiles or runs
    #[arg(value_name = "[BASE] NEW", num_args = 1..=2, value_parser = run_set(), value_hint = ValueHint::FilePath)]
    sides: Vec<RunSet>,
    /// Baseline: runs or files; repeatable
    ///
    /// [default: as the budget states, or runs of the same series]
    #[arg(long, value_name = "SET", num_args = 1.., value_parser = run_set(), conflicts_with = "sides")]
    base: Vec<RunSet>,
    /// New: runs or files; repeatable
    ///
    /// [default: the latest run and the other runs of its commit]
    #[arg(long, value_name = "SET", num_args = 1.., value_parser = run_set(), conflicts_with = "sides")]
    new: Vec<RunSet>,
    #[command(flatten)]
    database: DatabaseArgs,
    /// Metric of rules that name none
    ///
    /// [default: the default metric of the first run]
    #[arg(long, value_name = "NAME")]
    metric: Option<String>,
    #[command(flatten)]
    how: ComparedArgs,
    /// Compare with the runs of this commit
    #[arg(long, value_name = "COMMIT")]
    merge_base: Option<String>,
    #[command(flatten)]
    git: GitArgs,
    /// Fail also if the runs do not show that a limit is met
    #[arg(long)]
    prove: bool,
    /// Exit with 4 if a rule could not be tested
    #[arg(long)]
    strict: bool,
    /// Exit with 0 whatever the result is
    #[arg(long)]
    exit_zero: bool,
    /// Result if there is no baseline yet: fail or pass
    #[arg(long, value_name = "WORD", default_value = "fail")]
    first_run: FirstRun,
    /// text, json, junit, github (annotations) or markdown
    ///
    /// [default: by the name of --outfile, or text]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Written>,
    /// Write to a file; its extension selects the format
    ///
    /// Extensions are .txt, .json, .xml (`JUnit`) and .md.
    #[arg(short = 'o', long, visible_alias = "output", value_name = "FILE", value_hint = ValueHint::FilePath)]
    outfile: Option<PathBuf>,
    /// Append a Markdown summary to a file
    ///
    /// The summary has at most 64 KiB, as for `"$GITHUB_STEP_SUMMARY"`.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    summary: Option<PathBuf>,
    /// Format of the files, instead of detecting it
    #[arg(long, value_name = "FORMAT", value_parser = input_format)]
    from: Option<&'static Format>,
    #[command(flatten)]
    options: FormatOptions,
}

/// What a gate without runs to compare with is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FirstRun {
    /// The gate fails with exit code 4
    Fail,
    /// The gate passes
    Pass,
}

/// How an answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Written {
    /// Text for a terminal
    #[value(alias = "txt")]
    Text,
    /// JSON
    Json,
    /// XML that CI servers show as tests
    #[value(alias = "xml")]
    Junit,
    /// Annotations for GitHub Actions
    Github,
    /// A Markdown summary
    #[value(alias = "md")]
    Markdown,
}

/// Endings of the names of files, and how an answer in them is written. A file without an ending has
/// the format of the screen; that of a file with another ending cannot be guessed.
const ENDINGS: [(&str, Written); 5] = [
    ("txt", Written::Text),
    ("text", Written::Text),
    ("json", Written::Json),
    ("xml", Written::Junit),
    ("md", Written::Markdown),
];

impl Gate {
    /// How the answer is written: as `--format` says, else as the name of the file ends.
    ///
    /// # Errors
    /// When it ends as that of no format; it has been reported.
    fn written(&self) -> Result<Written, Failure> {
        let ending = self.outfile.as_deref().and_then(Path::extension);
        let (None, Some(ending)) = (self.format, ending) else {
            return Ok(self.format.unwrap_or(Written::Text));
        };
        let ending = ending.to_string_lossy().to_lowercase();
        if let Some((_, written)) = ENDINGS.iter().find(|(name, _)| *name == ending) {
            return Ok(*written);
        }
        let names = ENDINGS.map(|(name, _)| format!(".{name}")).join(", ");
        let name = self.outfile.as_deref().unwrap_or(Path::new("")).display();
        Err(complain(
            format!("--outfile: {name}: expected {names}, or --format FORMAT"),
            Failure::Usage,
        ))
    }
}

pub(super) fn run(gate: &Gate, stop: &Stop) -> Result<(), Failure> {
    match gated(gate, stop) {
        // 1 says that something is over its limit.
        Err(Failure::Output) => Err(Failure::Input),
        // It has been said that there is nothing to judge.
        Err(Failure::NothingSelected) if gate.exit_zero => Ok(()),
        done => done,
    }
}

fn gated(gate: &Gate, stop: &Stop) -> Result<(), Failure> {
    let format = gate.written()?;
    let target = Target::named("--outfile", gate.outfile.as_deref())?;
    let summary = Target::named("--summary", gate.summary.as_deref())?;
    for (flag, target) in [("--outfile", &target), ("--summary", &summary)] {
        target.is_no_database(flag, &gate.database.path())?;
        target.is_not(flag, &gate.budget, "the budget")?;
    }
    if let Target::File(file) = &summary {
        target.is_not("--outfile", file, "the file of --summary")?;
    }
    let budget = read(&gate.budget)?;
    let name = gate.budget.display().to_string();
    let planned = Planned::new(gate, &budget);
    for (flag, target) in [("--outfile", &target), ("--summary", &summary)] {
        target.spares(flag, &planned.inputs(gate))?;
    }
    let opened = planned.open(gate, stop)?;
    let new = opened.new_runs(&planned, stop)?;
    if new.is_empty() {
        return Err(complain(
            "there are no new runs, so nothing was measured",
            Failure::NothingSelected,
        ));
    }
    let ancestry = ancestry(gate, &planned, &new, stop)?;
    let bases = opened.bases(&planned, &new, &ancestry, stop)?;
    let request = Request {
        metric: gate.metric.clone(),
        ..gate.how.request()
    };
    let question = Question {
        budget: &budget,
        new: &new,
        bases: &bases,
        base_of: &planned.base_of,
        request: &request,
        databases: &opened.databases().collect::<Vec<_>>(),
    };
    let mut judged = judge(&question).map_err(|error| failed(&name, error, stop))?;
    if gate.first_run == FirstRun::Pass {
        judged.warnings.extend(taken_for_first(&judged.rules));
    }
    for warning in &judged.warnings {
        say(warning);
    }
    let policy = Policy {
        prove: gate.prove,
        strict: gate.strict,
        first_run_passes: gate.first_run == FirstRun::Pass,
    };
    let verdict = match judged.outcome(policy) {
        _ if gate.exit_zero => Ok(()),
        Outcome::Pass => Ok(()),
        Outcome::Fail => Err(Failure::CheckFailed),
        Outcome::NothingMeasured => Err(Failure::NothingSelected),
    };
    let told = write::Told {
        gate: &judged,
        policy,
        budget: &name,
        exit_code: verdict.map_or_else(Failure::exit_code, |()| 0),
    };
    if let Some(file) = &gate.summary {
        add(file, &write::markdown(&told))?;
    }
    let text = match format {
        Written::Text => write::text(&told, target.has_colours()),
        Written::Json => write::json(&told),
        Written::Junit => write::junit(&told),
        Written::Github => write::github(&told),
        Written::Markdown => write::markdown(&told),
    };
    let content = |out: &mut dyn Write| out.write_all(text.as_bytes()).map_err(Unwritten::from);
    let written = if format == Written::Text {
        target.write_coloured(stop, content)
    } else {
        target.write(stop, content)
    };
    match written {
        // The reader has seen enough, and the answer is what it is.
        Ok(()) | Err(Failure::ClosedPipe) => verdict,
        Err(failure) => Err(failure),
    }
}

/// What passes because there is nothing to compare with: a slip in what names base would look so, too.
fn taken_for_first(rules: &[RuleAnswer]) -> Vec<String> {
    let without = rules.iter().filter(|rule| rule.answer.lacks_base());
    let mut reason: Vec<&str> = without.map(|rule| rule.reason.as_str()).collect();
    reason.dedup();
    let said = reason.into_iter();
    said.map(|reason| format!("no baseline yet, so the gate passes: {reason}"))
        .collect()
}

/// Where the commit of new comes from, where that is asked for and says which runs are compared with.
fn ancestry(
    gate: &Gate,
    planned: &Planned,
    new: &[ComparedRun<'_>],
    stop: &Stop,
) -> Result<Ancestry, Failure> {
    let mut found = Ancestry::default();
    let is_asked = planned.bases.contains(&PlannedBase::Usual);
    if let Some(folder) = gate.git.folder.as_deref().filter(|_| is_asked) {
        let commit = new.iter().find_map(|run| run.tag("commit"));
        let Some(commit) = commit else {
            return Err(complain(
                "--git: the new runs have no tag commit; import them with --git",
                Failure::NothingSelected,
            ));
        };
        let own = new.iter().find_map(|run| run.tag("branch"));
        let own = own.into_iter().filter(|own| TRUNKS.contains(own));
        let branches: Vec<&str> = own.chain(TRUNKS).collect();
        found = git::ancestry(folder, commit, &branches, stop)?;
    }
    if gate.merge_base.is_some() {
        found.merge_base.clone_from(&gate.merge_base);
    }
    Ok(found)
}

/// What sides are, before anything is opened.
struct Planned {
    new: Vec<RunSet>,
    bases: Vec<PlannedBase>,
    /// For each rule: which base.
    base_of: Vec<usize>,
}

/// What rules are compared with.
#[derive(Clone, PartialEq)]
enum PlannedBase {
    /// What the command line says.
    Sets(Vec<RunSet>),
    /// What the budget says.
    Budget(Base),
    /// What nothing says.
    Usual,
}

impl PlannedBase {
    /// Whether it is the end of a history, whatever is there: others are compared with what they name.
    fn is_history(&self) -> bool {
        let has_end = |set: &RunSet| matches!(set, RunSet::Tagged { last: Some(_), .. });
        match self {
            Self::Sets(sets) => sets.iter().any(has_end),
            Self::Budget(Base::Runs { set, .. }) => has_end(set),
            Self::Budget(Base::File(_)) => false,
            Self::Usual => true,
        }
    }
}

impl Planned {
    fn new(gate: &Gate, budget: &Budget) -> Self {
        let (mut base, mut new) = (gate.base.clone(), gate.new.clone());
        match gate.sides.as_slice() {
            [one, other] => {
                base.push(one.clone());
                new.push(other.clone());
            }
            sides => new.extend(sides.iter().cloned()),
        }
        let usual = if !base.is_empty() {
            PlannedBase::Sets(base)
        } else if let Some(base) = &budget.base {
            PlannedBase::Budget(base.clone())
        } else {
            PlannedBase::Usual
        };
        let (mut bases, mut base_of) = (Vec::new(), Vec::new());
        for rule in &budget.rules {
            let base = match &rule.base {
                Some(base) => PlannedBase::Budget(base.clone()),
                None => usual.clone(),
            };
            let known = bases.iter().position(|known| *known == base);
            base_of.push(known.unwrap_or(bases.len()));
            if known.is_none() {
                bases.push(base);
            }
        }
        Self {
            new,
            bases,
            base_of,
        }
    }

    /// What is read, which no output may replace.
    fn inputs(&self, gate: &Gate) -> Inputs {
        let mut inputs = Inputs::of(&gate.database);
        inputs = inputs.with_files(self.new.iter().filter_map(file_of), gate.from);
        for base in &self.bases {
            inputs = match base {
                PlannedBase::Sets(sets) => {
                    inputs.with_files(sets.iter().filter_map(file_of), gate.from)
                }
                PlannedBase::Budget(Base::File(file)) if is_database(file) => {
                    inputs.with_database(file)
                }
                PlannedBase::Budget(Base::File(file)) => {
                    inputs.with_files([file.as_path()], gate.from)
                }
                PlannedBase::Budget(Base::Runs { .. }) | PlannedBase::Usual => inputs,
            };
        }
        inputs
    }

    /// Opens the database and the files.
    fn open(&self, gate: &Gate, stop: &Stop) -> Result<Databases, Failure> {
        let are_stored = |sets: &[RunSet]| sets.iter().any(is_stored);
        let of_bases = self.bases.iter().flat_map(|base| match base {
            PlannedBase::Sets(sets) => sets.as_slice(),
            PlannedBase::Budget(_) | PlannedBase::Usual => &[],
        });
        let named = self.new.iter().chain(of_bases);
        read_once(named.clone())?;
        for set in named.clone().filter(|set| is_stored(set)) {
            is_anywhere(set, &gate.database)?;
        }
        let of_budget = self.bases.iter().filter_map(|base| match base {
            PlannedBase::Budget(Base::File(file)) => Some(RunSet::File(file.clone())),
            _ => None,
        });
        let of_budget: Vec<RunSet> = of_budget.collect();
        are_heeded(named.chain(&of_budget), gate.from, &gate.options.0)?;
        let is_new_stored = self.new.is_empty() || are_stored(&self.new);
        let is_base_stored = self.bases.iter().any(|base| match base {
            PlannedBase::Sets(sets) => are_stored(sets),
            PlannedBase::Budget(Base::Runs { .. }) => true,
            PlannedBase::Budget(Base::File(_)) | PlannedBase::Usual => false,
        });
        let stored = if is_new_stored || is_base_stored {
            Some(open_to_read(&gate.database, stop)?)
        } else {
            None
        };
        let read = |sets: &[RunSet]| files_of(sets, gate.from, &gate.options.0, stop);
        let new = read(&self.new)?;
        // A folder that nothing has been put into yet is no fault of a first run.
        let read_base = |sets: &[RunSet]| {
            if let [set] = sets
                && let Some(folder) = file_of(set).filter(|file| file.is_dir())
            {
                let profiles = below(folder, gate.from, &gate.options.0, stop)?;
                if profiles.is_empty() {
                    return Ok(Files::None(no_profile(folder)));
                }
                return Ok(Files::Profiles(profiles));
            }
            read(sets).map(Files::Profiles)
        };
        let mut bases = Vec::new();
        for base in &self.bases {
            bases.push(match base {
                PlannedBase::Sets(sets) => read_base(sets)?,
                PlannedBase::Budget(Base::File(file)) if is_database(file) => {
                    let database = DatabaseArgs::named(Some(file.clone()));
                    Files::Database(Box::new(open_to_read(&database, stop)?))
                }
                PlannedBase::Budget(Base::File(file)) => read_base(&[RunSet::File(file.clone())])?,
                PlannedBase::Budget(Base::Runs { .. }) | PlannedBase::Usual => {
                    Files::Profiles(Vec::new())
                }
            });
        }
        Ok(Databases { stored, new, bases })
    }
}

/// What sides are in.
struct Databases {
    stored: Option<Database>,
    new: Vec<Database>,
    bases: Vec<Files>,
}

/// Files that rules are compared with.
enum Files {
    Profiles(Vec<Database>),
    Database(Box<Database>),
    /// There are none; and what there is to say of that.
    None(String),
}

impl Databases {
    /// All databases in which names may be.
    fn databases(&self) -> impl Iterator<Item = &Database> {
        let of_bases = self.bases.iter().flat_map(|base| match base {
            Files::Profiles(files) => files.as_slice(),
            Files::Database(database) => std::slice::from_ref(&**database),
            Files::None(_) => &[],
        });
        self.stored.iter().chain(&self.new).chain(of_bases)
    }

    /// The runs that are judged.
    fn new_runs(&self, planned: &Planned, stop: &Stop) -> Result<Vec<ComparedRun<'_>>, Failure> {
        let mut runs = Vec::new();
        if let Some(stored) = &self.stored {
            let numbers = if planned.new.is_empty() {
                latest(stored).map_err(|error| database(error, stop))?
            } else {
                chosen(stored, &planned.new).map_err(|error| unchosen(error, stop))?
            };
            runs.extend(runs_of(stored, &numbers, stop)?);
        }
        runs.extend(runs_of_files(&self.new, stop)?);
        Ok(runs)
    }

    /// What they are compared with.
    fn bases<'o>(
        &'o self,
        planned: &Planned,
        new: &[ComparedRun<'o>],
        ancestry: &Ancestry,
        stop: &Stop,
    ) -> Result<Vec<BaseRuns<'o>>, Failure> {
        let mut bases = Vec::new();
        for (base, files) in planned.bases.iter().zip(&self.bases) {
            bases.push(self.base(base, files, new, ancestry, stop)?);
        }
        Ok(bases)
    }

    fn base<'o>(
        &'o self,
        base: &PlannedBase,
        files: &'o Files,
        new: &[ComparedRun<'o>],
        ancestry: &Ancestry,
        stop: &Stop,
    ) -> Result<BaseRuns<'o>, Failure> {
        let mut found = BaseRuns {
            runs: Vec::new(),
            said: String::new(),
            is_slip: false,
            earlier: base.is_history().then(Vec::new),
        };
        let numbers = match (base, &self.stored) {
            (PlannedBase::Usual, Some(stored)) => {
                let choice = choose(stored, new, ancestry);
                let choice = choice.map_err(|error| database(error, stop))?;
                found.said = choice.said;
                found.earlier = Some(runs_of(stored, &choice.earlier, stop)?);
                choice.runs
            }
            (PlannedBase::Usual, None) => {
                "there is no baseline; name one with --base".clone_into(&mut found.said);
                Vec::new()
            }
            (PlannedBase::Budget(Base::Runs { set, same }), Some(stored)) => {
                match with_tags(set, same, new) {
                    Ok(set) => {
                        found.said = format!("runs {set}");
                        let runs = some(stored, [&set], &mut found, stop)?;
                        if runs.is_empty()
                            && let Some(file) = file_of(&set).filter(|file| file.exists())
                        {
                            let name = file.display().to_string().replace('\'', "''");
                            let file = format!("; the file is `base file '{name}'`");
                            found.said.push_str(&file);
                            found.is_slip = true;
                        }
                        runs
                    }
                    Err(message) => {
                        found.said = message;
                        found.is_slip = true;
                        Vec::new()
                    }
                }
            }
            (PlannedBase::Budget(Base::File(file)), _) => {
                found.said = format!("file {}", file.display());
                Vec::new()
            }
            (PlannedBase::Sets(sets), stored) => {
                let names: Vec<String> = sets.iter().map(ToString::to_string).collect();
                found.said = format!("--base {}", names.join(" "));
                match stored {
                    Some(stored) => {
                        let sets = sets.iter().filter(|set| is_stored(set));
                        some(stored, sets, &mut found, stop)?
                    }
                    None => Vec::new(),
                }
            }
            (PlannedBase::Budget(Base::Runs { .. }), None) => Vec::new(),
        };
        if found.is_slip {
            return Ok(found);
        }
        if let Some(stored) = &self.stored {
            found.runs.extend(runs_of(stored, &numbers, stop)?);
        }
        let of_files = match files {
            Files::Profiles(files) => runs_of_files(files, stop)?,
            Files::None(said) => {
                found.said.clone_from(said);
                Vec::new()
            }
            Files::Database(file) => {
                let all = RunSet::Tagged {
                    tags: Vec::new(),
                    last: Some(usize::MAX),
                };
                let numbers = some(file, [&all], &mut found, stop)?;
                runs_of(file, &numbers, stop)?
            }
        };
        found.runs.extend(of_files);
        Ok(found)
    }
}

/// The runs of a database that sets mean, whatever files there are; none, with the reason, where there are none, which is no fault of
/// a first run unless a set is a slip.
fn some<'s>(
    stored: &Database,
    sets: impl IntoIterator<Item = &'s RunSet>,
    found: &mut BaseRuns<'_>,
    stop: &Stop,
) -> Result<Vec<i64>, Failure> {
    let (mut numbers, mut missing) = (BTreeSet::new(), Vec::new());
    for set in sets {
        match stored.choose(set) {
            Ok(runs) => numbers.extend(runs),
            Err(ChooseError::NoRuns(NoRuns { said, is_slip })) if is_slip => {
                (found.said, found.is_slip) = (said, true);
                return Ok(Vec::new());
            }
            Err(ChooseError::NoRuns(none)) => missing.push(none.said),
            Err(error) => return Err(unchosen(error, stop)),
        }
    }
    if numbers.is_empty() && !missing.is_empty() {
        found.said = missing.join("; ");
    } else {
        missing.iter().for_each(say);
    }
    Ok(numbers.into_iter().collect())
}

/// A set with those tags that new has.
fn with_tags(set: &RunSet, same: &[String], new: &[ComparedRun<'_>]) -> Result<RunSet, String> {
    let RunSet::Tagged { tags, last } = set else {
        return Ok(set.clone());
    };
    let mut tags = tags.clone();
    for key in same {
        let mut values: Vec<&str> = new.iter().filter_map(|run| run.tag(key)).collect();
        values.sort_unstable();
        values.dedup();
        match values.as_slice() {
            [value] => tags.push(Tag {
                key: key.clone(),
                value: (*value).to_owned(),
            }),
            [] => return Err(format!("{key}=same: no new run has the tag {key}")),
            values => {
                return Err(format!(
                    "{key}=same: expected one value of the tag in the new runs, found {}",
                    values.join(", ")
                ));
            }
        }
    }
    Ok(RunSet::Tagged { tags, last: *last })
}

/// Reads the budget file.
fn read(file: &Path) -> Result<Budget, Failure> {
    let name = file.display();
    if file.is_dir() {
        let message = format!("{name} is a directory; expected a budget file");
        return Err(complain(message, Failure::Input));
    }
    let unreadable = |error: io::Error| complain(format!("{name}: {error}"), unread(&error));
    let opened = std::fs::File::open(file).map_err(|error| {
        if error.kind() != io::ErrorKind::NotFound {
            return unreadable(error);
        }
        let message = format!(
            "{name}: no such file; expected a budget with one rule per line, such as `any <= +10 %`: `profdb gate --help` lists the rules"
        );
        complain(message, Failure::Input)
    })?;
    let mut bytes = Vec::new();
    let limit = u64::try_from(LONGEST).unwrap_or(u64::MAX);
    let read = opened.take(limit + 1).read_to_end(&mut bytes);
    read.map_err(unreadable)?;
    if bytes.len() > LONGEST {
        let message = format!("{name}: the budget has more than {LONGEST} bytes");
        return Err(complain(message, Failure::Input));
    }
    crate::gate::read(&bytes).map_err(|error| complain(format!("{name}: {error}"), Failure::Input))
}

/// Adds a text to the end of a file.
fn add(file: &Path, text: &str) -> Result<(), Failure> {
    let opened = OpenOptions::new().append(true).create(true).open(file);
    let written = opened.and_then(|mut opened| opened.write_all(text.as_bytes()));
    let what = format!("{}: cannot write it", file.display());
    written.map_err(|error| match unwritten(&what, error) {
        // A file has no reader that could have gone away, and what is lost is said.
        Failure::ClosedPipe => complain(format!("{what}: the reader closed it"), Failure::Output),
        failure => failure,
    })
}

/// Reports why there is no answer.
fn failed(budget: &str, error: GateError, stop: &Stop) -> Failure {
    match error {
        GateError::Budget(error) => complain(format!("{budget}: {error}"), Failure::Input),
        GateError::Usage(message) => complain(message, Failure::Usage),
        GateError::Store(error) => database(error, stop),
    }
}
