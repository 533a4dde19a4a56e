//! The server of pages: where it listens, and which requests it answers.

#![cfg(feature = "serve")]

use std::net::IpAddr;
use std::thread;

use profdb::base::error::Stop;
use profdb::serve::{
    Address, Asset, BindError, Ended, Head, Question, Secret, Server, TOKEN_HEADER, serve,
};

use crate::support::http::{Response, send};

#[test]
fn address_listens_to_this_machine_only() {
    let bound = Address::bind(0).expect("a port");
    let shown = format!("{bound:?}");
    let sockets: Vec<&str> = shown
        .split("addr: ")
        .skip(1)
        .map(|rest| rest.split([',', ' ']).next().unwrap_or_default())
        .collect();
    assert!(!sockets.is_empty(), "{shown}");
    for socket in sockets {
        let (host, port) = socket.rsplit_once(':').expect("a port");
        let host: IpAddr = host.trim_matches(['[', ']']).parse().expect("an address");
        assert!(host.is_loopback(), "{shown}");
        assert_eq!(port, bound.port().to_string(), "{shown}");
    }
    let again = Address::bind(bound.port());
    assert!(
        matches!(again, Err(BindError::InUse(port)) if port == bound.port()),
        "{again:?}"
    );
}

#[test]
fn secrets_are_long_and_never_equal() {
    let [one, other] = [(); 2].map(|()| Secret::new().expect("random numbers"));
    assert_ne!(one, other);
    for word in [one.word(), other.word()] {
        assert_eq!(word.len(), 32);
        assert!(word.bytes().all(|byte| byte.is_ascii_hexdigit()), "{word}");
    }
    assert!(!format!("{one:?}").contains(one.word()));
}

/// A server in this process. Its page is `page`, and its answers repeat the question.
struct Running {
    port: u16,
    token: String,
    /// The word that lets a browser in once.
    once: String,
    stop: Stop,
    thread: Option<thread::JoinHandle<Ended>>,
}

impl Running {
    fn start() -> Self {
        let [token, once] = [(); 2].map(|()| Secret::new().expect("random numbers"));
        let words = [&token, &once].map(|secret| secret.word().to_owned());
        let address = Address::bind(0).expect("a port");
        let port = address.port();
        let server = Server {
            address,
            token,
            once: Some(once),
            assets: vec![Asset {
                name: "",
                kind: "text/plain",
                bytes: b"page".to_vec(),
            }],
        };
        let stop = Stop::default();
        let asked_to = stop.clone();
        let thread = thread::spawn(move || {
            let answer = |question: Question, reply: profdb::serve::Reply, _: &Stop| {
                let head = Head {
                    status: 200,
                    kind: "text/plain",
                    is_compressed: false,
                    remarks: Vec::new(),
                };
                reply.whole(head, format!("{question:?}").as_bytes());
            };
            serve(server, answer, &asked_to)
        });
        let [token, once] = words;
        Self {
            port,
            token,
            once,
            stop,
            thread: Some(thread),
        }
    }

    fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    fn page(&self) -> String {
        format!("/{}/", self.token)
    }

    fn get(&self, target: &str, headers: &[(&str, &str)]) -> Response {
        send(self.port, "GET", target, headers, "")
    }

    /// Requests the page with wrong headers.
    fn refuse(&self, headers: &[(&str, &str)]) {
        let response = self.get(&self.page(), headers);
        assert_eq!(response.status, 404, "{headers:?}");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.set();
        let ended = self.thread.take().map(thread::JoinHandle::join);
        assert!(matches!(ended, Some(Ok(Ended::Stopped))), "{ended:?}");
    }
}

