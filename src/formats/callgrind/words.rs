//! Words of callgrind's format: numbers, headers, and what an event measures.

use super::call_graph::CallCost;
use crate::events::{Noise, Unit};

/// The version that Xdebug wrote before it said who it is.
pub(super) const OLD_VERSION: &[u8] = b"0.9.6";

/// What only Xdebug calls files and functions: code of PHP itself, and the script.
const OF_PHP: [&[u8]; 3] = [b"fl=php:internal", b"fn=php::", b"fn={main}"];

/// Nothing, or a comment.
pub(super) fn is_blank(line: &[u8]) -> bool {
    line.starts_with(b"#") || line.trim_ascii().is_empty()
}

/// The word before a colon at the start of a line, and what comes after it.
pub(super) fn header(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = line.iter().position(|byte| !byte.is_ascii_alphabetic())?;
    let rest = line.get(colon..)?.strip_prefix(b":")?;
    Some((line.get(..colon)?, rest.trim_ascii()))
}

pub(super) fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| matches!(byte, b' ' | b'\t'))
        .filter(|word| !word.is_empty())
}

/// A whole number, decimal or hexadecimal.
pub(super) fn number(word: &[u8]) -> Option<u64> {
    let (digits, radix) = match word.strip_prefix(b"0x") {
        Some(digits) => (digits, 16),
        None => (word, 10),
    };
    // `from_str_radix` takes a sign; here, `+` and `-` are those of relative positions and costs.
    let plain = digits.first().is_some_and(u8::is_ascii_hexdigit);
    u64::from_str_radix(std::str::from_utf8(digits).ok()?, radix)
        .ok()
        .filter(|_| plain)
}

/// A cost: memory may shrink.
#[expect(
    clippy::cast_precision_loss,
    reason = "costs are REAL; the builder counts what is rounded"
)]
pub(super) fn cost(word: &[u8]) -> Option<f64> {
    match word.strip_prefix(b"-") {
        Some(digits) => number(digits).map(|number| -(number as f64)),
        None => number(word).map(|number| number as f64),
    }
}

pub(super) fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    head.split(|byte| *byte == b'\n')
}

/// Whether Xdebug wrote the file before it said so: by its version, the missing creator, and names
/// of PHP.
fn is_old_xdebug(head: &[u8]) -> bool {
    let says = |key: &[u8], of: fn(&[u8]) -> bool| {
        lines(head)
            .filter_map(header)
            .any(|(k, text)| k == key && of(text))
    };
    says(b"version", |text| text == OLD_VERSION)
        && !says(b"creator", |_| true)
        && lines(head).any(|line| OF_PHP.iter().any(|name| line.starts_with(name)))
}

/// Who wrote the file, where it matters.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Creator {
    Callgrind,
    Xdebug,
    /// Xdebug when it did not say so yet.
    OldXdebug,
    /// Xdebug up to 2.0.0RC3: memory, and times in tenths of microseconds.
    FirstXdebug,
    Nytprof,
    /// The program `pprof` of gperftools.
    Gperftools,
    /// That of Go.
    Pprof,
    Pprofile,
    Yappi,
    /// This program.
    Profdb,
    Other,
}

impl Creator {
    /// What the header `creator` says.
    pub(super) fn of(text: &[u8]) -> Self {
        match text {
            _ if text.starts_with(b"callgrind") => Self::Callgrind,
            _ if text.starts_with(b"xdebug") => Self::Xdebug,
            _ if text.starts_with(b"pprofile") => Self::Pprofile,
            _ if text.starts_with(b"yappi") => Self::Yappi,
            _ if text.starts_with(b"profdb") => Self::Profdb,
            _ => Self::Other,
        }
    }

    /// Who begins a file so and does not say who it is.
    pub(super) fn of_head(head: &[u8]) -> Self {
        let mut lines = head
            .split(|byte| *byte == b'\n')
            .map(<[u8]>::trim_ascii)
            .filter(|line| !line.is_empty());
        let (first, second) = (
            lines.next().unwrap_or_default(),
            lines.next().unwrap_or_default(),
        );
        // None of these says who it is, so that the shape of the first two lines has to
        // (docs/conformance.md, "callgrind: other writers").
        match first {
            b"events: Hits" if second.starts_with(b"fl=") => Self::Gperftools,
            b"events: Ticks" if second.starts_with(b"fl=") => Self::Nytprof,
            b"positions: instr line" if second.starts_with(b"events: ") => Self::Pprof,
            _ if is_old_xdebug(head) => Self::OldXdebug,
            _ => Self::Other,
        }
    }

    /// What the costs of its calls mean.
    pub(super) fn call_cost(self) -> CallCost {
        match self {
            Self::Nytprof => CallCost::Outermost,
            Self::Pprof | Self::Yappi => CallCost::OncePerPair,
            _ => CallCost::EveryLevel,
        }
    }

    /// Whether an event of its files is a quotient, which adds up to nothing.
    pub(super) fn is_quotient(self, event: &[u8]) -> bool {
        self == Self::Pprofile && event == b"usphit"
    }

