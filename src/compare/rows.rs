//! What a comparison tells: its rows, and what they are about.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use super::center::Center;
use super::definitions::{self, Definition};
use super::items::Item;
use super::judge::{FEWEST, Judged, Judgement, Noise, Test, Verdict};
use super::matched::Matched;
use super::pairs::Folders;
use super::prefixes::Prefixes;
use super::renames::Suggestion;
use super::request::{By, Normalize, Request, Sort};
use super::rule_line::listed;
use super::run::ComparedRun;
use super::shift::{Shift, together};
use super::table::{Bounded, Table};
use crate::store::Tag;
use crate::text::number::fixed;
use crate::text::scale::figure;
use profdb_statistics::ranks;
use profdb_statistics::{change, mean};

/// A run that was compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// Its number; `None` for that of a file.
    pub run_id: Option<i64>,
    /// Its title, else the name of its file.
    pub name: String,
    /// Its tags.
    pub tags: Vec<Tag>,
    /// Its total in the unit of the metric, as it is stored.
    pub total: f64,
    /// What its figures were divided by.
    pub factor: f64,
}

/// One of the two sets of runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    /// The runs that were compared: of several with equal figures one, unless the metric is exact.
    pub runs: Vec<Compared>,
    /// How many runs were given.
    pub given: usize,
    /// The part of their cost that lies in functions which both sides have; `None` if nothing cost anything.
    pub matched: Option<f64>,
}

/// A row of a comparison: a function, or the total.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What it is about.
    pub item: Item,
    /// The cost of base and of new in the unit of the metric, each the center of the costs of its runs (center). NaN where only
    /// bounds are known.
    pub costs: [f64; 2],
    /// The least and the most that it costs in base and in new; both are the cost where that is known.
    pub bounds: [(f64, f64); 2],
    /// The smallest and the largest cost in a run, of base and of new.
    pub ranges: [(f64, f64); 2],
    /// Cost in each run of base and of new, in the order of the runs of its side; none where only bounds are known.
    pub each: [Vec<f64>; 2],
    /// Calls in each run of base and of new; NaN where a run does not know. None of the total.
    pub each_calls: [Vec<f64>; 2],
    /// Percentage of the total, in base and in new; `None` where the total is 0 or only bounds of the cost are known.
    pub shares: [Option<f64>; 2],
    /// Calls in a run of base and of new, on average; `None` where a run does not know.
    pub calls: [Option<f64>; 2],
    /// The most functions of one run that are added up in the row.
    pub functions: u32,
    /// What is said of it.
    pub judgement: Judgement,
    /// Why.
    pub reason: String,
    /// Its definitions that both sides have, where it is several functions.
    pub parts: Vec<Part>,
}

/// A definition of a function that has several, which both sides have.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Line and column where it begins, in base and in new.
    pub places: [definitions::Place; 2],
    /// How it was found to be one: text or anchored.
    pub matched: Matched,
    /// Cost in base and in new, as that of the row.
    pub costs: [f64; 2],
    /// In how many runs of base and of new it costs anything.
    pub seen: [usize; 2],
}

impl Part {
    /// Cost of new less that of base.
    #[must_use]
    pub fn delta(&self) -> f64 {
        change(self.costs[0], self.costs[1])
    }
}

impl Row {
    /// Cost of new less that of base.
    #[must_use]
    pub fn delta(&self) -> f64 {
        change(self.costs[0], self.costs[1])
    }
}

