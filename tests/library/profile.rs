//! Runs that a builder makes: labels of samples, recursion, and functions by their definition.

use std::thread;

use profdb::base::error::Stop;
use profdb::events::{
    Edge, EdgeCost, EdgeKind, Fidelity, Frame, FunctionDef, FunctionId, Label, LabelValue,
    LabelsId, MetricId, Noise, RunFact, Sample, Sink as _, Unit,
};
use profdb::profile::{LabelText, TreeBuilder};

use crate::support::made_runs::Batches;

fn new_builder() -> TreeBuilder<Batches> {
    TreeBuilder::new(Batches::default(), Stop::default())
}

fn label<'a>(key: &'a str, value: &'a str) -> Label<'a> {
    Label {
        key,
        value: LabelValue::Text(value),
        unit: "",
    }
}

/// Adds a sample of a stack of functions.
fn add_sample(
    builder: &mut TreeBuilder<Batches>,
    names: &[&str],
    values: &[(MetricId, f64)],
    labels: Option<LabelsId>,
) {
    let functions = names.iter().map(|name| FunctionDef::named(name));
    let stack: Vec<Frame<'_>> = functions
        .map(|function| Frame::function(builder.function(function)))
        .collect();
    builder.sample(Sample {
        stack: &stack,
        shared: 0,
        calls: None,
        values,
        labels,
    });
}

#[test]
fn label_sets_are_equal_in_any_order() {
    let mut builder = new_builder();
    let samples = builder.samples("samples");
    let both = builder.labels(&[label("a", "1"), label("b", "2")]);
    let reordered = builder.labels(&[label("b", "2"), label("a", "1"), label("a", "1")]);
    assert_eq!(reordered, both);
    assert_ne!(builder.labels(&[label("a", "1"), label("a", "2")]), both);
    let text = builder.labels(&[label("a", "1")]);
    assert_ne!(text, both);
    let number = builder.labels(&[Label {
        value: LabelValue::Number(1),
        ..label("a", "")
    }]);
    assert_ne!(number, text);
    // Four sets have been announced: a fifth one is refused.
    add_sample(&mut builder, &["f"], &[(samples, 1.0)], Some(LabelsId(3)));
    assert!(!builder.has_refused());
    add_sample(&mut builder, &["f"], &[(samples, 1.0)], Some(LabelsId(4)));
    let error = builder.finish().err().expect("an unknown set").to_string();
    assert!(error.contains("labels that it never announced"), "{error}");
}

#[test]
fn label_costs_add_up_by_node_set_and_metric() {
    let mut builder = new_builder();
    let samples = builder.metric("samples", Unit::Count, Noise::Sampled);
    let time = builder.metric("time", Unit::Nanoseconds, Noise::Sampled);
    let [one, two] = ["1", "2"].map(|value| builder.labels(&[label("a", value)]));
    // Stacks come in another order than their nodes have in the tree.
    let (early, late) = (["a", "d"], ["c"]);
    add_sample(&mut builder, &["a", "b"], &[], None);
    let stacks: [(&[&str], _, _, _); 6] = [
        (&late, two, time, 5.0),
        (&late, one, samples, 1.0),
        (&late, one, samples, 2.0),
        (&early, one, samples, 1.0),
        (&early, two, samples, 4.0),
        (&early, two, samples, -4.0),
    ];
    for (stack, labels, metric, cost) in stacks {
        add_sample(&mut builder, stack, &[(metric, cost)], Some(labels));
    }
    let (summary, _) = builder.finish().expect("a run that keeps the rules");
    let sets: Vec<_> = summary
        .labels
        .into_iter()
        .map(|row| (row.value, row.labels))
        .collect();
    let text = |value: &str| LabelText::Text(value.into());
    assert_eq!(sets, [(text("1"), one), (text("2"), two)]);
    let costs: Vec<_> = summary
        .label_costs
        .iter()
        .map(|row| (row.metric, row.node, row.labels, row.exclusive))
        .collect();
    // Nodes: a 1, b 2, d 3, c 4.
    assert_eq!(
        costs,
        [
            (samples, 3, one, 1.0),
            (samples, 4, one, 3.0),
            (time, 4, two, 5.0)
        ]
    );
}

/// Functions that call each other in a row, on a stack that has no room for a recursion over them.
///
/// Where the last function calls the first one, all of them recur with each other, and calls from
/// outside of the recursion are unknown; without that call, all calls are from outside.
#[test]
fn long_chain_of_calls_needs_no_stack() {
    const FUNCTIONS: u32 = 20_000;
    let primitive_calls = |is_closed: bool| {
        let mut builder = new_builder();
        builder.run(RunFact::Fidelity(Fidelity::Edges));
        let samples = builder.samples("samples");
        let functions: Vec<FunctionId> = (0..FUNCTIONS)
            .map(|at| builder.function(FunctionDef::named(&at.to_string())))
            .collect();
        let mut call = |caller: FunctionId, callee: FunctionId| {
            builder.edge(Edge {
                callee,
                caller: Some(Frame::function(caller)),
                kind: EdgeKind::Call,
                calls: Some(1),
                costs: &[EdgeCost {
                    metric: samples,
                    exclusive: Some(1.0),
                    cumulative: None,
                    outermost: None,
                    seen: None,
                }],
            });
        };
        for pair in functions.windows(2) {
            call(pair[0], pair[1]);
        }
        if is_closed {
            call(functions[functions.len() - 1], functions[0]);
        }
        let (summary, _) = builder.finish().expect("a run that keeps the rules");
        let rows = summary.functions.iter();
        rows.map(|row| row.figures.primitive).collect::<Vec<_>>()
    };
    let small = thread::Builder::new().stack_size(128 << 10);
    let done = small.spawn(move || {
        let calls = primitive_calls(false);
        assert_eq!(calls.len(), FUNCTIONS as usize);
        // Nothing calls the first one.
        assert!(calls[1..].iter().all(|calls| *calls == Some(1)));
        let calls = primitive_calls(true);
        assert_eq!(calls.len(), FUNCTIONS as usize);
        assert!(calls.iter().all(Option::is_none));
    });
    let result = done.expect("a thread").join();
    assert!(result.is_ok());
}

/// Functions are found by a hash of their definition, and told apart by the definition itself.
///
/// Of 20,000 functions some share the half of the hash that is compared first with a probability of
/// 5 %, and nearly all of them share a place in the table.
#[test]
fn functions_with_colliding_hashes_are_told_apart() {
    const FUNCTIONS: u32 = 20_000;
    let mut builder = new_builder();
    let name = |at: u32| format!("{}", at % 7 + at * 8);
    for _ in 0..2 {
        for at in 0..FUNCTIONS {
            let function = builder.function(FunctionDef::named(&name(at)));
            assert_eq!(function, FunctionId(at));
        }
    }
}
