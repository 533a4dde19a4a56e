//! Law: for every run and every writer whose format profdb reads, what is written and then imported
//! by detection equals the run in total, unit and every function's calls, exclusive and cumulative
//! cost, except for what the loss report names; and the loss report names nothing that is not lost.

mod comparison;
mod losses;
mod picture;
mod random_runs;

use std::collections::BTreeMap;

use libtest_mimic::Failed;
use profdb::base::error::Stop;
use profdb::formats;
use profdb::formats::export::{Export, ExportError, Request};
use profdb::formats::{EXPORTS, Options};
use profdb::pipeline::{import, meta};
use profdb::report::ReportError;
use profdb::store::{Database, RunInfo};

use self::comparison::Trip;
use self::picture::Picture;
use super::{Sample, export, open, saved};

pub(super) use self::random_runs::{PARTS, random_runs, random_runs_without_pages};

pub(super) fn comes_back_from_every_format(sample: &Sample) -> Result<(), Failed> {
    let faults = faults_of(&saved(sample, 1)?, None)?;
    if faults.is_empty() {
        Ok(())
    } else {
        Err(faults.join("\n").into())
    }
}

/// Everything that is wrong about the files of a run, in one format or in all of them.
fn faults_of(database: &Database, format: Option<&str>) -> Result<Vec<String>, Failed> {
    let Some(run) = database.run(None)? else {
        return Err("there is no run".into());
    };
    let before = Picture::of(database)?;
    let mut faults = Vec::new();
    for export in EXPORTS
        .iter()
        .filter(|export| formats::format_named(export.name).is_some())
        .filter(|export| format.is_none_or(|format| export.name == format))
    {
        faults.extend(faults_of_format(export, database, &run, &before)?);
    }
    Ok(faults)
}

fn faults_of_format(
    export: &'static Export,
    database: &Database,
    run: &RunInfo,
    before: &Picture,
) -> Result<Vec<String>, Failed> {
    let mut faults = Vec::new();
    let own_format: String =
        database
            .connection()
            .query_row("SELECT format FROM runs", [], |row| row.get(0))?;
    // Files that have been looked at, with what was said of them.
    let mut known: BTreeMap<Vec<u8>, BTreeMap<&'static str, u64>> = BTreeMap::new();
    let layouts: Vec<Option<&str>> = std::iter::once(None)
        .chain(export.layouts.iter().map(|layout| Some(layout.name)))
        .collect();
    let metrics = std::iter::once(None).chain(
        before
            .metrics
            .iter()
            .map(|metric| Some(metric.name.as_str())),
    );
    for asked in metrics {
        for layout in &layouts {
            let request = Request {
                metric: asked.map(str::to_owned),
                layout: layout.map(str::to_owned),
                max_size: Some(MOST_BYTES),
                ..Request::default()
            };
            let mut bytes = Vec::new();
            let losses = match export.write(database, run, &request, &mut bytes) {
                Ok(losses) => losses,
                // What a run does not have, or what takes too long, is no fault of the writer.
                Err(
                    ExportError::Report(ReportError::NothingSelected(_)) | ExportError::TooLarge(_),
                ) => continue,
                Err(error) => return Err(error.into()),
            };
            let lost: BTreeMap<_, _> = losses
                .each()
                .map(|(loss, count)| (loss.name, count))
                .collect();
            // Formats that hold all metrics write one file whichever is asked for: to look at it
            // once is enough.
            if known.get(&bytes) == Some(&lost) {
                continue;
            }
            known.insert(bytes.clone(), lost.clone());
            // Without a place, there is no line; without a sample, there is no block.
            let is_blank = before.nodes.is_empty() || export.name == "business_rules";
            if bytes.is_empty() && is_blank && ["folded", "business_rules"].contains(&export.name) {
                continue;
            }
            let place = format!(
                "{} {} {}",
                export.name,
                layout.unwrap_or("-"),
                asked.unwrap_or("-")
            );
            let (after, same) = match read_again(export, &bytes) {
                // What a format reads and loses nothing of is the same to the last column.
                Ok(again) if lost.is_empty() && own_format == export.name => {
                    (Picture::of(&again)?, export::is_the_same(database, &again))
                }
                Ok(again) => (Picture::of(&again)?, Ok(())),
                Err(fault) => {
                    faults.push(format!("{place}: read: {}", fault.message().unwrap_or("?")));
                    continue;
                }
            };
            if let Err(fault) = same {
                faults.push(format!(
                    "{place}: tables: {}",
                    fault.message().unwrap_or("?")
                ));
            }
            let (apart, twins) = match export.name {
                "sampler" => before.with_threads_apart(),
                _ => (before.clone(), 0),
            };
            let mut trip = Trip {
                format: export.name,
                losses: export.losses.iter().map(|loss| loss.name).collect(),
                before: &apart,
                twins,
                after,
                lost,
                asked,
                metrics: Vec::new(),
                became: Vec::new(),
                seen: BTreeMap::new(),
                perhaps: BTreeMap::new(),
                is_raw: false,
                dropped: Vec::new(),
                gone: 0,
                left_out: 0,
                faults: Vec::new(),
            };
            trip.compare();
            trip.judge();
            faults.extend(
                trip.faults
                    .iter()
                    .map(|fault| format!("{place}: {fault} (told: {:?})", trip.lost)),
            );
        }
    }
    Ok(faults)
}

/// Files above this size are not worth their time.
const MOST_BYTES: u64 = 2_000_000;

/// What detection makes of a file, which must be the format that it was written in.
fn read_again(export: &Export, bytes: &[u8]) -> Result<Database, Failed> {
    let input = open(bytes)?;
    let format = formats::detect(input.head())?;
    if format.name != export.name {
        return Err(format!("it is taken for {}", format.name).into());
    }
    let options = Options::default();
    let describe = |fingerprint| meta(format, &options, "input", fingerprint);
    Ok(import(
        input,
        format,
        &options,
        &Stop::default(),
        describe,
        Database::in_memory,
    )?
    .database)
}
