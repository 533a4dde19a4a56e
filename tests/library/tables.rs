//! Tables in all formats: numbers, units, text that is escaped, and cells that wait in a file.

use profdb::base::error::Stop;
use profdb::events::{Noise, RunFact, Sink as _, Unit};
use profdb::profile::TreeBuilder;
use profdb::report::header::{Column, Kind};
use profdb::report::render::{self, Format, Layout, plain, render, total};
use profdb::report::{self, Answer, Heading, Measure, Subject, Value};
use profdb::store::{Database, MetricInfo, RunInfo};
use profdb::text::judged::ratio;
use profdb::text::separators::Separators;
use serde_json::{Map, Value as Json, json};

use crate::support::imports::import_profile;
use crate::support::made_runs::{Batches, made_up, write};
use crate::support::program;

fn database() -> Database {
    Database::in_memory().expect("memory")
}

fn rendered(answer: &mut Answer<'_>, layout: &Layout) -> String {
    let mut text = Vec::new();
    render(answer, layout, &mut text).expect("memory");
    String::from_utf8(text).expect("text")
}

fn in_format(format: Format) -> Layout {
    Layout {
        format,
        ..Layout::default()
    }
}

/// Returns the cells of a column of numbers, as a table of statements shows them.
fn cells(database: &Database, layout: &Layout, kind: Kind, numbers: &[f64]) -> Vec<String> {
    let rows = numbers.iter().map(|number| vec![Value::Real(*number)]);
    let mut answer = report::table(database, &["x"], rows.collect());
    answer.columns[0].kind = kind;
    let text = rendered(&mut answer, layout);
    let lines = text.lines().skip(1);
    lines.map(|line| line.trim().to_owned()).collect()
}

/// Returns the cells of a column of costs of a metric.
fn costs(
    database: &Database,
    measure: &Measure,
    layout: &Layout,
    kind: Kind,
    numbers: &[f64],
) -> Vec<String> {
    let heading = Heading {
        measure: measure.clone(),
        beside: Vec::new(),
        lines: Vec::new(),
        members: Map::new(),
    };
    let column = Column::plain("cost".to_owned(), kind);
    let rows = numbers.iter().map(|number| vec![Value::Real(*number)]);
    let mut answer = report::compared(database, heading, vec![column], rows.collect());
    let text = rendered(&mut answer, layout);
    let lines = text.lines().skip_while(|line| !line.contains("cost"));
    lines.map(|line| line.trim().to_owned()).skip(1).collect()
}

fn measure(name: &str, unit: &str, total: f64, selected: Option<f64>) -> Measure {
    Measure {
        name: name.to_owned(),
        unit: unit.to_owned(),
        total,
        selected,
    }
}

#[test]
fn numbers_have_all_digits_or_ten() {
    // Value in ns or in a base unit; all digits, ten digits.
    let table: &[(f64, &str, &str, &str)] = &[
        (
            68_400_494.877_920_43,
            "ns",
            "68.40049487792043",
            "68.40049488",
        ),
        (100.0, "", "100", "100"),
        (0.0, "ns", "0", "0"),
        (-887.179_497, "ns", "-0.000887179497", "-0.000887179497"),
        (1e6, "ns", "1", "1"),
        (1.5, "ns", "0.0000015", "0.0000015"),
        (123_456_789_012.0, "", "123456789012", "123456789000"),
        (0.1, "", "0.1", "0.1"),
        (1e300, "", "1E300", "1E300"),
        (12.5e-30, "", "1.25E-29", "1.25E-29"),
    ];
    let database = database();
    let csv = in_format(Format::Csv);
    let time = measure("time", "ns", 1e9, None);
    for (value, unit, all, ten) in table {
        // A raw cost has all digits, a time ten, and a percentage, which has no unit, ten as well.
        let written = if *unit == "ns" {
            [Kind::Raw, Kind::Cost].map(|kind| costs(&database, &time, &csv, kind, &[*value]))
        } else {
            [Kind::Any, Kind::Percent].map(|kind| cells(&database, &csv, kind, &[*value]))
        };
        assert_eq!(written, [[*all], [*ten]], "{value} {unit}");
    }
}

