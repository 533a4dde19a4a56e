//! The server of `profdb serve`, by bare sockets: who is answered, what they are told, and what no one may do.

#![cfg(all(unix, feature = "serve"))]
#![expect(clippy::disallowed_methods, reason = "small files of our own")]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Output, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::program::{self, PROFDB};
use crate::support::tools;

/// A statement that has no end.
const ENDLESS: &str =
    "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT COUNT(*) FROM n";

fn profdb(folder: &Path, words: &[&str]) -> Output {
    program::command()
        .args(words)
        .current_dir(folder)
        .output()
        .expect("the program runs")
}

#[track_caller]
fn said(folder: &Path, words: &[&str]) -> String {
    let output = profdb(folder, words);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {errors}");
    String::from_utf8(output.stdout).expect("text")
}

/// A folder with a database of two runs.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let tree = cases.join("dyalog_csv/shop-tree/run.csv");
    let after = folder.path().join("after.folded");
    fs::write(&after, "main;parse 50\nmain;work 90\n").expect("a file");
    for file in [tree, after] {
        let file = file.display().to_string();
        said(folder.path(), &["import", "--db", "x.db", &file]);
    }
    folder
}

/// A server.
struct Server {
    child: Child,
    port: u16,
    token: String,
    folder: PathBuf,
}

impl Server {
    fn start(folder: &Path, words: &[&str]) -> Self {
        let mut child = program::command()
            .args(["serve", "--no-open"])
            .args(words)
            .current_dir(folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program runs");
        let mut url = String::new();
        let out = child.stdout.take().expect("a pipe");
        BufReader::new(out).read_line(&mut url).expect("a line");
        let rest = url
            .trim_end()
            .strip_prefix("http://127.0.0.1:")
            .unwrap_or_else(|| panic!("{url:?}"));
        let (port, token) = rest.split_once('/').expect("a path");
        Self {
            child,
            port: port.parse().expect("a port"),
            token: token.trim_end_matches('/').to_owned(),
            folder: folder.to_owned(),
        }
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(("127.0.0.1", self.port)).expect("a connection")
    }

    /// Sends bytes, and reads until the server ends the connection.
    fn send(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = self.connect();
        // A server that refuses early ends the connection before all has been sent.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        match stream.read_to_end(&mut answer) {
            Ok(_) => {}
            Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{error}"),
        }
        answer
    }

    /// One request, after which the connection ends.
    fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut request = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        for (name, value) in headers {
            let _ = write!(request, "{name}: {value}\r\n");
        }
        if !body.is_empty() {
            let _ = write!(request, "Content-Length: {}\r\n", body.len());
        }
        let request = format!("{request}\r\n{body}");
        Answer::read(&self.send(request.as_bytes()))
    }

    fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// What the page asks.
    fn get(&self, path: &str) -> Answer {
        let path = format!("/{}/{path}", self.token);
        self.ask("GET", &path, &[("Host", &self.host())], "")
    }

    fn sql(&self, sql: &str) -> Answer {
        let path = format!("/{}/api/sql", self.token);
        let host = self.host();
        let headers = [
            ("Host", host.as_str()),
            ("Content-Type", "application/json"),
            ("Profdb-Token", &self.token),
        ];
        let body = json!({"sql": sql}).to_string();
        self.ask("POST", &path, &headers, &body)
    }

    fn signal(&self, name: &str) {
        assert!(tools::kill(self.child.id(), name), "{name}");
    }

    fn ended(&mut self) -> ExitStatus {
        self.child.wait().expect("it ends")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An answer of HTTP.
#[derive(Debug)]
struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Answer {
    fn read(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        let end = end.unwrap_or_else(|| panic!("no head: {}", String::from_utf8_lossy(bytes)));
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let mut lines = head.lines();
        let status = lines.next().expect("a line").split(' ').nth(1);
        let headers: Vec<(String, String)> = lines
            .map(|line| {
                let (name, value) = line.split_once(": ").unwrap_or((line, ""));
                (name.to_lowercase(), value.to_owned())
            })
            .collect();
        let body = &bytes[end + 4..];
        let is_chunked = headers.iter().any(|(name, _)| name == "transfer-encoding");
        Self {
            status: status
                .and_then(|status| status.parse().ok())
                .expect("a status"),
            body: if is_chunked {
                chunks(body)
            } else {
                body.to_vec()
            },
            headers,
        }
    }

    fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(known, _)| known == name);
        found.next().map(|(_, value)| value.as_str())
    }

    fn text(&self) -> String {
        String::from_utf8(self.body.clone()).expect("text")
    }

    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("no JSON: {}", self.text()))
    }

    /// Asserts that the response explains the missing token.
    #[track_caller]
    fn explains_token(&self, about: &str) {
        assert_eq!(self.status, 404, "{about}");
        assert_eq!(
            self.text(),
            "The address lacks the token of this server. Open the address that `profdb serve` printed.\n",
            "{about}"
        );
    }

    /// It is refused, and does not tell that there is something.
    #[track_caller]
    fn is_nothing(&self, about: &str) {
        assert_eq!(self.status, 404, "{about}");
        assert!(self.body.is_empty(), "{about}: {}", self.text());
        for (name, value) in &self.headers {
            let is_empty = ["connection", "date"].contains(&name.as_str())
                || (name == "content-length" && value == "0");
            assert!(is_empty, "{about}: {name}: {value}");
        }
    }
}

