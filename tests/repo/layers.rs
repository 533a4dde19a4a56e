//! Dependencies between the files of `src/`: there are no cycles, each room depends on the rooms that the
//! table in ARCHITECTURE.md allows, and code of several formats is shared.
//!
//! A file depends on another file if its code, without tests, names an item that the other file defines.
//! Re-exports are resolved: a facade with `pub use` neither depends on its folder nor counts as its file.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::LazyLock;

use crate::files::{Source, sources};
use crate::tidy::assert_empty;
use crate::tidy::reading::{Kind, Language, Token, code, tokens};

/// The rooms from the lowest to the highest: folder, purpose, and the other rooms that its files may
/// depend on.
pub(crate) const ROOMS: &[(&str, &str, &[&str])] = &[
    (
        "base",
        "errors, limits of the system, threads, hash index, interner, temporary files",
        &[],
    ),
    ("source", "source files in the user's folder", &[]),
    ("text", "text output of names, numbers and tables", &[]),
    ("input", "bytes of a file, with their position", &["base"]),
    (
        "events",
        "the sink, and the events by which an importer describes a file",
        &["base"],
    ),
    (
        "identity",
        "identities, which match functions across builds and processes",
        &["events"],
    ),
    (
        "profile",
        "the builder: rows and sums from the events of an importer",
        &["base", "events", "text"],
    ),
    (
        "store",
        "the database",
        &[
            "base", "source", "text", "input", "events", "identity", "profile",
        ],
    ),
    (
        "report",
        "reports: queries, results and their rendering",
        &["base", "events", "text", "store"],
    ),
    (
        "compare",
        "differences between runs, separated from noise",
        &["base", "events", "identity", "text", "store", "report"],
    ),
    (
        "history",
        "series of runs of a program over time",
        &["events", "text", "store", "report", "compare"],
    ),
    (
        "gate",
        "the check of changes against a budget",
        &["events", "text", "store", "report", "compare", "history"],
    ),
    (
        "formats/format.rs",
        "the interface of readers; with `formats/options.rs`, `formats/salvage.rs` and `formats/figure_detector.rs`",
        &["base", "input", "events"],
    ),
    (
        "formats/export",
        "the interface of writers, and their view of a run",
        &["base", "events", "store", "report", "formats/format.rs"],
    ),
    (
        "formats/common",
        "shared code of format families",
        &[
            "base",
            "text",
            "input",
            "events",
            "store",
            "formats/format.rs",
            "formats/export",
        ],
    ),
    (
        "formats/*",
        "a family of formats; its readers reach neither `store` nor `report`, its writers no reader",
        &[
            "base",
            "text",
            "input",
            "events",
            "store",
            "report",
            "formats/format.rs",
            "formats/export",
            "formats/common",
        ],
    ),
    (
        "formats",
        "the registry of all formats, and the detection of a file's format",
        &["base", "formats/format.rs", "formats/export", "formats/*"],
    ),
    (
        "pipeline",
        "an import from end to end",
        &[
            "base",
            "source",
            "input",
            "events",
            "profile",
            "store",
            "formats/format.rs",
        ],
    ),
    (
        "dataset",
        "runs as Parquet files for distributed query engines, and SQL for these engines",
        &["base", "source", "store", "report"],
    ),
    (
        "page",
        "an HTML page: runs as compressed columns, and the scripts of `web/` that compute reports from them",
        &["text", "store", "report", "compare"],
    ),
    (
        "serve",
        "a server for browsers on this machine: access checks and responses",
        &["base"],
    ),
    (
        "cli",
        "the command line",
        &[
            "base",
            "source",
            "text",
            "input",
            "events",
            "identity",
            "store",
            "report",
            "compare",
            "history",
            "gate",
            "page",
            "serve",
            "dataset",
            "formats/format.rs",
            "formats/export",
            "formats",
            "pipeline",
        ],
    ),
    (
        "main.rs",
        "the program; with `memory.rs` and `streams.rs`",
        &["base", "cli"],
    ),
];

