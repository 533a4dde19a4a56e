//! Functions that may have been renamed: one gone, one new, of about the same cost, called and calling nearly the same.
//!
//! Nothing is taken for one on account of this. Each suggestion has the lines that make the two one if they are given to
//! `profdb identify --rules`, where such lines would put nothing else together.

use std::collections::{BTreeMap, BTreeSet};

use super::judge::{Judgement, Limits, Noise};
use super::pairs::{Folders, Within, of_one_name};
use super::rule_line::rule;
use super::sequence::newest_name;
use super::table::Table;
use profdb_statistics::distribution::student_upper_quantile;
use profdb_statistics::mean;

/// The part of all that either calls or is called by that both have in common.
const OVERLAP: f64 = 0.8;

/// How far the costs of two single runs may lie apart of which nothing is known.
const APART: f64 = 0.2;

/// Two functions whose costs lie farther apart are not one, however much they vary.
const FARTHEST: f64 = 0.5;

/// Functions of a side that are looked at, the costliest first.
const MOST: usize = 200;

/// A function that may be another one.
#[derive(Clone, Debug, PartialEq)]
pub struct Suggestion {
    /// Name, module and file of what is gone.
    pub base: [String; 3],
    /// Those of what is new.
    pub new: [String; 3],
    /// What each costs, in base and in new.
    pub costs: [f64; 2],
    /// The part of callers and callees that they have in common; `None` where their names are the same, which no other function
    /// has.
    pub overlap: Option<f64>,
    /// Lines for a file of rules by which they are one; none where such rules would change other functions, too.
    pub rules: Vec<String>,
}

/// Rows of which one side has nothing, and may be judged: those of base, then those of new.
pub(super) fn candidates(table: &Table, judged: &[Judgement]) -> [Vec<usize>; 2] {
    [0, 1].map(|side: usize| {
        let is_alone = |row: &usize| {
            let Judgement {
                seen,
                present,
                verdict,
                ..
            } = &judged[*row];
            table.items[*row].is_named && verdict.is_some() && seen[side] > 0 && !present[1 - side]
        };
        let mut rows: Vec<usize> = (0..judged.len()).filter(is_alone).collect();
        let cost = |row: &usize| table.cost(side, *row);
        rows.sort_by(|one, other| cost(other).total_cmp(&cost(one)).then(one.cmp(other)));
        rows.truncate(MOST);
        rows
    })
}

/// What a function calls and is called by: rows, and which of the two; `None` is itself.
pub(super) type Neighbours = BTreeSet<(bool, Option<usize>)>;

/// The suggestions, the costliest first. `neighbours` has what each candidate calls and is called by, in the order of the
/// candidates.
pub(super) fn suggestions(
    table: &Table,
    candidates: &[Vec<usize>; 2],
    neighbours: &[Vec<Neighbours>; 2],
    folders: &[Folders],
    noise: Noise,
    limits: &Limits,
) -> Vec<(usize, usize, Suggestion)> {
    let mut found: BTreeMap<(usize, usize), Option<f64>> = BTreeMap::new();
    let one_name: BTreeSet<(usize, usize)> = of_one_name(table).into_iter().collect();
    let [gone, new] = candidates;
    // How alike two candidates are: what they have in common, then how near their costs are.
    let mut alike: BTreeMap<(usize, usize), (f64, f64)> = BTreeMap::new();
    for (at, one) in gone.iter().enumerate() {
        for (its, other) in new.iter().enumerate() {
            if one_name.contains(&(*one, *other)) {
                found.insert((*one, *other), None);
                continue;
            }
            let overlap = overlap(&neighbours[0][at], &neighbours[1][its]);
            if overlap >= OVERLAP
                && let Some(near) = nearness(table, *one, *other, noise, limits)
            {
                alike.insert((*one, *other), (overlap, near));
            }
        }
    }
    // Each is suggested for the one that it is most like, if that one is most like it.
    let best = |side: usize, row: usize| {
        alike
            .iter()
            .filter(|((one, other), _)| [*one, *other][side] == row)
            .max_by(|(at, (one, near)), (its, (other, nearer))| {
                one.total_cmp(other)
                    .then(near.total_cmp(nearer))
                    .then(its.cmp(at))
            })
            .map(|(pair, _)| *pair)
    };
    for (pair, (overlap, _)) in &alike {
        let is_taken = found
            .keys()
            .any(|(one, other)| *one == pair.0 || *other == pair.1);
        if !is_taken && best(0, pair.0) == Some(*pair) && best(1, pair.1) == Some(*pair) {
            found.insert(*pair, Some(*overlap));
        }
    }
    let mut found: Vec<(usize, usize, Suggestion)> = found
        .into_iter()
        .map(|((one, other), overlap)| {
            let suggestion = Suggestion {
                base: table.items[one].names.clone(),
                new: table.items[other].names.clone(),
                costs: [mean_cost(table, 0, one), mean_cost(table, 1, other)],
                overlap,
                rules: rules(table, folders, one, other),
            };
            (one, other, suggestion)
        })
        .collect();
    found.sort_by(|(.., one), (.., other)| {
        let costs = other.costs[0].total_cmp(&one.costs[0]);
        costs.then_with(|| one.base.cmp(&other.base))
    });
    found
}

