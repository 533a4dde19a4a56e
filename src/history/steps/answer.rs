//! Steps as an answer: columns and rows that every format can show.

use serde_json::{Map, Value as Json, json};

use super::super::aliases::lines as said_of;
use super::super::answer::{History, counted, key_of};
use super::super::series::{Position, Series};
use super::super::sparkline::sparkline;
use super::change::{Change, Judged, State, Steps};
use super::request::Request;
use crate::compare::order::Order;
use crate::compare::{Normalize, members_of_folders, normalized};
use crate::events::Noise;
use crate::report::header::{Kind, Meaning};
use crate::report::several::{
    self, ALL, ColumnOf, PEOPLE, PROGRAMS, column, integer, of_module, optional, real, shown,
    shows, text, values, whole,
};
use crate::report::{self, Answer, Argument, Heading, Measure, Value};
use crate::store::{Database, Fitting};
use crate::text::judged::{odds, ratio, short_commit};
use crate::text::number::fixed;
use crate::text::scale::figure;
use profdb_statistics::steps::{Drift, MIN_POSITIONS, SmallChanges, Step};

/// A row: what was found, and the figures of it.
struct Told<'s> {
    steps: &'s Steps,
    places: &'s Timeline<'s>,
    change: &'s Change,
    finding: Finding<'s>,
    word: &'static str,
    /// The positions between which it changed.
    around: Option<(usize, usize)>,
    /// The most likely one.
    best: Option<usize>,
    levels: [f64; 2],
    ratio: Option<f64>,
    interval: Option<(f64, f64)>,
    p: Option<f64>,
    q: Option<f64>,
}

/// The columns.
fn columns<'s>(by: Fitting) -> Vec<ColumnOf<Told<'s>>> {
    vec![
        column(by.name(), Kind::Name, PEOPLE, |of: &Told<'s>| {
            text(&of.name())
        }),
        column("function", Kind::Text, PROGRAMS, |of| {
            text(&of.change.names[0])
        }),
        column("module", Kind::Text, PROGRAMS, |of| {
            text(&of.change.names[1])
        }),
        column("file", Kind::Text, PROGRAMS, |of| text(&of.change.names[2])),
        column("metric", Kind::Text, PROGRAMS, |of| text(&of.steps.shown.0)),
        column("unit", Kind::Text, PROGRAMS, |of| text(&of.steps.shown.1)),
        column("change", Kind::Text, PROGRAMS, |of| text(of.word)),
        whole(column("between", Kind::Text, PEOPLE, |of| {
            text(&of.between())
        })),
        column("from_position", Kind::Any, PROGRAMS, |of| {
            of.position(of.from())
        }),
        column("to_position", Kind::Any, PROGRAMS, |of| {
            of.position(of.to())
        }),
        column("from_commit", Kind::Text, PROGRAMS, |of| {
            of.commit(of.from())
        }),
        column("to_commit", Kind::Text, PROGRAMS, |of| of.commit(of.to())),
        column("from_run", Kind::Any, PROGRAMS, |of| of.run(of.from())),
        column("to_run", Kind::Any, PROGRAMS, |of| of.run(of.to())),
        column("position", Kind::Any, PROGRAMS, |of| of.position(of.best)),
        column("commit_id", Kind::Text, PROGRAMS, |of| of.commit(of.best)),
        column("run_id", Kind::Any, PROGRAMS, |of| of.run(of.best)),
        column("commits", Kind::Any, PROGRAMS, |of| integer(of.commits())),
        shows(
            Meaning::Before,
            column("before", Kind::Cost, ALL, |of| Value::Real(of.levels[0])),
        ),
        shows(
            Meaning::After,
            column("after", Kind::Cost, ALL, |of| Value::Real(of.levels[1])),
        ),
        whole(column("ratio (95 %)", Kind::Text, PEOPLE, |of| {
            text(&ratio(of.ratio, of.interval))
        })),
        column("ratio", Kind::Any, PROGRAMS, |of| real(of.ratio)),
        column("ratio_low", Kind::Any, PROGRAMS, |of| {
            real(of.interval.unzip().0)
        }),
        column("ratio_high", Kind::Any, PROGRAMS, |of| {
            real(of.interval.unzip().1)
        }),
        column("p", Kind::Any, PROGRAMS, |of| real(of.p)),
        whole(column("q", Kind::Text, PEOPLE, |of| text(&odds(of.q)))),
        column("q", Kind::Any, PROGRAMS, |of| real(of.q)),
        whole(column("state", Kind::Text, PEOPLE, |of| text(&of.state()))),
        column("state", Kind::Text, PROGRAMS, |of| {
            optional(of.judged().map(|judged| judged.state.name()))
        }),
        column("reason", Kind::Text, PROGRAMS, |of| text(&of.reason())),
        column("gone_position", Kind::Any, PROGRAMS, |of| {
            of.position(of.gone())
        }),
        column("gone_commit", Kind::Text, PROGRAMS, |of| {
            of.commit(of.gone())
        }),
        column("blind_below", Kind::Any, PROGRAMS, |of| {
            real(of.change.blind_below)
        }),
        column("identity_id", Kind::Any, PROGRAMS, |of| {
            integer(of.change.identity_id)
        }),
    ]
}

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
            Some(commit) => short_commit(commit).to_owned(),
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
    let columns = columns(steps.request.by);
    let places = Timeline {
        series: &steps.series,
        positions: &steps.positions,
    };
    let mut rows = Vec::new();
    for change in &steps.changes {
        for finding in findings(change) {
            rows.push(values(&columns, &Told::of(steps, &places, change, finding)));
        }
    }
    let heading = Heading {
        measure: Measure {
            name: steps.shown.0.clone(),
            unit: steps.shown.1.clone(),
            total: largest(steps),
            selected: None,
        },
        beside: Vec::new(),
        lines: lines(steps, &places),
        members: members(steps, &places, rules),
    };
    let mut answer = report::compared(database, heading, several::columns(&columns), rows);
    answer.namesakes.clone_from(&steps.namesakes);
    answer
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

