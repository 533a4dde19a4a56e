//! A run as writers see it.

#![expect(
    clippy::indexing_slicing,
    reason = "numbers of functions and metrics are the writer's own"
)]

use super::error::ExportError;
use super::losses::{self, Losses};
use super::request::{Layout, Metrics, Request};
use crate::formats::options::Options;
use crate::report;
use crate::store::{
    Below, Database, EdgeRow, FunctionRow, LineRow, MetricInfo, RunInfo, StoreError,
};

/// A run as writers see it.
pub(in crate::formats) struct Profile<'d> {
    pub(in crate::formats) database: &'d Database,
    pub(in crate::formats) run: RunInfo,
    /// What is written, of formats that hold one metric; of others, what matters most.
    pub(in crate::formats) metric: MetricInfo,
    /// What is written, of formats that hold several metrics.
    pub(in crate::formats) metrics: Vec<MetricInfo>,
    /// The layout that is asked for, of a format that has several.
    pub(in crate::formats) layout: Option<Layout>,
    pub(in crate::formats) options: Options,
    /// In the order of their numbers, with their figures in `metric`.
    pub(in crate::formats) functions: Vec<FunctionRow>,
    /// Metrics that are not written.
    pub(in crate::formats) other_metrics: u64,
    /// What the file said of the run as a whole, besides its title: names and texts.
    pub(in crate::formats) properties: Vec<(String, String)>,
    /// How many of these there are.
    pub(in crate::formats) facts: u64,
    /// Different labels that its samples have.
    pub(in crate::formats) labels: u64,
    /// Calls that are known to exist, without cost of their own.
    pub(in crate::formats) back_edges: u64,
    /// Places in the tree of calls, lines of functions among them.
    pub(in crate::formats) nodes: u64,
}

/// What the places of a function add up to.
#[derive(Clone)]
struct NodeSums {
    /// By metric: own cost, and that with what was called, of those that are in no other one.
    costs: Vec<(f64, f64)>,
    calls: Option<u64>,
    /// How many of them are open.
    open: usize,
}

/// A place in the tree of calls, with its cost in the metric.
#[derive(Clone, Copy, Debug)]
pub(in crate::formats) struct Call {
    /// How many others are above.
    pub(in crate::formats) depth: usize,
    /// Its place in [`Profile::functions`].
    pub(in crate::formats) function: usize,
    pub(in crate::formats) calls: Option<u64>,
    pub(in crate::formats) exclusive: f64,
    pub(in crate::formats) cumulative: f64,
}

