//! The inputs of all cases and samples, one trial for each property of each input.

#![expect(clippy::disallowed_methods, reason = "reads the files of cases")]

use std::fs;
use std::path::Path;

use libtest_mimic::{Failed, Trial};
use profdb::base::error::{ImportError, Stop};
use profdb::events::recorder::Recorder;
use profdb::formats::{self, FORMATS, Format, Options};
use profdb::input::{Input, Limits};

use super::case_files::{files, of_group};
use super::harness;

/// Checks a property of an input.
pub(crate) type Property = fn(&Sample) -> Result<(), Failed>;

/// An input of a case, or a sample.
#[derive(Clone)]
pub(crate) struct Sample {
    /// The format of its case. A sample has the format that is detected.
    pub(crate) format: &'static Format,
    pub(crate) bytes: Vec<u8>,
}

impl Sample {
    /// Returns whether it is imported without an error, as a file of its format.
    pub(crate) fn is_profile(&self) -> bool {
        matches!(recognised(&self.bytes), Ok(format) if format.name == self.format.name)
            && outcome(&self.bytes).1.is_none()
    }
}

/// Returns the inputs of all cases of formats, with their names.
pub(crate) fn case_inputs() -> Vec<(String, Sample)> {
    let mut inputs = Vec::new();
    for format in FORMATS {
        for case in of_group(format.name) {
            let files = case.inputs();
            let several = files.len() > 1;
            inputs.extend(files.into_iter().map(|(input, bytes)| {
                let name = if several {
                    format!("{}/{input}", case.name())
                } else {
                    case.name()
                };
                (name, Sample { format, bytes })
            }));
        }
    }
    assert!(!inputs.is_empty(), "no case has an input");
    inputs
}

/// Returns the samples that a format recognizes, with their names.
pub(crate) fn samples() -> Vec<(String, Sample)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples");
    let mut samples = Vec::new();
    for file in files(&root) {
        let bytes = fs::read(&file).expect("a sample is readable");
        if let Ok(format) = recognised(&bytes) {
            let name = file.strip_prefix(&root).unwrap_or(&file).display();
            samples.push((format!("samples/{name}"), Sample { format, bytes }));
        }
    }
    // Without this, a missing folder would pass.
    assert!(samples.len() >= 50, "{} samples", samples.len());
    samples
}

/// Returns a trial for a property of an input.
pub(crate) fn trial(name: &str, sample: &Sample, (property, check): (&str, Property)) -> Trial {
    let sample = sample.clone();
    harness::trial(format!("{name}::{property}"), move || check(&sample))
}

/// Fails with a message unless a condition holds.
pub(crate) fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), Failed> {
    if holds {
        Ok(())
    } else {
        Err(otherwise().into())
    }
}

/// Compares two lists and shows where they part.
pub(crate) fn equal<T: PartialEq + std::fmt::Debug>(
    what: &str,
    left: &[T],
    right: &[T],
) -> Result<(), Failed> {
    let parted = (0..left.len().max(right.len())).find(|&at| left.get(at) != right.get(at));
    match parted {
        None => Ok(()),
        Some(at) => Err(format!(
            "{what}: item {at}: {:?} against {:?}",
            left.get(at),
            right.get(at)
        )
        .into()),
    }
}

pub(crate) fn open(bytes: &[u8]) -> Result<Input<'_>, ImportError> {
    Input::new(Box::new(bytes), Limits::default(), Stop::default())
}

pub(crate) fn recognised(bytes: &[u8]) -> Result<&'static Format, ImportError> {
    formats::detect(open(bytes)?.head())
}

/// Every event, and the error that ended it, of an input that is recognised by its first bytes.
pub(crate) fn outcome(bytes: &[u8]) -> (Vec<String>, Option<String>) {
    outcome_of(open(bytes))
}

pub(crate) fn outcome_of(input: Result<Input<'_>, ImportError>) -> (Vec<String>, Option<String>) {
    let mut events = Vec::new();
    let mut recorder = Recorder::new(|_, event| events.push(event));
    let read = input.and_then(|mut input| {
        formats::detect(input.head())?.read(&mut input, &Options::default(), &mut recorder)
    });
    (events, read.err().map(|error| error.to_string()))
}
