//! The things that a rule watches, with their figures in every run.

use std::collections::{BTreeMap, BTreeSet};

use super::answer::GateError;
use super::budget::{Pattern, Rule, Thing};
use super::figures::{Figures, Wanted, Window};
use crate::compare::judge::{Limits, Verdict};
use crate::compare::{By, ComparedRun, Comparison, Folders, Row, Within, newest_name, of_group};
use crate::report::{SpelledInRuns, label_among};
use profdb_statistics::Estimate;
use profdb_statistics::presence;

/// A thing, with its figures.
pub(super) struct Candidate {
    pub(super) names: [String; 3],
    /// Name with the place that tells the function from others of its name; empty if the name is enough.
    pub(super) label: String,
    /// Its figure in each run of base and of new.
    pub(super) each: [Vec<f64>; 2],
    /// The totals of the runs.
    pub(super) totals: [Vec<f64>; 2],
    /// Figures for people, of base and of new.
    pub(super) costs: [f64; 2],
    /// The distribution of the ratio, where something tells.
    pub(super) estimate: Option<Estimate>,
    /// What it was compared with makes up for it: inlined, renamed, moved.
    pub(super) shifted: Option<String>,
    /// What new may call it.
    pub(super) renamed: Option<String>,
    /// One side has it in another place than the other, under one name: they are compared as if they were two.
    pub(super) elsewhere: Option<String>,
    /// Why its figures are unknown; it has none then.
    pub(super) unknown: Option<String>,
    /// True for a row that base and new have, at any cost.
    pub(super) present: [bool; 2],
    /// The probability of its samples if nothing has changed.
    pub(super) p: Option<f64>,
    /// True if the comparison shows that it costs more in new.
    pub(super) has_grown: bool,
}

/// What a rule watches, as far as the runs have it.
pub(super) enum Watched {
    /// These; none of what is watched is in the runs if there are none.
    Things(Vec<Candidate>),
    /// The runs know no figure of what is watched, or not all of those that are added up.
    Unknown(String),
}

/// The rows that comparisons are about.
pub(super) fn by(thing: Thing) -> By {
    match thing {
        Thing::Module => By::Group("module".to_owned()),
        Thing::File => By::Group("file".to_owned()),
        _ => By::Function,
    }
}

/// Finds what a rule watches. `base` is the number of the base that it is compared with, in so far as it is in a window.
pub(super) fn watched(
    figures: &mut Figures<'_, '_>,
    rule: &Rule,
    sides: usize,
    in_window: (Option<usize>, Window),
    plain: bool,
) -> Result<Watched, GateError> {
    let mut found = find_watched(figures, rule, sides, in_window, plain)?;
    if let (Watched::Things(things), Some(comparison), true) = (
        &mut found,
        figures.last(),
        is_place_read(rule.thing) && !rule.is_sum,
    ) {
        for thing in things.iter_mut().filter(|thing| thing.label.is_empty()) {
            thing.label = label_among(&thing.names, &comparison.namesakes);
        }
    }
    Ok(found)
}

