//! Folded stacks: recognition, numbers, frames of lines that follow each other, and Austin's lines.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::io::{self, Cursor, Read};

use profdb::base::error::Stop;
use profdb::events::recorder::Recorder;
use profdb::formats::{Confidence, Options, format_named};
use profdb::input::{HEAD, Input, Limits};

use crate::support::imports::{open, read_events, read_events_of};

/// Maximum number of lines that wait to be emitted.
const TOGETHER: usize = 32;

/// Number of frames and bytes of waiting lines at which they are emitted.
const MOST_NEW: usize = 256;
const MOST_TEXT: usize = 64 * 1024;

/// Maximum number of frames of a stack.
const MOST_FRAMES: usize = 1 << 20;

/// Returns the stacks of the samples as a file has them.
fn read_stacks(lines: &[&str]) -> Vec<String> {
    let file = lines.join(" 1\n") + " 1\n";
    let samples = read_events_of("sample", "folded", file.as_bytes());
    samples.iter().map(|sample| stack_of(sample)).collect()
}

fn stack_of(sample: &str) -> String {
    let (stack, _) = sample.rsplit_once(" calls unknown").expect("a sample");
    stack.replace(" > ", ";")
}

#[test]
fn number_after_a_stack_is_read_or_refused() {
    let table: &[(&str, Option<f64>)] = &[
        ("0", Some(0.0)),
        ("12", Some(12.0)),
        ("999999999999999", Some(999_999_999_999_999.0)),
        ("18446744073709551616", Some(18_446_744_073_709_551_616.0)),
        ("12.5", Some(12.5)),
        ("1e6", Some(1e6)),
        ("-3", Some(-3.0)),
        ("", None),
        (".", None),
        ("-", None),
        ("1e999", None),
        ("inf", None),
        ("nan", None),
        ("0x10", None),
        ("1,5", None),
        ("12ms", None),
    ];
    for (number, expected) in table {
        let (events, result) = read_events("folded", format!("a;b {number}\n").as_bytes());
        assert_eq!(result.is_ok(), expected.is_some(), "{number}");
        if let Some(value) = expected {
            let sample = format!("sample a > b calls unknown samples {value}");
            assert!(events.contains(&sample), "{number}: {events:?}");
        }
    }
}

#[test]
fn first_lines_decide_whether_a_file_is_folded_stacks() {
    let long = format!("a;b{:x<1$}", "", HEAD - 3).into_bytes();
    let long_php = format!("{{main}};b{:x<1$}", "", HEAD - 8).into_bytes();
    let json = format!("{{\"a;b\":{:x<1$}", "", HEAD - 7).into_bytes();
    let damaged_json = format!("x\"a;b\":{:x<1$}", "", HEAD - 7).into_bytes();
    let table: &[(&[u8], Confidence)] = &[
        (b"a;b 1\n", Confidence::Maybe),
        (b"a;b 1", Confidence::Maybe),
        (b"# comment\n\na;b 12.5\n", Confidence::Maybe),
        (b"swapper 3\nswapper;idle 4\n", Confidence::Maybe),
        (b"<module> (a.py:1);f 3\n", Confidence::Maybe),
        (b"[unknown];f 3\n", Confidence::Maybe),
        // LispWorks quotes the names of roots.
        (b"\"Root\";\"main\";f 3\n", Confidence::Maybe),
        (b"\"a;b\" 1\n", Confidence::Maybe),
        (b"\"a;b\" 1\nprose\n", Confidence::No),
        (b"{main};f 3\n", Confidence::Maybe),
        (b"{main};f 3\n{main};f\n", Confidence::Maybe),
        (b"{main} 3\n", Confidence::Maybe),
        (b"{} 3\n", Confidence::Maybe),
        (b"[{\"a;b\"}];f 3\n", Confidence::Maybe),
        (b"{\"a;b\": 3\n", Confidence::No),
        (b"{\"a;b\", 3\n", Confidence::No),
        (b"[ 3\n", Confidence::No),
        (b" 1\n", Confidence::Maybe),
        (b" 1\nmain;f 2\n", Confidence::Maybe),
        (b"  1\n", Confidence::No),
        (b" a;b 1\n", Confidence::Maybe),
        (b" a;b 1\nprose\n", Confidence::No),
        (b"a\tb;c 1\n", Confidence::Maybe),
        (b"\x1b[1m;c 1\n", Confidence::Maybe),
        (b"main 3\nf 4\n", Confidence::Maybe),
        (b"main 3\nf 4\nand so on\n", Confidence::No),
        (b"+ 3\n", Confidence::Maybe),
        (b"* 3\n", Confidence::No),
        (b"a;b: 3\n", Confidence::Maybe),
        (b"at:put: 3\nmain 4\n", Confidence::Maybe),
        (b"year: 3\nmonth: 4\n", Confidence::No),
        (b"16 400\n17 300\n", Confidence::No),
        (b"16 400\na;b 1\n", Confidence::Maybe),
        (b"      2 main 1\n      3 f 1\n", Confidence::No),
        (b"P12;T0:12 100\nP12;T0:12;main;f 100\n", Confidence::Maybe),
        (b"P12;T0:12 100\n", Confidence::Maybe),
        (b"P12;T0:12;main 100\n", Confidence::Maybe),
        (&long_php, Confidence::Maybe),
        (&long, Confidence::Maybe),
        (&json, Confidence::No),
        (&damaged_json, Confidence::No),
        (b"", Confidence::No),
        (b"a;b", Confidence::No),
        (b"a;b c\na;b 1\n", Confidence::No),
        (b"version: 1\ncreator: x\nfn=a;b 4\n", Confidence::No),
        (b"P12;T0:12;a.py:f:3 100\n", Confidence::No),
        (b"\t1585 a;b 1\n", Confidence::No),
        (b"P12;T0:12;a.py:f:3 100,0,8\n", Confidence::No),
        (b"a;b\x00c 1\n", Confidence::No),
    ];
    let sniff = format_named("folded").expect("a format").sniff;
    for (head, expected) in table {
        assert_eq!(sniff(head), *expected, "{}", head.escape_ascii());
    }
}

