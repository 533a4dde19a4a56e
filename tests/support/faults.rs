//! Imports that go wrong at a chosen call, and what has to hold of the database afterwards.

#![expect(
    clippy::disallowed_methods,
    reason = "small files of our own, and settings of whoever runs the tests"
)]

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use super::case_files::{files, repository_path};
use super::{long, program, tools};
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags};
use tempfile::TempDir;

/// The number of trials with each outcome.
#[derive(Default)]
pub(crate) struct OutcomeCounter(Mutex<BTreeMap<&'static str, u64>>);

impl OutcomeCounter {
    pub(crate) fn add(&self, outcome: &'static str) {
        *self.counts().entry(outcome).or_default() += 1;
    }

    /// Prints the counts in the long form, for docs/reliability.md.
    pub(crate) fn print(&self, test: &str) {
        long::print_figure(format_args!("{test}: {:?}", self.counts()));
    }

    fn counts(&self) -> MutexGuard<'_, BTreeMap<&'static str, u64>> {
        self.0.lock().expect("no thread panicked with the lock")
    }
}

/// Name of the database in its folder.
pub(crate) const DATABASE: &str = "x.db";

/// Numbers in no order: a linear congruential generator.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % limit as u64).expect("less than the limit")
    }
}

/// A number that the environment gives.
pub(crate) fn setting(name: &str) -> Option<u64> {
    std::env::var(name)
        .ok()
        .map(|text| text.parse().expect("a number"))
}

/// The library that counts calls and lets them fail, compiled once.
fn shim() -> &'static Path {
    static SHIM: OnceLock<PathBuf> = OnceLock::new();
    SHIM.get_or_init(|| {
        // By process, because programs of tests may run at once and each compiles its own.
        let library = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("faults-{}.so", std::process::id()));
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults/shim.c");
        let mut compiler = tools::command("cc");
        compiler
            .args([
                "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o",
            ])
            .arg(&library)
            .arg(source);
        let done = compiler
            .output()
            .expect("a C compiler, as for SQLite itself");
        assert!(done.status.success(), "{done:?}");
        library
    })
}

/// `profdb` with arguments, in a folder.
pub(crate) fn profdb(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = program::command();
    command.args(arguments).current_dir(folder);
    command
}

/// The same, with something happening at a call about a file of the folder. `log` gets the calls.
pub(crate) fn with_fault(command: &mut Command, folder: &Path, log: &Path, at: usize, what: &str) {
    let folder = fs::canonicalize(folder).expect("it is there");
    command
        .env("LD_PRELOAD", shim())
        .env("FAULT_FOLDER", folder)
        .env("FAULT_LOG", log);
    command
        .env("FAULT_AT", at.to_string())
        .env("FAULT_DO", what);
}

/// The calls of an import, in their order: what is done, and to which file.
pub(crate) fn calls(log: &Path) -> Vec<(String, String)> {
    let text = fs::read_to_string(log).unwrap_or_default();
    let line = |line: &str| {
        line.split_once(' ')
            .map(|(call, file)| (call.to_owned(), file.to_owned()))
    };
    text.lines().filter_map(line).collect()
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Names of the files of a folder.
pub(crate) fn entries(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder)
        .expect("it is there")
        .map(|entry| entry.expect("it can be read").file_name());
    entries
        .map(|name| name.to_string_lossy().into_owned())
        .collect()
}

/// A file of this database that is not in its place yet.
pub(crate) fn growing(folder: &Path) -> Option<PathBuf> {
    let is_one = |name: &String| name.starts_with(".x.db.") && name.ends_with(".importing");
    entries(folder)
        .into_iter()
        .find(is_one)
        .map(|name| folder.join(name))
}

pub(crate) fn copy(from: &Path, to: &Path) {
    for name in entries(from) {
        fs::copy(from.join(&name), to.join(&name)).expect("space on the disk");
    }
}

/// All that a database says, by table and view, as text: a line for each row. `old` runs were there
/// before: only of theirs the time of the import matters.
pub(crate) fn content(path: &Path, old: i64) -> BTreeMap<String, Vec<String>> {
    content_of(&["table", "view"], path, old)
}

