//! Gestures of Dyalog's dashboard that are about its windows, its files, and a run of a single function (`gestures.rs` has the
//! list of all).

use std::fs;

use super::gestures::{ONE, crumbs, made, printed, workspace};
use crate::panes::Printed;
use crate::shown::{DOUBLE, Shown, said};
use crate::support::browser::Click;

/// Which panes are seen, and how wide and high they are, in percent of all of them.
fn panes(shown: &mut Shown) -> Vec<(String, i64, i64)> {
    let script = "(() => {
        const all = document.querySelector('.panes').getBoundingClientRect();
        return [...document.querySelectorAll('.pane')].filter((pane) => pane.offsetWidth > 0).map((pane) => {
            const place = pane.getBoundingClientRect();
            return [pane.classList[1], Math.round(100 * place.width / all.width), Math.round(100 * place.height / all.height)];
        });
    })()";
    serde_json::from_value(shown.browser.value(script)).expect("panes")
}

#[test]
fn windows_are_arranged_by_presets_double_clicks_and_splitters() {
    let mut shown = workspace("windows");
    let names = |panes: &[(String, i64, i64)]| -> Vec<String> {
        panes.iter().map(|(name, ..)| name.clone()).collect()
    };
    let all = panes(&mut shown);
    assert_eq!(
        names(&all),
        ["functions", "function-details", "lines", "line-details"]
    );
    for (preset, expected) in [
        ("functions", &["functions", "function-details"][..]),
        ("function-details", &["function-details"]),
        ("lines", &["lines", "line-details"]),
        ("line-details", &["line-details"]),
    ] {
        let windows = ".tools label:last-of-type select";
        shown.select(windows, preset);
        let seen = panes(&mut shown);
        assert_eq!(names(&seen), expected);
        assert!(seen.iter().all(|(_, width, _)| *width == 100), "{seen:?}");
        shown.select(windows, "");
        assert_eq!(panes(&mut shown), all);
        // The same by a double click at the top of a pane, and back by another one.
        shown.click(&format!(".pane.{preset} > header h2"), "", DOUBLE);
        assert_eq!(names(&panes(&mut shown)), expected);
        shown.click(&format!(".pane.{preset} > header h2"), "", DOUBLE);
        assert_eq!(panes(&mut shown), all);
    }
    // Splitters are dragged, or moved by keys.
    let [x, y] = shown.place(".splitter.left", "");
    for (kind, to) in [
        ("mousePressed", x),
        ("mouseMoved", 320.0),
        ("mouseReleased", 320.0),
    ] {
        let event =
            serde_json::json!({"type": kind, "x": to, "y": y, "button": "left", "clickCount": 1});
        shown.browser.ask("Input.dispatchMouseEvent", &event);
    }
    let width = panes(&mut shown)[0].1;
    assert!((width - 25).abs() <= 1, "{width}");
    for (which, pane) in [(".splitter.functions", 0), (".splitter.lines", 2)] {
        let before = panes(&mut shown)[pane].2;
        let [x, y] = shown.place(which, "");
        let [_, top] = shown.place(".panes", "");
        for (kind, to) in [
            ("mousePressed", y),
            ("mouseMoved", top),
            ("mouseReleased", top),
        ] {
            let event = serde_json::json!({"type": kind, "x": x, "y": to, "button": "left", "clickCount": 1});
            shown.browser.ask("Input.dispatchMouseEvent", &event);
        }
        let after = panes(&mut shown)[pane].2;
        assert!(
            before > 55 && (after - 50).abs() <= 1,
            "{which}: {before} {after}"
        );
    }
    let dragged = panes(&mut shown);
    shown
        .browser
        .value("document.querySelector('.splitter.functions').focus()");
    shown.browser.key("ArrowDown");
    let height = panes(&mut shown)[0].2;
    assert!((height - dragged[0].2 - 5).abs() <= 1, "{height}");
    // Reset puts them where they were at first, straight away.
    shown.click(".tools button", "Reset Windows", Click::default());
    assert_eq!(panes(&mut shown), all);
    shown
        .browser
        .value("document.querySelector('.splitter.lines').focus()");
    shown.browser.key("ArrowUp");
    // What the splitters were at before comes back.
    let moved = panes(&mut shown);
    assert_ne!(moved, all);
    shown.click(".pane.lines > header h2", "", DOUBLE);
    shown.click(".pane.lines > header h2", "", DOUBLE);
    assert_eq!(panes(&mut shown), moved);
    shown.select(".tools label:last-of-type select", "lines");
    shown.click(".tools button", "Reset Windows", Click::default());
    assert_eq!(panes(&mut shown), all);
    shown.was_quiet();
}

