//! What a path selects and what the reports say of it, by the definitions and without regard to time: every question is
//! answered by walking up from every node.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::iter::successors;

use profdb::events::Kind;
use profdb::report::Value;

use super::runs::{Function, Place, Run, Said};

/// A row by names of columns.
pub(crate) type Row = BTreeMap<String, Value>;

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
        Self { first: Name::Exact(name.to_owned()), rest: Vec::new() }
    }
}

impl Name {
    pub(crate) fn text(&self) -> &str {
        let (Self::Exact(text) | Self::Pattern(text) | Self::Thread(text)) = self;
        text
    }

    /// Whether the name means a function; `all` are those of the run. A container is meant only by its name, and only where
    /// no function has it.
    fn fits<'r>(&self, function: &Function, mut all: impl Iterator<Item = &'r Function>) -> bool {
        let container = function.kind.is_container();
        match self {
            Self::Exact(name) if *name != function.name => false,
            Self::Exact(name) => !container || !all.any(|other| other.name == *name && !other.kind.is_container()),
            Self::Pattern(pattern) => !container && glob(pattern, &function.name),
            Self::Thread(name) => function.kind == Kind::Thread && *name == function.name,
        }
    }
}

/// `*` fits any text, `?` any character, everything else itself.
fn glob(pattern: &str, text: &str) -> bool {
    let Some(first) = pattern.chars().next() else { return text.is_empty() };
    let pattern_rest = &pattern[first.len_utf8()..];
    let text_rest = text.chars().next().map(|next| (next, &text[next.len_utf8()..]));
    match (first, text_rest) {
        ('*', None) => glob(pattern_rest, text),
        ('*', Some((_, rest))) => glob(pattern_rest, text) || glob(pattern, rest),
        (_, None) => false,
        (wanted, Some((found, rest))) => (wanted == '?' || wanted == found) && glob(pattern_rest, rest),
    }
}

/// A run with the figures of all its nodes.
#[derive(Debug)]
pub(crate) struct Model<'r> {
    pub run: &'r Run,
    /// Exclusive and cumulative cost, by node and metric.
    pub figures: Vec<[(f64, Option<f64>); 3]>,
    /// By metric.
    totals: [f64; 3],
}

/// A question to a report.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question<'q> {
    pub report: &'static str,
    /// Index of the metric.
    pub metric: usize,
    /// `--exclusive`, if the report knows it.
    pub shown: Shown,
    /// What `--fn` means; `None` for the whole run.
    pub path: Option<&'q Path>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    Exclusive,
    Cumulative,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Reply {
    /// Cost of what is selected; `None` for the whole run.
    pub selected: Option<f64>,
    /// Rows in any order.
    pub rows: Vec<Row>,
    /// Totals of functions answer: in metrics other than the default one they have no rows for what costs nothing.
    pub from_totals: bool,
}

/// Sums over nodes. Unknown if one part is.
#[derive(Clone, Copy, Debug)]
struct Sum {
    calls: Option<u64>,
    exclusive: f64,
    cumulative: Option<f64>,
}

impl Sum {
    const NOTHING: Self = Self { calls: Some(0), exclusive: 0.0, cumulative: Some(0.0) };

    fn add(&mut self, calls: Option<u64>, exclusive: f64, cumulative: Option<f64>) {
        self.calls = self.calls.zip(calls).map(|(sum, part)| sum + part);
        self.exclusive += exclusive;
        self.cumulative = self.cumulative.zip(cumulative).map(|(sum, part)| sum + part);
    }
}

impl<'r> Model<'r> {
    pub(crate) fn of(run: &'r Run) -> Self {
        let mut figures = vec![[(0.0, None); 3]; run.nodes.len()];
        let mut totals = [0.0; 3];
        for (metric, total) in totals.iter_mut().enumerate() {
            // Cumulative cost of the functions that a node calls; a line's callees are its function's.
            let mut callees = vec![0.0; run.nodes.len()];
            for (at, node) in run.nodes.iter().enumerate().rev() {
                let own = node.own[metric];
                let all: f64 = own + callees[at];
                let unknown = node.said[metric] == Said::OwnOnly;
                figures[at][metric] = (own, (!unknown).then_some(all));
                match node.parent {
                    Some(parent) => callees[parent] += if node.place.is_none() { all } else { callees[at] },
                    None => *total += all.max(callees[at]),
                }
            }
        }
        Self { run, figures, totals }
    }

