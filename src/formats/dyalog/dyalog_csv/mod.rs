//! Dyalog's `]PROFILE` as CSV.

pub(in crate::formats) mod read;
pub(in crate::formats) mod write;
