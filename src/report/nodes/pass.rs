//! One pass over the nodes of a run, in their order: what filters leave of them, and what the path
//! of the question selects.
//!
//! Nodes whose subtree has not ended are kept on a stack. What depends on the nodes above is known
//! when a node opens: whether filters keep it, the steps of the path that it is in, whether it is
//! the outermost of its function. What depends on the nodes below is known when it closes: whether
//! anything of its subtree is kept, what it has taken over from hidden nodes, and what the kept part
//! of its subtree cost.

use rusqlite::{Connection, OptionalExtension};

use super::super::path::Operator;
use super::functions::{Functions, Lines, Place};
use super::question::NodeQuestion;
use super::ranges::Ranges;
use super::read::{Cost, Finder, Found, Next, Node, Reader};
use crate::base::sum::Sum;

/// A node whose subtree has not ended, and that is not hidden when a visitor sees it.
#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each says something of its own of a node"
)]
pub(super) struct Open {
    /// Its number.
    pub(super) id: i64,
    /// The last node below.
    pub(super) last: i64,
    /// Its function, in [`Functions`].
    pub(super) function: usize,
    /// Its line; `None` in function nodes.
    pub(super) place: Option<Place>,
    /// The number of its line in [`Lines`], where lines are added up.
    pub(super) entry: Option<usize>,
    /// Where on the stack the nearest visible node above is.
    pub(super) above: Option<usize>,
    /// How many visible nodes are above.
    pub(super) depth: usize,
    /// The depth of the outermost selected node around it or of itself.
    pub(super) top_depth: usize,
    pub(super) calls: Option<i64>,
    /// What filters leave of its own cost, with that of hidden nodes once it closes.
    pub(super) exclusive: f64,
    /// What they leave of its cost with everything called, once it closes; `None` if unknown.
    pub(super) cumulative: Option<f64>,
    pub(super) readings: Cost,
    /// The path of the question ends here; without a path, it is a root.
    pub(super) is_selected: bool,
    /// It is selected or below a selected node; without a path, every node is.
    pub(super) is_in_selection: bool,
    /// It is below a selected node.
    pub(super) is_below_selected: bool,
    /// No node of its group (lines: of its line, if lines are added up) is around it in the selection.
    pub(super) is_outermost: bool,
    /// Its caller is selected.
    pub(super) is_callee: bool,
    /// No callee of its group is around it.
    pub(super) is_outermost_callee: bool,
    /// The outermost container of the wanted kind around it or itself, as a function.
    pub(super) container: Option<usize>,
    /// It is that container.
    pub(super) is_container: bool,
    /// It only tells where a range of nodes lies.
    is_context: bool,
    is_hidden: bool,
    is_in_focus: bool,
    is_ignored: bool,
    /// Something in its subtree is kept.
    is_left: bool,
    /// Something in its subtree is not kept.
    is_cut: bool,
    /// What is kept of the function nodes below.
    below: Sum,
    /// What hidden nodes have left it.
    adopted: Sum,
}

/// What looks at the nodes that filters leave.
pub(super) trait Visit {
    /// A node opens. Its costs are known already if there are no filters.
    fn opened(&mut self, _node: &Open, _pass: &Pass<'_, '_>) -> rusqlite::Result<Next> {
        Ok(Next::Node)
    }

    /// A node that filters leave closes.
    fn closed(&mut self, _node: &Open, _pass: &Pass<'_, '_>) -> rusqlite::Result<()> {
        Ok(())
    }

    /// Part of the selected cost belongs to a set of labels.
    fn labelled(&mut self, _set: i64, _cost: f64) {}
}

/// What a visitor needs besides nodes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Needs {
    /// All nodes above what is selected, and not only callers.
    pub(super) all_above: bool,
    /// The nodes of lines.
    pub(super) lines: LineNodes,
    /// Costs by set of labels.
    pub(super) labels: bool,
    /// Threads or processes.
    pub(super) containers: Option<super::ContainerKind>,
}

/// What a visitor needs of the nodes of lines. Filters by labels need them anyway: they may keep a
/// line and nothing else of its function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum LineNodes {
    /// Nothing.
    #[default]
    Nothing,
    /// The nodes.
    Nodes,
    /// A number for each line, to add up its nodes: nodes of one line are found by a hash.
    Numbers,
}

