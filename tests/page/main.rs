//! Pages for a browser, in a browser, Chromium (Debian: chromium): what they show is what the command of the same words says.

#![expect(clippy::disallowed_methods, reason = "small files of our own")]
#![cfg_attr(
    feature = "serve",
    expect(clippy::duplicate_mod, reason = "one test of two ways to the page")
)]

#[macro_use]
extern crate profdb_test_attribute;

mod kinds;
mod numbers;
mod panes;
mod pictures;
mod policy;
mod shown;

/// Tests of what a page shows, wherever it comes from: here from a file.
#[path = "."]
mod from_file {
    #[path = "accessible.rs"]
    mod accessible;
    #[path = "address.rs"]
    mod address;
    #[path = "compared.rs"]
    mod compared;
    #[path = "equal.rs"]
    mod equal;
    #[path = "gestures.rs"]
    mod gestures;
    #[path = "keyboard.rs"]
    mod keyboard;
    #[path = "labels.rs"]
    mod labels;
    #[path = "rows.rs"]
    mod rows;
    #[path = "sql.rs"]
    mod sql;
    #[path = "strangers.rs"]
    mod strangers;
    #[path = "windows.rs"]
    mod windows;

    /// A browser for a test.
    fn browser(test: &str) -> crate::shown::Shown {
        crate::shown::browser_for(test, crate::shown::Way::File)
    }
}

/// The same tests, of pages that a server sends.
#[cfg(feature = "serve")]
#[path = "."]
mod served {
    #[path = "address.rs"]
    mod address;
    #[path = "equal.rs"]
    mod equal;
    #[path = "gestures.rs"]
    mod gestures;
    #[path = "labels.rs"]
    mod labels;
    #[path = "rows.rs"]
    mod rows;
    #[path = "runs.rs"]
    mod runs;
    #[path = "strangers.rs"]
    mod strangers;
    #[path = "windows.rs"]
    mod windows;

    /// A browser for a test.
    fn browser(test: &str) -> crate::shown::Shown {
        crate::shown::browser_for(test, crate::shown::Way::Server)
    }
}

#[path = "../support"]
#[expect(dead_code, reason = "each program needs a part of it")]
mod support {
    pub(crate) mod browser;
    pub(crate) mod case_files;
    pub(crate) mod harness;
    pub(crate) mod long;
    pub(crate) mod markdown_rows;
    pub(crate) mod program;
    pub(crate) mod skipped;
    pub(crate) mod tools;
}

fn main() -> std::process::ExitCode {
    let code = support::harness::run(env!("CARGO_CRATE_NAME"), Vec::new);
    support::browser::end_all();
    code
}
