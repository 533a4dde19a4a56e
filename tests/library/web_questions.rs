//! Questions that a page asks `profdb serve`, and the commands that answer them.

#![cfg(feature = "serve")]

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Output, Stdio};

use tempfile::TempDir;

use crate::support::http::{Response, send};
use crate::support::program;

/// A folder with a database of two runs, and with files that questions could name.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("src")).expect("a folder");
    for (name, text) in [
        ("a.folded", "A;B;C 50\nA;work 90\n"),
        ("run.xml", "main;parse 40\nmain;work 80\n"),
        ("Cargo.toml", "main;parse 40\nmain;work 70\n"),
    ] {
        fs::write(folder.path().join(name), text).expect("a file");
    }
    for (file, tag) in [("run.xml", "branch=main"), ("a.folded", "branch=fix")] {
        let words = [
            "import", "--db", "x.db", "--from", "folded", "--tag", tag, file,
        ];
        let done = run(folder.path(), &words);
        assert!(done.status.success(), "{done:?}");
    }
    folder
}

fn run(folder: &Path, words: &[&str]) -> Output {
    let mut command = program::command();
    command.args(words).current_dir(folder);
    command.output().expect("the program")
}

/// A server of the program.
struct Server {
    child: Child,
    port: u16,
    token: String,
}

impl Server {
    fn start(folder: &Path) -> Self {
        let mut command = program::command();
        command
            .args(["serve", "--no-open", "x.db"])
            .current_dir(folder);
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the program");
        let mut url = String::new();
        let out = child.stdout.take().expect("a pipe");
        BufReader::new(out).read_line(&mut url).expect("a line");
        let rest = url.trim_end().strip_prefix("http://127.0.0.1:");
        let (port, token) = rest.and_then(|rest| rest.split_once('/')).expect("a URL");
        Self {
            child,
            port: port.parse().expect("a port"),
            token: token.trim_end_matches('/').to_owned(),
        }
    }

    fn ask(&self, question: &str) -> Response {
        let target = format!("/{}/api/{question}", self.token);
        let host = format!("127.0.0.1:{}", self.port);
        send(self.port, "GET", &target, &[("host", &host)], "")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn question_of_a_page_is_answered_as_the_command() {
    let folder = folder();
    let server = Server::start(folder.path());
    for (question, words) in [
        (
            "report/summary",
            &["report", "summary", "--format=json"][..],
        ),
        (
            "report/summary?run=2&fn=A%2CB%3EC&exclusive=yes&first=5",
            &[
                "report",
                "summary",
                "--run=2",
                "--fn=A,B>C",
                "--exclusive",
                "--first=5",
                "--format=json",
            ],
        ),
        (
            "report/bottom-up?format=csv&metric=a+b",
            &["report", "bottom_up", "--metric=a b", "--format=csv"],
        ),
        ("report/lines?show-sql", &["report", "lines", "--show-sql"]),
        (
            "report/tree?label=a%3Db&label=c",
            &[
                "report",
                "tree",
                "--label=a=b",
                "--label=c",
                "--format=json",
            ],
        ),
        (
            "runs?where=branch%3Dmain",
            &["runs", "--where=branch=main", "--format=json"],
        ),
        ("show?run=1", &["show", "--format=json", "--", "1"]),
        (
            "diff?base=1&new=2&all",
            &["diff", "--base=1", "--new=2", "--all", "--format=json"],
        ),
        (
            "history?fn=--db%3Dx&steps",
            &["history", "--steps", "--format=json", "--", "--db=x"],
        ),
        ("steps?fn=A*", &["steps", "--fn=A*", "--format=json"]),
        (
            "report/diff_tree?new=2&base=1",
            &["report", "diff_tree", "--format=json", "--", "1", "2"],
        ),
    ] {
        let answer = server.ask(question);
        let at = words.iter().position(|word| word.starts_with("--"));
        let (before, after) = words.split_at(at.unwrap_or(words.len()));
        let done = run(folder.path(), &[before, &["--db", "x.db"], after].concat());
        let [out, stderr] =
            [done.stdout, done.stderr].map(|text| String::from_utf8(text).expect("UTF-8"));
        if done.status.success() {
            assert_eq!(answer.status, 200, "{question}: {}", answer.body);
            // The body comes in chunks.
            let body: String = answer.body.split("\r\n").skip(1).step_by(2).collect();
            assert_eq!(body, out, "{question}");
        } else {
            assert_eq!(answer.status, 422, "{question}: {} {stderr}", answer.body);
            let message = stderr
                .trim_end()
                .strip_prefix("profdb: ")
                .expect("a message");
            let message = serde_json::to_string(message).expect("text");
            assert!(answer.body.contains(&message), "{message}: {}", answer.body);
        }
    }
    let answer = server.ask("report/tree?label=a%3Db&exclusive=no");
    assert_eq!(answer.status, 400);
    assert!(answer.body.contains("exclusive"), "{}", answer.body);
}

/// No parameter names a file that is read or written, and no path leads to a command that does.
#[test]
fn question_of_a_page_never_leads_to_a_file() {
    let folder = folder();
    let server = Server::start(folder.path());
    for query in [
        "db=/etc/passwd",
        "outfile=x",
        "output=x",
        "o=x",
        "infile=/etc/passwd",
        "from=folded",
        "source=/etc",
        "html=x",
        "wide",
        "no-pager",
        "pager=x",
        "run=./Cargo.toml",
        "run=/etc/passwd",
        "run=Cargo.toml",
        "run=src",
        "run=-",
        "run=a.folded",
        "format=html",
        "help",
        "version",
        "xml-by-default",
        "separators=ab",
        "%ff=1",
        "fn=%zz",
        "fn=%f",
        "exclusive=maybe",
        "FILE=x",
        "asked=x",
        "input=x",
    ] {
        let answer = server.ask(&format!("report/summary?{query}"));
        assert_eq!(answer.status, 400, "{query}: {}", answer.body);
    }
    for question in [
        "diff?base=run.xml&new=2",
        "diff?base=1&new=src",
        "diff?base=1&new=2&exit-code",
        "diff?base=1&new=2&from=folded",
        "diff?original=x",
        "report/diff_tree?base=Cargo.toml&new=2",
        "runs?where=./x",
        "show?run=Cargo.toml",
        "history?where=Cargo.toml",
    ] {
        let answer = server.ask(question);
        assert_eq!(answer.status, 400, "{question}: {}", answer.body);
    }
    for path in [
        "",
        "report",
        "report/",
        "report/page",
        "import",
        "delete",
        "sql",
        "export",
        "serve",
        "check",
        "gate",
        "report/summary/x",
        "../report/summary",
        "tag",
        "compact",
        "report/nothing",
    ] {
        assert_eq!(server.ask(path).status, 404, "{path}");
    }
}
