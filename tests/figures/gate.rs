//! How often a gate stops a build, and why: builds of programs that do not exist, whose noise is known, are judged many times, from
//! a fixed seed. docs/gate.md has the rates.

#![expect(clippy::cast_precision_loss, reason = "numbers of runs")]

use std::fmt::Write as _;

use profdb::base::error::Stop;
use profdb::compare::{ComparedRun, Request};
use profdb::events::{Frame, FunctionDef, Noise, RunFact, Sample, Sink as _, Unit};
use profdb::gate::{Answer, BaseRuns, Gate, Question, judge, read};
use profdb::input::Fingerprint;
use profdb::profile::TreeBuilder;
use profdb::store::{Database, RunMeta};
use profdb_statistics::Figures;

use crate::noise::{Cell, Draw, Kind, Rate, keep, shares_by_rank};
use crate::support::long;
use crate::support::made_runs::{self, Batches, made_up};

/// Writes runs to a database: rows are functions, columns runs. Says their numbers, in the order of commits.
fn write(database: &mut Database, kind: Kind, figures: &Figures, commits: &mut u64) -> Vec<i64> {
    let of_run = |run: usize| {
        let (unit, noise) = match kind {
            Kind::Sampled => (Unit::Count, Noise::Sampled),
            Kind::Timed => (Unit::Nanoseconds, Noise::Timed),
        };
        let mut builder = TreeBuilder::new(Batches::default(), Stop::default());
        let metric = builder.metric("cost", unit, noise);
        builder.run(RunFact::DefaultMetric(metric));
        for function in 0..figures.functions() {
            let cost = figures.row(function)[run].round();
            // What has no sample is not in the file of a sampler.
            if cost == 0.0 {
                continue;
            }
            let name = format!("work{function}");
            let id = builder.function(FunctionDef::named(&name));
            builder.sample(Sample {
                stack: &[Frame::function(id)],
                shared: 0,
                calls: None,
                values: &[(metric, cost)],
                labels: None,
            });
        }
        *commits += 1;
        let tags = [
            ("commit", format!("c{commits:08}")),
            ("commit_count", commits.to_string()),
        ];
        let meta = RunMeta {
            fingerprint: Fingerprint {
                bytes: *commits,
                sha256: [u8::try_from(*commits).expect("a few runs"); 32],
            },
            tags: tags.map(|(key, value)| (key.to_owned(), value)).into(),
            ..made_up()
        };
        made_runs::write(builder, &meta, database)
    };
    (0..figures.runs()).map(of_run).collect()
}

/// Judges runs of new by those of base, the oldest first, each of a commit of its own.
fn gated(budget: &str, kind: Kind, base: &[Figures], new: &Figures) -> Gate {
    gated_after(budget, kind, None, base, new)
}

/// The same, where base has a history.
fn gated_after(
    budget: &str,
    kind: Kind,
    earlier: Option<&Figures>,
    base: &[Figures],
    new: &Figures,
) -> Gate {
    let mut database = Database::in_memory().expect("memory");
    let mut commits = 0;
    let mut before = Vec::new();
    if let Some(earlier) = earlier {
        before = write(&mut database, kind, earlier, &mut commits);
    }
    let mut numbers = Vec::new();
    for part in base {
        numbers.extend(write(&mut database, kind, part, &mut commits));
    }
    let of_new = write(&mut database, kind, new, &mut commits);
    let runs = |numbers: &[i64]| -> Vec<ComparedRun<'_>> {
        let run = |number: &i64| {
            let run = database.run(Some(*number)).expect("it can be read");
            ComparedRun {
                database: &database,
                run: run.expect("it was written"),
                tags: database.run_head(*number).expect("it can be read").tags,
            }
        };
        numbers.iter().map(run).collect()
    };
    let question = Question {
        budget: &read(budget.as_bytes()).expect("a budget"),
        new: &runs(&of_new),
        bases: &[BaseRuns {
            runs: runs(&numbers),
            said: "made up".to_owned(),
            is_slip: false,
            earlier: Some(runs(&before)),
        }],
        base_of: &[0],
        request: &Request::default(),
        databases: &[&database],
    };
    judge(&question).expect("an answer")
}

/// Noise of times that are measured; what is asked of a cell of a number of runs is said with the draw.
fn timed(variation: f64) -> Cell {
    Cell {
        kind: Kind::Timed,
        variation,
        samples: 1e9,
        ..Cell::QUIET
    }
}

