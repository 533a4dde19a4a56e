//! Pages of several runs: what changed between two sides, and what was from run to run. Their figures are those of the commands
//! that they offer.

use std::fmt::Write as _;
use std::fs;

use profdb::text::judged::short_commit;
use serde_json::{Value, json};

use super::browser;
use crate::shown::{DOUBLE, Shown, first_difference, profdb, said};
use crate::support::browser::Click;

/// Numbers that look like chance and are the same in every run.
struct Numbers(u64);

impl Numbers {
    /// From -1 to 1.
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        f64::from(u32::try_from(self.0 >> 40).expect("24 bits")) / f64::from(1 << 23) - 1.0
    }
}

/// Stacks and what they cost, with noise.
fn stacks(numbers: &mut Numbers, stacks: &[(&str, f64)]) -> String {
    let mut text = String::new();
    for (stack, cost) in stacks {
        let cost = cost + numbers.next() * cost.sqrt();
        if cost >= 0.5 {
            let _ = writeln!(text, "{stack} {cost:.0}");
        }
    }
    text
}

/// What a program cost before and after a change.
const BEFORE: &[(&str, f64)] = &[
    ("main;read;decompress", 5000.0),
    ("main;parse;lex", 2600.0),
    ("main;parse;build", 1800.0),
    ("main;old_filter", 700.0),
    ("main;write", 900.0),
];
const AFTER: &[(&str, f64)] = &[
    ("main;read;decompress", 3100.0),
    ("main;parse;lex", 3500.0),
    ("main;parse;build", 1800.0),
    ("main;new_filter", 1300.0),
    ("main;write", 900.0),
];

/// Four runs before and four after.
fn two_sides(test: &str) -> Shown {
    let shown = browser(test);
    let mut numbers = Numbers(1);
    for (side, costs) in [("a", BEFORE), ("b", AFTER)] {
        for run in 0..4 {
            let file = shown.folder.join(format!("{side}{run}.folded"));
            fs::write(&file, stacks(&mut numbers, costs)).expect("a file");
            shown.import(&file, &["--tag", &format!("side={side}")]);
        }
    }
    shown
}

/// Writes a page with a command.
#[track_caller]
fn page(shown: &Shown, words: &[&str]) {
    let html = ["--db", "x.db", "--html", "page.html"];
    said(&shown.folder, &[words, &html].concat());
}

/// The answer of the command that is offered as JSON, which is the one that the page has.
#[track_caller]
fn told(shown: &mut Shown, within: &str) -> Value {
    let command = shown.offered_as(within, "Command");
    let json = shown.offered_as(within, "JSON");
    let words = shlex::split(command.trim_end()).expect("words of a shell");
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    assert_eq!(words.remove(0), "profdb");
    shown.texts_are_as_said(within, &words);
    words.extend(["--format", "json"]);
    let said = said(&shown.folder, &words);
    assert!(
        json == said,
        "{command}: {}",
        first_difference(&json, &said)
    );
    serde_json::from_str(&said).expect("JSON")
}

/// A cell as people read it: without the sign in front of a verdict.
fn without_sign(cell: &str) -> &str {
    cell.trim_start_matches(['+', '−', '⇄', '=', '?', '…'])
        .trim()
}

