//! The rows of a table, whatever they are read from.

use rusqlite::{Connection, Transaction};

use super::damage::damaged;
use super::pages::{Pages, RowsByPage};
use super::statements::RowsBySql;
use super::table::{Range, Table};
use crate::base::error::Stop;
use profdb_sqlite_pages::values::Values;

/// The tables of a database at one moment.
pub(crate) struct Tables<'c> {
    connection: &'c Connection,
    stop: &'c Stop,
    pages: Option<Pages>,
    /// Another program may change the file between two pages or two statements.
    _snapshot: Option<Transaction<'c>>,
}

impl<'c> Tables<'c> {
    /// The tables as they are now: a transaction is open from here on, if none was.
    ///
    /// # Errors
    /// When the database fails.
    pub(crate) fn of(connection: &'c Connection, stop: &'c Stop) -> rusqlite::Result<Self> {
        let mut tables = Self::without_pages(connection, stop)?;
        tables.pages = Pages::of(connection, stop)?;
        Ok(tables)
    }

    /// The tables as they are now, whose rows are read by SQL.
    pub(super) fn without_pages(
        connection: &'c Connection,
        stop: &'c Stop,
    ) -> rusqlite::Result<Self> {
        let snapshot = if connection.is_autocommit() {
            Some(connection.unchecked_transaction()?)
        } else {
            None
        };
        Ok(Self {
            connection,
            stop,
            pages: None,
            _snapshot: snapshot,
        })
    }

    /// Whether rows are read from pages.
    #[cfg(test)]
    pub(super) fn are_pages(&self) -> bool {
        self.pages.is_some()
    }

    /// Reads the rows of a table that are in a range, in the order of their keys.
    ///
    /// # Errors
    /// When the database fails.
    pub(in crate::store) fn rows(&self, table: Table, range: Range) -> rusqlite::Result<Rows<'c>> {
        let by_page = match &self.pages {
            Some(pages) => pages.rows(self.connection, self.stop, table, range)?,
            None => None,
        };
        let source = match by_page {
            Some(rows) => Source::Pages(rows),
            None => Source::Statements(Box::new(RowsBySql::new(self.connection, table, range)?)),
        };
        Ok(Rows {
            source,
            has_row_ids: table.has_row_ids(),
            is_unique: table.following().len() == 1,
            range,
            before: range.first.saturating_sub(1),
        })
    }
}

/// Rows of a table in the order of their keys.
pub(in crate::store) struct Rows<'c> {
    source: Source<'c>,
    has_row_ids: bool,
    /// There is one row at most for each node or function.
    is_unique: bool,
    range: Range,
    /// The node or function of the row before the next one.
    before: i64,
}

enum Source<'c> {
    Pages(RowsByPage<'c>),
    Statements(Box<RowsBySql<'c>>),
}

/// A row.
pub(in crate::store) struct StoredRow<'r> {
    /// Its node or function.
    pub(in crate::store) at: i64,
    /// The columns after that.
    pub(in crate::store) others: Values<'r>,
}

