//! Every figure of a trace of Node.js (case `chrome_trace/node`) against our views. No tool prints
//! a report on such files: what is within what is found out here from the times alone, by comparing
//! all with all (docs/conformance.md).

#![expect(clippy::float_cmp, reason = "microseconds are whole numbers")]

use std::collections::{BTreeMap, BTreeSet};

use crate::support::samples_of::{bytes, imported, rows, text, total};
use profdb::store::Database;
use serde_json::{Value, json};

/// Name and category.
type Function = (String, String);

/// A slice of a thread or an asynchronous track, in microseconds.
struct Slice {
    thread: String,
    function: Function,
    start: i64,
    end: i64,
}

impl Slice {
    fn duration(&self) -> f64 {
        1e3 * f64::from(i32::try_from(self.end - self.start).expect("less than half an hour"))
    }

    fn is_within(&self, other: &Self) -> bool {
        self.thread == other.thread && other.start <= self.start && self.end <= other.end
    }
}

fn integer(event: &Value, member: &str) -> i64 {
    event[member].as_i64().expect("a whole number")
}

/// Returns the slices. A beginning has the first end of its name on its thread or track that is not before it and that
/// no later beginning has.
fn slices() -> Vec<Slice> {
    let trace: Value =
        serde_json::from_str(&text("../cases/chrome_trace/node/trace.json.gz")).expect("JSON");
    let events = trace["traceEvents"].as_array().expect("events");
    let of_phase = |phase: &'static str| events.iter().filter(move |event| event["ph"] == phase);
    let function = |event: &Value| -> Function {
        let text = |member: &str| event[member].as_str().expect("a text").to_owned();
        (text("name"), text("cat"))
    };
    let thread = |event: &Value| event["tid"].to_string();
    let mut slices: Vec<Slice> = of_phase("X")
        .map(|event| {
            let start = integer(event, "ts");
            Slice {
                thread: thread(event),
                function: function(event),
                start,
                end: start + integer(event, "dur"),
            }
        })
        .collect();
    let track = |event: &Value| format!("{} {}", event["cat"], event["id"]);
    let mut last_of: BTreeMap<String, i64> = BTreeMap::new();
    for event in of_phase("b").chain(of_phase("e")) {
        let last = last_of.entry(track(event)).or_default();
        *last = integer(event, "ts").max(*last);
    }
    for (begin, end, lane) in [
        ("B", "E", &thread as &dyn Fn(&Value) -> String),
        ("b", "e", &track),
    ] {
        let mut begins: Vec<&Value> = of_phase(begin).collect();
        let mut ends: Vec<&Value> = of_phase(end).collect();
        // The last beginning has the first end after it.
        begins.sort_by_key(|event| std::cmp::Reverse(integer(event, "ts")));
        ends.sort_by_key(|event| integer(event, "ts"));
        for begin in begins {
            let start = integer(begin, "ts");
            let on_lane = lane(begin);
            let fits = |end: &&Value| {
                lane(end) == on_lane
                    && function(end) == function(begin)
                    && integer(end, "ts") >= start
            };
            let end = match ends.iter().position(fits) {
                Some(end) => integer(ends.remove(end), "ts"),
                // Until the last event of the track.
                None => last_of[&on_lane],
            };
            slices.push(Slice {
                thread: on_lane,
                function: function(begin),
                start,
                end,
            });
        }
        assert!(ends.is_empty());
    }
    slices
}

/// What is directly around a slice: the shortest of all that it is within. Equal ones are told
/// apart by nobody.
fn around<'s>(slice: &Slice, slices: &'s [Slice]) -> Option<&'s Slice> {
    let others = slices
        .iter()
        .filter(|other| !std::ptr::eq(*other, slice) && slice.is_within(other));
    others.min_by_key(|other| other.end - other.start)
}

fn chain<'s>(slice: &Slice, slices: &'s [Slice]) -> Vec<&'s Slice> {
    std::iter::successors(around(slice, slices), |outer| around(outer, slices)).collect()
}

