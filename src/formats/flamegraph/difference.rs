//! Two costs in a flame graph: widths are those of one side or of both, colours say what grew and what shrank.

#![expect(
    clippy::indexing_slicing,
    reason = "numbers of functions, places and widths are the writer's own"
)]

use std::fmt::Write as _;
use std::io::Write;

use super::geometry::{Level, Levels, Widths};
use super::svg::{
    self, Drawn, FOOT, HEAD, Head, INVERTED, LEAST, MANY_PARTS, MOST_BOXES, NARROW, PARTS, VISIBLE,
    WIDTH, label_of,
};
use crate::formats::common::counted::many;
use crate::formats::common::written::{MIN_PCT, printable};
use crate::formats::export::error::ExportError;
use crate::formats::export::losses::{Losses, NAMES, NEGATIVE};
use crate::formats::export::{Difference, Differences, DifferentFunction};
use crate::formats::options::{OptionDef, Takes};
use crate::text::number::{fixed, shortest};
use crate::text::scale;

/// How pictures have two costs.
pub(super) const DIFFERENCES: Differences = Differences {
    options: &[WIDTHS, COLOUR],
    takes_whole: false,
    write,
};

/// What a box may be as wide as: its cost in new, its cost in base, or both, that is the own costs of the side where they are
/// larger. In the order in which the picture turns from one to the next.
const SIDES: [&str; 3] = ["new", "base", "both"];
const NEW: usize = 0;
const BASE: usize = 1;

const WIDTHS: OptionDef = OptionDef {
    name: "width",
    takes: Takes::Word(&SIDES),
    meaning: "side that sets the width of boxes with two costs. `both` takes the larger exclusive cost [default: new]",
};

/// What boxes may be coloured by.
const BY_VERDICT: &str = "verdict";
const BY_RATIO: &str = "ratio";

const COLOUR: OptionDef = OptionDef {
    name: "colour",
    takes: Takes::Word(&[BY_VERDICT, BY_RATIO]),
    meaning: "color boxes with two costs by ratio, or only changes by verdict [default: verdict, with enough runs]",
};

/// Pixels that the line of the legend takes.
const LEGEND: f64 = 20.0;

/// Ratio of the costs at which colours are full. It is the same in all pictures: one by the largest change of the picture would
/// paint noise where nothing has changed.
const FULL: f64 = 2.0;

/// Colours of what costs the same, more, and less: black is read on all of them, and they are told apart by those who do not tell
/// red from green.
const SAME: [f64; 3] = [220.0, 220.0, 220.0];
const MORE: [f64; 3] = [240.0, 85.0, 60.0];
const LESS: [f64; 3] = [74.0, 155.0, 232.0];

/// Marks of what costs more, and less: colour alone tells too little.
const MARKS: [&str; 2] = ["▲ ", "▼ "];

/// What a place looks like.
struct Look {
    fill: String,
    mark: &'static str,
}

/// The picture of two trees.
struct Picture<'d> {
    difference: &'d Difference,
    /// Costs of each place with everything below it, in the order of [`SIDES`].
    costs: Vec<[f64; 3]>,
    /// What all roots cost, in the same order.
    whole: [f64; 3],
    is_by_verdict: bool,
    /// [`PARTS`], or more.
    parts: f64,
}

