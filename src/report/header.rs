//! The header of a report: comment lines before its SELECT.
//!
//! ```text
//! -- One sentence that says what the report shows.
//! -- More prose, if needed.
//! -- :name KIND [? | = N]    a parameter; with ? it may be left out, with = N the value it then has
//! -- needs: edges | tree | labels     what the run must know
//! -- about: function         the path names what the report is about
//! -- times: raw              times as they were measured, without correction for the cost of the timer
//! -- rows: many              as many rows as the run has nodes: they are never kept in memory
//! --> name KIND [text=TITLE] [csv=TITLE] [xml=TITLE] [json] [optional] [when=flag]  a column and where it is shown
//! ```
//!
//! Two blanks end the list of a column's or parameter's words; its meaning follows.

use std::borrow::Cow;

use nom::branch::alt;
use nom::bytes::complete::{tag, take_till1, take_while1};
use nom::character::complete::{char, line_ending, not_line_ending, space0, space1};
use nom::combinator::{all_consuming, map, opt, rest, value, verify};
use nom::multi::{many0, many1, separated_list1};
use nom::sequence::{delimited, preceded, terminated};
use nom::{IResult, Parser};

pub use crate::text::cell::Kind;

/// What a header says.
#[derive(Clone, Debug, PartialEq)]
pub struct Header<'a> {
    /// The sentence.
    pub about: &'a str,
    /// Prose behind the sentence, line by line.
    pub prose: Vec<&'a str>,
    /// The parameters in order.
    pub parameters: Vec<ParameterDef<'a>>,
    /// The columns in order.
    pub columns: Vec<Column<'a>>,
    /// What the run must know.
    pub needs: Needs,
    /// The rows may be as many as the nodes of the run.
    pub many_rows: bool,
    /// The path names the function that the report is about, not what to look at.
    pub about_function: bool,
    /// Times are shown as they were measured, where that is known.
    pub raw_times: bool,
}

/// The word for groups by the values of a label: `tag:` and the key of the label.
pub const LABEL_KEY: &str = "tag:KEY";

/// What a report needs of its run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Needs {
    /// Totals are enough.
    #[default]
    Nothing,
    /// Who called whom.
    Edges,
    /// Paths.
    Tree,
    /// Labels of samples.
    Labels,
}

impl Needs {
    /// Whether totals of functions are not enough.
    pub(super) fn paths(self) -> bool {
        matches!(self, Self::Tree | Self::Labels)
    }
}

/// A parameter of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterDef<'a> {
    /// Its name in the SELECT and, if it is the user's to give, of its flag.
    pub name: &'a str,
    /// What it takes.
    pub kind: Parameter<'a>,
    /// It may be left out.
    pub optional: bool,
    /// What it is when left out.
    pub default: Option<&'a str>,
    /// What it means.
    pub meaning: &'a str,
}

/// What a parameter takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parameter<'a> {
    /// A flag.
    Flag,
    /// A flag that asks the report of this name instead.
    Variant(&'a str),
    /// A whole number.
    Count,
    /// A percentage.
    Percentage,
    /// One of these words.
    Choice(Vec<&'a str>),
    /// What is counted as one: functions, or groups of them.
    Groups(Vec<&'a str>),
    /// A regular expression for names of functions.
    Filter,
    /// A drill-down path.
    Path,
    /// The name of a thread.
    Thread,
    /// A label of samples; may be given several times.
    Label,
}

/// A column of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column<'a> {
    /// Its name in the SELECT and in JSON.
    pub name: Cow<'a, str>,
    /// What its values are.
    pub kind: Kind,
    /// Its title in text, if it is shown there; `@` stands for the unit.
    pub text: Option<Cow<'a, str>>,
    /// Its title in CSV, if it is shown there.
    pub csv: Option<Cow<'a, str>>,
    /// Its element in XML, if it is shown there.
    pub xml: Option<Cow<'a, str>>,
    /// It is part of JSON.
    pub json: bool,
    /// Tables, CSV and XML leave it out when it has no value in any row.
    pub optional: bool,
    /// Tables, CSV and XML show it only if this flag is set.
    pub when: Option<&'a str>,
    /// What it means.
    pub meaning: &'a str,
}

impl Column<'_> {
    /// A column that is shown everywhere under its own name.
    #[must_use]
    pub fn plain(name: String, kind: Kind) -> Self {
        let name: Cow<'_, str> = Cow::Owned(name);
        let title = Some(name.clone());
        Self {
            name,
            kind,
            text: title.clone(),
            csv: title.clone(),
            xml: title,
            json: true,
            optional: false,
            when: None,
            meaning: "",
        }
    }
}

