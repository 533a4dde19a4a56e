//! The grammar of drill-down paths: `A,B` is B somewhere within A, `A>B` is B called by A directly.
//!
//! Names come from strangers' programs and hold everything, operators included (`map<a, b>`, `|>|`,
//! `*FOO*`). So the names that the run knows are tried first: where a known name fits, the longest
//! one is meant. Quotes force a name, and without quotes `*` and `?` in a name that the run does
//! not know fit any text and any character.

use nom::branch::alt;
use nom::bytes::complete::{is_not, take_while};
use nom::character::complete::{char, one_of};
use nom::combinator::{all_consuming, cut, map, recognize, value};
use nom::error::{Error, ErrorKind};
use nom::multi::many0;
use nom::sequence::{delimited, preceded};
use nom::{IResult, Parser};

/// How names in paths are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NameSyntax {
    /// As they are, with `*` and `?` in names that the run does not have.
    #[default]
    Glob,
    /// As regular expressions.
    Regex,
}

/// How a step continues the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `,`: others may lie between.
    Within,
    /// `>`: called directly.
    Direct,
}

/// What a step names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Name {
    /// Functions of exactly this name.
    Exact(String),
    /// Functions whose name fits a glob.
    Pattern(String),
    /// Functions whose name a regular expression fits.
    Regex(String),
    /// The thread of this name, or that ends in it. No text of a path means one: `--thread` does.
    Thread(String),
    /// Functions that were found before, of which a run may have some: a text, and what it means. No text of a path means one.
    Found(String, Vec<i64>),
}

/// A path: a name, and how it goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// Where it starts.
    pub first: Name,
    /// The steps after it.
    pub rest: Vec<(Operator, Name)>,
}

/// Reads a path; `known` says whether the run has a function of that name. With regular
/// expressions, a name is the text between two operators or in quotes.
///
/// # Errors
/// When the text is no path.
pub fn parse(text: &str, syntax: NameSyntax, known: &dyn Fn(&str) -> bool) -> Result<Path, String> {
    let name = |input| match syntax {
        NameSyntax::Glob => name(input, known),
        NameSyntax::Regex => alt((delimited(blanks, quoted, blanks), regex)).parse(input),
    };
    // After an operator there must be a name: without `cut` the operator would be left over, and
    // blamed.
    let step = (operator, cut(name));
    let path = map((name, many0(step)), |(first, rest)| Path { first, rest });
    match all_consuming(path).parse(text) {
        Ok((_, path)) => Ok(path),
        Err(nom::Err::Error(error) | nom::Err::Failure(error)) => {
            let at = text.chars().count() - error.input.chars().count();
            let found = if error.input.is_empty() {
                "the end".to_owned()
            } else {
                format!("\"{}\"", error.input)
            };
            Err(format!(
                "path \"{text}\": expected a name at character {}, found {found}",
                at + 1
            ))
        }
        Err(nom::Err::Incomplete(_)) => Err(format!("path \"{text}\": expected a name")),
    }
}

fn operator(input: &str) -> IResult<&str, Operator> {
    alt((
        value(Operator::Within, char(',')),
        value(Operator::Direct, char('>')),
    ))
    .parse(input)
}

fn name<'a>(input: &'a str, known: &dyn Fn(&str) -> bool) -> IResult<&'a str, Name> {
    alt((
        |input| known_name(input, known),
        // Quotes after the known names: a name of the run may have quotes of its own.
        delimited(blanks, quoted, blanks),
        bare,
    ))
    .parse(input)
}

/// The longest name that the run knows, up to an operator or the end.
fn known_name<'a>(input: &'a str, known: &dyn Fn(&str) -> bool) -> IResult<&'a str, Name> {
    let ends = input
        .match_indices([',', '>'])
        .map(|(at, _)| at)
        .chain([input.len()]);
    let fitting = ends
        // Blanks around operators are the user's, but a name may begin or end with some itself.
        .filter(|&end| known(input[..end].trim()) || known(&input[..end]))
        .last();
    let Some(end) = fitting else {
        return Err(nom::Err::Error(Error::new(input, ErrorKind::Tag)));
    };
    let found = if known(&input[..end]) {
        &input[..end]
    } else {
        input[..end].trim()
    };
    Ok((&input[end..], Name::Exact(found.to_owned())))
}

/// A name in single or double quotes; a quote within is doubled, and a name may be empty.
fn quoted(input: &str) -> IResult<&str, Name> {
    let (_, quote) = one_of("'\"").parse(input)?;
    let other = if quote == '\'' { "'" } else { "\"" };
    let piece = alt((is_not(other), preceded(char(quote), recognize(char(quote)))));
    let (rest, pieces) = delimited(char(quote), many0(piece), char(quote)).parse(input)?;
    Ok((rest, Name::Exact(pieces.concat())))
}

/// A regular expression up to the next operator.
fn regex(input: &str) -> IResult<&str, Name> {
    map(is_not(",>"), |text: &str| {
        Name::Regex(text.trim().to_owned())
    })
    .parse(input)
}

/// A name up to the next operator.
fn bare(input: &str) -> IResult<&str, Name> {
    let (rest, text) = is_not(",>").parse(input)?;
    let text = text.trim();
    if text.is_empty() {
        return Err(nom::Err::Error(Error::new(input, ErrorKind::Tag)));
    }
    let name = if text.contains(['*', '?']) {
        Name::Pattern(text.to_owned())
    } else {
        Name::Exact(text.to_owned())
    };
    Ok((rest, name))
}

fn blanks(input: &str) -> IResult<&str, &str> {
    take_while(|character: char| character == ' ').parse(input)
}
