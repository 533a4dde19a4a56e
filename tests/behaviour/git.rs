//! `import --git`: what a repository says of its working tree, and that nothing which it names is carried out.

#![cfg(unix)]
#![expect(clippy::disallowed_methods, reason = "small files of our own")]

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use rusqlite::Connection;
use tempfile::TempDir;

use crate::support::program;
use crate::support::tools;

/// A repository with a profile in a folder that nobody else's configuration reaches.
struct Repository {
    git: PathBuf,
    home: TempDir,
    top: PathBuf,
}

/// The name of the profile, which is not in the repository's history.
const PROFILE: &str = "run.folded";

impl Repository {
    /// Makes a repository without a commit. Skips the test if git is missing.
    fn empty() -> Self {
        let git = tools::require("git");
        let home = tempfile::tempdir().expect("a folder");
        let top = home.path().join("repository");
        fs::create_dir(&top).expect("a folder");
        let repository = Self { git, home, top };
        repository.git(&["init", "--quiet", "--initial-branch=main", "."]);
        fs::write(repository.top.join(PROFILE), "main;work 1\n").expect("room");
        repository
    }

    /// A repository with a commit of two files.
    fn new() -> Self {
        let repository = Self::empty();
        repository.write("a.txt", "one\n");
        repository.write("b.txt", "two\n");
        repository.commit("first");
        repository
    }

    fn write(&self, file: &str, text: &str) {
        fs::write(self.top.join(file), text).expect("room for a small file");
    }

    /// Makes a file look changed whose content is not: in the index is the time of its last change.
    fn touch(&self, file: &str) {
        let file = fs::File::options()
            .write(true)
            .open(self.top.join(file))
            .expect("it is there");
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
        file.set_modified(time).expect("it is ours");
    }