fn find_watched(
    figures: &mut Figures<'_, '_>,
    rule: &Rule,
    sides: usize,
    (base, window): (Option<usize>, Window),
    plain: bool,
) -> Result<Watched, GateError> {
    let metric = figures.side(sides).metric.name.clone();
    let is_exact = figures.side(sides).is_exact;
    let mut wanted = Wanted {
        base,
        window,
        metric: &metric,
        by: by(rule.thing),
        cumulative: rule.cumulative,
        plain,
        // Functions that are new may be new in a few runs of many, and small on average.
        all: rule.thing == Thing::New,
    };
    let mut at = match figures.comparison(sides, &wanted)? {
        Ok(at) => at,
        Err(message) => return Ok(Watched::Unknown(message)),
    };
    let side = figures.side(sides);
    let runs: Vec<&ComparedRun<'_>> = side.base.iter().chain(&side.new).collect();
    // What is one under two names has that of the newest run.
    let folders = figures.of(at).map_or(&[][..], |made| &made.folders);
    let mut notes = Vec::new();
    let mut meant = |patterns| meant(&runs, &metric, patterns, rule.thing, folders, &mut notes);
    let named = meant(rule.pattern.as_slice())?;
    let excluded = meant(&rule.unless)?;
    figures.notes.extend(notes);
    let is_of = |row: &Row, patterns: &[Meant<'_>]| {
        let mut patterns = patterns.iter();
        patterns.any(|pattern| pattern.fits(&row.item.names))
    };
    let fits = |row: &Row| (rule.pattern.is_none() || is_of(row, &named)) && !is_of(row, &excluded);
    // A rule `any` is about the functions that are large enough to be judged. Without any cost nothing has grown, either.
    let is_without_cost = figures.of(at).is_some_and(|made| {
        let mut rows = made.rows.iter().filter(|row| fits(row));
        rows.all(has_no_cost)
    });
    let is_watched = |row: &Row| match rule.thing {
        Thing::Any if is_without_cost => row.judgement.present == [true, true] && fits(row),
        Thing::Any => row.judgement.verdict.is_some() && fits(row),
        Thing::New => is_new(row, is_exact) && fits(row),
        _ => fits(row),
    };
    // A function that costs little has no test unless it is asked for.
    let is_untested = |row: &Row| row.judgement.verdict.is_none() && !has_no_cost(row);
    let needs_all = base.is_some()
        && matches!(rule.thing, Thing::Function | Thing::Module | Thing::File)
        && figures.of(at).is_some_and(|made| {
            made.rows
                .iter()
                .any(|row| is_watched(row) && is_untested(row))
        });
    if needs_all {
        wanted.all = true;
        if let Ok(found) = figures.comparison(sides, &wanted)? {
            at = found;
        }
    }
    let Some(comparison) = figures.of(at) else {
        return Ok(Watched::Things(Vec::new()));
    };
    let totals = [0, 1].map(|side: usize| {
        let runs = comparison.sides[side].runs.iter();
        runs.map(|run| run.total).collect::<Vec<f64>>()
    });
    if rule.thing == Thing::Total {
        let row = &comparison.total;
        return Ok(Watched::Things(vec![candidate(
            row,
            row.each.clone(),
            totals,
        )]));
    }
    let kept = |row: &&Row| is_watched(row);
    let mut rows: Vec<&Row> = comparison.rows.iter().filter(kept).collect();
    let elsewhere = of_one_name(comparison, rule, &fits);
    // What is unknown of one function tells nothing of the others, unless all are added up.
    let reason = why_unknown(rule, &rows, comparison);
    let lost: Vec<(&Row, String)> = rows
        .iter()
        .zip(&reason)
        .filter_map(|(row, reason)| Some((*row, reason.clone()?)))
        .collect();
    if let [(first, reason), others @ ..] = lost.as_slice()
        && (rule.is_sum || rule.thing == Thing::New || lost.len() == rows.len())
    {
        let (name, reason) = (&first.item.names[0], with_others(reason, others.len()));
        return Ok(Watched::Unknown(format!("{name}: {reason}")));
    }
    let mut reason = reason.iter();
    rows.retain(|_| reason.next().is_none_or(Option::is_none));
    let lost = lost
        .into_iter()
        .map(|(row, reason)| without_figures(row, reason));
    if rule.thing == Thing::Calls {
        let mut things = calls(rule, &rows, &totals, &elsewhere);
        things.extend(lost);
        return Ok(Watched::Things(things));
    }
    if rule.thing == Thing::New {
        // What is a function of base in another place is not known to be new.
        let reason = rows.iter().find_map(|row| elsewhere.get(&row.item.names));
        rows.retain(|row| !elsewhere.contains_key(&row.item.names));
        // No function is new: they cost nothing.
        let mut sum = added(rule, &rows, comparison, &totals, |row| &row.each);
        let named: Vec<&str> = rows.iter().map(|row| row.item.names[0].as_str()).collect();
        sum.names[0] = named.join(", ");
        let label = |row: &&Row| label_among(&row.item.names, &comparison.namesakes);
        sum.label = rows.iter().map(label).collect::<Vec<_>>().join(", ");
        let shifts = rows
            .iter()
            .filter(|row| row.judgement.verdict == Some(Verdict::Shifted));
        let shifts: Vec<String> = shifts
            .map(|row| format!("{} is {}", row.item.names[0], row.reason))
            .collect();
        sum.shifted = Some(shifts.join("; ")).filter(|reason| !reason.is_empty());
        sum.elsewhere = reason.cloned();
        return Ok(Watched::Things(vec![sum]));
    }
    if rule.is_sum && !rows.is_empty() {
        let sum = added(rule, &rows, comparison, &totals, |row| &row.each);
        return Ok(Watched::Things(vec![sum]));
    }
    let renamed = |row: &Row| {
        let mut suggestions = comparison.suggestions.iter();
        let found = suggestions.find(|suggestion| suggestion.base == row.item.names)?;
        Some(found.new[0].clone())
    };
    let moved = moved(rule, &rows);
    let things = rows.iter().enumerate().filter_map(|(at, row)| {
        if moved.iter().any(|(gone, _)| *gone == at) {
            return None;
        }
        if let Some((gone, _)) = moved.iter().find(|(_, new)| *new == at) {
            let one = added(rule, &[rows[*gone], row], comparison, &totals, |row| {
                &row.each
            });
            return Some(Candidate {
                names: row.item.names.clone(),
                shifted: Some(row.reason.clone()),
                ..one
            });
        }
        Some(Candidate {
            renamed: renamed(row),
            elsewhere: elsewhere.get(&row.item.names).cloned(),
            ..candidate(row, row.each.clone(), totals.clone())
        })
    });
    Ok(Watched::Things(things.chain(lost).collect()))
}

