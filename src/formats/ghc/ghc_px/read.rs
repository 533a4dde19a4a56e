//! GHC cost-centre logs (`+RTS -px`)
//!
//! # What it is
//! The log that programs compiled with GHC 4 to 7.0 and profiling wrote to `PROGRAM.prof` when run with `+RTS -px`. It has cost
//! centres, cost-centre stacks in order of creation, and at the end the cost of every stack. GHC called it XML, but it is
//! lines of numbers. Later versions write text or JSON to a file of that name, which other formats read. Default metric:
//! `time`; also `ticks` and `alloc`.
//!
//! # How to record one
//! ```text
//! ghc -prof -auto-all Main.hs -o main
//! ./main +RTS -px -RTS            # writes main.prof
//! ```
//! Since 7.2, GHC writes a text report for `-px`; current versions reject the option.
//!
//! # What we read
//! - A node per cost-centre stack, also without cost. `calls` are the entries of the stack.
//! - A function per cost centre. The log does not state where a centre is defined, so several may have equal labels and
//!   modules. They stay separate, in the order of their numbers. The second and later ones have 2, 3
//!   and so on as `first_col` in table `functions`, with `first_line` 0, which is unknown. The views list each in a row of
//!   its own, by `function_id`, and `--fn` selects all with the name.
//! - `time`: ticks times the interval in the second line.
//! - `alloc`: the log has machine words without their size. They count as 8 bytes, or as 4 with `--word-size 4`. With
//!   `--word-size 1`, `alloc` is the number of words.
//! - Labels as they are, with quotes and backslashes, which the log does not escape.
//! - **Back edges.** A stack never contains a centre twice. In the semantics of Morgan and Jarvis, a call of a centre that is
//!   already on the stack leads back to the stack that ends there, or (in the RTS of late 2011) stays in place. The
//!   RTS then logs that stack again, with the calling stack as its parent. The second and later lines of a
//!   stack are therefore not nodes of the tree and have no cost. `calls` and `callees` list them as `back`, with
//!   unknown calls. The entries and the cost of such calls are part of the stack itself: the views
//!   mark it (`includes_back`), and notes list the pairs of caller and callee.
//! - A repeated stack that is its own parent: the RTS of late 2011 does not record which enclosing centre was called.
//!   The edge is listed from the centre to itself; a note counts them.
//! - Undeclared centres get a name such as `<cc 180>` and are `pseudo`, because they may not be code of the
//!   program: the RTS of late 2011 declares none of its own.
//! - Centres of the RTS (`GC`, `SYSTEM`, `OVERHEAD_of`, `DONT_CARE`, `IDLE`), below a separate root `(built-in)` and outside the
//!   total, so that percentages refer to the program. `--with-builtins` leaves them in place. Undeclared ones
//!   are recognised by their numbers, which follow that of the undeclared root.
//! - Costs of several samples (`5`) are added up. Without a sample (the program was killed), there are no costs, and calls are
//!   unknown. A truncated last line is left out.
//!
//! # What we leave out
//! - Lines with the codes 3, 4 and 6, which are reserved for an unfinished heap log: a note counts them.
//! - Centres without a stack: they were never entered.
//!
//! # References
//! - R. G. Morgan and S. A. Jarvis, "Profiling large-scale lazy functional programs", Journal of Functional Programming
//!   8(3), 1998: cost-centre stacks, and why recursion is folded.
//! - GHC, `rts/Profiling.c` of versions 6 and 7.0: the writer. `utils/prof/ghcprof.prl` and Antiope's prof2dot: readers.

use std::io::BufRead;

use super::log::{Apart, Back, Centre, Log, NONE, Stack};
use super::numbers::{Token, number, peek, take, token};
use crate::base::error::{ImportError, Position, quote};
use crate::events::Sink;
use crate::formats::common::buffered::available;
use crate::formats::common::missing_frames::MISSING_FRAME;
use crate::formats::format::{Confidence, Format};
use crate::formats::ghc::centres::WITH_BUILTINS;
use crate::formats::options::{KEEP_BEFORE_ERROR_OPTION, OptionDef, Options, Takes};
use crate::formats::salvage::Salvage;
use crate::input::Input;
use crate::text::escape;

