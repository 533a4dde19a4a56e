//! What the builder has to say of a run, by the definitions and without regard to time: the whole
//! tree is kept, and every question is answered by walking it.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::successors;

use profdb::events::{Cost, EdgeKind, FunctionId, MetricId};
use profdb::profile::{
    CostRow, EdgeRow, InfoFigures, InfoRow, NodeCost, NodeRow, SourceLine as RowPlace,
};

use crate::support::streams::{Node, Place, Spot, Stack, Stream};

/// Everything that the builder puts out, each list in the order of its key.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub nodes: Vec<NodeRow>,
    pub costs: Vec<CostRow>,
    pub functions: Vec<InfoRow>,
    pub lines: Vec<InfoRow>,
    pub edges: Vec<EdgeRow>,
    /// By metric.
    pub totals: Vec<f64>,
    /// How often a cost was less than that of what was called: the figure of the one note.
    pub exceeded: usize,
}

/// Who called; `None` at the root.
type Caller = Option<CallSite>;

/// A function and, if known, its line.
type CallSite = (FunctionId, Option<Place>);

/// What the place of a node in the tree makes of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Known {
    pub depth: usize,
    /// How many nodes are below.
    pub size: usize,
    /// The nearest node above of the same function or line.
    pub outer: Option<usize>,
    pub caller: Caller,
    /// A call of the same function by the same function is open above.
    pub inner_pair: bool,
    /// By metric.
    pub figures: Vec<NodeCost>,
    /// Cumulative cost of the functions called, by metric.
    pub callees: Vec<f64>,
}

/// The nodes of a run: those of its forest, then those that its stacks merge into.
pub(crate) fn all_nodes(stream: &Stream) -> Vec<Node> {
    let mut nodes = stream.forest.clone();
    add_merged(&mut nodes, None, &[], stream);
    nodes
}

/// Adds what stands below a path, in the order in which stacks first came there.
fn add_merged(nodes: &mut Vec<Node>, parent: Option<usize>, path: &[Spot], stream: &Stream) {
    let mut done: Vec<Spot> = Vec::new();
    for stack in &stream.samples {
        let opened = opened(&stack.frames);
        let Some(&spot) = opened.strip_prefix(path).and_then(<[Spot]>::first) else {
            continue;
        };
        if done.contains(&spot) {
            continue;
        }
        done.push(spot);
        let below = [path, &[spot]].concat();
        let at = nodes.len();
        nodes.push(Node {
            parent,
            spot,
            calls: merged_calls(&below, &stream.samples),
            costs: (0..stream.metrics)
                .map(|metric| Some(merged_cost(MetricId(metric), &below, &stream.samples)))
                .collect(),
            costs_backwards: false,
        });
        add_merged(nodes, Some(at), &below, stream);
    }
}

/// A frame with a line opens its function first.
fn opened(frames: &[Spot]) -> Vec<Spot> {
    let open = |&spot: &Spot| [Some(Spot { line: None, ..spot }), spot.line.map(|_| spot)];
    frames.iter().flat_map(open).flatten().collect()
}

/// The path to the function in which a sample was taken.
fn called(stack: &Stack) -> Vec<Spot> {
    let mut path = opened(&stack.frames);
    path.pop_if(|spot| spot.line.is_some());
    path
}

/// Samples count calls of the function, not of its line; nobody counts those of a function in which
/// none was taken.
fn merged_calls(path: &[Spot], samples: &[Stack]) -> Option<u64> {
    let mut here = samples
        .iter()
        .filter(|stack| called(stack) == path)
        .peekable();
    // The sum of nothing would be 0 calls, which is not what is known of a function that was only
    // passed through.
    here.peek()?;
    here.map(|stack| stack.calls).sum()
}

/// A sample costs the line in which it was taken, and the function.
fn merged_cost(metric: MetricId, path: &[Spot], samples: &[Stack]) -> Cost {
    let here = samples
        .iter()
        .filter(|stack| called(stack) == path || opened(&stack.frames) == path);
    let values = here
        .flat_map(|stack| &stack.values)
        .filter(|(of, _)| *of == metric);
    Cost::Exclusive(values.map(|(_, value)| value).sum())
}

