//! Steps in figures that vary.
//!
//! What is found is not believed before it has been tested in six ways, of which each takes away false steps that the others
//! leave (docs/design/0020-steps.md has the rates): Potts' penalty, with the long-run variance of the series; a line, which may fit as
//! well; a walk, which may; the variance of the step's own neighbourhood, which may be a noisier part of the series; the test
//! that two sets of runs are compared with; and ranks, by which outliers in a row are no level.

use super::logarithms::Logarithms;
use super::potts::{Sums, cuts};
use super::series::{Drift, Findings, Kind, Limits, Point, Step};
use super::variance::{Variation, clipped};
use super::wander::standing;
use crate::distribution::{normal_upper_quantile, student_two_sided, student_upper_quantile};
use crate::factors::SizeFactors;
use crate::summary::{mean, median};
use crate::{Figures, Sides, counts, times};

/// Positions that a level has at least.
pub(super) const SHORTEST: usize = 3;
/// A cut must lower the sum of squares by as many long-run variances, times the logarithm of the number of positions.
pub(super) const PENALTY: f64 = 4.0;
/// Shorter series have the penalty of one that is as long.
const AS_LONG: usize = 20;
/// Positions on either side of a step that are its neighbourhood.
pub(super) const NEAR: usize = 30;
/// Positions that tell a variance of their own.
pub(super) const TELL: usize = 6;
/// Squares, in units of the variance, by which a position may fit worse than the best and yet be the true one, with a confidence
/// of 95 % (Hansen 2000, "Sample splitting and threshold estimation").
const POSSIBLE: f64 = 7.35;
/// The larger of the variances of two neighbourhoods, in units of the whole series', as it is four times of five.
const NEAR_VARIES: f64 = 2.0;
/// Positions whose want makes a series half as blind again.
const SHORT: f64 = 5.0;
/// Probability with which a step of the size that is named is seen.
const SEEN: f64 = 0.8;
/// How often steps and slope are fitted in turn: they settle after two or three times.
const TURNS: usize = 5;

/// Logarithm of the number of positions, as the penalty has it.
pub(super) fn length(n: usize) -> f64 {
    (n.max(AS_LONG) as f64).ln()
}

/// How many places a step can be at, as tests count them.
pub(super) fn places(n: usize) -> f64 {
    (n as f64 - 2.0 * SHORTEST as f64 + 1.0).max(1.0)
}

/// A series with what is known of its noise.
pub(super) struct Search<'s> {
    points: &'s [Point],
    kind: Kind,
    limits: &'s Limits,
    logarithms: Logarithms,
    weights: Vec<f64>,
    /// The logarithms without outliers.
    clipped: Vec<f64>,
    pub(super) variation: Variation,
}

/// What is known of the noise of a series.
fn variation(points: &[Point], logarithms: &Logarithms) -> Variation {
    // Where there is nothing, nothing varies: positions without any cost tell nothing of the others', but for the first of
    // those in a row.
    let is_nothing = |at: usize| points[at].value == 0.0;
    let told: Vec<usize> = (0..points.len())
        .filter(|at| *at == 0 || !is_nothing(*at) || !is_nothing(at - 1))
        .collect();
    let of_told = |all: &[f64]| -> Vec<f64> { told.iter().map(|at| all[*at]).collect() };
    let (values, variances) = (of_told(&logarithms.values), of_told(&logarithms.variances));
    let of = |cuts: &[usize]| Variation::of(&values, &variances, cuts).at_least(logarithms.floor);
    let variation = of(&[]);
    let forgetful = variation.forgetful();
    if forgetful == variation {
        return variation;
    }
    // Steps as they would be without memory, so that none hides by seeming to be memory.
    let weights = of_told(&logarithms.weights());
    let level = clipped(&values, &variances, variation.single);
    let penalty = PENALTY * forgetful.long_run() * length(values.len());
    let apart = of(&cuts(&level, &weights, penalty, SHORTEST));
    // By less memory only: steps are no reason to see more of it.
    if apart.single < variation.single {
        apart
    } else {
        variation
    }
}

/// Steps and slope that fit a series.
struct Fit {
    cuts: Vec<usize>,
    /// Change of the logarithm from one position to the next.
    slope: f64,
    /// Sum of squares that is left, and a penalty for what was fitted, by Schwarz's criterion.
    cost: f64,
}

impl<'s> Search<'s> {
    /// Of a series with a figure above 0.
    pub(super) fn new(points: &'s [Point], kind: Kind, limits: &'s Limits) -> Self {
        let logarithms = Logarithms::of(points, kind);
        let weights = logarithms.weights();
        let variation = variation(points, &logarithms);
        Self {
            weights,
            clipped: clipped(&logarithms.values, &logarithms.variances, variation.single),
            points,
            kind,
            limits,
            logarithms,
            variation,
        }
    }

