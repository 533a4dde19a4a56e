//! LispWorks profiler trees
//!
//! # What it is
//! The file in which LispWorks saves the call tree of its profiler: a title and a line per node. profdb reads it, too.
//!
//! # What is written
//! - The title, if the run has one.
//! - A line for each node of the call tree: its depth and its inclusive cost as Count, and for its function the
//!   calls, the cost seen and the exclusive cost in the whole run as Call-Count, Seen-Count and Top-Count. All are whole
//!   numbers, in ns, bytes or counts.
//! - The sum of functions with one name. Unknown calls are 0, as in trees of LispWorks.
//! - Threads and roots, with the name in double quotes, as LispWorks does. Lines of functions are
//!   left out: the function is the caller of their callees.
//! - `␊` for a line feed in names. All other text is unchanged.
//!
//! # References
//! - "LispWorks User Guide and Reference Manual", 12.7 "Profiler tree file format", editions 7.1 and 8.0.

#![expect(
    clippy::indexing_slicing,
    reason = "numbers of functions and metrics are the writer's own"
)]

use std::io::Write;

use hashbrown::HashMap;

use crate::events::{Kind, ROUNDING};
use crate::formats::common::lisp_names::package;
use crate::formats::common::written::{
    lose_calls, lose_facts, lose_metric, lose_raw_names, lose_total, one_line, whole,
};
use crate::formats::export::error::ExportError;
use crate::formats::export::losses::{
    ABSENT, BACK_EDGES, CALLS, FACTS, FRACTIONS, FUNCTION_COSTS, KINDS, LABELS, LARGE, LINES, Loss,
    Losses, METRIC, METRICS, NAMES, NEGATIVE, PLACES, RAW_NAMES, SAME_NAME, TITLE, TOTALS, UNKNOWN,
};
use crate::formats::export::profile::{Call, Profile};
use crate::formats::export::{Export, Metrics, Needs, Packing};
use crate::text::escape::Bytes;

/// The format of the page above, as it is written.
pub(in crate::formats) const EXPORT: Export = Export {
    name: "lispworks_tree",
    summary: "LispWorks profiler trees (save-current-profiler-tree)",
    needs: Needs::Tree,
    metrics: Metrics::One,
    layouts: &[],
    options: &[],
    packing: Packing::Plain,
    losses: &[
        LINES,
        CALLS,
        CALL_COUNTS,
        METRIC,
        METRICS,
        TITLE,
        FACTS,
        LABELS,
        BACK_EDGES,
        KINDS,
        PLACES,
        NAMES,
        RAW_NAMES,
        SAME_NAME,
        ABSENT,
        FUNCTION_COSTS,
        TOTALS,
        EXCLUSIVE,
        UNKNOWN,
        FRACTIONS,
        NEGATIVE,
        LARGE,
    ],
    difference: None,
    write,
};

const CALL_COUNTS: Loss = Loss {
    name: "call_counts",
    what: "the difference between unknown calls and no calls",
    of: "functions",
};

const EXCLUSIVE: Loss = Loss {
    name: "exclusive",
    what: "exclusive costs of nodes that differ from the inclusive cost minus that of the callees",
    of: "nodes",
};

/// The largest number that the file may hold.
const LARGEST: u64 = (1 << 63) - 1;

fn write(
    profile: &Profile<'_>,
    losses: &mut Losses,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    lose_facts(profile, losses);
    lose_metric(profile, losses);
    let title = one_line(profile.run.title.as_deref().unwrap_or_default());
    // Readers trim blanks around the title, and take a blank one for none.
    let read_back =
        profile.run.title.is_none() || (!title.is_empty() && title.trim_matches(' ') == title);
    losses.add(
        TITLE,
        (!read_back
            || profile
                .run
                .title
                .as_deref()
                .is_some_and(|given| given != title))
        .into(),
    );
    let blank = if title.is_empty() { "" } else { " " };
    line(out, &format!("LispWorks Profiler Tree:{blank}{title}"))?;
    let mut names = WrittenNames::new(profile, losses);
    lose_raw_names(profile, losses);
    let mut open: Vec<Open> = Vec::new();
    // The root that is open, and what it has called: readers take the larger one.
    let (mut total, mut root, mut below) = (0.0, 0.0, 0.0);
    profile.each_call(losses, |call, losses| {
        close(&mut open, call.depth, losses);
        // Nodes come in pre-order, and the one above has not been closed: it is still the last one.
        if let Some(above) = open.last_mut() {
            above.called += call.cumulative;
        }
        open.push(Open { call, called: 0.0 });
        match call.depth {
            0 => {
                total += f64::max(root, below);
                (root, below) = (call.cumulative, 0.0);
            }
            1 => below += call.cumulative,
            _ => {}
        }
        lose_calls(&call, losses);
        let name = names.place(profile, &call, losses);
        let count = capped(whole(call.cumulative, losses), losses);
        let [calls, seen, top] = name.figures;
        line(
            out,
            &format!("{}|{count}|{calls}|{seen}|{top}|{}", call.depth, name.text),
        )
    })?;
    close(&mut open, 0, losses);
    lose_total(&profile.metric, total + f64::max(root, below), losses);
    losses.add(ABSENT, names.absent());
    Ok(())
}

