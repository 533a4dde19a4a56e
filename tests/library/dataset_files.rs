//! Parquet files of datasets: what readers of Parquet find in their pages.

#![cfg(feature = "parquet")]

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::Encoding;
use parquet::column::page::Page;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use parquet::schema::types::Type;
use profdb::dataset::{RunRows, TABLES, table, views};
use profdb::events::{
    Cost, Edge, EdgeCost, EdgeKind, Frame, FunctionDef, FunctionId, Kind, Label, LabelValue, Line,
    MetricId, Noise, Sample, Sink, Unit,
};
use profdb::report::Dialect;
use profdb::store::Database;

use crate::support::described_runs::{add_run, emit_root, emit_time};
use crate::support::made_runs::made_up;
use crate::support::random::Random;

/// The file of a table of a run.
struct TableFile(SerializedFileReader<Bytes>);

impl TableFile {
    /// Returns the values of a column, row by row.
    fn column(&self, name: &str) -> Vec<Field> {
        let schema = self.0.metadata().file_metadata().schema();
        let mut fields = schema.get_fields().iter();
        let field = fields.find(|field| field.name() == name);
        let only = Type::group_type_builder(schema.name())
            .with_fields(vec![Arc::clone(field.expect("a column"))]);
        let only = only.build().expect("a schema");
        let rows = self.0.get_row_iter(Some(only)).expect("rows");
        rows.map(|row| {
            let row = row.expect("a row");
            let mut columns = row.get_column_iter();
            columns.next().expect("the column").1.clone()
        })
        .collect()
    }

    /// Returns the encoding and the bytes of the one page of values of a column.
    fn page(&self, name: &str) -> (Encoding, Vec<u8>) {
        let group = self.0.get_row_group(0).expect("a row group");
        let columns = group.metadata().columns().iter();
        let mut columns = columns.map(|column| column.column_descr().name());
        let at = columns.position(|known| known == name).expect("a column");
        let pages = group.get_column_page_reader(at).expect("pages");
        let mut pages =
            pages
                .map(|page| page.expect("a sound page"))
                .filter_map(|page| match page {
                    Page::DataPage { buf, encoding, .. } => Some((encoding, buf.to_vec())),
                    _ => None,
                });
        let page = pages.next().expect("a page");
        assert!(pages.next().is_none(), "one page");
        page
    }
}

/// Stores a run, and writes one of its tables.
fn written(name: &str, emit: impl FnOnce(&mut dyn Sink)) -> TableFile {
    let mut database = Database::in_memory().expect("memory");
    let run = add_run(&mut database, &made_up(), emit);
    write_table(&database, run, name)
}

fn write_table(database: &Database, run: i64, name: &str) -> TableFile {
    let rows = RunRows::open(database, run)
        .expect("a database")
        .expect("a run");
    let mut file = Vec::new();
    rows.write(table(name).expect("a table"), &mut file)
        .expect("a file in memory");
    TableFile(SerializedFileReader::new(Bytes::from(file)).expect("a Parquet file"))
}

/// Emits a node at the root for each cost.
fn emit_costs(sink: &mut dyn Sink, costs: &[f64]) {
    let time = emit_time(sink);
    for cost in costs {
        emit_root(sink, FunctionDef::named("f"), None, time, *cost);
    }
}

/// Returns digits, scale and other digits of costs in a file of nodes.
fn written_costs(costs: &[f64]) -> Vec<(Option<i64>, f64, Option<f64>)> {
    let file = written("nodes", |sink| emit_costs(sink, costs));
    let [digits, scales, others] =
        ["exclusive_digits", "exclusive_scale", "exclusive_other"].map(|name| file.column(name));
    let rows = digits.into_iter().zip(scales).zip(others);
    rows.map(|((digits, scale), other)| {
        let digits = match digits {
            Field::Long(digits) => Some(digits),
            _ => None,
        };
        let Field::Double(scale) = scale else {
            panic!("a scale is a number: {scale:?}");
        };
        let other = match other {
            Field::Double(other) => Some(other),
            _ => None,
        };
        (digits, scale, other)
    })
    .collect()
}

#[expect(clippy::cast_precision_loss, reason = "at most 15 digits")]
fn quotient(digits: i64, scale: f64) -> f64 {
    digits as f64 / scale
}

