//! Which metric of each run is compared, and which earlier runs tell how its figures vary.

use std::collections::BTreeSet;

use super::judge::Noise;
use super::order::{before, session};
use super::request::{CompareError, Normalize, Request};
use super::run::ComparedRun;
use super::table::Metrics;
use crate::report;
use crate::store::{MetricInfo, RunFacts, StoreError};

/// A metric of a run that is compared.
pub(super) struct Chosen {
    pub(super) metric: MetricInfo,
    pub(super) metrics: Metrics,
    pub(super) noise: Noise,
    pub(super) quantum: Option<f64>,
    pub(super) period: Option<Period>,
}

/// The sampling period: the time or the events between two samples, in the unit of the metric that is sampled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Period {
    /// The run says so.
    Stated(f64),
    /// The run has so much for each of its samples.
    Mean(f64),
}

impl Period {
    /// Its size.
    pub(super) fn size(self) -> f64 {
        match self {
            Self::Stated(size) | Self::Mean(size) => size,
        }
    }
}

/// The metric of every run: that which is asked for, or that of the first run of base, by name and unit. Profilers of other formats
/// call it otherwise: of these it is the [`counterpart`]. One format has other metrics under other names.
pub(super) fn choose<'r>(
    sides: &[Vec<&'r ComparedRun<'_>>; 2],
    request: &Request,
) -> Result<[Vec<Chosen>; 2], CompareError> {
    let mut first: Option<(MetricInfo, &ComparedRun<'_>)> = None;
    let mut of_run = |run: &'r ComparedRun<'_>| -> Result<Chosen, CompareError> {
        let metrics = run.database.metrics(run.run.run_id)?;
        let metric = match (&first, &request.metric) {
            (None, name) => report::choose_metric(&metrics, &run.run, name.as_deref())
                .map_err(|error| CompareError::NothingSelected(run.of(&error.to_string())))?,
            (Some((wanted, of)), _) => {
                let is_it =
                    |metric: &&MetricInfo| metric.name == wanted.name && metric.unit == wanted.unit;
                let usual = metrics
                    .iter()
                    .find(|metric| Some(&metric.name) == run.run.default_metric.as_ref());
                let is_other_format = differ_in_format(of, run)?;
                let is_free = request.metric.is_none();
                match (metrics.iter().find(is_it), usual) {
                    (Some(found), _) => found.clone(),
                    // Shares can be compared whatever they are of.
                    (None, Some(usual)) if is_free && request.normalize == Normalize::Total => {
                        usual.clone()
                    }
                    (None, usual) => counterpart(wanted, usual, &metrics, is_free)
                        .filter(|_| is_other_format)
                        .ok_or_else(|| differing(wanted, run, &metrics))?
                        .clone(),
                }
            }
        };
        first.get_or_insert_with(|| (metric.clone(), run));
        chosen_of(run, &metrics, metric, request.noise)
    };
    let mut chosen = [Vec::new(), Vec::new()];
    for (runs, chosen) in sides.iter().zip(&mut chosen) {
        for run in runs {
            chosen.push(of_run(run)?);
        }
    }
    Ok(chosen)
}

/// What another profiler calls the metric that is wanted: its usual one in the same unit. Counts of different things have one unit:
/// of these, samples are compared with samples, also where the user has named those of one side.
fn counterpart<'m>(
    wanted: &MetricInfo,
    usual: Option<&'m MetricInfo>,
    metrics: &'m [MetricInfo],
    is_free: bool,
) -> Option<&'m MetricInfo> {
    if wanted.unit != COUNT {
        return usual.filter(|usual| is_free && usual.unit == wanted.unit);
    }
    if !counts_no_events(wanted) {
        return None;
    }
    usual
        .filter(|usual| counts_no_events(usual))
        .or_else(|| metrics.iter().find(|metric| counts_samples(metric)))
}

/// The unit of what is counted, whatever that is.
const COUNT: &str = "count";

fn counts_samples(metric: &MetricInfo) -> bool {
    metric.observations == Some(metric.metric_id)
}

/// What a count is called in files that do not say what they count: folded stacks, and speedscope's unit `none`.
const UNNAMED: [&str; 2] = ["samples", "weight"];

/// Whether a metric counts samples, or what its file gives no name: no instructions, calls or objects.
fn counts_no_events(metric: &MetricInfo) -> bool {
    metric.unit == COUNT && (counts_samples(metric) || UNNAMED.contains(&metric.name.as_str()))
}

fn differ_in_format(one: &ComparedRun<'_>, other: &ComparedRun<'_>) -> Result<bool, StoreError> {
    let format =
        |run: &ComparedRun<'_>| Ok::<_, StoreError>(run.database.run_facts(run.run.run_id)?.format);
    Ok(format(one)? != format(other)?)
}

