//! Runs as data: what an importer might say, generated at random or in given shapes, and said to a
//! sink.

use std::collections::BTreeSet;

use profdb::events::{
    Cost, Edge, EdgeCost, EdgeKind, Frame, FunctionDef, FunctionId, Info, Kind, Line, MetricId,
    Noise, RunFact, Sample, Sink, Unit,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// A run. Function ids are indexes into `functions`, whatever ids the sink gives.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    pub functions: Vec<FunctionDef<'static>>,
    /// How many there are.
    pub metrics: u32,
    /// The default metric, if the file says one.
    pub default: Option<MetricId>,
    /// The totals that the file states, by metric.
    pub stated: Vec<Option<f64>>,
    /// Nodes in pre-order.
    pub forest: Vec<Node>,
    pub samples: Vec<Stack>,
    pub edges: Vec<Pair>,
    pub infos: Vec<Said>,
}

/// What a node stands for: a function, or one line of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Spot {
    pub function: FunctionId,
    pub line: Option<Place>,
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
    /// Index of the parent.
    pub parent: Option<usize>,
    pub spot: Spot,
    pub calls: Option<u64>,
    /// What the file says of the cost, by metric.
    pub costs: Vec<Option<Cost>>,
    /// Whether it says so of the last metric first.
    pub costs_backwards: bool,
}

/// A sample.
#[derive(Clone, Debug)]
pub(crate) struct Stack {
    /// Outermost first.
    pub frames: Vec<Spot>,
    pub calls: Option<u64>,
    pub values: Vec<(MetricId, f64)>,
}

/// An edge that the file itself tells.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    pub callee: FunctionId,
    pub caller: Option<Spot>,
    pub kind: EdgeKind,
    pub calls: Option<u64>,
    pub costs: Vec<EdgeCost>,
}

/// Figures that the file itself gives, at most once per metric and spot.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    pub spot: Spot,
    pub metric: MetricId,
    pub calls: [Option<u64>; 2],
    pub costs: [Option<f64>; 3],
}

impl Stream {
    pub(crate) fn is_container(&self, function: FunctionId) -> bool {
        self.functions[function.0 as usize].kind.is_container()
    }

    /// Says all of it. Functions are announced when they are first mentioned, and again each time;
    /// metrics when a sample first mentions them.
    pub(crate) fn say(&self, sink: &mut dyn Sink) {
        let mut announced = 0;
        let mut announce = |sink: &mut dyn Sink, count: u32| {
            for metric in announced..count {
                sink.metric(&metric_name(metric), Unit::Count, Noise::Unknown);
            }
            announced = announced.max(count);
        };
        // Stacks merge whatever stands between them.
        let (before, after) = self.samples.split_at(self.samples.len() / 2);
        for (at, stack) in before.iter().enumerate() {
            let last = stack.values.iter().map(|(metric, _)| metric.0 + 1).max();
            announce(sink, last.unwrap_or(0));
            self.say_samples(sink, &before[at..=at]);
        }
        announce(sink, self.metrics);
        if let Some(default) = self.default {
            sink.run(RunFact::DefaultMetric(default));
        }
        for (metric, total) in (0..).zip(&self.stated) {
            if let &Some(total) = total {
                sink.run(RunFact::Total(MetricId(metric), total));
            }
        }
        self.say_forest(sink);
        self.say_samples(sink, after);
        for pair in &self.edges {
            let caller = pair.caller.map(|spot| self.frame(sink, spot));
            let callee = self.id(sink, pair.callee);
            sink.edge(Edge {
                callee,
                caller,
                kind: pair.kind,
                calls: pair.calls,
                costs: &pair.costs,
            });
        }
        for said in &self.infos {
            let frame = self.frame(sink, said.spot);
            let (metric, [calls, primitive], [exclusive, cumulative, seen]) =
                (said.metric, said.calls, said.costs);
            sink.info(Info {
                frame,
                metric,
                calls,
                primitive,
                exclusive,
                cumulative,
                seen,
            });
        }
    }

    fn say_forest(&self, sink: &mut dyn Sink) {
        let mut open: Vec<usize> = Vec::new();
        for (at, node) in self.forest.iter().enumerate() {
            while open.last().copied() != node.parent {
                open.pop().expect("parents stand before their children");
                sink.leave();
            }
            let frame = self.frame(sink, node.spot);
            sink.enter(frame, node.calls);
            say_costs(sink, node);
            open.push(at);
        }
        while open.pop().is_some() {
            sink.leave();
        }
    }

