//! Callers' trees: functions with their callers, the callers of those, and so on.
//!
//! Chains of functions are numbered, each after the one that it continues. A chain is shown only if all that it continues are,
//! so a pass adds up chains that continue those that are shown already, as many levels at once as
//! memory has room for, and the next pass goes on from there. Memory grows with the number of chains
//! that may be shown, and not with that of the nodes.

use std::cmp::Ordering;

use hashbrown::{HashMap, HashSet};
use rusqlite::Connection;

use super::limits::{LeftOut, Limits};
use super::names::{FunctionName, Names};
use super::pass::{Needs, Open, Pass, Selected, Visit, pass};
use super::question::NodeQuestion;
use super::sums::{CallSum, Calls};
use crate::base::sum::Sum;

/// Chains in memory before a pass looks at fewer levels.
const MOST_CHAINS: usize = if cfg!(debug_assertions) {
    // So that tests come here.
    16
} else {
    1 << 17
};

/// Marks the chain that those of level 0 continue.
const BEGIN: usize = usize::MAX;

/// Where callers' trees begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::report) enum Start {
    /// At every function, with its own cost.
    Everywhere,
    /// At what is selected, with all its cost.
    Selection,
    /// At what is selected, with its own cost.
    SelectionItself,
}

/// A row of a callers' tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::report) struct ChainRow {
    /// 0 for the functions that the report begins with.
    pub(in crate::report) level: i64,
    pub(in crate::report) function_id: i64,
    /// Calls of the first function of the chain that came this way; `None` if unknown.
    pub(in crate::report) calls: Option<CallSum>,
    /// What reached the first function of the chain by way of this one.
    pub(in crate::report) cost: f64,
}

/// The rows of callers' trees in their order, the functions that they could begin with and do not,
/// and what is selected; `base` says what of that is 100 %.
///
/// # Errors
/// When the database fails, and when the question is interrupted.
pub(in crate::report) fn bottom_up(
    connection: &Connection,
    question: &NodeQuestion,
    start: Start,
    limits: &Limits,
    base: impl Fn(&Selected) -> f64,
) -> rusqlite::Result<(Vec<ChainRow>, LeftOut, Selected)> {
    let mut chains = Chains {
        start,
        most_levels: limits.depth.map_or(usize::MAX, |depth| {
            usize::try_from(depth).map_or(0, |depth| depth.saturating_add(1))
        }),
        ..Chains::default()
    };
    let mut names = Names::new(connection)?;
    let mut left_out = LeftOut::default();
    let all_levels = chains.most_levels;
    let needs = Needs {
        all_above: true,
        ..Needs::default()
    };
    chains.worth = worth(connection, question, start, limits)?;
    // Most functions cost too little to begin with: their callers are not looked at.
    let is_limited = limits.min_pct.is_some() || limits.first.is_some();
    chains.most_levels = if is_limited && chains.worth.is_none() {
        all_levels.min(1)
    } else {
        all_levels
    };
    let mut selected = None;
    while chains.goes_on(all_levels) {
        chains.first.clear();
        let passed = pass(connection, question, needs, &mut chains)?;
        let selected = selected.get_or_insert(passed.selected);
        chains.settle(&limits.of(base(selected)), &mut names, &mut left_out)?;
        chains.most_levels = all_levels;
    }
    Ok((
        chains.rows(&mut names)?,
        left_out,
        selected.unwrap_or_default(),
    ))
}

/// Pairs of functions and their callers that cost enough to be shown, where the tables of totals say
/// so: these are far fewer than there are nodes. Only pairs that cost too little are left out, by
/// more than sums are rounded; whether one is shown is for the nodes to say.
fn worth(
    connection: &Connection,
    question: &NodeQuestion,
    start: Start,
    limits: &Limits,
) -> rusqlite::Result<Option<HashSet<(i64, i64)>>> {
    let Some(least) = limits.min_pct.filter(|least| *least > 0.0) else {
        return Ok(None);
    };
    let is_whole = question.path.is_empty()
        && !question.filters.any()
        && start == Start::Everywhere
        && question.costs.shift == 0.0;
    let metric = question.costs.metric.metric;
    let is_stated = "SELECT EXISTS (
        SELECT 1 FROM function_info WHERE metric_id = ?1 AND (recorded OR exclusive IS NULL)
    )";
    if !is_whole || connection.query_row(is_stated, [metric], |row| row.get(0))? {
        return Ok(None);
    }
    // Totals count a call from a function around a container, where the way up ends. What it costs
    // may be less than nothing.
    let has_inner_containers = "SELECT EXISTS (
        SELECT 1 FROM runs AS r
        CROSS JOIN function_info AS i ON i.metric_id = r.default_metric_id
        CROSS JOIN functions AS f ON f.function_id = i.function_id AND f.kind NOT IN ('function', 'pseudo')
        CROSS JOIN function_nodes AS p ON p.run_id = r.run_id AND p.function_id = f.function_id
        CROSS JOIN nodes AS n ON n.node_id = p.node_id
        CROSS JOIN nodes AS above ON above.node_id = n.parent_id
        CROSS JOIN functions AS g ON g.function_id = above.function_id AND g.kind IN ('function', 'pseudo')
        WHERE r.run_id = ?1
    )";
    if connection.query_row(has_inner_containers, [question.run], |row| row.get(0))? {
        return Ok(None);
    }
    let is_enough = |cost: f64| 100.0 * cost / limits.total >= least * (1.0 - 1e-9);
    let functions = "SELECT function_id, exclusive FROM function_info WHERE metric_id = ?1";
    let callers = "SELECT caller_id, SUM(exclusive) FROM edges
        WHERE metric_id = ?1 AND callee_id = ?2 AND caller_id <> 0 AND back = 0
        GROUP BY caller_id";
    let (mut functions, mut callers) =
        (connection.prepare(functions)?, connection.prepare(callers)?);
    let mut pairs = HashSet::new();
    let mut rows = functions.query([metric])?;
    while let Some(row) = rows.next()? {
        let (callee, cost): (i64, f64) = (row.get(0)?, row.get(1)?);
        if !is_enough(cost) {
            continue;
        }
        let mut rows = callers.query([metric, callee])?;
        while let Some(row) = rows.next()? {
            // A cost that is unknown may be enough.
            if row.get::<_, Option<f64>>(1)?.is_none_or(is_enough) {
                pairs.insert((callee, row.get(0)?));
            }
        }
    }
    Ok(Some(pairs))
}

