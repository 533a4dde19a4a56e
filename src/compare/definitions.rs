//! Definitions of one identity, told apart: closures of one function, methods of one name in one file.
//!
//! Which of them is which in another build is known where the text of the line is the same, or where the functions around it
//! have moved by as many lines as it has. By their order or their number they are not told apart: of four closures, of which a
//! sampling sees most, a tenth to a half of such pairs are wrong though nothing was edited. What pairs here is shown below the
//! row of the identity, which alone has a verdict.

use std::collections::{BTreeMap, BTreeSet};

use super::matched::Matched;
use super::metrics::Chosen;
use super::reading::Functions;
use super::run::ComparedRun;
use super::table::Table;
use crate::store::{FunctionDefinition, StoreError};

/// A line and a column of it.
pub type Place = (i64, i64);

/// A definition that both sides have.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// Where it begins, in base and in new.
    pub places: [Place; 2],
    /// How it was found to be one.
    pub matched: Matched,
    /// Its cost in every run of base and of new, in the unit of the metric, before anything is divided.
    pub costs: [Vec<f64>; 2],
}

/// The definitions of some rows which both sides have, in the order of their places in base.
pub(super) fn definitions(
    sides: &[Vec<&ComparedRun<'_>>; 2],
    chosen: &[Vec<Chosen>; 2],
    functions: &Functions<'_>,
    table: &Table,
    rows: &[usize],
    cost: impl Fn(&FunctionDefinition) -> Option<f64>,
) -> Result<BTreeMap<usize, Vec<Definition>>, StoreError> {
    let file = |row: usize| table.items[row].names[2].as_str();
    let of_row = functions.of_each_row(table);
    let wanted: Vec<usize> = rows
        .iter()
        .copied()
        .filter(|row| of_row[*row] > 1 && !file(*row).is_empty())
        .collect();
    let files: BTreeSet<&str> = wanted.iter().map(|row| file(*row)).collect();
    let mut found = BTreeMap::new();
    if files.is_empty() {
        return Ok(found);
    }
    let seen = seen(sides, chosen, functions, table, &files, cost)?;
    let anchors = anchors(table, &seen, &files);
    for row in wanted {
        let (Some([base, new]), Some(anchors)) = (seen.get(&row), anchors.get(file(row))) else {
            continue;
        };
        // What is one definition in every run is the row itself.
        if base.most.max(new.most) < 2 {
            continue;
        }
        let mut pairs = by_text(base, new);
        pairs.extend(by_anchors(base, new, anchors, &pairs));
        pairs.sort_unstable_by_key(|(base, new, _)| (*base, *new));
        let pairs: Vec<Definition> = pairs
            .into_iter()
            .map(|(one, other, matched)| Definition {
                places: [one, other],
                matched,
                costs: [base.costs(one), new.costs(other)],
            })
            .collect();
        if !pairs.is_empty() {
            found.insert(row, pairs);
        }
    }
    Ok(found)
}

/// What the runs of a side say of one row.
#[derive(Default)]
struct Seen {
    places: BTreeMap<Place, At>,
    /// The most places that one run has.
    most: usize,
}

/// What is at a place.
struct At {
    /// Cost in every run of the side.
    costs: Vec<f64>,
    /// The texts that runs have for its line.
    texts: BTreeSet<String>,
}

impl Seen {
    fn costs(&self, place: Place) -> Vec<f64> {
        self.places
            .get(&place)
            .map_or_else(Vec::new, |at| at.costs.clone())
    }
}

/// What both sides say of all rows of some files.
fn seen(
    sides: &[Vec<&ComparedRun<'_>>; 2],
    chosen: &[Vec<Chosen>; 2],
    functions: &Functions<'_>,
    table: &Table,
    files: &BTreeSet<&str>,
    cost: impl Fn(&FunctionDefinition) -> Option<f64>,
) -> Result<BTreeMap<usize, [Seen; 2]>, StoreError> {
    let mut seen: BTreeMap<usize, [Seen; 2]> = BTreeMap::new();
    let is_wanted = |row: usize| files.contains(table.items[row].names[2].as_str());
    for (side, (runs, chosen)) in sides.iter().zip(chosen).enumerate() {
        for (at, (run, chosen)) in runs.iter().zip(chosen).enumerate() {
            let mut of_run: BTreeMap<usize, usize> = BTreeMap::new();
            for (function, row) in functions.of_rows(run.database, table, is_wanted) {
                let metrics = chosen.metrics;
                let known = run.database.function_definition(
                    run.run.run_id,
                    metrics.cost,
                    metrics.calls,
                    function,
                )?;
                let Some(known) = known.filter(|known| known.line > 0) else {
                    continue;
                };
                *of_run.entry(row).or_default() += 1;
                let place = seen.entry(row).or_default()[side]
                    .places
                    .entry((known.line, known.column))
                    .or_insert_with(|| At {
                        costs: vec![0.0; runs.len()],
                        texts: BTreeSet::new(),
                    });
                place.costs[at] += cost(&known).unwrap_or(0.0);
                place.texts.extend(known.text);
            }
            for (row, places) in of_run {
                let most = &mut seen.entry(row).or_default()[side].most;
                *most = places.max(*most);
            }
        }
    }
    Ok(seen)
}

/// Lines of functions that both sides know, in base and in new, which no other function of the file has a name with.
type Anchors = Vec<[i64; 2]>;

/// The anchors of each file, by their lines in base; none of a file of which the runs of a side are of several versions.
fn anchors<'t>(
    table: &'t Table,
    seen: &BTreeMap<usize, [Seen; 2]>,
    files: &BTreeSet<&'t str>,
) -> BTreeMap<&'t str, Anchors> {
    let mut names: BTreeMap<[&str; 2], usize> = BTreeMap::new();
    let key = |row: usize| -> [&'t str; 2] {
        let [name, _, file] = &table.items[row].names;
        [file, name]
    };
    for row in seen.keys() {
        *names.entry(key(*row)).or_default() += 1;
    }
    let mut anchors: BTreeMap<&str, Anchors> =
        files.iter().map(|file| (*file, Anchors::new())).collect();
    let mut moved = BTreeSet::new();
    for (row, sides) in seen {
        let [file, _] = key(*row);
        if sides
            .iter()
            .any(|side| side.most == 1 && side.places.len() > 1)
        {
            moved.insert(file);
        }
        let line = |side: &Seen| {
            let mut lines = side.places.keys().map(|(line, _)| *line);
            lines.next().filter(|_| lines.next().is_none())
        };
        if let ([Some(base), Some(new)], Some(1)) =
            ([line(&sides[0]), line(&sides[1])], names.get(&key(*row)))
        {
            anchors.entry(file).or_default().push([base, new]);
        }
    }
    anchors.retain(|file, _| !moved.contains(file));
    for of_file in anchors.values_mut() {
        of_file.sort_unstable();
    }
    anchors
}

