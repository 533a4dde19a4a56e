//! What `TreeBuilder` says of random runs is what a slow model says that computes every figure from
//! its definition, and what must be refused is refused. Costs are whole quarters, so sums are exact
//! and figures are compared for equality.

#![allow(
    clippy::similar_names,
    reason = "caller and callee are the field's words"
)]

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Debug;

use profdb::base::error::{ImportError, Stop};
use profdb::events::{
    Cost, Edge, EdgeCost, EdgeKind, Fidelity, Frame, FunctionDef, FunctionId, Info, Kind, MetricId,
    Noise, Note, RunFact, Sample, Severity, Sink, Unit,
};
use profdb::profile::{
    Batch, CostRow, EdgeRow, InfoRow, NodeRow, NoteRow, RunSummary, SourceLine, TreeBuilder,
};
use proptest::prelude::*;
use proptest::test_runner::RngAlgorithm;

use crate::support::made_runs::Batches;
use crate::support::model::{Known, Outcome, all_nodes, by_walking, in_one_pass, outcome};
use crate::support::streams::{Node, Random, Stream, long_stream, metric_name, streams};

fn cases(cases: u32) -> ProptestConfig {
    // The default generator, unoptimised, takes longer than everything that is tested.
    let rng_algorithm = RngAlgorithm::XorShift;
    ProptestConfig {
        cases,
        rng_algorithm,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(cases(2000))]

    /// Every number that leaves the builder is the one of the definitions: nodes and their costs;
    /// functions, lines and edges; totals; the count of costs that are less than that of what was
    /// called.
    #[test]
    fn the_builder_agrees_with_the_definitions(stream in streams()) {
        let nodes = all_nodes(&stream);
        check(&stream, &nodes, &by_walking(&stream, &nodes));
    }

    /// A run is refused exactly when its events break the rules of [`Sink`]; then the flag is set,
    /// and whatever is said afterwards does no harm.
    #[test]
    fn what_breaks_the_rules_is_refused(events in proptest::collection::vec(event(), 0..16), closed in any::<bool>()) {
        let stop = Stop::default();
        let mut builder = TreeBuilder::new(Batches::default(), stop.clone());
        let mut rules = Rules { metrics: 1, functions: 2, ..Rules::default() };
        builder.metric("time", Unit::Nanoseconds, Noise::Unknown);
        builder.function(FunctionDef::named("0"));
        builder.function(FunctionDef::named("1"));
        for event in &events {
            event.say(&mut builder, rules.functions);
            rules.heed(event);
            prop_assert_eq!(stop.is_set(), rules.broken, "after {:?}", event);
        }
        while closed && !rules.open.is_empty() {
            builder.leave();
            rules.heed(&Event::Leave);
        }
        let is_said_twice = cfg!(debug_assertions) && !rules.in_tree.is_disjoint(&rules.stated);
        let sound = !rules.broken && rules.open.is_empty() && !is_said_twice;
        prop_assert_eq!(builder.finish().is_ok(), sound);
        prop_assert_eq!(stop.is_set(), !sound);
    }
}

proptest! {
    #![proptest_config(cases(300))]

    /// The model that is fast enough for long runs knows what the slow one knows.
    #[test]
    fn the_fast_model_agrees_with_the_slow_one(stream in streams()) {
        let nodes = all_nodes(&stream);
        prop_assert_eq!(in_one_pass(&stream, &nodes), by_walking(&stream, &nodes));
    }
}

/// Runs of several batches, in which nodes stay open while their batch leaves: the same laws.
#[test]
fn long_runs_agree_with_the_definitions() {
    type Shape = fn(&mut Random, usize) -> usize;
    let roots: Shape = |_, _| usize::MAX;
    let chain: Shape = |_, _| 0;
    // Goes down 30,000 levels, then slowly up again with small trees on the way.
    let comb: Shape = |random, at| {
        if at < 30_000 {
            0
        } else {
            random.below(4) as usize
        }
    };
    // Deeper and deeper, and now and then far up.
    let teeth: Shape = |random, at| {
        if at % 5000 == 4999 {
            3000
        } else {
            random.below(3) as usize / 2
        }
    };
    let batch = 16 * 1024;
    let table = [
        // shape, nodes, batches at least, nodes that come late at least
        (roots, batch - 1, 1, 0),
        (roots, batch, 1, 0),
        (roots, batch + 1, 2, 0),
        (chain, batch - 1, 1, 0),
        (chain, batch + 1, 2, 0),
        (chain, 3 * batch, 3, 2 * batch),
        (comb, 100_000, 5, 20_000),
        (teeth, 50_000, 3, 2000),
    ];
    for (close, nodes, batches, late) in table {
        let stream = long_stream(nodes, close);
        let nodes = all_nodes(&stream);
        let got = check(&stream, &nodes, &in_one_pass(&stream, &nodes));
        assert!(
            got.len() >= batches,
            "{} batches of at least {batches}",
            got.len()
        );
        assert!(
            late_nodes(&got) >= late,
            "{} late nodes of at least {late}",
            late_nodes(&got)
        );
    }
}

