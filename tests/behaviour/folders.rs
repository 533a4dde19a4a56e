//! Folders of profiles, which are read whole: what a case folder cannot hold.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

use crate::support::program;
use crate::support::tools;
use tempfile::TempDir;

/// Folders with profiles that have the given number of nodes, at least two.
fn place(profiles: &[(&str, usize)]) -> TempDir {
    let place = tempfile::tempdir().expect("a folder");
    for (name, nodes) in profiles {
        // A text without a semicolon is passed over in a folder.
        let stacks: Vec<String> = (1..*nodes).map(|at| format!("f0;f{at} 1\n")).collect();
        write(place.path(), name, stacks.concat());
    }
    place
}

fn write(place: &Path, name: &str, content: impl AsRef<[u8]>) {
    let path = place.join(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, content).expect("a file");
}

/// What the program ends with and says.
fn said(command: &mut Command, place: &Path) -> (Option<i32>, String, String) {
    let output = command.current_dir(place).env_remove("PROFDB_DB").output();
    let output = output.expect("the program is there");
    let [said, complained] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("UTF-8"));
    (output.status.code(), said, complained)
}

fn import(place: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = program::command();
    said(command.arg("import").args(arguments), place)
}

#[test]
fn all_files_are_imported_in_the_order_of_their_names() {
    let deep = format!("p/{}x.folded", "d/".repeat(40));
    let place = place(&[
        ("p/b.folded", 2),
        ("p/a/z.folded", 3),
        ("p/a.folded", 4),
        (&deep, 5),
    ]);
    let expected = format!(
        "p/a.folded: run 1, 4 nodes\np/a/z.folded: run 2, 3 nodes\np/b.folded: run 3, 2 nodes\n\
         {deep}: run 4, 5 nodes\n"
    );
    assert_eq!(
        import(place.path(), &["p"]),
        (Some(0), expected, String::new())
    );
}

#[test]
fn links_to_folders_and_hidden_names_are_left_out() {
    let place = place(&[
        ("p/a.folded", 2),
        ("p/in/.b.folded", 3),
        ("p/.hidden/c.folded", 4),
        ("else/d.folded", 5),
    ]);
    for (to, name) in [
        ("../..", "p/in/loop"),
        ("../else", "p/else"),
        ("../else/d.folded", "p/linked"),
        ("nowhere", "p/lost"),
    ] {
        symlink(to, place.path().join(name)).expect("a link");
    }
    let socket = UnixListener::bind(place.path().join("p/socket")).expect("a socket");
    assert_eq!(
        import(place.path(), &["p"]),
        (
            Some(0),
            "p/a.folded: run 1, 2 nodes\np/linked: run 2, 5 nodes\n".to_owned(),
            "profdb: p: skipped 2 hidden names, 2 links to folders, 1 broken link, 1 pipe or device\n"
                .to_owned()
        )
    );
    drop(socket);
    // What the user names is read, whatever it is called, and also by way of a link.
    let (code, said, _) = import(place.path(), &["p/.hidden", "p/else"]);
    assert_eq!(
        (code, said.as_str()),
        (Some(0), "p/.hidden/c.folded: run 3, 4 nodes\n")
    );
}

#[test]
fn the_database_in_the_folder_is_none_of_its_files() {
    let place = place(&[("a.folded", 2), ("in/b.folded", 3)]);
    let first = "./a.folded: run 1, 2 nodes\n./in/b.folded: run 2, 3 nodes\n";
    assert_eq!(
        import(place.path(), &["."]),
        (Some(0), first.to_owned(), String::new())
    );
    fs::copy(
        place.path().join("profdb.db"),
        place.path().join("in/profdb.db"),
    )
    .expect("a copy");
    let again = "profdb: ./a.folded: already imported as run 1; --again stores it again\nprofdb: ./in/b.folded: already imported as run 2; --again stores it again\nprofdb: ./in/profdb.db: skipped: expected a profile, found an SQLite database: see `profdb formats`\n";
    assert_eq!(
        import(place.path(), &["."]),
        (Some(0), String::new(), again.to_owned())
    );
}

#[test]
fn a_file_that_is_also_named_is_one_run() {
    let place = place(&[("p/in/a.folded", 2)]);
    assert_eq!(
        import(place.path(), &["p", "p/in/a.folded", "p/in"]),
        (
            Some(0),
            "p/in/a.folded: run 1, 2 nodes\n".to_owned(),
            "profdb: p/in/a.folded: already imported as run 1; --again stores it again\n".repeat(2)
        )
    );
}

#[test]
fn of_many_files_that_are_no_profiles_the_first_are_named() {
    let place = place(&[]);
    fs::create_dir_all(place.path().join("p/empty/deeper")).expect("a folder");
    for at in 0..7 {
        write(place.path(), &format!("p/{at}.png"), b"\x89PNG\r\n\x1a\n");
    }
    let passed_over = |at| {
        format!(
            "profdb: p/{at}.png: skipped: expected a profile, found a PNG image: see `profdb formats`\n"
        )
    };
    let mut expected = [0, 1, 2, 3, 4].map(passed_over).concat();
    expected +=
        "profdb: p: 2 more files skipped\nprofdb: p: no profile found among 7 files in 3 folders\n";
    assert_eq!(
        import(place.path(), &["p"]),
        (Some(3), String::new(), expected)
    );
    let empty = "profdb: p/empty/deeper: no profile found among 0 files in 1 folder\n";
    assert_eq!(
        import(place.path(), &["p/empty/deeper"]),
        (Some(3), String::new(), empty.to_owned())
    );
}

/// Profiles that may be there are not passed over in silence.
#[test]
fn a_folder_that_cannot_be_listed_is_a_failure_that_costs_no_other() {
    let place = place(&[
        ("p/a.folded", 2),
        ("p/closed/b.folded", 3),
        ("p/in/c.folded", 4),
    ]);
    let path = place.path();
    let mode = |name: &str, mode| {
        fs::set_permissions(path.join(name), fs::Permissions::from_mode(mode)).expect("it is ours");
    };
    tools::install_program(&path.join("program"));
    let mut command = tools::command_at("./program");
    command.args(["import", "p"]);
    tools::drop_rights(&mut command);
    mode(".", 0o777);
    mode("p/closed", 0o000);
    let outcome = said(&mut command, path);
    mode("p/closed", 0o755);
    assert_eq!(
        outcome,
        (
            Some(3),
            "p/a.folded: run 1, 2 nodes\np/in/c.folded: run 2, 4 nodes\n".to_owned(),
            "profdb: p/closed: cannot list it: Permission denied\n".to_owned()
        )
    );
}

#[test]
fn folders_too_deep_are_a_failure_that_costs_no_other() {
    let deep = format!("p/{}x.folded", "d/".repeat(64));
    let place = place(&[("p/a.folded", 2), (&deep, 3)]);
    let complaint = format!(
        "profdb: {}: directories are nested more than 64 levels deep\n",
        deep.trim_end_matches("/x.folded")
    );
    assert_eq!(
        import(place.path(), &["p"]),
        (
            Some(3),
            "p/a.folded: run 1, 2 nodes\n".to_owned(),
            complaint
        )
    );
}