/// What its tables say, of which views are made: one compares each two runs, and of hundreds has millions of rows.
pub(crate) fn content_of_tables(path: &Path) -> BTreeMap<String, Vec<String>> {
    content_of(&["table"], path, 0)
}

fn content_of(kinds: &[&str], path: &Path, old: i64) -> BTreeMap<String, Vec<String>> {
    if !path.exists() || is_empty(path) {
        return BTreeMap::new();
    }
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
        .expect("it can be read");
    let texts = |sql: &str, parameters: &[i64]| -> Vec<String> {
        let mut statement = connection.prepare(sql).expect("the columns are there");
        let texts = statement
            .query_map(rusqlite::params_from_iter(parameters), |row| row.get(0))
            .expect("rows");
        texts.collect::<Result<_, _>>().expect("rows")
    };
    let runs = texts("SELECT CAST(run_id AS TEXT) FROM runs ORDER BY run_id", &[]);
    let mut content = BTreeMap::new();
    for &kind in kinds {
        let sql = format!(
            "SELECT name FROM sqlite_schema WHERE type = '{kind}' AND name <> 'sqlite_stat4'"
        );
        for name in texts(&sql, &[]) {
            let columns = connection
                .prepare(&format!("SELECT * FROM {name}"))
                .expect("it is there");
            // SQLite puts the lines together, which is faster than to do it here.
            let shown = |column: &str| match column {
                "imported_at" => format!("quote(CASE WHEN run_id <= {old} THEN imported_at END)"),
                column => format!("quote({column})"),
            };
            let columns: Vec<String> = columns.column_names().map(shown).collect();
            let sql = format!("SELECT {} FROM {name}", columns.join(" || ' ' || "));
            let lines = if kind == "table" {
                texts(&sql, &[])
            } else {
                let of_run = |run: &String| {
                    texts(
                        &format!("{sql} WHERE run_id = ?1"),
                        &[run.parse().expect("a number")],
                    )
                };
                runs.iter().flat_map(of_run).collect()
            };
            content.insert(name, lines);
        }
    }
    if runs.is_empty() {
        // As good as none: an import has made tables and got no farther, and each database has the built-in rules.
        content.retain(|name, lines| !lines.is_empty() && !name.starts_with("identity_"));
    }
    content
}

/// Whether a file is there and has not a byte.
fn is_empty(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| file.len() == 0)
}

/// Fails unless `profdb check` finds nothing, or reports an empty file.
pub(crate) fn check(folder: &Path, about: &str) {
    let done = profdb(folder, &["check", "--db", DATABASE])
        .output()
        .expect("the program is there");
    let is_no_database = done.status.code() == Some(5)
        && is_empty(&folder.join(DATABASE))
        && text(&done.stderr).contains("x.db is empty; ");
    assert!(
        done.status.success() || is_no_database,
        "{about}: {} {}",
        text(&done.stdout),
        text(&done.stderr)
    );
}

/// What a database may have gone through before an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum State {
    /// There is no file.
    New,
    /// A file without a byte, which is an empty database.
    Empty,
    /// It has runs.
    Runs,
    /// It has runs and a log (WAL).
    Log,
    /// The same; of a program that has been killed there is a log with pages that are not in the
    /// database yet, and pages of a transaction that has not been committed.
    LogLeft,
    /// A program has been killed while it changed the database: its journal is there.
    JournalLeft,
    /// Somebody keeps journals: there is one, with nothing to be undone.
    JournalKept,
    /// It has runs, and a view with another text.
    OtherView,
}

impl State {
    pub(crate) const ALL: [Self; 8] = [
        Self::New,
        Self::Empty,
        Self::Runs,
        Self::Log,
        Self::LogLeft,
        Self::JournalLeft,
        Self::JournalKept,
        Self::OtherView,
    ];
}

/// A profile to import, outside the folder of the database.
pub(crate) type Profile = PathBuf;