    fn n(&self) -> usize {
        self.points.len()
    }

    pub(super) fn find(&self) -> Findings {
        let flat = self.fit(0.0);
        let (mut fit, mut drift) = (flat, None);
        // Without a slope, a ramp is a staircase; and there may be a ramp and no step.
        if !fit.cuts.is_empty() || self.drift(&self.line()).is_some() {
            let sloping = self.sloping();
            if sloping.cost <= fit.cost {
                drift = self.drift(&sloping);
                fit = sloping;
            }
        }
        Findings {
            steps: self.described(&self.confirmed(&fit), fit.slope),
            drift,
            blind_below: Some(self.blind_below()),
        }
    }

    /// The smallest ratio of a step in the middle that would be found four times of five.
    fn blind_below(&self) -> f64 {
        let n = self.n();
        let half = n as f64 / 2.0 * mean(&self.weights);
        let near = half.min(NEAR as f64);
        let long_run = self.variation.long_run();
        let df = n as f64 - 2.0;
        let level = self.limits.alpha / places(n) / self.limits.tests.max(1) as f64;
        let by_test = student_upper_quantile(level / 2.0, df) * (long_run * 2.0 / half).sqrt();
        let by_penalty = (self.penalty() * 2.0 / half).sqrt();
        let by_near = (PENALTY * length(n) * long_run * NEAR_VARIES * 2.0 / near).sqrt();
        let chance = normal_upper_quantile(1.0 - SEEN) * (long_run * 2.0 / half).sqrt();
        // What is known of the noise of a short series is uncertain itself.
        let effect = (by_test.max(by_penalty).max(by_near) + chance) * (1.0 + SHORT / n as f64);
        effect.max(self.limits.least()).exp()
    }

    /// The least that a cut must lower the sum of squares by.
    fn penalty(&self) -> f64 {
        let by_noise = PENALTY * self.variation.long_run() * length(self.n());
        // Levels that differ by less than half of what matters need not be told apart, however little a series varies.
        by_noise.max(self.limits.least().powi(2) / 2.0)
    }

    /// The logarithms without outliers and slope.
    fn level(&self, slope: f64) -> Vec<f64> {
        self.clipped
            .iter()
            .enumerate()
            .map(|(at, value)| value - slope * at as f64)
            .collect()
    }

    /// The line that fits best without steps.
    fn line(&self) -> Fit {
        Fit {
            cuts: Vec::new(),
            slope: self.slope(&[]).0,
            cost: f64::INFINITY,
        }
    }

    /// The steps that fit best with a slope.
    fn fit(&self, slope: f64) -> Fit {
        let level = self.level(slope);
        let cuts = cuts(&level, &self.weights, self.penalty(), SHORTEST);
        let sums = Sums::new(&level, &self.weights);
        let squares: f64 = self
            .segments(&cuts)
            .map(|(begin, end)| sums.squares(begin, end))
            .sum();
        let parameters = 2.0 * cuts.len() as f64 + 1.0;
        let each = self.variation.long_run() * (self.n() as f64).ln();
        Fit {
            cost: squares + parameters * each,
            cuts,
            slope,
        }
    }

    /// The steps and the slope that fit best together, found in turns.
    fn sloping(&self) -> Fit {
        let each = self.variation.long_run() * (self.n() as f64).ln();
        let mut best: Option<Fit> = None;
        let mut cuts = Vec::new();
        for _ in 0..TURNS {
            let slope = self.slope(&cuts).0;
            let mut fit = self.fit(slope);
            fit.cost += each;
            cuts.clone_from(&fit.cuts);
            let is_settled = best.as_ref().is_some_and(|best| best.cuts == fit.cuts);
            if best.as_ref().is_none_or(|best| fit.cost < best.cost) {
                best = Some(fit);
            }
            if is_settled {
                break;
            }
        }
        best.expect("one turn at least")
    }

    /// The slope that all segments between these cuts share, and the sum of squares of positions that it was read from.
    fn slope(&self, cuts: &[usize]) -> (f64, f64) {
        let (mut products, mut squares) = (0.0, 0.0);
        for (begin, end) in self.segments(cuts) {
            let weight: f64 = self.weights[begin..end].iter().sum();
            let mean = |term: &dyn Fn(usize) -> f64| {
                (begin..end)
                    .map(|at| self.weights[at] * term(at))
                    .sum::<f64>()
                    / weight
            };
            let (x, y) = (mean(&|at| at as f64), mean(&|at| self.clipped[at]));
            for at in begin..end {
                let distance = self.weights[at] * (at as f64 - x);
                products += distance * (self.clipped[at] - y);
                squares += distance * (at as f64 - x);
            }
        }
        (products / squares, squares)
    }

