//! Rows of answers, and how tables, Markdown and pages show them.

use profdb::report::header::{Column, Kind, Meaning, Medium};
use profdb::report::render::{Format, Layout, render, titled_of};
use profdb::report::{
    Answer, Argument, Heading, Measure, Request, Value, ask, by_name, compared, table,
};
use profdb::store::{Database, StoreError};
use pulldown_cmark::{Event, Options, Parser, Tag};
use serde_json::Map;
use unicode_width::UnicodeWidthStr;

use crate::support::imports::import_profile;
use crate::support::markdown_rows;

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn rows_of(answer: &mut Answer<'_>) -> Vec<Vec<Value>> {
    let mut rows = Vec::new();
    let read = answer.each(|row| {
        rows.push(row.to_vec());
        Ok::<_, StoreError>(())
    });
    read.expect("rows in memory");
    rows
}

/// The second row is the last one that a reader wants, or the database fails.
#[derive(Debug)]
enum Stopped {
    Second,
    Failed,
}

impl From<StoreError> for Stopped {
    fn from(_: StoreError) -> Self {
        Self::Failed
    }
}

#[test]
fn kept_rows_are_read_again_unchanged() {
    let database = Database::in_memory().expect("memory");
    let rows = [
        vec![
            Value::Null,
            Value::Integer(i64::MIN),
            text("#.Util.fmt∆Num"),
        ],
        vec![text(""), Value::Real(-0.0), text("a")],
        vec![Value::Integer(-1), Value::Null, Value::Null],
        vec![text("∆"), text("b"), Value::Real(1.5e300)],
    ];
    let mut answer = table(&database, &["a", "b", "c"], rows.to_vec());
    assert_eq!(rows_of(&mut answer), rows);
    assert_eq!(rows_of(&mut answer), rows, "second reading");
    let mut seen = 0;
    let stopped = answer.each(|_| {
        seen += 1;
        if seen == 2 {
            Err(Stopped::Second)
        } else {
            Ok(())
        }
    });
    assert!(matches!(stopped, Err(Stopped::Second)), "{stopped:?}");
    assert_eq!(seen, 2);
}

/// A statement may return rows without columns, or no rows.
#[test]
fn kept_rows_without_values_are_counted() {
    let database = Database::in_memory().expect("memory");
    let rows = |rows: Vec<Vec<Value>>| rows_of(&mut table(&database, &[], rows));
    assert_eq!(rows(Vec::new()), Vec::<Vec<Value>>::new());
    assert_eq!(rows(vec![vec![], vec![]]), [vec![], vec![]]);
}

fn heading(beside: Vec<Measure>) -> Heading {
    Heading {
        measure: Measure {
            name: "time".to_owned(),
            unit: "ns".to_owned(),
            total: 100.0,
            selected: None,
        },
        beside,
        lines: Vec::new(),
        members: Map::new(),
    }
}

/// Returns what a format makes of names in a column.
fn rendered(names: &[&str], layout: &Layout) -> String {
    let database = Database::in_memory().expect("memory");
    let column = Column::plain("function".to_owned(), Kind::Name);
    let rows = names.iter().map(|name| vec![text(name)]).collect();
    let mut answer = compared(&database, heading(Vec::new()), vec![column], rows);
    let mut out = Vec::new();
    render(&mut answer, layout, &mut out).expect("a table");
    String::from_utf8(out).expect("text")
}

#[test]
fn name_longer_than_the_screen_loses_its_middle() {
    let table = [
        ("#.Main", 16, "#.Main"),
        ("#.SharpPlot.DrawLineGraph", 18, "#.SharpP…ineGraph"),
        ("#.SharpPlot.DrawLineGraph", 17, "#.Sharp…ineGraph"),
        ("函数函数函数函数函数", 18, "函数函数…函数函数"),
        ("函数函数函数函数函数", 17, "函数函…函数函数"),
    ];
    for (name, width, expected) in table {
        let layout = Layout {
            width: Some(width),
            ..Layout::default()
        };
        let shown = rendered(&[name], &layout);
        let last = shown.lines().last().expect("a row").trim_end();
        assert_eq!(last, expected, "{shown}");
        assert!(last.width() <= width);
    }
}

