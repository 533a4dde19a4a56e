//! Comparisons of two runs of which nothing tells how much they vary, and figures that are known only in part.

use std::fmt::Write as _;
use std::iter;

use profdb::compare::judge::{BURST, Limits, Matrix, Noise, Verdict, judge};
use profdb_statistics::{Figures, Sides};
use serde_json::{Value, json};

use super::comparison::{Folder, asked, number, rows, told};
use crate::support::random::Random;

/// Samples of functions as `perf script` prints them, so often each.
fn samples(counts: &[(&str, usize)]) -> Vec<u8> {
    let mut text = String::new();
    let mut at = 0;
    for (name, count) in counts {
        for _ in 0..*count {
            at += 1;
            let _ = write!(
                text,
                "app 7 100.{at:06}: 1 cycles:u: \n\t1000 {name}+0x10 (/b/app)\n\n"
            );
        }
    }
    text.into_bytes()
}

fn row(answer: &Value, name: &str) -> Value {
    let rows = answer["rows"].as_array().expect("rows");
    let mut rows = rows.iter();
    let row = rows.find(|row| row["function"] == name);
    row.unwrap_or_else(|| panic!("{name} in {answer}")).clone()
}

/// A figure that another program has found.
#[track_caller]
fn is(row: &Value, name: &str, expected: f64) {
    let found = number(row, name);
    assert!(
        (found - expected).abs() <= 1e-9 * expected.abs(),
        "{name}: {found} is not {expected}: {row}"
    );
}

/// Two counts are compared by the exact test: of both together, new has a binomial part. The figures are those of
/// `scipy.stats.binomtest(new, base + new, 0.5)`: its `pvalue`, and `x / (1 - x)` for `beta.ppf(0.025, new, base + 1)` and
/// `beta.ppf(0.975, new + 1, base)`.
#[test]
fn two_counts_are_compared_by_the_exact_test() {
    let folder = Folder::new();
    let base = [("a", 3), ("b", 100), ("c", 1), ("d", 700), ("gone", 64)];
    let new = [("a", 9), ("b", 130), ("c", 1), ("d", 601), ("new", 7)];
    let base = folder.file("base.perf", &samples(&base));
    let new = folder.file("new.perf", &samples(&new));
    let answer = asked(&["diff", &base, &new]);
    for (name, ratio, p, low, high) in EXPECTED {
        let row = row(&answer, name);
        is(&row, "ratio", ratio);
        is(&row, "p", p);
        is(&row, "ratio_low", low);
        is(&row, "ratio_high", high);
        assert_eq!(row["dispersion"], Value::Null, "{row}");
        // Nothing tells how often such a probability comes by chance.
        assert_eq!(row["q"], Value::Null, "{row}");
    }
    // What one side has not is compared as bursts of eight samples: eight to none.
    let gone = row(&answer, "gone");
    is(&gone, "p", 2.0 * 0.5_f64.powi(8));
    is(&gone, "ratio_high", 0.585_833_175_137_243_2);
    is(&gone, "dispersion", 8.0);
    assert_eq!(gone["verdict"], "gone");
    // Seven samples are no whole burst.
    let new_one = row(&answer, "new");
    is(&new_one, "p", 1.0);
    assert_eq!(new_one["verdict"], "unclear");
    let (text, err, succeeded) = told(&["diff", &folder.path("base.perf").to_string_lossy(), &new]);
    assert!(succeeded, "{err}");
    assert!(
        text.contains("only new and gone functions have verdicts"),
        "{text}"
    );
    let only = folder.file("only.perf", &samples(&[("a", 3), ("b", 90)]));
    let other = folder.file("other.perf", &samples(&[("a", 9), ("b", 95)]));
    let (text, err, succeeded) = told(&["diff", &only, &other]);
    assert!(succeeded, "{err}");
    assert!(text.contains("One run per side: no verdicts"), "{text}");
}

