//! Tags from parts of the path of a file: `import --tag-from '{commit_count}-{commit}/*'`.

use std::path::{Path, PathBuf};

use regex::Regex;

use crate::store::Tag;

/// Pattern of paths, with names for the parts that become tags.
#[derive(Clone, Debug)]
pub(super) struct PathPattern {
    text: String,
    regex: Regex,
    /// Keys of the tags, in the order of their places.
    keys: Vec<String>,
}

impl PathPattern {
    /// Reads a pattern: `{name}` is one or more characters of one component, as few as possible, `*` any characters of one
    /// component, and everything else itself.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let mut regex = "^(?s)".to_owned();
        let mut keys: Vec<String> = Vec::new();
        let mut rest = text.trim_end_matches('/');
        while let Some(first) = rest.chars().next() {
            rest = &rest[first.len_utf8()..];
            match first {
                '*' => regex.push_str("[^/]*"),
                '{' => {
                    let named = rest.split_once('}');
                    let Some((key, after)) = named.filter(|(key, _)| is_key(key)) else {
                        return Err("expected {NAME}, with a name and no / in it".to_owned());
                    };
                    if keys.iter().any(|known| known == key) {
                        return Err(format!("expected {{{key}}} once, found it twice"));
                    }
                    keys.push(key.to_owned());
                    rest = after;
                    regex.push_str("([^/]+?)");
                }
                '}' => return Err("expected { before }".to_owned()),
                other => regex.push_str(&regex::escape(other.encode_utf8(&mut [0; 4]))),
            }
        }
        if keys.is_empty() {
            return Err("expected at least one {NAME}, such as '{commit}/*'".to_owned());
        }
        regex.push('$');
        Ok(Self {
            text: text.to_owned(),
            regex: Regex::new(&regex).map_err(|error| error.to_string())?,
            keys,
        })
    }

    /// Returns the pattern as it was written.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the tags of a file, in the order of their places in the pattern; `None` if its path does not match.
    pub(super) fn tags(&self, path: &NamedPath) -> Option<Vec<Tag>> {
        let captures = self.regex.captures(path.matched(&self.text))?;
        let values = captures.iter().skip(1).flatten();
        let tags = self.keys.iter().zip(values).map(|(key, value)| Tag {
            key: key.clone(),
            value: value.as_str().to_owned(),
        });
        Some(tags.collect())
    }
}

/// Returns whether a text can be the key of a tag.
fn is_key(text: &str) -> bool {
    !text.trim().is_empty() && !text.contains(['/', '{', '*'])
}

/// A directory that was named.
pub(super) struct NamedDirectory {
    path: PathBuf,
    /// Number of the last components of its own path that patterns see.
    above: usize,
}

impl NamedDirectory {
    /// Names a directory of which patterns see only the paths below it.
    pub(super) fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            above: 0,
        }
    }

    /// Returns the path of the directory.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns true if a pattern matches a file below the directory.
    pub(super) fn matches(&self, pattern: &PathPattern, file: &Path) -> bool {
        pattern
            .tags(&NamedPath::of(file, std::slice::from_ref(self)))
            .is_some()
    }

    /// Lets patterns see as many of the last components of the path of the directory as `pattern` needs to match all files below
    /// it. Returns a file that does not match, if there is one for any number of components.
    pub(super) fn fit(&mut self, pattern: &PathPattern, files: Vec<PathBuf>) -> Option<PathBuf> {
        let components = slashed(&self.path).split('/').count();
        for above in 0..=components {
            self.above = above;
            if files.iter().all(|file| self.matches(pattern, file)) {
                return None;
            }
        }
        self.above = 0;
        files.into_iter().find(|file| !self.matches(pattern, file))
    }
}

/// Name of a file: its path below the directory that was named, or its own name.
pub(super) struct NamedPath {
    /// The path as given, with slashes.
    path: String,
    /// The path below the directory that was named.
    below: Option<String>,
    /// Number of the components above `below` that patterns see.
    above: usize,
}

impl NamedPath {
    /// Names a file, which may be below one of the directories that were named.
    pub(super) fn of(file: &Path, directories: &[NamedDirectory]) -> Self {
        let below = directories
            .iter()
            .filter_map(|directory| Some((file.strip_prefix(&directory.path).ok()?, directory)))
            .min_by_key(|(below, _)| below.components().count());
        Self {
            path: slashed(file),
            below: below.map(|(below, _)| slashed(below)),
            above: below.map_or(0, |(_, directory)| directory.above),
        }
    }

    /// Returns the name that a run has for its file.
    pub(super) fn name(&self) -> &str {
        let own = self.path.rsplit('/').next().unwrap_or(&self.path);
        self.below.as_deref().unwrap_or(own)
    }

    /// Returns the part that a pattern is compared with: of a file that was named itself, the last components of its path.
    fn matched(&self, pattern: &str) -> &str {
        let slashes = match &self.below {
            Some(below) => below.matches('/').count() + self.above,
            None => pattern.trim_end_matches('/').matches('/').count(),
        };
        let mut ends = self.path.rmatch_indices('/');
        let start = ends.nth(slashes).map_or(0, |(at, _)| at + 1);
        &self.path[start..]
    }
}

/// Returns a path as text, with slashes between its components.
fn slashed(path: &Path) -> String {
    let components = path
        .components()
        .map(|part| part.as_os_str().to_string_lossy());
    components.collect::<Vec<_>>().join("/")
}
