//! Where the server listens: on the loopback addresses of both kinds, at one port, and nowhere else.

use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};

/// How often a free port is looked for that is free for both kinds of addresses.
const TRIES: usize = 16;

/// Sockets that listen.
#[derive(Debug)]
pub struct Address {
    pub(super) listeners: Vec<TcpListener>,
    port: u16,
}

/// Why nothing listens.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// Another program has the port, or one of the two addresses at it.
    #[error("port {0} is in use by another program; --port 0 selects a free port")]
    InUse(u16),
    /// The user may not listen there.
    #[error("port {0} is reserved for system programs; --port 0 selects a free port")]
    Denied(u16),
    /// The system gives no socket.
    #[error("cannot listen on 127.0.0.1: {0}")]
    Failed(io::Error),
}

impl Address {
    /// Listens at a port; 0 is any that is free.
    ///
    /// # Errors
    /// When the port is taken, or the system gives no socket.
    pub fn bind(port: u16) -> Result<Self, BindError> {
        let mut taken = None;
        for _ in 0..TRIES {
            match Self::try_bind(port) {
                // Another program has the other kind of address at the port that was free for the first.
                Err(BindError::InUse(at)) if port == 0 => taken = Some(BindError::InUse(at)),
                bound => return bound,
            }
        }
        Err(taken.unwrap_or(BindError::InUse(port)))
    }

    fn try_bind(port: u16) -> Result<Self, BindError> {
        let failed = |port| {
            move |error: io::Error| match error.kind() {
                ErrorKind::AddrInUse => BindError::InUse(port),
                ErrorKind::PermissionDenied => BindError::Denied(port),
                _ => BindError::Failed(error),
            }
        };
        let first = listen(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).map_err(failed(port))?;
        let port = first.local_addr().map_err(BindError::Failed)?.port();
        let mut listeners = vec![first];
        match listen(SocketAddr::from((Ipv6Addr::LOCALHOST, port))) {
            Ok(second) => listeners.push(second),
            Err(error) if error.kind() == ErrorKind::AddrInUse => {
                return Err(BindError::InUse(port));
            }
            // Many machines, and most containers, have no IPv6.
            Err(_) => {}
        }
        Ok(Self { listeners, port })
    }

    /// The port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }
}

fn listen(at: SocketAddr) -> io::Result<TcpListener> {
    let listener = TcpListener::bind(at)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}
