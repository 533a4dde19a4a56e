//! Flame graphs: what is painted where, and what mouse and keys do.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::shown::{DOUBLE, RIGHT, Shown, browser, repository};
use crate::support::browser::Click;

/// Height of a box.
const LEVEL: f64 = 20.0;

/// The pictures of docs/page.md: names of files, and what is seen.
const SHOWN: [(&str, &[(&str, &str)]); 2] = [
    (
        "start",
        &[
            ("function", "#.Shop.Load"),
            ("line-of", "#.Shop.Price"),
            ("line", "3"),
        ],
    ),
    ("flame", &[("view", "flame"), ("search", "Walk")]),
];

/// `main` calls `a`, `b` and `c`; `a` calls `b` as well. A sample is a tenth of all.
const STACKS: &str = "main;a 2\nmain;a;b 2\nmain;c 1\nmain;b;d 4\nmain 1\n";

fn page(test: &str) -> Shown {
    let mut shown = browser(test);
    let file = shown.folder.join("a.folded");
    fs::write(&file, STACKS).expect("a file");
    shown.import(&file, &[]);
    shown.write(&[]);
    shown.open(&[("view", "flame")]);
    shown
}

/// Left edge, top and width of the canvas.
fn canvas(shown: &mut Shown) -> [f64; 3] {
    painted(shown);
    let script = "(() => { const place = document.querySelector('canvas').getBoundingClientRect(); return [place.left, place.top, place.width]; })()";
    let place = shown.browser.value(script);
    [0, 1, 2].map(|at| place[at].as_f64().expect("a number"))
}

/// Where a part of the whole is at a level.
fn at(shown: &mut Shown, part: f64, level: f64) -> [f64; 2] {
    let [left, top, width] = canvas(shown);
    [left + part * width, top + (level + 0.5) * LEVEL]
}

/// What is said of the box at a place.
fn about(shown: &mut Shown, part: f64, level: f64) -> String {
    let [x, y] = at(shown, part, level);
    let event = serde_json::json!({"type": "mouseMoved", "x": x, "y": y});
    shown.browser.ask("Input.dispatchMouseEvent", &event);
    shown.text(".about")
}

/// The colour of a pixel of the canvas: red, green, blue, and whether it is painted.
fn pixel(shown: &mut Shown, part: f64, level: f64) -> [u8; 4] {
    let script = format!(
        "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => {{
            const canvas = document.querySelector('canvas');
            const copy = new OffscreenCanvas(1, 1).getContext('2d', {{willReadFrequently: true}});
            copy.drawImage(canvas, -Math.floor({part} * canvas.width), -Math.floor(({level} + 0.15) * {LEVEL}));
            done([...copy.getImageData(0, 0, 1, 1).data]);
        }})))"
    );
    let ask =
        serde_json::json!({"expression": script, "returnByValue": true, "awaitPromise": true});
    let answer = shown.browser.ask("Runtime.evaluate", &ask);
    serde_json::from_value(answer["result"]["value"].clone()).expect("a pixel")
}

