//! Collapsed stacks, for flame graphs
//!
//! # What it is
//! A line per stack: names from the outermost to the innermost with semicolons between them, a blank, and a number. Flame
//! graph programs and speedscope read it.
//!
//! # What is written
//! - A line for each place in the tree of calls that cost something itself, with that cost as a whole number: ns, bytes or a
//!   count. The lines add up to the run's total, as far as nothing gets lost.
//! - Threads, roots and the like are frames like others. Lines of functions are none: the frame is the function.
//! - In names, a backslash is written `\\`, a semicolon `\x3b`, a line feed `\n`, a carriage return `\r`, any other control
//!   character `\x` and its two hexadecimal digits. No other character is touched, so that every name can be had back.
//!
//! # References
//! - `stackcollapse.pl` and `flamegraph.pl` by Brendan Gregg, which defined the format.

use std::fmt::Write as _;
use std::io::Write;

use hashbrown::HashMap;

use super::common::stacks::{CUMULATIVE, FREE, SIBLINGS, Stacks};
use super::common::{
    BACK_EDGES, CALLS, FACTS, FRACTIONS, KINDS, LINES, METRIC, METRICS, NEGATIVE, PLACES, SAME_NAME, TITLE, lose_calls,
    lose_facts, lose_kinds, lose_places, whole,
};
use super::{Export, ExportError, Losses, Metrics, Needs, Profile};

/// See the module's page.
pub const EXPORT: Export = Export {
    name: "folded",
    summary: "Collapsed stacks, for flame graphs and speedscope",
    needs: Needs::Tree,
    metrics: Metrics::One,
    layouts: &[],
    options: &[],
    losses: &[
        LINES, CALLS, METRIC, METRICS, TITLE, FACTS, BACK_EDGES, KINDS, PLACES, SAME_NAME, SIBLINGS, CUMULATIVE, FREE,
        FRACTIONS, NEGATIVE,
    ],
    write,
};

fn write(profile: &Profile<'_>, losses: &mut Losses, out: &mut dyn Write) -> Result<(), ExportError> {
    losses.add(METRIC, 1);
    losses.add(TITLE, profile.run.title.is_some().into());
    lose_facts(profile, losses);
    lose_kinds(profile, losses);
    lose_places(profile, losses);
    let mut numbers = HashMap::new();
    let names: Vec<(usize, String)> = profile
        .functions
        .iter()
        .map(|function| {
            let next = numbers.len();
            (*numbers.entry(function.name.as_str()).or_insert(next), escaped(&function.name))
        })
        .collect();
    let mut stacks = Stacks::new();
    let mut stack = String::new();
    // Where each frame of the stack ends.
    let mut ends: Vec<usize> = Vec::new();
    profile.each_call(losses, |call, losses| {
        let (number, name) = &names[call.function];
        stacks.enter(&call, *number, losses);
        lose_calls(&call, losses);
        ends.truncate(call.depth);
        stack.truncate(ends.last().copied().unwrap_or(0));
        if call.depth > 0 {
            stack.push(';');
        }
        stack.push_str(name);
        ends.push(stack.len());
        match whole(call.exclusive, losses) {
            0 => losses.add(FREE, (call.cumulative == 0.0).into()),
            cost => writeln!(out, "{stack} {cost}")?,
        }
        Ok(())
    })?;
    stacks.leave(0, losses);
    Ok(())
}

/// A name without what has a meaning between names.
fn escaped(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for character in name.chars() {
        match character {
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            ';' => text.push_str("\\x3b"),
            _ if character.is_control() => {
                let _ = write!(text, "\\x{:02x}", u32::from(character));
            }
            _ => text.push(character),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn names_keep_to_their_line_and_frame() {
        let table = [
            ("plain name", "plain name"),
            ("a;b", "a\\x3bb"),
            ("\\x3b", "\\\\x3b"),
            ("a\nb\r\t\0\u{7f}\u{85}", "a\\nb\\r\\x09\\x00\\x7f\\x85"),
            ("∆ ⍙ <b> \"q\" \u{2028}", "∆ ⍙ <b> \"q\" \u{2028}"),
            ("", ""),
        ];
        for (name, expected) in table {
            assert_eq!(escaped(name), expected, "{name:?}");
        }
    }
}
