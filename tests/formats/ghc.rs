//! Every figure of the sample profiles of GHC (`tests/samples/ghc_prof`, `tests/samples/ghc_json`),
//! as the public views show it, against readers that know nothing but the layout of these files.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use profdb::base::error::Stop;
use profdb::formats;
use profdb::formats::Options;
use profdb::input::{Input, Limits};
use profdb::pipeline::{import, meta};
use profdb::store::Database;

const EXACT: [&str; 5] = [
    "calc.P.prof",
    "calc.cafs.P.prof",
    "calc.px-twin.P.prof",
    "deep.P.prof",
    "triv-noauto.P.prof",
];

const PERCENT: [&str; 2] = ["calc.p.prof", "triv.p.prof"];

const JSON: [&str; 4] = [
    "calc.pj.json",
    "calc-quote.pj.json",
    "deep.pj.json",
    "triv.pj.json",
];

const BUILTINS: [(&str, &str); 5] = [
    ("GC", "GC"),
    ("IDLE", "IDLE"),
    ("SYSTEM", "SYSTEM"),
    ("OVERHEAD_of", "PROFILING"),
    ("DONT_CARE", "MAIN"),
];

fn sample(name: &str) -> PathBuf {
    let folder = if Path::new(name).extension().is_some_and(|end| end == "json") {
        "ghc_json"
    } else {
        "ghc_prof"
    };
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/samples")
        .join(folder)
        .join(name)
}

fn text(name: &str) -> String {
    fs::read_to_string(sample(name)).expect("a sample is readable")
}

fn imported(name: &str, options: &Options) -> Database {
    let bytes = fs::read(sample(name)).expect("a sample is readable");
    let input = Input::new(
        Box::new(bytes.as_slice()),
        Limits::default(),
        Stop::default(),
    )
    .expect("readable");
    let format = formats::detect(input.head()).expect("recognised");
    let expected = if JSON.contains(&name) {
        "ghc_json"
    } else {
        "ghc_prof"
    };
    assert_eq!(format.name, expected, "{name}");
    let describe = |fingerprint| meta(format, options, name, fingerprint);
    import(
        input,
        format,
        options,
        &Stop::default(),
        describe,
        Database::in_memory,
    )
    .expect("imported")
    .database
}

fn with_builtins() -> Options {
    let mut options = Options::default();
    options.set("with-builtins", "");
    options
}

/// One node: depth, label, module, calls, exclusive and cumulative cost.
#[derive(Clone, Debug, PartialEq)]
struct Node {
    depth: usize,
    label: String,
    module: String,
    calls: Option<u64>,
    exclusive: f64,
    cumulative: f64,
}

fn tree(database: &Database, metric: &str) -> Vec<Node> {
    let sql = "SELECT depth, function, module, calls, exclusive, cumulative FROM tree WHERE metric = ?1 ORDER BY node_id";
    let mut statement = database.connection().prepare(sql).expect("the view tree");
    let rows = statement.query_map([metric], |row| {
        Ok(Node {
            depth: usize::try_from(row.get::<_, i64>(0)?).expect("a depth"),
            label: row.get(1)?,
            module: row.get(2)?,
            calls: row
                .get::<_, Option<i64>>(3)?
                .map(|calls| u64::try_from(calls).expect("a count")),
            exclusive: row.get(4)?,
            cumulative: row.get(5)?,
        })
    });
    rows.expect("rows").map(|row| row.expect("a row")).collect()
}

fn total(database: &Database, metric: &str) -> f64 {
    let sql = "SELECT total FROM metrics WHERE name = ?1";
    database
        .connection()
        .query_row(sql, [metric], |row| row.get(0))
        .expect("the metric")
}

fn notes(database: &Database) -> Vec<(String, String)> {
    let mut statement = database
        .connection()
        .prepare("SELECT severity, message FROM notes")
        .expect("the table notes");
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
    rows.expect("rows").map(|row| row.expect("a row")).collect()
}