    /// The nodes above, the nearest first.
    fn above(&self, node: usize) -> impl Iterator<Item = usize> {
        successors(self.run.nodes[node].parent, |&above| self.run.nodes[above].parent)
    }

    fn is_below(&self, node: usize, top: usize) -> bool {
        self.above(node).any(|above| above == top)
    }

    /// The function node that called, past a line of it.
    fn caller(&self, node: usize) -> Option<usize> {
        self.above(node).find(|&above| self.run.nodes[above].place.is_none())
    }

    /// All function nodes of a name.
    fn named(&self, name: &Name) -> BTreeSet<usize> {
        let fits = |at: &usize| {
            let node = &self.run.nodes[*at];
            let all = self.run.nodes.iter().map(|node| &self.run.functions[node.function]);
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
                Operator::Direct => self.caller(node).is_some_and(|caller| members.contains(&caller)),
            };
            members = self.named(name).into_iter().filter(follows).collect();
        }
        members
    }

    fn is_outermost(&self, node: usize, members: &BTreeSet<usize>) -> bool {
        !self.above(node).any(|above| members.contains(&above))
    }

    /// The answer; `None` if nothing is selected. `before` is the number of nodes of earlier runs.
    pub(crate) fn reply(&self, question: &Question<'_>, before: i64) -> Option<Reply> {
        let all: BTreeSet<usize> = (0..self.run.nodes.len()).collect();
        let members = question.path.map_or_else(|| all.clone(), |path| self.members(path));
        if question.path.is_some() && members.is_empty() {
            return None;
        }
        let tops: Vec<usize> = members.iter().copied().filter(|&node| self.is_outermost(node, &members)).collect();
        let cost = tops.iter().filter_map(|&top| self.figures[top][question.metric].1).sum();
        let selected = question.path.map(|_| cost);
        let is_about_callers = question.report.starts_with("call");
        let alone = is_about_callers.then(|| question.path.and_then(|path| self.only_function(path))).flatten();
        let rows = match (question.report, alone) {
            // A container is called by nobody.
            (_, Some(function)) if self.run.functions[function].kind.is_container() => Vec::new(),
            ("calls", _) => self.calls(question, &members),
            ("call_lines", _) => self.call_lines(question, &members),
            ("summary", _) => self.summary(question, &tops),
            ("exclusive" | "cumulative", _) => self.ranking(question, &tops),
            ("lines", _) => self.lines(question, &tops),
            ("data", _) => self.data(question, &tops),
            ("tree", _) => self.tree(question, &tops, before),
            (report, _) => panic!("no model of report {report}"),
        };
        let from_totals = question.path.is_none() && question.report != "tree";
        Some(Reply { selected, rows, from_totals })
    }

    /// The function, if a path of one step means exactly one.
    fn only_function(&self, path: &Path) -> Option<usize> {
        let functions: BTreeSet<usize> =
            self.named(&path.first).into_iter().map(|node| self.run.nodes[node].function).collect();
        (path.rest.is_empty() && functions.len() == 1).then(|| functions.first().copied()).flatten()
    }

    /// Sums by key over all nodes within the subtrees; the cumulative cost of those that no node of the same key
    /// encloses within the same subtree.
    fn sums<K: Ord>(
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
                let encloses =
                    |above: usize| (above == top || self.is_below(above, top)) && key(above).as_ref() == Some(&wanted);
                let nested = self.above(node).any(encloses);
                let (exclusive, cumulative) = self.figures[node][metric];
                let cumulative = cumulative.map(|cumulative| if nested { 0.0 } else { cumulative });
                let sum = sums.entry(wanted).or_insert(Sum::NOTHING);
                sum.add(self.run.nodes[node].calls, exclusive, cumulative);
            }
        }
        sums.into_iter()
    }

    /// Sums by caller over all members; the cumulative cost of the outermost ones.
    fn arrivals<K: Ord>(
        &self,
        metric: usize,
        members: &BTreeSet<usize>,
        key: impl Fn(usize) -> K,
    ) -> impl Iterator<Item = (K, Sum)> {
        let mut sums = BTreeMap::new();
        for &node in members {
            let (exclusive, cumulative) = self.figures[node][metric];
            let cumulative = cumulative.filter(|_| self.is_outermost(node, members)).or(Some(0.0));
            let sum = sums.entry(key(node)).or_insert(Sum::NOTHING);
            sum.add(self.run.nodes[node].calls, exclusive, cumulative);
        }
        sums.into_iter()
    }

    /// Whole functions, those that reports list.
    fn listed(&self, node: usize) -> Option<usize> {
        let function = self.run.nodes[node].function;
        let is_listed = self.run.nodes[node].place.is_none() && !self.run.functions[function].kind.is_container();
        is_listed.then_some(function)
    }

    fn line(&self, node: usize) -> Option<(usize, Place)> {
        let node = &self.run.nodes[node];
        node.place.map(|place| (node.function, place))
    }

    /// The calling function; `None` at the root, to which containers pass through.
    fn calling(&self, node: usize) -> Option<usize> {
        self.caller(node).and_then(|caller| self.listed(caller))
    }

    fn summary(&self, question: &Question<'_>, tops: &[usize]) -> Vec<Row> {
        let sums = self.sums(question.metric, tops, |node| self.listed(node));
        let rows = sums.map(|(function, sum)| {
            let mut row = self.shown(question, sum);
            let known = &self.run.functions[function];
            put(&mut row, "function", text(&known.name));
            put(&mut row, "line", Value::Null);
            put(&mut row, "module", text(&known.module));
            put(&mut row, "file", text(&known.file));
            put(&mut row, "kind", text(known.kind.name()));
            row
        });
        rows.collect()
    }

    fn ranking(&self, question: &Question<'_>, tops: &[usize]) -> Vec<Row> {
        let sums = self.sums(question.metric, tops, |node| self.listed(node));
        let rows = sums.map(|(function, sum)| {
            let known = &self.run.functions[function];
            let figure = if question.report == "exclusive" { Some(sum.exclusive) } else { sum.cumulative };
            let mut row = Row::new();
            put(&mut row, question.report, real(figure));
            put(&mut row, "pct", self.percent(question.metric, figure));
            put(&mut row, "calls", count(sum.calls));
            put(&mut row, "function", text(&known.name));
            put(&mut row, "line", Value::Null);
            put(&mut row, "module", text(&known.module));
            put(&mut row, "file", text(&known.file));
            row
        });
        rows.collect()
    }

    fn lines(&self, question: &Question<'_>, tops: &[usize]) -> Vec<Row> {
        let sums = self.sums(question.metric, tops, |node| self.line(node));
        let rows = sums.map(|((function, place), sum)| {
            let mut row = self.shown(question, sum);
            self.put_place(&mut row, function, Some(place));
            row
        });
        rows.collect()
    }

    fn data(&self, question: &Question<'_>, tops: &[usize]) -> Vec<Row> {
        let key = |node: usize| {
            let function = self.run.nodes[node].function;
            let is_listed = !self.run.functions[function].kind.is_container();
            is_listed.then_some((function, self.run.nodes[node].place))
        };
        let ticks: BTreeMap<_, _> = self.sums(1, tops, key).collect();
        let sums = self.sums(question.metric, tops, key);
        let rows = sums.map(|(at, sum)| {
            let mut row = Row::new();
            self.put_place(&mut row, at.0, at.1);
            put(&mut row, "calls", count(sum.calls));
            put(&mut row, "exclusive", real(Some(sum.exclusive)));
            put(&mut row, "cumulative", real(sum.cumulative));
            put(&mut row, "exclusive_ticks", real(Some(ticks[&at].exclusive)));
            put(&mut row, "cumulative_ticks", real(ticks[&at].cumulative));
            row
        });
        rows.collect()
    }

    fn tree(&self, question: &Question<'_>, tops: &[usize], before: i64) -> Vec<Row> {
        let id = |node: usize| Value::Integer(before + 1 + i64::try_from(node).expect("few nodes"));
        let mut rows = Vec::new();
        for &top in tops {
            let below = |&node: &usize| node == top || self.is_below(node, top);
            for node in (top..self.run.nodes.len()).filter(below) {
                let depth = self.above(node).count() - self.above(top).count();
                let found = &self.run.nodes[node];
                let (exclusive, cumulative) = self.figures[node][question.metric];
                let (exclusive_ticks, cumulative_ticks) = self.figures[node][1];
                let mut row = Row::new();
                self.put_place(&mut row, found.function, found.place);
                put(&mut row, "depth", Value::Integer(i64::try_from(depth).expect("few nodes")));
                put(&mut row, "calls", count(found.calls));
                put(&mut row, "exclusive", real(Some(exclusive)));
                put(&mut row, "cumulative", real(cumulative));
                put(&mut row, "exclusive_ticks", real(Some(exclusive_ticks)));
                put(&mut row, "cumulative_ticks", real(cumulative_ticks));
                put(&mut row, "node_id", id(node));
                put(&mut row, "parent_id", found.parent.map_or(Value::Null, id));
                rows.push(row);
            }
        }
        rows
    }

    fn calls(&self, question: &Question<'_>, members: &BTreeSet<usize>) -> Vec<Row> {
        let sums = self.arrivals(question.metric, members, |node| self.calling(node));
        let rows = sums.map(|(caller, sum)| {
            let mut row = self.arrival(question, caller, sum);
            put(&mut row, "element", text(caller.map_or("(root)", |caller| &self.run.functions[caller].name)));
            put(&mut row, "line", Value::Null);
            row
        });
        rows.collect()
    }

    fn call_lines(&self, question: &Question<'_>, members: &BTreeSet<usize>) -> Vec<Row> {
        let key = |node: usize| {
            let place = self.run.nodes[node].parent.and_then(|parent| self.run.nodes[parent].place);
            (self.calling(node), place.map(|place| (place.line, place.col)))
        };
        let sums = self.arrivals(question.metric, members, key);
        let rows = sums.map(|((caller, line), sum)| {
            let mut row = self.arrival(question, caller, sum);
            let name = caller.map_or("(root)", |caller| &self.run.functions[caller].name);
            put(&mut row, "name", text(name));
            put(&mut row, "element", text(&element(name, line)));
            put(&mut row, "caller_line", line.map_or(Value::Null, |(line, _)| Value::Integer(line.into())));
            put(&mut row, "caller_col", col(line));
            row
        });
        rows.collect()
    }

    fn arrival(&self, question: &Question<'_>, caller: Option<usize>, sum: Sum) -> Row {
        let caller = caller.map(|caller| &self.run.functions[caller]);
        let mut row = self.shown(question, sum);
        row.remove("exclusive_pct");
        put(&mut row, "caller", caller.map_or(Value::Null, |caller| text(&caller.name)));
        put(&mut row, "caller_module", caller.map_or(Value::Null, |caller| text(&caller.module)));
        put(&mut row, "caller_file", caller.map_or(Value::Null, |caller| text(&caller.file)));
        put(&mut row, "kind", text("call"));
        row
    }

    /// Figures with their percentages, and the one asked for.
    fn shown(&self, question: &Question<'_>, sum: Sum) -> Row {
        let figure = if question.shown == Shown::Exclusive { Some(sum.exclusive) } else { sum.cumulative };
        let mut row = Row::new();
        put(&mut row, "shown", real(figure));
        put(&mut row, "shown_pct", self.percent(question.metric, figure));
        put(&mut row, "calls", count(sum.calls));
        put(&mut row, "exclusive", real(Some(sum.exclusive)));
        put(&mut row, "exclusive_pct", self.percent(question.metric, Some(sum.exclusive)));
        put(&mut row, "cumulative", real(sum.cumulative));
        put(&mut row, "cumulative_pct", self.percent(question.metric, sum.cumulative));
        row
    }

    fn put_place(&self, row: &mut Row, function: usize, place: Option<Place>) {
        let known = &self.run.functions[function];
        let line = place.map(|place| (place.line, place.col));
        let file = place.map(|place| place.file).filter(|file| !file.is_empty());
        put(row, "element", text(&element(&known.name, line)));
        put(row, "function", text(&known.name));
        put(row, "module", text(&known.module));
        put(row, "file", text(file.unwrap_or(&known.file)));
        put(row, "line", line.map_or(Value::Null, |(line, _)| Value::Integer(line.into())));
        put(row, "col", col(line));
    }

    fn percent(&self, metric: usize, figure: Option<f64>) -> Value {
        let total = self.totals[metric];
        if total == 0.0 { Value::Null } else { real(figure.map(|figure| 100.0 * figure / total)) }
    }
}

fn element(name: &str, line: Option<(u32, u32)>) -> String {
    match line {
        None => name.to_owned(),
        Some((line, 0)) => format!("{name}[{line}]"),
        Some((line, col)) => format!("{name}[{line}:{col}]"),
    }
}

fn col(line: Option<(u32, u32)>) -> Value {
    line.filter(|&(_, col)| col != 0).map_or(Value::Null, |(_, col)| Value::Integer(col.into()))
}

fn put(row: &mut Row, column: &str, value: Value) {
    row.insert(column.to_owned(), value);
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn real(figure: Option<f64>) -> Value {
    figure.map_or(Value::Null, Value::Real)
}

fn count(count: Option<u64>) -> Value {
    count.map_or(Value::Null, |count| Value::Integer(i64::try_from(count).expect("few calls")))
}
