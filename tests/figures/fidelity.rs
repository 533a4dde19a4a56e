//! What is asked of runs that know no paths: what totals and edges can tell is told, everything
//! else is refused with what can be had instead.

use profdb::base::error::Stop;
use profdb::events::{
    Edge, EdgeCost, EdgeKind, Fidelity, Frame, FunctionDef, FunctionId, Info, MetricId, Noise,
    RunFact, Sink, Unit,
};
use profdb::profile::TreeBuilder;
use profdb::report::{self, Argument, REPORTS, ReportError, Request, Value};
use profdb::store::{Database, RunMeta, StoreError};

use crate::support::made_runs::{self, Batches, made_up};

/// Name, module and own cost.
const FUNCTIONS: [(&str, &str, f64); 4] = [
    ("a", "m", 1.0),
    ("b", "m", 2.0),
    ("c", "n", 5.0),
    ("d", "n", 0.5),
];

/// Caller, callee, calls, the callee's own cost and its cost with what it called.
const EDGES: [(Option<usize>, usize, u64, f64, f64); 5] = [
    (None, 0, 1, 1.0, 8.5),
    (Some(0), 1, 2, 2.0, 4.0),
    (Some(0), 2, 3, 3.0, 3.0),
    (Some(0), 3, 1, 0.5, 0.5),
    (Some(1), 2, 2, 2.0, 2.0),
];

/// A run that knows who called whom, and one that knows totals only.
fn database() -> Database {
    let mut database = Database::in_memory().expect("memory");
    for fidelity in [Fidelity::Edges, Fidelity::Flat] {
        let mut builder = TreeBuilder::new(Batches::default(), Stop::default());
        say(&mut builder, fidelity);
        let meta = RunMeta {
            source_name: fidelity.name().to_owned(),
            ..made_up()
        };
        made_runs::write(builder, &meta, &mut database);
    }
    assert_eq!(database.broken_rules().expect("memory"), []);
    // Else `profdb check` takes ten times as long.
    assert!(database.is_as_recounted().expect("memory"));
    database
}

fn say(sink: &mut dyn Sink, fidelity: Fidelity) {
    sink.run(RunFact::Fidelity(fidelity));
    let metric: MetricId = sink.metric("time", Unit::Nanoseconds, Noise::Unknown);
    let functions: Vec<FunctionId> = FUNCTIONS
        .iter()
        .map(|(name, module, _)| {
            sink.function(FunctionDef {
                module,
                ..FunctionDef::named(name)
            })
        })
        .collect();
    for (at, (_, _, own)) in FUNCTIONS.iter().enumerate() {
        let arrivals = EDGES.iter().filter(|edge| edge.1 == at);
        let info = Info {
            frame: Frame::function(functions[at]),
            metric,
            calls: Some(arrivals.clone().map(|edge| edge.2).sum()),
            primitive: None,
            exclusive: Some(*own),
            cumulative: Some(arrivals.map(|edge| edge.4).sum()),
            seen: None,
        };
        sink.info(info);
    }
    if fidelity == Fidelity::Flat {
        return;
    }
    for (caller, callee, calls, own, all) in EDGES {
        let cost = EdgeCost {
            metric,
            exclusive: Some(own),
            cumulative: Some(all),
            outermost: Some(all),
            seen: Some(all),
        };
        sink.edge(Edge {
            callee: functions[callee],
            caller: caller.map(|caller| Frame::function(functions[caller])),
            kind: EdgeKind::Call,
            calls: Some(calls),
            costs: &[cost],
        });
    }
}

/// Selected cost, and of every row the first column that is a name, calls, exclusive and cumulative
/// cost.
type Told = (
    Option<f64>,
    Vec<(String, Option<i64>, Option<f64>, Option<f64>)>,
);

fn ask(
    database: &Database,
    run: &str,
    report: &str,
    flags: &[(&str, &str)],
) -> Result<Told, ReportError> {
    let set = run.parse().expect("a title");
    let (run, _) = database.choose_one(&set).expect("it was stored");
    let argument =
        |(name, value): &(&str, &str)| ((*name).to_owned(), Argument::Text((*value).to_owned()));
    let request = Request {
        arguments: flags.iter().map(argument).collect(),
        ..Request::default()
    };
    let mut answer = report::ask(
        database,
        report::by_name(report).expect("a report"),
        &run,
        &request,
    )?;
    let names: Vec<String> = answer
        .columns
        .iter()
        .map(|column| column.name.to_string())
        .collect();
    let place = |wanted: &[&str]| {
        names
            .iter()
            .position(|name| wanted.contains(&name.as_str()))
            .expect("a column")
    };
    let name = place(&["function", "element"]);
    let [calls, exclusive, cumulative] =
        ["calls", "exclusive", "cumulative"].map(|name| place(&[name]));
    let mut rows = Vec::new();
    answer.each(|row| {
        let real = |value: &Value| {
            if let Value::Real(figure) = value {
                Some(*figure)
            } else {
                None
            }
        };
        let Value::Text(name) = &row[name] else {
            panic!("a name is text: {row:?}")
        };
        let calls = if let Value::Integer(calls) = row[calls] {
            Some(calls)
        } else {
            None
        };
        rows.push((
            name.clone(),
            calls,
            real(&row[exclusive]),
            real(&row[cumulative]),
        ));
        Ok::<_, StoreError>(())
    })?;
    Ok((answer.subject.expect("it is a report").selected, rows))
}