impl<'d> Profile<'d> {
    /// Counts functions whose costs or number of calls are not what their places add up to: the
    /// file itself says so.
    pub(super) fn lose_recorded(&self, losses: &mut Losses) -> Result<(), ExportError> {
        let of_functions = [
            losses::RECORDED,
            losses::FUNCTION_COSTS,
            losses::FUNCTION_CALLS,
        ];
        let holds = of_functions.iter().any(|loss| losses.declares(*loss));
        let is_open = self.run.fidelity == "tree" && holds;
        let metrics = losses.written.clone().unwrap_or_else(|| self.metric_ids());
        let mut is_recorded = false;
        for metric in self
            .database
            .metrics(self.run.run_id)?
            .iter()
            .filter(|_| is_open)
        {
            // Calls are with the default metric.
            is_recorded |= self.database.has_recorded(metric.metric_id)?;
        }
        // Without such figures, functions are the sums of their places, and the walk over all nodes
        // is spared.
        if !is_recorded || metrics.is_empty() {
            return Ok(());
        }
        // A format without unknown figures has 0 for them, and that is what readers add up; unless
        // it has no calls at all.
        let becomes_0 = losses.declares(losses::UNKNOWN) && !losses.declares(losses::CALLS);
        let none = NodeSums {
            costs: vec![(0.0, 0.0); metrics.len()],
            calls: Some(0),
            open: 0,
        };
        let mut places = vec![none; self.functions.len()];
        // The functions that are open, and a line as none.
        let mut open: Vec<Option<usize>> = Vec::new();
        self.database
            .each_node_in(self.run.run_id, &metrics, |rows| {
                let node = &rows[0];
                for closed in open.drain(node.depth.min(open.len())..).flatten() {
                    places[closed].open -= 1;
                }
                let function = self.function(node.function_id)?;
                open.push(node.line.is_none().then_some(function));
                if node.line.is_none() {
                    let places = &mut places[function];
                    let calls = node.calls.or(becomes_0.then_some(0));
                    places.calls = places
                        .calls
                        .zip(calls)
                        .map(|(sum, calls)| sum.saturating_add(calls));
                    for ((own, all), row) in places.costs.iter_mut().zip(rows) {
                        *own += row.exclusive;
                        // Recursion counts once: only outermost places add what they cost in all.
                        *all += row.cumulative.filter(|_| places.open == 0).unwrap_or(0.0);
                    }
                    places.open += 1;
                }
                Ok::<_, ExportError>(())
            })?;
        let mut places = places.into_iter();
        self.database
            .each_function(self.run.run_id, &metrics, |rows: &[FunctionRow]| {
                let Some(NodeSums { costs, calls, .. }) = places.next() else {
                    return Ok(());
                };
                let is_other =
                    |given: Option<f64>, found: f64| losses::differ(given.unwrap_or(found), found);
                let mut both = rows.iter().zip(&costs);
                let owns = both
                    .clone()
                    .any(|(row, (own, _))| is_other(row.exclusive, *own));
                let alls = both.any(|(row, (_, all))| is_other(row.cumulative, *all));
                let holds = rows[0].kind.is_container();
                for (loss, is_lost) in [
                    (losses::RECORDED, owns),
                    (losses::FUNCTION_COSTS, alls && !holds),
                    (
                        losses::FUNCTION_CALLS,
                        rows[0].calls.is_some() && rows[0].calls != calls && !holds,
                    ),
                ] {
                    if is_lost && losses.declares(loss) {
                        losses.add(loss, 1);
                    }
                }
                Ok::<_, ExportError>(())
            })
    }

    pub(super) fn open(
        database: &'d Database,
        run: &RunInfo,
        request: &Request,
        holds: Metrics,
    ) -> Result<Self, ExportError> {
        let all = database.metrics(run.run_id)?;
        let asked = request.metric.as_deref();
        let metric = report::choose_metric(&all, run, asked)?;
        let count = all.len();
        let metrics = match holds {
            Metrics::All if asked.is_none() => all,
            Metrics::All | Metrics::One => vec![metric.clone()],
        };
        let state = database.state(run.run_id)?;
        let number = |wanted: &str| {
            let text = state
                .columns
                .iter()
                .find(|(name, _)| name == wanted)?
                .1
                .as_deref()?;
            text.parse::<u64>().ok()
        };
        let nodes = number("first_node")
            .zip(number("last_node"))
            .map_or(0, |(first, last)| {
                last.saturating_sub(first).saturating_add(1)
            });
        let of_run = ["tool_version", "command", "recorded_at", "timer_bias"];
        let columns = state
            .columns
            .into_iter()
            .filter(|(name, _)| of_run.contains(&name.as_str()));
        let properties: Vec<_> = columns
            .filter_map(|(name, text)| Some((name, text?)))
            .chain(state.properties)
            .collect();
        Ok(Self {
            database,
            run: run.clone(),
            functions: database.functions(run.run_id, metric.metric_id)?,
            metric,
            other_metrics: (count - metrics.len()) as u64,
            metrics,
            layout: None,
            options: request.options.clone(),
            facts: properties.len() as u64,
            properties,
            labels: database.labels(run.run_id)?,
            back_edges: database.back_edges(run.run_id)?,
            nodes,
        })
    }

