//! Error rates and power of `--normalize median`: runs of programs with known changes on a machine whose speed varies from run to run.
//!
//! Seeds are fixed. The limits are those of docs/comparing.md, "How often it is wrong".

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "small numbers of runs and functions"
)]

use crate::noise::{Kind, Rate};
use crate::support::long;
use profdb::compare::judge::{self, Limits, Matrix, Noise, Verdict};
use profdb_statistics::normalize::{
    Unstable, common_movement, factors_of_counts, factors_of_series, factors_of_times,
};
use profdb_statistics::{Figures, Sides};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Poisson, StandardNormal};

/// Default seed of all simulations. No constant was chosen by its results.
const SEED: u64 = 101;
/// Number of functions with a cost that matters.
const LARGE: usize = 30;
/// Cost of all large functions together: nanoseconds, or samples.
const TOTAL: [f64; 2] = [1.6e9, 20_000.0];
/// Part of the total that a tiny function costs.
const TINY: f64 = 1.25e-5;
/// Variation of a function from run to run, as a part of its cost.
const VARIATION: f64 = 0.05;
/// Variation of a tiny function, which does not follow the speed of the machine.
const VARIATION_OF_TINY: f64 = 0.3;
/// Ratio of a function that has changed.
const RATIO: f64 = 1.3;
/// Maximum part of comparisons of unchanged programs with a verdict of change.
const FALSE_COMPARISONS: f64 = 0.059;
/// Maximum part of false verdicts among all verdicts of change.
const FALSE_DISCOVERIES: f64 = 0.05;
/// Maximum part of comparisons that are refused although less than half of the functions have changed.
const REFUSED: f64 = 0.05;
/// Maximum loss of power that normalization may cost.
const LOSS: f64 = 0.05;

/// A program, and the machine on which it runs.
#[derive(Clone, Copy)]
struct World {
    kind: Kind,
    /// Number of runs of each side.
    runs: usize,
    tiny: usize,
    /// Part of the large functions that have changed.
    changed: f64,
    /// Range of the factor of a run.
    machine: (f64, f64),
}

/// Two sets of runs, and the ratio of each large function.
struct Trial {
    sides: Sides,
    ratios: Vec<f64>,
}

fn normal(random: &mut Xoshiro256PlusPlus) -> f64 {
    StandardNormal.sample(random)
}

fn trial(world: &World, random: &mut Xoshiro256PlusPlus) -> Trial {
    let total = TOTAL[usize::from(world.kind == Kind::Sampled)];
    let weights: Vec<f64> = (0..LARGE).map(|_| (0.8 * normal(random)).exp()).collect();
    let sum: f64 = weights.iter().sum();
    let changed = (world.changed * LARGE as f64).round() as usize;
    // All changes have one direction, which is the worst case for a median.
    let ratios: Vec<f64> = (0..LARGE)
        .map(|function| if function < changed { RATIO } else { 1.0 })
        .collect();
    let mut side = |is_new: bool| {
        let (low, high) = world.machine;
        let machine: Vec<f64> = (0..world.runs)
            .map(|_| random.random_range(low..=high))
            .collect();
        let mut values = Vec::new();
        for (weight, ratio) in weights.iter().zip(&ratios) {
            let cost = total * weight / sum * if is_new { *ratio } else { 1.0 };
            for factor in &machine {
                let mean = cost * factor * (VARIATION * normal(random)).exp();
                values.push(figure(world.kind, mean, random));
            }
        }
        for _ in 0..world.tiny * world.runs {
            let mean = total * TINY * (VARIATION_OF_TINY * normal(random)).exp();
            values.push(figure(world.kind, mean, random));
        }
        Figures::new(world.runs, values)
    };
    let (base, new) = (side(false), side(true));
    Trial {
        sides: Sides { base, new },
        ratios,
    }
}

fn figure(kind: Kind, mean: f64, random: &mut Xoshiro256PlusPlus) -> f64 {
    match kind {
        Kind::Timed => mean.round(),
        Kind::Sampled => Poisson::new(mean).expect("a mean above 0").sample(random),
    }
}

