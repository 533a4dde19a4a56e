//! How numbers, names and tables look in text: what importers, writers and reports have in common.

pub(crate) mod cell;
pub(crate) mod colour;
pub(crate) mod compiled_names;
pub(crate) mod csv;
pub(crate) mod dates;
pub(crate) mod dyalog_files;
pub(crate) mod escape;
pub(crate) mod json;
pub mod judged;
pub(crate) mod markdown;
pub(crate) mod nearest;
pub(crate) mod number;
pub(crate) mod placed;
pub(crate) mod plain;
pub(crate) mod scale;
pub mod separators;
pub(crate) mod shell;
pub(crate) mod xml;
