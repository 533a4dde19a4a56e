//! Files that no format reads and that people try: what they are, and what to do instead.

use super::foreign_kinds::{DTRACE_LINES, FOREIGN, FTRACE_LINES, Foreign, PERFETTO};

/// Recognizes a kind of file by its first bytes.
type ForeignTest = fn(&[u8]) -> bool;

/// What a file is and what to do instead, if it is one that people try.
pub(super) fn known(head: &[u8]) -> Option<(&'static str, &'static str)> {
    let text = head.trim_ascii_start();
    let has = |sign: &&[u8]| memchr::memmem::find(head, sign).is_some();
    // The first one that fits decides, so that the special case precedes the general one: memray
    // before LZ4, gperftools before Go.
    let kind = FOREIGN
        .iter()
        .find(|one| text.starts_with(one.starts) && one.has.iter().all(has));
    let tests: [(ForeignTest, &Foreign); 3] = [
        (is_perfetto, &PERFETTO),
        (is_ftrace, &FTRACE_LINES),
        (is_dtrace, &DTRACE_LINES),
    ];
    let by_fields = || tests.iter().find(|(test, _)| test(head));
    let kind = kind.or_else(|| by_fields().map(|(_, kind)| *kind))?;
    Some((kind.what, kind.instead))
}

/// Returns true if all events at the start of a text look like `COMM-PID (TGID) [CPU] FLAGS TIME: NAME: TEXT`, as
/// ftrace prints them. Perf separates command and thread by a blank, and does not print the flags.
fn is_ftrace(head: &[u8]) -> bool {
    let whole = memchr::memrchr(b'\n', head).map_or(head, |end| head.get(..end).unwrap_or(head));
    let lines = whole.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let mut lines = lines
        .filter(|line| {
            let is_heading = [&b"#"[..], b"cpus=", b"version = "]
                .iter()
                .any(|start| line.starts_with(start));
            !line.is_empty() && !is_heading
        })
        .peekable();
    lines.peek().is_some() && lines.all(is_ftrace_line)
}

fn is_ftrace_line(line: &[u8]) -> bool {
    let words: Vec<&[u8]> = line
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
        .collect();
    let is_digits = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    let is_cpu = |word: &[u8]| {
        let number = word.strip_prefix(b"[");
        number
            .and_then(|word| word.strip_suffix(b"]"))
            .is_some_and(is_digits)
    };
    let Some(cpu) = words.iter().position(|word| is_cpu(word)) else {
        return false;
    };
    let is_group = |word: &[u8]| word.starts_with(b"(") && word.ends_with(b")");
    let Some((before, behind)) = words.split_at_checked(cpu) else {
        return false;
    };
    // `(` and `1234)` are two words where the number is padded.
    let before = match before {
        [before @ .., b"(", number] if number.ends_with(b")") => before,
        [before @ .., group] if is_group(group) => before,
        before => before,
    };
    let task = before.last().and_then(|task| {
        let dash = memchr::memrchr(b'-', task)?;
        task.get(dash + 1..)
    });
    let is_flags = |word: &[u8]| {
        (4..=6).contains(&word.len())
            && word
                .iter()
                .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'.')
    };
    let is_time = |word: &[u8]| {
        let time = word.strip_suffix(b":");
        time.is_some_and(|time| {
            time.contains(&b'.')
                && time
                    .iter()
                    .all(|byte| byte.is_ascii_digit() || *byte == b'.')
        })
    };
    let rest = match behind {
        [_, flags, time, rest @ ..] if is_flags(flags) && is_time(time) => rest,
        [_, time, rest @ ..] if is_time(time) => rest,
        _ => return false,
    };
    task.is_some_and(is_digits) && rest.first().is_some_and(|name| name.ends_with(b":"))
}

/// Returns true if a text looks like stacks of `dtrace`: indented frames such as ``libc.so.1`write+0x15``, and below each
/// stack an indented count. Headings and lines of probes are ignored.
fn is_dtrace(head: &[u8]) -> bool {
    let whole = memchr::memrchr(b'\n', head).map_or(head, |end| head.get(..end).unwrap_or(head));
    let (mut frames, mut counts) = (0, 0);
    for line in whole.split(|byte| *byte == b'\n') {
        let text = line.trim_ascii();
        let is_heading = text.starts_with(b"CPU") && text.ends_with(b"FUNCTION:NAME");
        if text.is_empty() || is_heading || is_probe(text) {
            continue;
        }
        if !line.starts_with(b" ") && !line.starts_with(b"\t") {
            return false;
        }
        if text.iter().all(u8::is_ascii_digit) {
            counts += 1;
        } else if text.contains(&b'`') {
            frames += 1;
        } else if !text.starts_with(b"0x") {
            return false;
        }
    }
    frames > 0 && counts > 0
}

/// Returns true if a line names a probe as `dtrace` does: `CPU ID FUNCTION:NAME`.
fn is_probe(text: &[u8]) -> bool {
    let words = text.split(u8::is_ascii_whitespace);
    let words: Vec<&[u8]> = words.filter(|word| !word.is_empty()).collect();
    let is_number = |word: &[u8]| word.iter().all(u8::is_ascii_digit);
    matches!(words[..], [cpu, id, probe] if is_number(cpu) && is_number(id) && probe.contains(&b':'))
}

/// Perfetto's traces have no signature: a trace is a list of packets (field 1), and each has the
/// number of the sequence that it is of (field 10, a number above 0).
///
/// <https://perfetto.dev/docs/reference/trace-packet-proto>
fn is_perfetto(head: &[u8]) -> bool {
    let mut rest = head;
    for _ in 0..2 {
        let Some((10, Wire::Bytes(mut packet))) = field(&mut rest) else {
            return false;
        };
        let mut has_sequence = false;
        while !packet.is_empty() {
            match field(&mut packet) {
                Some((80, Wire::Number(number))) => has_sequence = number > 0,
                Some(_) => {}
                None => return false,
            }
        }
        if !has_sequence {
            return false;
        }
    }
    true
}

/// What a field of Protocol Buffers holds.
enum Wire<'h> {
    Number(u64),
    Bytes(&'h [u8]),
}

/// Takes a field off the front: its tag, and what it holds.
fn field<'h>(rest: &mut &'h [u8]) -> Option<(u64, Wire<'h>)> {
    let tag = number(rest)?;
    let length = match tag & 7 {
        0 => return Some((tag, Wire::Number(number(rest)?))),
        1 => 8,
        2 => usize::try_from(number(rest)?).ok()?,
        5 => 4,
        _ => return None,
    };
    let (taken, left) = rest.split_at_checked(length)?;
    *rest = left;
    Some((tag, Wire::Bytes(taken)))
}

/// Takes a number of seven bits a byte off the front, the lowest ones first.
fn number(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..63).step_by(7) {
        let (byte, left) = rest.split_first()?;
        *rest = left;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// What is known of files whose description has a word in it, capital letters or not, and what to
/// do instead of importing them.
pub fn about(word: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let word = word.to_lowercase();
    let all = FOREIGN.iter().chain([&PERFETTO]);
    all.filter_map(move |one| {
        let mut words = one.what.split(|letter: char| !is_of_a_word(letter));
        words
            .any(|known| known.trim_end_matches("'s").to_lowercase() == word)
            .then_some((one.what, one.instead))
    })
}

fn is_of_a_word(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | '\'')
}
