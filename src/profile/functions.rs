//! The dictionary of functions: equal definitions are one function.

use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::DefaultHashBuilder;

use super::ids::index;
use super::rows::Function;
use crate::base::hash_index::HashIndex;
use crate::events::{FunctionDef, FunctionId};

/// See the module's page.
#[derive(Default)]
pub(crate) struct Functions {
    all: Vec<Arc<Function>>,
    index: HashIndex,
    hasher: DefaultHashBuilder,
}

impl Functions {
    /// The number of a function, and its text if it is new: they are numbered in the order in which
    /// they come.
    pub(crate) fn number(&mut self, def: FunctionDef<'_>) -> (FunctionId, Option<Arc<Function>>) {
        let identity = FunctionDef {
            raw_name: "",
            ..def
        };
        let hash = self.hasher.hash_one(identity);
        if let Some(at) = self
            .index
            .find(hash, |at| definition(&self.all[at as usize]) == identity)
        {
            return (FunctionId(at), None);
        }
        let at = index(self.all.len());
        let function = Arc::new(Function {
            kind: def.kind,
            name: def.name.into(),
            raw_name: (!def.raw_name.is_empty()).then(|| def.raw_name.into()),
            module: def.module.into(),
            file: def.file.into(),
            first_line: def.first_line,
            first_col: def.first_col,
        });
        self.all.push(Arc::clone(&function));
        self.index.insert(hash, at);
        (FunctionId(at), Some(function))
    }
}

/// What tells the function from others.
fn definition(function: &Function) -> FunctionDef<'_> {
    FunctionDef {
        kind: function.kind,
        name: &function.name,
        raw_name: "",
        module: &function.module,
        file: &function.file,
        first_line: function.first_line,
        first_col: function.first_col,
    }
}
