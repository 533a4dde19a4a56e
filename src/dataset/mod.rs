//! Datasets: runs as folders of Parquet files that engines for many machines read (docs/design/0024-dataset.md).
//!
//! A dataset is a folder with a folder for each table, one for each day in that, and a file for each run in that. Rows are
//! known by hashes of what they are about, so that datasets of many machines are united by copying their files into one folder.

pub mod about;
#[cfg(feature = "parquet")]
mod buffer;
#[cfg(feature = "parquet")]
mod columns;
#[cfg(feature = "parquet")]
mod digits;
mod error;
#[cfg(feature = "parquet")]
mod functions;
#[cfg(feature = "parquet")]
mod made;
#[cfg(feature = "parquet")]
mod order;
#[cfg(feature = "parquet")]
mod pages;
pub mod place;
#[cfg(feature = "parquet")]
mod read;
mod tables;
mod views;
#[cfg(feature = "parquet")]
mod write;

pub use error::DatasetError;
#[cfg(feature = "parquet")]
pub use read::{EachFile, FilesOfTable, read};
pub use tables::{Column, Kind, Made, Rule, TABLES, Table, table};
pub use views::{VIEWS, views};
#[cfg(feature = "parquet")]
pub use write::RunRows;
