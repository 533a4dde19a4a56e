//! What tables for people hold: titles and cells. How they are laid out is the business of `text`
//! and `markdown`.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;

use hashbrown::HashMap;

use super::csv::capitalized;
use super::dyalog::order_columns;
use super::layout::{DECIMALS, Format, Layout, RenderError, shown};
use crate::report::answer::FUNCTION_ID;
use crate::report::header::{Meaning, TitledMedium};
use crate::report::labels::FunctionLabels;
use crate::report::{Answer, Subject, Value};
use crate::store::StoreError;
use crate::text::cell::{Kind, Shown};
use crate::text::number::{fixed, push_fixed, push_readable, push_signed};
use crate::text::placed::{Namesake, places};
use crate::text::plain::{plain, plain_line, push_plain_code, push_plain_line};
use crate::text::scale::{self, Scale};

/// Levels of a tree that are shown by indentation.
const INDENTED: usize = 60;

/// The columns of a table and what their cells need.
pub(super) struct Table {
    pub(super) columns: Vec<Shown>,
    /// The scale of each metric.
    scales: Vec<Scale>,
    /// Decimals that are asked for.
    decimals: Option<usize>,
    is_unit_asked_for: bool,
    /// Columns whose figures each have the unit that fits them, with the metric and its unit.
    scaled_alone: Vec<(usize, String, String)>,
    depth: Option<usize>,
    names: SharedNames,
    /// Adds a text of a cell without control characters and commands.
    escape: fn(&str, &mut String),
}

impl Table {
    pub(super) fn of(answer: &mut Answer<'_>, layout: &Layout) -> Result<Self, RenderError> {
        let metrics = answer.measures();
        let scales = layout.fitting_scales(&metrics)?;
        let is_beside = matches!(&answer.subject, Some(subject) if subject.beside.is_some());
        let units = metrics.iter().zip(&scales).map(|(metric, scale)| {
            // Beside others, a unit does not say what it is of.
            if is_beside && !scale.title.ends_with(&metric.name) {
                format!("{} {}", metric.name, scale.title)
            } else {
                scale.title.clone()
            }
        });
        let units: Vec<String> = units.collect();
        let medium = match layout.format {
            Format::Markdown => TitledMedium::Markdown,
            _ => TitledMedium::Text,
        };
        let mut columns = shown(answer, layout, medium)?;
        order_columns(answer, &mut columns);
        for column in &mut columns {
            let unit = units.get(column.metric).map_or("", String::as_str);
            column.title = plain(&column.title.replace('@', unit));
        }
        let depth = answer
            .columns
            .iter()
            .position(|column| column.name == "depth");
        let names = SharedNames::of(answer, &columns, layout.width.is_some())?;
        let averages = answer.columns.iter().enumerate().filter(|(_, column)| {
            column.shows == Some(Meaning::Average)
                && layout.unit.is_none()
                && layout.decimals.is_none()
        });
        let scaled_alone = averages
            .filter_map(|(at, column)| {
                let metric = metrics.get(column.metric)?;
                Some((at, metric.name.clone(), metric.unit.clone()))
            })
            .collect();
        Ok(Self {
            columns,
            scales,
            decimals: layout.decimals,
            is_unit_asked_for: layout.unit.is_some(),
            scaled_alone,
            depth,
            names,
            escape: match layout.format {
                Format::Markdown => push_plain_code,
                _ => push_plain_line,
            },
        })
    }

    /// Adds the text of a cell, which is not indented yet.
    pub(super) fn push_cell(&self, row: &[Value], column: &Shown, text: &mut String) {
        let value = &row[column.at];
        match (value, column.kind) {
            (Value::Null, Kind::Line | Kind::Text | Kind::Any | Kind::Name | Kind::Node) => {}
            (Value::Null, _) => text.push('-'),
            (Value::Text(value), _) => {
                (self.escape)(&cut(value), text);
            }
            (Value::Integer(value), _) => push_signed(*value, text),
            (Value::Real(value), Kind::Percent) => {
                push_fixed(*value, self.decimals.unwrap_or(DECIMALS), text);
            }
            (Value::Real(value), Kind::Cost | Kind::Raw) => {
                let mut alone = self.scaled_alone.iter();
                match (
                    alone.find(|(at, ..)| *at == column.at),
                    self.scales.get(column.metric),
                ) {
                    (Some((_, metric, unit)), _) => {
                        text.push_str(&scale::figure(metric, unit, *value));
                    }
                    (_, Some(scale)) => {
                        let decimals = self.decimals.unwrap_or(scale.decimals_of(*value));
                        scale.push_rounded(*value, decimals, text);
                    }
                    (_, None) => push_readable(*value, text),
                }
            }
            (Value::Real(value), _) => push_readable(*value, text),
        }
    }

