//! What the values of flags may be.

use std::ffi::OsStr;

use clap::builder::{OsStringValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Command};

use crate::events::Noise;
use crate::formats::export::Export;
use crate::formats::{self, EXPORTS, Format};
use crate::report::Dialect;
use crate::report::header::LABEL_KEY;
use crate::report::render::{Format as OutputFormat, Unit};
use crate::store::{Combination, RunSet, SetError, Tag};
use crate::text::separators::Separators;

/// More decimals than a number has digits.
const MOST_DECIMALS: u8 = 20;

/// Sets the help of a flag from the text of a report header or format option: the first sentence is the short help.
pub(super) fn with_help(flag: Arg, text: &str) -> Arg {
    flag.help(capitalize(short_help(text)))
        .long_help(capitalize(text))
}

/// Returns the first sentence of the help of a flag, without its full stop.
pub(super) fn short_help(text: &str) -> &str {
    text.split_once(". ").map_or(text, |(short, _)| short)
}

/// Returns a text with its first letter in upper case.
fn capitalize(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(characters).collect()
    })
}

/// Reads the name of an input format.
pub(super) fn input_format(name: &str) -> Result<&'static Format, String> {
    let names = || {
        formats::FORMATS
            .iter()
            .map(|format| format.name)
            .collect::<Vec<_>>()
            .join(", ")
    };
    formats::format_named(name).ok_or_else(|| format!("expected {}", names()))
}

/// Reads the name of an output format.
pub(super) fn output_format(name: &str) -> Result<OutputFormat, String> {
    let found = OutputFormat::ALL
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, format)| *format);
    found.ok_or_else(|| {
        format!(
            "expected {}",
            OutputFormat::ALL.map(|(name, _)| name).join(", ")
        )
    })
}

/// Reads a set of runs. Whether it is the name of a file may depend on bytes that are no text.
pub(super) fn run_set() -> impl TypedValueParser<Value = RunSet> {
    OsStringValueParser::new().try_map(|text| RunSet::read(&text))
}

/// Reads how several runs become one.
pub(super) fn combination() -> impl TypedValueParser<Value = Combination> {
    PossibleValuesParser::new(Combination::ALL.map(Combination::name)).map(|name| {
        let mut all = Combination::ALL.into_iter();
        all.find(|known| known.name() == name).unwrap_or_default()
    })
}

/// Reads a tag, an argument of its own, in which nothing needs quotes.
pub(super) fn tag(text: &str) -> Result<Tag, String> {
    match text.split_once('=') {
        // Blanks around the sign are not meant: nothing else tells `commit ` from `commit`.
        Some((key, value)) if !key.trim().is_empty() => Ok(Tag {
            key: key.trim().to_owned(),
            value: value.trim().to_owned(),
        }),
        _ => Err("expected KEY=VALUE".to_owned()),
    }
}

/// Words of other profilers for what rows are sorted by, and what it is called here.
const ORDERS_ELSEWHERE: &[(&str, &[&str])] = &[
    ("calls", &["ncalls", "count"]),
    ("exclusive", &["tottime", "self", "own", "flat"]),
    ("cumulative", &["cumtime", "cum", "total", "inclusive"]),
];

