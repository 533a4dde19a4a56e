//! Flame graphs in a browser, Chromium (Debian: chromium), with scripts and without: what is
//! painted, and what mouse and keys do.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::flame_graphs::{Drawn, PAINTED, Picture, TRAPS, WINDOW, picture, svg, trap};
use crate::support::browser::{Browser, Screenshot};
use crate::support::program;
use crate::support::samples_of::{bytes, imported};

/// Samples with paths: names of formats and of files.
const SAMPLES: [(&str, &str); 8] = [
    ("folded", "folded/excimer.folded"),
    ("folded", "folded/py-spy.folded"),
    ("folded", "folded/perf-fp.inferno.folded"),
    ("pprof", "pprof/cpu.pb.gz"),
    ("austin", "austin/work.cpu.austin"),
    ("stackprof", "stackprof/cpu-raw.json.gz"),
    ("cpuprofile", "cpuprofile/small-main.cpuprofile"),
    ("ghc_prof", "ghc_prof/deep.P.prof"),
];

/// The pictures that docs/flamegraph.md shows: names of files, and of the sample that each shows.
const SHOWN: [(&str, &str); 1] = [("profdb", "folded/py-spy.folded")];

const LIGHT: [u8; 3] = [255, 255, 255];
const DARK: [u8; 3] = [0x1b, 0x1b, 0x1f];

/// A browser, and a folder for what it shows and for pictures of that.
struct Show {
    browser: Browser,
    folder: PathBuf,
}

/// Starts a browser for a test. Skips the test without Chromium.
fn show(test: &str) -> Show {
    let mut browser = Browser::start();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("flame_graphs")
        .join(test);
    fs::create_dir_all(&folder).expect("a folder");
    let [width, height] = WINDOW;
    browser.resize(width, height);
    Show { browser, folder }
}

impl Show {
    /// Opens a picture, which is left in the folder.
    fn open(&mut self, name: &str, svg: &str) -> Picture {
        let path = self.folder.join(format!("{name}.svg"));
        fs::write(&path, svg).expect("a file");
        self.browser.open(&path);
        picture(svg)
    }

    /// What the window shows, which is left in the folder.
    fn shot(&mut self, name: &str) -> Screenshot {
        let shot = self.browser.screenshot();
        fs::write(self.folder.join(format!("{name}.png")), shot.png()).expect("a file");
        shot
    }

    /// Takes a picture and says how much of it is painted. The page is closed for that.
    fn painted(&mut self, name: &str, paper: [u8; 3]) -> f64 {
        let shot = self.shot(name);
        self.browser.painted(&shot, paper)
    }

    /// The edges of a box in the window, by its number.
    fn edges(&mut self, number: usize) -> [f64; 4] {
        let script = format!(
            "(() => {{
                const rect = document.querySelectorAll('.boxes > g')[{number}].querySelector('rect');
                const edges = rect.getBoundingClientRect();
                return [edges.left, edges.top, edges.width, edges.height];
            }})()"
        );
        let edges = self.browser.value(&script);
        [0, 1, 2, 3].map(|at| edges[at].as_f64().expect("a number"))
    }

    /// Clicks at the middle of a box.
    fn click(&mut self, number: usize) {
        let [left, top, width, height] = self.edges(number);
        self.browser.click(left + width / 2.0, top + height / 2.0);
    }

    /// The text of the first element that a selector of CSS finds.
    fn text(&mut self, selector: &str) -> String {
        let script = format!("document.querySelector('{selector}').textContent");
        let text = self.browser.value(&script);
        text.as_str().expect("a text").to_owned()
    }

    fn number(&mut self, expression: &str) -> f64 {
        self.browser.value(expression).as_f64().expect("a number")
    }
}

fn sample(format: &str, name: &str) -> String {
    let database = imported(format, &bytes(name));
    svg(&database, &[]).expect("a tree")
}

#[track_caller]
fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1.5, "{found}, not {expected}");
}

