//! How much a rule of a budget allows, in the unit of its metric.

use super::answer::GateError;
use super::budget::{Amount, Budget, BudgetError, Change, Limit, Rule, Thing};
use crate::compare::{Normalize, Request};

/// A limit in the unit of its metric.
pub(super) enum Most {
    Change(Growth),
    Amount(f64),
    Share(f64),
}

/// By how much a figure of base may grow.
#[derive(Clone, Copy)]
pub(super) struct Growth {
    /// To so much of base.
    ratio: f64,
    /// By so much, if that is more.
    pub(super) more: Option<f64>,
}

impl Growth {
    /// What may become of a figure of base.
    pub(super) fn allowed(self, before: f64) -> f64 {
        let more = self.more.map_or(0.0, |more| before + more);
        (self.ratio * before).max(more)
    }
}

/// Refuses a rule on the change of the total where shares of the total are compared.
///
/// # Errors
/// If the budget has such a rule.
pub(super) fn check_shares(budget: &Budget, request: &Request) -> Result<(), GateError> {
    let is_of_total =
        |rule: &&Rule| rule.thing == Thing::Total && matches!(rule.limit, Limit::Change(_));
    match budget.rules.iter().find(is_of_total) {
        Some(rule) if request.normalize == Normalize::Total => Err(GateError::Usage(format!(
            "--normalize total: line {} limits the change of the total, whose share is always 100 %: leave out the rule or the flag",
            rule.place.line
        ))),
        _ => Ok(()),
    }
}

/// The limit of a rule, in the unit of its metric.
///
/// # Errors
/// When its unit is none of the metric's, or shares are compared and it has a unit.
pub(super) fn amounts(
    rule: &Rule,
    metric: &(String, String),
    request: &Request,
) -> Result<Most, GateError> {
    let of = |amount: &Amount| {
        amount.of(&metric.0, &metric.1).map_err(|message| {
            GateError::from(BudgetError {
                place: amount.place,
                message,
            })
        })
    };
    Ok(match &rule.limit {
        Limit::Amount(amount) => Most::Amount(of(amount)?),
        Limit::Share(share) => Most::Share(*share),
        Limit::Change(changes) => {
            let (mut ratio, mut more) = (1.0_f64, None);
            for change in changes {
                match change {
                    Change::Percent(percent) => ratio = ratio.max(1.0 + percent / 100.0),
                    Change::Amount(amount) => {
                        if request.normalize == Normalize::Total {
                            return Err(GateError::Usage(format!(
                                "--normalize total: line {} has a limit in a unit, and shares have none",
                                rule.place.line
                            )));
                        }
                        let amount = of(amount)?;
                        more = Some(more.map_or(amount, |most: f64| most.max(amount)));
                    }
                }
            }
            Most::Change(Growth { ratio, more })
        }
    })
}
