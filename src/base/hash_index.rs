//! A hash table of numbers of things that are kept elsewhere.
//!
//! Large profiles ask for things all over memory. So the table is one list, in which whoever looks
//! for several things can have memory [begin to deliver](HashIndex::prefetch) all of them; general
//! tables keep two, and hide where they look.

use prefetch_index::prefetch_index;

/// See the module's page. It keeps half of each hash, so that it grows without a look at the
/// things.
#[derive(Default)]
pub(crate) struct HashIndex {
    /// As many as a power of two, or none. A thing is in the first free slot from that of its hash
    /// on.
    slots: Vec<Slot>,
    used: usize,
}

#[derive(Clone, Copy)]
struct Slot {
    half: u32,
    /// [`FREE`] if there is no thing.
    at: u32,
}

/// The number of no thing.
const FREE: u32 = u32::MAX;

impl HashIndex {
    /// Says that this hash will be asked for soon.
    pub(crate) fn prefetch(&self, hash: u64) {
        prefetch_index(&self.slots, self.first(half(hash)));
    }

    /// The number of the thing that has this hash and is the right one.
    pub(crate) fn find(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let half = half(hash);
        let (before, behind) = self.slots.split_at(self.first(half));
        let run = behind
            .iter()
            .chain(before)
            .take_while(|slot| slot.at != FREE);
        run.filter(|slot| slot.half == half)
            .map(|slot| slot.at)
            .find(|at| is_it(*at))
    }

    /// The number of a thing that is probably the right one, without a look at it.
    pub(crate) fn guess(&self, hash: u64) -> Option<u32> {
        self.find(hash, |_| true)
    }

    /// Adds a thing that is not there.
    pub(crate) fn insert(&mut self, hash: u64, at: u32) {
        // A quarter stays free, so that searches end.
        if self.used >= self.slots.len() / 4 * 3 {
            self.grow();
        }
        self.put(Slot {
            half: half(hash),
            at,
        });
        self.used += 1;
    }

    fn grow(&mut self) {
        let room = (2 * self.slots.len()).max(64);
        let slots = std::mem::replace(&mut self.slots, vec![Slot { half: 0, at: FREE }; room]);
        slots
            .into_iter()
            .filter(|slot| slot.at != FREE)
            .for_each(|slot| self.put(slot));
    }

    fn put(&mut self, slot: Slot) {
        let first = self.first(slot.half);
        let (before, behind) = self.slots.split_at_mut(first);
        if let Some(free) = behind.iter_mut().chain(before).find(|slot| slot.at == FREE) {
            *free = slot;
        }
    }

    /// The slot where the search for a hash begins.
    fn first(&self, half: u32) -> usize {
        half as usize & self.slots.len().saturating_sub(1)
    }
}

fn half(hash: u64) -> u32 {
    let [first, second, third, fourth, ..] = hash.to_be_bytes();
    u32::from_be_bytes([first, second, third, fourth])
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