/// Frames that a stack shares with the stack before it are not read again.
#[test]
fn stacks_equal_their_lines_split_at_semicolons() {
    let lines = [
        "a;b;c",
        "a;b",
        "a;bc",
        "a",
        "",
        "",
        ";",
        ";a",
        ";a;",
        ";a",
        "a;",
        "a;b",
        "",
        "a;b;c;d",
        "a;x;c;d",
        "ab;x",
        "ab;x;;y",
        "ab;x;;",
        "ab;x;",
        "a-frame-longer-than-a-chunk-of-32-bytes;b;c",
        "a-frame-longer-than-a-chunk-of-32-bytes;b;d",
        "a-frame-longer-than-a-chunk-of-32-bytes;b",
    ];
    assert_eq!(read_stacks(&lines), lines);
    let mut expected: Vec<(&str, usize)> = Vec::new();
    for (number, line) in (1..).zip(lines) {
        for name in line.split(';') {
            if expected.iter().all(|(known, _)| *known != name) {
                expected.push((name, number));
            }
        }
    }
    // Each function is announced once, at the first line that has it.
    let mut functions = Vec::new();
    let mut recorder = Recorder::new(|at, event| {
        if let Some(name) = event.strip_prefix("function ") {
            functions.push((name.to_owned(), at.line));
        }
    });
    let file = lines.join(" 1\n") + " 1\n";
    let mut input = open(file.as_bytes());
    let folded = format_named("folded").expect("a format");
    let result = folded.read(&mut input, &Options::default(), &mut recorder);
    result.expect("stacks");
    assert_eq!(functions.len(), expected.len());
    let functions: HashMap<_, _> = functions.into_iter().collect();
    for (name, line) in expected {
        assert_eq!(functions.get(name), Some(&Some(line as u64)), "{name:?}");
    }
}

/// Equal texts are one function, whatever comes between them.
#[test]
fn frames_of_equal_text_are_one_function() {
    let lines = ["", "a", "ab", "b", "⎕SE", "⎕SE", "b", "ab", "a", "", "c"];
    assert_eq!(read_stacks(&lines), lines);
    let file = lines.join(" 1\n") + " 1\n";
    let functions = read_events_of("function", "folded", file.as_bytes());
    assert_eq!(functions, ["", "a", "ab", "b", "⎕SE", "c"]);
}

/// Reads one chunk after the other, and keeps the number of samples emitted before each chunk.
struct CountingReader<'c> {
    chunk: Cursor<String>,
    chunks: std::vec::IntoIter<String>,
    samples: &'c Cell<usize>,
    counts: &'c RefCell<Vec<usize>>,
}

impl Read for CountingReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.chunk.position() == self.chunk.get_ref().len() as u64 {
            self.chunk = Cursor::new(self.chunks.next().unwrap_or_default());
            self.counts.borrow_mut().push(self.samples.get());
        }
        self.chunk.read(buffer)
    }
}

