//! Pages for a browser, in a browser, Chromium (Debian: chromium): what they show is what the command of the same words says.

#![expect(clippy::disallowed_methods, reason = "small files of our own")]

mod equal;
mod gestures;
mod kinds;
mod numbers;
mod pictures;
mod shown;
mod strangers;

#[path = "../support"]
mod support {
    #[expect(dead_code, reason = "flame graphs ask it more")]
    pub(crate) mod browser;
    #[expect(dead_code, reason = "most of it is for other tests")]
    pub(crate) mod tools;
}