/// Reads one of some words, also by what other profilers call it.
pub(super) fn choice(words: &[&'static str]) -> impl TypedValueParser<Value = String> {
    let others = |word: &str| {
        let known = ORDERS_ELSEWHERE.iter().find(|(own, _)| *own == word);
        known.map_or(&[][..], |(_, others)| *others)
    };
    let values = words
        .iter()
        .map(|word| PossibleValue::new(*word).aliases(others(word).iter().copied()));
    PossibleValuesParser::new(values).map(|given| {
        let known = ORDERS_ELSEWHERE
            .iter()
            .find(|(_, others)| others.contains(&&*given));
        known.map_or(given, |(own, _)| (*own).to_owned())
    })
}

/// Checks a label of samples.
pub(super) fn label(text: &str) -> Result<String, String> {
    let key = text.split('=').next().unwrap_or_default();
    if key.is_empty() {
        return Err("expected KEY=VALUE, or KEY for any value".to_owned());
    }
    Ok(text.to_owned())
}

/// What the user says that figures owe to chance: of one metric, or of all.
#[derive(Clone, Debug)]
pub(super) struct MetricNoise {
    pub(super) metric: Option<String>,
    pub(super) noise: Noise,
}

/// Reads the noise of a metric.
pub(super) fn metric_noise(text: &str) -> Result<MetricNoise, String> {
    let (metric, noise) = match text.rsplit_once('=') {
        Some((metric, noise)) => (Some(metric.to_owned()), noise),
        None => (None, text),
    };
    let expected = || format!("expected {}", Noise::ALL.map(Noise::name).join(", "));
    Ok(MetricNoise {
        metric,
        noise: Noise::by_name(noise).ok_or_else(expected)?,
    })
}

/// Keys of tags, as one argument has them.
#[derive(Clone, Debug)]
pub(super) struct Keys(pub(super) Vec<String>);

/// Reads keys of tags.
pub(super) fn tag_keys(text: &str) -> Result<Keys, SetError> {
    Tag::keys(text).map(Keys)
}

/// What to say of a value that looks like several tags, as a set of runs names them: `c1,branch=main`.
pub(super) fn joined(tags: &[Tag]) -> Option<String> {
    let is_key = |text: &str| {
        let mut letters = text.chars();
        letters.all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.'))
    };
    let is_joined = |tag: &&Tag| {
        let mut rest = tag.value.split(',').skip(1);
        rest.any(
            |part| matches!(part.split_once('='), Some((key, _)) if !key.is_empty() && is_key(key)),
        )
    };
    let Tag { key, value } = tags.iter().find(is_joined)?;
    Some(format!(
        "the value of tag {key} is {value}, including the comma; give each tag its own argument"
    ))
}

/// Two values for the key of one tag, of which one would be lost.
pub(super) fn contradiction(tags: &[Tag]) -> Option<(&Tag, &Tag)> {
    tags.iter().enumerate().find_map(|(at, tag)| {
        let mut before = tags[..at].iter();
        let other = before.find(|other| other.key == tag.key && other.value != tag.value)?;
        Some((other, tag))
    })
}

/// Reads a number of decimals.
pub(super) fn decimals(text: &str) -> Result<u8, String> {
    let decimals = text
        .parse()
        .ok()
        .filter(|decimals| *decimals <= MOST_DECIMALS);
    decimals.ok_or_else(|| format!("expected a number of decimals from 0 to {MOST_DECIMALS}"))
}

/// Reads the name of a unit.
pub(super) fn unit(name: &str) -> Result<Unit, String> {
    Unit::by_name(name).ok_or_else(|| {
        "expected a unit of time (ns, us, ms, s), of memory (B, kB, KiB, MB, MiB, GB, GiB) or of counts (1, k, M)"
            .to_owned()
    })
}

/// Checks a pair of separators; the format that takes the option reads it.
pub(super) fn separators(text: &str) -> Result<String, String> {
    text.parse::<Separators>().map(|_| text.to_owned())
}

/// Checks a percentage; the format that takes the option reads it.
pub(super) fn percentage_text(text: &str) -> Result<String, String> {
    share(text).map(|_| text.to_owned())
}

/// What was written for [`LABEL_KEY`] before runs had tags.
pub(super) const OLD_LABEL_KEY: &str = "tag:";

/// Reads a group: one of these words, or `label:` with the key of a label where `label:KEY` is
/// among them, also in its old form.
#[derive(Clone)]
pub(super) struct Groups(pub(super) Vec<&'static str>);

impl Groups {
    fn words(&self) -> PossibleValuesParser {
        self.0.clone().into()
    }
}

impl TypedValueParser for Groups {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        let key = value.to_str().and_then(|text| {
            let new = text.strip_prefix(LABEL_KEY.trim_end_matches("KEY"));
            new.or_else(|| text.strip_prefix(OLD_LABEL_KEY))
        });
        match key {
            Some(key) if !key.is_empty() && self.0.contains(&LABEL_KEY) => {
                Ok(value.to_string_lossy().into_owned())
            }
            _ => self.words().parse_ref(command, arg, value),
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.0.iter().map(PossibleValue::new)))
    }
}

