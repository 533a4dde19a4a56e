//! Judges every rule of a budget, all tests together.

use std::collections::BTreeSet;

use super::amounts::{Most, amounts, check_shares};
use super::answer::{
    ALPHA, AT_LIMIT, About, Answer, Gate, GateError, Named, NamedBase, PASSES, RuleAnswer, Subject,
};
use super::budget::{Budget, Limit, Pattern, Rule, Thing};
use super::cut::{History, Start};
use super::figures::{BaseRuns, Figures, Window};
use super::levels::{FROM_ZERO, Test, by_figures, from_zero, level, of_level};
use super::moved::{IsOver, Position, moved, positions};
use super::subjects::{Candidate, Watched, may_fit, mean, watched, with_others};
use crate::compare::judge::FEWEST;
use crate::compare::{ComparedRun, EXACT_THAT_DIFFERS, Normalize, Request, share_of};
use crate::store::{Database, StoreError};
use crate::text::nearest::suggestion;
use crate::text::number::fixed;
use crate::text::scale::figure;
use profdb_statistics::multiple::holm;
use profdb_statistics::{Estimate, is_above, limits, times};

/// What a gate is asked.
pub struct Question<'q, 'd> {
    /// The rules.
    pub budget: &'q Budget,
    /// The runs that are judged, one at least.
    pub new: &'q [ComparedRun<'d>],
    /// What they are compared with.
    pub bases: &'q [BaseRuns<'d>],
    /// For each rule: which of them.
    pub base_of: &'q [usize],
    /// How figures are taken: metric, noise, what they are divided by, pairs.
    pub request: &'q Request,
    /// Where a name may be that neither side has.
    pub databases: &'q [&'d Database],
}

/// What was found of a thing before all tests are known.
struct Found {
    subject: Subject,
    test: Test,
    thing: Candidate,
    /// The distribution that was tested.
    estimate: Option<Estimate>,
    /// The natural logarithm of the limit, as that distribution has it.
    ln_limit: f64,
    /// That of a figure that has not changed; of an amount or a share, that of the limit.
    ln_unchanged: f64,
    /// Where base begins.
    start: Start,
}

/// What was found of a rule.
struct Ruled {
    answer: RuleAnswer,
    found: Vec<Found>,
    is_exact: bool,
    /// Where base was, the oldest first, empty where that is unknown: all of it, then in so far as some things are compared with it.
    positions: Vec<Vec<Position>>,
}

/// Judges new runs by a budget.
///
/// # Errors
/// When the budget asks for what there is not, or a database fails.
pub fn judge(question: &Question<'_, '_>) -> Result<Gate, GateError> {
    check_shares(question.budget, question.request)?;
    let mut figures = Figures::new(question.new, question.bases, question.request);
    let mut warnings = Vec::new();
    let mut ruled = Vec::new();
    for (rule, base) in question.budget.rules.iter().zip(question.base_of) {
        ruled.push(of_rule(question, &mut figures, rule, *base, &mut warnings)?);
    }
    let adjusted = |of: &dyn Fn(&Found) -> Option<f64>| {
        let found = ruled.iter().flat_map(|ruled| &ruled.found);
        holm(&found.filter_map(of).collect::<Vec<f64>>())
    };
    let over = adjusted(&|found| found.subject.p);
    let unchanged = adjusted(&|found| found.subject.unchanged);
    let tests = over.len();
    let mut adjusted = over.into_iter().zip(unchanged);
    for (ruled, rule) in ruled.iter_mut().zip(&question.budget.rules) {
        for found in &mut ruled.found {
            if found.subject.p.is_some()
                && let Some((over, unchanged)) = adjusted.next()
            {
                found.subject.adjusted = Some(over);
                found.subject.unchanged = Some(unchanged);
            }
            decide(found, rule, tests);
        }
        look_before(ruled);
        close(ruled, rule, &mut warnings);
    }
    let named = |run: &ComparedRun<'_>| Named {
        run_id: run.is_numbered().then_some(run.run.run_id),
        name: run.name(),
        commit: run.tag("commit").map(str::to_owned),
    };
    let mut once = Vec::new();
    warnings.append(&mut figures.notes);
    for warning in warnings {
        if !once.contains(&warning) {
            once.push(warning);
        }
    }
    Ok(Gate {
        rules: ruled.into_iter().map(|ruled| ruled.answer).collect(),
        bases: question
            .bases
            .iter()
            .map(|base| NamedBase {
                said: base.said.clone(),
                runs: base.runs.iter().map(named).collect(),
            })
            .collect(),
        new: question.new.iter().map(named).collect(),
        folders: figures.folders(),
        tests,
        warnings: once,
    })
}

