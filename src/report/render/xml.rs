//! XML of answers about several runs: what the answer is about, then an element for each row, with an
//! element for each column under the names that JSON has. Figures are in base units (ns, bytes,
//! counts); what is unknown is left out.

use std::io::Write;

use serde_json::Value as Json;

use super::layout::{Layout, RenderError};
use crate::report::header::Medium;
use crate::report::{Answer, Value};
use crate::text::number::shortest;
use crate::text::xml::escaped;

pub(super) fn write(
    answer: &mut Answer<'_>,
    layout: &Layout,
    out: &mut dyn Write,
) -> Result<(), RenderError> {
    writeln!(out, "<?xml version=\"1.0\"?>\n<Comparison>")?;
    if let Some(title) = &layout.title {
        writeln!(out, "  <title>{}</title>", escaped(title))?;
    }
    for (name, value) in answer.heading.iter().flat_map(|heading| &heading.members) {
        member(name, value, 1, out)?;
    }
    let columns: Vec<(usize, String)> = answer
        .columns
        .iter()
        .enumerate()
        .filter(|(_, column)| column.is_in(Medium::Json))
        .map(|(at, column)| (at, column.name.clone().into_owned()))
        .collect();
    answer.each_placed(|row| {
        writeln!(out, "  <row>")?;
        for (at, name) in &columns {
            let text = match &row[*at] {
                Value::Null => continue,
                Value::Integer(value) => value.to_string(),
                Value::Real(value) => shortest(*value),
                Value::Text(text) => escaped(text),
            };
            writeln!(out, "    <{name}>{text}</{name}>")?;
        }
        writeln!(out, "  </row>")?;
        Ok::<_, RenderError>(())
    })?;
    writeln!(out, "</Comparison>")?;
    Ok(())
}

/// A member of the object that says what the answer is about: each element of a list by itself.
fn member(name: &str, value: &Json, depth: usize, out: &mut dyn Write) -> Result<(), RenderError> {
    let indent = "  ".repeat(depth);
    match value {
        Json::Null => {}
        Json::Array(values) => {
            for value in values {
                member(name, value, depth, out)?;
            }
        }
        Json::Object(members) => {
            writeln!(out, "{indent}<{name}>")?;
            for (name, value) in members {
                member(name, value, depth + 1, out)?;
            }
            writeln!(out, "{indent}</{name}>")?;
        }
        Json::String(text) => writeln!(out, "{indent}<{name}>{}</{name}>", escaped(text))?,
        value => writeln!(out, "{indent}<{name}>{value}</{name}>")?,
    }
    Ok(())
}