    /// Begin and end of each segment.
    fn segments(&self, cuts: &[usize]) -> impl Iterator<Item = (usize, usize)> {
        let begins = std::iter::once(0).chain(cuts.iter().copied());
        let ends = cuts.iter().copied().chain([self.n()]);
        begins.zip(ends).collect::<Vec<_>>().into_iter()
    }

    /// The slope, if it is one.
    fn drift(&self, fit: &Fit) -> Option<Drift> {
        let (_, squares) = self.slope(&fit.cuts);
        let error = (self.variation.long_run() / squares).sqrt();
        let t = fit.slope / error;
        let whole = (self.n() - 1) as f64;
        let is_clear =
            t * t >= PENALTY * length(self.n()) && fit.slope.abs() * whole > self.limits.least();
        let df = (self.n() - 2 - fit.cuts.len()) as f64;
        let reach = student_upper_quantile(self.limits.alpha / 2.0, df) * error;
        let ratio = |slope: f64| (slope * whole).exp();
        let level = self.level(fit.slope);
        let sums = Sums::new(&level, &self.weights);
        let first = fit.cuts.first().copied().unwrap_or(self.n());
        let start = level[0] - sums.mean(0, 1) + sums.mean(0, first);
        is_clear.then(|| Drift {
            before: self.logarithms.figure(start),
            after: self.logarithms.figure(start + fit.slope * whole),
            ratio: ratio(fit.slope),
            interval: (ratio(fit.slope - reach), ratio(fit.slope + reach)),
            p: student_two_sided(t, df),
            small: None,
        })
    }

    /// The steps of a fit that are believed. Those that are not are taken away one by one, the least first, and what was around them is
    /// looked at again.
    fn confirmed(&self, fit: &Fit) -> Vec<Confirmed> {
        let level = self.level(fit.slope);
        let sums = Sums::new(&level, &self.weights);
        let penalty = PENALTY * length(self.n());
        let mut cuts = standing(
            &level,
            &self.logarithms.variances,
            fit.cuts.clone(),
            penalty,
        );
        let mut known: Vec<Option<(f64, Option<Confirmed>)>> = vec![None; cuts.len()];
        loop {
            for (at, known) in known.iter_mut().enumerate() {
                if known.is_none() {
                    let [begin, cut, end] = around(&cuts, at, self.n());
                    let gain = sums.gain(begin, cut, end);
                    *known = Some((gain, self.confirm(&level, &sums, &cuts, at, fit.slope)));
                }
            }
            let failing = known
                .iter()
                .enumerate()
                .filter_map(|(at, known)| match known {
                    Some((gain, None)) => Some((at, *gain)),
                    _ => None,
                })
                .min_by(|one, other| one.1.total_cmp(&other.1));
            let Some((at, _)) = failing else {
                return known
                    .into_iter()
                    .filter_map(|known| known.and_then(|(_, confirmed)| confirmed))
                    .collect();
            };
            cuts.remove(at);
            known.remove(at);
            for around in [at.checked_sub(1), Some(at)].into_iter().flatten() {
                if let Some(known) = known.get_mut(around) {
                    *known = None;
                }
            }
        }
    }

    /// Tests one of the cuts.
    fn confirm(
        &self,
        level: &[f64],
        sums: &Sums,
        cuts: &[usize],
        at: usize,
        slope: f64,
    ) -> Option<Confirmed> {
        let segments = around(cuts, at, self.n());
        let [begin, cut, end] = segments;
        let effect = sums.mean(cut, end) - sums.mean(begin, cut);
        if effect.abs() < self.limits.least() || !self.stands_out(level, segments) {
            return None;
        }
        let df = (end - begin) as f64 - 2.0;
        let residual = (sums.squares(begin, cut) + sums.squares(cut, end)) / df;
        let variance = self.variation.long_run().max(residual);
        let parts = 1.0 / sums.weight(begin, cut) + 1.0 / sums.weight(cut, end);
        let error = (variance * parts).sqrt();
        let tested = self.tested(segments, slope);
        let p = student_two_sided(effect / error, df)
            .max(tested.p)
            .max(self.absent_by_chance(begin, cut))
            .max(self.absent_by_chance(cut, end))
            .max(self.gathered_by_chance(level, cuts, at))
            * places(self.n());
        if p >= self.limits.alpha {
            return None;
        }
        let reach = student_upper_quantile(self.limits.alpha / 2.0, df) * error;
        let possible = sums.gain(begin, cut, end) - POSSIBLE * variance;
        let is_possible = |at: &usize| sums.gain(begin, *at, end) >= possible;
        Some(Confirmed {
            segments,
            effect,
            interval: (
                (effect - reach).min(tested.interval.0),
                (effect + reach).max(tested.interval.1),
            ),
            error,
            possible: (
                (begin + 1..cut).find(is_possible).unwrap_or(cut),
                (cut + 1..end).rev().find(is_possible).unwrap_or(cut),
            ),
            p,
        })
    }