/// Reads a time in milliseconds, also with APL's minus.
pub(super) fn milliseconds(text: &str) -> Result<f64, String> {
    let number = text
        .replace('¯', "-")
        .parse::<f64>()
        .ok()
        .filter(|number| number.is_finite());
    number.ok_or_else(|| "expected milliseconds, such as 0.0002 or 0".to_owned())
}

/// Reads a whole number.
pub(super) fn count(text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| "expected a whole number, such as 10".to_owned())
}

/// Reads a percentage.
pub(super) fn percentage(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok();
    let number = number.filter(|number| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| "expected a percentage, such as 65 or 0.5".to_owned())
}

/// Reads a percentage that is part of a whole.
pub(super) fn share(text: &str) -> Result<f64, String> {
    let number = percentage(text).ok().filter(|number| *number <= 100.0);
    number.ok_or_else(|| "expected a percentage from 0 to 100, such as 5 or 0.5".to_owned())
}

/// Reads the name of an engine that reads datasets.
pub(super) fn dialect() -> impl TypedValueParser<Value = Dialect> {
    PossibleValuesParser::new(Dialect::ALL.map(|(name, _)| name))
        .map(|name| Dialect::by_name(&name).expect("clap takes the names of the engines only"))
}

/// The word for a dataset among the formats that are read.
pub(super) const DATASET: &str = "dataset";

/// The word for a dataset among the formats that are written.
pub(super) const PARQUET: &str = "parquet";

/// What an import reads.
#[derive(Clone, Copy, Debug)]
pub(super) enum Imported {
    /// Profiles of a format.
    Format(&'static Format),
    /// Datasets.
    Dataset,
}

/// Reads the name of an input format, or the word for datasets.
pub(super) fn imported(name: &str) -> Result<Imported, String> {
    if name == DATASET {
        return Ok(Imported::Dataset);
    }
    let found = input_format(name).map(Imported::Format);
    found.map_err(|expected| format!("{expected}, {DATASET}"))
}

/// What an export writes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Exported {
    /// A file of a format.
    File(&'static Export),
    /// A dataset.
    Dataset,
}

/// Reads the name of a format that is written, or the word for datasets.
pub(super) fn exported() -> impl TypedValueParser<Value = Exported> {
    let values = EXPORTS
        .iter()
        .map(|export| PossibleValue::new(export.name).help(export.summary))
        .chain([PossibleValue::new(PARQUET).help(
            "A dataset of Parquet files for Spark, DuckDB or ClickHouse, in the folder of --out; docs/scale.md explains it",
        )]);
    PossibleValuesParser::new(values)
        .map(|name| formats::export_named(&name).map_or(Exported::Dataset, Exported::File))
}

/// Reads the name of a format that is written.
pub(super) fn export_format() -> impl TypedValueParser<Value = &'static Export> {
    let values = EXPORTS
        .iter()
        .map(|export| PossibleValue::new(export.name).help(export.summary));
    PossibleValuesParser::new(values)
        .map(|name| formats::export_named(&name).expect("clap takes the names of the formats only"))
}

/// Returns a directory as the prefix of the paths below it: without `.` components and without a slash at the end. The
/// prefix of `.` is empty, and that of `/` is `/`.
pub(super) fn directory_prefix(directory: &str) -> String {
    let parts: Vec<&str> = directory
        .split('/')
        .filter(|part| !matches!(*part, "" | "."))
        .collect();
    let root = if directory.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}
