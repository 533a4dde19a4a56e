//! A run as the law sees it: read with plain SQL, and added up by walking its tree.

use std::collections::{BTreeMap, BTreeSet};

use libtest_mimic::Failed;
use profdb::store::Database;
use rusqlite::{Row, ToSql};

/// Exclusive and cumulative cost; `None` if unknown.
pub(super) type Costs = [Option<f64>; 2];

#[derive(Clone, Debug)]
pub(super) struct Metric {
    pub(super) name: String,
    pub(super) unit: String,
    pub(super) total: f64,
    pub(super) is_default: bool,
    /// It counts how often a timer was read.
    pub(super) is_timer: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Identity {
    pub(super) name: String,
    pub(super) module: String,
    pub(super) file: String,
    pub(super) kind: String,
    pub(super) place: (i64, i64),
}

#[derive(Clone, Debug)]
pub(super) struct Function {
    pub(super) identity: Identity,
    pub(super) raw_name: Option<String>,
    pub(super) calls: Option<i64>,
    /// By metric.
    pub(super) costs: Vec<Costs>,
    /// What its places add up to, by metric; the sum of own costs stands for cumulative cost.
    pub(super) walked: Vec<[f64; 2]>,
    /// Places in the tree, and lines there.
    pub(super) places: usize,
    /// A place of it is at the root.
    pub(super) is_root: bool,
    /// What costs below 0 add up to, at its places or where they are known, by metric.
    pub(super) negative: Vec<f64>,
    /// Cost with every level of recursion counted, by metric.
    pub(super) seen: Vec<Option<f64>>,
    /// What is said of the cost of those of its places that are in no other one, by metric.
    pub(super) outermost: Vec<f64>,
    /// What its lines cost more than itself, at all its places, by metric.
    pub(super) exceeded: Vec<f64>,
}

/// A place in the tree.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) depth: usize,
    /// Its place in [`Picture::functions`].
    pub(super) function: usize,
    /// File, line and column.
    pub(super) line: Option<(String, i64, i64)>,
    pub(super) calls: Option<i64>,
    /// By metric.
    pub(super) costs: Vec<(f64, Option<f64>)>,
    pub(super) parent: Option<usize>,
    /// What own costs add up to from here on, by metric.
    pub(super) sums: Vec<f64>,
}

/// A pair of caller and callee.
#[derive(Clone, Debug)]
pub(super) struct Edge {
    /// Places in [`Picture::functions`].
    pub(super) caller: Option<usize>,
    pub(super) callee: usize,
    pub(super) line: Option<i64>,
    pub(super) col: i64,
    pub(super) is_back: bool,
    pub(super) calls: Option<i64>,
    /// By metric: exclusive, cumulative, every level of recursion counted.
    pub(super) costs: Vec<[Option<f64>; 3]>,
}

/// A line of a function.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) function: usize,
    pub(super) file: String,
    pub(super) line: i64,
    pub(super) col: i64,
    pub(super) calls: Option<i64>,
    /// By metric.
    pub(super) costs: Vec<Costs>,
}

/// Everything that a run says.
#[derive(Clone, Debug)]
pub(super) struct Picture {
    /// Paths are known.
    pub(super) is_tree: bool,
    pub(super) title: Option<String>,
    /// Names and texts of what is known of the run as a whole.
    pub(super) facts: BTreeMap<String, String>,
    pub(super) bias: [Option<f64>; 2],
    /// Sets of labels that samples have.
    pub(super) labels: BTreeSet<String>,
    pub(super) metrics: Vec<Metric>,
    pub(super) functions: Vec<Function>,
    pub(super) nodes: Vec<Node>,
    pub(super) edges: Vec<Edge>,
    pub(super) lines: Vec<Line>,
}

