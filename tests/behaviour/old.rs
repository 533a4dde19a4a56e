//! Files that an older profdb has written: they are brought up to date, say the same as before, and
//! stay as they are where that is not possible. `tests/old/make.sh` has made them: a database, and
//! what the program of its time said of it.

#![expect(clippy::disallowed_methods, reason = "small files of our own")]

use crate::support::program::{self, PROFDB};
use crate::support::{long, tools};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Output;

use flate2::read::GzDecoder;
use profdb::store::Database;
use rusqlite::Connection;
use rusqlite::types::Value;
use tempfile::TempDir;

/// The schema versions that have been, the present one among them.
const VERSIONS: [i64; 12] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];

/// The present one.
const LATEST: i64 = VERSIONS[VERSIONS.len() - 1];

/// Rows of a table or view.
type Rows = Vec<Vec<Value>>;

/// A copy of the file of a version, in a folder of its own.
fn old_file(version: i64) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("old.db");
    fs::write(&path, bytes_of(version)).expect("room for a small file");
    (folder, path)
}

fn bytes_of(version: i64) -> Vec<u8> {
    let packed =
        File::open(format!("tests/old/version-{version}.db.gz")).expect("every version has a file");
    let mut bytes = Vec::new();
    GzDecoder::new(packed)
        .read_to_end(&mut bytes)
        .expect("a gzip file");
    bytes
}