/// The widest box that is not as wide as the picture, and its number.
fn widest(picture: &Picture) -> (usize, Drawn) {
    let narrower = picture.boxes.iter().enumerate();
    let found = narrower
        .filter(|(_, drawn)| drawn.width < 1100.0)
        .max_by(|(_, one), (_, other)| one.width.total_cmp(&other.width));
    let (number, drawn) = found.expect("a box");
    (number, drawn.clone())
}

/// Windows are filled from the left to the right edge, with scripts and without, on light and on
/// dark paper, and nothing but the file is loaded.
#[test]
fn the_first_screen_is_painted_in_a_browser() {
    let mut show = show("painted");
    let samples = SAMPLES.map(|(format, name)| {
        let short = name.replace(['/', '.'], "-");
        (short, sample(format, name))
    });
    let traps = TRAPS.map(|name| {
        let database = imported("folded", &trap(name));
        (name.to_owned(), svg(&database, &[]).expect("a tree"))
    });
    for (name, svg) in samples.into_iter().chain(traps) {
        for (mode, are_off, scheme, paper) in [
            ("with-scripts", false, "light", LIGHT),
            ("without-scripts", true, "light", LIGHT),
            ("dark", false, "dark", DARK),
        ] {
            let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
            let media = json!({"features": features});
            show.browser.ask("Emulation.setEmulatedMedia", &media);
            show.browser.scripts(are_off);
            show.open(&name, &svg);
            let [left, _, width, _] = show.edges(0);
            let about = format!("{name} {mode}");
            near(left, 0.0);
            if name != "flat" && name != "one" {
                assert!(width > 400.0, "{about}: {width}");
            }
            near(
                show.number("document.documentElement.getBoundingClientRect().width"),
                WINDOW[0],
            );
            let painted = show.painted(&format!("{name}-{mode}"), paper);
            assert!(painted >= PAINTED, "{about}: {painted}");
        }
    }
    for request in &show.browser.requests {
        let is_file = request.starts_with("file://");
        let is_ours = request.starts_with("data:image/png") || request == "about:blank";
        assert!(is_file || is_ours, "{request:.200}");
    }
    assert_eq!(show.browser.fault, None);
}

/// A click zooms, Escape goes back, another size of the window is filled as well.
#[test]
fn a_click_zooms() {
    let mut show = show("zoom");
    let svg = sample("folded", "folded/py-spy.folded");
    let picture = show.open("zoom", &svg);
    let (number, drawn) = widest(&picture);
    let scale = WINDOW[0] / 1200.0;
    near(show.edges(number)[2], drawn.width * scale);
    show.click(number);
    let [left, top, width, _] = show.edges(number);
    near(left, 0.0);
    near(width, WINDOW[0]);
    // What is clicked stays below the mouse, and so do its callers.
    near(top, drawn.top);
    near(show.edges(0)[2], WINDOW[0]);
    let callee = number + 1;
    let inner = &picture.boxes[callee];
    assert!(inner.top > drawn.top, "the box has a callee");
    near(show.edges(callee)[2], WINDOW[0] * inner.width / drawn.width);
    // What is beside it is gone.
    let beside = picture
        .boxes
        .iter()
        .position(|other| other.left > drawn.left + drawn.width + 1.0);
    if let Some(beside) = beside {
        near(show.edges(beside)[2], 0.0);
    }
    show.shot("zoomed");
    assert!(show.text(".reset").contains("Reset"));
    show.browser.key("Escape");
    near(show.edges(number)[2], drawn.width * scale);
    show.click(number);
    show.browser.resize(800.0, 600.0);
    near(show.edges(number)[2], 800.0);
    show.browser.value(
        "document.querySelector('.reset').dispatchEvent(new MouseEvent('click', {bubbles: true}))",
    );
    near(show.edges(number)[2], drawn.width * 800.0 / 1200.0);
    assert_eq!(show.browser.fault, None);
}

