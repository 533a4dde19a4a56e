//! JSON: raw numbers in base units (ns, bytes, counts) under the names of the columns.
//!
//! The output is one object with the subject of the report, the `rows`, and their sums. `shown.rows` is
//! their number, `shown.exclusive` the sum of their exclusive costs, null if one is unknown or
//! no row has one. If there are rows of functions and of their lines, only those of functions are added.
//!
//! `exclusive_left` is present if exclusive costs come from the nodes although the file states
//! others for functions. `callers` is present if the costs of the callers differ from the cost of the
//! function; it is their sum, null if one is unknown. `pruned` is present if `--depth`
//! or `--min-pct` leave rows out; it has their number and exclusive cost.
//!
//! With `--metric all`, a list `metrics` replaces the one metric, and figures of rows have the metric before
//! their names: `"time.exclusive"`, `"alloc.exclusive"`. JSON Lines contain only the rows. Whole numbers have
//! no decimal point.

use std::io::Write;

use super::layout::{Layout, RenderError};
use crate::report::header::Medium;
use crate::report::{Answer, Callers, Pruned, Subject, Value};
use crate::store::{CombinedRuns, MetricInfo};
use crate::text::json::compact;
use crate::text::number::shortest;

/// Version of the object: raised when a name or a meaning changes.
const SCHEMA: u32 = 2;

pub(super) fn write(
    answer: &mut Answer<'_>,
    layout: &Layout,
    out: &mut dyn Write,
) -> Result<(), RenderError> {
    write!(out, "{{\"schema_version\":{SCHEMA}")?;
    if let Some(Subject {
        report,
        run,
        metric,
        selected,
        beside,
        exclusive_left,
        callers,
        pruned,
        ..
    }) = &answer.subject
    {
        write!(out, ",\"report\":\"{report}\"")?;
        write!(
            out,
            ",\"title\":{}",
            layout
                .title
                .as_deref()
                .or(run.title.as_deref())
                .map_or("null".to_owned(), text)
        )?;
        let (name, fidelity) = (text(&run.name), text(&run.fidelity));
        let number = match &run.combined {
            None => run.run_id.to_string(),
            Some(_) => "null".to_owned(),
        };
        write!(
            out,
            ",\"run\":{{\"run_id\":{number},\"name\":{name},\"fidelity\":{fidelity}"
        )?;
        if let Some(CombinedRuns { combination, runs }) = &run.combined {
            let runs: Vec<String> = runs.iter().map(i64::to_string).collect();
            let (word, runs) = (combination.name(), runs.join(","));
            write!(out, ",\"combined\":\"{word}\",\"runs\":[{runs}]")?;
        }
        write!(out, "}}")?;
        match beside {
            None => write!(out, ",{}", measured(metric, *selected))?,
            Some(others) => {
                write!(out, ",\"metrics\":[{{{}}}", measured(metric, *selected))?;
                for other in others {
                    write!(out, ",{{{}}}", measured(&other.metric, other.selected))?;
                }
                write!(out, "]")?;
            }
        }
        if *exclusive_left {
            write!(out, ",\"exclusive_left\":true")?;
        }
        if let Some(Callers { sum }) = callers {
            write!(
                out,
                ",\"callers\":{}",
                sum.map_or_else(|| "null".to_owned(), shortest)
            )?;
        }
        if let Some(Pruned {
            rows,
            cost,
            percent,
        }) = pruned
        {
            let (cost, percent) = (
                shortest(*cost),
                percent.map_or_else(|| "null".to_owned(), shortest),
            );
            write!(
                out,
                ",\"pruned\":{{\"rows\":{rows},\"cost\":{cost},\"percent\":{percent}}}"
            )?;
        }
    }
    if let Some(heading) = &answer.heading {
        for (name, value) in &heading.members {
            write!(out, ",{}:{}", text(name), compact(value))?;
        }
    }
    write!(out, ",\"rows\":[")?;
    let mut sums = RowSums::of(answer);
    let mut before = "\n";
    each(answer, &mut |object, row| {
        sums.see(row);
        write!(out, "{before}{object}")?;
        before = ",\n";
        Ok(())
    })?;
    write!(out, "\n]")?;
    if answer.subject.is_some() {
        let exclusive = sums.exclusive().map_or_else(|| "null".to_owned(), shortest);
        write!(
            out,
            ",\"shown\":{{\"rows\":{},\"exclusive\":{exclusive}}}",
            sums.rows
        )?;
    }
    writeln!(out, "}}")?;
    Ok(())
}

/// A metric, what the run cost in it, and what is selected.
fn measured(metric: &MetricInfo, selected: Option<f64>) -> String {
    format!(
        "\"metric\":{},\"unit\":{},\"total\":{},\"selected\":{}",
        text(&metric.name),
        text(&metric.unit),
        shortest(metric.total),
        selected.map_or_else(|| "null".to_owned(), shortest)
    )
}

pub(super) fn write_lines(answer: &mut Answer<'_>, out: &mut dyn Write) -> Result<(), RenderError> {
    each(answer, &mut |object, _| Ok(writeln!(out, "{object}")?))
}

/// What is done with every row and its object.
type Take<'t> = &'t mut dyn FnMut(&str, &[Value]) -> Result<(), RenderError>;

fn each(answer: &mut Answer<'_>, take: Take<'_>) -> Result<(), RenderError> {
    let columns: Vec<(usize, String)> = {
        let columns = answer
            .columns
            .iter()
            .enumerate()
            .filter(|(_, column)| column.is_in(Medium::Json));
        columns
            .map(|(at, column)| (at, text(&column.name)))
            .collect()
    };
    let mut object = String::new();
    answer.each_placed(|row| {
        object.clear();
        for (at, name) in &columns {
            object.push(if object.is_empty() { '{' } else { ',' });
            object.push_str(name);
            object.push(':');
            object.push_str(&value(&row[*at]));
        }
        object.push('}');
        take(&object, row)
    })
}

/// What the rows come to.
struct RowSums {
    exclusive: Option<usize>,
    line: Option<usize>,
    rows: u64,
    functions: PartSum,
    lines: PartSum,
}

#[derive(Default)]
struct PartSum {
    parts: u64,
    sum: f64,
    unknown: bool,
}

impl RowSums {
    fn of(answer: &Answer<'_>) -> Self {
        let find = |name: &str| answer.columns.iter().position(|column| column.name == name);
        let (exclusive, line) = (find("exclusive"), find("line"));
        Self {
            exclusive,
            line,
            rows: 0,
            functions: PartSum::default(),
            lines: PartSum::default(),
        }
    }

    fn see(&mut self, row: &[Value]) {
        self.rows += 1;
        let is_line = self.line.is_some_and(|line| row[line] != Value::Null);
        // Costs of lines are part of those of their functions: the two are never added.
        let sum = if is_line {
            &mut self.lines
        } else {
            &mut self.functions
        };
        sum.parts += 1;
        match self.exclusive.map(|exclusive| &row[exclusive]) {
            Some(Value::Real(cost)) => sum.sum += cost,
            _ => sum.unknown = true,
        }
    }

    fn exclusive(&self) -> Option<f64> {
        let sum = if self.functions.parts > 0 {
            &self.functions
        } else {
            &self.lines
        };
        (sum.parts > 0 && !sum.unknown).then_some(sum.sum)
    }
}

fn text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn value(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Integer(value) => value.to_string(),
        // Plain SQL may come to infinity, which JSON has no word for.
        Value::Real(value) if !value.is_finite() => "null".to_owned(),
        Value::Real(value) => shortest(*value),
        Value::Text(string) => text(string),
    }
}
