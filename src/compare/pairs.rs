//! Pairs of functions that identity alone does not find: the sources lie in another folder, the program has another name, or only
//! the name of the function is left.
//!
//! A pair by the end of a path is chance where nothing has moved: of functions of common names that one of two samplings of
//! the same program had missed, all such pairs were wrong. So a folder is taken for another one only for the comparison as a
//! whole, and only where nothing speaks against it (docs/comparing.md has the rates).

use std::collections::BTreeMap;

use hashbrown::{HashMap, HashSet};

use super::items::Item;
use super::judge::Noise;
use super::matched::Matched;
use super::modules::{Modules, Renamed};
use super::table::Table;

/// Functions that must agree on a pair of folders.
const FEWEST: usize = 5;

/// The part of the cost of one of the two folders that they must have.
const PART: f64 = 0.6;

/// The part of the cost of both sides that fewer functions must have: nothing of that size is missing on one side by chance, whose
/// name is on the other.
const LARGE: f64 = 0.05;

/// That which they must have where nothing is missing by chance: what is smaller has no verdict.
const SMALL: f64 = 0.001;

/// The part that a single function must have.
const MOST: f64 = 0.5;

/// Pairs of files with one name that are looked at for one name of a function: common names in common files would be compared
/// each with each, and tell nothing.
pub(super) const MOST_CANDIDATES: usize = 4096;

/// Pairs of folders that are looked at, those with most votes first.
const MOST_ELECTED: usize = 50;

/// What functions lie in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Within {
    /// A folder of source files.
    Folder,
    /// A program or library, by its name.
    Module,
}

/// Whose the two names of a folder or module are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Between {
    /// Base has the one, and new the other.
    Sides,
    /// Some runs have the one, others the other, whatever their side.
    Runs,
}

/// A folder or module of base, and the one of new that it is taken for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folders {
    /// Which of the two.
    pub part: Within,
    /// Whose they are. What follows says base and new of older and newer runs as well.
    pub between: Between,
    /// That of base; empty for the folder of relative paths.
    pub base: String,
    /// That of new.
    pub new: String,
    /// Functions that it made pairs.
    pub functions: usize,
}

impl Folders {
    /// Adds folders or modules to those that are known, or has `again` change the number of functions of those that are there.
    pub(crate) fn note(self, known: &mut Vec<Self>, again: impl FnOnce(usize, usize) -> usize) {
        let is_it =
            |one: &&mut Self| (one.part, &one.base, &one.new) == (self.part, &self.base, &self.new);
        match known.iter_mut().find(is_it) {
            Some(one) => one.functions = again(one.functions, self.functions),
            None => known.push(self),
        }
    }
}

/// Pairs rows of which the folders or modules are known to be one: functions, or files and modules themselves.
pub(super) fn by_known(table: &mut Table, folders: &[Folders]) {
    for Folders {
        part, base, new, ..
    } in folders
    {
        joined(table, *part, base, new, None);
    }
}

/// Pairs rows of two folders or modules that are known to be one, and says how many.
pub(super) fn by_one(table: &mut Table, folders: &Folders) -> usize {
    joined(table, folders.part, &folders.base, &folders.new, None).functions
}

/// Pairs functions whose sources lie in folders that all evidence says are one, and those of the modules that so are one.
pub(super) fn by_folders(table: &mut Table, least: f64) -> Vec<Folders> {
    let mut modules = None;
    let mut found = Vec::new();
    while let Some((base, new)) = elected(table, &found, least) {
        let modules = modules.get_or_insert_with(|| Modules::of(table));
        let noted = Some((modules, found.len()));
        found.push(joined(table, Within::Folder, &base, &new, noted));
    }
    match modules {
        Some(modules) => with_modules(table, found, &modules),
        None => found,
    }
}

/// Folders that are one, and the modules that are one because their functions are, of which the rest of the functions is paired.
pub(super) fn with_modules(
    table: &mut Table,
    mut folders: Vec<Folders>,
    modules: &Modules,
) -> Vec<Folders> {
    let mut found = Vec::new();
    for Renamed { names, functions } in modules.renamed() {
        let [base, new] = names;
        let mut one = joined(table, Within::Module, &base, &new, None);
        for (at, functions) in functions {
            one.functions += functions;
            // A folder that has its own name is said for what it is: modules of other names.
            if folders[at].base == folders[at].new {
                folders[at].functions -= functions;
            }
        }
        found.push(one);
    }
    folders.retain(|one| one.base != one.new || one.functions > 0);
    folders.extend(found);
    folders
}

