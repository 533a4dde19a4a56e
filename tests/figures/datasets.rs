//! Engines that read datasets say what SQLite says: `DuckDB`, `chDB` (`ClickHouse` in a process) and Apache Spark (packages of `PyPI`), over
//! all cases and 200 runs that are made up. `tests/support/dataset_engines.py` asks and compares; Spark is a cluster of a master and two
//! workers, one of which is killed (`tests/support/spark_cluster.py`). To Spark each of thousands of small files is a task, so that it is
//! asked about a few cases and runs, and about all of them in the long form.

#![cfg(all(unix, feature = "parquet"))]
#![expect(clippy::disallowed_methods, reason = "small files of our own")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::large_sums::{FUNCTIONS, MANY, calls_of_one, tree_of_roots};
use crate::support::case_files::repository_path;
use crate::support::long;
use crate::support::program::{self, PROFDB};
use crate::support::tools;

/// Number of generated runs in the long form.
const MADE_UP: u64 = 200;

/// The cases of a small corpus: a tree with lines, labels, call graphs with lines and circles, several metrics.
const SOME: [&str; 7] = [
    "austin/threads-of-forks",
    "dyalog_xml/shop-tree",
    "pprof/labels",
    "callgrind/parts",
    "callgrind/recursion-levels",
    "callgrind/valgrind",
    "cli/all-metrics",
];

/// Number of generated runs.
const FEW: u64 = 12;

/// Number of stacks of a generated run.
const STACKS: u64 = 40;

/// Maximum depth of recursion: more than the 100 after which Spark ends what recurs in SQL.
const LEVELS: usize = 150;

fn profdb(arguments: &[&str]) -> std::process::Output {
    let mut command = program::command();
    command.args(arguments).output().expect("our own program")
}

fn done(arguments: &[&str]) {
    let output = profdb(arguments);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {told}");
}

/// Stacks of a run that is made up: functions recur, and each run has some that others have not.
fn stacks(run: u64) -> String {
    let mut number = run + 1;
    let mut below = |limit: u64| {
        number = number
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (number >> 33) % limit
    };
    let mut text = String::new();
    for _ in 0..STACKS {
        let depth = 1 + below(7);
        let frames: Vec<String> = (0..depth)
            .map(|_| format!("f{}", below(9 + run % 5)))
            .collect();
        writeln!(
            text,
            "main;{} {}",
            frames.join(";"),
            1 + below(1_000_000_000)
        )
        .expect("memory");
    }
    text
}

/// Stacks of a program that recurses: a function that calls itself, two that call each other, and one that does so again further down.
fn recursing() -> String {
    let (down, turns) = (["down"; LEVELS].join(";"), ["even;odd"; 40].join(";"));
    format!(
        "main;{down} 3\nmain;{down};leaf 5\nmain;{turns} 7\nmain;{turns};down;leaf;down 11\nmain;down;leaf 13\nmain;leaf 17\n"
    )
}

/// Stacks of functions whose names are words of statements.
const WORDS: &str = "main;FROM nodes 5\nmain;FROM nodes;JOIN functions 3\nmain;a ROWS UNBOUNDED PRECEDING b;t.line IS e.line 2\n\
    main:run WINDOW w AS (x);${env:HOME} 7\nmain;it's FROM runs;leaf 1\n";

