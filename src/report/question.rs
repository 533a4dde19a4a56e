//! What a report is asked for: what the user has given for its parameters, and the parameters that
//! all reports have.

use super::error::ReportError;
use super::header::{Header, LABEL_KEY, Parameter};
use super::path::NameSyntax;
use crate::events;

/// The question that a report answers.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The metric; the run's default one if `None`.
    pub metric: Option<String>,
    /// What one reading of the timer is taken to cost, in ms; as stored if `None`.
    pub bias: Option<f64>,
    /// What is 100 %.
    pub base: Base,
    /// How names in paths are read.
    pub names: NameSyntax,
    /// Values of the report's own parameters, by name.
    pub arguments: Vec<(String, Argument)>,
}

/// What percentages are of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Base {
    /// The whole run.
    #[default]
    Total,
    /// What is selected.
    Selection,
}

/// What is counted as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Groups<'r> {
    Functions,
    Modules,
    Files,
    /// Threads or processes.
    Containers(events::Kind),
    /// The values of a label.
    Label(&'r str),
}

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A flag that is set.
    Flag,
    /// A number of rows.
    Count(u64),
    /// A percentage.
    Number(f64),
    /// A drill-down path, the name of a thread, a label, a word.
    Text(String),
}

impl Request {
    pub(super) fn argument(&self, name: &str) -> Option<&Argument> {
        self.arguments
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value)
    }

    /// The text given for a parameter.
    pub(super) fn text_of(&self, name: &str) -> Option<&str> {
        match self.argument(name) {
            Some(Argument::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// The whole number given for a parameter, or its default.
    pub(super) fn number_of(&self, header: &Header<'_>, name: &str) -> Option<u64> {
        match self.argument(name) {
            Some(Argument::Count(count)) => Some(*count),
            _ => header
                .parameters
                .iter()
                .find(|parameter| parameter.name == name)?
                .default?
                .parse()
                .ok(),
        }
    }

    /// The labels that samples must have, as far as the report looks at them: keys, and values
    /// unless any will do.
    pub(super) fn labels(&self, header: &Header<'_>) -> impl Iterator<Item = (&str, Option<&str>)> {
        let parameter = header
            .parameters
            .iter()
            .find(|parameter| parameter.kind == Parameter::Label);
        let name = parameter.map(|parameter| parameter.name.to_owned());
        let given = name.into_iter().flat_map(|name| {
            self.arguments
                .iter()
                .filter(move |(known, _)| *known == name)
        });
        given.filter_map(|(_, value)| {
            let Argument::Text(text) = value else {
                return None;
            };
            Some(
                text.split_once('=')
                    .map_or((text.as_str(), None), |(key, value)| (key, Some(value))),
            )
        })
    }

    /// The text given for the parameter of a kind, if the report has one.
    pub(super) fn text(
        &self,
        header: &Header<'_>,
        kind: &Parameter<'_>,
    ) -> Result<Option<&str>, ReportError> {
        let Some(parameter) = header
            .parameters
            .iter()
            .find(|parameter| parameter.kind == *kind)
        else {
            return Ok(None);
        };
        match self.text_of(parameter.name) {
            None if !parameter.optional => Err(ReportError::Usage(format!(
                "the report needs --{}",
                parameter.name
            ))),
            text => Ok(text),
        }
    }

    /// What the report is to count as one.
    pub(super) fn groups(&self, header: &Header<'_>) -> Result<Groups<'_>, ReportError> {
        let parameters = header.parameters.iter();
        let by = parameters.filter_map(|parameter| match &parameter.kind {
            Parameter::Groups(words) => self.text_of(parameter.name).map(|text| (words, text)),
            _ => None,
        });
        let Some((words, text)) = by.into_iter().next() else {
            return Ok(Groups::Functions);
        };
        let key = text.strip_prefix(LABEL_KEY.trim_end_matches("KEY"));
        if !words.contains(&if key.is_some() { LABEL_KEY } else { text }) {
            return Err(ReportError::Usage(format!(
                "--by: expected {}, found {text}",
                words.join(", ")
            )));
        }
        Ok(match (text, key) {
            (_, Some(key)) => Groups::Label(key),
            ("module", _) => Groups::Modules,
            ("file", _) => Groups::Files,
            ("thread", _) => Groups::Containers(events::Kind::Thread),
            ("process", _) => Groups::Containers(events::Kind::Process),
            _ => Groups::Functions,
        })
    }
}