/// Which share of the picture boxes have whose name or place has a text: what is within another
/// one counts once, which is seen from left to right here.
fn matched(picture: &Picture, term: &str) -> (f64, usize) {
    let found = picture.boxes.iter().filter(|drawn| {
        let lines: Vec<&str> = drawn.about.lines().collect();
        lines[..lines.len() - 1]
            .join("\n")
            .to_lowercase()
            .contains(term)
    });
    let mut spans: Vec<(f64, f64)> = found
        .map(|drawn| (drawn.left, drawn.left + drawn.width))
        .collect();
    spans.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (mut sum, mut end) = (0.0, 0.0_f64);
    for (left, right) in &spans {
        sum += (right - end.max(*left)).max(0.0);
        end = end.max(*right);
    }
    (100.0 * sum / 1200.0, spans.len())
}

/// Letters that are typed are searched for; what matches has another colour, and its share is told.
#[test]
fn names_are_searched() {
    let mut show = show("search");
    let svg = sample("folded", "folded/py-spy.folded");
    let picture = show.open("search", &svg);
    let (number, drawn) = widest(&picture);
    let term = drawn.label.trim_end_matches('…').to_lowercase();
    let term = term.split([' ', '(']).next().expect("a word").to_owned();
    show.browser.key("/");
    show.browser.write(&term);
    let (share, count) = matched(&picture, &term);
    assert!(
        share > 1.0 && count < picture.boxes.len(),
        "{term}: {share}"
    );
    let places = if count == 1 { "node" } else { "nodes" };
    let told = show.text(".found");
    assert_eq!(told, format!("{share:.2} % matched, {count} {places}"));
    let highlighted = "document.querySelectorAll('.match').length";
    assert_eq!(show.browser.value(highlighted), count);
    let colour = format!(
        "getComputedStyle(document.querySelectorAll('.boxes > g')[{number}].querySelector('rect')).fill"
    );
    assert_eq!(show.browser.value(&colour), "rgb(212, 140, 255)");
    show.shot("searched");
    // The first match has the focus, and its line is shown; the next key forgets the search.
    show.browser.key("Enter");
    let about = show.text(".about");
    assert!(about.to_lowercase().contains(&term), "{about}");
    show.browser.key("/");
    show.browser.key("Escape");
    assert_eq!(show.text(".found"), "");
    assert_eq!(show.browser.value(highlighted), 0);
    assert_eq!(show.browser.fault, None);
}

/// Arrows go from box to box, Enter zooms; with the roots at the bottom, up is where it is seen.
#[test]
fn keys_do_what_the_mouse_does() {
    let mut show = show("keys");
    let database = imported("folded", "a;b;c 2\na;d 1\na;d;e 3\n");
    for (options, [out, inwards]) in [
        (&[][..], ["ArrowUp", "ArrowDown"]),
        (&[("inverted", "")], ["ArrowDown", "ArrowUp"]),
    ] {
        let svg = svg(&database, options).expect("a tree");
        show.open("keys", &svg);
        let mut path = Vec::new();
        for key in [
            inwards,
            inwards,
            inwards,
            out,
            "ArrowRight",
            inwards,
            "ArrowLeft",
        ] {
            show.browser.key(key);
            let about = show.text(".about");
            path.push(about.split(' ').next().expect("a name").to_owned());
        }
        // Nothing is to the right of the last one, which keeps the focus.
        assert_eq!(path, ["a", "b", "c", "b", "d", "e", "c"]);
        show.browser.key(out);
        show.browser.key("Enter");
        // a, b, c, d, e
        near(show.edges(1)[2], WINDOW[0]);
        near(show.edges(3)[2], 0.0);
        show.browser.key("Escape");
        near(show.edges(1)[2], WINDOW[0] / 3.0);
    }
    assert_eq!(show.browser.fault, None);
}