fn write(
    difference: &Difference,
    losses: &mut Losses,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let options = &difference.options;
    let shown = options
        .value(WIDTHS.name)
        .and_then(|asked| SIDES.iter().position(|side| *side == asked))
        .unwrap_or(NEW);
    let is_by_verdict = options
        .value(COLOUR.name)
        .map_or(difference.is_judged, |asked| asked == BY_VERDICT);
    let asked: Option<f64> = options
        .value(MIN_PCT.name)
        .and_then(|asked| asked.parse().ok());
    let picture = Picture {
        parts: if asked.is_some_and(|asked| asked < LEAST) {
            MANY_PARTS
        } else {
            PARTS
        },
        ..Picture::new(difference, is_by_verdict)
    };
    for place in &difference.places {
        let below = place.own.iter().filter(|cost| **cost < 0.0);
        losses.add(NEGATIVE, below.count() as u64);
    }
    let changed = difference
        .functions
        .iter()
        .filter(|function| printable(&function.names[0]) != function.names[0]);
    losses.add(NAMES, changed.count() as u64);
    let mut widths = Widths::new();
    for at in 0..difference.places.len() {
        widths.add(picture.widest(at));
    }
    let mut least = asked.unwrap_or(LEAST) / 100.0;
    if let (None, Some(wider)) = (asked, widths.least_of(MOST_BOXES)) {
        least = wider.clamp(least, VISIBLE / 100.0);
    }
    let costly = (0..difference.places.len()).filter(|at| picture.widest(*at) > 0.0);
    let costly = costly.count() as u64;
    let mut levels: Vec<Level> = Vec::new();
    picture.each_box(least, |at, edges| {
        let depth = difference.places[at].depth as usize;
        if levels.len() <= depth {
            levels.resize(depth + 1, Level::default());
        }
        let (left, right) = edges[shown];
        levels[depth].boxes += 1;
        levels[depth].share += right - left;
        Ok(())
    })?;
    let narrow = costly - levels.iter().map(|level| level.boxes).sum::<u64>();
    losses.add(NARROW, narrow);
    let levels = Levels::of(&levels);
    let head = HEAD + LEGEND;
    let places = levels.places(head, options.flag(INVERTED.name));
    let caption = svg::left_out(picture.caption(), narrow, 100.0 * least, &levels);
    let [base, new] = &difference.sides;
    let title = format!("{base} → {new}");
    svg::begin(
        &Head {
            title: &title,
            caption: &caption,
            legend: &picture.legend(),
            attributes: &attributes(shown),
        },
        head + levels.height() + FOOT,
        out,
    )?;
    picture.each_box(least, |at, edges| {
        picture.draw((at, edges), shown, &places, out)
    })?;
    svg::end(out)
}

/// The sides in the order in which the picture shows them, the one that is drawn first.
fn order(shown: usize) -> impl Iterator<Item = usize> {
    (0..SIDES.len()).map(move |at| (shown + at) % SIDES.len())
}

/// What the picture says to its script: how many pixels the legend takes, and what boxes may be as wide as.
fn attributes(shown: usize) -> String {
    let sides: Vec<&str> = order(shown).map(|side| SIDES[side]).collect();
    format!(
        " data-legend=\"{LEGEND}\" data-widths=\"{}\"",
        sides.join(" ")
    )
}

impl<'d> Picture<'d> {
    fn new(difference: &'d Difference, is_by_verdict: bool) -> Self {
        let own = difference.places.iter().map(|place| {
            let [base, new] = place.own.map(|cost| cost.max(0.0));
            [new, base, base.max(new)]
        });
        let mut costs: Vec<[f64; 3]> = own.collect();
        let mut whole = [0.0; 3];
        let mut open: Vec<usize> = Vec::new();
        let mut close = |open: &mut Vec<usize>, depth: usize| {
            while open.len() > depth {
                let all = open.pop().map_or([0.0; 3], |at| costs[at]);
                let above = match open.last() {
                    Some(caller) => &mut costs[*caller],
                    None => &mut whole,
                };
                for (above, all) in above.iter_mut().zip(all) {
                    *above += all;
                }
            }
        };
        for (at, place) in difference.places.iter().enumerate() {
            close(&mut open, place.depth as usize);
            open.push(at);
        }
        close(&mut open, 0);
        Self {
            difference,
            costs,
            whole,
            is_by_verdict,
            parts: PARTS,
        }
    }

    /// Cost of a place in base and in new with everything below it.
    fn all(&self, at: usize) -> [f64; 2] {
        [self.costs[at][BASE], self.costs[at][NEW]]
    }

    /// The part of the picture that a place has where it has most.
    fn widest(&self, at: usize) -> f64 {
        let parts = self.costs[at].iter().zip(self.whole);
        parts
            .filter(|(_, whole)| *whole > 0.0)
            .map(|(cost, whole)| cost / whole)
            .fold(0.0, f64::max)
    }

    /// Calls a function for the places that are at least so wide somewhere, callers first, with their left and right edges as
    /// parts of the picture, in the order of [`SIDES`].
    fn each_box(
        &self,
        least: f64,
        mut each: impl FnMut(usize, [(f64, f64); 3]) -> Result<(), ExportError>,
    ) -> Result<(), ExportError> {
        // Where the next callee begins of each place that is open; and the next root.
        let mut open: Vec<[f64; 3]> = Vec::new();
        let mut root = [0.0; 3];
        for (at, place) in self.difference.places.iter().enumerate() {
            open.truncate(place.depth as usize);
            let begin = open.last_mut().unwrap_or(&mut root);
            let lefts = *begin;
            let mut edges = [(0.0, 0.0); 3];
            for (side, left) in lefts.into_iter().enumerate() {
                begin[side] += self.costs[at][side];
                // A side without cost has no boxes.
                let whole = self.whole[side].max(f64::MIN_POSITIVE);
                edges[side] = (left / whole, begin[side] / whole);
            }
            open.push(lefts);
            let widest = self.widest(at);
            if widest > 0.0 && widest >= least {
                each(at, edges)?;
            }
        }
        Ok(())
    }