/// Finds what a rule watches, and tests it.
fn of_rule(
    question: &Question<'_, '_>,
    figures: &mut Figures<'_, '_>,
    rule: &Rule,
    base: usize,
    warnings: &mut Vec<String>,
) -> Result<Ruled, GateError> {
    let mut ruled = Ruled {
        answer: RuleAnswer {
            place: rule.place,
            text: rule.text.clone(),
            answer: Answer::Pass,
            reason: String::new(),
            base: None,
            subjects: Vec::new(),
            watched: 0,
            unclear: 0,
            judged: 0,
        },
        found: Vec::new(),
        is_exact: false,
        positions: vec![Vec::new()],
    };
    let sides = figures.sides(base, rule)?;
    let side = figures.side(sides);
    let is_change = matches!(rule.limit, Limit::Change(_));
    let needs_base = is_change || rule.thing == Thing::New;
    let is_exact = side.is_exact || rule.thing == Thing::Calls;
    let metric = (side.metric.name.clone(), side.metric.unit.clone());
    let metric = match rule.thing {
        Thing::Calls => ("calls".to_owned(), "count".to_owned()),
        _ => metric,
    };
    let limit = amounts(rule, &metric, question.request)?;
    let is_share =
        is_change && rule.thing != Thing::Calls && question.request.normalize == Normalize::Total;
    let metric = if is_share {
        (share_of(&metric.0), "%".to_owned())
    } else {
        metric
    };
    // A slip is one whether or not there is anything to compare with.
    if needs_base && (side.unlike.is_some() || side.base.is_empty()) && rule.pattern.is_some() {
        nothing(question, rule, &mut ruled.answer)?;
        if ruled.answer.answer == Answer::MatchesNowhere {
            return Ok(ruled);
        }
        ruled.answer.reason.clear();
    }
    if needs_base && let Some(unlike) = &side.unlike {
        ruled.answer.answer = Answer::NotComparable;
        ruled.answer.reason.clone_from(unlike);
        return Ok(ruled);
    }
    warnings.extend(side.left_out.iter().cloned());
    if needs_base && side.base.is_empty() {
        let base = &question.bases[base];
        ruled.answer.answer = match base.runs.as_slice() {
            [] if base.is_slip => Answer::NoSuchBase,
            [] => Answer::NoBase,
            _ => Answer::SameRuns,
        };
        ruled.answer.reason = match ruled.answer.answer {
            Answer::SameRuns => "base and new are the same runs, or copies of them".to_owned(),
            _ => base.said.clone(),
        };
        return Ok(ruled);
    }
    let has_base = !side.base.is_empty() && side.unlike.is_none();
    let with = Some(base).filter(|_| has_base);
    let found = watched(figures, rule, sides, (with, Window::All), !is_change)?;
    let mut things = match found {
        Watched::Things(things) => things,
        Watched::Unknown(reason) => {
            if matches!(rule.thing, Thing::Module | Thing::File) {
                nothing(question, rule, &mut ruled.answer)?;
                if ruled.answer.answer == Answer::MatchesNowhere {
                    return Ok(ruled);
                }
            }
            ruled.answer.answer = Answer::NotComparable;
            ruled.answer.reason = reason;
            return Ok(ruled);
        }
    };
    let mut earlier = 0;
    let mut numbers = Vec::new();
    if let Some(comparison) = figures.last() {
        if with.is_some() {
            // The worst runs of what is exact are compared here, whatever a comparison does with them.
            let are_true = |warning: &&String| !is_exact || *warning != EXACT_THAT_DIFFERS;
            warnings.extend(comparison.warnings.iter().filter(are_true).cloned());
        }
        earlier = comparison.earlier;
        let runs = comparison.sides[0].runs.iter().map(|run| run.run_id);
        let database = figures.side(sides).base.first().map(|run| run.database);
        // Files have no order but that of their names.
        if let (Some(runs), Some(database)) = (runs.collect::<Option<Vec<i64>>>(), database) {
            ruled.positions = vec![positions(database, &runs)?];
            numbers = runs;
        }
    }
    ruled.answer.base = with;
    ruled.is_exact = is_exact;
    if with.is_none() {
        for thing in &mut things {
            // New was compared with itself, for its figures.
            thing.each[0].clear();
            thing.totals[0].clear();
            thing.estimate = None;
        }
    }
    if things.is_empty() && rule.thing != Thing::Any {
        nothing(question, rule, &mut ruled.answer)?;
        return Ok(ruled);
    }
    let mut starts = vec![Start::default(); things.len()];
    // Runs that belong to runs of new have no history of their own.
    if let (Most::Change(growth), Some(base), None) = (&limit, with, &question.request.paired)
        && figures.side(sides).earlier.is_some()
        && !ruled.positions[0].is_empty()
    {
        let history = History {
            rule,
            sides,
            base,
            numbers: &numbers,
            is_exact,
            fewest: match question.budget.fewest {
                _ if is_exact => 1,
                fewest => fewest.unwrap_or(FEWEST),
            },
            growth: *growth,
        };
        starts = history.cut(figures, &mut things, &mut ruled.positions)?;
    }
    let judged = |(thing, start): (Candidate, Start)| {
        let mut found = tested(
            thing,
            rule,
            &limit,
            &metric,
            is_exact,
            earlier > 0,
            question.budget.fewest,
        );
        let reason = &mut found.subject.reason;
        *reason = match (reason.as_str(), start.reason.as_str()) {
            ("", other) | (other, "") => other.to_owned(),
            (one, other) => format!("{one}; {other}"),
        };
        found.start = start;
        found
    };
    ruled.found = things.into_iter().zip(starts).map(judged).collect();
    ruled.answer.watched = ruled.found.len();
    Ok(ruled)
}