/// For each function: why the runs do not know the figure that a rule is about, if they do not.
fn why_unknown(rule: &Rule, rows: &[&Row], comparison: &Comparison) -> Vec<Option<String>> {
    if rule.thing != Thing::Calls {
        let what = "its inclusive cost is unknown";
        let reason = |row: &&Row| {
            row.each[1]
                .is_empty()
                .then(|| format!("{what}: {}", row.reason))
        };
        return rows.iter().map(reason).collect();
    }
    let is_counted = |row: &Row, side: usize| row.each_calls[side].iter().any(|calls| *calls > 0.0);
    let counts = [0, 1].map(|side| comparison.rows.iter().any(|row| is_counted(row, side)));
    let reason = |row: &&Row| {
        let is_lost = |side: usize| {
            let calls = &row.each_calls[side];
            calls.is_empty() || calls.iter().any(|calls| calls.is_nan())
        };
        let because = match [0, 1].map(is_lost) {
            [false, false] => return None,
            [true, false] if !counts[0] => "base counts no calls",
            [false, true] if !counts[1] => "new counts no calls",
            [true, true] if !counts[0] || !counts[1] => "their profiler counts no calls",
            // The count is kept with the caller: what the profiler begins with has none.
            _ => "they count calls, but it has no caller",
        };
        Some(format!("the number of its calls is unknown: {because}"))
    };
    rows.iter().map(reason).collect()
}

/// Functions that a rule names, of which the comparison says that they have moved to another file or module: where the one is that is
/// gone, and where the one is that is new. The rule is about both together: they are one function, which may be slower where
/// it is now.
fn moved(rule: &Rule, rows: &[&Row]) -> Vec<(usize, usize)> {
    if rule.thing != Thing::Function {
        return Vec::new();
    }
    let is_shifted = |row: &Row| row.judgement.verdict == Some(Verdict::Shifted);
    let only = |side: usize| {
        rows.iter().enumerate().filter(move |(_, row)| {
            let present = row.judgement.present;
            is_shifted(row) && present[side] && !present[1 - side]
        })
    };
    let pair = |(gone, row): (usize, &&Row)| {
        let mut others = only(1).filter(|(_, other)| other.item.names[0] == row.item.names[0]);
        let (new, _) = others.next()?;
        // Which of several it is the comparison does not say here.
        let alike = only(0).filter(|(_, other)| other.item.names[0] == row.item.names[0]);
        (others.next().is_none() && alike.count() == 1).then_some((gone, new))
    };
    only(0).filter_map(pair).collect()
}

