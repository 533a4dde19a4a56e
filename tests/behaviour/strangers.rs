//! Another user in the folder of a database, with and without the sticky bit: no name of ours that
//! he has made or taken is opened, followed, adopted or removed. `fs.protected_symlinks` is as the
//! machine has it.
//!
//! `LONG_TESTS=1 cargo test --test behaviour strangers::` tries everything at every call.

#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "small files of our own")]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, lchown, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::support::faults::{DATABASE, calls, check, csv, entries, profdb, text, with_fault};
use crate::support::long;
use crate::support::program::PROFDB;
use crate::support::tools;

/// Users that own nothing here.
const STRANGER: u32 = 54_321;
const USER: u32 = 54_322;

/// A folder that everybody may write to, with one beside it that only its owner may, and a profile.
struct Place {
    above: TempDir,
}

/// What is not to change, whoever plants what.
const VICTIM: &str = "victim/evil.conf";

impl Place {
    fn new(is_sticky: bool) -> Self {
        let above = tempfile::tempdir().expect("a folder");
        let mode = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("it is ours");
        };
        mode(above.path(), 0o755);
        let place = Self { above };
        for name in ["shared", "victim"] {
            fs::create_dir(place.at(name)).expect("a folder");
        }
        mode(&place.shared(), if is_sticky { 0o1777 } else { 0o777 });
        fs::write(place.at(VICTIM), b"secret = 1\n").expect("space on the disk");
        fs::write(place.at("victim/empty"), b"").expect("space on the disk");
        fs::write(place.at("p.csv"), csv(2500, 40)).expect("space on the disk");
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.above.path().join(name)
    }

    fn shared(&self) -> PathBuf {
        self.at("shared")
    }

    /// The import of root, whom no right keeps from anything.
    fn import(&self) -> Command {
        profdb(&self.shared(), &["import", "--db", DATABASE, "../p.csv"])
    }

    /// That of somebody else.
    fn import_of_user(&self) -> Command {
        let program = self.at("profdb");
        if !program.exists() {
            tools::install_program(&program);
        }
        let mut command = tools::command_at(program);
        command
            .args(["import", "--db", DATABASE, "../p.csv"])
            .current_dir(self.shared())
            .env_remove("PROFDB_DB")
            .uid(USER)
            .gid(USER);
        command
    }

    /// Nothing is lost, and nothing is elsewhere.
    fn victim_is_untouched(&self, about: &str) {
        assert_eq!(
            fs::read(self.at(VICTIM)).expect("it is there"),
            b"secret = 1\n",
            "{about}"
        );
        assert_eq!(
            fs::read(self.at("victim/empty")).expect("it is there"),
            b"",
            "{about}"
        );
        assert_eq!(
            entries(&self.at("victim")).len(),
            2,
            "{about}: {:?}",
            entries(&self.at("victim"))
        );
    }

    fn database_is_sound(&self, about: &str) {
        let own = fs::symlink_metadata(self.shared().join(DATABASE)).expect("it is there");
        assert!(own.is_file() && own.uid() == 0, "{about}: {own:?}");
        check(&self.shared(), about);
    }
}

fn output(command: &mut Command) -> Output {
    command.output().expect("the program is there")
}

/// A file of the stranger's.
fn planted(path: &Path, content: &[u8]) {
    fs::write(path, content).expect("space on the disk");
    fs::set_permissions(path, fs::Permissions::from_mode(0o666)).expect("it is ours");
    lchown(path, Some(STRANGER), Some(STRANGER)).expect("this is root");
}

fn planted_link(to: &str, path: &Path) {
    symlink(to, path).expect("a file system with links");
    lchown(path, Some(STRANGER), Some(STRANGER)).expect("this is root");
}

/// Names that earlier versions used, and names of the form that this one uses.
const NAMES: [&str; 4] = [
    "x.db.importing",
    "x.db-segment",
    ".x.db.importing",
    ".x.db.aaaaaaaaaaaa.importing",
];

