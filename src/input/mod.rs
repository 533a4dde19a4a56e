//! Bytes from anywhere, with their position: decompression, limits and the wish to stop. Knows no
//! format.
//!
//! ```text
//! file | Pipe (keeps) -> Passed (counts, hashes) -> as it is                      -> Input (position, limits, stop)
//!                                                -> gzip | zstd, Bounded (ratio) ->
//!                                                -> either of them, Utf16Decoder ->
//! ```

use std::cell::{Cell, RefCell};
use std::io::{self, BufRead, Read, Seek};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use crate::base::error::{ImportError, Position, Stop};
use rewind::{Pipe, Rewind};
use sha256::Hasher;
use shared_buffer::Buffer;
use utf16::{ByteOrder, Utf16Decoder};

/// How much of the beginning formats may look at to recognise a file, in bytes.
pub const HEAD: usize = 16 * 1024;

/// Bytes read at a time: large enough that a read costs nothing against parsing, small enough to
/// stay in the cache.
const BUFFER: usize = 256 * 1024;

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
const BYTE_ORDER_MARK: &[u8] = &[0xef, 0xbb, 0xbf];

/// What an input may ask of us. Each limit is named in the message that reports it.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of one record (a line, a tag with its attributes, a text): the memory that one of them
    /// may take.
    pub record: u64,
    /// Decompressed bytes per compressed byte, looked at above [`Limits::ratio_floor`]. Deflate
    /// cannot do more than 1,032; profiles seldom pass 60.
    pub ratio: u64,
    /// Decompressed bytes below which the ratio does not matter.
    pub ratio_floor: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            record: 16 << 20,
            ratio: 500,
            ratio_floor: 64 << 20,
        }
    }
}

/// What is known of the bytes that have passed: their number and their SHA-256.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// Bytes as they are stored, before decompression.
    pub bytes: u64,
    /// SHA-256 of these bytes.
    pub sha256: [u8; 32],
}

/// Counts and hashes what a source delivers.
struct Tap<'a> {
    source: Rc<RefCell<dyn Rewind + 'a>>,
    passed: Rc<Passed>,
}

struct Passed {
    bytes: Cell<u64>,
    hasher: Hasher,
}

impl Passed {
    fn start() -> Rc<Self> {
        Rc::new(Self {
            bytes: Cell::new(0),
            hasher: Hasher::default(),
        })
    }

    /// Counts and hashes bytes of a buffer that never changes again while it is shared.
    // The buffer itself, not a copy of it: the thread that hashes reads from there
    // (docs/design/measured-choices.md).
    fn share(&self, buffer: Arc<[u8]>, new: Range<usize>) {
        self.bytes.set(self.bytes.get() + new.len() as u64);
        self.hasher.update_shared(buffer, new);
    }

    /// What has passed. All readers must be gone.
    fn fingerprint(passed: Rc<Self>) -> Fingerprint {
        let passed = Rc::into_inner(passed).expect("all readers are gone");
        Fingerprint {
            bytes: passed.bytes.get(),
            sha256: passed.hasher.finish(),
        }
    }
}

impl Read for Tap<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.borrow_mut().read(buffer)?;
        self.passed.bytes.set(self.passed.bytes.get() + read as u64);
        self.passed
            .hasher
            .update(buffer.get(..read).unwrap_or_default());
        Ok(read)
    }
}

/// Refuses to decompress what grows beyond reason.
struct Bounded<'a> {
    reader: Box<dyn Read + 'a>,
    compression: &'static str,
    passed: Rc<Passed>,
    delivered: u64,
    limits: Limits,
}

