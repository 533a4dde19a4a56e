//! The queue from importer to builder: buffers sink calls in batches, and replays them on the
//! builder's thread. Reading a file and adding up its figures take about equally long.
//!
//! Functions and sets of labels get their ids on the importer's side, because it wants an answer;
//! metrics are only counted there.

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender};

use crate::base::error::Position;
use crate::events::{
    Cost, Edge, EdgeCost, EdgeKind, Fact, Frame, FunctionDef, FunctionId, Info, Label, LabelsId,
    Line, MetricId, Noise, Note, RunFact, Sample, Severity, Sink, Unit,
};
use crate::profile::{Function, FunctionInterner, LabelSet, LabelSetInterner, Output, TreeBuilder};

/// Events in one batch: few enough that they are still in the cache when the builder gets them.
const EVENTS: usize = 4096;
/// Parts of events (frames, costs, values) in one batch.
const PARTS: usize = 16 * 1024;
/// Bytes of text in one batch.
const TEXT: usize = 1 << 20;

/// Prefetch window, in nodes: as many as memory can deliver at once.
const AHEAD: usize = 32;

/// One call of a [`Sink`], in 16 bytes: each byte goes from one core's cache into another's. What is
/// longer, has text or is mostly absent lies in lists of the batch, in the order of the events, so
/// that events need not be dropped either.
#[derive(Clone, Copy)]
enum Event {
    /// The next fact.
    Run,
    /// The next metric.
    Metric,
    /// The next function.
    Function,
    /// The next set of labels.
    Labels,
    /// Opens a node of a function, with the next calls if they are known.
    Enter(FunctionId, HasCalls),
    /// Opens a node of the next frame.
    EnterFrame(HasCalls),
    ExclusiveCost(MetricId, f64),
    CumulativeCost(MetricId, f64),
    ExclusiveOnlyCost(MetricId, f64),
    /// Both are the next.
    BothCosts(MetricId),
    Leave,
    /// A sample with as many frames of the last one as are shared, the next so many frames and
    /// values, and the next labels.
    Sample {
        shared: u32,
        frames: u32,
        values: u32,
        has_calls: HasCalls,
    },
    /// An edge, from the next frame if it has a caller, with the next so many costs.
    Edge {
        callee: FunctionId,
        has_caller: bool,
        kind: EdgeKind,
        has_calls: HasCalls,
        costs: u32,
    },
    /// The next figures, of the next frame.
    Info,
    /// The next note.
    Note,
}

/// Whether calls are known.
type HasCalls = bool;

const _: () = assert!(size_of::<Event>() == 16);

/// A [`Frame`] with text of its own.
#[derive(Clone)]
struct OwnFrame {
    function: FunctionId,
    line: Option<OwnLine>,
}

#[derive(Clone)]
struct OwnLine {
    file: Option<Arc<str>>,
    line: u32,
    col: u32,
}

impl OwnFrame {
    fn is(&self, frame: &Frame<'_>) -> bool {
        let same_line = match (&self.line, frame.line) {
            (None, None) => true,
            (Some(own), Some(line)) => {
                // Most lines have no file of their own, and comparing two empty texts costs a call.
                let same_file = own
                    .file
                    .as_ref()
                    .map_or(line.file.is_empty(), |file| **file == *line.file);
                (own.line, own.col) == (line.line, line.col) && same_file
            }
            _ => false,
        };
        self.function == frame.function && same_line
    }

    fn frame(&self) -> Frame<'_> {
        let line = self.line.as_ref().map(|own| Line {
            file: own.file.as_deref().unwrap_or_default(),
            line: own.line,
            col: own.col,
        });
        Frame {
            function: self.function,
            line,
        }
    }
}

/// Buffered sink calls.
#[derive(Default)]
pub(crate) struct EventBatch {
    events: Vec<Event>,
    facts: Vec<Fact<String>>,
    metrics: Vec<(String, Unit, Noise)>,
    functions: Vec<Arc<Function>>,
    label_sets: Vec<LabelSet>,
    labels: Vec<Option<LabelsId>>,
    notes: Vec<(Severity, Option<Position>, String)>,
    calls: Vec<u64>,
    /// Exclusive, cumulative.
    both_costs: Vec<(f64, f64)>,
    frames: Vec<OwnFrame>,
    values: Vec<(MetricId, f64)>,
    costs: Vec<EdgeCost>,
    infos: Vec<Info<'static>>,
    /// Bytes of text.
    text: usize,
}

