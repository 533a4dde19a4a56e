//! The recipes of contrib/ci and docs/history.md from end to end: repositories with commits, a profiler that really runs, and what is
//! found in the database afterwards.

#![cfg(unix)]
#![expect(
    clippy::disallowed_methods,
    reason = "small files of our own, and where programs are"
)]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value as Json;
use tempfile::TempDir;

use crate::support::program::PROFDB;
use crate::support::tools;

/// Python's own profiler with a clock that ticks at every look: what it measures is how much was called, and the same each time.
///
/// Modules that Python imports on the way are not measured, since they differ between its versions.
const PROFILER: &str = "import cProfile, itertools, sys
ticks = itertools.count()
profile = cProfile.Profile(lambda: next(ticks), 0.001)
with open('work.py') as file:
    code = compile(file.read(), 'work.py', 'exec')
profile.enable()
try:
    exec(code, {'__name__': '__main__'})
finally:
    profile.disable()
    profile.dump_stats(sys.argv[1])
";

/// A program that calls a function so many times.
fn program(calls: usize) -> String {
    format!(
        "def step(number):
    return number + 1

def parse(calls):
    for number in range(calls):
        step(number)

def render():
    for number in range(50):
        step(number)

parse({calls})
render()
"
    )
}

/// A repository in a folder of its own, and the programs that are needed.
struct Repository {
    home: TempDir,
    top: PathBuf,
    path: OsString,
}

impl Repository {
    /// Makes an empty repository. Skips the test if a program is missing.
    fn new() -> Self {
        tools::require("git");
        tools::require("python3");
        let home = tempfile::tempdir().expect("a folder");
        let top = home.path().join("repository");
        fs::create_dir(&top).expect("a folder");
        fs::write(home.path().join("count.py"), PROFILER).expect("room");
        // What the reader has installed.
        let ours = Path::new(PROFDB).parent();
        let usual = std::env::var_os("PATH").unwrap_or_default();
        let folders = ours.map(Path::to_owned).into_iter();
        let path = std::env::join_paths(folders.chain(std::env::split_paths(&usual)));
        let repository = Self {
            top,
            path: path.expect("folders of PATH"),
            home,
        };
        repository.done("git", &["init", "--quiet", "--initial-branch=main", "."]);
        repository
    }

    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = tools::command_at(program);
        command
            .args(arguments)
            .current_dir(&self.top)
            .env("PATH", &self.path)
            .env("HOME", self.home.path())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("PROFDB_DB", self.home.path().join("profdb.db"))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_NAME"), "A")))
            .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_EMAIL"), "a@b")))
            .stdin(Stdio::null());
        command
    }

    /// What a program prints that succeeds.
    fn done(&self, program: &str, arguments: &[&str]) -> String {
        let output = self.command(program, arguments).output();
        let output = output.expect("it was found");
        assert!(
            output.status.success(),
            "{program} {arguments:?}: {}",
            told(&output)
        );
        String::from_utf8_lossy(&output.stdout)
            .trim_end()
            .to_owned()
    }

    /// Commits a program that calls a function so many times; says which commit that is.
    fn commit(&self, calls: usize, message: &str) -> String {
        fs::write(self.top.join("work.py"), program(calls)).expect("room");
        self.done("git", &["add", "--all"]);
        self.done(
            "git",
            &["commit", "--quiet", "--allow-empty", "--message", message],
        );
        self.done("git", &["rev-parse", "HEAD"])
    }

    /// What a report says, as JSON.
    fn asked(&self, arguments: &[&str]) -> Json {
        let text = self.done("profdb", &[arguments, &["--format", "json"]].concat());
        serde_json::from_str(&text).expect("JSON")
    }
}

fn told(output: &Output) -> String {
    [&output.stdout, &output.stderr]
        .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
        .concat()
}

/// Commits of the history, and the one that makes the program slower.
const COMMITS: usize = 60;
const SLOW: usize = 41;

