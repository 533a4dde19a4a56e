//! Steps of series: the best cuts by brute force and by the Python module ruptures, and how often noise is taken for a step, and
//! steps are seen: series whose noise is known are searched many times, from a fixed seed. docs/design/0020-steps.md has the figures
//! of all cells.

#![expect(
    clippy::cast_precision_loss,
    reason = "numbers of positions, and 53 bits of a random number"
)]

use crate::support::long;
use crate::support::random::Random;
use crate::support::tools;
use profdb_statistics::multiple::false_discovery_rates;
use profdb_statistics::steps::potts::cuts;
use profdb_statistics::steps::{Findings, Kind, Limits, Point, find_steps};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Poisson, StandardNormal};
use std::fmt::Write as _;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

/// Values around a level that changes now and then.
fn levels(seed: u64, n: usize) -> Vec<f64> {
    let mut random = Random(seed);
    let mut one = || (random.next() >> 11) as f64 / (1_u64 << 53) as f64;
    let mut level = 20.0;
    (0..n)
        .map(|_| {
            if one() < 0.2 {
                level += 8.0 * (one() - 0.5);
            }
            level + one() + one() - one()
        })
        .collect()
}

/// The sum of squared deviations from the segments' means, and the penalty of each cut.
fn cost(values: &[f64], weights: &[f64], penalty: f64, cuts: &[usize]) -> f64 {
    let ends = cuts.iter().copied().chain([values.len()]);
    let mut begin = 0;
    let mut cost = penalty * cuts.len() as f64;
    for end in ends {
        let pairs = || values[begin..end].iter().zip(&weights[begin..end]);
        let weight: f64 = pairs().map(|(_, weight)| weight).sum();
        let mean = pairs().map(|(value, weight)| value * weight).sum::<f64>() / weight;
        cost += pairs()
            .map(|(value, weight)| weight * (value - mean).powi(2))
            .sum::<f64>();
        begin = end;
    }
    cost
}

/// All ways to cut what is from `begin` on into segments that are long enough.
fn all_cuts(begin: usize, n: usize, shortest: usize) -> Vec<Vec<usize>> {
    let mut found = vec![Vec::new()];
    for cut in begin + shortest..=n.saturating_sub(shortest) {
        for mut rest in all_cuts(cut, n, shortest) {
            rest.insert(0, cut);
            found.push(rest);
        }
    }
    found
}

/// Of up to twelve values, the cuts are those that cost least of all there are.
#[test]
fn cuts_are_the_best_of_all() {
    for seed in 0..400 {
        let n = 1 + usize::try_from(seed % 12).expect("small");
        let values = levels(seed, n);
        let weights: Vec<f64> = match seed % 3 {
            0 => levels(seed + 1000, n)
                .iter()
                .map(|value| value.abs() / 10.0 + 0.1)
                .collect(),
            _ => vec![1.0; n],
        };
        for (penalty, shortest) in [(0.0, 1), (0.3, 1), (1.0, 2), (1.0, 3), (4.0, 3), (100.0, 3)] {
            let found = cuts(&values, &weights, penalty, shortest);
            let (least, best) = all_cuts(0, n, shortest)
                .into_iter()
                .map(|cuts| (cost(&values, &weights, penalty, &cuts), cuts))
                .min_by(|one, other| one.0.total_cmp(&other.0))
                .expect("no cut is one way");
            let ours = cost(&values, &weights, penalty, &found);
            assert!(
                ours <= least + 1e-9,
                "{values:?} {weights:?} {penalty} {shortest}: {found:?} {ours}, not {best:?} {least}"
            );
            let ends = std::iter::once(0).chain(found.iter().copied()).chain([n]);
            let ends: Vec<usize> = ends.collect();
            assert!(
                found.is_empty() || ends.windows(2).all(|pair| pair[1] - pair[0] >= shortest),
                "{found:?} {shortest}"
            );
        }
    }
}

