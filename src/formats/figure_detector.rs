//! A sink that detects whether an importer reports any figure.

use std::fmt;

use crate::base::error::Position;
use crate::events::recorder::Recorder;
use crate::events::{
    Cost, Edge, Frame, FunctionDef, FunctionId, Info, Label, LabelsId, MetricId, Noise, Note,
    RunFact, Sample, Sink, Unit,
};

/// Detects calls and costs other than 0. A recorder assigns the ids.
pub(super) struct FigureDetector {
    ids: Recorder<fn(Position, String)>,
    has_figures: bool,
}

impl Default for FigureDetector {
    fn default() -> Self {
        Self {
            ids: Recorder::new(|_, _| {}),
            has_figures: false,
        }
    }
}

impl FigureDetector {
    pub(super) fn has_figures(&self) -> bool {
        self.has_figures
    }

    fn add_calls(&mut self, calls: Option<u64>) {
        self.has_figures |= calls.is_some_and(|calls| calls > 0);
    }

    fn add_costs(&mut self, costs: impl IntoIterator<Item = Option<f64>>) {
        self.has_figures |= costs.into_iter().flatten().any(|cost| cost != 0.0);
    }
}

impl Sink for FigureDetector {
    fn run(&mut self, _fact: RunFact<'_>) {}

    fn metric(&mut self, name: &str, unit: Unit, noise: Noise) -> MetricId {
        self.ids.metric(name, unit, noise)
    }

    fn function(&mut self, def: FunctionDef<'_>) -> FunctionId {
        self.ids.function(def)
    }

    fn labels(&mut self, labels: &[Label<'_>]) -> LabelsId {
        self.ids.labels(labels)
    }

    fn enter(&mut self, _frame: Frame<'_>, calls: Option<u64>) {
        self.add_calls(calls);
    }

    fn cost(&mut self, _metric: MetricId, cost: Cost) {
        self.add_costs(match cost {
            Cost::Exclusive(cost) | Cost::Cumulative(cost) | Cost::ExclusiveOnly(cost) => {
                [Some(cost), None]
            }
            Cost::Both {
                exclusive,
                cumulative,
            } => [Some(exclusive), Some(cumulative)],
        });
    }

    fn leave(&mut self) {}

    fn sample(&mut self, sample: Sample<'_>) {
        self.add_calls(sample.calls);
        self.add_costs(sample.values.iter().map(|(_, value)| Some(*value)));
    }

    fn edge(&mut self, edge: Edge<'_>) {
        self.add_calls(edge.calls);
        for cost in edge.costs {
            self.add_costs([cost.exclusive, cost.cumulative, cost.seen]);
        }
    }

    fn info(&mut self, info: Info<'_>) {
        self.add_calls(info.calls);
        self.add_costs([info.exclusive, info.cumulative, info.seen]);
    }

    fn at(&mut self, _position: Position) {}

    fn record(&mut self, _what: fmt::Arguments<'_>) {}

    fn note(&mut self, _note: Note<'_>) {}
}