/// Nodes that come after a node of a later number.
fn late_nodes(batches: &[Batch]) -> usize {
    let mut highest = 0;
    let mut late = 0;
    for row in batches.iter().flat_map(|batch| &batch.nodes) {
        late += usize::from(row.node < highest);
        highest = highest.max(row.node);
    }
    late
}

/// Builds the run and compares all that comes out with what has to. Hands back the batches.
fn check(stream: &Stream, nodes: &[Node], known: &[Known]) -> Vec<Batch> {
    let stop = Stop::default();
    let mut builder = TreeBuilder::new(Batches::default(), stop.clone());
    stream.say(&mut builder);
    let (totals, Batches(batches)) = builder.finish().expect("a run that keeps the rules");
    assert!(!stop.is_set());
    let expected = outcome(stream, nodes, known);

    assert_eq!(totals.nodes, nodes.len() as u64);
    assert_eq!(
        totals.facts.default_metric,
        Some(stream.default.unwrap_or(MetricId(0)))
    );
    let names = |metrics: u32| (0..metrics).map(metric_name).collect::<Vec<_>>();
    same(
        "metric",
        totals
            .metrics
            .iter()
            .map(|metric| metric.name.clone())
            .collect(),
        names(stream.metrics),
    );
    same(
        "total",
        totals.metrics.iter().map(|metric| metric.total).collect(),
        expected.totals.clone(),
    );
    same(
        "exceeded",
        exceeded(&totals.notes),
        (expected.exceeded > 0)
            .then_some(expected.exceeded)
            .into_iter()
            .collect(),
    );
    let ids = functions_come_first(stream, &batches);
    let got = translated(&batches, &totals, &ids);
    let expected = sorted(expected);
    same("node", got.nodes, expected.nodes);
    same("cost", got.costs, expected.costs);
    same("function", got.functions, expected.functions);
    same("line", got.lines, expected.lines);
    same("edge", got.edges, expected.edges);
    batches
}

/// Names the first difference; whole runs are too long to be read.
fn same<T: PartialEq + Debug>(what: &str, got: Vec<T>, expected: Vec<T>) {
    let count = got.len().max(expected.len());
    let (mut got, mut expected) = (got.into_iter(), expected.into_iter());
    for at in 0..count {
        assert_eq!(
            got.next(),
            expected.next(),
            "{what} {at} of {count}: left is the builder, right the model"
        );
    }
}

/// The figures of the notes on costs that are less than that of what was called.
fn exceeded(notes: &[NoteRow]) -> Vec<usize> {
    let figure = |note: &NoteRow| {
        note.message
            .split_once(" cumulative costs are less than those of the callees")?
            .0
            .parse()
            .ok()
    };
    // What a stream states of a function need not be what its callers add up to, which has a note
    // of its own.
    let of_callers = |note: &&NoteRow| note.message.contains(" differ from the sum of the callers");
    let notes = notes.iter().filter(|note| !of_callers(note));
    notes
        .map(|note| figure(note).unwrap_or_else(|| panic!("a note on exceeded costs: {note:?}")))
        .collect()
}

/// Functions are sent once, as they were defined, and before the first node that names them; nodes
/// ascend within a batch. Returns which index in the stream's functions each id stands for.
fn functions_come_first(stream: &Stream, batches: &[Batch]) -> BTreeMap<FunctionId, FunctionId> {
    let mut ids = BTreeMap::new();
    for batch in batches {
        for (id, function) in &batch.functions {
            let sent = FunctionDef {
                raw_name: function.raw_name().unwrap_or_default(),
                ..function.definition()
            };
            let mut indexes = (0..).map(FunctionId).zip(&stream.functions);
            let (index, _) = indexes
                .find(|(_, def)| **def == sent)
                .expect("a function as it was defined");
            assert_eq!(ids.insert(*id, index), None, "{function:?} is sent once");
        }
        assert!(
            batch
                .nodes
                .iter()
                .all(|row| ids.contains_key(&row.function)),
            "functions come before their nodes"
        );
        assert!(
            batch.nodes.is_sorted_by(|one, next| one.node < next.node),
            "nodes ascend within a batch"
        );
    }
    let indexes: BTreeSet<FunctionId> = ids.values().copied().collect();
    assert_eq!(indexes.len(), ids.len(), "equal definitions have equal ids");
    ids
}

