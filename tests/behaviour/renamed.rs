//! Functions, modules and packages that have another name in new: what is said of them, and that the remedy which is said works.

use std::fmt::Write as _;

use serde_json::Value;

use crate::comparing::{Folder, row};

/// A report of GHC: functions with their modules, files, and percentages of the time.
fn ghc(functions: &[(&str, &str, &str, u32)]) -> String {
    let mut text = "\tFri Nov 27 08:00 2026 Time and Allocation Profiling Report  (Final)\n\n\t   app +RTS -p -RTS\n\n\
        \ttotal time  =        1.00 secs   (1000 ticks @ 1000 us, 1 processor)\n\
        \ttotal alloc = 100,000,000 bytes  (excludes profiling overheads)\n\n\
        COST CENTRE MODULE       SRC                          %time %alloc\n\n"
        .to_owned();
    for (name, module, file, part) in functions {
        writeln!(text, "{name} {module} {file}:3:1-20 {part}.0 {part}.0").expect("room");
    }
    text.push_str("\n\n                                      individual      inherited\n");
    text.push_str("COST CENTRE  MODULE       SRC                        no.     entries  %time %alloc   %time %alloc\n\n");
    text.push_str("MAIN         MAIN         <built-in>                 1          0    0.0    0.0   100.0  100.0\n");
    text.push_str(" main        Main         app/Main.hs:3:1-20         2          1    0.0    0.0   100.0  100.0\n");
    for (at, (name, module, file, part)) in functions.iter().enumerate() {
        let number = at + 3;
        writeln!(
            text,
            "  {name}  {module}  {file}:3:1-20  {number}  10  {part}.0 {part}.0  {part}.0 {part}.0"
        )
        .expect("room");
    }
    text
}

/// A module that was renamed with its file, and two that were not.
fn with_parser<'t>(module: &'t str, file: &'t str) -> [(&'t str, &'t str, &'t str, u32); 5] {
    [
        ("go", module, file, 40),
        ("step", module, file, 15),
        ("emit", module, file, 15),
        ("load", "Shop.Load", "src/Shop/Load.hs", 20),
        ("store", "Shop.Store", "src/Shop/Store.hs", 10),
    ]
}

