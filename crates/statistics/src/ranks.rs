//! The rank test of Mann and Whitney (1947), which assumes no distribution. It needs more runs than the other tests to detect a change, and
//! is the test that benchmark tools use.

use crate::distribution::{normal_above, normal_upper_quantile};
use crate::summary::median;

/// Largest product of the sides' repeats for which the exact distribution is used.
const EXACT: usize = 400;

/// Returns the probability of ranks at least as uneven as those of `base` and `new` if nothing has changed. Exact for up to 400
/// pairs, otherwise by the normal distribution with corrections for ties and continuity.
pub fn mann_whitney(base: &[f64], new: &[f64]) -> f64 {
    let (n0, n1) = (base.len(), new.len());
    let mut all: Vec<(f64, bool)> = base
        .iter()
        .map(|&value| (value, false))
        .chain(new.iter().map(|&value| (value, true)))
        .collect();
    all.sort_by(|left, right| left.0.total_cmp(&right.0));
    let (mut ranks_of_new, mut ties, mut start) = (0.0, 0.0, 0);
    // Twice the rank of each value: those of ties are halves.
    let mut ranks = Vec::with_capacity(all.len());
    for group in all.chunk_by(|left, right| left.0 == right.0) {
        let count = group.len() as f64;
        let rank = start as f64 + f64::midpoint(count, 1.0);
        ranks_of_new += rank * group.iter().filter(|(_, new)| *new).count() as f64;
        ties += count.powi(3) - count;
        ranks.extend(group.iter().map(|_| 2 * start + group.len() + 1));
        start += group.len();
    }
    let u = ranks_of_new - (n1 * (n1 + 1)) as f64 / 2.0;
    let pairs = (n0 * n1) as f64;
    let farther = u.max(pairs - u);
    if n0 * n1 <= EXACT && ties > 0.0 {
        return tied(&ranks, n1, (2.0 * ranks_of_new) as usize);
    }
    if n0 * n1 <= EXACT {
        let counts = arrangements(n0, n1);
        let total: f64 = counts.iter().sum();
        return (2.0 * counts[farther as usize..].iter().sum::<f64>() / total).min(1.0);
    }
    let n = (n0 + n1) as f64;
    let variance = pairs / 12.0 * (n + 1.0 - ties / (n * (n - 1.0)));
    if variance <= 0.0 {
        return 1.0;
    }
    (2.0 * normal_above((farther - pairs / 2.0 - 0.5) / variance.sqrt())).min(1.0)
}

/// Returns the smallest probability that the ranks of the given numbers of figures can have: all figures of one side are above
/// those of the other.
pub fn least_probability(base: usize, new: usize) -> f64 {
    let arrangements: f64 = (1..=new).map(|at| (base + at) as f64 / at as f64).product();
    (2.0 / arrangements).min(1.0)
}

/// The part of all choices of `chosen` of the ranks, which are given twice as large, whose sum is as far from the mean as `sum`,
/// in either direction.
fn tied(ranks: &[usize], chosen: usize, sum: usize) -> f64 {
    let most: usize = ranks[ranks.len() - chosen..].iter().sum();
    // In how many choices of so many ranks the sum is 0, 1, ...
    let mut counts = vec![vec![0.0; most + 1]; chosen + 1];
    counts[0][0] = 1.0;
    for (at, &rank) in ranks.iter().enumerate() {
        for taken in (0..chosen.min(at + 1)).rev() {
            let (fewer, more) = counts.split_at_mut(taken + 1);
            let more = &mut more[0][rank.min(most + 1)..];
            for (more, fewer) in more.iter_mut().zip(&fewer[taken]) {
                *more += fewer;
            }
        }
    }
    let mean = chosen * (ranks.len() + 1);
    let (mut far, mut all) = (0.0, 0.0);
    for (other, &count) in counts[chosen].iter().enumerate() {
        all += count;
        if other.abs_diff(mean) >= sum.abs_diff(mean) {
            far += count;
        }
    }
    far / all
}

/// Returns the estimate of Hodges and Lehmann (1963) of the shift from `base` to `new`, and the interval of order statistics that
/// misses it with a probability of at most `alpha`. The interval is `None` if there are too few repeats.
pub fn shift(base: &[f64], new: &[f64], alpha: f64) -> (f64, Option<(f64, f64)>) {
    let mut differences: Vec<f64> = new
        .iter()
        .flat_map(|new| base.iter().map(move |base| new - base))
        .collect();
    differences.sort_by(f64::total_cmp);
    let estimate = median(differences.clone());
    let pairs = differences.len();
    let reach = if pairs <= EXACT {
        let counts = arrangements(base.len(), new.len());
        let total: f64 = counts.iter().sum();
        let mut below = 0.0;
        counts
            .iter()
            .take_while(|&&count| {
                below += count;
                below / total <= alpha / 2.0
            })
            .count()
    } else {
        let (n0, n1) = (base.len() as f64, new.len() as f64);
        let deviation = (n0 * n1 * (n0 + n1 + 1.0) / 12.0).sqrt();
        let z = normal_upper_quantile(alpha / 2.0);
        (n0 * n1 / 2.0 - z * deviation).floor().max(0.0) as usize
    };
    (
        estimate,
        (reach > 0).then(|| (differences[reach - 1], differences[pairs - reach])),
    )
}

/// In how many of all arrangements of `n0` and `n1` values the statistic is 0, 1, ... `n0 * n1`: the coefficients of the Gaussian
/// binomial.
fn arrangements(n0: usize, n1: usize) -> Vec<f64> {
    let mut counts = vec![0.0; n0 * n1 + 1];
    counts[0] = 1.0;
    for step in 1..=n1 {
        for value in (n0 + step..counts.len()).rev() {
            counts[value] -= counts[value - n0 - step];
        }
        for value in step..counts.len() {
            counts[value] += counts[value - step];
        }
    }
    counts
}
