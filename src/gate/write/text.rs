//! For people. A line never begins with a name, which the program that runs a build might take for a command.

use std::fmt::Write as _;

use super::phrases::{base, body, headline, level, runs};
use super::told::Told;
use crate::compare::said_of_folders;
use crate::text::colour::Colour;
use crate::text::plain::{push_plain_code, push_plain_line};

/// Writes a gate for a terminal: a line for each rule, and below it a line for each figure that it checks. Results have marks
/// of colours if `has_colours` is set.
#[must_use]
pub fn text(told: &Told<'_>, has_colours: bool) -> String {
    let gate = told.gate;
    let mut out = String::new();
    push_line(&headline(told), &mut out);
    push_line(&format!("New: {}", runs(&gate.new)), &mut out);
    for (at, known) in gate.bases.iter().enumerate() {
        let number = if gate.bases.len() > 1 {
            format!(" {}", at + 1)
        } else {
            String::new()
        };
        push_line(&format!("Base{number}: {}", base(known)), &mut out);
    }
    for said in said_of_folders(&gate.folders) {
        push_line(&said, &mut out);
    }
    push_line(&level(gate), &mut out);
    push_line("", &mut out);
    let width = gate
        .rules
        .iter()
        .map(|rule| rule.answer.name().len())
        .max()
        .unwrap_or(0);
    for rule in &gate.rules {
        let mut said = format!("  {}:{}: {}", told.budget, rule.place.line, rule.text);
        if gate.bases.len() > 1
            && let Some(number) = rule.base
        {
            let _ = write!(said, " [base {}]", number + 1);
        }
        let result = rule.answer.name();
        match Colour::from_verdict(result).filter(|_| has_colours) {
            Some(colour) => colour.push(result, &mut out),
            None => out.push_str(result),
        }
        let _ = write!(out, "{:1$}", "", width - result.len());
        push_plain_code(&said, &mut out);
        out.push('\n');
        for more in body(rule) {
            push_line(&format!("{:width$}    {more}", ""), &mut out);
        }
    }
    out
}

/// Appends a line to a text.
fn push_line(line: &str, to: &mut String) {
    push_plain_line(line, to);
    to.push('\n');
}