/// The format of the page above: how it is recognised and read.
pub(in crate::formats) const FORMAT: Format = Format {
    name: "ghc_px",
    summary: "GHC cost-centre logs of +RTS -px (GHC 4 to 7.0)",
    revision: 3,
    sniff,
    has_empty_recordings: true,
    salvage: Salvage::Lines,
    options: &[
        KEEP_BEFORE_ERROR_OPTION,
        OptionDef {
            name: "word-size",
            takes: Takes::Word(&["1", "4", "8"]),
            meaning: "bytes per machine word of the profiled program. The log counts allocation in words; 1 keeps \
                      words [default: 8]",
        },
        WITH_BUILTINS,
    ],
    import,
};

fn sniff(head: &[u8]) -> Confidence {
    let mut lines = head.split(|byte| *byte == b'\n').map(without_return);
    let stamp = lines.next().and_then(quoted);
    let interval = lines.next().and_then(interval);
    // The first line of other formats may be quoted; then it holds fields.
    if stamp.is_some_and(|stamp| !stamp.contains(&b'"')) && interval.is_some() {
        Confidence::Maybe
    } else {
        Confidence::No
    }
}

fn import(
    input: &mut Input<'_>,
    options: &Options,
    sink: &mut dyn Sink,
) -> Result<(), ImportError> {
    let word = match options.value("word-size") {
        None | Some("8") => 8,
        Some("4") => 4,
        Some("1") => 1,
        Some(_) => return Err(ImportError::Refused("--word-size is 1, 4 or 8".to_owned())),
    };
    let apart = if options.flag(WITH_BUILTINS.name) {
        Apart::Nothing
    } else {
        Apart::BuiltIn
    };
    let mut log = Log::default();
    let read = log.header(input).and_then(|()| log.read(input));
    // The sink takes nothing more of an import that was stopped.
    if !matches!(read, Err(ImportError::Stopped)) {
        log.emit(word, apart, sink);
    }
    read
}

fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The text between the first and the last character, if both are quotes.
fn quoted(text: &[u8]) -> Option<&[u8]> {
    text.strip_prefix(b"\"")?.strip_suffix(b"\"")
}

/// Milliseconds per tick, from the second line.
fn interval(line: &[u8]) -> Option<u64> {
    number(quoted(line)?.strip_suffix(b" ms")?)
}

impl Log {
    fn header(&mut self, input: &mut Input<'_>) -> Result<(), ImportError> {
        let mut line = Vec::new();
        let position = input.position();
        input.read_line(&mut line)?;
        let stamp = quoted(&line).ok_or_else(|| {
            ImportError::malformed(position, "the time of the run in quotes", quote(&line))
        })?;
        self.stamp = Some((position, escape::text(stamp).into_owned()));
        let position = input.position();
        input.read_line(&mut line)?;
        let interval = interval(&line).ok_or_else(|| {
            ImportError::malformed(
                position,
                "the length of a tick like \"20 ms\" in quotes",
                quote(&line),
            )
        })?;
        self.interval = Some((position, interval));
        Ok(())
    }

    fn read(&mut self, input: &mut Input<'_>) -> Result<(), ImportError> {
        let mut line = Vec::new();
        while let Some(first) = peek(input)? {
            // A sample is one line of any length; it is never kept as one.
            if first == b'5' {
                self.sample(input)?;
                continue;
            }
            if matches!(first, b'3' | b'4' | b'6') {
                // Not as lines: what a heap log holds may be longer than a record.
                self.reserved(input)?;
                continue;
            }
            let Some(position) = input.read_line(&mut line)? else {
                break;
            };
            // `line` has lost its end, so that as many bytes in the file mean that there was none.
            let written = input.position().byte - position.byte;
            if usize::try_from(written).is_ok_and(|written| written == line.len()) {
                // A process that is killed leaves half a line, and half a number may look like a
                // whole one.
                self.cut = Some(position);
                break;
            }
            match first {
                b'1' => self.centre(&line, position)?,
                b'2' => self.stack(&line, position)?,
                _ if line.trim_ascii().is_empty() => {}
                _ => {
                    return Err(ImportError::malformed(
                        position,
                        "a line that starts with 1 to 6",
                        quote(&line),
                    ));
                }
            }
        }
        self.end = Some(input.position());
        Ok(())
    }

