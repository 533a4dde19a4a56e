//! What git says of a folder: the commit of its working tree, its branch, and whether anything in it was changed since.
//!
//! A profile often comes from a folder that strangers have filled, and git carries out programs that the configuration of a
//! repository names. Here it carries out none. Git is asked in two ways:
//!
//! - **In the repository**, only where it is and what it says of itself: commands that read names, hashes and the configuration.
//!   Git itself refuses a repository that belongs to another user (`safe.directory`).
//! - **Beside the repository**, all else: in an empty repository of our own, whose configuration is ours, and which borrows
//!   objects, index and working tree of the other one. What the other one's configuration names (`core.fsmonitor`, hooks, clean
//!   and process filters, aliases, external programs, files that it includes) does not exist there.
//!
//! Without filters some files cannot be compared with their commit, and without its programs a submodule cannot. Where these
//! alone would tell, it stays unknown whether anything was changed.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use tempfile::TempDir;

use super::failure::{Failure, complain, say};
use super::git_program::{Answer, Asked, GitProgram, Unknown, path_of, variable};
use crate::base::error::Stop;
use crate::gate::Ancestry;
use crate::store::Tag;
use crate::text::dates::utc;

/// The flag by which git is asked. Each command says in its help what for.
#[derive(Debug, Args)]
pub(super) struct GitArgs {
    /// The folder whose repository is asked.
    #[arg(
        id = "git",
        long = "git",
        value_name = "DIR",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = ".",
        value_hint = ValueHint::DirPath
    )]
    pub(super) folder: Option<PathBuf>,
}

/// The tags that a repository gives, in this order.
pub(super) const TAGS: [&str; 5] = ["commit", "branch", "commit_time", "commit_count", "dirty"];

/// Settings that say how files look in a working tree. They name no program.
const LOOKS: [&str; 8] = [
    "core.autocrlf",
    "core.checkstat",
    "core.eol",
    "core.filemode",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.symlinks",
    "core.trustctime",
];

/// The setting that names the user's file of attributes.
const ATTRIBUTES: &str = "core.attributesfile";

/// Mode of a submodule in the index.
const SUBMODULE: &[u8] = b"160000 ";

/// Fewest digits that name a commit.
const SHORTEST_HASH: usize = 7;

/// Nanoseconds of a second.
const SECOND: i64 = 1_000_000_000;

/// The tags that the repository of a folder gives to its profiles, besides those that are given. What is left out, and why, is
/// said on standard error.
pub(super) fn tags(folder: &Path, given: &[Tag], stop: &Stop) -> Result<Vec<Tag>, Failure> {
    let is_given = |key: &str| given.iter().any(|tag| tag.key == key);
    let name = folder.display();
    let found = Repository::open(folder, stop).and_then(|repository| repository.facts());
    let facts = found.map_err(|unknown| failed(folder, unknown))?;
    for (tag, omission) in facts.omissions {
        if !is_given(tag) {
            say(format!("--git: {name}: {omission}"));
        }
    }
    let values = [
        facts.commit,
        facts.branch,
        facts.commit_time,
        facts.commit_count,
        facts.is_dirty.map(|is_dirty| is_dirty.to_string()),
    ];
    let tags = TAGS.into_iter().zip(values);
    let tags = tags.filter(|(key, _)| !is_given(key));
    let tags = tags.filter_map(|(key, value)| {
        let key = key.to_owned();
        value.map(|value| Tag { key, value })
    });
    Ok(tags.collect())
}

/// Why a repository tells nothing.
fn failed(folder: &Path, unknown: Unknown) -> Failure {
    match unknown {
        Unknown::Interrupted => Failure::Interrupted,
        Unknown::Said(message) => complain(
            format!("--git: {}: {message}", folder.display()),
            Failure::Input,
        ),
    }
}

/// The most commits that are heeded of those that led to one.
const ANCESTORS: usize = 10_000;

