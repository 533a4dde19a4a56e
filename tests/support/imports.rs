//! Imports of small profiles into memory, and exports of them.

use std::io::Cursor;

use profdb::base::error::{ImportError, Stop};
use profdb::events::recorder::Recorder;
use profdb::formats::export::{Losses, Request};
use profdb::formats::{Options, export_named, format_named};
use profdb::input::{Input, Limits};
use profdb::pipeline::{import, meta};
use profdb::store::{Database, RunInfo};

/// Opens bytes as the input of an importer.
pub(crate) fn open(bytes: &[u8]) -> Input<'_> {
    Input::new(Box::new(bytes), Limits::default(), Stop::default()).expect("a readable head")
}

/// Returns the events that an importer emits, and how the import ends.
pub(crate) fn read_events(format: &str, bytes: &[u8]) -> (Vec<String>, Result<(), ImportError>) {
    let format = format_named(format).expect("a format");
    let mut events = Vec::new();
    let mut recorder = Recorder::new(|_, event| events.push(event));
    let result = format.read(&mut open(bytes), &Options::default(), &mut recorder);
    (events, result)
}

/// Returns the events of a complete import that begin with a word, without that word.
pub(crate) fn read_events_of(kind: &str, format: &str, bytes: &[u8]) -> Vec<String> {
    let (events, result) = read_events(format, bytes);
    if let Err(error) = result {
        panic!("{error}: {}", bytes.escape_ascii());
    }
    let mut of_kind = events;
    of_kind.retain_mut(|event| {
        let rest = event
            .strip_prefix(kind)
            .and_then(|rest| rest.strip_prefix(' '));
        rest.map(str::to_owned).map(|rest| *event = rest).is_some()
    });
    of_kind
}

/// Imports a profile into a new database in memory.
pub(crate) fn import_profile(format: &str, bytes: &[u8]) -> (Database, RunInfo) {
    let format = format_named(format).expect("a format");
    let options = Options::default();
    let input = Input::new(
        Box::new(Cursor::new(bytes.to_vec())),
        Limits::default(),
        Stop::default(),
    );
    let imported = import(
        input.expect("a readable head"),
        format,
        &options,
        &Stop::default(),
        |fingerprint| meta(format, &options, "profile", fingerprint),
        Database::in_memory,
    );
    let database = imported.expect("a readable profile").database;
    let run = database.run(None).expect("a database").expect("a run");
    (database, run)
}

/// Exports a run; returns the file and the losses.
pub(crate) fn export_run(
    format: &str,
    database: &Database,
    run: &RunInfo,
    request: &Request,
) -> (Vec<u8>, Losses) {
    let export = export_named(format).expect("a format that is written");
    let mut file = Vec::new();
    let losses = export.write(database, run, request, &mut file);
    (file, losses.expect("a run that the format can hold"))
}
