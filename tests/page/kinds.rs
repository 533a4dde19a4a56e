//! Runs that know little, or much: the page says what the file does not know, and holds what there is.

use std::fmt::Write as _;
use std::fs;

use serde_json::Value;

use crate::shown::{Shown, browser, repository, said};
use crate::support::browser::Click;
use crate::support::long;

/// All views.
const VIEWS: [&str; 6] = ["panes", "overview", "flame", "tree", "calls", "source"];

/// A page of a file of this name and content.
fn page(test: &str, name: &str, content: &str, words: &[&str]) -> Shown {
    let mut shown = browser(test);
    let file = shown.folder.join(name);
    fs::write(&file, content).expect("a file");
    shown.import(&file, &[]);
    shown.write(words);
    shown
}

/// What is known of the run, as the page has it.
fn places(shown: &mut Shown) -> Vec<Vec<String>> {
    shown.go(&[("view", "tree")]);
    shown.rows(".tree")
}

#[test]
fn an_empty_run_says_so_in_every_view() {
    let mut shown = page("empty", "empty.callgrind", "events: Ir\n", &[]);
    for (view, expected) in [
        ("panes", "Nothing to show."),
        ("overview", "totals of functions only"),
        ("flame", "there is no call tree"),
        ("tree", "there is no call tree"),
        ("calls", "The run has no functions."),
        ("source", "The run has no functions."),
    ] {
        shown.open(&[("view", view)]);
        let text = shown.text("main");
        assert!(text.contains(expected), "{view}: {text}");
    }
    shown.was_quiet();
}

#[test]
fn a_flat_run_says_what_it_does_not_know() {
    let text = "events: Ir\nfl=a.c\nfn=main\n1 2\nfn=other\n7 4\n";
    let mut shown = page("flat", "flat.callgrind", text, &[]);
    shown.open(&[("functions", "table")]);
    // Costs with everything called are unknown, so that own ones are shown.
    assert_eq!(
        shown.rows(".pane.functions"),
        [["other", "4", "66.7"], ["main", "2", "33.3"]]
    );
    assert!(shown.text(".pane.functions .said").contains("unknown"));
    let answer = shown.is_as_said(".pane.functions");
    assert_eq!(answer["run"]["fidelity"], "flat");
    for view in ["flame", "tree"] {
        shown.go(&[("view", view)]);
        let text = shown.text("main");
        assert!(
            text.contains("has totals only: there is no call tree"),
            "{view}: {text}"
        );
    }
    shown.go(&[("view", "calls")]);
    assert!(shown.text("main").contains("callers are unknown"));
    shown.go(&[("view", "overview")]);
    assert!(shown.text("main").contains("totals of functions only"));
    // Drilling down needs no paths as long as it is one step.
    shown.go(&[("fn", "main"), ("functions", "table")]);
    assert_eq!(shown.rows(".pane.functions"), [["main", "2", "33.3"]]);
    shown.is_as_said(".pane.functions");
    shown.go(&[("fn", "main,other")]);
    assert!(
        shown
            .text("main")
            .contains("no way to select the calls below a call")
    );
    shown.was_quiet();
}

#[test]
fn a_run_of_edges_has_callers_but_no_paths() {
    let mut shown = browser("edges");
    let case = repository("tests/cases/cli/function");
    let source = case.join("src").display().to_string();
    shown.import(&case.join("run.callgrind"), &["--source", &source]);
    shown.write(&[]);
    shown.open(&[("view", "calls"), ("function", "price")]);
    assert_eq!(
        shown.rows(".columns section:nth-child(1)"),
        [["main", "60", "85.7", "3"]]
    );
    shown.go(&[("view", "source"), ("function", "main")]);
    let code: Vec<String> = shown
        .rows(".source")
        .into_iter()
        .map(|row| row[3].clone())
        .collect();
    assert_eq!(code[0], "int total = 0;");
    for view in ["flame", "tree"] {
        shown.go(&[("view", view)]);
        let text = shown.text("main");
        assert!(
            text.contains("callers and callees, but no call paths: there is no call tree"),
            "{view}: {text}"
        );
    }
    shown.was_quiet();
}

