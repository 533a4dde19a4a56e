//! What the builder does with each call of an importer.

use std::fmt;

use super::builder::{Given, NODES_PER_BATCH, Placed, TreeBuilder};
use super::ids::{NONE, index};
use super::rows::{CostRow, Figures, InfoFigures, MetricRow, NodeRow, Output, TotalSource};
use super::totals::Site;
use crate::events::{
    Cost, Edge, Fidelity, Frame, FunctionDef, FunctionId, Info, Label, LabelsId, MetricId, Note,
    RunFact, Sample, Sink, Unit,
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
        let mut depth = self.last_stack.last().map_or(0, |placed| placed.depth);
        for frame in sample.stack {
            let function = frame.function.0;
            let known = self.trie.on_path(depth, function, |line| line == NONE);
            if known.is_none() && !self.knows(frame.function) {
                return;
            }
            let function_at = known.unwrap_or_else(|| self.trie.below(depth, function, NONE));
            depth += 1;
            let mut at = function_at;
            if let Some(line) = frame.line {
                let known = self
                    .trie
                    .on_path(depth, function, |at| self.ledger.is_line(at, line));
                at = known.unwrap_or_else(|| {
                    let line = self.ledger.line(function, line);
                    self.trie.below(depth, function, line)
                });
                depth += 1;
            }
            self.last_stack.push(Placed {
                function,
                function_at,
                at,
                depth,
            });
        }
        let Some(Placed {
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
            .is_some_and(|labels| !self.labels.knows(labels))
        {
            return self.refuse("the importer gave a sample labels that it never announced");
        }
        if !self.trie.call(function_at, sample.calls) {
            return self.refuse_calls(function);
        }
        let holders = [Some(function_at), Some(at).filter(|at| *at != function_at)];
        for &(metric, value) in sample.values {
            if !self.accept(metric, &[value], function) {
                continue;
            }
            for holder in holders.into_iter().flatten() {
                self.trie.add(holder, metric.0 as usize, value);
                if let Some(labels) = sample.labels {
                    self.labels.add(holder, labels, metric, value);
                }
            }
        }
    }
}

impl<O: Output> Sink for TreeBuilder<O> {
    fn run(&mut self, fact: RunFact<'_>) {
        let has_rows = self.has_rows();
        let facts = &mut self.facts;
        match fact {
            RunFact::Fidelity(fidelity) => facts.fidelity = fidelity,
            RunFact::Title(text) => facts.title = Some(text.to_owned()),
            RunFact::Command(text) => facts.command = Some(text.to_owned()),
            RunFact::ToolVersion(text) => facts.tool_version = Some(text.to_owned()),
            RunFact::RecordedAt(text) => facts.recorded_at = Some(text.to_owned()),
            RunFact::TimerBias(figure)
            | RunFact::BiasApplied(figure)
            | RunFact::Total(_, figure)
                if !figure.is_finite() =>
            {
                self.refuse("a figure of the run is no finite number");
            }
            RunFact::TimerBias(bias) => facts.timer_bias = Some(bias),
            RunFact::BiasApplied(bias) => facts.bias_applied = Some(bias),
            RunFact::TimerReadings(metric) => {
                let is_count = self
                    .metrics
                    .get(metric.0 as usize)
                    .is_some_and(|metric| metric.unit == Unit::Count);
                facts.timer_readings = Some(metric);
                if !is_count {
                    self.refuse(
                        "the importer made readings of the timer of a metric that is no count",
                    );
                }
            }
            RunFact::DefaultMetric(metric) if has_rows => {
                if metric.0 as usize != self.default {
                    self.refuse("the importer changed the default metric after the first cost");
                }
            }
            RunFact::DefaultMetric(metric) => {
                facts.default_metric = Some(metric);
                self.frozen = false;
            }
            RunFact::Total(metric, total) => {
                self.stated_totals.resize(self.metrics.len(), None);
                match self.stated_totals.get_mut(metric.0 as usize) {
                    Some(stated) => *stated = Some(total),
                    None => self.refuse("the importer named a metric that it never announced"),
                }
            }
            RunFact::Other(key, value) => {
                match facts.properties.iter_mut().find(|(known, _)| known == key) {
                    Some((_, known)) => value.clone_into(known),
                    None => facts.properties.push((key.to_owned(), value.to_owned())),
                }
            }
        }
    }

    fn metric(&mut self, name: &str, unit: Unit) -> MetricId {
        if self.has_rows() {
            self.refuse("the importer announced a metric after the first cost");
        } else {
            self.metrics.push(MetricRow {
                name: name.to_owned(),
                unit,
                total: 0.0,
                total_source: TotalSource::Counted,
            });
            self.frozen = false;
        }
        MetricId(index(self.metrics.len()).saturating_sub(1))
    }

    fn function(&mut self, def: FunctionDef<'_>) -> FunctionId {
        let (number, new) = self.functions.number(def);
        if let Some(function) = new {
            self.add_function(function);
        }
        number
    }

    fn labels(&mut self, labels: &[Label<'_>]) -> LabelsId {
        let (number, new) = self.label_sets.number(labels);
        if let Some(set) = new {
            self.add_label_set(set);
        }
        number
    }

    fn enter(&mut self, frame: Frame<'_>, calls: Option<u64>) {
        if self.failure.is_some() || !self.knows(frame.function) {
            return;
        }
        self.freeze();
        match frame.line {
            None => self.open_function(frame.function.0, calls),
            Some(line) => {
                let function = frame.function.0;
                let last = self.stack.last().map_or(NONE, |above| above.last_line);
                let line = self.ledger.line_behind(last, function, line);
                self.open_line(function, line, calls);
            }
        }
    }

    #[inline]
    fn cost(&mut self, metric: MetricId, cost: Cost) {
        let Some(function) = self.stack.last().map(|level| level.function) else {
            return self.refuse("the importer gave a cost to no node");
        };
        let (given, exclusive, cumulative) = match cost {
            Cost::Exclusive(exclusive) => (Given::Exclusive, exclusive, 0.0),
            Cost::Cumulative(cumulative) => (Given::Cumulative, 0.0, cumulative),
            Cost::Both {
                exclusive,
                cumulative,
            } => (Given::Both, exclusive, cumulative),
            Cost::ExclusiveOnly(exclusive) => (Given::ExclusiveOnly, exclusive, 0.0),
        };
        let accepted = self.accept(metric, &[exclusive, cumulative], function);
        if matches!(given, Given::ExclusiveOnly)
            && self.stack.last().is_some_and(|level| level.line == NONE)
        {
            return self.refuse("the importer gave a function a cost that only lines may have");
        }
        if accepted {
            let at = (self.stack.len() - 1) * self.metrics.len() + metric.0 as usize;
            let account = &mut self.accounts[at];
            (account.given, account.exclusive, account.cumulative) = (given, exclusive, cumulative);
        }
    }

    fn leave(&mut self) {
        if self.failure.is_some() {
            return;
        }
        let Some(level) = self.stack.pop() else {
            return self.refuse("the importer closed a node that it never opened");
        };
        self.ledger
            .close(level.function, level.line, level.edge, level.outer);
        let (metrics, others) = (self.metrics.len(), self.others());
        let row = level
            .node
            .checked_sub(self.base)
            .and_then(|row| usize::try_from(row).ok());
        let mut default = Figures::NOTHING;
        let mut other = 0;
        for metric in 0..metrics {
            let account = self.accounts[self.stack.len() * metrics + metric];
            let figures = self.settle(&account, level.function);
            if !figures.cumulative.unwrap_or(0.0).is_finite() {
                self.refuse("the costs add up to more than a REAL can hold");
            }
            self.add_up(&level, metric, figures, account.callees);
            if metric == self.default {
                default = figures;
                continue;
            }
            match row {
                Some(row) => self.other_figures[row * others + other] = figures,
                None if figures.is_worth_a_row() => {
                    let metric = MetricId(index(metric));
                    self.late_costs.push(CostRow {
                        metric,
                        node: level.node,
                        figures,
                    });
                }
                None => {}
            }
            other += 1;
        }
        self.accounts.truncate(self.stack.len() * metrics);
        let size = self.next - 1 - level.node;
        if let Some(row) = row {
            let row = &mut self.batch.nodes[row];
            row.size = size;
            row.figures = default;
        } else {
            self.late.push(NodeRow {
                size,
                figures: default,
                ..self.row(&level, self.stack.len())
            });
        }
        if self.batch.nodes.len() >= NODES_PER_BATCH || self.late.len() >= NODES_PER_BATCH {
            self.flush();
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
        let callee = edge.callee.0;
        let caller = Site::of(edge.caller);
        self.mention(callee);
        if caller.function != NONE {
            self.mention(caller.function);
        }
        let site = self.ledger.site(caller);
        let at = self.ledger.edge(callee, site, edge.kind);
        if !self.ledger.add_calls_to_edge(at, edge.calls) {
            self.refuse("the calls of an edge add up to more than 2^53");
        }
        if self.facts.fidelity == Fidelity::Edges {
            self.ledger.add_calls_of_line(edge.caller, edge.costs);
        }
        for cost in edge.costs {
            let (metric, parts) = (
                cost.metric,
                [cost.exclusive, cost.cumulative, cost.outermost, cost.seen],
            );
            if !self.accept(metric, &parts.map(|figure| figure.unwrap_or(0.0)), callee) {
                return;
            }
            self.ledger.add_known_to_edge(at, metric.0 as usize, parts);
        }
    }

    fn info(&mut self, info: Info<'_>) {
        if self.failure.is_some() || !self.knows(info.frame.function) {
            return;
        }
        self.freeze();
        let function = info.frame.function.0;
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
        let line = info
            .frame
            .line
            .map_or(NONE, |line| self.ledger.line(function, line));
        let figures = InfoFigures {
            calls: info.calls,
            primitive: info.primitive,
            exclusive: info.exclusive,
            cumulative: info.cumulative,
            seen: info.seen,
            recorded: true,
        };
        self.ledger.record(info.metric, function, line, figures);
    }

    fn record(&mut self, _what: fmt::Arguments<'_>) {}

    fn note(&mut self, note: Note<'_>) {
        self.remarks.add(note);
    }
}