/// Returns the totals of the runs of a side.
fn totals(figures: &Figures) -> Vec<f64> {
    let of_run = |run: usize| {
        (0..figures.functions())
            .map(|row| figures.row(row)[run])
            .sum()
    };
    (0..figures.runs()).map(of_run).collect()
}

/// Returns the factors of the runs as a comparison finds them: from the functions that are large enough to be judged.
fn factors(kind: Kind, sides: &Sides) -> Result<Vec<f64>, Unstable> {
    let least = Limits::default().min_share;
    let all = totals(&sides.base).iter().sum::<f64>() + totals(&sides.new).iter().sum::<f64>();
    let is_large = |row: &usize| {
        let (base, new) = (sides.base.row(*row), sides.new.row(*row));
        base.iter().chain(new).sum::<f64>() >= least * all
    };
    let large: Vec<usize> = (0..sides.functions()).filter(is_large).collect();
    match kind {
        Kind::Timed => factors_of_times(&sides.select_rows(&large)),
        Kind::Sampled => factors_of_counts(&sides.select_rows(&large)),
    }
}

/// Returns the verdicts of all functions and of the total. Without factors, figures are compared as they are.
fn judged(kind: Kind, sides: &Sides, factors: Option<&[f64]>) -> judge::Judged {
    let divide = |figures: &Figures, factors: &[f64]| {
        let rows = (0..figures.functions()).flat_map(|row| figures.row(row).iter().zip(factors));
        let values = rows.map(|(cost, factor)| cost / factor.exp()).collect();
        Figures::new(figures.runs(), values)
    };
    let costs = match factors {
        None => sides.clone(),
        Some(factors) => {
            let (base, new) = factors.split_at(sides.base.runs());
            Sides {
                base: divide(&sides.base, base),
                new: divide(&sides.new, new),
            }
        }
    };
    let matrix = Matrix {
        counts: (kind == Kind::Sampled).then(|| sides.clone()),
        totals: [totals(&costs.base), totals(&costs.new)],
        factors: factors.map(<[f64]>::to_vec),
        are_factors_found: true,
        paired: false,
        asked: Vec::new(),
        history: None,
        costs,
    };
    let noise = match kind {
        Kind::Timed => Noise::Timed,
        Kind::Sampled => Noise::Sampled,
    };
    judge::judge(&matrix, noise, &Limits::default())
}

/// The results of many trials.
#[derive(Default)]
struct Outcome {
    /// Trials with a false verdict of change.
    any: Rate,
    /// Part of the verdicts of change that are false, in each trial.
    false_part: Rate,
    /// Part of the changed functions that are found, in each trial.
    found: Rate,
    refused: Rate,
}

fn outcome(world: &World, is_normalized: bool, trials: u64) -> Outcome {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let mut outcome = Outcome::default();
    for _ in 0..trials {
        let Trial { sides, ratios } = trial(world, &mut random);
        let factors = is_normalized.then(|| factors(world.kind, &sides));
        let Ok(factors) = factors.transpose() else {
            outcome.refused.add_event(true);
            continue;
        };
        outcome.refused.add_event(false);
        let judged = judged(world.kind, &sides, factors.as_deref());
        let (mut right, mut wrong) = (0.0, 0.0);
        for (row, judgement) in judged.functions.iter().enumerate() {
            let is_changed = ratios.get(row).is_some_and(|ratio| *ratio > 1.0);
            match judgement.verdict {
                Some(Verdict::Slower) if is_changed => right += 1.0,
                Some(verdict) if verdict.is_change() => wrong += 1.0,
                _ => {}
            }
        }
        let of_total = judged.total.verdict.is_some_and(Verdict::is_change);
        outcome
            .any
            .add_event(wrong > 0.0 || (of_total && world.changed == 0.0));
        if right + wrong > 0.0 {
            outcome.false_part.add(wrong / (right + wrong));
        } else {
            outcome.false_part.add(0.0);
        }
        let changed = ratios.iter().filter(|ratio| **ratio > 1.0).count();
        if changed > 0 {
            outcome.found.add(right / changed as f64);
        }
    }
    outcome
}