#[test]
fn functions() {
    let slices = slices();
    assert!(slices.len() > 100, "{}", slices.len());
    let mut expected: BTreeMap<Function, (u32, f64, f64)> = BTreeMap::new();
    let mut whole = 0.0;
    for slice in &slices {
        let duration = slice.duration();
        let chain = chain(slice, &slices);
        let sums = expected.entry(slice.function.clone()).or_default();
        sums.0 += 1;
        sums.1 += duration;
        if !chain.iter().any(|outer| outer.function == slice.function) {
            sums.2 += duration;
        }
        match chain.first() {
            Some(outer) => expected.entry(outer.function.clone()).or_default().1 -= duration,
            // The total is that of threads.
            None if slice.thread.contains(' ') => {}
            None => whole += duration,
        }
    }
    let database = imported(
        "chrome_trace",
        &text("../cases/chrome_trace/node/trace.json.gz"),
    );
    let sql = "SELECT function, module, calls, exclusive, cumulative FROM summary";
    let found = rows(&database, sql, |row| {
        Ok((
            (row.get(0)?, row.get(1)?),
            (row.get(2)?, row.get(3)?, row.get(4)?),
        ))
    });
    assert_eq!(
        found
            .into_iter()
            .collect::<BTreeMap<Function, (u32, f64, f64)>>(),
        expected
    );
    assert_eq!(total(&database, "time"), whole);
}

#[test]
fn callers_and_callees() {
    let slices = slices();
    let mut expected: BTreeMap<(Function, Function), (u32, f64)> = BTreeMap::new();
    for slice in &slices {
        let chain = chain(slice, &slices);
        let Some(caller) = chain.first() else {
            continue;
        };
        let pair = (caller.function.clone(), slice.function.clone());
        // A pair counts once per path: not where the same pair is further out.
        let outer: BTreeSet<_> = chain
            .windows(2)
            .map(|two| (&two[1].function, &two[0].function))
            .collect();
        let again = outer.contains(&(&pair.0, &pair.1));
        let sums = expected.entry(pair).or_default();
        sums.0 += 1;
        if !again {
            sums.1 += slice.duration();
        }
    }
    let database = imported(
        "chrome_trace",
        &text("../cases/chrome_trace/node/trace.json.gz"),
    );
    let sql = "SELECT function, module, callee, callee_module, calls, cumulative FROM callees";
    let found = rows(&database, sql, |row| {
        let pair: (Function, Function) = ((row.get(0)?, row.get(1)?), (row.get(2)?, row.get(3)?));
        Ok((pair, (row.get(4)?, row.get(5)?)))
    });
    assert_eq!(
        found.into_iter().collect::<BTreeMap<_, (u32, f64)>>(),
        expected
    );
    assert!(expected.len() > 3, "{expected:?}");
}

/// Calls, own and cumulative time of each function, in microseconds.
type Figures = BTreeMap<String, (u32, f64, f64)>;

/// What whole slices of a thread say: each is within the shortest that has not ended when it
/// starts.
fn figures_of(mut slices: Vec<(f64, f64, String)>, figures: &mut Figures) {
    slices.sort_by(|one, other| one.0.total_cmp(&other.0).then(other.1.total_cmp(&one.1)));
    let mut open: Vec<(f64, String)> = Vec::new();
    for (start, end, name) in slices {
        open.retain(|(outer, _)| *outer > start);
        if let Some((_, above)) = open.last() {
            figures.entry(above.clone()).or_default().1 -= end - start;
        }
        let is_outermost = open.iter().all(|(_, outer)| *outer != name);
        let sums = figures.entry(name.clone()).or_default();
        sums.0 += 1;
        sums.1 += end - start;
        sums.2 += if is_outermost { end - start } else { 0.0 };
        open.push((end, name));
    }
}

