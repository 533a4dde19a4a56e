//! How a budget is written: one rule a line.
//!
//! ```text
//! budget    = { line }
//! line      = [ statement ] [ "#" any text ]
//! statement = "base" base | "noise" number ( "run" | "runs" ) | rule
//! base      = "file" quoted-or-word | SET                        as in `profdb diff`; KEY=same is the value that new has
//! rule      = subject "<=" limit { "or" limit } { option }
//! subject   = "total" | "new" | "any" | [ "sum" ] thing pattern
//! thing     = "fn" | "module" | "file" | "calls"
//! limit     = "+" number ( "%" | unit )                          a change
//!           | number unit                                        an amount; after "or", beside a change, a change by it
//!           | number "%" "of" "total"                            a share
//! option    = "cumulative" | "metric" word | "unless" pattern | "base" base, which ends the rule
//! pattern   = 'text', in which * and ? fit any text and any character | "a name as it is"
//! unit      = ns us ms s | B kB KiB MB MiB GB GiB | nothing, k or M for counts
//! ```

use std::str::FromStr as _;

use nom::Parser as _;
use nom::bytes::complete::{tag, take_while1};
use nom::character::complete::digit1;
use nom::combinator::opt;

use super::budget::{
    Amount, Base, Budget, BudgetError, Change, Limit, Pattern, Place, Rule, Thing,
};
use super::tokens::{
    Expected, OPTIONS, Parsed, blanks, expected, is_blank, is_end, number, place_of, quoted,
    refused, single, unit, up_to_comment, word, wrong,
};
use crate::store::{RunSet, Tag};
use crate::text::scale::Unit;

/// Most bytes of a budget, and most rules: a file that is larger is none.
pub const LONGEST: usize = 1 << 20;
const MOST_RULES: usize = 10_000;

/// Reads a budget.
///
/// # Errors
/// The first thing that is wrong, with its place.
pub fn read(bytes: &[u8]) -> Result<Budget, BudgetError> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text.trim_start_matches('\u{feff}'),
        Err(error) => {
            let before = &bytes[..error.valid_up_to()];
            let line = before.split(|byte| *byte == b'\n').next_back();
            let column = String::from_utf8_lossy(line.unwrap_or_default());
            let place = Place {
                line: before.split(|byte| *byte == b'\n').count(),
                column: 1 + column.chars().count(),
            };
            let byte = bytes.get(error.valid_up_to()).copied().unwrap_or_default();
            let message = format!("expected UTF-8, found the byte {byte:#04x}");
            return Err(BudgetError { place, message });
        }
    };
    let mut budget = Budget::default();
    let mut seen = [None; 2];
    for (at, line) in text.lines().enumerate() {
        let place = |column: usize| Place {
            line: at + 1,
            column,
        };
        let found = statement(line).map_err(|error| refused(line, at + 1, &error))?;
        let start = place(1 + line.chars().take_while(|letter| is_blank(*letter)).count());
        let again = |before: Option<Place>, what: &str| match before {
            None => Ok(()),
            Some(Place { line, .. }) => Err(BudgetError {
                place: start,
                message: format!(
                    "expected one line `{what}`, found another one, as in line {line}"
                ),
            }),
        };
        match found {
            Statement::None => {}
            Statement::Base(base) => {
                again(seen[0].replace(start), "base")?;
                budget.base = Some(base);
            }
            Statement::Noise(fewest) => {
                again(seen[1].replace(start), "noise")?;
                budget.fewest = Some(fewest);
            }
            Statement::Rule(parts) => {
                if budget.rules.len() == MOST_RULES {
                    return Err(BudgetError {
                        place: start,
                        message: format!("expected {MOST_RULES} rules at most"),
                    });
                }
                budget.rules.push(parts.rule(line, at + 1)?);
            }
        }
    }
    if budget.rules.is_empty() {
        let lines = text.lines().count();
        return Err(BudgetError {
            place: Place {
                line: lines.max(1),
                column: 1,
            },
            message: "expected a rule, such as `total <= +5 %`, found none in the file".to_owned(),
        });
    }
    Ok(budget)
}

/// What a line says.
enum Statement<'i> {
    None,
    Base(Base),
    Noise(usize),
    Rule(Box<Parts<'i>>),
}

