//! The nodes of a run with their costs, one after the other: what writers of other formats read
//! most of.
//!
//! Where SQLite gives access to its pages, rows are read from these, with a tenth of the
//! instructions; otherwise by SQL. Both are read in one transaction, and say the same
//! (docs/design/0013-rows-from-pages.md).

use rusqlite::{OptionalExtension, Row, Rows, named_params};

use super::database::Database;
use super::error::StoreError;
use super::node_pages::Pages;
use super::node_rows::{CostRow, NodeRow, Range, ReadCosts, ReadNodes, depth};
use super::walk::{LinePlace, RANGE, count};

const NODES: &str = include_str!("../../queries/export/nodes.sql");
const COSTS: &str = include_str!("../../queries/export/costs.sql");

/// How many nodes pass between two looks at whether to tell how far a walk is.
const NODES_BETWEEN_WORDS: i64 = 4096;

/// What of a tree is wanted after a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Below {
    /// The nodes below it.
    Wanted,
    /// The node after those, which are passed over.
    Unwanted,
}

impl Database {
    /// Calls a function for every node of a run, parents first, until it fails.
    ///
    /// # Errors
    /// The function's own, or the database's.
    pub fn each_node<E: From<StoreError>>(
        &self,
        run_id: i64,
        metric_id: i64,
        mut each: impl FnMut(&NodeRow) -> Result<(), E>,
    ) -> Result<(), E> {
        self.each_node_in(run_id, &[metric_id], |rows| {
            rows.iter().try_for_each(&mut each)
        })
    }

