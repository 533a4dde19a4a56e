//! The law for runs that no format has thought of: trees, stacks, edges, and what files say of
//! functions besides.

use std::cell::RefCell;
use std::env;

use libtest_mimic::Failed;
use profdb::base::error::Stop;
use profdb::events::{EdgeCost, EdgeKind, FunctionId, Kind, MetricId};
use profdb::formats::{Confidence, Format, Options, Salvage};
use profdb::pipeline::{import, meta};
use profdb::store::Database;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::super::pages::is_the_same_without_pages;
use super::{faults_of, open};
use crate::support::long;
use crate::support::streams::{Pair, Said, Spot, Stack, Stream, definitions, streams};

/// How many runs are tried: about a minute of processor time, in a build without optimisation.
/// `LONG_TESTS=1` has [`MANY_RUNS`], `RANDOM_RUNS` asks for any other number, and `RANDOM_SEED`,
/// any text, for others than the same ones every time: a change is never refused for what it did
/// not touch. What they find joins [`found_before`].
const RUNS: usize = 95;

/// How many are tried where all of everything is asked for. They begin with the same ones.
const MANY_RUNS: usize = 2000;

/// How many parts the runs are tried in, each of which takes every so many of them.
pub(crate) const PARTS: usize = 4;

/// How often a run with a fault is made smaller at most.
const MOST_STEPS: usize = 200;

thread_local! {
    /// What the importer says next.
    static STREAM: RefCell<Option<Stream>> = const { RefCell::new(None) };
}

const RANDOM: Format = Format {
    name: "random",
    summary: "a run made at random",
    revision: 1,
    sniff: |_| Confidence::No,
    has_empty_recordings: true,
    salvage: Salvage::Importer,
    options: &[],
    import: |_, _, sink| {
        STREAM.with_borrow(|stream| stream.iter().for_each(|stream| stream.say(sink)));
        Ok(())
    },
};

/// Whether threads and the like hold functions and stand in none, and in nothing else but a thread
/// in a root, as in all files.
fn threads_hold(stream: &Stream) -> bool {
    let kind = |spot: &Spot| stream.functions[spot.function.0 as usize].kind;
    let fits = |outer: &Spot, inner: &Spot| {
        !kind(inner).is_container() || [kind(outer), kind(inner)] == [Kind::Root, Kind::Thread]
    };
    let parents = stream.forest.iter().all(|node| {
        let parent = node.parent.map(|parent| &stream.forest[parent]);
        parent.is_none_or(|parent| fits(&parent.spot, &node.spot))
    });
    let stacks = stream.samples.iter().map(|stack| &stack.frames);
    let mut pairs = stacks
        .clone()
        .flat_map(|frames| frames.iter().zip(frames.iter().skip(1)));
    parents && pairs.all(|(outer, inner)| fits(outer, inner))
}

pub(crate) fn random_runs(part: usize) -> Result<(), Failed> {
    each_random_run(
        |run| run % PARTS == part,
        |database, format| faults_of(database, format),
    )
}

/// The same runs, read from pages and by SQL.
pub(crate) fn random_runs_without_pages() -> Result<(), Failed> {
    each_random_run(
        |_| true,
        |database, _| {
            let same = is_the_same_without_pages(database);
            Ok(same
                .err()
                .and_then(|fault| fault.message().map(str::to_owned))
                .into_iter()
                .collect())
        },
    )
}

/// Tries a law on every run whose number is wanted. It is given a run, and the format that alone is asked about where a
/// run is made smaller.
fn each_random_run(
    is_wanted: impl Fn(usize) -> bool,
    faults_of: impl Fn(&mut Database, Option<&str>) -> Result<Vec<String>, Failed>,
) -> Result<(), Failed> {
    let mut runner = runner();
    let mut faults = Vec::new();
    let before = found_before().into_iter().enumerate();
    for (run, stream) in before.filter(|(run, _)| is_wanted(*run)) {
        for fault in faults_of_run(&faults_of, stream, None)? {
            faults.push(format!("run {run} of those found before: {fault}"));
        }
    }
    let trees = std::iter::from_fn(|| streams().new_tree(&mut runner).ok());
    let usual = if long::is_long() { MANY_RUNS } else { RUNS };
    let times = wish("RANDOM_RUNS").map_or(usual, |runs| runs.parse().expect("a number"));
    for (run, mut tree) in trees
        .filter(|tree| threads_hold(&tree.current()))
        .take(times)
        .enumerate()
        .filter(|(run, _)| is_wanted(*run))
    {
        let found = faults_of_run(&faults_of, tree.current(), None)?;
        if let Some(first) = found.first() {
            let smallest = smallest(&faults_of, &mut tree, &sort_of(first));
            let still = faults_of_run(&faults_of, smallest.clone(), None)?;
            faults.push(format!(
                "run {run}: {}\nsmallest: {}\n{smallest:?}",
                found.join("\n"),
                still.join("\n")
            ));
        }
    }
    if faults.is_empty() {
        Ok(())
    } else {
        Err(faults.join("\n").into())
    }
}

