//! pyinstrument's JSON.

pub(in crate::formats) mod read;