/// Where a commit comes from, as the repository of a folder says it: which commits led to it, and at which it left the first of some
/// branches that there is, the one of `origin` before one's own. What is unknown is left out, and said on standard error.
pub(super) fn ancestry(
    folder: &Path,
    commit: &str,
    branches: &[&str],
    stop: &Stop,
) -> Result<Ancestry, Failure> {
    let name = folder.display();
    let found =
        Repository::open(folder, stop).and_then(|repository| repository.ancestry(commit, branches));
    let (ancestry, omission) = found.map_err(|unknown| failed(folder, unknown))?;
    if let Some(omission) = omission {
        say(format!("--git: {name}: {omission}"));
    }
    Ok(ancestry)
}

/// What a repository says of its working tree.
#[derive(Default)]
struct Facts {
    commit: Option<String>,
    branch: Option<String>,
    /// When the commit was made, UTC.
    commit_time: Option<String>,
    /// How many commits there are from it to the first one, by first parents.
    commit_count: Option<String>,
    is_dirty: Option<bool>,
    /// Tags that are left out, and why: of several for one reason, the first.
    omissions: Vec<(&'static str, String)>,
}

/// A repository, as it describes itself.
struct Repository<'s> {
    program: GitProgram,
    folder: PathBuf,
    /// Where its own files are.
    git_dir: PathBuf,
    /// Where the files are that all its working trees share.
    common_dir: PathBuf,
    /// The working tree, if there is one.
    top: Option<PathBuf>,
    /// Names and values of its configuration, the names in small letters.
    settings: Vec<(String, String)>,
    /// Holds the files that git writes to.
    work: TempDir,
    stop: &'s Stop,
}

impl<'s> Repository<'s> {
    fn open(folder: &Path, stop: &'s Stop) -> Result<Self, Unknown> {
        let folder = fs::canonicalize(folder)
            .ok()
            .filter(|folder| folder.is_dir())
            .ok_or_else(|| Unknown::Said("expected a folder, found none".to_owned()))?;
        let work = tempfile::tempdir()?;
        let mut repository = Self {
            program: GitProgram::find(&folder).map_err(Unknown::Said)?,
            git_dir: folder.clone(),
            common_dir: folder.clone(),
            folder,
            top: None,
            settings: Vec::new(),
            work,
            stop,
        };
        let found = repository.ask(&["rev-parse", "--absolute-git-dir"])?;
        if !found.is_done {
            return Err(Unknown::Said(refused(&found)));
        }
        repository.git_dir = found.path();
        let common = repository.ask(&["rev-parse", "--git-common-dir"])?;
        // The name is relative to the folder in some versions.
        repository.common_dir = repository.folder.join(common.path());
        let top = repository.ask(&["rev-parse", "--show-toplevel"])?;
        repository.top = top.is_done.then(|| top.path());
        let settings = repository.ask(&["config", "--null", "--list"])?;
        repository.settings = settings
            .output
            .split(|byte| *byte == 0)
            .map(|setting| {
                let setting = String::from_utf8_lossy(setting);
                let (name, value) = setting.split_once('\n').unwrap_or((&setting, "true"));
                (name.to_lowercase(), value.to_owned())
            })
            .collect();
        Ok(repository)
    }

    /// Asks git in the repository. What is asked must carry out nothing that its configuration names.
    fn ask(&self, arguments: &[&str]) -> Result<Answer, Unknown> {
        let none = self.work.path().join("none");
        let asked = Asked {
            folder: &self.folder,
            arguments: arguments.iter().map(Into::into).collect(),
            // The index is not read here, which could ask the monitor of file changes, and nothing is written, which hooks
            // would be told of: this holds also if a later git thinks otherwise.
            settings: vec![
                "core.fsmonitor=".into(),
                [OsString::from("core.hooksPath="), none.into()]
                    .into_iter()
                    .collect(),
            ],
            variables: Vec::new(),
            input: None,
        };
        self.program.ask(asked, self.work.path(), self.stop)
    }

