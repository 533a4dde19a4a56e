//! Comparisons by module, file, line, thread and process: nothing that a build or a process makes up tells two groups apart, and what is
//! one for functions is one for the groups that they are in.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use rusqlite::Connection;
use serde_json::{Value, json};

use super::comparison::{Folder, asked, import, is_near, number, told};
use crate::support::random::Random;

/// Rows by their names, each with its cost in base and in new.
fn costs(answer: &Value) -> BTreeMap<String, [f64; 2]> {
    let rows = answer["rows"].as_array().expect("rows");
    let mut found: BTreeMap<String, [f64; 2]> = BTreeMap::new();
    for row in rows {
        let name = row["function"].as_str().expect("a name").to_owned();
        let costs = [number(row, "base"), number(row, "new")];
        assert!(
            found.insert(name, costs).is_none(),
            "two rows of one name: {answer}"
        );
    }
    found
}

/// What a comparison by something has, which must have these rows with these costs on both sides, and no change.
#[track_caller]
fn unchanged(flags: &[&str], expected: &[(&str, f64)]) {
    let answer = asked(&[&["diff", "--all", "--noise", "exact"], flags].concat());
    let expected: BTreeMap<String, [f64; 2]> = expected
        .iter()
        .map(|(name, cost)| ((*name).to_owned(), [*cost; 2]))
        .collect();
    assert_eq!(costs(&answer), expected, "{flags:?}");
    for row in answer["rows"].as_array().expect("rows") {
        assert_eq!(row["verdict"], "same", "{flags:?}: {row}");
    }
    let (_, err, succeeded) =
        told(&[&["diff", "--all", "--noise", "exact", "--exit-code"], flags].concat());
    assert!(succeeded, "{flags:?}: {err}");
}

/// A thread: its name, and its leaves with their files and costs.
type Thread<'t> = (&'t str, &'t [(&'t str, &'t str, u64)]);

/// Stacks of threads in speedscope's format, each a leaf in a file with its cost.
fn threads(threads: &[Thread<'_>]) -> Vec<u8> {
    let mut frames = Vec::new();
    let profiles: Vec<Value> = threads
        .iter()
        .map(|(name, leaves)| {
            let first = frames.len();
            frames.extend(
                leaves
                    .iter()
                    .map(|(name, file, _)| json!({"name": name, "file": file, "line": 1})),
            );
            let stacks: Vec<Vec<usize>> = (first..frames.len()).map(|frame| vec![frame]).collect();
            let weights: Vec<u64> = leaves.iter().map(|(.., cost)| *cost).collect();
            json!({
                "type": "sampled", "name": name, "unit": "nanoseconds", "startValue": 0,
                "endValue": weights.iter().sum::<u64>(), "samples": stacks, "weights": weights,
            })
        })
        .collect();
    json!({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "shared": {"frames": frames},
        "profiles": profiles,
    })
    .to_string()
    .into_bytes()
}

/// Samples as `perf script` prints them: functions with their programs, so often each.
fn samples(comm: &str, pid: u32, functions: &[(&str, &str, usize)]) -> Vec<u8> {
    let mut text = String::new();
    let mut at = 0;
    for (name, module, count) in functions {
        for _ in 0..*count {
            at += 1;
            let _ = write!(
                text,
                "{comm} {pid} 100.{at:06}: 1 cycles:u: \n\t1000 {name}+0x10 ({module})\n\n"
            );
        }
    }
    text.into_bytes()
}

/// A file of callgrind: functions with their files and programs, and what their lines cost. A line in another file has that before it.
type Lines<'l> = &'l [(&'l str, &'l str, &'l [(&'l str, u32, u64)])];

fn callgrind(object: &str, functions: Lines<'_>) -> Vec<u8> {
    let mut text =
        "version: 1\ncreator: callgrind-3.19.0\npositions: line\nevents: Ir\n".to_owned();
    let _ = writeln!(text, "ob={object}");
    for (name, file, lines) in functions {
        let _ = writeln!(text, "fl={file}\nfn={name}");
        for (other, line, cost) in *lines {
            let file = if other.is_empty() { file } else { other };
            let _ = writeln!(text, "fe={file}\n{line} {cost}");
        }
        text.push('\n');
    }
    text.into_bytes()
}

