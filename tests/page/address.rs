//! Addresses that cannot be shown say so and leave a way out; where the focus is, and what windows of any width show.

use std::fs;

use serde_json::json;

use super::browser;
use crate::shown::{DOUBLE, Shown, repository};
use crate::support::browser::Click;

/// Two runs, in the second of which `main` calls `a` and `b`.
fn two_runs(test: &str) -> Shown {
    let mut shown = browser(test);
    for (name, text) in [
        ("before.folded", "main;before 5\n"),
        ("after.folded", "main;a;c 4\nmain;b 3\nmain 1\n"),
    ] {
        let file = shown.folder.join(name);
        fs::write(&file, text).expect("a file");
        shown.import(&file, &[]);
    }
    shown.write(&["--runs", "1,2"]);
    shown
}

/// Whether the focus is in what a selector finds, and on what.
fn has_focus(shown: &mut Shown, within: &str, on: &str) -> bool {
    let script = format!(
        "document.activeElement.closest({}) !== null && document.activeElement.matches({})",
        json!(within),
        json!(on)
    );
    shown.browser.value(&script) == true
}

#[test]
fn paths_that_cannot_be_read_say_so_and_can_be_reset() {
    let mut shown = two_runs("bad-paths");
    for (path, said) in [
        ("a,", "expected a name"),
        (",", "expected a name"),
        (">", "expected a name"),
        ("\"a\"b", "expected , or >"),
        ("nope", "no function nope"),
    ] {
        shown.open(&[("run", "2"), ("fn", path), ("functions", "table")]);
        let text = shown.text("main");
        assert!(text.contains(said), "{path}: {text}");
        shown.click(".path button", "Reset", Click::default());
        assert_eq!(shown.state("fn"), "", "{path}");
        assert_eq!(shown.rows(".pane.functions").len(), 4, "{path}");
    }
    // The place is one of the whole path.
    shown.open(&[("run", "2"), ("fn", "main,")]);
    let text = shown.text("main");
    assert_eq!(
        text.trim(),
        "path \"main,\": expected a name at character 6, found the end"
    );
    // Another address is shown after it, whatever was wrong with the one before.
    shown.open(&[("run", "2"), ("fn", "a,")]);
    shown.go(&[("run", "2"), ("view", "tree")]);
    assert_eq!(shown.rows(".tree").len(), 4);
    shown.was_quiet();
}

#[test]
fn a_run_that_is_not_there_is_said_and_no_other_is_shown() {
    let mut shown = two_runs("no-run");
    for state in [
        &[("run", "99")] as &[_],
        &[("run", "1"), ("uid", "0123456789ab")],
        &[("run", "x"), ("view", "tree")],
    ] {
        shown.open(state);
        let text = shown.text("main");
        let expected = format!("There is no run {}", state[0].1);
        assert!(text.starts_with(&expected), "{state:?}: {text}");
        assert!(!text.contains("main"), "{state:?}: {text}");
        shown.click("main button", "Show run", Click::default());
        assert_eq!(shown.texts(".top h1").len(), 1, "{state:?}");
    }
    // An address that the page makes has what tells the run from those of other databases.
    shown.open(&[("run", "1"), ("functions", "table")]);
    assert_eq!(shown.state("uid"), "");
    shown.click(".pane.functions tbody th", "before", DOUBLE);
    let uid = shown.state("uid");
    assert_eq!(uid.len(), 12);
    shown.select(".tools select", "2");
    let other = shown.state("uid");
    assert_eq!(shown.state("run"), "2");
    assert!(other.len() == 12 && other != uid, "{uid} {other}");
    // The uid is what counts: a run may have another number in another database.
    shown.open(&[("run", "7"), ("uid", &uid), ("functions", "table")]);
    assert_eq!(
        shown.texts(".pane.functions tbody th"),
        ["before", "main"].map(str::to_owned)
    );
    shown.was_quiet();
}