/// Numbers of objects are estimates from few samples, scaled up: one sample of a small object is written as 5,461. No run of two tells
/// how much they vary, and nothing may be new for their size.
#[test]
fn what_was_scaled_up_is_no_number_of_samples() {
    let folder = Folder::new();
    let heap = |event: &str, costs: [usize; 3]| {
        let mut text = format!("positions: instr line\nevents: {event}(count)\n");
        for (at, cost) in costs.iter().enumerate() {
            let _ = write!(
                text,
                "\nfl=({at}) /src/main.go\nfn=({at}) main.f{at}\n0x{at} {at} {cost}\n"
            );
        }
        text.into_bytes()
    };
    let sides = [[214_120, 5461, 0], [175_189, 0, 5461]];
    for (event, observed) in [
        ("alloc_objects", false),
        ("contentions", false),
        ("samples", true),
    ] {
        let [base, new] = [0, 1]
            .map(|at| folder.file(&format!("{event}-{at}.callgrind"), &heap(event, sides[at])));
        let answer = asked(&["diff", &base, &new, "--all"]);
        let verdict = |name: &str| row(&answer, name)["verdict"].clone();
        if observed {
            // Both files list these functions, one of them with a cost of 0.
            assert_eq!(verdict("main.f2"), "slower");
            assert_eq!(verdict("main.f1"), "faster");
        } else {
            for name in ["main.f0", "main.f1", "main.f2"] {
                let row = row(&answer, name);
                assert_eq!(row["verdict"], "unclear", "{event}: {row}");
                assert_eq!(row["ratio_low"], Value::Null, "{event}: {row}");
            }
        }
    }
    let heap = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/samples/pprof/heap.pb.gz"
    );
    let answer = asked(&["diff", heap, heap, "--metric", "inuse_objects", "--all"]);
    for (_, row) in rows(&answer) {
        assert_eq!(row["p"], Value::Null, "{row}");
    }
}

/// A recording of V8 of functions that call nothing: of each sample the function, and how many microseconds it lasts.
fn cpuprofile(samples: &[(&str, u64)]) -> Vec<u8> {
    let mut names: Vec<&str> = samples.iter().map(|(name, _)| *name).collect();
    names.sort_unstable();
    names.dedup();
    let id = |name: &str| {
        names
            .iter()
            .position(|known| *known == name)
            .expect("a name")
            + 2
    };
    let node = |id: usize, name: &str| {
        let frame = json!({
            "functionName": name, "scriptId": "1", "url": "file:///app/main.js", "lineNumber": id, "columnNumber": 0,
        });
        json!({"id": id, "callFrame": frame})
    };
    let mut nodes = vec![node(1, "(root)")];
    nodes[0]["children"] = names.iter().map(|name| id(name)).collect();
    nodes.extend(names.iter().map(|name| node(id(name), name)));
    let lengths = samples.iter().map(|(_, length)| *length);
    let ids: Vec<usize> = samples.iter().map(|(name, _)| id(name)).collect();
    // A delta is the time before its sample.
    let deltas: Vec<u64> = iter::once(0)
        .chain(lengths.clone())
        .take(ids.len())
        .collect();
    let profile = json!({
        "nodes": nodes, "startTime": 0, "endTime": lengths.sum::<u64>(), "samples": ids, "timeDeltas": deltas,
    });
    profile.to_string().into_bytes()
}

/// Samples of a file weigh what they last; how much figures vary is told by how many there are.
#[test]
fn a_long_sample_is_one_and_short_ones_are_as_many_as_they_are() {
    let folder = Folder::new();
    let times =
        |name: &'static str, count: usize, length: u64| iter::repeat_n((name, length), count);
    let work = || times("work", 900, 1000);
    let mut of_base: Vec<(&str, u64)> = work().collect();
    of_base.extend(times("wait", 1, 100_000));
    of_base.extend(times("spin", 64, 1000));
    of_base.extend(times("tick", 64, 100));
    of_base.extend(times("read", 4, 50_000));
    let mut of_new: Vec<(&str, u64)> = work().collect();
    of_new.extend(times("read", 2, 75_000));
    let base = folder.file("base.cpuprofile", &cpuprofile(&of_base));
    let new = folder.file("new.cpuprofile", &cpuprofile(&of_new));
    let answer = asked(&["diff", &base, &new]);
    // A hundred milliseconds in one sample may be a stop of the machine.
    let wait = row(&answer, "wait");
    assert_eq!(wait["verdict"], "unclear", "{wait}");
    is(&wait, "p", 1.0);
    for name in ["spin", "tick"] {
        let row = row(&answer, name);
        assert_eq!(row["verdict"], "gone", "{row}");
        assert!(number(&row, "p") < 0.02, "{row}");
    }
    // The ratio is that of the costs. Six samples are behind both sides together, however long they are.
    let read = row(&answer, "read");
    is(&read, "ratio", 0.75);
    let widest = number(&read, "ratio_high") / number(&read, "ratio_low");
    assert!(widest > 20.0, "{read}");
}

