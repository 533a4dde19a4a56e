//! Steps of histories whose truth is known: every change is found where it is, once, and nothing else is.

#![expect(clippy::cast_precision_loss, reason = "numbers of positions")]

use crate::support::made_runs::{self, Batches, made_up};
use profdb::base::error::Stop;
use profdb::compare::order::KEYS;
use profdb::events::{Frame, MetricId};
use profdb::events::{FunctionDef, Noise, Sample, Sink, Unit};
use profdb::history::steps::{Request, Since, State, Steps, steps};
use profdb::history::{HistoryError, history, series, steps::of_history};
use profdb::profile::TreeBuilder;
use profdb::store::{Database, Fitting, RunMeta};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use rand_distr::{Distribution, Poisson, StandardNormal};

const POSITIONS: usize = 60;

/// How figures of a history vary.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// Counts of samples, whose rate varies by 3 % as well.
    Sampled,
    /// Times with a standard deviation of 3 %.
    Timed,
    /// Counts without any.
    Exact,
}

/// What each stack costs at a position, in samples of 10 ms. Functions are called by `main`, but for `helper`.
fn truth(at: usize) -> Vec<(Vec<&'static str>, f64)> {
    let from =
        |position: usize, before: f64, after: f64| if at < position { before } else { after };
    let mut costs = vec![
        (vec!["main", "slower"], from(40, 4000.0, 5200.0)),
        (vec!["main", "steady"], 12000.0),
        (
            vec!["main", "back"],
            if (20..30).contains(&at) {
                2800.0
            } else {
                2000.0
            },
        ),
        (vec!["main", "creeping"], 3000.0 * 1.01_f64.powf(at as f64)),
        (vec!["main", "caller"], from(45, 1600.0, 2800.0)),
        (vec!["main", "caller", "helper"], from(45, 1200.0, 0.0)),
        (vec!["main", "old"], from(50, 1000.0, 0.0)),
        (vec!["main", "renamed"], from(50, 0.0, 1000.0)),
        (vec!["main", "added"], from(15, 0.0, 800.0)),
        (vec!["main", "tiny"], from(30, 10.0, 20.0)),
    ];
    costs.retain(|(_, cost)| *cost > 0.0);
    costs
}

/// A database with a history, of so many runs a commit.
fn made(kind: Kind, repeats: usize, positions: usize) -> Database {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(11);
    let mut database = Database::in_memory().expect("memory");
    for at in 0..positions {
        for _ in 0..repeats {
            let mut builder = TreeBuilder::new(Batches::default(), Stop::default());
            let (cost, samples): (MetricId, Option<MetricId>) = match kind {
                Kind::Sampled => {
                    let samples = builder.samples("samples");
                    let time = builder.metric("cpu", Unit::Nanoseconds, Noise::Sampled);
                    builder.run(profdb::events::RunFact::Observations(time, samples));
                    (time, Some(samples))
                }
                Kind::Timed => (
                    builder.metric("time", Unit::Nanoseconds, Noise::Timed),
                    None,
                ),
                Kind::Exact => (
                    builder.metric("instructions", Unit::Count, Noise::Exact),
                    None,
                ),
            };
            for (stack, mean) in truth(at) {
                let normal: f64 = StandardNormal.sample(&mut random);
                let varied = mean * (0.03 * normal).exp();
                let frames: Vec<Frame<'_>> = stack
                    .iter()
                    .map(|name| Frame::function(builder.function(FunctionDef::named(name))))
                    .collect();
                let count: f64 = match kind {
                    Kind::Sampled => Poisson::new(varied).expect("above 0").sample(&mut random),
                    Kind::Timed => varied,
                    Kind::Exact => mean.round(),
                };
                let mut values = vec![(cost, count * 1e7)];
                values.extend(samples.map(|samples| (samples, count)));
                builder.sample(Sample {
                    stack: &frames,
                    shared: 0,
                    calls: None,
                    values: &values,
                    labels: None,
                });
            }
            let tag = |key: &str, value: String| (key.to_owned(), value);
            let meta = RunMeta {
                tags: vec![
                    tag("commit", format!("c{at:02}")),
                    tag("commit_count", (100 + at).to_string()),
                ],
                ..made_up()
            };
            made_runs::write(builder, &meta, &mut database);
        }
    }
    database
}

fn request(kind: Kind) -> Request {
    Request {
        metric: (kind == Kind::Sampled).then(|| "cpu".to_owned()),
        ..Request::default()
    }
}

fn found(database: &Database, request: Request) -> Result<Steps, HistoryError> {
    let series = series(database, None, &KEYS)?.swap_remove(0);
    steps(database, series, request)
}

/// A step: name, the places that it may be at, whether the cost rises, what became of it.
type Said<'s> = (&'s str, [usize; 2], bool, State);

/// All steps; and the names of what drifts.
fn said(steps: &Steps) -> (Vec<Said<'_>>, Vec<&str>) {
    let (mut all, mut drifts) = (Vec::new(), Vec::new());
    for change in &steps.changes {
        let name = change.names[0].as_str();
        for judged in &change.steps {
            let step = &judged.step;
            all.push((
                name,
                [step.earliest, step.latest],
                step.after > step.before,
                judged.state,
            ));
        }
        drifts.extend(change.drift.as_ref().map(|_| name));
    }
    all.sort_by_key(|(name, places, ..)| (*name, *places));
    (all, drifts)
}

