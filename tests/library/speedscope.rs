//! Times of speedscope's events.

use profdb::base::error::ImportError;

use crate::support::imports::read_events;

/// Reads a profile in which one call opens and closes at the given times, as JSON has them.
fn read_call(opens: &str, closes: &str) -> (Vec<String>, Result<(), ImportError>) {
    let file = format!(
        r#"{{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{{"frames":[{{"name":"f"}}]}},
        "profiles":[{{"type":"evented","name":"p","unit":"none","startValue":0,"endValue":0,"events":[
        {{"type":"O","frame":0,"at":{opens}}},{{"type":"C","frame":0,"at":{closes}}}]}}]}}"#
    );
    read_events("speedscope", file.as_bytes())
}

#[test]
fn durations_are_exact_however_large_the_times() {
    for (earlier, later, expected) in [
        ("0", "1", 1.0),
        ("0.25", "1.5", 1.25),
        ("-1.5", "-0.25", 1.25),
        ("-0.5", "0.25", 0.75),
        ("1700000000000000001", "1700000000000000008", 7.0),
        ("1700000000.0000010", "1700000000.0000080", 0.000_007),
        ("1.7e9", "1700000001.5", 1.5),
        ("1e-3", "2e-3", 0.001),
    ] {
        let (events, result) = read_call(earlier, later);
        result.expect("a profile");
        let duration = events.iter().find_map(|event| {
            let (_, cost) = event.split_once("cost weight exclusive ")?;
            cost.parse::<f64>().ok()
        });
        assert!(
            duration.is_some_and(|duration| (duration - expected).abs() <= expected * 1e-15),
            "{earlier} to {later}: {duration:?}, expected {expected}: {events:#?}"
        );
        let (_, result) = read_call(later, earlier);
        let error = result.expect_err("time goes backwards").to_string();
        assert!(error.contains("expected a time of at least "), "{error}");
    }
}

#[test]
fn text_that_is_not_a_time_is_refused() {
    for text in [
        "",
        "-",
        "1.2.3",
        "1e400",
        "1e40",
        "NaN",
        "-170141183460469231731687303715884105728",
        "0x10",
    ] {
        let (_, result) = read_call(text, "0");
        let error = result.expect_err(text).to_string();
        // A number in JSON ends before an `x`.
        let expected = if text == "0x10" {
            "expected `,` or `}`, found \"x10}"
        } else {
            "expected a number in `at`"
        };
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn messages_quote_times_as_the_file_has_them() {
    for text in ["0", "-3", "1.5", "-0.5", "1700000000000000001"] {
        let (_, result) = read_call(text, "-4");
        let error = result.expect_err("time goes backwards").to_string();
        assert!(
            error.ends_with(&format!(
                "expected a time of at least {text}, found -4 (`--keep-before-error` imports the part before it)"
            )),
            "{error}"
        );
    }
}
