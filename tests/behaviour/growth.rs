//! The work of reports, filters, exports and shown statements grows in proportion to the run. It is counted in the stock sqlite3
//! shell, whose planner differs from the bundled one, and in the program itself.

#![expect(
    clippy::disallowed_methods,
    reason = "small files of our own, and a process that measures itself"
)]

use std::ffi::OsString;
use std::io::{self, Write as _};
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

/// The environment variable of the process that callgrind runs.
const IS_MEASURED: &str = "GROWTH_IS_MEASURED";

#[test]
fn instructions_of_reports_filters_and_exports_grow_linearly() {
    // Tables of larger runs are kept in a file, those of smaller ones cost less than the start of a report.
    let sizes = [120, 240, 480];
    let measurements = measurements();
    if env::var_os(IS_MEASURED).is_some() {
        let (smallest, runs) = (run(1), sizes.map(run));
        for (_, act) in &measurements {
            // This call initializes statics, which the measured calls then only read.
            act(&smallest);
            for run in &runs {
                measured(act, run);
            }
        }
        return;
    }
    let mut valgrind = tools::command("valgrind");
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("counts");
    let mut out_file = OsString::from("--callgrind-out-file=");
    out_file.push(&out);
    let output = valgrind
        .args(["--tool=callgrind", "--quiet"])
        .args(["--zero-before", "--dump-after"].map(|option| format!("{option}={MEASURED}")))
        .arg(out_file)
        .arg(env::current_exe().expect("it runs"))
        .args(["--exact", "--test-threads=1"])
        .arg("growth::instructions_of_reports_filters_and_exports_grow_linearly")
        .env(IS_MEASURED, "")
        .output()
        .expect("valgrind starts");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let mut wrong = Vec::new();
    for (at, (name, _)) in measurements.iter().enumerate() {
        let counts = [1, 2, 3].map(|size| {
            let file = format!("{}.{}", out.display(), 3 * at + size);
            let text = fs::read_to_string(&file).expect("a count for each measurement");
            let count = text.lines().find_map(|line| line.strip_prefix("totals: "));
            count.expect("a total").parse::<u64>().expect("a number")
        });
        if let Err(found) = check_growth(counts) {
            wrong.push(format!("{name}: {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
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
