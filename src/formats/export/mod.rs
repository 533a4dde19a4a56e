//! What a written format is: the vocabulary that every writer shares.
//!
//! A writer sees a `Profile` and somewhere to write to: no SQL, no files, no screen. Nodes come to
//! it one by one, so that memory grows with functions and depth, not with the run. What its format
//! cannot hold it counts in [`Losses`].

mod bound;
mod difference;
pub(in crate::formats) mod error;
pub(in crate::formats) mod losses;
pub(in crate::formats) mod profile;
mod request;

use std::io::{BufWriter, Write};

use flate2::Compression;
use flate2::write::GzEncoder;

pub use bound::{LARGE_OUTPUT, MOST_BYTES};
pub use difference::{Difference, Differences, DifferentFunction, DifferentPlace};
pub use error::ExportError;
pub use losses::{Loss, Losses};
pub(in crate::formats) use request::Metrics;
pub use request::{Layout, Output, Request};

use self::bound::Bound;
use self::profile::Profile;
use super::options::OptionDef;
use crate::base::spool::PIECE;
use crate::report::ReportError;
use crate::store::{Database, RunInfo};

/// A file format that runs can be written in.
#[derive(Debug)]
pub struct Export {
    /// Its name on the command line, and that of its file. Where it is an input format as well, the
    /// same name.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// What a run must know for it.
    pub(super) needs: Needs,
    /// How many metrics a file of it holds.
    pub(super) metrics: Metrics,
    /// The layouts that it has; none where there is one only.
    pub layouts: &'static [Layout],
    /// What the user may want of a file.
    pub options: &'static [OptionDef],
    /// How its bytes are packed.
    pub(super) packing: Packing,
    /// Everything that it cannot hold.
    pub losses: &'static [Loss],
    /// How it has two costs of a place; `None` if it has not.
    pub difference: Option<&'static Differences>,
    /// Writes a run.
    pub(super) write: fn(&Profile<'_>, &mut Losses, &mut dyn Write) -> Result<(), ExportError>,
}

/// What a run must know to be written in a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Needs {
    /// Totals are enough.
    Totals,
    /// Who called whom.
    Edges,
    /// Paths.
    Tree,
}

/// How the bytes of a file are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    /// Not at all.
    Plain,
    /// By gzip. What a file may have is counted before it is packed.
    Gzip,
}

/// Gathers what a writer writes in small parts.
fn in_pieces(
    out: &mut dyn Write,
    write: impl FnOnce(&mut dyn Write) -> Result<(), ExportError>,
) -> Result<(), ExportError> {
    let mut out = BufWriter::with_capacity(PIECE, out);
    let written = write(&mut out);
    if written.is_err() {
        // What is left would be written when the buffer is dropped, after the failure.
        drop(out.into_parts());
        return written;
    }
    Ok(out.flush()?)
}

impl Export {
    /// Whether its files are packed, and no text.
    #[must_use]
    pub fn is_packed(&self) -> bool {
        self.packing == Packing::Gzip
    }

    /// Writes a run; says what got lost.
    ///
    /// # Errors
    /// When the run does not know enough or has no such metric, or the format no such layout or
    /// option; when the database fails, or the output.
    pub fn write(
        &'static self,
        database: &Database,
        run: &RunInfo,
        request: &Request,
        out: &mut dyn Write,
    ) -> Result<Losses, ExportError> {
        let layout = self.layout(request.layout.as_deref())?;
        self.know(request, &[])?;
        self.refuse(run)?;
        let profile = Profile::open(database, run, request, self.metrics)?;
        let profile = Profile { layout, ..profile };
        let mut losses = Losses::new(self.name, self.losses);
        self.bounded(
            request,
            &|| database.is_stopped(),
            &mut losses,
            &|losses, out| (self.write)(&profile, losses, out),
            out,
        )?;
        // The writer has chosen by now which metrics it writes (`Losses::written`).
        profile.lose_recorded(&mut losses)?;
        Ok(losses)
    }

