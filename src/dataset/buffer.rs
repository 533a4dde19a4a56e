//! A column of a row group that is being filled, and the pages that its values make.

use std::borrow::Cow;
use std::mem::take;
use std::slice;

use bytes::Bytes;
use hashbrown::HashMap;
use parquet::basic::Encoding;
use parquet::column::writer::ColumnCloseResult;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::statistics::Statistics;
use parquet::schema::types::ColumnDescPtr;

use super::digits::SCALES;
use super::order::{Ranks, disordered, ordered};
use super::pages::{self, Matches, Pages, Split, Zstd};
use super::tables::{Column, Kind};

/// Rows of a page of a table whose rows come in their order: one byte of each is a block of zstd. Tables that are sorted here are in
/// memory anyway: their pages are as long as row groups, so that zstd finds again in one metric what is the same in the one before.
pub(super) const PAGE: usize = 1 << 17;

/// Numbers that are split at once: they are in the processor's nearest cache while each of their bytes is taken.
pub(super) const PIECE: usize = 1 << 11;

/// Longer texts are not said to be the smallest or the largest of their column.
const STATED: usize = 256;

/// A place that is in no dictionary.
pub(super) const NONE: u32 = u32::MAX;

/// The place of no scale, whose number is 0: the cost is unknown.
pub(super) const UNKNOWN: u8 = 16;

/// The values of a column, of which there is one for each row; where there is none, only in rows that are sorted here.
#[derive(Debug)]
pub(super) enum Values {
    /// One text for all rows.
    Same(ByteArray),
    /// Whole numbers, or the bits of costs. In a table whose rows come in their order: the last few, which are not split yet.
    Numbers(Vec<u64>),
    /// Texts by their places among those that there are so far.
    Texts {
        places: Vec<u32>,
        texts: Vec<ByteArray>,
        by_text: HashMap<Vec<u8>, u32>,
    },
    /// Places among the keys of functions.
    Functions(Vec<u32>),
    /// Places among [`SCALES`], or [`UNKNOWN`].
    Scales(Vec<u8>),
    /// Keys and values of the one row of a table.
    Tags(Vec<(ByteArray, ByteArray)>),
}

/// A column that is being filled.
pub(super) struct Buffer {
    pub(super) kind: Kind,
    pub(super) values: Values,
    /// Whether there is a value; empty in columns without NULL. Those of rows without a value that have come last may be missing,
    /// as are their places in `values`, until [`Buffer::settle`]: most columns that may be NULL nearly always are.
    pub(super) levels: Vec<bool>,
    pub(super) is_optional: bool,
    /// Whether there is a number also where the value is NULL: rows that are sorted have all their places.
    pub(super) has_place_of_null: bool,
    /// What compresses its numbers.
    matches: Matches,
    /// Numbers of the page that is being made.
    split: Split,
    /// Pages of the row group that are made, of numbers.
    pages: Pages,
    /// Smallest and largest number among them, in the order of the column.
    range: Option<(u64, u64)>,
}

/// Rows of a row group: so many from the first one on, or these ones of those that are in memory.
#[derive(Clone, Copy)]
pub(super) enum Chosen<'o> {
    First(usize),
    These(&'o [u32]),
}

impl Chosen<'_> {
    fn count(self) -> usize {
        match self {
            Self::First(count) => count,
            Self::These(rows) => rows.len(),
        }
    }

    /// What a list has for these rows. Where it has nothing for the last ones, that is all.
    fn of<T: Copy>(self, values: &[T]) -> Cow<'_, [T]> {
        match self {
            Self::First(count) => Cow::Borrowed(&values[..count.min(values.len())]),
            Self::These(rows) => rows.iter().map(|row| values[*row as usize]).collect(),
        }
    }
}

