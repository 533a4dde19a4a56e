//! Every figure of perf's own reports (`tests/samples/perf_script/*.report-*.txt`) against what our
//! views say of the same recordings, as `perf script` printed them.

#![expect(clippy::float_cmp, reason = "numbers of samples and periods are whole")]

use std::collections::BTreeMap;

use crate::support::perf_report::Report;
use crate::support::samples_of::{imported, rows, text, total};
use profdb::store::Database;

fn run(name: &str) -> Database {
    imported(
        "perf_script",
        &text(&format!("perf_script/{name}.script.txt.gz")),
    )
}

fn report(name: &str) -> Report {
    Report::read(&text(&format!("perf_script/{name}.txt")))
}

/// Binary, symbol, and the columns of a report: percentages with their two decimals, samples.
type Line = (String, String, Option<String>, String, f64);

fn percent(figure: f64) -> String {
    format!("{figure:.2}")
}

/// Addresses that belong to no symbol, as we write them; perf fills them up to 16 digits.
fn symbol(symbol: &str) -> String {
    let digits = symbol.strip_prefix("0x").unwrap_or(symbol);
    match u64::from_str_radix(digits, 16) {
        Ok(address) if digits.len() == 16 => format!("{address:#x}"),
        _ => symbol.to_owned(),
    }
}

/// What perf says of functions.
fn wanted(report: &Report, event: usize) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for row in &report.events[event].rows {
        assert_eq!(row.place[0], "work-perf", "there is one command");
        let binary = row.place[1].replace("[unknown]", "");
        lines.push((
            binary,
            symbol(&row.symbol),
            row.children.map(percent),
            percent(row.own),
            row.samples,
        ));
    }
    lines.sort_by(|a, b| a.partial_cmp(b).expect("no figure is NaN"));
    lines
}

/// What our views say of them: percentages of the periods, and samples.
fn found(database: &Database, event: &str) -> Vec<Line> {
    let sql = format!(
        "SELECT period.module, period.function, period.cumulative_pct, period.exclusive_pct, samples.exclusive
         FROM summary AS period
         JOIN summary AS samples ON samples.function_id = period.function_id AND samples.metric = '{event}.samples'
         WHERE period.metric = '{event}'"
    );
    let mut lines = rows(database, &sql, |row| {
        let module: String = row.get(0)?;
        let binary = module.rsplit('/').next().unwrap_or_default().to_owned();
        Ok((
            binary,
            row.get(1)?,
            Some(percent(row.get(2)?)),
            percent(row.get(3)?),
            row.get(4)?,
        ))
    });
    lines.sort_by(|a: &Line, b: &Line| a.partial_cmp(b).expect("no figure is NaN"));
    lines
}

#[test]
fn events_and_their_totals() {
    for (recording, reported) in [
        ("perf-fp", "perf-fp.report-children-n"),
        ("perf-two-events", "perf-two-events.report-children-n"),
    ] {
        let database = run(recording);
        let report = report(reported);
        let metrics = rows(&database, "SELECT name FROM metrics ORDER BY name", |row| {
            row.get::<_, String>(0)
        });
        let mut events: Vec<String> = report
            .events
            .iter()
            .flat_map(|event| [event.name.clone(), format!("{}.samples", event.name)])
            .collect();
        events.sort();
        assert_eq!(metrics, events, "{recording}");
        for event in &report.events {
            assert_eq!(
                total(&database, &event.name),
                event.total,
                "{recording}: {}",
                event.name
            );
            assert_eq!(
                total(&database, &format!("{}.samples", event.name)),
                event.samples,
                "{recording}"
            );
        }
    }
}

#[test]
fn functions_with_what_they_called() {
    let database = run("perf-fp");
    assert_eq!(
        found(&database, "cpu-clock"),
        wanted(&report("perf-fp.report-children-n"), 0)
    );
    let database = run("perf-two-events");
    let report = report("perf-two-events.report-children-n");
    for (at, event) in report.events.iter().enumerate() {
        assert_eq!(
            found(&database, &event.name),
            wanted(&report, at),
            "{}",
            event.name
        );
    }
}

#[test]
fn functions_by_themselves() {
    let mut found = found(&run("perf-fp"), "cpu-clock");
    found.retain(|(.., samples)| *samples > 0.0);
    for (_, _, children, ..) in &mut found {
        *children = None;
    }
    assert_eq!(found, wanted(&report("perf-fp.report-nochildren-n"), 0));
}

/// Perf calls the column "Pid"; its numbers are those of threads.
#[test]
fn functions_by_thread() {
    let report = report("perf-fp.report-bypid-n");
    let mut wanted: BTreeMap<(String, String), f64> = BTreeMap::new();
    for row in &report.events[0].rows {
        let (thread, comm) = row.place[0]
            .split_once(':')
            .expect("a thread and its command");
        assert_eq!(comm, "work-perf");
        // Of the functions of one name, this report says no binary.
        *wanted
            .entry((thread.to_owned(), row.symbol.clone()))
            .or_default() += row.samples;
    }
    let sql = "SELECT thread.function, node.function, SUM(node.exclusive)
               FROM tree AS thread
               JOIN tree AS node ON node.metric = thread.metric AND node.node_id BETWEEN thread.node_id AND thread.last_id
               WHERE thread.depth = 1 AND thread.metric = 'cpu-clock.samples' AND node.exclusive > 0
               GROUP BY thread.function, node.function";
    let found: BTreeMap<_, _> = rows(&run("perf-fp"), sql, |row| {
        Ok(((row.get(0)?, row.get(1)?), row.get(2)?))
    })
    .into_iter()
    .collect();
    assert_eq!(found, wanted);
}