    fn say_samples(&self, sink: &mut dyn Sink, samples: &[Stack]) {
        for stack in samples {
            let frames: Vec<Frame<'_>> = stack
                .frames
                .iter()
                .map(|&spot| self.frame(sink, spot))
                .collect();
            sink.sample(Sample {
                stack: &frames,
                shared: 0,
                calls: stack.calls,
                values: &stack.values,
                labels: None,
            });
        }
    }

    fn id(&self, sink: &mut dyn Sink, function: FunctionId) -> FunctionId {
        sink.function(self.functions[function.0 as usize])
    }

    fn frame(&self, sink: &mut dyn Sink, spot: Spot) -> Frame<'static> {
        let line = spot
            .line
            .map(|Place { file, line, col }| Line { file, line, col });
        Frame {
            function: self.id(sink, spot.function),
            line,
        }
    }
}

fn say_costs(sink: &mut dyn Sink, node: &Node) {
    let mut costs: Vec<_> = (0..).map(MetricId).zip(&node.costs).collect();
    if node.costs_backwards {
        costs.reverse();
    }
    for (metric, cost) in costs {
        if let &Some(cost) = cost {
            sink.cost(metric, cost);
        }
    }
}

pub(crate) fn metric_name(metric: u32) -> String {
    format!("metric {metric}")
}

/// Six definitions at most; they share names, and differ in kind, module or first line.
pub(crate) fn definitions(kinds: &[Kind]) -> Vec<FunctionDef<'static>> {
    let keys = [
        ("f", "", 1),
        ("f", "", 2),
        ("f", "m", 1),
        ("g", "", 1),
        ("g", "m", 1),
        ("g", "m", 2),
    ];
    let define = |(&kind, (name, module, first_line))| FunctionDef {
        kind,
        name,
        module,
        first_line,
        ..FunctionDef::default()
    };
    kinds.iter().zip(keys).map(define).collect()
}

/// How a forest grows by one node: close some levels, then open a line of the innermost function,
/// or a function.
#[derive(Clone, Debug)]
struct Step {
    close: usize,
    /// Any number; counted modulo the number of functions.
    function: u32,
    /// Ignored where the innermost open node has no lines.
    line: Option<Place>,
    calls: Option<u64>,
    costs: Vec<Option<Cost>>,
    costs_backwards: bool,
}

