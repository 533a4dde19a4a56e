//! Summed figures of functions, lines and edges of several runs.

use std::collections::BTreeMap;

use rusqlite::{Connection, Row};

use super::functions::FunctionGroups;
use super::part::{CombinedPart, SourceFailure};
use super::tree::{add_calls, event_line};

use crate::events::{Edge, EdgeCost, EdgeKind, Fidelity, Frame, FunctionId, Info, MetricId, Sink};
use crate::store::walk::{LinePlace, count};

const FUNCTIONS: &str =
    "SELECT function_id, calls, primitive, exclusive, cumulative, seen, recorded
     FROM function_info
     WHERE metric_id = ?1
     ORDER BY function_id";

const LINES: &str =
    "SELECT function_id, calls, NULL, exclusive, cumulative, NULL, recorded, file, line, col
     FROM line_info
     WHERE metric_id = ?1
     ORDER BY function_id, file, line, col";

const EDGES: &str =
    "SELECT callee_id, caller_id, back, line_file, caller_line, caller_col, calls, exclusive, cumulative, outermost, seen
     FROM edges
     WHERE metric_id = ?1
     ORDER BY callee_id, back, caller_id, line_file, caller_line, caller_col";

/// Summed figures of functions, lines and edges.
#[derive(Default)]
pub(super) struct StatedTotals {
    functions: BTreeMap<FigureSubject, SummedFigures>,
    edges: BTreeMap<CombinedEdge, SummedEdge>,
}

/// A group of functions, or a line of it: file, line and column.
type FigureSubject = (usize, Option<(String, i64, i64)>);

/// Callee, kind and caller of an edge.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct CombinedEdge {
    callee: usize,
    is_back: bool,
    caller: Option<FigureSubject>,
}

#[derive(Default)]
struct SummedFigures {
    calls: KnownSum<u64>,
    primitive: KnownSum<u64>,
    costs: Vec<Option<[KnownSum<f64>; 3]>>,
    /// The file of some run states a figure.
    is_recorded: bool,
}

#[derive(Default)]
struct SummedEdge {
    calls: KnownSum<u64>,
    costs: Vec<Option<[KnownSum<f64>; 4]>>,
}

/// A sum, which is unknown as soon as one part is.
#[derive(Clone, Copy, Default)]
enum KnownSum<T> {
    /// Nothing was added.
    #[default]
    Empty,
    Known(T),
    Unknown,
}

impl<T: Copy> KnownSum<T> {
    fn get(self) -> Option<T> {
        match self {
            Self::Known(sum) => Some(sum),
            Self::Empty | Self::Unknown => None,
        }
    }

    fn add(&mut self, part: Option<T>, both: impl FnOnce(T, T) -> Option<T>) {
        let sum = match (*self, part) {
            (Self::Empty, part) => part,
            (Self::Known(sum), Some(part)) => both(sum, part),
            _ => None,
        };
        *self = sum.map_or(Self::Unknown, Self::Known);
    }
}

impl KnownSum<u64> {
    fn add_count(&mut self, part: Option<u64>) {
        self.add(part, |sum, part| add_calls(Some(sum), Some(part)));
    }
}

impl KnownSum<f64> {
    fn add_cost(&mut self, part: Option<f64>) {
        self.add(part, |sum, part| Some(sum + part));
    }
}

