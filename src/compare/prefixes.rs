//! Names that begin otherwise in new than in base: a package, crate or namespace was renamed, `old::parse` is `new::parse`.
//!
//! Nothing is taken for one on account of this: a suggestion has the rules for `profdb identify --rules` that make the functions one. It
//! is found by a vote, as folders are ([`super::pairs`]): each function that only base has votes, with those that only new has
//! and that end as it does, for the pair of what is left before their common end. The pair must make functions one that have enough of the cost,
//! no function of new may have the prefix of base, and none of base that of new.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;
use regex::Regex;

use super::pairs::{Folders, MOST_CANDIDATES, Within, heads, is_carried, unmatched};
use super::rule_line::{escaped, rule};
use super::sequence::newest_name;
use super::table::Table;

/// What may end a prefix. Names have one kind of them mostly, some two: `com/acme/Shop$Item.run`.
const SEPARATORS: [&str; 4] = ["::", "/", ".", "$"];

/// Prefixes that are suggested.
const MOST: usize = 5;

/// Pairs of prefixes that are looked at, those of most cost first.
const MOST_ELECTED: usize = 50;

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

/// Beginnings of names that may be others in new, those of most cost first.
pub(super) fn prefixes(table: &Table, folders: &[Folders], least: f64) -> Vec<Prefixes> {
    let mut found: Vec<Prefixes> = Vec::new();
    let mut only = unmatched(table);
    while found.len() < MOST
        && let Some((one, pairs)) = elected(table, &only, folders, least)
    {
        for (side, only) in only.iter_mut().enumerate() {
            let taken: BTreeSet<usize> = pairs.iter().map(|pair| [pair.0, pair.1][side]).collect();
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

/// Finds a prefix where a name begins, and where one within it does.
fn finder(prefix: &str) -> Option<Regex> {
    Regex::new(&format!("{BEFORE}{}", regex::escape(prefix))).ok()
}

/// The pair of prefixes that most of the cost speaks for, of those that enough speaks for and nothing against.
fn elected(
    table: &Table,
    only: &[Vec<usize>; 2],
    folders: &[Folders],
    least: f64,
) -> Option<(Prefixes, Vec<(usize, usize)>)> {
    let mut of_end: HashMap<&str, Vec<usize>> = HashMap::new();
    for row in &only[1] {
        of_end
            .entry(last(name(table, *row)))
            .or_default()
            .push(*row);
    }
    let mut asked: HashMap<&str, usize> = HashMap::new();
    let mut votes: BTreeMap<(&str, &str), f64> = BTreeMap::new();
    let whole = [0, 1].map(|side: usize| {
        let rows = 0..table.items.len();
        rows.map(|row| table.cost(side, row)).sum::<f64>()
    });
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
                let parts = table.cost(0, *row) / whole[0] + table.cost(1, *other) / whole[1];
                *votes.entry(pair).or_default() += parts;
            }
        }
    }
    let mut votes: Vec<((&str, &str), f64)> = votes.into_iter().collect();
    votes.sort_by(|(one, cost), (other, its)| its.total_cmp(cost).then(one.cmp(other)));
    votes.truncate(MOST_ELECTED);
    votes.into_iter().find_map(|((base, new), _)| {
        let (of_base, of_new) = (finder(base)?, finder(new)?);
        let has = |side: usize, finder: &Regex| {
            let mut rows = 0..table.items.len();
            rows.any(|row| table.cost(side, row) != 0.0 && finder.is_match(name(table, row)))
        };
        // A rule that changes its own result has no end; of what both sides have, nothing was renamed.
        if of_base.is_match(new) || has(1, &of_base) || has(0, &of_new) {
            return None;
        }
        let replacement = new.replace('$', "$$");
        let with_before = format!("${{1}}{replacement}");
        let renamed = |name: &str| of_base.replace_all(name, with_before.as_str()).into_owned();
        let (pairs, mut rules) = with_places(table, folders, paired(table, only, renamed));
        let is_in_base = |row: usize| of_base.is_match(name(table, row));
        let is_in_new = |row: usize| of_new.is_match(name(table, row));
        if !is_carried(table, &pairs, [&is_in_base, &is_in_new], least) {
            return None;
        }
        let is_start = |row: usize| {
            let mut all = of_base.find_iter(name(table, row));
            all.all(|found| found.as_str() == base && found.start() == 0)
        };
        let line = if (0..table.items.len()).all(is_start) {
            format!("name /^{}/ -> {replacement}", escaped(base))
        } else {
            let before = BEFORE.replace('/', "\\/");
            format!("name /{before}{}/ -> {with_before}", escaped(base))
        };
        rules.insert(0, line);
        let parts = [0, 1].map(|side: usize| {
            let of_side = pairs.iter().map(|pair| [pair.0, pair.1][side]);
            of_side.map(|row| table.cost(side, row)).sum::<f64>() / whole[side]
        });
        let names = |row: usize| name(table, row).to_owned();
        let functions = pairs.iter().map(|pair| (names(pair.0), names(pair.1)));
        let one = Prefixes {
            base: base.to_owned(),
            new: new.to_owned(),
            functions: functions.collect(),
            parts,
            rules,
        };
        Some((one, pairs))
    })
}

