//! `profdb show [RUN]`

use std::io::{self, Write};

use clap::Args;

use super::screen::screen;
use super::source::{find_run, open_to_read};
use super::{DatabaseArgs, Failure, database, output};
use crate::base::error::Stop;
use crate::report::render;
use crate::store::{Database, RunInfo, RunState};

#[derive(Debug, Args)]
pub(super) struct Show {
    /// Number, title or tag of the run [default: the latest]
    #[arg(value_name = "RUN")]
    run: Option<String>,
    #[command(flatten)]
    database: DatabaseArgs,
}

pub(super) fn run(show: &Show, stop: &Stop) -> Result<(), Failure> {
    let source = open_to_read(&show.database, stop)?;
    let run = find_run(&source, show.run.as_deref(), stop)?;
    tell(&source, &run, stop)
}

/// Writes all that is known of a run.
pub(super) fn tell(source: &Database, run: &RunInfo, stop: &Stop) -> Result<(), Failure> {
    let state = source
        .state(run.run_id)
        .map_err(|error| database(error, stop))?;
    let mut out = screen();
    write(&state, &mut out)
        .and_then(|()| out.flush())
        .map_err(output)
}

fn write(state: &RunState, out: &mut dyn Write) -> io::Result<()> {
    for (name, value) in &state.columns {
        if let Some(value) = value {
            writeln!(out, "{name}: {}", render::plain(value))?;
        }
    }
    for metric in &state.metrics {
        writeln!(
            out,
            "metric {}: total {}",
            render::plain(&metric.name),
            render::total(metric)
        )?;
    }
    for (kind, pairs) in [("tag", &state.tags), ("property", &state.properties)] {
        for (key, value) in pairs {
            writeln!(
                out,
                "{kind} {}: {}",
                render::plain(key),
                render::plain(value)
            )?;
        }
    }
    for note in &state.notes {
        writeln!(
            out,
            "{}: {}",
            note.severity,
            render::plain(&note.to_string())
        )?;
    }
    Ok(())
}
