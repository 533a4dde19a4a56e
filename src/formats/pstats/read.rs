//! Python's cProfile (`pstats` files)
//!
//! # What it is
//! The file that `cProfile` and `profile` save and `pstats` reads: a marshalled dictionary with calls and times of each function and
//! of each of its callers. Default metric: `time`.
//!
//! # How to record one
//! ```text
//! python3 -m cProfile -o run.pstats app.py
//! ```
//!
//! # What we read
//! - Pairs of caller and callee (fidelity `edges`); files without any call have totals only (`flat`).
//! - Calls and primitive calls. A call is primitive if no call of the same function is active. `ncalls` of `pstats` shows
//!   both, `6/1`.
//! - Exclusive time (`tottime`) and inclusive time with recursion counted once (`cumtime`) of functions, and of the part of
//!   each caller.
//! - Functions by name, file and line. Built-in functions (file `~`) have no file.
//! - Files of sampling profilers, which have -1 calls (pyinstrument): calls are unknown. These profilers count every level of a
//!   recursion, so the inclusive time of functions in a call cycle is unknown, too.
//! - Files of Python 2.7 and 3, merged ones (`Stats.add`), and those of `profile`, whose callers have a number of calls only. A
//!   program that `python -m profile` runs is the function `<module>` of the file `profile`.
//!
//! # What we leave out
//! - Primitive calls by caller.
//! - Text output of `pstats` and `cProfile`.
//!
//! # References
//! - "The Python Profilers", documentation of Python.
//! - Python's sources: `Lib/cProfile.py`, `Lib/pstats.py`, `Python/marshal.c`.

use super::marshal::{Object, Reader};
use crate::base::error::{ImportError, Position};
use crate::events::{
    Edge, EdgeCost, EdgeKind, Fidelity, Frame, FunctionDef, FunctionId, Info, MetricId, Noise,
    RunFact, Severity, Sink, Unit,
};
use crate::formats::common::counted::{Counted, many};
use crate::formats::common::repeated::Repeated;
use crate::formats::format::{Confidence, Format};
use crate::formats::options::{KEEP_BEFORE_ERROR_OPTION, Options};
use crate::formats::salvage::Salvage;
use crate::input::Input;

/// The format of the page above: how it is recognised and read.
pub(in crate::formats) const FORMAT: Format = Format {
    name: "pstats",
    summary: "Python's cProfile and profile (pstats files)",
    revision: 3,
    sniff,
    has_empty_recordings: true,
    // A null object ends the dictionary.
    salvage: Salvage::Records { tail: b"0" },
    options: &[KEEP_BEFORE_ERROR_OPTION],
    import,
};

/// A second, in nanoseconds.
const SECOND: f64 = 1e9;

/// There is no magic number: a dictionary whose first key is a tuple of three, and the first of
/// these a text.
fn sniff(head: &[u8]) -> Confidence {
    // Without the bit that says that a later object may refer to this one, which not every version
    // sets.
    let sort = |byte: &u8| byte & 0x7f;
    let Some((b'{', rest)) = head.split_first().map(|(first, rest)| (sort(first), rest)) else {
        return Confidence::No;
    };
    let key = match rest {
        [tuple, 3, key @ ..] if sort(tuple) == b')' => key,
        [tuple, 3, 0, 0, 0, key @ ..] if sort(tuple) == b'(' => key,
        _ => return Confidence::No,
    };
    let is_text = key
        .first()
        .is_some_and(|first| b"zZaAustR".contains(&sort(first)));
    if is_text {
        Confidence::Yes
    } else {
        Confidence::No
    }
}

fn import(
    input: &mut Input<'_>,
    _options: &Options,
    sink: &mut dyn Sink,
) -> Result<(), ImportError> {
    input.has_no_lines();
    let mut reader = Reader::new(input);
    reader.open_dictionary()?;
    let mut functions = Vec::new();
    let mut callers = Vec::new();
    let mut names = Repeated::default();
    let mut swapped = Counted::default();
    loop {
        reader.begin_record();
        let at = reader.position();
        sink.at(at);
        let Some(key) = reader.key()? else { break };
        let value_at = reader.position();
        let value = reader.value()?;
        let function = function(&key, at, &mut names, sink)?;
        let Object::Tuple(parts) = &value else {
            return Err(no_row(value_at, &value));
        };
        // `cc, nc, tt, ct, callers` in `Lib/pstats.py`: primitive calls come first.
        let [primitive, calls, own, all, Object::Dictionary(by)] = parts.as_ref() else {
            return Err(no_row(value_at, &value));
        };
        let (primitive, calls) = (count(primitive, value_at)?, count(calls, value_at)?);
        // yappi has the two the other way round, and a function never has more primitive calls than
        // calls (case `pstats/yappi`).
        if primitive > calls {
            swapped.add(value_at);
        }
        let row = Row {
            function,
            primitive: primitive.min(calls),
            calls: calls.max(primitive),
            own: seconds(own, value_at)?,
            all: seconds(all, value_at)?,
        };
        functions.push(row);
        // Calls wait until the end, because the sink must know the fidelity before the first edge:
        // `flat` if no function has a caller (case `pstats/flat`).
        for (caller, part) in by.iter() {
            callers.push(Call::of(
                (caller, part),
                function,
                value_at,
                &mut names,
                sink,
            )?);
        }
    }
    reader.end()?;
    emit(&functions, &callers, sink);
    swapped.note(sink, Severity::Info, |count| {
        let functions = many(count, "function");
        format!("{functions} with more primitive calls than calls, as in files of yappi: the two numbers were swapped")
    });
    Ok(())
}

/// What the file says of a function.
struct Row {
    function: FunctionId,
    primitive: Option<u64>,
    calls: Option<u64>,
    own: f64,
    all: f64,
}

