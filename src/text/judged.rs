//! What comparisons say of figures, as people read it: ratios, probabilities, and commits between which something changed. The
//! page for browsers does the same in `web/judged.js` and `web/texts.js`, and a test holds them equal.

use super::number::fixed;

/// A ratio with the interval that it is in, which may have no upper end: `1.27 (1.19..1.35)`. Without a ratio, because one side
/// has nothing, the interval is a bound, which may be far from 1: `(0..0.000400)`, `(12.34..)`. An interval of all ratios says
/// nothing, nor does one of no width.
#[must_use]
pub fn ratio(ratio: Option<f64>, interval: Option<(f64, f64)>) -> String {
    let interval = interval.filter(|(low, high)| *low > 0.0 || high.is_finite());
    match (ratio, interval) {
        (Some(ratio), Some((low, high))) if !high.is_finite() => {
            format!("{} ({}..)", fixed(ratio, 2), fixed(low, 2))
        }
        (Some(ratio), Some((low, high))) if (high - low).abs() > f64::EPSILON * high => {
            let [ratio, low, high] = [ratio, low, high].map(|value| fixed(value, 2));
            format!("{ratio} ({low}..{high})")
        }
        (Some(ratio), _) => fixed(ratio, 2),
        (None, Some((_, high))) if high.is_finite() => format!("(0..{})", bound(high)),
        (None, Some((low, _))) => format!("({}..)", bound(low)),
        (None, None) => "-".to_owned(),
    }
}

/// A ratio with two digits or more that are not 0.
fn bound(value: f64) -> String {
    let decimals = [1.0, 0.1, 0.01, 0.001]
        .iter()
        .take_while(|least| value < **least)
        .count();
    fixed(value, 2 + decimals)
}

/// A probability with as many digits as it takes: `.031`, `<.001`.
#[must_use]
pub fn probability(value: f64) -> String {
    if value < 0.001 {
        return "<.001".to_owned();
    }
    let text = fixed(value, 3);
    match text.strip_prefix('0') {
        Some(digits) => digits.to_owned(),
        None => text,
    }
}

/// The same of one that may be unknown: `-`.
#[must_use]
pub fn odds(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), probability)
}

/// Characters of a commit that are enough for people.
const COMMIT: usize = 12;

/// The beginning of a commit. A name that is no hash is not cut: what tells it from others may be at its end.
#[must_use]
pub fn short_commit(commit: &str) -> &str {
    match commit.char_indices().nth(COMMIT) {
        Some((at, _)) if commit.bytes().all(|byte| byte.is_ascii_hexdigit()) => &commit[..at],
        _ => commit,
    }
}