/// Says that a rule watches nothing that is there.
fn nothing(
    question: &Question<'_, '_>,
    rule: &Rule,
    answer: &mut RuleAnswer,
) -> Result<(), GateError> {
    let Some(pattern) = &rule.pattern else {
        answer.answer = Answer::NothingMatched;
        return Ok(());
    };
    let place = match rule.thing {
        Thing::Module => 1,
        Thing::File => 2,
        _ => 0,
    };
    let mut databases = question.databases.iter();
    let is_known = databases.try_fold(false, |is_known, database| {
        Ok::<bool, StoreError>(
            is_known || database.has_function(|names| may_fit(rule.thing, pattern, names))?,
        )
    })?;
    let what = ["function", "module", "file"][place];
    (answer.answer, answer.reason) = if is_known {
        (
            Answer::NothingMatched,
            format!("no {what} of base or new is called {}", pattern.text),
        )
    } else {
        let near = nearest(question, place, pattern)?;
        (
            Answer::MatchesNowhere,
            format!("no {what} of any run is called {}{near}", pattern.text),
        )
    };
    Ok(())
}

/// Which functions, modules or files (0, 1, 2) are called most like a pattern that none fits.
fn nearest(
    question: &Question<'_, '_>,
    place: usize,
    pattern: &Pattern,
) -> Result<String, StoreError> {
    let mut names = BTreeSet::new();
    for database in question.databases {
        database.has_function(|known| {
            names.insert(known[place].to_owned());
            false
        })?;
    }
    names.remove("");
    // Wildcards are no letters of a name.
    let written = pattern.text.replace(['*', '?'], "");
    Ok(suggestion(
        "; the nearest: ",
        &written,
        names.into_iter().collect(),
    ))
}

