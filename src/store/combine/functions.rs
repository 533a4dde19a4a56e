//! Groups of functions of several runs that have one identity.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;
use rusqlite::Connection;

use super::part::{CombinedPart, SourceFailure};
use crate::events::FunctionDef;
use crate::store::walk::FunctionRow;

/// The functions of a run, with their identities.
const FUNCTIONS: &str =
    "SELECT f.function_id, f.kind, f.name, f.module, f.file, f.first_line, f.first_col, f.raw_name,
                                NULL, NULL, NULL, NULL, COALESCE(f.identity_id, -f.function_id)
                         FROM function_info AS i
                         CROSS JOIN functions AS f ON f.function_id = i.function_id
                         WHERE i.metric_id = ?1
                         ORDER BY f.function_id";

/// Groups of functions of several runs that are equal.
///
/// Functions with the same identity form a group, whatever their build or process. If one run contains all of them, the
/// runs are of the same build, and each function is a group: two functions with equal file and name at different lines.
pub(super) struct FunctionGroups {
    group_of: HashMap<i64, usize>,
    /// The function that gives each group its name and place.
    named_after: Vec<FunctionRow>,
}

impl FunctionGroups {
    /// Groups the functions of runs. A group has the name that its function has in the last run.
    pub(super) fn of(
        connection: &Connection,
        parts: &[CombinedPart],
    ) -> Result<Self, SourceFailure> {
        let mut functions = BTreeMap::new();
        let mut identities: BTreeMap<i64, Vec<BTreeSet<i64>>> = BTreeMap::new();
        let mut statement = connection.prepare(FUNCTIONS)?;
        for part in parts {
            let mut of_run: BTreeMap<i64, BTreeSet<i64>> = BTreeMap::new();
            let mut rows = statement.query([part.usual])?;
            while let Some(row) = rows.next()? {
                let function = FunctionRow::read(row)?;
                of_run
                    .entry(row.get(12)?)
                    .or_default()
                    .insert(function.function_id);
                functions.insert(function.function_id, function);
            }
            for (identity, members) in of_run {
                identities.entry(identity).or_default().push(members);
            }
        }
        let mut groups = Self {
            group_of: HashMap::new(),
            named_after: Vec::new(),
        };
        for of_runs in identities.into_values() {
            let all: BTreeSet<i64> = of_runs.iter().flatten().copied().collect();
            let is_one_build = of_runs.contains(&all);
            let last = of_runs.last().and_then(BTreeSet::first).copied();
            for function in &all {
                if is_one_build || Some(*function) == last {
                    groups.named_after.extend(functions.remove(function));
                }
            }
            let first = groups.named_after.len() - if is_one_build { all.len() } else { 1 };
            for (at, function) in all.into_iter().enumerate() {
                let group = if is_one_build { first + at } else { first };
                groups.group_of.insert(function, group);
            }
        }
        Ok(groups)
    }

    /// Returns the group of a function.
    pub(super) fn group(&self, function_id: i64) -> Result<usize, SourceFailure> {
        let group = self.group_of.get(&function_id).copied();
        Ok(group.ok_or(rusqlite::Error::QueryReturnedNoRows)?)
    }

    /// Returns the definition of each group, in their order.
    pub(super) fn definitions(&self) -> impl Iterator<Item = FunctionDef<'_>> {
        self.named_after.iter().map(|row| FunctionDef {
            kind: row.kind,
            name: &row.name,
            raw_name: row.raw_name.as_deref().unwrap_or_default(),
            module: &row.module,
            file: &row.file,
            first_line: u32::try_from(row.place.0).unwrap_or(0),
            first_col: u32::try_from(row.place.1).unwrap_or(0),
        })
    }
}