    /// Adds the place of the function that a cell names, in parentheses.
    pub(super) fn push_place(
        &self,
        places: ShownPlaces,
        row: &[Value],
        column: &Shown,
        text: &mut String,
    ) {
        if matches!(column.kind, Kind::Name | Kind::Node)
            && let Value::Text(name) = &row[column.at]
            && let Some(place) = self.names.place(places, name, row)
        {
            text.push_str(" (");
            (self.escape)(&cut(place), text);
            text.push(')');
        }
    }

    /// How many levels of a tree are above what a cell names.
    pub(super) fn depth(&self, row: &[Value], column: &Shown) -> usize {
        match (column.kind, self.depth.map(|depth| &row[depth])) {
            (Kind::Node, Some(Value::Integer(depth))) => usize::try_from(*depth).unwrap_or(0),
            _ => 0,
        }
    }

    /// `Total time: 58.2 msec; Selected time: 23.8 msec; Not shown: 1.2 msec (2.1 %)`, for each metric.
    pub(super) fn totals(&self, subject: &Subject) -> Vec<String> {
        let metrics = subject.metrics().zip(&self.scales);
        metrics
            .map(|(subject, scale)| self.totals_of(subject, scale))
            .collect()
    }

    fn totals_of(&self, subject: &Subject, scale: &Scale) -> String {
        let metric = &subject.metric;
        let name = plain_line(&metric.name);
        // The decimals that are asked for are those of the columns (case `manual/rain`), except
        // where a unit is asked for, too.
        let decimals = self.decimals.filter(|_| self.is_unit_asked_for);
        let figure = |value| {
            let decimals = decimals.unwrap_or(scale.decimals_of(value));
            scale.with_unit(value, decimals)
        };
        let total = if self.is_unit_asked_for {
            figure(metric.total)
        } else {
            // The columns may have the unit of what is selected.
            scale::figure(&metric.name, &metric.unit, metric.total)
        };
        let mut line = format!("Total {name}: {total}");
        if let Some(selected) = subject.selected {
            let _ = write!(line, "; Selected {name}: {}", figure(selected));
        }
        if let Some(unknown) = &subject.instead {
            let (shown, why) = (plain_line(&subject.cost()), plain_line(&unknown.said()));
            let _ = write!(line, "; Shown: {shown}, because {why}");
        }
        if subject.exclusive_left {
            let _ = write!(
                line,
                "; Exclusive {name}: summed over the nodes, not as stated in the file"
            );
        }
        if let Some(callers) = subject.callers {
            let sum = callers
                .sum
                .map_or_else(|| "unknown for some".to_owned(), figure);
            let _ = write!(line, "; Callers {name}: {sum}");
        }
        if let Some(pruned) = subject.pruned.filter(|pruned| pruned.rows > 0) {
            let share = pruned
                .percent
                .map(|percent| format!(" ({} %)", fixed(percent, DECIMALS)));
            let rows = if pruned.rows == 1 { "row" } else { "rows" };
            // Only their own cost is left out: what is shown above them includes it.
            let _ = write!(
                line,
                "; Not shown: {} {rows}, exclusive cost {}{}",
                pruned.rows,
                figure(pruned.cost),
                share.unwrap_or_default()
            );
        }
        line
    }
}

/// Returns the run that the answer is about, if it is to be named: `Run 3: shop.xml`, or `Sum of 2 runs (1,2)`.
pub(super) fn named_run(answer: &Answer<'_>, layout: &Layout) -> Option<String> {
    let subject = answer.subject.as_ref().filter(|_| layout.names_run)?;
    let run = &subject.run;
    if run.combined.is_some() {
        return Some(plain_line(&capitalized(&cut(&run.name))));
    }
    Some(format!(
        "Run {}: {}",
        run.run_id,
        plain_line(&cut(&run.name))
    ))
}

/// The longest text that tables for people show whole, in bytes. Other formats have all of it.
const LONGEST: usize = 16 * 1024;

/// A text, without its middle if it is very long.
fn cut(text: &str) -> Cow<'_, str> {
    if text.len() <= LONGEST {
        return text.into();
    }
    let boundary = |mut ends: std::ops::Range<usize>| {
        ends.find(|at| text.is_char_boundary(*at))
            .unwrap_or(text.len())
    };
    let (head, tail) = (
        boundary(LONGEST / 2..text.len()),
        boundary(text.len() - LONGEST / 2..text.len()),
    );
    format!("{}…{}", &text[..head], &text[tail..]).into()
}

