//! Laws of comparisons, on random programs whose figures are added up here: what filters leave, what is known of functions that
//! share an identity, which of their definitions are one, and what changes no answer.

#![expect(clippy::cast_precision_loss, reason = "small whole numbers")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;

use serde_json::{Value, json};

use crate::comparison::{Folder, asked, import, is_near, number, rows, told};
use crate::support::random::Random;
use crate::support::tools;

/// Random programs of each kind.
const ROUNDS: u64 = 8;

/// Functions: name and file below the folder of the sources.
const FUNCTIONS: [(&str, &str); 8] = [
    ("main", "pkg/main.py"),
    ("parse", "pkg/parse.py"),
    ("read", "pkg/parse.py"),
    ("read", "pkg/store.py"),
    ("write", "pkg/store.py"),
    ("hash", "lib/hash.py"),
    ("walk", "lib/walk.py"),
    ("render", "lib/view.py"),
];

/// Stacks of functions with their cost.
type Samples = Vec<(Vec<usize>, u64)>;

fn samples(random: &mut Random, functions: usize) -> Samples {
    let stack = |random: &mut Random| -> Vec<usize> {
        (0..=random.below(5))
            .map(|_| random.below(functions))
            .collect()
    };
    (0..20)
        .map(|_| (stack(random), 1000 * (1 + random.below(3000) as u64)))
        .collect()
}

fn speedscope(samples: &Samples, root: &str, thread: &str, functions: &[(&str, &str)]) -> Vec<u8> {
    let frames: Vec<Value> = functions
        .iter()
        .map(|(name, file)| json!({"name": name, "file": format!("{root}{file}")}))
        .collect();
    let (stacks, weights): (Vec<&Vec<usize>>, Vec<u64>) =
        samples.iter().map(|(stack, cost)| (stack, *cost)).unzip();
    let profile = json!({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "shared": {"frames": frames},
        "profiles": [{"type": "sampled", "name": thread, "unit": "nanoseconds", "startValue": 0,
                      "endValue": weights.iter().sum::<u64>(), "samples": stacks, "weights": weights}],
    });
    profile.to_string().into_bytes()
}

fn own(samples: &Samples) -> BTreeMap<(String, String), f64> {
    let mut own = BTreeMap::new();
    for (stack, cost) in samples {
        if let Some(top) = stack.last() {
            let (name, file) = FUNCTIONS[*top];
            let key = (name.to_owned(), file.to_owned());
            *own.entry(key).or_insert(0.0) += *cost as f64;
        }
    }
    own
}

/// Figures of a comparison by name and by file below the folder of either side.
fn shown(answer: &Value, roots: [&str; 2]) -> BTreeMap<(String, String), [f64; 2]> {
    let rows = rows(answer).into_iter();
    rows.map(|((name, file), row)| {
        let below = roots.iter().find_map(|root| file.strip_prefix(root));
        let file = below.unwrap_or(&file).to_owned();
        ((name, file), [number(&row, "base"), number(&row, "new")])
    })
    .collect()
}

#[test]
fn filters_are_decided_for_both_sides_by_what_either_side_calls_a_function() {
    let folder = Folder::new();
    let (old, new) = ("/srv/one/", "/ci/7/");
    let mut compared = 0;
    for seed in 500..500 + ROUNDS {
        let mut random = Random(seed);
        let both = [samples(&mut random, 8), samples(&mut random, 8)];
        let seen = |samples: &Samples| own(samples).into_keys().collect::<BTreeSet<_>>();
        // The folders are found by functions that both sides have.
        if seen(&both[0]).intersection(&seen(&both[1])).count() < 5 {
            continue;
        }
        compared += 1;
        let base = folder.file("base.json", &speedscope(&both[0], old, "m", &FUNCTIONS));
        let head = folder.file("new.json", &speedscope(&both[1], new, "m", &FUNCTIONS));
        // The store is known by the folder of one of the sides only.
        let pattern = format!("^{}pkg/store", [old, new][random.below(2)]);
        let is_store = |at: &usize| FUNCTIONS[*at].1 == "pkg/store.py";
        for flag in ["--focus", "--ignore", "--hide"] {
            let left = both.each_ref().map(|samples| -> Samples {
                let stacks = samples.iter().cloned();
                match flag {
                    "--focus" => stacks
                        .filter(|(stack, _)| stack.iter().any(is_store))
                        .collect(),
                    "--ignore" => stacks
                        .filter(|(stack, _)| !stack.iter().any(is_store))
                        .collect(),
                    _ => stacks
                        .map(|(mut stack, cost)| {
                            stack.retain(|at| !is_store(at));
                            (stack, cost)
                        })
                        .collect(),
                }
            });
            let answer = asked(&["diff", &base, &head, "--all", flag, &pattern]);
            let found = shown(&answer, [old, new]);
            let [before, after] = left.each_ref().map(own);
            let functions: BTreeSet<_> = before.keys().chain(after.keys()).collect();
            for function in functions {
                let cost = |side: &BTreeMap<(String, String), f64>| {
                    side.get(function).copied().unwrap_or(0.0)
                };
                let expected = [cost(&before), cost(&after)];
                let got = found.get(function).copied().unwrap_or_default();
                assert!(
                    is_near(got[0], expected[0]) && is_near(got[1], expected[1]),
                    "{seed} {flag} {function:?}: expected {expected:?}, found {got:?} in {answer}"
                );
            }
        }
    }
    assert!(compared > ROUNDS / 2, "{compared}");
}

