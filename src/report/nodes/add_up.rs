//! What the nodes of a question add up to.

use hashbrown::HashMap;
use rusqlite::Connection;

use super::functions::{Functions, Lines, Place, number};
use super::pass::{LineNodes, Needs, Open, Pass, Passed, Selected, Visit, pass};
use super::question::{ContainerKind, NodeQuestion};
use super::read::Next;
use super::sums::{CallSum, Calls, Costs};
use crate::base::sum::Sum;

/// Which sums are wanted. The cost of what is selected always is.
#[derive(Clone, Copy, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each of the sums is wanted or not, whichever others are"
)]
pub(in crate::report) struct Wants {
    /// By function, or by group of functions.
    pub(in crate::report) functions: bool,
    /// By line.
    pub(in crate::report) lines: bool,
    /// By caller of what is selected.
    pub(in crate::report) callers: bool,
    /// By callee of what is selected.
    pub(in crate::report) callees: bool,
    /// By thread or process.
    pub(in crate::report) containers: Option<ContainerKind>,
    /// By set of labels.
    pub(in crate::report) label_sets: bool,
}

/// What the nodes of a question add up to. Costs are in the metric's unit.
#[derive(Debug, Default)]
pub(in crate::report) struct Sums {
    pub(in crate::report) selected: Selected,
    pub(in crate::report) functions: Vec<FunctionCosts>,
    pub(in crate::report) lines: Vec<LineCosts>,
    pub(in crate::report) callers: Vec<CallCosts>,
    pub(in crate::report) callees: Vec<CallCosts>,
    /// What is selected, by function that is a thread or process, and only of the outermost ones.
    pub(in crate::report) containers: Vec<(i64, Option<f64>)>,
    /// What selected samples cost themselves, by number of their set of labels.
    pub(in crate::report) label_sets: Vec<(i64, f64)>,
}

/// Figures of a function or line. `None` for what is unknown.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::report) struct Figures {
    pub(in crate::report) calls: Option<CallSum>,
    pub(in crate::report) exclusive: f64,
    pub(in crate::report) cumulative: Option<f64>,
    /// The same with every level of recursion counted.
    pub(in crate::report) seen: Option<f64>,
    /// Readings of the timer; `None` without a metric for them, and with filters.
    pub(in crate::report) exclusive_readings: Option<f64>,
    /// The same; where there are none, 0 for what recurs.
    pub(in crate::report) cumulative_readings: Option<f64>,
}

/// What a function, or a group of them, cost.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::report) struct FunctionCosts {
    /// The function, or the first one of the group.
    pub(in crate::report) function_id: i64,
    pub(in crate::report) figures: Figures,
}

/// What a line cost.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::report) struct LineCosts {
    pub(in crate::report) function_id: i64,
    /// Its file; empty for the function's own.
    pub(in crate::report) file: Vec<u8>,
    pub(in crate::report) line: i64,
    /// 0 if unknown.
    pub(in crate::report) col: i64,
    pub(in crate::report) figures: Figures,
}

/// What calls by one caller from one line cost, or of one callee. `None` where a part is unknown.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::report) struct CallCosts {
    /// The caller, 0 for none.
    pub(in crate::report) caller_id: i64,
    /// The callee, or the first function of its group; 0 for what is selected.
    pub(in crate::report) callee_id: i64,
    /// File, if it is not that of the caller, line and column of the call.
    pub(in crate::report) line_file: Option<Vec<u8>>,
    pub(in crate::report) line: Option<i64>,
    pub(in crate::report) col: Option<i64>,
    pub(in crate::report) calls: Option<CallSum>,
    pub(in crate::report) exclusive: f64,
    pub(in crate::report) cumulative: Option<f64>,
}

/// Adds up what is wanted, in one pass over the nodes of a question.
///
/// # Errors
/// When the database fails, and when the question is interrupted.
pub(in crate::report) fn add_up(
    connection: &Connection,
    question: &NodeQuestion,
    wants: Wants,
) -> rusqlite::Result<Sums> {
    let mut adder = Adder {
        wants,
        has_readings: question.costs.readings.is_some() && !question.filters.any(),
        ..Adder::default()
    };
    let needs = Needs {
        all_above: false,
        lines: if wants.lines {
            LineNodes::Numbers
        } else if wants.callers || wants.callees {
            LineNodes::Nodes
        } else {
            // Sums of functions have nothing of lines.
            LineNodes::Nothing
        },
        labels: wants.label_sets,
        containers: wants.containers,
    };
    let passed = pass(connection, question, needs, &mut adder)?;
    Ok(adder.into_sums(&passed))
}

