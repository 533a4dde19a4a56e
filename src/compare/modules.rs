//! Modules that are one because their functions are: the folder that they lie in has another name in new, and so have they.
//!
//! Each module of such a folder may have too few functions to be voted for by itself. Where the folders are one, and only base has the
//! one module, only new the other, and most of the cost of either lies in functions that the folders have made pairs, the
//! modules are one.

use std::collections::BTreeMap;

use super::table::Table;

/// The part of the cost of one of the two modules that the functions must have.
const PART: f64 = 0.6;

/// A pair of functions.
struct Pair {
    /// By which pair of folders, in the order in which these were found.
    folders: usize,
    /// What they cost in base and in new.
    costs: [f64; 2],
}

/// The modules of functions that folders make pairs.
pub(super) struct Modules {
    /// What each module cost in base and in new before anything was a pair.
    costs: BTreeMap<String, [f64; 2]>,
    /// The pairs of functions by the modules of base and of new in which they lie, where these differ.
    pairs: BTreeMap<[String; 2], Vec<Pair>>,
}

/// A module of base and one of new that are one.
pub(super) struct Renamed {
    /// That of base, and that of new.
    pub(super) names: [String; 2],
    /// How many of their functions each pair of folders has made pairs.
    pub(super) functions: BTreeMap<usize, usize>,
}

impl Modules {
    /// The modules of a table.
    pub(super) fn of(table: &Table) -> Self {
        let mut costs: BTreeMap<String, [f64; 2]> = BTreeMap::new();
        for (row, item) in table.items.iter().enumerate() {
            let of_module = costs.entry(item.names[1].clone()).or_default();
            for (side, cost) in of_module.iter_mut().enumerate() {
                *cost += table.cost(side, row);
            }
        }
        Self {
            costs,
            pairs: BTreeMap::new(),
        }
    }

    /// Notes the rows that a pair of folders is about to make one.
    pub(super) fn note(&mut self, table: &Table, folders: usize, pairs: &[(usize, usize)]) {
        for (base, new) in pairs {
            let names = [base, new].map(|row| table.items[*row].names[1].clone());
            if names[0] != names[1] {
                let costs = [table.cost(0, *base), table.cost(1, *new)];
                let of_names = self.pairs.entry(names).or_default();
                of_names.push(Pair { folders, costs });
            }
        }
    }

    /// The modules that are one.
    pub(super) fn renamed(&self) -> Vec<Renamed> {
        let cost = |side: usize, module: &str| self.costs.get(module).map_or(0.0, |of| of[side]);
        let mut found = Vec::new();
        for (names, pairs) in &self.pairs {
            let [base, new] = names;
            let is_alone = |side: usize, module: &str| {
                !module.is_empty() && cost(side, module) != 0.0 && cost(1 - side, module) == 0.0
            };
            let is_most = [(0, base), (1, new)].into_iter().any(|(side, module)| {
                let paired: f64 = pairs.iter().map(|pair| pair.costs[side]).sum();
                paired >= PART * cost(side, module)
            });
            // One module that became two is neither of them.
            let is_only = |side: usize| {
                let others = self.pairs.keys();
                others.filter(|other| other[side] == names[side]).count() == 1
            };
            if is_alone(0, base) && is_alone(1, new) && is_most && is_only(0) && is_only(1) {
                let mut functions = BTreeMap::new();
                for pair in pairs {
                    *functions.entry(pair.folders).or_default() += 1;
                }
                found.push(Renamed {
                    names: names.clone(),
                    functions,
                });
            }
        }
        found
    }
}
