//! Folders, programs and modules that the user declares equal: `--root BASE=NEW`.

use std::collections::{BTreeMap, BTreeSet};

use super::modules::Modules;
use super::pairs::{Folders, Within, basename, joined, with_modules};
use super::rule_line::{listed, rule};
use super::table::Table;

/// Rules for files that are said.
const MOST_RULES: usize = 3;

/// Pairs functions whose sources lie below folders that the user has named, or whose programs or modules are called so.
pub(super) fn by_roots(
    table: &mut Table,
    roots: &[(String, String)],
    warnings: &mut Vec<String>,
) -> Vec<Folders> {
    let mut found = Vec::new();
    for (base, new) in roots {
        let module = |path: &str| {
            let name = basename(path);
            name.strip_suffix(".exe").unwrap_or(name).to_owned()
        };
        let mut modules = Modules::of(table);
        let folder = joined(table, Within::Folder, base, new, Some((&mut modules, 0)));
        let mut of_root = with_modules(table, vec![folder], &modules);
        let (old, other) = (module(base), module(new));
        let are_modules =
            old != other && has_module(table, 0, &old) && has_module(table, 1, &other);
        if are_modules {
            of_root.push(joined(table, Within::Module, &old, &other, None));
        }
        if of_root.iter().all(|one| one.functions == 0) {
            let reason = if are_modules {
                of_root.retain(|one| one.part == Within::Module);
                of_module(table, &old, &other)
            } else {
                "no function that only base has there matches a function of new".to_owned()
            };
            warnings.push(format!("--root {base}={new}: 0 functions: {reason}"));
        } else {
            of_root.retain(|one| one.functions > 0);
        }
        found.extend(of_root);
    }
    found
}

/// Whether a function of a side lies in a module.
fn has_module(table: &Table, side: usize, module: &str) -> bool {
    let mut rows = table.items.iter().enumerate();
    !module.is_empty()
        && rows.any(|(row, item)| item.names[1] == module && table.cost(side, row) != 0.0)
}

/// Why two modules have no function in common, and the rules that make them one.
fn of_module(table: &Table, base: &str, new: &str) -> String {
    let mut of_new: BTreeMap<&str, &str> = BTreeMap::new();
    for item in table.items.iter().filter(|item| item.names[1] == new) {
        of_new.insert(&item.names[0], &item.names[2]);
    }
    let of_base = table.items.iter().filter(|item| item.names[1] == base);
    let files: BTreeSet<(&str, &str)> = of_base
        .filter_map(|item| Some((item.names[2].as_str(), *of_new.get(item.names[0].as_str())?)))
        .filter(|(file, its)| file != its)
        .collect();
    if files.is_empty() {
        return format!("{base} and {new} have no function with equal name and file");
    }
    let of_files = files.iter().take(MOST_RULES);
    let rules = of_files.filter_map(|(file, its)| rule("file", file, its));
    let rules: Vec<String> = rule("module", base, new).into_iter().chain(rules).collect();
    format!(
        "the functions of {base} lie in other files than those of {new}; {}",
        listed(&rules)
    )
}
