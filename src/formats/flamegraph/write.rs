//! Flame graphs, SVG
//!
//! # What it is
//! A picture for browsers and other SVG viewers: a box for each node of the call tree, as wide as its inclusive
//! cost, with the roots at the top and callees below their callers (an "icicle graph"). The file is self-contained.
//!
//! # What is written
//! - Boxes from left to right in the order of the tree, callees from the left edge of their caller. The space to their
//!   right is the caller's exclusive cost. The width of the window is the cost of all roots. Callees that cost more
//!   than their caller are cut at its end. `--inverted` puts the roots at the bottom.
//! - Tooltips with name, module, file, calls, and both costs with their share, each in a suitable unit.
//! - A script, where scripts run: a click on a box zooms, `Esc` goes back, `/` searches names, modules and files and shows the
//!   matching share. Arrows and `Enter` replace the mouse. Without scripts (in an `<img>`, in GitHub's viewer, on paper) the
//!   picture is the same.
//! - Higher boxes for shallow trees. In a long chain of nodes with one callee each, the levels in the middle are thin, with a
//!   remark in the caption.
//! - Nodes with at least 0.01 % of all roots, or the share of `--min-pct`. If more than 10,000 nodes remain, the threshold is
//!   up to 0.1 %, a pixel. The caption counts the nodes that are left out. Lines of functions are left out:
//!   the function is the caller of their callees.
//! - Colours from module and name, equal in all pictures. The background is light or dark as the window is.
//! - With `--diff BASE NEW`, the nodes of both sides, as wide as their cost in new (`--width base`: in base;
//!   `both`: the larger exclusive cost; the key `w` switches between them). Red with `▲` means more inclusive cost, blue with
//!   `▼` less. The colours are strongest at twice and at half the cost. Nodes of one side only are hatched. If there are
//!   enough runs for verdicts, only nodes whose function is slower, faster, new or gone are coloured, and only if they
//!   changed in the same direction (`--colour ratio` colours all). Tooltips show both costs.
//! - Symbols (`␊`) for control characters in names, and `�` for those that change the text direction.
//!
//! # References
//! - `flamegraph.pl` by Brendan Gregg, which introduced such pictures.
//! - "Scalable Vector Graphics (SVG) 1.1", W3C.

#![expect(
    clippy::indexing_slicing,
    reason = "numbers of functions and metrics are the writer's own"
)]

use std::io::Write;

use super::difference::DIFFERENCES;
use super::geometry::{Boxes, Level, Levels, Widths};
use super::svg::{
    self, Drawn, FOOT, HEAD, Head, INVERTED, LEAST, MANY_PARTS, MOST_BOXES, NARROW, PARTS, VISIBLE,
    WIDTH, label_of,
};
use crate::events::Kind;
use crate::formats::common::counted::many;
use crate::formats::common::stacks::{CUMULATIVE, FREE};
use crate::formats::common::written::{MIN_PCT, least_share, printable};
use crate::formats::export::error::ExportError;
use crate::formats::export::losses::{
    ABSENT, BACK_EDGES, FACTS, LABELS, LINES, Losses, METRICS, NAMES, NEGATIVE, RECORDED,
};
use crate::formats::export::profile::{Call, Profile};
use crate::formats::export::{Export, Metrics, Needs, Packing};
use crate::store::{Below, FunctionRow};
use crate::text::number::fixed;
use crate::text::scale;

/// The format of the page above, as it is written.
pub(in crate::formats) const EXPORT: Export = Export {
    name: "flamegraph",
    summary: "Flame graphs, SVG",
    needs: Needs::Tree,
    metrics: Metrics::One,
    layouts: &[],
    options: &[MIN_PCT, INVERTED],
    packing: Packing::Plain,
    losses: &[
        LINES, METRICS, FACTS, BACK_EDGES, LABELS, NAMES, RECORDED, ABSENT, CUMULATIVE, NARROW,
        FREE, NEGATIVE,
    ],
    difference: Some(&DIFFERENCES),
    write,
};

/// What is drawn, and how large.
struct Picture<'p> {
    profile: &'p Profile<'p>,
    /// What all roots cost.
    whole: f64,
    /// The least cost that is drawn.
    least: f64,
    /// [`PARTS`], or more.
    parts: f64,
    /// Upper edges of levels and their heights, in pixels.
    levels: Vec<(f64, f64)>,
}

