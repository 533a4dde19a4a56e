//! Answers to the questions of docs/questions.md, computed from places of the tree
//! ([`crate::support::places`]).

#![expect(
    clippy::type_complexity,
    reason = "rows and keys of answers, each used once"
)]

use std::collections::{BTreeMap, BTreeSet};

use crate::support::places::{Cell, Function, Places, Run, Total, sum};

fn text(text: &str) -> Cell {
    Cell::Text(text.to_owned())
}

fn known(number: Option<f64>) -> Cell {
    number.map_or(Cell::Unknown, Cell::Number)
}

#[expect(clippy::cast_precision_loss, reason = "counts of small trees")]
fn count(number: usize) -> Cell {
    Cell::Number(number as f64)
}

type Rows = Vec<Vec<Cell>>;

/// How an answer is ordered, the greatest first, and cut.
#[derive(Clone, Copy, Default)]
pub(crate) struct Order {
    /// What of a row it is ordered by.
    pub by: Option<fn(&[Cell]) -> Cell>,
    /// The most rows.
    pub limit: Option<usize>,
}

fn last(row: &[Cell]) -> Cell {
    row.last().expect("a column").clone()
}

fn second(row: &[Cell]) -> Cell {
    row[1].clone()
}

const ANY: Order = Order {
    by: None,
    limit: None,
};
const BY_LAST: Order = Order {
    by: Some(last),
    limit: None,
};
const TEN_BY_LAST: Order = Order {
    by: Some(last),
    limit: Some(10),
};
const TEN_BY_SECOND: Order = Order {
    by: Some(second),
    limit: Some(10),
};

/// The names that statements have, and what is put in their place.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    metric: String,
    other_metric: String,
    function: String,
    other_function: String,
    module: String,
    key: String,
    node: i64,
}

impl Default for Names {
    fn default() -> Self {
        Self {
            metric: "time".to_owned(),
            other_metric: "alloc".to_owned(),
            function: "parse".to_owned(),
            other_function: "copy".to_owned(),
            module: "app".to_owned(),
            key: "worker".to_owned(),
            node: 3,
        }
    }
}

impl Names {
    /// Names of a recording, of several of its functions.
    pub(crate) fn of(places: &Places) -> Vec<Self> {
        let run = places.run(1);
        let metrics = &places.metrics[&1];
        let totals = run.functions();
        let mut functions: Vec<_> = totals.iter().collect();
        functions.sort_by_key(|(function, at)| (std::cmp::Reverse(at.len()), **function));
        let key = run
            .places
            .iter()
            .flat_map(|place| &place.labels)
            .flat_map(|(_, set, _)| set)
            .next();
        let hottest = run.calls().max_by(|one, other| {
            run.exclusive(*one, &metrics[0].0)
                .total_cmp(&run.exclusive(*other, &metrics[0].0))
        });
        let others = functions.iter().rev().cycle();
        let name = |function: i64| run.name(function).to_owned();
        let of = |((function, _), (other, _)): (&(&i64, &Vec<usize>), &(&i64, &Vec<usize>))| Self {
            metric: metrics[0].0.clone(),
            other_metric: metrics.get(1).unwrap_or(&metrics[0]).0.clone(),
            function: name(**function),
            other_function: name(**other),
            module: places.functions[*function].module.clone(),
            key: key.map_or_else(|| "worker".to_owned(), |(key, _)| key.clone()),
            node: run.places[hottest.expect("a place")].node,
        };
        functions.iter().take(4).zip(others).map(of).collect()
    }

    pub(crate) fn put_into(&self, sql: &str) -> String {
        let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
        [
            ("'time'", quoted(&self.metric)),
            ("'alloc'", quoted(&self.other_metric)),
            ("'parse'", quoted(&self.function)),
            ("'copy'", quoted(&self.other_function)),
            ("'app'", quoted(&self.module)),
            ("'worker'", quoted(&self.key)),
            ("node_id = 3 ", format!("node_id = {} ", self.node)),
        ]
        .into_iter()
        .fold(sql.to_owned(), |sql, (from, to)| sql.replace(from, &to))
    }
}

/// Numbers added up by names.
#[derive(Default)]
struct Sums(BTreeMap<Vec<String>, f64>);

impl Sums {
    fn add(&mut self, names: &[&str], number: f64) {
        let names = names.iter().map(|&name| name.to_owned()).collect();
        *self.0.entry(names).or_default() += number;
    }

