//! Who may see whom: no file depends on itself by way of others, each room sees the rooms that the
//! table in ARCHITECTURE.md allows, and what several formats share is shared.
//!
//! A file depends on another one if its code, tests apart, names an item that is defined there,
//! wherever a `pub use` hands that item on: a facade that re-exports the vocabulary of its folder
//! neither depends on it nor stands for it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::tidy::reading::{Kind, Language, Token, code};
use crate::tidy::{is_a, nothing, sources};

/// The rooms, each below those that see it: its folder, what it is, and the rooms that its files may
/// see besides their own.
pub(crate) const ROOMS: &[(&str, &str, &[&str])] = &[
    (
        "base",
        "errors, limits of the system, threads, hash index and interner, what waits in temporary files",
        &[],
    ),
    ("source", "source files in the user's folder", &[]),
    ("text", "how names, numbers and tables look in text", &[]),
    ("input", "bytes of a file, with their position", &["base"]),
    (
        "events",
        "the sink, and the words in which an importer says what a file holds",
        &["base"],
    ),
    (
        "identity",
        "which functions are one, whatever build or process their names are of",
        &["events"],
    ),
    (
        "profile",
        "the builder: rows and sums from what an importer says",
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
        "questions, answers, and how they are rendered",
        &["base", "events", "text", "store"],
    ),
    (
        "compare",
        "what changed between runs, and whether that is more than noise",
        &["base", "events", "identity", "text", "store", "report"],
    ),
    (
        "history",
        "what runs of one program tell over time",
        &["events", "text", "store", "report", "compare"],
    ),
    (
        "gate",
        "whether what changed is within a budget",
        &["events", "text", "store", "compare", "history"],
    ),
    (
        "formats/format.rs",
        "what a reader is; with `formats/options.rs`",
        &["base", "input", "events"],
    ),
    (
        "formats/export",
        "what a writer is, and the run that it sees",
        &["base", "events", "store", "report", "formats/format.rs"],
    ),
    (
        "formats/common",
        "what several families of formats use",
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
        "the registry of all formats, and which one a file has",
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
        "runs as Parquet files that engines for many machines read, and the SQL of these engines",
        &["base", "source", "store", "report"],
    ),
    (
        "page",
        "one file for a browser: runs as compressed columns, and the scripts of `web/` that answer questions about them",
        &["text", "store", "report", "compare"],
    ),
    (
        "serve",
        "a server for the browser of this machine: who may ask, and how answers get there",
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

/// A path of names, from the root of the crate.
type Path = Vec<String>;

/// What the files of `src/` name of each other.
struct Graph {
    /// By file: the files that it depends on, and a name that says so.
    uses: BTreeMap<String, BTreeMap<String, String>>,
    /// By file: every item that it names, as the file that defines it and the item's name.
    items: BTreeMap<String, BTreeSet<(String, String)>>,
}

/// The modules of the library, and what they hand on.
struct Modules {
    files: BTreeMap<Path, String>,
    handed_on: BTreeMap<Path, BTreeMap<String, Path>>,
}

/// What a file says in `use` declarations and elsewhere.
struct Reading {
    module: Path,
    /// Names that `use` brings in, and what they mean.
    names: BTreeMap<String, Path>,
    /// Names that `pub use` hands on.
    handed_on: BTreeMap<String, Path>,
    /// Paths in `use` declarations that hand nothing on, and paths in the code.
    paths: BTreeSet<Path>,
    /// Words of the code outside of `use` declarations.
    words: BTreeSet<String>,
}

impl Modules {
    /// The file that defines what a path names, and the name it has there; `None` if the path names
    /// nothing of ours, or a module as such.
    fn defines(&self, path: &[String]) -> Option<(&str, String)> {
        // A name may be handed on several times.
        let mut path = path.to_vec();
        for _ in 0..16 {
            let known = (0..=path.len())
                .rev()
                .find(|length| self.files.contains_key(&path[..*length]))?;
            let (module, item) = path.split_at(known);
            let name = item.first()?;
            match self.handed_on.get(module).and_then(|names| names.get(name)) {
                Some(meant) => path = meant.iter().chain(&item[1..]).cloned().collect(),
                None => return Some((&self.files[module], name.clone())),
            }
        }
        panic!("{}: handed on in a circle", path.join("::"));
    }
}

impl Graph {
    fn read() -> Self {
        let texts: Vec<(String, String)> = sources()
            .filter(|(path, _)| path.starts_with("src/") && is_a(path, "rs"))
            .collect();
        let files: BTreeMap<Path, String> = texts
            .iter()
            .map(|(file, _)| (module(file), file.clone()))
            .collect();
        let readings: Vec<(&str, Reading)> = texts
            .iter()
            .map(|(file, text)| (file.as_str(), Reading::new(module(file), text, &files)))
            .collect();
        let handed_on = readings
            .iter()
            .map(|(_, reading)| (reading.module.clone(), reading.handed_on.clone()))
            .collect();
        let modules = Modules { files, handed_on };
        let mut graph = Self {
            uses: BTreeMap::new(),
            items: BTreeMap::new(),
        };
        for (file, reading) in &readings {
            let uses = graph.uses.entry((*file).to_owned()).or_default();
            let items = graph.items.entry((*file).to_owned()).or_default();
            // What a facade hands on it may need itself.
            let own = reading
                .handed_on
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

    /// The files on a shortest way from a file back to itself.
    fn circle<'g>(&'g self, start: &'g str) -> Option<Vec<&'g str>> {
        let mut way = self.way(start, |_| true, |used| used == start)?;
        way.pop();
        Some(way)
    }

    /// The files on a shortest way from a file to one that is looked for, both included, by way of
    /// files that it may pass.
    fn way<'g>(
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
                        let mut way = vec![used.as_str(), file];
                        while let Some(earlier) = way.last().and_then(|last| before.get(last)) {
                            way.push(earlier);
                        }
                        way.reverse();
                        return Some(way);
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
    fn new(module: Path, text: &str, files: &BTreeMap<Path, String>) -> Self {
        let text = text
            .split("#[cfg(test)]\nmod tests")
            .next()
            .unwrap_or_default();
        let tokens = code(text, Language::Rust);
        let mut reading = Self {
            module,
            names: BTreeMap::new(),
            handed_on: BTreeMap::new(),
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
        reading.see(&others, files);
        reading
    }

    /// Takes in a `use` declaration.
    fn declare(&mut self, tokens: &[Token<'_>], is_public: bool, files: &BTreeMap<Path, String>) {
        for (path, name) in leaves(tokens) {
            let Some(path) = self.absolute(&path, files) else {
                continue;
            };
            if is_public {
                self.handed_on.insert(name, path);
            } else {
                self.names.insert(name, path.clone());
                self.paths.insert(path);
            }
        }
    }

    /// Takes in code without its `use` declarations.
    fn see(&mut self, tokens: &[Token<'_>], files: &BTreeMap<Path, String>) {
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

    /// The path from the root of the crate, if it leads into the crate.
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
                        .or_else(|| self.handed_on.get(name))?
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

/// How many tokens are a pair of parentheses at the start, with what is between them.
fn in_parentheses(tokens: &[Token<'_>]) -> usize {
    if tokens.first().is_none_or(|first| first.text != "(") {
        return 0;
    }
    let end = tokens.iter().position(|token| token.text == ")");
    end.map_or(0, |end| end + 1)
}

/// The paths in a `use` declaration, written out, and the names that they get.
fn leaves<'t>(tokens: &[Token<'t>]) -> Vec<(Vec<&'t str>, String)> {
    let mut found = Vec::new();
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
            found.push((whole.clone(), name.to_owned()));
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
    found
}

/// The module that a file is.
fn module(file: &str) -> Path {
    let inside = file.trim_start_matches("src/").trim_end_matches(".rs");
    let mut path: Path = inside.split('/').map(str::to_owned).collect();
    match file {
        "src/lib.rs" => Path::new(),
        // The program is another crate.
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

/// The room that a file is in, named as [`ROOMS`] names it.
fn room(file: &str) -> &str {
    let inside = file.trim_start_matches("src/");
    match inside.split('/').collect::<Vec<_>>().as_slice() {
        ["main.rs" | "memory.rs" | "streams.rs"] => "main.rs",
        ["lib.rs"] => "lib.rs",
        ["formats", "format.rs" | "options.rs"] => "formats/format.rs",
        ["formats", "export", ..] => "formats/export",
        ["formats", "common", ..] => "formats/common",
        ["formats", _, _, ..] => "formats/*",
        [folder, _, ..] => folder,
        _ => panic!("{file} is in no room"),
    }
}

/// Between rooms: what sees what, and a file and a name that say so.
fn arrows() -> BTreeMap<(String, String), String> {
    let mut arrows = BTreeMap::new();
    for (file, uses) in Graph::read().uses {
        for (other, name) in uses {
            let (from, to) = (room(&file).to_owned(), room(&other).to_owned());
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
fn rooms_see_what_the_table_allows() {
    let arrows = arrows();
    let mut found = Vec::new();
    let mut below: BTreeSet<&str> = BTreeSet::new();
    for (room, _, sees) in ROOMS {
        for seen in *sees {
            if !below.contains(seen) {
                found.push(format!(
                    "the table: {room} sees {seen}, which is not below it"
                ));
            }
            if !arrows.contains_key(&((*room).to_owned(), (*seen).to_owned())) {
                found.push(format!("the table: {room} may see {seen}, and does not"));
            }
        }
        below.insert(room);
    }
    for ((from, to), name) in &arrows {
        let allowed = ROOMS.iter().find(|(room, ..)| room == from);
        if !allowed.is_some_and(|(_, _, sees)| sees.contains(&to.as_str())) {
            found.push(format!("{from} sees {to}: {name}"));
        }
    }
    nothing(
        "A room sees what ROOMS (tests/repo/layers.rs) allows, all of which is below it.",
        &found,
    );
}

#[test]
fn no_file_depends_on_itself() {
    let graph = Graph::read();
    let mut found = Vec::new();
    let mut told = BTreeSet::new();
    for file in graph.uses.keys() {
        let Some(circle) = graph.circle(file) else {
            continue;
        };
        let mut same = circle.clone();
        same.sort_unstable();
        if !told.insert(same) {
            continue;
        }
        let mut text = String::new();
        for (at, from) in circle.iter().enumerate() {
            let to = circle[(at + 1) % circle.len()];
            let _ = write!(text, "{from} -> ({}) -> ", graph.uses[*from][to]);
        }
        found.push(text + circle[0]);
    }
    nothing(
        "No file depends on itself by way of others: what both need goes into one below them.",
        &found,
    );
}

/// What is at the left margin of a file, from one item to the next: the item's name, whether other
/// files may name it, and every word in it. An `impl` belongs to its type.
struct Item {
    name: String,
    is_public: bool,
    words: BTreeSet<String>,
}

impl Item {
    fn all(text: &str) -> Vec<Self> {
        const KINDS: &[&str] = &["const", "enum", "fn", "static", "struct", "trait", "type"];
        let text = text
            .split("#[cfg(test)]\nmod tests")
            .next()
            .unwrap_or_default();
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
            let tokens = code(chunk, Language::Rust);
            let words: Vec<&str> = tokens
                .iter()
                .filter(|token| token.kind == Kind::Word)
                .map(|token| token.text)
                .collect();
            let name = if words.first() == Some(&"impl") {
                // The type is what is before the body, after `for` if there is a trait.
                let head = code(chunk.split('{').next().unwrap_or_default(), Language::Rust);
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

/// The family of formats that a file belongs to, if it does not belong to all of them.
fn family(file: &str) -> Option<&str> {
    let (family, _) = file.strip_prefix("src/formats/")?.split_once('/')?;
    (!["common", "export"].contains(&family)).then_some(family)
}

/// What several families use is common, and what one uses is its own.
#[test]
fn common_is_what_two_families_use() {
    const COMMON: &str = "src/formats/common/";
    let graph = Graph::read();
    let files: BTreeMap<String, Vec<Item>> = sources()
        .filter(|(path, _)| path.starts_with(COMMON) && is_a(path, "rs"))
        .map(|(path, text)| (path, Item::all(&text)))
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
    // Who uses an item of common uses what that names.
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
    let mut found = Vec::new();
    for (file, items) in &files {
        for item in items.iter().filter(|item| item.is_public) {
            let by = users.get(&(file.as_str(), item.name.as_str()));
            let by: Vec<&str> = by.into_iter().flatten().copied().collect();
            if by.len() < 2 && !by.iter().any(|by| by.starts_with("src/")) {
                found.push(format!("{file}: {} is used by {by:?} alone", item.name));
            }
        }
    }
    nothing(
        "src/formats/common/ holds what two families of formats use; what one uses is in its folder.",
        &found,
    );
}

/// A family of formats is a folder that can be taken away.
#[test]
fn families_do_not_know_each_other() {
    let graph = Graph::read();
    let mut found = Vec::new();
    for (file, uses) in &graph.uses {
        let Some(own) = family(file) else { continue };
        for (used, name) in uses {
            if family(used).is_some_and(|other| other != own) {
                found.push(format!("{file}: {name} of {used}"));
            }
        }
    }
    nothing("No family of formats names another one.", &found);
}

/// Importers know what they read and say, writers a profile and an output.
#[test]
fn reading_and_writing_are_apart() {
    let graph = Graph::read();
    let starts_with = |file: &str, rooms: &[&str]| {
        rooms
            .iter()
            .any(|room| file.starts_with(&format!("src/{room}/")))
    };
    let is_format = |file: &str| starts_with(file, &["formats"]);
    let mut found = Vec::new();
    for file in graph.uses.keys().filter(|file| is_format(file)) {
        let way = if file.ends_with("/read.rs") {
            let is_far = |used: &str| starts_with(used, &["profile", "report", "store"]);
            graph.way(file, |_| true, is_far)
        } else if file.ends_with("/write.rs") {
            // The database that a profile comes from knows of its inputs, but no format asks it.
            let is_far = |used: &str| {
                starts_with(used, &["input"]) || is_format(used) && used.ends_with("/read.rs")
            };
            graph.way(file, is_format, is_far)
        } else {
            None
        };
        found.extend(way.map(|way| way.join(" -> ")));
    }
    nothing(
        "Importers reach neither a database nor a profile, and writers reach no importer and no input.",
        &found,
    );
}
