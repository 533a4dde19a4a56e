//! Identities: which functions are held to be one, whatever build, process or machine their names come
//! from.
//!
//! An identity depends on class, name, module and file of a function and on the rules, and on nothing
//! else: neither on the format of the profile nor on what else is stored. So equal functions have
//! equal identities in every database with the same rules, whatever was imported first
//! (docs/design/0017-identities.md).

mod built_in;
mod compiled;
mod rule;
mod rule_file;
mod rules;

pub use rule::{Field, Origin, Rule};
pub use rule_file::{Misread, RuleLine, read_rules, same_root};
pub use rules::{Refused, Rules, built_in_digest};

use std::borrow::Cow;

use sha2::{Digest, Sha256};

/// What an identity is of. A name can be a function in one format and no code of the program's in
/// another: that does not tell two identities apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// Functions, and what has cost and callers as they do.
    Code,
    /// What only holds nodes: threads, processes, parts.
    Container,
}

impl Class {
    /// The word of the database.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Container => "container",
        }
    }
}

/// What is left of a function when all is taken away that a build, a process or a machine has made up.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Identity<'f> {
    /// What it is of.
    pub class: Class,
    /// Its name; [`NO_NAME`] of code without one.
    pub name: Cow<'f, str>,
    /// Its module; empty if unknown, and of containers.
    pub module: Cow<'f, str>,
    /// Its source file; empty if unknown, of containers and of code without a name.
    pub file: Cow<'f, str>,
}

/// Name of the one identity that all nameless code of a module has.
pub const NO_NAME: &str = "(no name)";

/// Content hash of an identity: the same in every database with the same rules.
pub type IdentityKey = [u8; 16];

impl Identity<'_> {
    /// Whether this is code whose name is unknown: what all such code of a module costs is added up.
    #[must_use]
    pub fn is_unnamed(&self) -> bool {
        self.class == Class::Code && self.name == NO_NAME
    }

    /// The first 16 bytes of the SHA-256 of class, name, module and file, each after its length in
    /// bytes (32 bits, little-endian).
    #[must_use]
    pub fn key(&self) -> IdentityKey {
        let mut hash = Sha256::new();
        for part in [self.class.word(), &self.name, &self.module, &self.file] {
            hash_part(&mut hash, part);
        }
        let mut key = [0; 16];
        key.copy_from_slice(&hash.finalize()[..16]);
        key
    }
}

/// Adds a text to a hash, after its length: two texts cannot run together into one.
fn hash_part(hash: &mut Sha256, part: &str) {
    // No name is longer than what the format of its file allows, which is less than 4 GiB.
    hash.update(u32::try_from(part.len()).unwrap_or(u32::MAX).to_le_bytes());
    hash.update(part.as_bytes());
}
