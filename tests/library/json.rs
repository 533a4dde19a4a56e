//! JSON that importers read: texts, numbers, and the members by which a format is recognised.

use profdb::formats::{Confidence, format_named};

use crate::support::imports::read_events;

#[test]
fn texts_are_unescaped_or_refused() {
    let table: &[(&str, Result<&str, &str>)] = &[
        (r#""plain""#, Ok("plain")),
        (r#""\"\\\/\b\f\n\r\t""#, Ok("\"\\/\u{8}\u{c}\n\r\t")),
        (r#""\u8a08\ud83d\ude00""#, Ok("計\u{1f600}")),
        (r#""\ud83d!""#, Ok(r"\x{ed}\x{a0}\x{bd}!")),
        (
            r#""\udf00\udbff""#,
            Ok(r"\x{ed}\x{bc}\x{80}\x{ed}\x{af}\x{bf}"),
        ),
        (r#""gr\udcf6\udcdfe""#, Ok(r"gr\x{f6}\x{df}e")),
        (
            r#""\x""#,
            Err("line 1 (byte 19): expected an escape sequence, found \"\\\\x\\\"\""),
        ),
        (
            r#""\u12g4""#,
            Err("line 1 (byte 19): expected an escape sequence, found \"\\\\u12g4\\\"\""),
        ),
        (
            "\"open",
            Err("line 1 (byte 23): expected `\"`, the end of a string, found the end of the file"),
        ),
    ];
    for (json, expected) in table {
        let begin = format!("[{{\"ph\":\"X\",\"name\":{json}");
        match expected {
            Ok(name) => {
                let trace = format!("{begin},\"ts\":0,\"dur\":1,\"pid\":1,\"tid\":1}}]");
                let (events, result) = read_events("chrome_trace", trace.as_bytes());
                assert!(result.is_ok(), "{json}: {result:?}");
                assert!(
                    events.contains(&format!("function {name}")),
                    "{json}: {events:?}"
                );
            }
            Err(message) => {
                let (_, result) = read_events("chrome_trace", begin.as_bytes());
                assert_eq!(result.expect_err(json).to_string(), *message, "{json}");
            }
        }
    }
    let (_, result) = read_events("speedscope", b"{\"shared\":{\"frames\":[{\"name\":1");
    assert_eq!(
        result.expect_err("a number").to_string(),
        "line 1 (byte 29): expected a string, found \"1\""
    );
}

/// Times in microseconds are rounded to nanoseconds, without a rounding to REAL before.
#[test]
fn microseconds_become_nanoseconds() {
    // Beginning and end of a call, and its duration in nanoseconds.
    let table = [
        ("0", "12", 12_000.0),
        ("1700000000000001", "1700000000000001.25", 250.0),
        ("0", "0.0004", 0.0),
        ("0", "0.0005", 1.0),
        ("-1.9996", "0", 2_000.0),
        ("-0.5", "0", 500.0),
        ("0", "1.5e3", 1_500_000.0),
        ("9223372036854774", "9223372036854775", 1_000.0),
    ];
    let read = |begins: &str, ends: &str| {
        let event =
            |phase, time| format!(r#"{{"ph":"{phase}","name":"f","ts":{time},"pid":1,"tid":1}}"#);
        let trace = format!("[{},{}]", event("B", begins), event("E", ends));
        read_events("chrome_trace", trace.as_bytes())
    };
    for (begins, ends, expected) in table {
        let (events, result) = read(begins, ends);
        result.expect("a trace");
        let cost = format!("cost time exclusive {expected}");
        assert!(
            events.iter().any(|event| event.starts_with(&cost)) || expected == 0.0,
            "{begins} to {ends}: {events:#?}"
        );
        let costs = events.iter().filter(|event| event.starts_with("cost"));
        assert_eq!(
            costs.count(),
            usize::from(expected > 0.0),
            "{begins} to {ends}: {events:#?}"
        );
    }
    for text in [
        "9223372036854776",
        "1e300",
        "",
        "-",
        ".5",
        "1.2.3",
        "1-2",
        "1e",
    ] {
        let (_, result) = read(text, text);
        let error = result.expect_err(text).to_string();
        assert!(
            error.contains("expected microseconds in `ts`"),
            "{text}: {error}"
        );
    }
}

/// A format is recognised by names of the outermost object, or of the first object of an array.
#[test]
fn members_of_the_outermost_object_are_seen() {
    let table: &[(&str, Confidence)] = &[
        ("", Confidence::No),
        ("1", Confidence::No),
        ("{1,\"traceEvents\":[]}", Confidence::No),
        ("{{\"traceEvents\":[]}", Confidence::No),
        ("[1,{\"ph\":\"X\",\"ts\":1}]", Confidence::No),
        ("{", Confidence::No),
        ("{}", Confidence::No),
        ("{\"traceEvents\":[", Confidence::Yes),
        (" [ {\"ph\":\"b\",\"ts\":1},{", Confidence::Yes),
        // The second object of an array is not looked at.
        (" [ {\"ph\":\"b\"},{\"ts\":1}", Confidence::No),
        // The name comes after an object that holds others, and a blank before its colon.
        (
            "{\"a\":{\"b\":[{\"c\":1}]},\"traceEvents\" :\"e\\\"f:\",\"g",
            Confidence::Yes,
        ),
        (
            "{\"a\":{\"b\":[{\"traceEvents\":1}]},\"d\" :\"e\\\"f:\",\"g",
            Confidence::No,
        ),
        ("{\"d\" :\"e\\\",\\\"traceEvents\\\":\",\"g", Confidence::No),
        // A name whose end is not there, and a name with an escaped quote.
        ("{\"a\":1,\"traceEvents", Confidence::No),
        ("{\"a\":1,\"traceEvents\\\":2", Confidence::No),
    ];
    let sniff = format_named("chrome_trace").expect("a format").sniff;
    for (head, expected) in table {
        assert_eq!(sniff(head.as_bytes()), *expected, "{head}");
    }
}
