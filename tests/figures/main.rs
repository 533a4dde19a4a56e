//! Figures, computed a second way: by other programs, by sums over the file, by models that share
//! no code with ours.

#![expect(clippy::disallowed_methods, reason = "small files of our own")]

#[macro_use]
extern crate profdb_test_attribute;

mod across;
mod at_hand;
mod comparison;
mod comparison_counts;
mod comparison_folders;
mod comparison_groups;
mod comparison_properties;
mod comparison_shifts;
mod consumers;
mod database_readers;
mod datasets;
mod differences;
mod edges;
mod exit_order;
mod fidelity;
mod flame_graphs;
mod flame_graphs_shown;
mod gate;
mod history_steps;
mod large_sums;
mod made_up;
mod noise;
mod normalization;
mod peers;
mod questions;
mod rebuilds;
mod reports;
mod sbcl;
mod selection;
mod statistics;
mod steps;
mod tree;

#[path = "../support"]
#[expect(dead_code, reason = "each program needs a part of it")]
mod support {
    pub(crate) mod answers;
    pub(crate) mod browser;
    pub(crate) mod case_files;
    pub(crate) mod harness;
    pub(crate) mod long;
    pub(crate) mod made_runs;
    pub(crate) mod model;
    pub(crate) mod mutate;
    pub(crate) mod places;
    pub(crate) mod program;
    pub(crate) mod protobuf;
    pub(crate) mod random;
    pub(crate) mod report_model;
    pub(crate) mod samples_of;
    pub(crate) mod selection_model;
    pub(crate) mod selection_replies;
    pub(crate) mod selection_runs;
    pub(crate) mod skipped;
    pub(crate) mod streams;
    pub(crate) mod tools;
}

fn main() -> std::process::ExitCode {
    let code = support::harness::run(env!("CARGO_CRATE_NAME"), Vec::new);
    support::browser::end_all();
    code
}
