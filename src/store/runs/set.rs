//! Sets of runs, as SET on the command line selects them.
//!
//! | SET | runs |
//! | --- | --- |
//! | `latest` | the run that was imported last |
//! | `3` | the run with number 3; digits are always a number |
//! | `3,4,9` | these three runs; a missing run is an error |
//! | `commit=abc` | the runs whose tag `commit` has the value `abc` |
//! | `commit=9f3a61b` | the runs of a commit that is abbreviated to 7 or more digits; see below |
//! | `commit=abc,host=red` | the runs with both tags |
//! | `branch=main last 10` | the 10 runs with this tag that were imported last |
//! | `last 10` | the 10 runs that were imported last |
//! | `9f3a` | the run whose uid begins with these 4 or more characters; at least one must be a letter |
//! | `'by night'` | runs with this title (without one: this file name), or with a tag of this value |
//! | `run.xml` | a file, if the command reads files and the file exists; otherwise like a name in quotes |
//! | `./3`, `/tmp/latest`, `-` | a file even if its name could be a set; standard input |
//!
//! Runs are in the order of their numbers, which is the order of import or merge. A set without a run ends the command with exit
//! code 4.
//!
//! Reports, exports and pages of a set that has several runs show the sum of the runs, or with `--runs mean` the mean:
//!
//! - Functions match if their identities are equal (table `identities`), and nodes of the call tree if their paths match.
//!   Functions of one name and file that differ in their lines stay apart if one of the runs has all of them.
//! - A run without a function counts as 0. A figure that is unknown in one run is unknown.
//! - A mean is the sum divided by the number of runs. Means of calls are rounded to whole numbers, so `--avg` needs `--runs sum`.
//! - Metrics pair by name, unit and kind (exact, timed, sampled). Others are left out with a message. If the default metric of a run
//!   is among them, the command ends with exit code 4.
//! - If some runs have no call paths or callers, the answer has none.
//! - `--show-sql` and `show` need one run. `serve --run SET` opens with the run that was imported last.
//!
//! An abbreviated commit selects the only commit that begins with it. If several begin with it, the only one of plain hexadecimal digits
//! is selected, and not, for example, `9f3a61b2-dirty`. A tag with exactly this value takes precedence. A word that could be a uid is
//! compared with uids first, then with names, then with commits.
//!
//! Put a key or value in single or double quotes if it contains a blank or a comma, or begins with a quote, as in `host='big, blue'`. Double
//! a quote inside. A key with `=` needs quotes too. A value can be empty (`commit=`). Values are text: `n=3` and `n=03` differ.
//!
//! ```text
//! set    = "latest" | number { "," number } | tag { "," tag } [ "last" number ] | "last" number | uid | quoted | word | file
//! tag    = key "=" value
//! key    = quoted | one or more characters except blanks, commas, = and quotes
//! value  = quoted | any characters except blanks and commas
//! uid    = 4 to 32 of 0-9 and a-f, not only digits
//! quoted = text in single or double quotes
//! word   = text without = that is none of the above
//! file   = ./NAME | ../NAME | /NAME | -
//! ```

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::str::FromStr;

use crate::store::identity::LONGEST_UID;
use nom::branch::alt;
use nom::bytes::complete::{is_not, tag, take_while};
use nom::character::complete::{char, digit1, one_of, space0, space1};
use nom::combinator::{all_consuming, cut, eof, map, map_res, not, opt, peek, recognize, verify};
use nom::error::{ContextError, ErrorKind, ParseError, context};
use nom::multi::{many0, separated_list1};
use nom::sequence::{delimited, preceded, separated_pair, terminated};
use nom::{IResult, Parser};

/// Minimum number of characters of a uid prefix: words that are so short
/// are often made of the letters a to f.
pub(super) const SHORTEST_UID: usize = 4;

/// The key of the tag whose value is a commit.
pub(super) const COMMIT: &str = "commit";

/// Minimum number of hexadecimal digits of a commit prefix.
pub const SHORTEST_COMMIT: usize = 7;

/// The word for the run that was imported last.
const LATEST: &str = "latest";

/// The word before a number of runs that were imported last.
const LAST: &str = "last";

/// The name of standard input.
const STDIN: &str = "-";

