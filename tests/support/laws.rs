//! Laws of changed files: text in another encoding, numbers as texts, files that are cut, without costs, with a broken reference, or there twice.

use std::collections::BTreeMap;
use std::io::Cursor;

use libtest_mimic::Failed;
use profdb::base::error::{ImportError, Stop};
use profdb::events::recorder::Recorder;
use profdb::events::{Fidelity, Severity};
use profdb::formats::{Format, Options};
use profdb::input::{Input, Limits};
use profdb::pipeline::{self, Failure, Parsed};
use profdb::profile::{InfoFigures, NoteRow};
use profdb::store::WholeRun;

use super::case_inputs::{Property, Sample, ensure, equal};
use super::references::broken_files;

/// The laws, which cost about 150 imports of a sample.
pub(crate) const LAWS: [(&str, Property); 8] = [
    ("encodings_change_nothing", encodings_change_nothing),
    (
        "quoted_numbers_change_nothing",
        quoted_numbers_change_nothing,
    ),
    ("line_ends_change_nothing", line_ends_change_nothing),
    ("cut_file_is_refused_or_noted", cut_file_is_refused_or_noted),
    (
        "kept_costs_are_part_of_the_whole",
        kept_costs_are_part_of_the_whole,
    ),
    (
        "broken_reference_is_refused_or_noted",
        broken_reference_is_refused_or_noted,
    ),
    (
        "file_without_costs_is_reported",
        file_without_costs_is_reported,
    ),
    (
        "doubled_file_costs_twice_or_is_refused",
        doubled_file_costs_twice_or_is_refused,
    ),
];

/// Number of places at which a sample is cut.
const CUTS: usize = 20;

/// Formats whose files are not text.
const BINARY: [&str; 4] = ["pprof", "pstats", "sampler", "business_rules"];

/// JSON formats. GHC writes quotes in texts without a backslash, so that numbers in its files are not found here.
const JSON: [&str; 7] = [
    "chrome_trace",
    "cpuprofile",
    "firefox",
    "heapprofile",
    "pyinstrument_json",
    "speedscope",
    "stackprof",
];

/// Formats whose records are lines and whose files have no end that could be missing: a cut after a
/// line is not seen.
const ENDLESS: [&str; 9] = [
    "folded",
    "austin",
    "callgrind",
    "dyalog_csv",
    "ghc_prof",
    "ghc_px",
    "gprof",
    "lispworks_tree",
    "perf_script",
];

/// Formats of binary records without an end: a cut between two of them is not seen.
const MAY_END: [&str; 1] = ["business_rules"];

/// Formats in which a cut file can have more exclusive cost of a function than the whole file: slices within slices come later, and the
/// frames of a stack begin with the innermost one. The sums are right.
const MOVES_COSTS: [&str; 2] = ["chrome_trace", "perf_script"];

/// Formats with nodes outside the total. The total includes those whose function is not in the file.
const COUNTS_MISSING: [&str; 1] = ["ghc_json"];

/// Formats in which the name of a cut last line is a function of its own, whose cost is stated once more.
const REPEATS_COSTS: [&str; 1] = ["lispworks_tree"];

const KEEP: &str = "keep-before-error";

/// Every event of an import by a format, and the error that ended it.
type ReadOutcome = (Vec<String>, Option<String>);

fn read(format: &Format, bytes: &[u8], options: &Options) -> ReadOutcome {
    let mut events = Vec::new();
    let mut recorder = Recorder::new(|_, event| events.push(event));
    let input = Input::seekable(Cursor::new(bytes), Limits::default(), Stop::default());
    let read = input.and_then(|mut input| format.read(&mut input, options, &mut recorder));
    (events, read.err().map(|error| error.to_string()))
}

/// Removes the positions of notes, which other line ends move.
fn without_bytes(events: Vec<String>) -> Vec<String> {
    let position = regex::Regex::new(r" \(byte \d+\)").expect("a pattern");
    let without = |event: String| position.replace_all(&event, "").into_owned();
    events.into_iter().map(without).collect()
}

/// The text of a sample, if its format is text without a byte order mark.
fn text(sample: &Sample) -> Option<&str> {
    std::str::from_utf8(&sample.bytes)
        .ok()
        .filter(|text| !BINARY.contains(&sample.format.name) && !text.starts_with('\u{feff}'))
}

