//! What `]PROFILE` printed is what we print, what fits a screen, and what is printed of a damaged
//! database.

#![expect(clippy::disallowed_methods, reason = "small files of our own")]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use profdb::base::error::Stop;
use profdb::formats;
use profdb::formats::Options;
use profdb::input::{Input, Limits};
use profdb::pipeline::{import, meta};
use profdb::report::render::{self, Format, Layout, render};
use profdb::report::{self, Argument, Request};
use profdb::store::Database;

#[cfg(target_os = "linux")]
use super::endings::left_on_lines;
use crate::support::program::{self, PROFDB};
use crate::support::tools;

/// Functions with their inclusive times in milliseconds and their calls. The first one is the root:
/// it cost what the others did not, and nobody says what that was.
type Profile = &'static [(&'static str, &'static str, u32)];

/// Of the manual: the first and the third time as its other examples print them, with all digits.
const RAIN: Profile = &[
    ("#.Rain", "68.40049487792044", 1),
    ("#.ch.Step", "47.14893489", 1),
    ("#.ch.CH∆Q", "23.031816495", 311),
    ("#.ch.CH∆SET", "20.80886149", 44),
    ("#.ch.Set", "10.97602407", 9),
];

/// Of the guide: the first five times as its CSV example prints them.
const SAMPLE: Profile = &[
    ("#.Samples.Sample", "58.2", 1),
    ("#.SharpPlot.DrawLineGraph", "25.626", 1),
    ("#.SharpPlot.Plot", "18.373", 1),
    ("#.SharpPlot.DrawBarChart", "7.726", 1),
    ("#.SharpPlot.CH∆PLOT", "3.153", 1),
    ("#.SharpPlot.DrawPieChart", "2.2", 1),
    ("#.SharpPlot.CH∆PIE", "1.9", 1),
    ("#.SharpPlot.ConstructorDefault", "1.3", 1),
    ("#.SharpPlot.SharpPlot", "1.3", 1),
    ("#.psb.Constructor", "1.2", 12),
    ("#.psb.Last", "0.5", 7),
];

/// A `data` file.
fn text(profile: Profile) -> String {
    let mut text =
        "\"Element\",\"Line\",\"Calls\",\"ExclusiveTime\",\"InclusiveTime\"\n".to_owned();
    for (at, (name, time, calls)) in profile.iter().enumerate() {
        let exclusive = if at == 0 { time } else { "0" };
        let _ = writeln!(text, "\"{name}\",,{calls},{exclusive},{time}");
    }
    text
}

fn database(text: &str) -> Database {
    let format = formats::format_named("dyalog_csv").expect("a format");
    let options = Options::default();
    let input = Input::new(
        Box::new(text.as_bytes()),
        Limits::default(),
        Stop::default(),
    )
    .expect("an input");
    let describe = |fingerprint| meta(format, &options, "data.csv", fingerprint);
    import(
        input,
        format,
        &options,
        &Stop::default(),
        describe,
        Database::in_memory,
    )
    .expect("a profile")
    .database
}

fn summary(profile: Profile, layout: &Layout) -> String {
    shown(&text(profile), "summary", layout)
}

/// What a report says of a CSV file.
fn shown(text: &str, report: &str, layout: &Layout) -> String {
    let database = database(text);
    let report = report::by_name(report).expect("a report");
    let run = database.run(None).expect("a database").expect("a run");
    let request = Request {
        arguments: vec![("first".to_owned(), Argument::Count(10))],
        ..Request::default()
    };
    let mut answer = report::ask(&database, report, &run, &request).expect("an answer");
    let mut bytes = Vec::new();
    render(&mut answer, layout, &mut bytes).expect("a vector takes everything");
    String::from_utf8(bytes).expect("text")
}

fn sample(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/samples/dyalog")
        .join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The manual has all columns but the last one, the number of the function.
#[test]
fn csv_begins_with_the_columns_of_the_manual() {
    let layout = Layout {
        format: Format::Csv,
        ..Layout::default()
    };
    let text = summary(RAIN, &layout);
    let lines = text.lines().map(|line| {
        let (columns, _) = line.rsplit_once(',').expect("several columns");
        format!("{columns}\n")
    });
    let columns: String = lines.collect();
    assert_eq!(columns, sample("manual-0.9.0.summary.csv"));
}

/// But for the blank before the first line, which only this sample has.
#[test]
fn the_guides_text_to_the_byte() {
    let expected = sample("guide-1.37.summary.txt");
    assert_eq!(
        summary(SAMPLE, &Layout::default()),
        expected.strip_prefix(' ').expect("a blank")
    );
}

/// The report that is no SELECT.
#[test]
fn state_is_what_show_says() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("data.csv"), text(RAIN)).expect("a file");
    let profdb = |arguments: &[&str]| {
        let output = program::command()
            .args(arguments)
            .current_dir(folder.path())
            .output();
        let output = output.expect("profdb runs");
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).expect("text")
    };
    profdb(&["import", "--db", "profdb.db", "--title", "rain", "data.csv"]);
    let shown = profdb(&["show", "--db", "profdb.db"]);
    assert!(shown.contains("title: rain\n"), "{shown}");
    assert_eq!(
        profdb(&["report", "state", "--db", "profdb.db", "--run", "rain"]),
        shown
    );
    assert_eq!(profdb(&["report", "--db", "profdb.db", "state"]), shown);
    assert!(profdb(&["report", "state", "data.csv"]).contains("source_name: data.csv\n"));
}