#[test]
fn groups_of_another_folder_are_the_same_groups() {
    let folder = Folder::new();
    let one: Samples = (0..8).map(|at| (vec![at], 1000)).collect();
    let base = folder.file("base.json", &speedscope(&one, "/srv/one/", "m", &FUNCTIONS));
    let new = folder.file("new.json", &speedscope(&one, "/ci/7/", "m", &FUNCTIONS));
    for flags in [
        &["--by", "file"][..],
        &["--cumulative"],
        &["--focus", "parse"],
    ] {
        let answer = asked(&[&["diff", &base, &new, "--noise", "exact"][..], flags].concat());
        for row in answer["rows"].as_array().expect("rows") {
            assert_eq!(
                (&row["verdict"], &row["matched_by"]),
                (&json!("same"), &json!("folder")),
                "{row}"
            );
        }
        assert_eq!(answer["folders"][0]["functions"], 8, "{answer}");
    }
}

/// An answer without the names and numbers of runs.
fn without_runs(mut answer: Value) -> Value {
    for side in ["base", "new"] {
        if let Some(runs) = answer[side]["runs"].as_array_mut() {
            runs.clear();
        }
    }
    answer
}

#[test]
fn what_changes_nothing_changes_no_byte() {
    let folder = Folder::new();
    let mut random = Random(600);
    let recordings: Vec<Samples> = (0..6).map(|_| samples(&mut random, 8)).collect();
    let name = |at: usize| format!("{}-{at}.json", if at < 3 { "base" } else { "new" });
    let files =
        |thread: &dyn Fn(usize) -> String, functions: &[(&str, &str)]| -> Vec<(String, Vec<u8>)> {
            let files = recordings.iter().enumerate();
            files
                .map(|(at, of)| (name(at), speedscope(of, "src/", &thread(at), functions)))
                .collect()
        };
    let stored = |database: &str, files: &[(String, Vec<u8>)]| -> String {
        let files: Vec<(&str, Vec<u8>)> = files
            .iter()
            .map(|(name, content)| (name.as_str(), content.clone()))
            .collect();
        import(&folder, database, &files)
    };
    let compared = |database: &str| -> [Value; 2] {
        let sides = ["--db", database, "side=base", "side=new"];
        let all = asked(&[&["diff"], &sides[..], &["--all", "--noise", "timed"]].concat());
        let tree = asked(&[
            "diff",
            "--db",
            database,
            "side=base",
            "side=new",
            "--cumulative",
            "--all",
        ]);
        [without_runs(all), without_runs(tree)]
    };
    let one_thread = |_: usize| "work 17".to_owned();
    let usual = files(&one_thread, &FUNCTIONS);
    let expected = compared(&stored("usual.db", &usual));

    let mut other_order = usual.clone();
    other_order.rotate_left(4);
    other_order.swap(0, 3);
    assert_eq!(
        compared(&stored("order.db", &other_order)),
        expected,
        "order of import"
    );

    let other_threads = files(&|at| format!("work {}", 25_000 + 13 * at), &FUNCTIONS);
    assert_eq!(
        compared(&stored("threads.db", &other_threads)),
        expected,
        "numbers of threads"
    );

    let (ours, theirs) = (
        stored("ours.db", &usual[..4]),
        stored("theirs.db", &usual[4..]),
    );
    let (_, said, succeeded) = told(&["merge", &ours, &theirs]);
    assert!(succeeded, "{said}");
    assert_eq!(compared(&ours), expected, "databases that were merged");

    // Files of C, where compilers make clones.
    let of_c = |suffix: &str| -> Vec<(String, String)> {
        let functions = FUNCTIONS.iter();
        functions
            .map(|(name, file)| (format!("{name}{suffix}"), file.replace(".py", ".c")))
            .collect()
    };
    let (plain, cloned) = (of_c(""), of_c(".constprop.0"));
    let borrowed = |functions: &[(String, String)]| -> Vec<(String, Vec<u8>)> {
        let functions: Vec<(&str, &str)> = functions
            .iter()
            .map(|(name, file)| (name.as_str(), file.as_str()))
            .collect();
        files(&one_thread, &functions)
    };
    let expected = compared(&stored("plain.db", &borrowed(&plain)));
    let mut mixed = borrowed(&plain);
    mixed.splice(3.., borrowed(&cloned).into_iter().skip(3));
    assert_eq!(
        compared(&stored("clones.db", &mixed)),
        expected,
        "clones that compilers made"
    );
}

#[test]
fn turned_round_sets_have_turned_ratios() {
    let folder = Folder::new();
    let mut random = Random(700);
    let files: Vec<(String, Vec<u8>)> = (0..6)
        .map(|at| {
            let one: Samples = (0..8)
                .map(|at| (vec![at], 100_000 + random.below(20_000) as u64))
                .collect();
            let side = if at < 3 { "base" } else { "new" };
            (
                format!("{side}-{at}.json"),
                speedscope(&one, "", "m", &FUNCTIONS),
            )
        })
        .collect();
    let files: Vec<(&str, Vec<u8>)> = files
        .iter()
        .map(|(name, of)| (name.as_str(), of.clone()))
        .collect();
    let database = import(&folder, "runs.db", &files);
    for noise in ["timed", "sampled"] {
        let ask = |base: &str, new: &str| {
            rows(&asked(&[
                "diff", "--db", &database, base, new, "--all", "--noise", noise,
            ]))
        };
        let (there, back) = (ask("side=base", "side=new"), ask("side=new", "side=base"));
        for (function, row) in &there {
            let turned = &back[function];
            for (column, its) in [
                ("ratio", "ratio"),
                ("ratio_low", "ratio_high"),
                ("ratio_high", "ratio_low"),
            ] {
                assert!(
                    is_near(number(row, column) * number(turned, its), 1.0),
                    "{column}: {row} {turned}"
                );
            }
            for column in ["p", "q"] {
                assert!(
                    is_near(number(row, column), number(turned, column)),
                    "{column}: {row} {turned}"
                );
            }
        }
    }
}

