//! The lines that `perf script` prints, taken apart. Which fields they have, `-F` decides; perf
//! prints them in one order.

/// What the lines of other records than samples are called.
pub(super) const RECORD: &[u8] = b"PERF_RECORD_";

/// The columns of a period. The number of a thread has at most seven digits, and a blank before it.
const PERIOD_COLUMNS: usize = 10;

/// The line in front of a stack.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Header<'l> {
    pub(super) comm: &'l [u8],
    pub(super) process: Option<&'l [u8]>,
    pub(super) thread: Option<&'l [u8]>,
    pub(super) has_time: bool,
    pub(super) period: Option<f64>,
    pub(super) event: Option<&'l [u8]>,
    /// What comes after the event.
    pub(super) rest: &'l [u8],
}

/// Reads a line in front of a stack: `COMM PID/TID [CPU] MISC TIME: PERIOD EVENT: REST`, each part
/// of which may be missing, but not all but the command. The event alone may be text of another
/// sort: nothing or an address comes after it.
pub(super) fn header(line: &[u8]) -> Option<Header<'_>> {
    let mut header = Header::default();
    // Commands and all that comes after the event may hold anything. A time is between the two,
    // if there is one.
    let time = tokens(line).find(|(_, token)| is_time(token));
    let mut before = line;
    if let Some((start, time)) = time {
        header.has_time = true;
        before = line.get(..start)?;
        let behind = line.get(start + time.len()..)?;
        let mut words = tokens(behind).peekable();
        // A number beyond 64 bits is no period: it stays in the rest, and is reported there (case
        // `perf_script/period-above-64-bits`).
        if let Some((start, period)) = words.next_if(|(_, word)| number(word).is_some()) {
            header.period = number(period);
            header.rest = behind.get(start + period.len()..)?;
        } else {
            header.rest = behind;
        }
        if let Some((start, event)) = words.next_if(|(_, word)| is_event(word)) {
            header.event = event.get(..event.len() - 1);
            header.rest = behind.get(start + event.len()..)?;
        }
    // Only where there is no time: in front of one, a word that ends in a colon belongs to the
    // command.
    } else if let Some((start, event)) = tokens(line).find(|(_, token)| is_event(token)) {
        header.event = event.get(..event.len() - 1);
        (before, header.rest) = (line.get(..start)?, line.get(start + event.len()..)?);
    }
    // From here on from right to left: the command is first and may hold blanks and numbers, so
    // that nothing tells where it ends but what perf prints after it.
    before = before.trim_ascii_end();
    // A number is a period if it has more columns than a thread has, or is between a thread or
    // processor and an event.
    if !header.has_time
        && let (front, Some(period)) = split_word(before)
        && number(period).is_some()
        && (before.len() - front.len() >= PERIOD_COLUMNS
            || (header.event.is_some()
                && split_word(front)
                    .1
                    .is_some_and(|word| ids(word).is_some() || is_processor(word))))
    {
        header.period = number(period);
        before = front;
    }
    if let (front, Some(word)) = split_word(before)
        // A command may be called `K`: the letters are flags only where a thread or processor is in
        // front (case `perf_script/processor-and-flags`).
        && is_misc(word)
        && split_word(front)
            .1
            .is_some_and(|word| ids(word).is_some() || is_processor(word))
    {
        before = front;
    }
    if let (front, Some(word)) = split_word(before)
        && is_processor(word)
    {
        before = front;
    }
    if let (front, Some(word)) = split_word(before)
        && let Some((process, thread)) = ids(word)
    {
        (header.process, header.thread) = (process, Some(thread));
        before = front;
    }
    header.comm = before.trim_ascii();
    header.rest = header.rest.trim_ascii_start();
    // Without time and event only the number of a thread tells a header from text.
    let is_header = if header.event.is_some() && !header.has_time {
        // `Warning: ...` looks like an event, too. What comes after an event alone is an address in
        // its column, or nothing (case `perf_script/event-alone`).
        let is_alone = header.comm.is_empty() && header.thread.is_none() && header.period.is_none();
        !is_alone || header.rest.is_empty() || ends_in_column(line, line.len() - header.rest.len())
    } else {
        header.has_time || header.thread.is_some()
    };
    is_header.then_some(header)
}

/// The words of a line, each with its place.
fn tokens(line: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut end = 0;
    std::iter::from_fn(move || {
        let start = end
            + line
                .get(end..)?
                .iter()
                .position(|byte| !byte.is_ascii_whitespace())?;
        let rest = line.get(start..)?;
        let length = rest
            .iter()
            .position(u8::is_ascii_whitespace)
            .unwrap_or(rest.len());
        end = start + length;
        Some((start, rest.get(..length)?))
    })
}

/// The last word of a text, and the text before it without blanks at its end.
fn split_word(text: &[u8]) -> (&[u8], Option<&[u8]>) {
    let start = text
        .iter()
        .rposition(u8::is_ascii_whitespace)
        .map_or(0, |blank| blank + 1);
    match text.split_at_checked(start) {
        Some((front, word)) if !word.is_empty() => (front.trim_ascii_end(), Some(word)),
        _ => (text, None),
    }
}

