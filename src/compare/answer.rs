//! A comparison as an answer: columns and rows that every format can show.

use std::borrow::Cow;

use serde_json::{Map, Value as Json, json};

use super::definitions::Place as DefinitionPlace;
use super::judge::{FEWEST, Judgement, Verdict};
use super::pairs::{Between, Folders, Within};
use super::prefixes::Prefixes;
use super::renames::Suggestion;
use super::request::Normalize;
use super::rows::{Compared, Comparison, Part, Row, Side, cost, few_runs, share_of};
use super::rule_line::with_lines;
use crate::report::header::{Column, Kind, Meaning};
use crate::report::several::{
    self, ALL, BY_NAME, ColumnOf, PEOPLE, PROGRAMS, column, of_module, optional, real, shown,
    shows, text, values, whole,
};
use crate::report::{self, Answer, Heading, Measure, Value};
use crate::store::Database;
use crate::text::judged::{self, odds, probability};
use crate::text::number::fixed;

/// A row, and how many runs each side has.
struct Told<'c> {
    row: Cow<'c, Row>,
    runs: [usize; 2],
}

/// The columns.
fn columns<'c>(comparison: &Comparison) -> Vec<ColumnOf<Told<'c>>> {
    let rows = &comparison.rows;
    let ratio_title = if rows.iter().any(|row| row.judgement.interval.is_some()) {
        "ratio (95 %)"
    } else {
        "ratio"
    };
    let mut columns = vec![
        column("function", Kind::Name, ALL, |of: &Told<'c>| {
            text(&name(&of.row))
        }),
        shows(
            Meaning::Base,
            column("base", Kind::Cost, ALL, |of| real(Some(of.row.costs[0]))),
        ),
        shows(
            Meaning::New,
            column("new", Kind::Cost, ALL, |of| real(Some(of.row.costs[1]))),
        ),
        shows(
            Meaning::Delta,
            column("delta", Kind::Cost, ALL, |of| real(Some(of.row.delta()))),
        ),
        whole(column(ratio_title, Kind::Text, PEOPLE, |of| {
            text(&ratio(&of.row))
        })),
        column("ratio", Kind::Any, PROGRAMS, |of| {
            real(of.row.judgement.ratio)
        }),
        column("ratio_low", Kind::Any, PROGRAMS, |of| {
            real(interval(&of.row).0)
        }),
        column("ratio_high", Kind::Any, PROGRAMS, |of| {
            real(interval(&of.row).1)
        }),
        column("p", Kind::Any, PROGRAMS, |of| real(of.row.judgement.p)),
    ];
    // A line above the table states that there are too few runs.
    let has_verdicts = rows.iter().any(|row| {
        let verdict = row.judgement.verdict;
        verdict.is_some_and(|verdict| !comparison.has_few_runs() || verdict != Verdict::Unclear)
    });
    if has_verdicts && rows.iter().any(|row| row.judgement.q.is_some()) {
        let q = column("q", Kind::Text, PEOPLE, |of: &Told<'c>| {
            text(&odds(of.row.judgement.q))
        });
        columns.push(whole(q));
    }
    columns.extend([
        column("q", Kind::Any, PROGRAMS, |of: &Told<'c>| {
            real(of.row.judgement.q)
        }),
        column("verdict", Kind::Text, PROGRAMS, |of| {
            optional(word(&of.row))
        }),
    ]);
    if rows
        .iter()
        .any(|row| !row.parts.is_empty() || !verdict(row).is_empty())
    {
        let value: fn(&Told<'c>) -> Value = |of| text(&verdict(&of.row));
        columns.push(whole(if has_verdicts {
            let verdict = column("verdict", Kind::Text, PEOPLE, value);
            shows(Meaning::Verdict, verdict)
        } else {
            column("note", Kind::Text, PEOPLE, value)
        }));
    }
    columns.extend([
        column("reason", Kind::Text, PROGRAMS, |of: &Told<'c>| {
            text(&of.row.reason)
        }),
        column("status", Kind::Text, PROGRAMS, |of| text(status(&of.row))),
        column("module", Kind::Text, PROGRAMS, |of| {
            text(&of.row.item.names[1])
        }),
        column("file", Kind::Text, PROGRAMS, |of| {
            text(&of.row.item.names[2])
        }),
        column("base_pct", Kind::Percent, PROGRAMS, |of| {
            real(of.row.shares[0])
        }),
        column("new_pct", Kind::Percent, PROGRAMS, |of| {
            real(of.row.shares[1])
        }),
        column("base_min", Kind::Cost, BY_NAME, |of| {
            real(Some(of.row.ranges[0].0))
        }),
        column("base_max", Kind::Cost, BY_NAME, |of| {
            real(Some(of.row.ranges[0].1))
        }),
        column("new_min", Kind::Cost, BY_NAME, |of| {
            real(Some(of.row.ranges[1].0))
        }),
        column("new_max", Kind::Cost, BY_NAME, |of| {
            real(Some(of.row.ranges[1].1))
        }),
    ]);
    if comparison.request.cumulative {
        columns.extend([
            column(
                "base_cumulative_min",
                Kind::Cost,
                BY_NAME,
                |of: &Told<'c>| Value::Real(of.row.bounds[0].0),
            ),
            column("base_cumulative_max", Kind::Cost, BY_NAME, |of| {
                Value::Real(of.row.bounds[0].1)
            }),
            column("new_cumulative_min", Kind::Cost, BY_NAME, |of| {
                Value::Real(of.row.bounds[1].0)
            }),
            column("new_cumulative_max", Kind::Cost, BY_NAME, |of| {
                Value::Real(of.row.bounds[1].1)
            }),
        ]);
    }
    columns.extend([
        column("calls_base", Kind::Any, PROGRAMS, |of: &Told<'c>| {
            calls(of.row.calls[0])
        }),
        column("calls_new", Kind::Any, PROGRAMS, |of| {
            calls(of.row.calls[1])
        }),
        column("seen_base", Kind::Count, PROGRAMS, |of| {
            number(of.row.judgement.seen[0])
        }),
        column("seen_new", Kind::Count, PROGRAMS, |of| {
            number(of.row.judgement.seen[1])
        }),
        column("runs_base", Kind::Count, PROGRAMS, |of| number(of.runs[0])),
        column("runs_new", Kind::Count, PROGRAMS, |of| number(of.runs[1])),
        column("dispersion", Kind::Any, PROGRAMS, |of| {
            real(of.row.judgement.dispersion)
        }),
        column("matched_by", Kind::Text, PROGRAMS, |of| {
            text(of.row.item.matched.name())
        }),
        column("functions", Kind::Count, PROGRAMS, |of| {
            Value::Integer(of.row.functions.into())
        }),
    ]);
    columns
}

