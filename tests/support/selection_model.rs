//! What a path selects and what adds up there, by the definitions and without regard to time: every
//! question is answered by walking up from every node.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::successors;

use profdb::events::Kind;
use profdb::report::{Answer, Value};
use profdb::store::StoreError;

use super::selection_runs::{Function, Place, Run, Said};

/// A row by names of columns.
pub(crate) type Row = BTreeMap<String, Value>;

/// Removes what identifies the function of a row and is compared with the views instead
/// (`reports_equal_plain_sql` in `tests/round_trips`).
pub(crate) fn remove_definition(row: &mut Row) {
    for name in [
        "function_id",
        "first_line",
        "caller_first_line",
        "callee_first_line",
    ] {
        row.remove(name);
    }
    if row.contains_key("caller_line") {
        row.remove("file");
    }
}

/// The rows of an answer, by the names of its columns.
pub(crate) fn rows_of(answer: &mut Answer<'_>) -> Result<Vec<Row>, StoreError> {
    let columns: Vec<String> = answer
        .columns
        .iter()
        .map(|column| column.name.to_string())
        .collect();
    let mut rows = Vec::new();
    answer.each(|values| {
        rows.push(
            columns
                .iter()
                .cloned()
                .zip(values.iter().cloned())
                .collect(),
        );
        Ok::<_, StoreError>(())
    })?;
    Ok(rows)
}

/// A drill-down path as it is meant.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    pub first: Name,
    pub rest: Vec<(Operator, Name)>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Operator {
    /// `,`
    Within,
    /// `>`
    Direct,
}

#[derive(Clone, Debug)]
pub(crate) enum Name {
    Exact(String),
    Pattern(String),
    /// The threads of a name: `--thread`, always the first step.
    Thread(String),
}

impl Path {
    /// All functions of one name.
    pub(crate) fn to(name: &str) -> Self {
        Self {
            first: Name::Exact(name.to_owned()),
            rest: Vec::new(),
        }
    }
}

impl Name {
    pub(crate) fn text(&self) -> &str {
        let (Self::Exact(text) | Self::Pattern(text) | Self::Thread(text)) = self;
        text
    }

    /// Whether the name means a function; `all` are those of the run. A container is meant only by
    /// its name, and only where no function has it.
    fn fits<'r>(&self, function: &Function, mut all: impl Iterator<Item = &'r Function>) -> bool {
        let container = function.kind.is_container();
        match self {
            Self::Exact(name) if *name != function.name => false,
            Self::Exact(name) => {
                !container || !all.any(|other| other.name == *name && !other.kind.is_container())
            }
            Self::Pattern(pattern) => !container && glob(pattern, &function.name),
            Self::Thread(name) => function.kind == Kind::Thread && *name == function.name,
        }
    }
}

/// `*` fits any text, `?` any character, everything else itself.
fn glob(pattern: &str, text: &str) -> bool {
    let Some(first) = pattern.chars().next() else {
        return text.is_empty();
    };
    let pattern_rest = &pattern[first.len_utf8()..];
    let text_rest = text
        .chars()
        .next()
        .map(|next| (next, &text[next.len_utf8()..]));
    match (first, text_rest) {
        ('*', None) => glob(pattern_rest, text),
        // Exponential in the number of stars, which is no matter for patterns as short as these.
        ('*', Some((_, rest))) => glob(pattern_rest, text) || glob(pattern, rest),
        (_, None) => false,
        (wanted, Some((found, rest))) => {
            (wanted == '?' || wanted == found) && glob(pattern_rest, rest)
        }
    }
}

/// A run with the figures of all its nodes.
#[derive(Debug)]
pub(crate) struct Model<'r> {
    pub run: &'r Run,
    /// Exclusive and cumulative cost, by node and metric.
    pub figures: Vec<[(f64, Option<f64>); 3]>,
    /// By metric.
    pub totals: [f64; 3],
    /// The functions that names are looked up among.
    pub known: BTreeSet<usize>,
}

