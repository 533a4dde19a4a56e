//! What a terminal shows while the database is at work for longer than half a second.

use std::borrow::Cow;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::heard;
use crate::store::Database;

/// Work that is shorter than this shows nothing.
pub(super) const QUIET: Duration = Duration::from_millis(500);

/// A line on standard error, if that is a terminal. Dropped, it goes away.
pub(super) struct Progress(ProgressBar);

impl Progress {
    /// Shows nothing yet.
    pub(super) fn new(what: &'static str) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
            bar.set_style(style);
        }
        bar.set_message(what);
        Self(bar)
    }

    /// Shows how far walks through the nodes of a run are, from now on.
    pub(super) fn of_walks(source: &mut Database) -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{bar:40} {human_pos}/{human_len} nodes") {
            bar.set_style(style);
        }
        let shown = bar.clone();
        source.watch_walks(move |done, all| {
            shown.set_length(all);
            shown.set_position(done);
            if shown.is_hidden() && shown.elapsed() > QUIET && !heard::is_listening() {
                shown.set_draw_target(ProgressDrawTarget::stderr());
            }
        });
        Self(bar)
    }

    /// What is to be called from time to time while the work goes on.
    pub(super) fn tick(&self) -> impl Fn() + Send + Sync + use<> {
        let bar = self.0.clone();
        move || show(&bar)
    }

    /// Says what is being done now.
    pub(super) fn says(&self, what: impl Into<Cow<'static, str>>) {
        self.0.set_message(what);
        show(&self.0);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

fn show(bar: &ProgressBar) {
    if bar.is_hidden() && bar.elapsed() > QUIET && !heard::is_listening() {
        bar.set_draw_target(ProgressDrawTarget::stderr());
    }
    bar.tick();
}