/// Names of columns are whatever a statement says.
#[test]
fn titles_of_columns_do_not_move_the_cursor() {
    let database = database(&text(RAIN));
    for format in [Format::Text, Format::Markdown] {
        let sql = "SELECT 1 AS \"a\u{1b}[2Jb\u{7}\u{202e}\u{9b}\", 'x\u{1b}[2Jy\u{200b}' AS c";
        let mut answer = report::query(&database, sql).expect("an answer");
        let mut bytes = Vec::new();
        render(
            &mut answer,
            &Layout {
                format,
                ..Layout::default()
            },
            &mut bytes,
        )
        .expect("a vector takes everything");
        let shown = String::from_utf8(bytes).expect("text");
        let raw = |character: char| character != '\n' && render::is_unsafe(character);
        assert!(!shown.contains(raw), "{shown:?}");
        assert!(
            shown.contains("u{1b}") && shown.contains("u{202e}"),
            "{shown:?}"
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn nothing_but_text_reaches_a_terminal() {
    let folder = tempfile::tempdir().expect("a folder");
    let evil = "e\u{1b}]0;title\u{7}\u{9b}2J\u{202e}vil";
    let name = serde_json::Value::from(evil);
    let trace =
        format!(r#"{{"traceEvents":[{{"ph":"X","name":{name},"ts":0,"dur":5,"pid":1,"tid":1}}]}}"#);
    fs::write(folder.path().join("p.json"), trace).expect("a file");
    fs::write(folder.path().join(evil), "").expect("a file");
    let tag = format!("k={evil}");
    let arguments = ["import", "--title", evil, "--tag", &tag, "p.json"];
    let imported = program::command()
        .args(arguments)
        .current_dir(folder.path())
        .output();
    let imported = imported.expect("the program is there");
    assert!(
        imported.status.success(),
        "{}",
        String::from_utf8_lossy(&imported.stderr)
    );
    let sql = "sql 'SELECT name AS \"n\u{1b}[2J\" FROM functions' --format";
    let commands = [
        format!("{sql} text"),
        format!("{sql} csv"),
        format!("{sql} tsv"),
        format!("{sql} text --no-pager"),
        format!("{sql} json"),
        format!("{sql} jsonl"),
        format!("{sql} markdown"),
        "report summary --format csv".to_owned(),
        "report tree --format xml".to_owned(),
        "report tree --outfile /dev/stdout --format csv".to_owned(),
        format!("report calls --fn '{evil}'"),
        format!("report calls --fn '{evil}' --show-sql"),
        "export --format folded".to_owned(),
        "export --format callgrind".to_owned(),
        "export --format lispworks_tree".to_owned(),
        "export --format speedscope".to_owned(),
        "export --format dot".to_owned(),
        "export --format pprof".to_owned(),
        "runs --format csv".to_owned(),
        "show".to_owned(),
        "show --format json".to_owned(),
        "show --format tsv".to_owned(),
        "check --format json".to_owned(),
        "runs --wide".to_owned(),
        "formats e*".to_owned(),
        "e*x".to_owned(),
        "dump p.json".to_owned(),
        "dump e*".to_owned(),
        "import e*".to_owned(),
        "report summary e* more".to_owned(),
        "export --format folded -o ./e*".to_owned(),
        format!("show '{evil}x'"),
        "sql 'SELECT \u{1b}[2J'".to_owned(),
    ];
    for command in commands {
        let done = tools::terminal(&format!("{PROFDB} {command}"))
            .current_dir(folder.path())
            .env_remove("PROFDB_DB")
            // Colours of messages are ours, and not looked at.
            .env("NO_COLOR", "1")
            // A pager that does not wait for keys.
            .env("PAGER", "cat")
            .env_remove("PROFDB_PAGER")
            .output()
            .expect("it runs");
        let shown = String::from_utf8_lossy(&done.stdout).replace("\r\n", "\n");
        // On a slow machine, a command shows that it is at work before it has an answer.
        let shown = left_on_lines(&shown);
        assert!(shown.len() > 3, "{command}: {shown:?}");
        let raw =
            |character: char| !matches!(character, '\n' | '\t') && render::is_unsafe(character);
        assert!(!shown.contains(raw), "{command}: {shown:?}");
    }
}

#[test]
fn a_table_is_as_wide_as_the_screen() {
    let widths = [
        (80, 76),
        (76, 76),
        (75, 53),
        (53, 53),
        (50, 50),
        (45, 45),
        (10, 38),
    ];
    for (screen, expected) in widths {
        let text = summary(
            SAMPLE,
            &Layout {
                width: Some(screen),
                ..Layout::default()
            },
        );
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert_eq!(widest, Some(expected), "{screen} columns:\n{text}");
    }
    let text = summary(
        SAMPLE,
        &Layout {
            width: Some(45),
            ..Layout::default()
        },
    );
    assert!(
        text.contains("\n#.SharpPlo…awLineGraph    25.6    44.0      1\n"),
        "{text}"
    );
}

/// Own costs and those with everything called are side by side where all of it has room, and no flag
/// says which ones are wanted.
#[test]
fn a_wide_screen_shows_both_costs() {
    let titles = |width: Option<usize>| {
        let layout = Layout {
            width,
            ..Layout::default()
        };
        let text = summary(SAMPLE, &layout);
        let titles = text.lines().nth(2).expect("titles");
        titles
            .split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let both = [
        "Element",
        "msec(exc)",
        "%(exc)",
        "msec(inc)",
        "%(inc)",
        "Calls",
    ];
    let one = ["Element", "msec", "%", "Calls"];
    assert_eq!(titles(Some(100)), both);
    assert_eq!(titles(Some(60)), one);
    // What is written to a file or to a pipe does not depend on the screen.
    assert_eq!(titles(None), one);
}

#[test]
fn a_chain_of_calls_is_as_wide_as_the_screen() {
    let mut tree =
        "\"Depth\",\"Element\",\"Line\",\"Calls\",\"ExclusiveTime\",\"InclusiveTime\"\n".to_owned();
    for (level, name) in (0_u8..).zip(["#.Main", "#.Shop.Open", "#.Shop.Load", "#.Files.Read"]) {
        let _ = writeln!(tree, "{},\"{name}\",,1,1,{}", 2 * level, 4 - level);
        let _ = writeln!(
            tree,
            "{},\"{name}\",7,1,0.5,{}",
            2 * level + 1,
            3.5 - f64::from(level)
        );
    }
    let chain = |width| {
        let text = shown(
            &tree,
            "paths",
            &Layout {
                width,
                ..Layout::default()
            },
        );
        let longest = text
            .lines()
            .max_by_key(|line| line.chars().count())
            .expect("rows");
        assert!(
            width.is_none_or(|width| width < 40 || longest.chars().count() <= width),
            "{text}"
        );
        longest.split_once("  #").expect("a path").1.to_owned()
    };
    assert_eq!(
        chain(None),
        ".Main[7] > #.Shop.Open[7] > #.Shop.Load[7] > #.Files.Read"
    );
    assert_eq!(chain(Some(100)), chain(None));
    assert_eq!(chain(Some(60)), ".Main[7] > #.… > #.Files.Read");
    assert_eq!(chain(Some(20)), ".Main[…les.Read");
}

/// Damage that is met after some rows: what is printed as it is read ends there, what has to be whole
/// is not begun, and each ends with 5 and says why.
#[test]
fn damage_that_is_met_late() {
    const FUNCTIONS: usize = 3000;
    let folder = tempfile::tempdir().expect("a folder");
    let mut stacks = String::new();
    for function in 0..FUNCTIONS {
        let _ = writeln!(stacks, "main;f{function:05} 5");
    }
    fs::write(folder.path().join("p.folded"), stacks).expect("space on the disk");
    let run = |args: &[&str]| {
        program::command()
            .args(args)
            .current_dir(folder.path())
            .output()
            .expect("the program is there")
    };
    assert!(run(&["import", "p.folded"]).status.success());
    let database = rusqlite::Connection::open(folder.path().join("profdb.db")).expect("a database");
    let damaged = database
        .execute(
            "UPDATE functions SET name = CAST(x'ff' AS TEXT) WHERE name = 'f02500'",
            (),
        )
        .expect("a column of texts");
    assert_eq!(damaged, 1);
    drop(database);
    for (format, is_streamed) in [
        ("csv", true),
        ("json", true),
        ("xml", true),
        ("text", false),
        ("markdown", false),
    ] {
        let done = run(&["report", "tree", "--format", format]);
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(5), "{format}: {said}");
        assert!(
            said.contains("a text is not UTF-8"),
            "{format}: expected the damage, found {said}"
        );
        let printed = String::from_utf8_lossy(&done.stdout).into_owned();
        let has = |function: &str| printed.contains(function);
        assert_eq!(has("f02499"), is_streamed, "{format}: rows before it");
        assert!(!has("f02501"), "{format}: rows after it");
        let done = run(&["report", "tree", "--format", format, "--outfile", "out"]);
        assert_eq!(done.status.code(), Some(5), "{format}");
        assert!(!folder.path().join("out").exists(), "{format}");
    }
}
