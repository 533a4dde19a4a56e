//! What a drill-down path selects: nodes, in temporary tables that the reports read.
//!
//! A path is followed step by step. `,` takes the nodes of the next name strictly within the outermost nodes so far, `>`
//! those whose caller is any node so far. Reducing to outermost nodes before `>`, or adding up nodes that are outermost for
//! their own function over several functions, would count recursion wrongly; tests/selection.rs compares with brute force.

use rusqlite::named_params;

use super::path::{self, Name, Operator, Path};
use super::{ReportError, failure};
use crate::store::{Database, MetricInfo, RunInfo, StoreError};

const TABLES: &str = include_str!("../../queries/selection/tables.sql");
const PICK_NAME: &str = include_str!("../../queries/selection/pick_name.sql");
const PICK_THREAD: &str = include_str!("../../queries/selection/pick_thread.sql");
const PICK_PATTERN: &str = include_str!("../../queries/selection/pick_pattern.sql");
const NAMES: &str = include_str!("../../queries/selection/names.sql");
const KNOWS: &str = include_str!("../../queries/selection/knows.sql");
const THREADS: &str = include_str!("../../queries/selection/threads.sql");
const FIRST: &str = include_str!("../../queries/selection/first.sql");
const WITHIN: &str = include_str!("../../queries/selection/within.sql");
const DIRECT: &str = include_str!("../../queries/selection/direct.sql");
const FORGET_EARLIER: &str = include_str!("../../queries/selection/forget_earlier.sql");
const SELECTED: &str = include_str!("../../queries/selection/selected.sql");

/// Names that are suggested for one that nobody knows.
const SUGGESTIONS: usize = 3;

/// How alike a name must be to be suggested, from 0 to 1.
const ALIKE: f64 = 0.75;

/// What the reports look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// The whole run.
    Run,
    /// Totals of one function.
    Functions,
    /// Nodes, and what is below them.
    Nodes,
}

impl Scope {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Functions => "functions",
            Self::Nodes => "nodes",
        }
    }
}

/// Forgets what was selected before.
pub(super) fn clear(database: &Database) -> Result<(), StoreError> {
    database.connection().execute_batch(TABLES).map_err(|source| failure(database, source))
}

/// Follows a path, within a thread if one is named; without either the whole run is selected. The totals of a single
/// function answer for it where they can: in reports about that function, and where the run has no nodes.
pub(super) fn select(
    database: &Database,
    run: &RunInfo,
    thread: Option<&str>,
    text: Option<&str>,
    about_function: bool,
) -> Result<Scope, ReportError> {
    clear(database)?;
    let names = Names { database, run };
    let parsed = text.map(|text| path::parse(text, &|name| names.knows(name)).map_err(ReportError::Usage));
    let path = match (thread.map(|thread| Name::Thread(thread.to_owned())), parsed.transpose()?) {
        (None, None) => return Ok(Scope::Run),
        (None, Some(path)) => path,
        (Some(first), None) => Path { first, rest: Vec::new() },
        (Some(first), Some(path)) => {
            let rest = std::iter::once((Operator::Within, path.first)).chain(path.rest).collect();
            Path { first, rest }
        }
    };
    let single = names.pick(1, &path.first)? == 1 && path.rest.is_empty();
    let has_nodes = run.fidelity == "tree";
    if single && (!has_nodes || about_function) {
        return Ok(Scope::Functions);
    }
    if !has_nodes {
        return Err(ReportError::NothingSelected(format!(
            "run {} knows no paths: --fn takes the name of one function there",
            run.run_id
        )));
    }
    let follow = |sql: &str, step: i64| {
        let parameters = named_params! { ":run": run.run_id, ":step": step };
        let statement = database.connection().prepare_cached(sql);
        statement.and_then(|mut statement| statement.execute(parameters)).map_err(|source| failure(database, source))
    };
    let mut found = follow(FIRST, 1)?;
    for (step, (operator, name)) in (2_i64..).zip(&path.rest) {
        names.pick(step, name)?;
        found = match operator {
            Operator::Within => follow(WITHIN, step)?,
            Operator::Direct => follow(DIRECT, step)?,
        };
    }
    if found == 0 {
        let path = text.unwrap_or_default();
        return Err(ReportError::NothingSelected(format!("no call in run {} follows the path {path}", run.run_id)));
    }
    let forgotten = database.connection().execute(FORGET_EARLIER, []);
    forgotten.map_err(|source| failure(database, source))?;
    Ok(Scope::Nodes)
}