/// What an answer is about that shows a comparison. `report` is its name, `rules` the digest of the rules of identities.
pub(super) fn heading(report: &str, comparison: &Comparison, rules: Option<&str>) -> Heading {
    let mut measures = measures(comparison);
    let beside = measures.split_off(1);
    Heading {
        measure: measures.swap_remove(0),
        beside,
        lines: lines(comparison),
        members: members(report, comparison, rules),
    }
}

/// What costs are of: those of base and, where a profiler of another metric has measured new, those of new, and what they have in
/// common.
fn measures(comparison: &Comparison) -> Vec<Measure> {
    let (name, unit) = &comparison.metric;
    let measure = |name: &str| Measure {
        name: name.to_owned(),
        unit: unit.clone(),
        total: comparison.total.costs[0].max(comparison.total.costs[1]),
        selected: None,
    };
    let [base, new] = &comparison.measured;
    if base.0 == new.0 || comparison.normalize != Normalize::Total {
        return vec![measure(name)];
    }
    let others = [share_of(&new.0), share_of("total")];
    let names = [name.clone()].into_iter().chain(others);
    names.map(|name| measure(&name)).collect()
}

/// The columns of an answer, each with the one of [`measures`] that it shows.
pub(super) fn with_measures<R>(
    comparison: &Comparison,
    columns: &[ColumnOf<R>],
) -> Vec<Column<'static>> {
    let mut columns = several::columns(columns);
    if measures(comparison).len() > 1 {
        for column in &mut columns {
            column.metric = match column.shows {
                Some(Meaning::New) => 1,
                Some(Meaning::Delta) => 2,
                _ => 0,
            };
        }
    }
    columns
}

