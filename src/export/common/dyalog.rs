//! What `]PROFILE` says of a run, row by row, for both formats of its files.
//!
//! Runs with paths become `tree` files, all others `data` files. In both layouts the exclusive figure stands first; 0.9.0
//! labels it inclusive.

use std::borrow::Cow;

use hashbrown::HashSet;

use super::{
    ABSENT, BACK_EDGES, FACTS, FRACTIONS, KINDS, LABELS, LARGE, METRIC, METRICS, NAMES, NEGATIVE, NO_NAME, PLACES,
    SAME_NAME, TITLE, UNKNOWN, whole,
};
use crate::events::Kind;
use crate::export::{ExportError, Layout, Loss, Losses, Profile};
use crate::report::ReportError;
use crate::report::render::xml;
use crate::store::{LineRow, MetricInfo, RunInfo};

/// The layouts of the two versions whose files are known.
pub(in crate::export) const LAYOUTS: &[Layout] = &[V0_9, V1_37];

const V0_9: Layout = Layout {
    name: "0.9.0",
    about: "with ticks, times of trees corrected for the timer's cost, inclusive and exclusive under each other's label",
};

const V1_37: Layout = Layout { name: "1.37", about: "without ticks, times as measured" };

/// What both formats lose, besides [`TITLE`] and what they differ in.
pub(in crate::export) const LOSSES: [Loss; 20] = [
    METRIC,
    METRICS,
    TITLE,
    FACTS,
    BIAS,
    LABELS,
    BACK_EDGES,
    CALLERS,
    KINDS,
    PLACES,
    LINE_PLACES,
    NAMES,
    SAME_NAME,
    ABSENT,
    UNKNOWN,
    CALLED,
    INVERTED,
    FRACTIONS,
    NEGATIVE,
    LARGE,
];

const BIAS: Loss = Loss {
    name: "bias",
    what: "what is known of the timer's cost, and of how far times are corrected for it",
    of: "runs",
};

const CALLERS: Loss = Loss { name: "callers", what: "who called whom, as paths are unknown", of: "edges" };

const LINE_PLACES: Loss = Loss { name: "line_places", what: "file and column or clause of lines", of: "lines" };

const CALLED: Loss =
    Loss { name: "called", what: "that cost with what was called is unknown; it becomes own cost", of: "rows" };

const INVERTED: Loss = Loss {
    name: "inverted",
    what: "places that cost less with what they called than alone; they are written as if that had cost nothing",
    of: "rows",
};

/// What a count stays below in APL's numbers, as profdb reads them: they are REAL.
const LARGEST: u64 = 1 << 53;

/// What rounding may make of times, in ns: they are printed to 0.001 ms at the coarsest.
const NOISE: f64 = 2000.0;

/// What the names of versions begin with that correct their trees.
pub(in crate::export) const CORRECTING: &str = "0.";

/// What a format of files can hold.
#[derive(Clone, Copy)]
pub(in crate::export) struct Holds {
    /// What is known of the timer, and other facts of the run.
    pub(in crate::export) settings: bool,
    /// Whether names may have a character.
    pub(in crate::export) character: fn(char) -> bool,
    /// What the element or column of names is called in the layout of 0.9.0.
    pub(in crate::export) old_name: &'static str,
}

/// The rows of a file.
pub(in crate::export) struct Table<'p, 'd> {
    profile: &'p Profile<'d>,
    holds: Holds,
    /// The metric of the times.
    time: MetricInfo,
    /// That of the timer's readings, if it is known.
    ticks: Option<MetricInfo>,
    is_old: bool,
    /// By the place in [`Profile::functions`].
    names: Vec<Cow<'p, str>>,
    bias: Bias,
}

/// What a row says, in the order of [`Table::titles`]. The name is as it is.
pub(in crate::export) struct Row<'r> {
    pub(in crate::export) depth: Option<usize>,
    pub(in crate::export) name: &'r str,
    pub(in crate::export) line: Option<i64>,
    pub(in crate::export) calls: u64,
    /// Exclusive and inclusive, in ns.
    pub(in crate::export) time: [f64; 2],
    /// The same.
    pub(in crate::export) ticks: Option<[u64; 2]>,
}

