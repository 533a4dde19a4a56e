//! The script of the page is made of its modules: `UPDATE_DOCS=1 cargo test --test repo made` makes it anew, by esbuild, which
//! `npm install --prefix target/node esbuild@0.28.2` brings.

#![expect(
    clippy::disallowed_methods,
    reason = "reads small files of our own, and the wish of whoever runs the tests"
)]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest as _, Sha256};

use crate::support::tools;

/// esbuild, as `.ci/run` installs it.
const ESBUILD: &str = "target/node/node_modules/.bin/esbuild";

/// Where what is made is kept.
const MADE: &str = "web/made";

/// Of what it has been made.
const SOURCES: &str = "web/made/sources.sha256";

/// What is made.
const FILES: [&str; 3] = ["page.js", "sqlite-worker.js", "style.css"];

/// Those whose digests are in the policy of a page; a test of `src/page/scripts.rs` holds that these are right.
const POLICED: [&str; 2] = ["page.js", "style.css"];

/// Bytes that all of it may have; SQLite for browsers is not counted.
const MOST_BYTES: usize = 155_000;

/// Texts of `web/` by name: modules and style.
fn sources() -> Vec<(String, String)> {
    let mut all = Vec::new();
    for entry in fs::read_dir("web").expect("the sources of the page") {
        let path = entry.expect("a file").path();
        let kind = path.extension().and_then(|kind| kind.to_str());
        if matches!(kind, Some("js" | "css")) {
            let name = path.file_name().expect("a name").to_string_lossy();
            all.push((name.into_owned(), fs::read_to_string(&path).expect("text")));
        }
    }
    all.sort();
    all
}

/// Their digests, as `sha256sum` writes them.
fn digests() -> String {
    let mut text = String::new();
    for (name, source) in sources() {
        for byte in Sha256::digest(source) {
            write!(text, "{byte:02x}").expect("a string takes everything");
        }
        writeln!(text, "  {name}").expect("a string takes everything");
    }
    text
}

/// What esbuild makes of a file.
fn made(name: &str) -> String {
    let mut esbuild = tools::command_at(ESBUILD);
    esbuild.arg(format!("web/{name}"));
    esbuild.args(["--minify", "--charset=utf8", "--legal-comments=none"]);
    if Path::new(name).extension().is_some_and(|kind| kind == "js") {
        esbuild.args(["--bundle", "--format=iife", "--target=es2023"]);
    }
    let output = esbuild.output().expect("esbuild runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8(output.stdout).expect("text")
}

/// Advice for a page that differs from its sources.
const HINT: &str = "a source of the page has changed: UPDATE_DOCS=1 cargo test --test repo made";

#[test]
fn page_is_made_of_its_modules() {
    let update = std::env::var_os("UPDATE_DOCS").is_some();
    if update && Path::new(ESBUILD).exists() {
        fs::create_dir_all(MADE).expect("a folder");
        for name in FILES {
            let text = made(name);
            if POLICED.contains(&name) {
                let digest = BASE64_STANDARD.encode(Sha256::digest(&text));
                fs::write(format!("{MADE}/{name}.sha256"), digest).expect("it can be written");
            }
            fs::write(format!("{MADE}/{name}"), text).expect("it can be written");
        }
        fs::write(SOURCES, digests()).expect("it can be written");
    }
    let kept = fs::read_to_string(SOURCES).expect("the digests are there");
    assert!(kept == digests(), "{HINT}");
    let mut bytes = 0;
    for name in FILES {
        let text = fs::read_to_string(format!("{MADE}/{name}")).expect("it is there");
        bytes += text.len();
        // What ends the element of the script in the document would end the script.
        assert!(
            !text.contains("</script") && !text.contains("<!--"),
            "{name}"
        );
    }
    assert!(bytes <= MOST_BYTES, "{bytes}");
}

#[test]
fn page_is_the_output_of_esbuild() {
    if !Path::new(ESBUILD).exists() {
        tools::skip_missing("esbuild", "npm install --prefix target/node esbuild");
    }
    for name in FILES {
        let text = fs::read_to_string(format!("{MADE}/{name}")).expect("it is there");
        assert!(text == made(name), "{name}: {HINT}");
    }
}

/// What no module imports would be in the repository and not in the page.
#[test]
fn all_modules_are_in_the_page() {
    let all = sources();
    let mut reached = BTreeSet::new();
    let mut open = vec!["page.js", "sqlite-worker.js", "style.css"];
    while let Some(name) = open.pop() {
        if !reached.insert(name) {
            continue;
        }
        let (_, text) = all.iter().find(|(known, _)| known == name).expect(name);
        for line in text.lines().filter(|line| line.starts_with("import ")) {
            let from = line.split('\'').nth(1).expect("a module");
            open.push(from.trim_start_matches("./"));
        }
    }
    let all: BTreeSet<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(reached, all);
}
