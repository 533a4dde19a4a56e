//! Which runs of a database a set means, and what to say of one that means none.

use std::fmt;

use rusqlite::{Connection, OptionalExtension, ToSql, params};

use super::set::{
    COMMIT, FORMS, RunSet, SHORTEST_COMMIT, SHORTEST_UID, Tag, has_letters_of_uids, is_range,
    is_short_start_of_uid, is_start_of_commit,
};
use crate::store::database::Database;
use crate::store::error::StoreError;
use crate::store::identity;
use crate::store::read::RunInfo;
use crate::text::nearest::{some, some_or_nearest, suggestion};

/// Why there are no runs to go on with.
#[derive(Debug, thiserror::Error)]
pub enum ChooseError {
    /// The database has no such runs.
    #[error(transparent)]
    NoRuns(#[from] NoRuns),
    /// The database cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What to say where a set means no run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{said}")]
pub struct NoRuns {
    /// What was expected, and what there is.
    pub said: String,
    /// The set is a slip, whatever runs are still to come: no run has ever had this number or a tag of this key, or several
    /// commits begin as it is written.
    pub is_slip: bool,
}

impl NoRuns {
    /// No run is meant, but one may be later.
    pub(super) fn yet(said: String) -> Self {
        Self {
            said,
            is_slip: false,
        }
    }

    /// No run can be meant.
    pub(super) fn slip(said: String) -> Self {
        Self {
            said,
            is_slip: true,
        }
    }
}

/// The tags of a run, in the order of their keys.
pub(super) fn tags(connection: &Connection, run: i64) -> rusqlite::Result<Vec<Tag>> {
    let tags = identity::tags(connection, run)?.into_iter();
    Ok(tags.map(|(key, value)| Tag { key, value }).collect())
}

/// The runs that are meant, the one that was imported first first; or what to say if there are none.
pub(super) type Chosen = Result<Vec<i64>, NoRuns>;

/// What tells a run from others, for lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunHead {
    /// Its number.
    pub run: i64,
    /// Its title, else the name of its file.
    pub name: String,
    /// When it was imported, UTC.
    pub imported_at: String,
    /// Its tags, in the order of their keys.
    pub tags: Vec<Tag>,
}

impl fmt::Display for RunHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "run {}: {}, imported {}",
            self.run, self.name, self.imported_at
        )?;
        self.tags.iter().try_for_each(|tag| write!(f, ", {tag}"))
    }
}

impl Database {
    /// What tells a run from others.
    ///
    /// # Errors
    /// When the database cannot be read, or the run is not there.
    pub fn run_head(&self, run: i64) -> Result<RunHead, StoreError> {
        let read = || -> rusqlite::Result<RunHead> {
            let mut head = self.connection.prepare_cached(
                "SELECT COALESCE(title, source_name), imported_at FROM runs WHERE run_id = ?1",
            )?;
            let (name, imported_at) =
                head.query_row([run], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let tags = tags(&self.connection, run)?;
            Ok(RunHead {
                run,
                name,
                imported_at,
                tags,
            })
        };
        read().map_err(|source| self.failed(source))
    }

    /// The uid of a run; `None` if there is no such run.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn run_uid(&self, run: i64) -> Result<Option<String>, StoreError> {
        let sql = "SELECT run_uid FROM runs WHERE run_id = ?1";
        let found = self
            .connection
            .query_row(sql, [run], |row| row.get(0))
            .optional();
        found.map_err(|source| self.failed(source))
    }

