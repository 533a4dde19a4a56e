//! What shells offer while a command is written that is about runs of a database: the shells
//! themselves are asked.

#![expect(
    clippy::disallowed_methods,
    reason = "hands PATH on to shells, and reads what they have written"
)]

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Output};
use std::{env, fs};

use crate::support::program::{self, PROFDB};
use crate::support::tools;

/// Names that mean something to shells, in words or at their start.
const PROFILE: &str = "main;std::vec 1\nmain;std::vim 1\nmain;#.Main 2\nmain;map<a, b> 3\nmain;it's 1\n\
                       main;⎕NS 1\nmain;a$b 1\nmain;bell\u{7}rung 1\nmain;turned\u{202e}round 1\n\
                       main;unseen\u{200b} 1\n";

/// What is expected where a shell is to offer files.
const FILES: &str = "FILES";

/// A folder with a database of three runs and a file.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    fs::write(at.join("p.folded"), PROFILE).expect("a file");
    fs::write(at.join("q.folded"), "main;other 1\n").expect("a file");
    for arguments in [
        &["p.folded", "--tag", "commit=abc", "--tag", "host=big, blue"][..],
        &["q.folded", "--tag", "commit=abd"],
        &["p.folded", "--again"],
    ] {
        let imported = profdb(at).arg("import").args(arguments).output();
        assert!(imported.expect("it runs").status.success());
    }
    folder
}

fn profdb(folder: &Path) -> Command {
    let mut command = program::command();
    command.current_dir(folder).env_remove("PROFDB_DB");
    command
}

fn asked(folder: &Path, question: &[&str]) -> Vec<String> {
    let mut command = profdb(folder);
    let said = command.arg("__complete").args(question).output();
    lines(&said.expect("it runs"))
}

/// The lines of an output of a program that complains of nothing.
fn lines(output: &Output) -> Vec<String> {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
    assert_eq!(
        (output.status.code(), &*text(&output.stderr)),
        (Some(0), "")
    );
    text(&output.stdout).lines().map(str::to_owned).collect()
}

#[test]
fn a_line_is_answered_with_what_fits() {
    let folder = folder();
    let runs = "latest 3 2 1 commit= host=";
    let functions = "#.Main|a$b|it's|main|map<a, b>|std::vec|std::vim|⎕NS";
    let table = [
        ("show ", runs),
        ("report calls --run ", runs),
        ("report calls --fn X --run=", runs),
        ("delete ", runs),
        ("tag ", runs),
        ("report calls ", runs),
        ("show l", "latest"),
        ("show c", "commit=abc commit=abd"),
        ("report --run l", "latest"),
        ("report --fn=o --run commit=abd", "commit=abd"),
        ("show commit=abd", "commit=abd"),
        ("runs --where commit=abc,", "commit=abc,host="),
        ("delete 1,", "1,3 1,2"),
        ("show x", ""),
        // Files stay files, and so does what is no run.
        ("report calls p.f", FILES),
        ("report calls x", FILES),
        ("report calls --db ", FILES),
        ("report --html ", FILES),
        ("report --html=p", FILES),
        ("import ", FILES),
        ("import --tag a=b q.folded ", FILES),
        ("import p", FILES),
        ("convert ", FILES),
        ("convert com", "commit=abc commit=abd"),
        ("dump ", FILES),
        ("diff ", runs),
        ("diff 1 p", FILES),
        ("diff 1 com", "commit=abc commit=abd"),
        ("merge ", FILES),
        ("man ", FILES),
        ("import --title ", ""),
        ("tag 1 ", ""),
        ("tag 1 --remove ", "commit host"),
        ("delete --where latest --keep 1 --per h", "host"),
        ("report calls --metric ", "samples"),
        ("report calls --met s", "samples"),
        ("report -metric=", "samples"),
        ("export --metric ", "samples"),
        ("report calls --run 2 --fn o", "other"),
        ("report calls commit=abd --fn o", "other"),
        ("report calls --run commit=abc --fn o", ""),
        (
            "report calls --db profdb.db --fn std::v",
            "std::vec|std::vim",
        ),
        ("report calls -fn=std::v", "std::vec|std::vim"),
        ("report calls --fn main,std::ve", "main,std::vec"),
        ("report calls --fn main>⎕", "main>⎕NS"),
        ("report calls --fn ", functions),
        // Without an import nothing is known of a file.
        ("report calls --fn t", ""),
        ("report calls --fn u", ""),
        ("report calls q.folded --fn ", ""),
        ("report calls --infile q.folded --fn ", ""),
        // Where there is no database, or none of ours.
        ("report calls --db none.db --fn ", ""),
        ("report calls --db p.folded --fn ", ""),
        ("show --db none.db ", ""),
        ("report calls --db none.db ", FILES),
        ("", ""),
        ("'", ""),
    ];
    for (line, expected) in table {
        let between = if line.contains("fn") && !line.contains("--run=") {
            '|'
        } else {
            ' '
        };
        let expected: Vec<&str> = expected
            .split(between)
            .filter(|candidate| !candidate.is_empty())
            .map(|candidate| if candidate == FILES { "" } else { candidate })
            .collect();
        let found = asked(folder.path(), &[&format!("profdb {line}")]);
        assert_eq!(found, expected, "{line}");
    }
    assert_eq!(
        asked(folder.path(), &["profdb show h"]),
        ["host=\"big, blue\""]
    );
    for begun in ["host=", "host=b", "host=\"big, b", "commit=abc,host=bi"] {
        let found = asked(folder.path(), &[&format!("profdb show '{begun}")]);
        let expected = begun.split("host").next().unwrap_or_default();
        assert_eq!(found, [format!("{expected}host=\"big, blue\"")], "{begun}");
    }
    assert!(!folder.path().join("none.db").exists());
}