/// What the builder put out, in the model's terms.
fn translated(
    batches: &[Batch],
    totals: &RunSummary,
    ids: &BTreeMap<FunctionId, FunctionId>,
) -> Outcome {
    let node = |row: &NodeRow| NodeRow {
        function: ids[&row.function],
        ..row.clone()
    };
    let info = |row: InfoRow| InfoRow {
        function: ids[&row.function],
        ..row
    };
    let edge = |row: EdgeRow| EdgeRow {
        callee: ids[&row.callee],
        caller: row.caller.map(|caller| ids[&caller]),
        ..row
    };
    sorted(Outcome {
        nodes: batches
            .iter()
            .flat_map(|batch| &batch.nodes)
            .map(node)
            .collect(),
        costs: batches
            .iter()
            .flat_map(|batch| &batch.costs)
            .copied()
            .collect(),
        functions: totals.functions.iter().map(info).collect(),
        lines: totals.lines.iter().map(info).collect(),
        edges: totals.edges.iter().map(edge).collect(),
        ..Outcome::default()
    })
}

/// Each list by its key: rows may come in any order, but none may come twice.
fn sorted(mut outcome: Outcome) -> Outcome {
    let place = |place: &Option<SourceLine>| {
        place
            .as_ref()
            .map(|place| (place.file.clone(), place.line, place.col))
    };
    outcome.nodes.sort_by_key(|row| row.node);
    outcome
        .costs
        .sort_by_key(|row: &CostRow| (row.metric, row.node));
    for rows in [&mut outcome.functions, &mut outcome.lines] {
        rows.sort_by_key(|row| (row.metric, row.function, place(&row.place)));
    }
    let key = |row: &EdgeRow| {
        (
            row.metric,
            row.callee,
            row.caller,
            row.line_file.clone(),
            row.caller_line,
            row.caller_col,
            row.kind,
        )
    };
    outcome.edges.sort_by_cached_key(key);
    outcome
}

/// One call of a sink, sound or not. Ids are numbers that may not have been announced.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// The name is this number.
    Metric(u8),
    Function,
    Enter(u32),
    /// Opens a node and gives it a cost.
    EnterAndCost(u32, u32, f64),
    Line(u32),
    Cost(u32, f64),
    Leave,
    Sample(Option<u32>, u32, f64),
    Edge(u32, Option<u32>, u32, f64),
    Info(u32, u32, f64),
}

/// Mostly sound events, so that runs get somewhere.
fn event() -> impl Strategy<Value = Event> {
    let function = || prop_oneof![40 => 0..2_u32, 1 => Just(2_u32)];
    let metric = || prop_oneof![40 => Just(0_u32), 1 => Just(1_u32)];
    let figure = || prop_oneof![40 => Just(1.5), 1 => Just(f64::NAN), 1 => Just(f64::NEG_INFINITY)];
    let perhaps = || proptest::option::weighted(0.9, function());
    prop_oneof![
        1 => any::<u8>().prop_map(Event::Metric),
        1 => Just(Event::Function),
        5 => function().prop_map(Event::Enter),
        8 => (function(), metric(), figure())
            .prop_map(|(function, metric, figure)| Event::EnterAndCost(function, metric, figure)),
        3 => function().prop_map(Event::Line),
        1 => (metric(), figure()).prop_map(|(metric, figure)| Event::Cost(metric, figure)),
        6 => Just(Event::Leave),
        2 => (perhaps(), metric(), figure()).prop_map(|(function, metric, figure)| Event::Sample(function, metric, figure)),
        2 => (function(), perhaps(), metric(), figure())
            .prop_map(|(callee, caller, metric, figure)| Event::Edge(callee, caller, metric, figure)),
        2 => (function(), metric(), figure()).prop_map(|(function, metric, figure)| Event::Info(function, metric, figure)),
    ]
}

impl Event {
    /// Says it. `functions` is how many have been announced.
    fn say(self, sink: &mut dyn Sink, functions: u32) {
        let frame = |function: u32| Frame::function(FunctionId(function));
        match self {
            Self::Metric(name) => _ = sink.metric(&name.to_string(), Unit::Count, Noise::Unknown),
            Self::Function => _ = sink.function(FunctionDef::named(&functions.to_string())),
            Self::Enter(function) => sink.enter(frame(function), Some(1)),
            Self::EnterAndCost(function, metric, figure) => {
                Self::Enter(function).say(sink, functions);
                Self::Cost(metric, figure).say(sink, functions);
            }
            Self::Line(function) => sink.enter(Frame::line(FunctionId(function), 1), None),
            Self::Cost(metric, figure) => sink.cost(MetricId(metric), Cost::Cumulative(figure)),
            Self::Leave => sink.leave(),
            Self::Sample(function, metric, figure) => {
                let stack: Vec<Frame<'_>> = function.map(frame).into_iter().collect();
                sink.sample(Sample {
                    stack: &stack,
                    shared: 0,
                    calls: None,
                    values: &[(MetricId(metric), figure)],
                    labels: None,
                });
            }
            Self::Edge(callee, caller, metric, figure) => {
                let (exclusive, rest) = (Some(figure), None);
                let cost = EdgeCost {
                    metric: MetricId(metric),
                    exclusive,
                    cumulative: rest,
                    outermost: rest,
                    seen: rest,
                };
                let caller = caller.map(frame);
                let (callee, kind) = (FunctionId(callee), EdgeKind::Call);
                sink.edge(Edge {
                    callee,
                    caller,
                    kind,
                    calls: None,
                    costs: &[cost],
                });
            }
            Self::Info(function, metric, figure) => {
                sink.info(Info {
                    exclusive: Some(figure),
                    ..info(function, metric)
                });
            }
        }
    }
}