#[test]
fn shares_of_equal_totals_are_as_certain_as_costs() {
    let folder = Folder::new();
    let mut random = Random(701);
    // Few units, so that they are rounded; two functions agree in all runs of a side.
    let files: Vec<(String, Vec<u8>)> = (0..8)
        .map(|at| {
            let side = if at < 4 { "base" } else { "new" };
            let changed = if at < 4 { 800 } else { 900 };
            let mut figures = vec![changed, if at < 4 { 40 } else { 43 }];
            figures.extend((0..4).map(|_| 2000 + random.below(100)));
            let rest = 20_000 - figures.iter().sum::<usize>();
            let lines = figures.iter().enumerate();
            let mut text = String::new();
            for (at, cost) in lines {
                let _ = writeln!(text, "main;f{at} {cost}");
            }
            let _ = writeln!(text, "main;rest {rest}");
            (format!("{side}-{at}.folded"), text.into_bytes())
        })
        .collect();
    let files: Vec<(&str, Vec<u8>)> = files
        .iter()
        .map(|(name, of)| (name.as_str(), of.clone()))
        .collect();
    let database = import(&folder, "runs.db", &files);
    for side in ["side=base", "side=new"] {
        let (_, err, succeeded) = told(&["tag", "--db", &database, side, "size=1"]);
        assert!(succeeded, "{err}");
    }
    let ask = |by: &str| {
        asked(&[
            "diff",
            "--db",
            &database,
            "side=base",
            "side=new",
            "--all",
            "--noise",
            "timed",
            "--normalize",
            by,
        ])
    };
    let (costs, shares) = (rows(&ask("tag:size")), rows(&ask("total")));
    assert_eq!(costs.len(), 7);
    let mut verdicts = BTreeSet::new();
    for (function, row) in &costs {
        let share = &shares[function];
        for column in ["ratio", "ratio_low", "ratio_high", "p", "q"] {
            let [cost, share] = [row, share].map(|row| number(row, column));
            assert!(
                is_near(cost, share),
                "{column} of {function:?}: {cost} {share}"
            );
        }
        assert_eq!(row["verdict"], share["verdict"], "{function:?}");
        verdicts.insert(row["verdict"].as_str().unwrap_or_default().to_owned());
    }
    assert!(
        verdicts.contains("slower") && verdicts.len() > 1,
        "{verdicts:?}"
    );
}

#[test]
fn trees_without_a_place_in_common_add_up_to_both_totals() {
    let folder = Folder::new();
    for seed in 800..800 + ROUNDS {
        let mut random = Random(seed);
        let both = [samples(&mut random, 4), samples(&mut random, 4)];
        let base = folder.file("base.json", &speedscope(&both[0], "", "m", &FUNCTIONS[..4]));
        let new = folder.file("new.json", &speedscope(&both[1], "", "m", &FUNCTIONS[4..]));
        let answer = asked(&["report", "diff_tree", &base, &new, "--exclusive"]);
        let mut sums = [0.0; 2];
        for row in answer["rows"].as_array().expect("rows") {
            let costs = [number(row, "base"), number(row, "new")];
            assert!(costs.contains(&0.0) || row["file"] == "", "{row}");
            if row["file"] != "" {
                let own = |name: &str| row[name].as_f64();
                sums[0] += own("base_exclusive").unwrap_or(costs[0]);
                sums[1] += own("new_exclusive").unwrap_or(costs[1]);
            }
        }
        for (sum, samples) in sums.iter().zip(&both) {
            let total: u64 = samples.iter().map(|(_, cost)| cost).sum();
            assert!(
                is_near(*sum, total as f64),
                "{seed}: {sum} {total} {answer}"
            );
        }
    }
}

#[test]
fn what_is_paired_does_not_depend_on_how_much_it_costs() {
    let folder = Folder::new();
    for seed in 900..900 + ROUNDS {
        let mut random = Random(seed);
        let both = [samples(&mut random, 8), samples(&mut random, 8)];
        let base = folder.file(
            "base.json",
            &speedscope(&both[0], "/srv/one/", "m", &FUNCTIONS),
        );
        let ask = |times: u64| {
            let costs = both[1]
                .iter()
                .map(|(stack, cost)| (stack.clone(), cost * times));
            let new = folder.file(
                "new.json",
                &speedscope(&costs.collect(), "/ci/7/", "m", &FUNCTIONS),
            );
            let answer = asked(&["diff", &base, &new, "--all"]);
            let matched = rows(&answer)
                .into_iter()
                .map(|(key, row)| (key, row["matched_by"].clone()));
            (
                matched.collect::<BTreeMap<_, _>>(),
                answer["folders"].clone(),
            )
        };
        assert_eq!(ask(1), ask(1000), "{seed}");
    }
}