/// The list of runs shows the starts of uids, and a shell knows them.
#[test]
fn a_uid_is_completed() {
    let folder = folder();
    let listed = profdb(folder.path()).arg("runs").output();
    let listed = lines(&listed.expect("it runs"));
    let column = listed[0].find("run_uid").expect("a column");
    let whole = profdb(folder.path())
        .args([
            "sql",
            "SELECT run_uid FROM runs ORDER BY run_id",
            "--format",
            "jsonl",
        ])
        .output();
    let whole = lines(&whole.expect("it runs"));
    assert_eq!(whole.len(), 3, "a line for each run of the folder");
    assert_eq!(listed.len(), 1 + whole.len(), "and a heading");
    for (row, whole) in listed[1..].iter().zip(&whole) {
        let short = row[column..].split(' ').next().expect("a uid");
        assert!(
            short.len() >= 8 && whole.contains(&format!("\"{short}")),
            "{row}: {whole}"
        );
        // A uid may begin with the digits of a run's number.
        let letter = short.find(|digit: char| digit.is_ascii_alphabetic());
        let begun = &short[..=letter.expect("a letter")];
        let found = asked(folder.path(), &[&format!("profdb show {begun}")]);
        assert!(found.contains(&short.to_owned()), "{begun}: {found:?}");
        let shown = profdb(folder.path()).args(["show", short]).output();
        assert!(
            lines(&shown.expect("it runs"))
                .iter()
                .any(|line| line.contains(short))
        );
    }
}