impl Buffer {
    pub(super) fn new(column: &Column, run_uid: &str, is_sorted: bool) -> Self {
        let values = match column.kind {
            Kind::Text if column.name == "run_uid" => Values::Same(run_uid.into()),
            Kind::Text => Values::Texts {
                places: Vec::new(),
                texts: Vec::new(),
                by_text: HashMap::new(),
            },
            Kind::Integer | Kind::Real => Values::Numbers(Vec::new()),
            Kind::Function => Values::Functions(Vec::new()),
            Kind::Scale => Values::Scales(Vec::new()),
            Kind::Tags => Values::Tags(Vec::new()),
        };
        Self {
            kind: column.kind,
            values,
            levels: Vec::new(),
            is_optional: column.is_optional,
            has_place_of_null: !is_sorted,
            matches: if column.kind == Kind::Real || column.name.ends_with("_digits") {
                Matches::Costs
            } else {
                Matches::Numbers
            },
            split: Split::default(),
            pages: Pages::default(),
            range: None,
        }
    }

    /// Says that a row has a value, and that rows before it of which nothing has been said have none.
    #[inline]
    pub(super) fn level(&mut self, row: usize) {
        if self.is_optional {
            if self.levels.len() < row {
                self.settle(row);
            }
            self.levels.push(true);
        }
    }

    /// Says of so many rows that those have no value of which nothing has been said.
    pub(super) fn settle(&mut self, rows: usize) {
        if !self.is_optional {
            return;
        }
        self.levels.resize(rows, false);
        match &mut self.values {
            Values::Numbers(values) if self.has_place_of_null => values.resize(rows, 0),
            Values::Texts { places, .. } => {
                // Where no row of a table in order has a text, none is asked for its place.
                if !places.is_empty() || self.has_place_of_null {
                    let last = places.last().copied().unwrap_or_default();
                    places.resize(rows, last);
                }
            }
            Values::Functions(places) => places.resize(rows, 0),
            Values::Numbers(_) | Values::Same(_) | Values::Scales(_) | Values::Tags(_) => {}
        }
    }

    #[inline]
    pub(super) fn number(&mut self, row: usize, value: u64) {
        self.level(row);
        if let Values::Numbers(values) = &mut self.values {
            values.push(value);
        }
    }

    /// Splits the numbers that have come since this was done last.
    pub(super) fn split(&mut self) {
        if let Values::Numbers(values) = &mut self.values {
            widen(&mut self.range, self.kind, values);
            self.split.add(values);
            values.clear();
        }
    }

    /// Makes a page of rows of a column of numbers.
    pub(super) fn page_of_numbers(
        &mut self,
        zstd: &mut Zstd,
        rows: Chosen<'_>,
    ) -> Result<(), ParquetError> {
        match (rows, &self.values) {
            (Chosen::These(rows), Values::Numbers(values)) => {
                let mut piece = Vec::with_capacity(PIECE);
                let is_there = |row: &&u32| !self.is_optional || self.levels[**row as usize];
                for rows in rows.chunks(PIECE) {
                    piece.clear();
                    let rows = rows.iter().filter(is_there);
                    piece.extend(rows.map(|row| values[*row as usize]));
                    widen(&mut self.range, self.kind, &piece);
                    self.split.add(&piece);
                }
            }
            _ => self.split(),
        }
        let levels = self.is_optional.then(|| rows.of(&self.levels));
        self.pages.numbers(
            zstd,
            rows.count(),
            levels.as_deref(),
            self.matches,
            &mut self.split,
        )?;
        self.split.clear();
        Ok(())
    }

