//! What happens often and is worth one note.

use crate::error::Position;

/// How often something was met, and where first.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::importers) struct Tally {
    pub(in crate::importers) count: u64,
    pub(in crate::importers) first: Option<Position>,
}

impl Tally {
    pub(in crate::importers) fn add(&mut self, position: Position) {
        self.count += 1;
        self.first = self.first.or(Some(position));
    }
}

/// `1 block`, `2 blocks`.
pub(in crate::importers) fn many(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