/// A path of names from the root of the crate.
type Path = Vec<String>;

/// The dependencies between the files of `src/`.
struct Graph {
    /// The files that a file depends on, each with the name of an item as evidence.
    uses: BTreeMap<String, BTreeMap<String, String>>,
    /// The items that a file names, each with the file that defines it.
    items: BTreeMap<String, BTreeSet<(String, String)>>,
}

/// The modules of the library and their re-exports.
struct Modules {
    files: BTreeMap<Path, String>,
    re_exports: BTreeMap<Path, BTreeMap<String, Path>>,
}

/// The names in a file.
struct Reading {
    module: Path,
    /// The paths of the names that `use` imports.
    names: BTreeMap<String, Path>,
    /// The paths of the names that `pub use` re-exports.
    re_exports: BTreeMap<String, Path>,
    /// Paths in the code and in `use` declarations without `pub`.
    paths: BTreeSet<Path>,
    /// Words of the code outside `use` declarations.
    words: BTreeSet<String>,
}

impl Modules {
    /// Returns the file that defines the item at a path, and the name of the item there. Returns `None` if
    /// the path leads out of the library or to a module.
    fn defines(&self, path: &[String]) -> Option<(&str, String)> {
        // A name may be re-exported several times.
        let mut path = path.to_vec();
        for _ in 0..16 {
            let known = (0..=path.len())
                .rev()
                .find(|length| self.files.contains_key(&path[..*length]))?;
            let (module, item) = path.split_at(known);
            let name = item.first()?;
            match self
                .re_exports
                .get(module)
                .and_then(|names| names.get(name))
            {
                Some(meant) => path = meant.iter().chain(&item[1..]).cloned().collect(),
                None => return Some((&self.files[module], name.clone())),
            }
        }
        panic!("{}: the re-exports form a cycle", path.join("::"));
    }
}

impl Graph {
    /// Returns the graph of the sources, which is built once.
    fn of_sources() -> &'static Self {
        static GRAPH: LazyLock<Graph> = LazyLock::new(Graph::build);
        &GRAPH
    }

    fn build() -> Self {
        let sources: Vec<&'static Source> = sources()
            .filter(|source| source.is_in("src/") && source.is_a("rs"))
            .collect();
        let files: BTreeMap<Path, String> = sources
            .iter()
            .map(|source| (module(&source.path), source.path.clone()))
            .collect();
        let readings: Vec<(&str, Reading)> = sources
            .iter()
            .map(|source| (source.path.as_str(), Reading::new(source, &files)))
            .collect();
        let re_exports = readings
            .iter()
            .map(|(_, reading)| (reading.module.clone(), reading.re_exports.clone()))
            .collect();
        let modules = Modules { files, re_exports };
        let mut graph = Self {
            uses: BTreeMap::new(),
            items: BTreeMap::new(),
        };
        for (file, reading) in &readings {
            let uses = graph.uses.entry((*file).to_owned()).or_default();
            let items = graph.items.entry((*file).to_owned()).or_default();
            // A facade depends on a re-exported item only if its own code uses it.
            let own = reading
                .re_exports
                .iter()
                .filter(|(name, _)| reading.words.contains(*name));
            for path in reading.paths.iter().chain(own.map(|(_, path)| path)) {
                let Some((defined, name)) = modules.defines(path) else {
                    continue;
                };
                items.insert((defined.to_owned(), name));
                if defined != *file {
                    uses.entry(defined.to_owned())
                        .or_insert_with(|| path.join("::"));
                }
            }
        }
        graph
    }

    /// Returns the files on a shortest cycle through a file.
    fn cycle<'g>(&'g self, start: &'g str) -> Option<Vec<&'g str>> {
        let mut path = self.path_to(start, |_| true, |used| used == start)?;
        path.pop();
        Some(path)
    }

    /// Returns the files on a shortest path from a file to a selected file, both included. The files
    /// between them are those that `may_pass` accepts.
    fn path_to<'g>(
        &'g self,
        start: &'g str,
        may_pass: impl Fn(&str) -> bool,
        is_end: impl Fn(&str) -> bool,
    ) -> Option<Vec<&'g str>> {
        let mut before: BTreeMap<&str, &str> = BTreeMap::new();
        let mut next = vec![start];
        while !next.is_empty() {
            let mut further = Vec::new();
            for file in next {
                for used in self.uses.get(file).into_iter().flat_map(BTreeMap::keys) {
                    if is_end(used) {
                        let mut path = vec![used.as_str(), file];
                        while let Some(earlier) = path.last().and_then(|last| before.get(last)) {
                            path.push(earlier);
                        }
                        path.reverse();
                        return Some(path);
                    }
                    if used != start && may_pass(used) && !before.contains_key(used.as_str()) {
                        before.insert(used, file);
                        further.push(used.as_str());
                    }
                }
            }
            next = further;
        }
        None
    }
}

