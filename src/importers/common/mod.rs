//! What several formats share.

pub(super) mod apl_numbers;
pub(super) mod call_graph;
pub(super) mod call_tree;
pub(super) mod callgrind_names;
pub(super) mod callgrind_words;
pub(super) mod counted;
pub(super) mod demangle;
pub(super) mod dictionary;
pub(super) mod dyalog_entry;
pub(super) mod dyalog_rows;
pub(super) mod exit_order;
pub(super) mod exit_tree;
pub(super) mod firefox_tables;
pub(super) mod ghc;
pub(super) mod ghc_log;
pub(super) mod held;
pub(super) mod json;
pub(super) mod long_lines;
pub(super) mod marshal;
pub(super) mod names;
pub(super) mod perf_lines;
pub(super) mod pprof_tables;
pub(super) mod protobuf;
pub(super) mod repeated;
pub(super) mod stack_lines;
pub(super) mod v8;