enum Item<'a> {
    Prose(&'a str),
    Parameter(ParameterDef<'a>),
    Needs(Needs),
    ManyRows,
    AboutFunction,
    RawTimes,
    Column(Column<'a>),
}

/// Reads the header of a report.
///
/// # Errors
/// With the line that is not understood.
pub fn parse(sql: &str) -> Result<Header<'_>, String> {
    let (_, lines) = header(sql).map_err(|error| error.to_string())?;
    let mut found = Header {
        about: "",
        prose: Vec::new(),
        parameters: Vec::new(),
        columns: Vec::new(),
        needs: Needs::Nothing,
        many_rows: false,
        about_function: false,
        raw_times: false,
    };
    for line in lines {
        let (_, item) = all_consuming(item)
            .parse(line)
            .map_err(|_| format!("not understood: --{line}"))?;
        match item {
            Item::Prose(text) if found.about.is_empty() => found.about = text,
            Item::Prose("") => {}
            Item::Prose(text) => found.prose.push(text),
            Item::Parameter(parameter) => found.parameters.push(parameter),
            Item::Needs(needs) => found.needs = needs,
            Item::ManyRows => found.many_rows = true,
            Item::AboutFunction => found.about_function = true,
            Item::RawTimes => found.raw_times = true,
            Item::Column(column) => found.columns.push(column),
        }
    }
    if found.about.is_empty() || found.columns.is_empty() {
        return Err("expected a sentence and columns".to_owned());
    }
    Ok(found)
}

/// The comment lines at the top, without their dashes.
fn header(sql: &str) -> IResult<&str, Vec<&str>> {
    many1(delimited(tag("--"), not_line_ending, line_ending)).parse(sql)
}

fn item(line: &str) -> IResult<&str, Item<'_>> {
    alt((
        map(preceded((char('>'), space1), column), Item::Column),
        map(preceded((space1, char(':')), parameter), Item::Parameter),
        map(preceded((space1, tag("needs: ")), needs), Item::Needs),
        map((space1, tag("rows: many")), |_| Item::ManyRows),
        map((space1, tag("about: function")), |_| Item::AboutFunction),
        map((space1, tag("times: raw")), |_| Item::RawTimes),
        map(
            verify(rest, |text: &str| {
                !text.starts_with('>') && !text.trim_start().starts_with(':')
            }),
            |text: &str| Item::Prose(text.trim()),
        ),
    ))
    .parse(line)
}

fn needs(input: &str) -> IResult<&str, Needs> {
    let labels = value(Needs::Labels, tag("labels"));
    alt((
        value(Needs::Edges, tag("edges")),
        value(Needs::Tree, tag("tree")),
        labels,
    ))
    .parse(input)
}

fn parameter(input: &str) -> IResult<&str, ParameterDef<'_>> {
    let kind = alt((
        value(Parameter::Flag, tag("FLAG")),
        value(Parameter::Count, tag("COUNT")),
        value(Parameter::Percentage, tag("PERCENTAGE")),
        value(Parameter::Path, tag("PATH")),
        value(Parameter::Thread, tag("THREAD")),
        value(Parameter::Label, tag("TAG")),
        value(Parameter::Filter, tag("FILTER")),
        map(
            preceded((tag("CHOICE"), space1), separated_list1(char('|'), word)),
            Parameter::Choice,
        ),
        map(
            preceded((tag("GROUPS"), space1), separated_list1(char('|'), group)),
            Parameter::Groups,
        ),
        map(preceded((tag("VARIANT"), space1), word), Parameter::Variant),
    ));
    let default = preceded((char(' '), char('='), char(' ')), title);
    let (input, (name, _, kind, optional, default, meaning)) = (
        word,
        space1,
        kind,
        opt((space1, char('?'))),
        opt(default),
        meaning,
    )
        .parse(input)?;
    Ok((
        input,
        ParameterDef {
            name,
            kind,
            optional: optional.is_some() || default.is_some(),
            default,
            meaning,
        },
    ))
}