#[test]
fn cost_with_few_digits_is_written_as_digits() {
    let table = [
        (0.0, Some((0, 1.0))),
        (17.0, Some((17, 1.0))),
        (4_824.616_167, Some((4_824_616_167, 1e6))),
        (2_413_956_449.0, Some((2_413_956_449, 1.0))),
        (380.087_605_3, Some((3_800_876_053, 1e7))),
        (-1_206.216_021, Some((-1_206_216_021, 1e6))),
        (0.1, Some((1, 1e1))),
        (999_999_999_999_999.0, Some((999_999_999_999_999, 1.0))),
        (1e15, None),
        (0.1 + 0.2, None),
        (1.0 / 3.0, None),
        (f64::MAX, None),
        (f64::MIN_POSITIVE, None),
    ];
    let rows = written_costs(&table.map(|(cost, _)| cost));
    for ((cost, expected), (digits, scale, other)) in table.into_iter().zip(rows) {
        assert_eq!(digits.map(|digits| (digits, scale)), expected, "{cost}");
        let read = digits.map_or(other, |digits| Some(quotient(digits, scale)));
        assert_eq!(read.map(f64::to_bits), Some(cost.to_bits()), "{cost}");
    }
}

#[test]
fn cost_without_digits_has_the_scale_of_the_cost_before_it() {
    let rows = written_costs(&[0.25, 1.0 / 3.0]);
    assert_eq!(rows, [(Some(25), 1e2, None), (None, 1e2, Some(1.0 / 3.0))]);
}

#[test]
fn fewest_digits_are_found_after_any_other_cost() {
    let scales: [f64; 16] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
    ];
    let (mut costs, mut expected) = (Vec::new(), Vec::new());
    for (place, scale) in scales.into_iter().enumerate() {
        for digits in [
            1_i64,
            7,
            12,
            99,
            123_456_789,
            999_999_999_999,
            123_456_789_012_345,
            999_999_999_999_999,
        ] {
            for digits in [digits, -digits] {
                let (mut fewest, mut place) = (digits, place);
                while place > 0 && fewest % 10 == 0 {
                    fewest /= 10;
                    place -= 1;
                }
                for before in scales {
                    costs.extend([quotient(7, before), quotient(digits, scale)]);
                    expected.push((Some(fewest), scales[place], None));
                }
            }
        }
    }
    let rows = written_costs(&costs);
    let rows: Vec<_> = rows.into_iter().skip(1).step_by(2).collect();
    for (at, (row, expected)) in rows.iter().zip(&expected).enumerate() {
        assert_eq!(
            row,
            expected,
            "{:?} after {:?}",
            costs[2 * at + 1],
            costs[2 * at]
        );
    }
    assert_eq!(rows.len(), expected.len());
}

#[test]
fn function_key_depends_on_each_part_and_its_length() {
    // printf '\10\0\0\0function\4\0\0\0main\3\0\0\0app\6\0\0\0app.rs\2\0\0\00012\1\0\0\0003' | sha256sum
    const KEY: &str = "588d2c384687d86f58538ad1";
    let def = |kind, name, module, first_line, first_col| FunctionDef {
        kind,
        name,
        raw_name: "",
        module,
        file: "app.rs",
        first_line,
        first_col,
    };
    let keys: Vec<Field> = [
        def(Kind::Function, "main", "app", 12, 3),
        def(Kind::Pseudo, "main", "app", 12, 3),
        def(Kind::Function, "mainapp", "", 12, 3),
        def(Kind::Function, "main", "app", 1, 23),
        def(Kind::Function, "main", "app", 12, 0),
    ]
    .into_iter()
    .flat_map(|def| {
        let file = written("functions", |sink| {
            let time = emit_time(sink);
            emit_root(sink, def, None, time, 1.0);
        });
        file.column("function_key")
    })
    .collect();
    let key = Field::Str(KEY.to_owned());
    let equal: Vec<bool> = keys.iter().map(|found| *found == key).collect();
    assert_eq!(equal, [true, false, false, false, false]);
}

/// A value as files sort it: NULL first, then by number or byte by byte.
#[derive(PartialEq, PartialOrd)]
enum SortKey {
    Null,
    Number(i64),
    Text(String),
}