impl Reading {
    fn new(source: &'static Source, files: &BTreeMap<Path, String>) -> Self {
        let tokens = code(source.tokens_without_tests());
        let mut reading = Self {
            module: module(&source.path),
            names: BTreeMap::new(),
            re_exports: BTreeMap::new(),
            paths: BTreeSet::new(),
            words: BTreeSet::new(),
        };
        let mut rest = tokens.as_slice();
        let mut others = Vec::new();
        while let Some((token, after)) = rest.split_first() {
            let visibility = if token.text == "pub" {
                1 + in_parentheses(after)
            } else {
                0
            };
            if rest.get(visibility).is_none_or(|token| token.text != "use") {
                others.push(*token);
                rest = after;
                continue;
            }
            let declared = &rest[visibility + 1..];
            let end = declared
                .iter()
                .position(|token| token.text == ";")
                .expect("`use` ends");
            reading.declare(&declared[..end], visibility > 0, files);
            rest = &declared[end..];
        }
        reading.add_code(&others, files);
        reading
    }

    /// Adds the names of a `use` declaration.
    fn declare(&mut self, tokens: &[Token<'_>], is_public: bool, files: &BTreeMap<Path, String>) {
        for (path, name) in leaves(tokens) {
            let Some(path) = self.absolute(&path, files) else {
                continue;
            };
            if is_public {
                self.re_exports.insert(name, path);
            } else {
                self.names.insert(name, path.clone());
                self.paths.insert(path);
            }
        }
    }

    /// Adds the names of code without `use` declarations.
    fn add_code(&mut self, tokens: &[Token<'_>], files: &BTreeMap<Path, String>) {
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            at += 1;
            if token.kind != Kind::Word {
                continue;
            }
            self.words.insert(token.text.to_owned());
            let mut path = vec![token.text];
            while let [a, b, word, ..] = &tokens[at..] {
                if a.text != ":" || b.text != ":" || word.kind != Kind::Word {
                    break;
                }
                path.push(word.text);
                at += 3;
            }
            if path.len() > 1 {
                self.paths.extend(self.absolute(&path, files));
            }
        }
    }

    /// Returns the path from the root of the crate, or `None` if the path leads out of the crate.
    fn absolute(&self, path: &[&str], files: &BTreeMap<Path, String>) -> Option<Path> {
        let (first, rest) = path.split_first()?;
        let mut from = match *first {
            "crate" | "profdb" => Vec::new(),
            "self" => self.module.clone(),
            "super" => self.module[..self.module.len() - 1].to_vec(),
            name => {
                let child: Path = self
                    .module
                    .iter()
                    .cloned()
                    .chain([name.to_owned()])
                    .collect();
                if files.contains_key(&child) {
                    child
                } else {
                    self.names
                        .get(name)
                        .or_else(|| self.re_exports.get(name))?
                        .clone()
                }
            }
        };
        for name in rest {
            match *name {
                "super" => drop(from.pop()),
                "self" => {}
                name => from.push(name.to_owned()),
            }
        }
        Some(from)
    }
}

/// Returns the number of tokens up to the end of the parentheses at the start.
fn in_parentheses(tokens: &[Token<'_>]) -> usize {
    if tokens.first().is_none_or(|first| first.text != "(") {
        return 0;
    }
    let end = tokens.iter().position(|token| token.text == ")");
    end.map_or(0, |end| end + 1)
}

/// Returns the expanded paths of a `use` declaration with the names that they define.
fn leaves<'t>(tokens: &[Token<'t>]) -> Vec<(Vec<&'t str>, String)> {
    let mut paths = Vec::new();
    let mut groups: Vec<Vec<&str>> = vec![Vec::new()];
    let mut path: Vec<&str> = Vec::new();
    let mut alias = None;
    let mut rest = tokens.iter();
    let mut end = |path: &mut Vec<&'t str>, alias: &mut Option<&str>, group: &[&'t str]| {
        let mut whole = group.to_vec();
        whole.append(path);
        if whole.len() > 1 && whole.last() == Some(&"self") {
            whole.pop();
        }
        if let Some(name) = alias.take().or(whole.last().copied())
            && whole.len() > group.len().min(1)
        {
            paths.push((whole.clone(), name.to_owned()));
        }
    };
    while let Some(token) = rest.next() {
        match token.text {
            ":" => {}
            "{" => {
                let mut group = groups.last().cloned().unwrap_or_default();
                group.append(&mut path);
                groups.push(group);
            }
            "," | "}" => {
                let group = groups.last().cloned().unwrap_or_default();
                if !path.is_empty() {
                    end(&mut path, &mut alias, &group);
                }
                if token.text == "}" {
                    groups.pop();
                }
            }
            "as" => alias = rest.next().map(|name| name.text),
            name => path.push(name),
        }
    }
    if !path.is_empty() {
        end(&mut path, &mut alias, &[]);
    }
    paths
}

