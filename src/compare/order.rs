//! Which runs are of one series, those of one program under one set of circumstances, and what their order is by.
//!
//! Runs with equal values of the keys of a series are of one ([`KEYS`] unless others are asked for). The order is by the first of
//! these that every run of the series has:
//!
//! | order | of a run |
//! | --- | --- |
//! | `commit_count` | its tag of this name, a whole number: how many commits led to its commit |
//! | `commit_time` | its tag of this name, a date and time, or seconds since 1970 |
//! | `recorded_at` | when it was recorded, as the file says it, in UTC (`runs.recorded_utc`) |
//! | `imported_at` | when it was imported |
//! | `run_id` | its number |

use crate::store::RunMarks;
use crate::text::dates::{moment, nanoseconds};

/// Keys whose values the runs of a series have in common: the title or else the command, the format, and tags.
pub const KEYS: [&str; 4] = ["title", "format", "host", "branch"];

/// What the order of a series is by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// How many commits led to the commit of a run.
    CommitCount,
    /// When the commit of a run was made.
    CommitTime,
    /// When a run was recorded.
    RecordedAt,
    /// When a run was imported.
    ImportedAt,
    /// Which number a run has.
    RunId,
}

impl Order {
    const ALL: [Self; 5] = [
        Self::CommitCount,
        Self::CommitTime,
        Self::RecordedAt,
        Self::ImportedAt,
        Self::RunId,
    ];

    /// The first order in which every run has its place.
    #[must_use]
    pub fn common(runs: &[RunMarks]) -> Self {
        let known = |order: &Self| runs.iter().all(|run| order.of(run).is_some());
        let mut orders = Self::ALL.into_iter();
        orders.find(known).unwrap_or(Self::RunId)
    }

    /// Its name, which is that of a tag or of a column of `runs`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::CommitCount => "commit_count",
            Self::CommitTime => "commit_time",
            Self::RecordedAt => "recorded_at",
            Self::ImportedAt => "imported_at",
            Self::RunId => "run_id",
        }
    }

    /// Where a run comes in this order; `None` if that is unknown.
    pub(crate) fn of(self, run: &RunMarks) -> Option<i64> {
        match self {
            Self::CommitCount => whole_number(run.tag(self.name())?),
            Self::CommitTime => {
                let text = run.tag(self.name())?;
                let seconds = whole_number(text).and_then(|count| count.checked_mul(1_000_000_000));
                seconds.or_else(|| moment(text))
            }
            Self::RecordedAt => nanoseconds(run.recorded_utc.as_deref()?),
            Self::ImportedAt => nanoseconds(&run.imported_at),
            Self::RunId => Some(run.run_id),
        }
    }
}

fn whole_number(text: &str) -> Option<i64> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

/// Keys of which something is known without tags.
pub const UNTAGGED: [&str; 4] = ["title", "command", "format", "tool_version"];

/// What a run has of a key: a tag of this name, else what is known of it under this name ([`UNTAGGED`]); empty if nothing is.
pub(crate) fn value<'r>(run: &'r RunMarks, key: &str) -> &'r str {
    let known = || match key {
        "title" => run.title.as_deref().or(run.command.as_deref()),
        "command" => run.command.as_deref(),
        "format" => Some(run.format.as_str()),
        "tool_version" => run.tool_version.as_deref(),
        _ => None,
    };
    run.tag(key).or_else(known).unwrap_or_default()
}

/// Runs of the series of a run, the latest first; with a second run of the series only those before the later of the two. The two
/// themselves are none of them.
pub(super) fn before(runs: Vec<RunMarks>, run_id: i64, second: Option<i64>) -> Vec<RunMarks> {
    let Some(of) = runs.iter().find(|run| run.run_id == run_id).cloned() else {
        return Vec::new();
    };
    let is_like = |run: &RunMarks| KEYS.iter().all(|key| value(run, key) == value(&of, key));
    let runs: Vec<RunMarks> = runs.into_iter().filter(is_like).collect();
    let order = Order::common(&runs);
    let place = |run: &RunMarks| (order.of(run), run.run_id);
    let is_asked = |run: &&RunMarks| run.run_id == run_id || Some(run.run_id) == second;
    let end = runs.iter().filter(is_asked).map(place).max();
    let is_before = |run: &RunMarks| second.is_none() || Some(place(run)) < end;
    let mut earlier: Vec<RunMarks> = runs
        .into_iter()
        .filter(|run| !is_asked(&run) && is_before(run))
        .collect();
    earlier.sort_by_cached_key(|run| std::cmp::Reverse(place(run)));
    earlier
}

/// A text that is the same for runs of one commit, or of one day where commits are unknown.
pub(super) fn session(run: &RunMarks) -> String {
    let tag = |key: &str| run.tag(key).filter(|value| !value.is_empty());
    let day = || run.recorded_utc.as_deref().unwrap_or(&run.imported_at);
    match (tag(Order::CommitCount.name()), tag("commit")) {
        (Some(count), _) => format!("commit_count={count}"),
        (None, Some(commit)) => format!("commit={commit}"),
        (None, None) => day().chars().take("2026-01-01".len()).collect(),
    }
}