    fn rows(self) -> Rows {
        let row = |(names, number): (Vec<String>, f64)| {
            names
                .into_iter()
                .map(Cell::Text)
                .chain([Cell::Number(number)])
                .collect()
        };
        self.0.into_iter().map(row).collect()
    }
}

/// Functions with their exclusive cost and the running sum of percentages, the most expensive
/// first, ties by name as the view has them.
fn ranked(run: Run<'_>, metric: &str) -> Vec<(i64, f64)> {
    let mut ranked: Vec<_> = run
        .totals(metric)
        .into_iter()
        .map(|(function, total)| (function, total.exclusive))
        .collect();
    let key = |function: i64| {
        let Function {
            name, module, file, ..
        } = &run.all.functions[&function];
        (name, module, file, function)
    };
    ranked.sort_by(|one, other| {
        other
            .1
            .total_cmp(&one.1)
            .then_with(|| key(one.0).cmp(&key(other.0)))
    });
    ranked
}

/// The rows that answer a question of the page, and how they are ordered; `None` for a question
/// that is unknown here.
#[expect(clippy::too_many_lines, reason = "a table of questions")]
pub(crate) fn answer(places: &Places, names: &Names, question: &str) -> Option<(Rows, Order)> {
    let run = places.run(1);
    let other = places.run(2);
    let (metric, parse) = (names.metric.as_str(), names.function.as_str());
    let totals = run.totals(metric);
    let percent = |cost: f64| {
        let total = run.total(metric);
        if total == 0.0 {
            Cell::Unknown
        } else {
            Cell::Number(100.0 * cost / total)
        }
    };
    let mut sums = Sums::default();
    let answer = match question {
        "Which functions cost most by themselves?" => {
            let top = ranked(run, metric).into_iter().take(10);
            let rows = top
                .map(|(function, cost)| vec![text(run.name(function)), percent(cost)])
                .collect();
            (rows, ANY)
        }
        "Which functions cost most, including their callees?" => {
            let row = |(function, total): (&i64, &Total)| {
                let cost = total.cumulative;
                vec![text(run.name(*function)), Cell::Number(cost), percent(cost)]
            };
            (totals.iter().map(row).collect(), TEN_BY_SECOND)
        }
        "Which lines of a module are hot?" => {
            let mut lines: BTreeMap<_, f64> = BTreeMap::new();
            for (at, place) in run.places.iter().enumerate() {
                if let Some(line) = &place.line
                    && run.function(at).module == names.module
                {
                    *lines.entry((place.function, line)).or_default() += run.exclusive(at, metric);
                }
            }
            #[expect(clippy::cast_precision_loss, reason = "lines of small files")]
            let row = |((function, (_, line, _)), cost): ((i64, &(String, i64, i64)), f64)| {
                vec![
                    text(run.name(function)),
                    Cell::Number(*line as f64),
                    Cell::Number(cost),
                ]
            };
            (lines.into_iter().map(row).collect(), TEN_BY_LAST)
        }
        "What does each module cost?" => {
            for (function, total) in &totals {
                sums.add(&[&places.functions[function].module], total.exclusive);
            }
            (sums.rows(), BY_LAST)
        }
        "How many functions make up 80 % of the cost?" => {
            let total = run.total(metric);
            let mut done = 0.0;
            let ranked = ranked(run, metric);
            let enough = ranked.iter().position(|(_, cost)| {
                done += 100.0 * cost / total;
                // As SQL adds up, of percentages; a total of 0 gives none.
                done >= 80.0
            });
            (
                vec![vec![enough.map_or(Cell::Unknown, |at| count(at + 1))]],
                ANY,
            )
        }
        "Which functions are called most, and what does a call cost?" => {
            let row = |(function, total): (&i64, &Total)| {
                let calls = total.calls.filter(|calls| *calls != 0.0);
                let average = calls.map(|calls| total.cumulative / calls);
                vec![
                    text(run.name(*function)),
                    known(total.calls),
                    known(average),
                ]
            };
            (totals.iter().map(row).collect(), TEN_BY_SECOND)
        }
        "What allocates, but takes no time?" => {
            let allocated = run.totals(&names.other_metric);
            let only = |function: &&i64| {
                allocated[*function].exclusive > 0.0 && totals[*function].exclusive == 0.0
            };
            let rows = totals
                .keys()
                .filter(only)
                .map(|function| vec![text(run.name(*function))]);
            (rows.collect(), ANY)
        }
        "Which functions call it most?" | "What does it cost for each caller?" => {
            let row = |((_, caller), at): ((i64, Option<i64>), Vec<usize>)| {
                let caller = caller.map_or(Cell::Unknown, |caller| text(run.name(caller)));
                let figure = if question == "Which functions call it most?" {
                    known(sum(at.iter().map(|at| run.places[*at].calls)))
                } else {
                    Cell::Number(run.outermost(&at, metric))
                };
                vec![caller, figure]
            };
            let pairs = run
                .pairs()
                .into_iter()
                .filter(|((callee, _), _)| run.name(*callee) == parse);
            (pairs.map(row).collect(), BY_LAST)
        }
        "From which lines is it called?" => {
            let mut found: BTreeMap<_, Vec<usize>> = BTreeMap::new();
            for at in run
                .named(parse)
                .filter(|at| !run.function(*at).is_container())
            {
                let caller = run.caller(at);
                let line = caller.and_then(|_| {
                    let above = &run.places[run.places[at].parent.expect("what called")];
                    above.line.as_ref().map(|(_, line, col)| (*line, *col))
                });
                let caller = caller.map(|caller| run.places[caller].function);
                found
                    .entry((run.places[at].function, caller, line))
                    .or_default()
                    .push(at);
            }
            #[expect(clippy::cast_precision_loss, reason = "lines of small files")]
            let row =
                |((_, caller, line), at): ((i64, Option<i64>, Option<(i64, i64)>), Vec<usize>)| {
                    vec![
                        caller.map_or(Cell::Unknown, |caller| text(run.name(caller))),
                        line.map_or(Cell::Unknown, |(line, _)| Cell::Number(line as f64)),
                        Cell::Number(run.outermost(&at, metric)),
                    ]
                };
            (found.into_iter().map(row).collect(), BY_LAST)
        }
        "Which functions does it call, and what do they cost?" => {
            let mut rows = Rows::new();
            for ((callee, caller), at) in run.pairs() {
                let Some(caller) = caller.filter(|caller| run.name(*caller) == parse) else {
                    continue;
                };
                // On each path the pair counts once, at the outer call.
                let is_pair = |at: &usize| {
                    run.places[*at].function == callee
                        && run
                            .caller(*at)
                            .is_some_and(|above| run.places[above].function == caller)
                };
                let outer = at
                    .iter()
                    .filter(|at| !run.callers(**at).any(|above| is_pair(&above)));
                let cost = outer.map(|at| run.cumulative(*at, metric)).sum();
                rows.push(vec![text(run.name(callee)), Cell::Number(cost)]);
            }
            (rows, BY_LAST)
        }
        "What runs below it, at any depth?" => {
            for top in run.named(parse).filter(|top| run.is_outermost(*top)) {
                for at in run.below(top) {
                    sums.add(&[&run.function(at).name], run.exclusive(at, metric));
                }
            }
            (sums.rows(), TEN_BY_LAST)
        }
        "Which functions below it cost most, including their callees?" => {
            for top in run.named(parse).filter(|top| run.is_outermost(*top)) {
                let within = |at: usize| run.callers(at).take_while(move |above| *above >= top);
                let is_function =
                    |at: usize, of: usize| run.places[at].function == run.places[of].function;
                for at in run.below(top) {
                    if !within(at).any(|above| is_function(above, at)) {
                        sums.add(&[&run.function(at).name], run.cumulative(at, metric));
                    }
                }
            }
            (sums.rows(), TEN_BY_LAST)
        }
        "Which share of it is copying?" => {
            let (mut part, mut all) = (0.0, 0.0);
            for top in run.named(parse).filter(|top| run.is_outermost(*top)) {
                for at in run.below(top) {
                    let cost = run.exclusive(at, metric);
                    all += cost;
                    part += if run.function(at).name == names.other_function {
                        cost
                    } else {
                        0.0
                    };
                }
            }
            (
                vec![vec![known((all != 0.0).then(|| 100.0 * part / all))]],
                ANY,
            )
        }
        "Which functions lead to it, at any depth, and to which part of its exclusive cost?" => {
            for at in run.named(parse) {
                for ancestor in run.ancestors(at) {
                    sums.add(&[run.name(ancestor)], run.exclusive(at, metric));
                }
            }
            (sums.rows(), TEN_BY_LAST)
        }
        "At which nodes of the tree is it hot?" => {
            #[expect(clippy::cast_precision_loss, reason = "nodes of small trees")]
            let row = |at: usize| {
                let node = Cell::Number(run.places[at].node as f64);
                vec![node, Cell::Number(run.exclusive(at, metric))]
            };
            (run.named(parse).map(row).collect(), TEN_BY_LAST)
        }
        "Which path leads to such a node?" => {
            let at = run.calls().find(|at| run.places[*at].node == names.node);
            let path = at.into_iter().flat_map(|at| run.callers(at));
            (
                path.map(|at| vec![text(&run.function(at).name)]).collect(),
                ANY,
            )
        }
        "How deep do functions recurse?" => {
            let mut rows = Rows::new();
            for (function, at) in run.functions() {
                let open = |at: &usize| {
                    1 + run
                        .callers(*at)
                        .filter(|above| run.places[*above].function == function)
                        .count()
                };
                let levels = at.iter().map(open).max().unwrap_or_default();
                if levels > 1 {
                    rows.push(vec![text(run.name(function)), count(levels)]);
                }
            }
            (rows, BY_LAST)
        }
        "What does each thread cost?" => {
            for at in run.calls().filter(|at| run.function(*at).kind == "thread") {
                sums.add(&[&run.function(at).name], run.cumulative(at, metric));
            }
            (sums.rows(), BY_LAST)
        }
        "What do threads spend it on?" => {
            let threads = run.calls().filter(|at| run.function(*at).kind == "thread");
            for top in threads.filter(|top| run.is_outermost(*top)) {
                for at in run.below(top) {
                    sums.add(
                        &[&run.function(top).name, &run.function(at).name],
                        run.exclusive(at, metric),
                    );
                }
            }
            (sums.rows(), TEN_BY_LAST)
        }
        "On which threads does a function run?" => {
            for at in run.named(parse) {
                for above in run
                    .callers(at)
                    .filter(|above| run.function(*above).kind == "thread")
                {
                    sums.add(&[&run.function(above).name], run.exclusive(at, metric));
                }
            }
            (sums.rows(), ANY)
        }
        "Which functions cost how much for which label?" => {
            let mut found: BTreeMap<(&str, i64), f64> = BTreeMap::new();
            for at in run.calls() {
                for (_, set, cost) in run.places[at].labels.iter().filter(|(of, ..)| of == metric) {
                    for (_, value) in set.iter().filter(|(key, _)| *key == names.key) {
                        *found.entry((value, run.places[at].function)).or_default() += cost;
                    }
                }
            }
            let row = |((value, function), cost): ((&str, i64), f64)| {
                let number = value.strip_suffix(" (number)");
                let number = number.map(|number| Cell::Number(number.parse().expect("a number")));
                vec![
                    number.unwrap_or_else(|| text(value)),
                    text(run.name(function)),
                    Cell::Number(cost),
                ]
            };
            (found.into_iter().map(row).collect(), TEN_BY_LAST)
        }
        "What became slower?" => (
            changes(places, metric, |identity, delta, _| {
                Some((vec![text(&identity.1)], delta))
            }),
            TEN_BY_LAST,
        ),
        "What is new, and what is gone?" => {
            let rows = changes(places, metric, |identity, _, status| {
                (status != "both").then(|| (vec![text(status), text(&identity.1)], 0.0))
            });
            let rows = rows.into_iter().map(|mut row| {
                row.pop();
                row
            });
            (rows.collect(), ANY)
        }
        "Which modules have changed?" => {
            for row in changes(places, metric, |identity, delta, _| {
                Some((vec![text(&identity.2)], delta))
            }) {
                if let [Cell::Text(module), Cell::Number(delta)] = row.as_slice() {
                    sums.add(&[module], *delta);
                }
            }
            (sums.rows(), ANY)
        }
        "What do two runs share?" => {
            let (before, after) = (places.run(1), places.run(2));
            let mut rows = Rows::new();
            if before.measures(metric) && after.measures(metric) {
                let after = with_all(after, metric);
                for (identity, cost) in with_all(before, metric) {
                    if let Some(other) = after.get(identity) {
                        rows.push(vec![text(&identity.1), cost, other.clone()]);
                    }
                }
            }
            (rows, ANY)
        }
        "How have calls changed?" => {
            let mut found: BTreeMap<(&str, Option<&str>), [f64; 2]> = BTreeMap::new();
            for (which, run) in [run, other].into_iter().enumerate() {
                if !run.measures(metric) {
                    continue;
                }
                for ((callee, caller), at) in run.pairs() {
                    let pair = (run.name(callee), caller.map(|caller| run.name(caller)));
                    found.entry(pair).or_default()[which] += run.outermost(&at, metric);
                }
            }
            let row = |((callee, caller), costs): ((&str, Option<&str>), [f64; 2])| {
                let names = [text(callee), caller.map_or(Cell::Unknown, text)];
                [names.to_vec(), costs.map(Cell::Number).to_vec()].concat()
            };
            (found.into_iter().map(row).collect(), ANY)
        }
        "What did it cost from run to run?" => {
            let rows = history(places, metric)
                .into_iter()
                .filter(|(_, identity, _)| identity.1 == names.function);
            (
                rows.map(|(run, _, cost)| vec![Cell::Number(run), Cell::Number(cost)])
                    .collect(),
                ANY,
            )
        }
        "In which run was it most expensive?" => {
            let rows = history(places, metric)
                .into_iter()
                .filter(|(_, identity, _)| identity.1 == names.function);
            let order = Order {
                by: Some(last),
                limit: Some(1),
            };
            (
                rows.map(|(run, _, cost)| vec![Cell::Number(run), Cell::Number(cost)])
                    .collect(),
                order,
            )
        }
        "Which functions differ most between runs?" => {
            let mut costs: BTreeMap<&Identity, Vec<f64>> = BTreeMap::new();
            for (_, identity, cost) in history(places, metric) {
                costs.entry(identity).or_default().push(cost);
            }
            let runs = [1, 2].map(|run| places.run(run).measures(metric));
            let runs = runs.into_iter().filter(|measures| *measures).count();
            let row = |(identity, costs): (&Identity, Vec<f64>)| {
                let most = costs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
                // A run without the function is one in which it cost nothing.
                let least = if costs.len() < runs { 0.0 } else { least };
                vec![text(&identity.1), Cell::Number(most - least)]
            };
            (costs.into_iter().map(row).collect(), TEN_BY_LAST)
        }
        _ => return None,
    };
    Some(answer)
}