/// Returns the module of a file.
fn module(file: &str) -> Path {
    let inside = file.trim_start_matches("src/").trim_end_matches(".rs");
    let mut path: Path = inside.split('/').map(str::to_owned).collect();
    match file {
        "src/lib.rs" => Path::new(),
        // The program is a crate of its own.
        "src/main.rs" => vec!["(program)".to_owned()],
        "src/memory.rs" => vec!["(program)".to_owned(), "memory".to_owned()],
        "src/streams.rs" => vec!["(program)".to_owned(), "streams".to_owned()],
        _ => {
            if path.last().is_some_and(|last| last == "mod") {
                path.pop();
            }
            path
        }
    }
}

/// Returns the room of a file.
fn room(file: &str) -> &str {
    let inside = file.trim_start_matches("src/");
    match inside.split('/').collect::<Vec<_>>().as_slice() {
        ["main.rs" | "memory.rs" | "streams.rs"] => "main.rs",
        ["lib.rs"] => "lib.rs",
        [
            "formats",
            "figure_detector.rs" | "format.rs" | "options.rs" | "salvage.rs",
        ] => "formats/format.rs",
        ["formats", "export", ..] => "formats/export",
        ["formats", "common", ..] => "formats/common",
        ["formats", _, _, ..] => "formats/*",
        [folder, _, ..] => folder,
        _ => panic!("{file} is in no room"),
    }
}

/// Returns the dependencies between rooms, each with a file and a name as evidence.
fn arrows() -> BTreeMap<(String, String), String> {
    let mut arrows = BTreeMap::new();
    for (file, uses) in &Graph::of_sources().uses {
        for (other, name) in uses {
            let (from, to) = (room(file).to_owned(), room(other).to_owned());
            if from != to {
                arrows
                    .entry((from, to))
                    .or_insert_with(|| format!("{file} names {name}"));
            }
        }
    }
    arrows
}