/// Functions of a program in C: their names, which a compiler has made of fewer, and their files. Each only calls later ones.
const CLONES: [(&str, &str, &str); 7] = [
    ("main", "main", "a.c"),
    ("work", "work", "a.c"),
    ("read", "read", "b.c"),
    ("work.part.0", "work", "a.c"),
    ("read.constprop.0", "read", "b.c"),
    ("work.constprop.1", "work", "a.c"),
    ("hash", "hash", "b.c"),
];

/// What callgrind writes of such stacks: own costs, and calls with their cost.
fn callgrind(stacks: &Samples) -> String {
    let (mut own, mut calls) = (BTreeMap::new(), BTreeMap::new());
    for (stack, cost) in stacks {
        *own.entry(stack[stack.len() - 1]).or_insert(0) += cost;
        for pair in stack.windows(2) {
            *calls.entry((pair[0], pair[1])).or_insert(0) += cost;
        }
    }
    let mut text = "events: Ir\n".to_owned();
    for (at, (name, _, file)) in CLONES.iter().enumerate() {
        writeln!(
            text,
            "fl={file}\nfn={name}\n{} {}",
            10 * at + 1,
            own.get(&at).unwrap_or(&0)
        )
        .expect("memory");
        for ((_, callee), cost) in calls.iter().filter(|((caller, _), _)| *caller == at) {
            let (name, _, file) = CLONES[*callee];
            writeln!(
                text,
                "cfi={file}\ncfn={name}\ncalls=1 1\n{} {cost}",
                10 * at + 2
            )
            .expect("memory");
        }
    }
    text
}

#[test]
fn what_several_functions_cost_without_paths_lies_between_the_bounds() {
    let folder = Folder::new();
    let (mut known, mut bounded) = (0, 0);
    for seed in 1000..1000 + 2 * ROUNDS {
        let mut random = Random(seed);
        let mut stacks = || -> Samples {
            (0..12)
                .map(|_| {
                    let stack: Vec<usize> = (0..CLONES.len())
                        .filter(|at| *at == 0 || random.below(3) == 0)
                        .collect();
                    (stack, 1 + random.below(500) as u64)
                })
                .collect()
        };
        let both = [stacks(), stacks()];
        let base = folder.file("base.out", callgrind(&both[0]).as_bytes());
        let new = folder.file("new.out", callgrind(&both[1]).as_bytes());
        for (flags, part) in [
            (&["--cumulative"][..], 1),
            (&["--cumulative", "--by", "file"], 2),
        ] {
            let answer = asked(&[&["diff", &base, &new, "--all"][..], flags].concat());
            let said = |at: usize| [CLONES[at].0, CLONES[at].1, CLONES[at].2][part];
            let words: BTreeSet<&str> = (0..CLONES.len()).map(said).collect();
            let shown = answer["rows"].as_array().expect("rows");
            for word in words {
                let truth = both.each_ref().map(|stacks| -> f64 {
                    let with = stacks
                        .iter()
                        .filter(|(stack, _)| stack.iter().any(|at| said(*at) == word));
                    with.map(|(_, cost)| *cost as f64).sum()
                });
                let Some(row) = shown.iter().find(|row| row["function"] == word) else {
                    assert!(
                        truth.iter().all(|cost| *cost < 1.0),
                        "{word} is missing in {answer}"
                    );
                    continue;
                };
                for (side, truth) in ["base", "new"].iter().zip(truth) {
                    let bound = |end: &str| number(row, &format!("{side}_cumulative_{end}"));
                    let (low, high) = (bound("min"), bound("max"));
                    assert!(
                        low <= truth + 1e-9 && truth <= high + 1e-9,
                        "{seed} {side} {truth}: {row}"
                    );
                    if let Some(figure) = row[*side].as_f64() {
                        assert!(is_near(figure, truth), "{seed} {side} {truth}: {row}");
                        known += 1;
                    } else {
                        bounded += 1;
                        assert!(
                            low < high && row["delta"].is_null() && row["verdict"].is_null(),
                            "{row}"
                        );
                        let why = row["reason"].as_str().unwrap_or_default();
                        assert!(why.contains("between "), "{row}");
                    }
                }
            }
        }
    }
    assert!(known > 50 && bounded > 10, "{known} {bounded}");
}

/// A definition in a program: what it really is, its name, and how many lines it has.
#[derive(Clone)]
struct Defined {
    really: u64,
    name: String,
    lines: usize,
}

/// A file with named functions, and closures between them.
fn program(random: &mut Random) -> Vec<Defined> {
    let mut all = Vec::new();
    for at in 0..8 {
        all.push((format!("f{at}"), 1 + random.below(8)));
    }
    for _ in 0..4 {
        let place = 1 + random.below(all.len() - 1);
        all.insert(place, ("(anonymous)".to_owned(), 1 + random.below(8)));
    }
    let numbered = (0..).zip(all);
    numbered
        .map(|(really, (name, lines))| Defined {
            really,
            name,
            lines,
        })
        .collect()
}

/// Lines of the definitions of a program, where comments stand above some.
fn placed(program: &[Defined], comments: &BTreeMap<u64, usize>) -> Vec<(usize, Defined)> {
    let mut line = 1;
    let place = |defined: &Defined| {
        line += comments.get(&defined.really).copied().unwrap_or(0);
        let at = line;
        line += defined.lines;
        (at, defined.clone())
    };
    program.iter().map(place).collect()
}

