//! Files in callgrind's format that other profilers wrote, in `tests/samples/callgrind/`: own and
//! cumulative cost of every function against those profilers' own figures (`.truth.tsv`), and what
//! the file does not tell.

use std::collections::BTreeMap;

use crate::support::samples_of::{bytes, imported, rows, text};

struct Writer {
    name: &'static str,
    metric: &'static str,
    /// Functions of which the file does not tell the cumulative cost, as they call each other in
    /// circles.
    circles: usize,
    /// Those of them whose own cost is not in the file.
    without_own: usize,
    /// Functions whose callers paid more than what they and their calls cost, as far as the file
    /// says it.
    paid_more: usize,
}

const WRITERS: [Writer; 7] = [
    Writer {
        name: "gperftools",
        metric: "Hits",
        circles: 2,
        without_own: 0,
        paid_more: 0,
    },
    Writer {
        name: "nytprof",
        metric: "Ticks",
        circles: 0,
        without_own: 0,
        paid_more: 10,
    },
    Writer {
        name: "pprofile",
        metric: "microseconds",
        circles: 2,
        without_own: 0,
        paid_more: 30,
    },
    Writer {
        name: "ruby-prof-main",
        metric: "wall_time",
        circles: 6,
        without_own: 0,
        paid_more: 4,
    },
    Writer {
        name: "ruby-prof-thread",
        metric: "wall_time",
        circles: 2,
        without_own: 0,
        paid_more: 2,
    },
    Writer {
        name: "stackprof",
        metric: "Instructions",
        circles: 9,
        without_own: 4,
        paid_more: 0,
    },
    Writer {
        name: "yappi",
        metric: "Ticks",
        circles: 2,
        without_own: 0,
        paid_more: 56,
    },
];

/// File and function; subroutines of Perl, and functions in the reports of gperftools, are known by
/// their names.
type Key = (String, String);

struct Figures {
    exclusive: Option<f64>,
    cumulative: Option<f64>,
    calls: Option<i64>,
}

#[test]
fn figures_of_the_profilers_themselves() {
    for Writer {
        name,
        metric,
        circles,
        without_own,
        ..
    } in &WRITERS
    {
        let database = imported("callgrind", &bytes(&format!("callgrind/{name}.callgrind")));
        let mut found: BTreeMap<Key, Figures> = BTreeMap::new();
        let sql = format!(
            "SELECT file, function, exclusive, cumulative, calls FROM summary WHERE metric = '{metric}'"
        );
        let by_name = matches!(*name, "gperftools" | "nytprof");
        for (file, function, exclusive, cumulative, calls) in rows(&database, &sql, |row| {
            Ok((
                row.get::<_, String>(0)?,
                row.get(1)?,
                row.get(2)?,
                row.get(3)?,
                row.get(4)?,
            ))
        }) {
            let key = (if by_name { String::new() } else { file }, function);
            assert!(
                found
                    .insert(
                        key,
                        Figures {
                            exclusive,
                            cumulative,
                            calls
                        }
                    )
                    .is_none(),
                "{name}: a function twice"
            );
        }
        // Each figure of the file is cut or rounded by itself.
        let mut called: BTreeMap<String, f64> = BTreeMap::new();
        let mut calls: BTreeMap<String, f64> = BTreeMap::new();
        let pairs = format!("SELECT caller, function FROM call_lines WHERE metric = '{metric}'");
        for (caller, callee) in rows(&database, &pairs, |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
        }) {
            *calls.entry(caller).or_default() += 1.0;
            *called.entry(callee).or_default() += 1.0;
        }
        let (mut compared, mut unknown, mut own_unknown) = (0, 0, 0);
        let truth = text(&format!("callgrind/{name}.truth.tsv"));
        for line in truth.lines().skip(1) {
            let (file, function, exclusive, cumulative, all_calls) =
                match line.split('\t').collect::<Vec<_>>()[..] {
                    [file, function, exclusive, cumulative] => {
                        (file, function, exclusive, cumulative, None)
                    }
                    [file, function, exclusive, cumulative, calls] => (
                        file,
                        function,
                        exclusive,
                        cumulative,
                        Some(calls.parse::<i64>().expect("calls")),
                    ),
                    _ => panic!("{name}: {line}"),
                };
            let ours = &found[&(file.to_owned(), function.to_owned())];
            let figure = |text: &str| {
                text.parse::<f64>()
                    .unwrap_or_else(|_| panic!("{name}: {line}"))
            };
            match ours.exclusive {
                Some(own) => assert!(
                    (own - figure(exclusive)).abs() <= 1.0,
                    "{name}: own cost {own} of {line}"
                ),
                None => own_unknown += 1,
            }
            if cumulative.is_empty() {
                continue;
            }
            let (known, cumulative) = (ours.cumulative, figure(cumulative));
            let of = |sums: &BTreeMap<String, f64>| sums.get(function).copied().unwrap_or(0.0);
            let Some(known) = known else {
                unknown += 1;
                continue;
            };
            let all_callers =
                of(&called) > 0.0 && all_calls.is_none_or(|calls| ours.calls == Some(calls));
            if all_callers {
                let rounding = 1.0 + of(&called) + of(&calls);
                assert!(
                    (known - cumulative).abs() <= rounding,
                    "{name}: {known} for {line}"
                );
            } else {
                // Some callers are not in the file, and of its calls some may not be either.
                assert!(
                    known <= cumulative + 1.0 + of(&called) + of(&calls),
                    "{name}: {known} for {line}"
                );
            }
            compared += 1;
        }
        assert_eq!((unknown, own_unknown), (*circles, *without_own), "{name}");
        assert!(compared >= 8, "{name}: {compared} functions");
    }
}

