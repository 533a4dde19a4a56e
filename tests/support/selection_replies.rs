//! What the reports say of the whole run and of what a path selects, without any other flag.

use std::collections::{BTreeMap, BTreeSet};

use profdb::report::Value;

use super::selection_model::{Model, Path, Row, Sum, col, count, element_in, put, real, text};
use super::selection_runs::Place;

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
    /// Totals of functions answer: in metrics other than the default one they have no rows for what
    /// costs nothing.
    pub from_totals: bool,
}

impl Model<'_> {
    /// The answer; `None` if nothing is selected. `before` is the number of nodes of earlier runs.
    pub(crate) fn reply(&self, question: &Question<'_>, before: i64) -> Option<Reply> {
        let all: BTreeSet<usize> = (0..self.run.nodes.len()).collect();
        let members = question
            .path
            .map_or_else(|| all.clone(), |path| self.members(path));
        if question.path.is_some() && members.is_empty() {
            return None;
        }
        let tops: Vec<usize> = members
            .iter()
            .copied()
            .filter(|&node| self.is_outermost(node, &members))
            .collect();
        let cost = tops
            .iter()
            .filter_map(|&top| self.figures[top][question.metric].1)
            .sum();
        let selected = question.path.map(|_| cost);
        let is_about_callers = question.report.starts_with("call");
        let alone = is_about_callers
            .then(|| question.path.and_then(|path| self.only_function(path)))
            .flatten();
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
        let rows = self.with_known_costs(question, rows);
        let from_totals = question.path.is_none() && question.report != "tree";
        Some(Reply {
            selected,
            rows,
            from_totals,
        })
    }

    /// Where the cost asked for is unknown in all rows, the own one is shown.
    fn with_known_costs(&self, question: &Question<'_>, mut rows: Vec<Row>) -> Vec<Row> {
        // What costs nothing has no totals, unless the metric is the run's own choice.
        let from_totals = question.path.is_none() && question.metric != self.run.default;
        let is_nothing = |row: &Row| {
            from_totals
                && [&row["exclusive"], &row["cost"]].map(|cost| *cost == Value::Real(0.0))
                    == [true; 2]
        };
        let is_unknown = question.shown == Shown::Cumulative
            && rows.iter().all(|row| {
                row.contains_key("cost") && (row["cost"] == Value::Null || is_nothing(row))
            });
        if is_unknown {
            for row in &mut rows {
                let own = match row["exclusive"] {
                    Value::Real(own) => Some(own),
                    _ => None,
                };
                put(row, "cost", real(own));
                put(row, "cost_pct", self.percent(question.metric, own));
            }
        }
        rows
    }

    fn summary(&self, question: &Question<'_>, tops: &[usize]) -> Vec<Row> {
        let sums = self.sums(question.metric, tops, |node| self.listed(node));
        let rows = sums.map(|(function, sum)| {
            let mut row = self.shown(question, sum);
            side_by_side(&mut row);
            put(&mut row, "seen", real(sum.seen));
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
            let figure = if question.report == "exclusive" {
                Some(sum.exclusive)
            } else {
                sum.cumulative
            };
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
            side_by_side(&mut row);
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
            put(
                &mut row,
                "exclusive_ticks",
                real(Some(ticks[&at].exclusive)),
            );
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
                put(
                    &mut row,
                    "depth",
                    Value::Integer(i64::try_from(depth).expect("few nodes")),
                );
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
            put(
                &mut row,
                "element",
                text(caller.map_or("(root)", |caller| &self.run.functions[caller].name)),
            );
            put(&mut row, "line", Value::Null);
            row
        });
        rows.collect()
    }

    fn call_lines(&self, question: &Question<'_>, members: &BTreeSet<usize>) -> Vec<Row> {
        let key = |node: usize| {
            let place = self.run.nodes[node]
                .parent
                .and_then(|parent| self.run.nodes[parent].place);
            (self.calling(node), place)
        };
        let sums = self.arrivals(question.metric, members, key);
        let rows = sums.map(|((caller, place), sum)| {
            let line = place.map(|place| (place.line, place.col));
            let file = place.map_or("", |place| place.file);
            let mut row = self.arrival(question, caller, sum);
            let name = caller.map_or("(root)", |caller| &self.run.functions[caller].name);
            put(&mut row, "name", text(name));
            put(&mut row, "element", text(&element_in(name, file, line)));
            let elsewhere = (!file.is_empty()).then(|| text(file));
            put(&mut row, "line_file", elsewhere.unwrap_or(Value::Null));
            put(
                &mut row,
                "caller_line",
                line.map_or(Value::Null, |(line, _)| Value::Integer(line.into())),
            );
            put(&mut row, "caller_col", col(line));
            row
        });
        rows.collect()
    }

    fn arrival(&self, question: &Question<'_>, caller: Option<usize>, sum: Sum) -> Row {
        let caller = caller.map(|caller| &self.run.functions[caller]);
        let mut row = self.shown(question, sum);
        row.remove("exclusive_pct");
        put(
            &mut row,
            "caller",
            caller.map_or(Value::Null, |caller| text(&caller.name)),
        );
        put(
            &mut row,
            "caller_module",
            caller.map_or(Value::Null, |caller| text(&caller.module)),
        );
        put(
            &mut row,
            "caller_file",
            caller.map_or(Value::Null, |caller| text(&caller.file)),
        );
        put(&mut row, "kind", text("call"));
        row
    }

    /// Figures with their percentages, and the one asked for.
    fn shown(&self, question: &Question<'_>, sum: Sum) -> Row {
        let figure = if question.shown == Shown::Exclusive {
            Some(sum.exclusive)
        } else {
            sum.cumulative
        };
        let mut row = Row::new();
        put(&mut row, "cost", real(figure));
        put(&mut row, "cost_pct", self.percent(question.metric, figure));
        put(&mut row, "calls", count(sum.calls));
        put(&mut row, "exclusive", real(Some(sum.exclusive)));
        put(
            &mut row,
            "exclusive_pct",
            self.percent(question.metric, Some(sum.exclusive)),
        );
        put(&mut row, "cumulative", real(sum.cumulative));
        put(
            &mut row,
            "cumulative_pct",
            self.percent(question.metric, sum.cumulative),
        );
        row
    }

    fn put_place(&self, row: &mut Row, function: usize, place: Option<Place>) {
        let known = &self.run.functions[function];
        let line = place.map(|place| (place.line, place.col));
        let file = place
            .map(|place| place.file)
            .filter(|file| !file.is_empty());
        let own = file.unwrap_or_default();
        put(row, "element", text(&element_in(&known.name, own, line)));
        put(row, "line_file", file.map_or(Value::Null, text));
        put(row, "function", text(&known.name));
        put(row, "module", text(&known.module));
        put(row, "file", text(file.unwrap_or(&known.file)));
        put(
            row,
            "line",
            line.map_or(Value::Null, |(line, _)| Value::Integer(line.into())),
        );
        put(row, "col", col(line));
    }

    fn percent(&self, metric: usize, figure: Option<f64>) -> Value {
        let total = self.totals[metric];
        if total == 0.0 {
            Value::Null
        } else {
            real(figure.map(|figure| 100.0 * figure / total))
        }
    }
}

/// The columns of costs that are side by side hold what the others do.
fn side_by_side(row: &mut Row) {
    let columns = [
        ("own", "exclusive"),
        ("own_pct", "exclusive_pct"),
        ("whole", "cumulative"),
        ("whole_pct", "cumulative_pct"),
    ];
    for (beside, alone) in columns {
        let value = row[alone].clone();
        put(row, beside, value);
    }
}
