//! stackprof, the sampling profiler of Ruby: stacks, or functions with their callees, as JSON.

mod frames;
mod functions;
mod members;
mod metric;
mod raw;
pub(in crate::formats) mod read;
mod stacks;
