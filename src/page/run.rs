//! What a page holds of a run, as much of it as there is room for.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use serde_json::{Value, json};

use super::column::{self, Column};
use super::error::PageError;
use super::numbers::{Numbers, numbers};
use super::statements::statements;
use super::tree::{Cut, Tree, tree};
use crate::store::{Database, FunctionRow, LineFigures, LinePlace, MetricInfo, RunInfo};

/// How often a tree is cut anew until it fits.
const TRIES: u32 = 8;

/// A run as blocks of a page.
pub(super) struct Part {
    /// What is known of it besides its figures, and what was left out.
    pub(super) about: Value,
    /// Names and compressed bytes.
    pub(super) blocks: Vec<(String, Vec<u8>)>,
}

/// Whether stored source is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// It is, if the run has any.
    #[default]
    Stored,
    /// It is not.
    Left,
}

/// Reads a run, as much as so many compressed bytes hold.
pub(super) fn part(
    database: &Database,
    run: &RunInfo,
    source: Source,
    room: usize,
) -> Result<Part, PageError> {
    let mut metrics = database.metrics(run.run_id)?;
    // The metric that the run's reports show comes first.
    metrics.sort_by_key(|metric| run.default_metric.as_ref() != Some(&metric.name));
    let functions = match metrics.first() {
        Some(first) => database.functions(run.run_id, first.metric_id)?,
        None => Vec::new(),
    };
    let mut lines = Vec::new();
    if let Some(first) = metrics.first() {
        database.each_line_figure(first.metric_id, |line| lines.push(line))?;
    }
    let numbers = numbers(run, &functions, &lines);
    let mut names = names(&functions);
    let files = line_files(database, &metrics, &lines)?;
    names["line_files"] = json!(files.keys().collect::<Vec<_>>());
    let mut blocks = Vec::new();
    for (at, metric) in metrics.iter().enumerate() {
        blocks.push((
            format!("functions-{at}"),
            function_block(database, metric, &numbers)?,
        ));
        blocks.push((
            format!("edges-{at}"),
            call_block(database, metric, &numbers, &files)?,
        ));
    }
    let lines_of = line_blocks(database, &metrics, &numbers, &lines, &files)?;
    blocks.push(("names".to_owned(), column::text(&names.to_string())));
    blocks.push((
        "statements".to_owned(),
        column::text(&statements(run, &metrics)?.to_string()),
    ));
    let mut left = json!({});
    if let Some(text) = sources(database, run, &numbers, source)? {
        blocks.push(("sources".to_owned(), column::text(&text.to_string())));
    } else if source == Source::Left && !database.source_places(run.run_id)?.is_empty() {
        left["source"] = json!(true);
    }
    let fixed = size(&blocks);
    let mut with_lines = lines_of;
    let chosen: Vec<&MetricInfo> = metrics.iter().collect();
    let mut tree_of = None;
    if run.fidelity == "tree" && !metrics.is_empty() {
        let whole = tree(
            database,
            run.run_id,
            &chosen,
            &numbers,
            Cut {
                lines: false,
                below: 0.0,
            },
        )?;
        let (fitted, dropped) = fitted(
            database,
            run,
            &chosen,
            &numbers,
            whole,
            size(&with_lines),
            room.saturating_sub(fixed),
        )?;
        if dropped.lines {
            with_lines.clear();
            left["lines"] = json!(lines.len());
        }
        if dropped.metrics {
            left["metrics"] = json!(
                metrics[1..]
                    .iter()
                    .map(|metric| &metric.name)
                    .collect::<Vec<_>>()
            );
        }
        if fitted.kept < dropped.functions {
            left["places"] = json!({
                "kept": fitted.kept,
                "of": dropped.functions,
                "cost": fitted.left,
            });
        }
        tree_of = Some(fitted);
    } else if fixed + size(&with_lines) > room && !lines.is_empty() {
        with_lines.clear();
        left["lines"] = json!(lines.len());
    }
    blocks.append(&mut with_lines);
    let places = tree_of.as_ref().map_or(0, |tree| tree.places);
    blocks.extend(tree_of.into_iter().flat_map(|tree| tree.blocks));
    let bytes = size(&blocks);
    if bytes > room {
        return Err(PageError::TooLarge(format!(
            "run {} needs {} bytes more, without its lines and with a tree of its most expensive places only; \
             --max-size says how large the page may be",
            run.run_id,
            (bytes - room) * 4 / 3
        )));
    }
    let about = about(database, run, &metrics, places, &left)?;
    Ok(Part { about, blocks })
}