#[test]
fn what_changed_is_what_the_command_says() {
    let mut shown = two_sides("diff");
    page(&shown, &["diff", "side=a", "side=b"]);
    shown.open(&[]);
    let answer = told(&mut shown, ".diff");
    let sql = shown.offered_as(".diff", "SQL");
    let words = ["diff", "side=a", "side=b", "--db", "x.db"];
    assert_eq!(
        sql,
        said(&shown.folder, &[&words[..], &["--show-sql"]].concat())
    );
    // The table is the one that the command prints.
    let printed: Vec<Vec<String>> = said(&shown.folder, &words)
        .lines()
        .skip_while(|line| !line.is_empty())
        .skip(2)
        .map(|row| {
            let cells = row.split("  ").map(str::trim);
            let cells = cells.filter(|cell| !cell.is_empty());
            cells.map(str::to_owned).collect()
        })
        .collect();
    let rows = shown.rows(".diff .rows-place");
    assert_eq!(rows.len(), printed.len());
    for (row, printed) in rows.iter().zip(&printed) {
        let verdict = printed[6].split(':').next().expect("a word");
        let delta = row[3].replace('−', "-");
        let expected = [
            &printed[0],
            &printed[1],
            &printed[2],
            &printed[3],
            &printed[4],
            &printed[5],
        ];
        let delta = delta.trim_start_matches('+').to_owned();
        assert_eq!(
            [&row[0], &row[1], &row[2], &delta, &row[4], &row[6]],
            expected
        );
        assert_eq!(without_sign(&row[7]), verdict);
    }
    let verdicts: Vec<&str> = rows.iter().map(|row| without_sign(&row[7])).collect();
    for verdict in ["faster", "slower", "new", "gone"] {
        assert!(verdicts.contains(&verdict), "{verdicts:?}");
    }
    // Each verdict is told by a sign as well, and chips count them.
    let chips = shown.texts(".chip");
    for chip in &chips {
        let (verdict, count) = chip.rsplit_once(' ').expect("a number");
        let verdict = without_sign(verdict);
        let all = answer["rows"].as_array().expect("rows").iter();
        let expected = all.filter(|row| row["verdict"] == verdict).count();
        assert_eq!(count, expected.to_string(), "{chips:?}");
    }
    // Of those with a minus, faster comes before gone.
    shown.click(".chip", "−", Click::default());
    assert_eq!(shown.state("verdict"), "faster");
    assert_eq!(shown.texts(".diff tbody th"), ["decompress"]);
    shown.go(&[("status", "new")]);
    assert_eq!(shown.texts(".diff tbody th"), ["new_filter"]);
    shown.go(&[("status", "gone")]);
    assert_eq!(shown.texts(".diff tbody th"), ["old_filter"]);
    shown.go(&[("search", "filter")]);
    assert_eq!(shown.texts(".diff tbody th").len(), 2);
    assert_eq!(
        shown.text(".found"),
        format!(
            "2 of {} rows",
            answer["rows"].as_array().expect("rows").len()
        )
    );
    // What is known of a function is beside the table.
    shown.go(&[]);
    shown.click(".diff tbody th", "lex", Click::default());
    assert_eq!(shown.state("function"), "lex");
    let detail = shown.text(".detail");
    assert!(detail.contains("slower"), "{detail}");
    assert!(detail.contains("in 4 of 4 runs"), "{detail}");
    shown.browser.key("ArrowDown");
    shown.settle();
    assert_ne!(shown.state("function"), "lex");
    shown.was_quiet();
}

#[test]
fn what_has_moved_and_what_is_not_told_have_chips() {
    let mut shown = browser("shifted");
    let before = "main;caller 300\nmain;caller;helper 200\nmain;other 500\n";
    let after = "main;caller 500\nmain;other 500\n";
    for (name, text) in [("before.folded", before), ("after.folded", after)] {
        fs::write(shown.folder.join(name), text).expect("a file");
        shown.import(&shown.folder.join(name), &[]);
    }
    // Of exact figures one run a side tells that `helper` was inlined; of times it tells nothing.
    for (noise, chips) in [
        ("exact", vec!["⇄shifted 2", "=same 1"]),
        ("timed", vec!["?unclear 3"]),
    ] {
        page(&shown, &["diff", "1", "2", "--noise", noise]);
        shown.open(&[]);
        told(&mut shown, ".diff");
        assert_eq!(shown.texts(".chip"), chips);
        let verdict = without_sign(chips[0]).rsplit_once(' ').expect("a number").0;
        shown.click(".chip", chips[0], Click::default());
        assert_eq!(shown.state("verdict"), verdict);
        let rows = shown.rows(".diff .rows-place");
        assert!(
            rows.iter().all(|row| without_sign(&row[7]) == verdict),
            "{rows:?}"
        );
        assert!(chips[0].ends_with(&format!(" {}", rows.len())), "{rows:?}");
    }
    shown.was_quiet();
}