/// The cuts are those of the Python module ruptures, with as high a penalty: its dynamic programme over all numbers of cuts, and its pruned one.
#[test]
fn cuts_are_those_of_ruptures() {
    tools::require_python_module("ruptures");
    let mut questions = String::new();
    let mut ours = Vec::new();
    for seed in 0..60 {
        let values = levels(seed, 6 + usize::try_from(seed).expect("small"));
        let penalty = [0.5, 2.0, 10.0][usize::try_from(seed % 3).expect("small")];
        let _ = write!(questions, "{penalty} 3");
        for value in &values {
            let _ = write!(questions, " {value:e}");
        }
        questions.push('\n');
        ours.push(cuts(&values, &vec![1.0; values.len()], penalty, 3));
    }
    let mut child = tools::command("python3")
        .arg("tests/support/ruptures_cuts.py")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it was found");
    let mut input = child.stdin.take().expect("it is piped");
    let writer = std::thread::spawn(move || input.write_all(questions.as_bytes()));
    let output = child.wait_with_output().expect("its answers are text");
    writer.join().expect("no panic").expect("it reads all");
    assert!(output.status.success(), "ruptures");
    let answers = String::from_utf8(output.stdout).expect("numbers");
    let theirs: Vec<Vec<usize>> = answers
        .lines()
        .map(|line| {
            line.split_whitespace()
                .map(|cut| cut.parse().expect(line))
                .collect()
        })
        .collect();
    assert_eq!(ours, theirs);
    assert!(
        ours.iter().filter(|cuts| cuts.len() > 1).count() > 20,
        "{ours:?}"
    );
}

/// A kind of noise, with a standard deviation of 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Noise {
    Normal,
    /// Student's distribution with three degrees of freedom.
    Heavy,
    /// Normal, but for 4 % that are eight standard deviations away.
    Outliers,
    /// Exponentials of normal values: skewed.
    Lognormal,
    /// Each value has a part, in percent, of the one before it.
    Memory(u32),
    /// A week of seven positions.
    Periodic,
    /// A machine that is slow three times of ten.
    TwoModes,
    /// A line from 0 to this at the end, with normal noise.
    Ramp(u32),
    /// A machine that varies six times as much from the middle on.
    Noisier,
    /// One that varies six times as much up to the middle.
    Quieter,
    /// A random walk, seen through noise that varies twice as much as its steps do.
    Walk,
}

/// Draws series.
struct Draw(Xoshiro256PlusPlus);

impl Draw {
    fn new() -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(7))
    }

    fn normal(&mut self) -> f64 {
        StandardNormal.sample(&mut self.0)
    }

    fn is(&mut self, probability: f64) -> bool {
        self.0.random::<f64>() < probability
    }

    fn series(&mut self, noise: Noise, n: usize) -> Vec<f64> {
        let mut before = self.normal();
        let mut level = 0.0;
        (0..n)
            .map(|at| {
                let part = at as f64 / (n - 1) as f64;
                let normal = self.normal();
                match noise {
                    Noise::Heavy => {
                        let squares: f64 = (0..3).map(|_| self.normal().powi(2)).sum();
                        normal / squares.sqrt()
                    }
                    Noise::Outliers if self.is(0.04) => {
                        normal + if self.is(0.5) { 8.0 } else { -8.0 }
                    }
                    Noise::Normal | Noise::Outliers => normal,
                    Noise::Lognormal => (normal.exp() - 1.65) / 2.16,
                    Noise::Memory(percent) => {
                        let part = f64::from(percent) / 100.0;
                        before = part * before + (1.0 - part * part).sqrt() * normal;
                        before
                    }
                    Noise::Periodic => {
                        0.7 * normal + (std::f64::consts::TAU * at as f64 / 7.0).sin()
                    }
                    Noise::TwoModes => 0.4 * normal + if self.is(0.3) { 2.5 } else { 0.0 },
                    Noise::Ramp(high) => normal + f64::from(high) * part,
                    Noise::Noisier => normal * if 2 * at < n { 0.4 } else { 2.4 },
                    Noise::Quieter => normal * if 2 * at < n { 2.4 } else { 0.4 },
                    Noise::Walk => {
                        level += 0.2 * normal;
                        level + 0.4 * self.normal()
                    }
                }
            })
            .collect()
    }
}