fn write(
    profile: &Profile<'_>,
    losses: &mut Losses,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    losses.add(METRICS, profile.other_metrics);
    losses.add(FACTS, profile.facts);
    losses.add(BACK_EDGES, profile.back_edges);
    losses.add(LABELS, profile.labels);
    // Everything is a share of the roots, which the picture begins with.
    let mut whole = 0.0;
    profile.each_root(|cost| whole += cost.max(0.0))?;
    let asked = least_share(profile);
    let least = asked.unwrap_or(LEAST) / 100.0 * whole;
    let mut placed = vec![false; profile.functions.len()];
    let mut costly = 0;
    let mut widths = Widths::new();
    let mut boxes = Boxes::new(whole, least);
    profile.each_call(losses, |call, losses| {
        placed[call.function] = true;
        costly += u64::from(call.cumulative > 0.0);
        if let Some((left, right)) = boxes.next(&call, losses) {
            widths.add(right - left);
        }
        Ok(())
    })?;
    losses.add(
        ABSENT,
        placed.iter().filter(|placed| !**placed).count() as u64,
    );
    let is_changed = profile
        .functions
        .iter()
        .filter(|function| printable(&function.name) != function.name);
    losses.add(NAMES, is_changed.count() as u64);
    let least = match (asked, widths.least_of(MOST_BOXES)) {
        (None, Some(wider)) => wider.clamp(least, VISIBLE / 100.0 * whole),
        _ => least,
    };
    let mut picture = Picture {
        profile,
        whole,
        least,
        parts: if asked.is_some_and(|asked| asked < LEAST) {
            MANY_PARTS
        } else {
            PARTS
        },
        levels: Vec::new(),
    };
    let mut levels: Vec<Level> = Vec::new();
    picture.each_box(|call, (left, right)| {
        if levels.len() <= call.depth {
            levels.resize(call.depth + 1, Level::default());
        }
        let level = &mut levels[call.depth];
        level.boxes += 1;
        level.share += (right - left) / whole;
        Ok(())
    })?;
    let drawn: u64 = levels.iter().map(|level| level.boxes).sum();
    let narrow = costly - drawn;
    losses.add(NARROW, narrow);
    let levels = Levels::of(&levels);
    let is_inverted = profile.options.flag(INVERTED.name);
    let height = HEAD + levels.height() + FOOT;
    picture.levels = levels.places(HEAD, is_inverted);
    let name = &profile.metric.name;
    let mut caption = format!("{name}: {} in total", picture.figure(whole));
    if whole <= 0.0 {
        caption = format!("{caption}, nothing to draw");
    }
    caption = svg::left_out(caption, narrow, 100.0 * least / whole, &levels);
    let title = profile.run.title.as_deref().unwrap_or(&profile.run.name);
    svg::begin(
        &Head {
            title,
            caption: &caption,
            ..Head::default()
        },
        height,
        out,
    )?;
    picture.each_box(|call, edges| picture.draw(call, edges, out))?;
    svg::end(out)
}

impl Picture<'_> {
    /// Calls a function for every place that is drawn, callers first, with its edges as costs.
    fn each_box(
        &self,
        mut each: impl FnMut(&Call, (f64, f64)) -> Result<(), ExportError>,
    ) -> Result<(), ExportError> {
        let mut boxes = Boxes::new(self.whole, self.least);
        // Losses have been counted already. What is below a place that is too narrow is so, too, and
        // not read.
        let counted = &mut Losses::new(EXPORT.name, EXPORT.losses);
        self.profile.each_wanted_call(counted, |call, losses| {
            if let Some(edges) = boxes.next(&call, losses) {
                each(&call, edges)?;
            }
            Ok(if boxes.may_hold_another() {
                Below::Wanted
            } else {
                Below::Unwanted
            })
        })
    }

    fn draw(
        &self,
        call: &Call,
        (left, right): (f64, f64),
        out: &mut dyn Write,
    ) -> Result<(), ExportError> {
        let function = &self.profile.functions[call.function];
        // Edges are rounded, and not widths: what ends where another one ends does so when it is
        // enlarged, too.
        let part = |cost: f64| (WIDTH * cost / self.whole * self.parts).round();
        let (top, height) = self.levels[call.depth];
        let drawn = Drawn {
            left: part(left) / self.parts,
            width: (part(right) - part(left)) / self.parts,
            top,
            height,
            fill: &colour(function),
            label: label_of(&function.name),
            about: &self.about(function, call),
            attributes: "",
        };
        svg::draw(&drawn, out)
    }

    /// What there is to say of a place: name, where the function is, figures; a line each, so that
    /// letters from right to left stay in theirs.
    fn about(&self, function: &FunctionRow, call: &Call) -> Vec<String> {
        let mut place = Vec::new();
        if function.kind != Kind::Function {
            place.push(function.kind.name().to_owned());
        }
        if !function.module.is_empty() {
            place.push(function.module.clone());
        }
        match (function.file.as_str(), function.place.0) {
            ("", 0) => {}
            ("", line) => place.push(format!("line {line}")),
            (file, 0) => place.push(file.to_owned()),
            (file, line) => place.push(format!("{file}:{line}")),
        }
        let share = |cost: f64| match self.profile.metric.total {
            0.0 => String::new(),
            total => format!(" ({} %)", fixed(100.0 * cost / total, 2)),
        };
        let cost = |cost: f64| format!("{}{}", self.figure(cost), share(cost));
        let mut figures = format!(
            "inclusive {}, exclusive {}",
            cost(call.cumulative),
            cost(call.exclusive)
        );
        if let Some(calls) = call.calls {
            figures = format!("{figures}, {}", many(calls, "call"));
        }
        let mut lines = vec![label_of(&function.name).to_owned()];
        if !place.is_empty() {
            lines.push(place.join(", "));
        }
        lines.push(figures);
        lines
    }

    /// A cost in the unit that fits it.
    fn figure(&self, cost: f64) -> String {
        scale::figure(&self.profile.metric.name, &self.profile.metric.unit, cost)
    }
}

/// Warm colours on which black can be read: the shade from the module, the rest from the name.
fn colour(function: &FunctionRow) -> String {
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
