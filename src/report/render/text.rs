//! Text tables: the total, a blank line, names to the left, numbers to the right.
//!
//! The column of names is one wider than its longest name, columns with decimals are one wider than
//! their longest figure, and columns are two blanks apart. On a terminal, source and paths, then names,
//! are shortened in their middle until a row fits. Other output is not shortened, except cells of
//! more than 16 KiB in text and Markdown. Dates, figures and verdicts are never shortened. If they do not
//! fit, lists of runs and results of statements leave out columns, which the first line names, and other
//! rows are longer than the terminal. Characters that would move the cursor are written as `\n` or `\u{202e}`.
//!
//! On a terminal, percentages are red from 5 % and green from 0.5 % on. Verdicts are red (`slower`, `fail`),
//! green (`faster`, `pass`) or yellow (`unclear`). `NO_COLOR` disables colours, and other output has none.
//!
//! If several functions of the run have the same name, the name is followed by a place in parentheses: the end of the
//! path of the file, with line and column if needed, or the module. Functions with equal places are numbered in the order of
//! the file: `helper (libshop.so#2)`. On a wide terminal, all functions have their file and line.
//! `--fn` takes `NAME (PLACE)`, `FILE:NAME`, `NAME:LINE`, `FILE:LINE` and `FILE:NAME:LINE`, also in comparisons, histories and
//! budgets. A function with exactly this name is preferred. FILE may be the end of a path. LINE is the line of the definition
//! or, failing that, a line with figures. `NAME[LINE]`, which reports print for a line, selects its function, and a name that
//! comparisons print selects all functions that match across builds. A name of the run is not divided at `,` and `>`. Quotes
//! within the text protect other names: `--fn '"a,b">c'`. If several functions match and their costs cannot be added up, the
//! report has an answer for each, and the column About names the function. Reports of callers and callees add up functions
//! of one name, and a note lists them. If a line is in another file than its function, the file precedes its number:
//! `main[list.h:31]`.
//!
//! Unknown values are `-`. If inclusive costs are unknown in all rows, as in runs with totals only,
//! exclusive costs are shown. The line above the table, the title of the column and a line on standard
//! error say so. `--both` shows exclusive and inclusive costs side by side; this is the default on a
//! wide terminal. The first line names the run if the database has several. Optional columns are left
//! out if they are unknown in all rows.

use std::io::{self, Write};

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::layout::{Layout, RenderError};
use super::table::{ShownPlaces, Table, named_run, push_indent};
use crate::base::spool::Cells;
use crate::report::{Answer, Value};
use crate::store::StoreError;
use crate::text::cell::{Kind, Shown};
use crate::text::colour::Colour;
use crate::text::plain::plain_line;

/// The widest column that is padded where no screen sets a limit. A longer name is shown whole, and
/// moves only its own row.
const WIDEST: usize = 120;

/// Names and other text are not shortened to less.
const NARROWEST: usize = 16;

/// A longer text of digits is no figure to be read, but a key or a content in digits.
const LONGEST_FIGURE: usize = 40;

/// Between columns.
const GAP: &str = "  ";

/// Replaces the middle of a name or another text.
const ELLIPSIS: &str = "…";

