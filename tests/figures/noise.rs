//! How often noise is taken for change, and change is seen: programs that do not exist, whose noise is known, are compared many
//! times, from a fixed seed. docs/design/0018-noise.md has the figures of all cells.
//!
//! What judges is a function from a matrix to verdicts ([`Judge`]).

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "numbers of runs, functions and comparisons"
)]

use crate::support::long;
use profdb::compare::judge::{self, History, Limits, Matrix, Noise, Verdict};
use profdb_statistics::counts;
use profdb_statistics::factors::SizeFactors;
use profdb_statistics::multiple::false_discovery_rates;
use profdb_statistics::normalize;
use profdb_statistics::presence;
use profdb_statistics::repeats::runs_needed;
use profdb_statistics::times;
use profdb_statistics::{Estimate, Figures, Sides};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Poisson, StandardNormal};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// What a profiler does to a program's costs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Counts of samples.
    Sampled,
    /// Times that are measured.
    Timed,
}

/// What is compared: the figures of both sides, and of earlier runs where there is one run on either.
struct Comparison {
    kind: Kind,
    sides: Sides,
    history: Option<Figures>,
}

/// What is said of a function.
#[derive(Clone, Copy)]
struct Judgement {
    /// Before correction for many tests.
    p: f64,
    /// Whether the verdict is slower, faster, new or gone.
    is_change: bool,
}

/// What is measured: a matrix in, a verdict for each function out.
type Judge = fn(&Comparison) -> Vec<Judgement>;

/// The verdicts of comparisons. That of the total is counted with the first function's.
fn judge(comparison: &Comparison) -> Vec<Judgement> {
    let totals = |figures: &Figures| -> Vec<f64> {
        let functions = 0..figures.functions();
        (0..figures.runs())
            .map(|run| functions.clone().map(|at| figures.row(at)[run]).sum())
            .collect()
    };
    let is_sampled = comparison.kind == Kind::Sampled;
    let sides = &comparison.sides;
    let matrix = Matrix {
        counts: is_sampled.then(|| sides.clone()),
        totals: [totals(&sides.base), totals(&sides.new)],
        factors: None,
        are_factors_found: false,
        paired: false,
        asked: Vec::new(),
        history: comparison.history.as_ref().map(|history| History {
            costs: history.clone(),
            counts: is_sampled.then(|| history.clone()),
            totals: totals(history),
        }),
        costs: sides.clone(),
    };
    let noise = if is_sampled {
        Noise::Sampled
    } else {
        Noise::Timed
    };
    let judged = judge::judge(&matrix, noise, &Limits::default());
    let is_change =
        |judgement: &judge::Judgement| judgement.verdict.is_some_and(Verdict::is_change);
    let of_total = is_change(&judged.total);
    let functions = judged.functions.iter().enumerate();
    functions
        .map(|(at, function)| Judgement {
            p: function.p.unwrap_or(1.0),
            is_change: is_change(function) || (at == 0 && of_total),
        })
        .collect()
}

fn estimates(comparison: &Comparison, shared: &SizeFactors) -> Vec<Estimate> {
    let Comparison {
        kind,
        sides,
        history,
    } = comparison;
    match (kind, history) {
        (Kind::Sampled, None) => counts::test(sides, shared),
        (Kind::Sampled, Some(history)) => counts::test_with_history(history, sides, shared),
        (Kind::Timed, None) => times::test(sides, shared),
        (Kind::Timed, Some(history)) => times::test_with_history(history, sides, shared),
    }
}

/// A kind of noise.
#[derive(Clone, Copy)]
pub(super) struct Cell {
    pub(super) kind: Kind,
    /// Runs a side; of one, there is a history of [`EARLIER`] runs.
    pub(super) runs: usize,
    /// How much each function varies from run to run by itself, as a part of its cost.
    pub(super) variation: f64,
    /// How much all functions of a run vary together.
    pub(super) shared: f64,
    /// Samples that come together.
    pub(super) burst: f64,
    /// Samples of a run; what a timed run takes.
    pub(super) samples: f64,
    /// Share of the functions that vary four times as much as the others.
    pub(super) wild: f64,
    /// What times are rounded to; 0 where they are not.
    pub(super) grain: f64,
}

impl Cell {
    pub(super) const QUIET: Self = Cell {
        kind: Kind::Sampled,
        runs: 5,
        variation: 0.0,
        shared: 0.0,
        burst: 1.0,
        samples: 20_000.0,
        wild: 0.0,
        grain: 0.0,
    };