/// The bytes of a body in chunks, which has to be complete.
fn chunks(mut rest: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let line = rest
            .windows(2)
            .position(|two| two == b"\r\n")
            .expect("a length");
        let length = std::str::from_utf8(&rest[..line]).expect("digits");
        let length = usize::from_str_radix(length, 16).expect("digits");
        rest = &rest[line + 2..];
        if length == 0 {
            return bytes;
        }
        bytes.extend_from_slice(&rest[..length]);
        rest = &rest[length + 2..];
    }
}

#[test]
fn strangers_are_told_nothing() {
    let folder = folder();
    let server = Server::start(folder.path(), &["x.db"]);
    let (port, token) = (server.port, server.token.as_str());
    let page = format!("/{token}/");
    let sql = format!("/{token}/api/sql");
    let host = server.host();
    let own = ("Host", host.as_str());
    // What is ours.
    for name in [
        &host,
        &format!("localhost:{port}"),
        &format!("[::1]:{port}"),
    ] {
        let origin = format!("http://{name}");
        let name = ("Host", name.as_str());
        for headers in [
            &[name][..],
            &[name, ("Origin", &origin)],
            &[name, ("Sec-Fetch-Site", "same-origin")],
            &[name, ("Sec-Fetch-Site", "none")],
        ] {
            assert_eq!(
                server.ask("GET", &page, headers, "").status,
                200,
                "{headers:?}"
            );
        }
    }
    // One thing is wrong in each.
    let mut refused = vec![
        vec![],
        vec![own, own],
        vec![own, ("Host", "evil.com")],
        vec![own, ("Origin", "null")],
        vec![own, ("Origin", "http://evil.com")],
        vec![own, ("Sec-Fetch-Site", "cross-site")],
        vec![own, ("Sec-Fetch-Site", "same-site")],
        vec![
            own,
            ("Sec-Fetch-Site", "none"),
            ("Sec-Fetch-Site", "cross-site"),
        ],
    ];
    let other = format!("http://localhost:{port}");
    refused.push(vec![own, ("Origin", &other)]);
    let secure = format!("https://{host}");
    refused.push(vec![own, ("Origin", &secure)]);
    let hosts = [
        "127.0.0.1".to_owned(),
        "localhost".to_owned(),
        format!("127.0.0.1:{}", port.wrapping_add(1)),
        format!("127.evil.com:{port}"),
        format!("localhost.evil.com:{port}"),
        format!("127.0.0.1, evil.com:{port}"),
        format!("evil.com:{port}"),
        format!("127.0.0.1:{port}.evil.com"),
        format!("127.0.0.1:{port}:{port}"),
        format!("LOCALHOST:{port}"),
        format!("localhost.:{port}"),
        format!("0.0.0.0:{port}"),
        format!("[::]:{port}"),
        format!("user@127.0.0.1:{port}"),
    ];
    refused.extend(hosts.iter().map(|host| vec![("Host", host.as_str())]));
    for headers in &refused {
        server
            .ask("GET", &page, headers, "")
            .is_nothing(&format!("{headers:?}"));
    }
    for method in [
        "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "POST", "BREW",
    ] {
        let answer = server.ask(method, &page, &[own], "");
        answer.is_nothing(method);
    }
    let wrong = "0123456789abcdef0123456789abcdef";
    for path in [
        "/".to_owned(),
        "/favicon.ico".to_owned(),
        "/robots.txt".to_owned(),
        "/api/report/summary".to_owned(),
        "/open/".to_owned(),
        format!("/open/{token}"),
        format!("/{token}"),
        format!("//{token}/"),
        format!("/{wrong}/"),
        format!("/{wrong}/api/report/summary"),
        format!("/{}/", token.to_uppercase()),
        format!("/{token}0/"),
        format!("/{}/", &token[1..]),
        format!("/{token}/nothing"),
        format!("/{token}/../{token}/"),
        format!("/{token}/..%2f..%2fetc/passwd"),
        format!("/{token}//etc/passwd"),
        format!("/{token}/api/sql"),
        format!("http://{host}{page}"),
        format!("http://evil.com{page}"),
    ] {
        // A token of digits only has no capital letters.
        if path != page {
            let answer = server.ask("GET", &path, &[own], "");
            if path.starts_with('/') && !path.starts_with(&page) {
                answer.explains_token(&path);
            } else {
                answer.is_nothing(&path);
            }
        }
    }
    // Statements need more.
    let body = r#"{"sql": "SELECT 1"}"#;
    let json = ("Content-Type", "application/json");
    let with_token = ("Profdb-Token", token);
    let answer = server.ask("POST", &sql, &[own, json, with_token], body);
    assert_eq!(
        (answer.status, &answer.json()["rows"]),
        (200, &json!([[1]]))
    );
    for headers in [
        &[own][..],
        &[own, json],
        &[own, with_token],
        &[own, json, ("Profdb-Token", wrong)],
        &[own, json, with_token, with_token],
        &[own, ("Content-Type", "text/plain"), with_token],
        &[own, ("Content-Type", "multipart/form-data"), with_token],
        &[own, json, with_token, ("Origin", "http://evil.com")],
        &[own, json, with_token, ("Sec-Fetch-Site", "cross-site")],
        &[json, with_token],
    ] {
        let answer = server.ask("POST", &sql, headers, body);
        answer.is_nothing(&format!("{headers:?}"));
    }
    let elsewhere = format!("/{token}/api/report/summary");
    let answer = server.ask("POST", &elsewhere, &[own, json, with_token], body);
    answer.is_nothing(&elsewhere);
}

