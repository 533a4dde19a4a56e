//! The schema of a database: its tables and views, their versions, and comparing a file with them.

mod definition;
mod migrations;
mod objects;
mod views;

pub use definition::{APPLICATION_ID, SCHEMA, versions};
pub(super) use definition::{VERSION, make, migrate, stale_views, statements, tables};
pub use migrations::{Migrations, SchemaState};
