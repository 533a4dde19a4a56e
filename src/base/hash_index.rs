//! Open-addressing index from hash to `u32` slot in a table that the caller owns.
//!
//! The index is one array, so that the place where a search begins is known without a read, and
//! can be [asked for](HashIndex::first_slot) before the search. General hash tables keep two
//! arrays and hide where they look.

/// An index of the entries of a table. It keeps half of each hash, so that it grows without
/// reading the entries.
#[derive(Default)]
pub(crate) struct HashIndex {
    /// A power of two of them, or none. Linear probing: an entry is in the first free slot at or
    /// after that of its hash.
    slots: Vec<Slot>,
    used: usize,
}

#[derive(Clone, Copy)]
pub(crate) struct Slot {
    half: u32,
    /// The entry's index in the table, or [`EMPTY`].
    entry: u32,
}

/// Marks an empty slot.
const EMPTY: u32 = u32::MAX;

impl Slot {
    /// A slot without an entry.
    const FREE: Self = Self {
        half: 0,
        entry: EMPTY,
    };
}

impl HashIndex {
    /// All slots, and which of them a search for this hash reads first.
    pub(crate) fn first_slot(&self, hash: u64) -> (&[Slot], usize) {
        (&self.slots, self.home(half(hash)))
    }

    /// The entry that has this hash and for which `is_it` holds.
    pub(crate) fn find(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let half = half(hash);
        let (before, from_home) = self.slots.split_at(self.home(half));
        // The search goes once round all slots at most. Where there are none yet, home is 0 and the
        // search is over at once.
        let run = from_home
            .iter()
            .chain(before)
            .take_while(|slot| slot.entry != EMPTY);
        run.filter(|slot| slot.half == half)
            .map(|slot| slot.entry)
            .find(|entry| is_it(*entry))
    }

    /// The first entry whose half of the hash is that of this one: probably the one that
    /// [`find`](Self::find) would give, without reading the table.
    pub(crate) fn guess(&self, hash: u64) -> Option<u32> {
        self.find(hash, |_| true)
    }

    /// Adds an entry that is not there.
    pub(crate) fn insert(&mut self, hash: u64, entry: u32) {
        // A quarter stays free, so that searches end soon.
        if self.used >= self.slots.len() / 4 * 3 {
            self.grow();
        }
        self.put(Slot {
            half: half(hash),
            entry,
        });
        self.used += 1;
    }

    /// Forgets all entries, and keeps the room.
    pub(crate) fn clear(&mut self) {
        self.slots.fill(Slot::FREE);
        self.used = 0;
    }

    fn grow(&mut self) {
        // Twice as many slots, a power of two again, so that a mask takes the place of a division
        // in `home`.
        let size = (2 * self.slots.len()).max(64);
        let slots = std::mem::replace(&mut self.slots, vec![Slot::FREE; size]);
        slots
            .into_iter()
            .filter(|slot| slot.entry != EMPTY)
            .for_each(|slot| self.put(slot));
    }

    fn put(&mut self, slot: Slot) {
        let home = self.home(slot.half);
        let (before, from_home) = self.slots.split_at_mut(home);
        let mut run = from_home.iter_mut().chain(before);
        // There is one: `insert` has seen to it that a quarter of the slots is free.
        if let Some(empty) = run.find(|slot| slot.entry == EMPTY) {
            *empty = slot;
        }
    }

    /// The slot where the search for a hash begins.
    fn home(&self, half: u32) -> usize {
        half as usize & self.slots.len().saturating_sub(1)
    }
}

/// The upper half of a hash.
fn half(hash: u64) -> u32 {
    // The lower half is forgotten: two entries whose upper halves are equal are told apart by
    // `is_it`.
    let [first, second, third, fourth, ..] = hash.to_be_bytes();
    u32::from_be_bytes([first, second, third, fourth])
}
