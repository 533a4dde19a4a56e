//! Pages can be used by everybody: axe-core, which finds what screen readers, keyboards and weak eyes stumble over, has nothing
//! to say of any view, light or dark.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::browser;
use crate::shown::{Shown, repository, said};
use crate::support::tools;

/// Where `.ci/run` installs it, from npm.
const AXE: &str = "target/node/node_modules/axe-core/axe.min.js";

/// Returns the script of axe-core. Skips the test without it.
fn axe() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(AXE);
    fs::read_to_string(path).unwrap_or_else(|_| {
        tools::skip_missing("axe-core", "npm install --prefix target/node axe-core")
    })
}

/// What axe-core finds in the page as it is: rule, impact, and the first element.
fn findings(shown: &mut Shown, axe: &str) -> Vec<String> {
    // What evaluates this is the browser itself, so that no policy has to let it in.
    shown
        .browser
        .ask("Runtime.evaluate", &json!({"expression": axe}));
    let run = "axe.run().then((found) => found.violations.map((one) => `${one.impact} ${one.id}: ${one.nodes[0].target.join(' ')}`))";
    let ask = json!({"expression": run, "returnByValue": true, "awaitPromise": true});
    let answer = shown.browser.ask("Runtime.evaluate", &ask);
    serde_json::from_value(answer["result"]["value"].clone()).unwrap_or_else(|_| panic!("{answer}"))
}

/// Looks at views, light and dark.
fn look(shown: &mut Shown, axe: &str, views: &[&[(&str, &str)]]) {
    for scheme in ["light", "dark"] {
        let media = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        shown.browser.ask("Emulation.setEmulatedMedia", &media);
        for state in views {
            shown.open(state);
            assert_eq!(
                findings(shown, axe),
                Vec::<String>::new(),
                "{scheme} {state:?}"
            );
        }
    }
    shown.was_quiet();
}

#[test]
fn views_of_a_run_are_for_everybody() {
    let axe = axe();
    let mut shown = browser("accessible");
    let case = repository("tests/cases/cli/code-of-a-workspace");
    let source = case.join("apl").display().to_string();
    shown.import(&case.join("run.xml"), &["--source", &source]);
    shown.write(&[]);
    look(
        &mut shown,
        &axe,
        &[
            &[
                ("function", "#.Shop.Load"),
                ("line-of", "#.Shop.Price"),
                ("line", "3"),
            ],
            &[
                ("functions", "table"),
                ("lines", "pie"),
                ("fn", "#.Shop.Main,#.Shop.Load"),
            ],
            &[("fn", "#.Util.fmt∆Num"), ("report", "calls")],
            &[("view", "overview")],
            &[("view", "flame"), ("search", "Walk")],
            &[
                ("view", "flame"),
                ("layout", "sandwich"),
                ("fn", "#.Shop.Load"),
            ],
            &[("view", "tree")],
            &[("view", "calls"), ("function", "#.Shop.Load")],
            &[("view", "source"), ("function", "#.Shop.Load")],
            &[
                ("view", "sql"),
                ("sql", "SELECT function, exclusive FROM exclusive"),
            ],
            &[("view", "sql"), ("sql", "SELECT nowhere")],
        ],
    );
}

#[test]
fn menus_and_windows_are_for_everybody() {
    let axe = axe();
    let mut shown = browser("accessible-menus");
    fs::write(shown.folder.join("a.folded"), "main;a 1\nmain;b 2\n").expect("a file");
    shown.import(&shown.folder.join("a.folded"), &[]);
    shown.write(&["--no-sql"]);
    shown.open(&[("functions", "table")]);
    shown.browser.key("?");
    shown.wait("document.querySelector('dialog[open]') !== null");
    assert_eq!(findings(&mut shown, &axe), Vec::<String>::new());
    shown
        .browser
        .value("document.querySelector('dialog[open]').close()");
    shown.wait("document.querySelector('dialog') === null");
    shown
        .browser
        .value("document.querySelector('.functions .offers').click()");
    assert_eq!(findings(&mut shown, &axe), Vec::<String>::new());
    shown.was_quiet();
}

#[test]
fn views_of_several_runs_are_for_everybody() {
    let axe = axe();
    let mut shown = browser("accessible-compared");
    for run in 0..9 {
        let (lex, more) = if run < 5 {
            (100, "")
        } else {
            (150, "main;new 30\n")
        };
        let text = format!("main;lex {lex}\nmain;build {}\n{more}", 80 + run % 3);
        let file = shown.folder.join(format!("{run}.folded"));
        fs::write(&file, text).expect("a file");
        let tag = format!("commit=abcdef{run}");
        let count = format!("commit_count={run}");
        shown.import(&file, &["--tag", &tag, "--tag", &count]);
    }
    let page = |shown: &Shown, words: &[&str]| {
        let html = ["--db", "x.db", "--html", "page.html", "--noise", "exact"];
        said(&shown.folder, &[words, &html].concat());
    };
    page(&shown, &["diff", "1", "9"]);
    look(
        &mut shown,
        &axe,
        &[
            &[("function", "lex")],
            &[("status", "new"), ("verdict", "new")],
            &[("view", "union"), ("search", "lex")],
        ],
    );
    page(&shown, &["steps"]);
    look(
        &mut shown,
        &axe,
        &[
            &[],
            &[("view", "history"), ("function", "lex"), ("point", "3")],
            &[("view", "history"), ("zero", "no")],
        ],
    );
}

#[cfg(feature = "serve")]
#[test]
fn views_of_a_database_are_for_everybody() {
    let axe = axe();
    let way = crate::shown::Way::Server;
    let mut shown = crate::shown::browser_for("accessible", way);
    for (name, text) in [
        ("a.folded", "main;a 5\nmain;b 9\n"),
        ("b.folded", "main;a 9\n"),
    ] {
        fs::write(shown.folder.join(name), text).expect("a file");
        shown.import(&shown.folder.join(name), &[]);
    }
    shown.write(&[]);
    look(
        &mut shown,
        &axe,
        &[
            &[("view", "runs")],
            &[("view", "diff"), ("base", "1"), ("new", "2")],
            &[("view", "union"), ("base", "1"), ("new", "2")],
            &[("view", "union")],
            &[("view", "history")],
            &[("view", "sql"), ("sql", "SELECT 1")],
            &[("run", "99")],
            &[("fn", "nowhere")],
        ],
    );
}

/// The check can fail.
#[test]
fn what_is_wrong_is_found() {
    let axe = axe();
    let mut shown = browser("accessible-not");
    fs::write(
        &shown.html,
        "<!DOCTYPE html><title>x</title><img src=x><button></button>",
    )
    .expect("a file");
    shown.browser.open(&shown.html);
    let found = findings(&mut shown, &axe);
    let has = |rule: &str| found.iter().any(|one: &String| one.contains(rule));
    assert!(has("image-alt") && has("button-name"), "{found:?}");
}
