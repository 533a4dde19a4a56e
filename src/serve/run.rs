//! The server: takes connections, reads requests, and sends answers, all in one thread.

use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hyper::body::{Body as _, Bytes, Incoming};
use hyper::header::{
    CONNECTION, CONTENT_ENCODING, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION,
};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use super::address::Address;
use super::connection::Heeded;
use super::guard::{Guard, Question, Route};
use super::header;
use super::reply::{Head, Piece, Reply, Sent};
use super::secret::Secret;
use super::worker::{self, Queue};
use crate::base::error::Stop;

/// Text for an address that lacks the token.
const NO_TOKEN: &[u8] =
    b"The address lacks the token of this server. Open the address that `profdb serve` printed.\n";

/// Bytes that the head of a request has at most.
const MOST_HEAD: usize = 16 << 10;

/// Bytes that the body of a request has at most.
const MOST_BODY: usize = 64 << 10;

/// Connections at one time; more wait until one of them ends.
const MOST_CONNECTIONS: usize = 32;

/// How long a connection may take to send a request, or to take an answer.
const IDLE: Duration = Duration::from_secs(10);

/// How often is looked whether the server shall end.
const LOOK: Duration = Duration::from_millis(50);

/// How long is waited after the system has given no connection, as where too many files are open.
const PAUSE: Duration = Duration::from_millis(100);

/// A file of the page.
#[derive(Clone, Debug)]
pub struct Asset {
    /// Its name below the token; empty for the page itself.
    pub name: &'static str,
    /// Its type.
    pub kind: &'static str,
    /// The file.
    pub bytes: Vec<u8>,
}

/// A server that is about to begin.
#[derive(Debug)]
pub struct Server {
    /// Where it listens.
    pub address: Address,
    /// The first part of all its paths.
    pub token: Secret,
    /// A word by which a browser can come in once without having been told the token.
    pub once: Option<Secret>,
    /// The files of the page.
    pub assets: Vec<Asset>,
}

/// Why a server has ended.
#[derive(Debug)]
pub enum Ended {
    /// It was asked to.
    Stopped,
    /// The system gave no thread, or no way to wait for connections.
    Failed(io::Error),
}

/// What all connections have.
struct Shared {
    guard: Guard,
    token: Secret,
    /// The door has been used.
    is_open: AtomicBool,
    assets: Vec<Asset>,
    queue: Queue,
}

/// Serves until `stop` is set. Questions are answered in a thread of their own, one after the other; the flag that comes with
/// each is set once no one waits for its answer any more.
pub fn serve(
    server: Server,
    answer: impl FnMut(Question, Reply, &Stop) + Send + 'static,
    stop: &Stop,
) -> Ended {
    let (queue, thread) = match worker::start(answer) {
        Ok(started) => started,
        Err(error) => return Ended::Failed(error),
    };
    let ended = match listen(server, queue, stop) {
        Ok(()) => Ended::Stopped,
        Err(error) => Ended::Failed(error),
    };
    // All that waited for answers is gone with the connections, and so the thread has nothing left to do.
    let _ = thread.join();
    ended
}

fn listen(server: Server, queue: Queue, stop: &Stop) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()?;
    let shared = Arc::new(Shared {
        guard: Guard::new(server.address.port(), server.token.clone(), server.once),
        token: server.token,
        is_open: AtomicBool::new(false),
        assets: server.assets,
        queue,
    });
    runtime.block_on(async {
        let free = Arc::new(Semaphore::new(MOST_CONNECTIONS));
        for listener in server.address.listeners {
            let listener = TcpListener::from_std(listener)?;
            tokio::spawn(accept(listener, Arc::clone(&shared), Arc::clone(&free)));
        }
        while !stop.is_set() {
            sleep(LOOK).await;
        }
        Ok(())
    })
}

/// Takes connections, one after the other, as long as there is room for more.
async fn accept(listener: TcpListener, shared: Arc<Shared>, free: Arc<Semaphore>) {
    loop {
        // A semaphore that no one closes gives what it has.
        let Ok(place) = Arc::clone(&free).acquire_owned().await else {
            return;
        };
        match listener.accept().await {
            Ok((stream, _)) => {
                let shared = Arc::clone(&shared);
                tokio::spawn(async move {
                    connection(stream, shared).await;
                    drop(place);
                });
            }
            Err(_) => sleep(PAUSE).await,
        }
    }
}

