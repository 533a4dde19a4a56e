//! A comparison from end to end: which metrics, which rows, which verdicts, and what there is to warn of.

use std::collections::BTreeMap;

use super::doubts::{
    check_sets, check_totals, different, doubts, facts, have_one_figure, totals_differ,
};
use super::judge::{History, Judged, Matrix, Verdict, judge};
use super::metrics::{Chosen, choose, common_noise, earlier};
use super::pairs;
use super::reading::{Functions, Read, read};
use super::request::{CompareError, Normalize, Request};
use super::rows::{Comparison, Findings, mean, told};
use super::run::ComparedRun;
use super::shift;
use super::table::Table;
use crate::statistics::normalize::{self, Unstable};
use crate::store::StoreError;

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

pub(super) fn compared<'r, 'd>(
    base: &'r [ComparedRun<'d>],
    new: &'r [ComparedRun<'d>],
    request: &Request,
) -> Result<(Comparison, Material<'r, 'd>), CompareError> {
    let given = [base.len(), new.len()];
    let mut warnings = Vec::new();
    let is_itself = check_sets(base, new)?;
    let mut sides: [Vec<&ComparedRun<'_>>; 2] = [base.iter().collect(), new.iter().collect()];
    if let Some(key) = &request.paired {
        sides = paired(&sides, key)?;
    } else {
        for runs in &mut sides {
            in_one_order(runs)?;
        }
    }
    let chosen = choose(&sides, request)?;
    let noise = request
        .noise
        .unwrap_or_else(|| common_noise(chosen.iter().flatten()));
    let facts = facts(&sides)?;
    let is_itself = is_itself || have_one_figure(&facts);
    warnings.extend(doubts(&sides, &chosen, &facts, noise));
    let (sides, chosen) = different(sides, chosen, &facts, noise, request.paired.is_some());
    for (side, name) in [(0, "base"), (1, "new")] {
        if sides[side].len() < given[side] {
            warnings.push(format!(
                "{name}: {} runs, {} different: runs with equal figures are one recording",
                given[side],
                sides[side].len()
            ));
        }
    }
    if is_itself {
        warnings.push("base and new have equal figures: nothing can have changed".to_owned());
    }
    let earlier = earlier(&sides, &chosen, &facts, noise)?;
    let Read {
        mut table,
        functions,
        selected,
        script,
    } = read(&sides, &chosen, &earlier, noise, request, &mut warnings)?;
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
    check_totals(&sides, &totals)?;
    if let Some(selected) = selected {
        totals = selected;
        if totals.iter().flatten().all(|total| *total == 0.0) {
            return Err(CompareError::NothingSelected(
                "what is selected cost nothing in any run".to_owned(),
            ));
        }
    }
    let mut folders = pairs::by_roots(&mut table, &request.roots);
    folders.extend(pairs::by_folders(&mut table));
    let logs = factors_of(&sides, &table, &totals, request)?;
    let mut unit = (
        chosen[0][0].metric.name.clone(),
        chosen[0][0].metric.unit.clone(),
    );
    if let Some(logs) = &logs {
        table.divide(logs);
        let (base, new) = logs.split_at(totals[0].len());
        for (totals, logs) in totals.iter_mut().zip([base, new]) {
            for (total, log) in totals.iter_mut().zip(logs) {
                *total /= log.exp();
            }
        }
        if request.normalize == Normalize::Total {
            unit = (format!("% of {}", unit.0), "count".to_owned());
        }
    } else if let Some(doubt) = totals_differ(&totals) {
        warnings.push(doubt);
    }
    let mut judged = judge(
        &matrix(&table, &totals, &earlier, logs.as_deref(), request),
        noise,
        &request.limits,
    );
    if request.loose {
        let is_absent = |side: usize, item: usize| {
            matches!(
                (side, judged.functions[item].verdict),
                (0, Some(Verdict::New)) | (1, Some(Verdict::Gone))
            )
        };
        if pairs::by_names(&mut table, is_absent) > 0 {
            judged = judge(
                &matrix(&table, &totals, &earlier, logs.as_deref(), request),
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
    unname(&table, &mut judged);
    let shifts = if is_itself {
        Vec::new()
    } else {
        let changed = shift::changed(&judged.functions);
        let callers = functions.callers(&sides, &chosen, &table, &changed)?;
        shift::shifts(
            &table,
            &judged.functions,
            &request.limits,
            &changed,
            &callers,
        )
    };
    let (comparison, verdicts) = told(Findings {
        table: &table,
        judged,
        shifts,
        sides: &sides,
        given,
        stated,
        totals,
        logs,
        unit,
        folders,
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

/// The runs of both sides in rounds: pairs with one value of a tag.
fn paired<'r, 'd>(
    sides: &[Vec<&'r ComparedRun<'d>>; 2],
    key: &str,
) -> Result<[Vec<&'r ComparedRun<'d>>; 2], CompareError> {
    let mut rounds: [BTreeMap<&str, &ComparedRun<'_>>; 2] = [BTreeMap::new(), BTreeMap::new()];
    for (runs, rounds) in sides.iter().zip(&mut rounds) {
        for run in runs {
            let value = run.tag(key).ok_or_else(|| {
                CompareError::Usage(format!("--paired {key}: {} has no tag {key}", run.said()))
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
        prints.push(run.database.run_facts(run.run.run_id)?.fingerprint);
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
            let found = match table.samples() {
                Some(samples) => normalize::factors_of_counts(&samples),
                None => normalize::factors_of_times(&table.costs()),
            };
            return found.map(Some).map_err(|Unstable { changed, functions }| {
                CompareError::NothingSelected(format!(
                    "--normalize median: {changed} of {functions} functions have changed: what most have in common is unknown; --normalize total compares shares"
                ))
            });
        }
        Normalize::Calls => table
            .columns
            .iter()
            .flatten()
            .map(|column| column.calls.iter().sum())
            .collect(),
        Normalize::Tag(key) => sides
            .iter()
            .flatten()
            .map(|run| {
                let value = run.tag(key).ok_or_else(|| {
                    CompareError::Usage(format!(
                        "--normalize tag:{key}: {} has no tag {key}",
                        run.said()
                    ))
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
                "{} cannot be divided by its {}, which is {}",
                run.said(),
                if request.normalize == Normalize::Calls {
                    "calls"
                } else {
                    "tag"
                },
                if size.is_nan() {
                    "unknown".to_owned()
                } else {
                    size.to_string()
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
    earlier: &[(ComparedRun<'_>, Chosen)],
    logs: Option<&[f64]>,
    request: &Request,
) -> Matrix {
    Matrix {
        costs: table.costs(),
        counts: table.samples(),
        totals: totals.clone(),
        factors: logs.map(<[f64]>::to_vec),
        paired: request.paired.is_some(),
        history: history(table, earlier),
    }
}

/// The figures of earlier runs, oldest first.
fn history(table: &Table, earlier: &[(ComparedRun<'_>, Chosen)]) -> Option<History> {
    if earlier.is_empty() {
        return None;
    }
    let totals = earlier.iter().rev().map(|(_, chosen)| chosen.metric.total);
    Some(History {
        costs: table.earlier(|column| Some(&column.costs))?,
        counts: table.earlier(|column| column.samples.as_deref()),
        totals: totals.collect(),
    })
}

/// Code without a name is neither new nor gone: what it is differs from build to build.
fn unname(table: &Table, judged: &mut Judged) {
    for (item, judgement) in table.items.iter().zip(&mut judged.functions) {
        if !item.is_named && matches!(judgement.verdict, Some(Verdict::New | Verdict::Gone)) {
            judgement.verdict = Some(Verdict::Unclear);
        }
    }
}
