//! Names in callgrind's format: written out, or as the number that was given to them before.

use hashbrown::HashMap;

use super::words::number;
use crate::base::error::Position;
use crate::events::{Severity, Sink};
use crate::formats::common::counted::{Counted, many};
use crate::formats::common::names::{NameId, NameTable};

/// What the numbers of names are counted by.
#[derive(Clone, Copy)]
pub(super) enum Sort {
    Object,
    File,
    Function,
}

/// The names of a file.
pub(super) struct NumberedNames {
    names: NameTable,
    by_number: [HashMap<u64, NameId>; 3],
    /// The empty name.
    pub(super) unknown: NameId,
    homes: Homes,
    /// Numbers that are used and have no name.
    unnamed: Counted,
}

/// Which file a function is in.
enum Homes {
    /// The one that is said with it; with a call that says none, that of the caller.
    Said,
    /// The one that is said with it; a call that says none is one of the function of this name,
    /// wherever it is. By function.
    Unsaid(HashMap<NameId, NameId>),
    /// The first one that is said with it. By function.
    First(HashMap<NameId, NameId>),
}

impl NumberedNames {
    pub(super) fn new() -> Self {
        let mut names = NameTable::default();
        let unknown = names.of_text(String::new());
        Self {
            names,
            by_number: Default::default(),
            unknown,
            homes: Homes::Said,
            unnamed: Counted::default(),
        }
    }

    /// From now on a call that names no file is one of the function of this name, wherever it is.
    /// Else it is one of a function in the file of the caller.
    pub(super) fn calls_name_no_file(&mut self) {
        self.homes = Homes::Unsaid(HashMap::new());
    }

    /// From now on a function is in the first file that is said with it: its name is that of no
    /// other, and what follows is the file of its lines.
    pub(super) fn functions_have_one_file(&mut self) {
        self.homes = Homes::First(HashMap::new());
    }

    /// Forgets what numbers mean and where functions are: another file begins, or this one again.
    pub(super) fn forget(&mut self) {
        self.by_number = Default::default();
        match &mut self.homes {
            Homes::Said => {}
            Homes::Unsaid(homes) | Homes::First(homes) => homes.clear(),
        }
    }

    pub(super) fn all(&self) -> &NameTable {
        &self.names
    }

    pub(super) fn text(&self, name: NameId) -> &str {
        self.names.text(name)
    }

    pub(super) fn of_text(&mut self, text: &str) -> NameId {
        self.names.of_text(text.to_owned())
    }

    pub(super) fn of_bytes(&mut self, text: &[u8]) -> NameId {
        self.names.of_bytes(text)
    }

    /// A name, which may be given by its number.
    pub(super) fn read(&mut self, at: Position, sort: Sort, text: &[u8]) -> NameId {
        let (id, text) = numbered(text);
        if let (Some(id), true) = (id, text.is_empty()) {
            return self.numbered(at, sort, id);
        }
        let is_unknown = match sort {
            Sort::Function => false,
            Sort::Object | Sort::File => {
                // NYTProf has a word of its own for it.
                text == b"???" || text == b"Unknown" && matches!(self.homes, Homes::First(_))
            }
        };
        let name = if is_unknown {
            self.unknown
        } else {
            self.of_bytes(text)
        };
        if let (Some(id), Some(names)) = (id, self.by_number.get_mut(sort as usize)) {
            names.insert(id, name);
        }
        name
    }

    /// Returns the name of a number. A function whose number has no name is called by it; other names
    /// are unknown then.
    fn numbered(&mut self, at: Position, sort: Sort, id: u64) -> NameId {
        let names = self.by_number.get(sort as usize);
        if let Some(name) = names.and_then(|names| names.get(&id)) {
            return *name;
        }
        self.unnamed.add_with(at, || id.to_string());
        let name = match sort {
            Sort::Function => self.names.of_text(format!("({id})")),
            Sort::Object | Sort::File => self.unknown,
        };
        if let Some(names) = self.by_number.get_mut(sort as usize) {
            names.insert(id, name);
        }
        name
    }

    /// Returns true if a number has no name.
    pub(super) fn has_unnamed(&self) -> bool {
        self.unnamed.count() > 0
    }

    /// Adds a note about numbers without a name.
    pub(super) fn note_unnamed(&self, sink: &mut dyn Sink) {
        self.unnamed
            .note_with(sink, Severity::Warning, |count, first| {
                format!(
                    "{} without a name (first: {first}): functions are named by the number, files and objects are unknown",
                    many(count, "number")
                )
            });
    }

    /// The function is in this file. `true` if its file was asked for before and not known.
    pub(super) fn settle(&mut self, function: NameId, file: NameId) -> bool {
        let unknown = self.unknown;
        match &mut self.homes {
            // A call may come before the record of the function that it calls (case
            // `callgrind/xdebug-old-aggregate`).
            Homes::Unsaid(homes) => homes.insert(function, file) == Some(unknown),
            Homes::Said | Homes::First(_) => false,
        }
    }

    /// The file of a function, given what the file says where it costs something.
    pub(super) fn home(&mut self, function: NameId, said: NameId) -> NameId {
        match &mut self.homes {
            Homes::First(homes) => *homes.entry(function).or_insert(said),
            Homes::Said | Homes::Unsaid(_) => said,
        }
    }

    /// The file of a called function, given what the call says, and the file of the caller.
    pub(super) fn home_of_called(
        &mut self,
        function: NameId,
        said: Option<NameId>,
        caller: NameId,
    ) -> NameId {
        let unknown = self.unknown;
        match (&mut self.homes, said) {
            (Homes::Unsaid(homes), None) => *homes.entry(function).or_insert(unknown),
            (_, said) => self.home(function, said.unwrap_or(caller)),
        }
    }
}

/// Whether the text gives a number to a name, and may do no more than that.
pub(super) fn gives_number(text: &[u8]) -> bool {
    matches!(numbered(text), (Some(_), [_, ..]))
}

/// `(1) main`: the number, if there is one, and the name.
fn numbered(text: &[u8]) -> (Option<u64>, &[u8]) {
    let parts = text.strip_prefix(b"(").and_then(|rest| {
        let end = rest.iter().position(|byte| *byte == b')')?;
        // Brackets without a number are a part of the name (case `callgrind/hostile-names`).
        Some((number(rest.get(..end)?)?, rest.get(end + 1..)?.trim_ascii()))
    });
    parts.map_or((None, text), |(id, name)| (Some(id), name))
}
