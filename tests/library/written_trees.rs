//! Trees that are written page by page, as SQLite reads them.

use std::collections::VecDeque;
use std::fs::File;
use std::io;

use profdb_sqlite_pages::btree::{IndexTree, LateCells, TableTree};
use profdb_sqlite_pages::page_file::PageFile;
use profdb_sqlite_pages::record::Record;
use rusqlite::Connection;

/// Small pages: a few thousand rows are a tree of several levels.
const PAGE_SIZE: u16 = 512;

/// Returns a number for a position, in mixed order.
fn mixed(at: u64) -> u64 {
    at.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31)
}

/// A text, of `longest` bytes at most.
fn text(at: u64, longest: u64) -> String {
    let length = usize::try_from(mixed(at) % (longest + 1)).expect("a short text");
    format!("{at:09}").repeat(length / 9 + 1)
}

/// Late cells in memory.
#[derive(Default)]
struct Waiting(VecDeque<(u64, Vec<u8>)>);

impl LateCells for Waiting {
    fn key(&self) -> Option<u64> {
        self.0.front().map(|(key, _)| *key)
    }

    fn take(&mut self, cell: &mut Vec<u8>) -> io::Result<()> {
        (_, *cell) = self.0.pop_front().expect("there is a key");
        Ok(())
    }
}

/// Writes trees of `rows` rows with texts up to `longest` bytes, and compares them with the rows that SQLite reads.
fn check(rows: u64, longest: u64) {
    for rule in [Late::Few, Late::Many, Late::Most] {
        check_with_late(rows, longest, rule);
    }
}

/// The rows that come late, and the room that they find.
#[derive(Clone, Copy, Debug)]
enum Late {
    /// One of fifty rows, with room.
    Few,
    /// One of three rows, without room.
    Many,
    /// All rows but one of 37: more than leaves have room for.
    Most,
}

impl Late {
    fn is_late(self, at: u64) -> bool {
        match self {
            Self::Few => at % 50 == 17,
            Self::Many => at.is_multiple_of(3),
            Self::Most => at % 37 != 1,
        }
    }
}