#[test]
fn a_run_3000_deep_is_drawn_and_opened() {
    let frames: Vec<String> = (0..3000).map(|depth| format!("f{depth}")).collect();
    let text = format!("{} 5\n{} 2\n", frames.join(";"), frames[..1500].join(";"));
    let mut shown = page("deep", "deep.folded", &text, &[]);
    shown.open(&[("view", "flame")]);
    let label = shown
        .browser
        .value("document.querySelector('canvas').getAttribute('aria-label')");
    assert!(
        label
            .as_str()
            .expect("text")
            .contains("3000 nodes, 3000 levels"),
        "{label}"
    );
    // The canvas is as high as what is seen of it.
    let height = shown
        .browser
        .value("document.querySelector('canvas').height")
        .as_f64()
        .expect("a number");
    assert!(height < 1000.0, "{height}");
    shown
        .browser
        .value("document.querySelector('canvas').focus()");
    for _ in 0..40 {
        shown.browser.key("ArrowDown");
    }
    shown.settle();
    assert!(
        shown.text(".about").starts_with("f39: inclusive 7"),
        "{}",
        shown.text(".about")
    );
    shown.go(&[("fn", "f2900,f2950"), ("functions", "table")]);
    let answer = shown.is_as_said(".pane.functions");
    assert_eq!(answer["rows"].as_array().expect("rows").len(), 50);
    for view in VIEWS {
        shown.go(&[("view", view), ("fn", "f10")]);
    }
    shown.was_quiet();
}

/// Stacks of a tree of places: each function calls ten others.
fn bushy(places: usize) -> String {
    let mut text = String::new();
    for leaf in 0..places {
        let _ = writeln!(
            text,
            "main;a{};b{};c{};leaf{} {}",
            leaf % 10,
            leaf / 10 % 10,
            leaf / 100 % 10,
            leaf / 1000,
            1 + leaf * 7919 % 10_007
        );
    }
    text
}

#[test]
fn a_hundred_thousand_places_are_drawn() {
    let mut shown = page("many", "many.folded", &bushy(100_000), &["--no-sql"]);
    let bytes = fs::metadata(&shown.html).expect("a page").len();
    assert!(bytes < 1_000_000, "{bytes}");
    shown.open(&[("view", "flame"), ("search", "b3")]);
    let label = shown
        .browser
        .value("document.querySelector('canvas').getAttribute('aria-label')");
    assert!(
        label.as_str().expect("text").contains("101111 nodes"),
        "{label}"
    );
    assert!(
        shown.text(".found").ends_with(", 10 nodes"),
        "{}",
        shown.text(".found")
    );
    shown.go(&[("fn", "a3,b4>c5"), ("functions", "table")]);
    shown.is_as_said(".pane.functions");
    assert_eq!(places(&mut shown)[0][0], "▾main");
    shown.was_quiet();
}

/// Of many functions the first ones are made at once; the others are there as soon as the table is scrolled or sorted.
#[test]
fn many_functions_are_there_when_they_are_looked_at() {
    let mut text = String::new();
    for function in 0..1000 {
        // Dozens cost the same, wherever the first ones end: these are in the order of their names.
        writeln!(text, "main;f{function:03} {}", 1 + function % 37).expect("a string");
    }
    let mut shown = page("functions", "run.folded", &text, &["--no-sql"]);
    let names = |rows: &[Vec<String>]| rows.iter().map(|row| row[0].clone()).collect::<Vec<_>>();
    for path in ["", "main"] {
        shown.open(&[("fn", path), ("functions", "table"), ("exclusive", "yes")]);
        let first = names(&shown.rows(".pane.functions"));
        let scroll = "document.querySelector('.pane.functions .table').scrollTop = 1e6";
        shown.browser.value(scroll);
        shown.wait("document.querySelector('.pane.functions [data-row=\"1000\"]') !== null");
        let last = names(&shown.rows(".pane.functions"));
        let answer = shown.is_as_said(".pane.functions");
        let rows = answer["rows"].as_array().expect("rows");
        let all: Vec<&str> = rows
            .iter()
            .map(|row| row["function"].as_str().expect("a name"))
            .collect();
        assert_eq!(all.len(), 1001);
        assert!(
            first.len() > 10
                && all.starts_with(&first.iter().map(String::as_str).collect::<Vec<_>>())
        );
        assert!(
            last.len() > 10 && all.ends_with(&last.iter().map(String::as_str).collect::<Vec<_>>())
        );
        shown.click(".pane.functions th button", "Functions", Click::default());
        assert_eq!(names(&shown.rows(".pane.functions"))[..2], ["f000", "f001"]);
        shown.go(&[("fn", path)]);
        let legend = shown.labels(".functions");
        // Nothing costs a hundredth of all, and main nothing of its own.
        assert_eq!(legend, ["1000 others 100.0 %"]);
        shown.go(&[("fn", path), ("view", "overview")]);
        assert_eq!(names(&shown.rows(".overview .table"))[1..3], all[..2]);
    }
    shown.was_quiet();
}

