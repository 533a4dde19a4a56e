//! `profdb serve [DB]`: the page over a whole database, for the browser on this machine.
//!
//! Questions are answered by the commands themselves: what the page asks is made into the words of a command line, and what
//! the command writes is the answer. So figures are those of the command, and each answer is of one state of the database,
//! which every command opens anew.

#[cfg(feature = "serve")]
mod answers;
#[cfg(feature = "serve")]
mod begin;
#[cfg(feature = "serve")]
mod browser;
mod flags;
#[cfg(not(feature = "serve"))]
mod none;
#[cfg(feature = "serve")]
mod statement;
#[cfg(feature = "serve")]
mod words;

#[cfg(feature = "serve")]
pub(super) use begin::run;
pub(super) use flags::Serve;
#[cfg(not(feature = "serve"))]
pub(super) use none::run;

/// Whether this build has a server, as `--version` says it.
#[cfg(feature = "serve")]
pub(super) const ABOUT: Option<&str> = None;

/// Whether this build has a server, as `--version` says it.
#[cfg(not(feature = "serve"))]
pub(super) const ABOUT: Option<&str> =
    Some("`profdb serve` is missing: built without the feature serve");