    /// Probability that a function is absent from a segment because it comes and goes; 0 of one that is there.
    fn absent_by_chance(&self, begin: usize, end: usize) -> f64 {
        let absent = |points: &[Point]| points.iter().filter(|point| point.value == 0.0).count();
        let inside = absent(&self.points[begin..end]);
        if inside < end - begin {
            return 0.0;
        }
        let outside = self.n() - inside;
        let often = (absent(self.points) - inside + 1) as f64 / (outside + 2) as f64;
        often.powf(inside as f64)
    }

    /// Probability that values which are nothing unusual in the series have come together in one of the short segments at a cut.
    ///
    /// Tests that know variances alone take three outliers in a row for a level, where noise is skewed or has heavy tails. Here
    /// only ranks count: if that many values elsewhere are as far from their own level, how likely are so many of these in a row?
    /// If none is, ranks say nothing.
    fn gathered_by_chance(&self, level: &[f64], cuts: &[usize], at: usize) -> f64 {
        let [begin, cut, end] = around(cuts, at, self.n());
        let one = self.gathered(level, cuts, (begin, cut), (cut, end));
        one.max(self.gathered(level, cuts, (cut, end), (begin, cut)))
    }

    /// The same for a segment, compared with the one on the other side of the cut.
    fn gathered(
        &self,
        level: &[f64],
        cuts: &[usize],
        (begin, end): (usize, usize),
        other: (usize, usize),
    ) -> f64 {
        let length = end - begin;
        // Longer ones tell how much they vary themselves.
        if length >= TELL {
            return 0.0;
        }
        // As measured, without the slope.
        let value = |at: usize| self.logarithms.values[at] - self.clipped[at] + level[at];
        let middle = |(begin, end): (usize, usize)| median((begin..end).map(value).collect());
        let usual = middle(other);
        let sign = (middle((begin, end)) - usual).signum();
        let nearest = (begin..end)
            .map(|at| (value(at) - usual) * sign)
            .fold(f64::INFINITY, f64::min);
        let elsewhere = self.segments(cuts).filter(|segment| segment.0 != begin);
        let as_far: usize = elsewhere
            .map(|segment| {
                let usual = middle(segment);
                let far = |at: &usize| (value(*at) - usual) * sign >= nearest;
                (segment.0..segment.1).filter(far).count()
            })
            .sum();
        if as_far == 0 {
            return 0.0;
        }
        // That the farthest values of all are those of the segment, but for so many.
        (0..length)
            .map(|taken| (as_far + length - taken) as f64 / (self.n() - taken) as f64)
            .product()
    }

    /// Whether a step stands out in its own neighbourhood, which may vary more than the rest of the series.
    fn stands_out(&self, level: &[f64], [begin, cut, end]: [usize; 3]) -> bool {
        // As measured: outliers may be what a noisier machine has.
        let side = |from: usize, to: usize| {
            let values: Vec<f64> = (from..to)
                .map(|at| self.logarithms.values[at] - self.clipped[at] + level[at])
                .collect();
            let variation = (values.len() >= TELL).then(|| {
                let variances = &self.logarithms.variances[from..to];
                self.variation.nearby(&values, variances)
            });
            let lowest = values.iter().copied().fold(f64::INFINITY, f64::min);
            let highest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            Side {
                weight: self.weights[from..to].iter().sum(),
                long_run: variation.map_or(0.0, Variation::long_run),
                range: highest - lowest,
                tells: variation.is_some(),
                level: median(values),
            }
        };
        let before = side(begin.max(cut.saturating_sub(NEAR)), cut);
        let after = side(cut, end.min(cut + NEAR));
        let effect = (after.level - before.level).abs();
        let weight = before.weight * after.weight / (before.weight + after.weight);
        let needed = PENALTY * length(self.n()) * before.long_run.max(after.long_run);
        // Too few to tell how much they vary must at least be closer to each other than to the other level.
        let is_one_level = |side: &Side| side.tells || side.range <= effect;
        effect * effect * weight >= needed && is_one_level(&before) && is_one_level(&after)
    }

