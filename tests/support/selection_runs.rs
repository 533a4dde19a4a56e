//! Runs as data: random recursive call trees, said to a builder and written to a database.

use std::fmt::{self, Debug, Formatter};
use std::iter::successors;

use profdb::base::error::Stop;
use profdb::events::{Cost, Frame, FunctionDef, Kind, Line, MetricId, Noise, RunFact, Sink, Unit};
use profdb::profile::TreeBuilder;
use profdb::store::Database;
use proptest::array::uniform3;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::made_runs::{self, Batches, made_up};

/// The metrics of every run, whichever of them is the default one.
pub(crate) const METRICS: [(&str, Unit); 3] = [
    ("time", Unit::Nanoseconds),
    ("ticks", Unit::Count),
    ("alloc", Unit::Bytes),
];

#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub kind: Kind,
    pub name: String,
    pub module: String,
    pub file: String,
    pub first_line: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// Empty for the function's own.
    pub file: &'static str,
    pub line: u32,
    pub col: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// Index of the node above.
    pub parent: Option<usize>,
    /// Index of the function.
    pub function: usize,
    pub place: Option<Place>,
    pub calls: Option<u64>,
    /// Cost of the node itself, by metric.
    pub own: [f64; 3],
    /// How the importer says it, by metric.
    pub said: [Said; 3],
}

/// What an importer knows of the cost of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Said {
    Exclusive,
    Cumulative,
    Both,
    /// A line of which it is unknown what it called.
    OwnOnly,
}

/// One run. Nodes are in pre-order.
#[derive(Clone)]
pub(crate) struct Run {
    pub functions: Vec<Function>,
    pub nodes: Vec<Node>,
    /// Index of the default metric.
    pub default: usize,
    /// What has been subtracted from the times for each tick, in ns, if it is known.
    pub bias_applied: Option<f64>,
}

/// One step of a walk over a growing tree: how many open nodes close first, then what opens.
#[derive(Clone, Debug)]
pub(crate) struct Opening {
    pub close: usize,
    pub opens: Opens,
    pub calls: Option<u64>,
    pub own: [f64; 3],
    pub said: [Said; 3],
}

#[derive(Clone, Debug)]
pub(crate) enum Opens {
    Function(usize),
    Line(Place),
}

impl Run {
    /// The tree of a walk. Containers stand at the top only; a line breaks down the function that
    /// is open.
    pub(crate) fn of(functions: Vec<Function>, walk: &[Opening], default: usize) -> Self {
        let mut nodes: Vec<Node> = Vec::new();
        let mut open: Vec<usize> = Vec::new();
        let is_container = |node: &Node| functions[node.function].kind.is_container();
        for step in walk {
            open.truncate(open.len().saturating_sub(step.close));
            let (function, place) = match step.opens {
                Opens::Function(function) => {
                    let function = function % functions.len();
                    if functions[function].kind.is_container() {
                        open.retain(|&node| is_container(&nodes[node]));
                    }
                    (function, None)
                }
                Opens::Line(place) => {
                    if open.last().is_some_and(|&node| nodes[node].place.is_some()) {
                        open.pop();
                    }
                    match open.last() {
                        Some(&node) if !is_container(&nodes[node]) => {
                            (nodes[node].function, Some(place))
                        }
                        _ => (0, None),
                    }
                }
            };
            let mut said = step.said;
            let mut own = step.own;
            for (said, own) in said.iter_mut().zip(&mut own) {
                // It is always known what functions call. What is left of a cumulative figure is
                // never negative, nor are lines, so that those of unknown cumulative cost never
                // seem to cost nothing.
                match *said {
                    Said::OwnOnly if place.is_none() => *said = Said::Exclusive,
                    Said::OwnOnly => *own = own.abs() + 0.25,
                    Said::Exclusive | Said::Both if place.is_none() => {}
                    Said::Exclusive | Said::Both | Said::Cumulative => *own = own.abs(),
                }
            }
            let parent = open.last().copied();
            open.push(nodes.len());
            nodes.push(Node {
                parent,
                function,
                place,
                calls: step.calls,
                own,
                said,
            });
        }
        Self {
            functions,
            nodes,
            default,
            bias_applied: None,
        }
    }

    /// Writes the run; `figures` are exclusive and cumulative cost by node and metric. Says its
    /// number and the number of nodes that were there before.
    pub(crate) fn write(
        &self,
        database: &mut Database,
        figures: &[[(f64, Option<f64>); 3]],
    ) -> (i64, i64) {
        let mut builder = TreeBuilder::new(Batches::default(), Stop::default());
        self.say(&mut builder, figures);
        let run = made_runs::write(builder, &made_up(), database);
        let sql = "SELECT COALESCE(first_node - 1, 0) FROM runs WHERE run_id = ?1";
        let before = database
            .connection()
            .query_row(sql, [run], |row| row.get(0))
            .expect("memory");
        (run, before)
    }

