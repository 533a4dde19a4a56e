//! Tables of the Firefox Profiler: columns of numbers that point into each other, of which those
//! are kept that are looked up.

use crate::base::error::{ImportError, Position};
use crate::formats::common::counted::many;
use crate::formats::common::json::{Reader, Within, column};
use crate::text::escape;

/// What `null` and -1 in columns are read as.
pub(super) const NONE: u32 = u32::MAX;

/// Marks a prefix that does not precede its stack.
pub(super) const MISSING: u32 = NONE - 1;

/// Tables of a thread, or of all threads: each may be there or not. Columns are kept of what is
/// looked up.
#[derive(Default)]
pub(super) struct Tables {
    strings: Option<Vec<Box<str>>>,
    stacks: Option<Stacks>,
    frames: Option<Frames>,
    functions: Option<Functions>,
    /// Names of resources, as numbers of strings.
    resources: Option<Vec<u32>>,
    /// Names of files, as numbers of strings.
    sources: Option<Vec<u32>>,
}

impl Tables {
    /// Whether all that a function consists of is shared by all threads.
    pub(super) fn shares_functions(&self) -> bool {
        let own = [
            self.strings.is_some(),
            self.functions.is_some(),
            self.resources.is_some(),
            self.sources.is_some(),
        ];
        own == [false; 4]
    }

    /// Reads a table, if the member is one that is looked up; says whether it was.
    pub(super) fn read(
        &mut self,
        json: &mut Reader<'_, '_>,
        name: &[u8],
    ) -> Result<bool, ImportError> {
        match name {
            b"stringArray" | b"stringTable" => {
                let mut text = Vec::new();
                let strings = column(json, |json| {
                    json.text(&mut text)?;
                    Ok(escape::text(&text).into())
                })?;
                self.strings = Some(strings);
            }
            b"stackTable" => self.stacks = Some(stacks(json)?),
            b"frameTable" => {
                let at = json.place()?;
                let mut table = Frames::default();
                let mut flags = Vec::new();
                columns(json, &["func"], |json, name| {
                    match name {
                        b"func" => table.function = numbers(json)?,
                        b"line" => table.line = numbers(json)?,
                        b"column" => table.column = numbers(json)?,
                        b"category" => table.categories.category = numbers(json)?,
                        b"subcategory" => table.categories.subcategory = numbers(json)?,
                        b"flags" => flags = numbers(json)?,
                        _ => return Ok(false),
                    }
                    Ok(true)
                })?;
                let Frames {
                    function,
                    line,
                    column,
                    categories:
                        Categories {
                            category,
                            subcategory,
                        },
                } = &mut table;
                of_one_length(
                    at,
                    "frame",
                    function.len(),
                    [&flags, line, column, category, subcategory],
                )?;
                clear_unset(
                    &flags,
                    [(2, category), (2, subcategory), (4, line), (5, column)],
                );
                self.frames = Some(table);
            }
            b"funcTable" => {
                let at = json.place()?;
                let mut table = Functions::default();
                let mut flags = Vec::new();
                columns(json, &["name"], |json, name| {
                    match name {
                        b"name" => table.name = numbers(json)?,
                        b"resource" => table.resource = numbers(json)?,
                        b"fileName" => table.file = numbers(json)?,
                        b"source" => table.source = numbers(json)?,
                        b"lineNumber" => table.line = numbers(json)?,
                        b"columnNumber" => table.column = numbers(json)?,
                        b"flags" => flags = numbers(json)?,
                        _ => return Ok(false),
                    }
                    Ok(true)
                })?;
                let Functions {
                    name,
                    resource,
                    file,
                    source,
                    line,
                    column,
                } = &mut table;
                of_one_length(
                    at,
                    "function",
                    name.len(),
                    [&flags, resource, file, source, line, column],
                )?;
                clear_unset(&flags, [(2, resource), (3, source), (4, line), (5, column)]);
                self.functions = Some(table);
            }
            b"resourceTable" => self.resources = Some(only_column(json, "name")?),
            b"sources" => self.sources = Some(only_column(json, "filename")?),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// The tables that hold for a thread.
#[derive(Clone, Copy)]
pub(super) struct View<'t> {
    pub(super) strings: &'t [Box<str>],
    pub(super) stacks: &'t Stacks,
    pub(super) frames: &'t Frames,
    pub(super) functions: &'t Functions,
    pub(super) resources: &'t [u32],
    pub(super) sources: &'t [u32],
}

impl<'t> View<'t> {
    /// The thread's own tables, else the shared ones; else the name of one that is missing and
    /// needed.
    pub(super) fn of(own: &'t Tables, shared: &'t Tables) -> Result<Self, &'static str> {
        Ok(Self {
            strings: own
                .strings
                .as_deref()
                .or(shared.strings.as_deref())
                .ok_or("stringArray")?,
            stacks: own
                .stacks
                .as_ref()
                .or(shared.stacks.as_ref())
                .ok_or("stackTable")?,
            frames: own
                .frames
                .as_ref()
                .or(shared.frames.as_ref())
                .ok_or("frameTable")?,
            functions: own
                .functions
                .as_ref()
                .or(shared.functions.as_ref())
                .ok_or("funcTable")?,
            resources: own
                .resources
                .as_deref()
                .or(shared.resources.as_deref())
                .unwrap_or_default(),
            sources: own
                .sources
                .as_deref()
                .or(shared.sources.as_deref())
                .unwrap_or_default(),
        })
    }

    /// Category and subcategory of each stack: its own, else that of its innermost frame, else that
    /// of the stack around it; [`NONE`] where none has one.
    pub(super) fn categories(&self) -> Vec<(u32, u32)> {
        let Stacks {
            frame: frames,
            prefix: prefixes,
            categories,
        } = self.stacks;
        let mut all: Vec<(u32, u32)> = Vec::with_capacity(frames.len());
        for ((stack, frame), prefix) in (0..).zip(frames).zip(prefixes) {
            // The prefix of a stack has a smaller number or is `MISSING`, so that one pass is enough.
            let around = || all.get(*prefix as usize).copied();
            let known = [categories.of(stack), self.frames.categories.of(*frame)];
            let known = known
                .into_iter()
                .find(|(category, _)| *category != NONE)
                .or_else(around);
            all.push(known.unwrap_or((NONE, NONE)));
        }
        all
    }

    /// A text, empty where there is none.
    pub(super) fn text(&self, number: Option<u32>) -> Result<&'t str, u32> {
        match number.filter(|number| *number != NONE) {
            None => Ok(""),
            Some(number) => self
                .strings
                .get(number as usize)
                .map(AsRef::as_ref)
                .ok_or(number),
        }
    }
}