fn info(function: u32, metric: u32) -> Info<'static> {
    let frame = Frame::function(FunctionId(function));
    Info {
        frame,
        metric: MetricId(metric),
        calls: None,
        primitive: None,
        exclusive: None,
        cumulative: None,
        seen: None,
    }
}

/// The rules that [`Sink`] states.
#[derive(Default)]
struct Rules {
    metrics: u32,
    /// Of those metrics that are called by a number.
    names: Vec<u8>,
    /// Callers and callees, as nodes and samples have them, and as edges.
    in_tree: HashSet<(Option<u32>, u32)>,
    stated: HashSet<(Option<u32>, u32)>,
    functions: u32,
    /// The nodes that are open: which function, and whether it is the function itself (not a line).
    open: Vec<(u32, bool)>,
    /// The metrics in which the innermost node has a cost; `None` as soon as it has had a child.
    costs: Option<Vec<u32>>,
    /// A figure has come that is not of a sample.
    begun: bool,
    broken: bool,
}

impl Rules {
    fn heed(&mut self, event: &Event) {
        if let Event::EnterAndCost(function, metric, figure) = *event {
            self.heed(&Event::Enter(function));
            return self.heed(&Event::Cost(metric, figure));
        }
        let cost = |metric: u32, figure: f64| metric < self.metrics && figure.is_finite();
        let known = |function: u32| function < self.functions;
        let sound = match *event {
            Event::Metric(name) => !self.begun && !self.names.contains(&name),
            // Its two parts have been looked at.
            Event::Function | Event::EnterAndCost(..) => true,
            Event::Enter(function) => known(function),
            Event::Line(function) => self.open.last() == Some(&(function, true)),
            Event::Cost(metric, figure) => {
                let is_first = self.costs.as_ref();
                let is_first = is_first.is_some_and(|costs| !costs.contains(&metric));
                let in_order = is_first || !cfg!(debug_assertions);
                !self.open.is_empty() && cost(metric, figure) && in_order
            }
            Event::Leave => !self.open.is_empty(),
            Event::Sample(function, metric, figure) => {
                function.is_some_and(known) && cost(metric, figure)
            }
            Event::Edge(callee, caller, metric, figure) => {
                known(callee) && caller.is_none_or(known) && cost(metric, figure)
            }
            Event::Info(function, metric, figure) => known(function) && cost(metric, figure),
        };
        self.broken |= !sound;
        match *event {
            Event::Enter(_) | Event::Line(_) => self.costs = Some(Vec::new()),
            Event::Cost(metric, _) => self.costs.iter_mut().for_each(|costs| costs.push(metric)),
            Event::Leave => self.costs = None,
            _ => {}
        }
        match *event {
            Event::Metric(name) => {
                self.metrics += u32::from(!self.begun);
                self.names.push(name);
            }
            Event::Function => self.functions += 1,
            Event::Enter(function) => {
                let caller = self.open.last().map(|(caller, _)| *caller);
                self.in_tree.insert((caller, function));
                self.open.push((function, true));
            }
            Event::Sample(Some(function), ..) => _ = self.in_tree.insert((None, function)),
            Event::Edge(callee, caller, ..) => _ = self.stated.insert((caller, callee)),
            Event::Line(function) => self.open.push((function, false)),
            Event::Leave => _ = self.open.pop(),
            _ => {}
        }
        self.begun |= matches!(
            event,
            Event::Enter(_) | Event::Line(_) | Event::Edge(..) | Event::Info(..)
        );
    }
}

