//! Steps as an answer: columns and rows that every format can show.

use serde_json::{Map, Value as Json, json};

use super::super::aliases::lines as said_of;
use super::super::answer::{History, counted, key_of};
use super::super::series::{Position, Series};
use super::super::sparkline::sparkline;
use super::change::{Change, Judged, State, Steps};
use super::request::Request;
use crate::compare::members_of_folders;
use crate::compare::order::Order;
use crate::events::Noise;
use crate::report::header::{Column, Kind, Meaning, Medium};
use crate::report::{self, Answer, Argument, Heading, Measure, Value};
use crate::statistics::steps::{Drift, FEWEST, Step};
use crate::store::{Database, Fitting};
use crate::text::cell::NO_NAME;
use crate::text::number::fixed;
use crate::text::scale::figure;

/// Where columns for people are shown, and where those for programs are.
const PEOPLE: &[Medium] = &[Medium::Text];
const PROGRAMS: &[Medium] = &[Medium::Csv, Medium::Xml, Medium::Json];
const ALL: &[Medium] = &[Medium::Text, Medium::Csv, Medium::Xml, Medium::Json];

/// Characters of a commit that are enough for people.
const SHORT_COMMIT: usize = 12;

/// The column that says for people what a row is about; its title is what a row is.
const NAMED: &str = "named";

/// Columns of text that is figures, or a verdict: no part of it can be missed.
const WHOLE: &[&str] = &["between", "ratio (95 %)", "q", "state"];

/// The columns: name, kind, what it shows if it has a title of its own, where.
const COLUMNS: &[(&str, Kind, Option<Meaning>, &[Medium])] = &[
    (NAMED, Kind::Name, None, PEOPLE),
    ("function", Kind::Text, None, PROGRAMS),
    ("module", Kind::Text, None, PROGRAMS),
    ("file", Kind::Text, None, PROGRAMS),
    ("metric", Kind::Text, None, PROGRAMS),
    ("unit", Kind::Text, None, PROGRAMS),
    ("change", Kind::Text, None, PROGRAMS),
    ("between", Kind::Text, None, PEOPLE),
    ("from_position", Kind::Any, None, PROGRAMS),
    ("to_position", Kind::Any, None, PROGRAMS),
    ("from_commit", Kind::Text, None, PROGRAMS),
    ("to_commit", Kind::Text, None, PROGRAMS),
    ("from_run", Kind::Any, None, PROGRAMS),
    ("to_run", Kind::Any, None, PROGRAMS),
    ("position", Kind::Any, None, PROGRAMS),
    ("commit_id", Kind::Text, None, PROGRAMS),
    ("run_id", Kind::Any, None, PROGRAMS),
    ("commits", Kind::Any, None, PROGRAMS),
    ("before", Kind::Cost, Some(Meaning::Before), ALL),
    ("after", Kind::Cost, Some(Meaning::After), ALL),
    ("ratio (95 %)", Kind::Text, None, PEOPLE),
    ("ratio", Kind::Any, None, PROGRAMS),
    ("ratio_low", Kind::Any, None, PROGRAMS),
    ("ratio_high", Kind::Any, None, PROGRAMS),
    ("p", Kind::Any, None, PROGRAMS),
    ("q", Kind::Text, None, PEOPLE),
    ("q", Kind::Any, None, PROGRAMS),
    ("state", Kind::Text, None, PEOPLE),
    ("state", Kind::Text, None, PROGRAMS),
    ("why", Kind::Text, None, PROGRAMS),
    ("gone_position", Kind::Any, None, PROGRAMS),
    ("gone_commit", Kind::Text, None, PROGRAMS),
    ("blind_below", Kind::Any, None, PROGRAMS),
    ("identity_id", Kind::Any, None, PROGRAMS),
];

/// A row: something that was found, or that nothing was.
#[derive(Clone, Copy)]
enum Finding<'s> {
    Step(&'s Judged),
    Drift(&'s Drift, f64),
    Nothing,
}

/// What was found in a row, steps first.
fn findings(change: &Change) -> Vec<Finding<'_>> {
    let mut all: Vec<Finding<'_>> = change.steps.iter().map(Finding::Step).collect();
    all.extend(
        change
            .drift
            .as_ref()
            .map(|(drift, q)| Finding::Drift(drift, *q)),
    );
    if all.is_empty() {
        all.push(Finding::Nothing);
    }
    all
}

