//! Folders and modules that are one though some runs of a sequence have them under other names: the checkout moved in the middle of a
//! history, or a side of a comparison is of two build machines.
//!
//! The runs are passed from the newest to the oldest. Where functions lie in a folder that no newer run has, the runs that have it
//! are base, all newer ones are new, and the vote of two sides ([`super::pairs`]) decides. What is one has the name of the
//! newest run.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::{HashMap, HashSet};

use super::items::Item;
use super::judge::Noise;
use super::matched::Matched;
use super::pairs::{self, Between, Folders, Within};
use super::table::Table;

/// Runs that are base together, the newest ones that have a folder: more would say the same.
const MOST_RUNS: usize = 50;

/// A function of a sequence.
#[derive(Clone, Copy, Debug)]
pub struct Thing<'t> {
    /// Name, module and file.
    pub names: &'t [String; 3],
    /// Whether the function has a name; one without a name stands for all nameless code of a module.
    pub is_named: bool,
    /// The newest run in which it has a cost, counted from the newest one; `None` if it has none anywhere.
    pub newest: Option<usize>,
}

/// Which functions of a sequence are one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct United {
    /// For each function: where the one is that has its cost from now on. It is itself, or its own.
    pub of: Vec<usize>,
    /// The folders and modules that made them one.
    pub folders: Vec<Folders>,
}

/// Calls a function with each function that has a cost in a run, and that cost. Runs are counted from the newest one.
pub type EachCost<'c> = &'c dyn Fn(usize, &mut dyn FnMut(usize, f64));