/// What is refused says why. Each run breaks one rule, after `f` and `g` and the metrics 0 and 1
/// have been announced.
#[test]
fn refusals_name_their_reason() {
    type Say = fn(&mut dyn Sink);
    let no_number = "the cost of `f` is not a finite number";
    let no_metric = "the importer named a metric that it never announced";
    let no_function = "the importer named a function that it never announced";
    let no_place = "the importer opened a line outside its function";
    let table: [(&str, Say); 45] = [
        (no_number, |sink| costs(sink, Cost::Exclusive(f64::NAN))),
        (no_number, |sink| {
            costs(sink, Cost::Cumulative(f64::INFINITY));
        }),
        (no_number, |sink| {
            costs(
                sink,
                Cost::Both {
                    exclusive: 1.0,
                    cumulative: f64::NEG_INFINITY,
                },
            );
        }),
        (no_number, |sink| costs(sink, Cost::ExclusiveOnly(f64::NAN))),
        (no_number, |sink| {
            Event::Sample(Some(F), 0, f64::NAN).say(sink, 2);
        }),
        (no_number, |sink| {
            Event::Edge(F, Some(G), 1, f64::NAN).say(sink, 2);
        }),
        (no_number, |sink| {
            sink.info(Info {
                exclusive: Some(f64::NAN),
                ..info(F, 0)
            });
        }),
        (no_number, |sink| {
            sink.info(Info {
                cumulative: Some(f64::NAN),
                ..info(F, 0)
            });
        }),
        (no_number, |sink| {
            sink.info(Info {
                seen: Some(f64::INFINITY),
                ..info(F, 0)
            });
        }),
        ("the calls of `f` add up to more than 2^53", |sink| {
            calls(sink, &[(F, Some(MANY)), (G, Some(MANY)), (F, Some(1))]);
        }),
        ("the calls of `f` add up to more than 2^53", |sink| {
            calls(sink, &[(F, Some(u64::MAX)), (F, Some(u64::MAX))]);
        }),
        ("the calls of `f` add up to more than 2^53", |sink| {
            calls(sink, &[(F, Some(MANY + 1)), (F, None)]);
        }),
        ("the calls of `f` add up to more than 2^53", |sink| {
            let stack = [Frame::line(FunctionId(F), 7)];
            sink.sample(Sample {
                stack: &stack,
                shared: 0,
                calls: Some(MANY),
                values: &[],
                labels: None,
            });
            sink.sample(Sample {
                stack: &stack,
                shared: 0,
                calls: Some(MANY),
                values: &[],
                labels: None,
            });
        }),
        ("the calls of `f[7]` add up to more than 2^53", |sink| {
            sink.enter(Frame::function(FunctionId(F)), None);
            for calls in [MANY, 1] {
                sink.enter(Frame::line(FunctionId(F), 7), Some(calls));
                sink.leave();
            }
            sink.leave();
        }),
        // All calls are unknown, those that were no recursion are known.
        ("the calls of `f` add up to more than 2^53", |sink| {
            sink.enter(Frame::function(FunctionId(F)), Some(MANY));
            sink.enter(Frame::function(FunctionId(F)), None);
            sink.leave();
            sink.leave();
            calls(sink, &[(F, Some(1))]);
        }),
        // All calls are unknown, those from `g` are known.
        ("the calls of an edge add up to more than 2^53", |sink| {
            calls(sink, &[(F, None)]);
            for calls in [MANY, 1] {
                sink.enter(Frame::function(FunctionId(G)), Some(1));
                sink.enter(Frame::function(FunctionId(F)), Some(calls));
                sink.leave();
                sink.leave();
            }
        }),
        ("the calls of an edge add up to more than 2^53", |sink| {
            let edge = Edge {
                callee: FunctionId(F),
                caller: None,
                kind: EdgeKind::Back,
                calls: Some(MANY),
                costs: &[],
            };
            sink.edge(edge);
            sink.edge(edge);
        }),
        ("a number of calls is larger than 2^63-1", |sink| {
            sink.info(Info {
                calls: Some(1 << 63),
                ..info(F, 0)
            });
        }),
        ("a number of calls is larger than 2^63-1", |sink| {
            sink.info(Info {
                primitive: Some(1 << 63),
                ..info(F, 0)
            });
        }),
        ("the calls of `f` add up to more than 2^53", |sink| {
            calls(sink, &[(F, None), (F, Some(u64::MAX))]);
        }),
        ("the costs add up to more than a REAL can hold", |sink| {
            // Nested: the sum is that of one node.
            for function in [F, G] {
                Event::Enter(function).say(sink, 2);
                sink.cost(MetricId(0), Cost::Exclusive(f64::MAX));
            }
            say(sink, &[Event::Leave, Event::Leave]);
        }),
        ("the costs add up to more than a REAL can hold", |sink| {
            // Side by side: the sum is that of the function.
            costs(sink, Cost::Exclusive(f64::MAX));
            costs(sink, Cost::Exclusive(f64::MAX));
        }),
        ("a figure of the run is not a finite number", |sink| {
            sink.run(RunFact::Total(MetricId(0), f64::NAN));
        }),
        ("a figure of the run is not a finite number", |sink| {
            sink.run(RunFact::TimerBias(f64::INFINITY));
        }),
        (no_metric, |sink| {
            sink.run(RunFact::Total(MetricId(u32::MAX), 1.0));
        }),
        (
            "the importer gave a function a cost that only lines may have",
            |sink| {
                costs(sink, Cost::ExclusiveOnly(1.0));
            },
        ),
        (
            "the importer made a metric the default one that it never announced",
            |sink| {
                sink.run(RunFact::DefaultMetric(MetricId(2)));
            },
        ),
        ("the importer closed a node that it never opened", |sink| {
            calls(sink, &[(F, None)]);
            sink.leave();
        }),
        ("the importer left nodes open", |sink| {
            Event::Enter(F).say(sink, 2);
        }),
        ("the importer gave a cost to no node", |sink| {
            Event::Cost(0, 1.0).say(sink, 2);
        }),
        ("the importer gave a sample without frames", |sink| {
            Event::Sample(None, 0, 1.0).say(sink, 2);
        }),
        (no_place, |sink| Event::Line(F).say(sink, 2)),
        (no_place, |sink| {
            say(sink, &[Event::Enter(F), Event::Line(G)]);
        }),
        (no_place, |sink| {
            say(sink, &[Event::Enter(F), Event::Line(F), Event::Line(F)]);
        }),
        (
            "the importer announced a metric after the first cost",
            |sink| say(sink, &[Event::Enter(F), Event::Metric(0)]),
        ),
        ("two metrics are called \"7\"", |sink| {
            say(
                sink,
                &[Event::Metric(7), Event::Metric(8), Event::Metric(7)],
            );
        }),
        (
            "the importer changed the default metric after the first cost",
            |sink| {
                calls(sink, &[(F, None)]);
                sink.run(RunFact::DefaultMetric(MetricId(1)));
            },
        ),
        (
            "the importer made a metric the default one that it never announced",
            |sink| {
                sink.run(RunFact::DefaultMetric(MetricId(2)));
                calls(sink, &[(F, None)]);
            },
        ),
        (no_metric, |sink| {
            say(sink, &[Event::Enter(F), Event::Cost(2, 1.0)]);
        }),
        (
            "the importer gave a unit of rounding that is not above 0",
            |sink| sink.run(RunFact::Rounding(MetricId(0), 0.0)),
        ),
        ("a figure of the run is not a finite number", |sink| {
            sink.run(RunFact::Rounding(MetricId(0), f64::NAN));
        }),
        (no_metric, |sink| {
            sink.run(RunFact::Rounding(MetricId(2), 1.0));
        }),
        (no_function, |sink| Event::Enter(2).say(sink, 2)),
        (no_function, |sink| {
            Event::Edge(F, Some(2), 0, 1.0).say(sink, 2);
        }),
        (no_function, |sink| Event::Info(2, 0, 1.0).say(sink, 2)),
    ];
    for (reason, say) in table {
        let (finished, stop) = run(say);
        assert_eq!(finished.expect_err(reason).to_string(), reason);
        assert!(stop.is_set(), "{reason}");
    }
}

