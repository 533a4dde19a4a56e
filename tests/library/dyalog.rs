//! Numbers of APL in Dyalog's files, and what these files state of their version and the timer.

use std::fmt::Write as _;

use profdb::report::header::{Column, Kind};
use profdb::report::render::{Format, Layout, render};
use profdb::report::{self, Subject, Value};

use crate::support::imports::{import_profile, read_events, read_events_of};

/// Reads a `data` file with one row: fields for a function's line, calls and times in ms.
fn read_row(line: &str, calls: &str, time: &[u8]) -> Result<Vec<String>, String> {
    let mut file = b"Element;Line;Calls;ExclusiveTime;InclusiveTime\n".to_vec();
    write_field(&mut file, b"f");
    for field in [line.as_bytes(), calls.as_bytes(), time] {
        file.push(b';');
        write_field(&mut file, field);
    }
    file.push(b';');
    write_field(&mut file, time);
    file.push(b'\n');
    let (events, result) = read_events("dyalog_csv", &file);
    match result {
        Ok(()) => Ok(events),
        Err(error) => Err(error.to_string()),
    }
}

fn write_field(file: &mut Vec<u8>, field: &[u8]) {
    file.push(b'"');
    for byte in field {
        file.extend(std::iter::repeat_n(byte, 1 + usize::from(*byte == b'"')));
    }
    file.push(b'"');
}

/// Returns the exclusive time of the only row in ns; `None` if the time is refused or unknown.
fn read_time(time: &[u8]) -> Option<f64> {
    let events = read_row("", "1", time).ok()?;
    let mut times = events
        .iter()
        .filter_map(|event| event.split_once(" exclusive "));
    let (_, time) = times.next()?;
    let (time, _) = time.split_once(' ').expect("two times");
    Some(time.parse().expect("a number"))
}

/// The time in ns that Rust reads, of numbers with ASCII characters.
fn parse_time(text: &[u8]) -> Option<f64> {
    let text = str::from_utf8(text).ok()?.replace(',', ".").to_lowercase();
    if !text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || b".-e".contains(&byte))
    {
        return None;
    }
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().ok()?;
    let value: f64 = format!("{mantissa}e{}", exponent + 6).parse().ok()?;
    value.is_finite().then_some(value)
}

/// Eight digits are read at once: each other byte at each of these places has to be seen.
#[test]
fn eight_digits_are_read_as_one_number() {
    for value in [0_u64, 1, 9, 10, 99_999_999, 12_345_678, 87_654_321] {
        let text = format!("{value:08}").into_bytes();
        assert_eq!(
            read_time(&text).map(f64::to_bits),
            parse_time(&text).map(f64::to_bits)
        );
    }
    for at in 0..8 {
        for byte in (0..=u8::MAX).filter(|byte| !byte.is_ascii_digit()) {
            let mut text = b"90909090".to_vec();
            text[at] = byte;
            let time = read_time(&text).map(f64::to_bits);
            let expected = parse_time(&text).map(f64::to_bits);
            assert_eq!(time, expected, "{}", text.escape_ascii());
        }
    }
}

#[test]
fn times_are_read_as_apl_prints_them() {
    let table: &[(&str, Option<f64>)] = &[
        ("0.8205615629464091", Some(820_561.562_946_409_1)),
        ("¯0.000887179497", Some(-887.179_497)),
        ("-1", Some(-1e6)),
        ("1.5E¯7", Some(0.15)),
        ("1,5E-7", Some(0.15)),
        ("1E3", Some(1e9)),
        ("¯0", Some(0.0)),
        ("0", Some(0.0)),
        ("", None),
        ("¯", None),
        ("1E", None),
        ("E5", None),
        ("1E1E1", None),
        ("1.2.3", None),
        ("1e400", None),
        ("inf", None),
        ("NaN", None),
        ("+1", None),
        ("1 ", None),
        ("12.5ms", None),
    ];
    for (text, expected) in table {
        assert_eq!(read_time(text.as_bytes()), *expected, "{text}");
    }
}