fn check_with_late(rows: u64, longest: u64, rule: Late) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trees.db");
    let connection = Connection::open(&path).expect("a file");
    let schema = format!(
        "PRAGMA synchronous = OFF;
         PRAGMA journal_mode = OFF;
         PRAGMA page_size = {PAGE_SIZE};
         CREATE TABLE numbered (id INTEGER PRIMARY KEY, number INTEGER, cost REAL, name TEXT, gone TEXT) STRICT;
         CREATE TABLE sorted (part INTEGER, name TEXT, cost REAL, PRIMARY KEY (part, name)) STRICT, WITHOUT ROWID;
         CREATE TABLE costs (part INTEGER, id INTEGER, cost REAL, name TEXT, PRIMARY KEY (part, id)) STRICT, WITHOUT ROWID;"
    );
    connection.execute_batch(&schema).expect("a schema");
    let root = |name: &str| {
        let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
        connection
            .query_row(sql, [name], |row| row.get::<_, u32>(0))
            .expect("a table")
    };
    let options = File::options()
        .read(true)
        .write(true)
        .open(&path)
        .expect("it is there");
    let mut file = PageFile::new(options, PAGE_SIZE).expect("a file of whole pages");
    let mut record = Record::default();
    let mut numbered = TableTree::new(&file);
    // Two parts that grow at the same time.
    let mut parts = [IndexTree::new(&file), IndexTree::new(&file)];
    let mut costs = IndexTree::new(&file);
    let (mut late, mut late_costs) = (Waiting::default(), Waiting::default());
    for at in 1..=rows {
        let (id, number, cost, name) = row(at, longest);
        let mut shortened = Vec::new();
        let is_late = rule.is_late(at);
        record
            .start()
            .integer(-7)
            .integer(id.cast_signed())
            .real(cost)
            .text(&name);
        if is_late {
            let cell = IndexTree::late_cell(&mut file, &mut record, &mut shortened)
                .expect("space on the disk");
            late_costs.0.push_back((id, cell.to_vec()));
            shortened.clear();
        } else {
            costs
                .push(&mut file, &mut record)
                .expect("space on the disk");
        }
        record
            .start()
            .null()
            .integer(number)
            .real(cost)
            .text(&name)
            .null();
        if is_late {
            let cell = TableTree::late_cell(&mut file, id, &mut record, &mut shortened)
                .expect("space on the disk");
            late.0.push_back((id, cell.to_vec()));
            if matches!(rule, Late::Few) {
                numbered.leave_room(40);
                costs.leave_room(40);
            }
            continue;
        }
        numbered
            .push(&mut file, id, &mut record)
            .expect("space on the disk");
        for (part, tree) in (0..).zip(&mut parts) {
            // The first row of a part may become the separator after the part before.
            if at > 1 {
                tree.push(
                    &mut file,
                    record.start().integer(part).text(&name).real(cost),
                )
                .expect("space");
            }
        }
    }
    numbered
        .merge(&mut file, &mut late)
        .expect("space on the disk");
    costs
        .merge(&mut file, 1, &mut late_costs)
        .expect("space on the disk");
    costs
        .finish(&mut file, root("costs"))
        .expect("space on the disk");
    numbered
        .finish(&mut file, root("numbered"))
        .expect("space on the disk");
    let [mut first, second] = parts;
    let has_separator = !second.is_empty();
    if has_separator {
        let (_, _, cost, name) = row(1, longest);
        let separator = record.start().integer(1).text(&name).real(cost);
        first
            .join(&mut file, separator, second)
            .expect("space on the disk");
    }
    first
        .finish(&mut file, root("sorted"))
        .expect("space on the disk");
    file.finish().expect("space on the disk");

    let found: String = connection
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .expect("an answer");
    assert_eq!(found, "ok", "{rows} rows, {rule:?}");
    let mut select = connection
        .prepare("SELECT id, number, cost, name, gone FROM numbered ORDER BY id")
        .expect("SQL");
    let read = |row: &rusqlite::Row<'_>| {
        assert_eq!(row.get::<_, Option<String>>(4)?, None);
        Ok((
            row.get::<_, i64>(0)?,
            row.get(1)?,
            row.get::<_, f64>(2)?,
            row.get(3)?,
        ))
    };
    let stored: Vec<_> = select
        .query_map([], read)
        .expect("rows")
        .collect::<Result<_, _>>()
        .expect("rows");
    let expected: Vec<_> = (1..=rows)
        .map(|at| row(at, longest))
        .map(|(id, number, cost, name)| (i64::try_from(id).expect("63 bits"), number, cost, name))
        .collect();
    assert!(stored == expected, "{rows} rows, {rule:?}");
    let mut select = connection
        .prepare("SELECT id, part, cost, name, NULL FROM costs ORDER BY part, id")
        .expect("SQL");
    let stored: Vec<_> = select
        .query_map([], read)
        .expect("rows")
        .collect::<Result<_, _>>()
        .expect("rows");
    let expected: Vec<_> = expected
        .into_iter()
        .map(|(id, _, cost, name)| (id, -7, cost, name))
        .collect();
    assert!(stored == expected, "{rows} rows, {rule:?}");
    let mut select = connection
        .prepare("SELECT part, name, cost FROM sorted ORDER BY part, name")
        .expect("SQL");
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    let stored: Vec<(i64, String, f64)> = select
        .query_map([], read)
        .expect("rows")
        .collect::<Result<_, _>>()
        .expect("rows");
    let expected: Vec<_> = (0..2)
        .flat_map(|part| (1..=rows).map(move |at| (part, at)))
        .filter(|&(part, at)| !rule.is_late(at) && (at > 1 || (part == 1 && has_separator)))
        .map(|(part, at)| (part, row(at, longest).3, row(at, longest).2))
        .collect();
    assert_eq!(stored, expected);
}

/// A row whose columns take all lengths that numbers can take.
fn row(at: u64, longest: u64) -> (u64, i64, f64, String) {
    let number = (mixed(at) >> (mixed(at + 1) % 64)).cast_signed()
        * if at.is_multiple_of(3) { -1 } else { 1 };
    #[expect(clippy::cast_precision_loss, reason = "any number will do")]
    let cost = if at.is_multiple_of(2) {
        number as f64
    } else {
        number as f64 / 1024.0
    };
    // Numbers of rows grow from one byte to nine.
    let id = at + if at > 1000 { 1 << (at / 40).min(61) } else { 0 };
    (id, number, cost, text(at, longest))
}

#[test]
fn trees_of_every_small_size_are_read_by_sqlite() {
    for rows in (0..60).chain((60..260).step_by(5)) {
        check(rows, 60);
    }
}

#[test]
fn trees_of_several_levels_are_read_by_sqlite() {
    for rows in [2000, 2399, 2400, 6000] {
        check(rows, 30);
    }
}

#[test]
fn trees_with_long_rows_are_read_by_sqlite() {
    for longest in [100, 500, 1000, 5000] {
        check(300, longest);
    }
}