    /// Every run: its number, its uid, and its title or the name of its file, in the order in which they were imported.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn run_names(&self) -> Result<Vec<(i64, String, String)>, StoreError> {
        let read = || -> rusqlite::Result<Vec<_>> {
            let sql =
                "SELECT run_id, run_uid, COALESCE(title, source_name) FROM runs ORDER BY run_id";
            let mut statement = self.connection.prepare_cached(sql)?;
            let names =
                statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            names.collect()
        };
        read().map_err(|source| self.failed(source))
    }

    /// The runs that a set means, at least one, in the order in which they were imported.
    ///
    /// # Errors
    /// When there are none, and when the database cannot be read.
    pub fn choose(&self, set: &RunSet) -> Result<Vec<i64>, ChooseError> {
        let chosen = choose(&self.connection, set).map_err(|source| self.failed(source))?;
        chosen.map_err(ChooseError::from)
    }

    /// Fails unless some run has a tag of this key.
    ///
    /// # Errors
    /// When no run has one, and when the database cannot be read.
    pub fn is_key(&self, key: &str) -> Result<(), ChooseError> {
        let unknown = unknown_key(&self.connection, key).map_err(|source| self.failed(source))?;
        unknown.map_or(Ok(()), |unknown| Err(unknown.into()))
    }

    /// The run that a set means where one is wanted: of several, the one that was imported last. The
    /// other result is how many there are.
    ///
    /// # Errors
    /// When there is none, and when the database cannot be read.
    pub fn choose_one(&self, set: &RunSet) -> Result<(RunInfo, usize), ChooseError> {
        let runs = self.choose(set)?;
        // Another program may have deleted the run since.
        let run = self.run(runs.last().copied())?;
        let run = run.ok_or_else(|| {
            NoRuns::yet(format!(
                "no run matches {set}; `profdb runs` lists the runs"
            ))
        })?;
        Ok((run, runs.len()))
    }
}

/// The runs that a set means, and what to say if there are none, or not all that it has by number.
pub(super) fn choose(connection: &Connection, set: &RunSet) -> rusqlite::Result<Chosen> {
    let runs = members(connection, set)?;
    if runs.is_empty() && !matches!(set, RunSet::File(_)) && all(connection)?.is_empty() {
        return Ok(Err(NoRuns::yet(NONE.to_owned())));
    }
    match set {
        RunSet::Numbers(numbers) => {
            let missing = numbers.iter().find(|number| !runs.contains(number));
            if let Some(missing) = missing {
                let said = unknown_number(connection, *missing)?;
                return Ok(Err(NoRuns::slip(said)));
            }
        }
        RunSet::Tagged { tags, .. } if runs.is_empty() => {
            return Ok(Err(untagged(connection, tags)?));
        }
        _ => {}
    }
    if runs.is_empty() {
        return Ok(Err(unknown(connection, set)?));
    }
    Ok(Ok(runs))
}

/// The runs that a set means, as far as there are any.
pub(super) fn members(connection: &Connection, set: &RunSet) -> rusqlite::Result<Vec<i64>> {
    let list = |sql: &str, with: &dyn ToSql| -> rusqlite::Result<Vec<i64>> {
        let mut statement = connection.prepare_cached(sql)?;
        statement.query_map([with], |row| row.get(0))?.collect()
    };
    let named = |name: &str| {
        let sql = "SELECT run_id FROM runs WHERE COALESCE(title, source_name) = ?1
                   UNION
                   SELECT run_id FROM run_tags WHERE value = ?1
                   ORDER BY run_id";
        list(sql, &name)
    };
    let of_commit = |start: &str| tagged(connection, &[commit(start)]);
    match set {
        RunSet::Latest => list("SELECT run_id FROM runs ORDER BY run_id DESC LIMIT ?1", &1),
        RunSet::Numbers(numbers) => {
            let mut there = Vec::new();
            for number in numbers {
                there.extend(list("SELECT run_id FROM runs WHERE run_id = ?1", number)?);
            }
            Ok(there)
        }
        RunSet::Tagged { tags, last } => {
            let mut runs = tagged(connection, tags)?;
            if let Some(last) = last {
                runs.drain(..runs.len().saturating_sub(*last));
            }
            Ok(runs)
        }
        RunSet::Uid(start) => {
            // A uid has no character that means something to GLOB.
            let sql = "SELECT run_id FROM runs WHERE run_uid GLOB ?1 || '*' ORDER BY run_id";
            let mut runs = list(sql, start)?;
            if runs.is_empty() {
                runs = named(start)?;
            }
            if runs.is_empty() {
                runs = of_commit(start)?;
            }
            Ok(runs)
        }
        RunSet::Name(name) | RunSet::Word(name) => named(name),
        RunSet::File(_) => Ok(Vec::new()),
    }
}

/// All runs.
pub(super) fn all(connection: &Connection) -> rusqlite::Result<Vec<i64>> {
    let mut all = connection.prepare("SELECT run_id FROM runs ORDER BY run_id")?;
    all.query_map([], |row| row.get(0))?.collect()
}