    /// `1 NUMBER "LABEL" "MODULE"`. Nothing is escaped, but neither text holds a blank.
    fn centre(&mut self, line: &[u8], position: Position) -> Result<(), ImportError> {
        let wrong = || {
            let expected = "a cost centre: 1, its number, its label and its module, both in quotes";
            ImportError::malformed(position, expected, quote(line))
        };
        let rest = line
            .trim_ascii_end()
            .strip_prefix(b"1 ")
            .ok_or_else(wrong)?;
        let blank = rest
            .iter()
            .position(|byte| *byte == b' ')
            .ok_or_else(wrong)?;
        let (digits, names) = rest.split_at_checked(blank).ok_or_else(wrong)?;
        let number = number(digits).ok_or_else(wrong)?;
        let names = quoted(names.trim_ascii_start()).ok_or_else(wrong)?;
        // The last one: labels may hold quotes, modules do not (case `ghc_px/quotes-in-labels`).
        let between = names
            .windows(3)
            .rposition(|window| window == b"\" \"")
            .ok_or_else(wrong)?;
        let label = escape::text(names.get(..between).unwrap_or_default()).into_owned();
        let module = escape::text(names.get(between + 3..).unwrap_or_default()).into_owned();
        let at = self.find_centre(number, position)?;
        let Some(centre) = self.centres.get_mut(at as usize) else {
            return Err(wrong());
        };
        match &centre.name {
            None => {
                centre.name = Some((label, module));
                centre.position = position;
                self.last_declared = self.last_declared.max(Some(number));
            }
            Some(known) if *known == (label, module) => self.repeated_centres.add(position),
            Some((label, module)) => {
                let expected = format!(
                    "one name for centre {number}, which is already {} of {}",
                    quote(label.as_bytes()),
                    quote(module.as_bytes())
                );
                return Err(ImportError::malformed(position, expected, quote(line)));
            }
        }
        Ok(())
    }

    /// `2 STACK 1 CENTRE`, a root, or `2 STACK 2 CENTRE PARENT`.
    fn stack(&mut self, line: &[u8], position: Position) -> Result<(), ImportError> {
        let wrong = || {
            let expected = "a stack: 2, its number, then 1 and a centre, or 2, a centre and the parent's number";
            ImportError::malformed(position, expected, quote(line))
        };
        let mut fields = line.trim_ascii_end().split(|byte| *byte == b' ');
        let mut next = || number(fields.next()?);
        let (Some(2), Some(number), Some(shape), Some(centre)) = (next(), next(), next(), next())
        else {
            return Err(wrong());
        };
        let parent = match shape {
            1 => None,
            2 => Some(next().ok_or_else(wrong)?),
            _ => return Err(wrong()),
        };
        if fields.next().is_some() {
            return Err(wrong());
        }
        // Also of a centre that is declared later or never (cases `ghc_px/declared-afterwards`,
        // `ghc_px/snapshot-2011`).
        let centre_at = self.find_centre(centre, position)?;
        let Some(&stack) = self.stack_index.get(&number) else {
            return self.new_stack(number, centre_at, parent, position);
        };
        let known = self
            .stacks
            .get(stack as usize)
            .map_or(NONE, |stack| stack.centre);
        // A stack keeps its centre: another one means that lines are damaged (case
        // `ghc_px/another-centre`).
        if known != centre_at {
            let known = self
                .centres
                .get(known as usize)
                .map_or(0, |centre| centre.number);
            let expected = format!("centre {known}, as in an earlier line of stack {number}");
            return Err(ImportError::malformed(
                position,
                expected,
                format!("centre {centre}"),
            ));
        }
        let caller = match parent {
            None => NONE,
            Some(parent) => self.find_stack(parent, position)?,
        };
        if caller == NONE {
            self.returns_to_root.add(position);
        } else if caller == stack {
            self.own_parents.add(position);
        }
        self.backs.push(Back {
            stack,
            caller,
            position,
        });
        Ok(())
    }

    fn new_stack(
        &mut self,
        number: u64,
        centre: u32,
        parent: Option<u64>,
        position: Position,
    ) -> Result<(), ImportError> {
        let parent = match parent {
            None => NONE,
            // The stack is not in the table yet: a parent of its own number would not be found, and
            // is checked first (case `ghc_px/own-parent`).
            Some(parent) if parent == number => {
                self.roots_of_their_own.add(position);
                NONE
            }
            Some(parent) => self.find_stack(parent, position)?,
        };
        let at = index(self.stacks.len(), "stacks", position)?;
        self.stack_index.insert(number, at);
        let (entries, ticks, words) = (0, 0, 0);
        self.stacks.push(Stack {
            centre,
            parent,
            declared: position,
            entries,
            ticks,
            words,
            sampled: None,
        });
        if let Some(centre) = self.centres.get_mut(centre as usize) {
            centre.used = true;
        }
        Ok(())
    }