/// Part of a page, where scripts do not run, and on paper, the whole picture is there.
#[test]
fn pictures_are_part_of_pages() {
    let mut show = show("page");
    let svg = sample("folded", "folded/py-spy.folded");
    let picture = show.open("page", &svg);
    let page = show.folder.join("page.html");
    // As pages of GitHub show pictures: no wider than the page, and as high as that makes them.
    let html = "<!DOCTYPE html><body style='margin: 0'><img src='page.svg' style='max-width: 100%'></body>";
    fs::write(&page, html).expect("a file");
    show.browser.resize(800.0, 600.0);
    show.browser.open(&page);
    near(show.number("document.images[0].naturalWidth"), 1200.0);
    near(show.number("document.images[0].width"), 800.0);
    let height = picture.height * 800.0 / 1200.0;
    near(show.number("document.images[0].height"), height);
    let painted = show.painted("img", LIGHT);
    assert!(painted >= PAINTED, "{painted}");
    // Paper is narrower than the window, and has no use for a field to search in.
    let [width, height] = WINDOW;
    show.browser.resize(width, height);
    show.open("page", &svg);
    let display = "getComputedStyle(document.querySelector('foreignObject')).display";
    assert_ne!(show.browser.value(display), "none");
    show.browser
        .ask("Emulation.setEmulatedMedia", &json!({"media": "print"}));
    assert_eq!(show.browser.value(display), "none");
    show.browser.scripts(true);
    show.browser.resize(700.0, 900.0);
    let [left, _, wide, _] = show.edges(0);
    near(left, 0.0);
    near(wide, picture.boxes[0].width * 700.0 / 1200.0);
    assert_eq!(show.browser.fault, None);
}

/// The pictures of docs/flamegraph.md are made where documents are brought up to date.
#[test]
fn documents_show_flame_graphs() {
    let mut show = show("documents");
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/flamegraph");
    for (name, of) in SHOWN {
        show.open(name, &sample("folded", of));
        let png = show.shot(name).png();
        assert!(png.len() < 150_000, "{name}: {} bytes", png.len());
        let path = docs.join(format!("{name}.png"));
        if std::env::var_os("UPDATE_DOCS").is_some() {
            fs::write(&path, png).expect("a file");
        }
        assert!(path.is_file(), "{}: UPDATE_DOCS=1 makes it", path.display());
    }
}

/// Boxes of two runs become as wide as their cost in the other one, and in both, with a key and by a click; what is gone is seen then.
#[test]
fn widths_of_two_runs_are_turned() {
    let mut show = show("widths");
    for (name, stacks) in [("base", "a;b 3\na;gone 1\n"), ("new", "a;b 6\na;more 2\n")] {
        fs::write(show.folder.join(format!("{name}.folded")), stacks).expect("a file");
    }
    let written = program::command()
        .current_dir(&show.folder)
        .args([
            "export",
            "--format",
            "flamegraph",
            "--diff",
            "base.folded",
            "new.folded",
        ])
        .output()
        .expect("our own program");
    let svg = String::from_utf8(written.stdout).expect("UTF-8");
    show.open("widths", &svg);
    let check = |show: &mut Show, word: &str, expected: [f64; 4]| {
        // a, b, more, gone
        for (number, expected) in expected.into_iter().enumerate() {
            near(show.edges(number)[2], expected * WINDOW[0]);
        }
        let told = show.text(".turn");
        assert!(told.starts_with(&format!("Width: {word} ")), "{told}");
        show.shot(&format!("widths-{word}"));
        show.open("widths", &svg);
    };
    check(&mut show, "new", [1.0, 0.75, 0.25, 0.0]);
    show.browser.key("w");
    check(&mut show, "base", [1.0, 0.75, 0.0, 0.25]);
    show.browser.key("w");
    let click =
        "document.querySelector('.turn').dispatchEvent(new MouseEvent('click', {bubbles: true}))";
    show.browser.value(click);
    check(&mut show, "both", [1.0, 6.0 / 9.0, 2.0 / 9.0, 1.0 / 9.0]);
    // What is zoomed stays so.
    show.click(1);
    show.browser.key("w");
    near(show.edges(1)[2], WINDOW[0]);
    // In a search, a letter is a letter.
    show.browser.key("Escape");
    show.browser.key("/");
    show.browser.write("w");
    assert!(show.text(".turn").starts_with("Width: base "));
    assert_eq!(show.browser.fault, None);
}