/// The standard deviation of the logarithms of figures.
const DEVIATION: f64 = 0.05;

/// Finds the steps of a timed series, given in standard deviations.
fn found(deviations: &[f64]) -> Findings {
    let point = |deviations: &f64| Point::once(1000.0 * (DEVIATION * deviations).exp());
    let points: Vec<Point> = deviations.iter().map(point).collect();
    find_steps(&points, Kind::Timed { quantum: 0.0 }, &Limits::default())
}

/// What part of so many series something holds for.
fn rate(series: u64, mut holds: impl FnMut() -> bool) -> f64 {
    let count = (0..series).filter(|_| holds()).count();
    count as f64 / series as f64
}

/// Within two standard errors.
fn is_at_most(rate: f64, bound: f64, series: u64) -> bool {
    rate <= bound + 2.0 * (bound * (1.0 - bound) / series as f64).sqrt()
}

fn is_at_least(rate: f64, bound: f64, series: u64) -> bool {
    is_at_most(1.0 - rate, 1.0 - bound, series)
}

fn keep(name: &str, table: &str) {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(path, table).expect("the folder for tests can be written");
}

const LENGTHS: [usize; 8] = [8, 10, 12, 20, 30, 60, 120, 200];
/// From as many positions on, a series tells more of its noise.
const LONG: usize = 60;

/// Of series in which nothing changes at once, as many have a step as docs/design/0020-steps.md says.
#[test]
fn noise_is_seldom_a_step() {
    let series = long::repetitions("NOISE", 60, 400);
    let (mut table, mut wrong) = (String::new(), Vec::new());
    let mut draw = Draw::new();
    for (noise, short, long) in [
        (Noise::Normal, 0.005, 0.005),
        (Noise::Heavy, 0.005, 0.005),
        (Noise::Outliers, 0.01, 0.01),
        (Noise::Lognormal, 0.01, 0.015),
        (Noise::Memory(30), 0.02, 0.01),
        (Noise::Memory(50), 0.03, 0.02),
        (Noise::Memory(70), 0.045, 0.04),
        (Noise::Periodic, 0.025, 0.005),
        (Noise::TwoModes, 0.017, 0.01),
        (Noise::Ramp(3), 0.07, 0.055),
        (Noise::Ramp(10), 0.01, 0.005),
        (Noise::Ramp(30), 0.005, 0.005),
        (Noise::Noisier, 0.025, 0.01),
        (Noise::Quieter, 0.025, 0.01),
        (Noise::Walk, 0.08, 0.15),
    ] {
        let _ = write!(table, "| {noise:?} |");
        for n in LENGTHS {
            let steps = rate(series, || !found(&draw.series(noise, n)).steps.is_empty());
            let _ = write!(table, " {:.1} |", 100.0 * steps);
            let bound = if n < LONG { short } else { long };
            if !is_at_most(steps, bound, series) {
                wrong.push(format!("{noise:?} n {n}: {steps}"));
            }
        }
        table.push('\n');
    }
    keep("steps.md", &table);
    assert!(wrong.is_empty(), "{wrong:?}\n{table}");
}

