//! Parses each output format of each report with independent code and compares the rows with the report's.

use libtest_mimic::Failed;
use profdb::base::error::Stop;
use profdb::events::{Cost, Frame, FunctionDef, Noise, RunFact, Sink, Unit};
use profdb::formats::{Confidence, Format, Options, Salvage};
use profdb::pipeline::{import, meta};
use profdb::report::header::{Column, Kind, Medium, Needs, Parameter};
use profdb::report::render::{self, Layout, plain, render};
use profdb::report::{self, Answer, Argument, REPORTS, Report, Request, Value};
use profdb::store::{Database, RunInfo};
use quick_xml::events::Event;

use super::support::csv_records::csv_records;
use super::support::markdown_rows;
use super::{Sample, ensure, equal, open, rows, save, saved};

/// Functions that a report is asked about, of those that a run has.
const ASKED: usize = 3;

/// Columns with the names of several functions.
const NAMES: [&str; 2] = ["path", "callees"];

/// Rounding error of a table cell: half of its last decimal, and a little more for exact halves.
const ROUNDED: f64 = 0.0501;

/// Columns that tell functions of one name apart.
const PLACES: [&str; 6] = [
    "module",
    "file",
    "caller_module",
    "caller_file",
    "callee_module",
    "callee_file",
];

/// Relative error of a number with ten digits.
const TEN_DIGITS: f64 = 1e-9;

pub(super) fn outputs_hold_the_same_rows(sample: &Sample) -> Result<(), Failed> {
    every_report(&saved(sample, 1)?)
}

/// Asks every report for every metric, in every format.
fn every_report(database: &Database) -> Result<(), Failed> {
    let Some(run) = database.run(None)? else {
        return Err("there is no run".into());
    };
    // Where no paths are known, a name has to be that of one function.
    let names = "SELECT function FROM summary WHERE run_id = ?1 GROUP BY function
                 HAVING ?2 = 'tree' OR COUNT(DISTINCT function_id) = 1 ORDER BY function";
    let names = rows(database, names, &[&run.run_id, &run.fidelity])?;
    let names: Vec<Value> = names.into_iter().flatten().collect();
    for metric in database.metrics(run.run_id)? {
        let with_lines = "SELECT DISTINCT function FROM lines WHERE run_id = ?1 AND metric = ?2";
        let with_lines = rows(database, with_lines, &[&run.run_id, &metric.name])?;
        let with_lines: Vec<Value> = with_lines.into_iter().flatten().collect();
        for report in REPORTS {
            let header = report.header();
            let enough = match header.needs {
                Needs::Nothing => true,
                Needs::Edges => run.fidelity != "flat",
                Needs::Tree => run.fidelity == "tree",
                Needs::Labels => !rows(
                    database,
                    "SELECT 1 FROM label_sets WHERE run_id = ?1 LIMIT 1",
                    &[&run.run_id],
                )?
                .is_empty(),
            };
            if !enough {
                continue;
            }
            let path = header
                .parameters
                .iter()
                .any(|known| known.kind == Parameter::Path && !known.optional);
            let paths: Vec<Option<&Value>> = if path {
                // A function line by line is one that has lines.
                let is_shown =
                    |name: &&Value| report.name != "function" || with_lines.contains(name);
                names
                    .iter()
                    .filter(is_shown)
                    .take(ASKED)
                    .map(Some)
                    .collect()
            } else {
                vec![None]
            };
            for path in paths {
                // Quotes say that it is a name, whatever characters it has.
                let quoted = path.map(|name| match name {
                    Value::Text(name) => format!("'{}'", name.replace('\'', "''")),
                    _ => String::new(),
                });
                let arguments = quoted
                    .map(|path| ("fn".to_owned(), Argument::Text(path)))
                    .into_iter()
                    .collect();
                let request = Request {
                    metric: Some(metric.name.clone()),
                    arguments,
                    ..Request::default()
                };
                in_every_format(database, report, &run, &request).map_err(|fault| {
                    format!(
                        "{} {}: {}",
                        report.name,
                        metric.name,
                        fault.message().unwrap_or("?")
                    )
                })?;
            }
        }
    }
    Ok(())
}

