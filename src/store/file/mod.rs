//! The file of a database: where it is, which file that is, how a new one gets its place, and how
//! long a lock is waited for.

pub(super) mod connection;
pub(super) mod disk_space;
pub(super) mod empty;
pub(super) mod growing;
pub(super) mod identity;
pub(super) mod location;
pub(super) mod lock_wait;
pub(super) mod logs;
pub(super) mod new_file;
pub(super) mod open_files;
