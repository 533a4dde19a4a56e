//! What a comparison is asked for.

use super::judge::{Limits, Noise};
use crate::report::Argument;
use crate::store::StoreError;
use crate::text::number::fixed;
use profdb_statistics::normalize::Unstable;

/// What figures are divided by before they are compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Normalize {
    /// Nothing.
    #[default]
    None,
    /// The total of the run: shares are compared.
    Total,
    /// What most functions have in common: the machine was slower.
    Median,
    /// The number of calls of the run.
    Calls,
    /// The number in a tag of the run.
    Tag(String),
}

/// The word for pairs of runs in the order of their file names, in the place of a tag.
pub const FILE_NAMES: &str = "file names";

/// What the rows are ordered by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// The size of the change.
    #[default]
    Delta,
    /// The ratio that is farthest from 1.
    Ratio,
    /// The false discovery rate.
    Rate,
    /// Cost in base.
    Base,
    /// Cost in new.
    New,
    /// The name.
    Name,
}

/// What a row is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// Functions that are one whatever the build.
    #[default]
    Function,
    /// Callers of a function.
    Caller,
    /// Lines.
    Line,
    /// Groups, by a word that the report summary takes: `module`, `file`, `thread`, `process`, `label:KEY`.
    Group(String),
}

/// What a comparison is asked for.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "flags of a command line are set or not"
)]
pub struct Request {
    /// What a row is about.
    pub by: By,
    /// Costs with everything called, not own ones.
    pub cumulative: bool,
    /// Flags of reports that say what of the runs is looked at: `fn`, `focus`, `ignore`, `hide`, `thread`, `label`.
    pub arguments: Vec<(String, Argument)>,
    /// The metric; the default one of base if `None`.
    pub metric: Option<String>,
    /// How figures are taken to vary; as the runs say if `None`.
    pub noise: Option<Noise>,
    /// What figures are divided by.
    pub normalize: Normalize,
    /// The tag whose values pair the runs of the two sides, or [`FILE_NAMES`].
    pub paired: Option<String>,
    /// What verdicts are held to.
    pub limits: Limits,
    /// Folders of base that are those of new.
    pub roots: Vec<(String, String)>,
    /// Matches functions by name if the name is unique.
    pub loose: bool,
    /// Rows that are too small to be judged are shown, too.
    pub all: bool,
    /// True to keep functions without a cost in any run.
    pub zeros: bool,
    /// Only so many rows.
    pub first: Option<usize>,
    /// What comes first.
    pub sort: Sort,
    /// The statements that give the figures are wanted: where none was run for them, they are asked of the reports.
    pub statements: bool,
}

impl Request {
    /// Whether it is about the own costs of functions in whole runs, which need no report.
    pub(super) fn is_plain(&self) -> bool {
        self.knows_definitions() && !self.cumulative
    }

    /// The same about the own costs of functions in whole runs: by all of them it is found which folders are one.
    pub(super) fn of_whole_runs(&self) -> Self {
        Self {
            by: By::Function,
            cumulative: false,
            arguments: Vec::new(),
            ..self.clone()
        }
    }

    /// Whether it is about functions in whole runs, of which the definitions can be told apart.
    pub(super) fn knows_definitions(&self) -> bool {
        self.by == By::Function && self.arguments.is_empty()
    }
}

/// Why there is no comparison.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// The question does not make sense.
    #[error("{0}")]
    Usage(String),
    /// There is nothing to compare.
    #[error("{0}")]
    NothingSelected(String),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<Unstable> for CompareError {
    fn from(Unstable { changed }: Unstable) -> Self {
        Self::NothingSelected(format!(
            "--normalize median: functions with {} % of the weight have changed, so the common change is unknown; --normalize total compares shares",
            fixed(100.0 * changed, 0)
        ))
    }
}
