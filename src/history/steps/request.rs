//! What is asked of a series.

use crate::compare::Normalize;
use crate::events::Noise;
use crate::report::Argument;
use crate::store::Fitting;

/// What is asked of a series.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// What to count; the usual metric of the last run if `None`.
    pub metric: Option<String>,
    /// What a row is: a function, module or file.
    pub by: Fitting,
    /// Flags of reports that say what of the runs is looked at, as comparisons take them: `focus`, `ignore`, `hide`, `thread`,
    /// `label`.
    pub arguments: Vec<(String, Argument)>,
    /// Only what fits this text: `*` and `?` fit any text and any character.
    pub name: Option<String>,
    /// How figures vary though nothing has changed, whatever the runs say.
    pub noise: Option<Noise>,
    /// False discovery rate of what is found, and how often intervals may miss.
    pub alpha: f64,
    /// The smallest change that matters, as a part of the cost.
    pub min_effect: f64,
    /// The smallest part of the runs' totals that a row must have to be searched, on average over all positions.
    pub min_share: f64,
    /// Only steps that may be at this position or later ones.
    pub since: Option<Since>,
    /// Also rows in which nothing was found.
    pub all: bool,
    /// The method that makes runs comparable.
    pub normalize: Normalize,
}

impl Default for Request {
    fn default() -> Self {
        Self {
            metric: None,
            by: Fitting::Function,
            arguments: Vec::new(),
            name: None,
            noise: None,
            alpha: 0.05,
            min_effect: 0.05,
            min_share: 0.001,
            since: None,
            all: false,
            normalize: Normalize::None,
        }
    }
}

/// Where steps begin to be wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Since {
    /// So many positions before the end.
    Last(usize),
    /// At a commit, or the one whose name begins so.
    Commit(String),
}