    /// Returns the stack of a number. `[missing frame]` takes the place of a stack that is not declared.
    fn find_stack(&mut self, number: u64, position: Position) -> Result<u32, ImportError> {
        if let Some(&stack) = self.stack_index.get(&number) {
            return Ok(stack);
        }
        self.undeclared.add_with(position, || number.to_string());
        if let Some(stack) = self.missing_stack {
            return Ok(stack);
        }
        let centre = index(self.centres.len(), "cost centres", position)?;
        self.centres.push(Centre {
            number: 0,
            name: Some((MISSING_FRAME.to_owned(), String::new())),
            position,
            used: true,
        });
        let stack = index(self.stacks.len(), "stacks", position)?;
        self.stacks.push(Stack {
            centre,
            parent: NONE,
            declared: position,
            entries: 0,
            ticks: 0,
            words: 0,
            sampled: None,
        });
        self.missing_stack = Some(stack);
        Ok(stack)
    }

    /// Finds or makes the entry of a centre: some are used before, or without being declared.
    fn find_centre(&mut self, number: u64, position: Position) -> Result<u32, ImportError> {
        if let Some(&at) = self.centre_index.get(&number) {
            return Ok(at);
        }
        let at = index(self.centres.len(), "cost centres", position)?;
        self.centre_index.insert(number, at);
        self.centres.push(Centre {
            number,
            name: None,
            position,
            used: false,
        });
        Ok(at)
    }

    /// `5 TICKS`, then `1 STACK ENTRIES TICKS WORDS` again and again, then `0`.
    fn sample(&mut self, input: &mut Input<'_>) -> Result<(), ImportError> {
        input.begin_record();
        let position = input.position();
        let code = take(input, "a line that starts with 1 to 6")?;
        // The line starts with the digit 5, the number may go on (case `ghc_px/unknown-code-57`).
        if code != 5 {
            return Err(ImportError::malformed(
                position,
                "a line that starts with 1 to 6",
                code.to_string(),
            ));
        }
        self.samples.add(position);
        let ticks = take(input, "the total number of ticks")?;
        self.ticks = sum(self.ticks, ticks, position)?;
        loop {
            // A record for each stack: the line has all of them, and may be longer than a record
            // may be.
            input.begin_record();
            let position = input.position();
            match take(input, "1 and the cost of a stack, or the final 0")? {
                0 => break,
                1 => {}
                code => {
                    let expected = "1 and the cost of a stack, or the final 0";
                    return Err(ImportError::malformed(position, expected, code.to_string()));
                }
            }
            let number = take(input, "the number of a stack")?;
            let entries = take(input, "the entries of a stack")?;
            let ticks = take(input, "the ticks of a stack")?;
            let words = take(input, "the allocated words of a stack")?;
            let at = self.find_stack(number, position)?;
            if let Some(stack) = self.stacks.get_mut(at as usize) {
                stack.entries = sum(stack.entries, entries, position)?;
                stack.ticks = sum(stack.ticks, ticks, position)?;
                stack.words = sum(stack.words, words, position)?;
                stack.sampled = Some(position);
            }
        }
        match token(input)? {
            (Token::LineEnd | Token::FileEnd, _) => Ok(()),
            (found, position) => {
                let expected = "the end of the line after the final 0";
                Err(ImportError::malformed(
                    position,
                    expected,
                    found.describe(input)?,
                ))
            }
        }
    }

    /// Passes over a line of any length.
    fn reserved(&mut self, input: &mut Input<'_>) -> Result<(), ImportError> {
        self.reserved.add(input.position());
        loop {
            input.begin_record();
            let chunk = available(input)?;
            let end = memchr::memchr(b'\n', chunk);
            let count = end.map_or(chunk.len(), |end| end + 1);
            let done = end.is_some() || count == 0;
            input.consume(count);
            if done {
                return Ok(());
            }
        }
    }
}

fn index(at: usize, what: &str, position: Position) -> Result<u32, ImportError> {
    let limit = || ImportError::Limit {
        position,
        limit: format!("{NONE} {what} (limit: number of {what})"),
    };
    u32::try_from(at)
        .ok()
        .filter(|at| *at != NONE)
        .ok_or_else(limit)
}

fn sum(known: u64, more: u64, position: Position) -> Result<u64, ImportError> {
    known.checked_add(more).ok_or_else(|| {
        ImportError::malformed(
            position,
            "samples that add up to less than 2^64",
            format!("{known} and {more}"),
        )
    })
}
