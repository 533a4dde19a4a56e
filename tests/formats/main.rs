//! Figures of real recordings of each format, compared with the report of the profiler or a sum over the file.

#![expect(clippy::disallowed_methods, reason = "small files of our own")]

#[macro_use]
extern crate profdb_test_attribute;

mod austin;
mod business_rules;
mod callgrind;
mod callgrind_writers;
mod chrome_trace;
mod dyalog;
mod firefox;
mod folded;
mod ghc;
mod ghc_px;
mod gprof;
mod lispworks_tree;
mod perf_script;
mod pprof;
mod pstats;
mod pyinstrument_json;
mod sampler;
mod speedscope;
mod stackprof;
mod v8;

#[path = "../support"]
#[expect(dead_code, reason = "each program needs a part of it")]
mod support {
    pub(crate) mod case_files;
    pub(crate) mod harness;
    pub(crate) mod perf_report;
    pub(crate) mod program;
    pub(crate) mod samples_of;
    pub(crate) mod skipped;
    pub(crate) mod stack_sums;
    pub(crate) mod tools;
}

fn main() -> std::process::ExitCode {
    support::harness::run(env!("CARGO_CRATE_NAME"), Vec::new)
}