    /// Binary logarithm of the ratio of new to base, as a part of [`FULL`]'s: from -1 to 1.
    fn change(&self, at: usize) -> f64 {
        match self.all(at) {
            [base, new] if base > 0.0 && new > 0.0 => {
                ((new / base).log2() / FULL.log2()).clamp(-1.0, 1.0)
            }
            [base, _] if base > 0.0 => -1.0,
            [_, new] if new > 0.0 => 1.0,
            _ => 0.0,
        }
    }

    /// What a place looks like: only on one side, and more or less as its function is said to be.
    fn look(&self, at: usize) -> Look {
        let function = self.function(at);
        let change = self.change(at);
        let is_told = !self.is_by_verdict
            || function
                .is_worse
                .is_some_and(|is_worse| if is_worse { change > 0.0 } else { change < 0.0 });
        let change = if is_told { change } else { 0.0 };
        // What is written with two digits is seen as a change.
        let mark = match change {
            change if change > 0.005 => MARKS[0],
            change if change < -0.005 => MARKS[1],
            _ => "",
        };
        let fill = match (self.all(at), is_told) {
            ([base, _], is_told) if base <= 0.0 => pattern("new", is_told),
            ([_, new], is_told) if new <= 0.0 => pattern("gone", is_told),
            _ => colour(change),
        };
        Look { fill, mark }
    }

    fn function(&self, at: usize) -> &'d DifferentFunction {
        &self.difference.functions[self.difference.places[at].function as usize]
    }

    fn draw(
        &self,
        (at, edges): (usize, [(f64, f64); 3]),
        shown: usize,
        levels: &[(f64, f64)],
        out: &mut dyn Write,
    ) -> Result<(), ExportError> {
        let function = self.function(at);
        let (top, height) = levels[self.difference.places[at].depth as usize];
        let part = |edge: f64| (WIDTH * edge * self.parts).round();
        let Look { fill, mark } = self.look(at);
        let mut attributes = String::new();
        if !mark.is_empty() {
            let _ = write!(attributes, " data-mark=\"{mark}\"");
        }
        let all: Vec<String> = order(shown)
            .flat_map(|side| {
                let (left, right) = edges[side];
                [left, right].map(|edge| shortest(part(edge) / self.parts))
            })
            .collect();
        let _ = write!(attributes, " data-edges=\"{}\"", all.join(" "));
        let (left, right) = edges[shown];
        let drawn = Drawn {
            left: part(left) / self.parts,
            width: (part(right) - part(left)) / self.parts,
            top,
            height,
            fill: &fill,
            label: &format!("{mark}{}", label_of(&function.names[0])),
            about: &self.about(at),
            attributes: &attributes,
        };
        svg::draw(&drawn, out)
    }

    /// What there is to say of a place: name, where the function is, both costs and what became of them.
    fn about(&self, at: usize) -> Vec<String> {
        let function = self.function(at);
        let [name, module, file] = &function.names;
        let mut lines = vec![label_of(name).to_owned()];
        let mut place: Vec<&str> = Vec::new();
        if function.kind.is_container() {
            place.push(function.kind.name());
        }
        place.extend(
            [module.as_str(), file]
                .into_iter()
                .filter(|part| !part.is_empty()),
        );
        if !place.is_empty() {
            lines.push(place.join(", "));
        }
        let all = self.all(at);
        let own = self.difference.places[at].own;
        let mut figures = format!("inclusive {}, exclusive {}", self.both(all), self.both(own));
        let told = match all {
            [base, _] if base <= 0.0 => Some("only in new"),
            [_, new] if new <= 0.0 => Some("only in base"),
            _ => None,
        };
        for told in told.into_iter().chain(function.verdict) {
            let _ = write!(figures, "; {told}");
        }
        lines.push(figures);
        lines
    }

    /// Two costs, each with its share of its side, their difference and their ratio.
    fn both(&self, costs: [f64; 2]) -> String {
        let told = |side: usize| {
            let share = match [self.whole[BASE], self.whole[NEW]][side] {
                0.0 => String::new(),
                total => format!(" ({} %)", fixed(100.0 * costs[side] / total, 2)),
            };
            format!("{}{share}", self.figure(costs[side]))
        };
        let [base, new] = costs;
        let mut text = format!("{} → {}", told(0), told(1));
        if base.max(new) > 0.0 {
            let sign = if new > base { "+" } else { "" };
            let _ = write!(text, ", {sign}{}", self.figure(new - base));
        }
        if base > 0.0 && new > 0.0 {
            let _ = write!(text, ", x{}", fixed(new / base, 2));
        }
        text
    }

    /// A cost in the unit that fits it.
    fn figure(&self, cost: f64) -> String {
        let (name, unit) = &self.difference.metric;
        scale::figure(name, unit, cost)
    }

    /// What is said of the picture as a whole.
    fn caption(&self) -> String {
        let [base, new] = [self.whole[BASE], self.whole[NEW]];
        let mut caption = format!(
            "{}: {} → {}",
            self.difference.metric.0,
            self.figure(base),
            self.figure(new)
        );
        if base > 0.0 && new > 0.0 {
            let _ = write!(caption, ", x{}", fixed(new / base, 2));
        }
        for (word, side, other) in [("new", 1, 0), ("gone", 0, 1)] {
            let (mut cost, mut count) = (0.0, 0);
            for (at, place) in self.difference.places.iter().enumerate() {
                let all = self.all(at);
                if all[other] <= 0.0 && all[side] > 0.0 {
                    cost += place.own[side].max(0.0);
                    count += 1;
                }
            }
            if count > 0 {
                let _ = write!(
                    caption,
                    "; {word}: {} at {}",
                    self.figure(cost),
                    many(count, "place")
                );
            }
        }
        if base <= 0.0 && new <= 0.0 {
            caption.push_str(", nothing to draw");
        }
        caption
    }

    /// What the colours mean: a line of squares and words.
    fn legend(&self) -> String {
        let same = if self.is_by_verdict {
            "no verdict of change"
        } else {
            "the same"
        };
        let full = fixed(FULL, 0);
        let entries = [
            (colour(-1.0), format!("▼ x1/{full} or less")),
            (colour(-0.5), "▼ less".to_owned()),
            (colour(0.0), same.to_owned()),
            (colour(0.5), "▲ more".to_owned()),
            (colour(1.0), format!("▲ x{full} or more")),
            (pattern("new", true), "only in new".to_owned()),
            (pattern("gone", true), "only in base".to_owned()),
        ];
        let mut legend = patterns();
        let mut left = 10.0;
        for (fill, words) in entries {
            let _ = write!(
                legend,
                "<rect x=\"{}\" y=\"53\" width=\"12\" height=\"12\" fill=\"{fill}\" stroke=\"#888888\" stroke-width=\"0.5\"/><text x=\"{}\" y=\"63\">{words}</text>",
                shortest(left),
                shortest(left + 17.0)
            );
            #[expect(clippy::cast_precision_loss, reason = "a few letters")]
            let letters = words.chars().count() as f64;
            left += 17.0 + 7.5 * letters + 14.0;
        }
        legend
    }
}