/// Profiles of all formats, and long ones, which are put into databases page by page.
pub(crate) struct Profiles {
    _folder: TempDir,
    pub(crate) short: Vec<Profile>,
    pub(crate) long: Vec<Profile>,
    /// A long one that databases have already.
    pub(crate) there: Profile,
}

/// What all tests of a process start from.
pub(crate) fn profiles() -> &'static Profiles {
    static PROFILES: OnceLock<Profiles> = OnceLock::new();
    PROFILES.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let mut long = Vec::new();
        for (name, rows, functions) in [("a.csv", 2500, 40), ("b.csv", 3500, 1500)] {
            let path = folder.path().join(name);
            fs::write(&path, csv(rows, functions)).expect("space on the disk");
            long.push(path);
        }
        let stacks =
            (0..2400).map(|at| format!("main;f{};g{};h{at} {}", at % 7, at % 61, at % 13 + 1));
        let path = folder.path().join("stacks.folded");
        fs::write(&path, stacks.collect::<Vec<_>>().join("\n")).expect("space on the disk");
        long.push(path);
        let there = folder.path().join("there.csv");
        fs::write(&there, csv(2400, 50)).expect("space on the disk");
        Profiles {
            _folder: folder,
            short: cases(),
            long,
            there,
        }
    })
}

/// A tree of four levels.
pub(crate) fn csv(rows: usize, functions: usize) -> String {
    let head = [
        "\"Depth\",\"Element\",\"Line\",\"Calls\",\"ExclusiveTime\",\"InclusiveTime\"",
        "0,\"#.f\",,1,1,1",
    ];
    let row = |at| format!("{},\"#.g{}\",,1,1,1", at % 3 + 1, at % functions);
    head.map(str::to_owned)
        .into_iter()
        .chain((0..rows).map(row))
        .collect::<Vec<_>>()
        .join("\n")
}

/// An input of each format that can be imported as it is.
fn cases() -> Vec<Profile> {
    let mut found = Vec::new();
    let empty = tempfile::tempdir().expect("a folder");
    for format in profdb::formats::FORMATS {
        let files = files(&repository_path(&format!("tests/cases/{}", format.name)));
        let imports = |file: &PathBuf| {
            let file = file.to_str().expect("plain names");
            let done = profdb(
                empty.path(),
                &["report", "summary", "--from", format.name, file],
            )
            .output();
            done.expect("the program is there").status.success()
        };
        found.push(
            files
                .into_iter()
                .find(imports)
                .expect("a case that can be imported"),
        );
    }
    found
}

/// A folder with a database in some state.
fn template(state: State) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(DATABASE);
    let import = |profile: &Path| {
        let done = profdb(folder.path(), &["import", "--again", "--db", DATABASE])
            .arg(profile)
            .output();
        assert!(
            done.expect("the program is there").status.success(),
            "{}",
            profile.display()
        );
    };
    let runs = || {
        import(&profiles().short[0]);
        import(&profiles().there);
        import(&profiles().short[3]);
    };
    let pragma = |sql: &str| {
        let connection = Connection::open(&path).expect("it is there");
        connection
            .query_row(sql, [], |row| row.get::<_, Value>(0))
            .expect("nobody else is here");
        connection
    };
    // Dies where its transaction is all but through.
    let killed = || {
        let calls_before = traced(folder.path(), &profiles().long[1]);
        let changed = |(call, file): &(String, String)| call == "write" && file.ends_with("x.db");
        let logged = |(call, file): &(String, String)| call == "write" && file.ends_with("-wal");
        let last = calls_before.iter().rposition(|call| {
            if state == State::LogLeft {
                logged(call)
            } else {
                changed(call)
            }
        });
        let at = last.expect("it writes") + 1;
        let mut command = profdb(folder.path(), &["import", "--db", DATABASE]);
        with_fault(
            command.arg(&profiles().long[1]),
            folder.path(),
            Path::new("/dev/null"),
            at,
            "kill",
        );
        let done = command.output().expect("the program is there");
        assert_eq!(done.status.signal(), Some(9), "{done:?}");
    };
    match state {
        State::New => {}
        State::Empty => drop(fs::File::create(&path).expect("a folder that can be written")),
        State::Runs => runs(),
        State::Log => {
            runs();
            drop(pragma("PRAGMA journal_mode = WAL"));
        }
        State::LogLeft => {
            runs();
            let reader = pragma("PRAGMA journal_mode = WAL");
            reader
                .query_row("SELECT COUNT(*) FROM runs", [], |_| Ok(()))
                .expect("it can be read");
            // As long as somebody has it open, what is committed stays in the log.
            import(&profiles().short[1]);
            killed();
            assert!(fs::metadata(folder.path().join("x.db-wal")).is_ok_and(|log| log.len() > 0));
            let kept = tempfile::tempdir().expect("a folder");
            copy(folder.path(), kept.path());
            // The memory that programs share does not survive a crash: SQLite makes it anew from
            // the log.
            fs::remove_file(kept.path().join("x.db-shm")).expect("it is there");
            drop(reader);
            return kept;
        }
        State::JournalLeft => {
            runs();
            killed();
            assert!(
                fs::metadata(folder.path().join("x.db-journal"))
                    .is_ok_and(|journal| journal.len() > 0)
            );
        }
        State::JournalKept => {
            runs();
            let connection = pragma("PRAGMA journal_mode = PERSIST");
            connection
                .execute_batch("UPDATE runs SET title = 'kept' WHERE run_id = 2")
                .expect("nobody else is here");
            drop(connection);
            assert!(folder.path().join("x.db-journal").exists());
        }
        State::OtherView => {
            runs();
            let sql = "DROP VIEW summary; CREATE VIEW summary AS SELECT run_id FROM runs";
            Connection::open(&path)
                .and_then(|connection| connection.execute_batch(sql))
                .expect("a database without other users");
        }
    }
    folder
}

