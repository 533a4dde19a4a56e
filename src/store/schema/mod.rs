//! The schema of a database: its tables and views, their versions, and comparing a file with them.

mod definition;
mod migrations;
mod objects;
mod upgrade;
mod views;

pub use definition::{APPLICATION_ID, SCHEMA, versions};
pub(super) use definition::{VERSION, stale_views, tables};
pub use migrations::{Migrations, SchemaState};
pub(super) use upgrade::{make, migrate, statements};