/// A function or line with its figures, wherever it stands.
struct Figures {
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
    pub(in crate::export) fn of(
        profile: &'p Profile<'d>,
        holds: Holds,
        losses: &mut Losses,
    ) -> Result<Self, ExportError> {
        let time = std::iter::once(&profile.metric).chain(&profile.metrics).find(|metric| metric.unit == "ns");
        let Some(time) = time.cloned() else { return Err(no_time(profile)) };
        let known = profile.metrics.iter().find(|metric| metric.name == "ticks" && metric.unit == "count").cloned();
        let has_ticks = known.is_some() && !profile.functions.is_empty();
        let is_old = profile.layout.map_or(has_ticks, |layout| layout == V0_9);
        let ticks = known.filter(|_| is_old || profile.run.bias_applied.is_some_and(|applied| applied != 0.0));
        losses.add(METRIC, (time.name != "time").into());
        let written = 1 + usize::from(is_old && ticks.is_some());
        losses.add(METRICS, profile.other_metrics + (profile.metrics.len() - written) as u64);
        losses.add(LABELS, profile.labels);
        losses.add(BACK_EDGES, profile.back_edges);
        let names = names(profile, holds, losses);
        let mut table = Self { profile, holds, time, ticks, is_old, names, bias: Bias::default() };
        // A tree says what it is in front of its rows; totals, which are few, are corrected only if none is negative.
        let mut negative = false;
        if !table.is_tree() {
            profile.each_edge(|_| {
                losses.add(CALLERS, 1);
                Ok(())
            })?;
            table.figures(&mut Losses::new(losses.export), |figures, _| {
                negative |= figures.time.iter().flatten().any(|time| *time < 0.0);
                Ok(())
            })?;
        }
        table.bias = Bias::of(&table, negative);
        Ok(table)
    }

    pub(in crate::export) fn is_tree(&self) -> bool {
        self.profile.run.fidelity == "tree"
    }

    /// Whether the file is one of 0.9.0.
    pub(in crate::export) fn is_old(&self) -> bool {
        self.is_old
    }

    /// What the timer's cost is for readers, in ns.
    pub(in crate::export) fn timer_bias(&self) -> Option<f64> {
        self.bias.timer
    }

    /// Whether readers must learn from the version that times are corrected.
    pub(in crate::export) fn is_said_to_be_corrected(&self) -> bool {
        self.bias.corrects
    }

    /// The metric of the times.
    pub(in crate::export) fn time(&self) -> &MetricInfo {
        &self.time
    }

