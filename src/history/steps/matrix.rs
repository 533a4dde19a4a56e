//! What every row cost at every position.

use std::collections::BTreeSet;

use hashbrown::HashMap;

use super::super::aliases::{Aliases, Key};
use super::super::normalize::Divisors;
use super::super::reading::{HistoryError, Measured, Subject, all_figures};
use super::super::series::Series;
use crate::events::Noise;
use crate::store::{Database, Fitting};
use profdb_statistics::steps::{Kind, Point};

/// A figure in each of some runs that have one, in their order.
pub(super) type Sparse = Vec<(u32, f64)>;

/// The runs of a series, position by position.
pub(super) struct Frame {
    /// The positions of the series that have the metric.
    pub(super) positions: Vec<usize>,
    /// How figures are taken to vary.
    pub(super) noise: Noise,
    runs: Vec<Recording>,
    /// What a sample adds, in the unit; the most that any run says.
    quantum: f64,
    /// Where the samples behind costs are counted.
    pub(super) samples: Samples,
}

/// A run.
struct Recording {
    /// Which of the positions it is of.
    place: usize,
    /// Its figures are equal to those of another run of its position: it is no repeat.
    is_copy: bool,
    total: f64,
}

/// Where the samples behind costs are counted.
pub(super) enum Samples {
    /// They are not known, or figures are not sampled.
    Unknown,
    /// Costs are counts of samples.
    Costs,
    /// Each adds so much, run by run.
    Quanta(Vec<f64>),
    /// In other metrics of the runs.
    Observations(Vec<i64>),
}

/// A function, module or file.
pub(super) struct Row {
    pub(super) names: [String; 3],
    pub(super) identity_id: Option<i64>,
    pub(super) costs: Sparse,
    /// The samples behind the costs; empty where they are not known.
    pub(super) samples: Sparse,
}

impl Row {
    /// Divides the costs by the divisors of the runs. Samples stay as they are: they tell how much costs vary.
    pub(super) fn divide(&mut self, divisors: &Divisors) {
        for (run, cost) in &mut self.costs {
            *cost = divisors.divided(index(*run), *cost);
        }
    }
}

impl Frame {
    pub(super) fn new(series: &Series, measured: &Measured, noise: Option<Noise>) -> Self {
        let mut positions: Vec<usize> = measured.runs.iter().map(|run| run.position).collect();
        positions.dedup();
        let noise = noise.unwrap_or_else(|| measured.noise());
        let metrics = || measured.runs.iter().map(|run| run.metric);
        let quanta: Option<Vec<f64>> = metrics().map(|metric| metric.quantum).collect();
        let observations: Option<Vec<i64>> = metrics().map(|metric| metric.observations).collect();
        let samples = match (observations, quanta) {
            _ if noise != Noise::Sampled => Samples::Unknown,
            (Some(observations), _) => Samples::Observations(observations),
            _ if measured.unit == "count" => Samples::Costs,
            (None, Some(quanta)) if quanta.iter().all(|quantum| *quantum > 0.0) => {
                Samples::Quanta(quanta)
            }
            _ => Samples::Unknown,
        };
        let quantum = metrics().filter_map(|metric| metric.quantum);
        Self {
            quantum: quantum.fold(0.0, f64::max),
            runs: recordings(series, measured, &positions),
            positions,
            noise,
            samples,
        }
    }

    /// Counts only so much of each run.
    pub(super) fn select(&mut self, totals: &[f64]) {
        for (run, total) in self.runs.iter_mut().zip(totals) {
            run.total = *total;
        }
    }

    /// Divides the totals by the divisors of the runs.
    pub(super) fn divide(&mut self, divisors: &Divisors) {
        // The coarsest unit that any run has after the division.
        let quanta = (0..self.runs.len()).map(|run| divisors.divided(run, self.quantum));
        self.quantum = quanta.fold(0.0, f64::max);
        for (at, run) in self.runs.iter_mut().enumerate() {
            run.total = divisors.divided(at, run.total);
        }
    }

    /// The whole run, or what is selected of it.
    pub(super) fn total(&self) -> Row {
        Row {
            names: Default::default(),
            identity_id: None,
            costs: (0..).zip(self.runs.iter().map(|run| run.total)).collect(),
            samples: Vec::new(),
        }
    }

    /// Puts the samples into rows, where they need not be read.
    pub(super) fn count(&self, row: &mut Row) {
        match &self.samples {
            Samples::Costs => row.samples.clone_from(&row.costs),
            Samples::Quanta(quanta) => {
                let samples = row.costs.iter();
                let samples = samples.map(|(run, cost)| (*run, cost / quanta[index(*run)]));
                row.samples = samples.collect();
            }
            Samples::Unknown | Samples::Observations(_) => {}
        }
    }

    /// The mean over the positions of the part of the total that a row has.
    pub(super) fn mean_share(&self, row: &Row) -> f64 {
        let mut shares = vec![(0.0, 0.0); self.positions.len()];
        for run in &self.runs {
            shares[run.place].1 += 1.0;
        }
        for (run, cost) in &row.costs {
            let run = &self.runs[index(*run)];
            if run.total > 0.0 {
                shares[run.place].0 += cost.abs() / run.total;
            }
        }
        let means = shares.iter().map(|(sum, runs)| sum / runs);
        means.sum::<f64>() / float(shares.len().max(1))
    }

