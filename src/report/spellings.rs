//! Functions by the texts that commands print for them: a name with a place, a name with a line, the name of an identity.
//! Reports, comparisons, histories and budgets find functions by this module only.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Row, ToSql};
use serde_json::json;

use super::error::failure;
use super::labels::{FunctionLabels, listed};
use crate::store::{Database, StoreError};
use crate::text::cell::NO_NAME;
use crate::text::nearest::some;
use crate::text::placed::{
    BEFORE_PLACE, FunctionPlace, Namesake, PlaceReading, placed, places, readings, split_bracket,
};

const PLACED: &str = include_str!("../../queries/names/placed.sql");
const AT_LINE: &str = include_str!("../../queries/names/at_line.sql");
const WITH_LINE: &str = include_str!("../../queries/names/with_line.sql");
const OF_IDENTITIES: &str = include_str!("../../queries/names/of_identities.sql");
const SAME_IDENTITY: &str = include_str!("../../queries/names/same_identity.sql");

/// Functions that a text names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spelled {
    /// Position of the reading of the text that fits. Of several runs, those with the smallest rank count.
    pub(crate) rank: usize,
    /// Numbers of the functions.
    pub(crate) functions: Vec<i64>,
}

/// Returns the functions of a run that a text names with a place or a line, or by the name of their identity. The first
/// reading that some function fits counts: a printed place, a line where a definition starts, a line with figures, an
/// identity.
///
/// # Errors
/// The database's.
pub(crate) fn spelled(
    database: &Database,
    run_id: i64,
    text: &str,
) -> Result<Option<Spelled>, StoreError> {
    let run = RunFunctions { database, run_id };
    let printed = run.printed(text)?;
    if !printed.is_empty() {
        return Ok(Some(Spelled {
            rank: 0,
            functions: printed,
        }));
    }
    let readings = readings(text);
    let at_definition = readings.iter().map(|reading| (reading, false));
    let with_figures = readings.iter().filter(|reading| reading.line.is_some());
    let with_figures = with_figures.map(|reading| (reading, true));
    let mut rank = 0;
    for (reading, is_with_figures) in at_definition.chain(with_figures) {
        rank += 1;
        if reading.is_with_figures && !is_with_figures {
            continue;
        }
        let (sql, key): (_, (&str, &dyn ToSql)) = match &reading.name {
            _ if is_with_figures => (WITH_LINE, (":line", &reading.line)),
            Some(name) => (PLACED, (":name", name)),
            None => (AT_LINE, (":line", &reading.line)),
        };
        let functions = run.fitting(reading, sql, key)?;
        if !functions.is_empty() {
            return Ok(Some(Spelled { rank, functions }));
        }
    }
    let unnamed = text
        .strip_prefix(NO_NAME)
        .and_then(|rest| rest.strip_prefix(" in "));
    let unnamed = unnamed.map(|module| PlaceReading {
        name: Some(NO_NAME),
        module: Some(module),
        is_whole: true,
        ..PlaceReading::default()
    });
    let named = readings.iter().chain(&unnamed);
    let names: BTreeSet<&str> = named.filter_map(|reading| reading.name).collect();
    let names = json!(names.into_iter().chain([text]).collect::<Vec<&str>>()).to_string();
    let key: (&str, &dyn ToSql) = (":names", &names);
    let whole = PlaceReading {
        name: Some(text),
        ..PlaceReading::default()
    };
    let at_identity = readings.iter().filter(|reading| reading.name.is_some());
    for reading in [&whole].into_iter().chain(&unnamed).chain(at_identity) {
        rank += 1;
        let functions = run.fitting(reading, OF_IDENTITIES, key)?;
        if !functions.is_empty() {
            return Ok(Some(Spelled { rank, functions }));
        }
    }
    Ok(None)
}

/// The functions of a run.
struct RunFunctions<'d> {
    database: &'d Database,
    run_id: i64,
}

impl RunFunctions<'_> {
    /// Returns the functions that a report prints as this text, also if a line in brackets follows the name.
    fn printed(&self, text: &str) -> Result<Vec<i64>, StoreError> {
        for (name, place) in placed(text) {
            let bare = split_bracket(name).map(|(bare, _)| bare);
            for name in [Some(name), bare].into_iter().flatten() {
                let mut functions = self.rows(PLACED, (":name", &name), |row| row.get(0))?;
                let labels = FunctionLabels::of_functions(self.database, self.run_id, &functions)?;
                functions.retain(|function| {
                    [labels.apart(*function), labels.full(*function)].contains(&Some(place))
                });
                if !functions.is_empty() {
                    return Ok(functions);
                }
            }
        }
        Ok(Vec::new())
    }

    /// Returns those of the functions that a statement gives which a reading fits.
    fn fitting(
        &self,
        reading: &PlaceReading<'_>,
        sql: &str,
        key: (&str, &dyn ToSql),
    ) -> Result<Vec<i64>, StoreError> {
        let functions = self.rows(sql, key, |row| {
            let places = [row.get_ref(2)?.as_str()?, row.get_ref(3)?.as_str()?];
            let fits = reading.fits(row.get_ref(1)?.as_str()?, places, row.get(4)?);
            Ok(fits.then_some(row.get(0)?))
        })?;
        Ok(functions.into_iter().flatten().collect())
    }

    fn rows<T>(
        &self,
        sql: &str,
        key: (&str, &dyn ToSql),
        row: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let read = || -> rusqlite::Result<Vec<T>> {
            let mut statement = self.database.connection().prepare_cached(sql)?;
            let parameters: [(&str, &dyn ToSql); 2] = [(":run", &self.run_id), key];
            statement.query_map(&parameters, row)?.collect()
        };
        read().map_err(|source| failure(self.database, source))
    }
}