#[test]
fn the_same_recording_with_its_header() {
    let header = text("perf_script/perf-two-events.script-fields.txt");
    let script = text("perf_script/perf-two-events.script.txt.gz");
    let database = imported("perf_script", &(header + &script));
    for event in ["cpu-clock", "page-faults"] {
        assert_eq!(
            found(&database, event),
            found(&run("perf-two-events"), event),
            "{event}"
        );
    }
    let facts = rows(
        &database,
        "SELECT tool_version, command, recorded_at FROM runs",
        |row| Ok([row.get::<_, String>(0)?, row.get(1)?, row.get(2)?]),
    );
    let command = "/usr/bin/perf record -e cpu-clock,page-faults -F 29 --call-graph fp -o perf-two-events.data -- \
                   /srv/app/c/work-perf";
    assert_eq!(facts, [["6.1.187", command, "Sat Nov 21 09:40:00 2026"]]);
    let properties = rows(
        &database,
        "SELECT key, value FROM run_properties ORDER BY key",
        |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)),
    );
    let wanted = [
        ("arch", "x86_64"),
        ("cpudesc", "Intel(R) Xeon(R) Processor"),
        ("hostname", "vm"),
        ("os release", "6.18.44-fc-v669"),
    ];
    assert_eq!(
        properties,
        wanted.map(|(key, value)| (key.to_owned(), value.to_owned()))
    );
}

/// With `--call-graph dwarf`: of inlined frames, `perf script` does not print all that perf knows.
#[test]
fn inlined_functions_are_where_their_code_is() {
    // No frame of their address is beside them; perf knows that they are in the C library.
    const WITHOUT_BINARY: [&str; 3] = [
        "__GI___libc_free",
        "__GI___libc_malloc",
        "__libc_start_main_impl",
    ];
    // Perf charges an own sample to the function of the symbol table, we to the function that was
    // inlined into it.
    const INLINED: [(&str, [&str; 2]); 3] = [
        ("main", ["std::__fill_a1<double*, double>", "2.70"]),
        ("lambdas", ["::_M_lower_bound", "21.62"]),
        ("{lambda(int, int)#1}> >", ["operator()", "2.70"]),
    ];
    let report = report("perf-dwarf.report-children-n");
    let mut wanted: Vec<(String, String, String, f64)> = Vec::new();
    for row in &report.events[0].rows {
        let name = symbol(row.symbol.trim_end_matches(" (inlined)"));
        let binary = if WITHOUT_BINARY.contains(&name.as_str()) {
            ""
        } else {
            row.place[1].as_str()
        };
        wanted.push((
            binary.to_owned(),
            name,
            percent(row.children.expect("a column")),
            row.samples,
        ));
    }
    for (symbol, [inlined, children]) in INLINED {
        let of_symbol = wanted
            .iter_mut()
            .find(|row| row.1.ends_with(symbol) && row.3 > 0.0)
            .expect(symbol);
        of_symbol.3 -= 1.0;
        let fits =
            |name: &str| name == inlined || (inlined.starts_with("::") && name.ends_with(inlined));
        let of_inlined = wanted
            .iter_mut()
            .find(|row| fits(&row.1) && row.2 == children)
            .expect(inlined);
        of_inlined.3 += 1.0;
    }
    // Perf has a row for each function that such a function was inlined into.
    for (name, children) in [("Tree::~Tree", "2.70"), ("operator()", "13.51")] {
        let rows = wanted.iter().filter(|row| row.1 == name);
        let samples = rows.map(|row| row.3).sum();
        wanted.retain(|row| row.1 != name);
        wanted.push((
            "t2".to_owned(),
            name.to_owned(),
            children.to_owned(),
            samples,
        ));
    }
    // The symbol table has another name for it.
    wanted.retain(|row| row.1 != "malloc");
    wanted
        .iter_mut()
        .find(|row| row.1 == "__GI___libc_malloc")
        .expect("a row")
        .3 += 1.0;
    // Where it was in memory; `perf script` says where it is in the binary.
    let unknown = wanted
        .iter_mut()
        .find(|row| row.1 == "0x7f23d7cd44a2")
        .expect("a row");
    "0xd44a2".clone_into(&mut unknown.1);
    // A frame of one sample that has no row in the report.
    let missing = |name: &str| name.starts_with("__introsort_loop<") && name.contains("long int");
    let mut found = Vec::new();
    for (binary, name, children, _, samples) in self::found(&run("perf-dwarf"), "cpu-clock") {
        if let Some(children) = children.filter(|_| !missing(&name)) {
            found.push((binary, name, children, samples));
        }
    }
    wanted.sort_by(|a, b| a.partial_cmp(b).expect("no figure is NaN"));
    found.sort_by(|a, b| a.partial_cmp(b).expect("no figure is NaN"));
    assert_eq!(found, wanted);
}