/// Which runs are meant: what a user writes where a command takes runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunSet {
    /// The run that was imported last.
    Latest,
    /// Runs by their numbers.
    Numbers(BTreeSet<i64>),
    /// Runs with all of these tags.
    Tagged {
        /// What the runs must be tagged with, each key once. There is none in `last 10`.
        tags: Vec<Tag>,
        /// Only so many, those that were imported last.
        last: Option<usize>,
    },
    /// Runs whose uid begins so; if there are none, as [`Self::Name`].
    Uid(String),
    /// Runs with this title, without a title whose file has this name, or with a tag of this value.
    Name(String),
    /// The file of this name, where a command reads files and there is one; else as
    /// [`Self::Name`].
    Word(String),
    /// A file, whatever the database has.
    File(PathBuf),
}

/// A tag of a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tag {
    /// What is said: `commit`.
    pub key: String,
    /// What is said of it; may be empty.
    pub value: String,
}

/// Why a text is no set of runs: what was expected at which character.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("character {at}: expected {expected}, found {found}{hint}")]
pub struct SetError {
    expected: String,
    /// From 1.
    at: usize,
    found: String,
    hint: String,
}

impl SetError {
    /// What was expected.
    #[must_use]
    pub fn expected(&self) -> &str {
        &self.expected
    }

    /// At which character, from 1.
    #[must_use]
    pub fn at(&self) -> usize {
        self.at
    }
}

impl RunSet {
    /// Reads what the user has written. A text that is not UTF-8 can only be the name of a file.
    ///
    /// # Errors
    /// When the text is no set, with the place where it ceases to be one.
    pub fn read(text: &OsStr) -> Result<Self, SetError> {
        match text.to_str() {
            Some(text) => text.parse(),
            None => Ok(Self::File(text.into())),
        }
    }
}

impl Tag {
    /// Reads keys of tags, separated by commas: `branch,host`.
    ///
    /// # Errors
    /// When the text is no such list, with the place where it ceases to be one.
    pub fn keys(text: &str) -> Result<Vec<String>, SetError> {
        let keys = separated_list1(comma, context("the key of a tag", cut(key)));
        let mut keys = all_consuming(delimited(
            space0,
            keys,
            context("a comma or the end", space0),
        ));
        let found = keys.parse(text);
        found
            .map(|(_, keys)| keys)
            .map_err(|error| refused(text, &error))
    }
}

impl FromStr for RunSet {
    type Err = SetError;

    fn from_str(text: &str) -> Result<Self, SetError> {
        // A blank at the end may belong to a path; before a path, or after a mere dot, it cannot.
        for text in [text, text.trim_matches(BLANKS)] {
            if is_file(text) {
                return Ok(Self::File(text.into()));
            }
        }
        let found = all_consuming(delimited(space0, set, space0)).parse(text);
        found.map(|(_, set)| set).map_err(|error| {
            let mut error = refused(text, &error);
            // `last 0` is the start of a set, whatever comes after it.
            let is_of_last = text.trim_start().starts_with("last ");
            if !text.trim().is_empty() && !text.contains(QUOTES) && !is_of_last {
                error.hint = format!("; a file of this name is ./{text}");
            }
            error
        })
    }
}

impl fmt::Display for RunSet {
    /// As it can be read again.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Latest => f.write_str(LATEST),
            Self::Numbers(numbers) => {
                let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
                f.write_str(&numbers.join(","))
            }
            Self::Tagged { tags, last } => {
                let tags: Vec<String> = tags.iter().map(ToString::to_string).collect();
                f.write_str(&tags.join(","))?;
                match last {
                    Some(last) if tags.is_empty() => write!(f, "{LAST} {last}"),
                    Some(last) => write!(f, " {LAST} {last}"),
                    None => Ok(()),
                }
            }
            Self::Name(name) => write!(f, "\"{}\"", name.replace('"', "\"\"")),
            Self::Uid(text) | Self::Word(text) => f.write_str(text),
            Self::File(path) => write!(f, "{}", path.display()),
        }
    }
}

impl fmt::Display for Tag {
    /// As a set has it: in quotes where it needs them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |text: &str, is_bare: bool| {
            if is_bare {
                text.to_owned()
            } else {
                format!("\"{}\"", text.replace('"', "\"\""))
            }
        };
        let Self { key, value } = self;
        let is_bare_key =
            !key.is_empty() && !key.contains(NOT_IN_KEYS) && !is_file(&format!("{key}="));
        let is_bare_value = !value.contains(NOT_IN_VALUES) && !value.starts_with(QUOTES);
        write!(
            f,
            "{}={}",
            quoted(key, is_bare_key),
            quoted(value, is_bare_value)
        )
    }
}

