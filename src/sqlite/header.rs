//! Fields of the database header, which is the beginning of the first page, by their offsets.
//!
//! Reference: SQLite, "Database File Format", section 1.3 (the database header).

/// Bytes of the header.
pub(crate) const LENGTH: usize = 100;

/// What every database begins with.
pub(crate) const MAGIC: &[u8] = b"SQLite format 3\0";

/// Size of a page, in two bytes.
pub(super) const PAGE_SIZE: usize = 16;

/// Whether the file has a log (WAL), for who writes and for who reads: two bytes.
pub(super) const WRITE_VERSION: usize = 18;

/// Bytes at the end of each page that are not for SQLite itself, in one byte.
pub(super) const RESERVED_BYTES: usize = 20;

/// Raised by every change of the file.
pub(super) const CHANGE_COUNTER: usize = 24;

/// How many pages the file has, if [`VERSION_VALID_FOR`] is equal to [`CHANGE_COUNTER`].
pub(super) const PAGE_COUNT: usize = 28;

/// Number of the first page of the freelist; 0 if it is empty.
pub(super) const FREELIST_TRUNK: usize = 32;

/// How many pages the freelist has.
pub(super) const FREELIST_COUNT: usize = 36;

/// The largest root page, in files that are vacuumed incrementally; else 0.
pub(super) const LARGEST_ROOT: usize = 52;

/// 1 for UTF-8.
pub(super) const TEXT_ENCODING: usize = 56;

/// `PRAGMA application_id`.
pub(crate) const APPLICATION_ID: usize = 68;

/// The change counter when [`PAGE_COUNT`] was written.
pub(super) const VERSION_VALID_FOR: usize = 92;
