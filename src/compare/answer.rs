//! A comparison as an answer: columns and rows that every format can show.

use serde_json::{Map, Value as Json, json};

use super::judge::{Noise, Verdict};
use super::request::Normalize;
use super::rows::{Compared, Comparison, Row, Side, cost};
use crate::report::header::{Column, Kind, Meaning, Medium};
use crate::report::{self, Answer, Heading, Measure, Value};
use crate::store::Database;
use crate::text::cell::NO_NAME;
use crate::text::number::fixed;

/// Where columns for people are shown, and where those for programs are.
const PEOPLE: &[Medium] = &[Medium::Text];
const PROGRAMS: &[Medium] = &[Medium::Csv, Medium::Xml, Medium::Json];
const ALL: &[Medium] = &[Medium::Text, Medium::Csv, Medium::Xml, Medium::Json];

/// The columns: name, kind, what it shows if it has a title of its own, where.
const COLUMNS: &[(&str, Kind, Option<Meaning>, &[Medium])] = &[
    ("function", Kind::Name, None, ALL),
    ("base", Kind::Cost, Some(Meaning::Base), ALL),
    ("new", Kind::Cost, Some(Meaning::New), ALL),
    ("delta", Kind::Cost, Some(Meaning::Delta), ALL),
    ("ratio (95 %)", Kind::Text, None, PEOPLE),
    ("ratio", Kind::Any, None, PROGRAMS),
    ("ratio_low", Kind::Any, None, PROGRAMS),
    ("ratio_high", Kind::Any, None, PROGRAMS),
    ("p", Kind::Any, None, PROGRAMS),
    ("q", Kind::Text, None, PEOPLE),
    ("q", Kind::Any, None, PROGRAMS),
    ("verdict", Kind::Text, None, PROGRAMS),
    ("verdict", Kind::Text, None, PEOPLE),
    ("why", Kind::Text, None, PROGRAMS),
    ("status", Kind::Text, None, PROGRAMS),
    ("module", Kind::Text, None, PROGRAMS),
    ("file", Kind::Text, None, PROGRAMS),
    ("base_pct", Kind::Percent, None, PROGRAMS),
    ("new_pct", Kind::Percent, None, PROGRAMS),
    ("base_min", Kind::Cost, None, &[Medium::Json, Medium::Xml]),
    ("base_max", Kind::Cost, None, &[Medium::Json, Medium::Xml]),
    ("new_min", Kind::Cost, None, &[Medium::Json, Medium::Xml]),
    ("new_max", Kind::Cost, None, &[Medium::Json, Medium::Xml]),
    ("calls_base", Kind::Any, None, PROGRAMS),
    ("calls_new", Kind::Any, None, PROGRAMS),
    ("seen_base", Kind::Count, None, PROGRAMS),
    ("seen_new", Kind::Count, None, PROGRAMS),
    ("runs_base", Kind::Count, None, PROGRAMS),
    ("runs_new", Kind::Count, None, PROGRAMS),
    ("dispersion", Kind::Any, None, PROGRAMS),
    ("matched_by", Kind::Text, None, PROGRAMS),
    ("functions", Kind::Count, None, PROGRAMS),
];

/// What an answer is about that shows a comparison. `report` is its name, `rules` the digest of the rules of identities.
pub(super) fn heading(report: &str, comparison: &Comparison, rules: Option<&str>) -> Heading {
    let (name, unit) = comparison.metric.clone();
    Heading {
        measure: Measure {
            name,
            unit,
            total: comparison.total.costs[0].max(comparison.total.costs[1]),
            selected: None,
        },
        lines: lines(comparison),
        members: members(report, comparison, rules),
    }
}

/// The answer of a comparison. `rules` is the digest of the rules of identities; `database` is any of those that were read.
#[must_use]
pub fn answer<'d>(
    database: &'d Database,
    comparison: &Comparison,
    rules: Option<&str>,
) -> Answer<'d> {
    let columns = COLUMNS.iter().map(|(name, kind, shows, media)| Column {
        shows: *shows,
        media: media.to_vec(),
        ..Column::plain((*name).to_owned(), *kind)
    });
    let runs = [
        comparison.sides[0].runs.len(),
        comparison.sides[1].runs.len(),
    ];
    let rows = comparison
        .rows
        .iter()
        .map(|row| values(row, runs))
        .collect();
    let heading = heading("diff", comparison, rules);
    report::compared(database, heading, columns.collect(), rows)
}