    fn name(&self) -> String {
        let mut name = match self.kind {
            Kind::Sampled => "sampled",
            Kind::Timed => "timed",
        }
        .to_owned();
        let _ = write!(name, " n {} CV {} %", self.runs, 100.0 * self.variation);
        if self.shared > 0.0 {
            let _ = write!(name, ", runs {} %", 100.0 * self.shared);
        }
        if self.burst > 1.0 {
            let _ = write!(name, ", bursts of {}", self.burst);
        }
        if self.samples < Cell::QUIET.samples {
            let _ = write!(name, ", {} samples", self.samples);
        }
        if self.wild > 0.0 {
            let _ = write!(name, ", {} % wild", 100.0 * self.wild);
        }
        if self.grain > 0.0 {
            let _ = write!(name, ", in units of {}", self.grain);
        }
        name
    }
}

/// Earlier runs that one run on either side is given.
const EARLIER: usize = 8;
/// How many functions have which share of the cost.
const SHARES: [(usize, f64); 7] = [
    (1, 0.2),
    (2, 0.1),
    (4, 0.05),
    (10, 0.02),
    (10, 0.01),
    (10, 0.005),
    (10, 0.002),
];

fn shares() -> Vec<f64> {
    let groups = SHARES.iter();
    groups
        .flat_map(|&(functions, share)| vec![share; functions])
        .collect()
}

/// Shares of functions as programs have them, by Zipf's law; 5 % of the cost is in functions that are not compared.
pub(super) fn shares_by_rank(functions: usize) -> Vec<f64> {
    let weights: Vec<f64> = (1..=functions)
        .map(|rank| (rank as f64).powf(-1.1))
        .collect();
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| 0.95 * weight / sum).collect()
}

/// Draws runs of a program.
pub(super) struct Draw {
    random: Xoshiro256PlusPlus,
    /// Which part of the cost each function has.
    shares: Vec<f64>,
}

impl Draw {
    pub(super) fn new(shares: Vec<f64>) -> Self {
        Draw {
            random: Xoshiro256PlusPlus::seed_from_u64(7),
            shares,
        }
    }

    fn normal(&mut self) -> f64 {
        StandardNormal.sample(&mut self.random)
    }

    /// `functions` times a factor that is 1 in the mean and varies by `variation`.
    fn lognormal(&mut self, variation: f64) -> f64 {
        let deviation = (variation * variation).ln_1p().sqrt();
        (deviation * self.normal() - deviation * deviation / 2.0).exp()
    }

    /// The figures of some runs; each of the functions `slower` takes `times` as long.
    pub(super) fn runs(
        &mut self,
        cell: &Cell,
        runs: usize,
        slower: &[usize],
        times: f64,
    ) -> Figures {
        let shares = self.shares.clone();
        let factors: Vec<f64> = (0..runs).map(|_| self.lognormal(cell.shared)).collect();
        let mut figures = Vec::with_capacity(shares.len() * runs);
        for (function, share) in shares.iter().enumerate() {
            // Every tenth of the functions of all sizes, or every fifth.
            let is_wild = cell.wild > 0.0 && function % (1.0 / cell.wild) as usize == 2;
            let variation = cell.variation * if is_wild { 4.0 } else { 1.0 };
            let mut cost = cell.samples * share;
            if slower.contains(&function) {
                cost *= times;
            }
            for factor in &factors {
                let mean = cost * factor * self.lognormal(variation);
                figures.push(match cell.kind {
                    Kind::Timed if cell.grain > 0.0 => (mean / cell.grain).round() * cell.grain,
                    Kind::Timed => mean,
                    Kind::Sampled => {
                        let bursts = Poisson::new(mean / cell.burst).expect("it is above 0");
                        cell.burst * bursts.sample(&mut self.random)
                    }
                });
            }
        }
        Figures::new(runs, figures)
    }

    /// Of a program with one in which the functions `slower` take `times` as long.
    fn comparison(&mut self, cell: &Cell, slower: &[usize], times: f64) -> Comparison {
        let history = (cell.runs == 1).then(|| self.runs(cell, EARLIER, &[], 1.0));
        let base = self.runs(cell, cell.runs, &[], 1.0);
        let new = self.runs(cell, cell.runs, slower, times);
        Comparison {
            kind: cell.kind,
            sides: Sides { base, new },
            history,
        }
    }
}

/// Means over comparisons that have nothing to do with each other.
#[derive(Clone, Copy, Default)]
pub(super) struct Rate {
    count: f64,
    sum: f64,
    squares: f64,
}

