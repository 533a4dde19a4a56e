//! The trees of two sets of runs as one.

use std::borrow::Cow;

use hashbrown::HashMap;

use super::comparison::{Material, compared};
use super::grouped::program_of;
use super::judge::Verdict;
use super::pairs::Folders;
use super::request::{By, CompareError, Request};
use super::rows::Comparison;
use super::run::ComparedRun;
use super::tree::{Place, Union};
use crate::events::Kind;
use crate::identity::{Class, Identity};
use crate::store::{Below, Database, FunctionIdentity};

/// What stands at places of a union tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceItem {
    /// Name, module and file after the rules of identities.
    pub names: [String; 3],
    /// What sort of thing it is.
    pub kind: Kind,
    /// The verdict of the function, wherever it was called; `None` of containers, and of what is too small to be judged.
    pub verdict: Option<Verdict>,
}

/// Compares two sets of runs, and unites their trees.
///
/// # Errors
/// As [`super::compare`], and when a run knows no paths.
pub fn compare_trees(
    base: &[ComparedRun<'_>],
    new: &[ComparedRun<'_>],
    request: &Request,
) -> Result<(Comparison, Vec<Place>, Vec<PlaceItem>), CompareError> {
    if request.by != By::Function || !request.arguments.is_empty() {
        return Err(CompareError::Usage(
            "a comparison of trees takes no --by and no filters".to_owned(),
        ));
    }
    for run in base.iter().chain(new) {
        if run.run.fidelity != "tree" {
            return Err(CompareError::NothingSelected(format!(
                "{} has no call paths, so it has no tree; compare functions",
                run.said()
            )));
        }
    }
    let (comparison, material) = compared(base, new, request)?;
    let Material {
        sides,
        chosen,
        table,
        mut functions,
        verdicts,
    } = material;
    let mut items: Vec<PlaceItem> = table
        .items
        .iter()
        .zip(verdicts)
        .map(|(item, verdict)| PlaceItem {
            names: item.names.clone(),
            kind: Kind::Function,
            verdict,
        })
        .collect();
    let mut containers: HashMap<Vec<u8>, u32> = HashMap::new();
    let mut items_of: Vec<(&Database, Numbers)> = Vec::new();
    let mut union = Union::new();
    for (side, (runs, chosen)) in sides.iter().zip(&chosen).enumerate() {
        for ((run, chosen), told) in runs.iter().zip(chosen).zip(&comparison.sides[side].runs) {
            #[expect(clippy::cast_precision_loss, reason = "a number of runs")]
            let runs = runs.len() as f64;
            union.begin(side, 1.0 / (runs * told.factor));
            let known = items_of
                .iter()
                .position(|(database, _)| std::ptr::eq(*database, run.database));
            let at = known.unwrap_or_else(|| {
                items_of.push((run.database, Numbers::default()));
                items_of.len() - 1
            });
            let known = &mut items_of[at].1;
            let dictionary = functions.dictionary(run.database);
            let mut item_of = |function: i64| -> Result<u32, CompareError> {
                if let Some(item) = known.get(function) {
                    return Ok(item);
                }
                let row = dictionary.known(function).and_then(|item| table.row(item));
                let item = if let Some(row) = row {
                    row
                } else {
                    // What only holds others, and what cost nothing in this metric.
                    let identity = dictionary.identity(run, function)?;
                    let kind = identity.kind;
                    let key = key_of(&identity, &comparison.folders);
                    let next = items.len();
                    let item = *containers.entry(key).or_insert_with(|| {
                        items.push(PlaceItem {
                            names: identity.names.clone(),
                            kind,
                            verdict: None,
                        });
                        u32::try_from(next).unwrap_or(u32::MAX)
                    }) as usize;
                    // New comes last: where both have it, it is called as there.
                    items[item].names = identity.names;
                    item
                };
                let item = u32::try_from(item).unwrap_or(u32::MAX);
                known.insert(function, item);
                Ok(item)
            };
            run.database
                .each_wanted_call(run.run.run_id, chosen.metrics.cost, |node| {
                    union
                        .enter(node.depth, item_of(node.function_id)?, node.exclusive)
                        .map(|()| Below::Wanted)
                        .map_err(|error| CompareError::NothingSelected(error.to_string()))
                })?;
        }
    }
    let before = |one: u32, other: u32| items[one as usize].names.cmp(&items[other as usize].names);
    let places = union.finish(before);
    Ok((comparison, places, items))
}

/// What tells a thing that has no row from others. A process is called as its program, which may be another one in new, and of
/// whose name Linux may have kept the beginning.
fn key_of(identity: &FunctionIdentity, folders: &[Folders]) -> Vec<u8> {
    let program = Some(&identity.names[0])
        .filter(|_| !identity.is_code())
        .and_then(|name| program_of(name, folders));
    let Some(program) = program else {
        return identity.key.clone();
    };
    let called = Identity {
        class: Class::Container,
        name: Cow::Borrowed(program),
        module: Cow::Borrowed(""),
        file: Cow::Borrowed(""),
    };
    called.key().to_vec()
}

/// Items of functions by their numbers, which begin with 1 in a database and mostly go on without gaps.
#[derive(Default)]
struct Numbers {
    small: Vec<u32>,
    others: HashMap<i64, u32>,
}

/// Numbers of functions below this are places in a list.
const SMALL: usize = 1 << 22;

/// The item of a function that was not asked for.
const UNKNOWN: u32 = u32::MAX;

impl Numbers {
    #[inline]
    fn get(&self, function: i64) -> Option<u32> {
        let item = match usize::try_from(function) {
            Ok(at) if at < SMALL => self.small.get(at),
            _ => self.others.get(&function),
        };
        item.copied().filter(|item| *item != UNKNOWN)
    }

    fn insert(&mut self, function: i64, item: u32) {
        match usize::try_from(function) {
            Ok(at) if at < SMALL => {
                if self.small.len() <= at {
                    self.small.resize(at + 1, UNKNOWN);
                }
                self.small[at] = item;
            }
            _ => {
                self.others.insert(function, item);
            }
        }
    }
}
