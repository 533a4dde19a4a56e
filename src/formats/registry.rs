//! All formats that are read and written: one line each.

use super::export::Export;
use super::format::Format;
use super::{
    austin, business_rules, callgrind, chrome_trace, dot, dyalog, firefox, flamegraph, folded, ghc,
    gprof, lispworks_tree, perf_script, pprof, pstats, sampler, speedscope, v8,
};

/// All formats, in the order in which they are listed. The order does not matter for recognising a
/// file.
pub const FORMATS: &[&Format] = &[
    &dyalog::dyalog_xml::read::FORMAT,
    &dyalog::dyalog_csv::read::FORMAT,
    &lispworks_tree::read::FORMAT,
    &sampler::read::FORMAT,
    &business_rules::read::FORMAT,
    &ghc::ghc_px::read::FORMAT,
    &ghc::ghc_prof::read::FORMAT,
    &ghc::ghc_json::read::FORMAT,
    &pprof::read::FORMAT,
    &callgrind::read::FORMAT,
    &folded::read::FORMAT,
    &austin::read::FORMAT,
    &perf_script::read::FORMAT,
    &v8::cpuprofile::read::FORMAT,
    &v8::heapprofile::read::FORMAT,
    &speedscope::read::FORMAT,
    &chrome_trace::read::FORMAT,
    &firefox::read::FORMAT,
    &pstats::read::FORMAT,
    &gprof::read::FORMAT,
];

/// All formats that are written, in the order in which they are listed.
pub const EXPORTS: &[&Export] = &[
    &dyalog::dyalog_xml::write::EXPORT,
    &dyalog::dyalog_csv::write::EXPORT,
    &ghc::ghc_px::write::EXPORT,
    &lispworks_tree::write::EXPORT,
    &sampler::write::EXPORT,
    &folded::write::EXPORT,
    &callgrind::write::EXPORT,
    &pprof::write::EXPORT,
    &dot::write::EXPORT,
    &flamegraph::write::EXPORT,
    &speedscope::write::EXPORT,
    &firefox::write::EXPORT,
];

/// Finds a format that is read by its name.
#[must_use]
pub fn format_named(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name).copied()
}

/// Finds a format that is written by its name.
#[must_use]
pub fn export_named(name: &str) -> Option<&'static Export> {
    EXPORTS.iter().find(|export| export.name == name).copied()
}
