//! The b-trees of identities in a new file: their table with its key, and the index from them to
//! functions.

use std::io;

use hashbrown::{DefaultHashBuilder, HashMap};

use super::columns::integer;
use super::roots::Roots;
use super::row_trees::start_table_row;
use crate::identity::{Identity, IdentityKey};
use crate::sqlite::btree::{IndexTree, TableTree};
use crate::sqlite::page_file::PageFile;
use crate::sqlite::record::Record;

/// The identities of functions that are numbered from 1, in the order in which they come.
pub(super) struct IdentityTrees {
    rows: TableTree,
    ids: HashMap<IdentityKey, i64, DefaultHashBuilder>,
    /// By function.
    of_functions: Vec<i64>,
}

impl IdentityTrees {
    pub(super) fn new(file: &PageFile) -> Self {
        Self {
            rows: TableTree::new(file),
            ids: HashMap::default(),
            of_functions: Vec::new(),
        }
    }

    /// The id of the identity of the next function. Its row is written if it is new.
    // benches/instructions.sh counts what identities cost by the name of this function.
    #[inline(never)]
    pub(super) fn of_next_function(
        &mut self,
        file: &mut PageFile,
        record: &mut Record,
        identity: &Identity<'_>,
        key: &IdentityKey,
    ) -> io::Result<i64> {
        let next = self.ids.len() as u64 + 1;
        let known = self.ids.get(key).copied();
        let id = known.unwrap_or(integer(next));
        self.of_functions.push(id);
        if known.is_none() {
            self.ids.insert(*key, id);
            let row = start_table_row(record)
                .text(identity.class.word())
                .text(&identity.name)
                .text(&identity.module)
                .text(&identity.file);
            let row = row.integer(i64::from(identity.is_unnamed())).blob(key);
            self.rows.push(file, next, row)?;
        }
        Ok(id)
    }

    /// Completes the trees.
    // benches/instructions.sh counts what identities cost by the name of this function.
    #[inline(never)]
    pub(super) fn finish(
        self,
        file: &mut PageFile,
        record: &mut Record,
        roots: &Roots,
    ) -> io::Result<()> {
        self.rows.finish(file, roots.identities)?;
        let mut keys: Vec<(IdentityKey, i64)> = self.ids.into_iter().collect();
        keys.sort_unstable();
        let mut index = IndexTree::new(file);
        for (key, id) in keys {
            index.push(file, record.start().blob(&key).integer(id))?;
        }
        index.finish(file, roots.identities_key)?;
        let mut functions: Vec<(i64, i64)> = self.of_functions.into_iter().zip(1..).collect();
        functions.sort_unstable();
        let mut index = IndexTree::new(file);
        for (identity, function) in functions {
            index.push(file, record.start().integer(identity).integer(function))?;
        }
        index.finish(file, roots.functions_by_identity)
    }
}