/// Emits calls between functions of all files, lines and columns that are hard to put into one number of 64 bits.
fn emit_edges(sink: &mut dyn Sink) {
    let metrics = ["b", "a"].map(|name| sink.metric(name, Unit::Count, Noise::Unknown));
    let names = ["one", "two", "three", "four", "five"];
    let functions: Vec<FunctionId> = names
        .iter()
        .map(|name| sink.function(FunctionDef::named(name)))
        .collect();
    let mut random = Random(1);
    for number in 0..200 {
        let line = Line {
            file: ["", "x", "a", "é"][random.below(4)],
            line: [0, 1, u32::MAX][random.below(3)],
            col: [0, 7, u32::MAX, u32::MAX - 1][random.below(4)],
        };
        let frame = Frame {
            function: functions[random.below(5)],
            line: Some(line).filter(|line| line.line > 0),
        };
        let cost = f64::from(number) - 100.5;
        let costs = metrics.map(|metric| EdgeCost {
            metric,
            exclusive: Some(cost).filter(|_| number % 3 > 0),
            cumulative: Some(cost),
            outermost: None,
            seen: None,
        });
        sink.edge(Edge {
            callee: functions[random.below(5)],
            caller: Some(frame).filter(|_| number % 7 > 0),
            kind: [EdgeKind::Call, EdgeKind::Back][usize::from(number % 5 == 0)],
            calls: Some(1).filter(|_| number % 2 > 0),
            costs: &costs,
        });
    }
}

/// Emits samples with labels of both kinds, some of them in lines.
fn emit_samples(sink: &mut dyn Sink) {
    let metrics: [MetricId; 2] =
        ["b", "a"].map(|name| sink.metric(name, Unit::Count, Noise::Unknown));
    let mut random = Random(2);
    let functions: Vec<FunctionId> = (0..20)
        .map(|at| sink.function(FunctionDef::named(&format!("f{at}"))))
        .collect();
    for _ in 0..300 {
        let stack: Vec<Frame<'_>> = (0..=random.below(5))
            .map(|_| Frame {
                function: functions[random.below(20)],
                line: Some(Line {
                    file: ["", "b.c", "a.c"][random.below(3)],
                    line: [1, 12, u32::MAX][random.below(3)],
                    col: [0, 3, u32::MAX][random.below(3)],
                })
                .filter(|line| line.col > 0),
            })
            .collect();
        let text = ["x", "a", ""][random.below(3)];
        let labels = [
            Label {
                key: ["request", "bytes"][random.below(2)],
                value: LabelValue::Text(text),
                unit: "",
            },
            Label {
                key: "bytes",
                value: LabelValue::Number([i64::MIN, -1, 0, i64::MAX][random.below(4)]),
                unit: ["", "kB"][random.below(2)],
            },
        ];
        let labels = sink.labels(&labels[..random.below(3)]);
        let value = [1.0, -2.5, 3.0][random.below(3)];
        sink.sample(Sample {
            stack: &stack,
            shared: 0,
            calls: None,
            values: &metrics.map(|metric| (metric, value)),
            labels: Some(labels),
        });
    }
}

#[test]
fn rows_of_each_table_are_in_the_order_that_the_table_states() {
    let mut most = Vec::new();
    for emit in [emit_edges as fn(&mut dyn Sink), emit_samples] {
        let mut database = Database::in_memory().expect("memory");
        let run = add_run(&mut database, &made_up(), emit);
        for table in &TABLES {
            let file = write_table(&database, run, table.name);
            let columns: Vec<Vec<Field>> =
                table.order.iter().map(|name| file.column(name)).collect();
            let keys: Vec<Vec<SortKey>> = (0..columns[0].len())
                .map(|row| {
                    let fields = columns.iter().map(|column| &column[row]);
                    let key = fields.map(|field| match field {
                        Field::Null => SortKey::Null,
                        Field::Long(number) => SortKey::Number(*number),
                        Field::Str(text) => SortKey::Text(text.clone()),
                        field => panic!("{}: {field:?}", table.name),
                    });
                    key.collect()
                })
                .collect();
            assert!(keys.is_sorted(), "{}", table.name);
            if keys.len() > 30 {
                most.push(table.name);
            }
        }
    }
    let expected = [
        "edges",
        "node_labels",
        "node_costs",
        "line_info",
        "label_sets",
    ];
    for name in expected {
        assert!(most.contains(&name), "few rows of {name}: {most:?}");
    }
}

#[test]
fn range_of_a_column_includes_negative_numbers_and_zeros() {
    let file = written("nodes", |sink| {
        emit_costs(sink, &[1.0, -4.5, 1.0 / 3.0, -1.0 / 3.0, 7.0]);
    });
    let group = file.0.get_row_group(0).expect("a row group");
    let range = |name: &str| {
        let columns = group.metadata().columns().iter();
        let mut columns = columns.filter(|column| column.column_descr().name() == name);
        let column = columns.next().expect("a column");
        let range = column.statistics().expect("statistics");
        let [least, most] = [range.min_bytes_opt(), range.max_bytes_opt()];
        [least, most].map(|bytes| {
            *bytes
                .expect("a bound")
                .first_chunk::<8>()
                .expect("a number")
        })
    };
    assert_eq!(range("exclusive_digits").map(i64::from_le_bytes), [-45, 7]);
    let third = 1.0_f64 / 3.0;
    assert_eq!(
        range("exclusive_other").map(u64::from_le_bytes),
        [-third, third].map(f64::to_bits)
    );
}

