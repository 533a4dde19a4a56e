//! What comparisons of runs read: the figures of functions, and what makes runs and functions comparable.

use rusqlite::{OptionalExtension, Row, named_params};

use super::database::Database;
use super::error::StoreError;
use super::rows::{Range, StoredRow, Table, Tables, damaged};
use crate::events::{FunctionDef, Kind, Noise};
use crate::identity::Rules;

const SUMS: &str = include_str!("../../queries/compare/sums.sql");
const IDENTITY: &str = include_str!("../../queries/compare/identity.sql");
const IDENTITIES: &str = include_str!("../../queries/compare/identities.sql");
const IDENTITIES_ALONE: &str = include_str!("../../queries/compare/identities_alone.sql");
const METRIC: &str = include_str!("../../queries/compare/metric.sql");
const RUN: &str = include_str!("../../queries/compare/run.sql");
const NAMES: &str = include_str!("../../queries/compare/names.sql");
const CALLERS: &str = include_str!("../../queries/compare/callers.sql");
const CALLEES: &str = include_str!("../../queries/compare/callees.sql");
const DEFINITION: &str = include_str!("../../queries/compare/definition.sql");

/// What a function cost in a run, in the unit of a metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FunctionSum {
    /// The function.
    pub function_id: i64,
    /// How often it was called; `None` if unknown.
    pub calls: Option<u64>,
    /// Cost of the function itself; `None` if unknown.
    pub exclusive: Option<f64>,
    /// Cost with what it called; `None` if unknown.
    pub cumulative: Option<f64>,
}

/// What a function is whatever the build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionIdentity {
    /// What sort of thing it is.
    pub kind: Kind,
    /// The hash of the identity, by which identities of several databases meet.
    pub key: Vec<u8>,
    /// Name, module and file after the rules.
    pub names: [String; 3],
    /// It stands for all code of the module that has no name.
    pub is_unnamed: bool,
    /// Name, module and file as the run has them; empty where they were not asked for.
    pub raw: [String; 3],
    /// Line where the definition starts in the run; 0 if unknown or not requested.
    pub raw_line: i64,
}

impl FunctionIdentity {
    /// Reads the columns of a row from one on.
    fn read(row: &Row<'_>, from: usize) -> rusqlite::Result<Self> {
        let text = |at: usize| row.get(from + at);
        Ok(Self {
            raw: [text(6)?, text(7)?, text(8)?],
            raw_line: row.get(from + 9)?,
            ..Self::read_alone(row, from)?
        })
    }

    /// Whether it is code, and no container.
    #[must_use]
    pub fn is_code(&self) -> bool {
        !self.kind.is_container()
    }

    /// Reads the columns of a row from one on, without what the run has.
    fn read_alone(row: &Row<'_>, from: usize) -> rusqlite::Result<Self> {
        let kind = row.get_ref(from)?.as_str()?;
        let kind = Kind::by_name(kind).unwrap_or_default();
        let text = |at: usize| row.get(from + at);
        Ok(Self {
            kind,
            key: row.get(from + 1)?,
            names: [text(2)?, text(3)?, text(4)?],
            is_unnamed: row.get(from + 5)?,
            raw: <[String; 3]>::default(),
            raw_line: 0,
        })
    }

    /// The identity by other rules, if there are any.
    fn by(mut self, rules: Option<&Rules>) -> Self {
        if let Some(rules) = rules {
            let [name, module, file] = &self.raw;
            let identity = rules.identity(&FunctionDef {
                kind: self.kind,
                module,
                file,
                ..FunctionDef::named(name)
            });
            self.key = identity.key().to_vec();
            self.is_unnamed = identity.is_unnamed();
            self.names =
                [&identity.name, &identity.module, &identity.file].map(ToString::to_string);
        }
        self
    }
}

/// Where a function of a run begins, and what it cost there.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionDefinition {
    /// The line; 0 if unknown.
    pub line: i64,
    /// The column of it; 0 if unknown.
    pub column: i64,
    /// Cost of the function itself, in the unit of the metric; `None` if unknown.
    pub exclusive: Option<f64>,
    /// Cost with what it called; `None` if unknown.
    pub cumulative: Option<f64>,
    /// The text of its first line, if it was stored with the run.
    pub text: Option<String>,
}

/// How the figures of a metric vary.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MetricNoise {
    /// The kind.
    pub noise: Noise,
    /// The metric of the run that counts the samples.
    pub observations: Option<i64>,
    /// What one sample adds, in the unit of the metric.
    pub quantum: Option<f64>,
}

/// What tells whether a run can be compared with others.
#[derive(Clone, Debug, PartialEq)]
pub struct RunFacts {
    /// The format of its file.
    pub format: String,
    /// When it was recorded, in UTC, in a form whose order is that in time; `None` if unknown.
    pub recorded_utc: Option<String>,
    /// When it was imported.
    pub imported_at: String,
    /// What has been subtracted from its times, in ns per reading of the timer.
    pub bias_applied: Option<f64>,
    /// The hash of its figures; `None` if another program has removed it.
    pub fingerprint: Option<String>,
    /// What only copies of its recording have as well: its figures, and when it was recorded, if that is known. `None` where there is
    /// no hash of figures.
    pub recording: Option<String>,
}