/// The largest figure.
fn largest(figures: &[f64]) -> f64 {
    figures.iter().copied().fold(0.0, f64::max)
}

/// Tests a thing by itself.
fn tested(
    thing: Candidate,
    rule: &Rule,
    limit: &Most,
    metric: &(String, String),
    is_exact: bool,
    has_history: bool,
    fewest: Option<usize>,
) -> Found {
    let has_base = !thing.each[0].is_empty();
    let is_there = |side: usize| thing.each[side].iter().any(|figure| *figure > 0.0);
    let about = match limit {
        Most::Change(..) => About::Change,
        Most::Amount(_) => About::Amount,
        Most::Share(_) => About::Share,
    };
    // Shares of the totals, in percent, where the limit is one.
    let values = |side: usize| -> Vec<f64> {
        let pairs = thing.each[side].iter().zip(&thing.totals[side]);
        match limit {
            Most::Share(_) => pairs.map(|(cost, total)| 100.0 * cost / total).collect(),
            _ => thing.each[side].clone(),
        }
    };
    let [base, new] = [0, 1].map(values);
    let shown = |side: usize, values: &[f64]| match (is_exact, limit) {
        (true, _) => largest(values),
        (false, Most::Share(_)) => mean(values),
        (false, _) => thing.costs[side],
    };
    let mut subject = Subject {
        names: thing.names.clone(),
        label: thing.label.clone(),
        answer: Answer::Unclear,
        about,
        metric: match limit {
            Most::Share(_) => (format!("of the total {}", metric.0), "%".to_owned()),
            _ => metric.clone(),
        },
        base: has_base.then(|| shown(0, &base)),
        new: shown(1, &new),
        ratio: None,
        interval: None,
        limit: 0.0,
        p: None,
        adjusted: None,
        unchanged: None,
        fails_from: None,
        is_gone: has_base && is_there(0) && !is_there(1) && !thing.present[1],
        reason: String::new(),
    };
    if let (About::Change, Some(base)) = (about, subject.base)
        && base > 0.0
        && !subject.is_gone
    {
        subject.ratio = Some(subject.new / base);
    }
    let too_few = |least: usize, found: usize, of: &str| {
        (found < least).then(|| format!("expected {least} runs of {of}, found {found}"))
    };
    if let Some(reason) = &thing.unknown {
        let subject = Subject {
            answer: Answer::NotComparable,
            base: None,
            new: f64::NAN,
            limit: f64::NAN,
            reason: reason.clone(),
            ..subject
        };
        return Found {
            subject,
            test: Test::Not,
            thing,
            estimate: None,
            ln_limit: f64::NEG_INFINITY,
            ln_unchanged: f64::NEG_INFINITY,
            start: Start::default(),
        };
    }
    let both_too_few =
        |fewest| too_few(fewest, base.len(), "base").or_else(|| too_few(fewest, new.len(), "new"));
    let mut ln_limit = f64::NEG_INFINITY;
    let mut ln_unchanged = None;
    let mut tested = None;
    let test = match *limit {
        Most::Change(growth) => {
            let before = if is_exact {
                largest(&base)
            } else {
                mean(&base)
            };
            let allowed = growth.allowed(before);
            // What is shown of base is another middle than the one that is tested, and the limit is that of what is shown.
            subject.limit = match subject.base {
                Some(base) if before > 0.0 => base * allowed / before,
                _ => allowed,
            };
            let enough = match fewest {
                Some(_) | None if is_exact => None,
                Some(fewest) => both_too_few(fewest),
                None if has_history => None,
                None => both_too_few(FEWEST),
            };
            let is_from_zero = before == 0.0 && growth.more.is_none();
            if is_from_zero && !thing.present[0] {
                subject.answer = Answer::New;
                "base does not have it; use a rule `new` or a limit in a unit"
                    .clone_into(&mut subject.reason);
                Test::Not
            } else if before > 0.0 && !is_there(1) {
                Test::Figure(Some(false))
            } else if let Some(reason) = enough {
                subject.answer = Answer::TooFew;
                subject.reason = reason;
                Test::Not
            } else if is_exact {
                if is_from_zero && largest(&new) > 0.0 {
                    FROM_ZERO.clone_into(&mut subject.reason);
                }
                by_figures(&[largest(&new)], allowed)
            } else if is_from_zero {
                from_zero(&mut subject, &new, &thing)
            } else if before == 0.0 {
                ln_limit = allowed.ln();
                tested = level(&[], &new, allowed);
                of_level(&mut subject, tested, &new, allowed)
            } else {
                ln_limit = (allowed / before).ln();
                ln_unchanged = Some(0.0);
                tested = thing.estimate.or_else(|| limits::ratio(&base, &new));
                if tested.is_some() && thing.estimate.is_none() {
                    let [base, new] = times::centers(&base, &new);
                    subject.limit = base * allowed / before;
                    subject.ratio = Some(new / base);
                    (subject.base, subject.new) = (Some(base), new);
                }
                if let Some(estimate) = tested {
                    subject.interval = Some(estimate.interval(PASSES));
                    Test::Tested(estimate.ln_upper_bound(PASSES) <= ln_limit)
                } else {
                    subject.answer = Answer::TooFew;
                    "one run per side does not show the noise; record more runs"
                        .clone_into(&mut subject.reason);
                    Test::Not
                }
            }
        }
        Most::Amount(most) | Most::Share(most) => {
            subject.limit = most;
            let enough = match (fewest, rule.thing) {
                _ if is_exact => None,
                (None, Thing::New) => both_too_few(FEWEST),
                (None, _) => None,
                (Some(fewest), _) => too_few(fewest, new.len(), "new"),
            };
            if let Some(reason) = enough {
                subject.answer = Answer::TooFew;
                subject.reason = reason;
                Test::Not
            } else if is_exact {
                by_figures(&[largest(&new)], most)
            } else {
                ln_limit = most.ln();
                tested = level(&base, &new, most);
                of_level(&mut subject, tested, &new, most)
            }
        }
    };
    let ln_unchanged = ln_unchanged.unwrap_or(ln_limit);
    if let (Test::Tested(_), Some(estimate)) = (test, tested) {
        subject.p = Some(estimate.p_above(ln_limit));
        subject.unchanged = Some(estimate.p_above(ln_unchanged));
    }
    Found {
        subject,
        test,
        thing,
        estimate: tested,
        ln_limit,
        ln_unchanged,
        start: Start::default(),
    }
}

