//! Which folders comparisons take for one: programs of packages with common names, sampled twice, whose sources have moved or not.

#![expect(clippy::cast_precision_loss, reason = "small whole numbers")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::comparison::{Folder, asked, rows, told};
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
    let (site, within) = ("/usr/lib/site", "/srv/app/.worktrees/fix");
    for (case, old, root, library) in [
        ("nothing moved", "/srv/app", "/srv/app", site),
        ("the checkout moved", "/srv/app", "/ci/work/7", site),
        ("both moved", "/srv/app", "/ci/work/7", "/opt/venv"),
        ("the checkout moved into itself", "/srv/app", within, site),
        ("the checkout moved out of itself", within, "/srv/app", site),
    ] {
        for (seed, samples) in [500, 2000, 10_000].into_iter().cycle().take(12).enumerate() {
            let mut random = Random(1200 + seed as u64);
            let program = program(&mut random);
            let base = sampled(&program, samples, &mut random, |file| {
                there(old, site, file)
            });
            let new = sampled(&program, samples, &mut random, |file| {
                there(root, library, file)
            });
            let base = folder.file("base.json", &base);
            let new = folder.file("new.json", &new);
            let answer = asked(&["diff", &base, &new, "--all"]);
            let mut moved = BTreeSet::new();
            for (old, new) in [(old, root), (site, library)] {
                if old != new {
                    moved.insert((old.to_owned(), new.to_owned()));
                }
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

/// A series of samplings, which the checkout lies elsewhere in some of: folders are one where it moved, and nowhere else, though each
/// sampling misses other functions.
#[test]
fn folders_of_a_series_are_one_only_where_sources_have_moved() {
    const RUNS: usize = 16;
    let there = |root: &str, file: &str| {
        let is_library = file.starts_with("pkg2") && !file.starts_with("pkg2/");
        let root = if is_library { "/usr/lib/site" } else { root };
        format!("{root}/{file}")
    };
    // Where the checkout lies in each run.
    let cases: [fn(usize) -> &'static str; 6] = [
        |_| "/srv/app",
        |run| if run < 9 { "/srv/app" } else { "/ci/work/7" },
        |run| ["/srv/app", "/ci/work/7"][run % 2],
        |run| ["/srv/app", "/ci/work/7", "/opt/work"][run / 6],
        |run| {
            if run < 9 {
                "/srv/app"
            } else {
                "/srv/app/wt/fix"
            }
        },
        |run| {
            if run < 9 {
                "/srv/app/wt/fix"
            } else {
                "/srv/app"
            }
        },
    ];
    for (case, root) in cases.into_iter().enumerate() {
        for (seed, samples) in [500, 2000, 10_000].into_iter().enumerate() {
            let folder = Folder::new();
            let mut random = Random(9200 + seed as u64);
            let program = program(&mut random);
            let database = folder.path("series.db");
            let database = database.to_str().expect("plain");
            for run in 0..RUNS {
                let file = sampled(&program, samples, &mut random, |file| {
                    there(root(run), file)
                });
                let file = folder.file("run.json", &file);
                let tag = format!("commit_count={run}");
                let (_, errors, succeeded) = told(&[
                    "import", &file, "--title", "app", "--noise", "sampled", "--tag", &tag, "--db",
                    database,
                ]);
                assert!(succeeded, "{errors}");
            }
            let last = root(RUNS - 1);
            let moved: BTreeSet<(String, String)> = (0..RUNS)
                .map(|run| (root(run).to_owned(), last.to_owned()))
                .filter(|(old, new)| old != new)
                .collect();
            let answer = asked(&["steps", "--db", database]);
            let folders = answer["folders"].as_array().expect("a list").iter();
            let word = |pair: &Value, name: &str| pair[name].as_str().expect("a path").to_owned();
            let found: BTreeSet<(String, String)> = folders
                .map(|pair| (word(pair, "base"), word(pair, "new")))
                .collect();
            assert_eq!(found, moved, "case {case}, {samples} samples");
            assert_eq!(answer["modules"], json!([]), "case {case}");
            // What moves is no step.
            assert_eq!(answer["rows"], json!([]), "case {case}, {samples} samples");
        }
    }
}

/// Programs of base and of new, and which are one.
type Programs = (
    &'static [&'static str],
    &'static [&'static str],
    Vec<(&'static str, &'static str)>,
);

/// Stacks as `perf script` prints them: functions with their programs, so often each.
fn stacks(functions: &[(String, &str, usize)]) -> Vec<u8> {
    let mut text = String::new();
    let mut at = 0;
    for (name, module, count) in functions {
        for _ in 0..*count {
            at += 1;
            let _ = write!(
                text,
                "app 1000 100.{at:06}: 10101010 cycles:u: \n\t1000 {name}+0x10 ({module})\n\n"
            );
        }
    }
    text.into_bytes()
}

/// Modules that a comparison takes for one.
fn modules(answer: &Value) -> Vec<(String, String)> {
    let modules = answer["modules"].as_array().expect("a list").iter();
    let word = |pair: &Value, name: &str| pair[name].as_str().expect("a name").to_owned();
    modules
        .map(|pair| (word(pair, "base"), word(pair, "new")))
        .collect()
}

/// Functions `f0`, `f1`, ... of a program.
fn of_program<'m>(
    module: &'m str,
    functions: usize,
    random: &mut Random,
) -> Vec<(String, &'m str, usize)> {
    (0..functions)
        .map(|at| {
            (
                format!("f{at}"),
                module,
                1 + random.below(100 / (at + 1) + 1),
            )
        })
        .collect()
}