/// Finds the functions that are one because the folder or module that they lie in has another name in some runs.
#[must_use]
pub fn united(things: &[Thing<'_>], runs: usize, each: EachCost<'_>, noise: Noise) -> United {
    let mut united = United {
        of: (0..things.len()).collect(),
        folders: Vec::new(),
    };
    // Most series have all that they have in the newest run.
    if things.iter().all(|thing| thing.newest.unwrap_or(0) == 0) {
        return united;
    }
    let places = Locations::of(things);
    let strangers = places.strangers(things);
    if strangers.is_empty() {
        return united;
    }
    let runs_of_places = places.runs(&strangers, runs, each);
    let mut newer = Newer {
        costs: vec![0.0; things.len()],
        runs: 0,
    };
    for (run, strangers) in &strangers {
        let is_open = |thing: &&usize| {
            united.of[**thing] == **thing && !is_below_any(things[**thing].names, &united.folders)
        };
        let open = strangers.iter().filter(is_open);
        let base: BTreeSet<usize> = open
            .flat_map(|thing| places.of_thing[*thing])
            .filter_map(|place| runs_of_places.get(&place))
            .filter(|runs| runs.first() == Some(run))
            .flat_map(|runs| runs.iter().copied().take(MOST_RUNS))
            .collect();
        if base.is_empty() {
            continue;
        }
        newer.pass(*run, each, &united.of);
        let base: Vec<usize> = base.into_iter().take(MOST_RUNS).collect();
        vote(things, &base, &newer.costs, each, noise, &mut united);
    }
    let rest = those_below(things, &mut united);
    united.add(&rest);
    // What is one with another one may be one with a third.
    for thing in 0..united.of.len() {
        united.of[thing] = united.of[united.of[thing]];
    }
    united
}

impl United {
    /// Notes what is one with what.
    fn add(&mut self, found: &[(usize, usize)]) {
        for (old, new) in found {
            self.of[*old] = *new;
        }
    }

    /// The functions that are another one from now on, each with that.
    pub(super) fn pairs(&self) -> Vec<(usize, usize)> {
        let all = self.of.iter().enumerate();
        all.filter(|(thing, of)| thing != *of)
            .map(|(thing, of)| (thing, *of))
            .collect()
    }
}

/// Makes one of the rows of a comparison of which a side has several names in its runs. Rows that both sides have in one place each
/// are pairs already.
pub(super) fn by_sequence(table: &mut Table, noise: Noise) -> Vec<Folders> {
    let [base, new] = &table.columns;
    // From the newest run to the oldest.
    let columns: Vec<_> = new.iter().chain(base).chain(&table.history).collect();
    let things: Vec<Thing<'_>> = table
        .items
        .iter()
        .enumerate()
        .map(|(at, item)| Thing {
            names: &item.names,
            is_named: item.is_named,
            newest: columns.iter().position(|column| column.costs[at] != 0.0),
        })
        .collect();
    let each = |run: usize, call: &mut dyn FnMut(usize, f64)| {
        for (at, cost) in columns[run].costs.iter().enumerate() {
            if *cost != 0.0 {
                call(at, *cost);
            }
        }
    };
    let found = united(&things, columns.len(), &each, noise);
    join(table, &found.pairs());
    found.folders
}

/// Makes one of rows that are one. Those whose files are one lie in a module of another name.
fn join(table: &mut Table, pairs: &[(usize, usize)]) {
    let names = |row: usize| &table.items[row].names;
    let of_modules = pairs
        .iter()
        .filter(|(old, new)| names(*old)[2] == names(*new)[2]);
    let of_modules: HashSet<[String; 3]> = of_modules.map(|(_, new)| names(*new).clone()).collect();
    table.join(pairs, Matched::Folder);
    for item in &mut table.items {
        if of_modules.contains(&item.names) {
            item.matched = Matched::Module;
        }
    }
}

/// Makes one of the rows of which the folders or modules are known to be one, whatever sides have them.
pub(super) fn by_known(table: &mut Table, folders: &[Folders]) {
    if folders.is_empty() {
        return;
    }
    let things: Vec<Thing<'_>> = table
        .items
        .iter()
        .map(|item| Thing {
            names: &item.names,
            is_named: item.is_named,
            newest: Some(0),
        })
        .collect();
    let mut united = United {
        of: (0..things.len()).collect(),
        folders: folders.to_vec(),
    };
    let found = those_below(&things, &mut united);
    join(table, &found);
}

/// The name of a module or file as the newest run has it, by folders and modules that are one.
#[must_use]
pub fn newest_name(part: Within, name: &str, folders: &[Folders]) -> String {
    let renamed = |name: &str, between: Between| {
        let folders = folders.iter().filter(|one| one.between == between);
        match part {
            Within::Folder => pairs::moved(name, folders),
            Within::Module => pairs::renamed_module(name, folders).to_owned(),
        }
    };
    // What new calls it may be the name of a run before the newest.
    renamed(&renamed(name, Between::Sides), Between::Runs)
}

/// What lies in it: a folder of source files, or a module, by its number.
type Place = (bool, usize);

/// The folders and modules of functions.
struct Locations<'t> {
    /// Folder and module of each function; none where it has no name.
    of_thing: Vec<[Place; 2]>,
    /// The newest run that has each.
    newest: HashMap<Place, usize>,
    /// How many functions have one name in a file of one name, and in one file.
    alike: HashMap<(bool, &'t str, &'t str), usize>,
}

/// The number of no folder or module.
const NOWHERE: usize = usize::MAX;

