//! What changed between runs: functions are paired, their figures compared, and change told from noise.
//!
//! ```text
//! runs -> table (a row for each identity) -> pairs -> judge (verdicts) -> shift -> rows -> answer
//! ```
//!
//! Functions are one where their identities are (`functions.identity_id`), whatever lines they stand on and whatever build they
//! are of; what else is taken for one is said. docs/comparing.md says what verdicts mean and do not mean.

mod answer;
mod bounds;
mod center;
mod comparison;
mod definitions;
mod doubts;
mod grouped;
pub mod items;
pub mod judge;
mod matched;
mod matrix;
mod metrics;
mod modules;
pub mod order;
mod pairs;
mod prefixes;
mod reading;
mod renames;
mod request;
mod roots;
mod rows;
mod rule_line;
mod run;
mod sequence;
mod series;
mod shift;
pub mod table;
pub mod tree;
mod tree_answer;
mod trees;
mod ways;
mod whole;

pub use answer::{Readers, answer, members_of_folders, normalized, said_of_folders};
pub use comparison::compare;
pub use definitions::{Definition, Place as DefinitionPlace};
pub(crate) use doubts::NEVER_VARY;
pub use grouped::of_group;
pub use pairs::{Between, Folders, Within};
pub use prefixes::Prefixes;
pub use renames::Suggestion;
pub use request::{By, CompareError, FILE_NAMES, Normalize, Request, Sort};
pub(crate) use rows::EXACT_THAT_DIFFERS;
pub use rows::{Compared, Comparison, Row, Side, share_of};
pub use run::ComparedRun;
pub use sequence::{EachCost, Thing, United, newest_name, united};
pub use series::{RunFigures, figures};
pub(crate) use shift::{Presence, together, word};
pub use tree_answer::{Shown, View, paths_answer, tree_answer};
pub use trees::{PlaceItem, compare_trees};
