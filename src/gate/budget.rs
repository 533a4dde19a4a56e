//! A budget: what may cost how much. How it is written is in `grammar.rs`.

use regex::Regex;
use std::path::PathBuf;

use crate::store::RunSet;
use crate::text::placed::{PlaceReading, readings};
use crate::text::scale::Unit;

/// A budget.
#[derive(Clone, Debug, Default)]
pub struct Budget {
    /// What is compared with where the command line does not say.
    pub base: Option<Base>,
    /// Runs that each side must have; as a comparison wants them if `None`.
    pub fewest: Option<usize>,
    /// The rules, in their order.
    pub rules: Vec<Rule>,
}

/// What is compared with.
#[derive(Clone, Debug, PartialEq)]
pub enum Base {
    /// The runs of a file: a profile, a folder of them, or a database of profdb.
    File(PathBuf),
    /// Runs of the database.
    Runs {
        /// Which.
        set: RunSet,
        /// Keys of tags whose value is that of new.
        same: Vec<String>,
    },
}

/// A place in a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The line, from 1.
    pub line: usize,
    /// The character of the line, from 1.
    pub column: usize,
}

/// A rule: what is watched, and what it may cost.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Where it is.
    pub place: Place,
    /// As it is written, without comment, and with one blank where there are several: its name, however lines are set out.
    pub text: String,
    /// What is watched.
    pub thing: Thing,
    /// Which of them.
    pub pattern: Option<Pattern>,
    /// They are added up before they are judged.
    pub is_sum: bool,
    /// What they may cost.
    pub limit: Limit,
    /// The metric, and where it is named; the default one if `None`.
    pub metric: Option<(String, Place)>,
    /// Costs with everything called.
    pub cumulative: bool,
    /// What is not watched.
    pub unless: Vec<Pattern>,
    /// What is compared with, whatever else is said.
    pub base: Option<Base>,
}

/// What a rule watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thing {
    /// The whole run.
    Total,
    /// Functions.
    Function,
    /// All functions of a module together.
    Module,
    /// All functions of a source file together.
    File,
    /// How often functions are called.
    Calls,
    /// All functions together that base does not have.
    New,
    /// Every function.
    Any,
}

/// What something may cost.
#[derive(Clone, Debug, PartialEq)]
pub enum Limit {
    /// More than before by no more than the largest of these.
    Change(Vec<Change>),
    /// No more than this.
    Amount(Amount),
    /// No more than this part of the total, in percent.
    Share(f64),
}

/// By how much something may grow.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// In percent of what it was.
    Percent(f64),
    /// By so much.
    Amount(Amount),
}

/// A cost, with its unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Amount {
    /// The number that is written.
    pub(super) number: f64,
    /// The unit that is written; `None` for a plain number.
    pub(super) unit: Option<Unit>,
    /// Where it is written.
    pub place: Place,
}

impl Amount {
    /// The amount in a unit of metrics: `ns`, `bytes` or `count`.
    ///
    /// # Errors
    /// When it is no amount of that; the text says what was expected.
    pub fn of(&self, metric: &str, unit: &str) -> Result<f64, String> {
        match self.unit {
            Some(found) if found.is_of(unit) => Ok(found.size() * self.number),
            None if self.number == 0.0 || unit == "count" => Ok(self.number),
            found => {
                let found = found.map_or("none", Unit::name);
                let names = Unit::names(unit);
                Err(format!(
                    "expected a unit of the metric {metric} ({names}), found {found}"
                ))
            }
        }
    }
}

/// Which names are meant.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// As it is written, without quotes.
    pub text: String,
    /// `None` for a name as it is.
    regex: Option<Regex>,
}

impl Pattern {
    /// Whether a name is meant.
    #[must_use]
    pub fn fits(&self, name: &str) -> bool {
        match &self.regex {
            Some(regex) => regex.is_match(name),
            None => self.text == name,
        }
    }

    /// Returns true if signs in the text match any text or any character.
    #[must_use]
    pub fn is_wild(&self) -> bool {
        self.regex.is_some()
    }

    /// Returns true if the text may name a function with its place: name, module and file; at any line.
    #[must_use]
    pub fn may_be_placed(&self, [name, module, file]: [&str; 3]) -> bool {
        let fits = |reading: PlaceReading<'_>| {
            let line = reading.line.unwrap_or_default();
            reading.fits(name, [module, file], line)
        };
        !self.is_wild() && readings(&self.text).into_iter().any(fits)
    }

    /// A pattern, or in double quotes a name as it is.
    pub(super) fn new(text: String, quote: char) -> Self {
        let is_pattern = quote == '\'' && text.contains(['*', '?']);
        let regex = is_pattern.then(|| {
            let escaped = regex::escape(&text);
            let any = escaped.replace("\\*", ".*").replace("\\?", ".");
            Regex::new(&format!("(?s)\\A{any}\\z")).ok()
        });
        Self {
            text,
            regex: regex.flatten(),
        }
    }
}

/// What is wrong with a budget.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {} column {}: {message}", place.line, place.column)]
pub struct BudgetError {
    /// Where.
    pub place: Place,
    /// What was expected and what was found.
    pub message: String,
}
