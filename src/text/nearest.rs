//! Names that are most like one that is unknown.

use super::placed::readings;

/// Names that are suggested for one that is unknown.
const SUGGESTIONS: usize = 3;

/// Names that are listed where the unknown one is like none of them.
const NAMES_SHOWN: usize = 10;

/// How alike a name must be to be suggested, from 0 to 1.
const ALIKE: f64 = 0.75;

/// How alike names are that differ by one letter, or by two that have changed places.
const A_SLIP: f64 = 0.97;

/// The shortest name in which that is a slip, and the shortest part of a name that is looked for.
const SHORTEST: usize = 3;

/// How alike a name is to a part of it.
const A_PART: f64 = 0.98;

/// The first of some names, in the order in which they come.
pub(crate) fn some(names: &[String]) -> String {
    let more = if names.len() > NAMES_SHOWN {
        ", …"
    } else {
        ""
    };
    format!("{}{more}", names[..names.len().min(NAMES_SHOWN)].join(", "))
}

/// All of some names, of many those most like the given one, else the first ones.
pub(crate) fn some_or_nearest(name: &str, names: Vec<String>) -> String {
    if names.len() <= NAMES_SHOWN {
        return names.join(", ");
    }
    let first = some(&names);
    let near = nearest(name, names);
    if near.is_empty() {
        first
    } else {
        format!("{}, …", near.join(", "))
    }
}

/// Says which names are most like the given one, if any is. A place after a name is none of what has to be alike.
pub(crate) fn suggestion(introduction: &str, name: &str, names: Vec<String>) -> String {
    let mut near = nearest(name, names.clone());
    if near.is_empty()
        && let Some(bare) = readings(name).into_iter().find_map(|reading| reading.name)
    {
        near = nearest(bare, names);
    }
    if near.is_empty() {
        String::new()
    } else {
        format!("{introduction}{}", near.join(", "))
    }
}

/// How alike two names are, from 0 to 1. Of short names, Jaro and Winkler's measure sees nothing in
/// common where two letters have changed places, which is how most of them are mistyped.
fn likeness(one: &str, other: &str) -> f64 {
    let may_be_a_slip = one.chars().count() >= SHORTEST && one.len().abs_diff(other.len()) <= 4;
    if may_be_a_slip && strsim::osa_distance(one, other) == 1 {
        return A_SLIP;
    }
    strsim::jaro_winkler(one, other)
}

/// The names most like the given one, by whole name or by the part after the last dot; and names that have it in them.
fn nearest(name: &str, names: Vec<String>) -> Vec<String> {
    let wanted = name.to_lowercase();
    let likeness = |candidate: &str| {
        let candidate = candidate.to_lowercase();
        let last = candidate.rsplit('.').next().unwrap_or_default();
        let is_part = wanted.chars().count() >= SHORTEST && candidate.contains(&wanted);
        let part = if is_part { A_PART } else { 0.0 };
        likeness(&wanted, &candidate)
            .max(likeness(&wanted, last))
            .max(part)
    };
    let mut rated: Vec<(f64, String)> = names
        .into_iter()
        .map(|name| (likeness(&name), name))
        .collect();
    rated.retain(|(likeness, _)| *likeness >= ALIKE);
    // Names may be equally alike: short ones have less that was not asked for, and the name itself makes the order total.
    let order = |name: &String| (name.len(), name.clone());
    rated.sort_by(|(a, name_a), (b, name_b)| {
        b.total_cmp(a)
            .then_with(|| order(name_a).cmp(&order(name_b)))
    });
    rated
        .into_iter()
        .take(SUGGESTIONS)
        .map(|(_, name)| name)
        .collect()
}