    /// Calls a function for every node of a run, parents first, until it fails: a row for each
    /// metric.
    ///
    /// # Errors
    /// The function's own, or the database's.
    pub fn each_node_in<E: From<StoreError>>(
        &self,
        run_id: i64,
        metrics: &[i64],
        mut each: impl FnMut(&[NodeRow]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.each_wanted_node(run_id, metrics, |rows| each(rows).map(|()| Below::Wanted))
    }

    /// Calls a function for the nodes of a run, parents first, until it fails: a row for each
    /// metric. What is below a node comes only if the function wants it.
    ///
    /// # Errors
    /// The function's own, or the database's.
    pub fn each_wanted_node<E: From<StoreError>>(
        &self,
        run_id: i64,
        metrics: &[i64],
        mut each: impl FnMut(&[NodeRow]) -> Result<Below, E>,
    ) -> Result<(), E> {
        if metrics.is_empty() {
            return Ok(());
        }
        let failed = |source: rusqlite::Error| E::from(self.failed(source));
        // Another program may change the file between two statements.
        let _snapshot = if self.connection.is_autocommit() {
            Some(self.connection.unchecked_transaction().map_err(failed)?)
        } else {
            None
        };
        let range = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        let found = self
            .connection
            .query_row(RANGE, named_params! {":run": run_id}, range)
            .optional();
        let Some((first, last, default)): Option<(i64, i64, Option<i64>)> =
            found.map_err(failed)?
        else {
            return Ok(());
        };
        let range = Range {
            nodes: (first, last),
            others: metrics
                .iter()
                .map(|metric| Some(*metric).filter(|metric| default != Some(*metric)))
                .collect(),
        };
        let pages = Pages::of(&self.connection, &self.lock_wait.stop).map_err(failed)?;
        let mut levels = Levels::default();
        self.walk(pages, &range, |rows| {
            levels
                .next(&rows[0])
                .map_err(|what| self.inconsistent(what))?;
            each(rows)
        })
    }

    /// Reads nodes, from pages if there are any.
    fn walk<E: From<StoreError>>(
        &self,
        pages: Option<Pages<'_>>,
        range: &Range,
        each: impl FnMut(&[NodeRow]) -> Result<Below, E>,
    ) -> Result<(), E> {
        let failed = |source: rusqlite::Error| E::from(self.failed(source));
        if let Some(pages) = pages {
            let (nodes, costs) = pages.readers(range).map_err(failed)?;
            return self.side_by_side_with_costs(nodes, costs, range, each);
        }
        let mut statement = self.connection.prepare(NODES).map_err(failed)?;
        let prepared = range
            .others
            .iter()
            .map(|other| other.map(|_| self.connection.prepare(COSTS)).transpose());
        let mut others: Vec<_> = prepared.collect::<rusqlite::Result<_>>().map_err(failed)?;
        let (first, last) = range.nodes;
        let mut costs = Vec::with_capacity(others.len());
        for (statement, metric) in others.iter_mut().zip(&range.others) {
            let of_metric = named_params! {":metric": metric, ":first": first, ":last": last};
            costs.push(match statement {
                Some(statement) => Some(statement.query(of_metric).map_err(failed)?),
                None => None,
            });
        }
        let nodes = statement
            .query(named_params! {":first": first, ":last": last})
            .map_err(failed)?;
        self.side_by_side_with_costs(nodes, costs, range, each)
    }

    /// Calls a function for the nodes that it wants.
    ///
    /// Nodes hold what they cost in the default metric. What they cost in another one is in rows of
    /// its own, which come in the same order: both are read once, side by side, as a merge join
    /// does. A join in SQL would search for each node.
    fn side_by_side_with_costs<E: From<StoreError>>(
        &self,
        mut nodes: impl ReadNodes,
        costs: Vec<Option<impl ReadCosts>>,
        range: &Range,
        mut each: impl FnMut(&[NodeRow]) -> Result<Below, E>,
    ) -> Result<(), E> {
        let failed = |source: rusqlite::Error| E::from(self.failed(source));
        let (first, last) = range.nodes;
        let mut costs: Vec<_> = costs.into_iter().map(|rows| rows.map(Costs::new)).collect();
        let mut rows = vec![NodeRow::default(); costs.len()];
        // The first node that has not come, or is not wanted.
        let mut next = first;
        let mut told = first;
        while let Some((node_id, last_below)) = nodes.next(&mut rows[0]).map_err(failed)? {
            if node_id > last {
                break;
            }
            if node_id < next {
                continue;
            }
            let of_default = (rows[0].exclusive, rows[0].cumulative);
            if rows.len() > 1 {
                let (node, copies) = rows.split_at_mut(1);
                for copy in copies {
                    copy.clone_from(&node[0]);
                }
            }
            for (costs, row) in costs.iter_mut().zip(&mut rows) {
                (row.exclusive, row.cumulative) = match costs {
                    Some(costs) => costs.of(node_id).map_err(failed)?,
                    None => of_default,
                };
            }
            next = match each(&rows)? {
                Below::Wanted => node_id + 1,
                Below::Unwanted => last_below.max(node_id).saturating_add(1),
            };
            if next > node_id + 1 {
                nodes.skip_to(next).map_err(failed)?;
                for costs in costs.iter_mut().flatten() {
                    costs.skip_to(next).map_err(failed)?;
                }
            }
            if node_id - told >= NODES_BETWEEN_WORDS {
                told = node_id;
                self.tell(node_id.abs_diff(first), last.abs_diff(first));
            }
        }
        Ok(())
    }
}

impl ReadNodes for Rows<'_> {
    fn next(&mut self, row: &mut NodeRow) -> rusqlite::Result<Option<(i64, i64)>> {
        let Some(found) = Rows::next(self)? else {
            return Ok(None);
        };
        *row = NodeRow {
            depth: depth(found.get(0)?),
            function_id: found.get(1)?,
            line: match found.get(2)? {
                None => None,
                Some(line) => Some(LinePlace {
                    file: found.get::<_, Option<String>>(3)?.unwrap_or_default(),
                    line,
                    col: found.get::<_, Option<i64>>(4)?.unwrap_or(0),
                }),
            },
            calls: count(found, 5)?,
            exclusive: found.get(6)?,
            cumulative: found.get(7)?,
        };
        Ok(Some((found.get(8)?, found.get(9)?)))
    }

    fn skip_to(&mut self, _: i64) -> rusqlite::Result<()> {
        // They are read, and what reads them passes over them: to ask anew costs what hundreds of rows cost,
        // and most of what is not wanted is small.
        Ok(())
    }
}

impl ReadCosts for Rows<'_> {
    fn next(&mut self) -> rusqlite::Result<Option<CostRow>> {
        Ok(match Rows::next(self)? {
            Some(row) => Some((row.get(0)?, row.get(1)?, row.get(2)?)),
            None => None,
        })
    }

    fn skip_to(&mut self, _: i64) -> rusqlite::Result<()> {
        Ok(())
    }
}

/// What the nodes of a run cost in a metric that is not the default one.
struct Costs<R> {
    rows: R,
    /// The row that comes next, if it has been read.
    next: Option<CostRow>,
    is_read: bool,
}

impl<R: ReadCosts> Costs<R> {
    fn new(rows: R) -> Self {
        Self {
            rows,
            next: None,
            is_read: false,
        }
    }