fn column(input: &str) -> IResult<&str, Column<'_>> {
    enum Attribute<'a> {
        Text(&'a str),
        Csv(&'a str),
        Xml(&'a str),
        Json,
        Optional,
        When(&'a str),
    }
    let kind = alt((
        value(Kind::Name, tag("NAME")),
        value(Kind::Node, tag("NODE")),
        value(Kind::Text, tag("TEXT")),
        value(Kind::Line, tag("LINE")),
        value(Kind::Count, tag("COUNT")),
        value(Kind::Cost, tag("COST")),
        value(Kind::Raw, tag("RAW")),
        value(Kind::Percent, tag("PERCENT")),
    ));
    let attribute = alt((
        map(preceded(tag("text="), title), Attribute::Text),
        map(preceded(tag("csv="), title), Attribute::Csv),
        map(preceded(tag("xml="), title), Attribute::Xml),
        map(preceded(tag("when="), word), Attribute::When),
        map(tag("json"), |_| Attribute::Json),
        map(tag("optional"), |_| Attribute::Optional),
    ));
    let (input, (name, _, kind, attributes, meaning)) = (
        word,
        space1,
        kind,
        many0(preceded(char(' '), attribute)),
        meaning,
    )
        .parse(input)?;
    let mut column = Column {
        name: name.into(),
        kind,
        text: None,
        csv: None,
        xml: None,
        json: false,
        optional: false,
        when: None,
        meaning,
    };
    for attribute in attributes {
        match attribute {
            Attribute::Text(title) => column.text = Some(title.into()),
            Attribute::Csv(title) => column.csv = Some(title.into()),
            Attribute::Xml(title) => column.xml = Some(title.into()),
            Attribute::When(flag) => column.when = Some(flag),
            Attribute::Json => column.json = true,
            Attribute::Optional => column.optional = true,
        }
    }
    Ok((input, column))
}

fn word(input: &str) -> IResult<&str, &str> {
    take_while1(|character: char| character.is_ascii_lowercase() || character == '_').parse(input)
}

/// A word, or the key of a label.
fn group(input: &str) -> IResult<&str, &str> {
    alt((tag(LABEL_KEY), word)).parse(input)
}

fn title(input: &str) -> IResult<&str, &str> {
    take_till1(|character: char| character == ' ').parse(input)
}

fn meaning(input: &str) -> IResult<&str, &str> {
    preceded(terminated(tag("  "), space0), rest).parse(input)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_understood_line_by_line() {
        let sql = "-- What it shows.\n--\n-- :first COUNT ?  rows\n-- :lines VARIANT other  by line\n\
                   -- :depth COUNT = 20  levels\n-- :by CHOICE function|file ?  rows of what\n-- needs: tree\n\
                   --> shown COST text=@ csv=Time xml=Time json optional when=lines  the cost\nSELECT 1;\n";
        let header = parse(sql).expect("a header");
        assert_eq!(header.about, "What it shows.");
        assert_eq!(header.needs, Needs::Tree);
        assert!(!header.many_rows);
        let [first, lines, depth, by] = header.parameters.as_slice() else {
            panic!("{:?}", header.parameters)
        };
        assert_eq!(
            (first.name, &first.kind, first.optional, first.meaning),
            ("first", &Parameter::Count, true, "rows")
        );
        assert_eq!(
            (&lines.kind, lines.optional),
            (&Parameter::Variant("other"), false)
        );
        assert_eq!((depth.default, depth.optional), (Some("20"), true));
        assert_eq!(
            (&by.kind, by.default),
            (&Parameter::Choice(vec!["function", "file"]), None)
        );
        let [shown] = header.columns.as_slice() else {
            panic!("{:?}", header.columns)
        };
        assert_eq!(
            (shown.text.as_deref(), shown.csv.as_deref()),
            (Some("@"), Some("Time"))
        );
        assert_eq!(
            (shown.xml.as_deref(), shown.when),
            (Some("Time"), Some("lines"))
        );
        assert!(shown.json && shown.optional);
        assert_eq!(shown.meaning, "the cost");
    }

    #[test]
    fn a_line_that_is_not_understood_is_named() {
        let table = [
            (
                "-- About.\n-- :first NUMBER  rows\nSELECT 1;",
                "first NUMBER",
            ),
            (
                "-- About.\n--> shown COST bold  the cost\nSELECT 1;",
                "bold",
            ),
            ("-- About.\nSELECT 1;", "columns"),
        ];
        for (sql, named) in table {
            let error = parse(sql).expect_err("not a header");
            assert!(error.contains(named), "{error}");
        }
    }
}
