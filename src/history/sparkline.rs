//! Sparklines: figures in their order as a row of bars, from the smallest to the largest.

use profdb_statistics::mean;

/// Bars by their height.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Bars of a sparkline: more figures than that are put together, as many for each bar as need be.
const LONGEST: usize = 60;

/// A sparkline of figures, and how many of them a bar stands for. The lowest bar is for the smallest figure, the highest for the
/// largest, and figures that are all equal have bars of half that height.
pub(super) fn sparkline(figures: &[f64]) -> (String, usize) {
    let each = figures.len().div_ceil(LONGEST).max(1);
    let figures: Vec<f64> = figures.chunks(each).map(mean).collect();
    let low = figures.iter().copied().fold(f64::INFINITY, f64::min);
    let high = figures.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let bars = figures.iter().map(|figure| {
        // Halves, as the difference of two figures may be more than a number can be.
        let height = (figure / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0);
        if height.is_finite() {
            BARS[step(height)]
        } else {
            BARS[BARS.len() / 2 - 1]
        }
    });
    (bars.collect(), each)
}

/// Which of the bars has a height from 0 to 1.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "from 0 to the number of bars"
)]
fn step(height: f64) -> usize {
    #[expect(clippy::cast_precision_loss, reason = "eight bars")]
    let last = (BARS.len() - 1) as f64;
    (height.clamp(0.0, 1.0) * last).round() as usize
}
