//! What makes runs no repeats of each other, and what may make sets differ though the program is the same.

use std::collections::BTreeSet;
use std::ops::Range;

use super::grouped::Nothing;
use super::judge::Noise;
use super::metrics::{Chosen, Period};
use super::request::{CompareError, Normalize, Request};
use super::run::ComparedRun;
use crate::store::{RunFacts, StoreError};
use profdb_statistics::normalize::common_movement;
use profdb_statistics::{Sides, mean};

/// Refuses sets that cannot be compared; whether the two are one set.
pub(super) fn check_sets(
    base: &[ComparedRun<'_>],
    new: &[ComparedRun<'_>],
) -> Result<bool, CompareError> {
    for (runs, side) in [(base, "base"), (new, "new")] {
        if runs.is_empty() {
            return Err(CompareError::NothingSelected(format!("{side} has no runs")));
        }
    }
    let shared = base
        .iter()
        .filter(|run| new.iter().any(|other| run.is(other)));
    let shared: Vec<&ComparedRun<'_>> = shared.collect();
    if shared.len() == base.len() && shared.len() == new.len() {
        return Ok(true);
    }
    match shared.first() {
        None => Ok(false),
        Some(run) => Err(CompareError::Usage(format!(
            "{} is in base and in new: expected sets without a run in common",
            run.said()
        ))),
    }
}

/// What makes the runs comparable.
pub(super) fn facts(sides: &[Vec<&ComparedRun<'_>>; 2]) -> Result<[Vec<RunFacts>; 2], StoreError> {
    let mut facts = [Vec::new(), Vec::new()];
    for (runs, facts) in sides.iter().zip(&mut facts) {
        for run in runs {
            facts.push(run.database.run_facts(run.run.run_id)?);
        }
    }
    Ok(facts)
}

/// Whether all runs of both sides have the same figures.
pub(super) fn have_one_figure(facts: &[Vec<RunFacts>; 2]) -> bool {
    are_of_one_figure(facts.iter().flatten())
}

fn are_of_one_figure<'f>(facts: impl IntoIterator<Item = &'f RunFacts>) -> bool {
    let mut all = facts.into_iter().map(|facts| facts.fingerprint.as_ref());
    let first = all.next().flatten();
    first.is_some() && all.all(|other| other == first)
}

/// What more to say of runs with equal figures, where none have others: they may be no copies.
pub(crate) const NEVER_VARY: &str =
    "; --noise exact compares figures that are equal in every run of an unchanged program";

/// The runs without those whose figures another run of their side has: they are copies, not repeats. What is exact is
/// confirmed by them, unless runs of a side differ: that is taken as measured.
pub(super) fn different<'r, 'd>(
    sides: [Vec<&'r ComparedRun<'d>>; 2],
    chosen: [Vec<Chosen>; 2],
    facts: &[Vec<RunFacts>; 2],
    noise: Noise,
    is_paired: bool,
) -> ([Vec<&'r ComparedRun<'d>>; 2], [Vec<Chosen>; 2]) {
    if noise == Noise::Exact && facts.iter().all(are_of_one_figure) {
        return (sides, chosen);
    }
    if is_paired {
        return different_rounds(sides, chosen, facts);
    }
    let mut kept = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    for (side, (runs, chosen)) in sides.into_iter().zip(chosen).enumerate() {
        let mut seen = BTreeSet::new();
        for ((run, chosen), facts) in runs.into_iter().zip(chosen).zip(&facts[side]) {
            let is_new = facts
                .recording
                .as_ref()
                .is_none_or(|known| seen.insert(known));
            if is_new {
                kept.0[side].push(run);
                kept.1[side].push(chosen);
            }
        }
    }
    kept
}

/// The rounds of which neither run has the figures of its side's run in a round before.
fn different_rounds<'r, 'd>(
    sides: [Vec<&'r ComparedRun<'d>>; 2],
    chosen: [Vec<Chosen>; 2],
    facts: &[Vec<RunFacts>; 2],
) -> ([Vec<&'r ComparedRun<'d>>; 2], [Vec<Chosen>; 2]) {
    let mut seen = [BTreeSet::new(), BTreeSet::new()];
    let rounds = facts[0].iter().zip(&facts[1]);
    let is_kept: Vec<bool> = rounds
        .map(|(base, new)| {
            let known = [base, new].map(|facts| facts.recording.as_ref());
            let is_new = |side: usize| known[side].is_none_or(|known| !seen[side].contains(known));
            let is_kept = is_new(0) && is_new(1);
            for (seen, known) in seen.iter_mut().zip(known) {
                seen.extend(known);
            }
            is_kept
        })
        .collect();
    let (sides, chosen) = (
        sides.map(|runs| kept(runs, &is_kept)),
        chosen.map(|of_runs| kept(of_runs, &is_kept)),
    );
    (sides, chosen)
}

/// The items that are kept.
fn kept<T>(items: Vec<T>, is_kept: &[bool]) -> Vec<T> {
    let mut is_kept = is_kept.iter();
    let kept = items.into_iter().filter(|_| is_kept.next() == Some(&true));
    kept.collect()
}

/// What to say of recordings that are in both sets under different numbers or names.
pub(super) fn shared_recordings(
    sides: &[Vec<&ComparedRun<'_>>; 2],
    facts: &[Vec<RunFacts>; 2],
) -> Option<String> {
    let runs = |side: usize| sides[side].iter().zip(&facts[side]);
    runs(0)
        .filter(|(_, facts)| facts.recording.is_some())
        .find_map(|(base, its)| {
            let (new, _) = runs(1).find(|(_, facts)| facts.recording == its.recording)?;
            Some(format!(
                "{} of base and {} of new have equal figures: one recording is in both sets",
                base.said(),
                new.said()
            ))
        })
}

/// What may make the two sides differ though the program is the same.
pub(super) fn doubts(
    sides: &[Vec<&ComparedRun<'_>>; 2],
    chosen: &[Vec<Chosen>; 2],
    facts: &[Vec<RunFacts>; 2],
    noise: Noise,
    request: &Request,
) -> Vec<String> {
    let mut doubts = Vec::new();
    if request.normalize != Normalize::Total {
        doubts.extend(profilers_differ(chosen, facts));
    }
    let hosts = sides.each_ref().map(|runs| {
        let hosts = runs.iter().filter_map(|run| run.tag("host"));
        hosts.collect::<BTreeSet<_>>()
    });
    for (hosts, name) in hosts.iter().zip(["base", "new"]) {
        if hosts.len() > 1 {
            let hosts: Vec<&str> = hosts.iter().copied().collect();
            doubts.push(format!("{name} mixes hosts: {}", hosts.join(", ")));
        }
    }
    let [base, new] = hosts;
    if base.len() == 1 && new.len() == 1 && base != new {
        doubts.push("base and new were recorded on different hosts".to_owned());
    }
    if noise == Noise::Sampled {
        doubts.extend(periods_differ(chosen));
    }
    let is_time = chosen[0]
        .first()
        .is_some_and(|chosen| chosen.metric.unit == "ns");
    if is_time {
        doubts.extend(biases_differ(facts).map(str::to_owned));
    }
    let recorded = |side: usize| -> Option<Vec<&str>> {
        facts[side]
            .iter()
            .map(|facts| facts.recorded_utc.as_deref())
            .collect()
    };
    if let (Some(base), Some(new)) = (recorded(0), recorded(1))
        && noise != Noise::Exact
        && base.len().min(new.len()) >= 2
    {
        let is_before = |left: &[&str], right: &[&str]| left.iter().max() < right.iter().min();
        if is_before(&base, &new) || is_before(&new, &base) {
            doubts.push(
                "all runs of one side were recorded before those of the other, so a drift looks like a change; alternate the recordings of both sides"
                    .to_owned(),
            );
        }
    }
    doubts
}

/// Warns of sides whose figures come from different profilers: of other formats, or with another kind of noise.
fn profilers_differ(chosen: &[Vec<Chosen>; 2], facts: &[Vec<RunFacts>; 2]) -> Option<String> {
    let formats = facts.each_ref().map(|facts| {
        let formats = facts.iter().map(|facts| facts.format.as_str());
        formats.collect::<BTreeSet<&str>>()
    });
    let noises = chosen.each_ref().map(|chosen| {
        let noises = chosen.iter().map(|chosen| chosen.noise.name());
        noises.collect::<BTreeSet<&str>>()
    });
    // Formats of one profiler have one beginning: `dyalog_csv`, `dyalog_xml`.
    let tools = formats.each_ref().map(|formats| {
        let tools = formats.iter().map(|format| format.split('_').next());
        tools.collect::<BTreeSet<_>>()
    });
    let list = |names: &BTreeSet<&str>| names.iter().copied().collect::<Vec<_>>().join(", ");
    let [base, new] = if tools[0].is_disjoint(&tools[1]) {
        formats.each_ref().map(list)
    } else if noises[0].is_disjoint(&noises[1]) {
        noises.each_ref().map(list)
    } else {
        return None;
    };
    Some(format!(
        "base and new seem to come from different profilers ({base}; {new}), whose figures may mean different things: --normalize total compares shares"
    ))
}

/// Says that other times were subtracted in base than in new, or that only one side tells.
fn biases_differ(facts: &[Vec<RunFacts>; 2]) -> Option<&'static str> {
    let stated = facts.each_ref().map(|facts| {
        let stated = facts.iter().filter_map(|facts| facts.bias_applied);
        stated.map(f64::to_bits).collect::<BTreeSet<u64>>()
    });
    match stated.each_ref().map(BTreeSet::is_empty) {
        [false, false] if stated[0] != stated[1] => {
            Some("the timer bias subtracted from times differs between base and new")
        }
        [true, false] => {
            Some("the timer bias subtracted from times is known for new, but not for base")
        }
        [false, true] => {
            Some("the timer bias subtracted from times is known for base, but not for new")
        }
        _ => None,
    }
}

/// How far apart the mean costs of a sample may lie in runs of one sampling period: timers are late, and clocks of processors change.
const PERIODS_APART: f64 = 1.5;

/// Says that the sampling periods of base and new differ, if they do.
fn periods_differ(chosen: &[Vec<Chosen>; 2]) -> Option<String> {
    let periods = chosen.each_ref().map(|chosen| {
        let periods = chosen.iter().filter_map(|chosen| chosen.period);
        periods.collect::<Vec<Period>>()
    });
    if periods.iter().any(Vec::is_empty) {
        return None;
    }
    let stated = periods.each_ref().map(|periods| {
        let stated = periods.iter().map(|period| match period {
            Period::Stated(size) => Some(size.to_bits()),
            Period::Mean(_) => None,
        });
        stated.collect::<Option<BTreeSet<u64>>>()
    });
    let differ = if let [Some(base), Some(new)] = &stated {
        base != new
    } else {
        let sizes = periods.each_ref().map(|periods| {
            mean(
                &periods
                    .iter()
                    .map(|period| period.size())
                    .collect::<Vec<f64>>(),
            )
        });
        let ratio = sizes[0] / sizes[1];
        ratio.max(ratio.recip()) > PERIODS_APART
    };
    let is_count = chosen[0]
        .first()
        .is_some_and(|chosen| chosen.metrics.samples == Some(chosen.metric.metric_id));
    differ.then(|| {
        let so = if is_count {
            "samples of one side represent more cost than samples of the other; --metric selects that cost"
        } else {
            "costs are compared, not samples"
        };
        format!("the sampling periods of base and new differ: {so}")
    })
}

/// Refuses runs whose total is not a cost, and a total of 0 that figures are divided by.
pub(super) fn check_totals(
    sides: &[Vec<&ComparedRun<'_>>; 2],
    totals: &[Vec<f64>; 2],
    request: &Request,
) -> Result<(), CompareError> {
    let is_divided = request.normalize == Normalize::Total;
    let runs = sides.iter().flatten().zip(totals.iter().flatten());
    for (run, total) in runs {
        if !total.is_finite() || *total < 0.0 || (is_divided && *total == 0.0) {
            return Err(CompareError::NothingSelected(format!(
                "the total of {} is {total}: nothing can be compared with it",
                run.said()
            )));
        }
    }
    Ok(())
}

/// Refuses a selection that costs nothing in any run, or in a run by whose total its costs are divided.
pub(super) fn check_selected(
    sides: &[Vec<&ComparedRun<'_>>; 2],
    selected: &[Vec<f64>; 2],
    request: &Request,
) -> Result<(), CompareError> {
    let nothing = |message: String| Err(CompareError::NothingSelected(message));
    if selected.iter().flatten().all(|cost| *cost == 0.0) {
        return nothing("the selection costs nothing in any run".to_owned());
    }
    let mut runs = sides.iter().flatten().zip(selected.iter().flatten());
    match runs.find(|(_, cost)| **cost <= 0.0) {
        Some((run, cost)) if request.normalize == Normalize::Total => nothing(format!(
            "--normalize total: the selection costs {cost} in {}, so it has no shares",
            run.said()
        )),
        _ => Ok(()),
    }
}

/// The places of the runs of each side among all runs.
fn places<T>(sides: &[Vec<T>; 2]) -> [Range<usize>; 2] {
    let [base, new] = sides.each_ref().map(Vec::len);
    [0..base, base..base + new]
}

/// Refuses a side all of which costs something, and has no names to add that up by: it would be gone, or new.
pub(super) fn check_named(
    chosen: &[Vec<Chosen>; 2],
    nothing: &[(usize, Nothing)],
) -> Result<(), CompareError> {
    for (side, places) in chosen.iter().zip(places(chosen)) {
        let of_side = nothing.iter().filter(|(place, _)| places.contains(place));
        let unnamed: Vec<&Nothing> = of_side
            .map(|(_, nothing)| nothing)
            .filter(|nothing| matches!(nothing, Nothing::Named(_)))
            .collect();
        let has_cost = side.iter().any(|chosen| chosen.metric.total != 0.0);
        if let Some(nothing) = unnamed.first()
            && unnamed.len() == side.len()
            && has_cost
        {
            return Err(CompareError::NothingSelected(nothing.reason().to_owned()));
        }
    }
    Ok(())
}

/// Describes the runs in which the selection costs nothing. `nothing` has the positions of runs among all, and the reasons.
pub(super) fn nothing_selected(
    selected: &[Vec<f64>; 2],
    nothing: &[(usize, Nothing)],
) -> Vec<String> {
    let mut doubts = Vec::new();
    let of_sides = selected.iter().zip(places(selected));
    for ((costs, places), name) in of_sides.zip(["base", "new"]) {
        let without = costs.iter().filter(|cost| **cost == 0.0).count();
        if without == 0 {
            continue;
        }
        let runs = match (without, costs.len()) {
            (without, all) if without == all => name.to_owned(),
            (without, all) => format!("{without} of {all} runs of {name}"),
        };
        let reason = nothing.iter().find(|(place, _)| places.contains(place));
        let reason = reason.map_or_else(String::new, |(_, nothing)| {
            format!(": {}", nothing.reason())
        });
        doubts.push(format!("the selection costs nothing in {runs}{reason}"));
    }
    doubts
}

/// Advises to normalize where most of the cost varies together from run to run.
pub(super) fn vary_together(costs: &Sides) -> Option<String> {
    common_movement(costs).map(|ratio| {
        format!(
            "most of the cost varies together, x{ratio:.2} between runs: --normalize median removes the common change, --normalize total compares shares"
        )
    })
}