/// What only copies of a recording have: small profiles of samples have equal figures by chance.
pub(super) fn recording(fingerprint: &str, recorded_utc: Option<&str>) -> Option<String> {
    match recorded_utc {
        _ if fingerprint.is_empty() => None,
        Some(recorded) => Some(format!("{fingerprint} {recorded}")),
        None => Some(fingerprint.to_owned()),
    }
}

/// What functions cost, read from pages where SQLite gives access to them: for runs with many functions.
pub struct FunctionSums<'d> {
    database: &'d Database,
    tables: Tables<'d>,
}

impl FunctionSums<'_> {
    /// Calls a function for the sums of every function of a metric, in the order of their numbers.
    ///
    /// # Errors
    /// When the database cannot be read or is damaged.
    pub fn each(
        &self,
        metric_id: i64,
        mut each: impl FnMut(&FunctionSum),
    ) -> Result<(), StoreError> {
        let mut read = || -> rusqlite::Result<()> {
            let range = Range::all_of(metric_id);
            let mut rows = self.tables.rows(Table::FunctionInfo, range)?;
            while let Some(row) = rows.next()? {
                each(&sum_of(row).ok_or_else(damaged)?);
            }
            Ok(())
        };
        read().map_err(|source| self.database.failed(source))
    }
}

/// A row of `function_info`; `None` if it is none.
fn sum_of(mut row: StoredRow<'_>) -> Option<FunctionSum> {
    let columns = &mut row.others;
    let calls = columns.integer_or_null()?;
    let _primitive = columns.next_value()?;
    Some(FunctionSum {
        function_id: row.at,
        calls: calls.and_then(|calls| u64::try_from(calls).ok()),
        exclusive: columns.real_or_null()?,
        cumulative: columns.real_or_null()?,
    })
}

impl Database {
    /// Calls a function for the sums of every function of a metric, in the order of their numbers.
    ///
    /// # Errors
    /// The database's.
    pub fn each_function_sum(
        &self,
        metric_id: i64,
        mut each: impl FnMut(&FunctionSum),
    ) -> Result<(), StoreError> {
        let mut read = || -> rusqlite::Result<()> {
            let mut statement = self.connection.prepare_cached(SUMS)?;
            let mut rows = statement.query(named_params! {":metric": metric_id})?;
            while let Some(row) = rows.next()? {
                let calls: Option<i64> = row.get(1)?;
                each(&FunctionSum {
                    function_id: row.get(0)?,
                    calls: calls.and_then(|calls| u64::try_from(calls).ok()),
                    exclusive: row.get(2)?,
                    cumulative: row.get(3)?,
                });
            }
            Ok(())
        };
        read().map_err(|source| self.failed(source))
    }