#[test]
fn edges_tell_who_called_whom() {
    let database = database();
    let row = |name: &str, calls, exclusive, cumulative| {
        (name.to_owned(), Some(calls), Some(exclusive), cumulative)
    };
    let table = [
        (
            "summary",
            vec![("fn", "b")],
            Some(4.0),
            vec![row("b", 2, 2.0, Some(4.0))],
        ),
        (
            "summary",
            vec![("by", "module"), ("sort", "name")],
            None,
            vec![row("m", 3, 3.0, None), row("n", 6, 5.5, None)],
        ),
        (
            "summary",
            vec![("by", "module"), ("fn", "b")],
            Some(4.0),
            vec![row("m", 2, 2.0, Some(4.0))],
        ),
        (
            "calls",
            vec![("fn", "c")],
            Some(5.0),
            vec![row("a", 3, 3.0, Some(3.0)), row("b", 2, 2.0, Some(2.0))],
        ),
        (
            "calls",
            vec![("fn", "c"), ("by", "module")],
            Some(5.0),
            vec![row("m", 5, 5.0, Some(5.0))],
        ),
        (
            "calls",
            vec![("fn", "a")],
            Some(8.5),
            vec![row("(root)", 1, 1.0, Some(8.5))],
        ),
        (
            "callees",
            vec![("fn", "a")],
            Some(8.5),
            vec![
                row("b", 2, 2.0, Some(4.0)),
                row("c", 3, 3.0, Some(3.0)),
                row("d", 1, 0.5, Some(0.5)),
            ],
        ),
        // Functions that call each other have no sum, and are answered for one by one.
        (
            "callees",
            vec![("fn", "*")],
            None,
            vec![
                row("b", 2, 2.0, Some(4.0)),
                row("c", 3, 3.0, Some(3.0)),
                row("d", 1, 0.5, Some(0.5)),
                row("c", 2, 2.0, Some(2.0)),
            ],
        ),
        (
            "summary",
            vec![("fn", "*")],
            None,
            vec![
                row("a", 1, 1.0, Some(8.5)),
                row("c", 5, 5.0, Some(5.0)),
                row("b", 2, 2.0, Some(4.0)),
                row("d", 1, 0.5, Some(0.5)),
            ],
        ),
        // What was spent in several functions of a module together takes paths: own costs are shown
        // instead, and sort the rows.
        (
            "callees",
            vec![("fn", "a"), ("by", "module")],
            Some(8.5),
            vec![row("n", 4, 3.5, None), row("m", 2, 2.0, Some(4.0))],
        ),
    ];
    for (report, flags, selected, rows) in table {
        let told = ask(&database, "edges", report, &flags)
            .unwrap_or_else(|error| panic!("{report} {flags:?}: {error}"));
        assert_eq!(told, (selected, rows), "{report} {flags:?}");
    }
}

/// Report, flags, and a part of what is said.
type Refused<'t> = (&'t str, &'t [(&'t str, &'t str)], &'t str);

#[test]
fn what_needs_paths_is_refused_with_what_can_be_had() {
    let database = database();
    let filters = "has no call paths; --label, --focus, --ignore and --hide need call paths";
    let paths = "has no call paths; --fn takes the name of a function here";
    let table: &[Refused<'_>] = &[
        ("tree", &[], "needs the call tree"),
        ("bottom_up", &[], "needs the call tree"),
        ("bottom_up", &[("fn", "a")], "needs the call tree"),
        ("paths", &[], "needs the call tree"),
        ("summary", &[("focus", "a")], filters),
        ("summary", &[("ignore", "a")], filters),
        ("lines", &[("hide", "a")], filters),
        ("summary", &[("fn", "a,b")], paths),
        ("data", &[("fn", "a>b")], paths),
    ];
    let with_callers: &[Refused<'_>] = &[
        ("calls", &[("fn", "a>b")], paths),
        ("callees", &[("fn", "a"), ("focus", "b")], filters),
        ("tree", &[], "Try calls, callees, summary"),
    ];
    let without_callers: &[Refused<'_>] = &[
        ("calls", &[("fn", "a")], "needs callers"),
        ("call_lines", &[("fn", "a")], "needs callers"),
        ("callees", &[("fn", "a"), ("by", "module")], "needs callers"),
        ("tree", &[], "run 2 has totals only. Try summary or data"),
    ];
    for (run, special) in [("edges", with_callers), ("flat", without_callers)] {
        for (report, flags, reason) in table.iter().chain(special) {
            let what = format!("{report} {flags:?} of {run}");
            match ask(&database, run, report, flags) {
                Err(ReportError::NothingSelected(message)) => {
                    assert!(message.contains(reason), "{what}: {message}");
                }
                other => panic!("{what}: {other:?}"),
            }
        }
    }
}

/// Whatever a run knows, a report answers or says why not.
#[test]
fn every_report_answers_or_says_why_not() {
    let database = database();
    for run in ["edges", "flat"] {
        let set = run.parse().expect("a title");
        let (known, _) = database.choose_one(&set).expect("it was stored");
        for report in REPORTS {
            for flags in [
                vec![],
                vec![("fn", "a")],
                vec![("by", "module")],
                vec![("by", "module"), ("fn", "a")],
            ] {
                let argument = |(name, value): &(&str, &str)| {
                    ((*name).to_owned(), Argument::Text((*value).to_owned()))
                };
                let request = Request {
                    arguments: flags.iter().map(argument).collect(),
                    ..Request::default()
                };
                if let Err(error @ ReportError::Store(_)) =
                    report::ask(&database, report, &known, &request)
                {
                    panic!("{} {flags:?} of {run}: {error}", report.name);
                }
            }
        }
    }
}
