//! Which functions the locations of a profile are: those that the file names, or one for each
//! address without a name.

use std::borrow::Cow;

use hashbrown::HashMap;

use super::proportion::{RATIO, is_out_of_proportion};
use super::tables::{Function, Location, Mapping, Reference, Tables};
use crate::base::error::{ImportError, Position};
use crate::events::{Frame, FunctionDef, FunctionId, Kind, Line, Severity, Sink};
use crate::formats::common::counted::{Counted, many};

/// What has neither name nor address.
const UNKNOWN: &str = "[unknown]";

/// Finds the functions of locations: one for each function of the file in each mapping.
pub(super) struct Symbols<'s> {
    tables: &'s Tables,
    sink: &'s mut dyn Sink,
    /// Where the tables end.
    end: Position,
    /// By function and mapping.
    known: HashMap<(usize, Option<usize>), FunctionId>,
    /// Bytes of all names.
    named: u64,
    /// Functions whose names are not in the file.
    nameless: Counted,

    no_mapping: Counted,
    no_function: Counted,
    odd_lines: Counted,
    symbolized: Counted,
}

impl<'s> Symbols<'s> {
    pub(super) fn new(tables: &'s Tables, end: Position, sink: &'s mut dyn Sink) -> Self {
        Self {
            tables,
            sink,
            end,
            known: HashMap::new(),
            named: 0,
            nameless: Counted::default(),
            no_mapping: Counted::default(),
            no_function: Counted::default(),
            odd_lines: Counted::default(),
            symbolized: Counted::default(),
        }
    }

    /// Adds the frames of a location, outermost first.
    pub(super) fn frames(
        &mut self,
        location: &Location,
        frames: &mut Vec<Frame<'static>>,
    ) -> Result<(), ImportError> {
        let tables = self.tables;
        let mapping = tables.mappings.get(location.mapping);
        if mapping.is_none() && location.mapping != 0 {
            self.no_mapping
                .add_with(location.at, || location.mapping.to_string());
        }
        let lines = tables.lines.get(location.lines.clone()).unwrap_or_default();
        let mut named = !lines.is_empty();
        // The first line is the innermost function, says the schema; the stack begins with the
        // outermost one (case `pprof/inlined`).
        for line in lines.iter().rev() {
            let function = if let Some((at, function)) = tables.functions.get(line.function) {
                self.function(at, function, mapping, location)?
            } else {
                self.no_function
                    .add_with(location.at, || line.function.to_string());
                named = false;
                self.address(location, mapping)?
            };
            let (number, col) = (
                self.number(line.line, location.at),
                self.number(line.column, location.at),
            );
            frames.push(match number {
                0 => Frame::function(function),
                line => Frame {
                    function,
                    line: Some(Line {
                        file: "",
                        line,
                        col,
                    }),
                },
            });
        }
        if lines.is_empty() {
            frames.push(Frame::function(self.address(location, mapping)?));
        } else if named && location.address != 0 {
            self.symbolized.add(location.at);
        }
        Ok(())
    }

    /// A function that the file names, in a mapping.
    fn function(
        &mut self,
        at: usize,
        function: &Function,
        mapping: Option<(usize, &Mapping)>,
        location: &Location,
    ) -> Result<FunctionId, ImportError> {
        // One function of the file may be in several mappings: its module is part of what tells it
        // apart (case `pprof/functions-of-one-name`).
        let key = (at, mapping.map(|(mapping, _)| mapping));
        if let Some(known) = self.known.get(&key) {
            return Ok(*known);
        }
        let (name, system) = (self.text(function.name), self.text(function.system_name));
        if name.is_empty() && function.name.text != 0 {
            let number = || function.name.text.cast_signed().to_string();
            self.nameless.add_with(function.name.at, number);
        }
        let (name, raw_name) = match (&*name, &*system) {
            // What else is known of it is kept: `go tool pprof -lines` shows file and line.
            ("", "") if function.file.text != 0 => (UNKNOWN, ""),
            ("", "") => return self.address(location, mapping),
            ("", system) => (system, ""),
            (name, system) if name == system => (name, ""),
            (name, system) => (name, system),
        };
        let module = self.text(mapping.map(|(_, mapping)| mapping.file).unwrap_or_default());
        let file = self.text(function.file);
        // Functions have no place of their own here; that of the name is as near.
        let first_line = self.number(function.start_line, function.name.at);
        let found = self.define(FunctionDef {
            raw_name,
            module: &module,
            file: &file,
            first_line,
            ..FunctionDef::named(name)
        })?;
        self.known.insert(key, found);
        Ok(found)
    }

