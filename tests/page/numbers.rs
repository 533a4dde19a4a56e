//! The script of the page writes numbers and verdicts as the program does: it is asked by Node.js (Debian: nodejs).

use std::io::Write as _;
use std::process::Stdio;

use profdb::compare::judge::Verdict;
use profdb::report::render;
use profdb::store::MetricInfo;
use profdb::text::judged::{probability, ratio, short_commit};
use serde_json::{Value, json};

use crate::shown::repository;
use crate::support::tools;

/// The figure of a metric with its unit.
fn figure(unit: &str, value: f64) -> String {
    render::total(&MetricInfo {
        metric_id: 1,
        name: "cost".to_owned(),
        unit: unit.to_owned(),
        total: value,
        timer_readings: false,
        noise: profdb::events::Noise::default(),
        observations: None,
        quantum: None,
    })
}

/// Evaluates an expression over the exports of a module of the page and over `input`. Skips the test without Node.js.
fn answered(module: &str, exported: &str, expression: &str, input: &Value) -> Vec<String> {
    let mut node = tools::command("node");
    let module = repository(module).display().to_string();
    let script = format!(
        "import {{ {exported} }} from {};
         const input = JSON.parse((await import('node:fs')).readFileSync(0, 'utf8'));
         console.log(JSON.stringify({expression}));",
        json!(format!("file://{module}"))
    );
    let mut child = node
        .args(["--input-type=module", "--eval", &script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it runs");
    let mut pipe = child.stdin.take().expect("a pipe");
    write!(pipe, "{input}").expect("it reads");
    drop(pipe);
    let output = child.wait_with_output().expect("it ends");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn numbers_are_written_as_by_the_program() {
    let mut values: Vec<f64> = vec![
        0.0,
        -0.0,
        0.04,
        0.05,
        0.15,
        0.25,
        0.35,
        0.45,
        0.125,
        0.375,
        2.5,
        12.25,
        99.95,
        999.0,
        999.949,
        999.95,
        1000.0,
        1023.0,
        1024.0,
        4999.0,
        5000.0,
        49_990.0,
        999_949.0,
        999_950.0,
        -68_400_494.9,
        3_736_616.0,
        1e9,
        2.6e9,
        1e12,
        1e15,
        1e21,
        1.5e22,
        219_155_368.000_000_03,
        4_503_599_627_370_497.5,
    ];
    // The binary digits of these have no pattern.
    let mut seed = 7_u64;
    for _ in 0..20_000 {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        #[expect(clippy::cast_precision_loss, reason = "any number will do")]
        let digits = (seed >> 24) as f64;
        let exponent = i32::try_from(seed % 18).expect("small") - 9;
        values.push(digits * 10_f64.powi(exponent - 3));
        // Ties, as far as binary digits have them.
        values.push((digits % 1e6) + 0.25);
        values.push((digits % 1e6) / 8.0);
    }
    let units = ["ns", "bytes", "count"];
    let expected: Vec<String> = units
        .iter()
        .flat_map(|unit| values.iter().map(|value| figure(unit, *value)))
        .collect();
    let expression =
        "input.units.flatMap((unit) => input.values.map((value) => figure('cost', unit, value)))";
    let input = json!({"units": units, "values": values});
    let found = answered("web/numbers.js", "figure", expression, &input);
    let all = units
        .iter()
        .flat_map(|unit| values.iter().map(move |value| (unit, value)));
    for ((about, expected), found) in all.zip(&expected).zip(&found) {
        assert_eq!(found, expected, "{about:?}");
    }
    assert_eq!(found.len(), expected.len());
}

#[test]
fn ratios_are_written_as_by_the_program() {
    const ALL: f64 = f64::INFINITY;
    let table = [
        (Some(1.266), Some((1.191, 1.349)), "1.27 (1.19..1.35)"),
        (Some(0.004), Some((0.001, 0.006)), "0.00 (0.00..0.01)"),
        (Some(1.0), Some((0.999, 1.001)), "1.00 (1.00..1.00)"),
        (Some(1.125), None, "1.12"),
        // What one side has not: how much it may be at most, or is at least.
        (None, Some((0.0, 0.0004)), "(0..0.000400)"),
        (None, Some((0.0, 0.0123)), "(0..0.0123)"),
        (None, Some((0.0, 0.5)), "(0..0.500)"),
        (None, Some((0.0, 3.0)), "(0..3.00)"),
        (None, Some((0.0, 0.000_012)), "(0..0.000012)"),
        (None, Some((12.344, ALL)), "(12.34..)"),
        (None, Some((0.034, ALL)), "(0.0340..)"),
        // No upper end.
        (Some(7.0), Some((2.5, ALL)), "7.00 (2.50..)"),
        // Intervals that say nothing.
        (Some(7.0), Some((0.0, ALL)), "7.00"),
        (None, Some((0.0, ALL)), "-"),
        (Some(1.75), Some((1.75, 1.75)), "1.75"),
        (None, None, "-"),
    ];
    let input: Vec<Value> = table
        .iter()
        .map(|(ratio, interval, _)| {
            // As in the JSON of a comparison.
            let high = interval.map(|(_, high)| high);
            json!({
                "ratio": ratio, "ratio_low": interval.map(|(low, _)| low),
                "ratio_high": high.filter(|high| high.is_finite()),
            })
        })
        .collect();
    for (of, interval, expected) in table {
        assert_eq!(ratio(of, interval), expected, "{of:?} {interval:?}");
    }
    let expected: Vec<&str> = table.iter().map(|(.., expected)| *expected).collect();
    let found = answered(
        "web/judged.js",
        "ratioText",
        "input.map(ratioText)",
        &json!(input),
    );
    assert_eq!(found, expected);
}

#[test]
fn probabilities_are_written_as_by_the_program() {
    let table = [
        (0.0, "<.001"),
        (0.000_999, "<.001"),
        (0.001, ".001"),
        (0.0315, ".032"),
        (0.062_5, ".062"),
        (0.9996, "1.000"),
        (1.0, "1.000"),
    ];
    for (value, expected) in table {
        assert_eq!(probability(value), expected);
    }
    let input = json!(table.map(|(value, _)| value));
    let expected = table.map(|(_, expected)| expected);
    let asked = answered(
        "web/judged.js",
        "probability",
        "input.map(probability)",
        &input,
    );
    assert_eq!(asked, expected);
}

#[test]
fn commits_are_cut_as_by_the_program() {
    let table = [
        ("0123456789abcdef0123456789abcdef01234567", "0123456789ab"),
        ("0123456789AB", "0123456789AB"),
        ("c1", "c1"),
        (
            "before-the-change-of-parsers",
            "before-the-change-of-parsers",
        ),
        ("", ""),
    ];
    for (commit, expected) in table {
        assert_eq!(short_commit(commit), expected);
    }
    let input = json!(table.map(|(commit, _)| commit));
    let expected = table.map(|(_, expected)| expected);
    let asked = answered(
        "web/texts.js",
        "shortCommit",
        "input.map(shortCommit)",
        &input,
    );
    assert_eq!(asked, expected);
}

#[test]
fn the_page_has_the_verdicts_of_the_program() {
    let expected = Verdict::ALL.map(Verdict::name);
    let asked = answered("web/judged.js", "SIGNS", "Object.keys(SIGNS)", &json!(null));
    assert_eq!(asked, expected);
}