/// Cost of what is selected; `None` for the whole run.
pub(super) fn cost(
    database: &Database,
    run: &RunInfo,
    metric: &MetricInfo,
    scope: Scope,
) -> Result<Option<f64>, StoreError> {
    if scope == Scope::Run {
        return Ok(None);
    }
    let parameters = named_params! { ":run": run.run_id, ":metric": metric.metric_id, ":scope": scope.name() };
    let statement = database.connection().prepare_cached(SELECTED);
    let cost = statement.and_then(|mut statement| statement.query_row(parameters, |row| row.get(0)));
    cost.map(Some).map_err(|source| failure(database, source))
}

/// The names of a run.
struct Names<'d> {
    database: &'d Database,
    run: &'d RunInfo,
}

impl Names<'_> {
    /// Whether a function of the run has exactly this name.
    fn knows(&self, name: &str) -> bool {
        let parameters = named_params! { ":run": self.run.run_id, ":name": name };
        let statement = self.database.connection().prepare_cached(KNOWS);
        // A failing database fails again, and is reported, when the name is picked.
        statement.and_then(|mut statement| statement.query_row(parameters, |row| row.get(0))).unwrap_or(false)
    }

    /// Picks the functions of a step; says how many.
    fn pick(&self, step: i64, name: &Name) -> Result<usize, ReportError> {
        match self.insert(step, name).map_err(|source| failure(self.database, source))? {
            0 => Err(ReportError::NothingSelected(self.unknown(name)?)),
            picked => Ok(picked),
        }
    }

    fn insert(&self, step: i64, name: &Name) -> rusqlite::Result<usize> {
        let connection = self.database.connection();
        let run = self.run.run_id;
        match name {
            Name::Exact(name) => connection
                .prepare_cached(PICK_NAME)?
                .execute(named_params! { ":run": run, ":step": step, ":name": name }),
            Name::Thread(name) => connection
                .prepare_cached(PICK_THREAD)?
                .execute(named_params! { ":run": run, ":step": step, ":name": name }),
            // In GLOB a bracket opens a set of characters; here it stands for itself.
            Name::Pattern(pattern) => connection
                .prepare_cached(PICK_PATTERN)?
                .execute(named_params! { ":run": run, ":step": step, ":pattern": pattern.replace('[', "[[]") }),
        }
    }

    /// What to say of a name that nobody has.
    fn unknown(&self, name: &Name) -> Result<String, StoreError> {
        let run = self.run.run_id;
        Ok(match name {
            Name::Pattern(pattern) => format!("no function of run {run} fits {pattern}"),
            Name::Thread(name) => {
                let threads = self.list(THREADS)?;
                let known = if threads.is_empty() { "none at all".to_owned() } else { threads.join(", ") };
                format!("run {run} has no thread {name}; it has {known}")
            }
            Name::Exact(name) => {
                let near = nearest(name, self.list(NAMES)?);
                let suggestion =
                    if near.is_empty() { String::new() } else { format!("; the nearest: {}", near.join(", ")) };
                format!("run {run} has no function {name}{suggestion}")
            }
        })
    }

    /// Names of the run that a statement lists.
    fn list(&self, sql: &str) -> Result<Vec<String>, StoreError> {
        let names = || -> rusqlite::Result<Vec<String>> {
            let mut statement = self.database.connection().prepare(sql)?;
            statement.query_map(named_params! { ":run": self.run.run_id }, |row| row.get(0))?.collect()
        };
        names().map_err(|source| failure(self.database, source))
    }
}

/// The names most like the given one, by whole name or by the part behind the last dot.
fn nearest(name: &str, names: Vec<String>) -> Vec<String> {
    let wanted = name.to_lowercase();
    let likeness = |candidate: &str| {
        let candidate = candidate.to_lowercase();
        let last = candidate.rsplit('.').next().unwrap_or_default();
        strsim::jaro_winkler(&wanted, &candidate).max(strsim::jaro_winkler(&wanted, last))
    };
    let mut rated: Vec<(f64, String)> = names.into_iter().map(|name| (likeness(&name), name)).collect();
    rated.retain(|(likeness, _)| *likeness >= ALIKE);
    rated.sort_by(|(a, name_a), (b, name_b)| b.total_cmp(a).then_with(|| name_a.cmp(name_b)));
    rated.into_iter().take(SUGGESTIONS).map(|(_, name)| name).collect()
}
