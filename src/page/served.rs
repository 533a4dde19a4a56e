//! The page in parts, as a server sends them: the document, its script and style, and blocks of runs, each when it is asked
//! for. Nothing is left out of them.

use serde_json::{Value, json};

use super::about::Command;
use super::column::{self, Block};
use super::error::PageError;
use super::figures::{self, Files};
use super::numbers::{Numbers, numbers};
use super::run::{self, Source, sorted_metrics};
use super::scripts;
use super::sqlite;
use super::tree::{Cut, tree};
use crate::store::{Database, FunctionRow, MetricInfo, RunInfo};

/// The document: what it shows comes by its script.
const INDEX: &str = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
                     content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light \
                     dark\">\n<title>profdb</title>\n<link rel=\"icon\" href=\"data:,\">\n<link rel=\"stylesheet\" \
                     href=\"page.css\">\n</head>\n<body>\n<noscript>This page needs JavaScript.</noscript>\n<div \
                     id=\"page\" data-served=\"yes\"></div>\n<script src=\"page.js\"></script>\n</body>\n</html>\n";

/// The document.
#[must_use]
pub fn index() -> &'static str {
    INDEX
}

/// Its script.
#[must_use]
pub fn script() -> &'static str {
    scripts::SCRIPT
}

/// Its style.
#[must_use]
pub fn style() -> &'static str {
    scripts::STYLE
}

/// A database that is served.
#[derive(Clone, Debug)]
pub struct Served {
    /// How its questions are asked on the command line.
    pub command: Command,
    /// What it is called.
    pub name: String,
    /// The uid of the run that is shown first.
    pub first: Option<String>,
}

impl Served {
    /// What the page says of the database: its runs, the one that is shown first first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn about(&self, database: &Database) -> Result<Value, PageError> {
        let mut runs = database.run_names()?;
        runs.reverse();
        let first = runs
            .iter()
            .position(|(_, uid, _)| Some(uid) == self.first.as_ref());
        if let Some(first) = first {
            runs[..=first].rotate_right(1);
        }
        let runs = runs
            .into_iter()
            .map(|(run_id, uid, name)| json!({"run_id": run_id, "uid": uid, "name": name}));
        Ok(json!({
            "version": env!("CARGO_PKG_VERSION"),
            "command": self.command.json(),
            "database": self.name,
            "first": self.first,
            "runs": runs.collect::<Vec<_>>(),
            "questions": sqlite::questions(),
        }))
    }
}

/// What is known of a run besides its figures.
///
/// # Errors
/// When the database cannot be read.
pub fn about(database: &Database, run: &RunInfo) -> Result<Value, PageError> {
    let metrics = sorted_metrics(database, run)?;
    let mut about = run::about(database, run, &metrics, 0, &json!({}))?;
    let number = |name: &str| {
        let facts = about["facts"].as_array()?;
        let fact = facts.iter().find(|fact| fact[0] == name)?;
        fact[1].as_str()?.parse::<i64>().ok()
    };
    let places = match (number("first_node"), number("last_node")) {
        (Some(first), Some(last)) if run.fidelity == "tree" => {
            last.saturating_sub(first).saturating_add(1)
        }
        _ => 0,
    };
    let uid = about["facts"].as_array().and_then(|facts| {
        let uid = facts.iter().find(|fact| fact[0] == "run_uid")?;
        Some(uid[1].clone())
    });
    about["places"] = json!(places);
    about["uid"] = json!(uid);
    Ok(about)
}

/// A block of a run: compressed bytes under its name, and what was found along with it. There is none of an unknown name.
///
/// # Errors
/// When the database cannot be read, or is damaged.
pub fn blocks(database: &Database, run: &RunInfo, name: &str) -> Result<Vec<Block>, PageError> {
    let metrics = sorted_metrics(database, run)?;
    let Some(first) = metrics.first() else {
        return Ok(Vec::new());
    };
    let functions = database.functions(run.run_id, first.metric_id)?;
    let mut numbers = numbers(run, &functions);
    figures::number_lines(database, first, &mut numbers, |_, _| ())?;
    let one = |bytes: Vec<u8>| vec![(name.to_owned(), bytes)];
    if name == "names" || name == "lines" || name.starts_with("edges-") {
        return with_files(database, &metrics, &functions, &numbers, name);
    }
    if name == "sources" {
        let text = run::sources(database, run, &numbers, Source::Stored)?;
        return Ok(text.map_or_else(Vec::new, |text| one(column::text(&text.to_string()))));
    }
    if name == "labels-sets" {
        let found = run::label_block(&database.set_labels(run.run_id)?);
        return Ok(found.into_iter().collect());
    }
    if ["steps", "places", "calls"].contains(&name) {
        return places(database, run, first, 0, &numbers);
    }
    let Some((what, at)) = name.rsplit_once('-') else {
        return Ok(Vec::new());
    };
    let at = at.parse::<usize>().unwrap_or(usize::MAX);
    let Some(metric) = metrics.get(at) else {
        return Ok(Vec::new());
    };
    match what {
        "own" | "all" | "labels" => places(database, run, metric, at, &numbers),
        "functions" => {
            let figures = figures::function_figures(database, metric)?;
            Ok(one(figures::function_block(&figures, &numbers)?))
        }
        _ => Ok(Vec::new()),
    }
}

/// A block with, or of, the numbers of files: these are met first in the calls of the first metric, then in the lines.
fn with_files(
    database: &Database,
    metrics: &[MetricInfo],
    functions: &[FunctionRow],
    numbers: &Numbers,
    name: &str,
) -> Result<Vec<Block>, PageError> {
    let mut files = Files::new();
    let first = figures::call_blocks(database, &metrics[0], numbers, &mut files)?.shown;
    let lines = figures::line_block(numbers, &mut files);
    let bytes = if name == "lines" {
        lines
    } else if name == "names" {
        let mut names = run::names(functions);
        names["line_files"] = json!(files.names);
        column::text(&names.to_string())
    } else {
        let at = name.strip_prefix("edges-").map(str::parse::<usize>);
        match at.and_then(Result::ok) {
            Some(0) => first,
            Some(at) if at < metrics.len() => {
                figures::call_blocks(database, &metrics[at], numbers, &mut files)?.shown
            }
            _ => return Ok(Vec::new()),
        }
    };
    Ok(vec![(name.to_owned(), bytes)])
}

/// The places of a tree, and what they cost in a metric.
fn places(
    database: &Database,
    run: &RunInfo,
    metric: &MetricInfo,
    at: usize,
    numbers: &Numbers,
) -> Result<Vec<Block>, PageError> {
    if run.fidelity != "tree" {
        return Ok(Vec::new());
    }
    let mut labels = Vec::new();
    if !database.set_labels(run.run_id)?.is_empty() {
        labels.push(database.node_labels(metric.metric_id)?);
    }
    let found = tree(database, run.run_id, &[metric], numbers, labels, Cut::NONE)?.blocks;
    let named = found.into_iter().map(|(name, bytes)| match name.as_str() {
        "own-0" => (format!("own-{at}"), bytes),
        "all-0" => (format!("all-{at}"), bytes),
        "labels-0" => (format!("labels-{at}"), bytes),
        _ => (name, bytes),
    });
    Ok(named.collect())
}
