//! What rows are about, and which functions of a database are of which row.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use hashbrown::HashMap;

use super::matched::Matched;
use super::run::ComparedRun;
use crate::identity::Rules;
use crate::store::{FunctionIdentity, FunctionSum, StoreError};

/// What a row is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its name, module and file after the rules of identities, as new has them where both sides have the row.
    pub names: [String; 3],
    /// Whether it has a name. A row without one adds up the unnamed functions of a module.
    pub is_named: bool,
    /// How the two sides were matched.
    pub matched: Matched,
    /// `--fn` names it, so that no threshold hides it.
    pub is_asked: bool,
}

/// The item of a container.
const NO_ITEM: u32 = u32::MAX;

/// Items by what makes them one.
#[derive(Default)]
pub(super) struct Items {
    known: HashMap<Vec<u8>, usize>,
    items: Vec<Item>,
}

impl Items {
    /// The place of an item.
    pub(super) fn of(&mut self, key: Vec<u8>, item: impl FnOnce() -> Item) -> usize {
        let items = &mut self.items;
        *self.known.entry(key).or_insert_with(|| {
            items.push(item());
            items.len() - 1
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The place of an item that has been read.
    pub(super) fn known(&self, key: &[u8]) -> Option<usize> {
        self.known.get(key).copied()
    }

    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    /// The items, and their order by what makes them one.
    pub(super) fn in_order(self) -> (Vec<Item>, Vec<usize>) {
        // The first bytes of hashes tell nearly all apart.
        let start = |key: &[u8]| {
            let mut start = [0; 8];
            let length = key.len().min(8);
            start[..length].copy_from_slice(&key[..length]);
            u64::from_be_bytes(start)
        };
        let known = self.known.into_iter();
        let mut order: Vec<(u64, Vec<u8>, usize)> =
            known.map(|(key, item)| (start(&key), key, item)).collect();
        order.sort_unstable();
        let order = order.into_iter().map(|(_, _, item)| item).collect();
        (self.items, order)
    }
}

/// The items of the functions of a database, as far as they have been asked for.
#[derive(Default)]
pub(super) struct Dictionary {
    /// In the order of the functions' numbers, in which runs list them, too; `NO_ITEM` for containers.
    items: Vec<(i64, u32)>,
    /// The rules by which identities are compared, where the database's own are others.
    pub(super) rules: Option<Arc<Rules>>,
    /// What functions are, as far as that has been learnt.
    identities: BTreeMap<i64, FunctionIdentity>,
}

impl Dictionary {
    /// Learns what all functions of a run are.
    pub(super) fn learn(&mut self, run: &ComparedRun<'_>, metric: i64) -> Result<(), StoreError> {
        let mut learnt = Vec::new();
        run.database.each_function_identity(
            metric,
            self.rules.as_deref(),
            |function| !self.identities.contains_key(&function),
            |function, identity| learnt.push((function, identity)),
        )?;
        self.identities.extend(learnt);
        Ok(())
    }

    /// Finds the items of all functions of a run, if one of them is unknown. They come in the order of their numbers.
    pub(super) fn find_all(
        &mut self,
        run: &ComparedRun<'_>,
        metric: i64,
        functions: impl Iterator<Item = i64>,
        items: &mut Items,
    ) -> Result<(), StoreError> {
        let mut known = Known::of(&self.items);
        if functions
            .into_iter()
            .all(|function| known.item(function).is_some())
        {
            return Ok(());
        }
        let mut found = Vec::new();
        let mut note = |function, identity| found.push((function, item_of(identity, items)));
        let is_wanted = |function: i64| self.place(function).is_err();
        match self.rules.as_deref() {
            None => run
                .database
                .each_identity_alone(metric, is_wanted, &mut note)?,
            rules => {
                let each = &mut note;
                run.database
                    .each_function_identity(metric, rules, is_wanted, each)?;
            }
        }
        self.insert_all(found);
        Ok(())
    }

    /// Where a function is among those that have been asked for, or would be.
    fn place(&self, function: i64) -> Result<usize, usize> {
        self.items
            .binary_search_by_key(&function, |(known, _)| *known)
    }

    /// Notes functions that were not there with their items.
    fn insert_all(&mut self, found: Vec<(i64, u32)>) {
        self.items.extend(found);
        self.items.sort_unstable();
    }

    /// Notes of all functions that have been learnt to which items they belong.
    pub(super) fn settle(&mut self, of: impl Fn(&FunctionIdentity) -> Option<usize>) {
        let mut found = Vec::new();
        for (function, identity) in &self.identities {
            if let Some(item) = of(identity).filter(|_| identity.is_code()) {
                found.push((*function, number(item)));
            }
        }
        found.retain(|(function, _)| self.place(*function).is_err());
        self.insert_all(found);
    }

    /// Calls a function for the item of each sum of a run, which come in the order of the functions' numbers and have been
    /// found; what only holds others is left out.
    pub(super) fn each_item(
        &self,
        run: &ComparedRun<'_>,
        items: &mut Items,
        sums: &[FunctionSum],
        mut each: impl FnMut(usize, &FunctionSum),
    ) -> Result<(), StoreError> {
        let mut known = Known::of(&self.items);
        for sum in sums {
            let item = match known.item(sum.function_id) {
                Some(item) => item,
                // A function without an identity is damage, which is said.
                None => item_of(self.identity(run, sum.function_id)?, items),
            };
            if item != NO_ITEM {
                each(item as usize, sum);
            }
        }
        Ok(())
    }

    /// What a function is that has been learnt.
    pub(super) fn learnt(&self, function: i64) -> Option<&FunctionIdentity> {
        self.identities.get(&function)
    }

    /// Keys of the identities of code of which some name, module or file fits, as it is or after the rules.
    pub(super) fn fitting(&self, fits: impl Fn(&str) -> bool) -> Vec<Vec<u8>> {
        let fitting = self.identities.values().filter(|identity| {
            let mut names = identity.names.iter().chain(&identity.raw);
            identity.is_code() && names.any(|name| fits(name))
        });
        fitting.map(|identity| identity.key.clone()).collect()
    }

    /// All identities that have been learnt.
    pub(super) fn all(&self) -> impl Iterator<Item = &FunctionIdentity> {
        self.identities.values()
    }

    /// The identities of code that have been learnt.
    pub(super) fn code(&self) -> impl Iterator<Item = &FunctionIdentity> {
        let identities = self.identities.values();
        identities.filter(|identity| identity.is_code())
    }

    /// The functions of some identities, in their order.
    pub(super) fn functions_of(&self, keys: &BTreeSet<Vec<u8>>) -> Vec<i64> {
        let mut identities = self.identities.iter();
        let functions = identities
            .by_ref()
            .filter(|(_, identity)| keys.contains(&identity.key));
        functions.map(|(function, _)| *function).collect()
    }

    /// What a function is.
    pub(super) fn identity(
        &self,
        run: &ComparedRun<'_>,
        function: i64,
    ) -> Result<FunctionIdentity, StoreError> {
        run.database
            .function_identity(function, self.rules.as_deref())
    }

    /// The functions that have been asked for, in the order of their numbers, each with its item; `None` if it only holds
    /// others.
    pub(super) fn functions(&self) -> impl Iterator<Item = (i64, Option<usize>)> {
        let items = self.items.iter();
        items.map(|(function, item)| (*function, (*item != NO_ITEM).then_some(*item as usize)))
    }

    /// The item of a function that has been asked for.
    pub(super) fn known(&self, function: i64) -> Option<usize> {
        let (_, item) = self.items[self.place(function).ok()?];
        (item != NO_ITEM).then_some(item as usize)
    }
}

/// The number of an item.
fn number(item: usize) -> u32 {
    u32::try_from(item).unwrap_or(NO_ITEM)
}

/// The item of an identity; none if it only holds others.
fn item_of(identity: FunctionIdentity, items: &mut Items) -> u32 {
    let is_code = identity.is_code();
    let FunctionIdentity {
        key,
        names,
        is_unnamed,
        ..
    } = identity;
    if !is_code {
        return NO_ITEM;
    }
    number(items.of(key, || Item {
        names,
        is_named: !is_unnamed,
        matched: Matched::Identity,
        is_asked: false,
    }))
}

/// Finds items of functions that are asked for in the order of their numbers.
struct Known<'d> {
    items: &'d [(i64, u32)],
}

impl<'d> Known<'d> {
    fn of(items: &'d [(i64, u32)]) -> Self {
        Self { items }
    }

    /// The item of a function, whose number is not below that of the one before; `None` if it is unknown.
    #[inline]
    fn item(&mut self, function: i64) -> Option<u32> {
        loop {
            let (first, rest) = self.items.split_first()?;
            if first.0 >= function {
                return (first.0 == function).then_some(first.1);
            }
            // Of many runs in one database, each has a few of its functions.
            self.items = match rest.get(SKIPPED) {
                Some((at, _)) if *at < function => {
                    &rest[rest.partition_point(|(known, _)| *known < function)..]
                }
                _ => rest,
            };
        }
    }
}

/// Functions that are passed over one by one before those between are left out together.
const SKIPPED: usize = 8;