/// Programs of two names are one where one took the place of the other; those of a whole system that stand side by side are not, and
/// nothing is paired of two samplings of one system.
#[test]
fn programs_are_one_only_where_one_took_the_place_of_the_other() {
    let folder = Folder::new();
    for seed in 0..6 {
        let mut random = Random(700 + seed);
        let mut system = |modules: &[&'static str]| -> Vec<u8> {
            let mut functions = of_program("/usr/lib/libc.so.6", 30, &mut random);
            for module in modules {
                functions.extend(of_program(module, 40, &mut random));
            }
            // What a sampling sees of what is rare.
            functions.retain(|(.., count)| *count > 1 || random.below(3) > 0);
            stacks(&functions)
        };
        let cases: [Programs; 5] = [
            (&["/b/one", "/b/two"], &["/b/one", "/b/two"], vec![]),
            (&["/ci/7/base/app"], &["/ci/7/head/app"], vec![]),
            (
                &["/b/old.test"],
                &["/b/new.test"],
                vec![("old.test", "new.test")],
            ),
            (
                &["/b/one", "/b/old"],
                &["/b/one", "/b/new"],
                vec![("old", "new")],
            ),
            // One stands beside the other in new: neither is the other.
            (&["/b/one"], &["/b/one", "/b/two"], vec![]),
        ];
        for (base, new, expected) in cases {
            let base_file = folder.file("base.perf", &system(base));
            let new_file = folder.file("new.perf", &system(new));
            let answer = asked(&["diff", &base_file, &new_file, "--all"]);
            let expected: Vec<(String, String)> = expected
                .into_iter()
                .map(|(one, other)| (one.to_owned(), other.to_owned()))
                .collect();
            assert_eq!(modules(&answer), expected, "{base:?} {new:?}, seed {seed}");
        }
    }
    // A program of few functions, and one that is said to be another one.
    let few = |module: &'static str| {
        stacks(&[
            ("parse".to_owned(), module, 50),
            ("render".to_owned(), module, 40),
        ])
    };
    let other = stacks(&[
        ("parse".to_owned(), "/b/tool", 50),
        ("print".to_owned(), "/b/tool", 70),
    ]);
    let old = folder.file("old.perf", &few("./old"));
    let new = folder.file("new.perf", &few("./new"));
    let tool = folder.file("tool.perf", &other);
    let pair = |one: &str, other: &str| vec![(one.to_owned(), other.to_owned())];
    assert_eq!(modules(&asked(&["diff", &old, &new])), pair("old", "new"));
    assert_eq!(
        modules(&asked(&["diff", &old, &tool, "--root", "./old=./tool"])),
        pair("old", "tool")
    );
    let answer = asked(&["diff", &old, &new, "--root", "/a=/b"]);
    let warnings = answer["warnings"].to_string();
    assert!(warnings.contains("--root /a=/b: 0 functions"), "{warnings}");
}