#[test]
fn answers_bring_the_policy_of_the_page() {
    let folder = folder();
    let server = Server::start(folder.path(), &["x.db"]);
    for path in [
        "",
        "page.js",
        "page.css",
        "api/about",
        "api/about?run=1",
        "api/report/summary",
        "api/report/nonsense?x",
        "api/report/summary?nonsense",
        "api/tree?run=1&block=names",
    ] {
        let answer = server.get(path);
        if answer.status == 404 {
            continue;
        }
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cache-control", "no-store"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{path}: {name}");
        }
        let policy = answer.header("content-security-policy").expect("a policy");
        for part in [
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "img-src 'self' data:",
            "connect-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
        ] {
            assert!(policy.contains(part), "{path}: {part}: {policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
        let cross = "access-control-allow-origin";
        assert_eq!(answer.header(cross), None, "{path}");
        assert_eq!(answer.header("set-cookie"), None, "{path}");
    }
}

#[test]
fn answers_are_those_of_the_command() {
    let folder = folder();
    let server = Server::start(folder.path(), &["x.db"]);
    for (path, words) in [
        ("report/summary?run=1", "report summary --run 1"),
        (
            "report/summary?run=latest&exclusive&first=1",
            "report summary --exclusive --first 1",
        ),
        (
            "report/lines?run=1&fn=%23.Shop.Main",
            "report lines --run 1 --fn #.Shop.Main",
        ),
        ("report/tree?run=1&depth=2", "report tree --run 1 --depth 2"),
        (
            "report/calls?run=1&fn=%23.Util.fmt%E2%88%86Num",
            "report calls --run 1 --fn #.Util.fmt∆Num",
        ),
        ("report/bottom-up?run=2", "report bottom_up --run 2"),
        ("report/state?run=1", "report state --run 1"),
        ("report/diff_tree?base=1&new=2&metric=time", ""),
        ("runs", "runs"),
        ("runs?where=1", "runs --where 1"),
        ("show?run=1", "show 1"),
        ("diff?base=2&new=2", "diff --base 2 --new 2"),
        ("history?where=2", "history --where 2"),
        (
            "history?where=2&steps&fn=main",
            "history --where 2 --steps main",
        ),
        ("steps?where=2", "steps --where 2"),
    ] {
        let answer = server.get(&format!("api/{path}"));
        if words.is_empty() {
            assert_ne!(answer.status, 404, "{path}");
            continue;
        }
        let words: Vec<&str> = words.split(' ').collect();
        // Words without flags come last.
        let at = words.iter().position(|word| word.starts_with("--"));
        let (before, after) = words.split_at(at.unwrap_or(words.len()));
        let words = [before, &["--db", "x.db", "--format", "json"], after].concat();
        let expected = said(folder.path(), &words);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        assert_eq!(answer.header("content-type"), Some("application/json"));
        assert_eq!(answer.text(), expected, "{path}");
    }
    for format in ["csv", "tsv", "jsonl", "markdown", "text", "xml"] {
        let answer = server.get(&format!("api/report/summary?run=1&format={format}"));
        let words = [
            "report", "summary", "--db", "x.db", "--run", "1", "--format", format,
        ];
        assert_eq!(answer.text(), said(folder.path(), &words), "{format}");
    }
    let answer = server.get("api/report/summary?run=1&fn=%23.Shop.Main&show-sql");
    let words = [
        "report",
        "summary",
        "--db",
        "x.db",
        "--run",
        "1",
        "--fn",
        "#.Shop.Main",
        "--show-sql",
    ];
    assert_eq!(answer.text(), said(folder.path(), &words));
    // What the command says beside its answer comes in a header.
    let answer = server.get("api/report/summary?run=1&ignore=%E2%88%86zzz");
    let words = [
        "report", "summary", "--db", "x.db", "--run", "1", "--ignore", "∆zzz",
    ];
    let complaint = String::from_utf8(profdb(folder.path(), &words).stderr).expect("text");
    let remark = answer.header("profdb-remark").expect("a remark");
    let remark = remark.replace("%E2%88%86", "∆");
    assert_eq!(complaint.trim_end(), format!("profdb: {remark}"));
    // What has no answer says why, as the command does.
    for (path, status, expected) in [
        ("report/summary?run=1&fn=nothing", 422, "nothing"),
        ("report/summary?run=7", 422, "7"),
        ("report/summary?first=x", 400, "first"),
        ("report/summary?first=1&first=2", 400, "first"),
        ("report/summary?nonsense=1", 400, "nonsense"),
        ("report/calls?run=1", 400, "--fn"),
        ("report/summary?run=./x.db", 400, "not a file"),
        ("report/summary?infile=x.db", 400, "infile"),
        ("report/summary?db=/etc/passwd", 400, "db"),
        ("report/summary?outfile=y", 400, "outfile"),
        ("diff?base=x.db&new=2", 400, "not a file"),
        ("diff?base=1", 400, "new"),
        ("about?run=after.folded", 400, "not a file"),
        ("tree?run=1", 400, "block"),
        ("report/summary?%ff=1", 400, "UTF-8"),
    ] {
        let answer = server.get(&format!("api/{path}"));
        assert_eq!(answer.status, status, "{path}: {}", answer.text());
        assert_eq!(
            answer.header("content-type"),
            Some("application/problem+json")
        );
        let message = answer.json()["error"]
            .as_str()
            .expect("a message")
            .to_owned();
        assert!(message.contains(expected), "{path}: {message}");
        let told = server.get(&format!("api/{path}&errors=told"));
        assert_eq!(
            (told.status, told.json()["status"].clone()),
            (200, json!(status)),
            "{path}"
        );
    }
    for path in [
        "report/page?html=y",
        "import",
        "delete?run=1",
        "tag",
        "export",
        "check",
        "gate",
        "sql?sql=SELECT+1",
        "",
    ] {
        server
            .get(&format!("api/{path}"))
            .body
            .is_empty()
            .then_some(())
            .expect("nothing");
    }
    assert_eq!(server.get("api/tree?run=2&block=sources").status, 204);
    assert_eq!(server.get("api/tree?run=2&block=nothing").status, 204);
}

