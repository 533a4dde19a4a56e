//! Inputs: decompression, positions, limits, restarts and fingerprints.

use std::io::{BufRead, Cursor, Read, Seek, Write};

use profdb::base::error::{ImportError, Position, Stop};
use profdb::input::{Input, Limits};
use sha2::{Digest, Sha256};

use crate::support::allocation;
use crate::support::imports::open;

/// Size of the buffer of an input in bytes.
const BUFFER: usize = 256 * 1024;

/// Number of bytes above which a pipe that can be restarted writes a temporary file.
const LARGE: usize = (1 << 20) + 300_000;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).expect("a vector takes everything");
    encoder.finish().expect("a vector takes everything")
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).expect("a vector takes everything")
}

/// Returns the given number of bytes without a short period.
fn varied_bytes(length: usize) -> Vec<u8> {
    let numbers = (0_u32..).flat_map(|n| n.wrapping_mul(n).to_le_bytes());
    numbers.take(length).collect()
}

/// Reads the given number of bytes, or all bytes that are left.
fn read(input: &mut Input<'_>, count: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while (bytes.len() as u64) < count {
        input.begin_record();
        let mut some = Vec::new();
        input
            .read_bytes((count - bytes.len() as u64).min(1 << 20), &mut some)
            .expect("readable");
        if some.is_empty() {
            break;
        }
        bytes.append(&mut some);
    }
    bytes
}

#[test]
fn compressed_input_reads_like_plain_input() {
    let plain = b"one\ntwo\n".as_slice();
    for stored in [plain.to_vec(), gzip(plain), zstd(plain)] {
        let mut input = open(&stored);
        let mut text = String::new();
        input.read_to_string(&mut text).expect("readable");
        assert_eq!(text.as_bytes(), plain);
        let end = Position {
            byte: 8,
            line: Some(3),
        };
        assert_eq!(input.position(), end);
        let fingerprint = input.finish().expect("nothing is left");
        assert_eq!(fingerprint.bytes, stored.len() as u64);
        let digest = <[u8; 32]>::from(Sha256::digest(&stored));
        assert_eq!(fingerprint.sha256, digest);
    }
}

#[test]
fn byte_order_mark_is_skipped_before_head() {
    let mut input = open(b"\xef\xbb\xbfx");
    assert_eq!(input.head(), b"x");
    assert_eq!(input.position().byte, 3);
    assert_eq!(input.fill_buf().expect("readable"), b"x");
}

#[test]
fn decompression_bomb_is_refused_with_name_of_limit() {
    let bomb = gzip(&vec![0; 80 << 20]);
    let mut input = open(&bomb);
    let failure = loop {
        input.begin_record();
        match input.fill_buf() {
            Ok(bytes) => {
                let count = bytes.len();
                input.consume(count);
            }
            Err(_) => break input.failure().expect("the input keeps its failure"),
        }
    };
    assert!(
        failure.to_string().contains("limit: decompression ratio"),
        "{failure}"
    );
}

#[test]
fn record_above_limit_is_refused_with_name_of_limit() {
    let long = vec![b'x'; 17 << 20];
    let mut input = open(&long);
    let mut record = Vec::new();
    input
        .read_until(b'\n', &mut record)
        .expect_err("longer than a record may be");
    let failure = input.failure().expect("the input keeps its failure");
    assert!(
        failure.to_string().contains("16777216 bytes in one record"),
        "{failure}"
    );
}

#[test]
fn truncated_gzip_is_a_read_error_with_position() {
    let mut stored = gzip(b"some text that is long enough to be cut");
    stored.truncate(20);
    let mut input = open(&stored);
    input
        .read_until(b'\n', &mut Vec::new())
        .expect_err("the end is missing");
    let failure = input.failure().expect("the input keeps its failure");
    assert!(matches!(failure, ImportError::Read { .. }), "{failure}");
}

#[test]
fn lines_and_bytes_are_read_with_their_positions() {
    let mut input = open(b"one\r\n\ntwo");
    let mut line = Vec::new();
    let mut lines = Vec::new();
    while let Some(position) = input.read_line(&mut line).expect("readable") {
        lines.push((position.line, position.byte, line.clone()));
    }
    assert_eq!(
        lines,
        [
            (Some(1), 0, b"one".to_vec()),
            (Some(2), 5, Vec::new()),
            (Some(3), 6, b"two".to_vec())
        ]
    );
    let mut input = open(b"abc");
    input.has_no_lines();
    input.read_bytes(2, &mut line).expect("readable");
    assert_eq!(line, b"ab");
    let position = Position {
        byte: 2,
        line: None,
    };
    assert_eq!(input.position(), position);
    input.read_bytes(u64::MAX, &mut line).expect("readable");
    assert_eq!(line, b"c");
}

#[test]
fn stop_flag_ends_next_read() {
    let long = vec![b'x'; 2 << 20];
    let stop = Stop::default();
    let mut input = Input::new(Box::new(long.as_slice()), Limits::default(), stop.clone())
        .expect("a readable head");
    stop.set();
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes).expect_err("stopped");
    assert!(matches!(input.failure(), Some(ImportError::Stopped)));
}

