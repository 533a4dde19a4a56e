//! The dictionary of lines.

use std::sync::Arc;

use hashbrown::HashMap;

use crate::base::interner::{Id, Table};
use crate::events::{FunctionId, Line};
use crate::profile::ids::{CallSiteId, LineId};
use crate::profile::rows::SourceLine;
use crate::profile::sums::Occurrences;

/// A line of a function, and what changes with every node of it.
pub(super) struct KnownLine {
    pub(super) occurrences: Occurrences,
    pub(super) function: FunctionId,
    /// The line as a caller; `None` before it has called.
    pub(super) call_site: Option<CallSiteId>,
    /// The line that was opened after it the last time, below one node.
    pub(super) next: Option<LineId>,
    pub(super) line: SourceLine,
}

impl KnownLine {
    fn is(&self, line: Line<'_>) -> bool {
        // Most lines have no file of their own, and comparing two empty texts costs a call.
        let same_file = match &self.line.file {
            None => line.file.is_empty(),
            Some(file) => **file == *line.file,
        };
        (self.line.line, self.line.col) == (line.line, line.col) && same_file
    }
}

/// The lines by function and place.
#[derive(Default)]
pub(super) struct Lines {
    table: Table<LineId, KnownLine>,
    /// Lines in the file of their function, without column: by function and number.
    plain: HashMap<(FunctionId, u32), LineId>,
    other: HashMap<(FunctionId, SourceLine), LineId>,
}

impl Lines {
    /// Finds or adds a line.
    pub(super) fn intern(&mut self, function: FunctionId, line: Line<'_>) -> LineId {
        let next = LineId::new(self.table.len());
        let mut place = SourceLine {
            file: None,
            line: line.line,
            col: line.col,
        };
        // Most lines: a key of two numbers, which is hashed and compared without a text.
        let found = if line.file.is_empty() && line.col == 0 {
            *self.plain.entry((function, line.line)).or_insert(next)
        } else {
            place.file = (!line.file.is_empty()).then(|| Arc::from(line.file));
            *self.other.entry((function, place.clone())).or_insert(next)
        };
        if found == next {
            self.table.push(KnownLine {
                occurrences: Occurrences::default(),
                function,
                call_site: None,
                next: None,
                line: place,
            });
        }
        found
    }

    /// Whether an entry is this line of its function.
    pub(super) fn is(&self, id: LineId, line: Line<'_>) -> bool {
        self.table[id].is(line)
    }

    pub(super) fn table(&self) -> &Table<LineId, KnownLine> {
        &self.table
    }

    pub(super) fn table_mut(&mut self) -> &mut Table<LineId, KnownLine> {
        &mut self.table
    }

    /// Keeps the entries only: none will be looked up any more.
    pub(super) fn forget_keys(&mut self) {
        self.plain = HashMap::new();
        self.other = HashMap::new();
    }
}