/// A database of cases, all or some, and of so many runs that are made up, and the dataset of it.
fn corpus(cases: &[&str], made_up: u64) -> (TempDir, PathBuf, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let (database, dataset) = (folder.path().join("a.db"), folder.path().join("dataset"));
    let [db, out] = [&database, &dataset].map(|path| path.to_str().expect("plain"));
    let cases: Vec<String> = cases
        .iter()
        .map(|case| repository_path(&format!("tests/cases/{case}")))
        .map(|path| path.into_os_string().into_string().expect("plain"))
        .collect();
    let mut import = vec!["import", "--db", db];
    import.extend(cases.iter().map(String::as_str));
    // Cases of what is refused are among them.
    let imported = profdb(&import);
    assert!(matches!(imported.status.code(), Some(0 | 3)));
    let code = repository_path("tests/cases/cli/code");
    let code = code.to_str().expect("plain");
    done(&[
        "import",
        "--db",
        db,
        "--tag",
        "commit=c",
        "--tag",
        "commit_count=12 or so",
        "--source",
        code,
        code,
    ]);
    let stacked = folder.path().join("made-up");
    fs::create_dir(&stacked).expect("a folder");
    for run in 0..made_up {
        fs::write(stacked.join(format!("{run:03}.folded")), stacks(run)).expect("room");
    }
    let stacked = stacked.to_str().expect("plain");
    done(&[
        "import",
        "--db",
        db,
        "--tag",
        "commit_count=7",
        "--tag",
        "branch=ma'in\\",
        stacked,
    ]);
    // Sums of calls that leave 64 bits: over runs, and in one of them over functions that are one by their identity. And recursion.
    // Positions that are beyond 64 bits, or no numbers, are NULL.
    for (name, text, count) in [
        ("callgrind.out.1", calls_of_one(), "9223372036854775807"),
        ("tree.csv", tree_of_roots(), "9223372036854775808"),
        ("recursing.folded", recursing(), "007"),
        ("words.folded", WORDS.to_owned(), "-5"),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("room");
        let tag = format!("--tag=commit_count={count}");
        done(&["import", "--db", db, &tag, path.to_str().expect("plain")]);
    }
    done(&["export", "--db", db, "--format", "parquet", "--out", out]);
    (folder, database, dataset)
}

/// Checks that an engine answers like SQLite.
fn same_in(engine: &str, database: &Path, dataset: &Path) {
    let asked = tools::command("python3")
        .arg("tests/support/dataset_engines.py")
        .args([engine, PROFDB])
        .args([database, dataset])
        .output()
        .expect("it can be started");
    let (told, wrong) = (
        String::from_utf8_lossy(&asked.stdout),
        String::from_utf8_lossy(&asked.stderr),
    );
    assert!(asked.status.success(), "{engine}: {told}\n{wrong}");
    is_something(&told);
}

/// Every view and report had rows to compare.
fn is_something(told: &str) {
    for name in [
        "summary",
        "calls",
        "callees",
        "lines",
        "exclusive",
        "cumulative",
        "tree",
        "changes",
        "history",
    ] {
        let line = told
            .lines()
            .find_map(|line| line.strip_prefix(&format!("{name}: ")));
        let rows = line.and_then(|line| line.strip_suffix(" rows")?.parse::<u64>().ok());
        assert!(rows.is_some_and(|rows| rows > 100), "{name}: {told}");
    }
    // No line of what was compared says that there was nothing.
    let compared = told.lines().filter(|line| line.ends_with(" rows"));
    assert!(compared.count() >= 19 + 7, "{told}");
    assert!(!told.contains(": 0 rows"), "{told}");
    for name in [
        "summary",
        "exclusive",
        "cumulative",
        "lines",
        "tree",
        "calls",
        "callees",
    ] {
        let line = told
            .lines()
            .find_map(|line| line.strip_prefix(&format!("report {name}: ")));
        let rows = line.and_then(|line| line.strip_suffix(" rows")?.parse::<u64>().ok());
        assert!(rows.is_some_and(|rows| rows > 0), "report {name}: {told}");
    }
    // The corpus of all cases has deeper ones.
    let levels = told
        .lines()
        .find_map(|line| line.strip_prefix("most levels of a recursion: "));
    let levels = levels.and_then(|levels| levels.parse().ok());
    assert!(
        levels.is_some_and(|levels: usize| levels >= LEVELS),
        "{told}"
    );
    for what in ["sum of all calls", "most calls of an identity"] {
        let sum = told
            .lines()
            .find_map(|line| line.strip_prefix(&format!("{what}: ")));
        let sum = sum.and_then(|sum| sum.parse::<u128>().ok());
        let least = u128::from(MANY) * u128::from(FUNCTIONS);
        assert!(sum.is_some_and(|sum| sum >= least), "{what}: {told}");
    }
}

