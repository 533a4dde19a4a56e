//! Chrome's Trace Event Format.

mod numbers;
mod process_trees;
pub(in crate::formats) mod read;
mod slices;
mod stack_samples;
mod tracks;
mod v8_chunks;
