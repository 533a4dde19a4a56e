//! Call graphs for Graphviz
//!
//! # What it is
//! A graph in the language of Graphviz: a box for each function, an arrow for each pair of caller and callee. `dot` and similar
//! programs draw it; `--svg` runs `dot`, if it is installed, and writes its output. It needs no paths.
//!
//! # What is written
//! - Functions with module, name, calls, exclusive and inclusive cost, both with their share of the run's
//!   total. With `--edge-labels`, arrows have calls and the caller's cost in the callee. Figures are rounded, each
//!   in a suitable unit; the tooltips have all digits.
//! - Recursion, as an arrow to the same box. Calls without a known cost of their own are dashed.
//! - Functions with at least `--min-pct` of the run. `--min-pct 0` leaves out only functions without cost, calls and
//!   callees, and `--keep-empty` keeps them. The caption states the share that is left out.
//! - Threads and roots only if they have an exclusive cost.
//! - Darker boxes for larger exclusive costs, or larger values of `--colour`, relative to the largest value. The default colours
//!   differ in lightness, so that colour-blind readers can tell them apart. Those of prof2dot range from pale blue to red: hue
//!   0.6 (1 - f), saturation 0.1 + 2.9 f and at most 1, where f is the fraction of the largest value.
//! - Symbols (`␊`) for control characters in names.
//!
//! # References
//! - "The DOT Language", "Node, Edge and Graph Attributes", Graphviz documentation.
//! - prof2dot by Gregory Wright, 2008: labels and colors of cost centres.

#![expect(
    clippy::indexing_slicing,
    reason = "numbers of functions and metrics are the writer's own"
)]

use std::fmt::Write as _;
use std::io::Write;

use crate::formats::common::counted::many;
use crate::formats::common::written::{MIN_PCT, least_share, place, printable};
use crate::formats::export::error::ExportError;
use crate::formats::export::losses::{
    BACK_EDGES, FACTS, LABELS, Loss, Losses, METRICS, NAMES, PATHS,
};
use crate::formats::export::profile::Profile;
use crate::formats::export::{Export, Metrics, Needs, Packing};
use crate::formats::options::{DRAWN_SVG, OptionDef, Takes};
use crate::report;
use crate::store::{EdgeRow, FunctionRow, LineRow, MetricInfo};
use crate::text::number::{fixed, shortest};
use crate::text::scale;

/// The format of the page above, as it is written.
pub(in crate::formats) const EXPORT: Export = Export {
    name: "dot",
    summary: "Call graphs for Graphviz",
    needs: Needs::Edges,
    metrics: Metrics::One,
    layouts: &[],
    options: &[
        OptionDef {
            name: "brief",
            takes: Takes::Nothing,
            meaning: "show only the module and name of functions",
        },
        OptionDef {
            name: "edge-labels",
            takes: Takes::Nothing,
            meaning: "show the calls and cost of edges",
        },
        OptionDef {
            name: "clusters",
            takes: Takes::Nothing,
            meaning: "draw a frame around the functions of each module",
        },
        OptionDef {
            name: "all-metrics",
            takes: Takes::Nothing,
            meaning: "show the costs in all metrics",
        },
        OptionDef {
            name: "colour",
            takes: Takes::Text,
            meaning: "color boxes by `calls`, `none`, or the exclusive cost in a metric [default: the metric shown]",
        },
        OptionDef {
            name: "palette",
            takes: Takes::Word(&["safe", "prof2dot"]),
            meaning: "color palette. `safe` can be read by color-blind users [default: safe]",
        },
        MIN_PCT,
        OptionDef {
            name: "keep-empty",
            takes: Takes::Nothing,
            meaning: "keep functions without any cost or call",
        },
        OptionDef {
            name: DRAWN_SVG,
            takes: Takes::Nothing,
            meaning: "draw the graph with Graphviz, as SVG",
        },
    ],
    packing: Packing::Plain,
    losses: &[
        PATHS,
        METRICS,
        FACTS,
        LINE_COSTS,
        NAMES,
        SMALL,
        SMALL_CALLS,
        BACK_EDGES,
        LABELS,
    ],
    difference: None,
    write,
};

const LINE_COSTS: Loss = Loss {
    name: "line_costs",
    what: "costs of lines",
    of: "lines",
};

const SMALL: Loss = Loss {
    name: "small",
    what: "functions below the threshold",
    of: "functions",
};

const SMALL_CALLS: Loss = Loss {
    name: "small_calls",
    what: "callers and callees below the threshold",
    of: "edges",
};