/// The lines for a file of rules that are printed above a table, as they are pasted.
fn rules_of(out: &str) -> String {
    let head = out.split("\n\n").next().expect("a head");
    let lines = head.lines().filter(|line| line.starts_with("  "));
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// The part of the cost of base and of new that is matched, in percent.
fn matched(answer: &Value) -> [String; 2] {
    ["base", "new"].map(|side| {
        let part = answer[side]["matched_pct"].as_f64().expect("a share");
        format!("{part:.1}")
    })
}

#[test]
fn rules_that_are_printed_work_when_they_are_pasted() {
    let folder = Folder::new();
    let old = ghc(&with_parser("Shop.Parse", "src/Shop/Parse.hs"));
    let new = ghc(&with_parser("Shop.Parser", "src/Shop/Parser.hs"));
    folder.write("old.prof", &old).write("new.prof", &new);
    let (out, _, _) = folder.run(&["diff", "old.prof", "new.prof"]);
    let rules = rules_of(&out);
    assert_eq!(
        rules,
        "  module /^Shop\\.Parse$/ -> Shop.Parser\n  file /^src\\/Shop\\/Parse\\.hs$/ -> src/Shop/Parser.hs\n",
        "{out}"
    );
    // A line for each function, and the rules after the last of them.
    let said = out.lines().filter(|line| line.starts_with("Renamed?"));
    let said: Vec<String> = said.map(str::to_owned).collect();
    let expected = ["go", "emit", "step"]
        .map(|name| format!("Renamed? {name} (Shop.Parse) is gone, {name} (Shop.Parser) is new"));
    let [go, emit, step] = expected;
    let step = format!("{step}; for identify --rules, one per line:");
    assert_eq!(said, [go, emit, step], "{out}");
    folder.import("old.prof", &[]);
    folder.import("new.prof", &[]);
    assert_eq!(matched(&folder.json(&["diff", "1", "2"])), ["30.0", "30.0"]);
    folder.write("rules", &rules);
    let (_, err, code) = folder.run(&["identify", "--rules", "rules"]);
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(
        matched(&folder.json(&["diff", "1", "2"])),
        ["100.0", "100.0"]
    );
    let (out, _, _) = folder.run(&["diff", "1", "2"]);
    assert!(
        out.contains("matched: 100.0 % of the cost of base, 100.0 % of new"),
        "{out}"
    );
    // Two rules in one line are none.
    let one = rules.trim().replace("\n  ", " and ");
    folder.write("one", &one);
    folder.refuses(
        &["identify", "--rules", "one"],
        3,
        "line 1, column 27: expected one rule a line, found another one after it: `file /^src",
    );
}

#[test]
fn a_function_that_was_split_was_not_inlined() {
    let folder = Folder::new();
    let one = "main;a 400\nmain;rest 600\n";
    let two = "main;a1 250\nmain;a2 150\nmain;rest 600\n";
    folder.write("one.folded", one).write("two.folded", two);
    let exact = |base: &str, new: &str| {
        folder.json(&["diff", base, new, "--noise", "exact"])["rows"].clone()
    };
    let why = |rows: &Value, function: &str| {
        let rows = serde_json::json!({ "rows": rows });
        row(&rows, function)["reason"]
            .as_str()
            .expect("a reason")
            .to_owned()
    };
    let split = exact("one.folded", "two.folded");
    for (function, others) in [("a", "a1, a2"), ("a1", "a, a2"), ("a2", "a, a1")] {
        let expected = format!("split: together with {others} its cost is unchanged");
        assert_eq!(why(&split, function), expected);
    }
    let joined = exact("two.folded", "one.folded");
    for (function, others) in [("a", "a1, a2"), ("a1", "a, a2"), ("a2", "a, a1")] {
        let expected = format!("joined: together with {others} its cost is unchanged");
        assert_eq!(why(&joined, function), expected);
    }
}

/// Four modules of a function each, in a folder of their name.
fn shop(folder: &str, package: &str, parse: u32) -> String {
    let places = ["Parse", "Render", "Load", "Store"];
    let modules = places.map(|name| format!("{package}.{name}"));
    let files = places.map(|name| format!("{folder}/{name}.hs"));
    let costs = [parse, 30, 20, 5];
    let names = ["parse", "render", "load", "store"];
    let functions: Vec<_> = (0..4)
        .map(|at| (names[at], &*modules[at], &*files[at], costs[at]))
        .collect();
    ghc(&functions)
}

#[test]
fn modules_are_one_whose_functions_are() {
    let folder = Folder::new();
    folder
        .write("old.prof", &shop("src/Shop", "Shop", 40))
        .write("new.prof", &shop("src/Store", "Store", 40))
        .write("stays.prof", &shop("src/Shop", "Store", 40))
        .write("slow.prof", &shop("src/Store", "Store", 60));
    let modules = serde_json::json!([
        {"base": "Shop.Load", "new": "Store.Load", "functions": 1},
        {"base": "Shop.Parse", "new": "Store.Parse", "functions": 1},
        {"base": "Shop.Render", "new": "Store.Render", "functions": 1},
        {"base": "Shop.Store", "new": "Store.Store", "functions": 1},
    ]);
    for (new, folders) in [
        (
            "new.prof",
            serde_json::json!([{"base": "src/Shop", "new": "src/Store", "functions": 4}]),
        ),
        ("stays.prof", serde_json::json!([])),
    ] {
        for by in ["function", "module", "file"] {
            let answer = folder.json(&["diff", "old.prof", new, "--by", by]);
            assert_eq!(matched(&answer), ["100.0", "100.0"], "{new} {by}");
            assert_eq!(answer["folders"], folders, "{new} {by}");
            assert_eq!(answer["modules"], modules, "{new} {by}");
        }
        let (out, _, _) = folder.run(&["diff", "old.prof", new, "--by", "module"]);
        let said = "\nModule Shop.Parse of base is Store.Parse of new: 1 function\n";
        assert!(out.contains(said), "{out}");
    }
    // A rule means the module by either name, and what new costs.
    for name in ["Shop.Parse", "Store.Parse"] {
        folder.write("budget", &format!("module '{name}' <= +5 %\n"));
        let gate = [
            "gate",
            "--budget",
            "budget",
            "old.prof",
            "slow.prof",
            "--noise",
            "exact",
        ];
        let (out, err, code) = folder.run(&gate);
        assert_eq!(code, Some(1), "{out}{err}");
        assert!(
            out.contains("fail: Store.Parse: 400.0 msec -> 600.0 msec, +50.0 %"),
            "{out}"
        );
    }
    // So it is in a history, whose folder is said to be one in some runs.
    for name in ["old.prof", "new.prof", "slow.prof"] {
        folder.import(name, &[]);
    }
    let (out, err, _) = folder.run(&["history", "--by", "module", "Store.Parse"]);
    assert!(
        out.contains("Module Shop.Parse of some runs is Store.Parse of others: 1 function"),
        "{out}{err}"
    );
}

#[test]
fn a_module_that_became_two_is_neither() {
    let folder = Folder::new();
    let file = "src/Old/A.hs";
    let old: Vec<_> = ["a", "b", "c", "d", "e", "f"]
        .map(|name| (name, "Old", file, 15))
        .into();
    let new: Vec<_> = (old.iter().enumerate())
        .map(|(at, (name, ..))| (*name, ["One", "Two"][at % 2], "src/New/A.hs", 15))
        .collect();
    folder
        .write("old.prof", &ghc(&old))
        .write("new.prof", &ghc(&new));
    let answer = folder.json(&["diff", "old.prof", "new.prof"]);
    assert_eq!(answer["folders"][0]["functions"], 6);
    assert_eq!(answer["modules"], serde_json::json!([]));
}

#[test]
fn a_root_that_pairs_nothing_says_what_does() {
    let folder = Folder::new();
    let old = ghc(&with_parser("Shop.Parse", "src/Shop/Parse.hs"));
    let new = ghc(&with_parser("Shop.Parser", "src/Shop/Parser.hs"));
    folder.write("old.prof", &old).write("new.prof", &new);
    let diff = [
        "diff",
        "old.prof",
        "new.prof",
        "--root",
        "Shop.Parse=Shop.Parser",
    ];
    let (out, err, _) = folder.run(&diff);
    assert!(!out.contains("Folder"), "{out}");
    assert!(
        err.contains(
            "--root Shop.Parse=Shop.Parser: 0 functions: the functions of Shop.Parse lie in other files than those of \
             Shop.Parser; for identify --rules, one per line: `module /^Shop\\.Parse$/ -> Shop.Parser`, \
             `file /^src\\/Shop\\/Parse\\.hs$/ -> src/Shop/Parser.hs`"
        ),
        "{err}"
    );
    // Both rules are suggested, and the modules are one as was said.
    assert_eq!(rules_of(&out).lines().count(), 2, "{out}");
    let modules = folder.json(&[&diff[..], &["--by", "module"]].concat());
    assert_eq!(matched(&modules), ["100.0", "100.0"]);
}

#[test]
fn a_package_that_was_renamed_has_rules_that_make_it_one() {
    let stacks = |prefix: &str, parse: u32| {
        let names = [
            ("Parser.parse", parse),
            ("Lexer.next", 300),
            ("Render.draw", 200),
        ];
        let names = [
            &names[..],
            &[("Cache.get", 120), ("Util.fmt", 80), ("Util.len", 60)],
        ]
        .concat();
        let lines = names
            .iter()
            .map(|(name, cost)| format!("{prefix}App.main;{prefix}{name} {cost}\n"));
        lines.collect::<String>()
    };
    for (old, new) in [
        ("example.com/a/work.", "example.com/a/task."),
        ("com/acme/oldshop/", "com/acme/shop/"),
        ("old::", "new::"),
    ] {
        let folder = Folder::new();
        folder
            .write("old.folded", &stacks(old, 400))
            .write("new.folded", &stacks(new, 400))
            .write("slow.folded", &stacks(new, 600))
            .write("any", "any <= +10 %\n");
        let (out, err, _) = folder.run(&["diff", "old.folded", "new.folded"]);
        let rules = rules_of(&out);
        assert!(
            err.contains("only 0.0 % of the cost of base") && err.contains(rules.trim()),
            "{err}"
        );
        // Nothing is passed as gone.
        let gate = ["gate", "--budget", "any", "--noise", "exact"];
        let (out, _, code) = folder.run(&[&gate[..], &["old.folded", "slow.folded"]].concat());
        assert!(code == Some(4) && out.contains("not comparable"), "{out}");
        // The rules work as they are.
        for name in ["old.folded", "new.folded", "slow.folded"] {
            folder.import(name, &[]);
        }
        folder.write("rules", &rules);
        let (_, err, code) = folder.run(&["identify", "--rules", "rules"]);
        assert_eq!(code, Some(0), "{err}");
        let answer = folder.json(&["diff", "1", "2"]);
        assert_eq!(matched(&answer), ["100.0", "100.0"]);
        assert_eq!(answer["prefixes"], serde_json::json!([]));
        let (out, _, code) = folder.run(&[&gate[..], &["1", "3"]].concat());
        assert!(code == Some(1) && out.contains("+50.0 %"), "{out}");
    }
}

#[test]
fn files_of_a_renamed_package_have_rules_where_they_are_free() {
    let names = ["a", "b", "c", "d", "e", "f"];
    let stacks = |package: &str, folder: &str| {
        let line = |name| format!("{package}.{name} ({folder}/{name}.py:1) 10\n");
        names.map(line).concat()
    };
    let folder = Folder::new();
    folder.write("old.folded", &stacks("old", "/src/old"));
    let rules_with = |more: &str| {
        folder.write(
            "new.folded",
            &format!("{}{more}", stacks("new", "/src/new")),
        );
        let (out, err, code) = folder.run(&["diff", "old.folded", "new.folded"]);
        assert_eq!(code, Some(0), "{err}");
        rules_of(&out)
    };
    assert_eq!(
        rules_with(""),
        "  name /^old\\./ -> new.\n  file /^\\/src\\/old\\// -> /src/new/\n"
    );
    // A folder that new has, too, is none that was renamed, and names are not one whose files are not.
    assert_eq!(rules_with("other.x (/src/old/x.py:1) 10\n"), "");
    assert_eq!(
        rules_with("other.x (/src/older/x.py:1) 10\n"),
        rules_with("")
    );
}

#[test]
fn a_package_that_new_has_too_was_not_renamed() {
    let folder = Folder::new();
    let names = ["a", "b", "c", "d", "e", "f"];
    let old: String = names.map(|name| format!("old::{name} 10\n")).concat();
    let new: String = names.map(|name| format!("new::{name} 10\n")).concat();
    folder.write("old.folded", &old);
    folder.write("new.folded", &format!("{new}old::other 1\n"));
    let answer = folder.json(&["diff", "old.folded", "new.folded"]);
    assert_eq!(answer["prefixes"], serde_json::json!([]));
}