/// What the path of a question selects, as far as the nodes have been read.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::report) struct Selected {
    /// Whether it selects anything.
    pub(in crate::report) is_any: bool,
    /// What the selected nodes cost with everything they called; without a path, the roots.
    pub(in crate::report) cost: f64,
}

/// What a pass has found besides what its visitor has.
pub(super) struct Passed<'q> {
    pub(super) functions: Functions<'q>,
    pub(super) places: Lines,
    pub(super) selected: Selected,
}

/// A pass that is under way.
pub(super) struct Pass<'c, 'q> {
    pub(super) question: &'q NodeQuestion,
    pub(super) functions: Functions<'q>,
    pub(super) places: Lines,
    /// The open nodes, the innermost last.
    pub(super) stack: Vec<Open>,
    is_filtered: bool,
    needs: Needs,
    /// For each open node, the steps of the path that it is in itself, and those that it or a node
    /// above it is in, as bits.
    bits: Vec<u64>,
    steps: Steps,
    /// Open nodes in the selection, by group and by line.
    open_groups: Vec<u32>,
    open_places: Vec<u32>,
    /// Open callees of what is selected, by group.
    open_callees: Vec<u32>,
    finder: Finder<'c>,
    selects_any: bool,
    selected: Sum,
}

/// The steps of a path, as bits.
struct Steps {
    /// Words of bits.
    words: usize,
    within: Vec<u64>,
    direct: Vec<u64>,
}

impl Steps {
    fn new(question: &NodeQuestion) -> Self {
        let words = question.path.len().div_ceil(64);
        let mut steps = Self {
            words,
            within: vec![0; words],
            direct: vec![0; words],
        };
        for (at, step) in question.path.iter().enumerate().skip(1) {
            let bits = match step.operator {
                Operator::Within => &mut steps.within,
                Operator::Direct => &mut steps.direct,
            };
            bits[at / 64] |= 1 << (at % 64);
        }
        steps
    }

    /// Whether bits have the last step.
    fn has_last(bits: &[u64], question: &NodeQuestion) -> bool {
        let last = question.path.len() - 1;
        bits[last / 64] >> (last % 64) & 1 == 1
    }
}

/// The first and the last node of a run.
pub(super) fn span(connection: &Connection, run: i64) -> rusqlite::Result<Option<(i64, i64)>> {
    let sql = "SELECT first_node, last_node FROM runs WHERE run_id = ?1 AND first_node IS NOT NULL";
    connection
        .query_row(sql, [run], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
}

/// Shows a visitor the nodes of a question; gives what the pass has numbered, and what is selected.
pub(super) fn pass<'q>(
    connection: &Connection,
    question: &'q NodeQuestion,
    needs: Needs,
    visitor: &mut impl Visit,
) -> rusqlite::Result<Passed<'q>> {
    let steps = Steps::new(question);
    let mut pass = Pass {
        functions: Functions::new(connection, question, steps.words)?,
        places: Lines::new(),
        stack: Vec::new(),
        is_filtered: question.filters.any(),
        question,
        needs,
        bits: Vec::new(),
        steps,
        open_groups: Vec::new(),
        open_places: Vec::new(),
        open_callees: Vec::new(),
        finder: Finder::new(connection)?,
        selects_any: false,
        selected: Sum::default(),
    };
    let Some(span) = span(connection, question.run)? else {
        return Ok(pass.passed());
    };
    let with_labels = needs.labels || question.filters.labels.is_some();
    let with_lines = needs.lines != LineNodes::Nothing || question.filters.labels.is_some();
    let reader = Reader::new(connection, question, with_lines, with_labels)?;
    let mut read = |pass: &mut Pass<'_, '_>, (first, last)| {
        let go_on = reader.read(first, last, |node| pass.node(node, visitor))?;
        while !pass.stack.is_empty() {
            pass.close(visitor)?;
        }
        Ok::<_, rusqlite::Error>(go_on)
    };
    let ranges = match question.path.first() {
        // Filters look at all nodes, and so does a whole run.
        Some(first) if !pass.is_filtered => {
            // Far up, each range costs as much as many nodes that are passed over.
            let few = span.1.saturating_sub(span.0)
                / if needs.all_above || needs.containers.is_some() {
                    1024
                } else {
                    64
                };
            Ranges::few(connection, question.run, &first.functions, few)?
        }
        _ => None,
    };
    let Some(ranges) = ranges else {
        read(&mut pass, span)?;
        return Ok(pass.passed());
    };
    let mut read_to = None;
    for node in ranges.nodes {
        if Some(node) <= read_to {
            continue;
        }
        let Some(found) = pass.finder.find(node)? else {
            continue;
        };
        let context = if needs.all_above || needs.containers.is_some() {
            usize::MAX
        } else {
            2
        };
        let above = pass.finder.above(node, context)?;
        for found in above.iter().rev() {
            pass.open_context(found);
        }
        read_to = Some(found.last);
        if !read(&mut pass, (node, found.last))? {
            break;
        }
    }
    Ok(pass.passed())
}

