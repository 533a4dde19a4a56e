//! Writes what an importer says as text: for people who want to see what was understood of a file,
//! and for tests.

use std::collections::HashMap;
use std::fmt::{self, Write as _};

use super::sink::Sink;
use super::vocabulary::{
    Cost, Edge, EdgeCost, Frame, FunctionDef, FunctionId, Info, Kind, Label, LabelValue, LabelsId,
    Line, MetricId, Noise, Note, RunFact, Sample, Unit,
};
use crate::base::error::Position;

/// A sink that writes every call as one line of text, and a function when it is first named. Ids are
/// given as by any other sink; nothing is checked. `tell` takes the lines, each with the position of
/// the record that it comes from.
#[derive(Debug)]
pub struct Recorder<T> {
    tell: T,
    position: Position,
    functions: Vec<String>,
    known: HashMap<String, FunctionId>,
    metrics: Vec<String>,
    labels: Vec<String>,
    known_labels: HashMap<String, LabelsId>,
    depth: usize,
}

impl<T: FnMut(Position, String)> Recorder<T> {
    /// A recorder that has written nothing yet.
    pub fn new(tell: T) -> Self {
        Self {
            tell,
            position: Position {
                byte: 0,
                line: Some(1),
            },
            functions: Vec::new(),
            known: HashMap::new(),
            metrics: Vec::new(),
            labels: Vec::new(),
            known_labels: HashMap::new(),
            depth: 0,
        }
    }

    /// Nodes that are open at this moment: 0 after a complete import.
    pub fn depth(&self) -> usize {
        self.depth
    }

    fn say(&mut self, text: String) {
        (self.tell)(self.position, text);
    }

    fn frame(&self, frame: &Frame<'_>) -> String {
        let name = self
            .functions
            .get(frame.function.0 as usize)
            .map_or("?", String::as_str);
        match frame.line {
            None => name.to_owned(),
            Some(Line {
                file: "",
                line,
                col: 0,
            }) => format!("{name}[{line}]"),
            Some(Line {
                file: "",
                line,
                col,
            }) => format!("{name}[{line}:{col}]"),
            Some(Line { file, line, col }) => format!("{name}[{file}:{line}:{col}]"),
        }
    }

    fn metric_name(&self, metric: MetricId) -> &str {
        self.metrics
            .get(metric.0 as usize)
            .map_or("?", String::as_str)
    }
}

/// The name, and whatever else tells the function from others.
fn describe(def: &FunctionDef<'_>) -> String {
    let FunctionDef {
        kind,
        name,
        // Tells no two functions apart, so that equal texts are equal functions.
        raw_name: _,
        module,
        file,
        first_line,
        first_col,
    } = *def;
    let mut text = name.to_owned();
    if kind != Kind::Function {
        let _ = write!(text, " ({})", kind.name());
    }
    if !module.is_empty() {
        let _ = write!(text, " in {module}");
    }
    if !file.is_empty() {
        let _ = write!(text, " at {file}");
    }
    if first_line != 0 {
        let _ = write!(text, " from {first_line}:{first_col}");
    } else if first_col != 0 {
        let _ = write!(text, " number {first_col}");
    }
    text
}

fn calls(calls: Option<u64>) -> String {
    calls.map_or_else(
        || "calls unknown".to_owned(),
        |calls| format!("calls {calls}"),
    )
}

/// The figures that are known, each after its name.
fn figures(figures: &[(&str, Option<f64>)]) -> String {
    let known = figures
        .iter()
        .filter_map(|(name, figure)| Some(format!(" {name} {}", (*figure)?)));
    known.collect()
}

impl<T: FnMut(Position, String)> Sink for Recorder<T> {
    fn run(&mut self, fact: RunFact<'_>) {
        let text = match fact {
            RunFact::Fidelity(fidelity) => format!("fidelity {}", fidelity.name()),
            RunFact::Title(text) => format!("title {text}"),
            RunFact::Command(text) => format!("command {text}"),
            RunFact::ToolVersion(text) => format!("tool version {text}"),
            RunFact::RecordedAt(text) => format!("recorded at {text}"),
            RunFact::TimerBias(bias) => format!("timer bias {bias} ns"),
            RunFact::BiasApplied(bias) => format!("bias applied {bias} ns"),
            RunFact::TimerReadings(metric) => {
                format!("timer readings {}", self.metric_name(metric))
            }
            RunFact::DefaultMetric(metric) => {
                format!("default metric {}", self.metric_name(metric))
            }
            RunFact::Total(metric, total) => format!("total {} {total}", self.metric_name(metric)),
            RunFact::Rounding(metric, unit) => {
                format!("rounding {} {unit}", self.metric_name(metric))
            }
            RunFact::Observations(metric, samples) => {
                let (metric, samples) = (self.metric_name(metric), self.metric_name(samples));
                format!("observations {metric} {samples}")
            }
            RunFact::Quantum(metric, cost) => {
                format!("quantum {} {cost}", self.metric_name(metric))
            }
            RunFact::Other(key, value) => format!("property {key} {value}"),
        };
        self.say(format!("run {text}"));
    }