/// What changed between two sets of runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Base and new.
    pub sides: [Side; 2],
    /// The metric and its unit; shares of totals are percentages.
    pub metric: (String, String),
    /// The metric of the first run of each side and its unit, as the run has them.
    pub measured: [(String, String); 2],
    /// How its figures were taken to vary.
    pub noise: Noise,
    /// What they were divided by.
    pub normalize: Normalize,
    /// The tag that paired the runs.
    pub paired: Option<String>,
    /// The rows, in the order that was asked for.
    pub rows: Vec<Row>,
    /// Names, modules and files of the functions with the name of a row, shown or not.
    pub namesakes: Vec<[String; 3]>,
    /// Rows there are, shown or not.
    pub functions: usize,
    /// How many of them are slower or new, shown or not.
    pub worse: usize,
    /// Number of functions that were tested together, or compared directly if counts are exact.
    pub tested: usize,
    /// The total.
    pub total: Row,
    /// Folders and modules that were taken for one.
    pub folders: Vec<Folders>,
    /// Functions that may have been renamed, which were not taken for one.
    pub suggestions: Vec<Suggestion>,
    /// Beginnings of names that may be others in new, by which nothing was taken for one.
    pub prefixes: Vec<Prefixes>,
    /// What was asked for.
    pub request: Request,
    /// Earlier runs from which the noise of one run against one was taken.
    pub earlier: usize,
    /// What there is to warn of.
    pub warnings: Vec<String>,
    /// What of it is SQL, for the sqlite3 shell: the figures of every run. What is made of them is not.
    pub script: String,
}

impl Comparison {
    /// Whether functions can have a verdict of change: there are runs enough, or their figures are exact.
    #[must_use]
    pub fn is_judged(&self) -> bool {
        let are_many = |side: &Side| side.runs.len() >= FEWEST;
        self.noise == Noise::Exact || self.earlier > 0 || self.sides.iter().all(are_many)
    }

    /// Returns whether there are too few runs for verdicts on functions that both sides have.
    pub(super) fn has_few_runs(&self) -> bool {
        self.total.reason.starts_with(&few_runs())
    }
}

/// A warning: figures are not what they were said to be.
pub(crate) const EXACT_THAT_DIFFERS: &str =
    "exact figures differ between the runs of one side, so they count as measured";

/// What a comparison has found.
pub(super) struct Findings<'f, 'd> {
    pub(super) table: &'f Table,
    pub(super) judged: Judged,
    pub(super) shifts: Vec<Shift>,
    pub(super) prefixes: Vec<Prefixes>,
    pub(super) suggested: Vec<(usize, usize, Suggestion)>,
    pub(super) bounded: Vec<(Bounded, Vec<Definition>)>,
    pub(super) definitions: BTreeMap<usize, Vec<Definition>>,
    /// Functions that moved: their names in base by those in new.
    pub(super) moved: BTreeMap<[String; 3], [String; 3]>,
    pub(super) sides: &'f [Vec<&'f ComparedRun<'d>>; 2],
    pub(super) given: [usize; 2],
    pub(super) stated: [Vec<f64>; 2],
    pub(super) totals: [Vec<f64>; 2],
    pub(super) logs: Option<Vec<f64>>,
    pub(super) unit: (String, String),
    /// How the figures were said to vary.
    pub(super) noise: Noise,
    pub(super) measured: [(String, String); 2],
    pub(super) folders: Vec<Folders>,
    /// Names, modules and files of functions of the runs, where not all functions are in the table.
    pub(super) learnt: Vec<[String; 3]>,
    pub(super) earlier: usize,
    pub(super) script: String,
    pub(super) warnings: Vec<String>,
    pub(super) request: &'f Request,
}