/// Whom an answer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readers {
    /// People: the definitions of a function are below its row.
    People,
    /// Programs: sums of the rows are those of the functions, and definitions are a list of their own.
    Programs,
}

/// The answer of a comparison. `rules` is the digest of the rules of identities; `database` is any of those that were read.
#[must_use]
pub fn answer<'d>(
    database: &'d Database,
    comparison: &Comparison,
    rules: Option<&str>,
    readers: Readers,
) -> Answer<'d> {
    let columns = columns(comparison);
    let runs = [
        comparison.sides[0].runs.len(),
        comparison.sides[1].runs.len(),
    ];
    let mut rows = Vec::new();
    for row in &comparison.rows {
        let told = |row| values(&columns, &Told { row, runs });
        rows.push(told(Cow::Borrowed(row)));
        if readers == Readers::People {
            let parts = row.parts.iter();
            rows.extend(parts.map(|part| told(Cow::Owned(of_part(row, part)))));
        }
    }
    let heading = heading("diff", comparison, rules);
    let columns = with_measures(comparison, &columns);
    let mut answer = report::compared(database, heading, columns, rows);
    answer.namesakes.clone_from(&comparison.namesakes);
    answer
}

fn number(number: usize) -> Value {
    i64::try_from(number).map_or(Value::Null, Value::Integer)
}

/// A figure that is a whole number mostly.
#[expect(clippy::cast_possible_truncation, reason = "whole numbers below 2^53")]
fn calls(calls: Option<f64>) -> Value {
    match calls {
        Some(calls) if calls.fract() == 0.0 && calls.abs() < 9e15 => Value::Integer(calls as i64),
        calls => real(calls),
    }
}

/// The name of a row.
fn name(row: &Row) -> String {
    let [name, module, _] = &row.item.names;
    if row.item.is_named {
        return name.clone();
    }
    of_module(name, module).unwrap_or_else(|| shown(name).to_owned())
}

/// `1.27 (1.19..1.35)`.
fn ratio(row: &Row) -> String {
    judged::ratio(row.judgement.ratio, row.judgement.interval)
}

/// The ends of the interval of the ratio.
fn interval(row: &Row) -> (Option<f64>, Option<f64>) {
    row.judgement.interval.unzip()
}

/// The verdict by itself.
fn word(row: &Row) -> Option<&'static str> {
    row.judgement.verdict.map(Verdict::name)
}

/// `unclear: 9 runs per side would detect 5 %`. What is unclear for lack of runs is so in all rows: a line above the table says it.
fn verdict(row: &Row) -> String {
    if let Some(rest) = row.reason.strip_prefix(&few_runs()) {
        return rest.trim_start_matches("; ").to_owned();
    }
    match (word(row).unwrap_or_default(), row.reason.as_str()) {
        (word, "") => word.to_owned(),
        ("", reason) => reason.to_owned(),
        (word, reason) => format!("{word}: {reason}"),
    }
}

/// Which sides have runs with the function.
fn status(row: &Row) -> &'static str {
    match row.judgement.present {
        [false, true] => "new",
        [true, false] => "gone",
        _ => "both",
    }
}