#[test]
fn boxes_are_as_wide_as_their_cost() {
    let mut shown = page("boxes");
    // By cost: b and a cost four each, and c one.
    for (part, level, expected) in [
        (
            0.5,
            0.0,
            "main: inclusive 10 (100.0 %), exclusive 1 (10.0 %)",
        ),
        (0.2, 1.0, "a: inclusive 4 (40.0 %), exclusive 2 (20.0 %)"),
        (0.1, 2.0, "b: inclusive 2 (20.0 %), exclusive 2 (20.0 %)"),
        (0.6, 1.0, "b: inclusive 4 (40.0 %), exclusive 0 (0.0 %)"),
        (0.6, 2.0, "d: inclusive 4 (40.0 %), exclusive 4 (40.0 %)"),
        (0.85, 1.0, "c: inclusive 1 (10.0 %), exclusive 1 (10.0 %)"),
    ] {
        assert_eq!(about(&mut shown, part, level), expected);
        assert_eq!(pixel(&mut shown, part, level)[3], 255, "{expected}");
    }
    // What main cost itself is not covered by anything.
    assert_eq!(pixel(&mut shown, 0.95, 1.0), [0, 0, 0, 0]);
    assert_eq!(pixel(&mut shown, 0.3, 2.0), [0, 0, 0, 0]);
    // The same by name, and with the roots at the bottom.
    shown.go(&[("view", "flame"), ("order", "name"), ("layout", "flame")]);
    // It has its height when it is painted.
    painted(&mut shown);
    let levels = shown
        .browser
        .value("document.querySelector('canvas').height")
        .as_f64()
        .expect("a number")
        / LEVEL;
    let root = levels.floor() - 1.0;
    assert!(about(&mut shown, 0.5, root).starts_with("main: inclusive 10"));
    assert!(about(&mut shown, 0.6, root - 1.0).starts_with("b: inclusive 4"));
    assert!(about(&mut shown, 0.85, root - 1.0).starts_with("c: inclusive 1"));
    shown.was_quiet();
}

/// What cannot be seen is put into its place when somebody asks for it.
#[test]
fn boxes_that_cannot_be_seen_are_there() {
    let mut shown = browser("narrow");
    let file = shown.folder.join("narrow.folded");
    let mut stacks = "main;wide 20000\n".to_owned();
    for at in 0..20_000 {
        writeln!(stacks, "main;f{at:05} 1").expect("a string takes everything");
    }
    fs::write(&file, stacks).expect("a file");
    shown.import(&file, &[]);
    shown.write(&[]);
    shown.open(&[("view", "flame")]);
    let label = "document.querySelector('canvas').getAttribute('aria-label')";
    let label = shown.browser.value(label);
    let label = label.as_str().expect("text");
    assert!(label.contains(": 20002 nodes, 2 levels"), "{label}");
    // Half of the second level is marks, one beside the other.
    let marks = [0.51, 0.75, 0.99].map(|part| pixel(&mut shown, part, 1.0));
    assert!(marks.iter().all(|mark| *mark == marks[0]), "{marks:?}");
    assert_ne!(pixel(&mut shown, 0.25, 1.0), marks[0]);
    assert_eq!(pixel(&mut shown, 0.75, 2.0), [0, 0, 0, 0]);
    assert!(about(&mut shown, 0.25, 1.0).starts_with("wide: inclusive 20000"));
    // The mouse finds each of them, and so does a click.
    let narrow = about(&mut shown, 0.75, 1.0);
    assert!(
        narrow.starts_with('f') && narrow.contains(": inclusive 1 (0.0 %)"),
        "{narrow}"
    );
    assert_eq!(pixel(&mut shown, 0.75, 1.0), marks[0]);
    let [x, y] = at(&mut shown, 0.75, 1.0);
    shown.browser.click(x, y);
    shown.settle();
    assert_ne!(shown.state("place"), "");
    assert_eq!(about(&mut shown, 0.1, 1.0), narrow);
    // So do keys, with a box that has the focus before they are there.
    shown.open(&[("view", "flame")]);
    let [x, y] = at(&mut shown, 0.25, 1.0);
    shown.browser.click_as(x, y, RIGHT);
    shown.browser.key("Escape");
    shown
        .browser
        .value("document.querySelector('canvas').focus()");
    shown.browser.key("ArrowRight");
    assert!(shown.text(".about").starts_with("f00000: inclusive 1 "));
    // And a search, which counts them.
    shown.open(&[("view", "flame"), ("search", "f1234")]);
    assert_eq!(shown.text(".found"), "0.0 % matched, 10 nodes");
    shown.was_quiet();
}

