//! A database that is made of the rows of a dataset, to be merged into another one: it is checked by that as every other
//! database is.

use std::collections::BTreeMap;
use std::path::Path;

use hashbrown::HashMap;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, ToSql, params};

use super::rows::Cell;
use crate::base::hex::hex;
use crate::events::{FunctionDef, Kind};
use crate::identity::{IdentityKey, Rules};
use crate::store::database::Database;
use crate::store::error::StoreError;
use crate::store::file::lock_wait::LockWait;
use crate::store::fingerprint;
use crate::store::rows::to_other;
use crate::store::write::{StoredFunction, function_id};

/// Why rows could not be taken.
#[derive(Debug, thiserror::Error)]
pub enum FillError {
    /// A row that cannot be one of the table.
    #[error("{0}")]
    Row(String),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A run whose rows are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FilledRun {
    number: i64,
    /// What is added to the numbers of its nodes.
    nodes: i64,
}

/// Takes rows of runs: first all of `runs`, then those of `metrics`, then those of `functions`, then all others, in any order.
pub struct RowsOfRuns<'c> {
    connection: &'c Connection,
    rules: Rules,
    runs: HashMap<Vec<u8>, FilledRun>,
    /// By run and name.
    metrics: HashMap<(i64, Vec<u8>), i64>,
    /// By run and key.
    functions: HashMap<(i64, Vec<u8>), i64>,
    sources: HashMap<(Vec<u8>, i64), i64>,
    /// Functions in the order in which they were numbered: runs, places and rows.
    waiting: BTreeMap<(i64, i64, i64), Vec<OwnedCell>>,
    next_node: i64,
    /// The fingerprints that runs are said to have, by their numbers.
    stated: HashMap<i64, Stated>,
}

/// The fingerprint that a run is said to have.
struct Stated {
    /// In hexadecimal digits.
    fingerprint: Vec<u8>,
    /// The identities that it is made of, where they are by other rules than those here.
    keys: Option<HashMap<i64, IdentityKey>>,
}

/// A value of a row that is kept.
#[derive(Clone, Debug)]
pub enum OwnedCell {
    /// Unknown.
    Null,
    /// A whole number.
    Integer(i64),
    /// A cost.
    Real(f64),
    /// A text.
    Text(Vec<u8>),
}

impl From<Cell<'_>> for OwnedCell {
    fn from(cell: Cell<'_>) -> Self {
        match cell {
            Cell::Null => Self::Null,
            Cell::Integer(value) => Self::Integer(value),
            Cell::Real(value) => Self::Real(value),
            Cell::Text(text) => Self::Text(text.to_vec()),
        }
    }
}

impl OwnedCell {
    /// The value, to be read.
    #[must_use]
    pub fn borrowed(&self) -> Cell<'_> {
        match self {
            Self::Null => Cell::Null,
            Self::Integer(value) => Cell::Integer(*value),
            Self::Real(value) => Cell::Real(*value),
            Self::Text(text) => Cell::Text(text),
        }
    }
}

impl ToSql for Cell<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(value) => ValueRef::Integer(*value),
            Self::Real(value) => ValueRef::Real(*value),
            Self::Text(text) => ValueRef::Text(text),
        }))
    }
}

