//! Costs that are 0 in base, in every metric of a profile and for figures that vary in several ways: a function that both sides have is neither
//! new nor gone, and its growth exceeds every limit in percent.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::program::command;

/// Events of the profiles: the first one is the usual metric.
const EVENTS: [&str; 4] = ["Ir", "Dw", "D1mr", "AllocCost"];
/// Number of functions whose cost does not change.
const OTHERS: u64 = 12;
/// Number of runs of each side.
const RUNS: u64 = 5;

/// Writes a run in which `parse` costs `cost` in one event. The costs of the others vary from run to run.
fn write_run(path: &Path, event: usize, run: u64, cost: u64) {
    let mut text = format!("version: 1\ncmd: ./a\nevents: {}\n", EVENTS.join(" "));
    for function in 0..OTHERS {
        let own = 10_000 + (function * 7 + run * 13) % 17;
        let _ = writeln!(
            text,
            "\nfl=a.c\nfn=f{function}\n{function} {own} {own} {own} {own}"
        );
    }
    let costs: Vec<String> = (0..EVENTS.len())
        .map(|at| if at == event { cost } else { 5000 + run }.to_string())
        .collect();
    let _ = writeln!(text, "\nfl=a.c\nfn=parse\n99 {}", costs.join(" "));
    fs::write(path, text).expect("a file");
}

/// Returns the output and the exit code of the program.
fn run(folder: &Path, arguments: &[&str]) -> (String, Option<i32>) {
    let output = command()
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the program starts");
    let text = String::from_utf8(output.stdout).expect("text");
    (text, output.status.code())
}

#[test]
fn growth_from_zero_exceeds_every_percentage_in_every_metric() {
    for (at, event) in EVENTS.iter().enumerate() {
        let folder = tempfile::tempdir().expect("a folder");
        for (side, cost) in [("zero", 0), ("some", 4000)] {
            fs::create_dir(folder.path().join(side)).expect("a folder");
            for number in 0..RUNS {
                let path = folder.path().join(format!("{side}/{number}.callgrind"));
                write_run(&path, at, number, if cost == 0 { 0 } else { cost + number });
            }
        }
        let rules = ["any", "fn 'parse'", "sum fn 'parse'"];
        let lines = rules.map(|rule| format!("{rule} <= +900 % metric {event}\n"));
        fs::write(folder.path().join("a.budget"), lines.concat()).expect("a file");
        let noises: &[&str] = match at {
            0 => &["exact", "timed", "sampled"],
            _ => &["exact"],
        };
        for noise in noises {
            for (base, new, verdict, code) in [
                ("zero", "some", "slower", Some(1)),
                ("some", "zero", "faster", Some(0)),
            ] {
                let how = ["--metric", event, "--noise", noise];
                let asked = [&["diff", base, new, "--format", "json"], &how[..]].concat();
                let (text, _) = run(folder.path(), &asked);
                let answer: Value = serde_json::from_str(&text).expect("JSON");
                let rows = answer["rows"].as_array().expect("rows");
                let row = rows.iter().find(|row| row["function"] == "parse");
                let row = row.expect("a row of the function");
                assert_eq!(row["verdict"], verdict, "{event} {noise}: {row}");
                assert_eq!(row["status"], "both", "{event} {noise}: {row}");
                let asked = ["gate", "--budget", "a.budget", base, new, "--noise", noise];
                let (text, ended) = run(folder.path(), &asked);
                assert_eq!(ended, code, "{event} {noise}: {text}");
            }
        }
        for (number, side) in ["zero", "some"].iter().enumerate() {
            let count = format!("commit_count={number}");
            let file = format!("{side}/0.callgrind");
            let asked = ["import", &file, "--tag", &count, "--db", "a.db"];
            assert_eq!(run(folder.path(), &asked).1, Some(0), "{event}");
        }
        let how = ["--metric", event, "--noise", "exact"];
        let asked = [&["steps", "--db", "a.db", "--format", "json"], &how[..]].concat();
        let (text, _) = run(folder.path(), &asked);
        let answer: Value = serde_json::from_str(&text).expect("JSON");
        let rows = answer["rows"].as_array().expect("rows");
        let row = rows.iter().find(|row| row["function"] == "parse");
        assert_eq!(row.expect("a step")["before"], 0.0, "{event}: {text}");
    }
}