/// Sums over nodes. Unknown if one part is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sum {
    pub calls: Option<u64>,
    pub exclusive: f64,
    pub cumulative: Option<f64>,
    /// Cumulative cost with that of nested nodes.
    pub seen: Option<f64>,
}

impl Sum {
    pub(crate) const NOTHING: Self = Self {
        calls: Some(0),
        exclusive: 0.0,
        cumulative: Some(0.0),
        seen: Some(0.0),
    };

    pub(crate) fn add(&mut self, calls: Option<u64>, exclusive: f64, cumulative: Option<f64>) {
        self.calls = self.calls.zip(calls).map(|(sum, part)| sum + part);
        self.exclusive += exclusive;
        self.cumulative = self
            .cumulative
            .zip(cumulative)
            .map(|(sum, part)| sum + part);
    }
}

impl<'r> Model<'r> {
    pub(crate) fn of(run: &'r Run) -> Self {
        let mut figures = vec![[(0.0, None); 3]; run.nodes.len()];
        let mut totals = [0.0; 3];
        for (metric, total) in totals.iter_mut().enumerate() {
            // Cumulative cost of the functions that a node calls; a line's callees are its
            // function's.
            let mut callees = vec![0.0; run.nodes.len()];
            // From the last one: in pre-order, all callees of a node come after it.
            for (at, node) in run.nodes.iter().enumerate().rev() {
                let own = node.own[metric];
                let all: f64 = own + callees[at];
                let unknown = node.said[metric] == Said::OwnOnly;
                figures[at][metric] = (own, (!unknown).then_some(all));
                match node.parent {
                    Some(parent) => {
                        callees[parent] += if node.place.is_none() {
                            all
                        } else {
                            callees[at]
                        }
                    }
                    None => *total += if own < 0.0 { all } else { all.max(callees[at]) },
                }
            }
        }
        let known = run.nodes.iter().map(|node| node.function).collect();
        Self {
            run,
            figures,
            totals,
            known,
        }
    }

    /// The nodes above, the nearest first.
    pub(crate) fn above(&self, node: usize) -> impl Iterator<Item = usize> {
        successors(self.run.nodes[node].parent, |&above| {
            self.run.nodes[above].parent
        })
    }

    pub(crate) fn is_below(&self, node: usize, top: usize) -> bool {
        self.above(node).any(|above| above == top)
    }

    /// The function node that called, past a line of it.
    pub(crate) fn caller(&self, node: usize) -> Option<usize> {
        self.above(node)
            .find(|&above| self.run.nodes[above].place.is_none())
    }

    /// All function nodes of a name.
    fn named(&self, name: &Name) -> BTreeSet<usize> {
        let fits = |at: &usize| {
            let node = &self.run.nodes[*at];
            let all = self
                .known
                .iter()
                .map(|&function| &self.run.functions[function]);
            node.place.is_none() && name.fits(&self.run.functions[node.function], all)
        };
        (0..self.run.nodes.len()).filter(fits).collect()
    }

    /// All nodes that the last step of a path reaches.
    pub(crate) fn members(&self, path: &Path) -> BTreeSet<usize> {
        let mut members = self.named(&path.first);
        for (operator, name) in &path.rest {
            let follows = |&node: &usize| match operator {
                Operator::Within => self.above(node).any(|above| members.contains(&above)),
                Operator::Direct => self
                    .caller(node)
                    .is_some_and(|caller| members.contains(&caller)),
            };
            members = self.named(name).into_iter().filter(follows).collect();
        }
        members
    }

    pub(crate) fn is_outermost(&self, node: usize, members: &BTreeSet<usize>) -> bool {
        !self.above(node).any(|above| members.contains(&above))
    }

    /// The function, if a path of one step means exactly one.
    pub(crate) fn only_function(&self, path: &Path) -> Option<usize> {
        let functions: BTreeSet<usize> = self
            .named(&path.first)
            .into_iter()
            .map(|node| self.run.nodes[node].function)
            .collect();
        (path.rest.is_empty() && functions.len() == 1)
            .then(|| functions.first().copied())
            .flatten()
    }