fn read<T>(
    database: &Database,
    sql: &str,
    parameters: &[&dyn ToSql],
    row: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>, Failed> {
    let mut statement = database.connection().prepare(sql)?;
    let rows = statement.query_map(parameters, row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

impl Picture {
    /// Reads the only run of a database.
    pub(super) fn of(database: &Database) -> Result<Self, Failed> {
        let sql = "SELECT m.metric_id, m.name, m.unit, m.total, m.metric_id = r.default_metric_id, m.timer_readings
                   FROM metrics AS m JOIN runs AS r USING (run_id) ORDER BY m.position";
        let found = read(database, sql, &[], |row| {
            let (name, unit, total) = (row.get(1)?, row.get(2)?, row.get(3)?);
            let metric = Metric {
                name,
                unit,
                total,
                is_default: row.get(4)?,
                is_timer: row.get(5)?,
            };
            Ok((row.get::<_, i64>(0)?, metric))
        })?;
        let (ids, metrics): (Vec<i64>, Vec<Metric>) = found.into_iter().unzip();
        let sql =
            "SELECT title, timer_bias, bias_applied, tool_version, command, recorded_at FROM runs";
        let mut runs = read(database, sql, &[], |row| {
            let told = [("tool_version", 3), ("command", 4), ("recorded_at", 5)];
            let mut facts = BTreeMap::new();
            for (name, at) in told {
                if let Some(text) = row.get::<_, Option<String>>(at)? {
                    facts.insert(name.to_owned(), text);
                }
            }
            if let Some(bias) = row.get::<_, Option<f64>>(1)? {
                facts.insert("timer_bias".to_owned(), bias.to_string());
            }
            Ok((row.get(0)?, [row.get(1)?, row.get(2)?], facts))
        })?;
        let (title, bias, mut facts) = runs.pop().ok_or("there is no run")?;
        facts.extend(read(
            database,
            "SELECT key, value FROM run_properties",
            &[],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?);
        let sql = "SELECT GROUP_CONCAT(text, '; ') FROM (
                     SELECT set_id, key || ' ' || value || ' ' || unit AS text FROM label_sets ORDER BY set_id, text)
                   GROUP BY set_id";
        let labels = read(database, sql, &[], |row| row.get(0))?
            .into_iter()
            .collect();
        let is_tree = read(database, "SELECT fidelity = 'tree' FROM runs", &[], |row| {
            row.get(0)
        })?
        .contains(&true);
        let mut picture = Self {
            is_tree,
            title,
            facts,
            bias,
            labels,
            metrics,
            functions: Vec::new(),
            nodes: Vec::new(),
            edges: Vec::new(),
            lines: Vec::new(),
        };
        let index = picture.read_functions(database, &ids)?;
        picture.read_nodes(database, &ids, &index)?;
        picture.read_edges(database, &ids, &index)?;
        picture.read_lines(database, &ids, &index)?;
        picture.walk();
        Ok(picture)
    }

    fn read_functions(
        &mut self,
        database: &Database,
        ids: &[i64],
    ) -> Result<BTreeMap<i64, usize>, Failed> {
        let sql =
            "SELECT f.function_id, f.name, f.module, f.file, f.kind, f.first_line, f.first_col, f.raw_name, d.calls
                   FROM runs AS r
                   JOIN function_info AS d ON d.metric_id = r.default_metric_id
                   JOIN functions AS f ON f.function_id = d.function_id
                   ORDER BY f.function_id";
        let found = read(database, sql, &[], |row| {
            let identity = Identity {
                name: row.get(1)?,
                module: row.get(2)?,
                file: row.get(3)?,
                kind: row.get(4)?,
                place: (row.get(5)?, row.get(6)?),
            };
            let function = Function {
                identity,
                raw_name: row.get(7)?,
                calls: row.get(8)?,
                // What has no row cost nothing.
                costs: vec![[Some(0.0); 2]; ids.len()],
                walked: vec![[0.0; 2]; ids.len()],
                places: 0,
                is_root: false,
                negative: vec![0.0; ids.len()],
                exceeded: vec![0.0; ids.len()],
                outermost: vec![0.0; ids.len()],
                seen: vec![Some(0.0); ids.len()],
            };
            Ok((row.get::<_, i64>(0)?, function))
        })?;
        let (numbers, functions): (Vec<i64>, Vec<Function>) = found.into_iter().unzip();
        let index: BTreeMap<i64, usize> = numbers.into_iter().zip(0..).collect();
        self.functions = functions;
        for (at, id) in ids.iter().enumerate() {
            let sql = "SELECT function_id, exclusive, cumulative, seen FROM function_info WHERE metric_id = ?1";
            for (function, costs, seen) in read(database, sql, &[id], |row| {
                Ok((
                    row.get::<_, i64>(0)?,
                    [row.get(1)?, row.get(2)?],
                    row.get(3)?,
                ))
            })? {
                let function = &mut self.functions[index[&function]];
                (function.costs[at], function.seen[at]) = (costs, seen);
            }
        }
        Ok(index)
    }

    fn read_nodes(
        &mut self,
        database: &Database,
        ids: &[i64],
        index: &BTreeMap<i64, usize>,
    ) -> Result<(), Failed> {
        let sql =
            "SELECT node_id, depth, function_id, file, line, col, calls, exclusive, cumulative
                   FROM nodes ORDER BY node_id";
        let count = ids.len();
        let default = self
            .metrics
            .iter()
            .position(|metric| metric.is_default)
            .unwrap_or(0);
        let mut numbers = BTreeMap::new();
        let mut open: Vec<usize> = Vec::new();
        let mut at = 0;
        self.nodes = read(database, sql, &[], |row| {
            let depth = usize::try_from(row.get::<_, i64>(1)?).unwrap_or(0);
            let line: Option<i64> = row.get(4)?;
            let file = row.get::<_, Option<String>>(3)?.unwrap_or_default();
            let col = row.get::<_, Option<i64>>(5)?.unwrap_or(0);
            let mut costs = vec![(0.0, Some(0.0)); count];
            if let Some(costs) = costs.get_mut(default) {
                *costs = (row.get(7)?, row.get(8)?);
            }
            numbers.insert(row.get::<_, i64>(0)?, at);
            // Rows are in pre-order: what is deeper than the new one is closed, and what is left
            // ends with its parent.
            open.truncate(depth);
            let parent = open.last().copied();
            open.push(at);
            at += 1;
            let function = index[&row.get(2)?];
            Ok(Node {
                depth,
                function,
                line: line.map(|line| (file, line, col)),
                calls: row.get(6)?,
                costs,
                parent,
                sums: Vec::new(),
            })
        })?;
        for (at, id) in ids.iter().enumerate() {
            let sql = "SELECT node_id, exclusive, cumulative FROM node_costs WHERE metric_id = ?1";
            for (node, costs) in read(database, sql, &[id], |row| {
                Ok((row.get::<_, i64>(0)?, (row.get(1)?, row.get(2)?)))
            })? {
                self.nodes[numbers[&node]].costs[at] = costs;
            }
        }
        Ok(())
    }

    fn read_edges(
        &mut self,
        database: &Database,
        ids: &[i64],
        index: &BTreeMap<i64, usize>,
    ) -> Result<(), Failed> {
        let sql = "SELECT caller_id, callee_id, caller_line, caller_col, back, calls, exclusive, cumulative, seen
                   FROM edges WHERE metric_id = ?1
                   ORDER BY caller_id, callee_id, line_file, caller_line, caller_col, back";
        for (at, id) in ids.iter().enumerate() {
            let found = read(database, sql, &[id], |row| {
                let line: i64 = row.get(2)?;
                let edge = Edge {
                    caller: index.get(&row.get(0)?).copied(),
                    callee: index[&row.get(1)?],
                    line: (line >= 0).then_some(line),
                    col: row.get(3)?,
                    is_back: row.get(4)?,
                    calls: row.get(5)?,
                    costs: Vec::new(),
                };
                Ok((edge, [row.get(6)?, row.get(7)?, row.get(8)?]))
            })?;
            if at == 0 {
                self.edges = found
                    .into_iter()
                    .map(|(edge, costs)| Edge {
                        costs: vec![costs],
                        ..edge
                    })
                    .collect();
            } else {
                // Every edge has a row in every metric, and the rows are in the order of their
                // keys.
                for (edge, (_, costs)) in self.edges.iter_mut().zip(found) {
                    edge.costs.push(costs);
                }
            }
        }
        Ok(())
    }

    fn read_lines(
        &mut self,
        database: &Database,
        ids: &[i64],
        index: &BTreeMap<i64, usize>,
    ) -> Result<(), Failed> {
        let sql = "SELECT d.function_id, d.file, d.line, d.col, d.calls FROM runs AS r
                   JOIN line_info AS d ON d.metric_id = r.default_metric_id
                   ORDER BY d.function_id, d.file, d.line, d.col";
        self.lines = read(database, sql, &[], |row| {
            Ok(Line {
                function: index[&row.get(0)?],
                file: row.get(1)?,
                line: row.get(2)?,
                col: row.get(3)?,
                calls: row.get(4)?,
                costs: vec![[Some(0.0); 2]; ids.len()],
            })
        })?;
        let key = |line: &Line| (line.function, line.file.clone(), line.line, line.col);
        let places: BTreeMap<_, usize> = self.lines.iter().map(key).zip(0..).collect();
        for (at, id) in ids.iter().enumerate() {
            let sql = "SELECT function_id, file, line, col, exclusive, cumulative FROM line_info WHERE metric_id = ?1";
            for (key, costs) in read(database, sql, &[id], |row| {
                Ok((
                    (index[&row.get(0)?], row.get(1)?, row.get(2)?, row.get(3)?),
                    [row.get(4)?, row.get(5)?],
                ))
            })? {
                self.lines[places[&key]].costs[at] = costs;
            }
        }
        Ok(())
    }

    /// The same run in a format in which threads are no frames: what is a thread at the top, and within
    /// a root as well, is two, of which the second is only within roots. Gives how many there are.
    pub(super) fn with_threads_apart(&self) -> (Self, usize) {
        let mut apart = self.clone();
        let count = self.functions.len();
        let mut twins = vec![None; count];
        let is_within =
            |node: &Node| node.depth > 0 && self.functions[node.function].identity.kind == "thread";
        for (at, node) in self
            .nodes
            .iter()
            .enumerate()
            .filter(|(_, node)| is_within(node))
        {
            if !self.functions[node.function].is_root {
                continue;
            }
            let twin = *twins[node.function].get_or_insert_with(|| {
                apart.functions.push(self.functions[node.function].clone());
                apart.functions.len() - 1
            });
            apart.nodes[at].function = twin;
        }
        let metrics = self.metrics.len();
        for function in &mut apart.functions {
            (function.places, function.is_root) = (0, false);
            function.walked = vec![[0.0; 2]; metrics];
            for sums in [
                &mut function.negative,
                &mut function.exceeded,
                &mut function.outermost,
            ] {
                sums.fill(0.0);
            }
        }
        apart.walk();
        // What the file itself gives stays with the first.
        for (at, twin) in twins.into_iter().enumerate() {
            let Some(twin) = twin else { continue };
            for metric in 0..metrics {
                let own = apart.functions[twin].walked[metric][0];
                apart.functions[twin].costs[metric][0] = Some(own);
                if let Some(cost) = &mut apart.functions[at].costs[metric][0] {
                    *cost -= own;
                }
            }
        }
        let twins = apart.functions.len() - count;
        (apart, twins)
    }

    /// Adds up the tree.
    fn walk(&mut self) {
        let count = self.metrics.len();
        let mut sums: Vec<Vec<f64>> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            // What lines cost is in their function's own cost.
            let own = |costs: &(f64, Option<f64>)| if node.line.is_none() { costs.0 } else { 0.0 };
            sums.push(node.costs.iter().map(own).collect());
            let function = &mut self.functions[node.function];
            function.places += 1;
            function.is_root |= node.depth == 0;
            for at in 0..count {
                function.walked[at][0] += own(&node.costs[at]);
                function.negative[at] -=
                    node.costs[at].0.min(0.0) + node.costs[at].1.unwrap_or(0.0).min(0.0);
            }
        }
        // From the last one: in pre-order, a node comes after its parent, and its sum is complete
        // when it is added there.
        for (at, node) in self.nodes.iter().enumerate().rev() {
            if let Some(parent) = node.parent {
                let below = sums[at].clone();
                sums[parent]
                    .iter_mut()
                    .zip(below)
                    .for_each(|(sum, cost)| *sum += cost);
            }
        }
        let mut left: Vec<Vec<f64>> = self
            .nodes
            .iter()
            .map(|node| node.costs.iter().map(|costs| costs.0).collect())
            .collect();
        for node in self.nodes.iter().filter(|node| node.line.is_some()) {
            if let Some(parent) = node.parent {
                left[parent]
                    .iter_mut()
                    .zip(&node.costs)
                    .for_each(|(left, costs)| *left -= costs.0);
            }
        }
        for (node, left) in self.nodes.iter().zip(left) {
            let exceeded = &mut self.functions[node.function].exceeded;
            exceeded
                .iter_mut()
                .zip(left)
                .for_each(|(sum, left)| *sum += (-left).max(0.0));
        }
        // How often each function is open.
        let mut open: Vec<usize> = Vec::new();
        let mut times = vec![0_usize; self.functions.len()];
        for (at, node) in self.nodes.iter().enumerate() {
            while open.len() > node.depth {
                let closed = open.pop().map_or(0, |closed| closed);
                // Lines are not counted: a line of a function is no recursion of it.
                times[self.nodes[closed].function] -=
                    usize::from(self.nodes[closed].line.is_none());
            }
            open.push(at);
            if node.line.is_some() {
                continue;
            }
            if times[node.function] == 0 {
                let outermost = &mut self.functions[node.function].outermost;
                outermost
                    .iter_mut()
                    .zip(&node.costs)
                    .for_each(|(sum, costs)| *sum += costs.1.unwrap_or(0.0));
                let walked = &mut self.functions[node.function].walked;
                walked
                    .iter_mut()
                    .zip(&sums[at])
                    .for_each(|(walked, sum)| walked[1] += sum);
            }
            times[node.function] += 1;
        }
        for (node, sums) in self.nodes.iter_mut().zip(sums) {
            node.sums = sums;
        }
        if !self.is_tree {
            for function in &mut self.functions {
                for (negative, costs) in function.negative.iter_mut().zip(&function.costs) {
                    *negative = costs.iter().flatten().map(|cost| (-cost).max(0.0)).sum();
                }
            }
        }
    }

    /// Places of lines.
    pub(super) fn line_places(&self) -> usize {
        self.nodes.iter().filter(|node| node.line.is_some()).count()
    }
}

impl Function {
    pub(super) fn is_container(&self) -> bool {
        !["function", "pseudo"].contains(&self.identity.kind.as_str())
    }

    /// Whether nothing is known that it costs in any of these metrics; of threads and the like,
    /// themselves.
    pub(super) fn is_free(&self, metrics: impl IntoIterator<Item = usize>) -> bool {
        let figures = if self.is_container() { 1 } else { 2 };
        let costs = metrics
            .into_iter()
            .flat_map(|at| self.costs[at].iter().take(figures));
        costs.flatten().all(|cost| *cost == 0.0)
    }
}
