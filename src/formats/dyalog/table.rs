//! What `]PROFILE` says of a run, row by row, for both formats of its files.
//!
//! Runs with paths become `tree` files, all others `data` files. In both layouts the exclusive
//! figure comes first; 0.9.0 heads it inclusive.

#![expect(
    clippy::indexing_slicing,
    reason = "numbers of functions and metrics are the writer's own"
)]

use std::borrow::Cow;

use hashbrown::HashSet;

use crate::events::Kind;
use crate::formats::common::written::{NO_NAME, lose_raw_names, lose_total};
use crate::formats::export::Layout;
use crate::formats::export::error::ExportError;
use crate::formats::export::losses::{
    ABSENT, BACK_EDGES, CALLERS, FACTS, FUNCTION_CALLS, FUNCTION_COSTS, KINDS, LABELS, LARGE, Loss,
    Losses, METRIC, METRICS, NAMES, PLACES, RAW_NAMES, SAME_NAME, TITLE, TOTALS,
};
use crate::formats::export::profile::Profile;
use crate::report::ReportError;
use crate::store::{LineRow, MetricInfo, RunInfo};
use crate::text::cell::{Kind as CellKind, Shown, Value};
use crate::text::dyalog_files::{Rows, Stated, Style, Timer, Times, V0_9, V1_37};

/// The layouts of the two versions whose files are known.
pub(super) const LAYOUTS: &[Layout] = &[OLD, NEW];

const OLD: Layout = Layout {
    name: V0_9,
    about: "has ticks, times of trees corrected for the cost of the timer, and swapped labels of inclusive and \
            exclusive time",
};

const NEW: Layout = Layout {
    name: V1_37,
    about: "has no ticks, and times as measured",
};

/// What both formats lose, besides [`TITLE`] and what they differ in.
pub(super) const LOSSES: [Loss; 19] = [
    METRIC,
    METRICS,
    TITLE,
    FACTS,
    BIAS,
    LABELS,
    BACK_EDGES,
    CALLERS,
    FUNCTION_CALLS,
    FUNCTION_COSTS,
    KINDS,
    PLACES,
    LINE_PLACES,
    NAMES,
    RAW_NAMES,
    SAME_NAME,
    ABSENT,
    TOTALS,
    LARGE,
];

const BIAS: Loss = Loss {
    name: "bias",
    what: "cost of the timer and correction of the times",
    of: "runs",
};

const LINE_PLACES: Loss = Loss {
    name: "line_places",
    what: "file and column or clause of lines",
    of: "lines",
};

/// What a count stays below in APL's numbers, as profdb reads them: they are REAL.
const LARGEST: u64 = 1 << 53;

/// What a format of files can hold.
#[derive(Clone, Copy)]
pub(super) struct Holds {
    /// What is known of the timer, and other facts of the run.
    pub(super) settings: bool,
    /// Whether names may have a character.
    pub(super) character: fn(char) -> bool,
}

/// The rows of a file.
pub(super) struct Table<'p, 'd> {
    profile: &'p Profile<'d>,
    holds: Holds,
    /// The metric of the times.
    time: MetricInfo,
    /// That of the timer's readings, if it is known.
    ticks: Option<MetricInfo>,
    style: Style,
    /// By the place in [`Profile::functions`].
    names: Vec<Cow<'p, str>>,
    said: Stated<'p>,
    /// What has been subtracted per reading from times that are to be written as they were
    /// measured, in ns.
    applied: f64,
}

/// A function or line with its figures.
struct TableRow {
    function: usize,
    line: Option<i64>,
    depth: Option<usize>,
    calls: Option<u64>,
    /// Exclusive and inclusive.
    time: [Option<f64>; 2],
    ticks: Option<[Option<f64>; 2]>,
}

