//! Layer 1: the tables of a run in the metric and with the timer bias of the question.

use super::super::error::ReportError;
use super::super::header::Header;
use super::super::question::Request;
use super::super::script::Script;
use crate::store::{MetricInfo, RunInfo, StoreError};

const QUESTION: &str = include_str!("../../../queries/question/question.sql");
const RECORDED: &str = include_str!("../../../queries/question/recorded.sql");
const TOTALS: &str = include_str!("../../../queries/question/totals.sql");
const TOTALS_SHIFTED: &str = include_str!("../../../queries/question/totals_shifted.sql");
const NODES_DEFAULT: &str = include_str!("../../../queries/question/nodes_default.sql");
const NODES_OTHER: &str = include_str!("../../../queries/question/nodes_other.sql");
const NODES_SHIFTED: &str = include_str!("../../../queries/question/nodes_shifted.sql");
const LABELS: &str = include_str!("../../../queries/question/labels.sql");

/// Nanoseconds in a millisecond, in which a bias is given.
const NANOSECONDS: f64 = 1e6;

/// Makes the views of layer 1, for times that are shifted by so much per reading of the timer;
/// gives the total of the metric.
pub(super) fn set_up(
    script: &Script<'_>,
    run: &RunInfo,
    metric: &MetricInfo,
    shift: f64,
) -> Result<f64, StoreError> {
    script.run(
        QUESTION,
        &[
            ("run", &run.run_id),
            ("metric", &metric.metric_id),
            ("shift", &shift),
        ],
    )?;
    let total = script.number("SELECT total FROM temp.question")?;
    // Nodes hold the costs of the default metric themselves, so that its view joins no table for
    // them.
    let stored_in_nodes = run.default_metric.as_ref() == Some(&metric.name);
    let (totals, nodes) = match (shift != 0.0, stored_in_nodes) {
        (true, _) => (TOTALS_SHIFTED, NODES_SHIFTED),
        (false, true) => (TOTALS, NODES_DEFAULT),
        (false, false) => (TOTALS, NODES_OTHER),
    };
    for views in [totals, nodes, LABELS] {
        script.batch(views)?;
    }
    Ok(total)
}

/// What is to be added to a time for each reading of the timer, in ns.
pub(super) fn shift(
    header: &Header<'_>,
    run: &RunInfo,
    (metric, metrics): (&MetricInfo, &[MetricInfo]),
    request: &Request,
) -> Result<f64, ReportError> {
    let has_readings = metrics.iter().any(|metric| metric.timer_readings);
    let is_time = metric.unit == "ns";
    let Some(bias) = request.bias else {
        let raw = run
            .bias_applied
            // Adding what was subtracted gives times as they were measured.
            .filter(|_| header.raw_times && has_readings && is_time);
        return Ok(raw.unwrap_or(0.0));
    };
    let refuse = |reason: String| Err(ReportError::Usage(format!("--bias: {reason}")));
    let run_id = run.run_id;
    // A bias in ms is rounded otherwise than one in ns.
    let is_same =
        |applied: f64| (applied - bias * NANOSECONDS).abs() <= 2.0 * f64::EPSILON * applied.abs();
    match run.bias_applied.map(|applied| {
        if is_same(applied) {
            0.0
        } else {
            applied - bias * NANOSECONDS
        }
    }) {
        _ if !is_time => refuse(format!("metric {} is no time", metric.name)),
        // The times are what is asked for, however often the timer was read.
        Some(0.0) => Ok(0.0),
        _ if !has_readings => refuse(format!(
            "run {run_id} does not say how often the timer was read (ticks)"
        )),
        None => refuse(format!(
            "run {run_id} does not say by what bias its times are corrected already"
        )),
        Some(shift) => Ok(shift),
    }
}

/// What has been subtracted from the times of the answer, in ns per reading of the timer; `None` if
/// unknown.
pub(super) fn bias(run: &RunInfo, request: &Request, shift: f64) -> Option<f64> {
    match request.bias {
        Some(bias) => Some(bias * NANOSECONDS),
        None if shift != 0.0 => Some(0.0),
        None => run.bias_applied,
    }
}

/// Whether the file itself states exclusive costs of functions.
pub(super) fn are_recorded(script: &Script<'_>) -> Result<bool, StoreError> {
    Ok(script.number(RECORDED)? > 0.0)
}