fn same_figures(file: &str, wanted: &Figures) {
    let database = imported("chrome_trace", &text(file));
    let sql =
        "SELECT function, SUM(calls), SUM(exclusive) / 1e3, SUM(cumulative) / 1e3 FROM summary
               WHERE calls IS NOT NULL GROUP BY function";
    let found = rows(&database, sql, |row| {
        Ok((
            row.get::<_, String>(0)?,
            (row.get(1)?, row.get(2)?, row.get(3)?),
        ))
    });
    let found: Figures = found.into_iter().collect();
    assert_eq!(
        found.keys().collect::<Vec<_>>(),
        wanted.keys().collect::<Vec<_>>(),
        "{file}"
    );
    for (name, (calls, own, cumulative)) in wanted {
        let near = |one: f64, other: f64| (one - other).abs() < 1e-3;
        let (found_calls, found_own, found_cumulative) = found[name];
        assert_eq!(found_calls, *calls, "{file}: {name}");
        assert!(
            near(found_own, *own) && near(found_cumulative, *cumulative),
            "{file}: {name}"
        );
    }
}

/// Of whole slices.
#[test]
fn viztracer() {
    let file = "chrome_trace/viztracer.trace.json.gz";
    let trace: Value = serde_json::from_str(&text(file)).expect("JSON");
    let mut threads: BTreeMap<i64, Vec<(f64, f64, String)>> = BTreeMap::new();
    for event in trace["traceEvents"]
        .as_array()
        .expect("events")
        .iter()
        .filter(|event| event["ph"] == "X")
    {
        let (start, duration) = (
            event["ts"].as_f64().expect("a time"),
            event["dur"].as_f64().expect("a duration"),
        );
        let name = event["name"].as_str().expect("a name").to_owned();
        threads
            .entry(integer(event, "tid"))
            .or_default()
            .push((start, start + duration, name));
    }
    assert_eq!(threads.len(), 3);
    let mut wanted = Figures::new();
    for slices in threads.into_values() {
        figures_of(slices, &mut wanted);
    }
    same_figures(file, &wanted);
}

/// Of beginnings and ends, which come in their order; each end is that of the last beginning.
#[test]
fn py_spy() {
    let file = "chrome_trace/py-spy.trace.json.gz";
    let trace: Value = serde_json::from_str(&text(file)).expect("JSON");
    let mut open: BTreeMap<i64, Vec<(&str, f64)>> = BTreeMap::new();
    let mut wanted = Figures::new();
    for event in trace.as_array().expect("events") {
        let (name, time) = (
            event["name"].as_str().expect("a name"),
            event["ts"].as_f64().expect("a time"),
        );
        let open = open.entry(integer(event, "tid")).or_default();
        if event["ph"] == "B" {
            open.push((name, time));
            continue;
        }
        let (begun, start) = open.pop().expect("a beginning");
        assert_eq!((begun, &event["ph"]), (name, &Value::from("E")));
        if let Some((above, _)) = open.last() {
            wanted.entry((*above).to_owned()).or_default().1 -= time - start;
        }
        let is_outermost = open.iter().all(|(outer, _)| *outer != name);
        let sums = wanted.entry(name.to_owned()).or_default();
        sums.0 += 1;
        sums.1 += time - start;
        sums.2 += if is_outermost { time - start } else { 0.0 };
    }
    assert!(open.values().all(Vec::is_empty), "every call has ended");
    same_figures(file, &wanted);
}

