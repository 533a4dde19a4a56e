//! Levels that wander: noise that no position takes back.
//!
//! A machine whose speed drifts from day to day is at another level afterwards, and a piecewise constant line describes that well
//! enough to look like steps. The other description is the local level model: a random walk seen through noise (Harvey 1989,
//! "Forecasting, structural time series models and the Kalman filter"). Both are fitted, and where the walk fits as well, a step
//! must stand out of the walk itself.

/// Parameters that a step costs: its place counts for two (Zhang and Siegmund 2007, "A modified Bayes information criterion").
const OF_STEP: f64 = 3.0;

/// The smallest variance of a walk's steps that is tried, in units of that of the noise; each further one is twice as large.
const SLOWEST: f64 = 0.01;
/// How many are tried.
const SPEEDS: i32 = 9;
/// How many memories are tried, from 0 on.
const MEMORIES: i32 = 10;
/// The distance between two of them.
const LONGER: f64 = 0.1;

/// Which of the cuts are steps, though the level may wander. A step that a walk has to make on top of its own must lower minus two
/// times the logarithm of the likelihood by `penalty`.
pub(super) fn standing(
    level: &[f64],
    variances: &[f64],
    cuts: Vec<usize>,
    penalty: f64,
) -> Vec<usize> {
    if cuts.is_empty() {
        return cuts;
    }
    let each = (level.len() as f64).ln();
    let all = |cuts: &[usize]| -> Vec<Walk> {
        let speeds = (0..=SPEEDS).map(|doubled| match doubled {
            0 => 0.0,
            _ => SLOWEST * 2_f64.powi(doubled - 1),
        });
        speeds
            .map(|speed| Walk::new(level, variances, cuts, speed))
            .collect()
    };
    // Most steps are none of a walk, which is told without them.
    let mut fit = best(&all(&[]), Walk::unlikelihood);
    let parameters = OF_STEP * cuts.len() as f64 + 1.0;
    if with_memory(level, variances, &cuts) + parameters * each < fit + each {
        return cuts;
    }
    let mut walks = all(&cuts);
    // From none on: together, many steps are as good as a walk.
    let mut kept = Vec::new();
    let mut left: Vec<usize> = (0..cuts.len()).collect();
    while let Some((at, least)) = left
        .iter()
        .enumerate()
        .map(|(at, step)| (at, best(&walks, |walk| walk.with(*step))))
        .min_by(|one, other| one.1.total_cmp(&other.1))
    {
        if fit - least < penalty {
            break;
        }
        let step = left.remove(at);
        fit = least;
        kept.push(cuts[step]);
        for walk in &mut walks {
            walk.add(step);
        }
    }
    kept.sort_unstable();
    kept
}

/// The smallest of the values that the walks have.
fn best(walks: &[Walk], of: impl Fn(&Walk) -> f64) -> f64 {
    walks.iter().map(of).fold(f64::INFINITY, f64::min)
}

/// Minus two times the logarithm of the likelihood, a constant apart, of levels between cuts with noise that remembers the
/// position before it.
fn with_memory(level: &[f64], variances: &[f64], cuts: &[usize]) -> f64 {
    let n = level.len() as f64;
    let mut residuals = Vec::with_capacity(level.len());
    let begins = std::iter::once(0).chain(cuts.iter().copied());
    let ends = cuts.iter().copied().chain([level.len()]);
    for (begin, end) in begins.zip(ends) {
        let weight: f64 = variances[begin..end]
            .iter()
            .map(|variance| 1.0 / variance)
            .sum();
        let part = || level[begin..end].iter().zip(&variances[begin..end]);
        let mean = part()
            .map(|(value, variance)| value / variance)
            .sum::<f64>()
            / weight;
        residuals.extend(part().map(|(value, variance)| (value - mean) / variance.sqrt()));
    }
    let of_variances: f64 = variances.iter().map(|variance| variance.ln()).sum();
    (0..MEMORIES)
        .map(|tenths| {
            let memory = LONGER * f64::from(tenths);
            let first = residuals[0] * residuals[0] * (1.0 - memory * memory);
            let pairs = residuals.windows(2);
            let later: f64 = pairs.map(|pair| (pair[1] - memory * pair[0]).powi(2)).sum();
            n * ((first + later) / n).ln() - (1.0 - memory * memory).ln()
        })
        .fold(f64::INFINITY, f64::min)
        + of_variances
}