pub(super) fn write(
    answer: &mut Answer<'_>,
    layout: &Layout,
    out: &mut dyn Write,
) -> Result<(), RenderError> {
    let Measured {
        table,
        mut sizes,
        mut cells,
        places,
    } = match side_by_side(answer, layout)? {
        Some(measured) => measured,
        None => measured(answer, layout)?,
    };
    let (mut cell, mut place) = (String::new(), String::new());
    let Fitted {
        widths,
        longest_text,
        longest_name,
    } = fitted(&mut sizes, &table, &answer.dispensable, layout.width);
    let left_out = table.columns.iter().zip(&sizes);
    let left_out = left_out.filter(|(_, size)| size.is_left_out);
    let left_out: Vec<&str> = left_out.map(|(column, _)| &*column.title).collect();
    if !left_out.is_empty() {
        writeln!(
            out,
            "Not shown: {}; --wide shows all\n",
            left_out.join(", ")
        )?;
    }
    if let Some(title) = &layout.title {
        writeln!(out, "{}", plain_line(title))?;
    }
    if let Some(run) = named_run(answer, layout) {
        writeln!(out, "{run}")?;
    }
    if let Some(subject) = &answer.subject {
        for line in table.totals(subject) {
            writeln!(out, "{line}")?;
        }
        writeln!(out)?;
    }
    if let Some(heading) = &answer.heading {
        for line in &heading.lines {
            writeln!(out, "{}", plain_line(line))?;
        }
        writeln!(out)?;
    }
    let mut line = String::new();
    let mut write = |out: &mut dyn Write, push: &mut PushCell<'_>| -> io::Result<()> {
        line.clear();
        let columns = table.columns.iter().zip(&sizes).zip(&widths);
        for (at, ((column, size), width)) in columns.enumerate() {
            cell.clear();
            place.clear();
            push(column, &mut cell, &mut place)?;
            if size.is_left_out {
                continue;
            }
            let limit = if size.is_name() {
                longest_name
            } else {
                longest_text.filter(|_| size.is_shortened_first())
            };
            if let Some(limit) = limit {
                let name = columns_of(&cell).min(NAME_BEFORE_PLACE);
                shorten_place(&mut place, limit.saturating_sub(name));
                shorten_cell(&mut cell, limit.saturating_sub(columns_of(&place)));
            }
            cell.push_str(&place);
            let padding = width.saturating_sub(columns_of(&cell));
            let colour = if layout.colours {
                colour_of(column, &cell)
            } else {
                None
            };
            if let Some(colour) = colour {
                let text = std::mem::take(&mut cell);
                colour.push(&text, &mut cell);
            }
            // The first column is never left out.
            if at > 0 {
                line.push_str(GAP);
            }
            if size.is_left() {
                line.push_str(&cell);
                push_blanks(padding, &mut line);
            } else {
                push_blanks(padding, &mut line);
                line.push_str(&cell);
            }
        }
        line.truncate(line.trim_end().len());
        line.push('\n');
        out.write_all(line.as_bytes())
    };
    write(out, &mut |column, cell, _| {
        cell.push_str(&column.title);
        Ok(())
    })?;
    // A table without columns has no cells that would say how many rows it has.
    if !table.columns.is_empty()
        && let Some(mut cells) = cells.reader()?
    {
        while !cells.is_at_end() {
            write(out, &mut |column, cell, place| {
                cells.next(cell)?;
                if !is_name(column.kind) {
                    return Ok(());
                }
                let mut all = String::new();
                cells.next(place)?;
                cells.next(&mut all)?;
                if places == ShownPlaces::All {
                    *place = all;
                }
                Ok(())
            })?;
        }
        return Ok(());
    }
    answer.each_placed(|row| {
        let mut push = |column: &Shown, cell: &mut String, place: &mut String| {
            push_whole(&table, row, column, cell);
            table.push_place(places, row, column, place);
            Ok(())
        };
        write(out, &mut push).map_err(RenderError::from)
    })
}

/// Returns the colour of a cell, if its column has colours.
fn colour_of(column: &Shown, cell: &str) -> Option<Colour> {
    match column.kind {
        _ if column.is_verdict => Colour::from_verdict(cell),
        Kind::Percent => Colour::from_share(cell),
        _ => None,
    }
}

/// Adds the cell of a column in the current row to a text, and the place of the function that it names to another one.
type PushCell<'p> = dyn FnMut(&Shown, &mut String, &mut String) -> io::Result<()> + 'p;

/// How wide columns are, and the longest cells that fit, where cells have to be shortened.
struct Fitted {
    widths: Vec<usize>,
    longest_text: Option<usize>,
    longest_name: Option<usize>,
}

