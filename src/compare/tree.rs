//! The union of call trees: every place that any run has, with its cost in base and in new.
//!
//! Places are one where all functions on the way to them are one: by the pair of functions, not the identity, so that nothing is
//! new or gone because the sources lie in another folder. Threads and processes are one by their names: of several with one
//! name, the costs are added up, as which of them does what is chance.

use std::cmp::Ordering;
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
    /// A run of the side has it, also without a cost.
    pub is_in: [bool; 2],
}

/// A union tree that is built run by run.
///
/// The children of a place are a list in the order in which runs have them. Trees of one program are walked alike: the child
/// that is looked for is mostly the one after that which was found last, else one of a few. Only those of places with many
/// children are in a hash table.
pub struct Union {
    /// The links of the roots, then those of each place.
    links: Vec<Links>,
    /// For each place, the one that called it; [`NONE`] at a root.
    parents: Vec<u32>,
    /// For each place, its own cost on both sides.
    own: Vec<[f64; 2]>,
    /// For each place, the sides that have it.
    is_in: Vec<[bool; 2]>,
    /// Numbers of places by parent and item, where the parent has more than [`FEW`] children.
    known: HashTable<u32>,
    hasher: DefaultHashBuilder,
    /// The places on the way to the current one.
    way: Vec<u32>,
    side: usize,
    weight: f64,
}

/// What leads from a place to others.
#[derive(Clone, Copy)]
struct Links {
    item: u32,
    first_child: u32,
    next_sibling: u32,
    /// The child that was found last.
    recent_child: u32,
    children: u32,
}

/// No place; there are fewer than this.
const NONE: u32 = u32::MAX;

/// Children that are looked through one by one.
const FEW: u32 = 8;

impl Links {
    fn of(item: u32) -> Self {
        Self {
            item,
            first_child: NONE,
            next_sibling: NONE,
            recent_child: NONE,
            children: 0,
        }
    }
}

/// Where the links of a place are.
fn links_of(place: u32) -> usize {
    place as usize + 1
}

impl Union {
    /// A tree without places.
    #[must_use]
    pub fn new() -> Self {
        Self {
            links: vec![Links::of(NONE)],
            parents: Vec::new(),
            own: Vec::new(),
            is_in: Vec::new(),
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
        let parent = self.way.last().copied();
        let at = match self.child(parent, item) {
            Some(at) => at,
            None => self.add_child(parent, item)?,
        };
        self.links[parent.map_or(0, links_of)].recent_child = at;
        self.own[at as usize][self.side] += own * self.weight;
        self.is_in[at as usize][self.side] = true;
        self.way.push(at);
        Ok(())
    }

    /// The child of a place, or the root, that is of an item.
    fn child(&self, parent: Option<u32>, item: u32) -> Option<u32> {
        let Links {
            first_child,
            recent_child,
            children,
            ..
        } = self.links[parent.map_or(0, links_of)];
        if children == 0 {
            return None;
        }
        let recent = self.links[links_of(recent_child)];
        if recent.next_sibling != NONE && self.links[links_of(recent.next_sibling)].item == item {
            return Some(recent.next_sibling);
        }
        if recent.item == item {
            return Some(recent_child);
        }
        if children > FEW {
            let key = (parent.unwrap_or(NONE), item);
            let found = self
                .known
                .find(self.hasher.hash_one(key), |at| self.key(*at) == key);
            return found.copied();
        }
        let mut at = first_child;
        while at != NONE {
            let links = self.links[links_of(at)];
            if links.item == item {
                return Some(at);
            }
            at = links.next_sibling;
        }
        None
    }

    /// What is hashed of a place.
    fn key(&self, at: u32) -> (u32, u32) {
        (self.parents[at as usize], self.links[links_of(at)].item)
    }

    /// Makes a place after the child that was found last.
    fn add_child(&mut self, parent: Option<u32>, item: u32) -> Result<u32, TooManyPlaces> {
        let at = u32::try_from(self.parents.len()).unwrap_or(NONE);
        if at == NONE {
            return Err(TooManyPlaces);
        }
        self.parents.push(parent.unwrap_or(NONE));
        self.own.push([0.0; 2]);
        self.is_in.push([false; 2]);
        self.links.push(Links::of(item));
        let above = &mut self.links[parent.map_or(0, links_of)];
        above.children += 1;
        let (children, first, recent) = (above.children, above.first_child, above.recent_child);
        if recent == NONE {
            above.first_child = at;
        } else {
            let before = &mut self.links[links_of(recent)].next_sibling;
            let next = std::mem::replace(before, at);
            self.links[links_of(at)].next_sibling = next;
        }
        match children.cmp(&(FEW + 1)) {
            Ordering::Less => {}
            Ordering::Greater => self.remember(at),
            // Now there are many.
            Ordering::Equal => {
                let mut child = first;
                while child != NONE {
                    self.remember(child);
                    child = self.links[links_of(child)].next_sibling;
                }
            }
        }
        Ok(at)
    }

    /// Puts a place into the hash table.
    fn remember(&mut self, at: u32) {
        let hash = self.hasher.hash_one(self.key(at));
        let (parents, links, hasher) = (&self.parents, &self.links, &self.hasher);
        self.known.insert_unique(hash, at, |at| {
            hasher.hash_one((parents[*at as usize], links[links_of(*at)].item))
        });
    }

    /// The places with what lies below them, in the order of a walk: after each place those below it, of several the costliest
    /// first, and of equally costly ones in the order of `before`.
    #[must_use]
    pub fn finish(self, mut before: impl FnMut(u32, u32) -> Ordering) -> Vec<Place> {
        let Self {
            links,
            parents,
            own,
            is_in,
            known,
            ..
        } = self;
        drop(known);
        let mut all = own.clone();
        // A place comes after the one that called it.
        for at in (0..all.len()).rev() {
            let parent = parents[at];
            if parent != NONE {
                let [base, new] = all[at];
                let above = &mut all[parent as usize];
                above[0] += base;
                above[1] += new;
            }
        }
        drop(parents);
        // Places that wait, each with the number that the place above it has got; the last one comes next.
        let mut walk: Vec<(u32, u32)> = Vec::new();
        let mut children: Vec<u32> = Vec::new();
        let mut wait = |walk: &mut Vec<(u32, u32)>, above: &Links, number: u32| {
            children.clear();
            let mut child = above.first_child;
            while child != NONE {
                children.push(child);
                child = links[links_of(child)].next_sibling;
            }
            if children.len() > 1 {
                let largest = |at: u32| all[at as usize][0].max(all[at as usize][1]);
                let item = |at: u32| links[links_of(at)].item;
                children.sort_unstable_by(|one, other| {
                    largest(*one)
                        .total_cmp(&largest(*other))
                        .then_with(|| before(item(*other), item(*one)))
                        .then(one.cmp(other))
                });
            }
            walk.extend(children.iter().map(|child| (*child, number)));
        };
        wait(&mut walk, &links[0], NONE);
        let mut ordered: Vec<Place> = Vec::with_capacity(own.len());
        while let Some((at, above)) = walk.pop() {
            let number = u32::try_from(ordered.len()).unwrap_or(NONE);
            let depth = match above {
                NONE => 0,
                above => ordered[above as usize].depth + 1,
            };
            let links = &links[links_of(at)];
            ordered.push(Place {
                parent: if above == NONE { number } else { above },
                item: links.item,
                depth,
                own: own[at as usize],
                all: all[at as usize],
                is_in: is_in[at as usize],
            });
            wait(&mut walk, links, number);
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
#[error("the trees have more than 4294967294 nodes together")]
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
