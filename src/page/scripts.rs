//! Script and style of the page as browsers get them. `web/` has the script as modules with comments, which browsers do not load
//! from files: esbuild has made one of them, with short names. tests/repo/made.rs makes it, and holds that it is of these
//! modules; neither Cargo nor who builds profdb needs anything for it.

/// All modules as one script.
pub(super) const SCRIPT: &str = include_str!("../../web/made/page.js");

/// How the page looks.
pub(super) const STYLE: &str = include_str!("../../web/made/style.css");

/// The digests of both, as policies have them: SHA-256 in base64.
pub(super) const DIGESTS: [&str; 2] = [
    include_str!("../../web/made/page.js.sha256"),
    include_str!("../../web/made/style.css.sha256"),
];

/// The script of the thread that asks SQLite.
pub(super) const WORKER: &str = include_str!("../../web/made/sqlite-worker.js");
