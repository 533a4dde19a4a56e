//! Finds the source of the lines that a run knows, in a folder.
//!
//! Names out of a profile are never paths to open: they are compared with the files that the folder
//! has. A line whose function has a file is looked for in the file whose path ends like it; a
//! function of an APL workspace, `#.Shop.Price`, in the scripts, where folders are
//! namespaces. What fits twice is left out: no source is better than a wrong one.

mod extent;
mod script;

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::io;

use hashbrown::HashMap;
use sha2::{Digest, Sha256};

pub use extent::Extent;

/// The largest file that is read, in bytes.
pub const LARGEST_SOURCE: u64 = 16 * 1024 * 1024;

/// The longest line that is kept, in bytes; what is longer is cut. Generated code may be one line.
pub const LONGEST_LINE: usize = 1000;

/// Endings of files that hold functions of APL: one function, or a script.
const SCRIPTS: [&str; 6] = ["aplf", "aplo", "apln", "aplc", "apli", "dyalog"];

/// A folder with sources.
pub trait Folder: Debug + Send + Sync {
    /// Paths of all files below it, relative to it, with `/` between their parts; sorted.
    fn files(&self) -> &[String];

    /// What the file at a place of [`Folder::files`] holds, if it is no longer than
    /// [`LARGEST_SOURCE`].
    ///
    /// # Errors
    /// When it cannot be read; of kind `Interrupted` when it is not wanted any more.
    fn read(&self, file: usize) -> io::Result<Vec<u8>>;
}

/// Which lines of a function are kept. That where it begins always is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SourceLines {
    /// All of them, as far as they are known to be the function's.
    #[default]
    Functions,
    /// Those that the run has figures for.
    Figures,
}

impl SourceLines {
    /// The choices by their names on the command line.
    pub const ALL: [(&'static str, Self); 2] =
        [("functions", Self::Functions), ("figures", Self::Figures)];
}

/// Lines of one function in one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Number of the function.
    pub function_id: i64,
    /// Its name.
    pub name: String,
    /// File of the lines; empty if unknown.
    pub file: String,
    /// The lines with figures, as the profiler numbers them.
    pub lines: BTreeSet<i64>,
    /// The line where the function begins, if it is known to be in this file.
    pub begins: Option<i64>,
    /// Lines that are kept besides, where there are any.
    pub extent: Extent,
}

impl Place {
    /// Whether a line is kept.
    #[must_use]
    pub fn keeps(&self, line: i64) -> bool {
        self.begins == Some(line) || self.lines.contains(&line) || self.extent.contains(line)
    }
}

/// A file or function, with the lines that were asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// Hash of all of it.
    pub sha256: [u8; 32],
    /// Number of its first line: 1 in files, 0 in functions.
    pub first_line: i64,
    /// Its lines by number, without the blanks around them.
    pub lines: BTreeMap<i64, String>,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Each place with its text: numbers of [`Found::texts`], in the order in which the places were
    /// given.
    pub places: Vec<Option<usize>>,
    /// The texts.
    pub texts: Vec<Text>,
    /// What fits twice, and what could not be read.
    pub remarks: Vec<String>,
}

/// The answer is not wanted any more.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("interrupted")]
pub struct Stopped;

/// Finds the texts of places. Every file is read once at most, one after the other; what is kept
/// are the lines asked for.
///
/// # Errors
/// When the folder says that the answer is not wanted any more. A file that cannot be read is a
/// remark.
pub fn find(folder: &dyn Folder, places: &[Place]) -> Result<Found, Stopped> {
    let found = Found {
        places: vec![None; places.len()],
        ..Found::default()
    };
    let mut search = Search {
        folder,
        places,
        found,
    };
    search.files()?;
    search.scripts()?;
    Ok(search.found)
}

struct Search<'a> {
    folder: &'a dyn Folder,
    places: &'a [Place],
    found: Found,
}

/// The best of what has been offered, unless something else is as good.
struct Best<T, S> {
    score: Option<S>,
    only: Option<T>,
}

impl<T, S> Default for Best<T, S> {
    fn default() -> Self {
        Self {
            score: None,
            only: None,
        }
    }
}

impl<T: PartialEq, S: Ord> Best<T, S> {
    fn offer(&mut self, item: T, score: S) {
        let score = Some(score);
        match score.cmp(&self.score) {
            Ordering::Less => {}
            // Two copies of one text are no contradiction. Once two differ nothing is left, and
            // only a better one brings something back.
            Ordering::Equal => self.only = self.only.take().filter(|only| *only == item),
            Ordering::Greater => {
                *self = Self {
                    score,
                    only: Some(item),
                }
            }
        }
    }
}

