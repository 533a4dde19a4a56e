//! What answers about several runs are made of: columns, who reads them, and what each says of a row.

use super::header::{Column, Kind, Meaning, Medium};
use crate::text::cell::{NO_NAME, Value};

/// Those who read a column: people, programs, and both.
pub(crate) const PEOPLE: &[Medium] = &[Medium::Text];
pub(crate) const PROGRAMS: &[Medium] = &[Medium::Csv, Medium::Xml, Medium::Json];
pub(crate) const ALL: &[Medium] = &[Medium::Text, Medium::Csv, Medium::Xml, Medium::Json];
/// Programs that find a value by its name, not by its place.
pub(crate) const BY_NAME: &[Medium] = &[Medium::Xml, Medium::Json];

/// A column, and what it says of a row.
pub(crate) struct ColumnOf<R> {
    column: Column<'static>,
    value: fn(&R) -> Value,
}

/// A column of this name, for these readers.
pub(crate) fn column<R>(
    name: &str,
    kind: Kind,
    media: &[Medium],
    value: fn(&R) -> Value,
) -> ColumnOf<R> {
    ColumnOf {
        column: Column {
            media: media.to_vec(),
            ..Column::plain(name.to_owned(), kind)
        },
        value,
    }
}

/// The same, with the title of what it shows.
pub(crate) fn shows<R>(meaning: Meaning, mut of: ColumnOf<R>) -> ColumnOf<R> {
    of.column.shows = Some(meaning);
    of
}

/// The same, of texts that are figures or verdicts: no part of them can be missed.
pub(crate) fn whole<R>(mut of: ColumnOf<R>) -> ColumnOf<R> {
    of.column.is_whole = true;
    of
}

/// The columns alone.
pub(crate) fn columns<R>(all: &[ColumnOf<R>]) -> Vec<Column<'static>> {
    all.iter().map(|of| of.column.clone()).collect()
}

/// What they say of a row.
pub(crate) fn values<R>(all: &[ColumnOf<R>], row: &R) -> Vec<Value> {
    all.iter().map(|of| (of.value)(row)).collect()
}

pub(crate) fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

pub(crate) fn optional(text: Option<&str>) -> Value {
    text.map_or(Value::Null, self::text)
}

pub(crate) fn integer(number: Option<i64>) -> Value {
    number.map_or(Value::Null, Value::Integer)
}

/// A figure, if it is one.
pub(crate) fn real(figure: Option<f64>) -> Value {
    let figure = figure.filter(|figure| figure.is_finite());
    figure.map_or(Value::Null, Value::Real)
}

/// A name as people read it.
pub(crate) fn shown(name: &str) -> &str {
    if name.is_empty() { NO_NAME } else { name }
}

/// What people call a function without a name, if it is one: by its module.
pub(crate) fn of_module(name: &str, module: &str) -> Option<String> {
    let is_unknown = matches!(name, "" | NO_NAME) && !module.is_empty();
    is_unknown.then(|| format!("{NO_NAME} in {module}"))
}
