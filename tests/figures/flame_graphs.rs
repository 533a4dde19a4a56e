//! Flame graphs of all samples and of trees that are hard to draw: what of the first screen is
//! painted, computed from the boxes; what may not be in a file; and how large it is.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use profdb::base::error::Stop;
use profdb::formats;
use profdb::formats::Options;
use profdb::formats::export::Request;
use profdb::input::{Input, Limits};
use profdb::pipeline::{import, meta};
use profdb::store::Database;
use quick_xml::Reader;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::Event;

use crate::support::case_files::repository_path;
use crate::support::long;
use crate::support::samples_of::imported;

/// The window that pictures are looked at in, in pixels.
pub(crate) const WINDOW: [f64; 2] = [1280.0, 720.0];

/// The part of the first screen that is painted at least.
pub(crate) const PAINTED: f64 = 0.15;

/// The flame graph of the only run of a database; `None` if there are no paths.
pub(crate) fn svg(database: &Database, options: &[(&'static str, &str)]) -> Option<String> {
    let export = formats::export_named("flamegraph").expect("a format");
    let run = database.run(None).expect("a run").expect("a run");
    if !export.holds(&run.fidelity) {
        return None;
    }
    let mut request = Request::default();
    for (name, value) in options {
        request.options.set(name, *value);
    }
    let mut bytes = Vec::new();
    export
        .write(database, &run, &request, &mut bytes)
        .expect("a picture");
    Some(String::from_utf8(bytes).expect("UTF-8"))
}

/// A box of a picture, as it is drawn, and what is said of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Drawn {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) fill: String,
    pub(crate) about: String,
    pub(crate) label: String,
}

/// What is in a picture.
#[derive(Debug, Default)]
pub(crate) struct Picture {
    pub(crate) boxes: Vec<Drawn>,
    /// The text above the boxes.
    pub(crate) head: Vec<String>,
    /// What its scripts are.
    scripts: Vec<String>,
    /// Names and values of all attributes.
    attributes: BTreeSet<(String, String)>,
    pub(crate) height: f64,
}

/// Reads a picture, as strictly as browsers read XML.
pub(crate) fn picture(svg: &str) -> Picture {
    let mut picture = Picture::default();
    let mut open: Vec<String> = Vec::new();
    let mut text = String::new();
    let mut reader = Reader::from_str(svg);
    reader.config_mut().check_comments = true;
    loop {
        let event = reader.read_event().expect("XML");
        if let Event::Start(element) | Event::Empty(element) = &event {
            let name = element.name().as_ref().to_owned();
            let is_box = open.len() == 2 && open[1] == "g boxes";
            if is_box {
                picture.boxes.push(Drawn::default());
            }
            let mut class = String::new();
            for attribute in element.attributes() {
                let attribute = attribute.expect("an attribute");
                let key = attribute.key.as_ref().to_owned();
                let value = attribute.value.to_string();
                let is_rect = open.get(1).is_some_and(|group| group == "g boxes") && name == "rect";
                if let (true, Some(last)) = (is_rect, picture.boxes.last_mut()) {
                    let number = || value.parse().expect("a number");
                    match key.as_str() {
                        "x" => last.left = number(),
                        "y" => last.top = number(),
                        "width" => last.width = number(),
                        "height" => last.height = number(),
                        "fill" => last.fill.clone_from(&value),
                        _ => {}
                    }
                }
                if open.is_empty() && key == "height" {
                    picture.height = value.parse().expect("a number");
                }
                if key == "class" {
                    class.clone_from(&value);
                }
                picture.attributes.insert((key, value));
            }
            text.clear();
            if matches!(event, Event::Start(_)) {
                open.push(format!("{name} {class}").trim().to_owned());
            }
        }
        match event {
            Event::Text(part) => text.push_str(&part),
            Event::GeneralRef(entity) => {
                text.push_str(resolve_xml_entity(&entity).expect("an entity of XML"));
            }
            Event::CData(part) => text.push_str(&part),
            Event::End(_) => {
                let ended = open.pop().expect("XML");
                let text = std::mem::take(&mut text);
                let last = picture.boxes.last_mut();
                match (open.get(1).map(String::as_str), ended.as_str(), last) {
                    (Some("g boxes"), "title", Some(last)) => last.about = text,
                    (Some("g boxes"), "text", Some(last)) => last.label = text,
                    (Some("g head"), _, _) => picture.head.push(text),
                    (_, "script", _) => picture.scripts.push(text),
                    _ => {}
                }
            }
            Event::Eof => break,
            _ => {}
        }
    }
    assert!(open.is_empty(), "{open:?} are open");
    picture
}

/// Which part of the first screen the boxes paint, where letters keep their size.
pub(crate) fn painted(boxes: &[Drawn]) -> f64 {
    let [width, height] = WINDOW;
    let area = |drawn: &Drawn| {
        let bottom = (drawn.top + drawn.height).min(height);
        drawn.width * width / 1200.0 * (bottom - drawn.top).max(0.0)
    };
    boxes.iter().map(area).sum::<f64>() / (width * height)
}

/// All files below a folder, in one order always.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// Lists the samples and the files of cases: all in the long form, else those of a fixed part of the cases.
pub(crate) fn input_files() -> Vec<PathBuf> {
    let mut samples = Vec::new();
    files(&repository_path("tests/samples"), &mut samples);
    let cases = repository_path("tests/cases");
    let mut inputs = Vec::new();
    files(&cases, &mut inputs);
    inputs.retain(|path| {
        let name = path.strip_prefix(&cases).expect("a file of the folder");
        long::includes_case(&name.to_string_lossy())
    });
    samples.extend(inputs);
    samples
}

/// What a file holds, if it is a profile.
fn profile(path: &Path) -> Option<Database> {
    let bytes = fs::read(path).expect("readable");
    let input = Input::new(
        Box::new(bytes.as_slice()),
        Limits::default(),
        Stop::default(),
    )
    .ok()?;
    let format = formats::detect(input.head()).ok()?;
    let options = Options::default();
    let describe = |fingerprint| meta(format, &options, "sample", fingerprint);
    let read = import(
        input,
        format,
        &options,
        &Stop::default(),
        describe,
        Database::in_memory,
    );
    Some(read.ok()?.database)
}

/// How well black is read on a colour: the ratio of WCAG 2.
fn contrast(fill: &str) -> f64 {
    let part = |at: usize| {
        let byte = u8::from_str_radix(&fill[at..at + 2], 16).expect("a colour");
        let share = f64::from(byte) / 255.0;
        if share <= 0.04045 {
            share / 12.92
        } else {
            ((share + 0.055) / 1.055).powf(2.4)
        }
    };
    let luminance = 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5);
    (luminance + 0.05) / 0.05
}