#[test]
fn times_are_the_nearest_reals() {
    let mut file = "Element,Line,Calls,ExclusiveTime,InclusiveTime\n".to_owned();
    let mut nearest = Vec::new();
    for seed in 1..20_000_u64 {
        // Digits of all lengths, with the point anywhere.
        let digits = (seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (seed % 60)).to_string();
        let mut text = digits.clone();
        let at = usize::try_from(seed).expect("64 bits") % (digits.len() + 1);
        text.insert(at, '.');
        writeln!(file, "f{seed},,1,{text},{text}").expect("memory");
        nearest.push(format!("{text}e6").parse::<f64>().expect("a number"));
    }
    let infos = read_events_of("info", "dyalog_csv", file.as_bytes());
    let mut expected = nearest.iter();
    for info in &infos {
        let (_, times) = info.split_once(" exclusive ").expect("a time");
        for time in times.split(" cumulative ") {
            let time: f64 = time.parse().expect("a number");
            let expected = expected.clone().next().expect("as many rows");
            assert_eq!(time.to_bits(), expected.to_bits(), "{info}");
        }
        expected.next();
    }
    assert_eq!(infos.len(), nearest.len());
}

#[test]
fn calls_are_whole_and_not_negative() {
    let table: &[(&str, Option<u64>)] = &[
        ("0", Some(0)),
        ("16810", Some(16810)),
        ("1.681E4", Some(16810)),
        ("9007199254740992", Some(1 << 53)),
        ("9007199254740994", None),
        ("1.5", None),
        ("¯1", None),
        ("x", None),
    ];
    for (text, expected) in table {
        let calls = read_row("", text, b"1").ok().map(|events| {
            let info = events.into_iter().find(|event| event.starts_with("info "));
            info.expect("a row")
        });
        let expected = expected
            .map(|calls| format!("info f time calls {calls} exclusive 1000000 cumulative 1000000"));
        assert_eq!(calls, expected, "{text}");
    }
    // A count that is not there: the number of calls may be unknown, the depth may not.
    let file = "Depth,Element,Line,Calls,ExclusiveTime,InclusiveTime\n,f,,1,1,1\n";
    let (_, result) = read_events("dyalog_csv", file.as_bytes());
    assert!(result.is_err());
}

#[test]
fn row_without_a_line_is_a_function() {
    let table: &[(&str, Option<&str>)] = &[
        ("", Some("f")),
        ("¯1", Some("f")),
        ("-1", Some("f")),
        ("0", Some("f[0]")),
        ("¯2", None),
        ("x", None),
    ];
    for (line, expected) in table {
        let info = read_row(line, "1", b"1").ok().map(|events| {
            let mut infos = events.iter().rev();
            let info = infos.find_map(|event| event.strip_prefix("info "));
            let frame = info.expect("a row").split(' ').next();
            frame.unwrap_or_default().to_owned()
        });
        assert_eq!(info.as_deref(), *expected, "{line}");
    }
}

/// Rows of one name are one function, whatever comes between them.
#[test]
fn rows_of_equal_names_are_one_function() {
    let names = ["a", "ab", "b", "⎕SE", "⎕SE", "b", "ab", "a", "c"];
    let mut file = "Depth,Element,Line,Calls,ExclusiveTime,InclusiveTime\n".to_owned();
    for name in names {
        writeln!(file, "0,\"{name}\",,1,1,1").expect("memory");
    }
    let functions = read_events_of("function", "dyalog_csv", file.as_bytes());
    assert_eq!(functions, ["a", "ab", "b", "⎕SE", "c"]);
    let nodes = read_events_of("enter", "dyalog_csv", file.as_bytes());
    assert_eq!(nodes, names.map(|name| format!("{name} calls 1")));
}

/// What a file is made of: the layout, and what is known of version and timer (in ns).
#[derive(Clone, Copy, Debug)]
struct Times {
    is_tree: bool,
    has_ticks: bool,
    readings: bool,
    version: &'static str,
    applied: Option<f64>,
}

const OLD: Times = Times {
    is_tree: true,
    has_ticks: true,
    readings: true,
    version: "0.9.0",
    applied: Some(5.0),
};

const NEW: Times = Times {
    is_tree: true,
    has_ticks: false,
    readings: false,
    version: "1.37",
    applied: Some(0.0),
};

