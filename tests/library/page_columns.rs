//! Columns of figures in pages: their bytes, and how they are compressed.

use std::io::Read;

use flate2::read::GzDecoder;
use profdb::compare::PlaceItem;
use profdb::compare::tree::Place;
use profdb::events::{Cost, Frame, FunctionDef, Kind, Line, Sink};
use profdb::page::{UnionTree, blocks};
use profdb::report::{Heading, Measure, compared};
use profdb::store::Database;
use serde_json::Map;

use crate::support::described_runs::{add_run, emit_root, emit_time};
use crate::support::made_runs::made_up;
use crate::support::random::Random;

/// The two lowest bits of a cost.
const WHOLE: u64 = 0;
const DECIMALS: u64 = 1;
const REAL: u64 = 2;

/// The two lowest bits of a cost beside an expected one.
const BY_ITSELF: u64 = 0;
const BY_DIGITS: u64 = 1;
const BY_REALS: u64 = 2;

fn unpacked(packed: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let read = GzDecoder::new(packed).read_to_end(&mut bytes);
    read.expect("gzip");
    bytes
}

/// Reads a whole number of seven bits a byte.
fn read_number(bytes: &mut &[u8]) -> u64 {
    let (mut number, mut shift) = (0, 0);
    loop {
        let (byte, rest) = bytes.split_first().expect("a number");
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if *byte < 0x80 {
            return number;
        }
    }
}

fn read_signed(bytes: &mut &[u8]) -> i64 {
    let number = read_number(bytes);
    (number >> 1).cast_signed() ^ -((number & 1).cast_signed())
}

/// Reads a cost as the script of the page does.
fn read_cost(bytes: &mut &[u8]) -> Option<f64> {
    let number = read_number(bytes);
    assert!(number < 1 << 53, "{number} is too large for JavaScript");
    #[expect(clippy::cast_precision_loss, reason = "it has 53 bits")]
    let divided = |by: f64, bits: u32| Some((number >> bits) as f64 / by);
    match number & 3 {
        WHOLE => divided(1.0, 2),
        DECIMALS => divided(1e4, 2),
        REAL => {
            let (real, rest) = bytes.split_first_chunk().expect("a REAL");
            *bytes = rest;
            Some(f64::from_le_bytes(*real))
        }
        _ => match number >> 2 & 15 {
            0 => None,
            power => divided(format!("1e{power}").parse().expect("a number"), 6),
        },
    }
}

/// Returns the uncompressed bytes of a block of a run.
fn block_of_run(name: &str, emit: impl FnOnce(&mut dyn Sink)) -> Vec<u8> {
    let mut database = Database::in_memory().expect("memory");
    add_run(&mut database, &made_up(), emit);
    let run = database.run(None).expect("a database").expect("a run");
    let blocks = blocks(&database, &run, name).expect("a database");
    let block = blocks.into_iter().find(|(known, _)| known == name);
    unpacked(&block.expect("a block").1)
}

/// Returns the blocks of a tree of two sides.
fn blocks_of_union(places: &[Place], items: &[PlaceItem]) -> Vec<(String, Vec<u8>)> {
    let database = Database::in_memory().expect("memory");
    let heading = Heading {
        measure: Measure {
            name: "time".to_owned(),
            unit: "ns".to_owned(),
            total: 1.0,
            selected: None,
        },
        beside: Vec::new(),
        lines: Vec::new(),
        members: Map::new(),
    };
    let mut answer = compared(&database, heading, Vec::new(), Vec::new());
    let union = UnionTree::of((places, items), Vec::new(), &mut answer, None);
    union.expect("memory").blocks(usize::MAX).blocks
}

fn block<'b>(blocks: &'b [(String, Vec<u8>)], name: &str) -> &'b [u8] {
    let block = blocks.iter().find(|(known, _)| known == name);
    &block.expect("a block").1
}

/// Makes roots of a tree with items and costs of base.
fn roots(items: impl IntoIterator<Item = (u32, f64)>) -> Vec<Place> {
    (0..)
        .zip(items)
        .map(|(parent, (item, cost))| Place {
            parent,
            item,
            depth: 0,
            own: [cost, 0.0],
            all: [cost, 0.0],
            is_in: [true; 2],
        })
        .collect()
}

