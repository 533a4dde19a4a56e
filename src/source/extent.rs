//! Which lines of a file belong to which function, as far as a profile tells.
//!
//! A profile names lines that cost something, and lines where functions begin. A line between them is
//! taken to be of the functions that have the last of these before it: so each function has its lines
//! up to the next definition that is known, and those between two lines of it. The report
//! `function` says the same in SQL (`queries/fragments/function_lines.sql`).

use std::collections::BTreeSet;

/// Ranges of lines in ascending order; first and last line of each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extent(Vec<(i64, i64)>);

impl Extent {
    /// All lines of a text.
    #[must_use]
    pub fn all() -> Self {
        Self(vec![(i64::MIN, i64::MAX)])
    }

    /// The lines of several.
    #[must_use]
    pub fn of_all<'e>(extents: impl Iterator<Item = &'e Self>) -> Self {
        let mut ranges: Vec<(i64, i64)> = extents.flat_map(|extent| &extent.0).copied().collect();
        ranges.sort_unstable();
        ranges.dedup_by(|next, before| {
            let is_one = next.0 <= before.1.saturating_add(1);
            if is_one {
                before.1 = before.1.max(next.1);
            }
            is_one
        });
        Self(ranges)
    }

    /// The lines of a function in a file, of which it has `own` lines, and all functions together
    /// `known` ones, those of this one included.
    #[must_use]
    pub fn between(own: &BTreeSet<i64>, known: &BTreeSet<i64>) -> Self {
        let mut ranges: Vec<(i64, i64)> = Vec::with_capacity(own.len());
        for first in own {
            let next = known.range(first.saturating_add(1)..).next();
            let last = next.map_or(i64::MAX, |next| next - 1);
            match ranges.last_mut() {
                Some(before) if before.1.saturating_add(1) == *first => before.1 = last,
                _ => ranges.push((*first, last)),
            }
        }
        Self(ranges)
    }

    /// Whether a line is in it.
    #[must_use]
    pub fn contains(&self, line: i64) -> bool {
        let after = self.0.partition_point(|(first, _)| *first <= line);
        after > 0 && line <= self.0[after - 1].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_has_its_lines_up_to_the_next_known_one_of_another() {
        let known = BTreeSet::from([2, 4, 10, 12, 20]);
        let extent = |own: &[i64]| Extent::between(&own.iter().copied().collect(), &known).0;
        assert_eq!(extent(&[2, 4]), [(2, 9)]);
        assert_eq!(extent(&[2, 12]), [(2, 3), (12, 19)]);
        assert_eq!(extent(&[20]), [(20, i64::MAX)]);
        assert_eq!(extent(&[]), []);
        let all = Extent::between(&BTreeSet::from([2, 12]), &known);
        let within: Vec<i64> = (0..25).filter(|line| all.contains(*line)).collect();
        assert_eq!(within, [2, 3, 12, 13, 14, 15, 16, 17, 18, 19]);
        assert!(Extent::all().contains(0) && !Extent::default().contains(0));
    }

    #[test]
    fn extents_are_put_together() {
        let parts = [
            Extent(vec![(1, 2), (8, 9)]),
            Extent(vec![(3, 3), (12, 20)]),
            Extent(vec![(8, 8), (13, 14)]),
        ];
        assert_eq!(Extent::of_all(parts.iter()).0, [(1, 3), (8, 9), (12, 20)]);
        assert_eq!(Extent::of_all([].into_iter()), Extent::default());
        let all = [Extent::all(), Extent(vec![(1, 2)])];
        assert_eq!(Extent::of_all(all.iter()), Extent::all());
    }
}
