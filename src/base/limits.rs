//! Limits that the system sets a program: memory, open files, sizes of files, threads. A program that
//! meets one ends with a message, and with the exit code that ARCHITECTURE.md has for it.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

/// The message when there is no more memory.
pub const NO_MEMORY: &str = "out of memory";

// Global, because the allocator sets it (src/memory.rs), which is handed no `Stop`.
static MEMORY: AtomicBool = AtomicBool::new(false);

/// Says that there is hardly any memory left. All work stops where an interrupt would stop it.
pub fn memory_runs_out() {
    MEMORY.store(true, Ordering::Relaxed);
}

/// Whether there is hardly any memory left.
#[must_use]
pub fn is_memory_out() -> bool {
    MEMORY.load(Ordering::Relaxed)
}

/// Whether the first thread of a program may have a stack of so many bytes (`ulimit -s`).
#[cfg(unix)]
#[must_use]
pub fn has_stack(bytes: u64) -> bool {
    use rustix::process::{Resource, getrlimit};
    let limit = getrlimit(Resource::Stack).current;
    limit.is_none_or(|limit| limit >= bytes)
}

/// Whether the first thread of a program may have a stack of so many bytes: unknown here.
#[cfg(not(unix))]
#[must_use]
pub fn has_stack(_: u64) -> bool {
    false
}

/// Whether an error is a limit of this program rather than a fault of the file.
#[must_use]
pub fn is_limit(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::FileTooLarge | io::ErrorKind::OutOfMemory
    ) || is_files(error)
}

/// Whether too many files are open.
#[cfg(unix)]
fn is_files(error: &io::Error) -> bool {
    use rustix::io::Errno;
    [Errno::MFILE, Errno::NFILE]
        .map(Errno::raw_os_error)
        .map(Some)
        .contains(&error.raw_os_error())
}

#[cfg(not(unix))]
fn is_files(_: &io::Error) -> bool {
    false
}

/// Whether a write has failed at the largest size of a file.
static FILE_SIZE: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Lets a write beyond the largest size of a file (`ulimit -f`) fail, as other limits do: the
/// system would end the program.
pub fn heed_file_size() {
    // Without it, the program ends as the system has it.
    #[cfg(unix)]
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::clone(&FILE_SIZE));
}

/// Whether a write has failed at the largest size of a file.
#[must_use]
pub fn is_file_too_large() -> bool {
    FILE_SIZE.load(Ordering::Relaxed)
}
