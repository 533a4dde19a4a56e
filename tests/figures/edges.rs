//! What the builder works out for a run that knows no paths: a random tree is built, then told
//! again as nothing but its edges, each with one of its three costs. Whatever comes out is what the
//! tree says, and what stays open is what recursion hides, by a slow look at who reaches whom.
//! Costs are whole quarters, so figures are compared for equality.

#![allow(
    clippy::similar_names,
    reason = "caller and callee are the field's words"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use profdb::base::error::Stop;
use profdb::events::{
    Cost, Edge, EdgeCost, EdgeKind, Fidelity, Frame, FunctionDef, FunctionId, Info, Line, MetricId,
    Noise, RunFact, Sink, Unit,
};
use profdb::profile::{
    Batch, EdgeRow, InfoFigures, InfoRow, NoteRow, Output, Rows, RunSummary, SourceLine,
    TreeBuilder,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::test_runner::RngAlgorithm;

const FUNCTIONS: u32 = 6;
const METRIC: MetricId = MetricId(0);

struct Nowhere;

impl Output for Nowhere {
    fn batch(&mut self, batch: &mut Batch) {
        batch.clear();
    }
}

fn built(say: impl FnOnce(&mut dyn Sink)) -> RunSummary {
    let mut builder = TreeBuilder::new(Nowhere, Stop::default());
    builder.metric("cost", Unit::Count, Noise::Unknown);
    for function in 0..FUNCTIONS {
        builder.function(FunctionDef::named(&function.to_string()));
    }
    say(&mut builder);
    builder.finish().expect("a run that keeps the rules").0
}

/// One call: how many levels end before it, the line it is made from (0 and 1 in the function's own
/// file, 2 as line 0 of another one), whom it calls, and what that costs itself.
#[derive(Clone, Copy, Debug)]
struct Call {
    ends: usize,
    line: Option<u32>,
    function: u32,
    calls: Option<u64>,
    quarters: u32,
}

fn call() -> impl Strategy<Value = Call> {
    let ends = prop_oneof![6 => Just(0), 3 => Just(1), 2 => Just(2), 1 => 3..9_usize];
    let calls = option::weighted(0.9, 1..4_u64);
    (
        ends,
        option::weighted(0.7, 0..3_u32),
        0..FUNCTIONS,
        calls,
        0..40_u32,
    )
        .prop_map(|(ends, line, function, calls, quarters)| Call {
            ends,
            line,
            function,
            calls,
            quarters,
        })
}

fn line_of(number: u32) -> Line<'static> {
    let file = if number == 2 { "included" } else { "" };
    Line {
        file,
        line: number % 2,
        col: 0,
    }
}

/// The calls as a tree. A line holds one call, and as much cost of its own as the call has.
fn say_tree(sink: &mut dyn Sink, calls: &[Call]) {
    let enter = |sink: &mut dyn Sink, frame: Frame<'_>, call: &Call| {
        sink.enter(frame, call.calls);
        sink.cost(METRIC, Cost::Exclusive(f64::from(call.quarters) / 4.0));
    };
    // The open functions, each with whether a line of its caller is open around it.
    let mut open: Vec<(FunctionId, bool)> = Vec::new();
    let close = |sink: &mut dyn Sink, in_line: bool| {
        sink.leave();
        if in_line {
            sink.leave();
        }
    };
    for call in calls {
        for _ in 0..call.ends.min(open.len()) {
            let (_, in_line) = open.pop().expect("as many are open");
            close(sink, in_line);
        }
        let line = open.last().zip(call.line);
        if let Some(((caller, _), number)) = line {
            enter(
                sink,
                Frame {
                    function: *caller,
                    line: Some(line_of(number)),
                },
                call,
            );
        }
        enter(sink, Frame::function(FunctionId(call.function)), call);
        open.push((FunctionId(call.function), line.is_some()));
    }
    while let Some((_, in_line)) = open.pop() {
        close(sink, in_line);
    }
}

/// Which of its costs the file gives for an edge: 0 is cumulative, 1 outermost, else seen.
fn told(part: u32, [cumulative, outermost, seen]: [Option<f64>; 3]) -> [Option<f64>; 3] {
    match part {
        0 => [cumulative, None, None],
        1 => [None, outermost, None],
        _ => [None, None, seen],
    }
}