fn in_every_format(
    database: &Database,
    report: &'static Report,
    run: &RunInfo,
    request: &Request,
) -> Result<(), Failed> {
    let mut answer = report::ask(database, report, run, request)?;
    let mut found = Vec::new();
    answer.each(|row| {
        found.push(row.to_vec());
        Ok::<_, report::ReportError>(())
    })?;
    let time = answer
        .subject
        .as_ref()
        .is_some_and(|subject| subject.metric.unit == "ns");
    for (name, format) in render::Format::ALL {
        let mut text = Vec::new();
        render(
            &mut answer,
            &Layout {
                format,
                ..Layout::default()
            },
            &mut text,
        )?;
        let text = String::from_utf8(text)?;
        let read = match format {
            render::Format::Text => text_table(&answer, &found, &text),
            render::Format::Csv => compare(
                &answer,
                &found,
                &csv_rows(&text)?,
                |column| column.is_in(Medium::Csv),
                csv_cell(time),
            ),
            render::Format::Tsv => compare(
                &answer,
                &found,
                &tsv_rows(&text),
                |column| column.is_in(Medium::Csv),
                csv_cell(time),
            ),
            render::Format::Xml => compare(
                &answer,
                &found,
                &xml_rows(&text)?,
                |column| column.is_in(Medium::Xml),
                xml_cell(time),
            ),
            render::Format::Json => {
                let value: serde_json::Value = serde_json::from_str(&text)?;
                let rows = value["rows"].as_array().cloned().unwrap_or_default();
                ensure(
                    value["shown"]["rows"].as_u64() == Some(rows.len() as u64),
                    || "shown.rows".to_owned(),
                )?;
                json(&answer, &found, &rows)
            }
            render::Format::JsonLines => {
                let rows: Vec<_> = text
                    .lines()
                    .map(serde_json::from_str)
                    .collect::<Result<_, _>>()?;
                json(&answer, &found, &rows)
            }
            render::Format::Markdown => compare(
                &answer,
                &found,
                &rows_of_markdown(&text)?,
                |column| column.is_in(Medium::Markdown),
                markdown_cell(factor_of(
                    text.lines()
                        .find(|line| line.starts_with('|'))
                        .unwrap_or_default(),
                )),
            ),
        };
        read.map_err(|fault| format!("{name}: {}", fault.message().unwrap_or("?")))?;
    }
    Ok(())
}

