//! The names of a run: which functions, threads and labels a name means, and what to say of one
//! that means none.

use hashbrown::{HashMap, HashSet};
use regex::Regex;
use rusqlite::{Row, ToSql, named_params};

use super::error::{ReportError, failure};
use super::labels::{FunctionLabels, listed};
use super::path::{self, Name, NameSyntax, Path};
use super::question::regular_expression;
use super::spellings::spelled;
use crate::store::{Database, RunInfo, StoreError, ThreadName};
use crate::text::nearest::{some, suggestion};

const NAMED: &str = include_str!("../../queries/names/named.sql");
const FITTING: &str = include_str!("../../queries/names/fitting.sql");
const CALLED: &str = include_str!("../../queries/names/called.sql");
const NAMES: &str = include_str!("../../queries/names/names.sql");
const ALL_FUNCTIONS: &str = include_str!("../../queries/names/functions.sql");
const FOUND: &str = include_str!("../../queries/names/found.sql");
const KNOWS: &str = include_str!("../../queries/names/knows.sql");
const PLACES: &str = include_str!("../../queries/names/places.sql");
const KEYS: &str = include_str!("../../queries/names/keys.sql");
const VALUES: &str = include_str!("../../queries/names/values.sql");

/// Threads that are all listed to the user who asks for one that is not there; of more, the
/// nearest.
const THREADS_SHOWN: usize = 10;

/// The functions that a name means.
#[derive(Clone, Debug)]
pub(super) struct Picked {
    /// Their numbers, in order.
    pub functions: Vec<i64>,
    /// How a statement finds them.
    pub by: PickedBy,
}

/// What a regular expression is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Looks {
    /// Names of functions: a step of a path names functions.
    AtNames,
    /// Names, modules and files.
    AtPlaces,
}

/// How a statement finds the functions that a name means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PickedBy {
    /// They have exactly this name.
    Name(String, Kinds),
    /// Their name fits this pattern of SQLite's GLOB.
    Pattern(String),
    /// Their numbers are listed.
    List,
}

/// What a name may mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kinds {
    /// Functions, and what is no code of the program's.
    Code,
    /// Containers: a root, a process, a thread.
    Containers,
    /// Threads.
    Threads,
}

impl Picked {
    /// Returns true if the functions were picked by their name, not by a pattern or by number.
    pub(super) fn is_name(&self) -> bool {
        matches!(self.by, PickedBy::Name(_, Kinds::Code))
    }
}

/// The names of a run.
pub(super) struct RunNames<'s> {
    database: &'s Database,
    run: &'s RunInfo,
    syntax: NameSyntax,
}

impl<'s> RunNames<'s> {
    pub(super) fn new(database: &'s Database, run: &'s RunInfo, syntax: NameSyntax) -> Self {
        Self {
            database,
            run,
            syntax,
        }
    }

    /// Returns the names of some functions with the places that tell them apart, in order.
    pub(super) fn labels(&self, functions: &[i64]) -> Result<Vec<String>, StoreError> {
        let labels = FunctionLabels::of_functions(self.database, self.run.run_id, functions)?;
        let sorted = labels.sorted(functions).into_iter();
        Ok(sorted.map(|function| labels.label(function)).collect())
    }

    /// Reads a path.
    pub(super) fn path(&self, text: &str) -> Result<Path, ReportError> {
        path::parse(text, self.syntax, &|name| self.knows(name)).map_err(ReportError::Usage)
    }

    /// Returns whether a call of one of the functions may be within a call of another one, so that part of their costs would
    /// count twice in a sum.
    pub(super) fn may_enclose(&self, functions: &[i64]) -> Result<bool, StoreError> {
        if functions.len() <= 1 {
            return Ok(false);
        }
        if self.run.fidelity != "edges" {
            return Ok(true);
        }
        let mut callees: HashMap<i64, Vec<i64>> = HashMap::new();
        let run: (&str, &dyn ToSql) = (":run", &self.run.run_id);
        for (caller, callee) in self.rows(CALLED, &[run], |row| Ok((row.get(0)?, row.get(1)?)))? {
            callees.entry(caller).or_default().push(callee);
        }
        let sources: HashSet<i64> = functions.iter().copied().collect();
        // Two sources that lead to a function are enough: one of them differs from any source that is reached from it.
        let mut reached_from: HashMap<i64, Vec<i64>> = HashMap::new();
        let mut paths: Vec<(i64, i64)> = functions.iter().map(|at| (*at, *at)).collect();
        while let Some((source, at)) = paths.pop() {
            for callee in callees.get(&at).into_iter().flatten() {
                if *callee != source && sources.contains(callee) {
                    return Ok(true);
                }
                let from = reached_from.entry(*callee).or_default();
                if from.len() < 2 && !from.contains(&source) {
                    from.push(source);
                    paths.push((source, *callee));
                }
            }
        }
        Ok(false)
    }