#[test]
fn number_of_any_length_is_written_with_seven_bits_a_byte() {
    // Numbers of calls are written plus one, and have 53 bits.
    let lengths = (0..53).flat_map(|bits| [1_u64 << bits, (1 << bits) + 1, (0x5555 << bits) >> 1]);
    let numbers: Vec<u64> = lengths
        .filter(|number| (1..=1 << 53).contains(number))
        .collect();
    let bytes = block_of_run("calls", |sink| {
        let time = emit_time(sink);
        for (at, number) in numbers.iter().enumerate() {
            let name = at.to_string();
            emit_root(sink, FunctionDef::named(&name), Some(number - 1), time, 1.0);
        }
    });
    let mut expected = Vec::new();
    for number in &numbers {
        let mut rest = *number;
        while rest >= 0x80 {
            expected.push(rest.to_le_bytes()[0] | 0x80);
            rest >>= 7;
        }
        expected.push(rest.to_le_bytes()[0]);
    }
    assert_eq!(bytes, expected);
}

#[test]
fn cost_is_never_rounded() {
    const MOST: f64 = 1_125_899_906_842_624.0;
    // Costs with the number of bytes that they take at most.
    let mut costs = vec![
        (0.0, 1),
        (31.0, 1),
        (32.0, 2),
        (1e7, 4),
        (1.5, 3),
        (3_076.863_639, 6),
        (380.087_605_3, 6),
        (0.038_415_883_5, 6),
        (0.000_001_234_567_891, 6),
        (999_999_999.9, 7),
        (123_456_789.12, 7),
        (-1_206.216_021, 9),
        (-0.5, 9),
        (0.1 + 0.2, 9),
        (1.0 / 3.0, 9),
        (1e-300, 9),
        (f64::MIN_POSITIVE / 4.0, 9),
        (1e300, 9),
        (f64::INFINITY, 9),
        (MOST - 1.0, 8),
        (MOST, 9),
    ];
    // Ten digits wherever the point is, and the numbers next to powers of ten and of two.
    for power in 0..16 {
        for digits in ["1000000001", "9999999999", "1234567891", "4294967297"] {
            let cost: f64 = format!("{digits}e-{power}").parse().expect("a number");
            costs.push((cost, if power < 5 { 7 } else { 6 }));
            costs.push((cost.next_up(), 9));
        }
    }
    let places = roots(costs.iter().map(|(cost, _)| (0, *cost)));
    let bytes = unpacked(block(&blocks_of_union(&places, &[]), "own-0"));
    let mut rest = bytes.as_slice();
    for (cost, most) in costs {
        let before = rest.len();
        let read = read_cost(&mut rest).expect("a known cost");
        assert_eq!(read.to_bits(), cost.to_bits(), "{cost:?}");
        let length = before - rest.len();
        assert!(length <= most, "{cost:?}: {length} bytes");
    }
    assert!(rest.is_empty());
}

#[test]
fn unknown_cost_is_one_byte() {
    let bytes = block_of_run("functions-0", |sink| {
        let time = emit_time(sink);
        let function = sink.function(FunctionDef::named("f"));
        sink.info(profdb::events::Info {
            frame: Frame::function(function),
            metric: time,
            calls: Some(5),
            primitive: None,
            exclusive: Some(7.0),
            cumulative: None,
            seen: None,
        });
    });
    let mut rest = bytes.as_slice();
    assert_eq!(read_number(&mut rest), 0, "the function");
    assert_eq!(read_number(&mut rest), 6, "calls plus one");
    assert_eq!(read_cost(&mut rest), Some(7.0));
    assert_eq!(rest.len(), 2, "{rest:?}");
    assert_eq!([read_cost(&mut rest), read_cost(&mut rest)], [None, None]);
}

/// Returns the nearest number of ten digits and the power of ten that it was multiplied by.
fn ten_digits(cost: f64) -> (i64, i32) {
    let text = format!("{cost:.9e}");
    let (digits, exponent) = text.split_once('e').expect("an exponent");
    let digits = digits.replace('.', "").parse().expect("ten digits");
    (digits, 9 - exponent.parse::<i32>().expect("a number"))
}