/// Ten runs of base and three of new, in which one function takes `times` as long.
fn build(draw: &mut Draw, budget: &str, cell: &Cell, slower: usize, times: f64) -> Gate {
    let base = draw.runs(cell, 10, &[], 1.0);
    let new = draw.runs(cell, 3, &[slower], times);
    gated(budget, cell.kind, &[base], &new)
}

fn fails(gate: &Gate) -> bool {
    gate.rules[0].answer == Answer::Fail
}

/// Asserts that a rate is within ten points of what it is said to be, two standard errors aside.
#[track_caller]
fn is_about(rate: &Rate, expected: f64) {
    let off = (rate.mean() - expected).abs();
    let allowed = 0.1 + 2.0 * rate.error_at(expected);
    assert!(off <= allowed, "{} is not {expected}", rate.mean());
}

/// However many functions there are, one of a hundred builds that change nothing is stopped at most; and half as much again of the
/// fifth function is found no less often than when the method was tried.
#[test]
fn any_stops_few_builds_that_change_nothing() {
    let builds = long::repetitions("NOISE", 12, 400);
    let mut table = String::new();
    let mut found = Vec::new();
    for (functions, expected) in [(40, 0.92), (400, 0.81)] {
        let mut draw = Draw::new(shares_by_rank(functions));
        let [mut unchanged, mut slower] = [Rate::default(); 2];
        for _ in 0..builds {
            let mut build = |times| build(&mut draw, "any <= +10 %", &timed(0.1), 4, times);
            unchanged.add_event(fails(&build(1.0)));
            let gate = build(1.5);
            let of_it = gate.rules[0].subjects.iter();
            let mut of_it = of_it.filter(|subject| subject.names[0] == "work4");
            slower.add_event(of_it.any(|subject| subject.answer == Answer::Fail));
        }
        let [red, power] = [&unchanged, &slower].map(|rate| 100.0 * rate.mean());
        let _ = writeln!(
            table,
            "{functions} functions: unchanged {red:.1} %, found {power:.0} %"
        );
        let is_weak = slower.mean() + 2.0 * slower.error_at(expected) < expected - 0.1;
        if is_weak || !unchanged.is_at_most(0.01) {
            found.push(functions);
        }
    }
    keep("gate_any.txt", &table);
    assert!(found.is_empty(), "{found:?}\n{table}");
}

/// A single rule about what varies by 5 %, of ten runs and three.
#[test]
fn a_change_fails_as_often_as_is_said() {
    let builds = long::repetitions("NOISE", 40, 1000);
    let mut draw = Draw::new(vec![1.0]);
    let mut table = String::new();
    let mut of = |times: f64| {
        let [mut failed, mut passed] = [Rate::default(); 2];
        let mut from = Vec::new();
        for _ in 0..builds {
            let gate = build(&mut draw, "total <= +5 %", &timed(0.05), 0, times);
            failed.add_event(fails(&gate));
            passed.add_event(gate.rules[0].answer == Answer::Pass);
            let total = &gate.rules[0].subjects[0];
            let base = total.base.expect("it is compared");
            from.push(total.fails_from.expect("it varies") / base);
        }
        let [red, green] = [&failed, &passed].map(|rate| 100.0 * rate.mean());
        let _ = writeln!(table, "x{times:.3}: fails {red:.1} %, passes {green:.1} %");
        (failed, passed, from.iter().sum::<f64>() / from.len() as f64)
    };
    let (unchanged, passed, would_fail) = of(1.0);
    let [at_limit, ten, fifteen, told] = [1.05, 1.1, 1.15, would_fail].map(|times| of(times).0);
    keep("gate_total.txt", &table);
    assert!(unchanged.is_at_most(0.01), "{table}");
    assert!(at_limit.is_at_most(0.05), "{table}");
    is_about(&passed, 0.38);
    is_about(&ten, 0.37);
    is_about(&fifteen, 0.83);
    // What is said to fail in four of five cases does.
    is_about(&told, 0.8);
}

/// After a change of +30 % was merged, innocent commits are not stopped, wherever in base it is; a further change is.
#[test]
fn base_that_moved_stops_few_innocent_builds() {
    let builds = long::repetitions("NOISE", 20, 300);
    let cell = timed(0.05);
    let mut table = String::new();
    let mut found = Vec::new();
    for slow in [1, 2, 3] {
        let mut draw = Draw::new(vec![1.0]);
        let [mut innocent, mut guilty] = [Rate::default(); 2];
        for _ in 0..builds {
            for (rate, times) in [(&mut innocent, 1.3), (&mut guilty, 1.3 * 1.3)] {
                let base = [
                    draw.runs(&cell, 10 - slow, &[], 1.0),
                    draw.runs(&cell, slow, &[0], 1.3),
                ];
                let new = draw.runs(&cell, 3, &[0], times);
                rate.add_event(fails(&gated("total <= +5 %", cell.kind, &base, &new)));
            }
        }
        let [red, power] = [&innocent, &guilty].map(|rate| 100.0 * rate.mean());
        let _ = writeln!(
            table,
            "{slow} slow: innocent {red:.1} %, guilty {power:.1} %"
        );
        if !innocent.is_at_most(0.02) || guilty.mean() < 0.7 {
            found.push(slow);
        }
    }
    keep("gate_moved.txt", &table);
    assert!(found.is_empty(), "{found:?}\n{table}");
}