/// Compares all cells of the columns that a format shows.
fn compare(
    answer: &Answer<'_>,
    found: &[Vec<Value>],
    read: &[Vec<String>],
    is_shown: fn(&Column<'_>) -> bool,
    same: impl Fn(&Value, Kind, &str) -> bool,
) -> Result<(), Failed> {
    let columns = shown(answer, found, is_shown);
    ensure(read.len() == found.len(), || {
        format!("{} rows instead of {}", read.len(), found.len())
    })?;
    for (number, (found, read)) in found.iter().zip(read).enumerate() {
        ensure(read.len() == columns.len(), || {
            format!("row {number}: {read:?}")
        })?;
        for ((at, kind), cell) in columns.iter().zip(read) {
            ensure(same(&found[*at], *kind, cell), || {
                format!("row {number}: {cell:?} for {:?}", found[*at])
            })?;
        }
    }
    Ok(())
}

fn shown(
    answer: &Answer<'_>,
    found: &[Vec<Value>],
    is_shown: fn(&Column<'_>) -> bool,
) -> Vec<(usize, Kind)> {
    let holds = |at: usize| {
        let is_empty =
            |value: &Value| matches!(value, Value::Null) || *value == Value::Text(String::new());
        found.iter().any(|row| !is_empty(&row[at]))
    };
    let columns = answer.columns.iter().enumerate();
    columns
        .filter(|(at, column)| {
            is_shown(column) && column.when.is_none() && (!column.optional || holds(*at))
        })
        .map(|(at, column)| (at, column.kind))
        .collect()
}

/// A figure as it is shown: in milliseconds if it is a time.
fn figure(value: f64, kind: Kind, time: bool) -> f64 {
    if time && matches!(kind, Kind::Cost | Kind::Raw) {
        value / 1e6
    } else {
        value
    }
}

/// Whether a number is the value, up to a part of it.
fn near(cell: &str, value: f64, part: f64) -> bool {
    cell.parse::<f64>()
        .is_ok_and(|cell| (cell - value).abs() <= part * value.abs())
}

fn csv_rows(text: &str) -> Result<Vec<Vec<String>>, Failed> {
    // The first record has the titles.
    Ok(csv_records(text)?.into_iter().skip(1).collect())
}

/// Nothing but tabs and ends of lines separates anything, and escapes stand for the rest.
fn tsv_rows(text: &str) -> Vec<Vec<String>> {
    let cell = |cell: &str| {
        let mut letters = cell.chars();
        let mut plain = String::new();
        while let Some(letter) = letters.next() {
            plain.push(match letter {
                '\\' => match letters.next() {
                    Some('t') => '\t',
                    Some('n') => '\n',
                    Some('r') => '\r',
                    Some('\\') => '\\',
                    other => panic!("no escape: {other:?} in {cell:?}"),
                },
                letter => letter,
            });
        }
        plain
    };
    let lines = text.strip_suffix('\n').unwrap_or(text).split('\n').skip(1);
    lines
        .map(|line| line.split('\t').map(cell).collect())
        .collect()
}

fn csv_cell(time: bool) -> impl Fn(&Value, Kind, &str) -> bool {
    move |value, kind, cell| match value {
        Value::Null => cell.is_empty(),
        Value::Text(text) if kind == Kind::Text => has_names(cell, text) || is_no_name(text, cell),
        Value::Text(text) => cell == text || is_no_name(text, cell),
        Value::Integer(value) => cell == value.to_string(),
        Value::Real(value) => near(cell, figure(*value, kind, time), TEN_DIGITS),
    }
}

fn xml_rows(text: &str) -> Result<Vec<Vec<String>>, Failed> {
    let mut reader = quick_xml::Reader::from_str(text);
    let (mut rows, mut path) = (Vec::new(), Vec::new());
    let mut cell = String::new();
    loop {
        match reader.read_event()? {
            Event::Start(start) => {
                path.push(start.name().as_ref().to_owned());
                cell.clear();
                if path.len() == 2 && path[1] == "ProfileEntry" {
                    rows.push(Vec::new());
                }
            }
            Event::End(_) => {
                if path.len() == 3
                    && path[1] == "ProfileEntry"
                    && let Some(row) = rows.last_mut()
                {
                    row.push(cell.clone());
                }
                path.pop();
            }
            Event::Text(text) => cell.push_str(&text),
            Event::GeneralRef(reference) => match reference.resolve_char_ref()? {
                Some(character) => cell.push(character),
                None => cell.push_str(
                    quick_xml::escape::resolve_xml_entity(&reference).ok_or("an entity")?,
                ),
            },
            Event::Decl(_) => {}
            Event::Eof => break,
            other => return Err(format!("{other:?}").into()),
        }
    }
    ensure(path.is_empty(), || format!("{path:?} are open"))?;
    Ok(rows)
}

/// Profiles, which can be read again, have this for an empty name.
fn is_no_name(text: &str, cell: &str) -> bool {
    text.is_empty() && cell == "(no name)"
}

/// Replaces the characters that XML cannot hold as the XML writer does.
pub(super) fn held_by_xml(text: &str) -> String {
    let held = |character: char| match character {
        '\t' | '\n' | '\r' => character,
        '\0'..='\u{1f}' => char::from_u32(u32::from(character) + 0x2400).unwrap_or(character),
        '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
        _ => character,
    };
    text.chars().map(held).collect()
}

fn xml_cell(time: bool) -> impl Fn(&Value, Kind, &str) -> bool {
    move |value, kind, cell| match value {
        // `]PROFILE` has this line for functions as a whole in trees
        // (src/report/render/dyalog/xml.rs).
        Value::Null => cell.is_empty() || (kind == Kind::Line && cell == "¯1"),
        Value::Text(text) if kind == Kind::Text => {
            has_names(cell, &held_by_xml(text)) || is_no_name(text, cell)
        }
        Value::Text(text) => held_by_xml(text) == cell || is_no_name(text, cell),
        Value::Integer(value) => cell.replace('¯', "-") == value.to_string(),
        Value::Real(value) => near(
            &cell.replace('¯', "-"),
            figure(*value, kind, time),
            TEN_DIGITS,
        ),
    }
}

fn json(
    answer: &Answer<'_>,
    found: &[Vec<Value>],
    read: &[serde_json::Value],
) -> Result<(), Failed> {
    let expected: Vec<_> = found
        .iter()
        .map(|row| {
            let columns = answer
                .columns
                .iter()
                .zip(row)
                .filter(|(column, _)| column.is_in(Medium::Json));
            let pairs = columns.map(|(column, value)| {
                let value = match value {
                    Value::Null => serde_json::Value::Null,
                    Value::Integer(value) => (*value).into(),
                    Value::Real(value) => (*value).into(),
                    Value::Text(text) => text.as_str().into(),
                };
                (column.name.to_string(), value)
            });
            pairs.collect::<serde_json::Map<_, _>>()
        })
        .collect();
    let is_same = |name: &str, left: &serde_json::Value, right: &serde_json::Value| {
        match (left.as_f64(), right.as_f64(), left.as_str(), right.as_str()) {
            // The reader's last digit is not always the nearest.
            (Some(left), Some(right), ..) => (left - right).abs() <= f64::EPSILON * left.abs(),
            (.., Some(names), Some(cell)) if NAMES.contains(&name) => has_names(cell, names),
            _ => left == right,
        }
    };
    ensure(expected.len() == read.len(), || {
        format!("{} rows instead of {}", read.len(), expected.len())
    })?;
    for (expected, read) in expected.iter().zip(read) {
        let read = read.as_object().ok_or("a row is no object")?;
        let same = expected.len() == read.len()
            && expected.iter().all(|(name, value)| {
                read.get(name)
                    .is_some_and(|read| is_same(name, value, read))
            });
        ensure(same, || format!("{read:?} instead of {expected:?}"))?;
    }
    Ok(())
}

/// How many base units make one of the unit that the heads of a table name.
fn factor_of(heads: &str) -> f64 {
    const UNITS: [(&str, f64); 8] = [
        ("ns", 1.0),
        ("us", 1e3),
        ("msec", 1e6),
        ("s", 1e9),
        ("bytes", 1.0),
        ("KiB", 1024.0),
        ("MiB", 1_048_576.0),
        ("GiB", 1_073_741_824.0),
    ];
    let mut words = heads.split([' ', '|', '(']);
    words
        .find_map(|word| UNITS.iter().find(|(unit, _)| *unit == word))
        .map_or(1.0, |(_, factor)| *factor)
}

/// Whether a cell of a table is the value.
fn table_cell(value: &Value, kind: Kind, factor: f64, cell: &str) -> bool {
    match value {
        Value::Null => cell.is_empty() || cell == "-",
        Value::Integer(value) => cell == value.to_string(),
        Value::Real(value) => cell.parse::<f64>().is_ok_and(|cell| {
            let is_scaled = matches!(kind, Kind::Cost | Kind::Raw);
            let shown = if is_scaled { *value / factor } else { *value };
            (cell - shown).abs() < ROUNDED
        }),
        Value::Text(text) => has_names(cell, &plain(text)),
    }
}

/// Separators of the names on a call path and in a list of callees.
const SEPARATORS: [&str; 2] = [" > ", ", "];

/// Returns the text after a name, a call path or a list of callees. Each function may have a place in parentheses; the
/// last one's place is part of the returned text.
fn after_names<'t>(text: &'t str, names: &str) -> Option<&'t str> {
    SEPARATORS.iter().find_map(|separator| {
        let mut names = names.split(separator);
        let mut rest = text.strip_prefix(names.next()?)?;
        for name in names {
            let next = format!("{separator}{name}");
            rest = rest.strip_prefix(&next).or_else(|| {
                let (place, rest) = rest.split_once(&next)?;
                is_place(place).then_some(rest)
            })?;
        }
        Some(rest)
    })
}