/// A slow change is a drift, and no other noise is.
#[test]
fn what_changes_slowly_drifts() {
    let series = long::repetitions("NOISE", 60, 400);
    let mut draw = Draw::new();
    let mut drifts =
        |noise: Noise, n: usize| rate(series, || found(&draw.series(noise, n)).drift.is_some());
    for noise in [
        Noise::Normal,
        Noise::Outliers,
        Noise::Lognormal,
        Noise::TwoModes,
        Noise::Noisier,
    ] {
        for n in [12, 60, 200] {
            let rate = drifts(noise, n);
            assert!(is_at_most(rate, 0.01, series), "{noise:?} n {n}: {rate}");
        }
    }
    for (noise, n, least) in [
        (Noise::Ramp(3), 60, 0.75),
        (Noise::Ramp(3), 200, 0.95),
        (Noise::Ramp(10), 20, 0.9),
    ] {
        let rate = drifts(noise, n);
        assert!(is_at_least(rate, least, series), "{noise:?} n {n}: {rate}");
    }
    // The line's end in terms of its beginning.
    let ramp: Vec<f64> = draw.series(Noise::Ramp(10), 60);
    let drift = found(&ramp).drift.expect("a steep one");
    let truth = (10.0 * DEVIATION).exp();
    assert!(
        drift.interval.0 < truth && truth < drift.interval.1,
        "{drift:?}"
    );
}

/// A step of so many standard deviations is seen, at most two positions from where it is, as often as when the method was tried.
#[test]
fn steps_are_seen() {
    let series = long::repetitions("NOISE", 60, 400);
    let places = [
        (8, 4),
        (12, 6),
        (20, 10),
        (60, 30),
        (60, 50),
        (60, 57),
        (200, 100),
    ];
    let (mut table, mut wrong) = (String::new(), Vec::new());
    let mut draw = Draw::new();
    for (size, expected) in [
        (2.0, [0.04, 0.03, 0.1, 0.68, 0.34, 0.04, 0.8]),
        (3.0, [0.16, 0.17, 0.4, 0.94, 0.81, 0.34, 0.97]),
        (5.0, [0.48, 0.55, 0.78, 0.98, 0.97, 0.86, 0.98]),
        (7.0, [0.74, 0.79, 0.92, 0.98, 0.98, 0.96, 0.98]),
        (10.0, [0.88, 0.91, 0.97, 0.98, 0.98, 0.98, 0.98]),
    ] {
        let _ = write!(table, "| {size} |");
        for ((n, at), expected) in places.into_iter().zip(expected) {
            let (mut alone, mut held, mut within) = (0_u32, 0_u32, 0_u32);
            let truth = (size * DEVIATION).exp();
            let seen = rate(series, || {
                let mut values = draw.series(Noise::Normal, n);
                for value in &mut values[at..] {
                    *value += size;
                }
                let found = found(&values);
                if let [step] = found.steps.as_slice() {
                    alone += 1;
                    held += u32::from(step.earliest <= at && at <= step.latest);
                    let (low, high) = step.interval.expect("both sides are above 0");
                    within += u32::from(low <= truth && truth <= high);
                }
                found
                    .steps
                    .iter()
                    .any(|step| step.position.abs_diff(at) <= 2)
            });
            let _ = write!(table, " {:.0} |", 100.0 * seen);
            if !is_at_least(seen, expected, series) {
                wrong.push(format!("{size} at {at} of {n}: {seen}"));
            }
            // Of steps that are barely seen, those are seen that noise makes larger.
            if expected > 0.5 {
                for held in [held, within] {
                    let rate = f64::from(held) / f64::from(alone);
                    if !is_at_least(rate, 0.93, u64::from(alone)) {
                        wrong.push(format!("{size} at {at} of {n}: within {rate}"));
                    }
                }
            }
        }
        table.push('\n');
    }
    keep("steps-seen.md", &table);
    assert!(wrong.is_empty(), "{wrong:?}\n{table}");
}