/// Pairs functions of programs and libraries of which all evidence says that they are one under two names: `old.test` and
/// `new.test`.
pub(super) fn by_modules(table: &mut Table, least: f64) -> Vec<Folders> {
    let mut found = Vec::new();
    while let Some((base, new)) = elected_modules(table, &found, least) {
        found.push(joined(table, Within::Module, &base, &new, None));
    }
    found
}

/// The part of the cost that fewer functions than usual must have to make a pair. What is counted completely is missing nowhere by
/// chance.
pub(super) fn least_part(noise: Noise) -> f64 {
    if noise == Noise::Exact { SMALL } else { LARGE }
}

/// Pairs functions of two folders or modules that are one: those which only one side has a cost of, then those that cost nothing
/// there and only call others. The latter have no vote, but trees fall apart where a caller is two.
///
/// The modules of folders are noted with the number of the folders.
pub(super) fn joined(
    table: &mut Table,
    part: Within,
    base: &str,
    new: &str,
    noted: Option<(&mut Modules, usize)>,
) -> Folders {
    let (pairs_of, matched): (PairsOf, _) = match part {
        Within::Folder => (pairs_of, Matched::Folder),
        Within::Module => (pairs_of_modules, Matched::Module),
    };
    let mut pairs = pairs_of(table, &unmatched(table), base, new);
    let mut rest = followers(table);
    let taken = [0, 1].map(|side: usize| -> HashSet<usize> {
        let of_side = pairs.iter().map(|(base, new)| [*base, *new][side]);
        of_side.collect()
    });
    for (rest, taken) in rest.iter_mut().zip(&taken) {
        rest.retain(|item| !taken.contains(item));
    }
    pairs.extend(pairs_of(table, &rest, base, new));
    if let Some((modules, folders)) = noted {
        modules.note(table, folders, &pairs);
    }
    table.join(&pairs, matched);
    Folders {
        part,
        between: Between::Sides,
        base: base.to_owned(),
        new: new.to_owned(),
        functions: pairs.len(),
    }
}

/// Finds pairs among some items of base and some of new, by two folders or modules.
type PairsOf = fn(&Table, &[Vec<usize>; 2], &str, &str) -> Vec<(usize, usize)>;

/// Pairs functions of one name, which nothing else in any run has. `is_absent` says whether a row is known to have no cost on
/// one side: 0 for base, 1 for new.
pub(super) fn by_names(table: &mut Table, is_absent: impl Fn(usize, usize) -> bool) -> usize {
    let mut pairs = of_one_name(table);
    pairs.retain(|(base, new)| is_absent(1, *base) && is_absent(0, *new));
    table.join(&pairs, Matched::Name);
    pairs.len()
}

/// Functions of base and of new that have one name, which nothing else in any run has.
pub(super) fn of_one_name(table: &Table) -> Vec<(usize, usize)> {
    let mut of_name: HashMap<&str, Vec<usize>> = HashMap::new();
    for (item, known) in table
        .items
        .iter()
        .enumerate()
        .filter(|(_, item)| item.is_named)
    {
        of_name.entry(&known.names[0]).or_default().push(item);
    }
    let is_only = |side: usize, item: usize| {
        table.cost(side, item) != 0.0 && table.cost(1 - side, item) == 0.0
    };
    let mut pairs: Vec<(usize, usize)> = of_name
        .values()
        .filter_map(|items| match **items {
            [one, other] if is_only(0, one) && is_only(1, other) => Some((one, other)),
            [one, other] if is_only(1, one) && is_only(0, other) => Some((other, one)),
            _ => None,
        })
        .collect();
    pairs.sort_unstable();
    pairs
}

/// Items of which only one side has any cost, and which are no pair: those of base, and those of new.
pub(super) fn unmatched(table: &Table) -> [Vec<usize>; 2] {
    let costs = table.side_costs();
    let only = |side: usize| {
        let is_alone = |item: &usize| {
            let Item {
                is_named, matched, ..
            } = table.items[*item];
            is_named
                && matched == Matched::Identity
                && costs[side][*item] != 0.0
                && costs[1 - side][*item] == 0.0
        };
        (0..table.items.len()).filter(is_alone).collect()
    };
    [only(0), only(1)]
}

/// Items that are one with others where their folders or modules are: those of which only one side has any cost, as well as those
/// which it mentions alone, though they cost nothing there, and nameless code.
fn followers(table: &Table) -> [Vec<usize>; 2] {
    let costs = table.side_costs();
    let mentioned = table.mentioned();
    let only = |side: usize| {
        let is_alone = |item: &usize| {
            let has_cost = |side: usize| costs[side][*item] != 0.0;
            table.items[*item].matched == Matched::Identity
                && mentioned[side][*item]
                && !has_cost(1 - side)
                && (has_cost(side) || !mentioned[1 - side][*item])
        };
        (0..table.items.len()).filter(is_alone).collect()
    };
    [only(0), only(1)]
}