/// Adds one mark per level; beyond [`INDENTED`] levels their number, or the width of the table would
/// be that of the depth.
pub(super) fn push_indent(depth: usize, mark: &str, text: &mut String) {
    for _ in 0..depth.min(INDENTED) {
        text.push_str(mark);
    }
    if depth > INDENTED {
        // A text takes everything.
        let _ = write!(text, "+{} ", depth - INDENTED);
    }
}

/// Functions whose places are shown after their names.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ShownPlaces {
    /// Functions that their names do not tell apart.
    Needed,
    /// All functions.
    All,
}

/// Places of the functions in an answer, and those that tell functions of one name apart. Answers about one run have
/// them by the numbers of functions; in others, modules or files tell apart what has one name in the answer.
struct SharedNames {
    /// Column with the number of the function, and the places.
    labels: Option<(usize, FunctionLabels)>,
    /// Where a row says to which module and file its name belongs.
    places: Option<(usize, usize)>,
    /// By names that several functions have, and their modules and files: what tells them apart.
    several: HashMap<String, HashMap<[String; 2], String>>,
}

impl SharedNames {
    fn of(answer: &mut Answer<'_>, columns: &[Shown], with_all: bool) -> Result<Self, StoreError> {
        let has_names = columns
            .iter()
            .any(|column| matches!(column.kind, Kind::Name | Kind::Node));
        let labels = if has_names {
            answer.labels(with_all)?
        } else {
            None
        };
        let find = |name: &str| answer.columns.iter().position(|column| column.name == name);
        if let (Some(at), Some(labels)) = (find(FUNCTION_ID), labels) {
            return Ok(Self {
                labels: Some((at, labels)),
                places: None,
                several: HashMap::new(),
            });
        }
        let place = |whose: &str| {
            Some((
                find(&format!("{whose}module"))?,
                find(&format!("{whose}file"))?,
            ))
        };
        let places = ["", "caller_", "callee_"].into_iter().find_map(place);
        let names: Vec<usize> = columns
            .iter()
            .filter(|column| matches!(column.kind, Kind::Name | Kind::Node))
            .map(|column| column.at)
            .collect();
        let mut met: HashMap<String, BTreeSet<[String; 2]>> = HashMap::new();
        if let Some((module, file)) = places {
            answer.each(|row| {
                for name in &names {
                    if let Value::Text(name) = &row[*name] {
                        let place = [module, file].map(|at| text(&row[at]).to_owned());
                        met.entry_ref(name.as_str()).or_default().insert(place);
                    }
                }
                Ok::<_, StoreError>(())
            })?;
        }
        for [name, module, file] in &answer.namesakes {
            if let Some(places) = met.get_mut(name) {
                places.insert([module.clone(), file.clone()]);
            }
        }
        met.retain(|_, places| places.len() > 1);
        // Rows of trees may be containers.
        let is_code = columns.iter().all(|column| column.kind != Kind::Node);
        let several = met
            .into_iter()
            .map(|(name, definitions)| (name, apart_by_place(&definitions, is_code)))
            .collect();
        Ok(Self {
            labels: None,
            places,
            several,
        })
    }

    /// Returns the place that is shown after a name.
    fn place<'r>(&'r self, places: ShownPlaces, name: &str, row: &'r [Value]) -> Option<&'r str> {
        if let Some((at, labels)) = &self.labels {
            let Value::Integer(function) = row[*at] else {
                return None;
            };
            return match places {
                ShownPlaces::All => labels.full(function),
                ShownPlaces::Needed => labels.apart(function),
            };
        }
        let (module, file) = self.places?;
        let definition = [module, file].map(|at| text(&row[at]).to_owned());
        let place = self.several.get(name)?.get(&definition)?;
        Some(place.as_str()).filter(|place| !place.is_empty())
    }
}

/// Returns what tells functions of one name apart, by module and file.
fn apart_by_place(
    definitions: &BTreeSet<[String; 2]>,
    is_code: bool,
) -> HashMap<[String; 2], String> {
    let namesakes: Vec<Namesake<'_>> = definitions
        .iter()
        .map(|[module, file]| Namesake {
            module,
            file,
            line: 0,
            column: 0,
            is_code,
        })
        .collect();
    let apart = places(&namesakes).into_iter().map(|place| place.apart);
    definitions.iter().cloned().zip(apart).collect()
}

fn text(value: &Value) -> &str {
    match value {
        Value::Text(text) => text,
        _ => "",
    }
}
