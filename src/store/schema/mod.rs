//! The schema of a database: tables and views as profdb makes them, and what a file has instead.

mod declared;
mod migrate;
mod migrations;
mod restate;
mod views;

pub(super) use declared::{foreign, tables};
pub(super) use migrate::{make, migrate, statements};
pub use migrations::{APPLICATION_ID, versions};
pub(super) use migrations::{MIGRATIONS, Migration, MigrationKind, VERSION};
pub(super) use views::stale_views;