/// The number of scientific notation as tables write it: with an exponent only far from the point.
fn positional(scientific: &str) -> String {
    let (mantissa, exponent) = scientific.split_once('e').expect("an exponent");
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", mantissa),
    };
    let digits = mantissa.replace('.', "");
    let digits = digits.trim_end_matches('0');
    let exponent: i32 = exponent.parse().expect("a number");
    if digits.is_empty() {
        return "0".to_owned();
    }
    if !(-21..21).contains(&exponent) {
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        return format!("{sign}{first}{point}{rest}E{exponent}");
    }
    let Ok(whole) = usize::try_from(exponent + 1) else {
        let zeros = "0".repeat(usize::try_from(-exponent - 1).expect("negative"));
        return format!("{sign}0.{zeros}{digits}");
    };
    match digits.len().checked_sub(whole) {
        None | Some(0) => format!("{sign}{digits:0<whole$}"),
        Some(_) if whole == 0 => format!("{sign}0.{digits}"),
        Some(_) => format!("{sign}{}.{}", &digits[..whole], &digits[whole..]),
    }
}

/// Numbers of few digits are written by code of their own, which has to agree with Rust's.
#[test]
fn common_numbers_are_written_as_all_others() {
    let mut seed = 1_u64;
    let mut numbers = Vec::new();
    for round in 0..8_000_u64 {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        #[expect(clippy::cast_precision_loss, reason = "any number will do")]
        let value = match round % 4 {
            0 => f64::from_bits(seed),
            1 => (seed >> 40) as f64 / 1000.0,
            2 => (seed >> 20) as f64 / 1e9,
            _ => (seed >> 54) as f64 * 0.05,
        };
        numbers.extend(Some(value).filter(|value| value.is_finite()));
    }
    let database = database();
    let csv = in_format(Format::Csv);
    let shortest = cells(&database, &csv, Kind::Any, &numbers);
    for (value, cell) in numbers.iter().zip(&shortest) {
        assert_eq!(*cell, positional(&format!("{value:e}")));
        assert_eq!(cell.parse(), Ok(*value));
    }
    let time = measure("time", "ns", 1e9, None);
    let milliseconds = costs(&database, &time, &csv, Kind::Raw, &numbers);
    for (value, cell) in numbers.iter().zip(milliseconds) {
        let scientific = format!("{value:e}");
        let (mantissa, exponent) = scientific.split_once('e').expect("an exponent");
        let exponent: i32 = exponent.parse().expect("a number");
        assert_eq!(
            cell,
            positional(&format!("{mantissa}e{}", exponent - 6)),
            "{value:e}"
        );
    }
    // Tables for people have 15 digits.
    let readable = cells(&database, &in_format(Format::Text), Kind::Any, &numbers);
    for (value, cell) in numbers.iter().zip(readable) {
        assert_eq!(cell, positional(&format!("{value:.14e}")), "{value:e}");
    }
    for decimals in 0..5 {
        let layout = Layout {
            decimals: Some(decimals),
            ..in_format(Format::Text)
        };
        let fixed = cells(&database, &layout, Kind::Percent, &numbers);
        for (value, cell) in numbers.iter().zip(fixed) {
            let long = format!("{value:.decimals$}");
            let rest = long.trim_start_matches('-');
            let is_zero = rest.bytes().all(|byte| matches!(byte, b'0' | b'.'));
            assert_eq!(cell, if is_zero { rest } else { &long }, "{value:e}");
        }
    }
    for value in &numbers {
        let expected = format!("{value:.2}");
        assert_eq!(
            ratio(Some(*value), None),
            if expected == "-0.00" {
                "0.00"
            } else {
                &expected
            }
        );
    }
}

/// Returns an answer with the total of a metric in a column of the given name.
fn about_total<'d>(
    database: &'d Database,
    run: &RunInfo,
    measure: &Measure,
    column: &str,
) -> Answer<'d> {
    let rows = vec![vec![Value::Real(measure.total)]];
    let mut answer = report::table(database, &[column], rows);
    answer.columns[0].kind = Kind::Cost;
    answer.subject = Some(Subject {
        report: "summary",
        run: run.clone(),
        metric: metric_info(&measure.name, &measure.unit, measure.total),
        beside: None,
        timer_readings: false,
        selected: None,
        exclusive: false,
        instead: None,
        bias: None,
        exclusive_left: false,
        callers: None,
        pruned: None,
    });
    answer
}