/// A counter, which may be new.
fn counter(counters: &mut Vec<u32>, at: usize) -> &mut u32 {
    if at >= counters.len() {
        counters.resize(at + 1, 0);
    }
    &mut counters[at]
}

impl<'q> Pass<'_, 'q> {
    fn passed(self) -> Passed<'q> {
        Passed {
            functions: self.functions,
            places: self.places,
            selected: Selected {
                is_any: self.selects_any,
                cost: self.selected.value(),
            },
        }
    }

    /// The visible node above another one.
    pub(super) fn above(&self, node: &Open) -> Option<&Open> {
        node.above.map(|at| &self.stack[at])
    }

    /// The function node that called a function node.
    pub(super) fn caller(&self, node: &Open) -> Option<&Open> {
        let above = self.above(node)?;
        if above.place.is_some() {
            self.above(above)
        } else {
            Some(above)
        }
    }

    /// Whether a function only holds others.
    pub(super) fn is_container(&self, function: usize) -> bool {
        self.functions.all[function].container.is_some()
    }

    fn node(&mut self, node: &Node<'_>, visitor: &mut impl Visit) -> rusqlite::Result<Next> {
        while self.stack.last().is_some_and(|top| top.last < node.id) {
            self.close(visitor)?;
        }
        self.open(node, visitor);
        let opened = self.stack.last().expect("it was just opened");
        if opened.is_hidden {
            return Ok(Next::Node);
        }
        visitor.opened(opened, self)
    }

    /// Where the node that opens next hangs: the nearest visible node on the stack.
    fn visible_above(&self) -> Option<usize> {
        let top = self.stack.len().checked_sub(1)?;
        if self.stack[top].is_hidden {
            self.stack[top].above
        } else {
            Some(top)
        }
    }

    /// Puts a node on the stack that is above a range and not in it.
    fn open_context(&mut self, found: &Found) {
        let function = self.functions.number(found.function);
        let place = found.line.as_ref().map(|found| {
            let line = super::read::Line {
                line: found.line,
                col: found.col,
                file: found.file.as_deref().map(str::as_bytes),
            };
            self.places.place(function, &line)
        });
        let above = self.visible_above();
        let container = self.container(function, place.is_some());
        self.stack.push(Open {
            id: found.id,
            last: found.last,
            function,
            place,
            above,
            depth: self.stack.len(),
            container: container.0,
            is_container: container.1,
            is_context: true,
            is_in_focus: true,
            ..Open::default()
        });
        self.bits.resize(self.bits.len() + 2 * self.steps.words, 0);
    }

    /// The outermost container of the wanted kind around the node that opens next, and whether it
    /// is that one itself.
    fn container(&self, function: usize, is_line: bool) -> (Option<usize>, bool) {
        if let Some(around) = self.stack.last().and_then(|parent| parent.container) {
            return (Some(around), false);
        }
        let node = &self.functions.all[function];
        let is_one = self.needs.containers.is_some()
            && node.container == self.needs.containers
            && !is_line
            && !node.is_hidden;
        (is_one.then_some(function), is_one)
    }

    fn open(&mut self, node: &Node<'_>, visitor: &mut impl Visit) {
        let function = match self.stack.last() {
            // Lines follow their function.
            Some(parent) if self.functions.all[parent.function].id == node.function => {
                parent.function
            }
            _ => self.functions.number(node.function),
        };
        let place = node
            .line
            .as_ref()
            .map(|line| self.places.place(function, line));
        let entry = place
            .filter(|_| self.needs.lines == LineNodes::Numbers)
            .map(|place| self.places.number(place));
        let above = self.visible_above();
        let (container, is_container) = self.container(function, place.is_some());
        let mut open = Open {
            id: node.id,
            last: node.last,
            function,
            place,
            entry,
            above,
            depth: above.map_or(0, |above| self.stack[above].depth + 1),
            calls: node.calls,
            exclusive: node.cost.exclusive,
            cumulative: node.cost.cumulative,
            readings: node.readings,
            container,
            is_container,
            is_left: true,
            ..Open::default()
        };
        let mut is_kept = true;
        if self.is_filtered {
            is_kept = self.filter(&mut open, node);
        }
        self.select(&mut open);
        open.top_depth = match self.stack.last() {
            Some(parent) if open.is_below_selected && parent.is_in_selection => parent.top_depth,
            _ => open.depth,
        };
        self.count(&mut open);
        if self.needs.labels && place.is_none() && is_kept {
            self.label(&open, node, visitor);
        }
        self.stack.push(open);
    }

    /// What filters keep of a node; says whether that is its own cost, all or in part.
    fn filter(&self, open: &mut Open, node: &Node<'_>) -> bool {
        let filters = &self.question.filters;
        let function = &self.functions.all[open.function];
        let parent = self.stack.last();
        open.is_in_focus = filters.focus.is_none()
            || function.is_focus
            || parent.is_some_and(|parent| parent.is_in_focus);
        open.is_ignored = function.is_ignored || parent.is_some_and(|parent| parent.is_ignored);
        open.is_hidden = function.is_hidden;
        let mut is_kept = open.is_in_focus && !open.is_ignored;
        let mut wanted = node.cost.exclusive;
        if let Some(sets) = &filters.labels {
            let mut labelled = Sum::default();
            let mut is_labelled = false;
            for (_, cost) in node.labels.iter().filter(|(set, _)| sets.contains(set)) {
                labelled.add(*cost);
                is_labelled = true;
            }
            is_kept &= is_labelled;
            wanted = labelled.value();
            open.calls = None;
        }
        #[expect(
            clippy::float_cmp,
            reason = "a cost of which nothing is left out is the same to the last digit"
        )]
        let is_whole = is_kept && wanted == node.cost.exclusive;
        open.is_cut = !is_whole;
        open.is_left = is_kept;
        open.exclusive = if is_kept { wanted } else { 0.0 };
        is_kept
    }

    /// Finds the steps of the path that a node is in.
    fn select(&mut self, open: &mut Open) {
        let words = self.steps.words;
        if words == 0 {
            open.is_selected = open.above.is_none() && !open.is_hidden;
            open.is_in_selection = true;
            open.is_below_selected = open.above.is_some();
            return;
        }
        let parent = self.bits.len().checked_sub(words);
        let caller = if open.is_hidden || open.place.is_some() {
            None
        } else {
            let above = open.above.map(|above| &self.stack[above]);
            let at = match above {
                Some(above) if above.place.is_some() => above.above,
                _ => open.above,
            };
            at.map(|at| 2 * words * at)
        };
        let is_member = !open.is_hidden && open.place.is_none();
        let at = self.bits.len();
        self.bits.resize(at + 2 * words, 0);
        let (mut within_carry, mut direct_carry) = (0, 0);
        for word in 0..words {
            let around = parent.map_or(0, |parent| self.bits[parent + word]);
            let calling = caller.map_or(0, |caller| self.bits[caller + word]);
            let member = if is_member {
                let first = u64::from(word == 0);
                self.functions.steps(open.function)[word]
                    & (first
                        | self.steps.within[word] & (around << 1 | within_carry)
                        | self.steps.direct[word] & (calling << 1 | direct_carry))
            } else {
                0
            };
            (within_carry, direct_carry) = (around >> 63, calling >> 63);
            self.bits[at + word] = member;
            self.bits[at + words + word] = around | member;
        }
        let has_last = |bits: &[u64]| Steps::has_last(bits, self.question);
        open.is_selected = has_last(&self.bits[at..at + words]);
        open.is_below_selected =
            parent.is_some_and(|parent| has_last(&self.bits[parent..parent + words]));
        open.is_in_selection = open.is_selected || open.is_below_selected;
    }

    /// Finds out whether a node is the outermost one of its kind in the selection.
    fn count(&mut self, open: &mut Open) {
        if !open.is_in_selection || open.is_hidden {
            return;
        }
        if open.place.is_some() {
            if let Some(entry) = open.entry {
                let around = counter(&mut self.open_places, entry);
                open.is_outermost = *around == 0;
                *around += 1;
            }
            return;
        }
        let Some(group) = self.functions.all[open.function].group else {
            return;
        };
        let around = counter(&mut self.open_groups, group);
        open.is_outermost = *around == 0;
        *around += 1;
        open.is_callee =
            open.is_below_selected && self.caller(open).is_some_and(|caller| caller.is_selected);
        if open.is_callee {
            let around = counter(&mut self.open_callees, group);
            open.is_outermost_callee = *around == 0;
            *around += 1;
        }
    }

    /// Says what the samples of a node cost, by their labels. What a hidden node cost counts for the
    /// visible node that takes it over.
    fn label(&self, open: &Open, node: &Node<'_>, visitor: &mut impl Visit) {
        let counts = if open.is_hidden {
            open.above.is_some_and(|at| self.stack[at].is_in_selection)
        } else {
            open.is_in_selection
        };
        if !counts {
            return;
        }
        let sets = self.question.filters.labels.as_ref();
        for (set, cost) in node.labels {
            if sets.is_none_or(|sets| sets.contains(set)) {
                visitor.labelled(*set, *cost);
            }
        }
    }

    /// Closes the innermost node.
    fn close(&mut self, visitor: &mut impl Visit) -> rusqlite::Result<()> {
        let Some(mut node) = self.stack.pop() else {
            return Ok(());
        };
        self.bits.truncate(self.bits.len() - 2 * self.steps.words);
        if node.is_context {
            return Ok(());
        }
        if node.is_in_selection && !node.is_hidden {
            if let Some(entry) = node.entry {
                self.open_places[entry] -= 1;
            } else if let (None, Some(group)) =
                (node.place, self.functions.all[node.function].group)
            {
                self.open_groups[group] -= 1;
                if node.is_callee {
                    self.open_callees[group] -= 1;
                }
            }
        }
        if self.is_filtered {
            if node.is_cut && node.cumulative.is_some() {
                let mut kept = node.below;
                kept.add(node.exclusive);
                node.cumulative = Some(kept.value());
            }
            if let Some(parent) = self.stack.last_mut() {
                parent.below.merge(node.below);
                if node.place.is_none() {
                    parent.below.add(node.exclusive);
                }
                parent.is_cut |= node.is_cut;
                parent.is_left |= node.is_left;
            }
            if !node.is_left {
                return Ok(());
            }
            if node.is_hidden {
                self.give_away(&node);
                return Ok(());
            }
            node.exclusive += node.adopted.value();
        }
        if node.is_selected {
            self.selects_any = true;
            if !node.is_below_selected
                && let Some(cost) = node.cumulative
            {
                self.selected.add(cost);
            }
        }
        visitor.closed(&node, self)
    }

    /// Gives the cost of a hidden node to the nearest visible node above; where that is a line, also
    /// to its function. Lines break down what their functions have given already.
    fn give_away(&mut self, hidden: &Open) {
        let (None, Some(at)) = (hidden.place, hidden.above) else {
            return;
        };
        let above = &mut self.stack[at];
        above.adopted.add(hidden.exclusive);
        if let (Some(_), Some(function)) = (above.place, above.above) {
            self.stack[function].adopted.add(hidden.exclusive);
        }
    }
}
