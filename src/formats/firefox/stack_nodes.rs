//! Where in the tree of calls the stacks of a thread are.

use hashbrown::HashMap;

use super::tables::{MISSING, NONE, View, or_0};
use crate::base::error::{ImportError, Position};
use crate::events::{FunctionDef, FunctionId, Severity, Sink};
use crate::formats::common::call_tree::{CallTree, Location, NodeId, TOP};
use crate::formats::common::counted::{Counted, many};
use crate::formats::common::missing_frames::MissingFrames;
use crate::formats::common::repeated::Repeated;

/// The references of a file to entries of tables that are not in it.
#[derive(Default)]
pub(super) struct MissingEntries {
    pub(super) frames: MissingFrames,
    /// Number of references to stacks, frames and functions.
    references: u64,
    texts: Counted,
    /// References of functions to resources and sources.
    places: Counted,
    pub(super) categories: Counted,
}

impl MissingEntries {
    /// Adds notes with the number of references.
    ///
    /// # Errors
    /// When most references to stacks, frames and functions lead nowhere.
    pub(super) fn note(&self, sink: &mut dyn Sink) -> Result<(), ImportError> {
        self.frames.note(self.references, sink)?;
        for (missing, entry) in [
            (&self.texts, "text"),
            (&self.places, "resource or source"),
            (&self.categories, "category"),
        ] {
            missing.note_with(sink, Severity::Warning, |count, first| {
                let references = many(count, "reference");
                format!(
                    "{references} to a {entry} that is not in the file (first: {first}): skipped"
                )
            });
        }
        Ok(())
    }
}

/// Finds out where in the tree the stacks of a thread are.
pub(super) struct StackNodes<'p> {
    pub(super) view: View<'p>,
    pub(super) tree: &'p mut CallTree<[f64; 0]>,
    pub(super) sink: &'p mut dyn Sink,
    pub(super) at: Position,
    pub(super) top: NodeId,
    /// By stack; [`TOP`] of one that has not been asked for.
    pub(super) nodes: Vec<NodeId>,
    /// By number in the table.
    pub(super) functions: &'p mut HashMap<u32, FunctionId>,
    pub(super) names: &'p mut Repeated,
    pub(super) missing: &'p mut MissingEntries,
    /// Where the thread ends.
    pub(super) end: Position,
}

impl StackNodes<'_> {
    /// The node of a stack's innermost frame.
    pub(super) fn node(&mut self, stack: u32, at: Position) -> Result<NodeId, ImportError> {
        // Outwards to a stack whose node is known, then inwards again: each stack of the table is
        // looked up once, and a loop follows any depth.
        let mut way = Vec::new();
        let mut next = stack;
        let mut node = self.top;
        while next != NONE {
            self.missing.references += 1;
            let Some(known) = self.nodes.get(next as usize).copied() else {
                let location = self.missing(at, next);
                node = self.tree.below(node, location);
                break;
            };
            if known != TOP {
                node = known;
                break;
            }
            way.push(next);
            next = self
                .view
                .stacks
                .prefix
                .get(next as usize)
                .copied()
                .unwrap_or(NONE);
        }
        while let Some(stack) = way.pop() {
            let location = self.location(stack)?;
            node = self.tree.below(node, location);
            if let Some(known) = self.nodes.get_mut(stack as usize) {
                *known = node;
            }
        }
        Ok(node)
    }

    /// The innermost frame of a stack.
    fn location(&mut self, stack: u32) -> Result<Location, ImportError> {
        let View { stacks, frames, .. } = self.view;
        let frame = stacks.frame.get(stack as usize).copied().unwrap_or(NONE);
        let Some(function) = frames.function.get(frame as usize).copied() else {
            return Ok(self.missing(self.at, frame));
        };
        let id = match self.functions.get(&function) {
            Some(known) => *known,
            None => self.function(function)?,
        };
        let line = or_0(&frames.line, frame);
        // Without a line, a column tells nothing.
        Ok(Location {
            function: id,
            line,
            col: if line == 0 {
                0
            } else {
                or_0(&frames.column, frame)
            },
        })
    }

    /// Returns the frame that takes the place of one that is not in the file.
    fn missing(&mut self, at: Position, number: u32) -> Location {
        let number = match number {
            NONE => "none".to_owned(),
            MISSING => "a prefix that does not precede its stack".to_owned(),
            number => number.to_string(),
        };
        Location::of(self.missing.frames.function(at, &number, self.sink))
    }

    fn function(&mut self, number: u32) -> Result<FunctionId, ImportError> {
        let View {
            functions,
            resources,
            sources,
            ..
        } = self.view;
        let at = |column: &[u32], number: u32| {
            column
                .get(number as usize)
                .copied()
                .filter(|value| *value != NONE)
        };
        let name = functions.name.get(number as usize);
        let Some(name) = name.and_then(|name| self.view.text(Some(*name)).ok()) else {
            let missing = self.missing(self.at, number).function;
            return Ok(missing);
        };
        let places = &mut self.missing.places;
        let mut at_place = |column: &[u32], place: Option<u32>| {
            let place = place?;
            if !column.is_empty() && place as usize >= column.len() {
                places.add_with(self.at, || place.to_string());
            }
            at(column, place)
        };
        let resource = at_place(resources, at(&functions.resource, number));
        let source = at_place(sources, at(&functions.source, number));
        let file = at(&functions.file, number).or(source);
        let mut text = |number| {
            self.view.text(number).unwrap_or_else(|number| {
                let texts = &mut self.missing.texts;
                texts.add_with(self.at, || number.to_string());
                ""
            })
        };
        let (module, file) = (text(resource), text(file));
        self.names.add(&[name, module, file], self.end)?;
        let first_line = or_0(&functions.line, number);
        let first_col = if first_line == 0 {
            0
        } else {
            or_0(&functions.column, number)
        };
        let id = self.sink.function(FunctionDef {
            module,
            file,
            first_line,
            first_col,
            ..FunctionDef::named(name)
        });
        self.functions.insert(number, id);
        Ok(id)
    }
}
