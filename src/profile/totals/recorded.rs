//! Figures that the file itself gives for functions and lines.

use hashbrown::HashMap;

use crate::base::interner::Grid;
use crate::events::{FunctionId, MetricId};
use crate::profile::ids::LineId;
use crate::profile::rows::InfoFigures;

/// What figures are about: a function, or one line of it.
#[derive(Clone, Copy)]
pub(in crate::profile) enum Subject {
    Function(FunctionId),
    Line(LineId),
}

/// The recorded figures. They lie in one list: a file that gives figures for few functions needs no
/// room for those of the others.
#[derive(Default)]
pub(super) struct Recorded {
    figures: Vec<InfoFigures>,
    /// Where those of functions are in the list, and [`NOWHERE`]; fewer rows than functions where
    /// the last ones have none.
    of_functions: Grid<FunctionId, MetricId, u32>,
    of_lines: HashMap<(LineId, MetricId), u32>,
}

/// Where the figures of a function are that the file gives none for.
const NOWHERE: u32 = u32::MAX;

impl Recorded {
    /// Says how many metrics there are, before anything is recorded.
    pub(super) fn set_metrics(&mut self, metrics: usize) {
        self.of_functions = Grid::filled(0, metrics, NOWHERE);
    }

    /// Keeps figures, in place of earlier ones. There are so many functions now.
    pub(super) fn record(
        &mut self,
        subject: Subject,
        metric: MetricId,
        figures: InfoFigures,
        functions: usize,
    ) {
        let known = match subject {
            Subject::Function(function) => {
                if self.of_functions.get(function, metric).is_none() {
                    self.of_functions.grow(functions, NOWHERE);
                }
                &mut self.of_functions[(function, metric)]
            }
            Subject::Line(line) => self.of_lines.entry((line, metric)).or_insert(NOWHERE),
        };
        if *known == NOWHERE {
            *known = u32::try_from(self.figures.len()).expect("fewer than 2^32 figures");
            self.figures.push(figures);
        } else {
            self.figures[*known as usize] = figures;
        }
    }

    pub(super) fn get(&self, subject: Subject, metric: MetricId) -> Option<&InfoFigures> {
        let at = match subject {
            Subject::Function(function) => self.of_functions.get(function, metric),
            Subject::Line(line) => self.of_lines.get(&(line, metric)),
        };
        // `NOWHERE` is beyond the end of the list.
        self.figures.get(*at? as usize)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.figures.is_empty()
    }

    /// Whether some figures are those of a function.
    pub(super) fn has_functions(&self) -> bool {
        !self.of_functions.is_empty()
    }
}