/// Percentage of the run below which nothing is shown, unless another one is asked for.
const LEAST: f64 = 0.5;

/// The palest and the darkest of the usual colours; black can be read on both.
const PALE: [f64; 3] = [255.0, 252.0, 240.0];
const DARK: [f64; 3] = [213.0, 94.0, 0.0];

fn write(
    profile: &Profile<'_>,
    losses: &mut Losses,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let all = profile.options.flag("all-metrics");
    let metrics = if all {
        profile.database.metrics(profile.run.run_id)?
    } else {
        vec![profile.metric.clone()]
    };
    losses.add(PATHS, profile.nodes);
    losses.add(METRICS, if all { 0 } else { profile.other_metrics });
    losses.add(FACTS, profile.facts);
    losses.add(LABELS, profile.labels);
    profile.each_line(|_: &[LineRow]| {
        losses.add(LINE_COSTS, 1);
        Ok(())
    })?;
    let graph = Graph::new(profile, &metrics, losses)?;
    graph.write(losses, out)
}

/// Figures of a function in one metric.
#[derive(Clone, Copy)]
struct FunctionCost {
    /// `None` where it is unknown.
    exclusive: Option<f64>,
    cumulative: Option<f64>,
}

/// Calls between a pair of functions, from all lines of the caller.
#[derive(Clone)]
struct Arrow {
    caller: usize,
    callee: usize,
    calls: Option<u64>,
    /// By metric: what the caller spent in the callee; `None` where it is unknown.
    costs: Vec<Option<f64>>,
    is_back: bool,
}

struct Graph<'p> {
    profile: &'p Profile<'p>,
    metrics: &'p [MetricInfo],
    /// Place of the metric that decides what is shown.
    shown: usize,
    /// By function and metric.
    figures: Vec<Vec<FunctionCost>>,
    /// Which functions are shown.
    kept: Vec<bool>,
    /// What colours functions, as a part of the largest; `None` for no colour.
    heat: Option<Vec<f64>>,
}

impl<'p> Graph<'p> {
    fn new(
        profile: &'p Profile<'p>,
        metrics: &'p [MetricInfo],
        losses: &mut Losses,
    ) -> Result<Self, ExportError> {
        let ids: Vec<i64> = metrics.iter().map(|metric| metric.metric_id).collect();
        let mut figures = Vec::with_capacity(profile.functions.len());
        let of = |row: &FunctionRow| FunctionCost {
            exclusive: row.exclusive,
            // Where recursion hides the cost that counts once, every level is better than nothing.
            cumulative: row.cumulative.or(row.seen),
        };
        profile
            .database
            .each_function(profile.run.run_id, &ids, |rows: &[FunctionRow]| {
                figures.push(rows.iter().map(of).collect());
                Ok::<_, ExportError>(())
            })?;
        let shown = metrics
            .iter()
            .position(|metric| metric.metric_id == profile.metric.metric_id)
            .unwrap_or(0);
        let mut graph = Self {
            profile,
            metrics,
            shown,
            figures,
            kept: vec![true; profile.functions.len()],
            heat: heat(profile)?,
        };
        if !profile.options.flag("keep-empty") {
            graph.drop_empty()?;
        }
        for (at, function) in profile.functions.iter().enumerate() {
            let FunctionCost {
                exclusive,
                cumulative,
            } = graph.figures[at][shown];
            let holds = function.kind.is_container()
                && graph.figures[at]
                    .iter()
                    .all(|figures| figures.exclusive == Some(0.0));
            // A function whose costs are all unknown is not known to be small.
            let mut known = [exclusive, cumulative].into_iter().flatten().peekable();
            let is_small = known.peek().is_some() && known.all(|cost| graph.is_small(cost));
            graph.kept[at] &= !holds && !is_small;
            losses.add(SMALL, (!graph.kept[at] && !holds).into());
            let is_changed = [&function.name, &function.module]
                .iter()
                .any(|text| printable(text) != **text);
            losses.add(NAMES, is_changed.into());
        }
        Ok(graph)
    }

    /// Whether a cost is too little to be shown.
    fn is_small(&self, cost: f64) -> bool {
        let least = least_share(self.profile).unwrap_or(LEAST);
        self.share(self.shown, cost)
            .is_some_and(|share| share.abs() < least)
    }

    /// A cost in percent of the run.
    fn share(&self, metric: usize, cost: f64) -> Option<f64> {
        let total = self.metrics[metric].total;
        (total != 0.0).then(|| 100.0 * cost / total)
    }