impl Rate {
    pub(super) fn add(&mut self, value: f64) {
        self.count += 1.0;
        self.sum += value;
        self.squares += value * value;
    }

    pub(super) fn add_event(&mut self, happened: bool) {
        self.add(f64::from(u8::from(happened)));
    }

    pub(super) fn mean(&self) -> f64 {
        self.sum / self.count
    }

    /// Within two standard errors.
    pub(super) fn is_at_most(&self, bound: f64) -> bool {
        self.mean() <= bound + 2.0 * self.standard_error()
    }

    /// Standard error of a rate that is `expected`.
    pub(super) fn error_at(&self, expected: f64) -> f64 {
        (expected * (1.0 - expected) / self.count).sqrt()
    }

    /// Of the mean.
    fn standard_error(&self) -> f64 {
        let mean = self.mean();
        ((self.squares / self.count - mean * mean).max(0.0) / (self.count - 1.0)).sqrt()
    }
}

/// What came of comparing a program with itself.
#[derive(Default)]
struct Outcome {
    /// For each share: how many functions have a probability below 0.05.
    nominal: [Rate; SHARES.len()],
    /// Comparisons in which any function is said to have changed.
    any: Rate,
}

fn outcome(judge: Judge, cell: &Cell, comparisons: u64) -> Outcome {
    let mut draw = Draw::new(shares());
    let mut outcome = Outcome::default();
    for _ in 0..comparisons {
        let judgements = judge(&draw.comparison(cell, &[], 1.0));
        let mut rest = &judgements[..];
        for ((functions, _), rate) in SHARES.iter().zip(&mut outcome.nominal) {
            let (group, others) = rest.split_at(*functions);
            let flagged = group.iter().filter(|judgement| judgement.p < 0.05);
            rate.add(flagged.count() as f64 / *functions as f64);
            rest = others;
        }
        outcome
            .any
            .add_event(judgements.iter().any(|judgement| judgement.is_change));
    }
    outcome
}

/// All cells of noise for which a bound is promised.
fn cells() -> Vec<Cell> {
    let mut cells = Vec::new();
    for (kind, runs) in [Kind::Sampled, Kind::Timed]
        .into_iter()
        .flat_map(|kind| [1, 3, 5, 10].map(|runs| (kind, runs)))
    {
        let quiet = Cell {
            kind,
            runs,
            ..Cell::QUIET
        };
        let is_possible = |cell: &Cell| kind == Kind::Sampled || cell.variation > 0.0;
        let alone = [0.0, 0.02, 0.05, 0.1, 0.2].map(|variation| Cell { variation, ..quiet });
        let shared = [
            (0.0, 0.1),
            (0.02, 0.05),
            (0.02, 0.1),
            (0.05, 0.05),
            (0.05, 0.1),
        ];
        let shared = shared.map(|(variation, shared)| Cell {
            variation,
            shared,
            ..quiet
        });
        cells.extend(alone.into_iter().chain(shared).filter(is_possible));
        if kind == Kind::Sampled {
            let few = [(0.0, 1.0), (0.1, 1.0), (0.0, 4.0)].map(|(variation, burst)| Cell {
                variation,
                burst,
                samples: 2000.0,
                ..quiet
            });
            let bursts = [(0.0, 4.0), (0.05, 4.0), (0.0, 8.0), (0.05, 8.0)];
            let bursts = bursts.map(|(variation, burst)| Cell {
                variation,
                burst,
                ..quiet
            });
            cells.extend(bursts.into_iter().chain(few));
        }
        cells.push(Cell {
            variation: 0.05,
            wild: 0.1,
            ..quiet
        });
    }
    cells
}

/// At most 6 % of unchanged functions have a probability below 0.05, whatever their share of the cost, and at most 6 % of
/// comparisons of equal programs have a verdict of change (7 % where runs share a factor, 8 % where
/// functions differ in how much they vary), within two standard errors.
#[test]
fn noise_is_seldom_taken_for_change() {
    let comparisons = long::repetitions("NOISE", 150, 600);
    let mut table = String::new();
    let mut found = Vec::new();
    for (at, cell) in cells().iter().enumerate() {
        // The short form has every eighth one: of all kinds of noise, and all numbers of runs.
        if !long::is_long() && at % 8 != 0 {
            continue;
        }
        let Outcome { nominal, any } = outcome(judge, cell, comparisons);
        let bound = match cell {
            cell if cell.wild > 0.0 => 0.08,
            cell if cell.shared > 0.0 => 0.07,
            _ => 0.06,
        };
        let rates = nominal.iter().map(|rate| (*rate, 0.06));
        for (rate, bound) in rates.clone().chain([(any, bound)]) {
            if !rate.is_at_most(bound) {
                found.push(cell.name());
            }
        }
        let _ = write!(table, "| {} |", cell.name());
        for (rate, _) in rates.chain([(any, bound)]) {
            let _ = write!(table, " {:.1} |", 100.0 * rate.mean());
        }
        table.push('\n');
    }
    keep("noise.md", &table);
    assert!(found.is_empty(), "{found:?}\n{table}");
}