fn metric_info(name: &str, unit: &str, total: f64) -> MetricInfo {
    MetricInfo {
        metric_id: 1,
        name: name.to_owned(),
        unit: unit.to_owned(),
        total,
        timer_readings: false,
        noise: Noise::Unknown,
        observations: None,
        quantum: None,
    }
}

/// Metric, its unit and the unit asked for; value and decimals; title, figure, all digits.
type UnitRow = ([&'static str; 3], f64, usize, [&'static str; 3]);

#[test]
fn costs_have_the_unit_that_is_asked_for() {
    let table: &[UnitRow] = &[
        (
            ["time", "ns", ""],
            58_200_000.0,
            1,
            ["msec", "58.2 msec", "58.2"],
        ),
        (
            ["time", "ns", "ms"],
            58_249_000.0,
            3,
            ["msec", "58.249 msec", "58.249"],
        ),
        (["time", "ns", "us"], 1_500.5, 1, ["us", "1.5 us", "1.5005"]),
        (
            ["time", "ns", "ns"],
            1_500.5,
            1,
            ["ns", "1500.5 ns", "1500.5"],
        ),
        (["time", "ns", "ns"], 1_500.0, 1, ["ns", "1500 ns", "1500"]),
        (["time", "ns", "s"], 1.5e9, 0, ["s", "2 s", "1.5"]),
        (
            ["time", "ns", ""],
            -40_000.0,
            1,
            ["msec", "0.0 msec", "-0.04"],
        ),
        (
            ["alloc", "bytes", ""],
            1536.0,
            1,
            ["bytes", "1536 bytes", "1536"],
        ),
        (
            ["alloc", "bytes", "B"],
            1536.5,
            1,
            ["bytes", "1536.5 bytes", "1536.5"],
        ),
        (
            ["alloc", "bytes", "kB"],
            1536.0,
            1,
            ["kB", "1.5 kB", "1.536"],
        ),
        (
            ["alloc", "bytes", "KiB"],
            1536.0,
            2,
            ["KiB", "1.50 KiB", "1.5"],
        ),
        (
            ["alloc", "bytes", "GiB"],
            1_073_741_824.0,
            1,
            ["GiB", "1.0 GiB", "1"],
        ),
        (["samples", "count", ""], 12.0, 1, ["samples", "12", "12"]),
        (["samples", "count", "1"], 12.0, 1, ["samples", "12", "12"]),
        (
            ["samples", "count", "k"],
            1_234.0,
            1,
            ["k samples", "1.2 k", "1.234"],
        ),
    ];
    let (database, run) = import_profile("folded", b"f 1\n");
    for ([name, base, unit], value, decimals, [expected, figure, exact]) in table {
        let unit = render::Unit::by_name(unit);
        let csv = Layout {
            unit,
            ..in_format(Format::Csv)
        };
        let measure = measure(name, base, *value, None);
        let all_digits = costs(&database, &measure, &csv, Kind::Raw, &[*value]);
        assert_eq!(all_digits, [*exact], "{name} {unit:?}");
        // The unit is in titles: in CSV instead of `Time`, in tables for people instead of `@`.
        let table = |format, column| {
            let mut answer = about_total(&database, &run, &measure, column);
            let layout = Layout {
                unit,
                decimals: Some(*decimals),
                ..in_format(format)
            };
            rendered(&mut answer, &layout)
        };
        let (text, csv) = (table(Format::Text, "@"), table(Format::Csv, "Time"));
        let csv_title = match (*base, *expected) {
            ("ns", "msec") => "\"Time\"".to_owned(),
            ("count", name) if !name.contains(' ') => "\"Samples\"".to_owned(),
            ("count", _) => "\"Samples(k)\"".to_owned(),
            ("ns", unit) => format!("\"Time({unit})\""),
            (_, unit) => format!("\"Alloc({unit})\""),
        };
        assert_eq!(csv.lines().next(), Some(&*csv_title), "{name} {unit:?}");
        if unit.is_some() {
            let lines: Vec<&str> = text.lines().map(str::trim).collect();
            assert_eq!(
                lines[..3],
                [&format!("Total {name}: {figure}"), "", expected]
            );
        }
    }
}

