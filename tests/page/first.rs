//! The view that a page opens on, and views that a run cannot fill.

use std::fs;

use serde_json::{Value, json};

use super::browser;
use crate::shown::{DOUBLE, Shown, repository, said};
use crate::support::browser::Click;

/// Opens the page of a file without a state.
fn page(test: &str, file: &str) -> Shown {
    let mut shown = browser(test);
    shown.import(&repository(file), &[]);
    shown.write(&[]);
    shown.open_first(&[]);
    shown
}

/// Returns the title of the view that is shown.
fn view(shown: &mut Shown) -> String {
    shown.text(".views [aria-current]")
}

/// Returns the titles of views that the run cannot fill.
fn disabled(shown: &mut Shown) -> Vec<String> {
    shown.texts(".views [aria-disabled]")
}

/// Returns the first names and shares of a report, as a list shows them.
fn reported(shown: &Shown, words: &[&str], most: usize) -> Vec<[String; 2]> {
    let words = [
        &["report"][..],
        words,
        &["--db", "x.db", "--format", "json"],
    ]
    .concat();
    let answer: Value = serde_json::from_str(&said(&shown.folder, &words)).expect("JSON");
    let rows = answer["rows"].as_array().expect("rows").iter().take(most);
    rows.map(|row| {
        let name = ["function", "caller", "callee"]
            .iter()
            .find_map(|column| row[column].as_str());
        let share = row["cumulative_pct"].as_f64().expect("a share");
        [name.expect("a name").to_owned(), format!("{share:.1}")]
    })
    .collect()
}

/// Returns the first names and shares that a table shows.
fn listed(shown: &mut Shown, selector: &str, most: usize) -> Vec<[String; 2]> {
    let rows = shown.rows(selector).into_iter().take(most);
    rows.map(|row| [row[0].clone(), row[2].clone()]).collect()
}

#[test]
fn run_of_stacks_opens_on_flame_graph_and_functions() {
    let mut shown = page("first-tree", "tests/samples/folded/py-spy.folded");
    assert_eq!(view(&mut shown), "Flame graph");
    assert_eq!(disabled(&mut shown), ["Source"]);
    assert_eq!(
        listed(&mut shown, ".list", 8),
        reported(&shown, &["summary"], 8)
    );
    let beside = "document.querySelector('.list').getBoundingClientRect().right <= document.querySelector('canvas').getBoundingClientRect().left";
    assert_eq!(shown.browser.value(beside), true);
    // A click in the list marks the boxes of the function, and a click on a box its row.
    let pixels = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => {
        const canvas = document.querySelector('canvas');
        const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', {willReadFrequently: true});
        copy.drawImage(canvas, 0, 0);
        const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
        let marked = 0;
        for (let at = 0; at < data.length; at += 4) if (data[at] === 0x8f && data[at + 1] === 0xc7 && data[at + 2] === 0xf5) marked++;
        done(marked);
    })))";
    let ask = json!({"expression": pixels, "returnByValue": true, "awaitPromise": true});
    let marked = |shown: &mut Shown| {
        let answer = shown.browser.ask("Runtime.evaluate", &ask);
        answer["result"]["value"].as_u64().expect("a number")
    };
    assert_eq!(marked(&mut shown), 0);
    shown.click(".list tbody th", "gen (work.py:62)", Click::default());
    assert_eq!(
        shown.texts(".list tr[aria-selected] th"),
        ["gen (work.py:62)"]
    );
    assert!(marked(&mut shown) > 1000);
    let [x, y] = shown.place("canvas", "");
    let top = "document.querySelector('canvas').getBoundingClientRect().top + 10";
    let top = shown.browser.value(top).as_f64().expect("a number");
    assert!(y > top);
    shown.browser.click(x, top);
    shown.settle();
    assert_eq!(
        shown.texts(".list tr[aria-selected] th"),
        ["thread (9439): MainThread"]
    );
    shown.was_quiet();
}

#[test]
fn run_of_edges_opens_on_functions_with_callers() {
    let mut shown = page("first-edges", "tests/samples/pstats/work.pstats");
    assert_eq!(view(&mut shown), "Callers and callees");
    assert_eq!(disabled(&mut shown), ["Flame graph", "Tree", "Source"]);
    let expected = reported(&shown, &["summary"], 1);
    assert_eq!(listed(&mut shown, ".list", 1), expected);
    assert_eq!(shown.texts(".list tr[aria-selected]").len(), 1);
    // A click shows callers and callees of a function beside the list, which stays as it is.
    shown.click(".list tbody th", "hanoi", Click::default());
    assert_eq!(shown.state("function"), "hanoi");
    for (report, part) in [("calls", 1), ("callees", 2)] {
        let rows = listed(
            &mut shown,
            &format!(".columns section:nth-child({part})"),
            9,
        );
        assert_eq!(
            rows,
            reported(&shown, &[report, "--fn", "hanoi"], 9),
            "{report}"
        );
    }
    assert_eq!(shown.texts(".list tr[aria-selected] th"), ["hanoi"]);
    // So does a double click, which also says how much the function cost.
    shown.click(".list tbody th", "fib", DOUBLE);
    shown.wait("location.hash.includes('fn=fib')");
    shown.settle();
    assert_eq!(view(&mut shown), "Callers and callees");
    assert!(shown.text(".columns h2").starts_with("fib"));
    assert!(shown.text(".included").starts_with("6.8 % of "));
    shown.was_quiet();
}

#[test]
fn views_that_a_run_cannot_fill_say_why() {
    let mut shown = page("first-disabled", "tests/samples/pstats/work.pstats");
    let tips = "[...document.querySelectorAll('.views [aria-disabled]')].map((view) => view.title)";
    let tips: Vec<String> = serde_json::from_value(shown.browser.value(tips)).expect("texts");
    let no_paths = "The file has callers and callees only, and no call paths.";
    let no_lines = "The file has no lines, and the run has no stored source.";
    assert_eq!(tips, [no_paths, no_paths, no_lines]);
    // A click and a key say the same, and nothing else happens.
    let before = shown.browser.value("location.hash");
    shown.click(".views button", "Source", Click::default());
    assert_eq!(shown.text(".message"), no_lines);
    shown.browser.key("3");
    assert_eq!(shown.text(".message"), no_paths);
    assert_eq!(shown.browser.value("location.hash"), before);
    // Functions without lines have all the room.
    shown.click(".views button", "Functions", Click::default());
    assert_eq!(shown.texts(".pane > header h2"), ["Functions"]);
    let wide = "document.querySelector('.pane').clientWidth > 0.9 * innerWidth";
    assert_eq!(shown.browser.value(wide), true);
    shown.was_quiet();
}

#[test]
fn run_of_counted_lines_opens_on_four_panes() {
    let mut shown = page("first-lines", "tests/cases/cli/code-of-a-workspace/run.xml");
    assert_eq!(view(&mut shown), "Functions and lines");
    assert_eq!(shown.texts(".pane").len(), 4);
    assert_eq!(disabled(&mut shown), [""; 0]);
    shown.was_quiet();
}

#[test]
fn run_of_totals_opens_on_functions() {
    let mut shown = browser("first-flat");
    let file = shown.folder.join("flat.callgrind");
    fs::write(&file, "events: Ir\nfl=a.c\nfn=main\n1 2\nfn=other\n7 4\n").expect("a file");
    shown.import(&file, &[]);
    shown.write(&[]);
    shown.open_first(&[]);
    assert_eq!(view(&mut shown), "Functions and lines");
    assert_eq!(
        disabled(&mut shown),
        ["Flame graph", "Tree", "Callers and callees"]
    );
    shown.was_quiet();
}