#[test]
fn a_single_function_has_its_body_to_the_left_and_its_lines_to_the_right() {
    let text = "\"Depth\",\"Element\",\"Line\",\"Calls\",\"InclusiveTime\",\"ExclusiveTime\",\"InclusiveTicks\",\"ExclusiveTicks\"\n\
                0,\"pqueens\",,1,10,10,5,5\n1,\"pqueens\",1,1,4,4,1,1\n1,\"pqueens\",2,8,6,6,1,1\n";
    let mut shown = made("single", "single.csv", text);
    let seen: Vec<String> = panes(&mut shown)
        .into_iter()
        .map(|(name, ..)| name)
        .collect();
    assert_eq!(seen, ["function-details", "lines"]);
    assert_eq!(shown.text(".function-details h2"), "pqueens");
    assert_eq!(
        shown.rows(".pane.function-details"),
        [["1", "1", "4.00", "40.0"], ["2", "8", "6.00", "60.0"]]
    );
    Printed::default().are_shown(&mut shown);
    assert_eq!(shown.rows(".pane.lines"), printed(&shown, &["lines"]));
    shown.was_quiet();
}

/// Open: another run of the page. Save: its rows. About: the version. Exit is the browser's.
#[test]
fn runs_are_opened_rows_saved_and_the_version_told() {
    let mut shown = workspace("file");
    let other = shown.folder.join("other.folded");
    fs::write(&other, "a;b 2\na;c 1\n").expect("a file");
    shown.import(&other, &[]);
    shown.write(&["--runs", "1,2"]);
    shown.open(&[("functions", "table")]);
    assert_eq!(
        shown.rows(".pane.functions"),
        printed(&shown, &["summary", "--run", "2"])
    );
    shown.select(".tools label:first-of-type select", "1");
    assert_eq!(
        shown.rows(".pane.functions"),
        printed(&shown, &["summary", "--run", "1"])
    );
    shown.is_as_said(".pane.functions");
    Printed::default().are_shown(&mut shown);
    for (what, name, format) in [
        ("CSV", "summary.csv", "csv"),
        ("Markdown", "summary.md", "markdown"),
    ] {
        let words = [
            "report", "summary", "--db", "x.db", "--run", "1", "--format",
        ];
        let expected = said(&shown.folder, &[&words[..], &[format]].concat());
        assert_eq!(
            shown.saved(".pane.functions", what),
            (name.to_owned(), expected)
        );
    }
    let json = shown.offered_as(".pane.functions", "JSON");
    assert_eq!(
        shown.saved(".pane.functions", "JSON"),
        ("summary.json".to_owned(), json)
    );
    shown.browser.key("?");
    shown.wait("document.querySelector('dialog[open]') !== null");
    assert!(
        shown
            .text("dialog")
            .contains(&format!("profdb {}", env!("CARGO_PKG_VERSION")))
    );
    shown.was_quiet();
}

/// Reset is a button, a key and an entry of the menu; the address without a question is the start, and has nothing of before.
#[test]
fn file_reset_is_the_start_of_the_page() {
    let mut shown = workspace("reset");
    let start = shown.labels(".functions");
    shown.choose(".functions .legend li", "#.Tree.Walk", "Drill Down");
    assert_ne!(shown.labels(".functions"), start);
    shown.click(".path button", "Reset", ONE);
    assert_eq!(shown.labels(".functions"), start);
    assert_eq!(shown.state("fn"), "");
    shown.go(&[("fn", "#.Shop.Load"), ("exclusive", "yes")]);
    shown.browser.key("0");
    shown.settle();
    assert_eq!(crumbs(&mut shown), ["all all"]);
    shown.open(&[]);
    assert_eq!(shown.labels(".functions"), start);
    Printed::default().are_shown(&mut shown);
    // There is nothing to be saved when the window closes: no question is asked.
    let asks = "(() => { const event = new Event('beforeunload', {cancelable: true}); return dispatchEvent(event); })()";
    assert_eq!(shown.browser.value(asks), true);
    shown.was_quiet();
}