#[test]
fn unit_of_another_quantity_is_refused() {
    let table = [
        (
            "time",
            "ns",
            "kB",
            "--unit kB does not fit time: expected ns, us, ms, s",
        ),
        (
            "ticks",
            "count",
            "ms",
            "--unit ms does not fit ticks: expected 1, k, M",
        ),
    ];
    let database = database();
    for (name, base, unit, expected) in table {
        let heading = Heading {
            measure: measure(name, base, 1.0, None),
            beside: Vec::new(),
            lines: Vec::new(),
            members: Map::new(),
        };
        let column = Column::plain("cost".to_owned(), Kind::Cost);
        let mut answer = report::compared(&database, heading, vec![column], Vec::new());
        for format in [Format::Text, Format::Csv] {
            let layout = Layout {
                unit: render::Unit::by_name(unit),
                ..in_format(format)
            };
            let error = render(&mut answer, &layout, &mut Vec::new()).expect_err("another unit");
            assert_eq!(error.to_string(), expected);
        }
    }
}

#[test]
fn figure_alone_has_the_unit_that_fits_it() {
    let table: &[(&str, f64, &str)] = &[
        ("ns", 0.0, "0.0 msec"),
        ("ns", 12.0, "12 ns"),
        ("ns", 12.25, "12.2 ns"),
        ("ns", 999.0, "999 ns"),
        ("ns", 1_000.0, "1.000 us"),
        ("ns", 4_999.0, "4.999 us"),
        ("ns", 5_000.0, "5.00 us"),
        ("ns", 49_990.0, "49.99 us"),
        ("ns", 50_000.0, "50.0 us"),
        ("ns", 999_949.0, "999.9 us"),
        ("ns", 999_950.0, "1.000 msec"),
        ("ns", -68_400_494.9, "-68.4 msec"),
        ("ns", 2_600_000_000.0, "2.600 s"),
        ("ns", 12_345_000_000_000.0, "12345.0 s"),
        ("bytes", 1023.0, "1023 bytes"),
        ("bytes", 1024.0, "1.000 KiB"),
        ("bytes", 3_736_616.0, "3.564 MiB"),
        ("bytes", 1_073_741_824.0, "1.000 GiB"),
        ("bytes", 5_929_938_448_000.0, "5522.7 GiB"),
        ("count", 4_040_000_000.0, "4040000000"),
        ("count", 219_155_368.000_000_03, "219155368"),
        ("count", 2.5, "2.5"),
        ("count", 0.3, "0.3000"),
        ("count", 0.0123, "0.01230"),
        ("count", -0.000_04, "-0.00004000"),
        ("count", 3e-18, "0.0000000000000000030"),
        ("ns", 0.25, "0.2500 ns"),
        ("bytes", 0.001, "0.001000 bytes"),
    ];
    for (unit, value, expected) in table {
        assert_eq!(total(&metric_info("cost", unit, *value)), *expected);
    }
}

#[test]
fn cost_above_zero_is_not_shown_as_zero() {
    let database = database();
    // Total and cost, and its cell.
    for (total, value, expected) in [
        (100.5, 0.03, "0.030"),
        (100.5, 0.3, "0.3"),
        (100.5, 0.0, "0"),
        (100.5, 2.0, "2"),
        (100.0, -0.000_2, "-0.00020"),
        (0.5, 0.03, "0.030"),
        (0.5, 0.000_3, "0.00030"),
        (0.02, 0.012, "0.01200"),
    ] {
        let measure = measure("seconds", "count", total, None);
        let shown = costs(
            &database,
            &measure,
            &Layout::default(),
            Kind::Cost,
            &[value],
        );
        assert_eq!(shown, [expected], "{value} of {total}");
    }
    let selected = measure("seconds", "count", 100.5, Some(0.02));
    let shown = costs(
        &database,
        &selected,
        &Layout::default(),
        Kind::Cost,
        &[0.012],
    );
    assert_eq!(shown, ["0.01200"]);
    // Less than a thousandth of a total that has a larger unit.
    let time = measure("time", "ns", 6e8, None);
    let shown = costs(&database, &time, &Layout::default(), Kind::Cost, &[3e4]);
    assert_eq!(shown, ["0.0"]);
}