/// A metric of a run, with what goes with it.
fn chosen_of(
    run: &ComparedRun<'_>,
    metrics: &[MetricInfo],
    metric: MetricInfo,
    noise: Option<Noise>,
) -> Result<Chosen, CompareError> {
    let about = run.database.metric_noise(metric.metric_id)?;
    let usual = run.run.default_metric.as_ref();
    let calls = metrics.iter().find(|other| Some(&other.name) == usual);
    let samples = match about.observations {
        None if noise == Some(Noise::Sampled) && may_be_samples(&metric) => Some(metric.metric_id),
        observations => observations,
    };
    let period = if about.noise == Noise::Sampled {
        period(&metric, metrics)
    } else {
        None
    };
    Ok(Chosen {
        metrics: Metrics {
            cost: metric.metric_id,
            samples,
            calls: calls.map_or(metric.metric_id, |calls| calls.metric_id),
        },
        metric,
        noise: about.noise,
        quantum: about.quantum,
        period,
    })
}

/// Finds the sampling period of a metric; of one that counts samples, that of the metric that was sampled. `None` where the period is
/// unknown, and for samples of a heap, whose sizes are those of objects.
fn period(metric: &MetricInfo, metrics: &[MetricInfo]) -> Option<Period> {
    let counts = |other: &&MetricInfo| {
        other.observations == Some(metric.metric_id) && other.metric_id != metric.metric_id
    };
    let cost = metrics.iter().find(counts).unwrap_or(metric);
    if let Some(quantum) = cost.quantum {
        return Some(Period::Stated(quantum));
    }
    let samples = metrics
        .iter()
        .find(|other| Some(other.metric_id) == cost.observations)?;
    let mean = cost.total / samples.total;
    let is_known = cost.unit != "bytes" && samples.metric_id != cost.metric_id;
    (is_known && mean.is_finite() && mean > 0.0).then_some(Period::Mean(mean))
}

/// Samples that a run may have. What is larger is rather a sum of periods, each of many events.
const MOST_SAMPLES: f64 = 1e7;

/// Whether a metric may count samples, of which nothing but the user says so.
fn may_be_samples(metric: &MetricInfo) -> bool {
    metric.unit == COUNT && metric.total.fract() == 0.0 && metric.total <= MOST_SAMPLES
}

/// Sessions of earlier runs that are looked at, and fewest that tell anything.
const EARLIER: usize = 20;
const FEWEST_EARLIER: usize = 5;

/// For one run against one: earlier runs of their series, one of each commit or day, which tell how much figures vary. Those of
/// one session would tell too little.
pub(super) fn earlier<'d>(
    sides: &[Vec<&ComparedRun<'d>>; 2],
    chosen: &[Vec<Chosen>; 2],
    facts: &[Vec<RunFacts>; 2],
    noise: Noise,
) -> Result<Vec<(ComparedRun<'d>, Chosen)>, CompareError> {
    let ([base], [new]) = (sides[0].as_slice(), sides[1].as_slice()) else {
        return Ok(Vec::new());
    };
    let Some(known) = [base, new].into_iter().find(|run| run.is_numbered()) else {
        return Ok(Vec::new());
    };
    if noise == Noise::Exact {
        return Ok(Vec::new());
    }
    let wanted = &chosen[0][0].metric;
    let mut recordings: BTreeSet<String> = facts
        .iter()
        .flatten()
        .filter_map(|facts| facts.recording.clone())
        .collect();
    let (mut sessions, mut found) = (BTreeSet::new(), Vec::new());
    // A run of another database or of a file is later than all that are here.
    let is_beside =
        |run: &&&ComparedRun<'d>| std::ptr::eq(run.database, known.database) && !run.is(known);
    let other = [base, new].into_iter().find(is_beside);
    let marks = known.database.run_marks(None)?;
    for marked in before(marks, known.run.run_id, other.map(|run| run.run.run_id)) {
        if found.len() == EARLIER {
            break;
        }
        // Before the run is read: thousands may be of one session.
        let session = session(&marked);
        if sessions.contains(&session) {
            continue;
        }
        let Some(run) = known.database.run(Some(marked.run_id))? else {
            continue;
        };
        let run = ComparedRun {
            database: known.database,
            run,
            tags: Vec::new(),
        };
        let metrics = run.database.metrics(marked.run_id)?;
        let is_wanted =
            |metric: &&MetricInfo| metric.name == wanted.name && metric.unit == wanted.unit;
        let Some(metric) = metrics.iter().find(is_wanted).cloned() else {
            continue;
        };
        let is_known = |recording| !recordings.insert(recording);
        if marked.recording.is_some_and(is_known) || metric.total <= 0.0 {
            continue;
        }
        sessions.insert(session);
        let chosen = chosen_of(
            &run,
            &metrics,
            metric,
            (noise == Noise::Sampled).then_some(noise),
        )?;
        found.push((run, chosen));
    }
    if found.len() < FEWEST_EARLIER {
        found.clear();
    }
    Ok(found)
}

/// What to say of a run that has no such metric.
fn differing(wanted: &MetricInfo, run: &ComparedRun<'_>, metrics: &[MetricInfo]) -> CompareError {
    let named = |metric: &MetricInfo| format!("{} ({})", metric.name, metric.unit);
    let known: Vec<String> = metrics.iter().map(named).collect();
    CompareError::NothingSelected(format!(
        "base has the metric {}; {} has {}: --metric selects a metric of both, --normalize total compares shares",
        named(wanted),
        run.said(),
        known.join(", ")
    ))
}