fn call_site(spot: Spot) -> CallSite {
    (spot.function, spot.line)
}

fn caller_function(caller: Caller) -> Option<FunctionId> {
    caller.map(|(function, _)| function)
}

/// Whether the node is a call: neither a line nor a container.
fn is_call(stream: &Stream, spot: Spot) -> bool {
    spot.line.is_none() && !stream.is_container(spot.function)
}

/// What the nodes cost, given what the functions that they called cost.
fn settled(node: &Node, callees: &[f64]) -> Vec<NodeCost> {
    let settle = |(cost, callees): (&Option<Cost>, &f64)| match *cost {
        None => NodeCost {
            exclusive: 0.0,
            cumulative: Some(*callees),
        },
        Some(Cost::Exclusive(exclusive)) => NodeCost {
            exclusive,
            cumulative: Some(exclusive + callees),
        },
        Some(Cost::Cumulative(cumulative)) => {
            let left = cumulative - callees;
            // Corrected times of a function that called nothing may be below 0 (case
            // `dyalog_csv/negative-times`).
            let exclusive = if *callees == 0.0 { left } else { left.max(0.0) };
            NodeCost {
                exclusive,
                cumulative: Some(cumulative),
            }
        }
        Some(Cost::Both {
            exclusive,
            cumulative,
        }) => NodeCost {
            exclusive,
            cumulative: Some(cumulative),
        },
        Some(Cost::ExclusiveOnly(exclusive)) => NodeCost {
            exclusive,
            cumulative: None,
        },
    };
    node.costs.iter().zip(callees).map(settle).collect()
}

fn known_cumulative(figures: NodeCost) -> f64 {
    figures
        .cumulative
        .expect("only of lines it is unknown what they called")
}

/// Every node by the definitions, each answered by a walk of its own: quadratic at best.
pub(crate) fn by_walking(stream: &Stream, nodes: &[Node]) -> Vec<Known> {
    let walk = Walk { stream, nodes };
    let know = |at: usize| {
        let callees = walk.callees(at);
        Known {
            depth: walk.above(at).count(),
            size: (0..nodes.len())
                .filter(|&below| walk.above(below).any(|above| above == at))
                .count(),
            outer: walk
                .above(at)
                .find(|&above| nodes[above].spot == nodes[at].spot),
            caller: walk.caller(at),
            inner_pair: walk.above(at).any(|above| walk.same_pair(above, at)),
            figures: settled(&nodes[at], &callees),
            callees,
        }
    };
    (0..nodes.len()).map(know).collect()
}

#[derive(Clone, Copy)]
struct Walk<'a> {
    stream: &'a Stream,
    nodes: &'a [Node],
}

impl<'a> Walk<'a> {
    /// The nodes above, innermost first.
    fn above(self, at: usize) -> impl Iterator<Item = usize> + use<'a> {
        successors(self.nodes[at].parent, move |&above| {
            self.nodes[above].parent
        })
    }

    /// The nearest function or line above that is not a container.
    fn caller(self, at: usize) -> Caller {
        let mut spots = self.above(at).map(|above| self.nodes[above].spot);
        spots
            .find(|spot| !self.stream.is_container(spot.function))
            .map(call_site)
    }

    fn same_pair(self, one: usize, other: usize) -> bool {
        let (called, other_called) = (self.nodes[one].spot, self.nodes[other].spot);
        is_call(self.stream, called)
            && is_call(self.stream, other_called)
            && called.function == other_called.function
            && caller_function(self.caller(one)) == caller_function(self.caller(other))
    }

    /// Cumulative cost of the functions called from here: below a function, those called from its
    /// lines as well.
    fn callees(self, at: usize) -> Vec<f64> {
        let mut sums = vec![0.0; self.stream.metrics as usize];
        for (below, node) in self
            .nodes
            .iter()
            .enumerate()
            .filter(|(_, node)| node.spot.line.is_none())
        {
            let parent_line = node
                .parent
                .filter(|&parent| self.nodes[parent].spot.line.is_some());
            // A call from a line is one of the line and one of its function: both have it among
            // their callees.
            let function = parent_line.map_or(node.parent, |line| self.nodes[line].parent);
            if parent_line == Some(at) || function == Some(at) {
                let figures = settled(node, &self.callees(below));
                sums.iter_mut()
                    .zip(figures)
                    .for_each(|(sum, figures)| *sum += known_cumulative(figures));
            }
        }
        sums
    }
}

