//! Copies the pages of a file over those of a database, as far as they differ.
//!
//! Reference: SQLite, "Database File Format", section 1.3 (header).

use std::fs::File;
use std::io;

use crate::database::{ChangeError, ChangeResult, DatabasePages};
use crate::header;
use crate::page_file::{PageReader, lock_byte_page};

/// Fields of the header that say how and how often the file is written to, not what is in it: each
/// stays as it is.
const KEPT: [std::ops::Range<usize>; 3] = [
    header::WRITE_VERSION..header::WRITE_VERSION + 2,
    header::CHANGE_COUNTER..header::CHANGE_COUNTER + 4,
    header::VERSION_VALID_FOR..header::VERSION_VALID_FOR + 4,
];

/// Replaces the pages of a database, except the first, by those of `source`.
///
/// The page sizes must be equal, and `source` must not have more pages than the database. Pages of the database after the last one of
/// `source` stay. The function calls `each` before every page, and stops at its first error.
///
/// Returns the content for the first page, and the number of pages of `source`. The caller writes the first page last: it has the
/// header, which declares the number of pages.
pub fn copy_over<P: DatabasePages>(
    pages: &mut P,
    source: &File,
    page_size: u16,
    mut each: impl FnMut() -> io::Result<()>,
) -> ChangeResult<(Vec<u8>, u32), P> {
    let page_size = usize::from(page_size);
    let count = source.metadata()?.len() / page_size as u64;
    let count = u32::try_from(count).map_err(|_| ChangeError::Full)?;
    let mut reader = PageReader::new(source, page_size);
    for number in (2..=count).chain([1]) {
        if u64::from(number) == lock_byte_page(page_size) {
            continue;
        }
        each()?;
        let mut page = match reader.page(number)? {
            Some(page) => page.to_vec(),
            None => return Err(ChangeError::Damaged),
        };
        let before = pages.read(number).map_err(ChangeError::Database)?;
        let before = before.filter(|before| before.len() == page_size);
        let before = before.ok_or(ChangeError::Damaged)?;
        if number == 1 {
            for field in KEPT {
                page[field.clone()].copy_from_slice(&before[field]);
            }
            return Ok((page, count));
        }
        if page != before {
            let written = pages.write(number, &page);
            written.map_err(ChangeError::Database)?;
        }
    }
    Err(ChangeError::Damaged)
}
