//! Cost that has moved is told from changes that make up for each other by chance: random programs of which the truth is known.

#![expect(clippy::cast_precision_loss, reason = "small whole numbers")]

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::comparison::{Folder, asked, rows};
use crate::support::long;
use crate::support::random::Random;

/// Functions of a program.
const FUNCTIONS: usize = 60;

/// Runs of a side.
const RUNS: usize = 5;

/// What a run costs in nanoseconds, and in samples, which give it its noise of counting.
const TOTAL: f64 = 1e9;
const SAMPLES: f64 = 20_000.0;

/// How much functions vary from run to run beside that.
const VARIATION: f64 = 0.03;

/// A build of a program.
#[derive(Clone)]
struct Build {
    /// The caller of each function; that of the first one is itself.
    callers: Vec<usize>,
    /// Name and file of each.
    names: Vec<(String, String)>,
    /// Its own part of the cost.
    shares: Vec<f64>,
}

fn uniform(random: &mut Random) -> f64 {
    (random.next() >> 11) as f64 / (1_u64 << 53) as f64
}

/// The sum of twelve uniform numbers is nearly normal.
fn normal(random: &mut Random) -> f64 {
    (0..12).map(|_| uniform(random)).sum::<f64>() - 6.0
}

/// A program, a third of whose functions are called by the first one, and one of them with `share` of the cost.
fn program(random: &mut Random, share: f64) -> (Build, usize) {
    let callers: Vec<usize> = (0..FUNCTIONS)
        .map(|at| match random.below(3) {
            0 => 0,
            _ => random.below(at),
        })
        .collect();
    let mut shares: Vec<f64> = (0..FUNCTIONS)
        .map(|at| (at as f64 + 1.0).powf(-0.9))
        .collect();
    for at in (1..FUNCTIONS).rev() {
        shares.swap(at, random.below(at + 1));
    }
    let chosen = 1 + random.below(FUNCTIONS - 1);
    let others = shares.iter().sum::<f64>() - shares[chosen];
    for part in &mut shares {
        *part *= (1.0 - share) / others;
    }
    shares[chosen] = share;
    let names = (0..FUNCTIONS)
        .map(|at| (format!("f{at}"), format!("m{}.py", at % 6)))
        .collect();
    let build = Build {
        callers,
        names,
        shares,
    };
    (build, chosen)
}

/// A recording of a build.
fn recorded(build: &Build, random: &mut Random) -> Vec<u8> {
    let frames: Vec<Value> = build
        .names
        .iter()
        .map(|(name, file)| json!({"name": name, "file": file}))
        .collect();
    let (mut stacks, mut weights) = (Vec::new(), Vec::new());
    for (at, share) in build.shares.iter().enumerate() {
        let mean = share * SAMPLES * (VARIATION * normal(random)).exp();
        let count = mean + mean.sqrt() * normal(random);
        if *share == 0.0 || count <= 0.0 {
            continue;
        }
        let mut stack = vec![at];
        while let Some(last) = stack.last().filter(|last| **last != 0) {
            stack.push(build.callers[*last]);
        }
        stack.reverse();
        stacks.push(stack);
        weights.push((count * TOTAL / SAMPLES).round());
    }
    let total: f64 = weights.iter().sum();
    json!({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "shared": {"frames": frames},
        "profiles": [{"type": "sampled", "name": "main", "unit": "nanoseconds", "startValue": 0, "endValue": total,
                      "samples": stacks, "weights": weights}],
    })
    .to_string()
    .into_bytes()
}

/// Puts a function's calls where another one has them.
fn replace(callers: &mut [usize], function: usize, by: usize) {
    for caller in callers {
        if *caller == function {
            *caller = by;
        }
    }
}