/// Puts together what there is to tell.
pub(super) fn told(found: Findings<'_, '_>) -> (Comparison, Vec<Option<Verdict>>) {
    let Findings {
        table,
        mut judged,
        shifts,
        suggested,
        prefixes,
        bounded,
        mut definitions,
        moved,
        sides,
        given,
        stated,
        totals,
        logs,
        unit,
        noise,
        measured,
        folders,
        learnt,
        earlier,
        script,
        mut warnings,
        request,
    } = found;
    match noise {
        _ if judged.noise == noise => {}
        Noise::Sampled => warnings
            .push("the number of samples is unknown, so the costs count as measured".to_owned()),
        _ => warnings.push(EXACT_THAT_DIFFERS.to_owned()),
    }
    let mut reasons = vec![String::new(); table.items.len()];
    for Shift {
        item,
        counterparts,
        how,
    } in &shifts
    {
        let all: Vec<usize> = [*item].into_iter().chain(counterparts.clone()).collect();
        for row in &all {
            let others = all.iter().filter(|other| *other != row);
            let names: Vec<&str> = others
                .map(|other| table.items[*other].names[0].as_str())
                .collect();
            reasons[*row] = together(how, &names);
        }
        for row in counterparts.iter().chain([item]) {
            judged.functions[*row].verdict = Some(Verdict::Shifted);
        }
    }
    let center = judged.center.clone();
    let side_total = center.costs(totals.each_ref().map(Vec::as_slice));
    let row_of = |item: Item, figures: [Vec<f64>; 2], judgement: Judgement| {
        let range = |figures: &[f64]| {
            let low = figures.iter().copied().fold(f64::INFINITY, f64::min);
            let high = figures.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            (low, high)
        };
        let costs = judgement.costs;
        Row {
            item,
            costs,
            bounds: costs.map(|cost| (cost, cost)),
            ranges: [range(&figures[0]), range(&figures[1])],
            each: figures,
            each_calls: [Vec::new(), Vec::new()],
            shares: [0, 1].map(|side: usize| share(costs[side], side_total[side])),
            calls: [None, None],
            functions: 0,
            judgement,
            reason: String::new(),
            parts: Vec::new(),
        }
    };
    let factors = |side: usize| -> Vec<f64> {
        let runs = totals[side].len();
        let from = if side == 0 { 0 } else { totals[0].len() };
        match &logs {
            Some(logs) => logs[from..from + runs]
                .iter()
                .map(|log| log.exp())
                .collect(),
            None => vec![1.0; runs],
        }
    };
    let factors = [factors(0), factors(1)];
    let part = |definition: Definition| {
        let Definition {
            places,
            matched,
            costs,
        } = definition;
        let seen = |side: usize| costs[side].iter().filter(|cost| **cost != 0.0).count();
        let divided = [0, 1].map(|side: usize| -> Vec<f64> {
            let figures = costs[side].iter().zip(&factors[side]);
            figures.map(|(cost, factor)| cost / factor).collect()
        });
        Part {
            places,
            matched,
            costs: center.costs(divided.each_ref().map(Vec::as_slice)),
            seen: [seen(0), seen(1)],
        }
    };
    let mut renamed = vec![String::new(); table.items.len()];
    for (gone, new, _) in suggested.iter().rev() {
        renamed[*gone] = format!("renamed to {}?", table.items[*new].names[0]);
        renamed[*new] = format!("renamed from {}?", table.items[*gone].names[0]);
    }
    let (mut rows, mut functions) = (Vec::new(), 0);
    for (at, (item, judgement)) in table.items.iter().zip(&judged.functions).enumerate() {
        if judgement.seen != [0, 0] {
            functions += 1;
        } else if !request.zeros && !item.is_asked {
            continue;
        }
        if judgement.verdict.is_none() && !request.all && !item.is_asked {
            continue;
        }
        let figures = [0, 1].map(|side: usize| {
            table.columns[side]
                .iter()
                .map(|column| column.costs[at])
                .collect::<Vec<f64>>()
        });
        let mut row = row_of(item.clone(), figures, judgement.clone());
        row.each_calls = [0, 1].map(|side: usize| {
            let columns = table.columns[side].iter();
            columns.map(|column| column.calls_of(at)).collect()
        });
        let calls = row.each_calls.each_ref().map(|calls| mean(calls));
        row.calls = calls.map(|calls| Some(calls).filter(|calls| !calls.is_nan()));
        row.functions = table.functions(at);
        row.reason = if reasons[at].is_empty() {
            unclear_reason(
                judgement,
                [sides[0].len(), sides[1].len()],
                earlier > 0,
                request,
            )
        } else {
            reasons[at].clone()
        };
        if let Some(base) = moved.get(&item.names) {
            add_reason(&mut row.reason, &format!("moved from {}", place(base)));
        }
        if let Some(several) = several_functions(table.functions_of_sides(at))
            && request.by == By::Function
        {
            add_reason(&mut row.reason, &several);
        }
        // What has moved from one to the other is said already.
        if !renamed[at].is_empty() && row.judgement.verdict != Some(Verdict::Shifted) {
            add_reason(&mut row.reason, &renamed[at]);
        }
        row.parts = definitions
            .remove(&at)
            .into_iter()
            .flatten()
            .map(part)
            .collect();
        rows.push(row);
    }
    let matched = table.matched_shares(&bounded.iter().map(|(row, _)| row).collect::<Vec<_>>());
    for (bounded, told_apart) in bounded {
        functions += 1;
        let mut row = row_of_bounds(bounded, &center, &side_total, &unit);
        row.parts = told_apart.into_iter().map(part).collect();
        // What may be as large is not left out.
        let most = |side: usize| row.bounds[side].1 / side_total[side];
        if request.all
            || row.item.is_asked
            || f64::midpoint(most(0), most(1)) >= request.limits.min_share
        {
            rows.push(row);
        }
    }
    sort(&mut rows, request.sort);
    rows.truncate(request.first.unwrap_or(usize::MAX));
    let total_item = Item {
        names: ["total".to_owned(), String::new(), String::new()],
        is_named: true,
        matched: Matched::Identity,
        is_asked: false,
    };
    let mut total = row_of(total_item, totals, judged.total.clone());
    total.reason = unclear_reason(
        &judged.total,
        [sides[0].len(), sides[1].len()],
        earlier > 0,
        request,
    );
    let mut logs = logs.into_iter().flatten();
    let is_little = |part: &Option<f64>| part.is_none_or(|part| part < LITTLE);
    if let Some(one) = prefixes.first()
        && matched.iter().any(is_little)
    {
        warnings.push(little_matched(one, &matched));
    }
    let sides = [0, 1].map(|side: usize| Side {
        runs: sides[side]
            .iter()
            .zip(&stated[side])
            .map(|(run, total)| Compared {
                run_id: run.is_numbered().then_some(run.run.run_id),
                name: run.name(),
                tags: run.tags.clone(),
                total: *total,
                factor: logs.next().map_or(1.0, f64::exp),
            })
            .collect(),
        given: given[side],
        matched: matched[side],
    });
    let script = format!(
        "-- Base: {}; new: {}.\n{}",
        numbers(&sides[0]),
        numbers(&sides[1]),
        if request.is_plain() {
            history_of(&sides, &measured)
        } else {
            script
        }
    );
    let verdicts: Vec<Option<Verdict>> = judged.functions.iter().map(|row| row.verdict).collect();
    let is_worse =
        |verdict: &&Option<Verdict>| matches!(verdict, Some(Verdict::Slower | Verdict::New));
    let worse = verdicts.iter().filter(is_worse).count();
    let comparison = Comparison {
        sides,
        metric: unit,
        measured,
        noise: judged.noise,
        normalize: request.normalize.clone(),
        paired: request.paired.clone(),
        namesakes: namesakes(table, &learnt, &rows),
        rows,
        functions,
        worse,
        tested: judged.tested,
        total,
        folders,
        prefixes,
        suggestions: suggested.into_iter().map(|(.., found)| found).collect(),
        request: request.clone(),
        earlier,
        script,
        warnings,
    };
    (comparison, verdicts)
}

