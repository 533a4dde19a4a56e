//! What `profdb gate` writes is read back by a reader of each format: by `quick-xml`, by the rules of GitHub's runner, by
//! `pulldown-cmark`, by `serde_json`. Names are hostile.

#![expect(clippy::disallowed_methods, reason = "a test reads what was written")]

use std::fmt::Write as _;
use std::fs;

use pulldown_cmark::{Event, Parser, Tag, TagEnd};
use quick_xml::events::Event as Xml;
use quick_xml::{Reader, XmlVersion};
use serde_json::{Value, json};

use crate::gate::{Place, Told};

/// Names that mean something to a program on their way.
const NAMES: [&str; 16] = [
    "::set-output name=x::y",
    "::error file=a.c,line=1::stop",
    "##[error]stop",
    "a]]>b<!--&amp;\"'>",
    "two\nlines\r\n::stop-commands::x",
    "@everyone",
    "*",
    "-rf",
    "evil\u{202e}exe.txt",
    "`tick` ``two`` ```",
    "a|b\\|c",
    "bell\u{7}\u{1b}[31mred\0",
    "<script>alert(1)</script>",
    "[link](http://www.example.org) ![x](y)",
    "100%25%0A::warning::x",
    "# heading\n- item",
];

/// A profile in which each of some functions costs so much, as speedscope has it: names are any text.
fn profile(costs: &[(&str, u64)]) -> String {
    let frames: Vec<Value> = costs
        .iter()
        .map(|(name, _)| json!({"name": name}))
        .collect();
    let samples: Vec<Value> = (0..costs.len()).map(|at| json!([at])).collect();
    let weights: Vec<u64> = costs.iter().map(|(_, cost)| *cost).collect();
    let end: u64 = weights.iter().sum();
    json!({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "shared": {"frames": frames},
        "profiles": [{"type": "sampled", "name": "work", "unit": "nanoseconds", "startValue": 0, "endValue": end,
            "samples": samples, "weights": weights}],
    })
    .to_string()
}

/// A folder with a profile in which every function costs twice as much as before, and a budget of everything that fails.
fn hostile() -> Place {
    let place = Place::new();
    let base: Vec<(&str, u64)> = NAMES.iter().map(|name| (*name, 1_000_000)).collect();
    let new: Vec<(&str, u64)> = NAMES.iter().map(|name| (*name, 2_000_000)).collect();
    fs::write(place.path().join("base.json"), profile(&base)).expect("a file");
    fs::write(place.path().join("new.json"), profile(&new)).expect("a file");
    place
}

const BUDGET: &str = "fn '*' <= +10 %\nany <= +10 % unless 'x:,%*`|@<\">y'\nnew <= 1 % of total\nfn 'nosuch @me `|`' <= 5 %  of total\n";

fn told(place: &Place, format: &str) -> Told {
    let told = place.gate(
        BUDGET,
        &[
            "base.json",
            "new.json",
            "--noise",
            "exact",
            "--format",
            format,
        ],
    );
    assert_eq!(told.code, Some(1), "{}", told.errors);
    // Nothing moves a cursor, or changes the order of what is around.
    let is_unsafe = |letter: char| letter != '\n' && moves(letter);
    if format != "json" {
        let found = told.out.chars().find(|letter| is_unsafe(*letter));
        assert_eq!(found, None, "{format}");
    }
    told
}

/// A name as formats for people show it.
fn shown(name: &str) -> String {
    let mut shown = String::new();
    for letter in name.chars() {
        if moves(letter) {
            shown.extend(letter.escape_default());
        } else {
            shown.push(letter);
        }
    }
    shown
}

/// Whether a character moves the cursor, or changes the order of what is around.
fn moves(letter: char) -> bool {
    letter.is_control() || letter == '\u{202e}'
}

