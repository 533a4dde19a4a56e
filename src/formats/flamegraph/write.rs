//! Flame graphs, SVG
//!
//! # What it is
//! A picture for browsers and everything else that shows SVG: a box for each place in the tree of calls, as wide as its cost with
//! everything called, the roots at the top and callees below their callers (an "icicle graph"). The file needs nothing else, and
//! loads nothing.
//!
//! # What is written
//! - Boxes are drawn from left to right in the order of the tree, callees from the left edge of their caller; what is left to their
//!   right is the caller's own cost. The picture is as wide as the window, which is the cost of all roots. Callees that cost more
//!   than their caller end where it ends. `--inverted` has the roots at the bottom, as flames have it.
//! - Pointing at a box shows name, module, file, calls, and both costs with their share, each in the unit that fits it.
//! - Where scripts run, a click on a box zooms, `Esc` goes back, `/` searches names, modules and files and says which share of the
//!   picture matches, arrows and `Enter` do what the mouse does. Where they do not (in an `<img>`, in GitHub's viewer, on paper) the
//!   picture is the same without that.
//! - Shallow trees are drawn high. Of a trunk, where each place calls one other only, the levels in the middle are drawn thin,
//!   which the caption says.
//! - Left out is what cost less than 0.01 % of all roots, and up to 0.1 %, a pixel, where more than 10,000 places would be left;
//!   with `--min-pct`, what cost less than that. The caption says how many places that are. Lines of functions are none: what
//!   they called is called by the function.
//! - Colours are made of module and name, so that they are the same in all pictures; the paper is light or dark as the window is.
//! - Control characters in names are written as their pictures (`␊`), and those that turn the order of letters as `�`.
//!
//! # References
//! - `flamegraph.pl` by Brendan Gregg, which introduced such pictures.
//! - "Scalable Vector Graphics (SVG) 1.1", W3C.

#![expect(
    clippy::indexing_slicing,
    reason = "numbers of functions and metrics are the writer's own"
)]

use std::io::Write;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::geometry::{Boxes, Level, Levels, Widths};
use crate::events::Kind;
use crate::formats::common::counted::many;
use crate::formats::common::stacks::{CUMULATIVE, FREE};
use crate::formats::common::written::{MIN_PCT, NO_NAME, least_share, printable};
use crate::formats::export::error::ExportError;
use crate::formats::export::losses::{
    ABSENT, BACK_EDGES, FACTS, LABELS, LINES, Loss, Losses, METRICS, NAMES, NEGATIVE, RECORDED,
};
use crate::formats::export::profile::{Call, Profile};
use crate::formats::export::{Export, Metrics, Needs, Packing};
use crate::formats::options::{OptionDef, Takes};
use crate::store::{Below, FunctionRow};
use crate::text::number::{fixed, shortest};
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
    write,
};

const INVERTED: OptionDef = OptionDef {
    name: "inverted",
    takes: Takes::Nothing,
    meaning: "draw flame graphs with the roots at the bottom",
};

const NARROW: Loss = Loss {
    name: "narrow",
    what: "places that cost too little to be drawn",
    of: "nodes",
};

/// Percentage of the picture below which nothing is drawn, unless another one is asked for.
const LEAST: f64 = 0.01;

/// Boxes that a picture has at most, unless a least share is asked for or all are visible: browsers
/// show so many at once.
const MOST_BOXES: u64 = 10_000;

/// Percentage of the picture that is a pixel of a usual window: what is wider is drawn, however many
/// boxes these are.
const VISIBLE: f64 = 0.1;

/// Pixels: of the picture where no window says how wide it is, above and below the levels, of a
/// letter.
const WIDTH: f64 = 1200.0;
const HEAD: f64 = 72.0;
const FOOT: f64 = 10.0;
const LETTER: f64 = 7.3;

/// Letters of a title that have room beside the field for searching.
const TITLE_LETTERS: usize = 90;

/// Parts of a pixel that edges are rounded to: enough for a box of the least width that is as wide
/// as the window; and where less is asked for.
const PARTS: f64 = 1e3;
const MANY_PARTS: f64 = 1e9;