/// What is known of a run besides its figures: `left` is what the page leaves out.
pub(super) fn about(
    database: &Database,
    run: &RunInfo,
    metrics: &[MetricInfo],
    places: u64,
    left: &Value,
) -> Result<Value, PageError> {
    let state = database.state(run.run_id)?;
    let first_node = state.columns.iter().find(|(name, _)| name == "first_node");
    let first_node = first_node.and_then(|(_, value)| value.as_ref()?.parse::<i64>().ok());
    Ok(json!({
        "run_id": run.run_id,
        "name": run.name,
        "title": run.title,
        "fidelity": run.fidelity,
        "default_metric": run.default_metric,
        "first_node": first_node,
        "places": places,
        "metrics": metrics.iter().map(|metric| json!({
            "metric_id": metric.metric_id,
            "name": metric.name,
            "unit": metric.unit,
            "total": metric.total,
            "timer_readings": metric.timer_readings,
        })).collect::<Vec<_>>(),
        "facts": state.columns.into_iter().filter_map(|(name, value)| Some((name, value?)))
            .chain(state.properties).collect::<Vec<_>>(),
        "tags": state.tags,
        "notes": state.notes.iter().map(|note| json!({
            "severity": note.severity,
            "text": note.to_string(),
        })).collect::<Vec<_>>(),
        "left": left,
    }))
}

fn size(blocks: &[(String, Vec<u8>)]) -> usize {
    blocks.iter().map(|(_, bytes)| bytes.len()).sum()
}

/// What is left out of a tree besides places.
struct Dropped {
    lines: bool,
    metrics: bool,
    /// How many places functions have.
    functions: u64,
}

/// A tree that fits: first lines are left out, then the costs of other metrics, and then what costs least.
fn fitted(
    database: &Database,
    run: &RunInfo,
    metrics: &[&MetricInfo],
    numbers: &Numbers,
    whole: Tree,
    lines: usize,
    room: usize,
) -> Result<(Tree, Dropped), PageError> {
    let mut dropped = Dropped {
        lines: false,
        metrics: false,
        functions: whole.functions,
    };
    if whole.bytes() + lines <= room {
        return Ok((whole, dropped));
    }
    let cut = |below: f64| Cut { lines: true, below };
    let write = |metrics: &[&MetricInfo], below: f64| {
        tree(database, run.run_id, metrics, numbers, cut(below))
    };
    // What is left without lines, were they as large as the rest: a walk that can only fail is spared.
    let part = |bytes: usize| {
        let part = u128::from(whole.functions) * bytes as u128 / u128::from(whole.places.max(1));
        usize::try_from(part).unwrap_or(usize::MAX)
    };
    let (all, first) = (part(whole.bytes()), part(whole.bytes_of_first()));
    dropped.lines = whole.places > whole.functions;
    if dropped.lines && all <= room {
        let without_lines = write(metrics, 0.0)?;
        if without_lines.bytes() <= room {
            return Ok((without_lines, dropped));
        }
    }
    dropped.metrics = metrics.len() > 1;
    if first <= room {
        let of_first = write(&metrics[..1], 0.0)?;
        if of_first.bytes() <= room {
            return Ok((of_first, dropped));
        }
    }
    let mut most = whole.functions;
    let mut bytes = first;
    let mut fitting = None;
    for _ in 0..TRIES {
        // A place takes as much room as the others do, or a little more where few are alike.
        let fits = u128::from(most) * room as u128 / bytes.max(1) as u128 * 9 / 10;
        most = u64::try_from(fits).unwrap_or(most).min(most);
        let cut = write(&metrics[..1], whole.cost_of(most))?;
        bytes = cut.bytes();
        if bytes <= room {
            fitting = Some(cut);
            break;
        }
    }
    let fitting = match fitting {
        Some(fitting) => fitting,
        None => write(&metrics[..1], f64::INFINITY)?,
    };
    Ok((fitting, dropped))
}

/// What functions are called, and where they are.
pub(super) fn names(functions: &[FunctionRow]) -> Value {
    let all = |of: &dyn Fn(&FunctionRow) -> Value| functions.iter().map(of).collect::<Vec<_>>();
    json!({
        "id": all(&|function| json!(function.function_id)),
        "kind": all(&|function| json!(function.kind.name())),
        "name": all(&|function| json!(function.name)),
        "module": all(&|function| json!(function.module)),
        "file": all(&|function| json!(function.file)),
        "line": all(&|function| json!(function.place.0)),
    })
}

/// Calls and costs of functions in a metric. A row has the number of its function less that of the row before.
pub(super) fn function_block(
    database: &Database,
    metric: &MetricInfo,
    numbers: &Numbers,
) -> Result<Vec<u8>, PageError> {
    let mut rows = Vec::new();
    database.each_function_figure(metric.metric_id, |row| rows.push(row))?;
    let mut column = Column::new();
    let mut last = 0;
    column.number(rows.len() as u64);
    for row in rows {
        let function = numbers.function(row.function_id)?;
        column.number(function - last);
        column.count(row.calls);
        for cost in [row.exclusive, row.cumulative, row.seen] {
            column.cost(cost);
        }
        last = function;
    }
    Ok(column.finish())
}