/// Of beginnings and ends: by name, own and cumulative time as the crate tracing-chrome wrote them,
/// in two threads.
#[test]
fn tracing_chrome() {
    let file = "chrome_trace/tracing-chrome.trace.json.gz";
    let trace: Value = serde_json::from_str(&text(file)).expect("JSON");
    let mut open: BTreeMap<i64, Vec<(f64, f64)>> = BTreeMap::new();
    let mut threads: BTreeMap<i64, Vec<(f64, f64, String)>> = BTreeMap::new();
    for event in trace.as_array().expect("events") {
        let thread = integer(event, "tid");
        match event["ph"].as_str() {
            Some("B") => open
                .entry(thread)
                .or_default()
                .push((event["ts"].as_f64().expect("a time"), 0.0)),
            Some("E") => {
                let (start, _) = open
                    .get_mut(&thread)
                    .and_then(Vec::pop)
                    .expect("a beginning");
                let (end, name) = (
                    event["ts"].as_f64().expect("a time"),
                    event["name"].as_str().expect("a name"),
                );
                threads
                    .entry(thread)
                    .or_default()
                    .push((start, end, name.to_owned()));
            }
            _ => {}
        }
    }
    assert!(open.values().all(Vec::is_empty) && threads.len() == 2);
    let mut wanted = Figures::new();
    for slices in threads.into_values() {
        figures_of(slices, &mut wanted);
    }
    assert_eq!(wanted["fib"].0, 45);
    same_figures(file, &wanted);
}

/// The sums that clang adds up over its slices itself. They are no slices: the run lasts as long as
/// the compiler did.
#[test]
fn clang() {
    let file = "chrome_trace/clang.trace.json.gz";
    let trace: Value = serde_json::from_str(&text(file)).expect("JSON");
    let database = imported("chrome_trace", &text(file));
    let sql = "SELECT function, SUM(calls), SUM(cumulative) / 1e3 FROM summary WHERE calls IS NOT NULL GROUP BY function";
    let found = rows(&database, sql, |row| {
        Ok((
            row.get::<_, String>(0)?,
            (row.get::<_, f64>(1)?, row.get::<_, f64>(2)?),
        ))
    });
    let mut found: BTreeMap<_, _> = found.into_iter().collect();
    let mut recursive = Vec::new();
    for event in trace["traceEvents"].as_array().expect("events") {
        let Some(name) = event["name"]
            .as_str()
            .and_then(|name| name.strip_prefix("Total "))
        else {
            continue;
        };
        let (count, duration) = (
            event["args"]["count"].as_f64().expect("a count"),
            event["dur"].as_f64().expect("a time"),
        );
        let (calls, cumulative) = found.remove(name).unwrap_or_else(|| panic!("{name}"));
        // Each slice begins and ends at whole microseconds. Those within others of their name are
        // not counted in the sums.
        assert!(
            (cumulative - duration).abs() <= count + 1.0,
            "{name}: {cumulative} for {duration}"
        );
        if calls > count {
            recursive.push(name.to_owned());
        }
        assert!(calls >= count, "{name}: {calls} for {count}");
        if name == "ExecuteCompiler" {
            assert_eq!(total(&database, "time"), cumulative * 1e3);
        }
    }
    assert_eq!(
        (found.len(), recursive.as_slice()),
        (0, ["InstantiateFunction".to_owned()].as_slice()),
        "{found:?}"
    );
    let notes = rows(
        &database,
        "SELECT message FROM notes ORDER BY note_id",
        |row| row.get::<_, String>(0),
    );
    let note = "73 sums of clang (`Total ...`) skipped, because they repeat the time of the slices";
    assert!(notes.iter().any(|found| found == note), "{notes:?}");
}

