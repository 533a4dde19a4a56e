//! Cases: what they say, and their inputs.
//!
//! A case is one file, `tests/cases/<group>/<slug>.md`. Its inputs follow the paragraph that begins
//! with `Provenance:`, before the first block of commands, in one of three forms:
//!
//! - the line ``Input `NAME`:``, an empty line, and a fenced block `text` with the content. The
//!   fence is longer than any fence in it. Content whose last line has no end is followed by the
//!   line [`UNENDED`];
//! - the line ``Input [`NAME`](SLUG/NAME)``: a file below the folder `tests/cases/<group>/<slug>/`;
//! - the line ``Input `NAME/`, an empty folder``.

#![expect(
    clippy::disallowed_methods,
    reason = "reads small files of the repository"
)]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The line that follows text whose last line has no end.
pub(crate) const UNENDED: &str = "\\ no newline at the end\n";

/// Bytes of an input from which on it is a file of its own.
const EMBEDDED: usize = 2048;

/// One case.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) group: String,
    pub(crate) slug: String,
}

/// An input as the text of a case has it.
#[derive(Debug)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) place: Place,
}

/// Where the content of an input is.
#[derive(Debug)]
pub(crate) enum Place {
    Block(String),
    File,
    /// It is a folder without files.
    EmptyFolder,
}

impl Case {
    /// The name of the case: `<group>/<slug>`.
    pub(crate) fn name(&self) -> String {
        format!("{}/{}", self.group, self.slug)
    }

    /// The Markdown file.
    pub(crate) fn file(&self) -> PathBuf {
        root().join(&self.group).join(format!("{}.md", self.slug))
    }

    /// The folder of the inputs that are files of their own. It exists only if there are any.
    pub(crate) fn folder_of_files(&self) -> PathBuf {
        root().join(&self.group).join(&self.slug)
    }

    /// The content of the Markdown file.
    pub(crate) fn text(&self) -> String {
        let file = self.file();
        fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
    }

    /// Names and bytes of the inputs, sorted by name.
    pub(crate) fn inputs(&self) -> Vec<(String, Vec<u8>)> {
        let named = named(&self.text()).unwrap_or_else(|fault| panic!("{}: {fault}", self.name()));
        let read = |name: &str| {
            let file = self.folder_of_files().join(name);
            fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
        };
        let mut inputs: Vec<_> = named
            .into_iter()
            .filter_map(|Named { name, place }| match place {
                Place::Block(text) => Some((name, text.into_bytes())),
                Place::File => Some((name.clone(), read(&name))),
                Place::EmptyFolder => None,
            })
            .collect();
        inputs.sort();
        inputs
    }

    /// Makes a folder hold the inputs of the case and no other file.
    pub(crate) fn write_inputs(&self, folder: &Path) {
        fs::create_dir_all(folder).expect("room for a folder");
        let inputs = self.inputs();
        for (name, bytes) in &inputs {
            let file = folder.join(name);
            if fs::read(&file).is_ok_and(|found| found == *bytes) {
                continue;
            }
            fs::create_dir_all(file.parent().expect("a folder")).expect("room for a folder");
            let shared = Path::new(env!("CARGO_TARGET_TMPDIR"));
            if folder.starts_with(shared) {
                // Another test may be reading the file, which is therefore replaced as a whole.
                let mut new = tempfile::NamedTempFile::new_in(shared).expect("room for a file");
                new.write_all(bytes).expect("room for a file");
                new.persist(&file).expect("room for a file");
            } else {
                fs::write(&file, bytes).expect("room for a file");
            }
        }
        for named in named(&self.text()).unwrap_or_default() {
            if matches!(named.place, Place::EmptyFolder) {
                fs::create_dir_all(folder.join(named.name)).expect("room for a folder");
            }
        }
        for file in files(folder) {
            let is_input = |(name, _): &(String, Vec<u8>)| folder.join(name) == file;
            if !inputs.iter().any(is_input) {
                // Another test may have removed it.
                let _ = fs::remove_file(file);
            }
        }
    }
}

/// All cases, sorted by group and slug.
pub(crate) fn cases() -> Vec<Case> {
    groups().iter().flat_map(|group| of_group(group)).collect()
}

/// The groups of cases, sorted.
pub(crate) fn groups() -> Vec<String> {
    entries(&root()).iter().map(|path| name(path)).collect()
}

/// The cases of a group, sorted by slug.
pub(crate) fn of_group(group: &str) -> Vec<Case> {
    entries(&root().join(group))
        .iter()
        .filter_map(|path| name(path).strip_suffix(".md").map(str::to_owned))
        .map(|slug| Case {
            group: group.to_owned(),
            slug,
        })
        .collect()
}