#[test]
fn changes_are_found_where_they_are() {
    for (kind, repeats) in [
        (Kind::Sampled, 1),
        (Kind::Timed, 1),
        (Kind::Exact, 1),
        (Kind::Timed, 3),
        (Kind::Exact, 2),
    ] {
        let database = made(kind, repeats, POSITIONS);
        let steps = found(&database, request(kind)).expect("a history");
        let (all, drifts) = said(&steps);
        let truth = [
            ("added", 15, true, State::Standing),
            ("back", 20, true, State::GoneAgain),
            ("back", 30, false, State::Standing),
            ("caller", 45, true, State::Shifted),
            ("helper", 45, false, State::Shifted),
            ("old", 50, false, State::Shifted),
            ("renamed", 50, true, State::Shifted),
            ("slower", 40, true, State::Standing),
        ];
        assert_eq!(all.len(), truth.len(), "{kind:?} {repeats}: {all:?}");
        for ((name, [earliest, latest], rises, state), expected) in all.iter().zip(truth) {
            assert_eq!(
                (*name, *rises, *state),
                (expected.0, expected.2, expected.3),
                "{kind:?} {repeats}"
            );
            let (earliest, latest) = (*earliest, *latest);
            assert!(
                earliest <= expected.1 && expected.1 <= latest && latest - earliest <= 2,
                "{kind:?} {repeats} {name}: {earliest} {latest}"
            );
        }
        assert_eq!(drifts, ["creeping"], "{kind:?} {repeats}");
        let slower = steps
            .changes
            .iter()
            .find(|change| change.names[0] == "slower")
            .expect("found");
        let (low, high) = slower.steps[0].step.interval.expect("both levels");
        assert!(
            low <= 1.3 + 1e-9 && 1.3 - 1e-9 <= high && high - low < 0.1,
            "{kind:?} {repeats}: {low} {high}"
        );
        // `tiny` is too small to be searched, and `main` has no cost of its own.
        assert_eq!((steps.tested, steps.rows), (9, 10), "{kind:?}");
    }
}

#[test]
fn what_is_asked_for_is_what_is_shown() {
    let database = made(Kind::Timed, 1, POSITIONS);
    let names = |request: Request| -> Vec<String> {
        let steps = found(&database, request).expect("a history");
        let mut names: Vec<String> = steps
            .changes
            .iter()
            .map(|change| change.names[0].clone())
            .collect();
        names.sort();
        names
    };
    let usual = Request::default;
    let since = |since| {
        names(Request {
            since: Some(since),
            ..usual()
        })
    };
    // The drift is of all positions.
    assert_eq!(since(Since::Last(12)), ["creeping", "old", "renamed"]);
    assert_eq!(
        since(Since::Commit("c45".to_owned())),
        ["caller", "creeping", "helper", "old", "renamed"]
    );
    assert_eq!(
        names(Request {
            name: Some("s*".to_owned()),
            ..usual()
        }),
        ["slower"]
    );
    assert_eq!(
        names(Request {
            name: Some("s*".to_owned()),
            all: true,
            ..usual()
        }),
        ["slower", "steady"]
    );
    assert_eq!(
        names(Request {
            min_effect: 0.35,
            ..usual()
        }),
        [
            "added", "back", "caller", "creeping", "helper", "old", "renamed"
        ]
    );
    assert_eq!(
        names(Request {
            min_share: 0.1,
            ..usual()
        }),
        ["creeping", "slower"]
    );
    assert!(
        names(Request {
            min_share: 1e-6,
            ..usual()
        })
        .contains(&"tiny".to_owned())
    );
    for (wrong, message) in [
        (
            Request {
                since: Some(Since::Commit("c".to_owned())),
                ..usual()
            },
            "several commits",
        ),
        (
            Request {
                since: Some(Since::Commit("x".to_owned())),
                ..usual()
            },
            "no commit of the series begins with",
        ),
        (
            Request {
                name: Some("nothing".to_owned()),
                ..usual()
            },
            "nothing",
        ),
        (
            Request {
                metric: Some("alloc".to_owned()),
                ..usual()
            },
            "alloc",
        ),
        // No function has one: together they would be the whole run.
        (
            Request {
                by: Fitting::Module,
                ..usual()
            },
            "no function of these runs has a module",
        ),
    ] {
        let error = found(&database, wrong).expect_err(message).to_string();
        assert!(error.contains(message), "{error}");
    }
    // The history of a function knows the same.
    let series = series(&database, None, &KEYS)
        .expect("memory")
        .swap_remove(0);
    let history =
        history(&database, series, None, Some((Fitting::Function, "back"))).expect("it is there");
    let changes = of_history(&database, &history, &usual()).expect("memory");
    let gone: Vec<Option<usize>> = changes[0]
        .steps
        .iter()
        .map(|judged| judged.step.gone_at)
        .collect();
    assert_eq!(gone, [Some(30), None]);
}

#[test]
fn short_series_say_what_they_could_have_seen() {
    let few = found(&made(Kind::Timed, 1, 7), Request::default()).expect("a history");
    assert_eq!(
        (few.changes.len(), few.blind_below, few.tested),
        (0, None, 7)
    );
    // Functions of which nothing changes within twelve commits.
    let twelve = found(&made(Kind::Timed, 1, 12), Request::default()).expect("a history");
    assert_eq!(said(&twelve).0, []);
    let blind = twelve.blind_below.expect("long enough");
    let sixty = found(&made(Kind::Timed, 1, 60), Request::default()).expect("a history");
    let sees = sixty.blind_below.expect("long enough");
    assert!(blind > sees && sees < 1.1 && blind > 1.1, "{blind} {sees}");
    // What is exact needs two.
    let exact = found(&made(Kind::Exact, 1, 2), Request::default()).expect("a history");
    assert_eq!((exact.changes.len(), exact.blind_below), (0, Some(1.05)));
}
