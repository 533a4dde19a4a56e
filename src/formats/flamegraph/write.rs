//! Flame graphs, SVG
//!
//! # What it is
//! A picture for browsers and everything else that shows SVG: a box for each place in the tree of calls, above its caller, as
//! wide as its cost with everything called. It needs nothing else, and holds no script.
//!
//! # What is written
//! - Boxes are drawn from left to right in the order of the tree, callees from the left edge of their caller; what is left to their
//!   right is the caller's own cost. 1200 pixels are the cost of all roots, and widths are exact. Callees that cost more than
//!   their caller end where it ends.
//! - Pointing at a box shows name, module, file, calls, and both costs with all their digits and their share.
//! - Left out is what cost less than `--min-pct` of all roots; the caption says how many places that are. Lines of functions
//!   are none: what they called is above the function.
//! - Colours are made of module and name, so that they are the same in all pictures.
//! - Control characters in names are written as their pictures (`␊`).
//!
//! # References
//! - `flamegraph.pl` by Brendan Gregg, which introduced such pictures.
//! - "Scalable Vector Graphics (SVG) 1.1", W3C.

#![expect(
    clippy::indexing_slicing,
    reason = "numbers of functions and metrics are the writer's own"
)]

use std::io::Write;

use crate::formats::common::counted::many;
use crate::formats::common::stacks::{CUMULATIVE, FREE};
use crate::formats::common::written::{MIN_PCT, least_share, place, printable};
use crate::formats::export::error::ExportError;
use crate::formats::export::losses::{
    ABSENT, BACK_EDGES, FACTS, LABELS, LINES, Loss, Losses, METRICS, NAMES, NEGATIVE, RECORDED,
};
use crate::formats::export::profile::{Call, Profile};
use crate::formats::export::{Export, Metrics, Needs, Packing};
use crate::report::ReportError;
use crate::store::Below;
use crate::text::number::{fixed, shortest};
use crate::text::scale::Scale;

/// The format of the page above, as it is written.
pub(in crate::formats) const EXPORT: Export = Export {
    name: "flamegraph",
    summary: "Flame graphs, SVG",
    needs: Needs::Tree,
    metrics: Metrics::One,
    layouts: &[],
    options: &[MIN_PCT],
    packing: Packing::Plain,
    losses: &[
        LINES, METRICS, FACTS, BACK_EDGES, LABELS, NAMES, RECORDED, ABSENT, CUMULATIVE, NARROW,
        FREE, NEGATIVE,
    ],
    write,
};

const NARROW: Loss = Loss {
    name: "narrow",
    what: "places that cost too little to be drawn",
    of: "nodes",
};

/// Percentage of the picture below which nothing is drawn, unless another one is asked for.
const LEAST: f64 = 0.01;

/// What rounding may add to the width of a box, as a part of the picture: a REAL's own part for
/// each of a million levels.
const ROUNDING: f64 = 1e-9;

/// Pixels: of the picture, of a level, above and below the levels, of a letter.
const WIDTH: f64 = 1200.0;
const LEVEL: usize = 17;
const HEAD: usize = 56;
const FOOT: usize = 10;
const LETTER: f64 = 7.0;

fn write(
    profile: &Profile<'_>,
    losses: &mut Losses,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    losses.add(METRICS, profile.other_metrics);
    losses.add(FACTS, profile.facts);
    losses.add(BACK_EDGES, profile.back_edges);
    losses.add(LABELS, profile.labels);
    let scale =
        Scale::of(&profile.metric.name, &profile.metric.unit, None).map_err(ReportError::Usage)?;
    // Everything is a share of the roots, which the picture begins with.
    let mut whole = 0.0;
    profile.each_root(|cost| whole += cost.max(0.0))?;
    let mut levels = 0;
    let mut placed = vec![false; profile.functions.len()];
    let mut boxes = Boxes::new(profile, whole);
    profile.each_call(losses, |call, losses| {
        placed[call.function] = true;
        if boxes.next(&call, losses).is_some() {
            levels = levels.max(call.depth + 1);
        }
        Ok(())
    })?;
    losses.add(
        ABSENT,
        placed.iter().filter(|placed| !**placed).count() as u64,
    );
    losses.add(NARROW, boxes.narrow);
    let is_changed = profile
        .functions
        .iter()
        .filter(|function| printable(&function.name) != function.name);
    losses.add(NAMES, is_changed.count() as u64);
    let height = HEAD + levels * LEVEL + FOOT;
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"{WIDTH}\" height=\"{height}\""
    )?;
    writeln!(
        out,
        " viewBox=\"0 0 {WIDTH} {height}\" font-family=\"Verdana, sans-serif\" font-size=\"12\">"
    )?;
    writeln!(
        out,
        "<style>g rect {{ stroke: white; stroke-width: 0.3 }} g:hover rect {{ stroke: black }}</style>"
    )?;
    writeln!(out, "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>")?;
    let title = profile.run.title.as_deref().unwrap_or(&profile.run.name);
    writeln!(
        out,
        "<text x=\"600\" y=\"22\" text-anchor=\"middle\" font-size=\"17\">{}</text>",
        escaped(title)
    )?;
    let mut caption = format!(
        "{}: {} in all",
        profile.metric.name,
        scale.with_unit(whole, 1)
    );
    if boxes.narrow > 0 {
        caption = format!("{caption}; left out: {}", many(boxes.narrow, "place"));
    }
    writeln!(
        out,
        "<text x=\"600\" y=\"42\" text-anchor=\"middle\">{}</text>",
        escaped(&caption)
    )?;
    // The same places are drawn as were counted above, which has raised `levels` for each of them;
    // losses are counted once. What is below a place that is too narrow is so, too, and not read.
    let mut boxes = Boxes::new(profile, whole);
    profile.each_wanted_call(
        &mut Losses::new(EXPORT.name, EXPORT.losses),
        |call, losses| {
            if let Some((left, cost)) = boxes.next(&call, losses) {
                draw(
                    profile,
                    &call,
                    (left, cost, whole),
                    HEAD + (levels - 1 - call.depth) * LEVEL,
                    out,
                )?;
            }
            Ok(if boxes.may_hold_another() {
                Below::Wanted
            } else {
                Below::Unwanted
            })
        },
    )?;
    Ok(writeln!(out, "</svg>")?)
}

