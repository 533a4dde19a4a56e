//! What reports say with every flag, by the definitions and without regard to time.
//!
//! Filters are those of pprof. A stack is the way from the root to a function node, its value the
//! node's exclusive cost. A focus keeps the stacks with a function that fits, `ignore` drops them,
//! `hide` takes functions out of them, whose value then belongs to the function before; nothing is
//! before the first one, and the value is dropped. Containers are part of the way, but no filter
//! fits them. A line is a part of its function: it is there while its function is and either has
//! kept its cost or still calls something from there, and what a hidden function cost belongs to
//! the line that called it, too. What is left is a run of its own, in which paths select. The total
//! stays that of the whole run.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::iter::once;

use profdb::report::Value;

use super::selection_model::{
    Model, Name, Path, Row, Sum, col, count, element_in, put, real, text,
};
use super::selection_runs::{Function, Run, Said};

/// A regular expression, and what it fits by name, module and file.
pub(crate) type Filter = (&'static str, fn(&Function) -> bool);

pub(crate) const FILTERS: [Filter; 9] = [
    ("^A$", |function| function.name == "A"),
    ("^B$", |function| function.name == "B"),
    ("B|C", |function| function.name.contains(['B', 'C'])),
    ("^f", |function| {
        function.name.starts_with('f') || function.file.starts_with('f')
    }),
    ("a\\.apl", |function| function.file.contains("a.apl")),
    ("^m$", |function| function.module == "m"),
    ("é|b", |function| function.name.contains(['é', 'b'])),
    ("C", |function| function.name.contains('C')),
    ("nobody", |_| false),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    Function,
    Module,
    File,
}

/// A question. A flag that a report does not have is not asked of it.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// Index of the metric.
    pub metric: usize,
    pub exclusive: bool,
    /// What `--thread` and `--fn` mean; `None` for the whole run.
    pub path: Option<Path>,
    pub focus: Option<Filter>,
    pub ignore: Option<Filter>,
    pub hide: Option<Filter>,
    pub by: By,
    pub sort: &'static str,
    pub first: Option<usize>,
    pub pct: Option<f64>,
    /// The running percentage is a column.
    pub cumpct: bool,
    pub depth: Option<usize>,
    pub min_pct: Option<f64>,
    pub percent_of_selection: bool,
    /// In ms.
    pub bias: Option<f64>,
}

/// Rows, cost and percentage that are left out.
pub(crate) type Pruned = (i64, f64, Option<f64>);

/// An answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub total: f64,
    pub selected: Option<f64>,
    pub pruned: Option<Pruned>,
    /// In order.
    pub rows: Vec<Row>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    Usage,
    NothingSelected,
}

/// What the database says of a run that a model cannot know.
pub(crate) struct Numbers {
    /// Nodes of earlier runs.
    pub before: i64,
    /// The numbers of the functions.
    pub functions: Vec<i64>,
}

/// What is left of a run, and what it was before.
struct Left<'l> {
    model: Model<'l>,
    /// Indexes of the nodes before.
    nodes: &'l [usize],
    numbers: &'l Numbers,
    filtered: bool,
    /// Whether rows that cost nothing are left out.
    leaves_out: bool,
    /// 100 % of percentages.
    base: f64,
}

/// Reports that have one order.
const RANKINGS: [&str; 2] = ["exclusive", "cumulative"];

/// One line of a report that ranks its rows: figures, what comes first where they are equal, and
/// the rest of the row.
#[derive(Clone)]
struct Entry {
    sum: Sum,
    ties: Vec<Value>,
    row: Row,
}

fn is_fitting(run: &Run, (_, fits): &Filter, function: usize) -> bool {
    let function = &run.functions[function];
    !function.kind.is_container() && fits(function)
}

/// What to ignore and what to hide, if that finds anything: otherwise it leaves out nothing.
fn leaving_out(run: &Run, whole: &Model<'_>, asked: &Asked) -> [Option<Filter>; 2] {
    let finds = |filter: &Filter| {
        whole
            .known
            .iter()
            .any(|&function| is_fitting(run, filter, function))
    };
    [asked.ignore, asked.hide].map(|filter| filter.filter(finds))
}

/// Whether a report leaves out rows that cost nothing: totals hold them only in the metric that is
/// the run's own choice, from which come all rows for another timer bias than the stored one, too.
pub(crate) fn leaves_out_nothings(run: &Run, report: &str, asked: &Asked) -> bool {
    let leaving_out = leaving_out(run, &Model::of(run), asked);
    let is_of_totals = asked.path.is_none()
        && asked.focus.is_none()
        && leaving_out.iter().all(Option::is_none)
        && asked.by == By::Function
        && !["tree", "bottom_up", "paths"].contains(&report);
    is_of_totals
        && asked.metric != run.default
        && shift(run, report, asked).is_ok_and(|shift| shift == 0.0)
}