/// A rule as it is read: with what is left of the line where a part of it begins.
struct Parts<'i> {
    start: &'i str,
    end: &'i str,
    thing: Thing,
    pattern: Option<Pattern>,
    is_sum: bool,
    limits: Vec<(&'i str, Piece<'i>)>,
    metric: Option<(String, &'i str)>,
    cumulative: bool,
    unless: Vec<Pattern>,
    base: Option<Base>,
}

/// A limit as it is written.
enum Piece<'i> {
    /// With `+`: percent or an amount.
    MorePercent(f64),
    More(f64, Option<Unit>, &'i str),
    Amount(f64, Option<Unit>, &'i str),
    Share(f64),
}

const SUBJECTS: &[&str] = &[
    "total", "fn", "module", "file", "calls", "new", "any", "sum", "base", "noise",
];

const THINGS: &[&str] = &["fn", "module", "file", "calls"];

fn statement(line: &str) -> Result<Statement<'_>, nom::Err<Expected<'_>>> {
    let (start, _) = blanks(line)?;
    if is_end(start) {
        return Ok(Statement::None);
    }
    let subjects = "a rule (`total`, `fn 'NAME'`, `module`, `file`, `calls`, `sum`, `new` or `any`), `base` or `noise`";
    let first = word(start);
    let Ok((rest, first)) = first else {
        return wrong(start, subjects, SUBJECTS).map(|(_, found)| found);
    };
    let found = match first {
        "base" => {
            let (rest, base) = base(rest)?;
            (rest, Statement::Base(base))
        }
        "noise" => {
            let (rest, fewest) = noise(rest)?;
            (rest, Statement::Noise(fewest))
        }
        "total" | "new" | "any" => {
            let thing = match first {
                "total" => Thing::Total,
                "new" => Thing::New,
                _ => Thing::Any,
            };
            rule(start, rest, thing, None, false)?
        }
        "sum" => {
            let (after, _) = blanks(rest)?;
            let (rest, thing) = match word(after) {
                Ok((rest, found)) if THINGS.contains(&found) => (rest, found),
                _ => {
                    return wrong(after, "`fn`, `module`, `file` or `calls`", THINGS)
                        .map(|(_, found)| found);
                }
            };
            named(start, rest, thing, true)?
        }
        thing if THINGS.contains(&thing) => named(start, rest, thing, false)?,
        _ => return wrong(start, subjects, SUBJECTS).map(|(_, found)| found),
    };
    let (rest, found) = found;
    let (rest, _) = blanks(rest)?;
    if is_end(rest) {
        Ok(found)
    } else {
        expected(rest, "a comment (`#`) or the end of the line").map(|(_, found)| found)
    }
}

/// A rule about things that have names.
fn named<'i>(
    start: &'i str,
    rest: &'i str,
    thing: &str,
    is_sum: bool,
) -> Parsed<'i, Statement<'i>> {
    let (rest, pattern) = pattern(rest)?;
    let thing = match thing {
        "fn" => Thing::Function,
        "module" => Thing::Module,
        "file" => Thing::File,
        _ => Thing::Calls,
    };
    rule(start, rest, thing, Some(pattern), is_sum)
}

/// `3 runs`.
fn noise(input: &str) -> Parsed<'_, usize> {
    let (start, _) = blanks(input)?;
    let what = "a number of runs, such as `noise 3 runs`";
    let Ok((rest, digits)) = digit1::<_, Expected<'_>>(start) else {
        return expected(start, what);
    };
    let Some(number) = digits
        .parse()
        .ok()
        .filter(|number| (1..=1000).contains(number))
    else {
        return expected(start, "a number of runs from 1 to 1000");
    };
    let (rest, _) = blanks(rest)?;
    match word(rest) {
        Ok((after, "run" | "runs")) => Ok((after, number)),
        _ => wrong(rest, "`runs`", &["runs"]),
    }
}

