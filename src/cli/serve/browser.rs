//! Opens the user's browser.

use std::process::{Command, Stdio};
use std::thread;

use super::super::failure::say;

/// The program that opens what the user has chosen for addresses.
const OPENER: &str = if cfg!(target_os = "macos") {
    "open"
} else {
    "xdg-open"
};

/// Opens an address. Other users of the machine may see it among the arguments of programs.
pub(super) fn open(address: &str) {
    if cfg!(windows) {
        return;
    }
    let mut opener = Command::new(OPENER);
    opener
        .arg(address)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    match opener.spawn() {
        // It is waited for aside: a browser may be what it becomes.
        Ok(mut child) => drop(thread::Builder::new().spawn(move || child.wait())),
        Err(_) => say(format!(
            "cannot open a browser without {OPENER}; open the address above"
        )),
    }
}