    fn say(&self, sink: &mut dyn Sink, figures: &[[(f64, Option<f64>); 3]]) {
        let metrics: Vec<MetricId> = METRICS
            .iter()
            .map(|(name, unit)| sink.metric(name, unit.clone(), Noise::Unknown))
            .collect();
        sink.run(RunFact::DefaultMetric(metrics[self.default]));
        sink.run(RunFact::TimerReadings(metrics[1]));
        if let Some(bias) = self.bias_applied {
            sink.run(RunFact::BiasApplied(bias));
        }
        let functions: Vec<_> = self
            .functions
            .iter()
            .map(|function| sink.function(function.definition()))
            .collect();
        let mut open: Vec<usize> = Vec::new();
        for (at, node) in self.nodes.iter().enumerate() {
            while open.last().copied() != node.parent {
                sink.leave();
                open.pop();
            }
            open.push(at);
            let line = node
                .place
                .map(|Place { file, line, col }| Line { file, line, col });
            sink.enter(
                Frame {
                    function: functions[node.function],
                    line,
                },
                node.calls,
            );
            for (metric, id) in metrics.iter().enumerate() {
                let (exclusive, cumulative) = figures[at][metric];
                let cost = match (node.said[metric], cumulative) {
                    // Of a node that costs nothing itself, importers say nothing.
                    (Said::Exclusive, _) if exclusive == 0.0 => continue,
                    (Said::OwnOnly, _) => Cost::ExclusiveOnly(exclusive),
                    (Said::Cumulative, Some(cumulative)) => Cost::Cumulative(cumulative),
                    (Said::Both, Some(cumulative)) => Cost::Both {
                        exclusive,
                        cumulative,
                    },
                    _ => Cost::Exclusive(exclusive),
                };
                sink.cost(*id, cost);
            }
        }
        for _ in open {
            sink.leave();
        }
    }
}

/// An outline, one line for each node.
impl Debug for Run {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let bias = self.bias_applied;
        writeln!(
            f,
            "run with default metric {} and bias {bias:?}",
            METRICS[self.default].0
        )?;
        for node in &self.nodes {
            let Function {
                kind, name, module, ..
            } = &self.functions[node.function];
            let depth = successors(node.parent, |&parent| self.nodes[parent].parent).count();
            let place = node
                .place
                .map(|Place { file, line, col }| format!("[{file}:{line}:{col}]"))
                .unwrap_or_default();
            let (calls, own, said) = (node.calls, node.own, node.said);
            writeln!(
                f,
                "{:1$}{kind:?} {module}.{name:?}{place} {calls:?} {own:?} {said:?}",
                "",
                2 * depth
            )?;
        }
        Ok(())
    }
}

impl Function {
    fn definition(&self) -> FunctionDef<'_> {
        FunctionDef {
            kind: self.kind,
            name: &self.name,
            raw_name: "",
            module: &self.module,
            file: &self.file,
            first_line: self.first_line,
            first_col: 0,
        }
    }
}

/// Functions of which several have the same name: by module, by place in the file, by kind.
pub(crate) fn functions() -> Vec<Function> {
    let table = [
        (Kind::Function, "A", "m", "a.apl", 0),
        (Kind::Function, "B", "m", "a.apl", 0),
        (Kind::Function, "C", "m", "c.apl", 0),
        (Kind::Function, "A", "n", "", 0),
        (Kind::Function, "C", "m", "c.apl", 7),
        (Kind::Function, "fa", "", "", 0),
        (Kind::Function, "fb", "n", "f.apl", 0),
        (Kind::Pseudo, "B", "", "", 0),
        (Kind::Pseudo, "é", "", "", 0),
        (Kind::Root, "main", "", "", 0),
        (Kind::Thread, "B", "", "", 0),
        (Kind::Thread, "fa", "", "", 0),
    ];
    let function =
        |(kind, name, module, file, first_line): (Kind, &str, &str, &str, u32)| Function {
            kind,
            name: name.to_owned(),
            module: module.to_owned(),
            file: file.to_owned(),
            first_line,
        };
    table.into_iter().map(function).collect()
}

/// Random runs of the functions above: few names, so that nearly everything recurs.
pub(crate) fn runs() -> impl Strategy<Value = Run> {
    let function = prop_oneof![9 => 0..3_usize, 5 => 3..9_usize, 1 => 9..12_usize];
    (vec(opening(function), 0..40), 0..METRICS.len())
        .prop_map(|(walk, default)| Run::of(functions(), &walk, default))
}

/// Steps of walks.
pub(crate) fn opening(function: impl Strategy<Value = usize>) -> impl Strategy<Value = Opening> {
    // Few lines, so that they recur as well.
    let file = prop_oneof![7 => Just(""), 1 => Just("inc.apl")];
    let place = (
        file,
        prop_oneof![1 => Just(0), 3 => Just(1_u32)],
        prop_oneof![7 => Just(0), 1 => Just(4_u32)],
    );
    let line = place.prop_map(|(file, line, col)| Opens::Line(Place { file, line, col }));
    let opens = prop_oneof![1 => function.prop_map(Opens::Function), 1 => line];
    let close = prop_oneof![4 => Just(0), 3 => Just(1), 1 => 2..6_usize];
    let calls = option::weighted(0.95, 0..4_u64);
    // Quarters add up exactly; now and then a figure is negative, as Dyalog's corrected times are.
    let own = prop_oneof![3 => Just(0.0), 6 => (0..40_u8).prop_map(|n| f64::from(n) / 4.0), 1 => Just(-0.25)];
    let said = prop_oneof![
        4 => Just(Said::Exclusive),
        1 => Just(Said::Cumulative),
        1 => Just(Said::Both),
        1 => Just(Said::OwnOnly)
    ];
    (close, opens, calls, uniform3(own), uniform3(said)).prop_map(
        |(close, opens, calls, own, said)| Opening {
            close,
            opens,
            calls,
            own,
            said,
        },
    )
}