/// Reports that no engine has words for say so, and what they would have to be asked instead.
#[test]
fn what_engines_have_no_words_for_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = folder.path().join("a.db");
    let db = database.to_str().expect("plain");
    let tree = "tests/cases/dyalog_xml/shop-tree/run.xml";
    done(&["import", "--db", db, tree]);
    // Words of SQLite in a name are a name.
    let path = folder.path().join("names.folded");
    fs::write(&path, "PRINTF;GLOB 1\nPRINTF;source_lines 2\n").expect("room");
    done(&["import", "--db", db, path.to_str().expect("plain")]);
    let asked = |words: &[&str], dialect: &str, run: &str| {
        let mut arguments = vec!["report"];
        arguments.extend_from_slice(words);
        arguments.extend(["--db", db, "--run", run, "--show-sql", "--dialect", dialect]);
        profdb(&arguments)
    };
    let (climbs, words) = (
        "it contains a recursive query",
        "it uses functions that only SQLite has",
    );
    let none: [(&[&str], &str); 6] = [
        (&["bottom_up"], climbs),
        (&["paths"], climbs),
        (&["function", "--fn", "#.Shop.Main"], words),
        (&["lines", "--code"], words),
        (&["tree", "--code"], words),
        (&["call_lines", "--fn", "#.Util.*", "--code"], words),
    ];
    for dialect in ["spark", "duckdb", "clickhouse"] {
        for (report, why) in none {
            let refused = asked(report, dialect, "1");
            let said = String::from_utf8_lossy(&refused.stderr);
            assert_eq!(refused.status.code(), Some(2), "{report:?}: {said}");
            let expected = format!(
                "profdb: --dialect: report {} has no statement for {dialect} because {why}; without --dialect, the statement for SQLite is shown\n",
                report[0]
            );
            assert_eq!(said, expected, "{report:?}");
            assert!(refused.stdout.is_empty(), "{report:?}");
        }
        for report in [
            &["calls", "--fn", "source_lines"] as &[&str],
            &["callees", "--fn", "PRINTF"],
            &["summary", "--focus", "GLOB"],
        ] {
            let shown = asked(report, dialect, "2");
            let said = String::from_utf8_lossy(&shown.stderr);
            assert!(shown.status.success(), "{report:?}: {said}");
        }
    }
}

/// Skips the test unless an engine is installed.
fn require_engine(dialect: &str) {
    match dialect {
        "duckdb" => tools::require_python_module("duckdb"),
        "clickhouse" => tools::require_python_module("chdb"),
        _ => {
            tools::require_python_module("pyspark");
            tools::require("java");
        }
    }
}

#[test]
fn duckdb_and_clickhouse_answer_like_sqlite() {
    require_engine("duckdb");
    require_engine("clickhouse");
    let (_folder, database, dataset) = if long::is_long() {
        corpus(&[""], MADE_UP)
    } else {
        corpus(&SOME, FEW)
    };
    for engine in ["duckdb", "chdb"] {
        same_in(engine, &database, &dataset);
    }
}

/// What Java is told: Spark's statements here run once on a few rows, and to compile its own code well for them is two fifths of all
/// that it does.
const JAVA_OPTIONS: (&str, &str) = (
    "JAVA_TOOL_OPTIONS",
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
);

/// Names of folders that engines would take for patterns of others.
const FOLDERS: [&str; 10] = [
    "a*b",
    "a?b",
    "a[b",
    "a]b",
    "a[xy]b",
    "a{x,y}b",
    "**",
    "it's `so` \"\"",
    "a\\b",
    // Called like the folder of a day.
    "day=2001-02-03",
];

/// Folders that these patterns fit.
const FITTING: [&str; 3] = ["axb", "ayb", "aab"];

#[test]
fn duckdb_reads_datasets_in_folders_named_like_patterns() {
    check_folders_named_like_patterns("duckdb", "\\");
}

#[test]
fn clickhouse_reads_datasets_in_folders_named_like_patterns() {
    check_folders_named_like_patterns("clickhouse", "*?{}");
}

#[test]
fn spark_reads_datasets_in_folders_named_like_patterns() {
    check_folders_named_like_patterns("spark", "");
}

