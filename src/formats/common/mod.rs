//! What several families share.

pub(super) mod call_tree;
pub(super) mod counted;
pub(super) mod dates;
pub(super) mod demangle;
pub(super) mod dictionary;
pub(super) mod json;
pub(super) mod long_lines;
pub(super) mod names;
pub(super) mod repeated;
pub(super) mod samples;
pub(super) mod stack_lines;
pub(super) mod stacks;
pub(super) mod utf16;
pub(super) mod written;