/// `12`, or `12:5` where there is a column.
fn place((line, column): DefinitionPlace) -> String {
    match column {
        0 => line.to_string(),
        column => format!("{line}:{column}"),
    }
}

/// A definition, as a row below that of its function.
fn of_part(row: &Row, part: &Part) -> Row {
    let [base, new] = part.places.map(place);
    let ratio = part.costs[1] / part.costs[0];
    let mut item = row.item.clone();
    item.matched = part.matched;
    item.names[0] = if base == new {
        format!("  line {base}")
    } else {
        format!("  line {base} -> {new}")
    };
    let judgement = Judgement {
        ratio: Some(ratio).filter(|ratio| ratio.is_finite() && *ratio > 0.0),
        seen: part.seen,
        present: [true, true],
        ..Judgement::default()
    };
    Row {
        item,
        costs: part.costs,
        judgement,
        reason: format!("({})", part.matched.name()),
        ..row.clone()
    }
}

/// The runs of a side in the order of their numbers.
fn in_order(side: &Side) -> Vec<&Compared> {
    let mut runs: Vec<&Compared> = side.runs.iter().collect();
    runs.sort_by(|one, other| (one.run_id, &one.name).cmp(&(other.run_id, &other.name)));
    runs
}

/// Runs that are named one by one.
const NAMED: usize = 10;

impl Side {
    /// What its runs are called.
    #[must_use]
    pub fn said(&self) -> String {
        said(self)
    }
}

/// Describes the runs of a side: `run 3 (shop.xml)`, `5 runs: 1, 2, 3, 4, 5`, `12 runs in new/`.
fn said(side: &Side) -> String {
    let named = |run: &Compared| match run.run_id {
        Some(run_id) => format!("run {run_id} ({})", run.name),
        None => run.name.clone(),
    };
    match in_order(side).as_slice() {
        [run] => named(run),
        runs => {
            let folders = folders(runs);
            if !folders.is_empty() && folders.len() <= NAMED_FOLDERS {
                return format!("{} runs in {}", runs.len(), folders.join(", "));
            }
            let most = if folders.is_empty() {
                NAMED
            } else {
                NAMED_FOLDERS
            };
            let names: Vec<String> = runs
                .iter()
                .take(most)
                .map(|run| {
                    run.run_id
                        .map_or_else(|| run.name.clone(), |run_id| run_id.to_string())
                })
                .collect();
            let more = if runs.len() > most { ", ..." } else { "" };
            format!("{} runs: {}{more}", runs.len(), names.join(", "))
        }
    }
}

/// Maximum number of folders that are named.
const NAMED_FOLDERS: usize = 3;

/// Returns the folders of runs that are files, each once; none if one of them has no folder or is a run of a database.
fn folders<'r>(runs: &[&'r Compared]) -> Vec<&'r str> {
    let mut folders: Vec<&str> = Vec::new();
    for run in runs {
        let end = run.name.rfind(['/', '\\']).filter(|_| run.run_id.is_none());
        let Some(end) = end else {
            return Vec::new();
        };
        let folder = &run.name[..=end];
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    folders
}

/// Describes what figures are divided by.
#[must_use]
pub fn normalized(normalize: &Normalize) -> String {
    match normalize {
        Normalize::None => "not normalized".to_owned(),
        Normalize::Total => "shares of the totals".to_owned(),
        Normalize::Median => "normalized by the common change of most functions".to_owned(),
        Normalize::Calls => "normalized by calls".to_owned(),
        Normalize::Tag(key) => format!("normalized by the tag {key}"),
    }
}