/// Left edge, top and width of the canvas, painted.
fn canvas(shown: &mut Shown) -> [f64; 3] {
    let turn = json!({
        "expression": "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))",
        "awaitPromise": true,
    });
    shown.browser.ask("Runtime.evaluate", &turn);
    let script = "(() => { const place = document.querySelector('canvas').getBoundingClientRect(); return [place.left, place.top, place.width]; })()";
    let place = shown.browser.value(script);
    [0, 1, 2].map(|at| place[at].as_f64().expect("a number"))
}

/// What is said of the box at a place.
fn about(shown: &mut Shown, part: f64, level: f64) -> String {
    let [left, top, width] = canvas(shown);
    let event =
        json!({"type": "mouseMoved", "x": left + part * width, "y": top + (level + 0.5) * 20.0});
    shown.browser.ask("Input.dispatchMouseEvent", &event);
    shown.text(".about")
}

/// The colour of a pixel of the canvas.
fn pixel(shown: &mut Shown, part: f64, level: f64) -> [u8; 3] {
    canvas(shown);
    let script = format!(
        "(() => {{
            const canvas = document.querySelector('canvas');
            const copy = new OffscreenCanvas(1, 1).getContext('2d', {{willReadFrequently: true}});
            copy.drawImage(canvas, -Math.floor({part} * canvas.width), -Math.floor(({level} + 0.1) * 20));
            return [...copy.getImageData(0, 0, 1, 1).data].slice(0, 3);
        }})()"
    );
    serde_json::from_value(shown.browser.value(&script)).expect("a pixel")
}