impl<'a> Bounded<'a> {
    /// Decompresses as the magic number at the start asks for; `None` if it asks for nothing.
    fn new(magic: &[u8], tap: Tap<'a>, limits: Limits) -> io::Result<Option<Self>> {
        let passed = Rc::clone(&tap.passed);
        // The decoder reads the magic number, too, which has left the source already.
        let whole = io::Cursor::new(magic.to_vec()).chain(tap);
        // RFC 1952, 2.2: a gzip file is a series of members, so that files may be put one after the
        // other. `GzDecoder` ends after the first.
        let (compression, reader): (_, Box<dyn Read + 'a>) = if magic.starts_with(GZIP) {
            ("gzip", Box::new(flate2::read::MultiGzDecoder::new(whole)))
        } else if magic == ZSTD {
            ("zstd", Box::new(zstd::stream::read::Decoder::new(whole)?))
        } else {
            return Ok(None);
        };
        Ok(Some(Self {
            reader,
            compression,
            passed,
            delivered: 0,
            limits,
        }))
    }
}

impl Read for Bounded<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer).map_err(|error| {
            io::Error::new(
                error.kind(),
                format!(
                    "the {} data are damaged or truncated ({error})",
                    self.compression
                ),
            )
        })?;
        self.delivered += read as u64;
        // More than has been decompressed, as the decoder reads ahead: above the floor that is too
        // little to matter.
        let compressed = self.passed.bytes.get();
        if self.delivered > self.limits.ratio_floor
            && self.delivered / compressed.max(1) > self.limits.ratio
        {
            return Err(io::Error::other(format!(
                "the data decompress to more than {} times their size (limit: decompression ratio); decompress the \
                 file with another tool to import it",
                self.limits.ratio
            )));
        }
        Ok(read)
    }
}

/// An earlier end of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EarlyEnd {
    /// Number of decoded bytes before the end.
    pub byte: u64,
    /// Bytes that follow them, such as closing brackets.
    pub tail: Vec<u8>,
}

/// A source of bytes that knows its position.
///
/// It is a [`BufRead`], so that libraries for XML and CSV can read from it. An importer that reads
/// through such a library calls [`Input::begin_record`] between records and turns the library's
/// errors into ours with [`Input::failure`].
pub struct Input<'a> {
    source: Rc<RefCell<dyn Rewind + 'a>>,
    /// `None` if the source is neither compressed nor UTF-16.
    decoder: Option<Box<dyn Read + 'a>>,
    passed: Rc<Passed>,
    /// What had passed before a restart, if that was the whole source.
    before: Option<Fingerprint>,
    buffer: Buffer,
    start: usize,
    end: usize,
    ended: bool,
    /// The [position](Input::position), in words of their own: what has been written in two pieces
    /// is slow to read as one, and every record wants to know it.
    byte: u64,
    line: u64,
    has_lines: bool,
    record: u64,
    /// Where the current record starts.
    record_start: Position,
    /// Where the last line begins, if the input has ended before that line.
    unfinished_line: Option<Position>,
    limits: Limits,
    stop: Stop,
    failure: Option<ImportError>,
    hides: bool,
    /// The end of the input, if it is not that of the source.
    early_end: Option<EarlyEnd>,
    /// Damage to compressed data that comes after the bytes in the buffer.
    damage: Option<io::Error>,
}

/// A reader of damaged data after their sound part.
struct Damaged(Option<io::Error>);

