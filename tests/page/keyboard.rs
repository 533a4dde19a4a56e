//! The page without a mouse: keys go through rows and only then lead somewhere.

use std::fs;

use serde_json::json;

use super::browser;
use crate::shown::{DOUBLE, Shown, repository};
use crate::support::browser::Click;

/// A page of stacks.
fn page(test: &str, stacks: &str) -> Shown {
    let mut shown = browser(test);
    let file = shown.folder.join("a.folded");
    fs::write(&file, stacks).expect("a file");
    shown.import(&file, &[]);
    shown.write(&[]);
    shown
}

/// Gives something the focus.
fn focus(shown: &mut Shown, selector: &str) {
    let script = format!("document.querySelector({}).focus()", json!(selector));
    shown.browser.value(&script);
}

/// The first cell of the row that has the focus.
fn row(shown: &mut Shown) -> String {
    let script =
        "document.activeElement.cells?.[0].innerText.trim() ?? document.activeElement.localName";
    let text = shown.browser.value(script);
    text.as_str().expect("text").replace('\n', "")
}

/// Rows that lead to another view when they are clicked are gone through by arrows, and left by Space and Enter.
#[test]
fn arrows_stay_in_the_view() {
    let mut shown = page("arrows", "main;a;x 3\nmain;b;x 2\nmain;c;x 1\n");
    shown.open(&[("view", "calls"), ("function", "x")]);
    focus(&mut shown, ".columns tbody tr");
    let mut rows = vec![row(&mut shown)];
    for key in ["ArrowDown", "ArrowDown", "ArrowUp"] {
        shown.browser.key(key);
        shown.settle();
        rows.push(row(&mut shown));
        assert_eq!(shown.state("function"), "x");
    }
    assert_eq!(rows, ["a", "b", "c", "b"]);
    shown.browser.key(" ");
    shown.settle();
    assert_eq!(shown.state("function"), "b");
    shown.open(&[("view", "overview")]);
    focus(&mut shown, ".overview h3 + .table tbody tr[data-row='1']");
    shown.browser.key("ArrowUp");
    shown.settle();
    assert_eq!(shown.state("view"), "overview");
    // What was drilled into is shown where something of it can be seen.
    let top = shown.texts(".overview tbody th");
    shown.click(".overview tbody th", "b", DOUBLE);
    shown.wait("location.hash.includes('fn=')");
    shown.settle();
    assert_eq!([shown.state("fn"), shown.state("view")], ["b", ""]);
    assert!(top.contains(&"b".to_owned()), "{top:?}");
    assert_eq!(shown.text(".included"), "33.3 % of 6 included");
    // So are callers.
    for (view, to) in [
        ("flame", "flame"),
        ("tree", ""),
        ("source", ""),
        ("overview", ""),
    ] {
        shown.open(&[("view", view), ("fn", "x")]);
        shown.click(".path button", "Show Calls", Click::default());
        assert_eq!(
            [shown.state("view"), shown.state("report")],
            [to, "calls"],
            "{view}"
        );
        assert_eq!(shown.texts(".list tbody th"), ["a", "b", "c"], "{view}");
    }
    shown.was_quiet();
}

/// The second click of two is about what the first one was on, though that has led to other rows.
#[test]
fn a_double_click_is_about_one_row() {
    let mut shown = page("double", "main;a;x 3\nmain;b;x 2\nother;main 1\n");
    for (view, within) in [
        ("calls", ".columns section:nth-child(1)"),
        ("overview", ".overview"),
    ] {
        for name in ["a", "main"] {
            let function = if name == "a" { "x" } else { "a" };
            shown.open(&[("view", view), ("function", function)]);
            shown.click(&format!("{within} tbody th"), name, DOUBLE);
            shown.wait("location.hash.includes('fn=')");
            shown.settle();
            assert_eq!(shown.state("fn"), name, "{view}");
        }
    }
    shown.was_quiet();
}

#[test]
fn keys_open_and_close_a_tree() {
    let mut stacks = String::new();
    for depth in 1..200 {
        let frames: Vec<String> = (0..depth).map(|at| format!("f{at}")).collect();
        stacks.push_str(&frames.join(";"));
        stacks.push_str(" 1\n");
    }
    let mut shown = page("tree-keys", &stacks);
    shown.open(&[("view", "tree")]);
    focus(&mut shown, ".tree tbody tr");
    for (key, expected) in [
        ("ArrowRight", "▾f1"),
        ("ArrowRight", "▾f2"),
        ("ArrowLeft", "▸f2"),
        ("ArrowLeft", "▾f1"),
        ("ArrowDown", "▸f2"),
        ("*", "▾f2"),
        ("End", "+158 f198"),
        ("ArrowLeft", "▾+157 f197"),
        ("ArrowLeft", "▸+157 f197"),
        ("ArrowRight", "▾+157 f197"),
        ("ArrowRight", "+158 f198"),
        ("Home", "▾f0"),
        ("ArrowLeft", "▸f0"),
        ("ArrowLeft", "▸f0"),
    ] {
        shown.browser.key(key);
        shown.settle();
        assert_eq!(row(&mut shown), expected, "{key}");
    }
    assert_eq!(shown.rows(".tree").len(), 1);
    shown.was_quiet();
}

/// What is first reached by Tab leads past everything that all views have.
#[test]
fn what_is_shown_can_be_reached_at_once() {
    let mut shown = page("skip", "main;a 1\nmain;b 1\n");
    shown.open(&[("functions", "table")]);
    let first = "document.querySelector('button, a, input, select, [tabindex]').matches('.skip')";
    assert_eq!(shown.browser.value(first), true);
    let wide = "document.querySelector('.skip').getBoundingClientRect().width";
    assert!(shown.browser.value(wide).as_f64() < Some(4.0));
    focus(&mut shown, ".skip");
    assert!(shown.browser.value(wide).as_f64() > Some(50.0));
    shown.browser.value("document.activeElement.click()");
    assert_eq!(row(&mut shown), "main");
    shown.was_quiet();
}

/// Tables of paper have no row over another one, and are no wider than the paper.
#[test]
fn paper_has_all_of_a_table() {
    let mut shown = browser("paper-tables");
    let case = repository("tests/cases/cli/code-of-a-workspace");
    let source = case.join("apl").display().to_string();
    shown.import(&case.join("run.xml"), &["--source", &source]);
    shown.write(&[]);
    shown.browser.resize(720.0, 1000.0);
    let media = json!({"media": "print"});
    shown.browser.ask("Emulation.setEmulatedMedia", &media);
    for state in [
        &[("function", "#.Shop.Load"), ("functions", "table")][..],
        &[("view", "tree")],
        &[("view", "calls"), ("function", "#.Shop.Load")],
    ] {
        shown.open(state);
        let wide = "Math.max(...[...document.querySelectorAll('table')].map((table) => table.getBoundingClientRect().right))";
        let wide = shown.browser.value(wide);
        assert!(wide.as_f64() <= Some(720.0), "{state:?}: {wide}");
        let heads = "[...document.querySelectorAll('thead th')].every((head) => getComputedStyle(head).position !== 'sticky')";
        assert_eq!(shown.browser.value(heads), true, "{state:?}");
    }
    shown.was_quiet();
}