impl Rows<'_> {
    /// The next row.
    ///
    /// # Errors
    /// When the database fails or is damaged, and when the question is interrupted.
    #[inline]
    pub(in crate::store) fn next(&mut self) -> rusqlite::Result<Option<StoredRow<'_>>> {
        let found = match &mut self.source {
            Source::Pages(rows) => rows.next()?,
            Source::Statements(rows) => rows.next()?,
        };
        let Some((row_id, record)) = found else {
            return Ok(None);
        };
        let mut others = Values::new(record).ok_or_else(damaged)?;
        let at = if self.has_row_ids {
            // The column of the key is NULL in the record.
            if !others.skips_null() {
                others.next_value().ok_or_else(damaged)?;
            }
            row_id
        } else {
            let of = others.integer().ok_or_else(damaged)?;
            if of != self.range.of {
                return Ok(None);
            }
            others.integer().ok_or_else(damaged)?
        };
        if at > self.range.last {
            return Ok(None);
        }
        // What reads rows relies on their order.
        if at < self.before || (self.is_unique && at == self.before) {
            return Err(damaged());
        }
        self.before = at;
        Ok(Some(StoredRow { at, others }))
    }

    /// Passes over rows before those of a node or function.
    ///
    /// # Errors
    /// As [`Rows::next`].
    pub(in crate::store) fn skip_to(&mut self, at: i64) -> rusqlite::Result<()> {
        // Both go forward only.
        if at <= self.before {
            return Ok(());
        }
        match &mut self.source {
            Source::Pages(rows) => rows.skip_to(self.range.of, at),
            Source::Statements(rows) => {
                rows.skip_to(at);
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::{Connection, MAIN_DB};

    use super::super::nodes::{Cost, Costs, Labels, Nodes};
    use super::super::table::{Range, TREES, Table};
    use super::Tables;
    use crate::base::error::Stop;
    use crate::store::database::Database;
    use profdb_sqlite_pages::values::Value;

    /// Small pages: a few thousand rows are a tree of several levels.
    const PAGE_SIZE: u16 = 512;

    /// Rows of `nodes`, and about as many of each other table.
    const ROWS: i64 = 4000;

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

        fn number_below(&mut self, limit: i64) -> i64 {
            self.below(limit.unsigned_abs()).cast_signed()
        }

        fn integer(&mut self) -> i64 {
            let number = self.below(1 << 31) << 32 | self.below(1 << 31);
            (number >> self.below(63)).cast_signed() - i64::from(self.below(2) == 0)
        }

        #[expect(clippy::cast_precision_loss, reason = "any figure is as good")]
        fn real(&mut self) -> f64 {
            match self.below(6) {
                0 => 0.0,
                1 => -0.5,
                2 => 1e300,
                3 => f64::INFINITY,
                4 => self.below(1_000_000) as f64,
                _ => self.below(1 << 30) as f64 / 7.0,
            }
        }

        fn text(&mut self) -> String {
            let longest = if self.below(50) == 0 { 3000 } else { 20 };
            "é".repeat(usize::try_from(self.below(longest)).expect("short"))
        }
    }

    /// The tables of the program in a database with small pages, and rows of any kind in them.
    fn database(seed: u64) -> Connection {
        let schema = Database::in_memory().expect("memory");
        let connection = Connection::open_in_memory().expect("memory");
        connection
            .pragma_update(None, "page_size", PAGE_SIZE)
            .expect("a size that SQLite knows");
        connection
            .pragma_update(None, "foreign_keys", false)
            .expect("the rows of the other tables are not needed");
        let mut numbers = Numbers(seed);
        for table in TREES {
            let tree = table.stored().tree;
            let sql = "SELECT sql FROM sqlite_schema WHERE name = ?1";
            let sql: String = schema
                .connection
                .query_row(sql, [tree], |row| row.get(0))
                .expect("a table or an index");
            connection.execute_batch(&sql).expect("SQL");
            if table != Table::EdgesByCaller {
                fill(&connection, table, &mut numbers);
            }
        }
        connection
    }

    /// Inserts rows with the keys of several runs, so that there are rows before and after each.
    fn fill(connection: &Connection, table: Table, numbers: &mut Numbers) {
        let columns: Vec<&str> = table.stored().columns.split(',').collect();
        let marks = vec!["?"; columns.len()].join(", ");
        let sql = format!(
            "INSERT OR IGNORE INTO {} ({}) VALUES ({marks})",
            table.stored().tree,
            columns.join(", ")
        );
        let mut insert = connection.prepare(&sql).expect("SQL");
        let needed = {
            let sql = "SELECT name, \"notnull\" FROM pragma_table_xinfo(?1)";
            let mut statement = connection.prepare(sql).expect("SQL");
            let rows = statement.query_map([table.stored().tree], |row| {
                Ok((row.get::<_, String>(0)?, row.get::<_, bool>(1)?))
            });
            let rows: rusqlite::Result<Vec<_>> = rows.expect("rows").collect();
            rows.expect("rows")
        };
        for number in 1..=ROWS {
            for (mark, column) in (1..).zip(&columns) {
                let may_be_null = needed
                    .iter()
                    .any(|(name, is_needed)| name == column && !is_needed);
                let value: rusqlite::types::Value = match *column {
                    "node_id" if table.has_row_ids() => number.into(),
                    _ if may_be_null && numbers.below(3) == 0 => rusqlite::types::Value::Null,
                    "metric_id" | "run_id" => numbers.number_below(4).into(),
                    "node_id" => numbers.number_below(ROWS).into(),
                    "function_id" | "callee_id" | "caller_id" if !table.has_row_ids() => {
                        numbers.number_below(90).into()
                    }
                    "size" => (numbers.number_below(60) / 8 * numbers.number_below(40)).into(),
                    "back" => numbers.number_below(2).into(),
                    "file" => numbers.text().into(),
                    "exclusive" | "cumulative" | "seen" | "cumulative_other"
                    | "outermost_other" | "seen_other" => numbers.real().into(),
                    _ => numbers.integer().into(),
                };
                insert.raw_bind_parameter(mark, value).expect("a mark");
            }
            insert.raw_execute().expect("memory");
        }
    }

    fn tables<'c>(connection: &'c Connection, stop: &'c Stop) -> [Tables<'c>; 2] {
        let pages = Tables::of(connection, stop).expect("a database");
        assert!(pages.are_pages(), "SQLite gives no access to pages");
        let statements = Tables::without_pages(connection, stop).expect("a database");
        [pages, statements]
    }

    /// The rows of a range, as text, some of them passed over: after every so many, by chance.
    fn rows(tables: &Tables<'_>, table: Table, range: Range, every: u64) -> Vec<String> {
        let mut numbers = Numbers(every);
        let mut rows = tables.rows(table, range).expect("a database");
        let mut found = Vec::new();
        while let Some(row) = rows.next().expect("rows") {
            let at = row.at;
            let mut others = row.others;
            let mut line = format!("{at}");
            for _ in 0..table.columns() {
                let value = match others.next().expect("a value") {
                    #[expect(clippy::cast_precision_loss, reason = "REAL is stored so")]
                    Value::Integer(value) if value.unsigned_abs() < 1 << 47 => {
                        format!(" {:?}", value as f64)
                    }
                    Value::Text(text) => format!(" {}", text.len()),
                    value => format!(" {value:?}"),
                };
                line.push_str(&value);
            }
            found.push(line);
            if numbers.below(every) == 0 {
                let far = if numbers.below(2) == 0 { 4 } else { 500 };
                rows.skip_to(at + numbers.number_below(far)).expect("rows");
            }
        }
        found
    }

    #[test]
    fn pages_and_statements_give_the_same_rows() {
        let stop = Stop::default();
        let (mut all, mut skipping) = (0, 0);
        for seed in 0..2 {
            let connection = database(seed);
            let [pages, statements] = tables(&connection, &stop);
            let mut numbers = Numbers(seed + 100);
            for table in TREES {
                for _ in 0..6 {
                    let limit = if numbers.below(2) == 0 { 90 } else { ROWS };
                    let first = numbers.number_below(limit);
                    let range = match numbers.below(4) {
                        0 => Range::all_of(numbers.number_below(5)),
                        _ => Range {
                            of: numbers.number_below(4),
                            first,
                            last: first + numbers.number_below(ROWS),
                        },
                    };
                    for every in [1, 3, 40, u64::MAX] {
                        let by_page = rows(&pages, table, range, every);
                        let by_sql = rows(&statements, table, range, every);
                        assert!(by_page == by_sql, "{seed}: {table:?}, {range:?}, {every}");
                        *if every == u64::MAX {
                            &mut all
                        } else {
                            &mut skipping
                        } += by_page.len();
                    }
                }
            }
        }
        assert!(all > 20_000, "{all} rows");
        assert!(
            skipping < 2 * all,
            "{skipping} of {all} rows were not passed over"
        );
    }

    /// Nodes with what they cost and their labels, as text: all, or those of functions.
    fn nodes(tables: &Tables<'_>, span: (i64, i64), are_lines_wanted: bool) -> Vec<String> {
        let mut nodes = if are_lines_wanted {
            Nodes::new(tables, span)
        } else {
            Nodes::of_functions(tables, span)
        }
        .expect("a database");
        let mut costs = Costs::new(tables, 3, span).expect("a database");
        let mut labels = Labels::new(tables, 2, span).expect("a database");
        let mut found = Vec::new();
        let mut labels_of = Vec::new();
        while let Some(node) = nodes.next().expect("rows") {
            if !are_lines_wanted && node.line.is_some() {
                continue;
            }
            let cost = costs.of(node.id).expect("rows").unwrap_or(Cost::NONE);
            labels.of(node.id, &mut labels_of).expect("rows");
            found.push(format!("{node:?} {cost:?} {labels_of:?}"));
            if node.id % 7 == 0 {
                let last = node.last();
                nodes.skip_to(last + 1).expect("rows");
                costs.skip_to(last + 1).expect("rows");
                labels.skip_to(last + 1).expect("rows");
            }
        }
        found
    }

    #[test]
    fn nodes_with_costs_and_labels_are_the_same() {
        let stop = Stop::default();
        let connection = database(9);
        let [pages, statements] = tables(&connection, &stop);
        for span in [(1, ROWS), (17, 3000), (500, 500), (ROWS + 1, ROWS + 9)] {
            for are_lines_wanted in [true, false] {
                let by_page = nodes(&pages, span, are_lines_wanted);
                let by_sql = nodes(&statements, span, are_lines_wanted);
                assert!(by_page == by_sql, "{span:?}");
                assert_eq!(by_page.is_empty(), span.0 > ROWS);
            }
        }
    }

    /// Every walk through a damaged file ends: with rows, or with an error.
    #[test]
    fn damage_is_an_error_at_most() {
        let stop = Stop::default();
        let mut whole = database(1);
        let bytes = whole.serialize(MAIN_DB).expect("memory");
        let (mut refused, mut read) = (0, 0);
        let mut numbers = Numbers(5);
        for _ in 0..120 {
            let mut bytes = bytes.to_vec();
            for _ in 0..=numbers.below(20) {
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
            let mut damaged = Connection::open_in_memory().expect("memory");
            damaged
                .deserialize_read_exact(MAIN_DB, bytes.as_slice(), bytes.len(), true)
                .expect("memory");
            let Ok(tables) = Tables::of(&damaged, &stop) else {
                refused += 1;
                continue;
            };
            for table in TREES {
                let Ok(mut rows) = tables.rows(table, Range::all_of(2)) else {
                    refused += 1;
                    continue;
                };
                let mut count = 0;
                loop {
                    match rows.next() {
                        Ok(Some(_)) => count += 1,
                        Ok(None) => {
                            read += 1;
                            break;
                        }
                        Err(_) => {
                            refused += 1;
                            break;
                        }
                    }
                    // A page that comes twice, in the place of another one, gives its rows twice.
                    assert!(count <= 4 * ROWS, "{table:?}");
                }
            }
        }
        assert!(refused > 50 && read > 20, "{refused} refused, {read} read");
    }

    #[test]
    fn a_walk_stops_when_it_is_asked_to() {
        let stop = Stop::default();
        let connection = database(1);
        let [pages, _] = tables(&connection, &stop);
        let mut nodes = Nodes::new(&pages, (1, ROWS)).expect("a database");
        assert!(nodes.next().expect("a row").is_some());
        stop.set();
        let mut count = 0;
        while let Ok(node) = nodes.next() {
            assert!(node.is_some(), "it has ended");
            count += 1;
        }
        assert!(count < 100, "{count} nodes after it");
    }
}