#[test]
fn a_click_zooms_and_a_double_click_drills_down() {
    let mut shown = page("zoom");
    let [x, y] = at(&mut shown, 0.6, 1.0);
    shown.browser.click(x, y);
    shown.settle();
    // b is as wide as the picture now, and so is what called it.
    assert!(about(&mut shown, 0.02, 1.0).starts_with("b: inclusive 4"));
    assert!(about(&mut shown, 0.98, 2.0).starts_with("d: inclusive 4"));
    assert!(about(&mut shown, 0.98, 0.0).starts_with("main"));
    assert_ne!(shown.state("place"), "");
    shown.browser.value("history.back()");
    shown.wait("!location.hash.includes('place')");
    shown.settle();
    assert!(about(&mut shown, 0.02, 1.0).starts_with("a: inclusive 4"));
    let [x, y] = at(&mut shown, 0.6, 1.0);
    shown.browser.click(x, y);
    shown.settle();
    shown
        .browser
        .value("document.querySelector('canvas').focus()");
    shown.browser.key("Escape");
    shown.settle();
    assert_eq!(shown.state("place"), "");
    // A double click is a step of the path: b wherever it was called.
    let [x, y] = at(&mut shown, 0.6, 1.0);
    shown.browser.click_as(x, y, DOUBLE);
    shown.wait("location.hash.includes('fn=b')");
    shown.settle();
    assert_eq!(shown.text(".included"), "60.0 % of 10 included");
    assert!(about(&mut shown, 0.1, 0.0).starts_with("b: inclusive 4"));
    assert!(about(&mut shown, 0.9, 0.0).starts_with("b: inclusive 2"));
    shown.is_as_said(".tools");
    // The right button has the menu of tables.
    let [x, y] = at(&mut shown, 0.1, 1.0);
    shown.browser.click_as(x, y, RIGHT);
    shown.click(".menu button", "Show Calls", Click::default());
    assert_eq!([shown.state("fn"), shown.state("report")], ["b,d", "calls"]);
    shown.was_quiet();
}

/// Two clicks are one step of the way back, whatever the first of them has zoomed, and are about one box.
#[test]
fn back_is_before_a_double_click() {
    let mut shown = page("double-of-pictures");
    let before = shown.browser.value("location.hash");
    let [x, y] = at(&mut shown, 0.6, 1.0);
    shown.browser.click_as(x, y, DOUBLE);
    shown.wait("location.hash.includes('fn=b')");
    shown.settle();
    shown.browser.value("history.back()");
    shown.wait("!location.hash.includes('fn=')");
    shown.settle();
    assert_eq!(shown.browser.value("location.hash"), before);
    // In a picture that is zoomed the first click shows all of it, in which another box is at this place.
    let [x, y] = at(&mut shown, 0.85, 1.0);
    shown.browser.click(x, y);
    shown.wait("location.hash.includes('place=')");
    shown.settle();
    let zoomed = shown.browser.value("location.hash");
    let [x, y] = at(&mut shown, 0.1, 1.0);
    shown.browser.click_as(x, y, DOUBLE);
    shown.wait("location.hash.includes('fn=')");
    shown.settle();
    assert_eq!(shown.state("fn"), "c");
    shown.browser.value("history.back()");
    shown.wait("!location.hash.includes('fn=')");
    shown.settle();
    assert_eq!(shown.browser.value("location.hash"), zoomed);
    shown.was_quiet();
}

