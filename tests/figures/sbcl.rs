//! The capture kit in `contrib/sbcl`, with Debian's SBCL: own counts of all functions, and the
//! total, are those of the profiler's own report of the same samples. Needs `sbcl` with its contrib
//! modules.

use crate::support::tools;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use profdb::base::error::Stop;
use profdb::formats::{Options, format_named};
use profdb::input::{Input, Limits};
use profdb::pipeline::{import, meta};
use profdb::store::Database;

fn imported(path: &Path) -> Database {
    let bytes = fs::read(path).expect("the workload has written it");
    let stop = Stop::default();
    let input = Input::new(Box::new(&*bytes), Limits::default(), stop.clone())
        .expect("the file is readable");
    let (format, options) = (
        format_named("sampler").expect("the format is there"),
        Options::default(),
    );
    let describe = |fingerprint| meta(format, &options, "run.trace", fingerprint);
    import(
        input,
        format,
        &options,
        &stop,
        describe,
        Database::in_memory,
    )
    .expect("what the kit writes imports")
    .database
}

/// What the profiler reports: the number of samples, and own counts by name. A name may have
/// several rows.
fn reported(report: &str) -> (f64, BTreeMap<String, f64>) {
    let total = report
        .lines()
        .find_map(|line| line.strip_prefix("Number of samples:"))
        .expect("a total");
    let mut own = BTreeMap::new();
    let (_, rows) = report.split_once("------\n").expect("rows");
    for row in rows.lines() {
        let words: Vec<&str> = row.split_whitespace().collect();
        match *words.as_slice() {
            [count, _, "elsewhere"] => {
                *own.entry("(no debug info)".to_owned()).or_insert(0.0) += number(count);
            }
            // Rank, own count and %, total count and %, running sum and %, calls; the rest is the
            // name, blanks and all.
            [_, count, _, _, _, _, _, calls, _, ..] => {
                let (_, name) = row.split_once(&format!(" {calls}  ")).expect("a name");
                *own.entry(name.to_owned()).or_insert(0.0) += number(count);
            }
            _ => {}
        }
    }
    own.retain(|_, count| *count != 0.0);
    (number(total.trim()), own)
}

fn number(text: &str) -> f64 {
    text.parse().unwrap_or_else(|_| panic!("a number: {text}"))
}

#[test]
fn own_counts_are_those_of_the_profiler() {
    let mut sbcl = tools::command("sbcl");
    let folder = tempfile::tempdir().expect("a folder");
    let script = [
        "--script",
        "tests/sbcl/workload.lisp",
        "contrib/sbcl/profdb-capture.lisp",
    ];
    let ran = sbcl
        .args(script)
        .arg(folder.path())
        .output()
        .expect("it was found");
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    assert_eq!(
        String::from_utf8_lossy(&ran.stderr),
        "",
        "warnings of the kit"
    );
    for mode in ["cpu", "alloc"] {
        let database = imported(&folder.path().join(mode).with_extension("trace"));
        let report =
            fs::read_to_string(folder.path().join(mode).with_extension("flat")).expect("a report");
        let (total, own) = reported(&report);
        assert!(total > 50.0, "{mode}: {total} samples");
        let sql =
            "SELECT function, SUM(exclusive) FROM summary WHERE exclusive <> 0 GROUP BY function";
        let mut statement = database.connection().prepare(sql).expect("a view");
        let rows = statement
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .expect("rows");
        let found: BTreeMap<String, f64> = rows.collect::<Result<_, _>>().expect("rows");
        assert_eq!(found, own, "{mode}");
        let sum: f64 = found.values().sum();
        let stored: f64 = database
            .connection()
            .query_row("SELECT total FROM metrics", [], |row| row.get(0))
            .expect("a metric");
        // The profiler's number also counts samples that it had to drop.
        assert_eq!(
            stored.to_bits(),
            sum.to_bits(),
            "{mode}: {stored} and {sum}"
        );
        assert!(sum <= total, "{mode}: {sum} of {total}");
        let threads = "SELECT COUNT(*) FROM functions WHERE kind = 'thread' AND (name LIKE 'main thread (%)' OR name LIKE 'clerk \"2\" (%)')";
        let threads: i64 = database
            .connection()
            .query_row(threads, [], |row| row.get(0))
            .expect("a count");
        assert_eq!(threads, 2, "{mode}");
    }
}