/// Small programs have few functions: their folders are one where those are most of all that there is.
#[test]
fn folders_of_small_programs_are_one() {
    let folder = Folder::new();
    let recording = |place: &str, costs: [u64; 3]| {
        let [parse, render, other] = costs;
        format!("main;parse ({place}/app.py:1) {parse}\nmain;render ({place}/app.py:5) {render}\nmain;other (/usr/lib/x/io.py:3) {other}\n")
            .into_bytes()
    };
    let folders = |base: &[u8], new: &[u8]| -> usize {
        let base = folder.file("base.folded", base);
        let new = folder.file("new.folded", new);
        asked(&["diff", &base, &new])["folders"]
            .as_array()
            .expect("a list")
            .len()
    };
    let base = recording("/tmp/x/base", [400, 500, 100]);
    assert_eq!(
        folders(&base, &recording("/tmp/y/head", [1200, 500, 100])),
        1
    );
    // They are too small a part of all, so that chance may have taken them.
    let small = recording("/tmp/x/base", [2, 3, 10_000]);
    assert_eq!(
        folders(&small, &recording("/tmp/y/head", [2, 3, 10_000])),
        0
    );
    // Most of the folder is no part of the other one.
    let grown = [
        recording("/tmp/y/head", [40, 50, 100]),
        b"main;made (/tmp/y/head/app.py:9) 900\n".to_vec(),
    ]
    .concat();
    assert_eq!(folders(&base, &grown), 0);
}

/// A recording of a program of which only the last functions of stacks cost anything: `main` calls two functions, and these call all
/// others.
fn called(root: &str, costs: &[(&str, u64)]) -> Vec<u8> {
    let mut frames = vec![
        json!({"name": "<module>", "file": format!("{root}/app.py")}),
        json!({"name": "parse", "file": format!("{root}/text/parse.py")}),
        json!({"name": "render", "file": format!("{root}/text/render.py")}),
    ];
    let mut stacks = Vec::new();
    for (at, (name, _)) in costs.iter().enumerate() {
        stacks.push([0, 1 + at % 2, frames.len()]);
        frames.push(json!({"name": name, "file": format!("{root}/steps.py")}));
    }
    let weights: Vec<u64> = costs.iter().map(|(_, cost)| *cost).collect();
    json!({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "shared": {"frames": frames},
        "profiles": [{"type": "sampled", "name": "m", "unit": "nanoseconds", "startValue": 0,
                      "endValue": weights.iter().sum::<u64>(), "samples": stacks, "weights": weights}],
    })
    .to_string()
    .into_bytes()
}

const STEPS: [(&str, u64); 6] = [
    ("step0", 400),
    ("step1", 300),
    ("step2", 200),
    ("step3", 500),
    ("step4", 100),
    ("step5", 250),
];

/// Functions that only call others have no vote, and are one where their folder is: else all below them would be gone, and new.
#[test]
fn trees_are_one_where_callers_of_another_folder_cost_nothing_themselves() {
    let folder = Folder::new();
    let base = folder.file("base.json", &called("/srv/ci/build1", &STEPS));
    let new = folder.file("new.json", &called("/srv/ci/build2", &STEPS));
    // With two functions that have a cost, no vote decides: it is said by hand.
    let few = folder.file("few.json", &called("/srv/ci/build1", &STEPS[3..4]));
    let few_new = folder.file("few-new.json", &called("/srv/x/app", &STEPS[3..4]));
    let root = "/srv/ci/build1=/srv/ci/build2";
    let other_root = "/srv/ci/build1=/srv/x/app";
    for (asked_for, pairs) in [
        (vec![&base[..], &new], 9),
        (vec![&base, &new, "--root", root], 9),
        (vec![&few, &few_new, "--root", other_root], 3),
    ] {
        let tree = asked(&[&["report", "diff_tree"], &asked_for[..]].concat());
        assert_eq!(tree["folders"][0]["functions"], pairs, "{tree}");
        let places = tree["rows"].as_array().expect("rows");
        // The thread and the callers that have a cost below them, and what they call.
        assert_eq!(places.len(), if pairs == 9 { 10 } else { 4 }, "{tree}");
        for place in places {
            assert_eq!(place["status"], "both", "{place}");
            assert_eq!(place["base"], place["new"], "{place}");
        }
        for view in ["new", "gone"] {
            let words = [&["report", "diff_paths"], &asked_for[..], &["--view", view]];
            assert_eq!(asked(&words.concat())["rows"], json!([]));
        }
        let folded = [&["export", "--format", "folded", "--diff"], &asked_for[..]];
        let (folded, errors, succeeded) = told(&folded.concat());
        assert!(succeeded, "{errors}");
        let lines: Vec<Vec<&str>> = folded
            .lines()
            .map(|line| line.rsplit(' ').take(2).collect())
            .collect();
        assert_eq!(lines.len(), places.len() - if pairs == 9 { 4 } else { 3 });
        assert!(lines.iter().all(|costs| costs[0] == costs[1]), "{folded}");
    }
}

