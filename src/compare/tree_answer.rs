//! A union tree as answers: place by place, and the places that have changed most.

use std::collections::{BTreeMap, BTreeSet};

use super::answer::{heading, with_measures};
use super::judge::Verdict;
use super::rows::Comparison;
use super::tree::Place;
use super::trees::PlaceItem;
use crate::report::header::{Kind, Meaning};
use crate::report::several::{
    ALL, BY_NAME, ColumnOf, PEOPLE, PROGRAMS, column, optional, shows, text, values, whole,
};
use crate::report::{self, Answer, Value, label_among};
use crate::store::Database;
use profdb_statistics::change;

/// Which places are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum View {
    /// All that either side has.
    #[default]
    All,
    /// Those that only new has.
    New,
    /// Those that only base has.
    Gone,
}

/// What of a union tree is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Shown {
    /// Which places. In the views of one side, what leads to them is shown, too.
    pub view: View,
    /// Levels.
    pub depth: Option<u64>,
    /// Percentage of the larger total below which places are left out.
    pub min_pct: Option<f64>,
    /// Own costs are compared, not those with everything below.
    pub exclusive: bool,
    /// Only so many rows.
    pub first: Option<usize>,
}

/// A place, and what it is shown with.
struct Told<'c> {
    place: &'c Place,
    item: &'c PlaceItem,
    /// The costs that were asked for.
    costs: [f64; 2],
    /// Names on the way to it, with places.
    path: String,
    /// True if a line above the table states that there are too few runs.
    has_few_runs: bool,
}

impl Told<'_> {
    fn delta(&self) -> f64 {
        change(self.costs[0], self.costs[1])
    }

    /// Returns the verdict, unless the line above the table states it.
    fn shown_verdict(&self) -> Option<&'static str> {
        let verdict = self
            .item
            .verdict
            .filter(|verdict| is_shown(*verdict, self.has_few_runs));
        verdict.map(Verdict::name)
    }
}

/// Returns the sides that have a place. A cost of 0 is a cost.
fn status(place: &Place) -> &'static str {
    match place.is_in {
        [false, true] => "new",
        [true, false] => "gone",
        _ => "both",
    }
}

fn is_shown(verdict: Verdict, has_few_runs: bool) -> bool {
    !(has_few_runs && verdict == Verdict::Unclear)
}

fn verdict(item: &PlaceItem) -> Value {
    optional(item.verdict.map(Verdict::name))
}

/// Whether a place is shown in a view.
fn is_in(view: View, place: &Place) -> bool {
    match view {
        View::All => true,
        View::New => status(place) == "new",
        View::Gone => status(place) == "gone",
    }
}

/// The larger of two costs, without its sign: credits are shares of a total as well.
fn larger([base, new]: [f64; 2]) -> f64 {
    base.abs().max(new.abs())
}

/// The places of a view, and those that lead to them.
fn shown(places: &[Place], shown: &Shown) -> Vec<bool> {
    let total = super::tree::total(places);
    let least = shown
        .min_pct
        .map_or(f64::NEG_INFINITY, |percent| percent / 100.0 * larger(total));
    let mut is_shown: Vec<bool> = places
        .iter()
        .map(|place| {
            is_in(shown.view, place)
                && larger(place.all) >= least
                && shown
                    .depth
                    .is_none_or(|depth| u64::from(place.depth) < depth)
        })
        .collect();
    for at in (0..places.len()).rev() {
        if is_shown[at] {
            is_shown[places[at].parent as usize] = true;
        }
    }
    is_shown
}

/// The columns of the costs that were asked for.
fn costs<'d>() -> [ColumnOf<Told<'d>>; 3] {
    [
        shows(
            Meaning::Base,
            column("base", Kind::Cost, ALL, |of: &Told<'d>| {
                Value::Real(of.costs[0])
            }),
        ),
        shows(
            Meaning::New,
            column("new", Kind::Cost, ALL, |of| Value::Real(of.costs[1])),
        ),
        shows(
            Meaning::Delta,
            column("delta", Kind::Cost, ALL, |of| Value::Real(of.delta())),
        ),
    ]
}

/// The columns that tell functions of one name apart.
fn names<'d>() -> [ColumnOf<Told<'d>>; 2] {
    [
        column("module", Kind::Text, PROGRAMS, |of: &Told<'d>| {
            text(&of.item.names[1])
        }),
        column("file", Kind::Text, PROGRAMS, |of| text(&of.item.names[2])),
    ]
}