/// Nothing in a picture is fetched, and nothing in it can act but its own script.
fn nothing_foreign(name: &str, picture: &Picture) {
    const ATTRIBUTES: [&str; 11] = [
        "class",
        "fill",
        "font-family",
        "font-size",
        "height",
        "version",
        "viewBox",
        "width",
        "x",
        "xmlns",
        "y",
    ];
    for (key, value) in &picture.attributes {
        assert!(ATTRIBUTES.contains(&key.as_str()), "{name}: {key}={value}");
        let is_namespace = key == "xmlns" && value == "http://www.w3.org/2000/svg";
        assert!(
            is_namespace || !value.contains("//") && !value.contains("url("),
            "{name}: {key}={value}"
        );
    }
    let script = include_str!("../../src/formats/flamegraph/script.js");
    assert_eq!(picture.scripts, [format!("\n{script}")], "{name}");
}

#[test]
fn the_first_screen_of_every_sample_is_painted() {
    let (mut drawn, mut empty) = (0, 0);
    let mut pale = Vec::new();
    for path in input_files() {
        let name = path.display().to_string();
        let Some(database) = profile(&path) else {
            continue;
        };
        let Some(svg) = svg(&database, &[]) else {
            continue;
        };
        let picture = picture(&svg);
        nothing_foreign(&name, &picture);
        if picture.boxes.is_empty() {
            assert!(
                picture.head[1].contains("nothing to draw"),
                "{name}: {:?}",
                picture.head
            );
            empty += 1;
            continue;
        }
        drawn += 1;
        let painted = painted(&picture.boxes);
        if painted < PAINTED {
            pale.push(format!("{painted:.3} {name}"));
        }
        for drawn in &picture.boxes {
            assert!(contrast(&drawn.fill) >= 4.5, "{name}: {drawn:?}");
            // 7,300 us and 7.3 ms are one, and only one of them is read at a glance.
            let figures = drawn.about.lines().last().unwrap_or_default();
            for unit in ["ns", "us", "msec", "bytes", "KiB", "MiB"] {
                for (at, _) in figures.match_indices(&format!(" {unit}")) {
                    let figure = figures[..at].rsplit(' ').next().unwrap_or_default();
                    let figure: f64 = figure.parse().expect("a figure");
                    assert!(figure.abs() < 1024.5, "{name}: {figures}");
                }
            }
        }
    }
    assert!(pale.is_empty(), "{pale:#?}");
    assert!(drawn > 100 && empty > 0, "{drawn} pictures, {empty} empty");
}