/// The name of a row for people.
fn named(by: Fitting, change: &Change) -> String {
    let [function, module, file] = &change.names;
    let name = match by {
        Fitting::Function => {
            return of_module(function, module).unwrap_or_else(|| shown(function).to_owned());
        }
        Fitting::Module => module,
        Fitting::File => file,
    };
    shown(name).to_owned()
}

/// `gone again at d4e5f6`, `shifted: inlined: ...`.
fn state(places: &Timeline<'_>, judged: &Judged) -> String {
    let mut state = judged.state.name().to_owned();
    if let (State::GoneAgain, Some(at)) = (judged.state, judged.step.gone_at) {
        state = format!("{state} at {}", places.said(at));
    }
    match judged.reason.as_str() {
        "" => state,
        reason => format!("{state}: {reason}"),
    }
}

/// What exact figures say of a drift: `11 changes of less than 5 % each, the largest x1.01 at a1b2..c3d4`; empty of others.
fn of_drift(places: &Timeline<'_>, drift: &Drift, min_effect: f64) -> String {
    let Some(SmallChanges {
        changes,
        largest_at,
        largest,
    }) = drift.small
    else {
        return String::new();
    };
    format!(
        "{} of less than {} each, the largest x{} at {}",
        counted(changes, "change"),
        percent(min_effect),
        fixed(largest, 3),
        places.between((largest_at - 1, largest_at))
    )
}

/// A change with its figures, as a line.
fn said(places: &Timeline<'_>, metric: [&str; 2], min_effect: f64, finding: Finding<'_>) -> String {
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
        Finding::Drift(drift, _) => {
            let reason = of_drift(places, drift, min_effect);
            format!(
                "drift over all positions: x{}{}{reason}",
                ratio(Some(drift.ratio), Some(drift.interval)),
                if reason.is_empty() { "" } else { ", " },
            )
        }
        Finding::Nothing => "no step".to_owned(),
    }
}