/// The same run as what a file knows that counts pairs of functions: edges, and the own costs of
/// functions and lines.
fn say_edges(sink: &mut dyn Sink, truth: &RunSummary, parts: &[u32]) {
    sink.run(RunFact::Fidelity(Fidelity::Edges));
    for (row, part) in truth.edges.iter().zip(parts.iter().cycle()) {
        let [cumulative, outermost, seen] = told(*part, [row.cumulative, row.outermost, row.seen]);
        let cost = EdgeCost {
            metric: METRIC,
            exclusive: row.exclusive,
            cumulative,
            outermost,
            seen,
        };
        let line = row.caller_line.map(|line| Line {
            file: row.line_file.as_deref().unwrap_or_default(),
            line,
            col: row.caller_col,
        });
        let caller = row.caller.map(|function| Frame { function, line });
        let (callee, kind, calls) = (row.callee, EdgeKind::Call, row.calls);
        sink.edge(Edge {
            callee,
            caller,
            kind,
            calls,
            costs: &[cost],
        });
    }
    for row in truth.functions.iter().chain(truth.lines.iter()) {
        let place = row.place.as_ref();
        let line = place.map(|place| Line {
            file: place.file.as_deref().unwrap_or_default(),
            line: place.line,
            col: place.col,
        });
        sink.info(Info {
            frame: Frame {
                function: row.function,
                line,
            },
            metric: METRIC,
            calls: None,
            primitive: None,
            exclusive: row.figures.exclusive,
            cumulative: None,
            seen: None,
        });
    }
}

type Pair = (FunctionId, FunctionId);

/// Who reaches whom by calls, by adding steps until there are no more.
fn reach(edges: &Rows<EdgeRow>) -> BTreeSet<Pair> {
    let mut pairs: BTreeSet<Pair> = edges
        .iter()
        .filter_map(|row| Some((row.caller?, row.callee)))
        .collect();
    loop {
        let longer = pairs.iter().flat_map(|(a, b)| {
            pairs
                .iter()
                .filter(move |(c, _)| c == b)
                .map(|(_, d)| (*a, *d))
        });
        let longer: BTreeSet<Pair> = longer.filter(|pair| !pairs.contains(pair)).collect();
        if longer.is_empty() {
            return pairs;
        }
        pairs.extend(longer);
    }
}

fn infos(totals: &RunSummary) -> BTreeMap<(FunctionId, Option<(u32, bool)>), InfoFigures> {
    let place = |place: &SourceLine| (place.line, place.file.is_some());
    let rows = totals.functions.iter().chain(totals.lines.iter());
    rows.map(|row| ((row.function, row.place.as_ref().map(place)), row.figures))
        .collect()
}

/// Callee, caller, and file and line of the caller.
type EdgeOf = (
    FunctionId,
    Option<FunctionId>,
    Option<Arc<str>>,
    Option<u32>,
);

fn edge_of(row: &EdgeRow) -> EdgeOf {
    (
        row.callee,
        row.caller,
        row.line_file.clone(),
        row.caller_line,
    )
}

fn edges(totals: &RunSummary) -> BTreeMap<EdgeOf, EdgeRow> {
    totals
        .edges
        .iter()
        .map(|row| (edge_of(&row), row))
        .collect()
}

fn cases(cases: u32) -> ProptestConfig {
    let rng_algorithm = RngAlgorithm::XorShift;
    ProptestConfig {
        cases,
        rng_algorithm,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(cases(3000))]

    #[test]
    fn what_is_worked_out_is_what_the_tree_says(calls in vec(call(), 0..24), parts in vec(0..4_u32, 1..40)) {
        let truth = built(|sink| say_tree(sink, &calls));
        let got = built(|sink| say_edges(sink, &truth, &parts));
        let reach = reach(&truth.edges);
        let recur = |a: FunctionId, b: FunctionId| reach.contains(&(a, b)) && reach.contains(&(b, a));
        let with_others = |f: FunctionId| (0..FUNCTIONS).map(FunctionId).any(|other| other != f && recur(f, other));

        let (expected, found) = (edges(&truth), edges(&got));
        prop_assert!(expected.keys().eq(found.keys()));
        // Of an edge within a recursion, only what was told; calls of a function by itself are
        // never outermost.
        let mut seen: BTreeMap<FunctionId, Option<f64>> = BTreeMap::new();
        // Functions of which all callers say what their outermost calls cost.
        let mut paid: BTreeMap<FunctionId, bool> = BTreeMap::new();
        for ((key, part), row) in truth.edges.iter().map(|row| edge_of(&row)).zip(parts.iter().cycle()).map(|of| {
            let row = &expected[&of.0];
            (of, row)
        }) {
            let (callee, caller) = (key.0, key.1);
            let all = [row.cumulative, row.outermost, row.seen];
            let mut known = told(*part, all);
            if caller.is_none_or(|caller| !recur(caller, callee)) {
                known = all;
            } else if caller == Some(callee) {
                known[1] = row.outermost;
            }
            let [cumulative, outermost, seen_here] = known;
            *paid.entry(callee).or_insert(true) &= outermost.is_some();
            let row = EdgeRow { cumulative, outermost, seen: seen_here, ..row.clone() };
            prop_assert_eq!(&found[&key], &row);
            if let Some(caller) = caller {
                let sum = seen.entry(caller).or_insert(Some(0.0));
                *sum = sum.zip(seen_here).map(|(sum, part)| sum + part);
            }
        }

        let (expected, found) = (infos(&truth), infos(&got));
        for ((function, place), figures) in &found {
            let true_figures = expected.get(&(*function, *place));
            if place.is_some() {
                let cumulative = true_figures.and_then(|figures| figures.cumulative);
                prop_assert_eq!(figures.cumulative, cumulative.filter(|_| !recur(*function, *function)));
                continue;
            }
            let true_figures = true_figures.expect("a function of the tree");
            let hidden = with_others(*function);
            prop_assert_eq!(figures.exclusive, true_figures.exclusive);
            prop_assert_eq!(figures.calls, true_figures.calls);
            prop_assert_eq!(figures.primitive, true_figures.primitive.filter(|_| !hidden));
            let is_paid = paid.get(function).copied().unwrap_or(false);
            prop_assert_eq!(figures.cumulative, true_figures.cumulative.filter(|_| !hidden || is_paid));
            let called = seen.get(function).copied().unwrap_or(Some(0.0));
            prop_assert_eq!(figures.seen, true_figures.seen.filter(|_| called.is_some()));
        }
        prop_assert!(expected.keys().all(|key| found.contains_key(key)));
    }
}