/// A level that is gone again is two steps, of which the first says so.
#[test]
fn what_is_gone_again_is_said_to_be() {
    let series = long::repetitions("NOISE", 60, 400);
    let mut draw = Draw::new();
    for (length, least) in [(3, 0.36), (5, 0.6), (10, 0.85)] {
        let seen = rate(series, || {
            let mut values = draw.series(Noise::Normal, 60);
            for value in &mut values[25..25 + length] {
                *value += 4.0;
            }
            let steps = found(&values).steps;
            let gone: Vec<Option<usize>> = steps.iter().map(|step| step.gone_at).collect();
            let is_near = |at: usize, truth: usize| at.abs_diff(truth) <= 2;
            matches!(gone.as_slice(), [Some(at), None] if is_near(*at, 25 + length))
                && is_near(steps[0].position, 25)
        });
        assert!(is_at_least(seen, least, series), "{length}: {seen}");
    }
}

/// A step on a slope is one step, not a staircase.
#[test]
fn a_step_on_a_slope_is_one() {
    let series = long::repetitions("NOISE", 60, 400);
    let mut draw = Draw::new();
    for (high, size, least) in [(10, 6.0, 0.9), (30, 10.0, 0.93)] {
        let seen = rate(series, || {
            let mut values = draw.series(Noise::Ramp(high), 60);
            for value in &mut values[35..] {
                *value += size;
            }
            let found = found(&values);
            matches!(found.steps.as_slice(), [step] if step.position.abs_diff(35) <= 2)
        });
        assert!(is_at_least(seen, least, series), "{high}, {size}: {seen}");
    }
}

/// Of many functions in which nothing changes, hardly any has a step after correction for their number.
#[test]
fn many_functions_have_few_false_steps() {
    const FUNCTIONS: usize = 700;
    let families = long::repetitions("NOISE", 2, 10);
    let mut draw = Draw::new();
    let mut table = String::new();
    let mut wrong = Vec::new();
    for (noise, lengths, most) in [
        (Noise::Normal, &[60][..], 0.5),
        (Noise::Heavy, &[60], 0.5),
        (Noise::Outliers, &[60, 200], 1.0),
        (Noise::Lognormal, &[60, 200], 1.0),
        (Noise::TwoModes, &[20, 60], 1.0),
        (Noise::Memory(50), &[60], 6.0),
        (Noise::Noisier, &[60], 2.0),
    ] {
        for n in lengths {
            let flagged: usize = (0..families)
                .map(|_| {
                    let p: Vec<f64> = (0..FUNCTIONS)
                        .map(|_| {
                            let steps = found(&draw.series(noise, *n)).steps;
                            steps.iter().map(|step| step.p).fold(1.0, f64::min)
                        })
                        .collect();
                    let rates = false_discovery_rates(&p);
                    rates.iter().filter(|rate| **rate < 0.05).count()
                })
                .sum();
            let mean = flagged as f64 / families as f64;
            let _ = writeln!(table, "| {noise:?} | {n} | {mean:.1} |");
            // Within two standard errors of a count.
            if mean > most + 2.0 * (most / families as f64).sqrt() {
                wrong.push(format!("{noise:?} n {n}: {mean}"));
            }
        }
    }
    keep("steps-families.md", &table);
    assert!(wrong.is_empty(), "{wrong:?}\n{table}");
}

/// Several steps in noise are steps, not a walk; and a large step of a level that walks is one.
#[test]
fn a_walk_explains_no_large_steps() {
    let series = long::repetitions("NOISE", 60, 400);
    let mut draw = Draw::new();
    for (size, n, least) in [(4.0, 60, 0.6), (6.0, 60, 0.9), (3.0, 200, 0.96)] {
        let places = [n / 6, n / 3, n / 2, 2 * n / 3];
        let seen = rate(series, || {
            let mut values = draw.series(Noise::Normal, n);
            for (at, value) in values.iter_mut().enumerate() {
                let passed = places.iter().filter(|place| at >= **place).count();
                *value += size * [0.0, 1.0, 0.0, 1.0, 2.0][passed];
            }
            let steps = found(&values).steps;
            let is_seen = |place: &usize| {
                let mut positions = steps.iter().map(|step| step.position);
                positions.any(|position| position.abs_diff(*place) <= 2)
            };
            places.iter().filter(|place| is_seen(place)).count() >= 3
        });
        assert!(is_at_least(seen, least, series), "{size}, n {n}: {seen}");
    }
    for n in [60, 200] {
        let seen = rate(series, || {
            let mut values = draw.series(Noise::Walk, n);
            for value in &mut values[n / 2..] {
                *value += 4.0;
            }
            let steps = found(&values).steps;
            steps.iter().any(|step| step.position.abs_diff(n / 2) <= 2)
        });
        assert!(is_at_least(seen, 0.93, series), "n {n}: {seen}");
    }
}