/// The same of a program of another name, of which nameless code is a caller as well.
#[test]
fn trees_are_one_where_callers_of_another_program_cost_nothing_themselves() {
    let folder = Folder::new();
    let recording = |module: &str| -> Vec<u8> {
        let mut text = String::new();
        for at in 0..60 {
            let _ = write!(
                text,
                "app 1000 100.{at:06}: 10101010 cycles:u: \n\t1000 f{}+0x10 ({module})\n\t2000 [unknown] ({module})\n\t3000 main+0x9 ({module})\n\n",
                at % 6
            );
        }
        text.into_bytes()
    };
    let base = folder.file("base.perf", &recording("/b/old.test"));
    let new = folder.file("new.perf", &recording("/b/new.test"));
    let tree = asked(&["report", "diff_tree", &base, &new]);
    assert_eq!(
        modules(&tree),
        vec![("old.test".to_owned(), "new.test".to_owned())]
    );
    for place in tree["rows"].as_array().expect("rows") {
        assert_eq!(place["status"], "both", "{place} of {tree}");
    }
}

/// What was renamed is known by its callers, also where these cost nothing, and lie elsewhere.
#[test]
fn renames_are_seen_where_callers_of_another_folder_cost_nothing_themselves() {
    let folder = Folder::new();
    let steps = |last: &'static str| -> Vec<(&str, u64)> {
        let steps = STEPS[..5].iter().copied();
        steps.chain([(last, 250)]).collect()
    };
    let base = folder.file("base.json", &called("/w", &steps("old")));
    for root in ["/w", "/z"] {
        let new = folder.file("new.json", &called(root, &steps("fresh")));
        let answer = asked(&["diff", &base, &new, "--noise", "exact"]);
        let rows = rows(&answer);
        for (name, root) in [("old", "/w"), ("fresh", root)] {
            let row = &rows[&(name.to_owned(), format!("{root}/steps.py"))];
            let why = row["reason"].as_str().unwrap_or_default();
            assert_eq!(row["verdict"], "shifted", "{row}");
            assert!(why.starts_with("renamed: "), "{row}");
        }
        let suggestion = &answer["suggestions"][0];
        assert_eq!(suggestion["rules"], json!(["name /^old$/ -> fresh"]));
    }
}

/// The history of a function that costs nothing itself goes on in another folder.
#[test]
fn histories_of_callers_that_cost_nothing_go_on_in_another_folder() {
    let folder = Folder::new();
    let database = folder.path("series.db");
    let database = database.to_str().expect("plain");
    for (run, root) in ["/w", "/w", "/z", "/z"].into_iter().enumerate() {
        let mut steps = STEPS;
        steps[0].1 += run as u64;
        let file = folder.file("run.json", &called(root, &steps));
        let tag = format!("commit_count={run}");
        let (_, errors, succeeded) = told(&[
            "import", &file, "--title", "app", "--noise", "sampled", "--tag", &tag, "--db",
            database,
        ]);
        assert!(succeeded, "{errors}");
    }
    let answer = asked(&["history", "parse", "--db", database]);
    let rows = answer["rows"].as_array().expect("rows");
    let costs: Vec<Value> = rows.iter().map(|row| row["cumulative"].clone()).collect();
    assert_eq!(json!(costs), json!([700, 701, 702, 703]), "{answer}");
}