/// A number as far as the file may hold it.
fn capped(number: u64, losses: &mut Losses) -> u64 {
    // A REAL cannot tell the largest number from the next one.
    losses.add(LARGE, (number > LARGEST + 1).into());
    number.min(LARGEST)
}

/// Writes a line. A reader takes the carriage return in front of a line feed for a part of it.
fn line(out: &mut dyn Write, text: &str) -> Result<(), ExportError> {
    let end = if text.ends_with('\r') { "\r\n" } else { "\n" };
    Ok(write!(Bytes(out), "{text}{end}")?)
}

/// An open call.
struct Open {
    call: Call,
    /// What it has called so far cost in all.
    called: f64,
}

/// Closes calls until so many are open.
fn close(open: &mut Vec<Open>, depth: usize, losses: &mut Losses) {
    while open.len() > depth {
        let Some(Open { call, called }) = open.pop() else {
            return;
        };
        // Readers give a node what its callees leave of it, and never less than nothing (case
        // `lispworks_tree/children-exceed`).
        let left = (call.cumulative - called).max(0.0);
        let differs = (left - call.exclusive).abs() > ROUNDING * call.cumulative.abs();
        losses.add(EXCLUSIVE, differs.into());
    }
}

/// The names that are written, of which several functions may have one.
struct WrittenNames {
    names: Vec<WrittenName>,
    /// By the place in [`Profile::functions`]: the place of its name, and whether a place in the
    /// tree has it.
    functions: Vec<(usize, bool)>,
}

struct WrittenName {
    text: String,
    /// Calls, cost seen, own cost.
    figures: [u64; 3],
    /// What a reader takes it for, by the first node that has it.
    kind: Option<Kind>,
}

impl WrittenNames {
    fn new(profile: &Profile<'_>, losses: &mut Losses) -> Self {
        let mut index: HashMap<String, usize> = HashMap::new();
        let mut names: Vec<WrittenName> = Vec::new();
        let mut functions = Vec::new();
        for function in &profile.functions {
            let mut text = one_line(&function.name).into_owned();
            // Quotes are the only way in which this format says that something is no function.
            if function.kind != Kind::Function && !is_quoted(&text) {
                text = format!("\"{text}\"");
            }
            losses.add(NAMES, (text != function.name).into());
            // Readers find the package in the name.
            let module = if is_quoted(&text) { "" } else { package(&text) };
            let has_place =
                function.module != module || !function.file.is_empty() || function.place != (0, 0);
            losses.add(PLACES, has_place.into());
            // A reader has one entry for a name, and the first figures of it count: each line needs
            // the sum.
            let at = *index.entry(text.clone()).or_insert(names.len());
            if at == names.len() {
                names.push(WrittenName {
                    text,
                    figures: [0; 3],
                    kind: None,
                });
            } else {
                losses.add(SAME_NAME, 1);
            }
            let mut figure = |cost: Option<f64>| {
                losses.add(UNKNOWN, cost.is_none().into());
                whole(cost.unwrap_or(0.0), losses)
            };
            let own = [
                function.calls.unwrap_or(0),
                figure(function.seen),
                figure(function.exclusive),
            ];
            for (sum, own) in names[at].figures.iter_mut().zip(own) {
                *sum = capped(sum.saturating_add(own), losses);
            }
            functions.push((at, false));
        }
        // As readers decide: with one call anywhere 0 means never called, without any all calls are
        // unknown.
        let counts_calls = names.iter().any(|name| name.figures[0] > 0);
        let other = profile
            .functions
            .iter()
            .filter(|function| function.calls.is_some() != counts_calls);
        losses.add(CALL_COUNTS, other.count() as u64);
        Self { names, functions }
    }

    /// The name at a place in the tree.
    fn place(&mut self, profile: &Profile<'_>, call: &Call, losses: &mut Losses) -> &WrittenName {
        let (at, known) = &mut self.functions[call.function];
        let name = &mut self.names[*at];
        // Readers go by the first node of a name, so that its kind is not known before that is
        // written.
        let kind = *name.kind.get_or_insert_with(|| match call.depth {
            _ if !is_quoted(&name.text) => Kind::Function,
            0 => Kind::Root,
            1 => Kind::Thread,
            _ => Kind::Pseudo,
        });
        if !*known {
            losses.add(
                KINDS,
                (kind != profile.functions[call.function].kind).into(),
            );
            *known = true;
        }
        name
    }

    /// Functions that no place has.
    fn absent(&self) -> u64 {
        self.functions.iter().filter(|(_, known)| !known).count() as u64
    }
}

/// Whether a name is a string, which readers take for no function.
fn is_quoted(name: &str) -> bool {
    name.len() > 1 && name.starts_with('"') && name.ends_with('"')
}