/// Takes a minute, and is asked for by `LONG_TESTS=1`.
#[test]
fn a_million_places_are_drawn() {
    if !long::is_long() {
        return;
    }
    let mut shown = page("million", "million.folded", &bushy(1_000_000), &[]);
    let bytes = fs::metadata(&shown.html).expect("a page").len();
    assert!(bytes <= 8 << 20, "{bytes}");
    shown.open(&[("view", "flame"), ("search", "b3")]);
    let label = shown
        .browser
        .value("document.querySelector('canvas').getAttribute('aria-label')");
    assert!(
        label.as_str().expect("text").contains("1001111 nodes"),
        "{label}"
    );
    shown.go(&[("fn", "a3,b4>c5"), ("functions", "table")]);
    shown.is_as_said(".pane.functions");
    shown.was_quiet();
}

/// A size that is too small for the run, and its bytes.
const SIZE: &str = "230kB";
const MOST: u64 = 230_000;

/// What does not fit is left out from below, and the page says how much that is.
#[test]
fn what_does_not_fit_is_left_out_and_said() {
    let mut shown = page(
        "small",
        "many.folded",
        &bushy(50_000),
        &["--max-size", SIZE],
    );
    let bytes = fs::metadata(&shown.html).expect("a page").len();
    assert!(bytes < MOST, "{bytes}");
    // The terminal is told the same as the page.
    let words = [
        "report",
        "--db",
        "x.db",
        "--html",
        "page.html",
        "--max-size",
    ];
    let written = crate::shown::profdb(&shown.folder, &[&words[..], &[SIZE]].concat());
    let told = String::from_utf8_lossy(&written.stderr).into_owned();
    shown.open(&[("view", "overview")]);
    let text = shown.text("main");
    let total = said(
        &shown.folder,
        &["report", "summary", "--db", "x.db", "--format", "json"],
    );
    let total: Value = serde_json::from_str(&total).expect("JSON");
    let said_at = text.find("The tree has the ").expect("a sentence");
    let sentence: String = text[said_at..].lines().next().expect("a line").to_owned();
    let numbers: Vec<f64> = sentence
        .split(|character: char| !(character.is_ascii_digit() || character == '.'))
        .filter_map(|number| number.trim_end_matches('.').parse().ok())
        .collect();
    let [kept, of, cost, share, ..] = numbers[..] else {
        panic!("{sentence}")
    };
    assert!(
        kept > 100.0 && kept < of && (of - 51_111.0).abs() < 0.5,
        "{sentence}"
    );
    let left = format!(
        "{} of {of} nodes of the tree with a cost of {cost} ({share} %)",
        of - kept
    );
    assert!(
        told.contains(&left) && told.contains("no SQL in the page"),
        "{told}: {left}"
    );
    let all = total["total"].as_f64().expect("a total");
    assert!((100.0 * cost / all - share).abs() < 0.06, "{sentence}");
    // The whole run is complete, and what is in the tree adds up to it.
    shown.go(&[("functions", "table")]);
    shown.is_as_said(".pane.functions");
    shown.go(&[("view", "tree")]);
    let rows = shown.rows(".tree");
    assert_eq!(rows[0][2].parse::<f64>().ok(), Some(all));
    shown.go(&[("view", "flame"), ("search", "(left out)")]);
    let found = shown.text(".found");
    assert!(
        found.starts_with(&format!("{share:.1} % matched")),
        "{found}"
    );
    shown.was_quiet();
    // What has to be there and does not fit is an error, and leaves the page as it was.
    let before = fs::read(&shown.html).expect("a page");
    let words = [
        "report",
        "--db",
        "x.db",
        "--html",
        "page.html",
        "--max-size",
        "80kB",
    ];
    let refused = crate::shown::profdb(&shown.folder, &words);
    let errors = String::from_utf8_lossy(&refused.stderr);
    assert!(
        !refused.status.success() && errors.contains("--max-size"),
        "{errors}"
    );
    assert_eq!(fs::read(&shown.html).expect("a page"), before);
    // What it is said to need at least is enough, and hardly more than that.
    let least: u64 = errors
        .split(|character: char| !character.is_ascii_digit())
        .filter_map(|number| number.parse().ok())
        .max()
        .expect("a number of bytes");
    for (size, is_enough) in [(least, true), (least - 64, false)] {
        let size = format!("{size}B");
        let words = [&words[..words.len() - 1], &[size.as_str()]].concat();
        let written = crate::shown::profdb(&shown.folder, &words);
        assert_eq!(written.status.success(), is_enough, "{size}");
    }
    assert!(fs::metadata(&shown.html).expect("a page").len() <= least);
}