/// Decides on a thing, the number of all tests being known.
fn decide(found: &mut Found, rule: &Rule, tests: usize) {
    let subject = &mut found.subject;
    match found.test {
        Test::Not if found.thing.elsewhere.is_none() && found.thing.shifted.is_none() => return,
        Test::Not => {}
        Test::Figure(over) => {
            subject.fails_from = Some(subject.limit);
            subject.answer = match over {
                Some(true) => Answer::Fail,
                Some(false) => Answer::Pass,
                None => Answer::Unclear,
            };
        }
        Test::Tested(keeps) => {
            // What is found at the strictest level of Holm's procedure is found at all.
            #[expect(clippy::cast_precision_loss, reason = "a number of tests")]
            let found_from = |ln_limit: f64, alpha: f64| {
                let estimate = found.estimate?;
                estimate.ln_detectable(ln_limit, alpha / tests.max(1) as f64)
            };
            let over = found_from(found.ln_limit, AT_LIMIT);
            let changed = found_from(found.ln_unchanged, ALPHA);
            let from = over.zip(changed).map(|(over, changed)| over.max(changed));
            let unit = match (subject.about, subject.base) {
                (About::Change, Some(base)) if base > 0.0 => base,
                _ => 1.0,
            };
            subject.fails_from = from.map(|from| unit * from.exp());
            let is_below = |p: Option<f64>, alpha: f64| p.is_some_and(|p| p < alpha);
            let is_over = is_below(subject.adjusted, AT_LIMIT);
            let has_changed = is_below(subject.unchanged, ALPHA);
            subject.answer = match keeps {
                _ if is_over && has_changed => Answer::Fail,
                true => Answer::Pass,
                false => Answer::Unclear,
            };
        }
    }
    if subject.is_gone {
        subject.reason = match &found.thing.renamed {
            Some(name) if found.thing.shifted.is_none() => {
                format!("gone: new does not have it; renamed to {name}?")
            }
            _ => "gone: new does not have it".to_owned(),
        };
    }
    // What is compared with nothing, because base or new has it elsewhere, is not shown to keep a limit on its change.
    if let Some(elsewhere) = &found.thing.elsewhere
        && (subject.about == About::Change || rule.thing == Thing::New)
        && subject.answer != Answer::Fail
    {
        subject.answer = Answer::NotComparable;
        subject.reason.clone_from(elsewhere);
        return;
    }
    if let Some(shifted) = &found.thing.shifted {
        if matches!(subject.answer, Answer::Fail | Answer::New) && rule.thing == Thing::Any {
            if subject.answer == Answer::New {
                subject.reason.clear();
            }
            subject.answer = Answer::Pass;
        }
        subject.reason = if subject.reason.is_empty() {
            shifted.clone()
        } else {
            format!("{}; {shifted}", subject.reason)
        };
    }
}

