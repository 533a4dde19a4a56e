//! The header of a report: comment lines before its SELECT.
//!
//! ```text
//! -- One sentence that says what the report shows.
//! -- More prose, if needed.
//! -- :name KIND [? | = N]    a parameter; with ? it may be left out, with = N the value it then has
//! -- needs: edges | tree | labels     what the run must know
//! -- about: function         the path names what the report is about
//! -- metrics: all            all metrics can be shown side by side
//! -- times: raw              times as they were measured, without correction for the cost of the timer
//! -- rows: many              as many rows as the run has nodes: they are never kept in memory
//! --> name KIND [is=MEANING] [text] [csv] [xml] [json] [optional] [when=flag]  a column and where it is shown
//! ```
//!
//! A column of tables, CSV or XML says by `is` what it shows; its title there is the renderer's
//! business. Two blanks end the list of a column's or parameter's words; its meaning follows.

use std::borrow::Cow;

use nom::branch::alt;
use nom::bytes::complete::{tag, take_till1, take_while1};
use nom::character::complete::{char, line_ending, not_line_ending, space0, space1};
use nom::combinator::{all_consuming, map, map_opt, opt, rest, value, verify};
use nom::error::{Error, ErrorKind};
use nom::multi::{many0, many1, separated_list1};
use nom::sequence::{delimited, preceded, terminated};
use nom::{IResult, Parser};

pub use crate::text::cell::Kind;

/// What a header says.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each of them is a line of the header that is there or not, whichever others are"
)]
pub struct Header<'a> {
    /// The sentence.
    pub about: &'a str,
    /// The prose after the sentence, line by line.
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
    /// All metrics can be shown side by side.
    pub all_metrics: bool,
    /// Times are shown as they were measured, where that is known.
    pub raw_times: bool,
}

/// The word for groups by the values of a label: `label:` and the key of the label.
pub const LABEL_KEY: &str = "label:KEY";

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
    /// What it shows, if it is shown in tables, CSV or XML; `None` in plain SQL.
    pub shows: Option<Meaning>,
    /// Where it is shown.
    pub media: Vec<Medium>,
    /// Tables, CSV and XML leave it out when it has no value in any row.
    pub optional: bool,
    /// Tables, CSV and XML show it only if this flag is set.
    pub when: Option<&'a str>,
    /// Tables, CSV and XML do not show it if this flag is set.
    pub unless: Option<&'a str>,
    /// Which of the metrics of the answer its costs are of, from 0.
    pub metric: usize,
    /// Its texts are figures, or verdicts, of which no part can be missed: a narrow screen shortens none.
    pub is_whole: bool,
    /// What it means.
    pub meaning: &'a str,
}

impl Column<'_> {
    /// Returns whether a medium has the column. Markdown has the columns of text tables, and those of CSV that identify a
    /// function.
    #[must_use]
    pub fn is_in(&self, medium: Medium) -> bool {
        let has = |medium| self.media.contains(&medium);
        match medium {
            Medium::Markdown => {
                let identifies = matches!(
                    self.shows,
                    Some(Meaning::File | Meaning::FirstLine | Meaning::FunctionId)
                );
                has(Medium::Text) || (has(Medium::Csv) && identifies)
            }
            medium => has(medium),
        }
    }

    /// A column that is shown everywhere under its own name.
    #[must_use]
    pub fn plain(name: String, kind: Kind) -> Self {
        let name: Cow<'_, str> = Cow::Owned(name);
        Self {
            name,
            kind,
            shows: None,
            media: vec![Medium::Text, Medium::Csv, Medium::Xml, Medium::Json],
            optional: false,
            when: None,
            unless: None,
            metric: 0,
            is_whole: false,
            meaning: "",
        }
    }
}

/// Where columns are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium {
    /// Tables for people.
    Text,
    /// Tables for people in Markdown.
    Markdown,
    /// CSV.
    Csv,
    /// XML.
    Xml,
    /// JSON, under the names of the columns.
    Json,
}

/// A medium in which columns have titles. JSON has the names of the columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TitledMedium {
    /// Tables for people.
    Text,
    /// Tables for people in Markdown.
    Markdown,
    /// CSV.
    Csv,
    /// XML.
    Xml,
}

impl TitledMedium {
    /// The medium.
    #[must_use]
    pub fn medium(self) -> Medium {
        match self {
            Self::Text => Medium::Text,
            Self::Markdown => Medium::Markdown,
            Self::Csv => Medium::Csv,
            Self::Xml => Medium::Xml,
        }
    }
}

