//! The allocator: the system's, with some memory kept back. When the system gives no more, the
//! program gets that and is asked to stop, so that it ends in order, with a message and an exit
//! code. When that is used up, too, it ends at once.
//!
//! Memory that is given back is given back to the system, where glibc would keep it ([`give_back`]).
//!
//! Rust offers no other way: without memory it aborts (134 in a shell), and what is called then
//! cannot be changed in stable Rust. tests/behaviour/system.rs tries programs with little memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, Ordering};

use profdb::base::limits;
use profdb::cli;

/// What is kept back: enough for what lies between two looks at whether to stop. It is address
/// space; no one writes to it.
const RESERVE: Layout = Layout::new::<[u8; 2 << 20]>();

static KEPT: AtomicPtr<u8> = AtomicPtr::new(null_mut());

static EXIT_CODE: AtomicU8 = AtomicU8::new(0);

struct Reserved;

#[global_allocator]
static ALLOCATOR: Reserved = Reserved;

// SAFETY: every block comes from the system's allocator, unchanged, and goes back to it with the
// layout it was asked for.
#[expect(
    unsafe_code,
    reason = "stable Rust knows no other way to end in order without memory"
)]
unsafe impl GlobalAlloc for Reserved {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is passed on.
        or_reserve(|| unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is passed on.
        or_reserve(|| unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise is passed on; a block that could not be moved is where it
        // was.
        or_reserve(|| unsafe { System.realloc(pointer, layout, size) })
    }
}

/// Keeps some memory back. Without it the program ends at once when there is no more, with this exit
/// code.
#[expect(unsafe_code, reason = "see the module")]
pub(crate) fn keep_some(exit_code: u8) {
    EXIT_CODE.store(exit_code, Ordering::Relaxed);
    // SAFETY: the layout is not empty.
    KEPT.store(unsafe { System.alloc(RESERVE) }, Ordering::Relaxed);
}

/// Lets the system's allocator give large blocks back, where it is glibc's. Others do as they do.
pub(crate) fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    glibc::give_back();
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod glibc {
    use std::ffi::c_int;

    /// `M_TRIM_THRESHOLD` and `M_MMAP_THRESHOLD` of `malloc.h`.
    const TRIM_THRESHOLD: c_int = -1;
    const MMAP_THRESHOLD: c_int = -3;

    /// Blocks of so many bytes and more are the system's own, and go back to it when they are free. glibc takes larger ones each time that one
    /// is freed, up to 32 MiB, out of what each thread has for small blocks, and lists that grow leave holes there which nothing fills: an
    /// import of folded stacks had 107 MiB for what fits into 80.
    const LARGE: c_int = 1 << 20;

    /// So many free bytes after the last block are kept. With 128 KiB, which glibc keeps where it does not choose itself, memory is given
    /// back and asked for again with each table of a dataset: a tenth of the time of such an export.
    const KEPT_FREE: c_int = 16 << 20;

    #[expect(unsafe_code, reason = "a function of C")]
    unsafe extern "C" {
        fn mallopt(parameter: c_int, value: c_int) -> c_int;
    }

    /// Where it is refused, all is as it was.
    #[expect(unsafe_code, reason = "a function of C")]
    pub(super) fn give_back() {
        // SAFETY: it takes two numbers, and may be called at any time.
        unsafe {
            mallopt(MMAP_THRESHOLD, LARGE);
            mallopt(TRIM_THRESHOLD, KEPT_FREE);
        }
    }
}

/// Asks for memory, and once more when that which was kept back is free.
fn or_reserve(ask: impl Fn() -> *mut u8) -> *mut u8 {
    let given = ask();
    if given.is_null() { without(ask) } else { given }
}

#[cold]
#[expect(unsafe_code, reason = "see the module")]
fn without(ask: impl Fn() -> *mut u8) -> *mut u8 {
    let kept = KEPT.swap(null_mut(), Ordering::Relaxed);
    if !kept.is_null() {
        // SAFETY: it was given for this layout, and whoever swaps it out is the only one who has
        // it.
        unsafe { System.dealloc(kept, RESERVE) };
        limits::memory_runs_out();
        let given = ask();
        if !given.is_null() {
            return given;
        }
    }
    end()
}

/// Ends the program. Nothing here may ask for memory.
#[expect(
    clippy::exit,
    reason = "whoever asked for memory cannot go on without it"
)]
fn end() -> ! {
    static ENDS: AtomicBool = AtomicBool::new(false);
    if ENDS.swap(true, Ordering::Relaxed) {
        std::process::abort();
    }
    let mut out = std::io::stderr();
    let said = [b"profdb: ".as_slice(), limits::NO_MEMORY.as_bytes(), b"\n"]
        .iter()
        .try_for_each(|part| out.write_all(part));
    cli::leave_nothing();
    // Where that fails, there is no other place to report it.
    drop(said);
    std::process::exit(i32::from(EXIT_CODE.load(Ordering::Relaxed)))
}