#[test]
fn trees_of_both_are_one_picture_in_two_colours() {
    let mut shown = browser("union");
    // Without noise, for figures that can be seen here: exact ones are judged one by one.
    let before = "main;a 400\nmain;b 200\nmain;gone 100\nmain;same 100\n";
    let after = "main;a 200\nmain;b 400\nmain;fresh 100\nmain;same 100\n";
    for (name, text) in [("before.folded", before), ("after.folded", after)] {
        fs::write(shown.folder.join(name), text).expect("a file");
        shown.import(&shown.folder.join(name), &[]);
    }
    page(&shown, &["diff", "1", "2", "--noise", "exact"]);
    shown.open(&[("view", "union")]);
    let command = shown.offered_as(".union .bar-of-view", "Command");
    assert_eq!(
        command.trim_end(),
        "profdb report diff_tree 1 2 --noise exact --db x.db"
    );
    // The statement has the same places, by their paths.
    let sql = shown.offered_as(".union .bar-of-view", "SQL");
    let found = said(
        &shown.folder,
        &["sql", "--db", "x.db", "--format", "csv", "--", &sql],
    );
    let found: Vec<&str> = found.lines().skip(1).collect();
    assert_eq!(
        found,
        [
            "\"main\",800,800,0,0",
            "\"main;a\",400,200,400,200",
            "\"main;b\",200,400,200,400",
            "\"main;fresh\",0,100,0,100",
            "\"main;gone\",100,0,100,0",
            "\"main;same\",100,100,100,100"
        ]
    );
    let answer = told(&mut shown, ".union .bar-of-view");
    let rows: Vec<String> = answer["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| {
            format!(
                "{} {} {}",
                row["function"].as_str().expect("text"),
                row["base"],
                row["new"]
            )
        })
        .collect();
    assert_eq!(
        rows,
        [
            "main 800 800",
            "a 400 200",
            "b 200 400",
            "fresh 0 100",
            "gone 100 0",
            "same 100 100"
        ]
    );
    // As wide as the side that has more: 1100 in all, a and b 400 each.
    for (part, level, expected) in [
        (0.5, 0.0, "main: 800 → 800 (0, ×1.00)"),
        (0.2, 1.0, "a: 400 → 200 (−200, ×0.50)"),
        (0.5, 1.0, "b: 200 → 400 (+200, ×2.00)"),
        (0.77, 1.0, "fresh: 0 → 100 (+100, only in new)"),
        (0.86, 1.0, "gone: 100 → 0 (−100, only in base)"),
        (0.95, 1.0, "same: 100 → 100 (0, ×1.00)"),
    ] {
        let said = about(&mut shown, part, level);
        assert!(said.starts_with(expected), "{said}");
    }
    // Orange has more red than blue, blue has more blue than red, and what is as before has neither.
    let is_warm = |[red, _, blue]: [u8; 3]| i32::from(red) > i32::from(blue) + 60;
    let is_cold = |[red, _, blue]: [u8; 3]| i32::from(blue) > i32::from(red) + 60;
    assert!(is_cold(pixel(&mut shown, 0.2, 1.0)));
    assert!(is_warm(pixel(&mut shown, 0.5, 1.0)));
    let even = pixel(&mut shown, 0.95, 1.0);
    assert!(!is_warm(even) && !is_cold(even));
    // The same rows are a table below.
    let table = shown.rows(".union .tree");
    let names: Vec<&str> = table
        .iter()
        .map(|row| row[0].trim_start_matches(['▾', '▸', '\n']))
        .collect();
    assert_eq!(names, ["main", "a", "b", "fresh", "gone", "same"]);
    assert_eq!(table[1][1..4], ["400", "200", "−200"]);
    assert_eq!(table[3][5], "new");
    assert_eq!(table[4][5], "base");
    // Gone and new are there alone as well, and widths are those of one side.
    shown.go(&[("view", "union"), ("status", "gone")]);
    assert_eq!(shown.rows(".union .tree").len(), 2);
    assert!(about(&mut shown, 0.05, 1.0).starts_with("gone:"));
    shown.go(&[("view", "union"), ("width", "new")]);
    assert!(about(&mut shown, 0.45, 1.0).starts_with("b:"));
    shown.go(&[("view", "union"), ("width", "base")]);
    assert!(about(&mut shown, 0.45, 1.0).starts_with("a:"));
    // A click zooms, a double click tells of the function.
    shown.go(&[("view", "union")]);
    let [left, top, width] = canvas(&mut shown);
    shown.browser.click(left + 0.5 * width, top + 30.0);
    shown.settle();
    assert!(about(&mut shown, 0.02, 1.0).starts_with("b:"));
    shown.go(&[("view", "union"), ("search", "b")]);
    assert_eq!(shown.text(".union .found"), "36.4 % matched, 1 node");
    let [left, top, width] = canvas(&mut shown);
    shown
        .browser
        .click_as(left + 0.5 * width, top + 30.0, DOUBLE);
    shown.wait("location.hash.includes('function=b')");
    shown.settle();
    assert!(shown.text(".detail h2").starts_with('b'));
    shown.was_quiet();
}

/// Runs without paths have no trees, and comparisons with a filter are of functions alone.
#[test]
fn without_paths_there_is_no_picture() {
    let mut shown = browser("no-union");
    for (name, cost) in [("a", 5), ("b", 9)] {
        let text = format!("events: Ir\nfl=a.c\nfn=main\n1 2\nfn=other\n7 {cost}\n");
        fs::write(shown.folder.join(format!("{name}.callgrind")), text).expect("a file");
    }
    // Files are compared without a database as well.
    let words = ["diff", "a.callgrind", "b.callgrind", "--html", "page.html"];
    said(&shown.folder, &words);
    shown.open(&[]);
    assert_eq!(shown.texts(".views button"), ["What changed"]);
    let answer = told(&mut shown, ".diff");
    assert_eq!(answer["rows"][0]["function"], "other");
    shown.was_quiet();
}