    fn commit(&self, message: &str) {
        self.git(&["add", "--all", ":!run.folded"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", message]);
    }

    /// Git as a user runs it.
    fn plain(&self, program: &Path) -> Command {
        let mut command = tools::command_at(program);
        command
            .current_dir(&self.top)
            .env("HOME", self.home.path())
            .env_remove("XDG_CONFIG_HOME")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_NAME"), "A")))
            .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_EMAIL"), "a@b")))
            .env("GIT_AUTHOR_DATE", "2026-01-02T00:00:00+0200")
            .env("GIT_COMMITTER_DATE", "2026-01-02T03:04:05+0200")
            .stdin(Stdio::null());
        command
    }

    /// What git says.
    fn git(&self, arguments: &[&str]) -> String {
        let output = self.plain(&self.git).args(arguments).output();
        let output = output.expect("git runs");
        assert!(
            output.status.success(),
            "git {arguments:?}: {}",
            said(&output)
        );
        String::from_utf8_lossy(&output.stdout)
            .trim_end()
            .to_owned()
    }

    /// Our program with an import, as a user runs it in the repository.
    fn profdb(&self, arguments: &[&str]) -> Command {
        let mut command = program::command();
        command
            .current_dir(&self.top)
            .env("HOME", self.home.path())
            .env_remove("XDG_CONFIG_HOME")
            .arg("import")
            .args(arguments)
            .arg("--db")
            .arg(self.database())
            .arg(PROFILE);
        command
    }

    fn database(&self) -> PathBuf {
        self.home.path().join("profdb.db")
    }

    /// The tags that an import gives, as text, and what it says on standard error.
    fn imported(&self, arguments: &[&str]) -> (String, String) {
        let output = self.profdb(arguments).output().expect("it was built");
        assert!(output.status.success(), "{arguments:?}: {}", said(&output));
        (self.tags(), said(&output))
    }

    /// The tags of the run that was imported last.
    fn tags(&self) -> String {
        let database = Connection::open(self.database()).expect("it was imported");
        let sql = "SELECT COALESCE(group_concat(key || '=' || value, ' '), '')
                   FROM (SELECT * FROM run_tags WHERE run_id = (SELECT MAX(run_id) FROM runs) ORDER BY key)";
        database
            .query_row(sql, [], |row| row.get(0))
            .expect("one row")
    }

    /// The tag `dirty` that an import gives; `-` without one, and why.
    fn dirty(&self) -> String {
        let (tags, said) = self.imported(&["--git", "--again"]);
        let dirty = tags.split(' ').find_map(|tag| tag.strip_prefix("dirty="));
        dirty.map_or_else(|| format!("- {said}"), str::to_owned)
    }

    /// A script outside of the repository that says that it was run.
    fn script(&self, name: &str, more: &str) -> String {
        let path = self.home.path().join(name);
        tools::write_script(
            &path,
            &format!("touch '{}'\n{more}", self.fired().display()),
        );
        path.to_str().expect("a name in ASCII").to_owned()
    }

    /// What scripts leave.
    fn fired(&self) -> PathBuf {
        self.home.path().join("fired")
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_repository_gives_tags() {
    let repository = Repository::new();
    // By first parents there are three commits: what a merge brings is one.
    repository.git(&["checkout", "--quiet", "-b", "side"]);
    repository.commit("aside");
    repository.commit("once more");
    repository.git(&["checkout", "--quiet", "main"]);
    repository.commit("second");
    repository.git(&["merge", "--quiet", "--no-ff", "--message", "third", "side"]);
    let commit = repository.git(&["rev-parse", "HEAD"]);
    let expected = format!(
        "branch=main commit={commit} commit_count=3 commit_time=2026-01-02T01:04:05Z dirty=false"
    );
    let (tags, said) = repository.imported(&["--git"]);
    assert_eq!((tags, said.as_str()), (expected.clone(), ""));
    // From a folder below, from elsewhere, and from another working tree of the repository.
    fs::create_dir(repository.top.join("below")).expect("a folder");
    let below = format!("--git={}", repository.top.join("below").display());
    assert_eq!(repository.imported(&[&below, "--again"]).0, expected);
    repository.git(&["worktree", "add", "--quiet", "../tree", "side"]);
    let (tags, _) = repository.imported(&["--git=../tree"]);
    assert!(tags.starts_with("branch=side commit="), "{tags}");
    assert!(tags.contains("commit_count=3"), "{tags}");
    assert!(tags.ends_with("dirty=false"), "{tags}");
    // What is said comes before what git says.
    let (tags, _) = repository.imported(&["--git", "--tag", "branch=mine", "--tag", "host=x"]);
    let mine = expected.replace("branch=main", "branch=mine") + " host=x";
    assert_eq!(tags, mine);
    // A word after the flag is a file.
    let output = repository.profdb(&["--git", "no-such-file"]).output();
    let output = output.expect("it was built");
    assert!(self::said(&output).contains("no-such-file"), "{output:?}");
}

#[test]
fn dirty_is_what_was_changed_of_tracked_files() {
    let repository = Repository::new();
    assert_eq!(repository.dirty(), "false");
    repository.write("untracked.txt", "x");
    repository.touch("a.txt");
    assert_eq!(repository.dirty(), "false", "the content is as it was");
    repository.write("a.txt", "other\n");
    assert_eq!(repository.dirty(), "true", "changed");
    repository.git(&["add", "a.txt"]);
    assert_eq!(repository.dirty(), "true", "staged");
    repository.commit("second");
    assert_eq!(repository.dirty(), "false");
    fs::remove_file(repository.top.join("b.txt")).expect("it is there");
    assert_eq!(repository.dirty(), "true", "removed");
    repository.git(&["checkout", "--quiet", "b.txt"]);
    fs::set_permissions(
        repository.top.join("b.txt"),
        fs::Permissions::from_mode(0o755),
    )
    .expect("it is ours");
    assert_eq!(repository.dirty(), "true", "executable now");
    repository.git(&["config", "core.fileMode", "false"]);
    assert_eq!(repository.dirty(), "false", "which does not count here");
    // Ends of lines are as the user has them.
    repository.git(&["config", "core.autocrlf", "true"]);
    repository.write("c.txt", "three\r\n");
    repository.commit("third");
    repository.touch("c.txt");
    assert_eq!(repository.dirty(), "false");
    // The index may be in two parts.
    repository.git(&["update-index", "--split-index"]);
    assert_eq!(repository.dirty(), "false", "split index");
    // Neither index nor working tree was written.
    let before = fs::read(repository.top.join(".git/index")).expect("it is there");
    repository.touch("b.txt");
    assert_eq!(repository.dirty(), "false");
    assert!(fs::read(repository.top.join(".git/index")).expect("it is there") == before);
}

/// Returns standard error without the note that a file was imported before, with other tags.
fn notes_about_tags(stderr: &str) -> String {
    let lines = stderr.lines();
    let notes = lines.filter(|line| !line.contains("has the content of"));
    notes.collect::<Vec<&str>>().join("\n")
}

#[test]
fn what_is_unknown_is_left_out_and_said() {
    let repository = Repository::empty();
    let (tags, said) = repository.imported(&["--git"]);
    assert_eq!(tags, "branch=main");
    assert!(said.contains("no commit yet"), "{said}");

    repository.commit("first");
    repository.commit("second");
    repository.git(&["checkout", "--quiet", "--detach"]);
    let (tags, said) = repository.imported(&["--git"]);
    assert!(tags.starts_with("commit="), "{tags}");
    assert!(tags.contains("commit_count=2"), "{tags}");
    assert!(
        said.contains("detached") && said.contains("--tag branch=NAME"),
        "{said}"
    );

    let (_, said) = repository.imported(&["--git", "--tag", "branch=mine"]);
    assert_eq!(notes_about_tags(&said), "", "the tag is given");

    let url = format!("file://{}", repository.top.display());
    repository.git(&[
        "clone",
        "--quiet",
        "--depth=1",
        "--branch=main",
        &url,
        "../shallow",
    ]);
    let (tags, said) = repository.imported(&["--git=../shallow"]);
    assert!(tags.starts_with("branch=main commit="), "{tags}");
    assert!(tags.contains(" commit_time=2"), "{tags}");
    assert!(!tags.contains("commit_count"), "{tags}");
    assert!(said.contains("shallow"), "{said}");

    repository.git(&["clone", "--quiet", "--bare", &url, "../bare"]);
    let (tags, said) = repository.imported(&["--git=../bare"]);
    assert!(tags.contains("commit_count=2"), "{tags}");
    assert!(
        said.contains("no tag dirty: the repository has no working tree"),
        "{said}"
    );

    repository.git(&[
        "init",
        "--quiet",
        "--object-format=sha256",
        "--initial-branch=main",
        "../long",
    ]);
    repository.git(&[
        "-C",
        "../long",
        "commit",
        "--quiet",
        "--allow-empty",
        "--message",
        "first",
    ]);
    let (tags, said) = repository.imported(&["--git=../long"]);
    assert!(tags.ends_with("dirty=false"), "{tags}");
    assert!(tags.contains("commit_count=1"), "{tags}");
    assert_eq!(notes_about_tags(&said), "");
}

/// Asserts that an import fails with a message and makes no database.
fn refused(repository: &Repository, command: &mut Command, expected: &str) {
    let output = command.output().expect("it was built");
    let said = said(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains(expected), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(!repository.database().exists());
}

#[test]
fn without_a_repository_nothing_is_imported() {
    let repository = Repository::new();
    let elsewhere = format!("--git={}", repository.home.path().display());
    refused(
        &repository,
        &mut repository.profdb(&[&elsewhere]),
        "the directory is not in a git repository",
    );
    refused(
        &repository,
        &mut repository.profdb(&["--git=none"]),
        "expected a folder, found none",
    );
    refused(
        &repository,
        &mut repository.profdb(&["--git=a.txt"]),
        "expected a folder, found none",
    );
    refused(
        &repository,
        repository
            .profdb(&["--git"])
            .env("PATH", repository.home.path()),
        "the program git is not in PATH",
    );
    refused(
        &repository,
        repository.profdb(&["--git"]).env_remove("PATH"),
        "the program git is not in PATH",
    );
}

#[test]
fn repository_of_another_user_is_refused() {
    tools::require_other_users();
    let repository = Repository::new();
    repository.git(&["clone", "--quiet", ".", "../gift"]);
    let gift = repository.home.path().join("gift");
    std::os::unix::fs::chown(gift, Some(tools::STRANGER), None).expect("root may give it away");
    refused(
        &repository,
        &mut repository.profdb(&["--git=../gift"]),
        "belongs to another user",
    );
    repository.git(&["config", "--global", "safe.directory", "*"]);
    let (tags, _) = repository.imported(&["--git=../gift"]);
    assert!(tags.ends_with("dirty=false"), "{tags}");
}

/// Each trap: what lays it, what sets it off, and what of it is not asked.
#[test]
fn nothing_that_a_repository_names_is_run() {
    type Lay = fn(&Repository);
    let traps: &[(&str, Lay, &[&str])] = &[
        (
            "core.fsmonitor",
            |repository| {
                let script = repository.script("monitor", "");
                repository.git(&["config", "core.fsmonitor", &script]);
            },
            &["status"],
        ),
        (
            "an index that a monitor of files has marked",
            |repository| {
                let script = repository.script("monitor", "printf 'token\\0'");
                repository.git(&["config", "core.fsmonitor", &script]);
                repository.git(&["update-index", "--fsmonitor"]);
                repository.git(&["status"]);
            },
            &["status"],
        ),
        (
            "a hook",
            |repository| {
                let hooks = repository.top.join(".git/hooks");
                fs::create_dir_all(&hooks).expect("a folder");
                let script = repository.script("hook", "");
                for hook in [
                    "post-index-change",
                    "reference-transaction",
                    "post-checkout",
                ] {
                    fs::copy(&script, hooks.join(hook)).expect("room");
                }
                repository.touch("a.txt");
            },
            &["status"],
        ),
        (
            "core.hooksPath",
            |repository| {
                repository.script("post-index-change", "");
                let hooks = repository.home.path().to_str().expect("ASCII");
                repository.git(&["config", "core.hooksPath", hooks]);
                repository.touch("a.txt");
            },
            &["status"],
        ),
        (
            "a clean filter",
            |repository| {
                repository.write(".gitattributes", "* filter=trap\n");
                let script = repository.script("clean", "exec cat");
                repository.git(&["config", "filter.trap.clean", &script]);
                repository.touch("a.txt");
            },
            &["status"],
        ),
        (
            "a process filter",
            |repository| {
                fs::write(
                    repository.top.join(".git/info/attributes"),
                    "* filter=Trap\n",
                )
                .expect("room");
                let script = repository.script("process", "exit 1");
                repository.git(&["config", "filter.Trap.process", &script]);
                repository.touch("a.txt");
            },
            &["status"],
        ),
        (
            "a configuration that is included",
            |repository| {
                let script = repository.script("monitor", "");
                repository.write("more", &format!("[core]\nfsmonitor = {script}\n"));
                repository.git(&["config", "includeIf.gitdir:**.path", "../more"]);
            },
            &["status"],
        ),
        (
            "textconv",
            |repository| {
                repository.write(".gitattributes", "*.txt diff=trap\n");
                let script = repository.script("convert", "");
                repository.git(&["config", "diff.trap.textconv", &script]);
                repository.write("a.txt", "other\n");
            },
            &["diff"],
        ),
        (
            "diff.external",
            |repository| {
                let script = repository.script("diff", "");
                repository.git(&["config", "diff.external", &script]);
                repository.write("a.txt", "other\n");
            },
            &["diff"],
        ),
        (
            "an alias",
            |repository| {
                let script = repository.script("alias", "");
                for alias in ["st", "status", "rev-parse", "rev-list", "symbolic-ref"] {
                    let alias = format!("alias.{alias}");
                    repository.git(&["config", &alias, &format!("!{script}")]);
                }
            },
            &["st"],
        ),
        (
            "a submodule",
            |repository| {
                let sub = repository.top.join("sub");
                fs::create_dir(&sub).expect("a folder");
                repository.git(&["-C", "sub", "init", "--quiet"]);
                repository.git(&["-C", "sub", "commit", "--quiet", "--allow-empty", "-m", "x"]);
                repository.git(&["add", "sub"]);
                repository.commit("second");
                let script = repository.script("monitor", "");
                repository.git(&["-C", "sub", "config", "core.fsmonitor", &script]);
            },
            &["status"],
        ),
        (
            "core.sshCommand of a partial clone",
            |repository| {
                let script = repository.script("ssh", "exit 1");
                repository.git(&["config", "core.sshCommand", &script]);
                partial(repository, "ssh://example.invalid/x");
            },
            &["cat-file", "-p", "HEAD^{tree}"],
        ),
        (
            "a transport of a partial clone",
            |repository| {
                let script = repository.script("transport", "exit 1");
                repository.git(&["config", "protocol.ext.allow", "always"]);
                partial(repository, &format!("ext::{script}"));
            },
            &["cat-file", "-p", "HEAD^{tree}"],
        ),
        (
            "a credential helper",
            |repository| {
                let script = repository.script("credential", "");
                repository.git(&["config", "credential.helper", &format!("!{script}")]);
            },
            &["-c", "core.askPass=true", "credential", "fill"],
        ),
    ];
    for (trap, lay, sets_off) in traps {
        let repository = Repository::new();
        lay(&repository);
        let _ = fs::remove_file(repository.fired());
        let output = repository
            .profdb(&["--git"])
            .output()
            .expect("it was built");
        assert!(output.status.success(), "{trap}: {}", said(&output));
        assert!(repository.tags().contains("commit="), "{trap}");
        assert!(!repository.fired().exists(), "{trap}: was run");
        // The trap is one.
        let mut plain = repository.plain(&repository.git);
        let request = repository.home.path().join("request");
        fs::write(&request, "protocol=https\nhost=example.invalid\n\n").expect("room");
        plain
            .args(*sets_off)
            .stdin(fs::File::open(request).expect("it is there"));
        let output = plain.output().expect("git runs");
        assert!(repository.fired().exists(), "{trap}: {}", said(&output));
    }
}

/// Takes the tree of the commit away, which a remote promises to have.
fn partial(repository: &Repository, url: &str) {
    let tree = repository.git(&["rev-parse", "HEAD^{tree}"]);
    // Where something is staged, the tree of the commit is read to say so.
    repository.git(&["update-index", "--force-remove", "b.txt"]);
    for (key, value) in [
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", url),
    ] {
        repository.git(&["config", key, value]);
    }
    let (folder, file) = tree.split_at(2);
    fs::remove_file(repository.top.join(".git/objects").join(folder).join(file))
        .expect("a small repository is not packed");
}

#[test]
fn the_environment_leads_git_nowhere_else() {
    let (repository, other) = (Repository::new(), Repository::new());
    let script = repository.script("monitor", "");
    let git_dir = other.top.join(".git");
    let (expected, _) = repository.imported(&["--git"]);
    let environments: [&[(&str, &str)]; 4] = [
        &[
            ("GIT_DIR", git_dir.to_str().expect("ASCII")),
            ("GIT_WORK_TREE", "/"),
        ],
        &[
            ("GIT_INDEX_FILE", "/nowhere"),
            ("GIT_OBJECT_DIRECTORY", "/nowhere"),
        ],
        &[
            ("GIT_CONFIG_COUNT", "1"),
            ("GIT_CONFIG_KEY_0", "core.fsmonitor"),
            ("GIT_CONFIG_VALUE_0", &script),
        ],
        &[
            ("GIT_EXEC_PATH", "/nowhere"),
            ("GIT_EXTERNAL_DIFF", &script),
            ("GIT_CEILING_DIRECTORIES", "/"),
        ],
    ];
    for environment in environments {
        let mut command = repository.profdb(&["--git", "--again"]);
        let output = command.envs(environment.iter().copied()).output();
        let output = output.expect("it was built");
        assert!(
            output.status.success(),
            "{environment:?}: {}",
            said(&output)
        );
        assert_eq!(repository.tags(), expected, "{environment:?}");
        assert!(!repository.fired().exists(), "{environment:?}");
    }
}

#[test]
fn no_program_of_the_folder_is_git() {
    let repository = Repository::new();
    let script = repository.script("script", "");
    fs::create_dir(repository.top.join("bin")).expect("a folder");
    for place in ["git", "bin/git"] {
        fs::copy(&script, repository.top.join(place)).expect("room");
    }
    // A link to a program of the folder is one.
    let linked = repository.home.path().join("linked");
    fs::create_dir(&linked).expect("a folder");
    std::os::unix::fs::symlink(repository.top.join("git"), linked.join("git")).expect("a link");
    let path = std::env::var("PATH").expect("git was found in it");
    let bin = repository.top.join("bin");
    for first in [
        ".",
        "",
        "bin",
        bin.to_str().expect("ASCII"),
        linked.to_str().expect("ASCII"),
    ] {
        let path = format!("{first}:{path}");
        let mut command = repository.profdb(&["--git", "--again"]);
        let output = command.env("PATH", &path).output().expect("it was built");
        assert!(output.status.success(), "{first}: {}", said(&output));
        assert!(repository.tags().contains("commit="), "{first}");
        assert!(!repository.fired().exists(), "{first}");
        // A shell finds it.
        let mut shell = repository.plain(Path::new("/bin/sh"));
        shell.args(["-c", "git status"]).env("PATH", &path);
        shell.output().expect("every Unix has a shell");
        assert!(repository.fired().exists(), "{first}");
        fs::remove_file(repository.fired()).expect("it is there");
    }
}

#[test]
fn what_only_filters_and_submodules_tell_is_unknown() {
    let repository = Repository::new();
    repository.write(".gitattributes", "*.bin filter=pack\n");
    repository.git(&["config", "filter.pack.clean", "tr a-z A-Z"]);
    repository.write("x.bin", "abc\n");
    // A file that is as old as the index is compared all the same.
    repository.touch("x.bin");
    repository.commit("second");
    assert_eq!(repository.dirty(), "false");
    repository.write("x.bin", "abc\n");
    let unknown = repository.dirty();
    assert!(
        unknown.starts_with("- ")
            && unknown.contains("changes of x.bin are known to its filter only"),
        "{unknown}"
    );
    repository.write("a.txt", "other\n");
    assert_eq!(repository.dirty(), "true", "another file tells");
    repository.git(&["checkout", "--quiet", "a.txt"]);
    // Without the filter, git compares what is there.
    repository.git(&["config", "--unset", "filter.pack.clean"]);
    assert_eq!(repository.dirty(), "true");
    repository.commit("third");
    assert_eq!(repository.dirty(), "false");

    fs::create_dir(repository.top.join("sub")).expect("a folder");
    repository.git(&["-C", "sub", "init", "--quiet"]);
    repository.git(&["-C", "sub", "commit", "--quiet", "--allow-empty", "-m", "x"]);
    repository.git(&["add", "sub"]);
    repository.commit("fourth");
    let unknown = repository.dirty();
    assert!(
        unknown.starts_with("- ") && unknown.contains("submodule sub"),
        "{unknown}"
    );
    repository.git(&["-C", "sub", "commit", "--quiet", "--allow-empty", "-m", "y"]);
    assert_eq!(
        repository.dirty(),
        "true",
        "another commit of the submodule"
    );
}

/// Deterministic profilers give equal files for unchanged code: each commit has its run all the same.
#[test]
fn equal_content_of_another_commit_is_another_run() {
    let repository = Repository::new();
    let runs = || {
        let database = Connection::open(repository.database()).expect("it was imported");
        database
            .query_row("SELECT COUNT(*) FROM runs", [], |row| row.get::<_, i64>(0))
            .expect("one row")
    };
    repository.imported(&["--git"]);
    let (_, said) = repository.imported(&["--git"]);
    assert!(said.contains("already imported as run 1"), "{said}");
    repository.commit("second");
    repository.imported(&["--git"]);
    assert_eq!(runs(), 2);
    // A run that was said to be of one commit, and later of another one, is no run of the first.
    repository.imported(&["--tag", "commit=a"]);
    let tagged = program::command()
        .args(["tag", "3", "commit=b", "--db"])
        .arg(repository.database())
        .output();
    assert!(tagged.expect("it was built").status.success());
    assert_eq!(repository.imported(&["--tag", "commit=a"]).0, "commit=a");
    assert_eq!(runs(), 4);
    let (_, said) = repository.imported(&["--tag", "commit=a"]);
    assert!(said.contains("already imported as run 4"), "{said}");
    repository.imported(&["--tag", "commit=a", "--again"]);
    assert_eq!(runs(), 5);
}

/// `gate --git` finds the commit that new was made from, and compares with no commit that did not lead to it.
#[test]
fn a_gate_finds_where_a_branch_began() {
    let repository = Repository::new();
    let mut wobble = 0;
    let mut record = |repository: &Repository, percent: u64, more: &[&str]| {
        for _ in 0..3 {
            wobble = (wobble + 7) % 11;
            let cost = 10_000 * percent + 200 * wobble;
            repository.write(PROFILE, &format!("main;work {cost}\n"));
            repository.imported(&[&["--git", "--noise", "timed"][..], more].concat());
        }
    };
    for number in 1..=4 {
        repository.commit(&format!("trunk {number}"));
        record(&repository, 100, &[]);
    }
    let began = repository.git(&["rev-parse", "HEAD"]);
    repository.git(&["branch", "feature"]);
    repository.git(&["branch", "other"]);
    // The trunk goes on, and becomes slower.
    for number in 5..=8 {
        repository.commit(&format!("trunk {number}"));
        record(&repository, 130, &[]);
    }
    repository.git(&["checkout", "--quiet", "feature"]);
    repository.commit("feature");
    record(&repository, 130, &[]);
    repository.write("perf.budget", "total <= +10 %\n");
    let gate = |more: &[&str]| {
        let mut command = program::command();
        let output = command
            .current_dir(&repository.top)
            .env("HOME", repository.home.path())
            .args(["gate", "--budget", "perf.budget", "--db"])
            .arg(repository.database())
            .args(more)
            .output()
            .expect("it was built");
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &said(&output);
        (output.status.code(), text)
    };
    // As slow as the trunk is by now, and slower than where it began; how many commits there are tells so much by itself.
    let (code, text) = gate(&[]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("the last 4 commits of branch main"), "{text}");
    let (code, text) = gate(&["--git"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(
        text.contains(&format!("the merge base, commit {began}")),
        "{text}"
    );
    let elsewhere = format!("--git={}", repository.top.join(".git").display());
    assert_eq!(gate(&[&elsewhere]).0, Some(1));
    // What the command line says comes first.
    let trunk = repository.git(&["rev-parse", "main"]);
    assert_eq!(gate(&["--git", "--merge-base", &trunk]).0, Some(0));
    // Without runs of that commit: the last ones that led to it.
    let database = Connection::open(repository.database()).expect("it is there");
    let sql = "UPDATE run_tags SET value = 'gone' WHERE key = 'commit' AND value = ?1";
    database.execute(sql, [&began]).expect("a tag");
    let (code, text) = gate(&["--git"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("the last 3 commits of branch main"), "{text}");
    // A commit that the repository does not have, and one that is an option.
    let sql = "UPDATE run_tags SET value = ?1 WHERE key = 'commit' AND run_id = (SELECT MAX(run_id) FROM runs)";
    for name in [
        "0123456789abcdef0123456789abcdef01234567",
        "--upload-pack=x",
        "HEAD",
    ] {
        database.execute(sql, [name]).expect("a tag");
        let new = "--new=last 1";
        let (_, text) = gate(&["--git", new]);
        let said = format!("the commit {name} of the new runs is missing");
        assert!(text.contains(&said), "{text}");
    }
    // Nothing that the repository names is carried out.
    for (key, value) in [
        ("core.fsmonitor", repository.script("monitor", "")),
        ("core.sshCommand", repository.script("ssh", "")),
        ("core.pager", repository.script("pager", "")),
        (
            "alias.merge-base",
            format!("!{}", repository.script("alias", "")),
        ),
        (
            "alias.rev-list",
            format!("!{}", repository.script("list", "")),
        ),
    ] {
        repository.git(&["config", key, &value]);
    }
    let (code, text) = gate(&["--git"]);
    assert!(code.is_some(), "{text}");
    assert!(!repository.fired().exists(), "{text}");
    // Elsewhere there is nothing to ask.
    let empty = tempfile::tempdir().expect("a folder");
    let nowhere = format!("--git={}", empty.path().display());
    let (code, text) = gate(&[&nowhere]);
    assert_eq!(code, Some(3), "{text}");
}

/// Of a long history only the latest commits are read, and that is said.
#[test]
fn of_a_long_history_it_is_said_what_is_left_out() {
    let repository = Repository::new();
    let commit = |second: usize| {
        format!("commit refs/heads/long\ncommitter A <a@b> {second} +0000\ndata 0\n\n")
    };
    let commits: String = (0..10_000).map(commit).collect();
    let mut importer = repository.plain(&repository.git);
    importer.args(["fast-import", "--quiet"]);
    let mut importer = importer.stdin(Stdio::piped()).spawn().expect("git runs");
    let mut input = importer.stdin.take().expect("a pipe");
    input.write_all(commits.as_bytes()).expect("git reads it");
    drop(input);
    assert!(importer.wait().expect("a child").success());
    repository.git(&["checkout", "--quiet", "long"]);
    repository.write("perf.budget", "total <= +10 %\n");
    let gate = || {
        repository.imported(&["--git", "--again"]);
        let mut command = program::command();
        let output = command
            .current_dir(&repository.top)
            .env("HOME", repository.home.path())
            .args(["gate", "--budget", "perf.budget", "--git", "--db"])
            .arg(repository.database())
            .output();
        said(&output.expect("it was built"))
    };
    let omission = " has more than 10000 ancestors; ";
    let said = gate();
    assert!(!said.contains(omission), "{said}");
    repository.commit("one more");
    let said = gate();
    let of_all = "only the latest 10000 are used\n";
    assert!(said.contains(omission) && said.contains(of_all), "{said}");
}
