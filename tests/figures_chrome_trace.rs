//! Every figure of a trace of Node.js (case `chrome_trace/node`) against our views. No tool prints a report on such files: what
//! is within what is found out here from the times alone, by comparing all with all (docs/conformance.md).

#![expect(clippy::disallowed_methods, reason = "small files of our own")]
#![expect(clippy::float_cmp, reason = "microseconds are whole numbers")]

#[path = "support/samples_of.rs"]
mod samples_of;

use std::collections::{BTreeMap, BTreeSet};

use samples_of::{imported, rows, text, total};
use serde_json::Value;

/// Name and category.
type Function = (String, String);

/// A slice of a thread, in microseconds.
struct Slice {
    thread: i64,
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

/// The slices. A beginning belongs to the first end of its name and thread that is not before it and is nobody else's: in this
/// trace no function of that sort calls itself.
fn slices() -> Vec<Slice> {
    let trace: Value = serde_json::from_str(&text("../cases/chrome_trace/node/case.in/trace.json.gz")).expect("JSON");
    let events = trace["traceEvents"].as_array().expect("events");
    let of_phase = |phase: &'static str| events.iter().filter(move |event| event["ph"] == phase);
    let function = |event: &Value| -> Function {
        let text = |member: &str| event[member].as_str().expect("a text").to_owned();
        (text("name"), text("cat"))
    };
    let mut slices: Vec<Slice> = of_phase("X")
        .map(|event| {
            let (thread, start) = (integer(event, "tid"), integer(event, "ts"));
            Slice { thread, function: function(event), start, end: start + integer(event, "dur") }
        })
        .collect();
    let mut begins: Vec<&Value> = of_phase("B").collect();
    let mut ends: Vec<&Value> = of_phase("E").collect();
    begins.sort_by_key(|event| integer(event, "ts"));
    ends.sort_by_key(|event| integer(event, "ts"));
    for begin in begins {
        let (thread, start) = (integer(begin, "tid"), integer(begin, "ts"));
        let fits = |end: &&Value| {
            integer(end, "tid") == thread && function(end) == function(begin) && integer(end, "ts") >= start
        };
        let end = ends.iter().position(fits).expect("an end");
        let end = integer(ends.remove(end), "ts");
        slices.push(Slice { thread, function: function(begin), start, end });
    }
    assert!(ends.is_empty());
    slices
}

/// What is directly around a slice: the shortest of all that it is within. Equal ones are told apart by nobody.
fn around<'s>(slice: &Slice, slices: &'s [Slice]) -> Option<&'s Slice> {
    let others = slices.iter().filter(|other| !std::ptr::eq(*other, slice) && slice.is_within(other));
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
            None => whole += duration,
        }
    }
    let database = imported("chrome_trace", &text("../cases/chrome_trace/node/case.in/trace.json.gz"));
    let sql = "SELECT function, module, calls, exclusive, cumulative FROM summary";
    let found = rows(&database, sql, |row| Ok(((row.get(0)?, row.get(1)?), (row.get(2)?, row.get(3)?, row.get(4)?))));
    assert_eq!(found.into_iter().collect::<BTreeMap<Function, (u32, f64, f64)>>(), expected);
    assert_eq!(total(&database, "time"), whole);
}

#[test]
fn callers_and_callees() {
    let slices = slices();
    let mut expected: BTreeMap<(Function, Function), (u32, f64)> = BTreeMap::new();
    for slice in &slices {
        let chain = chain(slice, &slices);
        let Some(caller) = chain.first() else { continue };
        let pair = (caller.function.clone(), slice.function.clone());
        // A pair counts once per path: not where the same pair is further out.
        let outer: BTreeSet<_> = chain.windows(2).map(|two| (&two[1].function, &two[0].function)).collect();
        let again = outer.contains(&(&pair.0, &pair.1));
        let sums = expected.entry(pair).or_default();
        sums.0 += 1;
        if !again {
            sums.1 += slice.duration();
        }
    }
    let database = imported("chrome_trace", &text("../cases/chrome_trace/node/case.in/trace.json.gz"));
    let sql = "SELECT function, module, callee, callee_module, calls, cumulative FROM callees";
    let found = rows(&database, sql, |row| {
        let pair: (Function, Function) = ((row.get(0)?, row.get(1)?), (row.get(2)?, row.get(3)?));
        Ok((pair, (row.get(4)?, row.get(5)?)))
    });
    assert_eq!(found.into_iter().collect::<BTreeMap<_, (u32, f64)>>(), expected);
    assert!(expected.len() > 3, "{expected:?}");
}