/// The same in one pass down and one up, for long runs: what holds above a node is its parent's
/// plus the parent.
pub(crate) fn in_one_pass(stream: &Stream, nodes: &[Node]) -> Vec<Known> {
    let spots: BTreeSet<Spot> = nodes.iter().map(|node| node.spot).collect();
    let index: BTreeMap<Spot, usize> = spots.into_iter().zip(0..).collect();
    // By node: the nearest node above of each spot, and the pairs of functions open above.
    let mut nearest: Vec<Vec<Option<usize>>> = Vec::new();
    let mut pairs: Vec<BTreeSet<(FunctionId, Option<FunctionId>)>> = Vec::new();
    let mut known: Vec<Known> = Vec::new();
    for node in nodes {
        let (mut open_spots, mut open_pairs) = (vec![None; index.len()], BTreeSet::new());
        let (mut depth, mut caller) = (0, None);
        if let Some(above) = node.parent {
            let spot = nodes[above].spot;
            depth = known[above].depth + 1;
            caller = if stream.is_container(spot.function) {
                known[above].caller
            } else {
                Some(call_site(spot))
            };
            open_spots.clone_from(&nearest[above]);
            open_spots[index[&spot]] = Some(above);
            open_pairs.clone_from(&pairs[above]);
            if is_call(stream, spot) {
                open_pairs.insert((spot.function, caller_function(known[above].caller)));
            }
        }
        let pair = (node.spot.function, caller_function(caller));
        known.push(Known {
            depth,
            size: 0,
            outer: open_spots[index[&node.spot]],
            caller,
            inner_pair: is_call(stream, node.spot) && open_pairs.contains(&pair),
            figures: Vec::new(),
            callees: vec![0.0; stream.metrics as usize],
        });
        nearest.push(open_spots);
        pairs.push(open_pairs);
    }
    // From the last one: what is below a node comes after it in pre-order, and is settled when its
    // turn comes.
    for (at, node) in nodes.iter().enumerate().rev() {
        known[at].figures = settled(node, &known[at].callees);
        let Some(parent) = node.parent else {
            continue;
        };
        known[parent].size += known[at].size + 1;
        if node.spot.line.is_none() {
            let function = nodes[parent]
                .parent
                .filter(|_| nodes[parent].spot.line.is_some());
            for above in [Some(parent), function].into_iter().flatten() {
                for metric in 0..known[at].figures.len() {
                    known[above].callees[metric] += known_cumulative(known[at].figures[metric]);
                }
            }
        }
    }
    known
}

/// What has to come out, given what is known of the nodes.
pub(crate) fn outcome(stream: &Stream, nodes: &[Node], known: &[Known]) -> Outcome {
    let default = stream.default.unwrap_or(MetricId(0));
    let metrics = || (0..stream.metrics).map(MetricId);
    let infos = info_rows(stream, default, nodes, known);
    let (lines, functions): (Vec<_>, Vec<_>) =
        infos.into_iter().partition(|row| row.place.is_some());
    Outcome {
        nodes: (0..nodes.len())
            .map(|at| node_row(at, default, nodes, known))
            .collect(),
        costs: metrics()
            .filter(|&metric| metric != default)
            .flat_map(|metric| cost_rows(metric, known))
            .collect(),
        edges: edge_rows(stream, nodes, known),
        totals: metrics()
            .map(|metric| total(stream, metric, nodes, known, &functions))
            .collect(),
        exceeded: metrics().map(|metric| exceeded(metric, nodes, known)).sum(),
        functions,
        lines,
    }
}

fn number(at: usize) -> u64 {
    at as u64 + 1
}

fn node_row(at: usize, default: MetricId, nodes: &[Node], known: &[Known]) -> NodeRow {
    let (node, known) = (&nodes[at], &known[at]);
    NodeRow {
        node: number(at),
        up: node.parent.map(|parent| number(at) - number(parent)),
        size: known.size as u64,
        outer_up: known.outer.map(|outer| number(at) - number(outer)),
        depth: u32::try_from(known.depth).expect("a depth that can be tested"),
        function: node.spot.function,
        place: node.spot.line.map(row_place),
        calls: node.calls,
        cost: known.figures[default.0 as usize],
    }
}