#[test]
fn column_has_the_unit_of_the_total_unless_the_selection_is_small() {
    // Total, selected; a cost of one half of a unit, and its cell, which shows the decimals.
    let table: &[([f64; 2], &str, f64, &str)] = &[
        ([5_230_000.0, 5_230_000.0], "msec", 0.5e6, "0.50"),
        ([5_230_000.0, 956_000.0], "msec", 0.5e6, "0.50"),
        ([5_230_000.0, 467_000.0], "us", 0.5e3, "0.5"),
        ([71_700_000.0, 23_800_000.0], "msec", 0.5e6, "0.5"),
        ([2_600_000_000.0, 12_300.0], "us", 0.5e3, "0.50"),
        ([2_600_000_000.0, 0.0], "s", 0.5e9, "0.500"),
        ([500.0, 1.0], "ns", 0.5, "0.5"),
    ];
    let database = database();
    for ([total, selected], unit, half, expected) in table {
        let heading = Heading {
            measure: measure("time", "ns", *total, Some(*selected)),
            beside: Vec::new(),
            lines: Vec::new(),
            members: Map::new(),
        };
        let column = Column::plain("@".to_owned(), Kind::Cost);
        let rows = vec![vec![Value::Real(*half)]];
        let mut answer = report::compared(&database, heading, vec![column], rows);
        let text = rendered(&mut answer, &Layout::default());
        let words: Vec<&str> = text.split_whitespace().collect();
        assert_eq!(words, [*unit, *expected], "{total} {selected}");
    }
}

#[test]
fn control_characters_are_escaped() {
    assert_eq!(plain("a\tb\n\u{1b}[2Jc"), "a\\tb\\n\\u{1b}[2Jc");
    assert_eq!(plain("a\u{202e}b\u{2028}"), "a\\u{202e}b\\u{2028}");
    assert_eq!(plain("∆ ⍙ \"x\" | <y>"), "∆ ⍙ \"x\" | <y>");
}

/// Writes a table with one cell of text; returns what follows the title.
fn text_cell(database: &Database, text: &str, layout: &Layout) -> String {
    let rows = vec![vec![Value::Text(text.to_owned())]];
    let mut answer = report::table(database, &["x"], rows);
    let written = rendered(&mut answer, layout);
    let (_, cell) = written.split_once('\n').expect("a title");
    cell.strip_suffix('\n').expect("a last line").to_owned()
}

#[test]
fn tsv_escapes_what_ends_a_field() {
    let cell = text_cell(&database(), "a\tb\nc\rd\\e\"∆", &in_format(Format::Tsv));
    assert_eq!(cell, "a\\tb\\nc\\rd\\\\e\"∆");
}

#[test]
fn csv_doubles_quotes_in_text_of_any_length() {
    /// Number of bytes that the writer takes at once.
    const PIECE: usize = 1 << 16;
    let database = database();
    let csv = in_format(Format::Csv);
    assert_eq!(text_cell(&database, "", &csv), "\"\"");
    for length in [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE] {
        // Quotes where pieces meet, and a letter of two bytes that is cut.
        let text = format!("{}\"é\"", "\"".repeat(length));
        let cell = text_cell(&database, &text, &csv);
        assert!(
            cell == format!("\"{}\"", text.replace('"', "\"\"")),
            "{length}"
        );
    }
    assert_eq!(cells(&database, &csv, Kind::Any, &[-5.0]), ["-5"]);
    let european = Layout {
        separators: ",;".parse().expect("separators"),
        ..csv
    };
    assert_eq!(cells(&database, &european, Kind::Any, &[1.5]), ["1,5"]);
}

#[test]
fn separators_are_two_characters_that_numbers_and_names_do_not_use() {
    let table: &[(&str, Option<(char, u8)>)] = &[
        (".,", Some(('.', b','))),
        (",;", Some((',', b';'))),
        (".\t", Some(('.', b'\t'))),
        (",|", Some((',', b'|'))),
        (",,", None),
        ("", None),
        (",", None),
        (".,;", None),
        (";,", None),
        (".\"", None),
        (".-", None),
        (".5", None),
        (".x", None),
        (".\n", None),
        (".¯", None),
    ];
    for (text, expected) in table {
        let separators = text.parse::<Separators>().ok();
        let characters = separators.map(|separators| (separators.decimal, separators.field));
        assert_eq!(characters, *expected, "{text:?}");
    }
}