/// What the path of a question without filters selects: what is below a selected node is jumped over.
///
/// # Errors
/// When the database fails, and when the question is interrupted.
pub(in crate::report) fn selected(
    connection: &Connection,
    question: &NodeQuestion,
) -> rusqlite::Result<Selected> {
    struct Jump;

    impl Visit for Jump {
        fn opened(&mut self, node: &Open, _pass: &Pass<'_, '_>) -> rusqlite::Result<Next> {
            Ok(if node.is_selected {
                Next::AfterSubtree
            } else {
                Next::Node
            })
        }
    }

    debug_assert!(
        !question.filters.any(),
        "what filters leave of a node is known after all that is below"
    );
    Ok(pass(connection, question, Needs::default(), &mut Jump)?.selected)
}

#[derive(Default)]
struct Adder {
    wants: Wants,
    has_readings: bool,
    /// By group, and by line.
    functions: Vec<Total>,
    lines: Vec<Total>,
    /// By caller, and by callee.
    callers: Calling,
    callees: Calling,
    container_numbers: HashMap<usize, usize>,
    containers: Vec<(usize, Costs)>,
    set_numbers: HashMap<i64, usize>,
    sets: Vec<i64>,
    set_costs: Vec<Sum>,
}

/// The sums of a function or line.
#[derive(Clone, Copy, Default)]
struct Total {
    /// It has a node.
    is_any: bool,
    calls: Calls,
    exclusive: Sum,
    cumulative: Costs,
    seen: Costs,
    exclusive_readings: Sum,
    cumulative_readings: Costs,
}

impl Total {
    fn add(&mut self, node: &Open, with_readings: bool) {
        self.is_any = true;
        self.calls.add(node.calls);
        self.exclusive.add(node.exclusive);
        let counted = |costs: &mut Costs, cost: Option<f64>| {
            // Recursion counts once, and what is unknown leaves a line unknown wherever it is.
            if cost.is_none() {
                costs.doubt();
            }
            if node.is_outermost {
                costs.add(cost);
            } else {
                costs.add(Some(0.0));
            }
        };
        counted(&mut self.cumulative, node.cumulative);
        self.seen.add(node.cumulative);
        let readings = if with_readings {
            self.exclusive_readings.add(node.readings.exclusive);
            node.readings.cumulative
        } else {
            None
        };
        counted(&mut self.cumulative_readings, readings);
    }

    fn figures(&self, with_readings: bool, cost: impl Fn(Costs) -> Option<f64>) -> Figures {
        Figures {
            calls: self.calls.all(),
            exclusive: self.exclusive.value(),
            cumulative: cost(self.cumulative),
            seen: cost(self.seen),
            exclusive_readings: with_readings.then(|| self.exclusive_readings.value()),
            cumulative_readings: if with_readings {
                cost(self.cumulative_readings)
            } else {
                None
            },
        }
    }
}

/// Calls by function and place.
#[derive(Default)]
struct Calling {
    numbers: HashMap<Call, usize>,
    keys: Vec<Call>,
    totals: Vec<CallTotal>,
}

/// A caller, the group of its callee, and the line of the caller.
type Call = (Option<usize>, Option<usize>, Option<Place>);

#[derive(Clone, Copy, Default)]
struct CallTotal {
    calls: Calls,
    exclusive: Sum,
    cumulative: Costs,
}

impl Calling {
    fn add(&mut self, call: Call, node: &Open, counts: bool) {
        let at = number(&mut self.numbers, &mut self.keys, call);
        if at == self.totals.len() {
            self.totals.push(CallTotal::default());
        }
        let total = &mut self.totals[at];
        total.calls.add(node.calls);
        total.exclusive.add(node.exclusive);
        total
            .cumulative
            .add(if counts { node.cumulative } else { Some(0.0) });
    }

