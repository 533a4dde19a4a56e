//! What a page holds of a run, as much of it as there is room for.

use std::collections::BTreeSet;

use hashbrown::HashMap;
use serde_json::{Value, json};

use super::column::{self, Block, Column, size};
use super::error::PageError;
use super::figures::{
    Files, MORE, call_blocks, function_block, function_figures, line_blocks, more_of_functions,
};
use super::numbers::{Numbers, numbers};
use super::sqlite::Sql;
use super::statements::{object, statements};
use super::tree::{Cut, Functions, LABELS, Tree, tree};
use crate::report::render::{self, plain};
use crate::store::{
    Database, FilledViews, FunctionRow, MetricInfo, RunInfo, SetLabel, StoredIdentity,
};

/// How often a tree is cut anew until it fits.
const TRIES: u32 = 8;

/// How many nodes are a sample, which tells how large a tree will be. Smaller trees than twice that are written at once.
const SAMPLE: u64 = 1 << 15;

/// Bytes that a node hardly ever takes more than before it is compressed, and with each metric: such trees need no sample.
const BYTES_OF_NODE: u64 = 8;
const BYTES_OF_COST: u64 = 10;

/// Bytes of a column of a tree of which all places but the root were left out.
const EMPTY_TREE: usize = 40;

/// Labels that a page offers to choose from; any may be asked for (limit: labels in a drop-down).
const MOST_LABELS: usize = 1000;

/// A run as blocks of a page.
pub(super) struct Part {
    /// What is known of it besides its figures, and what was left out.
    pub(super) about: Value,
    /// Names and compressed bytes.
    pub(super) blocks: Vec<Block>,
    /// How many these are.
    pub(super) bytes: usize,
    /// What was left out as it does not fit, in words.
    pub(super) left: Vec<String>,
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

/// What a page says of a run besides its tree, and what of both is left out before the tree is written, as a sample of it
/// tells that it would not fit.
#[derive(Debug)]
pub(super) struct Outline {
    /// The metrics, that which reports show first.
    metrics: Vec<MetricInfo>,
    numbers: Numbers,
    /// Names and compressed bytes of what is there in any case.
    blocks: Vec<Block>,
    /// The figures of lines; none if they are left out.
    with_lines: Vec<Block>,
    /// What only SQL asks for.
    of_sql: Vec<Block>,
    /// Labels of samples, set by set.
    sets: Vec<SetLabel>,
    /// By metric, whether the file itself states own costs of functions.
    recorded: Vec<bool>,
    /// What is left out so far.
    left: Value,
    /// Lines are left out.
    lines: bool,
    /// So are paths in other metrics than the first.
    others: bool,
    /// How many lines there are.
    line_count: u64,
    /// Bytes that the tree of functions takes in the first metric for each place; `None` if there is no sample.
    place: Option<f64>,
    /// Bytes that the tree of functions takes in all metrics.
    tree: f64,
}

/// Reads a run but for its tree, and looks at a sample of that, where so many compressed bytes may be written.
pub(super) fn outline(
    database: &Database,
    run: &RunInfo,
    source: Source,
    sql: Sql,
    room: usize,
) -> Result<Outline, PageError> {
    let metrics = sorted_metrics(database, run)?;
    let first = metrics.first();
    let mut functions = Vec::new();
    if let Some(first) = first {
        functions = database.functions(run.run_id, first.metric_id)?;
    }
    let mut outline = Outline {
        numbers: numbers(run, &functions),
        metrics: metrics.clone(),
        blocks: Vec::new(),
        with_lines: Vec::new(),
        of_sql: Vec::new(),
        sets: database.set_labels(run.run_id)?,
        recorded: Vec::new(),
        left: json!({}),
        lines: false,
        others: false,
        line_count: 0,
        place: None,
        tree: 0.0,
    };
    let mut files = Files::new();
    for (at, metric) in metrics.iter().enumerate() {
        let calls = call_blocks(database, metric, &outline.numbers, &mut files)?;
        outline.blocks.push((format!("edges-{at}"), calls.shown));
        let figures = function_figures(database, metric)?;
        let is_recorded = figures
            .iter()
            .any(|row| row.is_recorded && row.exclusive.is_some());
        outline.recorded.push(is_recorded);
        let block = function_block(&figures, &outline.numbers)?;
        outline.blocks.push((format!("functions-{at}"), block));
        if sql == Sql::Inside {
            let more = [
                ("functions", more_of_functions(&figures)),
                ("edges", calls.more),
            ];
            let named = more.map(|(of, block)| (format!("{MORE}{of}-{at}"), block));
            outline.of_sql.extend(named);
        }
    }
    outline.sample(database, run, room.saturating_sub(size(&outline.blocks)))?;
    if let Some(first) = first {
        if outline.lines {
            outline.line_count = database.line_count(first.metric_id)?;
            outline.left["lines"] = json!(outline.line_count);
        } else {
            let (of_lines, of_sql) =
                line_blocks(database, &metrics, &mut outline.numbers, &mut files)?;
            outline.line_count = outline.numbers.line_count();
            outline.with_lines = of_lines;
            if sql == Sql::Inside {
                outline.of_sql.extend(of_sql);
            }
        }
    }
    let (numbers, blocks) = (&outline.numbers, &mut outline.blocks);
    let mut names = names(&functions);
    names["line_files"] = files.names.into();
    blocks.push(("names".to_owned(), column::text(&names.to_string())));
    if let Some(first) = first.filter(|_| sql == Sql::Inside) {
        let identities = database.function_identities(first.metric_id)?;
        outline.of_sql.extend(more_names(&functions, identities));
    }
    let statements = statements(run, &metrics, !outline.sets.is_empty())?;
    blocks.push((
        "statements".to_owned(),
        column::text(&statements.to_string()),
    ));
    if let Some(text) = sources(database, run, numbers, source)? {
        blocks.push(("sources".to_owned(), column::text(&text.to_string())));
    } else if source == Source::Left && !database.source_places(run.run_id)?.is_empty() {
        outline.left["source"] = json!(true);
    }
    Ok(outline)
}

impl Outline {
    /// Bytes of what is there in any case, a tree of no places among it.
    pub(super) fn least(&self) -> usize {
        size(&self.blocks) + EMPTY_TREE * (4 + 2 * self.metrics.len())
    }

