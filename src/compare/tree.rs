//! The union of call trees: every place that any run has, with its cost in base and in new.
//!
//! Places are one where all functions on the way to them are one: by the pair of functions, not the identity, so that nothing is
//! new or gone because the sources lie in another folder. Threads and processes are one by their names: of several with one
//! name, the costs are added up, as which of them does what is chance.

use std::hash::BuildHasher as _;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::base::sum::Sum;

/// A place of the union tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// The place that called it; itself at a root.
    pub parent: u32,
    /// What stands there: a number that the caller of [`Union::enter`] has given.
    pub item: u32,
    /// How many places are above.
    pub depth: u32,
    /// Its own cost in base and new: of each side the mean of its runs, in the unit of the metric.
    pub own: [f64; 2],
    /// The same with everything below it.
    pub all: [f64; 2],
}

/// A union tree that is built run by run.
pub struct Union {
    places: Vec<Place>,
    /// Numbers of places by parent and item.
    known: HashTable<u32>,
    hasher: DefaultHashBuilder,
    /// The places on the way to the current one.
    way: Vec<u32>,
    side: usize,
    weight: f64,
}

/// More places than a tree can have.
const TOO_MANY: u32 = u32::MAX;

impl Union {
    /// A tree without places.
    #[must_use]
    pub fn new() -> Self {
        Self {
            places: Vec::new(),
            known: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            way: Vec::new(),
            side: 0,
            weight: 1.0,
        }
    }

    /// Begins a run of a side, 0 for base and 1 for new; its costs are multiplied by `weight`.
    pub fn begin(&mut self, side: usize, weight: f64) {
        self.way.clear();
        (self.side, self.weight) = (side, weight);
    }

    /// Adds a node: the next one in pre-order, with `depth` function nodes above it and an own cost.
    ///
    /// # Errors
    /// When there are more places than a tree can have.
    pub fn enter(&mut self, depth: usize, item: u32, own: f64) -> Result<(), TooManyPlaces> {
        self.way.truncate(depth);
        let next = u32::try_from(self.places.len()).unwrap_or(TOO_MANY);
        let parent = self.way.last().copied();
        let key = (parent.unwrap_or(TOO_MANY), item);
        let places = &self.places;
        let key_of = |at: u32| {
            let place = &places[at as usize];
            let parent = if place.depth == 0 {
                TOO_MANY
            } else {
                place.parent
            };
            (parent, place.item)
        };
        let hash = |key: (u32, u32)| self.hasher.hash_one(key);
        let found = self
            .known
            .entry(hash(key), |at| key_of(*at) == key, |at| hash(key_of(*at)));
        let at = match found {
            hashbrown::hash_table::Entry::Occupied(known) => *known.get(),
            hashbrown::hash_table::Entry::Vacant(vacant) => {
                if next == TOO_MANY {
                    return Err(TooManyPlaces);
                }
                vacant.insert(next);
                self.places.push(Place {
                    parent: parent.unwrap_or(next),
                    item,
                    depth: parent.map_or(0, |parent| self.places[parent as usize].depth + 1),
                    own: [0.0; 2],
                    all: [0.0; 2],
                });
                next
            }
        };
        self.places[at as usize].own[self.side] += own * self.weight;
        self.way.push(at);
        Ok(())
    }

    /// Adds to the own cost of the place entered last: that of its lines.
    pub fn add(&mut self, own: f64) {
        if let Some(at) = self.way.last() {
            self.places[*at as usize].own[self.side] += own * self.weight;
        }
    }

    /// The places with what lies below them, in the order of a walk: after each place those below it, of several the costliest
    /// first, and of equally costly ones in the order of `before`.
    #[must_use]
    pub fn finish(self, mut before: impl FnMut(u32, u32) -> std::cmp::Ordering) -> Vec<Place> {
        let mut places = self.places;
        for place in &mut places {
            place.all = place.own;
        }
        // A place comes after the one that called it.
        for at in (0..places.len()).rev() {
            let Place {
                parent, depth, all, ..
            } = places[at];
            if depth > 0 {
                let above = &mut places[parent as usize].all;
                above[0] += all[0];
                above[1] += all[1];
            }
        }
        let mut children: Vec<Vec<u32>> = vec![Vec::new(); places.len()];
        let mut roots = Vec::new();
        for (at, place) in (0_u32..).zip(&places) {
            if place.depth == 0 {
                roots.push(at);
            } else {
                children[place.parent as usize].push(at);
            }
        }
        let mut order = |list: &mut Vec<u32>| {
            list.sort_by(|one, other| {
                let (one, other) = (&places[*one as usize], &places[*other as usize]);
                let largest = |place: &Place| place.all[0].max(place.all[1]);
                // The last one is taken first.
                largest(one)
                    .total_cmp(&largest(other))
                    .then_with(|| before(other.item, one.item))
            });
        };
        order(&mut roots);
        let mut walk = roots;
        let mut ordered: Vec<Place> = Vec::with_capacity(places.len());
        let mut number_of = vec![0_u32; places.len()];
        while let Some(at) = walk.pop() {
            let mut place = places[at as usize];
            let number = u32::try_from(ordered.len()).unwrap_or(TOO_MANY);
            number_of[at as usize] = number;
            place.parent = if place.depth == 0 {
                number
            } else {
                number_of[place.parent as usize]
            };
            ordered.push(place);
            let below = &mut children[at as usize];
            order(below);
            walk.append(below);
        }
        ordered
    }
}

impl Default for Union {
    fn default() -> Self {
        Self::new()
    }
}

/// A tree would have 2^32 places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the trees have more than 4294967294 places together")]
pub struct TooManyPlaces;

/// What the places cost themselves, in base and new.
#[must_use]
pub fn total(places: &[Place]) -> [f64; 2] {
    [0, 1].map(|side: usize| {
        let mut sum = Sum::default();
        for place in places {
            sum.add(place.own[side]);
        }
        sum.value()
    })
}