/// Fits a table into a screen: text is shortened, then names, then columns are left out that the answer
/// can do without. What is too wide even then stays so.
fn fitted(
    sizes: &mut [Size],
    table: &Table,
    dispensable: &[usize],
    screen: Option<usize>,
) -> Fitted {
    let mut dispensable = dispensable.iter();
    loop {
        let mut widths: Vec<usize> = sizes.iter().map(Size::width).collect();
        let mut shorten =
            |which| screen.and_then(|screen| shorten(&mut widths, sizes, which, screen));
        let longest_text = shorten(Size::is_shortened_first);
        let longest_name = shorten(Size::is_name);
        let fits = screen.is_none_or(|screen| gaps(sizes) + widths.iter().sum::<usize>() <= screen);
        let least = if fits { None } else { dispensable.next() };
        let Some(least) = least else {
            return Fitted {
                widths,
                longest_text,
                longest_name,
            };
        };
        let of_it = |column: &Shown| column.at == *least;
        if let Some(at) = table.columns.iter().position(of_it).filter(|at| *at > 0) {
            sizes[at].is_left_out = true;
        }
    }
}

/// Blanks between columns.
fn gaps(sizes: &[Size]) -> usize {
    let shown = sizes.iter().filter(|size| !size.is_left_out).count();
    GAP.len() * shown.saturating_sub(1)
}

/// A table and how wide its columns have to be.
struct Measured {
    table: Table,
    sizes: Vec<Size>,
    /// Its cells, row by row, if they are not too many: else all rows are read twice, for the widths
    /// and for the text.
    /// The text of a name is followed by two places: the one that is needed, and the one that is shown if there is room.
    cells: Cells,
    /// Functions whose places are shown.
    places: ShownPlaces,
}

impl Measured {
    /// Width of the table.
    fn width(&self) -> usize {
        gaps(&self.sizes) + self.sizes.iter().map(Size::width).sum::<usize>()
    }

    /// Shows the places of all functions if the table then still fits into a screen.
    fn with_places(mut self, screen: Option<usize>) -> Self {
        let needed: Vec<usize> = self.sizes.iter().map(|size| size.longest).collect();
        for size in &mut self.sizes {
            size.longest = size.longest_with_place;
        }
        if screen.is_some_and(|screen| self.width() <= screen) {
            self.places = ShownPlaces::All;
        } else {
            for (size, longest) in self.sizes.iter_mut().zip(needed) {
                size.longest = longest;
            }
        }
        self
    }
}

fn measured(answer: &mut Answer<'_>, layout: &Layout) -> Result<Measured, RenderError> {
    let table = Table::of(answer, layout)?;
    let mut sizes = table.columns.iter().map(Size::of).collect::<Vec<_>>();
    let (mut cell, mut place, mut all) = (String::new(), String::new(), String::new());
    let mut cells = Cells::default();
    answer.each_placed(|row| {
        for (size, column) in sizes.iter_mut().zip(&table.columns) {
            cell.clear();
            push_whole(&table, row, column, &mut cell);
            cells.push(&cell);
            if is_name(column.kind) {
                place.clear();
                table.push_place(ShownPlaces::Needed, row, column, &mut place);
                all.clear();
                table.push_place(ShownPlaces::All, row, column, &mut all);
                cells.push(&place);
                cells.push(&all);
                let name = columns_of(&cell);
                size.longest_with_place = size.longest_with_place.max(name + columns_of(&all));
                cell.push_str(&place);
            }
            size.see(&cell, &row[column.at]);
        }
        Ok::<_, StoreError>(())
    })?;
    let measured = Measured {
        table,
        sizes,
        cells,
        places: ShownPlaces::Needed,
    };
    Ok(measured.with_places(layout.width))
}

/// The flag for exclusive and cumulative costs side by side.
const BOTH: &str = "both";