/// Looks whether base itself had changed before what a rule is broken by.
fn look_before(ruled: &mut Ruled) {
    let is_exact = ruled.is_exact;
    for found in &mut ruled.found {
        let subject = &mut found.subject;
        if subject.answer != Answer::Fail || subject.about != About::Change {
            continue;
        }
        let before = subject.base.unwrap_or(0.0);
        if before <= 0.0 {
            continue;
        }
        let ratio = subject.limit / before;
        let is_over = |of: &[f64], figures: &[f64]| is_above(largest(figures), ratio * largest(of));
        let of_figures: Option<IsOver<'_>> = if is_exact { Some(&is_over) } else { None };
        let [base, new] = &found.thing.each;
        let positions = &ruled.positions[found.start.window];
        let moved = moved(positions, base, new, found.ln_limit, of_figures);
        if let Some(moved) = moved {
            subject.answer = Answer::BaseMoved;
            subject.reason = format!(
                "base itself is x{} since {}, and new is not shown to exceed the limit since then",
                fixed(moved.ratio, 2),
                moved.said
            );
        }
    }
}

/// Puts together what is said of a rule.
fn close(ruled: &mut Ruled, rule: &Rule, warnings: &mut Vec<String>) {
    let answer = &mut ruled.answer;
    if ruled.found.is_empty() {
        if rule.thing == Thing::Any && answer.answer == Answer::Pass {
            answer.answer = Answer::NothingMatched;
            "no function costs enough to be judged".clone_into(&mut answer.reason);
        }
        return;
    }
    // What base does not have is judged by other rules, unless a rule watches nothing else.
    let has_other = |found: &Found| found.subject.answer != Answer::New;
    if ruled.found.iter().any(has_other) && rule.thing == Thing::Any {
        ruled.found.retain(has_other);
    }
    // That something is gone tells nothing of what there are too few runs for.
    let mut subjects = ruled.found.iter().map(|found| &found.subject);
    let has_too_few = subjects.any(|subject| subject.answer == Answer::TooFew);
    let is_known = |found: &&Found| found.thing.unknown.is_none();
    let worst = |answers: &[Answer]| {
        let found = answers.iter().find(|answer| {
            let mut subjects = ruled
                .found
                .iter()
                .filter(is_known)
                .map(|found| &found.subject);
            subjects.any(|subject| subject.answer == **answer && !(has_too_few && subject.is_gone))
        });
        found.copied()
    };
    let nothing = if ruled.found.iter().all(|found| is_known(&found)) {
        Answer::NothingMatched
    } else {
        Answer::NotComparable
    };
    answer.answer = worst(&[
        Answer::Fail,
        Answer::NotComparable,
        Answer::BaseMoved,
        Answer::Unclear,
        Answer::Pass,
        Answer::TooFew,
        Answer::New,
    ])
    .unwrap_or(nothing);
    let mut found = std::mem::take(&mut ruled.found);
    let unknown: Vec<&Found> = found.iter().filter(|found| !is_known(found)).collect();
    if let [first, others @ ..] = unknown.as_slice()
        && answer.answer != Answer::NotComparable
    {
        warnings.push(format!(
            "line {}: {} is not judged: {}",
            rule.place.line,
            first.subject.names[0],
            with_others(&first.subject.reason, others.len())
        ));
    }
    answer.watched = found.len();
    answer.unclear = found
        .iter()
        .filter(|found| found.subject.answer == Answer::Unclear)
        .count();
    // A function that is gone was not compared with anything.
    let is_judged = |found: &&Found| found.subject.answer.is_judged() && !found.subject.is_gone;
    answer.judged = found.iter().filter(is_judged).count();
    // Those that are over their limit first, then those with the answer of the rule; else in the order of the comparison.
    found.sort_by_key(|found| match found.subject.answer {
        Answer::Fail => 0,
        Answer::NotComparable => 1,
        Answer::BaseMoved => 2,
        one if one == answer.answer => 3,
        _ => 4,
    });
    let largest_of = |is_of: &dyn Fn(&Found) -> bool| {
        let costs = found.iter().filter(|found| is_of(found));
        costs.map(|found| found.subject.new).reduce(f64::max)
    };
    let costliest = largest_of(&|_| true).unwrap_or(0.0).max(0.0);
    let is_example = |found: &Found| found.subject.answer == answer.answer;
    // Without a function that has the answer of the rule, the costliest of all is the example.
    let (has_examples, example) = match largest_of(&is_example) {
        Some(cost) => (true, cost),
        None => (false, costliest),
    };
    // Of every function that is small it is known that little can be shown.
    for found in &found {
        if rule.thing != Thing::Any || found.subject.new >= costliest {
            blind(&found.subject, rule, warnings);
        }
    }
    if rule.thing == Thing::Any {
        let mut has_example = false;
        let rule_answer = answer.answer;
        found.retain(|found| {
            let subject = &found.subject;
            let may_be = !has_examples || subject.answer == rule_answer;
            let is_example = !has_example && may_be && subject.new >= example;
            has_example |= is_example;
            is_example
                || matches!(
                    subject.answer,
                    Answer::Fail | Answer::BaseMoved | Answer::NotComparable
                )
                || (found.thing.shifted.is_some() && !subject.is_gone)
        });
    }
    answer.subjects = found.into_iter().map(|found| found.subject).collect();
}