    /// What the test of two sets of runs says of the segments on either side of a step.
    fn tested(&self, [begin, cut, end]: [usize; 3], slope: f64) -> Tested {
        // Outliers are what they were moved to, and the slope is taken out.
        let factor = |at: usize| {
            let moved = self.clipped[at] - self.logarithms.values[at];
            (moved - slope * (at as f64 - cut as f64)).exp()
        };
        let sides = |figure: &dyn Fn(usize) -> f64| Sides {
            base: Figures::new(cut - begin, (begin..cut).map(figure).collect()),
            new: Figures::new(end - cut, (cut..end).map(figure).collect()),
        };
        let estimate = if self.kind == Kind::Sampled {
            let sides = sides(&|at| self.points[at].samples * factor(at));
            let repeats = self.points[begin..end]
                .iter()
                .map(|point| point.repeats as f64);
            let factors = repeats.map(f64::ln).collect();
            counts::test(&sides, &SizeFactors::Given(factors)).pop()
        } else {
            let logarithm = |at: usize| self.logarithms.values[at].exp() * factor(at);
            times::test(
                &sides(&logarithm),
                &SizeFactors::Given(vec![0.0; end - begin]),
            )
            .pop()
        };
        let estimate = estimate.expect("one function");
        let (low, high) = estimate.interval(self.limits.alpha);
        Tested {
            p: estimate.p,
            interval: (low.ln(), high.ln()),
        }
    }

    /// The steps in terms of the metric.
    fn described(&self, steps: &[Confirmed], slope: f64) -> Vec<Step> {
        let level = self.level(slope);
        let cuts: Vec<usize> = steps.iter().map(|step| step.segments[1]).collect();
        let sums = Sums::new(&level, &self.weights);
        let middle = level[0] - sums.mean(0, 1);
        let means: Vec<f64> = self
            .segments(&cuts)
            .map(|(begin, end)| middle + sums.mean(begin, end))
            .collect();
        let begins: Vec<usize> = self.segments(&cuts).map(|(begin, _)| begin).collect();
        steps
            .iter()
            .enumerate()
            .map(|(at, step)| {
                let [begin, cut, end] = step.segments;
                let figure = |part: &[Point], mean: f64| {
                    if part.iter().all(|point| point.value == 0.0) {
                        return 0.0;
                    }
                    // The line's value at the step itself.
                    self.logarithms.figure(mean + slope * cut as f64)
                };
                let before = figure(&self.points[begin..cut], means[at]);
                let after = figure(&self.points[cut..end], means[at + 1]);
                // Back is what is not told from the level before, and closer to it than to that after; or beyond.
                let near = self
                    .limits
                    .least()
                    .max(2.0 * step.error)
                    .min(step.effect.abs() / 2.0);
                let is_back = |mean: &f64| (mean - means[at]) * step.effect.signum() <= near;
                let gone = means[at + 2..].iter().position(is_back);
                let is_ratio = before > 0.0 && after > 0.0;
                let (low, high) = step.interval;
                Step {
                    position: cut,
                    earliest: step.possible.0,
                    latest: step.possible.1,
                    before,
                    after,
                    ratio: is_ratio.then(|| step.effect.exp()),
                    interval: is_ratio.then(|| (low.exp(), high.exp())),
                    p: step.p,
                    gone_at: gone.map(|later| begins[at + 2 + later]),
                }
            })
            .collect()
    }
}

/// Where the segment before a cut begins, that after, and where that ends.
fn around(cuts: &[usize], at: usize, n: usize) -> [usize; 3] {
    let begin = if at == 0 { 0 } else { cuts[at - 1] };
    [begin, cuts[at], cuts.get(at + 1).copied().unwrap_or(n)]
}

/// The neighbourhood of a step on one side.
struct Side {
    level: f64,
    weight: f64,
    /// The long-run variance, 0 where it is not told.
    long_run: f64,
    /// From the lowest to the highest value.
    range: f64,
    /// Whether there are enough positions to tell how much they vary.
    tells: bool,
}

/// What the test of two sets of runs says.
struct Tested {
    p: f64,
    interval: (f64, f64),
}

/// A step that is believed.
#[derive(Clone)]
struct Confirmed {
    /// Where the segment before begins, that after, and where that ends.
    segments: [usize; 3],
    /// Logarithm of the ratio.
    effect: f64,
    interval: (f64, f64),
    /// Standard error of the logarithm.
    error: f64,
    possible: (usize, usize),
    p: f64,
}
