//! GNU gprof's reports.

pub(in crate::formats) mod read;