/// A number, name and module.
type Identity = (i64, String, String);

/// What each identity costs itself in a run that measures a metric.
fn own<'p>(run: Run<'p>, metric: &str) -> BTreeMap<&'p Identity, f64> {
    let mut costs = BTreeMap::new();
    if run.measures(metric) {
        for (function, total) in run.totals_of(metric) {
            *costs
                .entry(&run.all.functions[&function].identity)
                .or_default() += total.exclusive;
        }
    }
    costs
}

/// What each identity costs in a run with all that it called; unknown where several functions are one.
fn with_all<'p>(run: Run<'p>, metric: &str) -> BTreeMap<&'p Identity, Cell> {
    let mut costs = BTreeMap::new();
    for (function, total) in run.totals_of(metric) {
        costs
            .entry(&run.all.functions[&function].identity)
            .and_modify(|cost| *cost = Cell::Unknown)
            .or_insert(Cell::Number(total.cumulative));
    }
    costs
}

/// Rows for the identities of the first two runs, where both measure a metric: what is made of the identity, its change and its
/// status, and then the change.
fn changes(
    places: &Places,
    metric: &str,
    row: impl Fn(&Identity, f64, &'static str) -> Option<(Vec<Cell>, f64)>,
) -> Rows {
    let (base, new) = (places.run(1), places.run(2));
    if !base.measures(metric) || !new.measures(metric) {
        return Rows::new();
    }
    let (before, after) = (own(base, metric), own(new, metric));
    let all: BTreeSet<&Identity> = before.keys().chain(after.keys()).copied().collect();
    all.into_iter()
        .filter_map(|identity| {
            let cost = |side: &BTreeMap<&Identity, f64>| side.get(identity).copied();
            let status = match (cost(&before), cost(&after)) {
                (None, _) => "new",
                (_, None) => "gone",
                _ => "both",
            };
            let delta = cost(&after).unwrap_or_default() - cost(&before).unwrap_or_default();
            let (mut cells, delta) = row(identity, delta, status)?;
            cells.push(Cell::Number(delta));
            Some(cells)
        })
        .collect()
}

/// Number of the run, identity, and what it cost itself.
fn history<'p>(places: &'p Places, metric: &str) -> Vec<(f64, &'p Identity, f64)> {
    let mut rows = Vec::new();
    for number in [1, 2] {
        let costs = own(places.run(number), metric);
        #[expect(clippy::cast_precision_loss, reason = "a number of a run")]
        rows.extend(
            costs
                .into_iter()
                .map(|(identity, cost)| (number as f64, identity, cost)),
        );
    }
    rows
}