/// What `uftrace report` prints of the same recording. Of times for which a thread was preempted
/// the file has ends alone: they end nothing.
#[test]
fn uftrace() {
    let database = imported("chrome_trace", &bytes("chrome_trace/uftrace.trace.json"));
    let sql = "SELECT function, calls, exclusive / 1e3, cumulative / 1e3 FROM summary WHERE calls IS NOT NULL";
    let found = rows(&database, sql, |row| {
        Ok((
            row.get::<_, String>(0)?,
            (row.get(1)?, row.get(2)?, row.get(3)?),
        ))
    });
    let found: Figures = found.into_iter().collect();
    let mut compared = 0;
    for line in text("chrome_trace/uftrace.report.txt").lines().skip(2) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [whole, whole_unit, own, own_unit, calls, name @ ..] = words.as_slice() else {
            panic!("{line}")
        };
        // uftrace escapes the bytes of such names in JSON, but not in its report; and knows of the
        // times of which the file has no beginnings, which remain with the functions that were
        // preempted.
        let name = name.join(" ").replace("größe", r"gr\xc3\xb6\xc3\x9fe");
        let Some((found_calls, found_own, found_whole)) = found.get(&name) else {
            assert_eq!(name, "linux:schedule (pre-empted)");
            continue;
        };
        assert_eq!(found_calls.to_string(), *calls, "{line}");
        // Functions that `pthread_exit` left have no end: report and file put it at other times.
        if ["thread", "leave"].contains(&name.as_str()) {
            continue;
        }
        for (found, printed, unit) in [(found_own, own, own_unit), (found_whole, whole, whole_unit)]
        {
            let unit = if *unit == "ms" { 1e3 } else { 1.0 };
            let printed: f64 = printed.parse().expect(printed);
            assert!(
                (found - printed * unit).abs() <= unit / 1e3,
                "{line}: {found}"
            );
        }
        compared += 1;
    }
    assert_eq!(compared, 6);
    let notes = rows(
        &database,
        "SELECT message FROM notes ORDER BY note_id",
        |row| row.get::<_, String>(0),
    );
    assert!(
        notes
            .iter()
            .any(|note| note == "3 end events without a beginning skipped"),
        "{notes:?}"
    );
}

/// Node.js writes one profile of V8 twice: as a file, and in parts into a trace. The trace has a second profile, which
/// the tracing itself takes (`0x2`); it is left out here.
#[test]
fn v8_samples_equal_the_cpuprofile_of_the_recording() {
    let mut trace: Value =
        serde_json::from_str(&text("chrome_trace/v8.trace.json.gz")).expect("JSON");
    let events = trace["traceEvents"].as_array_mut().expect("events");
    events.retain(|event| event["id"] != "0x2");
    let profile = text("chrome_trace/v8.cpuprofile.gz");
    let of_trace = imported("chrome_trace", &trace.to_string());
    let of_profile = imported("cpuprofile", &profile);
    // The file has addresses (`file:///tmp/app.js`) where the trace has paths. Two functions of a file may differ only
    // by their columns.
    let figures = |database: &Database, metric: &str| {
        let sql = format!(
            "SELECT f.name, replace(f.file, 'file://', ''), f.first_line, f.first_col, s.exclusive, s.cumulative
             FROM summary AS s JOIN functions AS f USING (function_id)
             WHERE s.metric = '{metric}' AND s.calls IS NULL AND f.kind IN ('function', 'pseudo') ORDER BY 1, 2, 3, 4"
        );
        rows(database, &sql, |row| {
            let key = (row.get::<_, String>(0)?, row.get::<_, String>(1)?);
            let place = (row.get::<_, u32>(2)?, row.get::<_, u32>(3)?);
            let costs = (row.get::<_, f64>(4)?, row.get::<_, f64>(5)?);
            Ok((key, place, costs))
        })
    };
    let time = figures(&of_trace, "sampled_time");
    assert_eq!(time, figures(&of_profile, "time"));
    assert!(time.len() > 50, "{}", time.len());
    assert_eq!(total(&of_trace, "sampled_time"), total(&of_profile, "time"));
    // The file has the number of samples twice: as `hitCount` of nodes, which are one less, and as the list that the
    // trace has, too.
    let profile: Value = serde_json::from_str(&profile).expect("JSON");
    let samples = profile["samples"].as_array().expect("samples").len();
    assert_eq!(
        total(&of_trace, "samples"),
        Value::from(samples).as_f64().expect("a number")
    );
}

