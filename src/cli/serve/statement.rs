//! Statements of the user's own: they only read, and neither take long nor give much.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use super::super::failure::{Failure, complain, database as failed, unanswered};
use crate::base::error::Stop;
use crate::report::{ReportError, Value, query};
use crate::store::{Database, StoreError};

/// How long a statement may work. Waiting for a machine that is busy with other things does not count.
const LONGEST: Duration = Duration::from_secs(1);

/// How long it may take in any case, as where a disk is slow.
const LONGEST_IN_ALL: Duration = Duration::from_secs(10);

/// How many rows it gives at most.
const MOST_ROWS: usize = 1_000;

/// How many bytes it gives at most; no value is longer.
const MOST_BYTES: usize = 10_000_000;

/// Whole numbers of more digits than these 15 could not be told from others in JavaScript: they come as objects.
const MOST_DIGITS: u64 = 1_000_000_000_000_000;

/// Why rows are no longer taken.
enum Enough {
    Store(StoreError),
    Rows,
    Bytes,
}

impl From<StoreError> for Enough {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// When a statement began, in the time of this thread and in that of everyone.
struct Clock {
    worked: Option<Duration>,
    begun: Instant,
}

impl Clock {
    fn now() -> Self {
        #[expect(
            clippy::disallowed_methods,
            reason = "the limit of a statement is one of time"
        )]
        let begun = Instant::now();
        Self {
            worked: worked(),
            begun,
        }
    }

    fn is_over(&self) -> bool {
        let passed = self.begun.elapsed();
        let worked = worked().zip(self.worked);
        let worked = worked.map_or(passed, |(now, then)| now.saturating_sub(then));
        worked > LONGEST || passed > LONGEST_IN_ALL
    }
}

/// How long this thread has worked; `None` where the system does not say.
#[cfg(unix)]
fn worked() -> Option<Duration> {
    use rustix::time::{ClockId, clock_gettime};
    clock_gettime(ClockId::ThreadCPUTime).try_into().ok()
}

/// How long this thread has worked; `None` where the system does not say.
#[cfg(not(unix))]
fn worked() -> Option<Duration> {
    None
}

/// The answer to a statement as JSON: columns, rows, and what of it was more than is given.
pub(super) fn answer(mut database: Database, sql: &str, stop: &Stop) -> Result<String, Failure> {
    let is_late = Arc::new(AtomicBool::new(false));
    let ends = {
        let (is_late, stop) = (Arc::clone(&is_late), stop.clone());
        let begun = Clock::now();
        move || {
            if begun.is_over() {
                is_late.store(true, Ordering::Relaxed);
            }
            is_late.load(Ordering::Relaxed) || stop.is_set()
        }
    };
    let guarded = database.guard_against_statements(MOST_BYTES, ends);
    guarded.map_err(|error| failed(error, stop))?;
    let late = || {
        let seconds = LONGEST.as_secs();
        complain(
            format!("the statement was stopped after {seconds} s"),
            Failure::NothingSelected,
        )
    };
    let is_late = || is_late.load(Ordering::Relaxed);
    let too_large = || {
        let most = MOST_BYTES / 1_000_000;
        complain(
            format!(
                "the statement computes a value of more than {most} MB, which exceeds the limit of a result"
            ),
            Failure::Usage,
        )
    };
    let mut answer = query(&database, sql).map_err(|error| match error {
        _ if is_late() => late(),
        ReportError::Store(error) if error.is_value_too_large() => too_large(),
        error => unanswered(error, stop),
    })?;
    let columns: Vec<String> = answer
        .columns
        .iter()
        .map(|column| column.name.to_string())
        .collect();
    let (mut rows, mut count, mut bytes) = (String::new(), 0, 0);
    let read = answer.each(|row| {
        if count == MOST_ROWS {
            return Err(Enough::Rows);
        }
        let row: Vec<Json> = row.iter().map(value).collect();
        let row = Json::from(row).to_string();
        bytes += row.len();
        if bytes > MOST_BYTES {
            return Err(Enough::Bytes);
        }
        if count > 0 {
            rows.push_str(",\n");
        }
        rows.push_str(&row);
        count += 1;
        Ok(())
    });
    let more = match read {
        Ok(()) => None,
        Err(Enough::Rows) => Some(format!("Only the first {MOST_ROWS} rows are shown")),
        Err(Enough::Bytes) => Some(format!(
            "Only the first {count} rows are shown; more would exceed {} MB",
            MOST_BYTES / 1_000_000
        )),
        Err(Enough::Store(_)) if is_late() => return Err(late()),
        Err(Enough::Store(error)) if error.is_value_too_large() => return Err(too_large()),
        Err(Enough::Store(error)) => {
            return Err(match error.fault_of_statement() {
                Some(fault) => complain(fault, Failure::Usage),
                None => failed(error, stop),
            });
        }
    };
    let (columns, more) = (json!(columns), json!(more));
    Ok(format!(
        "{{\"columns\":{columns},\"more\":{more},\"rows\":[\n{rows}\n]}}\n"
    ))
}

fn value(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Integer(number) if number.unsigned_abs() < MOST_DIGITS => (*number).into(),
        Value::Integer(number) => json!({"integer": number.to_string()}),
        Value::Real(number) if number.is_finite() => (*number).into(),
        // JSON has no such numbers; scripts call them so.
        Value::Real(number) if *number > 0.0 => json!({"real": "Infinity"}),
        Value::Real(_) => json!({"real": "-Infinity"}),
        Value::Text(text) => text.as_str().into(),
    }
}