/// Calls, exclusive and cumulative cost of each function, by label and module: what shares both is
/// added up, as far as that makes sense.
fn summary(database: &Database, metric: &str) -> BTreeMap<(String, String), (u64, f64, f64)> {
    let sql =
        "SELECT function, module, calls, exclusive, cumulative FROM summary WHERE metric = ?1";
    let mut statement = database
        .connection()
        .prepare(sql)
        .expect("the view summary");
    let mut functions: BTreeMap<_, (u64, f64, f64)> = BTreeMap::new();
    let rows = statement.query_map([metric], |row| {
        let calls = u64::try_from(row.get::<_, i64>(2)?).expect("a count");
        Ok((
            (row.get(0)?, row.get(1)?),
            (calls, row.get::<_, f64>(3)?, row.get::<_, f64>(4)?),
        ))
    });
    for row in rows.expect("rows") {
        let (name, (calls, exclusive, cumulative)) = row.expect("a row");
        let known = functions.entry(name).or_default();
        *known = (known.0 + calls, known.1 + exclusive, known.2 + cumulative);
    }
    functions
}

/// Ticks, their interval in ns, bytes: from the head of a report, by its punctuation.
fn head(report: &str) -> (f64, f64, f64) {
    let between = |start: &str, end: &str| {
        let rest = report.split_once(start).expect(start).1;
        rest.split_once(end)
            .expect(end)
            .0
            .trim()
            .replace(',', "")
            .parse::<f64>()
            .expect("a number")
    };
    (
        between("secs   (", "ticks"),
        between("ticks @", "us") * 1e3,
        between("total alloc =", "bytes"),
    )
}

/// The words of the rows of the last table, with their indentation.
fn rows(report: &str) -> Vec<(usize, Vec<&str>)> {
    let table = report
        .rsplit_once("COST CENTRE")
        .expect("the second table")
        .1;
    let lines = table.lines().skip(1).filter(|line| !line.trim().is_empty());
    lines
        .map(|line| {
            (
                line.len() - line.trim_start().len(),
                line.split_whitespace().collect(),
            )
        })
        .collect()
}

/// Adds up what is below each node of a pre-order.
fn cumulative(depths: &[usize], exclusive: &[f64]) -> Vec<f64> {
    (0..depths.len())
        .map(|at| {
            let below = depths[at + 1..]
                .iter()
                .take_while(|depth| **depth > depths[at])
                .count();
            exclusive[at..=at + below].iter().sum()
        })
        .collect()
}

fn number(word: &str) -> f64 {
    word.parse()
        .unwrap_or_else(|_| panic!("{word:?} is no number"))
}

#[test]
fn text_with_exact_figures() {
    for name in EXACT {
        let report = text(name);
        let (ticks, interval, bytes) = head(&report);
        let rows = rows(&report);
        let depths: Vec<usize> = rows.iter().map(|(depth, _)| *depth).collect();
        let database = imported(name, &Options::default());
        assert_eq!(notes(&database), [], "{name}");
        for (metric, column, total_stated, unit) in [
            ("ticks", 2, ticks, 1.0),
            ("time", 2, ticks * interval, interval),
            ("alloc", 1, bytes, 1.0),
        ] {
            let exclusive: Vec<f64> = rows
                .iter()
                .map(|(_, words)| number(words[words.len() - column]) * unit)
                .collect();
            let sums = cumulative(&depths, &exclusive);
            let expected: Vec<Node> = rows
                .iter()
                .zip(exclusive.iter().zip(&sums))
                .map(|((depth, words), (exclusive, cumulative))| Node {
                    depth: *depth,
                    label: words[0].to_owned(),
                    module: words[1].to_owned(),
                    calls: words[words.len() - 7].parse().ok(),
                    exclusive: *exclusive,
                    cumulative: *cumulative,
                })
                .collect();
            let found = tree(&database, metric);
            assert_eq!(found, expected, "{name} {metric}");
            let sum: f64 = found.iter().map(|node| node.exclusive).sum();
            assert_eq!(
                (sum, total(&database, metric)),
                (total_stated, total_stated),
                "{name} {metric}"
            );
            // What the report itself says of the inherited cost, in percent.
            let percent = if metric == "alloc" { 3 } else { 4 };
            for ((_, words), node) in rows.iter().zip(&found).filter(|_| total_stated > 0.0) {
                let stated = number(words[words.len() - percent]);
                assert!(
                    (node.cumulative / total_stated * 100.0 - stated).abs() < 0.051,
                    "{name} {metric} {words:?}"
                );
            }
        }
        // The first table: own cost per cost centre.
        let first = report.split_once("COST CENTRE").expect("the first table").1;
        let first = first
            .split_once("\n\n\n")
            .expect("the end of the first table")
            .0;
        let mut stated: HashMap<(String, String), [f64; 2]> = HashMap::new();
        for line in first.lines().skip(1).filter(|line| !line.is_empty()) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let sums = stated
                .entry((words[0].to_owned(), words[1].to_owned()))
                .or_default();
            sums[0] += number(words[words.len() - 2]);
            sums[1] += number(words[words.len() - 1]);
        }
        assert!(
            stated.len() > 3,
            "{name}: a first table of {} rows",
            stated.len()
        );
        let (ticks, alloc) = (summary(&database, "ticks"), summary(&database, "alloc"));
        // Functions without cost in a metric need not be listed there.
        let own = |functions: &BTreeMap<_, (u64, f64, f64)>, key| {
            functions.get(key).map_or(0.0, |figures| figures.1)
        };
        #[expect(
            clippy::iter_over_hash_type,
            reason = "every row is compared, in any order"
        )]
        for (key, figures) in &stated {
            assert_eq!(
                (own(&ticks, key), own(&alloc, key)),
                (figures[0], figures[1]),
                "{name} {key:?}"
            );
        }
    }
}

