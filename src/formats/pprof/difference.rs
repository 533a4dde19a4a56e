//! Two costs in profile.proto: samples of base, negative and labelled as `pprof` labels them, and samples of new.

#![expect(
    clippy::indexing_slicing,
    reason = "numbers of functions and places are the writer's own"
)]

use std::io::Write;

use hashbrown::HashMap;

use super::encode::Message;
use super::parts::{Locations, Texts, put, value_type};
use crate::formats::common::written::signed;
use crate::formats::export::error::ExportError;
use crate::formats::export::losses::{Losses, NAMES};
use crate::formats::export::{Difference, Differences, DifferentFunction};

/// How profile.proto has two costs.
pub(super) const DIFFERENCES: Differences = Differences {
    options: &[],
    takes_whole: true,
    write,
};

/// The label of samples of base, and its value: what `pprof -diff_base` gives them, by which it takes percentages of
/// base.
const BASE: (&str, &str) = ("pprof::base", "true");

fn write(
    difference: &Difference,
    losses: &mut Losses,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let [base, new] = &difference.sides;
    let comments = [format!("base: {base}"), format!("new: {new}")];
    let mut texts = Texts::default();
    let (name, unit) = &difference.metric;
    let unit = match unit.as_str() {
        "ns" => "nanoseconds",
        other => other,
    };
    put(out, 1, &value_type(&mut texts, name, unit))?;
    let mut message = Message::default();
    message.numbers(
        13,
        comments
            .each_ref()
            .map(|comment| texts.add(comment))
            .into_iter(),
    );
    out.write_all(message.bytes())?;
    samples(difference, &mut texts, losses, out)?;
    tables(difference, &mut texts, losses, out)?;
    texts.write(out)
}

/// A sample for each place and side that cost something itself. What only holds others is a label, as in files of one run; where
/// it cost something itself, it is also a frame.
fn samples<'p>(
    difference: &'p Difference,
    texts: &mut Texts<'p>,
    losses: &mut Losses,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let mut way: Vec<usize> = Vec::new();
    let mut stack: Vec<usize> = Vec::new();
    let mut locations = Locations::default();
    let base = {
        let mut label = Message::default();
        label.number(1, texts.add(BASE.0));
        label.number(2, texts.add(BASE.1));
        label
    };
    for place in &difference.places {
        way.truncate(place.depth as usize);
        way.push(place.function as usize);
        // A sample of 0 says that the place is there.
        let [old, new] = place.own.map(|cost| signed(cost, losses));
        if old == 0 && new == 0 {
            continue;
        }
        let is_around = |function: &usize| difference.functions[*function].kind.is_container();
        let around = way[..way.len() - 1]
            .iter()
            .take_while(|function| is_around(function))
            .count();
        let kept = stack
            .iter()
            .zip(&way[around..])
            .take_while(|(one, other)| one == other)
            .count();
        stack.truncate(kept);
        stack.extend_from_slice(&way[around + kept..]);
        locations.follow(&stack, kept);
        for (value, is_base) in [(old.saturating_neg(), true), (new, false)] {
            if value == 0 {
                continue;
            }
            let mut sample = Message::default();
            sample.packed(1, locations.bytes());
            sample.numbers(2, [value.cast_unsigned()].into_iter());
            for function in &way[..around] {
                let DifferentFunction { kind, names, .. } = &difference.functions[*function];
                let mut label = Message::default();
                label.number(1, texts.add(kind.name()));
                label.number(2, texts.add(&names[0]));
                sample.field(3, label.bytes());
            }
            if is_base {
                sample.field(3, base.bytes());
            }
            put(out, 2, &sample)?;
        }
    }
    Ok(())
}

/// A mapping for each module, and a function and a location for each identity.
fn tables<'p>(
    difference: &'p Difference,
    texts: &mut Texts<'p>,
    losses: &mut Losses,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let mut mappings: HashMap<&str, u64> = HashMap::new();
    for (
        id,
        DifferentFunction {
            names: [name, module, file],
            ..
        },
    ) in (1..).zip(&difference.functions)
    {
        let mut mapping = 0;
        if !module.is_empty() {
            let next = mappings.len() as u64 + 1;
            mapping = *mappings.entry(module).or_insert(next);
            if mapping == next {
                let mut message = Message::default();
                message.number(1, mapping);
                message.number(5, texts.add(module));
                // Functions and files are known, and there is no need to look for symbols.
                (7..=10).for_each(|known| message.number(known, 1));
                put(out, 3, &message)?;
            }
        }
        let mut line = Message::default();
        line.number(1, id);
        let mut location = Message::default();
        location.number(1, id);
        location.number(2, mapping);
        location.field(4, line.bytes());
        put(out, 4, &location)?;
        losses.add(NAMES, name.is_empty().into());
        let mut function = Message::default();
        function.number(1, id);
        function.number(2, texts.add(name));
        function.number(4, texts.add(file));
        put(out, 5, &function)?;
    }
    Ok(())
}
