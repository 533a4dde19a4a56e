//! Trees that the importer of `callgrind` makes of Xdebug's records. Three ways are compared: the
//! importer; a model that keeps every call as it was and adds up at the end; and the same file as
//! another program's, which is read as edges. Random calls are written in the ways of Xdebug 3 and
//! 2, and one number that is changed makes the tree go away.

#![expect(clippy::float_cmp, reason = "figures are whole numbers")]

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Read;
use std::path::Path;

use profdb::base::error::Stop;
use profdb::formats;
use profdb::formats::Options;
use profdb::input::{Input, Limits};
use profdb::pipeline::{import, meta};
use profdb::report::{self, Argument, ReportError, Request};
use profdb::store::{Database, StoreError};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngAlgorithm;
use rusqlite::types::Value;

/// Name and file of the functions that are called: two of one name, one of PHP's own.
const FUNCTIONS: [(&str, &str); 6] = [
    ("f", "a.php"),
    ("f", "b.php"),
    ("g", "a.php"),
    ("php::strlen", "php:internal"),
    ("require::/srv/c.php", "/srv/c.php"),
    ("C->h", "b.php"),
];

/// A call as it was: nothing is rounded, and memory may be negative.
#[derive(Clone, Debug)]
struct Call {
    function: usize,
    /// The line of its caller.
    line: u32,
    nanoseconds: u64,
    memory: i64,
    calls: Vec<Call>,
}

impl Call {
    fn nanoseconds(&self) -> u64 {
        self.nanoseconds + self.calls.iter().map(Self::nanoseconds).sum::<u64>()
    }

    fn memory(&self) -> i64 {
        self.memory + self.calls.iter().map(Self::memory).sum::<i64>()
    }
}

/// Calls that are told one by one: how many end before each, and what it is.
fn requests() -> impl Strategy<Value = Vec<Vec<Call>>> {
    let ends = prop_oneof![5 => Just(0), 3 => Just(1), 2 => Just(2), 1 => 3..9_usize];
    let call = (
        0..FUNCTIONS.len(),
        0..4_u32,
        0..90_u64,
        prop_oneof![3 => Just(0), 1 => -40..80_i64],
    )
        .prop_map(|(function, line, nanoseconds, memory)| Call {
            function,
            line,
            nanoseconds,
            memory,
            calls: Vec::new(),
        });
    let request = vec((ends, call), 1..60).prop_map(|steps| {
        let mut roots = Vec::new();
        let mut open: Vec<Call> = Vec::new();
        let close = |open: &mut Vec<Call>, roots: &mut Vec<Call>| {
            let Some(call) = open.pop() else { return };
            open.last_mut()
                .map_or(roots, |caller| &mut caller.calls)
                .push(call);
        };
        for (ends, call) in steps {
            (0..ends).for_each(|_| close(&mut open, &mut roots));
            open.push(call);
        }
        while !open.is_empty() {
            close(&mut open, &mut roots);
        }
        roots
    });
    vec(request, 1..3)
}

#[derive(Clone, Copy, Debug)]
enum Version {
    /// Times in 10 ns, rounded; no memory below 0; names have numbers.
    Three,
    /// Times in microseconds, cut off; memory as it is; no numbers.
    Two,
}

impl Version {
    fn time(self, nanoseconds: u64) -> u64 {
        match self {
            Self::Three => (nanoseconds + 5) / 10,
            // So that there is something to cut off.
            Self::Two => nanoseconds / 10,
        }
    }

    fn costs(self, nanoseconds: u64, memory: i64) -> String {
        let memory = match self {
            Self::Three => memory.max(0),
            Self::Two => memory,
        };
        format!("{} {memory}", self.time(nanoseconds))
    }
}

/// Writes what Xdebug writes.
struct Writer {
    version: Version,
    text: String,
    /// Names that have a number.
    numbered: Vec<String>,
}

impl Writer {
    fn name(&mut self, key: &str, name: &str) {
        let text = match (
            self.version,
            self.numbered.iter().position(|known| known == name),
        ) {
            (Version::Two, _) => name.to_owned(),
            (Version::Three, Some(at)) => format!("({})", at + 1),
            (Version::Three, None) => {
                self.numbered.push(name.to_owned());
                format!("({}) {name}", self.numbered.len())
            }
        };
        let _ = writeln!(self.text, "{key}={text}");
    }

