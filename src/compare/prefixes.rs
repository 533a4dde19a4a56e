//! Names that begin otherwise in new than in base: a package, crate or namespace was renamed, `old::parse` is `new::parse`.
//!
//! Nothing is taken for one on account of this: a suggestion has the rules for `profdb identify --rules` that make the functions one. It
//! is found by a vote, as folders are ([`super::pairs`]): each function that only base has votes, with those that only new has
//! and that end as it does, for the pair of what is left before their common end. The pair must make functions one that have enough of the cost,
//! no function of new may have the prefix of base, and none of base that of new.

use std::borrow::Cow;
use std::collections::BTreeMap;

use hashbrown::{HashMap, HashSet};
use regex::Regex;

use super::pairs::{Folders, MOST_CANDIDATES, Votes, Within, heads, is_carried, unmatched};
use super::rule_line::{as_replacement, escaped, rule, rule_of_start};
use super::sequence::newest_name;
use super::table::Table;

/// What may end a prefix. Names have one kind of them mostly, some two: `com/acme/Shop$Item.run`.
const SEPARATORS: [&str; 4] = ["::", "/", ".", "$"];

/// Prefixes that are suggested.
const MOST: usize = 5;

/// The rules for modules and files that one suggestion may have.
const MOST_RULES: usize = 20;

/// A beginning of names that may be another one in new.
#[derive(Clone, Debug, PartialEq)]
pub struct Prefixes {
    /// That of base, with the separator at its end.
    pub base: String,
    /// That of new.
    pub new: String,
    /// The functions that would be one: names of base with names of new.
    pub functions: BTreeMap<String, String>,
    /// The part of the cost of base, and of new, that they have.
    pub parts: [f64; 2],
    /// Lines for a file of rules by which they are one.
    pub rules: Vec<String>,
}

/// Beginnings of names that may be others in new, those of most votes first.
pub(super) fn prefixes(table: &Table, folders: &[Folders], least: f64) -> Vec<Prefixes> {
    let mut found: Vec<Prefixes> = Vec::new();
    let mut only = unmatched(table);
    if only.iter().any(Vec::is_empty) {
        return found;
    }
    let election = Election {
        table,
        folders,
        least,
        occupied: Occupied::of(table),
    };
    while found.len() < MOST
        && let Some((one, pairs)) = election.elected(&only)
    {
        for (side, only) in only.iter_mut().enumerate() {
            let taken: HashSet<usize> = pairs.iter().map(|pair| [pair.0, pair.1][side]).collect();
            only.retain(|row| !taken.contains(row));
        }
        found.push(one);
    }
    found
}

/// The name of a row.
fn name(table: &Table, row: usize) -> &str {
    &table.items[row].names[0]
}

/// The modules and files in which each side has costs.
struct Occupied<'t> {
    modules: [HashSet<&'t str>; 2],
    /// Files, and the folders that they lie in.
    files: [HashSet<&'t str>; 2],
}

impl<'t> Occupied<'t> {
    fn of(table: &'t Table) -> Self {
        let costs = table.side_costs();
        let with_cost = |side: usize| {
            let items = table.items.iter().zip(&costs[side]);
            items.filter(|(_, cost)| **cost != 0.0)
        };
        let modules = |side| with_cost(side).map(|(item, _)| item.names[1].as_str());
        let files = |side| with_cost(side).map(|(item, _)| item.names[2].as_str());
        let with_folders = |file: &'t str| {
            let ends = file.match_indices('/').map(|(at, _)| &file[..at]);
            ends.chain([file])
        };
        Self {
            modules: [modules(0).collect(), modules(1).collect()],
            files: [0, 1].map(|side| files(side).flat_map(with_folders).collect()),
        }
    }
}

/// What two names have before their common end, up to a separator in it.
fn beginnings<'n>(base: &'n str, new: &'n str) -> Option<(&'n str, &'n str)> {
    let both = base.chars().rev().zip(new.chars().rev());
    let common: usize = both
        .take_while(|(one, other)| one == other)
        .map(|(letter, _)| letter.len_utf8())
        .sum();
    let end = &base[base.len() - common..];
    let ends = SEPARATORS.iter().filter_map(|separator| {
        let at = end.find(separator)?;
        Some(at + separator.len())
    });
    let rest = common - ends.min()?;
    (rest > 0).then(|| (&base[..base.len() - rest], &new[..new.len() - rest]))
}

