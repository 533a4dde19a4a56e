//! Verdicts: what a comparison says of each function, and of the whole run.
//!
//! The order in which they are tried (docs/comparing.md says what each means and does not mean):
//!
//! 1. *unclear*, where a side has fewer than three runs of what is measured;
//! 2. *new*, *gone*: one side has nothing, and chance does not explain that;
//! 3. *same*: the interval of the ratio lies within the smallest effect that matters (two one-sided tests; Schuirmann 1987);
//! 4. *slower*, *faster*: the ratio is not 1, with the false discovery rate that was asked for;
//! 5. *unclear*: none of these, which is not the same as *same*.
//!
//! Here are figures only, in matrices: rows are functions, columns are runs. Names come later.

use super::center::{Center, ratio};
pub use super::matrix::{History, Limits, Matrix, Test};
pub use crate::events::Noise;
use profdb_statistics::counts;
use profdb_statistics::factors::SizeFactors;
use profdb_statistics::few;
use profdb_statistics::grain;
use profdb_statistics::multiple::false_discovery_rates;
use profdb_statistics::presence;
use profdb_statistics::ranks;
use profdb_statistics::repeats::runs_needed;
use profdb_statistics::times;
use profdb_statistics::{Estimate, Figures, ROUNDING, Shape, Sides, mean};

/// What is said of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is in new and in no run of base, which chance does not explain.
    New,
    /// It is in base and in no run of new, which chance does not explain.
    Gone,
    /// It has changed by no more than the smallest effect that matters.
    Same,
    /// It costs more.
    Slower,
    /// It costs less.
    Faster,
    /// Its cost is now counted elsewhere, and together with what is there it is the same.
    Shifted,
    /// The change is not significant: there are too few runs, or the figures vary too much.
    Unclear,
}

impl Verdict {
    /// All verdicts: changes first, verdicts without an answer last.
    pub const ALL: [Self; 7] = [
        Self::Slower,
        Self::Faster,
        Self::New,
        Self::Gone,
        Self::Shifted,
        Self::Same,
        Self::Unclear,
    ];

    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Gone => "gone",
            Self::Same => "same",
            Self::Slower => "slower",
            Self::Faster => "faster",
            Self::Shifted => "shifted",
            Self::Unclear => "unclear",
        }
    }

    /// Whether it says that something has changed.
    #[must_use]
    pub fn is_change(self) -> bool {
        matches!(self, Self::New | Self::Gone | Self::Slower | Self::Faster)
    }
}

/// What is said of a row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judgement {
    /// The verdict; `None` where the row is too small to be judged.
    pub verdict: Option<Verdict>,
    /// The costs of base and of new, each the center of the costs of its runs.
    pub costs: [f64; 2],
    /// The cost of new divided by that of base; `None` where one of them is 0.
    pub ratio: Option<f64>,
    /// Its interval; infinite above where base may be 0.
    pub interval: Option<(f64, f64)>,
    /// Probability of a ratio as far from 1 if nothing has changed.
    pub p: Option<f64>,
    /// False discovery rate among the functions that were tested.
    pub q: Option<f64>,
    /// How many times as much counts vary as independent samples.
    pub dispersion: Option<f64>,
    /// Runs a side that would show the smallest effect that matters in four of five cases.
    pub runs_needed: Option<f64>,
    /// In how many runs of base and of new it costs anything.
    pub seen: [usize; 2],
    /// True for a row that a run of base and a run of new have, at any cost.
    pub present: [bool; 2],
    /// The distribution of the ratio, for tests of other ratios than 1; `None` where nothing tells. Few functions of a large
    /// program are large enough to be tested.
    pub estimate: Option<Box<Estimate>>,
}

impl Judgement {
    /// Notes which sides have the row. A row of both sides is neither new nor gone at a cost of 0: it has changed by `delta`.
    pub(super) fn set_present(&mut self, present: [bool; 2], delta: f64) {
        self.present = present;
        if self.is_one_sided() && present == [true, true] {
            self.verdict = Some(if delta > 0.0 {
                Verdict::Slower
            } else {
                Verdict::Faster
            });
        }
    }