    /// Whether a function of the run has exactly this name, or this name and place.
    fn knows(&self, name: &str) -> bool {
        let parameters = named_params! { ":run": self.run.run_id, ":name": name };
        let statement = self.database.connection().prepare_cached(KNOWS);
        // A failing database fails again, and is reported, when the name is picked.
        statement
            .and_then(|mut statement| statement.query_row(parameters, |row| row.get(0)))
            .unwrap_or(false)
            || self.placed(name).is_ok_and(|found| !found.is_empty())
    }

    /// Returns the functions that a text names with a place or a line, or by the name of their identity.
    fn placed(&self, text: &str) -> Result<Vec<i64>, StoreError> {
        let found = spelled(self.database, self.run.run_id, text)?;
        Ok(found.map_or_else(Vec::new, |found| found.functions))
    }

    /// The functions that a name means.
    pub(super) fn pick(&self, wanted: &Name) -> Result<Picked, ReportError> {
        let run: (&str, &dyn ToSql) = (":run", &self.run.run_id);
        let picked = match wanted {
            Name::Exact(name) => {
                let parameters: [(&str, &dyn ToSql); 2] = [run, (":name", name)];
                let all: Vec<(i64, bool)> =
                    self.rows(NAMED, &parameters, |row| Ok((row.get(0)?, row.get(1)?)))?;
                if all.is_empty() {
                    let mut functions = self.placed(name)?;
                    if functions.is_empty() {
                        let threads = self.database.threads_of(self.run.run_id)?;
                        let threads = threads
                            .iter()
                            .filter(|thread| thread.with_process() == *name);
                        functions.extend(threads.map(|thread| thread.function_id));
                    }
                    let by = PickedBy::List;
                    return self.found(Picked { functions, by }, wanted);
                }
                // A container is meant only where no function has the name: some formats give a
                // thread and its unnamed frames one name.
                let is_code = all.iter().any(|(_, is_code)| *is_code);
                Picked {
                    functions: all
                        .into_iter()
                        .filter(|(_, code)| *code == is_code)
                        .map(|(function, _)| function)
                        .collect(),
                    by: PickedBy::Name(
                        name.clone(),
                        if is_code {
                            Kinds::Code
                        } else {
                            Kinds::Containers
                        },
                    ),
                }
            }
            Name::Thread(name) => {
                let threads = self.database.threads_of(self.run.run_id)?;
                let picked = thread(name, &threads);
                Picked {
                    functions: picked.iter().map(|thread| thread.function_id).collect(),
                    by: match picked.first() {
                        // All that have the name are meant.
                        Some(thread) if !thread.is_repeated || picked.len() > 1 => {
                            PickedBy::Name(thread.name.clone(), Kinds::Threads)
                        }
                        _ => PickedBy::List,
                    },
                }
            }
            Name::Pattern(pattern) => {
                // In GLOB a bracket opens a set of characters; here it means a bracket.
                let pattern = pattern.replace('[', "[[]");
                let parameters: [(&str, &dyn ToSql); 2] = [run, (":pattern", &pattern)];
                Picked {
                    functions: self.rows(FITTING, &parameters, |row| row.get(0))?,
                    by: PickedBy::Pattern(pattern),
                }
            }
            Name::Regex(text) => Picked {
                functions: self.fitting(&regular_expression(text, "fn")?, Looks::AtNames)?,
                by: PickedBy::List,
            },
            Name::Found(_, functions) => {
                let listed = listed(functions);
                let parameters: [(&str, &dyn ToSql); 2] = [run, (":functions", &listed)];
                Picked {
                    functions: self.rows(FOUND, &parameters, |row| row.get(0))?,
                    by: PickedBy::List,
                }
            }
        };
        self.found(picked, wanted)
    }