#[test]
fn the_focus_stays_in_the_same_pane_or_picture() {
    let mut shown = two_runs("focus");
    shown.open(&[("run", "2"), ("functions", "table")]);
    // Nothing takes the focus by itself.
    assert!(has_focus(&mut shown, "body", "body"));
    shown.click(".pane.functions tbody th", "a", Click::default());
    for (key, steps) in [
        ("Enter", "a"),
        ("Enter", "a,c"),
        ("Backspace", "a"),
        ("c", "a"),
        ("0", ""),
        ("e", ""),
        ("p", ""),
    ] {
        if key == "Enter" && steps == "a,c" {
            shown.browser.key("ArrowDown");
            shown.settle();
        }
        shown.browser.key(key);
        shown.settle();
        assert!(
            has_focus(&mut shown, ".pane.functions", "tr"),
            "{key} {steps}"
        );
        assert_eq!(shown.state("fn"), steps, "{key}");
    }
    // So does a control that was used.
    shown
        .browser
        .value("document.querySelector('.functions > header select').focus()");
    shown.select(".functions > header select", "pie");
    assert!(has_focus(&mut shown, ".functions > header", "select"));
    shown.browser.value("document.activeElement.blur()");
    // A word that is searched for takes no focus from the picture.
    shown.open(&[("run", "2"), ("view", "flame"), ("search", "c")]);
    shown
        .browser
        .value("document.querySelector('canvas').focus()");
    shown.browser.key("e");
    shown.settle();
    assert!(has_focus(&mut shown, ".picture", "canvas"));
    // A view without rows has it as a whole, and the next one gives it to its rows.
    shown.go(&[("run", "2"), ("fn", "a>a")]);
    assert!(has_focus(&mut shown, "main", "main"));
    shown.browser.key("0");
    shown.settle();
    assert!(has_focus(&mut shown, "main", ".slice, tr"));
    // Who asks for the search writes there, from any view.
    shown.browser.key("/");
    shown.settle();
    assert_eq!(shown.state("view"), "flame");
    shown.wait("document.activeElement.id === 'search'");
    shown.browser.write("b");
    shown.settle();
    assert_eq!(shown.state("search"), "b");
    assert!(has_focus(&mut shown, "main", "#search"));
    shown.was_quiet();
}

#[test]
fn what_is_shown_is_what_the_address_says_after_fast_clicks() {
    let mut shown = two_runs("fast");
    shown.open(&[("run", "2"), ("functions", "table")]);
    shown.browser.value(
        "(location.hash = '#view=panes&run=2&functions=table&function=a', dispatchEvent(new HashChangeEvent('hashchange')), location.hash = '#view=panes&run=2&functions=table&fn=a')",
    );
    shown.settle();
    // Whatever was still under way has ended then.
    let turn =
        json!({"expression": "new Promise((done) => setTimeout(done, 200))", "awaitPromise": true});
    shown.browser.ask("Runtime.evaluate", &turn);
    let is_shown = "document.getElementById('page').dataset.shown === location.hash";
    assert_eq!(shown.browser.value(is_shown), true);
    assert_eq!(shown.rows(".pane.functions").len(), 2);
    shown.was_quiet();
}

#[test]
fn source_begins_with_a_function_that_has_lines() {
    let mut shown = browser("no-lines");
    let file = shown.folder.join("a.speedscope.json");
    let text = json!({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "shared": {"frames": [{"name": "hot"}, {"name": "cold", "file": "c.c", "line": 3}]},
        "profiles": [{
            "type": "sampled", "name": "t", "unit": "bytes", "startValue": 0, "endValue": 0,
            "samples": [[0], [0, 1]], "weights": [9, 1],
        }],
    });
    fs::write(&file, text.to_string()).expect("a file");
    shown.import(&file, &[]);
    shown.write(&[]);
    shown.open(&[("view", "source")]);
    let chosen = "document.querySelector('.source input').value";
    assert_eq!(shown.browser.value(chosen), "cold");
    assert_eq!(shown.rows(".source").len(), 1);
    for view in ["source", "calls"] {
        for name in ["hot", "nope"] {
            shown.go(&[("view", view), ("function", name)]);
            let script = format!("document.querySelector('.{view} input').value");
            assert_eq!(shown.browser.value(&script), name, "{view}");
        }
        let text = shown.text("main");
        assert!(text.contains("no function nope"), "{view}: {text}");
    }
    shown.was_quiet();
}

