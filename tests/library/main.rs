//! Facts about single modules, asserted by what the library and the program do.

mod answers;
mod budgets;
mod call_paths;
mod changed_trees;
mod command_words;
mod comparisons;
mod databases;
mod dataset_files;
mod dialects;
mod documents;
mod earlier_runs;
mod histories;
mod identity_rules;
mod merges;
mod page_columns;
mod report_headers;
mod run_identities;
mod run_sets;
mod series;
mod servers;
mod source_folders;
mod statements;
mod terminals;
mod web_questions;
mod written_trees;

#[path = "../support"]
mod support {
    pub(crate) mod described_runs;
    pub(crate) mod http;
    pub(crate) mod made_runs;
    pub(crate) mod program;
    pub(crate) mod random;
    #[expect(dead_code, reason = "one function is used")]
    pub(crate) mod tools;
}