    /// Writes two trees that were united, with both costs of every place; says what got lost.
    ///
    /// # Errors
    /// When the format has no place for two costs, no such layout or option, or the output fails.
    pub fn write_difference(
        &'static self,
        difference: &Difference,
        request: &Request,
        is_stopped: &dyn Fn() -> bool,
        out: &mut dyn Write,
    ) -> Result<Losses, ExportError> {
        let Some(differences) = self.difference else {
            return Err(ReportError::Usage(format!(
                "{} cannot hold two costs per stack",
                self.name
            ))
            .into());
        };
        self.layout(request.layout.as_deref())?;
        self.know(request, differences.options)?;
        let mut losses = Losses::new(self.name, self.losses);
        self.bounded(
            request,
            is_stopped,
            &mut losses,
            &|losses, out| (differences.write)(difference, losses, out),
            out,
        )?;
        Ok(losses)
    }

    /// Refuses options that the format does not have.
    fn know(&self, request: &Request, more: &[OptionDef]) -> Result<(), ReportError> {
        let Some(name) = request.options.foreign(self.options.iter().chain(more)) else {
            return Ok(());
        };
        let of_differences = self
            .difference
            .map_or(&[][..], |differences| differences.options);
        Err(ReportError::Usage(
            if of_differences.iter().any(|option| option.name == name) {
                format!("--{name} applies to outputs with two costs per node; add --diff BASE NEW")
            } else {
                format!("the format {} does not have the option --{name}", self.name)
            },
        ))
    }

    /// Packs what is written, and keeps it as small as it may be.
    fn bounded(
        &self,
        request: &Request,
        is_stopped: &dyn Fn() -> bool,
        losses: &mut Losses,
        write: &dyn Fn(&mut Losses, &mut dyn Write) -> Result<(), ExportError>,
        out: &mut dyn Write,
    ) -> Result<(), ExportError> {
        let bound = Bound {
            most: request.max_size.unwrap_or(MOST_BYTES),
            output: request.output,
            is_stopped,
            tell: request.tell.unwrap_or(|_| ()),
        };
        // A pass that only counts bytes loses the same things, which would be counted twice.
        let mut again = |out: &mut dyn Write| {
            let mut losses = Losses::new(self.name, self.losses);
            in_pieces(out, |out| write(&mut losses, out))
        };
        let write = |out: &mut dyn Write| in_pieces(out, |out| write(losses, out));
        match self.packing {
            Packing::Plain => bound.write(write, &mut again, out),
            Packing::Gzip => {
                // The bound is around what is packed: what readers unpack is what may be too large.
                // As Go itself packs its profiles. The usual level makes them smaller by a third, and
                // takes longer than everything else.
                let mut packed = GzEncoder::new(out, Compression::fast());
                bound.write(write, &mut again, &mut packed)?;
                packed.finish()?;
                Ok(())
            }
        }
    }

    /// Whether runs of such a fidelity can be written.
    #[must_use]
    pub fn holds(&self, fidelity: &str) -> bool {
        match self.needs {
            Needs::Totals => true,
            Needs::Edges => fidelity != "flat",
            Needs::Tree => fidelity == "tree",
        }
    }

    /// Refuses a run that does not know enough.
    fn refuse(&self, run: &RunInfo) -> Result<(), ReportError> {
        if self.holds(&run.fidelity) {
            return Ok(());
        }
        let known = if run.fidelity == "flat" {
            "totals only"
        } else {
            "callers and callees, but no call paths"
        };
        let wanted = if self.needs == Needs::Edges {
            "callers and callees"
        } else {
            "call paths"
        };
        Err(ReportError::NothingSelected(format!(
            "{} needs {wanted}, but {} has {known}; `profdb report data --format csv` writes these costs",
            self.name,
            run.said()
        )))
    }

    /// The layout of this name; without a name, it is left to the format.
    fn layout(&self, name: Option<&str>) -> Result<Option<Layout>, ReportError> {
        let Some(name) = name else { return Ok(None) };
        let found = self
            .layouts
            .iter()
            .find(|layout| layout.name == name)
            .copied();
        found.map(Some).ok_or_else(|| {
            let names: Vec<_> = self.layouts.iter().map(|layout| layout.name).collect();
            let known = if names.is_empty() {
                "only one layout".to_owned()
            } else {
                format!("the layouts {}", names.join(", "))
            };
            ReportError::Usage(format!("{} has {known}, not {name}", self.name))
        })
    }
}