/// A step as large as is said to be the smallest that is seen is seen, three times of four at least.
#[test]
fn what_would_have_been_seen_is() {
    let series = long::repetitions("NOISE", 60, 400);
    let mut draw = Draw::new();
    let mut table = String::new();
    for n in [8, 12, 20, 60, 200] {
        let mut sizes = Vec::new();
        let seen = rate(series, || {
            let mut values = draw.series(Noise::Normal, n);
            let size = found(&values).blind_below.expect("it is long enough").ln() / DEVIATION;
            sizes.push(size);
            for value in &mut values[n / 2..] {
                *value += size;
            }
            let steps = found(&values).steps;
            steps.iter().any(|step| step.position.abs_diff(n / 2) <= 2)
        });
        sizes.sort_by(f64::total_cmp);
        let middle = sizes[sizes.len() / 2];
        let _ = writeln!(table, "| {n} | {middle:.1} | {:.0} |", 100.0 * seen);
        assert!(is_at_least(seen, 0.75, series), "{n}: {seen} of {middle}");
    }
    keep("steps-blind.md", &table);
    // Too short to see any.
    let values = draw.series(Noise::Normal, 7);
    assert_eq!(found(&values), Findings::default());
}

/// Counts of samples: few tell little, many tell as much as times.
#[test]
fn small_counts_are_no_steps() {
    let series = long::repetitions("NOISE", 60, 400);
    let mut draw = Draw::new();
    let mut is_found = |mean: f64, n: usize, times: f64| {
        let points: Vec<Point> = (0..n)
            .map(|at| {
                let mean = if 2 * at < n { mean } else { mean * times };
                let count: f64 = Poisson::new(mean)
                    .expect("it is above 0")
                    .sample(&mut draw.0);
                Point::sampled(&[count * 1e7], &[count])
            })
            .collect();
        let found = find_steps(&points, Kind::Sampled, &Limits::default());
        found
            .steps
            .iter()
            .any(|step| step.position.abs_diff(n / 2) <= 2)
            || times.to_bits() == 1_f64.to_bits() && !found.steps.is_empty()
    };
    for mean in [0.2, 1.0, 3.0, 10.0, 100.0] {
        for n in [12, 60, 200] {
            let rate = rate(series, || is_found(mean, n, 1.0));
            assert!(is_at_most(rate, 0.005, series), "{mean}, n {n}: {rate}");
        }
    }
    for (mean, n, least) in [
        (3.0, 60, 0.75),
        (10.0, 60, 0.95),
        (10.0, 20, 0.6),
        (100.0, 12, 0.95),
    ] {
        let rate = rate(series, || is_found(mean, n, 3.0));
        assert!(is_at_least(rate, least, series), "{mean}, n {n}: {rate}");
    }
}