/// A chain of functions, from callee to caller.
#[derive(Clone, Copy)]
struct Chain {
    /// The chain that it continues.
    up: usize,
    function: i64,
    level: usize,
    calls: Calls,
    cost: Sum,
}

struct Chains {
    start: Start,
    chains: Vec<Chain>,
    /// By the chain that is continued and the function that does.
    numbers: HashMap<(usize, i64), usize>,
    /// Levels of which it is known which chains are shown: there are no others.
    settled: usize,
    /// Levels that are looked at.
    most_levels: usize,
    /// Chains before the next attempt to look at fewer levels.
    room: usize,
    /// For each function of a pass, its chain at level 0; [`BEGIN`] if that is not looked up yet.
    first: Vec<usize>,
    /// See [`worth`].
    worth: Option<HashSet<(i64, i64)>>,
    /// The rows go no further.
    is_over: bool,
}

impl Default for Chains {
    fn default() -> Self {
        Self {
            start: Start::Everywhere,
            chains: Vec::new(),
            numbers: HashMap::new(),
            settled: 0,
            most_levels: usize::MAX,
            room: MOST_CHAINS,
            first: Vec::new(),
            worth: None,
            is_over: false,
        }
    }
}

impl Chains {
    /// Whether there may be further levels.
    fn goes_on(&self, all_levels: usize) -> bool {
        !self.is_over && self.settled < all_levels
    }

    /// The chain that continues another one, new if need be; `None` if it is not shown.
    fn continued(&mut self, up: usize, function: i64, level: usize) -> Option<usize> {
        if level < self.settled {
            return self.numbers.get(&(up, function)).copied();
        }
        let chains = &mut self.chains;
        let number = *self.numbers.entry((up, function)).or_insert_with(|| {
            chains.push(Chain {
                up,
                function,
                level,
                calls: Calls::default(),
                cost: Sum::default(),
            });
            chains.len() - 1
        });
        Some(number)
    }

    /// Looks at fewer levels, if one is left that is not settled.
    fn shrink(&mut self) {
        let deepest = self.chains.iter().map(|chain| chain.level).max();
        if let Some(deepest) = deepest.filter(|deepest| *deepest > self.settled) {
            self.most_levels = deepest;
            self.keep(|chain| chain.level < deepest);
        }
        // One level has to be added up, however many chains it has.
        self.room = MOST_CHAINS.max(2 * self.chains.len());
    }

    /// Drops chains, and those that continue them, which come after them.
    fn keep(&mut self, is_kept: impl Fn(&Chain) -> bool) {
        let mut now = vec![BEGIN; self.chains.len()];
        let mut kept = Vec::new();
        for (at, chain) in self.chains.iter().enumerate() {
            let up = match chain.up {
                BEGIN => BEGIN,
                up if now[up] == BEGIN => continue,
                up => now[up],
            };
            if is_kept(chain) {
                now[at] = kept.len();
                kept.push(Chain { up, ..*chain });
            }
        }
        self.first.clear();
        self.chains = kept;
        let numbers = self.chains.iter().enumerate();
        self.numbers = numbers
            .map(|(at, chain)| ((chain.up, chain.function), at))
            .collect();
    }