impl Read for Damaged {
    fn read(&mut self, _buffer: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

impl<'a> Input<'a> {
    /// Starts to read what cannot be read twice, such as a pipe: peels gzip or zstd (by their magic
    /// numbers, whatever the name of the file), converts UTF-16 that has a byte order mark to UTF-8,
    /// leaves out the mark, and makes the [`head`](Self::head) available.
    ///
    /// # Errors
    /// When the first bytes cannot be read.
    pub fn new(
        reader: Box<dyn Read + 'a>,
        limits: Limits,
        stop: Stop,
    ) -> Result<Self, ImportError> {
        Self::of(Rc::new(RefCell::new(Pipe::new(reader))), limits, stop)
    }

    /// Starts to read what can seek, such as a file, as [`new`](Self::new) does.
    ///
    /// # Errors
    /// When the first bytes cannot be read.
    pub fn seekable(
        reader: impl Read + Seek + 'a,
        limits: Limits,
        stop: Stop,
    ) -> Result<Self, ImportError> {
        Self::of(Rc::new(RefCell::new(reader)), limits, stop)
    }

    fn of(
        source: Rc<RefCell<dyn Rewind + 'a>>,
        limits: Limits,
        stop: Stop,
    ) -> Result<Self, ImportError> {
        let start = Position {
            byte: 0,
            line: Some(1),
        };
        let mut input = Self {
            source,
            decoder: None,
            passed: Passed::start(),
            before: None,
            buffer: Buffer::new(BUFFER),
            start: 0,
            end: 0,
            ended: false,
            byte: 0,
            line: 1,
            has_lines: true,
            record: 0,
            record_start: start,
            limits,
            stop,
            failure: None,
            hides: false,
            unfinished_line: None,
            early_end: None,
            damage: None,
        };
        input.begin()?;
        Ok(input)
    }

    /// Starts at the first byte of a source that is there, too.
    fn begin(&mut self) -> Result<(), ImportError> {
        (self.start, self.end, self.ended) = (0, 0, false);
        (self.byte, self.line, self.record) = (0, 1, 0);
        self.damage = None;
        let position = self.position();
        self.record_start = position;
        self.unfinished_line = None;
        let mut tap = Tap {
            source: Rc::clone(&self.source),
            passed: Rc::clone(&self.passed),
        };
        let peeled =
            magic(&mut tap).and_then(|magic| Ok((Bounded::new(&magic, tap, self.limits)?, magic)));
        let (decoder, magic) = peeled.map_err(|source| ImportError::Read { position, source })?;
        self.decoder = decoder.map(|decoder| Box::new(decoder) as Box<dyn Read + 'a>);
        if self.decoder.is_none() {
            // They have passed already, and belong to the content.
            let front = self.buffer.turn(0..0).get_mut(..magic.len());
            front.unwrap_or_default().copy_from_slice(&magic);
            self.end = magic.len();
        }
        // The head comes first, in whatever pieces the source delivers it: what a format says of it
        // must not depend on them (law `small_reads_change_nothing`).
        self.fill_head()?;
        if let Some(order) = ByteOrder::of_mark(self.available()) {
            let encoded = self.take_reader();
            self.decoder = Some(Box::new(Utf16Decoder::new(encoded, order)));
            self.fill_head()?;
        }
        if let Some(EarlyEnd { byte, tail }) = self.early_end.clone() {
            let whole = self.take_reader();
            self.decoder = Some(Box::new(whole.take(byte).chain(io::Cursor::new(tail))));
            self.fill_head()?;
        }
        if self.available().starts_with(BYTE_ORDER_MARK) {
            self.consume(BYTE_ORDER_MARK.len());
        }
        Ok(())
    }

    /// Makes the head available. Damage to compressed data is reported where the importer gets there.
    fn fill_head(&mut self) -> Result<(), ImportError> {
        match self.fill(HEAD) {
            Err(ImportError::Read { source, .. })
                if self.decoder.is_some() && !self.available().is_empty() =>
            {
                self.damage = Some(source);
                Ok(())
            }
            filled => filled.map(|_| ()),
        }
    }

    /// Takes the reader of everything that has not been consumed, for another reader on top of it.
    fn take_reader(&mut self) -> Box<dyn Read + 'a> {
        // The bytes in the buffer have been hashed and come first.
        let front = io::Cursor::new(self.available().to_vec());
        let rest = self.decoder.take().unwrap_or_else(|| {
            Box::new(Tap {
                source: Rc::clone(&self.source),
                passed: Rc::clone(&self.passed),
            })
        });
        (self.start, self.end, self.ended) = (0, 0, false);
        match self.damage.take() {
            Some(damage) => Box::new(front.chain(Damaged(Some(damage)))),
            None => Box::new(front.chain(rest)),
        }
    }

    /// Goes back to the first byte as [`restart`](Self::restart) does, and ends at another byte than
    /// the source from now on; `None` is the end of the source.
    ///
    /// # Errors
    /// When the first bytes cannot be read once more.
    pub fn restart_until(&mut self, end: Option<EarlyEnd>) -> Result<(), ImportError> {
        self.early_end = end;
        self.ended = false;
        self.restart()
    }

    /// Returns true if the input ends before its source does.
    #[must_use]
    pub fn ends_early(&self) -> bool {
        self.early_end.is_some()
    }

    /// Consumes all that is left. Damaged compression ends the input here.
    ///
    /// # Errors
    /// When the import was asked to stop.
    pub fn drain(&mut self) -> Result<(), ImportError> {
        loop {
            self.consume(self.available().len());
            self.begin_record();
            match self.fill(1) {
                Err(error @ ImportError::Stopped) => return Err(error),
                Ok(0) | Err(_) => return Ok(()),
                Ok(_) => {}
            }
        }
    }

    /// Says that the thread that reads is to hash what it reads, too: where many inputs are read at
    /// a time, every core is busy without a thread for each hash.
    pub fn hash_here(&mut self) {
        self.passed.hasher.stay();
    }

    /// Says that there may be a [`restart`](Self::restart): to be called before anything is read.
    /// What a source that cannot seek delivers is kept from here on, in memory while it is small, then
    /// in a temporary file.
    pub fn keep(&mut self) {
        self.source.borrow_mut().keep();
    }

    /// Goes back to the first byte, as if nothing had been read. Only after [`keep`](Self::keep).
    ///
    /// # Errors
    /// When the first bytes cannot be read once more.
    pub fn restart(&mut self) -> Result<(), ImportError> {
        let position = self.position();
        let restarted = self.source.borrow_mut().restart();
        restarted.map_err(|source| ImportError::Read { position, source })?;
        // The decoder has the only other handle of `passed`.
        self.decoder = None;
        let passed = std::mem::replace(&mut self.passed, Passed::start());
        // Only whole sources can be compared: `finish` reads to the end the second time.
        let is_whole = self.ended && !self.ends_early();
        self.before = is_whole.then(|| Passed::fingerprint(passed));
        self.begin()
    }

    /// The first bytes that have not been consumed: [`HEAD`] of them if the input is that long.
    #[must_use]
    pub fn head(&self) -> &[u8] {
        let rest = self.available();
        rest.get(..HEAD).unwrap_or(rest)
    }

    /// Where the next byte comes from.
    #[must_use]
    pub fn position(&self) -> Position {
        Position {
            byte: self.byte,
            line: self.has_lines.then_some(self.line),
        }
    }

    /// Says that a record starts here, for [`Limits::record`] and [`record_start`](Self::record_start).
    pub fn begin_record(&mut self) {
        self.begin_record_at(self.position());
    }

    /// Says that a record started at another place, for a library that has read ahead.
    pub fn begin_record_at(&mut self, position: Position) {
        self.record = self.byte;
        self.record_start = position;
    }

    /// Where the current record starts: for [`Sink::at`](crate::events::Sink::at).
    #[must_use]
    pub fn record_start(&self) -> Position {
        self.record_start
    }

    /// Says that the input has no lines: positions are bytes only.
    pub fn has_no_lines(&mut self) {
        self.has_lines = false;
        // It was set at the first byte, when lines were still counted.
        self.record_start = self.position();
    }

    /// Reads a line without its end (LF or CRLF) as the next record. Says where it started, `None`
    /// at the end of the input.
    ///
    /// # Errors
    /// When the input cannot be read, or the line is longer than a record may be.
    pub fn read_line(&mut self, line: &mut Vec<u8>) -> Result<Option<Position>, ImportError> {
        line.clear();
        self.begin_record();
        let start = self.position();
        if self.read_until(b'\n', line).is_err() {
            return Err(self.failure.take().unwrap_or(ImportError::Stopped));
        }
        // An empty line has its end here, so that nothing at all means the end of the input.
        if line.is_empty() {
            return Ok(None);
        }
        if line.ends_with(b"\n") {
            line.pop();
            if line.ends_with(b"\r") {
                line.pop();
            }
        } else {
            self.unfinished_line = Some(start);
        }
        Ok(Some(start))
    }

    /// Where the last line begins, if the input ended before that line did: some of it may be missing. Known after it
    /// has been read.
    #[must_use]
    pub fn unfinished_line(&self) -> Option<Position> {
        self.unfinished_line
    }

    /// Reads a line as [`read_line`](Self::read_line) does, without a copy where all of it is in the
    /// buffer; else it is in `line`. The CR of a CRLF is left out also where the input was cut
    /// between the two.
    ///
    /// # Errors
    /// When the input cannot be read, or the line is longer than a record may be.
    pub fn next_line<'l>(
        &'l mut self,
        line: &'l mut Vec<u8>,
    ) -> Result<Option<(Position, &'l [u8])>, ImportError> {
        let Some(length) = memchr::memchr(b'\n', self.at_hand()) else {
            let Some(start) = self.read_line(line)? else {
                return Ok(None);
            };
            // `read_line` has taken off no end where it has consumed as much as there is.
            if self.byte - start.byte == line.len() as u64 && line.ends_with(b"\r") {
                line.pop();
            }
            return Ok(Some((start, line)));
        };
        self.begin_record();
        let (start, first) = (self.position(), self.start);
        self.consume_counted(length + 1, 1);
        let line = self.buffer.get(first..first + length).unwrap_or_default();
        Ok(Some((start, line.strip_suffix(b"\r").unwrap_or(line))))
    }

    /// Bytes that are in the buffer, perhaps none: for an importer that takes whole records from here,
    /// and reads another way where there is none.
    #[must_use]
    pub fn at_hand(&self) -> &[u8] {
        if self.hides { &[] } else { self.available() }
    }

    /// Leaves nothing [at hand](Self::at_hand) from now on, so that every record is read the other
    /// way: for tests that compare the two.
    pub fn hide_what_is_at_hand(&mut self) {
        self.hides = true;
    }

    /// Consumes bytes of which the caller knows how many line ends they hold.
    pub fn consume_counted(&mut self, count: usize, lines: u64) {
        // Whatever a caller says, `start` never passes `end`: subtractions here rely on it.
        let count = count.min(self.end - self.start);
        self.byte += count as u64;
        self.line += lines;
        self.start += count;
    }

    /// Reads the next `count` bytes into `bytes`, fewer at the end of the input. Memory grows with
    /// what is there, not with what is asked for.
    ///
    /// # Errors
    /// When the input cannot be read, or the record grows longer than it may be.
    pub fn read_bytes(&mut self, count: u64, bytes: &mut Vec<u8>) -> Result<(), ImportError> {
        bytes.clear();
        // `read_to_end` grows with what comes: room for `count` bytes, a number of the file, is
        // never asked for.
        if self.by_ref().take(count).read_to_end(bytes).is_err() {
            return Err(self.failure.take().unwrap_or(ImportError::Stopped));
        }
        Ok(())
    }

    /// Reads the next `count` bytes as [`read_bytes`](Self::read_bytes) does, without a copy where
    /// all of them are in the buffer; else they are in `bytes`.
    ///
    /// # Errors
    /// When the input cannot be read, or the record grows longer than it may be.
    pub fn next_bytes<'b>(
        &'b mut self,
        count: u64,
        bytes: &'b mut Vec<u8>,
    ) -> Result<&'b [u8], ImportError> {
        let first = self.start;
        match usize::try_from(count) {
            Ok(count) if count <= self.at_hand().len() => {
                self.consume(count);
                Ok(self.buffer.get(first..first + count).unwrap_or_default())
            }
            _ => {
                self.read_bytes(count, bytes)?;
                Ok(bytes)
            }
        }
    }

    /// The failure of this input, if it is what a library on top of it has just reported.
    pub fn failure(&mut self) -> Option<ImportError> {
        self.failure.take()
    }

    /// Reads what is left and tells what has passed in all, since the last restart.
    ///
    /// # Errors
    /// When the rest cannot be read, or is not what it was before the restart.
    pub fn finish(mut self) -> Result<Fingerprint, ImportError> {
        loop {
            self.consume(self.available().len());
            self.begin_record();
            if self.fill(1)? == 0 {
                break;
            }
        }
        self.decoder = None;
        let position = self.position();
        if self.ends_early() {
            let mut rest = Tap {
                source: Rc::clone(&self.source),
                passed: Rc::clone(&self.passed),
            };
            io::copy(&mut rest, &mut io::sink())
                .map_err(|source| ImportError::Read { position, source })?;
        }
        let fingerprint = Passed::fingerprint(self.passed);
        if self.before.is_some_and(|before| before != fingerprint) {
            let source = io::Error::other("the file changed while it was read");
            return Err(ImportError::Read { position, source });
        }
        Ok(fingerprint)
    }

    fn available(&self) -> &[u8] {
        self.buffer.get(self.start..self.end).unwrap_or_default()
    }

    /// Makes at least `wanted` bytes available (not more than the buffer holds), fewer at the end;
    /// says how many there are.
    fn fill(&mut self, wanted: usize) -> Result<usize, ImportError> {
        while self.end - self.start < wanted && !self.ended {
            if self.stop.is_set() {
                return Err(ImportError::Stopped);
            }
            if let Some(source) = self.damage.take() {
                return Err(ImportError::Read {
                    position: self.position(),
                    source,
                });
            }
            if self.byte.saturating_sub(self.record) > self.limits.record {
                let limit = format!(
                    "{} bytes in one record (limit: record size)",
                    self.limits.record
                );
                return Err(ImportError::Limit {
                    position: self.position(),
                    limit,
                });
            }
            // Moves bytes for the head only: all others want one byte, and come when none is left.
            // The room is never empty, which would be taken for the end.
            let room = self.buffer.turn(self.start..self.end);
            (self.start, self.end) = (0, self.end - self.start);
            let room = room.get_mut(self.end..).unwrap_or_default();
            let read = match &mut self.decoder {
                // What is decompressed is not what is hashed: the tap below the decoder has seen
                // the stored bytes.
                Some(decoder) => decoder.read(room),
                None => self.source.borrow_mut().read(room).inspect(|read| {
                    self.passed
                        .share(self.buffer.share(), self.end..self.end + read);
                }),
            };
            match read {
                Ok(0) => self.ended = true,
                Ok(read) => self.end += read,
                // A signal came while the system waited: the next turn looks at `stop`, which it
                // may have set.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => {
                    return Err(ImportError::Read {
                        position: self.position(),
                        source,
                    });
                }
            }
        }
        Ok(self.end - self.start)
    }
}

impl Read for Input<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let count = available.len().min(out.len());
        if let (Some(to), Some(from)) = (out.get_mut(..count), available.get(..count)) {
            to.copy_from_slice(from);
        }
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Input<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if let Err(error) = self.fill(1) {
            let text = error.to_string();
            // The library on top passes on an `io::Error`, from which ours could not be had back:
            // `failure` gives it.
            self.failure = Some(error);
            return Err(io::Error::other(text));
        }
        Ok(self.available())
    }

    fn consume(&mut self, count: usize) {
        let gone = self.available().get(..count).unwrap_or_default();
        let lines = if self.has_lines {
            memchr::memchr_iter(b'\n', gone).count()
        } else {
            0
        };
        self.consume_counted(count, lines as u64);
    }
}

/// The first bytes: as many as say how the others are compressed.
fn magic(tap: &mut Tap<'_>) -> io::Result<Vec<u8>> {
    // `read_to_end`, not `read`: a pipe may deliver its first bytes one by one.
    let mut magic = Vec::with_capacity(ZSTD.len());
    tap.take(ZSTD.len() as u64).read_to_end(&mut magic)?;
    Ok(magic)
}

mod rewind;
mod sha256;
mod shared_buffer;
mod utf16;
