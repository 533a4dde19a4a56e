//! What can be said of two counts, of which nothing tells how much they vary.

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