/// Small times in whole units: repeats often agree to the last digit, which tells nothing of how much they vary.
#[test]
fn rounded_times_are_seldom_taken_for_change() {
    let comparisons = long::repetitions("NOISE", 60, 600);
    let mut table = String::new();
    let mut found = Vec::new();
    for runs in [1, 3, 5, 10] {
        for (variation, samples, grain) in [
            (0.02, 3_000.0, 1.0),
            (0.02, 1_000.0, 1.0),
            (0.005, 20_000.0, 1.0),
            (0.05, 3.0, 0.01),
        ] {
            let cell = Cell {
                kind: Kind::Timed,
                runs,
                variation,
                samples,
                grain,
                ..Cell::QUIET
            };
            let any = outcome(judge, &cell, comparisons).any;
            let _ = writeln!(table, "| {} | {:.1} |", cell.name(), 100.0 * any.mean());
            if !any.is_at_most(0.06) {
                found.push(cell.name());
            }
        }
    }
    keep("noise-rounded.md", &table);
    assert!(found.is_empty(), "{found:?}\n{table}");
}

/// Leaves a table where docs/design/0018-noise.md can take it from.
pub(super) fn keep(name: &str, table: &str) {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(path, table).expect("the folder for tests can be written");
}

/// How often a function is seen that takes 1.3 times as long, and no less often than when the method was tried: the second and
/// the tenth of forty functions, 13 % and 2 % of the cost.
#[test]
fn changes_are_seen() {
    let comparisons = long::repetitions("NOISE", 60, 600);
    let mut table = String::new();
    let mut found = Vec::new();
    for (runs, variation, shared, expected) in [
        (3, 0.0, 0.0, [0.99, 0.95]),
        (3, 0.05, 0.0, [0.93, 0.83]),
        (3, 0.02, 0.1, [0.12, 0.14]),
        (5, 0.05, 0.0, [0.98, 0.95]),
        (5, 0.2, 0.0, [0.09, 0.09]),
        (5, 0.02, 0.1, [0.43, 0.40]),
        (10, 0.05, 0.0, [1.0, 1.0]),
        (10, 0.2, 0.0, [0.34, 0.29]),
        (10, 0.02, 0.1, [0.96, 0.93]),
    ] {
        let cell = Cell {
            runs,
            variation,
            shared,
            ..Cell::QUIET
        };
        let _ = write!(table, "| {} |", cell.name());
        for (function, expected) in [1, 9].into_iter().zip(expected) {
            let mut draw = Draw::new(shares_by_rank(40));
            let mut seen = Rate::default();
            for _ in 0..comparisons {
                let judgements = judge(&draw.comparison(&cell, &[function], 1.3));
                seen.add_event(judgements[function].is_change);
            }
            let _ = write!(table, " {:.0} |", 100.0 * seen.mean());
            if seen.mean() + 2.0 * seen.error_at(expected) < expected - 0.1 {
                found.push(cell.name());
            }
        }
        table.push('\n');
    }
    keep("power.md", &table);
    assert!(found.is_empty(), "{found:?}\n{table}");
}

/// A change in the history is no noise: a further change is seen nearly as often as without.
#[test]
fn a_step_in_the_history_is_no_noise() {
    let cell = Cell {
        runs: 1,
        variation: 0.05,
        ..Cell::QUIET
    };
    for step in [1.0, 1.3] {
        let mut draw = Draw::new(shares());
        let mut seen = Rate::default();
        for _ in 0..200 {
            let mut history = Vec::new();
            let (before, after) = (
                draw.runs(&cell, 4, &[], 1.0),
                draw.runs(&cell, 4, &[0], step),
            );
            for function in 0..before.functions() {
                history.extend_from_slice(before.row(function));
                history.extend_from_slice(after.row(function));
            }
            let sides = Sides {
                base: draw.runs(&cell, 1, &[0], step),
                new: draw.runs(&cell, 1, &[0], 1.3 * step),
            };
            let estimates = counts::test_with_history(
                &Figures::new(8, history),
                &sides,
                &SizeFactors::Estimated,
            );
            seen.add_event(estimates[0].p < 0.05);
        }
        // With the deviation from the mean of all, 3 %.
        assert!(seen.mean() > 0.45, "{step}: {}", seen.mean());
    }
}

