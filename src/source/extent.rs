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