/// Tables of every width distinguish three functions named `parse`, even if they show only one of them.
#[test]
fn functions_of_one_name_are_told_apart_at_every_width() {
    let frame = |id: u32, name: &str, file: &str, line: u32| {
        format!(
            r#"{{"id":{id},"callFrame":{{"functionName":"{name}","scriptId":"1","url":"{file}","lineNumber":{line},"columnNumber":0}},"hitCount":{id}}}"#
        )
    };
    let frames = [
        frame(1, "parse", "/srv/app/json/decoder.js", 3),
        frame(2, "parse", "/srv/app/toml/decoder.js", 3),
        frame(3, "parse", "/srv/app/toml/decoder.js", 70),
        frame(
            4,
            "a_function_with_quite_a_long_name",
            "/srv/app/main.js",
            0,
        ),
    ];
    let profile = format!(
        r#"{{"nodes":[{}],"startTime":0,"endTime":10}}"#,
        frames.join(",")
    );
    let (database, run) = import_profile("cpuprofile", profile.as_bytes());
    let report = by_name("exclusive").expect("a report");
    let shown = |width: Option<usize>, first: u64| {
        let request = Request {
            arguments: vec![("first".to_owned(), Argument::Count(first))],
            ..Request::default()
        };
        let mut answer = ask(&database, report, &run, &request).expect("an answer");
        let layout = Layout {
            width,
            ..Layout::default()
        };
        let mut out = Vec::new();
        render(&mut answer, &layout, &mut out).expect("a table");
        let table = String::from_utf8(out).expect("text");
        let rows = table.lines().skip(3).map(str::to_owned);
        rows.collect::<Vec<String>>()
    };
    let places = [
        "parse (toml/decoder.js:71)",
        "parse (toml/decoder.js:4)",
        "parse (json/decoder.js)",
    ];
    for width in [None, Some(60), Some(80), Some(100), Some(160)] {
        let rows = shown(width, 10);
        for place in places {
            let is_it = |row: &&String| row.starts_with(place.trim_end_matches(')'));
            assert_eq!(rows.iter().filter(is_it).count(), 1, "{place}: {rows:?}");
        }
        let has_line = rows[0].starts_with("a_function_with_quite_a_long_name (main.js:1)");
        assert_eq!(has_line, width.is_some_and(|width| width >= 80), "{rows:?}");
        if let Some(width) = width {
            assert!(rows.iter().all(|row| row.width() <= width), "{rows:?}");
        }
    }
    assert!(shown(None, 2)[1].starts_with(places[0]));
    // A narrow screen shortens names and keeps the ends of places.
    let narrow = shown(Some(40), 10);
    assert!(
        narrow
            .iter()
            .any(|row| row.starts_with("parse (…") && row.contains("js:71)")),
        "{narrow:?}"
    );
}

#[test]
fn names_are_code_spans_in_markdown() {
    let layout = Layout {
        format: Format::Markdown,
        ..Layout::default()
    };
    let table = [
        ("#.Main[6]", "`#.Main[6]`"),
        ("@everyone #123 www.a.b <b>", "`@everyone #123 www.a.b <b>`"),
        ("::set-output name=x::y", "`::set-output name=x::y`"),
        ("a ##[error]b", "`a ##\\[error]b`"),
        ("a|b", "`a\\|b`"),
        ("a\\|b", "`a\\`&#124;`b`"),
        ("a\\\\|b\\", "`a\\\\\\|b\\`"),
        ("__init__ `x` *y*", "``__init__ `x` *y*``"),
        ("```", "```` ``` ````"),
        (" a ", "`  a  `"),
        ("  ", "`  `"),
        ("", ""),
    ];
    let names = table.map(|(name, _)| name);
    let shown = rendered(&names, &layout);
    let rows: Vec<&str> = shown.lines().filter(|line| line.starts_with('|')).collect();
    let expected = table.map(|(_, cell)| format!("| {cell} |"));
    assert_eq!(rows[0], "| function |", "{shown}");
    assert_eq!(rows[2..], expected, "{shown}");
    for (row, name) in rows[2..].iter().zip(names) {
        let cell = markdown_rows::cells(row).concat();
        assert_eq!(cell.replace("##\\[", "##["), name);
    }
    // A second reader of GitHub's tables.
    let mut read = Vec::new();
    for event in Parser::new_ext(&shown, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::TableCell) => read.push(String::new()),
            Event::Text(text) | Event::Code(text) => {
                if let Some(cell) = read.last_mut() {
                    cell.push_str(&text);
                }
            }
            _ => {}
        }
    }
    let read = read[1..].iter().map(|cell| cell.replace("##\\[", "##["));
    assert_eq!(read.collect::<Vec<_>>(), names, "{shown}");
}

#[test]
fn column_of_a_second_measure_has_its_name_as_title() {
    let database = Database::in_memory().expect("memory");
    let column = |shows: Meaning, metric: usize| Column {
        shows: Some(shows),
        media: vec![Medium::Text, Medium::Csv],
        metric,
        ..Column::plain("cost".to_owned(), Kind::Cost)
    };
    let measure = Measure {
        name: "% of cycles".to_owned(),
        unit: "count".to_owned(),
        total: 100.0,
        selected: None,
    };
    let columns = vec![column(Meaning::Base, 0), column(Meaning::New, 1)];
    let answer = compared(&database, heading(vec![measure]), columns, Vec::new());
    let titled = titled_of(&answer);
    // The page inserts the name of the first measure itself.
    for (format, base, new) in [
        ("markdown", "base @", "new % of cycles"),
        ("csv", "BaseTime", "New% of cycles"),
    ] {
        let title = |at: usize| titled[format][at][3][0].clone();
        assert_eq!((title(0), title(1)), (base.into(), new.into()), "{format}");
    }
}