/// Two builds, which differ by what a word says; the function that it is about. `None` if the program has no such functions.
fn changed(what: &str, share: f64, random: &mut Random) -> Option<([Build; 2], usize)> {
    let (mut base, chosen) = program(random, share);
    let mut new = base.clone();
    let caller = base.callers[chosen];
    let opposite = |base: &mut Build, new: &mut Build, other: usize, random: &mut Random| {
        let part = 0.5 * share * (0.3 * normal(random)).exp();
        base.shares[other] += part;
        new.shares[other] = (base.shares[other] - part).max(0.1 * part);
        new.shares[chosen] += 0.5 * share;
    };
    match what {
        "inlined" | "inlined and halved" => {
            let kept = if what == "inlined" { 1.0 } else { 0.5 };
            new.shares[caller] += kept * share;
            new.shares[chosen] = 0.0;
            replace(&mut new.callers, chosen, caller);
        }
        "outlined" => {
            base.shares[caller] += share;
            base.shares[chosen] = 0.0;
            replace(&mut base.callers, chosen, caller);
        }
        "renamed" => "another".clone_into(&mut new.names[chosen].0),
        "moved" => "another.py".clone_into(&mut new.names[chosen].1),
        "slower" => new.shares[chosen] *= 1.5,
        "a sibling is faster" | "another is faster" => {
            let is_sibling = what == "a sibling is faster";
            let others: Vec<usize> = (1..FUNCTIONS)
                .filter(|other| {
                    let calls = base.callers[*other] == chosen || caller == *other;
                    let is_one = base.callers[*other] == caller;
                    *other != chosen && !calls && is_one == is_sibling
                })
                .collect();
            let other = *others.get(random.below(others.len()))?;
            opposite(&mut base, &mut new, other, random);
        }
        "the caller is faster" => opposite(&mut base, &mut new, caller, random),
        what => panic!("{what} is no change"),
    }
    Some(([base, new], chosen))
}

/// How often the function that has changed is called shifted, of how often a program has such a change; and as what.
fn shifted(
    what: &str,
    share: f64,
    programs: u64,
    seed: u64,
) -> (usize, usize, BTreeMap<String, usize>) {
    let folder = Folder::new();
    let mut random = Random(seed);
    let (mut tried, mut found, mut words) = (0, 0, BTreeMap::new());
    for _ in 0..programs {
        let Some((builds, chosen)) = changed(what, share, &mut random) else {
            continue;
        };
        tried += 1;
        let mut arguments = vec!["diff".to_owned()];
        for (build, side) in builds.iter().zip(["--base", "--new"]) {
            arguments.push(side.to_owned());
            for run in 0..RUNS {
                let name = format!("{}-{run}.json", side.trim_start_matches('-'));
                arguments.push(folder.file(&name, &recorded(build, &mut random)));
            }
        }
        arguments.extend(["--noise", "timed"].map(str::to_owned));
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let answer = asked(&arguments);
        let rows = rows(&answer);
        let row = builds
            .iter()
            .find_map(|build| rows.get(&build.names[chosen]))
            .unwrap_or_else(|| panic!("{what}: {answer}"));
        if row["verdict"] == "shifted" {
            found += 1;
            let why = row["reason"].as_str().expect("a reason");
            let (word, _) = why.split_once(':').expect("a word");
            *words.entry(word.to_owned()).or_default() += 1;
        }
    }
    (found, tried, words)
}

#[test]
fn cost_that_has_moved_is_found() {
    let programs = long::repetitions("SHIFT_PROGRAMS", 3, 60);
    for (seed, what) in (1..).zip(["inlined", "outlined", "renamed", "moved"]) {
        for share in [0.05, 0.15] {
            let (found, tried, words) = shifted(what, share, programs, seed);
            assert!(
                100 * found >= 95 * tried && words.keys().all(|word| word == what),
                "{what}, {share} of the cost: {found} of {tried}, {words:?}"
            );
        }
    }
}

#[test]
fn changes_that_make_up_for_each_other_have_not_moved() {
    let programs = long::repetitions("SHIFT_PROGRAMS", 3, 60);
    let all = [
        "slower",
        "inlined and halved",
        "a sibling is faster",
        "another is faster",
        "the caller is faster",
    ];
    for (seed, what) in (11..).zip(all) {
        for share in [0.05, 0.15] {
            let (found, tried, words) = shifted(what, share, programs, seed);
            assert!(tried > 0, "{what}");
            // One in a hundred may be.
            assert!(
                100 * found <= tried,
                "{what}, {share} of the cost: {found} of {tried}, {words:?}"
            );
        }
    }
}