/// Where a series has its figures.
struct Timeline<'s> {
    series: &'s Series,
    positions: &'s [usize],
}

impl Timeline<'_> {
    fn at(&self, place: usize) -> &Position {
        &self.series.positions[self.positions[place]]
    }

    /// What the order of a position is by if that is a count of commits; else its number in the series, from 1.
    fn number(&self, place: usize) -> Option<i64> {
        if self.series.order == Order::CommitCount {
            let run = self.at(place).runs.first()?;
            return run.tag(Order::CommitCount.name())?.parse().ok();
        }
        i64::try_from(self.positions[place] + 1).ok()
    }

    fn run(&self, place: usize) -> Option<i64> {
        self.at(place).runs.first().map(|run| run.run_id)
    }

    /// What people call a position: its commit, else its place in the order.
    fn said(&self, place: usize) -> String {
        match &self.at(place).commit {
            Some(commit) => commit.chars().take(SHORT_COMMIT).collect(),
            None => match self.run(place) {
                Some(run) => format!("run {run}"),
                None => (self.positions[place] + 1).to_string(),
            },
        }
    }

    /// The last position that certainly had the old level, and the first that certainly has the new one.
    fn around(step: &Step) -> (usize, usize) {
        (step.earliest.saturating_sub(1), step.latest)
    }

    /// How many commits may have made a change between two positions, if that is known.
    fn commits(&self, (from, to): (usize, usize)) -> Option<i64> {
        let is_counted = self.series.order == Order::CommitCount;
        let (from, to) = (self.number(from)?, self.number(to)?);
        Some(to - from).filter(|_| is_counted)
    }

    /// `a1b2c3..d4e5f6`, and how many commits that are if there are several.
    fn between(&self, around: (usize, usize)) -> String {
        let between = format!("{}..{}", self.said(around.0), self.said(around.1));
        match self.commits(around) {
            Some(commits) if commits > 1 => format!("{between} ({commits} commits)"),
            None if around.1 > around.0 + 1 => {
                format!("{between} ({} positions)", around.1 - around.0)
            }
            _ => between,
        }
    }
}

/// The answer that shows steps. `rules` is the digest of the rules of identities.
#[must_use]
pub fn answer<'d>(database: &'d Database, steps: &Steps, rules: Option<&str>) -> Answer<'d> {
    let columns = COLUMNS.iter().map(|(name, kind, shows, media)| {
        let title = if *name == NAMED {
            steps.request.by.name()
        } else {
            name
        };
        Column {
            shows: *shows,
            media: media.to_vec(),
            is_whole: WHOLE.contains(name),
            ..Column::plain(title.to_owned(), *kind)
        }
    });
    let places = Timeline {
        series: &steps.series,
        positions: &steps.positions,
    };
    let mut rows = Vec::new();
    for change in &steps.changes {
        for finding in findings(change) {
            rows.push(values(steps, &places, change, finding));
        }
    }
    let heading = Heading {
        measure: Measure {
            name: steps.measured.metric.clone(),
            unit: steps.measured.unit.clone(),
            total: largest(steps),
            selected: None,
        },
        lines: lines(steps, &places),
        members: members(steps, &places, rules),
    };
    report::compared(database, heading, columns.collect(), rows)
}

/// The largest cost that is shown.
fn largest(steps: &Steps) -> f64 {
    let shown = steps.changes.iter().flat_map(|change| {
        let levels = change
            .steps
            .iter()
            .flat_map(|judged| [judged.step.before, judged.step.after]);
        levels.chain(ends(change)).collect::<Vec<_>>()
    });
    shown.fold(0.0, f64::max)
}

