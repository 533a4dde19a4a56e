//! What is known of a run, in every format: `profdb show` and `profdb report state`.

use std::io::{self, Write};

use serde_json::{Map, Value as Json, json};

use super::failure::{Failure, complain, database};
use super::output::{ListArgs, Target, Unwritten, print};
use super::source::SeveralRuns;
use crate::base::error::Stop;
use crate::report::render::{self, Format};
use crate::report::{Value, table};
use crate::store::{Database, MetricInfo, RunInfo, RunState};
use crate::text::json::pretty;
use crate::text::number::shortest;
use crate::text::xml::escaped;

/// Columns of `runs` that are numbers.
const NUMBERS: [&str; 6] = [
    "run_id",
    "source_bytes",
    "first_node",
    "last_node",
    "timer_bias",
    "bias_applied",
];

/// What is written after a number of nanoseconds.
const NANOSECONDS: &str = " ns";

/// Version of the JSON object: raised when a name or a meaning changes.
const SCHEMA: u32 = 1;

/// Refuses several runs.
pub(super) const ONE_STATE: SeveralRuns =
    SeveralRuns::Refuse("every run has metadata of its own; `profdb runs` lists the runs");

/// Writes all that is known of a run.
pub(super) fn tell(
    source: &Database,
    run: &RunInfo,
    list: &ListArgs,
    target: &Target,
    stop: &Stop,
) -> Result<(), Failure> {
    let layout = list.layout();
    layout.check(false).or_else(|wrong| match layout.format {
        Format::Xml => Ok(()),
        _ => Err(complain(wrong, Failure::Usage)),
    })?;
    let state = source
        .state(run.run_id)
        .map_err(|error| database(error, stop))?;
    let written =
        |out: &mut dyn Write, text: &str| Ok::<_, Unwritten>(out.write_all(text.as_bytes())?);
    match layout.format {
        Format::Text => target.write(stop, |out| Ok(write_text(&state, out)?)),
        Format::Xml => target.write(stop, |out| Ok(write_xml(&state, out)?)),
        Format::Json => target.write(stop, |out| {
            written(out, &format!("{}\n", pretty(&object(&state))))
        }),
        _ => {
            let columns = ["kind", "name", "value", "unit"];
            print(
                &mut table(source, &columns, rows(&state)),
                &layout,
                target,
                stop,
            )
        }
    }
}

/// Returns names, values and units as `]PROFILE state` has them, if the cost of the timer is known. Files do not state the others.
fn timer(state: &RunState) -> Vec<(&'static str, Value, &'static str)> {
    let cost = state.columns.iter().find(|(name, _)| name == "timer_bias");
    let cost = cost.and_then(|(_, cost)| cost.as_deref()?.strip_suffix(NANOSECONDS)?.parse().ok());
    let Some(cost) = cost.map(|cost: f64| cost / 1e6) else {
        return Vec::new();
    };
    let text = |text: &str| Value::Text(text.to_owned());
    vec![
        ("state", text("inactive"), ""),
        ("timer", text("unknown"), ""),
        ("timer cost", Value::Real(cost), "msec"),
        ("granularity", text("unknown"), ""),
    ]
}

/// Writes a row for each known value, in the order of the table.
fn write_xml(state: &RunState, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<?xml version=\"1.0\"?>\n<ProfileState>")?;
    for row in rows(state) {
        writeln!(out, "  <StateEntry>")?;
        for (name, value) in ["Kind", "Name", "Value", "Unit"].iter().zip(row) {
            let text = match value {
                Value::Null => continue,
                Value::Integer(value) => value.to_string(),
                Value::Real(value) => shortest(value),
                Value::Text(text) => escaped(&text),
            };
            writeln!(out, "    <{name}>{text}</{name}>")?;
        }
        writeln!(out, "  </StateEntry>")?;
    }
    writeln!(out, "</ProfileState>")
}