#[test]
fn restarted_input_reads_like_a_new_input() {
    // The first one stays in the memory of a pipe, the second one does not.
    for length in [100, LARGE] {
        let plain = varied_bytes(length);
        let marked = [BYTE_ORDER_MARK, &plain].concat();
        for stored in [marked.clone(), gzip(&marked), zstd(&marked)] {
            let bytes = stored.as_slice();
            let expected = open(bytes).finish().expect("readable");
            // Restarts before the end, at the end and at the start.
            for first in [length as u64 / 2, u64::MAX, 0] {
                let file = Input::seekable(Cursor::new(bytes), Limits::default(), Stop::default());
                for mut input in [open(bytes), file.expect("a readable head")] {
                    input.keep();
                    read(&mut input, first);
                    input.restart().expect("it was kept");
                    assert_eq!((input.position().byte, input.position().line), (3, Some(1)));
                    assert_eq!(input.record_start().byte, 0);
                    assert!(plain.starts_with(input.head()));
                    assert!(
                        read(&mut input, u64::MAX) == plain,
                        "{length} bytes, {first} of them twice"
                    );
                    assert_eq!(input.position().byte, marked.len() as u64);
                    assert_eq!(input.finish().expect("nothing is left"), expected);
                }
            }
        }
    }
}

#[test]
fn restarted_input_without_lines_has_no_lines() {
    let mut input = open(b"\n\nx");
    input.has_no_lines();
    input.keep();
    read(&mut input, 3);
    input.restart().expect("it was kept");
    let start = Position {
        byte: 0,
        line: None,
    };
    assert_eq!(input.position(), start);
}

#[test]
fn restarted_input_forgets_unfinished_line() {
    let mut input = open(b"one\ntwo");
    input.keep();
    let mut line = Vec::new();
    for expected in [None, Some(4)] {
        input.read_line(&mut line).expect("readable");
        let unfinished = input.unfinished_line().map(|position| position.byte);
        assert_eq!(unfinished, expected);
    }
    input.restart().expect("it was kept");
    assert_eq!(input.unfinished_line(), None);
}

#[test]
fn restart_without_keep_fails() {
    let long = vec![b'x'; LARGE];
    let mut input = open(&long);
    read(&mut input, u64::MAX);
    let error = input.restart().expect_err("it was not kept");
    assert!(error.to_string().contains("not to be kept"), "{error}");
}

#[test]
fn file_that_changes_between_two_readings_is_refused() {
    let mut file = tempfile::tempfile().expect("a file");
    file.write_all(b"before").expect("a writable file");
    file.rewind().expect("a readable file");
    let mut duplicate = file.try_clone().expect("a second handle");
    let mut input = Input::seekable(file, Limits::default(), Stop::default()).expect("readable");
    input.keep();
    read(&mut input, u64::MAX);
    duplicate.rewind().expect("a writable file");
    duplicate.write_all(b"after").expect("a writable file");
    input.restart().expect("the file is there");
    let error = input.finish().expect_err("other bytes");
    assert!(error.to_string().contains("changed"), "{error}");
}

#[test]
fn next_bytes_returns_equal_bytes_from_buffer_and_from_copy() {
    let long: Vec<u8> = (0_u32..)
        .flat_map(u32::to_le_bytes)
        .take(BUFFER + 100)
        .collect();
    let mut copy = Vec::new();
    for is_hidden in [false, true] {
        let mut input = open(&long);
        if is_hidden {
            input.hide_what_is_at_hand();
        }
        let mut bytes = Vec::new();
        for count in [0, 1, BUFFER as u64 - 2, 50, 1000] {
            bytes.extend_from_slice(input.next_bytes(count, &mut copy).expect("readable"));
        }
        assert!(bytes == long, "{} bytes", bytes.len());
        assert_eq!(input.position().byte, long.len() as u64);
    }
}

/// The input hashes its buffers in another thread while it fills other buffers. The bytes of a
/// buffer must not change before they are hashed, and hashed buffers must be used again.
#[test]
fn buffers_stay_unchanged_until_hashed_and_are_reused() {
    let bytes = varied_bytes((1 << 20) + 77).repeat(16);
    let digest = <[u8; 32]>::from(Sha256::digest(&bytes));
    for piece in [1 << 20, 70_001] {
        let ((), peak) = allocation::most(|| {
            let mut input = open(&bytes);
            let mut start = 0;
            let mut copy = Vec::new();
            loop {
                input.begin_record();
                let next = input.next_bytes(piece, &mut copy).expect("readable");
                if next.is_empty() {
                    break;
                }
                assert!(bytes[start..].starts_with(next), "byte {start}");
                start += next.len();
            }
            let fingerprint = input.finish().expect("nothing is left");
            assert_eq!(fingerprint.sha256, digest, "pieces of {piece} bytes");
        });
        // At most 26 of the 64 buffers of this input are in use at a time.
        assert!(
            peak < 40 * BUFFER,
            "{peak} bytes for pieces of {piece} bytes"
        );
    }
}
