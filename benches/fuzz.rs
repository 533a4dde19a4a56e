//! Reads mutated inputs, blind to coverage, so that a stable toolchain is enough. The targets and
//! what must hold are those of tests/support/fuzzing.rs.
//!
//! ```text
//! cargo bench --bench fuzz -- [TARGET [COUNT [SEED]]]
//! cargo bench --bench fuzz -- seeds FOLDER
//! cargo bench --bench fuzz -- keep FOLDER
//! ```
//!
//! It starts from the inputs of all cases. What breaks a rule is written to a file
//! `fuzz-TARGET-SEED-NUMBER.bin`, and the program ends with 1. Equal arguments read equal inputs.
//! With `seeds`, the inputs to start from and those that are kept are written to a folder per
//! target, for the fuzzer in fuzz/. With `keep`, what such folders have becomes what is kept, but
//! for long inputs.

#![expect(
    unsafe_code,
    reason = "an allocator that counts can be written in no other way"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "it reads small files of our own, and measures time"
)]
#![expect(clippy::print_stderr, reason = "a program that reports on itself")]

#[path = "../tests/support/allocation.rs"]
#[expect(dead_code, reason = "tests also look at all that is allocated")]
mod allocation;
#[path = "../tests/support/built.rs"]
mod built;
#[path = "../tests/support/case_files.rs"]
#[expect(dead_code, reason = "tests also run the commands of cases")]
mod case_files;
#[path = "../tests/support/fuzzing.rs"]
mod fuzzing;
#[path = "../tests/support/kept.rs"]
mod kept;
#[path = "../tests/support/mutate.rs"]
mod mutate;
#[path = "../tests/support/random.rs"]
mod random;

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use case_files::{files, of_group};
use flate2::{Compression, GzBuilder};
use fuzzing::{TARGETS, Target};
use mutate::mutate;
use profdb::formats::FORMATS;
use random::Random;

/// Inputs read when nobody says how many: a smoke test.
const FEW: u64 = 20_000;

/// Bytes of the longest input that is kept: the repository stays small.
const LONGEST_KEPT: usize = 160;

/// Inputs to start from.
fn seeds(target: &Target) -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for &format in FORMATS {
        for case in of_group(format.name) {
            let read = case.inputs().into_iter().map(|(_, bytes)| bytes);
            // Small inputs are read a hundred times while a large one is read once, and find as
            // much.
            let small = read.filter(|bytes| bytes.len() <= 4096);
            seeds.extend(small.filter_map(|bytes| (target.seed)(format, &bytes)));
        }
    }
    seeds
}

fn write_seeds(folder: &Path) -> io::Result<()> {
    for target in TARGETS {
        let folder = folder.join(target.name);
        fs::create_dir_all(&folder)?;
        for (number, seed) in seeds(target).iter().chain(&kept::kept(target)).enumerate() {
            fs::write(folder.join(format!("seed-{number}")), seed)?;
        }
    }
    Ok(())
}

fn keep(folder: &Path) -> io::Result<()> {
    for target in TARGETS {
        let read: io::Result<Vec<Vec<u8>>> = files(&folder.join(target.name))
            .into_iter()
            .map(fs::read)
            .collect();
        let mut inputs = read?;
        inputs.retain(|input| input.len() <= LONGEST_KEPT);
        inputs.sort_unstable();
        inputs.dedup();
        let mut lines: Vec<String> = inputs
            .iter()
            .filter_map(|input| target.line(input))
            .collect();
        lines.sort_unstable();
        // Without a time, equal inputs make an equal file.
        let file = File::create(kept::place(target))?;
        let mut out = GzBuilder::new().write(file, Compression::best());
        for line in lines {
            writeln!(out, "{line}")?;
        }
        out.finish()?;
    }
    Ok(())
}

/// Reads as many inputs as are wanted; says whether no rule was broken.
fn fuzz(target: &Target, wanted: u64, seed: u64) -> bool {
    let seeds = seeds(target);
    let (done, broken) = (AtomicU64::new(0), AtomicBool::new(false));
    let workers = thread::available_parallelism().map_or(1, NonZero::get);
    let started = Instant::now();
    thread::scope(|scope| {
        for worker in 0..workers {
            let (seeds, done, broken) = (&seeds, &done, &broken);
            scope.spawn(move || {
                for number in (worker as u64..wanted).step_by(workers) {
                    let mut random = Random(
                        seed.wrapping_mul(0x5851_f42d_4c95_7f2d)
                            ^ number.wrapping_mul(0x0010_0000_01b3),
                    );
                    let start = random.below(seeds.len());
                    let bytes = mutate(seeds, &seeds[start], &mut random);
                    let read = catch_unwind(AssertUnwindSafe(|| target.check_in_time(&bytes)));
                    if let Err(rule) = read.unwrap_or_else(|_| Err("panic".to_owned())) {
                        broken.store(true, Ordering::Relaxed);
                        let name = format!("fuzz-{}-{seed}-{number}.bin", target.name);
                        let written = fs::write(&name, &bytes);
                        eprintln!("{name}: {rule} (written: {})", written.is_ok());
                    }
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    let (name, done) = (target.name, done.load(Ordering::Relaxed));
    eprintln!(
        "{name}: {done} inputs from {} seeds in {:.0?}",
        seeds.len(),
        started.elapsed()
    );
    !broken.load(Ordering::Relaxed)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench")
        .collect();
    let number = |at: usize, usual: u64| {
        arguments
            .get(at)
            .and_then(|number| number.parse().ok())
            .unwrap_or(usual)
    };
    if let [command, folder] = arguments.as_slice()
        && ["seeds", "keep"].contains(&command.as_str())
    {
        let done = if command == "keep" {
            keep(Path::new(folder))
        } else {
            write_seeds(Path::new(folder))
        };
        return done.map_or_else(
            |error| {
                eprintln!("{folder}: {error}");
                ExitCode::FAILURE
            },
            |()| ExitCode::SUCCESS,
        );
    }
    let named = |target: &&Target| arguments.first().is_none_or(|name| name == target.name);
    let sound = TARGETS.iter().filter(named).map(|target| {
        // They are slower by a factor of ten.
        let few = if ["questions", "exports"].contains(&target.name) {
            FEW / 20
        } else {
            FEW
        };
        fuzz(target, number(1, few), number(2, 1))
    });
    // All of them, also after one that failed.
    if sound.fold(true, |all, one| all & one) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