/// What V8 writes of a program of which it has seen some definitions.
fn cpuprofile(seen: &[(usize, Defined)], random: &mut Random) -> Vec<u8> {
    let frame = |name: &str, url: &str, line: i64| json!({"functionName": name, "scriptId": "1", "url": url, "lineNumber": line, "columnNumber": 4});
    let mut nodes = vec![json!({
        "id": 1, "callFrame": frame("(root)", "", -1), "hitCount": 0,
        "children": (2..2 + seen.len()).collect::<Vec<_>>(),
    })];
    let mut samples = Vec::new();
    for (id, (line, defined)) in (2..).zip(seen) {
        let line = i64::try_from(*line).expect("small") - 1;
        nodes.push(json!({"id": id, "callFrame": frame(&defined.name, "file:///app/a.js", line), "hitCount": 1, "children": []}));
        for _ in 0..5 + random.below(10) {
            samples.push(id);
        }
    }
    let deltas = vec![1000; samples.len()];
    json!({"nodes": nodes, "startTime": 0, "endTime": 1000 * samples.len(), "samples": samples, "timeDeltas": deltas})
        .to_string()
        .into_bytes()
}

#[test]
fn definitions_of_one_name_are_told_apart_by_what_is_around_them() {
    let folder = Folder::new();
    // Of a hundred pairs, how many may be wrong; and of all that there are, how many are found at least.
    for (edit, most_wrong, fewest) in [
        ("nothing", 0, 50),
        ("comments", 0, 25),
        ("one more", 0, 25),
        ("one more, one less", 4, 20),
        ("a block moved", 4, 15),
    ] {
        let (mut pairs, mut wrong, mut all) = (0, 0, 0);
        for seed in 0..30 {
            let mut random = Random(1100 + seed);
            let before = program(&mut random);
            let (mut after, mut comments) = (before.clone(), BTreeMap::new());
            let closure = |random: &mut Random| Defined {
                really: 99,
                name: "(anonymous)".to_owned(),
                lines: 1 + random.below(8),
            };
            match edit {
                "comments" => {
                    for _ in 0..3 {
                        comments.insert(random.below(12) as u64, 1 + random.below(3));
                    }
                }
                "one more" | "one more, one less" => {
                    let place = 1 + random.below(after.len() - 1);
                    let new = closure(&mut random);
                    after.insert(place, new);
                    if edit.ends_with("less") {
                        let known: Vec<usize> = (0..after.len())
                            .filter(|at| {
                                after[*at].name == "(anonymous)" && after[*at].really != 99
                            })
                            .collect();
                        after.remove(known[random.below(known.len())]);
                    }
                }
                "a block moved" => {
                    let taken = random.below(after.len());
                    let block = after.remove(taken);
                    let place = random.below(after.len() + 1);
                    after.insert(place, block);
                }
                _ => {}
            }
            let places = [placed(&before, &BTreeMap::new()), placed(&after, &comments)];
            let seen = places.each_ref().map(|places| -> Vec<(usize, Defined)> {
                places
                    .iter()
                    .filter(|_| random.below(10) < 9)
                    .cloned()
                    .collect()
            });
            let base = folder.file("base.cpuprofile", &cpuprofile(&seen[0], &mut random));
            let new = folder.file("new.cpuprofile", &cpuprofile(&seen[1], &mut random));
            let answer = asked(&["diff", &base, &new, "--all"]);
            let is = |side: usize, line: &Value| -> u64 {
                let line = usize::try_from(line.as_u64().expect("a line")).expect("small");
                let found = seen[side].iter().find(|(at, _)| *at == line);
                found
                    .unwrap_or_else(|| panic!("no line {line}: {answer}"))
                    .1
                    .really
            };
            for pair in answer["definitions"].as_array().expect("a list") {
                assert_eq!(
                    (&pair["function"], &pair["matched_by"]),
                    (&json!("(anonymous)"), &json!("anchored"))
                );
                pairs += 1;
                wrong += usize::from(is(0, &pair["base_line"]) != is(1, &pair["new_line"]));
            }
            let closures = |side: usize| -> BTreeSet<u64> {
                let closures = seen[side]
                    .iter()
                    .filter(|(_, defined)| defined.name == "(anonymous)");
                closures.map(|(_, defined)| defined.really).collect()
            };
            let both = closures(0).intersection(&closures(1)).count();
            all += both;
            // The row of the identity has all of them, and alone a verdict.
            let counted: f64 = rows(&answer).values().map(|row| number(row, "delta")).sum();
            assert!(
                is_near(counted, number(&answer["total"], "delta")),
                "{answer}"
            );
        }
        assert!(
            100 * wrong <= most_wrong * pairs,
            "{edit}: {wrong} of {pairs} are wrong"
        );
        assert!(
            100 * (pairs - wrong) >= fewest * all,
            "{edit}: {} of {all} are found",
            pairs - wrong
        );
    }
}

