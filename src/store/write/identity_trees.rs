//! The b-trees of identities in a new file: their table with its key, and the index from them to
//! functions.

use std::hash::BuildHasher;
use std::io;

use hashbrown::DefaultHashBuilder;

use super::roots::Roots;
use super::row_trees::start_table_row;
use crate::base::hash_index::HashIndex;
use crate::identity::{Identity, IdentityKey};
use profdb_sqlite_pages::btree::{IndexTree, TableTree};
use profdb_sqlite_pages::page_file::PageFile;
use profdb_sqlite_pages::record::Record;

/// The identities of functions that are numbered from 1, in the order in which they come.
pub(super) struct IdentityTrees {
    rows: TableTree,
    /// In the order of their ids, which begin with 1: there may be one for each function.
    keys: Vec<IdentityKey>,
    /// Where in `keys` a key is.
    index: HashIndex,
    hasher: DefaultHashBuilder,
    /// Ids by function.
    of_functions: Vec<u32>,
}

impl IdentityTrees {
    pub(super) fn new(file: &PageFile) -> Self {
        Self {
            rows: TableTree::new(file),
            keys: Vec::new(),
            index: HashIndex::default(),
            hasher: DefaultHashBuilder::default(),
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
        let hash = self.hasher.hash_one(key);
        let known = self.index.find(hash, |at| self.keys[at as usize] == *key);
        let next = u32::try_from(self.keys.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let id = known.unwrap_or(next) + 1;
        self.of_functions.push(id);
        if known.is_none() {
            self.index.insert(hash, next);
            self.keys.push(*key);
            let row = start_table_row(record)
                .text(identity.class.word())
                .text(&identity.name)
                .text(&identity.module)
                .text(&identity.file);
            let row = row.integer(i64::from(identity.is_unnamed())).blob(key);
            self.rows.push(file, u64::from(id), row)?;
        }
        Ok(i64::from(id))
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
        let mut keys: Vec<(IdentityKey, u32)> = self.keys.into_iter().zip(1..).collect();
        keys.sort_unstable();
        let mut index = IndexTree::new(file);
        for (key, id) in keys {
            index.push(file, record.start().blob(&key).integer(i64::from(id)))?;
        }
        index.finish(file, roots.identities_key)?;
        let mut functions: Vec<(u32, u32)> = self.of_functions.into_iter().zip(1..).collect();
        functions.sort_unstable();
        let mut index = IndexTree::new(file);
        for (identity, function) in functions {
            let row = record.start().integer(i64::from(identity));
            index.push(file, row.integer(i64::from(function)))?;
        }
        index.finish(file, roots.functions_by_identity)
    }
}
