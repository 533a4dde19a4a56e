//! What answers have of Dyalog's `]PROFILE`: the titles of columns, and XML. Nothing else in
//! reports knows a profiler.

mod titles;
mod xml;

pub use titles::titles;
pub(super) use xml::write as write_xml;
