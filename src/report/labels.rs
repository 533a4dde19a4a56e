//! Places that tell functions of one name apart, decided over all functions of a run, not only those of an answer.
//!
//! A place is the shortest end of the path of the file that no other function of the name has, with the line where the
//! definition starts if several are in one file, and its column if several are in one line. Where no file is known, the module
//! is the place, else `no file`. Functions with equal definitions have a number, as in `libshop.so#2`. `--fn 'NAME (PLACE)'` selects
//! the function.

use std::hash::BuildHasher as _;

use hashbrown::{HashMap, HashSet};
use rusqlite::{Row, named_params};

use super::error::failure;
use crate::store::{Database, StoreError};
use crate::text::placed::{BEFORE_PLACE, FunctionPlace, Namesake, places};

const SAME_NAME: &str = include_str!("../../queries/names/same_name.sql");
const PLACED: &str = include_str!("../../queries/names/placed.sql");
const OF_FUNCTIONS: &str = include_str!("../../queries/names/of_functions.sql");
const ALL_PLACES: &str = include_str!("../../queries/names/all_places.sql");

/// Maximum number of functions that are looked up by number. With more, all functions of the run are read once.
pub(super) const MAX_LOOKUPS: usize = if cfg!(debug_assertions) {
    // Small tests take both ways.
    4
} else {
    2000
};

/// Maximum number of functions of a run whose places are all kept.
const MAX_PLACES: usize = 20_000;

/// Begins a path that is cut.
const CUT: &str = "... > ";

/// Separates the functions of a path.
const STEP: &str = " > ";

/// A function with its place in full.
struct PlacedFunction {
    function_id: i64,
    name: String,
    module: String,
    file: String,
    line: i64,
    column: i64,
    is_code: bool,
}

impl PlacedFunction {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            function_id: row.get(0)?,
            name: row.get(1)?,
            module: row.get(2)?,
            file: row.get(3)?,
            line: row.get(4)?,
            column: row.get(5)?,
            is_code: row.get(6)?,
        })
    }

    fn namesake(&self) -> Namesake<'_> {
        Namesake {
            module: &self.module,
            file: &self.file,
            line: self.line,
            column: self.column,
            is_code: self.is_code,
        }
    }
}

/// Returns names of functions of a run that begin as given, at most `limit` of them. A name that is not unique comes
/// alone, for all its functions, and with the place of each.
///
/// # Errors
/// The database's.
pub(crate) fn labels_from(
    database: &Database,
    run_id: i64,
    start: &str,
    limit: usize,
) -> Result<Vec<String>, StoreError> {
    let mut names = database.functions_from(run_id, start, limit)?;
    let before_places = start
        .match_indices(BEFORE_PLACE)
        .map(|(at, _)| &start[..at]);
    for whole in before_places {
        let complete = database.functions_from(run_id, whole, 1)?;
        names.extend(complete.into_iter().filter(|name| name == whole));
    }
    let read = || -> rusqlite::Result<Vec<String>> {
        let mut statement = database.connection().prepare(PLACED)?;
        let mut functions: Vec<i64> = Vec::new();
        for name in &names {
            let parameters = named_params! {":run": run_id, ":name": name};
            let of_name = statement.query_map(parameters, |row| row.get(0))?;
            functions.extend(of_name.collect::<rusqlite::Result<Vec<i64>>>()?);
        }
        let labels = FunctionLabels::same_name(database, run_id, &functions)?;
        Ok(functions
            .iter()
            .map(|function| labels.label(*function))
            .collect())
    };
    let labels = read().map_err(|source| failure(database, source))?;
    names.extend(labels);
    names.retain(|name| name.starts_with(start));
    names.sort();
    names.dedup();
    names.truncate(limit);
    Ok(names)
}

/// Places of functions by their numbers.
#[derive(Default)]
pub(super) struct FunctionLabels {
    names: HashMap<i64, String>,
    places: HashMap<i64, FunctionPlace>,
}

impl FunctionLabels {
    /// Finds the places of the functions of a run whose names are not unique. `with_all` asks for those of all functions,
    /// unless they are very many.
    ///
    /// # Errors
    /// The database's.
    pub(super) fn of_run(
        database: &Database,
        run_id: i64,
        with_all: bool,
    ) -> Result<Self, StoreError> {
        let read = || -> rusqlite::Result<Self> {
            let connection = database.connection();
            let mut statement = connection.prepare(OF_FUNCTIONS)?;
            let mut rows = statement.query(named_params! {":run": run_id})?;
            let (mut hashes, mut count) = (HashSet::new(), 0);
            // Two names with one hash cost a look-up, and no mistake.
            let mut repeated = Vec::new();
            while let Some(row) = rows.next()? {
                let hash = hashes.hasher().hash_one(row.get_ref(1)?.as_bytes()?);
                if !hashes.insert(hash) {
                    repeated.push(row.get(0)?);
                }
                count += 1;
            }
            if with_all && count <= MAX_PLACES {
                let mut statement = connection.prepare(ALL_PLACES)?;
                let all =
                    statement.query_map(named_params! {":run": run_id}, PlacedFunction::read)?;
                return Ok(Self::new(all.collect::<rusqlite::Result<_>>()?));
            }
            Self::same_name(database, run_id, &repeated)
        };
        read().map_err(|source| failure(database, source))
    }

