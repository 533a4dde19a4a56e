//! The figures that rules are judged by: comparisons of base and new, each made once.

use std::collections::{BTreeMap, BTreeSet};

use super::answer::GateError;
use super::budget::{BudgetError, Rule};
use crate::compare::judge::{Limits, Noise};
use crate::compare::{
    By, CompareError, ComparedRun, Comparison, FILE_NAMES, Folders, NEVER_VARY, Normalize, Request,
    compare,
};
use crate::store::MetricInfo;
use crate::text::nearest::suggestion;

/// Runs that rules are compared with.
pub struct BaseRuns<'d> {
    /// The runs, the oldest first.
    pub runs: Vec<ComparedRun<'d>>,
    /// How they were chosen.
    pub said: String,
    /// There are none because what names them is a slip, whatever runs are still to come.
    pub is_slip: bool,
    /// The last runs of a history, and those before them, the oldest first: what is before a standing step is not compared with.
    /// `None` of runs that are compared with whatever they are.
    pub earlier: Option<Vec<ComparedRun<'d>>>,
}

/// Rounds that are named one by one.
const SHOWN_ROUNDS: usize = 5;

/// Which runs of base are compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Window {
    /// All runs of the baseline.
    All,
    /// All runs of the baseline, and the runs before them.
    Long,
    /// The runs with these numbers.
    Part(Vec<i64>),
}

/// Both sides as a rule sees them.
pub(super) struct Sides<'d> {
    /// The runs of base that can be compared with.
    pub(super) base: Vec<ComparedRun<'d>>,
    /// The runs of new that are compared with them.
    pub(super) new: Vec<ComparedRun<'d>>,
    /// The metric.
    pub(super) metric: MetricInfo,
    /// Figures are counted completely.
    pub(super) is_exact: bool,
    /// Why the sides are not compared, though there are runs on both.
    pub(super) unlike: Option<String>,
    /// What is left out of base, and of new.
    pub(super) left_out: Vec<String>,
    /// Runs before those of base that can be compared with them; `None` where base is no history.
    pub(super) earlier: Option<Vec<ComparedRun<'d>>>,
}

/// What a comparison is of.
#[derive(Clone, PartialEq)]
struct Key {
    base: Option<usize>,
    window: Window,
    metric: String,
    by: By,
    cumulative: bool,
    normalize: Normalize,
    min_share: f64,
}

/// How a rule wants figures.
#[derive(Clone)]
pub(super) struct Wanted<'w> {
    pub(super) base: Option<usize>,
    pub(super) window: Window,
    pub(super) metric: &'w str,
    pub(super) by: By,
    pub(super) cumulative: bool,
    /// Costs as they are.
    pub(super) plain: bool,
    /// Functions of any size have a test.
    pub(super) all: bool,
}

/// The comparisons of a gate.
pub(super) struct Figures<'g, 'd> {
    new: &'g [ComparedRun<'d>],
    bases: &'g [BaseRuns<'d>],
    request: &'g Request,
    sides: Vec<((usize, String), Sides<'d>)>,
    made: Vec<(Key, Result<Comparison, String>)>,
    /// Which was asked for last.
    last: usize,
    /// Notes for functions that comparisons do not tell apart.
    pub(super) notes: Vec<String>,
}