/// Characters before and after a set that are passed over.
const BLANKS: [char; 2] = [' ', '\t'];

const QUOTES: [char; 2] = ['\'', '"'];

/// Characters that end a key without quotes, or that it cannot have.
const NOT_IN_KEYS: [char; 6] = [' ', '\t', ',', '=', '\'', '"'];

/// Characters that end a value without quotes.
const NOT_IN_VALUES: [char; 3] = [' ', '\t', ','];

/// Whether the text can only be the name of a file.
fn is_file(text: &str) -> bool {
    let first = Path::new(text).components().next();
    text == STDIN
        || matches!(
            first,
            Some(
                Component::CurDir
                    | Component::ParentDir
                    | Component::RootDir
                    | Component::Prefix(_)
            )
        )
}

/// What was expected, and what is left of the text there.
#[derive(Debug)]
struct Expected<'i> {
    rest: &'i str,
    what: &'static str,
}

impl<'i> ParseError<&'i str> for Expected<'i> {
    fn from_error_kind(rest: &'i str, _: ErrorKind) -> Self {
        Self { rest, what: "" }
    }

    fn append(_: &'i str, _: ErrorKind, other: Self) -> Self {
        other
    }
}

impl<'i> ContextError<&'i str> for Expected<'i> {
    /// The innermost says most.
    fn add_context(_: &'i str, what: &'static str, other: Self) -> Self {
        if other.what.is_empty() {
            Self { what, ..other }
        } else {
            other
        }
    }
}

impl<'i, E> nom::error::FromExternalError<&'i str, E> for Expected<'i> {
    fn from_external_error(rest: &'i str, _: ErrorKind, _: E) -> Self {
        Self { rest, what: "" }
    }
}

type Parsed<'i, T> = IResult<&'i str, T, Expected<'i>>;

fn refused(text: &str, error: &nom::Err<Expected<'_>>) -> SetError {
    let (nom::Err::Error(Expected { rest, what }) | nom::Err::Failure(Expected { rest, what })) =
        error
    else {
        unreachable!("the text is complete")
    };
    SetError {
        expected: if what.is_empty() { "the end" } else { what }.to_owned(),
        at: text.chars().count() - rest.chars().count() + 1,
        found: if rest.is_empty() {
            "the end".to_owned()
        } else {
            format!("\"{rest}\"")
        },
        hint: String::new(),
    }
}

fn set(input: &str) -> Parsed<'_, RunSet> {
    let ends = || peek((space0, eof));
    alt((
        map(terminated(tag(LATEST), ends()), |_| RunSet::Latest),
        numbers,
        map(
            // `last night` is a word.
            preceded(peek((tag(LAST), space1, digit1, ends())), cut(last)),
            |last| RunSet::Tagged {
                tags: Vec::new(),
                last: Some(last),
            },
        ),
        tagged,
        map(terminated(quoted, ends()), RunSet::Name),
        word,
    ))
    .parse(input)
}

fn numbers(input: &str) -> Parsed<'_, RunSet> {
    // `2026.folded` is a word: what follows the first number decides.
    let (_, _) = peek((digit1, alt((recognize(comma), recognize((space0, eof)))))).parse(input)?;
    let more = many0(preceded(comma, cut(number)));
    let (rest, (first, more)) = (cut(number), more).parse(input)?;
    let (rest, _) = cut(context("a comma or the end", peek((space0, eof)))).parse(rest)?;
    let numbers = more.into_iter().chain([first]).collect();
    Ok((rest, RunSet::Numbers(numbers)))
}

fn number(input: &str) -> Parsed<'_, i64> {
    context("the number of a run", map_res(digit1, str::parse)).parse(input)
}

/// `last 10`.
fn last(input: &str) -> Parsed<'_, usize> {
    let count = verify(map_res(digit1, str::parse), |count| *count > 0);
    preceded((tag(LAST), space1), context("a number of runs", count)).parse(input)
}