impl Database {
    /// A database of the runs whose rows a function gives, in a file that is made at `path`, for merging.
    ///
    /// # Errors
    /// When the function fails or the file cannot be written.
    pub fn filled<E: From<StoreError>>(
        path: &Path,
        lock_wait: LockWait,
        fill: impl FnOnce(&mut RowsOfRuns<'_>) -> Result<(), E>,
    ) -> Result<Self, E> {
        let database = Self::open_waiting(path, lock_wait)?;
        database.begin()?;
        let filled = (|| {
            crate::store::schema::migrate(&database.connection)
                .map_err(|cause| database.failed(cause))?;
            let rules = super::super::identities::rules(&database.connection)
                .map_err(|cause| database.failed(cause))?;
            // What does not fit together is found by the checks before a merge.
            database
                .connection
                .pragma_update(None, "defer_foreign_keys", true)
                .map_err(|source| database.failed(source))?;
            let mut rows = RowsOfRuns {
                connection: &database.connection,
                rules,
                runs: HashMap::new(),
                metrics: HashMap::new(),
                functions: HashMap::new(),
                sources: HashMap::new(),
                waiting: BTreeMap::new(),
                next_node: 1,
                stated: HashMap::new(),
            };
            fill(&mut rows)?;
            let unsound = rows.finish().map_err(|source| database.failed(source))?;
            if let Some(what) = unsound {
                let path = path.to_owned();
                return Err(StoreError::Inconsistent { path, what }.into());
            }
            database.commit().map_err(|error| match error {
                // What rows refer to is looked at last.
                StoreError::Sqlite { path, source }
                    if source.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) =>
                {
                    let what = source.to_string();
                    StoreError::Inconsistent { path, what }
                }
                error => error,
            })?;
            Ok(())
        })();
        database.end();
        filled.map(|()| database)
    }
}

type Filled = Result<(), FillError>;

fn row_error(what: impl Into<String>) -> FillError {
    FillError::Row(what.into())
}

/// A row that the database does not take. What SQLite says of a check is the text of our schema, with the comments in it.
fn refused(error: &rusqlite::Error) -> FillError {
    let said = error.to_string();
    let checked = said.strip_prefix("CHECK constraint failed: ");
    row_error(
        match checked.and_then(|text| text.split_whitespace().next()) {
            Some(column) => {
                format!("an impossible row: {column} has a value that is not allowed")
            }
            None => format!("an impossible row: {said}"),
        },
    )
}