#[test]
fn figures_of_calc() {
    let database = imported("calc.P.prof", &Options::default());
    assert_eq!(tree(&database, "time").len(), 93);
    let (ticks, alloc) = (summary(&database, "ticks"), summary(&database, "alloc"));
    let check = |label: &str, module: &str, expected: (u64, f64, f64)| {
        let key = (label.to_owned(), module.to_owned());
        assert_eq!(
            (ticks[&key].0, ticks[&key].1, alloc[&key].1),
            expected,
            "{label}"
        );
    };
    check(
        "collatz''.steps",
        "Calc.Ops",
        (762_486, 77.0, 172_753_416.0),
    );
    check("table.sieve", "Calc.Eval", (1500, 71.0, 184_086_608.0));
    check("isEvenM", "Calc.Eval", (541_501, 4.0, 21_636_000.0));
    check("isOddM", "Calc.Eval", (541_500, 13.0, 21_612_000.0));
    // Two cost centres of one label and module.
    let sql = "SELECT first_line, first_col FROM functions WHERE name = 'expr.go.(...)' ORDER BY first_line";
    let mut statement = database
        .connection()
        .prepare(sql)
        .expect("the table functions");
    let places: Vec<(i64, i64)> = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .expect("rows")
        .map(|row| row.expect("a row"))
        .collect();
    assert_eq!(places, [(16, 28), (17, 28)]);
    let node = |metric: &str, label: &str, cumulative: f64| {
        tree(&database, metric)
            .iter()
            .any(|node| node.label == label && (node.cumulative - cumulative).abs() < 0.5)
    };
    assert!(
        node("ticks", "main", 165.0)
            && node("alloc", "main", 403_966_464.0)
            && node("ticks", "CAF", 72.0)
    );
}

