//! Rows of functions, lines and edges, made from the totals when they are asked for.

use std::sync::Arc;

use super::Totals;
use super::derived::Derivation;
use super::recorded::Subject;
use crate::base::interner::Id;
use crate::events::{FunctionId, MetricId};
use crate::profile::ids::{EdgeId, LineId};
use crate::profile::row_source::{RowSource, Rows};
use crate::profile::rows::{EdgeRow, InfoRow};
use crate::profile::sums::EdgePart;

/// What rows are made from.
struct Sums {
    totals: Totals,
    derivation: Derivation,
    /// The metric in which all functions and lines have a row; in others those that cost anything.
    default: MetricId,
}

struct FunctionRows(Arc<Sums>);
struct LineRows(Arc<Sums>);
struct EdgeRows(Arc<Sums>);

/// Rows of functions, lines and edges. What has only been needed to find entries is dropped.
pub(in crate::profile) fn into_rows(
    mut totals: Totals,
    derivation: Derivation,
    default: MetricId,
) -> (Rows<InfoRow>, Rows<InfoRow>, Rows<EdgeRow>) {
    totals.forget_keys();
    let metrics = totals.metrics;
    let functions = totals.functions.len();
    let (lines, edges) = (totals.lines.table().len(), totals.edges.table().len());
    let sums = Arc::new(Sums {
        totals,
        derivation,
        default,
    });
    let of_functions = Arc::new(FunctionRows(Arc::clone(&sums)));
    let of_lines = Arc::new(LineRows(Arc::clone(&sums)));
    (
        Rows::new(of_functions, metrics, functions),
        Rows::new(of_lines, metrics, lines),
        Rows::new(Arc::new(EdgeRows(sums)), metrics, edges),
    )
}

impl RowSource<InfoRow> for FunctionRows {
    fn row(&self, metric: MetricId, at: usize) -> Option<InfoRow> {
        let Sums {
            totals,
            derivation,
            default,
        } = &*self.0;
        let function = FunctionId::new(at);
        // A function that was only announced leaves no trace (`Sink::function`).
        if !totals.states[function].mentioned {
            return None;
        }
        let mut figures = totals.function_figures(function, metric);
        derivation.fill(function, metric, &mut figures);
        let row = InfoRow {
            metric,
            function,
            place: None,
            figures,
        };
        (metric == *default || figures.has_cost()).then_some(row)
    }

    fn prefetch(&self, metric: MetricId, at: usize) {
        let function = FunctionId::new(at);
        self.0.totals.states.prefetch(function);
        self.0.totals.function_sums.prefetch(function, metric);
    }
}

impl RowSource<InfoRow> for LineRows {
    fn row(&self, metric: MetricId, at: usize) -> Option<InfoRow> {
        let Sums {
            totals,
            derivation,
            default,
        } = &*self.0;
        let line = LineId::new(at);
        let known = &totals.lines.table()[line];
        let sums = &totals.line_sums[(line, metric)];
        let mut figures = totals.figures(&known.occurrences, sums, Subject::Line(line), metric);
        // Where the function recurs, its other lines may be around this one.
        if derivation.never_recurs(known.function) && !sums.cumulative_unknown {
            figures.cumulative = figures
                .cumulative
                .or(figures.exclusive.map(|exclusive| exclusive + sums.seen));
        }
        if metric != *default && !figures.has_cost() {
            return None;
        }
        Some(InfoRow {
            metric,
            function: known.function,
            place: Some(known.line.clone()),
            figures,
        })
    }

    fn prefetch(&self, metric: MetricId, at: usize) {
        let line = LineId::new(at);
        self.0.totals.lines.table().prefetch(line);
        self.0.totals.line_sums.prefetch(line, metric);
    }
}

impl RowSource<EdgeRow> for EdgeRows {
    /// There is a row also if the edge costs nothing: calls add up in every metric.
    fn row(&self, metric: MetricId, at: usize) -> Option<EdgeRow> {
        let totals = &self.0.totals;
        let edge = EdgeId::new(at);
        let known = &totals.edges.table()[edge];
        let site = &totals.sites.table()[known.site];
        let sums = &totals.edge_sums[(edge, metric)];
        Some(EdgeRow {
            metric,
            callee: known.callee,
            caller: site.caller,
            line_file: site.file.clone(),
            caller_line: site.line,
            caller_col: site.col,
            kind: known.kind,
            calls: known.calls.get(),
            exclusive: sums.get(EdgePart::Exclusive),
            cumulative: sums.get(EdgePart::Cumulative),
            outermost: sums.get(EdgePart::Outermost),
            seen: sums.get(EdgePart::Seen),
        })
    }

    fn prefetch(&self, metric: MetricId, at: usize) {
        let edge = EdgeId::new(at);
        self.0.totals.edges.table().prefetch(edge);
        self.0.totals.edge_sums.prefetch(edge, metric);
    }
}