/// The total by itself, of which no other function tells what runs share: of one run on either side and a history, with factors
/// given or not, and of more.
#[test]
fn noise_of_a_single_function_is_all_its_own() {
    for kind in [Kind::Sampled, Kind::Timed] {
        for runs in [1, 3] {
            let cell = Cell {
                kind,
                runs,
                variation: 0.05,
                shared: 0.1,
                ..Cell::QUIET
            };
            for shared in [
                SizeFactors::Estimated,
                SizeFactors::Given(vec![0.0; 2 * runs]),
            ] {
                let mut draw = Draw::new(vec![1.0]);
                let mut flagged = Rate::default();
                for _ in 0..400 {
                    let comparison = draw.comparison(&cell, &[], 1.0);
                    flagged.add_event(estimates(&comparison, &shared)[0].p < 0.05);
                }
                assert!(
                    flagged.is_at_most(0.06),
                    "{}: {}",
                    cell.name(),
                    flagged.mean()
                );
            }
        }
    }
}

/// Functions that are in a run or not by chance are seldom called new or gone, however many they are; one of forty that are in
/// all runs or in none is, from three runs on.
#[test]
fn what_is_in_some_runs_is_seldom_new_or_gone() {
    let mut draw = Draw::new(Vec::new());
    for (runs, by_chance) in [
        ([3, 3], 1),
        ([3, 3], 5),
        ([3, 3], 40),
        ([5, 5], 20),
        ([2, 10], 3),
        ([1, 4], 2),
    ] {
        let mut any = Rate::default();
        for _ in 0..2000 {
            let seen: Vec<[usize; 2]> = (0..40)
                .map(|function| {
                    if function >= by_chance {
                        return runs;
                    }
                    let often = [0.5, 0.9, 0.2][function % 3];
                    runs.map(|runs| {
                        let is_in = |_: &usize| draw.random.random::<f64>() < often;
                        (0..runs).filter(is_in).count()
                    })
                })
                .collect();
            any.add_event(is_any_one_sided(&seen, runs));
        }
        assert!(any.is_at_most(0.05), "{runs:?} {by_chance}: {}", any.mean());
    }
    let mut seen = vec![[3, 3]; 40];
    seen[7] = [3, 0];
    assert!(is_any_one_sided(&seen, [3, 3]));
    // Another that comes and goes is reason enough to doubt.
    seen[8] = [3, 2];
    assert!(!is_any_one_sided(&seen, [3, 3]));
    assert!(!is_any_one_sided(&[[1, 1], [1, 0]], [1, 1]));
}

fn is_any_one_sided(seen: &[[usize; 2]], runs: [usize; 2]) -> bool {
    let p = presence::one_sided(seen, runs);
    let p: Vec<f64> = p.into_iter().map(|p| p.unwrap_or(1.0)).collect();
    false_discovery_rates(&p).iter().any(|rate| *rate < 0.05)
}

/// As many runs as are said to show a change do show it, at least 70 % of the time, among as many functions.
#[test]
fn runs_needed_are_enough() {
    for functions in [1, 40] {
        let runs = runs_needed(0.1, 0.1, 0.05, functions);
        let cell = Cell {
            kind: Kind::Timed,
            runs: runs as usize,
            variation: 0.1,
            ..Cell::QUIET
        };
        let mut draw = Draw::new(vec![1.0 / functions as f64; functions]);
        let mut seen = Rate::default();
        for _ in 0..100 {
            let Comparison { sides, .. } = draw.comparison(&cell, &[0], 1.1);
            // One function has no other to tell what runs share.
            let none = SizeFactors::Given(vec![0.0; 2 * cell.runs]);
            let estimates = times::test(&sides, &none);
            let p: Vec<f64> = estimates.iter().map(|estimate| estimate.p).collect();
            seen.add_event(false_discovery_rates(&p)[0] < 0.05);
        }
        let mean = seen.mean();
        assert!(
            (0.7..0.95).contains(&mean),
            "{functions}: {runs} runs, {mean}"
        );
    }
}

