//! What the program does to files, disks, other programs and strange inputs.

#[macro_use]
extern crate profdb_test_attribute;

mod all_metrics;
mod builds;
mod checks;
mod compact;
mod comparing;
mod comparing_shown;
mod completions;
mod concurrency;
mod corpus;
mod crashes;
mod datasets;
mod datasets_in_use;
mod doubts;
mod endings;
mod examples;
mod files;
mod first_hour;
mod folders;
mod function;
mod gate;
mod gate_formats;
mod git;
mod groups;
mod growth;
mod history;
mod hostile;
mod hostile_databases;
mod identities;
mod labels;
mod limits;
mod long_files;
mod merge;
mod output;
mod pager;
mod pages;
mod paths;
mod recipes;
mod renamed;
mod replaced;
mod runs;
mod series_folders;
mod serve;
mod shell;
mod show_sql;
mod sources;
mod spills;
mod steps_filtered;
mod strangers;
mod streams;
mod system;
mod temporary;
mod versions;
mod writers;

#[path = "../support"]
#[expect(dead_code, reason = "each program needs a part of it")]
mod support {
    #[expect(
        unsafe_code,
        reason = "an allocator that counts can be written in no other way"
    )]
    pub(crate) mod allocation;
    pub(crate) mod built;
    pub(crate) mod case_files;
    pub(crate) mod disk;
    pub(crate) mod faults;
    pub(crate) mod fuzzing;
    pub(crate) mod growth;
    pub(crate) mod harness;
    pub(crate) mod kept;
    pub(crate) mod long;
    pub(crate) mod made_runs;
    pub(crate) mod mutate;
    pub(crate) mod program;
    pub(crate) mod protobuf;
    pub(crate) mod random;
    pub(crate) mod skipped;
    pub(crate) mod tools;
}

fn main() -> std::process::ExitCode {
    #[cfg(unix)]
    let trials = recipes::trials;
    #[cfg(not(unix))]
    let trials = Vec::new;
    support::harness::run(env!("CARGO_CRATE_NAME"), trials)
}