/// The functions that one side does not have, while it has another one of the same name that the other side does not have: in
/// another file or module. If they are one, what changed of it is unknown. By name, module and file, each with the reason.
fn of_one_name(
    comparison: &Comparison,
    rule: &Rule,
    fits: &dyn Fn(&Row) -> bool,
) -> BTreeMap<[String; 3], String> {
    let mut found = BTreeMap::new();
    if rule.is_sum
        || !matches!(
            rule.thing,
            Thing::Function | Thing::Calls | Thing::Any | Thing::New | Thing::File
        )
    {
        return found;
    }
    // A file has its path for its name.
    let name = |row: &Row| -> String {
        let name = &row.item.names[0];
        let last = match rule.thing {
            Thing::File => name.rsplit('/').next().unwrap_or(name),
            _ => name,
        };
        last.to_owned()
    };
    // What is shown to cost the same in its other place is one function, which the comparison has said; of what no rule names, a
    // sampling sees a part, so that only what is shown to be missing on a side counts.
    let is_shown = |row: &Row| match row.judgement.verdict {
        Some(Verdict::Shifted) => false,
        Some(Verdict::New | Verdict::Gone) => true,
        _ => matches!(rule.thing, Thing::Function | Thing::Calls | Thing::File),
    };
    let only = |side: usize| -> BTreeMap<String, &Row> {
        let rows = comparison.rows.iter().filter(|row| {
            let present = row.judgement.present;
            row.item.is_named
                && present[side]
                && !present[1 - side]
                && !has_no_cost(row)
                && is_shown(row)
                && fits(row)
        });
        rows.map(|row| (name(row), row)).collect()
    };
    let [of_base, of_new] = [only(0), only(1)];
    let place = |row: &Row| {
        let [_, module, file] = &row.item.names;
        let parts = [file.as_str(), module].into_iter();
        let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
        if parts.is_empty() {
            "no file".to_owned()
        } else {
            parts.join(" of ")
        }
    };
    for (name, base) in &of_base {
        let Some(new) = of_new.get(name) else {
            continue;
        };
        let loose = if comparison.request.loose {
            "--loose does not, because chance may explain that a side lacks it"
        } else {
            "--loose matches names"
        };
        let reason = format!(
            "base has {name} in {}, new in {}, and they do not match; --root OLD=NEW matches directories and programs, {loose}",
            place(base),
            place(new)
        );
        for row in [base, new] {
            found.insert(row.item.names.clone(), reason.clone());
        }
    }
    // Names that may begin otherwise in new: what changed of them is as unknown.
    for one in &comparison.prefixes {
        for (base, new) in &one.functions {
            let rows = [of_base.get(base), of_new.get(new)];
            for row in rows.into_iter().flatten() {
                let reason = format!(
                    "base has {base}, new {new}, and they do not match; diff prints rules for identify --rules that match {}* with {}*",
                    one.base, one.new
                );
                found.entry(row.item.names.clone()).or_insert(reason);
            }
        }
    }
    found
}

/// Whether a function is shown to be new: by the verdict of comparisons, also where its cost is found to have been another's.
fn is_new(row: &Row, is_exact: bool) -> bool {
    let is_shifted = row.judgement.verdict == Some(Verdict::Shifted);
    row.item.is_named
        && row.judgement.present == [false, true]
        && row.judgement.seen[1] > 0
        && (row.judgement.verdict == Some(Verdict::New) || is_shifted || is_exact)
}

/// Returns true for a row without a cost in any run.
fn has_no_cost(row: &Row) -> bool {
    row.judgement.seen == [0, 0]
}

fn candidate(row: &Row, each: [Vec<f64>; 2], totals: [Vec<f64>; 2]) -> Candidate {
    let is_shifted = row.judgement.verdict == Some(Verdict::Shifted);
    Candidate {
        names: row.item.names.clone(),
        label: String::new(),
        each,
        totals,
        costs: row.costs,
        estimate: row.judgement.estimate.as_deref().copied(),
        shifted: is_shifted.then(|| row.reason.clone()),
        renamed: None,
        elsewhere: None,
        unknown: None,
        present: row.judgement.present,
        // Without a distribution, the comparison knows only in which runs the function is.
        p: row.judgement.p.filter(|_| row.judgement.estimate.is_some()),
        has_grown: matches!(
            row.judgement.verdict,
            Some(Verdict::Slower | Verdict::Shifted)
        ),
    }
}

