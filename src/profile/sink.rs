//! What the builder does with each call of an importer.

use std::fmt;

use super::builder::{REFUSES_ALL, StackFrame, TreeBuilder};
use super::rows::{InfoFigures, MetricRow, Output, TotalSource};
use super::totals::{CallSite, Subject};
use crate::base::error::{Position, quote};
use crate::base::interner::Id;
use crate::events::{
    Cost, Edge, Fidelity, Frame, FunctionDef, FunctionId, Info, Label, LabelsId, MetricId, Noise,
    Note, RunFact, Sample, Sink, Unit,
};

impl<O: Output> TreeBuilder<O> {
    /// Adds a stack whose first `shared` frames are those of the last one; the sample has the
    /// others.
    pub(crate) fn sample_below(&mut self, shared: usize, sample: Sample<'_>) {
        if self.failure.is_some() {
            return;
        }
        self.freeze();
        self.last_stack.truncate(shared);
        // Not `shared`: a frame with a line is two nodes deep.
        let mut depth = self.last_stack.last().map_or(0, |placed| placed.depth);
        for frame in sample.stack {
            let function = frame.function;
            // Found without hashing where two frames differ in their lines only, or where the
            // caller has not compared the stacks.
            let known = self
                .call_tree
                .on_path(depth, function, |line| line.is_none());
            if known.is_none() && !self.knows(function) {
                return;
            }
            let function_at = known.unwrap_or_else(|| self.call_tree.below(depth, function, None));
            depth += 1;
            let mut at = function_at;
            if let Some(line) = frame.line {
                let is_it = |at| self.totals.is_line(at, line);
                let known = self
                    .call_tree
                    .on_path(depth, function, |at| at.is_some_and(is_it));
                at = known.unwrap_or_else(|| {
                    let line = self.totals.line(function, line);
                    self.call_tree.below(depth, function, Some(line))
                });
                depth += 1;
            }
            self.last_stack.push(StackFrame {
                function,
                function_at,
                at,
                depth,
            });
        }
        let Some(StackFrame {
            function,
            function_at,
            at,
            ..
        }) = self.last_stack.last().copied()
        else {
            return self.refuse("the importer gave a sample without frames");
        };
        if sample
            .labels
            .is_some_and(|labels| !self.label_costs.knows(labels))
        {
            return self.refuse("the importer gave a sample labels that it never announced");
        }
        // The function is called, not its line.
        if !self.call_tree.call(function_at, sample.calls) {
            return self.refuse_calls(function);
        }
        // A line breaks down its function, which holds everything that happened in it: the cost is
        // added to both nodes.
        let holders = [Some(function_at), Some(at).filter(|at| *at != function_at)];
        for &(metric, value) in sample.values {
            if !self.accept(metric, &[value], function) {
                continue;
            }
            for holder in holders.into_iter().flatten() {
                self.call_tree.add(holder, metric, value);
                if let Some(labels) = sample.labels {
                    self.call_tree.keep();
                    self.label_costs.add(holder, labels, metric, value);
                }
            }
        }
        if self.call_tree.make_room() {
            self.place_last_stack();
        }
    }

    /// The nodes of the last stack have got other ids.
    fn place_last_stack(&mut self) {
        let path = self.call_tree.path();
        for frame in &mut self.last_stack {
            let has_line = frame.at != frame.function_at;
            frame.at = path[frame.depth - 1];
            frame.function_at = path[frame.depth - 1 - usize::from(has_line)];
        }
    }
}

