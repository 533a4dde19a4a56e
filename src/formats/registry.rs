//! All formats that are read and written: one line each.

use super::export::Export;
use super::format::Format;

/// All formats, in the order in which they are listed. The order does not matter for recognising a
/// file.
pub const FORMATS: &[&Format] = &[
    &super::dyalog::dyalog_xml::read::FORMAT,
    &super::dyalog::dyalog_csv::read::FORMAT,
    &super::lispworks_tree::read::FORMAT,
    &super::sampler::read::FORMAT,
    &super::business_rules::read::FORMAT,
    &super::ghc::ghc_px::read::FORMAT,
    &super::ghc::ghc_prof::read::FORMAT,
    &super::ghc::ghc_json::read::FORMAT,
    &super::pprof::read::FORMAT,
    &super::callgrind::read::FORMAT,
    &super::folded::read::FORMAT,
    &super::folded::austin::read::FORMAT,
    &super::perf_script::read::FORMAT,
    &super::v8::cpuprofile::read::FORMAT,
    &super::v8::heapprofile::read::FORMAT,
    &super::speedscope::read::FORMAT,
    &super::chrome_trace::read::FORMAT,
    &super::firefox::read::FORMAT,
    &super::pstats::read::FORMAT,
    &super::gprof::read::FORMAT,
    &super::pyinstrument_json::read::FORMAT,
    &super::stackprof::read::FORMAT,
];

/// All formats that are written, in the order in which they are listed.
pub const EXPORTS: &[&Export] = &[
    &super::dyalog::dyalog_xml::write::EXPORT,
    &super::dyalog::dyalog_csv::write::EXPORT,
    &super::ghc::ghc_px::write::EXPORT,
    &super::lispworks_tree::write::EXPORT,
    &super::sampler::write::EXPORT,
    &super::business_rules::write::EXPORT,
    &super::folded::write::EXPORT,
    &super::callgrind::write::EXPORT,
    &super::pprof::write::EXPORT,
    &super::dot::write::EXPORT,
    &super::flamegraph::write::EXPORT,
    &super::speedscope::write::EXPORT,
    &super::firefox::write::EXPORT,
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
