//! What the views say of functions and edges, and the same from stacks, by the definitions and
//! without regard to time.

use std::collections::{BTreeMap, BTreeSet};

use profdb::store::Database;

use super::samples_of::rows;

/// By name: exclusive, cumulative, seen.
pub(crate) type Functions = BTreeMap<String, [f64; 3]>;

/// What the views say of the functions in a metric.
pub(crate) fn functions(database: &Database, metric: &str) -> Functions {
    let sql = format!(
        "SELECT function, exclusive, cumulative, seen FROM summary WHERE metric = '{metric}'"
    );
    let found = rows(database, &sql, |row| {
        Ok((row.get(0)?, [row.get(1)?, row.get(2)?, row.get(3)?]))
    });
    let count = found.len();
    let functions: Functions = found.into_iter().collect();
    assert_eq!(functions.len(), count, "one row each");
    functions
}

/// What the views say of callers and callees in a metric: cumulative cost of the pair.
pub(crate) fn edges(database: &Database, metric: &str) -> BTreeMap<(String, String), f64> {
    let sql = format!("SELECT function, callee, cumulative FROM callees WHERE metric = '{metric}'");
    rows(database, &sql, |row| {
        Ok(((row.get(0)?, row.get(1)?), row.get(2)?))
    })
    .into_iter()
    .collect()
}

/// The same from stacks, by the definitions.
pub(crate) fn functions_of(stacks: &[(Vec<String>, f64)]) -> Functions {
    let mut functions = Functions::new();
    for (stack, cost) in stacks {
        let own = stack.last().expect("a frame");
        functions.entry(own.clone()).or_default()[0] += cost;
        for frame in stack {
            functions.entry(frame.clone()).or_default()[2] += cost;
        }
        for frame in stack.iter().collect::<BTreeSet<_>>() {
            functions.entry(frame.clone()).or_default()[1] += cost;
        }
    }
    functions
}

/// The same of callers and callees: each pair once per stack.
pub(crate) fn edges_of(stacks: &[(Vec<String>, f64)]) -> BTreeMap<(String, String), f64> {
    let mut edges = BTreeMap::new();
    for (stack, cost) in stacks {
        for pair in stack.windows(2).collect::<BTreeSet<_>>() {
            *edges.entry((pair[0].clone(), pair[1].clone())).or_default() += cost;
        }
    }
    edges
}