impl RowsOfRuns<'_> {
    /// How many runs there are so far.
    pub fn runs(&self) -> usize {
        self.runs.len()
    }

    /// Whether its row in `runs` has been taken.
    pub fn has_run(&self, uid: &[u8]) -> bool {
        self.runs.contains_key(uid)
    }

    fn run(&self, uid: &Cell<'_>) -> Result<FilledRun, FillError> {
        let Cell::Text(uid) = uid else {
            return Err(row_error("expected the uid of a run, found none"));
        };
        self.runs.get(*uid).copied().ok_or_else(|| {
            row_error(format!(
                "no table of runs has run {}",
                String::from_utf8_lossy(uid)
            ))
        })
    }

    fn metric(&self, run: FilledRun, name: &Cell<'_>) -> Result<i64, FillError> {
        let Cell::Text(name) = name else {
            return Err(row_error("expected the name of a metric, found none"));
        };
        let found = self.metrics.get(&(run.number, name.to_vec()));
        found.copied().ok_or_else(|| {
            row_error(format!(
                "the run has no metric {}",
                String::from_utf8_lossy(name)
            ))
        })
    }

    fn function(&self, run: FilledRun, key: &Cell<'_>) -> Result<i64, FillError> {
        let Cell::Text(key) = key else {
            return Err(row_error("expected the key of a function, found none"));
        };
        let found = self.functions.get(&(run.number, key.to_vec()));
        found.copied().ok_or_else(|| {
            row_error(format!(
                "the run has no function {}",
                String::from_utf8_lossy(key)
            ))
        })
    }

    fn insert(&self, sql: &str, values: &[&dyn ToSql]) -> Filled {
        let inserted = self
            .connection
            .prepare_cached(sql)
            .and_then(|mut insert| insert.execute(values));
        inserted.map(|_| ()).map_err(|error| refused(&error))
    }

    /// Takes a row of `runs`, whose columns are those of `queries/dataset/rows/runs.sql` after the uid, and the tags.
    ///
    /// # Errors
    /// When it cannot be one.
    ///
    /// # Panics
    /// When there are not as many cells.
    pub fn run_row(
        &mut self,
        uid: &[u8],
        cells: &[Cell<'_>],
        tags: &[(Vec<u8>, Vec<u8>)],
    ) -> Filled {
        let &[
            title,
            format,
            fidelity,
            source_name,
            source_sha256,
            source_bytes,
            tool_version,
            command,
            recorded_at,
            recorded_utc,
            imported_at,
            timer_bias,
            bias_applied,
            _,
            nodes,
            functions,
            fingerprint,
            rules,
            profdb_version,
            _,
        ] = cells
        else {
            panic!("columns of runs");
        };
        if self.runs.contains_key(uid) {
            return Err(row_error("it is there twice"));
        }
        let Cell::Integer(count @ 0..) = nodes else {
            return Err(row_error("expected a number of nodes"));
        };
        let first = self.next_node;
        let last = first
            .checked_add(count)
            .ok_or_else(|| row_error("more nodes than there are numbers"))?;
        let range = |at: i64| {
            if count > 0 {
                Cell::Integer(at)
            } else {
                Cell::Null
            }
        };
        let sql = "INSERT INTO runs (run_uid, title, format, fidelity, source_name, source_sha256, source_bytes, tool_version,
                     command, recorded_at, recorded_utc, imported_at, timer_bias, bias_applied, profdb_version, functions,
                     first_node, last_node)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)";
        self.insert(
            sql,
            &[
                &Cell::Text(uid),
                &title,
                &format,
                &fidelity,
                &source_name,
                &source_sha256,
                &source_bytes,
                &tool_version,
                &command,
                &recorded_at,
                &recorded_utc,
                &imported_at,
                &timer_bias,
                &bias_applied,
                &profdb_version,
                &functions,
                &range(first),
                &range(last - 1),
            ],
        )?;
        let number = self.connection.last_insert_rowid();
        for (key, value) in tags {
            let sql = "INSERT INTO run_tags (run_id, key, value) VALUES (?1, ?2, ?3)";
            self.insert(sql, &[&number, &Cell::Text(key), &Cell::Text(value)])?;
        }
        let run = FilledRun {
            number,
            nodes: first - 1,
        };
        if let (Cell::Text(fingerprint), Cell::Text(rules)) = (fingerprint, rules) {
            let is_by_ours = rules == hex(&self.rules.digest()).as_bytes();
            let stated = Stated {
                fingerprint: fingerprint.to_vec(),
                keys: (!is_by_ours).then(HashMap::new),
            };
            self.stated.insert(number, stated);
        }
        self.next_node = last;
        self.runs.insert(uid.to_vec(), run);
        Ok(())
    }

    /// Says which metric of a run is its default one, after its metrics have been taken.
    ///
    /// # Errors
    /// When it has no such metric.
    pub fn default_metric(&mut self, uid: &[u8], metric: &Cell<'_>) -> Filled {
        if *metric == Cell::Null {
            return Ok(());
        }
        let run = self.run(&Cell::Text(uid))?;
        let metric = self.metric(run, metric)?;
        let sql = "UPDATE runs SET default_metric_id = ?2 WHERE run_id = ?1";
        self.insert(sql, &[&run.number, &metric])
    }

    /// Takes a row of another table. The cells are its columns with the uid of the run in front.
    ///
    /// # Errors
    /// When it cannot be one.
    ///
    /// # Panics
    /// When there is no such table, or not as many cells.
    pub fn row(&mut self, table: &str, cells: &[Cell<'_>]) -> Filled {
        let run = self.run(&cells[0])?;
        let cells = &cells[1..];
        match table {
            "metrics" => self.metric_row(run, cells),
            "functions" => self.function_row(run, cells),
            "nodes" => self.node_row(run, cells),
            "run_sources" => {
                let function = self.function(run, &cells[0])?;
                let source = self.source(&cells[2], &cells[3])?;
                let sql = "INSERT INTO run_sources (run_id, function_id, file, source_id) VALUES (?1, ?2, ?3, ?4)";
                self.insert(sql, &[&run.number, &function, &cells[1], &source])
            }
            "source_texts" => {
                let source = self.source(&cells[0], &cells[1])?;
                let sql = "INSERT OR IGNORE INTO source_texts (source_id, line, text) VALUES (?1, ?2, ?3)";
                self.insert(sql, &[&source, &cells[2], &cells[3]])
            }
            "node_costs" => {
                let metric = self.metric(run, &cells[0])?;
                let node = node_id(run, &cells[1])?;
                let other = other(&cells[2], &cells[3]);
                let sql = "INSERT INTO node_costs (metric_id, node_id, exclusive, cumulative_other) VALUES (?1, ?2, ?3, ?4)";
                self.insert(sql, &[&metric, &node, &cells[2], &other])
            }
            "node_labels" => {
                let metric = self.metric(run, &cells[0])?;
                let node = node_id(run, &cells[1])?;
                let sql = "INSERT INTO node_labels (metric_id, node_id, set_id, exclusive) VALUES (?1, ?2, ?3, ?4)";
                self.insert(sql, &[&metric, &node, &cells[2], &cells[3]])
            }
            "function_info" => {
                let metric = self.metric(run, &cells[0])?;
                let function = self.function(run, &cells[1])?;
                let sql = "INSERT INTO function_info (metric_id, function_id, calls, primitive, exclusive, cumulative, seen, recorded)
                           VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
                self.insert_after(sql, &[&metric, &function], &cells[2..])
            }
            "line_info" => {
                let metric = self.metric(run, &cells[0])?;
                let function = self.function(run, &cells[1])?;
                let sql = "INSERT INTO line_info (metric_id, function_id, file, line, col, calls, exclusive, cumulative, recorded)
                           VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
                self.insert_after(sql, &[&metric, &function], &cells[2..])
            }
            "edges" => {
                let metric = self.metric(run, &cells[0])?;
                let callee = self.function(run, &cells[1])?;
                let caller = match cells[2] {
                    Cell::Null => 0,
                    caller => self.function(run, &caller)?,
                };
                let (cumulative, outermost, seen) = (&cells[9], &cells[10], &cells[11]);
                let (outermost, seen) = (other(cumulative, outermost), other(cumulative, seen));
                let sql = "INSERT INTO edges (metric_id, callee_id, caller_id, line_file, caller_line, caller_col, back, calls,
                             exclusive, cumulative, outermost_other, seen_other)
                           VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
                let ids: [&dyn ToSql; 3] = [&metric, &callee, &caller];
                let rest = cells[3..10].iter().chain([&outermost, &seen]).copied();
                self.insert_after(sql, &ids, &rest.collect::<Vec<_>>())
            }
            "label_sets" => {
                let value = if cells[2] == Cell::Null {
                    cells[3]
                } else {
                    cells[2]
                };
                let sql = "INSERT INTO label_sets (run_id, set_id, key, value, unit) VALUES (?1, ?2, ?3, ?4, ?5)";
                self.insert(sql, &[&run.number, &cells[0], &cells[1], &value, &cells[4]])
            }
            "run_properties" => {
                let sql = "INSERT INTO run_properties (run_id, key, value) VALUES (?1, ?2, ?3)";
                self.insert_after(sql, &[&run.number], cells)
            }
            "notes" => {
                let sql = "INSERT INTO notes (run_id, severity, byte, line, message) VALUES (?1, ?2, ?3, ?4, ?5)";
                self.insert_after(sql, &[&run.number], &cells[1..])
            }
            table => panic!("no table {table}"),
        }
    }

    fn insert_after(&self, sql: &str, ids: &[&dyn ToSql], cells: &[Cell<'_>]) -> Filled {
        let values: Vec<&dyn ToSql> = ids
            .iter()
            .copied()
            .chain(cells.iter().map(|cell| cell as &dyn ToSql))
            .collect();
        self.insert(sql, &values)
    }

    fn metric_row(&mut self, run: FilledRun, cells: &[Cell<'_>]) -> Filled {
        let &[
            metric,
            unit,
            position,
            total,
            total_source,
            timer_readings,
            noise,
            _,
            quantum,
        ] = cells
        else {
            panic!("columns of metrics");
        };
        let sql = "INSERT INTO metrics (run_id, name, unit, position, total, total_source, timer_readings, noise, quantum)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        self.insert(
            sql,
            &[
                &run.number,
                &metric,
                &unit,
                &position,
                &total,
                &total_source,
                &timer_readings,
                &noise,
                &quantum,
            ],
        )?;
        let number = self.connection.last_insert_rowid();
        let Cell::Text(name) = metric else {
            return Err(row_error("expected the name of a metric, found none"));
        };
        self.metrics.insert((run.number, name.to_vec()), number);
        Ok(())
    }

    /// Says which metric counts the samples behind the costs of another one, after the metrics of the run have been taken.
    ///
    /// # Errors
    /// When the run has no such metric.
    pub fn observations(
        &mut self,
        uid: &Cell<'_>,
        metric: &Cell<'_>,
        observations: &Cell<'_>,
    ) -> Filled {
        let run = self.run(uid)?;
        let metric = self.metric(run, metric)?;
        let observations = self.metric(run, observations)?;
        let sql = "UPDATE metrics SET observations = ?2 WHERE metric_id = ?1";
        self.insert(sql, &[&metric, &observations])
    }

    /// Functions wait until all are there, as their order in the database that they are from is to be that of their numbers.
    fn function_row(&mut self, run: FilledRun, cells: &[Cell<'_>]) -> Filled {
        let position = match cells.last() {
            Some(Cell::Integer(position)) => *position,
            _ => return Err(row_error("expected the place of a function")),
        };
        let row = cells.iter().map(|cell| OwnedCell::from(*cell)).collect();
        let number = i64::try_from(self.waiting.len()).unwrap_or(i64::MAX);
        self.waiting.insert((run.number, position, number), row);
        Ok(())
    }

    /// Numbers all functions, after their rows have been taken.
    ///
    /// # Errors
    /// When one cannot be a function.
    pub fn number_functions(&mut self) -> Filled {
        for ((run, _, _), cells) in std::mem::take(&mut self.waiting) {
            let cells: Vec<Cell<'_>> = cells.iter().map(OwnedCell::borrowed).collect();
            let text = |at: usize| match cells[at] {
                Cell::Text(text) => String::from_utf8_lossy(text),
                _ => "".into(),
            };
            let (kind, name, module, file) = (text(1), text(2), text(3), text(4));
            let identity = self.rules.identity(&FunctionDef {
                kind: Kind::by_name(&kind).unwrap_or_default(),
                module: &module,
                file: &file,
                ..FunctionDef::named(&name)
            });
            let key = identity.key();
            let row: [&dyn ToSql; 7] = std::array::from_fn(|at| &cells[at + 1] as &dyn ToSql);
            let StoredFunction(number) = function_id(self.connection, row, &identity, &key)
                .map_err(|error| refused(&error))?;
            let Cell::Text(key) = cells[0] else {
                return Err(row_error("expected the key of a function, found none"));
            };
            self.functions.insert((run, key.to_vec()), number);
            let stated = self.stated.get_mut(&run);
            if let Some(keys) = stated.and_then(|stated| stated.keys.as_mut())
                && let Some(key) = identity_key(&cells[8])
            {
                keys.insert(number, key);
            }
        }
        Ok(())
    }

    fn node_row(&self, run: FilledRun, cells: &[Cell<'_>]) -> Filled {
        let &[
            node,
            parent,
            last,
            outer,
            depth,
            function,
            line,
            col,
            file,
            calls,
            exclusive,
            cumulative,
        ] = cells
        else {
            panic!("columns of nodes");
        };
        let id = node_id(run, &node)?;
        let Cell::Integer(node) = node else {
            return Err(row_error("expected the number of a node"));
        };
        let less = |other: Cell<'_>| match other {
            Cell::Integer(other) => node
                .checked_sub(other)
                .map(Cell::Integer)
                .ok_or_else(|| row_error("a node out of range")),
            _ => Ok(Cell::Null),
        };
        let (up, outer_up) = (less(parent)?, less(outer)?);
        let size = match last {
            Cell::Integer(last) => last.checked_sub(node),
            _ => None,
        };
        let size = size.ok_or_else(|| row_error("expected the last node below a node"))?;
        let function = self.function(run, &function)?;
        let other = other(&exclusive, &cumulative);
        let sql = "INSERT INTO nodes (node_id, up, size, depth, function_id, calls, exclusive, line, cumulative_other, outer_up, col, file)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
        self.insert(
            sql,
            &[
                &id, &up, &size, &depth, &function, &calls, &exclusive, &line, &other, &outer_up,
                &col, &file,
            ],
        )
    }

    fn source(&mut self, sha256: &Cell<'_>, first_line: &Cell<'_>) -> Result<i64, FillError> {
        let (Cell::Text(text), Cell::Integer(line)) = (sha256, first_line) else {
            return Err(row_error("expected a source text, found none"));
        };
        let key = (text.to_vec(), *line);
        if let Some(source) = self.sources.get(&key) {
            return Ok(*source);
        }
        self.insert(
            "INSERT INTO sources (sha256, first_line) VALUES (?1, ?2)",
            &[sha256, first_line],
        )?;
        let source = self.connection.last_insert_rowid();
        self.sources.insert(key, source);
        Ok(source)
    }

    /// Adds what follows from the rows. Says which run has rows that are not those of its fingerprint.
    fn finish(&self) -> rusqlite::Result<Option<String>> {
        let sql = "INSERT INTO function_nodes (run_id, function_id, node_id)
                   SELECT r.run_id, n.function_id, n.node_id
                   FROM runs AS r
                   JOIN nodes AS n ON n.node_id BETWEEN r.first_node AND r.last_node
                   WHERE n.line IS NULL
                   ORDER BY r.run_id, n.function_id, n.node_id";
        self.connection.execute(sql, [])?;
        let mut runs: Vec<_> = self.runs.values().collect();
        // Of several, the first one is named.
        runs.sort_unstable_by_key(|run| run.number);
        for run in runs {
            let fingerprint = fingerprint::of_run(self.connection, run.number)?;
            if let Some(Stated {
                fingerprint: stated,
                keys,
            }) = self.stated.get(&run.number)
            {
                let found = match keys {
                    None => fingerprint,
                    Some(keys) => fingerprint::of_run_by(self.connection, run.number, keys)?,
                };
                if hex(&found).as_bytes() != stated.as_slice() {
                    let sql = "SELECT run_uid FROM runs WHERE run_id = ?1";
                    let uid: String = self
                        .connection
                        .query_row(sql, [run.number], |row| row.get(0))?;
                    return Ok(Some(format!(
                        "the costs of run {uid} differ from its fingerprint"
                    )));
                }
            }
            let sql = "UPDATE runs SET fingerprint = ?2 WHERE run_id = ?1";
            self.connection
                .execute(sql, params![run.number, fingerprint])?;
        }
        Ok(None)
    }
}

/// The key of an identity, from its hexadecimal digits.
fn identity_key(cell: &Cell<'_>) -> Option<IdentityKey> {
    let Cell::Text(text) = cell else {
        return None;
    };
    let text = std::str::from_utf8(text).ok()?;
    let mut key = IdentityKey::default();
    if text.len() != 2 * key.len() || !text.is_ascii() {
        return None;
    }
    for (at, byte) in key.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()?;
    }
    Some(key)
}

/// The number here of a node that a run numbers from 1 on.
fn node_id(run: FilledRun, node: &Cell<'_>) -> Result<i64, FillError> {
    match node {
        Cell::Integer(node @ 1..) => node
            .checked_add(run.nodes)
            .ok_or_else(|| row_error("a node out of range")),
        _ => Err(row_error("expected the number of a node, from 1 on")),
    }
}

/// What a column whose name ends in `_other` says (docs/design/measured-choices.md).
fn other(usual: &Cell<'_>, cost: &Cell<'_>) -> Cell<'static> {
    let real = |cell: &Cell<'_>| match cell {
        Cell::Real(cost) => Some(*cost),
        _ => None,
    };
    to_other(real(usual), real(cost)).map_or(Cell::Null, Cell::Real)
}
