//! Pairs of functions that identity alone does not find: the sources lie in another folder, or only the name is left.
//!
//! A pair by the end of a path is chance where nothing has moved: of functions of common names that one of two samplings of
//! the same program had missed, all such pairs were wrong. So a folder is taken for another one only for the comparison as a
//! whole, and only where nothing speaks against it (docs/comparing.md has the rates).

use std::collections::BTreeMap;

use hashbrown::HashMap;

use super::matched::Matched;
use super::table::Table;

/// Functions that must agree on a pair of folders.
const FEWEST: usize = 5;

/// The part of the cost of one of the two folders that they must have.
const PART: f64 = 0.6;

/// Pairs of files with one name that are looked at for one name of a function: common names in common files would be compared
/// each with each, and tell nothing.
const MOST_CANDIDATES: usize = 4096;

/// Pairs of folders that are looked at, those with most votes first.
const MOST_ELECTED: usize = 50;

/// A folder of base, and the one of new that it is taken for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folders {
    /// The folder of base; empty for relative paths.
    pub base: String,
    /// That of new.
    pub new: String,
    /// Functions that it made pairs.
    pub functions: usize,
}

/// Pairs functions whose sources lie below folders that the user has named, `BASE=NEW`.
pub(super) fn by_roots(table: &mut Table, roots: &[(String, String)]) -> Vec<Folders> {
    roots
        .iter()
        .map(|(base, new)| {
            let pairs = pairs_of(table, base, new);
            let functions = pairs.len();
            table.join(&pairs, Matched::Folder);
            Folders {
                base: base.clone(),
                new: new.clone(),
                functions,
            }
        })
        .collect()
}

/// Pairs rows of which the folders are known to be one: functions, or files themselves.
pub(super) fn by_known(table: &mut Table, folders: &[Folders]) {
    for Folders { base, new, .. } in folders {
        let pairs = pairs_of(table, base, new);
        table.join(&pairs, Matched::Folder);
    }
}

/// Pairs functions whose sources lie in folders that all evidence says are one.
pub(super) fn by_folders(table: &mut Table) -> Vec<Folders> {
    let mut found = Vec::new();
    while let Some((base, new)) = elected(table, &found) {
        let pairs = pairs_of(table, &base, &new);
        let functions = pairs.len();
        table.join(&pairs, Matched::Folder);
        found.push(Folders {
            base,
            new,
            functions,
        });
    }
    found
}

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

/// Items of which only one side has any cost: those of base, and those of new.
fn unmatched(table: &Table) -> [Vec<usize>; 2] {
    let costs = table.side_costs();
    let only = |side: usize| {
        let is_alone = |item: &usize| {
            table.items[*item].is_named
                && costs[side][*item] != 0.0
                && costs[1 - side][*item] == 0.0
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
fn heads<'p>(base: &'p str, new: &'p str) -> (&'p str, &'p str) {
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
fn below<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    match folder {
        "" => Some(path).filter(|path| !path.starts_with('/')),
        "/" => path.strip_prefix('/'),
        folder => path.strip_prefix(folder)?.strip_prefix('/'),
    }
}

/// A path of base as new has it, by folders that are one.
pub(super) fn moved(path: &str, folders: &[Folders]) -> String {
    let found = folders
        .iter()
        .find_map(|Folders { base, new, .. }| Some((new, below(path, base)?)));
    match found {
        None => path.to_owned(),
        Some((new, rest)) if new.is_empty() || new.ends_with('/') => format!("{new}{rest}"),
        Some((new, rest)) => format!("{new}/{rest}"),
    }
}

/// The pairs that two folders make: functions of one name, at one path below them.
fn pairs_of(table: &Table, base: &str, new: &str) -> Vec<(usize, usize)> {
    let [only_base, only_new] = unmatched(table);
    // The name of a file is its path.
    let name = |item: usize| -> &str {
        let [name, _, file] = &table.items[item].names;
        if name == file { "" } else { name }
    };
    let mut places: HashMap<(&str, &str), Vec<usize>> = HashMap::new();
    for item in only_new {
        if let Some(rest) = below(file(table, item), new) {
            places.entry((name(item), rest)).or_default().push(item);
        }
    }
    let mut pairs = Vec::new();
    for item in only_base {
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

/// The last name of a path.
fn basename(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// The pair of folders that most functions speak for, of those that enough speak for and nothing against.
fn elected(table: &Table, known: &[Folders]) -> Option<(String, String)> {
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
    let mut votes: BTreeMap<(&str, &str), usize> = BTreeMap::new();
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
            *votes.entry(heads(path, file(table, *other))).or_default() += 1;
        }
    }
    let mut votes: Vec<((&str, &str), usize)> = votes.into_iter().collect();
    votes.sort_by(|(one, votes), (other, theirs)| theirs.cmp(votes).then(one.cmp(other)));
    votes.truncate(MOST_ELECTED);
    let enough = votes.into_iter().filter(|(_, votes)| *votes >= FEWEST);
    enough
        .map(|(folders, _)| folders)
        .find(|(base, new)| is_agreed(table, known, base, new))
        .map(|(base, new)| (base.to_owned(), new.to_owned()))
}

/// Whether nothing speaks against two folders being one, and enough for it.
fn is_agreed(table: &Table, known: &[Folders], base: &str, new: &str) -> bool {
    let is_below = |item: usize, folder: &str| {
        let path = file(table, item);
        !path.is_empty() && below(path, folder).is_some()
    };
    let is_known = known
        .iter()
        .any(|folders| (folders.base.as_str(), folders.new.as_str()) == (base, new));
    let has_any = |side: usize, folder: &str| {
        (0..table.items.len()).any(|item| table.cost(side, item) != 0.0 && is_below(item, folder))
    };
    if is_known || has_any(1, base) || has_any(0, new) {
        return false;
    }
    let pairs = pairs_of(table, base, new);
    let carries = |side: usize, folder: &str, paired: &mut dyn Iterator<Item = usize>| {
        let all: f64 = (0..table.items.len())
            .filter(|item| is_below(*item, folder))
            .map(|item| table.cost(side, item))
            .sum();
        let agreed: f64 = paired.map(|item| table.cost(side, item)).sum();
        agreed >= PART * all
    };
    let is_carried = carries(0, base, &mut pairs.iter().map(|(base, _)| *base))
        || carries(1, new, &mut pairs.iter().map(|(_, new)| *new));
    pairs.len() >= FEWEST && is_carried
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_paths_have_in_common_is_whole_names() {
        let table = [
            (
                "/srv/a/work/pkg/mod.py",
                "/ci/7/work/pkg/mod.py",
                ("/srv/a", "/ci/7"),
            ),
            ("/old/lib.py", "/new/lib.py", ("/old", "/new")),
            ("src/lib.rs", "/build/src/lib.rs", ("", "/build")),
            ("lib/xmod.py", "lib/mod.py", ("lib/xmod.py", "lib/mod.py")),
            ("/mod.py", "/a/mod.py", ("/", "/a")),
        ];
        for (base, new, expected) in table {
            assert_eq!(heads(base, new), expected, "{base} {new}");
        }
    }

    #[test]
    fn paths_lie_below_whole_names() {
        assert_eq!(below("/a/b/c.py", "/a"), Some("b/c.py"));
        assert_eq!(below("/ab/c.py", "/a"), None);
        assert_eq!(below("c.py", ""), Some("c.py"));
        assert_eq!(below("/c.py", ""), None);
    }
}
