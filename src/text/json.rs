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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_as_in_other_texts_and_all_else_as_everywhere() {
        let value = json!({
            "whole": 3.0, "part": 2.5, "counted": 3, "large": 1e20, "most": u64::MAX, "below": -4.0,
            "text": "a \"b\"\n\u{202e}", "none": null, "yes": true, "empty": [{}, []],
            "list": [1.0, [2.0], {"a b": 0.5}],
        });
        let figures = |text: &str| {
            let whole = text
                .replace("3.0", "3")
                .replace("-4.0", "-4")
                .replace("1e+20", "100000000000000000000");
            whole.replace("1.0", "1").replace("2.0", "2")
        };
        assert_eq!(compact(&value), figures(&value.to_string()));
        assert_eq!(pretty(&value), figures(&format!("{value:#}")));
        let read: Value = serde_json::from_str(&compact(&value)).expect("JSON");
        assert_eq!((&read["whole"], &read["large"]), (&json!(3), &json!(1e20)));
    }
}
