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

#[cfg(test)]
mod tests {
    use hyper::Request;

    use super::*;

    fn routed(guard: &Guard, method: &str, path: &str, headers: &[(&str, &str)]) -> Option<Route> {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (parts, ()) = request.body(()).expect("a request").into_parts();
        guard.route(&parts)
    }

    /// What is ours leads somewhere, and each single thing that is wrong leads nowhere.
    #[test]
    fn what_is_not_ours_leads_nowhere() {
        let [token, once] = [(); 2].map(|()| Secret::new().expect("random numbers"));
        let guard = Guard::new(4321, token.clone(), Some(once.clone()));
        let page = format!("/{}/", token.word());
        let sql = format!("/{}/api/sql", token.word());
        let host = ("host", "127.0.0.1:4321");
        for own in ["127.0.0.1:4321", "localhost:4321", "[::1]:4321"] {
            let origin = format!("http://{own}");
            for headers in [
                &[("host", own)][..],
                &[("host", own), ("origin", &origin)],
                &[("host", own), ("sec-fetch-site", "none")],
                &[("host", own), ("sec-fetch-site", "same-origin")],
            ] {
                let found = routed(&guard, "GET", &page, headers);
                assert_eq!(found, Some(Route::Asset(String::new())), "{headers:?}");
            }
        }
        for wrong in [
            "",
            "127.0.0.1",
            "127.0.0.1:4322",
            "127.0.0.1:04321",
            "localhost",
            "LOCALHOST:4321",
            "localhost.:4321",
            "localhost.evil.com:4321",
            "127.evil.com:4321",
            "127.0.0.1:4321.evil.com",
            "127.0.0.1:4321, evil.com",
            "evil.com",
            "evil.com:4321",
            "user@127.0.0.1:4321",
            "127.0.0.1:4321@evil.com",
            "127.0.0.2:4321",
            "127.1:4321",
            "2130706433:4321",
            "0.0.0.0:4321",
            "[::]:4321",
            "[0:0:0:0:0:0:0:1]:4321",
            "[::ffff:127.0.0.1]:4321",
        ] {
            assert_eq!(
                routed(&guard, "GET", &page, &[("host", wrong)]),
                None,
                "{wrong}"
            );
        }
        for headers in [
            &[][..],
            &[host, host],
            &[host, ("host", "evil.com")],
            &[host, ("origin", "null")],
            &[host, ("origin", "http://evil.com")],
            &[host, ("origin", "https://127.0.0.1:4321")],
            &[host, ("origin", "http://127.0.0.1:4321/")],
            &[host, ("origin", "http://localhost:4321")],
            &[host, ("origin", "")],
            &[
                host,
                ("origin", "http://127.0.0.1:4321"),
                ("origin", "http://evil.com"),
            ],
            &[host, ("sec-fetch-site", "cross-site")],
            &[host, ("sec-fetch-site", "same-site")],
            &[host, ("sec-fetch-site", "")],
            &[
                host,
                ("sec-fetch-site", "none"),
                ("sec-fetch-site", "cross-site"),
            ],
        ] {
            assert_eq!(routed(&guard, "GET", &page, headers), None, "{headers:?}");
        }
        let shorter = &page[..page.len() - 1];
        for path in [
            "/",
            "//",
            "/favicon.ico",
            "/0123456789abcdef0123456789abcdef/",
            shorter,
            &page.to_uppercase(),
            &format!("/{page}"),
            &format!("http://127.0.0.1:4321{page}"),
            &format!("http://evil.com{page}"),
            &sql,
        ] {
            let is_upper = path == page;
            assert!(
                is_upper || routed(&guard, "GET", path, &[host]).is_none(),
                "{path}"
            );
        }
        for method in ["HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"] {
            assert_eq!(routed(&guard, method, &page, &[host]), None, "{method}");
        }
        let json = ("content-type", "application/json");
        let with_token = (TOKEN_HEADER, token.word());
        let found = routed(&guard, "POST", &sql, &[host, json, with_token]);
        assert_eq!(found, Some(Route::Statement));
        let utf8 = ("content-type", "application/json; charset=utf-8");
        let found = routed(&guard, "POST", &sql, &[host, utf8, with_token]);
        assert_eq!(found, Some(Route::Statement));
        for headers in [
            &[host][..],
            &[host, json],
            &[host, with_token],
            &[host, json, (TOKEN_HEADER, "")],
            &[host, json, (TOKEN_HEADER, once.word())],
            &[host, json, with_token, with_token],
            &[host, json, json, with_token],
            &[host, ("content-type", "text/plain"), with_token],
            &[
                host,
                ("content-type", "application/x-www-form-urlencoded"),
                with_token,
            ],
            &[host, ("content-type", "application/jsonp"), with_token],
            &[host, json, with_token, ("origin", "http://evil.com")],
            &[host, json, with_token, ("sec-fetch-site", "cross-site")],
        ] {
            assert_eq!(routed(&guard, "POST", &sql, headers), None, "{headers:?}");
        }
        let question = format!("{page}api/report/summary?fn=a%2Cb&metric=time");
        let of = Question::Of {
            path: "report/summary".to_owned(),
            query: "fn=a%2Cb&metric=time".to_owned(),
        };
        let found = routed(&guard, "GET", &question, &[host]);
        assert_eq!(found, Some(Route::Question(of)));
        let door = format!("/open/{}", once.word());
        assert_eq!(routed(&guard, "GET", &door, &[host]), Some(Route::Door));
        assert_eq!(
            routed(&guard, "GET", &format!("/open/{}", token.word()), &[host]),
            None
        );
        assert_eq!(routed(&guard, "POST", &door, &[host]), None);
    }
}