/// One sample in 250 lasts 300 times as long as the others; nothing changes.
#[test]
fn long_samples_make_nothing_new() {
    let folder = Folder::new();
    let mut random = Random(11);
    let names: Vec<String> = (0..220).map(|at| format!("f{at}")).collect();
    let mut changed = 0;
    for _ in 0..LONG_ROUNDS {
        let files: Vec<String> = (0..2)
            .map(|file| {
                let sample = |random: &mut Random| {
                    // Of most functions a recording has one sample or none.
                    let at = match random.below(10) {
                        0 => 20 + random.below(200),
                        _ => random.below(20),
                    };
                    let length = if random.below(250) == 0 {
                        300_000
                    } else {
                        1000
                    };
                    (names[at].as_str(), length)
                };
                let samples: Vec<(&str, u64)> = (0..1000).map(|_| sample(&mut random)).collect();
                folder.file(&format!("{file}.cpuprofile"), &cpuprofile(&samples))
            })
            .collect();
        let answer = asked(&["diff", &files[0], &files[1]]);
        let is_change = |row: &Value| ["new", "gone"].iter().any(|word| row["verdict"] == **word);
        changed += usize::from(rows(&answer).values().any(is_change));
    }
    assert!(changed <= LONG_ROUNDS / 20, "{changed} of {LONG_ROUNDS}");
}

const LONG_ROUNDS: usize = 20;

const EXPECTED: [(&str, f64, f64, f64, f64); 4] = [
    (
        "a",
        3.0,
        0.145_996_093_75,
        0.748_684_450_197_064_1,
        17.228_003_126_899_97,
    ),
    (
        "b",
        1.3,
        0.055_613_577_781_392_38,
        0.993_962_268_356_409_3,
        1.704_499_302_447_338_3,
    ),
    (
        "c",
        1.0,
        1.0,
        0.012_739_367_083_666_617,
        78.496_835_316_262_85,
    ),
    (
        "d",
        0.858_571_428_571_428_5,
        0.006_565_818_164_007_713,
        0.768_626_609_277_845_4,
        0.958_815_573_444_861_8,
    ),
];

/// Functions vary from run to run by a fifth, and samples come eight at a time; nothing changes. What counting alone would call a
/// change of nearly all functions makes none new or gone.
#[test]
fn two_runs_that_vary_have_nothing_new() {
    let mut random = Random(5);
    let mut with_any = 0;
    for _ in 0..ROUNDS {
        let mut side = || {
            let counts = (0..FUNCTIONS).map(|at| {
                let mean: f64 = if at < 20 { 100.0 } else { 5.0 };
                let scale = 1.0 + 0.2 * (4.0 * unit(&mut random) - 2.0);
                BURST * poisson(&mut random, mean * scale)
            });
            counts.collect::<Vec<f64>>()
        };
        let [base, new] = [side(), side()];
        let totals = [&base, &new].map(|side| vec![side.iter().sum()]);
        let costs = Sides {
            base: Figures::new(1, base),
            new: Figures::new(1, new),
        };
        let matrix = Matrix {
            counts: Some(costs.clone()),
            costs,
            totals,
            factors: None,
            are_factors_found: false,
            paired: false,
            asked: Vec::new(),
            history: None,
        };
        let judged = judge(&matrix, Noise::Sampled, &Limits::default());
        let has_verdict = judged.functions.iter().filter(|one| one.verdict.is_some());
        assert!(has_verdict.count() > 200, "most are large enough");
        let mut verdicts = judged.functions.iter().map(|function| function.verdict);
        with_any += usize::from(verdicts.any(|verdict| verdict.is_some_and(Verdict::is_change)));
    }
    assert!(with_any <= ROUNDS / 20, "{with_any} of {ROUNDS}");
}

const FUNCTIONS: usize = 300;
const ROUNDS: usize = 200;

