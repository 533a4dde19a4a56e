//! Refuses runs without figures: a report of such a run would be an empty table.

use crate::base::error::{ImportError, Position};
use crate::events::Severity;
use crate::formats::Format;
use crate::profile::{InfoRow, NoteRow, RunSummary};

/// Number of notes that a refusal quotes.
const QUOTED_NOTES: usize = 3;

/// Checks that a run has a function with a cost or a number of calls. Where tools of the format write
/// files without one for an empty recording, the run gets a warning instead.
///
/// # Errors
/// When the run has no such function and the format has no empty recordings.
pub(super) fn check_figures(
    run: &mut RunSummary,
    format: &Format,
    end: Position,
) -> Result<(), ImportError> {
    let has_figure = |row: &InfoRow| {
        let figures = &row.figures;
        let costs = [figures.exclusive, figures.cumulative, figures.seen];
        figures.calls.is_some_and(|calls| calls > 0)
            || costs.into_iter().flatten().any(|cost| cost != 0.0)
    };
    if run.function_count > 0 && run.functions.iter().any(|row| has_figure(&row)) {
        return Ok(());
    }
    let contents = match run.function_count {
        0 => "no function".to_owned(),
        1 => "1 function without costs and calls".to_owned(),
        count => format!("{count} functions without costs and calls"),
    };
    if format.has_empty_recordings {
        run.notes.push(NoteRow {
            severity: Severity::Warning,
            position: None,
            message: format!("the recording is empty: it has {contents}"),
        });
        return Ok(());
    }
    let notes = run.notes.iter().take(QUOTED_NOTES);
    let found: Vec<String> = std::iter::once(contents)
        .chain(notes.map(|note| note.message.clone()))
        .collect();
    Err(ImportError::malformed(
        end,
        "a function with a cost",
        found.join("; "),
    ))
}
