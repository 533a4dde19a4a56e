//! Sample profiles that are compared with what their own tools say: importing them and asking the
//! views.

use std::fs;
use std::io::Read;
use std::path::Path;

use profdb::base::error::Stop;
use profdb::formats;
use profdb::formats::Options;
use profdb::input::{Input, Limits};
use profdb::pipeline::{import, meta};
use profdb::store::Database;
use rusqlite::Row;

/// A file of `tests/samples/`, unpacked.
pub(crate) fn bytes(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/samples")
        .join(name);
    let bytes = fs::read(path).expect(name);
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return bytes;
    }
    let mut plain = Vec::new();
    flate2::read::GzDecoder::new(bytes.as_slice())
        .read_to_end(&mut plain)
        .expect(name);
    plain
}

/// The same as text.
pub(crate) fn text(name: &str) -> String {
    String::from_utf8(bytes(name)).expect(name)
}

/// The run of a profile that is recognised as one of this format.
pub(crate) fn imported(format: &str, profile: &(impl AsRef<[u8]> + ?Sized)) -> Database {
    let input = Input::new(
        Box::new(profile.as_ref()),
        Limits::default(),
        Stop::default(),
    )
    .expect("readable");
    let found = formats::detect(input.head()).expect("recognised");
    assert_eq!(found.name, format);
    let options = Options::default();
    let describe = |fingerprint| meta(found, &options, "sample", fingerprint);
    import(
        input,
        found,
        &options,
        &Stop::default(),
        describe,
        Database::in_memory,
    )
    .expect("a run")
    .database
}

/// The rows of a statement, each made into something.
pub(crate) fn rows<T>(
    database: &Database,
    sql: &str,
    row: fn(&Row<'_>) -> rusqlite::Result<T>,
) -> Vec<T> {
    let mut statement = database.connection().prepare(sql).expect(sql);
    let rows = statement.query_map([], row).expect(sql);
    rows.collect::<Result<_, _>>().expect(sql)
}

/// The total of a metric.
pub(crate) fn total(database: &Database, metric: &str) -> f64 {
    let sql = format!("SELECT total FROM metrics WHERE name = '{metric}'");
    rows(database, &sql, |row| row.get::<_, f64>(0))
        .into_iter()
        .sum()
}
