//! The metrics of a file. What counts the samples of a metric is one, too.

use crate::base::error::{ImportError, Position, quote};
use crate::events::{MetricId, Noise, RunFact, Sink, Unit};
use crate::formats::common::metric_names::MetricNames;

/// What counts samples.
const SAMPLES: &str = "samples";

/// Metrics of one file, those that count samples among them: each node has room for all. The
/// metrics of any other format fit.
const MOST_METRICS: usize = 256;

/// The metrics that there are, in the order in which they were first used. In a node the place of
/// the first is 1.
#[derive(Default)]
pub(super) struct Metrics {
    all: Vec<Metric>,
}

/// What is measured.
struct Metric {
    name: String,
    unit: Unit,
    /// It counts the samples of another one, which is at this place in the nodes.
    of: Option<usize>,
}

impl Metrics {
    /// The place of a metric in the nodes.
    pub(super) fn of(
        &mut self,
        name: &str,
        unit: Unit,
        at: Position,
    ) -> Result<usize, ImportError> {
        let known = self
            .all
            .iter()
            .position(|metric| metric.of.is_none() && metric.name == name);
        if let Some(place) = known {
            let stored = self.all.get(place).map_or("", |metric| metric.unit.name());
            if stored != unit.name() {
                let expected = format!("one unit for the metric {}", quote(name.as_bytes()));
                return Err(ImportError::malformed(
                    at,
                    expected,
                    format!("{stored} and {}", unit.name()),
                ));
            }
            // Place 0 of a node is for times whose unit is not known yet.
            return Ok(place + 1);
        }
        self.push(
            Metric {
                name: name.to_owned(),
                unit,
                of: None,
            },
            at,
        )
    }

    /// The place of the number of samples of a metric.
    pub(super) fn count_of(&mut self, of: usize, at: Position) -> Result<usize, ImportError> {
        match self.all.iter().position(|metric| metric.of == Some(of)) {
            Some(place) => Ok(place + 1),
            None => self.push(
                Metric {
                    name: String::new(),
                    unit: Unit::Count,
                    of: Some(of),
                },
                at,
            ),
        }
    }

    fn push(&mut self, metric: Metric, at: Position) -> Result<usize, ImportError> {
        if self.all.len() == MOST_METRICS {
            let limit = format!(
                "{MOST_METRICS} metrics in a file, numbers of samples included (limit: metrics)"
            );
            return Err(ImportError::Limit {
                position: at,
                limit,
            });
        }
        self.all.push(metric);
        Ok(self.all.len())
    }

    /// Announces all metrics: ids by their places in the nodes.
    pub(super) fn emit(&self, sink: &mut dyn Sink) -> Vec<Option<MetricId>> {
        let mut ids = vec![None];
        let counts = self.all.iter().filter(|metric| metric.of.is_some()).count();
        let is_taken = self
            .all
            .iter()
            .any(|metric| metric.of.is_none() && metric.name == SAMPLES);
        // Names that the file states are kept, so that only those of counts give way (case
        // `speedscope/metric-named-like-a-count`).
        let mut names = MetricNames::default();
        for metric in self.all.iter().filter(|metric| metric.of.is_none()) {
            names.take(&metric.name);
        }
        // Places begin with 1.
        let counter = |place: usize| {
            let counts = |metric: &Metric| metric.of == Some(place);
            self.all.iter().position(counts).map(|at| at + 1)
        };
        for (place, metric) in (1..).zip(&self.all) {
            let of = metric.of.and_then(|of| self.all.get(of.checked_sub(1)?));
            let name = match of {
                None => metric.name.clone(),
                Some(_) if counts == 1 && !is_taken => SAMPLES.to_owned(),
                Some(of) => names.take(&format!("{}.{SAMPLES}", of.name)),
            };
            // Profiles of samples have their number besides; what others hold, the file does not say.
            let noise = match counter(place) {
                Some(_) => Noise::Sampled,
                None => Noise::Unknown,
            };
            ids.push(Some(match of {
                None => sink.metric(&name, metric.unit.clone(), noise),
                Some(_) => sink.samples(&name),
            }));
        }
        for place in 1..=self.all.len() {
            let id = |place: usize| ids.get(place).copied().flatten();
            if let (Some(metric), Some(samples)) = (id(place), counter(place).and_then(id)) {
                sink.run(RunFact::Observations(metric, samples));
            }
        }
        // Something is measured also where there was no profile.
        if self.all.is_empty() {
            sink.samples(SAMPLES);
        }
        ids
    }
}
