//! A run that is compared.

use std::path::Path;

use crate::store::{Database, RunInfo, Tag};

/// A run that is compared.
#[derive(Clone)]
pub struct ComparedRun<'d> {
    /// Where it is.
    pub database: &'d Database,
    /// The run.
    pub run: RunInfo,
    /// Its tags.
    pub tags: Vec<Tag>,
}

impl ComparedRun<'_> {
    /// What messages call it.
    #[must_use]
    pub fn said(&self) -> String {
        self.run.said()
    }

    /// What it is called: of a file its path as it was given, with the title that the file has. Several profilers give all their files
    /// one title.
    #[must_use]
    pub fn name(&self) -> String {
        let name = &self.run.name;
        match self.run.file.as_deref() {
            None | Some("-") => name.clone(),
            Some(file) if Path::new(file).ends_with(name) => file.to_owned(),
            Some(file) => format!("{file} ({name})"),
        }
    }

    /// What a report says of it, with the name of the file where its number says nothing and the report does not name it.
    pub(super) fn of(&self, message: &str) -> String {
        if self.is_numbered() || message.contains(&self.said()) {
            message.to_owned()
        } else {
            format!("{}: {message}", self.name())
        }
    }

    /// Whether it is a run of the user's database, whose number says something.
    #[must_use]
    pub fn is_numbered(&self) -> bool {
        self.run.file.is_none()
    }

    /// Whether both are one run.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        std::ptr::eq(self.database, other.database) && self.run.run_id == other.run.run_id
    }

    /// The value of a tag.
    #[must_use]
    pub fn tag(&self, key: &str) -> Option<&str> {
        let tag = self.tags.iter().find(|tag| tag.key == key)?;
        Some(&tag.value)
    }
}