    /// Bytes of what only SQL asks for.
    pub(super) fn bytes_of_sql(&self) -> usize {
        size(&self.of_sql)
    }

    /// Finds out by a sample what of a tree will not fit.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    fn sample(&mut self, database: &Database, run: &RunInfo, room: usize) -> Result<(), PageError> {
        let nodes = database.node_count(run.run_id)?;
        if run.fidelity != "tree" || self.metrics.is_empty() || nodes < 2 * SAMPLE {
            return Ok(());
        }
        let most = BYTES_OF_NODE + BYTES_OF_COST * self.metrics.len() as u64;
        if nodes.saturating_mul(most) <= room as u64 {
            return Ok(());
        }
        let metrics: Vec<&MetricInfo> = self.metrics.iter().collect();
        let sample = |lines: bool| {
            let cut = Cut {
                lines,
                most: SAMPLE,
                ..Cut::NONE
            };
            let no_labels = Vec::new();
            tree(
                database,
                run.run_id,
                &metrics,
                &self.numbers,
                no_labels,
                cut,
            )
        };
        let whole = |tree: &Tree| tree.bytes() as f64 * nodes as f64 / SAMPLE as f64;
        let mut found = sample(false)?;
        if fits(whole(&found), room) {
            return Ok(());
        }
        self.lines = found.places > found.functions;
        if self.lines {
            found = sample(true)?;
        }
        self.tree = whole(&found);
        self.others = metrics.len() > 1 && !fits(self.tree, room);
        self.place = Some(found.bytes_of_first() as f64 / found.places.max(1) as f64);
        Ok(())
    }
}

