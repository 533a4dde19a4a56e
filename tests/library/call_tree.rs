//! Merged stacks: the parts of a large call tree wait in a temporary file.

#[cfg(target_os = "linux")]
use std::fs::{self, File};
#[cfg(target_os = "linux")]
use std::io::Read;

use profdb::base::error::Stop;
use profdb::events::{
    Frame, FunctionDef, Label, LabelValue, Line, MetricId, Noise, Sample, Sink as _, Unit,
};
use profdb::profile::{Batch, CostRow, EdgeRow, InfoRow, NodeRow, Output, TreeBuilder};

use crate::support::allocation;
use crate::support::made_runs::Batches;

/// Maximum number of nodes in memory in debug builds.
const MOST_NODES: usize = 1 << 12;

const STACKS: u32 = 5_000;

/// Returns a number from 0 to `below`, from the upper bits of a linear congruential generator.
fn random(state: &mut u64, below: u32) -> u32 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    let [first, second, third, fourth, ..] = state.to_be_bytes();
    u32::from_be_bytes([first, second, third, fourth]) % below
}

/// Adds stacks of few functions, some with lines, so that equal paths occur in several parts.
///
/// The second metric is announced after a third of the stacks. Every 1,000th stack is that of the
/// function `marked`, from the first one on, with the given value; that with the number `label_at`
/// has a label. From there on nodes keep their numbers, so that all of them stay in memory.
fn build<O: Output>(output: O, value: f64, label_at: Option<u32>) -> TreeBuilder<O> {
    let mut builder = TreeBuilder::new(output, Stop::default());
    let mut state = 1;
    let mut metrics: Vec<MetricId> = Vec::new();
    let names: Vec<String> = (0..12).map(|at| format!("f{at}")).collect();
    let marked = Frame::function(builder.function(FunctionDef::named("marked")));
    let labels = builder.labels(&[Label {
        key: "key",
        value: LabelValue::Text("value"),
        unit: "",
    }]);
    for number in 0..STACKS {
        if number == 0 || number == STACKS / 3 {
            let name = format!("metric {number}");
            metrics.push(builder.metric(&name, Unit::Count, Noise::Sampled));
        }
        let mut stack = Vec::new();
        let depth = 1 + random(&mut state, 12);
        for level in 0..depth {
            let name = &names[random(&mut state, 12 - level) as usize];
            let function = builder.function(FunctionDef::named(name));
            let line = random(&mut state, 4).checked_sub(2);
            let line = line.map(|line| Line {
                file: "",
                line: line + 1,
                col: 0,
            });
            stack.push(Frame { function, line });
        }
        let is_marked = number % 1_000 == 0;
        if is_marked {
            stack = vec![marked];
        }
        let calls = Some(u64::from(random(&mut state, 9))).filter(|calls| *calls > 0);
        let metric = metrics[random(&mut state, 2) as usize % metrics.len()];
        let values = [(
            metric,
            if is_marked {
                value
            } else {
                f64::from(random(&mut state, 100))
            },
        )];
        let has_value = is_marked || random(&mut state, 3) > 0;
        builder.sample(Sample {
            stack: &stack,
            shared: 0,
            calls,
            values: if has_value { &values } else { &[] },
            labels: Some(labels).filter(|_| Some(number) == label_at),
        });
    }
    builder
}

/// The rows of a run.
#[derive(Debug, PartialEq)]
struct RunRows {
    nodes: Vec<NodeRow>,
    costs: Vec<CostRow>,
    functions: Vec<InfoRow>,
    lines: Vec<InfoRow>,
    edges: Vec<EdgeRow>,
}

/// Returns the rows of a run, and the nodes of its label with their costs.
fn finish(builder: TreeBuilder<Batches>) -> (RunRows, Vec<(u64, f64)>) {
    let (summary, Batches(batches)) = builder.finish().expect("a run that keeps the rules");
    let (mut nodes, mut costs) = (Vec::new(), Vec::new());
    for batch in batches {
        nodes.extend(batch.nodes);
        costs.extend(batch.costs);
    }
    nodes.sort_by_key(|row| row.node);
    costs.sort_by_key(|row| (row.metric, row.node));
    let labels = summary.label_costs.iter();
    let labels = labels.map(|row| (row.node, row.exclusive)).collect();
    let rows = RunRows {
        nodes,
        costs,
        functions: summary.functions.iter().collect(),
        lines: summary.lines.iter().collect(),
        edges: summary.edges.iter().collect(),
    };
    (rows, labels)
}

/// Keeping all nodes in memory is the second way, which a label on the first stack asks for.
#[test]
fn parts_in_a_file_make_the_tree_that_memory_makes() {
    let build = |label_at| build(Batches::default(), 7.0, label_at);
    let (kept, peak_of_kept) = allocation::most(|| build(Some(0)));
    let (parts, peak_of_parts) = allocation::most(|| build(None));
    assert!(
        peak_of_parts < peak_of_kept,
        "{peak_of_parts}, {peak_of_kept}"
    );
    let (expected, label) = finish(kept);
    assert!(expected.nodes.len() > 2 * MOST_NODES);
    assert_eq!(label, [(1, 7.0)]);
    let (rows, label) = finish(parts);
    assert!(rows == expected);
    assert_eq!(label, []);
    // The label comes when there are parts.
    let (rows, label) = finish(build(Some(STACKS / 2_000 * 1_000)));
    assert!(rows == expected);
    assert_eq!(label, [(1, 7.0)]);
}

/// The value of the marked stack, by which the temporary file is found.
#[cfg(target_os = "linux")]
const LOST_VALUE: f64 = 123_456.789;

/// Empties the temporary file when the first rows come.
#[cfg(target_os = "linux")]
#[derive(Default)]
struct TruncatingOutput {
    files: usize,
}

#[cfg(target_os = "linux")]
impl Output for TruncatingOutput {
    fn batch(&mut self, batch: &mut Batch) {
        batch.clear();
        if self.files == 0 {
            self.files = truncate_part_files();
        }
    }
}

/// Empties the open files without a name that hold the value of the marked stack. Returns their
/// number.
#[cfg(target_os = "linux")]
fn truncate_part_files() -> usize {
    let mut count = 0;
    for entry in fs::read_dir("/proc/self/fd").expect("Linux") {
        let path = entry.expect("an entry").path();
        // Other tests may close their files meanwhile.
        let target = fs::read_link(&path).unwrap_or_default();
        if !target.to_string_lossy().ends_with(" (deleted)") {
            continue;
        }
        let Ok(mut file) = File::options().read(true).write(true).open(&path) else {
            continue;
        };
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).expect("a readable file");
        let value = LOST_VALUE.to_le_bytes();
        if bytes.windows(value.len()).any(|window| window == value) {
            file.set_len(0).expect("a writable file");
            count += 1;
        }
    }
    count
}

#[cfg(target_os = "linux")]
#[test]
fn temporary_file_that_loses_bytes_is_an_error() {
    let builder = build(TruncatingOutput::default(), LOST_VALUE, None);
    let error = builder.finish().err().expect("no file").to_string();
    assert!(
        error.contains("the temporary file with merged stacks cannot be read"),
        "{error}"
    );
}