    /// Whether what its calls cost in an event is no more than their number.
    fn counts_calls_alone(self, event: &[u8]) -> bool {
        self == Self::Pprofile && event == b"hits"
    }

    /// Whether the numbers of its calls are numbers of samples.
    pub(super) fn counts_samples_as_calls(self) -> bool {
        self == Self::Gperftools
    }

    /// Xdebug 2.0.0RC4 took memory out of its profiles, and wrote whole microseconds from then on.
    pub(super) fn of_events(self, events: &[u8]) -> Self {
        if self == Self::OldXdebug && words(events).eq([b"Time".as_slice(), b"Memory"]) {
            return Self::FirstXdebug;
        }
        self
    }
}

impl Creator {
    /// What figures of a unit owe to chance.
    pub(super) fn noise(self, unit: &Unit) -> Noise {
        match (self, unit) {
            // Callgrind's `sysTime` and `sysCpuTime` are measured, all else is simulated.
            (Self::Callgrind | Self::Xdebug | Self::OldXdebug | Self::FirstXdebug, unit) => {
                match unit {
                    Unit::Nanoseconds => Noise::Timed,
                    Unit::Bytes | Unit::Count => Noise::Exact,
                }
            }
            (Self::Nytprof | Self::Yappi, Unit::Nanoseconds) => Noise::Timed,
            (Self::Gperftools | Self::Pprof, _) => Noise::Sampled,
            // pprofile counts, or takes samples, and does not say which.
            _ => Noise::Unknown,
        }
    }

    /// Whether an event counts samples. `go tool pprof` writes allocations and contentions as well, whose numbers it has scaled up.
    pub(super) fn counts_samples(self, metric: &Metric) -> bool {
        metric.unit == Unit::Count
            && (self == Self::Gperftools || self == Self::Pprof && metric.name == "samples")
    }
}

/// What an event measures.
pub(super) struct Metric {
    pub(super) name: String,
    pub(super) unit: Unit,
    /// What a figure of the file is to be multiplied by.
    pub(super) scale: f64,
    /// What it says of a call is how often it was made, and no cost of what was called.
    pub(super) is_of_calls_alone: bool,
    /// What parts state as their totals, in the file's figures; `None` as soon as one does not.
    pub(super) stated: Option<f64>,
}

impl Metric {
    /// The name of the event, without the unit if it ends in one.
    pub(super) fn of_event(event: &str, creator: Creator) -> Self {
        const UNITS: [(&[&str], Unit, f64); 9] = [
            (&["ns", "nsec", "nanoseconds"], Unit::Nanoseconds, 1.0),
            (
                &["us", "µs", "μs", "usec", "microseconds"],
                Unit::Nanoseconds,
                1e3,
            ),
            (&["ms", "msec", "milliseconds"], Unit::Nanoseconds, 1e6),
            (&["s", "sec", "seconds"], Unit::Nanoseconds, 1e9),
            (&["bytes", "B"], Unit::Bytes, 1.0),
            (&["kB", "KB"], Unit::Bytes, 1024.0),
            (&["MB"], Unit::Bytes, 1024.0 * 1024.0),
            (&["GB"], Unit::Bytes, 1024.0 * 1024.0 * 1024.0),
            (&["count", "samples"], Unit::Count, 1.0),
        ];
        let stated = Some(0.0);
        let is_of_calls_alone = creator.counts_calls_alone(event.as_bytes());
        let of_xdebug = match (creator, event) {
            (Creator::Xdebug | Creator::OldXdebug, "Time") => Some((Unit::Nanoseconds, 1e3)),
            (Creator::FirstXdebug, "Time") => Some((Unit::Nanoseconds, 1e2)),
            (Creator::Xdebug | Creator::FirstXdebug, "Memory") => Some((Unit::Bytes, 1.0)),
            _ => None,
        };
        if let Some((unit, scale)) = of_xdebug {
            return Self {
                name: event.to_lowercase(),
                unit,
                scale,
                is_of_calls_alone,
                stated,
            };
        }
        let parts = event
            .strip_suffix(')')
            .and_then(|event| event.rsplit_once('('));
        if let Some((name, unit)) = parts {
            let name = name.trim_end_matches('_').to_lowercase();
            // `Time_(10ns)`: the unit may be a multiple of one.
            let digits = unit.len()
                - unit
                    .trim_start_matches(|digit: char| digit.is_ascii_digit())
                    .len();
            let (times, unit) = unit.split_at(digits);
            let times = if times.is_empty() {
                Some(1.0)
            } else {
                times.parse::<f64>().ok().filter(|times| *times > 0.0)
            };
            let known = UNITS
                .into_iter()
                .find(|(names, _, _)| names.contains(&unit));
            if let (false, Some(times), Some((_, unit, scale))) = (name.is_empty(), times, known) {
                return Self {
                    name,
                    unit,
                    scale: times * scale,
                    is_of_calls_alone,
                    stated,
                };
            }
        }
        Self {
            name: event.to_owned(),
            unit: Unit::Count,
            scale: 1.0,
            is_of_calls_alone,
            stated,
        }
    }
}