    /// What a function is whatever the build: as the database has it, or by other rules.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn function_identity(
        &self,
        function_id: i64,
        rules: Option<&Rules>,
    ) -> Result<FunctionIdentity, StoreError> {
        let read = || -> rusqlite::Result<FunctionIdentity> {
            let mut statement = self.connection.prepare_cached(IDENTITY)?;
            statement.query_row(named_params! {":function": function_id}, |row| {
                FunctionIdentity::read(row, 0)
            })
        };
        let found = read().map_err(|source| self.failed(source))?;
        Ok(found.by(rules))
    }

    /// Calls a function for the functions of a metric that are wanted, with what they are whatever the build: as the database
    /// has it, or by other rules.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn each_function_identity(
        &self,
        metric_id: i64,
        rules: Option<&Rules>,
        is_wanted: impl Fn(i64) -> bool,
        mut each: impl FnMut(i64, FunctionIdentity),
    ) -> Result<(), StoreError> {
        let mut read = || -> rusqlite::Result<()> {
            let mut statement = self.connection.prepare_cached(IDENTITIES)?;
            let mut rows = statement.query(named_params! {":metric": metric_id})?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                let function: i64 = row.get(0)?;
                if is_wanted(function) {
                    found.push((function, FunctionIdentity::read(row, 1)?));
                }
            }
            for (function, identity) in found {
                each(function, identity.by(rules));
            }
            Ok(())
        };
        read().map_err(|source| self.failed(source))
    }

    /// Calls a function for the functions of a metric that are wanted, in the order of their numbers, with what they are
    /// whatever the build, as the database has it; what the run calls them is left out.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn each_identity_alone(
        &self,
        metric_id: i64,
        is_wanted: impl Fn(i64) -> bool,
        mut each: impl FnMut(i64, FunctionIdentity),
    ) -> Result<(), StoreError> {
        let mut read = || -> rusqlite::Result<()> {
            let mut statement = self.connection.prepare_cached(IDENTITIES_ALONE)?;
            let mut rows = statement.query(named_params! {":metric": metric_id})?;
            while let Some(row) = rows.next()? {
                let function: i64 = row.get(0)?;
                if is_wanted(function) {
                    each(function, FunctionIdentity::read_alone(row, 1)?);
                }
            }
            Ok(())
        };
        read().map_err(|source| self.failed(source))
    }

    /// Reads what functions cost in many metrics, all of one moment.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn function_sums(&self) -> Result<FunctionSums<'_>, StoreError> {
        let tables = Tables::of(&self.connection, &self.lock_wait.stop);
        Ok(FunctionSums {
            database: self,
            tables: tables.map_err(|source| self.failed(source))?,
        })
    }

    /// How the figures of a metric vary.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn metric_noise(&self, metric_id: i64) -> Result<MetricNoise, StoreError> {
        let read = || -> rusqlite::Result<MetricNoise> {
            let mut statement = self.connection.prepare_cached(METRIC)?;
            let found = statement.query_row(named_params! {":metric": metric_id}, |row| {
                let name: String = row.get(0)?;
                Ok(MetricNoise {
                    noise: Noise::by_name(&name).unwrap_or_default(),
                    observations: row.get(1)?,
                    quantum: row.get(2)?,
                })
            });
            found.optional().map(|found| {
                found.unwrap_or(MetricNoise {
                    noise: Noise::Unknown,
                    observations: None,
                    quantum: None,
                })
            })
        };
        read().map_err(|source| self.failed(source))
    }

    /// What tells whether a run can be compared with others.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn run_facts(&self, run_id: i64) -> Result<RunFacts, StoreError> {
        let read = || -> rusqlite::Result<RunFacts> {
            let mut statement = self.connection.prepare_cached(RUN)?;
            statement.query_row(named_params! {":run": run_id}, |row| {
                let fingerprint: String = row.get(4)?;
                let recorded_utc: Option<String> = row.get(1)?;
                Ok(RunFacts {
                    format: row.get(0)?,
                    recording: recording(&fingerprint, recorded_utc.as_deref()),
                    recorded_utc,
                    imported_at: row.get(2)?,
                    bias_applied: row.get(3)?,
                    fingerprint: Some(fingerprint).filter(|fingerprint| !fingerprint.is_empty()),
                })
            })
        };
        read().map_err(|source| self.failed(source))
    }

    /// Whether a name, module and file fit that any function of any run has, as the run has them or after the rules of
    /// identities. They come one after the other, until some fit.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn has_function(
        &self,
        mut fits: impl FnMut([&str; 3]) -> bool,
    ) -> Result<bool, StoreError> {
        let mut read = || -> rusqlite::Result<bool> {
            let mut statement = self.connection.prepare_cached(NAMES)?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                for first in [0, 3] {
                    // A function may have no identity yet.
                    let text = |at: usize| -> rusqlite::Result<&str> {
                        Ok(row.get_ref(first + at)?.as_str().unwrap_or_default())
                    };
                    if fits([text(0)?, text(1)?, text(2)?]) {
                        return Ok(true);
                    }
                }
            }
            Ok(false)
        };
        read().map_err(|source| self.failed(source))
    }

    /// Who called a function in a run; 0 is the root. None where callers are unknown.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn callers_of(&self, metric_id: i64, function_id: i64) -> Result<Vec<i64>, StoreError> {
        self.related(CALLERS, metric_id, function_id)
    }

    /// Whom a function called in a run. None where callers are unknown.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn callees_of(&self, metric_id: i64, function_id: i64) -> Result<Vec<i64>, StoreError> {
        self.related(CALLEES, metric_id, function_id)
    }

    fn related(&self, sql: &str, metric_id: i64, function_id: i64) -> Result<Vec<i64>, StoreError> {
        let read = || -> rusqlite::Result<Vec<i64>> {
            let mut statement = self.connection.prepare_cached(sql)?;
            let with = named_params! {":metric": metric_id, ":function": function_id};
            statement.query_map(with, |row| row.get(0))?.collect()
        };
        read().map_err(|source| self.failed(source))
    }

    /// Where a function of a run begins and what it cost in a metric; `None` if the run does not have it in the metric of its
    /// calls.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn function_definition(
        &self,
        run_id: i64,
        metric_id: i64,
        calls: i64,
        function_id: i64,
    ) -> Result<Option<FunctionDefinition>, StoreError> {
        let read = || -> rusqlite::Result<Option<FunctionDefinition>> {
            let mut statement = self.connection.prepare_cached(DEFINITION)?;
            let with = named_params! {
                ":run": run_id, ":metric": metric_id, ":calls": calls, ":function": function_id,
            };
            let found = statement.query_row(with, |row| {
                Ok(FunctionDefinition {
                    line: row.get(0)?,
                    column: row.get(1)?,
                    exclusive: row.get(2)?,
                    cumulative: row.get(3)?,
                    text: row.get(4)?,
                })
            });
            found.optional()
        };
        read().map_err(|source| self.failed(source))
    }
}
