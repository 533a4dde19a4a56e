//! A whole database in the browser: its runs, comparisons of them, and statements of the reader's own.

use std::fs;

use serde_json::Value;

use super::browser;
use crate::shown::{DOUBLE, Served, Shown, repository, said};
use crate::support::browser::Click;

/// A database with two runs of one program, the later one slower.
fn two_runs(test: &str) -> Shown {
    let mut shown = browser(test);
    for (name, text) in [
        ("before.folded", "main;parse 50\nmain;work 40\nmain 10\n"),
        ("after.folded", "main;parse 50\nmain;work 90\nmain;new 20\n"),
    ] {
        let file = shown.folder.join(name);
        fs::write(&file, text).expect("a file");
        shown.import(&file, &["--tag", "branch=<b>main</b>"]);
    }
    shown.write(&[]);
    shown
}

fn json(shown: &Shown, words: &[&str]) -> Value {
    let words = [words, &["--db", "x.db", "--format", "json"]].concat();
    serde_json::from_str(&said(&shown.folder, &words)).expect("JSON")
}

#[test]
fn a_run_is_chosen_and_two_are_compared() {
    let mut shown = two_runs("choose");
    shown.open(&[("view", "runs")]);
    let heads = shown.texts(".runs tbody th");
    assert_eq!(heads, ["2: after.folded", "1: before.folded"]);
    let cells = shown.rows(".runs");
    assert_eq!(cells[0][1], "160");
    assert!(cells[0].contains(&"<b>main</b>".to_owned()), "{cells:?}");
    let offered = shown.offered(".runs");
    assert!(
        offered.command.starts_with("profdb runs --db "),
        "{}",
        offered.command
    );
    assert_eq!(offered.sql, "SELECT * FROM run_list ORDER BY run_id;\n");
    assert_eq!(offered.json, json(&shown, &["runs"]));
    // Of two runs the one that was imported last is shown; a double click opens the other one.
    shown.click(".runs tbody th", "1: before", DOUBLE);
    shown.wait("location.hash.includes('run=1')");
    shown.settle();
    shown.click(".views button", "Functions", Click::default());
    shown.select(".functions > header select", "table");
    let answer = shown.is_as_said(".pane.functions");
    assert_eq!(answer["run"]["run_id"], 1);
    assert_eq!(answer["total"], 100);
    shown.go(&[("view", "runs")]);
    for (row, entry) in [
        ("1: before", "Use run 1 as base"),
        ("2: after", "Use run 2 as new"),
    ] {
        shown.click(".runs tbody th", row, Click::default());
        shown.click(".runs .buttons button", entry, Click::default());
    }
    assert_eq!(
        (shown.state("base"), shown.state("new")),
        ("1".to_owned(), "2".to_owned())
    );
    shown.click(".runs .buttons button", "What changed", Click::default());
    assert_eq!(shown.state("view"), "diff");
    let expected = json(&shown, &["diff", "--base", "1", "--new", "2"]);
    let names: Vec<&str> = expected["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| row["function"].as_str().expect("a name"))
        .collect();
    for name in &names {
        assert!(
            shown.text("main").contains(name),
            "{name}: {}",
            shown.text("main")
        );
    }
    assert!(names.contains(&"work"), "{names:?}");
    let sql = shown.offered_as(".diff", "SQL");
    assert!(
        sql.contains("FROM history\nWHERE run_id IN (1, 2)"),
        "{sql}"
    );
    let sides = ["--db", "x.db", "--base", "1", "--new", "2"];
    shown.texts_are_as_said(".diff", &[&["diff"][..], &sides].concat());
    // The trees of both are one picture.
    shown.click(".views button", "Flame graph of both", Click::default());
    assert_eq!(shown.state("view"), "union");
    let trees = [&["report", "diff_tree"][..], &sides].concat();
    assert_eq!(
        shown.offered_as(".union", "Command").trim_end(),
        format!("profdb {}", trees.join(" "))
    );
    let expected: Vec<Vec<String>> = json(
        &shown,
        &trees[..2]
            .iter()
            .chain(&sides[2..])
            .copied()
            .collect::<Vec<_>>(),
    )["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| {
            let sign = row["delta"].as_f64().expect("a number");
            let change = match sign {
                0.0 => "0".to_owned(),
                more if more > 0.0 => format!("+{more}"),
                less => format!("−{}", -less),
            };
            vec![
                row["function"].as_str().expect("a name").to_owned(),
                row["base"].to_string(),
                row["new"].to_string(),
                change,
            ]
        })
        .collect();
    assert!(expected.len() > 3, "{expected:?}");
    let rows = shown.rows(".union .tree");
    let names = |row: &Vec<String>| row[0].trim_start_matches(['▾', '▸']).trim().to_owned();
    let found: Vec<Vec<String>> = rows
        .iter()
        .map(|row| [vec![names(row)], row[1..4].to_vec()].concat())
        .collect();
    assert_eq!(found, expected);
    let label = "document.querySelector('.union canvas').getAttribute('aria-label')";
    let label = shown.browser.value(label);
    assert!(
        label
            .as_str()
            .expect("text")
            .contains(&format!("{} nodes", expected.len())),
        "{label}"
    );
    shown.texts_are_as_said(".union", &trees);
    let object = shown.offered_as(".union", "JSON");
    assert_eq!(
        object,
        said(&shown.folder, &[&trees[..], &["--format", "json"]].concat())
    );
    assert!(shown.offered_as(".union", "SQL").contains("node_id"));
    for view in ["history", "steps"] {
        shown.go(&[("view", view)]);
        shown.texts_are_as_said(
            "main",
            if view == "history" {
                &["history", "--db", "x.db", "--steps"]
            } else {
                &["steps", "--db", "x.db"]
            },
        );
    }
    // A picture takes all the room that there is, though it was made before it came into the page.
    shown.go(&[("view", "history")]);
    let wide = "document.querySelector('.chart').clientWidth >= document.querySelector('.chart-place').clientWidth";
    shown.wait(wide);
    shown.go(&[("view", "runs")]);
    shown.texts_are_as_said("main", &["runs", "--db", "x.db"]);
    assert_eq!(shown.text("h1"), "x.db");
    shown.was_quiet();
}