/// What it says of one of the callers; `profile` knows no times.
struct Call {
    at: Position,
    caller: FunctionId,
    callee: FunctionId,
    calls: Option<u64>,
    costs: Option<(f64, f64)>,
}

impl Call {
    fn of(
        (caller, part): (&Object, &Object),
        callee: FunctionId,
        at: Position,
        names: &mut Repeated,
        sink: &mut dyn Sink,
    ) -> Result<Self, ImportError> {
        let caller = function(caller, at, names, sink)?;
        // `profile` has a bare number where cProfile has a tuple (case `pstats/profile-module`).
        let parts = if let Object::Tuple(parts) = part {
            parts.as_ref()
        } else {
            std::slice::from_ref(part)
        };
        let (calls, costs) = match parts {
            [calls] => (count(calls, at)?, None),
            // Functions have their calls in the other order.
            [calls, primitive, own, all] => {
                count(primitive, at)?;
                (
                    count(calls, at)?,
                    Some((seconds(own, at)?, seconds(all, at)?)),
                )
            }
            _ => {
                let expected = "calls, primitive calls, exclusive and cumulative time of a caller";
                return Err(ImportError::malformed(at, expected, part.describe()));
            }
        };
        Ok(Self {
            at,
            caller,
            callee,
            calls,
            costs,
        })
    }
}

/// File, line and name.
fn function(
    key: &Object,
    at: Position,
    names: &mut Repeated,
    sink: &mut dyn Sink,
) -> Result<FunctionId, ImportError> {
    let wrong = || ImportError::malformed(at, "file, line and name of a function", key.describe());
    let Object::Tuple(parts) = key else {
        return Err(wrong());
    };
    let [
        Object::Text(file),
        Object::Integer(line),
        Object::Text(name),
    ] = parts.as_ref()
    else {
        return Err(wrong());
    };
    let first_line = u32::try_from(*line)
        .map_err(|_| ImportError::malformed(at, "a line number", line.to_string()))?;
    // Before the sink sees them: a reference of five bytes can name a long text again and again.
    names.add(&[file, name], at)?;
    // cProfile writes `~` where it knows no file: functions that are built in.
    let file = if **file == *"~" { "" } else { file };
    Ok(sink.function(FunctionDef {
        file,
        first_line,
        ..FunctionDef::named(name)
    }))
}

fn no_row(at: Position, found: &Object) -> ImportError {
    ImportError::malformed(
        at,
        "calls, times and callers of a function",
        found.describe(),
    )
}

/// A number of calls, of which -1 is unknown.
fn count(object: &Object, at: Position) -> Result<Option<u64>, ImportError> {
    let number = match object {
        Object::Integer(-1) => return Ok(None),
        Object::Integer(number) => u64::try_from(*number).ok(),
        _ => None,
    };
    number
        .map(Some)
        .ok_or_else(|| ImportError::malformed(at, "a number of calls", object.describe()))
}

/// Seconds, as nanoseconds.
#[expect(
    clippy::cast_precision_loss,
    reason = "whole numbers of seconds are small"
)]
fn seconds(object: &Object, at: Position) -> Result<f64, ImportError> {
    let seconds = match object {
        Object::Real(seconds) => *seconds,
        Object::Integer(seconds) => *seconds as f64,
        // Not finite, and so refused below like `inf` and `nan` that the file itself may have (case
        // `pstats/time-not-finite`).
        _ => f64::NAN,
    };
    let nanoseconds = SECOND * seconds;
    if nanoseconds.is_finite() {
        return Ok(nanoseconds);
    }
    Err(ImportError::malformed(
        at,
        "a time in seconds",
        object.describe(),
    ))
}

fn emit(functions: &[Row], calls: &[Call], sink: &mut dyn Sink) {
    let fidelity = if calls.is_empty() {
        Fidelity::Flat
    } else {
        Fidelity::Edges
    };
    sink.run(RunFact::Fidelity(fidelity));
    let metric: MetricId = sink.metric("time", Unit::Nanoseconds, Noise::Timed);
    let mut no_times = Counted::default();
    for Call {
        at,
        caller,
        callee,
        calls,
        costs,
    } in calls
    {
        if costs.is_none() {
            no_times.add(*at);
        }
        // Of a pair of functions, the file counts the outermost call, as it does of functions.
        // Whether a call of the callee is around it cannot be told where functions call each other
        // in a circle.
        let (exclusive, all) = costs.unzip();
        let (cumulative, seen) = once_or_seen(*calls, all);
        let cost = EdgeCost {
            metric,
            exclusive,
            cumulative,
            outermost: None,
            seen,
        };
        let caller = Some(Frame::function(*caller));
        sink.edge(Edge {
            callee: *callee,
            caller,
            kind: EdgeKind::Call,
            calls: *calls,
            costs: &[cost],
        });
    }
    for Row {
        function,
        primitive,
        calls,
        own,
        all,
    } in functions
    {
        let (cumulative, seen) = once_or_seen(*calls, Some(*all));
        sink.info(Info {
            frame: Frame::function(*function),
            metric,
            calls: *calls,
            primitive: *primitive,
            exclusive: Some(*own),
            cumulative,
            seen,
        });
    }
    no_times.note(sink, Severity::Info, |count| {
        format!(
            "{} without times, as `profile` writes them: the costs of their calls are unknown",
            many(count, "caller")
        )
    });
}

/// Time with what was called: recursion counted once, or every level of it. Who counts calls knows
/// which are outermost.
fn once_or_seen(calls: Option<u64>, all: Option<f64>) -> (Option<f64>, Option<f64>) {
    if calls.is_some() {
        (all, None)
    } else {
        (None, all)
    }
}