/// `file baseline.db`, or a set of runs.
fn base(input: &str) -> Parsed<'_, Base> {
    let (start, _) = blanks(input)?;
    let after_file = match word(start) {
        Ok((rest, "file")) => Some(rest),
        _ => None,
    };
    if let Some(rest) = after_file {
        let (rest, _) = blanks(rest)?;
        if is_end(rest) {
            return expected(rest, "the name of a file");
        }
        let named = quoted(rest);
        let (rest, name) = match named {
            Ok((rest, (name, _))) => (rest, name),
            Err(_) if rest.starts_with(['\'', '"']) => {
                return expected(rest, "a name with a quote at its end");
            }
            Err(_) => {
                let (rest, name) =
                    take_while1::<_, _, Expected<'_>>(|letter| !is_blank(letter))(rest)?;
                (rest, name.to_owned())
            }
        };
        return Ok((rest, Base::File(name.into())));
    }
    let (rest, text) = up_to_comment(start);
    let text = text.trim_end();
    if text.is_empty() {
        return expected(
            start,
            "runs, such as `base branch=main last 10`, or `base file NAME`",
        );
    }
    match RunSet::from_str(text) {
        Ok(RunSet::Tagged { tags, last }) => {
            let (same, tags): (Vec<Tag>, Vec<Tag>) =
                tags.into_iter().partition(|tag| tag.value == "same");
            let same = same.into_iter().map(|tag| tag.key).collect();
            let set = RunSet::Tagged { tags, last };
            Ok((rest, Base::Runs { set, same }))
        }
        Ok(RunSet::File(path)) => Ok((rest, Base::File(path))),
        Ok(set) => Ok((
            rest,
            Base::Runs {
                set,
                same: Vec::new(),
            },
        )),
        Err(error) => {
            let at = start
                .char_indices()
                .nth(error.at().saturating_sub(1))
                .map_or(start.len(), |(at, _)| at);
            expected(&start[at..], error.expected().to_owned())
        }
    }
}

fn pattern(input: &str) -> Parsed<'_, Pattern> {
    let (start, _) = blanks(input)?;
    match quoted(start) {
        Ok((rest, (text, quote))) => Ok((rest, Pattern::new(text, quote))),
        Err(_) if start.starts_with(['\'', '"']) => {
            expected(start, "a name with a quote at its end")
        }
        Err(_) => expected(
            start,
            "a name in quotes, such as 'parse*' (a pattern) or \"operator*\" (as it is)",
        ),
    }
}

fn limit(input: &str) -> Parsed<'_, (&str, Piece<'_>)> {
    let (start, _) = blanks(input)?;
    let what = "a limit: `+5 %` (a change), `120 ms` (an amount) or `30 % of total` (a share)";
    let (rest, sign) = opt(tag::<_, _, Expected<'_>>("+")).parse(start)?;
    let (rest, _) = blanks(rest)?;
    if !rest.starts_with(|letter: char| letter.is_ascii_digit() || letter == '.') {
        return expected(
            if sign.is_some() { rest } else { start },
            if sign.is_some() {
                "a number, such as 5 or 0.2"
            } else {
                what
            },
        );
    }
    let at = rest;
    let (rest, number) = number(rest)?;
    let (after, _) = blanks(rest)?;
    let Some(after) = after.strip_prefix('%') else {
        let (rest, unit) = unit(rest)?;
        let piece = match sign {
            Some(_) => Piece::More(number, unit, at),
            None => Piece::Amount(number, unit, at),
        };
        return Ok((rest, (start, piece)));
    };
    if sign.is_some() {
        return Ok((after, (start, Piece::MorePercent(number))));
    }
    let (of, _) = blanks(after)?;
    let share = "`of total` (a share), or `+` before the number (a change)";
    let Ok((rest, "of")) = word(of) else {
        return wrong(of, share, &["of"]);
    };
    let (total, _) = blanks(rest)?;
    match word(total) {
        Ok((rest, "total")) => Ok((rest, (start, Piece::Share(number)))),
        _ => wrong(total, "`total`", &["total"]),
    }
}

fn rule<'i>(
    start: &'i str,
    input: &'i str,
    thing: Thing,
    pattern: Option<Pattern>,
    is_sum: bool,
) -> Parsed<'i, Statement<'i>> {
    let (rest, _) = blanks(input)?;
    let Some(rest) = rest.strip_prefix("<=") else {
        return expected(rest, "`<=`");
    };
    let (rest, first) = limit(rest)?;
    let mut parts = Parts {
        start,
        end: rest,
        thing,
        pattern,
        is_sum,
        limits: vec![first],
        metric: None,
        cumulative: false,
        unless: Vec::new(),
        base: None,
    };
    let mut rest = rest;
    loop {
        parts.end = rest;
        let (next, _) = blanks(rest)?;
        if is_end(next) {
            return Ok((next, Statement::Rule(Box::new(parts))));
        }
        let option = word(next);
        rest = match option {
            Ok((rest, "or")) => {
                let (rest, limit) = limit(rest)?;
                parts.limits.push(limit);
                rest
            }
            Ok((rest, "cumulative")) => {
                parts.cumulative = true;
                rest
            }
            Ok((rest, "metric")) => {
                let (at, _) = blanks(rest)?;
                let (rest, name) = match quoted(at) {
                    Ok((rest, (name, _))) => (rest, name),
                    Err(_) => match word(at) {
                        Ok((rest, name)) => (rest, name.to_owned()),
                        Err(_) => return expected(at, "the name of a metric"),
                    },
                };
                if parts.metric.is_some() {
                    return expected(next, "one metric");
                }
                parts.metric = Some((name, at));
                rest
            }
            Ok((rest, "unless")) => {
                let (rest, pattern) = self::pattern(rest)?;
                parts.unless.push(pattern);
                rest
            }
            Ok((rest, "base")) => {
                let (rest, base) = base(rest)?;
                parts.base = Some(base);
                rest
            }
            _ => {
                return wrong(
                    next,
                    "`or` and another limit, `cumulative`, `metric NAME`, `unless 'NAME'`, `base RUNS`, a comment (`#`) or the end of the line",
                    OPTIONS,
                );
            }
        };
    }
}