/// Writes a report with one row as Dyalog's XML.
fn write_xml(times: Times) -> String {
    let (database, mut run) = import_profile("folded", b"f 1\n");
    run.tool_version = Some(times.version.to_owned());
    run.timer_bias = Some(5.0);
    run.bias_applied = Some(5.0);
    let mut metric = database.metrics(run.run_id).expect("metrics").remove(0);
    "time".clone_into(&mut metric.name);
    "ns".clone_into(&mut metric.unit);
    let mut columns = vec![
        ("Element", Kind::Name, Value::Text("f".to_owned())),
        ("Line", Kind::Line, Value::Null),
        ("Calls", Kind::Count, Value::Integer(2)),
        ("ExclusiveTime", Kind::Raw, Value::Real(1e6)),
        ("InclusiveTime", Kind::Raw, Value::Real(2e6)),
    ];
    if times.is_tree {
        columns.insert(0, ("Depth", Kind::Line, Value::Integer(0)));
    }
    if times.has_ticks {
        columns.push(("ExclusiveTicks", Kind::Count, Value::Integer(3)));
        columns.push(("InclusiveTicks", Kind::Count, Value::Integer(4)));
    }
    let row = columns.iter().map(|(.., value)| value.clone()).collect();
    let mut answer = report::table(&database, &[], vec![row]);
    answer.columns = columns
        .into_iter()
        .map(|(name, kind, _)| Column::plain(name.to_owned(), kind))
        .collect();
    answer.subject = Some(Subject {
        report: if times.is_tree { "tree" } else { "data" },
        run,
        metric,
        beside: None,
        timer_readings: times.readings,
        selected: None,
        exclusive: false,
        instead: None,
        bias: times.applied,
        exclusive_left: false,
        callers: None,
        pruned: None,
    });
    let layout = Layout {
        format: Format::Xml,
        ..Layout::default()
    };
    let mut file = Vec::new();
    render(&mut answer, &layout, &mut file).expect("memory");
    String::from_utf8(file).expect("text")
}

/// Version, cost of reading the timer in ns, and what has been subtracted per reading in ns.
type Statement = (Option<&'static str>, Option<f64>, Option<f64>);

#[test]
fn stated_version_and_timer_read_back_as_what_they_are() {
    let totals = |times: Times| Times {
        is_tree: false,
        ..times
    };
    let table: [(Times, Statement); 11] = [
        (
            Times {
                version: "1.37",
                ..OLD
            },
            (Some("0.9.0"), Some(5.0), Some(5.0)),
        ),
        (OLD, (Some("0.9.0"), Some(5.0), Some(5.0))),
        // A filtered report has no ticks.
        (
            Times {
                has_ticks: false,
                readings: false,
                ..OLD
            },
            (Some("0.9.0"), Some(5.0), Some(5.0)),
        ),
        (
            Times {
                has_ticks: false,
                applied: Some(0.0),
                ..OLD
            },
            (None, Some(5.0), Some(0.0)),
        ),
        (
            Times {
                applied: None,
                ..OLD
            },
            (Some("0.9.0"), None, None),
        ),
        (
            Times {
                version: "1.37",
                applied: None,
                ..OLD
            },
            (None, Some(5.0), None),
        ),
        (NEW, (Some("1.37"), Some(5.0), Some(0.0))),
        (
            Times {
                version: "0.9.0",
                ..NEW
            },
            (None, Some(5.0), Some(0.0)),
        ),
        (
            totals(Times {
                applied: Some(0.0),
                ..OLD
            }),
            (Some("0.9.0"), Some(5.0), Some(5.0)),
        ),
        (totals(OLD), (Some("0.9.0"), None, Some(0.0))),
        (totals(NEW), (Some("1.37"), Some(5.0), Some(0.0))),
    ];
    for (times, (version, bias, applied)) in table {
        let file = write_xml(times);
        let (events, result) = read_events("dyalog_xml", file.as_bytes());
        result.expect("a file that can be read");
        let number = |name: &str| {
            let mut facts = events.iter().filter_map(|event| event.strip_prefix(name));
            facts.next().map(|fact| {
                fact.trim_end_matches(" ns")
                    .parse::<f64>()
                    .expect("a number")
            })
        };
        let mut versions = events
            .iter()
            .filter_map(|event| event.strip_prefix("run tool version "));
        let found = (
            versions.next(),
            number("run timer bias "),
            number("run bias applied "),
        );
        assert_eq!(found, (version, bias, applied), "{times:?}\n{file}");
    }
}

/// Version 0.9.0 has inclusive and exclusive under each other's title.
#[test]
fn titles_are_those_of_the_layout() {
    let old = write_xml(OLD);
    for element in [
        "<Calls>2</Calls>",
        "<InclusiveTime>1</InclusiveTime>",
        "<ExclusiveTime>2</ExclusiveTime>",
        "<InclusiveTicks>3</InclusiveTicks>",
        "<ExclusiveTicks>4</ExclusiveTicks>",
    ] {
        assert!(old.contains(element), "{element}: {old}");
    }
    let new = write_xml(NEW);
    for element in [
        "<Calls>2</Calls>",
        "<ExclusiveTime>1</ExclusiveTime>",
        "<InclusiveTime>2</InclusiveTime>",
    ] {
        assert!(new.contains(element), "{element}: {new}");
    }
}