/// What the picture does in a browser, and how it looks.
const SCRIPT: &str = include_str!("script.js");
const STYLE: &str = include_str!("style.css");

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
    let mut top = HEAD;
    for level in &levels.heights {
        let above = if is_inverted {
            height + HEAD - FOOT - top - level
        } else {
            top
        };
        picture.levels.push((above, *level));
        top += level;
    }
    let name = &profile.metric.name;
    let mut caption = format!("{name}: {} in all", picture.figure(whole));
    if whole <= 0.0 {
        caption = format!("{caption}, nothing to draw");
    }
    if narrow > 0 {
        caption = format!(
            "{caption}; left out: {} below {} %",
            many(narrow, "place"),
            two_digits(100.0 * least / whole)
        );
    }
    if let (first, last @ 1..) = levels.thin {
        caption = format!(
            "{caption}; levels {} to {last}, a place each, are drawn thin",
            first + 1
        );
    }
    picture.begin(height, &caption, out)?;
    picture.each_box(|call, edges| picture.draw(call, edges, out))?;
    write!(out, "</g>\n<script><![CDATA[\n{SCRIPT}]]></script>\n")?;
    Ok(writeln!(out, "</svg>")?)
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

    /// Everything before the first box.
    fn begin(&self, height: f64, caption: &str, out: &mut dyn Write) -> Result<(), ExportError> {
        let height = pixels(height);
        let run = &self.profile.run;
        let title = run.title.as_deref().unwrap_or(&run.name);
        writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
        // Width and height are those of a picture in a page; in a window of its own, the style says
        // otherwise.
        write!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" class=\"flamegraph\" width=\"{WIDTH}\" height=\"{height}\""
        )?;
        writeln!(
            out,
            " viewBox=\"0 0 {WIDTH} {height}\" font-family=\"monospace\" font-size=\"12\">"
        )?;
        writeln!(out, "<title>{}</title>", escaped(title))?;
        write!(out, "<style>\n{STYLE}</style>\n")?;
        writeln!(
            out,
            "<rect class=\"paper\" width=\"100%\" height=\"100%\" fill=\"white\"/>"
        )?;
        writeln!(
            out,
            "<g class=\"head\"><text class=\"title\" x=\"10\" y=\"24\" font-size=\"17\">{}</text><text x=\"10\" y=\"44\">{}</text></g>",
            escaped(&cut(title, TITLE_LETTERS)),
            escaped(caption)
        )?;
        Ok(writeln!(out, "<g class=\"boxes\">")?)
    }

    fn draw(
        &self,
        call: &Call,
        (left, right): (f64, f64),
        out: &mut dyn Write,
    ) -> Result<(), ExportError> {
        let function = &self.profile.functions[call.function];
        let (top, height) = self.levels[call.depth];
        // Edges are rounded, and not widths: what ends where another one ends does so when it is
        // enlarged, too.
        let part = |cost: f64| (WIDTH * cost / self.whole * self.parts).round();
        let (x, width) = (
            part(left) / self.parts,
            (part(right) - part(left)) / self.parts,
        );
        // A line of paper between levels.
        let drawn = if height > 3.0 { height - 1.0 } else { height };
        let class = if width < 3.0 || height < 3.0 {
            " class=\"thin\""
        } else {
            ""
        };
        write!(
            out,
            "<g{class}><title>{}</title><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>",
            escaped_lines(&self.about(function, call)),
            shortest(x),
            pixels(top),
            shortest(width),
            pixels(drawn),
            colour(function)
        )?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and the width"
        )]
        let letters = ((width - 6.0).max(0.0) / LETTER) as usize;
        if letters >= 3 && height >= 12.0 {
            write!(
                out,
                "<text x=\"{}\" y=\"{}\">{}</text>",
                shortest(x + 3.0),
                pixels(top + drawn / 2.0 + 4.0),
                escaped(&cut(label(function), letters))
            )?;
        }
        Ok(writeln!(out, "</g>")?)
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
            "in all {}, own {}",
            cost(call.cumulative),
            cost(call.exclusive)
        );
        if let Some(calls) = call.calls {
            figures = format!("{figures}, {}", many(calls, "call"));
        }
        let mut lines = vec![label(function).to_owned()];
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

/// A height or the like.
fn pixels(pixels: f64) -> String {
    shortest((pixels * PARTS).round() / PARTS)
}

/// What a box is called.
fn label(function: &FunctionRow) -> &str {
    if function.name.is_empty() {
        NO_NAME
    } else {
        &function.name
    }
}

/// A text of so many columns at most.
fn cut(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    // A column is for the mark that something is missing.
    let mut left = columns.saturating_sub(1);
    let mut cut = String::new();
    for character in text.chars() {
        let width = character.width().unwrap_or(1);
        if width > left {
            break;
        }
        left -= width;
        cut.push(character);
    }
    cut.push('…');
    cut
}

/// A positive number of two significant digits.
fn two_digits(value: f64) -> String {
    format!("{value:.1e}")
        .parse()
        .map_or_else(|_| shortest(value), shortest)
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

/// Text of XML.
fn escaped(text: &str) -> String {
    printable(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// Lines of text of XML.
fn escaped_lines(lines: &[String]) -> String {
    let lines: Vec<_> = lines.iter().map(|line| escaped(line)).collect();
    lines.join("\n")
}