/// Checks that an engine reads only the runs of the named folder.
///
/// `refused` has the characters that the engine cannot quote: `schema` refuses such a folder.
fn check_folders_named_like_patterns(dialect: &str, refused: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    for (number, name) in FOLDERS.iter().chain(&FITTING).enumerate() {
        let profile = root.join(format!("{number}.folded"));
        fs::write(&profile, format!("main;f{number} {}\n", number + 1)).expect("room");
        let database = root.join(format!("{number}.db"));
        let [db, profile] = [&database, &profile].map(|path| path.to_str().expect("plain"));
        done(&["import", "--db", db, profile]);
        let out = root.join("datasets").join(name);
        fs::create_dir_all(&out).expect("room");
        let out = out.to_str().expect("plain");
        done(&["export", "--db", db, "--format", "parquet", "--out", out]);
    }
    let mut scripts = Vec::new();
    for (number, name) in FOLDERS.iter().enumerate() {
        let out = root.join("datasets").join(name);
        let out = out.to_str().expect("plain");
        let asked = profdb(&["schema", "--dialect", dialect, "--dataset", out]);
        let said = String::from_utf8_lossy(&asked.stderr);
        if let Some(sign) = name.chars().find(|sign| refused.contains(*sign)) {
            assert_eq!(asked.status.code(), Some(2), "{dialect} {name}: {said}");
            let expected = format!("{dialect} reads `{sign}` in a path as a pattern");
            assert!(said.contains(&expected), "{dialect} {name}: {said}");
            continue;
        }
        assert!(asked.status.success(), "{dialect} {name}: {said}");
        let script = root.join(format!("{dialect}-{number}.sql"));
        fs::write(&script, &asked.stdout).expect("room");
        scripts.push((script, format!("{number}.folded on unknown")));
    }
    assert!(!scripts.is_empty());
    require_engine(dialect);
    let mut python = tools::command("python3");
    python.arg("tests/support/dataset_places.py").arg(dialect);
    python.args(scripts.iter().map(|(script, _)| script));
    python.env(JAVA_OPTIONS.0, JAVA_OPTIONS.1);
    let asked = python.output().expect("it can be started");
    let (told, wrong) = (
        String::from_utf8_lossy(&asked.stdout),
        String::from_utf8_lossy(&asked.stderr),
    );
    assert!(asked.status.success(), "{dialect}: {told}\n{wrong}");
    let expected: Vec<&str> = scripts.iter().map(|(_, run)| run.as_str()).collect();
    assert_eq!(
        told.lines().collect::<Vec<_>>(),
        expected,
        "{dialect}: {wrong}"
    );
}

#[test]
fn duckdb_reads_missing_tables_as_empty() {
    check_missing_tables("duckdb");
}

#[test]
fn clickhouse_reads_missing_tables_as_empty() {
    check_missing_tables("clickhouse");
}

#[test]
fn spark_reads_missing_tables_as_empty() {
    check_missing_tables("spark");
}

/// Checks that an engine takes a table without files for an empty one.
///
/// Engines that merge small files write no file for a table without rows, and trees may be deleted
/// before sums.
fn check_missing_tables(dialect: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    let (database, dataset, profile) = (
        root.join("a.db"),
        root.join("dataset"),
        root.join("words.folded"),
    );
    fs::write(&profile, WORDS).expect("room");
    let [db, out, profile] =
        [&database, &dataset, &profile].map(|path| path.to_str().expect("plain"));
    done(&["import", "--db", db, profile]);
    done(&["export", "--db", db, "--format", "parquet", "--out", out]);
    for table in ["nodes", "node_costs", "node_labels", "notes"] {
        fs::remove_dir_all(dataset.join(table)).expect("it is there");
    }
    for table in ["source_texts", "label_sets"] {
        let day = dataset.join(table).join("day=unknown");
        for file in fs::read_dir(day).expect("it is there") {
            fs::remove_file(file.expect("a file").path()).expect("it is there");
        }
    }
    let asked = profdb(&["schema", "--dialect", dialect, "--dataset", out]);
    let script = String::from_utf8_lossy(&asked.stdout).into_owned();
    assert_eq!(script.matches("\nWHERE 1 = 0;").count(), 6, "{script}");
    // Of an address nothing is known.
    let far = profdb(&["schema", "--dialect", dialect, "--dataset", "s3://a/b"]);
    let far = String::from_utf8_lossy(&far.stdout).into_owned();
    assert!(
        far.contains("VIEW nodes AS") && !far.contains("1 = 0"),
        "{far}"
    );
    require_engine(dialect);
    let place = root.join(format!("{dialect}.sql"));
    fs::write(&place, script).expect("room");
    let mut python = tools::command("python3");
    python.args(["tests/support/dataset_places.py", dialect, "--all"]);
    let asked = python.arg(place).env(JAVA_OPTIONS.0, JAVA_OPTIONS.1);
    let asked = asked.output().expect("it can be started");
    let (told, wrong) = (
        String::from_utf8_lossy(&asked.stdout),
        String::from_utf8_lossy(&asked.stderr),
    );
    assert!(asked.status.success(), "{dialect}: {told}\n{wrong}");
    for counted in ["runs 1, ", "functions 9, ", "summary 9", "history 9"] {
        assert!(told.contains(counted), "{dialect}: {told}\n{wrong}");
    }
    for empty in ["nodes", "tree", "labels"] {
        assert!(!told.contains(empty), "{dialect}: {told}");
    }
}