/// A place of an address is where it can be seen, and is said.
#[test]
fn a_place_of_the_address_is_scrolled_to() {
    let mut shown = browser("place");
    let frames: Vec<String> = (0..300).map(|depth| format!("f{depth}")).collect();
    let file = shown.folder.join("deep.folded");
    fs::write(
        &file,
        format!("{} 5\n{} 2\n", frames.join(";"), frames[..9].join(";")),
    )
    .expect("a file");
    shown.import(&file, &[]);
    shown.write(&[]);
    for layout in ["icicle", "flame"] {
        shown.open(&[("view", "flame"), ("layout", layout), ("place", "250")]);
        painted(&mut shown);
        assert!(
            shown.text(".about").starts_with("f250: inclusive 5"),
            "{layout}"
        );
        let scrolled = "document.querySelector('.picture').scrollTop";
        let top = shown.browser.value(scrolled).as_f64().expect("pixels");
        let high = "document.querySelector('.picture').clientHeight";
        let high = shown.browser.value(high).as_f64().expect("pixels");
        let level = if layout == "icicle" { 250.0 } else { 49.0 };
        let row = level * LEVEL - top;
        assert!(
            row >= 0.0 && row + LEVEL <= high + 1.0,
            "{layout}: {row} of {high}"
        );
    }
    // Keys go on from there, in steps of any size.
    shown
        .browser
        .value("document.querySelector('canvas').focus()");
    for (key, name) in [
        ("ArrowUp", "f251"),
        ("PageUp", "f261"),
        ("PageDown", "f251"),
        ("End", "f299"),
        ("Home", "f0"),
    ] {
        shown.browser.key(key);
        let text = shown.text(".about");
        assert!(text.starts_with(&format!("{name}: ")), "{key}: {text}");
    }
    shown.was_quiet();
}

#[test]
fn a_sandwich_has_callers_above_and_callees_below() {
    let mut shown = page("sandwich");
    shown.go(&[("view", "flame"), ("layout", "sandwich"), ("fn", "b")]);
    let tables = shown.rows(".columns section:nth-child(1)");
    assert_eq!(tables, [["main", "4", "40.0"], ["a", "2", "20.0"]]);
    let labels = "[...document.querySelectorAll('canvas')].map((canvas) => canvas.getAttribute('aria-label').split(':')[0])";
    let labels: Vec<String> = serde_json::from_value(shown.browser.value(labels)).expect("texts");
    assert_eq!(labels, ["Callers of b", "Callees of b"]);
    // Above b are main, as wide as 4 of 6, and a, which main called.
    for (part, level, expected) in [
        (0.5, 2.0, "b: inclusive 6 (60.0 %)"),
        (0.3, 1.0, "main: inclusive 4 (40.0 %)"),
        (0.8, 1.0, "a: inclusive 2 (20.0 %)"),
        (0.8, 0.0, "main: inclusive 2 (20.0 %)"),
    ] {
        assert_eq!(about(&mut shown, part, level), expected);
    }
    // What is zoomed is in the address, and the button shows all of it again.
    let [x, y] = at(&mut shown, 0.8, 1.0);
    shown.browser.click(x, y);
    shown.wait("location.hash.includes('place=')");
    shown.settle();
    let place = shown.state("place");
    shown.open(&[
        ("view", "flame"),
        ("layout", "sandwich"),
        ("fn", "b"),
        ("place", &place),
    ]);
    assert_eq!(shown.text(".about"), "a: inclusive 2 (20.0 %)");
    assert_eq!(about(&mut shown, 0.02, 1.0), "a: inclusive 2 (20.0 %)");
    shown.click(".flame button", "Reset zoom", Click::default());
    assert_eq!(shown.state("place"), "");
    assert_eq!(about(&mut shown, 0.02, 1.0), "main: inclusive 4 (40.0 %)");
    shown.was_quiet();
}

