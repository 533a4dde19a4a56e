//! What can be said of two counts, of which nothing tells how much they vary.

use super::distribution::binomial_two_sided;
use super::summary::{ROUNDING, ln_ratio};
use super::{Estimate, Shape};

/// Two counts, `odds` being the size of new to that of base, as independent samples: the least noise that they can have. Of both
/// together, new has a binomial part if nothing has changed, which is the exact test.
///
/// Effective sample sizes of weighted samples are fractions: the binomial tail is the incomplete beta function, which is defined
/// for them. A count below one has no significance: its p-value is 1.
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

/// As [`two_counts`], of samples that come in bursts of `burst`: whole ones are counted.
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
pub(super) fn whole(bursts: f64) -> f64 {
    (bursts * (1.0 + ROUNDING)).floor()
}