    /// The place of a function in [`functions`](Self::functions).
    pub(in crate::formats) fn function(&self, function_id: i64) -> Result<usize, StoreError> {
        // The functions of a run are numbered one after the other, unless it shares some with
        // another run. That is known from the first and the last: their rows lie all over memory, and
        // this is asked for each node.
        let id = |row: Option<&FunctionRow>| row.map_or(0, |row| row.function_id);
        let (first, last) = (id(self.functions.first()), id(self.functions.last()));
        let at = function_id.wrapping_sub(first).cast_unsigned();
        let count = self.functions.len() as u64;
        if last.wrapping_sub(first).cast_unsigned().wrapping_add(1) == count && at < count {
            return Ok(usize::try_from(at).unwrap_or(usize::MAX));
        }
        // The database gives functions in the order of their numbers
        // (queries/export/functions.sql).
        let found = self
            .functions
            .binary_search_by_key(&function_id, |known| known.function_id);
        found.map_err(|_| {
            self.database
                .inconsistent(format!("function {function_id} has no figures"))
        })
    }

    /// The numbers of the metrics that are written.
    fn metric_ids(&self) -> Vec<i64> {
        self.metrics.iter().map(|metric| metric.metric_id).collect()
    }

    /// Calls a function for every function of the run, in the order of
    /// [`functions`](Self::functions): a row for each metric.
    pub(in crate::formats) fn each_function(
        &self,
        each: impl FnMut(&[FunctionRow]) -> Result<(), ExportError>,
    ) -> Result<(), ExportError> {
        self.database
            .each_function(self.run.run_id, &self.metric_ids(), each)
    }

    /// Calls a function for every line of a function, by function: a row for each metric.
    pub(in crate::formats) fn each_line(
        &self,
        each: impl FnMut(&[LineRow]) -> Result<(), ExportError>,
    ) -> Result<(), ExportError> {
        self.database
            .each_line(self.run.run_id, &self.metric_ids(), each)
    }

    /// Calls a function for every pair of caller and callee, by caller: a row for each metric.
    pub(in crate::formats) fn each_edge(
        &self,
        each: impl FnMut(&[EdgeRow]) -> Result<(), ExportError>,
    ) -> Result<(), ExportError> {
        self.database
            .each_edge(self.run.run_id, &self.metric_ids(), each)
    }

    /// Calls a function for every place in the tree, callers first. Lines are passed over and
    /// counted: what they cost is in their function's cost, and what they called counts as called
    /// by it.
    pub(in crate::formats) fn each_call(
        &self,
        losses: &mut Losses,
        mut each: impl FnMut(Call, &mut Losses) -> Result<(), ExportError>,
    ) -> Result<(), ExportError> {
        self.each_wanted_call(losses, |call, losses| {
            each(call, losses).map(|()| Below::Wanted)
        })
    }

    /// Calls a function for places in the tree as [`each_call`](Self::each_call) does; for those
    /// below a place only if it wants them.
    pub(in crate::formats) fn each_wanted_call(
        &self,
        losses: &mut Losses,
        mut each: impl FnMut(Call, &mut Losses) -> Result<Below, ExportError>,
    ) -> Result<(), ExportError> {
        let (run, metric) = (self.run.run_id, self.metric.metric_id);
        let lines = self.database.each_wanted_call(run, metric, |node| {
            losses.add(losses::LINES, node.lines);
            let call = Call {
                depth: node.depth,
                function: self.function(node.function_id)?,
                calls: node.calls,
                exclusive: node.exclusive,
                cumulative: node.cumulative.unwrap_or(node.exclusive),
            };
            each(call, losses)
        })?;
        losses.add(losses::LINES, lines);
        Ok(())
    }

    /// Calls a function for the cost of every root with all that it called.
    pub(in crate::formats) fn each_root(
        &self,
        mut each: impl FnMut(f64),
    ) -> Result<(), ExportError> {
        let (run, metric) = (self.run.run_id, self.metric.metric_id);
        let roots = self.database.each_wanted_call(run, metric, |node| {
            each(node.cumulative.unwrap_or(node.exclusive));
            Ok(Below::Unwanted)
        });
        roots.map(drop)
    }
}
