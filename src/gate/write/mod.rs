//! What a gate says, for people and for the programs that run builds.

mod github;
mod json;
mod junit;
mod markdown;
mod phrases;
mod text;
mod told;

pub use github::github;
pub use json::json;
pub use junit::junit;
pub use markdown::markdown;
pub use text::text;
pub use told::Told;