    /// The function of an address that has no name.
    fn address(
        &mut self,
        location: &Location,
        mapping: Option<(usize, &Mapping)>,
    ) -> Result<FunctionId, ImportError> {
        let Location { address, .. } = *location;
        let module = self.text(mapping.map(|(_, mapping)| mapping.file).unwrap_or_default());
        // The profile may come from another system than this program runs on.
        let binary = module.rsplit(['/', '\\']).next().unwrap_or_default();
        let within = mapping.and_then(|(_, mapping)| {
            let within = address.checked_sub(mapping.start)?;
            // A limit of 0 is none. The offset is whatever the file says, so that the sum may wrap.
            (mapping.limit == 0 || address < mapping.limit)
                .then_some(within.wrapping_add(mapping.offset))
        });
        let name = match within {
            _ if address == 0 => UNKNOWN.to_owned(),
            Some(within) if !binary.is_empty() => format!("{binary}+{within:#x}"),
            _ => format!("{address:#x}"),
        };
        let kind = if address == 0 {
            Kind::Pseudo
        } else {
            Kind::Function
        };
        self.define(FunctionDef {
            kind,
            module: &module,
            ..FunctionDef::named(&name)
        })
    }

    fn define(&mut self, def: FunctionDef<'_>) -> Result<FunctionId, ImportError> {
        // Counted at every call, known names too: each location of a few bytes may name a mapping
        // of any length.
        self.named +=
            (def.name.len() + def.raw_name.len() + def.module.len() + def.file.len()) as u64;
        if is_out_of_proportion(self.named, self.end.byte) {
            let limit =
                format!("{RATIO} bytes of names for each byte of the file (limit: repeated names)");
            return Err(ImportError::Limit {
                position: self.end,
                limit,
            });
        }
        Ok(self.sink.function(def))
    }

    fn text(&self, reference: Reference) -> Cow<'s, str> {
        self.tables.texts.text_or_empty(reference)
    }

    /// Checks that the file has names of functions.
    ///
    /// # Errors
    /// When most names are missing, or all of them if a damaged file is kept.
    pub(super) fn check_names(&self, keeps: bool) -> Result<(), ImportError> {
        let (missing, functions) = (self.nameless.count(), self.known.len() as u64);
        let most = if keeps {
            functions.saturating_sub(1)
        } else {
            (functions / 2).max(1)
        };
        match self.nameless.first() {
            Some(at) if missing > most => Err(ImportError::malformed(
                at,
                "functions whose names are in the string table",
                format!("{missing} of {functions} without one"),
            )),
            _ => Ok(()),
        }
    }

    /// A line or column; 0 if there is no such line.
    fn number(&mut self, number: u64, at: Position) -> u32 {
        u32::try_from(number).unwrap_or_else(|_| {
            self.odd_lines
                .add_with(at, || number.cast_signed().to_string());
            0
        })
    }

    /// Notes what was not as it should be.
    pub(super) fn emit_notes(self) {
        let Self { sink, .. } = self;
        let warning = Severity::Warning;
        remark(
            &self.no_mapping,
            sink,
            warning,
            "location",
            "with a mapping that is not in the file: the module is unknown",
        );
        remark(
            &self.no_function,
            sink,
            warning,
            "line",
            "with a function that is not in the file: named by the address",
        );
        remark(
            &self.odd_lines,
            sink,
            warning,
            "line number",
            "below 0 or above 2^32-1: stored as unknown",
        );
        remark(
            &self.symbolized,
            sink,
            Severity::Info,
            "location",
            "with function names: addresses are not stored",
        );
    }
}

/// One note of something odd, with the first of it as an example.
pub(super) fn remark(
    odd: &Counted,
    sink: &mut dyn Sink,
    severity: Severity,
    thing: &str,
    what: &str,
) {
    odd.note_with(sink, severity, |count, first| {
        let example = if first.is_empty() {
            String::new()
        } else {
            format!(" (first: {first})")
        };
        format!("{} {what}{example}", many(count, thing))
    });
}
