//! The dictionary of functions: equal definitions are one function.

use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::DefaultHashBuilder;

use super::rows::Function;
use crate::base::interner::Interner;
use crate::events::{FunctionDef, FunctionId};

/// Gives functions their ids.
#[derive(Default)]
pub(crate) struct FunctionInterner {
    functions: Interner<FunctionId, Arc<Function>>,
    hasher: DefaultHashBuilder,
}

impl FunctionInterner {
    /// The id of a function, and its text if it is new: ids count up in the order in which
    /// functions come.
    pub(crate) fn intern(&mut self, def: FunctionDef<'_>) -> (FunctionId, Option<Arc<Function>>) {
        // Several raw names may be shown as one name: then they are one function, and the first of
        // them is kept (test `equal_functions_with_other_raw_names_are_one`).
        let identity = FunctionDef {
            raw_name: "",
            ..def
        };
        let hash = self.hasher.hash_one(identity);
        let known = self
            .functions
            .find(hash, |known| known.definition() == identity);
        if let Some(known) = known {
            return (known, None);
        }
        let function = Arc::new(Function::new(def));
        let id = self.functions.add(hash, Arc::clone(&function));
        (id, Some(function))
    }
}