/// What follows the last separator of a name.
fn last(name: &str) -> &str {
    let ends = SEPARATORS.iter().filter_map(|separator| {
        let at = name.rfind(separator)?;
        Some(at + separator.len())
    });
    &name[ends.max().unwrap_or(0)..]
}

/// What is before a prefix where it is none of another name's middle: `old::` in `<old::P as old::Work>::run`, not in `a::old::run`.
const BEFORE: &str = r"(^|[^\w.:/$@-])";

/// A prefix of names, and where it is in one: where a name begins, and where one within it does.
struct Prefix<'n> {
    text: &'n str,
    finder: Regex,
}

impl<'n> Prefix<'n> {
    fn of(text: &'n str) -> Option<Self> {
        let finder = Regex::new(&format!("{BEFORE}{}", regex::escape(text))).ok()?;
        Some(Self { text, finder })
    }

    fn is_in(&self, name: &str) -> bool {
        // Most names are not asked with the regular expression, which takes longer.
        name.contains(self.text) && self.finder.is_match(name)
    }

    /// Whether it is in a name at its start only, if it is in it.
    fn is_start_only(&self, name: &str) -> bool {
        !name.contains(self.text)
            || self
                .finder
                .find_iter(name)
                .all(|found| found.as_str() == self.text && found.start() == 0)
    }
}

/// What a vote for prefixes needs to know.
struct Election<'t> {
    table: &'t Table,
    folders: &'t [Folders],
    least: f64,
    occupied: Occupied<'t>,
}

