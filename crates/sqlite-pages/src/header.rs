//! Fields of the database header, which is the beginning of the first page, by their offsets.
//!
//! Reference: SQLite, "Database File Format", section 1.3 (the database header).

/// Size of the header in bytes.
pub(crate) const LENGTH: usize = 100;

/// The bytes at the beginning of every database.
pub const MAGIC: &[u8] = b"SQLite format 3\0";

/// Size of a page, in two bytes.
pub(crate) const PAGE_SIZE: usize = 16;

/// Whether the file has a log (WAL), for who writes and for who reads: two bytes.
pub(crate) const WRITE_VERSION: usize = 18;

/// Bytes at the end of each page that are not for SQLite itself, in one byte.
pub(crate) const RESERVED_BYTES: usize = 20;

/// Raised by every change of the file.
pub(crate) const CHANGE_COUNTER: usize = 24;

/// How many pages the file has, if [`VERSION_VALID_FOR`] is equal to [`CHANGE_COUNTER`].
pub(crate) const PAGE_COUNT: usize = 28;

/// Number of the first page of the freelist; 0 if it is empty.
pub(crate) const FREELIST_TRUNK: usize = 32;

/// How many pages the freelist has.
pub(crate) const FREELIST_COUNT: usize = 36;

/// The largest root page, in files that are vacuumed incrementally; else 0.
pub(crate) const LARGEST_ROOT: usize = 52;

/// 1 for UTF-8.
pub(crate) const TEXT_ENCODING: usize = 56;

/// Offset of the number that `PRAGMA application_id` sets: four bytes.
pub const APPLICATION_ID: usize = 68;

/// The change counter when [`PAGE_COUNT`] was written.
pub(crate) const VERSION_VALID_FOR: usize = 92;