/// A profile of V8 in parts of a trace has the figures of the same profile in a file, its lines included.
#[test]
fn v8_samples_in_chunks_equal_the_cpuprofile() {
    let mut profile: Value =
        serde_json::from_str(&text("cpuprofile/small-main.cpuprofile")).expect("JSON");
    let take = |value: &mut Value| std::mem::take(value.as_array_mut().expect("an array"));
    let (nodes, samples) = (take(&mut profile["nodes"]), take(&mut profile["samples"]));
    let deltas = take(&mut profile["timeDeltas"]);
    // `hitCount` and `positionTicks` are of the file only; here, all samples of a node are of its first line.
    let mut parents = BTreeMap::new();
    for node in &nodes {
        for child in node["children"].as_array().into_iter().flatten() {
            parents.insert(child.as_u64(), node["id"].clone());
        }
    }
    let line_of = |sample: &Value| {
        let node = nodes
            .iter()
            .find(|node| node["id"] == *sample)
            .expect("a node");
        node["positionTicks"][0]["line"].as_u64().unwrap_or(0)
    };
    let mut ticks: BTreeMap<u64, u64> = BTreeMap::new();
    for sample in &samples {
        *ticks.entry(sample.as_u64().expect("an id")).or_default() += 1;
    }
    let (mut parts, mut whole) = (Vec::new(), Vec::new());
    for node in &nodes {
        let id = node["id"].as_u64().expect("an id");
        let frame = &node["callFrame"];
        let mut part = json!({"id": id, "callFrame": frame});
        if let Some(parent) = parents.get(&Some(id)) {
            part["parent"] = parent.clone();
        }
        let mut full = part.clone();
        let (line, ticks) = (line_of(&node["id"]), ticks.get(&id).copied().unwrap_or(0));
        if line > 0 && ticks > 0 {
            full["positionTicks"] = json!([{"line": line, "ticks": ticks}]);
        }
        parts.push(part);
        whole.push(full);
    }
    let data = |data: Value, name: &str, ts: usize| json!({"args": {"data": data}, "cat": "v8", "id": "0x1", "name": name, "ph": "P", "pid": 1, "tid": 2, "ts": ts});
    let mut events = vec![data(
        json!({"startTime": profile["startTime"]}),
        "Profile",
        0,
    )];
    let sizes = (parts.len() / 3 + 1, samples.len() / 3 + 1);
    for (number, ((nodes, samples), deltas)) in parts
        .chunks(sizes.0)
        .zip(samples.chunks(sizes.1))
        .zip(deltas.chunks(sizes.1))
        .enumerate()
    {
        let lines: Vec<u64> = samples.iter().map(line_of).collect();
        let chunk = json!({"cpuProfile": {"nodes": nodes, "samples": samples}, "lines": lines, "timeDeltas": deltas});
        events.push(data(chunk, "ProfileChunk", number + 1));
    }
    events.push(data(
        json!({"endTime": profile["endTime"]}),
        "ProfileChunk",
        9,
    ));
    // Chunks may come in any order.
    events.swap(1, 3);
    let of_trace = imported("chrome_trace", &json!({"traceEvents": events}).to_string());
    (profile["nodes"], profile["samples"], profile["timeDeltas"]) =
        (whole.into(), samples.into(), deltas.into());
    let of_profile = imported("cpuprofile", &profile.to_string());
    for view in ["summary", "lines"] {
        for (metric, other) in [("sampled_time", "time"), ("samples", "samples")] {
            let figures = |database: &Database, metric: &str| {
                let line = if view == "lines" {
                    "s.line"
                } else {
                    "f.first_col"
                };
                let sql = format!(
                    "SELECT f.name, f.file, f.first_line, {line}, s.exclusive, COALESCE(s.cumulative, -1) FROM {view} AS s
                     JOIN functions AS f USING (function_id) WHERE s.metric = '{metric}' ORDER BY 1, 2, 3, 4, 5, 6"
                );
                rows(database, &sql, |row| {
                    let key = (row.get::<_, String>(0)?, row.get::<_, String>(1)?);
                    let place = (row.get::<_, u32>(2)?, row.get::<_, u32>(3)?);
                    Ok((key, place, (row.get::<_, f64>(4)?, row.get::<_, f64>(5)?)))
                })
            };
            let chunks = figures(&of_trace, metric);
            assert!(chunks.len() > 10, "{view} {metric}");
            assert_eq!(chunks, figures(&of_profile, other), "{view} {metric}");
        }
    }
}