#[test]
fn rows_of_definitions_are_below_that_of_the_identity() {
    let folder = Folder::new();
    let mut random = Random(1);
    let define = |at: usize, name: &str| Defined {
        really: at as u64,
        name: name.to_owned(),
        lines: 5,
    };
    let named = ["f", "(anonymous)", "g", "(anonymous)", "h"];
    let program: Vec<Defined> = named
        .iter()
        .enumerate()
        .map(|(at, name)| define(at, name))
        .collect();
    let file = |comments: &BTreeMap<u64, usize>, random: &mut Random| {
        cpuprofile(&placed(&program, comments), random)
    };
    let base = folder.file("base.cpuprofile", &file(&BTreeMap::new(), &mut random));
    let new = folder.file("new.cpuprofile", &file(&[(2, 3)].into(), &mut random));
    let (out, _, succeeded) = told(&["diff", &base, &new]);
    assert!(succeeded, "{out}");
    // From g on all lines are three further down; between f and g there are more.
    let lines: Vec<&str> = out.lines().collect();
    let at = lines
        .iter()
        .position(|line| line.starts_with("(anonymous)"))
        .expect("the identity");
    assert!(
        lines[at].contains("adds up 2 functions of base, 2 of new"),
        "{out}"
    );
    assert!(
        lines[at + 1].starts_with("  line 16:5 -> 19:5") && lines[at + 1].ends_with("(anchored)"),
        "{out}"
    );
    assert!(!out.contains("line 6:5"), "{out}");
}

#[test]
fn texts_of_definitions_tell_those_apart_that_changed_places() {
    // V8 may know the lines of samples, or only those where functions begin; the first line is kept of all functions.
    for (has_ticks, kept) in [
        (true, "functions"),
        (false, "functions"),
        (false, "figures"),
    ] {
        check_texts(has_ticks, kept);
    }
}

fn check_texts(has_ticks: bool, kept: &str) {
    let folder = Folder::new();
    let source = |first: &str, second: &str| {
        format!(
            "def f(): pass
{first} = lambda: 1
{second} = lambda: 1
def g(): pass
"
        )
    };
    let recorded = |name: &str, costs: [u64; 2]| {
        let frame = |name: &str, line: i64| json!({"functionName": name, "scriptId": "1", "url": "file:///app/a.js", "lineNumber": line, "columnNumber": 0});
        let nodes: Vec<Value> = [("(root)", -1), ("f", 0), ("(anonymous)", 1), ("(anonymous)", 2), ("g", 3)]
            .iter()
            .zip(1..)
            .map(|((name, line), id)| {
                let mut frame = frame(name, *line);
                if id == 1 {
                    frame["url"] = json!("");
                }
                let ticks = json!([{"line": line + 1, "ticks": 1}]);
                let ticks = if id == 1 || !has_ticks { json!([]) } else { ticks };
                json!({"id": id, "callFrame": frame, "hitCount": 1, "positionTicks": ticks, "children": if id == 1 { vec![2, 3, 4, 5] } else { vec![] }})
            })
            .collect();
        // The time to the next sample is that of a sample.
        let deltas = [1000, 1000, costs[0], costs[1]];
        let profile = json!({"nodes": nodes, "startTime": 0, "endTime": deltas.iter().sum::<u64>(), "samples": [2, 3, 4, 5], "timeDeltas": deltas});
        folder.file(name, profile.to_string().as_bytes())
    };
    let database = folder.path("runs.db");
    let database = database.to_str().expect("plain");
    for (side, lines, costs) in [
        ("base", ["one", "two"], [100, 900]),
        ("new", ["two", "one"], [901, 101]),
    ] {
        let sources = folder.path(side);
        fs::create_dir_all(&sources).expect("a folder");
        fs::write(sources.join("a.js"), source(lines[0], lines[1])).expect("room");
        let file = recorded(&format!("{side}.cpuprofile"), costs);
        let sources = sources.to_str().expect("plain");
        let import = [
            "import",
            "--db",
            database,
            "--source",
            sources,
            "--source-lines",
            kept,
            &file,
        ];
        let (_, said, succeeded) = told(&import);
        assert!(succeeded && said.is_empty(), "{said}");
    }
    let (said, _, succeeded) = told(&["check", "--db", database]);
    assert!(succeeded, "{said}");
    let answer = asked(&["diff", "--db", database, "1", "2", "--all"]);
    let found: Vec<(u64, u64, f64, &str)> = answer["definitions"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|pair| {
            let line = |name: &str| pair[name].as_u64().expect("a line");
            (
                line("base_line"),
                line("new_line"),
                number(pair, "delta"),
                pair["matched_by"].as_str().expect("a word"),
            )
        })
        .collect();
    assert_eq!(
        found,
        [(2, 3, 1000.0, "text"), (3, 2, 1000.0, "text")],
        "{kept}, {has_ticks}: {answer}"
    );
}

/// Two tables of cProfile: what two closures cost together is unknown, as they may call each other; what each of them costs is not.
const CLOSURES: &str = "
import marshal, sys
for name, moved, costs in ('base', 0, (1.0, 2.0)), ('new', 3, (1.5, 2.25)):
    def key(line, function): return ('a.py', line + moved, function)
    first, last = key(1, 'first'), key(20, 'last')
    table = {first: (1, 1, 5.0, 9.0, {}), last: (1, 1, 1.0, 1.0, {first: (1, 1, 1.0, 1.0)})}
    for line, cost in zip((5, 10), costs):
        table[key(line, '<lambda>')] = (1, 1, 0.5, cost, {first: (1, 1, 0.5, cost)})
    with open(sys.argv[1] + '/' + name + '.pstats', 'wb') as file:
        marshal.dump(table, file)
";