    /// Makes the pages of a column whose values are places in a dictionary, and closes it.
    pub(super) fn pages_of_places(
        &mut self,
        zstd: &mut Zstd,
        keys: &[ByteArray],
        rows: Chosen<'_>,
        page: usize,
    ) -> Result<Option<(ByteArray, ByteArray)>, ParquetError> {
        if matches!(self.values, Values::Numbers(_) | Values::Tags(_)) {
            return Ok(None);
        }
        let levels = self.is_optional.then(|| rows.of(&self.levels));
        let levels = levels.as_deref();
        let (texts, found): (&[ByteArray], Distinct) = match &self.values {
            Values::Same(text) => (slice::from_ref(text), Distinct::One(0)),
            Values::Texts { places, texts, .. } => {
                let found = distinct(&rows.of(places), levels, texts.len());
                (texts.as_slice(), found)
            }
            Values::Functions(places) => (keys, distinct(&rows.of(places), levels, keys.len())),
            Values::Scales(scales) => {
                let known = usize::from(UNKNOWN) + 1;
                (&[], distinct(&rows.of(scales), levels, known))
            }
            Values::Numbers(_) | Values::Tags(_) => return Ok(None),
        };
        let (used, numbers) = match &found {
            Distinct::One(place) => (slice::from_ref(place), None),
            Distinct::Many { used, numbers } => (used.as_slice(), Some(numbers.as_slice())),
        };
        let value = |place: u32, page: &mut Vec<u8>| match texts.get(place as usize) {
            Some(text) => pages::text(text.data(), page),
            None => page.extend(scale(place).to_le_bytes()),
        };
        // Where each value is another one, a dictionary would only be longer.
        let is_plain =
            numbers.is_some_and(|numbers| numbers.len() == used.len()) && used.len() != 1;
        let width = pages::width(used.len());
        if !is_plain {
            self.pages.dictionary(zstd, used.len(), |page| {
                for place in used {
                    value(*place, page);
                }
            })?;
        }
        let mut next = 0;
        let page = if is_plain { PAGE } else { page };
        let all = rows.count();
        for start in (0..all).step_by(page) {
            let rows = page.min(all - start);
            let levels = levels.map(|levels| &levels[start..start + rows]);
            let there = levels.map_or(rows, |levels| {
                levels.iter().filter(|is_there| **is_there).count()
            });
            let numbers = numbers.map(|numbers| &numbers[next..next + there]);
            next += there;
            if is_plain {
                let how = (Encoding::PLAIN, Matches::Texts);
                self.pages.data(zstd, rows, levels, how, |page| {
                    for number in numbers.unwrap_or_default() {
                        value(used[*number as usize], page);
                    }
                })?;
            } else {
                let matches = if width > 8 {
                    Matches::Places
                } else {
                    Matches::Texts
                };
                let how = (Encoding::RLE_DICTIONARY, matches);
                self.pages
                    .data(zstd, rows, levels, how, |page| match numbers {
                        Some(numbers) => pages::places(numbers, width, page),
                        None => pages::one_place(rows, page),
                    })?;
            }
        }
        let mut stated: Option<(&ByteArray, &ByteArray)> = None;
        for text in used.iter().filter_map(|place| texts.get(*place as usize)) {
            let (least, most) = stated.unwrap_or((text, text));
            stated = Some((
                if text.data() < least.data() {
                    text
                } else {
                    least
                },
                if text.data() > most.data() {
                    text
                } else {
                    most
                },
            ));
        }
        Ok(stated
            .filter(|(least, most)| least.len() <= STATED && most.len() <= STATED)
            .map(|(least, most)| (least.clone(), most.clone())))
    }

    /// Ends the pages of a row group.
    pub(super) fn close(
        &mut self,
        column: ColumnDescPtr,
        texts: Option<(ByteArray, ByteArray)>,
    ) -> Result<(Bytes, ColumnCloseResult), ParquetError> {
        let (kind, range) = (self.kind, self.range.take());
        let statistics = |nulls| {
            let nulls = Some(nulls);
            if let Some((least, most)) = texts {
                return Some(Statistics::byte_array(
                    Some(least),
                    Some(most),
                    None,
                    nulls,
                    false,
                ));
            }
            let (least, most) = range?;
            let [least, most] = [least, most].map(|order| disordered(kind, order));
            if kind == Kind::Integer {
                let [least, most] = [least, most].map(u64::cast_signed);
                return Some(Statistics::int64(
                    Some(least),
                    Some(most),
                    None,
                    nulls,
                    false,
                ));
            }
            // Readers hold both zeros for one.
            let [mut least, mut most] = [least, most].map(f64::from_bits);
            if least == 0.0 {
                least = -0.0;
            }
            if most == 0.0 {
                most = 0.0;
            }
            Some(Statistics::double(
                Some(least),
                Some(most),
                None,
                nulls,
                false,
            ))
        };
        let (bytes, close) = take(&mut self.pages).close(column, statistics)?;
        Ok((bytes.into(), close))
    }

