//! Which folders comparisons take for one: programs of packages with common names, sampled twice, whose sources have moved or not.

#![expect(clippy::cast_precision_loss, reason = "small whole numbers")]

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::comparison::{Folder, asked, rows};
use crate::support::random::Random;

const FILES: [&str; 5] = ["utils.py", "__init__.py", "core.py", "base.py", "models.py"];
const NAMES: [&str; 10] = [
    "run", "__init__", "get", "main", "parse", "load", "save", "close", "__call__", "update",
];

/// Functions of 25 packages: two of five have a name that others have.
fn program(random: &mut Random) -> Vec<(String, String)> {
    let mut functions = BTreeSet::new();
    while functions.len() < 400 {
        let name = if random.below(5) < 3 {
            format!("f{}", random.below(5000))
        } else {
            NAMES[random.below(10)].to_owned()
        };
        let file = if random.below(5) < 3 {
            FILES[random.below(5)].to_owned()
        } else {
            format!("m{}.py", random.below(40))
        };
        functions.insert((name, format!("pkg{}/{file}", random.below(25))));
    }
    let mut functions: Vec<(String, String)> = functions.into_iter().collect();
    for at in (1..functions.len()).rev() {
        functions.swap(at, random.below(at + 1));
    }
    functions
}

/// A sampling in which the first functions have most samples (a law of Zipf), with each file where it now is.
fn sampled(
    program: &[(String, String)],
    samples: usize,
    random: &mut Random,
    place: impl Fn(&str) -> String,
) -> Vec<u8> {
    let mut below = Vec::new();
    let mut sum = 0.0;
    for at in 0..program.len() {
        sum += 1.0 / (at as f64 + 1.0);
        below.push(sum);
    }
    let mut counts: BTreeMap<usize, u64> = BTreeMap::new();
    for _ in 0..samples {
        let chance = random.below(1_000_000) as f64 / 1e6 * sum;
        *counts
            .entry(below.partition_point(|below| *below <= chance))
            .or_default() += 1;
    }
    let frames: Vec<Value> = program
        .iter()
        .map(|(name, file)| json!({"name": name, "file": place(file)}))
        .collect();
    let (stacks, weights): (Vec<[usize; 1]>, Vec<u64>) = counts
        .into_iter()
        .map(|(at, count)| ([at], 1_000_000 * count))
        .unzip();
    json!({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "shared": {"frames": frames},
        "profiles": [{"type": "sampled", "name": "m", "unit": "nanoseconds", "startValue": 0,
                      "endValue": weights.iter().sum::<u64>(), "samples": stacks, "weights": weights}],
    })
    .to_string()
    .into_bytes()
}

#[test]
fn folders_are_one_only_where_sources_have_moved() {
    let folder = Folder::new();
    // Packages from the twentieth on are a library elsewhere.
    let is_library = |file: &str| file.starts_with("pkg2") && !file.starts_with("pkg2/");
    let there = |root: &str, library: &str, file: &str| {
        format!("{}/{file}", if is_library(file) { library } else { root })
    };
    for (case, root, library) in [
        ("nothing moved", "/srv/app", "/usr/lib/site"),
        ("the checkout moved", "/ci/work/7", "/usr/lib/site"),
        ("both moved", "/ci/work/7", "/opt/venv"),
    ] {
        for (seed, samples) in [500, 2000, 10_000].into_iter().cycle().take(12).enumerate() {
            let mut random = Random(1200 + seed as u64);
            let program = program(&mut random);
            let base = sampled(&program, samples, &mut random, |file| {
                there("/srv/app", "/usr/lib/site", file)
            });
            let new = sampled(&program, samples, &mut random, |file| {
                there(root, library, file)
            });
            let base = folder.file("base.json", &base);
            let new = folder.file("new.json", &new);
            let answer = asked(&["diff", &base, &new, "--all"]);
            let mut moved = BTreeSet::new();
            if root != "/srv/app" {
                moved.insert(("/srv/app".to_owned(), root.to_owned()));
            }
            if library != "/usr/lib/site" {
                moved.insert(("/usr/lib/site".to_owned(), library.to_owned()));
            }
            let folders = answer["folders"].as_array().expect("a list").iter();
            let found: BTreeSet<(String, String)> = folders
                .map(|pair| {
                    let word = |name: &str| pair[name].as_str().expect("a path").to_owned();
                    (word("base"), word("new"))
                })
                .collect();
            assert_eq!(found, moved, "{case}, {samples} samples, seed {seed}");
            // What is a pair has one name at one place below the folders, whatever they are.
            let pairs = rows(&answer).into_values();
            let paired = pairs.filter(|row| row["matched_by"] == "folder").count();
            assert_eq!(paired > 0, !moved.is_empty(), "{case}: {answer}");
            // A name that one sampling has in one file and the other in another one is chance.
            if moved.is_empty() {
                let answer = asked(&["diff", &base, &new, "--all", "--loose"]);
                let by_name = rows(&answer).into_values();
                let by_name = by_name.filter(|row| row["matched_by"] == "name").count();
                assert_eq!(by_name, 0, "{samples} samples, seed {seed}: {answer}");
            }
        }
    }
}