fn write_text(state: &RunState, out: &mut dyn Write) -> io::Result<()> {
    for (name, value, unit) in timer(state) {
        let value = match value {
            Value::Real(value) => shortest(value),
            Value::Text(text) => text,
            Value::Integer(_) | Value::Null => continue,
        };
        writeln!(out, "{}", format!("{name}: {value} {unit}").trim_end())?;
    }
    for (name, value) in &state.columns {
        if let Some(value) = value {
            writeln!(out, "{name}: {}", render::plain_line(value))?;
        }
    }
    for metric in &state.metrics {
        writeln!(
            out,
            "metric {}: total {}, noise {}",
            render::plain_line(&metric.name),
            render::total(metric),
            metric.noise.name()
        )?;
    }
    for (kind, pairs) in [("tag", &state.tags), ("property", &state.properties)] {
        for (key, value) in pairs {
            writeln!(
                out,
                "{kind} {}: {}",
                render::plain_line(key),
                render::plain_line(value)
            )?;
        }
    }
    for note in &state.notes {
        writeln!(
            out,
            "{}: {}",
            note.severity,
            render::plain_line(&note.to_string())
        )?;
    }
    Ok(())
}

/// The value of a column of `runs`, with its unit.
fn value(name: &str, text: &str) -> (Value, &'static str) {
    if !NUMBERS.contains(&name) {
        return (Value::Text(text.to_owned()), "");
    }
    let (digits, unit) = match text.strip_suffix(NANOSECONDS) {
        Some(digits) => (digits, "ns"),
        None => (text, ""),
    };
    let number = digits
        .parse()
        .map(Value::Integer)
        .or_else(|_| digits.parse().map(Value::Real));
    (
        number.unwrap_or_else(|_| Value::Text(text.to_owned())),
        unit,
    )
}

/// A row for each thing that is known.
fn rows(state: &RunState) -> Vec<Vec<Value>> {
    let text = |text: &str| Value::Text(text.to_owned());
    let unit = |unit: &str| {
        if unit.is_empty() {
            Value::Null
        } else {
            text(unit)
        }
    };
    let mut rows = Vec::new();
    for (name, value, of) in timer(state) {
        rows.push(vec![text("state"), text(name), value, unit(of)]);
    }
    for (name, known) in &state.columns {
        if let Some(known) = known {
            let (value, of) = value(name, known);
            rows.push(vec![text("run"), text(name), value, unit(of)]);
        }
    }
    for metric in &state.metrics {
        let total = Value::Real(metric.total);
        rows.push(vec![
            text("metric"),
            text(&metric.name),
            total,
            unit(&metric.unit),
        ]);
    }
    for (kind, pairs) in [("tag", &state.tags), ("property", &state.properties)] {
        for (key, value) in pairs {
            rows.push(vec![text(kind), text(key), text(value), Value::Null]);
        }
    }
    for note in &state.notes {
        rows.push(vec![
            text(&note.severity),
            Value::Null,
            text(&note.to_string()),
            Value::Null,
        ]);
    }
    rows
}

/// The same as an object: times in ns, unknown values null.
fn object(state: &RunState) -> Json {
    let of_columns = state.columns.iter().map(|(name, known)| {
        let value = known
            .as_deref()
            .map_or(Json::Null, |known| match value(name, known).0 {
                Value::Integer(number) => number.into(),
                Value::Real(number) => number.into(),
                Value::Text(text) => text.into(),
                Value::Null => Json::Null,
            });
        (name.clone(), value)
    });
    let pairs = |pairs: &[(String, String)]| -> Map<String, Json> {
        pairs
            .iter()
            .map(|(key, value)| (key.clone(), value.as_str().into()))
            .collect()
    };
    let name_of = |id: Option<i64>| {
        let named = |metric: &&MetricInfo| Some(metric.metric_id) == id;
        state.metrics.iter().find(named).map(|metric| &metric.name)
    };
    let metrics: Vec<Json> = state
        .metrics
        .iter()
        .map(|metric| {
            json!({
                "name": metric.name,
                "unit": metric.unit,
                "total": metric.total,
                "timer_readings": metric.timer_readings,
                "noise": metric.noise.name(),
                "observations": name_of(metric.observations),
                "quantum": metric.quantum,
            })
        })
        .collect();
    let notes: Vec<Json> = state
        .notes
        .iter()
        .map(|note| {
            json!({
                "severity": note.severity,
                "line": note.line,
                "byte": note.byte,
                "message": note.message,
            })
        })
        .collect();
    json!({
        "schema_version": SCHEMA,
        "run": of_columns.collect::<Map<String, Json>>(),
        "metrics": metrics,
        "tags": pairs(&state.tags),
        "properties": pairs(&state.properties),
        "notes": notes,
    })
}