impl EventBatch {
    fn is_full(&self) -> bool {
        let parts = self.frames.len() + self.values.len() + self.costs.len();
        self.events.len() >= EVENTS || parts >= PARTS || self.text >= TEXT
    }

    /// Makes the calls again, on the builder.
    pub(crate) fn replay<O: Output>(&self, builder: &mut TreeBuilder<O>) {
        // All of a batch at once: a stack is lent as one slice of frames.
        let frames: Vec<Frame<'_>> = self.frames.iter().map(OwnFrame::frame).collect();
        let mut frames = Parts(&frames);
        let mut facts = self.facts.iter();
        let mut metrics = self.metrics.iter();
        let mut functions = self.functions.iter();
        let mut label_sets = self.label_sets.iter();
        let mut labels = self.labels.iter();
        let mut notes = self.notes.iter();
        let mut calls = self.calls.iter().copied();
        let mut calls = |has_calls| if has_calls { calls.next() } else { None };
        let mut both_costs = self.both_costs.iter();
        let mut values = Parts(&self.values);
        let mut costs = Parts(&self.costs);
        let mut infos = self.infos.iter();
        let mut ahead = Vec::with_capacity(AHEAD);
        let mut prefetched = 0;
        for (at, event) in self.events.iter().enumerate() {
            // Within the batch only: what the next one opens is not known yet.
            if at == prefetched {
                prefetched += prefetch(&self.events[at..], builder, &mut ahead);
            }
            match *event {
                Event::Run => facts
                    .next()
                    .into_iter()
                    .for_each(|fact| builder.run(fact.map(String::as_str))),
                Event::Metric => metrics.next().into_iter().for_each(|(name, unit, noise)| {
                    // The id is known on the other side: both count from 0. Where the builder
                    // refuses a metric, the run is refused, too.
                    let _ = builder.metric(name, unit.clone(), *noise);
                }),
                Event::Function => {
                    functions
                        .next()
                        .into_iter()
                        .for_each(|function| builder.add_function(Arc::clone(function)));
                }
                Event::Labels => label_sets
                    .next()
                    .into_iter()
                    .for_each(|set| builder.add_label_set(Arc::clone(set))),
                Event::Enter(function, has_calls) => {
                    builder.enter(Frame::function(function), calls(has_calls));
                }
                Event::EnterFrame(has_calls) => {
                    let calls = calls(has_calls);
                    frames
                        .next(1)
                        .iter()
                        .for_each(|frame| builder.enter(*frame, calls));
                }
                Event::ExclusiveCost(metric, figure) => {
                    builder.cost(metric, Cost::Exclusive(figure));
                }
                Event::CumulativeCost(metric, figure) => {
                    builder.cost(metric, Cost::Cumulative(figure));
                }
                Event::ExclusiveOnlyCost(metric, figure) => {
                    builder.cost(metric, Cost::ExclusiveOnly(figure));
                }
                Event::BothCosts(metric) => {
                    both_costs
                        .next()
                        .into_iter()
                        .for_each(|&(exclusive, cumulative)| {
                            builder.cost(
                                metric,
                                Cost::Both {
                                    exclusive,
                                    cumulative,
                                },
                            );
                        });
                }
                Event::Leave => builder.leave(),
                Event::Sample {
                    shared,
                    frames: others,
                    values: count,
                    has_calls,
                } => {
                    let calls = calls(has_calls);
                    let (stack, values) = (frames.next(others), values.next(count));
                    let labels = labels.next().copied().flatten();
                    // The frames that are shared are in no batch any more: the builder knows them
                    // from the last sample.
                    builder.sample_below(
                        shared as usize,
                        Sample {
                            stack,
                            shared: 0,
                            calls,
                            values,
                            labels,
                        },
                    );
                }
                Event::Edge {
                    callee,
                    has_caller,
                    kind,
                    has_calls,
                    costs: count,
                } => builder.edge(Edge {
                    callee,
                    caller: frames.next(u32::from(has_caller)).first().copied(),
                    kind,
                    calls: calls(has_calls),
                    costs: costs.next(count),
                }),
                Event::Info => {
                    infos
                        .next()
                        .into_iter()
                        .zip(frames.next(1))
                        .for_each(|(info, frame)| {
                            builder.info(Info {
                                frame: *frame,
                                ..*info
                            });
                        });
                }
                Event::Note => {
                    notes
                        .next()
                        .into_iter()
                        .for_each(|(severity, position, message)| {
                            builder.note(Note {
                                severity: *severity,
                                position: *position,
                                message,
                            });
                        });
                }
            }
        }
    }