impl<'t> Locations<'t> {
    fn of(things: &[Thing<'t>]) -> Self {
        let mut numbers: HashMap<(bool, &str), usize> = HashMap::new();
        let mut places = Self {
            of_thing: Vec::with_capacity(things.len()),
            newest: HashMap::new(),
            alike: HashMap::new(),
        };
        for thing in things {
            let [_, module, file] = thing.names;
            let folder = Some(folder(file)).filter(|_| !file.is_empty());
            let module = Some(module.as_str()).filter(|module| !module.is_empty());
            let of = [(false, folder), (true, module)].map(|(is_module, name)| {
                let number = name.map(|name| {
                    let next = numbers.len();
                    *numbers.entry((is_module, name)).or_insert(next)
                });
                (is_module, number.unwrap_or(NOWHERE))
            });
            places.of_thing.push(of);
            let Some(newest) = thing.newest else { continue };
            for place in of {
                let known = places.newest.entry(place).or_insert(newest);
                *known = newest.min(*known);
            }
            for is_module in [false, true] {
                *places.alike.entry(alike(thing, is_module)).or_default() += 1;
            }
        }
        places
    }

    /// The functions that lie in a folder or module which no newer run has, while another function may be the same: by the newest
    /// run that has them.
    fn strangers(&self, things: &[Thing<'t>]) -> BTreeMap<usize, Vec<usize>> {
        let mut strangers: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, thing) in things.iter().enumerate() {
            let Some(run) = thing.newest.filter(|run| *run > 0 && thing.is_named) else {
                continue;
            };
            let is_strange = |place: &Place| {
                place.1 != NOWHERE
                    && self.newest.get(place) == Some(&run)
                    && self.alike.get(&alike(thing, place.0)) > Some(&1)
            };
            if self.of_thing[at].iter().any(is_strange) {
                strangers.entry(run).or_default().push(at);
            }
        }
        strangers
    }

    /// The runs that have the places of strangers, the newest first.
    fn runs(
        &self,
        strangers: &BTreeMap<usize, Vec<usize>>,
        runs: usize,
        each: EachCost<'_>,
    ) -> HashMap<Place, Vec<usize>> {
        let wanted: HashSet<Place> = strangers
            .values()
            .flatten()
            .flat_map(|thing| self.of_thing[*thing])
            .filter(|place| place.1 != NOWHERE)
            .collect();
        let mut found: HashMap<Place, Vec<usize>> = HashMap::new();
        for run in 0..runs {
            each(run, &mut |thing, _| {
                for place in self.of_thing[thing] {
                    if wanted.contains(&place) {
                        let runs = found.entry(place).or_default();
                        if runs.last() != Some(&run) {
                            runs.push(run);
                        }
                    }
                }
            });
        }
        found
    }
}

/// What functions of one name are compared by: the file without its folder, or the whole file, whatever the module.
fn alike<'t>(thing: &Thing<'t>, is_module: bool) -> (bool, &'t str, &'t str) {
    let [name, _, file] = thing.names;
    let file = if is_module {
        file
    } else {
        pairs::basename(file)
    };
    (is_module, name, file)
}