    /// Sums by key over all nodes within the subtrees; the cumulative cost of those that no node of
    /// the same key encloses within the same subtree.
    pub(crate) fn sums<K: Ord>(
        &self,
        metric: usize,
        tops: &[usize],
        key: impl Fn(usize) -> Option<K>,
    ) -> impl Iterator<Item = (K, Sum)> {
        let mut sums = BTreeMap::new();
        for &top in tops {
            for node in top..self.run.nodes.len() {
                if node != top && !self.is_below(node, top) {
                    continue;
                }
                let Some(wanted) = key(node) else { continue };
                let encloses = |above: usize| {
                    (above == top || self.is_below(above, top))
                        && key(above).as_ref() == Some(&wanted)
                };
                let nested = self.above(node).any(encloses);
                let (exclusive, all) = self.figures[node][metric];
                let cumulative = all.map(|all| if nested { 0.0 } else { all });
                let sum = sums.entry(wanted).or_insert(Sum::NOTHING);
                sum.add(self.run.nodes[node].calls, exclusive, cumulative);
                sum.seen = sum.seen.zip(all).map(|(sum, part)| sum + part);
            }
        }
        sums.into_iter()
    }

    /// Sums by caller over all members; the cumulative cost of the outermost ones.
    pub(crate) fn arrivals<K: Ord>(
        &self,
        metric: usize,
        members: &BTreeSet<usize>,
        key: impl Fn(usize) -> K,
    ) -> impl Iterator<Item = (K, Sum)> {
        let mut sums = BTreeMap::new();
        for &node in members {
            let (exclusive, cumulative) = self.figures[node][metric];
            let cumulative = cumulative
                .filter(|_| self.is_outermost(node, members))
                // Members are functions, of which it is always known what they cost: the 0 hides
                // nothing unknown.
                .or(Some(0.0));
            let sum = sums.entry(key(node)).or_insert(Sum::NOTHING);
            sum.add(self.run.nodes[node].calls, exclusive, cumulative);
        }
        sums.into_iter()
    }

    /// Whole functions, those that reports list.
    pub(crate) fn listed(&self, node: usize) -> Option<usize> {
        let function = self.run.nodes[node].function;
        let is_listed = self.run.nodes[node].place.is_none()
            && !self.run.functions[function].kind.is_container();
        is_listed.then_some(function)
    }

    pub(crate) fn line(&self, node: usize) -> Option<(usize, Place)> {
        let node = &self.run.nodes[node];
        node.place.map(|place| (node.function, place))
    }

    /// The calling function; `None` at the root, to which containers pass through.
    pub(crate) fn calling(&self, node: usize) -> Option<usize> {
        self.caller(node).and_then(|caller| self.listed(caller))
    }
}

pub(crate) fn element(name: &str, line: Option<(u32, u32)>) -> String {
    match line {
        None => name.to_owned(),
        Some((line, 0)) => format!("{name}[{line}]"),
        Some((line, col)) => format!("{name}[{line}:{col}]"),
    }
}

/// The element of a line that may be of another file than its function, which then is not empty.
pub(crate) fn element_in(name: &str, file: &str, line: Option<(u32, u32)>) -> String {
    match line {
        Some(_) if !file.is_empty() => {
            let place = element("", line);
            format!("{name}[{file}:{}", &place[1..])
        }
        _ => element(name, line),
    }
}

pub(crate) fn col(line: Option<(u32, u32)>) -> Value {
    line.filter(|&(_, col)| col != 0)
        .map_or(Value::Null, |(_, col)| Value::Integer(col.into()))
}

pub(crate) fn put(row: &mut Row, column: &str, value: Value) {
    row.insert(column.to_owned(), value);
}

pub(crate) fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

pub(crate) fn real(figure: Option<f64>) -> Value {
    figure.map_or(Value::Null, Value::Real)
}

pub(crate) fn count(count: Option<u64>) -> Value {
    count.map_or(Value::Null, |count| {
        Value::Integer(i64::try_from(count).expect("few calls"))
    })
}
