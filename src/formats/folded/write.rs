//! Collapsed stacks, for flame graphs
//!
//! # What it is
//! A line per stack: the names from the outermost to the innermost, separated by semicolons, then a blank and a number. Flame
//! graph programs and speedscope read it, and so does profdb.
//!
//! # What is written
//! - A line for each node of the call tree with an exclusive cost or without callees. The number is its exclusive cost as a
//!   whole number: ns, bytes or a count. The lines add up to the run's total, except for reported losses.
//! - Threads and roots as frames. Lines of functions are left out: the frame is the function.
//! - `\x3b` for a semicolon in names, and a similar escape with two hexadecimal digits for every control character. A blank at
//!   the start or end of a name is escaped, too. So is a blank before a number at the end, which readers would take for a second
//!   cost, and a `#` that would begin a comment. All other characters are unchanged.
//! - With `--diff BASE NEW`, two numbers per line: the cost in base and that in new, as `difffolded.pl` writes them. Names are
//!   those of identities. If shares are compared (`--normalize total`), costs of new are scaled to the total of base.
//!
//! Mangled names are written demangled. If several are equal then, the raw names are written.
//!
//! # References
//! - `stackcollapse.pl` and `flamegraph.pl` by Brendan Gregg, which defined the format.

#![expect(
    clippy::indexing_slicing,
    reason = "numbers of functions and metrics are the writer's own"
)]

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

use hashbrown::HashMap;

use crate::events::Kind;
use crate::formats::common::stacks::{CUMULATIVE, SIBLINGS, Stacks};
use crate::formats::common::written::{
    has_place, lose_calls, lose_facts, lose_metric, lose_total, whole,
};
use crate::formats::export::error::ExportError;
use crate::formats::export::losses::{
    ABSENT, BACK_EDGES, CALLS, FACTS, FRACTIONS, FUNCTION_CALLS, FUNCTION_COSTS, KINDS, LABELS,
    LARGE, LINES, Losses, METRIC, METRICS, NAMES, NEGATIVE, PLACES, RAW_NAMES, RECORDED, SAME_NAME,
    TITLE, TOTALS,
};
use crate::formats::export::profile::Profile;
use crate::formats::export::{
    Difference, Differences, DifferentFunction, Export, Metrics, Needs, Packing,
};
use crate::store::FunctionRow;
use crate::text::compiled_names::readable;
use crate::text::escape;
use crate::text::number::push_integer;

/// The format of the page above, as it is written.
pub(in crate::formats) const EXPORT: Export = Export {
    name: "folded",
    summary: "Collapsed stacks, for flame graphs and speedscope",
    needs: Needs::Tree,
    metrics: Metrics::One,
    layouts: &[],
    options: &[],
    packing: Packing::Plain,
    losses: &[
        LINES,
        CALLS,
        FUNCTION_CALLS,
        METRIC,
        METRICS,
        TITLE,
        FACTS,
        LABELS,
        BACK_EDGES,
        KINDS,
        PLACES,
        RAW_NAMES,
        NAMES,
        SAME_NAME,
        RECORDED,
        FUNCTION_COSTS,
        ABSENT,
        TOTALS,
        SIBLINGS,
        CUMULATIVE,
        FRACTIONS,
        NEGATIVE,
        LARGE,
    ],
    difference: Some(&DIFFERENCES),
    write,
};