impl<'a> Search<'a> {
    /// Lines that have a file. The file of the folder whose path has the longest end in common is
    /// theirs, unless it has as much in common with another file of the run.
    fn files(&mut self) -> Result<(), Stopped> {
        // By the last part of the path, which has to agree anyway: each wanted file is compared
        // with those of its name, not with all of the folder.
        let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, file) in self.folder.files().iter().enumerate() {
            by_name
                .entry(parts(file).last().copied().unwrap_or_default())
                .or_default()
                .push(at);
        }
        let mut asked: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, place) in self
            .places
            .iter()
            .enumerate()
            .filter(|(_, place)| !place.file.is_empty())
        {
            asked.entry(&place.file).or_default().push(at);
        }
        // Both ways: one file of the folder may be the best for two of the run, and then it is that
        // of none.
        let mut taken: BTreeMap<usize, Best<&str, (bool, usize, bool)>> = BTreeMap::new();
        for (wanted, places) in &asked {
            // A file of which nothing is wanted but where functions begin takes no text from one with figures that fits as
            // well, and nothing is said where its text is not found. One of the paths has to be the end of the other: runs
            // know functions of libraries, which have files with common names.
            let mut places = places.iter().map(|at| &self.places[*at]);
            let has_figures = places.any(|place| !place.lines.is_empty());
            let wanted_parts = parts(wanted);
            let mut best = Best::default();
            for at in by_name
                .get(wanted_parts.last().copied().unwrap_or_default())
                .into_iter()
                .flatten()
            {
                let file = &self.folder.files()[*at];
                let its_parts = parts(file);
                let common = common_end(&wanted_parts, &its_parts);
                if !has_figures && common < its_parts.len().min(wanted_parts.len()) {
                    continue;
                }
                // The path itself goes before an end in common: `lib.rs` is the file `lib.rs`, whatever else ends so.
                best.offer(*at, (file == wanted, common));
            }
            match best {
                Best { score: None, .. } => {}
                Best {
                    score: Some(score),
                    only: Some(file),
                } => {
                    let (is_itself, common) = score;
                    let score = (is_itself, common, has_figures);
                    taken.entry(file).or_default().offer(*wanted, score);
                }
                Best { only: None, .. } if !has_figures => {}
                Best { only: None, .. } => {
                    self.found.remarks.push(format!(
                        "several files match {wanted}: its source is not stored"
                    ));
                }
            }
        }
        for (file, wanted) in taken {
            let Some(wanted) = wanted.only else {
                if matches!(wanted.score, Some((.., false))) {
                    continue;
                }
                let file = &self.folder.files()[file];
                self.found.remarks.push(format!(
                    "{file} matches several files of the run; it is not stored"
                ));
                continue;
            };
            let Some(bytes) = self.read(file)? else {
                continue;
            };
            let text = decode(&bytes);
            let of_file = || asked[wanted].iter().map(|at| &self.places[*at]);
            // All places of a file share one text, so that it is stored once. They are put together before the file is
            // gone through: there may be thousands of functions in thousands of lines.
            let extent = Extent::of_all(of_file().map(|place| &place.extent));
            let single: BTreeSet<i64> = of_file()
                .flat_map(|place| place.lines.iter().chain(&place.begins).copied())
                .collect();
            let lines = pick(text.lines(), 1, |line| {
                single.contains(&line) || extent.contains(line)
            });
            if of_file().any(|place| has_any(&lines, place)) {
                for at in &asked[wanted] {
                    self.found.places[*at] = Some(self.found.texts.len());
                }
                self.found.texts.push(Text {
                    sha256: Sha256::digest(&bytes).into(),
                    first_line: 1,
                    lines,
                });
            }
        }
        Ok(())
    }

    /// Functions of an APL workspace without a file.
    fn scripts(&mut self) -> Result<(), Stopped> {
        let mut wanted: HashMap<&str, Vec<(usize, Vec<&'a str>)>> = HashMap::new();
        for (at, place) in self
            .places
            .iter()
            .enumerate()
            .filter(|(_, place)| place.file.is_empty())
        {
            if let Some(path) = workspace_path(&place.name) {
                wanted
                    .entry(path.last().copied().unwrap_or_default())
                    .or_default()
                    .push((at, path));
            }
        }
        // No script is read when none of its functions is asked for.
        if wanted.is_empty() {
            return Ok(());
        }
        let mut best: BTreeMap<usize, Best<Text, usize>> = BTreeMap::new();
        for (at, file) in self.folder.files().iter().enumerate() {
            let mut folders = parts(file);
            let Some((stem, ending)) = folders.pop().and_then(|name| name.rsplit_once('.')) else {
                continue;
            };
            if !SCRIPTS.contains(&ending) {
                continue;
            }
            let Some(bytes) = self.read(at)? else {
                continue;
            };
            let text = decode(&bytes);
            let lines: Vec<&str> = text.lines().collect();
            for function in script::functions(&lines, stem) {
                let name = function.path.last().copied().unwrap_or_default();
                let fits = wanted.get(name).into_iter().flatten();
                let fits = fits.filter_map(|(place, path)| {
                    Some((*place, fit(path, &folders, &function.path)?))
                });
                let mut owner = Best::default();
                for (place, score) in fits {
                    owner.offer(place, score);
                }
                match owner {
                    Best { score: None, .. } => {}
                    Best {
                        score: Some(score),
                        only: Some(place),
                    } => {
                        let text = Text {
                            // Of the function alone: a change elsewhere in the script is none of
                            // its own.
                            sha256: hash_lines(function.lines),
                            first_line: 0,
                            lines: pick(function.lines.iter().copied(), 0, |line| {
                                self.places[place].keeps(line)
                            }),
                        };
                        best.entry(place).or_default().offer(text, score);
                    }
                    Best { only: None, .. } => {
                        let remark = format!(
                            "{name} in {file} matches several functions of the run; it is not stored"
                        );
                        self.found.remarks.push(remark);
                    }
                }
            }
        }
        for (place, best) in best {
            match best.only {
                // Without one of the lines that were asked for it tells nothing.
                Some(text) if !has_any(&text.lines, &self.places[place]) => {}
                Some(text) => {
                    self.found.places[place] = Some(self.found.texts.len());
                    self.found.texts.push(text);
                }
                None => {
                    let name = &self.places[place].name;
                    self.found.remarks.push(format!(
                        "several functions match {name}: its source is not stored"
                    ));
                }
            }
        }
        Ok(())
    }

    fn read(&mut self, file: usize) -> Result<Option<Vec<u8>>, Stopped> {
        match self.folder.read(file) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(Stopped),
            Err(error) => {
                self.found
                    .remarks
                    .push(format!("{}: {error}", self.folder.files()[file]));
                Ok(None)
            }
        }
    }
}