/// `1825.857673:`
fn is_time(word: &[u8]) -> bool {
    let Some((seconds, fraction)) = word.strip_suffix(b":").and_then(|time| {
        let point = time.iter().position(|byte| *byte == b'.')?;
        Some((time.get(..point)?, time.get(point + 1..)?))
    }) else {
        return false;
    };
    [seconds, fraction]
        .iter()
        .all(|part| !part.is_empty() && part.iter().all(u8::is_ascii_digit))
}

/// `cycles:`, `sched:sched_switch:`, `cpu/mem-loads,ldlat=30/P:`; `PERF_RECORD_COMM:` is no event
/// of a sample.
fn is_event(word: &[u8]) -> bool {
    word.len() > 1
        && word.ends_with(b":")
        && word.first().is_some_and(u8::is_ascii_alphabetic)
        && !word.starts_with(RECORD)
}

/// `[003]`
fn is_processor(word: &[u8]) -> bool {
    let number = word
        .strip_prefix(b"[")
        .and_then(|word| word.strip_suffix(b"]"));
    number.is_some_and(|number| !number.is_empty() && number.iter().all(u8::is_ascii_digit))
}

/// What `-F misc` prints: user, kernel, hypervisor, guests, and so on.
fn is_misc(word: &[u8]) -> bool {
    word.len() <= 3 && word.iter().all(|byte| b"KUHGgMESD".contains(byte))
}

/// `6645/6648`, or one number, which is that of the thread.
fn ids(word: &[u8]) -> Option<(Option<&[u8]>, &[u8])> {
    // perf prints -1 where it does not know the thread.
    let is_id = |id: &[u8]| id == b"-1" || (!id.is_empty() && id.iter().all(u8::is_ascii_digit));
    match word.iter().position(|byte| *byte == b'/') {
        None => is_id(word).then_some((None, word)),
        Some(slash) => {
            let (process, thread) = (word.get(..slash)?, word.get(slash + 1..)?);
            (is_id(process) && is_id(thread)).then_some((Some(process), thread))
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "periods are extrapolated: the nearest REAL will do"
)]
fn number(word: &[u8]) -> Option<f64> {
    let digits = !word.is_empty() && word.iter().all(u8::is_ascii_digit);
    digits
        // As an integer first: a REAL would take any number of digits.
        .then(|| Some(std::str::from_utf8(word).ok()?.parse::<u64>().ok()? as f64))
        .flatten()
}

/// A line of a stack.
#[derive(Debug, PartialEq)]
pub(super) struct FrameText<'l> {
    pub(super) address: &'l [u8],
    /// Without its offset; empty if not printed.
    pub(super) symbol: &'l [u8],
    /// How far the address is from the start of the symbol, in hexadecimal; empty if not printed.
    offset: &'l [u8],
    /// `None` if not printed: inlined frames have none.
    pub(super) binary: Option<&'l [u8]>,
    /// True if the frame is marked `(inlined)`.
    pub(super) is_inlined: bool,
}

impl FrameText<'_> {
    /// The address as a number: it has at most 16 digits.
    pub(super) fn address(&self) -> u64 {
        hexadecimal(self.address).unwrap_or_default()
    }

    /// The start of the symbol, if the offset is printed. That of an inlined frame is the start of the
    /// function that it was inlined in.
    pub(super) fn start(&self) -> Option<u64> {
        // An offset beyond its address means nothing, but a file may have one.
        Some(hexadecimal(self.address)?.wrapping_sub(hexadecimal(self.offset)?))
    }
}

fn hexadecimal(digits: &[u8]) -> Option<u64> {
    u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// Reads `1585 helper+0x1e (/path/of/binary)`, blanks in front of it, or what `-F` has left of it.
pub(super) fn frame(line: &[u8]) -> Option<FrameText<'_>> {
    let line = line.trim_ascii();
    let end = line
        .iter()
        .position(u8::is_ascii_whitespace)
        .unwrap_or(line.len());
    let (address, text) = line.split_at_checked(end)?;
    // No address has more than 64 bits: what is longer is text that looks hexadecimal.
    if address.is_empty() || address.len() > 16 || !address.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let text = text.trim_ascii_start();
    // Inlined frames have this mark where others have their binary, and it would be taken for one.
    let outer = text.strip_suffix(b"(inlined)");
    let is_inlined = outer.is_some();
    let text = outer.map_or(text, <[u8]>::trim_ascii_end);
    // A binary may have parentheses (`(deleted)`): it is cut at the last one that closes. Only
    // where something follows, the end has to be found from the front.
    let text = if text.ends_with(b")") {
        text
    } else {
        without_extras(text)?
    };
    let (symbol, binary) = match binary_start(text) {
        Some(start) => {
            let binary = text.get(start..)?.strip_prefix(b"(")?.strip_suffix(b")")?;
            (text.get(..start)?.trim_ascii_end(), Some(binary))
        }
        None => (text, None),
    };
    let (symbol, offset) = split_offset(symbol).unwrap_or((symbol, b""));
    Some(FrameText {
        address,
        symbol,
        offset,
        binary,
        is_inlined,
    })
}