/// The union tree, parents first. `database` is any of those that were read.
#[must_use]
pub fn tree_answer<'d>(
    database: &'d Database,
    comparison: &Comparison,
    places: &'d [Place],
    items: &'d [PlaceItem],
    rules: Option<&str>,
    asked: Shown,
) -> Answer<'d> {
    let mut columns = vec![
        column("function", Kind::Node, ALL, |of: &Told<'d>| {
            text(&of.item.names[0])
        }),
        column("depth", Kind::Count, PROGRAMS, |of| {
            Value::Integer(of.place.depth.into())
        }),
    ];
    columns.extend(costs());
    columns.extend([
        column("base_exclusive", Kind::Cost, BY_NAME, |of: &Told<'d>| {
            Value::Real(of.place.own[0])
        }),
        column("new_exclusive", Kind::Cost, BY_NAME, |of| {
            Value::Real(of.place.own[1])
        }),
        whole(column("status", Kind::Text, ALL, |of| {
            text(status(of.place))
        })),
        whole(shows(
            Meaning::Verdict,
            column("verdict", Kind::Text, PROGRAMS, |of| verdict(of.item)),
        )),
    ]);
    let has_few_runs = comparison.has_few_runs();
    let mut verdicts = items.iter().filter_map(|item| item.verdict);
    if verdicts.any(|verdict| is_shown(verdict, has_few_runs)) {
        columns.push(whole(shows(
            Meaning::Verdict,
            column("verdict", Kind::Text, PEOPLE, |of: &Told<'d>| {
                optional(of.shown_verdict())
            }),
        )));
    }
    columns.extend(names());
    let is_shown = shown(places, &asked);
    let mut answer = report::compared_one_by_one(
        database,
        heading("diff_tree", comparison, rules),
        with_measures(comparison, &columns),
        move |give| {
            let rows = places
                .iter()
                .zip(&is_shown)
                .filter(|(_, is_shown)| **is_shown);
            for (place, _) in rows.take(asked.first.unwrap_or(usize::MAX)) {
                let told = Told {
                    place,
                    item: &items[place.item as usize],
                    costs: if asked.exclusive {
                        place.own
                    } else {
                        place.all
                    },
                    path: String::new(),
                    has_few_runs,
                };
                let is_wanted = give(&values(&columns, &told));
                if !is_wanted {
                    return;
                }
            }
        },
    );
    answer.namesakes = all_names(items);
    answer
}

/// Places with the way to each, those first that have changed most by themselves.
#[must_use]
pub fn paths_answer<'d>(
    database: &'d Database,
    comparison: &Comparison,
    places: &'d [Place],
    items: &'d [PlaceItem],
    rules: Option<&str>,
    asked: Shown,
) -> Answer<'d> {
    let mut columns: Vec<ColumnOf<Told<'d>>> = costs().into();
    columns.extend([
        whole(column("status", Kind::Text, ALL, |of: &Told<'d>| {
            text(status(of.place))
        })),
        column("path", Kind::Text, ALL, |of| text(&of.path)),
        column("function", Kind::Name, PROGRAMS, |of| {
            text(&of.item.names[0])
        }),
        whole(column("verdict", Kind::Text, PROGRAMS, |of| {
            verdict(of.item)
        })),
    ]);
    columns.extend(names());
    let has_few_runs = comparison.has_few_runs();
    let total = super::tree::total(places);
    let least = asked
        .min_pct
        .map_or(f64::NEG_INFINITY, |percent| percent / 100.0 * larger(total));
    let mut chosen: Vec<usize> = (0..places.len())
        .filter(|at| {
            let place = &places[*at];
            place.own.iter().any(|cost| *cost != 0.0)
                && larger(place.own) >= least
                && is_in(asked.view, place)
        })
        .collect();
    let size = |at: usize| change(places[at].own[0], places[at].own[1]).abs();
    chosen.sort_by(|one, other| size(*other).total_cmp(&size(*one)).then(one.cmp(other)));
    chosen.truncate(asked.first.unwrap_or(usize::MAX));
    let labels = labels(items);
    report::compared_one_by_one(
        database,
        heading("diff_paths", comparison, rules),
        with_measures(comparison, &columns),
        move |give| {
            for at in &chosen {
                let place = &places[*at];
                let told = Told {
                    place,
                    item: &items[place.item as usize],
                    costs: place.own,
                    path: way(places, &labels, *at),
                    has_few_runs,
                };
                let is_wanted = give(&values(&columns, &told));
                if !is_wanted {
                    return;
                }
            }
        },
    )
}

/// Returns the names on the way to a place, from the root on.
fn way(places: &[Place], labels: &[String], at: usize) -> String {
    let mut names = Vec::new();
    let mut at = at;
    loop {
        let place = &places[at];
        names.push(labels[place.item as usize].as_str());
        if place.depth == 0 {
            break;
        }
        at = place.parent as usize;
    }
    names.reverse();
    names.join(" > ")
}

/// Returns the names of items, with the places that tell functions of one name apart.
fn labels(items: &[PlaceItem]) -> Vec<String> {
    let mut groups: BTreeMap<&str, BTreeSet<&[String; 3]>> = BTreeMap::new();
    for item in items.iter().filter(|item| !item.kind.is_container()) {
        groups
            .entry(&item.names[0])
            .or_default()
            .insert(&item.names);
    }
    let label = |item: &PlaceItem| {
        let group = groups
            .get(item.names[0].as_str())
            .filter(|_| !item.kind.is_container());
        match group {
            Some(group) => label_among(&item.names, group.iter().copied()),
            None => item.names[0].clone(),
        }
    };
    items.iter().map(label).collect()
}

/// Returns name, module and file of all items.
fn all_names(items: &[PlaceItem]) -> Vec<[String; 3]> {
    items.iter().map(|item| item.names.clone()).collect()
}