/// A number from 0 to 1.
#[expect(clippy::cast_precision_loss, reason = "as many bits as there are")]
fn unit(random: &mut Random) -> f64 {
    (random.next() >> 11) as f64 / (1_u64 << 53) as f64
}

fn poisson(random: &mut Random, mean: f64) -> f64 {
    let (least, mut product, mut count) = ((-mean).exp(), unit(random), 0.0);
    while product > least {
        product *= unit(random);
        count += 1.0;
    }
    count
}

/// A function without a cost is not a function of a comparison. Without repeats, only exact counts are compared.
#[test]
fn what_is_tested_is_some_of_the_functions() {
    let folder = Folder::new();
    let base = folder.file("base.folded", b"main;a 3\nmain;b 7\nmain;idle;c 1\n");
    let new = folder.file("new.folded", b"main;a 5\nmain;b 8\nmain;idle;c 1\n");
    for (noise, tested) in [("exact", 3), ("sampled", 0), ("timed", 0)] {
        let flags = ["diff", &base, &new, "--noise", noise, "--min-share", "0"];
        let answer = asked(&flags);
        assert_eq!(answer["tested"], tested, "{answer}");
        let (text, err, succeeded) = told(&flags);
        assert!(succeeded, "{err}");
        let stated = format!("{tested} of 3 functions tested");
        assert!(text.contains(&stated), "{text}");
    }
}

/// Equal shares are equal figures, whatever the totals are.
#[test]
fn equal_shares_do_not_differ() {
    let folder = Folder::new();
    let counts = |times: u64| format!("a {}\nb {}\nc {}\n", times, 2 * times, 4 * times);
    let mut files = Vec::new();
    for (at, times) in [3, 7, 11, 13, 1_234_567, 89].into_iter().enumerate() {
        files.push(folder.file(&format!("{at}.folded"), counts(times).as_bytes()));
    }
    for sides in [[&files[..1], &files[1..2]], [&files[..2], &files[2..]]] {
        let mut flags = vec!["diff", "--noise", "timed", "--normalize", "total", "--base"];
        flags.extend(sides[0].iter().map(String::as_str));
        flags.push("--new");
        flags.extend(sides[1].iter().map(String::as_str));
        let answer = asked(&flags);
        for (name, row) in rows(&answer) {
            assert_eq!(row["delta"], 0.0, "{name:?}: {row}");
            assert_eq!(row["ratio"], 1.0, "{name:?}: {row}");
        }
    }
    let tree = asked(&[
        "report",
        "diff_tree",
        &files[1],
        &files[3],
        "--normalize",
        "total",
    ]);
    for place in tree["rows"].as_array().expect("rows") {
        assert_eq!(place["delta"], 0.0, "{place}");
    }
}

/// A share of the total is not known of a cost of which only bounds are.
#[test]
fn shares_of_bounds_are_unknown() {
    let folder = Folder::new();
    // Two functions of one name in one file call each other, or not: callgrind does not say.
    let program = |cost: u32| {
        format!(
            "version: 1\ncreator: callgrind-3.19.0\npositions: line\nevents: Ir\nob=app\nfl=w.c\nfn=f.part.0\n1 {cost}\n\
             cfn=g\ncalls=1 9\n2 50\n\nfn=f.part.1\n3 30\ncfn=g\ncalls=1 9\n4 70\n\nfn=g\n9 120\n"
        )
    };
    let base = folder.file("base.callgrind", program(20).as_bytes());
    let new = folder.file("new.callgrind", program(25).as_bytes());
    let answer = asked(&["diff", &base, &new, "--cumulative"]);
    let f = row(&answer, "f");
    assert!(
        number(&f, "base_cumulative_min") < number(&f, "base_cumulative_max"),
        "{f}"
    );
    for name in ["base", "new", "delta", "base_pct", "new_pct"] {
        assert_eq!(f[name], Value::Null, "{name}: {f}");
    }
    assert!(number(&row(&answer, "g"), "base_pct") > 50.0, "{answer}");
    // It may be as much as the bound is.
    let answer = asked(&["diff", &base, &new, "--cumulative", "--min-share", "20"]);
    assert_eq!(answer["rows"].as_array().map(Vec::len), Some(2), "{answer}");
}
