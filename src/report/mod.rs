//! Reports: one SELECT each, with a header that says what it is, what it may be asked with and what
//! its columns mean. Flags, help and documents are made from the header.

mod answer;
mod ask;
mod catalog;
mod error;
pub mod header;
mod names;
mod nodes;
mod oracle;
pub mod path;
mod plain_sql;
mod question;
pub mod render;
mod scope;
mod script;
mod selection;

pub use crate::text::cell::Value;
pub use answer::{Answer, Callers, Pruned, Subject};
pub use ask::ask;
pub(crate) use ask::choose_metric;
pub use catalog::{REPORTS, Report, by_name};
pub use error::ReportError;
#[doc(hidden)]
pub use oracle::compare_nodes;
pub use path::NameSyntax;
pub use plain_sql::{list, query};
pub use question::{Argument, Base, Request};
