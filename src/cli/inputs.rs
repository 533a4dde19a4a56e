//! What a command reads, of which its output must not take the place.

use std::path::{Path, PathBuf};

use super::database::DatabaseArgs;
use crate::formats::Format;

/// Standard input, as the name of a file.
pub(super) const STDIN: &str = "-";

/// The databases, files and folders that a command reads.
pub(super) struct Inputs {
    pub(super) databases: Vec<PathBuf>,
    pub(super) files: Vec<PathBuf>,
    /// The format of files, where it is named.
    pub(super) from: Option<&'static Format>,
}

impl Inputs {
    /// A database and nothing else.
    pub(super) fn of(database: &DatabaseArgs) -> Self {
        Self {
            databases: vec![database.path()],
            files: Vec::new(),
            from: None,
        }
    }

    /// Another database with these.
    pub(super) fn with_database(mut self, database: &Path) -> Self {
        self.databases.push(database.to_owned());
        self
    }

    /// Files and folders of files with these, of a format if one is named.
    pub(super) fn with_files<'f>(
        mut self,
        files: impl IntoIterator<Item = &'f Path>,
        from: Option<&'static Format>,
    ) -> Self {
        let files = files.into_iter().filter(|file| *file != Path::new(STDIN));
        self.files.extend(files.map(Path::to_owned));
        self.from = self.from.or(from);
        self
    }
}