impl<O: Output> Sink for TreeBuilder<O> {
    fn run(&mut self, fact: RunFact<'_>) {
        let has_rows = self.has_rows();
        let facts = &mut self.facts;
        match fact {
            // Lines of edges before it would not have been added up (`Totals::add_calls_of_line`).
            RunFact::Fidelity(Fidelity::Edges) if REFUSES_ALL && self.totals.has_edges() => {
                self.refuse("the importer stated that the file knows edges after the first edge");
            }
            RunFact::Fidelity(fidelity) => facts.fidelity = fidelity,
            RunFact::Title(text) => facts.title = Some(text.to_owned()),
            RunFact::Command(text) => facts.command = Some(text.to_owned()),
            RunFact::ToolVersion(text) => facts.tool_version = Some(text.to_owned()),
            RunFact::RecordedAt(text) => facts.recorded_at = Some(text.to_owned()),
            RunFact::TimerBias(figure)
            | RunFact::BiasApplied(figure)
            | RunFact::Total(_, figure)
            | RunFact::Rounding(_, figure)
            | RunFact::Quantum(_, figure)
                if !figure.is_finite() =>
            {
                self.refuse("a figure of the run is not a finite number");
            }
            RunFact::TimerBias(bias) => facts.timer_bias = Some(bias),
            RunFact::BiasApplied(bias) => facts.bias_applied = Some(bias),
            RunFact::TimerReadings(metric) => {
                let is_count = self
                    .metrics
                    .get(metric.index())
                    .is_some_and(|metric| metric.unit == Unit::Count);
                facts.timer_readings = Some(metric);
                if !is_count {
                    self.refuse(
                        "the importer made readings of the timer of a metric that is not a count",
                    );
                }
            }
            // Rows may have left with the old one as the metric of their costs. To say the old one
            // again does no harm.
            RunFact::DefaultMetric(metric) if has_rows => {
                if metric != self.default {
                    self.refuse("the importer changed the default metric after the first cost");
                }
            }
            RunFact::DefaultMetric(metric) => {
                facts.default_metric = Some(metric);
                self.frozen = false;
            }
            RunFact::Total(metric, total) => {
                // A total may come before `freeze` has made room for its metric.
                self.stated_totals.resize(self.metrics.len(), None);
                match self.stated_totals.get_mut(metric.index()) {
                    Some(stated) => *stated = Some(total),
                    None => self.refuse("the importer named a metric that it never announced"),
                }
            }
            RunFact::Rounding(metric, unit) => {
                self.rounding.resize(self.metrics.len(), 0.0);
                match self.rounding.get_mut(metric.index()) {
                    Some(rounding) if unit > 0.0 => *rounding = unit,
                    Some(_) => {
                        self.refuse("the importer gave a unit of rounding that is not above 0");
                    }
                    None => self.refuse("the importer named a metric that it never announced"),
                }
            }
            RunFact::Observations(metric, samples) => {
                let is_count = |metric: &MetricRow| metric.unit == Unit::Count;
                let counts = self.metrics.get(samples.index()).is_some_and(is_count);
                match self.metrics.get_mut(metric.index()) {
                    Some(metric) if counts => metric.observations = Some(samples),
                    Some(_) => {
                        self.refuse(
                            "the importer made observations of a metric that is not a count",
                        );
                    }
                    None => self.refuse("the importer named a metric that it never announced"),
                }
            }
            RunFact::Quantum(metric, cost) => match self.metrics.get_mut(metric.index()) {
                Some(metric) if cost > 0.0 => metric.quantum = Some(cost),
                Some(_) => self.refuse("the importer gave a cost of a sample that is not above 0"),
                None => self.refuse("the importer named a metric that it never announced"),
            },
            RunFact::Other(key, value) => {
                match facts.properties.iter_mut().find(|(known, _)| known == key) {
                    Some((_, known)) => value.clone_into(known),
                    None => facts.properties.push((key.to_owned(), value.to_owned())),
                }
            }
        }
    }

    fn metric(&mut self, name: &str, unit: Unit, noise: Noise) -> MetricId {
        if self.has_rows() {
            self.refuse("the importer announced a metric after the first cost");
        } else if self.metrics.iter().any(|metric| metric.name == name) {
            // Users choose a metric by its name, so that the database would refuse it, too.
            self.refuse(&format!(
                "two metrics are called {}",
                quote(name.as_bytes())
            ));
        } else {
            self.metrics.push(MetricRow {
                name: name.to_owned(),
                unit,
                total: 0.0,
                total_source: TotalSource::Counted,
                noise,
                observations: None,
                quantum: None,
            });
            self.frozen = false;
        }
        MetricId::new(self.metrics.len().saturating_sub(1))
    }

