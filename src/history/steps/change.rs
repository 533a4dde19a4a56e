//! What is said of a row: what was found in it, and what became of that.

use super::super::reading::Measured;
use super::super::series::Series;
use super::matrix::{Row, float};
use super::request::Request;
use crate::compare::Folders;
use crate::events::Noise;
use profdb_statistics::multiple::false_discovery_rates;
use profdb_statistics::steps::{Drift, Findings, Step};

/// What was found in a series.
#[derive(Clone, Debug, PartialEq)]
pub struct Steps {
    /// What was asked.
    pub request: Request,
    /// The series.
    pub series: Series,
    /// Its runs with their metric.
    pub measured: Measured,
    /// Name and unit of the figures, after they were divided.
    pub shown: (String, String),
    /// How figures were taken to vary.
    pub noise: Noise,
    /// The positions of the series that have the metric: places of steps are counted in these.
    pub positions: Vec<usize>,
    /// Rows that cost enough to be searched.
    pub tested: usize,
    /// Rows that cost anything.
    pub rows: usize,
    /// The smallest ratio of a step that would have been seen in half of the rows that were searched, four times of five; `None` where
    /// in fewer any would.
    pub blind_below: Option<f64>,
    /// The whole run.
    pub total: Change,
    /// What changed, or everything that was searched: the largest change first.
    pub changes: Vec<Change>,
    /// Folders and modules that have another name in some runs, and are one.
    pub folders: Vec<Folders>,
    /// Name, module and file of the functions of the series that have the name of a change.
    pub namesakes: Vec<[String; 3]>,
    /// Note for functions that are added up though the name tells them apart.
    pub note: Option<String>,
}

/// What is found in the series of a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Name, module and file; empty where it has none, all of them for the whole run.
    pub names: [String; 3],
    /// The number of the identity; `None` where it is none.
    pub identity_id: Option<i64>,
    /// What it cost at each position.
    pub costs: Vec<f64>,
    /// Steps, and what is said of each.
    pub steps: Vec<Judged>,
    /// What changed all the time, with its false discovery rate.
    pub drift: Option<(Drift, f64)>,
    /// The smallest ratio of a step that would have been seen, four times of five; `None` where none would.
    pub blind_below: Option<f64>,
}

/// A step with what is said of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The step.
    pub step: Step,
    /// The false discovery rate.
    pub q: f64,
    /// What became of it.
    pub state: State,
    /// What is to be said of that.
    pub reason: String,
}

/// What became of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The level has not come back since.
    Standing,
    /// The level came back to where it was, or beyond.
    GoneAgain,
    /// The cost is counted elsewhere from then on.
    Shifted,
}

impl State {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Standing => "standing",
            Self::GoneAgain => "gone again",
            Self::Shifted => "shifted",
        }
    }
}

impl Change {
    /// How much the cost has changed, in the unit of the metric: by the largest step or the drift.
    #[must_use]
    pub fn size(&self) -> f64 {
        let steps = self
            .steps
            .iter()
            .map(|judged| (judged.step.after - judged.step.before).abs());
        let drift = self.drift.as_ref().map(|(drift, _)| {
            let mean = self.costs.iter().sum::<f64>() / float(self.costs.len().max(1));
            mean * drift.ratio.ln().abs()
        });
        steps.chain(drift).fold(0.0, f64::max)
    }
}

/// The false discovery rates of all that was found in series of one family: of each series' steps, then of its drift. A series in
/// which nothing was found is one more test.
pub(super) fn rates<'f>(found: impl Iterator<Item = &'f Findings> + Clone) -> Vec<Vec<f64>> {
    let of_one = |found: &Findings| -> Vec<f64> {
        let steps = found.steps.iter().map(|step| step.p);
        steps.chain(found.drift.map(|drift| drift.p)).collect()
    };
    let mut all = Vec::new();
    for found in found.clone() {
        let p = of_one(found);
        if p.is_empty() {
            all.push(1.0);
        }
        all.extend(p);
    }
    let mut rates = false_discovery_rates(&all).into_iter();
    found
        .map(|found| {
            let count = of_one(found).len();
            let of_this: Vec<f64> = rates.by_ref().take(count.max(1)).collect();
            of_this[..count].to_vec()
        })
        .collect()
}

/// What is said of a row: of what was found in it, that which holds among all rows.
pub(super) fn change(
    row: &Row,
    costs: Vec<f64>,
    found: Findings,
    rates: &[f64],
    request: &Request,
) -> Change {
    let alpha = request.alpha;
    let drift_rate = rates.get(found.steps.len()).copied();
    let mut steps: Vec<Judged> = found
        .steps
        .into_iter()
        .zip(rates)
        .filter(|(_, q)| **q < alpha)
        .map(|(step, q)| Judged {
            state: match step.gone_at {
                Some(_) => State::GoneAgain,
                None => State::Standing,
            },
            step,
            q: *q,
            reason: String::new(),
        })
        .collect();
    for at in 1..steps.len() {
        let (earlier, later) = steps.split_at_mut(at);
        let Some(step) = later.first_mut() else {
            continue;
        };
        let taken_back = earlier
            .iter()
            .find(|before| before.step.gone_at == Some(step.step.position));
        if let Some(before) = taken_back {
            let reason = if is_passed(before.step.before, &step.step, request.min_effect) {
                "beyond the earlier level"
            } else {
                "the earlier level returns"
            };
            reason.clone_into(&mut step.reason);
        }
    }
    Change {
        names: row.names.clone(),
        identity_id: row.identity_id,
        costs,
        steps,
        drift: found.drift.zip(drift_rate).filter(|(_, q)| *q < alpha),
        blind_below: found.blind_below,
    }
}

/// Whether a step that leads back to a level leads on, by more than matters.
fn is_passed(level: f64, step: &Step, min_effect: f64) -> bool {
    let back = level / step.before;
    step.interval.is_some_and(|(low, high)| {
        high * (1.0 + min_effect) < back && back < 1.0
            || low > back * (1.0 + min_effect) && back > 1.0
    })
}

/// Says of steps that they are those of the whole run: of the machine or the work, not of this function.
pub(super) fn follow_total(change: &mut Change, total: &Change) {
    for judged in &mut change.steps {
        let step = &judged.step;
        let is_it = |of_total: &Judged| {
            let whole = &of_total.step;
            let together = whole.earliest <= step.latest && step.earliest <= whole.latest;
            let within = |ratio: f64| {
                let interval = step.interval;
                interval.is_some_and(|(low, high)| low <= ratio && ratio <= high)
            };
            together && whole.ratio.is_some_and(within)
        };
        if judged.reason.is_empty() && total.steps.iter().any(is_it) {
            "as the whole run".clone_into(&mut judged.reason);
        }
    }
}

/// Says of steps that another version of the profiler measured from then on.
pub(super) fn follow_profiler(change: &mut Change, series: &Series, positions: &[usize]) {
    let version = |place: usize| {
        let runs = &series.positions[positions[place]].runs;
        runs.first().and_then(|run| run.tool_version.as_deref())
    };
    for judged in &mut change.steps {
        let step = &judged.step;
        let (before, after) = (
            version(step.earliest.saturating_sub(1)),
            version(step.latest),
        );
        if let (true, Some(before), Some(after)) = (judged.reason.is_empty(), before, after)
            && before != after
        {
            judged.reason = format!("the profiler changes here: {before}, then {after}");
        }
    }
}