#[test]
fn cost_beside_an_expected_one_takes_few_bytes() {
    // Cumulative costs, the exclusive costs from which they follow unless stated, and the most bytes.
    let table = [
        (Some(4_834_554.558), 4_834_554.557_891, 2),
        (Some(0.1 + 0.2), 0.3, 2),
        (Some(3_076.863_639), 3_076.863_638, 2),
        (Some(12.0), 11.999_999_999, 2),
        (Some(1e15), 1e15 + 0.25, 2),
        (Some(5.0), 7.0, 3),
        (Some(0.0), 1e300, 2),
        (None, 3.0, 2),
        (Some(-1.5), 1.5, 10),
        (Some(1.5), -1.5, 10),
    ];
    let bytes = block_of_run("all-0", |sink| {
        let time = emit_time(sink);
        let function = sink.function(FunctionDef::named("f"));
        for (cumulative, exclusive, _) in table {
            sink.enter(Frame::function(function), None);
            sink.cost(
                time,
                match cumulative {
                    Some(cumulative) => Cost::Both {
                        exclusive,
                        cumulative,
                    },
                    None => Cost::Exclusive(0.0),
                },
            );
            if cumulative.is_none() {
                let line = Line {
                    file: "",
                    line: 7,
                    col: 0,
                };
                let frame = Frame {
                    function,
                    line: Some(line),
                };
                sink.enter(frame, None);
                sink.cost(time, Cost::ExclusiveOnly(exclusive));
                sink.leave();
            }
            sink.leave();
        }
    });
    let mut rest = bytes.as_slice();
    for (cumulative, exclusive, most) in table {
        let before = rest.len();
        let how = read_number(&mut rest) & 3;
        let read = match how {
            BY_DIGITS => {
                let (digits, power) = ten_digits(exclusive);
                let digits = digits + read_signed(&mut rest);
                Some(format!("{digits}e{}", -power).parse().expect("a number"))
            }
            BY_REALS => {
                let real = exclusive.to_bits().cast_signed() + read_signed(&mut rest);
                Some(f64::from_bits(real.cast_unsigned()))
            }
            BY_ITSELF => read_cost(&mut rest),
            how => panic!("{how}"),
        };
        assert_eq!(
            read.map(f64::to_bits),
            cumulative.map(f64::to_bits),
            "{cumulative:?}"
        );
        let length = before - rest.len();
        assert!(length <= most, "{cumulative:?}: {length} bytes");
    }
    assert!(rest.is_empty(), "{rest:?}");
}

#[test]
fn text_that_is_hard_to_compress_is_complete() {
    // Letters of six bits: their number decides when the compressor writes, and how much.
    let mut random = Random(1);
    let letters: String = (0..140_000)
        .map(|_| char::from(b'0' + u8::try_from(random.below(64)).expect("six bits")))
        .map(|letter| if letter == '\\' { 'z' } else { letter })
        .collect();
    for length in (40_000..letters.len()).step_by(4001) {
        let item = PlaceItem {
            names: [letters[..length].to_owned(), String::new(), String::new()],
            kind: Kind::Function,
            verdict: None,
        };
        let blocks = blocks_of_union(&[], &[item]);
        let packed = block(&blocks, "names");
        assert!(packed.len() < length / 5 * 4, "{length} letters");
        let text = unpacked(packed);
        let text = String::from_utf8(text).expect("UTF-8");
        let name = format!("\"{}\"", &letters[..length]);
        assert!(text.contains(&name), "{length} letters");
    }
}

#[test]
fn bytes_are_compressed_where_that_saves_a_third() {
    // Bytes that are compressed together, and how often it is not tried after it has failed.
    const TOGETHER: usize = 1 << 15;
    const NOT_TRIED: usize = 15;
    let mut random = Random(1);
    let length = TOGETHER * (NOT_TRIED + 3);
    let mixed: Vec<u32> = (0..length)
        .map(|_| u32::try_from(random.below(128)).expect("seven bits"))
        .collect();
    let alike: Vec<u32> = (0_u32..).map(|at| (at / 8) & 3).take(length).collect();
    let packed = |parts: &[&[u32]]| {
        let numbers = parts.concat();
        let places = roots(numbers.iter().map(|number| (*number, 0.0)));
        let blocks = blocks_of_union(&places, &[]);
        let packed = block(&blocks, "items");
        let read = unpacked(packed);
        assert!(read.into_iter().map(u32::from).eq(numbers));
        packed.len()
    };
    let overhead = 5 * (length / TOGETHER + 1) + 23;
    assert!(packed(&[&mixed[..3 * TOGETHER]]) <= 3 * TOGETHER + overhead);
    assert!(packed(&[&alike]) < length / 4);
    // Compressible bytes after others are found when it is tried again.
    let tried = packed(&[&mixed[..TOGETHER], &alike, &mixed[..TOGETHER]]);
    let not_tried = TOGETHER * NOT_TRIED;
    assert!(tried < 2 * TOGETHER + not_tried + 2 * overhead + (length - not_tried) / 4);
    assert!(packed(&[]) < 30);
    assert!(packed(&[&mixed[..3]]) < 40);
}
