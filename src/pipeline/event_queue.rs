//! The way from the importer to the builder: what the one says is written down in batches, and said
//! again to the other in another thread. Reading a file and adding up its figures cost about the
//! same.
//!
//! Functions and sets of labels are numbered on the importer's side, because it wants an answer;
//! metrics are counted.

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender};

use crate::base::error::Position;
use crate::events::{
    Cost, Edge, EdgeCost, EdgeKind, Fact, Frame, FunctionDef, FunctionId, Info, Label, LabelsId,
    Line, MetricId, Note, RunFact, Sample, Severity, Sink, Unit,
};
use crate::profile::{Function, FunctionInterner, LabelSet, LabelSetInterner, Output, TreeBuilder};

/// Events in one batch: few enough that they are still in the cache when the builder gets them.
const EVENTS: usize = 4096;
/// Parts of events (frames, costs, values) in one batch.
const PARTS: usize = 16 * 1024;
/// Bytes of text in one batch.
const TEXT: usize = 1 << 20;

/// Nodes of which the builder hears ahead: as many as memory can deliver at once.
const AHEAD: usize = 32;

/// One call of a [`Sink`], in 16 bytes: between two threads every byte costs. What is longer, has
/// text or is mostly not there lies in the batch, in the order of the events, so that there is
/// nothing to drop either.
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
    /// Opens a node of a function, with the next calls if it has any.
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

/// A frame with text of its own.
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

/// What an importer has said.
#[derive(Default)]
pub(crate) struct Said {
    events: Vec<Event>,
    facts: Vec<Fact<String>>,
    metrics: Vec<(String, Unit)>,
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

impl Said {
    fn is_full(&self) -> bool {
        let parts = self.frames.len() + self.values.len() + self.costs.len();
        self.events.len() >= EVENTS || parts >= PARTS || self.text >= TEXT
    }