    /// True for a row that only one side has.
    pub(super) fn is_one_sided(&self) -> bool {
        matches!(self.verdict, Some(Verdict::New | Verdict::Gone))
    }
}

/// What is said of all rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// One for each function.
    pub functions: Vec<Judgement>,
    /// That of the totals.
    pub total: Judgement,
    /// Number of functions that were tested together, or compared directly if counts are exact.
    pub tested: usize,
    /// How the figures were taken to vary. Exact ones whose repeats differ are taken as measured.
    pub noise: Noise,
    /// The center of the costs of each function.
    pub(super) center: Center,
}

/// Runs of a side from which verdicts are given. With two, comparisons of what had not changed had 0.6 false verdicts each.
pub const FEWEST: usize = 3;

/// Samples that are taken to come together where the runs do not tell: the largest bursts that have been seen.
pub const BURST: f64 = 8.0;

/// Judges every function and the total.
#[must_use]
pub fn judge(matrix: &Matrix, noise: Noise, limits: &Limits) -> Judged {
    let rows = matrix.costs.functions();
    let noise = match noise {
        Noise::Exact if !repeats_agree(&matrix.costs) => Noise::Timed,
        Noise::Sampled if matrix.counts.is_none() => Noise::Timed,
        noise => noise,
    };
    let center = Center::of_functions(matrix, noise, limits);
    let mut functions: Vec<Judgement> = (0..rows)
        .map(|row| described(&center, &matrix.costs, row))
        .collect();
    // What costs nothing in any run (another metric of the runs may have it) is no row of a comparison.
    let is_large = |row: usize| mean_share(&matrix.costs, &matrix.totals, row) >= limits.min_share;
    let tested: Vec<usize> = (0..rows)
        .filter(|row| functions[*row].seen != [0, 0])
        .filter(|row| is_large(*row) || matrix.asked.contains(row))
        .collect();
    let shape = Repeats::of(&matrix.costs);
    if noise == Noise::Exact {
        for row in &tested {
            functions[*row].verdict = Some(exact(&functions[*row], &matrix.costs, *row, limits));
        }
    } else {
        let has_noise = has_noise(shape, matrix);
        let estimates = estimates(matrix, noise, &tested, limits);
        let seen: Vec<[usize; 2]> = tested.iter().map(|row| functions[*row].seen).collect();
        let presence = presence::one_sided(&seen, [shape.base, shape.new]);
        let tests: Vec<Found> = tested
            .iter()
            .zip(estimates)
            .zip(presence)
            .map(
                |((row, estimate), presence)| match (estimate, &matrix.counts) {
                    (Some(estimate), _) => Found::Estimate(estimate),
                    (None, Some(samples))
                        if shape.base + shape.new == 2 && are_counts(samples, *row) =>
                    {
                        let (base, new) = (samples.base.row(*row), samples.new.row(*row));
                        of_two_counts(base[0], new[0], matrix)
                    }
                    (None, _) => Found::Presence(presence),
                },
            )
            .collect();
        let known: Vec<(usize, f64)> = tests
            .iter()
            .enumerate()
            .filter_map(|(at, found)| Some((at, found.p_among_others()?)))
            .collect();
        let rates = false_discovery_rates(&known.iter().map(|(_, p)| *p).collect::<Vec<_>>());
        let mut q = vec![None; tests.len()];
        for ((at, _), rate) in known.iter().zip(rates) {
            q[*at] = Some(rate).filter(|_| !tests[*at].is_a_bound());
        }
        for ((row, found), q) in tested.iter().zip(&tests).zip(q) {
            let judgement = &mut functions[*row];
            found.put(judgement, limits);
            // Of samples, the counts themselves show whether chance explains that a side has none.
            let may_have_verdict =
                has_noise || noise == Noise::Sampled && judgement.seen.contains(&0);
            judgement.q = q.filter(|_| may_have_verdict);
            judgement.runs_needed = found.runs_needed(shape, limits, tested.len());
            judgement.verdict = Some(verdict(judgement, found, noise, shape, matrix, limits));
        }
    }
    let total = total(matrix, noise, shape, &tested, &functions, limits);
    let is_tested = |row: &&usize| noise == Noise::Exact || functions[**row].q.is_some();
    let tested = tested.iter().filter(is_tested).count();
    Judged {
        functions,
        total,
        tested,
        noise,
        center,
    }
}