/// What a column shows, whatever its title is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The selected function, in answers for several ones.
    About,
    /// The function, or function and line, that a row is about.
    Element,
    /// Its line.
    Line,
    /// How deep it lies in a tree.
    Depth,
    /// Its file.
    File,
    /// The line where the definition of its function starts.
    FirstLine,
    /// The number of its function.
    FunctionId,
    /// Its source.
    Code,
    /// Whom it called.
    Callees,
    /// How often it was called.
    Calls,
    /// The cost asked for: cumulative, or exclusive with the flag `exclusive`.
    Cost,
    /// Exclusive cost.
    Exclusive,
    /// Cumulative cost.
    Cumulative,
    /// Exclusive cost beside the cumulative one.
    Own,
    /// Cumulative cost beside the exclusive one.
    Whole,
    /// Cumulative cost with every level of recursion counted.
    Seen,
    /// Exclusive cost beside the cumulative one, in percent.
    OwnPercent,
    /// Cumulative cost beside the exclusive one, in percent.
    WholePercent,
    /// The part of another function's cost that a chain of callers led to.
    Part,
    /// Cost per call.
    Average,
    /// The cost of the row, in percent.
    Percent,
    /// The cost of the row and of all before it, in percent.
    RunningPercent,
    /// Readings of the timer within the exclusive time.
    ExclusiveReadings,
    /// Readings of the timer within the cumulative time.
    CumulativeReadings,
    /// Cost in the runs that others are compared with.
    Base,
    /// Cost in the runs that are compared.
    New,
    /// Cost of new less that of base.
    Delta,
    /// The verdict of a comparison, with its reason.
    Verdict,
    /// Cost before a change.
    Before,
    /// Cost after a change.
    After,
    /// A path from the root.
    Path,
    /// The key of a label.
    Key,
    /// The value of a label.
    Value,
    /// The unit of the value of a label.
    Unit,
}

impl Meaning {
    /// The meanings by their words in headers.
    const ALL: [(&'static str, Self); 32] = [
        ("element", Self::Element),
        ("line", Self::Line),
        ("depth", Self::Depth),
        ("file", Self::File),
        ("first_line", Self::FirstLine),
        ("function_id", Self::FunctionId),
        ("code", Self::Code),
        ("callees", Self::Callees),
        ("calls", Self::Calls),
        ("cost", Self::Cost),
        ("exclusive", Self::Exclusive),
        ("cumulative", Self::Cumulative),
        ("own", Self::Own),
        ("whole", Self::Whole),
        ("seen", Self::Seen),
        ("own_percent", Self::OwnPercent),
        ("whole_percent", Self::WholePercent),
        ("part", Self::Part),
        ("average", Self::Average),
        ("percent", Self::Percent),
        ("running_percent", Self::RunningPercent),
        ("exclusive_readings", Self::ExclusiveReadings),
        ("cumulative_readings", Self::CumulativeReadings),
        ("base", Self::Base),
        ("new", Self::New),
        ("delta", Self::Delta),
        ("before", Self::Before),
        ("after", Self::After),
        ("path", Self::Path),
        ("key", Self::Key),
        ("value", Self::Value),
        ("unit", Self::Unit),
    ];

    fn by_word(word: &str) -> Option<Self> {
        let (_, meaning) = Self::ALL.iter().find(|(known, _)| *known == word)?;
        Some(*meaning)
    }
}

enum Item<'a> {
    Prose(&'a str),
    Parameter(ParameterDef<'a>),
    Needs(Needs),
    ManyRows,
    AboutFunction,
    AllMetrics,
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
        all_metrics: false,
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
            Item::AllMetrics => found.all_metrics = true,
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
        map((space1, tag("metrics: all")), |_| Item::AllMetrics),
        map((space1, tag("times: raw")), |_| Item::RawTimes),
        map(
            // Prose comes last, because it takes any line. What begins as a column or a parameter
            // is refused, so that a mistake in it is reported.
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
        value(Parameter::Label, tag("LABEL")),
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
        Shows(Meaning),
        In(Medium),
        Optional,
        When(&'a str),
        Unless(&'a str),
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
        map(
            map_opt(preceded(tag("is="), word), Meaning::by_word),
            Attribute::Shows,
        ),
        map(medium, Attribute::In),
        map(preceded(tag("when="), word), Attribute::When),
        map(preceded(tag("unless="), word), Attribute::Unless),
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
        shows: None,
        media: Vec::new(),
        optional: false,
        when: None,
        unless: None,
        metric: 0,
        is_whole: false,
        meaning,
    };
    for attribute in attributes {
        match attribute {
            Attribute::Shows(meaning) => column.shows = Some(meaning),
            Attribute::In(medium) => column.media.push(medium),
            Attribute::When(flag) => column.when = Some(flag),
            Attribute::Unless(flag) => column.unless = Some(flag),
            Attribute::Optional => column.optional = true,
        }
    }
    // JSON uses the name; everywhere else the renderer has to know the meaning to find a title.
    let has_title = column.media.iter().any(|medium| *medium != Medium::Json);
    if has_title && column.shows.is_none() {
        return Err(nom::Err::Failure(Error::new(input, ErrorKind::Verify)));
    }
    Ok((input, column))
}

fn word(input: &str) -> IResult<&str, &str> {
    take_while1(|character: char| character.is_ascii_lowercase() || character == '_').parse(input)
}

fn medium(input: &str) -> IResult<&str, Medium> {
    alt((
        value(Medium::Text, tag("text")),
        value(Medium::Csv, tag("csv")),
        value(Medium::Xml, tag("xml")),
        value(Medium::Json, tag("json")),
    ))
    .parse(input)
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