/// Datasets whose files an engine has written come back as they were, whatever the order of their rows and however these are
/// compressed; what is no row of profdb's is refused in its words.
#[test]
fn what_an_engine_has_written_comes_back() {
    require_engine("duckdb");
    let (_folder, database, dataset) = corpus(&SOME, 1);
    let root = dataset.parent().expect("a folder");
    let database = database.to_str().expect("plain");
    let questions = [
        "SELECT run_uid, title, nodes FROM runs JOIN run_list USING (run_id) ORDER BY run_uid",
        "SELECT run_uid, severity, message FROM notes JOIN runs USING (run_id) ORDER BY run_uid, note_id",
        "SELECT run_uid, s.function, s.metric, s.calls, s.exclusive, s.cumulative FROM summary AS s JOIN runs USING (run_id) ORDER BY 1, 2, 3, 4, 5, 6",
        "SELECT run_uid, node_id - first_node AS node, t.function, t.line, t.exclusive, t.cumulative FROM tree AS t JOIN runs USING (run_id) \
         WHERE metric = (SELECT name FROM metrics WHERE metric_id = default_metric_id) ORDER BY 1, 2",
    ];
    let answers = |db: &str| {
        questions.map(|question| {
            let asked = profdb(&["sql", "--db", db, "--format", "csv", question]);
            let told = String::from_utf8_lossy(&asked.stdout).into_owned();
            assert!(
                asked.status.success() && told.lines().count() > 2,
                "{question}: {told}{}",
                String::from_utf8_lossy(&asked.stderr)
            );
            told
        })
    };
    let expected = answers(database);
    let written = |name: &str, codec: &str, replaced: &str| {
        let to = root.join(name);
        let mut python = tools::command("python3");
        python.arg("tests/support/dataset_rewritten.py");
        python.args([&dataset, &to]).args([codec, replaced]);
        let done = python.output().expect("it can be started");
        let wrong = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{name}: {wrong}");
        let db = root.join(format!("{name}.db"));
        let [to, db] = [&to, &db].map(|path| path.to_str().expect("plain"));
        let imported = profdb(&["import", "--from", "dataset", "--db", db, to]);
        let said = String::from_utf8_lossy(&imported.stderr).into_owned();
        (imported.status.code(), said, db.to_owned())
    };
    for codec in ["snappy", "gzip", "zstd", "uncompressed"] {
        let (code, said, db) = written(codec, codec, "");
        assert_eq!(code, Some(0), "{codec}: {said}");
        assert_eq!(answers(&db), expected, "{codec}");
    }
    for (name, codec, replaced, refused) in [
        (
            "lz4",
            "lz4_raw",
            "",
            "expected columns that are compressed with zstd, snappy or gzip, or not at all, found lz4: let the engine write the file again",
        ),
        (
            "brotli",
            "brotli",
            "",
            "expected columns that are compressed with zstd, snappy or gzip, or not at all, found brotli",
        ),
        (
            "keys",
            "zstd",
            "functions:'f' || substr(function_key, 2) AS function_key",
            "/part-0.parquet: expected the key ",
        ),
        (
            "tags",
            "zstd",
            "runs:map(['a', 'b'], [NULL, 'x']) AS tags",
            "/part-0.parquet: expected a key and a value of each tag, found no value of `a`\n",
        ),
        (
            "uid",
            "zstd",
            "runs:run_uid || 'a' AS run_uid",
            "/part-0.parquet: expected the uid of a run, 32 hexadecimal digits at most, found `",
        ),
        (
            "severity",
            "zstd",
            "notes:'bad' AS severity",
            ": an impossible row: severity has a value that is not allowed\n",
        ),
        (
            "back",
            "zstd",
            "edges:7::BIGINT AS back",
            "/part-0.parquet: an impossible row: back has a value that is not allowed\n",
        ),
        (
            "fidelity",
            "zstd",
            "runs:'bad' AS fidelity",
            ": an impossible row: fidelity has a value that is not allowed\n",
        ),
    ] {
        let (code, said, db) = written(name, codec, replaced);
        assert_eq!(code, Some(3), "{name}: {said}");
        assert!(said.contains(refused), "{name}: {said}");
        // What is found when all files of a table have been read is in none of them by itself: it is said of the run.
        let is_of_run = refused.starts_with(": an impossible row");
        assert_eq!(
            said.contains("/part-0.parquet: "),
            !is_of_run,
            "{name}: {said}"
        );
        assert_eq!(said.contains(": run "), is_of_run, "{name}: {said}");
        assert!(!Path::new(&db).exists(), "{name}");
    }
}

