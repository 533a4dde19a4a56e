//! Reports: one SELECT each, with a header that says what it is, what it may be asked with and what
//! its columns mean. Flags, help and documents are made from the header.

mod all_metrics;
mod answer;
mod ask;
mod catalog;
mod computed;
mod dialect;
mod error;
pub mod header;
mod kept_rows;
mod labels;
mod names;
mod node_rows;
mod nodes;
mod one_by_one;
pub mod path;
mod placed_texts;
mod plain_sql;
mod plan;
mod question;
pub mod render;
mod run_list;

mod selection;
pub(crate) mod several;
mod spellings;
mod statement;
mod template;

pub use crate::text::cell::Value;
pub use all_metrics::ALL_METRICS;
pub use answer::{Answer, Callers, Heading, Measure, Pruned, Subject};
pub use ask::ask;
pub use catalog::{REPORTS, Report, by_name};
pub use dialect::{Dialect, spelled};
pub use error::ReportError;
pub(crate) use labels::labels_from;
pub(crate) use names::{groups_instead, some_threads, thread};
pub use path::{NameSyntax, Path};
pub use plain_sql::{compared, compared_one_by_one, query, table};
pub use question::{ALL_LINES, Argument, Base, Request, shows_code};
pub(crate) use question::{choose_metric, regular_expression};
pub use run_list::{Reader, run_list};
pub(crate) use spellings::{SpelledInRuns, label_among};
pub use template::{Shape, Template, template};