fn write(
    profile: &Profile<'_>,
    losses: &mut Losses,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    lose_metric(profile, losses);
    losses.add(TITLE, profile.run.title.is_some().into());
    lose_facts(profile, losses);
    let mut alike: HashMap<&str, u32> = HashMap::new();
    for function in &profile.functions {
        *alike.entry(&function.name).or_default() += 1;
    }
    let mut numbers = HashMap::new();
    // Each with the bytes that its text encodes.
    let mut names: Vec<(usize, Vec<u8>)> = Vec::new();
    for function in &profile.functions {
        losses.add(KINDS, (function.kind != Kind::Function).into());
        // Functions that read alike have raw names that do not.
        let raw = function.raw_name.as_deref();
        let written = raw.filter(|_| alike[function.name.as_str()] > 1);
        // What a compiler has mangled is made readable again.
        let read = readable(written.unwrap_or(&function.name));
        let (read, is_raw) = (read.as_deref(), raw.is_some() && read.is_some());
        let is_changed = read.or(written).is_some_and(|read| read != function.name);
        losses.add(RAW_NAMES, (raw.is_some() && !is_raw).into());
        // Readers number those that are alike but for their raw names.
        let is_numbered = is_raw && !is_changed && function.place.0 == 0;
        let is_placed = has_place(&FunctionRow {
            place: (function.place.0, 0),
            ..function.clone()
        });
        losses.add(
            PLACES,
            (if is_numbered {
                is_placed
            } else {
                has_place(function)
            })
            .into(),
        );
        let written = written.unwrap_or(&function.name);
        let name = frame(written);
        losses.add(NAMES, (is_changed || matches!(name, Cow::Owned(_))).into());
        let bytes = escape::bytes(&name).into_owned();
        let next = numbers.len();
        let number = *numbers.entry(name).or_insert(next);
        losses.add(SAME_NAME, (number != next).into());
        names.push((number, bytes));
    }
    let mut placed = vec![false; names.len()];
    let mut stacks = Stacks::default();
    let mut total = 0.0;
    let mut stack: Vec<u8> = Vec::new();
    // Where each frame of the stack ends.
    let mut ends: Vec<usize> = Vec::new();
    // The last place cost nothing, and has called nothing so far.
    let mut is_free = false;
    profile.each_call(losses, |call, losses| {
        let (number, name) = &names[call.function];
        stacks.enter(&call, *number, losses);
        lose_calls(&call, losses);
        placed[call.function] = true;
        total += call.exclusive;
        // The next place is not below the last one, which so has called nothing: no other line
        // would name it.
        if is_free && call.depth < ends.len() {
            line(&mut stack, 0, out)?;
        }
        ends.truncate(call.depth);
        stack.truncate(ends.last().copied().unwrap_or(0));
        if call.depth > 0 {
            stack.push(b';');
        }
        stack.extend_from_slice(name);
        ends.push(stack.len());
        let cost = whole(call.exclusive, losses);
        is_free = cost == 0;
        if is_free {
            Ok(())
        } else {
            Ok(line(&mut stack, cost, out)?)
        }
    })?;
    if is_free {
        line(&mut stack, 0, out)?;
    }
    stacks.leave(0, losses);
    lose_total(&profile.metric, total, losses);
    losses.add(
        ABSENT,
        placed.iter().filter(|placed| !*placed).count() as u64,
    );
    Ok(())
}

/// Writes a line; its bytes are appended to those of the stack first.
fn line(stack: &mut Vec<u8>, cost: u64, out: &mut dyn Write) -> io::Result<()> {
    let end = stack.len();
    stack.push(b' ');
    push_integer(cost, stack);
    stack.push(b'\n');
    let written = out.write_all(stack);
    stack.truncate(end);
    written
}

/// How stacks have two costs.
const DIFFERENCES: Differences = Differences {
    options: &[],
    takes_whole: true,
    write: write_difference,
};

/// Writes each place as its stack, its cost in base and that in new, as `difffolded.pl` does and `flamegraph.pl` reads it.
/// What costs nothing on either side has no line.
fn write_difference(
    difference: &Difference,
    losses: &mut Losses,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let mut stack: Vec<u8> = Vec::new();
    let mut ends: Vec<usize> = Vec::new();
    let mut names = Vec::with_capacity(difference.functions.len());
    for DifferentFunction {
        names: [name, module, file],
        ..
    } in &difference.functions
    {
        losses.add(PLACES, (!module.is_empty() || !file.is_empty()).into());
        let written = frame(name);
        losses.add(NAMES, matches!(written, Cow::Owned(_)).into());
        names.push(escape::bytes(&written).into_owned());
    }
    for place in &difference.places {
        let depth = place.depth as usize;
        ends.truncate(depth);
        stack.truncate(ends.last().copied().unwrap_or(0));
        if depth > 0 {
            stack.push(b';');
        }
        stack.extend_from_slice(&names[place.function as usize]);
        ends.push(stack.len());
        let [base, new] = place.own.map(|cost| whole(cost, losses));
        if base > 0 || new > 0 {
            let end = stack.len();
            stack.push(b' ');
            push_integer(base, &mut stack);
            line(&mut stack, new, out)?;
            stack.truncate(end);
        }
    }
    Ok(())
}

/// A name between semicolons, which readers take neither for a comment nor for a number.
fn frame(name: &str) -> Cow<'_, str> {
    // Readers may take this end of a name for a number, nothing also being one, as they pass over
    // blanks. It is looked for once: a name may have as many blanks as letters.
    let number = name
        .bytes()
        .rposition(|byte| !matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E' | b' '))
        .map_or(0, |last| last + 1);
    let is_special = |at: usize, character: char| match character {
        // The first name may be the beginning of the file, where this character is a byte order
        // mark.
        ';' | '\u{feff}' => true,
        '#' => at == 0 && (name.len() == 1 || name.starts_with("# ")),
        ' ' => at == 0 || at + 1 >= number,
        _ => character.is_control(),
    };
    if !name
        .char_indices()
        .any(|(at, character)| is_special(at, character))
    {
        return name.into();
    }
    let mut text = String::with_capacity(name.len());
    for (at, character) in name.char_indices() {
        if is_special(at, character) {
            let _ = write!(text, "\\x{:02x}", u32::from(character));
        } else {
            text.push(character);
        }
    }
    text.into()
}