/// Threads are known by their names without the numbers that a process gives them, and those of one name are added up.
#[test]
fn threads_have_no_numbers() {
    let folder = Folder::new();
    let recording = |ids: [u32; 4], parts: [u64; 3]| {
        let name = |at: usize, name: &str| format!("Thread {} \"{name}\"", ids[at]);
        let names = [
            name(0, ""),
            name(1, "worker"),
            name(2, "worker"),
            name(3, "worker"),
        ];
        let [one, two, three] = parts.map(|cost| [("step", "pool.py", cost)]);
        threads(&[
            (&names[0], &[("main", "main.py", 500)]),
            (&names[1], &one),
            (&names[2], &two),
            (&names[3], &three),
        ])
    };
    let base = folder.file(
        "base.json",
        &recording([22864, 22865, 22866, 22867], [100, 50, 50]),
    );
    let new = folder.file(
        "new.json",
        &recording([23008, 23011, 23012, 23013], [10, 20, 170]),
    );
    let expected = [("thread *", 500.0), ("worker", 200.0)];
    unchanged(&[&base, &new, "--by", "thread"], &expected);
    unchanged(&[&base, &new, "--by", "thread", "--cumulative"], &expected);
    let work = [("parse", "/b/work", 10), ("render", "/b/work", 30)];
    let base = folder.file("base.perf", &samples("work", 1234, &work));
    let new = folder.file("new.perf", &samples("work", 9876, &work));
    unchanged(&[&base, &new, "--by", "thread"], &[("thread *", 40.0)]);
    unchanged(&[&base, &new, "--by", "process"], &[("work", 40.0)]);
}

/// Modules and files are those of identities: without hashes of builds, versions, and the places of packages.
#[test]
fn modules_and_files_are_those_of_identities() {
    let folder = Folder::new();
    let build = |hash: &str| {
        let program = format!("/w/target/release/deps/app-{hash}");
        samples(
            "app",
            1,
            &[
                ("app::parse", &program, 10),
                ("app::render", &program, 20),
                ("malloc", "/usr/lib/libc.so.6", 5),
            ],
        )
    };
    let base = folder.file("base.perf", &build("0123456789abcdef"));
    let new = folder.file("new.perf", &build("aaaa456789abcdef"));
    let modules = [("app", 30.0), ("libc.so", 5.0)];
    unchanged(&[&base, &new, "--by", "module"], &modules);
    unchanged(
        &[&base, &new, "--by", "module", "--focus", "app"],
        &modules[..1],
    );
    unchanged(&[&base, &new, "--by", "module", "--cumulative"], &modules);
    let build = |registry: &str, version: &str| {
        let file = |name: &str| {
            format!("/x/u/.cargo/registry/src/index-{registry}/serde-{version}/src/{name}.rs")
        };
        threads(&[(
            "main",
            &[
                ("serde::read", &file("lib"), 100),
                ("serde::write", &file("lib"), 50),
                ("serde::skip", &file("de"), 30),
            ],
        )])
    };
    let base = folder.file("base.json", &build("6f17d22bba15001f", "1.0.0"));
    let new = folder.file("new.json", &build("1949cf8c6b5b557f", "1.0.1"));
    let files = [("serde/src/lib.rs", 150.0), ("serde/src/de.rs", 30.0)];
    unchanged(&[&base, &new, "--by", "file"], &files);
    unchanged(&[&base, &new, "--by", "file", "--cumulative"], &files);
}

