//! For people. A line never begins with a name, which the program that runs a build might take for a command.

use std::fmt::Write as _;

use super::phrases::{base, body, headline, level, runs};
use super::told::Told;
use crate::compare::said_of_folders;
use crate::text::plain::plain_line;

/// Writes a gate for a terminal: a line for each rule, and below it one for each thing that it watches.
#[must_use]
pub fn text(told: &Told<'_>) -> String {
    let gate = told.gate;
    let mut out = String::new();
    let mut line = |text: &str| {
        let _ = writeln!(out, "{}", plain_line(text));
    };
    line(&headline(told));
    line(&format!("New: {}", runs(&gate.new)));
    for (at, known) in gate.bases.iter().enumerate() {
        let number = if gate.bases.len() > 1 {
            format!(" {}", at + 1)
        } else {
            String::new()
        };
        line(&format!("Base{number}: {}", base(known)));
    }
    for said in said_of_folders(&gate.folders) {
        line(&said);
    }
    line(&level(gate));
    line("");
    let width = gate
        .rules
        .iter()
        .map(|rule| rule.answer.name().len())
        .max()
        .unwrap_or(0);
    for rule in &gate.rules {
        let mut said = format!(
            "{:width$}  {}:{}: {}",
            rule.answer.name(),
            told.budget,
            rule.place.line,
            rule.text
        );
        if gate.bases.len() > 1
            && let Some(number) = rule.base
        {
            let _ = write!(said, " [base {}]", number + 1);
        }
        line(&said);
        for more in body(rule) {
            line(&format!("{:width$}    {more}", ""));
        }
    }
    out
}
