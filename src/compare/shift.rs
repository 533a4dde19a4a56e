//! Cost that has moved: a function was inlined, outlined, renamed, moved or split, and what it cost is counted elsewhere.
//!
//! A change of one function is no change of the program if others of the opposite sign make up for it. Only such are looked at
//! that have changed themselves and are related: a caller or a callee, where one of the two is new or gone; or one new and one
//! gone, with the same callers, or, where callers are unknown, with the same name. Domains (a module, all that `main` calls) are no
//! evidence: unrelated changes cancel in them (docs/comparing.md has the rates).

use std::collections::BTreeSet;

use super::judge::{Judgement, Limits, Verdict};
use super::table::Table;
use profdb_statistics::limits::are_equal_within;

/// Most counterparts of a function.
const MOST: usize = 3;

/// How much of a change may be left where it is called none.
const LEFT: f64 = 0.2;

/// A function whose cost has moved, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shift {
    /// The row.
    pub item: usize,
    /// The rows that together with it cost the same.
    pub counterparts: Vec<usize>,
    /// A word for it: `inlined`, `outlined`, `renamed`, `moved`, `split`, `joined`.
    pub how: &'static str,
}

/// The rows that have changed; none where so many have that nothing is told from chance any more.
pub(super) fn changed(judged: &[Judgement]) -> Vec<usize> {
    let rows = 0..judged.len();
    let changed: Vec<usize> = rows
        .filter(|row| judged[*row].verdict.is_some_and(Verdict::is_change))
        .collect();
    if changed.len() > MOST_CHANGED {
        Vec::new()
    } else {
        changed
    }
}

/// The rows whose cost has moved, of those that have changed; `called_by` says who called each of them. Each row is the
/// counterpart of one other only.
pub(super) fn shifts(
    table: &Table,
    judged: &[Judgement],
    limits: &Limits,
    changed: &[usize],
    called_by: &[BTreeSet<usize>],
) -> Vec<Shift> {
    let delta = |item: usize| mean_cost(table, 1, item) - mean_cost(table, 0, item);
    // A function that was inlined may be listed with a cost of 0.
    let is_one_sided = |item: usize| judged[item].seen.contains(&0);
    let mut order: Vec<usize> = (0..changed.len()).collect();
    order.sort_by(|one, other| {
        let size = |at: &usize| delta(changed[*at]).abs();
        size(other).total_cmp(&size(one)).then(one.cmp(other))
    });
    let mut used = BTreeSet::new();
    let mut found = Vec::new();
    for at in order {
        let item = changed[at];
        if used.contains(&item) || !table.items[item].is_named {
            continue;
        }
        let is_related = |other: usize| -> bool {
            let (of_item, of_other) = (&called_by[at], &called_by[other]);
            let that = changed[other];
            let calls = of_item.contains(&that) || of_other.contains(&item);
            let one_for_other = matches!(
                (judged[item].verdict, judged[that].verdict),
                (Some(Verdict::New), Some(Verdict::Gone))
                    | (Some(Verdict::Gone), Some(Verdict::New))
            );
            // Where nothing is known of callers, only the name says that they are one.
            let is_alike = of_item == of_other
                && (!of_item.is_empty()
                    || table.items[item].names[0] == table.items[that].names[0]);
            (calls && (is_one_sided(item) || is_one_sided(that))) || (one_for_other && is_alike)
        };
        let mut counterparts: Vec<usize> = (0..changed.len())
            .filter(|other| {
                let that = changed[*other];
                that != item
                    && !used.contains(&that)
                    && table.items[that].is_named
                    && delta(that) * delta(item) < 0.0
                    && is_related(*other)
            })
            .map(|other| changed[other])
            .collect();
        let distance = |that: &usize| (delta(*that).abs() - delta(item).abs()).abs();
        counterparts.sort_by(|one, other| {
            distance(one)
                .total_cmp(&distance(other))
                .then(one.cmp(other))
        });
        let together = (1..=counterparts.len().min(MOST)).find(|count| {
            let rows: Vec<usize> = counterparts[..*count]
                .iter()
                .copied()
                .chain([item])
                .collect();
            is_unchanged(table, &rows, LEFT * delta(item).abs(), limits)
        });
        if let Some(count) = together {
            counterparts.truncate(count);
            let how = how(table, judged, item, &counterparts);
            used.insert(item);
            used.extend(counterparts.iter().copied());
            found.push(Shift {
                item,
                counterparts,
                how,
            });
        }
    }
    found
}

/// Changed functions above which shifts are not looked for.
const MOST_CHANGED: usize = 1000;

/// On which side a function has costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    /// In base only.
    Gone,
    /// In new only.
    New,
    /// In both.
    Both,
}

/// A word for what happened to a function that together with others costs the same. `is_named_alike` is whether one is called as the
/// other where there are two.
pub(crate) fn word(one: Presence, others: &[Presence], is_named_alike: bool) -> &'static str {
    use Presence::{Gone, New};
    let all_are = |presence| others.iter().all(|other| *other == presence);
    let any_is = |presence| one == presence || others.contains(&presence);
    match (one, others) {
        (Gone, [New]) | (New, [Gone]) if is_named_alike => "moved",
        (Gone, [New]) | (New, [Gone]) => "renamed",
        // What one function did, several new ones do, or the other way round: none of them was inlined.
        (Gone, _) if all_are(New) => "split",
        (New, _) if all_are(Gone) => "joined",
        _ if any_is(Gone) => "inlined",
        _ if any_is(New) => "outlined",
        _ => "moved",
    }
}

/// What is said of a function that together with others costs the same.
pub(crate) fn together(how: &str, others: &[&str]) -> String {
    format!(
        "{how}: together with {} its cost is unchanged",
        others.join(", ")
    )
}

/// A word for what happened to an item.
fn how(table: &Table, judged: &[Judgement], item: usize, counterparts: &[usize]) -> &'static str {
    let presence = |row: usize| match judged[row].verdict {
        Some(Verdict::Gone) => Presence::Gone,
        Some(Verdict::New) => Presence::New,
        _ => Presence::Both,
    };
    let others: Vec<Presence> = counterparts.iter().map(|row| presence(*row)).collect();
    let [name, ..] = &table.items[item].names;
    let is_named_alike = counterparts
        .iter()
        .all(|row| table.items[*row].names[0] == *name);
    word(presence(item), &others, is_named_alike)
}

/// What an item costs in a run of a side, on average.
fn mean_cost(table: &Table, side: usize, item: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a number of runs")]
    let runs = table.runs(side) as f64;
    table.cost(side, item) / runs
}

/// Whether rows together cost the same on both sides, up to `most` in the unit of the metric.
fn is_unchanged(table: &Table, rows: &[usize], most: f64, limits: &Limits) -> bool {
    let sums = |side: usize| -> Vec<f64> {
        table.columns[side]
            .iter()
            .map(|column| rows.iter().map(|row| column.costs[*row]).sum())
            .collect()
    };
    are_equal_within(&sums(0), &sums(1), most, limits.alpha)
}
