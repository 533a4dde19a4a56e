//! Who may ask what: every request is looked at here before anything of it is done. Pages of strangers run in the user's
//! browser, too, and may send it to any address of this machine; names of strangers may lead to this machine
//! (DNS rebinding). What is not ours gets no answer that would tell that there is something.

use hyper::header::{CONTENT_TYPE, HOST, HeaderName, ORIGIN};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, Uri};

use super::secret::Secret;

/// The header with the token that statements of the user's own have to bring: no page of another origin may set it.
pub const TOKEN_HEADER: &str = "profdb-token";

/// Where questions are below the token.
const QUESTIONS: &str = "api/";

/// The one question that comes as a body.
const STATEMENT: &str = "api/sql";

/// Where the browser comes in that was opened by this program.
const DOOR: &str = "open";

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// By path and query, both as the URL has them.
    Of {
        /// What comes after `api/`.
        path: String,
        /// What comes after `?`; empty without.
        query: String,
    },
    /// A body of JSON for `api/sql`.
    Statement(Vec<u8>),
}

/// What a request that is ours leads to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// A file of the page.
    Asset(String),
    /// A question, which has no body.
    Question(Question),
    /// A statement, whose body is still to be read.
    Statement,
    /// The browser that was opened with a word that is good once.
    Door,
}

/// Who may ask.
#[derive(Debug)]
pub(super) struct Guard {
    /// The values that `Host` may have.
    hosts: [String; 3],
    token: Secret,
    /// The word of the door.
    once: Option<Secret>,
}

impl Guard {
    pub(super) fn new(port: u16, token: Secret, once: Option<Secret>) -> Self {
        let hosts = ["127.0.0.1", "localhost", "[::1]"].map(|host| format!("{host}:{port}"));
        Self { hosts, token, once }
    }

    /// Where a request leads; `None` if it is not ours.
    pub(super) fn route(&self, request: &Parts) -> Option<Route> {
        let host = self.host(&request.headers)?;
        is_own_origin(&request.headers, host).then_some(())?;
        let path = path(&request.uri)?;
        let (word, rest) = path.strip_prefix('/')?.split_once('/')?;
        if word == DOOR {
            let once = self.once.as_ref()?;
            let is_door = request.method == Method::GET && once.is(rest.as_bytes());
            return is_door.then_some(Route::Door);
        }
        self.token.is(word.as_bytes()).then_some(())?;
        match request.method {
            Method::GET if rest == STATEMENT => None,
            Method::GET => Some(match rest.strip_prefix(QUESTIONS) {
                Some(path) => Route::Question(Question::Of {
                    path: path.to_owned(),
                    query: request.uri.query().unwrap_or_default().to_owned(),
                }),
                None => Route::Asset(rest.to_owned()),
            }),
            Method::POST if rest == STATEMENT => {
                let token = only(&request.headers, &HeaderName::from_static(TOKEN_HEADER))?;
                let is_ours = is_json(&request.headers) && self.token.is(token);
                is_ours.then_some(Route::Statement)
            }
            _ => None,
        }
    }

    /// Returns true for a GET request that only lacks the token: its host is this machine, and no page of another origin sent it.
    pub(super) fn lacks_token(&self, request: &Parts) -> bool {
        let has_token = |path: &str| {
            let parts = path.strip_prefix('/').and_then(|path| path.split_once('/'));
            parts.is_some_and(|(word, _)| self.token.is(word.as_bytes()))
        };
        request.method == Method::GET
            && path(&request.uri).is_some_and(|path| !has_token(path))
            && self
                .host(&request.headers)
                .is_some_and(|host| is_own_origin(&request.headers, host))
    }

    /// The value of the one `Host`, if it is exactly one of ours.
    fn host(&self, headers: &HeaderMap) -> Option<&str> {
        let given = only(headers, &HOST)?;
        let own = self.hosts.iter().find(|host| host.as_bytes() == given);
        own.map(String::as_str)
    }
}

/// The value of a header that is there once.
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h [u8]> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    values.next().is_none().then(|| value.as_bytes())
}

/// Whether the page that asks is ours, as far as the browser says: what asks without a browser sends neither header.
fn is_own_origin(headers: &HeaderMap, host: &str) -> bool {
    let origin = format!("http://{host}");
    let is_absent_or = |name: &HeaderName, is_ours: &dyn Fn(&[u8]) -> bool| {
        !headers.contains_key(name) || only(headers, name).is_some_and(is_ours)
    };
    is_absent_or(&ORIGIN, &|value| value == origin.as_bytes())
        && is_absent_or(&HeaderName::from_static("sec-fetch-site"), &|value| {
            [&b"same-origin"[..], b"none"].contains(&value)
        })
}

/// The path of a request for this server itself; a proxy would be asked with the name of another.
fn path(uri: &Uri) -> Option<&str> {
    let is_own = uri.scheme().is_none() && uri.authority().is_none();
    is_own.then(|| uri.path())
}

/// Whether the body is JSON, which no form of another page can send without being asked for leave first.
fn is_json(headers: &HeaderMap) -> bool {
    let Some(kind) = only(headers, &CONTENT_TYPE).and_then(|kind| std::str::from_utf8(kind).ok())
    else {
        return false;
    };
    let (kind, parameters) = kind.split_once(';').unwrap_or((kind, ""));
    let parameters = parameters.trim();
    kind.trim().eq_ignore_ascii_case("application/json")
        && (parameters.is_empty() || parameters.eq_ignore_ascii_case("charset=utf-8"))
}
