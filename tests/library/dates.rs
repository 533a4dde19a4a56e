//! Dates and times of profilers, in the database and in pprof.

use profdb::base::error::Stop;
use profdb::events::{RunFact, Sink as _};
use profdb::formats::export::Request;
use profdb::profile::TreeBuilder;
use profdb::store::{Database, RunInfo};

use crate::support::imports::{export_run, read_events};
use crate::support::made_runs::{Batches, made_up, write};
use crate::support::protobuf_reader::{Content, fields, gunzip};

/// Stores a run of a file that states when it was recorded.
fn store_run(recorded_at: &str, database: &mut Database) -> i64 {
    let mut builder = TreeBuilder::new(Batches::default(), Stop::default());
    builder.samples("samples");
    builder.run(RunFact::RecordedAt(recorded_at));
    write(builder, &made_up(), database)
}

#[test]
fn recording_times_of_profilers_are_sortable() {
    let table = [
        (
            "2026-11-21T09:31:02Z",
            Some("2026-11-21T09:31:02.000000000Z"),
        ),
        (
            "2026-11-21T09:31:02.25Z",
            Some("2026-11-21T09:31:02.250000000Z"),
        ),
        (
            "2026-11-21T09:31:02.1234567891Z",
            Some("2026-11-21T09:31:02.123456789Z"),
        ),
        ("2026-11-21T09:31", Some("2026-11-21T09:31:00.000000000Z")),
        (
            "2026-11-21T11:31:02+02:00",
            Some("2026-11-21T09:31:02.000000000Z"),
        ),
        (
            "2026-11-21T00:31:02+0530",
            Some("2026-11-20T19:01:02.000000000Z"),
        ),
        (
            "2026-12-31T23:31:02-03",
            Some("2027-01-01T02:31:02.000000000Z"),
        ),
        (
            "2026-11-21 11:31:02 +0200",
            Some("2026-11-21T09:31:02.000000000Z"),
        ),
        (
            "2026-11-21 09:31:02",
            Some("2026-11-21T09:31:02.000000000Z"),
        ),
        (
            "2011/03/23 22:49:19",
            Some("2011-03-23T22:49:19.000000000Z"),
        ),
        (
            "Thu Jun 19 14:02 2008",
            Some("2008-06-19T14:02:00.000000000Z"),
        ),
        (
            "Sat Nov  1 09:31:02 2026",
            Some("2026-11-01T09:31:02.000000000Z"),
        ),
        (
            "Sat Nov 21 11:31:02 2026 +0200",
            Some("2026-11-21T09:31:02.000000000Z"),
        ),
        (
            "Sat Nov 21 09:31:02 UTC 2026",
            Some("2026-11-21T09:31:02.000000000Z"),
        ),
        (
            "Sat Nov 21 09:31:02 CET 2026",
            Some("2026-11-21T09:31:02.000000000Z"),
        ),
        (
            "2016-12-31T23:59:60Z",
            Some("2017-01-01T00:00:00.000000000Z"),
        ),
        (
            "1969-12-31T23:59:59.5Z",
            Some("1969-12-31T23:59:59.500000000Z"),
        ),
        (
            "2024-02-29T00:00:00Z",
            Some("2024-02-29T00:00:00.000000000Z"),
        ),
        ("2026-02-29T00:00:00Z", None),
        ("Sat Feb 30 09:31 2026", None),
        ("2026-11-21T24:00:00Z", None),
        ("2026-11-21T09:61Z", None),
        ("2026-11-21T09:31:02+25:00", None),
        ("2026-11-21T09:31:02.Z", None),
        ("2026-11-21T09:31.5Z", None),
        ("2026-11-21", None),
        ("2026-11-21T", None),
        ("26-11-21T09:31Z", None),
        ("9999-01-01T00:00:00Z", None),
        ("Sat Nov 21 2026", None),
        ("Sam Nov 21 09:31 2026 x y", None),
        ("yesterday", None),
        ("\u{661}\u{662}:00", None),
        ("2026-11-21T09:31:02\u{e9}", None),
        ("", None),
    ];
    let mut database = Database::in_memory().expect("memory");
    for (text, expected) in table {
        let run = store_run(text, &mut database);
        let recorded: Option<String> = database
            .connection()
            .query_row(
                "SELECT recorded_utc FROM runs WHERE run_id = ?1",
                [run],
                |row| row.get(0),
            )
            .expect("a run");
        assert_eq!(recorded.as_deref(), expected, "{text}");
    }
}

/// Returns the field `time_nanos` of a profile.
fn time_nanos(profile: &[u8]) -> Option<i64> {
    let mut time = None;
    for (field, content) in fields(profile) {
        if field == 9 {
            let Content::Number(number) = content else {
                panic!("a number")
            };
            time = Some(number.cast_signed());
        }
    }
    time
}

#[test]
fn nanoseconds_since_1970_are_written_and_read() {
    let table = [
        ("1970-01-01T00:00:00Z", Some(0)),
        ("1970-01-01T00:00:00.000000001Z", Some(1)),
        ("1969-12-31T23:59:59.5Z", Some(-500_000_000)),
        ("2000-02-29T12:00:00Z", Some(951_825_600_000_000_000)),
        ("2026-11-21T18:00:00.25Z", Some(1_795_284_000_250_000_000)),
        ("2026-11-21 18:00:00", None),
        ("2026-11-21T18:00Z", None),
        ("9999-01-01T00:00:00Z", None),
        ("2024-02-29T23:59:59Z", Some(1_709_251_199_000_000_000)),
        ("2026-02-29T00:00:00Z", None),
        ("2026-02-30T00:00:00Z", None),
        ("2026-04-31T00:00:00Z", None),
        ("2026-00-10T00:00:00Z", None),
        ("2026-13-10T00:00:00Z", None),
        ("2026-01-00T00:00:00Z", None),
        ("2026-01-32T00:00:00Z", None),
        ("2026-01-31T24:00:00Z", None),
        ("2026-01-31T25:00:00Z", None),
        ("2026-01-31T23:60:00Z", None),
        ("2026-12-31T23:59:60Z", None),
        ("2026-01-31T23:59:59.+5Z", None),
        ("2026-+1-31T23:59:59Z", None),
        ("", None),
    ];
    let mut database = Database::in_memory().expect("memory");
    for (text, expected) in table {
        let run = store_run(text, &mut database);
        let run: RunInfo = database.run(Some(run)).expect("a database").expect("a run");
        let (file, _) = export_run("pprof", &database, &run, &Request::default());
        let profile = gunzip(&file);
        // 0 is the value of a field that is not there.
        let expected = expected.filter(|time| *time != 0);
        assert_eq!(time_nanos(&profile), expected, "{text}");
        let (events, result) = read_events("pprof", &file);
        result.expect("a profile");
        let recorded = events
            .iter()
            .find_map(|event| event.strip_prefix("run recorded at "));
        assert_eq!(recorded.is_some(), expected.is_some(), "{text}");
        if let Some(recorded) = recorded {
            // As it is written, it is read as the time that it is.
            let run = store_run(recorded, &mut database);
            let run = database.run(Some(run)).expect("a database").expect("a run");
            let (file, _) = export_run("pprof", &database, &run, &Request::default());
            assert_eq!(time_nanos(&gunzip(&file)), expected, "{text}");
        }
    }
}
