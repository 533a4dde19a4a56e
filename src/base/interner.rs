//! Tables by id, and interners: equal things get one id, numbered in the order in which they come.
//!
//! Large profiles look up entries all over memory, and each look-up waits for the one before. So
//! a caller that knows what it will look up next says so (`prefetch`), for several entries at once,
//! and memory delivers all of them together (docs/design/measured-choices.md). A look-up by hash has
//! three steps of this kind, each of which needs what the one before has asked for: the slot of
//! the hash ([`Interner::prefetch_slot`]), the entry that is probably there ([`Interner::guess`],
//! then `prefetch`), and the comparison ([`Interner::find`]).

use std::hash::BuildHasher;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

use hashbrown::DefaultHashBuilder;
use prefetch_index::prefetch_index;

use super::hash_index::HashIndex;

/// The index of an entry in one table. Each table has a type of its own for it.
pub(crate) trait Id: Copy {
    /// The id of the entry at an index.
    ///
    /// # Panics
    /// When the index needs more than 32 bits: nothing that is kept in memory has that many
    /// entries.
    fn new(index: usize) -> Self;

    /// The index of the entry.
    fn index(self) -> usize;
}

/// Entries by id.
pub(crate) struct Table<I, T> {
    entries: Vec<T>,
    // A function type, so that the table can be sent to another thread whatever its id is: it holds
    // none.
    id: PhantomData<fn(I)>,
}

impl<I: Id, T> Table<I, T> {
    /// Adds an entry.
    pub(crate) fn push(&mut self, entry: T) -> I {
        let id = I::new(self.entries.len());
        self.entries.push(entry);
        id
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Forgets all entries, and keeps the room.
    pub(crate) fn clear(&mut self) {
        self.entries.clear();
    }

    pub(crate) fn get(&self, id: I) -> Option<&T> {
        self.entries.get(id.index())
    }

    pub(crate) fn get_mut(&mut self, id: I) -> Option<&mut T> {
        self.entries.get_mut(id.index())
    }

    /// All entries with their ids.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (I, &T)> {
        self.entries
            .iter()
            .enumerate()
            .map(|(index, entry)| (I::new(index), entry))
    }

    /// Says that an entry will be read soon.
    #[inline]
    pub(crate) fn prefetch(&self, id: I) {
        prefetch_index(&self.entries, id.index());
    }
}

impl<I, T> Default for Table<I, T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<I, T> From<Vec<T>> for Table<I, T> {
    fn from(entries: Vec<T>) -> Self {
        Self {
            entries,
            id: PhantomData,
        }
    }
}

impl<I: Id, T> Index<I> for Table<I, T> {
    type Output = T;