/// What is beside the window, of things that are to be read or clicked, outside of tables, which have a scroll bar.
const BESIDE: &str = "[...document.querySelectorAll('button, select, input, textarea, h1, h2, canvas, .said, .legend .name')].filter((one) => { const place = one.getBoundingClientRect(); return place.width > 0 && !one.closest('.table, .unseen') && (place.left < -1 || place.right > innerWidth + 1); }).map((one) => `${one.localName} ${one.innerText}`)";

/// Heads of panes that are wider than there is room for.
const CLIPPED: &str = "[...document.querySelectorAll('.pane > header, .columns header')].filter((head) => head.scrollWidth > head.clientWidth).map((head) => head.innerText)";

/// How wide the narrowest name of a table is.
const NARROWEST: &str = "Math.min(9999, ...[...document.querySelectorAll('tbody th.text')].map((name) => name.getBoundingClientRect().width).filter((width) => width > 0))";

#[test]
fn pages_can_be_read_in_windows_of_any_width() {
    let mut shown = browser("narrow");
    let name = "a".repeat(80);
    let file = shown.folder.join("huge.folded");
    let text = format!("main;{name};parse 4611686018427387904\nmain;b 4611686018427387904\n");
    fs::write(&file, text).expect("a file");
    shown.import(
        &file,
        &[
            "--title",
            "a title that is longer than a narrow window is wide",
        ],
    );
    shown.write(&[]);
    for width in [400.0, 800.0, 1280.0] {
        shown.browser.resize(width, 800.0);
        for view in [
            "panes", "overview", "flame", "tree", "calls", "source", "sql",
        ] {
            let state = [("view", view), ("functions", "table")];
            shown.open(&state);
            let about = format!("{width} {view}");
            assert_eq!(shown.browser.value(BESIDE), json!([]), "{about}");
            let wide = shown.browser.value("document.documentElement.scrollWidth");
            assert!(wide.as_f64() <= Some(width), "{about}: {wide}");
            assert_eq!(shown.browser.value(CLIPPED), json!([]), "{about}");
            let narrowest = shown.browser.value(NARROWEST);
            assert!(narrowest.as_f64() >= Some(80.0), "{about}: {narrowest}");
        }
    }
    // One pane a row.
    shown.browser.resize(400.0, 800.0);
    shown.open(&[("view", "flame")]);
    let below = "document.querySelector('.list').getBoundingClientRect().bottom <= document.querySelector('canvas').getBoundingClientRect().top";
    assert_eq!(shown.browser.value(below), true);
    let lines = repository("tests/cases/cli/code-of-a-workspace/run.xml");
    shown.import(&lines, &[]);
    shown.write(&[]);
    shown.open(&[]);
    let panes = "[...document.querySelectorAll('.pane')].map((pane) => pane.getBoundingClientRect()).map(({ left, top, width }) => [left < 20, width > 350, top])";
    let panes = shown.browser.value(panes);
    let panes = panes.as_array().expect("a list");
    assert_eq!(panes.len(), 4);
    let mut last = f64::MIN;
    for pane in panes {
        assert_eq!((&pane[0], &pane[1]), (&json!(true), &json!(true)));
        let top = pane[2].as_f64().expect("a number");
        assert!(top > last + 100.0, "{panes:?}");
        last = top;
    }
    shown.was_quiet();
}

/// Flags are what the words of the command make of them.
#[test]
fn a_flag_without_a_value_is_set_and_one_with_no_is_not() {
    let mut shown = two_runs("flags");
    for (value, is_set) in [
        ("", true),
        ("yes", true),
        ("true", true),
        ("no", false),
        ("false", false),
        ("<b>", false),
    ] {
        shown.open(&[("run", "2"), ("functions", "table"), ("exclusive", value)]);
        let heads = shown.texts(".pane.functions th");
        let is_own = heads.iter().any(|head| head.ends_with("exclusive"));
        assert_eq!(is_own, is_set, "{value:?}: {heads:?}");
    }
    shown.was_quiet();
}

