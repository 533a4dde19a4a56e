//! Recordings of one program by different profilers: what is one function by the rules is compared, and nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::support::program;
use crate::support::samples_of::{bytes, imported};

/// Pairs of recordings of one program each, with their formats.
const PAIRS: [[(&str, &str); 2]; 9] = [
    [
        ("pstats", "unchanged/pstats/01.pstats.gz"),
        ("speedscope", "unchanged/speedscope/01.json.gz"),
    ],
    [
        ("pstats", "pstats/work.pstats"),
        ("speedscope", "speedscope/work.speedscope.json"),
    ],
    [
        ("pstats", "pstats/work.pstats"),
        ("austin", "austin/work.cpu.austin"),
    ],
    [
        ("austin", "austin/work.cpu.austin"),
        ("speedscope", "speedscope/work.speedscope.json"),
    ],
    [
        ("speedscope", "speedscope/work.speedscope.json"),
        ("folded", "folded/py-spy.folded"),
    ],
    [
        ("callgrind", "callgrind/plain.out.gz"),
        ("gprof", "gprof/gprof-b.txt"),
    ],
    [
        ("callgrind", "callgrind/plain.out.gz"),
        ("perf_script", "perf_script/perf-fp.script.txt.gz"),
    ],
    [
        ("perf_script", "perf_script/perf-fp.script.txt.gz"),
        ("folded", "folded/perf-fp.inferno.folded"),
    ],
    [
        ("firefox", "firefox/app.samply.json.gz"),
        ("perf_script", "firefox/app.perf-script.txt.gz"),
    ],
];

/// Name, module and file.
type Identity = [String; 3];

/// Own cost of each identity of code in the default metric of a recording, and the metric with its unit; identities that stand for all
/// nameless code of a module are told apart.
struct Recording {
    costs: BTreeMap<Identity, f64>,
    nameless: BTreeSet<Identity>,
    metric: [String; 2],
    /// What the whole run cost: threads may have samples outside of all functions.
    total: f64,
}

fn recording((format, name): (&str, &str)) -> Recording {
    let database = imported(format, &bytes(name));
    let sql = "SELECT i.name, i.module, i.file, i.unnamed, t.exclusive, d.name, d.unit, d.total
               FROM runs AS r
               JOIN metrics AS d ON d.metric_id = r.default_metric_id
               JOIN function_info AS t USING (metric_id)
               JOIN functions AS f USING (function_id)
               JOIN identities AS i USING (identity_id)
               WHERE i.class = 'code'
               ORDER BY f.function_id";
    let mut statement = database.connection().prepare(sql).expect("tables");
    let mut rows = statement.query([]).expect("rows");
    let mut recording = Recording {
        costs: BTreeMap::new(),
        nameless: BTreeSet::new(),
        metric: Default::default(),
        total: 0.0,
    };
    while let Some(row) = rows.next().expect("a row") {
        let text = |at: usize| row.get::<_, String>(at).expect("a text");
        let identity = [text(0), text(1), text(2)];
        if row.get(3).expect("a flag") {
            recording.nameless.insert(identity.clone());
        }
        let cost: Option<f64> = row.get(4).expect("a number");
        *recording.costs.entry(identity).or_default() += cost.unwrap_or(0.0);
        recording.metric = [text(5), text(6)];
        recording.total = row.get(7).expect("a number");
    }
    recording
}

fn compared(pair: &[(&str, &str); 2], more: &[&str]) -> (Option<Value>, String) {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples");
    let output = program::command()
        .current_dir(samples)
        .args(["diff", "--all", "--format", "json", pair[0].1, pair[1].1])
        .args(more)
        .output()
        .expect("our own program");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let answer = output.status.success();
    (
        answer.then(|| serde_json::from_slice(&output.stdout).expect("JSON")),
        said,
    )
}

#[test]
fn profilers_are_compared_by_shares_and_by_the_rules() {
    for pair in &PAIRS {
        let [base, new] = pair.map(recording);
        if base.metric != new.metric {
            // Names that differ in one unit are one metric to two profilers; units that differ are refused.
            let (answer, said) = compared(pair, &[]);
            assert_eq!(
                answer.is_some(),
                base.metric[1] == new.metric[1],
                "{pair:?}: {said}"
            );
            assert!(
                answer.is_some() || said.contains("--normalize total compares shares"),
                "{said}"
            );
        }
        let (answer, said) = compared(pair, &["--normalize", "total"]);
        let answer = answer.unwrap_or_else(|| panic!("{pair:?}: {said}"));
        let list = |name: &str| answer[name].as_array().expect("a list").clone();
        let folders = [list("folders"), list("modules")].concat();
        let mut one = BTreeSet::new();
        for row in answer["rows"].as_array().expect("rows") {
            let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
            let mut identity = [text("function"), text("module"), text("file")];
            // All nameless code of a module is one row, which says of which.
            if identity[0] == format!("(no name) in {}", identity[1]) {
                "(no name)".clone_into(&mut identity[0]);
            }
            let sides = [
                base.costs.contains_key(&identity),
                new.costs.contains_key(&identity),
            ];
            match text("status").as_str() {
                "both" if row["matched_by"] == "folder" || row["matched_by"] == "module" => {
                    assert!(!folders.is_empty(), "{row}");
                }
                "both" => {
                    assert_eq!(sides, [true, true], "{pair:?}: {row}");
                    one.insert(identity);
                }
                "new" => assert_eq!(sides, [false, true], "{pair:?}: {row}"),
                "gone" => assert_eq!(sides, [true, false], "{pair:?}: {row}"),
                status => panic!("{status}: {row}"),
            }
        }
        for (side, recording) in [("base", &base), ("new", &new)] {
            let total: f64 = recording.costs.values().sum();
            let matched: f64 = recording
                .costs
                .iter()
                .filter(|(identity, _)| {
                    one.contains(*identity) && !recording.nameless.contains(*identity)
                })
                .map(|(_, cost)| cost)
                .sum();
            let told = answer[side]["matched_pct"].as_f64().expect("a number");
            if folders.is_empty() {
                let expected = 100.0 * matched / total;
                assert!(
                    (told - expected).abs() < 1e-6,
                    "{pair:?}, {side}: {told}, not {expected}"
                );
            }
            assert_eq!(answer[side]["metric"], recording.metric[0], "{pair:?}");
            assert_eq!(answer[side]["unit"], recording.metric[1], "{pair:?}");
            // Shares add up to all that functions cost.
            let rows = answer["rows"].as_array().expect("rows");
            let sum: f64 = rows.iter().filter_map(|row| row[side].as_f64()).sum();
            let all = 100.0 * total / recording.total;
            assert!(
                (sum - all).abs() < 1e-6,
                "{pair:?}, {side}: {sum}, not {all}"
            );
        }
    }
}
