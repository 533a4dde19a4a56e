//! Costs as decimal numbers. A profiler writes most of them with few digits, and the floating-point number of these has others
//! in all its bytes, of which no compression makes less. `digits / scale` is the same number, bit by bit, as both are exact.

/// What digits may be divided by: powers of ten that floating-point numbers hold exactly.
pub(super) const SCALES: [f64; 16] = [
    1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
];

/// Digits are below this number. Above, rounding makes others of them.
const LIMIT: f64 = 1e15;

/// Finds the digits of costs that come one after the other.
#[derive(Debug, Default)]
pub(super) struct Digits {
    scale: u8,
    /// The scale of the last digits that are no whole number: most of a profiler's costs have as many.
    usual: u8,
}

impl Digits {
    /// The digits of a cost, if few are enough, and the place of what they are divided by.
    #[inline]
    pub(super) fn of(&mut self, cost: f64) -> (Option<i64>, u8) {
        if let Some(digits) = fewest(cost, self.usual) {
            self.scale = self.usual;
            return (Some(digits), self.scale);
        }
        let found = find(cost);
        if let Some((_, scale)) = found {
            self.scale = scale;
            if scale > 0 {
                self.usual = scale;
            }
        }
        (found.map(|(digits, _)| digits), self.scale)
    }

    /// The place of what the last digits are divided by: costs without digits have it, too.
    #[inline]
    pub(super) fn scale(&self) -> u8 {
        self.scale
    }
}

/// The digits of a cost that are divided by this, if they are the fewest: the last one is no zero.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "below the limit")]
fn fewest(cost: f64, scale: u8) -> Option<i64> {
    let power = SCALES.get(usize::from(scale))?;
    let scaled = cost * power;
    // Not so of what is no number.
    if scaled.abs() < LIMIT {
        let digits = (scaled + 0.5_f64.copysign(scaled)) as i64;
        let is_fewest = scale == 0 || digits % 10 != 0;
        return Some(digits)
            .filter(|_| is_fewest && number(digits, *power).to_bits() == cost.to_bits());
    }
    None
}

/// The fewest digits of a cost and the place of what they are divided by. No two numbers with fewer digits than [`LIMIT`] are the
/// same in floating point, so that it is enough to try with as many digits as there may be.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "below the limit")]
fn find(cost: f64) -> Option<(i64, u8)> {
    if cost.is_nan() || cost.abs() >= LIMIT {
        return None;
    }
    let whole = cost as i64;
    if number(whole, 1.0).to_bits() == cost.to_bits() {
        return Some((whole, 0));
    }
    let mut scale = most_scale(cost);
    let power = SCALES.get(usize::from(scale))?;
    let scaled = cost * power;
    let mut digits = (scaled + 0.5_f64.copysign(scaled)) as i64;
    if number(digits, *power).to_bits() != cost.to_bits() {
        return None;
    }
    for (zeros, power) in [(8, 100_000_000), (4, 10_000), (2, 100), (1, 10)] {
        if zeros <= scale && digits % power == 0 {
            digits /= power;
            scale -= zeros;
        }
    }
    Some((digits, scale))
}

/// The place of the greatest scale by which digits are below their limit.
#[inline]
fn most_scale(cost: f64) -> u8 {
    /// For each power of two the greatest scale by which all numbers below the next one are below the limit.
    const BY_POWER: [u8; 50] = {
        let mut places = [0; 50];
        let mut power = 0;
        while power < 50 {
            let (mut place, mut most) = (0, 2 << power);
            while most <= 100_000_000_000_000_u64 {
                most *= 10;
                place += 1;
            }
            places[power] = place;
            power += 1;
        }
        places
    };
    let exponent = cost.to_bits() >> 52 & 0x7ff;
    let Some(power) = exponent.checked_sub(1023) else {
        return 15;
    };
    let by_power = usize::try_from(power).map(|power| BY_POWER.get(power));
    let least = by_power.ok().flatten().copied().unwrap_or_default();
    let next = SCALES.get(usize::from(least) + 1);
    least + u8::from(next.is_some_and(|next| cost.abs() * next < LIMIT))
}

/// The number that has these digits.
#[inline]
#[expect(clippy::cast_precision_loss, reason = "there are few")]
pub(super) fn number(digits: i64, scale: f64) -> f64 {
    digits as f64 / scale
}
