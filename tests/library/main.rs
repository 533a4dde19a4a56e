//! Facts about single modules, asserted through the library and the program.

#[macro_use]
extern crate profdb_test_attribute;

mod answers;
mod budgets;
mod call_paths;
mod call_tree;
mod changed_trees;
mod combined_runs;
mod command_words;
mod comparisons;
mod databases;
mod dataset_files;
mod datasets;
mod dates;
mod dialects;
mod documents;
mod dyalog;
mod earlier_runs;
mod events;
mod exports;
mod first_rows;
mod folded;
mod ghc;
mod histories;
mod identity_rules;
mod input;
mod json;
mod lisp;
mod merges;
mod migrations;
mod names;
mod page_columns;
mod perf_script;
mod profile;
mod report_headers;
mod run_identities;
mod run_sets;
mod schema;
mod series;
mod servers;
mod shutdown;
mod source_folders;
mod sources;
mod speedscope;
mod spellings;
mod statements;
mod tables;
mod temporary_files;
mod terminals;
mod web_questions;
mod written_trees;
mod zero_costs;

#[path = "../support"]
#[expect(dead_code, reason = "each program needs a part of it")]
mod support {
    #[expect(
        unsafe_code,
        reason = "an allocator that counts can be written in no other way"
    )]
    pub(crate) mod allocation;
    pub(crate) mod case_files;
    pub(crate) mod described_runs;
    pub(crate) mod harness;
    pub(crate) mod http;
    pub(crate) mod imports;
    pub(crate) mod made_runs;
    pub(crate) mod markdown_rows;
    pub(crate) mod program;
    pub(crate) mod protobuf;
    pub(crate) mod protobuf_reader;
    pub(crate) mod random;
    pub(crate) mod skipped;
    pub(crate) mod tools;
}

fn main() -> std::process::ExitCode {
    support::harness::run(env!("CARGO_CRATE_NAME"), Vec::new)
}
