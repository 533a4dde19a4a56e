//! What fuzzers have found worth keeping: `fuzz/corpus/TARGET.hex.gz`, an input a line.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

/// Where the inputs of a target are kept.
pub(crate) fn place(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("fuzz/corpus/{target}.hex.gz"))
}

/// The kept inputs of a target.
pub(crate) fn kept(target: &str) -> Vec<Vec<u8>> {
    let file = File::open(place(target)).expect("the inputs of a target are kept");
    let byte = |pair: &[u8]| {
        let text = str::from_utf8(pair).expect("hexadecimal");
        u8::from_str_radix(text, 16).expect("hexadecimal")
    };
    let lines = BufReader::new(flate2::read::GzDecoder::new(file)).lines();
    lines.map(|line| line.expect("text").as_bytes().chunks(2).map(byte).collect()).collect()
}
