//! profdb imports the files that profilers write into one SQLite database, and answers with SQL
//! views and reports.
//!
//! ```text
//! bytes -> input -> importers -> events::Sink -> profile -> store -> views -> report -> cli
//! ```
//!
//! [`pipeline::import`] ties the left half together, [`report`] is the right half, [`cli`] is the
//! program around both. ARCHITECTURE.md tells where everything is and what holds.

pub mod base;
pub mod cli;
pub mod compare;
pub mod dataset;
pub mod events;
pub mod formats;
pub mod gate;
pub mod history;
pub mod identity;
pub mod input;
pub mod page;
pub mod pipeline;
pub mod profile;
pub mod report;
#[cfg(feature = "serve")]
pub mod serve;
pub mod source;
pub mod store;
pub mod text;
