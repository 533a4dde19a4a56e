//! The picture itself: what flame graphs of a run and of two runs have in common.

use std::io::Write;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::geometry::Levels;
use crate::formats::common::counted::many;
use crate::formats::common::written::{NO_NAME, printable};
use crate::formats::export::error::ExportError;
use crate::formats::export::losses::Loss;
use crate::formats::options::{OptionDef, Takes};
use crate::text::number::shortest;

pub(super) const INVERTED: OptionDef = OptionDef {
    name: "inverted",
    takes: Takes::Nothing,
    meaning: "draw flame graphs with the roots at the bottom",
};

pub(super) const NARROW: Loss = Loss {
    name: "narrow",
    what: "nodes below the threshold",
    of: "nodes",
};

/// Percentage of the picture below which nothing is drawn, unless another one is asked for.
pub(super) const LEAST: f64 = 0.01;

/// Boxes that a picture has at most, unless a least share is asked for or all are visible: browsers
/// show so many at once.
pub(super) const MOST_BOXES: u64 = 10_000;

/// Percentage of the picture that is a pixel of a usual window: what is wider is drawn, however many
/// boxes these are.
pub(super) const VISIBLE: f64 = 0.1;

/// Pixels: of the picture where no window says how wide it is, above and below the levels, of a
/// letter.
pub(super) const WIDTH: f64 = 1200.0;
pub(super) const HEAD: f64 = 72.0;
pub(super) const FOOT: f64 = 10.0;
const LETTER: f64 = 7.3;

/// Letters of a title that have room beside the field for searching.
const TITLE_LETTERS: usize = 90;

/// Parts of a pixel that edges are rounded to: enough for a box of the least width that is as wide
/// as the window; and where less is asked for.
pub(super) const PARTS: f64 = 1e3;
pub(super) const MANY_PARTS: f64 = 1e9;

/// What the picture does in a browser, and how it looks.
const SCRIPT: &str = include_str!("script.js");
const STYLE: &str = include_str!("style.css");

/// What is above the boxes.
#[derive(Default)]
pub(super) struct Head<'h> {
    pub(super) title: &'h str,
    pub(super) caption: &'h str,
    /// Elements of a line below the caption, as they are written.
    pub(super) legend: &'h str,
    /// Attributes of the picture, as they are written.
    pub(super) attributes: &'h str,
}

/// Writes everything before the first box.
pub(super) fn begin(head: &Head<'_>, height: f64, out: &mut dyn Write) -> Result<(), ExportError> {
    let height = pixels(height);
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    // Width and height are those of a picture in a page; in a window of its own, the style says
    // otherwise.
    write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" class=\"flamegraph\" width=\"{WIDTH}\" height=\"{height}\""
    )?;
    writeln!(
        out,
        " viewBox=\"0 0 {WIDTH} {height}\" font-family=\"monospace\" font-size=\"12\"{}>",
        head.attributes
    )?;
    writeln!(out, "<title>{}</title>", escaped(head.title))?;
    write!(out, "<style>\n{STYLE}</style>\n")?;
    writeln!(
        out,
        "<rect class=\"paper\" width=\"100%\" height=\"100%\" fill=\"white\"/>"
    )?;
    writeln!(
        out,
        "<g class=\"head\"><text class=\"title\" x=\"10\" y=\"24\" font-size=\"17\">{}</text><text x=\"10\" y=\"44\">{}</text>{}</g>",
        escaped(&cut(head.title, TITLE_LETTERS)),
        escaped(head.caption),
        head.legend
    )?;
    Ok(writeln!(out, "<g class=\"boxes\">")?)
}

/// Writes everything after the last box.
pub(super) fn end(out: &mut dyn Write) -> Result<(), ExportError> {
    write!(out, "</g>\n<script><![CDATA[\n{SCRIPT}]]></script>\n")?;
    Ok(writeln!(out, "</svg>")?)
}

/// A box.
pub(super) struct Drawn<'b> {
    /// Left edge and width, in pixels.
    pub(super) left: f64,
    pub(super) width: f64,
    /// Upper edge and height of its level.
    pub(super) top: f64,
    pub(super) height: f64,
    /// A colour, or the name of a pattern.
    pub(super) fill: &'b str,
    /// What is written into it.
    pub(super) label: &'b str,
    /// What there is to say of it; a line each, so that letters from right to left stay in theirs.
    pub(super) about: &'b [String],
    /// Further attributes, as they are written.
    pub(super) attributes: &'b str,
}

/// Writes a box.
pub(super) fn draw(drawn: &Drawn<'_>, out: &mut dyn Write) -> Result<(), ExportError> {
    let Drawn {
        left,
        width,
        top,
        height,
        ..
    } = *drawn;
    // A line of paper between levels.
    let shown = if height > 3.0 { height - 1.0 } else { height };
    let class = if width < 3.0 || height < 3.0 {
        " class=\"thin\""
    } else {
        ""
    };
    write!(
        out,
        "<g{class}{}><title>{}</title><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>",
        drawn.attributes,
        escaped_lines(drawn.about),
        shortest(left),
        pixels(top),
        shortest(width),
        pixels(shown),
        drawn.fill
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
            shortest(left + 3.0),
            pixels(top + shown / 2.0 + 4.0),
            escaped(&cut(drawn.label, letters))
        )?;
    }
    Ok(writeln!(out, "</g>")?)
}

/// A caption that also says what is not drawn, and what is drawn thin.
pub(super) fn left_out(caption: String, narrow: u64, percentage: f64, levels: &Levels) -> String {
    let mut caption = caption;
    if narrow > 0 {
        caption = format!(
            "{caption}; left out: {} below {} %",
            many(narrow, "node"),
            two_digits(percentage)
        );
    }
    if let (first, last @ 1..) = levels.thin {
        caption = format!(
            "{caption}; levels {} to {last}, with one node each, are drawn thin",
            first + 1
        );
    }
    caption
}

/// A height or the like.
pub(super) fn pixels(pixels: f64) -> String {
    shortest((pixels * PARTS).round() / PARTS)
}

/// A text of so many columns at most.
pub(super) fn cut(text: &str, columns: usize) -> String {
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
pub(super) fn two_digits(value: f64) -> String {
    format!("{value:.1e}")
        .parse()
        .map_or_else(|_| shortest(value), shortest)
}

/// Text of XML.
pub(super) fn escaped(text: &str) -> String {
    printable(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// Lines of text of XML.
pub(super) fn escaped_lines(lines: &[String]) -> String {
    let lines: Vec<_> = lines.iter().map(|line| escaped(line)).collect();
    lines.join("\n")
}
/// What a box is called.
pub(super) fn label_of(name: &str) -> &str {
    if name.is_empty() { NO_NAME } else { name }
}
