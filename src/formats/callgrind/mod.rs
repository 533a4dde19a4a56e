//! Callgrind: functions, lines and calls, as valgrind, Xdebug and converters write them.

mod call_graph;
mod columns;
mod names;
mod oddities;
pub(in crate::formats) mod read;
mod words;
pub(in crate::formats) mod write;
mod xdebug;