/// What stands above a table.
fn lines(comparison: &Comparison) -> Vec<String> {
    let [base, new] = &comparison.sides;
    let mut lines = vec![format!("Base: {}; New: {}", said(base), said(new))];
    let percent = |part: Option<f64>| {
        part.map_or_else(
            || "none".to_owned(),
            |part| format!("{} %", fixed(100.0 * part, 1)),
        )
    };
    lines.push(format!(
        "{}, {}, {}; matched: {} of the cost of base, {} of new; {} of {} functions tested",
        measured(comparison),
        comparison.noise.name(),
        normalized(&comparison.normalize),
        percent(base.matched),
        percent(new.matched),
        comparison.tested,
        comparison.functions,
    ));
    if comparison.earlier > 0 {
        lines.push(format!("Noise as in {} earlier runs", comparison.earlier));
    }
    let total = &comparison.total;
    let p = total.judgement.p.filter(|_| !comparison.has_few_runs());
    let p = p.map_or_else(String::new, |p| {
        let alpha = comparison.request.limits.of_total().alpha;
        format!(", p {} (tested at {})", probability(p), probability(alpha))
    });
    let ratio = match ratio(total) {
        text if text == "-" => String::new(),
        text => format!(", x{text}"),
    };
    lines.push(format!(
        "Total: {} -> {}{ratio}{p}{}",
        cost(&comparison.metric, total.costs[0]),
        cost(&comparison.metric, total.costs[1]),
        match verdict(total) {
            verdict if verdict.is_empty() => verdict,
            verdict => format!(": {verdict}"),
        }
    ));
    if comparison.has_few_runs() {
        lines.push(no_verdicts(comparison));
    }
    lines.extend(said_of_folders(&comparison.folders));
    lines.extend(of_prefixes(&comparison.prefixes));
    lines.extend(renamed(&comparison.suggestions, comparison.request.loose));
    lines
}

/// Says that there are too few runs for verdicts.
fn no_verdicts(comparison: &Comparison) -> String {
    let [base, new] = comparison.sides.each_ref().map(|side| side.runs.len());
    let runs = match (base, new) {
        (1, 1) => "One run per side".to_owned(),
        (base, new) if base == new => format!("{base} runs per side"),
        (base, new) => format!("{base} runs against {new}"),
    };
    let verdicts = comparison
        .rows
        .iter()
        .filter_map(|row| row.judgement.verdict);
    let none = match verdicts.into_iter().find(|verdict| verdict.is_change()) {
        Some(_) => "only new and gone functions have verdicts",
        None => "no verdicts",
    };
    format!("{runs}: {none}; record {FEWEST} or more.")
}

/// Folders and modules that are taken for one, as it is said.
#[must_use]
pub fn said_of_folders(folders: &[Folders]) -> Vec<String> {
    let said = |folders: &Folders| {
        let named = |name: &str| match name {
            "" => ".".to_owned(),
            name => name.to_owned(),
        };
        let part = match folders.part {
            Within::Folder => "Folder",
            Within::Module => "Module",
        };
        let [base, new] = match folders.between {
            Between::Sides => ["base", "new"],
            Between::Runs => ["some runs", "others"],
        };
        let functions = match folders.functions {
            1 => "1 function".to_owned(),
            functions => format!("{functions} functions"),
        };
        if folders.base == folders.new {
            let modules = format!("in {new} in other modules than in {base}");
            return format!("{part} {}, {modules}: {functions}", named(&folders.base));
        }
        format!(
            "{part} {} of {base} is {} of {new}: {functions}",
            named(&folders.base),
            named(&folders.new),
        )
    };
    // Each module of a folder may have another name.
    let mut modules = 0;
    let is_said = |one: &&Folders| {
        modules += usize::from(one.part == Within::Module);
        one.part == Within::Folder || modules <= NAMED
    };
    let mut lines: Vec<String> = folders.iter().filter(is_said).map(said).collect();
    if modules > NAMED {
        lines.push(format!("... and {} modules more", modules - NAMED));
    }
    lines
}