#[test]
fn json_has_names_as_they_are() {
    let place = hostile();
    let json: Value = serde_json::from_str(&told(&place, "json").out).expect("JSON");
    let subjects = json["rules"][0]["subjects"].as_array().expect("things");
    let mut names: Vec<&str> = subjects
        .iter()
        .map(|subject| subject["function"].as_str().expect("a name"))
        .collect();
    names.sort_unstable();
    let mut expected = NAMES.to_vec();
    expected.sort_unstable();
    assert_eq!(names, expected);
    assert_eq!(
        (json["outcome"].as_str(), json["exit_code"].as_i64()),
        (Some("fail"), Some(1))
    );
    for subject in subjects {
        assert_eq!(
            (subject["base"].as_f64(), subject["new"].as_f64()),
            (Some(1e6), Some(2e6))
        );
        assert_eq!(subject["result"], "fail");
    }
}

/// A test case: its name, what became of it, and all text in it.
struct Case {
    name: String,
    outcome: String,
    text: String,
}

/// Reads XML of `JUnit`: the numbers of its suite, and its cases. What Jenkins' schema does not have is refused.
fn cases(xml: &str) -> (Vec<(String, String)>, Vec<Case>) {
    const ELEMENTS: [(&str, &[&str], &[&str]); 7] = [
        (
            "testsuites",
            &["name", "time", "tests", "failures", "disabled", "errors"],
            &["testsuite"],
        ),
        (
            "testsuite",
            &[
                "name",
                "tests",
                "failures",
                "errors",
                "time",
                "disabled",
                "skipped",
                "timestamp",
                "hostname",
                "id",
                "package",
            ],
            &["properties", "testcase", "system-out", "system-err"],
        ),
        (
            "testcase",
            &["name", "assertions", "time", "classname", "status"],
            &["skipped", "error", "failure", "system-out", "system-err"],
        ),
        ("failure", &["type", "message"], &[]),
        ("error", &["type", "message"], &[]),
        ("skipped", &["type", "message"], &[]),
        ("system-out", &[], &[]),
    ];
    let mut reader = Reader::from_str(xml);
    reader.config_mut().check_end_names = true;
    let (mut open, mut suite, mut found) = (Vec::<String>::new(), Vec::new(), Vec::<Case>::new());
    loop {
        let event = reader.read_event().expect("well-formed XML");
        let is_empty = matches!(event, Xml::Empty(_));
        match event {
            Xml::Start(start) | Xml::Empty(start) => {
                let name = start.name().as_ref().to_owned();
                let (_, attributes, _) = ELEMENTS
                    .iter()
                    .find(|(known, ..)| *known == name)
                    .unwrap_or_else(|| panic!("element {name}"));
                let allowed = open.last().map_or(&["testsuites"][..], |parent| {
                    ELEMENTS
                        .iter()
                        .find(|(known, ..)| known == parent)
                        .expect("known")
                        .2
                });
                assert!(allowed.contains(&name.as_str()), "{name} in {open:?}");
                let mut values = Vec::new();
                for attribute in start.attributes() {
                    let attribute = attribute.expect("an attribute");
                    let key = attribute.key.as_ref().to_owned();
                    assert!(attributes.contains(&key.as_str()), "{name} {key}");
                    let value = attribute
                        .normalized_value(XmlVersion::Implicit1_0)
                        .expect("a value")
                        .into_owned();
                    values.push((key, value));
                }
                let value = |key: &str| {
                    values
                        .iter()
                        .find(|(known, _)| known == key)
                        .map(|(_, value)| value.clone())
                };
                match name.as_str() {
                    "testsuite" => suite.clone_from(&values),
                    "testcase" => found.push(Case {
                        name: value("name").expect("a name"),
                        outcome: "passed".to_owned(),
                        text: String::new(),
                    }),
                    "failure" | "error" | "skipped" => {
                        let case = found.last_mut().expect("a case");
                        case.outcome.clone_from(&name);
                        case.text += &value("message").expect("a message");
                        case.text.push('\n');
                    }
                    _ => {}
                }
                if !is_empty {
                    open.push(name);
                }
            }
            Xml::End(_) => {
                open.pop();
            }
            Xml::Text(text) => {
                if let Some(case) = found.last_mut() {
                    case.text += &text;
                }
            }
            Xml::GeneralRef(reference) => {
                let name = reference.to_string();
                let letter = reference
                    .resolve_char_ref()
                    .expect("a character")
                    .map(String::from);
                let text = letter
                    .or_else(|| quick_xml::escape::resolve_xml_entity(&name).map(str::to_owned));
                if let Some(case) = found.last_mut() {
                    case.text += &text.expect("an entity of XML");
                }
            }
            Xml::Eof => break,
            Xml::Decl(_) => {}
            other => panic!("{other:?}"),
        }
    }
    assert!(open.is_empty());
    (suite, found)
}