/// The table with exclusive and cumulative costs side by side, where the report has them, a terminal
/// is wide enough for all names, and no flag says which costs are wanted.
fn side_by_side(answer: &mut Answer<'_>, layout: &Layout) -> Result<Option<Measured>, RenderError> {
    let Some(screen) = layout.width else {
        return Ok(None);
    };
    let is_open = answer
        .subject
        .as_ref()
        .is_some_and(|subject| !subject.exclusive && subject.instead.is_none());
    let mut columns = answer.columns.iter();
    // Rows that are read again one by one are too many to be measured twice.
    if !is_open || !answer.is_kept() || !columns.any(|column| column.when == Some(BOTH)) {
        return Ok(None);
    }
    let mut both = layout.clone();
    both.flags.push(BOTH.to_owned());
    let measured = measured(answer, &both)?;
    let mut costs = measured.sizes.iter().filter(|size| size.kind == Kind::Cost);
    let is_better = measured.width() <= screen && costs.all(|size| size.has_value);
    Ok(is_better.then_some(measured))
}

/// Adds a cell, indented as deep as what it names lies in a tree.
fn push_whole(table: &Table, row: &[Value], column: &Shown, text: &mut String) {
    push_indent(table.depth(row, column), " ", text);
    table.push_cell(row, column, text);
}

/// Adds blanks, as many at once as there are.
fn push_blanks(mut count: usize, line: &mut String) {
    const BLANKS: &str = "                                                                ";
    while count > 0 {
        let some = count.min(BLANKS.len());
        line.push_str(&BLANKS[..some]);
        count -= some;
    }
}

/// Columns of a screen that a text takes, in which nothing moves the cursor.
fn columns_of(text: &str) -> usize {
    // Nearly all text is ASCII, which is known without looking at characters.
    if text.is_ascii() {
        text.len()
    } else {
        text.width()
    }
}

/// What texts a column has.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Texts {
    None,
    /// Of which no part can be missed: figures, and dates.
    Figures,
    Words,
}

/// How wide a column has to be.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each of them holds or not, whichever others do"
)]
struct Size {
    kind: Kind,
    is_whole: bool,
    title: usize,
    longest: usize,
    /// Width of the longest cell with the places of all functions.
    longest_with_place: usize,
    has_value: bool,
    texts: Texts,
    has_decimals: bool,
    /// There is no room for it.
    is_left_out: bool,
}

impl Size {
    fn of(column: &Shown) -> Self {
        Self {
            kind: column.kind,
            is_whole: column.is_whole,
            title: column.title.width(),
            longest: 0,
            longest_with_place: 0,
            has_value: false,
            texts: Texts::None,
            has_decimals: false,
            is_left_out: false,
        }
    }

    fn see(&mut self, cell: &str, value: &Value) {
        self.longest = self.longest.max(columns_of(cell));
        self.longest_with_place = self.longest_with_place.max(self.longest);
        self.has_value |= *value != Value::Null;
        if self.texts != Texts::Words && matches!(value, Value::Text(_)) {
            let text = if is_date(cell) || is_figure(cell) {
                Texts::Figures
            } else {
                Texts::Words
            };
            self.texts = self.texts.max(text);
        }
        self.has_decimals |=
            self.kind != Kind::Any && matches!(value, Value::Real(_)) && cell.contains('.');
    }

    fn is_name(&self) -> bool {
        is_name(self.kind)
    }

    /// Text that is no name: of a report, or of a list or a statement of the user's.
    fn is_text(&self) -> bool {
        self.kind == Kind::Text || (self.kind == Kind::Any && self.texts != Texts::None)
    }

    /// Whether cells may be shortened so that names are not.
    fn is_shortened_first(&self) -> bool {
        self.is_text() && !self.is_whole && self.texts == Texts::Words
    }

    fn is_left(&self) -> bool {
        self.is_name() || self.is_text()
    }

    /// Blanks within the column.
    fn margin(&self) -> usize {
        usize::from(self.is_name() || self.has_decimals)
    }

    fn width(&self) -> usize {
        if self.is_left_out {
            return 0;
        }
        self.title.max(self.longest.min(WIDEST) + self.margin())
    }
}