/// What a row cost at the first and the last position.
fn ends(change: &Change) -> [f64; 2] {
    let ends = [change.costs.first(), change.costs.last()];
    ends.map(|cost| cost.copied().unwrap_or(0.0))
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn optional(value: Option<&str>) -> Value {
    value.map_or(Value::Null, text)
}

fn integer(value: Option<i64>) -> Value {
    value.map_or(Value::Null, Value::Integer)
}

fn real(value: Option<f64>) -> Value {
    let value = value.filter(|value| value.is_finite());
    value.map_or(Value::Null, Value::Real)
}

/// The name of a row for people.
fn named(by: Fitting, change: &Change) -> String {
    let [function, module, file] = &change.names;
    let shown = |name: &str| {
        if name.is_empty() {
            NO_NAME.to_owned()
        } else {
            name.to_owned()
        }
    };
    match by {
        Fitting::Function if matches!(function.as_str(), "" | NO_NAME) && !module.is_empty() => {
            format!("{NO_NAME} in {module}")
        }
        Fitting::Function => shown(function),
        Fitting::Module => shown(module),
        Fitting::File => shown(file),
    }
}

/// `1.27 (1.19..1.35)`.
fn ratio(ratio: Option<f64>, interval: Option<(f64, f64)>) -> String {
    let two = |value: f64| fixed(value, 2);
    match (ratio, interval) {
        (Some(ratio), Some((low, high))) if (high - low).abs() > f64::EPSILON * high => {
            format!("{} ({}..{})", two(ratio), two(low), two(high))
        }
        (Some(ratio), _) => two(ratio),
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

/// `gone again at d4e5f6`, `shifted: inlined: ...`.
fn state(places: &Timeline<'_>, judged: &Judged) -> String {
    let mut state = judged.state.name().to_owned();
    if let (State::GoneAgain, Some(at)) = (judged.state, judged.step.gone_at) {
        state = format!("{state} at {}", places.said(at));
    }
    match judged.why.as_str() {
        "" => state,
        why => format!("{state}: {why}"),
    }
}

/// A change with its figures, as a line.
fn said(places: &Timeline<'_>, metric: [&str; 2], finding: Finding<'_>) -> String {
    let cost = |value: f64| figure(metric[0], metric[1], value);
    match finding {
        Finding::Step(judged) => {
            let step = &judged.step;
            let times = match step.ratio {
                Some(_) => format!(", x{}", ratio(step.ratio, step.interval)),
                None => String::new(),
            };
            format!(
                "step at {}: {} -> {}{times}, {}",
                places.between(Timeline::around(step)),
                cost(step.before),
                cost(step.after),
                state(places, judged)
            )
        }
        Finding::Drift(drift, _) => format!(
            "drift over all positions: x{}",
            ratio(Some(drift.ratio), Some(drift.interval))
        ),
        Finding::Nothing => "no step".to_owned(),
    }
}

/// A part in percent, with a decimal if that says more.
fn percent(part: f64) -> String {
    let text = fixed(100.0 * part, usize::from(part < 0.0995));
    format!("{} %", text.strip_suffix(".0").unwrap_or(&text))
}

/// What a series without findings could have seen.
fn sight(blind_below: Option<f64>, positions: usize, noise: Noise) -> String {
    match blind_below {
        None if positions < FEWEST => format!(
            "nothing is told of {}: at least {FEWEST} are wanted, or figures that are exact; profdb diff compares two sets of runs",
            counted(positions, "position")
        ),
        None => "nothing is told of figures below 0, or all 0".to_owned(),
        Some(ratio) if noise == Noise::Exact => {
            format!(
                "any step of {} or more would have been seen",
                percent(ratio - 1.0)
            )
        }
        Some(ratio) => format!(
            "a step of {} in the middle would have been seen four times of five",
            percent(ratio - 1.0)
        ),
    }
}

fn values(
    steps: &Steps,
    places: &Timeline<'_>,
    change: &Change,
    finding: Finding<'_>,
) -> Vec<Value> {
    let last = steps.positions.len().saturating_sub(1);
    let (around, best) = match finding {
        Finding::Step(judged) => (
            Some(Timeline::around(&judged.step)),
            Some(judged.step.position),
        ),
        Finding::Drift(..) => (Some((0, last)), None),
        Finding::Nothing => (None, None),
    };
    let commit = |place: usize| optional(places.at(place).commit.as_deref());
    let at =
        |place: Option<usize>, value: &dyn Fn(usize) -> Value| place.map_or(Value::Null, value);
    let number = |place: usize| integer(places.number(place));
    let run = |place: usize| integer(places.run(place));
    let (from, to) = around.unzip();
    let [first_cost, last_cost] = ends(change);
    let (word, before, after, times, interval, p, q) = match finding {
        Finding::Step(judged) => {
            let step = &judged.step;
            let (p, q) = (Some(step.p), Some(judged.q));
            (
                "step",
                step.before,
                step.after,
                step.ratio,
                step.interval,
                p,
                q,
            )
        }
        Finding::Drift(drift, q) => {
            let (times, interval) = (Some(drift.ratio), Some(drift.interval));
            (
                "drift",
                first_cost,
                last_cost,
                times,
                interval,
                Some(drift.p),
                Some(q),
            )
        }
        Finding::Nothing => ("none", first_cost, last_cost, None, None, None, None),
    };
    let (low, high) = interval.unzip();
    let (word_of_state, why, gone) = match finding {
        Finding::Step(judged) => (
            text(judged.state.name()),
            text(&judged.why),
            judged.step.gone_at,
        ),
        _ => (Value::Null, text(""), None),
    };
    let for_people = match finding {
        Finding::Step(judged) => state(places, judged),
        Finding::Drift(..) => "drift".to_owned(),
        Finding::Nothing if steps.request.since.is_some() => "no step since".to_owned(),
        Finding::Nothing => format!(
            "no step: {}",
            sight(change.blind_below, change.costs.len(), steps.noise)
        ),
    };
    let [function, module, file] = &change.names;
    vec![
        text(&named(steps.request.by, change)),
        text(function),
        text(module),
        text(file),
        text(&steps.measured.metric),
        text(&steps.measured.unit),
        text(word),
        text(&around.map_or_else(|| "-".to_owned(), |around| places.between(around))),
        at(from, &number),
        at(to, &number),
        at(from, &commit),
        at(to, &commit),
        at(from, &run),
        at(to, &run),
        at(best, &number),
        at(best, &commit),
        at(best, &run),
        integer(around.and_then(|around| places.commits(around))),
        Value::Real(before),
        Value::Real(after),
        text(&ratio(times, interval)),
        real(times),
        real(low),
        real(high),
        real(p),
        text(&q.map_or_else(|| "-".to_owned(), probability)),
        real(q),
        text(&for_people),
        word_of_state,
        why,
        at(gone, &number),
        at(gone, &commit),
        real(change.blind_below),
        integer(change.identity_id),
    ]
}

/// What stands above a table.
fn lines(steps: &Steps, places: &Timeline<'_>) -> Vec<String> {
    let Steps {
        measured, request, ..
    } = steps;
    let metric = [measured.metric.as_str(), measured.unit.as_str()];
    let (bars, each) = sparkline(&steps.total.costs);
    let each = if each > 1 {
        format!(", a bar for {each} positions")
    } else {
        String::new()
    };
    let mut lines = vec![
        format!(
            "Series: {}; {} at {}, in the order of {}",
            key_of(&steps.series),
            counted(measured.runs.len(), "run"),
            counted(steps.positions.len(), "position"),
            steps.series.order.name(),
        ),
        format!(
            "{}, {}; {} of {} searched for changes of {} and more",
            measured.metric,
            steps.noise.name(),
            steps.tested,
            counted(steps.rows, request.by.name()),
            percent(request.min_effect),
        ),
    ];
    if !request.arguments.is_empty() {
        let of = |(flag, argument): &(String, Argument)| match argument {
            Argument::Text(text) => format!("--{flag} {text}"),
            _ => format!("--{flag}"),
        };
        let filters: Vec<String> = request.arguments.iter().map(of).collect();
        lines.push(format!("Only what is left by {}", filters.join(" ")));
    }
    if steps.tested > 0 {
        let half = match steps.blind_below {
            Some(_) => "In half of them ",
            None => "In most of them ",
        };
        lines.push(format!(
            "{half}{}",
            sight(steps.blind_below, steps.positions.len(), steps.noise)
        ));
    }
    let found = findings(&steps.total);
    let [first, last] = ends(&steps.total);
    let cost = |value: f64| figure(metric[0], metric[1], value);
    lines.push(format!(
        "Total: {bars}  {} -> {}{each}",
        cost(first),
        cost(last)
    ));
    for finding in found {
        lines.push(match finding {
            Finding::Nothing => format!(
                "Total: no step; {}",
                sight(steps.total.blind_below, steps.positions.len(), steps.noise)
            ),
            finding => format!("Total: {}", said(places, metric, finding)),
        });
    }
    lines.extend(said_of(&steps.folders));
    lines
}

/// A finding as a member of files for programs.
fn member(places: &Timeline<'_>, finding: Finding<'_>) -> Option<Json> {
    match finding {
        Finding::Step(judged) => {
            let step = &judged.step;
            let (from, to) = Timeline::around(step);
            let (low, high) = step.interval.unzip();
            let commit = |place: usize| places.at(place).commit.clone();
            Some(json!({
                "change": "step", "from_position": places.number(from), "to_position": places.number(to),
                "from_commit": commit(from), "to_commit": commit(to),
                "from_run": places.run(from), "to_run": places.run(to),
                "position": places.number(step.position), "commit_id": commit(step.position), "run_id": places.run(step.position),
                "before": step.before, "after": step.after,
                "ratio": step.ratio, "ratio_low": low, "ratio_high": high, "p": step.p, "q": judged.q,
                "state": judged.state.name(), "why": judged.why,
                "gone_position": step.gone_at.and_then(|at| places.number(at)), "gone_commit": step.gone_at.and_then(commit),
            }))
        }
        Finding::Drift(drift, q) => Some(json!({
            "change": "drift", "ratio": drift.ratio, "ratio_low": drift.interval.0, "ratio_high": drift.interval.1,
            "p": drift.p, "q": q,
        })),
        Finding::Nothing => None,
    }
}

/// What files for programs say of the steps as a whole.
fn members(steps: &Steps, places: &Timeline<'_>, rules: Option<&str>) -> Map<String, Json> {
    let Steps {
        measured, request, ..
    } = steps;
    let key = steps.series.key.iter();
    let key: Map<String, Json> = key
        .map(|(key, value)| (key.clone(), json!(value)))
        .collect();
    let found: Vec<Json> = findings(&steps.total)
        .into_iter()
        .filter_map(|finding| member(places, finding))
        .collect();
    let mut members = Map::new();
    let mut put = |name: &str, value: Json| members.insert(name.to_owned(), value);
    put("report", json!("steps"));
    put("series", Json::Object(key));
    put("order", json!(steps.series.order.name()));
    put("metric", json!(measured.metric));
    put("unit", json!(measured.unit));
    put("noise", json!(steps.noise.name()));
    put("runs", json!(measured.runs.len()));
    put("positions", json!(steps.positions.len()));
    put("left_out", json!(measured.left_out));
    put("alpha", json!(request.alpha));
    put("min_effect_pct", json!(100.0 * request.min_effect));
    put("min_share_pct", json!(100.0 * request.min_share));
    put("tested", json!(steps.tested));
    put("blind_below", json!(steps.blind_below));
    put("identity_rules", json!(rules));
    for (name, listed) in members_of_folders(&steps.folders) {
        put(name, listed);
    }
    put(
        "total",
        json!({"changes": found, "blind_below": steps.total.blind_below}),
    );
    members
}

/// Adds to the answer of a history what was found in its subjects, in their order.
pub fn with_steps(
    answer: &mut Answer<'_>,
    history: &History,
    changes: &[Change],
    request: &Request,
) {
    let Some(heading) = &mut answer.heading else {
        return;
    };
    let measured = &history.measured;
    let noise = request.noise.unwrap_or_else(|| measured.noise());
    let mut positions: Vec<usize> = measured.runs.iter().map(|run| run.position).collect();
    positions.dedup();
    let places = Timeline {
        series: &history.series,
        positions: &positions,
    };
    let metric = [measured.metric.as_str(), measured.unit.as_str()];
    let mut all = Vec::new();
    for change in changes {
        let name = match history.by {
            None => "total".to_owned(),
            Some(by) => named(by, change),
        };
        for finding in findings(change) {
            heading.lines.push(match finding {
                Finding::Nothing => format!(
                    "{name}: no step; {}",
                    sight(change.blind_below, change.costs.len(), noise)
                ),
                finding => format!("{name}: {}", said(&places, metric, finding)),
            });
        }
        let found = findings(change)
            .into_iter()
            .filter_map(|finding| member(&places, finding));
        let [function, module, file] = &change.names;
        all.push(json!({
            "function": function, "module": module, "file": file, "changes": found.collect::<Vec<Json>>(),
            "blind_below": change.blind_below,
        }));
    }
    heading.members.insert("steps".to_owned(), json!(all));
}