/// Returns whether a cell has the given names, with or without places.
fn has_names(cell: &str, names: &str) -> bool {
    after_names(cell, names).is_some_and(|rest| rest.is_empty() || is_place(rest))
}

/// Returns whether a text is a place in parentheses with the blank before it.
fn is_place(text: &str) -> bool {
    text.starts_with(" (") && text.ends_with(')')
}

/// Returns the text after a place in parentheses, which may have a line, a column or a number: `(a.c:3:1)`, `(a.c#2)`.
fn after_place<'t>(text: &'t str, place: &str) -> Option<&'t str> {
    let text = text.trim_start_matches(' ').strip_prefix('(')?;
    let (numbers, rest) = text.strip_prefix(place)?.split_once(')')?;
    let are_numbers = numbers
        .chars()
        .all(|c| c.is_ascii_digit() || c == ':' || c == '#');
    (are_numbers && text.starts_with(|c| c != ')')).then_some(rest)
}

/// Splits the table where a reader of Markdown would.
fn rows_of_markdown(text: &str) -> Result<Vec<Vec<String>>, Failed> {
    let mut lines = text.lines().filter(|line| line.starts_with('|'));
    ensure(
        lines.next().is_some() && lines.next().is_some_and(|rules| rules.contains("---")),
        || "no head".to_owned(),
    )?;
    Ok(lines.map(markdown_rows::cells).collect())
}

