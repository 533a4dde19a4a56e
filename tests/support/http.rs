//! Requests to a server on this machine.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

/// A response of HTTP.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    /// All lines before the body.
    pub(crate) head: String,
    /// The body as it is sent, in chunks if the head says so.
    pub(crate) body: String,
}

/// Sends one request on a connection of its own.
pub(crate) fn send(
    port: u16,
    method: &str,
    target: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Response {
    let mut request = format!("{method} {target} HTTP/1.1\r\nConnection: close\r\n");
    for (name, value) in headers {
        let _ = write!(request, "{name}: {value}\r\n");
    }
    if !body.is_empty() {
        let _ = write!(request, "Content-Length: {}\r\n", body.len());
    }
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("a server");
    let sent = stream.write_all(format!("{request}\r\n{body}").as_bytes());
    sent.expect("a server that reads");
    let mut response = Vec::new();
    stream.read_to_end(&mut response).expect("a response");
    let response = String::from_utf8(response).expect("UTF-8");
    let (head, body) = response.split_once("\r\n\r\n").expect("a head");
    let status = head.split(' ').nth(1).expect("a status");
    Response {
        status: status.parse().expect("a status"),
        head: head.to_owned(),
        body: body.to_owned(),
    }
}