type Pair = (Place, Place, Matched);

/// Definitions whose first lines have one text, which no other of the row has.
fn by_text(base: &Seen, new: &Seen) -> Vec<Pair> {
    let texts = |side: &Seen| -> BTreeMap<String, Vec<Place>> {
        let mut places: BTreeMap<String, Vec<Place>> = BTreeMap::new();
        for (place, at) in &side.places {
            // Of a line with two texts the runs are of two versions.
            if let (1, Some(text)) = (at.texts.len(), at.texts.first()) {
                places.entry(text.clone()).or_default().push(*place);
            }
        }
        places
    };
    let (base, new) = (texts(base), texts(new));
    base.iter()
        .filter_map(
            |(text, places)| match (places.as_slice(), new.get(text)?.as_slice()) {
                ([one], [other]) => Some((*one, *other, Matched::Text)),
                _ => None,
            },
        )
        .collect()
}

/// Definitions that have moved by as many lines as the nearest anchors before and after them.
fn by_anchors(base: &Seen, new: &Seen, anchors: &Anchors, known: &[Pair]) -> Vec<Pair> {
    let moved = |line: i64| -> Option<i64> {
        let at = anchors.partition_point(|[base, _]| *base <= line);
        let ([base, new], [next_base, next_new]) =
            (anchors.get(at.checked_sub(1)?)?, anchors.get(at)?);
        let by = new - base;
        // No other anchor has come between them in new.
        let is_between = |line: i64| (new + 1..*next_new).contains(&line);
        let is_clear = !anchors.iter().any(|[_, line]| is_between(*line));
        (next_new - next_base == by && is_clear).then_some(by)
    };
    let is_free = |side: usize, place: Place| {
        !known
            .iter()
            .any(|(one, other, _)| [*one, *other][side] == place)
    };
    base.places
        .keys()
        .filter(|place| is_free(0, **place))
        .filter_map(|(line, column)| {
            let other = (line + moved(*line)?, *column);
            let is_there = new.places.contains_key(&other) && is_free(1, other);
            is_there.then_some(((*line, *column), other, Matched::Anchored))
        })
        .collect()
}
