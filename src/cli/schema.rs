//! `profdb schema`

use super::failure::{Failure, output};
use std::io::{self, Write};

/// Made from the comments in the database itself; tests/house/docs/mod.rs keeps it so.
const SCHEMA: &str = include_str!("../../docs/schema.md");

pub(super) fn run() -> Result<(), Failure> {
    io::stdout()
        .lock()
        .write_all(SCHEMA.as_bytes())
        .map_err(output)
}