impl<'g, 'd> Figures<'g, 'd> {
    pub(super) fn new(
        new: &'g [ComparedRun<'d>],
        bases: &'g [BaseRuns<'d>],
        request: &'g Request,
    ) -> Self {
        Self {
            new,
            bases,
            request,
            sides: Vec::new(),
            made: Vec::new(),
            last: 0,
            notes: Vec::new(),
        }
    }

    /// Both sides of a rule, and where they are kept.
    pub(super) fn sides(&mut self, base: usize, rule: &Rule) -> Result<usize, GateError> {
        let metric = self.metric(rule)?;
        let key = (base, metric.name.clone());
        if let Some(at) = self.sides.iter().position(|(known, _)| *known == key) {
            return Ok(at);
        }
        let sides = self.told(&self.bases[base], metric)?;
        self.sides.push((key, sides));
        Ok(self.sides.len() - 1)
    }

    pub(super) fn side(&self, at: usize) -> &Sides<'d> {
        &self.sides[at].1
    }

    /// The metric of a rule.
    fn metric(&self, rule: &Rule) -> Result<MetricInfo, GateError> {
        let first = &self.new[0];
        let known = first.database.metrics(first.run.run_id)?;
        let named = rule.metric.as_ref().map(|(name, _)| name);
        let wanted = named
            .or(self.request.metric.as_ref())
            .or(first.run.default_metric.as_ref());
        let Some(wanted) = wanted else {
            return Err(GateError::Usage(format!("{} has no costs", first.said())));
        };
        if let Some(found) = known.iter().find(|metric| metric.name == *wanted) {
            return Ok(found.clone());
        }
        let names: Vec<String> = known.into_iter().map(|metric| metric.name).collect();
        let expected = format!(
            "expected a metric of {} ({}), found {wanted}",
            first.said(),
            names.join(", ")
        );
        let near = suggestion("; did you mean ", wanted, names);
        Err(match &rule.metric {
            Some((_, place)) => BudgetError {
                place: *place,
                message: expected + &near,
            }
            .into(),
            None => GateError::Usage(format!("--metric: {expected}{near}")),
        })
    }

    /// What there is to say of both sides.
    fn told(&self, base: &BaseRuns<'d>, metric: MetricInfo) -> Result<Sides<'d>, GateError> {
        let mut unlike = None;
        let mut kinds: [BTreeSet<&str>; 2] = [BTreeSet::new(), BTreeSet::new()];
        // Runs of other rounds may be of other hosts.
        let ([of_base, new], mut left_out) = self.in_rounds(&base.runs, self.new);
        for (side, runs) in [(1, &new), (0, &of_base)] {
            for run in runs {
                let known = run.database.metrics(run.run.run_id)?;
                let found = known.iter().find(|found| found.name == metric.name);
                let Some(found) = found.filter(|found| found.unit == metric.unit) else {
                    let has: Vec<String> = known
                        .iter()
                        .map(|metric| format!("{} ({})", metric.name, metric.unit))
                        .collect();
                    unlike.get_or_insert_with(|| {
                        format!(
                            "{} has no metric {} ({}); it has {}",
                            run.said(),
                            metric.name,
                            metric.unit,
                            has.join(", ")
                        )
                    });
                    continue;
                };
                kinds[side].insert(found.noise.name());
            }
        }
        let list = |names: &BTreeSet<&str>| names.iter().copied().collect::<Vec<_>>().join(", ");
        let [old, current] = &kinds;
        if self.request.noise.is_none() && !old.is_empty() && old != current {
            unlike.get_or_insert_with(|| {
                format!(
                    "{} is {} in base and {} in new; set it with --noise",
                    metric.name,
                    list(old),
                    list(current)
                )
            });
        }
        let exact = BTreeSet::from([Noise::Exact.name()]);
        let is_exact = match self.request.noise {
            Some(noise) => noise == Noise::Exact,
            None => *current == exact && (old.is_empty() || *old == exact),
        };
        let hosts = |runs: &[ComparedRun<'_>]| -> BTreeSet<String> {
            let hosts = runs.iter().filter_map(|run| run.tag("host"));
            hosts.map(str::to_owned).collect()
        };
        let (old, current) = (hosts(&of_base), hosts(&new));
        if !old.is_empty() && !current.is_empty() && old != current {
            let named = |hosts: &BTreeSet<String>| {
                hosts
                    .iter()
                    .map(String::as_str)
                    .collect::<Vec<_>>()
                    .join(", ")
            };
            unlike.get_or_insert_with(|| {
                format!(
                    "base was recorded on {}, new on {}: runs of different hosts are not compared",
                    named(&old),
                    named(&current)
                )
            });
        }
        let earlier = match &base.earlier {
            Some(earlier) => {
                Some(self.alike(earlier, &metric, kinds[0].iter().next().copied(), &old)?)
            }
            None => None,
        };
        let (of_base, copies) = self.comparable(&of_base, is_exact)?;
        left_out.extend(copies);
        let ([base, new], alone) = self.in_rounds(&of_base, &new);
        left_out.extend(alone);
        Ok(Sides {
            base,
            new,
            metric,
            is_exact,
            unlike,
            left_out,
            earlier,
        })
    }

    /// Runs that have the metric as base has it, of the hosts that base has.
    fn alike(
        &self,
        runs: &[ComparedRun<'d>],
        metric: &MetricInfo,
        noise: Option<&str>,
        hosts: &BTreeSet<String>,
    ) -> Result<Vec<ComparedRun<'d>>, GateError> {
        let mut alike = Vec::new();
        for run in runs {
            let known = run.database.metrics(run.run.run_id)?;
            let is_it = |known: &&MetricInfo| {
                known.name == metric.name
                    && known.unit == metric.unit
                    && (self.request.noise.is_some() || Some(known.noise.name()) == noise)
            };
            let is_of_host = match run.tag("host") {
                Some(host) => hosts.contains(host),
                None => hosts.is_empty(),
            };
            if is_of_host && known.iter().any(|known| is_it(&known)) {
                alike.push(run.clone());
            }
        }
        Ok(alike)
    }

    /// The runs of both sides in so far as they have a round in common, where they are paired, and what is left out. All of
    /// them if none has, which is no comparison of pairs.
    ///
    /// A base may be recorded again and again with what is made from it: those rounds are nothing to other changes.
    fn in_rounds(
        &self,
        base: &[ComparedRun<'d>],
        new: &[ComparedRun<'d>],
    ) -> ([Vec<ComparedRun<'d>>; 2], Vec<String>) {
        let all = [base.to_vec(), new.to_vec()];
        let key = match &self.request.paired {
            Some(key) if key != FILE_NAMES => key,
            _ => return (all, Vec::new()),
        };
        let rounds = [base, new].map(|runs| -> BTreeSet<&str> {
            let rounds = runs.iter().filter_map(|run| run.tag(key));
            rounds.collect()
        });
        let is_common = |run: &ComparedRun<'_>| {
            let round = run.tag(key);
            round.is_some_and(|round| rounds.iter().all(|known| known.contains(round)))
        };
        if !base.iter().any(is_common) {
            return (all, Vec::new());
        }
        let mut left_out = Vec::new();
        for (runs, [side, other]) in [base, new]
            .into_iter()
            .zip([["base", "new"], ["new", "base"]])
        {
            // The rounds, each with its number of runs; runs without the tag are of none.
            let mut alone: BTreeMap<&str, usize> = BTreeMap::new();
            for run in runs.iter().filter(|run| !is_common(run)) {
                *alone.entry(run.tag(key).unwrap_or_default()).or_default() += 1;
            }
            let without = alone.remove("").unwrap_or(0);
            let number: usize = alone.values().sum();
            let named: Vec<&str> = alone.keys().copied().take(SHOWN_ROUNDS).collect();
            let more = if alone.len() > SHOWN_ROUNDS {
                ", ..."
            } else {
                ""
            };
            let counted = |number: usize| match number {
                1 => format!("1 run of {side} is"),
                number => format!("{number} runs of {side} are"),
            };
            if number > 0 {
                left_out.push(format!(
                    "--paired {key}: {} left out: {other} has no run with {key}={}{more}",
                    counted(number),
                    named.join(", ")
                ));
            }
            if without > 0 {
                left_out.push(format!(
                    "--paired {key}: {} left out, without a tag {key}",
                    counted(without)
                ));
            }
        }
        let kept = all.map(|runs| runs.into_iter().filter(is_common).collect());
        (kept, left_out)
    }

    /// The runs of base without those that are in new, and, where figures vary, without copies of them.
    fn comparable(
        &self,
        base: &[ComparedRun<'d>],
        is_exact: bool,
    ) -> Result<(Vec<ComparedRun<'d>>, Vec<String>), GateError> {
        let mut recordings = BTreeSet::new();
        for run in self.new {
            recordings.insert(run.database.run_facts(run.run.run_id)?.recording);
        }
        let mut is_copy = Vec::new();
        for run in base {
            let recording = run.database.run_facts(run.run.run_id)?.recording;
            is_copy.push(recording.is_some() && recordings.contains(&recording));
        }
        // Where runs differ, equal ones are copies indeed.
        let may_never_vary = recordings.len() == 1 && is_copy.iter().all(|is_copy| *is_copy);
        let remedy = if may_never_vary { NEVER_VARY } else { "" };
        let (mut kept, mut left_out) = (Vec::new(), Vec::new());
        for (run, is_copy) in base.iter().zip(is_copy) {
            let reason = if self.new.iter().any(|new| new.is(run)) {
                "it is a run of new".to_owned()
            } else if is_copy && !is_exact {
                format!(
                    "it has the figures of a run of new, so it is a copy of that recording{remedy}"
                )
            } else {
                kept.push(run.clone());
                continue;
            };
            left_out.push(format!("{} of base is left out: {reason}", run.said()));
        }
        Ok((kept, left_out))
    }

    /// A comparison, or why there is none; without a base, new is compared with itself, which tells its figures.
    pub(super) fn comparison(
        &mut self,
        sides: usize,
        wanted: &Wanted<'_>,
    ) -> Result<Result<usize, String>, GateError> {
        let normalize = if wanted.plain {
            Normalize::None
        } else {
            self.request.normalize.clone()
        };
        let key = Key {
            base: wanted.base,
            window: wanted.window.clone(),
            metric: wanted.metric.to_owned(),
            by: wanted.by.clone(),
            cumulative: wanted.cumulative,
            normalize,
            min_share: if wanted.all {
                0.0
            } else {
                Limits::default().min_share
            },
        };
        let known = self.made.iter().position(|(known, _)| *known == key);
        let at = known.unwrap_or(self.made.len());
        if known.is_none() {
            let made = self.compared(sides, &key)?;
            self.made.push((key, made));
        }
        self.last = at;
        Ok(match &self.made[at].1 {
            Ok(_) => Ok(at),
            Err(message) => Err(message.clone()),
        })
    }

    /// A comparison that was made.
    pub(super) fn of(&self, at: usize) -> Option<&Comparison> {
        self.made[at].1.as_ref().ok()
    }

    /// The folders and modules that the comparisons have taken for one: that which has most functions of several that are equal.
    pub(super) fn folders(&self) -> Vec<Folders> {
        let made = self.made.iter().filter_map(|(_, made)| made.as_ref().ok());
        let mut all: Vec<Folders> = Vec::new();
        for one in made.flat_map(|made| &made.folders) {
            one.clone().note(&mut all, usize::max);
        }
        all
    }

    /// The comparison that was asked for last.
    pub(super) fn last(&self) -> Option<&Comparison> {
        self.of(self.last)
    }

    fn compared(&self, sides: usize, key: &Key) -> Result<Result<Comparison, String>, GateError> {
        let side = self.side(sides);
        let chosen: Vec<ComparedRun<'d>>;
        let new = if key.base.is_some() {
            &side.new
        } else {
            self.new
        };
        let base = match (key.base, &key.window) {
            (None, _) => new,
            (Some(_), Window::All) => &side.base,
            (Some(_), Window::Long) => {
                let earlier = side.earlier.iter().flatten();
                chosen = earlier.chain(&side.base).cloned().collect();
                &chosen
            }
            (Some(_), Window::Part(runs)) => {
                let is_in = |run: &&ComparedRun<'_>| runs.contains(&run.run.run_id);
                chosen = side.base.iter().filter(is_in).cloned().collect();
                &chosen
            }
        };
        let request = Request {
            by: key.by.clone(),
            cumulative: key.cumulative,
            metric: Some(key.metric.clone()),
            normalize: key.normalize.clone(),
            paired: self.request.paired.clone().filter(|_| key.base.is_some()),
            limits: Limits {
                min_share: key.min_share,
                ..Limits::default()
            },
            all: true,
            zeros: true,
            ..self.request.clone()
        };
        match compare(base, new, &request) {
            Ok(comparison) => Ok(Ok(comparison)),
            Err(CompareError::NothingSelected(message)) => Ok(Err(message)),
            Err(CompareError::Usage(message)) => Err(GateError::Usage(message)),
            Err(CompareError::Store(error)) => Err(error.into()),
        }
    }
}
