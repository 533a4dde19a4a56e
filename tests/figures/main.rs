//! Figures, computed a second way: by other programs, by sums over the file, by models that share
//! no code with ours.

#![expect(clippy::disallowed_methods, reason = "small files of our own")]

#[macro_use]
extern crate profdb_test_attribute;

mod across;
mod at_hand;
mod austin;
mod business_rules;
mod callgrind;
mod callgrind_writers;
mod chrome_trace;
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
mod firefox;
mod flame_graphs;
mod flame_graphs_shown;
mod folded;
mod gate;
mod ghc;
mod ghc_px;
mod gprof;
mod history_steps;
mod large_sums;
mod lispworks_tree;
mod made_up;
mod noise;
mod peers;
mod perf_script;
mod pprof;
mod pstats;
mod pyinstrument_json;
mod questions;
mod rebuilds;
mod reports;
mod sampler;
mod samples;
mod sbcl;
mod selection;
mod speedscope;
mod stackprof;
mod statistics;
mod steps;
mod tree;
mod v8;

#[path = "../support"]
mod support {
    pub(crate) mod answers;
    pub(crate) mod browser;
    #[expect(dead_code, reason = "most of it is for tests that run cases")]
    pub(crate) mod case_files;
    pub(crate) mod harness;
    #[expect(dead_code, reason = "most of it is for other tests")]
    pub(crate) mod long;
    pub(crate) mod made_runs;
    pub(crate) mod model;
    pub(crate) mod mutate;
    pub(crate) mod perf_report;
    pub(crate) mod places;
    pub(crate) mod program;
    #[expect(dead_code, reason = "most of it makes profiles")]
    pub(crate) mod protobuf;
    pub(crate) mod random;
    pub(crate) mod report_model;
    pub(crate) mod samples_of;
    pub(crate) mod selection_model;
    pub(crate) mod selection_replies;
    pub(crate) mod selection_runs;
    pub(crate) mod skipped;
    pub(crate) mod stack_sums;
    pub(crate) mod streams;
    #[expect(dead_code, reason = "each program needs a part of it")]
    pub(crate) mod tools;
}

fn main() -> std::process::ExitCode {
    support::harness::run(env!("CARGO_CRATE_NAME"), Vec::new())
}