/// Folders and modules that are taken for one, as members of files for programs.
#[must_use]
pub fn members_of_folders(folders: &[Folders]) -> [(&'static str, Json); 2] {
    [("folders", Within::Folder), ("modules", Within::Module)].map(|(name, part)| {
        let of_part = folders.iter().filter(|one| one.part == part);
        let listed: Vec<Json> = of_part
            .map(|one| json!({"base": one.base, "new": one.new, "functions": one.functions}))
            .collect();
        (name, json!(listed))
    })
}

/// Says, above a table, which functions may have been renamed: of the suggestions those of most cost, and those that have the same rules
/// together. Each rule is a line, as it is in a file of rules.
fn renamed(suggestions: &[Suggestion], is_loose: bool) -> Vec<String> {
    let told = suggestions
        .iter()
        .filter(|suggestion| suggestion.overlap.is_some() || !suggestion.rules.is_empty())
        .take(NAMED);
    let mut of_rules: Vec<(&[String], Vec<String>)> = Vec::new();
    for suggestion in told {
        let rules = suggestion.rules.as_slice();
        let said = renamed_one(suggestion);
        match of_rules.iter_mut().find(|(known, _)| *known == rules) {
            Some((_, together)) => together.push(said),
            None => of_rules.push((rules, vec![said])),
        }
    }
    let mut lines: Vec<String> = of_rules
        .into_iter()
        .flat_map(|(rules, said)| with_lines(said, rules))
        .collect();
    let of_one_name = suggestions
        .iter()
        .filter(|suggestion| suggestion.overlap.is_none());
    let of_one_name = of_one_name.count();
    if of_one_name > 0 {
        let loose = if is_loose {
            "--loose does not match them, because chance may explain that a side lacks them"
        } else {
            "--loose matches functions by name alone"
        };
        lines.push(format!(
            "Names in another module or file: {of_one_name} function{}; {loose}",
            if of_one_name == 1 { "" } else { "s" }
        ));
    }
    lines
}

/// Says, above a table, which names may begin otherwise in new, and the rules that make functions one by them.
fn of_prefixes(prefixes: &[Prefixes]) -> Vec<String> {
    let said = |one: &Prefixes| {
        let percent = one.parts.map(|part| fixed(100.0 * part, 1));
        let said = format!(
            "Renamed? {}* is gone, {}* is new: {} functions with equal endings, with {} % of the cost of base and {} % of new",
            one.base,
            one.new,
            one.functions.len(),
            percent[0],
            percent[1]
        );
        with_lines(vec![said], &one.rules)
    };
    prefixes.iter().flat_map(said).collect()
}

/// `fmt is gone, fmt_fast is new`; of one name, with the module or file that tells them apart.
fn renamed_one(suggestion: &Suggestion) -> String {
    let Suggestion {
        base, new, overlap, ..
    } = suggestion;
    let place = (1..3).find(|part| base[*part] != new[*part]);
    let place = place.filter(|_| base[0] == new[0]);
    let [base, new] = [base, new].map(|names| {
        let of = place.map(|part| names[part].as_str());
        let of = of.filter(|of| !of.is_empty());
        of.map_or_else(|| names[0].clone(), |of| format!("{} ({of})", names[0]))
    });
    let alike = overlap.map_or_else(String::new, |overlap| {
        format!(
            ", with {} % of callers and callees in common",
            fixed(100.0 * overlap, 0)
        )
    });
    format!("Renamed? {base} is gone, {new} is new{alike}")
}

/// What is compared: the metric, or those of which shares are compared.
fn measured(comparison: &Comparison) -> String {
    let [base, new] = &comparison.measured;
    if base == new {
        return comparison.metric.0.clone();
    }
    format!(
        "{} ({}) of base and of {} ({}) of new",
        comparison.metric.0, base.1, new.0, new.1
    )
}

/// What files for programs say of the comparison as a whole.
fn members(report: &str, comparison: &Comparison, rules: Option<&str>) -> Map<String, Json> {
    let side = |number: usize| {
        let side = &comparison.sides[number];
        let (metric, unit) = &comparison.measured[number];
        let runs: Vec<Json> = in_order(side)
            .into_iter()
            .map(|run| {
                let tags: Vec<Json> = run
                    .tags
                    .iter()
                    .map(|tag| json!({"key": tag.key, "value": tag.value}))
                    .collect();
                json!({"run_id": run.run_id, "name": run.name, "total": run.total, "factor": run.factor, "tags": tags})
            })
            .collect();
        json!({"given": side.given, "runs": runs, "metric": metric, "unit": unit, "matched_pct": side.matched.map(|part| 100.0 * part)})
    };
    let total = &comparison.total;
    let (low, high) = total.judgement.interval.unzip();
    let finite = |value: Option<f64>| value.filter(|value| value.is_finite());
    let mut members = Map::new();
    let mut put = |name: &str, value: Json| members.insert(name.to_owned(), value);
    put("report", json!(report));
    put("base", side(0));
    put("new", side(1));
    put("metric", json!(comparison.metric.0));
    put("unit", json!(comparison.metric.1));
    put("noise", json!(comparison.noise.name()));
    put("normalize", json!(normalized(&comparison.normalize)));
    put("paired", json!(comparison.paired));
    put("alpha", json!(comparison.request.limits.alpha));
    put(
        "min_effect_pct",
        json!(100.0 * comparison.request.limits.min_effect),
    );
    put(
        "min_share_pct",
        json!(100.0 * comparison.request.limits.min_share),
    );
    put("tested", json!(comparison.tested));
    put("identity_rules", json!(rules));
    for (name, listed) in members_of_folders(&comparison.folders) {
        put(name, listed);
    }
    put("definitions", definitions(comparison));
    put("suggestions", suggestions(comparison));
    let prefixes = comparison.prefixes.iter().map(|one| {
        json!({
            "base": one.base, "new": one.new, "functions": one.functions.len(), "base_pct": 100.0 * one.parts[0],
            "new_pct": 100.0 * one.parts[1], "rules": one.rules,
        })
    });
    put("prefixes", prefixes.collect());
    put("earlier_runs", json!(comparison.earlier));
    put("warnings", json!(comparison.warnings));
    put(
        "total",
        json!({
            "base": total.costs[0], "new": total.costs[1], "delta": total.delta(), "ratio": finite(total.judgement.ratio),
            "ratio_low": finite(low), "ratio_high": finite(high), "p": finite(total.judgement.p),
            "alpha": comparison.request.limits.of_total().alpha,
            "verdict": total.judgement.verdict.map(Verdict::name), "reason": total.reason,
        }),
    );
    members
}

/// The definitions of the functions that are shown.
fn definitions(comparison: &Comparison) -> Json {
    let of_row = |row: &Row| -> Vec<Json> {
        let [name, module, file] = &row.item.names;
        let of_part = |part: &Part| {
            let [(base_line, base_column), (new_line, new_column)] = part.places;
            json!({
                "function": name, "module": module, "file": file, "base_line": base_line, "base_column": base_column,
                "new_line": new_line, "new_column": new_column, "matched_by": part.matched.name(), "base": part.costs[0],
                "new": part.costs[1], "delta": part.delta(), "seen_base": part.seen[0], "seen_new": part.seen[1],
            })
        };
        row.parts.iter().map(of_part).collect()
    };
    comparison.rows.iter().flat_map(of_row).collect()
}

/// The functions that may have been renamed.
fn suggestions(comparison: &Comparison) -> Json {
    let function = |[name, module, file]: &[String; 3], cost: f64| json!({"function": name, "module": module, "file": file, "cost": cost});
    let suggestions = comparison.suggestions.iter().map(|found| {
        json!({
            "base": function(&found.base, found.costs[0]), "new": function(&found.new, found.costs[1]),
            "common_pct": found.overlap.map(|overlap| 100.0 * overlap), "rules": found.rules,
        })
    });
    suggestions.collect()
}
