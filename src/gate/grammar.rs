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
                        "expected another change, such as `or 0.2 ms`, found a share of the total: that is a rule of its own",
                    ));
                }
                _ if other.is_some() => {
                    return Err(fault(
                        at,
                        "expected one limit that is no change, found another one: the smaller one says nothing",
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
                    "expected a change (`+5 %`) or an amount (`120 ms`), found a share: the total is all of the total",
                ));
            }
            (Thing::New, Limit::Change(_)) => {
                return Err(fault(
                    first,
                    "expected a share (`1 % of total`) or an amount (`5 ms`), found a change: what is new has nothing to be compared with",
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
                "expected own costs here, found `cumulative`: costs with everything called cannot be added up, and a total has all of them",
            ));
        }
        if !self.unless.is_empty() && matches!(self.thing, Thing::Total) {
            return Err(fault(
                self.start,
                "expected no `unless`: the total is all functions",
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Budget {
        super::read(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn every_form_of_a_rule_is_read() {
        let budget = read(concat!(
            "base  branch=main,host=same last 10        # or: base file baseline.db | base name=release-3\n",
            "noise 3 runs                                    # at least, else the answer is \"too few\"\r\n",
            "\ttotal            <= +2 %\n",
            "fn 'parse*'      <= +5 %    or 0.2 ms           # the larger of the two\n",
            "fn 'render'      <= 30 % of total   cumulative\n",
            "module 'alloc'   <= 120 MB  metric alloc        # absolute\n",
            "calls 'db.query' <= 40                          # exact\n",
            "new              <= 1 % of total                # all new functions together\n",
            "any              <= +10 %   unless 'test_*' unless \"a#b\"\n",
            "sum fn 'it''s *'<=+.5% base name=release # x\n",
            "file \"a*\"<=0 metric 'wall time' base file 'my base.db'\n",
            "\n# nothing\n",
        ));
        let said: Vec<String> = budget
            .rules
            .iter()
            .map(|rule| {
                format!(
                    "{}:{} {:?} {:?} sum {} {:?} {:?} {} {:?}",
                    rule.place.line,
                    rule.place.column,
                    rule.thing,
                    rule.pattern.as_ref().map(|pattern| &pattern.text),
                    rule.is_sum,
                    rule.metric.as_ref().map(|(name, _)| name),
                    rule.unless
                        .iter()
                        .map(|pattern| &pattern.text)
                        .collect::<Vec<_>>(),
                    rule.cumulative,
                    rule.base,
                )
            })
            .collect();
        assert_eq!(
            said,
            [
                "3:2 Total None sum false None [] false None",
                "4:1 Function Some(\"parse*\") sum false None [] false None",
                "5:1 Function Some(\"render\") sum false None [] true None",
                "6:1 Module Some(\"alloc\") sum false Some(\"alloc\") [] false None",
                "7:1 Calls Some(\"db.query\") sum false None [] false None",
                "8:1 New None sum false None [] false None",
                "9:1 Any None sum false None [\"test_*\", \"a#b\"] false None",
                "10:1 Function Some(\"it's *\") sum true None [] false Some(Runs { set: Tagged { tags: [Tag { key: \"name\", value: \"release\" }], last: None }, same: [] })",
                "11:1 File Some(\"a*\") sum false Some(\"wall time\") [] false Some(File(\"my base.db\"))",
            ]
        );
        assert_eq!(budget.fewest, Some(3));
        let Some(Base::Runs { set, same }) = &budget.base else {
            panic!("expected runs: {:?}", budget.base);
        };
        assert_eq!(
            (set.to_string().as_str(), same.as_slice()),
            ("branch=main last 10", &["host".to_owned()][..])
        );
        let texts: Vec<&str> = budget.rules.iter().map(|rule| rule.text.as_str()).collect();
        assert_eq!(texts[1], "fn 'parse*' <= +5 % or 0.2 ms");
        assert_eq!(texts[7], "sum fn 'it''s *'<=+.5% base name=release");
        let Limit::Change(changes) = &budget.rules[1].limit else {
            panic!("expected changes");
        };
        assert_eq!(changes[0], Change::Percent(5.0));
        let Change::Amount(amount) = &changes[1] else {
            panic!("expected an amount");
        };
        assert_eq!(amount.of("time", "ns"), Ok(200_000.0));
        assert!(amount.of("allocated", "bytes").is_err());
        let Limit::Amount(amount) = &budget.rules[3].limit else {
            panic!("expected an amount");
        };
        assert_eq!(amount.of("alloc", "bytes"), Ok(120e6));
    }

    #[test]
    fn names_are_patterns_or_as_they_are() {
        let table = [
            ("'parse*'", "parse_all", true),
            ("'parse*'", "a.parse", false),
            ("'p?rse'", "pärse", true),
            ("'*'", "a\nb", true),
            ("'a.b'", "axb", false),
            ("\"operator*\"", "operator*", true),
            ("\"operator*\"", "operator**", false),
            ("'[x]*'", "[x](y)", true),
            ("''", "", true),
        ];
        for (text, name, expected) in table {
            let (_, pattern) = pattern(text).expect("it is in quotes");
            assert_eq!(pattern.fits(name), expected, "{text} {name:?}");
        }
    }

    #[test]
    fn what_is_wrong_has_a_place_and_a_remedy() {
        let table = [
            (
                "totl <= +2 %",
                "line 1 column 1: expected a rule (`total`, `fn 'NAME'`, `module`, `file`, `calls`, `sum`, `new` or `any`), `base` or `noise`, found \"totl <= +2 %\"; did you mean total",
            ),
            (
                "\n total < +2 %",
                "line 2 column 8: expected `<=`, found \"< +2 %\"",
            ),
            (
                "total <= 2 %",
                "line 1 column 13: expected `of total` (a share), or `+` before the number (a change), found the end of the line",
            ),
            (
                "total <= -2 %",
                "line 1 column 10: expected a limit: `+5 %` (a change), `120 ms` (an amount) or `30 % of total` (a share), found \"-2 %\"",
            ),
            (
                "total <= + %",
                "line 1 column 12: expected a number, such as 5 or 0.2, found \"%\"",
            ),
            (
                "total <= +0,2 %",
                "line 1 column 12: expected a decimal point, or the end of the number, found \",2 %\"",
            ),
            (
                "fn parse <= +2 %",
                "line 1 column 4: expected a name in quotes, such as 'parse*' (a pattern) or \"operator*\" (as it is), found \"parse <= +2 %\"",
            ),
            (
                "fn 'parse <= +2 %",
                "line 1 column 4: expected a name with a quote at its end, found \"'parse <= +2 %\"",
            ),
            (
                "fn 'ä' <= 5 mses",
                "line 1 column 13: expected a unit (ns, us, ms, s, B, kB, KiB, MB, MiB, GB, GiB, k, M), `%`, or an option (or, cumulative, metric, unless, base), found \"mses\"; did you mean ms, M, s",
            ),
            (
                "fn 'a' <= +5 % cumulativ",
                "line 1 column 16: expected `or` and another limit, `cumulative`, `metric NAME`, `unless 'NAME'`, `base RUNS`, a comment (`#`) or the end of the line, found \"cumulativ\"; did you mean cumulative",
            ),
            (
                "fn 'a' <= 3 % of totl",
                "line 1 column 18: expected `total`, found \"totl\"; did you mean total",
            ),
            (
                "sum total <= 3 s",
                "line 1 column 5: expected `fn`, `module`, `file` or `calls`, found \"total <= 3 s\"",
            ),
            (
                "new <= +3 %",
                "line 1 column 8: expected a share (`1 % of total`) or an amount (`5 ms`), found a change: what is new has nothing to be compared with",
            ),
            (
                "noise many runs",
                "line 1 column 7: expected a number of runs, such as `noise 3 runs`, found \"many runs\"",
            ),
            (
                "noise 3 rins",
                "line 1 column 9: expected `runs`, found \"rins\"; did you mean runs",
            ),
            (
                "noise 3 runs x",
                "line 1 column 14: expected a comment (`#`) or the end of the line, found \"x\"",
            ),
            (
                "base",
                "line 1 column 5: expected runs, such as `base branch=main last 10`, or `base file NAME`, found the end of the line",
            ),
            (
                "base branch=main lst 10\ntotal <= +1 %",
                "line 1 column 18: expected a comma, `last` and a number, or the end, and a value with a blank or comma in quotes, found \"lst 10\"",
            ),
            (
                "base a=1\nbase a=2\ntotal <= +1 %",
                "line 2 column 1: expected one line `base`, found another one, as in line 1",
            ),
            (
                "# nothing\n",
                "line 1 column 1: expected a rule, such as `total <= +5 %`, found none in the file",
            ),
            (
                "",
                "line 1 column 1: expected a rule, such as `total <= +5 %`, found none in the file",
            ),
            (
                "total <= 1 s or 2 s",
                "line 1 column 17: expected one limit that is no change, found another one: the smaller one says nothing",
            ),
            (
                "fn 'a' <= +1 % or 2 % of total",
                "line 1 column 19: expected another change, such as `or 0.2 ms`, found a share of the total: that is a rule of its own",
            ),
        ];
        for (text, expected) in table {
            let error = super::read(text.as_bytes()).expect_err(text);
            assert_eq!(error.to_string(), expected, "{text}");
        }
        let error = super::read(b"total <= +1 %\nfn 'a\xffb' <= +1 %").expect_err("no UTF-8");
        assert_eq!(
            error.to_string(),
            "line 2 column 6: expected UTF-8, found the byte 0xff"
        );
    }
}
