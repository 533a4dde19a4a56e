//! The test of sampled metrics, which are counts that vary more than independent samples.
//!
//! Each function has a count in each run of two sides. A count is assumed to have the variance `phi * mean` (quasi-Poisson;
//! Wedderburn 1974, "Quasi-likelihood functions, generalized linear models, and the Gauss-Newton method"), and the ratio of the
//! sides' rates is tested with Student's distribution. Three rules make the test hold for functions of all sizes
//! (docs/design/0018-noise.md has the rates):
//!
//! - `phi` is the number of samples that come together. It grows with the mean if functions vary between runs by a part of their
//!   cost. Therefore `phi / (b + c mean)` is moderated over functions, and a function that varies much more than the others keeps
//!   its own value.
//! - All functions of a run share a factor, the speed of the machine. Its variance has the degrees of freedom of the runs, for any
//!   number of functions. It is added separately, and is not moderated.
//! - Small counts are divided by `phi` and compared by the exact binomial distribution, because samples in bursts are not
//!   independent.

use crate::dispersion::{Moderation, Variance};
use crate::distribution::{binomial_two_sided, chi_square_median};
use crate::factors::{
    SizeFactors, TELL_SHARED, median_of_history, median_of_ratios, squares_of_sides, successive_df,
    successive_variance, variance_of_factor,
};
use crate::few::whole;
use crate::summary::{ln_ratio, mean, median, unrounded};
use crate::{Estimate, Figures, Shape, Sides};

/// How many functions, evenly chosen, tell how the dispersion grows with the mean: more tell nothing new.
const MOST_POINTS: usize = 2000;
/// How many slopes are tried, five for each power of ten.
const STEEPNESSES: i32 = 46;
/// Mean count a run from which a function's dispersion says anything of the others'.
const TELLS: f64 = 5.0;
/// Sum of counts of both sides, in bursts, below which the exact test is used.
const EXACT_BELOW: f64 = 20.0;

/// Tests each function of `sides`, whose figures are counts of samples.
///
/// # Panics
///
/// If each side has one run: the variance of counts must then come from a history ([`test_with_history`]).
pub fn test(sides: &Sides, shared: &SizeFactors) -> Vec<Estimate> {
    let df = sides.df();
    assert!(df > 0.0, "one run on either side has no variance");
    let factors = match shared {
        SizeFactors::Estimated => median_of_ratios(sides),
        SizeFactors::Given(factors) | SizeFactors::Found(factors) => factors.clone(),
    };
    let (sizes0, sizes1) = sizes(&factors, sides.base.runs());
    let spreads: Vec<Spread> = (0..sides.functions())
        .map(|function| {
            let (base, new) = (sides.base.row(function), sides.new.row(function));
            let sum = base.iter().sum::<f64>() + new.iter().sum::<f64>();
            let chi_square = pearson(base, &sizes0) + pearson(new, &sizes1);
            Spread::new(sum / (df + 2.0), chi_square / df)
        })
        .collect();
    let trend = Trend::fit(&spreads, df);
    let run = match shared {
        SizeFactors::Estimated => squares_of_sides(&factors, sides.base.runs()) / df,
        SizeFactors::Given(_) => 0.0,
        SizeFactors::Found(_) => {
            let large = spreads.iter().filter(|spread| spread.mean >= TELLS);
            variance_of_factor(large.map(|spread| spread.phi / spread.mean).collect())
        }
    };
    let run = Variance { value: run, df };
    let dispersions = spreads
        .iter()
        .map(|spread| trend.dispersion(spread, spread.mean));
    estimates(sides, shared, run, dispersions)
}

