//! Names in callgrind's format: written out, or as the number that was given to them before.

use hashbrown::HashMap;

use super::callgrind_words::number;
use super::counted::Counted;
use super::names::{Name, Names};
use crate::error::{ImportError, Position};

/// What the numbers of names are counted by.
#[derive(Clone, Copy)]
pub(in crate::importers) enum Sort {
    Object,
    File,
    Function,
}

/// The names of a file.
pub(in crate::importers) struct NumberedNames {
    names: Names,
    by_number: [HashMap<u64, Name>; 3],
    /// The empty name.
    pub(in crate::importers) unknown: Name,
    pub(in crate::importers) not_utf8: Counted,
    /// Files of functions by name, where calls do not say in which file the called function is.
    homes: Option<HashMap<Name, Name>>,
}

impl NumberedNames {
    pub(in crate::importers) fn new() -> Self {
        let mut names = Names::default();
        let unknown = names.of_text(String::new());
        Self { names, by_number: Default::default(), unknown, not_utf8: Counted::default(), homes: None }
    }

    /// From now on a call that names no file is one of the function of this name, wherever it is. Else it is one of a
    /// function in the file of the caller.
    pub(in crate::importers) fn calls_name_no_file(&mut self) {
        self.homes = Some(HashMap::new());
    }

    /// Another file, or this one once more: numbers and places mean nothing any more.
    pub(in crate::importers) fn forget(&mut self) {
        self.by_number = Default::default();
        if let Some(homes) = &mut self.homes {
            homes.clear();
        }
    }

    pub(in crate::importers) fn all(&self) -> &Names {
        &self.names
    }

    pub(in crate::importers) fn text(&self, name: Name) -> &str {
        self.names.text(name)
    }

    pub(in crate::importers) fn of_text(&mut self, text: &str) -> Name {
        self.names.of_text(text.to_owned())
    }

    pub(in crate::importers) fn of_bytes(&mut self, at: Position, text: &[u8]) -> Name {
        let (name, is_new) = self.names.of_bytes(text);
        if is_new {
            self.not_utf8.add(at);
        }
        name
    }

    /// A name, or what its number stands for.
    pub(in crate::importers) fn read(&mut self, at: Position, sort: Sort, text: &[u8]) -> Result<Name, ImportError> {
        let compressed = text.strip_prefix(b"(").and_then(|rest| {
            let end = rest.iter().position(|byte| *byte == b')')?;
            Some((number(rest.get(..end)?)?, rest.get(end + 1..)?.trim_ascii()))
        });
        let (id, text) = match compressed {
            Some((id, text)) => (Some(id), text),
            None => (None, text),
        };
        if let (Some(id), true) = (id, text.is_empty()) {
            let missing = || ImportError::malformed(at, format!("a name for the number {id}"), "nothing");
            return self.by_number.get(sort as usize).and_then(|names| names.get(&id)).copied().ok_or_else(missing);
        }
        let is_unknown = text == b"???" && !matches!(sort, Sort::Function);
        let name = if is_unknown { self.unknown } else { self.of_bytes(at, text) };
        if let (Some(id), Some(names)) = (id, self.by_number.get_mut(sort as usize)) {
            names.insert(id, name);
        }
        Ok(name)
    }

    /// The function is in this file. `true` if its file was asked for before and not known.
    pub(in crate::importers) fn settle(&mut self, function: Name, file: Name) -> bool {
        let unknown = self.unknown;
        self.homes.as_mut().is_some_and(|homes| homes.insert(function, file) == Some(unknown))
    }

    /// The file of a called function that the call does not name.
    pub(in crate::importers) fn home(&mut self, function: Name, caller: Name) -> Name {
        let unknown = self.unknown;
        self.homes.as_mut().map_or(caller, |homes| *homes.entry(function).or_insert(unknown))
    }
}
