//! What a gate says: of each thing, of each rule, and in all.

use super::budget::{BudgetError, Place};
use crate::compare::{CompareError, Folders};
use crate::store::StoreError;

/// The probability that a gate fails though nothing has changed, whatever the number of its rules and functions; that of an amount
/// or a share, though all are just at their limits.
pub const ALPHA: f64 = 0.01;

/// The probability that a gate fails though all changes are just at their limits, whatever the number of its rules and functions.
pub const AT_LIMIT: f64 = 0.05;

/// The probability that a rule passes though what it watches is just at its limit.
pub const PASSES: f64 = 0.05;

/// What is said of a thing, or of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is shown to be over its limit.
    Fail,
    /// It is over its limit, but so were the newest runs of base before it.
    BaseMoved,
    /// Neither could be shown.
    Unclear,
    /// It is shown to keep its limit.
    Pass,
    /// There are fewer runs than it takes.
    TooFew,
    /// There are no runs to compare with.
    NoBase,
    /// There are none, and with this command and budget there never will be.
    NoSuchBase,
    /// All runs of base are also runs of new.
    SameRuns,
    /// Base does not have it, so that it has grown by no ratio.
    New,
    /// The sides have other hosts, units or kinds of noise.
    NotComparable,
    /// Nothing of this name is in the runs.
    NothingMatched,
    /// Nothing of this name is anywhere in the database.
    MatchesNowhere,
}

impl Answer {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fail => "fail",
            Self::BaseMoved => "base moved",
            Self::Pass => "pass",
            Self::Unclear | Self::TooFew => "unclear",
            Self::NoBase | Self::NoSuchBase => "no base",
            Self::New => "new",
            Self::NotComparable | Self::SameRuns => "not comparable",
            Self::NothingMatched | Self::MatchesNowhere => "nothing matched",
        }
    }

    /// Whether something is named that is nowhere.
    #[must_use]
    pub fn is_slip(self) -> bool {
        matches!(self, Self::MatchesNowhere | Self::NoSuchBase)
    }

    /// Returns whether there is nothing to compare with until more runs are recorded.
    #[must_use]
    pub fn lacks_base(self) -> bool {
        matches!(self, Self::NoBase | Self::SameRuns)
    }

    /// Whether anything was measured.
    #[must_use]
    pub fn is_judged(self) -> bool {
        matches!(
            self,
            Self::Fail | Self::BaseMoved | Self::Unclear | Self::Pass
        )
    }
}

/// What a limit is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// The change since base.
    Change,
    /// The figure itself.
    Amount,
    /// The part of the total, in percent.
    Share,
}

/// A thing that a rule watches: a function, a group of functions, or the total.
#[derive(Clone, Debug, PartialEq)]
pub struct Subject {
    /// Name, module and file.
    pub names: [String; 3],
    /// Name with the place that tells the function from others of its name; empty unless it is a function.
    pub label: String,
    /// What is said of it.
    pub answer: Answer,
    /// What its limit is about.
    pub about: About,
    /// What its figures are of, and their unit: `ns`, `bytes` or `count`; `%` for shares.
    pub metric: (String, String),
    /// Figure of base; `None` where it is not asked for.
    pub base: Option<f64>,
    /// Figure of new; NaN where the runs do not know it.
    pub new: f64,
    /// New in units of base.
    pub ratio: Option<f64>,
    /// The interval of the ratio, or of the figure of new, that misses it with probability .05.
    pub interval: Option<(f64, f64)>,
    /// The largest figure of new that keeps the limit, in the unit of the metric.
    pub limit: f64,
    /// Probability of a figure so far over the limit if nothing is over it.
    pub p: Option<f64>,
    /// The same among all tests of the gate (Holm 1979).
    pub adjusted: Option<f64>,
    /// Probability of a figure so far up if nothing has changed, among all tests of the gate; of an amount or a share, which knows
    /// of no change, that of `adjusted`.
    pub unchanged: Option<f64>,
    /// The smallest figure of new that would fail in four of five cases, in the unit of the metric.
    pub fails_from: Option<f64>,
    /// New does not have it any more.
    pub is_gone: bool,
    /// What there is to say of it.
    pub reason: String,
}