    /// How the figures of a row vary.
    pub(super) fn kind(&self, row: &Row) -> Kind {
        match self.noise {
            Noise::Exact => Kind::Exact,
            Noise::Sampled if !row.samples.is_empty() => Kind::Sampled,
            _ => Kind::Timed {
                quantum: self.quantum,
            },
        }
    }

    /// The figures of a row, position by position. A run that does not mention it has nothing of it.
    pub(super) fn points(&self, row: &Row) -> Vec<Point> {
        let is_sampled = self.kind(row) == Kind::Sampled;
        let dense = |sparse: &Sparse| {
            let mut figures = vec![0.0; self.runs.len()];
            for (run, figure) in sparse {
                figures[index(*run)] = *figure;
            }
            figures
        };
        let costs = dense(&row.costs);
        let samples = dense(&row.samples);
        let mut points = Vec::with_capacity(self.positions.len());
        let (mut figures, mut counts) = (Vec::new(), Vec::new());
        for (at, run) in self.runs.iter().enumerate() {
            // A copy confirms what is exact; others would be taken for more than they are.
            if !run.is_copy || self.noise == Noise::Exact {
                figures.push(costs[at]);
                counts.push(samples[at]);
            }
            let next = self.runs.get(at + 1);
            if next.is_none_or(|next| next.place != run.place) {
                points.push(if is_sampled {
                    Point::sampled(&figures, &counts)
                } else {
                    Point::new(&figures)
                });
                figures.clear();
                counts.clear();
            }
        }
        points
    }
}

/// The functions, modules or files that cost anything, only what fits a text if there is one; and which of them are one.
pub(super) fn rows(
    database: &Database,
    measured: &Measured,
    frame: &Frame,
    by: Fitting,
    wanted: Option<&[Subject]>,
) -> Result<(Vec<Row>, Aliases), HistoryError> {
    let figures = all_figures(database, &measured.metrics())?;
    let one = Aliases::of(&figures, measured.runs.len(), frame.noise);
    let wanted: Option<BTreeSet<Key>> = wanted.map(|subjects| {
        let keys = subjects
            .iter()
            .map(|subject| one.key(by, subject.identity_id.unwrap_or_default(), &subject.names));
        keys.collect()
    });
    let mut rows: Vec<Row> = Vec::new();
    let mut places: HashMap<Key, usize> = HashMap::new();
    let mut of_identity: HashMap<i64, usize> = HashMap::new();
    for identity in figures.identities {
        if identity.exclusive.iter().all(|(_, cost)| *cost == 0.0) {
            continue;
        }
        let key = one.key(by, identity.identity_id, &identity.names);
        if wanted.as_ref().is_some_and(|wanted| !wanted.contains(&key)) {
            continue;
        }
        let place = *places.entry(key.clone()).or_insert(rows.len());
        of_identity.insert(identity.identity_id, place);
        if place == rows.len() {
            let (identity_id, names) = key;
            rows.push(Row {
                names,
                identity_id,
                costs: identity.exclusive,
                samples: Vec::new(),
            });
        } else {
            rows[place].costs = added(&rows[place].costs, &identity.exclusive);
        }
    }
    if let Samples::Observations(observations) = &frame.samples {
        for identity in all_figures(database, observations)?.identities {
            if let Some(place) = of_identity.get(&identity.identity_id) {
                rows[*place].samples = added(&rows[*place].samples, &identity.exclusive);
            }
        }
    } else {
        for row in &mut rows {
            frame.count(row);
        }
    }
    // They came in the order of the names, of which some are others now.
    rows.sort_by(|one, other| {
        (&one.names, one.identity_id).cmp(&(&other.names, other.identity_id))
    });
    Ok((rows, one))
}

/// The runs, and which of them are copies of another one of their position.
fn recordings(series: &Series, measured: &Measured, positions: &[usize]) -> Vec<Recording> {
    let all: Vec<_> = series.runs().collect();
    let mut place = 0;
    let mut known: Vec<&str> = Vec::new();
    measured
        .runs
        .iter()
        .map(|run| {
            if positions[place] != run.position {
                place += 1;
                known.clear();
            }
            let marks = all.get(run.metric.run);
            let recording = marks.and_then(|marks| marks.recording.as_deref());
            let is_copy = recording.is_some_and(|recording| known.contains(&recording));
            known.extend(recording);
            Recording {
                place,
                is_copy,
                total: run.metric.total,
            }
        })
        .collect()
}

/// Sums of figures of runs.
fn added(one: &Sparse, other: &Sparse) -> Sparse {
    let mut sums: Sparse = one.iter().chain(other).copied().collect();
    // The sort keeps the order of equal runs, and so that of the sums.
    sums.sort_by_key(|(run, _)| *run);
    sums.dedup_by(|next, sum| {
        let is_one = next.0 == sum.0;
        if is_one {
            sum.1 += next.1;
        }
        is_one
    });
    sums
}

/// A place in an array of runs.
fn index(run: u32) -> usize {
    usize::try_from(run).unwrap_or(usize::MAX)
}

/// A number of positions as a figure.
pub(super) fn float(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::INFINITY, f64::from)
}