/// Emits a node at the root for each number of a function.
fn emit_functions(sink: &mut dyn Sink, numbers: &[usize]) {
    let time = emit_time(sink);
    let most = numbers.iter().max().map_or(0, |most| most + 1);
    let functions: Vec<FunctionId> = (0..most)
        .map(|at| sink.function(FunctionDef::named(&at.to_string())))
        .collect();
    for number in numbers {
        sink.enter(Frame::function(functions[*number]), None);
        sink.cost(time, Cost::Exclusive(1.0));
        sink.leave();
    }
}

/// Returns the page of the keys of functions, which a dictionary numbers in the order of their first node.
fn page_of_functions(numbers: &[usize]) -> Vec<u8> {
    let file = written("nodes", |sink| emit_functions(sink, numbers));
    let (encoding, page) = file.page("function_key");
    assert_eq!(encoding, Encoding::RLE_DICTIONARY);
    let keys = file.column("function_key");
    let distinct: BTreeSet<String> = keys.iter().map(ToString::to_string).collect();
    assert_eq!(
        distinct.len(),
        numbers.iter().collect::<BTreeSet<_>>().len()
    );
    for (key, number) in keys.iter().zip(numbers) {
        let first = numbers.iter().position(|other| other == number);
        assert_eq!(*key, keys[first.expect("itself")]);
    }
    page
}

#[test]
fn places_in_a_dictionary_are_runs_and_groups_of_eight() {
    // The example of the format's specification, 0 to 7 in three bits, and a run.
    let numbers: Vec<usize> = (0..8).chain([4; 100]).collect();
    assert_eq!(
        page_of_functions(&numbers),
        [3, 3, 0b1000_1000, 0b1100_0110, 0b1111_1010, 0xc8, 1, 4]
    );
    // One value needs no bits.
    assert_eq!(page_of_functions(&[0; 3]), [0, 6]);
    // A run begins where a group ends; the last group ends with zeros.
    let numbers = [&[0][..], &[1; 7], &[0; 16], &[1, 0]].concat();
    assert_eq!(
        page_of_functions(&numbers),
        [1, 3, 0b1111_1110, 32, 0, 3, 1]
    );
}

#[test]
fn places_in_a_large_dictionary_are_whole_bytes() {
    for (values, width) in [(2, 1), (256, 8), (257, 16)] {
        let last = [1, 0, values - 1, 1, 0];
        let numbers: Vec<usize> = (0..values).chain(last).collect();
        let page = page_of_functions(&numbers);
        assert_eq!(page[0], width, "{values}");
        if width == 16 {
            let groups = numbers.len().div_ceil(8);
            let mut expected = vec![width, u8::try_from(groups << 1 | 1).expect("small")];
            for number in &numbers {
                let number = u16::try_from(*number).expect("small");
                expected.extend(number.to_le_bytes());
            }
            expected.resize(2 + 16 * groups, 0);
            assert_eq!(page, expected);
        }
    }
}

/// Emits a node at the root for each number of calls.
fn emit_calls(sink: &mut dyn Sink, calls: &[Option<u64>]) {
    let time = emit_time(sink);
    let function = sink.function(FunctionDef::named("f"));
    for calls in calls {
        sink.enter(Frame::function(function), *calls);
        sink.cost(time, Cost::Exclusive(1.0));
        sink.leave();
    }
}

/// Returns the levels and the values in the page of a column with NULL.
fn levels_and_values(file: &TableFile, column: &str) -> (Vec<u8>, Vec<u8>) {
    let (_, page) = file.page(column);
    let (length, page) = page.split_first_chunk().expect("a length");
    let (levels, values) = page.split_at(u32::from_le_bytes(*length) as usize);
    (levels.to_vec(), values.to_vec())
}

/// Returns the levels and the values in the page of numbers of calls.
fn page_of_calls(calls: &[Option<u64>]) -> (Vec<u8>, Vec<u8>) {
    let file = written("nodes", |sink| emit_calls(sink, calls));
    let fields = calls.iter().map(|calls| match calls {
        Some(calls) => Field::Long(i64::try_from(*calls).expect("63 bits")),
        None => Field::Null,
    });
    assert!(file.column("calls").into_iter().eq(fields));
    levels_and_values(&file, "calls")
}