#[derive(Default)]
pub(super) struct Stacks {
    pub(super) frame: Vec<u32>,
    /// The stack without its innermost frame: one with a smaller number.
    pub(super) prefix: Vec<u32>,
    /// Of files whose stacks have them.
    categories: Categories,
}

#[derive(Default)]
pub(super) struct Frames {
    pub(super) function: Vec<u32>,
    pub(super) line: Vec<u32>,
    pub(super) column: Vec<u32>,
    categories: Categories,
}

/// What frames or stacks are about, as numbers of the profile's list.
#[derive(Default)]
struct Categories {
    category: Vec<u32>,
    /// In the category.
    subcategory: Vec<u32>,
}

impl Categories {
    fn of(&self, number: u32) -> (u32, u32) {
        let at = |column: &[u32]| column.get(number as usize).copied().unwrap_or(NONE);
        (at(&self.category), at(&self.subcategory))
    }
}

#[derive(Default)]
pub(super) struct Functions {
    pub(super) name: Vec<u32>,
    pub(super) resource: Vec<u32>,
    pub(super) file: Vec<u32>,
    pub(super) source: Vec<u32>,
    pub(super) line: Vec<u32>,
    pub(super) column: Vec<u32>,
}

/// A number of a column, 0 where there is none.
pub(super) fn or_0(column: &[u32], number: u32) -> u32 {
    column
        .get(number as usize)
        .copied()
        .filter(|value| *value != NONE)
        .unwrap_or(0)
}

/// Reads the columns of a table and passes over those that are not read; these are needed.
pub(super) fn columns(
    json: &mut Reader<'_, '_>,
    needed: &[&str],
    mut read: impl FnMut(&mut Reader<'_, '_>, &[u8]) -> Result<bool, ImportError>,
) -> Result<(), ImportError> {
    let at = json.place()?;
    let mut missing = needed.to_vec();
    let mut within = Within::default();
    let mut name = Vec::new();
    while let Some(at) = json.member(&mut within, &mut name)? {
        json.begin_record_at(at);
        missing.retain(|needed| needed.as_bytes() != name);
        if !read(json, &name)? {
            json.skip()?;
        }
    }
    match missing.first() {
        Some(missing) => Err(ImportError::malformed(
            at,
            format!("a table with a column `{missing}`"),
            "one without",
        )),
        None => Ok(()),
    }
}