/// What is said to be the same within 5 % is, but for 5 % of those that just are not.
#[test]
fn what_is_the_same_is_nearly_equal() {
    for (runs, variation) in [(3, 0.02), (5, 0.02), (10, 0.02), (10, 0.05)] {
        let cell = Cell {
            runs,
            variation,
            ..Cell::QUIET
        };
        let mut draw = Draw::new(shares());
        let mut same = [Rate::default(); 2];
        for _ in 0..100 {
            for (rate, times) in same.iter_mut().zip([1.0, 1.051]) {
                let Comparison { sides, .. } = draw.comparison(&cell, &[0], times);
                let estimates = counts::test(&sides, &SizeFactors::Estimated);
                let (low, high) = estimates[0].interval(0.1);
                rate.add_event(low > 0.95 && high < 1.05);
            }
        }
        assert!(
            same[1].is_at_most(0.05),
            "{}: {}",
            cell.name(),
            same[1].mean()
        );
        assert!(same[0].mean() > 0.25, "{}: {}", cell.name(), same[0].mean());
    }
}

/// Runs of a machine that is now fast, now slow, are comparable after normalization if few functions have changed. If most have
/// changed, each by another ratio, they are refused.
#[test]
fn normalised_runs_are_comparable_or_refused() {
    let cell = Cell {
        variation: 0.03,
        shared: 0.1,
        ..Cell::QUIET
    };
    for (slower, refused_at_least, wrong_at_most) in [
        (0, 0.0, 0.06),
        (1, 0.0, 0.08),
        (4, 0.0, 0.25),
        (32, 0.9, 1.0),
    ] {
        let mut draw = Draw::new(shares_by_rank(40));
        let (mut refused, mut wrong) = (Rate::default(), Rate::default());
        for round in 0..60 {
            // Other ones each time, of all sizes.
            let slower: Vec<usize> = (0..slower).map(|at| (at * 7 + round) % 40).collect();
            let Comparison { mut sides, .. } = draw.comparison(&cell, &slower, 1.3);
            if slower.len() > 4 {
                let values = (0..40).flat_map(|row| {
                    let place = slower.iter().position(|other| *other == row);
                    let times = place.map_or(1.0, |place| 1.15_f64.powf(place as f64 - 16.0));
                    let figures = sides.new.row(row).iter();
                    figures.map(move |count| (count * times).round())
                });
                sides.new = Figures::new(sides.new.runs(), values.collect());
            }
            let factors = normalize::factors_of_counts(&sides);
            refused.add_event(factors.is_err());
            let Ok(factors) = factors else { continue };
            let estimates = counts::test(&sides, &SizeFactors::Given(factors));
            let p: Vec<f64> = estimates.iter().map(|estimate| estimate.p).collect();
            let rates = false_discovery_rates(&p);
            let is_wrong = |at: usize| rates[at] < 0.05 && !slower.contains(&at);
            wrong.add_event((0..40).any(is_wrong));
        }
        assert!(
            refused.mean() >= refused_at_least,
            "{slower}: {}",
            refused.mean()
        );
        assert!(
            wrong.count == 0.0 || wrong.is_at_most(wrong_at_most),
            "{slower}: {} of {}",
            wrong.mean(),
            wrong.count
        );
    }
}

/// A recording that is given twice is not two: it makes noise look like change, so that runs of equal figures must count once.
#[test]
fn a_recording_given_twice_is_not_two() {
    let cell = Cell {
        runs: 3,
        variation: 0.05,
        ..Cell::QUIET
    };
    let twice = |figures: &Figures| {
        let rows = (0..figures.functions()).flat_map(|function| figures.row(function).repeat(2));
        Figures::new(2 * figures.runs(), rows.collect())
    };
    let mut draw = Draw::new(shares());
    let (mut once, mut doubled) = (Rate::default(), Rate::default());
    for _ in 0..100 {
        let comparison = draw.comparison(&cell, &[], 1.0);
        let twice = Comparison {
            kind: cell.kind,
            sides: Sides {
                base: twice(&comparison.sides.base),
                new: twice(&comparison.sides.new),
            },
            history: None,
        };
        let is_any = |comparison| {
            judge(comparison)
                .iter()
                .any(|judgement| judgement.is_change)
        };
        once.add_event(is_any(&comparison));
        doubled.add_event(is_any(&twice));
    }
    assert!(
        once.is_at_most(0.06) && doubled.mean() > 0.4,
        "{}",
        doubled.mean()
    );
}
