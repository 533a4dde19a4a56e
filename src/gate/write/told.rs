//! What writers are told of a gate.

use super::super::answer::{Gate, Outcome, Policy};

/// What is written of a gate besides what it found.
#[derive(Clone, Copy, Debug)]
pub struct Told<'t> {
    /// What it found.
    pub gate: &'t Gate,
    /// What it is held to.
    pub policy: Policy,
    /// The file of the budget.
    pub budget: &'t str,
    /// What the program ends with.
    pub exit_code: u8,
}

impl Told<'_> {
    /// What the gate comes to.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        self.gate.outcome(self.policy)
    }
}
