//! Recordings without stacks: functions, lines and callees as the table of frames has them.

use std::collections::BTreeMap;

use super::frames::Frame;
use super::metric::{Metric, add};
use crate::base::scc::components;
use crate::events::{Edge, EdgeCost, EdgeKind, Frame as Place, FunctionId, Info, Sink};

/// What the file says of a function, all its ids added up.
#[derive(Default)]
struct Function {
    ids: u32,
    own: u64,
    total: u64,
    /// How often it is in samples, every level of a recursion counted.
    seen: u64,
    /// By line: how often it is in samples, and how often as the innermost one.
    lines: BTreeMap<u32, (u64, u64)>,
}

/// What the file says of all functions.
pub(super) struct Functions {
    functions: BTreeMap<FunctionId, Function>,
    /// By number: whether a function may call itself, through others or not.
    recurs: Vec<bool>,
    pub(super) has_callees: bool,
    /// Whether totals count a function once per sample. Where all of them are what every level
    /// adds up to, nothing says so.
    counts_once: bool,
    /// A callee is not in the file.
    lacks_callees: bool,
}

impl Functions {
    /// Adds up the table of frames. `missing` takes the place of frames that are not in the file.
    pub(super) fn of(frames: &[Frame], missing: Option<FunctionId>) -> Self {
        let mut functions: BTreeMap<FunctionId, Function> = BTreeMap::new();
        // By function and not by frame: ids are addresses, and several may be one function (case
        // `stackprof/same-function`).
        let (mut calls, mut counts_once) = (Vec::new(), false);
        for frame in frames {
            let mut seen = frame.own;
            for (callee, count) in &frame.callees {
                add(&mut seen, *count);
                let callee = frames.get(*callee as usize);
                calls.extend(callee.map(|callee| (frame.function.0, callee.function.0)));
            }
            // Own samples and those of callees are every level of a recursion. One function that
            // has another total shows that the file counts once per sample (case
            // `stackprof/totals-of-every-level`).
            counts_once |= frame.total != seen;
            let function = functions.entry(frame.function).or_default();
            function.ids += 1;
            add(&mut function.own, frame.own);
            add(&mut function.total, frame.total);
            add(&mut function.seen, seen);
            for line in &frame.lines {
                let (total, own) = function.lines.entry(line.line).or_default();
                add(total, line.total);
                add(own, line.own);
            }
        }
        let has_callees = !calls.is_empty();
        // A frame that is not in the file may have called any function.
        let lacks_callees = missing.is_some_and(|missing| {
            let mut callees = calls.iter().map(|(_, callee)| *callee);
            callees.any(|callee| callee == missing.0)
        });
        if let Some(missing) = missing {
            calls.extend(functions.keys().map(|callee| (missing.0, callee.0)));
        }
        let recurs = recurring(&functions, &calls);
        Self {
            functions,
            recurs,
            has_callees,
            counts_once,
            lacks_callees,
        }
    }

    /// Says functions with their own samples, and with their totals where these are cumulative.
    pub(super) fn say(&self, metrics: &[Metric], sink: &mut dyn Sink) {
        for (id, function) in &self.functions {
            // Two ids of one function may be in the same sample: then their totals count it twice.
            // That cannot be where the function does not recur.
            let is_known = function.ids == 1 && (self.counts_once || !self.has_callees);
            let is_alone = self.has_callees && !self.recurs(*id);
            let cumulative = (is_known || is_alone).then_some(function.total);
            let frame = Place::function(*id);
            say_info(frame, function.own, cumulative, metrics, sink);
        }
    }

    /// Lines, whose totals count every level of a recursion: a cumulative cost where there is none.
    pub(super) fn say_lines(&self, metrics: &[Metric], sink: &mut dyn Sink) {
        for (id, function) in &self.functions {
            // Figures of lines count every level. Where the total, once per sample, is what every
            // level adds up to, no sample has had a second one.
            let has_levels =
                function.ids != 1 || !self.counts_once || function.total != function.seen;
            let is_once = !self.recurs(*id) || !has_levels;
            for (line, (total, own)) in &function.lines {
                let cumulative = is_once.then_some(*total);
                let frame = Place::line(*id, *line);
                say_info(frame, *own, cumulative, metrics, sink);
            }
        }
    }

    fn recurs(&self, function: FunctionId) -> bool {
        self.recurs
            .get(function.0 as usize)
            .is_some_and(|recurs| *recurs)
    }
}

fn recurring(functions: &BTreeMap<FunctionId, Function>, calls: &[(u32, u32)]) -> Vec<bool> {
    let count = functions
        .last_key_value()
        .map_or(0, |(last, _)| last.0 as usize + 1);
    let component = components(count, calls);
    let mut sizes = vec![0_usize; count];
    for component in &component {
        if let Some(size) = sizes.get_mut(*component as usize) {
            *size += 1;
        }
    }
    // Alone in its component, a function may still call itself: calls to itself are looked at
    // below.
    let is_shared = |component: &u32| sizes.get(*component as usize).is_some_and(|size| *size > 1);
    let mut recurs: Vec<bool> = component.iter().map(is_shared).collect();
    for (caller, _) in calls.iter().filter(|(caller, callee)| caller == callee) {
        if let Some(recurs) = recurs.get_mut(*caller as usize) {
            *recurs = true;
        }
    }
    recurs
}

pub(super) fn say_info(
    frame: Place<'_>,
    own: u64,
    cumulative: Option<u64>,
    metrics: &[Metric],
    sink: &mut dyn Sink,
) {
    for metric in metrics {
        sink.info(Info {
            frame,
            metric: metric.id,
            calls: None,
            primitive: None,
            exclusive: Some(metric.of(own)),
            cumulative: cumulative.map(|samples| metric.of(samples)),
            seen: None,
        });
    }
}

/// Who called whom, every level of a recursion counted. What no one called began a stack.
pub(super) fn say_callees(
    frames: &[Frame],
    functions: &Functions,
    metrics: &[Metric],
    sink: &mut dyn Sink,
) {
    let mut called: BTreeMap<FunctionId, u64> = BTreeMap::new();
    for frame in frames {
        sink.at(frame.at);
        for (callee, count) in &frame.callees {
            if let Some(callee) = frames.get(*callee as usize) {
                add(called.entry(callee.function).or_default(), *count);
                let caller = Some(Place::function(frame.function));
                say_edge(caller, callee.function, *count, metrics, sink);
            }
        }
    }
    // Where callees are not in the file, it is unknown which functions began a stack.
    if functions.lacks_callees {
        return;
    }
    for (id, function) in &functions.functions {
        let called = called.get(id).copied().unwrap_or_default();
        // What is left of its levels was called by none: there it began a stack. A file whose
        // figures disagree may have more calls than levels.
        if function.seen > called {
            say_edge(None, *id, function.seen - called, metrics, sink);
        }
    }
}

fn say_edge(
    caller: Option<Place<'_>>,
    callee: FunctionId,
    seen: u64,
    metrics: &[Metric],
    sink: &mut dyn Sink,
) {
    let costs = metrics.iter().map(|metric| EdgeCost {
        metric: metric.id,
        exclusive: None,
        cumulative: None,
        outermost: None,
        seen: Some(metric.of(seen)),
    });
    sink.edge(Edge {
        callee,
        caller,
        kind: EdgeKind::Call,
        calls: None,
        costs: &costs.collect::<Vec<_>>(),
    });
}