/// Functions that a text names in several runs, and what comparisons add up with them.
#[derive(Debug, Default)]
pub(crate) struct SpelledInRuns {
    rank: usize,
    found: Vec<(usize, Vec<i64>)>,
    merged: BTreeMap<[String; 3], usize>,
}

impl SpelledInRuns {
    /// Finds the functions that a text names in some runs. The reading with the smallest rank of all runs counts.
    ///
    /// # Errors
    /// The database's.
    pub(crate) fn of<'d>(
        runs: impl Iterator<Item = (&'d Database, i64)>,
        text: &str,
    ) -> Result<Self, StoreError> {
        let mut all = Self::default();
        for (at, (database, run_id)) in runs.enumerate() {
            let Some(Spelled { rank, functions }) = spelled(database, run_id, text)? else {
                continue;
            };
            if all.found.is_empty() || rank < all.rank {
                all = Self {
                    rank,
                    ..Self::default()
                };
            }
            if rank > all.rank {
                continue;
            }
            all.add_merged(database, run_id, &functions)?;
            all.found.push((at, functions));
        }
        Ok(all)
    }

    /// Returns the functions by the position of their run.
    pub(crate) fn found(&self) -> &[(usize, Vec<i64>)] {
        &self.found
    }

    fn add_merged(
        &mut self,
        database: &Database,
        run_id: i64,
        functions: &[i64],
    ) -> Result<(), StoreError> {
        let run = RunFunctions { database, run_id };
        let of_identities = run.rows(SAME_IDENTITY, (":functions", &listed(functions)), |row| {
            Ok((row.get(0)?, [row.get(1)?, row.get(2)?, row.get(3)?]))
        })?;
        let mut counts: BTreeMap<[String; 3], (usize, bool)> = BTreeMap::new();
        for (function, names) in of_identities {
            let (count, has_others) = counts.entry(names).or_default();
            *count += 1;
            *has_others |= !functions.contains(&function);
        }
        for (names, (count, has_others)) in counts {
            if has_others {
                let most = self.merged.entry(names).or_default();
                *most = count.max(*most);
            }
        }
        Ok(())
    }

    /// Returns a note for the functions that comparisons do not tell from those that the text names. `all` has name, module
    /// and file of all identities.
    pub(crate) fn note<'n>(&self, all: impl Iterator<Item = &'n [String; 3]>) -> Option<String> {
        if self.merged.is_empty() {
            return None;
        }
        let all: BTreeSet<&[String; 3]> = all.collect();
        let covers = self.merged.iter().map(|(names, count)| {
            let label = label_with_place(names, all.iter().copied());
            format!("{label} covers {count} functions in these runs")
        });
        Some(format!(
            "{}; comparisons do not tell them apart by line",
            some(&covers.collect::<Vec<String>>())
        ))
    }
}

/// Returns the name of an identity, with the place that tells it from the others of its name, if there are any.
pub(crate) fn label_among<'n>(
    names: &'n [String; 3],
    all: impl IntoIterator<Item = &'n [String; 3]>,
) -> String {
    let place = identity_place(names, all);
    let place = Some(place.apart).filter(|_| place.is_needed);
    with_place(&names[0], &place.unwrap_or_default())
}

/// Returns the name of an identity with its place.
fn label_with_place<'n>(
    names: &'n [String; 3],
    all: impl IntoIterator<Item = &'n [String; 3]>,
) -> String {
    let place = identity_place(names, all);
    let place = match place.full.as_str() {
        _ if place.is_needed => &place.apart,
        "" => &names[1],
        full => full,
    };
    with_place(&names[0], place)
}

fn with_place(name: &str, place: &str) -> String {
    match place {
        "" => name.to_owned(),
        place => format!("{name}{BEFORE_PLACE}{place})"),
    }
}

fn identity_place<'n>(
    names: &'n [String; 3],
    all: impl IntoIterator<Item = &'n [String; 3]>,
) -> FunctionPlace {
    let all: BTreeSet<&[String; 3]> = all
        .into_iter()
        .filter(|other| other[0] == names[0] && *other != names)
        .collect();
    let group: Vec<Namesake<'_>> = [names]
        .into_iter()
        .chain(all)
        .map(|[_, module, file]| Namesake {
            module,
            file,
            line: 0,
            column: 0,
            is_code: true,
        })
        .collect();
    places(&group).swap_remove(0)
}