impl<'p, 'd> Table<'p, 'd> {
    /// Finds what there is to write, and counts what gets lost of the run as a whole.
    pub(super) fn of(
        profile: &'p Profile<'d>,
        holds: Holds,
        losses: &mut Losses,
    ) -> Result<Self, ExportError> {
        let time = std::iter::once(&profile.metric)
            .chain(&profile.metrics)
            .find(|metric| metric.unit == "ns");
        let Some(time) = time.cloned() else {
            return Err(no_time(profile));
        };
        let known = profile
            .metrics
            .iter()
            .find(|metric| metric.timer_readings)
            .cloned();
        let timer = Timer {
            readings: known.is_some() && !profile.functions.is_empty(),
            applied: profile
                .run
                .bias_applied
                .filter(|_| profile.run.fidelity == "tree"),
        };
        let style = match profile.layout {
            None => Style::of(timer),
            Some(layout) if layout == OLD => Style::Old,
            Some(_) => Style::New,
        };
        let is_old = style == Style::Old;
        // Without a column of their own, ticks are needed to undo the correction of the times.
        let ticks = known.filter(|_| {
            is_old
                || profile
                    .run
                    .bias_applied
                    .is_some_and(|applied| applied != 0.0)
        });
        let all = std::iter::once(&time).chain(ticks.iter().filter(|_| is_old));
        losses.written = Some(all.map(|metric| metric.metric_id).collect());
        losses.add(METRIC, (time.name != "time").into());
        let written = 1 + usize::from(is_old && ticks.is_some());
        losses.add(
            METRICS,
            profile.other_metrics + (profile.metrics.len() - written) as u64,
        );
        losses.add(LABELS, profile.labels);
        lose_raw_names(profile, losses);
        losses.add(BACK_EDGES, profile.back_edges);
        let names = names(profile, holds, losses);
        let RunInfo {
            tool_version,
            timer_bias,
            bias_applied,
            fidelity,
            ..
        } = &profile.run;
        let rows = if fidelity == "tree" {
            Rows::Tree
        } else {
            Rows::Totals
        };
        if rows == Rows::Totals {
            profile.each_edge(|_| {
                losses.add(CALLERS, 1);
                Ok(())
            })?;
        }
        // Trees of 0.9.0 hold corrected times, all other files times as measured, where it is known
        // how to make them.
        let is_corrected = is_old && rows == Rows::Tree;
        let applied = bias_applied
            .filter(|_| !is_corrected && ticks.is_some())
            .unwrap_or(0.0);
        let times = Times {
            style,
            rows,
            ticks: is_old && ticks.is_some(),
            version: tool_version.as_deref().filter(|_| holds.settings),
            timer: *timer_bias,
            applied: bias_applied.map(|stored| stored - applied),
            stored: *bias_applied,
        };
        let mut said = times.stated();
        if !holds.settings {
            // Without them, readers know of no bias.
            let is_unknown = rows == Rows::Tree && times.ticks;
            said = Stated {
                version: None,
                bias: None,
                read: Some(0.0).filter(|_| !is_unknown),
                corrects: false,
            };
        }
        Ok(Self {
            profile,
            holds,
            time,
            ticks,
            style,
            names,
            said,
            applied,
        })
    }

    pub(super) fn is_tree(&self) -> bool {
        self.profile.run.fidelity == "tree"
    }

    /// In which layout the file is written.
    pub(super) fn style(&self) -> Style {
        self.style
    }

    pub(super) fn rows(&self) -> Rows {
        if self.is_tree() {
            Rows::Tree
        } else {
            Rows::Totals
        }
    }