    /// Refuses a name that means no function.
    fn found(&self, picked: Picked, wanted: &Name) -> Result<Picked, ReportError> {
        if picked.functions.is_empty() {
            return Err(ReportError::NothingSelected(self.unknown(wanted)?));
        }
        Ok(picked)
    }

    /// The functions of the run that a regular expression fits.
    pub(super) fn fitting(&self, regex: &Regex, looks: Looks) -> Result<Vec<i64>, ReportError> {
        let fits = |name: &str, module: &str, file: &str| {
            regex.is_match(name)
                || (looks == Looks::AtPlaces && (regex.is_match(module) || regex.is_match(file)))
        };
        let all = || -> rusqlite::Result<Vec<i64>> {
            let mut statement = self.database.connection().prepare(ALL_FUNCTIONS)?;
            let mut rows = statement.query(named_params! { ":run": self.run.run_id })?;
            let mut fitting = Vec::new();
            while let Some(row) = rows.next()? {
                let texts: [String; 3] = [row.get(1)?, row.get(2)?, row.get(3)?];
                if fits(&texts[0], &texts[1], &texts[2]) {
                    fitting.push(row.get(0)?);
                }
            }
            Ok(fitting)
        };
        Ok(all().map_err(|source| failure(self.database, source))?)
    }

    /// What to say of a name that the run does not have.
    fn unknown(&self, name: &Name) -> Result<String, StoreError> {
        let run = self.run.said();
        Ok(match name {
            Name::Pattern(pattern) | Name::Regex(pattern) => {
                format!(
                    "no function of {run} matches {pattern}; report summary lists the functions"
                )
            }
            Name::Found(text, _) => format!("nothing in {run} matches {text}"),
            Name::Thread(name) => {
                let threads = self.database.threads_of(self.run.run_id)?;
                let shown = threads.iter().map(ThreadName::shown).collect();
                let threads = some_threads(name, shown);
                format!(
                    "{run} has no thread {name}, nor exactly one thread with that ending; its threads: {threads}"
                )
            }
            Name::Exact(name) => {
                let mut suggestion = suggestion("; the nearest: ", name, self.list(NAMES)?);
                if suggestion.is_empty() {
                    suggestion.push_str("; report summary lists the functions");
                }
                format!("{run} has no function {name}{suggestion}")
            }
        })
    }