/// A part in percent, with a decimal if that says more.
fn percent(part: f64) -> String {
    let text = fixed(100.0 * part, usize::from(part < 0.0995));
    format!("{} %", text.strip_suffix(".0").unwrap_or(&text))
}

/// Threshold from which the size of a detectable step is not stated: such a figure only shows that the noise is unknown.
const LARGEST_STEP: f64 = 10.0;

/// Returns the detection limit of a series.
fn sight(blind_below: Option<f64>, positions: usize, noise: Noise) -> String {
    match blind_below {
        None if positions < MIN_POSITIONS => format!(
            "too few positions for step detection: expected at least {MIN_POSITIONS} or exact figures, found {positions}; profdb diff compares two sets of runs"
        ),
        None => "no step detection for figures that are negative or all 0".to_owned(),
        Some(ratio) if noise == Noise::Exact => {
            format!("any step of {} or more is detected", percent(ratio - 1.0))
        }
        Some(ratio) if ratio > LARGEST_STEP => format!(
            "only a step of more than {LARGEST_STEP:.0}x in the middle of the series is detected with 80 % power"
        ),
        Some(ratio) => format!(
            "a step of {} in the middle of the series is detected with 80 % power",
            percent(ratio - 1.0)
        ),
    }
}

/// Returns the detection limit of the rows that were searched.
fn sight_of_rows(steps: &Steps) -> String {
    let rows = format!("the searched {}s", steps.request.by.name());
    let sight = sight(steps.blind_below, steps.positions.len(), steps.noise);
    match steps.blind_below {
        Some(_) if steps.noise == Noise::Exact => format!("In all of {rows}, {sight}"),
        Some(_) => format!("In at least half of {rows}, {sight}"),
        None => format!("In most of {rows}: {sight}"),
    }
}

impl<'s> Told<'s> {
    fn of(
        steps: &'s Steps,
        places: &'s Timeline<'s>,
        change: &'s Change,
        finding: Finding<'s>,
    ) -> Self {
        let nothing = Self {
            steps,
            places,
            change,
            finding,
            word: "none",
            around: None,
            best: None,
            levels: ends(change),
            ratio: None,
            interval: None,
            p: None,
            q: None,
        };
        match finding {
            Finding::Step(judged) => {
                let step = &judged.step;
                Self {
                    word: "step",
                    around: Some(Timeline::around(step)),
                    best: Some(step.position),
                    levels: [step.before, step.after],
                    ratio: step.ratio,
                    interval: step.interval,
                    p: Some(step.p),
                    q: Some(judged.q),
                    ..nothing
                }
            }
            Finding::Drift(drift, q) => Self {
                word: "drift",
                around: Some((0, steps.positions.len().saturating_sub(1))),
                levels: [drift.before, drift.after],
                ratio: Some(drift.ratio),
                interval: Some(drift.interval),
                p: Some(drift.p),
                q: Some(q),
                ..nothing
            },
            Finding::Nothing => nothing,
        }
    }

    fn name(&self) -> String {
        named(self.steps.request.by, self.change)
    }