/// The metrics of a run, that which its reports show first.
pub(super) fn sorted_metrics(
    database: &Database,
    run: &RunInfo,
) -> Result<Vec<MetricInfo>, PageError> {
    let mut metrics = database.metrics(run.run_id)?;
    metrics.sort_by_key(|metric| run.default_metric.as_ref() != Some(&metric.name));
    Ok(metrics)
}

/// Adds the tree of a run, as much of it as so many compressed bytes hold with all else.
pub(super) fn part(
    database: &Database,
    run: &RunInfo,
    mut outline: Outline,
    has_sql: bool,
    room: usize,
) -> Result<Part, PageError> {
    let of_sql = std::mem::take(&mut outline.of_sql);
    if has_sql {
        outline.blocks.extend(of_sql);
    }
    let fixed = size(&outline.blocks);
    let mut left = outline.left.clone();
    let mut keeps_lines = true;
    let mut tree_of = None;
    if !outline.metrics.is_empty() {
        if run.fidelity == "tree" {
            let fitting = Fitting {
                database,
                run,
                outline: &outline,
                room: room.saturating_sub(fixed),
            };
            let (fitted, dropped) = fitting.tree()?;
            keeps_lines = !dropped.lines;
            if dropped.metrics {
                let others = outline.metrics[1..].iter().map(|metric| &metric.name);
                left["metrics"] = json!(others.collect::<Vec<_>>());
            }
            if dropped.labels {
                left["labels"] = json!(true);
            }
            if fitted.kept < dropped.functions {
                left["places"] = json!({
                    "kept": fitted.kept,
                    "of": dropped.functions,
                    "cost": fitted.left,
                });
            }
            tree_of = Some(fitted);
        } else {
            keeps_lines = fixed + size(&outline.with_lines) <= room;
        }
        if !keeps_lines && outline.line_count > 0 {
            left["lines"] = json!(outline.line_count);
        }
    }
    let places = tree_of.as_ref().map_or(0, |tree| tree.places);
    let mut blocks = std::mem::take(&mut outline.blocks);
    if keeps_lines {
        blocks.extend(std::mem::take(&mut outline.with_lines));
    }
    blocks.extend(tree_of.into_iter().flat_map(|tree| tree.blocks));
    let mut about = about(database, run, &outline.metrics, places, &left)?;
    for (at, is_recorded) in outline.recorded.iter().enumerate() {
        about["metrics"][at]["recorded"] = json!(is_recorded);
    }
    Ok(Part {
        about,
        bytes: size(&blocks),
        blocks,
        left: said(&left, &outline.metrics),
    })
}

/// What does not fit into the page, in words.
fn said(left: &Value, metrics: &[MetricInfo]) -> Vec<String> {
    let mut said = Vec::new();
    if left["labels"] == true {
        said.push("costs by label".to_owned());
    }
    if let Some(lines) = left["lines"].as_u64() {
        said.push(format!("{lines} lines"));
    }
    if let Some(others) = left["metrics"].as_array() {
        let names: Vec<&str> = others.iter().filter_map(Value::as_str).collect();
        said.push(format!("paths in {}", plain(&names.join(", "))));
    }
    let places = &left["places"];
    if let (Some(kept), Some(of), Some(cost)) = (
        places["kept"].as_u64(),
        places["of"].as_u64(),
        places["cost"].as_f64(),
    ) {
        let cost = render::part(&metrics[0], cost);
        said.push(format!(
            "{} of {of} nodes of the tree with a cost of {cost}",
            of - kept
        ));
    }
    said
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
    let labels: BTreeSet<_> = database
        .set_labels(run.run_id)?
        .into_iter()
        .map(named)
        .collect();
    let filled = match metrics.first() {
        Some(metric) => database.filled_views(metric.metric_id)?,
        None => FilledViews::default(),
    };
    let lines = match filled {
        FilledViews {
            counted_lines: true,
            ..
        } => "counted",
        FilledViews { lines: true, .. } => "known",
        _ => "none",
    };
    Ok(json!({
        "run_id": run.run_id,
        "name": run.name,
        "title": run.title,
        "fidelity": run.fidelity,
        "default_metric": run.default_metric,
        "first_node": first_node,
        "has_others": database.has_several_runs()?,
        "places": places,
        "lines": lines,
        "source": filled.source && left["source"].is_null(),
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
        "labels": labels.into_iter().take(MOST_LABELS).collect::<Vec<_>>(),
        "notes": state.notes.iter().map(|note| json!({
            "severity": note.severity,
            "text": note.to_string(),
        })).collect::<Vec<_>>(),
        "left": left,
    }))
}

