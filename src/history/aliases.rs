//! Functions of a series that are one though their sources lie in another folder in some runs, or their program has another name.

use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;

use super::reading::{AllFigures, Measured, all_figures, literal};
use crate::compare::{Folders, Thing, Within, newest_name, said_of_folders, united};
use crate::events::Noise;
use crate::store::{Database, Fitting, StoreError};

/// What a row is: the number of an identity, where it is one, and its name, module and file.
pub(super) type Key = (Option<i64>, [String; 3]);

/// Name, module and file of functions by their names.
pub(super) type Namesakes = BTreeMap<String, BTreeSet<[String; 3]>>;

/// Which identities of a series are one.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Aliases {
    /// Identities that are another one, with that.
    of: HashMap<i64, (i64, [String; 3])>,
    /// The folders and modules that make them one.
    pub(super) folders: Vec<Folders>,
}

impl Aliases {
    /// Finds them by all figures of a series of so many runs.
    pub(super) fn of(figures: &AllFigures, runs: usize, noise: Noise) -> Self {
        let from_newest = |run: u32| (runs - 1).saturating_sub(usize::try_from(run).unwrap_or(0));
        let things: Vec<Thing<'_>> = figures
            .identities
            .iter()
            .map(|identity| {
                let mut costs = identity.exclusive.iter().rev();
                let newest = costs.find(|(_, cost)| *cost != 0.0);
                Thing {
                    names: &identity.names,
                    is_named: !identity.is_unnamed,
                    newest: newest.map(|(run, _)| from_newest(*run)),
                }
            })
            .collect();
        // Most series never ask for it.
        let by_run: OnceCell<Vec<Vec<(usize, f64)>>> = OnceCell::new();
        let each = |run: usize, call: &mut dyn FnMut(usize, f64)| {
            let by_run = by_run.get_or_init(|| {
                let mut by_run = vec![Vec::new(); runs];
                for (at, identity) in figures.identities.iter().enumerate() {
                    for (run, cost) in identity.exclusive.iter().filter(|(_, cost)| *cost != 0.0) {
                        by_run[from_newest(*run)].push((at, *cost));
                    }
                }
                by_run
            });
            for (thing, cost) in &by_run[run] {
                call(*thing, *cost);
            }
        };
        let found = united(&things, runs, &each, noise);
        let others = found.of.iter().enumerate();
        let of = others
            .filter(|(at, of)| at != *of)
            .map(|(at, of)| {
                let (old, new) = (&figures.identities[at], &figures.identities[*of]);
                (old.identity_id, (new.identity_id, new.names.clone()))
            })
            .collect();
        Self {
            of,
            folders: found.folders,
        }
    }

    /// Those of which only folders and modules are known.
    pub(super) fn of_folders(folders: Vec<Folders>) -> Self {
        Self {
            of: HashMap::new(),
            folders,
        }
    }

    /// Finds them by what the database says of a series.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(super) fn read(database: &Database, measured: &Measured) -> Result<Self, StoreError> {
        let figures = all_figures(database, &measured.metrics())?;
        Ok(Self::of(&figures, measured.runs.len(), measured.noise()))
    }

    /// Returns modules and files of the functions of a series that have one of some names, as the newest runs have them.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(super) fn namesakes<'n>(
        &self,
        database: &Database,
        measured: &Measured,
        names: impl Iterator<Item = &'n str>,
    ) -> Result<Namesakes, StoreError> {
        let mut found: Namesakes = names
            .map(|name| (name.to_owned(), BTreeSet::new()))
            .collect();
        let pattern = match found.keys().next() {
            Some(name) if found.len() == 1 => literal(name),
            None => return Ok(found),
            _ => "*".to_owned(),
        };
        let by = Fitting::Function;
        for function in database.fitting_functions(by, &pattern, Some(&measured.run_ids()))? {
            let (_, names) = self.key(by, function.identity_id, &function.names);
            if let Some(known) = found.get_mut(&names[0]) {
                known.insert(names);
            }
        }
        Ok(found)
    }

    /// The number of the identity that one is.
    pub(super) fn identity(&self, identity: i64) -> i64 {
        self.of.get(&identity).map_or(identity, |(one, _)| *one)
    }

    /// The row that an identity belongs to.
    pub(super) fn key(&self, by: Fitting, identity: i64, names: &[String; 3]) -> Key {
        let one = self.of.get(&identity);
        let names = one.map_or(names, |(_, names)| names);
        // What is known of a folder holds of functions as well that no newer run has.
        let newest = |part: Within, name: &str| newest_name(part, name, &self.folders);
        let [_, module, file] = names;
        match by {
            Fitting::Function => (Some(self.identity(identity)), names.clone()),
            Fitting::Module => {
                let module = newest(Within::Module, module);
                (None, [String::new(), module, String::new()])
            }
            Fitting::File => {
                let file = newest(Within::Folder, file);
                (None, [String::new(), String::new(), file])
            }
        }
    }
}

/// Folders that are named to people, those with most functions first: each build may have had its own.
const MOST_NAMED: usize = 5;

/// Folders and modules that are one, as it is said.
pub(super) fn lines(folders: &[Folders]) -> Vec<String> {
    let mut most: Vec<&Folders> = folders.iter().collect();
    most.sort_by_key(|folders| Reverse(folders.functions));
    most.truncate(MOST_NAMED);
    let named: Vec<Folders> = most.into_iter().cloned().collect();
    let mut lines = said_of_folders(&named);
    let more = folders.len().saturating_sub(MOST_NAMED);
    if more > 0 {
        lines.push(format!(
            "and {more} more that match (--format json lists all)"
        ));
    }
    lines
}

/// Of some rows: whether any of them may be another one, too, that lies elsewhere in some runs. Each comes with whether some run
/// does not have it.
pub(super) fn may_be_one<'k>(
    by: Fitting,
    rows: impl Iterator<Item = (&'k [String; 3], bool)>,
) -> bool {
    let mut lacking = rows.filter(|(_, lacks)| *lacks).map(|(names, _)| names);
    match by {
        Fitting::Function => {
            let mut names = BTreeSet::new();
            lacking.any(|[name, ..]| !names.insert(name))
        }
        Fitting::Module | Fitting::File => lacking.next().is_some(),
    }
}