fn real(value: Option<f64>) -> Value {
    value
        .filter(|value| value.is_finite())
        .map_or(Value::Null, Value::Real)
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn number(number: usize) -> Value {
    i64::try_from(number).map_or(Value::Null, Value::Integer)
}

/// A figure that is a whole number mostly.
#[expect(clippy::cast_possible_truncation, reason = "whole numbers below 2^53")]
fn calls(calls: Option<f64>) -> Value {
    match calls {
        Some(calls) if calls.fract() == 0.0 && calls.abs() < 9e15 => Value::Integer(calls as i64),
        calls => real(calls),
    }
}

/// The name of a row.
fn name(row: &Row) -> String {
    let [name, module, _] = &row.item.names;
    let is_unknown = !row.item.is_named && matches!(name.as_str(), "" | NO_NAME);
    match (is_unknown, module.as_str()) {
        (false, _) => name.to_owned(),
        (true, "") => NO_NAME.to_owned(),
        (true, module) => format!("{NO_NAME} in {module}"),
    }
}

/// `1.27 (1.19..1.35)`.
fn ratio(row: &Row) -> String {
    let judgement = &row.judgement;
    let two = |value: f64| {
        if value.is_finite() {
            fixed(value, 2)
        } else {
            String::new()
        }
    };
    match (judgement.ratio, judgement.interval) {
        (Some(ratio), Some((low, high))) => format!("{} ({}..{})", two(ratio), two(low), two(high)),
        (Some(ratio), None) => two(ratio),
        (None, Some((low, high))) if low > 0.0 || high.is_finite() => {
            format!("({}..{})", two(low), two(high))
        }
        (None, _) => "-".to_owned(),
    }
}

/// A probability with as many digits as it takes: `.031`, `<.001`.
fn probability(value: f64) -> String {
    if value < 0.001 {
        return "<.001".to_owned();
    }
    let text = fixed(value, 3);
    text.strip_prefix('0').map_or(text.clone(), str::to_owned)
}

/// `unclear: 9 runs a side would show 5 %`.
fn verdict(row: &Row) -> String {
    let word = row.judgement.verdict.map_or("", Verdict::name);
    match (word, row.why.as_str()) {
        (word, "") => word.to_owned(),
        (word, why) => format!("{word}: {why}"),
    }
}

fn values(row: &Row, runs: [usize; 2]) -> Vec<Value> {
    let judgement = &row.judgement;
    let [_, module, file] = &row.item.names;
    let (low, high) = judgement.interval.unzip();
    let status = match judgement.seen {
        [0, 0] => "both",
        [0, _] => "new",
        [_, 0] => "gone",
        _ => "both",
    };
    let word = judgement.verdict.map(Verdict::name);
    vec![
        text(&name(row)),
        Value::Real(row.costs[0]),
        Value::Real(row.costs[1]),
        Value::Real(row.delta()),
        text(&ratio(row)),
        real(judgement.ratio),
        real(low),
        real(high),
        real(judgement.p),
        text(&judgement.q.map_or_else(|| "-".to_owned(), probability)),
        real(judgement.q),
        word.map_or(Value::Null, text),
        text(&verdict(row)),
        text(&row.why),
        text(status),
        text(module),
        text(file),
        real(row.shares[0]),
        real(row.shares[1]),
        Value::Real(row.ranges[0].0),
        Value::Real(row.ranges[0].1),
        Value::Real(row.ranges[1].0),
        Value::Real(row.ranges[1].1),
        calls(row.calls[0]),
        calls(row.calls[1]),
        number(judgement.seen[0]),
        number(judgement.seen[1]),
        number(runs[0]),
        number(runs[1]),
        real(judgement.dispersion),
        text(row.item.matched.name()),
        Value::Integer(row.functions.into()),
    ]
}

/// The runs of a side in the order of their numbers.
fn in_order(side: &Side) -> Vec<&Compared> {
    let mut runs: Vec<&Compared> = side.runs.iter().collect();
    runs.sort_by(|one, other| (one.run_id, &one.name).cmp(&(other.run_id, &other.name)));
    runs
}

/// Runs that are named one by one.
const NAMED: usize = 10;

/// `5 runs: 1, 2, 3, 4, 5`.
fn side(side: &Side) -> String {
    let named = |run: &Compared| match run.run_id {
        Some(run_id) => format!("run {run_id} ({})", run.name),
        None => run.name.clone(),
    };
    match in_order(side).as_slice() {
        [run] => named(run),
        runs => {
            let names: Vec<String> = runs
                .iter()
                .take(NAMED)
                .map(|run| {
                    run.run_id
                        .map_or_else(|| run.name.clone(), |run_id| run_id.to_string())
                })
                .collect();
            let more = if runs.len() > NAMED { ", ..." } else { "" };
            format!("{} runs: {}{more}", runs.len(), names.join(", "))
        }
    }
}

fn normalized(normalize: &Normalize) -> String {
    match normalize {
        Normalize::None => "not normalised".to_owned(),
        Normalize::Total => "shares of the totals".to_owned(),
        Normalize::Median => "normalised by what most functions have in common".to_owned(),
        Normalize::Calls => "normalised by calls".to_owned(),
        Normalize::Tag(key) => format!("normalised by the tag {key}"),
    }
}

/// What stands above a table.
fn lines(comparison: &Comparison) -> Vec<String> {
    let [base, new] = &comparison.sides;
    let mut lines = vec![format!("Base: {}; New: {}", side(base), side(new))];
    let percent = |part: Option<f64>| {
        part.map_or_else(
            || "none".to_owned(),
            |part| format!("{} %", fixed(100.0 * part, 1)),
        )
    };
    lines.push(format!(
        "{}, {}, {}; matched: {} of the cost of base, {} of new; {} of {} functions tested",
        comparison.metric.0,
        comparison.noise.name(),
        normalized(&comparison.normalize),
        percent(base.matched),
        percent(new.matched),
        comparison.tested,
        comparison.functions.max(comparison.tested),
    ));
    if comparison.earlier > 0 {
        lines.push(format!("Noise as in {} earlier runs", comparison.earlier));
    } else if comparison.noise == Noise::Sampled && base.runs.len() + new.runs.len() == 2 {
        lines.push("Noise of counting alone: intervals are the least that they can be".to_owned());
    }
    let total = &comparison.total;
    let p = total
        .judgement
        .p
        .map_or_else(String::new, |p| format!(", p {}", probability(p)));
    lines.push(format!(
        "Total: {} -> {}, x{}{p}: {}",
        cost(&comparison.metric, total.costs[0]),
        cost(&comparison.metric, total.costs[1]),
        ratio(total),
        verdict(total)
    ));
    for folders in &comparison.folders {
        let named = |folder: &str| {
            if folder.is_empty() {
                ".".to_owned()
            } else {
                folder.to_owned()
            }
        };
        lines.push(format!(
            "Folder {} of base is {} of new: {} functions",
            named(&folders.base),
            named(&folders.new),
            folders.functions
        ));
    }
    lines
}

/// What files for programs say of the comparison as a whole.
fn members(report: &str, comparison: &Comparison, rules: Option<&str>) -> Map<String, Json> {
    let side = |side: &Side| {
        let runs: Vec<Json> = in_order(side)
            .into_iter()
            .map(|run| {
                let tags: Vec<Json> = run
                    .tags
                    .iter()
                    .map(|tag| json!({"key": tag.key, "value": tag.value}))
                    .collect();
                json!({"run_id": run.run_id, "name": run.name, "total": run.total, "factor": run.factor, "tags": tags})
            })
            .collect();
        json!({"given": side.given, "runs": runs, "matched_pct": side.matched.map(|part| 100.0 * part)})
    };
    let total = &comparison.total;
    let (low, high) = total.judgement.interval.unzip();
    let finite = |value: Option<f64>| value.filter(|value| value.is_finite());
    let mut members = Map::new();
    let mut put = |name: &str, value: Json| members.insert(name.to_owned(), value);
    put("report", json!(report));
    put("base", side(&comparison.sides[0]));
    put("new", side(&comparison.sides[1]));
    put("metric", json!(comparison.metric.0));
    put("unit", json!(comparison.metric.1));
    put("noise", json!(comparison.noise.name()));
    put("normalize", json!(normalized(&comparison.normalize)));
    put("paired", json!(comparison.paired));
    put("alpha", json!(comparison.request.limits.alpha));
    put(
        "min_effect_pct",
        json!(100.0 * comparison.request.limits.min_effect),
    );
    put(
        "min_share_pct",
        json!(100.0 * comparison.request.limits.min_share),
    );
    put("tested", json!(comparison.tested));
    put("identity_rules", json!(rules));
    let folders: Vec<Json> = comparison
        .folders
        .iter()
        .map(|folders| json!({"base": folders.base, "new": folders.new, "functions": folders.functions}))
        .collect();
    put("folders", json!(folders));
    put("earlier_runs", json!(comparison.earlier));
    put("warnings", json!(comparison.warnings));
    put(
        "total",
        json!({
            "base": total.costs[0], "new": total.costs[1], "delta": total.delta(), "ratio": finite(total.judgement.ratio),
            "ratio_low": finite(low), "ratio_high": finite(high), "p": finite(total.judgement.p),
            "verdict": total.judgement.verdict.map(Verdict::name), "why": total.why,
        }),
    );
    members
}