    fn call(&mut self, call: &Call) {
        for callee in &call.calls {
            self.call(callee);
        }
        let (name, file) = FUNCTIONS[call.function];
        self.name("fl", file);
        self.name("fn", name);
        let line = 7 * u32::try_from(call.function).expect("few functions");
        let _ = writeln!(
            self.text,
            "{line} {}",
            self.version.costs(call.nanoseconds, call.memory)
        );
        for callee in &call.calls {
            let (name, file) = FUNCTIONS[callee.function];
            self.name("cfl", file);
            self.name("cfn", name);
            let costs = self.version.costs(callee.nanoseconds(), callee.memory());
            let _ = writeln!(self.text, "calls=1 0 0\n{} {costs}", callee.line);
        }
        self.text.push('\n');
    }
}

fn written(requests: &[Vec<Call>], version: Version) -> String {
    let mut writer = Writer {
        version,
        text: String::new(),
        numbered: Vec::new(),
    };
    for (at, roots) in requests.iter().enumerate() {
        writer.numbered.clear();
        let _ = write!(
            writer.text,
            "\n==== NEW PROFILING FILE ====\nversion: 1\ncreator: xdebug 3.2.0 (PHP 8.2)\ncmd: /srv/{at}.php\npart: 1\n\
             positions: line\n\nevents: Time_(10ns) Memory_(bytes)\n\n"
        );
        for root in roots {
            writer.call(root);
        }
        writer.text.push_str("summary: 5000 5000\n\n");
    }
    writer.text
}

fn imported(text: &[u8]) -> Database {
    let input = Input::new(Box::new(text), Limits::default(), Stop::default()).expect("bytes");
    let format = formats::detect(input.head()).expect("a format");
    assert_eq!(format.name, "callgrind");
    let options = Options::default();
    let describe = |fingerprint| meta(format, &options, "x", fingerprint);
    import(
        input,
        format,
        &options,
        &Stop::default(),
        describe,
        Database::in_memory,
    )
    .expect("a profile")
    .database
}

fn rows(database: &Database, sql: &str) -> Vec<Vec<Value>> {
    let mut statement = database.connection().prepare(sql).expect(sql);
    let columns = statement.column_count();
    let rows = statement
        .query_map([], |row| (0..columns).map(|at| row.get(at)).collect())
        .expect(sql);
    rows.collect::<Result<_, _>>().expect(sql)
}

/// The same as another program's, of which the importer knows no order.
fn as_edges(text: &str) -> String {
    text.replace("creator: xdebug", "creator: other")
}

fn fidelity(database: &Database) -> String {
    database
        .connection()
        .query_row("SELECT fidelity FROM runs", [], |row| row.get(0))
        .expect("a run")
}

/// What both readings know: own cost of functions and lines; calls and cost of pairs, by the line
/// of the caller. What costs nothing may be left out of the second metric.
fn known(database: &Database) -> [Vec<Vec<Value>>; 3] {
    let statements = [
        "SELECT metric, file, function, exclusive FROM summary WHERE exclusive <> 0 ORDER BY 1, 2, 3",
        "SELECT metric, file, function, line, exclusive FROM lines WHERE exclusive <> 0 ORDER BY 1, 2, 3, 4",
        "SELECT m.name, c.file, c.name, e.caller_line, f.file, f.name, e.calls, e.seen FROM edges AS e
         JOIN metrics AS m ON m.metric_id = e.metric_id
         JOIN functions AS f ON f.function_id = e.callee_id JOIN functions AS c ON c.function_id = e.caller_id
         WHERE e.seen <> 0 OR m.position = 1 ORDER BY 1, 2, 3, 4, 5, 6",
    ];
    statements.map(|sql| rows(database, sql))
}

/// A record of the text: file and name of its function, line, own costs, and its calls with lines
/// and costs.
struct Record {
    function: (String, String),
    line: u32,
    own: Vec<f64>,
    calls: Vec<(u32, Vec<f64>)>,
}