fn encodings_change_nothing(sample: &Sample) -> Result<(), Failed> {
    let Some(text) = text(sample) else {
        return Ok(());
    };
    let read = |bytes: &[u8]| read(sample.format, bytes, &Options::default());
    let (plain, _) = read(text.as_bytes());
    let marked = format!("\u{feff}{text}");
    let (events, error) = read(marked.as_bytes());
    equal(
        "with a byte order mark",
        &without_bytes(plain),
        &without_bytes(events.clone()),
    )?;
    let units = || marked.encode_utf16();
    let little: Vec<u8> = units().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = units().flat_map(u16::to_be_bytes).collect();
    for (name, bytes) in [("UTF-16LE", little), ("UTF-16BE", big)] {
        let decoded = read(&bytes);
        equal(name, &events, &decoded.0)?;
        ensure(error == decoded.1, || {
            format!("{name}: {error:?} against {:?}", decoded.1)
        })?;
    }
    Ok(())
}

/// Writes all numbers of a JSON text as texts.
fn quote_numbers(text: &str) -> String {
    let part = r#""(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*"#;
    let part = regex::Regex::new(part).expect("a pattern");
    let quoted = part.replace_all(text, |found: &regex::Captures<'_>| {
        let part = &found[0];
        if part.starts_with('"') {
            part.to_owned()
        } else {
            format!("\"{part}\"")
        }
    });
    quoted.into_owned()
}

fn quoted_numbers_change_nothing(sample: &Sample) -> Result<(), Failed> {
    let Some(text) = text(sample).filter(|_| JSON.contains(&sample.format.name)) else {
        return Ok(());
    };
    let read = |text: &str| read(sample.format, text.as_bytes(), &Options::default());
    equal(
        "with quoted numbers",
        &without_bytes(read(text).0),
        &without_bytes(read(&quote_numbers(text)).0),
    )
}

fn line_ends_change_nothing(sample: &Sample) -> Result<(), Failed> {
    let Some(text) = text(sample).filter(|text| !text.contains('\r')) else {
        return Ok(());
    };
    let read = |text: &str| read(sample.format, text.as_bytes(), &Options::default());
    equal(
        "CR LF",
        &without_bytes(read(text).0),
        &without_bytes(read(&text.replace('\n', "\r\n")).0),
    )
}

/// Calls a check with the sample cut at [`CUTS`] places.
fn for_cuts(
    sample: &Sample,
    mut check: impl FnMut(usize, &[u8]) -> Result<(), Failed>,
) -> Result<(), Failed> {
    let length = sample.bytes.len();
    for cut in 1..=CUTS {
        let mut end = length * cut / (CUTS + 1);
        // Nothing is missing at the end of a line.
        let is_end = |end: usize| {
            [&b"\n"[..], b"\n\0"]
                .iter()
                .any(|line_end| sample.bytes[..end].ends_with(line_end))
        };
        while ENDLESS.contains(&sample.format.name) && is_end(end) {
            end -= 1;
        }
        check(end, &sample.bytes[..end])?;
    }
    Ok(())
}

fn cut_file_is_refused_or_noted(sample: &Sample) -> Result<(), Failed> {
    let costs = |events: &[String]| {
        let is_cost = |event: &&String| !event.starts_with("note ") && !event.starts_with("run ");
        events.iter().filter(is_cost).count()
    };
    let (whole, _) = read(sample.format, &sample.bytes, &Options::default());
    let keep = keep();
    for_cuts(sample, |end, bytes| {
        let (events, error) = read(sample.format, bytes, &Options::default());
        let Some(error) = error else {
            let has_note = events
                .iter()
                .any(|event| event.starts_with("note ") && !whole.contains(event));
            // A run without nodes and figures gets a warning after the import.
            let has_figures = events.iter().any(|event| {
                ["enter ", "sample ", "edge ", "info "]
                    .iter()
                    .any(|word| event.starts_with(word))
            });
            let is_whole = costs(&events) >= costs(&whole);
            let may_end = MAY_END.contains(&sample.format.name);
            return ensure(has_note || !has_figures || is_whole || may_end, || {
                format!("the first {end} bytes are read without a note")
            });
        };
        ensure(error.contains("byte "), || {
            format!("the first {end} bytes: no position in {error:?}")
        })?;
        let (events, kept) = read(sample.format, bytes, &keep);
        let has_note = events.iter().any(|event| event.starts_with("note warning"));
        ensure(kept.is_some() || has_note, || {
            format!("the sound part of the first {end} bytes is read without a note")
        })?;
        ensure(error.contains(KEEP) == kept.is_none(), || {
            format!("the first {end} bytes: {error:?} although {kept:?}")
        })
    })
}

/// Returns the options that keep the sound part of a damaged file.
fn keep() -> Options {
    let mut options = Options::default();
    options.set(KEEP, "");
    options
}

