//! What `--fn` and `--thread` of a comparison mean, which is found once for all runs: names, patterns and ends of names are looked for
//! in every run, and what is one function or thread in another run is meant there, too, whatever that run calls it.

use std::collections::BTreeSet;

use hashbrown::HashSet;
use regex::Regex;

use super::items::Dictionary;
use super::request::CompareError;
use super::run::ComparedRun;
use crate::events::Kind;
use crate::report::path::{Name, Operator, Path, parse};
use crate::report::{self, Argument, NameSyntax, SpelledInRuns};
use crate::store::{FunctionIdentity, StoreError, ThreadName};
use crate::text::nearest::suggestion;

/// A run, with what its functions are.
pub(super) type Known<'k, 'd> = (&'k ComparedRun<'d>, &'k Dictionary);

/// What a path or the name of a thread means.
pub(super) struct Way {
    flag: String,
    text: String,
    /// Keys of identities, step by step; `None` where every run is asked by the text.
    steps: Option<Vec<Step>>,
    /// The last step is a name, not a pattern.
    is_name: bool,
    /// Functions that the comparison does not tell from those of the steps.
    notes: Vec<String>,
}

/// How a step goes on from the one before, and keys of the identities that it means.
type Step = (Operator, BTreeSet<Vec<u8>>);

impl Way {
    fn new(flag: &str, text: &str) -> Self {
        Self {
            flag: flag.to_owned(),
            text: text.to_owned(),
            steps: None,
            is_name: false,
            notes: Vec::new(),
        }
    }

    /// Returns keys of the identities that `--fn` names. A pattern names none.
    pub(super) fn named(&self) -> Option<&BTreeSet<Vec<u8>>> {
        let steps = self.steps.as_ref().filter(|_| self.is_name)?;
        steps.last().map(|(_, keys)| keys)
    }

    /// Returns notes for functions that the comparison does not tell from those of the steps.
    pub(super) fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The argument of a report on a run.
    pub(super) fn argument(&self, dictionary: &Dictionary) -> (String, Argument) {
        let name = |keys: &BTreeSet<Vec<u8>>| {
            let mut functions = dictionary.functions_of(keys);
            if self.flag == "thread" {
                // A process of the same name has the same identity.
                let is_thread =
                    |function: &i64| dictionary.learnt(*function).is_some_and(is_thread);
                functions.retain(is_thread);
            }
            Name::Found(format!("--{} {}", self.flag, self.text), functions)
        };
        let path = self.steps.as_deref().and_then(|steps| {
            let ((_, first), rest) = steps.split_first()?;
            let rest = rest.iter();
            Some(Path {
                first: name(first),
                rest: rest
                    .map(|(operator, keys)| (*operator, name(keys)))
                    .collect(),
            })
        });
        let text = self.text.clone();
        let argument = match path {
            Some(path) => Argument::Path(text, path),
            None => Argument::Text(text),
        };
        (self.flag.clone(), argument)
    }
}

/// Whether an argument is a path or the name of a thread: its text.
pub(super) fn is_way((flag, value): &(String, Argument)) -> Option<&str> {
    match value {
        Argument::Text(text) if flag == "fn" || flag == "thread" => Some(text),
        _ => None,
    }
}

/// Finds what the paths and threads of a comparison mean; the dictionaries have learnt all functions. `pairs` has identities of
/// base and of new that are one.
pub(super) fn ways(
    runs: &[Known<'_, '_>],
    arguments: &[(String, Argument)],
    pairs: &[(Vec<u8>, Vec<u8>)],
) -> Result<Vec<Way>, CompareError> {
    let mut found = Vec::new();
    for argument in arguments {
        let (flag, Some(text)) = (&argument.0, is_way(argument)) else {
            continue;
        };
        let mut way = if flag == "thread" {
            Way {
                steps: threads(runs, text)?.map(|keys| vec![(Operator::Within, keys)]),
                ..Way::new(flag, text)
            }
        } else {
            path(runs, text)?
        };
        for (_, keys) in way.steps.iter_mut().flatten() {
            with_pairs(keys, pairs);
        }
        found.push(way);
    }
    Ok(found)
}

/// Adds to keys of identities those that are one with them.
pub(super) fn with_pairs(keys: &mut BTreeSet<Vec<u8>>, pairs: &[(Vec<u8>, Vec<u8>)]) {
    // Several of base may be one of new, which may be one of a newer run: what a round has found leads to others.
    let mut known = 0;
    while known < keys.len() {
        known = keys.len();
        for (base, new) in pairs {
            if keys.contains(base) != keys.contains(new) {
                keys.extend([base.clone(), new.clone()]);
            }
        }
    }
}

/// What all runs know: each dictionary once.
fn all<'k>(runs: &[Known<'k, '_>]) -> Vec<&'k FunctionIdentity> {
    let mut dictionaries: Vec<&Dictionary> = Vec::new();
    for (_, dictionary) in runs {
        if !dictionaries
            .iter()
            .any(|known| std::ptr::eq(*known, *dictionary))
        {
            dictionaries.push(dictionary);
        }
    }
    dictionaries
        .iter()
        .flat_map(|dictionary| dictionary.all())
        .collect()
}

/// What runs call something, and what it is called whatever the build.
fn names(identity: &FunctionIdentity) -> [&str; 2] {
    [&identity.raw[0], &identity.names[0]]
}

/// Returns what a path means.
fn path(runs: &[Known<'_, '_>], text: &str) -> Result<Way, CompareError> {
    let all = all(runs);
    let known: HashSet<&str> = all.iter().flat_map(|identity| names(identity)).collect();
    // A failing database fails again, and is reported, when the steps are read.
    let is_known = |name: &str| {
        known.contains(name) || spelled(runs, name).is_ok_and(|found| !found.found().is_empty())
    };
    let path = parse(text, NameSyntax::default(), &is_known).map_err(CompareError::Usage)?;
    let mut way = Way::new("fn", text);
    let mut steps = Vec::new();
    for (operator, name) in [(Operator::Within, path.first)]
        .into_iter()
        .chain(path.rest)
    {
        let keys = step(runs, &all, &name, &mut way.notes)?;
        if keys.is_empty() {
            let reason = unknown(&known, &name);
            return Err(CompareError::NothingSelected(
                if text.contains([',', '>']) {
                    format!(
                        "{reason}; --fn {text} is a call path: quotes within keep , and > in a name"
                    )
                } else {
                    reason
                },
            ));
        }
        way.is_name = matches!(name, Name::Exact(_));
        steps.push((operator, keys));
    }
    way.steps = Some(steps);
    Ok(way)
}

/// Returns the functions of runs that a text names with a place or a line.
fn spelled(runs: &[Known<'_, '_>], text: &str) -> Result<SpelledInRuns, StoreError> {
    let runs = runs.iter().map(|(run, _)| (run.database, run.run.run_id));
    SpelledInRuns::of(runs, text)
}

/// Returns the keys of the identities that a step of a path means, and adds notes for what they cover beyond that.
fn step(
    runs: &[Known<'_, '_>],
    all: &[&FunctionIdentity],
    name: &Name,
    notes: &mut Vec<String>,
) -> Result<BTreeSet<Vec<u8>>, CompareError> {
    let fitting = |fits: &dyn Fn(&str) -> bool| -> Vec<&FunctionIdentity> {
        let fitting = all.iter().copied();
        fitting
            .filter(|identity| names(identity).into_iter().any(fits))
            .collect()
    };
    let (found, is_code) = match name {
        Name::Exact(name) => {
            let mut found = fitting(&|known| known == name);
            if found.is_empty() {
                let spelled = spelled(runs, name)?;
                for (run, functions) in spelled.found() {
                    let (_, dictionary) = runs[*run];
                    let learnt = functions.iter().filter_map(|id| dictionary.learnt(*id));
                    found.extend(learnt);
                }
                notes.extend(spelled.note(all.iter().map(|identity| &identity.names)));
            }
            // A container is meant only where no function has the name.
            let is_code = found.iter().any(|identity| identity.is_code());
            (found, is_code)
        }
        Name::Pattern(pattern) => {
            let expression = regex::escape(pattern)
                .replace("\\*", ".*")
                .replace("\\?", ".");
            let regex = Regex::new(&format!("(?s)^(?:{expression})$"))
                .map_err(|error| CompareError::Usage(format!("--fn {pattern}: {error}")))?;
            (fitting(&|known| regex.is_match(known)), true)
        }
        // No text of a path that is read so means one.
        Name::Regex(_) | Name::Thread(_) | Name::Found(..) => (Vec::new(), true),
    };
    let found = found.into_iter();
    let found = found.filter(|identity| identity.is_code() == is_code);
    Ok(found.map(|identity| identity.key.clone()).collect())
}

/// What to say of a name that no run has.
fn unknown(known: &HashSet<&str>, name: &Name) -> String {
    match name {
        Name::Exact(name) => {
            let known = known.iter().map(|name| (*name).to_owned());
            let suggestion = suggestion("; the nearest: ", name, known.collect());
            format!("no run has a function {name}{suggestion}")
        }
        Name::Pattern(text) | Name::Regex(text) | Name::Thread(text) | Name::Found(text, _) => {
            format!("no function of any run matches {text}")
        }
    }
}

fn is_thread(identity: &FunctionIdentity) -> bool {
    identity.kind == Kind::Thread
}

/// The threads that a text means: those which a run, or the rules of identities, call so, or the only one of a run whose name ends in
/// it. `None` where each run is to say it by its own names: all have such a thread, or nothing but a number tells which it is.
fn threads(
    runs: &[Known<'_, '_>],
    wanted: &str,
) -> Result<Option<BTreeSet<Vec<u8>>>, CompareError> {
    let (mut keys, mut numbered) = (BTreeSet::new(), 0);
    let (mut known, mut meaning) = (BTreeSet::new(), 0);
    let nameless = format!("{} *", Kind::Thread.name());
    for (run, dictionary) in runs {
        let of_run = run.database.threads_of(run.run.run_id)?;
        let meant = report::thread(wanted, &of_run);
        meaning += usize::from(!meant.is_empty());
        // One of several of a name has an identity that the others have, too.
        let name = meant
            .first()
            .filter(|thread| !thread.is_repeated || meant.len() > 1)
            .map(|thread| thread.name.as_str());
        for identity in dictionary.all().filter(|identity| is_thread(identity)) {
            if Some(identity.raw[0].as_str()) != name && identity.names[0] != wanted {
                continue;
            }
            if identity.names[0] == nameless {
                numbered += 1;
            } else {
                keys.insert(identity.key.clone());
            }
        }
        known.extend(of_run.iter().map(ThreadName::shown));
    }
    if meaning == runs.len() || (keys.is_empty() && numbered > 0) {
        return Ok(None);
    }
    if keys.is_empty() {
        let known = report::some_threads(wanted, known.into_iter().collect());
        return Err(CompareError::NothingSelected(format!(
            "no run has a thread {wanted}, nor exactly one thread with that ending; the threads are {known}"
        )));
    }
    Ok(Some(keys))
}