/// A line is one of the function that its identity is.
#[test]
fn lines_are_those_of_identities() {
    let folder = Folder::new();
    let build = |hash: &str, version: &str, root: &str| {
        let library = format!("/x/u/.cargo/registry/src/index-{hash}/serde-{version}/src/lib.rs");
        let own = format!("{root}/src/m.rs");
        let inlined = format!("{root}/src/inline.rs");
        let name = |at: usize| format!("app::work{at}::h{hash}");
        // Two instances of one generic function.
        let other = format!("app::work1::h{}", hash.chars().rev().collect::<String>());
        callgrind(
            &format!("{root}/target/app"),
            &[
                (&name(0), &own, &[("", 20, 300), ("", 21, 200)]),
                (
                    &name(1),
                    &own,
                    &[("", 30, 100), (&library, 7, 40), (&inlined, 8, 30)],
                ),
                (&other, &own, &[("", 30, 11), (&library, 7, 1)]),
                ("main", &own, &[("", 5, 9)]),
            ],
        )
    };
    let base = folder.file("base.callgrind", &build("00aa11bb22cc33dd", "1.0.0", "/w"));
    let new = folder.file("new.callgrind", &build("ffaa11bb22cc33d0", "1.0.1", "/w"));
    let moved = folder.file(
        "moved.callgrind",
        &build("ffaa11bb22cc33d0", "1.0.1", "/ci/7"),
    );
    let lines = [
        ("app::work0[20]", 300.0),
        ("app::work0[21]", 200.0),
        ("app::work1[30]", 111.0),
        ("app::work1[lib.rs:7]", 41.0),
        ("app::work1[inline.rs:8]", 30.0),
        ("main[5]", 9.0),
    ];
    unchanged(&[&base, &new, "--by", "line"], &lines);
    unchanged(&[&base, &moved, "--by", "line"], &lines);
}

/// Modules and folders that were found to be one, or said to be, are one row, and so are threads and processes that are called as them.
#[test]
fn pairs_of_functions_are_pairs_of_groups() {
    let folder = Folder::new();
    let program = |comm: &str, module: &str| {
        samples(
            comm,
            7,
            &[
                ("parse", module, 50),
                ("render", module, 40),
                ("malloc", "/usr/lib/libc.so.6", 5),
            ],
        )
    };
    let base = folder.file("base.perf", &program("old.test", "/b/old.test"));
    let new = folder.file("new.perf", &program("new.test", "/b/new.test"));
    let modules = [("new.test", 90.0), ("libc.so", 5.0)];
    unchanged(&[&base, &new, "--by", "module"], &modules);
    unchanged(&[&base, &new, "--by", "process"], &[("new.test", 95.0)]);
    unchanged(
        &[
            &base,
            &new,
            "--by",
            "module",
            "--root",
            "/b/old.test=/b/new.test",
        ],
        &modules,
    );
    // A tree begins with the process.
    let tree = asked(&["report", "diff_tree", &base, &new, "--noise", "exact"]);
    let places = tree["rows"].as_array().expect("rows");
    assert_eq!(places.len(), 5, "{tree}");
    for place in places {
        assert_eq!(place["status"], "both", "{tree}");
    }
    let answer = asked(&["diff", &base, &new, "--by", "module", "--noise", "exact"]);
    let rows = answer["rows"].as_array().expect("rows");
    let row = rows.iter().find(|row| row["function"] == "new.test");
    let row = row.expect("the program");
    assert_eq!(row["matched_by"], "module", "{row}");
    let checkout = |root: &str| {
        let file = |name: &str| format!("{root}/{name}");
        threads(&[(
            "main",
            &[
                ("read", &file("src/store.py"), 100),
                ("write", &file("src/store.py"), 60),
                ("show", &file("lib/view.py"), 40),
            ],
        )])
    };
    let base = folder.file("base.json", &checkout("/srv/one/work"));
    let new = folder.file("new.json", &checkout("/ci/7"));
    unchanged(
        &[&base, &new, "--by", "file"],
        &[("/ci/7/src/store.py", 160.0), ("/ci/7/lib/view.py", 40.0)],
    );
}

/// A rule of the user's is one for groups, in the database that has it and for a file that is compared with it.
#[test]
fn rules_of_the_user_hold_for_groups() {
    let folder = Folder::new();
    let program = |module: &str, parse: &str| {
        samples(
            "app",
            7,
            &[(parse, module, 50), ("malloc", "/usr/lib/libc.so.6", 5)],
        )
    };
    let files = [
        ("base-1.perf", program("/b/prog", "parse")),
        ("new-2.perf", program("/b/other", "read")),
    ];
    let database = import(&folder, "runs.db", &files);
    let rules = folder.file(
        "rules",
        b"module /^prog$/ -> tool\nmodule /^other$/ -> tool\nname /^read$/ -> parse\n",
    );
    let (_, err, succeeded) = told(&["identify", "--db", &database, "--rules", &rules]);
    assert!(succeeded, "{err}");
    let new = folder.file("new-3.perf", &files[1].1);
    let modules = [("tool", 50.0), ("libc.so", 5.0)];
    for new in ["2", &new] {
        let what = ["--db", &database, "1", new];
        unchanged(&[&what[..], &["--by", "module"]].concat(), &modules);
        unchanged(
            &[&what[..], &["--by", "module", "--cumulative"]].concat(),
            &modules,
        );
        let functions = [("parse", 50.0), ("malloc", 5.0)];
        unchanged(&[&what[..], &["--cumulative"]].concat(), &functions);
        unchanged(
            &[&what[..], &["--focus", "parse"]].concat(),
            &functions[..1],
        );
    }
}