/// The text, read line by line in the plainest way.
fn records(text: &str) -> Vec<Vec<Record>> {
    let mut requests: Vec<Vec<Record>> = Vec::new();
    let mut numbered: BTreeMap<(char, String), String> = BTreeMap::new();
    let (mut file, mut is_call) = (String::new(), false);
    for line in text.lines() {
        if line.starts_with("version:") {
            requests.push(Vec::new());
            numbered.clear();
        }
        let Some(request) = requests.last_mut() else {
            continue;
        };
        let name = |numbered: &mut BTreeMap<(char, String), String>, sort: char, text: &str| {
            let Some((number, name)) = text.strip_prefix('(').and_then(|text| text.split_once(')'))
            else {
                return text.to_owned();
            };
            let key = (sort, number.to_owned());
            match name.trim() {
                "" => numbered[&key].clone(),
                name => {
                    numbered.insert(key, name.to_owned());
                    name.to_owned()
                }
            }
        };
        if let Some(text) = line.strip_prefix("fl=") {
            file = name(&mut numbered, 'l', text);
        } else if let Some(text) = line.strip_prefix("cfl=") {
            name(&mut numbered, 'l', text);
        } else if let Some(text) = line.strip_prefix("cfn=") {
            name(&mut numbered, 'n', text);
        } else if let Some(text) = line.strip_prefix("fn=") {
            let function = (file.clone(), name(&mut numbered, 'n', text));
            request.push(Record {
                function,
                line: 0,
                own: Vec::new(),
                calls: Vec::new(),
            });
        } else if line.starts_with("calls=") {
            is_call = true;
        } else if line.starts_with(|first: char| first.is_ascii_digit()) {
            let figures: Vec<f64> = line
                .split(' ')
                .map(|word| word.parse().expect("a number"))
                .collect();
            let costs = vec![figures[1] * 10.0, figures[2]];
            let line = line
                .split(' ')
                .next()
                .and_then(|line| line.parse().ok())
                .expect("a line");
            let record = request.last_mut().expect("fn=");
            if std::mem::take(&mut is_call) {
                record.calls.push((line, costs));
            } else {
                (record.line, record.own) = (line, costs);
            }
        }
    }
    requests
}

/// A node by its path: function and line, or function alone. Calls, own costs, and costs in all.
type Nodes = BTreeMap<Vec<String>, (i64, Vec<f64>, Vec<f64>)>;

/// What the tree of the records is: each call is put where its caller was, outermost first.
fn modelled(requests: &[Vec<Record>]) -> Nodes {
    fn put(nodes: &mut Nodes, path: &[String], calls: i64, own: &[f64], all: &[f64]) {
        let node = nodes
            .entry(path.to_vec())
            .or_insert_with(|| (0, vec![0.0; 2], vec![0.0; 2]));
        node.0 += calls;
        node.1
            .iter_mut()
            .zip(own)
            .for_each(|(sum, cost)| *sum += cost);
        node.2
            .iter_mut()
            .zip(all)
            .for_each(|(sum, cost)| *sum += cost);
    }
    /// Puts the last record, and before that the last records that are its calls; returns how many
    /// are left.
    fn place(nodes: &mut Nodes, records: &[Record], above: &[String], all: &[f64]) -> usize {
        let (record, mut left) = (records.last().expect("a record"), records.len() - 1);
        let (file, name) = &record.function;
        let function = [above, &[format!("{file}:{name}")]].concat();
        put(nodes, &function, 1, &record.own, all);
        let at = |line: u32| [&function[..], &[format!("{file}:{name}[{line}]")]].concat();
        if record.line != 0 {
            put(nodes, &at(record.line), 0, &record.own, &record.own);
        }
        for (line, costs) in record.calls.iter().rev() {
            let above = if *line == 0 {
                function.clone()
            } else {
                at(*line)
            };
            if *line != 0 {
                put(nodes, &above, 0, &[0.0; 2], costs);
            }
            left = place(nodes, &records[..left], &above, costs);
        }
        left
    }
    let mut nodes = Nodes::new();
    for (at, records) in requests.iter().enumerate() {
        let request = if requests.len() > 1 {
            vec![format!("request {at}")]
        } else {
            Vec::new()
        };
        let mut left = records.len();
        while left > 0 {
            let record = &records[left - 1];
            let mut all = record.own.clone();
            for (_, costs) in &record.calls {
                all.iter_mut()
                    .zip(costs)
                    .for_each(|(sum, cost)| *sum += cost);
            }
            if !request.is_empty() {
                put(&mut nodes, &request, 0, &[0.0; 2], &all);
            }
            left = place(&mut nodes, &records[..left], &request, &all);
        }
    }
    nodes
}

