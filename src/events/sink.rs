//! The sink: what takes the calls of an importer, and the rules for these calls.

use std::fmt;

use super::vocabulary::{
    Cost, Edge, Frame, FunctionDef, FunctionId, Info, Label, LabelsId, MetricId, Noise, Note,
    RunFact, Sample, Unit,
};
use crate::base::error::Position;

/// Takes what an importer has understood.
///
/// The calls of an importer follow this grammar, in which [`run`](Self::run),
/// [`function`](Self::function), [`labels`](Self::labels), [`at`](Self::at),
/// [`record`](Self::record) and [`note`](Self::note) are left out, since they may come anywhere:
///
/// ```text
/// ( metric | sample )*  ( tree | sample | edge | info )*
/// tree = enter cost* tree* leave
/// ```
///
/// 1. Metrics, and which of them is the default one, are stated before the first node, edge or info.
///    Each has a name of its own. Samples may come before a metric: some formats name their events
///    only as they come.
/// 2. Ids of metrics, functions and sets of labels are those that the sink has given.
/// 3. The costs of a node come directly after its [`enter`](Self::enter), before its children, and
///    at most one for each metric. So a sink knows all that the file states of a node when its first
///    child opens. A metric without a cost costs the node itself 0.
/// 4. A line node is opened directly below a node of its function. Only line nodes have a
///    [`Cost::ExclusiveOnly`].
/// 5. Every node is closed, innermost first.
/// 6. A file that knows edges states so ([`Fidelity::Edges`](super::Fidelity::Edges)) before the
///    first edge.
/// 7. The calls of one function by another are said either by nodes or by edges of kind
///    [`Call`](super::EdgeKind::Call): both would be added up.
/// 8. Figures are finite, and numbers of calls add up to no more than 2^53.
///
/// The builder refuses the run where a rule is broken: rules 3, 6 and 7 in debug builds only, in which
/// all tests run, because it can do with what breaks them.
///
/// No method fails: a sink that can go no further keeps its first error and sets the
/// [`crate::base::error::Stop`] that the next read of the input sees.
pub trait Sink {
    /// States a fact about the run.
    fn run(&mut self, fact: RunFact<'_>);

    /// Announces a metric, and what its figures owe to chance. The order is that of the file.
    fn metric(&mut self, name: &str, unit: Unit, noise: Noise) -> MetricId;

    /// Announces a metric that counts samples.
    fn samples(&mut self, name: &str) -> MetricId {
        let samples = self.metric(name, Unit::Count, Noise::Sampled);
        self.run(RunFact::Observations(samples, samples));
        self.run(RunFact::Quantum(samples, 1.0));
        samples
    }

    /// Names a function. Equal definitions get equal ids. A function that no other call mentions
    /// leaves no trace.
    fn function(&mut self, def: FunctionDef<'_>) -> FunctionId;

    /// Names a set of labels. Equal sets get equal ids, in whatever order their labels come.
    fn labels(&mut self, labels: &[Label<'_>]) -> LabelsId;

    /// Opens a node below the innermost open one. Siblings are never merged.
    fn enter(&mut self, frame: Frame<'_>, calls: Option<u64>);

    /// States the cost of the node that has just been opened.
    fn cost(&mut self, metric: MetricId, cost: Cost);

    /// Closes the innermost open node.
    fn leave(&mut self);

    /// Adds a stack. Equal stacks are merged, whatever came between them.
    fn sample(&mut self, sample: Sample<'_>);

    /// Adds a pair of caller and callee. What is stated of one pair several times adds up.
    fn edge(&mut self, edge: Edge<'_>);

    /// Gives the file's own figures for a function or line; replaces what was given before for the
    /// same frame and metric.
    fn info(&mut self, info: Info<'_>);

    /// Says where the record of the file starts that the next calls come from. Before the first
    /// call of this kind they come from the first byte.
    fn at(&mut self, position: Position);

    /// Says what a record of the file holds, for a sink that lists records: no row comes of it. For
    /// formats whose last record decides what the first one means, so that figures come at the end,
    /// added up.
    fn record(&mut self, what: fmt::Arguments<'_>);

    /// Adds a note.
    fn note(&mut self, note: Note<'_>);
}