/// A process is called as its program, of whose name Linux may have kept the beginning on one side only.
#[test]
fn programs_with_long_names_are_one_process() {
    let folder = Folder::new();
    let program = |comm: &str, module: &str| {
        samples(
            comm,
            7,
            &[
                ("parse", module, 50),
                ("render", module, 40),
                ("malloc", "/usr/lib/libc.so.6", 5),
            ],
        )
    };
    let names = [
        "old.test",
        "much-longer-name.test",
        "another-long-name.test",
    ];
    let files = names.map(|name| {
        let comm = &name[..name.len().min(15)];
        let module = format!("/b/{name}");
        folder.file(&format!("{name}.perf"), &program(comm, &module))
    });
    for (base, new) in [(0, 1), (1, 0), (1, 2)] {
        let (base, new, name) = (&files[base], &files[new], names[new]);
        let comm = &name[..name.len().min(15)];
        unchanged(&[base, new, "--by", "process"], &[(comm, 95.0)]);
        let tree = asked(&["report", "diff_tree", base, new, "--noise", "exact"]);
        let places = tree["rows"].as_array().expect("rows");
        assert_eq!(places.len(), 5, "{tree}");
        for place in places {
            assert_eq!(place["status"], "both", "{tree}");
        }
        assert_eq!(places[0]["function"], comm, "{tree}");
    }
}

/// With everything called, a line of several functions that are one counts once on each path.
#[test]
fn lines_of_identities_count_once_on_a_path() {
    let folder = Folder::new();
    let build = |one: u32, other: u32| {
        let name = |part: u32, line: u32| format!("/w/m.c:work.part.{part}:{line}");
        let stacks = [
            (vec![name(one, 30), name(other, 30)], 100),
            (vec![name(other, 30)], 50),
            (vec![name(other, 31), name(one, 30)], 20),
            (vec![name(one, 30), name(other, 31), name(one, 30)], 7),
        ];
        let mut text = "# austin: 3.6.0\n# interval: 1000\n# mode: wall\n\n".to_owned();
        for (stack, cost) in stacks {
            let _ = writeln!(text, "P1;T0:1;/w/m.c:main:5;{} {cost}", stack.join(";"));
        }
        text.into_bytes()
    };
    let base = folder.file("base.austin", &build(0, 1));
    let new = folder.file("new.austin", &build(2, 7));
    let microseconds = 1000.0;
    let lines = [
        ("work[30]", 177.0 * microseconds),
        ("work[31]", 27.0 * microseconds),
        ("main[5]", 177.0 * microseconds),
    ];
    unchanged(&[&base, &new, "--by", "line", "--cumulative"], &lines);
    unchanged(&[&base, &new, "--by", "line"], &lines[..1]);
}

/// The values of a label are what they are, in a database with other rules, too: their numbers are not those of functions.
#[test]
fn values_of_labels_are_no_functions() {
    let folder = Folder::new();
    let run = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/cases/pprof/labels/run.pb"
    );
    let content = std::fs::read(run).expect("a case");
    let database = import(&folder, "runs.db", &[("base-1.pb", content)]);
    let rules = folder.file("rules", b"name /^alpha$/ -> first\n");
    let (_, err, succeeded) = told(&["identify", "--db", &database, "--rules", &rules]);
    assert!(succeeded, "{err}");
    let answer = asked(&[
        "diff",
        "--db",
        &database,
        "1",
        run,
        "--by",
        "label:thread",
        "--all",
    ]);
    let expected = ["(no thread)", "io", "main"].map(|value| (value.to_owned(), [10.0; 2]));
    assert_eq!(costs(&answer), BTreeMap::from(expected));
}

