//! The words that a budget is made of, and what is said of one that is none.

use nom::branch::alt;
use nom::bytes::complete::{is_not, take_while, take_while1};
use nom::character::complete::{char, one_of};
use nom::combinator::recognize;
use nom::multi::many0;
use nom::sequence::{delimited, preceded};
use nom::{IResult, Parser};

use super::budget::{BudgetError, Place};
use crate::text::nearest::suggestion;
use crate::text::scale::Unit;

/// The options of a rule, and what joins its limits.
pub(super) const OPTIONS: &[&str] = &["or", "cumulative", "metric", "unless", "base"];

/// What was expected, what is left of the line there, and words that may be meant.
#[derive(Debug)]
pub(super) struct Expected<'i> {
    pub(super) rest: &'i str,
    what: String,
    words: &'static [&'static str],
}

impl<'i> nom::error::ParseError<&'i str> for Expected<'i> {
    fn from_error_kind(rest: &'i str, _: nom::error::ErrorKind) -> Self {
        Self {
            rest,
            what: String::new(),
            words: &[],
        }
    }

    fn append(_: &'i str, _: nom::error::ErrorKind, other: Self) -> Self {
        other
    }
}

pub(super) type Parsed<'i, T> = IResult<&'i str, T, Expected<'i>>;

pub(super) fn expected<T>(rest: &str, what: impl Into<String>) -> Parsed<'_, T> {
    wrong(rest, what, &[])
}

pub(super) fn wrong<'i, T>(
    rest: &'i str,
    what: impl Into<String>,
    words: &'static [&'static str],
) -> Parsed<'i, T> {
    Err(nom::Err::Failure(Expected {
        rest,
        what: what.into(),
        words,
    }))
}

/// The place where a part of a line begins.
pub(super) fn place_of(line: &str, number: usize, rest: &str) -> Place {
    let before = &line[..line.len() - rest.len()];
    Place {
        line: number,
        column: 1 + before.chars().count(),
    }
}

/// Most characters of a line that a message repeats.
const SHOWN: usize = 40;

pub(super) fn refused(line: &str, number: usize, error: &nom::Err<Expected<'_>>) -> BudgetError {
    let (nom::Err::Error(Expected { rest, what, words })
    | nom::Err::Failure(Expected { rest, what, words })) = error
    else {
        unreachable!("a line is complete")
    };
    let left = rest.trim_end();
    let found = if left.is_empty() {
        "the end of the line".to_owned()
    } else if left.chars().count() > SHOWN {
        format!("\"{}…\"", left.chars().take(SHOWN).collect::<String>())
    } else {
        format!("\"{left}\"")
    };
    let word = rest
        .split(|letter: char| !letter.is_alphanumeric())
        .next()
        .unwrap_or_default();
    let near = if word.is_empty() {
        String::new()
    } else {
        let words = words.iter().map(ToString::to_string).collect();
        suggestion("; did you mean ", word, words)
    };
    BudgetError {
        place: place_of(line, number, rest),
        message: format!("expected {what}, found {found}{near}"),
    }
}

pub(super) fn is_blank(letter: char) -> bool {
    matches!(letter, ' ' | '\t')
}

pub(super) fn blanks(input: &str) -> Parsed<'_, &str> {
    take_while(is_blank).parse(input)
}

/// The end of what a line says.
pub(super) fn is_end(input: &str) -> bool {
    input.is_empty() || input.starts_with('#')
}

/// A word of letters, digits and what names of metrics have besides.
pub(super) fn word(input: &str) -> Parsed<'_, &str> {
    take_while1(|letter: char| !is_blank(letter) && !"#<='\"".contains(letter)).parse(input)
}

/// The text before a comment, which may have `#` in quotes.
pub(super) fn up_to_comment(input: &str) -> (&str, &str) {
    let mut quote = None;
    for (at, letter) in input.char_indices() {
        match (quote, letter) {
            (None, '#') => return (&input[at..], &input[..at]),
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), letter) if letter == open => quote = None,
            _ => {}
        }
    }
    ("", input)
}

/// A text with one blank for several, but not in quotes.
pub(super) fn single(text: &str) -> String {
    let (mut single, mut quote) = (String::new(), None);
    for letter in text.trim().chars() {
        match quote {
            None if is_blank(letter) => {
                if !single.ends_with(' ') {
                    single.push(' ');
                }
                continue;
            }
            None if matches!(letter, '\'' | '"') => quote = Some(letter),
            Some(open) if letter == open => quote = None,
            _ => {}
        }
        single.push(letter);
    }
    single
}

/// A text in quotes, and which quotes; a quote within is doubled.
pub(super) fn quoted(input: &str) -> Parsed<'_, (String, char)> {
    let (_, quote) = one_of("'\"").parse(input)?;
    let other = if quote == '\'' { "'" } else { "\"" };
    let piece = alt((is_not(other), preceded(char(quote), recognize(char(quote)))));
    let (rest, pieces) = delimited(char(quote), many0(piece), char(quote)).parse(input)?;
    Ok((rest, (pieces.concat(), quote)))
}

/// A number without sign, such as `0.2`.
pub(super) fn number(input: &str) -> Parsed<'_, f64> {
    let what = "a number, such as 5 or 0.2";
    let (rest, text) =
        take_while(|letter: char| letter.is_ascii_digit() || letter == '.').parse(input)?;
    if rest.starts_with(',') {
        return expected(rest, "a decimal point, or the end of the number");
    }
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok((rest, number)),
        _ => expected(input, what),
    }
}

/// The units, but `1`, which is a number here.
pub(super) const UNITS: &[&str] = &[
    "ns", "us", "ms", "s", "B", "kB", "KiB", "MB", "MiB", "GB", "GiB", "k", "M",
];

/// A unit after a number; `None` where there is none.
pub(super) fn unit(input: &str) -> Parsed<'_, Option<Unit>> {
    let (start, _) = blanks(input)?;
    let letters = take_while1::<_, _, Expected<'_>>(|letter: char| letter.is_alphabetic());
    let Ok((rest, name)) = { letters }.parse(start) else {
        return Ok((input, None));
    };
    // As reports have them.
    let usual = match name {
        "msec" => "ms",
        "bytes" => "B",
        name => name,
    };
    match Unit::by_name(usual) {
        Some(unit) => Ok((rest, Some(unit))),
        None if OPTIONS.contains(&name) => Ok((input, None)),
        None => wrong(
            start,
            format!(
                "a unit ({}), `%`, or an option ({})",
                UNITS.join(", "),
                OPTIONS.join(", ")
            ),
            UNITS,
        ),
    }
}