/// A server that was started for one run opens on that run.
#[test]
fn database_opens_on_the_list_of_its_runs() {
    let mut shown = two_runs("list");
    let name = "a name of a profile that is as long as a line.folded";
    let file = shown.folder.join(name);
    fs::write(&file, "main;long 3\n").expect("a file");
    shown.import(&file, &["--tag", "branch=other"]);
    shown.open_first(&[]);
    assert_eq!(shown.text(".views [aria-current]"), "Runs");
    let all = [&format!("3: {name}"), "2: after.folded", "1: before.folded"];
    assert_eq!(shown.texts(".runs tbody th"), all);
    // The name has room, and the uid is short.
    let is_whole = "[...document.querySelectorAll('.runs tbody th')].every((name) => name.scrollWidth <= name.clientWidth)";
    assert_eq!(shown.browser.value(is_whole), true);
    let uid = said(&shown.folder, &["show", "3", "--db", "x.db"]);
    let uids = "[...document.querySelectorAll('.runs tbody tr:first-child td')].map((cell) => [cell.innerText, cell.title])";
    let cells: Vec<[String; 2]> = serde_json::from_value(shown.browser.value(uids)).expect("texts");
    let is_uid = |[short, whole]: &&[String; 2]| {
        short.len() == 8 && whole.len() == 32 && whole.starts_with(short) && uid.contains(whole)
    };
    assert!(cells.iter().any(|cell| is_uid(&cell)), "{cells:?} {uid}");
    // Words of names and tags filter the list.
    shown.browser.key("/");
    for (words, expected) in [
        ("FOLDED", &all[..]),
        (" branch=<b>", &all[1..]),
        (" before", &all[2..]),
    ] {
        shown.browser.write(words);
        shown.settle();
        assert_eq!(shown.texts(".runs tbody th"), expected, "{words}");
    }
    assert!(shown.text(".runs .said").starts_with("1 of 3 runs in x.db"));
    shown.click(".runs tbody th", "1: before", DOUBLE);
    shown.wait("location.hash.includes('run=1')");
    shown.settle();
    assert_eq!(shown.text(".views [aria-current]"), "Flame graph");
    assert_eq!(shown.texts(".list tbody th"), ["main", "parse", "work"]);
    shown.server = Some(Served::start(&shown.folder, &["--run", "1"]));
    shown.open_first(&[]);
    assert_eq!(shown.text(".views [aria-current]"), "Flame graph");
    assert_eq!(shown.texts(".list tbody th"), ["main", "parse", "work"]);
    shown.was_quiet();
}