#[test]
fn threads_and_labels_are_those_of_the_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples");
    for sample in ["pprof/cpu.pb.gz", "austin/work.cpu.austin"] {
        let imported = profdb(folder.path())
            .arg("import")
            .arg(samples.join(sample))
            .output();
        assert!(imported.expect("it runs").status.success(), "{sample}");
    }
    // A forked process has the thread id of its parent.
    let forks = "# austin: 3.6.0\n\nP100;T0x7f21;a.py:f:1 3\nP101;T0x7f21;a.py:f:1 5\n";
    fs::write(folder.path().join("forks.austin"), forks).expect("a file");
    let imported = profdb(folder.path())
        .args(["import", "forks.austin"])
        .output();
    assert!(imported.expect("it runs").status.success());
    let workers: &[&str] = &["worker=0", "worker=1", "worker=2", "worker=3"];
    let table: [(&str, &[&str]); 7] = [
        ("report --run 1 --label w", workers),
        ("report --run 1 --label t", &["tier=gold"]),
        ("report summary 1 --label=worker=2", &["worker=2"]),
        ("report --run 2 --label ", &[]),
        ("report --run 2 --thread T0:11749", &["T0:11749"]),
        ("report --run 1 --thread ", &[]),
        (
            "report --run 3 --thread P10",
            &["P100/T0x7f21", "P101/T0x7f21"],
        ),
    ];
    for (line, expected) in table {
        let found = asked(folder.path(), &[&format!("profdb {line}")]);
        assert_eq!(found, expected, "{line}");
    }
}

#[test]
fn a_commit_goes_on_from_its_first_digits() {
    let folder = tempfile::tempdir().expect("a folder");
    let commits = ["4f0d2c1a9e8b7766", "4f0d2c1b9e8b7766"];
    for (commit, name) in commits.iter().zip(["p.folded", "q.folded"]) {
        fs::write(folder.path().join(name), format!("main;{} 1\n", &name[..1])).expect("a file");
        let tag = format!("commit={commit}");
        let imported = profdb(folder.path())
            .args(["import", name, "--tag", &tag])
            .output();
        assert!(imported.expect("it runs").status.success());
    }
    let table: [(&str, &[&str]); 5] = [
        ("show 4f0d2c1", &commits),
        ("show 4f0d2c1b", &commits[1..]),
        ("show 4f0d2c", &[]),
        ("report --run commit=4f0d2c1b --fn ", &["main", "q"]),
        ("report --run 4f0d2c1a --fn ", &["main", "p"]),
    ];
    for (line, expected) in table {
        let found = asked(folder.path(), &[&format!("profdb {line}")]);
        assert_eq!(found, expected, "{line}");
    }
}

#[test]
fn many_names_are_too_many() {
    let folder = tempfile::tempdir().expect("a folder");
    let names: Vec<String> = (0..1000).map(|name| format!("f{name} 1\n")).collect();
    fs::write(folder.path().join("p.folded"), names.concat()).expect("a file");
    let imported = profdb(folder.path()).args(["import", "p.folded"]).output();
    assert!(imported.expect("it runs").status.success());
    let found = |line| asked(folder.path(), &[line]).len();
    assert_eq!(found("profdb report calls --fn f"), 200);
    assert_eq!(found("profdb report calls --fn f99"), 11);
}