    /// Finds the places of some functions of a run, by their numbers.
    ///
    /// # Errors
    /// The database's.
    pub(super) fn of_functions(
        database: &Database,
        run_id: i64,
        functions: &[i64],
    ) -> Result<Self, StoreError> {
        Self::same_name(database, run_id, functions).map_err(|source| failure(database, source))
    }

    fn same_name(database: &Database, run_id: i64, functions: &[i64]) -> rusqlite::Result<Self> {
        let mut statement = database.connection().prepare_cached(SAME_NAME)?;
        let functions = listed(functions);
        let parameters = named_params! {":run": run_id, ":functions": functions};
        let all = statement.query_map(parameters, PlacedFunction::read)?;
        Ok(Self::new(all.collect::<rusqlite::Result<_>>()?))
    }

    fn new(mut functions: Vec<PlacedFunction>) -> Self {
        functions.sort_unstable_by(|one, other| {
            (&one.name, one.function_id).cmp(&(&other.name, other.function_id))
        });
        let mut labels = Self::default();
        for group in functions.chunk_by(|one, other| one.name == other.name) {
            let namesakes: Vec<Namesake<'_>> = group.iter().map(PlacedFunction::namesake).collect();
            for (function, place) in group.iter().zip(places(&namesakes)) {
                labels.places.insert(function.function_id, place);
            }
        }
        for function in functions {
            labels.names.insert(function.function_id, function.name);
        }
        labels
    }

    /// Returns the text that tells a function from others of its name, if there are any.
    pub(super) fn apart(&self, function: i64) -> Option<&str> {
        let place = self.places.get(&function).filter(|place| place.is_needed);
        place
            .map(|place| place.apart.as_str())
            .filter(|place| !place.is_empty())
    }

    /// Returns the shortened file and line of a function; where no file is known, the text that tells it apart.
    pub(super) fn full(&self, function: i64) -> Option<&str> {
        let place = self.places.get(&function)?;
        Some(place.full.as_str())
            .filter(|place| !place.is_empty())
            .or_else(|| self.apart(function))
    }

    /// Returns whether any function needs a place.
    pub(super) fn are_needed(&self) -> bool {
        self.places.values().any(|place| place.is_needed)
    }

    /// Returns the text of a path with the places of its functions, given from the root with their names. `None` if no
    /// function needs a place, or if the path does not consist of the last of these functions.
    pub(super) fn with_places(&self, path: &str, functions: &[(i64, String)]) -> Option<String> {
        let cut = path.strip_prefix(CUT);
        let rest = cut.unwrap_or(path);
        // A path that is cut begins with some function: the one from which the names fit to the end.
        let starts = if cut.is_some() { functions.len() } else { 1 };
        for start in 0..starts {
            let mut text = path[..path.len() - rest.len()].to_owned();
            if self.push_path(&mut text, rest, &functions[start..]) {
                return (text != path).then_some(text);
            }
        }
        None
    }

    /// Adds a path with the places of its functions; returns whether its names are theirs.
    fn push_path(&self, text: &mut String, path: &str, functions: &[(i64, String)]) -> bool {
        let mut rest = path;
        let next_names = functions.iter().skip(1).map(|(_, name)| Some(name));
        for ((function, name), next) in functions.iter().zip(next_names.chain([None])) {
            let Some(after) = rest.strip_prefix(name.as_str()) else {
                return false;
            };
            text.push_str(name);
            if let Some(place) = self.apart(*function) {
                text.extend([BEFORE_PLACE, place, ")"]);
            }
            let end = match next {
                Some(next) => after
                    .find(&format!("{STEP}{next}"))
                    .map(|at| at + STEP.len()),
                None => Some(after.len()).filter(|length| *length == 0),
            };
            let Some(end) = end else {
                return false;
            };
            text.push_str(&after[..end]);
            rest = &after[end..];
        }
        rest.is_empty()
    }

    /// Returns functions in the order of their names with places.
    pub(super) fn sorted(&self, functions: &[i64]) -> Vec<i64> {
        let mut sorted = functions.to_vec();
        sorted.sort_by_cached_key(|function| self.label(*function));
        sorted
    }

    /// Returns a function's name with its place if that is needed.
    pub(super) fn label(&self, function: i64) -> String {
        let name = self.names.get(&function).map_or("", String::as_str);
        match self.apart(function) {
            Some(place) => format!("{name} ({place})"),
            None => name.to_owned(),
        }
    }
}

/// Returns functions as the JSON array that statements take.
pub(super) fn listed(functions: &[i64]) -> String {
    let numbers: Vec<String> = functions.iter().map(ToString::to_string).collect();
    format!("[{}]", numbers.join(","))
}