    /// Leaves out functions that neither cost anything, nor were called, nor call one that is
    /// shown.
    fn drop_empty(&mut self) -> Result<(), ExportError> {
        let is_empty = |at: usize| {
            self.profile.functions[at]
                .calls
                .is_none_or(|calls| calls == 0)
                && self.figures[at]
                    .iter()
                    .all(|figures| figures.exclusive == Some(0.0))
        };
        let empty: Vec<bool> = (0..self.kept.len()).map(is_empty).collect();
        // How many each of them calls, and who among them calls it.
        let mut called = vec![0_usize; empty.len()];
        let mut callers: Vec<Vec<usize>> = vec![Vec::new(); empty.len()];
        self.each_arrow(|arrow| {
            if empty[arrow.caller] && !arrow.is_back {
                called[arrow.caller] += 1;
                callers[arrow.callee].push(arrow.caller);
            }
            Ok(())
        })?;
        // From the leaves upwards, each function and arrow once. Empty functions that call each
        // other in a circle stay: each of them calls one that is shown.
        let mut leaves: Vec<usize> = (0..empty.len())
            .filter(|at| empty[*at] && called[*at] == 0)
            .collect();
        while let Some(leaf) = leaves.pop() {
            self.kept[leaf] = false;
            for caller in &callers[leaf] {
                called[*caller] -= 1;
                if called[*caller] == 0 {
                    leaves.push(*caller);
                }
            }
        }
        Ok(())
    }

    /// Calls a function for each pair of caller and callee, by caller.
    fn each_arrow(
        &self,
        mut each: impl FnMut(&Arrow) -> Result<(), ExportError>,
    ) -> Result<(), ExportError> {
        let ids: Vec<i64> = self.metrics.iter().map(|metric| metric.metric_id).collect();
        // What is known to exist comes line by line among the others.
        // Lines of one pair come one after the other (queries/export/edges.sql), so that an arrow
        // is whole when another pair comes, and two of them are all that is kept.
        let mut last: [Option<Arrow>; 2] = [None, None];
        self.profile
            .database
            .each_edge(self.profile.run.run_id, &ids, |rows: &[EdgeRow]| {
                let EdgeRow {
                    caller_id: Some(caller),
                    callee_id,
                    calls,
                    is_back,
                    ..
                } = rows[0]
                else {
                    return Ok(());
                };
                let (caller, callee) = (
                    self.profile.function(caller)?,
                    self.profile.function(callee_id)?,
                );
                let is_other = |arrow: &Arrow| (arrow.caller, arrow.callee) != (caller, callee);
                if last.iter().flatten().any(is_other) {
                    last.iter_mut()
                        .filter_map(Option::take)
                        .try_for_each(|arrow| each(&arrow))?;
                }
                let costs = rows.iter().map(|row| row.cumulative.or(row.seen));
                let arrow = &mut last[usize::from(is_back)];
                if let Some(arrow) = arrow {
                    arrow.calls = arrow
                        .calls
                        .zip(calls)
                        .map(|(sum, calls)| sum.saturating_add(calls));
                    for (sum, cost) in arrow.costs.iter_mut().zip(costs) {
                        *sum = sum.zip(cost).map(|(sum, cost)| sum + cost);
                    }
                } else {
                    *arrow = Some(Arrow {
                        caller,
                        callee,
                        calls,
                        costs: costs.collect(),
                        is_back,
                    });
                }
                Ok::<_, ExportError>(())
            })?;
        last.iter().flatten().try_for_each(each)
    }