#[test]
fn a_slow_commit_among_sixty_is_found_and_stopped() {
    let repository = Repository::new();
    let mut commits = Vec::new();
    let count = repository.home.path().join("count.py");
    let profile = repository.home.path().join("run.pstats");
    let [count, profile] = [&count, &profile].map(|path| path.to_str().expect("ASCII"));
    for number in 1..=COMMITS {
        let calls = if number < SLOW { 100 } else { 130 };
        commits.push(repository.commit(calls, &format!("commit {number}")));
        repository.done("python3", &[count, profile]);
        repository.done("profdb", &["import", "--git", "--noise", "exact", profile]);
    }

    let history = repository.asked(&["history", "parse"]);
    assert_eq!(history["order"], "commit_count");
    let rows = history["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), COMMITS);
    for ((number, row), commit) in (1..).zip(rows).zip(&commits) {
        assert_eq!(row["position"], number);
        assert_eq!(row["commit_id"], **commit);
        assert_eq!(row["branch"], "main");
    }
    let costs: Vec<f64> = rows
        .iter()
        .map(|row| row["exclusive"].as_f64().expect("a cost"))
        .collect();
    assert!(costs.iter().all(|cost| *cost > 0.0));
    for (at, pair) in costs.windows(2).enumerate() {
        let is_slow = at + 2 == SLOW;
        assert_eq!(pair[0] < pair[1], is_slow, "{costs:?}");
        assert_eq!((pair[0] - pair[1]).abs() < 1.0, !is_slow, "{costs:?}");
    }

    // The build of that commit would have been stopped, and that of the next one not.
    let budget = repository.home.path().join("perf.budget");
    fs::write(&budget, "fn 'parse' <= +5 %\nfn 'render' <= +5 %\n").expect("room");
    let budget = budget.to_str().expect("ASCII");
    let gate = |base: usize, new: usize| {
        let [base, new] = [base, new].map(|number| format!("commit={}", commits[number - 1]));
        let arguments = ["gate", "--budget", budget, base.as_str(), new.as_str()];
        let output = repository.command("profdb", &arguments).output();
        let output = output.expect("it was built");
        (output.status.code(), told(&output))
    };
    let (code, said) = gate(SLOW - 1, SLOW);
    assert_eq!(code, Some(1), "{said}");
    let (code, said) = gate(SLOW, SLOW + 1);
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = gate(SLOW - 2, SLOW - 1);
    assert_eq!(code, Some(0), "{said}");
}

/// A build as a service runs it: its variables, and the commands of its steps.
#[derive(Default)]
struct Build {
    variables: BTreeMap<String, String>,
    steps: Vec<String>,
}

/// What a file of a service says, as far as these files go: variables of a block of that name, and steps.
fn build(text: &str, variables: &str) -> Build {
    let mut build = Build::default();
    let lines: Vec<&str> = text.lines().collect();
    let depth = |line: &str| line.len() - line.trim_start().len();
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        let word = line.trim_start();
        at += 1;
        // The lines that lie deeper than this one.
        let mut block = || {
            let from = at;
            while at < lines.len()
                && (lines[at].trim().is_empty() || depth(lines[at]) > depth(line))
            {
                at += 1;
            }
            &lines[from..at]
        };
        if word == variables {
            for line in block() {
                if let Some((name, value)) = line.split_once(": ")
                    && !name.trim_start().starts_with('#')
                {
                    let value = value
                        .strip_prefix('"')
                        .and_then(|value| value.strip_suffix('"'))
                        .unwrap_or(value);
                    build
                        .variables
                        .insert(name.trim().to_owned(), value.to_owned());
                }
            }
        } else if word == "run: |" {
            let lines: Vec<&str> = block().to_vec();
            let cut = lines.first().map_or(0, |line| depth(line));
            let lines: Vec<&str> = lines
                .iter()
                .map(|line| line.get(cut..).unwrap_or(""))
                .collect();
            build.steps.push(lines.join("\n"));
        } else if let Some(step) = word.strip_prefix("run: ") {
            build.steps.push(step.to_owned());
        } else if word == "script:" {
            for line in block() {
                if let Some(step) = line.trim_start().strip_prefix("- ") {
                    build.steps.push(step.to_owned());
                }
            }
        }
    }
    build
}

