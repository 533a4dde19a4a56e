//! What all callers of a function paid is what the function cost.

use super::{Failed, Sample, Value, ensure, rows, saved};

/// Sums of view `calls`, where every row is known, that are not the function's cumulative cost.
/// Functions that equal each other in what the view tells of them are compared through the edges.
const OF_VIEW: &str = "
    WITH paid AS (
      SELECT metric, function, module, file, SUM(cumulative) AS paid
      FROM calls GROUP BY 1, 2, 3, 4 HAVING COUNT(*) = COUNT(cumulative)
    ),
    cost AS (
      SELECT metric, function, module, file, MAX(cumulative) AS cumulative
      FROM summary GROUP BY 1, 2, 3, 4 HAVING COUNT(*) = 1
    )
    SELECT metric, function, paid, cumulative FROM paid JOIN cost USING (metric, function, module, file)
    WHERE ABS(paid - cumulative) > 1e-6 + 1e-9 * (ABS(paid) + ABS(cumulative))";

const OF_EDGES: &str = "
    WITH paid AS (
      SELECT metric_id, callee_id, SUM(outermost) AS paid
      FROM edges GROUP BY 1, 2 HAVING COUNT(*) = COUNT(outermost)
    )
    SELECT m.name, f.name, p.paid, i.cumulative
    FROM paid AS p
    JOIN metrics AS m ON m.metric_id = p.metric_id
    JOIN functions AS f ON f.function_id = p.callee_id
    JOIN function_info AS i ON i.metric_id = p.metric_id AND i.function_id = p.callee_id
    WHERE ABS(p.paid - i.cumulative) > 1e-6 + 1e-9 * (ABS(p.paid) + ABS(i.cumulative))
    ORDER BY 1, 2";

/// What the note says that counts them.
const NOTE: &str = " cumulative costs differ from the sum of the callers";

const PAGE: &str = include_str!("../../docs/conformance.md");

/// Where all rows of view `calls` of a function have a known cost, they add up to its cumulative
/// cost. What differs has a note that counts it, and its format is in the list of
/// docs/conformance.md, "Callers and cumulative costs".
pub(super) fn callers_add_up(sample: &Sample) -> Result<(), Failed> {
    let database = saved(sample, 1)?;
    let differing = rows(&database, OF_EDGES, &[])?;
    let of_view = rows(&database, OF_VIEW, &[])?;
    ensure(of_view.len() <= differing.len(), || {
        format!("only the view has {of_view:?}")
    })?;
    let notes = rows(&database, "SELECT message FROM notes", &[])?;
    let counted = notes.iter().flatten().find_map(|note| match note {
        Value::Text(note) => note
            .split_once(NOTE)
            .and_then(|(count, _)| count.parse::<usize>().ok()),
        _ => None,
    });
    ensure(counted.unwrap_or(0) == differing.len(), || {
        format!("a note counts {counted:?}, and these differ: {differing:?}")
    })?;
    let list = PAGE
        .split("\n## ")
        .find(|section| section.starts_with("Callers and cumulative costs"))
        .unwrap_or("");
    let is_listed = list.contains(&format!("\n| {} | ", sample.format.name));
    ensure(differing.is_empty() || is_listed, || {
        format!("not in the list of docs/conformance.md: {differing:?}")
    })
}