/// The smallest runs whose files had faults once.
fn found_before() -> Vec<Stream> {
    let spot = |function| Spot {
        function: FunctionId(function),
        line: None,
    };
    let none = Stream {
        functions: definitions(&[Kind::Function; 3]),
        metrics: 3,
        default: None,
        stated: vec![None; 3],
        forest: Vec::new(),
        samples: Vec::new(),
        edges: Vec::new(),
        infos: Vec::new(),
    };
    let stack = |frames: &[u32], calls, values: &[(MetricId, f64)]| Stack {
        frames: frames.iter().copied().map(spot).collect(),
        calls,
        values: values.to_vec(),
    };
    let said = |function, metric, costs| Said {
        spot: spot(function),
        metric: MetricId(metric),
        calls: [None; 2],
        costs,
    };
    let own_cost = EdgeCost {
        metric: MetricId(2),
        exclusive: Some(0.0),
        cumulative: None,
        outermost: None,
        seen: None,
    };
    vec![
        // Two functions of one name, one of them called an unknown number of times.
        Stream {
            samples: vec![stack(&[0, 1], Some(1), &[])],
            infos: vec![said(1, 0, [None; 3])],
            ..none.clone()
        },
        // Two of one name, one of them below 0: both may have become the one that cost nothing.
        Stream {
            samples: vec![
                stack(&[1], None, &[]),
                stack(&[0, 0], None, &[(MetricId(2), -2.75)]),
                stack(&[1, 0], None, &[(MetricId(2), 1.5)]),
            ],
            ..none.clone()
        },
        // Own cost by caller in another metric than the first.
        Stream {
            default: Some(MetricId(2)),
            edges: vec![Pair {
                callee: FunctionId(0),
                caller: Some(spot(0)),
                kind: EdgeKind::Call,
                calls: None,
                costs: vec![own_cost],
            }],
            ..none.clone()
        },
        // A part of a unit with every level of recursion counted, and nowhere else.
        Stream {
            infos: vec![said(0, 2, [None, None, Some(0.25)])],
            ..none.clone()
        },
        // Totals of which nothing else in the run says anything.
        Stream {
            stated: vec![Some(2.0), Some(3.0), Some(4.5)],
            ..none.clone()
        },
        // A total that own costs do not add up to.
        Stream {
            stated: vec![Some(0.0), None, None],
            infos: vec![said(0, 0, [Some(1.5), None, None])],
            ..none.clone()
        },
        // A function and what is none, of one name.
        Stream {
            functions: definitions(&[Kind::Function, Kind::Pseudo, Kind::Function]),
            samples: vec![
                stack(&[0], Some(1), &[(MetricId(0), 1.0)]),
                stack(&[1], Some(1), &[(MetricId(0), 2.0)]),
            ],
            ..none.clone()
        },
        // Functions of one name, which call each other only where they are one.
        Stream {
            samples: vec![stack(&[1, 2, 0], Some(1), &[])],
            ..none.clone()
        },
        // Calls that are known of some places only.
        Stream {
            samples: vec![stack(&[0, 0], Some(1), &[])],
            ..none.clone()
        },
        Stream {
            samples: vec![
                stack(&[0], None, &[]),
                stack(&[0, 2], Some(0), &[]),
                stack(&[0, 2, 0], None, &[]),
            ],
            ..none.clone()
        },
        // A root that is called, of unknown own cost.
        Stream {
            functions: definitions(&[Kind::Root, Kind::Function, Kind::Function]),
            edges: vec![Pair {
                callee: FunctionId(0),
                caller: Some(spot(2)),
                kind: EdgeKind::Call,
                calls: None,
                costs: vec![EdgeCost {
                    metric: MetricId(0),
                    exclusive: None,
                    cumulative: Some(0.5),
                    outermost: None,
                    seen: None,
                }],
            }],
            ..none.clone()
        },
        // Two threads of one name, that of functions as well.
        Stream {
            functions: definitions(&[Kind::Thread, Kind::Thread, Kind::Function, Kind::Pseudo]),
            samples: vec![
                stack(&[0, 2], Some(1), &[(MetricId(0), 1.0)]),
                stack(&[1, 3], Some(1), &[(MetricId(0), 2.0)]),
                stack(&[2], Some(1), &[(MetricId(0), 4.0)]),
            ],
            ..none.clone()
        },
        // A thread in a root, of the name of what it holds.
        Stream {
            functions: definitions(&[Kind::Root, Kind::Thread, Kind::Function]),
            samples: vec![
                stack(&[0, 1, 2], Some(1), &[(MetricId(0), 1.0)]),
                stack(&[0, 1], Some(1), &[(MetricId(0), 2.0)]),
            ],
            ..none.clone()
        },
        // A thread without a node, and unknown code with its name.
        Stream {
            functions: definitions(&[Kind::Pseudo, Kind::Thread, Kind::Function]),
            samples: vec![stack(&[0], None, &[(MetricId(0), 1.0)])],
            infos: vec![said(1, 0, [Some(2.0), None, None])],
            ..none.clone()
        },
        // Two roots with the same name: a leaf, and a root with a function.
        Stream {
            functions: definitions(&[Kind::Root, Kind::Root, Kind::Function]),
            samples: vec![
                stack(&[0], None, &[(MetricId(0), 1.0)]),
                stack(&[1, 2], None, &[(MetricId(0), 2.0)]),
            ],
            ..none.clone()
        },
        // A root that costs 4, but 0 according to the file, and a function with its name.
        Stream {
            functions: definitions(&[Kind::Root, Kind::Function, Kind::Function]),
            samples: vec![
                stack(&[0], None, &[(MetricId(0), 4.0)]),
                stack(&[1], None, &[]),
            ],
            infos: vec![said(0, 0, [Some(0.0), None, None])],
            ..none.clone()
        },
        // A root of which only the seen cost is unknown.
        Stream {
            functions: definitions(&[Kind::Root, Kind::Function, Kind::Function]),
            infos: vec![said(0, 0, [Some(0.0), Some(0.0), None])],
            ..none
        },
    ]
}

