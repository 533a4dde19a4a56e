//! What others ask of the identities of a database: to make them anew, and by which rules they are made.

use super::database::Database;
use super::error::StoreError;
use super::identities::{Identified, digest, renew, rules};
use super::schema::migrate;
use crate::identity::Rules;

impl Database {
    /// Makes all identities anew from the names of functions, by other rules, which are in force from
    /// now on.
    ///
    /// # Errors
    /// When rules turn in a circle, or the database cannot be written: then nothing has changed.
    pub fn identify_functions(&mut self, rules: &Rules) -> Result<Identified, StoreError> {
        self.change(|transaction| {
            migrate(transaction)?;
            renew(transaction, rules)
        })
    }

    /// SHA-256 of the rules in force: identities of two databases can be compared if it is the same.
    /// `None` if the database has no rules.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn identity_digest(&self) -> Result<Option<[u8; 32]>, StoreError> {
        digest(&self.connection).map_err(|source| self.failed(source))
    }

    /// The rules in force.
    ///
    /// # Errors
    /// When the database cannot be read, or a rule in it is no regular expression.
    pub fn identity_rules(&self) -> Result<Rules, StoreError> {
        rules(&self.connection).map_err(|cause| self.failed(cause))
    }
}
