//! Costs as decimal numbers. A profiler writes most of them with few digits, and the floating-point number of these has others
//! in all its bytes, of which no compression makes less. `digits / scale` is the same number, bit by bit, as both are exact.

/// What digits may be divided by: powers of ten that floating-point numbers hold exactly.
pub(super) const SCALES: [f64; 16] = [
    1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
];

/// Digits are below this number. Above, rounding makes others of them.
const LIMIT: f64 = 1e15;

/// Costs that have too many digits, one after the other, after which only every sixteenth is tried.
const PATIENCE: u32 = 64;

/// Finds the digits of costs that come one after the other.
#[derive(Debug, Default)]
pub(super) struct Digits {
    scale: u8,
    /// How many in a row have none.
    without: u32,
}

impl Digits {
    /// The digits of a cost, if few are enough, and the place of what they are divided by.
    #[inline]
    pub(super) fn of(&mut self, cost: f64) -> (Option<i64>, u8) {
        if self.without >= PATIENCE && !self.without.is_multiple_of(16) {
            self.without += 1;
            return (None, self.scale);
        }
        let found = self.find(cost);
        match found {
            Some((_, scale)) => {
                self.scale = scale;
                self.without = 0;
            }
            None => self.without = self.without.wrapping_add(1).max(1),
        }
        (found.map(|(digits, _)| digits), self.scale)
    }

    /// The place of what the last digits are divided by: costs without digits have it, too.
    #[inline]
    pub(super) fn scale(&self) -> u8 {
        self.scale
    }

    #[inline]
    fn find(&self, cost: f64) -> Option<(i64, u8)> {
        let mut scale = self.scale;
        while scale > 0 && cost.abs() * SCALES[usize::from(scale)] >= LIMIT {
            scale -= 1;
        }
        loop {
            let power = SCALES.get(usize::from(scale))?;
            let scaled = cost * power;
            if scaled.abs() >= LIMIT || scaled.is_nan() {
                return None;
            }
            #[expect(clippy::cast_possible_truncation, reason = "below the limit")]
            let mut digits = (scaled + 0.5_f64.copysign(scaled)) as i64;
            if number(digits, *power).to_bits() == cost.to_bits() {
                while scale > 0 && digits % 10 == 0 {
                    digits /= 10;
                    scale -= 1;
                }
                return Some((digits, scale));
            }
            scale += 1;
        }
    }
}

/// The number that has these digits.
#[inline]
#[expect(clippy::cast_precision_loss, reason = "there are few")]
pub(super) fn number(digits: i64, scale: f64) -> f64 {
    digits as f64 / scale
}

#[cfg(test)]
mod tests {
    use super::{Digits, SCALES, number};

    #[test]
    fn digits_are_the_cost_bit_by_bit() {
        let mut digits = Digits::default();
        for (cost, expected) in [
            (0.0, Some((0, 0))),
            (17.0, Some((17, 0))),
            (4_824.616_167, Some((4_824_616_167, 6))),
            (2_413_956_449.0, Some((2_413_956_449, 0))),
            (380.087_605_3, Some((3_800_876_053, 7))),
            (-1_206.216_021, Some((-1_206_216_021, 6))),
            (0.1, Some((1, 1))),
            (999_999_999_999_999.0, Some((999_999_999_999_999, 0))),
            (1e15, None),
            (0.1 + 0.2, None),
            (1.0 / 3.0, None),
            (-0.0, None),
            (f64::INFINITY, None),
            (f64::NAN, None),
            (f64::MAX, None),
            (f64::MIN_POSITIVE, None),
        ] {
            let (found, scale) = digits.of(cost);
            assert_eq!(found.map(|found| (found, scale)), expected, "{cost}");
            if let Some(found) = found {
                let again = number(found, SCALES[usize::from(scale)]);
                assert_eq!(again.to_bits(), cost.to_bits(), "{cost}");
            }
        }
    }

    #[test]
    fn digits_are_found_again_after_many_without() {
        let mut digits = Digits::default();
        for _ in 0..1000 {
            assert_eq!(digits.of(1.0 / 3.0).0, None);
        }
        let found = (0..16).filter(|_| digits.of(0.5).0.is_some()).count();
        assert!(found > 0);
        assert_eq!(digits.of(0.5), (Some(5), 1));
    }
}