    fn index(&self, id: I) -> &T {
        &self.entries[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for Table<I, T> {
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.entries[id.index()]
    }
}

/// One cell for each row and column, row after row.
pub(crate) struct Grid<R, C, T> {
    cells: Vec<T>,
    columns: usize,
    ids: PhantomData<fn(R, C)>,
}

impl<R: Id, C: Id, T: Copy> Grid<R, C, T> {
    /// A grid of equal cells.
    pub(crate) fn filled(rows: usize, columns: usize, cell: T) -> Self {
        Self {
            cells: vec![cell; rows * columns],
            columns,
            ids: PhantomData,
        }
    }

    /// Adds rows of equal cells until there are so many.
    pub(crate) fn grow(&mut self, rows: usize, cell: T) {
        self.cells.resize(rows * self.columns, cell);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    pub(crate) fn get(&self, row: R, column: C) -> Option<&T> {
        // A column that is too large would be a cell of the next row: metrics are checked before
        // they come here (`TreeBuilder::accept`).
        self.cells.get(row.index() * self.columns + column.index())
    }

    /// All cells of a row.
    pub(crate) fn row_mut(&mut self, row: R) -> &mut [T] {
        let first = row.index() * self.columns;
        &mut self.cells[first..first + self.columns]
    }

    pub(crate) fn cells(&self) -> &[T] {
        &self.cells
    }

    /// Says that a cell, or the row from there on, will be read soon.
    #[inline]
    pub(crate) fn prefetch(&self, row: R, column: C) {
        prefetch_index(&self.cells, row.index() * self.columns + column.index());
    }
}

impl<R, C, T> Default for Grid<R, C, T> {
    fn default() -> Self {
        Self {
            cells: Vec::new(),
            columns: 0,
            ids: PhantomData,
        }
    }
}

impl<R: Id, C: Id, T> Index<(R, C)> for Grid<R, C, T> {
    type Output = T;

    #[inline]
    fn index(&self, (row, column): (R, C)) -> &T {
        &self.cells[row.index() * self.columns + column.index()]
    }
}

impl<R: Id, C: Id, T> IndexMut<(R, C)> for Grid<R, C, T> {
    #[inline]
    fn index_mut(&mut self, (row, column): (R, C)) -> &mut T {
        &mut self.cells[row.index() * self.columns + column.index()]
    }
}

/// Entries by id and by the hash of their key, which the caller computes and compares.
pub(crate) struct Interner<I, T> {
    table: Table<I, T>,
    index: HashIndex,
}

impl<I: Id, T> Interner<I, T> {
    /// The entry with this hash for which `is_it` holds.
    pub(crate) fn find(&self, hash: u64, is_it: impl Fn(&T) -> bool) -> Option<I> {
        let found = self
            .index
            .find(hash, |at| is_it(&self.table.entries[at as usize]));
        found.map(|at| I::new(at as usize))
    }

    /// Adds an entry that is not there.
    pub(crate) fn add(&mut self, hash: u64, entry: T) -> I {
        let at = u32::try_from(self.table.len()).expect("fewer than 2^32 entries");
        self.index.insert(hash, at);
        self.table.push(entry)
    }

    /// The entry that [`find`](Self::find) will probably give, without reading it.
    pub(crate) fn guess(&self, hash: u64) -> Option<I> {
        self.index.guess(hash).map(|at| I::new(at as usize))
    }

    /// Says that this hash will be looked up soon.
    #[inline]
    pub(crate) fn prefetch_slot(&self, hash: u64) {
        let (slots, first) = self.index.first_slot(hash);
        prefetch_index(slots, first);
    }

    /// Keeps the entries only: nothing will be looked up by hash any more.
    pub(crate) fn forget_keys(&mut self) {
        // A new one instead of `clear`, which would keep the memory while rows are made of the
        // entries.
        self.index = HashIndex::default();
    }

    pub(crate) fn table(&self) -> &Table<I, T> {
        &self.table
    }

    pub(crate) fn table_mut(&mut self) -> &mut Table<I, T> {
        &mut self.table
    }
}

impl<I, T> Default for Interner<I, T> {
    fn default() -> Self {
        Self {
            table: Table::default(),
            index: HashIndex::default(),
        }
    }
}

/// The id of a text in a [`TextInterner`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextId(u32);

impl Id for TextId {
    #[inline]
    fn new(index: usize) -> Self {
        Self(u32::try_from(index).expect("fewer than 2^32 texts"))
    }

    #[inline]
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// Texts by id, in one buffer.
///
/// A caller that looks up several texts hashes all of them and says so ([`prefetch_slot`]), then
/// [guesses](Self::guess) all, then asks for what the guesses need ([`prefetch`]), and then
/// [confirms](Self::confirm) the guesses one by one.
///
/// [`prefetch_slot`]: Self::prefetch_slot
/// [`prefetch`]: Self::prefetch
#[derive(Default)]
pub(crate) struct TextInterner {
    index: HashIndex,
    hasher: DefaultHashBuilder,
    /// One text after the other, and where each of them ends.
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl TextInterner {
    pub(crate) fn hash(&self, text: &[u8]) -> u64 {
        self.hasher.hash_one(text)
    }

    /// The id of a text, if it has one.
    pub(crate) fn find(&self, text: &[u8]) -> Option<TextId> {
        self.find_hashed(text, self.hash(text))
    }

    /// Says that the text with this hash will be looked up soon.
    pub(crate) fn prefetch_slot(&self, hash: u64) {
        let (slots, first) = self.index.first_slot(hash);
        prefetch_index(slots, first);
    }

    /// An id that is probably that of the text with this hash.
    pub(crate) fn guess(&self, hash: u64) -> Option<TextId> {
        let guess = self.index.guess(hash)?;
        prefetch_index(&self.ends, guess as usize);
        Some(TextId(guess))
    }

    /// Says that a text will be read soon.
    pub(crate) fn prefetch(&self, id: TextId) {
        prefetch_index(&self.text, self.start(id));
    }

    /// The id of a text whose hash is known, and what that has let guess.
    pub(crate) fn confirm(&self, guess: Option<TextId>, text: &[u8], hash: u64) -> Option<TextId> {
        guess
            .filter(|id| self.text(*id) == text)
            .or_else(|| self.find_hashed(text, hash))
    }

    fn find_hashed(&self, text: &[u8], hash: u64) -> Option<TextId> {
        let found = self.index.find(hash, |at| self.text(TextId(at)) == text);
        found.map(TextId)
    }

    /// Adds a text that is not there.
    pub(crate) fn add(&mut self, text: &[u8]) -> TextId {
        let id = TextId::new(self.ends.len());
        self.index.insert(self.hash(text), id.0);
        self.text.extend_from_slice(text);
        self.ends.push(self.text.len());
        id
    }

    /// A text; empty if there is none.
    pub(crate) fn text(&self, id: TextId) -> &[u8] {
        // Texts are not allocated one by one: an end for each of them costs eight bytes, and the
        // start is the end of the text before.
        let end = self.ends.get(id.index()).copied().unwrap_or_default();
        self.text.get(self.start(id)..end).unwrap_or_default()
    }

    fn start(&self, id: TextId) -> usize {
        let before = id.index().checked_sub(1);
        before
            .and_then(|before| self.ends.get(before))
            .copied()
            .unwrap_or_default()
    }
}