/// The nodes of a run, and its functions' cumulative costs by metric, from the rows.
fn found(database: &Database) -> Nodes {
    let mut nodes = Nodes::new();
    let mut path: Vec<String> = Vec::new();
    let mut requests = 0;
    for (metric, name) in ["time", "memory"].iter().enumerate() {
        let sql = format!(
            "SELECT t.depth, f.kind, f.file, f.name, t.line, t.calls, t.exclusive, t.cumulative FROM tree AS t
             JOIN nodes AS n ON n.node_id = t.node_id JOIN functions AS f ON f.function_id = n.function_id
             WHERE t.metric = '{name}' ORDER BY t.node_id"
        );
        requests = 0;
        for row in rows(database, &sql) {
            let [
                Value::Integer(depth),
                Value::Text(kind),
                Value::Text(file),
                Value::Text(name),
                line,
                calls,
                Value::Real(own),
                Value::Real(all),
            ] = &row[..]
            else {
                panic!("{row:?}")
            };
            path.truncate(usize::try_from(*depth).expect("a depth"));
            path.push(match line {
                _ if kind == "part" => format!("request {requests}"),
                Value::Integer(line) => format!("{file}:{name}[{line}]"),
                _ => format!("{file}:{name}"),
            });
            requests += usize::from(kind == "part");
            let node = nodes
                .entry(path.clone())
                .or_insert_with(|| (0, vec![0.0; 2], vec![0.0; 2]));
            // No path comes twice.
            assert_eq!((node.1[metric], node.2[metric]), (0.0, 0.0), "{path:?}");
            node.0 = if let Value::Integer(calls) = calls {
                *calls
            } else {
                0
            };
            (node.1[metric], node.2[metric]) = (*own, *all);
        }
    }
    assert!(requests != 1, "one request needs no node of its own");
    nodes
}

/// What functions cost in all in the outermost nodes of theirs, by metric.
fn outermost(nodes: &Nodes, metric: usize) -> BTreeMap<String, f64> {
    let mut sums = BTreeMap::new();
    for (path, (calls, _, all)) in nodes {
        let name = path.last().expect("a path");
        if *calls > 0 {
            let is_outermost = !path[..path.len() - 1].contains(name);
            *sums.entry(name.clone()).or_insert(0.0) +=
                if is_outermost { all[metric] } else { 0.0 };
        }
    }
    sums
}

fn cumulative(database: &Database, metric: &str) -> BTreeMap<String, f64> {
    let sql = format!("SELECT file, function, cumulative FROM summary WHERE metric = '{metric}'");
    let all = rows(database, &sql).into_iter().map(|row| match &row[..] {
        [Value::Text(file), Value::Text(name), Value::Real(cost)] => {
            (format!("{file}:{name}"), *cost)
        }
        _ => panic!("{row:?}"),
    });
    all.collect()
}

/// All laws of a file whose records are a tree.
fn check(text: &str) {
    let database = imported(text.as_bytes());
    let notes = rows(
        &database,
        "SELECT message FROM notes WHERE severity = 'warning'",
    );
    assert_eq!(
        (fidelity(&database), notes),
        ("tree".to_owned(), Vec::new())
    );
    let nodes = modelled(&records(text));
    assert_eq!(found(&database), nodes);
    for (metric, name) in ["time", "memory"].iter().enumerate() {
        let (found, expected) = (cumulative(&database, name), outermost(&nodes, metric));
        // Functions that cost nothing in this metric have their row in the first one.
        for (function, cost) in expected {
            assert_eq!(
                found.get(&function).copied().unwrap_or(0.0),
                cost,
                "{name} of {function}"
            );
        }
    }
    check_known(&database, text);
}

