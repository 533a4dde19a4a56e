//! Trees that are appended to those of a database, and ranges of rows that are cut out of them.

use std::convert::Infallible;
use std::io::{Seek as _, Write as _};

use profdb_sqlite_pages::append::Appender;
use profdb_sqlite_pages::cut::{Range, cut};
use profdb_sqlite_pages::database::DatabasePages;
use rusqlite::types::FromSql;
use rusqlite::{Connection, MAIN_DB};

/// Small pages: a few thousand rows are a tree of several levels.
const PAGE_SIZE: u16 = 512;

const SCHEMA: &str = "
    CREATE TABLE numbered (id INTEGER PRIMARY KEY, name TEXT) STRICT;
    CREATE TABLE sorted (part INTEGER, id INTEGER, name TEXT, PRIMARY KEY (part, name, id)) STRICT, WITHOUT ROWID;
    CREATE TABLE other (id INTEGER PRIMARY KEY, name TEXT) STRICT;";

/// The pages of a database in memory.
struct BytePages<'b>(&'b mut Vec<u8>);

impl DatabasePages for BytePages<'_> {
    type Error = Infallible;

    fn read(&mut self, number: u32) -> Result<Option<Vec<u8>>, Infallible> {
        let mut pages = self.0.chunks_exact(PAGE_SIZE.into());
        Ok(pages.nth(number as usize - 1).map(<[u8]>::to_vec))
    }

    fn write(&mut self, number: u32, page: &[u8]) -> Result<(), Infallible> {
        let start = (number as usize - 1) * usize::from(PAGE_SIZE);
        let end = start + page.len();
        self.0.resize(self.0.len().max(end), 0);
        self.0[start..end].copy_from_slice(page);
        Ok(())
    }
}

fn bytes_of(connection: &mut Connection) -> Vec<u8> {
    connection.serialize(MAIN_DB).expect("memory").to_vec()
}

fn open(bytes: &[u8]) -> Connection {
    let mut connection = Connection::open_in_memory().expect("memory");
    connection
        .deserialize_read_exact(MAIN_DB, bytes, bytes.len(), false)
        .expect("memory");
    connection
}

fn create() -> Connection {
    let connection = Connection::open_in_memory().expect("memory");
    connection
        .pragma_update(None, "page_size", PAGE_SIZE)
        .expect("a size that SQLite knows");
    connection.execute_batch(SCHEMA).expect("a schema");
    connection
}

/// Inserts rows of a part, with texts up to `longest` bytes.
fn insert(connection: &Connection, part: u64, rows: u64, longest: u64) {
    let transaction = connection
        .unchecked_transaction()
        .expect("no one else is here");
    let mut numbered = connection
        .prepare("INSERT INTO numbered VALUES (?1, ?2)")
        .expect("SQL");
    let mut sorted = connection
        .prepare("INSERT INTO sorted VALUES (?1, ?2, ?3)")
        .expect("SQL");
    for at in 0..rows {
        let length = usize::try_from((at * 7919 + part) % (longest + 1)).expect("a short text");
        let (id, name) = (
            part * 1_000_000 + at,
            format!("{at:09}").repeat(length / 9 + 1),
        );
        numbered
            .execute((id.cast_signed(), &name))
            .expect("space on the disk");
        sorted
            .execute((part.cast_signed(), at.cast_signed(), &name))
            .expect("space on the disk");
    }
    transaction.commit().expect("space on the disk");
}

fn rows(connection: &Connection) -> Vec<(i64, i64, String)> {
    let sql = "SELECT 0, id, name FROM numbered UNION ALL SELECT part, id, name FROM sorted";
    let mut statement = connection.prepare(sql).expect("SQL");
    let rows = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .expect("rows");
    rows.collect::<Result<_, _>>().expect("rows")
}

fn roots(connection: &Connection) -> Vec<u32> {
    let sql =
        "SELECT rootpage FROM sqlite_schema WHERE name IN ('numbered', 'sorted') ORDER BY name";
    let mut statement = connection.prepare(sql).expect("SQL");
    let roots = statement.query_map([], |row| row.get(0)).expect("rows");
    roots.collect::<Result<_, _>>().expect("rows")
}

fn one<T: FromSql>(connection: &Connection, sql: &str) -> T {
    connection
        .query_row(sql, [], |row| row.get(0))
        .expect("an answer")
}

