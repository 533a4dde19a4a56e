//! The script of the page writes numbers as the program does: it is asked by Node.js (Debian: nodejs).

use std::io::Write as _;
use std::process::{Command, Stdio};

use profdb::report::render;
use profdb::store::MetricInfo;
use serde_json::json;

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

#[test]
fn numbers_are_written_as_by_the_program() {
    let Some(node) = tools::find("node") else {
        return;
    };
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
    let module = repository("web/numbers.js").display().to_string();
    let script = format!(
        "import {{ figure }} from {};
         const {{ units, values }} = JSON.parse((await import('node:fs')).readFileSync(0, 'utf8'));
         console.log(JSON.stringify(units.flatMap((unit) => values.map((value) => figure('cost', unit, value)))));",
        json!(format!("file://{module}"))
    );
    let mut child = Command::new(node)
        .args(["--input-type=module", "--eval", &script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it runs");
    let mut input = child.stdin.take().expect("a pipe");
    write!(input, "{}", json!({"units": units, "values": values})).expect("it reads");
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    let found: Vec<String> = serde_json::from_slice(&output.stdout).expect("JSON");
    let all = units
        .iter()
        .flat_map(|unit| values.iter().map(move |value| (unit, value)));
    for ((about, expected), found) in all.zip(&expected).zip(&found) {
        assert_eq!(found, expected, "{about:?}");
    }
    assert_eq!(found.len(), expected.len());
}
