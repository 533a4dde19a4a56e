//! The piecewise constant line with the best fit: the Potts model with squared errors.
//!
//! Of all ways to cut a series into segments, this line has the smallest sum of squared deviations from the segments' means plus a penalty
//! for each cut (Potts 1952; Friedrich, Kempe, Liebscher, Winkler 2008, "Complexity penalized M-estimation"). Dynamic programming over the
//! last cut finds it exactly, with one step for each pair of positions. Pruning (Killick, Fearnhead, Eckley 2012) saves nothing here: it
//! drops a last cut only if later cuts are better, which does not happen in a series without steps, and most series have none.

/// Returns the first positions of the best segments except the first segment, in ascending order.
///
/// Each segment has at least `shortest` positions. A series with fewer than twice as many positions is one segment. `weights` are
/// the inverse variances of the values, in any unit. Of cuts with equal fits, the earliest wins.
///
/// # Panics
///
/// If `shortest` is 0, or the numbers of weights and values differ.
pub fn cuts(values: &[f64], weights: &[f64], penalty: f64, shortest: usize) -> Vec<usize> {
    assert!(shortest > 0 && values.len() == weights.len());
    let n = values.len();
    let sums = Sums::new(values, weights);
    // For each end: the smallest cost of what is before it, and where its last segment begins.
    let mut costs = vec![f64::INFINITY; n + 1];
    let mut begins = vec![0; n + 1];
    costs[0] = -penalty;
    let mut fits = Vec::with_capacity(n);
    for end in shortest..=n {
        let (weight, sum) = (sums.weight[end], sums.sum[end]);
        // Squares of values are the same in all cuts, and are left out: what remains is the square of each segment's sum.
        let begins_before = costs.iter().zip(&sums.weight).zip(&sums.sum);
        fits.clear();
        fits.extend(begins_before.take(end - shortest + 1).map(
            |((cost, begin_weight), begin_sum)| {
                let part = sum - begin_sum;
                cost - part * part / (weight - begin_weight)
            },
        ));
        // In two passes, of which the first is done two or four at a time.
        let best = fits.iter().copied().fold(f64::INFINITY, f64::min);
        costs[end] = best + penalty;
        begins[end] = fits.iter().position(|fit| *fit == best).unwrap_or(0);
    }
    let mut cuts = Vec::new();
    let mut begin = begins[n];
    while begin > 0 {
        cuts.push(begin);
        begin = begins[begin];
    }
    cuts.reverse();
    cuts
}

/// Sums of everything before each position.
pub(super) struct Sums {
    weight: Vec<f64>,
    sum: Vec<f64>,
    square: Vec<f64>,
}

impl Sums {
    pub(super) fn new(values: &[f64], weights: &[f64]) -> Self {
        let total: f64 = weights.iter().sum();
        // Deviations from a middle value: squares of large numbers would lose the digits that differ.
        let middle = values.iter().zip(weights).map(|(y, w)| y * w).sum::<f64>() / total;
        let running = |term: fn(f64, f64) -> f64| {
            let mut sum = 0.0;
            let mut sums = Vec::with_capacity(values.len() + 1);
            sums.push(0.0);
            for (value, weight) in values.iter().zip(weights) {
                sum += term(value - middle, *weight);
                sums.push(sum);
            }
            sums
        };
        Self {
            weight: running(|_, weight| weight),
            sum: running(|value, weight| weight * value),
            square: running(|value, weight| weight * value * value),
        }
    }

    /// Sum of weights from a position to before another one.
    pub(super) fn weight(&self, begin: usize, end: usize) -> f64 {
        self.weight[end] - self.weight[begin]
    }

    /// Mean of the values, less the same constant for all segments.
    pub(super) fn mean(&self, begin: usize, end: usize) -> f64 {
        (self.sum[end] - self.sum[begin]) / self.weight(begin, end)
    }

    /// Sum of squared deviations from the mean.
    pub(super) fn squares(&self, begin: usize, end: usize) -> f64 {
        let sum = self.sum[end] - self.sum[begin];
        (self.square[end] - self.square[begin] - sum * sum / self.weight(begin, end)).max(0.0)
    }

    /// By how much a cut lowers the sum of squares of what is around it.
    pub(super) fn gain(&self, begin: usize, cut: usize, end: usize) -> f64 {
        let (before, after) = (self.weight(begin, cut), self.weight(cut, end));
        (self.mean(cut, end) - self.mean(begin, cut)).powi(2) * before * after / (before + after)
    }
}
