//! Labels of samples: the dictionary of their sets, and what samples with each set cost at which node
//! of the call tree.

use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::{DefaultHashBuilder, HashMap, HashSet, HashTable};

use super::ids::CallNodeId;
use super::rows::{LabelCostRow, LabelRow, LabelText};
use crate::base::interner::Id;
use crate::events::{Label, LabelValue, LabelsId, MetricId};

/// A label with text of its own: key, value and unit.
type OwnLabel = (Arc<str>, LabelText, Arc<str>);

/// A set of labels, sorted.
pub(crate) type LabelSet = Arc<[OwnLabel]>;

/// Gives sets of labels their ids: equal ones have one id, in whatever order their labels come.
#[derive(Default)]
pub(crate) struct LabelSetInterner {
    texts: HashSet<Arc<str>>,
    sets: HashMap<LabelSet, LabelsId>,
}

impl LabelSetInterner {
    /// The id of a set, and the set itself if it is new: ids count up in the order in which sets
    /// come.
    pub(crate) fn intern(&mut self, labels: &[Label<'_>]) -> (LabelsId, Option<LabelSet>) {
        let mut set: Vec<OwnLabel> = labels.iter().map(|label| self.own(label)).collect();
        // Sorted and without doubles, a set is its own key, however its labels came.
        set.sort_unstable();
        set.dedup();
        let set: LabelSet = set.into();
        let next = LabelsId::new(self.sets.len());
        let id = *self.sets.entry(Arc::clone(&set)).or_insert(next);
        (id, (id == next).then_some(set))
    }

    fn own(&mut self, label: &Label<'_>) -> OwnLabel {
        let value = match label.value {
            LabelValue::Number(number) => LabelText::Number(number),
            LabelValue::Text(text) => LabelText::Text(self.text(text)),
        };
        (self.text(label.key), value, self.text(label.unit))
    }

    /// One copy of every text, however many sets have it.
    fn text(&mut self, text: &str) -> Arc<str> {
        Arc::clone(self.texts.get_or_insert_with(text, |text| Arc::from(text)))
    }
}

/// What samples with labels cost. There may be as many sums as nodes: they lie close together, and
/// the hash table has only their indexes.
#[derive(Default)]
pub(super) struct LabelCosts {
    /// By id.
    sets: Vec<LabelSet>,
    /// Sums of 0 are there, too.
    costs: Vec<LabelCost>,
    /// By node of the call tree, set and metric.
    index: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

struct LabelCost {
    at: CallNodeId,
    labels: LabelsId,
    metric: MetricId,
    sum: f64,
}

impl LabelCost {
    fn key(&self) -> (CallNodeId, LabelsId, MetricId) {
        (self.at, self.labels, self.metric)
    }
}

impl LabelCosts {
    /// Takes the next set.
    pub(super) fn add_set(&mut self, set: LabelSet) {
        self.sets.push(set);
    }

    /// Whether there is such a set.
    pub(super) fn knows(&self, labels: LabelsId) -> bool {
        labels.index() < self.sets.len()
    }

    /// Adds what a sample with these labels cost itself.
    pub(super) fn add(&mut self, at: CallNodeId, labels: LabelsId, metric: MetricId, cost: f64) {
        let (costs, hasher) = (&mut self.costs, &self.hasher);
        let key = (at, labels, metric);
        let hash = hasher.hash_one(key);
        if let Some(&found) = self
            .index
            .find(hash, |found| costs[*found as usize].key() == key)
        {
            costs[found as usize].sum += cost;
            return;
        }
        let next = u32::try_from(costs.len()).expect("fewer than 2^32 sums");
        self.index.insert_unique(hash, next, |found| {
            hasher.hash_one(costs[*found as usize].key())
        });
        costs.push(LabelCost {
            at,
            labels,
            metric,
            sum: cost,
        });
    }

    /// Nothing will be added any more.
    pub(super) fn close(&mut self) {
        self.index = HashTable::new();
    }

    /// Whether some sample had labels.
    pub(super) fn have_costs(&self) -> bool {
        !self.costs.is_empty()
    }

    /// Whether all sums are numbers.
    pub(super) fn are_finite(&self) -> bool {
        self.costs.iter().all(|cost| cost.sum.is_finite())
    }

    /// The sets, and what samples with them cost; `nodes` has the node that each of the call tree has
    /// become. A sum of 0 has no row.
    pub(super) fn into_rows(self, nodes: &[u64]) -> (Vec<LabelRow>, Vec<LabelCostRow>) {
        let sets = self.sets.iter().enumerate().flat_map(|(set, labels)| {
            labels
                .iter()
                .cloned()
                .map(move |(key, value, unit)| LabelRow {
                    labels: LabelsId::new(set),
                    key,
                    value,
                    unit,
                })
        });
        // Also what has added up to 0: values may be negative (case `pprof/negative-values`).
        let costs = self.costs.into_iter().filter(|cost| cost.sum != 0.0).map(
            |LabelCost {
                 at,
                 labels,
                 metric,
                 sum,
             }| {
                LabelCostRow {
                    metric,
                    node: nodes[at.index()],
                    labels,
                    exclusive: sum,
                }
            },
        );
        let mut costs: Vec<LabelCostRow> = costs.collect();
        // In the order of the key of their table (migrations/0004_labels.sql).
        costs.sort_unstable_by_key(|row| (row.metric, row.node, row.labels));
        (sets.collect(), costs)
    }
}