    /// What a node cost, which comes after the one asked for before. A node without a row cost 0.
    fn of(&mut self, node_id: i64) -> rusqlite::Result<(f64, Option<f64>)> {
        loop {
            if !self.is_read {
                self.next = self.rows.next()?;
                self.is_read = true;
            }
            let Some((next, exclusive, cumulative)) = self.next else {
                break;
            };
            if next > node_id {
                break;
            }
            self.is_read = false;
            if next == node_id {
                return Ok((exclusive, cumulative));
            }
        }
        Ok((0.0, Some(0.0)))
    }

    fn skip_to(&mut self, node_id: i64) -> rusqlite::Result<()> {
        if self.is_read && self.next.is_none_or(|(next, ..)| next >= node_id) {
            return Ok(());
        }
        self.is_read = false;
        self.rows.skip_to(node_id)
    }
}

/// The open nodes, parents first: the function of each that is no line.
#[derive(Default)]
struct Levels(Vec<Option<i64>>);

impl Levels {
    /// A node in pre-order is at most one level below the one before, and a line directly below its
    /// function. Writers rely on that.
    fn next(&mut self, node: &NodeRow) -> Result<(), String> {
        if node.depth > self.0.len() {
            return Err(format!(
                "a node at depth {} directly after one at depth {}",
                node.depth,
                self.0.len()
            ));
        }
        self.0.truncate(node.depth);
        if node.line.is_some() && self.0.last() != Some(&Some(node.function_id)) {
            return Err(format!(
                "a line of function {} that is not directly below it",
                node.function_id
            ));
        }
        self.0.push(node.line.is_none().then_some(node.function_id));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::{Connection, MAIN_DB};

    use super::super::node_pages::STORED;
    use super::*;
    use crate::base::error::Stop;

    /// Small pages: a few thousand rows are a tree of several levels.
    const PAGE_SIZE: u16 = 512;

    /// Numbers by chance.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, limit: u64) -> u64 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % limit
        }

        fn integer(&mut self) -> i64 {
            let number = self.below(1 << 31) << 32 | self.below(1 << 31);
            (number >> self.below(63)).cast_signed() - i64::from(self.below(2) == 0)
        }

