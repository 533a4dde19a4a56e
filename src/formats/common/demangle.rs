//! Names as compilers give them to linkers (`_ZN4core3fmt5write17h…E`, `_RNvC4demo4main`,
//! `_Z3addii`), made readable. The name that the file has stays as the raw name.

use std::fmt;

use hashbrown::HashMap;

use crate::base::error::Position;
use crate::events::{
    Cost, Edge, Frame, FunctionDef, FunctionId, Info, Label, LabelsId, MetricId, Noise, Note,
    RunFact, Sample, Sink, Unit,
};
use crate::text::compiled_names::readable;

/// Passes everything on, functions by their readable names. Several raw names may read alike
/// (instances of a generic function): they stay several functions, told apart by their numbers.
pub(in crate::formats) struct Demangler<'s> {
    sink: &'s mut dyn Sink,
    known: HashMap<String, FunctionId>,
    /// How many raw names read so, by name, module and file.
    alike: HashMap<[String; 3], u32>,
}

impl<'s> Demangler<'s> {
    pub(in crate::formats) fn new(sink: &'s mut dyn Sink) -> Self {
        Self {
            sink,
            known: HashMap::new(),
            alike: HashMap::new(),
        }
    }
}

impl Sink for Demangler<'_> {
    fn function(&mut self, def: FunctionDef<'_>) -> FunctionId {
        let Some(name) = readable(def.name).filter(|_| def.raw_name.is_empty()) else {
            return self.sink.function(def);
        };
        let FunctionDef {
            kind,
            module,
            file,
            first_line,
            first_col,
            ..
        } = def;
        let key = format!(
            "{}\0{module}\0{file}\0{}\0{first_line}\0{first_col}",
            def.name,
            kind.name()
        );
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let alike = self
            .alike
            .entry([name.clone(), module.to_owned(), file.to_owned()])
            .or_insert(0);
        // The raw name is no part of a function's key (docs/design/measured-choices.md): without a
        // number, instances that read alike would be one function.
        let first_col = if first_line == 0 { *alike } else { first_col };
        *alike += 1;
        let id = self.sink.function(FunctionDef {
            name: &name,
            raw_name: def.name,
            first_col,
            ..def
        });
        self.known.insert(key, id);
        id
    }

    fn run(&mut self, fact: RunFact<'_>) {
        self.sink.run(fact);
    }

    fn metric(&mut self, name: &str, unit: Unit, noise: Noise) -> MetricId {
        self.sink.metric(name, unit, noise)
    }

    fn labels(&mut self, labels: &[Label<'_>]) -> LabelsId {
        self.sink.labels(labels)
    }

    fn enter(&mut self, frame: Frame<'_>, calls: Option<u64>) {
        self.sink.enter(frame, calls);
    }

    fn cost(&mut self, metric: MetricId, cost: Cost) {
        self.sink.cost(metric, cost);
    }

    fn leave(&mut self) {
        self.sink.leave();
    }

    fn sample(&mut self, sample: Sample<'_>) {
        self.sink.sample(sample);
    }

    fn edge(&mut self, edge: Edge<'_>) {
        self.sink.edge(edge);
    }

    fn info(&mut self, info: Info<'_>) {
        self.sink.info(info);
    }

    fn at(&mut self, position: Position) {
        self.sink.at(position);
    }

    fn record(&mut self, what: fmt::Arguments<'_>) {
        self.sink.record(what);
    }

    fn note(&mut self, note: Note<'_>) {
        self.sink.note(note);
    }
}
