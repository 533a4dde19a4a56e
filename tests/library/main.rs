//! Facts about single modules, asserted by what the library and the program do.

mod call_tree;
mod datasets;
mod dates;
mod dyalog;
mod events;
mod exports;
mod folded;
mod ghc;
mod input;
mod json;
mod lisp;
mod names;
mod perf_script;
mod profile;
mod shutdown;
mod sources;
mod speedscope;
mod tables;
mod temporary_files;

#[path = "../support"]
mod support {
    #[expect(
        dead_code,
        unsafe_code,
        reason = "an allocator that counts is unsafe, and this program does not use all counts"
    )]
    pub(crate) mod allocation;
    pub(crate) mod imports;
    pub(crate) mod made_runs;
    pub(crate) mod program;
    pub(crate) mod protobuf;
    pub(crate) mod protobuf_reader;
}
