//! The words in which an importer says what a file holds. No I/O, no SQL.
//!
//! An importer calls a [`Sink`], whose documentation is the contract between both; the
//! [`crate::profile::TreeBuilder`] is the sink that numbers nodes and adds up totals, the
//! [`recorder::Recorder`] one that writes every call as a line of text.

pub mod recorder;
mod rounding;
mod sink;
mod vocabulary;

pub use rounding::{ROUNDING, slack};
pub use sink::Sink;
pub use vocabulary::{
    Cost, Edge, EdgeCost, EdgeKind, Fact, Fidelity, Frame, FunctionDef, FunctionId, Info, Kind,
    Label, LabelValue, LabelsId, Line, MetricId, Noise, Note, RunFact, Sample, Severity, Unit,
};