/// What a file gives is kept, also where the edges say something else; what it gives of a cycle is
/// all that is known of it.
#[test]
fn figures_of_the_file_come_first() {
    let (f, g, h) = (FunctionId(0), FunctionId(1), FunctionId(2));
    let totals = built(|sink| {
        sink.run(RunFact::Fidelity(Fidelity::Edges));
        for (caller, callee, seen) in [(f, g, Some(7.0)), (g, h, Some(4.0)), (h, g, None)] {
            let cost = EdgeCost {
                metric: METRIC,
                exclusive: None,
                cumulative: None,
                outermost: None,
                seen,
            };
            let caller = Some(Frame::function(caller));
            sink.edge(Edge {
                callee,
                caller,
                kind: EdgeKind::Call,
                calls: Some(1),
                costs: &[cost],
            });
        }
        let info = |function, calls, exclusive, cumulative| Info {
            frame: Frame::function(function),
            metric: METRIC,
            calls,
            primitive: None,
            exclusive,
            cumulative,
            seen: None,
        };
        sink.info(info(f, None, Some(1.0), Some(9.0)));
        sink.info(info(g, Some(5), Some(2.0), Some(6.5)));
        sink.info(info(h, None, Some(3.0), None));
    });
    let found: Vec<_> = totals.functions.iter().map(|row| row.figures).collect();
    let figures = |calls, primitive, exclusive, cumulative, seen| InfoFigures {
        calls,
        primitive,
        exclusive: Some(exclusive),
        cumulative,
        seen,
        recorded: true,
    };
    let expected = [
        // calls, primitive, exclusive, cumulative, seen
        figures(None, None, 1.0, Some(9.0), Some(8.0)),
        figures(Some(5), None, 2.0, Some(6.5), Some(6.0)),
        figures(Some(1), None, 3.0, None, None),
    ];
    assert_eq!(found, expected);
}

/// The note counts functions as far as they have a row in a metric: in the default one all of them
/// have, in others those that cost something.
#[test]
fn the_note_on_callers_counts_what_has_a_row() {
    let (f, g) = (FunctionId(0), FunctionId(1));
    let default = MetricId(1);
    for (paid, rows, noted) in [(METRIC, 0, false), (default, 1, true)] {
        let totals = built(|sink| {
            sink.metric("other", Unit::Count, Noise::Unknown);
            sink.run(RunFact::DefaultMetric(default));
            sink.run(RunFact::Fidelity(Fidelity::Edges));
            let cost = EdgeCost {
                metric: paid,
                exclusive: Some(0.0),
                cumulative: Some(4.0),
                outermost: Some(4.0),
                seen: Some(4.0),
            };
            sink.edge(Edge {
                callee: g,
                caller: Some(Frame::function(f)),
                kind: EdgeKind::Call,
                calls: Some(1),
                costs: &[cost],
            });
            // The file says that it cost nothing, and that its caller paid.
            sink.info(Info {
                frame: Frame::function(g),
                metric: paid,
                calls: None,
                primitive: None,
                exclusive: Some(0.0),
                cumulative: Some(0.0),
                seen: Some(0.0),
            });
        });
        let of_paid = |row: &InfoRow| row.function == g && row.metric == paid;
        assert_eq!(totals.functions.iter().filter(of_paid).count(), rows);
        let is_note = |note: &NoteRow| note.message.contains("differ from the sum of the callers");
        assert_eq!(totals.notes.iter().any(is_note), noted, "{paid:?}");
    }
}
