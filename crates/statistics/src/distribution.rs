//! Probabilities and quantiles of the distributions that comparisons use.
//!
//! The error function and the logarithm of the gamma function come from the package `libm`. This module has the others itself: existing
//! packages lose seven digits of the incomplete beta function if a parameter is a million (the degrees of freedom of thousands of functions
//! together), or have ten dependencies. `tests/figures/statistics.rs` compares it with scipy and R over the whole range.

/// Degrees of freedom from which Fisher's distribution is taken for that of chi-square: probabilities differ by less than one
/// part in 10^9 there.
const CHI_SQUARE: f64 = 1e10;
/// Degrees of freedom from which Student's distribution is that of a transformed normal variable, to twelve digits.
const HILL: f64 = 1000.0;
/// From here on the series of [`digamma`] and [`trigamma`] have all digits.
const LARGE: f64 = 20.0;
/// Degrees of freedom from which nothing is left to transform.
const NORMAL: f64 = 1e15;

/// `ln(gamma(x))` less Stirling's approximation of it (Loader 2000, "Fast and accurate computation of binomial probabilities").
fn stirling_error(x: f64) -> f64 {
    if x < 16.0 {
        return libm::lgamma(x)
            - ((x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln());
    }
    let y = 1.0 / (x * x);
    (1.0 / 12.0
        - (1.0 / 360.0
            - (1.0 / 1260.0 - (1.0 / 1680.0 - (1.0 / 1188.0 - 691.0 / 360_360.0 * y) * y) * y) * y)
            * y)
        / x
}

/// `x ln(x / mean) - difference` for `difference = x - mean`, without the loss of digits where the two are close (Loader 2000).
fn deviance(x: f64, mean: f64, difference: f64) -> f64 {
    if difference.abs() >= 0.1 * (x + mean) {
        return x * (x / mean).ln() - difference;
    }
    let v = difference / (x + mean);
    let mut sum = difference * v;
    let mut term = 2.0 * x * v;
    for odd in (3..1000).step_by(2) {
        term *= v * v;
        let next = sum + term / f64::from(odd);
        if next == sum {
            break;
        }
        sum = next;
    }
    sum
}

/// `x^a y^b / B(a, b)` for `y = 1 - x` and `difference = a - (a + b) x`.
fn beta_density(a: f64, b: f64, x: f64, y: f64, difference: f64) -> f64 {
    let n = a + b;
    let exponent = stirling_error(n)
        - stirling_error(a)
        - stirling_error(b)
        - deviance(a, n * x, difference)
        - deviance(b, n * y, -difference);
    (a * (b / n) / (2.0 * std::f64::consts::PI)).sqrt() * exponent.exp()
}

/// Regularized incomplete beta function `I_x(a, b)`, for `a, b > 0` and `y = 1 - x`, which the caller knows more exactly than
/// `x` tells it where `x` is near 1.
fn incomplete_beta(a: f64, b: f64, x: f64, y: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if y <= 0.0 {
        return 1.0;
    }
    let lambda = below_mean(a, b, x, y);
    if lambda < 0.0 {
        return 1.0 - lower_tail(b, a, y, x, -lambda);
    }
    lower_tail(a, b, x, y, lambda)
}

/// `a - (a + b) x`, by the smaller of `x` and `y`, which is the one that is known to its last digit.
fn below_mean(a: f64, b: f64, x: f64, y: f64) -> f64 {
    if x < y {
        a - (a + b) * x
    } else {
        (a + b) * y - b
    }
}

/// The function for `x` below the mean, `lambda >= 0`, by the continued fraction of `DiDonato` and Morris (1992), "Algorithm 708:
/// significant digit computation of the incomplete beta function ratios", formula 9. Its terms have `lambda` and `y`, not their
/// differences from 1: the usual fraction has no digits left where `a` is a hundred million. It converges in some
/// `sqrt(max(a, b))` steps.
fn lower_tail(a: f64, b: f64, x: f64, y: f64, lambda: f64) -> f64 {
    let density = beta_density(a, b, x, y, lambda);
    if density == 0.0 {
        return 0.0;
    }
    let (first, c) = (1.0 + 1.0 / a, 1.0 + lambda);
    let (mut p, mut s) = (1.0, a + 1.0);
    // Numerators and denominators of two convergents that follow each other, divided by the second denominator.
    let mut fraction = first / c;
    let (mut numerators, mut denominators) = ((0.0, fraction), (fraction, 1.0));
    for step in 1..1_000_000 {
        let n = f64::from(step);
        let t = n / a;
        let w = n * (b - n) * x;
        let e = a / s;
        let alpha = p * (p + b / a) * e * e * w * x;
        let beta = n + w / s + (1.0 + t) / (first + 2.0 * t) * (c + n * (y + 1.0));
        p = 1.0 + t;
        s += 2.0;
        let numerator = alpha * numerators.0 + beta * numerators.1;
        let denominator = alpha * denominators.0 + beta * denominators.1;
        let before = fraction;
        fraction = numerator / denominator;
        if (fraction - before).abs() <= 1e-16 * fraction {
            break;
        }
        numerators = (numerators.1 / denominator, fraction);
        denominators = (denominators.1 / denominator, 1.0);
    }
    (density * fraction).min(1.0)
}

/// Regularized lower incomplete gamma function `P(a, x)`, for `a, x > 0`, by its series, of which all terms are positive.
fn incomplete_gamma(a: f64, x: f64) -> f64 {
    let (mut term, mut sum) = (1.0, 1.0);
    for step in 1..1_000_000 {
        term *= x / (a + f64::from(step));
        sum += term;
        if term <= 1e-17 * sum {
            break;
        }
    }
    // The first term is x^a e^-x / gamma(a + 1), by the same parts as the density of the beta distribution.
    let first = (-stirling_error(a) - deviance(a, x, a - x)).exp()
        / (2.0 * std::f64::consts::PI * a).sqrt();
    (first * sum).min(1.0)
}

/// Returns the probability that a standard normal variable is above `z`.
pub fn normal_above(z: f64) -> f64 {
    0.5 * libm::erfc(z / std::f64::consts::SQRT_2)
}

/// Returns the value that a standard normal variable exceeds with probability `p`, `0 < p < 1`.
pub fn normal_upper_quantile(p: f64) -> f64 {
    upper_quantile(p, normal_above)
}

/// Returns the probability that `|T| >= |t|` for Student's `T` with `df > 0` degrees of freedom, which may be infinite.
///
/// Many degrees of freedom use the expansion of Hill (1970), "Algorithm 395: Student's t-distribution", because the number of
/// steps of the continued fraction grows with them.
pub fn student_two_sided(t: f64, df: f64) -> f64 {
    let square = t * t;
    if square.is_infinite() {
        return 0.0;
    }
    if df >= NORMAL {
        return 2.0 * normal_above(t.abs());
    }
    if df >= HILL && square < df / 4.0 {
        let a = df - 0.5;
        let b = 48.0 * a * a;
        let y = a * (square / df).ln_1p();
        let second = (((-0.4 * y - 3.3) * y - 24.0) * y - 85.5) / (0.8 * y * y + 100.0 + b);
        return 2.0 * normal_above(y.sqrt() * ((second + y + 3.0) / b + 1.0));
    }
    incomplete_beta(df / 2.0, 0.5, df / (df + square), square / (df + square))
}

/// Returns the value that Student's `T` with `df` degrees of freedom exceeds with probability `p`, `0 < p < 1`.
pub fn student_upper_quantile(p: f64, df: f64) -> f64 {
    if p > 0.25 {
        return upper_quantile(p, |t| {
            let both = student_two_sided(t, df) / 2.0;
            if t < 0.0 { 1.0 - both } else { both }
        });
    }
    // The quantile of the normal distribution, roughly (Hastings 1955, sheet 67), is below the one looked for.
    let w = (-2.0 * p.ln()).sqrt();
    let mut t = w - (2.307_53 + 0.270_61 * w) / (1.0 + (0.992_29 + 0.044_81 * w) * w);
    // Newton's method for the logarithms of both, between which tails are nearly straight lines: five steps, where bisection
    // takes fifty.
    for _ in 0..100 {
        let above = student_two_sided(t, df) / 2.0;
        let step = (above / p).ln() * above / student_density(t, df);
        t *= step.exp();
        if step.abs() < 1e-15 {
            break;
        }
    }
    t
}

/// `t` times the density of Student's `T` at `t`.
fn student_density(t: f64, df: f64) -> f64 {
    let square = t * t;
    if df >= NORMAL {
        return t * (-square / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    }
    let (x, y) = (df / (df + square), square / (df + square));
    beta_density(df / 2.0, 0.5, x, y, below_mean(df / 2.0, 0.5, x, y))
}

/// Returns the value that Fisher's `F` with `df1` and `df2` degrees of freedom exceeds with probability `p`; `df2` may be
/// infinite.
pub fn fisher_upper_quantile(p: f64, df1: f64, df2: f64) -> f64 {
    let above = |f: f64| {
        if df2 >= CHI_SQUARE {
            return 1.0 - incomplete_gamma(df1 / 2.0, df1 * f / 2.0);
        }
        let n = df2 + df1 * f;
        incomplete_beta(df2 / 2.0, df1 / 2.0, df2 / n, df1 * f / n)
    };
    positive_quantile(p, above)
}

/// Returns the median of the chi-square distribution with `df` degrees of freedom.
pub fn chi_square_median(df: f64) -> f64 {
    positive_quantile(0.5, |x| 1.0 - incomplete_gamma(df / 2.0, x / 2.0))
}

/// Probability of `k` or fewer successes in `n` trials that each succeed with probability `q`.
pub(crate) fn binomial_at_most(k: f64, n: f64, q: f64) -> f64 {
    if k < 0.0 {
        return 0.0;
    }
    if k >= n {
        return 1.0;
    }
    incomplete_beta(n - k, k + 1.0, 1.0 - q, q)
}

/// Probability of `k` or more successes in `n` trials that each succeed with probability `q`.
pub(crate) fn binomial_at_least(k: f64, n: f64, q: f64) -> f64 {
    if k <= 0.0 {
        return 1.0;
    }
    if k > n {
        return 0.0;
    }
    incomplete_beta(k, n - k + 1.0, q, 1.0 - q)
}

/// Returns the two-sided probability of `k` successes in `n` trials of probability `q`: twice the smaller tail (Clopper and
/// Pearson 1934).
pub fn binomial_two_sided(k: f64, n: f64, q: f64) -> f64 {
    (2.0 * binomial_at_most(k, n, q).min(binomial_at_least(k, n, q))).min(1.0)
}

/// Returns the interval of the odds, success to failure, for which each tail of `k` successes in `n` trials has at least the
/// probability `alpha / 2` (Clopper and Pearson 1934). It may begin at 0 or end at infinity.
pub fn binomial_odds_interval(k: f64, n: f64, alpha: f64) -> (f64, f64) {
    let low = if k <= 0.0 {
        0.0
    } else {
        beta_quantile(k, n - k + 1.0, alpha / 2.0)
    };
    let high = if k >= n {
        f64::INFINITY
    } else {
        1.0 / beta_quantile(n - k, k + 1.0, alpha / 2.0)
    };
    (low, high)
}

/// `x / (1 - x)` for the `x` at which the incomplete beta function `I_x(a, b)` is `p`, `0 < p < 1`.
///
/// Newton's method for the logarithm of the function over that of the odds. It rises and is concave there, so that no step but the
/// first one goes too far: some five steps, where bisection takes fifty.
fn beta_quantile(a: f64, b: f64, p: f64) -> f64 {
    let of_odds = |log: f64| {
        let odds = log.exp();
        (odds / (1.0 + odds), 1.0 / (1.0 + odds))
    };
    let deviation = (trigamma(a) + trigamma(b)).sqrt();
    let mut log = digamma(a) - digamma(b) - normal_upper_quantile(p) * deviation;
    for _ in 0..100 {
        let (x, y) = of_odds(log);
        let below = incomplete_beta(a, b, x, y);
        let density = beta_density(a, b, x, y, below_mean(a, b, x, y));
        let step = (below / p).ln() * below / density;
        if !step.is_finite() {
            // Nothing is left of the function where the first guess is.
            let x = root(0.0, 1.0, |x| incomplete_beta(a, b, x, 1.0 - x) - p);
            return x / (1.0 - x);
        }
        log -= step;
        if step.abs() < 1e-14 {
            break;
        }
    }
    log.exp()
}

/// Value at which a falling tail on the whole line is `p`.
fn upper_quantile(p: f64, above: impl Fn(f64) -> f64) -> f64 {
    if p > 0.5 {
        return -upper_quantile(1.0 - p, above);
    }
    positive_quantile(p, above)
}

/// Value at or above 0 at which a falling tail is `p`.
fn positive_quantile(p: f64, above: impl Fn(f64) -> f64) -> f64 {
    let mut high = 1.0;
    while above(high) > p && high < 1e300 {
        high *= 2.0;
    }
    let low = if high > 1.0 { high / 2.0 } else { 0.0 };
    root(low, high, |x| p - above(x))
}

/// Where a function that rises from `low` to `high` is 0, by bisection to the last digit: some fifty steps, and no case in
/// which it fails.
fn root(mut low: f64, mut high: f64, rising: impl Fn(f64) -> f64) -> f64 {
    loop {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            return middle;
        }
        if rising(middle) < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/// Returns the derivative of `ln(gamma(x))` for `x > 0`. Computes its asymptotic series for a larger argument, and the recurrence
/// down to `x` (Abramowitz and Stegun 1964, formulae 6.3.5 and 6.3.18).
pub fn digamma(x: f64) -> f64 {
    let (mut x, mut less) = (x, 0.0);
    while x < LARGE {
        less += 1.0 / x;
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    let series = (1.0 / 12.0
        - (1.0 / 120.0 - (1.0 / 252.0 - (1.0 / 240.0 - (1.0 / 132.0) * y) * y) * y) * y)
        * y;
    x.ln() - 0.5 / x - series - less
}

/// Returns the second derivative of `ln(gamma(x))` for `x > 0` (Abramowitz and Stegun 1964, formulae 6.4.6 and 6.4.12).
pub fn trigamma(x: f64) -> f64 {
    let (mut x, mut more) = (x, 0.0);
    while x < LARGE {
        more += 1.0 / (x * x);
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    let series =
        (1.0 / 6.0 - (1.0 / 30.0 - (1.0 / 42.0 - (1.0 / 30.0 - (5.0 / 66.0) * y) * y) * y) * y) * y;
    (1.0 + 0.5 / x + series) / x + more
}

/// Returns the argument for which [`trigamma`], which is decreasing, has the given value above 0.
pub fn inverse_trigamma(value: f64) -> f64 {
    let mut high = 1.0;
    while trigamma(high) > value && high < 1e300 {
        high *= 2.0;
    }
    let mut low = high;
    while trigamma(low) < value && low > 1e-300 {
        low /= 2.0;
    }
    root(low, high, |x| value - trigamma(x))
}