/// Numbers of runs.
#[derive(Clone, Copy)]
struct Repeats {
    base: usize,
    new: usize,
}

impl Repeats {
    fn of(sides: &Sides) -> Self {
        Self {
            base: sides.base.runs(),
            new: sides.new.runs(),
        }
    }

    fn are_enough(self) -> bool {
        self.base.min(self.new) >= FEWEST
    }
}

/// Whether the runs of each side have equal figures.
fn repeats_agree(sides: &Sides) -> bool {
    let agree = |row: &[f64]| {
        row.iter()
            .all(|figure| figure.to_bits() == row[0].to_bits())
    };
    (0..sides.functions()).all(|row| agree(sides.base.row(row)) && agree(sides.new.row(row)))
}

/// The mean over all runs of the part of its total that a function has. It does not tell the sides apart: a choice of
/// functions by their share on one side would be no independent one.
pub(super) fn mean_share(costs: &Sides, totals: &[Vec<f64>; 2], row: usize) -> f64 {
    let part = |(figure, total): (&f64, &f64)| {
        if *total > 0.0 {
            figure.abs() / total
        } else {
            0.0
        }
    };
    let (base, new) = (costs.base.row(row), costs.new.row(row));
    let shares = base.iter().zip(&totals[0]);
    let shares = shares.chain(new.iter().zip(&totals[1]));
    let sum: f64 = shares.map(part).sum();
    sum / count(base.len() + new.len())
}

/// A number of runs or functions as a figure.
fn count(number: usize) -> f64 {
    u32::try_from(number).map_or(f64::INFINITY, f64::from)
}

/// What is known of a row without any test.
fn described(center: &Center, sides: &Sides, row: usize) -> Judgement {
    let (base, new) = (sides.base.row(row), sides.new.row(row));
    let seen = |figures: &[f64]| figures.iter().filter(|figure| **figure != 0.0).count();
    let costs = center.costs([base, new]);
    Judgement {
        costs,
        ratio: ratio(costs),
        seen: [seen(base), seen(new)],
        ..Judgement::default()
    }
}

/// The verdict of what is counted completely.
fn exact(judgement: &Judgement, sides: &Sides, row: usize, limits: &Limits) -> Verdict {
    match (judgement.seen, judgement.ratio) {
        ([0, 0], _) => Verdict::Same,
        ([0, _], _) => Verdict::New,
        ([_, 0], _) => Verdict::Gone,
        (_, Some(ratio)) if is_within(ratio, ratio, limits) => Verdict::Same,
        // Costs below 0 are those of what was taken away from a profile.
        _ if mean(sides.new.row(row)) < mean(sides.base.row(row)) => Verdict::Faster,
        _ => Verdict::Slower,
    }
}

/// Whether an interval of ratios holds no change that matters.
fn is_within(low: f64, high: f64, limits: &Limits) -> bool {
    let widest = 1.0 + limits.min_effect;
    // A change by just the limit is none that matters, however the division rounds.
    low * widest >= 1.0 - ROUNDING && high <= widest * (1.0 + ROUNDING)
}

/// What there is to go by for a row.
enum Found {
    /// The distribution of its ratio.
    Estimate(Estimate),
    /// Only in which runs it was seen, with the probability of that if nothing has changed.
    Presence(Option<f64>),
    /// Counts of two runs, of which nothing but themselves tells how much they vary: the least that they can.
    Counts(Estimate),
    /// Counts of two runs of which one is 0, compared as bursts.
    Bursts(Estimate),
}

impl Found {
    fn p(&self) -> Option<f64> {
        match self {
            Self::Estimate(estimate) | Self::Counts(estimate) | Self::Bursts(estimate) => {
                Some(estimate.p)
            }
            Self::Presence(p) => *p,
        }
    }

    /// Whether its probability is only the least that it can be, which makes it no discovery.
    fn is_a_bound(&self) -> bool {
        matches!(self, Self::Counts(_))
    }