#[test]
fn junit_is_read_by_a_reader_of_xml() {
    let place = hostile();
    let (suite, found) = cases(&told(&place, "junit").out);
    let outcomes: Vec<&str> = found.iter().map(|case| case.outcome.as_str()).collect();
    assert_eq!(outcomes, ["failure", "failure", "passed", "skipped"]);
    for name in NAMES {
        assert!(
            found[0].text.contains(&shown(name)),
            "{name:?}: {}",
            found[0].text
        );
    }
    assert_eq!(found[1].name, "line 2: any <= +10 % unless 'x:,%*`|@<\">y'");
    let number = |key: &str| {
        suite
            .iter()
            .find(|(known, _)| known == key)
            .map(|(_, value)| value.as_str())
    };
    assert_eq!(
        ["tests", "failures", "errors", "skipped"].map(number),
        [Some("4"), Some("2"), Some("0"), Some("1")]
    );
    // Where nothing is measured, what was not judged is an error, or the page would be green.
    let none = place.gate("total <= +5 %\n", &["new.json", "--format", "junit"]);
    assert_eq!(none.code, Some(4));
    let (suite, found) = cases(&none.out);
    assert_eq!(found[0].outcome, "error");
    assert!(suite.contains(&("errors".to_owned(), "1".to_owned())));
}

/// A command of a workflow, as GitHub's runner reads it (`ActionCommand.TryParseV2`).
struct Command {
    name: String,
    properties: Vec<(String, String)>,
    data: String,
}

fn command(line: &str) -> Option<Command> {
    // The runner looks for commands of the old form anywhere.
    assert!(!line.contains("##["), "{line}");
    let rest = line.trim_start().strip_prefix("::")?;
    let (head, data) = rest.split_once("::")?;
    let (name, properties) = head.split_once(' ').unwrap_or((head, ""));
    let unescaped = |text: &str| {
        text.replace("%0D", "\r")
            .replace("%0A", "\n")
            .replace("%25", "%")
    };
    let properties = properties.split(',').filter(|text| !text.is_empty());
    Some(Command {
        name: name.to_owned(),
        properties: properties
            .map(|property| {
                let (key, value) = property.split_once('=').expect("KEY=VALUE");
                let value = value.replace("%3A", ":").replace("%2C", ",");
                (key.trim().to_owned(), unescaped(&value))
            })
            .collect(),
        data: unescaped(data),
    })
}

#[test]
fn annotations_are_read_by_the_rules_of_github() {
    let place = hostile();
    let out = told(&place, "github").out;
    let found: Vec<Command> = out
        .lines()
        .map(|line| command(line).unwrap_or_else(|| panic!("no command: {line}")))
        .collect();
    let names: Vec<&str> = found.iter().map(|command| command.name.as_str()).collect();
    assert_eq!(names, ["error", "error", "error", "notice"]);
    let property = |at: usize, key: &str| {
        let mut properties = found[at].properties.iter();
        properties
            .find(|(known, _)| known == key)
            .map(|(_, value)| value.as_str())
    };
    assert_eq!(property(0, "file"), Some("perf.budget"));
    assert_eq!(property(0, "line"), Some("1"));
    assert_eq!(
        property(1, "title"),
        Some("fail: any <= +10 % unless 'x:,%*`|@<\">y'")
    );
    for name in NAMES {
        let name = shown(name).replace("##[", "##\\[");
        assert!(found[0].data.contains(&name), "{name:?}: {}", found[0].data);
    }
    // What people read is printed by the same program: no line of it is a command either.
    for line in told(&place, "text").out.lines() {
        assert!(command(line).is_none(), "{line}");
    }
}