/// Returns the functions of the runs that have the name of a row, also those that are not selected.
fn namesakes(table: &Table, learnt: &[[String; 3]], rows: &[Row]) -> Vec<[String; 3]> {
    let names: BTreeSet<&str> = rows.iter().map(|row| row.item.names[0].as_str()).collect();
    let items = table.items.iter().map(|item| &item.names).chain(learnt);
    items
        .filter(|[name, ..]| names.contains(name.as_str()))
        .cloned()
        .collect()
}

/// The part of the cost of a side that both sides must have: of less than half, more of the verdicts are about names than about what the
/// program does.
const LITTLE: f64 = 0.5;

/// What to say where little is matched, and names begin otherwise in new.
fn little_matched(prefixes: &Prefixes, matched: &[Option<f64>; 2]) -> String {
    let percent = |part: f64| format!("{} %", fixed(100.0 * part, 1));
    let [base, new] = matched.map(|part| part.map_or_else(|| "none".to_owned(), percent));
    format!(
        "only {base} of the cost of base and {new} of the cost of new is in functions of both sides: {}* may be {}* of new; {}",
        prefixes.base,
        prefixes.new,
        listed(&prefixes.rules)
    )
}

/// A row of which only bounds are known.
fn row_of_bounds(
    bounded: Bounded,
    center: &Center,
    totals: &[f64; 2],
    metric: &(String, String),
) -> Row {
    let Bounded {
        item,
        bounds,
        calls,
        functions,
        present,
    } = bounded;
    let seen =
        [0, 1].map(|side: usize| bounds[side].iter().filter(|(_, high)| *high != 0.0).count());
    // A geometric mean of the upper bounds may be below the mean of lower bounds that are 0.
    let center = match center {
        Center::Geometric => &Center::Mean,
        center => center,
    };
    let (lows, highs): (Vec<Vec<f64>>, Vec<Vec<f64>>) = bounds
        .into_iter()
        .map(|runs| runs.into_iter().unzip())
        .unzip();
    let of_sides = |ends: &[Vec<f64>]| center.costs([&ends[0], &ends[1]]);
    let (lows, highs) = (of_sides(&lows), of_sides(&highs));
    let bounds = [(lows[0], highs[0]), (lows[1], highs[1])];
    let said = |(low, high): (f64, f64)| {
        let [low, high] = [low, high].map(|bound| cost(metric, bound));
        // What differs by less than is shown is one figure for people.
        if low == high {
            low
        } else {
            format!("between {low} and {high}")
        }
    };
    let [base, new] = bounds;
    Row {
        reason: format!(
            "inclusive cost {} in base, {} in new: without call paths, the functions of this row cannot be added up",
            said(base),
            said(new)
        ),
        item,
        costs: bounds.map(|(low, high)| if low < high { f64::NAN } else { low }),
        bounds,
        ranges: [(f64::NAN, f64::NAN); 2],
        each: [Vec::new(), Vec::new()],
        each_calls: [Vec::new(), Vec::new()],
        shares: [0, 1].map(|side: usize| {
            let (low, high) = bounds[side];
            share(high, totals[side]).filter(|_| low >= high)
        }),
        calls,
        functions,
        judgement: Judgement {
            seen,
            present,
            ..Judgement::default()
        },
        parts: Vec::new(),
    }
}

