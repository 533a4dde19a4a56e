//! What an importer makes of bytes, as far as the builder takes it.

use profdb::error::{ImportError, Stop};
use profdb::importers::{Format, Options};
use profdb::input::{Input, Limits};
use profdb::tree::{Batch, Output, Totals, TreeBuilder};

/// Takes rows and forgets them.
struct Nowhere;

impl Output for Nowhere {
    fn batch(&mut self, batch: &mut Batch) {
        batch.clear();
    }
}

/// The totals, or why there are none.
pub(crate) fn built(format: &Format, bytes: &[u8]) -> Result<Totals, ImportError> {
    let stop = Stop::default();
    let mut input = Input::new(Box::new(bytes), Limits::default(), stop.clone())?;
    let mut builder = TreeBuilder::new(Nowhere, stop);
    let read = format.read(&mut input, &Options::default(), &mut builder);
    if !builder.has_refused() {
        read?;
    }
    Ok(builder.finish()?.0)
}