impl Parts<'_> {
    /// The rule, if its parts fit each other.
    fn rule(self, line: &str, number: usize) -> Result<Rule, BudgetError> {
        let place = |rest: &str| place_of(line, number, rest);
        let fault = |rest: &str, message: &str| BudgetError {
            place: place(rest),
            message: message.to_owned(),
        };
        let amount = |number: f64, unit: Option<Unit>, at: &str| Amount {
            number,
            unit,
            place: place(at),
        };
        let mut changes = Vec::new();
        let mut other = None;
        let is_change = self
            .limits
            .iter()
            .any(|(_, piece)| matches!(piece, Piece::MorePercent(_) | Piece::More(..)));
        for (at, piece) in &self.limits {
            match piece {
                Piece::MorePercent(percent) => changes.push(Change::Percent(*percent)),
                Piece::More(number, unit, at) => {
                    changes.push(Change::Amount(amount(*number, *unit, at)));
                }
                Piece::Amount(number, unit, at) if is_change => {
                    changes.push(Change::Amount(amount(*number, *unit, at)));
                }
                Piece::Share(_) if is_change => {
                    return Err(fault(
                        at,
                        "expected another change, such as `or 0.2 ms`, found a share of the total; write it as a separate rule",
                    ));
                }
                _ if other.is_some() => {
                    return Err(fault(
                        at,
                        "expected one absolute limit, found a second one: only the larger one has an effect",
                    ));
                }
                Piece::Amount(number, unit, at) => {
                    other = Some(Limit::Amount(amount(*number, *unit, at)));
                }
                Piece::Share(share) => other = Some(Limit::Share(*share)),
            }
        }
        let limit = other.unwrap_or(Limit::Change(changes));
        let first = self.limits.first().map_or(self.start, |(at, _)| at);
        match (self.thing, &limit) {
            (Thing::Total, Limit::Share(_)) => {
                return Err(fault(
                    first,
                    "expected a change (`+5 %`) or an amount (`120 ms`), found a share: the total is always 100 %",
                ));
            }
            (Thing::New, Limit::Change(_)) => {
                return Err(fault(
                    first,
                    "expected a share (`1 % of total`) or an amount (`5 ms`), found a change: a new function has no baseline",
                ));
            }
            (Thing::Calls, Limit::Share(_)) => {
                return Err(fault(
                    first,
                    "expected a change (`+5 %`) or a number (`40`), found a share of the total cost",
                ));
            }
            _ => {}
        }
        if self.cumulative
            && (self.is_sum || matches!(self.thing, Thing::New | Thing::Calls | Thing::Total))
        {
            return Err(fault(
                self.start,
                "expected exclusive costs here, found `cumulative`: inclusive costs overlap and cannot be added up",
            ));
        }
        if !self.unless.is_empty() && matches!(self.thing, Thing::Total) {
            return Err(fault(
                self.start,
                "expected no `unless`: the total includes all functions",
            ));
        }
        Ok(Rule {
            place: place(self.start),
            text: single(&self.start[..self.start.len() - self.end.len()]),
            thing: self.thing,
            pattern: self.pattern,
            is_sum: self.is_sum,
            limit,
            metric: self.metric.map(|(name, at)| (name, place(at))),
            cumulative: self.cumulative,
            unless: self.unless,
            base: self.base,
        })
    }
}
