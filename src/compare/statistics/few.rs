//! What can be said with hardly any runs: of two counts, and of the runs in which something was seen at all.

use super::dispersion::Variance;
use super::distribution::binomial_two_sided;
use super::{Estimate, Shape};

/// Two counts, `odds` being the size of new to that of base. Their noise is taken to be that of independent samples, which is
/// the least that it can be; where one of them is 0, and the question is whether chance makes it so, samples are taken to come
/// in bursts of `burst`.
#[must_use]
pub fn two_counts(base: f64, new: f64, odds: f64, burst: f64) -> Estimate {
    let ln_ratio = (new / base).ln() - odds.ln();
    if base > 0.0 && new > 0.0 {
        let variance = Variance {
            value: 1.0 / base + 1.0 / new,
            df: f64::INFINITY,
        };
        return Estimate::student(ln_ratio, variance, 1.0);
    }
    let (base, new) = ((base / burst).floor(), (new / burst).floor());
    Estimate {
        ln_ratio,
        dispersion: burst,
        p: binomial_two_sided(new, base + new, odds / (1.0 + odds)),
        shape: Shape::Binomial { base, new, odds },
    }
}

/// Probability that something is seen as unevenly in `base_seen` of `base` runs and in `new_seen` of `new` ones, where one of
/// them is none, if all runs are alike (Fisher's exact test, two-sided).
#[must_use]
pub fn presence(base_seen: usize, base: usize, new_seen: usize, new: usize) -> f64 {
    let seen = base_seen + new_seen;
    let all = base + new;
    let side = if base_seen == 0 { new } else { base };
    // All that is seen lies on one side: `seen` of its runs out of `seen` of all.
    let one_sided: f64 = (0..seen)
        .map(|at| (side as f64 - at as f64).max(0.0) / (all as f64 - at as f64))
        .product();
    (2.0 * one_sided).min(1.0)
}