/// Trees that are hard to draw, as stacks.
pub(crate) fn trap(name: &str) -> String {
    let chain = |from: usize, to: usize| {
        let frames: Vec<String> = (from..to).map(|level| format!("level{level}")).collect();
        frames.join(";")
    };
    let stacks: Vec<String> = match name {
        // Deeper than any window, with a branch at each level.
        "deep" => (1..400)
            .map(|depth| format!("{} 1\n", chain(0, depth)))
            .collect(),
        // No caller, and hardly any width.
        "flat" => (0..4000).map(|at| format!("function{at} 1\n")).collect(),
        "one" => vec!["all 1\n".to_owned()],
        // What is of interest is below a trunk.
        "trunk" => ["a 5", "b;c 3", "b;d 2"]
            .map(|rest| format!("{};{rest}\n", chain(0, 90)))
            .to_vec(),
        "long_trunk" => ["a 5", "b;c 3", "b;d 2"]
            .map(|rest| format!("{};{rest}\n", chain(0, 20_000)))
            .to_vec(),
        // Many places that are all wide enough.
        "columns" => (0..100)
            .map(|at| format!("main;start{at};{} 1\n", chain(0, 150)))
            .collect(),
        // More places than a browser should show, nearly all of them narrow.
        "dust" => (0..9000)
            .map(|at| {
                let cost = 1 + 2000 / (1 + at % 97);
                format!("main;a{};b{};c{at};d{at};e{at} {cost}\n", at % 30, at % 900)
            })
            .collect(),
        other => panic!("no trap is called {other}"),
    };
    stacks.concat()
}

pub(crate) const TRAPS: [&str; 7] = [
    "deep",
    "flat",
    "one",
    "trunk",
    "long_trunk",
    "columns",
    "dust",
];

#[test]
fn trees_that_are_hard_to_draw_are_readable() {
    for name in TRAPS {
        let database = imported("folded", &trap(name));
        let svg = svg(&database, &[]).expect("a tree");
        let picture = picture(&svg);
        let painted = painted(&picture.boxes);
        assert!(painted >= PAINTED, "{name}: {painted}");
        // What branches from the trunk is in the window, under a name.
        for branch in ["a", "b", "c", "d"]
            .iter()
            .filter(|_| name.contains("trunk"))
        {
            let found = picture.boxes.iter().find(|drawn| drawn.label == *branch);
            let found = found.unwrap_or_else(|| panic!("{name}: no {branch}"));
            assert!(found.top + found.height < WINDOW[1], "{name}: {found:?}");
            assert!(picture.head[1].contains("drawn thin"), "{:?}", picture.head);
        }
    }
}