/// The column of the constant.
const CONSTANT: usize = 0;
/// That of the level.
const LEVEL: usize = 1;
/// The first one of the steps.
const STEPS: usize = 2;

/// A random walk of one speed, seen through noise, that may make steps at some places.
///
/// Kept are the sums of products of what Kalman's filter leaves of a constant, of each step, and of the level: with these, steps
/// are regressors of generalised least squares, which are added one by one.
struct Walk {
    n: f64,
    /// Logarithms of the variances with which each position is foretold from those before it.
    logarithms: f64,
    /// Of the constant, the level and the steps, in this order; row by row.
    products: Vec<f64>,
    /// The number of rows.
    size: usize,
}

impl Walk {
    fn new(level: &[f64], variances: &[f64], cuts: &[usize], speed: f64) -> Self {
        let size = STEPS + cuts.len();
        let mut walk = Self {
            n: level.len() as f64,
            logarithms: 0.0,
            products: vec![0.0; size * size],
            size,
        };
        // What the filter expects of each, and how uncertain that is.
        let (mut expected, mut uncertain) = (vec![0.0; size], 0.0);
        let mut surprise = vec![0.0; size];
        // Columns of which something was seen: a step that is still to come is 0, as it is expected to be.
        let mut begun = STEPS;
        for (at, (value, variance)) in level.iter().zip(variances).enumerate() {
            if at > 0 {
                uncertain += speed;
            }
            begun += cuts[begun - STEPS..]
                .iter()
                .take_while(|cut| **cut <= at)
                .count();
            let foretold = uncertain + variance;
            let gain = uncertain / foretold;
            for (column, expected) in expected[..begun].iter_mut().enumerate() {
                let seen = if column == LEVEL { *value } else { 1.0 };
                surprise[column] = seen - *expected;
                *expected += gain * surprise[column];
            }
            let rows = walk.products.chunks_exact_mut(size);
            for (last, (row, one)) in rows.zip(&surprise[..begun]).enumerate() {
                let one = one / foretold;
                for (product, other) in row.iter_mut().zip(&surprise[..=last]) {
                    *product += one * other;
                }
            }
            walk.logarithms += foretold.ln();
            uncertain *= variance / foretold;
        }
        for row in 0..size {
            for column in 0..row {
                walk.products[column * size + row] = walk.products[row * size + column];
            }
        }
        walk.sweep(CONSTANT);
        walk
    }

    /// Takes out of all others what a column explains (Beaton's sweep, without the column itself).
    fn sweep(&mut self, column: usize) {
        let size = self.size;
        let pivot = self.products[column * size + column];
        if pivot <= 0.0 {
            return;
        }
        let row = self.products[column * size..][..size].to_vec();
        for (at, part) in row.iter().enumerate() {
            for (other, value) in row.iter().enumerate() {
                self.products[at * size + other] -= part * value / pivot;
            }
        }
    }

    /// Adds a step.
    fn add(&mut self, step: usize) {
        self.sweep(STEPS + step);
    }

    /// Minus two times the logarithm of the likelihood, a constant apart.
    fn unlikelihood(&self) -> f64 {
        self.of(self.product(LEVEL, LEVEL))
    }

    /// The same with a further step.
    fn with(&self, step: usize) -> f64 {
        let step = STEPS + step;
        let (own, with_level) = (self.product(step, step), self.product(step, LEVEL));
        let explained = if own > 0.0 {
            with_level * with_level / own
        } else {
            0.0
        };
        self.of(self.product(LEVEL, LEVEL) - explained)
    }

    fn product(&self, row: usize, column: usize) -> f64 {
        self.products[row * self.size + column]
    }

    fn of(&self, squares: f64) -> f64 {
        self.n * (squares.max(f64::MIN_POSITIVE) / self.n).ln() + self.logarithms
    }
}