/// The calls of an import that nothing disturbs, made in a copy.
fn traced(folder: &Path, profile: &Path) -> Vec<(String, String)> {
    let place = tempfile::tempdir().expect("a folder");
    copy(folder, place.path());
    let log = tempfile::NamedTempFile::new().expect("a file");
    let mut command = profdb(place.path(), &["import", "--db", DATABASE]);
    with_fault(command.arg(profile), place.path(), log.path(), 0, "");
    let done = command.output().expect("the program is there");
    assert!(done.status.success(), "{done:?}");
    calls(log.path())
}

/// A database, a profile, and what the database says before and after it is imported.
pub(crate) struct Story {
    pub(crate) state: State,
    pub(crate) profile: Profile,
    pub(crate) runs_before: i64,
    pub(crate) before: BTreeMap<String, Vec<String>>,
    pub(crate) after: BTreeMap<String, Vec<String>>,
    /// Files that are there when it is done.
    pub(crate) files: BTreeSet<String>,
    /// What the import does to files.
    pub(crate) calls: Vec<(String, String)>,
}

impl Story {
    /// Whether the profile is new to the database.
    pub(crate) fn is_new(&self) -> bool {
        self.before != self.after
    }

    /// The story of a state and a profile; they are the same each time.
    pub(crate) fn of(state: State, profile: &Path) -> Arc<Self> {
        type Stories = Mutex<HashMap<(State, PathBuf), Arc<Story>>>;
        static STORIES: OnceLock<Stories> = OnceLock::new();
        let stories = STORIES.get_or_init(Mutex::default);
        let key = (state, profile.to_owned());
        if let Some(story) = stories.lock().expect("no panic").get(&key) {
            return Arc::clone(story);
        }
        let story = Arc::new(Self::tell(state, profile));
        stories
            .lock()
            .expect("no panic")
            .insert(key, Arc::clone(&story));
        story
    }

    fn tell(state: State, profile: &Path) -> Self {
        let folder = folder_in(state);
        let path = folder.path().join(DATABASE);
        let mut runs_before = 0;
        if state != State::New && !is_empty(&path) {
            check(folder.path(), "before");
            let connection = Connection::open(&path).expect("it is there");
            let sql = "SELECT COALESCE(MAX(run_id), 0) FROM runs";
            runs_before = connection
                .query_row(sql, [], |row| row.get(0))
                .expect("it has runs");
        }
        let before = content(&path, runs_before);
        let calls = traced(folder_in(state).path(), profile);
        let folder = folder_in(state);
        import(folder.path(), profile);
        check(folder.path(), "after");
        let after = content(&folder.path().join(DATABASE), runs_before);
        let files = entries(folder.path());
        Self {
            state,
            profile: profile.to_owned(),
            runs_before,
            before,
            after,
            files,
            calls,
        }
    }

