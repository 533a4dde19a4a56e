//! What answers have of Dyalog's `]PROFILE`: the titles of columns, and XML. Nothing else in
//! reports knows a profiler.

mod old_data;
mod titles;
mod xml;

pub(super) use old_data::{order_columns, title_columns};
pub use titles::titles;
pub(super) use xml::write as write_xml;