/// Going through runs is no step of the way back, and leaves them in the order that was chosen.
#[test]
fn runs_are_gone_through_in_their_order() {
    let mut shown = two_runs("order");
    shown.open(&[("view", "runs")]);
    shown.click(".runs thead button", "Total", Click::default());
    shown.click(".runs thead button", "Total", Click::default());
    let sorted = ["1: before.folded", "2: after.folded"];
    assert_eq!(shown.texts(".runs tbody th"), sorted);
    let length = shown.browser.value("history.length");
    shown.click(".runs tbody th", "1: before", Click::default());
    assert_eq!(shown.state("point"), "1");
    shown.browser.key("ArrowDown");
    shown.settle();
    assert_eq!(shown.state("point"), "2");
    assert_eq!(shown.texts(".runs .buttons button")[0], "Open run 2");
    assert_eq!(shown.browser.value("history.length"), length);
    for (key, side) in [("b", "base"), ("n", "new")] {
        shown.browser.key(key);
        shown.settle();
        assert_eq!(shown.state(side), "2");
    }
    assert_eq!(shown.texts(".runs tbody th"), sorted);
    let chosen = shown.rows(".runs");
    assert!(chosen[1].contains(&"base, new".to_owned()), "{chosen:?}");
    shown.was_quiet();
}

/// From the history of a function, also of one that there is not, a button leads to that of the whole run.
#[test]
fn the_history_of_a_function_leads_to_the_whole() {
    let mut shown = two_runs("whole-history");
    for (name, expected) in [
        ("work", "work"),
        ("nope", "no run of the series has the function"),
    ] {
        shown.open(&[("view", "history"), ("function", name)]);
        let text = shown.text("main");
        assert!(text.contains(expected), "{name}: {text}");
        shown.click(".history button", "Whole run", Click::default());
        assert_eq!(shown.state("function"), "");
        let title = shown.texts(".history h2");
        assert_eq!(title.first().map(String::as_str), Some("Whole run"));
        let buttons = shown.texts(".history button");
        assert!(!buttons.contains(&"Whole run".to_owned()), "{buttons:?}");
    }
    shown.was_quiet();
}

/// What cannot be put into one picture says why.
#[test]
fn trees_that_cannot_be_compared_say_why() {
    let mut shown = two_runs("no-union");
    shown.import(&repository("tests/samples/pstats/work.pstats"), &[]);
    for (base, new, expected) in [
        ("", "", "Choose two runs"),
        ("1", "3", "--metric"),
        ("3", "3", "has no call paths"),
        ("1", "99", "99"),
    ] {
        shown.open(&[("view", "union"), ("base", base), ("new", new)]);
        let text = shown.text("main");
        assert!(text.contains(expected), "{base} {new}: {text}");
    }
    shown.was_quiet();
}