fn grow(steps: Vec<Step>, functions: &[FunctionDef<'_>], metrics: u32) -> Vec<Node> {
    let mut forest: Vec<Node> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for mut step in steps {
        open.truncate(open.len().saturating_sub(step.close));
        let parent = open.last().copied();
        let above = parent
            .map(|at| forest[at].spot)
            .filter(|spot| spot.line.is_none() && step.line.is_some());
        let spot = match above {
            Some(above) => only_lines_of_code(
                Spot {
                    line: step.line,
                    ..above
                },
                functions,
            ),
            None => Spot {
                function: FunctionId(step.function),
                line: None,
            },
        };
        let function =
            FunctionId(spot.function.0 % u32::try_from(functions.len()).expect("a few functions"));
        let spot = Spot { function, ..spot };
        step.costs.truncate(metrics as usize);
        if spot.line.is_none() {
            // The builder refuses such a cost of a function.
            step.costs.iter_mut().for_each(known_callees);
        }
        open.push(forest.len());
        forest.push(Node {
            parent,
            spot,
            calls: step.calls,
            costs: step.costs,
            costs_backwards: step.costs_backwards,
        });
    }
    forest
}

/// Containers have no source.
fn only_lines_of_code(spot: Spot, functions: &[FunctionDef<'_>]) -> Spot {
    let container = functions[spot.function.0 as usize].kind.is_container();
    Spot {
        line: spot.line.filter(|_| !container),
        ..spot
    }
}

/// Only of a line can it be unknown what it called.
fn known_callees(cost: &mut Option<Cost>) {
    if let Some(Cost::ExclusiveOnly(exclusive)) = *cost {
        *cost = Some(Cost::Exclusive(exclusive));
    }
}

/// Quarters, so that sums are exact in any order.
fn figure() -> impl Strategy<Value = f64> {
    prop_oneof![2 => Just(0), 8 => 1..200, 1 => -40..0]
        .prop_map(|quarters| f64::from(quarters) / 4.0)
}

/// Often less than what was called, often more.
fn cumulative() -> impl Strategy<Value = f64> {
    (0..2000).prop_map(|quarters| f64::from(quarters) / 4.0)
}

fn cost() -> impl Strategy<Value = Option<Cost>> {
    prop_oneof![
        2 => Just(None),
        4 => figure().prop_map(|exclusive| Some(Cost::Exclusive(exclusive))),
        3 => cumulative().prop_map(|cumulative| Some(Cost::Cumulative(cumulative))),
        2 => (figure(), cumulative()).prop_map(|(exclusive, cumulative)| Some(Cost::Both { exclusive, cumulative })),
        1 => figure().prop_map(|exclusive| Some(Cost::ExclusiveOnly(exclusive))),
    ]
}

fn calls() -> impl Strategy<Value = Option<u64>> {
    option::weighted(0.95, 0..5_u64)
}

fn place() -> impl Strategy<Value = Place> {
    let file = prop_oneof![4 => Just(""), 1 => Just("included")];
    let col = prop_oneof![4 => Just(0), 1 => 1..3_u32];
    (file, 0..3_u32, col).prop_map(|(file, line, col)| Place { file, line, col })
}

fn step() -> impl Strategy<Value = Step> {
    let close =
        prop_oneof![10 => Just(0), 6 => Just(1), 4 => Just(2), 2 => Just(3), 1 => 4..60_usize];
    (
        close,
        0..6_u32,
        option::weighted(0.4, place()),
        calls(),
        vec(cost(), 3),
        any::<bool>(),
    )
        .prop_map(
            |(close, function, line, calls, costs, costs_backwards)| Step {
                close,
                function,
                line,
                calls,
                costs,
                costs_backwards,
            },
        )
}

fn spot() -> impl Strategy<Value = Spot> {
    (0..6_u32, option::weighted(0.4, place())).prop_map(|(function, line)| Spot {
        function: FunctionId(function),
        line,
    })
}

fn stack() -> impl Strategy<Value = Stack> {
    let value = (0..3_u32, figure()).prop_map(|(metric, value)| (MetricId(metric), value));
    (vec(spot(), 1..6), calls(), vec(value, 0..4)).prop_map(|(frames, calls, values)| Stack {
        frames,
        calls,
        values,
    })
}

fn pair() -> impl Strategy<Value = Pair> {
    let part = || option::of(figure());
    let cost = (0..3_u32, part(), part(), part(), part()).prop_map(
        |(metric, exclusive, cumulative, outermost, seen)| EdgeCost {
            metric: MetricId(metric),
            exclusive,
            cumulative,
            outermost,
            seen,
        },
    );
    let kind = prop_oneof![Just(EdgeKind::Back), Just(EdgeKind::Call)];
    (0..6_u32, option::of(spot()), kind, calls(), vec(cost, 0..3)).prop_map(
        |(callee, caller, kind, calls, costs)| Pair {
            callee: FunctionId(callee),
            caller,
            kind,
            calls,
            costs,
        },
    )
}

fn said() -> impl Strategy<Value = Said> {
    let calls = [option::of(0..100_u64), option::of(0..100_u64)];
    let costs = [
        option::of(figure()),
        option::of(figure()),
        option::of(figure()),
    ];
    (spot(), 0..3_u32, calls, costs).prop_map(|(spot, metric, calls, costs)| Said {
        spot,
        metric: MetricId(metric),
        calls,
        costs,
    })
}

/// Where the nodes of a run come from.
#[derive(Clone, Copy, Debug)]
enum Source {
    Tree,
    Samples,
    Both,
    Edges,
}

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![8 => Just(Kind::Function), 2 => Just(Kind::Pseudo), 1 => Just(Kind::Root), 1 => Just(Kind::Thread)]
}

/// Runs of three to six functions, so that most paths are recursive.
pub(crate) fn streams() -> impl Strategy<Value = Stream> {
    let source = prop_oneof![
        6 => Just(Source::Tree),
        2 => Just(Source::Samples),
        1 => Just(Source::Both),
        1 => Just(Source::Edges),
    ];
    let run = (
        vec(kind(), 3..=6),
        1..=3_u32,
        option::of(0..3_u32),
        vec(option::weighted(0.2, figure()), 3),
    );
    let rest = (vec(stack(), 0..12), vec(pair(), 0..4), vec(said(), 0..4));
    (run, source, vec(step(), 0..60), rest).prop_map(
        |((kinds, metrics, default, mut stated), source, steps, (samples, edges, infos))| {
            let functions = definitions(&kinds);
            stated.truncate(metrics as usize);
            let (steps, samples) = match source {
                Source::Tree => (steps, Vec::new()),
                Source::Samples => (Vec::new(), samples),
                Source::Both => (steps, samples),
                Source::Edges => (Vec::new(), Vec::new()),
            };
            let forest = grow(steps, &functions, metrics);
            let default = default.map(|metric| MetricId(metric % metrics));
            let mut stream = Stream {
                functions,
                metrics,
                default,
                stated,
                forest,
                samples,
                edges,
                infos,
            };
            stream.fit();
            stream
        },
    )
}

impl Stream {
    /// Makes what was generated on its own agree: ids exist, edges of runs with nodes are back
    /// edges.
    fn fit(&mut self) {
        let (functions, metrics) = (&self.functions, self.metrics);
        let known = |function: &mut FunctionId| {
            function.0 %= u32::try_from(functions.len()).expect("a few functions");
        };
        let fit = |spot: &mut Spot| {
            known(&mut spot.function);
            *spot = only_lines_of_code(*spot, functions);
        };
        for stack in &mut self.samples {
            stack.frames.iter_mut().for_each(fit);
            stack
                .values
                .iter_mut()
                .for_each(|(metric, _)| metric.0 %= metrics);
        }
        let has_nodes = !(self.forest.is_empty() && self.samples.is_empty());
        for pair in &mut self.edges {
            known(&mut pair.callee);
            pair.caller.iter_mut().for_each(fit);
            pair.costs
                .iter_mut()
                .for_each(|cost| cost.metric.0 %= metrics);
            if has_nodes {
                pair.kind = EdgeKind::Back;
            }
            // A back edge is known to exist, and no more: cost of its own would be against the
            // vocabulary.
            if pair.kind == EdgeKind::Back {
                pair.costs.clear();
            }
        }
        for said in &mut self.infos {
            fit(&mut said.spot);
            said.metric.0 %= metrics;
        }
        let mut told = BTreeSet::new();
        self.infos
            .retain(|said| told.insert((said.metric, said.spot)));
    }
}

/// A small generator for runs that are too long for proptest.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn below(&mut self, end: u32) -> u32 {
        // The constants of Knuth's MMIX; its upper bits are good enough here.
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        u32::try_from(self.0 >> 33).expect("31 bits") % end
    }

    fn figure(&mut self, end: u32) -> f64 {
        f64::from(self.below(end)) / 4.0
    }

    fn cost(&mut self) -> Option<Cost> {
        match self.below(8) {
            0 => None,
            1 => Some(Cost::Cumulative(self.figure(4000))),
            2 => Some(Cost::Both {
                exclusive: self.figure(200),
                cumulative: self.figure(4000),
            }),
            3 => Some(Cost::ExclusiveOnly(self.figure(200))),
            4 | 5 => Some(Cost::Exclusive(0.0)),
            _ => Some(Cost::Exclusive(self.figure(200))),
        }
    }
}

/// A run of many nodes in three metrics, the second being the default one; `close` says how many
/// levels to close before each node.
pub(crate) fn long_stream(nodes: usize, close: fn(&mut Random, usize) -> usize) -> Stream {
    let mut random = Random(42);
    let steps = (0..nodes).map(|at| Step {
        close: close(&mut random, at),
        function: random.below(5),
        line: (random.below(3) == 0).then(|| Place {
            file: "",
            line: random.below(3),
            col: 0,
        }),
        calls: (random.below(50_000) != 0).then(|| random.below(9).into()),
        costs: (0..3).map(|_| random.cost()).collect(),
        costs_backwards: random.below(2) == 0,
    });
    let functions = definitions(&[
        Kind::Thread,
        Kind::Function,
        Kind::Function,
        Kind::Pseudo,
        Kind::Function,
    ]);
    let forest = grow(steps.collect(), &functions, 3);
    Stream {
        functions,
        metrics: 3,
        default: Some(MetricId(1)),
        stated: vec![None; 3],
        forest,
        samples: Vec::new(),
        edges: Vec::new(),
        infos: Vec::new(),
    }
}
