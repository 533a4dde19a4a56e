//! Reads mutated inputs: no importer may panic, take longer than a second, or take more memory than 64 MB and 32 times the
//! input.
//!
//! ```text
//! cargo bench --bench fuzz -- [COUNT [SEED]]
//! ```
//!
//! Blind to coverage, so that a stable toolchain is enough. It starts from the inputs of all cases; each is read by the
//! format whose case it is, whatever the mutation has made of its first bytes, and offered to all formats to recognise.
//! What breaks a rule is written to a file `fuzz-SEED-NUMBER.bin`, and the program ends with 1. Equal arguments read equal
//! inputs.

#![expect(unsafe_code, reason = "an allocator that counts can be written in no other way")]
#![expect(clippy::disallowed_methods, reason = "it reads small files of our own, and measures time")]
#![expect(clippy::print_stderr, reason = "a program that reports on itself")]

#[path = "../tests/support/mutate.rs"]
mod mutate;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use mutate::{Random, mutate};
use profdb::error::Stop;
use profdb::importers::{self, FORMATS, Format, Options};
use profdb::input::{Input, Limits};
use profdb::tree::{Batch, Output, TreeBuilder};

/// Inputs read when nobody says how many: a smoke test.
const FEW: u64 = 20_000;
const LONGEST: Duration = Duration::from_secs(1);
const MEMORY: usize = 64 << 20;
const MEMORY_PER_BYTE: usize = 32;

/// Counts what a thread holds and the most it has held.
struct Counting;

thread_local! {
    static HELD: Cell<usize> = const { Cell::new(0) };
    static MOST: Cell<usize> = const { Cell::new(0) };
}

fn count(taken: usize, given_back: usize) {
    let held = HELD.get().saturating_add(taken).saturating_sub(given_back);
    HELD.set(held);
    MOST.set(MOST.get().max(held));
}

// SAFETY: every call goes to the system's allocator unchanged; counting does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(0, layout.size());
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size, layout.size());
        // SAFETY: the caller's promise is passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Takes rows and forgets them.
struct Nowhere;

impl Output for Nowhere {
    fn batch(&mut self, batch: &mut Batch) {
        batch.clear();
    }
}

/// Reads an input; says which rule it broke.
fn read(format: &Format, bytes: &[u8]) -> Result<(), String> {
    let held = HELD.get();
    MOST.set(held);
    let started = Instant::now();
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let stop = Stop::default();
        let Ok(mut input) = Input::new(Box::new(bytes), Limits::default(), stop.clone()) else { return };
        let _ = importers::detect(input.head());
        let mut builder = TreeBuilder::new(Nowhere, stop);
        if format.read(&mut input, &Options::default(), &mut builder).is_ok() {
            let _ = builder.finish();
        }
    }))
    .is_err();
    let taken = started.elapsed();
    let most = MOST.get() - held;
    if panicked {
        return Err("panic".to_owned());
    }
    if taken > LONGEST {
        return Err(format!("{taken:?}"));
    }
    if most > MEMORY + MEMORY_PER_BYTE * bytes.len() {
        return Err(format!("{most} bytes of memory for {} bytes of input", bytes.len()));
    }
    Ok(())
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, found);
        } else if path.components().any(|part| part.as_os_str() == "case.in") && !path.ends_with(".keep") {
            found.push(path);
        }
    }
}

/// Inputs to start from, and their formats.
fn seeds() -> (Vec<&'static Format>, Vec<Vec<u8>>) {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let (mut formats, mut seeds) = (Vec::new(), Vec::new());
    for &format in FORMATS {
        let mut found = Vec::new();
        files(&cases.join(format.name), &mut found);
        let read = found.iter().filter_map(|path| fs::read(path).ok());
        // Small inputs are read a hundred times while a large one is read once, and find as much.
        seeds.extend(read.filter(|bytes| bytes.len() <= 4096));
        formats.resize(seeds.len(), format);
    }
    (formats, seeds)
}

fn main() -> ExitCode {
    let numbers: Vec<u64> = std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let wanted = numbers.first().copied().unwrap_or(FEW);
    let seed = numbers.get(1).copied().unwrap_or(1);
    let (formats, seeds) = seeds();
    let (done, broken) = (AtomicU64::new(0), AtomicBool::new(false));
    let workers = thread::available_parallelism().map_or(1, std::num::NonZero::get) as u64;
    let started = Instant::now();
    thread::scope(|scope| {
        for worker in 0..workers {
            let (formats, seeds, done, broken) = (&formats, &seeds, &done, &broken);
            scope.spawn(move || {
                for number in (worker..wanted).step_by(usize::try_from(workers).unwrap_or(1)) {
                    let mut random =
                        Random(seed.wrapping_mul(0x5851_f42d_4c95_7f2d) ^ number.wrapping_mul(0x0010_0000_01b3));
                    let start = random.below(seeds.len());
                    let bytes = mutate(seeds, &seeds[start], &mut random);
                    if let Err(rule) = read(formats[start], &bytes) {
                        broken.store(true, Ordering::Relaxed);
                        let name = format!("fuzz-{seed}-{number}.bin");
                        let written = fs::write(&name, &bytes);
                        eprintln!("{name}: {}: {rule} (written: {})", formats[start].name, written.is_ok());
                    }
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    eprintln!("{} inputs from {} seeds in {:.0?}", done.load(Ordering::Relaxed), seeds.len(), started.elapsed());
    if broken.load(Ordering::Relaxed) { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