/// What a reader of Markdown sees: the texts of code spans, and all others.
fn spans(markdown: &str) -> (Vec<String>, String) {
    let (mut spans, mut rest) = (Vec::new(), String::new());
    for event in Parser::new(markdown) {
        match event {
            Event::Code(text) => spans.push(text.into_string()),
            Event::Text(text) => rest += &text,
            Event::SoftBreak
            | Event::Start(
                Tag::Heading { .. } | Tag::List(None) | Tag::Item | Tag::Paragraph | Tag::Strong,
            )
            | Event::End(
                TagEnd::Heading(_)
                | TagEnd::List(_)
                | TagEnd::Item
                | TagEnd::Paragraph
                | TagEnd::Strong,
            ) => rest.push(' '),
            other => panic!("{other:?}"),
        }
    }
    (spans, rest)
}

#[test]
fn markdown_has_names_in_code_only() {
    let place = hostile();
    let out = told(&place, "markdown").out;
    let (found, rest) = spans(&out);
    for name in NAMES {
        let name = shown(name).replace("##[", "##\\[");
        let said = format!("fail: {name}: 1.000 msec -> 2.000 msec, +100.0 %");
        assert!(
            found.iter().any(|span| span.starts_with(&said)),
            "{said}\n{out}"
        );
    }
    assert!(
        found.contains(&"any <= +10 % unless 'x:,%*`|@<\">y'".to_owned()),
        "{out}"
    );
    let words = rest.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(
        words,
        "profdb gate: fail New: Base: fail fail nothing matched pass warning"
    );
    // The summary is the same, and the next one goes after it.
    let arguments = [
        "base.json",
        "new.json",
        "--noise",
        "exact",
        "--summary",
        "summary.md",
    ];
    for times in 1..3 {
        assert_eq!(place.gate(BUDGET, &arguments).code, Some(1));
        let written = fs::read(place.path().join("summary.md")).expect("a file");
        let written = String::from_utf8(written).expect("text");
        assert_eq!(written, out.repeat(times));
    }
}

/// Writes `base.json` and `new.json`: functions that cost twice as much in `new`.
fn write_slower_functions(place: &Place, count: usize) {
    let names: Vec<String> = (0..count)
        .map(|at| format!("@function `{at}` of a long name"))
        .collect();
    for (file, cost) in [("base.json", 1000), ("new.json", 2000)] {
        let functions: Vec<_> = names.iter().map(|name| (name.as_str(), cost)).collect();
        fs::write(place.path().join(file), profile(&functions)).expect("a file");
    }
}

#[test]
fn long_summary_is_cut_with_a_note() {
    let place = Place::new();
    let sides = [
        "base.json",
        "new.json",
        "--noise",
        "exact",
        "--format",
        "markdown",
    ];
    let many = (0..500).fold(String::new(), |mut many, at| {
        writeln!(many, "fn '@function `{at}`*' <= +5 %").expect("a string takes all");
        many
    });
    let one = "total <= +5 %\nfn '*' <= +5 %\ntotal <= +6 %\n";
    for (functions, budget, said) in [
        (
            3000,
            one,
            "2982 more lines about this rule: see --format text",
        ),
        (500, many.as_str(), "This summary is cut: "),
    ] {
        write_slower_functions(&place, functions);
        let told = place.gate(budget, &sides);
        assert_eq!(told.code, Some(1), "{}", told.errors);
        assert!(told.out.len() <= 64 << 10, "{}", told.out.len());
        let (found, rest) = spans(&told.out);
        assert!(
            rest.contains(said) || found.contains(&said.to_owned()),
            "{rest}"
        );
        assert!(rest.trim_start().starts_with("profdb gate: fail"), "{rest}");
    }
    // GitHub shows ten annotations of a step, and the tenth says how many more there are.
    let told = place.gate(&many, &[&sides[..5], &["github"]].concat());
    let errors: Vec<&str> = told
        .out
        .lines()
        .filter(|line| line.starts_with("::error "))
        .collect();
    assert_eq!(errors.len(), 10);
    assert!(
        errors[9].ends_with("%0A490 more rules are not shown here"),
        "{}",
        errors[9]
    );
}
