//! The functions, files and lines that a pass meets, numbered in the order in which they come.

use std::hash::Hash;

use hashbrown::HashMap;
use rusqlite::Connection;

use super::question::{ContainerKind, NodeQuestion};
use super::read::Line;

/// Numbers below this are looked up without a hash.
const DIRECT: usize = 1 << 20;

/// Marks a function without a number yet.
const NEW: u32 = u32::MAX;

/// A function.
#[derive(Debug)]
pub(super) struct Function {
    /// Its number in the database.
    pub(super) id: i64,
    pub(super) is_focus: bool,
    pub(super) is_ignored: bool,
    pub(super) is_hidden: bool,
    /// What it is, if it only holds others.
    pub(super) container: Option<ContainerKind>,
    /// The group that it is counted in.
    pub(super) group: Option<usize>,
}

/// The functions met so far.
pub(super) struct Functions<'q> {
    question: &'q NodeQuestion,
    containers: &'q HashMap<i64, ContainerKind>,
    direct: Vec<u32>,
    hashed: HashMap<i64, usize>,
    pub(super) all: Vec<Function>,
    /// For each function, the steps of the path whose names mean it, as bits.
    steps: Vec<u64>,
    /// Words of bits for one function.
    words: usize,
    /// The function that represents each group.
    pub(super) groups: Vec<i64>,
    group_numbers: HashMap<i64, usize>,
}

impl<'q> Functions<'q> {
    pub(super) fn new(
        connection: &Connection,
        question: &'q NodeQuestion,
        words: usize,
    ) -> rusqlite::Result<Self> {
        Ok(Self {
            question,
            containers: question.containers(connection)?,
            direct: Vec::new(),
            hashed: HashMap::new(),
            all: Vec::new(),
            steps: Vec::new(),
            words,
            groups: Vec::new(),
            group_numbers: HashMap::new(),
        })
    }

    /// The number of a function here.
    pub(super) fn number(&mut self, id: i64) -> usize {
        match usize::try_from(id) {
            Ok(at) if at < DIRECT => {
                if at >= self.direct.len() {
                    self.direct.resize((at + 1).next_power_of_two(), NEW);
                }
                if self.direct[at] == NEW {
                    self.direct[at] = u32::try_from(self.add(id)).expect("no more than numbers");
                }
                self.direct[at] as usize
            }
            _ => {
                if let Some(number) = self.hashed.get(&id) {
                    return *number;
                }
                let number = self.add(id);
                self.hashed.insert(id, number);
                number
            }
        }
    }

    fn add(&mut self, id: i64) -> usize {
        let question = self.question;
        let filters = &question.filters;
        let has = |filter: &Option<hashbrown::HashSet<i64>>| {
            filter.as_ref().is_some_and(|filter| filter.contains(&id))
        };
        let group = match &question.groups {
            None => Some(id),
            Some(groups) => groups.get(&id).copied(),
        };
        let group = group.map(|group| number(&mut self.group_numbers, &mut self.groups, group));
        self.all.push(Function {
            id,
            is_focus: has(&filters.focus),
            is_ignored: has(&filters.ignore),
            is_hidden: has(&filters.hide),
            container: self.containers.get(&id).copied(),
            group,
        });
        let from = self.steps.len();
        self.steps.resize(from + self.words, 0);
        for (step, said) in question.path.iter().enumerate() {
            if said.functions.contains(&id) {
                self.steps[from + step / 64] |= 1 << (step % 64);
            }
        }
        self.all.len() - 1
    }

    /// The steps of the path whose names mean a function.
    pub(super) fn steps(&self, function: usize) -> &[u64] {
        &self.steps[function * self.words..][..self.words]
    }
}

/// A line of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Place {
    pub(super) function: usize,
    /// Number of the file; 0 for the function's own.
    pub(super) file: usize,
    pub(super) line: i64,
    pub(super) col: Option<i64>,
}

/// The files met so far, and the lines of which sums are wanted.
pub(super) struct Lines {
    numbers: HashMap<Place, usize>,
    pub(super) all: Vec<Place>,
    file_numbers: HashMap<Vec<u8>, usize>,
    /// Names of files; the first one means the function's own.
    pub(super) files: Vec<Vec<u8>>,
}

impl Lines {
    pub(super) fn new() -> Self {
        Self {
            numbers: HashMap::new(),
            all: Vec::new(),
            file_numbers: HashMap::from_iter([(Vec::new(), 0)]),
            files: vec![Vec::new()],
        }
    }

    /// The file of a line; `None` where it is the function's own.
    ///
    /// # Errors
    /// When it is not UTF-8.
    pub(super) fn file(&self, place: &Place) -> rusqlite::Result<Option<String>> {
        if place.file == 0 {
            return Ok(None);
        }
        let file = std::str::from_utf8(&self.files[place.file]);
        let file = file.map_err(|error| rusqlite::Error::Utf8Error(4, error))?;
        Ok(Some(file.to_owned()))
    }

    /// A line of a function, with the number of its file here.
    pub(super) fn place(&mut self, function: usize, line: &Line<'_>) -> Place {
        let file = match line.file {
            None => 0,
            Some(file) => match self.file_numbers.get(file) {
                Some(file) => *file,
                None => number(&mut self.file_numbers, &mut self.files, file.to_vec()),
            },
        };
        Place {
            function,
            file,
            line: line.line,
            col: line.col,
        }
    }

    /// The number of a line here.
    pub(super) fn number(&mut self, place: Place) -> usize {
        number(&mut self.numbers, &mut self.all, place)
    }
}

/// The number of an entry of a table, which may be new.
pub(super) fn number<K: Clone + Eq + Hash>(
    numbers: &mut HashMap<K, usize>,
    all: &mut Vec<K>,
    entry: K,
) -> usize {
    *numbers.entry(entry).or_insert_with_key(|entry| {
        all.push(entry.clone());
        all.len() - 1
    })
}