/// Appends rows to those of a database in several parts, and compares them with rows that
/// SQLite has inserted.
fn check(parts: &[u64], longest: u64, free: u64) {
    let mut source = tempfile::tempfile().expect("a file");
    let mut connection = create();
    let expected = create();
    for (part, rows) in (1..).zip(parts) {
        let transaction = connection
            .unchecked_transaction()
            .expect("no one else is here");
        for _ in 0..free {
            let garbage = "INSERT INTO other (name) VALUES (hex(zeroblob(100)))";
            connection.execute(garbage, []).expect("space on the disk");
        }
        connection
            .execute("DELETE FROM other", [])
            .expect("it can be written");
        transaction.commit().expect("space on the disk");
        let (pages, unused): (u32, u32) = (
            one(&connection, "PRAGMA page_count"),
            one(&connection, "PRAGMA freelist_count"),
        );

        let mut segment = create();
        insert(&segment, part, *rows, longest);
        insert(&expected, part, *rows, longest);
        let from = roots(&segment);
        let pairs: Vec<_> = roots(&connection).into_iter().zip(from).collect();
        source.set_len(0).expect("a file");
        source.rewind().expect("a file");
        source
            .write_all(&bytes_of(&mut segment))
            .expect("space on the disk");
        let mut bytes = bytes_of(&mut connection);
        let appender = Appender::new(BytePages(&mut bytes), PAGE_SIZE);
        let appender = appender.expect("memory").expect("pages of this size");
        appender.append(&source, &pairs).expect("space on the disk");

        connection = open(&bytes);
        let found: String = one(&connection, "PRAGMA integrity_check");
        assert_eq!(found, "ok", "{parts:?}, {longest}, {free}, part {part}");
        assert!(
            self::rows(&connection) == self::rows(&expected),
            "{parts:?}, {longest}, {free}, part {part}"
        );
        let grown = one::<u32>(&connection, "PRAGMA page_count") - pages;
        let used = unused - one::<u32>(&connection, "PRAGMA freelist_count");
        assert!(
            grown == 0 || used == unused,
            "{grown} pages are new, and {} unused",
            unused - used
        );
    }
    // SQLite can change the database.
    for connection in [&connection, &expected] {
        insert(connection, 99, 500, longest);
        let sql = "DELETE FROM sorted WHERE part = 1; DELETE FROM numbered WHERE id < 2000000";
        connection.execute_batch(sql).expect("memory");
    }
    assert_eq!(
        one::<String>(&connection, "PRAGMA integrity_check"),
        "ok",
        "{parts:?}, {longest}, {free}"
    );
    assert!(
        rows(&connection) == rows(&expected),
        "{parts:?}, {longest}, {free}"
    );
}

/// Cuts a range out of both trees of a database, and compares the rows that are left with those
/// that SQLite leaves.
fn check_cut(rows: u64, longest: u64, first: i64, last: i64) {
    let about = format!("{rows}, {longest}, {first} to {last}");
    let mut connection = create();
    let expected = create();
    for connection in [&connection, &expected] {
        // Keys of the one tree count up from 1; those of the other come `rows / 40` times each.
        let each = (rows / 40).max(1);
        let sql = format!(
            "WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < {rows})
             INSERT INTO numbered SELECT n, hex(zeroblob(abs(n * 7919) % {} / 2)) FROM c",
            longest + 1
        );
        connection.execute_batch(&sql).expect("space on the disk");
        let sql =
            format!("INSERT INTO sorted SELECT (id + {each} - 1) / {each}, id, name FROM numbered");
        connection.execute_batch(&sql).expect("space on the disk");
    }
    let roots = roots(&connection);
    let ranges = roots.into_iter().map(|root| Range { root, first, last });
    let ranges: Vec<Range> = ranges.collect();
    let mut bytes = bytes_of(&mut connection);
    let done = cut(BytePages(&mut bytes), PAGE_SIZE, &ranges);
    assert!(done.expect("memory").is_some(), "{about}");
    let connection = open(&bytes);
    for table in ["numbered WHERE id", "sorted WHERE part"] {
        let sql = format!("DELETE FROM {table} BETWEEN ?1 AND ?2");
        expected.execute(&sql, (first, last)).expect("SQL");
    }
    let sound = |about: &str| {
        let found: String = one(&connection, "PRAGMA integrity_check");
        assert_eq!(found, "ok", "{about}");
        assert!(self::rows(&connection) == self::rows(&expected), "{about}");
    };
    sound(&about);
    // SQLite can change the database, and uses the free pages.
    for connection in [&connection, &expected] {
        insert(connection, 99, (rows / 4).clamp(20, 300), longest);
        connection
            .execute_batch(
                "DELETE FROM numbered WHERE id % 3 = 0; DELETE FROM sorted WHERE id % 3 = 0",
            )
            .expect("space on the disk");
    }
    sound(&about);
}

#[test]
fn small_range_is_cut_out_of_small_trees() {
    for rows in [1_u64, 2, 5, 11, 12, 40] {
        for first in (1..=rows.cast_signed()).step_by(if rows > 12 { 3 } else { 1 }) {
            for last in (first - 1..=rows.cast_signed() + 1).step_by(3) {
                check_cut(rows, 60, first, last);
            }
        }
    }
}

#[test]
fn range_is_cut_out_of_trees_of_several_levels() {
    // Beginning, middle, end, all but the first row or the last, all, and nothing.
    for longest in [0, 30, 200, 3000] {
        for (first, last) in [
            (1, 1000),
            (1, 1999),
            (1, 2000),
            (2, 2000),
            (500, 1500),
            (1990, 2010),
            (7, 8),
            (3000, 4000),
            (1, 1),
            (2, 39),
            (1, 20),
            (20, 40),
            (10, 11),
        ] {
            // Long rows take long.
            let rows = if longest > 1000 { 400 } else { 2000 };
            check_cut(rows, longest, first, last);
        }
    }
}

#[test]
fn small_trees_are_appended() {
    for rows in 0..40 {
        check(&[rows, 40 - rows, rows, 1], 60, 0);
    }
}

#[test]
fn trees_of_several_levels_are_appended() {
    check(&[5000, 1, 5000, 300, 0, 20], 30, 0);
    check(&[1, 5000], 30, 0);
    check(&[0, 2400, 1, 1, 1, 2400], 30, 0);
}

#[test]
fn small_trees_are_appended_many_times() {
    check(&(0..90).map(|part| 5 + part % 3).collect::<Vec<_>>(), 30, 0);
}

#[test]
fn trees_with_long_rows_are_appended() {
    for longest in [100, 500, 1000, 5000] {
        check(&[50, 3, 100, 1], longest, 0);
    }
}

#[test]
fn trees_are_appended_in_free_pages_first() {
    for free in [1, 2, 40, 1000] {
        check(&[50, 300, 1, 300], 200, free);
    }
}
