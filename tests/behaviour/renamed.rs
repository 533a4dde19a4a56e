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
fn matched(answer: &Value) -> [f64; 2] {
    ["base", "new"].map(|side| answer[side]["matched_pct"].as_f64().expect("a share"))
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
    assert!(
        out.contains("Renamed? go (Shop.Parse) is gone, go (Shop.Parser) is new"),
        "{out}"
    );
    folder.import("old.prof", &[]);
    folder.import("new.prof", &[]);
    assert_eq!(matched(&folder.json(&["diff", "1", "2"])), [30.0, 30.0]);
    folder.write("rules", &rules);
    let (_, err, code) = folder.run(&["identify", "--rules", "rules"]);
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(matched(&folder.json(&["diff", "1", "2"])), [100.0, 100.0]);
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
        row(&rows, function)["why"]
            .as_str()
            .expect("a reason")
            .to_owned()
    };
    let split = exact("one.folded", "two.folded");
    for (function, others) in [("a", "a1, a2"), ("a1", "a, a2"), ("a2", "a, a1")] {
        let expected = format!("split: together with {others} it costs the same");
        assert_eq!(why(&split, function), expected);
    }
    let joined = exact("two.folded", "one.folded");
    for (function, others) in [("a", "a1, a2"), ("a1", "a, a2"), ("a2", "a, a1")] {
        let expected = format!("joined: together with {others} it costs the same");
        assert_eq!(why(&joined, function), expected);
    }
}