/// What both readings know is the same.
fn check_known(database: &Database, text: &str) {
    let edges = imported(as_edges(text).as_bytes());
    for (ours, theirs) in known(database).into_iter().zip(known(&edges)) {
        let differs = ours
            .iter()
            .zip(&theirs)
            .find(|(ours, theirs)| ours != theirs);
        assert_eq!((differs, ours.len()), (None, theirs.len()));
    }
}

fn sample(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/samples/callgrind")
        .join(name);
    let bytes = fs::read(path).expect(name);
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return String::from_utf8(bytes).expect(name);
    }
    let mut text = String::new();
    flate2::read::GzDecoder::new(bytes.as_slice())
        .read_to_string(&mut text)
        .expect(name);
    text
}

/// Files that Xdebug has written: exceptions, generators, destructors, `exit()` within calls,
/// several requests.
#[test]
fn samples_are_trees() {
    for name in ["xdebug.out.gz", "xdebug-paths.out", "xdebug-append.out"] {
        check(&sample(name));
    }
}

/// Fibers run by turns: their calls return in an order that no tree has.
#[test]
fn fibers_are_edges() {
    let text = sample("xdebug-fibers.out");
    let database = imported(text.as_bytes());
    assert_eq!(fidelity(&database), "edges");
    check_known(&database, &text);
}

/// Rows of a report about both functions called `f`: a name, calls, own cost and cost in all, which
/// may be unknown; and what is selected.
type Told = (Option<f64>, BTreeMap<String, (i64, f64, Option<f64>)>);

/// Asks a report about functions; `None` if it has an answer for each of them instead of one for all.
fn ask(database: &Database, report: &str, functions: &str) -> Result<Option<Told>, ReportError> {
    let run = database.run(None)?.expect("a run");
    let arguments = vec![("fn".to_owned(), Argument::Text(functions.to_owned()))];
    let request = Request {
        arguments,
        ..Request::default()
    };
    let mut answer = report::ask(
        database,
        report::by_name(report).expect("a report"),
        &run,
        &request,
    )?;
    if answer.columns[0].name == "about" {
        return Ok(None);
    }
    let place = |wanted: &[&str]| {
        answer
            .columns
            .iter()
            .position(|column| wanted.contains(&&*column.name))
    };
    let places = [
        &["function", "element"][..],
        &["calls"],
        &["exclusive"],
        &["cumulative"],
        &["file", "caller_file", "callee_file"],
    ]
    .map(place);
    let [
        Some(name),
        Some(calls),
        Some(exclusive),
        Some(cumulative),
        file,
    ] = places
    else {
        panic!("{places:?}")
    };
    let mut rows = BTreeMap::new();
    answer.each(|row| {
        let real = |at: usize| {
            if let report::Value::Real(figure) = row[at] {
                Some(figure)
            } else {
                None
            }
        };
        let calls = if let report::Value::Integer(calls) = row[calls] {
            calls
        } else {
            0
        };
        let key = format!("{:?} {:?}", row[name], file.map(|file| &row[file]));
        rows.insert(
            key,
            (calls, real(exclusive).unwrap_or(0.0), real(cumulative)),
        );
        Ok::<_, StoreError>(())
    })?;
    Ok(Some((
        answer.subject.expect("it is a report").selected,
        rows,
    )))
}

/// Checks that functions of a run without paths have the figures of the tree, where the run knows them.
fn check_answers(
    report: &str,
    (total, rows): Told,
    (tree_total, tree_rows): &Told,
) -> Result<(), TestCaseError> {
    if let Some(total) = total {
        prop_assert_eq!(Some(total), *tree_total);
    }
    for (name, (calls, own, all)) in rows {
        // The tree has no rows of callers and callees without cost.
        let Some(row) = tree_rows.get(&name) else {
            return Err(TestCaseError::fail(format!("{name} in {tree_rows:?}")));
        };
        let is_equal = calls <= row.0 && (report != "summary" || own == row.1);
        prop_assert!(is_equal, "{} {:?}", name, row);
        prop_assert!(
            all.is_none() || all == row.2,
            "{} {:?} {:?}",
            name,
            all,
            row
        );
    }
    Ok(())
}

