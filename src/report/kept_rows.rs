//! Rows of an answer in memory, packed: of the twenty values that a row of a report has, most are unknown or short, and there may be
//! a row for each function of a large program.

use crate::text::cell::{Value, put};

/// Rows that are read one after the other.
#[derive(Default)]
pub(super) struct KeptRows {
    /// Of each value what it is, and its number or the length of its text.
    values: Vec<u8>,
    /// All texts, one after the other.
    texts: String,
    /// Values of each row.
    width: usize,
    count: usize,
}

/// What a value is.
const NULL: u8 = 0;
const INTEGER: u8 = 1;
const REAL: u8 = 2;
const TEXT: u8 = 3;

impl KeptRows {
    /// Adds a row, which is as wide as those before.
    pub(super) fn push(&mut self, row: &[Value]) {
        debug_assert!(
            self.count == 0 || self.width == row.len(),
            "rows of one answer"
        );
        self.width = row.len();
        self.count += 1;
        for value in row {
            match value {
                Value::Null => self.values.push(NULL),
                Value::Integer(number) => self.add(INTEGER, number.to_le_bytes()),
                Value::Real(number) => self.add(REAL, number.to_le_bytes()),
                Value::Text(text) => {
                    self.texts.push_str(text);
                    self.add(TEXT, (text.len() as u64).to_le_bytes());
                }
            }
        }
    }

    fn add(&mut self, kind: u8, number: [u8; 8]) {
        self.values.push(kind);
        self.values.extend_from_slice(&number);
    }

    /// Bytes of all texts.
    pub(super) fn text_bytes(&self) -> usize {
        self.texts.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Calls a function for every row, in order, until it fails.
    ///
    /// # Errors
    /// The function's own.
    pub(super) fn each<E>(&self, mut give: impl FnMut(&[Value]) -> Result<(), E>) -> Result<(), E> {
        // Texts are written over those of the row before.
        let mut row = vec![Value::Null; self.width];
        let (mut values, mut texts) = (self.values.as_slice(), self.texts.as_str());
        for _ in 0..self.count {
            for value in &mut row {
                let Some((kind, rest)) = values.split_first() else {
                    break;
                };
                values = rest;
                if *kind == NULL {
                    *value = Value::Null;
                    continue;
                }
                let Some((number, rest)) = values.split_first_chunk() else {
                    break;
                };
                values = rest;
                match *kind {
                    INTEGER => *value = Value::Integer(i64::from_le_bytes(*number)),
                    REAL => *value = Value::Real(f64::from_le_bytes(*number)),
                    _ => {
                        let length = usize::try_from(u64::from_le_bytes(*number));
                        let (text, rest) = texts.split_at(length.unwrap_or(texts.len()));
                        put(value, text);
                        texts = rest;
                    }
                }
            }
            give(&row)?;
        }
        Ok(())
    }
}

impl FromIterator<Vec<Value>> for KeptRows {
    fn from_iter<R: IntoIterator<Item = Vec<Value>>>(rows: R) -> Self {
        let mut kept = Self::default();
        rows.into_iter().for_each(|row| kept.push(&row));
        kept
    }
}