impl StatedTotals {
    /// Adds the figures of a run.
    pub(super) fn add(
        &mut self,
        connection: &Connection,
        part: &CombinedPart,
        metrics: &[i64],
        groups: &FunctionGroups,
    ) -> Result<(), SourceFailure> {
        for (sql, has_lines) in [(FUNCTIONS, false), (LINES, true)] {
            let mut statement = connection.prepare_cached(sql)?;
            let subject = |row: &Row<'_>| -> Result<FigureSubject, SourceFailure> {
                let group = groups.group(row.get(0)?)?;
                let line = (row.get(7), row.get(8), row.get(9));
                Ok(match (has_lines, line) {
                    (true, (file, line, col)) => (group, Some((file?, line?, col?))),
                    (false, _) => (group, None),
                })
            };
            // Each function has a row in the usual metric of its run.
            let mut rows = statement.query([part.usual])?;
            while let Some(row) = rows.next()? {
                let figures = self.functions.entry(subject(row)?).or_default();
                figures.calls.add_count(count(row, 1)?);
                figures.primitive.add_count(count(row, 2)?);
                figures.is_recorded |= row.get::<_, bool>(6)?;
            }
            drop(rows);
            for (at, metric) in metrics.iter().enumerate() {
                let mut rows = statement.query([metric])?;
                while let Some(row) = rows.next()? {
                    let figures = self.functions.entry(subject(row)?).or_default();
                    figures.is_recorded |= row.get::<_, bool>(6)?;
                    add_costs(&mut figures.costs, at, row, 3)?;
                }
            }
        }
        let mut statement = connection.prepare_cached(EDGES)?;
        let key = |row: &Row<'_>| -> Result<CombinedEdge, SourceFailure> {
            let caller: i64 = row.get(1)?;
            let line: i64 = row.get(4)?;
            let place = if line < 0 {
                None
            } else {
                Some((row.get(3)?, line, row.get(5)?))
            };
            Ok(CombinedEdge {
                callee: groups.group(row.get(0)?)?,
                is_back: row.get(2)?,
                caller: match caller {
                    0 => None,
                    caller => Some((groups.group(caller)?, place)),
                },
            })
        };
        let mut rows = statement.query([part.usual])?;
        while let Some(row) = rows.next()? {
            let edge = self.edges.entry(key(row)?).or_default();
            edge.calls.add_count(count(row, 6)?);
        }
        drop(rows);
        for (at, metric) in metrics.iter().enumerate() {
            let mut rows = statement.query([metric])?;
            while let Some(row) = rows.next()? {
                let edge = self.edges.entry(key(row)?).or_default();
                add_costs(&mut edge.costs, at, row, 7)?;
            }
        }
        Ok(())
    }

    /// Writes the figures that do not follow from a tree: all of runs without paths, else those that files state, and
    /// edges without cost.
    pub(super) fn write(
        &self,
        sink: &mut impl Sink,
        functions: &[FunctionId],
        fidelity: Fidelity,
        default: usize,
    ) {
        let is_tree = fidelity == Fidelity::Tree;
        let place = |subject: &FigureSubject| {
            let (group, line) = subject;
            let line = line.as_ref().map(|(file, line, col)| LinePlace {
                file: file.clone(),
                line: *line,
                col: *col,
            });
            (functions[*group], line)
        };
        for (subject, figures) in &self.functions {
            if is_tree && !figures.is_recorded {
                continue;
            }
            let (function, line) = place(subject);
            let frame = Frame {
                function,
                line: line.as_ref().map(event_line),
            };
            for (at, metric) in (0..)
                .map(MetricId)
                .enumerate()
                .take(figures.costs.len().max(default + 1))
            {
                let costs = figures.costs.get(at).copied().flatten();
                if costs.is_none() && at != default {
                    continue;
                }
                let [exclusive, cumulative, seen] =
                    costs.map_or([Some(0.0); 3], |costs| costs.map(KnownSum::get));
                sink.info(Info {
                    frame,
                    metric,
                    calls: figures.calls.get(),
                    primitive: figures.primitive.get(),
                    exclusive,
                    cumulative,
                    seen,
                });
            }
        }
        if fidelity == Fidelity::Flat {
            return;
        }
        for (key, figures) in &self.edges {
            if is_tree && !key.is_back {
                continue;
            }
            let caller = key.caller.as_ref().map(place);
            let costs = figures.costs.iter().zip((0..).map(MetricId));
            let costs: Vec<EdgeCost> = costs
                .filter_map(|(costs, metric)| {
                    let [exclusive, cumulative, outermost, seen] =
                        costs.as_ref()?.map(KnownSum::get);
                    Some(EdgeCost {
                        metric,
                        exclusive,
                        cumulative,
                        outermost,
                        seen,
                    })
                })
                .collect();
            sink.edge(Edge {
                callee: functions[key.callee],
                caller: caller.as_ref().map(|(function, line)| Frame {
                    function: *function,
                    line: line.as_ref().map(event_line),
                }),
                kind: if key.is_back {
                    EdgeKind::Back
                } else {
                    EdgeKind::Call
                },
                calls: figures.calls.get(),
                costs: &costs,
            });
        }
    }
}

/// Adds the costs of a row, which are in columns from one on, to those of a metric.
fn add_costs<const N: usize>(
    costs: &mut Vec<Option<[KnownSum<f64>; N]>>,
    metric: usize,
    row: &Row<'_>,
    from: usize,
) -> rusqlite::Result<()> {
    if costs.len() <= metric {
        costs.resize(metric + 1, None);
    }
    let of_metric = costs[metric].get_or_insert([KnownSum::Empty; N]);
    for (at, sum) in of_metric.iter_mut().enumerate() {
        sum.add_cost(row.get(from + at)?);
    }
    Ok(())
}