/// Two functions with one name, in a run without paths: the answer is that of the tree for both together, or one for each.
#[test]
fn functions_of_one_name_are_asked_together() {
    fn exact(call: &mut Call) {
        (call.nanoseconds, call.memory) = (call.nanoseconds * 10, call.memory.abs());
        call.calls.iter_mut().for_each(exact);
    }
    let (together, alone) = (Cell::new(0), Cell::new(0));
    let config = ProptestConfig {
        cases: 60,
        rng_algorithm: RngAlgorithm::ChaCha,
        ..ProptestConfig::default()
    };
    proptest!(config, |(mut requests in requests())| {
        requests.truncate(1);
        requests[0].truncate(4);
        requests[0].iter_mut().for_each(exact);
        let text = written(&requests, Version::Three);
        let (tree, edges) = (imported(text.as_bytes()), imported(as_edges(&text).as_bytes()));
        for report in ["summary", "calls", "callees"] {
            match ask(&edges, report, "f") {
                Ok(Some(found)) => {
                    together.set(together.get() + 1);
                    let expected = ask(&tree, report, "f").expect("an answer").expect("one for both");
                    check_answers(report, found, &expected)?;
                }
                Ok(None) => {
                    alone.set(alone.get() + 1);
                    for function in ["f (a.php)", "f (b.php)"] {
                        let Ok(found) = ask(&edges, report, function) else { continue };
                        let expected = ask(&tree, report, function).expect("an answer");
                        check_answers(report, found.expect("one"), &expected.expect("one"))?;
                    }
                }
                Err(ReportError::NothingSelected(_)) => {}
                Err(error) => panic!("{error:?}"),
            }
        }
    });
    assert!(
        together.get() > 20 && alone.get() > 20,
        "{together:?} together, {alone:?} one by one"
    );
}

#[test]
fn written_calls_are_read_back() {
    let config = ProptestConfig {
        cases: 60,
        rng_algorithm: RngAlgorithm::ChaCha,
        ..ProptestConfig::default()
    };
    proptest!(config, |(requests in requests())| {
        for version in [Version::Three, Version::Two] {
            check(&written(&requests, version));
        }
    });
}

/// A number of a call is another one: there is no tree, and all else is read as from anybody.
#[test]
fn a_changed_number_makes_edges() {
    let config = ProptestConfig {
        cases: 40,
        rng_algorithm: RngAlgorithm::ChaCha,
        ..ProptestConfig::default()
    };
    proptest!(config, |(requests in requests(), pick in any::<prop::sample::Index>(), column in 1..3_usize)| {
        let text = written(&requests, Version::Three);
        let lines: Vec<&str> = text.lines().collect();
        let calls: Vec<usize> = (1..lines.len()).filter(|at| lines[at - 1].starts_with("calls=")).collect();
        prop_assume!(!calls.is_empty());
        let changed = calls[pick.index(calls.len())];
        let mut lines: Vec<String> = lines.into_iter().map(str::to_owned).collect();
        let mut words: Vec<String> = lines[changed].split(' ').map(str::to_owned).collect();
        words[column] = (words[column].parse::<u64>().expect("a cost") + 1000).to_string();
        lines[changed] = words.join(" ");
        let text = lines.join("\n");
        let database = imported(text.as_bytes());
        let notes = rows(&database, "SELECT message, line FROM notes WHERE severity = 'warning'");
        prop_assert_eq!(fidelity(&database), "edges");
        let [Value::Text(message), Value::Integer(line)] = &notes[0][..] else { panic!("{notes:?}") };
        prop_assert!(message.starts_with("call paths are unknown, because call "), "{}", message);
        // What the call costs now may be more than its function and what that called.
        let of_callers = |note: &Vec<Value>| matches!(&note[0], Value::Text(text) if text.contains("callers"));
        prop_assert!(notes[1..].iter().all(of_callers), "{:?}", notes);
        // The record that claims the call.
        let before = &lines[..=changed];
        let begins = before.iter().rposition(|line| line.starts_with("fn=")).expect("a record") + 1;
        prop_assert_eq!(usize::try_from(*line), Ok(begins));
        check_known(&database, &text);
    });
}