#[test]
fn definitions_of_what_has_bounds_have_exact_costs() {
    let mut python = tools::command("python3");
    let folder = Folder::new();
    let made = python.args(["-c", CLOSURES]).arg(folder.path("")).status();
    assert!(made.expect("it runs").success());
    let [base, new] = ["base.pstats", "new.pstats"]
        .map(|name| folder.path(name).to_str().expect("plain").to_owned());
    let answer = asked(&["diff", &base, &new, "--cumulative", "--all"]);
    // Own costs and calls are equal, but not what was called.
    assert_eq!(answer["warnings"], json!([]), "{answer}");
    let row = &rows(&answer)[&("<lambda>".to_owned(), "a.py".to_owned())];
    let bounds = ["base_cumulative_min", "base_cumulative_max"].map(|name| number(row, name));
    assert_eq!((&row["base"], bounds), (&Value::Null, [2e9, 3e9]), "{row}");
    let found: Vec<(u64, u64, f64, f64)> = answer["definitions"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|pair| {
            let line = |name: &str| pair[name].as_u64().expect("a line");
            let cost = |name: &str| number(pair, name);
            (
                line("base_line"),
                line("new_line"),
                cost("base"),
                cost("new"),
            )
        })
        .collect();
    assert_eq!(
        found,
        [(5, 8, 1e9, 1.5e9), (10, 13, 2e9, 2.25e9)],
        "{answer}"
    );
}

/// A program in callgrind's format: functions with their file, their own cost, and whom they call.
fn program_in_c(functions: &[(&str, &str, u64, &[&str])]) -> Vec<u8> {
    let mut text = "events: Ir\n".to_owned();
    for (name, file, cost, callees) in functions {
        writeln!(text, "fl={file}\nfn={name}\n1 {cost}").expect("memory");
        for callee in *callees {
            let (_, file, cost, _) = functions
                .iter()
                .find(|(name, ..)| name == callee)
                .expect("a function");
            writeln!(text, "cfi={file}\ncfn={callee}\ncalls=1 1\n2 {cost}").expect("memory");
        }
    }
    text.into_bytes()
}

#[test]
fn suggested_rules_make_renamed_functions_one() {
    let folder = Folder::new();
    for (old, new) in [
        ("fmt", "fmt_fast"),
        ("fmt", "a::b<$1>(int, char const*)"),
        ("f(x/y)", "größe [2]"),
    ] {
        let named = |name: &'static str, cost: u64| {
            program_in_c(&[
                ("main", "a.c", 100, &["run"]),
                ("run", "a.c", 200, &[name, "parse"]),
                (name, "a.c", cost, &["utf8", "pad"]),
                ("parse", "a.c", 400, &["utf8"]),
                ("utf8", "b.c", 50, &[]),
                ("pad", "b.c", 60, &[]),
            ])
        };
        let base = folder.file("base.out", &named(old, 3000));
        let head = folder.file("new.out", &named(new, 3010));
        let answer = asked(&["diff", &base, &head, "--noise", "exact"]);
        let found = answer["suggestions"].as_array().expect("a list");
        assert_eq!(found.len(), 1, "{answer}");
        assert_eq!(
            (&found[0]["base"]["function"], &found[0]["new"]["function"]),
            (&json!(old), &json!(new))
        );
        let (out, _, _) = told(&["diff", &base, &head, "--noise", "exact"]);
        assert!(
            out.contains(&format!("Renamed? {old} is gone, {new} is new")),
            "{out}"
        );
        let rules = found[0]["rules"].as_array().expect("a list");
        let lines: Vec<&str> = rules.iter().filter_map(Value::as_str).collect();
        assert_eq!(lines.len(), 1, "{answer}");
        assert!(out.contains(lines[0]), "{out}");
        let file = folder.file("rules.txt", format!("{}\n", lines[0]).as_bytes());
        let database = folder.path("runs.db");
        let _ = fs::remove_file(&database);
        let database = database.to_str().expect("plain");
        for arguments in [
            &["import", "--db", database, &base, &head][..],
            &["identify", "--db", database, "--rules", &file],
        ] {
            let (_, said, succeeded) = told(arguments);
            assert!(succeeded, "{said}");
        }
        let answer = asked(&["diff", "--db", database, "1", "2", "--noise", "exact"]);
        let row = &rows(&answer)[&(new.to_owned(), "a.c".to_owned())];
        assert_eq!(
            (&row["verdict"], number(row, "delta")),
            (&json!("same"), 10.0),
            "{row}"
        );
        assert_eq!(answer["suggestions"], json!([]), "{answer}");
    }
}

#[test]
fn what_is_called_by_others_is_no_rename() {
    let folder = Folder::new();
    let base = folder.file(
        "base.out",
        &program_in_c(&[
            ("main", "a.c", 100, &["run", "stop"]),
            ("run", "a.c", 200, &["old", "parse"]),
            ("stop", "a.c", 200, &["parse"]),
            ("old", "a.c", 3000, &["utf8"]),
            ("parse", "a.c", 400, &["utf8"]),
            ("utf8", "b.c", 50, &[]),
        ]),
    );
    for (cost, caller_of_new) in [(3000, "stop"), (1200, "run")] {
        let calls = |name: &str| -> &[&str] {
            if name == caller_of_new {
                &["other", "parse"]
            } else {
                &["parse"]
            }
        };
        let new = folder.file(
            "new.out",
            &program_in_c(&[
                ("main", "a.c", 100, &["run", "stop"]),
                ("run", "a.c", 200, calls("run")),
                ("stop", "a.c", 200, calls("stop")),
                ("other", "a.c", cost, &["utf8"]),
                ("parse", "a.c", 400, &["utf8"]),
                ("utf8", "b.c", 50, &[]),
            ]),
        );
        let answer = asked(&["diff", &base, &new, "--noise", "exact"]);
        assert_eq!(answer["suggestions"], json!([]), "{answer}");
    }
}

