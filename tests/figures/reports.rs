//! Reports say with every flag what brute force says: filters, groups, callees, callers' trees,
//! paths, thresholds, order, bases of percentages and timer biases, alone and together. Costs are
//! quarters, so sums are exact and figures are compared for equality; only running sums may differ
//! in their last digits.

use std::collections::BTreeSet;

use profdb::events::Kind;
use profdb::report::{self, Argument, Base, NameSyntax, ReportError, Request, Subject, Value};
use profdb::store::Database;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::RngAlgorithm;

use crate::support::long;
use crate::support::report_model::{
    Asked, By, FILTERS, Filter, Numbers, Refusal, leaves_out_nothings, reply,
};
use crate::support::selection_model::{
    Model, Name, Operator, Path, Row, remove_definition, rows_of,
};
use crate::support::selection_runs::{Function, METRICS, Node, Place, Run, Said, runs};

/// Reports that a model answers, too. Labels have a model of their own (tests/behaviour/labels.rs); lines
/// of one function are compared with the tables (tests/behaviour/function.rs).
fn reports() -> Vec<&'static str> {
    profdb::report::REPORTS
        .iter()
        .map(|report| report.name)
        .filter(|name| !["labels", "function"].contains(name))
        .collect()
}

fn cases(few: u64, many: u64) -> ProptestConfig {
    let cases = long::repetitions("QUESTIONS", few, many);
    // The default generator, unoptimised, takes longer than everything that is tested.
    let rng_algorithm = RngAlgorithm::XorShift;
    ProptestConfig {
        cases: cases.try_into().expect("not that many"),
        rng_algorithm,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    // Each case asks 16 questions: 3,200, and more than 10,000 in the long form.
    #![proptest_config(cases(200, 640))]

    #[test]
    fn reports_agree_with_brute_force_whatever_is_asked(
        runs in vec((runs(), option::weighted(0.7, select(vec![0.0, 1.0, 2.5]))), 1..3),
        asked in vec((0..reports().len(), asked(), any::<bool>()), 16),
    ) {
        let runs: Vec<Run> = runs.into_iter().map(|(run, bias_applied)| Run { bias_applied, ..run }).collect();
        let stored = Stored::of(&runs);
        for (at, (report, asked, regex)) in asked.iter().enumerate() {
            check(&stored, at % runs.len(), &runs[at % runs.len()], reports()[*report], asked, *regex);
        }
    }
}

/// A line that costs nothing is in no totals, so that what it knows orders no rows.
#[test]
fn rows_that_are_left_out_order_no_others() {
    let line = |line, col, time, said| Node {
        parent: Some(0),
        function: 0,
        place: Some(Place {
            file: "",
            line,
            col,
        }),
        calls: None,
        own: [time, 0.0, 0.0],
        said: [said, Said::Exclusive, Said::Exclusive],
    };
    let function = Node {
        parent: None,
        place: None,
        ..line(0, 0, 0.0, Said::Exclusive)
    };
    let run = Run {
        functions: vec![Function {
            kind: Kind::Function,
            name: "A".to_owned(),
            module: "m".to_owned(),
            file: "a.apl".to_owned(),
            first_line: 0,
        }],
        nodes: vec![
            function,
            line(0, 0, 0.0, Said::Exclusive),
            line(1, 0, 1.75, Said::Exclusive),
            line(0, 4, 0.25, Said::OwnOnly),
            line(1, 0, 0.25, Said::OwnOnly),
        ],
        default: 1,
        bias_applied: None,
    };
    let stored = Stored::of(std::slice::from_ref(&run));
    for sort in ["cost", "calls", "avg", "exclusive", "cumulative", "name"] {
        let asked = Asked {
            metric: 0,
            exclusive: false,
            path: None,
            focus: None,
            ignore: None,
            hide: None,
            by: By::Function,
            sort,
            first: None,
            pct: None,
            cumpct: false,
            depth: None,
            min_pct: None,
            percent_of_selection: false,
            bias: None,
        };
        check(&stored, 0, &run, "lines", &asked, false);
    }
}

/// Runs in a database.
struct Stored {
    database: Database,
    runs: Vec<(i64, Numbers)>,
}

impl Stored {
    fn of(runs: &[Run]) -> Self {
        let mut database = Database::in_memory().expect("memory");
        let written: Vec<_> = runs
            .iter()
            .map(|run| run.write(&mut database, &Model::of(run).figures))
            .collect();
        let sql = "SELECT function_id FROM functions
                   WHERE name = ?1 AND module = ?2 AND file = ?3 AND kind = ?4 AND first_line = ?5";
        let number = |function: &Function| {
            let values = (
                &function.name,
                &function.module,
                &function.file,
                function.kind.name(),
                function.first_line,
            );
            // Functions that no node has are in no table.
            database
                .connection()
                .query_row(sql, values, |row| row.get(0))
                .unwrap_or(-1)
        };
        let numbers = |run: &Run, before| Numbers {
            before,
            functions: run.functions.iter().map(number).collect(),
        };
        let runs = runs
            .iter()
            .zip(written)
            .map(|(run, (id, before))| (id, numbers(run, before)))
            .collect();
        Self { database, runs }
    }

    fn ask(
        &self,
        at: usize,
        report: &str,
        request: &Request,
    ) -> Result<(Subject, Vec<Row>, String), ReportError> {
        let run = self
            .database
            .run(Some(self.runs[at].0))?
            .expect("it was stored");
        let report = report::by_name(report).expect("a report");
        let mut answer = report::ask(&self.database, report, &run, request)?;
        let rows = rows_of(&mut answer)?;
        let subject = answer.subject.expect("it is a report");
        Ok((subject, rows, answer.script))
    }

    /// What the statement that a report shows gives, as SQL alone has it; `None` if it is too long
    /// for this SQLite, which looks at most at so many tables: the stock shell is asked in
    /// `tests/behaviour/show_sql.rs`.
    fn shown(&self, script: &str) -> Option<Vec<Row>> {
        match report::query(&self.database, script) {
            Ok(mut answer) => {
                Some(rows_of(&mut answer).unwrap_or_else(|error| panic!("{error}: {script}")))
            }
            Err(error) => {
                let error = error.to_string();
                assert!(error.contains("nested too deep"), "{error}: {script}");
                None
            }
        }
    }
}

/// Whether a report and the statement that it shows give the same rows. Running sums are rounded
/// differently.
fn are_equal(rows: &[Row], shown: &[Row]) -> bool {
    let equal = |name: &str, found: &Value, shown: &Value| match (found, shown) {
        (Value::Real(found), Value::Real(shown)) if name == "cum_pct" => {
            (found - shown).abs() < 1e-6
        }
        (found, shown) => found == shown,
    };
    rows.len() == shown.len()
        && rows.iter().zip(shown).all(|(row, shown)| {
            row.len() == shown.len()
                && row.iter().all(|(name, value)| {
                    shown
                        .get(name)
                        .is_some_and(|shown| equal(name, value, shown))
                })
        })
}

fn check(stored: &Stored, at: usize, run: &Run, report: &'static str, asked: &Asked, regex: bool) {
    let header = report::by_name(report).expect("a report").header();
    let flags: BTreeSet<&str> = header
        .parameters
        .iter()
        .map(|parameter| parameter.name)
        .collect();
    let needs_path = header
        .parameters
        .iter()
        .any(|parameter| parameter.name == "fn" && !parameter.optional);
    let mut asked = asked.clone();
    asked.restrict(&flags, needs_path);
    let leaves_out = leaves_out_nothings(run, report, &asked);
    if leaves_out {
        // How many rows come before others is open.
        (asked.first, asked.pct) = (None, None);
    }
    let regex = regex && asked.path.is_some();
    let path = asked.path.clone();
    if let (true, Some(path)) = (regex, &mut asked.path) {
        // A regular expression means no container, whatever its name.
        let steps =
            std::iter::once(&mut path.first).chain(path.rest.iter_mut().map(|(_, name)| name));
        for name in steps {
            if let Name::Exact(text) = name {
                *name = Name::Pattern(std::mem::take(text));
            }
        }
    }
    let request = request(&asked, path.as_ref(), &flags, regex);
    let what = || format!("{report} {request:?}\n{asked:?}\nof {run:?}");
    let expected = reply(run, report, &asked, &stored.runs[at].1);
    let answer = stored.ask(at, report, &request);
    let expected = match expected {
        Ok(expected) => expected,
        Err(refusal) => {
            let found = answer.map_err(|error| match error {
                ReportError::Usage(_) => Refusal::Usage,
                ReportError::NothingSelected(_) | ReportError::NoGroups(_) => {
                    Refusal::NothingSelected
                }
                error @ (ReportError::Store(_) | ReportError::Several(_)) => {
                    panic!("{error}: {}", what())
                }
            });
            assert_eq!(found.err(), Some(refusal), "{}", what());
            return;
        }
    };
    let (subject, mut rows, script) = answer.unwrap_or_else(|error| panic!("{error}: {}", what()));
    if let Some(shown) = stored.shown(&script) {
        assert!(
            are_equal(&rows, &shown),
            "{}\nthe report gives\n{rows:?}\nits statement\n{shown:?}\n{script}",
            what()
        );
    }
    let pruned = subject
        .pruned
        .map(|pruned| (pruned.rows, pruned.cost, pruned.percent));
    let found = (Some(subject.metric.total), subject.selected, pruned);
    let sums = (Some(expected.total), expected.selected, expected.pruned);
    assert_eq!(found, sums, "total, selected, pruned: {}", what());
    let mut expected = expected.rows;
    if leaves_out {
        rows.retain(costs_something);
        expected.retain(costs_something);
    }
    for (at, (found, expected)) in rows.iter_mut().zip(&mut expected).enumerate() {
        // Nobody asks for it here.
        found.remove("code");
        // It is shown nowhere: rows of several metrics are joined by it.
        found.remove("id");
        remove_definition(found);
        let sums = (found.remove("cum_pct"), expected.remove("cum_pct"));
        let same = match &sums {
            (Some(Value::Real(found)), Some(Value::Real(expected))) => {
                (found - expected).abs() < 1e-6
            }
            // Before it may be a row that costs nothing, or none.
            (Some(Value::Null), Some(Value::Real(sum)))
            | (Some(Value::Real(sum)), Some(Value::Null)) => leaves_out && *sum == 0.0,
            (found, expected) => found == expected,
        };
        assert!(same, "row {at}: cum_pct {sums:?}: {}", what());
        if leaves_out {
            found.remove("rank");
            expected.remove("rank");
        }
        assert_eq!(found, expected, "row {at}: {}", what());
    }
    let show = |rows: &[Row]| {
        rows.iter()
            .map(|row| format!("{row:?}"))
            .collect::<Vec<_>>()
            .join("\n")
    };
    assert_eq!(
        rows.len(),
        expected.len(),
        "{}\nfound\n{}\nexpected\n{}",
        what(),
        show(&rows),
        show(&expected)
    );
}

fn costs_something(row: &Row) -> bool {
    let is_nothing =
        |value: Option<&Value>| matches!(value, None | Some(Value::Null | Value::Real(0.0)));
    !(is_nothing(row.get("exclusive")) && is_nothing(row.get("cumulative")))
}

impl Asked {
    /// Asks only what a report can be asked.
    fn restrict(&mut self, flags: &BTreeSet<&str>, needs_path: bool) {
        if needs_path
            && self
                .path
                .as_ref()
                .is_none_or(|path| matches!((&path.first, path.rest.len()), (Name::Thread(_), 0)))
        {
            self.path = Some(Path::to("B"));
        }
        let has = |flag: &str| flags.contains(flag);
        self.exclusive &= has("exclusive");
        self.focus = self.focus.filter(|_| has("focus"));
        self.ignore = self.ignore.filter(|_| has("ignore"));
        self.hide = self.hide.filter(|_| has("hide"));
        self.by = if has("by") { self.by } else { By::Function };
        self.sort = if has("sort") { self.sort } else { "cost" };
        self.first = self.first.filter(|_| has("first"));
        self.pct = self.pct.filter(|_| has("pct"));
        self.cumpct &= has("cumpct");
        self.depth = self.depth.filter(|_| has("depth"));
        self.min_pct = self.min_pct.filter(|_| has("min_pct"));
        self.bias = self
            .bias
            .filter(|_| self.metric == 0 || self.first == Some(1));
    }
}

fn request(asked: &Asked, path: Option<&Path>, flags: &BTreeSet<&str>, regex: bool) -> Request {
    let mut arguments: Vec<(&str, Argument)> = Vec::new();
    let text = |text: &str| Argument::Text(text.to_owned());
    if let Some(path) = path {
        let mut steps = path.rest.as_slice();
        let mut spelled = String::new();
        let name = |name: &Name| {
            if regex {
                regular(name.text())
            } else {
                name.text().to_owned()
            }
        };
        if let Name::Thread(thread) = &path.first {
            arguments.push(("thread", text(thread)));
            if let [(_, first), rest @ ..] = steps {
                spelled = name(first);
                steps = rest;
            }
        } else {
            spelled = name(&path.first);
        }
        for (operator, step) in steps {
            spelled.push_str(if matches!(operator, Operator::Within) {
                ","
            } else {
                " > "
            });
            spelled.push_str(&name(step));
        }
        if !spelled.is_empty() {
            arguments.push(("fn", Argument::Text(spelled)));
        }
    }
    let filters = [
        ("focus", asked.focus),
        ("ignore", asked.ignore),
        ("hide", asked.hide),
    ];
    arguments.extend(
        filters
            .iter()
            .filter_map(|(name, filter)| Some((*name, text(filter.as_ref()?.0)))),
    );
    if asked.exclusive {
        arguments.push(("exclusive", Argument::Flag));
    }
    if asked.cumpct {
        arguments.push(("cumpct", Argument::Flag));
    }
    match asked.by {
        By::Function => {}
        By::Module => arguments.push(("by", text("module"))),
        By::File => arguments.push(("by", text("file"))),
    }
    if asked.sort != "cost" {
        arguments.push(("sort", text(asked.sort)));
    }
    let counts = [("first", asked.first), ("depth", asked.depth)];
    let to_count = |count: usize| Argument::Count(count.try_into().expect("few rows"));
    arguments.extend(
        counts
            .iter()
            .filter_map(|(name, count)| Some((*name, to_count((*count)?)))),
    );
    let numbers = [("pct", asked.pct), ("min_pct", asked.min_pct)];
    arguments.extend(
        numbers
            .iter()
            .filter_map(|(name, number)| Some((*name, Argument::Number((*number)?)))),
    );
    for (name, _) in &arguments {
        assert!(
            flags.contains(name),
            "a report without --{name} is asked with it"
        );
    }
    Request {
        metric: Some(METRICS[asked.metric].0.to_owned()),
        bias: asked.bias,
        base: if asked.percent_of_selection {
            Base::Selection
        } else {
            Base::Total
        },
        names: if regex {
            NameSyntax::Regex
        } else {
            NameSyntax::Glob
        },
        all_columns: false,
        dialect: None,
        arguments: arguments
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
    }
}

/// The regular expression that means the same as a glob.
fn regular(glob: &str) -> String {
    format!("^{}$", glob.replace('*', ".*").replace('?', "."))
}

fn asked() -> impl Strategy<Value = Asked> {
    let filter = || option::weighted(0.25, select(FILTERS.to_vec()));
    let cut = prop_oneof![
        6 => Just((None, None)),
        2 => (0..4_usize).prop_map(|first| (Some(first), None)),
        1 => select(vec![0.0, 20.0, 65.0, 100.0]).prop_map(|pct| (None, Some(pct))),
    ];
    let sort = prop_oneof![
        4 => Just("cost"),
        5 => select(vec!["calls", "avg", "exclusive", "cumulative", "name"]),
    ];
    let prune = (
        option::weighted(0.3, 0..4_usize),
        option::weighted(0.3, select(vec![0.0, 5.0, 30.0])),
    );
    let by = prop_oneof![3 => Just(By::Function), 1 => Just(By::Module), 1 => Just(By::File)];
    let bias = option::weighted(0.2, select(vec![0.0, 1e-6, 2e-6]));
    let what = (
        0..METRICS.len(),
        (any::<bool>(), any::<bool>()),
        option::weighted(0.6, path()),
        prop::bool::weighted(0.3),
        bias,
    );
    (what, (filter(), filter(), filter()), (by, sort, cut, prune)).prop_map(
        |(
            (metric, (exclusive, cumpct), path, percent_of_selection, bias),
            (focus, ignore, hide),
            (by, sort, cut, prune),
        )| {
            Asked {
                metric,
                exclusive,
                path,
                focus,
                ignore,
                hide,
                by,
                sort,
                first: cut.0,
                pct: cut.1,
                cumpct,
                depth: prune.0,
                min_pct: prune.1,
                percent_of_selection,
                bias,
            }
        },
    )
}

/// Paths of up to three steps, some within a thread.
fn path() -> impl Strategy<Value = Path> {
    let exact = select(vec!["A", "A", "B", "B", "C", "C", "fa", "fb", "é", "main"]);
    let exact = exact.prop_map(|name| Name::Exact(name.to_owned()));
    let pattern =
        select(vec!["*", "f*", "?"]).prop_map(|pattern| Name::Pattern(pattern.to_owned()));
    let name = prop_oneof![4 => exact, 1 => pattern].boxed();
    let operator = prop_oneof![Just(Operator::Within), Just(Operator::Direct)];
    let thread = option::weighted(0.15, select(vec!["B", "fa"]));
    let steps = prop_oneof![5 => Just(1), 3 => Just(2), 1 => Just(3_usize)];
    (thread, vec((operator, name), 3), steps).prop_map(|(thread, mut steps, length)| {
        steps.truncate(length);
        match thread {
            None => Path {
                first: steps.remove(0).1,
                rest: steps,
            },
            Some(thread) => {
                // A thread alone is a path, too.
                steps.pop();
                if let Some(first) = steps.first_mut() {
                    first.0 = Operator::Within;
                }
                Path {
                    first: Name::Thread(thread.to_owned()),
                    rest: steps,
                }
            }
        }
    })
}

/// What is asked in prose: the expressions fit what the model says that they fit.
#[test]
fn filters_fit_what_the_model_says() {
    let fitting = |(text, _): &Filter| {
        let regex = regex::Regex::new(text).expect("an expression");
        crate::support::selection_runs::functions()
            .into_iter()
            .map(move |function| {
                [function.name, function.module, function.file]
                    .iter()
                    .any(|text| regex.is_match(text))
            })
            .collect::<Vec<_>>()
    };
    for filter in &FILTERS {
        let said: Vec<bool> = crate::support::selection_runs::functions()
            .iter()
            .map(filter.1)
            .collect();
        assert_eq!(fitting(filter), said, "{}", filter.0);
    }
}