    /// What else the costs of the run may be added up by where no function has a module or file.
    pub(super) fn instead_of(&self, what: &str) -> Result<String, StoreError> {
        let run: (&str, &dyn ToSql) = (":run", &self.run.run_id);
        let known: Vec<(bool, bool)> =
            self.rows(PLACES, &[run], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let (has_modules, has_files) = known.first().copied().unwrap_or_default();
        Ok(groups_instead(what, has_modules, has_files))
    }

    /// Refuses what needs labels, if there are none.
    pub(super) fn check_labels(&self) -> Result<(), ReportError> {
        if self.list(KEYS)?.is_empty() {
            Err(ReportError::NothingSelected(self.unlabelled()))
        } else {
            Ok(())
        }
    }

    fn unlabelled(&self) -> String {
        format!("samples of {} have no labels", self.run.said())
    }

    /// What to say of a label that no sample has: of all, or of those that are left.
    pub(super) fn unknown_label(
        &self,
        key: &str,
        value: Option<&str>,
        of_those_left: bool,
    ) -> Result<String, StoreError> {
        let run = self.run.said();
        let keys = self.list(KEYS)?;
        let wanted = value.map_or_else(|| key.to_owned(), |value| format!("{key}={value}"));
        Ok(if keys.is_empty() {
            self.unlabelled()
        } else if !keys.iter().any(|known| known == key) {
            format!(
                "no sample of {run} has the label {key}; its labels: {}",
                some(&keys)
            )
        } else if of_those_left {
            format!("no selected sample of {run} has the label {wanted}")
        } else {
            let values = self.list_with(VALUES, &[(":key", &key)])?;
            format!(
                "no sample of {run} has the label {wanted}; values of {key}: {}",
                some(&values)
            )
        })
    }

    /// Names of the run that a statement lists.
    fn list(&self, sql: &str) -> Result<Vec<String>, StoreError> {
        self.list_with(sql, &[])
    }

    /// Names that a statement lists which takes more parameters than the run.
    fn list_with(&self, sql: &str, more: &[(&str, &dyn ToSql)]) -> Result<Vec<String>, StoreError> {
        let parameters: Vec<(&str, &dyn ToSql)> = [(":run", &self.run.run_id as &dyn ToSql)]
            .iter()
            .chain(more)
            .copied()
            .collect();
        self.rows(sql, &parameters, |row| row.get(0))
    }

    /// What a statement finds.
    fn rows<T>(
        &self,
        sql: &str,
        parameters: &[(&str, &dyn ToSql)],
        row: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let database = self.database;
        let rows = || -> rusqlite::Result<Vec<T>> {
            let mut statement = database.connection().prepare(sql)?;
            statement.query_map(parameters, row)?.collect()
        };
        rows().map_err(|source| failure(database, source))
    }
}

/// What costs may be added up by, where no function has what is asked for.
pub(crate) fn groups_instead(what: &str, has_modules: bool, has_files: bool) -> String {
    match what {
        "module" if has_files => "use --by file".to_owned(),
        "file" if has_modules => "use --by module".to_owned(),
        what => format!("without --by {what}, rows are functions"),
    }
}

/// What threads there are, where there is none of the name that is asked for.
pub(crate) fn some_threads(wanted: &str, threads: Vec<String>) -> String {
    match threads.len() {
        0 => "none at all".to_owned(),
        1..=THREADS_SHOWN => threads.join(", "),
        many => format!("{many}{}", suggestion(", the nearest: ", wanted, threads)),
    }
}

/// Returns the threads that a text means: those of this name, of this process and name (`P/T`), or else of the only name
/// that ends in the text. Whole words end a name, whatever closes it (`0102` means `Thread_0102`, `main` means `"main"`).
/// Of `P/T`, both parts may be such ends, or lack the numbers behind them.
pub(crate) fn thread<'t>(wanted: &str, threads: &'t [ThreadName]) -> Vec<&'t ThreadName> {
    let of = |is_it: &dyn Fn(&ThreadName) -> bool| -> Vec<&'t ThreadName> {
        threads.iter().filter(|thread| is_it(thread)).collect()
    };
    // The whole name first: it may be the end of another one, too.
    let named = of(&|thread| thread.name == wanted);
    if !named.is_empty() {
        return named;
    }
    let with_process = of(&|thread| thread.with_process() == wanted);
    if !with_process.is_empty() {
        return with_process;
    }
    let ending = of(&|thread| ends_in(&thread.name, wanted));
    if let Some(first) = ending.first() {
        let is_one = ending.iter().all(|thread| thread.name == first.name);
        return if is_one { ending } else { Vec::new() };
    }
    let parts = wanted
        .match_indices('/')
        .map(|(at, _)| (&wanted[..at], &wanted[at + 1..]));
    let mut of_parts = Vec::new();
    for (process, name) in parts {
        of_parts.extend(of(&|thread| {
            is_part(&thread.name, name)
                && (is_part(&thread.process, process) || ends_in(process, &thread.process))
        }));
    }
    if of_parts.len() == 1 {
        of_parts
    } else {
        Vec::new()
    }
}

/// Returns whether a part of `P/T` means a name: it is the name, its end, or its beginning before a blank.
fn is_part(name: &str, wanted: &str) -> bool {
    let rest = name.strip_prefix(wanted);
    ends_in(name, wanted) || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// Returns whether a name ends in these whole words.
fn ends_in(name: &str, wanted: &str) -> bool {
    let is_between_words = |character: char| !character.is_alphanumeric();
    let before = name
        .trim_end_matches(is_between_words)
        .strip_suffix(wanted)
        .or(name.strip_suffix(wanted));
    !wanted.is_empty()
        && before.is_some_and(|before| before.is_empty() || before.ends_with(is_between_words))
}
