//! A run and what became of it, compared. Every difference is put down to the loss that says so;
//! what no loss can say is a fault of its own.

use std::collections::{BTreeMap, BTreeSet};

use super::picture::{Function, Identity, Picture};

/// What rounding makes of a sum, as a part of it.
const ROUNDING: f64 = 1e-9;

/// Above, a figure may be more than a format's largest number.
const LARGE: f64 = 9e15;

/// Bytes of a function's name in a log of Business Rules! at most.
const MOST_OF_NAME: usize = 255;

/// Formats that hold one metric, under whatever name.
const HOLD_ONE_METRIC: [&str; 4] = ["lispworks_tree", "sampler", "folded", "firefox"];

/// How much a loss report says to have lost, by name.
pub(super) type Lost = BTreeMap<&'static str, u64>;

/// A run on its way through a file.
pub(super) struct Trip<'p> {
    pub(super) format: &'static str,
    /// Names of all that the format may lose.
    pub(super) losses: Vec<&'static str>,
    pub(super) before: &'p Picture,
    /// How many functions at its end are others' places within roots, where threads are no frames.
    pub(super) twins: usize,
    pub(super) after: Picture,
    pub(super) lost: Lost,
    /// The metric that was asked for.
    pub(super) asked: Option<&'p str>,
    /// Metrics that are the same: places before and after.
    pub(super) metrics: Vec<(usize, usize)>,
    /// For each function before: the one it became.
    pub(super) became: Vec<Option<usize>>,
    /// How much really was lost, by the name of the loss that should say so.
    pub(super) seen: BTreeMap<&'static str, u64>,
    /// How much may have been lost besides, where rounding alone would explain what is seen.
    pub(super) perhaps: BTreeMap<&'static str, u64>,
    /// Times have come back as they were measured.
    pub(super) is_raw: bool,
    /// Threads and the like of which there is one less, and which may go by another name.
    pub(super) dropped: Vec<usize>,
    /// Functions that are not there any more.
    pub(super) gone: u64,
    /// Threads and the like among them that cost nothing.
    pub(super) left_out: u64,
    /// What no loss can say.
    pub(super) faults: Vec<String>,
}

pub(super) fn differ(one: f64, other: f64, by: f64) -> bool {
    (one - other).abs() > by + ROUNDING * one.abs().max(other.abs())
}

/// Finds a partner for one more: a free one, or that of another one that finds a new partner.
fn augment(
    one: usize,
    alike: &[Vec<usize>],
    taken: &mut [Option<usize>],
    seen: &mut [bool],
) -> bool {
    for other in &alike[one] {
        if std::mem::replace(&mut seen[*other], true) {
            continue;
        }
        let is_free = match taken[*other] {
            None => true,
            Some(holder) => augment(holder, alike, taken, seen),
        };
        if is_free {
            taken[*other] = Some(one);
            return true;
        }
    }
    false
}

/// What stays of a name, whatever is in the place of the rest: its letters and digits.
fn letters(name: &str) -> String {
    let mut rest = name;
    let mut letters = String::new();
    let no_names = ["(no name)", "[unknown]", "???", "<function without a name>"];
    if no_names.contains(&name) {
        return letters;
    }
    while let Some(character) = rest.chars().next() {
        if let Some(after) = after_number(rest) {
            rest = after;
            continue;
        }
        rest = &rest[character.len_utf8()..];
        letters.extend(character.is_alphanumeric().then_some(character));
    }
    letters
}

/// What comes after a character that is written as its number: `\xf6`, or `\x{f6}` as profdb
/// itself has it.
fn after_number(text: &str) -> Option<&str> {
    let digits = text.strip_prefix("\\x")?;
    let (number, after) = match digits.strip_prefix('{') {
        Some(digits) => digits.split_once('}')?,
        None => digits.split_at_checked(2)?,
    };
    let is_number = number.len() == 2 && number.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_number.then_some(after)
}

