//! Business Rules! logs of traced calls.

pub(in crate::formats) mod read;
mod stack_table;