    /// The probability with which it is one of several tests. Of what is none and what is a bound the others gain nothing: where
    /// functions vary from run to run, counting alone would reject nearly all of them, and with these, by Benjamini and
    /// Hochberg's procedure, whatever is below the rate by itself.
    fn p_among_others(&self) -> Option<f64> {
        if self.is_a_bound() {
            Some(1.0)
        } else {
            self.p()
        }
    }

    fn estimate(&self) -> Option<&Estimate> {
        match self {
            Self::Estimate(estimate) | Self::Counts(estimate) | Self::Bursts(estimate) => {
                Some(estimate)
            }
            Self::Presence(_) => None,
        }
    }

    /// Puts into a row what the test says.
    fn put(&self, row: &mut Judgement, limits: &Limits) {
        row.p = self.p();
        row.estimate = match self {
            Self::Estimate(estimate) => Some(Box::new(*estimate)),
            // Nothing tells how much two counts vary.
            Self::Presence(_) | Self::Counts(_) | Self::Bursts(_) => None,
        };
        let Some(estimate) = self.estimate() else {
            return;
        };
        let (low, high) = estimate.interval(limits.alpha);
        // The interval of a rank test is that of the shift, which may miss the ratio of the medians.
        let ratio = row.ratio.filter(|_| limits.test == Test::Ranks);
        let or_ratio = |end: f64| ratio.unwrap_or(end);
        row.interval = Some((low.min(or_ratio(low)), high.max(or_ratio(high))));
        row.dispersion = Some(estimate.dispersion).filter(|dispersion| *dispersion > 1.0);
    }

    /// Runs a side that would show the smallest effect that matters.
    fn runs_needed(&self, repeats: Repeats, limits: &Limits, tests: usize) -> Option<f64> {
        let estimate = self.estimate()?;
        let deviation = estimate.deviation(repeats.base, repeats.new);
        Some(runs_needed(
            deviation,
            limits.min_effect,
            limits.alpha,
            tests,
        ))
        .filter(|runs| runs.is_finite())
    }
}

/// Tests the functions with these rows together; `None` for those of which no test says anything.
fn estimates(
    matrix: &Matrix,
    noise: Noise,
    rows: &[usize],
    limits: &Limits,
) -> Vec<Option<Estimate>> {
    let repeats = Repeats::of(&matrix.costs);
    if repeats.base + repeats.new == 2 && matrix.history.is_none() {
        return vec![None; rows.len()];
    }
    // Costs have been divided by the factors, samples have not.
    let (of_samples, of_costs) = (matrix.shared(1.0), matrix.shared(0.0));
    let is_by_samples = noise == Noise::Sampled && limits.test == Test::Fitting && !matrix.paired;
    if let Some(samples) = matrix.counts.as_ref().filter(|_| is_by_samples) {
        let earlier = match matrix.history.as_ref() {
            Some(History { counts: None, .. }) => return vec![None; rows.len()],
            Some(History { counts, .. }) => counts.as_ref(),
            None => None,
        };
        let there: Vec<usize> = rows
            .iter()
            .filter(|row| are_counts(samples, **row))
            .copied()
            .collect();
        let samples = samples.select_rows(&there);
        let found = match earlier {
            Some(earlier) => {
                counts::test_with_history(&earlier.select_rows(&there), &samples, &of_samples)
            }
            None => counts::test(&samples, &of_samples),
        };
        return at_rows(rows, &there, found);
    }
    // Logarithms want figures above 0 in all runs, ranks do not.
    let is_there = |row: &&usize| {
        let [base, new] = [&matrix.costs.base, &matrix.costs.new].map(|side| side.row(**row));
        let mut figures = base.iter().chain(new);
        if limits.test == Test::Ranks {
            let is_seen = |side: &[f64]| side.iter().any(|figure| *figure > 0.0);
            return is_seen(base) && is_seen(new) && figures.all(|figure| *figure >= 0.0);
        }
        let mut earlier = matrix
            .history
            .iter()
            .flat_map(|history| history.costs.row(**row));
        figures.all(|figure| *figure > 0.0) && earlier.all(|figure| *figure > 0.0)
    };
    let there: Vec<usize> = rows.iter().filter(is_there).copied().collect();
    let sides = matrix.costs.select_rows(&there);
    let factors = matrix.factors.as_deref();
    let grain = grain_of(&matrix.costs, factors);
    let mut found = match limits.test {
        Test::Ranks => by_ranks(&sides, limits),
        Test::Fitting if matrix.paired => times::test_pairs(&ratios_of_rounds(&sides)),
        Test::Fitting => match &matrix.history {
            Some(history) => {
                times::test_with_history(&history.costs.select_rows(&there), &sides, &of_costs)
            }
            None => times::test(&sides, &of_costs),
        },
    };
    for (row, estimate) in found.iter_mut().enumerate() {
        let rounding = grain::variance(grain, factors, &sides, row);
        *estimate = estimate.with_variance_of_at_least(rounding);
    }
    at_rows(rows, &there, found)
}