fn tagged(input: &str) -> Parsed<'_, RunSet> {
    // Once there is a key and `=`, nothing else can be meant.
    let (_, _) = peek((key, char('='))).parse(input)?;
    let mut tags: Vec<Tag> = Vec::new();
    let mut rest = input;
    loop {
        let (after, (key, value)) = cut(separated_pair(
            context("KEY=VALUE", key),
            context(
                "KEY=VALUE, and a key with a blank or comma in quotes",
                char('='),
            ),
            value,
        ))
        .parse(rest)?;
        if tags.iter().any(|tag| tag.key == key) {
            let what = "one value for each key";
            return Err(nom::Err::Failure(Expected { rest, what }));
        }
        tags.push(Tag { key, value });
        let (after, comma) = opt(comma).parse(after)?;
        rest = after;
        if comma.is_none() {
            break;
        }
    }
    let (rest, last) = opt(preceded(
        space1,
        preceded(peek((tag(LAST), space1)), cut(last)),
    ))
    .parse(rest)?;
    let what = if last.is_some() {
        "the end"
    } else {
        "a comma, `last` and a number, or the end, and a value with a blank or comma in quotes"
    };
    let end = peek((space0, eof)).parse(rest);
    let (rest, _) = end.map_err(|_: nom::Err<Expected<'_>>| {
        let rest = rest.trim_start();
        nom::Err::Failure(Expected { rest, what })
    })?;
    Ok((rest, RunSet::Tagged { tags, last }))
}

fn comma(input: &str) -> Parsed<'_, char> {
    delimited(space0, char(','), space0).parse(input)
}

fn key(input: &str) -> Parsed<'_, String> {
    let bare = map(
        take_while(|character| !NOT_IN_KEYS.contains(&character)),
        str::to_owned,
    );
    alt((quoted, verify(bare, |key: &String| !key.is_empty()))).parse(input)
}

fn value(input: &str) -> Parsed<'_, String> {
    let bare = take_while(|character| !NOT_IN_VALUES.contains(&character));
    alt((
        preceded(
            peek(one_of("'\"")),
            cut(context("a text with a closing quote", quoted)),
        ),
        map(bare, str::to_owned),
    ))
    .parse(input)
}

/// A text in single or double quotes; a quote within is doubled.
fn quoted(input: &str) -> Parsed<'_, String> {
    let (_, quote) = one_of("'\"").parse(input)?;
    let other = if quote == '\'' { "'" } else { "\"" };
    let piece = alt((is_not(other), preceded(char(quote), recognize(char(quote)))));
    let (rest, pieces) = delimited(char(quote), many0(piece), char(quote)).parse(input)?;
    Ok((rest, pieces.concat()))
}

/// What is left: a uid, or a word. A word with `=` would be taken for a tag by its reader.
fn word(input: &str) -> Parsed<'_, RunSet> {
    let (at, _) = take_while(|character| character != '=').parse(input)?;
    if !at.is_empty() {
        let what = "a key before it, in quotes if it has a blank or comma";
        return Err(nom::Err::Failure(Expected { rest: at, what }));
    }
    let (_, ()) = context(
        "which runs: `latest`, 3, KEY=VALUE, a uid or a file",
        not((space0, eof)),
    )
    .parse(input)?;
    let text = input.trim_end_matches(BLANKS);
    let is_uid = is_start_of_uid(text);
    let text = text.to_owned();
    let set = if is_uid {
        RunSet::Uid(text)
    } else {
        RunSet::Word(text)
    };
    Ok(("", set))
}

/// The forms of a set, for messages.
pub(super) const FORMS: &str = "a set of runs is `latest`, `3`, `1,2,3`, `last 20`, `branch=main`, `branch=main last 20`, a uid or a title";

/// Returns whether a text is a range of numbers such as `1-3` or `1..3`, which a set cannot have.
#[must_use]
pub fn is_range(text: &str) -> bool {
    let separators = ["-", "..", ":"];
    let mut splits = separators
        .iter()
        .filter_map(|separator| text.split_once(separator));
    splits.any(|(first, last)| {
        let is_number =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number(first) && is_number(last)
    })
}

/// Whether a text is taken for the start of a uid, where it is no number.
pub(super) fn is_start_of_uid(text: &str) -> bool {
    (SHORTEST_UID..=LONGEST_UID).contains(&text.len()) && has_letters_of_uids(text)
}

/// Whether a text is too short to be taken for the start of a uid, and nothing else is wrong with it.
pub(super) fn is_short_start_of_uid(text: &str) -> bool {
    text.len() < SHORTEST_UID && has_letters_of_uids(text)
}

/// Whether a text is enough of a commit to mean it: 7 hexadecimal digits or more.
#[must_use]
pub fn is_start_of_commit(text: &str) -> bool {
    text.len() >= SHORTEST_COMMIT && has_letters_of_uids(text)
}

/// Whether a text is hexadecimal throughout, as uids and commits are.
pub(super) fn has_letters_of_uids(text: &str) -> bool {
    let is_of_uids = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    text.bytes().all(is_of_uids)
}