#[test]
fn rooms_depend_on_allowed_rooms_only() {
    let arrows = arrows();
    let mut faults = Vec::new();
    let mut below: BTreeSet<&str> = BTreeSet::new();
    for (room, _, sees) in ROOMS {
        for seen in *sees {
            if !below.contains(seen) {
                faults.push(format!("the table: {seen} is not below {room}"));
            }
            if !arrows.contains_key(&((*room).to_owned(), (*seen).to_owned())) {
                faults.push(format!("the table: {room} does not depend on {seen}"));
            }
        }
        below.insert(room);
    }
    for ((from, to), name) in &arrows {
        let allowed = ROOMS.iter().find(|(room, ..)| room == from);
        if !allowed.is_some_and(|(_, _, sees)| sees.contains(&to.as_str())) {
            faults.push(format!("{from} depends on {to}: {name}"));
        }
    }
    assert_empty(
        "A room depends on the rooms that ROOMS (tests/repo/layers.rs) allows, which are below it.",
        &faults,
    );
}

#[test]
fn files_have_no_dependency_cycles() {
    let graph = Graph::of_sources();
    let mut faults = Vec::new();
    let mut reported = BTreeSet::new();
    for file in graph.uses.keys() {
        let Some(cycle) = graph.cycle(file) else {
            continue;
        };
        let mut same = cycle.clone();
        same.sort_unstable();
        if !reported.insert(same) {
            continue;
        }
        let mut text = String::new();
        for (at, from) in cycle.iter().enumerate() {
            let to = cycle[(at + 1) % cycle.len()];
            let _ = write!(text, "{from} -> ({}) -> ", graph.uses[*from][to]);
        }
        faults.push(text + cycle[0]);
    }
    assert_empty(
        "Files have no cyclic dependencies: move shared code into a lower file.",
        &faults,
    );
}

/// An item of a file, from its line to the line of the next item. An `impl` has the name of its type.
struct Item {
    name: String,
    is_public: bool,
    words: BTreeSet<String>,
}

impl Item {
    fn all(text: &str) -> Vec<Self> {
        const KINDS: &[&str] = &["const", "enum", "fn", "static", "struct", "trait", "type"];
        let mut chunks: Vec<String> = Vec::new();
        for line in text.lines() {
            let starts = line.starts_with(|first: char| first.is_ascii_lowercase());
            if starts || chunks.is_empty() {
                chunks.push(String::new());
            }
            let chunk = chunks.last_mut().expect("one has just been added");
            chunk.push_str(line);
            chunk.push('\n');
        }
        let mut items = Vec::new();
        for chunk in &chunks {
            let chunk_tokens = code(&tokens(chunk, Language::Rust));
            let words: Vec<&str> = chunk_tokens
                .iter()
                .filter(|token| token.kind == Kind::Word)
                .map(|token| token.text)
                .collect();
            let name = if words.first() == Some(&"impl") {
                // The type precedes the body, and follows `for` if there is a trait.
                let head = chunk.split('{').next().unwrap_or_default();
                let head = code(&tokens(head, Language::Rust));
                let of = head.iter().rposition(|token| token.text == "for");
                let mut depth = 0;
                let mut named = None;
                for token in &head[of.unwrap_or(0) + 1..] {
                    match token.text {
                        "<" => depth += 1,
                        ">" => depth -= 1,
                        _ if depth == 0 && token.kind == Kind::Word => named = Some(token.text),
                        _ => {}
                    }
                    if token.text == "where" {
                        break;
                    }
                }
                named
            } else {
                let kind = words.iter().take(8).position(|word| KINDS.contains(word));
                kind.and_then(|kind| words.get(kind + 1)).copied()
            };
            items.extend(name.map(|name| Self {
                name: name.to_owned(),
                is_public: words.first() == Some(&"pub"),
                words: words.iter().map(|word| (*word).to_owned()).collect(),
            }));
        }
        items
    }
}