    /// Finds which of the chains that were added up are shown.
    fn settle(
        &mut self,
        limits: &Limits,
        names: &mut Names<'_>,
        left_out: &mut LeftOut,
    ) -> rusqlite::Result<()> {
        let before = self.settled;
        let all = if before == 0 {
            self.chains.clone()
        } else {
            Vec::new()
        };
        self.keep(|chain| chain.level < before || limits.is_much(chain.cost.value()));
        if before == 0 {
            if let Some(first) = limits.first {
                let first = usize::try_from(first).unwrap_or(usize::MAX);
                let begin: Vec<usize> = (0..self.chains.len())
                    .filter(|at| self.chains[*at].level == 0)
                    .collect();
                let shown = self.sorted(begin, names)?;
                let shown: Vec<i64> = shown
                    .into_iter()
                    .take(first)
                    .map(|at| self.chains[at].function)
                    .collect();
                let shown: hashbrown::HashSet<i64> = shown.into_iter().collect();
                self.keep(|chain| chain.level > 0 || shown.contains(&chain.function));
            }
            let mut cost = Sum::default();
            for chain in all.iter().filter(|chain| chain.level == 0) {
                if !self.numbers.contains_key(&(BEGIN, chain.function)) {
                    left_out.rows += 1;
                    cost.add(chain.cost.value());
                }
            }
            left_out.cost = cost.value();
        }
        let deepest = self.chains.iter().map(|chain| chain.level + 1).max();
        // Without a chain at the last level, none goes on.
        self.is_over = deepest.is_none_or(|levels| levels < self.most_levels);
        self.settled = self.most_levels;
        Ok(())
    }

    /// Chains that continue the same one, in their order.
    fn sorted(
        &self,
        mut chains: Vec<usize>,
        names: &mut Names<'_>,
    ) -> rusqlite::Result<Vec<usize>> {
        for at in &chains {
            names.of(self.chains[*at].function)?;
        }
        let key = |function: i64| {
            let FunctionName {
                name, module, file, ..
            } = names.known(function);
            (name, module, file, function)
        };
        chains.sort_by(|left, right| {
            let (left, right) = (&self.chains[*left], &self.chains[*right]);
            let by_cost = right.cost.value().partial_cmp(&left.cost.value());
            by_cost
                .unwrap_or(Ordering::Equal)
                .then_with(|| key(left.function).cmp(&key(right.function)))
        });
        Ok(chains)
    }

    /// All chains that are shown, each before those that continue it.
    fn rows(&self, names: &mut Names<'_>) -> rusqlite::Result<Vec<ChainRow>> {
        let mut below: HashMap<usize, Vec<usize>> = HashMap::new();
        for (at, chain) in self.chains.iter().enumerate() {
            below.entry(chain.up).or_default().push(at);
        }
        let mut rows = Vec::new();
        let mut next = self.sorted(below.remove(&BEGIN).unwrap_or_default(), names)?;
        next.reverse();
        while let Some(at) = next.pop() {
            let chain = &self.chains[at];
            rows.push(ChainRow {
                level: i64::try_from(chain.level).unwrap_or(i64::MAX),
                function_id: chain.function,
                calls: chain.calls.all(),
                cost: chain.cost.value(),
            });
            let further = self.sorted(below.remove(&at).unwrap_or_default(), names)?;
            next.extend(further.into_iter().rev());
        }
        Ok(rows)
    }
}

impl Visit for Chains {
    fn closed(&mut self, node: &Open, pass: &Pass<'_, '_>) -> rusqlite::Result<()> {
        let (is_start, cost) = match self.start {
            Start::Everywhere => (
                node.is_in_selection && node.place.is_none() && !pass.is_container(node.function),
                node.exclusive,
            ),
            Start::Selection if node.is_below_selected => (node.is_selected, 0.0),
            // Within another selected node, a node's cost is counted already.
            Start::Selection => (node.is_selected, node.cumulative.unwrap_or_default()),
            Start::SelectionItself => (node.is_selected, node.exclusive),
        };
        if !is_start {
            return Ok(());
        }
        let mut at = Some(node);
        let mut up = BEGIN;
        let mut level = 0;
        while level < self.most_levels
            && let Some(open) = at
            && (level == 0 || !pass.is_container(open.function))
        {
            let function = pass.functions.all[open.function].id;
            let is_worth = level != 1
                || self.worth.as_ref().is_none_or(|pairs| {
                    pairs.contains(&(pass.functions.all[node.function].id, function))
                });
            if !is_worth {
                break;
            }
            let known = self.first.get(open.function).copied().unwrap_or(BEGIN);
            let chain = if level == 0 && known != BEGIN {
                Some(known)
            } else {
                self.continued(up, function, level)
            };
            let Some(chain) = chain else {
                break;
            };
            if level == 0 && known == BEGIN {
                if self.first.len() <= open.function {
                    self.first.resize(open.function + 1, BEGIN);
                }
                self.first[open.function] = chain;
            }
            if level >= self.settled {
                self.chains[chain].calls.add(node.calls);
                self.chains[chain].cost.add(cost);
            }
            up = chain;
            level += 1;
            at = pass.caller(open);
        }
        if self.chains.len() > self.room {
            self.shrink();
        }
        Ok(())
    }
}