/// A label as it is asked for: its key, and its value with what that is counted in.
fn named(label: SetLabel) -> (String, String) {
    let SetLabel {
        key, value, unit, ..
    } = label;
    (key, format!("{value}{unit}"))
}

/// What is left out of a tree besides places.
struct Dropped {
    labels: bool,
    lines: bool,
    metrics: bool,
    /// How many places functions have.
    functions: u64,
}

/// A tree that has to fit into what is left of the room.
struct Fitting<'f> {
    database: &'f Database,
    run: &'f RunInfo,
    outline: &'f Outline,
    room: usize,
}

impl Fitting<'_> {
    /// The tree: first labels are left out, then lines, then the costs of other metrics, and then what costs least.
    fn tree(&self) -> Result<(Tree, Dropped), PageError> {
        let outline = self.outline;
        let has_labels = !outline.sets.is_empty();
        let mut dropped = Dropped {
            labels: false,
            lines: outline.lines,
            metrics: false,
            functions: 0,
        };
        if outline.place.is_none() {
            let lines = size(&outline.with_lines);
            let mut whole = self.write(Cut::NONE, has_labels)?;
            dropped.functions = whole.functions;
            whole.blocks.extend(label_block(&outline.sets));
            if whole.is_whole && whole.bytes() + lines <= self.room {
                return Ok((whole, dropped));
            }
            whole.blocks.retain(|(name, _)| !name.starts_with(LABELS));
            dropped.labels = has_labels;
            if whole.is_whole && has_labels && whole.bytes() + lines <= self.room {
                return Ok((whole, dropped));
            }
            dropped.lines = outline.line_count > 0 || whole.places > whole.functions;
        }
        dropped.labels = has_labels;
        // By now it is known how much room is taken by all else.
        if outline.metrics.len() > 1 && !outline.others && fits(outline.tree, self.room) {
            let without_lines = Cut {
                lines: true,
                ..Cut::NONE
            };
            let mut found = self.write(without_lines, false)?;
            dropped.functions = found.functions;
            if found.is_whole && found.bytes() <= self.room {
                return Ok((found, dropped));
            }
            dropped.metrics = true;
            found.keep_first();
            if found.is_whole && found.bytes() <= self.room {
                return Ok((found, dropped));
            }
        }
        dropped.metrics = outline.metrics.len() > 1;
        let first = &outline.metrics[0];
        let mut functions = Functions::of(self.database, self.run.run_id, first)?;
        dropped.functions = functions.count();
        let mut most = functions.count();
        let mut place = outline.place.unwrap_or(0.0);
        for _ in 0..TRIES {
            most = most.min(places_in(self.room, place));
            let below = functions.cost_of(most);
            let found = functions.tree(self.database, &outline.numbers, below)?;
            if found.bytes() <= self.room {
                return Ok((found, dropped));
            }
            place = bytes_of_place(&found);
        }
        let found = functions.tree(self.database, &outline.numbers, f64::INFINITY)?;
        Ok((found, dropped))
    }

    fn write(&self, cut: Cut, with_labels: bool) -> Result<Tree, PageError> {
        let metrics: Vec<&MetricInfo> = self.outline.metrics.iter().collect();
        let mut labels = Vec::new();
        if with_labels {
            for metric in &metrics {
                labels.push(self.database.node_labels(metric.metric_id)?);
            }
        }
        let (run, numbers) = (self.run.run_id, &self.outline.numbers);
        let cut = Cut {
            room: self.room,
            ..cut
        };
        tree(self.database, run, &metrics, numbers, labels, cut)
    }
}

