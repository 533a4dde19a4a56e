//! A string interner for names whose bytes may be in any encoding: each is decoded once.

use hashbrown::HashMap;

use crate::text::escape;

/// The number of a name.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::formats) struct NameId(usize);

/// Names, equal ones once, however they were written.
#[derive(Default)]
pub(in crate::formats) struct NameTable {
    texts: Vec<String>,
    by_text: HashMap<String, NameId>,
    by_bytes: HashMap<Box<[u8]>, NameId>,
}

impl NameTable {
    pub(in crate::formats) fn of_text(&mut self, text: String) -> NameId {
        let next = NameId(self.texts.len());
        *self.by_text.entry(text).or_insert_with_key(|text| {
            self.texts.push(text.clone());
            next
        })
    }

    pub(in crate::formats) fn of_bytes(&mut self, bytes: &[u8]) -> NameId {
        if let Some(name) = self.by_bytes.get(bytes) {
            return *name;
        }
        let name = self.of_text(escape::text(bytes).into_owned());
        self.by_bytes.insert(bytes.into(), name);
        name
    }

    pub(in crate::formats) fn text(&self, name: NameId) -> &str {
        self.texts.get(name.0).map_or("", String::as_str)
    }
}
