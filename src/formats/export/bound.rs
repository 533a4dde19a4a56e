//! How large a file may become.
//!
//! Some formats need far more room for a run than its database: a folded stack names all callers of
//! a place, a trace has a record for each sample. What is too large is refused before anyone sees
//! any of it, and what is large gets a message.
//!
//! A draft, which its owner throws away where writing fails, is written at once, and its bytes are
//! counted on the way. Bytes of a stream cannot be taken back: the first ones are held back, and if
//! there are more, everything is written once into a counter.

use std::io::{self, Write};

use super::error::ExportError;
use super::request::Output;

/// Bytes that a file has at most unless more are asked for (limit: size of the output).
pub const MOST_BYTES: u64 = 4 << 30;

/// A file that becomes larger gets a message.
pub const LARGE_OUTPUT: u64 = 1 << 30;

/// Bytes that are held back: the files of nearly all runs are smaller, and written once.
const HELD_BACK: usize = 8 << 20;

/// Writes everything to the output it is given.
type WriteAll<'w> = dyn FnMut(&mut dyn Write) -> Result<(), ExportError> + 'w;

/// How large a file may become, and what is said of it.
pub(super) struct Bound<'s> {
    pub(super) most: u64,
    /// What becomes of bytes that turn out to be too many.
    pub(super) output: Output,
    /// Whether to give up. What is only counted goes to no output that would say so.
    pub(super) is_stopped: &'s dyn Fn() -> bool,
    /// Is told how many bytes there will be, if they are many.
    pub(super) tell: fn(u64),
}

impl Bound<'_> {
    /// Writes to an output what a function writes, unless it is too much.
    pub(super) fn write(
        &self,
        write: impl FnOnce(&mut dyn Write) -> Result<(), ExportError>,
        again: &mut WriteAll<'_>,
        out: &mut dyn Write,
    ) -> Result<(), ExportError> {
        if self.output == Output::Draft {
            return self.write_draft(write, out);
        }
        let mut bounded = Bounded {
            bound: self,
            held: Some(Vec::new()),
            again,
            out,
            refused: None,
        };
        let written = write(&mut bounded);
        let Bounded {
            held, refused, out, ..
        } = bounded;
        if let Some(refused) = refused {
            return Err(refused);
        }
        written?;
        let held = held.unwrap_or_default();
        // `--max-size` may be less than what is held back.
        self.check(held.len() as u64)?;
        Ok(out.write_all(&held)?)
    }

    /// Writes to a draft what a function writes, up to where it is too much.
    fn write_draft(
        &self,
        write: impl FnOnce(&mut dyn Write) -> Result<(), ExportError>,
        out: &mut dyn Write,
    ) -> Result<(), ExportError> {
        let mut counted = Counted {
            bytes: 0,
            most: self.most,
            out,
            is_stopped: &|| false,
        };
        let written = write(&mut counted);
        let bytes = counted.bytes;
        // The counter has refused, which is the reason whatever the writer makes of it.
        self.check(bytes)?;
        written?;
        if bytes > LARGE_OUTPUT {
            (self.tell)(bytes);
        }
        Ok(())
    }

    fn check(&self, bytes: u64) -> Result<(), ExportError> {
        if bytes <= self.most {
            return Ok(());
        }
        let most = self.most;
        let expected =
            format!("expected at most {most} bytes (limit: size of the output), found more");
        Err(ExportError::TooLarge(format!(
            "{expected}: --max-size allows more"
        )))
    }

    /// How many bytes there are, up to one more than there may be.
    fn size(&self, again: &mut WriteAll<'_>) -> Result<u64, ExportError> {
        let mut counted = Counted {
            bytes: 0,
            most: self.most,
            out: &mut io::sink(),
            is_stopped: self.is_stopped,
        };
        match again(&mut counted) {
            // The counter itself has refused: what it has counted is enough to say that it is too
            // much.
            Err(ExportError::Output(_)) if counted.bytes > self.most => Ok(counted.bytes),
            written => written.map(|()| counted.bytes),
        }
    }
}

/// An output that begins when it is known how large it will be.
struct Bounded<'b, 'w> {
    bound: &'b Bound<'b>,
    /// What has been written so far; `None` once the output has it.
    held: Option<Vec<u8>>,
    again: &'b mut WriteAll<'w>,
    out: &'b mut dyn Write,
    refused: Option<ExportError>,
}

impl Write for Bounded<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(held) = &mut self.held else {
            return self.out.write(bytes);
        };
        if held.len() + bytes.len() <= HELD_BACK {
            held.extend_from_slice(bytes);
            return Ok(bytes.len());
        }
        let size = self
            .bound
            .size(self.again)
            .and_then(|size| self.bound.check(size).map(|()| size));
        match size {
            Ok(size) if size > LARGE_OUTPUT => (self.bound.tell)(size),
            Ok(_) => {}
            Err(refused) => {
                // `Write` fails with an `io::Error` only, so that the reason waits here for
                // `Bound::write`.
                self.refused = Some(refused);
                return Err(io::ErrorKind::FileTooLarge.into());
            }
        }
        self.out.write_all(held)?;
        self.held = None;
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Counts bytes on their way to an output, and lets no more pass than there may be.
struct Counted<'w> {
    bytes: u64,
    most: u64,
    out: &'w mut dyn Write,
    is_stopped: &'w dyn Fn() -> bool,
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if (self.is_stopped)() {
            // Writers repeat what fails with `ErrorKind::Interrupted`.
            return Err(io::Error::other("interrupted"));
        }
        self.bytes += bytes.len() as u64;
        if self.bytes > self.most {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.out.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        // Whoever gave the output flushes it: what packs would begin a new block.
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A writer whose file has no end is asked to stop where its bytes are only counted, too.
    #[test]
    fn counting_can_be_interrupted() {
        let bound = Bound {
            most: u64::MAX,
            output: Output::Stream,
            is_stopped: &|| true,
            tell: |_| (),
        };
        let endless = |out: &mut dyn Write| -> Result<(), ExportError> {
            loop {
                out.write_all(&[b' '; 4096])?;
            }
        };
        let mut out = Vec::new();
        let written = bound.write(endless, &mut { endless }, &mut out);
        assert!(matches!(written, Err(ExportError::Output(_))));
        assert!(out.is_empty());
    }
}