fn markdown_cell(factor: f64) -> impl Fn(&Value, Kind, &str) -> bool {
    move |value, kind, cell| {
        let name = if kind == Kind::Node {
            unindented(cell, value)
        } else {
            cell
        };
        table_cell(value, kind, factor, name)
    }
}

/// The cell of a node after its indentation, which blanks of the name's own may follow.
fn unindented<'c>(cell: &'c str, value: &Value) -> &'c str {
    let Value::Text(text) = value else {
        return cell;
    };
    let name = plain(text);
    let behind = cell.trim_start_matches(' ');
    let behind = match behind
        .strip_prefix('+')
        .and_then(|levels| levels.split_once(' '))
    {
        Some((levels, behind)) if levels.parse::<usize>().is_ok() && !name.starts_with('+') => {
            behind
        }
        _ => behind,
    };
    let own = name.len() - name.trim_start_matches(' ').len();
    let start = cell.len() - behind.trim_start_matches(' ').len();
    cell.get(start.saturating_sub(own)..).unwrap_or(cell)
}

/// Compares a text table, whose columns have no separators: removes the expected cells from each line in order.
fn text_table(answer: &Answer<'_>, found: &[Vec<Value>], text: &str) -> Result<(), Failed> {
    let columns = shown(answer, found, |column| column.is_in(Medium::Text));
    let factor = factor_of(text.lines().nth(2).unwrap_or_default());
    // What comes before the rows: the total, an empty line, the heads of the columns.
    let lines: Vec<&str> = text.lines().skip(3).collect();
    ensure(lines.len() == found.len(), || {
        format!("{} rows instead of {}", lines.len(), found.len())
    })?;
    for (row, line) in found.iter().zip(lines) {
        let mut rest = line;
        for (at, kind) in &columns {
            rest = rest.trim_start_matches(' ');
            let name = if let Value::Text(name) = &row[*at] {
                plain(name)
            } else {
                String::new()
            };
            let name = name.trim_matches(' ');
            if let Value::Text(_) = &row[*at] {
                if *kind == Kind::Node {
                    rest = unindented(rest, &row[*at]).trim_start_matches(' ');
                }
                rest = after_names(rest, name).ok_or_else(|| format!("no {name:?} in {line:?}"))?;
                // The name was trimmed, so its blanks at the end are left.
                let last_place = rest.trim_start_matches(' ');
                if NAMES.contains(&&*answer.columns[*at].name)
                    && is_place(&format!(" {last_place}"))
                {
                    rest = "";
                }
                let places = PLACES.iter().filter_map(|place| {
                    let columns = &mut answer.columns.iter();
                    match &row[columns.position(|column| column.name == *place)?] {
                        Value::Text(place) => Some(plain(place)),
                        _ => None,
                    }
                });
                let mut places = places.chain([String::new()]);
                let behind = places.find_map(|place| after_place(rest, &place));
                rest = behind.unwrap_or(rest);
            } else if !(row[*at] == Value::Null
                && matches!(kind, Kind::Line | Kind::Text | Kind::Name | Kind::Node))
            {
                let (cell, behind) = rest.split_once(' ').unwrap_or((rest, ""));
                ensure(table_cell(&row[*at], *kind, factor, cell), || {
                    format!("{cell:?} for {:?}: {line}", row[*at])
                })?;
                rest = behind;
            }
        }
        ensure(rest.trim().is_empty(), || {
            format!("{rest:?} is left of {line:?}")
        })?;
    }
    Ok(())
}

