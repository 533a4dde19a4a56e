//! For the pages of a build: a summary in Markdown.
//!
//! All that comes from profiles, tags and the budget is in code spans, where nothing is markup, a mention or a link
//! (`CommonMark` 6.1), and nothing is in a table, whose cells a `|` would end even there.

use std::fmt::Write as _;

use super::super::answer::RuleAnswer;
use super::phrases::{base, headline, level, runs, short_body};
use super::told::Told;
use crate::compare::said_of_folders;
use crate::text::markdown::code;

/// The most bytes of a summary: as many as a comment on a pull request may have.
const MOST: usize = 64 << 10;

/// Room for what says that it was cut.
const ROOM: usize = 256;

/// Writes a gate as Markdown, rules that stop the build first; what does not fit is left out, which is said.
#[must_use]
pub fn markdown(told: &Told<'_>) -> String {
    let gate = told.gate;
    let mut blocks = vec![format!("### profdb gate: {}\n\n", told.outcome().name())];
    let mut about = format!(
        "- {}\n- New: {}\n",
        code(&headline(told)),
        code(&runs(&gate.new))
    );
    for known in &gate.bases {
        let _ = writeln!(about, "- Base: {}", code(&base(known)));
    }
    for said in said_of_folders(&gate.folders) {
        let _ = writeln!(about, "- {}", code(&said));
    }
    let _ = writeln!(about, "- {}\n", code(&level(gate)));
    blocks.push(about);
    let mut rules: Vec<&RuleAnswer> = gate.rules.iter().collect();
    rules.sort_by_key(|rule| (!rule.fails(told.policy), rule.answer.is_judged()));
    for rule in rules {
        let mut block = format!(
            "- **{}** {} {}\n",
            rule.answer.name(),
            code(&format!("{}:{}", told.budget, rule.place.line)),
            code(&rule.text)
        );
        for line in short_body(rule) {
            let _ = writeln!(block, "  - {}", code(&line));
        }
        blocks.push(block);
    }
    if !gate.warnings.is_empty() {
        blocks.push("\n".to_owned());
    }
    for warning in &gate.warnings {
        blocks.push(format!("- **warning** {}\n", code(warning)));
    }
    let mut out = String::new();
    let mut left = 0;
    for block in blocks {
        if left > 0 || out.len() + block.len() > MOST - ROOM {
            left += usize::from(block.starts_with('-'));
        } else {
            out += &block;
        }
    }
    if left > 0 {
        let _ = writeln!(
            out,
            "\nThis summary is cut: {left} more entries do not fit into {} KiB.",
            MOST >> 10
        );
    }
    out
}
