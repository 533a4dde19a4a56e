//! profdb imports the files that profilers write into one SQLite database, and answers with SQL views and reports.
//!
//! ```text
//! bytes -> input -> importers -> events::Sink -> tree -> store -> views -> report -> cli
//! ```
//!
//! [`import::import`] ties the left half together, [`report`] is the right half, [`cli`] is the program around both.
//! ARCHITECTURE.md tells where everything is and what holds.

mod buffer;
pub mod cli;
mod compiled_names;
mod components;
mod cost_centres;
mod dyalog_files;
pub mod error;
mod escape;
pub mod events;
pub mod export;
mod firefox_files;
mod hash_index;
mod hasher;
pub mod import;
pub mod importers;
pub mod input;
pub mod limits;
pub mod options;
mod pipe;
pub mod recorder;
mod relay;
pub mod report;
pub mod separators;
pub mod source;
pub mod store;
mod threads;
pub mod tree;