/// What the shown statements have for a name in all runs of a side.
fn shown(database: &str, by: &str) -> BTreeMap<String, [f64; 2]> {
    let flags = ["diff", "--db", database, "1", "3", "--by", by, "--show-sql"];
    let (script, err, succeeded) = told(&flags);
    assert!(succeeded, "{err}");
    let database = Connection::open(database).expect("a database");
    let mut sums: BTreeMap<String, [f64; 2]> = BTreeMap::new();
    let text: String = script
        .split_inclusive('\n')
        .filter(|line| !line.starts_with("--") && !line.starts_with('.'))
        .collect();
    let statements = text
        .split_inclusive(";\n")
        .filter(|part| !part.trim().is_empty());
    for (run, statement) in statements.enumerate() {
        let mut statement = database.prepare(statement).expect("SQL");
        let name = if by == "line" { "element" } else { "function" };
        let mut rows = statement.query([]).expect("an answer");
        while let Some(row) = rows.next().expect("a row") {
            let name: String = row.get(name).expect("a name");
            sums.entry(name).or_default()[run] += row.get::<_, f64>("exclusive").expect("a cost");
        }
    }
    sums
}

/// Groups cost what their functions cost in each run, and the shown statement has that.
#[test]
fn groups_cost_what_their_functions_cost() {
    let folder = Folder::new();
    for seed in 0..4 {
        let mut random = Random(900 + seed);
        let mut files = Vec::new();
        for side in ["base", "new"] {
            for at in 0..2 {
                let hash = format!(
                    "{:016x}",
                    0x0123_4567_89ab_cdef_u64 + random.below(99_999) as u64
                );
                let mut of = |program: &str, name: &str| {
                    let lines: Vec<(String, u32, u64)> = (0..3)
                        .map(|line| (String::new(), 10 + line, 1 + random.below(1000) as u64))
                        .collect();
                    (
                        format!("{program}::{name}::h{hash}"),
                        format!("/w/{program}/src/{name}.rs"),
                        lines,
                    )
                };
                let functions = [of("app", "parse"), of("app", "render"), of("lib", "parse")];
                let lines: Vec<Vec<(&str, u32, u64)>> = functions
                    .iter()
                    .map(|(.., lines)| {
                        lines
                            .iter()
                            .map(|(file, line, cost)| (file.as_str(), *line, *cost))
                            .collect()
                    })
                    .collect();
                let all: Vec<_> = functions
                    .iter()
                    .zip(&lines)
                    .map(|((name, file, _), lines)| (name.as_str(), file.as_str(), &lines[..]))
                    .collect();
                let content = callgrind(&format!("/w/target/release/deps/app-{hash}"), &all);
                files.push((format!("{side}-{at}.callgrind"), content));
            }
        }
        let files: Vec<(&str, Vec<u8>)> = files
            .iter()
            .map(|(name, content)| (name.as_str(), content.clone()))
            .collect();
        let database = import(&folder, "runs.db", &files);
        let answer = |by: &str| {
            asked(&[
                "diff", "--db", &database, "1", "3", "--all", "--noise", "exact", "--by", by,
            ])
        };
        let functions = answer("function");
        for part in ["module", "file"] {
            let mut expected: BTreeMap<String, [f64; 2]> = BTreeMap::new();
            for row in functions["rows"].as_array().expect("rows") {
                let name = row[part].as_str().expect("a name").to_owned();
                let sums = expected.entry(name).or_default();
                sums[0] += number(row, "base");
                sums[1] += number(row, "new");
            }
            let found = costs(&answer(part));
            assert_eq!(
                found.keys().collect::<Vec<_>>(),
                expected.keys().collect::<Vec<_>>()
            );
            let shown = shown(&database, part);
            for (name, sums) in expected {
                for side in 0..2 {
                    assert!(is_near(found[&name][side], sums[side]), "{part} {name}");
                    assert!(is_near(shown[&name][side], sums[side]), "{part} {name}");
                }
            }
        }
        let (found, shown) = (costs(&answer("line")), shown(&database, "line"));
        assert_eq!(found.len(), 9);
        for (name, sums) in found {
            for side in 0..2 {
                assert!(is_near(shown[&name][side], sums[side]), "{name}");
            }
        }
    }
}