/// Positions that were measured more often than others: no step where the number of repeats changes, whether repeats differ or
/// days do, and steps are seen.
#[test]
fn repeats_weigh_what_they_are_worth() {
    let series = long::repetitions("NOISE", 60, 400);
    let mut draw = Draw::new();
    let mut is_found = |repeats: fn(usize) -> usize, of_days: f64, step: f64| {
        let points: Vec<Point> = (0..60)
            .map(|at| {
                let day = of_days * draw.normal() + if at < 30 { 0.0 } else { step };
                let within = (0.01_f64 - of_days * of_days).sqrt();
                let figures: Vec<f64> = (0..repeats(at))
                    .map(|_| 1000.0 * (day + within * draw.normal()).exp())
                    .collect();
                Point::new(&figures)
            })
            .collect();
        let found = find_steps(&points, Kind::Timed { quantum: 0.0 }, &Limits::default());
        !found.steps.is_empty()
    };
    let later_eight: fn(usize) -> usize = |at| if at < 30 { 1 } else { 8 };
    let often_eight: fn(usize) -> usize = |at| if at * 7 % 5 < 2 { 8 } else { 1 };
    for repeats in [later_eight, often_eight] {
        for of_days in [0.0, 0.095] {
            let rate_of_none = rate(series, || is_found(repeats, of_days, 0.0));
            assert!(
                is_at_most(rate_of_none, 0.01, series),
                "{of_days}: {rate_of_none}"
            );
            let seen = rate(series, || is_found(repeats, of_days, 0.25));
            assert!(is_at_least(seen, 0.85, series), "{of_days}: {seen}");
        }
    }
}

/// The steps of exact figures, as positions and ratios, and when they are gone.
fn exact(figures: &[f64]) -> Vec<(usize, Option<f64>, Option<usize>)> {
    let points: Vec<Point> = figures.iter().map(|figure| Point::once(*figure)).collect();
    let found = find_steps(&points, Kind::Exact, &Limits::default());
    let steps = found.steps.iter();
    steps
        .map(|step| (step.position, step.ratio, step.gone_at))
        .collect()
}

/// Of what is counted completely, every change that matters is a step, in the shortest series; what does not matter is none; what
/// comes and goes is not counted completely.
#[test]
fn exact_figures_have_no_noise() {
    assert_eq!(exact(&[100.0, 110.0]), [(1, Some(1.1), None)]);
    assert_eq!(exact(&[100.0, 100.0, 105.0, 105.0]), []);
    assert_eq!(
        exact(&[100.0, 150.0, 100.0]),
        [(1, Some(1.5), Some(2)), (2, Some(100.0 / 150.0), None)]
    );
    assert_eq!(exact(&[0.0, 0.0, 7.0]), [(2, None, None)]);
    assert_eq!(exact(&[8.0, 8.0, 0.0]), [(2, None, None)]);
    assert_eq!(
        exact(&[0.0, 7.0, 0.0]),
        [(1, None, Some(2)), (2, None, None)]
    );
    // Down, and further down: the first one has not gone.
    assert_eq!(
        exact(&[100.0, 50.0, 25.0]),
        [(1, Some(0.5), None), (2, Some(0.5), None)]
    );
    // Half-way back is not back.
    assert_eq!(
        exact(&[100.0, 200.0, 160.0]),
        [(1, Some(2.0), None), (2, Some(0.8), None)]
    );
    assert_eq!(exact(&[100.0; 1]), []);
    // Four in ten, without a pattern.
    let comes_and_goes: Vec<f64> = (0..40)
        .map(|at| if at * at % 7 == 2 { 120.0 } else { 100.0 })
        .collect();
    assert_eq!(exact(&comes_and_goes), []);
    // SmallChanges changes that add up.
    let points: Vec<Point> = (0..30)
        .map(|at| Point::once(1000.0 * 1.01_f64.powi(at)))
        .collect();
    let found = find_steps(&points, Kind::Exact, &Limits::default());
    assert_eq!(found.steps, []);
    let drift = found.drift.expect("34 % together");
    assert!((drift.ratio - 1.01_f64.powi(29)).abs() < 1e-9, "{drift:?}");
    assert_eq!(drift.small.map(|small| small.changes), Some(29));
    // How many they are, and where the largest is. A step beside them is none of them.
    let figures = [1000.0, 1000.0, 1030.0, 1020.0, 1060.0, 2000.0, 2000.0];
    let found = find_steps(&figures.map(Point::once), Kind::Exact, &Limits::default());
    assert_eq!(found.steps.len(), 1);
    let drift = found.drift.expect("6 % together");
    assert!((drift.ratio - 1.06).abs() < 1e-12, "{drift:?}");
    let small = drift.small.expect("they are exact");
    assert_eq!((small.changes, small.largest_at), (3, 4));
    assert!((small.largest - 1060.0 / 1020.0).abs() < 1e-12, "{small:?}");
    // What is said to be timed and does not vary is exact as well.
    let mut figures = [500.0; 20];
    figures[11..].fill(600.0);
    let points = figures.map(Point::once);
    let found = find_steps(&points, Kind::Timed { quantum: 0.0 }, &Limits::default());
    assert_eq!(found.steps.len(), 1);
    assert_eq!(
        (
            found.steps[0].earliest,
            found.steps[0].position,
            found.steps[0].latest
        ),
        (11, 11, 11)
    );
    assert!((found.steps[0].ratio.expect("above 0") - 1.2).abs() < 1e-12);
    // Repeats that differ are not exact.
    let points: Vec<Point> = (0..6).map(|_| Point::new(&[100.0, 130.0])).collect();
    assert_eq!(
        find_steps(&points, Kind::Exact, &Limits::default()),
        Findings::default()
    );
}

