//! Names of speedscope's profiles, which may say what was measured.

use hashbrown::HashMap;

use crate::base::error::{Position, quote};
use crate::events::{Severity, Sink};
use crate::formats::common::counted::{Counted, many};

/// What profiles are called that Austin's converter makes, one for each metric of each thread, and
/// the metric.
const OF_AUSTIN: [(&str, &str); 4] = [
    ("CPU time profile for ", "cpu_time"),
    ("Wall time profile for ", "time"),
    ("Memory allocation profile for ", "alloc"),
    ("Memory deallocation profile for ", "freed"),
];

/// Words that say in names of profiles what was measured.
const MEASURES: [&str; 14] = [
    "alloc",
    "allocated",
    "allocation",
    "allocations",
    "cpu",
    "deallocation",
    "freed",
    "heap",
    "inuse",
    "real",
    "system",
    "user",
    "wall",
    "wallclock",
];

/// Metric and thread of a profile that Austin's converter made.
pub(super) fn of_austin(title: &str) -> Option<(&'static str, &str)> {
    OF_AUSTIN
        .iter()
        .find_map(|(start, metric)| Some((*metric, title.strip_prefix(start)?)))
}

/// Finds profiles that by their names measure one thing in several ways.
#[derive(Default)]
pub(super) struct Measured {
    /// By metric and what is left of the name without words for what was measured: the first name,
    /// and whether it has some.
    first: HashMap<(usize, String), (String, bool)>,
    twice: Counted,
}

impl Measured {
    /// Looks at the name of a profile of a metric.
    pub(super) fn add(&mut self, metric: usize, title: &str, at: Position) {
        let words = title
            .split(|character: char| !character.is_alphanumeric())
            .filter(|word| !word.is_empty());
        let is_measure = |word: &&str| {
            MEASURES
                .iter()
                .any(|measure| word.eq_ignore_ascii_case(measure))
        };
        let rest: Vec<&str> = words.clone().filter(|word| !is_measure(word)).collect();
        let says_how = rest.len() < words.count();
        let entry = self.first.entry((metric, rest.join(" ")));
        let (first, first_says_how) = entry.or_insert_with(|| (title.to_owned(), says_how));
        // Threads may have one name: only names that differ in such a word tell of two
        // measurements.
        if first != title && (says_how || *first_says_how) {
            self.twice.add_with(at, || {
                format!(
                    "{} and {}",
                    quote(first.as_bytes()),
                    quote(title.as_bytes())
                )
            });
        }
    }

    /// Says how many there were.
    pub(super) fn remark(&self, sink: &mut dyn Sink) {
        self.twice.note_with(sink, Severity::Warning, |count, first| {
            let profiles = many(count, "profile");
            format!(
                "{profiles} added to others, although the names suggest different measurements (first: {first}); if \
                 they are, import them from separate files"
            )
        });
    }
}
