//! Whether what changed is within a budget: the answer by which a build stops.
//!
//! ```text
//! budget (rules) + base and new -> figures (comparisons) -> judge (one answer a rule) -> text, JSON, JUnit, GitHub, Markdown
//! ```
//!
//! A rule fails only where it is *shown* to be broken, by one test of all tests of the gate together (Holm 1979), so that a gate
//! of a thousand functions stops one build in a hundred without a reason, not each. docs/gate.md says what answers mean.

mod amounts;
pub mod answer;
mod base;
pub mod budget;
mod cut;
mod figures;
mod grammar;
mod judge;
mod levels;
mod moved;
mod subjects;
mod tokens;
pub mod write;

pub use answer::{Answer, Gate, GateError, Outcome, Policy, RuleAnswer, Subject};
pub use base::{Ancestry, Choice, TRUNKS, choose, latest};
pub use budget::{Base, Budget, BudgetError, Rule};
pub use figures::BaseRuns;
pub use grammar::{LONGEST, read};
pub use judge::{Question, judge};