/// Lines wait until 32 of them, 256 new frames or 64 KiB of their text can be looked up together.
#[test]
fn few_lines_wait_before_they_are_emitted() {
    let (short, deep, long) = ("a;b", ";".repeat(MOST_NEW), "x".repeat(MOST_TEXT));
    let several = vec![short; TOGETHER];
    let lines = [several.as_slice(), &several, &[&deep, short, &long, short]].concat();
    // The first line fills what formats may look at, so that one read follows for each other line.
    let mut chunks = vec![format!("# {:x<1$}\n", "", HEAD)];
    chunks.extend(lines.iter().map(|line| format!("{line} 1\n")));
    let (samples, counts) = (Cell::new(0), RefCell::default());
    let reader = CountingReader {
        chunk: Cursor::default(),
        chunks: chunks.into_iter(),
        samples: &samples,
        counts: &counts,
    };
    let mut recorder = Recorder::new(|_, event| {
        samples.set(samples.get() + usize::from(event.starts_with("sample ")));
    });
    let mut input =
        Input::new(Box::new(reader), Limits::default(), Stop::default()).expect("a readable head");
    let folded = format_named("folded").expect("a format");
    let result = folded.read(&mut input, &Options::default(), &mut recorder);
    result.expect("stacks");
    drop((recorder, input));
    let mut steps: Vec<usize> = counts.take();
    steps.push(samples.get());
    steps.dedup();
    assert_eq!(steps, [0, 32, 64, 65, 67, 68]);
}

#[test]
fn stack_above_maximum_depth_is_refused_with_name_of_limit() {
    let mut stack = ";".repeat(MOST_FRAMES - 1);
    let (_, result) = read_events("folded", format!("{stack} 1\n").as_bytes());
    result.expect("the maximum depth");
    stack.push(';');
    // A last frame with a name, or the semicolon would close the frame before it.
    let (_, result) = read_events("folded", format!("{stack}a 1\n").as_bytes());
    let message = result.expect_err("too deep").to_string();
    assert!(
        message.contains("1048576 frames in one stack (limit: frames of a stack)"),
        "{message}"
    );
}

#[test]
fn last_blank_separates_stack_and_number() {
    let table: &[(&str, Option<(&str, &str)>)] = &[
        ("a;b 1", Some(("a;b", "1"))),
        ("a b;c d  12", Some(("a b;c d", "12"))),
        ("a;b\t1", Some(("a;b", "1"))),
        (" 1", Some(("", "1"))),
        ("a;b ", None),
        ("a;b", None),
    ];
    for (line, expected) in table {
        let (events, result) = read_events("folded", format!("{line}\n").as_bytes());
        let samples: Vec<_> = events
            .iter()
            .filter_map(|event| event.strip_prefix("sample "))
            .collect();
        assert_eq!(result.is_ok(), expected.is_some(), "{line}");
        let expected = expected.map(|(stack, number)| {
            format!(
                "{} calls unknown samples {number}",
                stack.replace(';', " > ")
            )
        });
        assert_eq!(samples, expected.into_iter().collect::<Vec<_>>(), "{line}");
    }
}

#[test]
fn austin_stack_begins_with_a_thread() {
    let table: &[(&str, bool)] = &[
        ("P1;T0:1", true),
        ("P11738;T0:11738;a.py:f:1", true),
        ("P1;T7f6a", true),
        ("T0x7f6a;a.py:f:1", true),
        ("P1", false),
        ("P1;a.py:f:1", false),
        ("P;T1", false),
        ("Px;T1", false),
        ("Test.py:f:3", false),
        ("Tea:bad:3", false),
        ("T", false),
        ("main;T1", false),
        ("", false),
    ];
    for (stack, expected) in table {
        let (_, result) = read_events("austin", format!("{stack} 100\n").as_bytes());
        assert_eq!(result.is_ok(), *expected, "{stack}");
    }
}

#[test]
fn austin_line_has_one_or_three_numbers() {
    let table: &[(&str, &str, Option<&str>)] = &[
        ("100", "wall", Some("time 100000")),
        // A negative number is a number, and not a time.
        ("-100", "wall", None),
        ("-100", "memory", Some("freed 100")),
        (
            "100,0,-4096",
            "full",
            Some("time 100000 cpu_time 100000 freed 4096"),
        ),
        ("100,1,0", "full", Some("time 100000 alloc 0")),
        ("100,2,0", "full", None),
        ("100,0", "full", None),
        ("100,0,0,0", "full", None),
        ("", "wall", None),
        ("-", "memory", None),
        ("1.5", "wall", None),
        ("1234567890123456", "wall", None),
    ];
    for (numbers, mode, expected) in table {
        let file = format!("# austin: 3.0.0\n# mode: {mode}\n\nP1;T0:1;a.py:f:1 {numbers}\n");
        let (events, result) = read_events("austin", file.as_bytes());
        assert_eq!(result.is_ok(), expected.is_some(), "{numbers}");
        let sample = events
            .iter()
            .find_map(|event| event.split_once(" calls unknown "));
        assert_eq!(sample.map(|(_, values)| values), *expected, "{numbers}");
    }
}
