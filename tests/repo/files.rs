//! The files of the repository, read once: paths, texts, and tokens of the files in Rust and SQL.

#![expect(
    clippy::disallowed_methods,
    reason = "reads the sources of the repository, which are small and UTF-8"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, OnceLock};

use memchr::memmem;

use crate::tidy::reading::{self, Language, Token};

/// Folders that hold generated files, which are not part of the repository.
const GENERATED: &[&str] = &[".git", "target", "fuzz/artifacts", "fuzz/coverage"];

/// A text file of the repository.
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
    tokens: OnceLock<Vec<Token<'static>>>,
    names: OnceLock<Vec<(usize, String)>>,
}

impl Source {
    /// Returns the tokens of a file in Rust or SQL, and no tokens for other files.
    pub(crate) fn tokens(&'static self) -> &'static [Token<'static>] {
        self.tokens.get_or_init(|| {
            let language = if self.is_a("rs") {
                Language::Rust
            } else if self.is_a("sql") {
                Language::Sql
            } else {
                return Vec::new();
            };
            reading::tokens(&self.text, language)
        })
    }

    /// Returns the tokens before the first `#[cfg(test)]`.
    pub(crate) fn tokens_without_tests(&'static self) -> &'static [Token<'static>] {
        let end = self.text_without_tests().len();
        let tokens = self.tokens();
        &tokens[..tokens.partition_point(|token| token.start < end)]
    }

    /// Returns the text before the first `#[cfg(test)]`.
    pub(crate) fn text_without_tests(&self) -> &str {
        let end = memmem::find(self.text.as_bytes(), b"#[cfg(test)]");
        &self.text[..end.unwrap_or(self.text.len())]
    }

    /// Returns the paths and macros that a Rust file names, with lines.
    pub(crate) fn names(&'static self) -> &'static [(usize, String)] {
        self.names.get_or_init(|| reading::names(self.tokens()))
    }

    /// Returns whether the file name has the extension.
    pub(crate) fn is_a(&self, extension: &str) -> bool {
        is_a(&self.path, extension)
    }

    /// Returns whether the path starts with the prefix.
    pub(crate) fn is_in(&self, prefix: &str) -> bool {
        self.path.starts_with(prefix)
    }
}

/// Returns whether a file name has the extension.
pub(crate) fn is_a(path: &str, extension: &str) -> bool {
    Path::new(path)
        .extension()
        .is_some_and(|actual| actual == extension)
}

/// Returns all text files in the order of their paths.
pub(crate) fn sources() -> impl Iterator<Item = &'static Source> {
    static SOURCES: LazyLock<Vec<Source>> = LazyLock::new(|| {
        let source = |path: &String| {
            Some(Source {
                path: path.clone(),
                text: fs::read_to_string(at_root(path)).ok()?,
                tokens: OnceLock::new(),
                names: OnceLock::new(),
            })
        };
        paths().iter().filter_map(source).collect()
    });
    SOURCES.iter()
}

/// Returns the paths of all files, relative to the root of the repository.
///
/// The folders are read instead of the index of git, which an unpacked archive does not have.
pub(crate) fn paths() -> &'static BTreeSet<String> {
    static PATHS: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
        let mut paths = BTreeSet::new();
        add_paths("", &mut paths);
        paths
    });
    &PATHS
}

fn add_paths(folder: &str, paths: &mut BTreeSet<String>) {
    for entry in fs::read_dir(at_root(folder)).expect("a readable folder") {
        let entry = entry.expect("a readable folder");
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if folder.is_empty() {
            name
        } else {
            format!("{folder}/{name}")
        };
        if GENERATED.contains(&path.as_str()) {
            continue;
        }
        if entry.file_type().expect("a readable folder").is_dir() {
            add_paths(&path, paths);
        } else {
            paths.insert(path);
        }
    }
}

/// Returns the text of a file.
///
/// # Panics
/// If there is no such text file.
pub(crate) fn read(path: &str) -> String {
    fs::read_to_string(at_root(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the full path of a file of the repository.
pub(crate) fn at_root(path: impl AsRef<Path>) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}