/// The percentage of a total that a cost is; `None` of a total of 0.
fn share(cost: f64, total: f64) -> Option<f64> {
    (total != 0.0).then(|| 100.0 * cost / total)
}

/// The name of what is a part of the totals.
#[must_use]
pub fn share_of(metric: &str) -> String {
    format!("% of {metric}")
}

/// The numbers of the runs of a side, where they are of a database.
fn numbers(side: &Side) -> String {
    let mut runs: Vec<i64> = side.runs.iter().filter_map(|run| run.run_id).collect();
    runs.sort_unstable();
    let runs: Vec<String> = runs.iter().map(ToString::to_string).collect();
    runs.join(", ")
}

/// The statement that gives the figures of runs of a database. Each side may have a metric of its own.
fn history_of(sides: &[Side; 2], measured: &[(String, String); 2]) -> String {
    let [base, new] = sides.each_ref().map(numbers);
    let [of_base, of_new] = measured
        .each_ref()
        .map(|(name, _)| name.replace('\'', "''"));
    let runs = if of_base == of_new {
        format!("run_id IN ({base}, {new}) AND metric = '{of_base}'")
    } else {
        format!(
            "run_id IN ({base}) AND metric = '{of_base}' OR run_id IN ({new}) AND metric = '{of_new}'"
        )
    };
    format!(
        "SELECT run_id, function, module, file, calls, exclusive FROM history\nWHERE {runs}\nORDER BY function, module, file, run_id;\n"
    )
}

