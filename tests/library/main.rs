//! Tests of the library's public functions.

mod migrations;
mod schema;
