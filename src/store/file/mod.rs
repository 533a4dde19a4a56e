//! The file of a database: where it is, whose it is, how a new one gets its place, and who is
//! waited for.

pub(super) mod connection;
pub(super) mod disk_space;
pub(super) mod growing;
pub(super) mod location;
pub(super) mod lock_wait;
pub(super) mod new_file;