    fn write(&self, losses: &mut Losses, out: &mut dyn Write) -> Result<(), ExportError> {
        let title = self
            .profile
            .run
            .title
            .as_deref()
            .unwrap_or(&self.profile.run.name);
        // The caption, which says how many arrows are left out, comes before the first of them, so
        // that all are looked at twice.
        let mut arrows = [0_u64; 2];
        self.each_arrow(|arrow| {
            arrows[usize::from(self.is_shown(arrow))] += 1;
            losses.add(
                SMALL_CALLS,
                (!self.is_shown(arrow) && !arrow.is_back).into(),
            );
            losses.add(BACK_EDGES, (!self.is_shown(arrow) && arrow.is_back).into());
            Ok(())
        })?;
        writeln!(out, "digraph {} {{", quoted(title))?;
        writeln!(
            out,
            "graph [label={}, labelloc=t, fontname=Helvetica];",
            quoted_lines(&self.caption(title, arrows))
        )?;
        writeln!(
            out,
            "node [shape=box, style=filled, fillcolor=white, fontname=Helvetica];"
        )?;
        writeln!(out, "edge [fontname=Helvetica];")?;
        self.clusters(out)?;
        for (at, function) in self
            .profile
            .functions
            .iter()
            .enumerate()
            .filter(|(at, _)| self.kept[*at])
        {
            let mut tooltip = vec![place(function)];
            tooltip.extend(function.calls.map(|calls| format!("calls: {calls}")));
            for (metric, figures) in self.metrics.iter().zip(&self.figures[at]) {
                let all = figures
                    .cumulative
                    .map_or_else(|| "unknown".to_owned(), shortest);
                let own = figures
                    .exclusive
                    .map_or_else(|| "unknown".to_owned(), shortest);
                tooltip.push(format!(
                    "{}: exclusive {own} {unit}, inclusive {all} {unit}",
                    metric.name,
                    unit = metric.unit
                ));
            }
            let label = quoted_lines(&self.label(at, function));
            write!(
                out,
                "f{at} [label={label}, tooltip={}",
                quoted_lines(&tooltip)
            )?;
            if let Some(heat) = &self.heat {
                write!(out, ", fillcolor=\"{}\"", self.colour(heat[at]))?;
            }
            writeln!(out, "];")?;
        }
        self.each_arrow(|arrow| {
            if self.is_shown(arrow) {
                self.arrow(arrow, out)
            } else {
                Ok(())
            }
        })?;
        Ok(writeln!(out, "}}")?)
    }

    fn is_shown(&self, arrow: &Arrow) -> bool {
        let is_small = arrow.costs[self.shown].is_some_and(|cost| self.is_small(cost));
        // Back edges have no cost by which they could be small.
        self.kept[arrow.caller] && self.kept[arrow.callee] && (arrow.is_back || !is_small)
    }

    /// The text above the graph: what is shown, and what is not.
    fn caption(&self, title: &str, [left_out, _]: [u64; 2]) -> Vec<String> {
        let metric = &self.metrics[self.shown];
        let total = cost_of(metric, metric.total);
        let mut lines = vec![
            title.to_owned(),
            format!("{}: {total} in total", metric.name),
        ];
        let holds = |at: usize| {
            self.profile.functions[at].kind.is_container()
                && self.figures[at][self.shown].exclusive == Some(0.0)
        };
        let hidden: Vec<usize> = (0..self.kept.len())
            .filter(|at| !self.kept[*at] && !holds(*at))
            .collect();
        if !hidden.is_empty() || left_out > 0 {
            let cost = hidden
                .iter()
                .filter_map(|at| self.figures[*at][self.shown].exclusive)
                .sum();
            let share = self
                .share(self.shown, cost)
                .map_or_else(String::new, |share| {
                    format!(" with {} % of the cost", fixed(share, 1))
                });
            let (functions, arrows) = (
                many(hidden.len() as u64, "function"),
                many(left_out, "arrow"),
            );
            lines.push(format!("left out: {functions}{share}, {arrows}"));
        }
        lines
    }

    /// Frames around the functions of each module.
    fn clusters(&self, out: &mut dyn Write) -> Result<(), ExportError> {
        if !self.profile.options.flag("clusters") {
            return Ok(());
        }
        let functions = &self.profile.functions;
        let kept =
            (0..functions.len()).filter(|at| self.kept[*at] && !functions[*at].module.is_empty());
        let mut members: Vec<(&str, usize)> =
            kept.map(|at| (functions[at].module.as_str(), at)).collect();
        // No two are equal: each function has a number of its own.
        members.sort_unstable();
        for (number, members) in members.chunk_by(|one, other| one.0 == other.0).enumerate() {
            writeln!(
                out,
                "subgraph cluster_{number} {{ label={};",
                quoted(members[0].0)
            )?;
            for (_, at) in members {
                write!(out, " f{at};")?;
            }
            writeln!(out, " }}")?;
        }
        Ok(())
    }

    /// The text in the box of a function.
    fn label(&self, at: usize, function: &FunctionRow) -> Vec<String> {
        let mut lines: Vec<String> = [&function.module, &function.name].map(String::clone).into();
        if function.module.is_empty() {
            lines.remove(0);
        }
        if self.profile.options.flag("brief") {
            return lines;
        }
        lines.extend(function.calls.map(|calls| many(calls, "call")));
        for (
            metric,
            FunctionCost {
                exclusive,
                cumulative,
            },
        ) in self.figures[at].iter().enumerate()
        {
            let name = if self.metrics.len() > 1 {
                format!("{}: ", self.metrics[metric].name)
            } else {
                String::new()
            };
            let own =
                exclusive.map_or_else(|| "unknown".to_owned(), |cost| self.figure(metric, cost));
            lines.push(format!("{name}exclusive {own}"));
            lines.extend(
                cumulative.map(|cost| format!("{name}inclusive {}", self.figure(metric, cost))),
            );
        }
        lines
    }