/// A thing of which it is unknown what a rule is about.
fn without_figures(row: &Row, reason: String) -> Candidate {
    Candidate {
        costs: [f64::NAN; 2],
        estimate: None,
        shifted: None,
        unknown: Some(reason),
        ..candidate(row, [Vec::new(), Vec::new()], [Vec::new(), Vec::new()])
    }
}

/// Things together.
fn added(
    rule: &Rule,
    rows: &[&Row],
    comparison: &Comparison,
    totals: &[Vec<f64>; 2],
    of: impl Fn(&Row) -> &[Vec<f64>; 2],
) -> Candidate {
    let each = [0, 1].map(|side: usize| {
        let runs = 0..comparison.sides[side].runs.len();
        runs.map(|run| rows.iter().map(|row| of(row)[side][run]).sum())
            .collect::<Vec<f64>>()
    });
    let text = rule.pattern.as_ref().map_or("", |pattern| &pattern.text);
    Candidate {
        names: [text.to_owned(), String::new(), String::new()],
        label: String::new(),
        totals: totals.clone(),
        costs: [0, 1].map(|side: usize| mean(&each[side])),
        estimate: None,
        shifted: None,
        renamed: None,
        elsewhere: None,
        unknown: None,
        present: present(rows),
        p: None,
        has_grown: has_appeared(&each),
        each,
    }
}

/// Returns true if every run of new and no run of base has a cost, which chance does not explain.
fn has_appeared(each: &[Vec<f64>; 2]) -> bool {
    let seen = each
        .each_ref()
        .map(|figures| figures.iter().filter(|figure| **figure != 0.0).count());
    let runs = each.each_ref().map(Vec::len);
    seen[0] == 0
        && presence::one_sided(&[seen], runs)
            .iter()
            .flatten()
            .any(|p| *p < Limits::default().alpha)
}

/// Flags for base and new: true if the side has one of the rows.
fn present(rows: &[&Row]) -> [bool; 2] {
    [0, 1].map(|side: usize| rows.iter().any(|row| row.judgement.present[side]))
}

/// How often functions are called, of all of which that is known.
fn calls(
    rule: &Rule,
    rows: &[&Row],
    totals: &[Vec<f64>; 2],
    elsewhere: &BTreeMap<[String; 3], String>,
) -> Vec<Candidate> {
    let of = |row: &Row| -> Candidate {
        let each = row.each_calls.clone();
        Candidate {
            costs: [0, 1].map(|side: usize| mean(&each[side])),
            estimate: None,
            elsewhere: elsewhere.get(&row.item.names).cloned(),
            ..candidate(row, each, totals.clone())
        }
    };
    let mut things: Vec<Candidate> = rows.iter().map(|row| of(row)).collect();
    if rule.is_sum
        && let Some(first) = things.first()
    {
        let each = [0, 1].map(|side: usize| {
            let runs = 0..first.each[side].len();
            runs.map(|run| things.iter().map(|thing| thing.each[side][run]).sum())
                .collect::<Vec<f64>>()
        });
        let text = rule.pattern.as_ref().map_or("", |pattern| &pattern.text);
        let sum = Candidate {
            names: [text.to_owned(), String::new(), String::new()],
            label: String::new(),
            totals: totals.clone(),
            costs: [0, 1].map(|side: usize| mean(&each[side])),
            estimate: None,
            shifted: None,
            renamed: None,
            elsewhere: None,
            unknown: None,
            present: present(rows),
            p: None,
            has_grown: has_appeared(&each),
            each,
        };
        things = vec![sum];
    }
    things
}

/// Whether a pattern means a function of this name, module and file, or its module, or its file, unless another one has the whole
/// of the pattern for its name.
pub(super) fn may_fit(thing: Thing, pattern: &Pattern, names: [&str; 3]) -> bool {
    fits(thing, pattern, names) || is_place_read(thing) && pattern.may_be_placed(names)
}

/// Whether a pattern means a function by its name, or its module, or its file.
fn fits(thing: Thing, pattern: &Pattern, [name, module, file]: [&str; 3]) -> bool {
    pattern.fits(match thing {
        Thing::Module => module,
        Thing::File => file,
        _ => name,
    })
}

/// Whether a name may be followed by its place.
fn is_place_read(thing: Thing) -> bool {
    !matches!(thing, Thing::Module | Thing::File)
}