/// What the builder could take is refused in debug builds, in which tests run.
#[cfg(debug_assertions)]
#[test]
fn debug_builds_refuse_every_broken_rule() {
    type Say = fn(&mut dyn Sink);
    let late = "the importer gave a cost to a node after its first child";
    let both = "the importer stated calls as nodes and as an edge";
    let table: [(&str, Say); 6] = [
        (late, |sink| {
            say(sink, &[Event::Enter(F), Event::Enter(G), Event::Leave]);
            say(sink, &[Event::Cost(0, 1.0), Event::Leave]);
        }),
        (late, |sink| {
            // Also of a metric of which nothing has been said before.
            say(sink, &[Event::EnterAndCost(F, 0, 1.0), Event::Enter(G)]);
            say(sink, &[Event::Leave, Event::Cost(1, 1.0), Event::Leave]);
        }),
        ("the importer gave a node two costs in one metric", |sink| {
            say(sink, &[Event::EnterAndCost(F, 0, 1.0), Event::Cost(1, 1.0)]);
            say(sink, &[Event::Cost(0, 1.0), Event::Leave]);
        }),
        (both, |sink| {
            say(sink, &[Event::Enter(G), Event::Enter(F), Event::Leave]);
            say(sink, &[Event::Leave, Event::Edge(F, Some(G), 0, 1.0)]);
        }),
        // Also where only one of them knows the line, and where the edge comes first.
        (both, |sink| {
            say(sink, &[Event::Edge(F, Some(G), 0, 1.0), Event::Enter(G)]);
            say(sink, &[Event::Line(G), Event::Enter(F)]);
            say(sink, &[Event::Leave, Event::Leave, Event::Leave]);
        }),
        (
            "the importer stated that the file knows edges after the first edge",
            |sink| {
                Event::Edge(F, Some(G), 0, 1.0).say(sink, 2);
                sink.run(RunFact::Fidelity(Fidelity::Edges));
            },
        ),
    ];
    for (reason, say) in table {
        let (finished, stop) = run(say);
        assert_eq!(finished.expect_err(reason).to_string(), reason);
        assert!(stop.is_set(), "{reason}");
    }
    // Where it is stated in time, and where edges are an addition to a tree.
    let sound: [Say; 3] = [
        |sink| {
            say(sink, &[Event::Enter(G), Event::Enter(G), Event::Leave]);
            say(sink, &[Event::Leave, Event::Edge(F, Some(G), 0, 1.0)]);
        },
        |sink| {
            sink.run(RunFact::Fidelity(Fidelity::Edges));
            Event::Edge(F, Some(G), 0, 1.0).say(sink, 2);
        },
        |sink| Event::Edge(F, Some(G), 0, 1.0).say(sink, 2),
    ];
    for say in sound {
        run(say).0.expect("a run that keeps the rules");
    }
}