    fn facts(&self) -> Result<Facts, Unknown> {
        let mut facts = Facts::default();
        let head = self.ask(&["symbolic-ref", "--quiet", "HEAD"])?;
        facts.branch = head
            .text()
            .strip_prefix("refs/heads/")
            .filter(|_| head.is_done)
            .map(str::to_owned);
        if facts.branch.is_none() {
            facts.omissions.push((
                "branch",
                "HEAD is detached, so there is no tag branch; set it with --tag branch=NAME"
                    .to_owned(),
            ));
        }
        let commit = self.ask(&["rev-parse", "--quiet", "--verify", "HEAD^{commit}"])?;
        if !commit.is_done {
            facts.omissions.push((
                "commit",
                "there is no commit yet, so the tags commit, commit_time, commit_count and dirty are missing"
                    .to_owned(),
            ));
            return Ok(facts);
        }
        let commit = commit.text();
        let beside = Beside::new(self, &commit)?;
        let shallow = self.ask(&["rev-parse", "--is-shallow-repository"])?;
        if shallow.text() == "false" {
            let count = beside.ask(&["rev-list", "--count", "--first-parent", &commit], None)?;
            facts.commit_count = Some(count.text()).filter(|_| count.is_done);
            if !count.is_done {
                let said = format!("no tag commit_count: {}", count.first_message());
                facts.omissions.push(("commit_count", said));
            }
        } else {
            facts.omissions.push((
                "commit_count",
                "the clone is shallow, so there is no tag commit_count; `git fetch --unshallow` completes it"
                    .to_owned(),
            ));
        }
        // No walk: a shallow clone has no parents that could be looked at.
        let time = beside.ask(
            &["rev-list", "--no-walk", "--timestamp", &commit, "--"],
            None,
        )?;
        let text = time.text();
        let seconds = text.split(' ').next().and_then(|text| text.parse().ok());
        facts.commit_time = seconds
            .and_then(|seconds: i64| seconds.checked_mul(SECOND))
            .map(utc);
        if facts.commit_time.is_none() {
            let said = format!("no tag commit_time: {}", time.first_message());
            facts.omissions.push(("commit_time", said));
        }
        match beside.is_dirty() {
            Ok(Ok(is_dirty)) => facts.is_dirty = Some(is_dirty),
            Ok(Err(reason)) | Err(Unknown::Said(reason)) => {
                facts
                    .omissions
                    .push(("dirty", format!("no tag dirty: {reason}")));
            }
            Err(Unknown::Interrupted) => return Err(Unknown::Interrupted),
        }
        facts.commit = Some(commit);
        Ok(facts)
    }

    /// The hash of a commit, by a name that is no option.
    fn hash(&self, name: &str) -> Result<Option<String>, Unknown> {
        let name = format!("{name}^{{commit}}");
        let found = self.ask(&["rev-parse", "--quiet", "--verify", &name])?;
        Ok(Some(found.text()).filter(|_| found.is_done))
    }

    /// Where a commit comes from, and what of that is unknown.
    fn ancestry(
        &self,
        commit: &str,
        branches: &[&str],
    ) -> Result<(Ancestry, Option<String>), Unknown> {
        let nothing = |omission: String| Ok((Ancestry::default(), Some(omission)));
        // Tags are anybody's, and a hash is neither an option nor another name.
        let is_hash =
            commit.len() >= SHORTEST_HASH && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
        let hash = if is_hash { self.hash(commit)? } else { None };
        let Some(hash) = hash else {
            return nothing(format!(
                "the commit {commit} of the new runs is missing; run `git fetch`"
            ));
        };
        let shallow = self.ask(&["rev-parse", "--is-shallow-repository"])?;
        if shallow.text() != "false" {
            return nothing(
                "the clone is shallow, so ancestors are unknown; run `git fetch --unshallow`"
                    .to_owned(),
            );
        }
        let beside = Beside::new(self, &hash)?;
        // One more tells whether there are more.
        let count = format!("--max-count={}", ANCESTORS + 1);
        let before = beside.ask(&["rev-list", &count, &hash, "--"], None)?;
        if !before.is_done {
            return nothing(format!("git: {}", before.first_message()));
        }
        let mut ancestors: Vec<String> = before.text().lines().map(str::to_owned).collect();
        let omission = (ancestors.len() > ANCESTORS).then(|| {
            format!(
                "{commit} has more than {ANCESTORS} ancestors; only the latest {ANCESTORS} are used"
            )
        });
        ancestors.truncate(ANCESTORS);
        let mut ancestry = Ancestry {
            merge_base: None,
            ancestors: Some(ancestors.into_iter().collect()),
        };
        for branch in branches {
            for place in ["refs/remotes/origin", "refs/heads"] {
                let Some(tip) = self.hash(&format!("{place}/{branch}"))? else {
                    continue;
                };
                let base = beside.ask(&["merge-base", &hash, &tip], None)?;
                let base = base.text();
                let base = base.lines().next().unwrap_or_default();
                // A commit of the branch itself has left it nowhere.
                ancestry.merge_base =
                    Some(base.to_owned()).filter(|base| !base.is_empty() && *base != hash);
                return Ok((ancestry, omission));
            }
        }
        Ok((ancestry, omission))
    }