/// Tests each function of `sides`, which may have one run each, with the dispersion of a history. The history has counts of the
/// same functions, one run for each earlier position or day, oldest first, and no run of `sides`.
///
/// Dispersions are computed from successive differences, so that a change in the history does not count as noise. They are
/// moderated as in [`test()`].
///
/// # Panics
///
/// If the history has fewer than two runs; it should have five or more.
pub fn test_with_history(history: &Figures, sides: &Sides, shared: &SizeFactors) -> Vec<Estimate> {
    assert!(history.runs() > 1, "one run has no variance");
    let factors = match shared {
        SizeFactors::Given(_) | SizeFactors::Found(_) if history.functions() < TELL_SHARED => {
            vec![0.0; history.runs()]
        }
        _ => median_of_history(history),
    };
    let df = successive_df(history.runs());
    let (sizes, _) = sizes(&factors, history.runs());
    let spreads: Vec<Spread> = (0..history.functions())
        .map(|function| {
            let counts = history.row(function);
            let rates = counts.iter().zip(&sizes).map(|(count, size)| count / size);
            let mean = mean(counts);
            Spread::new(mean, successive_variance(rates) / mean)
        })
        .collect();
    let trend = Trend::fit(&spreads, df);
    let run = match shared {
        SizeFactors::Estimated => successive_variance(factors.iter().copied()),
        SizeFactors::Given(_) | SizeFactors::Found(_) => 0.0,
    };
    let run = Variance { value: run, df };
    let runs = (sides.base.runs() + sides.new.runs()) as f64;
    let dispersions = spreads.iter().enumerate().map(|(function, spread)| {
        let (base, new) = (sides.base.row(function), sides.new.row(function));
        let mean = (base.iter().sum::<f64>() + new.iter().sum::<f64>()) / runs;
        trend.dispersion(spread, mean)
    });
    estimates(sides, shared, run, dispersions)
}

/// The ratios of the sides' rates, from each function's dispersion and the variance of what all functions of a run share.
fn estimates(
    sides: &Sides,
    shared: &SizeFactors,
    run: Variance,
    dispersions: impl Iterator<Item = Variance>,
) -> Vec<Estimate> {
    let (n0, n1) = (sides.base.runs() as f64, sides.new.runs() as f64);
    // The sides' rates are compared as they are where the factor is part of the noise, after division by it where it was given.
    let (weight0, weight1) = match shared {
        SizeFactors::Estimated => (n0, n1),
        SizeFactors::Given(factors) | SizeFactors::Found(factors) => {
            let (sizes0, sizes1) = sizes(factors, sides.base.runs());
            (sizes0.iter().sum(), sizes1.iter().sum())
        }
    };
    let run = run.times(1.0 / n0 + 1.0 / n1);
    dispersions
        .enumerate()
        .map(|(function, dispersion)| {
            let total = |counts: &[f64]| counts.iter().sum::<f64>();
            let (count0, count1) = (
                total(sides.base.row(function)),
                total(sides.new.row(function)),
            );
            let ln_ratio = ln_ratio(count0 / weight0, count1 / weight1);
            let (bursts0, bursts1) = (count0 / dispersion.value, count1 / dispersion.value);
            if bursts0 + bursts1 < EXACT_BELOW || count0 == 0.0 || count1 == 0.0 {
                let (base, new) = (whole(bursts0), whole(bursts1));
                return Estimate {
                    ln_ratio,
                    dispersion: dispersion.value,
                    p: binomial_two_sided(new, base + new, weight1 / (weight0 + weight1)),
                    shape: Shape::Binomial {
                        base,
                        new,
                        odds: weight1 / weight0,
                    },
                };
            }
            let own = dispersion.times(1.0 / count0 + 1.0 / count1);
            Estimate::student(ln_ratio, own.plus(run), dispersion.value)
        })
        .collect()
}

/// The size factors themselves, of either side.
fn sizes(factors: &[f64], runs0: usize) -> (Vec<f64>, Vec<f64>) {
    let sizes: Vec<f64> = factors.iter().map(|factor| factor.exp()).collect();
    let (base, new) = sizes.split_at(runs0);
    (base.to_vec(), new.to_vec())
}

/// How much the counts of one function vary.
struct Spread {
    /// Mean count a run.
    mean: f64,
    /// Variance in units of the mean.
    phi: f64,
}