#[test]
fn normalized_comparisons_keep_their_error_rates_and_power() {
    let is_long = long::is_long();
    let trials = long::repetitions("NORMALIZATION_TRIALS", 60, 200);
    let tiny: &[usize] = if is_long {
        &[0, 20, 60, 200]
    } else {
        &[0, 200]
    };
    let changed: &[f64] = if is_long {
        &[0.0, 0.1, 0.2, 0.3, 0.4]
    } else {
        &[0.0, 0.4]
    };
    let runs: &[usize] = if is_long { &[3, 5, 10] } else { &[5] };
    let (mut broken, mut outcomes) = (Vec::new(), Vec::new());
    for kind in [Kind::Timed, Kind::Sampled] {
        for &runs in runs {
            for &tiny in tiny {
                for &changed in changed {
                    let world = World {
                        kind,
                        runs,
                        tiny,
                        changed,
                        machine: (0.7, 1.5),
                    };
                    let quiet = World {
                        machine: (1.0, 1.0),
                        ..world
                    };
                    let normalized = outcome(&world, true, trials);
                    let plain = outcome(&quiet, false, trials);
                    broken.extend(broken_limits(&world, &normalized, &plain));
                    outcomes.push((changed, normalized, plain));
                }
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    // Many trials together keep the limits without an allowance for chance.
    let mean = |rates: Vec<f64>| rates.iter().sum::<f64>() / rates.len() as f64;
    let unchanged = outcomes.iter().filter(|(changed, ..)| *changed == 0.0);
    let any = mean(
        unchanged
            .map(|(_, normalized, _)| normalized.any.mean())
            .collect(),
    );
    let of_changes = |rate: &dyn Fn(&Outcome, &Outcome) -> f64| {
        let changed = outcomes.iter().filter(|(changed, ..)| *changed > 0.0);
        mean(
            changed
                .map(|(_, normalized, plain)| rate(normalized, plain))
                .collect(),
        )
    };
    let wrong = of_changes(&|normalized, _| normalized.false_part.mean());
    let loss = of_changes(&|normalized, plain| plain.found.mean() - normalized.found.mean());
    let rates = format!("any {any:.3}, false {wrong:.3}, loss {loss:.3}");
    assert!(
        any <= FALSE_COMPARISONS && wrong <= FALSE_DISCOVERIES && loss <= LOSS,
        "{rates}"
    );
}

/// Returns the rates of a world whose limits are broken.
fn broken_limits(world: &World, normalized: &Outcome, plain: &Outcome) -> Option<String> {
    let is_sampled = world.kind == Kind::Sampled;
    let rates = format!(
        "sampled {is_sampled}, {} runs, {} tiny, {} changed: any {:.3}, false {:.3}, found {:.3} of {:.3}, refused {:.3}",
        world.runs,
        world.tiny,
        world.changed,
        normalized.any.mean(),
        normalized.false_part.mean(),
        normalized.found.mean(),
        plain.found.mean(),
        normalized.refused.mean(),
    );
    let holds = if world.changed == 0.0 {
        normalized.any.is_at_most(FALSE_COMPARISONS)
    } else {
        let error = 2.0 * plain.found.error_at(0.5);
        normalized.false_part.is_at_most(FALSE_DISCOVERIES)
            && normalized.found.mean() >= plain.found.mean() - LOSS - error
    };
    (!holds || !normalized.refused.is_at_most(REFUSED)).then_some(rates)
}

#[test]
fn hint_to_normalize_needs_most_of_the_weight() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let world = World {
        kind: Kind::Timed,
        runs: 3,
        tiny: 60,
        changed: 0.0,
        machine: (1.0, 1.0),
    };
    let quiet = trial(&world, &mut random).sides;
    assert_eq!(common_movement(&quiet), None);
    // One function explains the difference of the totals.
    let mut slower = quiet.clone();
    let values = (0..slower.new.functions()).flat_map(|row| {
        let times = if row == 0 { 20.0 } else { 1.0 };
        quiet.new.row(row).iter().map(move |cost| cost * times)
    });
    slower.new = Figures::new(3, values.collect());
    assert_eq!(common_movement(&slower), None);
    // The runs vary together, and the means of the sides are alike.
    let together = |figures: &Figures| {
        let rows =
            (0..figures.functions()).flat_map(|row| figures.row(row).iter().zip([0.7, 1.0, 1.4]));
        Figures::new(3, rows.map(|(cost, factor)| cost * factor).collect())
    };
    let all = Sides {
        base: together(&quiet.base),
        new: together(&quiet.new),
    };
    let ratio = common_movement(&all).expect("a common movement");
    assert!((1.8..2.2).contains(&ratio), "{ratio}");
}

#[test]
fn factors_of_a_series_are_those_of_the_machine() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let machine: Vec<f64> = (0..40).map(|_| random.random_range(0.7..=1.5)).collect();
    // Two of six functions have a step in the middle.
    let rows: Vec<Vec<f64>> = (0..6)
        .map(|row| {
            let step = if row < 2 { 1.5 } else { 1.0 };
            let costs = machine.iter().enumerate();
            costs
                .map(|(run, factor)| 1000.0 * factor * if run < 20 { 1.0 } else { step })
                .collect()
        })
        .collect();
    let factors = factors_of_series(&rows).expect("few functions have changed");
    let factors = factors.expect("six functions");
    for (factor, speed) in factors.iter().zip(&machine) {
        let other = (factor - factors[0]) - (speed / machine[0]).ln();
        assert!(other.abs() < 1e-9, "{other}");
    }
    assert_eq!(factors_of_series(&rows[..2]), Ok(None));
}

#[test]
fn factors_of_a_series_are_unknown_where_most_of_the_weight_has_changed() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let mut factors = |ratios: [f64; 6]| {
        let machine: Vec<f64> = (0..20).map(|_| random.random_range(0.7..=1.5)).collect();
        let mut row = |ratio: &f64| -> Vec<f64> {
            let runs = machine.iter().enumerate();
            runs.map(|(run, factor)| {
                let cost = factor * if run < 8 { 1e6 } else { 1e6 * ratio };
                cost * (0.02 * normal(&mut random)).exp()
            })
            .collect()
        };
        let rows: Vec<Vec<f64>> = ratios.iter().map(&mut row).collect();
        factors_of_series(&rows)
    };
    assert!(matches!(factors([1.0; 6]), Ok(Some(_))));
    assert!(matches!(
        factors([1.3, 1.6, 1.0, 1.0, 1.0, 1.0]),
        Ok(Some(_))
    ));
    let Err(Unstable { changed }) = factors([1.3, 1.6, 2.0, 0.5, 1.0, 1.0]) else {
        panic!("four of six functions have changed");
    };
    assert!(changed > 0.5, "{changed}");
}

