//! Where in the tree of calls the stacks of a thread are.

use hashbrown::HashMap;

use super::tables::{NONE, View, none_of, or_0};
use crate::base::error::{ImportError, Position};
use crate::events::{FunctionDef, FunctionId, Sink};
use crate::formats::common::call_tree::{CallTree, Location, NodeId, TOP};
use crate::formats::common::repeated::Repeated;

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
            let wrong = || none_of(at, self.nodes.len(), "stack", next);
            let known = *self.nodes.get(next as usize).ok_or_else(wrong)?;
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
        let function = frames.function.get(frame as usize);
        let function =
            *function.ok_or_else(|| none_of(self.at, frames.function.len(), "frame", frame))?;
        let known = self.functions.get(&function).copied();
        let id = if let Some(known) = known {
            known
        } else {
            self.function(function)?
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

    fn function(&mut self, number: u32) -> Result<FunctionId, ImportError> {
        let View {
            strings,
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
        let Some(name) = functions.name.get(number as usize) else {
            return Err(none_of(self.at, functions.name.len(), "function", number));
        };
        let resource = at(&functions.resource, number).and_then(|resource| at(resources, resource));
        let source = at(&functions.source, number).and_then(|source| at(sources, source));
        let file = at(&functions.file, number).or(source);
        let text = |number| {
            self.view
                .text(number)
                .map_err(|wrong| none_of(self.at, strings.len(), "string", wrong))
        };
        let (name, module, file) = (text(Some(*name))?, text(resource)?, text(file)?);
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
