//! Labels of samples: which sets of them there are, and what each cost at which node of the trie.

use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::{DefaultHashBuilder, HashMap, HashSet, HashTable};

use super::ids::index;
use super::rows::{LabelCostRow, LabelRow, LabelText};
use crate::events::{Label, LabelValue, LabelsId, MetricId};

/// Key, value and unit.
type Texts = (Arc<str>, LabelText, Arc<str>);

/// A set of labels, sorted.
pub(crate) type LabelSet = Arc<[Texts]>;

/// The dictionary of sets: equal ones are one, in whatever order their labels come.
#[derive(Default)]
pub(crate) struct LabelSets {
    texts: HashSet<Arc<str>>,
    sets: HashMap<LabelSet, u32>,
}

impl LabelSets {
    /// The number of a set, and the set itself if it is new: they are numbered in the order in
    /// which they come.
    pub(crate) fn number(&mut self, labels: &[Label<'_>]) -> (LabelsId, Option<LabelSet>) {
        let mut set: Vec<Texts> = labels.iter().map(|label| self.texts(label)).collect();
        set.sort_unstable();
        set.dedup();
        let set: LabelSet = set.into();
        let next = index(self.sets.len());
        let number = *self.sets.entry(Arc::clone(&set)).or_insert(next);
        (LabelsId(number), (number == next).then_some(set))
    }

    fn texts(&mut self, label: &Label<'_>) -> Texts {
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
/// only their numbers in the table.
#[derive(Default)]
pub(super) struct Labels {
    /// By number.
    sets: Vec<LabelSet>,
    /// Sums of 0 are there, too.
    costs: Vec<LabelCost>,
    /// By node of the trie, set and metric.
    index: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

struct LabelCost {
    at: u32,
    labels: LabelsId,
    metric: MetricId,
    sum: f64,
}

impl LabelCost {
    fn key(&self) -> (u32, u32, u32) {
        (self.at, self.labels.0, self.metric.0)
    }
}

impl Labels {
    /// Takes the next set.
    pub(super) fn add_set(&mut self, set: LabelSet) {
        self.sets.push(set);
    }

    /// Whether there is such a set.
    pub(super) fn knows(&self, labels: LabelsId) -> bool {
        (labels.0 as usize) < self.sets.len()
    }

    /// Adds what a sample with these labels cost itself.
    pub(super) fn add(&mut self, at: u32, labels: LabelsId, metric: MetricId, cost: f64) {
        let (costs, hasher) = (&mut self.costs, &self.hasher);
        let key = (at, labels.0, metric.0);
        let hash = hasher.hash_one(key);
        if let Some(&found) = self
            .index
            .find(hash, |found| costs[*found as usize].key() == key)
        {
            costs[found as usize].sum += cost;
            return;
        }
        let next = index(costs.len());
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

    /// The sets, and what they cost at the nodes that have become of those of the trie. What cost
    /// nothing has no row.
    pub(super) fn into_rows(self, nodes: &[u64]) -> (Vec<LabelRow>, Vec<LabelCostRow>) {
        let sets = (0_u32..).zip(&self.sets).flat_map(|(set, labels)| {
            labels
                .iter()
                .cloned()
                .map(move |(key, value, unit)| LabelRow {
                    labels: LabelsId(set),
                    key,
                    value,
                    unit,
                })
        });
        let costs = self.costs.into_iter().filter(|cost| cost.sum != 0.0).map(
            |LabelCost {
                 at,
                 labels,
                 metric,
                 sum,
             }| {
                LabelCostRow {
                    metric,
                    node: nodes[at as usize],
                    labels,
                    exclusive: sum,
                }
            },
        );
        let mut costs: Vec<LabelCostRow> = costs.collect();
        costs.sort_unstable_by_key(|row| (row.metric, row.node, row.labels));
        (sets.collect(), costs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label<'a>(key: &'a str, value: &'a str) -> Label<'a> {
        Label {
            key,
            value: LabelValue::Text(value),
            unit: "",
        }
    }

    #[test]
    fn sets_are_equal_whatever_the_order() {
        let mut sets = LabelSets::default();
        let mut labels = Labels::default();
        let mut number = |set: &[Label<'_>]| {
            let (number, new) = sets.number(set);
            if let Some(set) = new {
                labels.add_set(set);
            }
            number
        };
        let both = number(&[label("a", "1"), label("b", "2")]);
        assert_eq!(
            number(&[label("b", "2"), label("a", "1"), label("a", "1")]),
            both
        );
        assert_ne!(number(&[label("a", "1"), label("a", "2")]), both);
        let text = number(&[label("a", "1")]);
        assert_ne!(text, both);
        assert_ne!(
            number(&[Label {
                value: LabelValue::Number(1),
                ..label("a", "")
            }]),
            text
        );
        assert!(labels.knows(both) && labels.knows(LabelsId(3)) && !labels.knows(LabelsId(4)));
    }

    #[test]
    fn costs_add_up_by_node_set_and_metric() {
        let mut sets = LabelSets::default();
        let mut labels = Labels::default();
        let [one, two] = ["1", "2"].map(|value| {
            let (number, set) = sets.number(&[label("a", value)]);
            labels.add_set(set.expect("it is new"));
            number
        });
        let (samples, time) = (MetricId(0), MetricId(1));
        for (at, set, metric, cost) in [
            (1, two, time, 5.0),
            (1, one, samples, 1.0),
            (1, one, samples, 2.0),
            (2, one, samples, 1.0),
            (2, two, samples, 4.0),
            (2, two, samples, -4.0),
        ] {
            labels.add(at, set, metric, cost);
        }
        let (sets, costs) = labels.into_rows(&[0, 20, 10]);
        let text = |value: &str| LabelText::Text(value.into());
        let sets: Vec<_> = sets
            .into_iter()
            .map(|row| (row.value, row.labels))
            .collect();
        assert_eq!(sets, [(text("1"), one), (text("2"), two)]);
        let costs: Vec<_> = costs
            .iter()
            .map(|row| (row.metric, row.node, row.labels, row.exclusive))
            .collect();
        assert_eq!(
            costs,
            [
                (samples, 10, one, 1.0),
                (samples, 20, one, 3.0),
                (time, 20, two, 5.0)
            ]
        );
    }
}