/// Callees may cost more than their caller by what rounding explains, and no more: half a unit for
/// each figure.
#[test]
fn what_rounding_explains_is_not_noted() {
    let exceeded = |unit: Option<f64>, callees: [f64; 2]| {
        let (finished, _) = run(|sink| {
            if let Some(unit) = unit {
                sink.run(RunFact::Rounding(MetricId(0), unit));
            }
            Event::EnterAndCost(F, 0, 1.0).say(sink, 2);
            for callee in callees {
                Event::EnterAndCost(G, 0, callee).say(sink, 2);
                sink.leave();
            }
            sink.leave();
        });
        let summary = finished.expect("a sound run");
        let node = summary.functions.iter().next().expect("a function");
        assert_eq!(node.figures.exclusive, Some(0.0), "{unit:?} {callees:?}");
        exceeded(&summary.notes).len()
    };
    let unit = 1.0 / 64.0;
    let most = [0.5, 0.5 + 1.5 * unit];
    assert_eq!(exceeded(Some(unit), most), 0);
    assert_eq!(exceeded(None, most), 1);
    assert_eq!(exceeded(Some(unit), [0.5, 0.5 + 2.0 * unit]), 1);
}

const F: u32 = 0;
const G: u32 = 1;
/// The most calls that a REAL holds exactly.
const MANY: u64 = 1 << 53;

/// The builder's answer to a run of functions `f` and `g` and metrics 0 and 1.
fn run(say: impl FnOnce(&mut dyn Sink)) -> (Result<RunSummary, ImportError>, Stop) {
    let stop = Stop::default();
    let mut builder = TreeBuilder::new(Batches::default(), stop.clone());
    for metric in 0..2 {
        builder.metric(&metric_name(metric), Unit::Count, Noise::Unknown);
    }
    for name in ["f", "g"] {
        builder.function(FunctionDef::named(name));
    }
    say(&mut builder);
    (builder.finish().map(|(totals, _)| totals), stop)
}

fn say(sink: &mut dyn Sink, events: &[Event]) {
    for event in events {
        event.say(sink, 2);
    }
}

/// One node of `f`.
fn costs(sink: &mut dyn Sink, cost: Cost) {
    sink.enter(Frame::function(FunctionId(F)), Some(1));
    sink.cost(MetricId(0), cost);
    sink.leave();
}

/// Nodes side by side.
fn calls(sink: &mut dyn Sink, nodes: &[(u32, Option<u64>)]) {
    for &(function, calls) in nodes {
        sink.enter(Frame::function(FunctionId(function)), calls);
        sink.leave();
    }
}

/// What is at the limit is taken, with the notes that the user gets to see.
#[test]
fn what_is_at_a_limit_is_taken() {
    type Say = fn(&mut dyn Sink);
    let note = |sink: &mut dyn Sink| {
        sink.note(Note {
            severity: Severity::Info,
            position: None,
            message: "something",
        });
    };
    let rounded = "2 figures are larger than 2^53 and stored rounded (first: `f`)";
    let exceeded = "1 cumulative costs are less than those of the callees (first: `f`): they are kept, and the exclusive costs are 0";
    let table: [(&[&str], Say); 5] = [
        (&[], |sink| {
            calls(
                sink,
                &[
                    (F, Some(MANY - 1)),
                    (G, Some(MANY)),
                    (F, Some(1)),
                    (F, Some(0)),
                ],
            );
        }),
        (&[], |sink| {
            sink.info(Info {
                calls: Some((1 << 63) - 1),
                primitive: Some((1 << 63) - 1),
                ..info(F, 1)
            });
        }),
        (&[rounded], |sink| {
            // 2^53 itself, then the next larger number.
            for figure in [
                9_007_199_254_740_992.0,
                9_007_199_254_740_994.0,
                -9_007_199_254_740_994.0,
            ] {
                costs(sink, Cost::Exclusive(figure));
            }
        }),
        // A leftover of -1e-9 of the cost is rounding, a larger one is not.
        (&[], |sink| {
            say(
                sink,
                &[
                    Event::Enter(F),
                    Event::Cost(0, 1e9),
                    Event::Enter(G),
                    Event::Cost(0, 1e9 + 1.0),
                ],
            );
            say(sink, &[Event::Leave, Event::Leave]);
        }),
        (&[exceeded], |sink| {
            say(
                sink,
                &[
                    Event::Enter(F),
                    Event::Cost(0, 1e9),
                    Event::Enter(G),
                    Event::Cost(0, 1e9 + 2.0),
                ],
            );
            say(sink, &[Event::Leave, Event::Leave]);
        }),
    ];
    for (notes, say) in table {
        let (finished, stop) = run(say);
        let totals = finished.expect("a run that is at a limit, not beyond it");
        same(
            "note",
            totals
                .notes
                .iter()
                .map(|note| note.message.as_str())
                .collect(),
            notes.to_vec(),
        );
        assert!(!stop.is_set());
    }
    let (finished, _) = run(|sink| (0..1234).for_each(|_| note(sink)));
    let notes = finished.expect("a run of many notes").notes;
    assert_eq!(notes.len(), 1001);
    assert_eq!(notes[1000].message, "234 further notes were not stored");
}