#[test]
fn what_a_stranger_has_planted_is_left_alone() {
    tools::require_other_users();
    for is_sticky in [true, false] {
        let old = Place::new(is_sticky);
        assert!(output(&mut old.import()).status.success());
        let database = fs::read(old.shared().join(DATABASE)).expect("it is there");
        for name in NAMES {
            type Plant<'a> = (&'a str, &'a dyn Fn(&Path));
            let plants: [Plant<'_>; 6] = [
                ("a link to a file", &|path| {
                    planted_link("../victim/evil.conf", path);
                }),
                ("a link to an empty file", &|path| {
                    planted_link("../victim/empty", path);
                }),
                ("a link to nowhere", &|path| {
                    planted_link("../victim/new.conf", path);
                }),
                ("an empty file", &|path| planted(path, b"")),
                ("a database", &|path| planted(path, &database)),
                ("another name of a file", &|path| {
                    fs::hard_link(path.with_file_name("../victim/evil.conf"), path).expect("links");
                }),
            ];
            for (what, plant) in plants {
                let about = format!("{name}: {what}, sticky: {is_sticky}");
                let place = Place::new(is_sticky);
                let path = place.shared().join(name);
                plant(&path);
                let before = fs::symlink_metadata(&path).expect("it is there");
                // Into a new database, and a long run into one that is there.
                for again in ["--again", "--again"] {
                    let done = output(place.import().arg(again));
                    assert!(done.status.success(), "{about}: {}", text(&done.stderr));
                    place.database_is_sound(&about);
                    place.victim_is_untouched(&about);
                    let after = fs::symlink_metadata(&path).expect("nobody has removed it");
                    assert_eq!(
                        (after.ino(), after.len(), after.uid()),
                        (before.ino(), before.len(), before.uid()),
                        "{about}"
                    );
                }
                assert_eq!(
                    entries(&place.shared()).len(),
                    2,
                    "{about}: {:?}",
                    entries(&place.shared())
                );
            }
        }
    }
}

/// The stranger sees every name at once, and puts something in its place, whatever the program is
/// doing.
#[test]
fn a_stranger_who_is_fast_gains_nothing() {
    tools::require_other_users();
    tools::require("setpriv");
    let steps = [
        ("a link", "ln -s ../victim/evil.conf $f"),
        ("a link to an empty file", "ln -s ../victim/empty $f"),
        ("another name", "ln ../victim/evil.conf $f 2>/dev/null || :"),
        ("an empty file", ": > $f; chmod 666 $f"),
        ("nothing", ":"),
        ("a journal", "mv stolen $f; cp ../journal $f-journal"),
    ];
    for is_sticky in [true, false] {
        for is_new in [true, false] {
            let set_up = || {
                let place = Place::new(is_sticky);
                if !is_new {
                    assert!(output(&mut place.import()).status.success());
                }
                planted(
                    &place.at("journal"),
                    &[
                        &[0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7],
                        &[1; 1000][..],
                    ]
                    .concat(),
                );
                place
            };
            let faulty = |place: &Place, at: usize, what: &str, log: &Path| {
                let mut command = place.import();
                command.arg("--again");
                with_fault(&mut command, &place.shared(), log, at, what);
                command
            };
            let place = set_up();
            let log = tempfile::NamedTempFile::new().expect("a file");
            assert!(
                output(&mut faulty(&place, 0, "", log.path()))
                    .status
                    .success()
            );
            let called = calls(log.path());
            let has_name =
                |(call, file): &(String, String)| call == "link" && file.ends_with(".importing");
            let first = called
                .iter()
                .position(has_name)
                .expect("a file gets a name");
            for (number, (what, step)) in steps.into_iter().enumerate() {
                // In the short form one thing at each call near the moments when names are made and
                // used, and all when one goes.
                let is_looked_at = |at: &usize| {
                    let is_near = *at < first + 10 || *at + 8 > called.len();
                    let is_next = at % steps.len() == number && is_near;
                    long::is_long() || is_next || called[*at].0 == "unlink"
                };
                for at in (first + 1..called.len()).filter(is_looked_at) {
                    let place = set_up();
                    let about = format!(
                        "{what} at {at} {:?}, sticky: {is_sticky}, new: {is_new}",
                        called[at]
                    );
                    let script = format!(
                        "setpriv --reuid={STRANGER} --regid={STRANGER} --clear-groups sh -c '
                         for f in .x.db.*.importing; do
                             if test -f $f && mv $f stolen 2>/dev/null; then {step}; fi
                         done; :'"
                    );
                    let mut command = faulty(&place, at + 1, "run", "/dev/null".as_ref());
                    let done = output(command.env("FAULT_RUN", script));
                    place.victim_is_untouched(&about);
                    match done.status.code() {
                        Some(5) if is_new => {
                            assert!(!place.shared().join(DATABASE).exists(), "{about}");
                        }
                        Some(0 | 5) => place.database_is_sound(&about),
                        _ => panic!("{about}: {done:?}"),
                    }
                }
            }
        }
    }
}

