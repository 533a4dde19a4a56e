//! Ways in which figures of several runs become one.

/// How figures of several runs become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Combination {
    /// The sum of all runs.
    #[default]
    Sum,
    /// The sum of all runs, divided by their number: a run without a function counts as 0.
    Mean,
}

impl Combination {
    /// All combinations.
    pub const ALL: [Self; 2] = [Self::Sum, Self::Mean];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Mean => "mean",
        }
    }
}

/// The runs that a combined run is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CombinedRuns {
    /// How their figures become one.
    pub combination: Combination,
    /// Their numbers.
    pub runs: Vec<i64>,
}
