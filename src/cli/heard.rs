//! Commands that are not asked by a terminal: what they write and what they say is for whoever asked, and for no one else.

#![cfg_attr(
    not(feature = "serve"),
    expect(dead_code, reason = "only a server asks commands otherwise")
)]

use std::cell::RefCell;
use std::io::{self, Write};

thread_local! {
    /// Who has asked the command of this thread, if it is not a terminal.
    static LISTENER: RefCell<Option<Listener>> = const { RefCell::new(None) };
}

struct Listener {
    said: Vec<String>,
    /// `None` while something is being written.
    out: Option<Box<dyn Write>>,
}

/// Carries out a command of this thread whose output goes to a writer. Gives its outcome, and what it has said that
/// [`said`] has not given.
pub(super) fn listen<T>(out: Box<dyn Write>, command: impl FnOnce() -> T) -> (T, Vec<String>) {
    let listener = Listener {
        said: Vec::new(),
        out: Some(out),
    };
    LISTENER.set(Some(listener));
    let outcome = command();
    let said = LISTENER.take().map(|listener| listener.said);
    (outcome, said.unwrap_or_default())
}

/// Whether the command of this thread was asked by no terminal.
pub(super) fn is_listening() -> bool {
    LISTENER.with_borrow(Option::is_some)
}

/// Takes what the command says. Gives it back where the terminal is to be told.
pub(super) fn say(message: String) -> Result<(), String> {
    LISTENER.with_borrow_mut(|listener| match listener {
        Some(listener) => {
            listener.said.push(message);
            Ok(())
        }
        None => Err(message),
    })
}

/// What the command has said so far.
pub(super) fn said() -> Vec<String> {
    LISTENER.with_borrow_mut(|listener| {
        let said = listener.as_mut().map(|listener| &mut listener.said);
        said.map(std::mem::take).unwrap_or_default()
    })
}

/// The output of the command, for whoever listens.
pub(super) struct Output;

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let out = |listener: &mut Option<Listener>| listener.as_mut()?.out.take();
        let Some(mut out) = LISTENER.with_borrow_mut(out) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        // What is listened to may itself ask what was said.
        let written = out.write(bytes);
        LISTENER.with_borrow_mut(|listener| {
            if let Some(listener) = listener {
                listener.out = Some(out);
            }
        });
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