#[test]
fn loose_names_are_one_where_chance_does_not_explain_that_they_are_missing() {
    let folder = Folder::new();
    let row_of = |answer: &Value, name: &str| -> Vec<String> {
        let found = rows(answer).into_values();
        let found = found.filter(|row| row["function"] == name);
        found
            .map(|row| row["matched_by"].as_str().expect("a word").to_owned())
            .collect()
    };
    // What is counted completely is missing where it is not counted, however little it costs and however few runs there are;
    // times vary, and their calls are counted.
    let program = |file: &'static str| {
        program_in_c(&[
            ("main", "a.c", 1_000_000, &["parse"]),
            ("parse", file, 40, &[]),
        ])
    };
    let base = folder.file("base.out", &program("b.c"));
    let new = folder.file("new.out", &program("c.c"));
    let other = program_in_c(&[
        ("main", "a.c", 1_000_000, &["parse"]),
        ("parse", "c.c", 41, &[]),
    ]);
    let other = folder.file("other.out", &other);
    // With equal exact figures it is one function without the flag, too.
    for (new, noise, word) in [
        (&new, "exact", "figures"),
        (&other, "exact", "name"),
        (&new, "timed", "name"),
    ] {
        let asked_of = ["diff", &base, new, "--loose", "--all", "--noise", noise];
        assert_eq!(row_of(&asked(&asked_of), "parse"), [word], "{noise}");
    }
    // Samples are missing by chance where there are few.
    let sampled = |name: &str, url: &str, samples: usize| {
        let frame = |name: &str, url: &str, line: i64| json!({"functionName": name, "scriptId": "1", "url": url, "lineNumber": line, "columnNumber": 0});
        let node = |id: u64, frame: Value, hits: usize, children: &[u64]| json!({"id": id, "callFrame": frame, "hitCount": hits, "children": children});
        let nodes = [
            node(1, frame("(root)", "", -1), 0, &[2, 3]),
            node(2, frame("main", "file:///app/main.js", 0), 1000, &[]),
            node(3, frame("parse", url, 0), samples, &[]),
        ];
        let ids: Vec<u64> = std::iter::repeat_n(2, 1000)
            .chain(std::iter::repeat_n(3, samples))
            .collect();
        let profile = json!({"nodes": nodes, "startTime": 0, "endTime": 1000 * ids.len(), "samples": ids, "timeDeltas": vec![1000; ids.len()]});
        folder.file(name, profile.to_string().as_bytes())
    };
    for (samples, expected) in [(10, &["identity", "identity"][..]), (200, &["name"])] {
        let base = sampled("base.cpuprofile", "file:///app/b.js", samples);
        let new = sampled("new.cpuprofile", "file:///app/lib/c.js", samples + 3);
        let answer = asked(&["diff", &base, &new, "--loose"]);
        assert_eq!(row_of(&answer, "parse"), expected, "{samples}: {answer}");
        let suggested = answer["suggestions"].as_array().expect("a list");
        assert_eq!(suggested.len(), expected.len() - 1, "{samples}: {answer}");
        // Without the flag nothing is paired by names alone.
        let answer = asked(&["diff", &base, &new]);
        assert_eq!(
            row_of(&answer, "parse"),
            ["identity", "identity"],
            "{answer}"
        );
    }
}

#[test]
fn a_name_in_another_file_is_suggested_and_not_taken_for_one() {
    let folder = Folder::new();
    let program = |file: &'static str, cost: u64| {
        program_in_c(&[
            ("main", "a.c", 100, &["parse"]),
            ("parse", file, cost, &[]),
            ("read", "a.c", 30, &[]),
        ])
    };
    let (base, new) = (
        folder.file("base.out", &program("b.c", 400)),
        folder.file("new.out", &program("c.c", 410)),
    );
    let answer = asked(&["diff", &base, &new, "--noise", "exact"]);
    assert_eq!(
        answer["suggestions"][0]["rules"],
        json!(["file /^b\\.c$/ -> c.c"]),
        "{answer}"
    );
    assert_eq!(rows(&answer).len(), 4, "{answer}");
    let answer = asked(&["diff", &base, &new, "--loose", "--noise", "exact"]);
    assert_eq!(rows(&answer).len(), 3, "{answer}");
    assert_eq!(answer["suggestions"], json!([]), "{answer}");
    // Of a file of which some functions stayed no rule can say which moved.
    let new = folder.file(
        "new.out",
        &program_in_c(&[
            ("main", "a.c", 100, &["parse"]),
            ("parse", "a.c", 410, &[]),
            ("read", "a.c", 30, &[]),
        ]),
    );
    let base = folder.file(
        "base.out",
        &program_in_c(&[
            ("main", "a.c", 100, &["parse"]),
            ("parse", "b.c", 400, &[]),
            ("read", "a.c", 30, &[]),
        ]),
    );
    let answer = asked(&["diff", &base, &new, "--noise", "exact"]);
    assert_eq!(answer["suggestions"][0]["rules"], json!([]), "{answer}");
}