fn row_place(place: Place) -> RowPlace {
    let file = Some(place.file)
        .filter(|file| !file.is_empty())
        .map(Into::into);
    RowPlace {
        file,
        line: place.line,
        col: place.col,
    }
}

fn cost_rows(metric: MetricId, known: &[Known]) -> impl Iterator<Item = CostRow> {
    let nothing = NodeCost {
        exclusive: 0.0,
        cumulative: Some(0.0),
    };
    let row = move |(at, known): (usize, &Known)| CostRow {
        metric,
        node: number(at),
        cost: known.figures[metric.0 as usize],
    };
    known
        .iter()
        .enumerate()
        .map(row)
        .filter(move |row| row.cost != nothing)
}

/// Functions and lines are counted alike.
fn info_rows(stream: &Stream, default: MetricId, nodes: &[Node], known: &[Known]) -> Vec<InfoRow> {
    let mut of_spot: BTreeMap<Spot, Vec<usize>> = BTreeMap::new();
    for (at, node) in nodes.iter().enumerate() {
        of_spot.entry(node.spot).or_default().push(at);
    }
    for said in &stream.infos {
        of_spot
            .entry(Spot {
                line: None,
                ..said.spot
            })
            .or_default();
        of_spot.entry(said.spot).or_default();
    }
    for pair in &stream.edges {
        let functions = [Some(pair.callee), pair.caller.map(|caller| caller.function)];
        for function in functions.into_iter().flatten() {
            of_spot
                .entry(Spot {
                    function,
                    line: None,
                })
                .or_default();
        }
    }
    let mut rows = Vec::new();
    for metric in (0..stream.metrics).map(MetricId) {
        for (&spot, here) in &of_spot {
            let mut figures = info_sums(metric, here, nodes, known);
            if let Some(said) = stream
                .infos
                .iter()
                .find(|said| (said.metric, said.spot) == (metric, spot))
            {
                let ([calls, primitive], [exclusive, cumulative, seen]) = (said.calls, said.costs);
                figures = InfoFigures {
                    calls: calls.or(figures.calls),
                    primitive: primitive.or(figures.primitive),
                    exclusive: exclusive.or(figures.exclusive),
                    cumulative: cumulative.or(figures.cumulative),
                    seen: seen.or(figures.seen),
                    recorded: true,
                };
            }
            let InfoFigures {
                exclusive,
                cumulative,
                seen,
                ..
            } = figures;
            let half_known = exclusive.is_some() && cumulative.is_none();
            if metric == default || half_known || has_cost(&[exclusive, cumulative, seen]) {
                rows.push(InfoRow {
                    metric,
                    function: spot.function,
                    place: spot.line.map(row_place),
                    figures,
                });
            }
        }
    }
    rows
}

fn has_cost(figures: &[Option<f64>]) -> bool {
    figures.iter().flatten().any(|&figure| figure != 0.0)
}

/// The sums over the nodes of one function or line. As soon as it is unknown what one of its nodes
/// called, nothing is known of the cumulative costs.
fn info_sums(metric: MetricId, here: &[usize], nodes: &[Node], known: &[Known]) -> InfoFigures {
    if here.is_empty() {
        return InfoFigures::default();
    }
    let outermost = || here.iter().filter(|&&at| known[at].outer.is_none());
    let figures = |at: &usize| known[*at].figures[metric.0 as usize];
    let calls = |at: &usize| nodes[*at].calls;
    let seen: Option<f64> = here.iter().map(|at| figures(at).cumulative).sum();
    InfoFigures {
        calls: here.iter().map(calls).sum(),
        primitive: outermost().map(calls).sum(),
        exclusive: Some(here.iter().map(|at| figures(at).exclusive).sum()),
        cumulative: seen.and_then(|_| outermost().map(|at| figures(at).cumulative).sum()),
        seen,
        recorded: false,
    }
}