/// A name of a database that a stranger has made leads to a database, or nowhere.
#[test]
fn a_strangers_link_makes_no_database() {
    tools::require_other_users();
    for is_sticky in [true, false] {
        for target in ["../victim/new.conf", "../victim/empty", "second"] {
            let place = Place::new(is_sticky);
            if target == "second" {
                planted_link("../victim/new.conf", &place.shared().join("second"));
                symlink("second", place.shared().join(DATABASE)).expect("a file system with links");
            } else {
                planted_link(target, &place.shared().join(DATABASE));
            }
            let about = format!("{target}, sticky: {is_sticky}");
            let done = output(&mut place.import());
            assert_eq!(done.status.code(), Some(5), "{about}: {done:?}");
            place.victim_is_untouched(&about);
            let said = text(&done.stderr);
            assert!(
                is_sticky || said.contains("a symbolic link of another user"),
                "{about}: {said}"
            );
        }
        // A file of somebody else does not become our database.
        let place = Place::new(is_sticky);
        planted(&place.shared().join(DATABASE), b"");
        let done = output(&mut place.import());
        assert_eq!(done.status.code(), Some(5), "sticky: {is_sticky}: {done:?}");
        assert!(
            text(&done.stderr).contains("the file is empty and belongs to another user"),
            "{done:?}"
        );
        assert_eq!(
            fs::read(place.shared().join(DATABASE)).expect("it is there"),
            b"",
            "sticky: {is_sticky}"
        );
        // One's own link, and that of root, is followed.
        for owner in [USER, 0] {
            let place = Place::new(is_sticky);
            lchown(place.at("victim"), Some(USER), Some(USER)).expect("this is root");
            symlink("../victim/mine.db", place.shared().join(DATABASE))
                .expect("a file system with links");
            lchown(place.shared().join(DATABASE), Some(owner), Some(owner)).expect("this is root");
            let done = output(&mut place.import_of_user());
            assert!(
                done.status.success(),
                "{owner}, sticky: {is_sticky}: {done:?}"
            );
            assert!(place.at("victim/mine.db").exists());
        }
    }
}

/// A link that a stranger has made in the place of a folder leads to a database, or nowhere, if it is
/// where everybody may make one; elsewhere it belongs to the folder, and is followed.
#[test]
fn a_strangers_folder_holds_no_new_database() {
    tools::require_other_users();
    let import = |place: &Place, database: &str| {
        output(&mut profdb(
            &place.shared(),
            &["import", "--db", database, "../p.csv"],
        ))
    };
    for is_sticky in [true, false] {
        for (link, target, database) in [
            ("sub", "../victim", "sub/x.db"),
            // By way of one's own link, and of one that leads on.
            ("sub", "../victim", "own"),
            ("sub", "..", "sub/victim/x.db"),
        ] {
            let place = Place::new(is_sticky);
            planted_link(target, &place.shared().join(link));
            if database == "own" {
                symlink("sub/x.db", place.shared().join("own")).expect("a file system with links");
            }
            let about = format!("{database}, sticky: {is_sticky}");
            let done = import(&place, database);
            assert_eq!(done.status.code(), Some(5), "{about}: {done:?}");
            place.victim_is_untouched(&about);
            let said = text(&done.stderr);
            assert!(
                is_sticky || said.contains("a symbolic link of another user"),
                "{about}: {said}"
            );
        }
    }
    // Also what everybody may change leads to a database that is there.
    let place = Place::new(false);
    assert!(import(&place, "../victim/x.db").status.success());
    planted_link("../victim", &place.shared().join("sub"));
    let again = import(&place, "sub/x.db");
    assert!(again.status.success(), "{again:?}");
    // The folder above belongs to one user.
    planted_link("victim", &place.at("current"));
    let done = import(&place, "../current/new.db");
    assert!(done.status.success(), "{done:?}");
    assert!(place.at("victim/new.db").exists());
}

/// Logs that a stranger has planted are refused, not replayed into the database and not removed.
#[test]
fn a_strangers_log_is_refused() {
    tools::require_other_users();
    for is_sticky in [true, false] {
        for name in ["x.db-journal", "x.db-wal", "x.db-shm"] {
            let place = Place::new(is_sticky);
            planted(&place.shared().join(name), b"somebody's");
            let done = output(&mut place.import());
            assert_eq!(done.status.code(), Some(5), "{name}: {done:?}");
            assert!(text(&done.stderr).contains(name), "{done:?}");
            assert_eq!(entries(&place.shared()).len(), 1, "{name}");
            assert_eq!(
                fs::read(place.shared().join(name)).expect("it is there"),
                b"somebody's"
            );
        }
    }
}

/// A new database and what is made beside one have the mode that the user's mask leaves, whoever
/// owns the folder.
#[test]
fn a_new_database_has_the_mode_that_is_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("p.csv"), csv(10, 3)).expect("space on the disk");
    for (mask, mode) in [("022", 0o644), ("077", 0o600), ("002", 0o664)] {
        let mut command = tools::shell();
        let script = format!("umask {mask}; exec \"$0\" import --db {mask}.db p.csv");
        command
            .args(["-c", &script, PROFDB])
            .env_remove("PROFDB_DB")
            .current_dir(folder.path());
        assert!(output(&mut command).status.success());
        let about = fs::metadata(folder.path().join(format!("{mask}.db"))).expect("it is there");
        assert_eq!(about.mode() & 0o7777, mode, "{mask}");
    }
}
