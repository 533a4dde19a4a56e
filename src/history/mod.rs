//! What runs of one program tell over time: which runs are one series, and in which order they come.

pub mod series;

pub use series::{Order, Position, Series, series};
