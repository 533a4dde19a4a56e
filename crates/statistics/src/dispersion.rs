//! Moderated variances of many functions with few repeats each.
//!
//! The method is the empirical Bayes method of G. K. Smyth, "Linear models and empirical Bayes methods for assessing differential
//! expression" (2004), as `squeezeVar` of the R package limma computes it. The distribution of the logarithms of the variances gives the
//! degrees of freedom of a common variance. The variance of each function is then averaged with it, weighted by degrees of freedom.

use crate::distribution::{digamma, fisher_upper_quantile, inverse_trigamma, trigamma};
use crate::summary::median;

/// The distribution from which the variances of all functions come: a scaled inverse chi-square distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prior {
    /// Degrees of freedom of the common variance: 0 if the functions have nothing in common, infinite if their variances are equal.
    pub df: f64,
    /// The common variance.
    pub scale: f64,
}

/// An estimate of a variance with its degrees of freedom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Variance {
    /// The variance; infinite if it is not known.
    pub value: f64,
    /// Degrees of freedom, above 0; infinite if the variance is known exactly.
    pub df: f64,
}

impl Variance {
    /// Returns the variance multiplied by `factor`.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        Variance {
            value: self.value * factor,
            df: self.df,
        }
    }

    /// Returns the variance of the sum of two independent terms, with the degrees of freedom of Satterthwaite (1946), "An approximate
    /// distribution of estimates of variance components".
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let value = self.value + other.value;
        // Shares, not squares of the variances: those of tiny ones would be 0.
        let share = if value == 0.0 || value.is_infinite() {
            1.0
        } else {
            self.value / value
        };
        Variance {
            value,
            df: 1.0 / (share * share / self.df + (1.0 - share) * (1.0 - share) / other.df),
        }
    }
}

/// Fewest variances that tell anything of their distribution.
const FEWEST: usize = 3;

impl Prior {
    /// The distribution of variances that have nothing in common: moderation does not change them.
    pub const NONE: Self = Prior {
        df: 0.0,
        scale: 1.0,
    };

    /// Fits the prior to variances that were each estimated with `df` degrees of freedom.
    pub fn fit(variances: &[f64], df: f64) -> Self {
        if variances.len() < FEWEST {
            return Self::NONE;
        }
        let middle = median(variances.to_vec());
        if middle <= 0.0 {
            return Self::NONE;
        }
        // A variance of exactly 0 has no logarithm; limma lifts it to this part of the median.
        let lifted: Vec<f64> = variances
            .iter()
            .map(|&variance| variance.max(1e-5 * middle))
            .collect();
        let count = lifted.len() as f64;
        let offset = (df / 2.0).ln() - digamma(df / 2.0);
        let logarithms: Vec<f64> = lifted
            .iter()
            .map(|variance| variance.ln() + offset)
            .collect();
        let mean = logarithms.iter().sum::<f64>() / count;
        let spread = logarithms
            .iter()
            .map(|value| (value - mean).powi(2))
            .sum::<f64>()
            / (count - 1.0);
        let excess = spread - trigamma(df / 2.0);
        if excess > 0.0 {
            let df = 2.0 * inverse_trigamma(excess);
            return Prior {
                df,
                scale: (mean + digamma(df / 2.0) - (df / 2.0).ln()).exp(),
            };
        }
        Prior {
            df: f64::INFINITY,
            scale: lifted.iter().sum::<f64>() / count,
        }
    }

    /// Returns the average of a function's variance, estimated with `df` degrees of freedom, and the common variance.
    pub fn moderate(&self, variance: f64, df: f64) -> Variance {
        if self.df.is_infinite() {
            return Variance {
                value: self.scale,
                df: f64::INFINITY,
            };
        }
        Variance {
            value: (self.df * self.scale + df * variance) / (self.df + df),
            df: self.df + df,
        }
    }
}

/// The moderation of variances that have equal degrees of freedom. A function that varies much more than the others keeps its own
/// variance: with the common variance its noise would look like a change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Moderation {
    prior: Prior,
    df: f64,
    /// Variance above which a function keeps its own.
    outlier: f64,
    /// Maximum degrees of freedom: those of all functions together.
    most: f64,
}

/// Probability that a function with the common variance counts as one that varies more.
const OUTLIER: f64 = 0.05;

impl Moderation {
    /// Fits the prior to `variances`, each estimated with `df` degrees of freedom.
    pub(crate) fn fit(variances: &[f64], df: f64) -> Self {
        let prior = Prior::fit(variances, df);
        Moderation {
            prior,
            df,
            outlier: if prior.df == 0.0 {
                0.0
            } else {
                prior.scale * fisher_upper_quantile(OUTLIER, df, prior.df)
            },
            most: df * variances.len().max(1) as f64,
        }
    }

    /// Returns the moderated variance of a function whose own estimate is `variance`.
    pub(crate) fn moderate(&self, variance: f64) -> Variance {
        if variance > self.outlier {
            return Variance {
                value: variance,
                df: self.df,
            };
        }
        let moderated = self.prior.moderate(variance, self.df);
        Variance {
            df: moderated.df.min(self.most),
            ..moderated
        }
    }

    /// Returns the variance of a function without an estimate of its own; `None` if functions have nothing in common.
    pub(crate) fn typical_variance(&self) -> Option<Variance> {
        (self.prior.df > 0.0).then(|| Variance {
            value: self.prior.scale,
            df: self.prior.df.min(self.most),
        })
    }
}