/// The unit to which costs are rounded, before the runs were divided by their factors.
fn grain_of(costs: &Sides, factors: Option<&[f64]>) -> f64 {
    let Some(factors) = factors else {
        let rows = (0..costs.functions()).flat_map(|row| [costs.base.row(row), costs.new.row(row)]);
        return grain::rounding_unit(&rows.flatten());
    };
    let whole = |side: &Figures, factors: &[f64]| -> Vec<f64> {
        let rows = (0..side.functions()).map(|row| side.row(row).iter().zip(factors));
        rows.flatten()
            .map(|(cost, factor)| cost * factor.exp())
            .collect()
    };
    let (base, new) = factors.split_at(costs.base.runs());
    let figures = [whole(&costs.base, base), whole(&costs.new, new)];
    grain::rounding_unit(&figures.iter().flatten())
}

/// What was found for some of the rows, at the places of all; both are in one order.
fn at_rows(rows: &[usize], some: &[usize], found: Vec<Estimate>) -> Vec<Option<Estimate>> {
    let mut found = some.iter().zip(found).peekable();
    rows.iter()
        .map(|row| {
            found
                .next_if(|(of, _)| *of == row)
                .map(|(_, estimate)| estimate)
        })
        .collect()
}

/// Whether what a row has are counts: a profile from which another one was taken away has samples below 0.
fn are_counts(samples: &Sides, row: usize) -> bool {
    let (base, new) = (samples.base.row(row), samples.new.row(row));
    base.iter().chain(new).all(|count| *count >= 0.0)
}

/// Logarithms of new over base, for each function in all rounds.
fn ratios_of_rounds(sides: &Sides) -> Figures {
    let rounds = sides.base.runs();
    let ratios = (0..sides.functions()).flat_map(|row| {
        let (base, new) = (sides.base.row(row), sides.new.row(row));
        (0..rounds).map(move |round| (new[round] / base[round]).ln())
    });
    Figures::new(rounds, ratios.collect())
}

/// The test by ranks: its probability, and the interval of Hodges and Lehmann for the ratio. A run without any cost is the smallest
/// of all, which ranks know how to take; its logarithm is that of half of the smallest cost.
fn by_ranks(sides: &Sides, limits: &Limits) -> Vec<Estimate> {
    (0..sides.functions())
        .map(|row| {
            let (base, new) = (sides.base.row(row), sides.new.row(row));
            let costs = base.iter().chain(new).filter(|figure| **figure > 0.0);
            let least = costs.fold(f64::INFINITY, |least, figure| least.min(*figure)) / 2.0;
            let logarithms = |figures: &[f64]| -> Vec<f64> {
                figures
                    .iter()
                    .map(|figure| figure.max(least).ln())
                    .collect()
            };
            let (shift, interval) = ranks::shift(&logarithms(base), &logarithms(new), limits.alpha);
            let (low, high) = interval.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
            Estimate {
                ln_ratio: shift,
                dispersion: 1.0,
                p: ranks::mann_whitney(base, new),
                shape: Shape::Order { low, high },
            }
        })
        .collect()
}