impl Spread {
    fn new(mean: f64, phi: f64) -> Self {
        let phi = if mean > 0.0 {
            unrounded(phi / mean) * mean
        } else {
            0.0
        };
        Spread { mean, phi }
    }
}

/// Pearson's statistic of one side: squared deviations from what the runs' sizes let expect, in units of that.
fn pearson(counts: &[f64], sizes: &[f64]) -> f64 {
    let rate = counts.iter().sum::<f64>() / sizes.iter().sum::<f64>();
    if rate == 0.0 {
        return 0.0;
    }
    counts
        .iter()
        .zip(sizes)
        .map(|(count, size)| (count - rate * size).powi(2) / (rate * size))
        .sum()
}

/// How the dispersion depends on the mean, `burst + slope * mean`, and what functions have in common after that.
struct Trend {
    /// How many samples come together: the dispersion of functions of small cost.
    burst: f64,
    slope: f64,
    moderation: Moderation,
    df: f64,
}

impl Trend {
    fn fit(spreads: &[Spread], df: f64) -> Self {
        let (burst, slope) = line(spreads, df);
        let ratios: Vec<f64> = spreads
            .iter()
            .filter(|spread| spread.mean >= TELLS)
            .map(|spread| spread.phi / (burst + slope * spread.mean))
            .collect();
        // The floor of 1 comes after the fit: floored values all alike would make the prior worth infinitely much.
        Trend {
            burst,
            slope,
            moderation: Moderation::fit(&ratios, df),
            df,
        }
    }

    /// The dispersion, at least 1, of counts of a function whose mean is `mean` now.
    fn dispersion(&self, spread: &Spread, mean: f64) -> Variance {
        let at = |mean: f64| self.burst + self.slope * mean;
        let known = if spread.mean > 0.0 {
            self.moderation.moderate(spread.phi / at(spread.mean))
        } else {
            self.moderation.typical_variance().unwrap_or(Variance {
                value: 1.0,
                df: self.df,
            })
        };
        Variance {
            value: (known.value * at(mean)).max(1.0),
            df: known.df,
        }
    }
}

/// The dispersion at a mean of 0, at least 1, and its slope, at least 0: the line from which the logarithms of the functions'
/// dispersions have the smallest sum of absolute differences, which functions that vary much more than others do not move.
fn line(spreads: &[Spread], df: f64) -> (f64, f64) {
    let telling = |spread: &&Spread| spread.mean >= TELLS && spread.phi > 0.0;
    let count = spreads.iter().filter(telling).count();
    if count == 0 {
        return (1.0, 0.0);
    }
    // The median of a chi-square variable is below its mean; without this the line would be too low for few runs.
    let centre = (chi_square_median(df) / df).ln();
    let points: Vec<(f64, f64)> = spreads
        .iter()
        .filter(telling)
        .step_by(count.div_ceil(MOST_POINTS))
        .map(|spread| (spread.mean, spread.phi.ln() - centre))
        .collect();
    let mut best = (1.0, 0.0);
    let mut least = f64::INFINITY;
    // Of each steepness, slope by burst, the best burst is a median.
    for steepness in steepnesses() {
        let logs = points
            .iter()
            .map(|(mean, log)| log - (steepness * mean).ln_1p());
        let burst = median(logs.clone().collect()).max(0.0);
        let distance: f64 = logs.map(|log| (log - burst).abs()).sum();
        // Of slopes that fit as well but for rounding, the smallest.
        if distance < least * (1.0 - 1e-9) {
            least = distance;
            best = (burst.exp(), burst.exp() * steepness);
        }
    }
    best
}

/// No slope, then those from one at which a function of ten million samples varies twice as chance lets it to one at which each
/// varies by ten times its cost.
fn steepnesses() -> impl Iterator<Item = f64> {
    let steps = (0..STEEPNESSES).map(|step| 1e-7 * 10_f64.powf(f64::from(step) / 5.0));
    std::iter::once(0.0).chain(steps)
}