/// After a program became 30 % faster, a change that takes this back is stopped, though it keeps its limit of a mixture of both;
/// innocent commits are not, nor are they where nothing has changed.
#[test]
fn what_base_has_gained_is_not_lost_unseen() {
    let builds = long::repetitions("NOISE", 20, 300);
    let cell = timed(0.05);
    let mut table = String::new();
    let mut found = Vec::new();
    for fast in [0, 3, 5] {
        let mut draw = Draw::new(vec![1.0]);
        let level = if fast == 0 { 1.0 } else { 0.7 };
        let [mut innocent, mut guilty] = [Rate::default(); 2];
        for _ in 0..builds {
            for (rate, times) in [(&mut innocent, level), (&mut guilty, 1.0)] {
                let earlier = draw.runs(&cell, 20, &[], 1.0);
                let mut base = vec![draw.runs(&cell, 10 - fast, &[], 1.0)];
                if fast > 0 {
                    base.push(draw.runs(&cell, fast, &[0], 0.7));
                }
                let new = draw.runs(&cell, 3, &[0], times);
                let budget = "total <= +20 %";
                let gate = gated_after(budget, cell.kind, Some(&earlier), &base, &new);
                rate.add_event(fails(&gate));
            }
        }
        let [red, power] = [&innocent, &guilty].map(|rate| 100.0 * rate.mean());
        let _ = writeln!(
            table,
            "{fast} fast: innocent {red:.1} %, guilty {power:.1} %"
        );
        if !innocent.is_at_most(0.01) || fast > 0 && guilty.mean() < 0.7 {
            found.push(fast);
        }
    }
    keep("gate_gained.txt", &table);
    assert!(found.is_empty(), "{found:?}\n{table}");
}

/// Of two samplings of one program each has functions that the other has missed: that makes none new.
#[test]
fn new_stops_few_builds_that_change_nothing() {
    let builds = long::repetitions("NOISE", 12, 400);
    let mut table = String::new();
    let mut found = Vec::new();
    for (functions, runs) in [(400, [3, 3]), (400, [10, 3]), (2000, [5, 5])] {
        let cell = Cell {
            samples: 1000.0,
            ..Cell::QUIET
        };
        let mut draw = Draw::new(shares_by_rank(functions));
        let [mut failed, mut has_missed] = [Rate::default(); 2];
        for _ in 0..builds {
            let [base, new] = runs.map(|runs| draw.runs(&cell, runs, &[], 1.0));
            let sum = |figures: &Figures, at: usize| figures.row(at).iter().sum::<f64>();
            let only_new = (0..functions).filter(|at| sum(&base, *at) == 0.0);
            let missed: f64 = only_new.map(|at| sum(&new, at)).sum();
            has_missed.add_event(missed > 0.01 * cell.samples * runs[1] as f64);
            failed.add_event(fails(&gated(
                "new <= 1 % of total",
                cell.kind,
                &[base],
                &new,
            )));
        }
        let [red, missed] = [&failed, &has_missed].map(|rate| 100.0 * rate.mean());
        let _ = writeln!(
            table,
            "{functions} {runs:?}: {red:.1} %; more than 1 % is only in new in {missed:.0} %"
        );
        if !failed.is_at_most(0.01) {
            found.push(functions);
        }
        if (functions, runs) == (2000, [5, 5]) {
            assert!(has_missed.mean() > 0.3, "{table}");
        }
    }
    // A function that is in all runs of new and in none of base is new.
    let base = Figures::new(3, vec![1000.0, 1010.0, 990.0, 0.0, 0.0, 0.0]);
    let new = Figures::new(3, vec![1005.0, 985.0, 1002.0, 300.0, 310.0, 290.0]);
    let gate = gated("new <= 1 % of total", Kind::Sampled, &[base], &new);
    assert!(fails(&gate), "{gate:?}");
    keep("gate_new.txt", &table);
    assert!(found.is_empty(), "{found:?}\n{table}");
}
