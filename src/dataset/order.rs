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