    pub(super) fn clear(&mut self) {
        self.levels.clear();
        match &mut self.values {
            Values::Same(_) => {}
            Values::Numbers(values) => values.clear(),
            Values::Texts { places, .. } | Values::Functions(places) => places.clear(),
            Values::Scales(values) => values.clear(),
            Values::Tags(values) => values.clear(),
        }
    }

    /// What rows are ordered by that have these values, NULL first.
    pub(super) fn ranks(&self) -> impl Iterator<Item = Ranks<'_>> {
        let levels = self.is_optional.then_some(Ranks::Levels(&self.levels));
        let values = match &self.values {
            Values::Same(_) | Values::Tags(_) => None,
            Values::Numbers(values) => Some(Ranks::Numbers(self.kind, values)),
            Values::Texts { places, texts, .. } => {
                let mut order: Vec<usize> = (0..texts.len()).collect();
                order.sort_by(|one, other| texts[*one].data().cmp(texts[*other].data()));
                let mut ranks = vec![0; texts.len()];
                for (rank, text) in (0..).zip(order) {
                    ranks[text] = rank;
                }
                Some(Ranks::Texts(places, ranks))
            }
            Values::Functions(places) => Some(Ranks::Places(places)),
            Values::Scales(scales) => Some(Ranks::Scales(scales)),
        };
        levels.into_iter().chain(values)
    }
}

/// Makes a range one that has these numbers, too.
fn widen(range: &mut Option<(u64, u64)>, kind: Kind, numbers: &[u64]) {
    let mut orders = numbers.iter().map(|number| ordered(kind, *number));
    let Some(first) = orders.next() else {
        return;
    };
    let (least, most) = range.unwrap_or((first, first));
    let widened = (least.min(first), most.max(first));
    *range = Some(orders.fold(widened, |(least, most), order| {
        (least.min(order), most.max(order))
    }));
}

/// What a scale divides by.
fn scale(place: u32) -> f64 {
    SCALES.get(place as usize).copied().unwrap_or_default()
}

/// The places that rows have, each once, in the order in which they come.
enum Distinct {
    /// All rows have a value, at one place.
    One(u32),
    /// The places, and for each value the number of its place among them.
    Many { used: Vec<u32>, numbers: Vec<u32> },
}

/// Finds the places that rows have, which are below a number.
fn distinct<T: Copy + PartialEq + Into<u32>>(
    places: &[T],
    levels: Option<&[bool]>,
    known: usize,
) -> Distinct {
    if let (None, [first, rest @ ..]) = (levels, places)
        && are_all(rest, *first)
    {
        return Distinct::One((*first).into());
    }
    let mut found = vec![NONE; known];
    let mut used = Vec::new();
    let mut number_of = |place: &T| {
        let place: u32 = (*place).into();
        let number = &mut found[place as usize];
        if *number == NONE {
            *number = u32::try_from(used.len()).unwrap_or(NONE);
            used.push(place);
        }
        *number
    };
    let numbers = match levels {
        None => places.iter().map(number_of).collect(),
        Some(levels) if are_all(levels, false) => Vec::new(),
        Some(levels) => {
            let with = places.iter().zip(levels);
            let with = with.filter(|(_, is_there)| **is_there);
            with.map(|(place, _)| number_of(place)).collect()
        }
    };
    Distinct::Many { used, numbers }
}

/// Whether all values are the same one. Many are compared at once before the outcome is looked at.
fn are_all<T: Copy + PartialEq>(values: &[T], value: T) -> bool {
    let mut pieces = values.chunks(64);
    pieces.all(|piece| piece.iter().filter(|found| **found != value).count() == 0)
}
