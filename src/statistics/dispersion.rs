//! Variances of many functions, measured with few repeats, moderated towards what all of them have in common.
//!
//! The method is empirical Bayes of G. K. Smyth, "Linear models and empirical Bayes methods for assessing differential
//! expression" (2004), as `squeezeVar` of R's limma computes it: the logarithms of the variances tell how many degrees of
//! freedom the common variance is worth, and each function's own one is averaged with it by degrees of freedom.

use super::distribution::{digamma, fisher_upper_quantile, inverse_trigamma, trigamma};
use super::summary::median;

/// What the variances of all functions have in common: a scaled inverse chi-square distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prior {
    /// Degrees of freedom that the common variance is worth: 0 where nothing is in common, infinite where nothing differs.
    pub df: f64,
    /// The common variance.
    pub scale: f64,
}

/// An estimate of a variance, and the degrees of freedom that it was made with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Variance {
    /// The variance; infinite where it is unknown.
    pub value: f64,
    /// Degrees of freedom, above 0, infinite where the variance is known.
    pub df: f64,
}

impl Variance {
    /// The variance of what is `factor` times as variable.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        Variance {
            value: self.value * factor,
            df: self.df,
        }
    }

    /// The variance of a sum of two independent terms, with the degrees of freedom of Satterthwaite (1946), "An approximate
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
    /// Nothing in common: every variance stays as it is.
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

    /// A function's own variance, estimated with `df` degrees of freedom, averaged with the common one.
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

/// Moderation of variances that were all estimated with as many degrees of freedom, in which a function that varies much more
/// than the others keeps its own variance: the common one would make its noise look like change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moderation {
    prior: Prior,
    df: f64,
    /// A variance above this is kept.
    outlier: f64,
    /// No more degrees of freedom can be borrowed than all functions together have.
    most: f64,
}

/// Probability with which a function that varies as the others do is taken for one that varies more.
const OUTLIER: f64 = 0.05;

impl Moderation {
    /// Fits the prior to `variances`, each estimated with `df` degrees of freedom.
    pub fn fit(variances: &[f64], df: f64) -> Self {
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

    /// What is known of the variance of a function whose own estimate is `variance`.
    pub fn of(&self, variance: f64) -> Variance {
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

    /// What is known of the variance of a function without an estimate of its own: `None` where functions have nothing in
    /// common.
    pub fn of_unseen(&self) -> Option<Variance> {
        (self.prior.df > 0.0).then(|| Variance {
            value: self.prior.scale,
            df: self.prior.df.min(self.most),
        })
    }
}
