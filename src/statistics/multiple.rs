//! Many tests at once: what a small probability means among a thousand of them.

/// False discovery rates (Benjamini and Hochberg 1995): of the functions whose `q` is at most 0.05, 5 % are expected to be false.
/// In the order of `p`.
pub fn false_discovery_rates(p: &[f64]) -> Vec<f64> {
    let mut smallest = 1.0_f64;
    let mut rates = vec![0.0; p.len()];
    for (rank, function) in ranked(p).into_iter().enumerate().rev() {
        smallest = smallest.min(p[function] * p.len() as f64 / (rank + 1) as f64);
        rates[function] = smallest;
    }
    rates
}

/// Probabilities adjusted so that the chance of even one false finding is held (Holm 1979). In the order of `p`.
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
