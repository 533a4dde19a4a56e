//! Rows of reports that show nodes: trees of calls, trees of callers, paths. They come from a pass
//! over the nodes in the columns of the report, whose statement gives the same.

use rusqlite::Connection;

use super::answer::RowSource;
use super::nodes::{ChainRow, LeftOut, Limits, Names, PathRow, Tree};
use super::question::Question;
use crate::base::sum::Sum;
use crate::text::cell::{Value, put};

/// How far a question looks; `total` is 100 %.
pub(super) fn limits(question: &Question<'_>, total: f64) -> Limits {
    Limits {
        // No tree is as deep as a larger number says.
        depth: question
            .depth
            .map(|depth| i64::try_from(depth).unwrap_or(i64::MAX)),
        min_pct: question.min_pct,
        total,
        first: question.first,
    }
}

/// A cost in percent; `None` if nothing is 100 %.
pub(super) fn percent(cost: f64, total: f64) -> Option<f64> {
    (total != 0.0).then(|| 100.0 * cost / total)
}

fn integer(number: Option<i64>) -> Value {
    number.map_or(Value::Null, Value::Integer)
}

fn real(number: Option<f64>) -> Value {
    number.map_or(Value::Null, Value::Real)
}

/// The rows of the report `tree`.
pub(super) struct TreeRows<'d> {
    pub(super) tree: Tree<'d>,
    pub(super) limits: Limits,
    pub(super) with_code: bool,
}

impl TreeRows<'_> {
    /// What depth and threshold leave out.
    pub(super) fn left_out(&self) -> rusqlite::Result<LeftOut> {
        self.tree.left_out(&self.limits)
    }
}

impl RowSource for TreeRows<'_> {
    fn may_be_filled(&self, column: &str) -> rusqlite::Result<bool> {
        match column {
            "exclusive_ticks" | "cumulative_ticks" => Ok(self.tree.has_readings()),
            "calls" => self.tree.may_have_calls(),
            "file" => self.tree.may_have_files(),
            "first_line" => self.tree.may_have_first_lines(),
            _ => Ok(true),
        }
    }

    fn each(&self, give: &mut dyn FnMut(&[Value]) -> bool) -> rusqlite::Result<()> {
        let mut values = vec![Value::Null; 18];
        self.tree.each(&self.limits, self.with_code, |row| {
            let place = row.place;
            values[0] = Value::Integer(place.depth);
            put(&mut values[1], &row.function.name);
            if let Value::Text(element) = &mut values[1] {
                row.write_line(element);
            }
            put(&mut values[2], &row.function.name);
            values[3] = integer(place.line);
            values[4] = integer(place.col);
            values[5] = integer(place.calls);
            values[6] = Value::Real(place.exclusive);
            values[7] = real(place.cumulative);
            values[8] = real(place.exclusive_readings);
            values[9] = real(place.cumulative_readings);
            match &row.code {
                Some(code) => put(&mut values[10], code),
                None => values[10] = Value::Null,
            }
            put(&mut values[11], &row.function.module);
            put(&mut values[12], row.file());
            values[13] = integer(row.function.first_line);
            values[14] = Value::Integer(place.node_id);
            values[15] = integer(place.parent_id);
            match &place.file {
                Some(file) => put(&mut values[16], file),
                None => values[16] = Value::Null,
            }
            values[17] = Value::Integer(place.function_id);
            Ok(give(&values))
        })
    }
}

/// The rows of the report `bottom_up`.
pub(super) struct ChainRows<'d> {
    pub(super) connection: &'d Connection,
    pub(super) rows: Vec<ChainRow>,
    pub(super) total: f64,
}

impl RowSource for ChainRows<'_> {
    fn each(&self, give: &mut dyn FnMut(&[Value]) -> bool) -> rusqlite::Result<()> {
        let mut names = Names::new(self.connection)?;
        let mut values = vec![Value::Null; 10];
        for row in &self.rows {
            let function = names.of(row.function_id)?;
            values[0] = Value::Integer(row.level);
            put(&mut values[1], &function.name);
            put(&mut values[2], &function.name);
            values[3] = Value::Real(row.cost);
            values[4] = real(percent(row.cost, self.total));
            values[5] = row.calls.map_or(Value::Null, Value::from);
            put(&mut values[6], &function.module);
            put(&mut values[7], &function.file);
            values[8] = integer(function.first_line);
            values[9] = Value::Integer(row.function_id);
            if !give(&values) {
                break;
            }
        }
        Ok(())
    }
}

/// The rows of the report `paths`.
pub(super) struct PathRows {
    pub(super) rows: Vec<PathRow>,
    pub(super) total: f64,
}

impl RowSource for PathRows {
    fn each(&self, give: &mut dyn FnMut(&[Value]) -> bool) -> rusqlite::Result<()> {
        let mut so_far = Sum::default();
        let mut values = vec![Value::Null; 8];
        for row in &self.rows {
            let share = percent(row.exclusive, self.total);
            so_far.add(share.unwrap_or_default());
            values[0] = Value::Real(row.exclusive);
            values[1] = real(share);
            values[2] = real(share.map(|_| so_far.value()));
            values[3] = integer(row.calls);
            values[4] = real(row.cumulative);
            values[5] = Value::Integer(row.frames);
            put(&mut values[6], if row.is_cut { "... > " } else { "" });
            if let Value::Text(path) = &mut values[6] {
                path.push_str(&row.path);
            }
            values[7] = Value::Integer(row.node_id);
            if !give(&values) {
                break;
            }
        }
        Ok(())
    }
}