/// Commits, with a step in one function.
fn series(test: &str) -> Shown {
    let shown = browser(test);
    let mut numbers = Numbers(7);
    for commit in 0..24 {
        let lex = if commit < 13 { 2600.0 } else { 3600.0 };
        let costs = [
            ("main;read", 2500.0),
            ("main;lex", lex),
            ("main;write", 900.0),
        ];
        let file = shown.folder.join(format!("c{commit}.folded"));
        fs::write(&file, stacks(&mut numbers, &costs)).expect("a file");
        let tags = [
            "--tag".to_owned(),
            format!("commit={commit:02}aaaaaaaaaaaaaaaa"),
            "--tag".to_owned(),
            format!("commit_count={}", 100 + commit),
        ];
        shown.import(&file, &tags.each_ref().map(String::as_str));
    }
    shown
}

#[test]
fn a_history_has_its_points_its_steps_and_the_commands_about_them() {
    let mut shown = series("history");
    page(&shown, &["history", "lex"]);
    shown.open(&[]);
    let answer = told(&mut shown, ".history");
    let rows = answer["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 24);
    assert_eq!(answer["steps"][0]["changes"][0]["change"], "step");
    // Each run is a point, named by its commit and its cost.
    let script = "[...document.querySelectorAll('.chart .point')].map((point) => point.getAttribute('aria-label'))";
    let points: Vec<String> = serde_json::from_value(shown.browser.value(script)).expect("texts");
    let expected: Vec<String> = rows
        .iter()
        .map(|row| {
            let commit = short_commit(row["commit_id"].as_str().expect("text"));
            format!(
                "{commit}, run {}: {}",
                row["run_id"],
                row["exclusive"].as_f64().expect("a cost")
            )
        })
        .collect();
    assert_eq!(points, expected);
    // Higher is more: the picture has the order of the figures.
    let heights = "[...document.querySelectorAll('.chart .point')].map((point) => Number(point.getAttribute('cy')))";
    let heights: Vec<f64> = serde_json::from_value(shown.browser.value(heights)).expect("numbers");
    for (one, other) in rows
        .iter()
        .zip(&heights)
        .zip(rows.iter().zip(&heights).skip(1))
    {
        let [cost, next] = [one.0, other.0].map(|row| row["exclusive"].as_f64().expect("a cost"));
        if (cost - next).abs() > 1.0 {
            assert_eq!(cost < next, one.1 > other.1);
        }
    }
    let step = &answer["steps"][0]["changes"][0];
    let table = shown.rows(".history .beside > .rows-place > .table");
    assert_eq!(table.len(), 1);
    let commit = |name: &str| short_commit(step[name].as_str().expect("text"));
    assert_eq!(
        table[0][0],
        format!("{}..{}", commit("from_commit"), commit("to_commit"))
    );
    let ratio = step["ratio"].as_f64().expect("a ratio");
    assert!(
        table[0][3].starts_with(&format!("{ratio:.2} (")),
        "{table:?}"
    );
    let label = "document.querySelector('.chart .label.more').textContent";
    let label = shown.browser.value(label);
    let label = label.as_str().expect("text");
    assert!(label.starts_with(&format!("+ ×{ratio:.2}")), "{label}");
    // A click on a point, or arrows, choose it; what can be asked of it are commands that run.
    shown
        .browser
        .value("document.querySelector('.chart .point').focus()");
    for _ in 0..13 {
        shown.browser.key("ArrowRight");
        shown.settle();
    }
    assert_eq!(shown.state("point"), "14");
    assert!(shown.text(".detail h2").starts_with("Run 14, 13aaaa"));
    for command in shown.texts(".detail code") {
        let words = shlex::split(&command).expect("words of a shell");
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let output = profdb(&shown.folder, &words[1..]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command}: {errors}");
    }
    for file in ["run-14.html", "diff-14.html"] {
        assert!(shown.folder.join(file).is_file(), "{file}");
    }
    // The statement says the same.
    let sql = shown.offered_as(".history", "SQL");
    let said = said(
        &shown.folder,
        &["sql", &sql, "--db", "x.db", "--format", "jsonl"],
    );
    let found: Vec<Value> = said
        .lines()
        .map(|row| serde_json::from_str(row).expect("JSON"))
        .collect();
    assert_eq!(found.len(), rows.len());
    for (found, row) in found.iter().zip(rows) {
        for name in ["run_id", "exclusive", "cumulative", "total"] {
            assert_eq!(found[name].as_f64(), row[name].as_f64(), "{name}");
        }
    }
    // Labels of the axis are short, and as many as fit.
    for (width, least) in [(1280.0, 9), (700.0, 7)] {
        shown.browser.resize(width, 800.0);
        shown.settle();
        let script = "[...document.querySelectorAll('.chart .tick.x')].map((label) => [label.getBoundingClientRect(), label.textContent]).map(([place, text]) => [place.left, place.right, text])";
        let labels: Vec<(f64, f64, String)> =
            serde_json::from_value(shown.browser.value(script)).expect("labels");
        assert!(labels.len() >= least, "{width}: {labels:?}");
        assert_eq!(labels[0].2, "00aaaaa");
        for pair in labels.windows(2) {
            assert!(pair[0].1 + 4.0 < pair[1].0, "{width}: {pair:?}");
        }
    }
    shown.was_quiet();
}

/// What the page has no history of, or no point, is not answered by another one without a word.
#[test]
fn a_history_that_is_not_there_is_said() {
    let mut shown = series("no-history");
    page(&shown, &["history", "lex"]);
    for (key, value, selector, said) in [
        ("function", "nope", ".warning", "no history of nope"),
        ("point", "99", ".detail", "No point belongs to run 99."),
    ] {
        shown.open(&[(key, value)]);
        let text = shown.text(selector);
        assert!(text.contains(said), "{key}: {text}");
    }
    shown.open(&[("function", "lex"), ("point", "1")]);
    assert_eq!(shown.texts(".warning"), Vec::<String>::new());
    assert!(shown.text(".detail").starts_with("Run 1"));
    shown.was_quiet();
}

/// Every row can be chosen by its verdict, also where a verdict is that there are too few runs.
#[test]
fn verdicts_of_all_rows_can_be_chosen() {
    let mut shown = browser("verdicts");
    for (name, text) in [
        ("a.folded", "main;a 5\nmain;b 9\n"),
        ("b.folded", "main;a 9\nmain;c 1\n"),
    ] {
        fs::write(shown.folder.join(name), text).expect("a file");
    }
    let html = ["--html", "page.html"];
    said(
        &shown.folder,
        &[&["diff", "a.folded", "b.folded"][..], &html].concat(),
    );
    shown.open(&[]);
    let all = shown.rows(".diff .rows-place").len();
    let chips = shown.texts(".chips .chip");
    let mut count = 0;
    for chip in &chips {
        shown.click(".chips .chip", chip, Click::default());
        let rows = shown.rows(".diff .rows-place").len();
        assert!(chip.ends_with(&format!(" {rows}")), "{chip}: {rows}");
        count += rows;
    }
    assert!(all >= 3 && count == all, "{chips:?}: {count} of {all}");
    shown.was_quiet();
}

#[test]
fn steps_lead_to_the_history_of_a_function() {
    let mut shown = series("steps");
    page(&shown, &["steps"]);
    shown.open(&[]);
    let answer = told(&mut shown, ".steps");
    let rows = shown.rows(".steps");
    assert_eq!(rows.len(), answer["rows"].as_array().expect("rows").len());
    assert_eq!(rows[0][0], "lex");
    shown.click(".steps tbody th", "lex", Click::default());
    assert_eq!(
        [shown.state("view"), shown.state("function")],
        ["history", "lex"]
    );
    let history = told(&mut shown, ".history");
    assert_eq!(history["rows"][0]["function"], "lex");
    assert_eq!(
        history["steps"][0]["changes"][0]["run_id"].to_string(),
        shown.state("point")
    );
    // Whole runs are there, too.
    shown.select(".history .bar-of-view select", "0");
    let whole = told(&mut shown, ".history");
    assert_eq!(whole["rows"][0]["function"], "");
    assert_eq!(shown.state("function"), "");
    shown.was_quiet();
}

/// Names of strangers in pages of several runs.
#[test]
fn names_of_several_runs_are_shown_and_do_nothing() {
    let mut shown = browser("strangers-compared");
    let names = super::strangers::names();
    let mut both = Vec::new();
    for (run, times) in [(0, 1), (1, 3), (2, 3), (3, 3)] {
        let file = shown.folder.join(format!("<b>{run}.speedscope.json"));
        let mut profile = super::strangers::profile(&names);
        for weight in profile["profiles"][0]["weights"]
            .as_array_mut()
            .expect("weights")
        {
            *weight = json!(100 * times + run);
        }
        fs::write(&file, profile.to_string()).expect("a file");
        shown.import(
            &file,
            &[
                "--tag",
                "commit=<script>alert(1)</script>",
                "--tag",
                &format!("commit_count={run}"),
            ],
        );
        both.push(file.display().to_string());
    }
    page(&shown, &["diff", "1", "2", "--noise", "exact", "--all"]);
    shown.open(&[]);
    let heads = shown.texts(".diff tbody th");
    assert!(
        heads
            .iter()
            .any(|head| head == "<img src=x onerror=alert(1)>")
    );
    for name in &names {
        for view in ["diff", "union"] {
            shown.go(&[
                ("view", view),
                ("function", name),
                ("search", name),
                ("module", name),
            ]);
            assert_eq!(super::strangers::brought(&mut shown), 0, "{view} {name:?}");
        }
    }
    for what in ["SQL", "JSON", "CSV", "Markdown"] {
        assert!(!shown.offered_as(".union .bar-of-view", what).is_empty());
    }
    shown.was_quiet();
    page(
        &shown,
        &["history", "*", "--series", "format", "--noise", "exact"],
    );
    shown.open(&[]);
    for name in &names {
        shown.go(&[("function", name), ("point", name)]);
        assert_eq!(super::strangers::brought(&mut shown), 0, "{name:?}");
    }
    page(&shown, &["steps", "--series", "format", "--noise", "exact"]);
    shown.open(&[]);
    assert_eq!(super::strangers::brought(&mut shown), 0);
    shown.was_quiet();
}

/// What does not fit into a page of a comparison is left out from below, and said.
#[test]
fn a_union_that_does_not_fit_is_cut_and_says_so() {
    let mut shown = browser("union-cut");
    for (name, times) in [("a.folded", 1), ("b.folded", 2)] {
        let mut text = String::new();
        for leaf in 0..30_000 {
            let cost = 1 + leaf * 7919 % 10_007 * times;
            let _ = writeln!(
                text,
                "main;a{};b{};c{} {cost}",
                leaf % 10,
                leaf / 10 % 100,
                leaf / 1000
            );
        }
        fs::write(shown.folder.join(name), text).expect("a file");
    }
    let words = [
        "diff",
        "a.folded",
        "b.folded",
        "--html",
        "page.html",
        "--max-size",
        "290kB",
        "--first",
        "20",
    ];
    said(&shown.folder, &words);
    assert!(fs::metadata(&shown.html).expect("a page").len() < 290_000);
    shown.open(&[("view", "union")]);
    let text = shown.text("main");
    assert!(text.contains("most expensive of 31"), "{text:.400}");
    // What is left out has its place, so that sums stay as they are.
    let rows = shown.rows(".union .tree");
    let command = [
        "report",
        "diff_tree",
        "a.folded",
        "b.folded",
        "--depth",
        "1",
        "--format",
        "json",
    ];
    let answer: Value = serde_json::from_str(&said(&shown.folder, &command)).expect("JSON");
    let total = answer["rows"][0]["new"].as_f64().expect("a cost");
    assert_eq!(rows[0][2].parse::<f64>().ok(), Some(total));
    shown.go(&[("view", "union"), ("search", "(left out)")]);
    assert!(shown.text(".union .found").contains("% matched"));
    shown.was_quiet();
}

/// A small database server, before a change and after it.
const SERVER: &[(&str, f64, f64)] = &[
    ("main;serve;accept", 40.0, 40.0),
    ("main;serve;handle;route", 60.0, 60.0),
    ("main;serve;handle;parse_query;Lexer::next", 260.0, 370.0),
    ("main;serve;handle;parse_query;build_ast", 180.0, 180.0),
    ("main;serve;handle;plan;optimise;cost_of_join", 220.0, 220.0),
    ("main;serve;handle;plan;optimise;reorder", 90.0, 90.0),
    (
        "main;serve;handle;execute;scan_table;read_page;decompress",
        520.0,
        320.0,
    ),
    (
        "main;serve;handle;execute;scan_table;read_page",
        120.0,
        120.0,
    ),
    ("main;serve;handle;execute;hash_join;probe", 340.0, 340.0),
    (
        "main;serve;handle;execute;hash_join;build_table",
        210.0,
        210.0,
    ),
    (
        "main;serve;handle;execute;sort_rows;compare_keys",
        170.0,
        260.0,
    ),
    ("main;serve;handle;execute;legacy_filter", 75.0, 0.0),
    ("main;serve;handle;execute;bloom_filter", 0.0, 130.0),
    ("main;serve;handle;render;to_json;escape", 150.0, 150.0),
    ("main;serve;handle;render;to_json", 60.0, 60.0),
    ("main;gc;mark", 110.0, 110.0),
    ("main;gc;sweep", 60.0, 60.0),
];

/// The pictures of docs/page.md are made where documents are brought up to date.
#[test]
fn documents_show_comparisons_and_histories() {
    let mut shown = browser("documents-compared");
    let mut numbers = Numbers(11);
    let costs = |is_after: bool| -> Vec<(&str, f64)> {
        let server = SERVER.iter();
        server
            .map(|(stack, before, after)| (*stack, if is_after { *after } else { *before }))
            .collect()
    };
    for run in 0..12 {
        let file = shown.folder.join(format!("run-{run}.folded"));
        fs::write(&file, stacks(&mut numbers, &costs(run >= 6))).expect("a file");
        shown.import(
            &file,
            &["--tag", if run < 6 { "branch=main" } else { "branch=fix" }],
        );
    }
    page(&shown, &["diff", "branch=main", "branch=fix"]);
    let decompress = &[("function", "decompress")][..];
    picture(&mut shown, "diff", decompress);
    picture(&mut shown, "union", &[("view", "union")]);
    fs::remove_file(shown.folder.join("x.db")).expect("the database");
    for commit in 0..48 {
        let file = shown.folder.join(format!("commit-{commit}.folded"));
        fs::write(&file, stacks(&mut numbers, &costs(commit >= 29))).expect("a file");
        let name = format!("commit={:08x}", 0x9e37_79b9_u32.wrapping_mul(commit + 1));
        let count = format!("commit_count={}", 400 + commit);
        shown.import(&file, &["--tag", &name, "--tag", &count]);
    }
    page(&shown, &["history", "decompress"]);
    picture(&mut shown, "history", &[("point", "30")]);
    shown.was_quiet();
}

/// Shows a page, and keeps its picture if documents are brought up to date.
fn picture(shown: &mut Shown, name: &str, state: &[(&str, &str)]) {
    shown.open(state);
    if state.contains(&("view", "union")) {
        canvas(shown);
    }
    let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/page");
    let path = docs.join(format!("{name}.png"));
    let png = shown.browser.screenshot().png();
    assert!(png.len() < 200_000, "{name}: {} bytes", png.len());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, png).expect("a file");
    }
    assert!(path.is_file(), "{}: UPDATE_DOCS=1 makes it", path.display());
}