/// Answers the requests of a connection, one after the other.
async fn connection(stream: TcpStream, shared: Arc<Shared>) {
    // Small answers are not held back for more.
    let _ = stream.set_nodelay(true);
    let stream = TokioIo::new(Heeded::new(stream, IDLE));
    let service = service_fn(move |request| {
        let shared = Arc::clone(&shared);
        async move { Ok::<_, Infallible>(answered(request, &shared).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(IDLE)
        .max_buf_size(MOST_HEAD)
        .serve_connection(stream, service);
    // A connection that fails is the other side's: it left, or sent what is no HTTP.
    let _ = connection.await;
}

async fn answered(request: Request<Incoming>, shared: &Shared) -> Response<Sent> {
    let (parts, body) = request.into_parts();
    match shared.guard.route(&parts) {
        None if shared.guard.lacks_token(&parts) => without_token(),
        None => empty(StatusCode::NOT_FOUND),
        Some(Route::Asset(name)) => match shared.assets.iter().find(|asset| asset.name == name) {
            Some(asset) => whole(asset.kind, Bytes::copy_from_slice(&asset.bytes)),
            None => empty(StatusCode::NOT_FOUND),
        },
        Some(Route::Door) => door(shared),
        Some(Route::Question(question)) => ask(question, shared).await,
        Some(Route::Statement) => match timeout(IDLE, read(body)).await {
            Ok(Ok(bytes)) => ask(Question::Statement(bytes), shared).await,
            Ok(Err(status)) => last(status),
            Err(_) => last(StatusCode::REQUEST_TIMEOUT),
        },
    }
}

/// Lets the browser in that was opened with the word of the door. It is good once: other users of the machine may see
/// the arguments of programs.
fn door(shared: &Shared) -> Response<Sent> {
    if shared.is_open.swap(true, Ordering::Relaxed) {
        return without_token();
    }
    let mut response = empty(StatusCode::SEE_OTHER);
    header::add(response.headers_mut());
    if let Ok(page) = HeaderValue::from_str(&format!("/{}/", shared.token.word())) {
        response.headers_mut().insert(LOCATION, page);
    }
    response
}

/// The bytes of a body that is not too long.
async fn read(mut body: Incoming) -> Result<Vec<u8>, StatusCode> {
    let mut bytes = Vec::new();
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let frame = frame.map_err(|_| StatusCode::BAD_REQUEST)?;
        let data = frame.into_data().unwrap_or_default();
        if bytes.len() + data.len() > MOST_BODY {
            return Err(StatusCode::PAYLOAD_TOO_LARGE);
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes)
}

/// Asks the thread that answers.
async fn ask(question: Question, shared: &Shared) -> Response<Sent> {
    let Some((mut pieces, waiting)) = shared.queue.ask(question) else {
        return last(StatusCode::SERVICE_UNAVAILABLE);
    };
    let Some(Piece::Head(head)) = pieces.recv().await else {
        return last(StatusCode::INTERNAL_SERVER_ERROR);
    };
    let mut response = Response::new(Sent::Coming(pieces, waiting));
    header::add(response.headers_mut());
    let Head {
        status,
        kind,
        is_compressed,
        remarks,
    } = head;
    *response.status_mut() =
        StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    if is_compressed {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    for remark in remarks {
        // Letters that headers have no place for are written as URLs have them.
        if let Ok(value) = HeaderValue::from_str(&remark) {
            headers.append(HeaderName::from_static("profdb-remark"), value);
        }
    }
    response
}

fn whole(kind: &'static str, bytes: Bytes) -> Response<Sent> {
    let mut response = Response::new(Sent::from(bytes));
    header::add(response.headers_mut());
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// Explains a 404 to a user who opens an address without the token, or with the token of an earlier server.
fn without_token() -> Response<Sent> {
    let mut response = whole("text/plain; charset=utf-8", Bytes::from_static(NO_TOKEN));
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}

/// An answer with nothing in it.
fn empty(status: StatusCode) -> Response<Sent> {
    let mut response = Response::new(Sent::Whole(None));
    *response.status_mut() = status;
    response
}

/// An answer with nothing in it, after which the connection ends: what the other side has still to send is not read.
fn last(status: StatusCode) -> Response<Sent> {
    let mut response = empty(status);
    response
        .headers_mut()
        .insert(CONNECTION, HeaderValue::from_static("close"));
    response
}
