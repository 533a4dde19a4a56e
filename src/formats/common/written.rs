//! What writers share: losses that they count alike, rounding, and text for JSON and pictures.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "numbers of functions and metrics are the writer's own"
)]

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::Write;

use crate::events::Kind;
use crate::formats::export::error::ExportError;
use crate::formats::export::losses::{
    BACK_EDGES, CALLS, FACTS, FRACTIONS, LABELS, LARGE, Losses, METRIC, METRICS, NEGATIVE,
    RAW_NAMES, TOTALS, differ,
};
use crate::formats::export::profile::{Call, Profile};
use crate::formats::options::{OptionDef, Takes};
use crate::store::{FunctionRow, MetricInfo};
pub(in crate::formats) use crate::text::cell::NO_NAME;
use crate::text::escape;
use crate::text::escape::Part;
use crate::text::plain::is_unsafe;

/// How little is not shown any more, of formats that are looked at.
pub(in crate::formats) const MIN_PCT: OptionDef = OptionDef {
    name: "min-pct",
    takes: Takes::Percentage,
    meaning: "leave out nodes below N % of the total [default: call graphs 0.5, flame graphs 0.01 to 0.1]",
};

/// Counts a metric that is not the one that readers take it for.
pub(in crate::formats) fn lose_metric(profile: &Profile<'_>, losses: &mut Losses) {
    losses.add(
        METRIC,
        (profile.metric.name != "samples" || profile.metric.unit != "count").into(),
    );
}

/// Counts what formats that know nothing but names and figures lose of the run as a whole.
pub(in crate::formats) fn lose_facts(profile: &Profile<'_>, losses: &mut Losses) {
    losses.add(METRICS, profile.other_metrics);
    losses.add(FACTS, profile.facts);
    losses.add(LABELS, profile.labels);
    losses.add(BACK_EDGES, profile.back_edges);
}

/// Whether one metric is another one times a factor, at every place and in all.
pub(in crate::formats) fn are_in_step(
    profile: &Profile<'_>,
    one: &MetricInfo,
    other: &MetricInfo,
    factor: f64,
) -> Result<bool, ExportError> {
    // Totals spare the walk where they differ. Where they do not, single places still may.
    let mut is_so = !differ(one.total, other.total * factor);
    if is_so {
        profile.database.each_node_in(
            profile.run.run_id,
            &[one.metric_id, other.metric_id],
            |rows| {
                is_so &= !differ(rows[0].exclusive, rows[1].exclusive * factor);
                Ok::<_, ExportError>(())
            },
        )?;
    }
    Ok(is_so)
}

/// Counts the total of a metric that is another one than that which readers find.
pub(in crate::formats) fn lose_total(metric: &MetricInfo, found: f64, losses: &mut Losses) {
    losses.add(TOTALS, differ(metric.total, found).into());
}

/// Counts functions with another name before it was made readable.
pub(in crate::formats) fn lose_raw_names(profile: &Profile<'_>, losses: &mut Losses) {
    let raw = profile
        .functions
        .iter()
        .filter(|function| function.raw_name.is_some());
    losses.add(RAW_NAMES, raw.count() as u64);
}

/// Whether more is known of a function than its name.
pub(in crate::formats) fn has_place(function: &FunctionRow) -> bool {
    !function.module.is_empty() || !function.file.is_empty() || function.place != (0, 0)
}

/// Counts a call count that is known.
pub(in crate::formats) fn lose_calls(call: &Call, losses: &mut Losses) {
    losses.add(CALLS, call.calls.is_some().into());
}

/// Bytes of equal records that are written at once.
const PIECE: usize = 64 * 1024;

/// Writes a record so many times.
pub(in crate::formats) fn write_repeated(
    record: &[u8],
    times: u64,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    // A place may have any number of samples: pieces of many are written at once, and memory does
    // not grow with them. A record may be longer than a piece.
    let together = (PIECE / record.len().max(1)).max(1) as u64;
    let piece = record.repeat(usize::try_from(together.min(times)).unwrap_or(1));
    for _ in 0..times / together {
        out.write_all(&piece)?;
    }
    let rest = usize::try_from(times % together).unwrap_or(0);
    Ok(out.write_all(&piece[..rest * record.len()])?)
}

