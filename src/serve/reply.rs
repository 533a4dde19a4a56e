//! Answers on their way from the thread that answers to a connection: a head, and then bytes as they come.

use std::io::{self, Write};
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Body as HttpBody, Bytes, Frame};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::base::error::Stop;

/// Bytes that go together.
const TOGETHER: usize = 64 << 10;

/// How many such pieces wait for a reader that is slower.
const WAITING: usize = 4;

/// What is said of an answer before it comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The number of HTTP: 200, 400.
    pub status: u16,
    /// Its type: `application/json`.
    pub kind: &'static str,
    /// The bytes are compressed (gzip).
    pub is_compressed: bool,
    /// What there is to say beside the answer.
    pub remarks: Vec<String>,
}

/// What comes of an answer.
pub(super) enum Piece {
    Head(Head),
    Bytes(Bytes),
    End,
}

/// Asks the thread to stop once no one waits for the answer any more.
pub(super) struct Waiting(pub(super) Stop);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.set();
    }
}

/// The way back to whoever has asked.
#[derive(Debug)]
pub struct Reply(Sender<Piece>);

/// A way for one answer, and its end.
pub(super) fn reply() -> (Reply, Receiver<Piece>) {
    let (to, from) = channel(WAITING);
    (Reply(to), from)
}

impl Reply {
    /// Begins the answer. Its bytes are complete once [`Body::end`] is called; otherwise the connection breaks, so that
    /// no one takes a part for the whole.
    ///
    /// # Errors
    /// When no one waits for it any more.
    pub fn begin(self, head: Head) -> io::Result<Body> {
        self.0
            .blocking_send(Piece::Head(head))
            .map_err(|_| gone())?;
        Ok(Body {
            to: self.0,
            bytes: Vec::with_capacity(TOGETHER),
        })
    }

    /// The whole answer.
    pub fn whole(self, head: Head, bytes: &[u8]) {
        // Who no longer waits misses nothing.
        if let Ok(mut body) = self.begin(head) {
            let _ = body.write_all(bytes).and_then(|()| body.end());
        }
    }
}

fn gone() -> io::Error {
    io::ErrorKind::BrokenPipe.into()
}

/// The bytes of an answer. Writing waits for a reader that is slower, and fails once there is none.
#[derive(Debug)]
pub struct Body {
    to: Sender<Piece>,
    bytes: Vec<u8>,
}

impl Body {
    /// The answer is complete.
    ///
    /// # Errors
    /// When no one waits for it any more.
    pub fn end(mut self) -> io::Result<()> {
        self.send()?;
        self.to.blocking_send(Piece::End).map_err(|_| gone())
    }

    fn send(&mut self) -> io::Result<()> {
        if self.bytes.is_empty() {
            return Ok(());
        }
        let bytes = std::mem::take(&mut self.bytes);
        let sent = self.to.blocking_send(Piece::Bytes(bytes.into()));
        sent.map_err(|_| gone())
    }
}

impl Write for Body {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() >= TOGETHER {
            self.send()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The body of a response: bytes that are known, or what a thread sends.
pub(super) enum Sent {
    Whole(Option<Bytes>),
    /// Dropping this asks the thread to stop.
    Coming(
        Receiver<Piece>,
        #[expect(dead_code, reason = "it acts when it is dropped")] Waiting,
    ),
}

impl From<Bytes> for Sent {
    fn from(bytes: Bytes) -> Self {
        Self::Whole((!bytes.is_empty()).then_some(bytes))
    }
}

impl HttpBody for Sent {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        match &mut *self {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Coming(pieces, _) => pieces.poll_recv(context).map(|piece| match piece {
                Some(Piece::Bytes(bytes)) => Some(Ok(Frame::data(bytes))),
                Some(Piece::End) => None,
                Some(Piece::Head(_)) | None => Some(Err(io::Error::other("the answer has no end"))),
            }),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }

    fn size_hint(&self) -> hyper::body::SizeHint {
        match self {
            Self::Whole(bytes) => {
                hyper::body::SizeHint::with_exact(bytes.as_ref().map_or(0, Bytes::len) as u64)
            }
            Self::Coming(..) => hyper::body::SizeHint::default(),
        }
    }
}
