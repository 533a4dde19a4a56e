//! What runs are compared with where nothing says so.

use std::collections::BTreeSet;

use crate::compare::ComparedRun;
use crate::compare::order::{KEYS, Order};
use crate::history::{Position, Series, series};
use crate::store::{Database, StoreError, is_start_of_commit};

/// Branches that others come from, where runs have branches.
pub const TRUNKS: [&str; 3] = ["main", "master", "trunk"];

/// Positions of base that are compared with.
const POSITIONS: usize = 10;

/// Positions before these that tell whether base has made a step.
const EARLIER: usize = 50;

/// Runs of the database, and how they were chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The runs, the oldest first.
    pub runs: Vec<i64>,
    /// Runs of the same history before them, the oldest first.
    pub earlier: Vec<i64>,
    /// How they were chosen, or why there are none.
    pub said: String,
}

/// What is known of where the commit of new comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ancestry {
    /// The commit at which it left the branch that it is compared with.
    pub merge_base: Option<String>,
    /// The commits that led to it; `None` if that is unknown.
    pub ancestors: Option<BTreeSet<String>>,
}

impl Ancestry {
    /// Whether a commit may have led to that of new.
    fn may_have(&self, commit: Option<&str>) -> bool {
        match (&self.ancestors, commit) {
            (Some(ancestors), Some(commit)) => {
                // The next one in their order begins so, if any does.
                let mut from = ancestors.range(commit.to_owned()..);
                ancestors.contains(commit) || from.next().is_some_and(|next| are_one(next, commit))
            }
            _ => true,
        }
    }
}

/// The latest run, and those of its commit in its series.
///
/// # Errors
/// When the database cannot be read.
pub fn latest(database: &Database) -> Result<Vec<i64>, StoreError> {
    let all = series(database, None, &KEYS)?;
    let Some(series) = all.first() else {
        return Ok(Vec::new());
    };
    let latest = series.runs().map(|run| run.run_id).max();
    let is_it = |position: &&Position| {
        let mut runs = position.runs.iter();
        runs.any(|run| Some(run.run_id) == latest)
    };
    let position = series.positions.iter().find(is_it);
    Ok(position.map_or(Vec::new(), numbers))
}

fn numbers(position: &Position) -> Vec<i64> {
    position.runs.iter().map(|run| run.run_id).collect()
}

/// Whether two names are of one commit: one may be cut short. What was added to one (`-dirty`) makes it another.
fn are_one(one: &str, other: &str) -> bool {
    let may_be_cut = is_start_of_commit(one) && is_start_of_commit(other);
    one == other || may_be_cut && (one.starts_with(other) || other.starts_with(one))
}