/// Whether a tree may fit, of which a sample tells how large it is. A sample is no measure: what would be a tenth larger is
/// tried.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn fits(tree: f64, room: usize) -> bool {
    tree * 0.9 <= room as f64
}

/// How many places so many bytes hold, a little more where few are alike.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "an estimate"
)]
fn places_in(room: usize, place: f64) -> u64 {
    (room as f64 / place.max(f64::EPSILON) * 0.95) as u64
}

/// Bytes that a place takes.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn bytes_of_place(tree: &Tree) -> f64 {
    tree.bytes() as f64 / tree.kept.max(1) as f64
}

/// What is said of samples, set by set, if anything is: the number of the set, and its labels.
pub(super) fn label_block(sets: &[SetLabel]) -> Option<Block> {
    let mut written: Vec<(i64, Vec<[&str; 3]>)> = Vec::new();
    for label in sets {
        let one = [&label.key, &label.value, &label.unit].map(String::as_str);
        match written.last_mut() {
            Some((set, labels)) if *set == label.set_id => labels.push(one),
            _ => written.push((label.set_id, vec![one])),
        }
    }
    let text = json!(written).to_string();
    (!written.is_empty()).then(|| (format!("{LABELS}sets"), column::text(&text)))
}

/// What functions are called, and where they are.
pub(super) fn names(functions: &[FunctionRow]) -> Value {
    let all = |of: &dyn Fn(&FunctionRow) -> Value| functions.iter().map(of).collect();
    object([
        ("id", all(&|function| function.function_id.into())),
        ("kind", all(&|function| function.kind.name().into())),
        ("name", all(&|function| function.name.as_str().into())),
        ("module", all(&|function| function.module.as_str().into())),
        ("file", all(&|function| function.file.as_str().into())),
        ("line", all(&|function| function.place.0.into())),
        ("column", all(&|function| function.place.1.into())),
    ])
}

/// Returns the data of functions that only SQL needs: for each a number whose bits name the values that follow, and the
/// difference of its identity from the one before with its key. Texts that differ from those of the function are a list.
fn more_names(
    functions: &[FunctionRow],
    identities: Vec<(i64, Option<StoredIdentity>)>,
) -> [Block; 2] {
    // Both are in the order of the numbers of functions.
    let mut known = identities.into_iter().peekable();
    let (mut column, mut texts, mut last) = (Column::new(), Vec::new(), 0);
    for function in functions {
        let mut bits = 0;
        while known
            .next_if(|(of, _)| *of < function.function_id)
            .is_some()
        {}
        let identity = known.next_if(|(of, _)| *of == function.function_id);
        let identity = identity.and_then(|(_, identity)| identity);
        if let Some(raw_name) = &function.raw_name {
            bits |= 1;
            texts.push(raw_name.clone());
        }
        if let Some(identity) = &identity {
            bits |= 2 | u64::from(identity.is_container) << 2 | u64::from(identity.is_unnamed) << 3;
            let own = [&function.name, &function.module, &function.file];
            for (at, (name, own)) in identity.names.iter().zip(own).enumerate() {
                if name != own {
                    bits |= 16 << at;
                    texts.push(name.clone());
                }
            }
        }
        column.number(bits);
        if let Some(identity) = identity {
            column.signed(identity.identity_id - last);
            column.number(identity.key.len() as u64);
            column.raw(&identity.key);
            last = identity.identity_id;
        }
    }
    [
        (format!("{MORE}names"), column.finish()),
        (
            format!("{MORE}texts"),
            column::text(&Value::from(texts).to_string()),
        ),
    ]
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