/// What is said of any set where there is no run.
const NONE: &str = "the database has no runs";

/// What to say of a set that means no run.
fn unknown(connection: &Connection, set: &RunSet) -> rusqlite::Result<NoRuns> {
    Ok(NoRuns::yet(match set {
        RunSet::Uid(start) => {
            let commits = commits(connection, start)?;
            if commits.len() > 1 {
                return Ok(several(&commit(start), &commits));
            }
            format!(
                "no run matches {start}: no uid or commit begins with it, and no title or tag equals it; `profdb runs` lists the runs"
            )
        }
        RunSet::File(path) => format!(
            "expected runs of the database, found the file {}; `profdb import` stores it as a run",
            path.display()
        ),
        RunSet::Word(word) if is_short_start_of_uid(word) => format!(
            "no run matches {word}; `profdb runs` lists the runs. An abbreviated uid has {SHORTEST_UID} characters or more"
        ),
        RunSet::Name(name) | RunSet::Word(name) => {
            let sql = "SELECT COALESCE(title, source_name) FROM runs
                       UNION
                       SELECT value FROM run_tags";
            let near = suggestion("; the nearest: ", name, texts(connection, sql, &[])?);
            let forms = if near.is_empty() || is_range(name) {
                format!("; {FORMS}")
            } else {
                near
            };
            format!("no run matches {set}; `profdb runs` lists the runs{forms}")
        }
        set => format!("no run matches {set}; `profdb runs` lists the runs"),
    }))
}

/// What to say of the start of a commit that several begin with.
fn several(tag: &Tag, commits: &[String]) -> NoRuns {
    NoRuns::slip(format!(
        "{tag} matches {} commits: {}",
        commits.len(),
        some(commits)
    ))
}

/// What to say of a number that no run has.
fn unknown_number(connection: &Connection, number: i64) -> rusqlite::Result<String> {
    let sql = "SELECT key FROM run_tags
               WHERE value = ?1 OR (key = ?2 AND LENGTH(?1) >= ?3 AND value GLOB ?1 || '*')
               ORDER BY value <> ?1, run_id DESC, key LIMIT 1";
    let mut with = connection.prepare(sql)?;
    let shortest = i64::try_from(SHORTEST_COMMIT).unwrap_or(i64::MAX);
    let key = with.query_row(params![number.to_string(), COMMIT, shortest], |row| {
        row.get(0)
    });
    if let Some(key) = key.optional()? {
        let tag = Tag {
            key,
            value: number.to_string(),
        };
        return Ok(format!("there is no run {number}; {tag} is a tag of a run"));
    }
    if number.to_string().len() < SHORTEST_UID {
        return Ok(format!(
            "there is no run {number}; `profdb runs` lists the runs"
        ));
    }
    // Digits are always a number, but those of a uid are, too.
    let sql = "SELECT run_id, run_uid FROM runs WHERE run_uid GLOB ?1 || '*' ORDER BY run_id DESC LIMIT 1";
    let mut statement = connection.prepare(sql)?;
    let mut uids = statement.query_map([number.to_string()], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?))
    })?;
    let hint = match uids.next().transpose()? {
        Some((run, uid)) => {
            let letter = uid.find(|character: char| character.is_ascii_alphabetic());
            let start = &uid[..letter.map_or(uid.len(), |at| at + 1)];
            format!("; the uid of run {run} begins with these digits: use {start}")
        }
        None => String::new(),
    };
    Ok(format!(
        "there is no run {number}; `profdb runs` lists the runs{hint}"
    ))
}

/// A commit by its start.
fn commit(start: &str) -> Tag {
    Tag {
        key: COMMIT.to_owned(),
        value: start.to_owned(),
    }
}

/// The commits that begin so, in order, if that is enough of one.
fn commits(connection: &Connection, start: &str) -> rusqlite::Result<Vec<String>> {
    if !is_start_of_commit(start) {
        return Ok(Vec::new());
    }
    // A digit means nothing to GLOB.
    let sql = "SELECT DISTINCT value FROM run_tags WHERE key = ?1 AND value GLOB ?2 || '*' ORDER BY value";
    texts(connection, sql, &[COMMIT, start])
}