    fn setting(&self, wanted: &str) -> Option<&str> {
        let mut settings = self.settings.iter().rev();
        let (_, value) = settings.find(|(name, _)| name == wanted)?;
        Some(value)
    }

    /// Names of filters that are programs.
    fn filters(&self) -> Vec<&str> {
        let filters = self.settings.iter().filter_map(|(name, value)| {
            let name = name.strip_prefix("filter.")?;
            let name = name
                .strip_suffix(".clean")
                .or_else(|| name.strip_suffix(".process"))?;
            Some(name).filter(|_| !value.is_empty())
        });
        filters.collect()
    }
}

/// What to say where git finds no repository that it would read.
fn refused(found: &Answer) -> String {
    let message = found.first_message();
    if message.contains("not a git repository") {
        "the directory is not in a git repository; name another one with --git=DIR".to_owned()
    } else if message.contains("dubious ownership") {
        "the repository belongs to another user; `git config --global --add safe.directory DIR` allows git to read it"
            .to_owned()
    } else {
        format!("expected a git repository; git: {message}")
    }
}

/// An empty repository of our own, which borrows objects, index and working tree of another one.
struct Beside<'r> {
    repository: &'r Repository<'r>,
    folder: PathBuf,
}

impl<'r> Beside<'r> {
    fn new(repository: &'r Repository<'r>, commit: &str) -> Result<Self, Unknown> {
        let folder = repository.work.path().join("beside");
        fs::create_dir_all(folder.join("refs"))?;
        fs::create_dir_all(folder.join("info"))?;
        fs::write(folder.join("HEAD"), format!("{commit}\n"))?;
        let mut config = "[core]\nrepositoryformatversion = 1\nbare = false\n".to_owned();
        for name in LOOKS {
            if let Some(value) = repository.setting(name) {
                config += &setting(name, value);
            }
        }
        if let Some(file) = repository.attributes_file() {
            config += &setting(ATTRIBUTES, &file);
        }
        if commit.len() > 40 {
            config += "[extensions]\nobjectformat = sha256\n";
        }
        fs::write(folder.join("config"), config)?;
        copy(
            &repository.common_dir.join("info/attributes"),
            &folder.join("info/attributes"),
        )?;
        // The index may be in two parts, of which the larger one has a name of its own.
        for file in fs::read_dir(&repository.git_dir).into_iter().flatten() {
            let file = file?;
            if file
                .file_name()
                .to_string_lossy()
                .starts_with("sharedindex.")
            {
                copy(&file.path(), &folder.join(file.file_name()))?;
            }
        }
        Ok(Self { repository, folder })
    }

    fn ask(&self, arguments: &[&str], input: Option<&[u8]>) -> Result<Answer, Unknown> {
        let Repository {
            git_dir,
            common_dir,
            top,
            work,
            ..
        } = self.repository;
        let top = top.as_ref().unwrap_or(git_dir);
        let asked = Asked {
            folder: work.path(),
            arguments: arguments.iter().map(Into::into).collect(),
            settings: Vec::new(),
            variables: vec![
                ("GIT_DIR", self.folder.clone()),
                ("GIT_WORK_TREE", top.clone()),
                ("GIT_INDEX_FILE", git_dir.join("index")),
                ("GIT_OBJECT_DIRECTORY", common_dir.join("objects")),
                // The user's configuration names programs, too.
                ("GIT_CONFIG_GLOBAL", work.path().join("none")),
                ("GIT_CONFIG_NOSYSTEM", "1".into()),
                ("HOME", work.path().into()),
                ("XDG_CONFIG_HOME", work.path().into()),
            ],
            input,
        };
        let Repository { program, stop, .. } = self.repository;
        program.ask(asked, work.path(), stop)
    }