/// Warns of a limit that the runs cannot hold: only a change of more than twice as much would be found.
fn blind(subject: &Subject, rule: &Rule, warnings: &mut Vec<String>) {
    let (Some(from), Some(_)) = (subject.fails_from, subject.p) else {
        return;
    };
    let line = rule.place.line;
    let named = |value: f64| figure_of(&subject.metric, value);
    let warning = match (subject.about, subject.base) {
        (About::Change, Some(base)) if base > 0.0 => {
            let (allowed, found) = (subject.limit / base - 1.0, from / base - 1.0);
            (found > 2.0 * allowed).then(|| {
                let percent = |part: f64| fixed(100.0 * part, 1);
                format!(
                    "line {line}: these runs show only a change of +{} % or more, which is more than twice the limit of +{} %; record more runs per side",
                    percent(found),
                    percent(allowed)
                )
            })
        }
        (About::Change, _) => None,
        (About::Amount | About::Share, _) => (from > 2.0 * subject.limit).then(|| {
            format!(
                "line {line}: these runs show only a figure of {} or more, which is more than twice the limit of {}; record more runs",
                named(from),
                named(subject.limit)
            )
        }),
    };
    warnings.extend(warning);
}

/// A figure with its unit.
pub(super) fn figure_of(metric: &(String, String), value: f64) -> String {
    if metric.1 == "%" {
        return format!("{} %", fixed(value, 1));
    }
    figure(&metric.0, &metric.1, value)
}