fn profdb(path: &Path, arguments: &[&str]) -> Output {
    let output = program::command()
        .args(arguments)
        .arg("--db")
        .arg(path)
        .output();
    output.expect("the program was built")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn every_version_has_a_file() {
    let current = Database::in_memory().expect("an empty database");
    let version = rows(
        current.connection(),
        "SELECT user_version FROM pragma_user_version",
    );
    assert_eq!(version, [[Value::Integer(LATEST)]], "run tests/old/make.sh");
    for version in VERSIONS {
        let (_folder, path) = old_file(version);
        let old = Connection::open(path).expect("a file");
        assert_eq!(
            rows(&old, "SELECT user_version FROM pragma_user_version"),
            [[Value::Integer(version)]]
        );
    }
}

#[test]
fn tables_and_views_say_the_same_as_before() {
    let new = Database::in_memory().expect("an empty database");
    for version in VERSIONS {
        let (_folder, path) = old_file(version);
        let old = Connection::open(&path).expect("a file");
        let columns = columns(&old);
        let before = everything(&old, &columns);
        drop(old);
        let migrated = Database::open_read_only(&path).expect("it can be brought up to date");
        assert_eq!(
            migrated.migrated_from(),
            Some(version).filter(|version| *version < LATEST)
        );
        for ((name, columns, before), (_, _, after)) in before
            .iter()
            .zip(everything(migrated.connection(), &columns))
        {
            assert_eq!(*before, after, "version {version}: {columns} of {name}");
        }
        let schema = "SELECT type, name, RTRIM(sql, char(10)) FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name";
        assert_eq!(
            rows(migrated.connection(), schema),
            rows(new.connection(), schema),
            "version {version}"
        );
        let figures = "SELECT tbl, idx, stat FROM sqlite_stat1 ORDER BY tbl, idx";
        assert_eq!(
            rows(migrated.connection(), figures),
            rows(new.connection(), figures),
            "version {version}"
        );
        assert_eq!(
            migrated.check().expect("it can be read"),
            [],
            "version {version}"
        );
    }
}

/// Before version 5 this was not stored. That a file stated what its functions add up to cannot be
/// told any more.
#[test]
fn totals_keep_their_source() {
    let sources = |version| {
        let (_folder, path) = old_file(version);
        let database = Database::open_read_only(&path).expect("it can be brought up to date");
        let sql = "SELECT r.source_name, m.name, m.total_source
                   FROM metrics AS m
                   JOIN runs AS r ON r.run_id = m.run_id
                   WHERE r.fidelity = 'tree'
                   ORDER BY r.source_name, m.name";
        rows(database.connection(), sql)
    };
    let now = sources(LATEST);
    let stated = Value::Text("stated".to_owned());
    for version in VERSIONS {
        let then = sources(version);
        assert!(
            then.iter().all(|row| now.contains(row)),
            "version {version}: {then:?}"
        );
        assert!(
            then.iter().any(|row| row[2] == stated),
            "version {version}: {then:?}"
        );
        assert!(
            then.iter().any(|row| row[2] != stated),
            "version {version}: {then:?}"
        );
    }
}

/// Before version 7 this was not stored. The ticks of GHC, of which every file has some, are
/// samples.
#[test]
fn ticks_are_readings_of_the_timer_where_they_were() {
    for version in VERSIONS {
        let (_folder, path) = old_file(version);
        let database = Database::open_read_only(&path).expect("it can be brought up to date");
        let named = |condition: &str| {
            let sql = format!(
                "SELECT r.format, m.name FROM metrics AS m JOIN runs AS r ON r.run_id = m.run_id WHERE {condition}
                 ORDER BY r.run_id"
            );
            rows(database.connection(), &sql)
        };
        let text = |text: &str| Value::Text(text.to_owned());
        assert_eq!(
            named("m.timer_readings = 1"),
            [[text("dyalog_csv"), text("ticks")]],
            "version {version}"
        );
        assert!(named("m.name = 'ticks'").len() > 2, "version {version}");
    }
}

/// Before version 11 this was not stored. A time without a zone is read as UTC.
#[test]
fn dates_of_recordings_have_an_order() {
    for version in VERSIONS.into_iter().filter(|version| *version < 11) {
        let (_folder, path) = old_file(version);
        let old = Connection::open(&path).expect("a file");
        // As each importer writes what the files of its format say.
        let dates = [
            (
                1,
                "Sat Nov 21 09:31 2026",
                Some("2026-11-21T09:31:00.000000000Z"),
            ),
            (
                2,
                "Thu Jun  5 14:02:59 2008",
                Some("2008-06-05T14:02:59.000000000Z"),
            ),
            (
                3,
                "2011/03/23 22:49:19",
                Some("2011-03-23T22:49:19.000000000Z"),
            ),
            (
                4,
                "2024-11-21T09:35:38.020950138Z",
                Some("2024-11-21T09:35:38.020950138Z"),
            ),
            (
                5,
                "2024-11-21T09:35:38Z",
                Some("2024-11-21T09:35:38.000000000Z"),
            ),
            (6, "by night", None),
        ];
        for (run, said, _) in dates {
            let changed = old
                .execute(
                    "UPDATE runs SET recorded_at = ?2 WHERE run_id = ?1",
                    (run, said),
                )
                .expect("it can be written");
            assert_eq!(changed, 1, "version {version}: {run}");
        }
        drop(old);
        let migrated = Database::open_read_only(&path).expect("it can be brought up to date");
        let sql = "SELECT recorded_utc FROM runs WHERE run_id <= 6 ORDER BY run_id";
        let expected = dates
            .map(|(_, _, utc)| vec![utc.map_or(Value::Null, |utc| Value::Text(utc.to_owned()))]);
        assert_eq!(
            rows(migrated.connection(), sql),
            expected,
            "version {version}"
        );
    }
}

/// Before version 7 a root counted for as much as its callees, where these cost more than it. In
/// trees of LispWorks it does so still, and its total is no sum.
#[test]
fn totals_are_what_the_roots_add_up_to() {
    let double = |format: &str| {
        format!(
            "UPDATE metrics SET total = 2 * total WHERE run_id IN (SELECT run_id FROM runs WHERE format = '{format}')"
        )
    };
    let counted = "SELECT name, total, total_source FROM metrics
                   WHERE run_id IN (SELECT run_id FROM runs WHERE format = 'dyalog_csv') ORDER BY name";
    let stated = "SELECT total, total_source FROM metrics
                  WHERE run_id IN (SELECT run_id FROM runs WHERE format = 'lispworks_tree')";
    let (_present, path) = old_file(LATEST);
    let present = Connection::open(&path).expect("a file");
    let (usual, samples) = (rows(&present, counted), rows(&present, stated));
    let [Value::Real(samples), _] = samples[0][..] else {
        panic!("{samples:?}")
    };
    for version in VERSIONS.into_iter().filter(|version| *version < 7) {
        let (_folder, path) = old_file(version);
        let old = Connection::open(&path).expect("a file");
        for format in ["dyalog_csv", "lispworks_tree"] {
            assert!(
                old.execute(&double(format), []).expect("it can be written") > 0,
                "version {version}"
            );
        }
        drop(old);
        let migrated = Database::open_read_only(&path).expect("it can be brought up to date");
        assert_eq!(
            rows(migrated.connection(), counted),
            usual,
            "version {version}"
        );
        let expected = [[Value::Real(2.0 * samples), Value::Text("stated".to_owned())]];
        assert_eq!(
            rows(migrated.connection(), stated),
            expected,
            "version {version}"
        );
    }
}

/// Tables and views of a file, and their columns, the hidden ones, too.
fn columns(old: &Connection) -> Vec<(String, String)> {
    let sql = "SELECT object.name, group_concat(quote(col.name), ', ')
               FROM sqlite_schema AS object, pragma_table_xinfo(object.name) AS col
               WHERE object.type IN ('table', 'view') AND object.name NOT LIKE 'sqlite_%'
               GROUP BY object.name
               ORDER BY object.name";
    let mut statement = old.prepare(sql).expect("a schema");
    let found = statement.query_map([], |row| {
        Ok((row.get(0)?, row.get::<_, String>(1)?.replace('\'', "\"")))
    });
    found
        .expect("a schema")
        .collect::<Result<_, _>>()
        .expect("a schema")
}

/// Views that had rows only for a run that was asked for, whose number was a text.
const ASKED: [(&str, &str); 3] = [
    ("ancestors", "run_id"),
    ("changes", "base_run_id"),
    ("subtrees", "run_id"),
];

/// All rows of all of them, in the order of their values.
fn everything(
    connection: &Connection,
    columns: &[(String, String)],
) -> Vec<(String, String, Rows)> {
    let all = columns.iter().map(|(name, columns)| {
        let order: Vec<String> = (1..=columns.split(", ").count())
            .map(|number| number.to_string())
            .collect();
        let asked = ASKED.iter().find(|(view, _)| view == name);
        let (shown, asked) = asked.map_or_else(
            || (columns.clone(), String::new()),
            |(_, run)| {
                let number = format!("CAST(\"{run}\" AS INTEGER)");
                let shown = columns.replace(&format!("\"{run}\""), &number);
                (shown, format!(" WHERE {run} = 1"))
            },
        );
        let sql = format!(
            "SELECT {shown} FROM {name}{asked} ORDER BY {}",
            order.join(", ")
        );
        (name.clone(), columns.clone(), rows(connection, &sql))
    });
    all.collect()
}

fn rows(connection: &Connection, sql: &str) -> Rows {
    let mut statement = connection.prepare(sql).expect("the columns are there");
    let width = statement.column_count();
    let rows = statement
        .query_map([], |row| (0..width).map(|at| row.get(at)).collect())
        .expect("rows");
    rows.collect::<Result<_, _>>().expect("rows")
}

#[test]
fn reports_say_the_same_as_the_program_of_their_time() {
    // Each answer takes a process.
    for version in VERSIONS.into_iter().filter(|version| {
        [1, LATEST].contains(version) || long::is_in_part(&format!("version {version}"))
    }) {
        let (_folder, path) = old_file(version);
        let first = profdb(&path, &["runs"]);
        let told = if version < LATEST {
            format!(
                "profdb: {}: brought up to date from schema version {version}\n",
                path.display()
            )
        } else {
            String::new()
        };
        assert_eq!((first.status.code(), said(&first)), (Some(0), told));
        let answers = fs::read_to_string(format!("tests/old/version-{version}.answers"))
            .expect("they are there");
        let mut questions = 0;
        for part in answers.split("$ profdb ").skip(1) {
            let (question, answer) = part.split_once('\n').expect("an answer");
            let output = profdb(&path, &question.split(' ').collect::<Vec<_>>());
            let mut now = String::from_utf8_lossy(&output.stdout).into_owned();
            for line in said(&output).lines() {
                // What a run does not know is remarked now, and was not then.
                if !output.status.success() || answer.contains(line) {
                    now.extend([line, "\n"]);
                }
            }
            let about = format!("version {version}: profdb {question}: {now}");
            if answer.starts_with("profdb: ") {
                // What was refused is refused still, in whatever words.
                assert!(now.starts_with("profdb: "), "{about}");
            } else {
                let answer = without_samples(answer, &now);
                assert_eq!(columns_of(&now, &answer), answer, "{about}");
            }
            questions += 1;
        }
        assert!(questions > 70, "version {version}: {questions} questions");
    }
}

/// Columns that are left out where they hold nothing: until version 7, samples stood there, which
/// are none.
const OF_THE_TIMER: [&str; 2] = ["ExclusiveTicks", "InclusiveTicks"];

/// An answer without columns that the other one lacks and may lack.
fn without_samples(earlier: &str, answer: &str) -> String {
    let mut rows = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(earlier.as_bytes())
        .into_records();
    let names = csv::Reader::from_reader(answer.as_bytes())
        .headers()
        .expect("columns")
        .clone();
    let header = csv::Reader::from_reader(earlier.as_bytes())
        .headers()
        .expect("columns")
        .clone();
    let is_kept =
        |name: &str| !OF_THE_TIMER.contains(&name) || names.iter().any(|known| known == name);
    if header.iter().all(is_kept) {
        return earlier.to_owned();
    }
    let mut text = String::new();
    while let Some(row) = rows.next().transpose().expect("a CSV file") {
        let kept = row
            .iter()
            .zip(&header)
            .filter(|(_, name)| is_kept(name))
            .map(|(cell, _)| {
                let is_figure = cell.parse::<f64>().is_ok() || cell.is_empty();
                if is_figure {
                    cell.to_owned()
                } else {
                    format!("\"{}\"", cell.replace('"', "\"\""))
                }
            });
        text += &(kept.collect::<Vec<_>>().join(",") + "\n");
    }
    text
}

/// An answer with the columns that an earlier one has: columns are only added.
fn columns_of(answer: &str, earlier: &str) -> String {
    let header = |text: &str| {
        csv::Reader::from_reader(text.as_bytes())
            .headers()
            .expect("columns")
            .clone()
    };
    let (new, old) = (header(answer), header(earlier));
    if new == old {
        return answer.to_owned();
    }
    let at = |name: &str| new.iter().position(|column| column == name);
    let kept: Vec<usize> = old.iter().filter_map(at).collect();
    let mut writer = csv::WriterBuilder::new()
        .quote_style(csv::QuoteStyle::NonNumeric)
        .from_writer(Vec::new());
    let mut rows = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(answer.as_bytes())
        .into_records();
    while let Some(row) = rows.next().transpose().expect("a CSV file") {
        writer
            .write_record(kept.iter().map(|column| &row[*column]))
            .expect("a row");
    }
    String::from_utf8(writer.into_inner().expect("rows")).expect("UTF-8")
}

/// The next import goes after what is there, whether or not the file has been read before.
#[test]
fn an_import_brings_a_file_up_to_date() {
    for version in VERSIONS {
        let (_folder, path) = old_file(version);
        let old = Connection::open(&path).expect("a file");
        let columns = columns(&old);
        let own = |(name, _): &&(String, String)| {
            ["nodes", "node_costs", "edges", "function_info"].contains(&name.as_str())
        };
        let columns: Vec<_> = columns.iter().filter(own).cloned().collect();
        let before = everything(&old, &columns);
        let next = rows(&old, "SELECT COUNT(*) + 1 FROM runs");
        drop(old);
        let imported = profdb(
            &path,
            &["import", "tests/cases/folded/recursion/case.in/run.folded"],
        );
        assert_eq!(imported.status.code(), Some(0), "{}", said(&imported));
        let new = Database::open_read_only(&path).expect("it is there");
        assert_eq!(new.migrated_from(), None);
        assert_eq!(
            new.check().expect("it can be read"),
            [],
            "version {version}"
        );
        assert_eq!(rows(new.connection(), "SELECT COUNT(*) FROM runs"), next);
        for ((name, _, before), (_, _, after)) in
            before.iter().zip(everything(new.connection(), &columns))
        {
            assert!(
                before.iter().all(|row| after.contains(row)),
                "version {version}: {name}"
            );
        }
    }
}

/// Names of columns in foreign keys are a matter of the schema's text: however many rows a file
/// has, the same few pages change.
#[test]
fn rows_are_not_written_for_the_sake_of_the_schema() {
    for version in 3..LATEST {
        let changed = [1000, 40_000].map(|rows| {
            let (_folder, path) = old_file(version);
            let old = Connection::open(&path).expect("a file");
            let more = format!(
                "WITH RECURSIVE number (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM number WHERE i < {rows})
                 INSERT INTO nodes (node_id, size, depth, function_id, exclusive)
                 SELECT 1000000 + i, 0, 0, 1, i FROM number"
            );
            old.execute_batch(&more).expect("room for some rows");
            drop(old);
            let before = fs::read(&path).expect("it is there");
            let migrated = profdb(&path, &["runs"]);
            assert_eq!(migrated.status.code(), Some(0), "{}", said(&migrated));
            let after = fs::read(&path).expect("it is there");
            assert!(before.len() > rows * 20, "{} bytes", before.len());
            let same = before.chunks(4096).zip(after.chunks(4096)).filter(|(before, after)| before == after).count();
            after.len() / 4096 - same
        });
        assert_eq!(
            changed[0], changed[1],
            "version {version}: pages changed, by rows"
        );
        assert!(
            changed[0] < 64,
            "version {version}: {changed:?} pages changed"
        );
    }
}

/// What other programs have read of the schema before, they read anew.
#[test]
fn who_has_the_file_open_sees_the_new_schema() {
    let (_folder, path) = old_file(5);
    let reader = Connection::open(&path).expect("a file");
    let unnamed = "SELECT COUNT(*) FROM pragma_foreign_key_list('edges') WHERE \"to\" IS NULL";
    assert_eq!(rows(&reader, unnamed), [[Value::Integer(2)]]);
    assert_eq!(profdb(&path, &["runs"]).status.code(), Some(0));
    assert_eq!(rows(&reader, unnamed), [[Value::Integer(0)]]);
    assert_eq!(
        rows(&reader, "PRAGMA integrity_check"),
        [[Value::Text("ok".to_owned())]]
    );
    assert_eq!(rows(&reader, "PRAGMA foreign_key_check"), Rows::new());
}

/// SQLite takes a foreign key without a column for one to the primary key; others ask for the
/// column's name.
#[test]
fn foreign_keys_name_their_columns() {
    let new = Database::in_memory().expect("an empty database");
    let sql = "SELECT object.name, reference.\"table\", reference.\"to\"
               FROM sqlite_schema AS object, pragma_foreign_key_list(object.name) AS reference
               WHERE object.type = 'table'";
    let references = rows(new.connection(), sql);
    assert!(references.len() > 15, "{references:?}");
    for reference in references {
        assert_ne!(reference[2], Value::Null, "{reference:?}");
    }
}

/// A file of a later version is for a later program: whatever is asked, not a byte of it changes.
#[test]
fn a_newer_file_is_refused_untouched() {
    let (folder, path) = old_file(LATEST);
    let later = LATEST + 1;
    let raise = format!("PRAGMA user_version = {later}");
    Connection::open(&path)
        .expect("a file")
        .execute_batch(&raise)
        .expect("it can be written");
    let before = fs::read(&path).expect("it is there");
    let case = "tests/cases/folded/recursion/case.in/run.folded";
    let commands: [&[&str]; 11] = [
        &["import", case],
        &["runs"],
        &["show"],
        &["report", "summary"],
        &["delete", "1"],
        &["delete", "latest", "--yes"],
        &["tag", "1", "host=red"],
        &["runs", "--where", "latest"],
        &["sql", "SELECT 1"],
        &["check"],
        &["export", "--format", "folded"],
    ];
    for command in commands {
        let refused = profdb(&path, command);
        let expected = format!(
            "profdb: {} has schema version {later}, this profdb knows versions up to {LATEST}: use a newer profdb\n",
            path.display()
        );
        assert_eq!(
            (refused.status.code(), said(&refused)),
            (Some(5), expected),
            "{command:?}"
        );
        assert!(
            fs::read(&path).expect("it is there") == before,
            "{command:?}"
        );
        assert_eq!(
            fs::read_dir(folder.path()).expect("a folder").count(),
            1,
            "{command:?}"
        );
    }
}

/// The file says that it has a GiB of pages, in a file system of 8 MiB: a hole in it takes no room.
#[test]
fn a_file_is_not_touched_where_there_is_no_room_for_its_migration() {
    const GIB: u64 = 1 << 30;
    let folder = tempfile::tempdir().expect("a folder");
    let mut bytes = bytes_of(2);
    assert_eq!(bytes[16..18], 4096_u16.to_be_bytes(), "page size");
    bytes[28..32].copy_from_slice(&u32::try_from(GIB / 4096).expect("it fits").to_be_bytes());
    fs::write(folder.path().join("old.db"), &bytes).expect("room for a small file");
    fs::create_dir(folder.path().join("m")).expect("a folder that can be written");
    let case = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/cases/folded/recursion/case.in/run.folded"
    );
    let mount = "mount -t tmpfs -o size=8m tmpfs m";
    let commands = "cp old.db m/x.db; truncate -s 1G m/x.db; cd m
                    for command in runs \"import $1\" 'delete 1'; do \"$0\" $command --db x.db || echo $?; done 2>&1
                    ls; test \"$(head -c $2 x.db | sha256sum)\" = \"$(sha256sum <../old.db)\"; stat -c %s x.db";
    let name_space = |script: &str| {
        tools::namespace(script)
            .args([case, &bytes.len().to_string()])
            .current_dir(folder.path())
            .env_remove("PROFDB_DB")
            .output()
            .expect("it was found")
    };
    if !name_space(mount).status.success() {
        tools::skip_unsupported("mounts in a user namespace");
    }
    let done = name_space(&format!("{mount}; {commands}"));
    let shown = String::from_utf8_lossy(&done.stdout);
    let lines: Vec<&str> = shown.lines().collect();
    let [refused @ .., entry, length] = lines.as_slice() else {
        panic!("{done:?}")
    };
    assert_eq!(
        (*entry, *length, refused.len()),
        ("x.db", GIB.to_string().as_str(), 6),
        "{done:?}"
    );
    for refused in refused.chunks(2) {
        let start = format!("profdb: x.db: bringing it to schema version {LATEST} may need ");
        let rest = refused[0]
            .strip_prefix(&start)
            .unwrap_or_else(|| panic!("{done:?}"));
        let numbers: Vec<u64> = rest
            .split(' ')
            .filter_map(|word| word.parse().ok())
            .collect();
        assert!(
            matches!(numbers[..], [needed, free] if needed >= (GIB * 2) >> 20 && free < 8),
            "{rest}"
        );
        assert_eq!(refused[1], "5");
    }
}

