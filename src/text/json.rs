//! JSON with the numbers of all other texts: a whole number has no point, whether it was counted or measured.

use serde_json::Value;

use super::number::shortest;

/// A value on one line.
pub(crate) fn compact(value: &Value) -> String {
    let mut text = String::new();
    push(value, None, &mut text);
    text
}

/// A value in lines, each level two blanks further to the right.
pub(crate) fn pretty(value: &Value) -> String {
    let mut text = String::new();
    push(value, Some(0), &mut text);
    text
}

/// Adds a value; `depth` is how many values are around it, where it is in lines.
fn push(value: &Value, depth: Option<usize>, text: &mut String) {
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(real) if number.is_f64() => text.push_str(&shortest(real)),
            _ => text.push_str(&number.to_string()),
        },
        Value::Array(values) => {
            let values = values.iter().map(|value| (None, value));
            push_members(['[', ']'], values, depth, text);
        }
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| (Some(name), value));
            push_members(['{', '}'], members, depth, text);
        }
        Value::Null | Value::Bool(_) | Value::String(_) => text.push_str(&value.to_string()),
    }
}

fn push_members<'v>(
    [begin, end]: [char; 2],
    members: impl ExactSizeIterator<Item = (Option<&'v String>, &'v Value)>,
    depth: Option<usize>,
    text: &mut String,
) {
    let is_empty = members.len() == 0;
    let push_line = |depth: Option<usize>, text: &mut String| {
        if let Some(depth) = depth.filter(|_| !is_empty) {
            text.push('\n');
            text.extend(std::iter::repeat_n("  ", depth));
        }
    };
    let within = depth.map(|depth| depth + 1);
    text.push(begin);
    for (at, (name, value)) in members.enumerate() {
        if at > 0 {
            text.push(',');
        }
        push_line(within, text);
        if let Some(name) = name {
            text.push_str(&Value::from(name.as_str()).to_string());
            text.push_str(if depth.is_some() { ": " } else { ":" });
        }
        push(value, within, text);
    }
    push_line(depth, text);
    text.push(end);
}