/// Lines go first, and functions stay as they are.
#[test]
fn lines_are_left_out_first() {
    let mut text = String::from("events: Ir\n");
    for function in 0..300 {
        let _ = write!(text, "fl=a{function}.c\nfn=f{function}\n");
        for line in 1..150 {
            let _ = writeln!(
                text,
                "{} {}",
                line,
                (line * 7919 + function * 104_729) % 1_000_003
            );
        }
    }
    let mut shown = page("lines", "lines.callgrind", &text, &["--max-size", "250kB"]);
    shown.open(&[("functions", "table")]);
    shown.is_as_said(".pane.functions");
    assert!(shown.text(".pane.lines").contains("Lines were left out"));
    shown.go(&[("view", "overview")]);
    assert!(
        shown
            .text("main")
            .contains("44700 lines are not in this page."),
        "{}",
        shown.text("main")
    );
    shown.was_quiet();
}

/// Credits: `b` gives back 2 of the 7 that `a` has, and `d` is nothing but a credit.
const BELOW_ZERO: &str = "{\"$schema\": \"https://www.speedscope.app/file-format-schema.json\", \"shared\": {\"frames\": [{\"name\": \"a\"}, {\"name\": \"b\"}, {\"name\": \"c\"}, {\"name\": \"d\"}]}, \"profiles\": [{\"type\": \"sampled\", \"name\": \"t\", \"unit\": \"bytes\", \"startValue\": 0, \"endValue\": 0, \"samples\": [[0], [0, 1], [0, 2], [3]], \"weights\": [5, -2, 2, -1]}]}";

#[test]
fn places_below_zero_are_there_and_no_pie_is_drawn_of_them() {
    let mut shown = page("below-zero", "credits.speedscope.json", BELOW_ZERO, &[]);
    shown.open(&[]);
    let pie = shown.text(".pane.functions .content");
    assert!(pie.contains("Negative costs have no slice"), "{pie}");
    assert!(shown.texts(".pane.functions .slice").is_empty());
    let names: Vec<String> = places(&mut shown)
        .into_iter()
        .map(|row| row[0].trim_start_matches(['▾', '▸']).trim().to_owned())
        .collect();
    for name in ["a", "b", "c", "d"] {
        assert!(names.iter().any(|found| found == name), "{name}: {names:?}");
    }
    shown.is_as_said(".tools");
    shown.go(&[("view", "overview")]);
    let overview = shown.text("main");
    assert!(!overview.contains("most expensive"), "{overview}");
    shown.go(&[("view", "flame")]);
    let flame = shown.text("main");
    assert!(flame.contains("a negative cost have no box"), "{flame}");
    // Both sides as one picture.
    let other = BELOW_ZERO.replace("[5, -2, 2, -1]", "[5, -4, 2, -1]");
    fs::write(shown.folder.join("more.speedscope.json"), other).expect("a file");
    said(
        &shown.folder,
        &[
            "diff",
            "credits.speedscope.json",
            "more.speedscope.json",
            "--html",
            "page.html",
        ],
    );
    shown.open(&[("view", "union")]);
    let rows = shown.rows(".tree");
    let of = |name: &str| {
        let found = rows
            .iter()
            .find(|row| row[0].trim_start_matches(['▾', '▸']).trim() == name);
        found.unwrap_or_else(|| panic!("no {name} in {rows:?}"))
    };
    assert_eq!(of("b")[1..4], ["-2", "-4", "−2"].map(str::to_owned));
    assert_eq!(of("d")[1..3], ["-1", "-1"].map(str::to_owned));
    assert!(!shown.text("main").contains("most expensive"));
    shown.was_quiet();
}