/// Returns the lowest bytes of all numbers, then the next ones, up to the highest.
fn bytes_by_place(numbers: &[u64]) -> Vec<u8> {
    (0..8)
        .flat_map(|place| {
            numbers
                .iter()
                .map(move |number| number.to_le_bytes()[place])
        })
        .collect()
}

#[test]
fn levels_of_a_column_with_null_are_runs_and_groups_of_eight() {
    let levels = |levels: &[bool]| {
        let calls: Vec<Option<u64>> = levels.iter().map(|level| level.then_some(1)).collect();
        page_of_calls(&calls).0
    };
    assert_eq!(levels(&[true; 3]), [6, 1]);
    assert_eq!(levels(&[false; 16]), [32, 0]);
    assert_eq!(levels(&[true; 100]), [0xc0, 1, 1, 8, 1]);
    // One group of eight bits, the lowest first; a run; and an incomplete group.
    let mut mixed = vec![true, true, false, false, false, false, false, true];
    mixed.extend([true; 24]);
    mixed.extend([false, true]);
    assert_eq!(levels(&mixed), [3, 0b1000_0011, 48, 1, 3, 0b10]);
}

#[test]
fn numbers_are_split_into_bytes_by_their_place() {
    let (_, values) = page_of_calls(&[Some(0x0102), Some(0x0304)]);
    assert_eq!(values[..4], [2, 4, 1, 3]);
    assert_eq!(values[4..], [0; 12]);
    assert!(page_of_calls(&[None, None]).1.is_empty());
    let mut random = Random(1);
    for count in [7, 8, 9, 16, 100, 700] {
        let all_bits: &[u32] = if count > 100 {
            &[8, 40]
        } else {
            &[0, 7, 8, 33, 40]
        };
        for bits in all_bits.iter().copied() {
            let mut numbers = |bits: u32| -> Vec<u64> {
                (0..count)
                    .map(|_| random.next().checked_shr(64 - bits).unwrap_or_default())
                    .collect()
            };
            // Pieces of small and of large numbers, in any order.
            let (one, other) = (numbers(bits), numbers(20));
            let all = [&one[..], &other, &one, &[0]].concat();
            let (_, values) = page_of_calls(&all.iter().copied().map(Some).collect::<Vec<_>>());
            assert!(bytes_by_place(&all) == values, "{count}, {bits}");
        }
    }
}

#[test]
fn costs_of_64_bits_are_split_into_bytes_by_their_place() {
    let mut random = Random(1);
    for count in [7, 8, 9, 16, 100, 2500] {
        // Half of the costs is negative, and none has few digits.
        let costs: Vec<f64> = (0..count)
            .map(|_| f64::from_bits(random.next() & !(0x600 << 52) | 1))
            .collect();
        let file = written("nodes", |sink| emit_costs(sink, &costs));
        let (_, values) = levels_and_values(&file, "exclusive_other");
        let bits: Vec<u64> = costs.iter().map(|cost| cost.to_bits()).collect();
        assert!(bytes_by_place(&bits) == values, "{count}");
    }
}

#[test]
fn page_of_long_levels_and_numbers_is_read_back() {
    let mut random = Random(3);
    for (rows, likely) in [(5, 1), (3000, 1), (3000, 1000), (1 << 14, 2)] {
        let calls: Vec<Option<u64>> = (0..rows)
            .map(|at| (random.below(likely) == 0).then_some(at % 70_000))
            .collect();
        page_of_calls(&calls);
    }
}

#[test]
fn every_column_in_sql_is_made_of_columns_of_files() {
    for (name, dialect) in Dialect::ALL {
        let script = views(dialect, "runs", &|_| true).expect("a plain name");
        for table in &TABLES {
            let view = format!(" {} AS\nSELECT ", table.name);
            let (_, rest) = script.split_once(&view).expect("a view");
            let (select, _) = rest.split_once("\nFROM ").expect("a source");
            let mut after = select.split('$').skip(1);
            assert!(
                !after.any(|rest| rest.starts_with(char::is_alphabetic)),
                "{select}"
            );
            let words =
                select.split(|letter: char| !letter.is_alphanumeric() && !"._".contains(letter));
            let used: BTreeSet<&str> = words
                .filter_map(|word| word.strip_prefix("t."))
                .filter(|word| !["day", "filename", "_path"].contains(word))
                .collect();
            let columns = table.files().iter().map(|column| column.name).collect();
            assert_eq!(used, columns, "{name}: {}", table.name);
        }
    }
}