/// Makes a run of a file, or returns the message that refuses the file.
fn run_or_refusal(
    format: &Format,
    bytes: &[u8],
    options: &Options,
) -> Result<Result<WholeRun, String>, Failed> {
    let stop = Stop::default();
    let input = Input::seekable(Cursor::new(bytes), Limits::default(), stop.clone());
    let parsed = input.map_err(Failure::from).and_then(|input| {
        pipeline::parse(input, format, options, &stop, |fingerprint| {
            pipeline::meta(format, options, "sample", fingerprint)
        })
    });
    match parsed {
        Ok(Parsed::Whole(run, _)) => Ok(Ok(*run)),
        Ok(Parsed::Large) => Err("a run of more nodes than fit".into()),
        Err(Failure::Input(ImportError::Stopped)) => Err("stopped without a cause".into()),
        Err(failure) => Ok(Err(failure.to_string())),
    }
}

/// Makes a run of a file; `None` if it is refused.
fn run_of(format: &Format, bytes: &[u8], options: &Options) -> Result<Option<WholeRun>, Failed> {
    Ok(run_or_refusal(format, bytes, options)?.ok())
}

/// Exclusive costs of all functions, by metric.
fn totals(run: &WholeRun) -> Vec<f64> {
    let mut totals = vec![0.0; run.totals.metrics.len()];
    for row in run.totals.functions.iter() {
        totals[row.metric.0 as usize] += row.figures.exclusive.unwrap_or(0.0);
    }
    totals
}

/// Calls, exclusive and cumulative cost; `None` is unknown.
type Figures = [Option<f64>; 3];

const EXCLUSIVE: usize = 1;

const CUMULATIVE: usize = 2;

/// Returns the figures of a run by metric and by name, module and file of functions. The empty name has the sums of the metric.
fn figures(run: &WholeRun) -> BTreeMap<(&str, [&str; 3]), Figures> {
    let names: BTreeMap<_, _> = run
        .rows
        .functions
        .iter()
        .map(|(id, function)| {
            let definition = function.definition();
            (id.0, [definition.name, definition.module, definition.file])
        })
        .collect();
    let mut figures = BTreeMap::<_, Figures>::new();
    for row in run.totals.functions.iter() {
        let metric = run.totals.metrics[row.metric.0 as usize].name.as_str();
        let InfoFigures {
            calls,
            exclusive,
            cumulative,
            ..
        } = row.figures;
        let name = names.get(&row.function.0).copied().unwrap_or_default();
        let mut add = |name, added: Figures| {
            let sums = figures.entry((metric, name)).or_insert([Some(0.0); 3]);
            for (sum, figure) in sums.iter_mut().zip(added) {
                *sum = sum.zip(figure).map(|(sum, figure)| sum + figure);
            }
        };
        let calls = calls.and_then(|calls| u32::try_from(calls).ok());
        let calls = calls.map(f64::from);
        add(name, [calls, exclusive, cumulative]);
        add([""; 3], [None, exclusive, None]);
    }
    figures
}

/// Functions in the place of those that are not in the file.
const MISSING: [&str; 3] = ["[missing frame]", "[unknown]", "(unknown)"];

/// Checks that no function of a damaged file costs more than that of the whole file. Functions that take the place of others are checked
/// by the sums.
fn ensure_part(
    format: &Format,
    what: &str,
    part: &WholeRun,
    whole: &WholeRun,
) -> Result<(), Failed> {
    // Without paths, a caller that is lost can hide that a function recurs.
    let has_paths =
        [part, whole].map(|run| run.totals.facts.fidelity == Fidelity::Tree) == [true; 2];
    let whole = figures(whole);
    // Negative costs that are lost raise the sum.
    if whole
        .values()
        .flatten()
        .flatten()
        .any(|figure| *figure < 0.0)
    {
        return Ok(());
    }
    for (key, part) in figures(part) {
        let Some(whole) = whole.get(&key) else {
            continue;
        };
        let (_, [name, ..]) = key;
        if MISSING.contains(&name) {
            continue;
        }
        let is_sum = name.is_empty();
        let may_grow = |at: usize| match at {
            _ if COUNTS_MISSING.contains(&format.name) && what.starts_with("broken ") => true,
            EXCLUSIVE => {
                REPEATS_COSTS.contains(&format.name)
                    || (MOVES_COSTS.contains(&format.name) && !is_sum)
            }
            CUMULATIVE => !has_paths,
            _ => false,
        };
        for (at, (part, whole)) in part.iter().zip(whole).enumerate() {
            let (Some(part), Some(whole)) = (part, whole) else {
                continue;
            };
            ensure(may_grow(at) || *part <= whole * (1.0 + 1e-9), || {
                format!("{what}: {key:?} costs {part} instead of at most {whole}")
            })?;
        }
    }
    Ok(())
}