    fn metric(&mut self, name: &str, unit: Unit, noise: Noise) -> MetricId {
        let id = MetricId(u32::try_from(self.metrics.len()).unwrap_or(u32::MAX));
        self.metrics.push(name.to_owned());
        self.say(format!("metric {name} {} {}", unit.name(), noise.name()));
        id
    }

    fn function(&mut self, def: FunctionDef<'_>) -> FunctionId {
        let next = FunctionId(u32::try_from(self.functions.len()).unwrap_or(u32::MAX));
        // The text is the key: what it says of a function is all that tells it from others.
        let text = describe(&def);
        if let Some(known) = self.known.get(&text) {
            return *known;
        }
        match def.raw_name {
            "" => self.say(format!("function {text}")),
            raw => self.say(format!("function {text}, raw name {raw}")),
        }
        self.known.insert(text.clone(), next);
        self.functions.push(text);
        next
    }

    fn labels(&mut self, labels: &[Label<'_>]) -> LabelsId {
        let mut labels = labels.to_vec();
        // Sets are equal in whatever order their labels come.
        labels.sort_unstable();
        let text: Vec<String> = labels
            .iter()
            .map(|Label { key, value, unit }| match value {
                LabelValue::Text(text) => format!("{key}={text}"),
                LabelValue::Number(number) if unit.is_empty() => format!("{key}={number} (number)"),
                LabelValue::Number(number) => format!("{key}={number} {unit}"),
            })
            .collect();
        let text = text.join(", ");
        let next = LabelsId(u32::try_from(self.labels.len()).unwrap_or(u32::MAX));
        if let Some(known) = self.known_labels.get(&text) {
            return *known;
        }
        self.known_labels.insert(text.clone(), next);
        self.labels.push(text);
        next
    }

    fn enter(&mut self, frame: Frame<'_>, count: Option<u64>) {
        self.say(format!("enter {} {}", self.frame(&frame), calls(count)));
        self.depth += 1;
    }

    fn cost(&mut self, metric: MetricId, cost: Cost) {
        let text = match cost {
            Cost::Exclusive(exclusive) => format!("exclusive {exclusive}"),
            Cost::Cumulative(cumulative) => format!("cumulative {cumulative}"),
            Cost::Both {
                exclusive,
                cumulative,
            } => format!("exclusive {exclusive} cumulative {cumulative}"),
            Cost::ExclusiveOnly(exclusive) => format!("exclusive {exclusive} cumulative unknown"),
        };
        self.say(format!("cost {} {text}", self.metric_name(metric)));
    }

    fn leave(&mut self) {
        self.say("leave".to_owned());
        // Laws count a `leave` too many from the lines; here it is no reason to panic.
        self.depth = self.depth.saturating_sub(1);
    }

    fn sample(&mut self, sample: Sample<'_>) {
        let stack: Vec<String> = sample.stack.iter().map(|frame| self.frame(frame)).collect();
        let values = sample
            .values
            .iter()
            .map(|(metric, value)| format!(" {} {value}", self.metric_name(*metric)));
        let values: String = values.collect();
        let labels = sample
            .labels
            .and_then(|labels| self.labels.get(labels.0 as usize));
        let labels = labels.map_or_else(String::new, |labels| format!(" labels {labels}"));
        self.say(format!(
            "sample {} {}{values}{labels}",
            stack.join(" > "),
            calls(sample.calls)
        ));
    }

    fn edge(&mut self, edge: Edge<'_>) {
        let callee = self.frame(&Frame::function(edge.callee));
        let caller = edge
            .caller
            .map_or_else(|| "(root)".to_owned(), |frame| self.frame(&frame));
        let costs = edge.costs.iter().map(|cost| {
            let EdgeCost {
                metric,
                exclusive,
                cumulative,
                outermost,
                seen,
            } = *cost;
            let known = [
                ("exclusive", exclusive),
                ("cumulative", cumulative),
                ("outermost", outermost),
                ("seen", seen),
            ];
            format!(" {}{}", self.metric_name(metric), figures(&known))
        });
        let costs: String = costs.collect();
        self.say(format!(
            "edge {caller} -> {callee} {} {}{costs}",
            edge.kind.name(),
            calls(edge.calls)
        ));
    }

    fn info(&mut self, info: Info<'_>) {
        let Info {
            frame,
            metric,
            calls: count,
            primitive,
            exclusive,
            cumulative,
            seen,
        } = info;
        let primitive =
            primitive.map_or_else(String::new, |primitive| format!(" primitive {primitive}"));
        let known = figures(&[
            ("exclusive", exclusive),
            ("cumulative", cumulative),
            ("seen", seen),
        ]);
        let (name, metric) = (self.frame(&frame), self.metric_name(metric));
        self.say(format!(
            "info {name} {metric} {}{primitive}{known}",
            calls(count)
        ));
    }

    fn at(&mut self, position: Position) {
        self.position = position;
    }

    fn record(&mut self, what: fmt::Arguments<'_>) {
        self.say(format!("record {what}"));
    }

    fn note(&mut self, note: Note<'_>) {
        let Note {
            severity,
            position,
            message,
        } = note;
        let place = position.map_or_else(String::new, |position| format!(" {position}:"));
        self.say(format!("note {}{place} {message}", severity.name()));
    }
}
