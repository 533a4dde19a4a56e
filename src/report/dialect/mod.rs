//! Engines that read datasets, and how each of them has SQL (docs/design/0024-dataset.md).

mod engine;
mod rewrite;

pub use engine::Dialect;
pub use rewrite::spelled;
pub(super) use rewrite::spelled_with;
