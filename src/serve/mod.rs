//! A server for one user's browser on the same machine (docs/design/0023-serve.md): who may ask, which bytes go over the
//! connections, and a thread that answers. What is answered it does not know.

mod address;
mod connection;
mod guard;
mod header;
mod reply;
mod run;
mod secret;
mod worker;

pub use address::{Address, BindError};
pub use guard::{Question, TOKEN_HEADER};
pub use reply::{Body, Head, Reply};
pub use run::{Asset, Ended, Server, serve};
pub use secret::Secret;