/// The file of an item.
fn file(table: &Table, item: usize) -> &str {
    &table.items[item].names[2]
}

/// What is left of two paths before the part that they have in common at their ends, which is whole names.
pub(super) fn heads<'p>(base: &'p str, new: &'p str) -> (&'p str, &'p str) {
    let (mut left, mut right) = (base, new);
    loop {
        let (one, name) = left.rsplit_once('/').unwrap_or(("", left));
        let (other, its_name) = right.rsplit_once('/').unwrap_or(("", right));
        if name != its_name || left.is_empty() || right.is_empty() {
            return (left, right);
        }
        // The root of an absolute path is a folder, too.
        let head = |head: &'p str, whole: &'p str| {
            if head.is_empty() && whole.starts_with('/') {
                "/"
            } else {
                head
            }
        };
        let (one, other) = (head(one, left), head(other, right));
        if one == left || other == right {
            return (left, right);
        }
        (left, right) = (one, other);
        if left.is_empty() || right.is_empty() || left == "/" || right == "/" {
            return (left, right);
        }
    }
}

/// What a path has below a folder. The folder without a name holds all relative paths.
pub(super) fn below<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    match folder {
        "" => Some(path).filter(|path| !path.starts_with('/')),
        "/" => path.strip_prefix('/'),
        folder => path.strip_prefix(folder)?.strip_prefix('/'),
    }
}

/// A module of base as new has it, by modules that are one.
pub(super) fn renamed_module<'m>(
    module: &'m str,
    folders: impl IntoIterator<Item = &'m Folders>,
) -> &'m str {
    let mut modules = folders.into_iter().filter(|one| one.part == Within::Module);
    let found = modules.find(|one| one.base == module);
    found.map_or(module, |one| &one.new)
}

/// A path of base as new has it, by folders that are one. What has no file lies in no folder.
pub(super) fn moved<'f>(path: &str, folders: impl IntoIterator<Item = &'f Folders>) -> String {
    let found = folders
        .into_iter()
        .filter(|one| one.part == Within::Folder && !path.is_empty())
        // A folder of new may lie within that of base: what is in there is new's already.
        .filter(|one| below(&one.new, &one.base).is_none() || below(path, &one.new).is_none())
        .find_map(|Folders { base, new, .. }| Some((new, below(path, base)?)));
    match found {
        None => path.to_owned(),
        Some((new, rest)) if new.is_empty() || new.ends_with('/') => format!("{new}{rest}"),
        Some((new, rest)) => format!("{new}/{rest}"),
    }
}

/// The pairs that two folders make: functions of one name, at one path below them.
fn pairs_of(
    table: &Table,
    [only_base, only_new]: &[Vec<usize>; 2],
    base: &str,
    new: &str,
) -> Vec<(usize, usize)> {
    // The name of a file is its path.
    let name = |item: usize| -> &str {
        let [name, _, file] = &table.items[item].names;
        if name == file { "" } else { name }
    };
    let mut places: HashMap<(&str, &str), Vec<usize>> = HashMap::new();
    for item in only_new.iter().copied() {
        if let Some(rest) = below(file(table, item), new) {
            places.entry((name(item), rest)).or_default().push(item);
        }
    }
    let mut pairs = Vec::new();
    for item in only_base.iter().copied() {
        let Some(rest) = below(file(table, item), base) else {
            continue;
        };
        let Some(found) = places.get_mut(&(name(item), rest)) else {
            continue;
        };
        // Functions of one name in one file are told apart by their modules.
        let module = &table.items[item].names[1];
        let same = found
            .iter()
            .position(|other| table.items[*other].names[1] == *module);
        let at = same.or((found.len() == 1).then_some(0));
        if let Some(at) = at {
            pairs.push((item, found.swap_remove(at)));
        }
    }
    pairs
}

/// The pairs that two modules make: functions of one name and file.
fn pairs_of_modules(
    table: &Table,
    only: &[Vec<usize>; 2],
    base: &str,
    new: &str,
) -> Vec<(usize, usize)> {
    let [of_base, of_new] = [(0, base), (1, new)].map(|(side, module): (usize, &str)| {
        let items = only[side].iter().copied();
        items.filter(move |item| table.items[*item].names[1] == module)
    });
    // The name of a module itself is its own.
    let rest = |item: usize| -> (&str, &str) {
        let [name, module, file] = &table.items[item].names;
        (if name == module { "" } else { name }, file)
    };
    let mut places: HashMap<(&str, &str), usize> = HashMap::new();
    for item in of_new {
        places.insert(rest(item), item);
    }
    of_base
        .filter_map(|item| Some((item, places.remove(&rest(item))?)))
        .collect()
}