    /// Titles of columns, in the order of [`Row`].
    pub(in crate::export) fn titles(&self) -> Vec<&'static str> {
        let mut titles = Vec::new();
        titles.extend(self.is_tree().then_some("Depth"));
        titles.push(if self.is_old { self.holds.old_name } else { "Element" });
        titles.extend(["Line", "Calls"]);
        match (self.is_old, self.writes_ticks()) {
            (false, _) => titles.extend(["ExclusiveTime", "InclusiveTime"]),
            (true, false) => titles.extend(["InclusiveTime", "ExclusiveTime"]),
            (true, true) => titles.extend(["InclusiveTime", "ExclusiveTime", "InclusiveTicks", "ExclusiveTicks"]),
        }
        titles
    }

    /// The cells of a row, in the order of [`titles`](Self::titles); the name as it is made by a function.
    pub(in crate::export) fn cells(&self, row: &Row<'_>, name: impl Fn(&str) -> String) -> Vec<String> {
        let mut cells = Vec::with_capacity(8);
        cells.extend(row.depth.map(|depth| depth.to_string()));
        cells.push(name(row.name));
        cells.push(match row.line {
            Some(line) => line.to_string(),
            None if self.is_tree() && !self.is_old => "¯1".to_owned(),
            None => String::new(),
        });
        cells.push(row.calls.to_string());
        cells.extend(row.time.map(xml::time));
        cells.extend(row.ticks.into_iter().flatten().map(|ticks| ticks.to_string()));
        cells
    }

    /// Calls a function for every row, in the order of the file.
    pub(in crate::export) fn each(
        &self,
        losses: &mut Losses,
        mut each: impl FnMut(&Row<'_>) -> Result<(), ExportError>,
    ) -> Result<(), ExportError> {
        let mut placed = vec![false; self.names.len()];
        let mut negative = false;
        let mut is_empty = true;
        self.figures(losses, |figures, losses| {
            is_empty = false;
            placed[figures.function] = true;
            let row = self.row(&figures, losses);
            negative |= row.time.iter().any(|time| *time < 0.0);
            each(&row)
        })?;
        // A file without column names shows no ticks without rows.
        let bias = if is_empty && self.holds.settings { Bias { read: Some(0.0), ..self.bias } } else { self.bias };
        losses.add(METRICS, (is_empty && self.holds.settings && self.writes_ticks()).into());
        let read = (bias.timer, bias.read.filter(|_| !negative || bias.corrects));
        let Profile { run, .. } = self.profile;
        losses.add(BIAS, (read != (run.timer_bias, run.bias_applied)).into());
        losses.add(ABSENT, placed.iter().filter(|placed| !*placed).count() as u64);
        Ok(())
    }

    fn writes_ticks(&self) -> bool {
        self.is_old && self.ticks.is_some()
    }

    fn row(&self, figures: &Figures, losses: &mut Losses) -> Row<'_> {
        let mut pair = |[exclusive, cumulative]: [Option<f64>; 2], noise: f64| {
            losses.add(UNKNOWN, exclusive.is_none().into());
            losses.add(CALLED, cumulative.is_none().into());
            let exclusive = exclusive.unwrap_or(0.0);
            let cumulative = cumulative.unwrap_or(exclusive);
            // Readers find out from the rows which figure is which, and refuse a file whose rows contradict each other.
            let is_inverted = cumulative + noise < exclusive;
            losses.add(INVERTED, is_inverted.into());
            [exclusive, if is_inverted { exclusive } else { cumulative }]
        };
        let mut time = pair(figures.time, NOISE);
        let ticks = figures.ticks.map(|ticks| pair(ticks, 0.0));
        losses.add(UNKNOWN, figures.calls.is_none().into());
        let mut count = |count: u64| {
            losses.add(LARGE, (count > LARGEST).into());
            count.min(LARGEST)
        };
        let calls = count(figures.calls.unwrap_or(0));
        let ticks = ticks.map(|ticks| ticks.map(|ticks| whole(ticks, losses).min(LARGEST)));
        if let Some(ticks) = ticks {
            for (time, ticks) in time.iter_mut().zip(ticks) {
                *time = uncorrected(*time, ticks, self.bias.applied);
            }
        }
        let ticks = ticks.filter(|_| self.is_old);
        Row { depth: figures.depth, name: &self.names[figures.function], line: figures.line, calls, time, ticks }
    }

    /// Calls a function for the figures of every row.
    fn figures(
        &self,
        losses: &mut Losses,
        mut each: impl FnMut(Figures, &mut Losses) -> Result<(), ExportError>,
    ) -> Result<(), ExportError> {
        let Profile { database, run, .. } = self.profile;
        let metrics: Vec<i64> = std::iter::once(&self.time).chain(&self.ticks).map(|metric| metric.metric_id).collect();
        if self.is_tree() {
            return database.each_node_in(run.run_id, &metrics, |rows| {
                let [node, ..] = rows else { return Ok(()) };
                if let Some(place) = &node.line {
                    losses.add(LINE_PLACES, (!place.file.is_empty() || place.col != 0).into());
                }
                let figures = Figures {
                    function: self.profile.function(node.function_id)?,
                    line: node.line.as_ref().map(|place| place.line),
                    depth: Some(node.depth),
                    calls: node.calls,
                    time: [Some(node.exclusive), node.cumulative],
                    ticks: rows.get(1).map(|ticks| [Some(ticks.exclusive), ticks.cumulative]),
                };
                each(figures, losses)
            });
        }
        let mut lines: Vec<Vec<LineRow>> = Vec::new();
        database.each_line(run.run_id, &metrics, |rows| {
            lines.push(rows.to_vec());
            Ok::<_, ExportError>(())
        })?;
        let mut lines = lines.iter().peekable();
        database.each_function(run.run_id, &metrics, |rows| {
            let [row, ..] = rows else { return Ok(()) };
            let function = self.profile.function(row.function_id)?;
            let figures = Figures {
                function,
                line: None,
                depth: None,
                calls: row.calls,
                time: [row.exclusive, row.cumulative],
                ticks: rows.get(1).map(|ticks| [ticks.exclusive, ticks.cumulative]),
            };
            each(figures, losses)?;
            while let Some(rows) = lines.next_if(|rows| rows[0].function_id == row.function_id) {
                let line = &rows[0];
                losses.add(LINE_PLACES, (!line.place.file.is_empty() || line.place.col != 0).into());
                let figures = Figures {
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

/// What the file says of the timer, and what readers make of it.
#[derive(Clone, Copy, Default)]
struct Bias {
    /// What one reading costs, in ns.
    timer: Option<f64>,
    /// What has been subtracted per reading from times that are to be written as they were measured, in ns.
    applied: f64,
    /// What readers take to be subtracted from the times that they see or make, unless some are negative.
    read: Option<f64>,
    /// The version says that the times are corrected, negative or not.
    corrects: bool,
}

impl Bias {
    fn of(table: &Table<'_, '_>, negative: bool) -> Self {
        let RunInfo { tool_version, timer_bias, bias_applied, .. } = &table.profile.run;
        let settings = table.holds.settings;
        let is_correcting = tool_version.as_ref().is_some_and(|version| version.starts_with(CORRECTING));
        let raw = Self { timer: timer_bias.filter(|_| settings), read: Some(0.0), ..Self::default() };
        match (table.is_tree(), table.writes_ticks(), *bias_applied) {
            (true, true, Some(applied)) if settings => {
                Self { timer: Some(applied), read: Some(applied), corrects: true, ..raw }
            }
            // Readers would take the cost of the timer for what the times are corrected by.
            (true, true, _) if is_correcting => Self { timer: None, read: None, ..raw },
            (true, true, _) => Self { read: None, ..raw },
            (false, true, Some(applied)) if settings && applied != 0.0 => {
                Self { timer: Some(applied), applied, read: Some(applied), ..raw }
            }
            (false, true, Some(applied)) => Self { timer: None, applied, ..raw },
            // They would correct the times.
            (false, true, None) if !negative => Self { timer: None, ..raw },
            (_, false, Some(applied)) if table.ticks.is_some() => Self { applied, ..raw },
            _ => raw,
        }
    }
}

/// The time from which so many readings, subtracted, leave the time.
#[expect(clippy::cast_precision_loss, reason = "counts stay below 2^53")]
fn uncorrected(time: f64, ticks: u64, bias: f64) -> f64 {
    let cost = ticks as f64 * bias;
    let near = time + cost;
    let is_exact = |raw: &f64| (raw - cost).to_bits() == time.to_bits();
    [near, near.next_up(), near.next_down()].into_iter().find(is_exact).unwrap_or(near)
}

/// What functions are called in the file; counts what gets lost of them.
fn names<'p>(profile: &'p Profile<'_>, holds: Holds, losses: &mut Losses) -> Vec<Cow<'p, str>> {
    let mut taken = HashSet::new();
    let mut names = Vec::with_capacity(profile.functions.len());
    for function in &profile.functions {
        let name = function.name.as_str();
        let held = |character| if (holds.character)(character) { character } else { pictured(character) };
        let written: Cow<'_, str> = match name {
            "" => NO_NAME.into(),
            _ if name.chars().all(holds.character) => name.into(),
            _ => name.chars().map(held).collect::<String>().into(),
        };
        losses.add(NAMES, (written != name).into());
        losses.add(KINDS, (function.kind != Kind::Function).into());
        let has_place = !function.module.is_empty() || !function.file.is_empty() || function.place != (0, 0);
        losses.add(PLACES, has_place.into());
        losses.add(SAME_NAME, (!taken.insert(written.clone())).into());
        names.push(written);
    }
    names
}

/// What stands for a character that a format cannot hold: the picture of a control character.
fn pictured(character: char) -> char {
    let picture = char::from_u32(u32::from(character) + 0x2400).filter(|_| character < ' ');
    picture.unwrap_or(char::REPLACEMENT_CHARACTER)
}

fn no_time(profile: &Profile<'_>) -> ExportError {
    let Profile { metric, run, .. } = profile;
    let fault = format!(
        "a file of `]PROFILE` holds times, and `{}` of run {} is in {}: name a metric in ns with --metric, or another \
         format",
        metric.name, run.run_id, metric.unit
    );
    ReportError::NothingSelected(fault).into()
}
