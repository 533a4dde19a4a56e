//! Dyalog's `]PROFILE` as XML.

mod elements;
mod entry;
pub(in crate::formats) mod read;
pub(in crate::formats) mod write;