#[test]
fn spark_says_what_sqlite_says_though_a_worker_is_killed() {
    long::require();
    require_engine("spark");
    let (_folder, database, dataset) = if long::is_long() {
        corpus(&[""], MADE_UP)
    } else {
        corpus(&SOME, FEW)
    };
    let asked = tools::command("python3")
        .arg("tests/support/spark_cluster.py")
        .arg(PROFDB)
        .args([&database, &dataset])
        .env(JAVA_OPTIONS.0, JAVA_OPTIONS.1)
        .output()
        .expect("it can be started");
    let (told, wrong) = (
        String::from_utf8_lossy(&asked.stdout),
        String::from_utf8_lossy(&asked.stderr),
    );
    assert!(asked.status.success(), "{told}\n{wrong}");
    is_something(&told);
    assert!(told.contains("two workers have worked"), "{told}");
    assert!(
        told.contains("a worker was killed after its first finished task of a question"),
        "{told}"
    );
}

/// Runs the commands of docs/scale.md that import a folder of profiles, export a dataset and query it with Spark.
#[test]
fn documented_spark_commands_return_an_answer() {
    long::require();
    require_engine("spark");
    let document = fs::read_to_string("docs/scale.md").expect("the document exists");
    let (_, block) = document
        .split_once("<!-- spark -->\n\n```sh\n")
        .expect("the commands for Spark");
    let (commands, _) = block.split_once("```").expect("its end");
    let lines = commands
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty());
    assert_eq!(lines.count(), 3, "{commands}");
    let folder = tempfile::tempdir().expect("a folder");
    let profiles = folder.path().join("profiles");
    fs::create_dir(&profiles).expect("a folder");
    for run in 0..3 {
        fs::write(profiles.join(format!("{run}.folded")), stacks(run)).expect("room");
    }
    // As where the repository lies beside the profiles, and profdb is installed.
    std::os::unix::fs::symlink(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("contrib"),
        folder.path().join("contrib"),
    )
    .expect("a link");
    let program = Path::new(PROFDB).parent().expect("a folder");
    let path = std::env::var("PATH").expect("there is one");
    let asked = tools::command("bash")
        .args(["-euo", "pipefail", "-c", commands])
        .current_dir(folder.path())
        .env("PATH", format!("{}:{path}", program.display()))
        .env_remove("PROFDB_DB")
        .env(JAVA_OPTIONS.0, JAVA_OPTIONS.1)
        .output()
        .expect("bash");
    let (told, wrong) = (
        String::from_utf8_lossy(&asked.stdout),
        String::from_utf8_lossy(&asked.stderr),
    );
    assert!(asked.status.success(), "{told}\n{wrong}");
    // `main` is in all runs, and is called by nobody: the answer says what it cost in each.
    let expected: f64 = (0..3)
        .flat_map(|run| stacks(run).lines().map(str::to_owned).collect::<Vec<_>>())
        .filter_map(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok())
        .sum();
    let row = told
        .lines()
        .find(|line| line.starts_with("main\t"))
        .unwrap_or_else(|| panic!("{told}\n{wrong}"));
    let fields: Vec<&str> = row.split('\t').collect();
    assert_eq!(fields[1..3], ["count", "3"], "{row}");
    let cost: f64 = fields[3].parse().expect("a number");
    assert!(
        (cost - expected).abs() <= 1e-12 * expected,
        "{row}, expected {expected}"
    );
}