/// Compares two counts. Their noise is at least that of independent samples. If one is 0, they are taken to come in bursts.
fn of_two_counts(base: f64, new: f64, matrix: &Matrix) -> Found {
    let odds = match &matrix.factors {
        Some(factors) => (factors[1] - factors[0]).exp(),
        None => 1.0,
    };
    if base > 0.0 && new > 0.0 {
        Found::Counts(few::two_counts(base, new, odds))
    } else {
        Found::Bursts(few::two_counts_of_bursts(base, new, odds, BURST))
    }
}

/// Returns whether there are enough runs for verdicts.
fn has_noise(repeats: Repeats, matrix: &Matrix) -> bool {
    repeats.are_enough() || matrix.history.is_some() || (matrix.paired && repeats.base >= FEWEST)
}

/// The verdict of a row that is not counted completely.
fn verdict(
    row: &Judgement,
    found: &Found,
    noise: Noise,
    repeats: Repeats,
    matrix: &Matrix,
    limits: &Limits,
) -> Verdict {
    let is_sure = row.q.is_some_and(|q| q < limits.alpha);
    let has_noise = has_noise(repeats, matrix);
    // Of samples, the counts themselves tell whether chance explains that there are none.
    if !has_noise && noise != Noise::Sampled {
        return Verdict::Unclear;
    }
    match row.seen {
        [0, new] if is_sure && new > 0 => return Verdict::New,
        [base, 0] if is_sure && base > 0 => return Verdict::Gone,
        // Without samples nothing is known of a sampled cost.
        [0, 0] if has_noise && noise != Noise::Sampled => return Verdict::Same,
        _ => {}
    }
    if !has_noise {
        return Verdict::Unclear;
    }
    let Some(estimate) = found.estimate() else {
        return Verdict::Unclear;
    };
    let (low, high) = estimate.interval(2.0 * limits.alpha);
    if is_within(low, high, limits) {
        return Verdict::Same;
    }
    // A rank test may find that new costs more in most runs, and the medians that it costs less.
    let is_with_ratio = |ratio: f64| ratio.ln() * estimate.ln_ratio > 0.0;
    match is_sure && row.ratio.is_none_or(is_with_ratio) {
        true if row.seen.contains(&0) => Verdict::Unclear,
        true if estimate.ln_ratio > 0.0 => Verdict::Slower,
        true if estimate.ln_ratio < 0.0 => Verdict::Faster,
        _ => Verdict::Unclear,
    }
}

/// The part of the error rate that the verdict of the total may use.
const TOTAL_PART: f64 = 0.4;

impl Limits {
    /// Returns the limits of the total, which is one more verdict beside those of the functions.
    #[must_use]
    pub fn of_total(&self) -> Self {
        Self {
            alpha: TOTAL_PART * self.alpha,
            ..*self
        }
    }
}

