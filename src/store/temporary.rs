//! A database that ends with the program, for one run that is asked about and not stored: in memory, or,
//! when the run turns out to be long, in a file without a name (docs/design/measured-choices.md).

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use super::database::Database;
use super::error::{Cause, StoreError};
use super::file::growing::Growing;

/// What the file is called while it has a name, between a full stop and random letters.
const NAME: &str = "profdb";

impl Database {
    /// A database for one run, which ends with the program. A short run stays in memory; rows of a
    /// long one go into a file in `folder`, which loses its name before it has a byte.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn temporary(folder: &Path) -> Result<Self, StoreError> {
        Ok(Self {
            temporary: Some(folder.join(NAME)),
            ..Self::in_memory()?
        })
    }

    /// Goes on in a file, if this is a database in memory that may, and has no run. No transaction is
    /// open. Returns the file, whose large tables are empty and have no page in SQLite's memory.
    ///
    /// # Errors
    /// When no such file can be made.
    pub(super) fn leave_memory(&mut self) -> Result<Option<File>, StoreError> {
        let file = self.make_file().map_err(|cause| self.failed(cause))?;
        if file.is_some() {
            self.heed(self.stop().clone())?;
        }
        Ok(file)
    }

    fn make_file(&mut self) -> Result<Option<File>, Cause> {
        let is_in_memory = self.connection.path().is_none_or(str::is_empty);
        let Some(place) = self.temporary.as_mut().filter(|_| is_in_memory) else {
            return Ok(None);
        };
        let sql = "SELECT EXISTS (SELECT 1 FROM runs)";
        if !cfg!(unix) || self.connection.query_row(sql, [], |row| row.get(0))? {
            return Ok(None);
        }
        // What goes wrong from here on is said of the folder.
        self.path = place.parent().map(Path::to_owned).unwrap_or_default();
        // SQLite opens no file by a path with links.
        *place = fs::canonicalize(&self.path)?.join(NAME);
        let growing = Growing::private(place)?;
        let connection = growing.open()?;
        // From here on, the file ends with the program.
        growing.remove_own();
        let mut file = growing.file()?;
        file.write_all(&self.connection.serialize("main")?)?;
        // The file is lost anyway when the program dies, so nothing of it need reach the disk.
        connection.pragma_update(None, "journal_mode", "MEMORY")?;
        connection.pragma_update(None, "synchronous", "OFF")?;
        self.connection = connection;
        Ok(Some(file))
    }
}