/// The last name of a path.
pub(super) fn basename(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// The pair of folders that most functions speak for, of those that enough speak for and nothing against.
fn elected(table: &Table, known: &[Folders], least: f64) -> Option<(String, String)> {
    let [only_base, only_new] = unmatched(table);
    let mut of_name: HashMap<(&str, &str), Vec<usize>> = HashMap::new();
    for item in only_new
        .iter()
        .filter(|item| !file(table, **item).is_empty())
    {
        let path = file(table, *item);
        of_name
            .entry((&table.items[*item].names[0], basename(path)))
            .or_default()
            .push(*item);
    }
    let mut asked: HashMap<(&str, &str), usize> = HashMap::new();
    let mut votes = Votes::default();
    for item in only_base
        .iter()
        .filter(|item| !file(table, **item).is_empty())
    {
        let path = file(table, *item);
        let name = (table.items[*item].names[0].as_str(), basename(path));
        let Some(others) = of_name.get(&name) else {
            continue;
        };
        let asked = asked.entry(name).or_default();
        *asked += others.len();
        if *asked > MOST_CANDIDATES {
            continue;
        }
        for other in others {
            let costs = [table.cost(0, *item), table.cost(1, *other)];
            votes.add(heads(path, file(table, *other)), costs);
        }
    }
    votes
        .most(table, least)
        .find(|(base, new)| is_agreed(table, known, base, new, least))
        .map(|(base, new)| (base.to_owned(), new.to_owned()))
}

/// Whether nothing speaks against two folders being one, and enough for it.
fn is_agreed(table: &Table, known: &[Folders], base: &str, new: &str, least: f64) -> bool {
    let is_below = |item: usize, folder: &str| {
        let path = file(table, item);
        !path.is_empty() && below(path, folder).is_some()
    };
    let is_known = known
        .iter()
        .any(|folders| (folders.base.as_str(), folders.new.as_str()) == (base, new));
    // One checkout may lie within the other, as working trees of git do: what is in there is not in the outer one.
    let has_any = |side: usize, folder: &str, own: &str| {
        let is_within = below(own, folder).is_some();
        let is_there = |item: &usize| table.cost(side, *item) != 0.0 && is_below(*item, folder);
        let mut there = (0..table.items.len()).filter(is_there);
        there.any(|item| !(is_within && is_below(item, own)))
    };
    if is_known || has_any(1, base, new) || has_any(0, new, base) {
        return false;
    }
    let pairs = pairs_of(table, &unmatched(table), base, new);
    is_carried(
        table,
        &pairs,
        [&|item| is_below(item, base), &|item| is_below(item, new)],
        least,
    )
}

/// Whether the functions that agree on a pair of folders or modules are enough of them: some, with most of the cost of one of the
/// two; or fewer, with most of the cost of both and so much of all costs that chance does not explain their absence.
pub(super) fn is_carried(
    table: &Table,
    pairs: &[(usize, usize)],
    is_in: [&dyn Fn(usize) -> bool; 2],
    least: f64,
) -> bool {
    let of_all = |side: usize, is: &dyn Fn(usize) -> bool| -> f64 {
        let items = (0..table.items.len()).filter(|item| is(*item));
        items.map(|item| table.cost(side, item)).sum()
    };
    let [in_base, in_new] = is_in;
    let agreed = [
        of_pairs(table, 0, pairs.iter().map(|(base, _)| *base)),
        of_pairs(table, 1, pairs.iter().map(|(_, new)| *new)),
    ];
    let inside = [of_all(0, in_base), of_all(1, in_new)];
    let has = |side: usize, part: f64, of: &[f64; 2]| agreed[side] >= part * of[side];
    if pairs.len() >= FEWEST {
        return has(0, PART, &inside) || has(1, PART, &inside);
    }
    let needed = match pairs.len() {
        0 => return false,
        1 => MOST.max(least),
        _ => least,
    };
    let whole = [of_all(0, &|_| true), of_all(1, &|_| true)];
    (0..2).all(|side| has(side, PART, &inside) && has(side, needed, &whole))
}

/// How many functions speak for pairs of folders or modules, and what they cost in base and in new.
#[derive(Default)]
pub(super) struct Votes<'t>(BTreeMap<(&'t str, &'t str), (usize, [f64; 2])>);

impl<'t> Votes<'t> {
    pub(super) fn add(&mut self, pair: (&'t str, &'t str), costs: [f64; 2]) {
        let (votes, sums) = self.0.entry(pair).or_default();
        *votes += 1;
        for (sum, cost) in sums.iter_mut().zip(costs) {
            *sum += cost;
        }
    }

    fn has(&self, pair: (&str, &str)) -> bool {
        self.0.contains_key(&pair)
    }

    /// The pairs that enough may speak for, those with most votes first.
    pub(super) fn most(
        self,
        table: &Table,
        least: f64,
    ) -> impl Iterator<Item = (&'t str, &'t str)> {
        let whole = [0, 1].map(|side| of_pairs(table, side, 0..table.items.len()));
        let is_enough = |(_, (votes, sums)): &((&str, &str), (usize, [f64; 2]))| {
            *votes >= FEWEST || (0..2).all(|side: usize| sums[side] >= least * whole[side])
        };
        let mut most: Vec<_> = self.0.into_iter().filter(is_enough).collect();
        most.sort_by(|(one, (votes, _)), (other, (theirs, _))| {
            theirs.cmp(votes).then(one.cmp(other))
        });
        most.truncate(MOST_ELECTED);
        most.into_iter().map(|(pair, _)| pair)
    }
}

/// What items cost together on a side.
fn of_pairs(table: &Table, side: usize, items: impl Iterator<Item = usize>) -> f64 {
    items.map(|item| table.cost(side, item)).sum()
}

/// The pair of modules that most functions speak for, of those that enough speak for and nothing against.
fn elected_modules(table: &Table, known: &[Folders], least: f64) -> Option<(String, String)> {
    let [only_base, only_new] = unmatched(table);
    let module = |item: usize| table.items[item].names[1].as_str();
    let place = |item: usize| -> (&str, &str) {
        let [name, _, file] = &table.items[item].names;
        (name, file)
    };
    let mut of_place: HashMap<(&str, &str), Vec<usize>> = HashMap::new();
    for item in only_new.iter().filter(|item| !module(**item).is_empty()) {
        of_place.entry(place(*item)).or_default().push(*item);
    }
    let mut asked: HashMap<(&str, &str), usize> = HashMap::new();
    let mut votes = Votes::default();
    for item in only_base.iter().filter(|item| !module(**item).is_empty()) {
        let Some(others) = of_place.get(&place(*item)) else {
            continue;
        };
        let asked = asked.entry(place(*item)).or_default();
        *asked += others.len();
        if *asked > MOST_CANDIDATES {
            continue;
        }
        for other in others {
            let modules = (module(*item), module(*other));
            if modules.0 != modules.1 {
                votes.add(modules, [table.cost(0, *item), table.cost(1, *other)]);
            }
        }
    }
    let alone = [alone(table, 0, &only_base), alone(table, 1, &only_new)];
    let sole = match alone {
        [Some(base), Some(new)] => Some((base, new)).filter(|pair| votes.has(*pair)),
        _ => None,
    };
    sole.into_iter()
        .chain(votes.most(table, least))
        .find(|(base, new)| {
            let is_known = known
                .iter()
                .any(|modules| (modules.base.as_str(), modules.new.as_str()) == (*base, *new));
            let has = |side: usize, name: &str| {
                let mut items = 0..table.items.len();
                items.any(|item| module(item) == name && table.cost(side, item) != 0.0)
            };
            if is_known || has(1, base) || has(0, new) {
                return false;
            }
            let pairs = pairs_of_modules(table, &unmatched(table), base, new);
            sole == Some((*base, *new))
                || is_carried(
                    table,
                    &pairs,
                    [&|item| module(item) == *base, &|item| module(item) == *new],
                    least,
                )
        })
        .map(|(base, new)| (base.to_owned(), new.to_owned()))
}

/// The one module that only one side has, if it has most of the cost of what only that side has.
fn alone<'t>(table: &'t Table, side: usize, only: &[usize]) -> Option<&'t str> {
    let module = |item: usize| table.items[item].names[1].as_str();
    let is_elsewhere = |name: &str| {
        let mut items = 0..table.items.len();
        items.any(|item| module(item) == name && table.cost(1 - side, item) != 0.0)
    };
    let mut costs: BTreeMap<&str, f64> = BTreeMap::new();
    for item in only {
        *costs.entry(module(*item)).or_default() += table.cost(side, *item);
    }
    let whole: f64 = costs.values().sum();
    costs.retain(|name, _| !name.is_empty() && !is_elsewhere(name));
    match costs.into_iter().collect::<Vec<_>>().as_slice() {
        [(name, cost)] if *cost >= MOST * whole => Some(*name),
        _ => None,
    }
}