/// What is said of a rule.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleAnswer {
    /// Where it is in the budget.
    pub place: Place,
    /// As it is written.
    pub text: String,
    /// What is said of it.
    pub answer: Answer,
    /// Why, where no thing says so.
    pub reason: String,
    /// Which of the bases it was compared with; `None` where it was compared with none.
    pub base: Option<usize>,
    /// The things that it watches, those with its answer first. A rule `any` has those that are over their limit or excused, and the
    /// costliest one with its answer.
    pub subjects: Vec<Subject>,
    /// How many things it watches.
    pub watched: usize,
    /// How many of them are unclear.
    pub unclear: usize,
    /// Number of these things that were judged.
    pub judged: usize,
}

/// Runs, as they are named to people and programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Its number; `None` for that of a file.
    pub run_id: Option<i64>,
    /// Its title, else the name of its file.
    pub name: String,
    /// Its commit, if it has the tag.
    pub commit: Option<String>,
}

/// What rules were compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedBase {
    /// How they were chosen.
    pub said: String,
    /// The runs.
    pub runs: Vec<Named>,
}

/// What a gate says.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    /// One answer for each rule, in their order.
    pub rules: Vec<RuleAnswer>,
    /// What they were compared with.
    pub bases: Vec<NamedBase>,
    /// What is judged.
    pub new: Vec<Named>,
    /// Folders and modules that were taken for one.
    pub folders: Vec<Folders>,
    /// How many tests were made together.
    pub tests: usize,
    /// What there is to warn of.
    pub warnings: Vec<String>,
}

/// What a gate is held to besides its budget.
#[derive(Clone, Copy, Debug, Default)]
pub struct Policy {
    /// What is not shown to keep its limit fails.
    pub prove: bool,
    /// What was not judged is not passed over.
    pub strict: bool,
    /// A gate without runs to compare with passes.
    pub first_run_passes: bool,
}

/// What a gate comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing is shown to be over its limit.
    Pass,
    /// Something is.
    Fail,
    /// Nothing was measured, or not all that must be.
    NothingMeasured,
}

impl Outcome {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::NothingMeasured => "nothing measured",
        }
    }
}

impl RuleAnswer {
    /// Whether it fails where what is not shown to keep its limit fails.
    #[must_use]
    pub fn is_unproved(&self) -> bool {
        self.answer == Answer::Unclear
            || self.answer == Answer::Pass && self.subjects.iter().any(|subject| subject.is_gone)
    }

    /// Whether all that it watches was judged: the runs may know no figure of some.
    #[must_use]
    pub fn is_judged_whole(&self) -> bool {
        let mut subjects = self.subjects.iter();
        self.answer.is_judged() && subjects.all(|subject| subject.answer != Answer::NotComparable)
    }

    /// Whether it stops the build.
    #[must_use]
    pub fn fails(&self, policy: Policy) -> bool {
        self.answer == Answer::Fail || policy.prove && self.is_unproved()
    }
}

impl Gate {
    /// What it comes to.
    #[must_use]
    pub fn outcome(&self, policy: Policy) -> Outcome {
        let has = |is: &dyn Fn(Answer) -> bool| self.rules.iter().any(|rule| is(rule.answer));
        if self.rules.iter().any(|rule| rule.fails(policy)) {
            return Outcome::Fail;
        }
        if has(&Answer::is_slip) {
            return Outcome::NothingMeasured;
        }
        if has(&Answer::is_judged) {
            // Without a base all is well, if that is so where nothing else is judged.
            let is_well = |rule: &RuleAnswer| {
                rule.is_judged_whole() || (rule.answer.lacks_base() && policy.first_run_passes)
            };
            return if !policy.strict || self.rules.iter().all(is_well) {
                Outcome::Pass
            } else {
                Outcome::NothingMeasured
            };
        }
        let is_first = self.rules.iter().all(|rule| rule.answer.lacks_base());
        if is_first && policy.first_run_passes {
            Outcome::Pass
        } else {
            Outcome::NothingMeasured
        }
    }
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// The budget asks for what there is not.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// The question does not make sense.
    #[error("{0}")]
    Usage(String),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<CompareError> for GateError {
    fn from(error: CompareError) -> Self {
        match error {
            CompareError::Usage(message) | CompareError::NothingSelected(message) => {
                Self::Usage(message)
            }
            CompareError::Store(error) => Self::Store(error),
        }
    }
}