/// What is no series of costs has no steps.
#[test]
fn nothing_has_no_steps() {
    let limits = Limits::default();
    let timed = Kind::Timed { quantum: 0.0 };
    for kind in [Kind::Exact, timed, Kind::Sampled] {
        for figures in [
            vec![],
            vec![0.0; 20],
            vec![-1.0; 20],
            vec![f64::NAN; 20],
            vec![f64::INFINITY; 20],
        ] {
            let points: Vec<Point> = figures.into_iter().map(Point::once).collect();
            assert_eq!(
                find_steps(&points, kind, &limits),
                Findings::default(),
                "{kind:?}"
            );
        }
    }
}

/// A function that is new, or gone, or both: nothing, then something that varies.
#[test]
fn a_new_function_is_a_step_from_nothing() {
    let series = long::repetitions("NOISE", 60, 400);
    let mut draw = Draw::new();
    for (n, is_there, expected) in [
        (30, 14..30, vec![14]),
        (60, 0..40, vec![40]),
        (60, 20..45, vec![20, 45]),
        (12, 6..12, vec![6]),
    ] {
        for is_sampled in [false, true] {
            let seen = rate(series, || {
                let values = draw.series(Noise::Normal, n);
                let figure = |(at, value): (usize, &f64)| match at {
                    at if is_there.contains(&at) => (1000.0 * (0.1 * value).exp()).round(),
                    _ => 0.0,
                };
                let figures = values.iter().enumerate().map(figure);
                let found = if is_sampled {
                    let points: Vec<Point> = figures
                        .map(|figure| Point::sampled(&[figure], &[figure]))
                        .collect();
                    find_steps(&points, Kind::Sampled, &Limits::default())
                } else {
                    let points: Vec<Point> = figures.map(Point::once).collect();
                    find_steps(&points, Kind::Timed { quantum: 0.0 }, &Limits::default())
                };
                let positions: Vec<usize> = found.steps.iter().map(|step| step.position).collect();
                let is_nothing = found.steps.iter().all(|step| {
                    step.ratio.is_none() && (step.before == 0.0) != (step.after == 0.0)
                });
                positions == expected && is_nothing && found.drift.is_none()
            });
            assert!(
                is_at_least(seen, 0.95, series),
                "{n} {is_there:?} {is_sampled}: {seen}"
            );
        }
    }
    // Seen once: nothing tells that it will be again.
    let mut figures = [0.0; 20];
    figures[19] = 7.0;
    let found = find_steps(
        &figures.map(Point::once),
        Kind::Timed { quantum: 0.0 },
        &Limits::default(),
    );
    assert_eq!(found.steps, []);
}