    /// A fresh copy of its database.
    pub(crate) fn folder(&self) -> TempDir {
        folder_in(self.state)
    }

    /// What has to hold whatever happened to an import: the run is there, whole, or not at all, and
    /// the next import puts it there. Whether it was there.
    pub(crate) fn holds(&self, folder: &Path, about: &str) -> bool {
        let found = self.found(folder, about);
        let is_there = found == self.after;
        if !is_there {
            same(&found, &self.before, about);
        }
        import(folder, &self.profile);
        same(&self.found(folder, about), &self.after, about);
        if entries(folder) != self.files {
            // Killed between the two steps of a rename: the next import that has something to store
            // sees to it.
            let done = profdb(folder, &["import", "--again", "--db", DATABASE])
                .arg(&self.profile)
                .output();
            assert!(
                done.expect("the program is there").status.success(),
                "{about}"
            );
        }
        assert_eq!(entries(folder), self.files, "{about}");
        is_there
    }
}

impl Story {
    /// What the database says, once the program has opened it. Of the same rows as before or after
    /// an import that nothing disturbs, `profdb check` says the same: what is left to be looked at
    /// is the file itself.
    fn found(&self, folder: &Path, about: &str) -> BTreeMap<String, Vec<String>> {
        let path = folder.join(DATABASE);
        if path.exists() {
            let opened = profdb(folder, &["runs", "--db", DATABASE])
                .output()
                .expect("the program is there");
            let said = text(&opened.stderr);
            if is_empty(&path) {
                let is_said = said.contains("x.db is empty; ");
                assert!(
                    is_said && opened.status.code() == Some(5),
                    "{about}: {said}"
                );
                return BTreeMap::new();
            }
            assert!(opened.status.success(), "{about}: {said}");
            let connection = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY)
                .expect("a database");
            let integrity =
                connection.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0));
            assert_eq!(integrity.as_deref(), Ok("ok"), "{about}");
        }
        content(&path, self.runs_before)
    }
}

fn folder_in(state: State) -> TempDir {
    static TEMPLATES: OnceLock<Mutex<HashMap<State, Arc<TempDir>>>> = OnceLock::new();
    let templates = TEMPLATES.get_or_init(Mutex::default);
    // Not locked while a template is made, which runs programs: two threads may make one, and the
    // first of them counts.
    let found = templates.lock().expect("no panic").get(&state).cloned();
    let template = found.unwrap_or_else(|| {
        let made = Arc::new(template(state));
        Arc::clone(
            templates
                .lock()
                .expect("no panic")
                .entry(state)
                .or_insert(made),
        )
    });
    let folder = tempfile::tempdir().expect("a folder");
    copy(template.path(), folder.path());
    folder
}

/// Imports a profile, which has to work.
pub(crate) fn import(folder: &Path, profile: &Path) {
    let done = profdb(folder, &["import", "--db", DATABASE])
        .arg(profile)
        .output()
        .expect("the program is there");
    assert!(
        done.status.success(),
        "{}: {}",
        profile.display(),
        text(&done.stderr)
    );
}

/// Fails with the first line that differs.
pub(crate) fn same(
    found: &BTreeMap<String, Vec<String>>,
    expected: &BTreeMap<String, Vec<String>>,
    about: &str,
) {
    let names =
        |content: &BTreeMap<String, Vec<String>>| content.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(found), names(expected), "{about}");
    for (name, lines) in found {
        let wanted = &expected[name];
        for (at, line) in lines.iter().enumerate() {
            assert_eq!(Some(line), wanted.get(at), "{about}: {name}, row {at}");
        }
        assert_eq!(lines.len(), wanted.len(), "{about}: {name}");
    }
}