/// What a pattern means in some runs.
struct Meant<'p> {
    pattern: &'p Pattern,
    /// Names after the rules of identities of the functions, modules or files that it fits by a name as some run has it.
    found: BTreeSet<[String; 3]>,
}

impl Meant<'_> {
    /// Whether it means something by the names that comparisons show, or by those that some run has.
    fn fits(&self, names: &[String; 3]) -> bool {
        // Comparisons of modules or files have these for names.
        self.pattern.fits(&names[0]) || self.found.contains(names)
    }
}

/// Resolves patterns in the runs of both sides. Adds notes for functions that comparisons do not tell apart.
fn meant<'p>(
    runs: &[&ComparedRun<'_>],
    metric: &str,
    patterns: &'p [Pattern],
    thing: Thing,
    folders: &[Folders],
    notes: &mut Vec<String>,
) -> Result<Vec<Meant<'p>>, GateError> {
    let mut all: Vec<Meant<'p>> = patterns
        .iter()
        .map(|pattern| Meant {
            pattern,
            found: BTreeSet::new(),
        })
        .collect();
    if patterns.is_empty() {
        return Ok(all);
    }
    let mut is_name = vec![false; patterns.len()];
    let mut identities: BTreeMap<(usize, i64), [String; 3]> = BTreeMap::new();
    // What is one under two names has that of the newest run.
    let shown = |names: &[String; 3]| {
        let names = match thing {
            Thing::Module => of_group("module", names),
            Thing::File => of_group("file", names),
            _ => names.clone(),
        };
        named_now(names, thing, folders)
    };
    for run in runs {
        let database = std::ptr::from_ref(run.database).addr();
        let metrics = run.database.metrics(run.run.run_id)?;
        let Some(metric) = metrics.iter().find(|known| known.name == metric) else {
            continue;
        };
        let mut learnt = Vec::new();
        run.database.each_function_identity(
            metric.metric_id,
            None,
            |function| !identities.contains_key(&(database, function)),
            |function, identity| learnt.push((function, identity)),
        )?;
        for (function, identity) in learnt {
            if identity.is_code() {
                let raw = identity.raw.each_ref().map(String::as_str);
                for (meant, is_name) in all.iter_mut().zip(&mut is_name) {
                    let is_raw = fits(thing, meant.pattern, raw);
                    if is_raw {
                        meant.found.insert(shown(&identity.names));
                    }
                    *is_name |= is_raw || meant.pattern.fits(&identity.names[0]);
                }
            }
            identities.insert((database, function), identity.names);
        }
    }
    let of_runs = || runs.iter().map(|run| (run.database, run.run.run_id));
    for (meant, is_name) in all.iter_mut().zip(is_name) {
        if is_name || !is_place_read(thing) || meant.pattern.is_wild() {
            continue;
        }
        let spelled = SpelledInRuns::of(of_runs(), &meant.pattern.text)?;
        for (run, functions) in spelled.found() {
            let database = std::ptr::from_ref(runs[*run].database).addr();
            let names = functions
                .iter()
                .filter_map(|id| identities.get(&(database, *id)));
            meant.found.extend(names.map(shown));
        }
        notes.extend(spelled.note(identities.values()));
    }
    Ok(all)
}

/// Names as comparisons show them, where folders or modules are one under several names.
fn named_now([name, module, file]: [String; 3], thing: Thing, folders: &[Folders]) -> [String; 3] {
    let name = match thing {
        Thing::Module => newest_name(Within::Module, &name, folders),
        Thing::File => newest_name(Within::Folder, &name, folders),
        _ => name,
    };
    let module = newest_name(Within::Module, &module, folders);
    [name, module, newest_name(Within::Folder, &file, folders)]
}

/// The arithmetic mean; 0 of no runs.
pub(super) fn mean(figures: &[f64]) -> f64 {
    if figures.is_empty() {
        return 0.0;
    }
    profdb_statistics::mean(figures)
}

/// Why something is not judged, and of how many more that is true.
pub(super) fn with_others(reason: &str, others: usize) -> String {
    match others {
        0 => reason.to_owned(),
        others => format!("{reason}; likewise {others} more"),
    }
}