    /// What the file says of its version and the timer.
    pub(super) fn stated(&self) -> Stated<'p> {
        self.said
    }

    /// The metric of the times.
    pub(super) fn time(&self) -> &MetricInfo {
        &self.time
    }

    /// The columns by their right names, in the order of [`each`](Self::each).
    pub(super) fn columns(&self) -> Vec<Shown> {
        let mut columns = Vec::new();
        let mut add = |title: &str, kind| {
            columns.push(Shown {
                is_whole: false,
                is_verdict: false,
                at: columns.len(),
                kind,
                metric: 0,
                title: title.to_owned(),
            });
        };
        if self.is_tree() {
            add("Depth", CellKind::Line);
        }
        add("Element", CellKind::Name);
        add("Line", CellKind::Line);
        add("Calls", CellKind::Count);
        add("ExclusiveTime", CellKind::Raw);
        add("InclusiveTime", CellKind::Raw);
        if self.writes_ticks() {
            add("ExclusiveTicks", CellKind::Count);
            add("InclusiveTicks", CellKind::Count);
        }
        columns
    }

    /// Calls a function for the values of every row, in the order of the file.
    pub(super) fn each(
        &self,
        losses: &mut Losses,
        mut each: impl FnMut(&[Value]) -> Result<(), ExportError>,
    ) -> Result<(), ExportError> {
        let mut placed = vec![false; self.names.len()];
        let mut negative = false;
        let mut is_empty = true;
        // What readers add up: roots, or what functions cost themselves.
        let mut totals = [0.0; 2];
        // Its memory is used again.
        let mut row = Vec::new();
        self.figures(losses, |figures, losses| {
            is_empty = false;
            // Lines are left out of the sum: what they cost is in their function's row.
            let part = match figures.depth {
                Some(depth) => (depth == 0).then_some(1),
                None => figures.line.is_none().then_some(0),
            };
            if let Some(part) = part {
                totals[0] += figures.time[part].unwrap_or(0.0);
                totals[1] += figures.ticks.and_then(|ticks| ticks[part]).unwrap_or(0.0);
            }
            placed[figures.function] = true;
            self.row(&figures, losses, &mut row);
            negative |= row
                .iter()
                .any(|value| matches!(value, Value::Real(time) if *time < 0.0));
            each(&row)
        })?;
        let Stated {
            bias,
            read,
            corrects,
            ..
        } = self.said;
        // A file without column names shows no ticks without rows.
        let read = if is_empty && self.holds.settings {
            Some(0.0)
        } else {
            read
        };
        losses.add(
            METRICS,
            (is_empty && self.holds.settings && self.writes_ticks()).into(),
        );
        let read = (bias, read.filter(|_| !negative || corrects));
        let Profile { run, .. } = self.profile;
        losses.add(BIAS, (read != (run.timer_bias, run.bias_applied)).into());
        let ticks = self
            .ticks
            .iter()
            .filter(|_| self.writes_ticks() && !is_empty);
        for (metric, total) in std::iter::once(&self.time).chain(ticks).zip(totals) {
            lose_total(metric, total, losses);
        }
        losses.add(
            ABSENT,
            placed.iter().filter(|placed| !*placed).count() as u64,
        );
        Ok(())
    }

    fn writes_ticks(&self) -> bool {
        self.style == Style::Old && self.ticks.is_some()
    }

    /// Replaces a row by the next one. What is unknown stays so.
    fn row(&self, figures: &TableRow, losses: &mut Losses, row: &mut Vec<Value>) {
        let real = |figure: Option<f64>| figure.map_or(Value::Null, Value::Real);
        let whole = |figure: Option<i64>| figure.map_or(Value::Null, Value::Integer);
        let old = row.drain(..).find_map(|value| match value {
            Value::Text(text) => Some(text),
            _ => None,
        });
        let mut name = old.unwrap_or_default();
        name.clear();
        name.push_str(&self.names[figures.function]);
        row.extend(
            figures
                .depth
                .map(|depth| Value::Integer(i64::try_from(depth).unwrap_or(i64::MAX))),
        );
        row.push(Value::Text(name));
        row.push(whole(figures.line));
        row.push(whole(figures.calls.map(|calls| {
            losses.add(LARGE, (calls > LARGEST).into());
            calls.min(LARGEST).cast_signed()
        })));
        for (at, time) in figures.time.into_iter().enumerate() {
            let ticks = figures.ticks.and_then(|ticks| ticks[at]).unwrap_or(0.0);
            row.push(real(
                time.map(|time| uncorrected(time, ticks, self.applied)),
            ));
        }
        if self.writes_ticks() {
            row.extend(figures.ticks.into_iter().flatten().map(real));
        }
    }

    /// Calls a function for the figures of every row.
    fn figures(
        &self,
        losses: &mut Losses,
        mut each: impl FnMut(TableRow, &mut Losses) -> Result<(), ExportError>,
    ) -> Result<(), ExportError> {
        let Profile { database, run, .. } = self.profile;
        let metrics: Vec<i64> = std::iter::once(&self.time)
            .chain(&self.ticks)
            .map(|metric| metric.metric_id)
            .collect();
        if self.is_tree() {
            return database.each_node_in(run.run_id, &metrics, |rows| {
                let [node, ..] = rows else { return Ok(()) };
                if let Some(place) = &node.line {
                    losses.add(
                        LINE_PLACES,
                        (!place.file.is_empty() || place.col != 0).into(),
                    );
                }
                let figures = TableRow {
                    function: self.profile.function(node.function_id)?,
                    line: node.line.as_ref().map(|place| place.line),
                    depth: Some(node.depth),
                    calls: node.calls,
                    time: [Some(node.exclusive), node.cumulative],
                    ticks: rows
                        .get(1)
                        .map(|ticks| [Some(ticks.exclusive), ticks.cumulative]),
                };
                each(figures, losses)
            });
        }
        // Lines are another query than functions, and each comes after its function in the file.
        // There are as many as the source has, not as the run has nodes.
        let mut lines: Vec<Vec<LineRow>> = Vec::new();
        database.each_line(run.run_id, &metrics, |rows| {
            lines.push(rows.to_vec());
            Ok::<_, ExportError>(())
        })?;
        let mut lines = lines.iter().peekable();
        database.each_function(run.run_id, &metrics, |rows| {
            let [row, ..] = rows else { return Ok(()) };
            let function = self.profile.function(row.function_id)?;
            let figures = TableRow {
                function,
                line: None,
                depth: None,
                calls: row.calls,
                time: [row.exclusive, row.cumulative],
                ticks: rows.get(1).map(|ticks| [ticks.exclusive, ticks.cumulative]),
            };
            each(figures, losses)?;
            // Both come by the number of the function (queries/export/lines.sql).
            while let Some(rows) = lines.next_if(|rows| rows[0].function_id == row.function_id) {
                let line = &rows[0];
                losses.add(
                    LINE_PLACES,
                    (!line.place.file.is_empty() || line.place.col != 0).into(),
                );
                let figures = TableRow {
                    function,
                    line: Some(line.place.line),
                    depth: None,
                    calls: line.calls,
                    time: [line.exclusive, line.cumulative],
                    ticks: rows.get(1).map(|ticks| [ticks.exclusive, ticks.cumulative]),
                };
                each(figures, losses)?;
            }
            Ok(())
        })
    }
}