#[test]
fn tiny_functions_do_not_outvote_large_ones() {
    // Eight functions on a machine that is 1.3 times slower; one of them does 1.3 times the work besides. Imports vary by themselves.
    let rows = (0..8).map(|row| (0.2e9, if row == 0 { 1.69 } else { 1.3 }));
    let rows: Vec<(f64, f64)> = rows.chain((0..60).map(|_| (20e3, 1.0))).collect();
    let noise = [0.99, 1.0, 1.01];
    let side = |is_new: bool| {
        let values = rows.iter().enumerate().flat_map(|(row, (cost, ratio))| {
            let mean = cost * if is_new { *ratio } else { 1.0 };
            (0..3).map(move |run| mean * noise[(row + run) % 3])
        });
        Figures::new(3, values.collect())
    };
    let sides = Sides {
        base: side(false),
        new: side(true),
    };
    let factors = factors(Kind::Timed, &sides).expect("few functions have changed");
    let verdicts: Vec<Option<Verdict>> = judged(Kind::Timed, &sides, Some(&factors))
        .functions
        .iter()
        .map(|judgement| judgement.verdict)
        .collect();
    assert_eq!(verdicts[0], Some(Verdict::Slower));
    for verdict in &verdicts[1..8] {
        assert_eq!(*verdict, Some(Verdict::Same), "{verdicts:?}");
    }
}