/// Lines as they are written; what bash and zsh make of them, with quotes as a shell reads them; and
/// what fish offers for the last word, which it quotes itself.
const COMPLETED: &[(&str, &str, &str)] = &[
    ("calls --fn std::ve", "calls --fn std::vec ", "std::vec"),
    (
        "calls --fn=std::ve",
        "calls --fn=std::vec ",
        "--fn=std::vec",
    ),
    (r"calls --fn \#", r"calls --fn \#.Main ", "#.Main"),
    ("calls --fn map", r"calls --fn map\<a,\ b\> ", "map<a, b>"),
    ("calls --fn it", r"calls --fn it\'s ", "it's"),
    ("calls --fn '#.M", "calls --fn '#.Main' ", "#.Main"),
    ("calls --fn \"a", "calls --fn \"a\\$b\" ", "a$b"),
    ("calls --fn main,⎕", "calls --fn main,⎕NS ", "main,⎕NS"),
    (
        "calls --run commit=abd",
        "calls --run commit=abd ",
        "commit=abd",
    ),
    (
        "calls h",
        r#"calls host=\"big,\ blue\" "#,
        "host=\"big, blue\"",
    ),
    // What the quotes are for is seen only when they are written; fish takes nothing that does not go on as
    // the word has begun.
    ("calls host=b", r#"calls host=\"big,\ blue\" "#, ""),
    ("calls q.f", "calls q.folded ", "q.folded"),
    // Without a name, the report is the summary.
    ("--run commit=abd", "--run commit=abd ", "commit=abd"),
    ("--fn std::ve", "--fn std::vec ", "std::vec"),
    ("--metric s", "--metric samples ", "samples"),
    ("--format cs", "--format csv ", "csv"),
    ("--html q.f", "--html q.folded ", "q.folded"),
    ("--by modu", "--by module ", "module"),
    ("--sort cal", "--sort calls ", "calls"),
    ("--from pst", "--from pstats ", "pstats"),
    ("--cumpc", "--cumpct ", "--cumpct"),
    ("bottom", "bottom_up ", "bottom_up"),
    ("calls --metric s", "calls --metric samples ", "samples"),
    (
        "calls --from pyinstrument_j",
        "calls --from pyinstrument_json ",
        "pyinstrument_json",
    ),
];

/// Types lines into a shell on a terminal of its own: after each, Tab, and Ctrl-T, upon which the
/// shell writes the line down. It waits for what the shell says, and for no time.
const TYPIST: &str = r#"
import os, pty, sys
shell, lines = sys.argv[1:-1], sys.argv[-1].split("\n")
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(shell[0], shell)
seen = b""
def wait(mark):
    global seen
    while mark not in seen:
        seen += os.read(terminal, 4096)
    seen = seen.split(mark, 1)[1]
wait(b"READY")
for line in lines:
    os.write(terminal, line.encode() + b"\t\x14")
    wait(b"WRITTEN")
os.write(terminal, b"exit\r")
try:
    while os.read(terminal, 4096):
        pass
except OSError:
    pass
os.waitpid(pid, 0)
"#;

/// What lines become when they are completed by a shell that reads `settings` as its file `file`.
fn completed_by(folder: &Path, shell: &[&str], file: &str, settings: &str) -> Vec<String> {
    fs::write(folder.join(file), settings).expect("a file");
    let lines: Vec<String> = COMPLETED
        .iter()
        .map(|(line, ..)| format!("profdb report {line}"))
        .collect();
    let typed = tools::command("python3")
        .current_dir(folder)
        .args(["-c", TYPIST])
        .args(shell)
        .arg(lines.join("\n"))
        .env("PATH", path())
        .env("ZDOTDIR", folder)
        .env("TERM", "dumb")
        .env("LC_ALL", "C.UTF-8")
        .env_remove("PROFDB_DB")
        .output();
    let typed = typed.expect("it runs");
    assert!(typed.status.success(), "{typed:?}");
    let written = fs::read_to_string(folder.join("written")).expect("lines");
    written.lines().map(str::to_owned).collect()
}

/// The lines as bash and zsh complete them.
fn expected() -> Vec<String> {
    let lines = COMPLETED.iter();
    lines
        .map(|(_, completed, _)| format!("profdb report {completed}"))
        .collect()
}

/// A name that is not unique is offered with the places of its functions.
#[test]
fn function_with_namesakes_is_offered_with_its_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let frames = r#"[{"name":"f","file":"a.py"},{"name":"f","file":"b.py"},{"name":"f"},{"name":"fa","file":"a.py"}]"#;
    let profile = r#"{"type":"sampled","name":"p","unit":"none","startValue":0,"endValue":10,
        "samples":[[0],[1],[2],[3]],"weights":[1,2,3,4]}"#;
    let file = format!(
        r#"{{"$schema":"https://www.speedscope.app/file-format-schema.json",
        "shared":{{"frames":{frames}}},"profiles":[{profile}]}}"#
    );
    fs::write(folder.path().join("p.json"), file).expect("a file");
    let imported = profdb(folder.path()).args(["import", "p.json"]).output();
    assert!(imported.expect("it runs").status.success());
    for (start, expected) in [
        ("f", &["f", "f (a.py)", "f (b.py)", "f (no file)", "fa"][..]),
        ("f (", &["f (a.py)", "f (b.py)", "f (no file)"]),
        ("fa>f (b", &["fa>f (b.py)"]),
        ("fa", &["fa"]),
    ] {
        let line = format!("profdb report calls --fn '{start}");
        assert_eq!(asked(folder.path(), &[&line]), expected, "{start}");
    }
}