/// The folder of a file; empty for one of no folder.
fn folder(file: &str) -> &str {
    file.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// What all newer runs cost.
struct Newer {
    /// By the function that has the cost.
    costs: Vec<f64>,
    /// How many of the runs.
    runs: usize,
}

impl Newer {
    /// Adds all runs before one.
    fn pass(&mut self, run: usize, each: EachCost<'_>, of: &[usize]) {
        for run in self.runs..run {
            each(run, &mut |thing, cost| self.costs[of[thing]] += cost);
        }
        self.runs = run.max(self.runs);
    }
}

/// Has some runs and all newer ones vote.
fn vote(
    things: &[Thing<'_>],
    base: &[usize],
    newer: &[f64],
    each: EachCost<'_>,
    noise: Noise,
    united: &mut United,
) {
    let mut of_base: BTreeMap<usize, f64> = BTreeMap::new();
    for run in base {
        each(*run, &mut |thing, cost| {
            *of_base.entry(united.of[thing]).or_default() += cost;
        });
    }
    let is_in = |thing: &usize| newer[*thing] != 0.0 || of_base.contains_key(thing);
    let rows: Vec<usize> = (0..things.len()).filter(is_in).collect();
    let costs = |of: &dyn Fn(usize) -> f64| rows.iter().map(|thing| of(*thing)).collect();
    // What newer runs have under the old name of a folder alone has the new one: a third name is one with the newest.
    let item_of = |thing: &usize| {
        let mut item = item(&things[*thing]);
        if newer[*thing] != 0.0 {
            let [_, module, file] = &mut item.names;
            *file = pairs::moved(file, &united.folders);
            *module = pairs::renamed_module(module, &united.folders).to_owned();
        }
        item
    };
    let mut table = Table::of_costs(
        rows.iter().map(item_of).collect(),
        [
            costs(&|thing| of_base.get(&thing).copied().unwrap_or(0.0)),
            costs(&|thing| newer[thing]),
        ],
    );
    let least = pairs::least_part(noise);
    let mut folders = pairs::by_modules(&mut table, least);
    folders.extend(pairs::by_folders(&mut table, least));
    if folders.is_empty() {
        return;
    }
    let found = joined(&table, &rows, |thing| newer[thing] != 0.0);
    united.add(&found);
    for one in folders {
        let of_runs = Folders {
            between: Between::Runs,
            ..one
        };
        of_runs.note(&mut united.folders, |known, more| known + more);
    }
}

/// What was made one of the things in the rows of a table: each with the one that is kept.
fn joined(table: &Table, rows: &[usize], is_kept: impl Fn(usize) -> bool) -> Vec<(usize, usize)> {
    let (kept, others): (Vec<_>, Vec<_>) = rows
        .iter()
        .enumerate()
        .partition(|(_, thing)| is_kept(**thing));
    let kept: HashMap<usize, usize> = kept
        .into_iter()
        .filter_map(|(at, thing)| Some((table.row(at)?, *thing)))
        .collect();
    let others = others.into_iter();
    others
        .filter_map(|(at, thing)| Some((*thing, *kept.get(&table.row(at)?)?)))
        .collect()
}

/// Whether a function lies below a folder, or in a module, that is taken for another one.
fn is_below_any([_, module, file]: &[String; 3], folders: &[Folders]) -> bool {
    pairs::renamed_module(module, folders) != module || pairs::moved(file, folders) != *file
}

/// What lies in folders and modules that are known to be another one, and had no vote, as it was in other runs or cost nothing: with
/// what it is. The folders count it.
fn those_below(things: &[Thing<'_>], united: &mut United) -> Vec<(usize, usize)> {
    if united.folders.is_empty() {
        return Vec::new();
    }
    let is_open = |thing: &usize| united.of[*thing] == *thing;
    let (old, others): (Vec<usize>, Vec<usize>) = (0..things.len())
        .filter(is_open)
        .partition(|thing| is_below_any(things[*thing].names, &united.folders));
    let mut found: Vec<(usize, usize)> = Vec::new();
    let mut open: BTreeSet<usize> = old.into_iter().collect();
    for folders in &mut united.folders {
        let is_in =
            |thing: &&usize| is_below_any(things[**thing].names, std::slice::from_ref(folders));
        let old: Vec<usize> = open.iter().filter(is_in).copied().collect();
        if old.is_empty() {
            continue;
        }
        let names: HashSet<&str> = old
            .iter()
            .map(|thing| things[*thing].names[0].as_str())
            .collect();
        let mut rows = old.clone();
        // The name of a file or module that is a row by itself is its place.
        rows.extend(others.iter().filter(|thing| {
            let [name, module, file] = things[**thing].names;
            name == file || name == module || names.contains(name.as_str())
        }));
        // Each has a table of its own: what one folder has made a pair is there for the next one.
        let side = |is_old: bool| -> Vec<f64> {
            (0..rows.len())
                .map(|at| if (at < old.len()) == is_old { 1.0 } else { 0.0 })
                .collect()
        };
        let mut table = Table::of_costs(
            rows.iter().map(|thing| item(&things[*thing])).collect(),
            [side(true), side(false)],
        );
        folders.functions += pairs::by_one(&mut table, folders);
        let pairs = joined(&table, &rows, |thing| !open.contains(&thing));
        for (thing, _) in &pairs {
            open.remove(thing);
        }
        found.extend(pairs);
    }
    found
}

fn item(thing: &Thing<'_>) -> Item {
    Item {
        names: thing.names.clone(),
        is_named: thing.is_named,
        matched: Matched::Identity,
        is_asked: false,
    }
}
