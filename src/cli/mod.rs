//! The command line: the only code that prints, reads the environment and opens the files of the
//! user.
//!
//! Data go to standard output, everything else to standard error. Every function here reports what
//! went wrong itself and hands up only which [`Failure`] it was.

mod args;
mod check;
mod compact;
mod complete;
mod completions;
mod convert;
mod database;
#[cfg(feature = "parquet")]
mod dataset;
mod delete;
mod diff;
mod diff_tree;
mod draft;
mod dump;
mod dyalog_switches;
mod export;
mod extent;
mod failure;
mod filters;
mod first_word;
mod folder;
mod formats;
mod gate;
mod git;
mod git_program;
mod heard;
mod help;
mod history;
mod identify;
mod import;
mod inputs;
mod known;
mod man;
mod merge;
mod options;
mod other_flags;
mod outfile_name;
mod output;
mod page;
mod pager;
mod parsers;
mod path_tags;
mod program;
mod progress;
mod report;
mod runs;
mod schema;
#[cfg(feature = "parquet")]
mod scratch;
mod screen;
mod serve;
mod shell_words;
mod show;
mod sides;
mod source;
mod sql;
mod state;
mod steps;
mod strays;
mod streams;
mod tag;
mod walk;

pub use failure::{Failure, say_interrupted};
pub use pager::is_running as is_paging;
pub use program::{program, run};
#[cfg(unix)]
pub use streams::look as look_at_streams;

/// Removes what would be left of an output if the program ended now.
pub fn leave_nothing() {
    draft::remove_all();
}
