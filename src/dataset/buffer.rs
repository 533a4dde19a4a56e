//! A column of a row group that is being filled, and the pages that its values make.

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
use super::order::{disordered, ordered};
use super::pages::{self, Matches, Pages, Zstd};
use super::tables::{Column, Kind};

/// Rows of a page of a table whose rows come in their order: one byte of each is a block of zstd. Tables that are sorted here are in
/// memory anyway: their pages are as long as row groups, so that zstd finds again in one metric what is the same in the one before.
pub(super) const PAGE: usize = 1 << 17;

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
    /// Whole numbers, or the bits of costs.
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
    pub(super) matches: Matches,
    /// Pages of the row group that are made, of numbers.
    pub(super) pages: Pages,
    /// Smallest and largest number among them, in the order of the column.
    pub(super) range: Option<(u64, u64)>,
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
                let last = places.last().copied().unwrap_or_default();
                places.resize(rows, last);
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

    /// Makes a page of some rows of a column of numbers.
    pub(super) fn page_of_numbers(
        &mut self,
        zstd: &mut Zstd,
        from: usize,
        to: usize,
    ) -> Result<(), ParquetError> {
        let Values::Numbers(values) = &self.values else {
            return Ok(());
        };
        let levels = self.is_optional.then(|| &self.levels[from..to]);
        let there: Vec<u64>;
        let mut numbers = values.as_slice();
        if self.has_place_of_null {
            numbers = &numbers[from..to];
        }
        if let Some(levels) = levels
            && self.has_place_of_null
            && levels.contains(&false)
        {
            let with = numbers
                .iter()
                .zip(levels)
                .filter(|(_, is_there)| **is_there);
            there = with.map(|(number, _)| *number).collect();
            numbers = &there;
        }
        let mut orders = numbers.iter().map(|number| ordered(self.kind, *number));
        if let Some(first) = orders.next() {
            let (least, most) = self.range.unwrap_or((first, first));
            let range = (least.min(first), most.max(first));
            self.range = Some(orders.fold(range, |(least, most), order| {
                (least.min(order), most.max(order))
            }));
        }
        // Where there is none, no reader is asked what it makes of no bytes.
        let encoding = if numbers.is_empty() {
            Encoding::PLAIN
        } else {
            Encoding::BYTE_STREAM_SPLIT
        };
        let how = (encoding, self.matches);
        self.pages.data(zstd, to - from, levels, how, |page| {
            pages::split(numbers, page);
        })
    }

    /// Makes the pages of a column whose values are places in a dictionary, and closes it.
    pub(super) fn pages_of_places(
        &mut self,
        zstd: &mut Zstd,
        keys: &[ByteArray],
        (from, to): (usize, usize),
        page: usize,
    ) -> Result<Option<(ByteArray, ByteArray)>, ParquetError> {
        if matches!(self.values, Values::Numbers(_) | Values::Tags(_)) {
            return Ok(None);
        }
        let levels = self.is_optional.then(|| &self.levels[from..to]);
        let (texts, found): (&[ByteArray], Distinct) = match &self.values {
            Values::Same(text) => (slice::from_ref(text), Distinct::One(0)),
            Values::Texts { places, texts, .. } => {
                let found = distinct(&places[from..to], levels, texts.len());
                (texts.as_slice(), found)
            }
            Values::Functions(places) => (keys, distinct(&places[from..to], levels, keys.len())),
            Values::Scales(scales) => {
                let known = usize::from(UNKNOWN) + 1;
                (&[], distinct(&scales[from..to], levels, known))
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
        for start in (0..to - from).step_by(page) {
            let rows = page.min(to - from - start);
            let levels = levels.map(|levels| &levels[start..start + rows]);
            let there = levels.map_or(rows, |levels| {
                levels.iter().filter(|is_there| **is_there).count()
            });
            let numbers = numbers.map(|numbers| &numbers[next..next + there]);
            next += there;
            if is_plain {
                let how = (Encoding::PLAIN, Matches::Texts);
                self.pages.data(zstd, rows, levels, how, |page| {
                    pages::plain(page, |page| {
                        for number in numbers.unwrap_or_default() {
                            value(used[*number as usize], page);
                        }
                    });
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

    /// Numbers that are in the order of the values, NULL first.
    pub(super) fn ranks(&self) -> Vec<Vec<u64>> {
        let mut ranks = Vec::new();
        if self.is_optional {
            ranks.push(self.levels.iter().copied().map(u64::from).collect());
        }
        match &self.values {
            Values::Same(_) | Values::Tags(_) => {}
            Values::Numbers(values) => {
                ranks.push(
                    values
                        .iter()
                        .map(|bits| ordered(self.kind, *bits))
                        .collect(),
                );
            }
            Values::Texts { places, texts, .. } => {
                let mut order: Vec<usize> = (0..texts.len()).collect();
                order.sort_by(|one, other| texts[*one].data().cmp(texts[*other].data()));
                let mut rank = vec![0; texts.len()];
                for (at, text) in order.into_iter().enumerate() {
                    rank[text] = at as u64;
                }
                let of = |place: &u32| rank.get(*place as usize).copied().unwrap_or_default();
                ranks.push(places.iter().map(of).collect());
            }
            Values::Functions(places) => {
                ranks.push(places.iter().copied().map(u64::from).collect());
            }
            Values::Scales(scales) => ranks.push(scales.iter().copied().map(u64::from).collect()),
        }
        ranks
    }
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