// Names that want to be something else

const HOSTILE: [&str; 25] = [
    "a,b",
    "a;b\\;\\x3b",
    "a\"b\"",
    "it's",
    "<script>alert(1)</script>",
    "a]]>b",
    "&amp; &#0;",
    "a|b\\|c",
    "a\tb",
    "a\nb\r\nc",
    "\u{202e}desrever\u{202c}",
    "\u{feff}bom\u{2028}",
    "nul\0behind",
    "\u{1b}[31mred",
    "=1+1",
    "@SUM(A1)",
    "+1",
    "-1",
    "`code` *bold* __init__ ~~x~~",
    " blanks  all  round ",
    "(root)",
    "f[1]",
    "caf\u{e9} 函数 ∆⍙ \u{10ffff}\u{ffff}",
    "lost \u{fffd} bytes",
    "--> 1,2;3",
];

const HOSTILE_RUN: Format = Format {
    name: "hostile",
    summary: "names that want to be something else",
    revision: 1,
    sniff: |_| Confidence::No,
    has_empty_recordings: true,
    salvage: Salvage::Importer,
    options: &[],
    import: |_, _, sink| {
        hostile_run(sink);
        Ok(())
    },
};

/// Every name calls the next one, and has a line; every second one is two functions.
fn hostile_run(sink: &mut dyn Sink) {
    sink.run(RunFact::Title("<title> | \"x\" & ]]>"));
    let time = sink.metric("time", Unit::Nanoseconds, Noise::Unknown);
    let odd = sink.metric("<odd> \"metric\"|", Unit::Bytes, Noise::Unknown);
    let hits = sink.metric("hits;1", Unit::Count, Noise::Unknown);
    for (at, name) in (1_u32..).zip(HOSTILE) {
        let places = if at % 2 == 0 {
            ["<a|b>", "\"c\",\td"]
        } else {
            ["", ""]
        };
        let module = places
            .iter()
            .find(|_| at % 4 == 0)
            .copied()
            .unwrap_or_default();
        let function = sink.function(FunctionDef {
            module,
            file: places[0],
            ..FunctionDef::named(name)
        });
        let twin = sink.function(FunctionDef {
            file: places[1],
            ..FunctionDef::named(name)
        });
        sink.enter(Frame::function(function), Some(u64::from(at)));
        sink.cost(time, Cost::Exclusive(f64::from(at) * 1_234_567.891));
        sink.cost(odd, Cost::Exclusive(f64::from(at) * 512.0));
        sink.cost(hits, Cost::Exclusive(f64::from(at)));
        sink.enter(Frame::line(function, at), None);
        sink.cost(time, Cost::Exclusive(f64::from(at) * 1e6));
        sink.enter(Frame::function(twin), None);
        sink.cost(time, Cost::Exclusive(0.125));
        sink.leave();
        sink.leave();
    }
    for _ in HOSTILE {
        sink.leave();
    }
}

