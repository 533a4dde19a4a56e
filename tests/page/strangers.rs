//! Names of strangers: they are shown in every view, and do nothing.

use std::fs;

use serde_json::{Value, json};

use super::browser;
use crate::shown::Shown;

/// What could do something, change the order of letters, be a word of the script's own, or be long.
pub(super) fn names() -> Vec<String> {
    let mut names: Vec<String> = [
        "<img src=x onerror=alert(1)>",
        "</script><script>alert(1)</script>",
        "\"><svg onload=alert(1)>",
        "javascript:alert(1)",
        "<!--",
        "]]>",
        "&lt;b&gt;",
        "a\u{202e}b\u{2066}c",
        "nul\u{0}nul",
        "two\nlines\tand\u{1b}[31m",
        "\u{feff}",
        "",
        " ",
        "__proto__",
        "constructor",
        "toString",
        "map<a, b>",
        "a->b,c",
        "it's \"quoted\"",
        "*",
        "${name}",
        "=1+1",
        "%3Cb%3E%00",
        "#fn=x&view=tree",
        "😀é漢字",
        "left|right`code`",
        "back\\|slash\\\\|```",
        "@everyone #12 www.a.b",
        "::set-output x=1 ##[error]",
    ]
    .map(str::to_owned)
    .to_vec();
    names.push("long ".repeat(2000));
    names
}

/// A profile of `speedscope` in which each calls the next.
pub(super) fn profile(names: &[String]) -> Value {
    let frames: Vec<Value> = names
        .iter()
        .map(|name| json!({"name": name, "file": name, "line": 3}))
        .collect();
    let stacks: Vec<Vec<usize>> = (0..names.len()).map(|end| (0..=end).collect()).collect();
    let others: Vec<Vec<usize>> = (1..names.len()).map(|at| vec![0, at]).collect();
    let samples = [stacks, others].concat();
    json!({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "shared": {"frames": frames},
        "profiles": [{
            "type": "sampled",
            "name": names[1],
            "unit": "none",
            "startValue": 0,
            "endValue": samples.len(),
            "weights": vec![1; samples.len()],
            "samples": samples,
        }],
    })
}

/// What is in the page that no name may bring.
pub(super) fn brought(shown: &mut Shown) -> Value {
    let script = "[...document.querySelectorAll('img, iframe, object, embed, a, base, form, svg [onload], link:not([href=\"page.css\"], [href=\"data:,\"])')].length";
    shown.browser.value(script)
}

#[test]
fn names_are_shown_and_do_nothing() {
    let mut shown = browser("strangers");
    let names = names();
    // The name of the file is in the page, too.
    let file = shown.folder.join("<title><b>'\".speedscope.json");
    fs::write(&file, profile(&names).to_string()).expect("a file");
    shown.import(&file, &["--tag", "<b>=<script>alert(1)</script>"]);
    shown.write(&[]);
    if shown.server.is_none() {
        let text = fs::read_to_string(&shown.html).expect("text");
        assert_eq!(
            text.matches("</script>").count(),
            text.matches("<script").count()
        );
    }
    shown.open(&[("functions", "table")]);
    let heads = shown.texts(".functions tbody th");
    assert_eq!(heads.len(), names.len());
    assert!(
        heads
            .iter()
            .any(|head| head == "<img src=x onerror=alert(1)>")
    );
    assert!(heads.iter().any(|head| head == "a\\u{202e}b\\u{2066}c"));
    assert!(heads.iter().any(|head| head == "(no name)"));
    for name in &names {
        let quoted = format!("\"{}\"", name.replace('"', "\"\""));
        for view in ["panes", "flame", "calls", "source"] {
            shown.go(&[
                ("view", view),
                ("fn", &quoted),
                ("function", name),
                ("line-of", name),
                ("search", name),
            ]);
            assert_eq!(brought(&mut shown), 0, "{view} {name:?}");
        }
        shown.go(&[("fn", &quoted), ("report", "calls")]);
        // No word of a command holds NUL, and nobody writes a command of 10 kB.
        if !name.contains('\0') && name.len() < 5000 {
            shown.is_as_said(".pane.functions");
        }
    }
    for view in ["overview", "tree", "flame", "panes"] {
        shown.go(&[
            ("view", view),
            ("layout", "sandwich"),
            ("functions", "pie"),
            ("lines", "pie"),
        ]);
        assert_eq!(brought(&mut shown), 0, "{view}");
        for what in ["CSV", "Markdown"] {
            let within = if view == "panes" {
                ".pane.functions"
            } else {
                ".tools"
            };
            if view != "flame" {
                assert!(!shown.offered_as(within, what).is_empty());
            }
        }
    }
    if shown.is_served() {
        for view in ["runs", "diff", "history", "steps", "sql"] {
            shown.go(&[
                ("view", view),
                ("base", "1"),
                ("new", "1"),
                ("function", &names[0]),
                ("sql", "SELECT name, module, file FROM functions"),
            ]);
            assert_eq!(brought(&mut shown), 0, "{view}");
        }
        shown.wait("document.querySelector('.sql')?.dataset.asked === '1'");
        assert!(
            shown
                .texts(".sql tbody tr")
                .iter()
                .any(|row| row.starts_with(&names[0]))
        );
        assert_eq!(brought(&mut shown), 0, "rows of a statement");
        for set in ["<img src=x onerror=alert(1)>", "/etc/passwd", "-", ",,"] {
            shown.go(&[("view", "diff"), ("base", set), ("new", set)]);
            assert_eq!(brought(&mut shown), 0, "{set}");
        }
    }
    // What the address says is from strangers as well.
    for state in [
        &[
            ("view", "<img src=x onerror=alert(1)>"),
            ("fn", "<img src=x onerror=alert(1)>zzz"),
        ][..],
        &[
            ("run", "__proto__"),
            ("metric", "<b>"),
            ("report", "constructor"),
        ],
        &[
            ("view", "constructor"),
            ("order", "x"),
            ("layout", "y"),
            ("window", "<i>"),
            ("place", "1e9"),
        ],
        &[("view", "flame"), ("place", "NaN"), ("order", "x")],
        &[("fn", ",,>>"), ("line", "x")],
    ] {
        shown.go(state);
        assert_eq!(brought(&mut shown), 0, "{state:?}");
    }
    shown.was_quiet();
}