impl Trip<'_> {
    pub(super) fn tells(&self, loss: &str) -> bool {
        self.lost.contains_key(loss)
    }

    fn count(&self, loss: &str) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a tolerance")]
        let count = self.lost.get(loss).copied().unwrap_or(0) as f64;
        count
    }

    /// Puts a difference down to the first of these losses that the format has.
    fn differs(&mut self, losses: &[&'static str]) {
        let found = losses
            .iter()
            .find(|loss| self.losses.contains(*loss))
            .or(losses.first());
        if let Some(loss) = found {
            *self.seen.entry(loss).or_default() += 1;
        }
    }

    fn fault(&mut self, what: String) {
        self.faults.push(what);
    }

    /// Compares everything that functions and metrics say.
    pub(super) fn compare(&mut self) {
        self.pair_metrics();
        let time = self
            .metrics
            .iter()
            .find(|(metric, _)| self.before.metrics[*metric].unit == "ns");
        self.is_raw = time.is_some_and(|(before, after)| {
            let [before, after] = [&self.before.metrics[*before], &self.after.metrics[*after]];
            differ(before.total, after.total, 0.0)
        });
        self.pair_functions();
        self.compare_totals();
    }

    /// Metrics by name and unit, then by unit; of formats that hold one metric, the one that was
    /// written comes first.
    fn pair_metrics(&mut self) {
        let (before, after) = (&self.before.metrics, &self.after.metrics);
        let wanted = |at: &usize| match self.asked {
            Some(asked) => before[*at].name == asked,
            None => before[*at].is_default,
        };
        let mut left: Vec<usize> = (0..before.len()).collect();
        // Stable: after the wanted one the metrics keep the order of the file.
        left.sort_by_key(|at| !wanted(at));
        let wanted_at = left.first().copied().unwrap_or(0);
        let mut free: Vec<usize> = (0..after.len()).collect();
        free.sort_by_key(|at| !after[*at].is_default);
        // Without a place, nothing says what was measured.
        let is_blank =
            self.format == "speedscope" && self.after.nodes.is_empty() && self.asked.is_some();
        if is_blank {
            left.truncate(1);
        }
        let is_same = |one: usize, other: usize| {
            // What GHC counts are its own ticks.
            let is_other = self.format == "ghc_px" && before[one].is_timer;
            before[one].name == after[other].name
                && before[one].unit == after[other].unit
                && !is_other
        };
        // What ticks are in time, and what time is in ticks, the format says of every run.
        let is_made = |at: usize| match self.format {
            "ghc_px" => ["time", "ticks"].contains(&after[at].name.as_str()),
            // A log with times has blocks, whether the run had counted something or not.
            "business_rules" => after[at].name == "blocks",
            _ => false,
        };
        // What functions cost themselves, from the smallest on. Where all stacks have one frame, a
        // tree may come back without paths, and has no places that could be walked.
        let own_costs = |picture: &Picture, at: usize| {
            let functions = picture.functions.iter();
            let mut costs: Vec<f64> = functions
                .map(|function| {
                    if picture.is_tree {
                        function.walked[at][0]
                    } else {
                        function.costs[at][0].unwrap_or(0.0)
                    }
                })
                .filter(|cost| *cost != 0.0)
                .collect();
            costs.sort_by(f64::total_cmp);
            costs
        };
        let is_near = |one: usize, other: usize| {
            let is_same = || {
                let (known, found) = (own_costs(self.before, one), own_costs(&self.after, other));
                let sums = [&known, &found].map(|costs| costs.iter().sum::<f64>());
                // So many blocks as are nearest. Ticks of GHC have no fractions.
                let rounded = match self.format {
                    "business_rules" => 0.5 * self.count("fractions"),
                    _ => 0.0,
                };
                let is_sum_alone = self.tells("same_name") || rounded > 0.0;
                // Functions of one name are one, and rounded ones may be 0: their sum is all that is
                // left to compare.
                let is_each = || {
                    known.len() == found.len()
                        && known
                            .iter()
                            .zip(&found)
                            .all(|(one, other)| !differ(*one, *other, 0.0))
                };
                !differ(sums[0], sums[1], rounded) && (is_sum_alone || is_each())
            };
            match self.format {
                "business_rules" if after[other].name == "blocks" => {
                    ["samples", "blocks"].contains(&before[one].name.as_str())
                        && (self.asked.is_none() || wanted(&one))
                        && is_same()
                }
                "ghc_px" if after[other].name == "alloc" => self.asked.is_none() || wanted(&one),
                // So many for each tick, as the format has it.
                "ghc_px" if self.asked.is_some() && before[wanted_at].unit == "bytes" => false,
                "ghc_px" => {
                    is_same()
                        && before
                            .iter()
                            .any(|metric| metric.name == "time" && metric.unit == "ns")
                }
                _ => true,
            }
        };
        let mut pairs = Vec::new();
        let holds_one = HOLD_ONE_METRIC.contains(&self.format);
        // The one that is certainly there, and the one that it may have become.
        let is_time = |at: &usize| before[*at].unit == "ns";
        let chosen = match (self.format, self.asked) {
            ("dyalog_xml" | "dyalog_csv", _) => left.iter().copied().find(is_time),
            ("ghc_px", None) if left.first().is_some_and(|at| before[*at].unit == "bytes") => {
                let counted = left.iter().copied().find(|at| before[*at].unit == "count");
                left.iter().copied().find(is_time).or(counted)
            }
            ("ghc_px" | "business_rules", None) | (_, Some(_)) => left.first().copied(),
            _ => left.first().copied().filter(|_| holds_one),
        };
        if let Some(one) = chosen {
            let exact = free.iter().position(|other| is_same(one, *other));
            let unit = free
                .iter()
                .position(|other| before[one].unit == after[*other].unit);
            let first = if holds_one { Some(0) } else { exact.or(unit) };
            if let Some(found) = first.filter(|at| *at < free.len()) {
                pairs.push((one, free.remove(found)));
                left.retain(|at| *at != one);
            }
        }
        // From the surest to the weakest: a metric that finds its own name takes it from none that
        // has only the unit in common.
        let steps: [&dyn Fn(usize, usize) -> bool; 3] = [
            &|one, other| is_same(one, other) && is_near(one, other),
            &|one, other| {
                !holds_one && before[one].unit == after[other].unit && is_near(one, other)
            },
            // Without a place, nothing says what was measured.
            &|one, other| {
                self.before.nodes.is_empty()
                    && self.after.nodes.is_empty()
                    && wanted(&one)
                    && after[other].is_default
            },
        ];
        for same in steps {
            left.retain(|one| {
                let Some(at) = free.iter().position(|other| same(*one, *other)) else {
                    return true;
                };
                pairs.push((*one, free.remove(at)));
                false
            });
        }
        let is_other = |(one, other): &&(usize, usize)| {
            (&before[*one].name, &before[*one].unit) != (&after[*other].name, &after[*other].unit)
        };
        let renamed = pairs.iter().filter(is_other).count();
        let missing = before.len() - pairs.len();
        // Bytes are there as well, whatever was measured.
        let is_empty = |at: usize| self.format == "ghc_px" && after[at].total == 0.0;
        let invented = free
            .iter()
            .find(|at| !is_made(**at) && !is_empty(**at))
            .map(|at| after[*at].name.clone());
        (0..renamed).for_each(|_| self.differs(&["metric"]));
        (0..missing).for_each(|_| self.differs(&["metrics"]));
        if let Some(name) = invented {
            self.fault(format!("metric: invented {name:?}"));
        }
        pairs.sort_unstable();
        self.metrics = pairs;
    }

    /// What a function goes by, without what is said to be lost.
    pub(super) fn key(&self, identity: &Identity) -> Identity {
        let mut key = identity.clone();
        if self.format == "business_rules" && self.tells("names") {
            while key.name.len() > MOST_OF_NAME {
                key.name.pop();
            }
        }
        if self.format == "business_rules" && self.tells("places") {
            // The program file is the module, or else the file.
            if key.module.is_empty() {
                key.module.clone_from(&key.file);
            }
            key.module = letters(&key.module);
        }
        // LispWorks quotes what is no function, and some names of functions.
        let is_quoted = self.format == "lispworks_tree"
            && (key.name.starts_with('"') || key.kind != "function");
        if self.tells("names") {
            for text in [&mut key.name, &mut key.module, &mut key.file] {
                *text = letters(text);
            }
            if is_quoted {
                key.name.insert(0, '"');
            }
        }
        let has_modules = ["ghc_px", "business_rules"].contains(&self.format);
        if (self.tells("places") && !has_modules) || self.tells("modules") {
            key.module.clear();
        }
        if self.tells("places") && self.format != "sampler" {
            key.file.clear();
        }
        if self.tells("places") || self.tells("definitions") {
            key.place = (0, 0);
        }
        if self.tells("definition_columns") {
            key.place.1 = 0;
        }
        if self.tells("kinds") {
            key.kind.clear();
        }
        key
    }

    /// Takes the number off the name of a thread that has it because another one is called so.
    fn strip_number(&self, identity: &mut Identity) {
        let is_known = |name: &str| {
            let mut functions = self.before.functions.iter();
            functions.any(|function| {
                (&*function.identity.name, &*function.identity.kind) == (name, "thread")
            })
        };
        if self.format != "sampler" || identity.kind != "thread" || is_known(&identity.name) {
            return;
        }
        let parts = identity.name.strip_suffix(')');
        let Some((name, _)) = parts.and_then(|name| name.rsplit_once(" (")) else {
            return;
        };
        if self.tells("names") && is_known(name) {
            identity.name = name.to_owned();
        }
    }

    fn pair_functions(&mut self) {
        self.became = vec![None; self.before.functions.len()];
        let mut groups: BTreeMap<Identity, [Vec<usize>; 2]> = BTreeMap::new();
        let mut raws = BTreeSet::new();
        for (side, functions) in [&self.before.functions, &self.after.functions]
            .into_iter()
            .enumerate()
        {
            let mut alike: BTreeMap<&str, usize> = BTreeMap::new();
            for function in functions {
                *alike.entry(&function.identity.name).or_default() += 1;
            }
            for (at, function) in functions.iter().enumerate() {
                let mut identity = function.identity.clone();
                // Functions that read alike go by their raw names there.
                if let Some(raw) = function
                    .raw_name
                    .as_ref()
                    .filter(|_| self.format == "folded")
                {
                    if side == 0 && alike[identity.name.as_str()] > 1 {
                        raws.insert(raw.clone());
                    }
                    if raws.contains(raw) {
                        identity.name.clone_from(raw);
                    }
                }
                if side == 1 {
                    self.strip_number(&mut identity);
                }
                groups.entry(self.key(&identity)).or_default()[side].push(at);
            }
        }
        let (mut missing, mut new) = (Vec::new(), Vec::new());
        for [before, after] in groups.into_values() {
            match (before.is_empty(), after.is_empty()) {
                (false, false) => self.group(before, after),
                (true, _) => new.extend(after),
                (_, true) => missing.extend(before),
            }
        }
        missing.append(&mut self.dropped);
        if self.tells("names") {
            self.pair_renamed(&mut missing, &mut new);
        }
        for at in missing {
            let function = &self.before.functions[at];
            let is_free = function.is_free(self.metrics.iter().map(|(before, _)| *before));
            // Where only own costs are written, what costs nothing itself has no place.
            let is_unpaid = !self.before.is_tree
                && self.tells("inclusive")
                && self
                    .metrics
                    .iter()
                    .all(|(before, _)| function.costs[*before][0].is_none_or(|own| own < 0.5));
            let is_placed = function.places > 0 || !self.before.is_tree;
            let what = format!("function: {:?} is missing", function.identity);
            self.gone += 1;
            // Threads and the like only hold what there is.
            match (function.is_container(), is_placed) {
                (true, _) if is_free || !is_placed || self.is_nothing(at) => self.left_out += 1,
                (_, false) => self.differs(&["absent"]),
                (_, true)
                    if (is_free
                        || is_unpaid
                        || self.is_below_nothing(at)
                        || self.is_nothing(at))
                        && self.tells("free") => {}
                _ => self.fault(what),
            }
        }
        for at in new {
            let function = &self.after.functions[at];
            if !(function.is_container()
                && function
                    .costs
                    .iter()
                    .all(|[own, _]| own.is_none_or(|own| own == 0.0)))
            {
                self.fault(format!("function: {:?} is new", function.identity));
            }
        }
    }

    /// Whether a function costs less than nothing, which becomes nothing.
    fn is_below_nothing(&self, at: usize) -> bool {
        let function = &self.before.functions[at];
        self.tells("negative")
            && self
                .metrics
                .iter()
                .all(|(metric, _)| function.walked[*metric][0] <= 0.0)
    }

    /// Whether all that a function costs, and all that is called there, becomes 0 where each place is
    /// rounded by itself.
    fn is_nothing(&self, function: usize) -> bool {
        let nodes = self.before.nodes.iter().enumerate();
        let mut places = nodes.filter(|(_, node)| node.function == function);
        self.before.is_tree && places.all(|(at, _)| self.is_nothing_from(at))
    }

    /// Whether all costs of a place, and of those below it, become 0 in each metric that is written.
    pub(super) fn is_nothing_from(&self, place: usize) -> bool {
        let (first, below) = self.before.nodes[place..].split_at(1);
        let below = below.iter().take_while(|node| node.depth > first[0].depth);
        let is_nothing = |node: &super::picture::Node| {
            let mut written = self.metrics.iter();
            let is_left_out = node.line.is_some() && self.tells("lines");
            is_left_out || written.all(|(metric, _)| node.costs[*metric].0 < 0.5)
        };
        first.iter().chain(below).all(is_nothing)
    }

    /// Functions that have another name are known by their figures.
    fn pair_renamed(&mut self, missing: &mut Vec<usize>, new: &mut Vec<usize>) {
        missing.retain(|before| {
            let likeness = |after: &usize| {
                let (one, other) = (
                    &self.before.functions[*before],
                    &self.after.functions[*after],
                );
                let letters = |function: &Function| {
                    function
                        .identity
                        .name
                        .chars()
                        .filter(|letter| letter.is_alphanumeric())
                        .collect::<BTreeSet<_>>()
                };
                let (one, other) = (letters(one), letters(other));
                (one.symmetric_difference(&other).count(), *after)
            };
            let mut alike: Vec<usize> = new.clone();
            alike.sort_by_key(likeness);
            // What only holds others has no figures to be known by.
            let is_hollow = self.before.functions[*before].is_container();
            let holds = |after: &usize| {
                let [one, other] = [
                    &self.before.functions[*before],
                    &self.after.functions[*after],
                ];
                letters(&other.identity.name).starts_with(&letters(&one.identity.name))
            };
            // The thread of what is in none is made up, and no function has become it.
            let is_thread = |function: &Function| function.identity.kind == "thread";
            let can_be = |after: &usize| {
                self.format != "sampler"
                    || is_thread(&self.before.functions[*before])
                    || !is_thread(&self.after.functions[*after])
            };
            let is_like = |after: &usize| {
                likeness(after).0 == 0
                    || (can_be(after)
                        && self.is_alike(*before, *after)
                        && (!is_hollow || holds(after)))
            };
            let found = alike.into_iter().find(is_like);
            let Some(found) = found else { return true };
            new.retain(|after| *after != found);
            self.pair(*before, found);
            false
        });
    }

    /// Whether one function can have become the other, by its figures.
    fn is_alike(&self, before: usize, after: usize) -> bool {
        // Only own costs count: some losses change the cumulative cost and nothing else
        // (losses.rs).
        let faults = self.faults_of_figures(before, after);
        faults.iter().all(|fault| !fault.starts_with("exclusive"))
    }

    /// Whether one function can have become the other, by what it cost with what it called as well.
    fn is_equal(&self, before: usize, after: usize) -> bool {
        self.faults_of_figures(before, after).is_empty()
    }

    fn faults_of_figures(&self, before: usize, after: usize) -> Vec<String> {
        let mut faults = Vec::new();
        self.metrics
            .iter()
            .for_each(|pair| self.figures(before, after, *pair, &mut faults));
        faults
    }

    /// Functions that go by the same key.
    fn group(&mut self, mut before: Vec<usize>, mut after: Vec<usize>) {
        // A format without recorded costs has those of the nodes.
        let is_free = |function: &Function, metrics: &[usize]| {
            let mut own = metrics.iter().map(|metric| function.walked[*metric][0]);
            function.is_free(metrics.iter().copied()) && own.all(|own| own == 0.0)
        };
        // What only holds other functions may be gone, or new.
        let hollow = |functions: &[Function], metrics: &[usize], at: usize| {
            functions[at].is_container() && is_free(&functions[at], metrics)
        };
        // What has no place does not come back, and takes none of those that do. LispWorks counts
        // calls by name, whoever was called.
        let is_by_name = self.losses.contains(&"call_counts");
        let is_any_held = before.iter().any(|at| self.is_held(*at));
        if before.len() > after.len() && is_any_held && !is_by_name {
            let (held, absent) = before.into_iter().partition(|at| self.is_held(*at));
            before = held;
            self.dropped.extend::<Vec<usize>>(absent);
        }
        let keeps = ["folded", "lispworks_tree", "ghc_px", "business_rules"].contains(&self.format);
        if before.len() > after.len() && !keeps {
            let metrics: Vec<usize> = self.metrics.iter().map(|(metric, _)| *metric).collect();
            let kinds: Vec<&str> = after
                .iter()
                .map(|at| self.after.functions[*at].identity.kind.as_str())
                .collect();
            let kind = |at: usize| self.before.functions[at].identity.kind.as_str();
            // Of a Sampler file threads come back whatever they cost, and functions that cost nothing
            // do not.
            let is_unseen = |at: usize| {
                self.format == "sampler"
                    && self.tells("free")
                    && !kinds.contains(&kind(at))
                    && is_free(&self.before.functions[at], &metrics)
            };
            let mut out: Vec<usize> = before.clone();
            out.retain(|at| hollow(&self.before.functions, &metrics, *at) || is_unseen(*at));
            // Those of a kind that is gone go first.
            out.sort_by_key(|at| kinds.contains(&kind(*at)));
            out.truncate(before.len() - after.len());
            before.retain(|at| !out.contains(at));
            self.dropped.extend(out);
        }
        if after.len() > before.len() {
            let metrics: Vec<usize> = self.metrics.iter().map(|(_, metric)| *metric).collect();
            after.retain(|at| !hollow(&self.after.functions, &metrics, *at));
        }
        let is_exact = before.len() == after.len() || !self.tells("same_name");
        before.retain(|one| {
            let identity = &self.before.functions[*one].identity;
            let found = after
                .iter()
                .position(|other| self.after.functions[*other].identity == *identity);
            let Some(found) = found.filter(|_| is_exact) else {
                return true;
            };
            self.pair(*one, after.remove(found));
            false
        });
        if before.len() <= 1 && after.len() <= before.len() {
            if let (Some(one), Some(other)) = (before.first(), after.first()) {
                self.pair(*one, *other);
            }
            return;
        }
        if before.len() == after.len() {
            for (one, other) in self.matched(&before, &after) {
                self.pair(one, other);
            }
            return;
        }
        if after.len() > before.len() {
            let name = after
                .first()
                .map(|at| self.after.functions[*at].identity.clone());
            self.fault(format!(
                "function: {name:?}: {} became {}",
                before.len(),
                after.len()
            ));
            return;
        }
        self.merged(&before, &after);
    }

    /// Functions of one name, as many after as before: each with one that costs the same, as far as
    /// that can be, and is called as often.
    fn matched(&self, before: &[usize], after: &[usize]) -> Vec<(usize, usize)> {
        // By the place in `after`: the place in `before`.
        let mut taken: Vec<Option<usize>> = vec![None; after.len()];
        let mut left: Vec<usize> = (0..before.len()).collect();
        let is_called_alike = |one: usize, other: usize| {
            self.before.functions[one].calls == self.after.functions[other].calls
        };
        let steps: [&dyn Fn(usize, usize) -> bool; 4] = [
            // Own cost alone may be that of several.
            &|one, other| is_called_alike(one, other) && self.is_equal(one, other),
            &|one, other| self.is_equal(one, other),
            &|one, other| is_called_alike(one, other) && self.is_alike(one, other),
            &|one, other| self.is_alike(one, other),
        ];
        for (step, same) in steps.iter().enumerate() {
            left.retain(|at| {
                let mut free = (0..after.len()).filter(|other| taken[*other].is_none());
                let found = free.find(|other| same(before[*at], after[*other]));
                if let Some(found) = found {
                    taken[found] = Some(*at);
                }
                found.is_none()
            });
            if left.is_empty() {
                break;
            }
            // A function that fits several may have taken the only partner of another one: a maximum
            // matching, by augmenting paths (Kuhn's algorithm).
            let fits =
                |one: usize, other: usize| steps[..=step].iter().any(|same| same(one, other));
            let alike: Vec<Vec<usize>> = before
                .iter()
                .map(|one| {
                    let others = 0..after.len();
                    others.filter(|other| fits(*one, after[*other])).collect()
                })
                .collect();
            left.retain(|at| !augment(*at, &alike, &mut taken, &mut vec![false; after.len()]));
        }
        // Nothing tells the others apart: paired in their order, they show as faults what differs.
        let mut left = left.into_iter();
        taken
            .into_iter()
            .zip(after)
            .filter_map(|(one, other)| Some((before[one.or_else(|| left.next())?], *other)))
            .collect()
    }

    /// Whether the format can hold a function: all of them, or those that have a place.
    fn is_held(&self, at: usize) -> bool {
        let holds_all = !self.before.is_tree || !self.losses.contains(&"absent");
        self.before.functions[at].places > 0 || holds_all
    }

    /// Several functions have become fewer.
    fn merged(&mut self, before: &[usize], after: &[usize]) {
        let Some(first) = after.first() else { return };
        let placed = before.iter().filter(|at| self.is_held(**at));
        let placed = placed.count().max(1);
        (after.len()..placed).for_each(|_| self.differs(&["same_name"]));
        (placed..before.len()).for_each(|_| self.differs(&["absent"]));
        self.gone += (before.len() - placed) as u64;
        for one in before {
            let identity = &self.before.functions[*one].identity;
            let of = |at: &&usize| &self.after.functions[**at].identity;
            let same = after.iter().find(|at| of(at) == identity);
            let named = after.iter().find(|at| of(at).name == identity.name);
            self.identities(*one, *same.or(named).unwrap_or(first));
        }
        self.merged_calls(before, after);
        for (metric, other) in self.metrics.clone() {
            let own = before
                .iter()
                .map(|at| self.exclusive(&self.before.functions[*at], metric));
            // What is unknown is 0.
            let own: Option<f64> = own
                .map(|own| own.or(self.tells("unknown").then_some(0.0)))
                .sum();
            let found: Option<f64> = after
                .iter()
                .map(|at| self.after.functions[*at].costs[other][0])
                .sum();
            let by: f64 = before
                .iter()
                .map(|at| self.tolerance(&self.before.functions[*at], metric))
                .sum();
            let name = &self.after.functions[*first].identity.name;
            if let Some(what) = self.figure(own, found, by) {
                let what = format!(
                    "exclusive: {name:?} of {}: {what}",
                    self.before.metrics[metric].name
                );
                self.fault(what);
            }
        }
    }

    /// Functions that have become fewer are called as often, where the format has all calls.
    fn merged_calls(&mut self, before: &[usize], after: &[usize]) {
        const OF_CALLS: [&str; 8] = [
            "absent",
            "call_counts",
            "calls",
            "function_calls",
            "large",
            "outside_calls",
            "unknown",
            "unknown_calls",
        ];
        if OF_CALLS
            .iter()
            .any(|loss| self.losses.contains(loss) && self.tells(loss))
        {
            return;
        }
        let sum = |functions: &[Function], all: &[usize]| -> Option<i64> {
            all.iter().map(|at| functions[*at].calls).sum()
        };
        let (one, other) = (
            sum(&self.before.functions, before),
            sum(&self.after.functions, after),
        );
        if one.is_some() && one != other {
            let name = self.before.functions[before[0]].identity.name.clone();
            self.fault(format!("calls of all {name:?}: {one:?} became {other:?}"));
        }
    }

    fn pair(&mut self, before: usize, after: usize) {
        self.identities(before, after);
        self.faults.extend(self.faults_of_figures(before, after));
        let is_judged = self.tells("inclusive") || self.holds_own_costs();
        if is_judged && self.is_other_inclusive(before, after, true) {
            self.differs(&["inclusive"]);
        } else if is_judged && self.is_other_inclusive(before, after, false) {
            *self.perhaps.entry("inclusive").or_default() += 1;
        }
        self.calls(before, after);
    }

    /// Puts down what functions are, besides their figures.
    fn identities(&mut self, before: usize, after: usize) {
        self.became[before] = Some(after);
        let (one, other) = (&self.before.functions[before], &self.after.functions[after]);
        let (known, found) = (one.identity.clone(), other.identity.clone());
        // Of functions that are one now, one name is left.
        let is_one = self.tells("same_name") && !self.losses.contains(&"raw_names");
        let raw = one.raw_name.is_some() && one.raw_name != other.raw_name && !is_one;
        let (module, file) = (known.module != found.module, known.file != found.file);
        // Files are names as well, where the format has them.
        let holds = |loss: &str| self.losses.contains(&loss);
        let is_renamed = (file && (self.format == "sampler" || !holds("places")))
            || (module && !holds("places") && !holds("modules"));
        if known.kind != found.kind {
            self.differs(&["kinds"]);
        }
        // The name and the place of a function are lost once, whatever it has become.
        if before >= self.before.functions.len() - self.twins {
            return;
        }
        if known.name != found.name || is_renamed {
            self.differs(&["names"]);
        }
        if raw {
            self.differs(&["raw_names"]);
        }
        let file = file && self.format != "sampler";
        let (place, line) = (known.place != found.place, known.place.0 != found.place.0);
        if self.losses.contains(&"places") {
            if module || file || place {
                self.differs(&["places"]);
            }
            return;
        }
        if module && self.losses.contains(&"modules") {
            self.differs(&["modules"]);
        }
        if place {
            self.differs(if line {
                &["definitions"]
            } else {
                &["definitions", "definition_columns"]
            });
        }
    }

    fn calls(&mut self, before: usize, after: usize) {
        let (one, other) = (&self.before.functions[before], &self.after.functions[after]);
        let holds = one.is_container() || other.is_container();
        if one.calls == other.calls || (holds && !self.losses.contains(&"call_counts")) {
            return;
        }
        let what = format!(
            "calls: {:?}: {:?} became {:?}",
            one.identity.name, one.calls, other.calls
        );
        let is_large = one.calls.is_some_and(|calls| calls > 1 << 53);
        match (one.calls, other.calls) {
            _ if self.losses.contains(&"function_calls") && self.is_called_elsewhere(before) => {
                self.differs(&["function_calls"]);
            }
            (Some(_), None) if self.tells("calls") && !self.losses.contains(&"call_counts") => {}
            (Some(0), None) | (None, Some(0)) if self.losses.contains(&"call_counts") => {
                self.differs(&["call_counts"]);
            }
            // One of the numbers that it is the sum of is unknown, and became 1.
            (None, Some(_)) if self.tells("unknown_calls") && self.has_unknown_callers(before) => {}
            _ if self.tells("outside_calls") => self.differs(&["outside_calls"]),
            _ if is_large && self.tells("large") => {}
            // What is known of some places only.
            (None, Some(_)) if self.tells("unknown") => {}
            // Each of them became 1.
            (_, Some(_)) if self.tells("unknown_calls") => {}
            _ => self.fault(what),
        }
    }

    /// Whether some caller called a function an unknown number of times.
    fn has_unknown_callers(&self, function: usize) -> bool {
        let mut calls = self
            .before
            .edges
            .iter()
            .filter(|edge| edge.callee == function && edge.caller.is_some() && !edge.is_back);
        calls.any(|edge| edge.calls.is_none_or(|calls| calls == 0))
    }

    /// Whether the calls of a function are not those of its places.
    fn is_called_elsewhere(&self, function: usize) -> bool {
        let places = self
            .before
            .nodes
            .iter()
            .filter(|node| node.function == function && node.line.is_none());
        let calls: Option<i64> = places.map(|node| node.calls).sum();
        self.before.is_tree && self.before.functions[function].calls != calls
    }

    /// How much more times come back with: for each reading of the timer, what was subtracted
    /// before and is not now.
    fn correction(&self, metric: usize, figure: impl Fn(usize) -> Option<f64>) -> f64 {
        let ticks = self
            .before
            .metrics
            .iter()
            .position(|metric| metric.is_timer);
        let [before, after] =
            [self.before.bias[1], self.after.bias[1]].map(|applied| applied.unwrap_or(0.0));
        let is_time = self.before.metrics[metric].unit == "ns" && self.tells("bias");
        ticks
            .filter(|_| is_time && self.is_raw)
            .and_then(figure)
            .map_or(0.0, |ticks| ticks * (before - after))
    }

    /// The own cost that is to come back.
    fn exclusive(&self, function: &Function, metric: usize) -> Option<f64> {
        let more = self.correction(metric, |ticks| function.costs[ticks][0]);
        let given = function.costs[metric][0].map(|cost| cost + more);
        let is_recorded = self.before.is_tree && self.tells("recorded");
        if is_recorded {
            Some(function.walked[metric][0])
        } else {
            given
        }
    }

    /// The cost with what was called that is to come back.
    fn cumulative(&self, function: &Function, metric: usize) -> Option<f64> {
        let more = self.correction(metric, |ticks| function.costs[ticks][1]);
        let given = function.costs[metric][1].map(|cost| cost + more);
        let is_walked = self.before.is_tree && self.tells("cumulative");
        if is_walked {
            Some(function.walked[metric][1])
        } else {
            given
        }
    }

    /// By how much an own cost may be off.
    fn tolerance(&self, function: &Function, metric: usize) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a tolerance")]
        let places = function.places.max(1) as f64;
        let rounded = if self.tells("fractions") {
            // A function has no more rounded figures than places, and not more than there are in
            // all.
            self.count("fractions").min(places) * self.scale(metric)
        } else {
            0.0
        };
        let negative = if self.tells("negative") {
            self.negative(function, metric)
        } else {
            0.0
        };
        let large = if self.tells("large")
            && function.costs[metric]
                .iter()
                .flatten()
                .any(|cost| cost.abs() >= LARGE)
        {
            f64::INFINITY
        } else {
            0.0
        };
        rounded + negative + large
    }

    /// What a function costs below 0 where it is written.
    pub(super) fn negative(&self, function: &Function, metric: usize) -> f64 {
        let at_places = function.negative[metric];
        let negative = if self.format == "lispworks_tree" {
            // Its lines have what the run says of functions, which need not be that of their places.
            let own = function.costs[metric][0].unwrap_or(0.0);
            f64::max(at_places, -own)
        } else {
            at_places
        };
        negative
            + if ["speedscope", "business_rules"].contains(&self.format) {
                function.exceeded[metric]
            } else {
                0.0
            }
    }

    /// By how much sums over functions may be off.
    pub(super) fn tolerance_of_sums(&self, cost: f64, metric: usize) -> f64 {
        let rounded = self.count("fractions") * self.scale(metric);
        let negative = self
            .before
            .functions
            .iter()
            .map(|function| self.negative(function, metric))
            .sum::<f64>();
        let negative = if self.tells("negative") {
            negative
        } else {
            0.0
        };
        rounded
            + negative
            + if self.tells("large") && cost.abs() >= LARGE {
                f64::INFINITY
            } else {
                0.0
            }
    }

    /// What a figure is rounded to, at most.
    pub(super) fn scale(&self, metric: usize) -> f64 {
        match (self.format, self.before.metrics[metric].unit.as_str()) {
            // Ticks of 1 ms, and words of 8 bytes (src/formats/ghc/ghc_px/write.rs).
            ("ghc_px", "ns") => 1e6,
            ("ghc_px", "bytes") => 8.0,
            _ => 1.0,
        }
    }

    /// What is wrong about a figure.
    fn figure(&self, expected: Option<f64>, found: Option<f64>, by: f64) -> Option<String> {
        let is_wrong = match (expected, found) {
            (None, None) => false,
            // It is 0, or what the lines cost.
            (None, Some(cost)) => {
                !(self.tells("unknown") && (cost == 0.0 || !self.before.lines.is_empty()))
            }
            (Some(_), None) => true,
            (Some(one), Some(other)) => differ(one, other, by),
        };
        is_wrong.then(|| format!("{expected:?} became {found:?}"))
    }

    fn figures(
        &self,
        before: usize,
        after: usize,
        (metric, other): (usize, usize),
        faults: &mut Vec<String>,
    ) {
        let (one, now) = (&self.before.functions[before], &self.after.functions[after]);
        let of = format!(
            "{:?} of {}",
            one.identity.name, self.before.metrics[metric].name
        );
        let own = self.exclusive(one, metric);
        if let Some(what) = self.figure(own, now.costs[other][0], self.tolerance(one, metric)) {
            faults.push(format!("exclusive: {of}: {what}"));
        }
        if one.is_container() || now.is_container() {
            return;
        }
        let all = self.cumulative(one, metric);
        let found = now.costs[other][1];
        // Cost with what was called is a sum over places of other functions, each with its
        // rounding.
        let by = self.tolerance_of_sums(all.unwrap_or(0.0), metric);
        match self.figure(all, found, by) {
            // What the file gives; places say something else.
            Some(_) if self.tells("function_costs") && self.is_given(before, metric) => {}
            // Counted by itself.
            Some(_) if self.tells("inclusive") => {}
            Some(what) => faults.push(format!("cumulative: {of}: {what}")),
            None => {}
        }
    }

    /// Whether the cost of a function with what was called is not that of its places, which come
    /// back.
    fn is_given(&self, function: usize, metric: usize) -> bool {
        let all = self.before.functions[function].costs[metric][1];
        all.is_some_and(|all| differ(all, self.before.functions[function].outermost[metric], 0.0))
    }

    /// Whether own costs are all that is written: what functions cost with what was called is read
    /// from them.
    fn holds_own_costs(&self) -> bool {
        self.format == "business_rules" && !self.before.is_tree
    }

    /// Whether cost with what was called is another one, in any metric: certainly, or perhaps by
    /// rounding alone.
    fn is_other_inclusive(&self, before: usize, after: usize, certainly: bool) -> bool {
        let (one, now) = (&self.before.functions[before], &self.after.functions[after]);
        let differs = |(metric, other): &(usize, usize)| {
            let [own, all] = one.costs[*metric];
            if self.holds_own_costs() {
                // What rounding and figures below 0 make of the own cost is no loss of this sort.
                return all.is_none_or(|all| differ(own.unwrap_or(0.0), all, 0.0));
            }
            let by = if certainly {
                self.tolerance_of_sums(all.unwrap_or(0.0), *metric)
            } else {
                0.0
            };
            match (all, now.costs[*other][1]) {
                (Some(all), Some(found)) => differ(all, found, by),
                (all, found) => all.is_some() != found.is_some(),
            }
        };
        !one.is_container() && self.metrics.iter().any(differs)
    }

    /// What roots cost, by what is said of them or by what own costs add up to.
    fn sums(&self, metric: usize) -> [f64; 4] {
        let roots = self.before.nodes.iter().filter(|node| node.depth == 0);
        let all = roots
            .clone()
            .map(|node| node.costs[metric].1.unwrap_or(node.costs[metric].0))
            .sum();
        let is_program = |function: &str| function != "(built-in)";
        let caller = |node: &super::picture::Node| {
            let above = &self.before.nodes[node.parent?];
            if above.line.is_some() {
                above.parent
            } else {
                node.parent
            }
        };
        let below = |at: usize| {
            let is_callee =
                |node: &&super::picture::Node| node.line.is_none() && caller(node) == Some(at);
            let callees = self.before.nodes.iter().filter(is_callee);
            callees
                .map(|node| node.costs[metric].1.unwrap_or(0.0))
                .sum::<f64>()
        };
        // LispWorks' roots may not have been counted themselves.
        let larger = self
            .before
            .nodes
            .iter()
            .enumerate()
            .filter(|(_, node)| node.depth == 0);
        let larger = larger
            .map(|(at, node)| f64::max(node.costs[metric].1.unwrap_or(0.0), below(at)))
            .sum();
        let program =
            roots.filter(|node| is_program(&self.before.functions[node.function].identity.name));
        let own: f64 = self
            .before
            .functions
            .iter()
            .map(|function| function.costs[metric][0].unwrap_or(0.0))
            .sum();
        let walked = self
            .before
            .functions
            .iter()
            .map(|function| function.walked[metric][0])
            .sum();
        // Callgrind's files hold what functions cost, whatever their places say.
        if self.before.is_tree && self.format != "callgrind" {
            [
                all,
                walked,
                larger,
                program.map(|node| node.sums[metric]).sum(),
            ]
        } else {
            [own; 4]
        }
    }

    fn compare_totals(&mut self) {
        for (metric, other) in self.metrics.clone() {
            let more = self.correction(metric, |ticks| Some(self.before.metrics[ticks].total));
            let given = self.before.metrics[metric].total + more;
            let found = self.after.metrics[other].total;
            let by = self.tolerance_of_sums(given.abs().max(found.abs()), metric);
            let is_sum = self
                .sums(metric)
                .iter()
                .any(|sum| !differ(sum + more, found, by));
            if self.tells("totals") && is_sum && differ(given, found, 0.0) {
                self.differs(&["totals"]);
            } else if differ(given, found, by) {
                let name = &self.before.metrics[metric].name;
                self.fault(format!("total: {name}: {given} became {found}"));
            }
        }
    }
}
