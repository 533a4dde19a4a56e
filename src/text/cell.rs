//! Cells of a table: their values, what these are, and the columns that show them.

/// One value of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Unknown, or not there.
    Null,
    /// A whole number.
    Integer(i64),
    /// A figure in its base unit.
    Real(f64),
    /// Text.
    Text(String),
}

/// Puts a text into the place of a value, whose memory it takes over.
pub(crate) fn put(value: &mut Value, text: &str) {
    if let Value::Text(place) = value {
        place.clear();
        place.push_str(text);
    } else {
        *value = Value::Text(text.to_owned());
    }
}

/// What the values of a column are, which says how they are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Name of a function.
    Name,
    /// Name of a node, indented by the column `depth`.
    Node,
    /// Other text.
    Text,
    /// A number that names something: a line, a rank, an id.
    Line,
    /// A count.
    Count,
    /// A cost in the unit of the metric; shown to ten digits, as APL does.
    Cost,
    /// A cost in the unit of the metric; shown with all its digits.
    Raw,
    /// A percentage.
    Percent,
    /// Whatever it is: plain SQL.
    Any,
}

/// A column that is shown.
pub(crate) struct Shown {
    /// Its place in the rows.
    pub(crate) at: usize,
    pub(crate) kind: Kind,
    /// Which of the metrics of the table its costs are of, from 0.
    pub(crate) metric: usize,
    /// Its texts are never shortened.
    pub(crate) is_whole: bool,
    /// Its texts are verdicts.
    pub(crate) is_verdict: bool,
    pub(crate) title: String,
}

/// A name for what has none, where readers expect one.
pub(crate) const NO_NAME: &str = "(no name)";