/// The time from which so many readings, subtracted, leave the time.
fn uncorrected(time: f64, ticks: f64, bias: f64) -> f64 {
    let cost = ticks * bias;
    // The sum is rounded, so that subtracting again may give a neighbour. One of three usually
    // gives back the same REAL.
    let near = time + cost;
    let is_exact = |raw: &f64| (raw - cost).to_bits() == time.to_bits();
    [near, near.next_up(), near.next_down()]
        .into_iter()
        .find(is_exact)
        .unwrap_or(near)
}

/// What functions are called in the file; counts what gets lost of them.
fn names<'p>(profile: &'p Profile<'_>, holds: Holds, losses: &mut Losses) -> Vec<Cow<'p, str>> {
    let mut taken = HashSet::new();
    let mut names = Vec::with_capacity(profile.functions.len());
    for function in &profile.functions {
        let name = function.name.as_str();
        let held = |character| {
            if (holds.character)(character) {
                character
            } else {
                pictured(character)
            }
        };
        let written: Cow<'_, str> = match name {
            "" => NO_NAME.into(),
            _ if name.chars().all(holds.character) => name.into(),
            _ => name.chars().map(held).collect::<String>().into(),
        };
        losses.add(NAMES, (written != name).into());
        losses.add(KINDS, (function.kind != Kind::Function).into());
        let has_place =
            !function.module.is_empty() || !function.file.is_empty() || function.place != (0, 0);
        losses.add(PLACES, has_place.into());
        losses.add(SAME_NAME, (!taken.insert(written.clone())).into());
        names.push(written);
    }
    names
}

/// What replaces a character that a format cannot hold: the picture of a control character.
fn pictured(character: char) -> char {
    let picture = char::from_u32(u32::from(character) + 0x2400).filter(|_| character < ' ');
    picture.unwrap_or(char::REPLACEMENT_CHARACTER)
}

fn no_time(profile: &Profile<'_>) -> ExportError {
    let Profile { metric, run, .. } = profile;
    let fault = format!(
        "a file of `]PROFILE` holds times, but `{}` of {} is in {}; choose a metric in ns with --metric, or another \
         format",
        metric.name,
        run.said(),
        metric.unit
    );
    ReportError::NothingSelected(fault).into()
}