impl Election<'_> {
    /// The pair of prefixes that most functions speak for, of those that enough speak for and nothing against, with the rows that
    /// would be one.
    fn elected(&self, only: &[Vec<usize>; 2]) -> Option<(Prefixes, Vec<(usize, usize)>)> {
        let table = self.table;
        let mut of_end: HashMap<&str, Vec<usize>> = HashMap::new();
        for row in &only[1] {
            let end = last(name(table, *row));
            of_end.entry(end).or_default().push(*row);
        }
        let mut asked: HashMap<&str, usize> = HashMap::new();
        let mut votes = Votes::default();
        for row in &only[0] {
            let end = last(name(table, *row));
            let Some(others) = of_end.get(end) else {
                continue;
            };
            let asked = asked.entry(end).or_default();
            *asked += others.len();
            if *asked > MOST_CANDIDATES {
                continue;
            }
            for other in others {
                if let Some(pair) = beginnings(name(table, *row), name(table, *other)) {
                    votes.add(pair, [table.cost(0, *row), table.cost(1, *other)]);
                }
            }
        }
        let mut candidates = votes.most(table, self.least);
        candidates.find_map(|(base, new)| self.agreed(only, base, new))
    }

    /// A pair of prefixes, if enough speaks for it and nothing against.
    fn agreed(
        &self,
        only: &[Vec<usize>; 2],
        base: &str,
        new: &str,
    ) -> Option<(Prefixes, Vec<(usize, usize)>)> {
        let table = self.table;
        let (of_base, of_new) = (Prefix::of(base)?, Prefix::of(new)?);
        let rows = || 0..table.items.len();
        let has = |side: usize, prefix: &Prefix<'_>| {
            rows().any(|row| prefix.is_in(name(table, row)) && table.cost(side, row) != 0.0)
        };
        // A rule that changes its own result has no end; of what both sides have, nothing was renamed.
        if of_base.is_in(new) || has(1, &of_base) || has(0, &of_new) {
            return None;
        }
        let with_before = format!("${{1}}{}", as_replacement(new));
        let (pairs, rules) = self.with_places(paired(table, only, &of_base, &with_before));
        let is_in_base = |row: usize| of_base.is_in(name(table, row));
        let is_in_new = |row: usize| of_new.is_in(name(table, row));
        if !is_carried(table, &pairs, [&is_in_base, &is_in_new], self.least) {
            return None;
        }
        let line = if rows().all(|row| of_base.is_start_only(name(table, row))) {
            rule_of_start("name", base, new)
        } else {
            let before = BEFORE.replace('/', "\\/");
            format!("name /{before}{}/ -> {with_before}", escaped(base))
        };
        let part = |side: usize| {
            let of_side = pairs.iter().map(|pair| [pair.0, pair.1][side]);
            let cost: f64 = of_side.map(|row| table.cost(side, row)).sum();
            let whole: f64 = rows().map(|row| table.cost(side, row)).sum();
            cost / whole
        };
        let names = |row: usize| name(table, row).to_owned();
        let functions = pairs.iter().map(|pair| (names(pair.0), names(pair.1)));
        let one = Prefixes {
            base: base.to_owned(),
            new: new.to_owned(),
            functions: functions.collect(),
            parts: [part(0), part(1)],
            rules: [line].into_iter().chain(rules).collect(),
        };
        Some((one, pairs))
    }

    /// The pairs that are one when their names are, and the rules by which their modules and files are, where these differ.
    fn with_places(&self, pairs: Vec<(usize, usize)>) -> (Vec<(usize, usize)>, Vec<String>) {
        let Occupied { modules, files } = &self.occupied;
        // Each text is one other one.
        let mut rules: BTreeMap<(&str, String), String> = BTreeMap::new();
        let mut put = |field: &'static str, old: &str, line: Option<String>| -> bool {
            let Some(line) = line else { return false };
            let is_full = rules.len() >= MOST_RULES;
            match rules.get(&(field, old.to_owned())) {
                Some(known) => *known == line,
                None if is_full => false,
                None => {
                    rules.insert((field, old.to_owned()), line);
                    true
                }
            }
        };
        let is_free = |texts: &[HashSet<&str>; 2], old: &str, other: &str| {
            !texts[1].contains(old) && !texts[0].contains(other)
        };
        let pairs = pairs.into_iter().filter(|(base, new)| {
            let [_, module, file] = &self.table.items[*base].names;
            let [_, its_module, its_file] = &self.table.items[*new].names;
            let module = newest_name(Within::Module, module, self.folders);
            let file = newest_name(Within::Folder, file, self.folders);
            let is_module = module == *its_module
                || is_free(modules, &module, its_module)
                    && put("module", &module, rule("module", &module, its_module));
            is_module
                && (file == *its_file || {
                    let (old, other) = heads(&file, its_file);
                    let line = if old == file || other == its_file {
                        rule("file", &file, its_file)
                    } else {
                        rule_of_folder(old, other)
                    };
                    is_free(files, old, other) && put("file", old, line)
                })
        });
        let pairs = pairs.collect();
        (pairs, rules.into_values().collect())
    }
}

/// A line of a file of rules by which a folder is another one; none for that of all paths.
fn rule_of_folder(old: &str, new: &str) -> Option<String> {
    let is_all = |folder: &str| folder.is_empty() || folder == "/";
    let is_one = !is_all(old) && !is_all(new);
    is_one.then(|| rule_of_start("file", &format!("{old}/"), &format!("{new}/")))
}

/// The functions of base that have the name of one of new when they are renamed, where only one of each side has.
fn paired<'t>(
    table: &'t Table,
    only: &[Vec<usize>; 2],
    prefix: &Prefix<'_>,
    replacement: &str,
) -> Vec<(usize, usize)> {
    let mut of_name: HashMap<Cow<'t, str>, [Vec<usize>; 2]> = HashMap::new();
    for row in &only[0] {
        let old = name(table, *row);
        if prefix.is_in(old) {
            let new = prefix.finder.replace_all(old, replacement);
            of_name.entry(new).or_default()[0].push(*row);
        }
    }
    for row in &only[1] {
        if let Some([_, new]) = of_name.get_mut(name(table, *row)) {
            new.push(*row);
        }
    }
    let mut pairs: Vec<(usize, usize)> = of_name
        .into_values()
        .filter_map(|rows| match rows.each_ref().map(Vec::as_slice) {
            [[base], [new]] => Some((*base, *new)),
            _ => None,
        })
        .collect();
    pairs.sort_unstable();
    pairs
}