/// The part of the neighbours of either that both have (Jaccard); 0 where neither has any.
fn overlap(one: &Neighbours, other: &Neighbours) -> f64 {
    let common = count(one.intersection(other).count());
    let all = count(one.union(other).count());
    if all > 0.0 { common / all } else { 0.0 }
}

fn count(number: usize) -> f64 {
    u32::try_from(number).map_or(f64::INFINITY, f64::from)
}

fn mean_cost(table: &Table, side: usize, row: usize) -> f64 {
    mean(&costs(table, side, row))
}

fn costs(table: &Table, side: usize, row: usize) -> Vec<f64> {
    let columns = table.columns[side].iter();
    columns.map(|column| column.costs[row]).collect()
}

/// How near to each other the costs of two functions are, 1 at most; `None` where they differ by more than noise.
fn nearness(table: &Table, gone: usize, new: usize, noise: Noise, limits: &Limits) -> Option<f64> {
    let (base, new) = (costs(table, 0, gone), costs(table, 1, new));
    let (before, after) = (mean(&base), mean(&new));
    let larger = before.max(after);
    let apart = (after - before).abs();
    let runs = base.len() + new.len();
    let squares = |figures: &[f64], mean: f64| -> f64 {
        figures.iter().map(|figure| (figure - mean).powi(2)).sum()
    };
    let by_noise = if runs > 2 {
        let df = count(runs) - 2.0;
        let parts = 1.0 / count(base.len()) + 1.0 / count(new.len());
        let variance = (squares(&base, before) + squares(&new, after)) / df * parts;
        student_upper_quantile(limits.alpha / 2.0, df) * variance.sqrt()
    } else if noise == Noise::Exact {
        0.0
    } else {
        APART * larger
    };
    let most = by_noise
        .max(limits.min_effect * larger)
        .min(FARTHEST * larger);
    (apart <= most).then_some(1.0 - apart / larger)
}

/// The lines that make one of two rows; none if they would put other functions together, too.
fn rules(table: &Table, folders: &[Folders], gone: usize, new: usize) -> Vec<String> {
    let [name, module, file] = &table.items[gone].names;
    let old = [
        name.clone(),
        newest_name(Within::Module, module, folders),
        newest_name(Within::Folder, file, folders),
    ];
    let its = &table.items[new].names;
    let mut lines = Vec::new();
    for (part, field) in ["name", "module", "file"].into_iter().enumerate() {
        if old[part] == its[part] {
            continue;
        }
        let line = rule(field, &old[part], &its[part]);
        let Some(line) = line.filter(|_| is_harmless(table, part, &old[part], &its[part])) else {
            return Vec::new();
        };
        lines.push(line);
    }
    lines
}

/// Whether putting one text for another puts no functions together that some side tells apart. A name may be that of functions
/// in several files, of none of which both names are; a module or a file must have got its name as a whole.
fn is_harmless(table: &Table, part: usize, old: &str, new: &str) -> bool {
    let with = |text: &str, side: usize| -> BTreeSet<[&str; 2]> {
        let rows = table.items.iter().enumerate();
        rows.filter(|(row, item)| item.names[part] == text && table.cost(side, *row) != 0.0)
            .map(|(_, item)| [item.names[1].as_str(), &item.names[2]])
            .collect()
    };
    if part == 0 {
        [0, 1]
            .into_iter()
            .all(|side| with(old, side).is_disjoint(&with(new, side)))
    } else {
        with(old, 1).is_empty() && with(new, 0).is_empty()
    }
}
