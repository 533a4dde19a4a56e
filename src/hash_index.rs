//! A hash table of numbers of things that are kept elsewhere.

use hashbrown::HashTable;

/// See the module's page. It keeps half of each hash, so that it grows without a look at the things, which lie all over
/// memory.
#[derive(Default)]
pub(crate) struct HashIndex(HashTable<Slot>);

#[derive(Clone, Copy)]
struct Slot {
    half: u32,
    at: u32,
}

impl HashIndex {
    /// The number of the thing that has this hash and is the right one.
    pub(crate) fn find(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let half = half(hash);
        self.0.find(whole(half), |slot| slot.half == half && is_it(slot.at)).map(|slot| slot.at)
    }

    /// The number of a thing that is probably the right one, without a look at it.
    pub(crate) fn guess(&self, hash: u64) -> Option<u32> {
        self.find(hash, |_| true)
    }

    /// Adds a thing that is not there.
    pub(crate) fn insert(&mut self, hash: u64, at: u32) {
        let slot = Slot { half: half(hash), at };
        self.0.insert_unique(whole(slot.half), slot, |slot| whole(slot.half));
    }
}

fn half(hash: u64) -> u32 {
    let [first, second, third, fourth, ..] = hash.to_be_bytes();
    u32::from_be_bytes([first, second, third, fourth])
}

/// A hash whose upper bits differ as well as its lower ones: the table uses both.
fn whole(half: u32) -> u64 {
    u64::from(half) << 32 | u64::from(half)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hashes of which many have one half: things are told apart by a look at them.
    #[test]
    fn things_with_one_hash_are_told_apart() {
        let hash = |at: u32| u64::from(at % 7) << 32 | u64::from(at);
        let mut index = HashIndex::default();
        for at in 0..1000 {
            assert_eq!(index.find(hash(at), |found| found == at), None);
            index.insert(hash(at), at);
        }
        for at in 0..1000 {
            assert_eq!(index.find(hash(at), |found| found == at), Some(at));
            assert_eq!(index.guess(hash(at)).map(|found| found % 7), Some(at % 7));
        }
        assert_eq!(index.guess(7 << 32), None);
    }
}