    fn function(&mut self, def: FunctionDef<'_>) -> FunctionId {
        let (id, new) = self.functions.intern(def);
        if let Some(function) = new {
            self.add_function(function);
        }
        id
    }

    fn labels(&mut self, labels: &[Label<'_>]) -> LabelsId {
        let (id, new) = self.label_sets.intern(labels);
        if let Some(set) = new {
            self.add_label_set(set);
        }
        id
    }

    fn enter(&mut self, frame: Frame<'_>, calls: Option<u64>) {
        if self.failure.is_some() || !self.knows(frame.function) {
            return;
        }
        self.freeze();
        let function = frame.function;
        match frame.line {
            None => self.open_function(function, calls),
            Some(line) => {
                let last = self.stack.last().and_then(|above| above.last_line);
                let line = self.totals.line_after(last, function, line);
                self.open_line(function, line, calls);
            }
        }
    }

    #[inline]
    fn cost(&mut self, metric: MetricId, cost: Cost) {
        self.set_cost(metric, cost);
    }

    fn leave(&mut self) {
        if self.failure.is_none() {
            self.close();
        }
    }

    fn sample(&mut self, sample: Sample<'_>) {
        self.sample_below(0, sample);
    }

    fn edge(&mut self, edge: Edge<'_>) {
        let caller_known = edge.caller.is_none_or(|frame| self.knows(frame.function));
        if self.failure.is_some() || !caller_known || !self.knows(edge.callee) {
            return;
        }
        self.freeze();
        let callee = edge.callee;
        self.mention(callee);
        if let Some(caller) = edge.caller {
            self.mention(caller.function);
        }
        let site = self.totals.call_site(CallSite::of(edge.caller));
        let id = self.totals.edge(callee, site, edge.kind);
        if !self.totals.add_calls_to_edge(id, edge.calls) {
            self.refuse("the calls of an edge add up to more than 2^53");
        }
        // In a tree, line nodes say what lines called, and an edge would be counted a second time.
        if self.facts.fidelity == Fidelity::Edges {
            self.totals.add_calls_of_line(edge.caller, edge.costs);
        }
        for cost in edge.costs {
            let (metric, parts) = (
                cost.metric,
                [cost.exclusive, cost.cumulative, cost.outermost, cost.seen],
            );
            if !self.accept(metric, &parts.map(|figure| figure.unwrap_or(0.0)), callee) {
                return;
            }
            self.totals.add_stated_to_edge(id, metric, parts);
        }
    }

    fn info(&mut self, info: Info<'_>) {
        if self.failure.is_some() || !self.knows(info.frame.function) {
            return;
        }
        self.freeze();
        let function = info.frame.function;
        let figures =
            [info.exclusive, info.cumulative, info.seen].map(|figure| figure.unwrap_or(0.0));
        if !self.accept(info.metric, &figures, function) {
            return;
        }
        // Nothing is added to them: they are kept as they are.
        if [info.calls, info.primitive]
            .into_iter()
            .flatten()
            .any(|calls| i64::try_from(calls).is_err())
        {
            return self.refuse("a number of calls is larger than 2^63-1");
        }
        self.mention(function);
        let subject = match info.frame.line {
            None => Subject::Function(function),
            Some(line) => Subject::Line(self.totals.line(function, line)),
        };
        let figures = InfoFigures {
            calls: info.calls,
            primitive: info.primitive,
            exclusive: info.exclusive,
            cumulative: info.cumulative,
            seen: info.seen,
            recorded: true,
        };
        self.totals.record(subject, info.metric, figures);
    }

    fn at(&mut self, _position: Position) {}

    fn record(&mut self, _what: fmt::Arguments<'_>) {}

    fn note(&mut self, note: Note<'_>) {
        self.notes.add(note);
    }
}