#[test]
fn request_from_another_host_or_origin_is_refused() {
    let server = Running::start();
    let (port, page) = (server.port, server.page());
    for own in ["127.0.0.1", "localhost", "[::1]"] {
        let own = format!("{own}:{port}");
        let origin = format!("http://{own}");
        for headers in [
            &[("host", &*own)][..],
            &[("host", &own), ("origin", &origin)],
            &[("host", &own), ("sec-fetch-site", "none")],
            &[("host", &own), ("sec-fetch-site", "same-origin")],
        ] {
            let response = server.get(&page, headers);
            assert_eq!(
                (response.status, &*response.body),
                (200, "page"),
                "{headers:?}"
            );
        }
    }
    for wrong in [
        "",
        "127.0.0.1",
        "127.0.0.1:1",
        "127.0.0.1:0PORT",
        "localhost",
        "LOCALHOST:PORT",
        "localhost.:PORT",
        "localhost.evil.com:PORT",
        "127.evil.com:PORT",
        "127.0.0.1:PORT.evil.com",
        "127.0.0.1:PORT, evil.com",
        "evil.com",
        "evil.com:PORT",
        "user@127.0.0.1:PORT",
        "127.0.0.1:PORT@evil.com",
        "127.0.0.2:PORT",
        "127.1:PORT",
        "2130706433:PORT",
        "0.0.0.0:PORT",
        "[::]:PORT",
        "[0:0:0:0:0:0:0:1]:PORT",
        "[::ffff:127.0.0.1]:PORT",
    ] {
        let wrong = wrong.replace("PORT", &port.to_string());
        server.refuse(&[("host", &wrong)]);
    }
    let host = server.host();
    let host = ("host", host.as_str());
    let own = format!("http://{}", host.1);
    let [secure, with_path, other] = [
        format!("https://{}", host.1),
        format!("{own}/"),
        format!("http://localhost:{port}"),
    ];
    for headers in [
        &[][..],
        &[host, host],
        &[host, ("host", "evil.com")],
        &[host, ("origin", "null")],
        &[host, ("origin", "http://evil.com")],
        &[host, ("origin", &secure)],
        &[host, ("origin", &with_path)],
        &[host, ("origin", &other)],
        &[host, ("origin", "")],
        &[host, ("origin", &own), ("origin", "http://evil.com")],
        &[host, ("sec-fetch-site", "cross-site")],
        &[host, ("sec-fetch-site", "same-site")],
        &[host, ("sec-fetch-site", "")],
        &[
            host,
            ("sec-fetch-site", "none"),
            ("sec-fetch-site", "cross-site"),
        ],
    ] {
        server.refuse(headers);
    }
}

#[test]
fn request_without_the_secret_is_refused() {
    let server = Running::start();
    let (page, token) = (server.page(), &server.token);
    let host = server.host();
    let host = ("host", host.as_str());
    let sql = format!("{page}api/sql");
    let other = Secret::new().expect("random numbers");
    for target in [
        "/",
        "//",
        "/favicon.ico",
        "/0123456789abcdef0123456789abcdef/",
        &page[..page.len() - 1],
        &page.to_uppercase(),
        &format!("/{page}"),
        &format!("http://{}{page}", host.1),
        &format!("http://evil.com{page}"),
        &sql,
        &format!("/{}/", other.word()),
        &format!("/{}/", &token[1..]),
        &format!("/{token}0/"),
        &format!("/open/{token}"),
        "/open/",
    ] {
        // A secret of digits only has no capital letters.
        if target != page {
            assert_eq!(server.get(target, &[host]).status, 404, "{target}");
        }
    }
    for method in ["HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"] {
        let response = send(server.port, method, &page, &[host], "");
        assert_eq!(response.status, 404, "{method}");
    }
    let door = format!("/open/{}", server.once);
    assert_eq!(send(server.port, "POST", &door, &[host], "").status, 404);
    let opened = server.get(&door, &[host]);
    assert_eq!(opened.status, 303);
    assert!(
        opened.head.contains(&format!("location: {page}")),
        "{}",
        opened.head
    );
    let question = format!("{page}api/report/summary?fn=a%2Cb&metric=time");
    let answer = server.get(&question, &[host]);
    let expected = Question::Of {
        path: "report/summary".to_owned(),
        query: "fn=a%2Cb&metric=time".to_owned(),
    };
    assert_eq!(answer.status, 200);
    assert!(
        answer.body.contains(&format!("{expected:?}")),
        "{}",
        answer.body
    );
}

#[test]
fn statement_needs_the_token_in_a_header() {
    let server = Running::start();
    let sql = format!("{}api/sql", server.page());
    let host = server.host();
    let host = ("host", host.as_str());
    let json = ("content-type", "application/json");
    let utf8 = ("content-type", "application/json; charset=utf-8");
    let token = (TOKEN_HEADER, server.token.as_str());
    let post = |headers: &[(&str, &str)]| send(server.port, "POST", &sql, headers, "x");
    let expected = format!("{:?}", Question::Statement(b"x".to_vec()));
    for kind in [json, utf8] {
        let answer = post(&[host, kind, token]);
        assert_eq!(answer.status, 200, "{kind:?}");
        assert!(answer.body.contains(&expected), "{}", answer.body);
    }
    for headers in [
        &[host][..],
        &[host, json],
        &[host, token],
        &[host, json, (TOKEN_HEADER, "")],
        &[host, json, (TOKEN_HEADER, &server.once)],
        &[host, json, token, token],
        &[host, json, json, token],
        &[host, ("content-type", "text/plain"), token],
        &[
            host,
            ("content-type", "application/x-www-form-urlencoded"),
            token,
        ],
        &[host, ("content-type", "application/jsonp"), token],
        &[host, json, token, ("origin", "http://evil.com")],
        &[host, json, token, ("sec-fetch-site", "cross-site")],
    ] {
        assert_eq!(post(headers).status, 404, "{headers:?}");
    }
}