#[test]
fn names_are_searched() {
    let mut shown = page("search");
    let before = pixel(&mut shown, 0.6, 1.0);
    shown.browser.key("/");
    shown.browser.write("B");
    shown.settle();
    assert_eq!(shown.text(".found"), "60.0 % matched, 2 nodes");
    let found = pixel(&mut shown, 0.6, 1.0);
    assert_ne!(found, before);
    assert_eq!(pixel(&mut shown, 0.1, 2.0), found);
    assert_ne!(pixel(&mut shown, 0.3, 1.0), found);
    assert_eq!(shown.state("search"), "B");
    // Enter goes to what was found, one after the other, and Escape back to the picture, where keys go on.
    let mut found = Vec::new();
    for _ in 0..3 {
        shown.browser.key("Enter");
        shown.settle();
        found.push(shown.text(".about"));
    }
    assert_eq!(
        found,
        [
            "b: inclusive 2 (20.0 %), exclusive 2 (20.0 %)",
            "b: inclusive 4 (40.0 %), exclusive 0 (0.0 %)",
            "b: inclusive 2 (20.0 %), exclusive 2 (20.0 %)",
        ]
    );
    shown.browser.key("Escape");
    shown.browser.key("ArrowUp");
    assert!(
        shown.text(".about").starts_with("a: inclusive 4"),
        "{}",
        shown.text(".about")
    );
    shown.was_quiet();
}

#[test]
fn boxes_are_reached_by_keys() {
    let mut shown = page("keys-of-pictures");
    shown
        .browser
        .value("document.querySelector('canvas').focus()");
    let mut path = Vec::new();
    for key in [
        "ArrowDown",
        "ArrowDown",
        "ArrowRight",
        "ArrowDown",
        "ArrowUp",
        "ArrowRight",
        "ArrowLeft",
        "ArrowLeft",
        "ArrowUp",
    ] {
        shown.browser.key(key);
        path.push(
            shown
                .text(".about")
                .split(':')
                .next()
                .expect("a name")
                .to_owned(),
        );
    }
    assert_eq!(path, ["main", "a", "b", "d", "b", "c", "b", "a", "main"]);
    shown.settle();
    // The view of the tree has the same as a table.
    shown.go(&[("view", "tree")]);
    let rows: Vec<String> = shown
        .rows(".tree")
        .into_iter()
        .map(|row| row[0].replace(['▾', '▸', '\n'], ""))
        .collect();
    assert_eq!(rows, ["main", "a", "b", "c", "b", "d"]);
    shown.was_quiet();
}

/// On paper are tables and pictures, and no buttons.
#[test]
fn paper_has_no_buttons() {
    let mut shown = page("paper");
    shown.browser.ask(
        "Emulation.setEmulatedMedia",
        &serde_json::json!({"media": "print"}),
    );
    for selector in [".views", ".tools", ".offers", ".choice"] {
        let script = format!(
            "getComputedStyle(document.querySelector('{selector}') ?? document.querySelector('.views')).display"
        );
        assert_eq!(shown.browser.value(&script), "none", "{selector}");
    }
    assert_eq!(
        shown
            .browser
            .value("getComputedStyle(document.querySelector('table')).display"),
        "table"
    );
    shown.was_quiet();
}

/// The pictures of docs/page.md are made where documents are brought up to date.
#[test]
fn documents_show_the_page() {
    let mut shown = browser("documents");
    let case = repository("tests/cases/cli/code-of-a-workspace");
    let source = case.join("apl").display().to_string();
    shown.import(&case.join("run.xml"), &["--source", &source]);
    shown.write(&[]);
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/page");
    for (name, state) in SHOWN {
        shown.open(state);
        painted(&mut shown);
        let png = shown.browser.screenshot().png();
        assert!(png.len() < 200_000, "{name}: {} bytes", png.len());
        let path = docs.join(format!("{name}.png"));
        if std::env::var_os("UPDATE_DOCS").is_some() {
            fs::create_dir_all(&docs).expect("a folder");
            fs::write(&path, png).expect("a file");
        }
        assert!(path.is_file(), "{}: UPDATE_DOCS=1 makes it", path.display());
    }
    shown.was_quiet();
}

/// Waits until what was asked to be painted has been.
fn painted(shown: &mut Shown) {
    let turn = serde_json::json!({
        "expression": "new Promise((done) => (requestAnimationFrame(() => requestAnimationFrame(done)), setTimeout(done, 2000)))",
        "awaitPromise": true,
    });
    shown.browser.ask("Runtime.evaluate", &turn);
}