#[test]
fn builds_of_services_stop_what_is_slower() {
    let repository = Repository::new();
    let own = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("contrib/ci")
            .join(name);
        fs::read_to_string(path).expect("it is there")
    };
    let base = repository.commit(100, "base");
    let summary = repository.home.path().join("summary.md");
    // What the reader copies and writes.
    fs::create_dir(repository.top.join("ci")).expect("a folder");
    fs::write(repository.top.join("ci/measure.sh"), own("measure.sh")).expect("room");
    fs::write(
        repository.top.join("perf.budget"),
        "total <= +5 %\nany <= +25 %\n",
    )
    .expect("room");
    // Whoever opens the request chooses the name of the branch.
    let branch = "$(touch fired)`touch fired`;touch fired";
    for (calls, expected) in [(130, 1), (100, 0)] {
        let head = repository.commit(calls, "head");
        let of_github = BTreeMap::from([
            ("github.event.pull_request.base.sha", base.as_str()),
            ("github.event.pull_request.head.sha", &head),
            ("github.base_ref", "main"),
            ("github.head_ref", branch),
        ]);
        let of_gitlab = [
            ("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", branch),
            ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main"),
            ("CI_MERGE_REQUEST_DIFF_BASE_SHA", &base),
            ("CI_COMMIT_SHA", &head),
        ];
        let github = build(&own("github.yml"), "env:");
        let gitlab = build(&own("gitlab.yml"), "variables:");
        assert_eq!(github.steps.len(), 3);
        assert_eq!(gitlab.steps.len(), 5);
        // Each step of GitHub is a shell of its own; the steps of GitLab are one.
        let whole = gitlab.steps.join("\n");
        let builds = [
            ("github", github.steps, github.variables),
            ("gitlab", vec![whole], gitlab.variables),
        ];
        for (service, steps, mut variables) in builds {
            for value in variables.values_mut() {
                if let Some(name) = value.strip_prefix("${{ ") {
                    let name = name.strip_suffix(" }}").expect("an expression ends");
                    *value = of_github[name].to_owned();
                }
                // GitLab's way to write a dollar that is none of its own.
                *value = value.replace("$$", "$");
                assert!(!value.contains("${{"), "{value}");
            }
            // What a reader replaces: the profiler's clock makes the figures the same each time.
            let record = variables.get_mut("RECORD").expect("it is there");
            assert!(record.ends_with("work.py"), "{record}");
            *record = format!(
                "python3 '{}/count.py' \"$OUT\"",
                repository.home.path().display()
            );
            variables.insert("IMPORT".to_owned(), "--noise exact".to_owned());
            variables.insert("ROUNDS".to_owned(), "3".to_owned());
            let database = repository.home.path().join(format!("{service}-{calls}.db"));
            let mut code = Some(0);
            let mut said = String::new();
            for step in &steps {
                let mut shell = repository.command("sh", &["-ec", step]);
                shell
                    .envs(&variables)
                    .envs(of_gitlab)
                    .env("GITHUB_STEP_SUMMARY", &summary)
                    .env("PROFDB_DB", &database);
                let output = shell.output().expect("every Unix has a shell");
                code = output.status.code();
                said += &told(&output);
                if code != Some(0) {
                    break;
                }
            }
            assert_eq!(code, Some(expected), "{service}, {calls} calls: {said}");
            assert!(!repository.top.join("fired").exists(), "{service}");
            // Both commits were recorded in turns, and have the names of their branches.
            let sql = "SELECT (SELECT value FROM run_tags AS t WHERE t.run_id = r.run_id AND t.key = 'commit') AS commit_id,
                              (SELECT value FROM run_tags AS t WHERE t.run_id = r.run_id AND t.key = 'branch') AS branch
                       FROM runs AS r ORDER BY r.run_id";
            let database = rusqlite::Connection::open(&database).expect("it was imported");
            let mut statement = database.prepare(sql).expect("our tables");
            let runs = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
            let runs: Vec<(String, String)> = runs.and_then(Iterator::collect).expect("rows");
            let of = |commit: &str, branch: &str| (commit.to_owned(), branch.to_owned());
            let (a, b) = (of(&base, "main"), of(&head, branch));
            assert_eq!(
                runs,
                [&a, &b, &b, &a, &a, &b].map(Clone::clone),
                "{service}"
            );
            // Nothing is left of the working trees.
            let trees = repository.done("git", &["worktree", "list"]);
            assert_eq!(trees.lines().count(), 1, "{trees}");
        }
    }
    let summary = fs::read_to_string(&summary).expect("a summary");
    assert!(summary.contains("perf.budget"), "{summary}");
}

/// Both commits are recorded in one folder, which is that of the next time, too; a database that was kept has rounds of both times.
#[test]
fn commits_are_recorded_in_one_folder() {
    let repository = Repository::new();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("contrib/ci/measure.sh");
    let base = repository.commit(100, "base");
    let head = repository.commit(130, "head");
    fs::write(
        repository.top.join("perf.budget"),
        "fn 'parse' <= +5 %\nany <= +5 %\n",
    )
    .expect("room");
    for rounds in [2, 4] {
        let output = repository
            .command("sh", &[script.to_str().expect("plain"), &base, &head])
            .env("TMPDIR", repository.home.path())
            // A program that is known by the folder in which it was built.
            .env("BUILD", "pwd > built")
            .env("RECORD", "printf 'main;parse (%s/work.py:1) 10\\n' \"$(cat built)\" > \"$OUT\"; test \"$PWD\" = \"$(cat built)\"")
            .env("SUFFIX", ".folded")
            .env("ROUNDS", "2")
            .env("IMPORT", "--noise exact")
            .output()
            .expect("every Unix has a shell");
        assert!(output.status.success(), "{}", told(&output));
        let said = repository.done(
            "profdb",
            &[
                "gate",
                "--budget",
                "perf.budget",
                "--paired",
                "round",
                "--base",
                &format!("commit={base}"),
                "--new",
                &format!("commit={head}"),
            ],
        );
        assert!(said.starts_with("Gate: pass"), "{said}");
        let database = rusqlite::Connection::open(repository.home.path().join("profdb.db"));
        let database = database.expect("it was imported");
        let count = |sql: &str| -> i64 {
            let row = database.query_row(sql, [], |row| row.get(0));
            row.expect("our tables")
        };
        assert_eq!(count("SELECT COUNT(*) FROM runs"), 2 * rounds);
        assert_eq!(
            count("SELECT COUNT(DISTINCT value) FROM run_tags WHERE key = 'round'"),
            rounds
        );
        assert_eq!(
            count("SELECT COUNT(DISTINCT file) FROM functions WHERE name LIKE 'parse%'"),
            1
        );
    }
    let trees = repository.done("git", &["worktree", "list"]);
    assert_eq!(trees.lines().count(), 1, "{trees}");
    let left = fs::read_dir(repository.home.path()).expect("a folder");
    let left = left.filter_map(Result::ok).map(|entry| entry.file_name());
    let left: Vec<_> = left
        .filter(|name| name.to_string_lossy().starts_with("profdb-measure"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}