    /// Whether files that are tracked differ from the commit; or why that is unknown.
    fn is_dirty(&self) -> Result<Result<bool, String>, Unknown> {
        let Some(top) = &self.repository.top else {
            return Ok(Err("the repository has no working tree".to_owned()));
        };
        let status = self.ask(
            &[
                "-c",
                "status.renames=false",
                "status",
                "--porcelain=v1",
                "-z",
                "--untracked-files=no",
                "--ignore-submodules=dirty",
            ],
            None,
        )?;
        if !status.is_done {
            return Ok(Err(format!("git: {}", status.first_message())));
        }
        let mut rewritten: Vec<&[u8]> = Vec::new();
        for entry in status.output.split(|byte| *byte == 0) {
            match entry {
                [] => {}
                // Only the content in the working tree differs from what the index has: a filter might make it equal.
                [b' ', b'M', b' ', path @ ..] => rewritten.push(path),
                _ => return Ok(Ok(true)),
            }
        }
        let filters = self.repository.filters();
        if filters.is_empty() && !rewritten.is_empty() {
            return Ok(Ok(true));
        }
        if !rewritten.is_empty() {
            let input = [rewritten.join(&0), vec![0]].concat();
            let found = self.ask(&["check-attr", "-z", "--stdin", "filter"], Some(&input))?;
            let words: Vec<&[u8]> = found.output.split(|byte| *byte == 0).collect();
            let is_filtered = |value: &[u8]| {
                let value = String::from_utf8_lossy(value).to_lowercase();
                filters.iter().any(|filter| *filter == value)
            };
            let attributes: Vec<bool> = words
                .chunks_exact(3)
                .map(|words| is_filtered(words[2]))
                .collect();
            if !found.is_done || attributes.len() != rewritten.len() {
                return Ok(Err(format!("git: {}", found.first_message())));
            }
            if attributes.contains(&false) {
                return Ok(Ok(true));
            }
            let path = String::from_utf8_lossy(rewritten[0]);
            return Ok(Err(format!(
                "changes of {path} are known to its filter only, and filters are not run"
            )));
        }
        let index = self.ask(&["ls-files", "--stage", "-z"], None)?;
        for entry in index.output.split(|byte| *byte == 0) {
            // Mode, hash and stage come before a tab, the path after it.
            let path = entry
                .starts_with(SUBMODULE)
                .then(|| entry.iter().position(|byte| *byte == b'\t'))
                .flatten()
                .map(|tab| &entry[tab + 1..]);
            if let Some(path) = path
                && top.join(path_of(path)).join(".git").exists()
            {
                let path = String::from_utf8_lossy(path);
                return Ok(Err(format!(
                    "changes in the submodule {path} are not checked"
                )));
            }
        }
        Ok(Ok(false))
    }
}

impl Repository<'_> {
    /// The user's file of attributes, wherever it is.
    fn attributes_file(&self) -> Option<String> {
        let home = |name: &str| variable(name).map(PathBuf::from);
        let file = match self.setting(ATTRIBUTES) {
            Some(file) => match file.strip_prefix("~/") {
                Some(below) => home("HOME")?.join(below),
                None => PathBuf::from(file),
            },
            None => home("XDG_CONFIG_HOME")
                .or_else(|| Some(home("HOME")?.join(".config")))?
                .join("git/attributes"),
        };
        // A pipe would be waited for.
        file.to_str().filter(|_| file.is_file()).map(str::to_owned)
    }
}

/// A line of a configuration.
fn setting(name: &str, value: &str) -> String {
    let (section, key) = name.split_once('.').unwrap_or((name, ""));
    let mut quoted = String::new();
    for character in value.chars() {
        match character {
            '\n' => quoted.push_str("\\n"),
            '"' | '\\' => {
                let _ = write!(quoted, "\\{character}");
            }
            character => quoted.push(character),
        }
    }
    format!("[{section}]\n{key} = \"{quoted}\"\n")
}

/// Copies a file if it is there.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    // A pipe would be waited for.
    if !from.is_file() {
        return Ok(());
    }
    io::copy(&mut File::open(from)?, &mut File::create(to)?)?;
    Ok(())
}