#[test]
fn bash_completes_names_of_the_database() {
    tools::require("bash");
    let folder = folder();
    script(folder.path(), "bash", "profdb.bash");
    let settings = r#"
        . ./profdb.bash
        write_down() { printf '%s\n' "$READLINE_LINE" >>written; READLINE_LINE=; echo WRITTEN; }
        bind -x '"\C-t": write_down'
        PS1=READY
    "#;
    let shell = ["bash", "--noprofile", "--rcfile", "settings", "-i"];
    let found = completed_by(folder.path(), &shell, "settings", settings);
    assert_eq!(found, expected());
}

#[test]
fn zsh_completes_names_of_the_database() {
    tools::require("zsh");
    let folder = folder();
    script(folder.path(), "zsh", "_profdb");
    let settings = r#"
        fpath=($PWD $fpath)
        autoload -U compinit
        compinit -u -D
        write_down() { print -r -- "$BUFFER" >>written; BUFFER=; print WRITTEN }
        zle -N write_down
        bindkey '^T' write_down
        PS1=READY
    "#;
    let found = completed_by(folder.path(), &["zsh", "-d", "-i"], ".zshrc", settings);
    assert_eq!(found, expected());
}

#[test]
fn fish_completes_names_of_the_database() {
    tools::require("fish");
    let folder = folder();
    script(folder.path(), "fish", "profdb.fish");
    for (line, _, expected) in COMPLETED.iter().filter(|(.., fish)| !fish.is_empty()) {
        let offered = tools::command("fish")
            .current_dir(folder.path())
            .args(["--no-config", "-c"])
            .arg("source profdb.fish; complete -C $argv[1]")
            .arg(format!("profdb report {line}"))
            .env("PATH", path())
            .env("HOME", folder.path())
            .env("LC_ALL", "C.UTF-8")
            .env_remove("PROFDB_DB")
            .output();
        let offered = lines(&offered.expect("it runs"));
        // A description may come after the name.
        let names: Vec<&str> = offered
            .iter()
            .filter_map(|line| line.split('\t').next())
            .collect();
        assert_eq!(names, [*expected], "{line}");
    }
}

/// Names that come without a flag.
#[test]
fn fish_completes_formats_and_tables() {
    tools::require("fish");
    let folder = folder();
    script(folder.path(), "fish", "profdb.fish");
    for (line, expected) in [
        ("formats pst", "pstats"),
        ("formats py-s", "py-spy"),
        ("formats flameg", "flamegraph"),
        ("schema run_t", "run_tags"),
        ("completions z", "zsh"),
    ] {
        let offered = tools::command("fish")
            .current_dir(folder.path())
            .args(["--no-config", "-c"])
            .arg("source profdb.fish; complete -C $argv[1]")
            .arg(format!("profdb {line}"))
            .env("PATH", path())
            .env("HOME", folder.path())
            .env_remove("PROFDB_DB")
            .output();
        assert_eq!(lines(&offered.expect("it runs")), [expected], "{line}");
    }
}

/// `PATH` with the program that is tested first.
fn path() -> OsString {
    let own = Path::new(PROFDB).parent().expect("a folder").to_owned();
    let rest = env::var_os("PATH").unwrap_or_default();
    let all = [own].into_iter().chain(env::split_paths(&rest));
    env::join_paths(all).expect("no colons")
}

fn script(folder: &Path, shell: &str, name: &str) {
    let script = profdb(folder).args(["completions", shell]).output();
    fs::write(folder.join(name), script.expect("it runs").stdout).expect("a file");
}
