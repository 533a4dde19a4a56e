//! The call trees of two sets of runs, united, as writers see them.

use std::io::Write;

use super::error::ExportError;
use super::losses::Losses;
use crate::events::Kind;
use crate::formats::options::{OptionDef, Options};

/// Two trees that were united: every place that either has, with its cost in both.
#[derive(Clone, Debug, Default)]
pub struct Difference {
    /// What base and new are called.
    pub sides: [String; 2],
    /// The metric and its unit, as in a run.
    pub metric: (String, String),
    /// What is at the places.
    pub functions: Vec<DifferentFunction>,
    /// The places, callers first, each directly before those below it.
    pub places: Vec<DifferentPlace>,
    /// Verdicts are more than noise: there are runs enough for them.
    pub is_judged: bool,
    /// Options of the format.
    pub options: Options,
}

/// What is at places of two united trees: a function whatever the build, or what only holds others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DifferentFunction {
    /// Name, module and file after the rules of identities.
    pub names: [String; 3],
    /// What sort of thing it is.
    pub kind: Kind,
    /// What a comparison says of its own cost, wherever it was called.
    pub verdict: Option<&'static str>,
    /// More costs more in new, as far as the verdict says so: it is slower or new. `Some(false)`: it is faster or gone.
    pub is_worse: Option<bool>,
}

/// A place of two united trees.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DifferentPlace {
    /// How many places are above it.
    pub depth: u32,
    /// Its place in [`Difference::functions`].
    pub function: u32,
    /// Its own cost in base and in new, in the unit of the metric.
    pub own: [f64; 2],
}

/// How a format has two costs of a place.
#[derive(Debug)]
pub struct Differences {
    /// Options that files of two costs have, and others have not.
    pub options: &'static [OptionDef],
    /// Costs are written as whole numbers of their unit: shares of a total would be rounded to percents.
    pub takes_whole: bool,
    /// Writes the two trees.
    pub(in crate::formats) write:
        fn(&Difference, &mut Losses, &mut dyn Write) -> Result<(), ExportError>,
}