#[test]
fn the_twin_of_a_log() {
    let database = imported("calc.px-twin.P.prof", &Options::default());
    let (ticks, alloc) = (summary(&database, "ticks"), summary(&database, "alloc"));
    let mut compared = 0;
    let mut expected: BTreeMap<(String, String), (u64, f64, f64)> = BTreeMap::new();
    for line in text("calc.px-twin.expected.tsv").lines().skip(1) {
        let cells: Vec<&str> = line.split('\t').collect();
        let known = expected
            .entry((cells[2].to_owned(), cells[1].to_owned()))
            .or_default();
        let calls: u64 = cells[3].parse().expect("a count");
        *known = (
            known.0 + calls,
            known.1 + number(cells[4]),
            known.2 + number(cells[5]) * 8.0,
        );
    }
    for (key, (calls, own_ticks, own_bytes)) in &expected {
        let Some(found) = ticks.get(key) else {
            // The report leaves out stacks without any cost; functions without ticks need not be
            // listed.
            assert!(*own_ticks == 0.0, "{key:?}");
            assert!(
                alloc.get(key).is_none_or(|figures| figures.0 == *calls),
                "{key:?}"
            );
            let shown = alloc.get(key).map_or(0.0, |figures| figures.1);
            // What the program allocates while it ends comes after the log.
            assert!(
                (shown - own_bytes).abs() < f64::EPSILON || key.1 == "GHC.IO.Handle.FD",
                "{key:?}"
            );
            continue;
        };
        assert_eq!((found.0, found.1), (*calls, *own_ticks), "{key:?}");
        let more = alloc.get(key).map_or(0.0, |figures| figures.1) - own_bytes;
        // What the program allocates while it ends comes after the log.
        let at_exit = matches!(key.0.as_str(), "MAIN" | "CAF");
        assert!(
            more == 0.0 || (at_exit && more > 0.0 && more < 20_000.0),
            "{key:?}: {more} bytes more"
        );
        compared += 1;
    }
    assert!(compared >= 25, "only {compared} functions were compared");
}

#[test]
fn text_with_percentages() {
    for name in PERCENT {
        let report = text(name);
        let (ticks, _, bytes) = head(&report);
        let database = imported(name, &Options::default());
        let notes = notes(&database);
        assert!(
            matches!(notes.as_slice(), [(severity, message)] if severity == "warning" && message.contains("0.1 %"))
        );
        for (metric, own, inherited, stated) in [("ticks", 4, 2, ticks), ("alloc", 3, 1, bytes)] {
            assert!(
                (total(&database, metric) - stated).abs() < f64::EPSILON,
                "{name} {metric}"
            );
            let rows = rows(&report);
            let found = tree(&database, metric);
            assert_eq!(found.len(), rows.len(), "{name}");
            for ((depth, words), node) in rows.iter().zip(found) {
                let cost = |column: usize| number(words[words.len() - column]) / 100.0 * stated;
                assert_eq!(
                    (node.depth, node.label.as_str()),
                    (*depth, words[0]),
                    "{name}"
                );
                assert_eq!(
                    node.calls,
                    words[words.len() - 5].parse().ok(),
                    "{name} {words:?}"
                );
                let close = |left: f64, right: f64| (left - right).abs() < 1e-6;
                assert!(
                    close(node.exclusive, cost(own)) && close(node.cumulative, cost(inherited)),
                    "{name} {words:?}"
                );
            }
        }
    }
}

type JsonNode = (usize, (String, String), u64, f64, f64);

/// The nodes of a JSON file, in order: depth, label and module, entries, ticks, bytes. Follows the
/// brackets, which no text of the tree holds.
fn json_nodes(file: &str) -> Vec<JsonNode> {
    let (head, profile) = file.split_once("\"profile\":").expect("a profile");
    let centres = head
        .split_once("\"cost_centres\": [")
        .expect("cost centres")
        .1;
    let mut names = HashMap::new();
    for centre in centres.split("{\"id\": ").skip(1) {
        let (id, rest) = centre.split_once(", \"label\": \"").expect("a label");
        let (label, rest) = rest.split_once("\", \"module\": \"").expect("a module");
        let (module, _) = rest.split_once("\", \"src_loc\": \"").expect("a place");
        names.insert(id, (label.replace("\\\\", "\\"), module.to_owned()));
    }
    let mut nodes = Vec::new();
    let mut depth = 0_usize;
    for part in profile.split('{').skip(1) {
        let mut figures = part
            .split(|letter: char| !letter.is_ascii_digit())
            .filter(|word| !word.is_empty());
        let mut figure = || figures.next().expect("a figure");
        let (id, entries, alloc, ticks) = (figure(), figure(), figure(), figure());
        nodes.push((
            depth,
            names[id].clone(),
            entries.parse().expect("a count"),
            number(ticks),
            number(alloc),
        ));
        depth = (depth + 1).saturating_sub(part.matches('}').count());
    }
    nodes
}

