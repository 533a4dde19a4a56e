//! What everything else may use: errors, threads, limits of the system, and general data structures.

pub mod ending;
pub mod error;
pub(crate) mod hash_index;
pub(crate) mod hex;
pub(crate) mod interner;
pub mod limits;
#[cfg(feature = "parquet")]
pub mod panics;
pub(crate) mod query;
pub(crate) mod scc;
pub(crate) mod slices;
pub(crate) mod spool;
pub(crate) mod sum;
pub(crate) mod threads;