/// The texts that a statement finds.
fn texts(connection: &Connection, sql: &str, with: &[&str]) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare(sql)?;
    let with = rusqlite::params_from_iter(with);
    statement.query_map(with, |row| row.get(0))?.collect()
}

/// The value that the tag of a run has where one is asked for: of a commit, which people and programs cut short, the only one that
/// begins so, unless a run has it as it is; of several, the only one that is hexadecimal throughout, others being told from it by what
/// was added (`-dirty`). `None` if several begin so, or none.
fn whole(connection: &Connection, tag: &Tag) -> rusqlite::Result<Option<String>> {
    let mut is_there = connection
        .prepare("SELECT EXISTS (SELECT 1 FROM run_tags WHERE key = ?1 AND value = ?2)")?;
    if is_there.query_row([&tag.key, &tag.value], |row| row.get(0))? {
        return Ok(Some(tag.value.clone()));
    }
    if tag.key != COMMIT {
        return Ok(None);
    }
    let mut commits = commits(connection, &tag.value)?;
    if commits.len() > 1 {
        commits.retain(|commit| has_letters_of_uids(commit));
    }
    Ok(commits.pop().filter(|_| commits.is_empty()))
}

/// The runs with all of these tags; all runs without any.
fn tagged(connection: &Connection, tags: &[Tag]) -> rusqlite::Result<Vec<i64>> {
    let Some((first, others)) = tags.split_first() else {
        return all(connection);
    };
    let Some(value) = whole(connection, first)? else {
        return Ok(Vec::new());
    };
    let mut with = connection
        .prepare("SELECT run_id FROM run_tags WHERE key = ?1 AND value = ?2 ORDER BY run_id")?;
    let mut runs: Vec<i64> = with
        .query_map([&first.key, &value], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let mut has = connection.prepare(
        "SELECT EXISTS (SELECT 1 FROM run_tags WHERE run_id = ?1 AND key = ?2 AND value = ?3)",
    )?;
    for tag in others {
        let Some(value) = whole(connection, tag)? else {
            return Ok(Vec::new());
        };
        let mut left = Vec::new();
        for run in runs {
            if has.query_row(params![run, tag.key, value], |row| row.get(0))? {
                left.push(run);
            }
        }
        runs = left;
    }
    Ok(runs)
}

/// What to say of tags that no run has.
fn untagged(connection: &Connection, tags: &[Tag]) -> rusqlite::Result<NoRuns> {
    for tag in tags {
        if let Some(unknown) = unknown_key(connection, &tag.key)? {
            return Ok(unknown);
        }
        if whole(connection, tag)?.is_some() {
            continue;
        }
        let key = &tag.key;
        if key == COMMIT {
            let commits = commits(connection, &tag.value)?;
            if !commits.is_empty() {
                return Ok(several(tag, &commits));
            }
        }
        let sql = "SELECT DISTINCT value FROM run_tags WHERE key = ?1 ORDER BY value";
        let values = texts(connection, sql, &[key])?;
        return Ok(NoRuns::yet(format!(
            "no run has the tag {tag}; values of {key}: {}",
            some_or_nearest(&tag.value, values)
        )));
    }
    let tags: Vec<String> = tags.iter().map(ToString::to_string).collect();
    Ok(NoRuns::yet(match tags.as_slice() {
        [] => NONE.to_owned(),
        tags => format!(
            "no run has all of the tags {}; `profdb runs` lists the runs",
            tags.join(", ")
        ),
    }))
}

/// What to say of the key of a tag, if no run has it.
pub(super) fn unknown_key(connection: &Connection, key: &str) -> rusqlite::Result<Option<NoRuns>> {
    let keys = texts(
        connection,
        "SELECT DISTINCT key FROM run_tags ORDER BY key",
        &[],
    )?;
    if keys.iter().any(|known| known == key) {
        return Ok(None);
    }
    if keys.is_empty() {
        return Ok(Some(NoRuns::yet(format!(
            "no run has the tag {key} or any other tag; `profdb tag` and `import --tag` set tags"
        ))));
    }
    let near = suggestion("; the nearest: ", key, keys.clone());
    let known = if near.is_empty() {
        format!("; the tags are {}", some(&keys))
    } else {
        near
    };
    Ok(Some(NoRuns::slip(format!(
        "no run has the tag {key}{known}"
    ))))
}