pub(crate) fn reply(
    run: &Run,
    report: &'static str,
    asked: &Asked,
    numbers: &Numbers,
) -> Result<Reply, Refusal> {
    let shift = shift(run, report, asked)?;
    let shifted = shifted(run, asked.metric, shift);
    let whole = Model::of(run);
    let total = whole.totals[asked.metric] + shift * whole.totals[1];
    let [ignore, hide] = leaving_out(run, &whole, asked);
    let filters = [asked.focus, ignore, hide];
    let filtered = filters.iter().any(Option::is_some);
    let fits = |filter: &Filter, function: usize| is_fitting(run, filter, function);
    if asked
        .focus
        .is_some_and(|focus| !whole.known.iter().any(|&function| fits(&focus, function)))
    {
        return Err(Refusal::NothingSelected);
    }
    // Where modules are unknown, or files, there is nothing to tell apart.
    let has_group = |&function: &usize| {
        let Function {
            kind, module, file, ..
        } = &run.functions[function];
        !kind.is_container()
            && if asked.by == By::Module {
                !module.is_empty()
            } else {
                !file.is_empty()
            }
    };
    if asked.by != By::Function && !whole.known.iter().any(has_group) {
        return Err(Refusal::NothingSelected);
    }
    let (rest, nodes) = if filtered {
        leave(&shifted, filters, fits)
    } else {
        (shifted, (0..run.nodes.len()).collect())
    };
    let model = Model {
        // Names mean the functions of the whole run, also those that filters leave no node of.
        known: whole.known,
        ..Model::of(&rest)
    };
    let all: BTreeSet<usize> = (0..rest.nodes.len()).collect();
    let members = asked.path.as_ref().map_or(all, |path| model.members(path));
    let tops: Vec<usize> = members
        .iter()
        .copied()
        .filter(|&node| model.is_outermost(node, &members))
        .collect();
    let selects = asked.path.is_some() || filtered;
    if selects && tops.is_empty() {
        return Err(Refusal::NothingSelected);
    }
    let cost: f64 = tops
        .iter()
        .filter_map(|&top| model.figures[top][asked.metric].1)
        .sum();
    let selected = selects.then_some(cost);
    let base = selected
        .filter(|_| asked.percent_of_selection)
        .unwrap_or(total);
    let left = Left {
        model,
        nodes: &nodes,
        numbers,
        filtered,
        leaves_out: leaves_out_nothings(run, report, asked),
        base,
    };
    let (rows, pruned) = left.rows(report, asked, &members, &tops);
    Ok(Reply {
        total,
        selected,
        pruned,
        rows,
    })
}

/// What is to be added to a time for each of its ticks.
fn shift(run: &Run, report: &str, asked: &Asked) -> Result<f64, Refusal> {
    match (asked.bias, run.bias_applied) {
        (Some(_), _) if asked.metric != 0 => Err(Refusal::Usage),
        (Some(_), None) => Err(Refusal::Usage),
        (Some(bias), Some(applied)) => Ok(applied - bias * 1e6),
        (None, Some(applied)) if report == "data" && asked.metric == 0 => Ok(applied),
        (None, _) => Ok(0.0),
    }
}

fn shifted(run: &Run, metric: usize, shift: f64) -> Run {
    let mut run = run.clone();
    if shift != 0.0 {
        for node in &mut run.nodes {
            node.own[metric] += shift * node.own[1];
            // Without the ticks of what was called, the time cannot be corrected: it is as unknown
            // as they are.
            if node.said[1] == Said::OwnOnly {
                node.said[metric] = Said::OwnOnly;
            }
        }
    }
    run
}

/// What filters leave of a run, with the indexes of the nodes before.
fn leave(
    run: &Run,
    filters: [Option<Filter>; 3],
    fits: impl Fn(&Filter, usize) -> bool,
) -> (Run, Vec<usize>) {
    let model = Model::of(run);
    let nodes = &run.nodes;
    let [focus, ignore, hide] = filters;
    let way = |node: usize| {
        model
            .above(node)
            .chain(once(node))
            .map(|above| nodes[above].function)
    };
    let kept = |node: usize| {
        focus.is_none_or(|focus| way(node).any(|function| fits(&focus, function)))
            && !ignore.is_some_and(|ignore| way(node).any(|function| fits(&ignore, function)))
    };
    let hidden = |node: usize| hide.is_some_and(|hide| fits(&hide, nodes[node].function));
    let within = |node: usize| {
        (0..nodes.len()).filter(move |&other| other == node).chain(
            (0..nodes.len())
                .filter(|&other| model.is_below(other, node))
                .collect::<Vec<_>>(),
        )
    };
    let visible = |node: &usize| !hidden(*node) && within(*node).any(kept);
    let left: Vec<usize> = (0..nodes.len()).filter(visible).collect();
    let place = |node: usize| left.iter().position(|&other| other == node);
    let before = |node: usize| model.above(node).find(|&above| !hidden(above));
    let mut rest: Vec<_> = left.iter().map(|&node| nodes[node].clone()).collect();
    for (node, &was) in rest.iter_mut().zip(&left) {
        node.parent = before(was).and_then(place);
        // The node stays as part of a way to others, without the cost of its own stack.
        if !kept(was) {
            node.own = [0.0; 3];
        }
    }
    for node in
        (0..nodes.len()).filter(|&node| nodes[node].place.is_none() && hidden(node) && kept(node))
    {
        let Some(taker) = before(node) else { continue };
        let function = nodes[taker].place.and_then(|_| nodes[taker].parent);
        // A line that takes what a hidden function cost passes it on to its function, which holds
        // all that its lines do.
        for taker in once(taker).chain(function) {
            let taker = &mut rest[place(taker).expect("what is below it is kept")];
            for (own, taken) in taker.own.iter_mut().zip(nodes[node].own) {
                *own += taken;
            }
        }
    }
    (
        Run {
            nodes: rest,
            ..run.clone()
        },
        left,
    )
}

