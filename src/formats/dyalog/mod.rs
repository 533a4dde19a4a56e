//! Dyalog APL's `]PROFILE`: tables of calls and lines.

mod apl_numbers;
pub(in crate::formats) mod dyalog_csv;
pub(in crate::formats) mod dyalog_xml;
mod headings;
mod row;
mod rows;
mod table;