#[test]
fn json() {
    for name in JSON {
        let file = text(name);
        let stated = |member: &str| {
            let rest = file
                .split_once(member)
                .expect(member)
                .1
                .trim_start_matches(['"', ':', ' ']);
            number(rest.split_once(',').expect("a comma").0.trim())
        };
        let (ticks, alloc) = (stated("total_ticks"), stated("total_alloc"));
        let interval = stated("tick_interval") * 1e3;
        let nodes = json_nodes(&file);
        let depths: Vec<usize> = nodes.iter().map(|node| node.0).collect();
        let inside = imported(name, &with_builtins());
        let outside = imported(name, &Options::default());
        for (metric, stated, unit) in [
            ("ticks", ticks, 1.0),
            ("time", ticks * interval, interval),
            ("alloc", alloc, 1.0),
        ] {
            let figure = |node: &JsonNode| unit * if metric == "alloc" { node.4 } else { node.3 };
            let exclusive: Vec<f64> = nodes.iter().map(figure).collect();
            let sums = cumulative(&depths, &exclusive);
            let expected: Vec<Node> = nodes
                .iter()
                .zip(exclusive.iter().zip(&sums))
                .map(
                    |((depth, (label, module), entries, ..), (exclusive, cumulative))| Node {
                        depth: *depth,
                        label: label.clone(),
                        module: module.clone(),
                        calls: Some(*entries),
                        exclusive: *exclusive,
                        cumulative: *cumulative,
                    },
                )
                .collect();
            assert_eq!(tree(&inside, metric), expected, "{name} {metric}");
            assert_eq!(
                (total(&inside, metric), sums[0]),
                (stated, stated),
                "{name} {metric}"
            );
            // Without the five: the same nodes but for their own, and the total of the rest.
            let is_builtin =
                |node: &&Node| BUILTINS.contains(&(node.label.as_str(), node.module.as_str()));
            let builtin: f64 = expected
                .iter()
                .filter(is_builtin)
                .map(|node| node.exclusive)
                .sum();
            let found = tree(&outside, metric);
            let root = found
                .iter()
                .position(|node| node.label == "(built-in)")
                .expect("a root of their own");
            assert!(
                (total(&outside, metric) - (stated - builtin)).abs() < 0.5,
                "{name} {metric}"
            );
            assert!(
                (found[0].cumulative - (stated - builtin)).abs() < 0.5,
                "{name} {metric}"
            );
            assert!(
                (found[root].cumulative - builtin).abs() < 0.5,
                "{name} {metric}"
            );
            assert_eq!(
                found[root + 1..].iter().filter(is_builtin).count(),
                5,
                "{name}"
            );
            assert_eq!(
                (found[root].depth, found.len()),
                (0, expected.len() + 1),
                "{name}"
            );
            let mut rest = expected
                .iter()
                .filter(|node| !is_builtin(node))
                .cloned()
                .collect::<Vec<_>>();
            rest[0].cumulative -= builtin;
            assert_eq!(found[..root], rest, "{name} {metric}");
        }
    }
}

#[test]
fn text_and_json_of_one_program_agree() {
    let json = imported("calc.pj.json", &Options::default());
    let report = imported("calc.P.prof", &Options::default());
    assert!(
        (total(&json, "alloc") - 590_809_104.0).abs() < 0.5
            && (total(&json, "ticks") - 212.0).abs() < 0.5
    );
    assert!((total(&report, "alloc") - 590_809_104.0).abs() < 0.5);
    let (said, shown) = (summary(&json, "alloc"), summary(&report, "alloc"));
    for (key, figures) in &shown {
        assert_eq!(said.get(key), Some(figures), "{key:?}");
    }
    assert!(
        shown.len() > 40,
        "only {} functions were compared",
        shown.len()
    );
}

#[test]
fn a_quote_in_a_label() {
    let database = imported("calc-quote.pj.json", &Options::default());
    assert!(
        summary(&database, "alloc").contains_key(&("weird\"label".to_owned(), "Main".to_owned()))
    );
    assert!(summary(&database, "alloc").contains_key(&("weird.\\".to_owned(), "Main".to_owned())));
    assert!(
        notes(&database)
            .iter()
            .any(|(_, message)| message.contains("not escaped"))
    );
    let deepest = tree(&imported("deep.pj.json", &Options::default()), "ticks")
        .iter()
        .map(|node| node.depth)
        .max();
    assert_eq!(deepest, Some(181));
}