/// Where boxes are, in the order of the tree.
struct Boxes {
    /// What all roots cost.
    whole: f64,
    /// What is too little to be drawn.
    least: f64,
    /// For each open place, from the outermost: where its next callee begins, and where it ends; as
    /// costs.
    open: Vec<(f64, f64)>,
    /// Where the next root begins.
    next_root: f64,
    /// Places that were left out.
    narrow: u64,
}

impl Boxes {
    fn new(profile: &Profile<'_>, whole: f64) -> Self {
        let least = least_share(profile).unwrap_or(LEAST) / 100.0 * whole;
        Self {
            whole,
            least,
            open: Vec::new(),
            next_root: 0.0,
            narrow: 0,
        }
    }

    /// Left edge and width of the next place, as costs; `None` if it is not drawn.
    fn next(&mut self, call: &Call, losses: &mut Losses) -> Option<(f64, f64)> {
        self.open.truncate(call.depth);
        let cost = call.cumulative;
        losses.add(NEGATIVE, (cost < 0.0).into());
        losses.add(FREE, (cost == 0.0).into());
        let (left, width) = match self.open.last_mut() {
            None => {
                let left = self.next_root;
                self.next_root += cost.max(0.0);
                (left, cost.max(0.0))
            }
            Some((next, end)) => {
                let (left, width) = (*next, cost.max(0.0).min((*end - *next).max(0.0)));
                // Rounding is no reason to tell.
                losses.add(
                    CUMULATIVE,
                    (cost.max(0.0) - width > 1e-9 * cost.abs()).into(),
                );
                *next += width;
                (left, width)
            }
        };
        // What is not drawn has its room, too: everything to its right keeps its exact place.
        self.open.push((left, left + width));
        let is_drawn = width > 0.0 && width >= self.least;
        self.narrow += u64::from(!is_drawn && cost > 0.0);
        is_drawn.then_some((left, width))
    }

    /// Whether a place below the last one may be drawn.
    fn may_hold_another(&self) -> bool {
        // Edges are rounded at each level, so that a box may seem a little wider than the one that
        // holds it.
        let rounding = ROUNDING * self.whole;
        self.open
            .last()
            .is_none_or(|(left, end)| end - left + rounding >= self.least)
    }
}

fn draw(
    profile: &Profile<'_>,
    call: &Call,
    (left, cost, whole): (f64, f64, f64),
    top: usize,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let function = &profile.functions[call.function];
    let (x, width) = (WIDTH * left / whole, WIDTH * cost / whole);
    let unit = &profile.metric.unit;
    let share = |cost: f64| match profile.metric.total {
        0.0 => String::new(),
        total => format!(" ({} %)", fixed(100.0 * cost / total, 2)),
    };
    let calls = call
        .calls
        .map_or_else(String::new, |calls| format!(", {}", many(calls, "call")));
    let all = format!(
        "{} {unit}{}",
        shortest(call.cumulative),
        share(call.cumulative)
    );
    let own = format!(
        "{} {unit}{}",
        shortest(call.exclusive),
        share(call.exclusive)
    );
    let title = format!("{}: in all {all}, own {own}{calls}", place(function));
    write!(
        out,
        "<g><title>{}</title><rect x=\"{}\" y=\"{top}\"",
        escaped(&title),
        shortest(x)
    )?;
    write!(
        out,
        " width=\"{}\" height=\"{}\" fill=\"{}\"/>",
        shortest(width),
        LEVEL - 1,
        colour(function)
    )?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and the width"
    )]
    let letters = ((width - 6.0).max(0.0) / LETTER) as usize;
    if letters >= 3 {
        let name = if function.name.chars().count() <= letters {
            function.name.clone()
        } else {
            function
                .name
                .chars()
                .take(letters - 1)
                .chain(['…'])
                .collect()
        };
        write!(
            out,
            "<text x=\"{}\" y=\"{}\">{}</text>",
            shortest(x + 3.0),
            top + 12,
            escaped(&name)
        )?;
    }
    Ok(writeln!(out, "</g>")?)
}

/// Warm colours on which black can be read: the shade from the module, the rest from the name.
fn colour(function: &crate::store::FunctionRow) -> String {
    let [module, name] = [&function.module, &function.name].map(|text| {
        // FNV-1a: colours are alike on all machines and in all versions.
        text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    });
    let shade = |bits: u64, from: u64, to: u64| from + (bits >> 32) % (to - from + 1);
    format!(
        "#{:02x}{:02x}{:02x}",
        shade(name, 215, 255),
        // Other bits of the name than in the first part, so that the two do not go together.
        shade(module ^ name >> 7, 120, 215),
        shade(module, 40, 110)
    )
}

/// Text of XML.
fn escaped(text: &str) -> String {
    printable(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
