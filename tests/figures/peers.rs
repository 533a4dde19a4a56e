//! Comparisons beside those of other programs that test repeats: edgeR (Debian: r-bioc-edger), which has other formulae and
//! has to find what we find, and benchstat, of which the figures of its own example are repeated here.

#![expect(
    clippy::cast_precision_loss,
    reason = "numbers of runs, and 53 bits of a random number"
)]

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use profdb_statistics::multiple::false_discovery_rates;
use profdb_statistics::{Figures, Shape, Sides, counts, factors::SizeFactors};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::program;
use crate::support::random::Random;
use crate::support::tools;

/// A number between 0 and 1.
fn unit(random: &mut Random) -> f64 {
    ((random.next() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
}

/// A number of the standard normal distribution (Box and Muller).
fn normal(random: &mut Random) -> f64 {
    (-2.0 * unit(random).ln()).sqrt() * (std::f64::consts::TAU * unit(random)).cos()
}

/// A count of the Poisson distribution: by Knuth's products, and of large means as sums of smaller ones.
fn poisson(random: &mut Random, mean: f64) -> f64 {
    if mean > 50.0 {
        return poisson(random, mean / 2.0) + poisson(random, mean / 2.0);
    }
    let (mut count, mut product) = (0.0, unit(random));
    while product > (-mean).exp() {
        product *= unit(random);
        count += 1.0;
    }
    count
}

/// Functions of a made-up program.
const FUNCTIONS: usize = 300;

/// Samples of functions in runs of a side: each function varies by `cv` from run to run, and every fifth one costs 1.25 to 2 times
/// as much in new.
fn counted(random: &mut Random, runs: usize, cv: f64, is_new: bool) -> Figures {
    let mut values = Vec::new();
    for function in 0..FUNCTIONS {
        let mean = 20.0 * 250_f64.powf(function as f64 / FUNCTIONS as f64);
        let ratio = match function % 15 {
            4 => 1.25,
            9 => 1.5,
            14 => 2.0,
            _ => 1.0,
        };
        let mean = if is_new { ratio * mean } else { mean };
        for _ in 0..runs {
            let varied = mean * (cv * normal(random)).exp();
            values.push(poisson(random, varied));
        }
    }
    Figures::new(runs, values)
}

/// What edgeR says of each function: probability, false discovery rate, binary logarithm of the ratio.
fn edger(sides: &Sides) -> Vec<[f64; 3]> {
    let mut text = format!("{} {}\n", sides.base.runs(), sides.new.runs());
    for function in 0..sides.functions() {
        let row = sides
            .base
            .row(function)
            .iter()
            .chain(sides.new.row(function));
        let row: Vec<String> = row.map(ToString::to_string).collect();
        let _ = writeln!(text, "{}", row.join(" "));
    }
    let mut child = tools::command("Rscript")
        .arg("tests/support/edger.R")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it was found");
    let mut input = child.stdin.take().expect("it is piped");
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().expect("its answers are text");
    writer.join().expect("no panic").expect("it reads all");
    let answers = String::from_utf8(output.stdout).expect("numbers");
    let answers: Vec<[f64; 3]> = answers
        .lines()
        .map(|line| {
            let numbers: Vec<f64> = line
                .split(' ')
                .map(|number| number.parse().expect(line))
                .collect();
            [numbers[0], numbers[1], numbers[2]]
        })
        .collect();
    assert_eq!(answers.len(), sides.functions());
    answers
}

/// The part of clear cases of which both say the same, at least.
const AGREED: f64 = 0.95;

/// Where edgeR is sure that a function has changed (false discovery rate 0.01 at most) or has no doubt that it has not
/// (probability 0.3 at least), we say the same (ours at most 0.05, or more) of 95 in a hundred or more, and ratios are within 2 %.
/// The formulae are others: edgeR's dispersion is a negative binomial one beside a quasi-likelihood.
#[test]
fn clear_changes_are_those_of_edger() {
    tools::require_r_package("edgeR", "r-bioc-edger");
    for (seed, n0, n1, cv) in [
        (1, 3, 3, 0.0),
        (2, 3, 3, 0.05),
        (3, 5, 5, 0.05),
        (4, 5, 4, 0.1),
        (5, 10, 10, 0.1),
        (6, 10, 10, 0.02),
    ] {
        let mut random = Random(seed);
        let sides = Sides {
            base: counted(&mut random, n0, cv, false),
            new: counted(&mut random, n1, cv, true),
        };
        let ours = counts::test(&sides, &SizeFactors::Given(vec![0.0; n0 + n1]));
        let rates = false_discovery_rates(&ours.iter().map(|one| one.p).collect::<Vec<_>>());
        let theirs = edger(&sides);
        let (mut clear, mut agreed) = ([0_u32, 0], [0_u32, 0]);
        for ((one, rate), [p, their_rate, log]) in ours.iter().zip(rates).zip(theirs) {
            // theirs has an eighth of a sample more on either side, shared out by the runs.
            if !matches!(one.shape, Shape::Binomial { .. }) {
                let ratio = (one.ln_ratio - log * std::f64::consts::LN_2).exp();
                assert!((ratio - 1.0).abs() < 0.02, "{seed}: {ratio}");
            }
            let class = match (p, their_rate) {
                (_, ..=0.01) => 0,
                (0.3.., _) => 1,
                _ => continue,
            };
            clear[class] += 1;
            agreed[class] += u32::from((rate <= 0.05) == (class == 0));
        }
        assert!(clear[0] > 15 && clear[1] > 100, "{seed}: {clear:?}");
        for class in [0, 1] {
            let part = f64::from(agreed[class]) / f64::from(clear[class]);
            assert!(part >= AGREED, "{seed}: {part} of {clear:?}");
        }
    }
}

/// Ten figures of base, and ten of new.
type Repeats = [[u32; 10]; 2];

/// Nanoseconds of an operation, ten times each: base and new; what benchstat says of them: medians and the probability that
/// nothing has changed, with the digits that it prints (golang.org/x/perf, cmd/benchstat/testdata: old.txt, new.txt,
/// csvOldNew.stdout).
const BENCHSTAT: [(&str, Repeats, [f64; 2], &str); 2] = [
    (
        "json",
        [
            [1726, 1723, 1707, 1707, 1713, 1729, 1736, 1707, 1705, 1774],
            [1423, 1416, 1411, 1413, 1412, 1426, 1422, 1424, 1447, 1425],
        ],
        [1718.0, 1422.5],
        "0.000",
    ),
    (
        "gob",
        [
            [3069, 3075, 3069, 3067, 3207, 3064, 3064, 3058, 3059, 3062],
            [3075, 3065, 3059, 3065, 3060, 3081, 3186, 3135, 3087, 3062],
        ],
        [3065.5, 3070.0],
        "0.446",
    ),
];

#[test]
fn medians_and_probabilities_are_those_of_benchstat() {
    let folder = TempDir::new().expect("a folder");
    for (side, name) in ["old", "new"].into_iter().enumerate() {
        fs::create_dir(folder.path().join(name)).expect("a folder");
        for run in 0..10 {
            let lines =
                BENCHSTAT.map(|(name, runs, ..)| format!("main;{name} {}\n", runs[side][run]));
            let file = folder.path().join(format!("{name}/{run}.folded"));
            fs::write(file, lines.concat()).expect("room");
        }
    }
    let output = program::command()
        .current_dir(folder.path())
        .args(["diff", "old", "new", "--test", "mwu", "--noise", "timed"])
        .args(["--min-effect", "1", "--format", "json"])
        .output()
        .expect("our own program");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let rows = answer["rows"].as_array().expect("rows");
    for (name, _, [base, new], p) in BENCHSTAT {
        let row = rows.iter().find(|row| row["function"] == name);
        let row = row.unwrap_or_else(|| panic!("{name}: {answer}"));
        assert_eq!(
            (row["base"].as_f64(), row["new"].as_f64()),
            (Some(base), Some(new))
        );
        let found = row["p"].as_f64().expect("a number");
        assert_eq!(format!("{found:.3}"), p, "{row}");
        // What benchstat writes as `~`.
        let has_changed = matches!(row["verdict"].as_str(), Some("slower" | "faster"));
        assert_eq!(has_changed, p == "0.000", "{row}");
    }
}
