//! What at least two families share, which a test holds (`tests/repo/layers.rs`).

pub(super) mod buffered;
pub(super) mod call_tree;
pub(super) mod counted;
pub(super) mod demangle;
pub(super) mod ending;
pub(super) mod json;
pub(super) mod lisp_names;
pub(super) mod metric_names;
pub(super) mod missing_frames;
pub(super) mod names;
pub(super) mod repeated;
pub(super) mod samples;
pub(super) mod stack_depth;
pub(super) mod stacks;
pub(super) mod utf16;
pub(super) mod v8_profile;
pub(super) mod written;