/// Whoever looks for a caller passes through a thread, and through a line of it; a node that called
/// nothing may cost less than nothing.
#[test]
fn a_line_of_a_thread_is_no_caller() {
    let (finished, _) = run(|sink| {
        let thread = sink.function(FunctionDef {
            kind: Kind::Thread,
            ..FunctionDef::named("thread")
        });
        sink.enter(Frame::function(thread), None);
        sink.enter(Frame::line(thread, 3), None);
        costs(sink, Cost::Cumulative(-5.0));
        sink.leave();
        sink.leave();
    });
    let totals = finished.expect("a sound run");
    let edges: Vec<_> = totals
        .edges
        .iter()
        .filter(|row| row.metric == MetricId(0))
        .collect();
    let [edge] = edges.as_slice() else {
        panic!("one edge: {edges:?}")
    };
    assert_eq!(
        (edge.callee, edge.caller, edge.caller_line),
        (FunctionId(F), None, None)
    );
    assert_eq!((edge.exclusive, edge.cumulative), (Some(-5.0), Some(-5.0)));
    assert_eq!(totals.notes, []);
}

/// What a name was before it was made readable tells nobody apart; the first one is kept.
#[test]
fn equal_functions_with_other_raw_names_are_one() {
    let mut builder = TreeBuilder::new(Batches::default(), Stop::default());
    let ids = ["_Z1fi", "_Z1fl", ""].map(|raw_name| {
        builder.function(FunctionDef {
            raw_name,
            ..FunctionDef::named("f")
        })
    });
    assert_eq!(ids, [ids[0]; 3]);
    builder.metric("time", Unit::Nanoseconds, Noise::Unknown);
    builder.enter(Frame::function(ids[0]), None);
    builder.leave();
    let (_, Batches(batches)) = builder.finish().expect("a sound run");
    let raw: Vec<_> = batches
        .iter()
        .flat_map(|batch| &batch.functions)
        .map(|(_, f)| f.raw_name())
        .collect();
    assert_eq!(raw, [Some("_Z1fi")]);
}

/// One recursion with figures worked out by hand, so that builder and model do not err together: f
/// calls g calls f calls g, at 10, 5, 3 and 1 of their own.
#[test]
fn a_mutual_recursion_worked_out_by_hand() {
    let (finished, _) = run(|sink| {
        let nodes = [(F, 10.0), (G, 5.0), (F, 3.0), (G, 1.0)];
        for (function, exclusive) in nodes {
            sink.enter(Frame::function(FunctionId(function)), Some(1));
            sink.cost(MetricId(0), Cost::Exclusive(exclusive));
        }
        for _ in nodes {
            sink.leave();
        }
    });
    let totals = finished.expect("a sound run");
    let functions = totals.functions.iter().map(|row| {
        let figures = row.figures;
        (
            row.function.0,
            figures.calls,
            figures.primitive,
            figures.exclusive,
            figures.cumulative,
            figures.seen,
        )
    });
    let table = vec![
        // calls, primitive, exclusive, cumulative, seen
        (F, Some(2), Some(1), Some(13.0), Some(19.0), Some(23.0)),
        (G, Some(2), Some(1), Some(6.0), Some(9.0), Some(10.0)),
    ];
    same("function", functions.collect(), table);
    let edges = totals
        .edges
        .iter()
        .filter(|row| row.metric == MetricId(0))
        .map(|row| {
            let caller = row.caller.map(|caller| caller.0);
            (
                caller,
                row.callee.0,
                row.calls,
                row.exclusive,
                row.cumulative,
                row.outermost,
                row.seen,
            )
        });
    let table = vec![
        // caller, callee, calls, exclusive, cumulative, outermost, seen
        (
            None,
            F,
            Some(1),
            Some(10.0),
            Some(19.0),
            Some(19.0),
            Some(19.0),
        ),
        (
            Some(F),
            G,
            Some(2),
            Some(6.0),
            Some(9.0),
            Some(9.0),
            Some(10.0),
        ),
        (
            Some(G),
            F,
            Some(1),
            Some(3.0),
            Some(4.0),
            Some(0.0),
            Some(4.0),
        ),
    ];
    same("edge", edges.collect(), table);
    same(
        "total",
        totals.metrics.iter().map(|metric| metric.total).collect(),
        vec![19.0, 0.0],
    );
}