    fn rows(self, functions: &Functions, places: &Lines) -> Vec<CallCosts> {
        let rows = self.keys.iter().zip(&self.totals);
        rows.map(|((caller, callee, place), total)| CallCosts {
            caller_id: caller.map_or(0, |caller| functions.all[caller].id),
            callee_id: callee.map_or(0, |group| functions.groups[group]),
            line_file: place
                .filter(|place| place.file != 0)
                .map(|place| places.files[place.file].clone()),
            line: place.map(|place| place.line),
            col: place.and_then(|place| place.col),
            calls: total.calls.all(),
            exclusive: total.exclusive.value(),
            cumulative: total.cumulative.all(),
        })
        .collect()
    }
}

/// The sums of an entry, which may be new.
fn total(totals: &mut Vec<Total>, at: usize) -> &mut Total {
    if at >= totals.len() {
        totals.resize(at + 1, Total::default());
    }
    &mut totals[at]
}

impl Visit for Adder {
    fn closed(&mut self, node: &Open, pass: &Pass<'_, '_>) -> rusqlite::Result<()> {
        if !node.is_in_selection {
            return Ok(());
        }
        if node.place.is_some() {
            if let Some(entry) = node.entry {
                total(&mut self.lines, entry).add(node, self.has_readings);
            }
            return Ok(());
        }
        let group = pass.functions.all[node.function].group;
        if let (true, Some(group)) = (self.wants.functions, group) {
            total(&mut self.functions, group).add(node, self.has_readings);
        }
        if let (true, true, Some(group)) = (self.wants.callees, node.is_callee, group) {
            let above = pass.above(node);
            let place = above.and_then(|above| above.place);
            let call = (above.map(|above| above.function), Some(group), place);
            self.callees.add(call, node, node.is_outermost_callee);
        }
        let is_outermost = node.is_selected && !node.is_below_selected;
        if node.is_selected && self.wants.callers {
            let above = pass.above(node);
            // A container is no caller: its calls come from the root.
            let call = match above.filter(|above| !pass.is_container(above.function)) {
                Some(above) => (Some(above.function), None, above.place),
                None => (None, None, None),
            };
            self.callers.add(call, node, is_outermost);
        }
        if let (true, Some(container)) = (is_outermost || node.is_container, node.container) {
            let containers = &mut self.containers;
            let at = *self.container_numbers.entry(container).or_insert_with(|| {
                containers.push((container, Costs::default()));
                containers.len() - 1
            });
            self.containers[at].1.add(node.cumulative);
        }
        Ok(())
    }

    fn labelled(&mut self, set: i64, cost: f64) {
        let at = number(&mut self.set_numbers, &mut self.sets, set);
        if at == self.set_costs.len() {
            self.set_costs.push(Sum::default());
        }
        self.set_costs[at].add(cost);
    }
}

impl Adder {
    fn into_sums(self, passed: &Passed<'_>) -> Sums {
        let Passed {
            functions,
            places,
            selected,
        } = passed;
        let with_readings = self.has_readings;
        let of_functions = self.functions.iter().zip(&functions.groups);
        let of_lines = self.lines.iter().zip(&places.all);
        Sums {
            selected: *selected,
            functions: of_functions
                .filter(|(total, _)| total.is_any)
                .map(|(total, group)| FunctionCosts {
                    function_id: *group,
                    figures: total.figures(with_readings, Costs::known),
                })
                .collect(),
            lines: of_lines
                .filter(|(total, _)| total.is_any)
                .map(|(total, place)| LineCosts {
                    function_id: functions.all[place.function].id,
                    file: places.files[place.file].clone(),
                    line: place.line,
                    col: place.col.unwrap_or(0),
                    figures: total.figures(with_readings, Costs::all),
                })
                .collect(),
            callers: self.callers.rows(functions, places),
            callees: self.callees.rows(functions, places),
            containers: self
                .containers
                .iter()
                .map(|(container, costs)| (functions.all[*container].id, costs.known()))
                .collect(),
            label_sets: self
                .sets
                .iter()
                .zip(&self.set_costs)
                .map(|(set, cost)| (*set, cost.value()))
                .collect(),
        }
    }
}
