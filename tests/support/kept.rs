//! What fuzzers have found worth keeping: `fuzz/corpus/TARGET.gz`, an input a line.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use super::fuzzing::Target;

/// Where the inputs of a target are kept.
pub(crate) fn place(target: &Target) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("fuzz/corpus/{}.gz", target.name))
}

/// The kept inputs of a target.
pub(crate) fn kept(target: &Target) -> Vec<Vec<u8>> {
    let file = File::open(place(target)).expect("the inputs of a target are kept");
    let lines = BufReader::new(flate2::read::GzDecoder::new(file)).lines();
    lines
        .filter_map(|line| target.input(&line.expect("text")))
        .collect()
}