/// A symbol and its binary, without the instruction or the branches (`-F +insn,+brstack`) that
/// come after these where no stacks were recorded; `None` if the binary was cut.
fn without_extras(text: &[u8]) -> Option<&[u8]> {
    let find = |part: &[u8]| memchr::memmem::find(text, part);
    // Arguments of functions have no blank in front; a binary is a path or a name in brackets.
    let Some(start) = find(b" (/").or_else(|| find(b" ([")) else {
        return Some(text);
    };
    let mut open = 0_usize;
    for (at, byte) in text.iter().enumerate().skip(start) {
        match byte {
            b'(' => open += 1,
            b')' => open = open.checked_sub(1)?,
            _ => continue,
        }
        if open == 0 {
            return text.get(..=at);
        }
    }
    None
}

/// Where the binary starts, in its parentheses: paths and names of functions may have some of their
/// own.
fn binary_start(text: &[u8]) -> Option<usize> {
    if !text.ends_with(b")") {
        return None;
    }
    let mut open = 0_usize;
    for (at, byte) in text.iter().enumerate().rev() {
        match byte {
            b')' => open += 1,
            b'(' => open = open.checked_sub(1)?,
            _ => continue,
        }
        if open == 0 {
            // The arguments of a function have no blank in front.
            let is_apart = at == 0 || text.get(at - 1) == Some(&b' ');
            return is_apart.then_some(at);
        }
    }
    None
}

/// `helper` and `1e` of `helper+0x1e`.
fn split_offset(symbol: &[u8]) -> Option<(&[u8], &[u8])> {
    // The last plus sign that a hexadecimal number follows: names have some of their own, as
    // `operator+` (case `perf_script/names`).
    let plus = symbol.iter().rposition(|byte| *byte == b'+')?;
    let offset = symbol.get(plus + 1..)?.strip_prefix(b"0x")?;
    (!offset.is_empty() && offset.iter().all(u8::is_ascii_hexdigit))
        .then_some((symbol.get(..plus)?, offset))
}

/// `work.c:31`, as `-F +srcline` prints it below a frame.
pub(super) fn source_line(line: &[u8]) -> Option<(&[u8], u32)> {
    let line = line.trim_ascii();
    let line = line
        .strip_suffix(b"(inlined)")
        .map_or(line, <[u8]>::trim_ascii_end);
    let line = match line.iter().rposition(|byte| *byte == b'(') {
        Some(start) if line.get(start..)?.starts_with(b"(discriminator ") => {
            line.get(..start)?.trim_ascii_end()
        }
        _ => line,
    };
    // From the right: paths may have colons of their own.
    let colon = line
        .iter()
        .rposition(|byte| *byte == b':')
        .filter(|colon| *colon > 0)?;
    let number = std::str::from_utf8(line.get(colon + 1..)?)
        .ok()?
        .parse()
        .ok()?;
    Some((line.get(..colon)?, number))
}

/// What `-F +srcline` prints below a frame whose line is not known: binary and address as
/// `libc.so.6[27249]`, or no file.
pub(super) fn is_source_unknown(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    if line == b":0" || line == b"??:0" {
        return true;
    }
    let line = line.strip_suffix(b"]").unwrap_or_default();
    let start = line.iter().rposition(|byte| *byte == b'[');
    let address = start
        .and_then(|start| line.get(start + 1..))
        .unwrap_or_default();
    !address.is_empty() && address.iter().all(u8::is_ascii_hexdigit)
}

/// What comes after an event, without the address of the data (`-F addr`) and its symbol and
/// binary. The address of the code comes after them, padded as that of the data is.
pub(super) fn without_address(rest: &[u8]) -> &[u8] {
    let mut words = tokens(rest);
    if !words
        .next()
        .is_some_and(|(_, address)| is_hexadecimal(address))
    {
        return rest;
    }
    // A symbol such as `add` is hexadecimal as well, so that only the column tells the address of
    // the code (case `perf_script/data-symbols`).
    let code = words.find(|(start, _)| ends_in_column(rest, *start));
    code.and_then(|(start, _)| rest.get(start..))
        .unwrap_or(rest)
}

fn is_hexadecimal(word: &[u8]) -> bool {
    word.iter().all(u8::is_ascii_hexdigit)
}

/// Whether the word that starts there is an address in a column of its own: after a blank, 16
/// digits or as many blanks as are missing.
fn ends_in_column(line: &[u8], start: usize) -> bool {
    let Some((before, behind)) = line.split_at_checked(start) else {
        return false;
    };
    let length = behind
        .iter()
        .position(u8::is_ascii_whitespace)
        .unwrap_or(behind.len());
    let blanks = before
        .iter()
        .rev()
        .take_while(|byte| **byte == b' ')
        .count();
    let is_address = length <= 16 && behind.get(..length).is_some_and(is_hexadecimal);
    is_address && length > 0 && blanks + length > 16
}
