//! What an importer makes of bytes, as far as the builder takes it.

use profdb::base::error::{ImportError, Stop};
use profdb::formats::{Format, Options};
use profdb::input::{Fingerprint, Input, Limits};
use profdb::profile::{Batch, Output, RunSummary, TreeBuilder};

/// Takes rows and forgets them.
struct Nowhere;

impl Output for Nowhere {
    fn batch(&mut self, batch: &mut Batch) {
        batch.clear();
    }
}

/// The totals, or why there are none.
pub(crate) fn built(format: &Format, bytes: &[u8]) -> Result<RunSummary, ImportError> {
    Ok(built_into(format, bytes, Nowhere)?.0)
}

/// The same, with what takes the rows, and with the fingerprint of the bytes.
pub(crate) fn built_into<O: Output>(
    format: &Format,
    bytes: &[u8],
    output: O,
) -> Result<(RunSummary, O, Fingerprint), ImportError> {
    let stop = Stop::default();
    let mut input = Input::new(Box::new(bytes), Limits::default(), stop.clone())?;
    let mut builder = TreeBuilder::new(output, stop);
    let read = format.read(&mut input, &Options::default(), &mut builder);
    if !builder.has_refused() {
        read?;
    }
    let (totals, output) = builder.finish()?;
    Ok((totals, output, input.finish()?))
}