    /// The step, if it is one.
    fn judged(&self) -> Option<&'s Judged> {
        match self.finding {
            Finding::Step(judged) => Some(judged),
            _ => None,
        }
    }

    fn from(&self) -> Option<usize> {
        self.around.unzip().0
    }

    fn to(&self) -> Option<usize> {
        self.around.unzip().1
    }

    fn gone(&self) -> Option<usize> {
        self.judged()?.step.gone_at
    }

    fn position(&self, place: Option<usize>) -> Value {
        integer(place.and_then(|place| self.places.number(place)))
    }

    fn commit(&self, place: Option<usize>) -> Value {
        optional(place.and_then(|place| self.places.at(place).commit.as_deref()))
    }

    fn run(&self, place: Option<usize>) -> Value {
        integer(place.and_then(|place| self.places.run(place)))
    }

    fn commits(&self) -> Option<i64> {
        self.places.commits(self.around?)
    }

    fn between(&self) -> String {
        let between = self.around.map(|around| self.places.between(around));
        between.unwrap_or_else(|| "-".to_owned())
    }

    /// Returns additional facts; empty if there are none.
    fn reason(&self) -> String {
        match self.finding {
            Finding::Step(judged) => judged.reason.clone(),
            Finding::Drift(drift, _) => of_drift(self.places, drift, self.steps.request.min_effect),
            Finding::Nothing => String::new(),
        }
    }

    /// What people are told of it.
    fn state(&self) -> String {
        match self.finding {
            Finding::Step(judged) => state(self.places, judged),
            Finding::Drift(..) => match self.reason().as_str() {
                "" => "drift".to_owned(),
                reason => format!("drift: {reason}"),
            },
            Finding::Nothing if self.steps.request.since.is_some() => "no step since".to_owned(),
            Finding::Nothing => {
                let positions = self.change.costs.len();
                let sight = sight(self.change.blind_below, positions, self.steps.noise);
                format!("no step: {sight}")
            }
        }
    }
}

/// What stands above a table.
fn lines(steps: &Steps, places: &Timeline<'_>) -> Vec<String> {
    let Steps {
        measured,
        request,
        shown,
        ..
    } = steps;
    let metric = [shown.0.as_str(), shown.1.as_str()];
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
            "{}, {}{}; {} of {} searched for changes of {} and more",
            metric[0],
            steps.noise.name(),
            match &request.normalize {
                Normalize::None => String::new(),
                by => format!(", {}", normalized(by)),
            },
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
        lines.push(format!("Filters: {}", filters.join(" ")));
    }
    if steps.tested > 0 {
        lines.push(sight_of_rows(steps));
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
            finding => format!(
                "Total: {}",
                said(places, metric, request.min_effect, finding)
            ),
        });
    }
    lines.extend(said_of(&steps.folders));
    lines
}

/// A finding as a member of files for programs.
fn member(places: &Timeline<'_>, min_effect: f64, finding: Finding<'_>) -> Option<Json> {
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
                "state": judged.state.name(), "reason": judged.reason,
                "gone_position": step.gone_at.and_then(|at| places.number(at)), "gone_commit": step.gone_at.and_then(commit),
            }))
        }
        Finding::Drift(drift, q) => Some(json!({
            "change": "drift", "ratio": drift.ratio, "ratio_low": drift.interval.0, "ratio_high": drift.interval.1,
            "p": drift.p, "q": q, "reason": of_drift(places, drift, min_effect),
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
        .filter_map(|finding| member(places, request.min_effect, finding))
        .collect();
    let mut members = Map::new();
    let mut put = |name: &str, value: Json| members.insert(name.to_owned(), value);
    put("report", json!("steps"));
    put("series", Json::Object(key));
    put("order", json!(steps.series.order.name()));
    put("metric", json!(steps.shown.0));
    put("unit", json!(steps.shown.1));
    put("normalize", json!(normalized(&request.normalize)));
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
    let (metric, unit) = history.shown();
    let metric = [metric.as_str(), unit.as_str()];
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
                finding => format!(
                    "{name}: {}",
                    said(&places, metric, request.min_effect, finding)
                ),
            });
        }
        let found = findings(change)
            .into_iter()
            .filter_map(|finding| member(&places, request.min_effect, finding));
        let [function, module, file] = &change.names;
        all.push(json!({
            "function": function, "module": module, "file": file, "changes": found.collect::<Vec<Json>>(),
            "blind_below": change.blind_below,
        }));
    }
    heading.members.insert("steps".to_owned(), json!(all));
}