    /// Drops the calls, and keeps the room.
    pub(crate) fn clear(&mut self) {
        self.events.clear();
        self.facts.clear();
        self.metrics.clear();
        self.functions.clear();
        self.label_sets.clear();
        self.labels.clear();
        self.notes.clear();
        self.calls.clear();
        self.both_costs.clear();
        self.frames.clear();
        self.values.clear();
        self.costs.clear();
        self.infos.clear();
        self.text = 0;
    }
}

/// Parts of events that have not been replayed.
struct Parts<'p, T>(&'p [T]);

impl<'p, T> Parts<'p, T> {
    /// Takes the next ones.
    fn next(&mut self, count: u32) -> &'p [T] {
        let (next, rest) = self
            .0
            .split_at_checked(count as usize)
            // Never happens: parts and counts are written together, by the other end.
            .unwrap_or((self.0, &[]));
        self.0 = rest;
        next
    }
}

/// Tells the builder which nodes the next events open; gives the number of these events.
fn prefetch<O: Output>(
    events: &[Event],
    builder: &TreeBuilder<O>,
    ahead: &mut Vec<(usize, FunctionId)>,
) -> usize {
    ahead.clear();
    let mut depth = builder.depth();
    let mut count = 0;
    for event in events {
        match event {
            Event::Enter(function, _) => {
                ahead.push((depth, *function));
                depth += 1;
            }
            // Lines are not asked for: they are found from the line before (`Totals::line_after`).
            Event::EnterFrame(_) => depth += 1,
            Event::Leave => depth = depth.saturating_sub(1),
            _ => {}
        }
        count += 1;
        if ahead.len() == AHEAD {
            break;
        }
    }
    builder.prefetch(ahead);
    count
}

/// The importer's end of the queue.
pub(crate) struct EventQueue {
    batch: EventBatch,
    functions: FunctionInterner,
    label_sets: LabelSetInterner,
    metrics: u32,
    /// Frames of the last sample, with which the next one mostly begins.
    last_stack: Vec<OwnFrame>,
    /// The last file of a line, which mostly is that of the next one, too.
    file: Option<Arc<str>>,
    full: SyncSender<EventBatch>,
    empty: Receiver<EventBatch>,
}

impl EventQueue {
    pub(crate) fn new(full: SyncSender<EventBatch>, empty: Receiver<EventBatch>) -> Self {
        let (functions, label_sets) = (FunctionInterner::default(), LabelSetInterner::default());
        Self {
            batch: EventBatch::default(),
            functions,
            label_sets,
            metrics: 0,
            last_stack: Vec::new(),
            file: None,
            full,
            empty,
        }
    }

    /// Sends the current batch.
    fn flush(&mut self) {
        // `try_recv`, because to wait for a used batch would be to wait for the builder: how many
        // there are is limited by the queue of full ones.
        let batch = std::mem::replace(&mut self.batch, self.empty.try_recv().unwrap_or_default());
        // The builder receives for as long as this end exists. Only its panic ends it before, which
        // joining its thread passes on.
        let _ = self.full.send(batch);
    }

    fn push(&mut self, event: Event) {
        // The event comes after all its parts, so that no batch ends between the two.
        self.batch.events.push(event);
        if self.batch.is_full() {
            self.flush();
        }
    }

    fn calls(&mut self, calls: Option<u64>) -> HasCalls {
        self.batch.calls.extend(calls);
        calls.is_some()
    }

    fn own(&mut self, frame: &Frame<'_>) -> OwnFrame {
        let line = frame.line.map(|line| OwnLine {
            file: self.file(line.file),
            line: line.line,
            col: line.col,
        });
        OwnFrame {
            function: frame.function,
            line,
        }
    }

    fn frame(&mut self, frame: &Frame<'_>) {
        let own = self.own(frame);
        self.batch.frames.push(own);
    }

    fn file(&mut self, file: &str) -> Option<Arc<str>> {
        if file.is_empty() {
            return None;
        }
        if self.file.as_deref() != Some(file) {
            self.batch.text += file.len();
            self.file = Some(Arc::from(file));
        }
        self.file.clone()
    }

    fn text(&mut self, text: &str) -> String {
        self.batch.text += text.len();
        text.to_owned()
    }
}

impl Drop for EventQueue {
    /// Sends the last calls, also those of an importer that gives up: the builder may have to refuse
    /// them.
    fn drop(&mut self) {
        self.flush();
    }
}

impl Sink for EventQueue {
    fn run(&mut self, fact: RunFact<'_>) {
        let fact = fact.map(|text| self.text(text));
        self.batch.facts.push(fact);
        self.push(Event::Run);
    }

