//! A comparison from end to end: which metrics, which rows, which verdicts, and what there is to warn of.

use std::collections::{BTreeMap, BTreeSet};

use super::definitions::{Definition, definitions};
use super::doubts::{
    NEVER_VARY, check_selected, check_sets, check_totals, different, doubts, facts,
    have_one_figure, shared_recordings, vary_together,
};
use super::grouped::pair_containers;
use super::judge::{
    History, Judged, Judgement, Limits, Matrix, Noise, Test, Verdict, judge, mean_share,
};
use super::matched::Matched;
use super::metrics::{Chosen, choose, earlier};
use super::pairs::{self, Folders};
use super::prefixes::prefixes;
use super::reading::{Functions, Read, read, read_whole};
use super::renames::{self, Suggestion};
use super::request::{By, CompareError, FILE_NAMES, Normalize, Request};
use super::roots::by_roots;
use super::rows::{Comparison, Findings, share_of, told};
use super::run::ComparedRun;
use super::sequence;
use super::shift;
use super::table::{Bounded, Table};
use crate::store::StoreError;
use profdb_statistics::normalize::{self, FEWEST_IN_COMMON};
use profdb_statistics::{Figures, Sides, mean};

/// Compares two sets of runs.
///
/// # Errors
/// When a side has no runs, the runs cannot be compared, or a database fails.
pub fn compare(
    base: &[ComparedRun<'_>],
    new: &[ComparedRun<'_>],
    request: &Request,
) -> Result<Comparison, CompareError> {
    Ok(compared(base, new, request)?.0)
}

/// What a comparison was made of.
pub(super) struct Material<'r, 'd> {
    pub(super) sides: [Vec<&'r ComparedRun<'d>>; 2],
    pub(super) chosen: [Vec<Chosen>; 2],
    pub(super) table: Table,
    pub(super) functions: Functions<'d>,
    pub(super) verdicts: Vec<Option<Verdict>>,
}

/// How figures are taken to vary.
pub(super) fn noise_of(chosen: &[Vec<Chosen>; 2], request: &Request) -> Noise {
    let common = || Noise::common(chosen.iter().flatten().map(|chosen| chosen.noise));
    request.noise.unwrap_or_else(common)
}

pub(super) fn compared<'r, 'd>(
    base: &'r [ComparedRun<'d>],
    new: &'r [ComparedRun<'d>],
    request: &Request,
) -> Result<(Comparison, Material<'r, 'd>), CompareError> {
    let given = [base.len(), new.len()];
    let mut warnings = Vec::new();
    let is_one_set = check_sets(base, new)?;
    let mut sides: [Vec<&ComparedRun<'_>>; 2] = [base.iter().collect(), new.iter().collect()];
    if let Some(key) = &request.paired {
        if request.limits.test == Test::Ranks {
            return Err(CompareError::Usage(
                "--test mwu compares two sets, not pairs; omit --test mwu or --paired".to_owned(),
            ));
        }
        sides = if key == FILE_NAMES {
            paired_by_order(sides)?
        } else {
            paired(&sides, key)?
        };
    } else {
        for runs in &mut sides {
            in_one_order(runs)?;
        }
    }
    let chosen = choose(&sides, request)?;
    let noise = noise_of(&chosen, request);
    let facts = facts(&sides)?;
    let may_be_one = have_one_figure(&facts);
    warnings.extend(doubts(&sides, &chosen, &facts, noise, request));
    if !is_one_set && !may_be_one && noise != Noise::Exact {
        warnings.extend(shared_recordings(&sides, &facts));
    }
    let (sides, chosen) = different(sides, chosen, &facts, noise, request.paired.is_some());
    // Where runs of either side differ, equal ones are copies indeed.
    let may_never_vary = noise != Noise::Exact && sides.iter().all(|runs| runs.len() == 1);
    for (side, name) in [(0, "base"), (1, "new")] {
        if sides[side].len() < given[side] {
            let remedy = if may_never_vary { NEVER_VARY } else { "" };
            warnings.push(format!(
                "{name}: {} runs, {} different: copies of a recording count once{remedy}",
                given[side],
                sides[side].len()
            ));
        }
    }
    let earlier = earlier(&sides, &chosen, &facts, noise)?;
    let known = folders_of_whole_runs(&sides, &chosen, &earlier, noise, request, &mut warnings)?;
    let Read {
        mut table,
        functions,
        selected,
        mut earlier_totals,
        script,
    } = read(
        &sides,
        &chosen,
        &earlier,
        noise,
        request,
        &known.as_ref().map(Known::all).unwrap_or_default(),
        &mut warnings,
    )?;
    let totals = |chosen: &[Vec<Chosen>; 2]| {
        [0, 1].map(|side: usize| {
            chosen[side]
                .iter()
                .map(|chosen| chosen.metric.total)
                .collect::<Vec<f64>>()
        })
    };
    let mut totals = totals(&chosen);
    let stated = totals.clone();
    check_totals(&sides, &totals, request)?;
    if let Some(selected) = selected {
        totals = selected;
        check_selected(&sides, &totals, request)?;
    }
    earlier_totals.reverse();
    let folders = if let Some(known) = known {
        pairs::by_known(&mut table, &known.of_sides);
        sequence::by_known(&mut table, &known.of_runs);
        let all = known.all();
        pair_containers(&mut table, &all, &request.by);
        all
    } else {
        folders_of(&mut table, noise, request, &mut warnings).all()
    };
    let moved = if noise == Noise::Exact && request.knows_definitions() {
        join_moved(&sides, &chosen, &functions, &mut table)?
    } else {
        BTreeMap::new()
    };
    let logs = factors_of(&sides, &table, &totals, request)?;
    let mut unit = (
        chosen[0][0].metric.name.clone(),
        chosen[0][0].metric.unit.clone(),
    );
    let measured = chosen.each_ref().map(|chosen| {
        let metric = &chosen[0].metric;
        (metric.name.clone(), metric.unit.clone())
    });
    if let Some(logs) = &logs {
        let is_of_totals = request.normalize == Normalize::Total;
        let whole: Vec<f64> = totals.concat();
        // Equal shares are equal figures only if nothing rounds but the division.
        let divided = |run: usize, cost: f64| {
            if is_of_totals {
                100.0 * cost / whole[run]
            } else {
                cost / logs[run].exp()
            }
        };
        table.divide(divided);
        for (run, total) in totals.iter_mut().flatten().enumerate() {
            *total = divided(run, *total);
        }
        if is_of_totals {
            unit = (share_of(&unit.0), "%".to_owned());
        }
    } else {
        warnings.extend(vary_together(&table.costs()));
    }
    // Rows of which only bounds are known tell recordings apart, too.
    let is_one_recording = table.is_of_one_recording();
    // What several functions cost together may be unknown, and that of each definition known.
    let mut told_apart = if request.cumulative && request.knows_definitions() {
        let rows = table.bounded_rows();
        definitions(&sides, &chosen, &functions, &table, &rows, |known| {
            known.cumulative
        })?
    } else {
        BTreeMap::new()
    };
    let bounded: Vec<(Bounded, Vec<Definition>)> = table
        .take_bounded()
        .into_iter()
        .map(|(row, bounded)| (bounded, told_apart.remove(&row).unwrap_or_default()))
        .collect();
    let is_itself = is_one_set || (may_be_one && is_one_recording);
    if is_itself {
        warnings.push("base and new have equal figures, so nothing has changed".to_owned());
    }
    let mut judged = judge(
        &matrix(&table, &totals, &earlier_totals, logs.as_deref(), request),
        noise,
        &request.limits,
    );
    if request.loose {
        let figures = matrix(&table, &totals, &earlier_totals, logs.as_deref(), request);
        let absent = shown_absent(&table, &judged, &figures, noise, &request.limits);
        if pairs::by_names(&mut table, |side, item| absent[item][side]) > 0 {
            judged = judge(
                &matrix(&table, &totals, &earlier_totals, logs.as_deref(), request),
                noise,
                &request.limits,
            );
        }
    }
    if is_itself {
        for judgement in judged.functions.iter_mut().chain([&mut judged.total]) {
            judgement.verdict = judgement.verdict.map(|_| Verdict::Same);
        }
    }
    set_present(&table, &mut judged);
    if request.by == By::Line && judged.functions.iter().any(Judgement::is_one_sided) {
        warnings.push(
            "lines are compared by number, so lines below an added or deleted line do not match; compare functions or files instead".to_owned(),
        );
    }
    unname(&table, &mut judged);
    let shifts = if is_itself {
        Vec::new()
    } else {
        let changed = shift::changed(&judged.functions);
        // What moves is the functions' own cost.
        let callers = if request.cumulative {
            vec![BTreeSet::new(); changed.len()]
        } else {
            functions.callers(&sides, &chosen, &table, &changed)?
        };
        shift::shifts(
            &table,
            &judged.functions,
            &request.limits,
            &changed,
            &callers,
        )
    };
    let suggested = if is_itself || !request.is_plain() {
        Vec::new()
    } else {
        suggestions(
            &sides,
            &chosen,
            &functions,
            &table,
            &folders,
            &judged,
            &request.limits,
        )?
    };
    let prefixes = if is_itself || !request.is_plain() {
        Vec::new()
    } else {
        prefixes(&table, &folders, pairs::least_part(judged.noise))
    };
    let definitions = if request.knows_definitions() {
        let rows: Vec<usize> = (0..table.items.len())
            .filter(|row| request.all || judged.functions[*row].verdict.is_some())
            .collect();
        definitions(&sides, &chosen, &functions, &table, &rows, |known| {
            if request.cumulative {
                known.cumulative
            } else {
                known.exclusive
            }
        })?
    } else {
        BTreeMap::new()
    };
    let (comparison, verdicts) = told(Findings {
        table: &table,
        judged,
        shifts,
        prefixes,
        suggested,
        bounded,
        definitions,
        moved,
        sides: &sides,
        given,
        stated,
        totals,
        logs,
        unit,
        noise,
        measured,
        folders,
        learnt: functions.namesakes(&table, &request.by),
        earlier: earlier.len(),
        script,
        warnings,
        request,
    });
    let material = Material {
        sides,
        chosen,
        table,
        functions,
        verdicts,
    };
    Ok((comparison, material))
}

/// Folders and modules that are one.
#[derive(Default)]
struct Known {
    /// Of base and new.
    of_sides: Vec<Folders>,
    /// Of runs of one side.
    of_runs: Vec<Folders>,
}

impl Known {
    fn all(&self) -> Vec<Folders> {
        [self.of_sides.as_slice(), &self.of_runs].concat()
    }
}

/// Folders and modules that are one, by which rows are paired.
fn folders_of(
    table: &mut Table,
    noise: Noise,
    request: &Request,
    warnings: &mut Vec<String>,
) -> Known {
    let mut of_sides = by_roots(table, &request.roots, warnings);
    let least = pairs::least_part(noise);
    of_sides.extend(pairs::by_modules(table, least));
    of_sides.extend(pairs::by_folders(table, least));
    // Of one run on each side all is known.
    let runs = table.runs(0) + table.runs(1) + table.history.len();
    let of_runs = if runs > 2 {
        sequence::by_sequence(table, noise)
    } else {
        Vec::new()
    };
    Known { of_sides, of_runs }
}

/// Joins the rows of functions that moved to another file or module: they have one name, which nothing else has, and equal costs,
/// callers and callees. Returns the names of the function in base by those in new.
fn join_moved(
    sides: &[Vec<&ComparedRun<'_>>; 2],
    chosen: &[Vec<Chosen>; 2],
    functions: &Functions<'_>,
    table: &mut Table,
) -> Result<BTreeMap<[String; 3], [String; 3]>, StoreError> {
    let mentioned = table.mentioned();
    let each_cost = |side: usize, row: usize| -> BTreeSet<u64> {
        let costs = table.columns[side].iter().map(|column| column.costs[row]);
        costs.map(f64::to_bits).collect()
    };
    let mut pairs = pairs::of_one_name(table);
    pairs.retain(|(base, new)| {
        let costs = each_cost(0, *base);
        let has_place = |row: usize| {
            table.items[row].names[1..]
                .iter()
                .any(|name| !name.is_empty())
        };
        let is_moved =
            !mentioned[1][*base] && !mentioned[0][*new] && has_place(*base) && has_place(*new);
        is_moved && costs.len() == 1 && costs == each_cost(1, *new)
    });
    let rows: Vec<usize> = pairs.iter().flat_map(|(base, new)| [*base, *new]).collect();
    let names = |related: Vec<BTreeSet<usize>>| -> Vec<BTreeSet<&str>> {
        let names = |rows: BTreeSet<usize>| {
            let names = rows.into_iter().map(|row| &*table.items[row].names[0]);
            names.collect()
        };
        related.into_iter().map(names).collect()
    };
    let callers = names(functions.callers(sides, chosen, table, &rows)?);
    let callees = names(functions.callees(sides, chosen, table, &rows)?);
    let mut alike = callers.chunks(2).zip(callees.chunks(2));
    pairs.retain(|_| {
        let are_equal = |sides: &[BTreeSet<&str>]| sides[0] == sides[1];
        let next = alike.next();
        next.is_some_and(|(callers, callees)| are_equal(callers) && are_equal(callees))
    });
    let named = |row: usize| table.items[row].names.clone();
    let moved = pairs.iter().map(|(base, new)| (named(*new), named(*base)));
    let moved = moved.collect();
    table.join(&pairs, Matched::Figures);
    Ok(moved)
}

/// Folders that are one, where a part of the runs or groups of functions are compared: they are found by all functions together,
/// and what filters fit is decided by pairs. `None` where all functions are compared.
fn folders_of_whole_runs(
    sides: &[Vec<&ComparedRun<'_>>; 2],
    chosen: &[Vec<Chosen>; 2],
    earlier: &[(ComparedRun<'_>, Chosen)],
    noise: Noise,
    request: &Request,
    warnings: &mut Vec<String>,
) -> Result<Option<Known>, CompareError> {
    if request.is_plain() {
        return Ok(None);
    }
    let whole = read_whole(sides, chosen, earlier, noise, request)?;
    Ok(Some(match whole {
        Some(mut found) => folders_of(&mut found.table, noise, &request.of_whole_runs(), warnings),
        None => Known::default(),
    }))
}

/// Renames that there may have been.
fn suggestions(
    sides: &[Vec<&ComparedRun<'_>>; 2],
    chosen: &[Vec<Chosen>; 2],
    functions: &Functions<'_>,
    table: &Table,
    folders: &[Folders],
    judged: &Judged,
    limits: &Limits,
) -> Result<Vec<(usize, usize, Suggestion)>, CompareError> {
    let candidates = renames::candidates(table, &judged.functions);
    if candidates.iter().any(Vec::is_empty) {
        return Ok(Vec::new());
    }
    let mut neighbours = [Vec::new(), Vec::new()];
    for (rows, neighbours) in candidates.iter().zip(&mut neighbours) {
        let callers = functions.callers(sides, chosen, table, rows)?;
        let callees = functions.callees(sides, chosen, table, rows)?;
        for ((row, callers), callees) in rows.iter().zip(callers).zip(callees) {
            let others = |rows: BTreeSet<usize>, is_called: bool| {
                rows.into_iter()
                    .map(move |other| (is_called, Some(other).filter(|other| other != row)))
            };
            let both = others(callers, false).chain(others(callees, true));
            neighbours.push(both.collect());
        }
    }
    // What pairs nothing needs a rule.
    let folders = folders.iter().filter(|one| one.functions > 0);
    let folders: Vec<Folders> = folders.cloned().collect();
    Ok(renames::suggestions(
        table,
        &candidates,
        &neighbours,
        &folders,
        judged.noise,
        limits,
    ))
}

/// What to say of a run without the tag that is asked for.
fn untagged(asked: &str, run: &ComparedRun<'_>, key: &str) -> String {
    format!(
        "{asked}: {} has no tag {key}: `profdb tag RUNS {key}=VALUE` and `import --tag` set it",
        run.said()
    )
}

/// Pairs the runs of both sides in the order of their file names, in which numbers count as numbers; runs of a database in the order of
/// their numbers.
fn paired_by_order<'r, 'd>(
    mut sides: [Vec<&'r ComparedRun<'d>>; 2],
) -> Result<[Vec<&'r ComparedRun<'d>>; 2], CompareError> {
    let [base, new] = sides.each_ref().map(Vec::len);
    if base != new {
        return Err(CompareError::Usage(format!(
            "--paired: expected as many runs of new as of base, found {new} and {base}"
        )));
    }
    for runs in &mut sides {
        runs.sort_by_key(|run| match &run.run.file {
            Some(file) => (natural_key(file), 0),
            None => (Vec::new(), run.run.run_id),
        });
    }
    Ok(sides)
}

/// Splits a name into texts and the numbers after them, so that `run2` comes before `run10`.
fn natural_key(name: &str) -> Vec<(String, usize, String)> {
    let mut parts = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let text = rest.find(|letter: char| letter.is_ascii_digit());
        let (text, after) = rest.split_at(text.unwrap_or(rest.len()));
        let digits = after.find(|letter: char| !letter.is_ascii_digit());
        let (digits, after) = after.split_at(digits.unwrap_or(after.len()));
        let number = digits.trim_start_matches('0');
        parts.push((text.to_owned(), number.len(), number.to_owned()));
        rest = after;
    }
    parts
}

/// The runs of both sides in rounds: pairs with one value of a tag.
fn paired<'r, 'd>(
    sides: &[Vec<&'r ComparedRun<'d>>; 2],
    key: &str,
) -> Result<[Vec<&'r ComparedRun<'d>>; 2], CompareError> {
    let mut rounds: [BTreeMap<&str, &ComparedRun<'_>>; 2] = [BTreeMap::new(), BTreeMap::new()];
    for (runs, rounds) in sides.iter().zip(&mut rounds) {
        for run in runs {
            let value = run.tag(key).ok_or_else(|| {
                CompareError::Usage(untagged(&format!("--paired {key}"), run, key))
            })?;
            if let Some(other) = rounds.insert(value, run) {
                return Err(CompareError::Usage(format!(
                    "--paired {key}: {} and {} of one side have {key}={value}",
                    other.said(),
                    run.said()
                )));
            }
        }
    }
    let [base, new] = &rounds;
    let mut alone = base.keys().filter(|value| !new.contains_key(*value));
    let mut other = new.keys().filter(|value| !base.contains_key(*value));
    if let Some(value) = alone.next().or_else(|| other.next()) {
        return Err(CompareError::Usage(format!(
            "--paired {key}: only one side has a run with {key}={value}"
        )));
    }
    // The maps have one order, and what lives in them lives as long as the runs.
    let mut ordered: [Vec<&ComparedRun<'d>>; 2] = [Vec::new(), Vec::new()];
    for (side, (runs, rounds)) in sides.iter().zip(&rounds).enumerate() {
        for of_round in rounds.values() {
            ordered[side].extend(runs.iter().copied().filter(|run| run.is(of_round)).take(1));
        }
    }
    Ok(ordered)
}

/// Puts runs in an order that is that of their figures, not that in which they came into a database: sums round by their order.
fn in_one_order(runs: &mut [&ComparedRun<'_>]) -> Result<(), StoreError> {
    let mut prints = Vec::new();
    for run in runs.iter() {
        prints.push(run.database.run_facts(run.run.run_id)?.recording);
    }
    let mut order: Vec<usize> = (0..runs.len()).collect();
    order.sort_by(|one, other| {
        let number = |at: usize| runs[at].run.run_id;
        prints[*one]
            .cmp(&prints[*other])
            .then(number(*one).cmp(&number(*other)))
    });
    let ordered: Vec<&ComparedRun<'_>> = order.iter().map(|at| runs[*at]).collect();
    runs.copy_from_slice(&ordered);
    Ok(())
}

/// Returns the rows that cost anything in every run: of those that are large enough to be judged if there are enough, else of all.
fn in_common(costs: &Sides, totals: &[Vec<f64>; 2], min_share: f64) -> Vec<usize> {
    let is_everywhere =
        |figures: &Figures, row: usize| figures.row(row).iter().all(|cost| *cost > 0.0);
    let rows = 0..costs.functions();
    let rows: Vec<usize> = rows
        .filter(|row| is_everywhere(&costs.base, *row) && is_everywhere(&costs.new, *row))
        .collect();
    let is_large = |row: &&usize| mean_share(costs, totals, **row) >= min_share;
    let large: Vec<usize> = rows.iter().filter(is_large).copied().collect();
    if large.len() < FEWEST_IN_COMMON {
        rows
    } else {
        large
    }
}

/// Natural logarithms of what the figures of the runs are divided by, base then new.
fn factors_of(
    sides: &[Vec<&ComparedRun<'_>>; 2],
    table: &Table,
    totals: &[Vec<f64>; 2],
    request: &Request,
) -> Result<Option<Vec<f64>>, CompareError> {
    let sizes: Vec<f64> = match &request.normalize {
        Normalize::None => return Ok(None),
        // Percentages.
        Normalize::Total => {
            return Ok(Some(
                totals
                    .iter()
                    .flatten()
                    .map(|total| (total / 100.0).ln())
                    .collect(),
            ));
        }
        Normalize::Median => {
            let costs = table.costs();
            let rows = in_common(&costs, totals, request.limits.min_share);
            let common = rows.len();
            if common < FEWEST_IN_COMMON {
                return Err(CompareError::NothingSelected(format!(
                    "--normalize median: expected at least {FEWEST_IN_COMMON} functions with a cost in every run, found {common}; --normalize total compares shares"
                )));
            }
            let found = match table.samples() {
                Some(samples) => normalize::factors_of_counts(&samples.select_rows(&rows)),
                None => normalize::factors_of_times(&costs.select_rows(&rows)),
            };
            return Ok(Some(found?));
        }
        Normalize::Calls => table
            .columns
            .iter()
            .flatten()
            .map(|column| (0..table.items.len()).map(|row| column.calls_of(row)).sum())
            .collect(),
        Normalize::Tag(key) => sides
            .iter()
            .flatten()
            .map(|run| {
                let value = run.tag(key).ok_or_else(|| {
                    CompareError::Usage(untagged(&format!("--normalize tag:{key}"), run, key))
                })?;
                value.parse::<f64>().map_err(|_| {
                    CompareError::Usage(format!(
                        "--normalize tag:{key}: expected a number, {} has {key}={value}",
                        run.said()
                    ))
                })
            })
            .collect::<Result<_, _>>()?,
    };
    for (run, size) in sides.iter().flatten().zip(&sizes) {
        if !size.is_finite() || *size <= 0.0 {
            return Err(CompareError::NothingSelected(format!(
                "{} cannot be divided by {}",
                run.said(),
                match &request.normalize {
                    Normalize::Tag(key) => format!("its tag {key}, which is {size}"),
                    _ if size.is_nan() => "its calls, which are unknown".to_owned(),
                    _ => format!("its calls, which are {size}"),
                }
            )));
        }
    }
    // Divided by each other they keep the unit and, on average, the size.
    let logs: Vec<f64> = sizes.iter().map(|size| size.ln()).collect();
    let middle = mean(&logs);
    Ok(Some(logs.into_iter().map(|log| log - middle).collect()))
}

/// The figures as the statistics want them.
fn matrix(
    table: &Table,
    totals: &[Vec<f64>; 2],
    earlier_totals: &[f64],
    logs: Option<&[f64]>,
    request: &Request,
) -> Matrix {
    Matrix {
        costs: table.costs(),
        counts: table.samples(),
        totals: totals.clone(),
        factors: logs.map(<[f64]>::to_vec),
        are_factors_found: request.normalize == Normalize::Median,
        paired: request.paired.is_some(),
        asked: table.asked(),
        history: history(table, earlier_totals),
    }
}

/// The figures of earlier runs, oldest first, as their totals are.
fn history(table: &Table, totals: &[f64]) -> Option<History> {
    if totals.is_empty() {
        return None;
    }
    Some(History {
        costs: table.earlier_costs(),
        counts: table.earlier_samples(),
        totals: totals.to_vec(),
    })
}

/// For each row, whether it is shown to be missing in base, and in new: by its verdict, by that which it would have if the
/// smallest functions were judged, too, or because profilers that count every call have counted none.
fn shown_absent(
    table: &Table,
    judged: &Judged,
    figures: &Matrix,
    noise: Noise,
    limits: &Limits,
) -> Vec<[bool; 2]> {
    let all = Limits {
        min_share: 0.0,
        ..*limits
    };
    let all = judge(figures, noise, &all);
    // Some functions may be called by none that is known, such as the first one.
    let counts_calls = [0, 1].map(|side| noise != Noise::Sampled && table.counts_calls(side));
    let is_missing = |verdict: Option<Verdict>| {
        [
            verdict == Some(Verdict::New),
            verdict == Some(Verdict::Gone),
        ]
    };
    let mentioned = table.mentioned();
    let rows = judged.functions.iter().zip(&all.functions).enumerate();
    rows.map(|(row, (one, other))| {
        let (one, other) = (is_missing(one.verdict), is_missing(other.verdict));
        [0, 1].map(|side: usize| {
            if mentioned[side][row] {
                return false;
            }
            let is_uncalled = || {
                let calls = |side| table.calls(side, row);
                calls(side) == Some(0.0) && calls(1 - side).is_some_and(|calls| calls > 0.0)
            };
            one[side] || other[side] || (counts_calls[side] && is_uncalled())
        })
    })
    .collect()
}

/// Notes which sides have each row, and the total, at whatever cost.
fn set_present(table: &Table, judged: &mut Judged) {
    let [base, new] = table.mentioned();
    let total = [&base, &new].map(|rows| rows.contains(&true));
    for (row, judgement) in judged.functions.iter_mut().enumerate() {
        let delta = table.cost(1, row) - table.cost(0, row);
        judgement.set_present([base[row], new[row]], delta);
    }
    let delta = match judged.total.seen {
        [0, _] => 1.0,
        _ => -1.0,
    };
    judged.total.set_present(total, delta);
}

/// Code without a name is neither new nor gone: what it is differs from build to build.
fn unname(table: &Table, judged: &mut Judged) {
    for (item, judgement) in table.items.iter().zip(&mut judged.functions) {
        if !item.is_named && judgement.is_one_sided() {
            judgement.verdict = Some(Verdict::Unclear);
        }
    }
}
