//! A string interner: names by their text. Large profiles look names up in memory that is in no
//! cache any more, so that what a lookup needs lies close together and can be prefetched:
//! [`prefetch`](Dictionary::prefetch), [`guess`](Dictionary::guess) and
//! [`prefetch_text`](Dictionary::prefetch_text) for several names before the first is
//! [confirmed](Dictionary::confirm).

use std::hash::BuildHasher;

use hashbrown::DefaultHashBuilder;
use prefetch_index::prefetch_index;

use crate::base::hash_index::HashIndex;

/// Names, numbered in the order in which they come.
#[derive(Default)]
pub(in crate::formats) struct Dictionary {
    index: HashIndex,
    hasher: DefaultHashBuilder,
    /// One name after the other, and where each of them ends.
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl Dictionary {
    /// The hash of a name, for callers that look up several names together.
    pub(in crate::formats) fn hash(&self, name: &[u8]) -> u64 {
        self.hasher.hash_one(name)
    }

    /// The number of a name, if it has one.
    pub(in crate::formats) fn find(&self, name: &[u8]) -> Option<u32> {
        self.find_hashed(name, self.hash(name))
    }

    /// Says that the name with this hash will be asked for.
    pub(in crate::formats) fn prefetch(&self, hash: u64) {
        let (slots, first) = self.index.first_slot(hash);
        prefetch_index(slots, first);
    }

    /// A number that is probably that of the name with this hash.
    pub(in crate::formats) fn guess(&self, hash: u64) -> Option<u32> {
        let guess = self.index.guess(hash)?;
        prefetch_index(&self.ends, guess as usize);
        Some(guess)
    }

    /// Says that the text of a name will be asked for.
    pub(in crate::formats) fn prefetch_text(&self, at: u32) {
        prefetch_index(&self.text, self.start(at));
    }

    /// The number of a name whose hash is known, and what that says.
    pub(in crate::formats) fn confirm(
        &self,
        guess: Option<u32>,
        name: &[u8],
        hash: u64,
    ) -> Option<u32> {
        guess
            .filter(|at| self.text(*at) == name)
            .or_else(|| self.find_hashed(name, hash))
    }

    fn find_hashed(&self, name: &[u8], hash: u64) -> Option<u32> {
        self.index.find(hash, |at| self.text(at) == name)
    }

    /// Adds a name that is not there: its number is how many there were.
    pub(in crate::formats) fn add(&mut self, name: &[u8]) {
        // There are fewer functions than that: the sink has numbers of 32 bits for them, too.
        let at = u32::try_from(self.ends.len()).unwrap_or(u32::MAX);
        self.index.insert(self.hash(name), at);
        self.text.extend_from_slice(name);
        self.ends.push(self.text.len());
    }

    /// The text of a name; empty if there is none.
    pub(in crate::formats) fn text(&self, at: u32) -> &[u8] {
        let end = self.ends.get(at as usize).copied().unwrap_or_default();
        self.text.get(self.start(at)..end).unwrap_or_default()
    }

    fn start(&self, at: u32) -> usize {
        at.checked_sub(1)
            .and_then(|before| self.ends.get(before as usize))
            .copied()
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_numbers_in_their_order() {
        let names = ["", "a", "ab", "b", "⎕SE"];
        let mut dictionary = Dictionary::default();
        for name in names {
            assert_eq!(dictionary.find(name.as_bytes()), None, "{name:?}");
            dictionary.add(name.as_bytes());
        }
        for (at, name) in (0..).zip(names) {
            assert_eq!(dictionary.find(name.as_bytes()), Some(at), "{name:?}");
            assert_eq!(dictionary.text(at), name.as_bytes());
            let hash = dictionary.hash(name.as_bytes());
            for guess in [None, Some(at), Some(4 - at)] {
                assert_eq!(
                    dictionary.confirm(guess, name.as_bytes(), hash),
                    Some(at),
                    "{name:?} by {guess:?}"
                );
            }
        }
        assert_eq!(
            dictionary.confirm(Some(0), b"c", dictionary.hash(b"c")),
            None
        );
    }
}
