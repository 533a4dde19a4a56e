//! What is known of a run besides its rows, and when two runs are one.

use std::collections::BTreeMap;
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension};
use sha2::{Digest, Sha256};

use crate::base::hex::hex;
use crate::events::Noise;
use crate::input::Fingerprint;
use crate::source::{Folder, SourceLines};

/// What is known of a run besides its rows.
#[derive(Clone, Debug)]
pub struct RunMeta {
    /// Name of the format.
    pub format: &'static str,
    /// Revision of the format's importer.
    pub revision: u32,
    /// Options of the format, as text.
    pub options: String,
    /// Name of the file, `-` for standard input.
    pub source_name: String,
    /// The file's bytes.
    pub fingerprint: Fingerprint,
    /// Replaces what the file calls itself.
    pub title: Option<String>,
    /// Tags, which the user gives to the run.
    pub tags: Vec<(String, String)>,
    /// What the user says that figures of metrics owe to chance: of this metric, or of all.
    pub noise: Vec<(Option<String>, Noise)>,
    /// Store the run also if it is there already.
    pub again: bool,
    /// Where the source of its lines is, to be stored as it is now.
    pub source: Option<Arc<dyn Folder>>,
    /// Which lines of it are stored.
    pub source_lines: SourceLines,
}

/// Hexadecimal digits of a uid. 128 bits are enough for every run there will ever be.
pub const LONGEST_UID: usize = 32;

impl RunMeta {
    /// The run's identity: equal uid, equal rows. `repeat` counts the times that it was stored
    /// again.
    #[must_use]
    pub fn uid(&self, repeat: u32) -> String {
        let content = self.content_hash(repeat);
        let said = self.said_hash(&content);
        hex(&said.unwrap_or(content)[..LONGEST_UID / 2])
    }

    /// Hash of the content and of how it is read.
    fn content_hash(&self, repeat: u32) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(self.fingerprint.sha256);
        hash.update(format!(
            "\n{}\n{}\n{repeat}\n{}",
            self.format, self.revision, self.options
        ));
        hash.finalize().into()
    }

    /// What the user says of a metric: the last that is for it.
    pub(super) fn noise_of(&self, metric: &str) -> Option<Noise> {
        let is_for_it = |(name, _): &&(Option<String>, Noise)| {
            name.as_deref().is_none_or(|name| name == metric)
        };
        self.noise
            .iter()
            .rev()
            .find(is_for_it)
            .map(|(_, noise)| *noise)
    }

    /// Hash of the content, the title, the tags and the noise; `None` if none of the last three was
    /// given, so that the identity is then that of the content alone.
    fn said_hash(&self, content: &[u8; 32]) -> Option<[u8; 32]> {
        let tags = self.stored_tags();
        if self.title.is_none() && tags.is_empty() && self.noise.is_empty() {
            return None;
        }
        let mut hash = Sha256::new();
        hash.update(content);
        // Every text comes with its length: else two sets of tags could run together into equal
        // bytes. The byte before the title, which is no line feed, sets this apart from content.
        let mut text = |text: &str| {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        };
        match &self.title {
            None => text("-"),
            Some(title) => {
                text("+");
                text(title);
            }
        }
        for (key, value) in tags {
            text(key);
            text(value);
        }
        for (metric, noise) in &self.noise {
            // No tag has an empty key.
            text("");
            text(metric.as_deref().unwrap_or_default());
            text(noise.name());
        }
        Some(hash.finalize().into())
    }

    /// The tags that are stored, in the order of their keys: of several values of a key, the last.
    pub(super) fn stored_tags(&self) -> BTreeMap<&str, &str> {
        self.tags
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
            .collect()
    }

    /// The run that is equal to this one, if there is one; and how often it has been stored, itself and others whose tags
    /// were changed since: those that have lost a tag of this one are no longer equal, and have the identities that come
    /// first.
    pub(super) fn equal_run(
        &self,
        connection: &Connection,
    ) -> rusqlite::Result<(Option<i64>, u32)> {
        let wanted = self.stored_tags();
        let mut repeat = 0;
        while let Some(there) = self.stored(connection, repeat)? {
            // Tags that it has got besides make no other run of it.
            let tags: BTreeMap<String, String> = tags(connection, there)?.into_iter().collect();
            let has = |(key, value): (&&str, &&str)| tags.get(*key).is_some_and(|own| own == value);
            if wanted.iter().all(has) {
                return Ok((Some(there), repeat));
            }
            repeat += 1;
        }
        Ok((None, repeat))
    }

    /// The run that is equal to this one and was stored again `repeat` times before. Earlier
    /// versions did not count title and tags to the identity, so they are compared with those of a
    /// run that has the identity of the content alone.
    pub(super) fn stored(
        &self,
        connection: &Connection,
        repeat: u32,
    ) -> rusqlite::Result<Option<i64>> {
        let there = run_with_uid(connection, &self.uid(repeat))?;
        // Without title and tags the uid is that of the content alone: there is no other one to
        // look for.
        if there.is_some()
            || (self.title.is_none() && self.tags.is_empty())
            || !self.noise.is_empty()
        {
            return Ok(there);
        }
        let Some(older) = run_with_uid(connection, &hex(&self.content_hash(repeat)[..16]))? else {
            return Ok(None);
        };
        let (title, tags) = (title(connection, older)?, tags(connection, older)?);
        let is_same = (self.title.is_none() || self.title == title)
            && tags
                .iter()
                .map(|(key, value)| (key.as_str(), value.as_str()))
                .eq(self.stored_tags());
        Ok(is_same.then_some(older))
    }
}

/// The run with this uid.
pub(super) fn run_with_uid(connection: &Connection, uid: &str) -> rusqlite::Result<Option<i64>> {
    let sql = "SELECT run_id FROM runs WHERE run_uid = ?1";
    connection
        .query_row(sql, [uid], |row| row.get(0))
        .optional()
}

/// The title of a run, if it has one.
pub(super) fn title(connection: &Connection, run: i64) -> rusqlite::Result<Option<String>> {
    connection.query_row("SELECT title FROM runs WHERE run_id = ?1", [run], |row| {
        row.get(0)
    })
}

/// The tags of a run, in the order of their keys.
pub(super) fn tags(connection: &Connection, run: i64) -> rusqlite::Result<Vec<(String, String)>> {
    let mut statement = connection
        .prepare_cached("SELECT key, value FROM run_tags WHERE run_id = ?1 ORDER BY key")?;
    statement
        .query_map([run], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}
