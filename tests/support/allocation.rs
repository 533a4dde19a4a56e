//! An allocator that counts, and what a piece of work takes of it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Counts what a thread holds and the most it has held.
struct Counting;

thread_local! {
    // By thread, because tests of one program run beside each other; constant, because a first use
    // that allocates would come back here.
    static HELD: Cell<usize> = const { Cell::new(0) };
    static MOST: Cell<usize> = const { Cell::new(0) };
    static TAKEN: Cell<usize> = const { Cell::new(0) };
}

fn count(taken: usize, given_back: usize) {
    // A block may be given back by another thread than the one that took it.
    let held = HELD.get().saturating_add(taken).saturating_sub(given_back);
    HELD.set(held);
    TAKEN.set(TAKEN.get().wrapping_add(taken));
    MOST.set(MOST.get().max(held));
}

// SAFETY: every call goes to the system's allocator unchanged; counting does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(0, layout.size());
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size, layout.size());
        // SAFETY: the caller's promise is passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Does some work, and says how many bytes this thread held at most, beyond what it held before.
pub(crate) fn most<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let held = HELD.get();
    MOST.set(held);
    let done = work();
    (done, MOST.get().saturating_sub(held))
}

/// Does some work, and says how many bytes this thread was given in all, those that it gave back
/// among them: a measure of work that no clock and no other program disturbs.
pub(crate) fn taken<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = TAKEN.get();
    let done = work();
    (done, TAKEN.get().wrapping_sub(before))
}