/// The files of lines and of calls where they are not those of their functions, and the empty name for
/// those: each with its number, in the order of their names.
pub(super) fn line_files(
    database: &Database,
    metrics: &[MetricInfo],
    lines: &[LineFigures],
) -> Result<BTreeMap<String, u64>, PageError> {
    let mut files = BTreeMap::from([(String::new(), 0)]);
    let mut add = |file: &str| {
        if !files.contains_key(file) {
            files.insert(file.to_owned(), 0);
        }
    };
    for line in lines {
        add(&line.file);
    }
    // Every metric has the same calls.
    if let Some(first) = metrics.first() {
        database.each_call_figure(first.metric_id, |call| add(&call.line_file))?;
    }
    for (number, at) in files.values_mut().zip(0..) {
        *number = at;
    }
    Ok(files)
}

/// Calls between functions in a metric.
pub(super) fn call_block(
    database: &Database,
    metric: &MetricInfo,
    numbers: &Numbers,
    files: &BTreeMap<String, u64>,
) -> Result<Vec<u8>, PageError> {
    let mut rows = Vec::new();
    database.each_call_figure(metric.metric_id, |row| rows.push(row))?;
    let mut column = Column::new();
    column.number(rows.len() as u64);
    let mut last = 0;
    for row in rows {
        let callee = numbers.function(row.callee_id)?;
        column.number(callee - last);
        column.number(match row.caller_id {
            0 => 0,
            caller => numbers.function(caller)? + 1,
        });
        column.number(files.get(&row.line_file).copied().unwrap_or_default());
        column.signed(row.line);
        column.signed(row.col);
        column.number(row.is_back.into());
        column.count(row.calls);
        for cost in [row.exclusive, row.cumulative, row.outermost] {
            column.cost(cost);
        }
        last = callee;
    }
    Ok(column.finish())
}

/// Lines, and their calls and costs in every metric.
pub(super) fn line_blocks(
    database: &Database,
    metrics: &[MetricInfo],
    numbers: &Numbers,
    lines: &[LineFigures],
    files: &BTreeMap<String, u64>,
) -> Result<Vec<(String, Vec<u8>)>, PageError> {
    if lines.is_empty() {
        return Ok(Vec::new());
    }
    let mut column = Column::new();
    let mut last = 0;
    column.number(lines.len() as u64);
    for line in lines {
        let function = numbers.function(line.function_id)?;
        column.number(function - last);
        column.number(files.get(&line.file).copied().unwrap_or_default());
        column.signed(line.line);
        column.signed(line.col);
        last = function;
    }
    let mut blocks = vec![("lines".to_owned(), column.finish())];
    for (at, metric) in metrics.iter().enumerate() {
        let mut rows = Vec::new();
        database.each_line_figure(metric.metric_id, |row| rows.push(row))?;
        let mut column = Column::new();
        let mut last = 0;
        column.number(rows.len() as u64);
        for row in rows {
            let function = numbers.function(row.function_id)?;
            let place = LinePlace {
                file: row.file,
                line: row.line,
                col: row.col,
            };
            let line = numbers.line(function, &place)?;
            column.number(line - last);
            column.count(row.calls);
            column.cost(row.exclusive);
            column.cost(row.cumulative);
            last = line;
        }
        blocks.push((format!("lines-{at}"), column.finish()));
    }
    Ok(blocks)
}

/// Stored source: which text is that of which functions, and the lines of the texts.
pub(super) fn sources(
    database: &Database,
    run: &RunInfo,
    numbers: &Numbers,
    source: Source,
) -> Result<Option<Value>, PageError> {
    let places = match source {
        Source::Stored => database.source_places(run.run_id)?,
        Source::Left => Vec::new(),
    };
    let mut texts = Vec::new();
    let mut known: HashMap<i64, usize> = HashMap::new();
    let mut written = Vec::new();
    for place in places {
        // A function without figures is no function of the page.
        let Ok(function) = numbers.function(place.function_id) else {
            continue;
        };
        let text = if let Some(text) = known.get(&place.source_id) {
            *text
        } else {
            texts.push(database.source_text(place.source_id)?);
            known.insert(place.source_id, texts.len() - 1);
            texts.len() - 1
        };
        written.push((function, place.file, text));
    }
    Ok((!written.is_empty()).then(|| json!({"places": written, "texts": texts})))
}