/// What the environment asks for.
#[expect(
    clippy::disallowed_methods,
    reason = "the wish of whoever runs the tests"
)]
fn wish(name: &str) -> Option<String> {
    env::var(name).ok()
}

/// Random numbers.
fn runner() -> TestRunner {
    let Some(wish) = wish("RANDOM_SEED") else {
        return TestRunner::deterministic();
    };
    let mut seed = [0; 32];
    seed.iter_mut()
        .zip(wish.bytes())
        .for_each(|(seed, byte)| *seed = byte);
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    TestRunner::new_with_rng(Config::default(), rng)
}

fn faults_of_run(
    faults_of: impl Fn(&mut Database, Option<&str>) -> Result<Vec<String>, Failed>,
    stream: Stream,
    format: Option<&str>,
) -> Result<Vec<String>, Failed> {
    STREAM.set(Some(stream));
    let options = Options::default();
    let describe = |fingerprint| meta(&RANDOM, &options, "random", fingerprint);
    let mut imported = import(
        open(b"any")?,
        &RANDOM,
        &options,
        &Stop::default(),
        describe,
        Database::in_memory,
    )?;
    faults_of(&mut imported.database, format)
}

/// Format, layout, metric and kind of a fault, without its figures.
fn sort_of(fault: &str) -> String {
    fault.split(' ').take(4).collect::<Vec<_>>().join(" ")
}

/// The smallest run found with a fault of the same sort.
fn smallest(
    faults_of: impl Fn(&mut Database, Option<&str>) -> Result<Vec<String>, Failed>,
    tree: &mut dyn ValueTree<Value = Stream>,
    sort: &str,
) -> Stream {
    let mut smallest = tree.current();
    let mut is_simpler = tree.simplify();
    for _ in 0..MOST_STEPS {
        if !is_simpler {
            break;
        }
        let stream = tree.current();
        let is_faulty = threads_hold(&stream)
            && faults_of_run(&faults_of, stream.clone(), sort.split(' ').next())
                .is_ok_and(|faults| faults.iter().any(|fault| sort_of(fault) == sort));
        is_simpler = if is_faulty {
            smallest = stream;
            tree.simplify()
        } else {
            tree.complicate()
        };
    }
    smallest
}
