//! How far a long walk through a run is, on a terminal.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::store::Database;

/// How long something takes before its progress is shown.
pub(super) const PATIENCE: Duration = Duration::from_millis(500);

/// A bar on standard error, if that is a terminal, which goes away with this.
pub(super) struct Progress(ProgressBar);

impl Progress {
    /// Shows how far walks through the nodes of a run are, from now on.
    pub(super) fn of_walks(source: &mut Database) -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{bar:40} {human_pos}/{human_len} nodes") {
            bar.set_style(style);
        }
        #[expect(clippy::disallowed_methods, reason = "a progress bar is about time")]
        let started = Instant::now();
        let shown = bar.clone();
        source.watch(move |done, all| {
            shown.set_length(all);
            shown.set_position(done);
            if shown.is_hidden() && started.elapsed() > PATIENCE {
                shown.set_draw_target(ProgressDrawTarget::stderr());
            }
        });
        Self(bar)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
