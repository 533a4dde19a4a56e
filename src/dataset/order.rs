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

/// The order of rows by ranks: the first ones that fit are put into one number.
pub(super) fn order(rows: usize, mut ranks: Vec<Vec<u64>>) -> Vec<usize> {
    let mut keys: Vec<(u64, usize)> = (0..rows).map(|row| (0, row)).collect();
    let mut bits = 0;
    let mut packed = 0;
    for ranks in &mut ranks {
        let least = ranks.iter().copied().min().unwrap_or_default();
        for rank in ranks.iter_mut() {
            *rank -= least;
        }
        let most = ranks.iter().copied().max().unwrap_or_default();
        let width = u64::BITS - most.leading_zeros();
        if bits + width > u64::BITS {
            break;
        }
        if width > 0 {
            for (key, rank) in keys.iter_mut().zip(ranks.iter()) {
                key.0 = key.0.checked_shl(width).unwrap_or_default() | *rank;
            }
        }
        bits += width;
        packed += 1;
    }
    let rest = &ranks[packed..];
    keys.sort_unstable_by(|one, other| {
        let by_rest = || {
            rest.iter().fold(Ordering::Equal, |found, ranks| {
                found.then_with(|| ranks[one.1].cmp(&ranks[other.1]))
            })
        };
        one.0
            .cmp(&other.0)
            .then_with(by_rest)
            .then(one.1.cmp(&other.1))
    });
    keys.into_iter().map(|(_, row)| row).collect()
}

/// Puts values into an order of rows.
pub(super) fn permute<T: Copy>(values: &mut Vec<T>, order: &[usize]) {
    *values = order.iter().map(|at| values[*at]).collect();
}

#[cfg(test)]
mod tests {
    use super::{Kind, disordered, order, ordered};

    #[test]
    fn rows_are_ordered_by_all_ranks() {
        let order_of = |ranks: &[&[u64]]| {
            order(
                ranks[0].len(),
                ranks.iter().map(|ranks| ranks.to_vec()).collect(),
            )
        };
        assert_eq!(order_of(&[&[2, 1, 1], &[0, 9, 8]]), [2, 1, 0]);
        // Too many bits for one number.
        assert_eq!(
            order_of(&[&[0, u64::MAX, 0, 0], &[1, 0, u64::MAX, 0], &[0; 4]]),
            [3, 0, 2, 1]
        );
        // What is equal stays in its order.
        assert_eq!(order_of(&[&[5, 5, 5]]), [0, 1, 2]);
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
