//! The comparison of two counts whose variance is not known.

use crate::distribution::binomial_two_sided;
use crate::summary::{ROUNDING, ln_ratio};
use crate::{Estimate, Shape};

/// Compares two counts of independent samples, which have the least possible noise. `odds` is the size of new divided by the size
/// of base. If nothing has changed, the count of new has a binomial distribution, which gives the exact test.
///
/// Effective sample sizes of weighted samples are fractions. The binomial tail is an incomplete beta function, which is defined
/// for fractions. If a count is below one, the p-value is 1.
#[must_use]
pub fn two_counts(base: f64, new: f64, odds: f64) -> Estimate {
    let found = of_bursts(base, new, odds, [base, new], 1.0);
    if base.min(new) >= 1.0 - ROUNDING {
        return found;
    }
    Estimate {
        p: 1.0,
        shape: Shape::Order {
            low: f64::NEG_INFINITY,
            high: f64::INFINITY,
        },
        ..found
    }
}

/// Compares two counts like [`two_counts`], for samples that come in bursts of `burst` samples: only whole bursts are counted.
#[must_use]
pub fn two_counts_of_bursts(base: f64, new: f64, odds: f64, burst: f64) -> Estimate {
    of_bursts(
        base,
        new,
        odds,
        [base, new].map(|count| whole(count / burst)),
        burst,
    )
}

fn of_bursts(base: f64, new: f64, odds: f64, bursts: [f64; 2], burst: f64) -> Estimate {
    let [of_base, of_new] = bursts;
    let ln_ratio = ln_ratio(base, new) - odds.ln();
    Estimate {
        ln_ratio: if ln_ratio.abs() <= ROUNDING {
            0.0
        } else {
            ln_ratio
        },
        dispersion: burst,
        p: binomial_two_sided(of_new, of_base + of_new, odds / (1.0 + odds)),
        shape: Shape::Binomial {
            base: of_base,
            new: of_new,
            odds,
        },
    }
}

/// Whole bursts: three that rounding has made a little less are three.
pub(crate) fn whole(bursts: f64) -> f64 {
    (bursts * (1.0 + ROUNDING)).floor()
}