/// Who tells of an edge: nodes, and pairs that the file itself tells.
#[derive(Default)]
struct Tellers {
    nodes: Vec<usize>,
    pairs: Vec<usize>,
}

/// What one node or one edge of the file adds to an edge: exclusive, cumulative, outermost, seen.
type Part = [Option<f64>; 4];

fn edge_rows(stream: &Stream, nodes: &[Node], known: &[Known]) -> Vec<EdgeRow> {
    let mut of_edge: BTreeMap<(FunctionId, Caller, EdgeKind), Tellers> = BTreeMap::new();
    for (at, node) in nodes
        .iter()
        .enumerate()
        .filter(|(_, node)| is_call(stream, node.spot))
    {
        of_edge
            .entry((node.spot.function, known[at].caller, EdgeKind::Call))
            .or_default()
            .nodes
            .push(at);
    }
    for (at, pair) in stream.edges.iter().enumerate() {
        of_edge
            .entry((pair.callee, pair.caller.map(call_site), pair.kind))
            .or_default()
            .pairs
            .push(at);
    }
    let mut rows = Vec::new();
    for metric in (0..stream.metrics).map(MetricId) {
        for (&(callee, caller, kind), tellers) in &of_edge {
            let of_nodes = tellers
                .nodes
                .iter()
                .map(|&at| node_part(metric, &known[at]));
            let of_file = tellers
                .pairs
                .iter()
                .flat_map(|&at| &stream.edges[at].costs)
                .filter(|cost| cost.metric == metric);
            let of_file =
                of_file.map(|cost| [cost.exclusive, cost.cumulative, cost.outermost, cost.seen]);
            let figures = sum_of_known(of_nodes.chain(of_file));
            let calls = tellers.nodes.iter().map(|&at| nodes[at].calls);
            let [exclusive, cumulative, outermost, seen] = figures;
            let place = caller.and_then(|(_, place)| place);
            rows.push(EdgeRow {
                metric,
                callee,
                caller: caller_function(caller),
                line_file: place.and_then(|place| row_place(place).file),
                caller_line: place.map(|place| place.line),
                caller_col: place.map_or(0, |place| place.col),
                kind,
                calls: calls
                    .chain(tellers.pairs.iter().map(|&at| stream.edges[at].calls))
                    .sum(),
                exclusive,
                cumulative,
                outermost,
                seen,
            });
        }
    }
    rows
}

fn node_part(metric: MetricId, known: &Known) -> Part {
    let figures = known.figures[metric.0 as usize];
    let cumulative = known_cumulative(figures);
    let outermost = if known.outer.is_none() {
        cumulative
    } else {
        0.0
    };
    let once = if known.inner_pair { 0.0 } else { cumulative };
    [figures.exclusive, once, outermost, cumulative].map(Some)
}

/// What nobody said stays unknown; else the sum of what was said.
fn sum_of_known(parts: impl Iterator<Item = Part>) -> Part {
    let add = |sum: Option<f64>, part: Option<f64>| {
        sum.map_or(part, |sum| Some(sum + part.unwrap_or(0.0)))
    };
    parts.fold([None; 4], |sums, part| {
        std::array::from_fn(|at| add(sums[at], part[at]))
    })
}

fn total(
    stream: &Stream,
    metric: MetricId,
    nodes: &[Node],
    known: &[Known],
    functions: &[InfoRow],
) -> f64 {
    let at = metric.0 as usize;
    if let Some(stated) = stream.stated[at] {
        return stated;
    }
    if nodes.is_empty() {
        let own = functions.iter().filter(|row| row.metric == metric);
        return own.filter_map(|row| row.figures.exclusive).sum();
    }
    let roots = known.iter().filter(|known| known.depth == 0);
    roots.map(|root| known_cumulative(root.figures[at])).sum()
}

fn exceeded(metric: MetricId, nodes: &[Node], known: &[Known]) -> usize {
    let at = metric.0 as usize;
    let exceeds = |(node, known): &(&Node, &Known)| match node.costs[at] {
        Some(Cost::Cumulative(cumulative)) => {
            let callees = known.callees[at];
            callees != 0.0 && cumulative - callees < -1e-9 * cumulative.abs()
        }
        _ => false,
    };
    nodes.iter().zip(known).filter(exceeds).count()
}