/// Since versions 71 (frames) and 73 (functions), columns hold 0 where there is nothing, and a bit
/// of the row's flags says whether there is something: takes out what is nothing.
fn clear_unset(flags: &[u32], columns: [(u32, &mut Vec<u32>); 4]) {
    for (bit, column) in columns {
        for (value, flags) in column.iter_mut().zip(flags) {
            if flags >> bit & 1 == 0 {
                *value = NONE;
            }
        }
    }
}

/// Columns that may be missing have as many rows as the table if they are there: else their values
/// would be of other rows.
fn of_one_length<const N: usize>(
    at: Position,
    what: &str,
    rows: usize,
    columns: [&Vec<u32>; N],
) -> Result<(), ImportError> {
    match columns
        .into_iter()
        .find(|column| !column.is_empty() && column.len() != rows)
    {
        Some(column) => Err(of_another_length(at, what, rows, column.len())),
        None => Ok(()),
    }
}

fn of_another_length(at: Position, what: &str, rows: usize, found: usize) -> ImportError {
    ImportError::malformed(
        at,
        format!("columns of {}", many(rows as u64, what)),
        format!("a column of {found}"),
    )
}

/// Reads a table of which one column matters.
fn only_column(json: &mut Reader<'_, '_>, wanted: &str) -> Result<Vec<u32>, ImportError> {
    let mut column = Vec::new();
    columns(json, &[wanted], |json, name| {
        let is_wanted = name == wanted.as_bytes();
        if is_wanted {
            column = numbers(json)?;
        }
        Ok(is_wanted)
    })?;
    Ok(column)
}

fn stacks(json: &mut Reader<'_, '_>) -> Result<Stacks, ImportError> {
    let at = json.place()?;
    let mut table = Stacks::default();
    let mut has_prefix = false;
    columns(json, &["frame"], |json, name| {
        has_prefix |= matches!(name, b"prefix" | b"prefixOffset");
        match name {
            b"frame" => table.frame = numbers(json)?,
            b"category" => table.categories.category = numbers(json)?,
            b"subcategory" => table.categories.subcategory = numbers(json)?,
            b"prefix" => {
                let mut number = 0;
                table.prefix = column(json, |json| {
                    let prefix = optional(json)?;
                    // No chain of prefixes has a circle (case `firefox/prefix-not-before`).
                    let precedes = prefix == NONE || prefix < number;
                    number += 1;
                    Ok(if precedes { prefix } else { MISSING })
                })?;
            }
            // How far before the stack its prefix is; 0 if it has none.
            b"prefixOffset" => {
                let mut number = 0_u32;
                table.prefix = column(json, |json| {
                    let offset = json.index("an offset in `prefixOffset`")?;
                    let prefix = number.checked_sub(offset).unwrap_or(MISSING);
                    number += 1;
                    Ok(if offset == 0 { NONE } else { prefix })
                })?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    if !has_prefix {
        let expected = "a table with a column `prefix` or `prefixOffset`";
        return Err(ImportError::malformed(at, expected, "one without"));
    }
    let rows = table.frame.len();
    if table.prefix.len() != rows {
        return Err(of_another_length(at, "stack", rows, table.prefix.len()));
    }
    let Categories {
        category,
        subcategory,
    } = &table.categories;
    of_one_length(at, "stack", rows, [category, subcategory])?;
    Ok(table)
}

pub(super) fn numbers(json: &mut Reader<'_, '_>) -> Result<Vec<u32>, ImportError> {
    column(json, optional)
}

/// A number from 0; [`NONE`] for `null` and -1.
fn optional(json: &mut Reader<'_, '_>) -> Result<u32, ImportError> {
    if json.null()? {
        return Ok(NONE);
    }
    let at = json.place()?;
    let number = json.integer("a number or null")?;
    match u32::try_from(number) {
        _ if number == -1 => Ok(NONE),
        // The largest number is taken: it means that there is none.
        Ok(number) if number != NONE => Ok(number),
        _ => Err(ImportError::malformed(
            at,
            "a non-negative number, -1 or null",
            number.to_string(),
        )),
    }
}