/// The parts of a path of any system.
fn parts(path: &str) -> Vec<&str> {
    path.split(['/', '\\'])
        .filter(|part| !matches!(*part, "" | "."))
        .collect()
}

/// How many parts two paths have in common at their ends.
fn common_end(left: &[&str], right: &[&str]) -> usize {
    left.iter()
        .rev()
        .zip(right.iter().rev())
        .take_while(|(left, right)| left == right)
        .count()
}

/// Where a function of an APL workspace is, from the root on: `#.Shop.Price` is `Price` within
/// `Shop`.
fn workspace_path(name: &str) -> Option<Vec<&str>> {
    let mut path = name.split('.');
    let root = path.next()?;
    let path: Vec<&str> = path.collect();
    (matches!(root, "#" | "⎕SE") && !path.is_empty()).then_some(path)
}

/// How well a function in a script fits a path of the workspace: how many parts agree. The names
/// within the script must agree all, and the folders around it until there are no more names, or no
/// more folders.
fn fit(wanted: &[&str], folders: &[&str], function: &[&str]) -> Option<usize> {
    // `Shop/Price.aplf` fits `#.Price` and `#.All.Shop.Price`: the user's folder may begin above
    // the root of the workspace or below it.
    let above = wanted.strip_suffix(function)?;
    let common = common_end(above, folders);
    (common == above.len() || common == folders.len()).then_some(function.len() + common)
}

/// The text of a file: UTF-8, else one byte a letter.
fn decode(bytes: &[u8]) -> String {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        // Latin-1 fits any bytes, and line ends are the same in it: numbers of lines stay right.
        Err(_) => bytes.iter().copied().map(char::from).collect(),
    }
}

/// Returns whether any requested line exists.
fn has_any(lines: &BTreeMap<i64, String>, place: &Place) -> bool {
    let mut wanted = place.lines.iter().chain(&place.begins);
    wanted.any(|line| lines.contains_key(line))
}

/// The lines that are wanted, by their numbers.
fn pick<'a>(
    lines: impl Iterator<Item = &'a str>,
    first_line: i64,
    is_wanted: impl Fn(i64) -> bool,
) -> BTreeMap<i64, String> {
    let wanted = (first_line..)
        .zip(lines)
        .filter(|(number, _)| is_wanted(*number));
    wanted
        .map(|(number, line)| (number, shortened(line.trim())))
        .collect()
}

fn shortened(line: &str) -> String {
    if line.len() <= LONGEST_LINE {
        return line.to_owned();
    }
    let end = (0..=LONGEST_LINE)
        .rev()
        .find(|end| line.is_char_boundary(*end))
        .unwrap_or(0);
    format!("{}…", &line[..end])
}

fn hash_lines(lines: &[&str]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for line in lines {
        hash.update(line);
        hash.update("\n");
    }
    hash.finalize().into()
}