#[test]
fn xml_text_has_no_character_that_xml_cannot_hold() {
    let table = [
        ("a]]>b", "a]]&gt;b"),
        ("<script>&amp;", "&lt;script&gt;&amp;amp;"),
        ("a\tb\r\nc", "a&#9;b&#13;&#10;c"),
        ("a\0b\u{1b}c", "a␀b␛c"),
        ("\u{ffff}\u{202e}∆", "\u{fffd}\u{202e}∆"),
    ];
    let database = database();
    for (text, expected) in table {
        let heading = Heading {
            measure: measure("time", "ns", 1.0, None),
            beside: Vec::new(),
            lines: Vec::new(),
            members: Map::new(),
        };
        let column = Column::plain("x".to_owned(), Kind::Text);
        let rows = vec![vec![Value::Text(text.to_owned())]];
        let mut answer = report::compared(&database, heading, vec![column], rows);
        let xml = rendered(&mut answer, &in_format(Format::Xml));
        assert!(xml.contains(&format!("<x>{expected}</x>")), "{xml}");
    }
}

/// The JSON of a report has the numbers of all other formats: a whole number has no point.
#[test]
fn json_writes_whole_numbers_without_a_point() {
    let value = json!({
        "whole": 3.0, "part": 2.5, "counted": 3, "large": 1e20, "most": u64::MAX, "below": -4.0,
        "text": "a \"b\"\n\u{202e}", "none": null, "yes": true, "empty": [{}, []],
        "list": [1.0, [2.0], {"a b": 0.5}],
    });
    let mut expected = value.to_string();
    for (written, shorter) in [
        ("3.0", "3"),
        ("-4.0", "-4"),
        ("1e+20", "100000000000000000000"),
        ("1.0", "1"),
        ("2.0", "2"),
    ] {
        assert!(expected.contains(written));
        expected = expected.replace(written, shorter);
    }
    let database = database();
    let heading = Heading {
        measure: measure("time", "ns", 1.0, None),
        beside: Vec::new(),
        lines: Vec::new(),
        members: Map::from_iter([("value".to_owned(), value)]),
    };
    let mut answer = report::compared(&database, heading, Vec::new(), Vec::new());
    let text = rendered(&mut answer, &in_format(Format::Json));
    assert!(text.contains(&format!("\"value\":{expected},")), "{text}");
    let read: Json = serde_json::from_str(&text).expect("JSON");
    let value = &read["value"];
    assert_eq!(
        (&value["whole"], &value["large"]),
        (&json!(3), &json!(1e20))
    );
}

/// JSON for people has a line for each value, and numbers as all other formats have them.
#[test]
fn json_in_lines_writes_whole_numbers_without_a_point() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.db");
    let mut builder = TreeBuilder::new(Batches::default(), Stop::default());
    builder.run(RunFact::TimerBias(2.5));
    let [whole, large, below] =
        ["whole", "large", "below"].map(|name| builder.metric(name, Unit::Count, Noise::Timed));
    for (metric, total) in [(whole, 3.0), (large, 1e20), (below, -4.0)] {
        builder.run(RunFact::Total(metric, total));
    }
    builder.run(RunFact::Other("text", "a \"b\"\n\u{202e}"));
    write(
        builder,
        &made_up(),
        &mut Database::open(&path).expect("a new database"),
    );
    let mut command = program::command();
    command
        .args(["show", "--format", "json", "--db"])
        .arg(&path);
    let done = command.output().expect("the program");
    let text = String::from_utf8(done.stdout).expect("text");
    for number in ["3", "100000000000000000000", "-4"] {
        assert!(text.contains(&format!("\"total\": {number}")), "{text}");
    }
    let read: Json = serde_json::from_str(&text).expect("JSON");
    let again = format!("{read:#}").replace("1e+20", "100000000000000000000");
    assert_eq!(text.trim_end(), again);
}
