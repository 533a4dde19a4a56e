//! What a command reads, of which its output must not take the place.

use std::fs;
use std::path::{Path, PathBuf};

use super::database::DatabaseArgs;
use super::draft::folder;
use super::failure::{Failure, complain};
use super::output::Target;
use super::source::{STDIN, is_profile};
use crate::formats::Format;

/// The databases, files and folders that a command reads.
pub(super) struct Inputs {
    databases: Vec<PathBuf>,
    files: Vec<PathBuf>,
    /// The format of files, where it is named.
    from: Option<&'static Format>,
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

    /// Refuses to write to any of them.
    ///
    /// # Errors
    /// When the file of a flag is one of them, under this name or another one; before anything is done.
    pub(super) fn are_spared(&self, flag: &str, target: &Target) -> Result<(), Failure> {
        for database in &self.databases {
            target.is_no_database(flag, database)?;
        }
        // Pipes and terminals lose nothing, and what is not there is not read.
        let Target::File(own) = target else {
            return Ok(());
        };
        if !own.is_file() {
            return Ok(());
        }
        for file in &self.files {
            if file.is_dir() {
                self.is_spared_below(file, flag, own)?;
            } else {
                target.is_not(flag, file, "a file that is read")?;
            }
        }
        Ok(())
    }

    /// Refuses to write to a profile below a folder that is read. Another file there, such as an answer of the time before, is
    /// passed over by what reads the folder.
    fn is_spared_below(&self, read: &Path, flag: &str, own: &Path) -> Result<(), Failure> {
        let places = [own, folder(own)].map(|path| fs::canonicalize(path).ok());
        let is_below = fs::canonicalize(read).is_ok_and(|read| {
            let mut places = places.iter().flatten();
            places.any(|place| place.starts_with(&read))
        });
        if is_below && is_profile(own, self.from) {
            let (name, read) = (own.display(), read.display());
            return Err(complain(
                format!(
                    "{flag}: {name} is a profile of the folder {read}, which is read: expected another file"
                ),
                Failure::Usage,
            ));
        }
        Ok(())
    }
}
