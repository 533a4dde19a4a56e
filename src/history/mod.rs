//! What runs of one program tell over time: which runs are one series, in which order they come, and what functions cost from
//! run to run.

mod aliases;
mod answer;
mod normalize;
pub mod reading;
pub mod series;
mod sparkline;
pub mod steps;

pub use answer::{History, answer, history};
pub use normalize::{Divisors, divisors};
pub use reading::HistoryError;
pub use series::{Position, Series, series};