/// What nobody can see is left out, what can be seen is not, and the caption says so.
#[test]
fn large_trees_become_small_files() {
    let [columns, dust] = ["columns", "dust"].map(|name| {
        let database = imported("folded", &trap(name));
        picture(&svg(&database, &[]).expect("a tree"))
    });
    assert_eq!(columns.boxes.len(), 1 + 100 * 151);
    assert!(!columns.head[1].contains("left out"), "{:?}", columns.head);
    let count = dust.boxes.len();
    assert!((1000..=10_000).contains(&count), "{count}");
    let database = imported("folded", &trap("dust"));
    let all = picture(&svg(&database, &[("min-pct", "0")]).expect("a tree"));
    let left_out = format!("left out: {} nodes below 0.0", all.boxes.len() - count);
    assert!(dust.head[1].contains(&left_out), "{:?}", dust.head);
}

/// Roots are at the top, and on demand at the bottom; nothing else differs.
#[test]
fn flames_stand_on_their_heads() {
    let database = imported("folded", &trap("deep"));
    let [down, up] = [&[][..], &[("inverted", "")]]
        .map(|options| picture(&svg(&database, options).expect("a tree")));
    assert_eq!(down.boxes.len(), up.boxes.len());
    let mirrored = |drawn: &Drawn| down.height + 72.0 - 10.0 - drawn.top - drawn.height;
    for (one, other) in down.boxes.iter().zip(&up.boxes) {
        assert_eq!(one.about, other.about);
        // Below each level is a line of paper, in both.
        let off = (mirrored(one) - 1.0 - other.top).abs();
        assert!(off < 0.01, "{one:?} {other:?}");
        assert!(one.left.to_bits() == other.left.to_bits() && one.top >= 72.0);
    }
}

/// Names are text, whatever is in them.
#[test]
fn names_of_strangers_are_text() {
    let names = [
        "</script><script>alert(1)</script>",
        "]]><script>alert(1)</script>",
        "<!--",
        "&amp&lt",
        "\" onclick=\"alert(1)",
        "url(http://example.com/x.png)",
        "שלום עולם",
        "∆⍙ 函数 🦀",
    ];
    let mut text: String = names.map(|name| format!("{name} 1\n")).concat();
    text.push_str("evil\u{202e}txt.exe\u{2066}\u{200f}\u{1b}[31m\u{7f}\u{feff} 1\n");
    let database = imported("folded", &text);
    let svg = svg(&database, &[]).expect("a tree");
    let picture = picture(&svg);
    nothing_foreign("names", &picture);
    let found: BTreeSet<&str> = picture
        .boxes
        .iter()
        .filter_map(|drawn| drawn.about.lines().next())
        .collect();
    let expected = names.into_iter().chain(["evil�txt.exe��␛[31m��"]);
    assert_eq!(found, expected.collect());
    assert_eq!(svg.matches("<script").count(), 1);
    let is_bad = |character: char| {
        character.is_control() && character != '\n'
            || matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    assert!(!svg.contains(is_bad));
}

/// The script is within the XML that it is written in, and neither it nor the style fetches
/// anything.
#[test]
fn scripts_and_styles_fetch_nothing() {
    let script = include_str!("../../src/formats/flamegraph/script.js");
    let style = include_str!("../../src/formats/flamegraph/style.css");
    assert!(!script.contains("]]>") && !style.contains(['<', '&']));
    let words = [
        "fetch(",
        "import",
        "XMLHttp",
        "WebSocket",
        "sendBeacon",
        "Worker",
        "eval",
        "innerHTML",
        "href",
        "src=",
        "url(",
        "document.write",
        "cookie",
        "localStorage",
    ];
    for text in [script, style] {
        for word in words {
            // `!important` is no import.
            let text = text.replace("!important", "");
            assert!(!text.contains(word), "{word}");
        }
        let plain = text.replace("http://www.w3.org/1999/xhtml", "");
        assert!(!plain.contains("://"));
    }
}