/// Wherever the disk becomes full, and also if that kills the program, the next one finds the file
/// as it was.
#[test]
fn a_migration_that_fails_leaves_the_file_as_it_was() {
    for version in [1, 2] {
        let bytes = bytes_of(version);
        let blocks = bytes.len().div_ceil(512);
        let mut failed = 0;
        for more in (0..).step_by(16) {
            let (folder, path) = old_file(version);
            let script = format!(
                "ulimit -c 0; ulimit -f {}; exec \"$0\" runs --db \"$1\"",
                blocks + more
            );
            let tried = tools::shell()
                .args(["-c", &script, PROFDB])
                .env_remove("PROFDB_DB")
                .arg(&path)
                .output()
                .expect("a shell");
            if tried.status.success() {
                break;
            }
            failed += 1;
            assert!(more < 4 * blocks, "{}", said(&tried));
            let expected = format!(
                "profdb: {}: disk I/O error: a file would become larger than the system lets it\n",
                path.display()
            );
            assert_eq!(
                (tried.status.code(), said(&tried)),
                (Some(5), expected),
                "{more}"
            );
            assert!(
                fs::read(&path).expect("it is there") == bytes,
                "version {version}, {more}"
            );
            assert_eq!(
                fs::read_dir(folder.path()).expect("a folder").count(),
                1,
                "{more}"
            );
        }
        assert!(failed > 2, "version {version}: {failed}");
    }
}

/// Who may only read a file is told what it needs.
#[cfg(unix)]
#[test]
fn an_old_file_that_cannot_be_written_is_not_guessed_at() {
    use std::os::unix::fs::PermissionsExt;

    let (folder, path) = old_file(3);
    // The superuser may write everything: somebody else asks, who need not be allowed to run what
    // is built here.
    let program = folder.path().join("profdb");
    tools::install_program(&program);
    let mode = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("it is ours");
    };
    mode(&path, 0o444);
    mode(folder.path(), 0o555);
    let mut command = tools::command_at(&program);
    tools::drop_rights(&mut command);
    let refused = command
        .args(["report", "summary", "--db"])
        .arg(&path)
        .env_remove("PROFDB_DB")
        .output()
        .expect("it runs");
    mode(folder.path(), 0o755);
    let expected = format!(
        "profdb: {}: schema version 3 has to be brought to version {LATEST} first, and the database cannot be written: copy it \
         to where it can\n",
        path.display()
    );
    assert_eq!((refused.status.code(), said(&refused)), (Some(5), expected));
    assert!(fs::read(&path).expect("it is there") == bytes_of(3));
}