/// What callers paid is what functions cost, all that is not so is said, and no table of names
/// makes a function.
#[test]
fn notes_and_functions() {
    for Writer {
        name,
        circles,
        paid_more,
        ..
    } in &WRITERS
    {
        let database = imported("callgrind", &bytes(&format!("callgrind/{name}.callgrind")));
        let notes = rows(&database, "SELECT message FROM notes", |row| {
            row.get::<_, String>(0)
        });
        let count = |what: &str| {
            let note = notes.iter().find(|note| note.contains(what));
            note.map_or(0, |note| {
                note.split(' ')
                    .next()
                    .and_then(|count| count.parse().ok())
                    .expect("a count")
            })
        };
        assert_eq!(
            count("functions are in call cycles"),
            *circles,
            "{name}: {notes:?}"
        );
        assert!(
            count("the callers' sums") >= *paid_more,
            "{name}: {notes:?}"
        );
        let truth = text(&format!("callgrind/{name}.truth.tsv")).lines().count() - 1;
        let functions = rows(
            &database,
            "SELECT COUNT(DISTINCT function_id) FROM summary",
            |row| row.get::<_, i64>(0),
        );
        // Code that is in no subroutine or was running before the profiler began has a row here,
        // and none there.
        let functions = usize::try_from(functions[0]).expect("a count");
        assert!(
            (truth..=truth + 2).contains(&functions),
            "{name}: {functions} of {truth}"
        );
    }
}

/// Of pprofile's three events one counts what is no cost of calls, and one adds up to nothing.
#[test]
fn events_of_pprofile() {
    let database = imported("callgrind", &bytes("callgrind/pprofile.callgrind"));
    let metrics = "SELECT name, metric_id = default_metric_id FROM metrics JOIN runs USING (run_id) ORDER BY position";
    let metrics = rows(&database, metrics, |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, bool>(1)?))
    });
    assert_eq!(
        metrics,
        [
            ("hits".to_owned(), false),
            ("microseconds".to_owned(), true)
        ]
    );
    let hits = "SELECT COUNT(*), COUNT(cumulative) FROM callees WHERE metric = 'hits'";
    let hits = rows(&database, hits, |row| {
        Ok((row.get::<_, i64>(0)? > 50, row.get::<_, i64>(1)?))
    });
    assert_eq!(hits, [(true, 0)]);
}

/// The numbers of calls are numbers of samples there: nobody counted calls.
#[test]
fn calls_of_gperftools() {
    let database = imported("callgrind", &bytes("callgrind/gperftools.callgrind"));
    let known = "SELECT COUNT(*), COUNT(calls) FROM summary UNION ALL SELECT COUNT(*), COUNT(calls) FROM callees";
    let known = rows(&database, known, |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?))
    });
    assert_eq!(known, [(12, 0), (17, 0)]);
}