#[test]
fn requests_have_limits() {
    let folder = folder();
    let server = Server::start(folder.path(), &["x.db"]);
    let page = format!("/{}/", server.token);
    let host = server.host();
    let answer = server.ask(
        "GET",
        &page,
        &[("Host", &host), ("X", &"x".repeat(12 << 10))],
        "",
    );
    assert_eq!(answer.status, 200);
    for length in [17 << 10, 1 << 20] {
        let long = "x".repeat(length);
        let request = format!("GET {page} HTTP/1.1\r\nHost: {host}\r\nX: {long}\r\n\r\n");
        let answer = server.send(request.as_bytes());
        assert!(answer.is_empty() || Answer::read(&answer).status == 431);
    }
    let long = "x".repeat(20 << 10);
    let answer =
        server.send(format!("GET {page}{long} HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes());
    assert!(answer.is_empty() || [414, 431].contains(&Answer::read(&answer).status));
    // A body of 64 KiB is read, one byte more is not, whether its length is told before or not.
    let statement = |bytes: usize| {
        let blanks = " ".repeat(bytes - r#"{"sql": "SELECT 1"}"#.len());
        format!(r#"{{"sql": "SELECT 1"{blanks}}}"#)
    };
    let sql = format!("/{}/api/sql", server.token);
    let headers = [
        ("Host", host.as_str()),
        ("Content-Type", "application/json"),
        ("Profdb-Token", &server.token),
    ];
    let answer = server.ask("POST", &sql, &headers, &statement(64 << 10));
    assert_eq!(answer.status, 200, "{}", answer.text());
    let answer = server.ask("POST", &sql, &headers, &statement((64 << 10) + 1));
    assert_eq!((answer.status, answer.body.len()), (413, 0));
    let body = statement(70 << 10);
    let chunked = format!(
        "POST {sql} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nProfdb-Token: {}\r\n\
         Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n",
        server.token,
        body.len()
    );
    assert_eq!(Answer::read(&server.send(chunked.as_bytes())).status, 413);
    // What is no HTTP, and two lengths of one body.
    for nonsense in [
        "\r\n\r\n\r\n\r\nhello\r\n\r\n".to_owned(),
        "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\u{1}".to_owned() + "\r\n\r\n",
        format!("GET {page} HTTP/9.9\r\nHost: {host}\r\n\r\n"),
        format!("GET {page}\r\n\r\n"),
        format!(
            "POST {sql} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!"
        ),
    ] {
        let answer = server.send(nonsense.as_bytes());
        let is_refused =
            answer.is_empty() || [400, 404, 505].contains(&Answer::read(&answer).status);
        assert!(
            is_refused,
            "{nonsense:?}: {}",
            String::from_utf8_lossy(&answer)
        );
    }
    // Without a name of the host, as HTTP/1.0 allows it, nothing is told.
    let answer = server.send(format!("GET {page} HTTP/1.0\r\n\r\n").as_bytes());
    Answer::read(&answer).is_nothing("HTTP/1.0");
    assert_eq!(server.get("").status, 200);
}

#[test]
fn requests_may_follow_each_other() {
    let folder = folder();
    let server = Server::start(folder.path(), &["x.db"]);
    let host = server.host();
    let ask = |path: &str, last: &str| {
        format!(
            "GET /{}/{path} HTTP/1.1\r\nHost: {host}\r\n{last}\r\n",
            server.token
        )
    };
    let paths = ["page.css", "api/runs", "nothing", "api/about"];
    let mut requests: String = paths.map(|path| ask(path, "")).concat();
    // The host is looked at anew in each.
    requests.push_str(&ask("", "").replace(&host, "evil.com"));
    requests.push_str(&ask("page.css", "Connection: close\r\n"));
    let answers = String::from_utf8(server.send(requests.as_bytes())).expect("text");
    let states: Vec<&str> = answers
        .lines()
        .filter_map(|line| line.split("HTTP/1.1 ").nth(1))
        .map(|state| &state[..3])
        .collect();
    assert_eq!(
        states,
        ["200", "200", "404", "200", "404", "200"],
        "{answers}"
    );
}

/// Opens 32 connections that say nothing. One more has to wait until one of them goes: then those that are left.
fn waits_for_room(server: &Server) -> Option<Vec<TcpStream>> {
    let mut silent: Vec<TcpStream> = (0..32)
        .map(|number| {
            let mut stream = server.connect();
            if number % 2 == 0 {
                stream
                    .write_all(b"GET / HTTP/1.1\r\nHost: ")
                    .expect("it is open");
            }
            stream
        })
        .collect();
    // There is no room for one more, until one of them goes.
    let mut more = server.connect();
    let request = format!(
        "GET /{}/page.css HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
        server.token,
        server.host()
    );
    more.write_all(request.as_bytes()).expect("it is open");
    let briefly = Some(Duration::from_millis(200));
    more.set_read_timeout(briefly).expect("a time");
    let early = more.read(&mut [0; 1]);
    let is_waiting = early
        .as_ref()
        .is_err_and(|error| error.kind() == ErrorKind::WouldBlock);
    if !is_waiting {
        return None;
    }
    drop(silent.pop());
    more.set_read_timeout(None).expect("no time");
    let mut answer = Vec::new();
    more.read_to_end(&mut answer).expect("an answer");
    assert_eq!(Answer::read(&answer).status, 200);
    Some(silent)
}

/// Who opens connections and says nothing, or a letter now and then, keeps others waiting for a while only: these connections
/// are ended.
#[test]
fn silent_connections_end() {
    let folder = folder();
    let server = Server::start(folder.path(), &["x.db"]);
    // On a machine that is busy with other things the first may have ended before the last is there.
    let silent = (0..5).find_map(|_| waits_for_room(&server));
    let silent = silent.expect("there is no room for more than 32");
    // The server ends the others by itself.
    for mut stream in silent {
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
        assert!(
            rest.is_empty() || Answer::read(&rest).status == 408,
            "{rest:?}"
        );
    }
    // A body that does not come is not waited for, either.
    let request = format!(
        "POST /{0}/api/sql HTTP/1.1\r\nHost: {1}\r\nContent-Type: application/json\r\nProfdb-Token: {0}\r\n\
         Content-Length: 20\r\n\r\n{{",
        server.token,
        server.host()
    );
    let answer = server.send(request.as_bytes());
    assert_eq!(Answer::read(&answer).status, 408);
}

#[test]
fn statements_read_and_nothing_else() {
    let folder = folder();
    let database = folder.path().join("x.db");
    let before = fs::read(&database).expect("a database");
    let server = Server::start(folder.path(), &["x.db"]);
    let answer = server
        .sql("SELECT run_id, fidelity AS \"how\" FROM runs ORDER BY run_id")
        .json();
    assert_eq!(answer["columns"], json!(["run_id", "how"]));
    assert_eq!(answer["rows"], json!([[1, "tree"], [2, "tree"]]));
    assert_eq!(answer["more"], Value::Null);
    // Views, recursion, functions and what tells of tables work.
    for sql in [
        "SELECT function, exclusive FROM summary WHERE run_id = 1",
        "SELECT COUNT(*), MAX(cumulative) FROM tree",
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 10) SELECT x FROM n",
        "EXPLAIN QUERY PLAN SELECT * FROM runs",
        "PRAGMA table_info(runs)",
        "SELECT name FROM pragma_table_info('runs')",
        "SELECT name FROM sqlite_schema",
        "SELECT value FROM json_each('[1, 2]')",
        "VALUES (1), (2)",
    ] {
        let answer = server.sql(sql);
        assert_eq!(answer.status, 200, "{sql}: {}", answer.text());
        assert!(
            !answer.json()["rows"].as_array().expect("rows").is_empty(),
            "{sql}"
        );
    }
    let other = folder.path().join("y.db").display().to_string();
    let refused = [
        "DELETE FROM runs".to_owned(),
        "UPDATE runs SET title = 'x'".to_owned(),
        "INSERT INTO run_tags VALUES (1, 'a', 'b')".to_owned(),
        "DROP TABLE runs".to_owned(),
        "CREATE TABLE t (x)".to_owned(),
        "CREATE TEMP TABLE t (x)".to_owned(),
        "CREATE TEMP VIEW v AS SELECT 1".to_owned(),
        "CREATE TEMP TRIGGER t AFTER INSERT ON runs BEGIN SELECT 1; END".to_owned(),
        "WITH a AS (SELECT 1) DELETE FROM runs RETURNING run_id".to_owned(),
        "REPLACE INTO runs (run_id) VALUES (1) RETURNING 1".to_owned(),
        "ALTER TABLE runs ADD COLUMN x".to_owned(),
        "REINDEX".to_owned(),
        "ANALYZE".to_owned(),
        "VACUUM".to_owned(),
        format!("VACUUM INTO '{other}'"),
        format!("ATTACH '{other}' AS y"),
        "DETACH main".to_owned(),
        "BEGIN".to_owned(),
        "SAVEPOINT s".to_owned(),
        "PRAGMA query_only = OFF".to_owned(),
        "PRAGMA query_only(0)".to_owned(),
        "PRAGMA writable_schema = ON".to_owned(),
        "PRAGMA journal_mode = WAL".to_owned(),
        "PRAGMA user_version = 7".to_owned(),
        "PRAGMA application_id(7)".to_owned(),
        "PRAGMA temp_store_directory = '/tmp'".to_owned(),
        "PRAGMA database_list".to_owned(),
        "PRAGMA hard_heap_limit = 1".to_owned(),
        "SELECT load_extension('x.so')".to_owned(),
        "SELECT writefile('x', 'y')".to_owned(),
        "SELECT readfile('/etc/passwd')".to_owned(),
        "SELECT fts3_tokenizer('simple')".to_owned(),
        "SELECT * FROM sqlite_dbpage".to_owned(),
        "SELECT * FROM pragma_database_list".to_owned(),
        "SELECT 1; SELECT 2".to_owned(),
        String::new(),
        "-- nothing".to_owned(),
        "SELECT".to_owned(),
        "SELECT zeroblob(20000000)".to_owned(),
        "SELECT hex(zeroblob(9000000))".to_owned(),
    ];
    for sql in &refused {
        let answer = server.sql(sql);
        assert!(
            [400, 422].contains(&answer.status),
            "{sql}: {} {}",
            answer.status,
            answer.text()
        );
        assert!(
            !answer.json()["error"]
                .as_str()
                .expect("a message")
                .is_empty(),
            "{sql}"
        );
    }
    // A value that is too large is a fault of the statement, and is called so.
    for sql in ["SELECT zeroblob(20000000)", "SELECT hex(zeroblob(9000000))"] {
        let answer = server.sql(sql);
        assert_eq!(answer.status, 400, "{sql}: {}", answer.text());
        assert!(
            answer.text().contains("more than 10 MB"),
            "{}",
            answer.text()
        );
    }
    assert_eq!(fs::read(&database).expect("a database"), before);
    let names: BTreeSet<_> = fs::read_dir(folder.path())
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    assert!(
        names
            .iter()
            .all(|name| name == "x.db" || name == "after.folded"),
        "{names:?}"
    );
    for body in [
        "",
        "{}",
        "[]",
        "{\"sql\": 1}",
        "SELECT 1",
        "{\"sql\": \"SELECT 1\"",
        "\u{0}",
    ] {
        let path = format!("/{}/api/sql", server.token);
        let host = server.host();
        let headers = [
            ("Host", host.as_str()),
            ("Content-Type", "application/json"),
            ("Profdb-Token", &server.token),
        ];
        let answer = server.ask("POST", &path, &headers, body);
        assert_eq!(answer.status, 400, "{body:?}: {}", answer.text());
    }
}

#[test]
fn statements_end() {
    let folder = folder();
    let server = Server::start(folder.path(), &["x.db"]);
    let counted = |most: u64| {
        format!(
            "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < {most}) SELECT x FROM n"
        )
    };
    let answer = server.sql(&counted(1000)).json();
    assert_eq!(answer["rows"].as_array().map(Vec::len), Some(1000));
    assert_eq!(answer["more"], Value::Null);
    let answer = server.sql(&counted(1001)).json();
    assert_eq!(answer["rows"].as_array().map(Vec::len), Some(1000));
    assert_eq!(answer["more"], json!("Only the first 1000 rows are shown"));
    let wide = format!(
        "SELECT hex(zeroblob(1000000)) FROM ({}) WHERE x <= 20",
        counted(20)
    );
    let answer = server.sql(&wide);
    assert!(answer.body.len() < 10_100_000, "{}", answer.body.len());
    let answer = answer.json();
    assert_eq!(answer["rows"].as_array().map(Vec::len), Some(4));
    assert!(
        answer["more"].as_str().expect("a remark").contains("10 MB"),
        "{}",
        answer["more"]
    );
    let answer = server.sql(ENDLESS);
    assert_eq!(answer.status, 422);
    assert!(
        answer.text().contains("stopped after 1 s"),
        "{}",
        answer.text()
    );
    // Rows that come late end, too.
    let answer = server.sql(&format!(
        "SELECT x FROM ({}) WHERE x < 0",
        counted(u64::MAX >> 1)
    ));
    assert_eq!(answer.status, 422, "{}", answer.text());
    // Who goes away is no longer answered, and others are.
    for _ in 0..3 {
        let body = json!({"sql": ENDLESS}).to_string();
        let request = format!(
            "POST /{0}/api/sql HTTP/1.1\r\nHost: {1}\r\nContent-Type: application/json\r\nProfdb-Token: {0}\r\n\
             Content-Length: {2}\r\n\r\n{body}",
            server.token,
            server.host(),
            body.len()
        );
        let mut stream = server.connect();
        stream.write_all(request.as_bytes()).expect("it is open");
        drop(stream);
    }
    assert_eq!(server.sql("SELECT 7").json()["rows"], json!([[7]]));
    // Numbers that JavaScript could not tell from others are objects.
    let answer = server
        .sql("SELECT 9007199254740993, 999999999999999, 1000000000000000, 0.5, 9e999, NULL, 'é'")
        .json();
    assert_eq!(
        answer["rows"],
        json!([[
            {"integer": "9007199254740993"},
            999_999_999_999_999_i64,
            {"integer": "1000000000000000"},
            0.5,
            {"real": "Infinity"},
            null,
            "é"
        ]])
    );
}

/// Only this machine is listened to, and nothing tells others the token.
#[test]
#[cfg(target_os = "linux")]
fn the_token_is_for_the_user_alone() {
    let folder = folder();
    let server = Server::start(folder.path(), &["x.db"]);
    assert_eq!(server.token.len(), 32);
    let second = Server::start(folder.path(), &["x.db"]);
    assert_ne!(server.token, second.token);
    let process = PathBuf::from(format!("/proc/{}", server.child.id()));
    for name in ["cmdline", "environ"] {
        let text = fs::read(process.join(name)).expect("a process");
        assert!(
            !String::from_utf8_lossy(&text).contains(&server.token),
            "{name}"
        );
    }
    // Files of the process: none but the database, which is opened for each question.
    for entry in fs::read_dir(process.join("fd")).expect("a process") {
        let at = fs::read_link(entry.expect("an entry").path()).unwrap_or_default();
        assert!(!at.starts_with(folder.path()), "{}", at.display());
    }
    let port = format!(":{:04X}", server.port);
    let mut found = 0;
    for (table, loopback) in [
        ("/proc/net/tcp", "0100007F"),
        ("/proc/net/tcp6", "00000000000000000000000001000000"),
    ] {
        let table = fs::read_to_string(table).unwrap_or_default();
        for line in table.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            // Those that listen are in state 0A.
            if let [_, local, _, "0A", ..] = words[..]
                && let Some(address) = local.strip_suffix(&port)
            {
                assert_eq!(address, loopback, "{line}");
                found += 1;
            }
        }
    }
    assert!(found > 0);
}

/// On a terminal a browser is opened, with a word that is good once and is not the token.
#[test]
#[cfg(target_os = "linux")]
fn a_browser_is_opened_on_a_terminal() {
    let folder = folder();
    let opener = folder.path().join("xdg-open");
    let text = "printf '%s\\n' \"$@\" >opened.part\nmv opened.part opened";
    tools::write_script(&opener, text);
    let line = format!(
        "PATH='{}':$PATH; exec '{PROFDB}' serve x.db",
        folder.path().display()
    );
    let mut child = tools::terminal(&line)
        .current_dir(folder.path())
        .env_remove("PROFDB_DB")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it runs");
    let mut shown = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut first = String::new();
    shown.read_line(&mut first).expect("a line");
    let rest = first
        .trim()
        .strip_prefix("http://127.0.0.1:")
        .expect("an address");
    let (port, token) = rest.trim_end_matches('/').split_once('/').expect("a path");
    let opened = folder.path().join("opened");
    while !opened.exists() {
        std::thread::yield_now();
    }
    let opened = fs::read_to_string(opened).expect("an address");
    let start = format!("http://127.0.0.1:{port}/open/");
    let word = opened
        .trim()
        .strip_prefix(&start)
        .unwrap_or_else(|| panic!("{opened}"));
    assert!(word.len() == 32 && !opened.contains(token), "{opened}");
    let server = Server {
        child,
        port: port.parse().expect("a port"),
        token: token.to_owned(),
        folder: folder.path().to_owned(),
    };
    let host = server.host();
    let door = format!("/open/{word}");
    let of_a_stranger = [("Host", host.as_str()), ("Sec-Fetch-Site", "cross-site")];
    server
        .ask("GET", &door, &of_a_stranger, "")
        .is_nothing("a page of a stranger");
    let answer = server.ask(
        "GET",
        &door,
        &[("Host", &host), ("Sec-Fetch-Site", "none")],
        "",
    );
    let page = format!("/{token}/");
    assert_eq!(
        (answer.status, answer.header("location")),
        (303, Some(page.as_str()))
    );
    server
        .ask("GET", &door, &[("Host", &host)], "")
        .explains_token("the second time");
    assert!(server.folder.exists());
}

#[test]
fn what_changes_is_seen() {
    let folder = folder();
    let server = Server::start(folder.path(), &["x.db"]);
    let runs = |server: &Server| -> Vec<i64> {
        let about = server.get("api/about").json();
        let runs = about["runs"].as_array().expect("runs");
        runs.iter()
            .map(|run| run["run_id"].as_i64().expect("a number"))
            .collect()
    };
    assert_eq!(runs(&server), [2, 1]);
    let uid = server.get("api/about?run=1").json()["uid"]
        .as_str()
        .expect("a uid")
        .to_owned();
    let tree =
        |server: &Server, block: &str| server.get(&format!("api/tree?run={uid}&block={block}"));
    assert_eq!(tree(&server, "steps").status, 200);
    fs::write(folder.path().join("more.folded"), "main;more 5\n").expect("a file");
    said(folder.path(), &["import", "--db", "x.db", "more.folded"]);
    assert_eq!(runs(&server), [3, 2, 1]);
    let answer = server.get("api/report/summary").json();
    assert_eq!(answer["run"]["run_id"], 3);
    said(folder.path(), &["delete", "--db", "x.db", "1", "--yes"]);
    assert_eq!(runs(&server), [3, 2]);
    // What was kept of it is not given any more.
    for block in ["steps", "places", "names"] {
        assert_eq!(tree(&server, block).status, 422, "{block}");
    }
    // Another database takes its place, whose run has a number that this one had, too.
    said(
        folder.path(),
        &["import", "--db", "y.db", "more.folded", "after.folded"],
    );
    fs::rename(folder.path().join("y.db"), folder.path().join("x.db")).expect("a file");
    assert_eq!(runs(&server), [2, 1]);
    assert_eq!(tree(&server, "names").status, 422);
    assert_eq!(server.get("api/report/summary?run=1").json()["total"], 5);
    fs::remove_file(folder.path().join("x.db")).expect("a file");
    let answer = server.get("api/about");
    assert_eq!(answer.status, 500);
    assert!(answer.text().contains("x.db"), "{}", answer.text());
    assert_eq!(server.get("").status, 200);
}

#[test]
fn the_run_that_is_asked_for_comes_first() {
    let folder = folder();
    let server = Server::start(folder.path(), &["--db", "x.db", "--run", "1"]);
    let about = server.get("api/about").json();
    assert_eq!(about["runs"][0]["run_id"], 1);
    assert_eq!(about["runs"][1]["run_id"], 2);
    assert_eq!(about["command"]["words"], json!(["--db", "x.db"]));
}

#[test]
fn what_cannot_be_served_is_said() {
    let folder = folder();
    let server = Server::start(folder.path(), &["x.db"]);
    let port = server.port.to_string();
    fs::write(folder.path().join("run.folded"), "main 5\n").expect("a file");
    fs::write(folder.path().join("empty"), "").expect("a file");
    said(folder.path(), &["import", "--db", "none.db", "run.folded"]);
    said(folder.path(), &["delete", "--db", "none.db", "1", "--yes"]);
    for (words, code, expected) in [
        (
            &["serve", "x.db", "--port", &port][..],
            5,
            format!("port {port} is in use"),
        ),
        (&["serve", "nothing.db"], 5, "nothing.db".to_owned()),
        (&["serve", "run.folded"], 5, "run.folded".to_owned()),
        (&["serve", "none.db"], 4, "no runs".to_owned()),
        (&["serve", "x.db", "--run", "7"], 4, "7".to_owned()),
        (
            &["serve", "x.db", "--run", "./run.folded"],
            2,
            "run of the database".to_owned(),
        ),
        (&["serve", "x.db", "--db", "x.db"], 2, "--db".to_owned()),
        (&["serve", "x.db", "--port", "65536"], 2, "65536".to_owned()),
    ] {
        let output = profdb(folder.path(), words);
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{words:?}: {complaint}");
        assert!(complaint.contains(&expected), "{words:?}: {complaint}");
        assert!(output.stdout.is_empty(), "{words:?}");
    }
    assert_eq!(server.get("").status, 200);
}

#[test]
fn it_ends_when_it_is_asked_to() {
    let folder = folder();
    for signal in ["INT", "TERM"] {
        let mut server = Server::start(folder.path(), &["x.db"]);
        // Neither connections that are open nor a statement that has no end keep it.
        let open = server.connect();
        let body = json!({"sql": ENDLESS}).to_string();
        let request = format!(
            "POST /{0}/api/sql HTTP/1.1\r\nHost: {1}\r\nContent-Type: application/json\r\nProfdb-Token: {0}\r\n\
             Content-Length: {2}\r\n\r\n{body}",
            server.token,
            server.host(),
            body.len()
        );
        let mut busy = server.connect();
        busy.write_all(request.as_bytes()).expect("it is open");
        server.signal(signal);
        assert_eq!(server.ended().code(), Some(130), "{signal}");
        drop(open);
    }
}