        #[expect(clippy::cast_precision_loss, reason = "any figure is as good")]
        fn real(&mut self) -> f64 {
            match self.below(5) {
                0 => 0.0,
                1 => -0.5,
                2 => 1e300,
                3 => self.below(1_000_000) as f64,
                _ => self.below(1 << 30) as f64 / 7.0,
            }
        }
    }

    /// The database of the program, with small pages and rows of any kind.
    fn database(seed: u64) -> Database {
        let mut database = Database::in_memory().expect("memory");
        let connection = Connection::open_in_memory().expect("memory");
        connection
            .pragma_update(None, "page_size", PAGE_SIZE)
            .expect("a size that SQLite knows");
        for (table, _) in STORED {
            let sql = "SELECT sql FROM sqlite_schema WHERE name = ?1";
            let sql: String = database
                .connection
                .query_row(sql, [table], |row| row.get(0))
                .expect("a table");
            connection.execute_batch(&sql).expect("SQL");
        }
        let mut numbers = Numbers(seed);
        let mut node = connection
            .prepare(
                "INSERT INTO nodes (node_id, up, size, depth, function_id, calls, exclusive, line,
                                    cumulative_other, outer_up, col, file)
                 VALUES (?1, NULL, ?2, ?3, ?4, ?5, ?6, ?7, ?8, NULL, ?9, ?10)",
            )
            .expect("SQL");
        let mut costs = connection
            .prepare("INSERT INTO node_costs (metric_id, node_id, exclusive, cumulative_other) VALUES (?1, ?2, ?3, ?4)")
            .expect("SQL");
        for node_id in 1..=ROWS {
            let line = (numbers.below(3) == 0).then(|| numbers.integer());
            let length = {
                let longest = if numbers.below(50) == 0 { 3000 } else { 20 };
                numbers.below(longest)
            };
            let file = line
                .filter(|_| numbers.below(4) == 0)
                .map(|_| "é".repeat(usize::try_from(length).expect("short")));
            let col = line.filter(|_| numbers.below(2) == 0).map(|_| 3);
            let other = |numbers: &mut Numbers| match numbers.below(4) {
                0 => Some(f64::INFINITY),
                1 => Some(numbers.real()),
                _ => None,
            };
            node.execute((
                node_id,
                i64::try_from(numbers.below(60) / 8 * numbers.below(40)).expect("small"),
                numbers.integer().abs(),
                numbers.integer(),
                Some(numbers.integer()).filter(|calls| calls % 2 == 0),
                numbers.real(),
                line,
                other(&mut numbers),
                col,
                file,
            ))
            .expect("memory");
            for metric in [3, 7, 8] {
                if metric == 3 || numbers.below(3) > 0 {
                    costs
                        .execute((metric, node_id, numbers.real(), other(&mut numbers)))
                        .expect("memory");
                }
            }
        }
        drop((node, costs));
        database.connection = connection;
        database
    }

    /// Rows of `nodes`.
    const ROWS: i64 = 4000;

    type Found = Result<Vec<(Vec<NodeRow>, Below)>, StoreError>;

    /// What a walk finds that wants what is below some nodes only.
    fn found(database: &Database, pages: Option<Pages<'_>>, range: &Range, every: u64) -> Found {
        let mut found = Vec::new();
        let mut numbers = Numbers(every);
        database.walk(pages, range, |rows| {
            let below = if numbers.below(every) == 0 {
                Below::Unwanted
            } else {
                Below::Wanted
            };
            found.push((rows.to_vec(), below));
            Ok::<_, StoreError>(below)
        })?;
        Ok(found)
    }

    #[test]
    fn pages_and_sql_say_the_same() {
        let stop = Stop::default();
        let mut skipped = 0;
        for seed in 0..2 {
            let database = database(seed);
            let mut numbers = Numbers(seed + 100);
            for _ in 0..20 {
                let first = 1 + numbers.below(ROWS.unsigned_abs()).cast_signed();
                let last = first
                    + numbers
                        .below((ROWS - first + 1).unsigned_abs())
                        .cast_signed();
                let others = [None, Some(3), Some(7), Some(8), Some(9)];
                let range = Range {
                    nodes: (first, last),
                    others: others[usize::try_from(numbers.below(4)).expect("small")..].to_vec(),
                };
                for every in [1, 3, 10, u64::MAX] {
                    let pages = Pages::of(&database.connection, &stop).expect("a database");
                    assert!(pages.is_some(), "SQLite gives no access to pages");
                    let by_page = found(&database, pages, &range, every).expect("rows");
                    let by_sql = found(&database, None, &range, every).expect("rows");
                    assert!(by_page == by_sql, "{seed}: {first} to {last}, {every}");
                    assert!(!by_page.is_empty());
                    skipped += usize::try_from(last - first + 1).expect("few") - by_page.len();
                }
            }
        }
        assert!(skipped > 5000, "{skipped} nodes were passed over");
    }

    /// Every walk through a damaged file ends: with rows, or with an error.
    #[test]
    fn damage_is_an_error_at_most() {
        let stop = Stop::default();
        let mut whole = database(1);
        let bytes = whole.connection.serialize(MAIN_DB).expect("memory");
        let range = Range {
            nodes: (1, ROWS),
            others: vec![None, Some(3), Some(7)],
        };
        let (mut refused, mut read) = (0, 0);
        let mut numbers = Numbers(5);
        for _ in 0..400 {
            let mut bytes = bytes.to_vec();
            for _ in 0..=numbers.below(3) {
                // The first page says what the others are.
                let at =
                    u64::from(PAGE_SIZE) + numbers.below(bytes.len() as u64 - u64::from(PAGE_SIZE));
                let page = at - at % u64::from(PAGE_SIZE);
                // The headers of pages more often than their rows.
                let at = if numbers.below(2) == 0 {
                    page + numbers.below(16)
                } else {
                    at
                };
                bytes[usize::try_from(at).expect("small")] = numbers.below(256).to_be_bytes()[7];
            }
            let mut damaged = Database::in_memory().expect("memory");
            damaged.connection = Connection::open_in_memory().expect("memory");
            damaged
                .connection
                .deserialize_read_exact(MAIN_DB, bytes.as_slice(), bytes.len(), true)
                .expect("memory");
            let pages = Pages::of(&damaged.connection, &stop).expect("the first page is whole");
            match found(&damaged, pages, &range, u64::MAX) {
                Ok(rows) => {
                    assert!(rows.len() <= usize::try_from(ROWS).expect("few"));
                    read += 1;
                }
                Err(_) => refused += 1,
            }
        }
        assert!(refused > 50 && read > 20, "{refused} refused, {read} read");
    }

    #[test]
    fn a_walk_stops_when_it_is_asked_to() {
        let stop = Stop::default();
        let database = database(1);
        let range = Range {
            nodes: (1, ROWS),
            others: vec![None],
        };
        let mut count = 0;
        let pages = Pages::of(&database.connection, &stop).expect("a database");
        let walked = database.walk(pages, &range, |_| {
            count += 1;
            stop.set();
            Ok::<_, StoreError>(Below::Wanted)
        });
        assert!(walked.is_err());
        assert!(count < 100, "{count} nodes after it");
    }
}