/// What an address says in words that the page does not know is said, and the rest of it is shown.
#[test]
fn words_that_mean_nothing_are_said() {
    let mut shown = two_runs("words");
    let run = [("run", "2")];
    shown.open(&run);
    let usual = shown.labels(".functions");
    assert_eq!(shown.text(".message"), "");
    for (key, value, said) in [
        ("view", "bogus", "view=bogus (known: panes, overview"),
        ("view", "constructor", "view=constructor (known: panes"),
        ("functions", "zzz", "functions=zzz (known: pie, table)"),
        ("lines", "<b>", "lines=<b> (known: pie, table)"),
        ("percent-of", "x", "percent-of=x (known: total, selection)"),
        ("report", "lines", "report=lines (known: summary, calls)"),
        ("exclusive", "maybe", "exclusive=maybe (known: yes, no)"),
        ("window", "a b", "window=a b (known: functions"),
        ("metrik", "samples", "address: metrik."),
        ("__proto__", "1", "address: __proto__."),
        ("\u{202e}x", "1", "address: \\u{202e}x."),
    ] {
        shown.open(&[&run[..], &[(key, value)]].concat());
        let message = shown.text(".message");
        assert!(message.contains(said), "{key}={value}: {message}");
        // It is the view that would be shown without it, with all that belongs to it.
        let view = if key == "view" {
            "Flame graph"
        } else {
            assert_eq!(shown.labels(".functions"), usual, "{key}={value}");
            "Functions"
        };
        assert_eq!(shown.texts(".views [aria-current]"), [view]);
        assert_eq!(shown.texts(".crumb").len(), 1, "{key}={value}");
        // What is done next leaves it behind.
        shown.browser.key("e");
        shown.settle();
        assert_eq!(shown.text(".message"), "", "{key}={value}");
    }
    shown.open(&[("run", "2"), ("metric", "bogus")]);
    let text = shown.text("main");
    assert!(text.contains("no metric bogus; it has samples"), "{text}");
    // Names have all room that they need, in windows that are narrow.
    shown.browser.resize(400.0, 800.0);
    shown.open(&[("run", "2"), ("fn", &"x".repeat(3000))]);
    let wide = shown.browser.value("document.documentElement.scrollWidth");
    assert_eq!(wide, 400);
    shown.was_quiet();
}

/// The share of a piece is there, however long its name is.
#[test]
fn shares_are_never_cut_short() {
    let mut shown = browser("long-names");
    let file = shown.folder.join("a.folded");
    let name = "<method 'acquire' of '_thread.lock' objects>".repeat(3);
    fs::write(&file, format!("main;{name} 3\nmain;b 1\n")).expect("a file");
    shown.import(&file, &[]);
    shown.write(&[]);
    for width in [380.0, 1280.0] {
        shown.browser.resize(width, 800.0);
        shown.open(&[]);
        assert_eq!(
            shown.labels(".functions"),
            [format!("{name} 75.0 %"), "b 25.0 %".to_owned()]
        );
        let ends = "[...document.querySelectorAll('.functions .label-of')].map((label) => {
            const range = document.createRange();
            range.selectNodeContents(label.lastChild);
            const pane = label.closest('.content').getBoundingClientRect();
            return range.getBoundingClientRect().right <= pane.right && label.parentElement.title === label.textContent;
        })";
        assert_eq!(shown.browser.value(ends), json!([true, true]), "{width}");
        // Nor are figures in the heads of callers and callees.
        shown.open(&[("view", "calls"), ("function", &name)]);
        let head = "(() => {
            const head = document.querySelector('.columns section:nth-child(2) h2');
            const range = document.createRange();
            range.selectNodeContents(head.lastChild);
            return range.getBoundingClientRect().right <= head.getBoundingClientRect().right + 1;
        })()";
        assert_eq!(shown.browser.value(head), true, "{width}");
    }
    shown.was_quiet();
}

#[test]
fn page_of_a_path_opens_on_what_the_path_calls() {
    let mut shown = two_runs("first-path");
    if !shown.is_served() {
        shown.write(&["--fn", "a"]);
        shown.open_first(&[]);
        assert_eq!(shown.state("fn"), "a");
        assert_eq!(shown.texts(".list tbody th"), ["a", "c"]);
        // An address says more than the file.
        shown.open(&[("fn", "b")]);
        assert_eq!(shown.state("fn"), "b");
    }
}