pub(super) fn hostile_database() -> Result<Database, Failed> {
    let options = Options::default();
    let describe = |fingerprint| meta(&HOSTILE_RUN, &options, "<in|put>", fingerprint);
    Ok(import(
        open(b"any")?,
        &HOSTILE_RUN,
        &options,
        &Stop::default(),
        describe,
        Database::in_memory,
    )?
    .database)
}

pub(super) fn hostile_names() -> Result<(), Failed> {
    let database = hostile_database()?;
    every_report(&database)?;
    let names = rows(&database, "SELECT DISTINCT function FROM summary", &[])?;
    ensure(names.len() == HOSTILE.len(), || {
        format!("{} names", names.len())
    })
}

// There and back

/// Tables that a tree comes back as, and what is said of the run where the format has a place for
/// it.
const TABLES: [&str; 7] = [
    "SELECT function_id, kind, name, module, file, first_line, first_col FROM functions ORDER BY function_id",
    "SELECT metric_id, name, unit, position, total FROM metrics ORDER BY metric_id",
    "SELECT node_id, up, size, outer_up, depth, function_id, file, line, col, calls, exclusive, cumulative FROM nodes
     ORDER BY node_id",
    "SELECT metric_id, node_id, exclusive, cumulative FROM node_costs ORDER BY metric_id, node_id",
    "SELECT metric_id, function_id, calls, primitive, exclusive, cumulative, seen, recorded FROM function_info
     ORDER BY metric_id, function_id",
    "SELECT metric_id, function_id, file, line, col, calls, exclusive, cumulative, recorded FROM line_info
     ORDER BY metric_id, function_id, file, line, col",
    "SELECT metric_id, callee_id, caller_id, line_file, caller_line, caller_col, kind, calls, exclusive, cumulative, outermost,
       seen
     FROM edges ORDER BY metric_id, callee_id, caller_id, line_file, caller_line, caller_col, kind",
];

const FACTS: &str =
    "SELECT fidelity, title, tool_version, recorded_at, timer_bias, bias_applied FROM runs";

/// `report tree` of what `]PROFILE` has written, in either of its formats, imported again is the
/// same profile.
pub(super) fn trees_survive_a_round_trip(sample: &Sample) -> Result<(), Failed> {
    let database = saved(sample, 1)?;
    let Some(run) = database.run(None)? else {
        return Err("there is no run".into());
    };
    let nodes = rows(&database, "SELECT node_id FROM nodes LIMIT 1", &[])?;
    if !matches!(sample.format.name, "dyalog_xml" | "dyalog_csv")
        || run.fidelity != "tree"
        || nodes.is_empty()
    {
        return Ok(());
    }
    let tree = report::by_name("tree").expect("a report");
    for (format, queries) in [
        (render::Format::Xml, [&TABLES[..], &[FACTS]].concat()),
        (render::Format::Csv, TABLES.to_vec()),
    ] {
        let mut answer = report::ask(&database, tree, &run, &Request::default())?;
        let mut bytes = Vec::new();
        render(
            &mut answer,
            &Layout {
                format,
                ..Layout::default()
            },
            &mut bytes,
        )?;
        let again = save(
            Database::in_memory(),
            &Sample {
                format: sample.format,
                bytes,
            },
        )?
        .database;
        for query in queries {
            let mut expected = rows(&database, query, &[])?;
            for value in expected
                .iter_mut()
                .flatten()
                .filter(|_| format == render::Format::Xml)
            {
                if let Value::Text(text) = value {
                    *text = held_by_xml(text);
                }
            }
            equal(
                &format!("{format:?}: {query}"),
                &expected,
                &rows(&again, query, &[])?,
            )?;
        }
    }
    Ok(())
}
