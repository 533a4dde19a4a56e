//! Business Rules! logs of traced calls.

pub(in crate::formats) mod read;
mod record;
mod stack_table;
mod windows_names;
pub(in crate::formats) mod write;
