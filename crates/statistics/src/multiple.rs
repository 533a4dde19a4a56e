//! Corrections of probabilities for the number of tests.

/// Returns the false discovery rates of probabilities, in the same order (Benjamini and Hochberg 1995): of the functions whose
/// rate is at most 0.05, 5 % are expected to be false.
pub fn false_discovery_rates(p: &[f64]) -> Vec<f64> {
    let mut smallest = 1.0_f64;
    let mut rates = vec![0.0; p.len()];
    for (rank, function) in ranked(p).into_iter().enumerate().rev() {
        smallest = smallest.min(p[function] * p.len() as f64 / (rank + 1) as f64);
        rates[function] = smallest;
    }
    rates
}

/// Returns probabilities that are adjusted for the chance of at least one false finding, in the same order (Holm 1979).
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut greatest = 0.0_f64;
    let mut adjusted = vec![0.0; p.len()];
    for (rank, test) in ranked(p).into_iter().enumerate() {
        greatest = greatest.max((p[test] * (p.len() - rank) as f64).min(1.0));
        adjusted[test] = greatest;
    }
    adjusted
}

/// Places of `p` by rising probability; equal ones in their order.
fn ranked(p: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&left, &right| p[left].total_cmp(&p[right]));
    order
}
