//! Panics of libraries that damaged input leads to, as errors.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};

thread_local! {
    /// Whether a panic of this thread is an answer that is waited for, and nothing to be shown.
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Has panics shown as before, except for those that are waited for as an answer. To be called once, where the program begins.
pub fn show_others() {
    let show = take_hook();
    set_hook(Box::new(move |panic| {
        if !IS_CAUGHT.get() {
            show(panic);
        }
    }));
}

/// Calls a function. What it panics with is an error, of this thread only. What it has left half done must not be used again.
///
/// # Errors
/// When it panics: the message.
pub(crate) fn caught<T>(function: impl FnOnce() -> T) -> Result<T, String> {
    let before = IS_CAUGHT.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(function));
    IS_CAUGHT.set(before);
    outcome.map_err(|panic| message(panic.as_ref()))
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("it is damaged").to_owned()
}
