//! What a written format is: the vocabulary that every writer shares.
//!
//! A writer sees a `Profile` and somewhere to write to: no SQL, no files, no screen. Nodes come to
//! it one by one, so that memory grows with functions and depth, not with the run. What its format
//! cannot hold it counts in [`Losses`].

mod bound;
pub(in crate::formats) mod error;
pub(in crate::formats) mod losses;
pub(in crate::formats) mod profile;
mod request;

use std::io::{BufWriter, Write};

use flate2::Compression;
use flate2::write::GzEncoder;

pub use bound::{LARGE_OUTPUT, MOST_BYTES};
pub use error::ExportError;
pub use losses::{Loss, Losses};
pub(in crate::formats) use request::Metrics;
pub use request::{Layout, Output, Request};

use self::bound::Bound;
use self::profile::Profile;
use super::options::OptionDef;
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
    /// By gzip. What a file may have is counted before.
    Gzip,
}

/// Bytes that go to an output at once.
const PIECE: usize = 64 * 1024;

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
        if let Some(name) = request.options.foreign(self.options) {
            return Err(ReportError::Usage(format!(
                "--{name} is no option of the format {}",
                self.name
            ))
            .into());
        }
        self.refuse(run)?;
        let profile = Profile::open(database, run, request, self.metrics)?;
        let profile = Profile { layout, ..profile };
        let none = || Losses::new(self.name, self.losses);
        let mut losses = none();
        let bound = Bound {
            most: request.max_size.unwrap_or(MOST_BYTES),
            output: request.output,
            is_stopped: &|| database.is_stopped(),
            tell: request.tell.unwrap_or(|_| ()),
        };
        // A pass that only counts bytes loses the same things, which would be counted twice.
        let mut again =
            |out: &mut dyn Write| in_pieces(out, |out| (self.write)(&profile, &mut none(), out));
        let write =
            |out: &mut dyn Write| in_pieces(out, |out| (self.write)(&profile, &mut losses, out));
        match self.packing {
            Packing::Plain => bound.write(write, &mut again, out)?,
            Packing::Gzip => {
                // The bound is around what is packed: what readers unpack is what may be too large.
                // As Go itself packs its profiles. The usual level makes them smaller by a third, and
                // takes longer than everything else.
                let mut packed = GzEncoder::new(out, Compression::fast());
                bound.write(write, &mut again, &mut packed)?;
                packed.finish()?;
            }
        }
        // The writer has chosen by now which metrics it writes (`Losses::written`).
        profile.lose_recorded(&mut losses)?;
        Ok(losses)
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
            "who called whom, but no paths"
        };
        let wanted = if self.needs == Needs::Edges {
            "who called whom"
        } else {
            "paths"
        };
        Err(ReportError::NothingSelected(format!(
            "{} holds {wanted}, and run {} knows {known}: `profdb report data --format csv` writes what there is",
            self.name, run.run_id
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
                "one layout only".to_owned()
            } else {
                format!("the layouts {}", names.join(", "))
            };
            ReportError::Usage(format!("{} has {known}, not {name}", self.name))
        })
    }
}