impl Left<'_> {
    fn rows(
        &self,
        report: &'static str,
        asked: &Asked,
        members: &BTreeSet<usize>,
        tops: &[usize],
    ) -> (Vec<Row>, Option<Pruned>) {
        let totals_do = !self.filtered && asked.by == By::Function;
        let alone = asked
            .path
            .as_ref()
            .filter(|_| totals_do)
            .and_then(|path| self.model.only_function(path));
        let is_container =
            alone.is_some_and(|alone| self.model.run.functions[alone].kind.is_container());
        let entries = match report {
            // A container is nobody's caller and nobody's callee.
            "calls" | "call_lines" | "callees" if is_container => Vec::new(),
            "calls" => self.calls(asked, members),
            "call_lines" => self.call_lines(asked, members),
            "callees" => self.callees(asked, members),
            "summary" | "exclusive" | "cumulative" => self.functions(report, asked, tops),
            "lines" => self.lines(asked, tops),
            "tree" => return self.tree(asked, tops),
            "bottom_up" => return self.bottom_up(asked, members, tops),
            "paths" => return (self.paths(asked, tops), None),
            "data" => return (self.data(asked, tops), None),
            report => panic!("no model of report {report}"),
        };
        (self.ranked(report, asked, entries), None)
    }

    fn percent(&self, figure: f64) -> Option<f64> {
        (self.base != 0.0).then(|| 100.0 * figure / self.base)
    }

    /// The function that stands for its group.
    fn group(&self, by: By, function: usize) -> Option<usize> {
        let functions = &self.model.run.functions;
        let of = |function: usize| match by {
            By::Function => String::new(),
            By::Module => functions[function].module.clone(),
            By::File => functions[function].file.clone(),
        };
        if by == By::Function {
            return Some(function);
        }
        let alike =
            |other: &&usize| !functions[**other].kind.is_container() && of(**other) == of(function);
        let group = self
            .model
            .known
            .iter()
            .filter(alike)
            .min_by_key(|other| self.numbers.functions[**other]);
        group
            .copied()
            .filter(|_| !functions[function].kind.is_container())
    }

    /// Name, module, file and kind of a group.
    fn label(&self, by: By, function: usize) -> [String; 4] {
        let function = &self.model.run.functions[function];
        let or = |text: &str, other: &str| {
            if text.is_empty() {
                other.to_owned()
            } else {
                text.to_owned()
            }
        };
        let Function {
            name,
            module,
            file,
            kind,
            ..
        } = function;
        match by {
            By::Function => [
                name.clone(),
                module.clone(),
                file.clone(),
                kind.name().to_owned(),
            ],
            By::Module => [
                or(module, "(module unknown)"),
                module.clone(),
                String::new(),
                "module".to_owned(),
            ],
            By::File => [
                or(file, "(file unknown)"),
                String::new(),
                file.clone(),
                "file".to_owned(),
            ],
        }
    }

    fn number(&self, function: Option<usize>) -> Value {
        Value::Integer(function.map_or(0, |function| self.numbers.functions[function]))
    }

    fn functions(&self, report: &str, asked: &Asked, tops: &[usize]) -> Vec<Entry> {
        let key = |node: usize| {
            self.model
                .listed(node)
                .and_then(|function| self.group(asked.by, function))
        };
        let entry = |(function, sum)| {
            let [name, module, file, kind] = self.label(asked.by, function).map(Value::Text);
            let mut row = Row::new();
            let ties = vec![
                name.clone(),
                module.clone(),
                file.clone(),
                self.number(Some(function)),
            ];
            put(&mut row, "function", name);
            put(&mut row, "line", Value::Null);
            put(&mut row, "module", module);
            put(&mut row, "file", file);
            if report == "summary" {
                put(&mut row, "kind", kind);
            }
            Entry { sum, ties, row }
        };
        self.model
            .sums(asked.metric, tops, key)
            .map(entry)
            .collect()
    }

    fn lines(&self, asked: &Asked, tops: &[usize]) -> Vec<Entry> {
        let entry = |((function, place), sum): ((usize, super::selection_runs::Place), _)| {
            let known = &self.model.run.functions[function];
            let mut row = Row::new();
            let at = Some((place.line, place.col));
            let element = element_in(&known.name, place.file, at);
            put(&mut row, "element", text(&element));
            put(&mut row, "line_file", file_of_line(place.file));
            put(&mut row, "function", text(&known.name));
            put(&mut row, "line", Value::Integer(place.line.into()));
            put(&mut row, "col", col(at));
            put(&mut row, "module", text(&known.module));
            put(
                &mut row,
                "file",
                text(if place.file.is_empty() {
                    &known.file
                } else {
                    place.file
                }),
            );
            let numbers = [place.line, place.col].map(|number| Value::Integer(number.into()));
            let [line, column] = numbers;
            let ties = vec![
                text(&known.name),
                line,
                column,
                text(&known.module),
                text(place.file),
                self.number(Some(function)),
            ];
            Entry { sum, ties, row }
        };
        self.model
            .sums(asked.metric, tops, |node| self.model.line(node))
            .map(entry)
            .collect()
    }

    fn caller(&self, by: By, node: usize) -> Option<usize> {
        self.model
            .calling(node)
            .and_then(|caller| self.group(by, caller))
    }

    fn calls(&self, asked: &Asked, members: &BTreeSet<usize>) -> Vec<Entry> {
        let sums = self
            .model
            .arrivals(asked.metric, members, |node| self.caller(asked.by, node));
        sums.map(|(caller, sum)| self.call(asked.by, caller, None, sum))
            .collect()
    }

    fn call_lines(&self, asked: &Asked, members: &BTreeSet<usize>) -> Vec<Entry> {
        let key = |node: usize| {
            let nodes = &self.model.run.nodes;
            let place = nodes[node].parent.and_then(|parent| nodes[parent].place);
            (self.caller(By::Function, node), Some(place))
        };
        let sums = self.model.arrivals(asked.metric, members, key);
        sums.map(|((caller, line), sum)| self.call(By::Function, caller, line, sum))
            .collect()
    }

    /// `line` is there if lines are told apart.
    fn call(
        &self,
        by: By,
        caller: Option<usize>,
        line: Option<Option<super::selection_runs::Place>>,
        sum: Sum,
    ) -> Entry {
        let label = caller.map(|caller| self.label(by, caller));
        let name = label
            .as_ref()
            .map_or("(root)", |[name, ..]| name)
            .to_owned();
        let [caller_name, module, file] = match label {
            Some([name, module, file, _]) => [name, module, file].map(Value::Text),
            None => [Value::Null, Value::Null, Value::Null],
        };
        let mut ties = vec![text(&name)];
        let mut row = Row::new();
        let elsewhere = line.flatten().map_or("", |place| place.file);
        let file_of_place = match file_of_line(elsewhere) {
            Value::Null => file.clone(),
            elsewhere => elsewhere,
        };
        if let Some(place) = line {
            let line = place.map(|place| (place.line, place.col));
            let number = line.map_or(Value::Null, |(line, _)| Value::Integer(line.into()));
            ties.extend([number.clone(), col(line)]);
            put(
                &mut row,
                "element",
                text(&element_in(&name, elsewhere, line)),
            );
            put(&mut row, "line_file", file_of_line(elsewhere));
            put(&mut row, "name", text(&name));
            put(&mut row, "caller_line", number);
            put(&mut row, "caller_col", col(line));
        } else {
            put(&mut row, "element", text(&name));
            put(&mut row, "line", Value::Null);
        }
        ties.extend([
            module.clone(),
            file_of_place,
            self.number(caller),
            text("call"),
        ]);
        put(&mut row, "caller", caller_name);
        put(&mut row, "caller_module", module);
        put(&mut row, "caller_file", file);
        put(&mut row, "kind", text("call"));
        Entry { sum, ties, row }
    }

    /// Calls from any of the members; the cost of those that no other call of the same group
    /// encloses.
    fn callees(&self, asked: &Asked, members: &BTreeSet<usize>) -> Vec<Entry> {
        let called = |node: usize| {
            let is_called = self.model.run.nodes[node].place.is_none()
                && self
                    .model
                    .caller(node)
                    .is_some_and(|caller| members.contains(&caller));
            is_called
                .then(|| self.group(asked.by, self.model.run.nodes[node].function))
                .flatten()
        };
        let mut sums = BTreeMap::new();
        for node in 0..self.model.run.nodes.len() {
            let Some(group) = called(node) else { continue };
            let nested = self
                .model
                .above(node)
                .any(|above| called(above) == Some(group));
            let (exclusive, cumulative) = self.model.figures[node][asked.metric];
            let cumulative = cumulative.map(|cumulative| if nested { 0.0 } else { cumulative });
            let sum = sums.entry(group).or_insert(Sum::NOTHING);
            sum.add(self.model.run.nodes[node].calls, exclusive, cumulative);
        }
        let entry = |(callee, sum)| {
            let [name, module, file, _] = self.label(asked.by, callee).map(Value::Text);
            let ties = vec![
                name.clone(),
                module.clone(),
                file.clone(),
                self.number(Some(callee)),
                text("call"),
            ];
            let mut row = Row::new();
            put(&mut row, "element", name.clone());
            put(&mut row, "line", Value::Null);
            put(&mut row, "callee", name);
            put(&mut row, "callee_module", module);
            put(&mut row, "callee_file", file);
            put(&mut row, "kind", text("call"));
            Entry { sum, ties, row }
        };
        sums.into_iter().map(entry).collect()
    }

    /// Whether a row is left out because it costs nothing.
    fn is_left_out(&self, sum: &Sum) -> bool {
        let is_nothing = |cost: f64| cost == 0.0;
        self.leaves_out && is_nothing(sum.exclusive) && sum.cumulative.is_none_or(is_nothing)
    }

    /// Rows in the order that was asked for; in that of their costs where no row knows what they
    /// were to be sorted by.
    fn ranked(&self, report: &str, asked: &Asked, entries: Vec<Entry>) -> Vec<Row> {
        let is_column = ["calls", "avg", "exclusive", "cumulative"].contains(&asked.sort);
        let there: Vec<Entry> = entries
            .iter()
            .filter(|entry| !self.is_left_out(&entry.sum))
            .cloned()
            .collect();
        let known = self.ranked_by(report, asked, asked.sort, there);
        let is_unknown = |row: &Row| row[asked.sort] == Value::Null;
        let by_cost =
            !RANKINGS.contains(&report) && is_column && known.first().is_some_and(is_unknown);
        let sort = if by_cost { "cost" } else { asked.sort };
        self.ranked_by(report, asked, sort, entries)
    }

    /// Order, cut, running sums, and the figures of every row.
    fn ranked_by(&self, report: &str, asked: &Asked, sort: &str, entries: Vec<Entry>) -> Vec<Row> {
        let is_ranking = RANKINGS.contains(&report);
        // Where the cost asked for is unknown in all rows, the own one is shown.
        let is_unknown = entries
            .iter()
            .all(|entry| entry.sum.cumulative.is_none() || self.is_left_out(&entry.sum));
        let exclusive = if is_ranking {
            report == "exclusive"
        } else {
            asked.exclusive || is_unknown
        };
        let shown = |sum: &Sum| {
            if exclusive {
                Some(sum.exclusive)
            } else {
                sum.cumulative
            }
        };
        let average = |sum: &Sum| {
            let calls = sum.calls.filter(|calls| *calls > 0)?;
            shown(sum).map(|shown| shown / f64::from(u32::try_from(calls).expect("few calls")))
        };
        let key = |sum: &Sum| match sort {
            _ if is_ranking => shown(sum),
            "calls" => sum
                .calls
                .map(|calls| f64::from(u32::try_from(calls).expect("few calls"))),
            "avg" => average(sum),
            "exclusive" => Some(sum.exclusive),
            "cumulative" => sum.cumulative,
            "name" => None,
            _ => shown(sum),
        };
        let mut entries = entries;
        entries.sort_by(|a, b| {
            let figures = compared(&real(key(&b.sum)), &real(key(&a.sum)));
            a.ties
                .iter()
                .zip(&b.ties)
                .fold(figures, |order, (a, b)| order.then_with(|| compared(a, b)))
        });
        entries.truncate(asked.first.unwrap_or(usize::MAX));
        let mut rows = Vec::new();
        let mut reached: Option<f64> = None;
        for (rank, Entry { sum, mut row, .. }) in (1..).zip(entries) {
            let shown = shown(&sum);
            let pct = shown.and_then(|shown| self.percent(shown));
            reached = match (reached, pct) {
                (Some(reached), Some(pct)) => Some(reached + pct),
                // Like SUM over a window: an unknown figure adds nothing, and the sum is unknown
                // before the first known one.
                (reached, pct) => reached.or(pct),
            };
            if asked
                .pct
                // As the reports have it (queries/reports/summary.sql): a sum of percentages misses
                // 100 by its last digits.
                .is_some_and(|limit| reached.is_none_or(|reached| reached > limit + 1e-9))
            {
                continue;
            }
            put(&mut row, "calls", count(sum.calls));
            let runs_up = is_ranking || asked.cumpct || asked.pct.is_some();
            // Inclusive costs contain each other, so they have no running share.
            if report != "cumulative" {
                put(&mut row, "cum_pct", real(reached.filter(|_| runs_up)));
            }
            if is_ranking {
                put(&mut row, "rank", Value::Integer(rank));
                put(&mut row, report, real(shown));
                put(&mut row, "pct", real(pct));
            } else {
                put(&mut row, "cost", real(shown));
                put(&mut row, "cost_pct", real(pct));
                put(&mut row, "avg", real(average(&sum)));
                put(&mut row, "exclusive", real(Some(sum.exclusive)));
                put(&mut row, "cumulative", real(sum.cumulative));
                put(
                    &mut row,
                    "cumulative_pct",
                    real(
                        sum.cumulative
                            .and_then(|cumulative| self.percent(cumulative)),
                    ),
                );
                if report == "summary" {
                    put(&mut row, "seen", real(sum.seen));
                }
                if ["summary", "lines"].contains(&report) {
                    let own = real(self.percent(sum.exclusive));
                    put(&mut row, "exclusive_pct", own.clone());
                    put(&mut row, "own", real(Some(sum.exclusive)));
                    put(&mut row, "own_pct", own);
                    put(&mut row, "whole", real(sum.cumulative));
                    let whole = row["cumulative_pct"].clone();
                    put(&mut row, "whole_pct", whole);
                }
            }
            rows.push(row);
        }
        rows
    }

    fn node_number(&self, node: usize) -> Value {
        Value::Integer(
            self.numbers.before + 1 + i64::try_from(self.nodes[node]).expect("few nodes"),
        )
    }

    fn within(&self, top: usize) -> impl Iterator<Item = usize> {
        (top..self.model.run.nodes.len())
            .filter(move |&node| node == top || self.model.is_below(node, top))
    }

    fn tree(&self, asked: &Asked, tops: &[usize]) -> (Vec<Row>, Option<Pruned>) {
        let mut rows = Vec::new();
        let mut pruned = (0, 0.0);
        for &top in tops {
            for node in self.within(top) {
                let depth = self.model.above(node).count() - self.model.above(top).count();
                let found = &self.model.run.nodes[node];
                let known = &self.model.run.functions[found.function];
                let (exclusive, cumulative) = self.model.figures[node][asked.metric];
                let pct = self.percent(cumulative.unwrap_or(exclusive));
                let is_shown = asked.depth.is_none_or(|limit| depth <= limit)
                    && asked
                        .min_pct
                        .is_none_or(|limit| pct.is_some_and(|pct| pct >= limit));
                if !is_shown {
                    pruned.0 += 1;
                    pruned.1 += if found.place.is_none() {
                        exclusive
                    } else {
                        0.0
                    };
                    continue;
                }
                let line = found.place.map(|place| (place.line, place.col));
                let file = found
                    .place
                    .map(|place| place.file)
                    .filter(|file| !file.is_empty());
                let ticks = |figure: Option<f64>| real(figure.filter(|_| !self.filtered));
                let mut row = Row::new();
                put(
                    &mut row,
                    "depth",
                    Value::Integer(i64::try_from(depth).expect("few nodes")),
                );
                let own = file.unwrap_or_default();
                put(
                    &mut row,
                    "element",
                    text(&element_in(&known.name, own, line)),
                );
                put(&mut row, "line_file", file_of_line(own));
                put(&mut row, "function", text(&known.name));
                put(
                    &mut row,
                    "line",
                    line.map_or(Value::Null, |(line, _)| Value::Integer(line.into())),
                );
                put(&mut row, "col", col(line));
                put(&mut row, "calls", count(found.calls));
                put(&mut row, "exclusive", real(Some(exclusive)));
                put(&mut row, "cumulative", real(cumulative));
                put(
                    &mut row,
                    "exclusive_ticks",
                    ticks(Some(self.model.figures[node][1].0)),
                );
                put(
                    &mut row,
                    "cumulative_ticks",
                    ticks(self.model.figures[node][1].1),
                );
                put(&mut row, "module", text(&known.module));
                put(&mut row, "file", text(file.unwrap_or(&known.file)));
                put(&mut row, "node_id", self.node_number(node));
                put(
                    &mut row,
                    "parent_id",
                    found
                        .parent
                        .map_or(Value::Null, |parent| self.node_number(parent)),
                );
                rows.push(row);
            }
        }
        rows.truncate(asked.first.unwrap_or(usize::MAX));
        let prunes = asked.depth.is_some() || asked.min_pct.is_some();
        (
            rows,
            prunes.then(|| (pruned.0, pruned.1, self.percent(pruned.1))),
        )
    }

    fn data(&self, asked: &Asked, tops: &[usize]) -> Vec<Row> {
        let key = |node: usize| {
            let function = self.model.run.nodes[node].function;
            let is_listed = !self.model.run.functions[function].kind.is_container();
            is_listed.then_some((function, self.model.run.nodes[node].place))
        };
        let ticks: BTreeMap<_, _> = self.model.sums(1, tops, key).collect();
        let mut entries: Vec<Entry> = Vec::new();
        for (at, sum) in self.model.sums(asked.metric, tops, key) {
            let (function, place) = at;
            let known = &self.model.run.functions[function];
            let line = place.map(|place| (place.line, place.col));
            let number = line.map_or(Value::Null, |(line, _)| Value::Integer(line.into()));
            let file = place.map(|place| place.file).unwrap_or_default();
            let mut ties = [&known.name, &known.module, &known.file]
                .map(|name| text(name))
                .to_vec();
            ties.extend([
                self.number(Some(function)),
                number.clone(),
                col(line),
                text(file),
            ]);
            let mut row = Row::new();
            put(
                &mut row,
                "element",
                text(&element_in(&known.name, file, line)),
            );
            put(&mut row, "line_file", file_of_line(file));
            put(&mut row, "function", text(&known.name));
            put(&mut row, "line", number);
            put(&mut row, "col", col(line));
            put(&mut row, "calls", count(sum.calls));
            put(&mut row, "exclusive", real(Some(sum.exclusive)));
            put(&mut row, "cumulative", real(sum.cumulative));
            put(
                &mut row,
                "exclusive_ticks",
                real(Some(ticks[&at].exclusive)),
            );
            put(&mut row, "cumulative_ticks", real(ticks[&at].cumulative));
            put(&mut row, "module", text(&known.module));
            put(
                &mut row,
                "file",
                text(if file.is_empty() { &known.file } else { file }),
            );
            entries.push(Entry { sum, ties, row });
        }
        let order = |a: &Entry, b: &Entry| {
            a.ties
                .iter()
                .zip(&b.ties)
                .fold(Ordering::Equal, |order, (a, b)| {
                    order.then_with(|| compared(a, b))
                })
        };
        entries.sort_by(order);
        entries.truncate(asked.first.unwrap_or(usize::MAX));
        entries.into_iter().map(|entry| entry.row).collect()
    }

    /// The function of a node and those that led to it, the nearest first, containers left out.
    fn chain(&self, node: usize) -> Vec<usize> {
        let callers = self
            .model
            .above(node)
            .filter_map(|above| self.model.listed(above));
        once(self.model.run.nodes[node].function)
            .chain(callers)
            .collect()
    }

    fn bottom_up(
        &self,
        asked: &Asked,
        members: &BTreeSet<usize>,
        tops: &[usize],
    ) -> (Vec<Row>, Option<Pruned>) {
        // Without a path, and within a thread, every function begins with its own cost.
        let begins = asked
            .path
            .as_ref()
            .is_some_and(|path| !matches!((&path.first, path.rest.len()), (Name::Thread(_), 0)));
        let mut chains: BTreeMap<Vec<usize>, Sum> = BTreeMap::new();
        let starts: Vec<usize> = if begins {
            members.iter().copied().collect()
        } else {
            tops.iter()
                .flat_map(|&top| self.within(top))
                .filter(|&node| self.model.listed(node).is_some())
                .collect()
        };
        let depth = asked.depth.unwrap_or(20);
        for node in starts {
            let (exclusive, cumulative) = self.model.figures[node][asked.metric];
            let cost = match (
                begins && !asked.exclusive,
                self.model.is_outermost(node, members),
            ) {
                (false, _) => exclusive,
                (true, true) => cumulative.expect("functions' are known"),
                (true, false) => 0.0,
            };
            let chain = self.chain(node);
            for length in 1..=chain.len().min(depth + 1) {
                let sum = chains
                    .entry(chain[..length].to_vec())
                    .or_insert(Sum::NOTHING);
                sum.add(self.model.run.nodes[node].calls, cost, None);
            }
        }
        let limit = asked.min_pct.unwrap_or(0.5);
        let mut rows = Vec::new();
        let first = self.grow(
            &chains,
            &[],
            limit,
            asked.first.unwrap_or(usize::MAX),
            &mut rows,
        );
        let mut pruned = (0, 0.0);
        for (chain, sum) in chains.iter().filter(|(chain, _)| chain.len() == 1) {
            if !first.contains(&chain[0]) {
                pruned.0 += 1;
                pruned.1 += sum.exclusive;
            }
        }
        (rows, Some((pruned.0, pruned.1, self.percent(pruned.1))))
    }

    /// The chains that continue one, each followed by those that continue it. Says by which
    /// functions.
    fn grow(
        &self,
        chains: &BTreeMap<Vec<usize>, Sum>,
        stem: &[usize],
        limit: f64,
        first: usize,
        rows: &mut Vec<Row>,
    ) -> Vec<usize> {
        let continues =
            |chain: &Vec<usize>| chain.len() == stem.len() + 1 && chain.starts_with(stem);
        let mut found: Vec<_> = chains
            .iter()
            .filter(|(chain, _)| continues(chain))
            .collect();
        found.retain(|(_, sum)| self.percent(sum.exclusive).is_some_and(|pct| pct >= limit));
        let ties = |chain: &[usize]| {
            let [name, module, file, _] = self.label(By::Function, chain[stem.len()]);
            (
                name,
                module,
                file,
                self.numbers.functions[chain[stem.len()]],
            )
        };
        found.sort_by(|(a, sum_a), (b, sum_b)| {
            sum_b
                .exclusive
                .total_cmp(&sum_a.exclusive)
                .then_with(|| ties(a).cmp(&ties(b)))
        });
        found.truncate(first);
        for (chain, sum) in &found {
            let function = &self.model.run.functions[chain[stem.len()]];
            let mut row = Row::new();
            put(
                &mut row,
                "depth",
                Value::Integer(i64::try_from(stem.len()).expect("few nodes")),
            );
            put(&mut row, "element", text(&function.name));
            put(&mut row, "function", text(&function.name));
            put(&mut row, "cost", real(Some(sum.exclusive)));
            put(&mut row, "pct", real(self.percent(sum.exclusive)));
            put(&mut row, "calls", count(sum.calls));
            put(&mut row, "module", text(&function.module));
            put(&mut row, "file", text(&function.file));
            rows.push(row);
            self.grow(chains, chain, limit, usize::MAX, rows);
        }
        found
            .into_iter()
            .map(|(chain, _)| chain[stem.len()])
            .collect()
    }

    fn paths(&self, asked: &Asked, tops: &[usize]) -> Vec<Row> {
        let own = |node: usize| self.model.figures[node][asked.metric].0;
        let is_hot = |node: &usize| {
            self.model.listed(*node).is_some()
                && own(*node) != 0.0
                && asked
                    .min_pct
                    .is_none_or(|limit| self.percent(own(*node)).is_some_and(|pct| pct >= limit))
        };
        let mut places: Vec<usize> = tops
            .iter()
            .flat_map(|&top| self.within(top))
            .filter(is_hot)
            .collect();
        places.sort_by(|&a, &b| own(b).total_cmp(&own(a)).then_with(|| a.cmp(&b)));
        places.truncate(asked.first.unwrap_or(10));
        let mut sum = None;
        let row = |node: usize| {
            let pct = self.percent(own(node));
            sum = pct.map(|pct| sum.unwrap_or(0.0) + pct);
            let (frames, path) = self.way(node, asked.depth.unwrap_or(100));
            let mut row = Row::new();
            put(&mut row, "exclusive", real(Some(own(node))));
            put(&mut row, "pct", real(pct));
            put(&mut row, "cum_pct", real(sum));
            put(&mut row, "calls", count(self.model.run.nodes[node].calls));
            put(
                &mut row,
                "cumulative",
                real(self.model.figures[node][asked.metric].1),
            );
            put(
                &mut row,
                "frames",
                Value::Integer(i64::try_from(frames).expect("few nodes")),
            );
            put(&mut row, "path", Value::Text(path));
            put(&mut row, "node_id", self.node_number(node));
            row
        };
        places.into_iter().map(row).collect()
    }

    /// The names on the way from the root to a node, at most so many of the last, with the lines
    /// that called.
    fn way(&self, node: usize, most: usize) -> (usize, String) {
        let nodes = &self.model.run.nodes;
        let name = |node: usize| &self.model.run.functions[nodes[node].function].name;
        let mut names = vec![name(node).clone()];
        let mut at = node;
        while let Some(caller) = self.model.caller(at) {
            let line = nodes[at].parent.and_then(|parent| nodes[parent].place);
            names.push(element_in(
                name(caller),
                line.map_or("", |place| place.file),
                line.map(|place| (place.line, place.col)),
            ));
            at = caller;
        }
        let most = most.max(1);
        let more = names.len() > most;
        names.truncate(most);
        names.reverse();
        (
            names.len(),
            format!("{}{}", if more { "... > " } else { "" }, names.join(" > ")),
        )
    }
}

/// The order of values in a report: NULL first, so that it comes last where figures fall.
fn compared(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Real(a), Value::Real(b)) => a.partial_cmp(b).expect("numbers"),
        (Value::Integer(a), Value::Integer(b)) => a.cmp(b),
        (Value::Text(a), Value::Text(b)) => a.cmp(b),
        (a, b) => (*a != Value::Null).cmp(&(*b != Value::Null)),
    }
}

/// The file of a line where it is not that of its function.
fn file_of_line(file: &str) -> Value {
    if file.is_empty() {
        Value::Null
    } else {
        text(file)
    }
}