/// Returns the file of a function, else its module.
fn place([_, module, file]: &[String; 3]) -> &str {
    match (file.as_str(), module.as_str()) {
        ("", "") => "no file",
        ("", module) => module,
        (file, _) => file,
    }
}

/// Appends a reason to others.
fn add_reason(reasons: &mut String, reason: &str) {
    if !reasons.is_empty() {
        reasons.push_str("; ");
    }
    reasons.push_str(reason);
}

/// States how many functions a row adds up, if it is not one of each side.
fn several_functions([base, new]: [u32; 2]) -> Option<String> {
    let counted = |functions: u32| match functions {
        1 => "1 function".to_owned(),
        functions => format!("{functions} functions"),
    };
    match (base, new) {
        (0 | 1, 0 | 1) => None,
        (0, new) => Some(format!("adds up {} of new", counted(new))),
        (base, 0) => Some(format!("adds up {} of base", counted(base))),
        (base, new) => Some(format!("adds up {} of base, {new} of new", counted(base))),
    }
}

/// A number of runs that nobody records.
const MANY: f64 = 1000.0;

/// Returns the reason why a verdict is `unclear`, empty for other verdicts.
fn unclear_reason(
    judgement: &Judgement,
    runs: [usize; 2],
    has_history: bool,
    request: &Request,
) -> String {
    let percent = 100.0 * request.limits.min_effect;
    match judgement.verdict {
        Some(Verdict::Unclear) if runs[0].min(runs[1]) < FEWEST && !has_history => few_runs(),
        Some(Verdict::Unclear)
            if request.limits.test == Test::Ranks
                && ranks::least_probability(runs[0], runs[1]) >= request.limits.alpha =>
        {
            let least = ranks::least_probability(runs[0], runs[1]);
            format!("a rank test of these runs has a probability of {least:.2} at least")
        }
        Some(Verdict::Unclear) => {
            let part = |side: usize| judgement.seen[side] < runs[side];
            let seen = |side: usize, name: &str| match judgement.seen[side] {
                0 => format!("not seen in {name}"),
                seen => format!("seen in {seen} of {} runs of {name}", runs[side]),
            };
            match (part(0), part(1)) {
                (true, _) => seen(0, "base"),
                (_, true) => seen(1, "new"),
                _ => match judgement.runs_needed {
                    None => String::new(),
                    Some(needed) if needed > MANY => {
                        format!("more than {MANY} runs per side would detect {percent} %")
                    }
                    Some(needed) => format!("{needed:.0} runs per side would detect {percent} %"),
                },
            }
        }
        _ => String::new(),
    }
}

/// Returns the reason for rows without a verdict where a side has too few runs.
pub(super) fn few_runs() -> String {
    format!("expected at least {FEWEST} runs per side")
}

/// Orders rows; equal ones by how much they changed, then by their names.
fn sort(rows: &mut [Row], by: Sort) {
    let change = |row: &Row| row.delta().abs();
    let key = |row: &Row| -> f64 {
        let ratio = |row: &Row| {
            row.judgement
                .ratio
                .map_or(f64::INFINITY, |ratio| ratio.ln().abs())
        };
        match by {
            // What is not known changes least.
            _ if row.costs.iter().any(|cost| cost.is_nan()) => f64::NEG_INFINITY,
            Sort::Delta => change(row),
            Sort::Ratio => ratio(row),
            Sort::Rate => -row.judgement.q.unwrap_or(2.0),
            Sort::Base => row.costs[0],
            Sort::New => row.costs[1],
            Sort::Name => 0.0,
        }
    };
    rows.sort_by(|one, other| {
        key(other)
            .total_cmp(&key(one))
            // Without repeats nothing is tested, and no row has a q.
            .then_with(|| match by {
                Sort::Rate => change(other).total_cmp(&change(one)),
                _ => Ordering::Equal,
            })
            .then_with(|| one.item.names.cmp(&other.item.names))
    });
}

/// A cost with its unit, for people.
#[must_use]
pub(super) fn cost(metric: &(String, String), value: f64) -> String {
    figure(&metric.0, &metric.1, value)
}
