//! Where the boxes of a flame graph are: from left to right as costs, from level to level as pixels.

use crate::formats::common::stacks::{CUMULATIVE, FREE};
use crate::formats::export::losses::{Losses, NEGATIVE, differ};
use crate::formats::export::profile::Call;

/// What rounding may add to the width of a box, as a part of the picture: a REAL's own part for
/// each of a million levels.
const ROUNDING: f64 = 1e-9;

/// Where boxes are, in the order of the tree.
pub(super) struct Boxes {
    /// What all roots cost.
    whole: f64,
    /// What is too little to be drawn.
    least: f64,
    /// For each open place, from the outermost: where its next callee begins, and where it ends; as
    /// costs.
    open: Vec<(f64, f64)>,
    /// Where the next root begins.
    next_root: f64,
}

impl Boxes {
    pub(super) fn new(whole: f64, least: f64) -> Self {
        Self {
            whole,
            least,
            open: Vec::new(),
            next_root: 0.0,
        }
    }

    /// Left and right edge of the next place, as costs; `None` if it is not drawn.
    pub(super) fn next(&mut self, call: &Call, losses: &mut Losses) -> Option<(f64, f64)> {
        self.open.truncate(call.depth);
        let cost = call.cumulative;
        losses.add(NEGATIVE, (cost < 0.0).into());
        losses.add(FREE, (cost == 0.0).into());
        let (left, width) = match self.open.last_mut() {
            None => {
                let left = self.next_root;
                self.next_root += cost.max(0.0);
                (left, cost.max(0.0))
            }
            Some((next, end)) => {
                let (left, width) = (*next, cost.max(0.0).min((*end - *next).max(0.0)));
                // Rounding is no reason to tell.
                losses.add(CUMULATIVE, differ(cost.max(0.0), width).into());
                *next += width;
                (left, width)
            }
        };
        // What is not drawn has its room, too: everything to its right keeps its exact place.
        self.open.push((left, left + width));
        (width > 0.0 && width >= self.least).then_some((left, left + width))
    }

    /// Whether a place below the last one may be drawn.
    pub(super) fn may_hold_another(&self) -> bool {
        // Edges are rounded at each level, so that a box may seem a little wider than the one that
        // holds it.
        let rounding = ROUNDING * self.whole;
        self.open
            .last()
            .is_none_or(|(left, end)| end - left + rounding >= self.least)
    }
}

/// How many boxes have which width, by ranges of widths: each range begins a sixteenth above the
/// one before.
pub(super) struct Widths(Vec<u64>);

/// Bits of a REAL below those that tell the ranges apart: the sign, the exponent and four digits of
/// the fraction are above.
const RANGE_BITS: u32 = 48;

impl Widths {
    pub(super) fn new() -> Self {
        Self(vec![0; 1 << (64 - RANGE_BITS)])
    }

    /// Counts a box.
    pub(super) fn add(&mut self, width: f64) {
        if let Some(count) = usize::try_from(width.to_bits() >> RANGE_BITS)
            .ok()
            .and_then(|range| self.0.get_mut(range))
        {
            *count += 1;
        }
    }

    /// The least width of which there are so many at most, the widest range apart, which is always
    /// among them. `None` if all are.
    pub(super) fn least_of(&self, most: u64) -> Option<f64> {
        let mut count = 0;
        let mut least = None;
        let ranges = self.0.iter().enumerate().rev();
        for (range, boxes) in ranges.filter(|(_, boxes)| **boxes > 0) {
            count += boxes;
            if count > most && least.is_some() {
                return least;
            }
            least = Some(f64::from_bits((range as u64) << RANGE_BITS));
        }
        None
    }
}

/// What is on a level of the picture.
#[derive(Clone, Copy, Default)]
pub(super) struct Level {
    /// How many boxes.
    pub(super) boxes: u64,
    /// The sum of their widths, as a part of the picture.
    pub(super) share: f64,
}

/// Height of a level, in pixels.
const LEVEL: f64 = 18.0;

/// How much of the first screen is painted at least, as pixels of the height of a picture: 15 % of a
/// window of 1920 by 1000 pixels.
const PAINTED: f64 = 150.0;

/// Levels that are on the first screen, for sure.
const FIRST_SCREEN: usize = 32;

/// A level with one box only that has at least this part of the picture belongs to the trunk, which
/// says nothing but names.
const TRUNK: f64 = 0.999;

/// Levels of the trunk that have their full height, at its beginning and at its end.
const TRUNK_FIRST: usize = 6;
const TRUNK_LAST: usize = 4;

/// Height of what is between these, at most, and of a level there: pixels.
const TRUNK_MIDDLE: f64 = 120.0;
const TRUNK_LEVEL: f64 = 6.0;

/// A number that is rounded to the third decimal is at least this.
const LEAST: f64 = 0.001;

/// The levels of a picture from the root's on.
pub(super) struct Levels {
    /// Heights, in pixels.
    pub(super) heights: Vec<f64>,
    /// The levels of the trunk that are drawn thin: the first one, and the one after the last.
    pub(super) thin: (usize, usize),
}

impl Levels {
    /// Heights of levels. A shallow tree is drawn high, wide levels more so, because a picture of
    /// three thin lines on an empty window is hard to read; a trunk is drawn thin, because what
    /// branches from it would be below the window.
    pub(super) fn of(levels: &[Level]) -> Self {
        let first = || levels.iter().take(FIRST_SCREEN).map(|level| level.share);
        let usual = LEVEL * first().sum::<f64>();
        let squares: f64 = first().map(|share| share * share).sum();
        let more = if usual < PAINTED && squares > 0.0 {
            (PAINTED - usual) / squares
        } else {
            0.0
        };
        // No more than is missing: narrow levels of a high picture would move out of the window.
        let mut heights: Vec<f64> = levels
            .iter()
            .map(|level| (LEVEL + more * level.share).round())
            .collect();
        let is_trunk = |level: &&Level| level.boxes == 1 && level.share >= TRUNK;
        let trunk = levels.iter().take_while(is_trunk).count();
        let thin = (TRUNK_FIRST, trunk.saturating_sub(TRUNK_LAST));
        // What would become higher, or hardly thinner, stays as it is.
        if thin.1 < thin.0 + TRUNK_LAST {
            return Self {
                heights,
                thin: (0, 0),
            };
        }
        let count = thin.1 - thin.0;
        #[expect(
            clippy::cast_precision_loss,
            reason = "a stack has 2^20 frames at most"
        )]
        let height = (TRUNK_MIDDLE / count as f64).clamp(LEAST, TRUNK_LEVEL);
        for thinner in heights.iter_mut().take(thin.1).skip(thin.0) {
            *thinner = height;
        }
        Self { heights, thin }
    }

    /// Upper edge and height of each level, below a head of so many pixels: the root at the top, or at the bottom.
    pub(super) fn places(&self, head: f64, is_inverted: bool) -> Vec<(f64, f64)> {
        let bottom = head + self.height();
        let mut top = head;
        let places = self.heights.iter().map(|height| {
            let above = if is_inverted {
                bottom + head - top - height
            } else {
                top
            };
            top += height;
            (above, *height)
        });
        places.collect()
    }

    /// The height of all levels.
    pub(super) fn height(&self) -> f64 {
        self.heights.iter().sum()
    }
}