/// Returns the family of formats of a file, or `None` for shared files.
fn family(file: &str) -> Option<&str> {
    let (family, _) = file.strip_prefix("src/formats/")?.split_once('/')?;
    (!["common", "export"].contains(&family)).then_some(family)
}

#[test]
fn shared_code_has_two_users() {
    const COMMON: &str = "src/formats/common/";
    let graph = Graph::of_sources();
    let files: BTreeMap<String, Vec<Item>> = sources()
        .filter(|source| source.is_in(COMMON) && source.is_a("rs"))
        .map(|source| (source.path.clone(), Item::all(source.text_without_tests())))
        .collect();
    let mut users: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    for (user, used) in &graph.items {
        let by = match family(user) {
            _ if user.starts_with(COMMON) => continue,
            Some(family) => family,
            None => user,
        };
        for (file, name) in used {
            users.entry((file, name)).or_default().insert(by);
        }
    }
    // A user of a shared item uses the items that it names, too.
    loop {
        let mut more = Vec::new();
        for (file, items) in &files {
            for item in items {
                let Some(by) = users.get(&(file.as_str(), item.name.as_str())) else {
                    continue;
                };
                let same = item.words.iter().map(|word| (file.as_str(), word.as_str()));
                let others = graph.items[file]
                    .iter()
                    .filter(|(_, name)| item.words.contains(name))
                    .map(|(file, name)| (file.as_str(), name.as_str()));
                for used in same.chain(others) {
                    if users.get(&used).is_none_or(|known| !known.is_superset(by)) {
                        more.push((used, by.clone()));
                    }
                }
            }
        }
        if more.is_empty() {
            break;
        }
        for (used, by) in more {
            users.entry(used).or_default().extend(by);
        }
    }
    let mut faults = Vec::new();
    for (file, items) in &files {
        for item in items.iter().filter(|item| item.is_public) {
            let by = users.get(&(file.as_str(), item.name.as_str()));
            let by: Vec<&str> = by.into_iter().flatten().copied().collect();
            if by.len() < 2 && !by.iter().any(|by| by.starts_with("src/")) {
                faults.push(format!("{file}: {} is used by {by:?} alone", item.name));
            }
        }
    }
    assert_empty(
        "src/formats/common/ has the code that several families of formats use; other code is in the folder of its family.",
        &faults,
    );
}

/// The folder of a family can be deleted without changes to other families.
#[test]
fn families_do_not_depend_on_each_other() {
    let graph = Graph::of_sources();
    let mut faults = Vec::new();
    for (file, uses) in &graph.uses {
        let Some(own) = family(file) else { continue };
        for (used, name) in uses {
            if family(used).is_some_and(|other| other != own) {
                faults.push(format!("{file}: {name} of {used}"));
            }
        }
    }
    assert_empty(
        "A family of formats does not depend on another family.",
        &faults,
    );
}

#[test]
fn importers_and_writers_are_separate() {
    let graph = Graph::of_sources();
    let starts_with = |file: &str, rooms: &[&str]| {
        rooms
            .iter()
            .any(|room| file.starts_with(&format!("src/{room}/")))
    };
    let is_format = |file: &str| starts_with(file, &["formats"]);
    let mut faults = Vec::new();
    for file in graph.uses.keys().filter(|file| is_format(file)) {
        let path = if file.ends_with("/read.rs") {
            let is_far = |used: &str| starts_with(used, &["profile", "report", "store"]);
            graph.path_to(file, |_| true, is_far)
        } else if file.ends_with("/write.rs") {
            // The database depends on `input`, but a format does not reach `input` through it.
            let is_far = |used: &str| {
                starts_with(used, &["input"]) || is_format(used) && used.ends_with("/read.rs")
            };
            graph.path_to(file, is_format, is_far)
        } else {
            None
        };
        faults.extend(path.map(|path| path.join(" -> ")));
    }
    assert_empty(
        "Importers reach neither a database nor a profile; writers reach neither an importer nor an input.",
        &faults,
    );
}