/// Runs to compare with: those of the merge base where there are any, else the last ones of the branch that it came from, before
/// it, of commits that led to it as far as that is known. They are of the series of new, whatever its branch.
///
/// # Errors
/// When the database cannot be read.
pub fn choose(
    database: &Database,
    new: &[ComparedRun<'_>],
    ancestry: &Ancestry,
) -> Result<Choice, StoreError> {
    let none = |said: String| Choice {
        runs: Vec::new(),
        earlier: Vec::new(),
        said,
    };
    let is_new = |run: i64| {
        let mut runs = new.iter();
        runs.any(|new| std::ptr::eq(new.database, database) && new.run.run_id == run)
    };
    let keys: Vec<&str> = KEYS.into_iter().filter(|key| *key != "branch").collect();
    let all = series(database, None, &keys)?;
    let holds_new = |series: &&Series| series.runs().any(|run| is_new(run.run_id));
    let Some(series) = all.iter().find(holds_new) else {
        return Ok(none(
            "new is not a run of the database; name the baseline with --base".to_owned(),
        ));
    };
    let tag = |key: &str| new.iter().find_map(|run| run.tag(key));
    let merge_base = ancestry.merge_base.as_deref();
    if let Some(commit) = merge_base.or_else(|| tag("merge_base")) {
        let is_of = |position: &&Position| {
            let known = position.commit.as_deref();
            position.is_clean && known.is_some_and(|known| are_one(known, commit))
        };
        let runs: Vec<i64> = series
            .positions
            .iter()
            .filter(is_of)
            .flat_map(numbers)
            .collect();
        let runs: Vec<i64> = runs.into_iter().filter(|run| !is_new(*run)).collect();
        if !runs.is_empty() {
            return Ok(Choice {
                runs,
                earlier: Vec::new(),
                said: format!("the merge base, commit {commit}"),
            });
        }
    }
    let branch_of = |position: &Position| -> Option<String> {
        let mut runs = position.runs.iter();
        runs.find_map(|run| run.tag("branch").map(str::to_owned))
    };
    let own = tag("branch");
    let mut names = own
        .into_iter()
        .filter(|own| TRUNKS.contains(own))
        .chain(TRUNKS);
    let is_there = |name: &&str| {
        let mut positions = series.positions.iter();
        positions.any(|position| branch_of(position).as_deref() == Some(*name))
    };
    let has_branches = own.is_some() || TRUNKS.iter().any(is_there);
    let trunk = names.find(is_there);
    if has_branches && trunk.is_none() {
        return Ok(none(format!(
            "no run of this series has the branch {}; name the baseline with --base",
            TRUNKS.join(", ")
        )));
    }
    // What came later tells nothing of what was there before.
    let first_new = series
        .positions
        .iter()
        .position(|position| position.runs.iter().any(|run| is_new(run.run_id)));
    let is_trunk = trunk.is_none() || own == trunk;
    let before = match first_new {
        Some(first) if is_trunk => &series.positions[..first],
        _ => series.positions.as_slice(),
    };
    let of_trunk: Vec<&Position> = before
        .iter()
        .filter(|position| trunk.is_none() || branch_of(position).as_deref() == trunk)
        .filter(|position| !position.runs.iter().any(|run| is_new(run.run_id)))
        .filter(|position| ancestry.may_have(position.commit.as_deref()))
        .collect();
    // The commits that led to new are known, or asked of their order.
    let of_trunk = if is_trunk || ancestry.ancestors.is_some() {
        of_trunk
    } else {
        may_have_led(of_trunk, series, &is_new)
    };
    let (before, last) = of_trunk.split_at(of_trunk.len().saturating_sub(POSITIONS));
    let before = &before[before.len().saturating_sub(EARLIER)..];
    let runs: Vec<i64> = last.iter().flat_map(|position| numbers(position)).collect();
    let of = match trunk {
        Some(trunk) => format!(" of branch {trunk}"),
        None => String::new(),
    };
    Ok(if runs.is_empty() {
        none(format!("no earlier runs{of} of this series"))
    } else {
        let number = last.len();
        let commits = if last.iter().all(|position| position.commit.is_some()) {
            if number == 1 { "commit" } else { "commits" }
        } else if number == 1 {
            "run"
        } else {
            "runs"
        };
        Choice {
            said: format!("the last {number} {commits}{of}"),
            runs,
            earlier: before
                .iter()
                .flat_map(|position| numbers(position))
                .collect(),
        }
    })
}

/// The positions of another branch than that of new without those that came after new, as far as commits tell: no commit has more
/// commits before it than one that it led to, and none was made later.
fn may_have_led<'s>(
    of_trunk: Vec<&'s Position>,
    series: &Series,
    is_new: &dyn Fn(i64) -> bool,
) -> Vec<&'s Position> {
    for order in [Order::CommitCount, Order::CommitTime] {
        // Of several commits of new the first one tells what was before all of them.
        let of_new = series.runs().filter(|run| is_new(run.run_id));
        let of_new: Option<Vec<i64>> = of_new.map(|run| order.of(run)).collect();
        let of = |position: &&Position| position.runs.iter().find_map(|run| order.of(run));
        let places: Option<Vec<i64>> = of_trunk.iter().map(of).collect();
        let (Some(first), Some(places)) = (of_new.and_then(|new| new.into_iter().min()), places)
        else {
            continue;
        };
        let is_before = |place: i64| match order {
            // Commits may be made in one second, one after the other.
            Order::CommitTime => place <= first,
            _ => place < first,
        };
        let known = of_trunk.into_iter().zip(places);
        return known
            .filter(|(_, place)| is_before(*place))
            .map(|(position, _)| position)
            .collect();
    }
    of_trunk
}