    /// Says it to the builder.
    pub(crate) fn say<O: Output>(&self, builder: &mut TreeBuilder<O>) {
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
        let mut heard = 0;
        for (at, event) in self.events.iter().enumerate() {
            if at == heard {
                heard += look_ahead(&self.events[at..], builder, &mut ahead);
            }
            match *event {
                Event::Run => facts
                    .next()
                    .into_iter()
                    .for_each(|fact| builder.run(fact.map(String::as_str))),
                Event::Metric => metrics.next().into_iter().for_each(|(name, unit)| {
                    let _ = builder.metric(name, unit.clone());
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

    /// Forgets it, and keeps the room.
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

/// Parts of events that have not been used.
struct Parts<'p, T>(&'p [T]);

impl<'p, T> Parts<'p, T> {
    /// Takes the next ones.
    fn next(&mut self, count: u32) -> &'p [T] {
        let (next, rest) = self
            .0
            .split_at_checked(count as usize)
            .unwrap_or((self.0, &[]));
        self.0 = rest;
        next
    }
}

/// Tells the builder of the next nodes; says how many events that took.
fn look_ahead<O: Output>(
    events: &[Event],
    builder: &TreeBuilder<O>,
    ahead: &mut Vec<(usize, FunctionId)>,
) -> usize {
    ahead.clear();
    let mut depth = builder.depth();
    let mut heard = 0;
    for event in events {
        match event {
            Event::Enter(function, _) => {
                ahead.push((depth, *function));
                depth += 1;
            }
            Event::EnterFrame(_) => depth += 1,
            Event::Leave => depth = depth.saturating_sub(1),
            _ => {}
        }
        heard += 1;
        if ahead.len() == AHEAD {
            break;
        }
    }
    builder.prefetch(ahead);
    heard
}

/// The importer's end.
pub(crate) struct Relay {
    said: Said,
    functions: FunctionInterner,
    label_sets: LabelSetInterner,
    metrics: u32,
    /// Frames of the last sample: mostly the next one begins with them.
    last_stack: Vec<OwnFrame>,
    /// The last file of a line: mostly the next one's, too.
    file: Option<Arc<str>>,
    full: SyncSender<Said>,
    empty: Receiver<Said>,
}

impl Relay {
    pub(crate) fn new(full: SyncSender<Said>, empty: Receiver<Said>) -> Self {
        let (functions, label_sets) = (FunctionInterner::default(), LabelSetInterner::default());
        Self {
            said: Said::default(),
            functions,
            label_sets,
            metrics: 0,
            last_stack: Vec::new(),
            file: None,
            full,
            empty,
        }
    }

    /// Sends what has been said so far.
    fn flush(&mut self) {
        let said = std::mem::replace(&mut self.said, self.empty.try_recv().unwrap_or_default());
        // The builder listens until there is no relay: only a panic ends it before, which whoever
        // waits for it passes on.
        let _ = self.full.send(said);
    }

    fn say(&mut self, event: Event) {
        self.said.events.push(event);
        if self.said.is_full() {
            self.flush();
        }
    }

    fn calls(&mut self, calls: Option<u64>) -> HasCalls {
        self.said.calls.extend(calls);
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
        self.said.frames.push(own);
    }

    fn file(&mut self, file: &str) -> Option<Arc<str>> {
        if file.is_empty() {
            return None;
        }
        if self.file.as_deref() != Some(file) {
            self.said.text += file.len();
            self.file = Some(Arc::from(file));
        }
        self.file.clone()
    }

    fn text(&mut self, text: &str) -> String {
        self.said.text += text.len();
        text.to_owned()
    }
}

impl Drop for Relay {
    /// Says the last words, also those of an importer that gives up: the builder may have to refuse
    /// them.
    fn drop(&mut self) {
        self.flush();
    }
}

impl Sink for Relay {
    fn run(&mut self, fact: RunFact<'_>) {
        let fact = fact.map(|text| self.text(text));
        self.said.facts.push(fact);
        self.say(Event::Run);
    }

    fn metric(&mut self, name: &str, unit: Unit) -> MetricId {
        let id = MetricId(self.metrics);
        self.metrics += 1;
        let name = self.text(name);
        self.said.metrics.push((name, unit));
        self.say(Event::Metric);
        id
    }

    fn function(&mut self, def: FunctionDef<'_>) -> FunctionId {
        let (number, new) = self.functions.intern(def);
        if let Some(function) = new {
            self.said.text +=
                def.name.len() + def.raw_name.len() + def.module.len() + def.file.len();
            self.said.functions.push(function);
            self.say(Event::Function);
        }
        number
    }

    fn labels(&mut self, labels: &[Label<'_>]) -> LabelsId {
        let (number, new) = self.label_sets.intern(labels);
        if let Some(set) = new {
            self.said.text += labels
                .iter()
                .map(|label| label.key.len() + label.value.len())
                .sum::<usize>();
            self.said.label_sets.push(set);
            self.say(Event::Labels);
        }
        number
    }

    fn enter(&mut self, frame: Frame<'_>, calls: Option<u64>) {
        let has_calls = self.calls(calls);
        if frame.line.is_none() {
            self.say(Event::Enter(frame.function, has_calls));
        } else {
            self.frame(&frame);
            self.say(Event::EnterFrame(has_calls));
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
                self.said.both_costs.push((exclusive, cumulative));
                Event::BothCosts(metric)
            }
        };
        self.say(event);
    }

    fn leave(&mut self) {
        self.say(Event::Leave);
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
        debug_assert_eq!(shared, common(0), "an importer knows what stacks share");
        self.last_stack.truncate(shared);
        let others = sample.stack.get(shared..).unwrap_or_default();
        for frame in others {
            let own = self.own(frame);
            self.last_stack.push(own.clone());
            self.said.frames.push(own);
        }
        self.said.values.extend_from_slice(sample.values);
        let (shared, frames, values) = (
            count(shared),
            count(others.len()),
            count(sample.values.len()),
        );
        self.said.labels.push(sample.labels);
        let has_calls = self.calls(sample.calls);
        self.say(Event::Sample {
            shared,
            frames,
            values,
            has_calls,
        });
    }

    fn edge(&mut self, edge: Edge<'_>) {
        edge.caller.iter().for_each(|frame| self.frame(frame));
        self.said.costs.extend_from_slice(edge.costs);
        let Edge { callee, kind, .. } = edge;
        let (has_caller, has_calls, costs) = (
            edge.caller.is_some(),
            self.calls(edge.calls),
            count(edge.costs.len()),
        );
        self.say(Event::Edge {
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
        self.said.infos.push(Info {
            frame,
            metric,
            calls,
            primitive,
            exclusive,
            cumulative,
            seen,
        });
        self.say(Event::Info);
    }

    fn record(&mut self, _what: fmt::Arguments<'_>) {}

    fn note(&mut self, note: Note<'_>) {
        let message = self.text(note.message);
        self.said
            .notes
            .push((note.severity, note.position, message));
        self.say(Event::Note);
    }
}

fn count(parts: usize) -> u32 {
    u32::try_from(parts).expect("a record holds fewer parts")
}