/// Where a function is, in one line.
pub(in crate::formats) fn place(function: &FunctionRow) -> String {
    let FunctionRow {
        name,
        module,
        file,
        place: (line, _),
        ..
    } = function;
    let mut text = if function.kind == Kind::Function {
        name.clone()
    } else {
        format!("{name} ({})", function.kind.name())
    };
    for part in [module, file].into_iter().filter(|part| !part.is_empty()) {
        let _ = write!(text, ", {part}");
    }
    if *line != 0 {
        let _ = write!(text, ":{line}");
    }
    text
}

/// The share of the run, in percent, below which nothing is shown, if one is asked for.
pub(in crate::formats) fn least_share(profile: &Profile<'_>) -> Option<f64> {
    profile.options.value(MIN_PCT.name)?.parse().ok()
}

/// A text of JSON. Bytes that are no UTF-8 are half letters, as Python has it: JSON has no other
/// way.
pub(in crate::formats) fn json(text: &str) -> String {
    if !escape::has_escape(text) {
        return serde_json::Value::from(text).to_string();
    }
    let mut string = String::from("\"");
    escape::each(text, |part| match part {
        Part::Text(text) => {
            let quoted = serde_json::Value::from(text).to_string();
            string.push_str(&quoted[1..quoted.len() - 1]);
        }
        Part::Byte(byte) => write!(string, "\\udc{byte:02x}").expect("a string takes everything"),
    });
    string.push('"');
    string
}

/// Text without characters that XML cannot hold, nor breaks of lines, nor what turns the order of
/// letters or has no shape: these are replaced by pictures or by `\u{fffd}`.
pub(in crate::formats) fn printable(text: &str) -> String {
    let picture = |character: char| match character {
        '\0'..='\u{1f}' => {
            char::from_u32(0x2400 + u32::from(character)).unwrap_or(char::REPLACEMENT_CHARACTER)
        }
        '\u{fffe}' | '\u{ffff}' => char::REPLACEMENT_CHARACTER,
        other if is_unsafe(other) => char::REPLACEMENT_CHARACTER,
        other => other,
    };
    text.chars().map(picture).collect()
}

/// Text that stays on its line.
pub(in crate::formats) fn one_line(text: &str) -> Cow<'_, str> {
    if text.contains('\n') {
        text.replace('\n', "␊").into()
    } else {
        text.into()
    }
}

/// What costs of 64 bits stay below.
const LIMIT: f64 = 18_446_744_073_709_551_616.0;

/// A cost as a whole number of 64 bits.
pub(in crate::formats) fn whole(cost: f64, losses: &mut Losses) -> u64 {
    if cost < 0.0 {
        losses.add(NEGATIVE, 1);
        return 0;
    }
    let whole = cost.round();
    losses.add(FRACTIONS, (whole.to_bits() != cost.to_bits()).into());
    // A REAL cannot tell the largest number from the next one.
    losses.add(LARGE, (whole > LIMIT).into());
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative, and saturating"
    )]
    let whole = whole as u64;
    whole
}

/// A cost as a whole number, below 0 too.
pub(in crate::formats) fn signed(cost: f64, losses: &mut Losses) -> i64 {
    losses.add(FRACTIONS, (cost.fract() != 0.0).into());
    saturated(cost.round(), losses)
}

/// 2^63, the first number above those of 64 bits.
const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;

fn saturated(whole: f64, losses: &mut Losses) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "saturating")]
    let saturated = whole as i64;
    // -2^63 fits and 2^63 does not; both are REALs.
    let fits = (-TWO_TO_63..TWO_TO_63).contains(&whole);
    losses.add(LARGE, (!fits).into());
    saturated
}

/// Rounds parts of a whole so that they add up to the rounded whole, and none is below 0 unless it
/// was.
#[derive(Default)]
pub(in crate::formats) struct Parts {
    sum: f64,
    written: i64,
}

impl Parts {
    /// The next part.
    pub(in crate::formats) fn part(&mut self, cost: f64, losses: &mut Losses) -> i64 {
        losses.add(FRACTIONS, (cost.fract() != 0.0).into());
        // Each part is the difference of two rounded sums: parts that are rounded one by one may
        // add up to more than the whole.
        self.sum += cost;
        self.left_of(saturated(self.sum.round(), losses))
    }

    /// What is left of the whole, if all parts have come.
    pub(in crate::formats) fn left_of(&mut self, whole: i64) -> i64 {
        let part = whole.saturating_sub(self.written);
        self.written = whole;
        part
    }
}