/// Runs that come and go are seen when the page is loaded again; a page that is open does not take another run for its own.
#[test]
fn runs_that_come_and_go_are_seen() {
    let mut shown = two_runs("come");
    shown.open(&[("functions", "table")]);
    assert_eq!(shown.texts(".functions tbody th").len(), 4);
    let file = shown.folder.join("third.folded");
    fs::write(&file, "main;third 7\n").expect("a file");
    shown.import(&file, &[]);
    shown.open(&[("functions", "table")]);
    assert_eq!(shown.texts(".functions tbody th"), ["main", "third"]);
    // The database is replaced by another one, whose run has the same number.
    let text = "main;other 9\n";
    let other = shown.folder.join("other.folded");
    fs::write(&other, text).expect("a file");
    said(
        &shown.folder,
        &["import", "--db", "y.db", &other.display().to_string()],
    );
    fs::rename(shown.folder.join("y.db"), shown.folder.join("x.db")).expect("a database");
    shown.go(&[("fn", "third"), ("run", "3"), ("functions", "table")]);
    let text = shown.text("main");
    assert!(!text.contains("other") && text.contains("no run"), "{text}");
    shown.open(&[("functions", "table")]);
    assert_eq!(shown.texts(".functions tbody th"), ["main", "other"]);
    said(&shown.folder, &["delete", "--db", "x.db", "1", "--yes"]);
    shown.open(&[]);
    assert!(
        shown.text("main").contains("no runs"),
        "{}",
        shown.text("main")
    );
    shown.was_quiet();
}

#[test]
fn a_database_that_cannot_be_read_is_said() {
    let mut shown = two_runs("unread");
    shown.open(&[]);
    let path = shown.folder.join("x.db");
    let kept = fs::read(&path).expect("a database");
    for (content, said) in [(&b"garbage"[..], "x.db"), (&[], "is empty")] {
        fs::write(&path, content.repeat(1000)).expect("room");
        shown.open(&[("view", "tree")]);
        let text = shown.text("body");
        assert!(text.contains(said), "{text}");
    }
    fs::remove_file(&path).expect("it was there");
    shown.open(&[]);
    let text = shown.text("body");
    assert!(text.contains("x.db"), "{text}");
    fs::write(&path, kept).expect("room");
    shown.open(&[("view", "tree")]);
    assert!(shown.text("main").contains("main"));
    shown.was_quiet();
}

/// Asks a statement, and gives what is said of it.
fn asked(shown: &mut Shown, sql: &str) -> String {
    shown.go(&[("view", "runs")]);
    shown.go(&[("view", "sql"), ("sql", sql)]);
    shown.wait("document.querySelector('.sql')?.dataset.asked === '1'");
    shown.text("main .rows-place")
}

#[test]
fn statements_only_read_and_end() {
    let mut shown = two_runs("sql");
    shown.open(&[]);
    asked(&mut shown, "SELECT name FROM functions ORDER BY name");
    let names = shown.texts(".sql tbody tr");
    assert_eq!(names, ["main", "new", "parse", "work"]);
    for (sql, expected) in [
        ("DELETE FROM runs", "not authorized"),
        ("ATTACH 'y.db' AS y", "not authorized"),
        ("SELEC 1", "syntax error"),
        ("SELECT 1; SELECT 2", "expected one statement"),
        ("SELECT * FROM pragma_database_list", "not authorized"),
    ] {
        let said = asked(&mut shown, sql);
        assert!(said.contains(expected), "{sql}: {said}");
    }
    let endless =
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT COUNT(*) FROM n";
    let said = asked(&mut shown, endless);
    assert!(said.contains("stopped after 1 s"), "{said}");
    // Whoever asked can end it, unless it has ended by itself.
    shown.go(&[("view", "runs")]);
    shown.go(&[("view", "sql"), ("sql", endless)]);
    shown.wait("document.querySelector('.sql button:nth-child(2)')?.disabled === false || document.querySelector('.sql')?.dataset.asked === '1'");
    shown
        .browser
        .value("document.querySelector('.sql button:nth-child(2)').click()");
    shown.wait("document.querySelector('.sql')?.dataset.asked === '1'");
    let text = shown.text("main .rows-place");
    assert!(text.contains("ended") || text.contains("stopped"), "{text}");
    asked(
        &mut shown,
        "SELECT '<img src=x onerror=alert(1)>' AS \"<b>\"",
    );
    assert_eq!(
        shown.texts(".sql tbody tr"),
        ["<img src=x onerror=alert(1)>"]
    );
    shown.was_quiet();
}