/// Returns the path of a file or a folder of the repository. Inputs of cases are written into a
/// folder below `target/` first: `tests/cases/<group>/<slug>/<input>` is one of them, and
/// `tests/cases/<group>/<slug>`, `tests/cases/<group>` and `tests/cases` are folders of them.
pub(crate) fn repository_path(path: &str) -> PathBuf {
    let Some(name) = path.strip_prefix("tests/cases") else {
        return Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    };
    let mut parts = name.split('/').filter(|part| !part.is_empty());
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cases");
    let found = match (parts.next(), parts.next()) {
        (Some(group), Some(slug)) => {
            let found = place.join(group).join(slug);
            let [group, slug] = [group, slug].map(str::to_owned);
            Case { group, slug }.write_inputs(&found);
            found.join(parts.collect::<PathBuf>())
        }
        (Some(group), None) => {
            write_group(group, &place);
            place.join(group)
        }
        (None, _) => {
            let groups = groups();
            for group in &groups {
                write_group(group, &place);
            }
            remove_others(&place, &groups);
            place
        }
    };
    assert!(found.exists(), "{path}: the case has no such input");
    found
}

/// Writes the inputs of all cases of a group.
fn write_group(group: &str, place: &Path) {
    let cases = of_group(group);
    let place = place.join(group);
    for case in &cases {
        case.write_inputs(&place.join(&case.slug));
    }
    let slugs: Vec<String> = cases.into_iter().map(|case| case.slug).collect();
    remove_others(&place, &slugs);
}

/// Removes what is left in a folder of groups or cases that no longer exist.
fn remove_others(folder: &Path, names: &[String]) {
    for path in entries(folder) {
        if !names.contains(&name(&path)) {
            // Another test may have removed it.
            let _ = fs::remove_dir_all(path);
        }
    }
}

/// The inputs that the text of a case names, in its order.
///
/// # Errors
/// What is wrong with the first input that has not the form that it must have.
pub(crate) fn named(text: &str) -> Result<Vec<Named>, String> {
    let mut found = Vec::new();
    let mut lines = text.split_inclusive('\n');
    while let Some(line) = lines.next() {
        if line.starts_with("```") {
            break;
        }
        let Some(rest) = line.strip_prefix("Input ") else {
            continue;
        };
        let fault = || format!("expected the name of an input, found {line:?}");
        let (name, place) = if let Some(rest) = rest.strip_prefix("[`") {
            let (name, target) = rest.split_once("`](").ok_or_else(fault)?;
            let file = target.strip_suffix(")\n").ok_or_else(fault)?;
            let below = file.split_once('/').map(|(_, below)| below);
            if below != Some(name) {
                return Err(format!("expected a link to {name}, found {file}"));
            }
            (name, Place::File)
        } else {
            let (name, rest) = rest
                .strip_prefix('`')
                .and_then(|rest| rest.split_once('`'))
                .ok_or_else(fault)?;
            match (name.strip_suffix('/'), rest) {
                (Some(folder), ", an empty folder\n") => (folder, Place::EmptyFolder),
                (None, ":\n") => (name, Place::Block(block(name, &mut lines)?)),
                _ => return Err(fault()),
            }
        };
        found.push(Named {
            name: name.to_owned(),
            place,
        });
    }
    Ok(found)
}

/// The content of the block that begins after an empty line.
fn block<'a>(name: &str, lines: &mut impl Iterator<Item = &'a str>) -> Result<String, String> {
    let begin = [lines.next(), lines.next()];
    let [Some("\n"), Some(begin)] = begin else {
        return Err(format!("{name}: expected an empty line and a block"));
    };
    let fence = begin
        .strip_suffix("text\n")
        .filter(|fence| fence.starts_with("```"))
        .ok_or_else(|| format!("{name}: expected a block `text`, found {begin:?}"))?;
    let mut content = String::new();
    for line in lines {
        if line.strip_suffix('\n') == Some(fence) {
            return Ok(match content.strip_suffix(UNENDED) {
                Some(content) => content.strip_suffix('\n').unwrap_or(content).to_owned(),
                None => content,
            });
        }
        content.push_str(line);
    }
    Err(format!("{name}: its block has no end"))
}

/// Whether an input belongs into the text of its case: it is small, and a reader sees what it
/// consists of.
pub(crate) fn is_embedded(bytes: &[u8]) -> bool {
    let is_visible = |character| match character {
        '\t' | '\n' => true,
        // Marks of direction, separators of lines, byte order marks, and what has no width.
        '\u{61c}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}' => false,
        character => !character.is_control(),
    };
    bytes.len() < EMBEDDED
        && std::str::from_utf8(bytes).is_ok_and(|text| {
            text.chars().all(is_visible) && !format!("{text}\n").ends_with(UNENDED)
        })
}

pub(crate) fn entries(folder: &Path) -> Vec<PathBuf> {
    let read = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = read.map(|entry| entry.expect("readable").path()).collect();
    paths.sort();
    paths
}

/// The files below a folder.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let (folders, mut found): (Vec<_>, Vec<_>) =
        entries(folder).into_iter().partition(|path| path.is_dir());
    found.extend(folders.iter().flat_map(|folder| files(folder)));
    found
}

fn name(path: &Path) -> String {
    let name = path.file_name().expect("a name").to_str();
    name.expect("names of cases are UTF-8").to_owned()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}