/// The colour of a change: from -1, half the cost or less, to 1, twice the cost or more.
fn colour(change: f64) -> String {
    let end = if change < 0.0 { LESS } else { MORE };
    let mut colour = "#".to_owned();
    for (same, end) in SAME.into_iter().zip(end) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and 255"
        )]
        let part = (same + (end - same) * change.abs()).round() as u8;
        let _ = write!(colour, "{part:02x}");
    }
    colour
}

/// How what is on one side only is filled: coloured, or grey where no verdict says that it changed.
fn pattern(word: &str, is_told: bool) -> String {
    let grey = if is_told { "" } else { "-untold" };
    format!("url(#flamegraph-{word}{grey})")
}

/// The patterns: lines that rise over what is only in new, and lines that fall over what is only in base.
fn patterns() -> String {
    let mut text = "<defs>".to_owned();
    for (word, change, line) in [
        ("new", 1.0, "M-1,1 l2,-2 M0,8 l8,-8 M7,9 l2,-2"),
        ("gone", -1.0, "M-1,7 l2,2 M0,0 l8,8 M7,-1 l2,2"),
    ] {
        for is_told in [true, false] {
            let colour = colour(if is_told { change } else { 0.0 });
            let grey = if is_told { "" } else { "-untold" };
            let _ = write!(
                text,
                "<pattern id=\"flamegraph-{word}{grey}\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\"><rect width=\"8\" height=\"8\" fill=\"{colour}\"/><path d=\"{line}\" stroke=\"#ffffff\" stroke-opacity=\"0.5\" stroke-width=\"2\"/></pattern>"
            );
        }
    }
    text.push_str("</defs>");
    text
}