/// Whether a text is a date with its time in UTC, as lists of runs have it: `2026-11-26T05:19:42Z`.
fn is_date(text: &str) -> bool {
    const SHAPE: &[u8] = b"0000-00-00T00:00:00Z";
    text.len() == SHAPE.len()
        && text.bytes().zip(SHAPE).all(|(found, shape)| match shape {
            b'0' => found.is_ascii_digit(),
            other => found == *other,
        })
}

/// Whether a text is made of figures: `11.65 (6.12..22.17)`, `1,234`, `-3 %`.
fn is_figure(text: &str) -> bool {
    text.len() <= LONGEST_FIGURE
        && text.bytes().any(|byte| byte.is_ascii_digit())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || b" .,:+-%()<>".contains(&byte))
}

/// Makes some columns as narrow as the screen asks for. Gives back the longest cell that fits, if
/// cells have to be shortened.
fn shorten(
    widths: &mut [usize],
    sizes: &[Size],
    which: fn(&Size) -> bool,
    screen: usize,
) -> Option<usize> {
    let which = |size: &Size| which(size) && !size.is_left_out;
    let chosen = || sizes.iter().filter(|size| which(size));
    let others: usize = sizes
        .iter()
        .zip(widths.iter())
        .filter(|(size, _)| !which(size))
        .map(|(_, width)| width)
        .sum();
    let gaps = gaps(sizes);
    let wanted = chosen().map(|size| size.title.max(size.longest + size.margin()));
    let room = widest(wanted.collect(), screen.saturating_sub(others + gaps))?
        // Names are not shortened to less than this: a row may then be wider than the screen.
        .max(NARROWEST);
    if chosen().all(|size| size.longest + size.margin() <= room) {
        return None;
    }
    for (width, size) in widths.iter_mut().zip(sizes).filter(|(_, size)| which(size)) {
        *width = size.title.max((size.longest + size.margin()).min(room));
    }
    Some(room - chosen().map(Size::margin).max()?)
}

/// How wide the widest of some columns may be, so that all of them have room together: those that
/// need less leave the rest to the others. `None` without columns.
fn widest(mut wanted: Vec<usize>, mut room: usize) -> Option<usize> {
    wanted.sort_unstable();
    let mut widest = None;
    for (at, width) in wanted.iter().enumerate() {
        let share = room / (wanted.len() - at);
        widest = Some(share);
        if *width > share {
            break;
        }
        room -= width;
    }
    widest
}

/// Returns whether a column has names of functions.
fn is_name(kind: Kind) -> bool {
    matches!(kind, Kind::Name | Kind::Node)
}

/// Columns that are left to the name before a place, if possible.
const NAME_BEFORE_PLACE: usize = 8;

/// Takes away the beginning of a place that would leave too little room for the name before it: `(…er/parse.py:14)`.
fn shorten_place(place: &mut String, room: usize) {
    if columns_of(place) <= room {
        return;
    }
    let start = format!(" ({ELLIPSIS}");
    let end = taken(place.chars().rev(), room.saturating_sub(start.width()));
    *place = start + &end.chars().rev().collect::<String>();
}

/// Takes the middle out of a name that is too long.
fn shorten_cell(name: &mut String, limit: usize) {
    if columns_of(name) <= limit {
        return;
    }
    let kept = limit.saturating_sub(ELLIPSIS.width());
    // The end of a name tells more than its beginning, which many share.
    let head = taken(name.chars(), kept / 2);
    let tail = taken(name.chars().rev(), kept - head.width());
    *name = format!("{head}{ELLIPSIS}{}", tail.chars().rev().collect::<String>());
}

/// As many characters as have room.
fn taken(characters: impl Iterator<Item = char>, room: usize) -> String {
    let mut used = 0;
    let fits = |character: &char| {
        used += character.width().unwrap_or(0);
        used <= room
    };
    characters.take_while(fits).collect()
}