fn kept_costs_are_part_of_the_whole(sample: &Sample) -> Result<(), Failed> {
    let whole = run_of(sample.format, &sample.bytes, &Options::default())?;
    let whole = whole.ok_or("the sample is no profile")?;
    for_cuts(sample, |end, bytes| {
        let kept = run_of(sample.format, bytes, &keep())?;
        kept.map_or(Ok(()), |kept| {
            let what = format!("the first {end} bytes");
            ensure_part(sample.format, &what, &kept, &whole)
        })
    })
}

fn broken_reference_is_refused_or_noted(sample: &Sample) -> Result<(), Failed> {
    let whole = run_of(sample.format, &sample.bytes, &Options::default())?;
    let whole = whole.ok_or("the sample is no profile")?;
    // Another reference may be broken already.
    let has_warning = |note: &NoteRow| note.severity == Severity::Warning;
    if whole.totals.notes.iter().any(has_warning) {
        return Ok(());
    }
    let read = |bytes: &[u8]| read(sample.format, bytes, &Options::default());
    for (what, broken) in broken_files(sample) {
        match run_or_refusal(sample.format, &broken, &Options::default())? {
            Err(refusal) => ensure(refusal.contains("byte "), || {
                format!("{what}: no position in {refusal:?}")
            })?,
            Ok(part) => {
                // A reference that nothing uses changes nothing.
                let is_noted = part.totals.notes.iter().any(has_warning);
                ensure(is_noted || read(&broken) == read(&sample.bytes), || {
                    format!("{what}: read without a note")
                })?;
                ensure_part(sample.format, &what, &part, &whole)?;
            }
        }
    }
    Ok(())
}

fn file_without_costs_is_reported(sample: &Sample) -> Result<(), Failed> {
    let check = |what: String, bytes: &[u8]| {
        let Some(run) = run_of(sample.format, bytes, &Options::default())? else {
            return Ok(());
        };
        let has_figure = run.totals.functions.iter().any(|row| {
            let figures = row.figures;
            figures.calls.is_some_and(|calls| calls > 0)
                || [figures.exclusive, figures.cumulative, figures.seen]
                    .into_iter()
                    .flatten()
                    .any(|cost| cost != 0.0)
        });
        let is_noted = |message: &str| message.starts_with("the recording is empty");
        let mut notes = run.totals.notes.iter();
        ensure(
            has_figure || notes.any(|note| is_noted(&note.message)),
            || format!("{what}: an empty run without a warning"),
        )
    };
    for_cuts(sample, |end, bytes| {
        check(format!("the first {end} bytes"), bytes)
    })?;
    if text(sample).is_some() {
        let zeros: Vec<u8> = sample
            .bytes
            .iter()
            .map(|byte| if byte.is_ascii_digit() { b'0' } else { *byte })
            .collect();
        check("zeros".to_owned(), &zeros)?;
    }
    Ok(())
}

/// Returns true for a warning that the importer left out the second copy of a file, or figures of it.
fn names_second_copy(note: &NoteRow) -> bool {
    const COPIES: [&str; 6] = [
        "second",
        "a later",
        "after the",
        "skipped",
        "more than once",
        "the count of the file is kept",
    ];
    note.severity == Severity::Warning && COPIES.iter().any(|copy| note.message.contains(copy))
}

fn doubled_file_costs_twice_or_is_refused(sample: &Sample) -> Result<(), Failed> {
    let mut twice = sample.bytes.clone();
    if text(sample).is_some() && !twice.ends_with(b"\n") {
        twice.push(b'\n');
    }
    twice.extend_from_slice(&sample.bytes);
    let Some(doubled) = run_of(sample.format, &twice, &Options::default())? else {
        return Ok(());
    };
    let once = run_of(sample.format, &sample.bytes, &Options::default())?;
    let once = once.ok_or("the sample is no profile")?;
    // The copy continues the last record of a truncated file.
    let is_truncated = |note: &NoteRow| note.message.contains("ends inside");
    if once.totals.notes.iter().any(is_truncated) {
        return Ok(());
    }
    let once = totals(&once);
    if doubled.totals.notes.iter().any(names_second_copy) {
        return Ok(());
    }
    for (once, twice) in once.iter().zip(totals(&doubled)) {
        let difference = (2.0 * once - twice).abs();
        ensure(difference <= 1e-9 * once.abs(), || {
            format!("{twice} is not twice {once}")
        })?;
    }
    Ok(())
}