    /// A cost with its share.
    fn figure(&self, metric: usize, cost: f64) -> String {
        let share = self
            .share(metric, cost)
            .map_or_else(String::new, |share| format!(" ({} %)", fixed(share, 1)));
        format!("{}{share}", cost_of(&self.metrics[metric], cost))
    }

    fn arrow(&self, arrow: &Arrow, out: &mut dyn Write) -> Result<(), ExportError> {
        let Arrow {
            caller,
            callee,
            calls,
            costs,
            is_back,
        } = arrow;
        write!(out, "f{caller} -> f{callee}")?;
        let mut attributes = Vec::new();
        if *is_back {
            attributes.push("style=dashed".to_owned());
        }
        let calls: Vec<String> = calls.map(|calls| many(calls, "call")).into_iter().collect();
        if self.profile.options.flag("edge-labels") {
            let costs = self
                .metrics
                .iter()
                .zip(costs)
                .filter_map(|(metric, cost)| Some(cost_of(metric, (*cost)?)));
            let label: Vec<String> = calls.iter().cloned().chain(costs).collect();
            attributes.push(format!("label={}", quoted_lines(&label)));
        }
        let exact = self.metrics.iter().zip(costs);
        let exact = exact.filter_map(|(metric, cost)| {
            Some(format!(
                "{}: {} {}",
                metric.name,
                shortest((*cost)?),
                metric.unit
            ))
        });
        let tooltip: Vec<String> = calls.into_iter().chain(exact).collect();
        if !tooltip.is_empty() {
            attributes.push(format!("edgetooltip={}", quoted_lines(&tooltip)));
        }
        if !attributes.is_empty() {
            write!(out, " [{}]", attributes.join(", "))?;
        }
        Ok(writeln!(out, ";")?)
    }

    /// The colour for a part of the largest figure.
    fn colour(&self, part: f64) -> String {
        if self.profile.options.value("palette") == Some("prof2dot") {
            return format!(
                "{} {} 1",
                shortest(0.6 * (1.0 - part)),
                shortest((0.1 + 2.9 * part).min(1.0))
            );
        }
        let mut colour = "#".to_owned();
        for (pale, dark) in PALE.iter().zip(DARK) {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "between 0 and 255"
            )]
            let shade = (pale + (dark - pale) * part).round() as u8;
            let _ = write!(colour, "{shade:02x}");
        }
        colour
    }
}

/// What colours each function, as a part of the largest.
fn heat(profile: &Profile<'_>) -> Result<Option<Vec<f64>>, ExportError> {
    #[expect(clippy::cast_precision_loss, reason = "a colour has no more digits")]
    let calls = |function: &FunctionRow| function.calls.unwrap_or(0) as f64;
    let own = |function: &FunctionRow| function.exclusive.unwrap_or(0.0);
    let values: Vec<f64> = match profile.options.value("colour") {
        Some("none") => return Ok(None),
        Some("calls") => profile.functions.iter().map(calls).collect(),
        Some(name) => {
            let metrics = profile.database.metrics(profile.run.run_id)?;
            let metric = report::choose_metric(&metrics, &profile.run, Some(name))?;
            profile
                .database
                .functions(profile.run.run_id, metric.metric_id)?
                .iter()
                .map(own)
                .collect()
        }
        None => profile.functions.iter().map(own).collect(),
    };
    let largest = values.iter().copied().fold(0.0, f64::max);
    let part = |value: f64| {
        if largest > 0.0 {
            // Costs below 0, as of memory that was given back, are the palest.
            (value / largest).max(0.0)
        } else {
            0.0
        }
    };
    Ok(Some(values.into_iter().map(part).collect()))
}

/// A text as the language has it. References to characters as in HTML are undone by what draws
/// it.
fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}

/// Lines of a text, each centred.
fn quoted_lines(lines: &[String]) -> String {
    let lines: Vec<String> = lines.iter().map(|line| escaped(line)).collect();
    format!("\"{}\"", lines.join("\\n"))
}

fn escaped(text: &str) -> String {
    // Backslashes first: those that come before quotes are ours.
    printable(text)
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('&', "&amp;")
}

/// A cost of a metric in the unit that fits it.
fn cost_of(metric: &MetricInfo, cost: f64) -> String {
    scale::figure(&metric.name, &metric.unit, cost)
}