/// The functions of base that have the name of one of new when they are renamed, where only one of each side has.
fn paired(
    table: &Table,
    only: &[Vec<usize>; 2],
    renamed: impl Fn(&str) -> String,
) -> Vec<(usize, usize)> {
    let mut of_name: HashMap<String, [Vec<usize>; 2]> = HashMap::new();
    for row in &only[0] {
        let old = name(table, *row);
        let new = renamed(old);
        if new != old {
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

/// The pairs that are one when their names are, and the rules by which their modules and files are, where these differ.
fn with_places(
    table: &Table,
    folders: &[Folders],
    pairs: Vec<(usize, usize)>,
) -> (Vec<(usize, usize)>, Vec<String>) {
    let mut rules: BTreeMap<(&str, String), String> = BTreeMap::new();
    let is_free = |part: usize, side: usize, text: &str, is_folder: bool| {
        let mut rows = table.items.iter().enumerate();
        !rows.any(|(row, item)| {
            let its = &item.names[part];
            let is_it = its == text || is_folder && super::pairs::below(its, text).is_some();
            is_it && table.cost(side, row) != 0.0
        })
    };
    // Each text is one other one.
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
    let pairs = pairs.into_iter().filter(|(base, new)| {
        let [_, module, file] = &table.items[*base].names;
        let [_, its_module, its_file] = &table.items[*new].names;
        let module = newest_name(Within::Module, module, folders);
        let file = newest_name(Within::Folder, file, folders);
        let is_module = module == *its_module || {
            let is_free = is_free(1, 1, &module, false) && is_free(1, 0, its_module, false);
            is_free && put("module", &module, rule("module", &module, its_module))
        };
        let mut is_file = || {
            if file == *its_file {
                return true;
            }
            let (old, other) = heads(&file, its_file);
            let is_folder = old != file && other != its_file;
            let is_free = is_free(2, 1, old, is_folder) && is_free(2, 0, other, is_folder);
            let line = match is_folder {
                true if old.is_empty() || other.is_empty() || old == "/" || other == "/" => None,
                true => Some(format!(
                    "file /^{}\\// -> {}/",
                    escaped(old),
                    other.replace('$', "$$")
                )),
                false => rule("file", &file, its_file),
            };
            is_free && put("file", old, line)
        };
        is_module && is_file()
    });
    let pairs = pairs.collect();
    (pairs, rules.into_values().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_end_with_a_separator() {
        let table = [
            (
                "a/work.P.parse",
                "a/task.P.parse",
                Some(("a/work.", "a/task.")),
            ),
            ("old::f", "new::f", Some(("old::", "new::"))),
            (
                "com/oldshop/P.parse",
                "com/shop/P.parse",
                Some(("com/oldshop/", "com/shop/")),
            ),
            ("A$B.run", "C$B.run", Some(("A$", "C$"))),
            ("parse", "sparse", None),
            ("a.", "b.", None),
        ];
        for (base, new, expected) in table {
            assert_eq!(beginnings(base, new), expected, "{base} {new}");
        }
    }
}