/// The totals, tested by themselves.
///
/// What costs nothing on a side in any run has no ratio. It is gone or new if its samples say so, or if any of the functions in it is
/// shown to be: of these it is no further test.
fn total(
    matrix: &Matrix,
    noise: Noise,
    repeats: Repeats,
    tested: &[usize],
    functions: &[Judgement],
    limits: &Limits,
) -> Judgement {
    let [base, new] = &matrix.totals;
    let sides = Sides {
        base: Figures::new(base.len(), base.clone()),
        new: Figures::new(new.len(), new.clone()),
    };
    let mut row = described(&Center::of_total(noise, limits), &sides, 0);
    if noise == Noise::Exact {
        row.verdict = Some(exact(&row, &sides, 0, limits));
        return row;
    }
    let earlier = matrix.history.iter().flat_map(|history| &history.totals);
    let is_there = base
        .iter()
        .chain(new)
        .chain(earlier)
        .all(|figure| *figure > 0.0);
    let estimate: Option<Estimate> = if !is_there {
        None
    } else if let Some(history) = &matrix.history {
        let totals = Figures::new(history.totals.len(), history.totals.clone());
        times::test_with_history(&totals, &sides, &SizeFactors::Given(vec![0.0; 2])).pop()
    } else if repeats.base + repeats.new == 2 {
        None
    } else if matrix.paired {
        times::test_pairs(&ratios_of_rounds(&sides)).pop()
    } else if limits.test == Test::Ranks {
        by_ranks(&sides, &limits.of_total()).pop()
    } else {
        // No other function tells what runs share: the factor is in the variance of the totals themselves.
        times::test(
            &sides,
            &SizeFactors::Given(vec![0.0; base.len() + new.len()]),
        )
        .pop()
    };
    let factors = matrix.factors.as_deref();
    let rounding = grain::variance(grain_of(&matrix.costs, factors), factors, &sides, 0);
    let estimate = estimate.map(|estimate| estimate.with_variance_of_at_least(rounding));
    let is_one_sided = row.seen.contains(&0) && row.seen != [0, 0];
    let found = match estimate {
        Some(estimate) => Found::Estimate(estimate),
        None if is_one_sided && noise == Noise::Sampled => {
            total_by_samples(matrix, tested, limits).unwrap_or(Found::Presence(None))
        }
        None => Found::Presence(None),
    };
    // The interval has the level of the test: it holds 1 where the total is not shown to have changed.
    found.put(&mut row, &limits.of_total());
    // It is one more verdict beside those of the functions, which share the rate that was asked for: at the same level, seven to
    // nine of a hundred comparisons of what had not changed had a verdict.
    row.q = row.p.map(|p| (p / TOTAL_PART).min(1.0));
    row.runs_needed = found.runs_needed(repeats, limits, 1);
    row.verdict = Some(verdict(&row, &found, noise, repeats, matrix, limits));
    if is_one_sided && row.verdict == Some(Verdict::Unclear) {
        let shown = if row.seen[0] == 0 {
            Verdict::New
        } else {
            Verdict::Gone
        };
        let mut verdicts = functions.iter().map(|function| function.verdict);
        if verdicts.any(|verdict| verdict == Some(shown)) {
            row.verdict = Some(shown);
        }
    }
    row
}

/// Compares the samples of the totals, of which those of a side are none: two counts by themselves, others as those of one more
/// function. `None` where they are not known, or are not asked for.
fn total_by_samples(matrix: &Matrix, tested: &[usize], limits: &Limits) -> Option<Found> {
    let samples = matrix.counts.as_ref()?;
    if limits.test != Test::Fitting || matrix.paired {
        return None;
    }
    // What functions cost with everything called is no sum: as many samples as the total is worth.
    let of_total = |costs: &Figures, samples: &Figures, totals: &[f64]| -> Vec<f64> {
        let sum = |figures: &Figures, run: usize| -> f64 {
            (0..figures.functions())
                .map(|row| figures.row(row)[run])
                .sum()
        };
        let of_run = |(run, total): (usize, &f64)| {
            let per_cost = sum(samples, run) / sum(costs, run);
            total * if per_cost.is_finite() { per_cost } else { 0.0 }
        };
        totals.iter().enumerate().map(of_run).collect()
    };
    let base = of_total(&matrix.costs.base, &samples.base, &matrix.totals[0]);
    let new = of_total(&matrix.costs.new, &samples.new, &matrix.totals[1]);
    if base.iter().chain(&new).any(|count| *count < 0.0) {
        return None;
    }
    if let ([base], [new], None) = (base.as_slice(), new.as_slice(), &matrix.history) {
        return Some(of_two_counts(*base, *new, matrix));
    }
    let there = tested.iter().filter(|row| are_counts(samples, **row));
    let there: Vec<usize> = there.copied().collect();
    let sides = samples.select_rows(&there);
    let sides = Sides {
        base: sides.base.with_row(&base),
        new: sides.new.with_row(&new),
    };
    let shared = matrix.shared(1.0);
    let found = match &matrix.history {
        None => counts::test(&sides, &shared),
        Some(History {
            costs,
            counts: Some(earlier),
            totals,
        }) => {
            let earlier_total = of_total(costs, earlier, totals);
            counts::test_with_history(
                &earlier.select_rows(&there).with_row(&earlier_total),
                &sides,
                &shared,
            )
        }
        Some(_) => return None,
    };
    found.last().copied().map(Found::Estimate)
}