    fn metric(&mut self, name: &str, unit: Unit, noise: Noise) -> MetricId {
        let id = MetricId(self.metrics);
        self.metrics += 1;
        let name = self.text(name);
        self.batch.metrics.push((name, unit, noise));
        self.push(Event::Metric);
        id
    }

    fn function(&mut self, def: FunctionDef<'_>) -> FunctionId {
        let (number, new) = self.functions.intern(def);
        if let Some(function) = new {
            self.batch.text +=
                def.name.len() + def.raw_name.len() + def.module.len() + def.file.len();
            self.batch.functions.push(function);
            self.push(Event::Function);
        }
        number
    }

    fn labels(&mut self, labels: &[Label<'_>]) -> LabelsId {
        let (number, new) = self.label_sets.intern(labels);
        if let Some(set) = new {
            self.batch.text += labels
                .iter()
                .map(|label| label.key.len() + label.value.len())
                .sum::<usize>();
            self.batch.label_sets.push(set);
            self.push(Event::Labels);
        }
        number
    }

    fn enter(&mut self, frame: Frame<'_>, calls: Option<u64>) {
        let has_calls = self.calls(calls);
        if frame.line.is_none() {
            self.push(Event::Enter(frame.function, has_calls));
        } else {
            self.frame(&frame);
            self.push(Event::EnterFrame(has_calls));
        }
    }

    fn cost(&mut self, metric: MetricId, cost: Cost) {
        let event = match cost {
            Cost::Exclusive(figure) => Event::ExclusiveCost(metric, figure),
            Cost::Cumulative(figure) => Event::CumulativeCost(metric, figure),
            Cost::ExclusiveOnly(figure) => Event::ExclusiveOnlyCost(metric, figure),
            Cost::Both {
                exclusive,
                cumulative,
            } => {
                self.batch.both_costs.push((exclusive, cumulative));
                Event::BothCosts(metric)
            }
        };
        self.push(event);
    }

    fn leave(&mut self) {
        self.push(Event::Leave);
    }

    fn sample(&mut self, sample: Sample<'_>) {
        let common = |from: usize| {
            let last = self.last_stack.iter().skip(from);
            from + last
                .zip(sample.stack.iter().skip(from))
                .take_while(|(last, frame)| last.is(frame))
                .count()
        };
        let shared = common(sample.shared);
        // A promise that is too large would give wrong stacks; to check it is the comparison that
        // it saves.
        debug_assert_eq!(shared, common(0), "an importer knows what stacks share");
        self.last_stack.truncate(shared);
        let others = sample.stack.get(shared..).unwrap_or_default();
        for frame in others {
            let own = self.own(frame);
            self.last_stack.push(own.clone());
            self.batch.frames.push(own);
        }
        self.batch.values.extend_from_slice(sample.values);
        let (shared, frames, values) = (
            count(shared),
            count(others.len()),
            count(sample.values.len()),
        );
        self.batch.labels.push(sample.labels);
        let has_calls = self.calls(sample.calls);
        self.push(Event::Sample {
            shared,
            frames,
            values,
            has_calls,
        });
    }

    fn edge(&mut self, edge: Edge<'_>) {
        edge.caller.iter().for_each(|frame| self.frame(frame));
        self.batch.costs.extend_from_slice(edge.costs);
        let Edge { callee, kind, .. } = edge;
        let (has_caller, has_calls, costs) = (
            edge.caller.is_some(),
            self.calls(edge.calls),
            count(edge.costs.len()),
        );
        self.push(Event::Edge {
            callee,
            has_caller,
            kind,
            has_calls,
            costs,
        });
    }

    fn info(&mut self, info: Info<'_>) {
        self.frame(&info.frame);
        let frame = Frame::function(info.frame.function);
        let Info {
            metric,
            calls,
            primitive,
            exclusive,
            cumulative,
            seen,
            ..
        } = info;
        self.batch.infos.push(Info {
            frame,
            metric,
            calls,
            primitive,
            exclusive,
            cumulative,
            seen,
        });
        self.push(Event::Info);
    }

    // Neither positions nor records become rows: they do not enter the queue.
    fn at(&mut self, _position: Position) {}

    fn record(&mut self, _what: fmt::Arguments<'_>) {}

    fn note(&mut self, note: Note<'_>) {
        let message = self.text(note.message);
        self.batch
            .notes
            .push((note.severity, note.position, message));
        self.push(Event::Note);
    }
}

fn count(parts: usize) -> u32 {
    u32::try_from(parts).expect("a record holds fewer parts")
}
