//! The order of rows: numbers as unsigned ones that have it, and rows by several columns.

use std::cmp::Ordering;

use super::tables::Kind;

/// A number whose order as an unsigned one is that of the column.
pub(super) fn ordered(kind: Kind, bits: u64) -> u64 {
    const SIGN: u64 = 1 << 63;
    match kind {
        Kind::Real if bits & SIGN != 0 => !bits,
        _ => bits ^ SIGN,
    }
}

/// What [`ordered`] was given.
pub(super) fn disordered(kind: Kind, order: u64) -> u64 {
    const SIGN: u64 = 1 << 63;
    match kind {
        Kind::Real if order & SIGN == 0 => !order,
        _ => order ^ SIGN,
    }
}

/// What rows are ordered by, as they are in columns: numbers that have the order of the values.
pub(super) enum Ranks<'b> {
    /// Whether there is a value: NULL comes first.
    Levels(&'b [bool]),
    /// Numbers of a kind.
    Numbers(Kind, &'b [u64]),
    /// Places that have the order of what is there.
    Places(&'b [u32]),
    /// Places of texts, and the rank of each text.
    Texts(&'b [u32], Vec<u32>),
    /// Places of scales.
    Scales(&'b [u8]),
}

impl Ranks<'_> {
    /// Calls a function for the rank of each row, in the order of the rows.
    #[inline]
    fn each(&self, each: impl FnMut(u64)) {
        // A loop for each kind, and not a look at the kind for each row.
        match self {
            Self::Levels(levels) => levels.iter().map(|level| u64::from(*level)).for_each(each),
            Self::Numbers(kind, numbers) => {
                let ranks = numbers.iter().map(|number| ordered(*kind, *number));
                ranks.for_each(each);
            }
            Self::Places(places) => places.iter().map(|place| u64::from(*place)).for_each(each),
            Self::Texts(places, ranks) => {
                let rank = |place: &u32| ranks.get(*place as usize).copied().map_or(0, u64::from);
                places.iter().map(rank).for_each(each);
            }
            Self::Scales(scales) => scales.iter().map(|scale| u64::from(*scale)).for_each(each),
        }
    }

    #[inline]
    fn of(&self, row: usize) -> u64 {
        match self {
            Self::Levels(levels) => u64::from(levels[row]),
            Self::Numbers(kind, numbers) => ordered(*kind, numbers[row]),
            Self::Places(places) => u64::from(places[row]),
            Self::Texts(places, ranks) => ranks
                .get(places[row] as usize)
                .copied()
                .map_or(0, u64::from),
            Self::Scales(scales) => u64::from(scales[row]),
        }
    }
}

/// The order of rows by ranks: the first ones that fit are put into one number, with the number of the row if that fits, too.
pub(super) fn order(rows: usize, ranks: &[Ranks<'_>]) -> Vec<u32> {
    let mut keys = vec![0_u64; rows];
    let mut bits = 0;
    let mut packed = 0;
    for ranks in ranks {
        let (mut least, mut most) = (u64::MAX, 0);
        ranks.each(|rank| (least, most) = (least.min(rank), most.max(rank)));
        let width = u64::BITS - most.saturating_sub(least).leading_zeros();
        if bits + width > u64::BITS {
            break;
        }
        if width > 0 {
            let mut keys = keys.iter_mut();
            ranks.each(|rank| {
                if let Some(key) = keys.next() {
                    *key = key.checked_shl(width).unwrap_or_default() | (rank - least);
                }
            });
        }
        bits += width;
        packed += 1;
    }
    let rest = &ranks[packed..];
    let of_row = u64::BITS - (rows as u64).leading_zeros();
    if rest.is_empty() && bits + of_row <= u64::BITS {
        for (row, key) in (0_u64..).zip(&mut keys) {
            *key = key.checked_shl(of_row).unwrap_or_default() | row;
        }
        keys.sort_unstable();
        let mask = (1 << of_row) - 1;
        return keys.into_iter().map(|key| number(key & mask)).collect();
    }
    let mut keys: Vec<(u64, u32)> = keys.into_iter().zip(0..).collect();
    keys.sort_unstable_by(|one, other| {
        let by_rest = || {
            rest.iter().fold(Ordering::Equal, |found, ranks| {
                found.then_with(|| ranks.of(one.1 as usize).cmp(&ranks.of(other.1 as usize)))
            })
        };
        one.0
            .cmp(&other.0)
            .then_with(by_rest)
            .then(one.1.cmp(&other.1))
    });
    keys.into_iter().map(|(_, row)| row).collect()
}

/// The number of a row, of which there are fewer in memory than such numbers.
fn number(row: u64) -> u32 {
    u32::try_from(row).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::{Kind, Ranks, disordered, order, ordered};

    #[test]
    fn rows_are_ordered_by_all_ranks() {
        let order_of = |ranks: &[&[u64]]| {
            let numbers: Vec<Vec<u64>> = ranks
                .iter()
                .map(|ranks| {
                    let numbers = ranks.iter().map(|rank| disordered(Kind::Integer, *rank));
                    numbers.collect()
                })
                .collect();
            let ranks: Vec<_> = numbers
                .iter()
                .map(|numbers| Ranks::Numbers(Kind::Integer, numbers))
                .collect();
            order(numbers[0].len(), &ranks)
        };
        assert_eq!(order_of(&[&[2, 1, 1], &[0, 9, 8]]), [2, 1, 0]);
        // Too many bits for one number.
        assert_eq!(
            order_of(&[&[0, u64::MAX, 0, 0], &[1, 0, u64::MAX, 0], &[0; 4]]),
            [3, 0, 2, 1]
        );
        // So many that there is no room for the number of the row.
        assert_eq!(order_of(&[&[u64::MAX, 0, u64::MAX, 1]]), [1, 3, 0, 2]);
        // What is equal stays in its order.
        assert_eq!(order_of(&[&[5, 5, 5]]), [0, 1, 2]);
        assert!(order_of(&[&[]]).is_empty());
    }

    #[test]
    fn columns_of_all_kinds_have_an_order() {
        for ranks in [
            Ranks::Levels(&[true, false, true]),
            Ranks::Numbers(Kind::Real, &[1.5_f64, -2.0, 1.5].map(f64::to_bits)),
            Ranks::Places(&[7, 3, 7]),
            Ranks::Texts(&[0, 1, 0], vec![1, 0]),
            Ranks::Scales(&[9, 0, 9]),
        ] {
            assert_eq!(order(3, &[ranks]), [1, 0, 2]);
        }
    }

    #[test]
    fn numbers_keep_their_order() {
        let whole = [i64::MIN, -1, 0, 1, i64::MAX].map(i64::cast_unsigned);
        let costs = [f64::NEG_INFINITY, -1.5, -0.0, 0.0, 1e-9, f64::INFINITY].map(f64::to_bits);
        for (kind, numbers) in [(Kind::Integer, &whole[..]), (Kind::Real, &costs)] {
            let orders: Vec<u64> = numbers.iter().map(|bits| ordered(kind, *bits)).collect();
            assert!(orders.is_sorted(), "{orders:?}");
            let again: Vec<u64> = orders
                .iter()
                .map(|order| disordered(kind, *order))
                .collect();
            assert_eq!(again, numbers);
        }
    }
}
