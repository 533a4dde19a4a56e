//! The work of reports, filters, exports and shown statements grows in proportion to the run. It is counted in the stock sqlite3
//! shell, whose planner differs from the bundled one, and in the program itself.

#![expect(
    clippy::disallowed_methods,
    reason = "small files of our own, and a process that measures itself"
)]

use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::iter::once;
use std::path::Path;
use std::process::Stdio;
use std::{env, fs, thread};

use profdb::formats::EXPORTS;
use profdb::report::REPORTS;
use profdb::report::header::{Parameter, ParameterDef};
use profdb::report::render::{Layout, render};

use crate::support::growth::{Run, check_growth, requests, run};
use crate::support::tools;

/// The prefix of the lines in which the shell prints the number of steps.
const STEPS: &str = "VM-steps: ";

/// Statements that SQLite 3.40 answers in quadratic time. It estimates few callers behind a window function, and makes no index
/// for the groups that it joins with them. SQLite 3.54 makes one (tests/properties/growth.rs).
const GROUPS_OF_CALLERS: [&str; 3] = [
    "report calls by=identity+fn=leaf",
    "report calls by=module+fn=leaf",
    "report calls by=file+fn=leaf",
];

#[test]
fn shown_statements_grow_linearly_in_the_stock_shell() {
    tools::require("sqlite3");
    let runs = [30, 60, 120].map(run);
    let mut names = Vec::new();
    // A statement that takes too many steps ends the shell.
    let mut script =
        ".bail on\n.mode list\n.stats vmstep\n.progress 1000 --limit 20000 --reset\n".to_owned();
    for report in REPORTS {
        for (name, request) in requests(report) {
            names.push(format!("report {} {name}", report.name));
            script += &runs[0]
                .statements(report, &request)
                .expect("a report understands it");
        }
    }
    let steps = runs.each_ref().map(|run| count_steps(&run.path, &script));
    let all = names.iter().zip(&steps[0]).zip(&steps[1]).zip(&steps[2]);
    assert_eq!(steps.each_ref().map(Vec::len), [names.len(); 3]);
    let wrong: Vec<String> = all
        .filter(|(((name, _), _), _)| !GROUPS_OF_CALLERS.contains(&name.as_str()))
        .filter_map(|(((name, one), two), four)| {
            let wrong = check_growth([*one, *two, *four]).err()?;
            Some(format!("{name}: {wrong}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the number of steps that the shell takes for each statement of a script.
fn count_steps(database: &Path, script: &str) -> Vec<u64> {
    let mut shell = tools::command("sqlite3")
        .args(["-batch", "-readonly"])
        .arg(database)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the shell starts");
    let mut input = shell.stdin.take().expect("it is piped");
    let output = thread::scope(|scope| {
        scope.spawn(move || input.write_all(script.as_bytes()));
        shell.wait_with_output().expect("it was started")
    });
    assert!(output.status.success(), "{}", output.status);
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| line.strip_prefix(STEPS)?.trim().parse().ok())
        .collect()
}

/// The name of a measurement, and the work that it does with a run.
type Measurement = (String, Box<dyn Fn(&Run)>);

/// The name of the measured function in callgrind.
const MEASURED: &str = "behaviour::growth::measured";

/// The environment variable that lists databases and names of measurements for the process that callgrind runs.
const REQUEST: &str = "GROWTH_REQUEST";

/// Prefixes of names of measurements, and the smallest size of their runs. Most of the cost of exports grows with the run at smaller
/// sizes than that of reports. A measurement that is not clearly linear is repeated with the next size: its fixed cost may exceed
/// the differences, or larger tables may be kept in a file. Work that is not linear fails at all sizes.
const SMALLEST_SIZES: [(&str, u32); 4] = [("export ", 12), ("", 30), ("", 120), ("", 480)];

#[test]
fn instructions_of_reports_filters_and_exports_grow_linearly() {
    let measurements = measurements();
    if let Some(request) = env::var_os(REQUEST) {
        measure(&measurements, &request);
        return;
    }
    let mut wrong: Vec<(String, String)> = measurements
        .into_iter()
        .map(|(name, _)| (name, String::new()))
        .collect();
    let first = run(1);
    for (prefix, size) in SMALLEST_SIZES {
        let runs = [1, 2, 4].map(|factor| run(factor * size));
        let names: Vec<String> = wrong
            .extract_if(.., |(name, _)| name.starts_with(prefix))
            .map(|(name, _)| name)
            .collect();
        let counts = count_instructions(&first, &runs, &names);
        let repeated = names.into_iter().zip(counts);
        wrong.extend(
            repeated.filter_map(|(name, counts)| Some((name, check_growth(counts).err()?))),
        );
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Counts the instructions of measurements for three runs in a process of callgrind.
fn count_instructions(first: &Run, runs: &[Run; 3], names: &[String]) -> Vec<[u64; 3]> {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("counts");
    let mut out_file = OsString::from("--callgrind-out-file=");
    out_file.push(&out);
    let paths = once(first)
        .chain(runs)
        .map(|run| run.path.to_str().expect("plain"));
    let request: Vec<&str> = paths.chain(names.iter().map(String::as_str)).collect();
    let output = tools::command("valgrind")
        .args(["--tool=callgrind", "--quiet"])
        .args(["--zero-before", "--dump-after"].map(|option| format!("{option}={MEASURED}")))
        .arg(out_file)
        .arg(env::current_exe().expect("it runs"))
        .args(["--exact", "--test-threads=1"])
        .arg("growth::instructions_of_reports_filters_and_exports_grow_linearly")
        .env(REQUEST, request.join("\n"))
        .output()
        .expect("valgrind starts");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let count = |number: usize| {
        let file = format!("{}.{number}", out.display());
        let text = fs::read_to_string(&file).expect("a count for each measurement");
        let count = text.lines().find_map(|line| line.strip_prefix("totals: "));
        count.expect("a total").parse::<u64>().expect("a number")
    };
    (0..names.len())
        .map(|at| [1, 2, 3].map(|size| count(3 * at + size)))
        .collect()
}

/// Does the requested measurements, once for each run.
fn measure(measurements: &[Measurement], request: &OsStr) {
    let mut lines = request.to_str().expect("plain").lines();
    let runs: Vec<Run> = lines
        .by_ref()
        .take(4)
        .map(|path| Run::open(Path::new(path)))
        .collect();
    for name in lines {
        let (_, act) = measurements
            .iter()
            .find(|(known, _)| known == name)
            .expect("a measurement");
        // This call initializes statics, which the measured calls then only read.
        act(&runs[0]);
        for run in &runs[1..] {
            measured(act, run);
        }
    }
}

/// Does the measured work. Callgrind selects this function by its name.
#[inline(never)]
fn measured(act: &dyn Fn(&Run), run: &Run) {
    act(run);
}

/// Returns the measurements: every report about the whole run, the first one with every filter and path, and every export.
fn measurements() -> Vec<Measurement> {
    let mut all: Vec<Measurement> = Vec::new();
    let shown = |report, request| -> Box<dyn Fn(&Run)> {
        Box::new(move |run| {
            let mut answer = run.ask(report, &request).expect("a report understands it");
            render(&mut answer, &Layout::default(), &mut io::sink()).expect("nothing is full");
        })
    };
    for report in REPORTS {
        // The first request is about the whole run.
        let (name, request) = requests(report).swap_remove(0);
        let name = format!("report {} {name}", report.name);
        all.push((name, shown(report, request)));
    }
    let first = &REPORTS[0];
    for (name, request) in requests(first) {
        let parameters = &first.header().parameters;
        let chooses = |parameter: &&ParameterDef<'_>| {
            matches!(
                parameter.kind,
                Parameter::Filter | Parameter::Label | Parameter::Path | Parameter::Thread
            )
        };
        let mut choosing = parameters.iter().filter(chooses);
        if !name.contains('+') && choosing.any(|parameter| name.starts_with(parameter.name)) {
            let name = format!("report {} {name}", first.name);
            all.push((name, shown(first, request)));
        }
    }
    for export in EXPORTS {
        let name = format!("export {}", export.name);
        all.push((name, Box::new(move |run| run.export(export))));
    }
    all
}
